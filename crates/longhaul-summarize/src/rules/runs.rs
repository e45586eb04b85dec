//! Commands, what they are for, and how they went.

use std::collections::HashMap;

use longhaul_extract::Verdict;
use longhaul_transcript::Entry;

/// A command and how it went.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Ordinal of the message with the call.
    pub(crate) message: u64,
    /// Its first line.
    pub(crate) command: String,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// The exit code, where one is stated.
    pub(crate) exit_code: Option<i64>,
    /// Whether it failed, as far as the source settles it.
    pub(crate) failed: bool,
    /// Whether it went well, as far as the source settles it.
    pub(crate) passed: bool,
    /// The line that says best what went wrong.
    pub(crate) error: Option<String>,
}

/// Returns the commands that `entries` run and how they went, oldest first.
pub(crate) fn runs(entries: &[Entry]) -> Vec<Run> {
    let all = longhaul_extract::runs(entries).into_iter();
    all.filter_map(|run| {
        let first = run.command.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(Run {
            message: run.message,
            command: first.to_string(),
            purpose: match run.purpose {
                purpose if purpose.is_check() => Purpose::Check,
                longhaul_extract::Purpose::Act => Purpose::Act,
                _ => Purpose::Look,
            },
            exit_code: run.exit_code,
            failed: run.verdict == Verdict::Failed,
            passed: run.verdict == Verdict::Passed,
            error: run.error,
        })
    })
    .collect()
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It tests, builds or checks: how it went says where the work stands.
    Check,
    /// It only looks: listing, reading, searching.
    Look,
    /// It changes something.
    Act,
}

/// A command that was run, perhaps several times, and how the runs went.
#[derive(Clone, Debug)]
pub(crate) struct RunGroup<'r> {
    /// The command without what only shortens its output.
    pub(crate) heart: &'r str,
    /// Its runs, oldest first.
    pub(crate) runs: Vec<&'r Run>,
}

/// Returns the commands of `runs`, those of the same heart together, in the order of their last runs.
pub(crate) fn groups<'r>(runs: &'r [Run]) -> Vec<RunGroup<'r>> {
    let mut by_heart: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<RunGroup<'r>> = Vec::new();
    for run in runs {
        let heart = heart(&run.command);
        let at = *by_heart.entry(heart).or_insert_with(|| {
            groups.push(RunGroup { heart, runs: Vec::new() });
            groups.len() - 1
        });
        groups[at].runs.push(run);
    }
    groups.sort_by_key(|group| group.last().message);
    groups
}

impl RunGroup<'_> {
    /// Returns the last run.
    pub(crate) fn last(&self) -> &Run {
        // A group is made with its first run.
        self.runs[self.runs.len() - 1]
    }

    /// Returns how the runs went, in a few words: `×3: failed m15 (exit 101), ok m41`.
    pub(crate) fn outcome(&self) -> String {
        let mut turns: Vec<&Run> = Vec::new();
        for run in self.runs.iter().copied().filter(|run| run.failed || run.passed) {
            match turns.last_mut() {
                Some(last) if last.failed == run.failed => *last = run,
                _ => turns.push(run),
            }
        }
        turns.drain(..turns.len().saturating_sub(MOST_TURNS));
        let words: Vec<String> = turns
            .iter()
            .map(|run| match (run.failed, run.exit_code) {
                (true, Some(code)) if code != 0 => format!("failed m{} (exit {code})", run.message),
                (true, _) => format!("failed m{}", run.message),
                (false, _) => format!("ok m{}", run.message),
            })
            .collect();
        let count = if self.runs.len() > 1 { format!("×{} ", self.runs.len()) } else { String::new() };
        match words.is_empty() {
            true => format!("{count}m{}", self.last().message),
            false => format!("{count}{}", words.join(", ")),
        }
    }
}

/// How many changes between passing and failing are told.
const MOST_TURNS: usize = 3;

/// Returns the part of a command that says what it does: without a leading `cd`, and without the pipe at its end that
/// only shortens the output.
fn heart(command: &str) -> &str {
    let mut rest = command;
    while let Some((_, after)) = rest.strip_prefix("cd ").and_then(|cd| cd.split_once("&&")) {
        rest = after.trim_start();
    }
    for cut in [" 2>&1", " 2>/dev/null", " | tail", " | head", " || true"] {
        if let Some(at) = rest.find(cut) {
            let (before, after) = rest.split_at(at);
            // What follows does more than shorten when another command comes.
            if !after.contains("&&") && !after.contains(';') {
                rest = before;
            }
        }
    }
    rest.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heart_of_a_command_is_what_it_does() {
        assert_eq!(heart("cd /w && cargo test -p x 2>&1 | tail -20"), "cargo test -p x");
        assert_eq!(
            heart("cargo fmt --check 2>&1 | head; echo done"),
            "cargo fmt --check 2>&1 | head; echo done"
        );
    }
}
