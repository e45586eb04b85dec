//! How much each line of a tool's output matters, by what it looks like.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use regex::RegexSet;

/// What a line looks like, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Names what failed and why: a compiler's error, an assertion, a panic, an exception.
    Decisive,
    /// Names a test that failed.
    FailedTest,
    /// What was expected and what came: `left:`, `Expected`, pytest's `E` lines.
    Detail,
    /// Counts of tests, errors, problems; an exit code.
    Count,
    /// A place in a file.
    Place,
    /// A warning.
    Warning,
    /// The head of a section: a commit, a file of a diff, a Markdown heading.
    Head,
    /// A definition or signature in code.
    Definition,
    /// Says what changed: a created file, a deleted branch, an added package.
    Change,
    /// Progress, separators, blank lines, tests that passed.
    Noise,
    /// An error only by its words. Stands after what a line is by its form: a passing test or a commit may be named
    /// after an error.
    Error,
    /// Anything else.
    Plain,
}

impl Class {
    /// The rules' score of such a line, from 0 to 10.
    pub(crate) fn score(self) -> f64 {
        match self {
            Class::Decisive => 10.0,
            Class::FailedTest => 9.0,
            Class::Count => 8.5,
            Class::Detail => 8.0,
            Class::Error => 7.5,
            Class::Place => 6.0,
            Class::Head => 5.5,
            Class::Warning => 5.0,
            Class::Change => 4.5,
            Class::Definition => 4.5,
            Class::Plain => 2.0,
            Class::Noise => 0.2,
        }
    }

    /// Returns whether the line is part of telling an error, and so is kept whole.
    pub(crate) fn is_error(self) -> bool {
        matches!(self, Class::Decisive | Class::FailedTest | Class::Detail | Class::Error)
    }
}

/// Returns what `line` looks like.
pub(crate) fn classify(line: &str) -> Class {
    let line = line.trim_end();
    let body = line.trim_start();
    if body.is_empty() || is_rule(body) {
        return Class::Noise;
    }
    // Patterns are anchored or led by rare words; the head of a line decides.
    let head = super::clean::prefix(line, 400);
    PATTERNS.set.matches(head).iter().map(|at| PATTERNS.classes[at]).min().unwrap_or(Class::Plain)
}

/// Scores lines: by class, raised where they follow an error, lowered where they repeat one another.
pub(crate) fn score(lines: &[&str]) -> (Vec<Class>, Vec<f64>) {
    let classes: Vec<Class> = lines.iter().map(|line| classify(line)).collect();
    let mut scores: Vec<f64> = classes.iter().map(|class| class.score()).collect();
    let mut near = 0.0;
    for (at, class) in classes.iter().enumerate() {
        match class {
            Class::Decisive | Class::FailedTest | Class::Error => near = 3.0,
            Class::Noise => near *= 0.6,
            _ => {
                scores[at] += near;
                near *= 0.75;
            }
        }
    }
    // The second line of the same template says less than the first, the hundredth nearly nothing.
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let count = seen.entry(template(line)).or_default();
        scores[at] /= 1.0 + 0.25 * f64::from(*count).min(40.0);
        *count += 1;
    }
    spread(&mut scores);
    (classes, scores)
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

fn is_rule(body: &str) -> bool {
    body.len() >= 3
        && body.chars().all(|c| matches!(c, '-' | '=' | '_' | '*' | '~' | '#' | '─' | '━' | '⎯' | '.' | ' '))
}

struct Patterns {
    set: RegexSet,
    classes: Vec<Class>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let set =
        RegexSet::new(TABLE.iter().map(|&(_, pattern)| pattern)).expect("the patterns below are tested");
    Patterns { set, classes: TABLE.iter().map(|&(class, _)| class).collect() }
});

