//! Summaries and digests of tool results.

use longhaul_extract::{Allowance, ToolStatus, ToolSummary, digest, format_summaries, summarize_tool_result};
use longhaul_transcript::{Outcome, Tokens, ToolCall, ToolResult};
use proptest::prelude::*;

fn summary(tool: &str, arguments: &str, text: &str) -> ToolSummary {
    let call = ToolCall::function("c1", tool, arguments);
    summarize_tool_result(Some(&call), &ToolResult::text("c1", text, Outcome::Unstated))
}

fn quarter(text: &str) -> Tokens {
    Tokens(text.chars().count().div_ceil(4) as u64)
}

/// `001`, "summarizes file read with metadata".
#[test]
fn seed_001_summarizes_file_read_with_metadata() {
    let content = "export function hello() {}\nexport const world = 42;\nimport { foo } from 'bar';";
    let summary = summary("read_file", "{}", content);
    assert_eq!(summary.tool, "read_file");
    assert_eq!(summary.status, ToolStatus::Success);
    assert!(summary.key_facts.iter().any(|fact| fact.contains("Lines:")));
    assert_eq!(summary.metadata["hasExports"], true);
}

/// `001`, "summarizes bash with error detection".
#[test]
fn seed_001_summarizes_bash_with_error_detection() {
    let summary = summary("execute_bash", "{}", "npm test\nError: Module not found\nexit code: 1");
    assert_eq!(summary.status, ToolStatus::Error);
    assert!(summary.key_facts.iter().any(|fact| fact.contains("Error:")));
}

/// `001`, "formats summary concisely".
#[test]
fn seed_001_formats_summary_concisely() {
    let mut summary = ToolSummary::new("read_file", ToolStatus::Success);
    summary.key_facts = vec!["File: /app.ts".into(), "Lines: 100".into()];
    assert_eq!(summary.to_string(), "[✓ read_file: File: /app.ts | Lines: 100]");
}

/// `001`, `summarizeDroppedMessages`.
#[test]
fn seed_001_formats_many() {
    let items = [summary("read_file", r#"{"path":"a.md"}"#, "x"), summary("grep", r#"{"pattern":"p"}"#, "")];
    assert_eq!(
        format_summaries(&items),
        "--- Summarized Context (2 items) ---\n\
         [✓ read_file: File: a.md | Lines: 1 | Type: markdown]\n\
         [✓ grep: Pattern: \"p\" | Matches: 0 | Files: 0]"
    );
}

/// Texts made to hurt: a quadratic scan or a recursion over them would not end here.
#[test]
fn hostile_texts_cost_linear_time() {
    const SIZE: usize = 1 << 16;
    let units = [
        "[",
        "{\"a\":",
        "[],",
        "\"\\",
        "a:1:",
        "error ",
        "<system-reminder>",
        "\x1b[",
        "\r",
        "a/b.rs\n",
        "a.rs:1:x\n",
        "diff --git a/x b/x\n",
        "@@ -1 +1 @@\n",
        "((((",
        "FAILED ",
        "1→\n",
        "é",
        " ",
        "-",
        "\n",
        "commit abc1234\n    x\n",
    ];
    for unit in units {
        let text = unit.repeat(SIZE / unit.len());
        for tool in ["Bash", "Read", "Grep", "Glob", "mcp__a__b", "apply_patch"] {
            let call =
                ToolCall::function("c1", tool, if tool == "apply_patch" { text.as_str() } else { "{}" });
            let short = digest(Some(&call), &text, Outcome::Unstated, &Allowance::new(Tokens(100), &quarter));
            assert!(quarter(&short) <= Tokens(100), "{tool} {unit:?}");
            summarize_tool_result(Some(&call), &ToolResult::text("c1", text.as_str(), Outcome::Unstated));
        }
    }
}

/// A scorer from outside decides where the rules see no difference.
#[test]
fn the_callers_scorer_decides_between_equal_lines() {
    let text: String = (0..200).map(|n| format!("entry number {n} of the ledger\n")).collect();
    let wanted = |line: &str| if line.contains("number 137 ") { 9.0 } else { 0.0 };
    let plain = Allowance::new(Tokens(40), &quarter);
    assert!(!digest(None, &text, Outcome::Unstated, &plain).contains("137"));
    assert!(
        digest(None, &text, Outcome::Unstated, &plain.with_wanted(&wanted))
            .contains("entry number 137 of the ledger")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a tool returns: within the allowance, never longer than the text, the same each time.
    #[test]
    fn a_digest_keeps_to_its_allowance(
        lines in prop::collection::vec(
            prop_oneof![
                "[a-zA-Z0-9 ./:_-]{0,80}",
                "\\PC{0,60}",
                Just("error[E0308]: mismatched types".to_owned()),
                "src/[a-z]{1,8}\\.rs:[0-9]{1,3}: [a-z ]{0,40}",
                "[+@ -]{1,3}[a-z(){}\" ]{0,30}",
                "[\\[{\",:a-z0-9}\\]]{0,60}",
            ],
            0..60,
        ),
        tool in prop::sample::select(vec!["Bash", "Read", "Grep", "Glob", "get_order", "mcp__a__b", "WebFetch"]),
        limit in 0u64..200,
    ) {
        let text = lines.join("\n");
        let call = ToolCall::function("c1", tool, "{}");
        let allowance = Allowance::new(Tokens(limit), &quarter);
        let short = digest(Some(&call), &text, Outcome::Unstated, &allowance);
        prop_assert!(quarter(&short) <= Tokens(limit));
        prop_assert!(short.len() <= text.len(), "{short:?} is longer than {text:?}");
        prop_assert_eq!(&short, &digest(Some(&call), &text, Outcome::Unstated, &allowance));
        summarize_tool_result(Some(&call), &ToolResult::text("c1", text, Outcome::Unstated));
    }
}

#[test]
fn a_text_that_fits_comes_back_whole_with_its_long_lines() {
    let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
    let text = format!("{{\"rows\":\"{}\"}}\nend", "0123456789".repeat(1_000));
    let fits = |limit: u64| digest(None, &text, Outcome::Succeeded, &Allowance::new(Tokens(limit), &count));
    assert_eq!(fits(3_000), text);
    assert!(fits(2_000).len() < text.len());
    let coloured = format!("\x1b[1m{text}\x1b[0m");
    assert_eq!(digest(None, &coloured, Outcome::Succeeded, &Allowance::new(Tokens(3_000), &count)), text);
}
