//! How the calls of a conversation went, against what a statement says of them.

use std::collections::HashSet;

use longhaul_extract::{CallView, Purpose, ToolFamily, runs};
use longhaul_transcript::{CallId, Entry, Outcome, Part, ToolCall, ToolResult};

use super::{
    acts::LOOKING,
    atoms::spans,
    evidence::{Clause, Evidence, Speaker},
    names::{is_file, trimmed},
    polarity::{is_negated, is_pending},
    siblings::stems_of,
    words::{hash, identifier_parts, stem, stems, words},
};

/// What each call was given, and how it went.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    id: CallId,
    /// The names and numbers in its arguments, and its own name.
    marks: HashSet<u64>,
    /// The words of its name and its arguments.
    given: HashSet<u64>,
    /// The words of its name, where it is one of records or of no known kind: `cancel_order` cancels.
    named: HashSet<u64>,
    /// Its result is a record.
    is_record: bool,
    /// It only looks.
    looks: bool,
    /// Its result is there.
    answered: bool,
    /// How it went, where its result says so.
    went: Option<Went>,
    /// What its result denies: `your changes have NOT been applied`.
    denied: HashSet<u64>,
    /// What its result says without denying it.
    said: HashSet<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    Well,
    Badly,
}

impl Calls {
    pub(super) fn note(&mut self, entry: &Entry) {
        for part in &entry.message.parts {
            match part {
                Part::ToolCall(call) => self.note_call(call, entry),
                Part::ToolResult(result) => self.note_result(result),
                _ => {}
            }
        }
    }

    fn note_call(&mut self, call: &ToolCall, entry: &Entry) {
        let view = CallView::new(call);
        let parts = identifier_parts(view.name());
        let is_named_so = parts.iter().any(|part| LOOKING.iter().any(|verb| part.eq_ignore_ascii_case(verb)));
        let looks = match view.family() {
            family if family.only_looks() => true,
            ToolFamily::Shell => {
                let ran = runs(std::slice::from_ref(entry));
                let own = ran.iter().filter(|run| run.call == call.id);
                own.clone().count() > 0 && own.clone().all(|run| run.purpose == Purpose::Look)
            }
            _ => is_named_so,
        };
        let mut marks: HashSet<u64> = marks(&call.arguments.0).collect();
        marks.insert(hash(&call.name.to_lowercase()));
        self.all.push(Call {
            id: call.id.clone(),
            marks,
            given: stems_of(&call.arguments.0).into_iter().chain(stems_of(&call.name)).collect(),
            named: match view.family() {
                ToolFamily::Record | ToolFamily::Other => stems_of(view.inner_name()).into_iter().collect(),
                _ => HashSet::new(),
            },
            is_record: false,
            looks,
            answered: false,
            went: None,
            denied: HashSet::new(),
            said: HashSet::new(),
        });
    }

    fn note_result(&mut self, result: &ToolResult) {
        // An id may come again: the call that waits is meant.
        let waits = |call: &&mut Call| call.id == result.call_id && !call.answered;
        let Some(call) = self.all.iter_mut().rev().find(waits) else { return };
        let text = result.joined_text();
        call.answered = true;
        call.is_record = text.trim_start().starts_with('{');
        call.went = went(&text, result.outcome);
        for line in text.lines().take(MOST_LINES) {
            for sentence in super::words::sentences(line) {
                // `how your edit would have looked if applied` says neither.
                let is_supposed = words(sentence).any(|(_, word)| ["if", "would", "unless"].contains(&word));
                // `"status":"cancelled"` tells how a record stands, and denies nothing.
                let denies = match call.is_record {
                    true => words(sentence)
                        .any(|(_, word)| DENYING.iter().any(|no| word.eq_ignore_ascii_case(no))),
                    false => is_negated(sentence),
                };
                let own = if denies { &mut call.denied } else { &mut call.said };
                if !is_supposed {
                    own.extend(stems(sentence));
                }
            }
        }
    }

    /// Returns whether a call that does more than look, and did not fail, was given this name or number.
    fn changed(&self, mark: u64) -> bool {
        self.all
            .iter()
            .any(|call| !call.looks && call.went != Some(Went::Badly) && call.marks.contains(&mark))
    }

    /// Returns whether a call went well, where its result says either.
    pub(super) fn went_well(&self, id: &CallId) -> Option<bool> {
        let call = self.all.iter().find(|call| call.id == *id)?;
        call.went.map(|went| went == Went::Well)
    }

