//! Whether a sentence asks, by its grammar.

/// Returns whether a sentence asks, with its mark or without: `do we group them already`, `wait, why are these apart`. "Could you" asks
/// for something to be done. Without a mark what stands behind a comma may be what is to be done ("should it fail, …"); what begins
/// with "or" goes on asking.
pub(super) fn is_question(sentence: &str) -> bool {
    let opening = |part: &str| part.split_whitespace().all(|word| OPENING.contains(&&*word.to_lowercase()));
    let mut parts = sentence.split(',').skip_while(|part| opening(part)).skip(1);
    let goes_on =
        |part: &str| part.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("or"));
    if !sentence.trim_end().ends_with(['?', '？']) && !parts.all(goes_on) {
        return false;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| OPENING.contains(word));
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    let is_wish = second == "you" && first != "do" && first != "did";
    ASKING.contains(&first) && !is_wish && ["we", "i", "you", "they"].contains(&second)
        || ["why", "how"].contains(&first) && (ASKING.contains(&second) || ["is", "isn't"].contains(&second))
}

/// Words that open a sentence and say nothing.
const OPENING: [&str; 14] =
    ["also", "actually", "and", "but", "hm", "hmm", "hmmm", "oh", "ok", "okay", "or", "so", "then", "wait"];

/// Words that a question begins with, before who does it.
const ASKING: [&str; 18] = [
    "are", "aren't", "can", "can't", "could", "couldn't", "did", "didn't", "do", "does", "don't", "should",
    "shouldn't", "were", "will", "won't", "would", "wouldn't",
];

#[cfg(test)]
mod tests {
    use super::is_question;

    #[test]
    fn a_question_is_known_without_its_mark() {
        for text in [
            "do we already group runs by experiment",
            "Also should we group runs by experiment similar to vercel.",
            "wait why are traces in their own folder",
            "did you keep the tests",
            "Should we use tabs, or spaces?",
            "should we use tabs, or spaces",
            "Do we commit the tests, the docs and the changelog together?",
        ] {
            assert!(is_question(text), "{text}");
        }
        for text in [
            "do it again without the cache",
            "can you make sure that it never fails",
            "don't you dare push",
            "we should group them",
            "How it is done must stay as it is.",
            "Only use tabs.",
            "Should they fail, never retry more than twice.",
            "So do they have to be sorted, always sort by date.",
            "When the cache is cold, retry.",
            "Should it fail, or time out, retry.",
            "Could you, where it is cold, retry?",
        ] {
            assert!(!is_question(text), "{text}");
        }
    }
}
