//! JSON text with secrets in its strings: taken out without touching another byte.

use std::ops::Range;

use memchr::{memchr, memchr2_iter};

use crate::{
    Finding,
    keywords::Hit,
    rules::RuleSet,
    scan::{find, find_around},
};

/// Returns the secrets in the JSON text `json`, as spans inside its string literals, so that the text stays valid JSON
/// when each is replaced by a text without quotes and backslashes. What is not in a string is not touched.
///
/// The text is searched twice: as it stands, where a key and its value are side by side, and each string with its
/// escapes undone, where a file's lines are lines.
pub(crate) fn find_in_json(set: &RuleSet, json: &str) -> Vec<Finding> {
    let hits = set.keywords.find(json.as_bytes());
    let literals = literals(json);
    let mut findings: Vec<Finding> = Vec::new();
    for finding in find_around(set, json, &hits) {
        // What a rule takes beyond the string it began in is punctuation, and the next key is none of its business.
        let first = literals.partition_point(|literal| literal.span.end <= finding.span.start);
        let literal = literals.get(first).map(|literal| &literal.span);
        let Some(literal) = literal.filter(|literal| literal.start < finding.span.end) else {
            continue;
        };
        let span = finding.span.start.max(literal.start)..finding.span.end.min(literal.end);
        // The second search knows better where such a secret ends.
        if !json[span.clone()].contains('\\') {
            findings.push(Finding { rule: finding.rule, span: to_escapes(json, literal, span) });
        }
    }
    let mut next = 0;
    for Literal { span: literal, is_spelled, .. } in literals.into_iter().filter(|literal| literal.is_escaped)
    {
        next += hits[next..].partition_point(|hit| hit.start < literal.start);
        let length = hits[next..].partition_point(|hit| hit.start < literal.end);
        let held = &hits[next..next + length];
        next += length;
        let may_hold_more = is_spelled || set.keywords.are_escaped;
        if held.is_empty() && !may_hold_more {
            continue;
        }
        let inside = Unescaped::of(&json[literal.clone()]);
        let found = match may_hold_more {
            true => find(set, &inside.text),
            false => {
                let reached = |at: usize| inside.reached(at - literal.start);
                let place = |hit: &Hit| Hit { start: reached(hit.start), end: reached(hit.end), ..*hit };
                find_around(set, &inside.text, &held.iter().map(place).collect::<Vec<_>>())
            }
        };
        for finding in found {
            let place = |at| literal.start + inside.place(at);
            let span = place(finding.span.start)..place(finding.span.end);
            findings.push(Finding { rule: finding.rule, span });
        }
    }
    findings.sort_by_key(|finding| (finding.span.start, usize::MAX - finding.span.end));
    findings.dedup_by(|next, kept| {
        let overlaps = next.span.start < kept.span.end;
        if overlaps {
            kept.span.end = kept.span.end.max(next.span.end);
        }
        overlaps
    });
    findings
}

/// Returns whether `text` is one JSON value. Only the outline is checked: strings closed, brackets paired.
pub(crate) fn looks_like_json(text: &str) -> bool {
    let trimmed = text.trim();
    let outline = [("{", "}"), ("[", "]"), ("\"", "\"")];
    trimmed.len() > 1
        && outline.iter().any(|(open, close)| trimmed.starts_with(open) && trimmed.ends_with(close))
}

/// The inside of a string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Literal {
    span: Range<usize>,
    /// It has escapes.
    is_escaped: bool,
    /// It has escapes that can spell a key word: none of `\n`, `\r`, `\t`, `\b`, `\f`, `\"`, `\\`.
    is_spelled: bool,
}

/// Returns the insides of the string literals of `json`, in order.
fn literals(json: &str) -> Vec<Literal> {
    let bytes = json.as_bytes();
    let mut literals = Vec::new();
    let mut open: Option<Literal> = None;
    let mut escaped = None;
    for at in memchr2_iter(b'"', b'\\', bytes) {
        // The second byte of an escape means nothing by itself.
        if escaped == Some(at) {
            continue;
        }
        match (&mut open, bytes[at]) {
            (None, b'"') => {
                open = Some(Literal { span: at + 1..bytes.len(), is_escaped: false, is_spelled: false });
            }
            (None, _) => {}
            (Some(literal), b'"') => {
                literal.span.end = at;
                literals.extend(open.take());
            }
            (Some(literal), _) => {
                escaped = Some(at + 1);
                literal.is_escaped = true;
                let meant = bytes.get(at + 1);
                literal.is_spelled |= !meant.is_some_and(|byte| b"nrtbf\"\\".contains(byte));
            }
        }
    }
    // Without another quote it goes on to the end.
    literals.extend(open);
    literals
}

/// Returns `span` widened so that it cuts no escape sequence of the literal.
fn to_escapes(json: &str, literal: &Range<usize>, span: Range<usize>) -> Range<usize> {
    let (mut at, mut start, mut end) = (literal.start, span.start, span.end);
    if !json[literal.clone()].contains('\\') || span.is_empty() {
        return span;
    }
    while at < literal.end && at < span.end {
        let next = at + escape_length(&json.as_bytes()[at..literal.end]);
        if at < span.start && span.start < next {
            start = at;
        }
        if at < span.end && span.end < next {
            end = next;
        }
        at = next;
    }
    start..end
}

