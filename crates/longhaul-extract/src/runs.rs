//! How commands went: passed, failed, or unknown where the source does not settle it.
//!
//! Three sources count, mostly in this order. What the harness states (an exit code, an error flag), as far as the command line
//! lets it speak for the check: through a pipe, before a `;` or after `||` it does not. What the runner says in its last
//! words. The verdict that a command without a known runner states (`RESULT: FAIL`), also where it ends well. Nothing else: an
//! output that tells of errors may be that of a test which passes.

use std::borrow::Cow;

use hashbrown::HashMap;
use longhaul_transcript::{CallId, Entry, Outcome, ToolCall, ToolResult, one_line};
use serde::{Deserialize, Serialize};

use crate::{
    Act, CallView, ToolFamily,
    digest::{self, TestCounts},
    each_act,
    refusal::was_refused,
    script::{Link, Simple, simples},
};

mod branch;
mod checks;
mod kind;
mod landings;
mod objects;
mod runner;
mod verdict_line;

pub use branch::Branch;
pub use checks::{Check, Cure, checks};
pub use kind::Purpose;
pub use landings::{Landing, Landings, may_rework};
pub(crate) use runner::told;
use verdict_line::verdict_line;

/// How something went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The source says that it went well.
    Passed,
    /// The source says that it did not.
    Failed,
    /// The source does not settle it.
    #[default]
    Unknown,
}

/// A command that was run, and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Ordinal of the message with the call.
    pub message: u64,
    /// Ordinal of the message that says how it went, where one does.
    pub answered: Option<u64>,
    /// The call.
    pub call: CallId,
    /// The whole command line.
    pub command: String,
    /// The command line without what only goes somewhere first or shortens the output.
    pub heart: String,
    /// What it is for: that of the last check in it, else the most that any part of it does.
    pub purpose: Purpose,
    /// All kinds of checks in it, each once, in order.
    pub checks: Vec<Purpose>,
    /// How it went.
    pub verdict: Verdict,
    /// The exit code that the harness states for the whole line.
    pub exit_code: Option<i64>,
    /// The tests that were counted.
    pub tests: TestCounts,
    /// The tests that failed, by name.
    pub failed_tests: Vec<String>,
    /// The line that says best what went wrong, for one that failed.
    pub error: Option<String>,
    /// The line that says which script of a package failed in it, as one that the hook of a commit ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_error: Option<String>,
}

impl Run {
    /// Returns whether all that it does is to check, to commit, to push and the like: how that went says it all.
    pub fn only_reports(&self) -> bool {
        self.is_all(|simple| kind::purpose(simple).is_check() || landings::lands(simple))
    }

    /// Returns whether all that it does is to ask git how things stand.
    pub fn asks_git(&self) -> bool {
        self.is_all(landings::asks)
    }

    /// Returns the commands that its exit code speaks for, on one line and without what they are handed on: the last one, and those
    /// before it that it ran only after.
    pub fn spoken_for(&self) -> String {
        let script = simples(&self.command);
        let words =
            |simple: &Simple<'_>| simple.words.iter().map(|word| word.text.to_string()).collect::<Vec<_>>();
        let lines: Vec<String> =
            spoken(&script).iter().map(|simple| one_line(&words(simple).join(" ")).into_owned()).collect();
        lines.join(" && ")
    }

    /// Whether each simple command `does` so, but for those that prepare it or shorten what it prints.
    fn is_all(&self, does: impl Fn(&Simple<'_>) -> bool) -> bool {
        const SHORTENS: [&str; 6] = ["tail", "head", "tee", "cat", "grep", "sort"];
        let script = simples(&self.command);
        let is_piped = |at: usize| at > 0 && script[at - 1].link == Link::Pipe;
        let is_aside = |at: usize, simple: &Simple<'_>| match kind::purpose(simple) {
            Purpose::Nothing => true,
            Purpose::Look => is_piped(at) && SHORTENS.contains(&kind::program_name(simple)),
            _ => false,
        };
        script.iter().any(&does)
            && script.iter().enumerate().all(|(at, simple)| does(simple) || is_aside(at, simple))
    }
}

/// Returns the commands that `entries` run and how they went, oldest first. What runs in the background is followed to
/// its end where a later call asks for it.
pub fn runs(entries: &[Entry]) -> Vec<Run> {
    let mut runs = Runs::default();
    each_act(entries, |act| runs.take(act));
    runs.done()
}

