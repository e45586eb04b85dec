//! Orders of the moment: what somebody wants done or changed now, and no rule for later.

use super::{Words, begins, built, phrases::STANDING_VERBS, work};
use crate::constraints::markers;

/// Returns whether `sentence` only says what is wanted at the moment, though it has a word of demand: it reacts to what was
/// just said or shown, points at something that stands outside of it, or names a task. What has a word of a standing rule is
/// never of the moment.
pub(in crate::constraints) fn is_passing(sentence: &str) -> bool {
    let words = Words::of(sentence);
    let text = &*words.text;
    if markers::is_rule(sentence) || super::label(sentence).is_some() {
        return false;
    }
    if is_of_one(&words) {
        return true;
    }
    if built::is_rule(&words) {
        return false;
    }
    let body = words.body();
    if asks_to_be_told(body) || work::is_work(body) {
        return true;
    }
    if LASTING.iter().any(|word| words.has(word)) {
        return false;
    }
    let opens = |word: &&str| {
        text[1..].strip_prefix(*word).is_some_and(|rest| rest.starts_with(" | ") || rest.starts_with(' '))
    };
    let goes_on = GOES_ON.iter().any(&opens);
    let reacts = goes_on || ANSWERS.iter().any(opens);
    let lasts = |verbs: &[&str]| begins(body, verbs) && !points_outside(body);
    if begins(body, FORBIDDING) || lasts(if reacts { KEEPING } else { STANDING_VERBS }) {
        return false;
    }
    let is_task = begins(body, TASKS)
        && !TASKS
            .iter()
            .filter_map(|task| body.strip_prefix(task))
            .any(|rest| begins(rest.trim_start(), STANDING_VERBS));
    // "Should be dimmer": of what, only the moment knows.
    let lacks_a_subject = begins(body, &["should", "needs to", "has to", "must"]);
    goes_on || is_task || lacks_a_subject || points_outside(body)
}

/// Whether nothing but an answer is wanted, which is over once it is given: "explain why …", "tell me which …".
pub(super) fn asks_to_be_told(body: &str) -> bool {
    let Some(rest) = TELLING.iter().find_map(|verb| body.strip_prefix(*verb)?.strip_prefix(' ')) else {
        return false;
    };
    let rest = ["to me ", "to us "].iter().find_map(|whom| rest.strip_prefix(whom)).unwrap_or(rest);
    // What stands in the question is asked about; what stands behind it is demanded.
    let (_, behind) = rest.split_once('|').unwrap_or((rest, ""));
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    begins(rest, WHAT) && !has(body, BINDING_ANYWHERE) && !has(behind, BINDING_BEHIND)
}

/// Whether an order is of one piece of the talk, or of this time: "for this paragraph", "the next sentence only", "don't answer yet".
fn is_of_one(words: &Words) -> bool {
    if LASTING_ALSO.iter().any(|word| words.has(word)) {
        return false;
    }
    let said: Vec<&str> = words.text.split_whitespace().collect();
    let is_piece = |word: &str| PIECES.contains(&word);
    let is_one = |pair: &[&str]| ["this", "next", "last"].contains(&pair[0]) && is_piece(pair[1]);
    let is_this_one = |three: &[&str]| three[0] == "this" && three[1] == "one" && is_piece(three[2]);
    let only_now = THIS_TIME.iter().any(|when| words.has(when));
    let just_this = || {
        let mut clauses = words.text.split('|').skip(1).map(str::trim_start);
        clauses.any(|clause| begins(clause, JUST_THIS))
    };
    said.windows(2).any(is_one) || said.windows(3).any(is_this_one) || only_now || just_this()
}

/// What makes an order last that names one piece.
const LASTING_ALSO: &[&str] =
    &[" every ", " each ", " all ", " from now on ", " whenever ", " any ", " until "];

/// What a talk has many of.
const PIECES: &[&str] = &[
    "paragraph", "sentence", "answer", "reply", "message", "question", "page", "email", "mail", "chapter",
    "section", "text", "draft", "poem", "letter", "call", "slide", "verse", "stanza", "time",
];

/// What says that an order holds once.
const THIS_TIME: &[&str] = &[
    " this time ", " this once ", " just once ", " for once ", " yet | ", " once before ",
    " for this answer ",
];

/// What is wanted in the place of what the order leaves.
const JUST_THIS: &[&str] = &["just give me", "just show me", "just tell me", "just send me", "just do"];

/// Whether a clause ends in a word that points at something outside of the sentence, or a verb has such a word behind it. What gives the
/// reason for a limit points back at it: "keep it under 180 kB, CI checks it".
fn points_outside(body: &str) -> bool {
    let n_clauses = if LIMITING.iter().any(|word| body.contains(word)) { 1 } else { usize::MAX };
    let mut clauses = body.split('|').map(str::trim_end).take(n_clauses);
    let ends = clauses.any(|clause| POINTERS.iter().any(|word| clause.ends_with(word)));
    let second = body.split(' ').nth(1).unwrap_or_default();
    ends || matches!(second, "it" | "this" | "them") || body.contains(" here in ")
}

/// What opens a sentence that goes on from what was just said or shown.
const GOES_ON: &[&str] = &[
    "ok", "okay", "alright", "all right", "hm", "hmm", "hmmm", "hmmmm", "oh", "ah", "wait", "cool", "great",
    "nice", "perfect", "and also", "also",
];

