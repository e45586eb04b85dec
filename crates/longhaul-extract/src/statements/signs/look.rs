//! One pass over a text that sees all its signs: no regular expressions, as every statement is looked at when it is read.

use super::Signs;

/// Returns the signs that stand anywhere in `text`, and what it is made of.
pub(super) fn look(text: &str) -> Look {
    let bytes = text.as_bytes();
    let Tally { chars, letters, marks, digits } = Tally::of(bytes);
    let mut look = Look { chars, letters, marks, ..Look::default() };
    look.add(Signs::NUMBER, digits > 0);
    look.add(Signs::COUNTS, opens_ok(text));
    let (mut at, mut before) = (0, SPACE);
    while let Some(&byte) = bytes.get(at) {
        let mut class = CLASS[usize::from(byte)];
        look.words += usize::from(before & SPACE != 0 && class & (SPACE | WIDE) == 0);
        let mut length = 1;
        if class & WORD != 0 {
            if before & WORD == 0 {
                look.word(&text[at..], byte);
            }
            let rest = &bytes[at + 1..];
            length += rest.iter().take_while(|byte| CLASS[usize::from(**byte)] & WORD != 0).count();
        } else if class & WIDE != 0 {
            (class, length) = look.wide(&text[at..]);
            look.words += usize::from(before & SPACE != 0 && class & SPACE == 0);
            look.letters += usize::from(class & LETTER != 0);
        } else if class & SIGN != 0 {
            look.sign(byte, before, &text[at + 1..]);
        }
        at += length;
        before = class;
    }
    look
}

/// What was seen of a text so far.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) signs: Signs,
    pub(super) chars: usize,
    /// Letters and blanks.
    pub(super) letters: usize,
    /// Brackets and operators.
    pub(super) marks: usize,
    /// Runs without white space.
    pub(super) words: usize,
}

impl Look {
    /// Takes in a character that may be a sign, `rest` being what stands behind it.
    fn sign(&mut self, byte: u8, before: u8, rest: &str) {
        match byte {
            b'*' => self.add(Signs::BOLD, rest.starts_with('*')),
            _ if byte != b'?' && self.signs.has(Signs::PATH) => {}
            b'.' => self.add(Signs::PATH, before & PATH != 0 && is_extension(rest)),
            b'/' => self.add(Signs::PATH, is_folder(rest)),
            _ => self.add(Signs::QUESTION, true),
        }
    }

    /// Takes in the first character of `rest`, which is not ASCII, and returns its class and its length.
    fn wide(&mut self, rest: &str) -> (u8, usize) {
        let Some(c) = rest.chars().next() else { return (0, rest.len()) };
        self.add(Signs::QUESTION, c == '？');
        let class = [(is_word(c), WORD | PATH), (c.is_alphabetic(), LETTER), (c.is_whitespace(), SPACE)];
        let class = class.into_iter().filter(|(is_so, _)| *is_so).fold(0, |all, (_, bits)| all | bits);
        (class, c.len_utf8())
    }

    /// Looks up what `rest` begins with, by its first two letters.
    fn word(&mut self, rest: &str, first: u8) {
        if first.is_ascii_digit() {
            self.add(Signs::COUNTS, counts(rest));
            return;
        }
        let Some(second) = rest.as_bytes().get(1) else { return };
        let Some(place) = place(first, *second) else { return };
        let (from, to) = PLACES[place];
        // The third letter tells most of those apart that share two.
        let third = rest.as_bytes().get(2).map(|byte| byte | 0x20);
        let may_open = |start: &str| start.as_bytes().get(2).is_none_or(|byte| Some(*byte) == third);
        for (start, form, sign) in &LEXICON[usize::from(from)..usize::from(to)] {
            if may_open(start) && !self.signs.has(*sign) && opens(rest, start, *form) {
                self.add(*sign, true);
            }
        }
    }

    fn add(&mut self, sign: Signs, is_so: bool) {
        self.signs = self.signs.with(sign, is_so);
    }
}

const WORD: u8 = 1;
/// A letter that is not ASCII.
const LETTER: u8 = 1 << 1;
const SPACE: u8 = 1 << 2;
const PATH: u8 = 1 << 3;
/// What stands here may be a sign: it is looked at closely.
const SIGN: u8 = 1 << 4;
/// A byte of a character that is not ASCII.
const WIDE: u8 = 1 << 5;

