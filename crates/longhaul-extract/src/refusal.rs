//! How people and harnesses say that a call was not let do what it was to do.

use longhaul_transcript::Outcome;

use crate::ToolFamily;

/// Returns whether a person is asked before such a call is made, so that a harness hands on why they refuse it. What a server, a page
/// or another agent answers may only look like that.
pub(crate) fn is_asked_first(family: ToolFamily, name: &str) -> bool {
    use ToolFamily::{Edit, Patch, Shell, Talk, Todo, Write};
    matches!(family, Edit | Patch | Shell | Talk | Todo | Write) && !name.starts_with("mcp__")
}

/// Returns whether `answer` says, by its first line, that somebody or a permission kept the call from running. What a program prints
/// may begin alike: only what no program says counts in a long answer, or in one that went well.
pub(crate) fn was_refused(answer: &str, outcome: Outcome) -> bool {
    let answer = answer.trim_start();
    let first = answer.lines().next().unwrap_or_default();
    if HARNESS.iter().any(|head| first.starts_with(head)) {
        return true;
    }
    if outcome == Outcome::Succeeded || first.len() > LONGEST || answer.lines().nth(SHORT).is_some() {
        return false;
    }
    let lower = first.to_lowercase();
    lower.trim_end_matches('.') == "aborted"
        || HEADS.iter().any(|head| lower.starts_with(head))
        || lower.match_indices(" by ").any(|(at, by)| {
            let by_user = lower[at + by.len()..].trim_start_matches("the ").starts_with("user");
            by_user && REFUSED.iter().any(|word| lower[..at].ends_with(word))
        })
}

/// How Claude Code's refusals begin; what the person said to it may follow.
const HARNESS: [&str; 3] = ["The user doesn't want to", "Permission to use", "[Request interrupted by user"];

const HEADS: [&str; 7] = [
    "[request interrupted",
    "aborted by",
    "cancelled",
    "the tool use was rejected",
    "user rejected",
    "user denied",
    "user declined",
];

const REFUSED: [&str; 6] = ["rejected", "denied", "declined", "cancelled", "canceled", "aborted"];

/// Lines of an answer that is nothing but a refusal.
const SHORT: usize = 3;

/// Bytes of the first line of such an answer.
const LONGEST: usize = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_what_a_program_prints() {
        for answer in [
            "The user doesn't want to proceed with this tool use.\nThe user said:\n1\n2\n3",
            "[Request interrupted by user for tool use]",
            "Permission to use Bash has been denied.",
            "User rejected the change.",
            "Operation denied by user",
            "exec command rejected by user",
            "aborted by user after 2.1s",
            "aborted",
        ] {
            assert!(was_refused(answer, Outcome::Unstated), "{answer}");
        }
        for answer in ["aborted 3 of 4 jobs", "ok", "", "requests denied: 4\n1\n2\n3", "used by user mara"] {
            assert!(!was_refused(answer, Outcome::Unstated), "{answer}");
        }
        assert!(!was_refused("cancelled order 7", Outcome::Succeeded), "a program's own word");
    }
}
