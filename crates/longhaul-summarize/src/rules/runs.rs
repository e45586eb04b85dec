//! Commands, what they are for, and how they went.

use std::collections::HashMap;

use longhaul_extract::{CallView, ToolFamily, read_shell};
use longhaul_transcript::{Entry, Outcome, Part, ToolCall, ToolResult};

/// A command and how it went.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    /// Ordinal of the message with the call.
    pub(crate) message: u64,
    /// Its first line.
    pub(crate) command: String,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// The exit code, where one is stated.
    pub(crate) exit_code: Option<i64>,
    /// Whether it failed.
    pub(crate) failed: bool,
    /// The line that says best what went wrong.
    pub(crate) error: Option<String>,
    /// Ordinal of the message with the result.
    pub(crate) answered: Option<u64>,
    /// The call.
    pub(crate) call: &'a ToolCall,
}

/// Returns the commands that `entries` run and how they went, oldest first.
pub(crate) fn runs(entries: &[Entry]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        for part in &entry.message.parts {
            match part {
                Part::ToolCall(call) => {
                    if let Some(command) = command(call) {
                        waiting.insert(call.id.as_str(), runs.len());
                        let message = entry.id.ordinal;
                        runs.push(Run {
                            message,
                            purpose: purpose(&command),
                            command,
                            exit_code: None,
                            failed: false,
                            error: None,
                            answered: None,
                            call,
                        });
                    }
                }
                Part::ToolResult(result) => {
                    if let Some(at) = waiting.remove(result.call_id.as_str()) {
                        finish(&mut runs[at], result, entry.id.ordinal);
                    }
                }
                _ => {}
            }
        }
    }
    runs
}

fn finish(run: &mut Run<'_>, result: &ToolResult, message: u64) {
    let text = result.joined_text();
    run.answered = Some(message);
    run.exit_code = exit_code(&text);
    run.failed = match run.exit_code {
        Some(code) => code != 0,
        None => result.outcome == Outcome::Failed,
    };
    if run.purpose == Purpose::Check && !run.failed {
        // Through a pipe the exit code is that of `tail`: the output itself says how it went.
        let outcome = read_shell(&text);
        run.failed = outcome.failed;
        run.error = outcome.decisive_error.filter(|_| outcome.failed);
    }
    if run.failed && run.error.is_none() {
        run.error = decisive_line(&text);
    }
}

/// The exit code that the harness states at the start or end of an output.
fn exit_code(text: &str) -> Option<i64> {
    const MARKS: [&str; 5] =
        ["exit code: ", "exit code ", "exited with code ", "exit status: ", "exit status "];
    let lines = || text.lines().take(6).chain(text.lines().rev().take(6));
    lines().filter(|line| line.len() < 200).find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let after = MARKS.iter().find_map(|mark| lower.split_once(mark)).map(|(_, after)| after)?;
        let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse().ok()
    })
}

/// The line of a failed command's output that says best what went wrong: the first that begins with an error, else the
/// first that tells of one.
fn decisive_line(text: &str) -> Option<String> {
    const STARTS: [&str; 7] = ["error", "fatal", "panic", "traceback", "e   ", "assertionerror", "--- fail"];
    const MARKS: [&str; 8] =
        ["error:", "error ", "panicked", "exception", "failed", "not found", "undefined", "cannot"];
    let lines =
        || text.lines().take(MOST_OUTPUT_LINES).map(str::trim).filter(|line| (6..=400).contains(&line.len()));
    let harness = |lower: &str| lower.contains("exit code") || lower.contains("exited with");
    let find = |test: &dyn Fn(&str) -> bool| {
        lines().find(|line| {
            let lower = line.to_ascii_lowercase();
            test(&lower) && !harness(&lower)
        })
    };
    find(&|line| STARTS.iter().any(|start| line.starts_with(start)))
        .or_else(|| find(&|line| MARKS.iter().any(|mark| line.contains(mark))))
        .map(str::to_string)
}

/// Lines of an output beyond which no error is looked for.
const MOST_OUTPUT_LINES: usize = 5000;

