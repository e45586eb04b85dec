//! A connection with what is known about the sessions that it wrote last.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use longhaul_transcript::SessionId;
use rusqlite::{Connection, hooks::Wal};

use super::{
    BUSY_TIMEOUT_MS,
    cells::WRITING,
    codec::Codec,
    patience::{is_busy, patiently},
    rows::{self, Held},
};
use crate::StoreError;

/// A connection to the database. One thread at a time has it.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) connection: Connection,
    pub(super) codec: Codec,
    /// Sessions as they are now, as long as nobody else has written.
    known: HashMap<SessionId, Held>,
    /// What `data_version` was when they were.
    version: i64,
    /// How long the write-ahead log is, in pages.
    pub(super) log_pages: Arc<AtomicU32>,
    /// How often something was committed.
    commits: u64,
    /// Whether a tail has become longer by a chunk since they were looked at.
    pub(super) has_grown: bool,
}

impl Desk {
    /// # Errors
    /// When SQLite refuses to tell of its log.
    pub(super) fn new(mut connection: Connection, codec: Codec) -> rusqlite::Result<Desk> {
        let log_pages = Arc::new(AtomicU32::new(0));
        let told = log_pages.clone();
        // In place of SQLite's own checkpoints, which a caller would wait for in the middle of an append.
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            told.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        let known = HashMap::new();
        Ok(Desk { connection, codec, known, version: 0, log_pages, commits: 0, has_grown: false })
    }

    /// Returns a session as it is in the present transaction.
    pub(super) fn held(&mut self, id: &SessionId) -> Result<Option<Held>, StoreError> {
        let query = self.connection.prepare_cached("PRAGMA data_version");
        let version = query.and_then(|mut query| query.query_row([], |row| row.get(0))).map_err(WRITING)?;
        if self.version != version {
            (self.version, self.known) = (version, HashMap::new());
        }
        if let Some(held) = self.known.get(id) {
            return Ok(Some(held.clone()));
        }
        let held = rows::session(&self.connection, id)?;
        if let Some(held) = &held {
            self.keep(id, held.clone());
        }
        Ok(held)
    }

    /// Remembers a session as it is once the present transaction is committed; [`forget`](Self::forget) when it is not.
    pub(super) fn keep(&mut self, id: &SessionId, held: Held) {
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(id.clone(), held);
    }

    /// Forgets what is known of all sessions.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Reads, all of it from one state of the database.
    pub(super) fn read<T>(
        &mut self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let failed = |error| StoreError::backend("reading the database", error);
        patiently(|| self.run("BEGIN")).map_err(failed)?;
        let result = caught(|| work(self));
        let ended = if self.connection.is_autocommit() { Ok(()) } else { self.run("COMMIT") };
        if ended.is_err() && !self.connection.is_autocommit() {
            self.run("ROLLBACK").map_err(failed)?;
        }
        // What went wrong first says more: a file that cannot be read cannot end a transaction either.
        result.and_then(|value| ended.map(|()| value).map_err(failed))
    }

    /// Writes in a transaction of its own.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Desk) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        patiently(|| self.run("BEGIN IMMEDIATE")).map_err(WRITING)?;
        self.finish(work)
    }

    /// Does what [`write`](Self::write) does, without waiting for anybody; `None` where another process is writing, and
    /// where `work` has written nothing and returns `None`.
    pub(super) fn write_at_once<T>(
        &mut self,
        work: impl FnOnce(&mut Desk) -> Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.connection.busy_timeout(Duration::ZERO).map_err(WRITING)?;
        let begun = self.run("BEGIN IMMEDIATE");
        self.connection.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS)).map_err(WRITING)?;
        match begun {
            Ok(()) => self.finish(work),
            Err(error) if is_busy(&error) => Ok(None),
            Err(error) => Err(WRITING(error)),
        }
    }

    fn finish<T>(&mut self, work: impl FnOnce(&mut Desk) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let result = caught(|| work(self));
        let result = result.and_then(|value| self.commit().map(|()| value).map_err(WRITING));
        if result.is_err() {
            self.roll_back().map_err(WRITING)?;
        }
        result
    }

    pub(super) fn commit(&mut self) -> rusqlite::Result<()> {
        patiently(|| self.run("COMMIT"))?;
        self.commits += 1;
        Ok(())
    }

    pub(super) fn roll_back(&mut self) -> rusqlite::Result<()> {
        self.forget();
        // An error such as a full disk may have ended the transaction already.
        if self.connection.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") }
    }

    /// Runs a statement that is prepared once: it stands around each write.
    pub(super) fn run(&self, statement: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits
    }

    /// Returns whether there is something for [`tend`](Self::tend) to do.
    pub(super) fn is_due(&self) -> bool {
        self.has_grown || self.is_log_long()
    }

    pub(super) fn is_log_long(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= LOG_PAGES
    }
}

/// A panic in a caller's decision must not take the store down with it.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(StoreError::Closed))
}

/// How many sessions are remembered.
const MOST_KNOWN: usize = 64;

/// The length of the write-ahead log from which it is written back into the database, in pages of 4 KB. SQLite's own
/// 1,000 wait for the disk four times as often.
const LOG_PAGES: u32 = 4_000;
