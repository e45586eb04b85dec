//! Long requests that were worked through: what such a plan says in detail was done, and says less than what came of it.

use hashbrown::HashSet;
use longhaul_extract::{Statement, StatementKind};
use longhaul_transcript::{Entry, Role};

/// The messages of plans that were worked through.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    messages: HashSet<u64>,
}

impl Worked {
    /// Finds them among what `persons` say in `entries`: a page, many `calls` made for it, then words of the model's that end its turn,
    /// and the person asked for something else.
    pub(crate) fn new(entries: &[Entry], persons: &[(&Entry, &str)], calls: &[u64]) -> Worked {
        let up_to = |ordinal: u64| calls.partition_point(|call| *call < ordinal);
        let is_worked = |(entry, text): (&Entry, &str), next: u64| {
            let at = entries.partition_point(|entry| entry.id.ordinal < next);
            let last = at.checked_sub(1).map(|at| &entries[at]);
            let is_answered = last.is_some_and(|last| {
                last.message.role == Role::Assistant
                    && last.message.calls().next().is_none()
                    && last.message.texts().any(|text| !text.trim().is_empty())
            });
            text.len() >= LONG && up_to(next) - up_to(entry.id.ordinal) >= MUCH_WORK && is_answered
        };
        let each = persons.windows(2).filter(|two| is_worked(two[0], two[1].0.id.ordinal));
        Worked { messages: each.map(|two| two[0].0.id.ordinal).collect() }
    }

    /// Returns whether a statement is a step of such a plan.
    pub(crate) fn holds(&self, statement: &Statement) -> bool {
        statement.kind == StatementKind::Person && self.messages.contains(&u64::from(statement.message))
    }
}

/// A request of so many bytes is a plan.
const LONG: usize = 1_500;

/// So many calls are the work of a plan.
const MUCH_WORK: usize = 8;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn a_plan_is_worked_through_where_an_answer_ends_it_and_something_else_is_asked() {
        let step = "Move the store to one file per run, and have the relay read it once. ".repeat(30);
        let work: String = (0..9)
            .map(|nth| format!("assistant: !Bash#c{nth} {{\"command\":\"make {nth}\"}}\ntool#c{nth}: ok\n"))
            .collect();
        let worked = |said: &str| {
            let said = transcript(said);
            let person = |entry: &&Entry| entry.message.role == Role::User;
            let text = |entry: &Entry| entry.message.texts().next().unwrap_or_default().to_owned();
            let texts: Vec<(&Entry, String)> =
                said.entries().iter().filter(person).map(|entry| (entry, text(entry))).collect();
            let persons: Vec<(&Entry, &str)> = texts.iter().map(|(entry, text)| (*entry, &**text)).collect();
            let calls: Vec<u64> = said
                .entries()
                .iter()
                .filter(|entry| entry.message.calls().next().is_some())
                .map(|entry| entry.id.ordinal)
                .collect();
            Worked::new(said.entries(), &persons, &calls).messages.len()
        };
        assert_eq!(
            worked(&format!("\nuser: {step}\n{work}assistant: All is moved.\nuser: commit this\n")),
            1
        );
        // In the works, broken off, or a question about it.
        assert_eq!(worked(&format!("\nuser: {step}\n{work}assistant: All is moved.\n")), 0);
        assert_eq!(worked(&format!("\nuser: {step}\n{work}user: wait\n")), 0);
        assert_eq!(worked(&format!("\nuser: {step}\nassistant: Shall I?\nuser: yes\n{work}")), 0);
    }
}
