//! What a model found while it thought: sentences that settle something, none that weigh, plan or ask.

use super::{signs::Signs, split};

/// What a thought settles, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thought {
    pub(super) text: String,
    pub(super) is_item: bool,
}

/// Returns what the reasoning `text` settles: sentences that stand side by side are one. Items say nothing without what leads them in,
/// and nothing counts that stands before a sentence in which the model turns round.
pub(super) fn settled(text: &str) -> Vec<Thought> {
    let mut settled = Vec::new();
    let mut is_led = false;
    for piece in split::prose(text) {
        // A quoted line is somebody else's.
        if piece.is_fenced || piece.text.starts_with('>') {
            continue;
        }
        if turns(&piece.text) {
            (settled, is_led) = (Vec::new(), false);
        }
        if piece.is_item {
            let (found, _) = split::before_announcement(&piece.text);
            if is_led && !weighs(found) {
                settled.push(Thought { text: found.to_owned(), is_item: true });
            }
            continue;
        }
        let runs = runs(&piece.text);
        is_led = piece.text.ends_with(':') && runs.last().is_some_and(|run| run.ends_with(':'));
        settled.extend(runs.into_iter().map(|run| Thought { text: run.to_owned(), is_item: false }));
    }
    settled
}

/// Returns the runs of sentences of a paragraph that each tell something.
fn runs(paragraph: &str) -> Vec<&str> {
    let mut runs: Vec<&str> = Vec::new();
    let mut start = None;
    let mut end = 0;
    for sentence in split::sentences(paragraph) {
        if turns(sentence) {
            (runs, start) = (Vec::new(), None);
        }
        let stands = paragraph[end..].find(sentence).map_or(end, |at| end + at);
        if tells(sentence) {
            start.get_or_insert(stands);
        } else if let Some(from) = start.take() {
            runs.push(paragraph[from..end].trim());
        }
        end = stands + sentence.len();
    }
    runs.extend(start.map(|from| paragraph[from..end].trim()));
    runs
}

/// Returns whether a sentence settles something, says what failed or when something holds.
fn tells(sentence: &str) -> bool {
    let signs = Signs::of(sentence);
    [Signs::SETTLES, Signs::FAILS, Signs::HOLDS].iter().any(|sign| signs.has(*sign))
        && sentence.split_whitespace().count() >= FEWEST_WORDS
        // The rest of an item that no line was left before.
        && sentence.matches("**").count().is_multiple_of(2)
        && !weighs(sentence)
}

/// Returns whether a sentence asks, plans, guesses, or says what it was that was asked or done.
fn weighs(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    Signs::of(sentence).has(Signs::QUESTION)
        || OPENINGS.iter().any(|opening| start.starts_with(opening))
        || has_word(&lower, WEIGHING)
}

/// Returns whether the model turns round in a sentence of `text`: what it thought before may not hold any more.
fn turns(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    has_word(&lower, TURNS)
        || split::sentences(&lower).iter().any(|sentence| {
            let start = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
            TURNING.iter().any(|turning| start.starts_with(turning))
        })
}

/// Returns whether one of `words` stands in `text` as a word of its own; both are in lower case.
fn has_word(text: &str, words: &[&str]) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter)
        })
    })
}

/// How a sentence opens in which a model turns round.
const TURNING: &[&str] = &[
    "wait", "no,", "no wait", "actually", "looking at it again", "oh,", "oops", "ah,", "nope", "hm,",
    "however", "on closer", "earlier i", "turns out", "it turns out", "correction", "that's wrong",
    "that is wrong", "on reflection", "on second thought", "never mind",
];

/// By which words it does, wherever they stand.
const TURNS: &[&str] = &[
    "scratch that", "strike that", "cannot be it", "can't be it", "i was wrong", "not quite", "misread",
    "red herring", "was false", "reconsider", "but wait", "hmm",
];

/// Words that a sentence has at least.
const FEWEST_WORDS: usize = 5;

