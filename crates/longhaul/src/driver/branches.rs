//! Going back, taking another way, and following a front end that does.

use longhaul_store::StoreError;
use longhaul_transcript::{MessageId, SessionId};

use super::{Error, Session, journal::Naming};
use crate::{
    event::EventKind,
    session::{BranchError, SessionState},
};

/// What a session does when somebody else went on with it meanwhile, in another process, say. What either said is kept in
/// any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overtaken {
    /// It goes on under a name of its own ([`Session::line`]), from what both have in common, and observers are told; the
    /// session's name stays with the other one. A [builder](Session::builder) for the name of the branch takes that up.
    #[default]
    Branch,
    /// It stops: what would write says so, and nothing is written.
    Stop,
}

impl Session {
    /// Returns whether a branch of its own is the answer to `error`.
    pub(super) fn is_overtaken(&self, error: &StoreError) -> bool {
        let is_it = matches!(error, StoreError::Overtaken { .. } | StoreError::Conflict { .. });
        is_it && self.overtaken == Overtaken::Branch
    }

    /// Goes on under a name of its own from what the store holds of this conversation.
    pub(super) async fn branch_off(&mut self) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let (from, at) = (journal.line().clone(), journal.written());
        let forked = journal.fork(&self.state, at, Naming::Leaves, self.clock.as_deref()).await;
        forked.map_err(Error::Store)?;
        let line = journal.line().clone();
        self.state.forget_undone();
        self.tell(EventKind::Branched { from, line, at });
        Ok(())
    }

    /// Goes back to the message `id` and goes on from there, on a branch of its own: nothing that was said after it is
    /// known there. With a store, what was said after it stays under the name that [`line`](Self::line) had before, and
    /// the session's own name stands for the new branch from now on.
    ///
    /// # Errors
    /// When there is no such message, or the store cannot be read or written.
    pub async fn rewind(&mut self, id: MessageId) -> Result<(), Error> {
        self.save().await?;
        let branch = loop {
            match self.state.branch(id) {
                Ok(branch) => break branch,
                Err(BranchError::NotAtHand(spans)) if self.journal.is_some() && !spans.is_empty() => {
                    self.fetch(spans).await?;
                }
                Err(BranchError::SummariesNotAtHand(ids)) if self.fetch_summaries(&ids).await? => {}
                Err(error) => return Err(Error::Branch(error)),
            }
        };
        self.take(branch).await
    }

    /// Returns the name under which the store keeps what is said now: the session's own, or that of a branch.
    pub fn line(&self) -> &SessionId {
        self.journal.as_ref().map_or(self.state.session(), |journal| journal.line())
    }

    /// Makes a branch the conversation that goes on.
    async fn take(&mut self, branch: SessionState) -> Result<(), Error> {
        if let Some(journal) = &mut self.journal {
            let len = branch.originals().len() as u64;
            journal.fork(&branch, len, Naming::Takes, self.clock.as_deref()).await.map_err(Error::Store)?;
        }
        self.state = branch;
        self.changes += 1;
        self.save().await?;
        self.tell(EventKind::Rewritten);
        Ok(())
    }

    /// Adds a message as a provider or an agent spells it in `format`, and returns the ids of what it holds: one message,
    /// or several where the format keeps calls and results apart.
    ///
    /// # Errors
    /// When it is no message of this format. Nothing was pushed then.
    #[cfg(feature = "wire")]
    pub fn push_json(&mut self, format: longhaul_wire::Format, json: &str) -> Result<Vec<MessageId>, Error> {
        let messages = longhaul_wire::messages_from_json(format, json).map_err(Error::Wire)?;
        Ok(messages.into_iter().map(|message| self.push(message)).collect())
    }

    /// Brings the session to where `document` is; see [`SessionState::sync`]. Where the history took another way, the
    /// session goes on with a branch.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    #[cfg(feature = "wire")]
    pub async fn sync(&mut self, document: &longhaul_wire::Document) -> Result<crate::session::Sync, Error> {
        use crate::session::{SyncError, Synced};
        self.save().await?;
        let (synced, sync) = loop {
            let mut synced = self.state.clone();
            match synced.sync(document) {
                Ok(sync) => break (synced, sync),
                Err(SyncError::NotAtHand(spans)) if self.journal.is_some() && !spans.is_empty() => {
                    self.fetch(spans).await?;
                }
                Err(SyncError::SummariesNotAtHand(ids)) if self.fetch_summaries(&ids).await? => {}
                Err(error) => return Err(Error::Sync(error)),
            }
        };
        match sync.change {
            Synced::Unchanged | Synced::Another => {}
            Synced::Grew { .. } => self.state = synced,
            Synced::CompactedByClient { .. } => {
                self.write_as_compacted_by_client(&synced).await?;
                self.state = synced;
                self.changes += 1;
                self.tell(EventKind::Rewritten);
            }
            Synced::Rewound { to: at } | Synced::Regenerated { at, .. } | Synced::Edited { at, .. } => {
                if let Some(journal) = &mut self.journal {
                    journal
                        .fork(&synced, at, Naming::Takes, self.clock.as_deref())
                        .await
                        .map_err(Error::Store)?;
                }
                self.state = synced;
                self.changes += 1;
                self.tell(EventKind::Rewritten);
            }
        }
        self.save().await?;
        Ok(sync)
    }

    /// Writes the session as `synced` is, whose front end put a summary of its own in the place of ours: no summary is in
    /// force any more.
    #[cfg(feature = "wire")]
    async fn write_as_compacted_by_client(&mut self, synced: &SessionState) -> Result<(), Error> {
        for may_branch in [true, false] {
            let Some(journal) = &mut self.journal else { break };
            let head = self.state.summary().map(|record| &record.id);
            match journal.take_back_all(synced, head, self.changes + 1, self.clock.as_deref()).await {
                Err(error) if may_branch && self.is_overtaken(&error) => self.branch_off().await?,
                done => return done.map_err(Error::Store),
            }
        }
        Ok(())
    }
}
