//! The patterns that tell what a line is, and the words.
//!
//! Two lists, for speed: patterns that all start at the head of the line, so that their common automaton gives up on an
//! ordinary line after a few bytes, and plain words found anywhere in it by a literal search. One set of unanchored
//! patterns was measured at 0.5 MB/s.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet, RegexSetBuilder};

/// What a line looks like, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Names what failed and why: a compiler's error, an assertion, a panic, an exception.
    Decisive,
    /// Names a test that failed.
    FailedTest,
    /// What was expected and what came: `left:`, `Expected`, pytest's `E` lines.
    Detail,
    /// How many tests passed and failed: what each that passed would say.
    Totals,
    /// Counts of errors, problems, rows; an exit code.
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
    /// A test that passed, or that begins, or that was left out: the totals tell of it.
    Passed,
    /// What a tool is about to do or has fetched: nothing beside what came of it.
    Progress,
    /// Separators, blank lines, frames of libraries, what a tool says of itself.
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
            Class::Totals | Class::Count => 8.5,
            Class::Detail => 8.0,
            Class::Error => 7.5,
            Class::Place => 6.0,
            Class::Head => 5.5,
            Class::Warning => 5.0,
            Class::Change => 4.5,
            Class::Definition => 4.5,
            Class::Plain => 2.0,
            Class::Passed | Class::Progress | Class::Noise => 0.2,
        }
    }

    /// Returns whether the line is part of telling an error, and so is kept whole.
    pub(crate) fn is_error(self) -> bool {
        matches!(self, Class::Decisive | Class::FailedTest | Class::Detail | Class::Error)
    }
}

/// Returns all that the patterns and words say a line is.
pub(crate) fn classes(line: &str) -> impl Iterator<Item = Class> {
    let heads = HEADS.matches(line.as_bytes()).into_iter().map(|at| HEAD_TABLE[at].0);
    heads.chain(words(line))
}

fn words(line: &str) -> impl Iterator<Item = Class> {
    let bytes = line.as_bytes();
    WORDS.find_iter(bytes).take(8).filter_map(move |hit| {
        let text = hit.as_bytes();
        let (class, _) = *WORD_TABLE.iter().find(|(_, word)| word.as_bytes().eq_ignore_ascii_case(text))?;
        let joined = |byte: Option<&u8>| {
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
        };
        let before = hit.start().checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(hit.end()).filter(|byte| **byte != b'.' && **byte != b's');
        // `error` counts as a word of its own, not as a part of `error_handler.rs`.
        let whole = class != Class::Error || !joined(before) && !joined(after);
        whole.then_some(class)
    })
}

static HEADS: LazyLock<RegexSet> = LazyLock::new(|| {
    // ASCII classes and a roomy cache: with Unicode classes the automaton is twenty times larger.
    RegexSetBuilder::new(HEAD_TABLE.iter().map(|&(_, pattern)| pattern))
        .unicode(false)
        .dfa_size_limit(32 << 20)
        .build()
        .expect("the patterns below are tested")
});

static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words: Vec<String> = WORD_TABLE.iter().map(|(_, word)| regex::escape(word)).collect();
    Regex::new(&format!("(?i-u){}", words.join("|"))).expect("escaped words")
});

/// Words that tell something wherever they stand, in any case.
const WORD_TABLE: &[(Class, &str)] = &[
    (Class::Decisive, "panicked at"),
    (Class::Decisive, "undefined reference to"),
    (Class::Decisive, "cannot find -l"),
    (Class::Decisive, "multiple definition of"),
    (Class::Decisive, "segmentation fault"),
    (Class::Decisive, "core dumped"),
    (Class::Decisive, "out of memory: kill"),
    (Class::Decisive, "invoked oom-killer"),
    (Class::Decisive, "no space left on device"),
    (Class::Decisive, "address already in use"),
    (Class::Decisive, "stack overflow"),
    (Class::Decisive, "error ts"),
    (Class::Decisive, ": *** "),
    (Class::Decisive, "automatic merge failed"),
    (Class::Decisive, "! [rejected]"),
    (Class::Decisive, "assertion failed"),
    (Class::Decisive, "assertion `"),
    (Class::FailedTest, "<<< failure!"),
    (Class::FailedTest, "<<< error!"),
    (Class::Count, "file changed, "),
    (Class::Count, "files changed, "),
    (Class::Count, " problems ("),
    (Class::Count, " problem ("),
    (Class::Warning, "npm warn"),
    (Class::Warning, "deprecat"),
    (Class::Change, " -> "),
    (Class::Noise, "looking for funding"),
    (Class::Noise, "npm fund"),
    (Class::Noise, "[no test files]"),
    (Class::Error, "error"),
    (Class::Error, "failed"),
    (Class::Error, "failure"),
    (Class::Error, "exception"),
    (Class::Error, "denied"),
    (Class::Error, "refused"),
    (Class::Error, "oom-kill"),
    (Class::Error, "crashloopbackoff"),
    (Class::Error, "imagepullbackoff"),
    (Class::Error, "timed out"),
    (Class::Error, "timeout"),
    (Class::Error, "unable to"),
    (Class::Error, "cannot"),
    (Class::Error, "not found"),
    (Class::Error, "invalid"),
    (Class::Error, "conflict"),
    (Class::Error, "rejected"),
    (Class::Error, "unauthorized"),
    (Class::Error, "forbidden"),
    (Class::Error, "oomkilled"),
    (Class::Error, "crashloopbackoff"),
    (Class::Error, "imagepullbackoff"),
    (Class::Error, "backoff"),
    (Class::Error, "unhealthy"),
    (Class::Error, "evicted"),
];

