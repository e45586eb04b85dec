//! What a compaction takes out of sight, fact by fact, and where each of them still stands.

use std::collections::{BTreeMap, HashSet};

use longhaul_extract::{DefaultRanker, Domain, Fact, FactClass, FactIndex, Subjects, Visible};
use longhaul_transcript::{Entry, SummaryRecord, Survival};
use serde::Serialize;

use crate::compact::survival;

/// What became of the facts of a conversation, by class; no class without facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// By the class's name, as in [`SummaryRecord::survival`].
    pub classes: BTreeMap<&'static str, ClassLoss>,
}

/// What became of the facts of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassLoss {
    /// How many there are, and how many a reader of the summary and of the messages beside it sees.
    #[serde(flatten)]
    pub seen: Survival,
    /// Those that he does not see, the most valuable first.
    pub hidden: Vec<Hidden>,
}

/// A fact that is out of sight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hidden {
    /// What the fact is called in the conversation.
    pub name: String,
    /// Ordinal of the last message that holds it: what to ask the store for.
    pub message: u64,
}

impl Loss {
    /// Returns what a reader of the last summary of `chain`, and of those of `entries` that no summary covers, does not see
    /// of `entries`: all messages of the conversation, oldest first. A message that stayed in a shorter form counts as
    /// covered, so that rather too much is reported than too little.
    pub fn of(entries: &[Entry], chain: &[SummaryRecord]) -> Loss {
        let mut index = FactIndex::new();
        entries.iter().for_each(|entry| index.push(entry));
        let mut visible = Visible::new(index.domain() == Domain::Talk);
        chain.last().into_iter().for_each(|record| visible.read(&record.text));
        let covered = chain.iter().flat_map(|record| &record.covered);
        let covered: HashSet<u64> = covered.map(|covered| covered.ordinal).collect();
        let is_covered = |entry: &Entry| covered.contains(&entry.id.ordinal);
        let stays = entries.iter().filter(|entry| !is_covered(entry));
        stays.for_each(|entry| visible.read_message(&entry.message));

        let subjects = Subjects::new(&index, &DefaultRanker::default());
        let value = |name: &str| subjects.named(&index, name).map_or(0.0, |at| subjects.all()[at].value);
        let mut hidden: BTreeMap<&str, Vec<(f64, Hidden)>> = BTreeMap::new();
        let mut loss = Loss::default();
        // Words are facts where people talk; elsewhere they are what paths and addresses are made of.
        let counts = |fact: &Fact| index.domain() == Domain::Talk || fact.class() != FactClass::Word;
        for (fact, is_seen) in survival::seen(&index, &visible).filter(|(fact, _)| counts(fact)) {
            let class = fact.class().as_str();
            let seen = &mut loss.classes.entry(class).or_default().seen;
            seen.total += 1;
            seen.kept += u64::from(is_seen);
            if !is_seen {
                let message = u64::from(fact.last_message);
                let fact_hidden = Hidden { name: fact.name.to_string(), message };
                hidden.entry(class).or_default().push((value(&fact.name), fact_hidden));
            }
        }
        for (class, mut facts) in hidden {
            facts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            if let Some(class) = loss.classes.get_mut(class) {
                class.hidden = facts.into_iter().map(|(_, fact)| fact).collect();
            }
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::{Covered, SummaryRecord, Transcript};

    use super::*;

    fn said() -> Transcript {
        transcript(
            "user: Mend src/queue/retry.rs for RLY-4812, see https://wiki.example.org/retry\n\
             assistant: The limit in src/queue/retry.rs is 4711 ms.\n\
             user: And in src/queue/policy.rs?",
        )
    }

    fn record(said: &Transcript, covered: usize, text: &str) -> SummaryRecord {
        let covered: Vec<Covered> = said.entries()[..covered].iter().map(Covered::from).collect();
        let compacted = serde_json::json!({
            "version": 1, "id": "0123456789abcdef", "parent": null, "depth": 0, "covers": { "start": 0, "end": 2 },
            "covered": covered, "summary": {}, "header": "", "text": text, "mode": "rules", "model": "", "made_with": "",
            "tokens": 9, "tokens_before": 90, "tokens_after": 30, "survival": {}, "redactions": [],
            "cost": null, "created_at_ms": 0, "duration_ms": 0,
        });
        serde_json::from_value(compacted).unwrap()
    }

    #[test]
    fn each_fact_out_of_sight_is_named_with_its_message() {
        let said = said();
        let loss = Loss::of(said.entries(), &[record(&said, 2, "RLY-4812 is about src/queue/retry.rs")]);
        let hidden = |class: &str| {
            let class = &loss.classes[class];
            let names: Vec<_> = class.hidden.iter().map(|fact| (fact.name.as_str(), fact.message)).collect();
            (class.seen.kept, class.seen.total, names)
        };
        assert_eq!(hidden("paths"), (2, 2, vec![]));
        assert_eq!(hidden("numbers"), (0, 1, vec![("4711", 1)]));
        assert_eq!(hidden("urls"), (0, 1, vec![("https://wiki.example.org/retry", 0)]));
        assert_eq!(hidden("ids"), (1, 1, vec![]));
    }

    #[test]
    fn without_a_summary_nothing_is_out_of_sight() {
        let loss = Loss::of(said().entries(), &[]);
        assert!(
            loss.classes.values().all(|class| class.hidden.is_empty() && class.seen.kept > 0),
            "{loss:?}"
        );
    }
}
