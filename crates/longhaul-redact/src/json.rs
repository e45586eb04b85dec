//! JSON text with secrets in its strings: taken out without touching another byte.

use std::{borrow::Cow, ops::Range};

use memchr::{memchr, memchr2, memmem};
use serde::de::IgnoredAny;

use crate::{
    placeholder::is_replaced,
    rules::RuleSet,
    settle,
    spelled::strikes,
    struck::{Struck, join},
};

/// Returns the secrets in `text`, in order, none overlapping another; also those that are spelled in other ways.
pub(crate) fn find(set: &RuleSet, text: &str) -> Vec<Struck> {
    let mut struck = strikes(set, Cow::Borrowed(text));
    // A text may quote JSON, which spells any letter as it likes.
    if ESCAPED.iter().any(|escaped| memmem::find(text.as_bytes(), escaped).is_some()) {
        let found = match is_of_objects(text) {
            true => find_in_json(set, text, true),
            false => strikes_behind_escapes(set, text, 1),
        };
        struck.extend(found);
        join(set, &mut struck);
    }
    struck
}

/// Returns the secrets in the JSON text `json`, as spans inside its string literals, so that the text stays valid JSON
/// when each is replaced by a text without quotes and backslashes. What is not in a string is not touched.
///
/// The text is searched twice: as it stands, where a key and its value are side by side, and each string with its
/// escapes undone, where a file's lines are lines. What is no JSON is searched as a text in place of the first.
pub(crate) fn find_in_json(set: &RuleSet, json: &str, is_json: bool) -> Vec<Struck> {
    find_at_depth(set, json, is_json, 1)
}

fn find_at_depth(set: &RuleSet, json: &str, is_json: bool, depth: usize) -> Vec<Struck> {
    let mut struck = match is_json {
        true => strikes_as_it_stands(set, json),
        false => find(set, json),
    };
    struck.extend(strikes_in_command_lines(set, json));
    if is_json && has_escaped_key(json) {
        struck.extend(strikes_unescaped(json, |text| strikes(set, Cow::Borrowed(text))));
    }
    join(set, &mut struck);
    if is_json {
        keep_inside_literals(json, &mut struck);
    }
    for Literal { span: literal, .. } in Literals::of(json).filter(|literal| literal.is_escaped) {
        let found = strikes_behind_escapes(set, &json[literal.clone()], depth);
        if found.len() > struck.capacity() / 2 {
            // Not twice of it: one string may be all of the text.
            struck.reserve_exact(found.len());
        }
        let moved = found
            .into_iter()
            .flat_map(|found| found.moved(literal.start + found.start..literal.start + found.end()));
        struck.extend(moved);
    }
    settle::join(&mut struck);
    struck
}

/// Returns what is struck in a JSON text as it stands, but for the insides of long strings with escapes, which are searched
/// without them.
fn strikes_as_it_stands(set: &RuleSet, json: &str) -> Vec<Struck> {
    let mut struck = Vec::new();
    let mut search = |part: Range<usize>| {
        let found = strikes(set, Cow::Borrowed(&json[part.clone()]));
        let placed =
            found.into_iter().map(|found| (part.start + found.start..part.start + found.end(), found));
        // At a cut a value seems to end.
        let is_whole = |span: &Range<usize>| {
            (span.start > part.start || part.start == 0) && (span.end < part.end || part.end == json.len())
        };
        struck.extend(placed.filter(|(span, _)| is_whole(span)).flat_map(|(span, found)| found.moved(span)));
    };
    let mut from = 0;
    for Literal { span, is_escaped } in Literals::of(json) {
        if is_escaped && span.len() > 4 * EDGE {
            search(from..json.ceil_char_boundary(span.start + EDGE));
            from = json.floor_char_boundary(span.end - EDGE);
        }
    }
    search(from..json.len());
    struck
}

/// Returns what is struck in `raw` once its escapes are undone, and in what is escaped there once more: arguments are JSON in a
/// string, which may hold a body that is, too. JSON there is searched string by string, as it is where it stands by itself: what
/// ends a string must end the last line of what it says, too.
pub(crate) fn strikes_behind_escapes(set: &RuleSet, raw: &str, depth: usize) -> Vec<Struck> {
    strikes_unescaped(raw, |text| {
        if depth < MOST_ESCAPED && is_of_objects(text) {
            return find_at_depth(set, text, true, depth + 1);
        }
        let mut struck = strikes(set, Cow::Borrowed(text));
        struck.extend(strikes_in_command_lines(set, text));
        join(set, &mut struck);
        if depth < MOST_ESCAPED && text.contains('\\') {
            struck.extend(strikes_behind_escapes(set, text, depth + 1));
            join(set, &mut struck);
        }
        struck
    })
}

