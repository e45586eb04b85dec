//! What every layer does with texts: on one line, cut short, without what nobody sees.

use std::borrow::Cow;

/// Returns whether `c` shows nothing, or has what follows it shown elsewhere or not at all: control characters but line feed and
/// tab, marks of direction, separators of lines, what has no width, fillers, tags.
///
/// What only varies the look of the sign before it (variation selectors) is no such character: it is seen there.
///
/// ```
/// use longhaul_transcript::is_invisible;
///
/// assert!(['\u{200b}', '\u{202e}', '\u{61c}', '\u{e0041}', '\r'].into_iter().all(is_invisible));
/// assert!(!['a', ' ', '\n', 'é', '\u{fe0f}'].into_iter().any(is_invisible));
/// ```
pub fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of bidirectional text; separators of lines; tags.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => true,
        '\u{e0000}'..='\u{e00ff}' => true,
        // What has no width: two names that look the same are not.
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Fillers of Hangul.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        c => c.is_control(),
    }
}

/// Returns `text` on one line, with one blank between words.
///
/// ```
/// assert_eq!(longhaul_transcript::one_line(" a\n\tb  c"), "a b c");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_whitespace() && c != ' ';
    match text.contains("  ") || text.contains(is_odd) || text.trim().len() < text.len() {
        true => Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        false => Cow::Borrowed(text),
    }
}

/// Returns the first `most` characters of `text`.
pub fn first_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Returns the first `most` characters of `text`; where it is longer, no more of them than whole words: of half a secret nobody can tell any
/// more that it is one.
///
/// ```
/// # use longhaul_transcript::first_words;
/// assert_eq!(first_words("key sk-12345678", 9), "key ");
/// assert_eq!(first_words("key sk-12", 9), "key sk-12");
/// ```
pub fn first_words(text: &str, most: usize) -> &str {
    let parts = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | ',' | '{' | '[' | '，' | '。' | '、')
    };
    let first = first_chars(text, most);
    if first.len() < text.len() { first.trim_end_matches(|c| !parts(c)) } else { text }
}

/// Returns the first `most` characters of `text`, with an ellipsis behind them where it is longer.
///
/// ```
/// assert_eq!(["short", "longer"].map(|text| longhaul_transcript::clipped(text, 5)), ["short", "longe…"]);
/// ```
pub fn clipped(text: &str, most: usize) -> String {
    let first = first_chars(text, most);
    if first.len() < text.len() { format!("{first}…") } else { text.to_owned() }
}

/// Returns what stands inside a string of JSON, its escapes undone. Damage is read as well as it goes: a `\u` without digits, or
/// half of a pair, is U+FFFD, and any other letter stands for itself.
///
/// ```
/// assert_eq!(longhaul_transcript::unescaped(r#"a\n\"b\" \ud83d\ude00"#), "a\n\"b\" 😀");
/// ```
pub fn unescaped(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = json_escape(rest).unwrap_or_else(|| match rest[1..].chars().next() {
            Some('u') => (char::REPLACEMENT_CHARACTER, 2),
            Some(other) => (other, 1 + other.len_utf8()),
            None => ('\\', 1),
        });
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns what the escape of JSON stands for that `text` begins with, and its length; half of a pair is U+FFFD. `None` where that
/// is no escape.
pub fn json_escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u32::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let simple = match text.strip_prefix('\\')?.as_bytes().first()? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        mark @ (b'"' | b'\\' | b'/') => char::from(*mark),
        b'u' => {
            let first = unit(0)?;
            let second = unit(6)
                .filter(|second| (0xD800..0xDC00).contains(&first) && (0xDC00..0xE000).contains(second));
            let (code, length) = second
                .map_or((first, 6), |second| (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12));
            return Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), length));
        }
        _ => return None,
    };
    Some((simple, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_escapes_are_read_as_well_as_it_goes() {
        for (json, expected) in [
            (r"a\u00e9\/b", "aé/b"),
            (r"\ud83d \ude00\ud83dx", "\u{fffd} \u{fffd}\u{fffd}x"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\u12", "\u{fffd}12"),
            (r"\é\", r"é\"),
        ] {
            assert_eq!(unescaped(json), expected, "{json}");
        }
    }
}