    /// Returns whether a call does more than look, and did not fail.
    pub(super) fn is_change(&self, id: &CallId) -> bool {
        let call = self.all.iter().rev().find(|call| call.id == *id);
        call.is_some_and(|call| !call.looks && call.went != Some(Went::Badly))
    }

    /// Returns whether a call that did not fail is named after a verb, or was given it, beside one of these words.
    pub(super) fn did(&self, verb: u64, object: &[u64]) -> bool {
        let done = self.all.iter().filter(|call| !call.looks && call.went != Some(Went::Badly));
        done.into_iter().any(|call| {
            call.given.contains(&verb)
                && (object.is_empty() || object.iter().any(|stem| call.given.contains(stem)))
        })
    }

    /// Returns whether calls that are named after one of these verbs did it to all of this: the last of them, where others failed.
    pub(super) fn did_to(&self, verbs: &[u64], object: &[u64]) -> bool {
        let is_of = |call: &&Call| object.iter().all(|stem| call.given.contains(stem));
        let went_well = |call: &Call| call.went == Some(Went::Well);
        let last = self.named_after(verbs).last();
        last.is_some_and(went_well) && self.named_after(verbs).filter(is_of).last().is_some_and(went_well)
    }

    /// Returns whether a call did what one of these verbs says to anything, by its name or as its record says.
    pub(super) fn did_anything(&self, verbs: &[u64]) -> bool {
        let is_told = |call: &Call| call.is_record && verbs.iter().any(|verb| call.said.contains(verb));
        self.named_after(verbs).any(|call| call.went == Some(Went::Well))
            || self.all.iter().any(|call| {
                !call.looks && !call.named.is_empty() && call.went == Some(Went::Well) && is_told(call)
            })
    }

    /// Returns the calls that do more than look and are named after one of these verbs.
    fn named_after(&self, verbs: &[u64]) -> impl Iterator<Item = &Call> {
        self.all.iter().filter(|call| !call.looks && verbs.iter().any(|verb| call.named.contains(verb)))
    }

    /// Returns whether a word stands in the result of a call that does more than look.
    fn came_of_change(&self, stem: u64) -> bool {
        self.all.iter().any(|call| !call.looks && call.said.contains(&stem))
    }

    /// Returns whether some call was given this name or number.
    fn was_given(&self, mark: u64) -> bool {
        self.all.iter().any(|call| call.marks.contains(&mark))
    }

    /// Returns the calls that were given most of these names and numbers.
    fn about(&self, marks: &[u64]) -> Vec<&Call> {
        let shared = |call: &Call| marks.iter().filter(|mark| call.marks.contains(mark)).count();
        let most = self.all.iter().map(shared).max().unwrap_or(0);
        let about = self.all.iter().filter(|call| most > 0 && shared(call) == most);
        // What is said to have gone well or badly is what did more than look.
        match about.clone().any(|call| !call.looks) {
            true => about.filter(|call| !call.looks).collect(),
            false => about.collect(),
        }
    }
}

/// How a call went: as the dialect says, or as its result begins.
fn went(text: &str, outcome: Outcome) -> Option<Went> {
    let begins = |words: &[&str]| {
        let lower: String = text.trim_start().chars().take(24).collect::<String>().to_lowercase();
        words.iter().any(|word| lower.starts_with(word))
    };
    match outcome {
        Outcome::Failed => Some(Went::Badly),
        _ if begins(&["error", "failed", "traceback", "fatal", "exception"]) => Some(Went::Badly),
        _ if text.contains("Traceback (most recent call last)") => Some(Went::Badly),
        Outcome::Succeeded => Some(Went::Well),
        _ if text.contains("completed successfully") => Some(Went::Well),
        _ if begins(&["success", "ok", "done"]) || text.trim_start().starts_with('{') => Some(Went::Well),
        _ => None,
    }
}

/// Words that deny in a record.
const DENYING: [&str; 5] = ["not", "no", "never", "cannot", "nothing"];

/// Lines of a result beyond this are not read.
const MOST_LINES: usize = 200;

/// Returns the names and numbers of a text, by which a call is told from others: `4BMN53`, `gift_card_7480005`, `287`.
fn marks(text: &str) -> impl Iterator<Item = u64> + '_ {
    words(text).map(|(_, word)| word).filter(|word| is_mark(word)).map(|word| hash(&word.to_lowercase()))
}

fn is_mark(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && word.len() >= 2 || word.trim_matches('_').contains('_')
}

