//! The summary as data: what happened, by the shared schema.

use std::collections::{BTreeMap, HashMap, HashSet};

use longhaul_extract::{
    Decision, Domain, FileHistory, Runs, Subject, Subjects, decisions, each_act, speaker::Speakers,
};
use longhaul_transcript::{
    CommandNote, Constraint, Entry, ErrorNote, FileNote, FileState, Role, Summary, SummaryMode,
};

use super::{
    acts::Acts,
    asks::{is_substantial, last_line, last_words},
    carried,
    clip::GAP,
    few::{FewOf, sent},
    overruled::{Judged, Overruled, Overruling},
    runs::{Purpose, Run},
    spoken::spoken,
    tools::clipped,
};
use crate::SummaryRequest;

/// Returns what the request's entries say, as data, and what is `demanded` in them.
pub(super) fn account(
    request: &SummaryRequest<'_>,
    runs: &[Run],
    acts: &Acts,
    few: FewOf<'_>,
    subjects: &Subjects,
    demanded: Vec<Constraint>,
    (judged, overruling): (&Judged, &Overruling),
) -> Summary {
    let (entries, speakers) = (request.entries, request.index.speakers());
    let carried = request.previous.map(|record| &record.summary);
    let by_rule = request.previous.is_some_and(|record| record.mode == SummaryMode::Rules);
    let is_talk = request.index.domain() == Domain::Talk;
    let mut summary = Summary {
        narrative: carried.map(|summary| summary.narrative.clone()).unwrap_or_default(),
        participants: if is_talk { participants(entries) } else { Vec::new() },
        decisions: last_decisions(&few, speakers, &judged.standing, overruling),
        domain_entities: entities(subjects),
        files: notes(acts, request),
        commands: commands(runs),
        errors: errors(runs, &later_runs(request)),
        tools_used: acts.tools.clone(),
        constraints: latest(demanded, MOST_CONSTRAINTS),
        goal: first_task(few.persons).map(|task| goal(task, speakers)).unwrap_or_default(),
        current_focus: last_words(entries, speakers)
            .map(|(_, text)| clipped(text, FOCUS_CHARS))
            .unwrap_or_default(),
        ..Summary::default()
    };
    summary.unresolved = summary
        .errors
        .iter()
        .filter(|error| error.resolution.is_empty())
        .map(|error| error.error.clone())
        .collect();
    if let Some(carried) = carried {
        carry(&mut summary, carried, by_rule, (entries, few.demanding, speakers), &judged.overruled);
    }
    for rule in summary.constraints.iter_mut().filter(|rule| rule.superseded_by.is_none()) {
        rule.superseded_by = overruling.of_choice(rule.message, &rule.text);
    }
    summary
}

/// Adds what the previous summary says of messages whose originals are not among `entries`; decisions where rules told them, which quote.
fn carry(
    summary: &mut Summary,
    carried: &Summary,
    by_rule: bool,
    (entries, demanding, speakers): (&[Entry], &[Entry], &Speakers),
    overruled: &[Overruled],
) {
    let ordinal = |entry: &Entry| entry.id.ordinal;
    let last = entries.last().map_or(0, ordinal);
    if carried::is_whole(entries) {
        return;
    }
    let is_at_hand = |message: u64| entries.binary_search_by_key(&message, ordinal).is_ok();
    let is_older = |constraint: &&Constraint| constraint.message < last && !is_at_hand(constraint.message);
    let older: Vec<Constraint> = carried.constraints.iter().filter(is_older).cloned().collect();
    let (older, newer) = carried::marked(older, demanding, speakers);
    summary.constraints.extend(older);
    carried::add(&mut summary.constraints, newer);
    summary.constraints = latest(std::mem::take(&mut summary.constraints), MOST_CONSTRAINTS);
    if by_rule {
        let is_over = |one: &String| overruled.iter().any(|over| over.decision.text == *one);
        let is_new = |one: &&String| !summary.decisions.contains(one) && !is_over(one);
        let older: Vec<String> = carried.decisions.iter().filter(is_new).cloned().collect();
        summary.decisions.splice(0..0, older);
        summary.decisions = latest(std::mem::take(&mut summary.decisions), MOST_DECISIONS);
    }
    if !carried.goal.is_empty() {
        summary.goal.clone_from(&carried.goal);
    }
    let known: HashSet<&str> = summary.files.iter().map(|file| file.path.as_str()).collect();
    let mut files: Vec<FileNote> =
        carried.files.iter().filter(|file| !known.contains(file.path.as_str())).cloned().collect();
    files.append(&mut summary.files);
    summary.files = latest(touched_first(files), MOST_FILES);
}

