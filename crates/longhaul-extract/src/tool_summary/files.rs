//! What was read of files, and what was changed in them.

use super::line::{ToolStatus, ToolSummary, distinct, some_of};
use crate::{
    digest::Source,
    files::{FileEdit, edits_of},
    outline::outline,
    tool::ToolFamily,
    tool_view::CallView,
};

pub(super) fn read(source: Source<'_>, facts: &mut ToolSummary) {
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

pub(super) fn change(source: Source<'_>, facts: &mut ToolSummary) {
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
    } else if call.replaces_unseen() {
        return;
    } else if added + removed > 0 {
        facts.fact("Changed", format!("+{added} -{removed} lines"));
    }
    facts.meta("added", added);
    facts.meta("removed", removed);
}

/// Returns the language or kind of a file by its name.
fn file_type(path: &str) -> &'static str {
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
