//! Steps that a person had undone: what was said of them at their end is not how things stand.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_transcript::Entry;

use super::{
    acts::Acts,
    asks::asks_something,
    few::{FewOf, sent},
};
use crate::SummaryRequest;

/// The steps that were undone, each from the message that asked for it to the one that took it back.
#[derive(Debug, Default)]
pub(crate) struct Undone {
    /// The message that took each back, by the one that had asked for it.
    steps: BTreeMap<u64, u64>,
    /// Those of the messages that ask for the same again.
    again: BTreeSet<u64>,
}

impl Undone {
    /// Reads what persons take back of what calls changed.
    pub(super) fn read(request: &SummaryRequest<'_>, acts: &Acts, few: FewOf<'_>) -> Undone {
        let speakers = request.index.speakers();
        let edits = acts.files.iter().flat_map(|file| &file.trail).map(|edit| edit.message);
        let mut edits: Vec<u64> = edits.collect();
        edits.sort_unstable();
        let changes = |from: u64, to: u64| {
            let at = edits.partition_point(|edit| *edit < from);
            edits.get(at).is_some_and(|edit| *edit < to)
        };
        let mut undone = Undone::default();
        let mut asked: Option<&Entry> = None;
        let tail = request.tail_beside_entries().iter();
        let behind = tail.filter_map(|entry| Some((entry, sent(entry, speakers)?)));
        let asking_behind = behind.filter(|(_, text)| asks_something(text));
        for (entry, text) in few.asking.iter().copied().chain(asking_behind) {
            let step = asked.map(|asked| (asked.id.ordinal, entry.id.ordinal));
            if let Some((from, to)) = step.filter(|(from, to)| changes(*from, *to) && takes_back(text)) {
                undone.steps.insert(from, to);
                undone.again.extend(asks_again(text).then_some(to));
            }
            asked = Some(entry);
        }
        undone
    }

    /// Returns the message that took back the step which `message` asked for or is part of.
    pub(crate) fn by(&self, message: u64) -> Option<u64> {
        let (_, to) = self.steps.range(..=message).next_back()?;
        (message < *to).then_some(*to)
    }

    /// Returns whether the message that took a step back asks for it again: what was asked, and how, still holds.
    pub(crate) fn is_asked_again(&self, by: u64) -> bool {
        self.again.contains(&by)
    }

    /// Returns the message that asked for the step which this one took back.
    pub(crate) fn taken_back_by(&self, message: u64) -> Option<u64> {
        self.steps.iter().find(|(_, to)| **to == message).map(|(from, _)| *from)
    }
}

/// Whether somebody takes back the whole of the last step: in one of the first sentences, and not in a question of what was done.
fn takes_back(text: &str) -> bool {
    let opening = &text[..text.floor_char_boundary(OPENING)];
    let lower = opening.to_lowercase().replace('’', "'");
    let mut sentences = lower.split_inclusive(ENDS);
    sentences.any(|sentence| {
        let sentence = sentence.trim();
        let asks = sentence.ends_with(['?', '？']) && !WISHES.iter().any(|words| sentence.contains(words));
        let is_limited = LIMITS.iter().any(|words| sentence.contains(words));
        let says = TAKES_BACK.iter().any(|words| takes_all_back(sentence, words))
            || IN_OTHER_LANGUAGES.iter().any(|words| sentence.contains(words));
        !asks && !is_limited && says
    })
}

/// Whether somebody who takes a step back wants it done once more.
fn asks_again(text: &str) -> bool {
    let opening = text[..text.floor_char_boundary(OPENING)].to_lowercase().replace('’', "'");
    let has = |clause: &str, words: &[&str]| words.iter().any(|words| clause.contains(words));
    // A clause that ends in a blank: a negation may be its last word.
    let wants = |clause: &str| has(clause, &AGAIN) && !has(&format!("{clause} "), &NEGATIONS);
    opening.split(ENDS).flat_map(|sentence| sentence.split([',', ';'])).any(wants)
}

/// How a step is asked for once more.
const AGAIN: [&str; 9] = [
    "try again", "try it again", "do it again", "once more", "start over", "from scratch", "redo it",
    "noch einmal", "nochmal",
];

