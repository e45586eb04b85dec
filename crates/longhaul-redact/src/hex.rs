//! Texts that are spelled in hexadecimal digits: as `xxd` and `hexdump -C` print them, and in digits alone (`xxd -p`).

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

/// Lines of digits, one behind the other, that spell text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    lines: Vec<Line>,
}

/// A line of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// Where its digits are, in groups.
    digits: Range<usize>,
    /// Where it ends: what the digits say stands there once more.
    end: usize,
    n_bytes: usize,
}

/// Returns the dumps in `text`.
pub(crate) fn dumps(text: &[u8]) -> impl Iterator<Item = Dump> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (mut dump, mut blanks) = (Dump::default(), 0);
        while at < text.len() {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
            let line = Line::of(text, at..end);
            let is_blank = text[at..end].trim_ascii().is_empty();
            at = end + 1;
            match line {
                Some(line) => {
                    blanks = 0;
                    dump.lines.push(line);
                }
                // An escaped line end is two, once it is no escape any more.
                None if is_blank && blanks == 0 => blanks += 1,
                None if dump.lines.is_empty() => blanks = 0,
                None => break,
            }
        }
        (!dump.lines.is_empty()).then_some(dump)
    })
}

/// Returns the words of digits in `text` that spell text, wherever they stand.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = Dump> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(shortest) = text.get(at..at + 2 * LEAST_BYTES) {
            // Looked at from its end, as runs of base64 are.
            if let Some(other) = shortest.iter().rposition(|byte| value(*byte).is_none()) {
                at += other + 1;
                continue;
            }
            let start = at;
            at += text[start..].iter().take_while(|byte| value(**byte).is_some()).count() + 1;
            let is_inside = start > 0 && text[start - 1].is_ascii_alphanumeric();
            if (!is_inside || is_number(&text[..start]))
                && let Some(line) = plain(text, start..at.min(text.len()))
            {
                return Some(Dump { lines: vec![line] });
            }
        }
        None
    })
}

/// Returns the bytes in digits with a blank between any two of them, where they spell text.
pub(crate) fn spaced(text: &[u8]) -> impl Iterator<Item = Dump> + '_ {
    let pair = |at: usize| match text.get(at..at + 2) {
        Some([high, low]) => value(*high).is_some() && value(*low).is_some(),
        _ => false,
    };
    let is_apart = |at: usize| text.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(blank) = memchr(b' ', text.get(at..)?) {
            let first = (at + blank).checked_sub(2).filter(|first| *first >= at && pair(*first));
            at += blank + 1;
            let Some(start) = first.filter(|first| *first == 0 || is_apart(first - 1)) else { continue };
            let (mut end, mut n_bytes) = (start + 2, 1);
            loop {
                // An escaped line end is two, once it is no escape any more.
                let blanks = text[end..].iter().take(3).take_while(|byte| byte.is_ascii_whitespace()).count();
                if !(1..=2).contains(&blanks) || !pair(end + blanks) || !is_apart(end + blanks + 2) {
                    break;
                }
                (end, n_bytes) = (end + blanks + 2, n_bytes + 1);
            }
            at = at.max(end);
            let digits = text[start..end].iter().filter_map(|byte| value(*byte));
            if n_bytes >= LEAST_BYTES && spells_text(digits) {
                return Some(Dump { lines: vec![Line { digits: start..end, end, n_bytes }] });
            }
        }
        None
    })
}

impl Dump {
    /// Returns what the dump spells, one byte for one; what is no ASCII in it becomes `?`.
    pub(crate) fn decode(&self, text: &[u8]) -> String {
        let digits =
            self.lines.iter().flat_map(|line| &text[line.digits.clone()]).filter_map(|byte| value(*byte));
        let mut half = None;
        let mut out = String::with_capacity(self.lines.iter().map(|line| line.n_bytes).sum());
        for digit in digits {
            match half.take() {
                None => half = Some(digit),
                Some(high) => {
                    let byte = high << 4 | digit;
                    out.push(if byte.is_ascii() { char::from(byte) } else { '?' });
                }
            }
        }
        out
    }

