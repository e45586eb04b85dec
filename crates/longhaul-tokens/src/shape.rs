//! The shape of a text: how many words, digits, marks and letters of each script it has.

use crate::dictionary;

/// What is counted of a text. The order is that of [`Shape::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of ASCII letters, cut where lower case turns to upper case, that the dictionary has; the blank before it is
    /// part of it.
    Word,
    /// Such a run that the dictionary does not have.
    RareWord,
    /// A letter of a rare word.
    RareLetter,
    /// A capital of a rare word beyond the first.
    Capital,
    /// A word without a blank before it.
    Bare,
    /// Two letters of a rare word side by side that English seldom has so.
    OddPair,
    /// The letter behind a backslash that is no letter: JSON and source code spell line breaks and tabs so.
    Escape,
    /// Up to three digits.
    Digits,
    /// A single mark that stands alone, or behind a blank.
    Mark,
    /// A single mark before a word, where the dictionary does not have the two as one.
    Prefix,
    /// A run of two marks and more.
    Marks,
    /// Marks beyond the second of a run, where they differ from the one before.
    MoreMarks,
    /// Line breaks right behind a mark, which takes them in.
    MarkedLines,
    /// Other line breaks, a run of them with the blanks before.
    Lines,
    /// Blanks that are a token of their own: more than one before a word, or one before a digit.
    Blanks,
    /// `'s`, `'t`, `'ll` and the like behind a word.
    Contraction,
    /// A word with a Latin letter beyond ASCII.
    LatinWord,
    /// A letter of such a word.
    Latin,
    /// A Cyrillic word.
    CyrillicWord,
    /// A Cyrillic letter.
    Cyrillic,
    /// A word of Greek, Armenian or Georgian letters.
    GreekWord,
    /// A Greek, Armenian or Georgian letter.
    Greek,
    /// A Hebrew word.
    HebrewWord,
    /// A Hebrew letter.
    Hebrew,
    /// An Arabic word.
    ArabicWord,
    /// An Arabic letter.
    Arabic,
    /// A word in the script of Hindi or another of northern India.
    HindiWord,
    /// A letter or sign of such a word.
    Hindi,
    /// A word in the script of Tamil or another of southern India.
    TamilWord,
    /// A letter or sign of such a word.
    Tamil,
    /// A run in the script of Thai or another of South-East Asia.
    ThaiWord,
    /// A letter or sign of such a run.
    Thai,
    /// A Han character, or two or three of them, that the dictionary has.
    Han,
    /// Another Han character.
    RareHan,
    /// A hiragana or katakana.
    Kana,
    /// A hangul syllable.
    Hangul,
    /// A mark of Chinese and Japanese, or a wide form.
    WideMark,
    /// Any other character: emoji, box drawing, typographic marks, rare scripts.
    Other,
    /// Such a character that is the same as the one before it: lines and bars.
    Again,
    /// A character of a blob: a long unbroken run in which letters and digits alternate as in base64.
    Blob,
    /// A character of a hexadecimal number with letters: hashes, addresses, identifiers.
    Hex,
    /// A character of a short run in which letters and digits alternate.
    Mixed,
}

/// The number of kinds.
pub(crate) const KINDS: usize = Kind::Mixed as usize + 1;

/// How many of each [`Kind`] a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) counts: [u64; KINDS],
}

/// The words that are one token.
static DICTIONARY: &[u8; dictionary::BYTES] = include_bytes!("../data/words.bloom");

/// Runs of letters and digits below this length are never a blob.
const BLOB_BYTES: usize = 16;
/// Hexadecimal numbers below this length are words and digits.
const HEX_BYTES: usize = 7;

/// For each first letter the second letters, as bits, of the pairs that make 93 % of those in English prose (the READMEs of
/// published crates, counted 2026-11-22). Other pairs are where a word falls into more tokens.
const COMMON_PAIRS: [u32; 26] = [
    0x13EBD4E, 0x1124911, 0x01E4D95, 0x0044119, 0x08FB87D, 0x0124911, 0x0040110, 0x0184111, 0x2AEF87F,
    0x0000000, 0x0000010, 0x11C4919, 0x014C113, 0x01C455D, 0x07EF82C, 0x01EC911, 0x0100000, 0x11E715D,
    0x11CC191, 0x11EC1B5, 0x00EB916, 0x0000111, 0x0044191, 0x0080000, 0x000C000, 0x0000010,
];

