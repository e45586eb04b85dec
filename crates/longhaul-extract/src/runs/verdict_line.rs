//! The verdict that a command's own output states, where no runner is known: `RESULT: FAIL (0/1 scored)`.

use super::{Purpose, Verdict, kind, landings};
use crate::script::{Link, Simple};

/// Returns how all of it went by the one line that says so, and that line; `None` where more than one says how something went, or where the
/// output may be that of somebody else: a log that is shown, an answer of a service.
pub(super) fn verdict_line<'t>(output: &[&'t str], script: &[Simple<'_>]) -> Option<(Verdict, &'t str)> {
    let mut labelled = output.iter().filter_map(|line| Some((of_label(line)?, line.trim())));
    let (said, line) = labelled.next().filter(|_| is_its_own(script))?;
    // What was broken off has not passed, whatever it said before.
    let is_whole = || !output.iter().any(|line| line.contains("timed out after"));
    let verdict = verdict(said).filter(|verdict| *verdict == Verdict::Failed || is_whole())?;
    labelled.next().is_none().then_some((verdict, line))
}

/// Whether what is printed is the word of a program of one's own that runs here: nothing in the line shows a file or what somebody else
/// said.
fn is_its_own(script: &[Simple<'_>]) -> bool {
    let is_piped = |at: usize| at > 0 && script[at - 1].link == Link::Pipe;
    let is_program = |simple: &Simple<'_>| {
        let name = kind::program_name(simple);
        // A program that is written in the command line shows whatever it likes.
        let words = simple.plain();
        let runs_a_file = || words.get(1).is_some_and(|word| !word.text.starts_with(['-', '<']));
        ENDINGS.iter().any(|ending| name.ends_with(ending)) || RUNNERS.contains(&name) && runs_a_file()
    };
    let runs = |simple: &Simple<'_>| {
        let purpose = kind::purpose(simple);
        (purpose.is_check() || purpose == Purpose::Act) && is_program(simple) && !landings::lands(simple)
    };
    let is_beside = |(at, simple): (usize, &Simple<'_>)| {
        runs(simple)
            || is_piped(at)
            || matches!(kind::program_name(simple), "cd" | "export" | "set" | "true" | "")
    };
    script.iter().any(runs) && script.iter().enumerate().all(is_beside)
}

/// Returns what stands behind a label: `RESULT: FAIL (0/1)`, `== Overall: passed ==`, `**Verdict:** FAIL`.
fn of_label(line: &str) -> Option<&str> {
    let (label, said) = bare(line).split_once(':').filter(|_| line.len() <= LONGEST)?;
    LABELS.contains(&&*bare(label).to_ascii_lowercase()).then(|| bare(said))
}

/// Returns what this says and no more than how far: not of `failed to read the cache`, `failed: 0`, `FAIL (as expected)`, `pass@1: 0.1`.
fn verdict(said: &str) -> Option<Verdict> {
    let end = said.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(said.len());
    let (word, rest) = said.split_at(end);
    let rest = rest.trim().to_ascii_lowercase();
    let failed = ["fail", "failed", "failure"].iter().any(|one| word.eq_ignore_ascii_case(one));
    let other = if failed { "pass" } else { "fail" };
    let says_more = ["expected", "skip", other].iter().any(|more| rest.contains(more));
    let is_how_far =
        rest.starts_with('(') && !rest.starts_with("(0)") && !rest.starts_with("(0 ") && !says_more;
    if !rest.is_empty() && !is_how_far {
        return None;
    }
    let passed = ["pass", "passed", "success"].iter().any(|one| word.eq_ignore_ascii_case(one));
    match (failed, passed) {
        (true, _) => Some(Verdict::Failed),
        (_, true) => Some(Verdict::Passed),
        _ => None,
    }
}

/// Returns `text` without what is drawn around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '=' | '-' | '*' | '#' | '_' | '>' | '|')
            || c > '\u{2000}' && !c.is_alphanumeric()
    })
}

/// Who says how all of it went.
const LABELS: [&str; 10] = [
    "result", "overall", "overall result", "overall status", "overall verdict", "final result",
    "final status", "final verdict", "verdict", "test result",
];

/// What runs a program of one's own.
const RUNNERS: [&str; 16] = [
    "python", "python3", "uv", "poetry", "node", "bun", "deno", "npx", "npm", "pnpm", "yarn", "tsx", "ruby",
    "bash", "make", "cargo",
];

/// What such a program's name may end in.
const ENDINGS: [&str; 4] = [".sh", ".py", ".js", ".ts"];

/// Bytes of the longest line that is a verdict.
const LONGEST: usize = 200;
