//! How much each line of a tool's output matters, by what it looks like.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::patterns::{self, Class};

/// Returns what `line` looks like.
pub(crate) fn classify(line: &str) -> Class {
    let line = line.trim_end();
    let body = line.trim_start();
    if body.is_empty() || is_rule(body) {
        return Class::Noise;
    }
    if is_excerpt(body) {
        return Class::Plain;
    }
    // The head of a line decides what it is, but for a test that passed: it may be named after anything.
    if is_passed(body) {
        return Class::Passed;
    }
    let head = super::clean::prefix(line, 400);
    match patterns::classes(head).min().unwrap_or(Class::Plain) {
        Class::Place if is_foreign(head) => Class::Noise,
        class => class,
    }
}

/// Returns what each of `lines` looks like. The causes that stand below their heading are part of what it tells.
fn classes(lines: &[&str]) -> Vec<Class> {
    let mut classes: Vec<Class> = lines.iter().map(|line| classify(line)).collect();
    for at in (0..lines.len()).filter(|at| heads_causes(lines[*at])) {
        classes[at + 1..=at + causes_below(lines, at).len()].fill(Class::Detail);
    }
    classes
}

/// Returns whether causes stand below `line`: anyhow's `Caused by:`, with nothing behind it.
pub(crate) fn heads_causes(line: &str) -> bool {
    ["Caused by:", "caused by:"].contains(&line.trim())
}

/// Returns the lines below the heading at `at` that tell causes: indented further than it, up to the first that is not.
pub(crate) fn causes_below<'a, 'l>(lines: &'a [&'l str], at: usize) -> &'a [&'l str] {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_cause = |line: &&&str| !line.trim().is_empty() && indent(line) > indent(lines[at]);
    let below = &lines[at + 1..];
    &below[..below.iter().take(MOST_CAUSES).take_while(is_cause).count()]
}

/// So many lines of causes say enough: a trace may stand behind them.
const MOST_CAUSES: usize = 8;

/// The most that a line is worth for standing behind an error: where it is and what came in the place of what was expected come
/// after the first errors themselves, and everything else after how the run ended.
const DETAILS: f64 = 9.3;
const EXPLAINS: f64 = 8.4;

/// Scores lines: by class, raised where they follow an error, lowered where they repeat one another.
pub(crate) fn score(lines: &[&str]) -> (Vec<Class>, Vec<f64>) {
    let classes = classes(lines);
    let mut scores: Vec<f64> = Vec::with_capacity(lines.len());
    let mut near = 0.0;
    let (mut errors, mut failed) = (0.0f64, 0.0f64);
    let mut in_commit = false;
    for (at, (line, class)) in lines.iter().zip(&classes).enumerate() {
        let mut score = class.score();
        match class {
            // The first errors say most; counts and verdicts come before the fifth. What tests print of errors while they pass
            // says nothing of the one that fails.
            Class::Decisive | Class::FailedTest => {
                let is_test = *class == Class::FailedTest;
                let before = if is_test { errors.min(failed + 3.0) } else { errors };
                score -= (0.4 * before).min(4.0);
                errors += 1.0;
                failed += f64::from(u8::from(is_test));
                near = 5.0;
            }
            Class::Error => near = 2.0,
            Class::Passed | Class::Progress | Class::Noise => near *= 0.7,
            _ => {
                let most = match class {
                    Class::Totals | Class::Count => f64::INFINITY,
                    Class::Detail | Class::Place => DETAILS,
                    _ => EXPLAINS,
                };
                score = (score + near).min(score.max(most));
                near *= 0.8;
            }
        }
        if *class == Class::Plain && holds_names(line) {
            score += 0.8;
        }
        // The subject of a commit says more than its hash.
        if line.starts_with("commit ") {
            in_commit = true;
        } else if in_commit && line.starts_with("    ") {
            score = 7.0;
            in_commit = false;
        }
        if at > 0 && is_table_rule(line) && classes[at - 1] != Class::Noise {
            scores[at - 1] = 7.0_f64.max(scores[at - 1]);
        }
        scores.push(score);
    }
    // The second line of the same template says less than the first, the hundredth nearly nothing.
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let count = seen.entry(template(line)).or_default();
        scores[at] /= 1.0 + 0.25 * f64::from(*count).min(40.0);
        *count += 1;
    }
    spread(&mut scores);
    // The heading says nothing without what stands below it.
    for at in (0..lines.len()).filter(|at| heads_causes(lines[*at])) {
        let causes = &scores[at + 1..=at + causes_below(lines, at).len()];
        scores[at] = causes.iter().copied().fold(scores[at], f64::min);
    }
    (classes, scores)
}

