//! Shortening texts and arguments so that what is left is still a text, and still JSON.

/// Returns `text` cut to about `limit` characters, head and tail, with a mark of what was left out in between. A text
/// that the mark would not shorten comes back as it is.
pub(crate) fn clip_text(text: &str, limit: usize) -> String {
    clip_text_of(text, limit, "")
}

/// Returns the same with a mark that ends with `whole`: where all of the text is.
pub(crate) fn clip_text_of(text: &str, limit: usize, whole: &str) -> String {
    let chars = text.chars().count();
    if chars <= limit {
        return text.to_owned();
    }
    let mark = |left_out: usize| format!("\n… {left_out} characters omitted{whole} …\n");
    let room = limit.saturating_sub(mark(chars).chars().count());
    let (head, tail) = (room - room / 3, room / 3);
    let head_end = byte_of_char(text, head);
    let tail_start = byte_of_char(text, chars - tail);
    let clipped = format!("{}{}{}", &text[..head_end], mark(chars - head - tail), &text[tail_start..]);
    if clipped.len() < text.len() { clipped } else { text.to_owned() }
}

/// Returns the byte offset of the `nth` character of `text`, or its length.
fn byte_of_char(text: &str, nth: usize) -> usize {
    text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at)
}

/// Returns JSON text `json` with every string *value* of more than `limit` bytes cut to its head, or `None` where
/// there is nothing to cut. A value that the mark would not shorten stays whole. Keys, numbers and everything else keep
/// their bytes, so what was valid stays valid.
///
/// Works on the text itself: no value is parsed, so the spelling of numbers, duplicate keys and lone surrogates
/// survive, and no depth of nesting matters.
pub(crate) fn clip_arguments(json: &str, limit: usize) -> Option<String> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(open) = memchr_quote(bytes, at) {
        let close = string_end(bytes, open)?;
        at = close + 1;
        if close - open - 1 > limit && !is_key(bytes, at) {
            let cut = cut_point(json, open + 1, open + 1 + limit);
            let mark = format!("… [{} bytes omitted]", close - cut);
            if mark.len() < close - cut {
                out.push_str(&json[copied..cut]);
                out.push_str(&mark);
                copied = close;
            }
        }
    }
    (copied > 0).then(|| out + &json[copied..]).filter(|clipped| clipped.len() < json.len())
}

fn memchr_quote(bytes: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == b'"').map(|found| from + found)
}

/// Returns the index of the quote that closes the string opened at `open`.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Returns whether a colon follows: the string before `at` is a key.
fn is_key(bytes: &[u8], at: usize) -> bool {
    bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// Returns the last place up to `wanted` where the string that starts at `start` can be cut: between characters, and
/// neither inside an escape nor between the two escapes of a surrogate pair.
fn cut_point(json: &str, start: usize, wanted: usize) -> usize {
    let bytes = json.as_bytes();
    let (mut at, mut cut) = (start, start);
    while at <= wanted {
        cut = at;
        let length = match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                let is_high = bytes.get(at + 2..at + 4).is_some_and(|digits| {
                    digits[0].eq_ignore_ascii_case(&b'd')
                        && matches!(digits[1], b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
                });
                let low_follows = bytes.get(at + 6..at + 8) == Some(b"\\u".as_slice());
                if is_high && low_follows { 12 } else { 6 }
            }
            b'\\' => 2,
            first => utf8_length(first),
        };
        at += length;
    }
    cut
}

fn utf8_length(first: u8) -> usize {
    match first {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_clipped_text_says_what_is_missing() {
        let clipped = clip_text(&"abcdefghij".repeat(30), 100);
        assert!(clipped.starts_with("abcdefghij") && clipped.ends_with("hij"), "{clipped}");
        assert!(clipped.contains("characters omitted"));
        assert!(clipped.chars().count() <= 100);
        assert_eq!(clip_text("short", 100), "short");
    }

    #[test]
    fn arguments_stay_json_and_keep_their_spelling() {
        let json = r#"{"n":1.0e2, "path":"a.rs","content":"line one\nline two \u00e9\ud83d\ude00 and more"}"#;
        let clipped = clip_arguments(json, 12).unwrap();
        assert!(clipped.starts_with(r#"{"n":1.0e2, "path":"a.rs","content":"line one\nli… ["#), "{clipped}");
        assert!(serde_json::from_str::<serde_json::Value>(&clipped).is_ok());
        assert_eq!(clip_arguments(json, 1000), None);
        assert_eq!(clip_arguments("{\"broken\": \"no end", 3), None);
    }

    #[test]
    fn a_value_that_the_mark_would_not_shorten_stays() {
        assert_eq!(clip_arguments(r#"{"path":"/home/dev/projects/relay/src"}"#, 12), None);
    }

    #[test]
    fn long_keys_are_not_values() {
        assert_eq!(clip_arguments(r#"{"a_very_long_key_of_many_bytes" : 1}"#, 4), None);
    }

    proptest! {
        #[test]
        fn clipping_keeps_valid_json_valid(text in "\\PC{0,300}", limit in 0usize..200) {
            let json = serde_json::json!({"text": text, "deep": [{"more": text}]}).to_string();
            if let Some(clipped) = clip_arguments(&json, limit) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&clipped).is_ok(), "{}", clipped);
                prop_assert!(clipped.len() < json.len());
            }
        }

        #[test]
        fn clipping_never_lengthens(text in "\\PC{0,300}", limit in 0usize..400) {
            prop_assert!(clip_text(&text, limit).len() <= text.len());
        }
    }
}
