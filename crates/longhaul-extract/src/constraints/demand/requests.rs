//! Requests and rules that begin alike, told from each other.

use super::{passing::is_passing, read};

fn lasts(sentence: &str) -> bool {
    read(sentence).is_some() && !is_passing(sentence)
}

#[test]
fn a_request_is_no_rule() {
    let rules: Vec<&str> = REQUESTS.iter().copied().filter(|sentence| lasts(sentence)).collect();
    assert_eq!(rules, [""; 0]);
}

#[test]
fn a_rule_that_begins_as_a_request_does_is_one() {
    let lost: Vec<&str> = RULES.iter().copied().filter(|sentence| !lasts(sentence)).collect();
    assert_eq!(lost, [""; 0]);
}

const REQUESTS: &[&str] = &[
    "Write a unit test for the parser that covers empty input.",
    "Please write docs for the config module.",
    "Write some tests for the retry path.",
    "Write me a short summary of what changed.",
    "Keep going.",
    "Keep going until the tests pass.",
    "Keep on working on the migration.",
    "Keep looking for the leak.",
    "Let's have a look at the failing test.",
    "Let's start with the parser, then the printer.",
    "Let's keep going.",
    "Let's write a test for that.",
    "Use grep to find the callers of parse_header.",
    "Use the search tool to see where the flag is read.",
    "Run all tests again.",
    "Run every test in the parser crate.",
    "Fix the failing test before we go on.",
    "Add a test for each branch of the parser.",
    "Check if the build is green.",
    "Put together a table of the results.",
    "Log into the staging box and see what it says.",
    "Call the endpoint and show me what comes back.",
    "Ask Anna whether the key was rotated.",
    "Answer the question in issue 12.",
    "Sort the list in report.md.",
    "Name three options.",
    "Start with the tests.",
    "Leave a comment on the issue that says what we found.",
    "Support for zstd would be nice, add it.",
    "I want you to look at the parser when you're done.",
    "I'd like to see the numbers for all three runs.",
    "I need you to rename the module.",
    "Now write the migration.",
    "Next, write a script that loads all rows.",
    "Please add a flag that skips files without tests.",
    "Rename every use of foo to bar.",
    "Remove all the dead code in the parser.",
];

const RULES: &[&str] = &[
    "Write a test for every bug that you fix.",
    "Write tests first.",
    "Write comments in German.",
    "Write commit messages in the imperative.",
    "Write all SQL in lower case.",
    "Write docs in plain English.",
    "Keep functions short.",
    "Keep the public API as it was.",
    "Keep answers under five lines.",
    "Let's use pnpm.",
    "Let's keep the tests in one file.",
    "Use pnpm, not npm.",
    "Use ruff to format the code.",
    "Use the staging database for tests.",
    "Use tabs to indent.",
    "Run the linter before each commit.",
    "Run the tests after every change.",
    "Add a changelog line for every change.",
    "Put new tests under tests/it.",
    "Put secrets in the vault.",
    "Log errors to stderr.",
    "Ask before you delete anything.",
    "Ask Anna before you touch the schema.",
    "Answer in German.",
    "Call me Max.",
    "Name branches feature/<ticket>.",
    "Sort imports by name.",
    "Store times in UTC.",
    "Leave the vendored code alone.",
    "I want all commits signed.",
    "I want you to keep the old flags.",
    "I'd like short answers.",
    "I need you to ask before you push.",
    "I prefer small commits.",
    "Stay on the branch relay-2.",
    "Fix nothing that I did not ask for.",
    "Run nothing on production.",
    "Add no dependencies without asking.",
    "Check with me before you push.",
];
