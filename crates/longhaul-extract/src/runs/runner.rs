//! What the runners of tests, builds and checks say of themselves: their own last words, not words that stand in output.

use std::sync::LazyLock;

use regex::Regex;

use crate::digest::{TestCounts, count_line};

/// What the output of a check says about how it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Counts of tests, those of several runs added up, each once.
    pub(crate) tests: TestCounts,
    /// Whether a runner says in the end that all is well.
    pub(crate) passes: bool,
    /// Whether a runner says in the end that something failed.
    pub(crate) fails: bool,
    /// The lines that say that something failed, the runner's last words among them; at most ten.
    pub(crate) failures: Vec<String>,
}

/// What one line says.
enum Line {
    /// A summary without failures, or one with.
    Passed,
    Failed,
    /// A line that only comes where something failed, which a summary that comes later outranks.
    Sign,
    /// The word of what ran the runner: it failed, whatever was printed before.
    Last,
    Nothing,
}

/// Reads the lines of an output, without the harness's own.
pub(crate) fn told(lines: &[&str]) -> Told {
    let mut told = Told::default();
    let (mut signed, mut last) = (false, false);
    for (at, line) in lines.iter().enumerate() {
        if line.len() > 1000 {
            continue;
        }
        let body = unprefixed(line);
        let before = told.tests;
        // Nothing is counted without a number.
        if body.bytes().any(|byte| byte.is_ascii_digit()) {
            count(&mut told.tests, body, at, lines);
        }
        let counted = told.tests != before;
        let says = match counted {
            true if told.tests.failed > before.failed => Line::Failed,
            true if told.tests.passed > before.passed => Line::Passed,
            _ => say(body),
        };
        match says {
            Line::Passed => told.passes = true,
            Line::Failed => told.fails = true,
            Line::Sign => signed = true,
            Line::Last => last = true,
            Line::Nothing => {}
        }
        if matches!(says, Line::Failed | Line::Sign | Line::Last) && told.failures.len() < MOST_FAILURES {
            told.failures.push(line.trim().to_owned());
        }
    }
    // Without a summary a sign is all there is.
    told.fails |= last || signed && !told.passes;
    if told.fails {
        told.passes = false;
    } else {
        told.failures.clear();
    }
    told
}

/// Returns the lines behind the last in which a runner counts tests, where none of them failed; else all.
pub(crate) fn behind_passed_tests<'l, 't>(lines: &'l [&'t str]) -> &'l [&'t str] {
    let (mut tests, mut end) = (TestCounts::default(), 0);
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.len() <= 1000) {
        let before = tests;
        let body = unprefixed(line);
        if body.bytes().any(|byte| byte.is_ascii_digit()) {
            count(&mut tests, body, at, lines);
        }
        if tests != before {
            end = at + 1;
        }
    }
    if tests.failed == 0 { &lines[end..] } else { lines }
}

/// Adds the tests that a line counts. Bun says its total in a line of its own after the counts.
fn count(tests: &mut TestCounts, body: &str, at: usize, lines: &[&str]) {
    // Maven counts each class before it counts all.
    if body.starts_with("Ran ") && body.contains(" across ") || body.contains("Time elapsed") {
        return;
    }
    if let Some(found) = NEXTEST.captures(body) {
        let number = |name: &str| found.name(name).map_or(0, |found| found.as_str().parse().unwrap_or(0));
        tests.passed += number("passed");
        tests.failed += number("failed") + number("timed");
        tests.skipped += number("skipped");
        return;
    }
    // A run that ends in two tables (a summary and its repetition) counts once.
    let is_told_before = body.trim_start().starts_with("Tests")
        && lines[..at].iter().rev().take(30).any(|earlier| earlier.trim() == body.trim());
    if !is_told_before {
        count_line(tests, body);
    }
}

/// Returns the line without what a task runner puts before it: `[test:ci] `, `@a/core test: `, `core:test: `.
pub(super) fn unprefixed(line: &str) -> &str {
    let trimmed = line.trim_start();
    if let Some((task, rest)) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let is_task = task.len() <= 40
            && task.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_./@".contains(&byte));
        if is_task && !task.is_empty() && !task.bytes().all(|byte| byte.is_ascii_digit()) {
            return rest;
        }
    }
    if let Some((task, rest)) = trimmed.split_once(": ") {
        let mut words = task.split(' ');
        let named = words
            .next()
            .is_some_and(|name| name.starts_with('@') || name.contains(':') && !name.contains('/'));
        if task.len() <= 60 && named && words.count() <= 1 && !rest.is_empty() {
            return rest;
        }
    }
    line
}

