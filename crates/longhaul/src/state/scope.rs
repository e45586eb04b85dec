//! What a compaction reads: what is new, some windows of what came before, and quotations of what lies further back.
//!
//! However long a conversation is, a compaction costs about the same. What lies beyond its reach lives on in three ways:
//! the fact index has read it, so that its names still compete for the summary; the record of the last summary states
//! constraints, goal and files; and the messages behind the best of these facts are quoted from the originals, not from a
//! summary's prose.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use longhaul_extract::{DefaultRanker, RankContext, Ranker};
use longhaul_summarize::rules;
use longhaul_transcript::{
    Covered, Entry, Message, MessageId, Part, Role, SummaryMode, SummaryRecord, Tokens, Units,
};

use super::{ContextState, Shown};
use crate::{config::Chaining, policy::Action};

/// What a compaction reads, and what stays in front of it.
pub(super) struct Scope {
    /// From this ordinal on all messages are read.
    pub(super) start: u64,
    /// Messages before it that are quoted once more, texts only, oldest first.
    pub(super) quoted: Vec<Entry>,
    /// What stands before it in the new view and is not the engine's to plan.
    pub(super) carried: Tokens,
    /// The summary covers what no summary before it did.
    pub(super) reads_new_only: bool,
    /// The summary that the new one folds in or continues.
    pub(super) previous: Option<Arc<SummaryRecord>>,
    /// The summary is made anew from originals, as far as they are read.
    pub(super) is_rebuilt: bool,
    /// Where the summaries begin that the new one replaces.
    pub(super) replaces_from: Option<u64>,
    /// Messages before `start` that the view shows and the new one does not.
    pub(super) let_go: Vec<Covered>,
}

/// How many windows of messages are read again where a summary covers them. Eight are what a window holds several times
/// over: each compaction of eight in a row still reads every message from the original.
const REREAD_WINDOWS: f64 = 8.0;

/// How many windows of older messages are quoted; a summary is at most a tenth of a window.
const QUOTED_WINDOWS: f64 = 1.0;

/// A model may be shown so many transcripts' caps; it is given twice as much to choose from.
const MODEL_PASSES: f64 = 8.0;

/// More messages than any exchange has: a call, and the results of calls made in parallel.
const LONGEST_EXCHANGE: u64 = 512;

/// The task is among the first messages.
const TASK_WITHIN: u64 = 64;

impl ContextState {
    /// Returns what a compaction reads, and what stays in front of it.
    pub(super) fn scope(&self, action: Action) -> Scope {
        let previous = self.summary().cloned();
        let is_apart = self.config.chaining != Chaining::Fold;
        if is_apart
            && previous.is_some()
            && !action.is_rebuild()
            && let Some(scope) = self.scope_of_new(previous.clone())
        {
            return scope;
        }
        let start = if previous.is_some() { self.reach() } else { 0 };
        let is_whole = start <= self.head_len() && !(self.config.delete_originals && previous.is_some());
        if is_whole {
            // All originals are at hand: a rebuilt summary needs no earlier one, nor does one that replaces several.
            let previous = previous.filter(|_| !action.is_rebuild() && !is_apart);
            return Scope { previous, ..Scope::of_all() };
        }
        Scope {
            start,
            quoted: self.quoted(start, &self.telling_before(start)),
            carried: self.head_tokens() + self.pinned_before(start),
            is_rebuilt: action.is_rebuild() || is_apart,
            replaces_from: self.view().summaries().map(|record| record.covers.start).min(),
            let_go: self.shown_messages_before(start).collect(),
            previous,
            ..Scope::of_all()
        }
    }

