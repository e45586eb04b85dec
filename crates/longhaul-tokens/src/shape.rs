//! The shape of a text: how many words, digits, marks and letters of each script it has.

/// What is counted of a text. The order is that of [`Shape::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of ASCII letters, cut where lower case turns to upper case; the blank before it is part of it.
    Word,
    /// Letters of a word beyond the eighth.
    LongLetter,
    /// Letters of a word beyond the twelfth, once more.
    LongerLetter,
    /// Capitals of a word beyond the first.
    Capital,
    /// A word without a blank before it.
    Bare,
    /// Two letters side by side that English seldom has so.
    OddPair,
    /// The letter behind a backslash that is no letter: JSON and source code spell line breaks and tabs so.
    Escape,
    /// Up to three digits.
    Digits,
    /// A single mark that stands alone, or behind a blank.
    Mark,
    /// A single mark that the word behind it takes in.
    Prefix,
    /// A run of two marks and more.
    Marks,
    /// Marks beyond the second of a run, where they differ from the one before.
    MoreMarks,
    /// Line breaks right behind a mark, which takes them in.
    MarkedLines,
    /// Other line breaks, a run of them with the blanks before.
    Lines,
    /// A run of blanks that is more than one blank before a word.
    Blanks,
    /// A Latin letter beyond ASCII.
    Latin,
    /// A word of Cyrillic, Greek, Armenian or Georgian letters.
    CyrillicWord,
    /// A Cyrillic, Greek, Armenian or Georgian letter.
    Cyrillic,
    /// An Arabic or Hebrew letter.
    Arabic,
    /// A letter or sign of an Indic or South-East Asian script.
    Indic,
    /// A Han character.
    Han,
    /// A hiragana or katakana.
    Kana,
    /// A hangul syllable.
    Hangul,
    /// A mark of Chinese and Japanese, or a wide form.
    WideMark,
    /// Any other character: emoji, box drawing, typographic marks, rare scripts.
    Other,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) counts: [u64; KINDS],
}

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
        let mut shape = Shape::default();
        let bytes = text.as_bytes();
        let (mut at, mut before) = (0, Before::Nothing);
        while let Some(&byte) = bytes.get(at) {
            (at, before) = match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => (shape.alphanumeric(bytes, at), Before::Other),
                b' ' | b'\t'..=b'\r' => (shape.blanks(bytes, at, before), Before::Other),
                0..0x80 => (shape.marks(bytes, at), Before::Marks),
                0x80.. => match text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(c) => {
                        let kind = kind_of(c);
                        if kind == Kind::Cyrillic && before != Before::Cyrillic {
                            shape.add(Kind::CyrillicWord, 1);
                        }
                        shape.add(kind, 1);
                        let is_cyrillic = kind == Kind::Cyrillic;
                        (at + c.len_utf8(), if is_cyrillic { Before::Cyrillic } else { Before::Other })
                    }
                    None => (at + 1, Before::Other),
                },
            };
        }
        shape
    }

    fn add(&mut self, kind: Kind, count: usize) {
        self.counts[kind as usize] += count as u64;
    }

    fn alphanumeric(&mut self, bytes: &[u8], start: usize) -> usize {
        let end = end_of(bytes, start, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
        let run = &bytes[start..end];
        if run.len() >= BLOB_BYTES && is_blob(run) {
            self.add(if is_hex(run) { Kind::Hex } else { Kind::Blob }, run.len());
            return end;
        }
        // Not a blob: what was read with it as its marks is read again as marks, but only up to the next letter.
        let end = end_of(bytes, start, |b| b.is_ascii_alphanumeric());
        let run = &bytes[start..end];
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
                self.add(Kind::Capital, (at - from).saturating_sub(1));
                at = end_of(bytes, at, |b| b.is_ascii_lowercase());
                self.word(&bytes[from..at], from == start && before == Some(b' '));
            }
        }
        end
    }

    fn word(&mut self, word: &[u8], is_behind_blank: bool) {
        self.add(Kind::Word, 1);
        self.add(Kind::LongLetter, word.len().saturating_sub(8));
        self.add(Kind::LongerLetter, word.len().saturating_sub(12));
        self.add(Kind::Bare, usize::from(!is_behind_blank));
        let place = |letter: u8| usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'));
        let is_odd = |pair: &&[u8]| COMMON_PAIRS[place(pair[0]) % 26] >> (place(pair[1]) % 26) & 1 == 0;
        self.add(Kind::OddPair, word.windows(2).filter(is_odd).count());
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
        // One blank before text belongs to the text; more are a token of their own.
        let left = run.len() - broken.map_or(0, |at| at + 1);
        if left > 1 || (left == 1 && end == bytes.len()) {
            self.add(Kind::Blanks, 1);
        }
        end
    }

    fn marks(&mut self, bytes: &[u8], start: usize) -> usize {
        let is_mark = |b: u8| b < 0x80 && !b.is_ascii_alphanumeric() && !matches!(b, b' ' | b'\t'..=b'\r');
        let end = end_of(bytes, start, is_mark);
        let run = &bytes[start..end];
        if run.len() > 1 {
            self.add(Kind::Marks, 1);
            let more = run.windows(2).skip(1).filter(|pair| pair[0] != pair[1]).count();
            self.add(Kind::MoreMarks, more + run.len() / 64);
            return end;
        }
        let is_behind_blank = start == 0 || bytes[start - 1] == b' ';
        let is_taken = !is_behind_blank && bytes.get(end).is_some_and(u8::is_ascii_alphabetic);
        self.add(if is_taken { Kind::Prefix } else { Kind::Mark }, 1);
        end
    }
}