fn say(line: &str) -> Line {
    let body = line.trim();
    let begins = |starts: &[&str]| starts.iter().any(|start| body.starts_with(start));
    let is_one_of = |whole: &[&str]| whole.contains(&body);
    let may_be_script = body.contains("rror") || body.contains("xited with") || body.contains("ELIFECYCLE");
    if begins(LAST) || may_be_script && SCRIPT_FAILED.is_match(body) {
        return Line::Last;
    }
    let has_number = body.bytes().any(|byte| byte.is_ascii_digit());
    if let Some(found) = Some(body).filter(|_| has_number).and_then(|body| PROBLEMS.captures(body)) {
        let number: u64 =
            found.iter().skip(1).flatten().next().map_or(0, |found| found.as_str().parse().unwrap_or(1));
        return if number == 0 { Line::Passed } else { Line::Failed };
    }
    if begins(FAILED) || is_one_of(&["FAIL", "FAILED", "FAILURES!"]) || line.starts_with("FAIL\t") {
        return Line::Failed;
    }
    if begins(PASSED) || is_one_of(&["PASS", "OK"]) || line.starts_with("ok  \t") || CLEAN.is_match(body) {
        return Line::Passed;
    }
    if begins(SIGNS) || body.contains("error TS") && TSC.is_match(body) {
        return Line::Sign;
    }
    Line::Nothing
}

/// What the program says last that ran the runner.
const LAST: &[&str] = &[
    "error: test failed",
    "error: could not compile",
    "error: aborting due to",
    "npm ERR! ",
    "npm error ",
    "error Command failed",
    "make: ***",
    "make[",
    "gmake: ***",
    "error: Recipe ",
    "ELIFECYCLE",
    " ELIFECYCLE",
    "ERR_PNPM",
    "task: Failed",
    "pre-commit hook exited",
    "husky - pre-commit hook exited",
    "error: build failed",
];

const FAILED: &[&str] = &[
    "BUILD FAILED",
    "BUILD FAILURE",
    "[INFO] BUILD FAILURE",
    "FAILED (",
    "Build failed",
    "Failed to compile",
    "Compilation failed",
    "Code style issues found",
    "Interrupted: ",
    "FAILED: ",
    "ERROR task failed",
    "ninja: build stopped",
    "Task failed",
    "Failed!  - Failed:",
    "Oh no! 💥",
];

const PASSED: &[&str] = &[
    "BUILD SUCCESS",
    "[INFO] BUILD SUCCESS",
    "All checks passed",
    "All matched files use Prettier",
    "Success: no issues found",
    "Compiled successfully",
    "✓ built in",
    "Build succeeded",
    "Build success",
    "ok | ",
    "100% tests passed",
    "✨  Done",
    "Done in ",
    "Passed!  - Failed:     0",
    "webpack compiled successfully",
    "compiled successfully",
    "no offenses detected",
    "Build complete!",
    "All done! ✨",
    "advisories ok",
    "No issues found!",
    "No vulnerabilities found",
    "✔ No ESLint",
    "✓ Compiled successfully",
];

/// Lines that only come where something fails.
const SIGNS: &[&str] = &[
    "--- FAIL: ", "error[E", "FAILED ", "FAIL ", "E   ", "ERROR collecting", "not ok ", "# FAIL",
    "panic: test timed out", "Diff in ", "Would reformat: ", "would reformat ",
];

const MOST_FAILURES: usize = 10;

