//! What one call does to files, and whether it did it.

use longhaul_transcript::{Outcome, Part, ToolResult};

use super::{
    scripts,
    shell::{self, shell_touches},
    touch::Touch,
};
use crate::{CallView, ToolFamily, Verdict, refusal::was_refused, runs::run_of};

/// Returns what a call does to files, in order.
pub(super) fn call_touches(view: &CallView<'_>, result: &ToolResult) -> Vec<Touch> {
    let paths = || view.paths().into_iter().map(str::to_string);
    match view.family() {
        ToolFamily::Read => paths().map(Touch::Read).collect(),
        // The tool knows whether the file was there.
        ToolFamily::Write => match first_text(result) {
            Some(text) if text.contains("has been updated") => paths().map(Touch::Edit).collect(),
            Some(text) if text.starts_with("File created") => paths().map(Touch::Create).collect(),
            _ => paths().map(Touch::Write).collect(),
        },
        ToolFamily::Edit => match view.key_text("command") {
            Some("view") => paths().map(Touch::Read).collect(),
            Some("create") => paths().map(Touch::Create).collect(),
            // An editor that makes a file out of nothing is told to replace nothing.
            _ if view.key_text("old_string") == Some("") => paths().map(Touch::Write).collect(),
            _ => paths().map(Touch::Edit).collect(),
        },
        // What is searched and replaced names no file itself.
        ToolFamily::Patch if view.patch().is_none() && !view.replacements().is_empty() => {
            paths().map(Touch::Edit).collect()
        }
        ToolFamily::Patch => patch_touches(view),
        ToolFamily::Shell if view.patch().is_some_and(|patch| patch.contains("*** Begin Patch")) => {
            patch_touches(view)
        }
        ToolFamily::Shell => {
            let dir = view.working_dir().unwrap_or_default();
            let says_error = first_text(result).is_some_and(|text| text.to_lowercase().starts_with("error"));
            let mut touches = Vec::new();
            if let Some(command) = view.command() {
                touches = shell_touches(&command, dir);
                // A script that did not find what it was to replace says so, and ends well.
                if !says_error {
                    touches.extend(scripts::touches(&command, dir));
                }
            }
            touches
        }
        _ => Vec::new(),
    }
}

/// Returns the files that a call was to change and did not, with what its tool says of it. What a person did not let happen, or what the
/// tool asks to be done first, is nothing to learn from.
pub(super) fn failed_touches(view: &CallView<'_>, result: &ToolResult) -> Vec<Touch> {
    let Some(text) = first_text(result) else { return Vec::new() };
    let first = why(text);
    let is_order = ORDERS.iter().any(|order| first.contains(order));
    let is_shell = view.family() == ToolFamily::Shell && view.patch().is_none();
    if first.is_empty() || is_order || is_shell || was_refused(text, result.outcome) {
        return Vec::new();
    }
    let paths = call_touches(view, result);
    let failed = |touch: &Touch| touch.written().map(|path| Touch::Failed(path.into(), first.into()));
    paths.iter().filter_map(failed).collect()
}

/// Returns the first sentence of what a tool says of a call that failed.
fn why(text: &str) -> &str {
    let text = ["<tool_use_error>", "Error:", "error:"]
        .iter()
        .fold(text, |text, mark| text.strip_prefix(mark).unwrap_or(text).trim_start());
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.split(". ").next().unwrap_or_default();
    let sentence = sentence.trim_end_matches("</tool_use_error>").trim_end().trim_end_matches(['.', ':']);
    if sentence.len() > LONGEST_WHY { "" } else { sentence }
}

/// Bytes of a sentence that says why a file was not changed.
const LONGEST_WHY: usize = 120;

/// What a tool asks to be done before it changes a file.
const ORDERS: [&str; 2] = ["has not been read", "modified since"];

fn patch_touches(view: &CallView<'_>) -> Vec<Touch> {
    let dir = view.working_dir().unwrap_or_default();
    let mut touches = Vec::new();
    for (what, path) in view.patched() {
        let path = shell::join(dir, path);
        match (what, touches.last()) {
            ('A', _) => touches.push(Touch::Create(path)),
            ('D', _) => touches.push(Touch::Delete(path)),
            ('R', Some(Touch::Edit(from))) => {
                let from = from.clone();
                touches.push(Touch::Rename(from, path));
            }
            _ => touches.push(Touch::Edit(path)),
        }
    }
    touches
}