/// What opens a sentence that answers: what follows may hold for good.
const ANSWERS: &[&str] = &["no |", "nope", "nah", "yeah", "yes", "yep", "well", "right"];

/// What opens a sentence that names a task.
const TASKS: &[&str] = &[
    "we need to", "i need to", "you need to", "we have to", "we still need to", "now we need to",
    "we need a", "we need an", "we need some", "we should also", "let's", "let me", "now let's",
];

/// What opens a sentence that wants to be told something.
const TELLING: &[&str] = &[
    "explain", "describe", "tell me", "tell us", "show me", "show us", "find out", "figure out", "clarify",
    "remind me", "check", "see",
];

/// What it wants to be told.
const WHAT: &[&str] = &["why", "how", "what", "which", "whether", "if", "where", "who"];

/// What such a sentence has in it where it demands something beside the answer, or for every answer.
const BINDING_ANYWHERE: &[&str] = &[
    " without ", " from now on ", " each ", " every ", " whenever ", " before you ", " after you ",
    " when you ", " if you ", " you will ", " until ", " unless ", " but not ", " and not ", " but do not ",
    " and do not ", " but don't ", " and don't ", " but never ", " but only ", " but use ", " and use ",
    " but keep ", " and keep ", " and avoid ", " and stay ", " and leave ", " make sure ",
];

/// What the words behind its question have where they demand something.
const BINDING_BEHIND: &[&str] = &[
    " not ", "n't ", " no ", " only ", " keep ", " use ", " first ", " at most ", " at least ", " stay ",
    " leave ", " avoid ", " ask ", " wait ", " before ",
];

/// Verbs that open an order that lasts, even where it answers what was just said.
const KEEPING: &[&str] = &[
    "use", "keep", "prefer", "follow", "treat", "respect", "preserve", "pin", "cap", "limit", "restrict",
    "default", "support", "format", "prefix", "suffix", "stick", "stay", "target", "assume", "log", "ask",
    "answer", "reply",
];

/// What forbids something whatever is talked of.
const FORBIDDING: &[&str] = &[
    "don't", "dont", "do not", "avoid", "no", "not", "nothing", "nobody", "we don't", "we do not",
    "you can't", "you may not", "let's not", "never",
];

/// What makes an order last.
const LASTING: &[&str] = &[
    " all ", " every ", " everything ", " any ", " each ", " whenever ", " unless ", " until ", " only ",
    " without ", " before ", " after ", " from now on ", " from here on ", " going forward ", " as a rule ",
    " in general ", " by default ", " at most ", " at least ", " no more than ", " never ", " always ",
    " may not ", " not allowed ", " read-only ", " whatever you do ", " when ", " if ", " rather than ",
    " instead of ", " off limits ",
];

/// What sets a limit.
const LIMITING: &[&str] = &[" under ", " below ", " within ", " max ", " up to "];

/// What a clause ends in that points at something outside of it.
const POINTERS: &[&str] = &[
    " that", " this", " it", " so", " here", " again", " these", " those", " as is", " like before", " now",
    " there",
];

#[cfg(test)]
mod tests {
    use super::is_passing;

    #[test]
    fn orders_of_the_moment_are_told_from_rules() {
        for sentence in [
            "no, the margin should be that, no need for a second one",
            "write a poem here in chat, anything that rhymes",
            "no, the block should stay as is",
            "ok write markdown with tables",
            "ok, let's modify the margins in the small layout",
            "hmm, the selector needs to push the update to the next tick",
            "we need to fix the sources of the tests.",
            "should be dimmer, don't modify the theme, look into the footer",
            "put it in relay/tests so i can run it",
            "alright, we need a section on relays",
            "Please explain why the cache is read before the index is written, and what the log shows then.",
            "tell me which tests run where the flag is set",
            "Explain how you should use the new API.",
            "Tell me which tests run at least twice.",
            "Please describe what the service should do if there is no network.",
            "Tell me which of the tests should run first.",
            "Show me how we should handle no results.",
            "Explain why the build is not green.",
            "Tell me if I should use the cache.",
        ] {
            assert!(is_passing(sentence), "{sentence}");
        }
        for sentence in [
            "no, always use tabs",
            "ok, use pnpm instead of npm",
            "omg use rgb values in the themes, no rgb indices!",
            "Don't do that again.",
            "We need to keep the old flags.",
            "Error messages should be in lower case.",
            "Make sure that the migration is reversible.",
            "Let's not use regular expressions for parsing.",
            "The block must never change.",
            "No, the config belongs in /etc/relay.",
            "yes, an unknown user is a 404",
            "Tell me before you delete anything.",
            "Tell me which tests fail, but do not change them.",
            "Explain how it works, but only use the standard library.",
            "Show us how you would do it without changing the public API.",
            "Tell me what the port is, and keep it at 7781 from now on.",
            "Show me what you will run before you run it.",
            "Please tell me when you use more than 5 tool calls.",
            "Explain what you changed at the end of each answer.",
            "Tell me which files you need, but ask before deleting them.",
            "Explain how it works but do not change anything.",
            "Tell me if you need to touch another crate.",
        ] {
            assert!(!is_passing(sentence), "{sentence}");
        }
    }

    #[test]
    fn none_of_two_hundred_rules_is_of_the_moment() {
        let passing: Vec<String> =
            longhaul_testkit::demands().into_iter().filter(|rule| is_passing(rule)).collect();
        assert_eq!(passing, [""; 0]);
    }
}
