//! How a command went, read from its output: exit code, errors, test counts, warnings.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{
    clean::{clean, prefix},
    lines::{classify, heads_causes},
    patterns::Class,
};
use crate::runs::told;

/// What the output of a command says about how it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellOutcome {
    /// The exit code the harness or the program states, if any.
    pub exit_code: Option<i64>,
    /// Whether it failed: a non-zero exit code, or, without one, what a runner of tests or checks says in the end.
    pub failed: bool,
    /// Whether the command still runs, as far as the harness says.
    pub running: bool,
    /// The first line that tells of an error.
    pub first_error: Option<String>,
    /// The line that says best what went wrong: the assertion, the compiler's error, the panic, the failing test.
    pub decisive_error: Option<String>,
    /// Names of failing tests, in order, at most 20.
    pub failed_tests: Vec<String>,
    /// Counts of tests, those of several runs in the output added up.
    pub tests: TestCounts,
    /// Number of warnings: the program's own count where it gives one, else the lines that are warnings.
    pub warnings: u64,
    /// Lines of output, the harness's own lines apart.
    pub lines: usize,
}

/// Counts of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, errors among them.
    pub failed: u64,
    /// Tests that were skipped or ignored.
    pub skipped: u64,
}

impl TestCounts {
    /// Returns whether any test was counted.
    pub fn any(self) -> bool {
        self.passed + self.failed + self.skipped > 0
    }
}

/// Reads the output of a command. Linear in the text; a text above 16 MiB is read at its two ends.
///
/// ```
/// use longhaul_extract::read_shell;
///
/// let outcome = read_shell("running 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored");
/// assert!(outcome.failed);
/// assert_eq!((outcome.tests.passed, outcome.tests.failed), (1, 1));
/// assert_eq!(outcome.failed_tests, ["b"]);
/// ```
pub fn read_shell(text: &str) -> ShellOutcome {
    let text = clean(text);
    let lines: Vec<&str> = text.lines().collect();
    read_lines(&lines)
}

pub(crate) fn read_lines(lines: &[&str]) -> ShellOutcome {
    let mut outcome = ShellOutcome {
        exit_code: exit_code(lines),
        running: lines.iter().take(6).any(|line| line.starts_with("Process running with session ID")),
        lines: lines.len() - lines.iter().take(8).filter(|line| is_wrapper(line)).count(),
        ..ShellOutcome::default()
    };
    let mut stated_warnings: Option<u64> = None;
    let mut passed_lines = 0;
    let mut best: Option<(u8, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let head = prefix(line, 500);
        if let Some(name) = failed_test(head)
            && outcome.failed_tests.len() < MAX_FAILED_TESTS
            && !outcome.failed_tests.iter().any(|t| t == name)
        {
            outcome.failed_tests.push(name.to_owned());
        }
        passed_lines += u64::from(head.starts_with("--- PASS: "));
        let class = classify(line);
        if class == Class::Warning {
            // rustc's and gcc's own totals stand in lines that look like warnings themselves.
            match head.contains(" generated").then(|| number_before(head, " warning")).flatten() {
                Some(own) => stated_warnings = Some(stated_warnings.unwrap_or(0) + own),
                None => outcome.warnings += 1,
            }
        }
        if let Some(rank) = decisiveness(class, head) {
            if outcome.first_error.is_none() && !is_exit_line(head) {
                outcome.first_error = Some(line.trim().to_owned());
            }
            // Later errors of the same rank say less, but for a traceback, whose last line is the exception.
            if best.is_none_or(|(held, _)| rank > held) {
                best = Some((rank, at));
            }
        }
    }
    let told = told(lines);
    outcome.tests = told.tests;
    if !outcome.tests.any() && (passed_lines > 0 || !outcome.failed_tests.is_empty()) {
        outcome.tests.passed = passed_lines;
        outcome.tests.failed = outcome.failed_tests.len() as u64;
    }
    outcome.warnings = stated_warnings.unwrap_or(outcome.warnings);
    outcome.decisive_error = best.map(|(_, at)| message(lines, at));
    outcome.failed = match outcome.exit_code {
        Some(code) => code != 0,
        // What an output tells of errors is no verdict; the runner's last words are.
        None => told.fails,
    };
    if !outcome.failed && outcome.exit_code.is_some() && best.is_none_or(|(rank, _)| rank < STRONG) {
        // An exit code of zero beats the word `error` somewhere in the output.
        outcome.decisive_error = None;
    }
    outcome
}

