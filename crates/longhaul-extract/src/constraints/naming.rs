//! Which one of a kind a sentence is of: two sentences may have all words in common but the name that tells one thing from the other.

use std::collections::{BTreeMap, BTreeSet};

use super::{markers::is_function_word, telling::stem};

/// Returns whether two sentences name different things in the same place: "the orders folder" and "the users folder", "the rollout in Leeds"
/// and "the rollout in Porto". What is said of a thing may differ, as its value does: "the limit is 40" and "the limit is 60".
pub fn are_of_two(one: &str, other: &str) -> bool {
    Naming::of(one).is_of_another(&Naming::of(other))
}

/// What a sentence names.
#[derive(Clone, Debug)]
pub(crate) struct Naming {
    which: Which,
    names: Vec<Name>,
}

/// For each kind of thing that a sentence names, which ones of it.
type Which = BTreeMap<String, BTreeSet<String>>;

impl Naming {
    pub(crate) fn of(sentence: &str) -> Naming {
        Naming { which: which(sentence), names: names(sentence) }
    }

    /// Returns whether the two name things of a kind, and none that is the same.
    pub(crate) fn is_of_another(&self, other: &Naming) -> bool {
        let mut kinds = self.which.iter().filter_map(|(kind, one)| Some((one, other.which.get(kind)?)));
        if kinds.any(|(one, other)| one.is_disjoint(other)) {
            return true;
        }
        let has = |all: &[Name], name: &Name| all.iter().any(|one| one.word == name.word);
        let mine = self.names.iter().filter(|name| !has(&other.names, name));
        let theirs: Vec<&Name> = other.names.iter().filter(|name| !has(&self.names, name)).collect();
        mine.into_iter().any(|one| theirs.iter().any(|other| one.stands_where(other)))
    }
}

/// Returns for each thing that a sentence names with a word before it which one it is: "the orders folder", "in the staging report". A
/// word behind another than an article or the like may be a verb, and tells nothing.
fn which(sentence: &str) -> Which {
    let mut all = Which::new();
    let mut before: [&str; 2] = ["", ""];
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let [article, one] = before;
        let names = |word: &str| word.chars().nth(2).is_some() && !is_function_word(word);
        if ARTICLES.contains(&&*article.to_lowercase()) && names(one) && names(bare) {
            all.entry(stem(&bare.to_lowercase()).to_owned())
                .or_default()
                .insert(stem(&one.to_lowercase()).to_owned());
        }
        before = if word.ends_with(|c: char| !c.is_alphanumeric()) { ["", ""] } else { [one, bare] };
    }
    all
}

/// A name in a sentence, with the words around it.
#[derive(Clone, Debug)]
struct Name {
    word: String,
    is_number: bool,
    before: String,
    /// What follows in the same clause; empty where nothing does.
    after: String,
}

impl Name {
    /// Returns whether another sentence has a name of its own in the same place: behind what says of what it is, or between the same words.
    fn stands_where(&self, other: &Name) -> bool {
        let is_same_kind = self.is_number == other.is_number && self.before == other.before;
        let is_place = OF_WHAT.contains(&&*self.before);
        let is_between = !self.after.is_empty() && self.after == other.after;
        is_same_kind && (is_place || is_between && !BEFORE_VALUES.contains(&&*self.before))
    }
}

/// Returns the names in a sentence but for the one that it begins with, which may be any word: in capitals, with a digit or a mark inside, or a
/// number that stands behind what it numbers ("part 3").
fn names(sentence: &str) -> Vec<Name> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_owned();
    let ends_clause = |word: &str| word.ends_with([',', ';', ':', '.', '!', '?']);
    let lower = |word: Option<&&str>| word.map(|word| bare(word).to_lowercase()).unwrap_or_default();
    let mut names = Vec::new();
    for at in 1..words.len() {
        let word = bare(words[at]);
        let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
        let begins = words[at - 1].ends_with(['.', '!', '?', ':']);
        let lowered = word.to_lowercase();
        let is_capital = word.starts_with(char::is_uppercase)
            && word.chars().nth(1).is_some()
            && !begins
            && !DATES.contains(&&*lowered);
        let has_mark = word.trim_matches('/').contains(['_', '/', '.'])
            || word.contains(char::is_alphabetic) && word.contains(|c: char| c.is_ascii_digit());
        let before = lower(words[..at].last());
        let numbers = || before.chars().count() >= LEAST_NUMBERED && !BEFORE_VALUES.contains(&&*before);
        if is_number && numbers() || !is_number && (is_capital || has_mark) {
            let after = words.get(at + 1).filter(|_| !ends_clause(words[at]));
            let after = lower(after);
            names.push(Name { word: lowered, is_number, before, after });
        }
    }
    names
}

/// What is numbered has so many letters: "part 3", "step 4".
const LEAST_NUMBERED: usize = 4;

/// What stands before a word that tells which one is meant.
const ARTICLES: [&str; 17] = [
    "the", "a", "an", "our", "my", "your", "its", "their", "that", "this", "in", "on", "to", "of", "from",
    "for", "about",
];

/// What stands before the name of what a sentence is of.
const OF_WHAT: [&str; 4] = ["in", "of", "for", "inside"];

/// What stands before a value, which is another when somebody changes their mind.
const BEFORE_VALUES: [&str; 44] = [
    "to", "is", "are", "be", "was", "were", "at", "on", "by", "with", "from", "than", "until", "till",
    "after", "before", "use", "uses", "using", "used", "run", "runs", "set", "sets", "keep", "keeps", "pin",
    "pins", "take", "takes", "need", "needs", "want", "wants", "make", "makes", "call", "calls", "expect",
    "expects", "allow", "allows", "stays", "becomes",
];

/// When something is, is a value of it.
const DATES: [&str; 19] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];

#[cfg(test)]
mod tests {
    use super::are_of_two;

    #[test]
    fn a_name_tells_two_things_apart_and_a_value_does_not() {
        for (one, other) in [
            ("The rollout in Leeds waits for the audit.", "The rollout in Porto waits for the audit."),
            ("The Leeds rollout waits for the audit.", "The Porto rollout waits for the audit."),
            ("The limit for tenant_a is 40 requests.", "The limit for tenant_b is 60 requests."),
            ("Part 3 of the import waits.", "Part 4 of the import waits."),
            ("Please review part 3 of the import.", "Please review part 4 of the import."),
            (
                "Never rename the column total_3 in the ledger.",
                "You may rename the column total_5 in the ledger.",
            ),
            ("The owner of src/gift/card.rs is Mara.", "The owner of src/gift/list.rs is Tom."),
            ("Never touch the orders folder.", "You may touch the users folder."),
        ] {
            assert!(are_of_two(one, other) && are_of_two(other, one), "{one} / {other}");
        }
        for (one, other) in [
            ("The rollout in Leeds waits for the audit.", "The rollout in Leeds begins on Friday."),
            ("The limit is 40 requests per minute.", "The limit is 60 requests per minute."),
            ("We deploy to Frankfurt on Mondays.", "We deploy to Dublin on Mondays."),
            ("We use python3.11 in the pipeline.", "We use python3.12 in the pipeline."),
            ("The launch is on Tuesday.", "The launch is on Friday."),
            ("The audit is in June.", "The audit is in July."),
            ("Never push to main.", "You may push to main now."),
        ] {
            assert!(!are_of_two(one, other), "{one} / {other}");
        }
    }
}
