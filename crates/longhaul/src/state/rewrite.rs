//! Changing the view: applying what a job came to, undoing and redoing it.

use std::{collections::BTreeSet, sync::Arc};

use longhaul_transcript::{Entry, SummaryId, SummaryRecord, Tokens};

use super::{ContextState, Finished, Shown};
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
        "the context would cost {after} tokens after the rewrite, which is not less than the {before} it costs now"
    )]
    NoGain {
        /// What the view costs now.
        before: Tokens,
        /// What it would cost.
        after: Tokens,
    },
    /// The new view would still not fit the hard limit.
    #[error("the context would cost {after} tokens after the rewrite, over the budget of {budget}")]
    OverBudget {
        /// What it would cost.
        after: Tokens,
        /// The hard limit.
        budget: Tokens,
    },
}

/// The view before a rewrite.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    shown: Vec<Shown>,
    /// Messages pushed by then; what came later follows in any view.
    n_total: u64,
}

/// How many rewrites can be undone.
const MAX_UNDO: usize = 16;

impl ContextState {
    /// Applies a finished compaction: head, summary, tail, and then whatever was pushed since it was planned.
    ///
    /// # Errors
    /// When the view was rewritten since, when it would not become smaller, or when it would not fit. The state is then
    /// as it was; tell it with [`failed`](Self::failed) that the attempt is over.
    pub fn apply(&mut self, finished: Finished) -> Result<Rewrite, RewriteError> {
        let shown = self.rewritten(&finished)?;
        let Finished { job, compacted } = finished;
        let (tokens_before, tokens_after) = self.replace_view(shown, job.action, job.reason, &job.before)?;
        let outcome = Outcome { tokens_before, tokens_after, ..compacted.outcome };
        Ok(Rewrite {
            action: job.action,
            reason: job.reason,
            record: self.summary().cloned(),
            cut: compacted.cut,
            outcome,
        })
    }

    /// Returns whether [`apply`](Self::apply) would succeed, for whoever has to write the record down first.
    ///
    /// # Errors
    /// Those of `apply`.
    pub fn check(&self, finished: &Finished) -> Result<(), RewriteError> {
        let shown = self.rewritten(finished)?;
        self.check_gain(self.price_of(&shown), finished.job.action)
    }

    /// Returns the view that a finished compaction makes.
    fn rewritten(&self, finished: &Finished) -> Result<Vec<Shown>, RewriteError> {
        let Finished { job, compacted } = finished;
        let known = self.transcript.entries().get(job.through.ordinal as usize).map(|entry| entry.id);
        if job.rewrites != self.rewrites || known != Some(job.through) {
            return Err(RewriteError::Stale);
        }
        let mut shown: Vec<Shown> = Vec::new();
        let before = &self.shown[..self.shown_before(job.start)];
        let keeps_head = self.config.preserve_system || job.reads_new_only;
        let head = self.shown.iter().take_while(|shown| keeps_head && shown.is_instruction()).count();
        shown.extend_from_slice(&self.shown[..head]);
        let carried = before.iter().skip(head).filter(|shown| job.reads_new_only || self.is_pinned(shown));
        let summary = Shown::summary(compacted.record.clone(), self.config.summary_role);
        if self.config.chaining == Chaining::Append {
            shown.extend(carried.cloned());
            shown.push(summary);
        } else {
            // What the earlier summary kept back follows the one that takes its place.
            shown.push(summary);
            shown.extend(carried.filter(|shown| !matches!(shown, Shown::Summary { .. })).cloned());
        }
        // The engine saw messages without their secrets; one that stays verbatim is shown as it was said.
        let originals = self.transcript.entries();
        shown.extend(compacted.tail.iter().map(|kept| match originals.get(kept.id.ordinal as usize) {
            Some(original) if !kept.digested => verbatim(original),
            _ => of_kept(kept.clone()),
        }));
        shown.extend(self.entries_from(job.through.ordinal + 1).iter().map(verbatim));
        Ok(shown)
    }

    fn check_gain(&self, after: Tokens, action: Action) -> Result<(), RewriteError> {
        let (before, budget) = (self.tokens(), self.budget());
        match action {
            _ if after >= before => Err(RewriteError::NoGain { before, after }),
            Action::Emergency { .. } if after > budget => Err(RewriteError::OverBudget { after, budget }),
            _ => Ok(()),
        }
    }