/// Takes in the commands that calls run, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    found: Vec<Run>,
    /// What goes on in the background, by the name that the harness gave it.
    sessions: HashMap<String, usize>,
}

impl Runs {
    /// Takes in what one call runs, or what it tells of a command that goes on in the background.
    pub fn take(&mut self, act: &Act<'_>) {
        let at = match self.polled(&act.call) {
            Some(at) => at,
            None => match begun(&act.call, act.message) {
                Some(run) => {
                    self.found.push(run);
                    self.found.len() - 1
                }
                None => return,
            },
        };
        let Some((message, result)) = act.result else { return };
        let text = result.joined_text();
        let run = &mut self.found[at];
        // Whoever asks for what goes on has another tool than the one that began it.
        let flags = run.message == act.message && flags_failures(act.call.name());
        run.answered = Some(message);
        match background(&text) {
            Some(session) => drop(self.sessions.insert(session.to_owned(), at)),
            None => judge(run, &text, result.outcome, flags),
        }
    }

    /// Returns the commands, as [`runs`] does.
    pub fn done(self) -> Vec<Run> {
        self.found
    }

    /// Returns the command in the background that a call asks for.
    fn polled(&self, call: &CallView<'_>) -> Option<usize> {
        const KEYS: [&str; 5] = ["session_id", "bash_id", "task_id", "shell_id", "sessionId"];
        let session = KEYS.iter().find_map(|key| call.key_text(key))?;
        self.sessions.get(session).copied()
    }
}

/// Returns the simple commands that the exit code of a script speaks for.
fn spoken<'a, 's>(script: &'a [Simple<'s>]) -> &'a [Simple<'s>] {
    let before = script.iter().rev().skip(1).take_while(|simple| simple.link == Link::And).count();
    &script[script.len().saturating_sub(before + 1)..]
}

/// Returns how `call` went by its result, for a call that runs a command.
pub fn run_of(call: &ToolCall, result: &ToolResult) -> Option<Run> {
    run_of_view(&CallView::new(call), &result.joined_text(), result.outcome)
}

/// Returns the same for a call that was read, by its text without terminal escapes and harness envelopes.
pub(crate) fn run_of_view(view: &CallView<'_>, text: &str, outcome: Outcome) -> Option<Run> {
    let mut run = begun(view, 0)?;
    if background(text).is_none() {
        judge(&mut run, text, outcome, flags_failures(view.name()));
    }
    Some(run)
}

/// Returns a run whose result is not known yet, where the call runs a command.
fn begun(view: &CallView<'_>, message: u64) -> Option<Run> {
    if view.patch().is_some() {
        return None;
    }
    let command = match view.family() {
        ToolFamily::Shell => view.command(),
        ToolFamily::Test => Some(Cow::Borrowed(view.name())),
        _ => None,
    };
    let command = command.filter(|command| !command.trim().is_empty())?;
    let script = simples(&command);
    let (purpose, checks) = match view.family() {
        ToolFamily::Test => (Purpose::Test, vec![Purpose::Test]),
        _ => purposes(&script),
    };
    Some(Run {
        message,
        answered: None,
        call: view.call().id.clone(),
        heart: heart(&command, &script),
        command: command.into_owned(),
        purpose,
        checks,
        verdict: Verdict::Unknown,
        exit_code: None,
        tests: TestCounts::default(),
        failed_tests: Vec::new(),
        error: None,
        script_error: None,
    })
}

/// The name of what goes on in the background, where the harness says that it does.
fn background(text: &str) -> Option<&str> {
    const MARKS: [&str; 3] = [
        "Process running with session ID ",
        "running in background with ID: ",
        "running in the background with ID: ",
    ];
    let lines = text.lines().take(8);
    let found = lines.filter_map(|line| MARKS.iter().find_map(|mark| line.split_once(mark))).next();
    let (_, after) = found?;
    let id = after.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).next()?;
    (!id.is_empty()).then_some(id)
}