/// A string literal's inside with its escapes undone, and the way back.
struct Unescaped {
    text: String,
    /// Where a run of `text` begins whose bytes stand side by side in the literal too: its start here, and there.
    runs: Vec<(usize, usize)>,
}

impl Unescaped {
    fn of(raw: &str) -> Unescaped {
        let mut text = String::with_capacity(raw.len());
        let mut runs = vec![(0, 0)];
        let mut at = 0;
        while let Some(found) = memchr(b'\\', &raw.as_bytes()[at..]) {
            let escape = at + found;
            let next = (escape + escape_length(&raw.as_bytes()[escape..])).min(raw.len());
            text.push_str(&raw[at..escape]);
            // The character of an escape is a run of its own: all of its bytes stand where the escape begins.
            runs.push((text.len(), escape));
            text.push(decode(&raw[escape..next]));
            runs.push((text.len(), next));
            at = next;
        }
        text.push_str(&raw[at..]);
        Unescaped { text, runs }
    }

    /// Returns where the byte at `at` of the literal stands in the text; a byte of an escape is where its character is.
    fn reached(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(_, place)| *place <= at) - 1;
        let (start, place) = self.runs[run];
        if run % 2 == 1 { start } else { start + at - place }
    }

    /// Returns where the byte at `at` (or the end) stands in the literal.
    fn place(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(start, _)| *start <= at) - 1;
        let (start, place) = self.runs[run];
        // Runs alternate, a plain one first. Inside an escape's character there is no other place than its beginning.
        if run % 2 == 1 { place } else { place + at - start }
    }
}

/// Returns the length of the first character of `rest`: an escape, or a character of the text.
fn escape_length(rest: &[u8]) -> usize {
    let length = match rest {
        [b'\\', b'u', ..] => 6,
        // Together, a pair of surrogates is one character.
        [b'\\', ..] => 2,
        [first, ..] if *first < 0x80 => 1,
        [first, ..] if *first >= 0xf0 => 4,
        [first, ..] if *first >= 0xe0 => 3,
        _ => 2,
    };
    let is_ascii = rest.iter().take(length).all(u8::is_ascii);
    match rest.first() {
        // A damaged escape in front of a wider character ends before it.
        Some(b'\\') if !is_ascii => 1,
        _ => length.min(rest.len()),
    }
}

/// Returns what an escape stands for; half of a surrogate pair stands for U+FFFD, a damaged escape for its backslash.
fn decode(escape: &str) -> char {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    match escape.as_bytes() {
        [b'\\', b'u', ..] => hex(escape.get(2..).unwrap_or_default()).unwrap_or('\u{fffd}'),
        [b'\\', b'n'] => '\n',
        [b'\\', b't'] => '\t',
        [b'\\', b'r'] => '\r',
        [b'\\', b'b' | b'f'] => ' ',
        [b'\\', byte] => char::from(*byte),
        _ => '\\',
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::redactor::BUILTIN_RULES;

    #[test]
    fn literals_are_found_and_escapes_undone() {
        let json = r#"{"a":"x\"y\u00e9","b":[1,"z"]}"#;
        let insides: Vec<_> = literals(json).into_iter().map(|literal| &json[literal.span]).collect();
        assert_eq!(insides, ["a", r#"x\"y\u00e9"#, "b", "z"]);
        let inside = Unescaped::of(r#"x\"y\u00e9z"#);
        assert_eq!(inside.text, "x\"yéz");
        let places: Vec<usize> = (0..=inside.text.len()).map(|at| inside.place(at)).collect();
        assert_eq!(places, [0, 1, 3, 4, 4, 10, 11]);
        let doubled = Unescaped::of(r"\n\\a");
        assert_eq!(doubled.text, "\n\\a");
        assert_eq!([0, 1, 2, 3].map(|at| doubled.place(at)), [0, 2, 4, 5]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_found_once_is_found_as_if_each_string_were_searched(
            pieces in proptest::collection::vec(
                r#"[ \n\t"\\/.:=']|token|api_key|A?PI_KEY = "?[a-z0-9]{16,20}|AKIA[A-Z2-7]{16}|\\token|://[a-z]:[a-z]{9}@h"#,
                0..30,
            ),
            is_nested: bool,
        ) {
            static ONCE: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::parse(BUILTIN_RULES).unwrap());
            // A key word with a quote in it: every string is searched.
            static TWICE: LazyLock<RuleSet> = LazyLock::new(|| {
                let quoted = "[[rules]]\nid='none'\nregex='zzzz'\nkeywords=['\"zzzz']";
                RuleSet::parse(&[BUILTIN_RULES, &[quoted]].concat()).unwrap()
            });
            let mut json = serde_json::json!({ "key": pieces.concat(), "more": [pieces.join("\n"), "x"] }).to_string();
            if is_nested {
                json = serde_json::json!({ "inside": json }).to_string();
            }
            proptest::prop_assert_eq!(find_in_json(&ONCE, &json), find_in_json(&TWICE, &json), "{}", json);
        }
    }

    #[test]
    fn damaged_literals_do_not_confuse_it() {
        for odd in [r#"{"a":"x\"#, "\"", r#""\u12"#, "\"\\é\"", "\"\\", "\"\\u00é0\""] {
            for Literal { span, .. } in literals(odd) {
                let inside = Unescaped::of(&odd[span.clone()]);
                assert_eq!(inside.place(inside.text.len()), span.len(), "{odd}");
            }
        }
    }
}