impl Shape {
    /// Returns the shape of `text`, in one pass.
    pub(crate) fn of(text: &str) -> Shape {
        let mut shape = Shape { counts: [0; KINDS] };
        let bytes = text.as_bytes();
        let (mut at, mut before) = (0, Before::Nothing);
        while let Some(&byte) = bytes.get(at) {
            (at, before) = match byte {
                b'A'..=b'Z' | b'a'..=b'z' if goes_beyond_ascii(text, at) => {
                    (shape.letters(text, at, Kind::LatinWord, Kind::Latin), Before::Other)
                }
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                    (shape.alphanumeric(bytes, at, before == Before::Taken), Before::Other)
                }
                b' ' | b'\t'..=b'\r' => (shape.blanks(bytes, at, before), Before::Other),
                0..0x80 => shape.marks(bytes, at),
                0x80.. => match text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(c) if before == Before::Same(c) => {
                        shape.add(Kind::Again, 1);
                        (at + c.len_utf8(), before)
                    }
                    Some(c) => match kind_of(c) {
                        Kind::Han => (shape.han(bytes, at, c), Before::Other),
                        kind if let Some(word) = word_of(kind) => {
                            (shape.letters(text, at, word, kind), Before::Other)
                        }
                        kind => {
                            shape.add(kind, 1);
                            let before = if kind == Kind::Other { Before::Same(c) } else { Before::Other };
                            (at + c.len_utf8(), before)
                        }
                    },
                    None => (at + 1, Before::Other),
                },
            };
        }
        shape
    }

    fn add(&mut self, kind: Kind, count: usize) {
        self.counts[kind as usize] += count as u64;
    }

    /// Counts the letters and digits at `start`; with `is_marked`, the mark before them belongs to the first word.
    fn alphanumeric(&mut self, bytes: &[u8], start: usize, is_marked: bool) -> usize {
        let end = end_of(bytes, start, |b| b.is_ascii_alphanumeric());
        let run = &bytes[start..end];
        if run.len() >= BLOB_BYTES && is_blob(run) {
            self.add(if is_hex(run) { Kind::Hex } else { Kind::Blob }, run.len());
            return end;
        }
        let turns =
            run.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
        if run.len() >= HEX_BYTES && turns >= 2 && is_hex(run) {
            self.add(Kind::Hex, run.len());
            return end;
        }
        if turns >= 3 {
            self.add(Kind::Mixed, run.len());
        }
        let before = start.checked_sub(1).map(|at| bytes[at]);
        if before == Some(b'\\') && matches!(run[0], b'n' | b'r' | b't' | b'u') {
            self.add(Kind::Escape, 1);
        }
        let mut at = start;
        while at < end {
            let from = at;
            if bytes[at].is_ascii_digit() {
                at = end_of(bytes, at, |b| b.is_ascii_digit());
                self.add(Kind::Digits, (at - from).div_ceil(3));
            } else {
                at = end_of(bytes, at, |b| b.is_ascii_uppercase());
                at = end_of(bytes, at, |b| b.is_ascii_lowercase());
                let known = |word| dictionary::contains(DICTIONARY, word, false);
                if from == start && is_marked && known(&bytes[from - 1..at]) {
                    self.add(Kind::Word, 1);
                    continue;
                }
                self.add(Kind::Prefix, usize::from(from == start && is_marked));
                self.word(&bytes[from..at], from == start && before == Some(b' '));
            }
        }
        let contraction = contraction(&bytes[end..]);
        self.add(Kind::Contraction, usize::from(contraction > 0));
        end + contraction
    }

    fn word(&mut self, word: &[u8], is_behind_blank: bool) {
        self.add(Kind::Bare, usize::from(!is_behind_blank));
        if word.len() == 1 || dictionary::contains(DICTIONARY, word, is_behind_blank) {
            self.add(Kind::Word, 1);
            return;
        }
        self.add(Kind::RareWord, 1);
        self.add(Kind::RareLetter, word.len());
        let capitals = word.iter().take_while(|letter| letter.is_ascii_uppercase()).count();
        self.add(Kind::Capital, capitals.saturating_sub(1));
        let place = |letter: u8| usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'));
        let is_odd = |pair: &&[u8]| COMMON_PAIRS[place(pair[0]) % 26] >> (place(pair[1]) % 26) & 1 == 0;
        self.add(Kind::OddPair, word.windows(2).filter(is_odd).count());
    }

    /// Counts the word at `start`, whose letters are of the kind `letter`; a word with a Latin one may have ASCII letters.
    fn letters(&mut self, text: &str, start: usize, word: Kind, letter: Kind) -> usize {
        let belongs = |c: &char| {
            c.is_ascii_alphabetic() && letter == Kind::Latin || !c.is_ascii() && kind_of(*c) == letter
        };
        let letters = text[start..].chars().take_while(belongs);
        let (count, bytes) = letters.fold((0, 0), |(count, bytes), c| (count + 1, bytes + c.len_utf8()));
        self.add(word, 1);
        self.add(letter, count);
        start + bytes
    }

    /// Counts the Han character `first` with as many as two others behind it that the dictionary has with it.
    fn han(&mut self, bytes: &[u8], start: usize, first: char) -> usize {
        // Those of the dictionary are three bytes each, the first of them one of six.
        let is_han = |piece: &[u8]| piece.iter().step_by(3).all(|first| matches!(first, 0xE4..=0xE9));
        let is_known = |length: &usize| {
            let piece = bytes.get(start..start + length).filter(|piece| is_han(piece));
            piece.is_some_and(|piece| dictionary::contains(DICTIONARY, piece, false))
        };
        let known = [9, 6, 3].into_iter().find(is_known);
        self.add(if known.is_some() { Kind::Han } else { Kind::RareHan }, 1);
        start + known.unwrap_or(first.len_utf8())
    }

    fn blanks(&mut self, bytes: &[u8], start: usize, before: Before) -> usize {
        let end = end_of(bytes, start, |b| matches!(b, b' ' | b'\t'..=b'\r'));
        let mut run = &bytes[start..end];
        if before == Before::Marks && matches!(run[0], b'\n' | b'\r') {
            self.add(Kind::MarkedLines, 1);
            run = &run[end_of(run, 0, |b| matches!(b, b'\n' | b'\r'))..];
        }
        let broken = run.iter().rposition(|b| matches!(b, b'\n' | b'\r'));
        if broken.is_some() {
            self.add(Kind::Lines, 1);
        }
        // The last blank belongs to the word or, if it is a space, to the marks behind it; those before are one token.
        let (left, next) = (run.len() - broken.map_or(0, |at| at + 1), bytes.get(end));
        let is_taken = match next {
            None | Some(b'0'..=b'9') => false,
            Some(next) => next.is_ascii_alphabetic() || *next >= 0x80 || run.ends_with(b" "),
        };
        self.add(Kind::Blanks, usize::from(left > 1) + usize::from(left > 0 && !is_taken && next.is_some()));
        self.add(Kind::Blanks, usize::from(left == 1 && next.is_none()));
        end
    }

    fn marks(&mut self, bytes: &[u8], start: usize) -> (usize, Before) {
        let is_mark = |b: u8| b < 0x80 && !b.is_ascii_alphanumeric() && !matches!(b, b' ' | b'\t'..=b'\r');
        let end = end_of(bytes, start, is_mark);
        let run = &bytes[start..end];
        if run.len() > 1 {
            self.add(Kind::Marks, 1);
            let more = run.windows(2).skip(1).filter(|pair| pair[0] != pair[1]).count();
            self.add(Kind::MoreMarks, more + run.len() / 64);
            return (end, Before::Marks);
        }
        let is_behind_blank = start == 0 || bytes[start - 1] == b' ';
        if !is_behind_blank && bytes.get(end).is_some_and(u8::is_ascii_alphabetic) {
            return (end, Before::Taken);
        }
        self.add(Kind::Mark, 1);
        (end, Before::Marks)
    }
}

