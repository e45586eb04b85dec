//! What nobody sees of a text, such as blanks of no width and colours: what looks for a key does not find it where these are put
//! into it, or between it and its name.

use std::ops::Range;

/// Returns `text` without it; `None` where it has none but a mark at its beginning.
pub(crate) fn without(text: &str) -> Option<String> {
    let is_plain = |text: &str| text.is_ascii() || !text.contains(is_hidden);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_plain(body) && memchr::memmem::find(body.as_bytes(), CONTROL.as_bytes()).is_none() {
        return None;
    }
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let hidden = hidden(rest);
        if hidden == 0 {
            left.push(c);
        }
        rest = &rest[if hidden == 0 { c.len_utf8() } else { hidden }..];
    }
    Some(left)
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
        while self.left_at < left {
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else { break };
            match hidden(rest) {
                0 => {
                    self.at += c.len_utf8();
                    self.left_at += c.len_utf8();
                }
                length => self.at += length,
            }
        }
        self.at
    }
}

/// What a terminal's control sequences begin with: colours, and where to write.
const CONTROL: &str = "\u{1b}[";

/// Bytes of a control sequence behind its beginning; what is longer is none.
const LONGEST_CONTROL: usize = 32;

/// Returns how many bytes at the beginning of `text` nobody sees: one character, or one control sequence.
fn hidden(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    if is_hidden(first) {
        return first.len_utf8();
    }
    let Some(behind) = text.strip_prefix(CONTROL) else { return 0 };
    let end = behind.bytes().take(LONGEST_CONTROL).position(|byte| !matches!(byte, b' '..=b'?'));
    let is_control = |end: &usize| matches!(behind.as_bytes()[*end], b'@'..=b'~');
    end.filter(is_control).map_or(0, |end| CONTROL.len() + end + 1)
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
        let coloured = "a\u{1b}[31;1mbc\u{1b}[0m\u{1b}[";
        assert_eq!(without(coloured).unwrap(), "abc\u{1b}[");
        assert_eq!(&coloured[Places::of(coloured).place(1..3)], "bc");
        assert_eq!(without("\u{feff}abc"), None);
        assert_eq!(without("abécd"), None);
    }
}
