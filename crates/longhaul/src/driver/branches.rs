//! Going back, taking another way, and following a front end that does.

#[cfg(feature = "wire")]
use longhaul_transcript::Message;
use longhaul_transcript::{MessageId, SessionId};

use super::{Error, Session};
use crate::{
    event::EventKind,
    session::{BranchError, SessionState},
};

impl Session {
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
            let (name, len) = (branch.session().clone(), branch.originals().len() as u64);
            journal.fork(&name, len, self.clock.as_deref()).await.map_err(Error::Store)?;
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
        let text = json.trim_start();
        let list = if text.starts_with('[') { json.to_owned() } else { format!("[{json}]") };
        let document = longhaul_wire::read(Some(format), list.as_bytes()).map_err(Error::Wire)?;
        let messages = document.transcript().entries().iter().map(|entry| {
            let message = (*entry.message).clone();
            Message { origin: longhaul_transcript::Origin::Caller, ..message }
        });
        let messages: Vec<Message> = messages.collect();
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
                Err(error) => return Err(Error::Sync(error)),
            }
        };
        match sync.change {
            Synced::Unchanged | Synced::Another => {}
            Synced::Grew { .. } | Synced::CompactedByClient { .. } => {
                self.state = synced;
                self.changes += u64::from(!matches!(sync.change, Synced::Grew { .. }));
            }
            Synced::Rewound { to: at } | Synced::Regenerated { at, .. } | Synced::Edited { at, .. } => {
                if let Some(journal) = &mut self.journal {
                    let name = synced.session().clone();
                    journal.fork(&name, at, self.clock.as_deref()).await.map_err(Error::Store)?;
                }
                self.state = synced;
                self.changes += 1;
                self.tell(EventKind::Rewritten);
            }
        }
        self.save().await?;
        Ok(sync)
    }
}
