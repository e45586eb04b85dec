//! Base64 that spells text: a key in it is a key all the same.

use std::ops::Range;

/// A run of base64, possibly broken into lines, that begins like text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Where its lines are. All but the last hold whole groups of four.
    lines: Vec<Range<usize>>,
    /// It spells UTF-16, behind so many bytes.
    wide_from: Option<usize>,
}

/// The shortest run worth decoding, in digits: 18 bytes, less than any secret with what names it.
const SHORTEST: usize = 24;

/// How many digits are decoded to see whether a run spells text.
const LOOKED_AT: usize = 16;

/// The shortest line after which a run goes on in the next.
const SHORTEST_LINE: usize = 40;

/// Returns the runs of base64 in `text` that begin like text.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = Run> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(shortest) = text.get(at..at + SHORTEST) {
            // Looked at from its end: most text has something else there, and what is before that begins no run.
            if let Some(other) = shortest.iter().rposition(|byte| value(*byte).is_none()) {
                at += other + 1;
                continue;
            }
            let line = at..at + SHORTEST + digits(text, at + SHORTEST).len();
            if !spells_text(shortest) {
                at = line.end + 1;
                continue;
            }
            let mut lines = vec![line];
            while let Some(next) = next_line(text, &lines[lines.len() - 1]) {
                lines.push(next);
            }
            at = lines[lines.len() - 1].end + 1;
            return Some(Run { wide_from: wide_from(&decoded(&shortest[..LOOKED_AT])), lines });
        }
        None
    })
}

impl Run {
    /// Returns what the run spells, one byte for one, or for two in UTF-16; what is no ASCII in it becomes `?`.
    pub(crate) fn decode(&self, text: &[u8]) -> String {
        let digits: usize = self.lines.iter().map(ExactSizeIterator::len).sum();
        let mut bytes = Vec::with_capacity(digits / 4 * 3 + 3);
        for line in &self.lines {
            decode(&text[line.clone()], &mut bytes);
        }
        // One byte for one, so that places stay what they are.
        let shown = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { '?' };
        match self.wide_from {
            Some(from) => bytes.iter().skip(from).step_by(2).map(shown).collect(),
            None => bytes.iter().map(shown).collect(),
        }
    }

    /// Returns where the bytes `span` of what the run spells stand in the text.
    pub(crate) fn place(&self, span: Range<usize>) -> Range<usize> {
        let span = match self.wide_from {
            Some(from) => from + 2 * span.start..from + 2 * span.end,
            None => span,
        };
        let (mut start, mut end) = (span.start / 3 * 4, span.end.div_ceil(3) * 4);
        let (mut from, mut to) = (None, None);
        for line in &self.lines {
            let length = line.len();
            if from.is_none() && start < length {
                from = Some(line.start + start);
            }
            if to.is_none() && end <= length {
                to = Some(line.start + end);
            }
            start = start.saturating_sub(length);
            end = end.saturating_sub(length);
        }
        let last = self.lines.last().map_or(0, |line| line.end);
        from.unwrap_or(last)..to.unwrap_or(last)
    }
}

/// Returns the digits from `at` on.
fn digits(text: &[u8], at: usize) -> Range<usize> {
    at..at + text[at..].iter().take_while(|byte| value(**byte).is_some()).count()
}

/// Returns the line in which a run goes on behind `line`.
fn next_line(text: &[u8], line: &Range<usize>) -> Option<Range<usize>> {
    if line.len() < SHORTEST_LINE || !line.len().is_multiple_of(4) {
        return None;
    }
    // A line end as it is, as `\r\n`, or as an escape that was turned into two.
    let ends = text[line.end..].iter().take(4).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let next = digits(text, line.end + ends);
    (ends > 0 && !next.is_empty() && next.len() <= line.len()).then_some(next)
}

/// Returns whether the first digits spell text: UTF-8 without control characters, perhaps behind a byte order mark, or
/// ASCII in UTF-16, as PowerShell encodes its commands.
fn spells_text(digits: &[u8]) -> bool {
    let bytes = decoded(&digits[..LOOKED_AT.min(digits.len())]);
    let is_shown = |byte: &u8| *byte >= 0x80 || byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    // A character may be cut off at the end.
    let is_utf8 = || std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    bytes.iter().all(is_shown) && is_utf8() || wide_from(&bytes).is_some()
}