/// Returns what `find` finds in `raw` with its escapes undone, where it stands in `raw`.
fn strikes_unescaped(raw: &str, find: impl Fn(&str) -> Vec<Struck>) -> Vec<Struck> {
    let mut struck = find(&unescaped(raw));
    let mut places = Places::of(raw);
    struck.retain_mut(|struck| {
        let start = places.place(struck.start);
        let end = places.place(struck.end());
        struck.moved(start..end).next().map(|moved| *struck = moved).is_some()
    });
    struck
}

/// Returns whether a key in `json` has letters that are spelled by their numbers: what it names stands beside it.
fn has_escaped_key(json: &str) -> bool {
    let is_key = |span: &Range<usize>| {
        json.get(span.end + 1..).is_some_and(|behind| behind.trim_start().starts_with(':'))
    };
    Literals::of(json)
        .filter(|literal| literal.is_escaped && literal.span.len() <= LONGEST_KEY)
        .any(|Literal { span, .. }| is_key(&span) && json[span].contains("\\u"))
}

/// Returns what is struck in lists of strings that are read as the words of a command line: `["mysql", "-u", "root", "-pX"]`.
fn strikes_in_command_lines(set: &RuleSet, json: &str) -> Vec<Struck> {
    let mut found = Vec::new();
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut read = |words: &[Range<usize>]| {
        if words.len() < 2 {
            return;
        }
        let line: Vec<&str> = words.iter().map(|word| &json[word.clone()]).collect();
        // Where each word begins in the line, and in the text.
        let mut places = words.iter().scan(0, |at, word| {
            let begins = *at;
            *at += word.len() + 1;
            Some((begins, word))
        });
        let mut place = places.next();
        for struck in strikes(set, Cow::Owned(line.join(" "))) {
            while place.as_ref().is_some_and(|(at, word)| at + word.len() <= struck.start) {
                place = places.next();
            }
            let Some((at, word)) = &place else { break };
            let start = word.start + struck.start.saturating_sub(*at);
            found.extend(struck.moved(start..(word.start + struck.end() - at).min(word.end)));
        }
    };
    for Literal { span, .. } in Literals::of(json) {
        let is_next = words.last().is_some_and(|before: &Range<usize>| {
            let between = json.get(before.end + 1..span.start.saturating_sub(1)).unwrap_or_default();
            between.trim() == ","
        });
        let is_key = json.get(span.end + 1..).is_some_and(|behind| behind.trim_start().starts_with(':'));
        if !is_next || is_key || span.len() > LONGEST_WORD {
            read(&words);
            words.clear();
        }
        if !is_key && span.len() <= LONGEST_WORD {
            words.push(span);
        }
    }
    read(&words);
    found
}

/// Escapes of JSON that stand for what a secret may hold, or for what a rule looks for beside it.
const ESCAPED: [&[u8]; 6] = [b"\\u", b"\\/", b"\\\\", b"\\n", b"\\t", b"\\\""];

/// A longer string is no word of a command line, in bytes.
const LONGEST_WORD: usize = 1_000;

/// A longer key is no label, in bytes.
const LONGEST_KEY: usize = 400;

/// How much of either end of a string is read together with what stands beside it, in bytes.
const EDGE: usize = 1 << 10;

/// How often escapes are undone that stand behind each other.
const MOST_ESCAPED: usize = 4;

/// Cuts what was struck, which is in order, so that it lies inside of string literals.
fn keep_inside_literals(json: &str, struck: &mut Vec<Struck>) {
    let mut literals = Literals::of(json);
    let mut next = || {
        let literal = literals.next()?;
        let escapes = Escapes { json, at: literal.span.start, end: literal.span.end };
        Some((literal, escapes))
    };
    let mut current = next();
    struck.retain_mut(|found| {
        while current.as_ref().is_some_and(|(literal, _)| literal.span.end <= found.start) {
            current = next();
        }
        let Some((Literal { span: literal, is_escaped }, escapes)) = &mut current else { return false };
        // What a rule takes beyond the string it began in is punctuation, and the next key is none of its business.
        let span = found.start.max(literal.start)..found.end().min(literal.end);
        // The second search knows better where a secret with escapes in it ends.
        // It may stand between two strings, and not reach the second.
        let text = json.get(span.clone()).unwrap_or_default();
        let is_whole = span == *literal;
        if text.is_empty() || text.contains('\\') && !is_whole || is_replaced(text.as_bytes()) {
            return false;
        }
        let span = if *is_escaped { escapes.widen(span) } else { span };
        found.moved(span).next().map(|cut| *found = cut).is_some()
    });
}

