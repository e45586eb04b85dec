//! One pass over a text that sees all its signs: no regular expressions, as every statement is looked at when it is read.

use super::Signs;

/// Returns the signs that stand anywhere in `text`, and what it is made of.
pub(super) fn look(text: &str) -> Look {
    let mut look = Look::default();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        at += match byte.is_ascii() {
            true => look.ascii(text, at, byte),
            false => look.wide(&text[at..]),
        };
    }
    look.add(Signs::COUNTS, opens_ok(text));
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
    /// Whether the character before is a letter, a digit or an underscore.
    after_word: bool,
    /// Whether it is no white space.
    after_text: bool,
    /// Whether it can stand in a path.
    after_path: bool,
}

impl Look {
    /// Takes in the byte at `at`, and returns its length.
    fn ascii(&mut self, text: &str, at: usize, byte: u8) -> usize {
        let class = CLASS[byte as usize];
        self.letters += usize::from(class & LETTER != 0);
        self.marks += usize::from(class & MARK != 0);
        if class & WORD != 0 {
            if !self.after_word {
                self.word(&text[at..], byte);
            }
        } else if class & SIGN != 0 {
            let rest = &text[at + 1..];
            match byte {
                b'*' => self.add(Signs::BOLD, rest.starts_with('*')),
                b'.' => self.add(Signs::PATH, self.after_path && is_extension(rest)),
                b'/' => self.add(Signs::PATH, is_folder(rest)),
                _ => self.add(Signs::QUESTION, true),
            }
        }
        self.add(Signs::NUMBER, byte.is_ascii_digit());
        self.after(class & WORD != 0, class & SPACE != 0, class & PATH != 0);
        1
    }

    /// Takes in the first character of `rest`, which is not ASCII, and returns its length.
    fn wide(&mut self, rest: &str) -> usize {
        let Some(c) = rest.chars().next() else { return rest.len() };
        self.letters += usize::from(c.is_alphabetic());
        self.add(Signs::QUESTION, c == '？');
        let is_word = is_word(c);
        self.after(is_word, c.is_whitespace(), is_word);
        c.len_utf8()
    }

    fn after(&mut self, is_word: bool, is_space: bool, is_path: bool) {
        self.chars += 1;
        self.words += usize::from(!is_space && !self.after_text);
        (self.after_word, self.after_text, self.after_path) = (is_word, !is_space, is_path);
    }

    /// Looks up what `rest` begins with, by its first letter.
    fn word(&mut self, rest: &str, first: u8) {
        if first.is_ascii_digit() {
            self.add(Signs::COUNTS, counts(rest));
            return;
        }
        let Some(letter) = first.to_ascii_lowercase().checked_sub(b'a') else { return };
        let Some((from, to)) = PLACES.get(usize::from(letter)) else { return };
        for (start, form, sign) in &LEXICON[*from..*to] {
            if !self.signs.has(*sign) && opens(rest, start, *form) {
                self.add(*sign, true);
            }
        }
    }

    fn add(&mut self, sign: Signs, is_so: bool) {
        self.signs = self.signs.with(sign, is_so);
    }
}

const WORD: u8 = 1;
const LETTER: u8 = 1 << 1;
const MARK: u8 = 1 << 2;
const SPACE: u8 = 1 << 3;
const PATH: u8 = 1 << 4;
/// What stands here may be a sign: it is looked at closely.
const SIGN: u8 = 1 << 5;

/// What each byte is, as far as it is ASCII.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let mut bits = 0;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            bits |= WORD | PATH;
        }
        if byte.is_ascii_alphabetic() || byte == b' ' {
            bits |= LETTER;
        }
        if matches!(byte, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b';' | b'=' | b'<' | b'>') {
            bits |= MARK;
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
const LEXICON: [(&str, Form, Signs); 91] = [
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
    ("complete", Opening, Signs::SETTLES),
    ("confirmed", Opening, Signs::SETTLES),
    ("decid", Opening, Signs::SETTLES),
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

/// For each letter the words in [`LEXICON`] that it begins.
const PLACES: [(usize, usize); 26] = {
    let mut places = [(0, 0); 26];
    let (mut letter, mut at) = (0, 0);
    while letter < 26 {
        let from = at;
        while at < LEXICON.len() && LEXICON[at].0.as_bytes()[0] == b'a' + letter as u8 {
            at += 1;
        }
        places[letter] = (from, at);
        letter += 1;
    }
    // A word out of its place would never be found.
    assert!(at == LEXICON.len());
    places
};

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
