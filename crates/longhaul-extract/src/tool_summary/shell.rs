//! What a command was, how it went and what came of it.

use longhaul_transcript::Outcome;

use super::line::{ToolStatus, ToolSummary, in_lines, short, some_of};
use crate::{
    digest::{Source, is_wrapper, read_lines},
    runs::{Purpose, Verdict, run_of_view},
    tool::ToolFamily,
    tool_view::CallView,
};

pub(super) fn shell(source: Source<'_>, facts: &mut ToolSummary) {
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

/// Commands are shown to this many characters (`001`).
const COMMAND_CHARS: usize = 60;

/// An output of one line is shown to this many characters.
const RESULT_CHARS: usize = 160;
