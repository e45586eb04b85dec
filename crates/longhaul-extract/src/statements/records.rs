//! JSON taken apart into records: each innermost object with its key, verbatim, and the fields between them.

use super::split;

/// Returns whether `text` looks like JSON with named fields.
pub(crate) fn is_record(text: &str) -> bool {
    text.starts_with(['{', '[']) && text.contains("\":")
}

/// Calls `each` with the records of `text`, verbatim: an object that holds no other is one, and so is each run of fields
/// between such objects. Text that is no JSON comes out as pieces all the same.
pub(crate) fn records(text: &str, mut each: impl FnMut(&str)) {
    if text.len() <= split::LONGEST {
        each(text.trim());
        return;
    }
    let bytes = text.as_bytes();
    // Where each open bracket stands, and whether an object was closed inside.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let (mut last, mut at, mut in_string, mut count) = (0, 0, false, 0);
    let mut give = |piece: &str| {
        let piece = piece.trim_matches(|c: char| c.is_whitespace() || c == ',');
        if piece.chars().filter(|c| c.is_alphanumeric()).count() > 1 {
            split::pieces(piece, &mut each);
        }
    };
    while at < bytes.len() && count < MOST {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open.push((at, false)),
            b'}' | b']' if !in_string => {
                if let Some((from, false)) = open.pop().filter(|_| bytes[at] == b'}')
                    && from >= last
                {
                    let key = key_before(&text[last..from]);
                    give(&text[last..last + key]);
                    give(&text[last + key..=at]);
                    count += 2;
                    last = at + 1;
                    open.iter_mut().for_each(|(_, has)| *has = true);
                }
            }
            _ => {}
        }
        at += 1;
    }
    give(&text[last..]);
}

/// No more pieces than these are taken from one value.
const MOST: usize = 400;

/// Returns where the key begins that `before` ends with, or its length where it ends with none.
fn key_before(before: &str) -> usize {
    let rest = before.trim_end_matches(|c: char| c.is_whitespace() || c == '[');
    let Some(rest) = rest.strip_suffix(':') else { return before.len() };
    let Some(rest) = rest.trim_end().strip_suffix('"') else { return before.len() };
    rest.rfind('"').unwrap_or(before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_innermost_object_is_a_record_of_its_own() {
        let text = format!(
            r#"{{"reservation_id": "JG7FMM", "note": "{}", "flights": [{{"flight": "HAT028", "price": 1859}}, {{"flight": "HAT277", "price": 1679}}], "payment": {{"id": "card_1", "amount": 7136}}, "status": "open"}}"#,
            "n".repeat(300)
        );
        let mut all = Vec::new();
        records(&text, |piece| all.push(piece.to_string()));
        assert!(all.contains(&r#""flights": [{"flight": "HAT028", "price": 1859}"#.to_string()), "{all:?}");
        assert!(all.contains(&r#"{"flight": "HAT277", "price": 1679}"#.to_string()), "{all:?}");
        assert!(all.contains(&r#""payment": {"id": "card_1", "amount": 7136}"#.to_string()), "{all:?}");
        assert!(all.iter().all(|piece| text.contains(piece.as_str())), "{all:?}");
    }

    #[test]
    fn broken_json_is_read_as_far_as_it_goes() {
        let text = format!(r#"[{{"a": "{}", "b": {{"c": 1}}, "d": {{ "#, "x".repeat(400));
        let mut all = Vec::new();
        records(&text, |piece| all.push(piece.to_string()));
        assert!(all.iter().any(|piece| piece.contains(r#""b": {"c": 1}"#)), "{all:?}");
    }
}
