//! Changing the view: applying what a job came to, undoing and redoing it.

use std::{collections::BTreeSet, sync::Arc};

use longhaul_tokens::ClassCounts;
use longhaul_transcript::{CallId, Message, Part, SummaryRecord, Tokens, Units};
use serde::{Deserialize, Serialize};

use super::{
    Finished, Job, SessionState, Shown,
    calibrated::classes,
    items::Placed,
    snapshot::{Shape, shapes},
};
use crate::{
    compact::{Cut, Kept, Outcome, standing},
    config::Chaining,
    policy::{Action, Measurement, Reason},
};

/// What a rewrite of the view came to.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// What was done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The new summary, where one was made.
    pub record: Option<Arc<SummaryRecord>>,
    /// The newest request of the user, where it had to be cut: it does not fit with what else must stay.
    pub cut: Option<Cut>,
    /// What became of the messages.
    pub outcome: Outcome,
}

/// A rewrite was not applied. The view and the policy's memory are as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The view was rewritten since the job was planned, or its messages are not those of this conversation.
    #[error("the context was rewritten since this compaction was planned")]
    Stale,
    /// The new view would not cost less than the old one.
    #[error(
        "the context would cost {after:#} tokens after the rewrite, which is not less than the {before:#} it costs now"
    )]
    NoGain {
        /// What the view costs now.
        before: Tokens,
        /// What it would cost.
        after: Tokens,
    },
    /// The new view would still not fit the hard limit.
    #[error("the context would cost {after:#} tokens after the rewrite, over the budget of {budget:#}")]
    OverBudget {
        /// What it would cost.
        after: Tokens,
        /// The hard limit.
        budget: Tokens,
    },
}

/// A view that was, to be shown again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(super) shapes: Vec<Shape>,
    /// Messages pushed by then; what came later follows in any view.
    pub(super) n_total: u64,
    /// Messages pushed when it was made.
    pub(super) made_at: u64,
    /// The request that had to be cut in it.
    #[serde(default)]
    pub(super) cut: Option<Cut>,
    /// How many views could be shown again by a redo when what came after it was made. Room that a request needed after an
    /// undo is made in place of what was undone, and given up where that is done again.
    #[serde(default)]
    pub(super) instead_of: usize,
}

/// How many rewrites can be undone.
const MAX_UNDO: usize = 16;

impl SessionState {
    /// Applies a finished compaction: head, summary, tail, and then whatever was pushed since it was planned.
    ///
    /// # Errors
    /// When the view was rewritten since, when it would not become smaller, or when it would not fit. The state is then
    /// as it was; tell it with [`failed`](Self::failed) that the attempt is over.
    pub fn apply(&mut self, finished: Finished) -> Result<Rewrite, RewriteError> {
        let mut shown = self.rewritten(&finished)?;
        let Finished { job, compacted, .. } = finished;
        // What the plan counted is the new summary and the tail; other summaries may stand beside them.
        let after = self.likely_price_of(self.weigh(&mut shown));
        for (shown, _) in &mut shown {
            if let Shown::Summary { record, .. } = shown
                && record.id == compacted.record.id
            {
                let record = Arc::make_mut(record);
                (record.tokens_before, record.tokens_after) = (self.likely_tokens(), after);
            }
        }
        let may_grow = job.owes_nothing;
        let (tokens_before, tokens_after) =
            self.replace_view(shown, (job.action, job.reason), &job.before, may_grow)?;
        self.n_summaries += 1;
        self.cut = compacted.cut;
        self.untold.extend(job.changed.untold());
        if self.index.is_none() || !job.changed.untold().is_empty() {
            // It was read anew for the job; what was said since is not in it.
            let mut index = job.index;
            let since = self.entries_from(job.through.ordinal + 1);
            since.iter().for_each(|entry| Arc::make_mut(&mut index).push(entry));
            self.index = Some(index);
        }
        let outcome = Outcome { tokens_before, tokens_after, ..compacted.outcome };
        Ok(Rewrite {
            action: job.action,
            reason: job.reason,
            record: self.summary().cloned(),
            cut: compacted.cut,
            outcome,
        })
    }

    /// Returns what the view is expected to cost if [`apply`](Self::apply) were called, for whoever asks before it is done: as
    /// [`likely_tokens`](Self::likely_tokens) does of the view that is.
    ///
    /// # Errors
    /// Those of `apply`.
    pub fn check(&self, finished: &Finished) -> Result<Tokens, RewriteError> {
        let counts = self.weigh(&mut self.rewritten(finished)?);
        self.check_gain(counts, finished.job.action, finished.job.owes_nothing)?;
        Ok(self.likely_price_of(counts))
    }

