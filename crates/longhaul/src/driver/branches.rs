//! Going back, taking another way, and following a front end that does.

use std::sync::{Arc, Weak};

use longhaul_store::StoreError;
use longhaul_transcript::{MessageId, SessionId};

use super::{Error, Session, journal::Naming};
#[cfg(feature = "wire")]
use crate::session::{FrontEnd, SyncReport, Synced};
use crate::{
    event::EventKind,
    session::{BranchError, SessionState},
};

/// What a session does when somebody else went on with it meanwhile, in another process, say. What either said is kept in
/// any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overtaken {
    /// It goes on under a name of its own ([`Session::line`]), from what both have in common; the session's name stays with the
    /// other one, and [`open`](crate::open) with it shows the other's words alone. A [builder](Session::builder) for the name of the
    /// branch takes that up. Observers are told; who has none asks [`Session::overtaken_by`].
    #[default]
    Branch,
    /// It stops: what would write says so, and nothing is written.
    Stop,
}

/// What became of a session with a history.
#[cfg(feature = "wire")]
enum Turn {
    /// It is where the history is.
    There(SyncReport),
    /// It goes on with another of its lines, and is yet to be brought there.
    To(SyncReport),
}

/// Returns whether `error` says that somebody else went on with the session.
pub(super) fn is_by_another(error: &StoreError) -> bool {
    matches!(error, StoreError::Overtaken { .. } | StoreError::Conflict { .. } | StoreError::Changed { .. })
}

impl Session {
    /// Returns whether a branch of its own is the answer to `error`.
    pub(super) fn is_overtaken(&self, error: &StoreError) -> bool {
        is_by_another(error) && self.overtaken == Overtaken::Branch
    }