/// Returns whether a statement says that something went well whose calls all failed, or that something failed whose calls
/// all went well.
pub(super) fn tells_other_outcome(sentence: &str, evidence: &Evidence) -> bool {
    let prose = spans(sentence).prose;
    let has = |list: &[&str]| words(&prose).any(|(_, word)| list.contains(&word.to_lowercase().as_str()));
    let (well, badly) = (has(&WELL) || prose.contains("went through"), has(&BADLY));
    if well == badly || is_pending(&prose) || has(&TURNED) {
        return false;
    }
    let well = well != (is_negated(&without(&prose, &BADLY)) && well);
    let own: Vec<u64> = marks(sentence).collect();
    let about = evidence.calls.about(&own);
    let shared = |call: &&Call| own.iter().filter(|mark| call.marks.contains(mark)).count();
    let is_certain = about.first().is_some_and(|call| shared(call) >= 2 || own.len() == 1);
    if !is_certain {
        return false;
    }
    // What the results deny word for word: `your changes have NOT been applied`.
    let verbs: Vec<u64> = words(&prose)
        .filter(|(_, word)| WELL.contains(&word.to_lowercase().as_str()))
        .filter_map(|(_, word)| stem(word))
        .collect();
    let is_denied =
        |call: &&Call| verbs.iter().any(|verb| call.denied.contains(verb) && !call.said.contains(verb));
    match well {
        true => about.iter().all(|call| call.went == Some(Went::Badly) || is_denied(call)),
        false => about.iter().all(|call| call.went == Some(Went::Well) && !call.looks),
    }
}

fn without(prose: &str, list: &[&str]) -> String {
    let kept =
        words(prose).map(|(_, word)| word).filter(|word| !list.contains(&word.to_lowercase().as_str()));
    kept.collect::<Vec<_>>().join(" ")
}

const WELL: [&str; 12] = [
    "succeeded", "succeeds", "successful", "successfully", "accepted", "applied", "passed", "passes",
    "worked", "works", "completed", "granted",
];
const BADLY: [&str; 8] =
    ["failed", "fails", "rejected", "refused", "declined", "denied", "unsuccessful", "unsuccessfully"];
/// Words that tell of more than one outcome.
const TURNED: [&str; 12] = [
    "until", "finally", "eventually", "after", "then", "later", "only", "but", "before", "last", "once",
    "now",
];

/// Returns whether a statement says that something was changed that no call changed: its name was given to calls that look, or
/// to none, and nobody says so.
pub(super) fn is_change_of_looked_at(sentence: &str, evidence: &Evidence) -> bool {
    let prose = spans(sentence).prose;
    let Some((verb, subject)) = deed(sentence).filter(|_| !evidence.calls.all.is_empty()) else {
        return false;
    };
    // `as compensation for the failed payments` is no part of what was done.
    let told = sentence.split_once(verb).map_or(sentence, |(before, _)| before);
    if is_negated(&prose) || is_pending(told) || is_pending(subject) {
        return false;
    }
    let names: Vec<u64> = words(subject)
        .filter(|(_, word)| is_name(word))
        .map(|(_, word)| hash(&word.to_lowercase()))
        .collect();
    let is_told = |name: &str| {
        let verb = stem(verb);
        evidence.occurrences(name).take(MOST_PLACES).any(|at| {
            evidence.clause_at(at).is_some_and(|clause| match clause.speaker {
                Speaker::User | Speaker::Account => true,
                Speaker::Assistant => {
                    verb.is_some_and(|verb| stems(evidence.sentence_of(clause)).contains(&verb))
                }
                _ => false,
            })
        })
    };
    let unchanged = |word: &str| {
        let mark = hash(&word.to_lowercase());
        evidence.calls.was_given(mark) && !evidence.calls.changed(mark) && !is_told(word)
    };
    let by_name = !names.is_empty()
        && words(subject).filter(|(_, word)| is_name(word)).all(|(_, word)| unchanged(word));
    by_name
        || is_of_tools_alone(subject, evidence)
        || is_set_to_what_was_read(sentence, verb, evidence)
        || is_deed_of_nobody(sentence, verb, subject, evidence)
}

