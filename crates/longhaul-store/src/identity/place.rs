//! Where a history belongs, and how it gets there.

use std::collections::HashMap;

use longhaul_transcript::{ContentHash, Covered, Emitted, Message, Redacted, SessionId, Span, SummaryRecord};

use crate::{Journaled, StoreError, SummaryStore, forget::destroyed_of};

/// Where the messages of a history belong.
#[derive(Clone, Debug)]
pub struct Place {
    /// The session; for a branch or a new conversation one that is not there yet.
    pub session: SessionId,
    /// What the session is to what is stored.
    pub kin: Kin,
    /// The ordinal in the session of each message of the history; none for the summary it begins with, and for standing
    /// instructions before that.
    pub ordinals: Vec<Option<u64>>,
    /// Index in the history of the first message that the session does not hold.
    pub new: usize,
    /// Ordinal of that message.
    pub(super) start: u64,
    /// The summaries that the history builds on, oldest first.
    pub(super) chain: Vec<SummaryRecord>,
}

/// What the session of a history is to what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kin {
    /// A conversation of its own.
    New,
    /// A stored conversation, as it is, grown, or an earlier state of it.
    Known,
    /// A stored conversation up to a message, and other words from there on.
    Branch {
        /// The session it leaves.
        of: SessionId,
        /// The ordinal of the first message that differs.
        at: u64,
    },
}

impl Place {
    /// Returns the place of a conversation that nothing stored has to do with.
    pub(super) fn new(session: SessionId, messages: usize) -> Place {
        let ordinals = (0..messages as u64).map(Some).collect();
        Place { session, kin: Kin::New, ordinals, new: 0, start: 0, chain: Vec::new() }
    }

    /// Returns the summary that the history begins with, as it stands in its session.
    pub fn summary(&self) -> Option<&SummaryRecord> {
        self.chain.last()
    }

    /// Returns the session that holds what is stored of the history, before [`enter`](Self::enter) as after it.
    pub fn holder(&self) -> &SessionId {
        match &self.kin {
            Kin::Branch { of, .. } => of,
            _ => &self.session,
        }
    }

    /// Adds what is new of `said` to the session; a branch is begun first. What was deleted with the summary that stands for it
    /// counts as new there: the branch has no other words of it.
    ///
    /// # Errors
    /// [`StoreError::SessionExists`] and [`StoreError::Diverged`] where somebody else wrote there meanwhile: locate it
    /// again.
    pub async fn enter<S: SummaryStore + ?Sized>(
        &self,
        store: &S,
        said: &[Redacted<Message>],
        at_ms: i64,
    ) -> Result<Journaled, StoreError> {
        let (mut start, mut new) = (self.start, self.new);
        if let Kin::Branch { of, at } = &self.kin {
            let chain: Vec<_> = self.chain.iter().cloned().map(Redacted::assume).collect();
            // A branch without summaries shows what these stand for.
            if chain.is_empty()
                && let Some(deleted) = first_deleted(store, of, *at).await?
                && let Some(said_at) = self.ordinals.iter().position(|ordinal| *ordinal == Some(deleted))
            {
                (start, new) = (deleted, said_at);
            }
            store.branch(of, &self.session, start, &chain, at_ms).await?;
        }
        store.journal(&self.session, start, &said[new..], at_ms).await
    }

