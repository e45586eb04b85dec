//! Several machines, one server: the store on PostgreSQL.

mod client;
mod failure;
mod read;
mod schema;
mod tls;
mod write;

use std::{future::Future, sync::Arc};

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Redacted, SessionId, Span, SummaryId};
use tokio::runtime::Runtime;

use crate::{
    Decide, Event, Forgotten, JournalEntry, RecordEntry, Selector, SessionInfo, Snapshot, StoreError,
    StoreKey, StoredSession, SummaryStore, forget,
};
use client::Server;

/// Keeps sessions in a schema of a PostgreSQL database (13 or later), which several machines may use at once.
///
/// What is acknowledged was committed, as durably as the server's `synchronous_commit` says. A connection that is lost,
/// a server that restarts and a deadlock are waited out for half a minute; a commit whose answer was lost is looked
/// for before it is repeated, so that nothing is doubled. The work is done on threads of the store's own, so that
/// its futures run on any executor.
///
/// The server sees no text: contents are sealed before they are sent, each with a key of its own that stands in another
/// table, and words are searched for by keyed hashes. What is forgotten is destroyed by destroying its key.
/// Without a [`StoreKey`] these keys are kept in the database; with one they are themselves sealed.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    server: Arc<Server>,
    runtime: Arc<Background>,
}

/// Where in a server a store is, and how it is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The schema that holds the store, made where it is missing: lower-case letters, digits and `_`, at most 63 bytes,
    /// not beginning with a digit. Default: `longhaul`.
    pub schema: String,
    /// The key that contents' keys are kept under. Default: none.
    pub key: Option<StoreKey>,
    /// How many connections this store opens at most. Default: 8. More of them share the work of a store that many
    /// threads use; each costs the server a process.
    pub max_connections: usize,
}

impl Default for PostgresOptions {
    fn default() -> PostgresOptions {
        PostgresOptions { schema: "longhaul".to_owned(), key: None, max_connections: 8 }
    }
}

impl PostgresStore {
    /// Opens the store that a URL (`postgres://user@host/database`) or a list of `key=value` names, as libpq does.
    ///
    /// With another machine it talks under TLS, whose certificate must be one that this machine trusts (or that is signed
    /// under what the file `SSL_CERT_FILE` holds); `sslmode=disable` in the URL goes in the clear. On this machine it goes in
    /// the clear; `sslmode=require` has TLS there too.
    ///
    /// # Errors
    /// When the URL cannot be read, the server cannot be reached, or the store is of a newer version or under a key.
    pub fn connect(url: &str) -> Result<PostgresStore, StoreError> {
        PostgresStore::connect_with(url, PostgresOptions::default())
    }

    /// Opens the store with other options than the usual. Returns when the server has answered.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect), and when the name of the schema or the key is wrong.
    pub fn connect_with(url: &str, options: PostgresOptions) -> Result<PostgresStore, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("longhaul-store")
            .enable_all()
            .build()
            .map_err(|error| StoreError::backend("starting the store's threads", error))?;
        let runtime = Background(Some(runtime));
        let (answer, opened) = std::sync::mpsc::channel();
        let url = url.to_owned();
        runtime.spawn(async move {
            // The caller waits for it; were it gone, so would be the store.
            let _ = answer.send(Server::open(&url, options).await);
        });
        let server = opened.recv().map_err(|_| StoreError::Closed)??;
        Ok(PostgresStore { server: Arc::new(server), runtime: Arc::new(runtime) })
    }

    /// Does the work on the store's own threads. It goes on to its end where the caller's future is dropped.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.runtime.spawn(work).await.unwrap_or(Err(StoreError::Closed))
    }
}

/// A runtime that may be dropped anywhere, inside another runtime as well.
#[derive(Debug)]
struct Background(Option<Runtime>);

impl Background {
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.0.as_ref().expect("it is taken when it is dropped").spawn(work)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[async_trait]
impl SummaryStore for PostgresStore {
    async fn state(&self, session: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::state(&server, &session).await }).await
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { write::transact(&server, &session, decide).await }).await
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::events(&server, &session, from, limit).await }).await
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        if span.is_empty() {
            return Ok(Vec::new());
        }
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::entries(&server, &session, span).await }).await
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::records(&server, &session).await }).await
    }

    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::snapshot(&server, &session).await }).await
    }

    async fn sessions_with(&self, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
        let (server, id) = (self.server.clone(), id.clone());
        self.run(async move { read::sessions_with(&server, &id).await }).await
    }

    async fn sessions_beginning_with(&self, addresses: &[ContentHash]) -> Result<Vec<SessionId>, StoreError> {
        let (server, addresses) = (self.server.clone(), addresses.to_vec());
        self.run(async move { read::sessions_beginning_with(&server, &addresses).await }).await
    }

    async fn forks_of(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let (server, session) = (self.server.clone(), session.clone());
        self.run(async move { read::forks_of(&server, &session).await }).await
    }

    async fn contents(
        &self,
        _: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let (server, addresses) = (self.server.clone(), addresses.to_vec());
        self.run(async move { read::contents(&server, &addresses).await }).await
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let (server, session, words) = (self.server.clone(), session.cloned(), words.to_vec());
        self.run(async move { read::find_words(&server, session.as_ref(), &words, limit).await }).await
    }

    /// Also overwrites what an earlier call could not.
    async fn forget_in_line(
        &self,
        session: &SessionId,
        selector: &Selector,
        at_ms: i64,
    ) -> Result<Forgotten, StoreError> {
        let forgotten = forget::forget(self, session, selector, at_ms).await?;
        if forgotten.is_empty() {
            let server = self.server.clone();
            self.run(async move { write::scrub_where_due(&server).await }).await?;
        }
        Ok(forgotten)
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let server = self.server.clone();
        self.run(async move { read::sessions(&server).await }).await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        let (server, alias, session) = (self.server.clone(), alias.clone(), session.clone());
        self.run(async move { write::set_alias(&server, &alias, &session).await }).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        let (server, alias) = (self.server.clone(), alias.clone());
        self.run(async move { read::alias(&server, &alias).await }).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.all_cached(&[*key]).await?.pop().flatten())
    }

    async fn all_cached(&self, keys: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (server, keys) = (self.server.clone(), keys.to_vec());
        self.run(async move { read::all_cached(&server, &keys).await }).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        let (server, key, value) = (self.server.clone(), *key, (**value).clone());
        self.run(async move { write::cache(&server, &key, &value).await }).await
    }
}

/// Threads of a store: they wait for the network, and seal and compress.
const WORKERS: usize = 2;