/// `changed to 398 Sunset Drive`: what something is said to be now stands only in what those were told who looked.
fn is_set_to_what_was_read(sentence: &str, verb: &str, evidence: &Evidence) -> bool {
    let Some((_, behind)) = sentence.split_once(&format!("{verb} to ")) else { return false };
    let value = behind.split([';', '.']).next().unwrap_or_default();
    let is_value = |word: &str| {
        word.len() >= 3 && (word.bytes().all(|b| b.is_ascii_digit()) || word.starts_with(char::is_uppercase))
    };
    let read_only = |word: &str| {
        let Some(own) = stem(word) else { return false };
        let mut voices = evidence.voices(own).peekable();
        voices.peek().is_some()
            && voices.all(|clause: &Clause| clause.speaker == Speaker::Tool)
            && !evidence.calls.came_of_change(own)
    };
    words(value).filter(|(_, word)| is_value(word)).any(|(_, word)| read_only(word))
}

/// Share of what was done that must be told beside the verb by who did it.
const DONE_TO: f64 = 0.34;

/// `The assistant issued a certificate`: neither its words nor its calls have the verb beside the thing.
fn is_deed_of_nobody(sentence: &str, verb: &str, subject: &str, evidence: &Evidence) -> bool {
    let lower = sentence.to_lowercase();
    let Some(own) = stem(verb).filter(|_| lower.contains(&format!("assistant {}", verb.to_lowercase())))
    else {
        return false;
    };
    // Of a file the call that wrote to it tells more than any word.
    let mut files = subject.split_whitespace().map(trimmed).filter(|token| is_file(token)).peekable();
    if files.peek().is_some() && files.all(|file| evidence.acts.touched(file)) {
        return false;
    }
    let is_meant = |clause: &Clause| matches!(clause.speaker, Speaker::Assistant | Speaker::Call);
    evidence.told_with(&[own], &stems(subject), is_meant) < DONE_TO
}

/// Returns whether what was changed is named in words that stand only in what tools returned to those who looked.
fn is_of_tools_alone(subject: &str, evidence: &Evidence) -> bool {
    const ENDS: [&str; 8] = [" of ", " on ", " with ", " in ", " for ", " from ", " to ", ", "];
    let end = ENDS.iter().filter_map(|end| subject.find(end)).min();
    let head = &subject[..end.unwrap_or(subject.len())];
    let is_plain = |word: &str| word.len() >= 3 && word.chars().skip(1).all(char::is_lowercase);
    let own = words(head).map(|(_, word)| word).filter(|word| is_plain(word)).filter_map(stem);
    let mut own = own.peekable();
    let is_of_tools = |own: u64| {
        let mut voices = evidence.voices(own).peekable();
        // A word that nobody said may be another word for one that somebody did.
        voices.peek().is_some()
            && voices.all(|clause: &Clause| clause.speaker == Speaker::Tool)
            && !evidence.calls.came_of_change(own)
    };
    own.peek().is_some() && own.all(is_of_tools)
}

/// A name that is told from others by its digits.
fn is_name(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    digits > 0 && letters > 0 && word.len() >= 4 || digits >= 5
}

/// Occurrences of a name whose surroundings are looked at.
const MOST_PLACES: usize = 200;

/// Returns the verb of a sentence that tells of a change, and what was changed: `The address was changed`, `The assistant changed
/// the address`.
fn deed(sentence: &str) -> Option<(&str, &str)> {
    let told: Vec<(usize, &str)> = words(sentence).collect();
    for (nth, (at, word)) in told.iter().enumerate() {
        if !CHANGED.contains(&word.to_lowercase().as_str()) {
            continue;
        }
        let before = |back: usize| nth.checked_sub(back).map_or("", |nth| told[nth].1).to_lowercase();
        let is_passive = [1, 2].iter().any(|back| ["was", "were", "been"].contains(&before(*back).as_str()));
        if is_passive {
            let before = &sentence[..*at];
            let start = [", ", "; ", ": ", " and "]
                .iter()
                .filter_map(|end| before.rfind(end).map(|at| at + end.len()))
                .max();
            return Some((word, &before[start.unwrap_or(0)..]));
        }
        if before(1) == "assistant" || before(1) == "agent" {
            let behind = &sentence[at + word.len()..];
            let end = [". ", ", ", "; ", " so that ", " because ", " as "]
                .iter()
                .filter_map(|end| behind.find(end))
                .min();
            return Some((word, &behind[..end.unwrap_or(behind.len())]));
        }
    }
    None
}

const CHANGED: [&str; 24] = [
    "changed", "updated", "modified", "enabled", "disabled", "replaced", "cancelled", "canceled", "switched",
    "upgraded", "downgraded", "transferred", "moved", "rescheduled", "refunded", "activated", "deactivated",
    "renamed", "reset", "suspended", "resumed", "issued", "extended", "unlocked",
];
