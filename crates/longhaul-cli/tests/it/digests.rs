//! Digests of the tests that agents ran, in recordings: no failure is lost, and no room goes to tests that passed.

use std::fs;

use longhaul::{
    extract::{Allowance, digest, read_shell},
    tokens::{Encoding, counter},
    transcript::{Outcome, Part, Tokens, ToolCall},
    wire,
};
use longhaul_testkit::recorded;

/// Returns what each run of tests in the recordings printed.
fn runs_of_tests() -> Vec<(ToolCall, String)> {
    let mut found = Vec::new();
    for folder in ["claude_code", "codex", "pi"] {
        for path in recorded(folder) {
            let document = wire::read(None, &fs::read(path).unwrap()[..]).unwrap();
            let parts = || document.transcript().entries().iter().flat_map(|entry| &entry.message.parts);
            for part in parts() {
                let Part::ToolResult(result) = part else { continue };
                let call = parts().find_map(|part| match part {
                    Part::ToolCall(call) if call.id == result.call_id => Some(call.clone()),
                    _ => None,
                });
                let text = result.joined_text();
                if let Some(call) = call.filter(|_| read_shell(&text).tests.any()) {
                    found.push((call, text));
                }
            }
        }
    }
    found
}

#[test]
fn digests_of_recorded_tests_lose_no_failure() {
    let runs = runs_of_tests();
    let counter = counter(Encoding::O200kBase);
    let count = |text: &str| counter.count_text(text);
    let (mut shortened, mut failed, mut kept, mut before, mut after) = (0, 0, 0, 0, 0);
    for (call, text) in &runs {
        let shown = digest(Some(call), text, Outcome::Unstated, &Allowance::new(Tokens(1_000), &count));
        if count(text) <= Tokens(1_000) {
            continue;
        }
        shortened += 1;
        before += count(text).0;
        after += count(&shown).0;
        for name in &read_shell(text).failed_tests {
            failed += 1;
            kept += usize::from(shown.contains(name));
        }
        // What was cut before its totals has only those that passed to tell of.
        let is_whole =
            text.lines().any(|line| line.starts_with("test result: ") || line.starts_with("ok  \t"));
        let passed = |line: &&str| line.ends_with(" ... ok") || line.trim_start().starts_with("--- PASS");
        assert!(!is_whole || shown.lines().filter(passed).count() == 0, "{shown}");
    }
    println!(
        "{} runs, {shortened} shortened from {before} to {after}, {kept} of {failed} failures named",
        runs.len()
    );
    assert_eq!(kept, failed);
}

#[test]
fn a_line_that_comes_again_and_again_is_told_once() {
    let ran = crate::run::Folder::new().run(&["digest"], "ERROR same line\n".repeat(200_000).as_bytes());
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "ERROR same line\n… 199999 more lines like this\n");
}
