//! The sentence with which the model answers or concludes: told before what is listed beside it, which says little without it.

use hashbrown::HashMap;
use longhaul_extract::{Domain, Statement, StatementKind, Statements};

use super::lists::concludes;

/// For each message that ends a turn the place of the sentence that answers, where one is known by how it begins.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    of: HashMap<u32, usize>,
}

impl Answers {
    pub(crate) fn new(pool: &Statements, domain: Domain) -> Answers {
        if domain != Domain::Coding {
            return Answers::default();
        }
        let mut of = HashMap::new();
        for (at, one) in pool.all().iter().enumerate() {
            let is_sentence = !one.is_item() && !one.is_fenced() && !one.text.starts_with('|');
            if one.kind != StatementKind::Answer || !is_sentence {
                continue;
            }
            // What is concluded in the end says more than how the message begins.
            if settles(&one.text) || opens_with_answer(one) {
                of.insert(one.message, at);
            }
        }
        Answers { of }
    }

    /// Returns the place of the sentence with which `message` answers.
    pub(crate) fn of(&self, message: u32) -> Option<usize> {
        self.of.get(&message).copied()
    }
}

/// Whether a sentence says what all the others come to.
fn settles(text: &str) -> bool {
    const BEGIN: [&str; 18] = [
        "so yes",
        "so no,",
        "so to answer",
        "to answer your question",
        "so the answer",
        "the answer is",
        "so the practical answer",
        "the short answer",
        "my recommendation",
        "i recommend ",
        "i'd recommend ",
        "i would recommend ",
        "in short,",
        "in conclusion",
        "the bottom line",
        "the root cause is",
        "the bug is",
        "the problem is",
    ];
    let bare = bare(text);
    concludes(text) || BEGIN.iter().any(|begin| bare.starts_with(begin))
}

/// Whether a message begins with a yes or a no that says more.
fn opens_with_answer(statement: &Statement) -> bool {
    const BEGIN: [&str; 6] = ["yes", "no", "not", "correct", "exactly", "unfortunately"];
    let bare = bare(&statement.text);
    let mut words = bare.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let begins = words.next().is_some_and(|word| BEGIN.contains(&word));
    statement.nth() == 0 && begins && words.nth(LEAST_BEHIND - 1).is_some()
}

/// Words that stand behind a yes that says something.
const LEAST_BEHIND: usize = 3;

/// Returns a text in small letters without the marks that it begins with.
pub(super) fn bare(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    lower.trim_start_matches(|c: char| !c.is_alphabetic()).to_owned()
}

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn the_sentence_that_answers_is_known() {
        let answers = [
            ("No, not in the table.\n\nIt has two racks:\n\n- red\n- blue\n", "No, not in the table."),
            ("Good.\n\n- a list\n\n**So yes, the relay would wait.**\n", "**So yes, the relay would wait.**"),
            (
                "Yes, both of them do.\n\n**The bug:** The lock is taken twice.\n\nIt is old.",
                "**The bug:** The lock is taken twice.",
            ),
        ];
        for (said, answer) in answers {
            let said: Transcript =
                [Message::user("Does it wait?"), Message::assistant(said)].into_iter().collect();
            let mut index = FactIndex::new();
            said.entries().iter().for_each(|entry| index.push(entry));
            let pool = index.statements();
            let at = Answers::new(pool, Domain::Coding).of(1);
            assert_eq!(at.map(|at| &*pool.all()[at].text), Some(answer));
        }
    }
}