/// The patterns, each with what it tells. Sources: the programs' own outputs (see `tests/data/digests`).
const TABLE: &[(Class, &str)] = &[
    // Compilers and linters.
    (Class::Decisive, r"^\s*error(\[\w+\])?: "),
    (Class::Decisive, r"^[^\s:][^:]*:\d+(:\d+)?:? (fatal )?error\b"),
    (Class::Decisive, r"\berror TS\d+:"),
    (Class::Decisive, r"undefined reference to|cannot find -l|multiple definition of|ld returned \d"),
    (Class::Decisive, r"^\S+\.(go|swift|kt|java|cs):\d+(:\d+)?: "),
    (Class::Decisive, r"^\s+\d+:\d+\s+error\s"),
    // Panics, exceptions, crashes.
    (Class::Decisive, r"panicked at|^panic: |^fatal error: |Segmentation fault|core dumped|stack overflow"),
    (
        Class::Decisive,
        r"^\s*(Uncaught |Unhandled |Caused by: )?([A-Za-z_][\w$]*[.:])*[A-Z]\w*(Error|Exception|Interrupt|Warning)\b(:| \[|$)",
    ),
    (
        Class::Decisive,
        r"^Exception in thread |^\s*Caused by: |^PHP (Fatal|Parse) error|^Fatal error:|^Traceback ",
    ),
    (
        Class::Decisive,
        r"^(assertion|Assertion|AssertionError|ASSERT)\b|assertion .*failed|Assertion .*failed",
    ),
    (Class::Decisive, r"^\s*#?\s*(Failure|Error)/?(Error)?: "),
    (Class::Detail, r"^E\s{2,}\S"),
    (Class::Decisive, r"^E\s+(assert|[A-Z]\w*(Error|Exception)\b|Failed:)"),
    // Tools that stop.
    (Class::Decisive, r"^(fatal|npm error|npm ERR!|ERROR|Error|error|FATAL|CRITICAL)\b[:! ]"),
    (Class::Decisive, r"^(make|ninja)(\[\d+\])?: \*\*\* |: \*\*\* .*Error \d"),
    (
        Class::Decisive,
        r"^CONFLICT |Automatic merge failed|^error: (failed to push|could not|pathspec|Your local)|! \[rejected\]",
    ),
    (
        Class::Decisive,
        r"^(psql|ERROR|FATAL|PANIC|curl: \(\d+\)|ssh|kubectl|docker)(:.*)?: +(error|ERROR|FATAL|Error|\(\d+\))",
    ),
    (
        Class::Decisive,
        r"^(\S+: )?(line \d+: )?\S+: (command not found|No such file or directory|Permission denied|cannot .*)$",
    ),
    (
        Class::Decisive,
        r"(?i)^\s*(permission denied|access denied|connection refused|no space left|out of memory|killed)\b",
    ),
    (Class::Decisive, r"^<tool_use_error>|^Error (from server|response from daemon)"),
    (Class::Decisive, r"^BUILD FAILURE|^FAILURE: |^BUILD FAILED|^\[ERROR\] "),
    (Class::Decisive, r"^curl: \(\d+\)"),
    (Class::Decisive, r#"^  File ".*", line \d+, in .*$"#),
    // Tests that fail.
    (Class::FailedTest, r"^test .* \.\.\. FAILED|^---- .* stdout ----|^(FAILED|ERROR) \S+(::|\.py)"),
    (Class::FailedTest, r"^\s*--- FAIL: |^FAIL\b|^\s*(✕|✗|×|❌|✖)\s|^not ok \d|^\s*FAIL\s"),
    (Class::FailedTest, r"^\s*● .* › |^\s*● \S|^(FAIL|ERROR): test\w*|^_{3,} \S+ _{3,}$|^\s+\d+\) "),
    (Class::FailedTest, r"<<< (FAILURE|ERROR)!|^rspec \./|^\d+\) \S+::test"),
    (Class::FailedTest, r"^\S+ > .* FAILED$|^\s*\[\s*FAILED\s*\]"),
    // What was expected.
    (
        Class::Detail,
        r"^\s*(left|right|expected|Expected|received|Received|actual|Actual|got|want|Diff|found)\b.{0,20}[:=]",
    ),
    (Class::Detail, r"^\s*(= note|= help|help|note): |^\s*\|?\s*\d*\s*\|.*\^|^\s*[~^]{2,}|^\s*>\s*\d+ \|"),
    // Counts.
    (
        Class::Count,
        r"^test result: |^running \d+ tests?|^=+ .*(passed|failed|error|no tests ran).* =+$|^\d+ (passed|failed)",
    ),
    (
        Class::Count,
        r"^\s*(Tests?|Test Suites|Test Files|Snapshots|Suites)\s*:?\s+\d+ (passed|failed|skipped|total|todo)",
    ),
    (
        Class::Count,
        r"^Ran \d+ tests? in|^FAILED \((failures|errors)=|^OK( \(.*\))?$|^Tests run: |^Tests: \d+|^\d+ examples?, ",
    ),
    (Class::Count, r"^\s*\d+ (passing|failing|pending|pass|fail|skip)\b|^[#ℹ] (tests|pass|fail|skipped) \d+"),
    (Class::Count, r"^(ok|FAIL)\s+\S+\s+(\d|\(cached\))|^\d+ tests? completed|^\d+% tests passed"),
    (
        Class::Count,
        r"^(Found|found) \d+ |✖ \d+ problems?|^\d+ (errors?|warnings?|problems?|issues?|vulnerabilities)\b|^All checks passed",
    ),
    (
        Class::Count,
        r"(?i)^\W*(process |command )?(exited |finished )?(with )?exit(ed)?( code| status)?[:= ]+-?\d+|^Process exited with|^\[The command completed",
    ),
    (
        Class::Count,
        r"^error: could not compile|generated \d+ warnings?|^error: aborting|^error: \d+ targets? failed|^error: test failed",
    ),
    (
        Class::Count,
        r"files? changed, |insertions?\(\+\)|deletions?\(-\)|^Your branch is|^\(\d+ rows?\)$|^total \d+|^\d+ rows? ",
    ),
    (
        Class::Count,
        r"^(added|removed|changed|audited|up to date)\b.* packages?|^Successfully (installed|built|tagged|uninstalled)",
    ),
    // Places.
    (
        Class::Place,
        r"^\s*--> \S+:\d+|^\s*at .*:\d+(:\d+)?\)?$|^\S+\.\w{1,5}:\d+(:\d+)?:?(\s|$)|^\s+from \S+:\d+",
    ),
    (
        Class::Place,
        r"^\s+❯ \S+:\d+|^\t\S+\.go:\d+|^\s*(in|In file included from) \S+:\d+|^\s+File .*line \d+",
    ),
    // Warnings.
    (
        Class::Warning,
        r"(?i)^\s*(\S+:\d+(:\d+)?:? )?warn(ing)?(\[\S+\])?\b[:! ]|npm warn|^\s+\d+:\d+\s+warning\s|deprecat|^\[WARN",
    ),
    (
        Class::Error,
        r"(?i)\b(error|failed|failure|exception|denied|refused|timed out|timeout|unable to|cannot|not found|invalid|conflict|rejected|unauthorized|forbidden)\b",
    ),
    // Heads.
    (
        Class::Head,
        r"^commit [0-9a-f]{7,40}|^diff --git |^\+\+\+ |^Index: |^@@ |^rename (from|to) |^(new|deleted) file mode|^\* .*[0-9a-f]{7}",
    ),
    (Class::Head, r"^#{1,6} \S|^On branch |^HEAD detached|^(Changes|Untracked|Unmerged) |^[0-9a-f]{7,40} \S"),
    (Class::Head, r"^[A-Z][A-Z0-9_() /%-]{2,}(\s{2,}[A-Z][A-Z0-9_()/ %-]*)+$|^\s*[\w ]+\|[\w |]+$"),
    // Changes.
    (
        Class::Change,
        r"^\s*(modified|new file|deleted|renamed|both modified|added|created|updated|removed|typechange):\s",
    ),
    (
        Class::Change,
        r"^(\?\?|[MADRCU][ MADRCU]| [MADRCU]) \S|^[MADRC]\t\S|^(create|delete) mode \d|^ \S+ +\| +\d+|^(Created|Deleted|Updated|Renamed|Switched|Merge|Fast-forward|To|From|Cloning|remote:)\b",
    ),
    (
        Class::Change,
        r"^(created|deployed|deleted|configured|applied|Removing|Step \d|Writing|Wrote|Done)\b| -> \S",
    ),
    // Code.
    (
        Class::Definition,
        r"^\s*(\d+[→:|\t]\s*)?(pub(\([a-z]+\))? |export |default |async |static |abstract |public |private |protected |final |unsafe |extern )*(fn|def|class|func|function|interface|struct|impl|type|enum|trait|module|mod|package|namespace|record|object) +[\w(<*&]",
    ),
    // Noise.
    (
        Class::Noise,
        r"^\s*(Compiling|Checking|Downloading|Downloaded|Updating crates|Locking|Adding|Fresh|Blocking|Fetching|Collecting|Using cached|Requirement already|Preparing|Unpacking|Selecting|Resolving|Receiving objects|Counting objects|Compressing objects|Enumerating|Delta compression|Get:\d|Hit:\d|Reading|Building dependency) ",
    ),
    (
        Class::Noise,
        r"^npm (notice|http)|^\s*$|^test .* \.\.\. ok|^\s*(✓|✔|√) |^--- PASS|^=== (RUN|PAUSE|CONT)|^PASS$|looking for funding|npm fund|^\s+[|│]\s*$|^\s*\d+%",
    ),
    (
        Class::Noise,
        r"^(Wall time|Chunk ID|Original token count|Output|Total output lines): ?|^Output:$|\?\s+\S+\s+\[no test files\]",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

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
            ("test result: FAILED. 1 passed; 1 failed", Class::Count),
            ("  left: 1", Class::Detail),
            ("   --> src/lib.rs:4:9", Class::Place),
            ("warning: unused variable: `x`", Class::Warning),
            ("test tests::b ... ok", Class::Noise),
            ("   Compiling serde v1.0.0", Class::Noise),
            ("diff --git a/x b/x", Class::Head),
            ("pub fn main() {", Class::Definition),
            ("plain words", Class::Plain),
            ("---------", Class::Noise),
        ] {
            assert_eq!(classify(line), expected, "{line}");
        }
    }
}
