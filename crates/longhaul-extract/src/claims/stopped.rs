//! What is not done any more ("stop answering in German", "no need to run make lint any more"), and what is dropped or kept.

use super::{
    clause::{Clause, clauses, telling},
    words::{BINDING, DROPPING, FILLING, KEEPING, ORDERS, PERSONS, STOPPING, is_among},
};

/// Returns the words of what a sentence says is not to be done any more.
pub(super) fn stopped(sentence: &str) -> Option<Vec<String>> {
    let padded = super::clause::padded(sentence);
    let at = STOPPING.iter().find_map(|words| {
        let at = padded.find(words)?;
        // "The tests stop running" tells.
        let opens = padded[..at].split(' ').filter(|word| !word.is_empty()).count() <= MOST_BEFORE;
        opens.then_some(at + words.len())
    })?;
    let behind = &padded[at..];
    let (first, _) = behind.split_once(' ')?;
    let is_stop = padded[..at].ends_with(" stop ");
    if is_stop && !(first.ends_with("ing") && first.len() > 4) {
        return None;
    }
    let words = clauses(behind).into_iter().next()?.words;
    let stems: Vec<String> = telling(&words).map(str::to_owned).collect();
    (!stems.is_empty()).then_some(stems)
}

/// Returns whether a clause demands what is not to be done any more.
pub(super) fn is_stopped(was: &Clause, words: &[String]) -> bool {
    let demands = was.words.first().is_some_and(|first| ORDERS.contains(&&*first.text))
        || was.words.first().is_some_and(|first| first.text == "we")
        || was.words.iter().any(|word| BINDING.contains(&&*word.text));
    let stems: Vec<&str> = was.telling().collect();
    let has_all = words.iter().all(|word| stems.contains(&&**word));
    demands && !was.denies() && has_all && (words.len() > 1 || stems.len() <= 2)
}

/// Whether something is to be there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Dropped,
    Kept,
}

/// Returns whether a clause drops or keeps something, and what.
pub(super) fn side(clause: &Clause) -> Option<(Side, Vec<String>)> {
    let at = usize::from(clause.words.first().is_some_and(|first| PERSONS.contains(&&*first.text)));
    let verb = clause.words.get(at)?;
    let side = match &*verb.text {
        word if DROPPING.contains(&word) => Side::Dropped,
        word if KEEPING.contains(&word) => Side::Kept,
        _ => return None,
    };
    let mut what: Vec<String> = telling(clause.from(at + 1))
        .filter(|word| !is_among(FILLING, &format!(" {word} ")))
        .map(str::to_owned)
        .collect();
    what.sort_unstable();
    (!what.is_empty() && !clause.denies()).then_some((side, what))
}

/// So many words may stand before those of stopping.
const MOST_BEFORE: usize = 3;
