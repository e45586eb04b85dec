//! The character classes of the split patterns, as bits.

/// `\p{L}`
pub(super) const LETTER: u8 = 1;
/// `\p{N}`
pub(super) const NUMBER: u8 = 2;
/// `\s`
pub(super) const SPACE: u8 = 4;
/// `[\r\n]`
pub(super) const BREAK: u8 = 8;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: what the first half of a word of o200k is made of.
pub(super) const UPPER: u8 = 16;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: what its second half is made of.
pub(super) const LOWER: u8 = 32;

/// Unicode 16.0, as the reference has it: for each 128 characters the number of a page, then the pages of class bits.
/// Written by `examples/codegen.rs`.
static TABLE: &[u8] = include_bytes!("../../data/classes.bin");

/// `[\p{P}\p{S}]`: marks, for grammars that do not take for one whatever is nothing else.
pub(super) const MARK: u8 = 64;

const PAGE: usize = 128;
const INDEX: usize = 0x11_0000 / PAGE;

/// Returns the class bits of `c`.
#[inline(always)]
pub(super) fn of(c: u32) -> u8 {
    let c = c as usize;
    let page = TABLE.get(c / PAGE).copied().unwrap_or(0);
    TABLE.get(INDEX + usize::from(page) * PAGE + c % PAGE).copied().unwrap_or(0)
}

/// Returns the class bits of a character of ASCII. Its page is the first, which a test checks.
#[inline(always)]
pub(super) fn ascii(byte: u8) -> u8 {
    TABLE.get(INDEX + usize::from(byte)).copied().unwrap_or(0)
}

/// Returns the class bits of the character that begins at `at` and its length in bytes, or `None` at the end. `text` is
/// UTF-8 and `at` the edge of a character.
#[inline(always)]
pub(super) fn at(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let lead = u32::from(*text.get(at)?);
    let tail = |offset: usize| text.get(at + offset).map_or(0, |byte| u32::from(*byte) & 0x3F);
    Some(match lead {
        0..0x80 => (ascii(lead as u8), 1),
        0x80..0xE0 => (of((lead & 0x1F) << 6 | tail(1)), 2),
        0xE0..0xF0 => (of((lead & 0x0F) << 12 | tail(1) << 6 | tail(2)), 3),
        _ => (of((lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3)), 4),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_agree_with_the_standard_library_where_it_has_them() {
        for c in '\0'..=char::MAX {
            let bits = of(c as u32);
            assert_eq!(bits & SPACE != 0, c.is_whitespace(), "{c:?}");
            assert_eq!(bits & BREAK != 0, matches!(c, '\r' | '\n'), "{c:?}");
            // Newer versions of Unicode only add characters.
            assert!(bits & NUMBER == 0 || c.is_numeric(), "{c:?}");
            assert!(bits & LETTER == 0 || c.is_alphabetic(), "{c:?}");
            assert!(bits & LETTER == 0 || bits & (UPPER | LOWER) != 0, "{c:?}");
            assert!(!c.is_ascii() || bits == ascii(c as u8), "{c:?}");
            assert!(!c.is_ascii() || c.is_ascii_punctuation() == (bits & MARK != 0), "{c:?}");
        }
        assert_eq!(of(u32::from('é')), LETTER | LOWER);
        assert_eq!(of(u32::from('É')), LETTER | UPPER);
        assert_eq!(of(u32::from('日')), LETTER | UPPER | LOWER);
        assert_eq!(of(0x301), UPPER | LOWER); // a combining accent is part of a word, but no letter
        assert_eq!(of(u32::MAX), 0);
    }
}
