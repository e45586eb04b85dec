//! Values as generators of passwords make them, with whatever sign in them: where they end, and that they are no code.
//!
//! Expressions stop at signs that programs have, and leave the value or what stands behind the sign. Between quotes a value ends at the
//! quote that closes it, in a file of settings at the end of its line, and elsewhere at a blank.

use std::ops::Range;

use crate::{named::Named, words::odd_pairs};

/// Returns the value behind `head`, which ends where it begins, where that was generated.
pub(crate) fn value(text: &[u8], head: Range<usize>) -> Named {
    let value = match text[head.end - 1] {
        b'"' | b'\'' | b'`' => string(text, head.end),
        b'=' => match text[head.end..].iter().take(3).take_while(|byte| b"\"'".contains(byte)).count() {
            0 => line(text, &head),
            quotes => string(text, head.end + quotes),
        },
        _ => word(text, head.end),
    };
    let values: Vec<Range<usize>> =
        value.filter(|value| is_generated(&text[value.clone()])).into_iter().collect();
    let end = values.first().map_or(head.end, |value| value.end);
    Named { values, end }
}

/// Returns the string whose inside begins at `start`. Escapes have been read before: a quote with one is two quotes, and so is each
/// quote of a string within a string.
fn string(text: &[u8], start: usize) -> Option<Range<usize>> {
    let quote = text[start - 1];
    let back =
        |at: usize, of: u8| text[..at].iter().rev().take(MOST_SIGNS).take_while(|byte| **byte == of).count();
    let opened = back(start, quote);
    let mut at = start;
    while at < text.len() && at - start <= LONGEST {
        match text[at] {
            b'\n' | b'\r' => return None,
            byte if byte == quote => {
                let run = text[at..].iter().take(MOST_SIGNS).take_while(|byte| **byte == quote).count();
                let escapes = back(at, b'\\');
                let end = match opened {
                    // An escaped quote is two; behind what is no escape, the first of them was a backslash.
                    1 if run % 2 == 1 => Some(at + run - 1),
                    1 if escapes % 2 == 1 => Some(at + 1),
                    1 => None,
                    // The string around this one ends, which has not ended itself.
                    _ if run < opened => return None,
                    _ if escapes > 0 => None,
                    _ => Some(at + run - opened),
                };
                if let Some(end) = end {
                    return Some(start..end);
                }
                at += run;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns what is left of the line of a setting, `DB_PASSWORD=...`, where it is one word.
fn line(text: &[u8], head: &Range<usize>) -> Option<Range<usize>> {
    let rest = &text[head.end..];
    let length =
        rest.iter().take(LONGEST + 1).position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let is_word = length <= LONGEST && rest[..length].iter().all(u8::is_ascii_graphic);
    is_word.then_some(head.end..head.end + length)
}

/// Returns the word at `start`, up to a closing tag or another field, without what ends a sentence.
fn word(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let is_inside = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`".contains(byte);
    let length = rest.iter().take(LONGEST + 1).take_while(is_inside).count();
    let is_end = |at: &usize| match &rest[*at..length] {
        [b'<', b'/', next, ..] => next.is_ascii_alphabetic(),
        [b'&' | b'|' | b';' | b',', field @ ..] => {
            let name = field.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
            name > 2 && matches!(field.get(name), Some(b'=' | b':'))
        }
        _ => false,
    };
    let is_whole = length <= LONGEST;
    let length = (0..length).find(is_end).unwrap_or(length);
    // The row of a table ends so.
    let cell =
        rest[..length].iter().position(|byte| *byte == b'|').filter(|_| rest[..length].ends_with(b"|"));
    let length = cell.unwrap_or(length);
    let ends = rest[..length].iter().rev().take_while(|byte| b".,;".contains(byte)).count();
    is_whole.then_some(start..start + length - ends)
}

/// Returns whether a generator made `value`: every second pair of neighbours in it is one that words and programs do not have.
fn is_generated(value: &[u8]) -> bool {
    let value = without_templates(value);
    if value.len() < SHORTEST || is_code(&value) {
        return false;
    }
    let signs = value.windows(2).filter(|pair| is_odd_sign(pair)).count();
    let (of_words, _) = odd_pairs(&value);
    let odd = signs
        + value
            .windows(2)
            .filter(|pair| pair.iter().all(u8::is_ascii_alphanumeric) && odd_pairs(pair).0 > 0)
            .count();
    let blanks = value.iter().filter(|byte| **byte == b' ').count();
    let class = |byte: u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let turns = value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    // Two numbered names have a sign between them, too; of longer values chance says less.
    let most = value.len() - if value.len() < LONG { 0 } else { 2 };
    let is_odd = 9 * odd >= 4 * value.len() || 2 * turns >= most && 10 * odd >= 3 * value.len();
    // Words have blanks between them, and few other signs.
    of_words > 0 && is_odd && 8 * blanks <= value.len()
}

/// Returns whether one of two neighbours is a sign that does not stand there in names, paths and sentences.
fn is_odd_sign(pair: &[u8]) -> bool {
    const OF_NAMES: &[u8] = b" ._-/:,'\"";
    const OF_CODE: [&[u8]; 10] = [b"()", b"[]", b"{}", b"=>", b"->", b"<=", b"==", b"&&", b"||", b");"];
    let is_sign = |byte: &u8| byte.is_ascii_punctuation() && !OF_NAMES.contains(byte);
    pair.iter().any(is_sign) && pair[0] != pair[1] && !OF_CODE.contains(&pair)
}

/// Returns `value` without what a program puts in the place of: `${DB_PASSWORD}`, `{{ user }}`, `<name>`, `%s`.
fn without_templates(value: &[u8]) -> Vec<u8> {
    const OPEN: [(&[u8], &[u8]); 7] = [
        (b"${", b"}"),
        (b"{{", b"}}"),
        (b"#{", b"}"),
        (b"$(", b")"),
        (b"%(", b")s"),
        (b"{", b"}"),
        (b"<", b">"),
    ];
    let is_name = |name: &[u8]| {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:- ?/".contains(byte);
        name.iter().any(u8::is_ascii_alphabetic)
            && name.iter().all(is_of_name)
            && 5 * odd_pairs(name).0 <= name.len()
    };
    let length_at = |rest: &[u8]| -> usize {
        for (open, close) in OPEN {
            let Some(inside) = rest.strip_prefix(open) else { continue };
            let end = memchr::memmem::find(&inside[..inside.len().min(LONGEST_NAME)], close);
            if let Some(end) = end.filter(|end| is_name(&inside[..*end])) {
                return open.len() + end + close.len();
            }
        }
        match rest {
            [b'%', b's' | b'd' | b'v' | b'q', ..] => 2,
            [b'$', name @ ..] => {
                let length =
                    name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
                let is_word = name[..length].iter().all(|byte| !byte.is_ascii_digit());
                if length > 3 && is_word && odd_pairs(&name[..length]).0 == 0 { length + 1 } else { 0 }
            }
            _ => 0,
        }
    };
    let (mut left, mut at) = (Vec::with_capacity(value.len()), 0);
    while at < value.len() {
        let length = length_at(&value[at..]);
        left.extend((length == 0).then_some(value[at]));
        at += length.max(1);
    }
    left
}

/// Returns whether `value` is a call, an expression that values are checked by, an address, or tells of a password.
fn is_code(value: &[u8]) -> bool {
    const CODE: [&[u8]; 10] =
        [b"[a-z", b"[A-Z", b"[0-9", b"(?=", b"(?:", b"(?!", b"passw", b"Passw", b"PASSW", b"://"];
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:".contains(byte);
    let name = value.iter().take_while(|byte| is_of_name(byte)).count();
    let ended = &value[..value.len() - value.iter().rev().take_while(|byte| b".,;".contains(byte)).count()];
    let is_call = name >= 3
        && value[name..].starts_with(b"(")
        && ended.ends_with(b")")
        && 4 * odd_pairs(&value[..name]).0 <= name;
    is_call || CODE.iter().any(|part| memchr::memmem::find(value, part).is_some())
}

/// A longer value is none that a generator makes, in bytes.
const LONGEST: usize = 256;

/// A shorter one may be anything, in bytes.
const SHORTEST: usize = 10;

/// Such a value is longer than two names, in bytes.
const LONG: usize = 16;

/// A longer name stands in no template, in bytes.
const LONGEST_NAME: usize = 64;

/// More quotes or escapes are not counted.
const MOST_SIGNS: usize = 16;
