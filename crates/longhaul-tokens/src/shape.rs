//! The shape of a text: how many words, digits, marks and letters of each script it has.

/// What is counted of a text. The order is that of [`Shape::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of ASCII letters, cut where lower case turns to upper case; the blank before it is part of it.
    Word,
    /// Letters of a word beyond the eighth.
    LongLetter,
    /// Three digits or what is left of a run of them.
    Digits,
    /// A run of marks.
    Marks,
    /// Marks beyond the second of a run, where they differ from the one before.
    MoreMarks,
    /// A run of line breaks with the blanks before it.
    Lines,
    /// A run of blanks that is more than one blank before a word.
    Blanks,
    /// A Latin letter beyond ASCII.
    Latin,
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
    /// Any other character: emoji, box drawing, typographic marks, rare scripts.
    Other,
    /// A character of a blob: a long unbroken run in which letters and digits alternate as in base64.
    Blob,
}

/// The number of kinds.
pub(crate) const KINDS: usize = Kind::Blob as usize + 1;

/// How many of each [`Kind`] a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) counts: [u64; KINDS],
}

/// Runs of letters and digits below this length are never a blob.
const BLOB_BYTES: usize = 20;

impl Shape {
    /// Returns the shape of `text`, in one pass.
    pub(crate) fn of(text: &str) -> Shape {
        let mut shape = Shape::default();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => shape.alphanumeric(bytes, at),
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => shape.blanks(bytes, at),
                0..0x80 => shape.marks(bytes, at),
                0x80.. => match text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(c) => {
                        shape.add(kind_of(c), 1);
                        at + c.len_utf8()
                    }
                    None => at + 1,
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
            self.add(Kind::Blob, run.len());
            return end;
        }
        // Not a blob: what was read with it as its marks is read again as marks, but only up to the next letter.
        let end = end_of(bytes, start, |b| b.is_ascii_alphanumeric());
        let mut at = start;
        while at < end {
            let from = at;
            if bytes[at].is_ascii_digit() {
                at = end_of(bytes, at, |b| b.is_ascii_digit());
                self.add(Kind::Digits, (at - from).div_ceil(3));
            } else {
                at = end_of(bytes, at, |b| b.is_ascii_uppercase());
                at = end_of(bytes, at, |b| b.is_ascii_lowercase());
                self.add(Kind::Word, 1);
                self.add(Kind::LongLetter, (at - from).saturating_sub(8));
            }
        }
        end
    }

    fn blanks(&mut self, bytes: &[u8], start: usize) -> usize {
        let end = end_of(bytes, start, |b| matches!(b, b' ' | b'\t'..=b'\r'));
        let run = &bytes[start..end];
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
        self.add(Kind::Marks, 1);
        let more = run.windows(2).skip(1).filter(|pair| pair[0] != pair[1]).count();
        self.add(Kind::MoreMarks, more + run.len() / 64);
        end
    }
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

fn kind_of(c: char) -> Kind {
    match c as u32 {
        0xAA..=0x24F | 0x300..=0x36F | 0x1E00..=0x1EFF if c.is_alphabetic() => Kind::Latin,
        0x370..=0x58F | 0x10A0..=0x10FF | 0x1F00..=0x1FFF if c.is_alphabetic() => Kind::Cyrillic,
        0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE => Kind::Arabic,
        0x900..=0x109F | 0x1780..=0x17FF | 0xA8E0..=0xA8FF => Kind::Indic,
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
        check("Hello wide world", &[(Kind::Word, 3)]);
        check("camelCase HTTPServer", &[(Kind::Word, 3), (Kind::LongLetter, 2)]);
        check("internationalization", &[(Kind::Word, 1), (Kind::LongLetter, 12)]);
        check("12345 7", &[(Kind::Digits, 3)]);
        check("a\n\n    b", &[(Kind::Word, 2), (Kind::Lines, 1), (Kind::Blanks, 1)]);
        check("===== {}", &[(Kind::Marks, 2)]);
        check("Übung", &[(Kind::Latin, 1), (Kind::Word, 1)]);
        check("привет", &[(Kind::Cyrillic, 6)]);
        check("漢字かな한글", &[(Kind::Han, 2), (Kind::Kana, 2), (Kind::Hangul, 2)]);
        check("नमस्ते", &[(Kind::Indic, 6)]);
        check("مرحبا", &[(Kind::Arabic, 5)]);
        check("→🦀", &[(Kind::Other, 2)]);
    }

    #[test]
    fn blobs_are_told_from_words_and_paths() {
        let blob = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
        check(blob, &[(Kind::Blob, blob.len() as u64)]);
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
        check(hash, &[(Kind::Blob, hash.len() as u64)]);
        for text in
            ["internationalizationOfTheWorld", "src/crates/longhaul/tokens/main", "THE/QUICK/BROWN/FOX/JUMPS"]
        {
            assert_eq!(Shape::of(text).counts[Kind::Blob as usize], 0, "{text}");
        }
    }
}
