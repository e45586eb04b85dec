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

/// Returns the first `most` characters of `text`, with an ellipsis behind them where it is longer.
///
/// ```
/// assert_eq!(["short", "longer"].map(|text| longhaul_transcript::clipped(text, 5)), ["short", "longe…"]);
/// ```
pub fn clipped(text: &str, most: usize) -> String {
    let first = first_chars(text, most);
    if first.len() < text.len() { format!("{first}…") } else { text.to_owned() }
}