/// Returns whether a line names code, paths or ids rather than only saying something.
fn holds_names(line: &str) -> bool {
    let head = super::clean::prefix(line, 300).as_bytes();
    memchr::memchr3(b'`', b'_', b'/', head).is_some()
        || head.windows(2).any(|two| two == b"::" || two == b": ")
}

/// Breaks ties by place: the head of an output, then its tail, before its middle.
pub(crate) fn spread(scores: &mut [f64]) {
    let n = scores.len() as f64;
    for (at, score) in scores.iter_mut().enumerate() {
        let place = at as f64 / n;
        *score += 0.5 * (1.0 - 4.0 * place).max(0.0) + 0.6 * (4.0 * place - 3.0).max(0.0);
    }
}

/// Returns a hash of the line in which all numbers and long hexadecimal words are alike.
pub(crate) fn template(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut in_number = false;
    for &byte in line.as_bytes().iter().take(300) {
        let digit = byte.is_ascii_digit();
        if !(digit && in_number) {
            (if digit { b'0' } else { byte }).hash(&mut hasher);
        }
        in_number = digit;
    }
    hasher.finish()
}

/// A place in code that the user did not write: a frame of a runtime or a library.
fn is_foreign(line: &str) -> bool {
    const SIGNS: [&str; 8] = [
        "/rustc/", "node_modules/", "site-packages/", "node:internal", "(internal/", "/usr/lib/",
        "/usr/local/go/", "/vendor/",
    ];
    SIGNS.iter().any(|sign| line.contains(sign))
}

