//! What tools did, a line for each result.

use std::collections::HashMap;

use longhaul_extract::{
    Allowance, ToolFamily, ToolStatus, ToolSummary, digest, family, summarize_tool_result,
};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Tokens, ToolCall, ToolResult};

use super::{
    line::{Line, Rank},
    short::{QUOTED, bounded},
};

/// Returns a line for each tool result; of what failed the decisive lines, where `error_details` are wanted.
pub(super) fn tool_lines(
    entries: &[Entry],
    counter: &dyn TokenCounter,
    error_details: bool,
) -> Vec<(u64, Line)> {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    let mut lines = Vec::new();
    for entry in entries {
        calls.extend(entry.message.calls().map(|call| (call.id.as_str(), call)));
        for result in entry.message.results() {
            let call = calls.get(result.call_id.as_str()).copied();
            let mut summary = summarize_tool_result(call, result);
            let is_error = summary.status == ToolStatus::Error;
            if let Some(details) =
                (is_error && error_details).then(|| details(call, result, &summary, counter)).flatten()
            {
                summary.key_facts.push(details);
            }
            let family = call.map_or(ToolFamily::Other, family);
            if family == ToolFamily::Search {
                SEARCH.clone_into(&mut summary.tool);
            }
            let rank = match (summary.status, family) {
                (ToolStatus::Error, _) => Rank::Error,
                (_, family) => Rank::of(family),
            };
            let text = summary.to_string();
            let most = if is_error && error_details { QUOTED + DETAILS_CHARS } else { QUOTED };
            lines.push((entry.id.ordinal, Line { text: bounded(&text, most), rank }));
        }
    }
    lines
}

/// Returns the lines of an error that decide it, beside what the facts say: where it is, what caused it.
fn details(
    call: Option<&ToolCall>,
    result: &ToolResult,
    summary: &ToolSummary,
    counter: &dyn TokenCounter,
) -> Option<String> {
    let count = |text: &str| counter.count_text(text);
    let digest = digest(call, &result.joined_text(), result.outcome, &Allowance::new(DETAILS, &count));
    let is_told = |line: &str| summary.key_facts.iter().any(|fact| fact.contains(line));
    let error = summary.key_facts.iter().find_map(|fact| fact.strip_prefix("Error: "));
    let is_error = |line: &str| {
        let line = line.trim();
        let is_it = |error: &str| error.contains(line) || line.contains(error.trim_end_matches("..."));
        !line.is_empty() && error.is_some_and(is_it)
    };
    let at = digest.lines().position(is_error).unwrap_or(0);
    let lines = digest.lines().enumerate().filter(|(nth, line)| *nth + NEAR >= at || leads_to_error(line));
    let lines = lines.map(|(_, line)| line.trim()).filter(|line| {
        let says_something = line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
        says_something && !line.starts_with('…') && !is_told(line)
    });
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| format!("{DETAILS_MARK}{}", lines.join(" ⏎ ")))
}

/// Returns whether a line that stands before an error has to do with it, by its form: it is part of a trace, names a place, or says
/// what went wrong. What a program had printed until then does not.
fn leads_to_error(line: &str) -> bool {
    let follows = |mark: &str| {
        line.match_indices(mark)
            .any(|(at, _)| line[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let lower = line.to_lowercase();
    line.starts_with(char::is_whitespace)
        || follows(":")
        || follows("line ")
        || ["error", "exception", "fail", "expected", "panic", "caused"]
            .iter()
            .any(|word| lower.contains(word))
}

/// The document calls every search this.
const SEARCH: &str = "search";

/// Stands before the details of an error.
pub(super) const DETAILS_MARK: &str = "Details: ";

/// So many lines right before an error are told with it: one of them may be its cause.
const NEAR: usize = 2;

/// What the details of an error may cost.
const DETAILS: Tokens = Tokens(100);

/// And how long they may be.
const DETAILS_CHARS: usize = 500;