/// What each byte is.
const CLASS: [u8; 256] = {
    let mut class = [WIDE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let mut bits = 0;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            bits |= WORD | PATH;
        }
        if matches!(byte, b' ' | b'\t'..=b'\r') {
            bits |= SPACE;
        }
        if matches!(byte, b'.' | b'/' | b'\\' | b'-') {
            bits |= PATH;
        }
        if matches!(byte, b'*' | b'.' | b'/' | b'?') {
            bits |= SIGN;
        }
        class[byte as usize] = bits;
        byte += 1;
    }
    class
};

/// How many of some bytes begin a character, and how many are letters or blanks, marks and digits.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    chars: usize,
    letters: usize,
    marks: usize,
    digits: usize,
}

impl Tally {
    fn of(bytes: &[u8]) -> Tally {
        let mut tally = Tally::default();
        for part in bytes.chunks(usize::from(u16::MAX)) {
            let counts = part.iter().fold(0, |counts, byte| counts + COUNTS[usize::from(*byte)]);
            let count = |nth: u32| usize::from((counts >> (16 * nth)) as u16);
            tally.chars += count(0);
            tally.letters += count(1);
            tally.marks += count(2);
            tally.digits += count(3);
        }
        tally
    }
}

/// What each byte counts as, in the order of [`Tally`], 16 bits for each: one sum counts all of them.
const COUNTS: [u64; 256] = {
    let mut counts = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let begins = byte & 0xc0 != 0x80;
        let is_letter = byte.is_ascii_alphabetic() || byte == b' ';
        let is_mark = matches!(byte, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b';' | b'=' | b'<' | b'>');
        counts[at] = begins as u64
            | (is_letter as u64) << 16
            | (is_mark as u64) << 32
            | (byte.is_ascii_digit() as u64) << 48;
        at += 1;
    }
    counts
};

/// Whether a character that is not ASCII belongs to words: letters, digits, and the marks that sit on them.
fn is_word(c: char) -> bool {
    let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20f0}' | '\u{fe00}'..='\u{fe0f}');
    let is_no_digit = matches!(c, '²' | '³' | '¹' | '¼'..='¾' | '\u{2070}'..='\u{215f}' | '\u{2460}'..='\u{24b5}' | '\u{2776}'..='\u{2793}');
    c.is_alphabetic() || is_mark || (c.is_numeric() && !is_no_digit)
}

fn begins_word(rest: &str) -> bool {
    match rest.as_bytes().first() {
        Some(byte) if byte.is_ascii() => CLASS[*byte as usize] & WORD != 0,
        Some(_) => rest.chars().next().is_some_and(is_word),
        None => false,
    }
}

fn starts(rest: &str, start: &str) -> bool {
    rest.as_bytes().get(..start.len()).is_some_and(|opening| opening.eq_ignore_ascii_case(start.as_bytes()))
}

fn opens(rest: &str, start: &str, form: Form) -> bool {
    starts(rest, start) && (form == Form::Opening || !begins_word(&rest[start.len()..]))
}

/// `12 passed`, `3 errors`: what programs say that count.
fn counts(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = rest[digits..].strip_prefix(' ') else { return false };
    COUNTED.iter().any(|word| opens(rest, word, Form::Whole))
}

/// `ok  crate/path`: a package that passed.
fn opens_ok(text: &str) -> bool {
    starts(text, "ok") && text[2..].starts_with(char::is_whitespace)
}

/// Whether the word after a dot is one that names a kind of file.
fn is_extension(rest: &str) -> bool {
    let end = rest.bytes().position(|byte| CLASS[byte as usize] & WORD == 0).unwrap_or(rest.len());
    (1..=4).contains(&end) && EXTENSIONS.contains(&&rest[..end]) && !begins_word(&rest[end..])
}

/// Whether a folder stands after a slash, with another slash and something after it.
fn is_folder(rest: &str) -> bool {
    let is_part = |c: char| {
        if c.is_ascii() { CLASS[c as usize] & PATH != 0 && !matches!(c, '/' | '\\') } else { is_word(c) }
    };
    let Some((folder, after)) =
        rest.split_once(|c| !is_part(c)).map(|(folder, _)| (folder, &rest[folder.len()..]))
    else {
        return false;
    };
    let inside = after.strip_prefix('/').and_then(|inside| inside.chars().next());
    !folder.is_empty() && inside.is_some_and(|c| c == '/' || is_part(c))
}

