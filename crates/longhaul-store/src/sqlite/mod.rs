//! One file, several processes: the store on SQLite.

mod adding;
mod begins;
mod blocks;
mod cells;
mod codec;
mod desk;
mod frame;
mod index;
mod patience;
mod reply;
mod rows;
mod schema;
mod scrub;
mod settle;
mod tail;
mod worker;
mod write;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use longhaul_transcript::{ContentHash, Redacted, SessionId, Span, SummaryId, SummaryRecord};
use rusqlite::{Connection, OpenFlags};

use crate::{
    Decide, Event, Forgotten, JournalEntry, Original, RecordEntry, Selector, SessionInfo, Snapshot,
    StoreError, StoredSession, SummaryStore, forget, pack::compress, proof::Against,
};
use codec::Codec;
use desk::Desk;
use patience::patiently;
use worker::Worker;

/// Keeps sessions in one SQLite file, which several processes may use at once.
///
/// What is acknowledged is on disk (WAL, `synchronous=FULL`). What waits for a disk is done by a thread of the store's own,
/// so that no runtime is needed and none is held up; writes that wait together share one sync. Files are made readable by
/// their owner alone. What is forgotten is overwritten in the file, in its log and in the search index.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    worker: Worker,
    durability: Synchronous,
    path: PathBuf,
}

/// How much a power cut may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronous {
    /// Nothing that was acknowledged.
    #[default]
    Full,
    /// The last few writes; the file stays sound. A crash of the process alone takes nothing. A small append waits for no
    /// disk then, and is written by the thread that asks for it.
    Normal,
}

impl SqliteStore {
    /// Opens the store at `path`, which is made where it is missing. A folder that is missing is not: a mistyped path is no
    /// new place.
    ///
    /// # Errors
    /// When the file cannot be opened or made, also for want of its folder, is no database of longhaul, or is of a newer version.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, Synchronous::Full)
    }

    /// Opens the store at `path` with less durability than [`open`](Self::open).
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, durability: Synchronous) -> Result<SqliteStore, StoreError> {
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
        durability: Synchronous,
        key: &crate::StoreKey,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_by(path.as_ref(), durability, |connection| Codec::unlock(connection, key))
    }

    /// Opens the store at `path`, which is there, where it may be read and not written to: the file or its folder is locked.
    /// What would write fails. Where nobody else has it open just then, what somebody writes later is not seen.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); also when an earlier version made it, which has to be opened for writing once.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::read_by(path.as_ref(), Codec::open)
    }

    /// Does what [`open_to_read`](Self::open_to_read) does with a store that is kept under `key`.
    ///
    /// # Errors
    /// Those of [`open_to_read`](Self::open_to_read) and [`open_sealed`](Self::open_sealed).
    #[cfg(feature = "encryption")]
    pub fn open_sealed_to_read(
        path: impl AsRef<Path>,
        key: &crate::StoreKey,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::read_by(path.as_ref(), |connection| Codec::unlock(connection, key))
    }

    fn read_by(
        path: &Path,
        unlock: impl FnOnce(&Connection) -> Result<Codec, StoreError>,
    ) -> Result<SqliteStore, StoreError> {
        refuse_foreign(path)?;
        let unreadable = |error: std::io::Error| StoreError::backend(READING, error);
        let real = path.canonicalize().map_err(unreadable)?;
        // The system says why it cannot be read; SQLite says that it cannot.
        fs::File::open(&real).map_err(unreadable)?;
        let failed = |error| StoreError::backend(READING, error);
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(read_only(&real), flags).map_err(failed)?;
        connection.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS)).map_err(failed)?;
        connection.pragma_update(None, "trusted_schema", "OFF").map_err(failed)?;
        schema::must_be_present(&connection)?;
        let codec = unlock(&connection)?;
        let desk = Desk::new(connection, codec).map_err(failed)?;
        Ok(SqliteStore { worker: Worker::start(desk)?, durability: Synchronous::Full, path: path.to_owned() })
    }

    fn open_by(
        path: &Path,
        durability: Synchronous,
        unlock: impl FnOnce(&Connection) -> Result<Codec, StoreError>,
    ) -> Result<SqliteStore, StoreError> {
        refuse_foreign(path)?;
        make_private(path).map_err(|error| StoreError::backend("opening the database for writing", error))?;
        let failed = |error| StoreError::backend("opening the database", error);
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS)).map_err(failed)?;
        let synchronous = match durability {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
        };
        patiently(|| {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.pragma_update(None, "secure_delete", "ON")?;
            connection.pragma_update(None, "trusted_schema", "OFF")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "cache_size", -CACHE_KB)
        })
        .map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        schema::migrate(&mut connection)?;
        let codec = unlock(&connection)?;
        let desk = Desk::new(connection, codec).map_err(failed)?;
        Ok(SqliteStore { worker: Worker::start(desk)?, durability, path: path.to_owned() })
    }

    /// Returns where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// In one go, where the provided methods ask several times.
    async fn originals_against(
        &self,
        session: &SessionId,
        span: Span,
        against: Against,
    ) -> Result<Vec<Original>, StoreError> {
        let session = session.clone();
        let read = move |desk: &mut Desk| {
            let held = match desk.held(&session) {
                Err(StoreError::Damaged { .. }) => None,
                held => held?.map(|held| held.state),
            };
            rows::originals(&desk.connection, &desk.codec, &session, held.as_ref(), span, against)
        };
        if span.len() <= LITTLE { self.worker.read_little(read).await } else { self.worker.read(read).await }
    }
}

