//! Where the work stands: the plan with its open items first, how the checks went, what failed, what was said last.

use hashbrown::HashSet;
use longhaul_extract::{
    Check, Domain, Purpose, Run, Runs, Statement, StatementKind, TodoItem, TodoState, ToolFamily, Verdict,
    checks, each_act, statement_key,
};
use longhaul_transcript::{FileNote, FileState, Tokens, clipped, one_line};

use super::{
    acts::{Acts, CHECK_CHARS},
    asks::last_words,
    fixed::Fixed,
    heading::Heading,
    lines::fenced,
};

impl Fixed<'_> {
    /// The agent's own list, where it keeps one: items are told whole, open ones first.
    pub(super) fn plan(&mut self, acts: &Acts) {
        let items = &acts.plan;
        let Some(told) = items.iter().map(|item| item.message).max() else { return };
        let mut left = self.room(self.options.state_share * 2.0);
        let mut lines = Vec::new();
        for (word, states) in [
            ("open", &[TodoState::InProgress, TodoState::Open][..]),
            ("done", &[TodoState::Done][..]),
            ("cancelled", &[TodoState::Cancelled][..]),
        ] {
            let all = states.iter().flat_map(|state| items.iter().filter(move |item| item.state == *state));
            let all: Vec<&TodoItem> = all.collect();
            let mut shown = Vec::new();
            for item in &all {
                let under_way = if item.state == TodoState::InProgress { " (in progress)" } else { "" };
                let text = format!("{}{under_way}", one_line(&item.text));
                let cost = self.cost(&text) + Tokens(1);
                if cost > left {
                    break;
                }
                left -= cost;
                shown.push(text);
            }
            if shown.len() < all.len() {
                shown.push(format!("… {} more", all.len() - shown.len()));
            }
            if !shown.is_empty() {
                lines.push(format!("{word}: {}", shown.join("; ")));
            }
        }
        // What was asked and edited after the list was written may have made it old.
        let since = acts.edits_since(told);
        if let Some((message, path)) = since.last().filter(|_| !lines.is_empty()) {
            let name = FileNote::spelled(path.rsplit('/').next().unwrap_or(path));
            let more =
                if since.len() > 1 { format!(", {} edits in all", since.len()) } else { String::new() };
            // Who reads that all of a list is done takes the work for done, or for no more than the list.
            let is_done =
                items.iter().all(|item| matches!(item.state, TodoState::Done | TodoState::Cancelled));
            let unlisted = if is_done { ", and not on the list" } else { "" };
            lines.push(format!("edited since then{unlisted}: {name} (m{message}){more}"));
        }
        if let Some(asked) = self.asked_last().filter(|asked| *asked > told && !lines.is_empty()) {
            lines.push(format!("asked since then: m{asked}"));
        }
        if !lines.is_empty() {
            self.add_about(Heading::List, &format!(" m{told}"), lines.join("\n"));
        }
    }

    /// The last checks, each with its last failure and what was edited until it passed, and tools' refusals that nothing mended.
    pub(super) fn checks(&mut self, acts: &Acts) {
        let files = &acts.files;
        // How a check went last may stand in the messages that stay.
        let mut later = Runs::default();
        each_act(self.request.tail_beside_entries(), |act| later.take(act));
        let runs: Vec<Run> = acts.runs.iter().cloned().chain(later.done()).collect();
        let runs = &runs[..];
        let mut left = self.room(self.options.state_share * 2.0);
        let mut all = checks(runs, files);
        // Where its last run stays, its failure and what cured it are told all the same, unless they stay as well.
        let is_below = |check: &Check| {
            let shows = |failure: &Run| failure.message == check.last.message || self.stands_below(failure);
            self.stands_below(&check.last) && check.failure.as_ref().is_none_or(shows)
        };
        all.retain(|check| !is_below(check));
        let quarter = self.request.limit.scaled(0.25);
        let mut told: Vec<(usize, String)> = Vec::new();
        let last = all.len().saturating_sub(LAST_CHECKS);
        let committed =
            acts.landings.iter().rev().find(|landing| landing.commits()).map_or(0, |landing| landing.message);
        // What fails and nothing mended is told before what went well, however many other checks came after it; what was committed
        // all the same is not what stands in the way.
        let newest = (all.len().saturating_sub(MOST_LOOKED_AT)..all.len()).rev();
        let (open, others): (Vec<usize>, Vec<usize>) = newest
            .filter(|at| *at >= last || all[*at].last.message > committed)
            .partition(|at| is_open(&all[*at], runs));
        let others = others.into_iter().filter(|at| *at >= last);
        for at in open.into_iter().take(LAST_CHECKS).chain(others) {
            let check = &all[at];
            let mut since = match mended(check, runs) {
                Some(run) if run.verdict == Verdict::Passed => {
                    let heart = clipped(&one_line(&run.heart), HEART_CHARS);
                    format!("; {heart} passed since (m{})", run.message)
                }
                Some(run) => format!("; run again in m{}, outcome not stated", run.message),
                None => String::new(),
            };
            if let Some(files) = acts.edited_since(check.last.message) {
                since.push_str(&format!("; edited since: {files}"));
            }
            let mut shown = (*check).clone();
            shown.last.heart = clipped(&one_line(&shown.last.heart), HEART_CHARS);
            let line = self.trail.below(&shown.line());
            let lines_of = [CHECK_CHARS, CHECK_CHARS / 2]
                .map(|chars| clipped(&line, chars.saturating_sub(since.chars().count())) + &since);
            // Where there is next to no room, what stands in the way is told all the same.
            let is_last_failure = told.is_empty() && is_open(check, runs);
            let most = if is_last_failure { left.max(FAILURE.min(quarter)) } else { left };
            let fits = |line: &String| self.cost(line) + Tokens(1) <= most && !self.said.contains(line);
            if let Some(line) = lines_of.into_iter().find(fits) {
                left -= self.cost(&line) + Tokens(1);
                told.push((at, line));
            }
        }
        told.sort_unstable();
        let mut lines: Vec<String> = told.into_iter().map(|(_, line)| line).collect();
        for line in self.unsettled(runs, acts) {
            let cost = self.cost(&line) + Tokens(1);
            if cost <= left {
                left -= cost;
                lines.push(line);
            }
        }
        // What the last of them complained of, where it failed, is what is to be mended next.
        if let Some(check) = all.last().filter(|check| check.last.verdict == Verdict::Failed) {
            let is_told = |line: &str, lines: &[String]| lines.iter().any(|told| told.contains(line));
            for line in self.complaints(&check.last, runs) {
                let cost = self.cost(&line) + Tokens(1);
                if cost <= left && !is_told(&line, &lines) {
                    left -= cost;
                    lines.push(line);
                }
            }
        }
        let refusals = acts.refusals.iter().rev().take(MOST_REFUSALS).cloned().collect();
        for newest_first in [self.failed_acts(runs, acts), refusals, self.failed_edits(acts)] {
            let mut told: Vec<String> = Vec::new();
            for line in newest_first {
                let cost = self.cost(&line) + Tokens(1);
                if cost <= left {
                    left -= cost;
                    told.push(line);
                }
            }
            lines.extend(told.into_iter().rev());
        }
        if !lines.is_empty() {
            self.add(Heading::Checks, fenced(lines.join("\n")));
        }
    }

    /// Returns a line for each file that was to be changed in vain, more than once, and has no line as a changed one: the messages that
    /// stay have how it was done in the end.
    fn failed_edits(&self, acts: &Acts) -> Vec<String> {
        let only_read = acts.files.iter().filter(|file| file.state == FileState::Read);
        let failed = only_read.filter_map(|file| Some((FileNote::spelled(&file.path), file.failed()?)));
        let untold = failed.filter(|(path, _)| !acts.refusals.iter().any(|refusal| refusal.contains(path)));
        let mut lines: Vec<String> =
            untold.map(|(path, failed)| format!("{}: {failed}", self.trail.below(&path))).collect();
        lines.truncate(MOST_REFUSALS);
        lines
    }

    /// Returns a line for each kind of check that ran after the last edit and does not say how it went, oldest first: what is known of an
    /// earlier run of it is old. How a build went, what runs next shows.
    fn unsettled(&self, runs: &[Run], acts: &Acts) -> Vec<String> {
        if self.request.index.domain() != Domain::Coding {
            return Vec::new();
        }
        let files = acts.files.iter().chain(&acts.files_after);
        let edited = files.flat_map(|file| &file.trail).map(|edit| edit.message).max().unwrap_or_default();
        let mut known: HashSet<Purpose> = HashSet::new();
        let since = runs.iter().rev().take_while(|run| run.message > edited);
        let is_check = |run: &Run| run.purpose.is_check() && run.purpose != Purpose::Build;
        let newest = since.filter(|run| is_check(run) && known.insert(run.purpose));
        let open = newest.filter(|run| run.verdict == Verdict::Unknown && run.answered.is_some());
        let open = open.filter(|run| !self.stands_below(run));
        let line = |run: &Run| {
            let heart = clipped(&one_line(&run.heart), UNSETTLED_CHARS);
            format!("{}: outcome not stated (m{})", self.trail.below(&heart), run.message)
        };
        let mut lines: Vec<String> = open.map(line).collect();
        lines.reverse();
        lines
    }

    /// Returns whether what a run said stands whole in the messages that stay.
    fn stands_below(&self, run: &Run) -> bool {
        let (tail, kept) = (self.request.tail_beside_entries(), self.request.kept);
        let was = tail.iter().find(|entry| Some(entry.id.ordinal) == run.answered);
        was.is_some_and(|was| kept.iter().any(|stays| stays.id == was.id && stays.message == was.message))
    }

    /// Returns the lines of a failed run's output that tell of a failure or name a place in a file, each once. What one of `runs` that
    /// passed printed as well, and what tests print that passed, is no failure.
    fn complaints(&self, run: &Run, runs: &[Run]) -> Vec<String> {
        let Some(answered) = run.answered.and_then(|message| u32::try_from(message).ok()) else {
            return Vec::new();
        };
        let pool = self.request.index.statements();
        // Other calls may be answered in the same message.
        let is_runs = |one: &&Statement| {
            let family = pool.source(one).map(|source| source.family());
            family.is_none_or(ToolFamily::runs_commands)
        };
        let printed = |message: u32| {
            let all = pool.all().iter();
            all.filter(move |one| one.message == message && one.kind == StatementKind::Result).filter(is_runs)
        };
        let names_place = |text: &str| {
            let mut parts = text.split(':').skip(1);
            parts
                .next()
                .is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        // What an evaluation prints behind its verdict is not about it.
        let verdict = run.error.as_deref().filter(|_| run.purpose == Purpose::Evaluate).map(statement_key);
        let of_run: Vec<&Statement> =
            printed(answered).take_while(|one| verdict != Some(one.key())).collect();
        let passed = runs.iter().filter(|one| one.verdict == Verdict::Passed && one.purpose == run.purpose);
        let passed = passed.filter_map(|one| u32::try_from(one.answered?).ok());
        let mut known: HashSet<u32> = passed.flat_map(printed).map(Statement::key).collect();
        let tells = of_failed_tests(&of_run).into_iter().filter(|one| {
            one.words().len() > 2
                && (one.tells_failure() || names_place(&one.text))
                && known.insert(one.key())
        });
        tells.take(MOST_COMPLAINTS).map(|one| one.text.to_string()).collect()
    }

    /// Returns the last commands that were to change something and failed, and did not go well after all by the same words: what
    /// stands open at the end may depend on them. What another command did of it later is told with it. The newest first. What is
    /// told among what landed is not told again.
    fn failed_acts(&self, runs: &[Run], acts: &Acts) -> Vec<String> {
        let lands = |run: &Run| acts.landings.iter().any(|landing| landing.message == run.message);
        let is_told = |run: &Run| lands(run) && self.said.contains(&format!("(m{})", run.message));
        // What was run again with a known end, by all of its line or by what its end speaks for: it is told of its last time.
        let (mut hearts, mut spoken) = (HashSet::new(), HashSet::new());
        let mut is_open = |(_, run): &(usize, &Run)| {
            let said = if run.purpose == Purpose::Act { run.spoken_for() } else { String::new() };
            let is_over = hearts.contains(&run.heart) || spoken.contains(&said);
            let is_open =
                run.purpose == Purpose::Act && run.verdict == Verdict::Failed && !is_told(run) && !is_over;
            if run.verdict != Verdict::Unknown {
                hearts.insert(run.heart.clone());
                if run.purpose == Purpose::Act {
                    spoken.insert(said);
                }
            }
            is_open
        };
        let line = |(at, run): (usize, &Run)| {
            let error = run.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
            let command = clipped(&run.spoken_for(), HEART_CHARS);
            let cure = runs[at + 1..].iter().find(|later| later.does_after_all(run)).map(|later| {
                let command = clipped(&one_line(&later.heart), HEART_CHARS);
                format!("; then {command} went well (m{})", later.message)
            });
            let cure = cure.unwrap_or_default();
            let most = CHECK_CHARS.saturating_sub(cure.chars().count());
            clipped(&format!("m{} {command} failed{error}", run.message), most) + &cure
        };
        runs.iter().enumerate().rev().filter(|at| is_open(at)).map(line).take(MOST_FAILED_ACTS).collect()
    }

    /// What the model said last in words, where it does not stand below, and how much it did after it.
    pub(super) fn last_words(&mut self, acts: &Acts) {
        let speakers = self.request.index.speakers();
        if let Some((entry, text)) = last_words(self.request.entries, speakers)
            && last_words(self.request.kept, speakers).is_none()
        {
            let body = self.clip(text, LAST_WORDS_SHARE);
            let then = then_done(acts, entry.id.ordinal);
            self.add_about(Heading::LastWords, &format!(" ({}{then})", entry.id), body);
        }
    }
}

