//! Words that addresses spell with percent signs and HTML with entities: `ghp%5F...` and `ghp&#95;...` are keys as well.

use std::ops::Range;

use memchr::memchr2;

/// Returns the words of `text` in which percent signs or entities spell letters, digits or signs.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at;
        while let Some(found) = memchr2(b'%', b'&', &text[at..]) {
            let sign = at + found;
            if spelled(&text[sign..]).is_none() {
                at = sign + 1;
                continue;
            }
            let before = text[from..sign].iter().rev().take_while(|byte| is_of_word(byte)).count();
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
            Some(spelled) => spelled,
            None => (char::from(*rest.first()?), 1),
        };
        self.at += length;
        Some((self.at - length..self.at, if c.is_ascii() { c } else { '?' }))
    }
}

/// Returns the character that the beginning of `rest` spells, where it is shown, and how many bytes spell it.
fn spelled(rest: &[u8]) -> Option<(char, usize)> {
    let (code, length) = match rest {
        [b'%', high, low, ..] => (hexadecimal(&[*high, *low])?, 3),
        [b'&', inside @ ..] => {
            let length = inside.iter().take(LONGEST_ENTITY).position(|byte| *byte == b';')?;
            (entity(&inside[..length])?, length + 2)
        }
        _ => return None,
    };
    let byte = u8::try_from(code).ok().filter(u8::is_ascii_graphic)?;
    Some((char::from(byte), length))
}

/// Returns what an entity stands for, without its `&` and `;`.
fn entity(name: &[u8]) -> Option<u32> {
    match name {
        [b'#', b'x' | b'X', digits @ ..] => hexadecimal(digits),
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, c)| u32::from(*c)),
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, 16).ok()
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`<>{}|\\".contains(byte)
}

/// The longest entity of those below, and of a character's number with zeros before it, in bytes.
const LONGEST_ENTITY: usize = 9;

/// The names of signs that keys and what assigns them have.
const ENTITIES: [(&[u8], u8); 15] = [
    (b"amp", b'&'),
    (b"apos", b'\''),
    (b"colon", b':'),
    (b"commat", b'@'),
    (b"dollar", b'$'),
    (b"equals", b'='),
    (b"excl", b'!'),
    (b"gt", b'>'),
    (b"lowbar", b'_'),
    (b"lt", b'<'),
    (b"num", b'#'),
    (b"period", b'.'),
    (b"plus", b'+'),
    (b"quot", b'"'),
    (b"sol", b'/'),
];

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
        let entities = b"&lt;a&gt;ghp&#95;a&#x5F;b&lowbar;&#0095;c&lt;/a&gt; &nbsp; &#233; & &#";
        assert_eq!(
            words(entities)
                .map(|word| Decoded::of(&entities[word]).map(|(_, c)| c).collect())
                .collect::<Vec<String>>(),
            ["<a>ghp_a_b__c</a>"]
        );
        let mut places = Places::of(Decoded::of(&text[found[0].clone()]));
        assert_eq!(places.place(13..18), 13..20);
        assert_eq!(places.place(19..21), 21..25);
    }
}