/// Returns where the text begins in bytes that begin as ASCII in UTF-16 does: each second byte is nothing.
fn wide_from(bytes: &[u8]) -> Option<usize> {
    let from = if bytes.starts_with(b"\xff\xfe") { 2 } else { 0 };
    let pairs = bytes[from..].chunks_exact(2).take(LOOKED_AT / 4);
    let is_ascii = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    (pairs.len() == LOOKED_AT / 4 && { pairs }.all(|pair| is_ascii(pair[0]) && pair[1] == 0)).then_some(from)
}

/// A file that is a text, and how its bytes spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) text: String,
    coding: Coding,
}

/// How the bytes of a file spell its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Utf8,
    /// The low byte of each unit first, perhaps behind a byte order mark.
    Utf16 {
        marked: bool,
    },
    /// A byte, a character: one of the old encodings, or no text but at its beginning.
    Bytes,
}

impl File {
    /// Returns the text that `data`, the bytes of a file in base64, spells; `None` where it is none. What is said to be text
    /// is read as such however it begins.
    pub(crate) fn read(data: &str, is_said_to_be: bool) -> Option<File> {
        let digits: Vec<u8> = data.bytes().filter(|byte| value(*byte).is_some()).collect();
        if !is_said_to_be && !spells_text(&digits) {
            return None;
        }
        let bytes = decoded(&digits);
        if let Some(from) = wide_from(&bytes) {
            let units = bytes[from..].chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            let text = String::from_utf16_lossy(&units.collect::<Vec<_>>());
            return Some(File { text, coding: Coding::Utf16 { marked: from > 0 } });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Some(File { text, coding: Coding::Utf8 }),
            // What has control characters is in none of the old encodings.
            Err(error) => {
                let text: String = error.as_bytes().iter().map(|byte| char::from(*byte)).collect();
                let is_odd = |c: char| c.is_ascii_control() && !c.is_ascii_whitespace();
                let is_text = !is_said_to_be || !text.contains(is_odd);
                is_text.then_some(File { text, coding: Coding::Bytes })
            }
        }
    }

    /// Returns the file with `text` for its own, in base64. Each character that was there is spelled as it was: a PDF begins
    /// like text, and none of its other bytes may change.
    pub(crate) fn encoded(&self, text: &str) -> String {
        match self.coding {
            Coding::Utf8 => encode(text.as_bytes()),
            Coding::Utf16 { marked } => {
                let mark = marked.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                encode(&units.flat_map(u16::to_le_bytes).collect::<Vec<_>>())
            }
            Coding::Bytes => {
                let mut bytes = Vec::with_capacity(text.len());
                for c in text.chars() {
                    match u8::try_from(c) {
                        Ok(byte) => bytes.push(byte),
                        Err(_) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
                encode(&bytes)
            }
        }
    }
}

/// Returns `bytes` in base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word =
            group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let digit = |nth: usize| char::from(DIGITS[(word >> (18 - 6 * nth) & 63) as usize]);
        out.extend((0..4).map(|nth| if nth > group.len() { '=' } else { digit(nth) }));
    }
    out
}

/// Returns whether `byte` is a digit of base64, in either alphabet.
pub(crate) fn is_digit(byte: u8) -> bool {
    value(byte).is_some()
}

fn decoded(digits: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    decode(digits, &mut bytes);
    bytes
}

fn decode(digits: &[u8], out: &mut Vec<u8>) {
    for group in digits.chunks(4) {
        let word = group.iter().fold(0u32, |word, digit| word << 6 | u32::from(value(*digit).unwrap_or(0)));
        let word = word << (6 * (4 - group.len()));
        let bytes = word.to_be_bytes();
        out.extend_from_slice(&bytes[1..group.len().max(1)]);
    }
}