    /// Returns whether the view was rewritten since a compaction was planned, or its messages are not those of this
    /// conversation.
    pub(crate) fn is_stale(&self, job: &Job) -> bool {
        let through = job.through.ordinal;
        let is_same_line = through < self.n_total() && self.originals.lineage(through) == job.lineage;
        job.rewrites != self.rewrites || !is_same_line
    }

    /// Returns the view that a finished compaction makes.
    fn rewritten(&self, finished: &Finished) -> Result<Vec<Counted>, RewriteError> {
        if self.is_stale(&finished.job) {
            return Err(RewriteError::Stale);
        }
        let Finished { job, compacted, .. } = finished;
        let keeps_head = self.config.preserve_system || job.reads_new_only;
        let head = match keeps_head {
            true => self.items.placed().take_while(|placed| placed.shown.is_instruction()).count(),
            false => 0,
        };
        let mut shown: Vec<Counted> = self.items.placed().take(head).map(counted).collect();
        shown.extend(
            self.items.placed().filter(|placed| matches!(placed.shown, Shown::Block { .. })).map(counted),
        );
        let before = self.items.placed().take(self.items.before(job.start)).skip(head);
        let before = before.filter(|placed| !matches!(placed.shown, Shown::Block { .. }));
        let carried = before.filter(|placed| job.reads_new_only || self.stays(&placed.shown)).map(counted);
        let summary = (Shown::summary(Arc::new(compacted.record.clone()), self.config.summary_role), None);
        if self.config.chaining == Chaining::Append {
            shown.extend(carried);
            shown.push(summary);
        } else {
            // What the earlier summary kept back follows the one that takes its place.
            shown.push(summary);
            shown.extend(carried.filter(|(shown, _)| !matches!(shown, Shown::Summary { .. })));
        }
        // The engine saw messages without their secrets; one that stays verbatim is shown as it was said.
        shown.extend(compacted.tail.iter().map(|kept| match self.whole(kept.id.ordinal) {
            Some(whole) if !kept.digested => (whole, self.known_counts(kept.id.ordinal)),
            Some(whole) => (tied_as(of_kept(kept.clone()), whole.message()), None),
            None => (of_kept(kept.clone()), None),
        }));
        let later = self.items.placed().skip(self.items.before(job.through.ordinal + 1));
        shown.extend(later.map(counted));
        Ok(self.with_pins(shown))
    }

    /// Returns the counts of a message that the view shows as it was said.
    pub(super) fn known_counts(&self, ordinal: u64) -> Option<ClassCounts> {
        let placed = self.items.get(ordinal)?;
        matches!(placed.shown, Shown::Message { digested: false, .. }).then_some(placed.counts)
    }

    /// Counts those of these elements that are not counted yet, and returns what all add up to.
    pub(super) fn weigh(&self, shown: &mut [Counted]) -> ClassCounts {
        let counts = shown
            .iter_mut()
            .map(|(shown, counts)| *counts.get_or_insert_with(|| classes(&*self.counter, shown.message())));
        counts.fold(ClassCounts::default(), |sum, counts| sum + counts)
    }

    /// Returns what a view with these counts would cost at most, where it is a gain, or where it may grow fits.
    fn check_gain(
        &self,
        counts: ClassCounts,
        action: Action,
        may_grow: bool,
    ) -> Result<Tokens, RewriteError> {
        let (before, after, budget) = (self.tokens(), self.price_of(counts), self.budget());
        // What was reported of the view that is says nothing of the new one: like is compared with like.
        let now = self.items.sums().counts;
        let helps = (after < before || after < self.price_of(now)) && counts.total() < now.total();
        match action {
            _ if may_grow && self.known_price_of(counts) <= budget => Ok(after),
            _ if !helps => {
                let after = self.likely_price_of(counts);
                Err(RewriteError::NoGain { before: self.likely_tokens(), after })
            }
            Action::Emergency { .. } if self.known_price_of(counts) > budget => {
                Err(RewriteError::OverBudget { after, budget })
            }
            _ => Ok(after),
        }
    }

