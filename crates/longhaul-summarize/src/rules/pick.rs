//! Which lines and names get in: the highest gain per token first.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashMap},
};

use longhaul_tokens::TokenCounter;
use longhaul_transcript::Tokens;

use super::{
    coverage::Coverage,
    ledger::{Ledger, State},
    source::Line,
};

/// One thing that gets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The source line at this place.
    Line(usize),
    /// The subject at this place, by name.
    Name(u32),
}

/// What is picked from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) source: &'a [Line],
    pub(crate) ledger: &'a Ledger,
    pub(crate) counter: &'a dyn TokenCounter,
    /// What it adds to a fact's value that its line is shown, relative to the bare name.
    pub(crate) anchor_bonus: f64,
    /// What a bare number counts for, relative to one that somebody touched.
    pub(crate) bare_share: f64,
}

/// Returns lines and names in the order in which they are worth their tokens, until `budget` is spent. Gains only fall
/// as more is known, so the heap's order is an upper bound and each candidate is valued again when it comes up. Only the
/// names under one heading become cheaper, with the first of them, which pays for the heading: they are offered anew then.
pub(crate) fn pick(choice: Choice<'_>, coverage: &mut Coverage<'_>, budget: Tokens) -> Vec<Pick> {
    let lines = (0..choice.source.len()).map(Pick::Line);
    let names = (0u32..).take(choice.ledger.entries.len()).map(Pick::Name);
    let offer = |pick: Pick, coverage: &Coverage<'_>, open: bool| {
        let gain = choice.gain(pick, coverage);
        (gain > 0.0).then(|| Candidate::new(pick, gain, choice.cost(pick, open)))
    };
    let mut heap: BinaryHeap<Candidate> =
        lines.chain(names).filter_map(|pick| offer(pick, coverage, false)).collect();
    let mut headings = Headings::new(choice.ledger);
    let mut listed = vec![false; choice.ledger.entries.len()];
    let (mut picks, mut left) = (Vec::new(), budget.0 as f64);
    while let Some(top) = heap.pop() {
        if left < 3.0 || top.rate < LEAST_NAME_RATE {
            break;
        }
        let is_out = match top.pick {
            Pick::Line(_) => top.rate < LEAST_LINE_RATE,
            Pick::Name(subject) => listed[subject as usize],
        };
        if is_out {
            continue;
        }
        let gain = choice.gain(top.pick, coverage);
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
                for subject in &choice.source[at].subjects {
                    coverage.name(*subject);
                    coverage.anchor(*subject);
                }
            }
            Pick::Name(subject) => {
                coverage.name(subject);
                listed[subject as usize] = true;
                let siblings = headings.open(subject);
                heap.extend(siblings.into_iter().filter_map(|name| offer(Pick::Name(name), coverage, true)));
            }
        }
    }
    picks
}

/// The names under each heading that nobody paid for yet.
#[derive(Debug)]
struct Headings<'l> {
    ledger: &'l Ledger,
    closed: HashMap<(State, &'l str), Vec<u32>>,
}

impl<'l> Headings<'l> {
    fn new(ledger: &'l Ledger) -> Headings<'l> {
        let mut closed: HashMap<(State, &str), Vec<u32>> = HashMap::new();
        for (subject, entry) in (0u32..).zip(&ledger.entries) {
            closed.entry((entry.state, &entry.heading)).or_default().push(subject);
        }
        Headings { ledger, closed }
    }

    /// Returns the names that stand under the heading of `subject`, the first time that one of them is picked.
    fn open(&mut self, subject: u32) -> Vec<u32> {
        let entry = &self.ledger.entries[subject as usize];
        self.closed.remove(&(entry.state, entry.heading.as_str())).unwrap_or_default()
    }
}

#[derive(Debug)]
struct Candidate {
    rate: f64,
    cost: f64,
    pick: Pick,
}

impl Choice<'_> {
    fn gain(&self, pick: Pick, coverage: &Coverage<'_>) -> f64 {
        match pick {
            Pick::Name(subject) => {
                let entry = &self.ledger.entries[subject as usize];
                let share = if entry.is_bare { self.bare_share } else { 1.0 };
                share * coverage.gain_by_name(subject) + entry.worth
            }
            Pick::Line(at) => {
                let line = &self.source[at];
                // A piece of a long line does not show the line.
                let bonus = self.anchor_bonus * if line.is_piece { PIECE_SHARE } else { 1.0 };
                let facts: f64 = line
                    .subjects
                    .iter()
                    .map(|subject| coverage.gain_by_name(*subject) + bonus * coverage.gain_by_line(*subject))
                    .sum();
                facts + line.bonus
            }
        }
    }

    /// Returns what a pick costs, its share of a heading included; `open` headings are paid for.
    fn cost(&self, pick: Pick, open: bool) -> f64 {
        let count = |text: &str| self.counter.count_text(text).0 as f64;
        match pick {
            Pick::Line(at) => {
                let line = &self.source[at];
                let after = if line.after.is_empty() { 0.0 } else { count(&line.after) };
                count(&line.text) + after + LINE_EXTRA
            }
            Pick::Name(subject) => {
                let entry = &self.ledger.entries[subject as usize];
                let heading = match open {
                    true => 0.0,
                    // The first name under a heading pays for it, but nobody knows how many will share it.
                    false => (count(&entry.heading) + 2.0) / f64::from(entry.siblings.clamp(1, MOST_SHARING)),
                };
                count(&format!(" {}", entry.text)) + heading + NAME_EXTRA
            }
        }
    }
}

/// What the handle, the mark and the line break of a line cost, about.
const LINE_EXTRA: f64 = 2.0;

/// What the mark after a heading or between numbers costs, spread over the names.
const NAME_EXTRA: f64 = 0.4;

/// Below this gain per token a quoted line is not worth its place: newer messages, word for word, serve the reader better
/// (`docs/recall.md`).
const LEAST_LINE_RATE: f64 = 2e-4;

/// The same for a name in the ledger.
const LEAST_NAME_RATE: f64 = 2e-5;

/// What a piece of a long line is worth as an anchor, relative to a whole line.
const PIECE_SHARE: f64 = 0.4;

/// How many names are taken to share the cost of a heading, at most.
const MOST_SHARING: u32 = 4;

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
