//! The source as lines, each with the subjects it names.

use std::collections::HashMap;

use longhaul_extract::{CallView, ToolFamily, call_fields, decides, strip_line_numbers};
use longhaul_transcript::{CallKind, Entry, Message, Outcome, Part, Role, ToolCall, ToolResult};

use super::coverage::Coverage;

/// One line of the source.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Where it is shown.
    pub(crate) role: LineRole,
    /// Ordinal of its message.
    pub(crate) message: u64,
    /// The line, trimmed; a piece of it where it is long.
    pub(crate) text: String,
    /// What it names that has a value.
    pub(crate) subjects: Vec<u32>,
    /// What it is worth beside the facts in it.
    pub(crate) bonus: f64,
    /// Whether it is only a piece of a long line.
    pub(crate) is_piece: bool,
}

/// Where a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineRole {
    /// A command that was run.
    Command,
    /// What went wrong.
    Error,
    /// What the assistant settled.
    Decision,
    /// Anything else worth quoting.
    Quote,
}

/// A command and how it went.
#[derive(Clone, Debug)]
pub(crate) struct Run<'a> {
    /// Ordinal of the message with the call.
    pub(crate) message: u64,
    /// Its first line.
    pub(crate) command: String,
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
    run.error = run.failed.then(|| decisive_line(&text)).flatten();
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

