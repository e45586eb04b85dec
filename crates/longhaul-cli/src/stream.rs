//! Counting a text as it is read, so that its size does not matter.

use std::io::{self, BufRead};

use longhaul::{
    tokens::{AppendCounter, TokenCounter},
    transcript::Tokens,
};

use crate::counter::Named;

/// Returns the tokens of the text that `reader` gives; invalid UTF-8 is read lossily.
///
/// Exact where the counter is one of ours. Other counters are handed a megabyte at a time, cut behind a line: an estimate
/// does not change by that, and a `tokenizer.json` counts at most a token more or less at each cut.
pub(crate) fn count(mut reader: impl BufRead, counter: &Named) -> io::Result<Tokens> {
    let mut sum = match counter.bpe {
        Some(bpe) => Sum::Growing(AppendCounter::new(bpe)),
        None => Sum::Parts { counter: &*counter.counter, open: String::new(), tokens: Tokens::ZERO },
    };
    // Bytes that are not counted yet; between reads, at most three of a character that is still to come.
    let mut bytes = Vec::new();
    loop {
        let read = reader.fill_buf()?;
        if read.is_empty() {
            break;
        }
        let length = read.len();
        bytes.extend_from_slice(read);
        reader.consume(length);
        let kept = push_lossily(&bytes, &mut sum);
        bytes.drain(..bytes.len() - kept);
    }
    if !bytes.is_empty() {
        sum.push("\u{fffd}");
    }
    Ok(sum.finish())
}

/// Adds `bytes` to `sum`, and returns how many bytes at the end are the beginning of a character.
fn push_lossily(bytes: &[u8], sum: &mut Sum<'_>) -> usize {
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                sum.push(text);
                break;
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                sum.push(&String::from_utf8_lossy(valid));
                let Some(invalid) = error.error_len() else { return after.len() };
                sum.push("\u{fffd}");
                rest = &after[invalid..];
            }
        }
    }
    0
}

enum Sum<'a> {
    Growing(AppendCounter),
    Parts { counter: &'a dyn TokenCounter, open: String, tokens: Tokens },
}

/// A part is counted when it has this many bytes and a line break.
const PART: usize = 1 << 20;
/// And when it has this many, without one.
const LONGEST: usize = 8 << 20;

impl Sum<'_> {
    fn push(&mut self, text: &str) {
        match self {
            Sum::Growing(growing) => growing.push(text),
            Sum::Parts { counter, open, tokens } => {
                open.push_str(text);
                if open.len() >= PART {
                    let line = open.rfind('\n').map(|at| at + 1);
                    if let Some(end) = line.or((open.len() >= LONGEST).then_some(open.len())) {
                        *tokens += counter.count_text(&open[..end]);
                        open.drain(..end);
                    }
                }
            }
        }
    }

    fn finish(self) -> Tokens {
        match self {
            Sum::Growing(growing) => Tokens(growing.count() as u64),
            Sum::Parts { counter, open, tokens } => tokens + counter.count_text(&open),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::BufReader, sync::Arc};

    use longhaul::tokens::{Bpe, CharsPer4, Encoding};

    use super::*;

    fn named(bpe: Option<Bpe>) -> Named {
        Named { counter: Arc::new(CharsPer4), bpe, name: "test".into(), window: None }
    }

    #[test]
    fn a_text_costs_the_same_in_pieces_of_any_size() {
        let bpe = Bpe::new(Encoding::O200kBase).unwrap();
        let text = "Das ist ein Text — mit 日本語, naïve 🦀 letters,\r\n\r\n   and lines.\n".repeat(40);
        let mut bytes = text.into_bytes();
        bytes.extend(b"caf\xe9 \xff ok \xf0\x9f\xa6"); // invalid, and cut off
        let expected = Tokens(bpe.count_bytes(&bytes) as u64);
        for size in [1, 2, 3, 7, 64, 100_000] {
            let reader = BufReader::with_capacity(size, &bytes[..]);
            assert_eq!(count(reader, &named(Some(bpe))).unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn an_estimate_of_parts_is_that_of_the_whole() {
        let text = "1234 678\n".repeat(400_000);
        let whole = CharsPer4.count_text(&text).0;
        let parts = count(text.as_bytes(), &named(None)).unwrap().0;
        assert!((whole..=whole + 10).contains(&parts), "{whole} {parts}");
        let endless = "x".repeat(20 << 20);
        assert_eq!(count(endless.as_bytes(), &named(None)).unwrap(), Tokens(5 << 20));
    }
}
