//! Which lines and names get in: the highest gain per token first.

use std::{cmp::Ordering, collections::BinaryHeap};

use longhaul_transcript::Tokens;

use super::{coverage::Coverage, ledger::Ledger, source::Line};

/// One thing that gets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The source line at this place.
    Line(usize),
    /// The subject at this place, by name.
    Name(u32),
}

/// Returns lines and names in the order in which they are worth their tokens, until `budget` is spent. Gains only fall
/// as more is known, so the heap's order is an upper bound and each candidate is valued again when it comes up.
pub(crate) fn pick(
    source: &[Line],
    ledger: &Ledger,
    coverage: &mut Coverage<'_>,
    budget: Tokens,
    anchor_bonus: f64,
) -> Vec<Pick> {
    let lines = (0..source.len()).map(Pick::Line);
    let names = (0u32..).take(ledger.entries.len()).map(Pick::Name);
    let mut heap: BinaryHeap<Candidate> = lines
        .chain(names)
        .filter_map(|pick| {
            let gain = gain(pick, source, ledger, coverage, anchor_bonus);
            (gain > 0.0).then(|| Candidate::new(pick, gain, cost(pick, source, ledger)))
        })
        .collect();
    let (mut picks, mut left) = (Vec::new(), budget.0 as f64);
    while let Some(top) = heap.pop() {
        if left < 3.0 || top.rate < LEAST_NAME_RATE {
            break;
        }
        if matches!(top.pick, Pick::Line(_)) && top.rate < LEAST_LINE_RATE {
            continue;
        }
        let gain = gain(top.pick, source, ledger, coverage, anchor_bonus);
        if gain / top.cost < top.rate {
            if gain > 0.0 {
                heap.push(Candidate::new(top.pick, gain, top.cost));
            }
            continue;
        }
        if top.cost > left {
            continue;
        }
        left -= top.cost;
        picks.push(top.pick);
        match top.pick {
            Pick::Line(at) => {
                for subject in &source[at].subjects {
                    coverage.name(*subject);
                    coverage.anchor(*subject);
                }
            }
            Pick::Name(subject) => coverage.name(subject),
        }
    }
    picks
}

#[derive(Debug)]
struct Candidate {
    rate: f64,
    cost: f64,
    pick: Pick,
}

fn gain(pick: Pick, source: &[Line], ledger: &Ledger, coverage: &Coverage<'_>, anchor_bonus: f64) -> f64 {
    match pick {
        Pick::Name(subject) => coverage.gain_by_name(subject) + ledger.entries[subject as usize].worth,
        Pick::Line(at) => {
            let line = &source[at];
            // A piece of a long line does not show the line.
            let bonus = if line.is_piece { anchor_bonus * PIECE_SHARE } else { anchor_bonus };
            let facts: f64 = line
                .subjects
                .iter()
                .map(|subject| coverage.gain_by_name(*subject) + bonus * coverage.gain_by_line(*subject))
                .sum();
            facts + line.bonus
        }
    }
}

/// Below this gain per token a quoted line is not worth its place: newer messages, word for word, serve the reader better
/// (`docs/recall.md`).
const LEAST_LINE_RATE: f64 = 2e-4;

/// The same for a name in the ledger.
const LEAST_NAME_RATE: f64 = 2e-5;

/// What a piece of a long line is worth as an anchor, relative to a whole line.
const PIECE_SHARE: f64 = 0.4;

/// What a pick costs, about. The whole text is counted exactly when it is put together; in the order of the picks an
/// estimate does as well and spares counting every line of the source (measured: 65 of 140 ms on 140k tokens).
fn cost(pick: Pick, source: &[Line], ledger: &Ledger) -> f64 {
    match pick {
        Pick::Line(at) => estimate(&source[at].text) + estimate(&source[at].after) + 2.0,
        Pick::Name(subject) => {
            let entry = &ledger.entries[subject as usize];
            // The first name under a heading pays for it, but nobody knows which will be the first.
            let heading = (estimate(&entry.heading) + 2.0) / f64::from(entry.siblings.clamp(1, MOST_SHARING));
            estimate(&entry.text) + heading + 0.4
        }
    }
}

/// How many names are taken to share the cost of a heading, at most.
const MOST_SHARING: u32 = 4;

/// Tokens of `text`, about: a token for every six letters begun of one case, every three digits, every two marks.
fn estimate(text: &str) -> f64 {
    let (mut tokens, mut run, mut class) = (0.0, 0, ' ');
    for byte in text.bytes() {
        let next = match byte {
            b'a'..=b'z' => 'a',
            // A capital begins a word and goes on with small letters.
            b'A'..=b'Z' => 'A',
            b'0'..=b'9' => '0',
            b' ' | b'\t' => ' ',
            0x80.. => 'w',
            _ => '.',
        };
        let goes_on = next == class || (class == 'A' && next == 'a' && run == 1);
        run = if goes_on { run + 1 } else { 1 };
        tokens += match next {
            'a' if run % 6 == 1 && !(goes_on && class == 'A') => 1.0,
            'A' if run % 3 == 1 => 1.0,
            '0' if run % 3 == 1 => 1.0,
            '.' if run % 2 == 1 => 0.9,
            // About one token for a character of three bytes.
            'w' => 0.33,
            _ => 0.0,
        };
        class = if goes_on && class == 'A' { 'A' } else { next };
        if class == 'A' && next == 'a' {
            class = 'a';
        }
    }
    tokens
}

impl Candidate {
    fn new(pick: Pick, gain: f64, cost: f64) -> Candidate {
        Candidate { rate: gain / cost, cost, pick }
    }

    fn key(&self) -> (f64, std::cmp::Reverse<(u8, usize)>) {
        let place = match self.pick {
            Pick::Line(at) => (0, at),
            Pick::Name(subject) => (1, subject as usize),
        };
        (self.rate, std::cmp::Reverse(place))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let ((rate, place), (other_rate, other_place)) = (self.key(), other.key());
        rate.total_cmp(&other_rate).then_with(|| place.cmp(&other_place))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_what_tokenizers_give() {
        for (text, least, most) in [
            ("parse_header_line", 3.0, 6.0),
            ("crates/longhaul/src/lib.rs", 7.0, 13.0),
            ("Die Prüfung ist fertig", 4.0, 9.0),
            ("let value = self.parse(text)?;", 6.0, 13.0),
        ] {
            let estimate = estimate(text);
            assert!((least..=most).contains(&estimate), "{text}: {estimate}");
        }
    }
}