/// Returns the lines of `entries` that are worth something, in order. Standing instructions are left out: they are
/// always kept.
pub(crate) fn read(entries: &[Entry], runs: &[Run<'_>], coverage: &Coverage<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let by_message: HashMap<(u64, &str), &Run<'_>> =
        runs.iter().map(|run| ((run.message, run.call.id.as_str()), run)).collect();
    let errors: HashMap<u64, (&str, f64)> = error_lines(runs);
    for entry in entries.iter().filter(|entry| !entry.message.is_system()) {
        let ordinal = entry.id.ordinal;
        let mut reader = LineReader {
            message: ordinal,
            coverage,
            error: errors.get(&ordinal).copied(),
            lines: &mut lines,
        };
        for part in &entry.message.parts {
            match part {
                Part::Text(text) => reader.text(text, &entry.message),
                Part::ToolCall(call) => match by_message.get(&(ordinal, call.id.as_str())) {
                    Some(run) => reader.run(run),
                    None => reader.lines(&call_text(call), LineRole::Quote),
                },
                Part::ToolResult(result) => {
                    for part in &result.content {
                        if let Part::Text(text) = part {
                            reader.lines(&strip_line_numbers(text), LineRole::Quote);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    lines
}

/// For each result that tells of a failure its decisive line and what that is worth: much while it is open.
fn error_lines<'r>(runs: &'r [Run<'_>]) -> HashMap<u64, (&'r str, f64)> {
    let mut passed: Vec<&str> = Vec::new();
    let mut errors = HashMap::new();
    for run in runs.iter().rev() {
        if !run.failed {
            passed.push(&run.command);
        } else if let (Some(error), Some(message)) = (&run.error, run.answered) {
            let open = !passed.contains(&run.command.as_str());
            let late = errors.len() < 3;
            errors.insert(message, (error.as_str(), if open && late { OPEN_ERROR } else { CLOSED_ERROR }));
        }
    }
    errors
}

/// Returns a call as people read it: `[bash] command: cargo test`.
pub(crate) fn call_text(call: &ToolCall) -> String {
    let mut text = format!("[{}]", call.name);
    for field in call_fields(&call.arguments.0, call.kind == CallKind::Function) {
        if !field.key.is_empty() {
            text.push(' ');
            text.push_str(&field.key);
            text.push(':');
        }
        text.push(' ');
        text.push_str(&field.text);
    }
    text
}

struct LineReader<'l, 'c> {
    message: u64,
    coverage: &'l Coverage<'c>,
    error: Option<(&'l str, f64)>,
    lines: &'l mut Vec<Line>,
}

impl LineReader<'_, '_> {
    fn text(&mut self, text: &str, message: &Message) {
        match message.role {
            Role::Tool => self.lines(&strip_line_numbers(text), LineRole::Quote),
            Role::Assistant => {
                for line in text.lines() {
                    let role = if decides(line) { LineRole::Decision } else { LineRole::Quote };
                    self.line(line, role);
                }
            }
            _ => self.lines(text, LineRole::Quote),
        }
    }

    fn run(&mut self, run: &Run<'_>) {
        let how = match (run.exit_code, run.failed) {
            (Some(code), true) => format!(" → exit {code}"),
            (None, true) => " → failed".into(),
            _ => String::new(),
        };
        let text = format!("$ {}{how}", run.command);
        if text.len() <= LONGEST_LINE {
            self.add(&text, LineRole::Command, false);
        } else {
            self.line(&run.command, LineRole::Quote);
        }
        // What else the call says: the rest of a script, a description.
        let all = call_text(run.call);
        for line in all.lines().filter(|line| !line.contains(&run.command)) {
            self.line(line, LineRole::Quote);
        }
    }

    fn lines(&mut self, text: &str, role: LineRole) {
        text.lines().for_each(|line| self.line(line, role));
    }

    fn line(&mut self, line: &str, role: LineRole) {
        let line = line.trim();
        if line.len() < 4 {
            return;
        }
        if line.len() <= LONGEST_LINE {
            self.add(line, role, false);
        } else if line.len() <= LONGEST_SPLIT {
            for piece in pieces(line) {
                self.add(piece, role, true);
            }
        }
    }

    fn add(&mut self, text: &str, role: LineRole, is_piece: bool) {
        let error = self.error.filter(|(error, _)| *error == text);
        let (role, bonus) = match (error, role) {
            (Some((_, bonus)), _) => (LineRole::Error, bonus),
            (None, LineRole::Decision) => (role, DECISION),
            (None, LineRole::Command) => (role, COMMAND),
            (None, role) => (role, 0.0),
        };
        let mut subjects = self.coverage.known_by(text);
        subjects.retain(|subject| self.coverage.value(*subject) > 0.0);
        if !subjects.is_empty() || bonus > 0.0 {
            self.lines.push(Line {
                role,
                message: self.message,
                text: text.to_string(),
                subjects,
                bonus,
                is_piece,
            });
        }
    }
}

/// Splits a long line (JSON on one line, a paragraph) where it has a comma, a semicolon or a full stop and a blank, or
/// where an object or list ends, into pieces of about [`PIECE`] bytes.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if rest.len() > PIECE {
            let mut limit = PIECE * 2;
            while limit < rest.len() && !rest.is_char_boundary(limit) {
                limit += 1;
            }
            let window = &rest[..limit.min(rest.len())];
            let breaks =
                |(at, mark): (usize, &str)| (at + mark.len() <= PIECE * 2).then_some(at + mark.len());
            let marks = [", ", ". ", "; ", "},", "],", "。", "，", "\","];
            end = marks
                .iter()
                .flat_map(|mark| window.match_indices(mark))
                .filter_map(breaks)
                .filter(|at| *at >= PIECE / 2)
                .min_by_key(|at| at.abs_diff(PIECE))
                .or_else(|| window.rfind(' ').map(|at| at + 1))
                .unwrap_or(window.len());
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece.trim())
    })
    .filter(|piece| piece.len() >= 4)
}

/// Bytes from which on a line is quoted in pieces.
const LONGEST_LINE: usize = 400;

/// Bytes from which on a line is no text that people read.
const LONGEST_SPLIT: usize = 100_000;

/// Bytes of a piece of a long line, about.
const PIECE: usize = 160;

/// What the decisive line of an open failure is worth, in certain facts.
const OPEN_ERROR: f64 = 0.5;

/// The same for one that a later run of the same command resolved, or an old one.
const CLOSED_ERROR: f64 = 0.06;

/// What a decision is worth beside its facts.
const DECISION: f64 = 0.08;

/// What a command is worth beside its facts.
const COMMAND: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_where_they_breathe() {
        let line =
            format!("{{{}}}", (0..60).map(|n| format!("\"key_{n}\": {n}")).collect::<Vec<_>>().join(", "));
        let all: Vec<_> = pieces(&line).collect();
        assert!(all.len() > 3 && all.iter().all(|piece| piece.len() <= 2 * PIECE), "{all:?}");
        assert_eq!(all.concat().replace(' ', ""), line.replace(' ', ""));
    }
}
