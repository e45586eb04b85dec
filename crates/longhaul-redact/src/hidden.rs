//! What is no part of what a text says, such as blanks of no width, colours, and the marks that put a string in a program
//! together (`"gh" + "p_"`): what looks for a key does not find it where these are put into it, or between it and its name.

use std::ops::Range;

use longhaul_transcript::is_invisible;
use memchr::{memchr_iter, memmem};

use crate::placeholder::{PLACEHOLDER, is_of_placeholder};

/// Returns `text` without it; `None` where it has none but a mark at its beginning.
pub(crate) fn without(text: &str) -> Option<String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    (hides(body) || is_joined(body) || has_placeholder(body))
        .then(|| Seen::of(text).map(|(_, c)| c).collect())
}

/// Returns whether nobody sees some character of `text`. Most of it is ASCII without any, which is passed over quickly.
fn hides(text: &str) -> bool {
    const PIECE: usize = 64;
    let is_odd = |byte: u8| !byte.is_ascii() || byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let pieces = text.as_bytes().chunks(PIECE).enumerate();
    let mut odd = pieces.filter(|(_, piece)| piece.iter().fold(false, |odd, byte| odd | is_odd(*byte)));
    let is_hidden_at = |at: usize| text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_hidden);
    odd.any(|(nth, piece)| {
        piece.iter().enumerate().any(|(at, byte)| is_odd(*byte) && is_hidden_at(PIECE * nth + at))
    })
}

/// Returns whether `text` has a string that is put together of others.
fn is_joined(text: &str) -> bool {
    let bytes = text.as_bytes();
    let quote_before = |at: usize| {
        let blanks = bytes[..at].iter().rev().take(LONGEST_JOINT).take_while(|byte| is_blank(byte)).count();
        (at - blanks).checked_sub(1)
    };
    let mut quotes = memchr_iter(b'+', bytes).filter_map(quote_before);
    let mut breaks = memmem::find_iter(bytes, b"\\\n").chain(memmem::find_iter(bytes, b"\\\r\n"));
    quotes.any(|at| joint(&bytes[at..]) > 0) || breaks.any(|at| joint(&bytes[at..]) > 0)
}

/// Returns whether a placeholder of `text` stands before the rest of a word.
fn has_placeholder(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), PLACEHOLDER).any(|at| placeholder(&text.as_bytes()[at..]) > 0)
}

/// Returns the length of the placeholder that `text` begins with, where a word goes on behind it: whoever puts one into a key
/// must not hide it thereby.
fn placeholder(text: &[u8]) -> usize {
    let Some(inside) = text.strip_prefix(PLACEHOLDER) else { return 0 };
    let length = inside.iter().take(LONGEST_PLACEHOLDER).take_while(|byte| is_of_placeholder(byte)).count();
    match inside.get(length..) {
        Some([b']', next, ..]) if next.is_ascii_alphanumeric() => PLACEHOLDER.len() + length + 1,
        _ => 0,
    }
}

/// Returns how many bytes at the beginning of `text` put a string together: the end of one, a plus and the beginning of the
/// next, or the end of a line that goes on.
fn joint(text: &[u8]) -> usize {
    let goes_on = |behind: usize| {
        text.get(behind).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
    };
    let blanks =
        |from: usize| text[from..].iter().take(LONGEST_JOINT).take_while(|byte| is_blank(byte)).count();
    let behind = match text {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        [quote @ (b'"' | b'\''), ..] => {
            let plus = 1 + blanks(1);
            let open = plus + 1 + text.get(plus).map_or(0, |_| blanks(plus + 1));
            if text.get(plus) != Some(&b'+') || text.get(open) != Some(quote) {
                return 0;
            }
            open + 1
        }
        _ => return 0,
    };
    if goes_on(behind) { behind } else { 0 }
}

fn is_blank(byte: &u8) -> bool {
    byte.is_ascii_whitespace()
}

/// The characters of a text that somebody sees, each with where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    text: &'a str,
    /// Where the next one is looked for.
    at: usize,
}

