//! The facts of a call, the line that they make, and the words they are told in.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use longhaul_transcript::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool call did, in facts. Its `Display` is the line that stands in summaries: one, whatever the facts hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSummary {
    /// The tool's name, as the model called it.
    pub tool: String,
    /// How it went.
    pub status: ToolStatus,
    /// Facts as `Label: value`: what was called, what came of it, and an error last.
    pub key_facts: Vec<String>,
    /// The same facts for machines. Keys are in camel case, as the document has that `docs/seeds.md` goes through under 001 (`exitCode`, `matchCount`).
    pub metadata: BTreeMap<String, Value>,
}

/// How a tool call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolStatus {
    /// It did what was asked.
    #[default]
    Success,
    /// It failed.
    Error,
    /// It gave less than was asked: no matches, a command that still runs, an output cut off.
    Partial,
}

impl ToolStatus {
    /// Returns the status by the wire's word alone; unstated is success.
    pub(crate) fn of(outcome: Outcome) -> ToolStatus {
        match outcome {
            Outcome::Failed => ToolStatus::Error,
            Outcome::Succeeded | Outcome::Unstated => ToolStatus::Success,
        }
    }
}

impl ToolSummary {
    /// Returns a summary without facts.
    pub fn new(tool: impl Into<String>, status: ToolStatus) -> ToolSummary {
        ToolSummary { tool: tool.into(), status, key_facts: Vec::new(), metadata: BTreeMap::new() }
    }

    pub(super) fn fact(&mut self, label: &str, value: impl fmt::Display) {
        self.key_facts.push(in_line(&format!("{label}: {value}")).into_owned());
    }

    pub(super) fn error(&mut self, error: &str) {
        let error = short(error, ERROR_CHARS);
        self.fact("Error", &error);
        self.meta("error", error);
    }

    pub(super) fn meta(&mut self, key: &str, value: impl Into<Value>) {
        self.metadata.insert(key.to_owned(), value.into());
    }
}

impl fmt::Display for ToolSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.status == ToolStatus::Error { '❌' } else { '✓' };
        write!(f, "[{sign} {}: {}]", in_line(&self.tool), in_line(&self.key_facts.join(" | ")))
    }
}

/// Returns the summaries as one block: `--- Summarized Context (N items) ---` and a line each.
pub fn format_summaries<'a>(summaries: impl IntoIterator<Item = &'a ToolSummary>) -> String {
    let lines: Vec<String> = summaries.into_iter().map(ToString::to_string).collect();
    let mut out = format!("--- Summarized Context ({} items) ---", lines.len());
    for line in lines {
        out.push('\n');
        out.push_str(&line);
    }
    out
}

/// Returns a number of lines in words.
pub(super) fn in_lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

/// Returns `text` with a blank for each line break and control character, so that it stays in its line.
fn in_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if text.contains(breaks) { Cow::Owned(text.replace(breaks, " ")) } else { Cow::Borrowed(text) }
}

pub(super) fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output");
    line.strip_prefix("<tool_use_error>").unwrap_or(line).trim_end_matches("</tool_use_error>")
}

/// Returns the first line of `text`, at most `chars` characters of it, with `...` where something is missing.
pub(super) fn short(text: &str, chars: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None if line.len() < text.len() => format!("{line}..."),
        None => line.to_owned(),
    }
}

pub(super) fn some_of<T: fmt::Display>(items: &[T], most: usize) -> String {
    let shown: Vec<String> = items.iter().take(most).map(ToString::to_string).collect();
    match items.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

pub(super) fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}

/// Errors are shown to this many characters: `001` cuts at 100, which loses the end of most paths.
const ERROR_CHARS: usize = 300;
