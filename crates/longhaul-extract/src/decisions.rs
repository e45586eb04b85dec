//! What was decided: the sentences of the assistant and of a person that say so.

use std::sync::LazyLock;

use longhaul_transcript::{Entry, Role};
use regex::Regex;

use crate::{constraints::sentences_where, speaker::Speakers};

/// A sentence that settles something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The sentence, verbatim.
    pub text: String,
    /// Ordinal of the message it stands in.
    pub message: u64,
}

/// Returns the decisions in `entries`, oldest first: sentences with a word of deciding, in the languages that
/// [`constraints`](crate::constraints) knows, of the assistant's prose and of what a person said, by `speakers`.
pub fn decisions(entries: &[Entry], speakers: &Speakers) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    for entry in entries {
        let mut take = |text: &str, has_word: fn(&str) -> bool, settles: fn(&str) -> bool| {
            // Most paragraphs decide nothing, and need not be taken apart; a line is one at most.
            if text.contains('\n') || has_word(text) {
                let sentences = sentences_where(text, has_word).filter(|sentence| settles(sentence));
                found.extend(sentences.map(|text| Decision { text, message: entry.id.ordinal }));
            }
        };
        match entry.message.role {
            Role::Assistant => entry.message.texts().for_each(|text| take(text, decides, decides)),
            Role::User if entry.message.is_user_text() => {
                let said = speakers.sent(&entry.message);
                said.into_iter().for_each(|text| take(text, chooses, settles));
            }
            _ => {}
        }
    }
    found
}

/// Returns whether `sentence` settles something, or says what is behind something.
pub fn decides(sentence: &str) -> bool {
    static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[CHOICES, REASONS]));
    ANY.as_ref().is_some_and(|any| any.is_match(&sentence.to_lowercase()))
}

/// The same of a person's sentence: what is wrong with something is a report, what might be done a question, and what is said not to be
/// decided, or of a case, no decision. What stands behind the word of choosing only says more of it ("Postgres, not MySQL").
fn settles(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let asks = lower.trim_end().ends_with(['?', '？']) || WHETHER.iter().any(|word| lower.starts_with(word));
    let Some(choice) = choices().and_then(|any| any.find(&lower)).filter(|_| !asks) else { return false };
    let before = &lower[..choice.start()];
    let denies = |word: &str| NOT.contains(&word) || word.ends_with("n't");
    let mut words = before.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    !words.any(denies) && !NOT_APART.iter().any(|word| before.contains(word))
}

/// Words that say, before a choice, that it is not made, or not yet, or in some case.
const NOT: &[&str] =
    &["not", "never", "if", "unless", "whether", "nicht", "noch", "ob", "wenn", "pas", "não", "не", "если"];

/// The same in scripts without blanks.
const NOT_APART: &[&str] = &["没", "不", "尚未", "还未", "まだ", "もし", "如果"];

/// What a question begins with.
const WHETHER: &[&str] =
    &["are we ", "did ", "do we ", "have ", "has ", "should ", "shall ", "what if", "why ", "how "];

fn chooses(text: &str) -> bool {
    choices().is_some_and(|any| any.is_match(&text.to_lowercase()))
}

fn choices() -> Option<&'static Regex> {
    static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[CHOICES]));
    ANY.as_ref()
}

fn any_of(markers: &[&[&str]]) -> Option<Regex> {
    let markers: Vec<String> = markers.concat().iter().map(|marker| regex::escape(marker)).collect();
    Regex::new(&markers.join("|")).ok()
}

/// Words of choosing.
const CHOICES: &[&str] = &[
    "i'll use", "i will use", "i decided", "we decided", "decided to", "decision:", "let's go with",
    "going with", "i'll go with", "i chose", "we chose", "chose to", "we'll use", "we will use",
    "he decidido", "decidimos", "j'ai décidé", "nous avons décidé", "entschieden", "decidi ", "决定",
    "決めた", "決定", "решил", "решили",
];

/// Words of judging and explaining.
const REASONS: &[&str] = &[
    "the best approach",
    "the right approach",
    "better approach",
    "instead of",
    "rather than",
    "root cause",
    "the fix is",
    "the issue is",
    "the problem is",
    "the bug is",
    "this is because",
    "the solution is",
    "agreed",
    "la mejor opción",
    "en lugar de",
    "la causa",
    "la meilleure approche",
    "plutôt que",
    "la cause",
    "beste lösung",
    "die ursache",
    "das problem ist",
    "statt ",
    "a melhor abordagem",
    "a causa",
    "em vez de",
    "采用",
    "原因是",
    "问题在于",
    "最好的办法",
    "採用",
    "原因は",
    "лучший подход",
    "причина",
    "вместо того",
];

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    fn decided(said: &str) -> Vec<String> {
        let found = decisions(transcript(said).entries(), Speakers::builtin());
        found.into_iter().map(|decision| decision.text).collect()
    }

    // asserts 002-18
    #[test]
    fn deciding_is_told_from_telling() {
        let said =
            "user: The problem is slow. I decided to go with Postgres. Should it be going with option B?
user: I don't think we will use Redis for this. Wir haben uns noch nicht entschieden, ob es Postgres sein muss. Should we be going with A
assistant: Reading it now. The root cause is a missing lock. I'll use a mutex instead of a cell.
user: We will use JWT tokens for login, not sessions. No, we will use Redis for the queue.
user: Wir haben uns für Rust entschieden, nicht für Go. 我们决定用 SQLite，这样不会丢数据。 If it fails we will use files.";
        assert_eq!(
            decided(said),
            [
                "I decided to go with Postgres.",
                "The root cause is a missing lock.",
                "I'll use a mutex instead of a cell.",
                "We will use JWT tokens for login, not sessions.",
                "No, we will use Redis for the queue.",
                "Wir haben uns für Rust entschieden, nicht für Go.",
                "我们决定用 SQLite，这样不会丢数据。"
            ]
        );
    }

    // asserts 002-18
    #[test]
    fn whoever_chose_to_do_something_decided() {
        let said =
            "assistant: The team chose to drop IPv4. They chose to wait. The colour is theirs to choose.";
        assert_eq!(decided(said), ["The team chose to drop IPv4.", "They chose to wait."]);
    }
}
