//! The source as lines, each with the subjects it names.

use std::{borrow::Cow, collections::HashMap};

use longhaul_extract::{call_fields, decides, strip_line_numbers};
use longhaul_transcript::{CallKind, Entry, Message, MessageId, Part, Role, ToolCall};

use super::{
    account::{is_users, own_text},
    coverage::Coverage,
    goal::Goal,
    runs::{Purpose, Run, RunGroup},
};

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
    /// What is added to the line when it is shown: how it went, what resolved it. Handles and words of our own.
    pub(crate) after: String,
}

/// Where a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineRole {
    /// What the user asked for after the task.
    Request,
    /// A command that was run.
    Command,
    /// What the assistant settled.
    Decision,
    /// What went wrong.
    Error,
    /// What the assistant said on the way.
    Progress,
    /// Anything else worth quoting.
    Quote,
}

/// What the lines are read from and valued by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) entries: &'a [Entry],
    pub(crate) runs: &'a [Run<'a>],
    pub(crate) groups: &'a [RunGroup<'a, 'a>],
    pub(crate) coverage: &'a Coverage<'a>,
    /// The message whose text stands as the task.
    pub(crate) task: Option<MessageId>,
    pub(crate) goal: &'a Goal,
    /// People talk among themselves: nobody asks, nobody reports.
    pub(crate) is_talk: bool,
    /// The directory that the paths of the summary are relative to; empty where there is none.
    pub(crate) root: &'a str,
    /// How much of what a line tells beside its facts counts, 0.0 to 1.0: less in small summaries.
    pub(crate) telling: f64,
}

