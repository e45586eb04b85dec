//! What stands in the columns of rows, and what it means that they cannot be read or written.

use longhaul_transcript::SessionId;
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};

use crate::{Problem, StoreError, StoredSession};

/// Returns a session's key.
pub(super) fn key(connection: &Connection, id: &SessionId) -> Result<Option<i64>, StoreError> {
    let query = connection.prepare_cached("SELECT key FROM sessions WHERE id = ?1");
    let key = query.and_then(|mut query| query.query_row([id.as_str()], |row| row.get(0)).optional());
    key.map_err(reading(id))
}

pub(super) fn read_state(session: &SessionId, json: &str) -> Result<StoredSession, StoreError> {
    let changed = || StoreError::Damaged { session: session.clone(), problem: Problem::ChangedState };
    let state: StoredSession = serde_json::from_str(json).map_err(|_| changed())?;
    match state.version > StoredSession::VERSION {
        true => Err(StoreError::NewerVersion {
            what: "the session",
            found: state.version,
            known: StoredSession::VERSION,
        }),
        false => Ok(state),
    }
}

/// Writes the state of a session as it is without a tail.
pub(super) fn write_state(connection: &Connection, key: i64, state: &StoredSession) -> rusqlite::Result<()> {
    let json = serde_json::to_string(state).expect("a state has string keys only");
    let parent = state.forked_from.as_ref().map(|from| from.session.as_str());
    connection
        .prepare_cached(
            "UPDATE sessions SET changed_at_ms = ?2, state = ?3, forked_from = ?4 WHERE key = ?1",
        )?
        .execute(params![key, state.changed_at_ms, json, parent])
        .map(drop)
}

/// Returns a text, read lossily: a flipped bit in it is then a changed text, which is found, not an unreadable row.
pub(super) fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Ok(String::new()),
    }
}

/// Returns the row of an original in the search index. A session has fewer than 2^32 originals.
pub(super) fn words_row(key: i64, ordinal: i64) -> i64 {
    (key << 32) | ordinal
}

pub(super) fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn reading(session: &SessionId) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |error| match is_corrupt(&error) {
        true => StoreError::Damaged { session: session.clone(), problem: Problem::Unreadable },
        false => StoreError::backend("reading the database", error),
    }
}

pub(super) const WRITING: fn(rusqlite::Error) -> StoreError =
    |error| StoreError::backend("writing to the database", error);

pub(super) fn is_corrupt(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
        || matches!(
            error,
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
        )
}
