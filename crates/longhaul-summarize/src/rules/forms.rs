//! Statements that differ only in their numbers: the rows of a table, the lines of a log.

use std::cmp::Reverse;

use hashbrown::HashMap;
use longhaul_extract::{Statement, StatementKind, Statements, statement_form};

/// What each statement is without its numbers.
#[derive(Debug)]
pub(crate) struct Forms {
    /// For each statement a hash of that; `None` where numbers are what it is there for, or it has none.
    of: Vec<Option<u32>>,
    /// The forms of so many statements that most of them are never looked at, with how many there are.
    crowded: HashMap<u32, usize>,
}

impl Forms {
    pub(crate) fn new(pool: &Statements) -> Forms {
        let of: Vec<Option<u32>> = pool.all().iter().map(|one| statement_form(&one.text)).collect();
        let mut crowded = HashMap::new();
        of.iter().flatten().for_each(|form| *crowded.entry(*form).or_insert(0) += 1);
        crowded.retain(|_, count| *count > MOST_CANDIDATES);
        Forms { of, crowded }
    }

    /// Returns the form of the statement at this place.
    pub(crate) fn of(&self, at: usize) -> Option<u32> {
        self.of[at]
    }

    /// Returns the places that may get in with what each may be `worth`: of a crowded form those that are worth most, and of
    /// these that are worth the same the first.
    pub(crate) fn candidates(&self, worth: impl Fn(usize) -> i32) -> Vec<(i32, Reverse<usize>)> {
        let mut crowds: HashMap<u32, Vec<(i32, Reverse<usize>)>> = HashMap::new();
        let mut candidates = Vec::with_capacity(self.of.len());
        for (at, form) in self.of.iter().enumerate() {
            match form.filter(|form| self.crowded.contains_key(form)) {
                Some(form) => crowds.entry(form).or_default().push((worth(at), Reverse(at))),
                None => candidates.push((worth(at), Reverse(at))),
            }
        }
        for mut crowd in crowds.into_values() {
            crowd.select_nth_unstable_by(MOST_CANDIDATES, |one, other| other.cmp(one));
            crowd.truncate(MOST_CANDIDATES);
            candidates.extend(crowd);
        }
        candidates
    }
}

/// What was told of each form.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    told: HashMap<u32, u32>,
    /// The messages in which the model said one that only counts.
    said_in: HashMap<u32, Vec<u32>>,
}

impl Alike {
    /// Returns whether so much of a form was told that `statement`, which is of it, says nothing new: "Step 12 is done" after as many
    /// others. The rows of one table stand in one message.
    pub(crate) fn is_enough(&self, form: u32, statement: &Statement) -> bool {
        let said_in = || self.said_in.get(&form).map_or(&[][..], Vec::as_slice);
        self.told.get(&form).is_some_and(|told| *told >= most_alike(statement))
            || said_in().len() >= MOST_SAID_ALIKE
                && !said_in().contains(&statement.message)
                && only_counts(statement)
    }

    pub(crate) fn add(&mut self, form: u32, statement: &Statement) {
        *self.told.entry(form).or_insert(0) += 1;
        if only_counts(statement) {
            let messages = self.said_in.entry(form).or_default();
            if !messages.contains(&statement.message) {
                messages.push(statement.message);
            }
        }
    }
}

/// Returns whether this is the model's, with one number in it that only counts: names with digits and pairs of numbers tell something.
fn only_counts(statement: &Statement) -> bool {
    let mut numbers =
        statement.text.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    let is_bare = |word: &str| {
        word.trim_matches(|c: char| c.is_ascii_punctuation()).bytes().all(|c| c.is_ascii_digit())
    };
    matches!(statement.kind, StatementKind::Answer | StatementKind::Prose)
        && numbers.next().is_some_and(is_bare)
        && numbers.next().is_none()
}

/// In so many messages of the model's lines are told that differ only in their numbers.
const MOST_SAID_ALIKE: usize = 3;

/// Returns how many lines like `statement` are told that differ only in their numbers: whoever needs more of them looks them up. Of
/// a log, which is longer than any table that one reads, only a few.
fn most_alike(statement: &Statement) -> u32 {
    if statement.kind == StatementKind::Person && statement.text.trim_end().ends_with(['?', '？']) {
        return MOST_ASKED;
    }
    let is_log =
        statement.crowd() >= LOG && matches!(statement.kind, StatementKind::Result | StatementKind::Pasted);
    if is_log { MOST_OF_LOG } else { MOST_ALIKE }
}

/// A question that is asked again of one thing after the other says no more.
const MOST_ASKED: u32 = 2;

const MOST_ALIKE: u32 = 40;
const MOST_OF_LOG: u32 = 8;

/// A message of so many statements is a log.
const LOG: usize = 300;

/// Of so many those are chosen.
const MOST_CANDIDATES: usize = 5 * MOST_ALIKE as usize;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn of_a_crowd_those_stay_that_are_worth_most() {
        let rows: String = (0..500).map(|nth| format!("sensor {nth} reads {} degrees\n", nth * 7)).collect();
        let text = format!("The sensors:\n\n{rows}\nAll of them work.");
        let said: Transcript = [Message::user("go"), Message::assistant(text)].into_iter().collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let forms = Forms::new(pool);
        let is_row = |at: usize| pool.all()[at].text.starts_with("sensor ");
        let places = |worth: &dyn Fn(usize) -> i32| -> Vec<usize> {
            let mut all: Vec<usize> = forms.candidates(worth).into_iter().map(|(_, at)| at.0).collect();
            all.sort_unstable();
            all
        };
        let rows: Vec<usize> = (0..pool.all().len()).filter(|at| is_row(*at)).collect();
        let others = pool.all().len() - rows.len();
        assert!(rows.len() == 500 && others > 0, "{others}");
        let first = places(&|_| 0);
        assert_eq!(first.len(), others + MOST_CANDIDATES);
        assert!(first.contains(&rows[0]) && !first.contains(&rows[499]));
        let last = places(&|at| at as i32);
        assert!(!last.contains(&rows[0]) && last.contains(&rows[499]));
    }
}
