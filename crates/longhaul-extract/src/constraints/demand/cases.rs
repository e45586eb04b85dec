//! A condition that says in which case a thing is as it is: "fix the crash when the list is empty" is done once, "ask me when in doubt" is not.

use std::borrow::Cow;

use super::{begins, work::OCCASIONS};

/// Returns an order without the conditions that only say of which case of its thing it is. Those under which something is to be done each
/// time stay.
pub(super) fn without(order: &str) -> Cow<'_, str> {
    let Some(about) = About::of(order) else { return Cow::Borrowed(order) };
    let mut rest = Cow::Borrowed(order);
    for word in CONDITIONAL {
        let Some(at) = rest.find(word) else { continue };
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        let (case, after) = behind.split_once('|').unwrap_or((behind, ""));
        if is_asked(before, word) && !begins(case, &["you"]) || about.is_of_it(before, case) {
            rest = Cow::Owned(format!("{before} |{after}"));
        }
    }
    rest
}

/// What an order is about, as far as a condition may be of that.
enum About {
    /// A thing is mended or looked at, which has the condition.
    There,
    /// A thing is made or changed, which is to have it.
    Made,
    /// Something else: only what is asked has conditions of its own.
    Other,
}

impl About {
    fn of(order: &str) -> Option<About> {
        let (verb, object) = order.split_once(' ')?;
        let names_one = begins(object, ONE);
        Some(match verb {
            _ if MENDING.contains(&verb) && (names_one || begins(object, ASKED)) => About::There,
            _ if MAKING.contains(&verb) && names_one => About::Made,
            _ => About::Other,
        })
    }

    /// Returns whether the `case` behind the words `before` it is one of the thing.
    fn is_of_it(&self, before: &str, case: &str) -> bool {
        if comes_again(case) {
            return false;
        }
        // "Add a comment if the code is hard to read" says where each belongs; "a test for the parser" is one.
        let is_each =
            || before.split(' ').count() <= 3 && RECORDED.iter().any(|thing| before.ends_with(thing));
        match self {
            About::There => true,
            About::Made => begins(case, OF_ONE) && !is_each(),
            About::Other => false,
        }
    }
}

/// Returns whether a question stands behind the words `before`: "tell me if it is green".
fn is_asked(before: &str, word: &str) -> bool {
    word == " if " && TELL.iter().any(|tell| before.ends_with(tell))
}

/// Returns whether a case is one of those that whoever works meets again and again.
fn comes_again(case: &str) -> bool {
    let mut words = case.split(' ').filter(|word| !word.is_empty()).take(4).peekable();
    let first = words.peek().copied().unwrap_or_default();
    let is_bare = first.ends_with("ing") || first.ends_with("ed") || VAGUE.contains(&first);
    is_bare
        || words.any(|word| ["you", "we"].contains(&word) || OCCASIONS.contains(&word.trim_end_matches('s')))
}

const CONDITIONAL: [&str; 2] = [" when ", " if "];

/// Verbs of what is done with a thing that is there.
const MENDING: &[&str] = &[
    "fix", "explain", "describe", "investigate", "debug", "reproduce", "find", "look", "see", "check",
    "implement", "refactor", "handle", "improve", "trace",
];

/// Verbs of what makes a thing or changes it.
const MAKING: &[&str] =
    &["add", "build", "change", "create", "make", "remove", "rename", "show", "test", "write"];

/// What stands before one thing.
const ONE: &[&str] = &["a", "an", "the", "this", "that", "it", "another", "one", "some", "at", "into", "for"];

/// What opens what is asked.
const ASKED: &[&str] = &["that", "what", "how", "why", "where", "which", "whether", "if", "out"];

/// What the case of one thing begins with.
const OF_ONE: &[&str] = &["the", "a", "an", "this", "that", "its", "it", "there", "no", "one", "both"];

/// What is written beside the work each time there is cause for it.
const RECORDED: &[&str] =
    &[" comment", " test", " note", " entry", " line", " todo", " label", " reviewer", " docstring", " type"];

/// Behind what a question stands.
const TELL: &[&str] =
    &[" tell me", " tell us", " let me know", " see", " check", " say", " know", " find out"];

/// What a case begins with that may come at any time.
const VAGUE: &[&str] = &[
    "in", "needed", "necessary", "possible", "unsure", "something", "anything", "somebody", "someone",
    "anyone", "anybody", "they", "i", "nothing",
];