/// Returns whether a line of a command's output is the harness's, not the program's.
pub fn is_wrapper(line: &str) -> bool {
    const HEADS: [&str; 8] = [
        "Chunk ID:",
        "Wall time:",
        "Process exited with code",
        "Process running with session ID",
        "Original token count:",
        "Output:",
        "Exit code",
        "Total output lines:",
    ];
    HEADS.iter().any(|head| line.starts_with(head))
}

/// The least rank that means failure without an exit code.
const STRONG: u8 = 3;
const MAX_FAILED_TESTS: usize = 20;

/// How well a line says what went wrong.
fn decisiveness(class: Class, line: &str) -> Option<u8> {
    let body = line.trim_start();
    match class {
        // What went wrong stands around it.
        Class::Decisive if heads_causes(body) => None,
        // A harness that puts the word before all that a failed command printed does not say which line of it was the error.
        Class::Decisive if body.strip_prefix("Error: ").is_some_and(is_banner) => None,
        Class::Decisive if body.starts_with("Traceback") || body.starts_with("File \"") => Some(2),
        Class::Decisive if TRAILING.is_match(body) => Some(STRONG),
        Class::Decisive if body.contains("panicked at") || ASSERTION.is_match(body) => Some(6),
        Class::Decisive => Some(5),
        Class::FailedTest => Some(4),
        Class::Error if !is_exit_line(line) && !NEGATED.is_match(body) => Some(1),
        _ => None,
    }
}

/// Returns whether a command begins so that goes well: what it runs, and what a debugger that it was started under says.
fn is_banner(line: &str) -> bool {
    const HEADS: [&str; 6] = ["> ", "$ ", "Running ", "Debugger attached.", "Warning: ", "warning: "];
    HEADS.iter().any(|head| line.starts_with(head))
}