/// What stands before the next run, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Marks,
    Cyrillic,
    Other,
}

fn end_of(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[start..].iter().position(|b| !belongs(*b)).map_or(bytes.len(), |length| start + length)
}

/// Whether letters and digits alternate as they do in encoded data: some digit, and a change of class every eight
/// characters or more.
fn is_blob(run: &[u8]) -> bool {
    let class = |b: u8| (b.is_ascii_digit(), b.is_ascii_uppercase(), b.is_ascii_lowercase());
    // From capital to small letter is how a word begins and a mark is how a path goes on, so they do not count.
    let changes = run.windows(2).filter(|pair| {
        pair.iter().all(u8::is_ascii_alphanumeric)
            && class(pair[0]) != class(pair[1])
            && !(pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase())
    });
    changes.count() * 8 >= run.len() && run.iter().any(u8::is_ascii_digit)
}

/// Whether these are hexadecimal digits, of one case.
fn is_hex(run: &[u8]) -> bool {
    run.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        || run.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
}

fn kind_of(c: char) -> Kind {
    match c as u32 {
        0xAA..=0x24F | 0x300..=0x36F | 0x1E00..=0x1EFF if c.is_alphabetic() => Kind::Latin,
        0x370..=0x58F | 0x10A0..=0x10FF | 0x1F00..=0x1FFF if c.is_alphabetic() => Kind::Cyrillic,
        0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE => Kind::Arabic,
        0x900..=0x109F | 0x1780..=0x17FF | 0xA8E0..=0xA8FF => Kind::Indic,
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
        check("camelCase HTTP", &[(Word, 3), (Bare, 2), (Capital, 3)]);
        check(" internationalization", &[(Word, 1), (LongLetter, 12), (LongerLetter, 8), (OddPair, 1)]);
        check("12345 7", &[(Digits, 3)]);
        check("a\n\n    in", &[(Word, 2), (Bare, 1), (Lines, 1), (Blanks, 1)]);
        check("};\n  is", &[(Word, 1), (Marks, 1), (MarkedLines, 1), (Blanks, 1)]);
        check("a.in (x", &[(Word, 3), (Bare, 3), (Prefix, 1), (Mark, 1)]);
        check("\"\\non", &[(Marks, 1), (Word, 1), (Bare, 1), (Escape, 1)]);
        check("===== {}", &[(Marks, 2)]);
        check("Übe", &[(Latin, 1), (Word, 1), (Bare, 1)]);
        check("привет мир", &[(Cyrillic, 9), (CyrillicWord, 2)]);
        check("漢字かな한글。", &[(Han, 2), (Kana, 2), (Hangul, 2), (WideMark, 1)]);
        check("नमस्ते", &[(Indic, 6)]);
        check("مرحبا", &[(Arabic, 5)]);
        check("→🦀", &[(Other, 2)]);
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