#[async_trait]
impl SummaryStore for SqliteStore {
    async fn state(&self, session: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let session = session.clone();
        self.worker.read_little(move |desk| Ok(desk.held(&session)?.map(|held| held.state))).await
    }

    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession, StoreError> {
        if self.durability == Synchronous::Normal {
            let little = self.worker.write_little(|desk| write::transact_little(desk, session, &decide));
            if let Some(state) = little? {
                return Ok(state);
            }
        }
        let session = session.clone();
        let (state, is_erased) =
            self.worker.write(move |desk| write::transact(desk, &session, &decide)).await?;
        if is_erased {
            self.worker.alone(|desk| scrub::where_due(&desk.connection)).await?;
        }
        Ok(state)
    }

    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let session = session.clone();
        self.worker.read(move |desk| rows::events(&desk.connection, &session, from, limit)).await
    }

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, StoreError> {
        let session = session.clone();
        let read = move |desk: &mut Desk| rows::entries(&desk.connection, &session, span);
        if span.len() <= LITTLE { self.worker.read_little(read).await } else { self.worker.read(read).await }
    }

    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
        let session = session.clone();
        self.worker.read(move |desk| rows::records(&desk.connection, &session)).await
    }

    async fn record(&self, session: &SessionId, id: &SummaryId) -> Result<Option<SummaryRecord>, StoreError> {
        let (session, id) = (session.clone(), id.clone());
        let read = move |desk: &mut Desk| rows::record(&desk.connection, &desk.codec, &session, &id);
        self.worker.read(read).await
    }

    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>, StoreError> {
        let session = session.clone();
        self.worker.read(move |desk| rows::snapshot(&desk.connection, &desk.codec, &session)).await
    }

    async fn sessions_with(&self, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
        let id = id.clone();
        self.worker.read(move |desk| rows::sessions_with(&desk.connection, &id)).await
    }

    async fn sessions_beginning_with(&self, addresses: &[ContentHash]) -> Result<Vec<SessionId>, StoreError> {
        let addresses = addresses.to_vec();
        self.worker.read(move |desk| begins::beginning_with(&desk.connection, &addresses)).await
    }

    async fn forks_of(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let session = session.clone();
        self.worker.read(move |desk| begins::forks_of(&desk.connection, &session)).await
    }

    async fn contents(
        &self,
        session: &SessionId,
        addresses: &[ContentHash],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (session, addresses) = (session.clone(), addresses.to_vec());
        let read = move |desk: &mut Desk| rows::contents(&desk.connection, &desk.codec, &session, &addresses);
        self.worker.read(read).await
    }

    async fn originals_in_line(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        self.originals_against(session, span, Against::Log).await
    }

    async fn as_journaled(&self, session: &SessionId, span: Span) -> Result<Vec<Original>, StoreError> {
        self.originals_against(session, span, Against::Content).await
    }

    /// Only of rows: what is in the tail is read against the log.
    async fn strays(&self, session: &SessionId, ordinals: &[u64]) -> Result<Vec<u64>, StoreError> {
        let (session, ordinals) = (session.clone(), ordinals.to_vec());
        let is_little = ordinals.len() as u64 <= LITTLE;
        let read = move |desk: &mut Desk| rows::strays(&desk.connection, &session, &ordinals);
        if is_little { self.worker.read_little(read).await } else { self.worker.read(read).await }
    }

    async fn find_words(
        &self,
        session: Option<&SessionId>,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let (session, words) = (session.cloned(), words.to_vec());
        loop {
            let searched = session.clone();
            let look = move |desk: &mut Desk| {
                let behind = index::behind(&desk.connection, searched.as_ref())?;
                Ok((settle::is_too_much(desk)?, behind))
            };
            let (is_too_much, behind) = self.worker.read_little(look).await?;
            // More than one process leaves waiting is not searched word by word.
            if is_too_much && self.worker.write(settle::one_too_many).await? {
                continue;
            }
            if !behind.is_empty() {
                let catch_up =
                    move |desk: &mut Desk| index::catch_up_all(&desk.connection, &desk.codec, &behind);
                self.worker.write(catch_up).await?;
            }
            break;
        }
        let find = move |desk: &mut Desk| {
            rows::find_words(&desk.connection, &desk.codec, session.as_ref(), &words, limit)
        };
        self.worker.read(find).await
    }

    /// Also overwrites what an earlier call could not, because somebody was reading then.
    async fn forget_in_line(
        &self,
        session: &SessionId,
        selector: &Selector,
        at_ms: i64,
    ) -> Result<Forgotten, StoreError> {
        let forgotten = forget::forget(self, session, selector, at_ms).await?;
        if forgotten.is_empty() {
            self.worker.alone(|desk| scrub::where_due(&desk.connection)).await?;
        }
        Ok(forgotten)
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, StoreError> {
        self.worker.read(|desk| rows::sessions(&desk.connection)).await
    }

    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<(), StoreError> {
        let (alias, session) = (alias.clone(), session.clone());
        self.worker.write(move |desk| rows::set_alias(&desk.connection, &alias, &session)).await
    }

    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
        let alias = alias.clone();
        self.worker.read_little(move |desk| rows::alias(&desk.connection, &alias)).await
    }

    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        let key = *key;
        self.worker.read(move |desk| rows::cached(&desk.connection, &desk.codec, &key)).await
    }

    async fn all_cached(&self, keys: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let keys = keys.to_vec();
        let read = move |desk: &mut Desk| {
            keys.iter().map(|key| rows::cached(&desk.connection, &desk.codec, key)).collect()
        };
        self.worker.read(read).await
    }

    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<(), StoreError> {
        // Here, and not by the worker, which would need a copy: the facts of a long conversation are megabytes.
        let (key, packed) = (*key, compress(value));
        self.worker.write(move |desk| rows::cache(&desk.connection, &desk.codec, &key, &packed)).await
    }
}

