//! What a person says again of what a rule of theirs is about: the rule stands, and where it was spoken of later stands with it.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use longhaul_extract::are_of_two;

use crate::sentences::sentences;

/// Where persons say two words one after the other.
#[derive(Debug, Default)]
pub(super) struct Again<'t> {
    /// By the message, the sentences of it that do.
    said: HashMap<(String, String), BTreeMap<u64, Vec<&'t str>>>,
}

impl<'t> Again<'t> {
    /// Reads what persons said in the messages with these ordinals, the newest first.
    pub(super) fn new(newest: impl Iterator<Item = (u64, &'t str)>) -> Again<'t> {
        let mut again = Again::default();
        for (message, text) in newest.take(MOST_READ) {
            let start = &text[..text.floor_char_boundary(MOST_BYTES)];
            for sentence in start.lines().flat_map(sentences) {
                for pair in pairs(sentence) {
                    again.said.entry(pair).or_default().entry(message).or_default().push(sentence);
                }
            }
        }
        again
    }

    /// Returns the last message that says again two words in a row of what is said in `message`, where hardly any other does: what
    /// all of a talk is about stands in many of them. What is said in the same words of something else is no more of it.
    pub(super) fn after(&self, message: u64, text: &str) -> Option<u64> {
        let rare = pairs(text).filter_map(|pair| self.said.get(&pair)).filter(|said| said.len() <= MOST_SAID);
        let is_of_it = |said: &&str| !are_of_two(text, said);
        let last = |said: &BTreeMap<u64, Vec<&str>>| {
            let mut later = said.range(message + 1..).rev();
            later.find(|(_, sentences)| sentences.iter().any(&is_of_it)).map(|(at, _)| *at)
        };
        rare.filter_map(last).max()
    }
}

/// Returns the telling words of `text` that stand one after the other with a blank between: those inside of a name or a path do not.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut before: Option<String> = None;
    text.split_whitespace().filter_map(move |word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let tells = bare.chars().count() >= LEAST_LETTERS && bare.chars().all(char::is_alphabetic);
        let telling = tells.then(|| bare.to_lowercase()).filter(|word| !EMPTY.contains(&word.as_str()));
        // A mark behind a word ends what goes together.
        let ends = word.ends_with(|c: char| !c.is_alphanumeric());
        let first = std::mem::replace(&mut before, telling.clone().filter(|_| !ends));
        first.zip(telling)
    })
}

/// So many of the newest messages are read.
const MOST_READ: usize = 200;

/// So many bytes of each.
const MOST_BYTES: usize = 2_000;

/// Words that stand together in more messages are what the talk is about.
const MOST_SAID: usize = 3;

/// Letters of a telling word.
const LEAST_LETTERS: usize = 4;

/// Words that tell nothing of what a sentence is about.
const EMPTY: [&str; 68] = [
    "about", "after", "again", "also", "always", "anything", "back", "because", "been", "before", "change",
    "changes", "could", "does", "each", "every", "everything", "file", "files", "first", "from", "good",
    "have", "here", "into", "just", "know", "last", "like", "look", "make", "more", "most", "must", "need",
    "never", "next", "nothing", "only", "other", "over", "please", "right", "same", "should", "some",
    "something", "still", "sure", "than", "that", "them", "then", "there", "they", "thing", "things", "this",
    "time", "under", "used", "want", "were", "what", "when", "will", "with", "would",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_in_other_messages_is_known_by_two_words_in_a_row() {
        let said = [
            (9, "Now the dark theme again, and src/gift/card.rs"),
            (7, "Could you please use Gift Card 6276644, and then the other?"),
            (5, "The dark theme is fine."),
            (3, "I want to use the gift card with the smallest balance, in the dark theme."),
            (1, "A dark theme, please."),
        ];
        let again = Again::new(said.into_iter());
        assert_eq!(again.after(3, said[3].1), Some(7));
        assert_eq!(again.after(7, said[1].1), None, "nothing is said later");
        assert_eq!(again.after(1, said[4].1), None, "all of it is about that");
    }

    #[test]
    fn what_is_said_in_the_same_words_of_something_else_is_not_said_again() {
        let leeds = "The Leeds rollout waits for the second audit.";
        let said = [
            (9, "The Leeds rollout waits for nobody any more, the second audit is done."),
            (5, "Good. The Porto rollout waits for the second audit."),
            (3, leeds),
        ];
        assert_eq!(Again::new(said.into_iter()).after(3, leeds), Some(9));
        assert_eq!(Again::new(said[1..].iter().copied()).after(3, leeds), None);
        let limit = "The upload limit for guests is 40 requests.";
        let said = [(7, "The upload limit for guests is 60 requests."), (3, limit)];
        assert_eq!(Again::new(said.into_iter()).after(3, limit), Some(7), "another value of the same");
    }
}
