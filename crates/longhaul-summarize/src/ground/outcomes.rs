//! How checks and tasks ended, against how a statement says they did: the last run counts, unless an earlier one is meant.

use longhaul_extract::{Purpose, Run, TodoState, Verdict};

use super::{
    atoms::spans,
    evidence::Evidence,
    names::is_file,
    polarity::is_negated,
    words::{stems, words},
};

/// Returns whether a statement says that a check went well which went badly, or the other way round.
pub(super) fn is_other_verdict(sentence: &str, evidence: &Evidence) -> bool {
    let told = spans(sentence);
    let said: Vec<String> = words(&told.prose).map(|(_, word)| word.to_lowercase()).collect();
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let is_last = has(&["after", "last", "final", "finally", "now", "still", "end"]);
    // What failed once may have failed where no call shows it.
    let Some(well) = verdict(&said).filter(|well| *well || is_last && !has(&["now", "end"])) else {
        return false;
    };
    let is_named = |run: &Run| {
        let mut names =
            told.code.iter().flat_map(|code| code.split_whitespace()).filter(|name| is_file(name));
        names.any(|name| run.command.contains(name))
            || told.code.iter().any(|code| words(code).count() >= 2 && run.command.contains(code))
    };
    let purposes: Vec<Purpose> =
        PURPOSES.iter().filter(|(names, _)| has(names)).map(|(_, purpose)| *purpose).collect();
    let mut about: Vec<&Run> = evidence.runs.iter().filter(|run| is_named(run)).collect();
    // What a hook checks is no run of its own.
    let is_by_other = has(&["hook", "hooks", "commit", "ci"]);
    if about.is_empty()
        && !is_by_other
        && let [purpose] = purposes[..]
    {
        let is_for = |run: &&Run| run.purpose == purpose || run.checks.contains(&purpose);
        about = evidence.runs.iter().filter(is_for).collect();
    }
    let meant: Vec<&Run> = match () {
        () if has(&["never"]) => about,
        () if has(&["first", "initial", "initially"]) => about.into_iter().take(1).collect(),
        () if is_last => about.into_iter().next_back().into_iter().collect(),
        () => about,
    };
    let went = |run: &Run| match run.verdict {
        Verdict::Passed => Some(true),
        Verdict::Failed => Some(false),
        Verdict::Unknown => evidence.calls.went_well(&run.call),
    };
    if has(&["never"]) {
        return well && is_negated(&told.prose) && meant.iter().any(|run| went(run) == Some(true));
    }
    !meant.is_empty() && meant.iter().all(|run| went(run) == Some(!well))
}

/// Returns how a statement says that something went, where it says one thing only.
fn verdict(said: &[String]) -> Option<bool> {
    let is_in = |nth: usize, list: &[&str]| said.get(nth).is_some_and(|word| list.contains(&word.as_str()));
    let is_none = |nth: usize| {
        (1..=3).any(|back| {
            nth.checked_sub(back).is_some_and(|nth| is_in(nth, &["no", "without", "zero", "0", "not", "any"]))
        })
    };
    let counts = |nth: usize, back: usize| {
        nth.checked_sub(back).and_then(|nth| said.get(nth)).is_some_and(|word| {
            word.bytes().all(|byte| byte.is_ascii_digit()) || NUMBERS.contains(&word.as_str())
        })
    };
    let (mut well, mut badly) = (false, false);
    for nth in 0..said.len() {
        if is_in(nth, &WELL) {
            well = true;
        } else if is_in(nth, &BADLY) || is_in(nth, &COUNTED) && (1..=4).any(|back| counts(nth, back)) {
            match is_none(nth) {
                true => well = true,
                false => badly = true,
            }
        }
    }
    (well != badly).then_some(well)
}

const WELL: [&str; 10] =
    ["passed", "passes", "pass", "green", "clean", "succeeded", "succeeds", "successfully", "ok", "works"];
const BADLY: [&str; 10] =
    ["failed", "fails", "fail", "failing", "flagged", "raised", "raises", "crashed", "broke", "complained"];
/// What went badly where there is a number of them.
const COUNTED: [&str; 5] = ["errors", "issues", "failures", "warnings", "problems"];
const NUMBERS: [&str; 7] = ["no", "two", "three", "four", "five", "six", "several"];

const PURPOSES: [(&[&str], Purpose); 5] = [
    (&["lint", "linter", "linting"], Purpose::Lint),
    (&["tests", "test", "suite"], Purpose::Test),
    (&["typecheck", "typechecks", "typechecking"], Purpose::Typecheck),
    (&["build", "builds"], Purpose::Build),
    (&["formatter", "formatting", "fmt"], Purpose::Format),
];

/// Share of a task that a statement must hold to be about it.
const SAME_TASK: f64 = 0.6;

/// Returns whether a statement says that a task is open which the list says is done, or done which it says is open.
pub(super) fn is_other_state(sentence: &str, evidence: &Evidence) -> bool {
    let prose = spans(sentence).prose;
    let said: Vec<String> = words(&prose).map(|(_, word)| word.to_lowercase()).collect();
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let own = stems(sentence);
    let mut about = evidence.todos.iter().filter(|item| {
        let task = stems(&item.text);
        let shared = task.iter().filter(|stem| own.contains(stem)).count();
        task.len() >= 2 && shared as f64 >= SAME_TASK * task.len() as f64
    });
    let (Some(item), None) = (about.next(), about.next()) else { return false };
    let is_open = has(&["open", "progress", "pending", "unfinished", "remains", "remaining"]);
    let is_done = has(&["done", "completed", "finished"]);
    match item.state {
        TodoState::Done => is_open && !is_done && !is_negated(&prose),
        TodoState::Open | TodoState::InProgress => is_done && !is_open && !is_negated(&prose),
        _ => false,
    }
}