/// Returns those of a run's lines that may tell of tests that failed: Bun prints what tests print under the name of their file, and marks
/// those that failed.
fn of_failed_tests<'s>(lines: &[&'s Statement]) -> Vec<&'s Statement> {
    let is_mark = |one: &&Statement| one.text.starts_with("(fail) ");
    let is_file = |one: &Statement| {
        one.text.strip_suffix(':').is_some_and(|path| path.contains('.') && !path.contains([' ', ':']))
    };
    if !lines.iter().any(is_mark) {
        return lines.to_vec();
    }
    let of_files = lines.chunk_by(|_, next| !is_file(next));
    of_files.filter(|of_file| of_file.iter().any(is_mark)).flatten().copied().collect()
}

/// Returns the later run that makes a failure old: one of the same purpose that passed, else the same once more.
fn mended<'r>(check: &Check, runs: &'r [Run]) -> Option<&'r Run> {
    let failed = check.last.verdict == Verdict::Failed;
    let after = || runs.iter().rev().take_while(|run| run.message > check.last.message);
    // One evaluation says nothing of another.
    let is_of_its_own = check.last.purpose == Purpose::Evaluate;
    let is_same = |run: &&Run| match is_of_its_own {
        true => run.heart == check.last.heart,
        false => run.purpose == check.last.purpose,
    };
    let passed = || after().filter(is_same).find(|run| run.verdict == Verdict::Passed);
    let again = || after().find(|run| run.heart == check.last.heart);
    failed.then(|| passed().or_else(again)).flatten()
}