/// Returns what the user set out for: the first message that says more than a greeting or "go on".
pub fn task(entries: &[Entry]) -> Option<(&Entry, &str)> {
    let speakers = Speakers::builtin();
    let said = || entries.iter().filter_map(|entry| Some((entry, sent(entry, speakers)?)));
    said().find(|(_, text)| is_substantial(text)).or_else(|| said().next())
}

/// Returns [`task`] out of what `persons` sent.
pub(super) fn first_task<'e>(persons: &[(&'e Entry, &'e str)]) -> Option<(&'e Entry, &'e str)> {
    persons.iter().find(|(_, text)| is_substantial(text)).or_else(|| persons.first()).copied()
}

/// Returns the task as it is kept: whole where it is short, else without what was pasted, and of the rest both ends.
fn goal((entry, text): (&Entry, &str), speakers: &Speakers) -> String {
    match text.chars().nth(GOAL_CHARS) {
        None => text.trim().to_owned(),
        Some(_) => both_ends(&spoken(&entry.message, text, speakers, |_| String::new()), GOAL_CHARS),
    }
}

/// Returns the messages in which a person says something, however short, oldest first.
pub(super) fn said_by_person(request: &SummaryRequest<'_>, few: FewOf<'_>) -> Vec<u64> {
    let is_persons = |entry: &&Entry| sent(entry, request.index.speakers()).is_some();
    let behind = request.tail_beside_entries().iter().filter(is_persons);
    few.persons.iter().map(|(entry, _)| *entry).chain(behind).map(|entry| entry.id.ordinal).collect()
}