/// How a word counts: with whatever follows it, or only whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Opening,
    Whole,
}

use Form::{Opening, Whole};

/// The words that say what a text is, by their first letters.
const LEXICON: [(&str, Form, Signs); 94] = [
    ("aborted", Whole, Signs::FAILS),
    ("actually", Opening, Signs::SETTLES),
    ("added", Opening, Signs::SETTLES),
    ("agree", Opening, Signs::SETTLES),
    ("already", Opening, Signs::SETTLES),
    ("always", Opening, Signs::SETTLES),
    ("always", Opening, Signs::HOLDS),
    ("because", Opening, Signs::SETTLES),
    ("because", Opening, Signs::HOLDS),
    ("both", Opening, Signs::HOLDS),
    ("broken", Whole, Signs::FAILS),
    ("can't", Opening, Signs::SETTLES),
    ("cannot", Opening, Signs::SETTLES),
    ("cannot", Whole, Signs::FAILS),
    ("cannot", Opening, Signs::HOLDS),
    ("changed", Opening, Signs::SETTLES),
    ("choose", Opening, Signs::SETTLES),
    ("chose", Opening, Signs::SETTLES),
    ("chose", Opening, Signs::DECIDES),
    ("complete", Opening, Signs::SETTLES),
    ("confirmed", Opening, Signs::SETTLES),
    ("decid", Opening, Signs::SETTLES),
    ("decided", Whole, Signs::DECIDES),
    ("decision", Opening, Signs::DECIDES),
    ("denied", Whole, Signs::FAILS),
    ("doesn't", Opening, Signs::SETTLES),
    ("done", Opening, Signs::SETTLES),
    ("either", Opening, Signs::HOLDS),
    ("error", Whole, Signs::FAILS),
    ("exception", Whole, Signs::FAILS),
    ("exit code", Whole, Signs::COUNTS),
    ("expected", Whole, Signs::FAILS),
    ("fail", Whole, Signs::FAILS),
    ("failed", Opening, Signs::SETTLES),
    ("failed", Whole, Signs::FAILS),
    ("failure", Whole, Signs::FAILS),
    ("fatal", Whole, Signs::FAILS),
    ("fixed", Opening, Signs::SETTLES),
    ("found", Opening, Signs::SETTLES),
    ("if", Whole, Signs::HOLDS),
    ("instead", Opening, Signs::SETTLES),
    ("instead", Opening, Signs::HOLDS),
    ("isn't", Opening, Signs::SETTLES),
    ("keep", Opening, Signs::SETTLES),
    ("keep", Opening, Signs::HOLDS),
    ("leave", Opening, Signs::SETTLES),
    ("must", Opening, Signs::SETTLES),
    ("must", Opening, Signs::HOLDS),
    ("need to", Opening, Signs::SETTLES),
    ("never", Opening, Signs::SETTLES),
    ("never", Opening, Signs::HOLDS),
    ("next", Opening, Signs::SETTLES),
    ("not", Whole, Signs::HOLDS),
    ("not found", Whole, Signs::FAILS),
    ("not needed", Opening, Signs::SETTLES),
    ("only", Opening, Signs::SETTLES),
    ("only", Opening, Signs::HOLDS),
    ("panic", Whole, Signs::FAILS),
    ("panicked", Whole, Signs::FAILS),
    ("passed", Opening, Signs::SETTLES),
    ("prevent", Opening, Signs::HOLDS),
    ("promis", Opening, Signs::SETTLES),
    ("rather than", Opening, Signs::SETTLES),
    ("reject", Opening, Signs::SETTLES),
    ("remaining", Opening, Signs::SETTLES),
    ("removed", Opening, Signs::SETTLES),
    ("renamed", Opening, Signs::SETTLES),
    ("replaced", Opening, Signs::SETTLES),
    ("require", Opening, Signs::HOLDS),
    ("revert", Opening, Signs::SETTLES),
    ("root cause", Opening, Signs::SETTLES),
    ("should", Opening, Signs::SETTLES),
    ("should", Opening, Signs::HOLDS),
    ("skip", Opening, Signs::SETTLES),
    ("skip", Opening, Signs::HOLDS),
    ("so that", Opening, Signs::SETTLES),
    ("the bug", Opening, Signs::SETTLES),
    ("the fix", Opening, Signs::SETTLES),
    ("the issue", Opening, Signs::SETTLES),
    ("the problem", Opening, Signs::SETTLES),
    ("the reason", Opening, Signs::SETTLES),
    ("todo", Opening, Signs::SETTLES),
    ("turns out", Opening, Signs::SETTLES),
    ("undefined", Whole, Signs::FAILS),
    ("unexpected", Whole, Signs::FAILS),
    ("unless", Opening, Signs::SETTLES),
    ("unless", Opening, Signs::HOLDS),
    ("updated", Opening, Signs::SETTLES),
    ("verified", Opening, Signs::SETTLES),
    ("want", Whole, Signs::SETTLES),
    ("wants", Whole, Signs::SETTLES),
    ("warning", Whole, Signs::FAILS),
    ("when", Opening, Signs::HOLDS),
    ("won't", Opening, Signs::SETTLES),
];

