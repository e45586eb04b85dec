//! Words that addresses spell with percent signs: `ghp%5F...` is a key as well.

use std::ops::Range;

use memchr::memchr;

/// Returns the words of `text` in which percent signs spell letters, digits or signs.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = memchr(b'%', &text[at..]) {
            let sign = at + found;
            if spelled(&text[sign..]).is_none() {
                at = sign + 1;
                continue;
            }
            let before = text[at..sign].iter().rev().take_while(|byte| is_of_word(byte)).count();
            let behind = text[sign..].iter().take_while(|byte| is_of_word(byte)).count();
            at = sign + behind;
            return Some(sign - before..at);
        }
        None
    })
}

/// The characters of a word as they are meant, each with where it stands; what is no ASCII becomes `?`.
#[derive(Clone, Debug)]
pub(crate) struct Decoded<'a> {
    word: &'a [u8],
    at: usize,
}

impl Decoded<'_> {
    pub(crate) fn of(word: &[u8]) -> Decoded<'_> {
        Decoded { word, at: 0 }
    }
}

impl Iterator for Decoded<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<(Range<usize>, char)> {
        let rest = &self.word[self.at..];
        let (c, length) = match spelled(rest) {
            Some(c) => (c, 3),
            None => (char::from(*rest.first()?), 1),
        };
        self.at += length;
        Some((self.at - length..self.at, if c.is_ascii() { c } else { '?' }))
    }
}

/// Returns the character that the percent sign at the beginning of `rest` and two digits spell, where it is shown.
fn spelled(rest: &[u8]) -> Option<char> {
    let [b'%', high, low, ..] = rest else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
    byte.is_ascii_graphic().then_some(char::from(byte))
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>{}|\\".contains(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;

    #[test]
    fn words_are_decoded_and_their_parts_placed() {
        let text = b"100% of https://x/?q=ghp%5Fab%2fc \"a%20b\" %41";
        let shown = |word: Range<usize>| Decoded::of(&text[word]).map(|(_, c)| c).collect::<String>();
        let found: Vec<_> = words(text).collect();
        assert_eq!(found.iter().cloned().map(shown).collect::<Vec<_>>(), ["https://x/?q=ghp_ab/c", "A"]);
        let mut places = Places::of(Decoded::of(&text[found[0].clone()]));
        assert_eq!(places.place(13..18), 13..20);
        assert_eq!(places.place(19..21), 21..25);
    }
}