    /// Shows summaries that were made before, as after a restart: standing instructions, the last record of the chain
    /// (all of them where each covers a range of its own), and every message that they do not cover. Push the
    /// conversation's messages first. `chain` is oldest first, as a store returns it.
    pub fn resume(&mut self, chain: Vec<SummaryRecord>) {
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
        let is_left = |entry: &&Entry| {
            let ordinal = entry.id.ordinal;
            !covered.contains(&ordinal) && (ordinal >= end || is_own(ordinal))
        };
        let entries = self.transcript.entries();
        let head = entries.iter().take_while(|entry| standing::is_instruction(&entry.message)).count();
        let mut shown: Vec<Shown> = entries[..head].iter().map(verbatim).collect();
        let left: Vec<Shown> = entries[head..].iter().filter(is_left).map(verbatim).collect();
        let role = self.config.summary_role;
        shown.extend(records.into_iter().map(|record| Shown::summary(record, role)));
        shown.extend(left);
        let snapshot = self.snapshot();
        self.set_shown(shown);
        self.remember(snapshot);
    }

    /// Takes note that a compaction was tried and nothing came of it: it is not tried again at once.
    pub fn failed(&mut self, reason: Reason, now_ms: Option<i64>) {
        let m = self.measure(now_ms);
        self.policy.failed(reason, &m);
    }

    /// Puts the view back as it was before the last rewrite, with everything that was said since, and returns whether
    /// there was one. What is undone is not done again at once.
    pub fn undo(&mut self) -> bool {
        let Some(snapshot) = self.undo.pop() else { return false };
        let now = self.swap_in(snapshot);
        self.redo.push(now);
        self.policy.undone(self.transcript.len() as u64);
        true
    }

    /// Applies the last undone rewrite again, and returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(snapshot) = self.redo.pop() else { return false };
        let now = self.swap_in(snapshot);
        self.undo.push(now);
        true
    }

    /// Makes `shown` the view if that is a gain, and tells the policy. Returns the costs before and after.
    pub(super) fn replace_view(
        &mut self,
        shown: Vec<Shown>,
        action: Action,
        reason: Reason,
        decided_on: &Measurement,
    ) -> Result<(Tokens, Tokens), RewriteError> {
        let (before, after) = (self.tokens(), self.price_of(&shown));
        self.check_gain(after, action)?;
        let snapshot = self.snapshot();
        self.set_shown(shown);
        self.remember(snapshot);
        let limits = self.config.limits(decided_on.window, decided_on.budget);
        self.policy.acted(reason, decided_on, after, &limits);
        Ok((before, after))
    }

    /// Returns whether the next undo takes a summary back, rather than a pass of the soft tier; `None` where there is
    /// nothing to undo.
    pub(crate) fn undoes_summary(&self) -> Option<bool> {
        self.undo.last().map(|snapshot| latest(&snapshot.shown) != latest(&self.shown))
    }

    /// Returns whether the next redo puts a summary back; `None` where there is nothing to redo.
    pub(crate) fn redoes_summary(&self) -> Option<bool> {
        self.redo.last().map(|snapshot| latest(&snapshot.shown) != latest(&self.shown))
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot { shown: self.shown.clone(), n_total: self.transcript.len() as u64 }
    }

    pub(super) fn remember(&mut self, snapshot: Snapshot) {
        self.rewrites += 1;
        self.redo.clear();
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(snapshot);
    }

    /// Makes the snapshot and what was said since the view, and returns the view that was.
    fn swap_in(&mut self, snapshot: Snapshot) -> Snapshot {
        let now = self.snapshot();
        let mut shown = snapshot.shown;
        let since = self.entries_from(snapshot.n_total);
        shown.extend(since.iter().map(verbatim));
        self.set_shown(shown);
        self.rewrites += 1;
        now
    }
}

/// Returns the id of the last summary among `shown`.
fn latest(shown: &[Shown]) -> Option<&SummaryId> {
    shown.iter().rev().find_map(|shown| match shown {
        Shown::Summary { record, .. } => Some(&record.id),
        Shown::Message { .. } => None,
    })
}

pub(super) fn of_kept(kept: Kept) -> Shown {
    Shown::Message { id: kept.id, message: kept.message, digested: kept.digested }
}

fn verbatim(entry: &Entry) -> Shown {
    Shown::Message { id: entry.id, message: Arc::clone(&entry.message), digested: false }
}
