//! What a search found, and what a listing holds.

use super::line::{ToolStatus, ToolSummary, distinct, in_lines, short, some_of};
use crate::{
    digest::{Source, parse_matches},
    tool_view::CallView,
};

pub(super) fn search(source: Source<'_>, facts: &mut ToolSummary) {
    let pattern = source.call.and_then(CallView::pattern).unwrap_or("unknown");
    facts.fact("Pattern", format!("\"{}\"", short(pattern, 100)));
    facts.meta("pattern", pattern);
    if facts.status == ToolStatus::Error {
        return;
    }
    let found = found_in(source);
    let (matches, files) = (found.matches, found.files);
    if let Some(matches) = matches {
        facts.fact("Matches", matches);
        facts.meta("matchCount", matches);
    }
    if let Some(count) = found.file_count {
        facts.fact("Files", count);
        facts.meta("fileCount", count);
    }
    if matches.is_none() && found.file_count.is_none() {
        facts.fact("Output", in_lines(source.text.lines().count()));
    }
    if !files.is_empty() {
        facts.fact("Top files", some_of(&files, 3));
    }
    if matches == Some(0) {
        facts.status = ToolStatus::Partial;
    }
}

pub(super) fn list(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(path) = source.call.and_then(CallView::path) {
        facts.fact("Path", path);
        facts.meta("path", path);
    }
    if let Some(pattern) = source.call.and_then(CallView::pattern) {
        facts.fact("Pattern", format!("\"{}\"", short(pattern, 100)));
        facts.meta("pattern", pattern);
    }
    if facts.status == ToolStatus::Error {
        return;
    }
    let none = source.text.trim().is_empty() || source.text.trim_start().starts_with("No files");
    let entries: Vec<&str> =
        source.text.lines().map(str::trim).filter(|line| !line.is_empty() && !none).collect();
    facts.fact("Entries", entries.len());
    facts.meta("entryCount", entries.len());
    if entries.is_empty() {
        facts.status = ToolStatus::Partial;
    } else {
        facts.fact("First", some_of(&entries.iter().map(|entry| short(entry, 80)).collect::<Vec<_>>(), 3));
    }
}

/// What a search found, as far as its output says.
struct Found<'t> {
    matches: Option<usize>,
    file_count: Option<usize>,
    files: Vec<&'t str>,
}

fn found_in<'t>(source: Source<'t>) -> Found<'t> {
    let text = source.text.trim();
    let none = ["No files found", "No matches", "No results", "no matches"];
    if text.is_empty() || none.iter().any(|start| text.starts_with(start)) {
        return Found { matches: Some(0), file_count: Some(0), files: Vec::new() };
    }
    let lines: Vec<&str> = text.lines().collect();
    // A list of files says nothing of the lines in them.
    let told = lines[0]
        .strip_prefix("Found ")
        .and_then(|rest| rest.strip_suffix(" files").or(rest.strip_suffix(" file")));
    if let Some(count) = told.and_then(|count| count.parse().ok()) {
        let files = lines[1..].iter().map(|line| line.trim()).filter(|line| is_bare_path(line));
        return Found { matches: None, file_count: Some(count), files: distinct(files) };
    }
    // In `12:text` and `a.rs:12:text` a colon marks a match; what a dash marks stands beside one.
    let numbered = |line: &&str| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0)
            .then(|| line.as_bytes().get(digits).copied())
            .flatten()
            .filter(|mark| matches!(mark, b':' | b'-'))
    };
    let own = lines.iter().filter(|line| **line != "--" && !line.trim().is_empty()).count();
    // Under the names of files they would be those of several; here all are of the file that was asked for.
    if lines.iter().filter_map(numbered).count() == own {
        let matches = lines.iter().filter_map(numbered).filter(|mark| *mark == b':').count();
        return Found { matches: Some(matches), file_count: Some(1), files: Vec::new() };
    }
    match parse_matches(&lines) {
        Some(found) => {
            let real: Vec<_> =
                found.into_iter().filter(|one| is_bare_path(one.file) && !is_context(one.file)).collect();
            let files = distinct(real.iter().map(|one| one.file));
            Found { matches: Some(real.len()), file_count: Some(files.len()), files }
        }
        None => {
            let files = distinct(lines.iter().map(|line| line.trim()).filter(|line| is_bare_path(line)));
            let all = files.len() * 2 > own;
            Found {
                matches: None,
                file_count: all.then_some(files.len()),
                files: if all { files } else { Vec::new() },
            }
        }
    }
}

/// Whether what was taken for a file is a line beside a match: `src/a.rs-96-`.
fn is_context(file: &str) -> bool {
    file.split('-').skip(1).any(|piece| !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_digit()))
        && file.ends_with(|c: char| c == '-' || !c.is_alphanumeric())
}

fn is_bare_path(line: &str) -> bool {
    !line.contains(' ') && line.contains(['/', '.', '\\'])
}
