//! Checks what a model said against what was said, and repairs it, without asking anybody again.
//!
//! A statement stays whole, is put right in a name's spelling, or is taken out whole: set apart as unconfirmed where the
//! conversation does not show it, struck where it may do harm. The user's rules are put into the user's own words, the
//! state of files is the ledger's. What a check cannot decide it leaves: these checks find false claims, they do not
//! prove true ones. How many of either they get right is measured in `figures.rs`.

mod acts;
mod atoms;
mod calls;
mod claims;
mod deeds;
mod denials;
mod echo;
mod evidence;
#[cfg(test)]
mod figures;
mod handles;
mod judge;
mod lexicon;
#[cfg(test)]
mod lies;
mod names;
mod numbers;
mod objects;
mod outcomes;
mod polarity;
mod records;
mod reversals;
mod siblings;
mod speakers;
mod support;
mod words;

use std::{collections::BTreeMap, fmt};

use longhaul_transcript::{CommandNote, Constraint, FileNote, FileState, Summary};

use crate::{
    Answer,
    notes::{Notes, Section, Statement},
};
pub(crate) use evidence::Evidence;
use {
    atoms::{missing, unknown},
    claims::{is_due_of, is_finished, is_from_tools_only, is_rejected, rewrite, weakens, words_of_user},
    judge::{Verdict, judge},
    names::{knows_code, knows_command, respelled},
    polarity::{is_negated, is_pending, speaks_of_change, speaks_of_removal},
    words::stems,
};

/// What the rules know for certain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger<'a> {
    /// The user's rules, verbatim.
    pub constraints: &'a [Constraint],
    /// What became of each file.
    pub files: &'a [FileNote],
}

/// Something that a check struck or changed. Holds no message text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repair {
    pub kind: RepairKind,
    /// The field of the summary.
    pub field: &'static str,
    /// How often.
    pub count: usize,
}

/// Why something was struck or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RepairKind {
    UnknownName,
    Misspelled,
    UnknownNumber,
    UnknownQuote,
    UnknownPerson,
    RuleReworded,
    RuleInvented,
    Rejected,
    Finished,
    WrongSpeaker,
    FileState,
    Planted,
    Duplicate,
    Echo,
    ForeignOrder,
    UnsaidWish,
    UndoneDeed,
    UnaskedDeed,
    Forbidden,
    OtherOutcome,
    Turned,
}

/// What was done about a statement, in words.
enum Done {
    /// It was put right: how.
    PutRight(&'static str),
    /// It was taken out: what it was, and why it is set apart, in a few words for whoever reads the summary.
    TookOut(&'static str, &'static str),
}

impl RepairKind {
    fn done(self) -> Done {
        use Done::{PutRight, TookOut};
        match self {
            RepairKind::UnknownName => TookOut("a name not found in the transcript", NOT_FOUND),
            RepairKind::UnknownNumber => TookOut("a number not found in the transcript", NOT_FOUND),
            RepairKind::UnknownQuote => TookOut("a quotation not found in the transcript", NOT_FOUND),
            RepairKind::UnknownPerson => {
                TookOut("a person, owner or date not found in the transcript", NOT_FOUND)
            }
            RepairKind::RuleInvented => TookOut("a rule that the user never gave", NOT_FOUND),
            RepairKind::Rejected => TookOut("a decision for what was rejected", "it was turned down"),
            RepairKind::Finished => TookOut("a task that is done", NOT_FOUND),
            RepairKind::WrongSpeaker => TookOut("words put into the wrong mouth", "somebody else said it"),
            RepairKind::Planted => TookOut("an instruction that only a tool's output gives", NOT_FOUND),
            RepairKind::Echo => TookOut("a repetition of the prompt", NOT_FOUND),
            RepairKind::ForeignOrder => TookOut("an order that nobody gave", NOT_FOUND),
            RepairKind::UnsaidWish => {
                TookOut("a wish that the user did not utter", "no message of the user's says so")
            }
            RepairKind::UndoneDeed => TookOut("a deed that nothing shows", "nothing shows that it was done"),
            RepairKind::UnaskedDeed => {
                TookOut("a step that nobody asked for or announced", "nobody asked for it")
            }
            RepairKind::Forbidden => TookOut("the use of what is forbidden", "it is forbidden"),
            RepairKind::OtherOutcome => {
                TookOut("an outcome that is not what calls returned", "the calls ended otherwise")
            }
            RepairKind::Turned => TookOut("the reverse of what was said", "the transcript says otherwise"),
            RepairKind::RuleReworded => PutRight("put a reworded rule back into the user's words"),
            RepairKind::Misspelled => PutRight("put a name into the source's spelling"),
            RepairKind::FileState => PutRight("put a file's state right"),
            RepairKind::Duplicate => PutRight("folded statements that say the same"),
        }
    }