/// Patterns at the head of a line. Sources: the programs' own outputs (see `tests/data/digests`).
const HEAD_TABLE: &[(Class, &str)] = &[
    // Compilers and linters.
    (Class::Decisive, r"^\s*error(\[\w+\])?: "),
    (Class::Decisive, r"^[^\s:][^:]{0,120}:\d+(:\d+)?:? (fatal )?error\b"),
    (Class::Decisive, r"^\S+\.(go|swift|kt|java|cs):\d+(:\d+)?: "),
    (Class::Decisive, r"^\s+\d+:\d+\s+error\s"),
    (Class::Decisive, r"^\s+\S+_test\.go:\d+: "),
    (Class::Decisive, r"^\S+\.(py|rb|php|sh):\d+:(\d+:)? ([A-Z]\d{2,4}|error|syntax error)\b"),
    // Panics, exceptions, crashes.
    (
        Class::Decisive,
        r"^(panic: |fatal error: |Exception in thread |Fatal error:|Traceback |PHP (Fatal|Parse) error)",
    ),
    (
        Class::Decisive,
        r"^\s*(Uncaught |Unhandled |[Cc]aused by: )?([A-Za-z_][\w$]*[.:])*[A-Z]\w*(Error|Exception|Interrupt|Warning)\b(:| \[|$)",
    ),
    (Class::Decisive, r"^\s*[Cc]aused by:( |$)"),
    (Class::Decisive, r"^(assertion|Assertion|AssertionError|ASSERT)\b"),
    (Class::Decisive, r"^\s*#?\s*(Failure|Error)/?(Error)?: "),
    (Class::Detail, r"^E\s{2,}\S"),
    (Class::Decisive, r"^E\s+(assert|[A-Z]\w*(Error|Exception)\b|Failed:)"),
    (Class::Decisive, r#"^  File ".*", line \d+, in .*$"#),
    // Tools that stop.
    (
        Class::Decisive,
        r"^(fatal|npm error|npm ERR!|ERROR|Error|error|FATAL|CRITICAL|FAILURE|BUILD FAILURE|BUILD FAILED)\b[:! ]?",
    ),
    (Class::Decisive, r"^(make|ninja)(\[\d+\])?: \*\*\* "),
    (Class::Decisive, r"^CONFLICT |^\[ERROR\] |^<tool_use_error>"),
    (Class::Decisive, r"^(psql|curl|ssh|kubectl|docker)(:.{0,80})?: +(error|ERROR|FATAL|Error|\(\d+\))"),
    (
        Class::Decisive,
        r"^(\S+: )?(line \d+: )?\S+: (command not found|No such file or directory|Permission denied|cannot .*)$",
    ),
    (
        Class::Decisive,
        r"(?i)^\s*(permission denied|access denied|connection refused|no space left|out of memory|killed)\b",
    ),
    // Tests that fail.
    (Class::FailedTest, r"^test .* \.\.\. FAILED|^---- .* stdout ----|^(FAILED|ERROR) \S+(::|\.py)"),
    (Class::FailedTest, r"^\s*--- FAIL: |^FAIL\b|^\s*(✕|✗|×|❌|✖)\s|^not ok \d|^\s*FAIL\s"),
    (Class::FailedTest, r"^\s*● \S|^(FAIL|ERROR): test\w*|^_{3,} \S+ _{3,}$|^\s+\d+\) "),
    (Class::FailedTest, r"^rspec \./|^\(fail\) \S|^\d+\) \S+::test|^\S+ > .* FAILED$|^\s*\[\s*FAILED\s*\]"),
    // What was expected.
    (
        Class::Detail,
        r"^\s*(left|right|expected|Expected|received|Received|actual|Actual|got|want|Diff|found)\b.{0,20}[:=]",
    ),
    (Class::Detail, r"^\s*\d*\s*\|.{0,80}[\^-]+ [a-z`]|^\s*>\s*\d+ \|"),
    // Counts.
    (Class::Totals, r"^test result: |^=+ .*(passed|failed|error|no tests ran).* =+$|^\d+ (passed|failed)"),
    (Class::Totals, r"^\s*Tests?\s*:?\s+\d+ (passed|failed|skipped|total|todo)"),
    (
        Class::Totals,
        r"^Ran \d+ tests? in|^FAILED \((failures|errors)=|^OK( \(.*\))?$|^Tests run: |^Tests: \d+|^\d+ examples?, ",
    ),
    (
        Class::Totals,
        r"^\s*\d+ (passing|failing|pending|pass|fail|skip)\b|^(#|ℹ) (tests|pass|fail|skipped) \d+",
    ),
    (Class::Totals, r"^FAIL\s+\S+\s+(\d|\(cached\))|^\d+ tests? completed|^\d+% tests passed"),
    (Class::Count, r"^✖ \d+ problem"),
    (
        Class::Count,
        r"^(Found|found) \d+ |^\d+ (errors?|warnings?|problems?|issues?|vulnerabilities)\b|^All checks passed",
    ),
    (
        Class::Count,
        r"(?i)^\W{0,3}(process |command )?(exited |finished )?(with )?exit(ed)?( code| status)?[:= ]+-?\d+",
    ),
    (Class::Count, r"^Process exited with|^\[The command completed|^Success: no issues"),
    (
        Class::Count,
        r"^error: could not compile|^error: aborting|^error: \d+ targets? failed|^error: test failed",
    ),
    (Class::Count, r"^Your branch is|^\(\d+ rows?\)$|^total \d+|^\d+ rows? "),
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
    (Class::Place, r"^(/|[A-Z]:\\)\S+\.\w{1,6}:?$"),
    (Class::Decisive, r"^[A-Z]{1,4}\d{2,4} \S"),
    (Class::Count, r"^(Plan: |Apply complete|Destroy complete|TOTAL\s)"),
    (Class::Totals, r"^(Failed! +- |Passed! +- )"),
    // Warnings.
    (
        Class::Warning,
        r"(?i)^\s*(\S+:\d+(:\d+)?:? )?warn(ing)?(\[\S+\])?\b[:! ]|^\s+\d+:\d+\s+warning\s|^\[WARN",
    ),
    // Heads.
    (
        Class::Head,
        r"^commit [0-9a-f]{7,40}|^diff --git |^\+\+\+ |^Index: |^@@ |^rename (from|to) |^(new|deleted) file mode",
    ),
    (
        Class::Head,
        r"^#{1,6} \S|^On branch |^HEAD detached|^(Changes|Untracked|Unmerged) |^[0-9a-f]{7,40} \S|^\* +[0-9a-f]{7}",
    ),
    (Class::Head, r"^[A-Z][A-Z0-9_() /%-]{2,}(\s{2,}[A-Z][A-Z0-9_()/ %-]*)+$|^\s*[\w ]+\|[\w |]+$"),
    // Changes.
    (
        Class::Change,
        r"^\s*(modified|new file|deleted|renamed|both modified|added|created|updated|removed|typechange):\s",
    ),
    (
        Class::Change,
        r"^(\?\?|[MADRCU][ MADRCU]| [MADRCU]) \S|^[MADRC]\t\S|^(create|delete) mode \d|^ \S+ +\| +\d+",
    ),
    (
        Class::Change,
        r"^(Created|Deleted|Updated|Renamed|Switched|Merge|Fast-forward|To|From|Cloning|remote:|Successfully|Installed)\b",
    ),
    (Class::Change, r"^\s*(Test Suites|Test Files|Snapshots|Suites)\s*:?\s+\d+ "),
    (Class::Head, r"^\s+# \S+ (must|will) be "),
    (Class::Change, r"^(created|deployed|deleted|configured|applied|Removing|Step \d|Writing|Wrote|Done)\b"),
    // Code.
    (
        Class::Definition,
        r"^\s*(\d+(→|:|\||\t)\s*)?(pub(\([a-z]+\))? |export |default |async |static |abstract |public |private |protected |final |unsafe |extern )*(fn|def|class|func|function|interface|struct|impl|type|enum|trait|module|mod|package|namespace|record|object) +[\w(<*&]",
    ),
    (Class::Definition, r"^\s*(pub(\([a-z]+\))? |export )(const|static|let|var) \w"),
    // Noise.
    (
        Class::Noise,
        r"^\s*(━|─|█|▏|╸|=|#|\.){3,}|^\s*[|\d ]*\s*\|?\s*[\^~]+\s*$|^(Author|AuthorDate|Date|Merge): ",
    ),
    (
        Class::Progress,
        r"^\s*(Compiling|Checking|Downloading|Downloaded|Updating crates|Locking|Adding|Fresh|Blocking|Fetching|Collecting|Using cached|Requirement already|Preparing|Unpacking|Selecting|Resolving|Receiving objects|Counting objects|Compressing objects|Enumerating|Delta compression|Get:\d|Hit:\d|Reading|Building dependency) ",
    ),
    (Class::Progress, r"^\s*(━|█|▏|╸)+.*([kMG]B/s|\beta\b)"),
    (
        Class::Noise,
        r"^(Some errors have detailed explanations: |For more information about (an|this) error, )",
    ),
    (Class::Noise, r"^npm (notice|http)|^PASS$|^\s+(\||│)\s*$|^\s*\d+%"),
    (
        Class::Noise,
        r"^ok\s+\S+\s+(\d|\(cached\))|^(Wall time|Chunk ID|Original token count|Output|Total output lines): ?|^Output:$",
    ),
];