macro_rules! pattern {
    ($(#[$doc:meta])* $name:ident, $pattern:expr) => {
        $(#[$doc])*
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a tested pattern"));
    };
}

pattern!(ASSERTION, r"(?i)^E\s+assert|\bassert(ion)?(error)?\b|^error\[E\d+\]|error TS\d+:");
pattern!(
    /// Errors that only say that there were errors.
    TRAILING,
    r"^error: (could not compile|aborting|test failed|\d+ target)|^make.*\*\*\*|^npm (error|ERR!) (code|errno|path|command|Lifecycle|Test failed|A complete log)|^Error: Process completed|^error Command failed|ld returned \d"
);
pattern!(NEGATED, r"(?i)\b(0|no|zero|without) (errors?|failures?|failed|problems?|conflicts?)\b");
pattern!(
    EXIT,
    r"(?i)^\W{0,3}(?:error: )?(?:the )?(?:(?:process|command|program|script)\b.{0,40}? )?(?:(?:exited|finished|completed|failed|returned) )?(?:with )?(?:non-zero )?(?:exit(?:ed)?(?: with)? ?(?:code|status)|exitcode|code|status|return(?:ed)? code|exit)[\s:=]+(-?\d{1,10})\b"
);
pattern!(RUST, r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored");
pattern!(
    COUNTED,
    r"(?i)(\d+) (?:tests? |examples? )?(passed|passing|pass|failed|failing|failures?|fail|errors?|skipped|ignored|pending|todo|skip|xfailed)\b"
);
pattern!(LABELLED, r"(?i)\b(passed|failures|failed|errors|skipped|ignored|incomplete): ?(\d+)");
pattern!(TOTAL, r"^(?:Ran |Tests run: |Tests: |OK \()(\d+)|^(\d+) (?:tests completed|examples)");

/// Returns the exit code that the first or the last lines state. In the middle, such words are the program's own.
pub(crate) fn exit_code(lines: &[&str]) -> Option<i64> {
    let head = lines.iter().take(8);
    let tail = lines.iter().skip(lines.len().saturating_sub(6).max(8)).rev();
    head.chain(tail).find_map(|line| {
        if !is_exit_line(line) {
            return None;
        }
        EXIT.captures(line)?.get(1)?.as_str().parse().ok()
    })
}

fn is_exit_line(line: &str) -> bool {
    let body = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower: String = body.chars().take(60).flat_map(char::to_lowercase).collect();
    (lower.contains("exit") || lower.contains("return")) && EXIT.is_match(line)
}

/// Returns the name of the test that a line says has failed.
fn failed_test(line: &str) -> Option<&str> {
    let body = line.trim();
    if let Some(rest) = body.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED").map(|name| name.split(" - ").next().unwrap_or(name));
    }
    if let Some(rest) = body.strip_prefix("--- FAIL: ") {
        return rest.split_whitespace().next();
    }
    for head in ["FAILED ", "ERROR "] {
        if let Some(rest) = body.strip_prefix(head) {
            let name = rest.split(" - ").next().unwrap_or(rest);
            let named = name.contains("::") || name.ends_with(".py") || name.contains('/');
            return (named && !name.contains(": ")).then_some(name);
        }
    }
    if let Some(rest) = body.strip_prefix("(fail) ") {
        return Some(rest.rsplit_once(" [").map_or(rest, |(name, _)| name));
    }
    for head in ["FAIL: ", "ERROR: "] {
        if let Some(rest) = body.strip_prefix(head) {
            return rest.starts_with("test").then(|| rest.split_whitespace().next()).flatten();
        }
    }
    if let Some(rest) = body.strip_prefix("not ok ") {
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches([' ', '-']);
        return Some(name).filter(|name| !name.is_empty() && !name.contains("# TODO"));
    }
    for head in ["✕ ", "✗ ", "× ", "✖ "] {
        if let Some(rest) = body.strip_prefix(head) {
            let problems = rest.starts_with(|c: char| c.is_ascii_digit());
            return (!problems).then(|| rest.rsplit_once(" (").map_or(rest, |(name, _)| name));
        }
    }
    None
}

/// Adds what a summary line of a test runner counts: cargo, pytest, unittest, jest, vitest, mocha, node, JUnit and
/// Maven, Gradle, RSpec, PHPUnit, Deno, Bun, CTest.
pub(crate) fn count_line(tests: &mut TestCounts, line: &str) {
    if let Some(counts) = RUST.captures(line) {
        let number = |at: usize| counts[at].parse::<u64>().unwrap_or(0);
        tests.passed += number(1);
        tests.failed += number(2);
        tests.skipped += number(3);
        return;
    }
    let body = line.trim_start_matches([' ', '=', 'ℹ', '#', '\t']);
    let is_summary = match body.as_bytes().first() {
        // `Tests: 1 failed, 2 passed`, vitest's `Tests  1 failed | 2 passed (3)`; not the count of suites.
        Some(b'T') => body.starts_with("Tests") && !body.starts_with("Tests run: 0,"),
        Some(b'O') => body.starts_with("OK ("),
        Some(b'F') => body.starts_with("FAILED (") || body.starts_with("FAILED | "),
        Some(b'R') => body.starts_with("Ran ") && body.contains(" test"),
        Some(b'o') => body.starts_with("ok | "),
        Some(b'p' | b'f' | b's') if line.starts_with(['ℹ', '#']) => return node_count(tests, body),
        Some(b'0'..=b'9') => {
            line.trim_start().starts_with('=') && line.trim_end().ends_with('=') || short_count(body)
        }
        _ => false,
    };
    if !is_summary {
        return;
    }
    let mut add = |word: &str, number: u64| match word.to_ascii_lowercase().as_str() {
        "passed" | "passing" | "pass" => tests.passed += number,
        "skipped" | "ignored" | "pending" | "todo" | "skip" | "xfailed" | "incomplete" => {
            tests.skipped += number
        }
        _ => tests.failed += number,
    };
    let mut bad = 0;
    let mut says_passed = false;
    for found in COUNTED.captures_iter(body) {
        let number = found[1].parse().unwrap_or(0);
        says_passed |= found[2].to_ascii_lowercase().starts_with("pass");
        bad += number;
        add(&found[2], number);
    }
    for found in LABELLED.captures_iter(&body.replace('=', ": ")) {
        let number = found[2].parse().unwrap_or(0);
        says_passed |= found[1].eq_ignore_ascii_case("passed");
        bad += number;
        add(&found[1], number);
    }
    // Runners that give the total and what went wrong: the rest passed. unittest gives the two on two lines.
    if let (Some(total), false) = (TOTAL.captures(body), says_passed) {
        let total: u64 = total.iter().skip(1).flatten().next().map_or(0, |n| n.as_str().parse().unwrap_or(0));
        tests.passed += total.saturating_sub(bad);
    } else if body.starts_with("FAILED (") && !says_passed {
        tests.passed = tests.passed.saturating_sub(bad);
    }
}

/// `# pass 3` and `ℹ fail 1`, as node's own runner and TAP say it.
fn node_count(tests: &mut TestCounts, body: &str) {
    let mut words = body.split_whitespace();
    let (Some(word), Some(Ok(number)), None) =
        (words.next(), words.next().map(str::parse::<u64>), words.next())
    else {
        return;
    };
    match word {
        "pass" => tests.passed += number,
        "fail" => tests.failed += number,
        "skipped" => tests.skipped += number,
        _ => {}
    }
}

/// `3 passing (5ms)`, `2 failing`, `1 passed in 0.01s`, `5 examples, 1 failure`, `1 pass`: a line that is nothing else.
fn short_count(body: &str) -> bool {
    let mut words = body.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).skip(1);
    const WORDS: [&str; 13] = [
        "passing", "failing", "pending", "passed", "failed", "examples", "example", "pass", "fail", "skip",
        "skipped", "tests", "test",
    ];
    let first = words.next().is_some_and(|word| WORDS.contains(&word));
    first && body.len() < 100 && (!body.contains("test") || body.contains("completed"))
}

fn number_before(line: &str, word: &str) -> Option<u64> {
    line[..line.find(word)?].split_whitespace().next_back()?.parse().ok()
}

/// Returns the error line, with the next where the line alone names no reason (Rust's panic, a bare `Error:`).
fn message(lines: &[&str], at: usize) -> String {
    let line = lines[at].trim();
    let incomplete = line.contains("panicked at") && line.ends_with(':');
    match lines.get(at + 1).map(|next| next.trim()) {
        Some(next) if incomplete && !next.is_empty() => format!("{line} {next}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> (u64, u64, u64) {
        let tests = read_shell(text).tests;
        (tests.passed, tests.failed, tests.skipped)
    }

    #[test]
    fn test_counts_of_many_runners() {
        for (text, expected) in [
            ("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out", (3, 0, 1)),
            ("==== 1 failed, 4 passed, 2 skipped in 0.12s ====", (4, 1, 2)),
            ("3 passed in 0.01s", (3, 0, 0)),
            ("Test Suites: 1 failed, 1 total\nTests:       1 failed, 3 passed, 4 total", (3, 1, 0)),
            (" Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)", (2, 1, 0)),
            ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)", (3, 2, 0)),
            ("Ran 5 tests in 0.001s\n\nOK", (5, 0, 0)),
            ("ℹ tests 3\nℹ pass 2\nℹ fail 1", (2, 1, 0)),
            ("  2 passing (5ms)\n  1 failing", (2, 1, 0)),
            ("Tests run: 5, Failures: 1, Errors: 0, Skipped: 1", (3, 1, 1)),
            ("5 examples, 1 failure", (4, 1, 0)),
            ("OK (5 tests, 7 assertions)", (5, 0, 0)),
            ("Tests: 5, Assertions: 7, Failures: 1.", (4, 1, 0)),
            ("FAILED | 4 passed | 1 failed (12ms)", (4, 1, 0)),
            ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL", (1, 1, 0)),
        ] {
            assert_eq!(counts(text), expected, "{text}");
        }
    }

    #[test]
    fn exit_codes_of_many_harnesses() {
        for (text, expected) in [
            ("Exit code 1\nboom", Some(1)),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nok", Some(0)),
            ("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 101\nOutput:\nx", Some(101)),
            ("npm test\nError: Module not found\nexit code: 1", Some(1)),
            ("x\n[The command completed with exit code 2.]", Some(2)),
            ("y\nexit status 1", Some(1)),
            ("Command failed with exit code 127", Some(127)),
            ("the exit was closed at 5", None),
            ("plain", None),
        ] {
            assert_eq!(read_shell(text).exit_code, expected, "{text}");
        }
    }

    #[test]
    fn the_decisive_line_is_the_reason_not_the_verdict() {
        let cargo = "error[E0308]: mismatched types\n --> src/a.rs:1:2\nerror: could not compile `a`";
        assert_eq!(read_shell(cargo).decisive_error.as_deref(), Some("error[E0308]: mismatched types"));
        let panic = "test t ... FAILED\nthread 't' panicked at src/a.rs:9:5:\nassertion failed: x\nerror: test failed";
        assert!(read_shell(panic).decisive_error.is_some_and(|line| line.ends_with("assertion failed: x")));
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'";
        assert_eq!(read_shell(python).decisive_error.as_deref(), Some("KeyError: 'x'"));
        // The word before it is the harness's, of whatever the command printed first.
        let missing = "cp: /opt/theme/dark.json: No such file or directory";
        for first in ["Debugger attached.", "> app@1.0.0 copy", "Running the hooks"] {
            let told = format!("Error: {first}\n{missing}\n\nCommand exited with code 1");
            assert_eq!(read_shell(&told).decisive_error.as_deref(), Some(missing));
        }
        let own =
            "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at connect (net.js:1:2)\nerror: Recipe failed";
        assert!(read_shell(own).decisive_error.is_some_and(|line| line.contains("ECONNREFUSED")));
    }

    #[test]
    fn success_with_the_word_error_in_it_is_success() {
        assert!(!read_shell("Exit code: 0\nsrc/error.rs: handles error cases").failed);
        assert!(!read_shell("0 errors, 0 failures").failed);
    }
}
