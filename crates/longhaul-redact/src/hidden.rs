//! Characters that nobody sees, such as blanks of no width: whoever puts them into a key hides it from what looks for it.

use std::ops::Range;

/// Returns `text` without them; `None` where it has none but a mark at its beginning.
pub(crate) fn without(text: &str) -> Option<String> {
    let is_plain = text.is_ascii() || !text.strip_prefix('\u{feff}').unwrap_or(text).contains(is_hidden);
    (!is_plain).then(|| text.chars().filter(|c| !is_hidden(*c)).collect())
}

/// Walks over a text, once, from places in what is left of it to places in it.
pub(crate) struct Places<'a> {
    text: &'a str,
    at: usize,
    left_at: usize,
}

impl Places<'_> {
    pub(crate) fn of(text: &str) -> Places<'_> {
        Places { text, at: 0, left_at: 0 }
    }

    /// Returns where `span` of what is left stands in the text. Spans come in order.
    pub(crate) fn place(&mut self, span: Range<usize>) -> Range<usize> {
        let start = self.walk(span.start + 1) - 1;
        let start = (0..=start).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or_default();
        start..self.walk(span.end)
    }

    /// Returns the end of the text of which `left` bytes are left.
    fn walk(&mut self, left: usize) -> usize {
        for c in self.text[self.at..].chars() {
            if self.left_at >= left {
                break;
            }
            self.at += c.len_utf8();
            self.left_at += if is_hidden(c) { 0 } else { c.len_utf8() };
        }
        self.at
    }
}

fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_has_its_place() {
        let text = "a\u{200b}bé\u{feff}\u{200d}cd";
        let left = without(text).unwrap();
        assert_eq!(left, "abécd");
        for (span, expected) in
            [(0..1, "a"), (0..2, "a\u{200b}b"), (1..2, "b"), (2..5, "é\u{feff}\u{200d}c"), (4..6, "cd")]
        {
            assert_eq!(&text[Places::of(text).place(span)], expected);
        }
        assert_eq!(without("\u{feff}abc"), None);
        assert_eq!(without("abécd"), None);
    }
}