fn command(call: &ToolCall) -> Option<String> {
    let view = CallView::new(call);
    if view.family() != ToolFamily::Shell || view.patch().is_some() {
        return None;
    }
    let command = view.command()?;
    let first = command.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(first.to_string())
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

/// Tells what `command` is for, by the programs it names.
fn purpose(command: &str) -> Purpose {
    let mut looks = true;
    for simple in command.split(['|', ';', '&']).map(str::trim).filter(|simple| !simple.is_empty()) {
        let mut words =
            simple.split_whitespace().skip_while(|word| word.contains('=') || PREFIXES.contains(word));
        let Some(program) = words.next() else { continue };
        let program = program.rsplit('/').next().unwrap_or(program);
        let sub = words.clone().find(|word| !word.starts_with('-')).unwrap_or_default();
        if LOOKING.contains(&program) || (program == "git" && LOOKING_GIT.contains(&sub)) {
            let edits = program == "sed" && words.clone().any(|word| word.starts_with("-i"));
            looks &= !edits;
            continue;
        }
        looks = false;
        let checks = |word: &str| CHECKING.contains(&word);
        if checks(program) || words.flat_map(|word| word.split([':', '-', '_', '.', '/'])).any(checks) {
            return Purpose::Check;
        }
    }
    if looks { Purpose::Look } else { Purpose::Act }
}

/// Words before the program itself.
const PREFIXES: [&str; 7] = ["sudo", "time", "env", "nice", "timeout", "npx", "exec"];

/// Programs that only show something.
const LOOKING: [&str; 39] = [
    "ls", "cat", "head", "tail", "less", "more", "nl", "bat", "sed", "awk", "grep", "egrep", "rg", "ag",
    "find", "fd", "wc", "cd", "pwd", "echo", "printf", "which", "type", "tree", "file", "stat", "du", "df",
    "sort", "uniq", "cut", "tr", "jq", "xargs", "date", "whoami", "true", "sleep", "diff",
];

/// Subcommands of git that only show something.
const LOOKING_GIT: [&str; 11] = [
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "branch",
    "rev-parse",
    "ls-files",
    "remote",
    "describe",
    "grep",
];

/// Words that name a test, a build or a check.
const CHECKING: [&str; 28] = [
    "test",
    "tests",
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "nextest",
    "check",
    "clippy",
    "lint",
    "eslint",
    "build",
    "tsc",
    "typecheck",
    "make",
    "mypy",
    "ruff",
    "flake8",
    "pylint",
    "compile",
    "verify",
    "ctest",
    "vet",
    "gradle",
    "mvn",
    "tox",
    "rspec",
];

/// A command that was run, perhaps several times, and how the runs went.
#[derive(Clone, Debug)]
pub(crate) struct RunGroup<'r, 'a> {
    /// The command without what only shortens its output.
    pub(crate) heart: &'r str,
    /// Its runs, oldest first.
    pub(crate) runs: Vec<&'r Run<'a>>,
}

/// Returns the commands of `runs`, those of the same heart together, in the order of their last runs.
pub(crate) fn groups<'r, 'a>(runs: &'r [Run<'a>]) -> Vec<RunGroup<'r, 'a>> {
    let mut by_heart: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<RunGroup<'r, 'a>> = Vec::new();
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

impl RunGroup<'_, '_> {
    /// Returns the last run.
    pub(crate) fn last(&self) -> &Run<'_> {
        // A group is made with its first run.
        self.runs[self.runs.len() - 1]
    }

    /// Returns how the runs went, in a few words: `×3: failed m15 (exit 101), ok m41`.
    pub(crate) fn outcome(&self) -> String {
        let mut turns: Vec<&Run<'_>> = Vec::new();
        for run in self.runs.iter().copied().filter(|run| run.answered.is_some()) {
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
    fn commands_are_told_apart_by_what_they_do() {
        for command in
            ["ls -la src", "cd /w && git log --oneline | head", "sed -n '1,20p' a.rs", "cat tests/a.rs"]
        {
            assert_eq!(purpose(command), Purpose::Look, "{command}");
        }
        for command in
            ["cargo test -p x 2>&1 | tail", "cd a && npm run build", "RUST_LOG=1 make", "npx tsc --noEmit"]
        {
            assert_eq!(purpose(command), Purpose::Check, "{command}");
        }
        for command in
            ["git commit -m x", "sed -i s/a/b/ c.rs", "npm install left-pad", "mkdir -p a && cat b"]
        {
            assert_eq!(purpose(command), Purpose::Act, "{command}");
        }
    }

    #[test]
    fn the_heart_of_a_command_is_what_it_does() {
        assert_eq!(heart("cd /w && cargo test -p x 2>&1 | tail -20"), "cargo test -p x");
        assert_eq!(
            heart("cargo fmt --check 2>&1 | head; echo done"),
            "cargo fmt --check 2>&1 | head; echo done"
        );
    }
}
