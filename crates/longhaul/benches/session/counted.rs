//! A store that counts what is written to it and read from it beside messages.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use longhaul::{
    store::{Commit, Original, StoreError, StoredSession, SummaryStore, hand_on},
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

    fn inner(&self) -> &dyn SummaryStore {
        &*self.inner
    }

    /// Returns what was counted since this was last asked: bytes of snapshots, of the cache, originals read.
    pub(crate) fn take(&self) -> (u64, u64, u64) {
        (self.snapshots.swap(0, Relaxed), self.cached.swap(0, Relaxed), self.originals.swap(0, Relaxed))
    }
}

hand_on! {
    impl SummaryStore for Counted;
    inner: [
        state transact events entries records snapshot contents find_words sessions sessions_with
        sessions_beginning_with forks_of set_alias alias cached
    ];

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        self.cached.fetch_add(value.len() as u64, Relaxed);
        self.inner.cache(key, value).await
    }

    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<StoredSession, StoreError> {
        let bytes = commit.snapshot.as_ref().map_or(0, |snapshot| snapshot.len() as u64);
        self.snapshots.fetch_add(bytes, Relaxed);
        self.inner.commit(session, commit).await
    }

    async fn originals_in_line(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        self.originals.fetch_add(span.len(), Relaxed);
        self.inner.originals_in_line(session, span).await
    }
}