    /// Shows summaries that a store holds without a snapshot of the view they stand in: standing instructions, the last
    /// record of the chain (all of them where each covers a range of its own), and every exchange and message that they do
    /// not cover whole. Push the conversation's messages first. `chain` is oldest first, as a store returns it.
    pub fn adopt(&mut self, chain: Vec<SummaryRecord>) {
        self.n_summaries = self.n_summaries.max(chain.len() as u64);
        let skipped = match self.config.chaining {
            Chaining::Fold | Chaining::Running => chain.len().saturating_sub(1),
            Chaining::Append => 0,
        };
        let records: Vec<SummaryRecord> = chain.into_iter().skip(skipped).collect();
        let Some(last) = records.last() else { return };
        let covered: BTreeSet<u64> =
            records.iter().flat_map(|record| &record.covered).map(|covered| covered.ordinal).collect();
        // A record lists what it took out of the view itself and what it kept. What else lies before its end was taken
        // out by its parents, which a record that keeps all messages apart does not have.
        let end = last.kept.last().map_or(0, |kept| kept.end).max(last.covers.end);
        let is_own = |ordinal: u64| skipped == 0 || last.kept.iter().any(|kept| kept.contains(ordinal));
        let is_there = |ordinal: &u64| !self.out().contains(*ordinal);
        let is_left = |ordinal: u64| {
            !covered.contains(&ordinal) && (ordinal >= end || is_own(ordinal)) && is_there(&ordinal)
        };
        let entries = self.originals.entries();
        let front = entries.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
        let mut shown: Vec<Counted> =
            (0..front as u64).filter(is_there).filter_map(|at| Some((self.whole(at)?, None))).collect();
        let role = self.config.summary_role;
        let left = Units::new(&entries[front..]).filter(|unit| {
            unit.entries
                .iter()
                .any(|entry| is_left(entry.id.ordinal) || self.is_pin(entry.id.ordinal, &entry.message))
        });
        let left: Vec<Counted> = left
            .flat_map(|unit| unit.entries)
            .filter_map(|entry| Some((self.whole(entry.id.ordinal)?, None)))
            .collect();
        shown.extend(records.into_iter().map(|record| (Shown::summary(Arc::new(record), role), None)));
        shown.extend(left);
        let past = self.past();
        let shown = self.with_pins(shown);
        self.set_items(shown);
        self.lose_undone();
        self.remember(past);
    }

    /// Takes note that a compaction was tried and nothing came of it: it is not tried again at once.
    pub fn failed(&mut self, reason: Reason, now_ms: Option<i64>) {
        let m = self.measure(now_ms);
        self.policy.failed(reason, &m);
    }

    /// Takes note that a compaction failed for nothing that is in this conversation.
    pub(crate) fn may_try_again(&mut self) {
        self.policy.loosened();
    }

    /// Puts the view back as it was before the last rewrite, with everything that was said since, and returns whether
    /// there was one. What is undone is not done again at once. Originals that are not at hand, and that the old view
    /// shows, must be [put back](Self::put_back) first: see [`wanted_by_undo`](Self::wanted_by_undo). Summaries of the old
    /// view that only a store has must be too ([`summaries_wanted_by_undo`](Self::summaries_wanted_by_undo)): it is not
    /// shown without them.
    pub fn undo(&mut self) -> bool {
        let Some(past) = self.undo.pop_if(|past| past.is_at_hand()) else { return false };
        let instead_of = past.instead_of;
        let now = self.swap_in(past);
        self.redo.push(Past { instead_of, ..now });
        self.redo_is_lost = false;
        self.policy.undone(self.n_total());
        true
    }

    /// Applies the last undone rewrite again, and returns whether there was one. What it shows must be at hand, as for
    /// [`undo`](Self::undo). Where the context was rewritten since to make room, and nothing was said, that is given up: the
    /// view is the one that was undone.
    pub fn redo(&mut self) -> bool {
        let Some(past) = self.redo.pop_if(|past| past.is_at_hand()) else { return false };
        let (left, instead_of) = (self.redo.len(), past.instead_of);
        let made_since = self.undo.iter().position(|past| past.instead_of > left);
        let as_undone = made_since.and_then(|at| self.undo.drain(at..).next());
        let now = self.swap_in(past);
        self.undo.push(Past { instead_of, ..as_undone.unwrap_or(now) });
        true
    }

    /// Returns whether what was undone last cannot be done again any more because the context was compacted anew since.
    pub fn redo_is_lost(&self) -> bool {
        self.redo_is_lost
    }