    /// Returns the scope of a summary of its own for what no summary covers; `None` where those before it take too much
    /// room: summaries side by side add up, and once they take half of the target they are replaced by one.
    fn scope_of_new(&self, previous: Option<Arc<SummaryRecord>>) -> Option<Scope> {
        let is_running = self.config.chaining == Chaining::Running;
        let start = self.unit_start(self.uncovered);
        let mut carried = self.cost_of(&self.shown[..self.shown_before(start)]);
        if is_running {
            carried -= self.summary_tokens;
        }
        let previous = previous.filter(|_| is_running);
        // A running summary goes on from its last version, which has told of the rest.
        let quoted = if is_running { self.quoted(start, &[]) } else { Vec::new() };
        let replaces_from = previous.as_ref().map(|record| record.covers.start);
        (carried <= self.scale().countable(self.limits().target).scaled(0.5)).then(|| Scope {
            start,
            quoted,
            carried,
            reads_new_only: true,
            previous,
            replaces_from,
            ..Scope::of_all()
        })
    }

    /// Returns the ordinal from which on a compaction reads all messages: those that no summary covers, and the newest of
    /// the others.
    fn reach(&self) -> u64 {
        let by_window = self.window().scaled(REREAD_WINDOWS);
        let most = match self.config.mode {
            SummaryMode::Rules => by_window,
            _ => {
                let cap = self.config.transcript_cap_tokens.unwrap_or_default();
                by_window.max(cap.scaled(MODEL_PASSES))
            }
        };
        if self.config.delete_originals {
            return self.unit_start(self.uncovered);
        }
        let mut read = Tokens::ZERO;
        let newest = self.costs.iter().rev().take_while(|cost| {
            read += **cost;
            read <= most
        });
        let start = (self.costs.len() - newest.count()) as u64;
        self.unit_start(start.min(self.uncovered))
    }

    /// Returns the first ordinal of the unit that the message with this ordinal is part of: no exchange is cut in two,
    /// even one that was open when a summary was made.
    fn unit_start(&self, ordinal: u64) -> u64 {
        let from = ordinal.saturating_sub(LONGEST_EXCHANGE);
        let near = self.entries_from(from);
        let near = near.get(..(2 * LONGEST_EXCHANGE as usize).min(near.len())).unwrap_or_default();
        let inside = Units::new(near).map(|unit| unit.span()).find(|span| span.contains(ordinal));
        inside.map_or(ordinal, |span| span.start)
    }

    /// Returns what is worth quoting of the messages before `start`: the task, what the view shows, where constraints were
    /// stated, and then the `telling` ones, as far as there is room.
    fn quoted(&self, start: u64, telling: &[u64]) -> Vec<Entry> {
        if self.config.delete_originals {
            return self.summaries_as_entries(start);
        }
        let mut left = self.window().scaled(QUOTED_WINDOWS);
        let mut chosen = BTreeSet::new();
        let firsts = self.entries_from(0).get(..(TASK_WITHIN.min(start)) as usize).unwrap_or_default();
        let task = rules::task(firsts).map(|(entry, _)| entry.id.ordinal);
        let shown = self.shown_messages_before(start).map(|covered| covered.ordinal);
        let constraints = self.view().summaries().flat_map(|record| &record.summary.constraints);
        let constraints = constraints.map(|constraint| constraint.message).filter(|at| *at < start);
        for ordinal in task.into_iter().chain(shown).chain(constraints).chain(telling.iter().copied()) {
            let cost = self.cost(ordinal);
            if cost <= left && chosen.insert(ordinal) {
                left -= cost;
            }
        }
        let originals = self.transcript.entries();
        let entry = |ordinal: u64| originals.get(ordinal as usize).map(|entry| self.clean_entry(entry));
        chosen.into_iter().filter_map(entry).filter_map(quotation).collect()
    }

    /// Returns the summaries in the view, each as what the assistant said last of what it covers: where originals are
    /// deleted, they are all that is left.
    fn summaries_as_entries(&self, before: u64) -> Vec<Entry> {
        let entry = |record: &Arc<SummaryRecord>| {
            let last = record.covers.end.min(before).checked_sub(1)?;
            let last = self.transcript.entries().get(last as usize)?;
            Some(Entry { message: Arc::new(Message::assistant(record.text.clone())), ..last.clone() })
        };
        self.view().summaries().filter_map(entry).collect()
    }

