//! One line that says what a tool call did: `[✓ read_file: File: /app.ts | Lines: 100]`.

use longhaul_transcript::Outcome;

use crate::{digest::Source, tool::ToolFamily};

mod files;
mod line;
mod others;
mod search;
mod shell;

use line::first_line;
pub use line::{ToolStatus, ToolSummary, format_summaries};

/// Writes the facts of a result by the family of its tool.
pub(crate) fn builtin_facts(source: Source<'_>, facts: &mut ToolSummary) {
    if source.outcome == Outcome::Unstated && is_error_text(source.text) {
        facts.status = ToolStatus::Error;
    }
    let family = source.family();
    match family {
        ToolFamily::Read => files::read(source, facts),
        family if family.changes_files() => files::change(source, facts),
        family if family.runs_commands() => shell::shell(source, facts),
        ToolFamily::Search => search::search(source, facts),
        ToolFamily::List => search::list(source, facts),
        ToolFamily::WebFetch | ToolFamily::WebSearch => others::web(source, facts),
        ToolFamily::Todo => others::todo(source, facts),
        ToolFamily::SubAgent => others::sub_agent(source, facts),
        _ => others::record(source, facts),
    }
    if facts.status == ToolStatus::Error && !family.runs_commands() {
        facts.error(first_line(source.text));
    }
    if facts.status == ToolStatus::Success && is_cut_off(source.text) {
        facts.status = ToolStatus::Partial;
    }
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

#[cfg(test)]
mod tests {
    use longhaul_transcript::{ToolCall, ToolResult};

    use super::*;
    use crate::summarize_tool_result;

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
