//! What took the place of a fact that a person had told: it stands among their rules and facts, and the data say what holds no more.

use longhaul_transcript::{Constraint, one_line};

use super::{overtaken::Overtaken, persons::is_lasting};

/// Adds to `rules` what took the place of those of them that are `overtaken`, where it is not among them: told alone, what was said
/// before would be taken for what holds.
pub(super) fn add(rules: &mut Vec<Constraint>, overtaken: &Overtaken) {
    let mut newer: Vec<Constraint> = Vec::new();
    let standing = |rule: &&Constraint| rule.superseded_by.is_none() && is_lasting(&rule.text);
    for rule in rules.iter().filter(standing) {
        let Some(by) = overtaken.by(rule.message, &rule.text) else { continue };
        let text = by.text.trim();
        let is_it = |known: &Constraint| {
            known.message == by.message && (known.text.contains(text) || text.contains(known.text.trim()))
        };
        if !rules.iter().chain(&newer).any(is_it) {
            newer.push(Constraint { text: text.to_owned(), message: by.message, ..Constraint::default() });
        }
    }
    rules.append(&mut newer);
    rules.sort_by_key(|rule| rule.message);
}

/// Notes in the data which of the `rules` are `overtaken`, and by what.
pub(super) fn mark(rules: &mut [Constraint], overtaken: &Overtaken) {
    for rule in rules.iter_mut().filter(|rule| rule.superseded_by.is_none()) {
        rule.superseded_by = overtaken.by(rule.message, &rule.text).map(|by| by.message);
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
