//! Changing the view: applying what a job came to, undoing and redoing it.

use std::sync::Arc;

use longhaul_transcript::{Entry, SummaryRecord, Tokens};

use super::{ContextState, Finished, Shown};
use crate::{
    compact::{Kept, Outcome},
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
        let Finished { job, compacted } = finished;
        let known = self.transcript.entries().get(job.through.ordinal as usize).map(|entry| entry.id);
        if job.rewrites != self.rewrites || known != Some(job.through) {
            return Err(RewriteError::Stale);
        }
        let role = self.config.summary_role;
        let mut record = compacted.record;
        let mut shown: Vec<Shown> = Vec::new();
        if self.config.chaining == Chaining::Append && !job.action.is_rebuild() && job.start > 0 {
            shown.extend_from_slice(&self.shown[..self.shown_before(job.start)]);
        } else if self.config.preserve_system {
            shown.extend(self.shown.iter().take_while(|shown| shown.is_head()).cloned());
        }
        if let Some(previous) = self.summary().filter(|previous| record.parent.as_ref() == Some(&previous.id))
        {
            // Only the newest messages were read again; the new summary stands for what the old one stood for as well.
            record.covers.start = record.covers.start.min(previous.covers.start);
        }
        shown.push(Shown::summary(record, role));
        // The engine saw messages without their secrets; one that stays verbatim is shown as it was said.
        let originals = self.transcript.entries();
        shown.extend(compacted.tail.into_iter().map(|kept| match originals.get(kept.id.ordinal as usize) {
            Some(original) if !kept.digested => verbatim(original),
            _ => of_kept(kept),
        }));
        let rest = self.entries_from(job.through.ordinal + 1);
        shown.extend(rest.iter().map(verbatim));

        let (tokens_before, tokens_after) = self.replace_view(shown, job.action, job.reason, &job.before)?;
        let outcome = Outcome { tokens_before, tokens_after, ..compacted.outcome };
        Ok(Rewrite { action: job.action, reason: job.reason, record: self.summary().cloned(), outcome })
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
        let (before, after, budget) = (self.tokens(), self.cost_of(&shown), self.budget());
        match action {
            _ if after >= before => return Err(RewriteError::NoGain { before, after }),
            Action::Emergency { .. } if after > budget => {
                return Err(RewriteError::OverBudget { after, budget });
            }
            _ => {}
        }
        let snapshot = self.snapshot();
        self.set_shown(shown);
        self.remember(snapshot);
        let limits = self.config.limits(decided_on.window, decided_on.budget);
        self.policy.acted(reason, decided_on, after, &limits);
        Ok((before, after))
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

pub(super) fn of_kept(kept: Kept) -> Shown {
    Shown::Message { id: kept.id, message: kept.message, digested: kept.digested }
}

fn verbatim(entry: &Entry) -> Shown {
    Shown::Message { id: entry.id, message: Arc::clone(&entry.message), digested: false }
}
