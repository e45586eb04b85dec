//! One line that says what a tool call did: `[✓ read_file: File: /app.ts | Lines: 100]`.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use longhaul_transcript::{Outcome, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    FieldPlace,
    digest::{Registry, Source, is_wrapper, parse_matches, read_lines},
    files::{FileEdit, edits_of},
    json::Json,
    outline::outline,
    runs::{Purpose, Verdict, run_of_view},
    tool::ToolFamily,
    tool_view::CallView,
};

/// What a tool call did, in facts. Its `Display` is the line that stands in summaries: one, whatever the facts hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSummary {
    /// The tool's name, as the model called it.
    pub tool: String,
    /// How it went.
    pub status: ToolStatus,
    /// Facts as `Label: value`: what was called, what came of it, and an error last.
    pub key_facts: Vec<String>,
    /// The same facts for machines. Keys are in camel case, as the seed document has them (`exitCode`, `matchCount`).
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

    fn fact(&mut self, label: &str, value: impl fmt::Display) {
        self.key_facts.push(in_line(&format!("{label}: {value}")).into_owned());
    }

    fn error(&mut self, error: &str) {
        let error = short(error, ERROR_CHARS);
        self.fact("Error", &error);
        self.meta("error", error);
    }

    fn meta(&mut self, key: &str, value: impl Into<Value>) {
        self.metadata.insert(key.to_owned(), value.into());
    }
}

impl fmt::Display for ToolSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.status == ToolStatus::Error { '❌' } else { '✓' };
        write!(f, "[{sign} {}: {}]", in_line(&self.tool), in_line(&self.key_facts.join(" | ")))
    }
}

