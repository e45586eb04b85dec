//! A store that is shared is a store.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};

use crate::{
    Commit, Decide, Event, Forgotten, Hit, JournalEntry, Journaled, Original, RecordEntry, Selector,
    SessionInfo, SessionState, Snapshot, StoreError, SummaryStore,
};

// Those that a backend may do better than the provided method are handed on too, or it would never be asked.
#[async_trait]
impl<S: SummaryStore + ?Sized> SummaryStore for Arc<S> {
    async fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError> {
        (**self).state(session).await
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<SessionState, StoreError> {
        (**self).transact(session, decide).await
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        (**self).events(session, from, limit).await
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        (**self).entries(session, span).await
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        (**self).records(session).await
    }

    async fn contents(
        &self,
        session: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        (**self).contents(session, addresses).await
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        (**self).find_words(session, words, limit).await
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        (**self).sessions().await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        (**self).set_alias(alias, session).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        (**self).alias(alias).await
    }

    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError> {
        (**self).snapshot(session).await
    }

    async fn sessions_with(&self, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
        (**self).sessions_with(id).await
    }

    async fn journal(
        &self,
        session: &SessionId,
        start: u64,
        messages: &[Redacted<Message>],
        at_ms: i64,
    ) -> Result<Journaled, StoreError> {
        (**self).journal(session, start, messages, at_ms).await
    }

    async fn extend(
        &self,
        session: &SessionId,
        messages: &[Redacted<Message>],
        at_ms: i64,
    ) -> Result<Span, StoreError> {
        (**self).extend(session, messages, at_ms).await
    }

    async fn append(
        &self,
        session: &SessionId,
        record: &Redacted<SummaryRecord>,
    ) -> Result<SessionState, StoreError> {
        (**self).append(session, record).await
    }

    async fn commit(&self, session: &SessionId, commit: &Commit) -> Result<SessionState, StoreError> {
        (**self).commit(session, commit).await
    }

    async fn head(&self, session: &SessionId) -> Result<Option<SummaryRecord>, StoreError> {
        (**self).head(session).await
    }

    async fn chain(&self, session: &SessionId) -> Result<Vec<SummaryRecord>, StoreError> {
        (**self).chain(session).await
    }

    async fn record(&self, session: &SessionId, id: &SummaryId) -> Result<Option<SummaryRecord>, StoreError> {
        (**self).record(session, id).await
    }

    async fn originals(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        (**self).originals(session, span).await
    }

    async fn search(
        &self,
        session: Option<&SessionId>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        (**self).search(session, query, limit).await
    }

    async fn forget(
        &self,
        session: &SessionId,
        selector: &Selector,
        at_ms: i64,
    ) -> Result<Forgotten, StoreError> {
        (**self).forget(session, selector, at_ms).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).cached(key).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        (**self).cache(key, value).await
    }
}