    /// Returns where the bytes `span` of what it spells stand: whole lines, since what they say stands beside the digits too.
    pub(crate) fn place(&self, span: Range<usize>) -> Range<usize> {
        let mut begins = 0;
        let (mut start, mut end) = (None, 0);
        for line in &self.lines {
            let ends = begins + line.n_bytes;
            if span.start < ends && begins < span.end {
                start.get_or_insert(line.digits.start);
                end = line.end;
            }
            begins = ends;
        }
        start.unwrap_or(end)..end
    }
}

impl Line {
    fn of(text: &[u8], line: Range<usize>) -> Option<Line> {
        let shown = text[line.clone()].trim_ascii_end();
        let line = line.start..line.start + shown.len();
        // Between quotes, as the first line in a string of JSON is.
        let head = &shown[..shown.len().min(LONGEST_BEFORE)];
        let quote = memrchr(b'"', head).map_or(0, |at| at + 1);
        let blanks = shown[quote..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let start = line.start + quote + blanks;
        // What a program says before it.
        let is_before_blank = |at: &usize| head.get(at + 1) == Some(&b' ');
        let said = || memchr_iter(b':', head).find(is_before_blank).map(|at| line.start + at + 2);
        dumped(text, start..line.end)
            .or_else(|| dumped(text, said()?..line.end))
            .or_else(|| plain(text, start..line.end))
    }
}

/// Returns a line that begins with an offset: the digits of at most so many bytes, and the bytes as text behind them.
fn dumped(text: &[u8], line: Range<usize>) -> Option<Line> {
    let n_digits = |at: usize| text[at..line.end].iter().take_while(|byte| value(**byte).is_some()).count();
    let offset = n_digits(line.start);
    let mut at = line.start + offset;
    let has_colon = text[at..line.end].first() == Some(&b':');
    at += usize::from(has_colon);
    if !(4..=16).contains(&offset) || !text[at..line.end].starts_with(b" ") {
        return None;
    }
    let (mut digits, mut n_bytes) = (at..at, 0);
    loop {
        let blanks = text[at..line.end].iter().take_while(|byte| **byte == b' ').count();
        let group = n_digits(at + blanks);
        // With a colon, two blanks end the digits; without one, they part the halves.
        let is_end = has_colon && blanks > 1 && n_bytes > 0 || blanks == 0 || blanks > 2;
        let is_group = matches!(group, 2 | 4 | 8) && n_bytes + group / 2 <= MOST_BYTES;
        let behind = text[..line.end].get(at + blanks + group);
        if is_end || !is_group || behind.is_some_and(|byte| *byte != b' ') {
            break;
        }
        if n_bytes == 0 {
            digits.start = at + blanks;
        }
        at += blanks + group;
        digits.end = at;
        n_bytes += group / 2;
    }
    (n_bytes > 0).then_some(Line { digits, end: line.end, n_bytes })
}

/// Returns a line of nothing but digits, where they spell text.
fn plain(text: &[u8], line: Range<usize>) -> Option<Line> {
    let digits = text[line.clone()].iter().take_while(|byte| value(**byte).is_some()).count();
    let run = line.start..line.start + digits / 2 * 2;
    // What else stands in the line is no digit of another word.
    let is_alone = text[..line.end].get(line.start + digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let n_bytes = run.len() / 2;
    let digits = text[run.clone()].iter().filter_map(|byte| value(*byte));
    (is_alone && n_bytes >= LEAST_BYTES && spells_text(digits)).then_some(Line {
        end: run.end,
        digits: run,
        n_bytes,
    })
}

/// Returns whether digits spell text, as far as they are looked at.
fn spells_text(digits: impl Iterator<Item = u8>) -> bool {
    let mut high = None;
    let byte = |digit: u8| match high.take() {
        None => {
            high = Some(digit);
            None
        }
        Some(high) => Some(high << 4 | digit),
    };
    digits
        .filter_map(byte)
        .take(LOOKED_AT)
        .all(|byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

/// Returns whether `before` ends in what marks a number in hexadecimal digits.
fn is_number(before: &[u8]) -> bool {
    let name = before.strip_suffix(b"0x").or_else(|| before.strip_suffix(b"0X"));
    name.is_some_and(|name| name.last().is_none_or(|byte| !byte.is_ascii_alphanumeric()))
}

/// Returns what a hexadecimal digit stands for.
fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// How far before the digits a quote is looked for, in bytes.
const LONGEST_BEFORE: usize = 64;

/// The most bytes in a line of a dump; tools have 16, and more where they are asked to.
const MOST_BYTES: usize = 64;

/// How many bytes of a line of digits alone have to be text.
const LOOKED_AT: usize = 16;

/// The fewest bytes in a line of digits alone: fewer are as often a number.
const LEAST_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<(String, &str)> {
        let dump = dumps(text.as_bytes()).next()?;
        let said = dump.decode(text.as_bytes());
        let place = dump.place(0..said.len());
        Some((said, &text[place]))
    }

    #[test]
    fn dumps_are_read() {
        let xxd = "00000000: 6869 2074 6865 7265 2c20 796f 7520 616c  hi there, you al\n00000010: 6c21  l!\n";
        let canonical = "00000000  68 69 20 74 68 65 72 65  2c 20 79 6f 75 20 61 6c  |hi there, you al|\n00000010  6c 21   |l!|\n";
        for (text, said) in [
            (xxd.to_owned(), "hi there, you all!"),
            (canonical.to_owned(), "hi there, you all!"),
            (format!("see:\n{}\nthat", xxd.trim_end()), "hi there, you all!"),
            (xxd.replace('\n', "\n\n"), "hi there, you all!"),
            (format!("{{\"out\":\"{}", xxd), "hi there, you all!"),
            ("68692074686572652c20796f7520616c6c21\n".to_owned(), "hi there, you all!"),
        ] {
            let (found, place) = first(&text).expect(&text);
            assert_eq!(found, said, "{text}");
            assert!(place.contains("6869") || place.contains("68 69"), "{place}");
        }
    }

    #[test]
    fn words_of_digits_are_read_wherever_they_stand() {
        let said = |text: &str| -> Vec<String> {
            words(text.as_bytes()).map(|dump| dump.decode(text.as_bytes())).collect()
        };
        assert_eq!(said("echo 6869207468657265 | xxd, hex:6869207468657265"), ["hi there", "hi there"]);
        assert_eq!(said("SELECT 0x6869207468657265;"), ["hi there"]);
        for text in
            ["9fceb02d0ae598e95dc970b74767f19372d61af8", "x6869207468657265", "6869207468657265g", "6869"]
        {
            assert_eq!(said(text), [""; 0], "{text}");
        }
        let dump = "Error: 00000000: 6869 2074 6865 7265 2c20 796f 7520 616c  hi there, you al\n";
        assert_eq!(first(dump).unwrap().0, "hi there, you al");
    }

    #[test]
    fn bytes_with_blanks_between_them_are_read_where_they_spell_text() {
        let said = |text: &str| -> Vec<(String, String)> {
            let dumps = spaced(text.as_bytes());
            dumps
                .map(|dump| {
                    let said = dump.decode(text.as_bytes());
                    let place = dump.place(0..said.len());
                    (said, text[place].to_owned())
                })
                .collect()
        };
        let digits = "68 69 20 74 68 65 72 65";
        for text in [digits.to_owned(), format!("dump: {digits}, see"), format!("x {digits}\nzz")] {
            assert_eq!(said(&text), [("hi there".to_owned(), digits.to_owned())], "{text}");
        }
        let lines = format!("{digits}\n{digits}");
        assert_eq!(said(&lines), [("hi therehi there".to_owned(), lines.clone())]);
        for text in
            ["68 69 20 74", "9f ce b0 2d 0a e5 98 e9 5d", "68 69 20 74 68 65 72 651", "10 20 30 40 50"]
        {
            assert_eq!(said(text), [], "{text}");
        }
    }

    #[test]
    fn numbers_and_hashes_are_no_dumps() {
        for text in [
            "9fceb02d0ae598e95dc970b74767f19372d61af8\n",
            "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae  file.tar.gz\n",
            "1234 apples\n12345: the line\n",
            "face: a word\n",
            "",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }
}
