//! What a later word corrects: another value of the same, or that something is there which was missing.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeSet, HashMap},
};

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

    /// Returns the place of the last statement that takes up most of what is said at `at` and tells it otherwise.
    pub(crate) fn by(&self, at: usize) -> Option<usize> {
        *self.found.borrow_mut().entry(at).or_insert_with(|| self.find(at))
    }

    fn find(&self, at: usize) -> Option<usize> {
        let one = &self.pool.all()[at];
        let is_models =
            matches!(one.kind, StatementKind::Answer | StatementKind::Prose | StatementKind::Report);
        let lacks = is_models && says(&one.text, &LACKS);
        let told = frame(&one.text);
        if !is_models || !lacks && told.values.is_empty() {
            return None;
        }
        let by_word = self.correcting.get_or_init(|| correcting(self.pool));
        let places = one.words().iter().filter_map(|word| by_word.get(word)).flatten();
        let places: BTreeSet<usize> =
            places.copied().filter(|place| self.pool.all()[*place].message > one.message).collect();
        let corrects = |place: &usize| {
            let later = &self.pool.all()[*place];
            corrects_value(&told.values, one, later) || lacks && self.is_there(one, later)
        };
        places.into_iter().rev().find(corrects)
    }

    /// Returns whether a later word of the model's says that what was missing or broken is there or works.
    fn is_there(&self, one: &Statement, later: &Statement) -> bool {
        let told = |word: u32| if later.words().binary_search(&word).is_ok() { TOLD } else { 0 };
        let is_there =
            later.kind != StatementKind::Result && says(&later.text, &THERE) && !says(&later.text, &LACKS);
        is_there
            && names(&one.text).any(|name| later.text.contains(name))
            && self.pool.news(one, told) <= MOST_NEWS
    }
}

/// Returns the places of what may correct something, by the words in it: what tells of a failure, and what somebody says with a
/// word of being done, or of being otherwise.
fn correcting(pool: &Statements) -> HashMap<u32, Vec<usize>> {
    let mut by_word: HashMap<u32, Vec<usize>> = HashMap::new();
    let may = |one: &Statement| match one.kind {
        StatementKind::Result => one.tells_failure() && one.text.bytes().any(|byte| byte.is_ascii_digit()),
        StatementKind::Person => false,
        kind => kind.is_said() && (says(&one.text, &THERE) || says(&one.text, &OTHERWISE)),
    };
    let newest = pool.all().iter().enumerate().rev().filter(|(_, one)| may(one)).take(MOST);
    for (at, one) in newest {
        one.words().iter().for_each(|word| by_word.entry(*word).or_default().push(at));
    }
    by_word
}

/// Returns whether `later` names a value of what was said, with another value and a word of being otherwise or of failure, and
/// speaks of the same: `the total is 1002, but 957 was paid`.
fn corrects_value(values: &[&str], one: &Statement, later: &Statement) -> bool {
    let is_telling = |value: &&&str| value.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS;
    let mut telling = values.iter().filter(is_telling);
    if !later.tells_failure() && !says(&later.text, &OTHERWISE) {
        return false;
    }
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

/// Whether a text has one of these words or phrases; `words` are in lower case.
fn says(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let is_apart = |at: usize, length: usize| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        !lower[..at].ends_with(is_word) && !lower[at + length..].starts_with(is_word)
    };
    words.iter().any(|word| lower.match_indices(word).any(|(at, _)| is_apart(at, word.len())))
}

/// Returns the names in a text: what stands in backticks, and words that have the marks of a path or of a symbol inside.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '-')));
    let is_name = |word: &&str| {
        let inside = word.trim_matches(['.', ':', '/', '-', '_']);
        inside.contains(['_', '/', '.']) || inside.contains("::")
    };
    quoted
        .chain(words.filter(is_name))
        .map(|name| name.trim_matches(['.', ':']))
        .filter(|name| name.len() >= LEAST_NAME)
}

/// What is said of something that is not there or does not work.
const LACKS: [&str; 20] = [
    "missing",
    "does not exist",
    "doesn't exist",
    "do not exist",
    "don't exist",
    "absent",
    "lacks",
    "not implemented",
    "not there",
    "isn't there",
    "not found",
    "no such",
    "broken",
    "fails",
    "failing",
    "does not work",
    "doesn't work",
    "undefined",
    "not yet",
    "still open",
];

/// What is said of something that is there or works.
const THERE: [&str; 14] = [
    "added",
    "exists",
    "exist",
    "is there",
    "are there",
    "fixed",
    "implemented",
    "works",
    "passes",
    "pass",
    "created",
    "resolved",
    "restored",
    "in place",
];

/// What is said of something that is not as it was said.
const OTHERWISE: [&str; 14] = [
    "but",
    "not",
    "instead",
    "actually",
    "wrong",
    "incorrect",
    "rather",
    "no longer",
    "corrected",
    "now",
    "discrepancy",
    "should be",
    "changed from",
    "down from",
];

/// How much of what was said may be missing in what takes it up, in sixteenths.
const MOST_NEWS: u32 = 9;

/// A word that was told so often is no news.
const TOLD: u32 = 8;

/// So many of the newest are looked at.
const MOST: usize = 2_000;

/// Digits of a value that is not met by chance.
const LEAST_DIGITS: usize = 3;

/// Bytes of the shortest name.
const LEAST_NAME: usize = 4;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn what_corrects_a_value_or_says_that_something_is_there_is_found() {
        let said = transcript(
            r#"
user: Book it.
assistant: The total cost of the booking is $957.
user: Yes.
assistant: !book#c1 {"total":957}
tool#c1!: Error: payment amount does not add up, total price is 1002, but paid 957
assistant: The check `lock_order.rs` is missing in the relay.
user: Then add it.
assistant: I added `lock_order.rs` to the relay.
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
        assert_eq!(by("The check `lock_order.rs` is missing in the relay."), Some(7));
        assert_eq!(by("The queue holds 957 entries."), None);
    }
}
