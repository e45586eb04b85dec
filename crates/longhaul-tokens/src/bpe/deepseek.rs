//! The split patterns of DeepSeek V3: three, of which each cuts what the one before left.
//!
//! `\p{N}{1,3}`, then `[一-龥぀-ゟ゠-ヿ]+`, then
//! ``[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+``,
//! as in the model's `tokenizer.json`. What none of them matches is a piece up to the next match.

use super::{
    classes::{self, BREAK, LETTER, LOWER, MARK, NUMBER, SPACE, UPPER},
    scan,
};

/// `[\p{L}\p{M}]`: what is of neither case counts as both.
const LETTER_OR_ACCENT: u8 = LETTER | UPPER | LOWER;

/// Returns the end of the piece that begins at `start`, which lies before the end of `text`.
pub(super) fn piece_end(text: &[u8], start: usize) -> usize {
    let Some((class, _)) = classes::at(text, start) else { return text.len() };
    if class & NUMBER != 0 {
        return scan::digits(text, start, 3);
    }
    let section = Section { text, is_han_or_kana: is_han_or_kana(text, start) };
    if let Some(end) = section.matched(start) {
        return end;
    }
    // Nothing matches here: the piece lasts until something does, or the section ends.
    let mut at = start;
    while let Some((_, length)) = section.at(at) {
        at += length;
        if section.matched(at).is_some() {
            break;
        }
    }
    at
}

/// What the first two patterns left whole, from where it is looked at: up to a digit, and all of it or nothing Chinese or
/// Japanese.
struct Section<'a> {
    text: &'a [u8],
    is_han_or_kana: bool,
}

impl Section<'_> {
    /// Returns the class bits and the length of the character at `at`, or `None` at the section's end.
    fn at(&self, at: usize) -> Option<(u8, usize)> {
        let found = classes::at(self.text, at).filter(|(class, _)| class & NUMBER == 0);
        found.filter(|_| is_han_or_kana(self.text, at) == self.is_han_or_kana)
    }

    fn run(&self, mut at: usize, bits: u8) -> usize {
        while let Some((class, length)) = self.at(at)
            && class & bits != 0
        {
            at += length;
        }
        at
    }

    /// Returns the end of what the third pattern matches at `start`.
    fn matched(&self, start: usize) -> Option<usize> {
        let (class, length) = self.at(start)?;
        if self.text[start].is_ascii_punctuation() {
            let letters = self.text[start + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            if letters > 0 {
                return Some(start + 1 + letters);
            }
        }
        if class & LETTER_OR_ACCENT != 0 {
            return Some(self.run(start, LETTER_OR_ACCENT));
        }
        if class & (BREAK | MARK) == 0 {
            let end = self.run(start + length, LETTER_OR_ACCENT);
            if end > start + length {
                return Some(end);
            }
        }
        let from = start + usize::from(self.text[start] == b' ');
        let end = self.run(from, MARK);
        if end > from {
            return Some(self.run(end, BREAK));
        }
        self.blanks(start)
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    fn blanks(&self, start: usize) -> Option<usize> {
        let (mut at, mut last, mut behind_break) = (start, start, None);
        while let Some((class, length)) = self.at(at)
            && class & SPACE != 0
        {
            last = at;
            at += length;
            if class & BREAK != 0 {
                behind_break = Some(at);
            }
        }
        match behind_break {
            Some(end) => Some(end),
            None if at == start => None,
            // The last blank is left to what follows, unless it is the only one or the section ends.
            None if last == start || self.at(at).is_none() => Some(at),
            None => Some(last),
        }
    }
}

/// `[一-龥぀-ゟ゠-ヿ]`: U+4E00 to U+9FA5, and U+3040 to U+30FF.
fn is_han_or_kana(text: &[u8], at: usize) -> bool {
    let bytes = |nth: usize| text.get(at + nth).map_or(0, |byte| u32::from(*byte));
    match bytes(0) {
        0xE3..=0xE9 => {
            let code = (bytes(0) & 0x0F) << 12 | (bytes(1) & 0x3F) << 6 | bytes(2) & 0x3F;
            matches!(code, 0x4E00..=0x9FA5 | 0x3040..=0x30FF)
        }
        _ => false,
    }
}