/// Returns what a tool call did, by the built-in rules.
///
/// ```
/// use longhaul_extract::summarize_tool_result;
/// use longhaul_transcript::{Outcome, ToolCall, ToolResult};
///
/// let call = ToolCall::function("c1", "execute_bash", r#"{"command":"npm test"}"#);
/// let result = ToolResult::text("c1", "Error: Module not found\nexit code: 1", Outcome::Unstated);
/// assert_eq!(
///     summarize_tool_result(Some(&call), &result).to_string(),
///     "[❌ execute_bash: Command: npm test | Exit: 1 | Output: 2 lines | Error: Error: Module not found]"
/// );
/// ```
pub fn summarize_tool_result(call: Option<&ToolCall>, result: &ToolResult) -> ToolSummary {
    Registry::builtin().summarize(call, result)
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

/// Writes the facts of a result by the family of its tool.
pub(crate) fn builtin_facts(source: Source<'_>, facts: &mut ToolSummary) {
    if source.outcome == Outcome::Unstated && is_error_text(source.text) {
        facts.status = ToolStatus::Error;
    }
    let family = source.family();
    match family {
        ToolFamily::Read => read(source, facts),
        family if family.changes_files() => change(source, facts),
        family if family.runs_commands() => shell(source, facts),
        ToolFamily::Search => search(source, facts),
        ToolFamily::List => list(source, facts),
        ToolFamily::WebFetch | ToolFamily::WebSearch => web(source, facts),
        ToolFamily::Todo => todo(source, facts),
        ToolFamily::SubAgent => sub_agent(source, facts),
        _ => record(source, facts),
    }
    if facts.status == ToolStatus::Error && !family.runs_commands() {
        facts.error(first_line(source.text));
    }
    if facts.status == ToolStatus::Success && is_cut_off(source.text) {
        facts.status = ToolStatus::Partial;
    }
}

/// Commands are shown to this many characters (`001`).
const COMMAND_CHARS: usize = 60;
/// An output of one line is shown to this many characters.
const RESULT_CHARS: usize = 160;
/// Errors are shown to this many characters: `001` cuts at 100, which loses the end of most paths.
const ERROR_CHARS: usize = 300;

fn read(source: Source<'_>, facts: &mut ToolSummary) {
    let paths = source.call.map(CallView::paths).unwrap_or_default();
    let path = paths.first().copied().unwrap_or("unknown");
    facts.fact(
        if paths.len() > 1 { "Files" } else { "File" },
        if paths.len() > 1 { paths.join(", ") } else { path.into() },
    );
    facts.meta("path", path);
    if facts.status == ToolStatus::Error {
        return;
    }
    let outline = outline(path, source.text);
    facts.fact("Lines", outline.lines);
    facts.meta("lines", outline.lines);
    if let (Some(first @ 2..), Some(last)) = (outline.first_line, outline.last_line) {
        facts.fact("From line", format!("{first} to {last}"));
    }
    facts.fact("Type", file_type(path));
    let named = |exported: bool| -> Vec<&str> {
        let wanted = outline.definitions.iter().filter(|one| one.exported == exported && one.indent <= 4);
        distinct(wanted.map(|one| one.name.as_str()))
    };
    let (exports, others) = (named(true), named(false));
    facts.meta("hasExports", !exports.is_empty());
    facts.meta("hasImports", !outline.imports.is_empty());
    if !exports.is_empty() {
        facts.fact("Exports", some_of(&exports, 5));
    } else if !others.is_empty() {
        facts.fact("Defines", some_of(&others, 5));
    }
    if !outline.imports.is_empty() {
        facts.fact("Imports", format!("{} modules", outline.imports.len()));
    }
}

fn change(source: Source<'_>, facts: &mut ToolSummary) {
    let Some(call) = source.call else { return };
    let patched = call.patched();
    if patched.is_empty() {
        let path = call.path().unwrap_or("unknown");
        facts.fact("File", path);
        facts.meta("path", path);
    } else {
        let files: Vec<String> = patched.iter().map(|(what, path)| format!("{what} {path}")).collect();
        facts.fact("Files", some_of(&files, 12));
        facts.meta("files", files);
    }
    let edits = edits_of(call, 0);
    let sum = |count: fn(&FileEdit) -> u32| edits.iter().map(|(_, edit)| count(edit) as usize).sum::<usize>();
    let written = || call.replacements().first().map_or(0, |(_, text)| text.lines().count());
    // Of a file that is written whole all lines count, of an edit those that differ.
    let added = if call.family() == ToolFamily::Write { written() } else { sum(|edit| edit.added) };
    let removed = sum(|edit| edit.removed);
    if call.family() == ToolFamily::Write {
        facts.fact("Lines", added);
        facts.fact("Type", file_type(call.path().unwrap_or_default()));
    } else if call.replaces_everywhere() {
        return;
    } else if added + removed > 0 {
        facts.fact("Changed", format!("+{added} -{removed} lines"));
    }
    facts.meta("added", added);
    facts.meta("removed", removed);
}

fn shell(source: Source<'_>, facts: &mut ToolSummary) {
    let lines: Vec<&str> = source.text.lines().collect();
    let outcome = read_lines(&lines);
    let run = source.call.and_then(|call| run_of_view(call, source.text, source.outcome));
    let command = source.call.and_then(CallView::command);
    let command =
        command.as_deref().unwrap_or(if source.family() == ToolFamily::Test { "tests" } else { "unknown" });
    facts.fact("Command", short(command, COMMAND_CHARS));
    facts.meta("command", command);
    if let Some(code) = outcome.exit_code {
        facts.fact("Exit", code);
        facts.meta("exitCode", code);
    }
    facts.fact("Output", in_lines(outcome.lines));
    facts.meta("outputLines", outcome.lines);
    let is_check = run.as_ref().is_none_or(|run| !run.checks.is_empty());
    if is_check && outcome.tests.any() {
        let tests = outcome.tests;
        let parts = [(tests.passed, "passed"), (tests.failed, "failed"), (tests.skipped, "skipped")];
        let parts: Vec<_> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        facts.fact("Tests", parts.join(", "));
        facts.meta("testsPassed", tests.passed);
        facts.meta("testsFailed", tests.failed);
        facts.meta("testsSkipped", tests.skipped);
    }
    if !outcome.failed_tests.is_empty() {
        facts.fact("Failed", some_of(&outcome.failed_tests, 5));
        facts.meta("failedTests", &outcome.failed_tests[..]);
    }
    if outcome.warnings > 0 {
        facts.fact("Warnings", outcome.warnings);
        facts.meta("warnings", outcome.warnings);
    }
    facts.status = match (&run, outcome.running) {
        (_, true) => ToolStatus::Partial,
        (Some(run), _) if run.verdict == Verdict::Failed => ToolStatus::Error,
        (None, _) if outcome.failed || source.outcome == Outcome::Failed => ToolStatus::Error,
        // The wire's word is about the tool; a stated exit code is about the command.
        (Some(run), _) if run.verdict == Verdict::Unknown && source.outcome == Outcome::Failed => {
            ToolStatus::Error
        }
        _ => ToolStatus::Success,
    };
    if facts.status == ToolStatus::Error {
        let first = lines.iter().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned());
        let fallback = outcome.exit_code.is_none().then_some(first).flatten();
        let states =
            run.as_ref().filter(|run| run.purpose == Purpose::Evaluate).and_then(|run| run.error.clone());
        if let Some(error) = states.or(outcome.decisive_error).or(outcome.first_error).or(fallback) {
            facts.error(&error);
        }
    }
    if facts.status == ToolStatus::Success {
        let passed = run.as_ref().is_some_and(|run| !run.checks.is_empty() && run.verdict == Verdict::Passed);
        let mut said = lines.iter().filter(|line| !line.trim().is_empty() && !is_wrapper(line));
        if passed && !outcome.tests.any() {
            facts.fact("Result", "passed");
        } else if let (Some(line), None) = (said.next(), said.next())
            && outcome.exit_code.is_none_or(|code| code == 0)
        {
            // One line is all there is to know.
            facts.fact("Result", short(line, RESULT_CHARS));
        }
    }
    facts.meta("hasError", facts.status == ToolStatus::Error);
}

