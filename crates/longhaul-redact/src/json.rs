//! JSON text with secrets in its strings: taken out without touching another byte.

use std::ops::Range;

use crate::{Finding, rules::RuleSet, scan::find};

/// Returns the secrets in the JSON text `json`, as spans inside its string literals, so that the text stays valid JSON
/// when each is replaced by a text without quotes and backslashes. What is not in a string is not touched.
///
/// The text is searched twice: as it stands, where a key and its value are side by side, and each string with its
/// escapes undone, where a file's lines are lines.
pub(crate) fn find_in_json(set: &RuleSet, json: &str) -> Vec<Finding> {
    let literals = literals(json);
    let mut findings: Vec<Finding> = Vec::new();
    for finding in find(set, json) {
        // What a rule takes beyond the string it began in is punctuation, and the next key is none of its business.
        let first = literals.partition_point(|literal| literal.end <= finding.span.start);
        let Some(literal) = literals.get(first).filter(|literal| literal.start < finding.span.end) else {
            continue;
        };
        let span = finding.span.start.max(literal.start)..finding.span.end.min(literal.end);
        // The second search knows better where such a secret ends.
        if !json[span.clone()].contains('\\') {
            findings.push(Finding { rule: finding.rule, span: to_escapes(json, literal, span) });
        }
    }
    for literal in literals.iter().filter(|literal| json[(*literal).clone()].contains('\\')) {
        let inside = Unescaped::of(&json[literal.clone()]);
        for finding in find(set, &inside.text) {
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

/// Returns the insides of the string literals of `json`, in order.
fn literals(json: &str) -> Vec<Range<usize>> {
    let bytes = json.as_bytes();
    let (mut literals, mut at) = (Vec::new(), 0);
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'"') {
        let start = at + found + 1;
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let end = end.min(bytes.len());
        if json.is_char_boundary(end) {
            literals.push(start..end);
        }
        at = (end + 1).min(bytes.len());
    }
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
        while let Some(found) = raw[at..].find('\\') {
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
    use super::*;

    #[test]
    fn literals_are_found_and_escapes_undone() {
        let json = r#"{"a":"x\"y\u00e9","b":[1,"z"]}"#;
        let insides: Vec<_> = literals(json).into_iter().map(|span| &json[span]).collect();
        assert_eq!(insides, ["a", r#"x\"y\u00e9"#, "b", "z"]);
        let inside = Unescaped::of(r#"x\"y\u00e9z"#);
        assert_eq!(inside.text, "x\"yéz");
        let places: Vec<usize> = (0..=inside.text.len()).map(|at| inside.place(at)).collect();
        assert_eq!(places, [0, 1, 3, 4, 4, 10, 11]);
        let doubled = Unescaped::of(r"\n\\a");
        assert_eq!(doubled.text, "\n\\a");
        assert_eq!([0, 1, 2, 3].map(|at| doubled.place(at)), [0, 2, 4, 5]);
    }

    #[test]
    fn damaged_literals_do_not_confuse_it() {
        for odd in [r#"{"a":"x\"#, "\"", r#""\u12"#, "\"\\é\"", "\"\\", "\"\\u00é0\""] {
            for literal in literals(odd) {
                let inside = Unescaped::of(&odd[literal.clone()]);
                assert_eq!(inside.place(inside.text.len()), literal.len(), "{odd}");
            }
        }
    }
}