/// Returns who speaks, in the order in which they begin to, where messages begin with the name of who says them: then most of the talk
/// is by people who come again. Else what stands before a colon leads in what follows (`Update: …`) and is no name.
fn participants(entries: &[Entry]) -> Vec<String> {
    let texts = || {
        let texts = entries.iter().flat_map(|entry| entry.message.texts().map(move |text| (entry, text)));
        texts.filter(|(_, text)| !text.trim().is_empty())
    };
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    // Recordings of people who talk have all that they say as the user's.
    for name in
        texts().filter(|(entry, _)| entry.message.role == Role::User).filter_map(|(_, text)| name(text))
    {
        let at = *place.entry(name).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let again: usize = counts.iter().map(|(_, count)| *count).filter(|count| *count > 1).sum();
    if again * 2 <= texts().count() {
        return Vec::new();
    }
    counts.into_iter().take(MOST_PARTICIPANTS).map(|(name, _)| name.to_owned()).collect()
}

/// Returns what `text` has before its first colon, where that may be a name.
fn name(text: &str) -> Option<&str> {
    let name = text.split_once(':')?.0.trim();
    let is_short = (1..=40).contains(&name.len()) && name.split(' ').count() <= 4;
    (is_short && !name.contains('\n')).then_some(name)
}

/// Returns the last decisions, those that the person `decided` and the model's, oldest first.
fn last_decisions(
    few: &FewOf<'_>,
    speakers: &Speakers,
    decided: &[Decision],
    overruling: &Overruling,
) -> Vec<String> {
    let of = |entry| decisions(std::slice::from_ref(entry), speakers).into_iter().rev();
    let mut models: Vec<_> = few.telling.iter().rev().flat_map(of).take(MOST_DECISIONS).collect();
    models.reverse();
    models.retain(|one| overruling.by(one.message, &one.text).is_none());
    let mut all = [decided, &models].concat();
    all.sort_by_key(|decision| decision.message);
    latest(all, MOST_DECISIONS).into_iter().map(|decision| decision.text).collect()
}

fn entities(subjects: &Subjects) -> Vec<String> {
    let mut best: Vec<_> = subjects.all().iter().filter(|subject| subject.value > 0.0).collect();
    let by_worth = |one: &&Subject, other: &&Subject| {
        other.value.total_cmp(&one.value).then_with(|| one.fact.name.cmp(&other.fact.name))
    };
    if best.len() > MOST_ENTITIES {
        best.select_nth_unstable_by(MOST_ENTITIES, by_worth);
        best.truncate(MOST_ENTITIES);
    }
    best.sort_by(by_worth);
    best.into_iter().map(|subject| subject.fact.name.to_string()).collect()
}

/// Returns notes of the files, the newest last and of many these alone; those that were only read are the first to go.
fn notes(acts: &Acts, request: &SummaryRequest<'_>) -> Vec<FileNote> {
    let mut files: Vec<&FileHistory> = acts.files.iter().collect();
    files.sort_by_key(|file| (file.state != FileState::Read, file.last_message));
    let clipped: HashSet<u64> = request.clipped().map(|(was, _)| was.id.ordinal).collect();
    let note = |file: &FileHistory| {
        let mut note = file.note();
        // Lines of these are quoted, and the counts are of what is summarized.
        let after = acts.files_after.iter().filter(|after| after.path == file.path);
        let mut later: Vec<u64> = after.flat_map(|after| &after.trail).map(|edit| edit.message).collect();
        later.dedup();
        let later: Vec<String> =
            later.iter().filter(|at| clipped.contains(at)).map(|at| format!("m{at}")).collect();
        if !later.is_empty() && !note.note.is_empty() {
            note.note.push_str(&format!(", then {}", later.join(", ")));
        }
        note
    };
    latest(files, MOST_FILES).into_iter().map(note).collect()
}

fn touched_first(mut files: Vec<FileNote>) -> Vec<FileNote> {
    // Stable, so that files of the same state stay in their order; the least telling come first and are the first to go.
    files.sort_by_key(|file| file.state != FileState::Read);
    files
}

fn commands(runs: &[Run]) -> Vec<CommandNote> {
    let mut notes: Vec<(CommandNote, bool)> = Vec::new();
    for run in runs {
        let command = clipped(&run.command, COMMAND_CHARS);
        let count = match notes.iter().position(|(note, _)| note.command == command) {
            Some(at) => notes.remove(at).0.runs,
            None => 0,
        };
        let exit_code = run.exit_code.and_then(|code| i32::try_from(code).ok());
        let note = run.error.as_deref().map(|error| clipped(error, COMMAND_CHARS)).unwrap_or_default();
        let is_news = run.failed || run.purpose != Purpose::Look;
        notes.push((CommandNote { command, exit_code, runs: count + 1, note }, is_news));
        if notes.len() > MOST_COMMANDS {
            // What only looked at something is no news afterwards, unless it went wrong.
            let least = notes.iter().position(|(_, is_news)| !is_news).unwrap_or(0);
            notes.remove(least);
        }
    }
    notes.into_iter().map(|(note, _)| note).collect()
}

/// Returns the runs among the messages that stay: what failed before may have passed there.
fn later_runs(request: &SummaryRequest<'_>) -> Vec<Run> {
    let mut later = Runs::default();
    each_act(request.tail_beside_entries(), |act| later.take(act));
    super::runs::runs(&later.done())
}

fn errors(runs: &[Run], later: &[Run]) -> Vec<ErrorNote> {
    let mut notes: Vec<ErrorNote> = Vec::new();
    // The next run of the same command that passes resolves the error.
    let mut passed: BTreeMap<&str, u64> = BTreeMap::new();
    let of_later = later.iter().rev().filter(|run| run.passed);
    passed.extend(of_later.map(|run| (run.command.as_str(), run.message)));
    for run in runs.iter().rev() {
        match &run.error {
            _ if run.passed => {
                passed.insert(&run.command, run.message);
            }
            Some(error) if notes.len() < MOST_ERRORS => {
                let error = clipped(error, COMMAND_CHARS);
                let resolution =
                    passed.get(run.command.as_str()).map(|message| format!("passed in m{message}"));
                if notes.iter().all(|note| note.error != error) {
                    notes.push(ErrorNote { error, resolution: resolution.unwrap_or_default() });
                }
            }
            _ => {}
        }
    }
    notes.reverse();
    notes
}

fn latest<T>(items: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.drain(..items.len().saturating_sub(most));
    items
}

/// Returns at most about `most` characters of `text`: its beginning and, where that is not all, its last line, which mostly says
/// what is wanted of what stands before.
fn both_ends(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let last = last_line(text).filter(|last| last.chars().count() <= most / 2);
    let Some(last) = last else { return clipped(text, most) };
    let room = most - last.chars().count();
    format!("{}{GAP}{last}", clipped(text, room).trim_end_matches(" […]"))
}

// Caps of the schema: lists and texts stay small whatever the conversation holds.
/// More than any summary has room to tell: who counts those of its text finds all of them here.
const MOST_DECISIONS: usize = 100;
const MOST_CONSTRAINTS: usize = 400;
/// A record names this many files at most; those that were only read go first.
pub const MOST_FILES: usize = 200;
/// A summary names this many commands at most, the newest that are no mere looks.
const MOST_COMMANDS: usize = 60;
const MOST_ERRORS: usize = 30;
const MOST_ENTITIES: usize = 40;
const MOST_PARTICIPANTS: usize = 20;
const GOAL_CHARS: usize = 1000;
const FOCUS_CHARS: usize = 600;
const COMMAND_CHARS: usize = 240;
