//! Clearing the write-ahead log of what was forgotten.
//!
//! The log keeps a page as it was until a checkpoint overwrites it, and none can while another process reads. So each
//! forgetting leaves a note of its own with what it erased, and only who cleared the log after it takes that note away.

use longhaul_transcript::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

use super::patience::patiently;
use crate::StoreError;

/// Notes, with what is being erased, that the log is to be cleared.
pub(super) fn note(connection: &Connection) -> rusqlite::Result<()> {
    let note = "INSERT INTO cache (key, value) VALUES (?1, randomblob(16))
                ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(note, [key().0]).map(drop)
}

/// Clears the log where what was forgotten may still be in it: after each forgetting, and where somebody was reading when an
/// earlier one could not. After a kill before this, whoever opens the store next and closes it does the same.
///
/// # Errors
/// [`StoreError::NotOverwritten`] alone: what was forgotten is written down as such by now, whatever fails here.
pub(super) fn where_due(connection: &Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| StoreError::NotOverwritten { source: error.into() };
    let Some(note) = noted(connection).map_err(failed)? else { return Ok(()) };
    let checkpoint =
        || connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    match patiently(checkpoint).map_err(failed)? {
        0 => done(connection, &note).map_err(failed),
        _ => {
            let reason = "another process is reading; forget again when it has ended to clear the log";
            Err(StoreError::NotOverwritten { source: reason.into() })
        }
    }
}

/// Returns the note of the last forgetting, where there is one.
fn noted(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    patiently(|| {
        let query =
            connection.query_row("SELECT value FROM cache WHERE key = ?1", [key().0], |row| row.get(0));
        query.optional()
    })
}

/// Takes the note away, unless something was forgotten since it was read. It alone is left in the log, which whoever writes
/// next clears.
fn done(connection: &Connection, note: &[u8]) -> rusqlite::Result<()> {
    let gone =
        || connection.execute("DELETE FROM cache WHERE key = ?1 AND value = ?2", params![key().0, note]);
    patiently(gone).map(drop)
}

/// The key under which it is noted.
fn key() -> ContentHash {
    crate::lasting_key([b"the log is to be cleared".as_slice()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_fails_what_was_forgotten_is_written_down() {
        let not_overwritten = |connection: &Connection| {
            let error = where_due(connection).unwrap_err();
            assert!(matches!(error, StoreError::NotOverwritten { .. }), "{error:?}");
        };
        let mut connection = Connection::open_in_memory().unwrap();
        not_overwritten(&connection);
        super::super::schema::migrate(&mut connection).unwrap();
        note(&connection).unwrap();
        connection.pragma_update(None, "query_only", "ON").unwrap();
        not_overwritten(&connection);
        connection.pragma_update(None, "query_only", "OFF").unwrap();
        where_due(&connection).unwrap();
    }

    #[test]
    fn a_note_that_was_left_meanwhile_stays() {
        let mut connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&mut connection).unwrap();
        assert_eq!(noted(&connection).unwrap(), None);
        note(&connection).unwrap();
        let mine = noted(&connection).unwrap().unwrap();
        // Another process forgets while this one clears the log, and cannot clear it itself.
        note(&connection).unwrap();
        done(&connection, &mine).unwrap();
        let theirs = noted(&connection).unwrap().expect("theirs is not done");
        done(&connection, &theirs).unwrap();
        assert_eq!(noted(&connection).unwrap(), None);
    }
}