/// What stands before the next run, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Marks,
    /// A single mark that belongs to the word behind it.
    Taken,
    /// A character of no known script.
    Same(char),
    Other,
}

fn end_of(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[start..].iter().position(|b| !belongs(*b)).map_or(bytes.len(), |length| start + length)
}

/// Whether the word of ASCII letters at `start` goes on with a Latin letter beyond them.
fn goes_beyond_ascii(text: &str, start: usize) -> bool {
    let end = end_of(text.as_bytes(), start, |b| b.is_ascii_alphabetic());
    let next = text.as_bytes().get(end).filter(|b| !b.is_ascii()).and_then(|_| text[end..].chars().next());
    next.is_some_and(|c| kind_of(c) == Kind::Latin)
}

/// Returns the length of the contraction that `rest` begins with, which is part of the word before; zero where it has none.
fn contraction(rest: &[u8]) -> usize {
    const ENDS: [&[u8]; 7] = [b"'s", b"'t", b"'re", b"'ve", b"'m", b"'ll", b"'d"];
    let is_whole = |end: &&&[u8]| !rest.get(end.len()).is_some_and(u8::is_ascii_alphanumeric);
    ENDS.iter().filter(|end| rest.starts_with(end)).find(is_whole).map_or(0, |end| end.len())
}

/// Whether letters and digits alternate as they do in encoded data: some digit, and a change of class every eight
/// characters or more.
fn is_blob(run: &[u8]) -> bool {
    let class = |b: u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    // From capital to small letter is how a word begins, so that does not count.
    let changes = run.windows(2).filter(|pair| {
        class(pair[0]) != class(pair[1]) && !(pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase())
    });
    changes.count() * 8 >= run.len() && run.iter().any(u8::is_ascii_digit)
}

