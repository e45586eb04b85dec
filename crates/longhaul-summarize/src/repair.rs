//! Reads the JSON that models write: with prose around it, trailing commas, single quotes, raw line breaks.
//!
//! Not with the crate `llm_json` (1.0.3): it has `clap` and 30 packages in all below it, and a repairer made to save
//! whatever it can closes a string that was cut off, where half a fact must not be saved.

use serde_json::{Map, Number, Value};

/// Returns the first JSON object in `text`, read leniently, or `None` where there is none that can be saved.
///
/// Forgiven are: commas too many or missing, single and curly quotes, raw control characters in strings, bare keys,
/// `None`/`True`/`False`, comments, and closing brackets missing at the end. Not forgiven is an end inside a string
/// or after a colon: that answer was cut off, and half a fact is not a fact. One pass, no recursion, nesting up to
/// [`MAX_DEPTH`].
pub(crate) fn repair(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    Reader { rest: &text[start..] }.object()
}

/// Deeper nesting than this is not an answer to any schema of ours.
const MAX_DEPTH: usize = 32;

struct Reader<'a> {
    rest: &'a str,
}

/// A container that is being filled.
enum Open {
    Object { fields: Map<String, Value>, key: Option<String> },
    Array(Vec<Value>),
}

impl Reader<'_> {
    fn object(mut self) -> Option<Value> {
        let mut stack: Vec<Open> = Vec::new();
        loop {
            self.skip_blank();
            let Some(c) = self.rest.chars().next() else { return close_all(stack) };
            let done = match c {
                '{' | '[' => {
                    if stack.len() == MAX_DEPTH {
                        return None;
                    }
                    self.bump(c);
                    stack.push(match c {
                        '{' => Open::Object { fields: Map::new(), key: None },
                        _ => Open::Array(Vec::new()),
                    });
                    continue;
                }
                '}' | ']' => {
                    self.bump(c);
                    close(stack.pop()?, c)?
                }
                ',' => {
                    self.bump(c);
                    continue;
                }
                _ => {
                    let word = self.scalar()?;
                    match stack.last_mut()? {
                        Open::Object { key: key @ None, .. } => {
                            self.skip_blank();
                            self.rest = self.rest.strip_prefix(':')?;
                            *key = Some(match word {
                                Value::String(name) => name,
                                other => other.to_string(),
                            });
                            continue;
                        }
                        _ => word,
                    }
                }
            };
            match stack.last_mut() {
                None => return Some(done),
                Some(Open::Array(items)) => items.push(done),
                Some(Open::Object { fields, key }) => {
                    fields.insert(key.take()?, done);
                }
            }
        }
    }

    fn scalar(&mut self) -> Option<Value> {
        let c = self.rest.chars().next()?;
        match c {
            '"' => self.string('"'),
            '\'' => self.string('\''),
            '“' | '”' => self.string('”'),
            _ => self.bare(),
        }
    }

    fn string(&mut self, closing: char) -> Option<Value> {
        let mut chars = self.rest.char_indices().skip(1);
        let mut text = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == closing => {
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return Some(Value::String(text));
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => text.push(unicode(&mut chars)?),
                    other => text.push(other),
                },
                c => text.push(c),
            }
        }
        None
    }

    fn bare(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ':', '}', ']', '\n']).unwrap_or(self.rest.len());
        let end = self.rest[..end].find(" //").unwrap_or(end);
        let (word, rest) = self.rest.split_at(end);
        let word = word.trim();
        // An opening bracket or a quote inside a bare word is prose, not JSON.
        if word.is_empty() || word.contains(['"', '{', '[']) {
            return None;
        }
        self.rest = rest;
        Some(match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" => Value::Null,
            word => match word.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(word.to_owned()),
            },
        })
    }

    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = match self.rest.as_bytes() {
                [b'/', b'/', ..] => self.rest.find('\n'),
                [b'/', b'*', ..] => self.rest.find("*/").map(|at| at + 2),
                _ => return,
            };
            self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
        }
    }

    fn bump(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }
}

/// Reads the four digits after `\u`, and a second escape where the first is half of a pair.
fn unicode(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let mut digits = || (0..4).try_fold(0, |unit, _| Some(unit * 16 + chars.next()?.1.to_digit(16)?));
    let first = digits()?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if chars.next()?.1 != '\\' || chars.next()?.1 != 'u' {
        return None;
    }
    let second = (0..4).try_fold(0u32, |unit, _| Some(unit * 16 + chars.next()?.1.to_digit(16)?))?;
    let pair = 0x10000 + ((first - 0xd800) << 10) + second.checked_sub(0xdc00)?;
    Some(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn close(open: Open, bracket: char) -> Option<Value> {
    match (open, bracket) {
        (Open::Object { fields, key: None }, '}') => Some(Value::Object(fields)),
        (Open::Array(items), ']') => Some(Value::Array(items)),
        _ => None,
    }
}

/// Closes what the model left open at its end.
fn close_all(mut stack: Vec<Open>) -> Option<Value> {
    let mut done: Option<Value> = None;
    while let Some(mut open) = stack.pop() {
        match (&mut open, done.take()) {
            (_, None) => {}
            (Open::Array(items), Some(value)) => items.push(value),
            (Open::Object { fields, key }, Some(value)) => {
                fields.insert(key.take()?, value);
            }
        }
        done = Some(match open {
            Open::Object { fields, key: None } => Value::Object(fields),
            Open::Object { key: Some(_), .. } => return None,
            Open::Array(items) => Value::Array(items),
        });
    }
    done
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let repaired = repair(text).map(|value| value.to_string());
        assert_eq!(repaired.as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn the_ways_models_break_json() {
        check(r#"Here you go: {"a": [1, 2,], "b": 'it is',} Hope it helps"#, r#"{"a":[1,2],"b":"it is"}"#);
        check("{a: True, b: None // why\n}", r#"{"a":true,"b":null}"#);
        check("{\"a\": \"two\nlines\"}", r#"{"a":"two\nlines"}"#);
        check(r#"{"a": ["x" "y"]}"#, r#"{"a":["x","y"]}"#);
        check(r#"{"a": ["x", {"b": 1"#, r#"{"a":["x",{"b":1}]}"#);
        check("{“a”: “b”}", r#"{"a":"b"}"#);
        check(r#"{"a": "\ud83d\ude00 \u00e9"}"#, r#"{"a":"😀 é"}"#);
    }

    #[test]
    fn a_cut_off_fact_is_not_saved() {
        for cut in [
            r#"{"a": "half a sen"#, r#"{"a": "#, r#"{"a""#, "no object", "", r#"{"a": 1]"#,
            r#"{"a": "\ud83d"}"#,
        ] {
            assert_eq!(repair(cut), None, "{cut}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert_eq!(repair(&format!("{{\"a\": {}", "[".repeat(1_000_000))), None);
    }

    proptest! {
        #[test]
        fn valid_objects_come_back_unchanged(value in json()) {
            let wrapped = serde_json::json!({ "v": value });
            prop_assert_eq!(repair(&wrapped.to_string()), Some(wrapped));
        }

        #[test]
        fn any_text_ends(text in "\\PC{0,200}|[{}\\[\\]:,\"'a\\\\ u0]{0,200}") {
            let _ = repair(&text);
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,20}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
                prop::collection::vec(("[a-z]{1,6}", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }
}
