//! Where two sentences differ: the runs of words that only one of them has at a place.

use std::ops::Range;

use super::words::Word;

/// Words of an earlier sentence in whose place a later one has others; one of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) was: Range<usize>,
    pub(super) now: Range<usize>,
}

/// Returns the runs in which two sentences differ that share as many words as they can in their order.
pub(super) fn differing(was: &[&Word], now: &[&Word]) -> Vec<Run> {
    let shared = shared(was, now);
    let width = now.len() + 1;
    let (mut runs, mut start) = (Vec::new(), (0, 0));
    let (mut i, mut j) = (0, 0);
    while i < was.len() && j < now.len() {
        let here = shared[i * width + j];
        let (below, right) = (shared[(i + 1) * width + j], shared[i * width + j + 1]);
        if was[i].form == now[j].form && here == shared[(i + 1) * width + j + 1] + 1 {
            runs.push(Run { was: start.0..i, now: start.1..j });
            (i, j) = (i + 1, j + 1);
            start = (i, j);
        } else if below >= right {
            i += 1;
        } else {
            j += 1;
        }
    }
    runs.push(Run { was: start.0..was.len(), now: start.1..now.len() });
    runs.retain(|run| !run.was.is_empty() || !run.now.is_empty());
    runs
}

/// Returns for each two places how many words what follows them shares, row by row: fewer than 256, as a claim has at most 240 bytes.
fn shared(was: &[&Word], now: &[&Word]) -> Vec<u8> {
    let width = now.len() + 1;
    let mut shared = vec![0_u8; (was.len() + 1) * width];
    for i in (0..was.len()).rev() {
        for j in (0..now.len()).rev() {
            shared[i * width + j] = match was[i].form == now[j].form {
                true => shared[(i + 1) * width + j + 1] + 1,
                false => shared[(i + 1) * width + j].max(shared[i * width + j + 1]),
            };
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::words::words;

    #[test]
    fn two_sentences_differ_in_runs() {
        let (was, now) =
            (words("The talk is on Tuesday at noon"), words("The big talk is on Friday at noon"));
        let (was, now): (Vec<&Word>, Vec<&Word>) = (was.iter().collect(), now.iter().collect());
        let run = |was, now| Run { was, now };
        assert_eq!(differing(&was, &now), [run(1..1, 1..2), run(4..5, 5..6)]);
        assert_eq!(differing(&was, &was), []);
        assert_eq!(differing(&was, &[]), [run(0..7, 0..0)]);
    }
}
