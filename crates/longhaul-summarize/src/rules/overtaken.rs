//! What of the person's decisions and facts something later took the place of: wherever they are told, that stands beside them.

use std::collections::{BTreeMap, HashMap};

use longhaul_extract::{Decision, DemandKind, Stated, demand_kind, stated};
use longhaul_transcript::{Constraint, one_line};

use super::{
    claimed::Claims,
    marks,
    overruled::{Judged, Overruling},
};
use crate::sentences::sentences;

/// What holds no more, by the message that it was said in.
#[derive(Debug, Default)]
pub(crate) struct Overtaken(BTreeMap<u64, Vec<Said>>);

#[derive(Debug)]
struct Said {
    text: String,
    by: Decision,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A decision was overruled.
    TakenBack,
    /// A fact has another value.
    Later,
}

impl Overtaken {
    /// Reads what was `judged`, what persons say anew, and which of the facts among `rules` have another value in what `persons` said
    /// later, the oldest first.
    pub(super) fn new<'t>(
        judged: &Judged,
        overruling: &Overruling,
        rules: &[Constraint],
        persons: impl DoubleEndedIterator<Item = (u64, &'t str)>,
    ) -> Overtaken {
        let mut overtaken = Overtaken::default();
        // A rule is known as long as it holds, and what took its place as well, also where that was said too long ago to be read.
        let is_older = |rule: &Constraint| rule.message < overruling.claims().from();
        let of_rules = if rules.iter().any(is_older) { Claims::of_rules(rules) } else { Claims::default() };
        for (was, now) in overruling.claims().overtaken().chain(of_rules.overtaken()) {
            overtaken.add(was.message, &was.text, now.clone(), How::Later);
        }
        // What an earlier summary tells was said in no message that is read.
        for rule in rules.iter().filter(|rule| rule.superseded_by.is_none()) {
            if let Some(by) = overruling.claims().by(rule.message, &marks::without(&rule.text)) {
                overtaken.add(rule.message, &rule.text, by.clone(), How::Later);
            }
        }
        for over in &judged.overruled {
            // Where something else that was decided in the message stands, not all of it is taken back.
            let stands = judged.standing.iter().any(|one| one.message == over.decision.message);
            let how = if stands { How::Later } else { How::TakenBack };
            overtaken.add(over.decision.message, &over.decision.text, over.by.clone(), how);
            // A rule may be known as decided later, from the summary before.
            let decided = one_line(over.decision.text.trim());
            let is_it = |rule: &&Constraint| {
                rule.message < over.decision.message && one_line(rule.text.trim()) == decided
            };
            for rule in rules.iter().filter(is_it) {
                overtaken.add(rule.message, &rule.text, over.by.clone(), how);
            }
        }
        let facts = rules.iter().filter(|rule| demand_kind(&rule.text) == Some(DemandKind::Fact));
        let facts: Vec<(&Constraint, Stated)> =
            facts.filter_map(|fact| Some((fact, stated(&fact.text)?))).collect();
        if facts.is_empty() {
            return overtaken;
        }
        let values = values(persons);
        for (fact, stated) in facts {
            let said = values.get(&stated.subject).map_or(&[][..], Vec::as_slice);
            let later = said.iter().find(|(by, _)| by.message > fact.message);
            if let Some((by, _)) = later.filter(|(_, value)| is_other(value, &stated.value)) {
                overtaken.add(fact.message, &fact.text, by.clone(), How::Later);
            }
        }
        overtaken
    }

    fn add(&mut self, message: u64, text: &str, by: Decision, how: How) {
        let text = one_line(text.trim()).into_owned();
        self.0.entry(message).or_default().push(Said { text, by, how });
    }

    /// Returns what stands behind the words that are `told` of a message, where something in them holds no more.
    pub(crate) fn note(&self, message: u64, told: &str) -> String {
        let Some(said) = self.0.get(&message) else { return String::new() };
        let told = one_line(told);
        let newest = said.iter().filter(|said| told.contains(&*said.text)).max_by_key(|said| said.by.message);
        match newest {
            Some(Said { by, how: How::TakenBack, .. }) => format!(" (taken back in m{})", by.message),
            Some(Said { by, how: How::Later, .. }) => format!(" (later on this: m{})", by.message),
            None => String::new(),
        }
    }

    /// Returns what took the place of a demand that was said in `message`.
    pub(super) fn by(&self, message: u64, demand: &str) -> Option<&Decision> {
        let demand = one_line(demand.trim());
        let of_it = self.0.get(&message)?.iter().filter(|said| said.text == demand).map(|said| &said.by);
        of_it.max_by_key(|by| by.message)
    }

    /// Returns all that took the place of something.
    pub(super) fn newer(&self) -> impl Iterator<Item = &Decision> {
        self.0.values().flatten().map(|said| &said.by)
    }
}

/// Returns the values that persons say that things have, by the thing, the newest first.
fn values<'t>(
    persons: impl DoubleEndedIterator<Item = (u64, &'t str)>,
) -> HashMap<String, Vec<(Decision, String)>> {
    let mut all: HashMap<String, Vec<(Decision, String)>> = HashMap::new();
    for (message, text) in persons.rev().take(MOST_READ) {
        let start = &text[..text.floor_char_boundary(MOST_BYTES)];
        for said in start.lines().flat_map(sentences).map(str::trim) {
            if let Some(Stated { subject, value }) = stated(said) {
                let said = Decision { text: said.to_owned(), message };
                all.entry(subject).or_default().push((said, value));
            }
        }
    }
    all
}

/// Returns whether two values are of one kind and not the same: a number is no other name.
fn is_other(one: &str, other: &str) -> bool {
    let has_digit = |value: &str| value.contains(|c: char| c.is_ascii_digit());
    one != other && has_digit(one) == has_digit(other)
}

/// So many of the newest messages are read.
const MOST_READ: usize = 400;

/// So many bytes of each.
const MOST_BYTES: usize = 2_000;
