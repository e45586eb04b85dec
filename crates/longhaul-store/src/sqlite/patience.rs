//! Waiting for a database that another process has locked.

use std::time::Duration;

/// Tries again while another process holds the lock. SQLite's own timeout waits in between, but not where two turn a new database
/// to its log at once: there it fails at once. A user must not be told that a database is locked because eight processes write to
/// it.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut left = PATIENCE;
    loop {
        match attempt() {
            Err(error) if left > 0 && is_busy(&error) => {
                left -= 1;
                std::thread::sleep(PAUSE * (PATIENCE - left));
            }
            other => return other,
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// How often a locked database is tried again; each try waits for [`BUSY_TIMEOUT_MS`](super::BUSY_TIMEOUT_MS).
const PATIENCE: u32 = 24;

/// What is waited before the second try; before each one later as much more.
const PAUSE: Duration = Duration::from_millis(5);