fn purposes(script: &[Simple<'_>]) -> (Purpose, Vec<Purpose>) {
    let all: Vec<Purpose> = script.iter().map(kind::purpose).collect();
    let mut checks: Vec<Purpose> = Vec::new();
    for check in all.iter().copied().filter(|purpose| purpose.is_check()) {
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    let purpose = checks.last().copied().unwrap_or_else(|| {
        let most = [Purpose::Act, Purpose::Look].into_iter().find(|kind| all.contains(kind));
        most.unwrap_or(Purpose::Nothing)
    });
    (purpose, checks)
}

fn judge(run: &mut Run, text: &str, outcome: Outcome, flags_failures: bool) {
    let text = digest::cleaned(text);
    let lines: Vec<&str> = text.lines().collect();
    if was_not_run(&lines, outcome) {
        return;
    }
    // Claude Code and pi flag each command that fails, so that one with the other flag succeeded.
    let flagged = (flags_failures && outcome == Outcome::Succeeded).then_some(0);
    let stated = stated_code(&lines, &run.command).or(flagged);
    run.exit_code = stated;
    let output: Vec<&str> = lines.iter().copied().filter(|line| !digest::is_wrapper(line)).collect();
    let script = simples(&run.command);
    let is_check = !run.checks.is_empty();
    let told = if is_check { told(&output) } else { runner::Told::default() };
    run.tests = told.tests;
    let by_code = stated.and_then(|code| by_code(code, &script, is_check));
    run.verdict = match by_code {
        Some(Verdict::Passed) => Verdict::Passed,
        Some(Verdict::Failed) => Verdict::Failed,
        _ if !is_check => Verdict::Unknown,
        _ if told.fails => Verdict::Failed,
        _ if told.passes && speaks_for_all(&script) && !is_cut(output.len(), &script) => Verdict::Passed,
        _ if is_silent(&output, &script) => Verdict::Passed,
        _ => Verdict::Unknown,
    };
    if run.verdict == Verdict::Unknown && outcome == Outcome::Failed && stated.is_none() {
        run.verdict = Verdict::Failed;
    }
    // Who ends badly has not passed.
    let has_failed = by_code == Some(Verdict::Failed) || run.verdict == Verdict::Failed;
    let stated = verdict_line(&output, &script).filter(|_| !told.passes && !told.fails);
    if let Some((verdict, line)) = stated.filter(|(verdict, _)| *verdict == Verdict::Failed || !has_failed) {
        if !is_check {
            run.purpose = Purpose::Evaluate;
            run.checks.push(Purpose::Evaluate);
        }
        run.verdict = verdict;
        run.error = (verdict == Verdict::Failed).then(|| line.to_owned());
    }
    if run.verdict == Verdict::Failed && run.purpose == Purpose::Act {
        let says_which = |line: &&&str| failed_script(line).is_some();
        run.script_error = output.iter().rfind(says_which).map(|line| line.trim().to_owned());
    }
    if run.verdict == Verdict::Failed && run.error.is_none() {
        // The hook of a commit runs tests, and what those print that passed is no error of the commit's.
        let is_act = run.purpose == Purpose::Act;
        let lines = if is_act { runner::behind_passed_tests(&lines) } else { &lines };
        let read = digest::read_lines(lines);
        let tests = run.checks.contains(&Purpose::Test);
        run.failed_tests = if tests { read.failed_tests } else { Vec::new() };
        run.error = error_of(run, &output, read.decisive_error.or(read.first_error), &told.failures);
    }
}

/// Returns the script that Bun or npm say in `line` has failed.
fn failed_script(line: &str) -> Option<&str> {
    const SAYS: [(&str, &str); 2] = [
        ("error: script \"", "\" exited with code "),
        ("npm error Lifecycle script `", "` failed with error"),
    ];
    SAYS.iter().find_map(|(before, after)| Some(line.trim().strip_prefix(before)?.split_once(after)?.0))
}

/// The line that says best what went wrong.
fn error_of(run: &Run, output: &[&str], decisive: Option<String>, failures: &[String]) -> Option<String> {
    // A linter says where and what; that its script exited is no news.
    let is_verdict = |line: &str| {
        ["error: script ", "npm error ", "npm ERR! ", "Found "].iter().any(|start| line.starts_with(start))
    };
    let place =
        || output.iter().map(|line| line.trim()).find(|line| runner::is_place(line)).map(str::to_owned);
    let first = || output.iter().map(|line| line.trim()).find(|line| !line.is_empty()).map(str::to_owned);
    // Bun prints the errors that tests provoke before the verdict on each: the name of the failed one is what is known.
    if let Some(test) = run.failed_tests.first()
        && output.iter().any(|line| line.starts_with("(fail) "))
    {
        return Some(format!("{test} failed"));
    }
    match decisive.filter(|line| !is_verdict(line)) {
        Some(line) => Some(line),
        None => {
            place().or_else(|| failures.first().cloned()).or_else(|| run.script_error.clone()).or_else(first)
        }
    }
}

/// Whether the tool says of each command that fails that it did: Claude Code's and pi's shells.
fn flags_failures(tool: &str) -> bool {
    matches!(tool, "Bash" | "bash")
}

/// Whether the command never ran to its end: the person said no, or it was stopped.
fn was_not_run(lines: &[&str], outcome: Outcome) -> bool {
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or_default();
    // Who refuses says so in a line or two.
    let text = lines[first..].iter().take(4).copied().collect::<Vec<_>>().join("\n");
    let times_out = text.trim_start().starts_with("Command timed out");
    was_refused(&text, outcome)
        || times_out && (outcome == Outcome::Failed || lines.len() <= 3)
        || lines.iter().rev().take(3).any(|line| line.trim() == "Command aborted")
        || lines.iter().rev().take(4).any(|line| line.contains("Request interrupted by user for tool use"))
}

/// The exit code of the whole line that the harness states. What the script itself prints is its own word.
fn stated_code(lines: &[&str], command: &str) -> Option<i64> {
    let code = digest::stated_code(lines)?;
    let prints = command.contains("$?") || command.contains("PIPESTATUS") || command.contains("pipestatus");
    let by_harness = lines
        .iter()
        .take(6)
        .any(|line| line.starts_with("Exit code") || line.starts_with("Process exited with code"))
        || lines.iter().rev().take(3).any(|line| line.starts_with("Command exited with code"));
    (by_harness || !prints).then_some(code)
}

/// What the exit code of the whole line says about what counts in it.
fn by_code(code: i64, script: &[Simple<'_>], is_check: bool) -> Option<Verdict> {
    let counts = |simple: &Simple<'_>| kind::purpose(simple).is_check();
    let pipefail = script.iter().any(|simple| {
        let words = simple.plain();
        words.first().is_some_and(|word| word.text == "set")
            && words.iter().any(|word| word.text == "pipefail")
    });
    let stops = script.iter().any(|simple| {
        let words = simple.plain();
        words.first().is_some_and(|word| word.text == "set")
            && words.iter().any(|word| word.text.starts_with('-') && word.text.contains('e'))
    });
    // The code is that of the last command that ran; it speaks for one before it only through `&&`.
    let hides = |link: Link| match link {
        Link::And => false,
        Link::Pipe => !pipefail,
        Link::Then => !stops,
        Link::Or | Link::Background => true,
    };
    let last = script.len().checked_sub(1)?;
    let speaks_for = |at: usize| !script[at..last].iter().any(|simple| hides(simple.link));
    if !is_check {
        let program = kind::program_name(&script[last]);
        // One means "nothing found" or "there is a difference" here.
        let asks = [
            "grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "pgrep", "which",
            "command", "type",
        ];
        return match code {
            0 => Some(Verdict::Passed),
            1 if asks.contains(&program) || is_question(&script[last]) => None,
            _ => Some(Verdict::Failed),
        };
    }
    let checks: Vec<usize> = (0..script.len()).filter(|at| counts(&script[*at])).collect();
    let background = script.last().is_some_and(|simple| simple.link == Link::Background);
    if background {
        return None;
    }
    match code {
        0 => checks.iter().all(|at| speaks_for(*at)).then_some(Verdict::Passed),
        // A pipe's own end failed: `| grep` finds nothing.
        _ if script.len() > 1 && script[last - 1].link == Link::Pipe && !counts(&script[last]) => None,
        _ if checks.iter().any(|at| speaks_for(*at)) => Some(Verdict::Failed),
        _ => None,
    }
}

/// Whether a command answers by its exit code: `git diff --exit-code`, `git merge-base --is-ancestor`.
fn is_question(simple: &Simple<'_>) -> bool {
    let flags = ["--exit-code", "--quiet", "-q", "--is-ancestor", "--check", "check-ignore"];
    simple.plain().iter().any(|word| flags.contains(&&*word.text))
}

/// Whether the last words that are seen speak for every check: there is one, or each ran only after the one before it.
fn speaks_for_all(script: &[Simple<'_>]) -> bool {
    let checks: Vec<usize> = (0..script.len()).filter(|at| kind::purpose(&script[*at]).is_check()).collect();
    let (Some(first), Some(last)) = (checks.first(), checks.last()) else { return true };
    // What only picks lines may have left out the bad ones, but keeps the summary where that is what it looks for.
    script[*first..*last].iter().all(|simple| simple.link == Link::And)
}

/// Whether `head` may have left out the end of the output, where runners say what failed.
fn is_cut(lines: usize, script: &[Simple<'_>]) -> bool {
    script.iter().filter(|simple| kind::program_name(simple) == "head").any(|head| {
        let most = head
            .words
            .iter()
            .find_map(|word| word.text.trim_start_matches("-n").trim_start_matches('-').parse().ok());
        lines >= most.unwrap_or(10)
    })
}

/// Whether a check that says nothing when all is well said nothing, and nothing was left out.
fn is_silent(output: &[&str], script: &[Simple<'_>]) -> bool {
    const SILENT: [&str; 20] = [
        "tsc", "eslint", "gofmt", "vue-tsc", "tsgo", "shellcheck", "flake8", "yamllint", "rustfmt",
        "goimports", "gofumpt", "shfmt", "isort", "clang-format", "stylelint", "pyflakes", "pycodestyle",
        "actionlint", "hadolint", "staticcheck",
    ];
    const WHOLE: [&str; 4] = ["tail", "head", "cat", "tee"];
    let is_quiet = |line: &&str| {
        line.trim().is_empty() || *line == "(no output)" || line.contains("(Bash completed with no output)")
    };
    let said: Vec<&str> = output.iter().copied().filter(|line| !is_quiet(line)).collect();
    let is_script = !said.is_empty();
    let is_quiet = !is_script || shows_silent(&said, &SILENT) && !is_cut(output.len(), script);
    let mut checks = 0;
    let all = script.iter().all(|simple| {
        let program = kind::program_name(simple);
        let purpose = kind::purpose(simple);
        checks += usize::from(purpose.is_check());
        match purpose.is_check() {
            true => {
                let has = |words: &[&str]| simple.plain().iter().any(|word| words.contains(&&*word.text));
                is_script || SILENT.contains(&program) || has(&["vet"]) || program == "cargo" && has(&["fmt"])
            }
            false => purpose == Purpose::Nothing || WHOLE.contains(&program),
        }
    });
    is_quiet && all && checks == 1
}

/// Whether all that was `said` is what the runner of a package's scripts shows of the one it runs, and that says nothing when all is well.
fn shows_silent(said: &[&str], silent: &[&str]) -> bool {
    let shown = |line: &&str| {
        let line = runner::unprefixed(line);
        line.strip_prefix("$ ").or(line.strip_prefix("> ")).map(str::to_owned)
    };
    let Some(shown) = said.iter().map(shown).collect::<Option<Vec<String>>>() else { return false };
    let runs = shown.last().map(|last| simples(last)).unwrap_or_default();
    matches!(&runs[..], [only] if silent.contains(&kind::program_name(only)))
}

/// Returns the part of a command that says what it does: without a leading `cd`, and without the pipe at its end that
/// only shortens the output.
fn heart(command: &str, script: &[Simple<'_>]) -> String {
    let is_way = |simple: &Simple<'_>| {
        simple
            .words
            .first()
            .is_some_and(|word| matches!(&*word.text, "cd" | "export" | "set" | "source" | "pushd"))
            && matches!(simple.link, Link::And | Link::Then)
    };
    let first = script.iter().take_while(|simple| is_way(simple)).count();
    let Some(start) = script.get(first) else { return command.trim().to_owned() };
    let mut last = script.len() - 1;
    let shortens = |simple: &Simple<'_>| {
        matches!(kind::program_name(simple), "tail" | "head" | "cat" | "tee")
            || simple.words.first().is_some_and(|word| word.text == "true")
    };
    while last > first && shortens(&script[last]) && matches!(script[last - 1].link, Link::Pipe | Link::Or) {
        last -= 1;
    }
    let end = script[last].place.end.min(command.len());
    let heart = command.get(start.place.start..end).unwrap_or(command).trim();
    let heart = heart.strip_suffix("2>&1").or_else(|| heart.strip_suffix("2>/dev/null")).unwrap_or(heart);
    heart.trim().to_owned()
}

#[cfg(test)]
mod tests;