    /// Reads the facts of the summaries in the view, for a conversation whose originals are gone.
    pub(crate) fn read_summaries(&mut self) {
        let summaries = self.summaries_as_entries(u64::MAX);
        let index = Arc::make_mut(&mut self.index);
        summaries.iter().for_each(|entry| index.push(entry));
    }

    /// Returns the messages before `start` that facts stand in which nothing later mentions, by the value of these facts
    /// for each token.
    fn telling_before(&self, start: u64) -> Vec<u64> {
        let (ranker, context) = (DefaultRanker::default(), RankContext::of(&self.index));
        let mut values: BTreeMap<u64, f64> = BTreeMap::new();
        for fact in self.index.facts().iter().filter(|fact| u64::from(fact.last_message) < start) {
            let value = ranker.value(fact, &context);
            if value > 0.0 {
                *values.entry(u64::from(fact.last_message)).or_default() += value;
            }
        }
        let for_each_token =
            |(ordinal, value): (u64, f64)| (value / self.cost(ordinal).0.max(1) as f64, ordinal);
        let mut best: Vec<(f64, u64)> = values.into_iter().map(for_each_token).collect();
        best.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        best.into_iter().map(|(_, ordinal)| ordinal).collect()
    }

    /// Returns whether no compaction takes this out of the view: a pin, or the newest request.
    pub(super) fn is_pinned(&self, shown: &Shown) -> bool {
        let is_request = |id: &MessageId| self.request == Some(id.ordinal);
        match shown {
            Shown::Message { id, .. } if is_request(id) => true,
            _ => self.config.preserve_system && shown.is_instruction(),
        }
    }

    /// Returns what such messages before `start` cost, those at the head of the view apart.
    fn pinned_before(&self, start: u64) -> Tokens {
        let request = self.request.iter().filter(|ordinal| !self.pinned.contains(ordinal));
        let before = self.pinned.iter().chain(request).filter(|ordinal| **ordinal < start);
        before.map(|ordinal| self.ledger.get(*ordinal).unwrap_or_default()).sum()
    }

    /// Returns the messages before `start` that the view shows, pins apart.
    fn shown_messages_before(&self, start: u64) -> impl Iterator<Item = Covered> + '_ {
        self.shown.iter().filter(|shown| !self.is_pinned(shown)).filter_map(move |shown| match shown {
            Shown::Message { id, .. } if id.ordinal < start => {
                Some(Covered { ordinal: id.ordinal, sha256: id.hash })
            }
            _ => None,
        })
    }
}

impl Scope {
    /// Returns the scope of a summary of everything.
    fn of_all() -> Scope {
        Scope {
            start: 0,
            quoted: Vec::new(),
            carried: Tokens::ZERO,
            reads_new_only: false,
            previous: None,
            is_rebuilt: false,
            replaces_from: None,
            let_go: Vec::new(),
        }
    }
}

/// Returns the texts of `entry`, of tool results as well; `None` where it has none. Calls are left out: a quotation says
/// what was said, not what state the work is in, which later messages changed.
fn quotation(entry: Entry) -> Option<Entry> {
    let message = &entry.message;
    let mut parts: Vec<Part> = Vec::new();
    let mut role = message.role;
    for part in &message.parts {
        match part {
            Part::Text(_) => parts.push(part.clone()),
            Part::ToolResult(result) => {
                role = Role::Tool;
                parts.extend(result.content.iter().filter(|part| matches!(part, Part::Text(_))).cloned());
            }
            _ => {}
        }
    }
    let message = Message { role, parts, raw: None, ..(**message).clone() };
    (!message.parts.is_empty() && !message.is_system()).then(|| Entry { message: Arc::new(message), ..entry })
}
