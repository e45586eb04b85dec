//! What stands in an object of JSON beside the field that names it, whatever stands between: what a form is filled with, what a
//! store of parameters has.

use std::ops::Range;

use crate::named::{Named, quoted};

/// Returns the values of the object in which `head` names something, or which opens at its end.
pub(crate) fn values(text: &[u8], head: Range<usize>) -> Named {
    let start = match text[head.end - 1] {
        b'{' => head.end,
        _ => opened_before(text, head.start).unwrap_or(head.start),
    };
    let mut named = Named { values: Vec::new(), end: head.end };
    let (mut at, mut depth) = (start, 0usize);
    let mut key: Option<Range<usize>> = None;
    while let Some(byte) = text.get(at).filter(|_| at < head.end + FURTHEST) {
        at += 1;
        match byte {
            b'"' | b'\'' => {
                let Some(string) = quoted(text, at - 1) else { break };
                at = string.end + 1;
                let is_key = text[at..].trim_ascii_start().starts_with(b":");
                match key.take() {
                    _ if is_key => key = Some(string),
                    Some(key) if depth == 0 && is_of_value(&text[key.clone()]) => named.values.push(string),
                    _ => {}
                }
            }
            b'{' | b'[' => (depth, key) = (depth + 1, None),
            b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            b',' => key = None,
            _ => {}
        }
    }
    named
}

/// Returns whether a field of this name has what is filled in.
fn is_of_value(key: &[u8]) -> bool {
    [&b"value"[..], b"text"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Returns where the inside of the object begins that `at` is in.
fn opened_before(text: &[u8], at: usize) -> Option<usize> {
    let from = at.saturating_sub(FURTHEST);
    let mut depth = 0usize;
    for (nth, byte) in text[from..at].iter().enumerate().rev() {
        match byte {
            b'}' | b']' => depth += 1,
            b'{' | b'[' if depth == 0 => return (*byte == b'{').then_some(from + nth + 1),
            b'{' | b'[' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// No field of the object is looked for further from what names it, in bytes.
const FURTHEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_beside_a_name_are_found() {
        let found = |text: &str, head: &str| -> Vec<String> {
            let start = text.find(head).expect(text);
            let named = values(text.as_bytes(), start..start + head.len());
            named.values.into_iter().map(|value| text[value].to_owned()).collect()
        };
        let name = r#""name":"Password""#;
        for (text, expected) in [
            (r#"{"name":"Password","type":"textbox","value":"one"}"#, vec!["one"]),
            (r#"{"text":"one","ref":["a",{"value":"x"}],"name":"Password","submit":true}"#, vec!["one"]),
            (r#"[{"name":"User","value":"x"},{"name":"Password","value":"one"}]"#, vec!["one"]),
            (r#"{"name":"Password","fields":[{"name":"User","value":"x"}]}"#, vec![]),
            (r#"{"name":"Password"},{"value":"x"}"#, vec![]),
            (r#"{"name":"Password","about":"value","size":3}"#, vec![]),
        ] {
            assert_eq!(found(text, name), expected, "{text}");
        }
        let opened = r#"{"db_password":{"sensitive":true,"value":"one"},"host":{"value":"x"}}"#;
        assert_eq!(found(opened, r#"password":{"#), ["one"]);
    }
}
