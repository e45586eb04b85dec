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
        let value = |subject: &Subject| (subject.value * goal.factor(&subject.fact.name)).min(1.0);
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

    /// Returns what showing a line with `subjects` adds.
    pub(crate) fn gain(&self, subjects: &[u32]) -> f64 {
        let is_new = |subject: &&u32| !self.anchored[**subject as usize];
        subjects.iter().filter(is_new).map(|subject| self.values[*subject as usize]).sum()
    }
}
