//! A store for tests that fails or goes silent where it is told to, and counts what it is asked for.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use longhaul_store::{Commit, MemoryStore, Original, RecordEntry, StoreError, StoredSession, hand_on};
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
    read: Mutex<Trouble>,
    /// How often something was written.
    pub(super) n_written: AtomicU64,
    /// How many originals were read.
    pub(super) n_read: AtomicU64,
    /// How often the records of a session were listed.
    pub(super) n_listed: AtomicU64,
}

impl Troubled {
    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    pub(super) fn trouble_cache(&self, trouble: Trouble) {
        *self.cache.lock().unwrap() = trouble;
    }

    pub(super) fn trouble_alias(&self, trouble: Trouble) {
        *self.alias.lock().unwrap() = trouble;
    }

    pub(super) fn trouble_commit(&self, trouble: Trouble) {
        *self.commit.lock().unwrap() = trouble;
    }

    pub(super) fn trouble_read(&self, trouble: Trouble) {
        *self.read.lock().unwrap() = trouble;
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

hand_on! {
    impl SummaryStore for Troubled;
    inner: [state transact events entries snapshot contents find_words sessions alias];

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        self.n_listed.fetch_add(1, Relaxed);
        self.inner.records(session).await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        troubled(&self.alias, self.inner.set_alias(alias, session)).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        self.n_written.fetch_add(1, Relaxed);
        troubled(&self.cache, self.inner.cache(key, value)).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        troubled(&self.cache, self.inner.cached(key)).await
    }

    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<StoredSession, StoreError> {
        self.n_written.fetch_add(1, Relaxed);
        troubled(&self.commit, self.inner.commit(session, commit)).await
    }

    async fn originals_in_line(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        let originals = troubled(&self.read, self.inner.originals_in_line(session, span)).await?;
        self.n_read.fetch_add(originals.len() as u64, Relaxed);
        Ok(originals)
    }
}
