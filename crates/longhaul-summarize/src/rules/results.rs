//! What people who meet come to in numbers: scores, votes, averages, totals. They stand beside the decisions.

/// Returns whether a sentence tells a number that people came to: `The average is two.`, `Let's give it a two.`, `Yeas 43, nays 2`.
pub(super) fn settles_a_number(text: &str) -> bool {
    let lower = text.to_lowercase();
    let asks = lower.trim_end().ends_with(['?', '？']);
    !asks && counts(&lower) && SETTLES.iter().any(|words| lower.contains(words))
}

/// Returns whether a text has a number, in digits or as a word.
fn counts(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        || text
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| NUMBERS.iter().any(|one| word.eq_ignore_ascii_case(one)))
}

/// What people say who settle a number.
const SETTLES: [&str; 19] = [
    "the average is", "an average of", "the total is", "the total comes", "the score is", "let's give it",
    "we give it", "so make it a ", "so that's a ", "it is then", "points spare", " votes", "voted ", "yeas",
    "nays", "motion carried", "motion defeated", "unanimous", "票",
];

const NUMBERS: [&str; 14] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "half",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_came_to_in_numbers_is_told_from_numbers_in_passing() {
        for text in [
            "Marketing: Okay . Let's give it a two . Is it innovative .",
            "The average is two.",
            "Project Manager: I'd say three , so two it is then",
            "So that's a one then.",
            "Yeas: 43, nays: 2.",
        ] {
            assert!(settles_a_number(text), "{text}");
        }
        for text in [
            "Shall we make it a two ?",
            "Should we change that, that's a one if not ,",
            "In total, it was fine.",
            "We need two of them.",
            "7.7 million people got it",
        ] {
            assert!(!settles_a_number(text), "{text}");
        }
    }
}
