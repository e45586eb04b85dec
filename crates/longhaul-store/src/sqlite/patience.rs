//! Waiting for a database that another process has locked.

use std::time::Duration;

/// Tries again while another process holds the lock. SQLite's own timeout waits in between, but not where two turn a new database
/// to its log at once: there it fails at once. A user must not be told that a database is locked because eight processes write to
/// it, nor wait for minutes where one of them never ends: all tries together take about 21 seconds.
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

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;
    use crate::sqlite::BUSY_TIMEOUT_MS;

    fn busy() -> Error {
        Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)
    }

    #[test]
    fn a_lock_that_is_never_given_up_is_told_and_one_that_is_let_go_is_waited_for() {
        let mut tries: u64 = 0;
        let locked = || -> rusqlite::Result<()> {
            tries += 1;
            Err(busy())
        };
        assert!(patiently(locked).is_err_and(|error| is_busy(&error)));
        assert!(tries * BUSY_TIMEOUT_MS <= 21_000, "{tries} tries");
        let mut left = 3;
        let freed = || {
            left -= 1;
            if left == 0 { Ok(7) } else { Err(busy()) }
        };
        assert_eq!(patiently(freed).unwrap(), 7);
    }

    #[test]
    fn what_is_no_lock_is_not_tried_again() {
        let mut tries = 0;
        let failed = || -> rusqlite::Result<()> {
            tries += 1;
            Err(Error::InvalidQuery)
        };
        assert!(patiently(failed).is_err());
        assert_eq!(tries, 1);
    }
}
