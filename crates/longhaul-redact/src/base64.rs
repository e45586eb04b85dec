//! Base64 that spells text: a key in it is a key all the same.

use std::ops::Range;

/// A run of base64, possibly broken into lines, that begins like text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Where its lines are. All but the last hold whole groups of four.
    lines: Vec<Range<usize>>,
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
            return Some(Run { lines });
        }
        None
    })
}

impl Run {
    /// Returns what the run spells; what is no text in it becomes U+FFFD.
    pub(crate) fn decode(&self, text: &[u8]) -> String {
        let digits: usize = self.lines.iter().map(ExactSizeIterator::len).sum();
        let mut bytes = Vec::with_capacity(digits / 4 * 3 + 3);
        for line in &self.lines {
            decode(&text[line.clone()], &mut bytes);
        }
        // One byte for one, so that places stay what they are.
        bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect()
    }

    /// Returns where the bytes `span` of what the run spells stand in the text.
    pub(crate) fn place(&self, span: Range<usize>) -> Range<usize> {
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

fn spells_text(digits: &[u8]) -> bool {
    let mut bytes = Vec::with_capacity(LOOKED_AT);
    decode(&digits[..LOOKED_AT], &mut bytes);
    bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
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