/// What stands in a clause that does not want it.
const NEGATIONS: [&str; 7] = ["n't ", "not ", "never ", "no need", "without ", "nicht ", "nie "];

/// Where sentences end.
const ENDS: [char; 7] = ['.', '!', '?', '\n', '。', '！', '？'];

/// Whether a sentence has these words, and goes on as one that means all of the step: "undo that, please", not "undo that rename".
fn takes_all_back(sentence: &str, words: &str) -> bool {
    sentence.match_indices(words).any(|(at, _)| {
        let rest = &sentence[at + words.len()..];
        let mut next = rest.split(|c: char| !c.is_alphanumeric()).skip(1).take(1);
        match rest.chars().next() {
            Some(' ') => next.all(|word| word.is_empty() || WHOLE.contains(&word)),
            Some(c) => !c.is_alphanumeric(),
            None => true,
        }
    })
}

/// Bytes in which somebody says that a step is to be undone, or has been.
const OPENING: usize = 240;

/// What stands in a question that is a wish.
const WISHES: [&str; 8] =
    ["can you", "could you", "would you", "will you", "can we", "please", "kannst du", "könntest du"];

/// What stands in a sentence that takes nothing back, or not all.
const LIMITS: [&str; 15] = [
    "don't", "do not", "never ", "not to ", "without ", "if ", "nicht ", "why ", "how do", "how did",
    "did you ", "except", "but keep", "but leave", "only ",
];

/// What may follow where all of the step is meant.
const WHOLE: [&str; 29] = [
    "please", "pls", "again", "now", "and", "then", "change", "changes", "commit", "commits", "edit",
    "edits", "step", "work", "attempt", "completely", "entirely", "all", "everything", "that", "this", "it",
    "so", "as", "because", "since", "i", "too", "first",
];

/// How people take back the step before.
const TAKES_BACK: [&str; 29] = [
    "undo that", "undo this", "undo it", "undo the last", "undo your", "undo all", "undo those",
    "undo these", "i undid", "i've undone", "undid your", "revert that", "revert this", "revert it",
    "revert the last", "revert your", "revert those", "revert these", "i reverted", "roll that back",
    "roll it back", "roll this back", "rolled it back", "rolled that back", "take that back", "put it back",
    "put that back", "back to how it was", "back to what it was",
];

/// The same in other languages, with what is taken back.
const IN_OTHER_LANGUAGES: [&str; 27] = [
    "das rückgängig",
    "das bitte rückgängig",
    "das wieder rückgängig",
    "es rückgängig",
    "alles rückgängig",
    "änderungen rückgängig",
    "nimm das zurück",
    "deshazlo",
    "deshaz eso",
    "deshaz esto",
    "deshaz todo",
    "deshacer eso",
    "revierte eso",
    "revierte esto",
    "reviértelo",
    "annule ça",
    "annule cela",
    "annule tout",
    "desfaz isso",
    "desfaça isso",
    "撤销刚才",
    "撤销这",
    "撤销上一",
    "撤销你",
    "元に戻して",
    "откати это",
    "верни как было",
];

#[cfg(test)]
mod tests {
    use super::takes_back;

    #[test]
    fn taking_back_is_told_from_talking_of_it() {
        for text in [
            "yeah you can undo that, it was the log that did it",
            "This is wrong. I undid your changes, try again.",
            "please revert the last commit",
            "can you undo that?",
            "I reverted it, the margin was better before",
            "Mach das bitte rückgängig.",
        ] {
            assert!(takes_back(text), "{text}");
        }
        for text in [
            "add an undo button",
            "How does it undo that?",
            "don't undo that",
            "make sure nobody can revert it without asking",
            "The relay rolls back when the lock is lost.",
            "Did you revert it?",
            "Why did you undo that?",
            "undo that rename, the rest is fine",
            "Undo that, but keep the test.",
            "I reverted the config on the server, try now",
            "put it back in the list",
            "Mach die Umbenennung rückgängig.",
        ] {
            assert!(!takes_back(text), "{text}");
        }
    }
}
