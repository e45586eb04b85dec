//! Work that is asked for once: "write a test for the parser", "keep going". It has a verb of demand and binds nothing later.

use super::{begins, cases, passing::asks_to_be_told};

/// Returns whether `body`, the words of a sentence behind what opens it, asks for work that is over once it is done. What is to be
/// done in a certain way, each time or under a condition is none.
pub(super) fn is_work(body: &str) -> bool {
    let asked = ASKING.iter().find_map(|opener| body.strip_prefix(opener)).unwrap_or(body);
    let is_asked_to_tell = asked.len() < body.len() && asks_to_be_told(asked);
    is_asked_to_tell || names_work(asked) && !recurs(asked) || changes_one_thing(asked)
}

/// "Make the delay exponential instead of fixed": a thing that is there is to be another.
fn changes_one_thing(order: &str) -> bool {
    let Some((verb, object)) = order.split_once(' ') else { return false };
    let Some((before, _)) = [" instead of ", " rather than "].iter().find_map(|than| object.split_once(than))
    else {
        return false;
    };
    ["make", "change", "turn", "let"].contains(&verb)
        && begins(object, &["the", "this", "that", "it"])
        && !recurs(&format!("{before} "))
}

/// Returns whether an order begins as one for a piece of work does.
fn names_work(order: &str) -> bool {
    let (verb, object) = order.split_once(' ').unwrap_or((order, ""));
    let is_ing = || object.split(' ').next().is_some_and(|word| word.len() > 4 && word.ends_with("ing"));
    match verb {
        _ if ONCE.contains(&verb) => true,
        "keep" => begins(object, &["on", "at", "it up"]) || is_ing() && !begins(object, &["using", "being"]),
        "use" => TO_FIND_OUT.iter().any(|purpose| object.contains(purpose)),
        "write" => {
            let is_of_one =
                begins(object, WRITTEN) && [" for ", " about ", " on "].iter().any(|of| object.contains(of));
            begins(object, ONE_THING) || is_of_one
        }
        "ask" => {
            let is_of_others = !begins(object, &["me", "us", "first", "before", "for", "if", "when"]);
            let is_name = !object.trim_end_matches([' ', '|']).contains(' ');
            is_of_others && (is_name || ASKED.iter().any(|about| object.contains(about)))
        }
        _ => TASKS.iter().any(|(of, objects)| *of == verb && begins(object, objects)),
    }
}

/// Returns whether an order is to be followed each time, or says how something is done.
fn recurs(order: &str) -> bool {
    let order = &*cases::without(order);
    let has = |words: &[&str]| words.iter().any(|word| order.contains(word));
    let is_each = |rest: &str| {
        let mut words = rest.split(' ').take_while(|word| *word != "|").take(4);
        words.any(|word| ["you", "we"].contains(&word) || OCCASIONS.contains(&word.trim_end_matches('s')))
    };
    let each = [" every ", " each ", " all ", " any "];
    let without = |rest: &str| {
        let word = rest.split(' ').next().unwrap_or_default();
        word.ends_with("ing") || ["my", "approval", "permission", "any", "new"].contains(&word)
    };
    let before =
        |rest: &str| rest.split(' ').next().is_some_and(|word| word == "you" || word.ends_with("ing"));
    let behind = |word: &'static str| order.split(word).skip(1);
    let ends = [
        " when you're done ", " when you are done ", " when done ", " if you can ", " if possible ",
        " if poss ",
    ];
    let is_conditional = has(&[" if ", " when "]) && !has(&ends) && !order.starts_with("keep ");
    has(RECURRING)
        || is_conditional
        || each.into_iter().flat_map(behind).any(is_each)
        || behind(" without ").any(without)
        || [" before ", " after "].into_iter().flat_map(behind).any(before)
}

/// How somebody asks the other to do something.
const ASKING: &[&str] = &[
    "i want you to ", "i need you to ", "i'd like you to ", "i would like you to ", "i'd like to ",
    "i would like to ", "i want to ", "can you ", "could you ", "would you ", "will you ", "let's ",
    "go ahead and ", "next | ", "first | ", "try to ", "help me ", "we need to ",
];

/// Verbs of work that is done once.
const ONCE: &[&str] = &[
    "add", "remove", "delete", "rename", "update", "create", "fix", "change", "move", "copy", "open", "read",
    "show", "give", "run", "look", "see", "build", "implement", "refactor", "find", "search", "investigate",
    "debug", "merge", "rebase", "squash", "commit", "push", "send", "generate", "start", "continue", "go",
    "proceed", "rerun", "review", "list", "summarize", "have",
];

/// What is written once.
const ONE_THING: &[&str] = &[
    "a", "an", "the", "some", "one", "two", "three", "me", "us", "it", "this", "that", "these", "those",
    "down", "up", "out", "another",
];

/// What is written for one thing: "docs for the config module".
const WRITTEN: &[&str] = &["docs", "documentation", "tests", "unit tests", "integration tests", "notes"];

/// For what something is used once.
const TO_FIND_OUT: &[&str] = &[
    " to find the ", " to find all ", " to find out ", " to find where ", " to find which ", " to see ",
    " to check if ", " to check whether ", " to check the ", " to check what ", " to figure out ",
    " to locate the ", " to look at ", " to look up the ", " to inspect the ", " to trace ", " to confirm ",
    " to list the ",
];

/// What somebody else is asked.
const ASKED: &[&str] =
    &[" whether ", " if ", " why ", " how ", " what ", " which ", " where ", " about ", " for "];

/// Verbs of orders that mostly last, and what stands behind them where they name work.
const TASKS: &[(&str, &[&str])] = &[
    (
        "answer",
        &["the question", "my question", "the questions", "my questions", "this", "that", "him", "her"],
    ),
    ("call", &["the api", "the endpoint", "the function", "the tool", "the service", "the server", "it"]),
    ("check", &["that", "the", "this"]),
    ("describe", &["the", "this"]),
    ("explain", &["the", "this"]),
    ("handle", &["the", "this"]),
    ("leave", &["a comment", "a note", "a message", "a todo", "a review"]),
    ("log", &["in", "into", "out", "on"]),
    ("make", &["the", "this"]),
    ("name", &["two", "three", "four", "five", "some", "a few", "me", "the"]),
    ("put", &["together"]),
    ("reply", &["to him", "to her", "to them", "to the"]),
    ("sort", &["the", "this", "these", "out"]),
    ("store", &["the result", "the results", "the output", "this", "it"]),
];

/// What makes an order one for each time.
const RECURRING: &[&str] = &[
    " always ", " never ", " only ", " not ", "n't ", " no ", " nothing ", " whenever ", " unless ",
    " from now on ", " from here on ", " going forward ", " by default ", " as a rule ", " at most ",
    " at least ", " no more than ", " instead of ", " rather than ", " with me ", " once a ", " per commit ",
    " per pr ", " per file ", " per day ", " per week ",
];

/// What comes again and again.
pub(super) const OCCASIONS: &[&str] = &[
    "answer", "bug", "change", "commit", "deploy", "edit", "feature", "fix", "merge", "message", "pr",
    "push", "release", "response", "session", "step", "task", "time", "turn",
];
