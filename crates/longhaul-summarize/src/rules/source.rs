//! The source as lines, each with the subjects it names.

use longhaul_extract::{call_fields, strip_line_numbers};
use longhaul_transcript::{CallKind, Entry, Part, Role, ToolCall};

use super::coverage::Coverage;

/// One line of the source.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Ordinal of its message.
    pub(crate) message: u64,
    /// The line, trimmed.
    pub(crate) text: String,
    /// What it names that has a value.
    pub(crate) subjects: Vec<u32>,
}

/// Returns the lines of `entries` that name something of value, in order. Standing instructions are left out: they are
/// always kept.
pub(crate) fn read(entries: &[Entry], coverage: &Coverage<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.message.is_system()) {
        let mut add = |text: &str| add_lines(text, entry.id.ordinal, coverage, &mut lines);
        for part in &entry.message.parts {
            match part {
                Part::Text(text) if entry.message.role == Role::Tool => add(&strip_line_numbers(text)),
                Part::Text(text) => add(text),
                Part::ToolCall(call) => add(&call_text(call)),
                Part::ToolResult(result) => {
                    for part in &result.content {
                        if let Part::Text(text) = part {
                            add(&strip_line_numbers(text));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    lines
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

fn add_lines(text: &str, message: u64, coverage: &Coverage<'_>, lines: &mut Vec<Line>) {
    for line in text.lines() {
        let line = line.trim();
        if line.len() < 4 || line.len() > LONGEST_LINE {
            continue;
        }
        let mut subjects = coverage.known_by(line);
        subjects.retain(|subject| coverage.value(*subject) > 0.0);
        if !subjects.is_empty() {
            lines.push(Line { message, text: line.to_string(), subjects });
        }
    }
}

/// Bytes from which on a line is not quoted whole.
const LONGEST_LINE: usize = 400;
