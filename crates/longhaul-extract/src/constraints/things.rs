//! What act a sentence is of, on what, and where: who allows one act on one thing lifts no rule that is of another.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    markers::is_function_word,
    telling::{stem, stems},
};

/// What a sentence names, by how it names it.
#[derive(Debug)]
pub(crate) struct Things {
    /// What is done, where it begins with that or says who may do it.
    act: Option<String>,
    /// All else.
    named: BTreeSet<String>,
    /// For each word which one stands behind it: "customer names".
    behind: BTreeMap<String, BTreeSet<String>>,
    /// What stands behind each word that says where or when: "in the release notes", "before a merge".
    places: BTreeMap<String, BTreeSet<String>>,
}

impl Things {
    pub(crate) fn of(sentence: &str) -> Things {
        let lower = sentence.to_lowercase().replace('’', "'");
        let words: Vec<(&str, bool)> = lower.split_whitespace().map(bare).collect();
        let act = act(&words);
        let mut named = stems(sentence);
        if let Some(act) = &act {
            named.remove(act);
        }
        Things { behind: behind(&words), places: places(&words), act, named }
    }

    /// Returns whether another sentence is of the same act and of something else, or of the same elsewhere.
    pub(crate) fn are_others(&self, other: &Things) -> bool {
        let both = |all: &BTreeMap<String, BTreeSet<String>>, others: &BTreeMap<String, BTreeSet<String>>| {
            all.iter().any(|(word, one)| others.get(word).is_some_and(|other| one.is_disjoint(other)))
        };
        let is_same_act = self.act.is_some() && self.act == other.act;
        let says_more = !self.named.is_empty() && !other.named.is_empty();
        is_same_act && says_more && self.named.is_disjoint(&other.named)
            || both(&self.behind, &other.behind)
            || both(&self.places, &other.places)
    }
}

/// Returns a word without the marks around it, and whether one stands behind it.
fn bare(word: &str) -> (&str, bool) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    (bare, word.ends_with(|c: char| !c.is_alphanumeric()))
}

/// Returns what is done: the word behind what forbids, allows or orders it, or the one that the sentence begins with.
fn act(words: &[(&str, bool)]) -> Option<String> {
    let at = words.iter().take(FURTHEST).position(|(word, _)| BEFORE_ACTS.contains(word));
    let behind = &words[at.map_or(0, |at| at + 1)..];
    let act = behind.iter().map(|(word, _)| *word).find(|word| !BEFORE_ACTS.contains(word))?;
    Some(stem(act).to_owned()).filter(|act| act.len() > 2 && (at.is_some() || !is_function_word(act)))
}

fn behind(words: &[(&str, bool)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let tells = |word: &str| word.chars().nth(2).is_some() && !is_function_word(word);
    // Behind what is done stands what it is done to, which may be told in any words.
    for three in words.windows(3).filter(|three| !three[0].1 && !three[1].1) {
        let [(before, _), (one, _), (next, _)] = *three else { continue };
        if !BEFORE_ACTS.contains(&before) && tells(before) && tells(one) && tells(next) {
            all.entry(stem(one).to_owned()).or_default().insert(stem(next).to_owned());
        }
    }
    all
}

fn places(words: &[(&str, bool)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (at, (place, ends)) in words.iter().enumerate() {
        if *ends || !PLACES.contains(place) {
            continue;
        }
        let mut named = BTreeSet::new();
        for (word, ends) in &words[at + 1..] {
            if PLACES.contains(word) || ENDS_OF_PLACES.contains(word) {
                break;
            }
            if word.chars().nth(2).is_some() && !is_function_word(word) {
                named.insert(stem(word).to_owned());
            }
            if *ends {
                break;
            }
        }
        if !named.is_empty() {
            all.entry((*place).to_owned()).or_default().extend(named);
        }
    }
    all
}

/// What stands before the word for what is done.
const BEFORE_ACTS: &[&str] = &[
    "never", "always", "not", "don't", "may", "can", "to", "must", "should", "please", "you", "we", "ok",
    "okay", "do", "i", "no", "longer", "have", "now", "ever", "just",
];

/// A word for what is done stands among so many of the first.
const FURTHEST: usize = 4;

/// What says where or when.
const PLACES: &[&str] = &["in", "before", "inside", "during"];

/// What ends that.
const ENDS_OF_PLACES: &[&str] =
    &["is", "are", "of", "for", "to", "with", "on", "and", "or", "but", "from", "at", "may", "can", "by"];

#[cfg(test)]
mod tests {
    use longhaul_transcript::Constraint;

    use super::super::lifted_by_each;

    #[test]
    fn what_lifts_names_the_same_act_and_the_same_thing() {
        let lifts = |was: &str, now: &str| {
            let said =
                |message: u64, text: &str| Constraint { text: text.into(), message, ..Constraint::default() };
            !lifted_by_each(&[said(0, was), said(1, now)])[1].is_empty()
        };
        for (was, now) in [
            ("Never rename columns in the ledger.", "Rename the column in the sketch."),
            ("Never email clients before noon.", "You may email me at any time."),
            ("No jokes in the release mail.", "Jokes in our standup are fine."),
            (
                "Always ask before you delete a branch.",
                "You no longer have to ask me before you order lunch.",
            ),
            ("Do not cite the blog.", "You can cite the paper."),
            ("Always lock the door.", "The door is now blue."),
            ("Never log card numbers.", "You may log card types."),
            ("Never edit the glossary.", "Edit the draft instead."),
        ] {
            assert!(!lifts(was, now), "{was} / {now}");
        }
        for (was, now) in [
            ("Never rename columns in the ledger.", "You may rename columns in the ledger again."),
            ("No jokes in the release mail.", "Jokes in the release mail are fine now."),
            (
                "Always ask before you delete a branch.",
                "You no longer have to ask before you delete a branch.",
            ),
            ("Never push.", "You may push the docs."),
            ("Don't cite the blog.", "OK, citing the blog is fine after all."),
        ] {
            assert!(lifts(was, now), "{was} / {now}");
        }
    }
}
