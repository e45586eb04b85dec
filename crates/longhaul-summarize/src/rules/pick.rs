//! Which lines and names get in: the highest gain per token first.

use std::{cmp::Ordering, collections::BinaryHeap};

use longhaul_tokens::TokenCounter;
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
    counter: &dyn TokenCounter,
    budget: Tokens,
    anchor_bonus: f64,
) -> Vec<Pick> {
    let mut heap = BinaryHeap::new();
    for (at, line) in source.iter().enumerate() {
        push(
            &mut heap,
            Pick::Line(at),
            gain(Pick::Line(at), source, coverage, anchor_bonus),
            least_cost(&line.text),
            false,
        );
    }
    for (subject, entry) in (0u32..).zip(&ledger.entries) {
        let pick = Pick::Name(subject);
        push(&mut heap, pick, gain(pick, source, coverage, anchor_bonus), least_cost(&entry.text), false);
    }
    let (mut picks, mut left) = (Vec::new(), budget.0 as f64);
    while let Some(top) = heap.pop() {
        if left < 3.0 {
            break;
        }
        let gain = gain(top.pick, source, coverage, anchor_bonus);
        let cost = if top.is_counted { top.cost } else { cost(top.pick, source, ledger, counter) };
        if !top.is_counted || gain / cost < top.rate {
            push(&mut heap, top.pick, gain, cost, true);
            continue;
        }
        if cost > left {
            continue;
        }
        left -= cost;
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
    is_counted: bool,
}

fn push(heap: &mut BinaryHeap<Candidate>, pick: Pick, gain: f64, cost: f64, is_counted: bool) {
    let rate = gain / cost;
    if rate > 0.0 && rate.is_finite() {
        heap.push(Candidate { rate, cost, pick, is_counted });
    }
}

fn gain(pick: Pick, source: &[Line], coverage: &Coverage<'_>, anchor_bonus: f64) -> f64 {
    match pick {
        Pick::Name(subject) => coverage.gain_by_name(subject),
        Pick::Line(at) => source[at]
            .subjects
            .iter()
            .map(|subject| coverage.gain_by_name(*subject) + anchor_bonus * coverage.gain_by_line(*subject))
            .sum(),
    }
}

/// No tokenizer in use packs more than this many bytes of ordinary text into a token, so that this is a lower bound.
fn least_cost(text: &str) -> f64 {
    1.0 + text.len() as f64 / 8.0
}

fn cost(pick: Pick, source: &[Line], ledger: &Ledger, counter: &dyn TokenCounter) -> f64 {
    let tokens = match pick {
        Pick::Line(at) => counter.count_text(&source[at].text) + Tokens(2),
        Pick::Name(subject) => counter.count_text(&ledger.entries[subject as usize].text) + Tokens(1),
    };
    tokens.0 as f64
}

impl Candidate {
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
