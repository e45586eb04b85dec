//! Rules about something that a person later gave another value: told without it, the rule would be followed to the wrong end.

use std::collections::HashSet;

use longhaul_extract::{StatementKind, Statements};
use longhaul_transcript::Constraint;

use crate::notes::sentences;

/// The later sentences of persons that name a value, the newest first.
#[derive(Debug)]
pub(super) struct Later<'p> {
    all: Vec<Valued<'p>>,
}

#[derive(Debug)]
struct Valued<'p> {
    message: u64,
    sentence: &'p str,
    words: HashSet<String>,
}

impl<'p> Later<'p> {
    pub(super) fn new(pool: &'p Statements) -> Later<'p> {
        let of_persons =
            pool.all().iter().rev().filter(|one| one.kind == StatementKind::Person).take(MOST * 4);
        let sentences =
            of_persons.flat_map(|one| sentences(&one.text).map(|text| (one.message, text.trim())));
        let valued =
            sentences.filter(|(_, text)| text.len() <= LONGEST && text.split_whitespace().any(is_value));
        let all = valued.take(MOST).map(|(message, sentence)| Valued {
            message: message.into(),
            sentence,
            words: words(sentence).collect(),
        });
        Later { all: all.collect() }
    }

    /// Returns the newest sentence behind `rule` that says of the same what it is to be, and the message that it stands in.
    pub(super) fn on(&self, rule: &Constraint) -> Option<(u64, &'p str)> {
        let subject: Vec<String> = words(subject(&rule.text)?).collect();
        let is_same = |one: &&Valued<'_>| {
            one.message > rule.message
                && subject.iter().all(|word| one.words.contains(word))
                && COPULAS.iter().any(|word| one.sentence.to_lowercase().contains(word))
                && !rule.text.contains(one.sentence)
        };
        let found = self.all.iter().find(is_same).filter(|_| !subject.is_empty())?;
        Some((found.message, found.sentence))
    }
}

/// Returns what a rule is about: what stands before its verb, without what that is in or of.
fn subject(rule: &str) -> Option<&str> {
    let before = COPULAS.iter().filter_map(|word| rule.find(word)).min().map(|at| &rule[..at])?;
    let head = [" in ", " of ", " for ", " on ", " at "].iter().filter_map(|word| before.find(word)).min();
    let head = &before[..head.unwrap_or(before.len())];
    (head.split_whitespace().count() <= MOST_WORDS).then_some(head)
}

/// Returns the words of a sentence that tell what it is about.
fn words(text: &str) -> impl Iterator<Item = String> {
    const EMPTY: [&str; 16] = [
        "this",
        "that",
        "these",
        "those",
        "there",
        "they",
        "what",
        "which",
        "everything",
        "nothing",
        "should",
        "must",
        "with",
        "have",
        "from",
        "also",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() >= SHORTEST_WORD && !EMPTY.contains(&word.as_str()))
}

/// Whether a word is a number, with its unit, or a colour.
fn is_value(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let unit = bare.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let is_number =
        unit.len() < bare.len() && unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    let has_digit = bare.bytes().any(|byte| byte.is_ascii_digit());
    let is_colour =
        matches!(bare.len(), 6 | 8) && has_digit && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number || is_colour
}

/// What stands between what a rule is about and what it is to be.
const COPULAS: [&str; 6] = [" should ", " must ", " is ", " are ", " has to ", " needs to "];

/// Bytes of the longest sentence that is told beside a rule.
const LONGEST: usize = 160;

/// So many of the newest are looked at.
const MOST: usize = 500;

/// Words of the longest subject.
const MOST_WORDS: usize = 4;

/// Letters of the shortest word that tells what a sentence is about.
const SHORTEST_WORD: usize = 4;

#[cfg(test)]
mod tests {
    use longhaul_extract::FactIndex;
    use longhaul_transcript::{Message, Transcript};

    use super::*;

    #[test]
    fn a_later_value_of_the_same_is_found() {
        let later =
            "81a2be is what link text is in the old one. 8abeb7 is what bullet is. The tests are in a2b.rs.";
        let said: Transcript =
            [Message::user("Go."), Message::assistant("Done."), Message::user(later)].into_iter().collect();
        let mut index = FactIndex::new();
        said.entries().iter().for_each(|entry| index.push(entry));
        let later = Later::new(index.statements());
        let on = |text: &str| {
            let rule = Constraint { text: text.into(), message: 0, superseded_by: None };
            later.on(&rule).map(|(_, sentence)| sentence)
        };
        assert_eq!(
            on("link text should be same as accent"),
            Some("81a2be is what link text is in the old one.")
        );
        assert_eq!(on("bullet in markdown should be same as inline code"), Some("8abeb7 is what bullet is."));
        assert_eq!(on("All tests must pass."), None);
        assert_eq!(on("Never touch Cargo.lock."), None);
    }
}