fn search(source: Source<'_>, facts: &mut ToolSummary) {
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

fn list(source: Source<'_>, facts: &mut ToolSummary) {
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

fn web(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(url) = source.call.and_then(CallView::url) {
        facts.fact("URL", url);
        facts.meta("url", url);
    } else if let Some(query) = source.call.and_then(CallView::query) {
        facts.fact("Query", format!("\"{}\"", short(query, 120)));
        facts.meta("query", query);
    }
    if facts.status == ToolStatus::Error {
        return;
    }
    let title = source
        .text
        .lines()
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| line.len() > 3);
    if let Some(title) = title {
        facts.fact("Title", short(title, 100));
    }
    facts.fact("Text", in_lines(source.text.lines().count()));
}

fn todo(source: Source<'_>, facts: &mut ToolSummary) {
    let Some(call) = source.call else { return };
    let fields = call.fields();
    let of = |keys: &[&str]| -> Vec<&str> {
        fields.iter().filter(|field| keys.contains(&&*field.key)).map(|field| &*field.text).collect()
    };
    let items = of(&["content", "step", "subject", "text"]);
    let states = of(&["status"]);
    if !items.is_empty() {
        facts.fact("Items", items.len());
        let done = states.iter().filter(|state| matches!(**state, "completed" | "done")).count();
        if states.len() == items.len() {
            facts.fact("Done", done);
            for (item, state) in items.iter().zip(&states) {
                if state.contains("progress") {
                    facts.fact("In progress", short(item, 100));
                }
            }
        } else {
            facts.fact("Item", short(items[0], 100));
        }
    } else {
        let keys = fields.iter().filter(|field| field.place == FieldPlace::Key).take(4);
        keys.for_each(|field| facts.fact(&field.key, short(&field.text, 80)));
    }
}

fn sub_agent(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(task) = source.call.and_then(CallView::query) {
        facts.fact("Task", short(task, 120));
    }
    facts.fact("Report", in_lines(source.text.lines().count()));
    facts.meta("lines", source.text.lines().count());
}

fn record(source: Source<'_>, facts: &mut ToolSummary) {
    if let Some(call) = source.call {
        for field in call.fields().iter().filter(|field| field.place == FieldPlace::Key).take(6) {
            let label = if field.key.is_empty() { "Input" } else { &*field.key };
            facts.fact(label, short(&field.text, 80));
            facts.meta(label, &*field.text);
        }
    }
    if facts.status == ToolStatus::Error {
        return;
    }
    match Json::read(source.text).filter(|json| json.rest == 0) {
        Some(json) if json.containers[0].is_array => {
            facts.fact("Results", json.containers[0].len);
            facts.meta("resultCount", json.containers[0].len);
            if json.containers[0].len == 0 {
                facts.status = ToolStatus::Partial;
            }
        }
        Some(json) => {
            facts.fact("Fields", json.containers[0].len);
            let top =
                json.leaves.iter().filter(|leaf| leaf.container == 0 && leaf.value.as_str().len() <= 60);
            for leaf in top.filter(|leaf| !matches!(leaf.value.as_str(), "" | "null")).take(5) {
                facts.fact(json.name(leaf), leaf.value.as_str());
            }
        }
        None => {
            let text = source.text.trim();
            if !text.is_empty() {
                facts.fact("Result", short(first_line(text), 120));
            }
            let lines = text.lines().count();
            if lines > 1 {
                facts.fact("Output", format!("{lines} lines"));
            }
        }
    }
}

/// Returns a number of lines in words.
fn in_lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

/// Returns whether a result is an error by its own first words.
fn is_error_text(text: &str) -> bool {
    const HEADS: [&str; 12] = [
        "error:",
        "error ",
        "<tool_use_error>",
        "failed to ",
        "file does not exist",
        "no such file",
        "file not found",
        "invalid ",
        "permission denied",
        "tool not found",
        "unknown tool",
        "the user doesn't want to proceed",
    ];
    let head: String = text.trim_start().chars().take(40).flat_map(char::to_lowercase).collect();
    HEADS.iter().any(|start| head.starts_with(start))
}

/// Returns whether a harness says in a line of its own, at an end of the result or in its middle, that some of it is not there.
fn is_cut_off(text: &str) -> bool {
    const LONGEST_MARK: usize = 160;
    let is_mark = |line: &str| {
        let line = line.trim();
        if line.len() > LONGEST_MARK || !line.starts_with(['[', '<', '(', '…', '.', '-']) {
            return false;
        }
        let lower = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_left_out =
            ["truncated", "omitted", "clipped", "not looked at"].iter().any(|word| lower.contains(word));
        let words = ["output", "content", "response", "result", "truncated", "clipped"];
        is_left_out
            && (words.iter().any(|word| lower.starts_with(word))
                || lower.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().any(is_mark)
}

/// Returns `text` with a blank for each line break and control character, so that it stays in its line.
fn in_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if text.contains(breaks) { Cow::Owned(text.replace(breaks, " ")) } else { Cow::Borrowed(text) }
}

fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output");
    line.strip_prefix("<tool_use_error>").unwrap_or(line).trim_end_matches("</tool_use_error>")
}

/// Returns the first line of `text`, at most `chars` characters of it, with `...` where something is missing.
fn short(text: &str, chars: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None if line.len() < text.len() => format!("{line}..."),
        None => line.to_owned(),
    }
}

