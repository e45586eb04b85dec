//! One file, several processes: the store on SQLite.

mod blocks;
mod codec;
mod index;
mod reply;
mod rows;
mod schema;
mod worker;
mod write;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Redacted, SessionId, Span};
use rusqlite::Connection;

use crate::{Decide, Event, JournalEntry, RecordEntry, SessionInfo, SessionState, StoreError, SummaryStore};
use codec::Codec;
use worker::{Worker, patiently};

/// Keeps sessions in one SQLite file, which several processes may use at once.
///
/// What is acknowledged is on disk (WAL, `synchronous=FULL`). The connection lives on a thread of its own, so that no
/// runtime is needed; writes that wait together share one sync. Files are made readable by their owner alone. What is
/// forgotten is overwritten in the file, in its log and in the search index.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    worker: Worker,
    codec: Codec,
    path: PathBuf,
}

/// How much a power cut may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was acknowledged.
    #[default]
    Full,
    /// The last few writes; the file stays sound. A crash of the process alone takes nothing.
    Normal,
}

impl SqliteStore {
    /// Opens the store at `path`, which is made where it is missing, with its folder.
    ///
    /// # Errors
    /// When the file cannot be opened or made, is no database of longhaul, or is of a newer version.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, Durability::Full)
    }

    /// Opens the store at `path` with less durability than [`open`](Self::open).
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, durability: Durability) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_by(path.as_ref(), durability, Codec::open)
    }

    /// Opens the store at `path`, which is kept under `key`: contents and the cache are sealed, and the search index holds
    /// keyed hashes of words. Ids, names, times, sizes and the log, which names contents by their hash, are not sealed.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`StoreError::Locked`] when the store has another key or was begun without one.
    #[cfg(feature = "encryption")]
    pub fn open_sealed(
        path: impl AsRef<Path>,
        durability: Durability,
        key: &crate::StoreKey,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_by(path.as_ref(), durability, |connection| Codec::unlock(connection, key))
    }

    fn open_by(
        path: &Path,
        durability: Durability,
        unlock: impl FnOnce(&Connection) -> Result<Codec, StoreError>,
    ) -> Result<SqliteStore, StoreError> {
        make_private(path).map_err(|error| StoreError::backend("making the database's file", error))?;
        let failed = |error| StoreError::backend("opening the database", error);
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS)).map_err(failed)?;
        let synchronous = match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        patiently(|| {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.pragma_update(None, "secure_delete", "ON")?;
            connection.pragma_update(None, "trusted_schema", "OFF")
        })
        .map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        schema::migrate(&mut connection)?;
        let codec = unlock(&connection)?;
        Ok(SqliteStore { worker: Worker::start(connection)?, codec, path: path.to_owned() })
    }

    /// Returns where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[async_trait]
impl SummaryStore for SqliteStore {
    async fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError> {
        let session = session.clone();
        self.worker
            .read(move |connection| Ok(rows::session(connection, &session)?.map(|(_, state)| state)))
            .await
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<SessionState, StoreError> {
        let (session, codec) = (session.clone(), self.codec.clone());
        let transact = move |connection: &Connection| write::transact(connection, &codec, &session, &decide);
        let (state, erased) = self.worker.write(transact).await?;
        if erased {
            self.worker.read(rows::scrub).await?;
        }
        Ok(state)
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let session = session.clone();
        self.worker.read(move |connection| rows::events(connection, &session, from, limit)).await
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        let session = session.clone();
        self.worker.read(move |connection| rows::entries(connection, &session, span)).await
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        let session = session.clone();
        self.worker.read(move |connection| rows::records(connection, &session)).await
    }

    async fn contents(
        &self,
        _: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (codec, addresses) = (self.codec.clone(), addresses.to_vec());
        self.worker.read(move |connection| rows::contents(connection, &codec, &addresses)).await
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let (codec, session, words) = (self.codec.clone(), session.cloned(), words.to_vec());
        let searched = session.clone();
        let behind = self.worker.read(move |connection| index::behind(connection, searched.as_ref())).await?;
        if !behind.is_empty() {
            let codec = codec.clone();
            self.worker.write(move |connection| index::catch_up_all(connection, &codec, &behind)).await?;
        }
        self.worker
            .read(move |connection| rows::find_words(connection, &codec, session.as_ref(), &words, limit))
            .await
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.worker.read(rows::sessions).await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        let (alias, session) = (alias.clone(), session.clone());
        self.worker.write(move |connection| rows::set_alias(connection, &alias, &session)).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        let alias = alias.clone();
        self.worker.read(move |connection| rows::alias(connection, &alias)).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        let (codec, key) = (self.codec.clone(), *key);
        self.worker.read(move |connection| rows::cached(connection, &codec, &key)).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        let (codec, key, value) = (self.codec.clone(), *key, (**value).clone());
        self.worker.write(move |connection| rows::cache(connection, &codec, &key, &value)).await
    }
}

/// Makes the file and its folder, for their owner alone. SQLite gives its own files beside it the same rights.
fn make_private(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.exists()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        let private = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
        if file.metadata()?.permissions() != private {
            file.set_permissions(private)?;
        }
    }
    drop(file);
    Ok(())
}

/// How long SQLite itself waits for a lock, in milliseconds.
const BUSY_TIMEOUT_MS: u64 = 5_000;