    /// Returns what was wrong, as something that can be taken out; `None` where it was put right instead.
    fn fault(self) -> Option<&'static str> {
        match self.done() {
            Done::TookOut(fault, _) => Some(fault),
            Done::PutRight(_) => None,
        }
    }

    /// Returns why a statement is set apart.
    fn doubt(self) -> &'static str {
        match self.done() {
            Done::TookOut(_, doubt) => doubt,
            Done::PutRight(_) => NOT_FOUND,
        }
    }
}

/// Why a statement is set apart of which a piece is not in the source; the piece follows.
const NOT_FOUND: &str = "not found in the transcript";

/// Returns a statement with why it is set apart, as the summary shows it: `… [not found in the transcript: 137]`.
fn doubted(statement: &str, kind: RepairKind, evidence: &Evidence) -> String {
    let piece = match kind.doubt() {
        NOT_FOUND => missing(statement, &handles::cited(statement), evidence).map(|(_, piece)| piece),
        _ => None,
    };
    match piece.filter(|piece| !piece.is_empty()) {
        Some(piece) => format!("{statement} [{NOT_FOUND}: {piece}]"),
        None => format!("{statement} [{}]", kind.doubt()),
    }
}

/// Returns a statement that was set apart without why.
fn without_doubt(shown: &str) -> &str {
    shown.rsplit_once(" [").filter(|(_, why)| why.ends_with(']')).map_or(shown, |(statement, _)| statement)
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.field)?;
        match self.kind.done() {
            Done::TookOut(fault, _) => write!(f, "took out {fault}")?,
            Done::PutRight(how) => f.write_str(how)?,
        }
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} times)"),
        }
    }
}

/// How many statements were checked, and what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub statements: usize,
    /// Struck.
    pub gone: usize,
    /// Set apart as unconfirmed.
    pub unconfirmed: usize,
}

/// Returns what was done to a model's words: how many statements were taken out, of which the summary tells so many apart, and why; empty
/// where none was touched.
pub(crate) fn report(tally: Tally, told_apart: usize, repairs: &[Repair]) -> Vec<String> {
    let Tally { statements, gone, unconfirmed } = tally;
    let mut lines = Vec::new();
    if gone + unconfirmed > 0 {
        let apart = match told_apart {
            0 => String::new(),
            n => format!(", {n} of these set apart as not shown by the transcript"),
        };
        lines.push(format!("{} of {statements} statements taken out{apart}", gone + unconfirmed));
    }
    lines.extend(repairs.iter().map(ToString::to_string));
    lines
}