impl Seen<'_> {
    pub(crate) fn of(text: &str) -> Seen<'_> {
        Seen { text, at: 0 }
    }
}

impl Iterator for Seen<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<(Range<usize>, char)> {
        loop {
            let rest = &self.text[self.at..];
            let c = rest.chars().next()?;
            let hidden = hidden(rest);
            self.at += if hidden == 0 { c.len_utf8() } else { hidden };
            if hidden == 0 {
                return Some((self.at - c.len_utf8()..self.at, c));
            }
        }
    }
}

/// Returns how many bytes at the beginning of `text` say nothing: one character, one sequence that a terminal obeys, or what
/// puts a string together.
fn hidden(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    if first.is_ascii_punctuation() {
        return joint(text.as_bytes()).max(placeholder(text.as_bytes()));
    }
    // Colours, and where to write.
    let sequence = ["\u{1b}[", "\u{9b}"].into_iter().find_map(|begins| {
        let behind = text.strip_prefix(begins)?.as_bytes();
        let end = behind.iter().take(LONGEST_CONTROL).position(|byte| !matches!(byte, b' '..=b'?'))?;
        matches!(behind[end], b'@'..=b'~').then_some(begins.len() + end + 1)
    });
    sequence.unwrap_or(if is_hidden(first) { first.len_utf8() } else { 0 })
}

/// Returns whether `c` may stand inside a secret without that anybody sees it: all that is invisible, variants included, but what
/// ends a word or a line.
fn is_hidden(c: char) -> bool {
    match c {
        '\t'..='\r' | '\u{2028}' | '\u{2029}' => false,
        '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => true,
        c => is_invisible(c),
    }
}

/// Bytes of a control sequence behind its beginning; what is longer is none.
const LONGEST_CONTROL: usize = 32;

/// The rule and the number in a placeholder take no more, in bytes.
const LONGEST_PLACEHOLDER: usize = 80;

/// Blanks on either side of what puts a string together, in bytes.
const LONGEST_JOINT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;

    fn place(text: &str, span: Range<usize>) -> Range<usize> {
        Places::of(Seen::of(text)).place(span)
    }

    #[test]
    fn what_is_left_has_its_place() {
        let text = "a\u{200b}bé\u{feff}\u{200d}cd";
        let left = without(text).unwrap();
        assert_eq!(left, "abécd");
        for (span, expected) in
            [(0..1, "a"), (0..2, "a\u{200b}b"), (1..2, "b"), (2..5, "é\u{feff}\u{200d}c"), (4..6, "cd")]
        {
            assert_eq!(&text[place(text, span)], expected);
        }
        let coloured = "a\u{1b}[31;1mbc\u{1b}[0m\u{9b}1m\0\u{61c}\u{1b}[";
        assert_eq!(without(coloured).unwrap(), "abc[");
        assert_eq!(&coloured[place(coloured, 1..3)], "bc");
        let joined = "\"ab\" +\n  \"cd\" 'ef'+'gh'; ij\\\nkl";
        assert_eq!(without(joined).unwrap(), "\"abcd\" 'efgh'; ijkl");
        for apart in
            ["\"a\" + b", "\"a\" + 'b'", "(\"+\", \"b\")", "a \\\n  b", "\"a\", \"b\"", "+", "\"+", "\" +"]
        {
            assert_eq!(without(apart), None, "{apart}");
        }
        let key = "ghp_ab[REDACTED:github-pat:1]cd [REDACTED:x:2] e[REDACTED:x:1]";
        assert_eq!(without(key).unwrap(), "ghp_abcd [REDACTED:x:2] e[REDACTED:x:1]");
        assert_eq!(&key[place(key, 4..8)], "ab[REDACTED:github-pat:1]cd");
        assert_eq!(without("[REDACTED:x:1], [REDACTED:"), None);
        assert_eq!(without("\u{feff}abc"), None);
        assert_eq!(without("abécd\t\r\n"), None);
    }
}