/// Whether a check failed and nothing says that it was mended.
fn is_open(check: &Check, runs: &[Run]) -> bool {
    check.last.verdict == Verdict::Failed && mended(check, runs).is_none()
}

/// Returns how many calls were made with the message `said` and after it, as what a heading goes on with.
fn then_done(acts: &Acts, said: u64) -> String {
    let calls = acts.calls.iter().rev().take_while(|call| **call >= said).count();
    let Some(last) = acts.calls.last().filter(|_| calls > 0) else { return String::new() };
    let counted = |count: usize, of: &str| match count {
        1 => format!("1 {of}"),
        _ => format!("{count} {of}s"),
    };
    let files = acts.files.iter().flat_map(|file| &file.trail);
    let edits: HashSet<u64> = files.map(|edit| edit.message).filter(|edit| *edit >= said).collect();
    let edits = match edits.len() {
        0 => String::new(),
        count => format!(", {} with edits", counted(count, "message")),
    };
    format!(", then {}{edits}, the last in m{last}", counted(calls, "call"))
}

/// How many of the last checks are told.
const LAST_CHECKS: usize = 4;

/// What the last failure may take where the section has less, up to a quarter of the limit.
const FAILURE: Tokens = Tokens(60);

/// How many are looked at for one that failed and was not mended.
const MOST_LOOKED_AT: usize = 40;

/// How many lines of the last failed check are told.
const MOST_COMPLAINTS: usize = 10;

/// How many failed commands are told.
const MOST_FAILED_ACTS: usize = 3;

/// How many refusals are told.
const MOST_REFUSALS: usize = 4;

/// Characters of a command that is named beside it.
const HEART_CHARS: usize = 80;

/// The same of one that does not say how it went: there is little to tell.
const UNSETTLED_CHARS: usize = 40;

/// What was said last stays whole where it is under this share of the limit.
const LAST_WORDS_SHARE: f64 = 0.25;
