//! Undoing rewrites of the context, and doing them again.

use longhaul_store::ChainStep;

use super::{Error, Session, journal::Step};
use crate::{event::EventKind, session::SessionState};

impl Session {
    /// Puts the context back as it was before the last rewrite, and returns whether it did: not where there was none, nor
    /// where a summary that the context showed then was destroyed in the store. What was before that one cannot be had
    /// again either.
    ///
    /// What [`decide`](Self::decide) calls for then is done by the next [`prepare`](Self::prepare): over the hard limit the
    /// context is compacted at once again. [`redo`](Self::redo) gives that up for what was undone as long as nothing else
    /// was said.
    ///
    /// # Errors
    /// [`Error::OnlyInSummary`] where messages that the summary replaces were deleted; when the store cannot be written. The
    /// context is then as it was.
    pub async fn undo(&mut self) -> Result<bool, Error> {
        self.step(Step::Undo).await
    }

    /// Applies the last undone rewrite again, and returns whether it did: not where there was none, nor where its summary was
    /// destroyed in the store; see [`undo`](Self::undo).
    ///
    /// # Errors
    /// [`Error::RedoLost`] where the context was compacted since, by hand or with more that was said;
    /// [`Error::OnlyInSummary`] where what was compacted since deleted messages; when the store cannot be written. The context
    /// is then as it was.
    pub async fn redo(&mut self) -> Result<bool, Error> {
        self.step(Step::Redo).await
    }

    pub(super) async fn step(&mut self, step: Step) -> Result<bool, Error> {
        match self.try_step(step).await {
            Err(Error::Store(error)) if self.is_overtaken(&error) => {
                self.branch_off().await?;
                self.try_step(step).await
            }
            done => done,
        }
    }

    async fn try_step(&mut self, step: Step) -> Result<bool, Error> {
        self.settle_doubt().await.map_err(Error::Store)?;
        self.heed_destruction().await?;
        self.fetch(match step {
            Step::Undo => self.state.wanted_by_undo(),
            Step::Redo => self.state.wanted_by_redo(),
        })
        .await?;
        let wanted = match step {
            Step::Undo => self.state.summaries_wanted_by_undo(),
            Step::Redo => self.state.summaries_wanted_by_redo(),
        };
        if !wanted.is_empty() && !self.fetch_summaries(&wanted).await? {
            return Ok(false);
        }
        let summary = |state: &SessionState| state.summary().map(|record| record.id.clone());
        let mut stepped = self.state.clone();
        let (is_done, kind) = match step {
            Step::Undo => (stepped.undo(), EventKind::Undone),
            Step::Redo => (stepped.redo(), EventKind::Redone),
        };
        if !is_done {
            let is_lost = step == Step::Redo && self.state.redo_is_lost();
            return if is_lost { Err(Error::RedoLost) } else { Ok(false) };
        }
        if let Some(journal) = &mut self.journal {
            // The store knows summaries; a pass of the soft tier is the view's own.
            let (before, after) = (summary(&self.state), summary(&stepped));
            let chain = match step {
                _ if before == after => Vec::new(),
                Step::Undo => before.map(ChainStep::Undo).into_iter().collect(),
                Step::Redo => match journal.steps_to(&stepped).await.map_err(Error::Store)? {
                    Some(steps) => steps,
                    None => {
                        self.state.forget_undone();
                        return Ok(false);
                    }
                },
            };
            for undone in &chain {
                let ChainStep::Undo(undone) = undone else { continue };
                match journal.only_in(undone).await.map_err(Error::Store)? {
                    0 => {}
                    messages => return Err(Error::OnlyInSummary { messages }),
                }
            }
            let kept = journal.step(&stepped, chain, self.changes + 1).await;
            kept.map_err(Error::Store)?;
        }
        self.state = stepped;
        self.changes += 1;
        self.tell(kind);
        Ok(true)
    }
}
