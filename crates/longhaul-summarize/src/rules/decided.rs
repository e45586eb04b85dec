//! What the person decided, under a heading of its own: in their words, as far as nothing later overrules it.

use longhaul_extract::Decision;
use longhaul_transcript::{Entry, Tokens, one_line};

use super::{asks::own_text, fixed::Fixed, heading::Heading};

impl Fixed<'_> {
    /// Adds the newest of what the person decided that fits, oldest first.
    pub(super) fn add_decided(&mut self, told: &[Decision]) {
        let lines: Vec<String> = told.iter().map(|one| line(one)).collect();
        if !lines.is_empty() {
            self.add(Heading::Decided, lines.join("\n"));
        }
    }

    /// Returns those of the decisions that are to be told: nothing shows them, and there is room.
    pub(super) fn decided_to_tell(&self) -> Vec<Decision> {
        let mut left = self.request.limit.scaled(DECIDED_SHARE);
        let mut told: Vec<Decision> = Vec::new();
        for one in self.decided.iter().rev().filter(|one| !self.shows(&one.text)) {
            let cost = self.cost(&line(one)) + Tokens(1);
            if cost <= left {
                left -= cost;
                told.push(one.clone());
            }
        }
        told.reverse();
        told
    }

    /// Returns whether all that a message says is one of the decisions `told`.
    pub(super) fn is_told(&self, entry: &Entry, told: &[Decision]) -> bool {
        let text = own_text(&entry.message, self.request.index.speakers());
        let is_it = |one: &Decision| {
            one.message == entry.id.ordinal
                && text.is_some_and(|text| one_line(text.trim()) == one.text.trim())
        };
        told.iter().any(is_it)
    }
}

fn line(one: &Decision) -> String {
    format!("m{} {}", one.message, one_line(&one.text))
}

/// The share of the limit that what the person decided may take.
const DECIDED_SHARE: f64 = 0.12;