/// Returns whether `text` is values of JSON, one or several.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().all(|value| value.is_ok())
}

/// Returns whether `text` is objects or lists of JSON.
pub(crate) fn is_of_objects(text: &str) -> bool {
    matches!(text.trim_ascii_start().as_bytes(), [b'{' | b'[', ..]) && is_json(text)
}

/// Returns whether `text` is one JSON value. Only the outline is checked: strings closed, brackets paired.
pub(crate) fn looks_like_json(text: &str) -> bool {
    let trimmed = text.trim();
    let outline = [("{", "}"), ("[", "]"), ("\"", "\"")];
    trimmed.len() > 1
        && outline.iter().any(|(open, close)| trimmed.starts_with(open) && trimmed.ends_with(close))
}

/// Returns the insides of the strings in a JSON text that are no keys, each with the last key before it.
pub(crate) fn string_values(json: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut key = "";
    Literals::of(json).filter_map(move |Literal { span, .. }| {
        let inside = &json[span.clone()];
        if json.get(span.end + 1..).is_some_and(|behind| behind.trim_ascii_start().starts_with(':')) {
            key = inside;
            return None;
        }
        Some((key, span))
    })
}

/// The inside of a string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Literal {
    span: Range<usize>,
    /// It has escapes.
    is_escaped: bool,
}

/// The insides of the string literals of a JSON text, in order; the last goes on to the end where no quote ends it.
struct Literals<'a> {
    json: &'a [u8],
    at: usize,
}

impl Literals<'_> {
    fn of(json: &str) -> Literals<'_> {
        Literals { json: json.as_bytes(), at: 0 }
    }
}

impl Iterator for Literals<'_> {
    type Item = Literal;

    fn next(&mut self) -> Option<Literal> {
        // Between strings a backslash has no meaning, in JSON and in what is none.
        let start = self.at + memchr(b'"', self.json.get(self.at..)?)? + 1;
        let (mut at, mut is_escaped) = (start, false);
        while let Some(found) = memchr2(b'"', b'\\', self.json.get(at..).unwrap_or_default()) {
            if self.json[at + found] == b'"' {
                self.at = at + found + 1;
                return Some(Literal { span: start..at + found, is_escaped });
            }
            // The second byte of an escape means nothing by itself.
            (at, is_escaped) = (at + found + 2, true);
        }
        self.at = self.json.len();
        Some(Literal { span: start..self.json.len(), is_escaped })
    }
}

/// Walks over the characters of a literal, once, to where escapes begin and end.
struct Escapes<'a> {
    json: &'a str,
    at: usize,
    end: usize,
}

impl Escapes<'_> {
    /// Returns `span` widened so that it cuts no escape sequence. Spans come in order.
    fn widen(&mut self, span: Range<usize>) -> Range<usize> {
        let (mut start, mut end) = (span.start, span.end);
        let bytes = self.json.as_bytes();
        while self.at < span.end {
            let Some(found) = memchr(b'\\', &bytes[self.at..span.end.min(self.end)]) else {
                self.at = span.end;
                break;
            };
            let escape = self.at + found;
            let next = escape + escape_length(&bytes[escape..self.end]);
            if escape < span.start && span.start < next {
                start = escape;
            }
            if escape < span.end && span.end < next {
                end = next;
            }
            self.at = next;
        }
        start..end
    }
}

/// Returns a literal's inside with its escapes undone.
pub(crate) fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &raw.as_bytes()[at..]) {
        let escape = at + found;
        let next = escape + escape_length(&raw.as_bytes()[escape..]);
        text.push_str(&raw[at..escape]);
        text.push(decode(&raw[escape..next]));
        at = next;
    }
    text.push_str(&raw[at..]);
    text
}

/// Walks over a literal, once, from places in the text with its escapes undone to places in the literal.
pub(crate) struct Places<'a> {
    raw: &'a str,
    text_at: usize,
    raw_at: usize,
    /// Where the next escape begins, from `raw_at` on. Kept, so that the rest is not searched for it again and again.
    escape: usize,
}