/// How a sentence opens that says what comes next or was just done, takes back what was thought before, or tells the request again.
const OPENINGS: &[&str] = &[
    "let's", "now ", "next", "first", "then ", "i will", "i'd ", "i am going", "i'm going", "i want",
    "i can ", "i could", "i have to", "wait", "actually", "oh", "ok", "alternatively", "the user", "user ",
    "so i ", "looking at", "say the", "on second thought", "i've", "i have", "i found", "i see", "good, i",
    "good, the", "great", "perfect", "the diff",
];

/// Words of a sentence that weighs, plans or guesses; how checks went is told by what they said.
const WEIGHING: &[&str] = &[
    "maybe", "perhaps", "probably", "possibly", "presumably", "might", "may", "could", "would", "should",
    "seems", "seem", "appears", "likely", "unlikely", "i think", "i guess", "i believe", "i assume",
    "assuming", "suppose", "unclear", "not sure", "wonder", "whether", "if", "let me", "i need", "i'll",
    "we need", "need to", "needs to", "wait", "hmm", "option", "verify", "next step", "suspect", "guess",
    "theory", "hypothesis", "looks like", "it must be", "sure", "plan", "we must", "candidates",
    "possibilities", "they want", "he asked", "she asked", "request", "instructions", "updated", "complete",
    "keeps failing", "will", "still", "results", "pass", "passes", "passed", "passing",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        settled(text).into_iter().map(|thought| thought.text).collect()
    }

    #[test]
    fn what_is_settled_is_told_from_what_is_weighed() {
        let thought = "Good, `os.getwd()` is now only used in:\n\
                       1. `hooks.go:66` - the fallback outside of a repository (correct)\n\
                       2. `paths.go:86`, inside `root()` itself\n\n\
                       The key ones to check:\n- `common.go:288` - `gitPath`\n\n\
                       `copyTranscript` is only used in tests. Let me search for where it is called.\n\n\
                       Maybe `state.go` is wrong too. The problem is that `state.go` joins with the folder.";
        assert_eq!(
            texts(thought),
            [
                "Good, `os.getwd()` is now only used in:",
                "1. `hooks.go:66` - the fallback outside of a repository (correct)",
                "2. `paths.go:86`, inside `root()` itself",
                "`copyTranscript` is only used in tests.",
                "The problem is that `state.go` joins with the folder."
            ]
        );
    }

    #[test]
    fn what_is_thought_before_a_turn_does_not_count() {
        let found = "The bug is in src/upload.rs because the lock is never released.";
        for turn in [
            " Hmm, it is released in drop.",
            "\n\nStrike that.",
            " But wait, drop releases it.",
            "\n\nNo, drop releases it.",
        ] {
            let then = "\n\nThe root cause is that src/pool.rs takes it twice.";
            let told = texts(&format!("{found}{turn}{then}"));
            assert_eq!(told, [then.trim()], "{turn}");
        }
        for stays in ["", " But then it holds.", " The retry loop does not wait for it."] {
            assert_eq!(texts(&format!("{found}{stays}"))[0], found, "{stays}");
        }
    }

    #[test]
    fn what_is_planned_asked_or_guessed_is_left_out() {
        for thought in [
            "The user wants me to fix src/queue.rs at once.",
            "I should look at src/queue.rs before anything else.",
            "Is the lock of src/queue.rs only held by the caller?",
            "It could be that only src/queue.rs holds the lock.",
            "Wait, the lock is only held in src/queue.rs.",
            "I suspect that the bug is in src/queue.rs, because the lock is held there.",
            "> The root cause is that src/queue.rs holds the lock.",
            "All tests of src/queue.rs passed, because the lock is free.",
            "Session files** only stand in src/queue.rs.",
            "Nothing of note.",
        ] {
            assert_eq!(texts(thought), Vec::<String>::new(), "{thought}");
        }
    }
}
