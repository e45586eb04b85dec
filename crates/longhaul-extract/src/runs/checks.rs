//! The checks of a conversation: how each went last, what failed, and what cured it.

use serde::{Deserialize, Serialize};

use super::{Purpose, Run, Verdict, failed_script};
use crate::FileHistory;

/// A check, how it went last, and its last failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its last run of which the source says how it went.
    pub last: Run,
    /// The last run that failed, where one did; the last itself where that failed.
    pub failure: Option<Run>,
    /// What cured that failure, where a later run passed.
    pub cure: Option<Cure>,
}

/// How a failure came to an end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cure {
    /// Ordinal of the message with the run that passed.
    pub passed: u64,
    /// The edits between the failure and that run: path, and ordinal of the message.
    pub edits: Vec<(String, u64)>,
}

/// Returns the checks in `runs`, each once by what it runs, in the order of their last runs. `files` says which edits lie
/// between a failure and its cure.
pub fn checks(runs: &[Run], files: &[FileHistory]) -> Vec<Check> {
    let settled = |run: &&Run| run.purpose.is_check() && run.verdict != Verdict::Unknown;
    let mut found: Vec<Check> = Vec::new();
    for run in runs {
        fail_by_script(&mut found, run);
        if !settled(&run) {
            continue;
        }
        let known = found.iter().position(|check| same(&check.last, run));
        let before = known.map(|at| found.remove(at));
        let (mut failure, mut cure) = before.map_or((None, None), |check| (check.failure, check.cure));
        match run.verdict {
            Verdict::Failed => (failure, cure) = (Some(run.clone()), None),
            _ => {
                if let (Some(failed), None) = (&failure, &cure) {
                    cure = Some(Cure {
                        passed: run.message,
                        edits: edits_between(files, failed.message, run.message),
                    });
                }
            }
        }
        found.push(Check { last: run.clone(), failure, cure });
    }
    found
}

/// Where another command ran the script of a check and that failed, as in the hook of a commit, the check has failed.
fn fail_by_script(found: &mut Vec<Check>, run: &Run) {
    const RUNNERS: [&str; 6] = ["bun run ", "npm run ", "pnpm run ", "yarn run ", "pnpm ", "yarn "];
    let Some(script) = run.script_error.as_deref().and_then(failed_script) else { return };
    let is_of_script =
        |check: &Check| RUNNERS.iter().any(|runner| check.last.heart.strip_prefix(runner) == Some(script));
    let Some(at) = found.iter().position(is_of_script) else { return };
    let Run { purpose, checks, heart, .. } = found.remove(at).last;
    // What else is printed may be of scripts that passed.
    let last = Run { purpose, checks, heart, error: run.script_error.clone(), ..run.clone() };
    found.push(Check { failure: Some(last.clone()), last, cure: None });
}

/// Whether two runs are of one check: of the same line, without what only shortens its output.
fn same(one: &Run, other: &Run) -> bool {
    one.purpose == other.purpose && one.checks == other.checks && one.heart == other.heart
}

fn edits_between(files: &[FileHistory], from: u64, to: u64) -> Vec<(String, u64)> {
    let all = files.iter().flat_map(|file| file.trail.iter().map(|edit| (file.path.clone(), edit.message)));
    let mut between: Vec<(String, u64)> = all.filter(|(_, message)| (from..to).contains(message)).collect();
    between.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    between.dedup();
    between
}

impl Check {
    /// Returns how it stands in one line: `test: passed (m41), 12 passed; failed in m15: …; then edited: src/a.rs (m20)`.
    ///
    /// Which of the edits cured a failure is not known; that they lie between it and the run that passed is.
    pub fn line(&self) -> String {
        let word = |run: &Run| match run.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Unknown => "unknown",
        };
        let mut line = format!("{}: {} (m{})", self.last.heart, word(&self.last), self.last.message);
        let tests = self.last.tests;
        if self.last.purpose == Purpose::Test && tests.any() {
            line.push_str(&format!(", {} passed, {} failed", tests.passed, tests.failed));
        }
        if let Some(failure) = &self.failure {
            let error = failure.error.as_deref().unwrap_or("no reason given");
            match self.last.verdict {
                Verdict::Failed => line.push_str(&format!(": {error}")),
                _ => line.push_str(&format!("; failed in m{}: {error}", failure.message)),
            }
        }
        let edits = self.likely_cures();
        if !edits.is_empty() {
            let told: Vec<String> =
                edits.iter().take(MOST_EDITS).map(|(path, message)| format!("{path} (m{message})")).collect();
            let more = match edits.len().saturating_sub(MOST_EDITS) {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            line.push_str(&format!("; then edited: {}{more}", told.join(", ")));
        }
        line
    }

    /// Returns the files that were edited between the last failure and the run that passed, each with its last edit: those that the
    /// command or the error names first, then the others, the nearest to the run that passed first.
    fn likely_cures(&self) -> Vec<(&str, u64)> {
        let mut edits: Vec<(&str, u64)> = Vec::new();
        for (path, message) in self.cure.iter().flat_map(|cure| cure.edits.iter().rev()) {
            if edits.iter().all(|(known, _)| *known != path) {
                edits.push((path, *message));
            }
        }
        let error = self.failure.as_ref().and_then(|failure| failure.error.as_deref()).unwrap_or_default();
        edits.sort_by_key(|(path, _)| !names(&self.last.heart, path) && !names(error, path));
        edits
    }
}

/// So many of the files that were edited before a check passed are told.
const MOST_EDITS: usize = 4;

/// Returns whether a text names the file at `path`: by its path, or by as much of its end as it gives.
fn names(text: &str, path: &str) -> bool {
    let mut words = text
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ':' | '='));
    words.any(|word| {
        let word = word.trim_start_matches("./");
        word == path
            || word.contains('.') && path.strip_suffix(word).is_some_and(|before| before.ends_with('/'))
            || path.contains('/') && word.ends_with(path) && word[..word.len() - path.len()].ends_with('/')
    })
}