/// Returns the lines that are worth something, in order. Standing instructions are left out: they are always kept.
pub(crate) fn read(reading: Reading<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let Reading { entries, runs, coverage, task, goal, is_talk, telling, .. } = reading;
    let by_message: HashMap<(u64, &str), &Run<'_>> =
        runs.iter().map(|run| ((run.message, run.call.id.as_str()), run)).collect();
    let errors = error_lines(runs);
    for entry in entries.iter().filter(|entry| !entry.message.is_system()) {
        let ordinal = entry.id.ordinal;
        let mut reader = LineReader {
            message: ordinal,
            coverage,
            goal,
            is_talk,
            telling,
            error: errors.get(&ordinal).cloned(),
            lines: &mut lines,
        };
        if is_users(&entry.message) && task != Some(entry.id) && !is_talk {
            reader.request(&entry.message);
            continue;
        }
        for part in &entry.message.parts {
            match part {
                Part::Text(text) => reader.text(text, &entry.message),
                Part::ToolCall(call) => match by_message.get(&(ordinal, call.id.as_str())) {
                    Some(run) => reader.run(run),
                    None => reader.lines(&below(reading.root, &call_text(call)), LineRole::Quote),
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
    add_commands(&reading, &mut lines);
    lines
}

/// Adds the commands, each once with how its runs went. The checks that were run last say where the work stands.
fn add_commands(reading: &Reading<'_>, lines: &mut Vec<Line>) {
    let checks = reading.groups.iter().filter(|group| group.last().purpose == Purpose::Check).count();
    let mut seen = 0;
    for group in reading.groups {
        let run = group.last();
        seen += usize::from(run.purpose == Purpose::Check);
        let worth = match run.purpose {
            Purpose::Check if run.failed || checks - seen < LAST_CHECKS => LATE_CHECK,
            Purpose::Check => EARLY_CHECK,
            Purpose::Act => ACT,
            Purpose::Look => 0.0,
        };
        let mut reader = LineReader {
            message: run.message,
            coverage: reading.coverage,
            goal: reading.goal,
            is_talk: reading.is_talk,
            telling: reading.telling,
            error: None,
            lines,
        };
        if group.heart.len() > LONGEST_LINE {
            reader.line(group.heart, LineRole::Quote);
            continue;
        }
        reader.add_line(group.heart, LineRole::Command, worth, false, group.outcome());
    }
}

/// The decisive line of a result that tells of a failure.
#[derive(Clone, Debug)]
struct ErrorLine<'r> {
    line: &'r str,
    worth: f64,
    /// What resolved it.
    after: String,
}

/// For each result that tells of a failure its decisive line and what that is worth: much while it is open.
fn error_lines<'r>(runs: &'r [Run<'_>]) -> HashMap<u64, ErrorLine<'r>> {
    let mut passed: HashMap<&str, u64> = HashMap::new();
    let mut errors = HashMap::new();
    for run in runs.iter().rev() {
        if !run.failed {
            passed.insert(&run.command, run.message);
        } else if let (Some(error), Some(message)) = (&run.error, run.answered) {
            let resolved = passed.get(run.command.as_str());
            let late = errors.len() < 3;
            let worth = if resolved.is_none() && late { OPEN_ERROR } else { CLOSED_ERROR };
            let after = resolved.map_or(String::new(), |at| format!("(passed in m{at})"));
            errors.insert(message, ErrorLine { line: error, worth, after });
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

/// Returns a call with the paths in its first line relative to `root`, as they are listed; what the call writes stays as it is.
fn below(root: &str, call: &str) -> String {
    let (first, rest) = call.split_at(call.find('\n').unwrap_or(call.len()));
    match root {
        "" => call.to_string(),
        root => first.replace(&format!("{root}/"), "") + rest,
    }
}

struct LineReader<'l, 'c> {
    message: u64,
    coverage: &'l Coverage<'c>,
    goal: &'l Goal,
    is_talk: bool,
    telling: f64,
    error: Option<ErrorLine<'l>>,
    lines: &'l mut Vec<Line>,
}

impl LineReader<'_, '_> {
    fn text(&mut self, text: &str, message: &Message) {
        match message.role {
            Role::Tool => self.lines(&strip_line_numbers(text), LineRole::Quote),
            Role::Assistant if !self.is_talk => {
                for line in prose(text) {
                    let role = if decides(&line) { LineRole::Decision } else { LineRole::Progress };
                    self.line(&line, role);
                }
            }
            _ => self.lines(text, LineRole::Quote),
        }
    }

    /// A later message of the user: its first lines are a request, the rest is mostly pasted.
    fn request(&mut self, message: &Message) {
        let Some(text) = own_text(message) else { return };
        for (at, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            self.line(line, if at < REQUEST_LINES { LineRole::Request } else { LineRole::Quote });
        }
    }

    /// What a command's call says beside its first line: the rest of a script, a description.
    fn run(&mut self, run: &Run<'_>) {
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
        let error = self.error.as_ref().filter(|error| error.line == text).cloned();
        let worth = match role {
            LineRole::Decision => DECISION,
            LineRole::Request => REQUEST,
            LineRole::Progress if text.split_whitespace().nth(4).is_some() => PROGRESS,
            _ => 0.0,
        };
        match error {
            Some(ErrorLine { worth, after, .. }) => {
                self.add_line(text, LineRole::Error, worth, is_piece, after);
            }
            None => self.add_line(text, role, worth, is_piece, String::new()),
        }
    }

    fn add_line(&mut self, text: &str, role: LineRole, worth: f64, is_piece: bool, after: String) {
        let mut subjects = self.coverage.known_by(text);
        subjects.retain(|subject| self.coverage.value(*subject) > 0.0);
        let bonus = worth * (0.5 + 0.5 * self.telling) + self.goal.worth(text);
        if !subjects.is_empty() || bonus > 0.0 {
            let message = self.message;
            self.lines.push(Line { role, message, text: text.to_string(), subjects, bonus, is_piece, after });
        }
    }
}

/// Returns the lines of a text, one that leads in (`The bug is twofold:`, a heading) together with the line that it leads
/// to: alone it keeps the question and loses the answer.
fn prose(text: &str) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    let mut lead: Option<&str> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let goes_on = !line.starts_with("```") && !leads_in(line);
        match lead.take() {
            Some(lead) if goes_on && lead.len() + line.len() < LONGEST_LINE => {
                lines.push(format!("{lead}\n{line}").into());
                continue;
            }
            Some(alone) => lines.push(alone.into()),
            None => {}
        }
        match leads_in(line) {
            true => lead = Some(line),
            false => lines.push(line.into()),
        }
    }
    lines.extend(lead.map(Cow::from));
    lines
}

fn leads_in(line: &str) -> bool {
    line.starts_with('#') || line.trim_end_matches('*').ends_with([':', '：'])
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
                .or_else(|| window.rfind([' ', ',', ';', '"', '}', ')', '>']).map(|at| at + 1))
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

/// What a line of the assistant's prose is worth beside its facts: it tells what the work was about.
const PROGRESS: f64 = 0.02;

/// What a later request of the user is worth beside its facts.
const REQUEST: f64 = 0.12;

/// Lines of a later message of the user that count as the request.
const REQUEST_LINES: usize = 3;

/// What a check is worth beside its facts, when it failed or is one of the last.
const LATE_CHECK: f64 = 0.3;

/// How many checks are the last.
const LAST_CHECKS: usize = 3;

/// What an earlier check is worth.
const EARLY_CHECK: f64 = 0.04;

/// What a command that changes something is worth.
const ACT: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_leads_in_stays_with_what_it_leads_to() {
        let text = "I looked.\n\n**The bug is twofold:**\n\n1. The hook never runs.\n2. The state is stale.\n\n## Next\n```\ncode()\n```\nDone:";
        let expected = [
            "I looked.",
            "**The bug is twofold:**\n1. The hook never runs.",
            "2. The state is stale.",
            "## Next",
            "```",
            "code()",
            "```",
            "Done:",
        ];
        assert_eq!(prose(text), expected);
    }

    #[test]
    fn long_lines_are_cut_where_they_breathe() {
        let line =
            format!("{{{}}}", (0..60).map(|n| format!("\"key_{n}\": {n}")).collect::<Vec<_>>().join(", "));
        let all: Vec<_> = pieces(&line).collect();
        assert!(all.len() > 3 && all.iter().all(|piece| piece.len() <= 2 * PIECE), "{all:?}");
        assert_eq!(all.concat().replace(' ', ""), line.replace(' ', ""));
    }
}