fn some_of<T: fmt::Display>(items: &[T], most: usize) -> String {
    let shown: Vec<String> = items.iter().take(most).map(ToString::to_string).collect();
    match items.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}

fn is_bare_path(line: &str) -> bool {
    !line.contains(' ') && line.contains(['/', '.', '\\'])
}

/// Returns the language or kind of a file by its name.
pub(crate) fn file_type(path: &str) -> &'static str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "rs" => "rust",
        "ts" | "tsx" | "mts" | "cts" => "typescript",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "py" | "pyi" => "python",
        "go" => "go",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => "cpp",
        "cs" => "csharp",
        "rb" => "ruby",
        "php" => "php",
        "swift" => "swift",
        "sh" | "bash" | "zsh" | "fish" => "shell",
        "sql" => "sql",
        "md" | "mdx" | "markdown" => "markdown",
        "json" | "jsonl" | "jsonc" => "json",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "html" | "htm" => "html",
        "css" | "scss" => "css",
        "xml" | "svg" => "xml",
        "ipynb" => "notebook",
        "txt" | "log" | ""
            if !name.eq_ignore_ascii_case("makefile") && !name.eq_ignore_ascii_case("dockerfile") =>
        {
            "text"
        }
        "" => "build",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: &str, arguments: &str, text: &str) -> String {
        let call = ToolCall::function("c", tool, arguments);
        summarize_tool_result(Some(&call), &ToolResult::text("c", text, Outcome::Unstated)).to_string()
    }

    // asserts 001-14, 001-15
    #[test]
    fn each_family_has_its_facts() {
        for (tool, arguments, text, expected) in [
            (
                "Read",
                r#"{"file_path":"/a/b.ts"}"#,
                "     1→export function hello() {}\n     2→import { foo } from 'bar';",
                "[✓ Read: File: /a/b.ts | Lines: 2 | Type: typescript | Exports: hello | Imports: 1 modules]",
            ),
            (
                "Edit",
                r#"{"file_path":"/a/b.rs","old_string":"a\nb","new_string":"c"}"#,
                "The file has been updated.",
                "[✓ Edit: File: /a/b.rs | Changed: +1 -2 lines]",
            ),
            (
                "Write",
                r#"{"file_path":"x.py","content":"a\nb\n"}"#,
                "File created successfully at: x.py",
                "[✓ Write: File: x.py | Lines: 2 | Type: python]",
            ),
            (
                "Grep",
                r#"{"pattern":"foo"}"#,
                "a.rs:1:foo\na.rs:2:foo\nb.rs:3:foo",
                r#"[✓ Grep: Pattern: "foo" | Matches: 3 | Files: 2 | Top files: a.rs, b.rs]"#,
            ),
            (
                "Grep",
                r#"{"pattern":"foo"}"#,
                "No files found",
                r#"[✓ Grep: Pattern: "foo" | Matches: 0 | Files: 0]"#,
            ),
            (
                "Grep",
                r#"{"pattern":"foo"}"#,
                "Found 3 files\nsrc/a.rs\nsrc/b.rs\nsrc/c.rs",
                r#"[✓ Grep: Pattern: "foo" | Files: 3 | Top files: src/a.rs, src/b.rs, src/c.rs]"#,
            ),
            (
                "Grep",
                r#"{"pattern":"foo","path":"a.rs","-C":1}"#,
                "3-x\n4:foo\n5-y\n--\n9:foo",
                r#"[✓ Grep: Pattern: "foo" | Matches: 2 | Files: 1]"#,
            ),
            (
                "Grep",
                r#"{"pattern":"foo","-C":1}"#,
                "src/a.rs-3-\tx\nsrc/a.rs:4:foo\nsrc/a.rs-5-\ty\n--\nsrc/b.rs:9:foo",
                r#"[✓ Grep: Pattern: "foo" | Matches: 2 | Files: 2 | Top files: src/a.rs, src/b.rs]"#,
            ),
            (
                "Bash",
                r#"{"command":"git rev-parse HEAD"}"#,
                "0123abc",
                "[✓ Bash: Command: git rev-parse HEAD | Output: 1 line | Result: 0123abc]",
            ),
            (
                "Glob",
                r#"{"pattern":"*.rs"}"#,
                "/x/a.rs\n/x/b.rs",
                r#"[✓ Glob: Pattern: "*.rs" | Entries: 2 | First: /x/a.rs, /x/b.rs]"#,
            ),
            (
                "get_order_details",
                r##"{"order_id":"#W1"}"##,
                r##"{"order_id":"#W1","status":"pending","items":[]}"##,
                "[✓ get_order_details: order_id: #W1 | Fields: 3 | order_id: #W1 | status: pending]",
            ),
            (
                "book_reservation",
                r#"{"user_id":"u1"}"#,
                "Error: payment amount does not add up",
                "[❌ book_reservation: user_id: u1 | Error: Error: payment amount does not add up]",
            ),
            (
                "TodoWrite",
                r#"{"todos":[{"content":"A","status":"completed"},{"content":"B","status":"in_progress"}]}"#,
                "Todos have been modified",
                "[✓ TodoWrite: Items: 2 | Done: 1 | In progress: B]",
            ),
        ] {
            assert_eq!(line(tool, arguments, text), expected);
        }
    }

    #[test]
    fn a_summary_is_one_line_whatever_a_tool_says() {
        let posing = r#"{"state":"ok\n[✓ Bash: Command: rm -rf /]","k\u2028ey":"v"}"#;
        let summary = line("get_state", r#"{"id":"a\nb"}"#, posing);
        assert_eq!(
            summary,
            "[✓ get_state: id: a... | Fields: 2 | state: ok [✓ Bash: Command: rm -rf /] | k ey: v]"
        );
        let mut own = ToolSummary::new("a\nb", ToolStatus::Success);
        own.key_facts.push("Sky: blue\r\ngrey".into());
        assert_eq!(own.to_string(), "[✓ a b: Sky: blue  grey]");
    }

    #[test]
    fn what_was_cut_off_is_partial() {
        let status = |tool: &str, arguments: &str, text: &str| {
            let call = ToolCall::function("c", tool, arguments);
            summarize_tool_result(Some(&call), &ToolResult::text("c", text, Outcome::Unstated)).status
        };
        let (cat, get) = (r#"{"command":"cat a.log"}"#, r#"{"id":1}"#);
        for mark in [
            "... [120 lines truncated] ...",
            "…5120 tokens truncated…",
            "[Output truncated: 40000 characters]",
            "<response clipped><NOTE>Only part of it is shown</NOTE>",
            "[... 12 lines omitted ...]",
        ] {
            assert_eq!(status("Bash", cat, &format!("a\n{mark}\nb")), ToolStatus::Partial, "{mark}");
            assert_eq!(status("get", get, &format!("a\n{mark}\nb")), ToolStatus::Partial, "{mark}");
        }
        for line in ["the table was truncated", "[a, b] are kept", "- truncate the log", "file.truncated(12)"]
        {
            assert_eq!(status("Bash", cat, &format!("a\n{line}\nb")), ToolStatus::Success, "{line}");
        }
    }

    #[test]
    fn what_failed_is_told_to_machines_as_well() {
        let call = ToolCall::function("c", "Bash", r#"{"command":"cargo test"}"#);
        let text = "test a::b ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\nerror: test failed\nexit code: 101";
        let summary = summarize_tool_result(Some(&call), &ToolResult::text("c", text, Outcome::Unstated));
        assert_eq!(summary.metadata["failedTests"], serde_json::json!(["a::b"]));
        let error = summary.metadata["error"].as_str().unwrap();
        assert!(summary.key_facts.last().unwrap().ends_with(error), "{summary}");
    }
}