macro_rules! pattern {
    ($(#[$doc:meta])* $name:ident, $pattern:expr) => {
        $(#[$doc])*
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a tested pattern"));
    };
}

pattern!(
    NEXTEST,
    r"^\s*Summary \[ *[\d.]+s\] +(?:\d+/)?\d+ tests? run: (?P<passed>\d+) passed(?: \([^)]*\))?(?:, (?P<failed>\d+) failed)?(?:, (?P<timed>\d+) timed out)?(?:, (?P<skipped>\d+) skipped)?"
);
pattern!(
    SCRIPT_FAILED,
    r#"^error: script "[^"]+" (?:exited with code [1-9]|was terminated)|ELIFECYCLE|^@?[\w/.-]+ [\w:-]+: Exited with code [1-9]|^ERROR task failed"#
);
pattern!(
    /// Linters and type checkers count what they found; the first number is that of errors.
    PROBLEMS,
    r"^Found (\d+) errors?\b|^(\d+) files? would be reformatted|^Found (\d+) not formatted files?|^✖ \d+ problems? \((\d+) errors?|^(\d+) issues?[:.]|^Found (\d+) issues?\b|^(\d+) errors? generated|^Found (\d+) problems?\b|, (\d+) offenses? detected|^(\d+) errors?, \d+ warnings?"
);
pattern!(
    CLEAN,
    r"^Checked \d+ files? in .*\. (?:No fixes applied|Fixed \d+ files?)\.$|^Finished (?:`|dev|release|test)|^\d+ files? (?:already formatted|would be left unchanged|left unchanged)"
);
/// Whether a line begins with a place in a file, as compilers and linters put it.
pub(super) fn is_place(line: &str) -> bool {
    PLACE.is_match(line)
}

pattern!(PLACE, r"^[^\s:()]+\.[A-Za-z]{1,5}[:(]\d+");
pattern!(TSC, r"^\S+\(\d+,\d+\): error TS\d+|^\S+:\d+:\d+ - error TS\d+|^error TS\d+");

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (bool, bool, (u64, u64, u64)) {
        let told = told(&text.lines().collect::<Vec<_>>());
        (told.passes, told.fails, (told.tests.passed, told.tests.failed, told.tests.skipped))
    }

    #[test]
    fn runners_have_the_last_word() {
        for (text, passes, fails, counts) in [
            (
                " 1219 pass\n 0 fail\n 3012 expect() calls\nRan 1219 tests across 83 files. [4.2s]",
                true,
                false,
                (1219, 0, 0),
            ),
            ("error: Item 3 failed\n      at x\n 1219 pass\n 0 fail", true, false, (1219, 0, 0)),
            (" 1218 pass\n 1 fail\nRan 1219 tests across 83 files.", false, true, (1218, 1, 0)),
            (
                "@a/core test:  12 pass\n@a/core test:  0 fail\n@a/cli test:  3 pass\n@a/cli test:  0 fail",
                true,
                false,
                (15, 0, 0),
            ),
            ("ok  \ta/b\t0.3s\nok  \ta/c\t(cached)", true, false, (0, 0, 0)),
            ("--- FAIL: TestX (0.00s)\nFAIL\nFAIL\ta/b\t0.3s\nok  \ta/c\t0.1s\nFAIL", false, true, (0, 0, 0)),
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured\n\ntest result: ok. 2 passed; 0 failed; 1 ignored",
                true,
                false,
                (5, 0, 1),
            ),
            (
                "test result: FAILED. 3 passed; 1 failed; 0 ignored\nerror: test failed, to rerun pass `--lib`",
                false,
                true,
                (3, 1, 0),
            ),
            (
                "     Summary [  11.001s] 13 tests run: 12 passed, 1 failed, 79 skipped",
                false,
                true,
                (12, 1, 79),
            ),
            (
                "     Summary [   0.268s] 12 tests run: 12 passed (1 slow), 72 skipped",
                true,
                false,
                (12, 0, 72),
            ),
            ("==== 4 passed, 2 skipped in 0.12s ====", true, false, (4, 0, 2)),
            (
                "FAILED a/test_b.py::test_c - assert 1 == 2\n==== 1 failed, 4 passed in 0.12s ====",
                false,
                true,
                (4, 1, 0),
            ),
            (
                "Test Suites: 1 failed, 1 total\nTests:       1 failed, 3 passed, 4 total",
                false,
                true,
                (3, 1, 0),
            ),
            ("Tests:       3 passed, 3 total", true, false, (3, 0, 0)),
            (" Test Files  2 passed (2)\n      Tests  7 passed (7)", true, false, (7, 0, 0)),
            ("Ran 5 tests in 0.001s\n\nOK", true, false, (5, 0, 0)),
            (
                "Tests run: 5, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS",
                true,
                false,
                (4, 0, 1),
            ),
            ("5 examples, 0 failures", true, false, (5, 0, 0)),
            ("OK (5 tests, 7 assertions)", true, false, (5, 0, 0)),
            ("100% tests passed, 0 tests failed out of 3", true, false, (0, 0, 0)),
            ("src/a.ts(3,4): error TS2322: no\n", false, true, (0, 0, 0)),
            ("Found 3 errors.", false, true, (0, 0, 0)),
            ("Found 0 errors. Watching for file changes.", true, false, (0, 0, 0)),
            ("✖ 3 problems (0 errors, 3 warnings)", true, false, (0, 0, 0)),
            ("✖ 3 problems (1 error, 2 warnings)", false, true, (0, 0, 0)),
            ("[lint:go] 0 issues.\n[lint:go] Finished in 3.34s", true, false, (0, 0, 0)),
            ("1 issues:\n* gosec: 1", false, true, (0, 0, 0)),
            ("Checked 290 files in 97ms. No fixes applied.", true, false, (0, 0, 0)),
            ("    Finished `dev` profile [unoptimized] target(s) in 2s", true, false, (0, 0, 0)),
            ("error[E0308]: mismatched types\nerror: could not compile `a`", false, true, (0, 0, 0)),
            ("make: *** [Makefile:3: all] Error 2", false, true, (0, 0, 0)),
            ("12 pass\n0 fail\nerror: script \"test\" exited with code 1", false, true, (12, 0, 0)),
            ("Diff in /w/src/a.rs:12:\n-x\n+ x", false, true, (0, 0, 0)),
            ("12 files already formatted", true, false, (0, 0, 0)),
            (
                "Would reformat: a.py\n1 file would be reformatted, 3 files already formatted",
                false,
                true,
                (0, 0, 0),
            ),
            ("would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.", false, true, (0, 0, 0)),
            ("All done! ✨ 🍰 ✨\n3 files would be left unchanged.", true, false, (0, 0, 0)),
            ("[warn] src/a.ts\n[warn] Code style issues found in the above file.", false, true, (0, 0, 0)),
            ("advisories ok, bans ok, licenses ok, sources ok", true, false, (0, 0, 0)),
            ("0 errors, 0 warnings, 0 informations", true, false, (0, 0, 0)),
            ("Success: no issues found in 4 source files", true, false, (0, 0, 0)),
            ("1 error in the log\nFailed to load cache, going on", false, false, (0, 0, 0)),
            ("", false, false, (0, 0, 0)),
        ] {
            assert_eq!(of(text), (passes, fails, counts), "{text}");
        }
    }
}
