//! JSON taken apart into records: the largest objects that are short enough to be read whole, and the fields between
//! them, verbatim. A price stays with the flight that it is of.

use std::ops::Range;

use super::split;

/// Returns whether `text` looks like JSON with named fields.
pub(crate) fn is_record(text: &str) -> bool {
    text.starts_with(['{', '[']) && text.contains("\":")
}

/// Calls `each` with the records of `text`. Text that is no JSON comes out as pieces all the same.
pub(crate) fn records(text: &str, mut each: impl FnMut(&str)) {
    let text = text.trim();
    if text.len() <= LONGEST {
        each(text);
        return;
    }
    let mut last = 0;
    let mut give = |piece: &str| {
        let piece = piece.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']'));
        // What is left of an object whose inner ones were taken has no closing bracket: it is fields, not an object.
        let piece = match piece.ends_with('}') {
            true => piece,
            false => without_opened(piece.trim_start_matches(['{', ' ', '\n'])),
        };
        if piece.chars().filter(|c| c.is_alphanumeric()).count() > 1 {
            match piece.len() <= LONGEST {
                true => each(piece),
                false => split::pieces(piece, &mut each),
            }
        }
    };
    for (from, to) in whole_objects(text).into_iter().take(MOST) {
        let from = last + key_before(&text[last..from]);
        give(&text[last..from]);
        give(&text[from..to]);
        last = to;
    }
    give(&text[last..]);
}

/// Returns the places of the strings in JSON `text` that are texts of several lines, quotes included, each with what it says: the
/// body of an issue, a page.
pub(crate) fn texts_in(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    if !text.contains("\\n") {
        return found;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(from) = memchr::memchr(b'"', &bytes[at..]).map(|length| at + length) {
        let mut end = from + 1;
        while let Some(length) = memchr::memchr2(b'"', b'\\', &bytes[end..]) {
            end += length;
            if bytes[end] == b'"' {
                break;
            }
            end = (end + 2).min(bytes.len());
        }
        if bytes.get(end) != Some(&b'"') {
            break;
        }
        let literal = &text[from..=end];
        if literal.len() >= LEAST_TEXT
            && literal.contains("\\n")
            && let Ok(said) = serde_json::from_str::<String>(literal)
        {
            found.push((from..end + 1, said));
        }
        at = end + 1;
    }
    found
}

/// Bytes from which on a string of several lines is read as a text.
const LEAST_TEXT: usize = 120;

/// Bytes of the longest object that is kept whole: a booking, an order, with all that is known of it.
const LONGEST: usize = 700;

/// No more objects than these are taken from one value.
const MOST: usize = 200;

/// Returns where the objects begin and end that are short enough and stand in no other such object, in order.
fn whole_objects(text: &str) -> Vec<(usize, usize)> {
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => open.push(at),
            b'}' if !in_string => {
                let Some(from) = open.pop() else { continue };
                if at + 1 - from <= LONGEST {
                    // Those inside come before it.
                    let inside = found.iter().rev().take_while(|(inner, _)| *inner > from).count();
                    found.truncate(found.len() - inside);
                    found.push((from, at + 1));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns where the key begins that `before` ends with, or its length where it ends with none.
fn key_before(before: &str) -> usize {
    let rest = before.trim_end_matches(|c: char| c.is_whitespace() || c == '[');
    let Some(rest) = rest.strip_suffix(':') else { return before.len() };
    let Some(rest) = rest.trim_end().strip_suffix('"') else { return before.len() };
    rest.rfind('"').unwrap_or(before.len())
}

/// Returns `piece` without the objects at its end that are only opened, and their keys: what stands in them comes for itself.
fn without_opened(mut piece: &str) -> &str {
    while let Some(rest) = piece.strip_suffix('{') {
        piece = rest[..key_before(rest)].trim_end_matches([' ', '\n', ',', '[']);
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_that_is_short_enough_is_a_record_of_its_own() {
        let text = format!(
            r#"{{"reservation_id": "JG7FMM", "note": "{}", "flights": [{{"flight": "HAT028", "prices": {{"economy": 140}}}}, {{"flight": "HAT277", "price": 1679}}], "payment": {{"id": "card_1", "amount": 7136}}, "status": "open"}}"#,
            "n ".repeat(400)
        );
        let mut all = Vec::new();
        records(&text, |piece| all.push(piece.to_string()));
        assert!(
            all.contains(&r#""flights": [{"flight": "HAT028", "prices": {"economy": 140}}"#.to_string()),
            "{all:?}"
        );
        assert!(all.contains(&r#"{"flight": "HAT277", "price": 1679}"#.to_string()), "{all:?}");
        assert!(all.contains(&r#""payment": {"id": "card_1", "amount": 7136}"#.to_string()), "{all:?}");
        assert!(all.iter().all(|piece| text.contains(piece.as_str())), "{all:?}");
    }

    #[test]
    fn an_object_that_is_only_opened_is_left_out() {
        let variants: Vec<String> =
            (0..40).map(|nth| format!(r#""{nth}": {{"item": {nth}, "price": 288.82}}"#)).collect();
        let text = format!(r#"{{"name": "Umbrella", "variants": {{{}}}}}"#, variants.join(", "));
        let mut all = Vec::new();
        records(&text, |piece| all.push(piece.to_string()));
        assert_eq!(all[0], r#""name": "Umbrella""#);
        assert_eq!(all[1], r#""0": {"item": 0, "price": 288.82}"#);
    }

    #[test]
    fn a_text_in_a_string_is_told_from_the_fields_around_it() {
        let body = r#"## Problem\n\nNobody can tell \"and\" from \"or\" here.\n\n- add an example of each to the page of composite graders\n- say which of both is the default"#;
        let text = format!(r#"{{"title": "a \n b", "body": "{body}", "number": 950}}"#);
        let texts = texts_in(&text);
        assert_eq!(texts.len(), 1);
        let (place, said) = &texts[0];
        assert_eq!(&text[place.clone()], format!("\"{body}\""));
        assert_eq!(said.lines().nth(2), Some("Nobody can tell \"and\" from \"or\" here."));
        assert!(texts_in(&text[..text.len() - 30]).is_empty(), "it is cut");
    }

    #[test]
    fn broken_json_is_read_as_far_as_it_goes() {
        let text = format!(r#"[{{"a": "{}", "b": {{"c": 1}}, "d": {{ "#, "x ".repeat(400));
        let mut all = Vec::new();
        records(&text, |piece| all.push(piece.to_string()));
        assert!(all.iter().any(|piece| piece.contains(r#""b": {"c": 1}"#)), "{all:?}");
    }
}
