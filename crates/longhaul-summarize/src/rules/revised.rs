//! What a failure corrects: a tool that refuses a value and names another one. What the model says later of the same number may be of
//! anything, and corrects nothing here.

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
};

use hashbrown::HashMap;
use longhaul_extract::{Statement, StatementKind, Statements, statement_words};

use super::values::frame;

/// Which statements were corrected since.
#[derive(Debug)]
pub(crate) struct Revised<'a> {
    pool: &'a Statements,
    /// The places of what may correct something, by their words.
    correcting: OnceCell<HashMap<u32, Vec<usize>>>,
    /// What was found for a statement: the same one is asked for at every length that a summary is tried at.
    found: RefCell<HashMap<usize, Option<usize>>>,
}

impl<'a> Revised<'a> {
    /// Reads `pool`.
    pub(crate) fn new(pool: &'a Statements) -> Revised<'a> {
        Revised { pool, correcting: OnceCell::new(), found: RefCell::default() }
    }

    /// Returns a reading that knows of nothing: what is said in a meeting is everybody's own.
    pub(crate) fn none(pool: &'a Statements) -> Revised<'a> {
        Revised { pool, correcting: OnceCell::from(HashMap::new()), found: RefCell::default() }
    }

    /// Returns the place of the last failure that names a value of what is said at `at`, and another one.
    pub(crate) fn by(&self, at: usize) -> Option<usize> {
        *self.found.borrow_mut().entry(at).or_insert_with(|| self.find(at))
    }

    fn find(&self, at: usize) -> Option<usize> {
        let one = &self.pool.all()[at];
        let is_models =
            matches!(one.kind, StatementKind::Answer | StatementKind::Prose | StatementKind::Report);
        if !is_models {
            return None;
        }
        let told = frame(&one.text);
        if told.values.is_empty() {
            return None;
        }
        let by_word = self.correcting.get_or_init(|| correcting(self.pool));
        let places = one.words().iter().filter_map(|word| by_word.get(word)).flatten();
        let places: BTreeSet<usize> =
            places.copied().filter(|place| self.pool.all()[*place].message > one.message).collect();
        let corrects = |place: &usize| corrects_value(&told.values, one, &self.pool.all()[*place]);
        places.into_iter().rev().find(corrects)
    }
}

/// Returns the places of what tells of a failure with numbers, by the words in it.
fn correcting(pool: &Statements) -> HashMap<u32, Vec<usize>> {
    let mut by_word: HashMap<u32, Vec<usize>> = HashMap::new();
    let may = |one: &Statement| {
        one.kind == StatementKind::Result
            && one.tells_failure()
            && one.text.bytes().any(|byte| byte.is_ascii_digit())
    };
    let newest = pool.all().iter().enumerate().rev().filter(|(_, one)| may(one)).take(MOST);
    for (at, one) in newest {
        one.words().iter().for_each(|word| by_word.entry(*word).or_default().push(at));
    }
    by_word
}

/// Returns whether `later` names a value of what was said, with another value, and speaks of the same: `the total is 1002, but 957 was paid`.
fn corrects_value(values: &[&str], one: &Statement, later: &Statement) -> bool {
    let is_telling = |value: &&&str| value.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS;
    let mut telling = values.iter().filter(is_telling);
    let again = frame(&later.text);
    let numbers = || again.values.iter().chain(&again.others);
    let is_named = telling.any(|value| numbers().any(|other| other == value));
    let has_another = || again.values.iter().any(|other| !values.contains(other));
    let shared = || {
        let words = statement_words(&frame(&one.text).text);
        words.into_iter().filter(|word| later.words().binary_search(word).is_ok()).count()
    };
    is_named && has_another() && shared() > 0
}

/// So many of the newest are looked at.
const MOST: usize = 500;

/// Digits of a value that is not met by chance.
const LEAST_DIGITS: usize = 3;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn a_value_that_a_tool_refuses_for_another_is_found() {
        let said = transcript(
            r#"
user: Book it.
assistant: The total cost of the booking is $957.
user: Yes.
assistant: !book#c1 {"total":957}
tool#c1!: Error: payment amount does not add up, total price is 1002, but paid 957
assistant: The booking was not 957 but 1002 dollars in total.
user: And the queue?
assistant: The queue holds 957 entries.
"#,
        );
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let pool = index.statements();
        let revised = Revised::new(pool);
        let by = |text: &str| {
            let at = pool.all().iter().position(|one| &*one.text == text).unwrap();
            revised.by(at).map(|by| pool.all()[by].message)
        };
        assert_eq!(by("The total cost of the booking is $957."), Some(4));
        assert_eq!(by("The booking was not 957 but 1002 dollars in total."), None);
        assert_eq!(by("The queue holds 957 entries."), None);
    }
}