/// Returns what of a model's statements holds, what is set apart, and what was done.
pub(crate) fn ground_notes(
    notes: Notes,
    is_checked: impl Fn(&Statement) -> bool,
    evidence: &Evidence,
    ledger: &Ledger<'_>,
) -> (Notes, Vec<String>, Vec<Repair>, Tally) {
    let mut check = Check::new(evidence, ledger);
    let mut kept = Notes::default();
    let mut apart = notes.unconfirmed;
    for mut statement in notes.statements {
        let field = statement.section.heading();
        let known = |earlier: &Statement| earlier.text.eq_ignore_ascii_case(&statement.text);
        if statement.text.len() >= LEAST_REPEATED && kept.statements.iter().any(known) {
            check.note(RepairKind::Duplicate, field);
            continue;
        }
        // What was checked when it was first said is not checked again: its source may be gone.
        if is_checked(&statement) {
            kept.statements.push(statement);
        } else if let Some(text) = check.statement(field, &statement.text, Some(statement.section)) {
            statement.text = text;
            kept.statements.push(statement);
        }
    }
    let Check { repairs, unconfirmed, tally, .. } = check;
    // What a model says again is told once, and what it has confirmed by now not at all.
    let is_again = |text: &str| unconfirmed.iter().any(|now| without_doubt(now) == without_doubt(text));
    let is_confirmed = |text: &str| kept.statements.iter().any(|now| now.text == without_doubt(text));
    apart.retain(|text| !is_again(text) && !is_confirmed(text));
    apart.extend(unconfirmed);
    (kept, apart, listed(repairs), tally)
}

/// Returns what of a line of somebody's own the conversation does not show, in words; `None` where nothing speaks against it.
/// `rules` are those of [`Evidence::rules`].
pub(crate) fn doubts(line: &str, evidence: &Evidence, rules: &[Constraint]) -> Option<&'static str> {
    let line = line.trim_start_matches(['-', '*', '#', ' ']);
    match judge(line, None, evidence, rules) {
        Verdict::Stays => None,
        Verdict::Unconfirmed(kind) | Verdict::Goes(kind) => {
            Some(kind.fault().unwrap_or("a rule of the user's in other words"))
        }
    }
}

/// Of fewer words of its own an error says too little to be looked for.
const LEAST_OF_ERROR: usize = 3;
const HALF: f64 = 0.5;

/// Shorter statements may well be said twice.
const LEAST_REPEATED: usize = 24;

