//! The verdict that a command's own output states, where no runner is known: `RESULT: FAIL (0/1 scored)`.

use super::{Purpose, Verdict, kind, landings};
use crate::script::{Link, Simple};

/// Returns how a command went by the verdict that its output states, with the line that does; `None` where there is none, where
/// verdicts differ, or where the output may be that of somebody else: a log that is shown.
pub(super) fn verdict_line<'t>(output: &[&'t str], script: &[Simple<'_>]) -> Option<(Verdict, &'t str)> {
    if !is_its_own(script) {
        return None;
    }
    let last = output.iter().rev().find(|line| !line.trim().is_empty());
    let of_last =
        last.and_then(|line| of_whole(line).or_else(|| of_table(line)).map(|verdict| (verdict, *line)));
    let labelled = output.iter().filter_map(|line| Some((of_label(line)?, *line)));
    let mut all = labelled.chain(of_last);
    let (verdict, line) = all.next()?;
    all.all(|(other, _)| other == verdict).then(|| (verdict, line.trim()))
}

/// Whether what is printed is the word of what runs here: nothing in it shows a file or what somebody else said.
fn is_its_own(script: &[Simple<'_>]) -> bool {
    const FETCHES: [&str; 5] = ["curl", "wget", "gh", "glab", "kubectl"];
    let is_piped = |at: usize| at > 0 && script[at - 1].link == Link::Pipe;
    let shows = |(at, simple): (usize, &Simple<'_>)| {
        kind::purpose(simple) == Purpose::Look && !is_piped(at)
            || FETCHES.contains(&kind::program_name(simple))
    };
    let runs = |simple: &Simple<'_>| {
        let purpose = kind::purpose(simple);
        purpose.is_check() || purpose == Purpose::Act && !landings::lands(simple)
    };
    script.iter().any(runs) && !script.iter().enumerate().any(shows)
}

/// `RESULT: FAIL (0/1)`, `== Overall: passed ==`, `**Verdict:** FAIL`.
fn of_label(line: &str) -> Option<Verdict> {
    let (label, said) = bare(line).split_once(':').filter(|_| line.len() <= LONGEST)?;
    let label = bare(label).to_ascii_lowercase();
    LABELS.contains(&label.as_str()).then(|| word(bare(said))).flatten()
}

/// A last line that is nothing but the verdict, as programs shout it.
fn of_whole(line: &str) -> Option<Verdict> {
    let said = bare(line);
    said.bytes().all(|byte| byte.is_ascii_uppercase()).then(|| word(said)).flatten()
}

/// A last line that is the foot of a table: `| Overall | 3/5 | FAIL |`.
fn of_table(line: &str) -> Option<Verdict> {
    let mut cells = line.split(['|', '\t']).map(bare).filter(|cell| !cell.is_empty());
    let is_foot = FEET.contains(&cells.next()?.to_ascii_lowercase().as_str());
    let is_alone = |cell: &&str| cell.bytes().all(|byte| byte.is_ascii_alphabetic());
    cells.filter(|_| is_foot).filter(is_alone).find_map(word)
}

/// What the first word of `said` says, where no sentence and no count goes on: not `failed to read the cache`, not `failed: 0`.
fn word(said: &str) -> Option<Verdict> {
    let end = said.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(said.len());
    let (word, rest) = said.split_at(end);
    let next = rest.trim_start_matches([' ', ':', '=']);
    if next.starts_with(char::is_alphanumeric) || rest.starts_with(['-', '_', '/', '.']) {
        return None;
    }
    let is_one_of = |words: &[&str]| words.iter().any(|one| word.eq_ignore_ascii_case(one));
    if is_one_of(&["fail", "failed", "failure"]) {
        Some(Verdict::Failed)
    } else {
        is_one_of(&["pass", "passed", "success"]).then_some(Verdict::Passed)
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
    "result",
    "overall",
    "overall result",
    "overall status",
    "overall verdict",
    "final result",
    "final status",
    "final verdict",
    "verdict",
    "test result",
];

/// What begins the last line of a table.
const FEET: [&str; 5] = ["overall", "total", "result", "verdict", "all"];

/// Bytes of the longest line that is a verdict.
const LONGEST: usize = 200;
