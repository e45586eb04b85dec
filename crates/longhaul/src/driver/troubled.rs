//! A store for tests that fails or goes silent where it is told to, and counts what it is asked for.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use async_trait::async_trait;
use longhaul_store::{
    Commit, Decide, Event, JournalEntry, MemoryStore, Original, RecordEntry, SessionInfo, SessionState,
    Snapshot, StoreError, SummaryStore,
};
use longhaul_transcript::{ContentHash, Redacted, SessionId, Span};

/// What a store does with a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trouble {
    /// What it is asked.
    #[default]
    None,
    /// Nothing, and says so.
    Fails,
    /// What it is asked, and its answer never comes.
    Silent,
}

/// A store in memory, and its troubles.
#[derive(Debug, Default)]
pub(super) struct Troubled {
    inner: MemoryStore,
    cache: Mutex<Trouble>,
    alias: Mutex<Trouble>,
    commit: Mutex<Trouble>,
    /// How many originals were read.
    pub(super) n_read: AtomicU64,
    /// How often the records of a session were listed.
    pub(super) n_listed: AtomicU64,
}

impl Troubled {
    pub(super) fn trouble_cache(&self, trouble: Trouble) {
        *self.cache.lock().unwrap() = trouble;
    }

    pub(super) fn trouble_alias(&self, trouble: Trouble) {
        *self.alias.lock().unwrap() = trouble;
    }

    pub(super) fn trouble_commit(&self, trouble: Trouble) {
        *self.commit.lock().unwrap() = trouble;
    }
}

async fn troubled<T>(
    trouble: &Mutex<Trouble>,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let trouble = *trouble.lock().unwrap();
    if trouble == Trouble::Fails {
        return Err(StoreError::Closed);
    }
    let done = work.await;
    if trouble == Trouble::Silent {
        std::future::pending::<()>().await;
    }
    done
}

#[async_trait]
impl SummaryStore for Troubled {
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
        self.n_listed.fetch_add(1, Relaxed);
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
        troubled(&self.alias, self.inner.set_alias(alias, session)).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        self.inner.alias(alias).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.cached(key).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        troubled(&self.cache, self.inner.cache(key, value)).await
    }

    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<SessionState, StoreError> {
        troubled(&self.commit, self.inner.commit(session, commit)).await
    }

    async fn originals(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        let originals = self.inner.originals(session, span).await?;
        self.n_read.fetch_add(originals.len() as u64, Relaxed);
        Ok(originals)
    }
}
