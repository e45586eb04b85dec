//! What the reader of the summary is about to do: what shares words with it ranks higher.

use std::collections::BTreeSet;

use longhaul_extract::name_parts;

/// The words of a goal, in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goal {
    words: BTreeSet<String>,
}

impl Goal {
    /// Reads a goal; no goal has no words.
    pub(crate) fn new(goal: Option<&str>) -> Goal {
        Goal { words: goal.into_iter().flat_map(words).collect() }
    }

    /// Returns what a line is worth for the words that it shares with the goal.
    pub(crate) fn worth(&self, line: &str) -> f64 {
        SHARED_WORD * self.shared(line).min(MOST_SHARED) as f64
    }

    /// Returns by how much a fact of this name gains.
    pub(crate) fn factor(&self, name: &str) -> f64 {
        if self.shared(name) > 0 { SHARED_NAME } else { 1.0 }
    }

    fn shared(&self, text: &str) -> usize {
        if self.words.is_empty() {
            return 0;
        }
        let shared: BTreeSet<String> = words(text).filter(|word| self.words.contains(word)).collect();
        shared.len()
    }
}

/// The telling words of `text`: four letters or more (two in scripts that need no more).
fn words(text: &str) -> impl Iterator<Item = String> {
    let long = |word: &&str| word.chars().count() >= if word.is_ascii() { 4 } else { 2 };
    name_parts(text).filter(long).map(str::to_lowercase)
}

/// What each word is worth that a line shares with the goal.
const SHARED_WORD: f64 = 0.1;

/// More shared words than these add nothing.
const MOST_SHARED: usize = 3;

/// How much more likely a fact is needed whose name shares a word with the goal.
const SHARED_NAME: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_words_with_the_goal() {
        let goal = Goal::new(Some("Fix the retry policy; 队列 next"));
        assert!(goal.factor("src/queue/RetryLoop.rs") > 1.0);
        assert!(goal.factor("队列") > 1.0);
        assert_eq!(goal.factor("src/main.rs"), 1.0);
        assert!(goal.worth("the retry policy is wrong") > goal.worth("retry") && goal.worth("retry") > 0.0);
        assert_eq!(Goal::new(None).worth("anything at all"), 0.0);
    }
}