/// Whether these are hexadecimal digits, of one case.
fn is_hex(run: &[u8]) -> bool {
    run.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        || run.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
}

/// Returns the kind of the words that letters of this kind make; `None` where blanks do not part them.
fn word_of(letter: Kind) -> Option<Kind> {
    match letter {
        Kind::Latin => Some(Kind::LatinWord),
        Kind::Cyrillic => Some(Kind::CyrillicWord),
        Kind::Greek => Some(Kind::GreekWord),
        Kind::Hebrew => Some(Kind::HebrewWord),
        Kind::Arabic => Some(Kind::ArabicWord),
        Kind::Hindi => Some(Kind::HindiWord),
        Kind::Tamil => Some(Kind::TamilWord),
        Kind::Thai => Some(Kind::ThaiWord),
        _ => None,
    }
}

fn kind_of(c: char) -> Kind {
    match c as u32 {
        0xAA..=0x24F | 0x300..=0x36F | 0x1E00..=0x1EFF if c.is_alphabetic() => Kind::Latin,
        0x400..=0x52F if c.is_alphabetic() => Kind::Cyrillic,
        0x370..=0x58F | 0x10A0..=0x10FF | 0x1F00..=0x1FFF if c.is_alphabetic() => Kind::Greek,
        0x590..=0x5FF | 0xFB1D..=0xFB4F => Kind::Hebrew,
        0x600..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFE => Kind::Arabic,
        0x900..=0xB7F | 0xA8E0..=0xA8FF => Kind::Hindi,
        0xB80..=0xDFF => Kind::Tamil,
        0xE00..=0x109F | 0x1780..=0x17FF => Kind::Thai,
        0x3000..=0x3040 | 0xFF00..=0xFF65 => Kind::WideMark,
        0x3041..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Kind::Kana,
        0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7AF => Kind::Hangul,
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Kind::Han,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Kind, u64)]) {
        let mut counts = [0; KINDS];
        expected.iter().for_each(|(kind, count)| counts[*kind as usize] = *count);
        assert_eq!(Shape::of(text).counts, counts, "{text:?}");
    }

    #[test]
    fn each_kind_is_told_apart() {
        use Kind::*;
        check("Hello the there", &[(Word, 3), (Bare, 1)]);
        check("lowerCase HTTP", &[(Word, 3), (Bare, 2)]);
        check(" Zbrwq SMRQV", &[(RareWord, 2), (RareLetter, 10), (Capital, 4), (OddPair, 7)]);
        check("12345 7", &[(Digits, 3), (Blanks, 1)]);
        check("it's \t7\t{", &[(Word, 1), (Bare, 1), (Contraction, 1), (Blanks, 3), (Digits, 1), (Mark, 1)]);
        check("a\n\n    in", &[(Word, 2), (Bare, 1), (Lines, 1), (Blanks, 1)]);
        check("};\n  is", &[(Word, 1), (Marks, 1), (MarkedLines, 1), (Blanks, 1)]);
        check("a.in (x", &[(Word, 3), (Bare, 2), (Mark, 1)]);
        check("a~in", &[(Word, 2), (Bare, 2), (Prefix, 1)]);
        check("\"\\non", &[(Marks, 1), (Word, 1), (Bare, 1), (Escape, 1)]);
        check("===== {}", &[(Marks, 2)]);
        check("Übe été", &[(LatinWord, 2), (Latin, 6)]);
        check("привет мир", &[(Cyrillic, 9), (CyrillicWord, 2)]);
        check("中国かな한글。", &[(Han, 1), (Kana, 2), (Hangul, 2), (WideMark, 1)]);
        check("नमस्ते", &[(HindiWord, 1), (Hindi, 6)]);
        check("مرحبا", &[(ArabicWord, 1), (Arabic, 5)]);
        check("→🦀🦀", &[(Other, 2), (Again, 1)]);
    }

    #[test]
    fn blobs_are_told_from_words_and_paths() {
        let blob = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
        check(blob, &[(Kind::Blob, blob.len() as u64)]);
        for hash in ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "3f9a1c2", "0A0055AD015A3BF4"] {
            check(hash, &[(Kind::Hex, hash.len() as u64)]);
        }
        for text in
            ["internationalizationOfTheWorld", "src/crates/longhaul/tokens/main", "THE/QUICK/BROWN/FOX/JUMPS"]
        {
            assert_eq!(Shape::of(text).counts[Kind::Blob as usize], 0, "{text}");
        }
    }
}