    /// Puts `record`, which was made for the history `said` and names messages by the session's ordinals, in force. `emitted` are the addresses of the messages of
    /// the compacted history after the summary. A history that is compacted again, into another budget, replaces its
    /// earlier compaction; nothing is lost by it, the log keeps both.
    ///
    /// # Errors
    /// Those of the store; [`StoreError::RecordForgotten`] where the very record was forgotten there;
    /// [`StoreError::Conflict`] where others compact the same history without end.
    pub async fn record<S: SummaryStore + ?Sized>(
        &self,
        store: &S,
        said: &[Redacted<Message>],
        record: &SummaryRecord,
        emitted: &[ContentHash],
        at_ms: i64,
    ) -> Result<SummaryRecord, StoreError> {
        let held = store.records(&self.session).await?;
        if held.iter().any(|held| held.is_forgotten && held.id == record.id) {
            return Err(StoreError::RecordForgotten { session: self.session.clone(), id: record.id.clone() });
        }
        let record = self.in_session(said, record, emitted);
        let chain = [self.chain.as_slice(), std::slice::from_ref(&record)].concat();
        for tries_left in (0..TRIES).rev() {
            match put_in_force(store, &self.session, &chain, at_ms).await {
                // Another process compacted the same history in between.
                Err(StoreError::Conflict { .. }) if tries_left > 0 => {}
                done => {
                    done?;
                    break;
                }
            }
        }
        Ok(record)
    }

    /// Returns `record`, made for the history, as the session keeps it: it comes after the summary that the history begins
    /// with. A message that was shortened already is covered under the hash of its original.
    fn in_session(
        &self,
        said: &[Redacted<Message>],
        record: &SummaryRecord,
        emitted: &[ContentHash],
    ) -> SummaryRecord {
        let known = self.chain.iter().flat_map(|summary| &summary.covered);
        let known: HashMap<u64, ContentHash> = known.map(|known| (known.ordinal, known.sha256)).collect();
        let places =
            self.ordinals.iter().zip(said).filter_map(|(ordinal, message)| Some(((*ordinal)?, message)));
        let places: HashMap<u64, &Redacted<Message>> = places.collect();
        let covered = record.covered.iter().map(|covered| {
            let before = known.get(&covered.ordinal).copied();
            // Of what is stored, not of what was said: a hash of a secret is a hint to it.
            let now = || places.get(&covered.ordinal).map(|message| message.content_hash());
            Covered { sha256: before.or_else(now).unwrap_or(covered.sha256), ..*covered }
        });
        let covered: Vec<Covered> = covered.collect();
        let before = self.summary().map(|summary| summary.covers).filter(|span| !span.is_empty());
        let covers = Span {
            start: covered
                .first()
                .map(|covered| covered.ordinal)
                .into_iter()
                .chain(before.map(|span| span.start))
                .min()
                .unwrap_or(0),
            end: covered
                .last()
                .map_or(0, |covered| covered.ordinal + 1)
                .max(before.map_or(0, |span| span.end)),
        };
        let through = self.ordinals.last().copied().flatten().map_or(self.start, |last| last + 1);
        // A summary that the session does not hold is a message like any other: there is no record to follow.
        let parent = self.summary().map(|summary| summary.id.clone());
        let emitted = Some(Emitted { through, messages: emitted.to_vec() });
        SummaryRecord { covered, covers, parent, emitted, ..record.clone() }
    }
}

/// Returns the first message before `end` that was deleted when a summary in force took its place. Who forgets messages by hand
/// forgets few of those that a summary stands for.
async fn first_deleted<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    end: u64,
) -> Result<Option<u64>, StoreError> {
    let mut first = None;
    for record in store.chain(session).await? {
        let destroyed = destroyed_of(store, session, &record).await?;
        if 2 * destroyed.len() > record.covered.len() {
            first = first.into_iter().chain(destroyed.first().copied()).min();
        }
    }
    Ok(first.filter(|ordinal| *ordinal < end))
}

/// Makes `chain` the records in force.
async fn put_in_force<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    chain: &[SummaryRecord],
    at_ms: i64,
) -> Result<(), StoreError> {
    let in_force = loop {
        let held = store.require(session).await?.chain;
        if held.len() <= chain.len() && held.iter().eq(chain.iter().map(|record| &record.id).take(held.len()))
        {
            break held.len();
        }
        store.undo(session, at_ms).await?;
    };
    for record in &chain[in_force..] {
        store.append(session, &Redacted::assume(record.clone())).await?;
    }
    Ok(())
}

/// How often a summary is put on top of what others put there.
const TRIES: usize = 32;