/// Returns whether the result says that the call did not do what it was to do.
pub fn call_failed(view: &CallView<'_>, result: &ToolResult) -> bool {
    if view.family() == ToolFamily::Shell && view.patch().is_none() {
        let failed = run_of(view.call(), result).is_some_and(|run| {
            // A check that fails has run; what stands before it was done.
            run.verdict == Verdict::Failed && run.checks.is_empty()
        });
        return failed || first_text(result).is_some_and(|text| was_refused(text, result.outcome));
    }
    let says = first_text(result).is_some_and(|text| {
        [
            "<tool_use_error>",
            "Error:",
            "error:",
            "String to replace not found",
            "No such file",
            "File does not exist",
            "apply_patch verification failed",
            "Invalid patch",
        ]
        .iter()
        .any(|start| text.starts_with(start))
    });
    let patched = view.patch().is_some()
        && first_text(result).is_some_and(|text| {
            text.lines().take(8).any(|line| {
                line.contains("Exit code: 1")
                    || line.contains("exited with code 1")
                    || line.contains("verification failed")
            })
        });
    // A file that is read may begin with any words; who writes one is told in the tool's own.
    let (writes, records) = (view.family().changes_files(), view.changes_record());
    let refused = (writes || records)
        && first_text(result).is_some_and(|text| {
            let has_no_flag = result.outcome != Outcome::Succeeded;
            was_refused(text, result.outcome)
                || has_no_flag && (opens_with_error(text) || writes && names_why_not(text))
        });
    result.outcome == Outcome::Failed || says || patched || refused
}

/// Returns whether an answer begins as one does that tells an error, and says of nothing that it was written.
fn opens_with_error(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default().to_lowercase();
    let says = ["error:", "error ", "failed to ", "could not ", "cannot ", "can't ", "unable to "];
    let begins = says.iter().any(|start| first.starts_with(start));
    (begins || is_error_object(text)) && !says_written(&first)
}

/// Returns whether the first line of who was to write a file says why it did not. What changed a record quotes the record, which
/// may be about such errors.
fn names_why_not(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let first = line.to_lowercase();
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let says = NOT_WRITTEN.iter().any(|why| first.contains(why)) || words.any(|word| CODES.contains(&word));
    says && !says_written(&first)
}

fn says_written(first: &str) -> bool {
    WRITTEN.iter().any(|words| first.contains(words))
}

/// Whether an answer is an object of JSON whose first field is an error, and no empty one.
fn is_error_object(text: &str) -> bool {
    let value =
        text.trim_start().strip_prefix('{').and_then(|inside| inside.trim_start().strip_prefix("\"error\""));
    let value = value.and_then(|rest| rest.trim_start().strip_prefix(':')).map(str::trim_start);
    value.is_some_and(|value| {
        !["null", "false", "\"\"", "[]", "{}", "0"].iter().any(|none| value.starts_with(none))
    })
}

/// What is said of a file that was written, whatever else went wrong.
const WRITTEN: [&str; 7] = [
    "successfully", "was written", "been written", "been updated", "been created", "been edited",
    "been changed",
];

/// What the system calls the reasons for which nothing is written.
const CODES: [&str; 5] = ["EACCES", "EPERM", "ENOENT", "EROFS", "ENOSPC"];

const NOT_WRITTEN: [&str; 25] = [
    "not been applied",
    "not applied",
    "introduced new syntax error",
    "no replacement was performed",
    "did not appear verbatim",
    "does not match anything",
    "no sufficiently similar match",
    "failed to match",
    "found multiple matches",
    "matches of the string to replace",
    "0 occurrences found",
    "occurrences but found",
    "oldstring not found",
    "could not find the exact text",
    "could not find exact match",
    "could not find matching text",
    "file has not been read",
    "file has been modified since",
    "no changes made",
    "not written",
    "string to replace not found",
    "permission denied",
    "read-only file system",
    "no space left",
    "old_string not found",
];

fn first_text(result: &ToolResult) -> Option<&str> {
    result.content.iter().find_map(|part| match part {
        Part::Text(text) => Some(text.trim_start()),
        _ => None,
    })
}