/// A test that passed, that begins or that was left out, as runners tell of it: cargo and unittest, nextest, go, jest and its kin,
/// pytest, TAP, GoogleTest, Gradle, Bun, Deno.
fn is_passed(body: &str) -> bool {
    const HEADS: [&str; 14] = [
        "✓ ", "✔ ", "√ ", "--- PASS: ", "=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "PASS [",
        "SKIP [", "(pass) ", "(skip) ", "[ RUN ", "[       OK ]",
    ];
    if HEADS.iter().any(|head| body.starts_with(head)) {
        return true;
    }
    if let Some((named, verdict)) = body.rsplit_once(" ... ") {
        // `ok`, `ok <0.002s>`, `ok (3ms)`, and of cargo `ignored, needs a server`.
        let rest = ["ok", "ignored"].iter().find_map(|word| verdict.strip_prefix(word));
        let is_end = |rest: &str| {
            rest.is_empty() || rest.starts_with(' ') || rest.starts_with(',') && body.starts_with("test ")
        };
        return !named.is_empty() && rest.is_some_and(is_end);
    }
    if let Some(numbered) = body.strip_prefix("ok ") {
        let name = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
        return name.len() < numbered.len() && (name.is_empty() || name.starts_with(" - "));
    }
    let mut words = body.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.contains("::") && matches!(words.next(), Some("PASSED" | "SKIPPED"))
        || body.ends_with(" PASSED") && body.contains(" > ")
}

/// A line of source that a compiler or linter shows: `12 | let x = error();`.
fn is_excerpt(body: &str) -> bool {
    let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start();
    let digits = body.len() > rest.len() && body.starts_with(|c: char| c.is_ascii_digit());
    digits && rest.starts_with('|') && !rest.contains('^') && !rest[1..].contains('|')
}

/// The rule under the heads of a table's columns.
fn is_table_rule(line: &str) -> bool {
    let body = line.trim();
    body.contains("--") && body.bytes().all(|b| matches!(b, b'-' | b'+' | b'|' | b' ' | b':' | b'='))
}

fn is_rule(body: &str) -> bool {
    body.len() >= 3
        && body.chars().all(|c| matches!(c, '-' | '=' | '_' | '*' | '~' | '#' | '─' | '━' | '⎯' | '.' | ' '))
}

/// Whether anything in a line tells of an error, whatever it is first of all.
pub(crate) fn tells_trouble(line: &str) -> bool {
    patterns::classes(line).any(Class::is_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_below_their_heading_are_part_of_an_error() {
        let output = [
            "error: import of ledger failed",
            "",
            "Caused by:",
            "    0: importing rows",
            "    1: missing column audit_id",
            "",
            "Stack backtrace:",
            "   0: anyhow::error::new",
        ];
        let (classes, scores) = score(&output);
        let of = |at: usize| (classes[at], scores[at] > 9.0);
        assert_eq!([of(0), of(2)], [(Class::Decisive, true); 2], "{scores:?}");
        assert_eq!([of(3), of(4)], [(Class::Detail, true); 2], "{scores:?}");
        assert!(scores[2] <= scores[3].min(scores[4]), "the heading goes first: {scores:?}");
        assert!(!of(6).1 && !of(7).1, "{scores:?}");
        assert_eq!(classify("caused by: missing column audit_id"), Class::Decisive);
        let alone = ["Error: it failed", "Caused by:", "nothing is indented here"];
        assert!(causes_below(&alone, 1).is_empty());
        let long: Vec<String> = (0..40).map(|nth| format!("    {nth}: one of many")).collect();
        let long: Vec<&str> = ["Caused by:"].into_iter().chain(long.iter().map(String::as_str)).collect();
        assert_eq!(causes_below(&long, 0).len(), 8);
    }

    #[test]
    fn lines_are_what_they_look_like() {
        for (line, expected) in [
            ("error[E0308]: mismatched types", Class::Decisive),
            ("src/a.c:3:5: error: expected ';'", Class::Decisive),
            ("thread 'main' panicked at src/main.rs:2:5:", Class::Decisive),
            ("java.lang.IllegalStateException: no", Class::Decisive),
            ("KeyError: 'x'", Class::Decisive),
            ("E       assert 1 == 2", Class::Decisive),
            ("fatal: not a git repository", Class::Decisive),
            ("--- FAIL: TestX (0.00s)", Class::FailedTest),
            ("test tests::a ... FAILED", Class::FailedTest),
            ("test result: FAILED. 1 passed; 1 failed", Class::Totals),
            ("Process exited with code 124", Class::Count),
            ("Seeding the ledger ... ok, 3 rows were left out", Class::Plain),
            ("  left: 1", Class::Detail),
            ("   --> src/lib.rs:4:9", Class::Place),
            ("warning: unused variable: `x`", Class::Warning),
            ("test tests::b ... ok", Class::Passed),
            ("test tests::an_error_is_told ... ok", Class::Passed),
            ("test src/lib.rs - retry (line 12) ... ok", Class::Passed),
            ("test tests::slow ... ignored, needs a server", Class::Passed),
            ("        PASS [   0.012s] longhaul-cli::it files::devices", Class::Passed),
            ("tests/test_a.py::test_invalid PASSED      [ 12%]", Class::Passed),
            ("    ✓ rejects an invalid token (3 ms)", Class::Passed),
            ("ok 3 - a -> b", Class::Passed),
            ("test tests::c ... FAILED", Class::FailedTest),
            ("        FAIL [   0.012s] longhaul-cli::it files::devices", Class::FailedTest),
            ("not ok 4 - a", Class::FailedTest),
            ("(fail) prompts > show the file [0.29ms]", Class::FailedTest),
            ("(pass) prompts > show no error [0.29ms]", Class::Passed),
            ("tests/test_a.py::test_b FAILED", Class::Error),
            ("   Compiling serde v1.0.0", Class::Progress),
            ("diff --git a/x b/x", Class::Head),
            ("pub fn main() {", Class::Definition),
            ("plain words", Class::Plain),
            ("---------", Class::Noise),
        ] {
            assert_eq!(classify(line), expected, "{line}");
        }
    }
}