/// Refuses a file of another program while nothing of it was changed yet: opening a database may change its mode and its
/// journal. What cannot be read is judged when it is opened.
fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    /// Where the header of a database has its number of pages and its application id.
    const PAGES: usize = 28;
    const OWNER: usize = 68;
    let foreign = || Err(StoreError::backend("opening the database", "the file belongs to another program"));
    let Ok(found) = path.metadata() else { return Ok(()) };
    if !found.is_file() {
        let what = "expected a file, or nothing there yet";
        return Err(StoreError::backend("opening the database", what));
    }
    let mut header = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(100).read_to_end(&mut header));
    if read.is_err() || header.is_empty() {
        return Ok(());
    }
    let number = |at: usize| {
        header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
    };
    let is_database = header.starts_with(b"SQLite format 3\0");
    // One that was just begun has one page, and its owner is in the journal still.
    let is_ours = number(OWNER) == schema::APPLICATION_ID as u32 || number(OWNER) == 0 && number(PAGES) <= 1;
    if is_database && is_ours { Ok(()) } else { foreign() }
}

/// Returns the URI of the database at `path`, to be read: with the files that SQLite keeps beside it where somebody has it open or
/// left what is not in it yet, and without any otherwise, which a locked folder would not take. The path has no links in it:
/// SQLite keeps those files beside what a link stands for.
fn read_only(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let encoded = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let how = if is_in_use(path) { "mode=ro" } else { "immutable=1" };
    format!("file:{}?{how}", encoded.collect::<String>())
}

/// Returns whether somebody has the database at `path` open, or was killed and left what is not in it yet. Of a writer that has
/// just cleared the log it is empty, and there; without any, whatever else lies there was left behind.
fn is_in_use(path: &Path) -> bool {
    let size = |suffix| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        fs::metadata(beside).map(|file| file.len()).ok()
    };
    size("-wal").is_some_and(|log| log > 0 || size("-shm").is_some())
}

/// Makes the file and its folder, for their owner alone. SQLite gives its own files beside it the same rights.
fn make_private(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Of one that cannot be looked at the system says why.
    if let Some(folder) = folder.filter(|folder| folder.try_exists().is_ok_and(|exists| !exists)) {
        let said = format!("the folder {} does not exist; it has to be made first", folder.display());
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, said));
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

const READING: &str = "opening the database for reading";

/// How much of the file SQLite keeps in memory, in KB: what waits in tails is read when it is settled.
const CACHE_KB: i64 = 8 << 10;

/// How many originals are read by the caller itself: a block or two.
const LITTLE: u64 = 4;

/// How long SQLite itself waits for a lock, in milliseconds; who waits longer tries again.
const BUSY_TIMEOUT_MS: u64 = 800;
