//! Waiting for a database that another process has locked.

use std::time::{Duration, Instant};

/// Tries again while another process holds the lock. SQLite's own timeout waits in between, but not where two turn a new database
/// to its log at once: there it fails at once. A user must not be told that a database is locked because eight processes write to
/// it, nor wait for minutes where one of them never ends.
pub(super) fn patiently<T>(attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    patiently_for(LONGEST_WAIT, attempt)
}

fn patiently_for<T>(
    longest: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let began = Instant::now();
    let mut pause = Duration::ZERO;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && began.elapsed() < longest => {
                pause = (pause + PAUSE).min(LONGEST_PAUSE);
                std::thread::sleep(pause);
            }
            other => return other,
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// From when on a locked database is not tried again; the last try may wait for [`BUSY_TIMEOUT_MS`](super::BUSY_TIMEOUT_MS).
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// What is waited before the second try; before each one later as much more, up to the longest.
const PAUSE: Duration = Duration::from_millis(5);

const LONGEST_PAUSE: Duration = Duration::from_millis(120);

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    fn busy() -> Error {
        Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)
    }

    #[test]
    fn a_lock_that_is_never_given_up_is_told_and_one_that_is_let_go_is_waited_for() {
        let mut tries = 0;
        let slow = || -> rusqlite::Result<()> {
            tries += 1;
            std::thread::sleep(Duration::from_millis(30));
            Err(busy())
        };
        assert!(patiently_for(Duration::from_millis(50), slow).is_err_and(|error| is_busy(&error)));
        assert!((1..=2).contains(&tries), "tried {tries} times, each longer than half of the wait");
        let mut left = 3;
        let freed = || {
            left -= 1;
            if left == 0 { Ok(7) } else { Err(busy()) }
        };
        assert_eq!(patiently_for(LONGEST_WAIT, freed).unwrap(), 7);
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