/// For each two letters the words in [`LEXICON`] that begin with them: for most there is none.
const PLACES: [(u8, u8); 26 * 26] = {
    let mut places = [(0, 0); 26 * 26];
    let (mut next, mut at) = (0, 0);
    while at < LEXICON.len() {
        let word = LEXICON[at].0.as_bytes();
        let place = place(word[0], word[1]).expect("each begins with two letters");
        // A word out of its place would never be found.
        assert!(place + 1 >= next);
        if place + 1 > next {
            (places[place].0, next) = (at as u8, place + 1);
        }
        at += 1;
        places[place].1 = at as u8;
    }
    places
};

/// Returns the place of a word by its first two letters, case apart, where both are some.
const fn place(first: u8, second: u8) -> Option<usize> {
    let (first, second) = ((first | 0x20).wrapping_sub(b'a'), (second | 0x20).wrapping_sub(b'a'));
    if first < 26 && second < 26 { Some(first as usize * 26 + second as usize) } else { None }
}

const COUNTED: [&str; 13] = [
    "pass", "passed", "passing", "fail", "failed", "failing", "test", "tests", "error", "errors", "issues",
    "warnings", "problems",
];

/// Extensions that make a word a path, whatever stands before it.
const EXTENSIONS: [&str; 20] = [
    "rs", "go", "ts", "tsx", "js", "py", "md", "json", "toml", "yml", "yaml", "sh", "css", "html", "java",
    "rb", "php", "c", "h", "cpp",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, sign: Signs) -> bool {
        look(text).signs.has(sign)
    }

    #[test]
    fn words_count_where_they_begin_and_some_only_whole() {
        for text in ["Decided: mutex", "it WON'T stop", "he wants it", "(the bug)", "é: fixed"] {
            assert!(has(text, Signs::SETTLES), "{text}");
        }
        for text in ["undecided", "wanted", "the bottle", "éfixed", "_done"] {
            assert!(!has(text, Signs::SETTLES), "{text}");
        }
        for text in ["an error.", "Not found", "panicked at", "fail"] {
            assert!(has(text, Signs::FAILS), "{text}");
        }
        for text in ["errors", "terror", "failé", "error_code", "not foundling"] {
            assert!(!has(text, Signs::FAILS), "{text}");
        }
    }

    #[test]
    fn counts_are_numbers_with_what_they_count() {
        for text in ["12 passed", "3 Errors, 1 warnings", "ok \tcrate/a", "exit code 3", "1.12 tests"] {
            assert!(has(text, Signs::COUNTS), "{text}");
        }
        for text in ["a12 passed", "12  passed", "12 passengers", "okay", "not ok "] {
            assert!(!has(text, Signs::COUNTS), "{text}");
        }
    }

    #[test]
    fn paths_are_told_by_extension_or_by_folders() {
        for text in ["see a.rs", "x/y.tsx!", "/etc/hosts", "è.md", "C:\\a.py", "in /a-b/c"] {
            assert!(has(text, Signs::PATH), "{text}");
        }
        for text in ["a.rsx", " .rs", "and/or", "//", "/etc", "a.rsé", "1.5"] {
            assert!(!has(text, Signs::PATH), "{text}");
        }
    }
}
