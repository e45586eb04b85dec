//! What took the place of a fact that a person had told: it stands among their rules and facts, and the data say what holds no more.

use hashbrown::HashSet;
use longhaul_extract::stated;
use longhaul_transcript::{Constraint, Entry, one_line};

use super::{overtaken::Overtaken, persons::is_lasting, questions::is_question};
use crate::sentences::sentences;

/// Adds to `rules` what `persons` said in the place of those of them that are `overtaken`, where it is not among them: told alone, what
/// was said before would be taken for what holds.
pub(super) fn add(rules: &mut Vec<Constraint>, overtaken: &Overtaken, persons: &[(&Entry, &str)]) {
    let mut newer: Vec<Constraint> = Vec::new();
    let standing = |rule: &&Constraint| rule.superseded_by.is_none() && is_lasting(&rule.text);
    for rule in rules.iter().filter(standing) {
        let Some(by) = overtaken.by(rule.message, &rule.text) else { continue };
        let Ok(at) = persons.binary_search_by_key(&by, |(entry, _)| entry.id.ordinal) else { continue };
        let Some(text) = in_its_place(&rule.text, persons[at].1) else { continue };
        let is_it = |known: &Constraint| {
            known.message == by && (known.text.contains(text) || text.contains(known.text.trim()))
        };
        if !rules.iter().chain(&newer).any(is_it) {
            newer.push(Constraint { text: text.to_owned(), message: by, ..Constraint::default() });
        }
    }
    rules.append(&mut newer);
    rules.sort_by_key(|rule| rule.message);
}

/// Notes in the data which of the `rules` are `overtaken`, and by what.
pub(super) fn mark(rules: &mut [Constraint], overtaken: &Overtaken) {
    for rule in rules.iter_mut().filter(|rule| rule.superseded_by.is_none()) {
        rule.superseded_by = overtaken.by(rule.message, &rule.text);
    }
}

/// Returns what stands behind the words that are `told` of a message, where a rule among them was taken back.
pub(super) fn note(rules: &[Constraint], message: u64, told: &str) -> String {
    let is_in = |rule: &&Constraint| rule.message == message && told.contains(&*one_line(rule.text.trim()));
    let gone = rules.iter().filter(|rule| rule.superseded_by.is_some()).filter(is_in);
    let newest = gone.max_by_key(|rule| rule.superseded_by);
    let is_all = |rule: &Constraint| one_line(rule.text.trim()) == told.trim();
    match newest.and_then(|rule| Some((rule, rule.superseded_by?))) {
        Some((rule, by)) if is_all(rule) => format!(" (taken back in m{by})"),
        Some((_, by)) => format!(" (later on this: m{by})"),
        None => String::new(),
    }
}

/// Returns the sentence of `said` that says of the same thing what it is now, or else the one that has most words of what was said `before`.
fn in_its_place<'t>(before: &str, said: &'t str) -> Option<&'t str> {
    let asks = |sentence: &str| sentence.ends_with(['?', '？']) || is_question(sentence);
    let all = || said.lines().flat_map(sentences).map(str::trim).filter(|sentence| !asks(sentence));
    let was = stated(before);
    let is_of_it = |now: &&str| {
        let (was, now) = (was.as_ref(), stated(now));
        was.zip(now).is_some_and(|(was, now)| was.subject == now.subject)
    };
    let words: HashSet<String> = words(before).collect();
    let shared = |sentence: &str| self::words(sentence).filter(|word| words.contains(word)).count();
    all()
        .find(is_of_it)
        .or_else(|| all().filter(|sentence| shared(sentence) > 0).max_by_key(|sentence| shared(sentence)))
}

/// Returns the words of a sentence that say what it is about.
fn words(sentence: &str) -> impl Iterator<Item = String> {
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= LEAST_LETTERS);
    words.map(str::to_lowercase)
}

/// Shorter words stand in any sentence.
const LEAST_LETTERS: usize = 4;

#[cfg(test)]
mod tests {
    use super::in_its_place;

    #[test]
    fn what_stands_in_the_place_of_a_fact_is_found_in_what_was_said() {
        for (before, said, told) in [
            (
                "Our port is 8080.",
                "Thanks, that works. Our port is 9090 now. Go on!",
                Some("Our port is 9090 now."),
            ),
            (
                "Tests go under tests/unit.",
                "Why is the build red? Tests go under tests/fast from now on.",
                Some("Tests go under tests/fast from now on."),
            ),
            ("Our port is 8080.", "What is the port?", None),
        ] {
            assert_eq!(in_its_place(before, said), told, "{said}");
        }
    }
}
