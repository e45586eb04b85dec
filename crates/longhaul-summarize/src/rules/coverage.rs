//! Which subjects a reader already knows.

use longhaul_extract::{FactIndex, Subject, Subjects, for_each_text, scan, scan_words};
use longhaul_transcript::Message;

use super::goal::Goal;

/// Which subjects a reader already knows, in a line that says something of them.
#[derive(Clone, Debug)]
pub(crate) struct Coverage<'a> {
    index: &'a FactIndex,
    pub(crate) subjects: &'a Subjects,
    values: Vec<f64>,
    anchored: Vec<bool>,
}

impl<'a> Coverage<'a> {
    /// Nothing is known yet; what shares a word with `goal` is worth more.
    pub(crate) fn new(index: &'a FactIndex, subjects: &'a Subjects, goal: &Goal) -> Coverage<'a> {
        let count = subjects.all().len();
        let value = |subject: &Subject| match subject.value > 1.0 {
            true => subject.value.min(1.0 + MOST_BEYOND),
            false => (subject.value * goal.factor(&subject.fact.name)).min(1.0),
        };
        let values = subjects.all().iter().map(value).collect();
        Coverage { index, subjects, values, anchored: vec![false; count] }
    }

    /// Returns the subjects that `text` makes known, each once.
    pub(crate) fn known_by(&self, text: &str) -> Vec<u32> {
        let mut known = Vec::new();
        let mut add = |atom: longhaul_extract::Atom<'_>| {
            known.extend(self.subjects.known_by(self.index, &atom.text, atom.kind));
        };
        scan(text, &mut add);
        if self.index.domain() == longhaul_extract::Domain::Talk {
            scan_words(text, &mut add);
        }
        known.sort_unstable();
        known.dedup();
        known
    }

    /// Counts everything in `text` as known.
    pub(crate) fn read(&mut self, text: &str) {
        for subject in self.known_by(text) {
            self.anchor(subject);
        }
    }

    /// Counts everything in `message` as known.
    pub(crate) fn read_message(&mut self, message: &Message) {
        for_each_text(message, |text| self.read(text));
    }

    /// Counts a subject as known.
    pub(crate) fn anchor(&mut self, subject: u32) {
        self.anchored[subject as usize] = true;
    }

    /// Returns what showing a line with `subjects` adds: what likely facts come to, and what must stay beyond that.
    pub(crate) fn gain(&self, subjects: &[u32]) -> f64 {
        let new = subjects.iter().map(|subject| *subject as usize).filter(|at| !self.anchored[*at]);
        let (likely, beyond) =
            new.map(|at| self.values[at]).fold((0.0, 0.0), |(likely, beyond), value: f64| {
                (likely + value.min(1.0), beyond + (value - 1.0).max(0.0))
            });
        likely.min(MOST_LIKELY) + beyond.min(MOST_BEYOND)
    }

    /// Returns the most that any line adds.
    pub(crate) fn most(&self) -> f64 {
        let is_beyond = self.values.iter().any(|value| *value > 1.0);
        if is_beyond { MOST_LIKELY + MOST_BEYOND } else { MOST_LIKELY }
    }
}

/// More facts of value 1 add nothing.
const MOST_LIKELY: f64 = 3.0;

/// Nothing counts for more beyond 1: it brings a line before all that is chosen by its weight.
const MOST_BEYOND: f64 = 19.0;