impl Places<'_> {
    pub(crate) fn of(raw: &str) -> Places<'_> {
        Places { raw, text_at: 0, raw_at: 0, escape: next_escape(raw, 0) }
    }

    /// Returns where the byte at `at` of the text (or its end) stands in the literal; a byte of an escape's character is
    /// where the escape begins. Places come in order.
    pub(crate) fn place(&mut self, at: usize) -> usize {
        loop {
            let escape_at = self.text_at + self.escape - self.raw_at;
            if at <= escape_at {
                return self.raw_at + (at - self.text_at);
            }
            let next = self.escape + escape_length(&self.raw.as_bytes()[self.escape..]);
            let length = decode(&self.raw[self.escape..next]).len_utf8();
            if next == self.escape || at < escape_at + length {
                return self.escape;
            }
            (self.text_at, self.raw_at) = (escape_at + length, next);
            self.escape = next_escape(self.raw, next);
        }
    }
}

fn next_escape(raw: &str, from: usize) -> usize {
    memchr(b'\\', &raw.as_bytes()[from..]).map_or(raw.len(), |found| from + found)
}

/// Returns the length of the first character of `rest`: an escape, or a character of the text.
fn escape_length(rest: &[u8]) -> usize {
    let length = match rest {
        [b'\\', b'u', digits @ ..]
            if digits.iter().take(4).filter(|byte| byte.is_ascii_hexdigit()).count() == 4 =>
        {
            6
        }
        // Not an escape: what follows may be one.
        [b'\\', b'u', ..] => 1,
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
    use super::*;

    #[test]
    fn words_of_a_command_line_are_read_together() {
        let redactor = crate::Redactor::builtin();
        for argv in [
            r#"["sshpass","-p","i7HWMb6yxU31dv","ssh","h"]"#,
            r#"["mysql", "-u", "root", "-pi7HWMb6yxU31dv"]"#,
            r#"["docker","login","-u","me","-p","i7HWMb6yxU31dv"]"#,
            r#"["redis-cli","-h","cache","-a","i7HWMb6yxU31dv"]"#,
            r#"["curl","-u","me:i7HWMb6yxU31dv","https://x"]"#,
        ] {
            let plain = format!(r#"{{"command":{argv}}}"#);
            let nested = serde_json::json!({ "arguments": plain }).to_string();
            for json in [&plain, &nested] {
                let clean = redactor.redact_json(json).0;
                assert!(!clean.contains("i7HWMb6yxU31dv"), "{clean}");
                assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{clean}");
                assert!(clean.contains(&argv[2..6]), "{clean}");
            }
        }
        let innocent = r#"{"files":["a.rs","-p","b.rs"],"of":["x"],"y":"z"}"#;
        assert_eq!(redactor.redact_json(innocent).0, innocent);
    }

    #[test]
    fn literals_are_found_and_escapes_undone() {
        let json = r#"{"a":"x\"y\u00e9","b":[1,"z"]}"#;
        let insides: Vec<_> = Literals::of(json).map(|literal| &json[literal.span]).collect();
        assert_eq!(insides, ["a", r#"x\"y\u00e9"#, "b", "z"]);
        let places = |raw| {
            let mut places = Places::of(raw);
            (0..=unescaped(raw).len()).map(|at| places.place(at)).collect::<Vec<_>>()
        };
        assert_eq!(unescaped(r#"x\"y\u00e9z"#), "x\"yéz");
        assert_eq!(places(r#"x\"y\u00e9z"#), [0, 1, 3, 4, 4, 10, 11]);
        assert_eq!(unescaped(r"\u00\u0067"), r"\u00g");
        assert_eq!(unescaped(r"\n\\a"), "\n\\a");
        assert_eq!(places(r"\n\\a"), [0, 2, 4, 5]);
    }

    #[test]
    fn spans_are_widened_to_whole_escapes() {
        let json = r#""a\u00e9b\n""#;
        let mut escapes = Escapes { json, at: 1, end: json.len() - 1 };
        assert_eq!(escapes.widen(1..2), 1..2);
        assert_eq!(escapes.widen(3..5), 2..8);
        let mut escapes = Escapes { json, at: 1, end: json.len() - 1 };
        assert_eq!(escapes.widen(4..9), 2..9);
        assert_eq!(escapes.widen(9..10), 9..11);
    }

    #[test]
    fn damaged_literals_do_not_confuse_it() {
        for odd in [r#"{"a":"x\"#, "\"", r#""\u12"#, "\"\\é\"", "\"\\", "\"\\u00é0\""] {
            for Literal { span, .. } in Literals::of(odd) {
                let raw = &odd[span.clone()];
                let place = Places::of(raw).place(unescaped(raw).len());
                assert_eq!(place, span.len(), "{odd}");
            }
        }
    }
}
