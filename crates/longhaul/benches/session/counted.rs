//! A store that counts what is written to it and read from it beside messages.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use async_trait::async_trait;
use longhaul::{
    store::{
        Commit, Decide, Event, JournalEntry, Original, RecordEntry, SessionInfo, SessionState, Snapshot,
        StoreError, SummaryStore,
    },
    transcript::{ContentHash, Redacted, SessionId, Span},
};

/// A store, and what went through it.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: Arc<dyn SummaryStore>,
    /// Bytes of snapshots written.
    pub(crate) snapshots: AtomicU64,
    /// Bytes written to the cache, where facts are kept.
    pub(crate) cached: AtomicU64,
    /// Originals read.
    pub(crate) originals: AtomicU64,
}

impl Counted {
    pub(crate) fn new(inner: Arc<dyn SummaryStore>) -> Counted {
        let none = AtomicU64::default;
        Counted { inner, snapshots: none(), cached: none(), originals: none() }
    }

    /// Returns what was counted since this was last asked: bytes of snapshots, of the cache, originals read.
    pub(crate) fn take(&self) -> (u64, u64, u64) {
        (self.snapshots.swap(0, Relaxed), self.cached.swap(0, Relaxed), self.originals.swap(0, Relaxed))
    }
}

#[async_trait]
impl SummaryStore for Counted {
    async fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError> {
        self.inner.state(session).await
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<SessionState, StoreError> {
        self.inner.transact(session, decide).await
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.inner.events(session, from, limit).await
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        self.inner.entries(session, span).await
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        self.inner.records(session).await
    }

    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(session).await
    }

    async fn contents(
        &self,
        session: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.inner.contents(session, addresses).await
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.inner.find_words(session, words, limit).await
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.inner.sessions().await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        self.inner.set_alias(alias, session).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        self.inner.alias(alias).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.cached(key).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        self.cached.fetch_add(value.len() as u64, Relaxed);
        self.inner.cache(key, value).await
    }

    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<SessionState, StoreError> {
        let bytes = commit.snapshot.as_ref().map_or(0, |snapshot| snapshot.len() as u64);
        self.snapshots.fetch_add(bytes, Relaxed);
        self.inner.commit(session, commit).await
    }

    async fn originals(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        self.originals.fetch_add(span.len(), Relaxed);
        self.inner.originals(session, span).await
    }
}