    /// Goes on under a name of its own from what the store holds of this conversation.
    pub(super) async fn branch_off(&mut self) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let (from, at) = (journal.line().clone(), journal.written());
        let forked = journal.fork(&self.state, at, Naming::Leaves).await;
        forked.map_err(Error::Store)?;
        let line = journal.line().clone();
        self.left_to = Some(from.clone());
        self.state.forget_undone();
        self.tell(EventKind::Branched { from, line, at });
        Ok(())
    }

    /// Goes back to the message `id` and goes on from there, on a branch of its own: nothing that was said after it is
    /// known there. With a store, what was said after it stays under the name that [`line`](Self::line) had before, for
    /// [`Builder::open_line`](super::Builder::open_line), and the session's own name stands for the new branch from now on:
    /// unless somebody else went on with the session meanwhile, who keeps the name ([`Overtaken`]). Memory blocks are the caller's and not
    /// of a place in the conversation: they stay as they are. Where `id` is a call, or one of several results, the branch ends before the
    /// call: half an exchange cannot stand.
    ///
    /// # Errors
    /// When there is no such message, it or what the branch would begin with was deleted, or the store cannot be read or written.
    pub async fn rewind(&mut self, id: MessageId) -> Result<(), Error> {
        let branch = self.state_at(id).await?;
        self.take(branch).await
    }

    /// Returns another conversation that begins as this one does, up to the message `id`: what is said in either is not
    /// known in the other. With a store it is a line of its own, for [`Builder::open_line`](super::Builder::open_line) under
    /// the name that its [`line`](Self::line) has.
    ///
    /// # Errors
    /// Those of [`rewind`](Self::rewind).
    pub async fn branch(&mut self, id: MessageId) -> Result<Session, Error> {
        let state = self.state_at(id).await?;
        let mut journal = self.journal.clone();
        if let Some(journal) = &mut journal {
            let len = state.originals().len() as u64;
            let forked = journal.fork(&state, len, Naming::Leaves).await;
            forked.map_err(Error::Store)?;
        }
        let mut branch = Session {
            state,
            summarizer: self.summarizer.clone(),
            clock: self.clock.clone(),
            sleep: Arc::clone(&self.sleep),
            journal,
            observers: self.observers.clone(),
            told: None,
            told_low: false,
            told_implausible: false,
            is_strayed: false,
            background: Weak::new(),
            background_since: None,
            changes: self.changes + 1,
            overtaken: self.overtaken,
            left_to: None,
            durability: self.durability,
            relieved: None,
        };
        branch.save().await?;
        Ok(branch)
    }

    /// Returns the session as it was at the message `id`, with everything stored.
    async fn state_at(&mut self, id: MessageId) -> Result<SessionState, Error> {
        self.save().await?;
        self.heed_destruction().await?;
        loop {
            match self.state.branch(id) {
                Ok(branch) => return Ok(branch),
                Err(BranchError::NotAtHand(spans)) if self.journal.is_some() && !spans.is_empty() => {
                    self.fetch(spans).await?;
                }
                Err(BranchError::SummariesNotAtHand(ids)) if self.fetch_summaries(&ids).await? => {}
                Err(error) => return Err(Error::Branch(error)),
            }
        }
    }

    /// Returns the name under which the store keeps what is said now: the session's own, or that of a branch.
    pub fn line(&self) -> &SessionId {
        self.journal.as_ref().map_or(self.state.session(), |journal| journal.line())
    }

    /// Returns the name under which somebody else went on with the conversation, where somebody did: what was said here since is
    /// under the name of [`line`](Self::line), and opening the session's own name shows the other's words. Observers were told
    /// ([`EventKind::Branched`]).
    pub fn overtaken_by(&self) -> Option<&SessionId> {
        self.left_to.as_ref()
    }

    /// Makes a branch the conversation that goes on.
    async fn take(&mut self, branch: SessionState) -> Result<(), Error> {
        self.fork(&branch, branch.originals().len() as u64).await?;
        self.state = branch;
        self.changes += 1;
        self.save().await?;
        self.tell(EventKind::Rewritten);
        Ok(())
    }

    /// Goes on in the store with a line of its own, which begins with the first `len` messages of `branch`. The session's name
    /// goes with it, unless somebody else went on where it stands.
    async fn fork(&mut self, branch: &SessionState, len: u64) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let from = journal.line().clone();
        match journal.fork(branch, len, Naming::Takes).await {
            Ok(()) => return Ok(()),
            Err(error) if !is_by_another(&error) || self.overtaken != Overtaken::Branch => {
                return Err(Error::Store(error));
            }
            Err(_) => journal.fork(branch, len, Naming::Leaves).await.map_err(Error::Store)?,
        }
        let line = journal.line().clone();
        self.left_to = Some(from.clone());
        self.tell(EventKind::Branched { from, line, at: len });
        Ok(())
    }

    /// Adds a message as a provider or an agent spells it in `format`, and returns the ids of what it holds: one message,
    /// or several where the format keeps calls and results apart, which are stored together or not at all
    /// ([`push_all`](Self::push_all)).
    ///
    /// # Errors
    /// When it is no message of this format. Nothing was pushed then.
    #[cfg(feature = "wire")]
    pub fn push_json(&mut self, format: longhaul_wire::Format, json: &str) -> Result<Vec<MessageId>, Error> {
        let messages = longhaul_wire::messages_from_json(format, json).map_err(Error::Wire)?;
        Ok(self.push_all(messages))
    }

    /// Brings the session to where `document` is; see [`SessionState::sync`]. Where the history took another way, the
    /// session goes on with a branch, or with one of its lines where the history begins with all of that: a front end that goes to
    /// and fro between two histories makes two lines. Where it is another conversation's, [`prepare`](Self::prepare) fails until a push or a history
    /// of this one's. Messages that were deleted ([`Config::delete_originals`](crate::Config)) and that another way begins with are sent,
    /// and stored on the branch, as the history says them again.
    ///
    /// Which session a history is of: where the client names its conversation, open the session of that name for each request
    /// ([`open`](crate::Builder::open)), or hold it open, and call [`sync_with`](Self::sync_with) and
    /// [`FrontEnd::known`](crate::FrontEnd::known). Where it names none,
    /// [`locate`](crate::store::locate) finds the stored conversation that the history goes on with
    /// (`examples/front_end.rs`). It goes by how the two begin: a client that hands in its newest messages only, or tells the time in
    /// its instructions, had better be given a name.
    ///
    /// # Errors
    /// When the store cannot be read or written, and where another way begins with messages that were deleted and that the history does
    /// not say again ([`SyncError::OnlyInSummary`](crate::SyncError)).
    #[cfg(feature = "wire")]
    pub async fn sync(&mut self, document: &longhaul_wire::Document) -> Result<SyncReport, Error> {
        self.sync_with(document, FrontEnd::default()).await
    }

    /// Does so for a history of a front end of which the caller knows something: that it is this conversation's, however little of it was
    /// said here, or how many of its first messages the front end keeps.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    #[cfg(feature = "wire")]
    pub async fn sync_with(
        &mut self,
        document: &longhaul_wire::Document,
        front_end: FrontEnd,
    ) -> Result<SyncReport, Error> {
        self.save().await?;
        let (summaries, pinned) = (self.state.summary_ids(), self.state.pinned_words());
        match self.synced(document, front_end, true).await? {
            Turn::There(report) => Ok(report),
            // What became of it is told as it was before it went on with another line.
            Turn::To(SyncReport { change, gone, .. }) => match self.synced(document, front_end, false).await?
            {
                Turn::There(report) | Turn::To(report) => {
                    let takes_away = change.takes_away();
                    let summaries_gone =
                        if takes_away { self.state.summaries_gone(summaries) } else { Vec::new() };
                    // What was pinned on the line that it left is pinned where this one says it.
                    let unpinned = self.state.pin_again(&pinned, &report.ordinals);
                    self.changes += 1;
                    self.save().await?;
                    Ok(SyncReport { change, gone, summaries_gone, unpinned, ..report })
                }
            },
        }
    }

    /// Does so; where it goes on with another of its lines, as it may where `may_turn` is set, it is yet to be brought to where
    /// `document` is.
    #[cfg(feature = "wire")]
    async fn synced(
        &mut self,
        document: &longhaul_wire::Document,
        front_end: FrontEnd,
        may_turn: bool,
    ) -> Result<Turn, Error> {
        use crate::session::SyncError;
        let mut again: Option<(SessionState, Vec<u64>)> = None;
        let (mut synced, sync) = loop {
            let mut synced = again.as_ref().map_or(&self.state, |(state, _)| state).clone();
            let came = synced.sync_with(document, front_end);
            if again.is_none() && self.state.is_owed_to_deletion(&came) {
                again = self.said_again(document).await?;
                if again.is_some() {
                    continue;
                }
            }
            match came {
                Ok(sync) => {
                    if sync.change.is_another_way() && self.heed_destruction().await? {
                        again = None;
                        continue;
                    }
                    break (synced, sync);
                }
                // What is said again is at hand as a whole.
                Err(error) if again.is_some() => return Err(Error::Sync(error)),
                Err(SyncError::NotAtHand(spans)) if self.journal.is_some() && !spans.is_empty() => {
                    self.fetch(spans).await?;
                }
                Err(SyncError::SummariesNotAtHand(ids)) if self.fetch_summaries(&ids).await? => {}
                Err(error) => return Err(Error::Sync(error)),
            }
        };
        let said_again = again.map(|(_, ordinals)| ordinals).unwrap_or_default();
        if !sync.change.is_another_way() {
            // They are where they were: in a summary.
            synced.forget(said_again.iter().copied());
        }
        self.is_strayed = sync.change == Synced::Another;
        // Who rewinds and then says again what was there returns to the line that they left.
        if let Synced::Grew { .. } = sync.change
            && may_turn
            && said_again.is_empty()
            && self.is_where_it_forked().await?
            && self.turn_to_line_of(document, self.state.originals().len() as u64).await?
        {
            return Ok(Turn::To(sync));
        }
        match sync.change {
            Synced::Another => {}
            // Where nothing was said the instructions may be worded otherwise all the same.
            Synced::Unchanged | Synced::Grew { .. } => {
                // More or fewer instructions than before are written down.
                self.changes += u64::from(synced.n_rewrites() != self.state.n_rewrites());
                self.state = synced;
            }
            Synced::CompactedByClient { .. } => {
                if let Some(journal) = &mut self.journal {
                    journal.clear(self.state.summary().map(|record| record.id.clone()));
                }
                self.state = synced;
                self.changes += 1;
                self.tell(EventKind::Rewritten);
            }
            Synced::Rewound { to: at } | Synced::Regenerated { at, .. } | Synced::Edited { at, .. } => {
                if may_turn && said_again.is_empty() && self.turn_to_line_of(document, at).await? {
                    return Ok(Turn::To(sync));
                }
                // What was deleted and is said again is written again.
                let shared = said_again.first().map_or(at, |first| at.min(*first));
                self.fork(&synced, shared).await?;
                self.state = synced;
                self.changes += 1;
                self.tell(EventKind::Rewritten);
            }
        }
        self.save().await?;
        Ok(Turn::There(sync))
    }

    /// Returns whether nothing was said yet on this line since it left another one.
    #[cfg(feature = "wire")]
    async fn is_where_it_forked(&self) -> Result<bool, Error> {
        let Some(journal) = self.journal.as_ref().filter(|_| self.line() != self.state.session()) else {
            return Ok(false);
        };
        Ok(journal.forked_at().await.map_err(Error::Store)? == Some(self.state.originals().len() as u64))
    }

    /// Goes on with another line of this conversation that `document` begins with all of, where that is more than the `shared` messages
    /// that it has in common with this one. Returns whether there is one. Memory blocks stay as they are.
    #[cfg(feature = "wire")]
    async fn turn_to_line_of(
        &mut self,
        document: &longhaul_wire::Document,
        shared: u64,
    ) -> Result<bool, Error> {
        let Some(journal) = self.journal.as_mut().filter(|_| !self.state.has_compacted_by_client()) else {
            return Ok(false);
        };
        let Some(line) = journal.line_of(&self.state, document, shared).await.map_err(Error::Store)? else {
            return Ok(false);
        };
        let (turned, mut state) = match journal.turned_to(&line, &self.state).await {
            // Who went on here has the name, and this session a branch of its own.
            Err(error) if is_by_another(&error) => return Ok(false),
            turned => turned.map_err(Error::Store)?,
        };
        state.take_memory_of(&self.state);
        (*journal, self.state) = (turned, state);
        self.changes += 1;
        self.tell(EventKind::Rewritten);
        Ok(true)
    }

    /// Returns the session with the messages that were deleted as `document` says them again, and which these are; `None` where it
    /// says none of them again.
    #[cfg(feature = "wire")]
    async fn said_again(
        &mut self,
        document: &longhaul_wire::Document,
    ) -> Result<Option<(SessionState, Vec<u64>)>, Error> {
        let Some(journal) = &mut self.journal else { return Ok(None) };
        journal.said_again(&self.state, document).await.map_err(Error::Store)
    }
}