/// Returns what a digit stands for, in either alphabet.
fn value(digit: u8) -> Option<u8> {
    const NONE: u8 = 0xff;
    const VALUES: [u8; 256] = {
        let mut values = [NONE; 256];
        let mut n = 0;
        while n < 26 {
            values[b'A' as usize + n] = n as u8;
            values[b'a' as usize + n] = n as u8 + 26;
            n += 1;
        }
        n = 0;
        while n < 10 {
            values[b'0' as usize + n] = n as u8 + 52;
            n += 1;
        }
        (values[b'+' as usize], values[b'-' as usize]) = (62, 62);
        (values[b'/' as usize], values[b'_' as usize]) = (63, 63);
        values
    };
    Some(VALUES[usize::from(digit)]).filter(|value| *value != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_text_are_decoded_and_their_parts_placed() {
        // "the password is hunter2 and more"
        let text = b"see dGhlIHBhc3N3b3JkIGlzIGh1bnRlcjIgYW5kIG1vcmU= there";
        let runs: Vec<Run> = runs(text).collect();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].decode(text), "the password is hunter2 and more");
        assert_eq!(&text[runs[0].place(16..23)], b"IGh1bnRlcjIg");
    }

    #[test]
    fn a_run_goes_on_in_the_next_line() {
        let lines =
            ["VGhpcyBpcyBhIHRleHQgb2YgbW9yZSB0aGFuIG9uZSBsaW5lLCBhcyBgYmFzZTY0YCB3cml0ZXMg", "aXQgb3V0Lg=="];
        for end in ["\n", "\r\n", "\n\n"] {
            let text = lines.join(end);
            let runs: Vec<Run> = runs(text.as_bytes()).collect();
            assert_eq!(runs.len(), 1);
            let said = runs[0].decode(text.as_bytes());
            assert_eq!(said, "This is a text of more than one line, as `base64` writes it out.");
            let place = runs[0].place(50..64);
            assert!(place.start < lines[0].len() && place.end > lines[0].len() + end.len());
        }
    }

    #[test]
    fn a_file_is_read_as_what_it_is() {
        let text = |data: &str, is_said_to_be| File::read(data, is_said_to_be).map(|file| file.text);
        for said in
            ["the password is hunter2 and more", "\u{feff}Clé: hunter2, and some more", "読む file, and more"]
        {
            let data = encode(said.as_bytes());
            assert_eq!(text(&data, false).as_deref(), Some(said));
            assert_eq!(runs(data.as_bytes()).count(), 1, "{said}");
        }
        let wide: Vec<u8> = "$env:KEY='hunter2'".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let data = encode(&wide);
        assert_eq!(text(&data, false).as_deref(), Some("$env:KEY='hunter2'"));
        let run = runs(data.as_bytes()).next().unwrap();
        assert_eq!(run.decode(data.as_bytes()), "$env:KEY='hunter2'");
        assert_eq!(text(&data[run.place(10..17)], true).as_deref(), Some("'hunter2'"));
        let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
        assert_eq!(text(picture, false), None);
        assert_eq!(text(picture, true), None);
        assert_eq!(text(&encode(b"cl\xe9: hunter2"), true).as_deref(), Some("clé: hunter2"));
        assert_eq!((encode(b""), encode(b"a"), encode(b"ab")), ("".into(), "YQ==".into(), "YWI=".into()));
    }

    #[test]
    fn a_file_is_written_as_it_was_read() {
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for (bytes, is_said_to_be) in [
            ("Clé: hunter2, and more".as_bytes().to_vec(), false),
            (b"cl\xe9: hunter2, and more".to_vec(), true),
            (b"%PDF-1.3\n3 0 obj\nstream\n\x00\xff\x81\xc3\xa9\nendstream".to_vec(), false),
            (wide("$env:KEY='hunter2'; Clé"), false),
            (wide("\u{feff}$env:KEY='hunter2'; 読"), false),
        ] {
            let data = encode(&bytes);
            let file = File::read(&data, is_said_to_be).unwrap();
            assert_eq!(file.encoded(&file.text), data, "{:?}", file.text);
        }
    }

    #[test]
    fn hashes_pictures_and_words_are_no_text() {
        for text in [
            "9fceb02d0ae598e95dc970b74767f19372d61af8",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
            "crates/longhaul-redact/src/tests/it/main",
            "antidisestablishmentarianism_and_so_on",
        ] {
            assert_eq!(runs(text.as_bytes()).count(), 0, "{text}");
        }
    }
}
