//! What the person decided, under a heading of its own: in their words, as far as nothing later overrules it.

use longhaul_extract::{Decision, is_standing_rule};
use longhaul_transcript::{Constraint, Entry, Role, Tokens, one_line};

use super::{
    carried,
    claimed::LastRead,
    fixed::Fixed,
    heading::Heading,
    overruled::{self, Judged, Overruling},
    sections::is_meeting,
};
use crate::SummaryRequest;

/// Returns what a person decided in the request's entries, as far as nothing later overrules it and no message that stays shows it,
/// oldest first.
pub fn decided(request: &SummaryRequest<'_>) -> Vec<Decision> {
    let mut decided = judged(request).0.standing;
    let kept = || request.kept.iter().flat_map(|entry| entry.message.texts());
    decided.retain(|one| !kept().any(|text| text.contains(&one.text)));
    decided
}

/// Returns what a person decided or claimed in the request's entries, or the summary before tells as decided, and what they said since
/// takes the place of, oldest first.
pub fn overruled_since(request: &SummaryRequest<'_>) -> Vec<Decision> {
    let (judged, overruling) = judged(request);
    let claimed = overruling.claims().overtaken().map(|(was, _)| was.clone());
    let mut all: Vec<Decision> =
        judged.overruled.into_iter().map(|over| over.decision).chain(claimed).collect();
    all.sort_by_key(|one| one.message);
    all
}

/// Returns what persons decided in the request's entries, judged with what the summary before tells as decided, and by what.
pub(super) fn judged(request: &SummaryRequest<'_>) -> (Judged, Overruling) {
    let speakers = request.index.speakers();
    let users = request.entries.iter().filter(|entry| entry.message.role == Role::User);
    let users: Vec<Entry> = users.cloned().collect();
    let overruling = Overruling::of(users.iter().chain(request.kept), speakers, &LastRead::default());
    let overruling = if is_meeting(request) { overruling.of_many() } else { overruling };
    let known = carried::decisions(request);
    let judged = overruled::decided(known.clone(), &users, &overruling, speakers);
    (judged.without(&known), overruling)
}

impl Fixed<'_> {
    /// Adds the newest of what the person decided that fits, oldest first.
    pub(super) fn add_decided(&mut self, told: &[Decision]) {
        let lines: Vec<String> = told.iter().map(line).collect();
        if !lines.is_empty() {
            self.add(Heading::Decided, lines.join("\n"));
        }
    }

    /// Returns those of the decisions that are to be told: nothing shows them, and there is room. One that is said in passing stands in
    /// what was asked with it.
    pub(super) fn decided_to_tell(&self) -> Vec<Decision> {
        let mut left = self.request.limit.scaled(DECIDED_SHARE);
        let mut told: Vec<Decision> = Vec::new();
        let is_to_be_told =
            |one: &&Decision| self.is_all_of_it(one) && !self.shows(&one.text) && !self.is_rule(one);
        for one in self.decided.iter().rev().filter(is_to_be_told) {
            let cost = self.cost_of(one) + Tokens(1);
            if cost <= left {
                left -= cost;
                told.push(one.clone());
            }
        }
        told.reverse();
        told
    }

    /// Returns whether a decision stands as a rule: what binds has its place whatever was decided.
    pub(super) fn is_rule(&self, one: &Decision) -> bool {
        let is_of_it = |rule: &&&Constraint| rule.message == one.message && is_standing_rule(&rule.text);
        let mut rules = self.holding.iter().filter(is_of_it);
        let decided = one_line(one.text.trim());
        rules.any(|rule| rule.text.contains(&*decided) || decided.contains(rule.text.trim()))
    }

    /// Returns what the line of a decision costs.
    pub(super) fn cost_of(&self, one: &Decision) -> Tokens {
        self.cost(&line(one))
    }

    /// Returns whether a decision is all that is said in its message, or is known from an earlier summary.
    fn is_all_of_it(&self, one: &Decision) -> bool {
        let mut said = self.few.persons.iter().filter(|(entry, _)| entry.id.ordinal == one.message);
        said.all(|(_, text)| one_line(text.trim()) == one.text.trim())
    }

    /// Returns whether all that a message says is one of the decisions `told`.
    pub(super) fn is_told(entry: &Entry, told: &[Decision]) -> bool {
        told.iter().any(|one| one.message == entry.id.ordinal)
    }
}

fn line(one: &Decision) -> String {
    format!("m{} {}", one.message, one_line(&one.text))
}

/// The share of the limit that what the person decided may take.
const DECIDED_SHARE: f64 = 0.12;