    /// Makes `shown` the view if that is a gain, or where it may grow fits, and tells the policy. Returns what it is expected to cost
    /// before and after.
    pub(super) fn replace_view(
        &mut self,
        mut shown: Vec<Counted>,
        (action, reason): (Action, Reason),
        decided_on: &Measurement,
        may_grow: bool,
    ) -> Result<(Tokens, Tokens), RewriteError> {
        let counts = self.weigh(&mut shown);
        let after = self.check_gain(counts, action, may_grow)?;
        let costs = (self.likely_tokens(), self.likely_price_of(counts));
        let past = self.past();
        self.set_items(shown);
        let is_to_make_room = reason != Reason::Manual
            && self.redo.last().is_some_and(|undone| undone.n_total == self.n_total());
        if !is_to_make_room {
            self.lose_undone();
        }
        self.remember(past);
        let limits = self.config.limits(decided_on.window, decided_on.budget);
        self.policy.acted(reason, decided_on, after, &limits);
        self.forget_costs();
        Ok(costs)
    }

    /// Returns the view as it can be shown again.
    pub(super) fn past(&self) -> Past {
        Past {
            shapes: shapes(&self.items),
            n_total: self.n_total(),
            made_at: self.made_at,
            cut: self.cut,
            instead_of: 0,
        }
    }

    pub(super) fn remember(&mut self, past: Past) {
        self.rewrites += 1;
        self.made_at = self.n_total();
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(Past { instead_of: self.redo.len(), ..past });
    }

    /// Takes note that what was undone is not to be done again: the conversation goes on from another view.
    pub(super) fn lose_undone(&mut self) {
        let is_lost = self.redo_is_lost || !self.redo.is_empty();
        self.forget_undone();
        self.redo_is_lost = is_lost;
    }

    /// Makes a view that was, and what was said since, the view, and returns the one that is.
    fn swap_in(&mut self, past: Past) -> Past {
        let now = self.past();
        let mut shown = self.shown_of(&past.shapes);
        let since = past.n_total..self.n_total();
        shown.extend(since.filter_map(|ordinal| Some((self.whole(ordinal)?, self.known_counts(ordinal)))));
        let shown = self.with_pins(shown);
        self.cut = past.cut;
        self.set_items(shown);
        self.rewrites += 1;
        self.made_at = past.made_at;
        now
    }
}

/// An element of a view, and what it costs where that is known.
pub(super) type Counted = (Shown, Option<ClassCounts>);

pub(super) fn counted(placed: &Placed) -> Counted {
    (placed.shown.clone(), Some(placed.counts))
}

/// Puts originals among the elements of a view, in the order they were said; what stands in front of all messages, and
/// summaries, keep their places.
pub(super) fn merge(shown: &mut Vec<Counted>, originals: Vec<Counted>) {
    for original in originals {
        let Shown::Message { id, .. } = &original.0 else { continue };
        let is_before = |(shown, _): &Counted| match shown {
            Shown::Message { id: other, .. } => other.ordinal < id.ordinal,
            _ => true,
        };
        let at = shown.iter().rposition(is_before).map_or(0, |at| at + 1);
        shown.insert(at, original);
    }
}

pub(super) fn of_kept(kept: Kept) -> Shown {
    let Kept { id, message, digested } = kept;
    let message = if digested { respelled(message) } else { message };
    Shown::Message { id, message, digested }
}

/// Returns a shortened message with the spelling of what is left: what was taken out is not to be in memory, in a snapshot,
/// or in the store after it was forgotten there.
fn respelled(message: Arc<Message>) -> Arc<Message> {
    #[cfg(feature = "wire")]
    {
        longhaul_wire::respell(message)
    }
    #[cfg(not(feature = "wire"))]
    {
        message
    }
}

/// Returns a shortened message whose calls and results bear the names and ids of `said` again, where these were secrets: what
/// they go together with may be shown as it was said.
fn tied_as(mut shown: Shown, said: &Message) -> Shown {
    let Shown::Message { message, .. } = &mut shown else { return shown };
    let ties = |message: &Message| -> Vec<(CallId, Option<String>)> {
        let tie = |part: &Part| match part {
            Part::ToolCall(call) => Some((call.id.clone(), Some(call.name.clone()))),
            Part::ToolResult(result) => Some((result.call_id.clone(), None)),
            _ => None,
        };
        message.parts.iter().filter_map(tie).collect()
    };
    let (kept, said) = (ties(message), ties(said));
    if kept == said || kept.len() != said.len() {
        return shown;
    }
    let mut said = said.into_iter();
    for part in &mut Arc::make_mut(message).parts {
        match part {
            Part::ToolCall(call) => {
                if let Some((id, Some(name))) = said.next() {
                    (call.id, call.name) = (id, name);
                }
            }
            Part::ToolResult(result) => {
                if let Some((id, None)) = said.next() {
                    result.call_id = id;
                }
            }
            _ => {}
        }
    }
    shown
}