fn listed(repairs: BTreeMap<(&'static str, RepairKind), usize>) -> Vec<Repair> {
    repairs.into_iter().map(|((field, kind), count)| Repair { kind, field, count }).collect()
}

/// Returns what of `answer` holds, what was done to it, and to how many statements.
pub(crate) fn ground(
    answer: Answer,
    evidence: &Evidence,
    ledger: &Ledger<'_>,
) -> (Summary, Vec<Repair>, Tally) {
    let mut check = Check::new(evidence, ledger);
    let summary = Summary {
        narrative: check.prose("narrative", &answer.narrative),
        key_points: check.list("key_points", answer.key_points, Check::sentence),
        participants: check.list("participants", answer.participants, Check::person),
        decisions: check.list("decisions", answer.decisions, Check::decision),
        action_items: {
            let items = answer.action_items.into_iter().filter_map(|mut item| {
                item.task = check.task("action_items", &item.task)?;
                let owned = item.owner.is_empty() || check.evidence.quotes(&item.owner);
                let dated = item.due.is_empty() || is_due_of(&item.due, &item.task, check.evidence);
                item.owner = match owned {
                    true => check.with_spelling("action_items", &item.owner),
                    false => String::new(),
                };
                if !dated {
                    item.due.clear();
                }
                if !owned || !dated {
                    check.note(RepairKind::UnknownPerson, "action_items");
                }
                Some(item.into())
            });
            let items: Vec<_> = items.collect();
            check.fold("action_items", items, |item: &longhaul_transcript::ActionItem| &item.task)
        },
        unresolved: check.list("unresolved", answer.unresolved, Check::sentence),
        domain_entities: check.list("domain_entities", answer.domain_entities, Check::entity),
        files: answer.files.into_iter().filter_map(|file| check.file(file)).collect(),
        commands: {
            let commands = answer.commands.into_iter().filter_map(|command| {
                if !knows_command(&command.command, check.evidence) {
                    check.note(RepairKind::UnknownName, "commands");
                    return None;
                }
                let note = check.sentence("commands", &command.note).unwrap_or_default();
                Some(CommandNote { command: command.command, note, ..CommandNote::default() })
            });
            commands.collect()
        },
        errors: {
            let errors = answer.errors.into_iter().filter_map(|mut error| {
                error.error = check.error("errors", &error.error)?;
                error.resolution = check.sentence("errors", &error.resolution).unwrap_or_default();
                Some(error.into())
            });
            errors.collect()
        },
        tools_used: Vec::new(),
        constraints: check.rules(answer.constraints),
        goal: check.sentence("goal", &answer.goal).unwrap_or_default(),
        current_focus: check.focus(&answer.current_focus),
        ..Summary::default()
    };
    let Check { repairs, unconfirmed, tally, .. } = check;
    (Summary { unconfirmed, ..summary }, listed(repairs), tally)
}

struct Check<'a> {
    evidence: &'a Evidence,
    ledger: &'a Ledger<'a>,
    /// The user's rules.
    rules: Vec<Constraint>,
    repairs: BTreeMap<(&'static str, RepairKind), usize>,
    unconfirmed: Vec<String>,
    tally: Tally,
}

impl<'a> Check<'a> {
    fn new(evidence: &'a Evidence, ledger: &'a Ledger<'a>) -> Check<'a> {
        // Rules that the ledger does not know are still not to be softened.
        let rules = ledger.constraints.iter().cloned().chain(evidence.rules()).collect();
        let (repairs, unconfirmed, tally) = (BTreeMap::new(), Vec::new(), Tally::default());
        Check { evidence, ledger, rules, repairs, unconfirmed, tally }
    }

    /// Returns a statement as it stays, in the source's spelling of names, or nothing where it is taken out.
    fn statement(
        &mut self,
        field: &'static str,
        statement: &str,
        section: Option<Section>,
    ) -> Option<String> {
        self.tally.statements += 1;
        match judge(statement, section, self.evidence, &self.rules) {
            Verdict::Stays => Some(self.with_spelling(field, statement)),
            Verdict::Unconfirmed(kind) => {
                self.note(kind, field);
                self.tally.unconfirmed += 1;
                self.unconfirmed.push(doubted(statement.trim(), kind, self.evidence));
                None
            }
            Verdict::Goes(kind) => self.strike(kind, field),
        }
    }

    fn strike<T>(&mut self, kind: RepairKind, field: &'static str) -> Option<T> {
        self.note(kind, field);
        self.tally.gone += 1;
        None
    }

    fn note(&mut self, kind: RepairKind, field: &'static str) {
        *self.repairs.entry((field, kind)).or_default() += 1;
    }

    /// Returns the sentences of `text` that hold.
    fn prose(&mut self, field: &'static str, text: &str) -> String {
        let mut said: Vec<Vec<u64>> = Vec::new();
        rewrite(text, |sentence| {
            let kept = self.sentence(field, sentence)?;
            let stems = stems(&kept);
            if stems.len() >= 3 && said.iter().any(|earlier| is_said_in(&stems, earlier)) {
                self.note(RepairKind::Duplicate, field);
                return None;
            }
            said.push(stems);
            Some(kept)
        })
    }

    /// Returns what of a sentence holds: all, other words for it, or nothing.
    fn sentence(&mut self, field: &'static str, sentence: &str) -> Option<String> {
        let sentence = sentence.trim();
        if sentence.is_empty() {
            return None;
        }
        if let Some(rule) = self.rules.iter().find(|rule| weakens(sentence, &rule.text)) {
            let words = format!("The user: \"{}\"", rule.text.trim());
            self.note(RepairKind::RuleReworded, field);
            self.tally.statements += 1;
            return Some(words);
        }
        let section = (field == "action_items").then_some(Section::Next);
        let sentence = self.statement(field, sentence, section)?;
        Some(self.with_file_states(field, &sentence))
    }

    fn with_spelling(&mut self, field: &'static str, text: &str) -> String {
        let Some(text) = respelled(text, self.evidence) else { return text.to_owned() };
        self.note(RepairKind::Misspelled, field);
        text
    }

    /// Adds what became of a file to a sentence that speaks of it as if it were there.
    fn with_file_states(&mut self, field: &'static str, sentence: &str) -> String {
        if !speaks_of_change(sentence) || speaks_of_removal(sentence) {
            return sentence.to_owned();
        }
        let gone =
            self.ledger.files.iter().find(|file| is_gone(file.state) && mentions(sentence, &file.path));
        let Some(file) = gone else { return sentence.to_owned() };
        self.note(RepairKind::FileState, field);
        let state = file.state.as_str();
        match sentence.strip_suffix('.') {
            Some(sentence) => format!("{sentence} (later {state})."),
            None => format!("{sentence} (later {state})"),
        }
    }

    fn decision(&mut self, field: &'static str, decision: &str) -> Option<String> {
        if is_rejected(decision, self.evidence) {
            self.tally.statements += 1;
            return self.strike(RepairKind::Rejected, field);
        }
        if is_from_tools_only(decision, self.evidence) {
            self.tally.statements += 1;
            return self.strike(RepairKind::Planted, field);
        }
        self.sentence(field, decision)
    }

    /// Returns an error, which is told in its own words: where one stands nowhere, and not even half of them together, nobody met it.
    fn error(&mut self, field: &'static str, error: &str) -> Option<String> {
        let stems = stems(error);
        let is_unknown = |stem: &u64| self.evidence.voices(*stem).next().is_none();
        if stems.len() >= LEAST_OF_ERROR
            && stems.iter().any(is_unknown)
            && self.evidence.sentence_matches(&stems, HALF).is_empty()
        {
            self.tally.statements += 1;
            return self.strike(RepairKind::UnknownQuote, field);
        }
        self.sentence(field, error)
    }

    fn task(&mut self, field: &'static str, task: &str) -> Option<String> {
        let kind = if is_finished(task, self.evidence) {
            RepairKind::Finished
        } else if is_rejected(task, self.evidence) {
            RepairKind::Rejected
        } else if is_from_tools_only(task, self.evidence) {
            RepairKind::Planted
        } else {
            let gone = self.ledger.files.iter().any(|file| is_gone(file.state) && mentions(task, &file.path));
            if !gone || speaks_of_removal(task) || is_negated(task) {
                return self.sentence(field, task);
            }
            RepairKind::FileState
        };
        self.tally.statements += 1;
        self.strike(kind, field)
    }

    fn focus(&mut self, focus: &str) -> String {
        rewrite(focus, |sentence| match is_pending(sentence) {
            true => self.task("current_focus", sentence),
            false => self.sentence("current_focus", sentence),
        })
    }

    fn person(&mut self, field: &'static str, name: &str) -> Option<String> {
        let role = ["user", "assistant", "system", "tool"].contains(&name.to_lowercase().as_str());
        if role || self.evidence.quotes(name) {
            return Some(self.with_spelling(field, name));
        }
        self.note(RepairKind::UnknownPerson, field);
        None
    }

    fn entity(&mut self, field: &'static str, entity: &str) -> Option<String> {
        if knows_code(entity, self.evidence) || self.evidence.quotes(entity) {
            return Some(self.with_spelling(field, entity));
        }
        self.note(RepairKind::UnknownName, field);
        None
    }

    /// Returns a file with the ledger's state; one that the ledger does not have was at most looked at.
    fn file(&mut self, file: crate::AnswerFile) -> Option<FileNote> {
        if !knows_code(&file.path, self.evidence) {
            self.note(RepairKind::UnknownName, "files");
            return None;
        }
        let note = match file.note.is_empty() || unknown(&file.note, &[], self.evidence).is_some() {
            true => String::new(),
            false => file.note,
        };
        let known = self.ledger.files.iter().find(|known| is_same_path(&known.path, &file.path));
        let state = known.map_or(FileState::Read, |known| known.state);
        if state.as_str() != file.state.trim().to_lowercase() {
            self.note(RepairKind::FileState, "files");
        }
        let path = known.map_or_else(|| FileNote::spelled(&file.path), |known| known.path.clone());
        Some(FileNote { path, state, note })
    }

    /// Returns the rules in the user's words: each as the ledger or the message has it, never as the model has it.
    fn rules(&mut self, rules: Vec<String>) -> Vec<Constraint> {
        let mut out: Vec<Constraint> = Vec::new();
        for rule in rules {
            let in_ledger = self
                .ledger
                .constraints
                .iter()
                .find(|known| known.text.contains(rule.trim()) || is_restated(&rule, &known.text));
            let words = match in_ledger {
                Some(known) => Some(known.clone()),
                None => words_of_user(&rule, self.evidence).map(|(text, message)| Constraint {
                    text: text.to_owned(),
                    message,
                    ..Constraint::default()
                }),
            };
            let Some(words) = words else {
                self.note(RepairKind::RuleInvented, "constraints");
                continue;
            };
            if words.text.trim() != rule.trim() && !words.text.contains(rule.trim()) {
                self.note(RepairKind::RuleReworded, "constraints");
            }
            if !out.contains(&words) {
                out.push(words);
            }
        }
        out
    }

    fn list(
        &mut self,
        field: &'static str,
        entries: Vec<String>,
        check: fn(&mut Self, &'static str, &str) -> Option<String>,
    ) -> Vec<String> {
        let kept: Vec<String> = entries.iter().filter_map(|entry| check(self, field, entry.trim())).collect();
        self.fold(field, kept, |entry| entry)
    }

    /// Keeps the first of entries that say the same.
    fn fold<T>(&mut self, field: &'static str, entries: Vec<T>, text: fn(&T) -> &String) -> Vec<T> {
        let mut seen: Vec<(String, Vec<u64>)> = Vec::new();
        let mut out = Vec::new();
        for entry in entries {
            let (plain, stems) = (text(&entry).trim().to_lowercase(), stems(text(&entry)));
            let known = seen
                .iter()
                .any(|(text, known)| *text == plain || (stems.len() >= 3 && is_said_in(&stems, known)));
            if known {
                self.note(RepairKind::Duplicate, field);
                continue;
            }
            seen.push((plain, stems));
            out.push(entry);
        }
        out
    }
}

/// Returns whether a statement with the content words `stems` adds none to an earlier one.
fn is_said_in(stems: &[u64], earlier: &[u64]) -> bool {
    stems.iter().all(|stem| earlier.contains(stem)) && stems.len() * 5 >= earlier.len() * 4
}

fn is_restated(rule: &str, known: &str) -> bool {
    let (wanted, said) = (stems(known), stems(rule));
    let shared = wanted.iter().filter(|stem| said.contains(stem)).count();
    !wanted.is_empty() && shared * 2 >= wanted.len()
}

fn is_gone(state: FileState) -> bool {
    matches!(state, FileState::Deleted | FileState::Renamed | FileState::Reverted)
}

fn is_same_path(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    !other.is_empty() && (ends(one, other) || ends(other, one))
}

/// Returns whether a sentence names a file, by its path or by its name.
fn mentions(sentence: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.is_empty()
        && sentence.match_indices(name).any(|(at, _)| {
            let before = sentence[..at].chars().next_back();
            let after = sentence[at + name.len()..].chars().next();
            !before.is_some_and(words::is_word_char) && !after.is_some_and(words::is_word_char)
        })
}
