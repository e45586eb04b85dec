//! What was decided: the assistant's sentences that say so.

use std::sync::LazyLock;

use longhaul_transcript::{Entry, Role};
use regex::Regex;

use crate::constraints::sentences_where;

/// A sentence in which the assistant settles something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The sentence, verbatim.
    pub text: String,
    /// Ordinal of the message it stands in.
    pub message: u64,
}

/// Returns the decisions in `entries`, oldest first: sentences of the assistant's prose with a word of deciding, in the
/// languages that [`constraints`](crate::constraints) knows.
pub fn decisions(entries: &[Entry]) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.message.role == Role::Assistant) {
        // Most paragraphs decide nothing, and need not be taken apart; a line is one at most.
        let may = |text: &&str| text.contains('\n') || decides(text);
        let deciding = |text| sentences_where(text, decides).filter(|sentence| decides(sentence));
        for sentence in entry.message.texts().filter(may).flat_map(deciding) {
            found.push(Decision { text: sentence, message: entry.id.ordinal });
        }
    }
    found
}

/// Returns whether `sentence` settles something.
pub fn decides(sentence: &str) -> bool {
    static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let markers: Vec<String> = MARKERS.iter().map(|marker| regex::escape(marker)).collect();
        Regex::new(&markers.join("|")).ok()
    });
    let lower = sentence.to_lowercase();
    ANY.as_ref().is_some_and(|any| any.is_match(&lower))
}

const MARKERS: &[&str] = &[
    "i'll use",
    "i will use",
    "i decided",
    "we decided",
    "decided to",
    "decision:",
    "let's go with",
    "going with",
    "i'll go with",
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
    "i chose",
    "chose to",
    "we'll use",
    "we will use",
    "agreed",
    "he decidido",
    "decidimos",
    "la mejor opción",
    "en lugar de",
    "la causa",
    "j'ai décidé",
    "nous avons décidé",
    "la meilleure approche",
    "plutôt que",
    "la cause",
    "entschieden",
    "beste lösung",
    "die ursache",
    "das problem ist",
    "statt ",
    "decidi ",
    "a melhor abordagem",
    "a causa",
    "em vez de",
    "决定",
    "采用",
    "原因是",
    "问题在于",
    "最好的办法",
    "決めた",
    "決定",
    "採用",
    "原因は",
    "решил",
    "решили",
    "лучший подход",
    "причина",
    "вместо того",
];

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    // asserts 002-18
    #[test]
    fn deciding_is_told_from_telling() {
        let said = transcript(
            "user: I decided to go home.\nassistant: Reading it now. The root cause is a missing lock. I'll use a mutex instead of a cell.",
        );
        let texts: Vec<_> = decisions(said.entries()).into_iter().map(|decision| decision.text).collect();
        assert_eq!(texts, ["The root cause is a missing lock.", "I'll use a mutex instead of a cell."]);
    }

    // asserts 002-18
    #[test]
    fn whoever_chose_to_do_something_decided() {
        let said =
            "assistant: The team chose to drop IPv4. They chose to wait. The colour is theirs to choose.";
        let found = decisions(transcript(said).entries());
        let texts: Vec<_> = found.iter().map(|decision| &*decision.text).collect();
        assert_eq!(texts, ["The team chose to drop IPv4.", "They chose to wait."]);
    }
}
