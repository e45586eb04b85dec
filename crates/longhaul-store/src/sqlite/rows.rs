//! What stands in which row.

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};

use super::{blocks::Reader, codec::Codec, write::place_of};
use crate::{Event, JournalEntry, Problem, RecordEntry, SessionInfo, SessionState, StoreError, pack::unpack};

/// Returns a session's key and state.
pub(super) fn session(
    connection: &Connection,
    id: &SessionId,
) -> Result<Option<(i64, SessionState)>, StoreError> {
    let found = connection
        .prepare_cached("SELECT key, state FROM sessions WHERE id = ?1")
        .and_then(|mut query| {
            query.query_row([id.as_str()], |row| Ok((row.get(0)?, text(row, 1)?))).optional()
        })
        .map_err(reading(id))?;
    let Some((key, state)) = found else { return Ok(None) };
    read_state(id, &state).map(|state| Some((key, state)))
}

/// Removes what was taken away from everywhere else it stands: the search index's deleted entries, and the log. The
/// cache goes too: it may quote what was forgotten, and can be made again.
pub(super) fn scrub(connection: &Connection) -> Result<(), StoreError> {
    let scrub = || {
        connection.execute_batch("DELETE FROM cache; INSERT INTO words (words) VALUES ('optimize');")?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
    };
    let failed = |error| StoreError::backend("overwriting what was forgotten", error);
    match super::worker::patiently(scrub).map_err(failed)? {
        0 => Ok(()),
        _ => {
            let reason = "another process is reading; forget again when it has ended to clear the log";
            Err(StoreError::backend("overwriting what was forgotten", reason))
        }
    }
}

/// Returns events in order.
pub(super) fn events(
    connection: &Connection,
    id: &SessionId,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut query = connection
        .prepare_cached(
            "SELECT seq, version, at_ms, prev_hash, hash, kind FROM events
             WHERE session = (SELECT key FROM sessions WHERE id = ?1) AND seq >= ?2 ORDER BY seq LIMIT ?3",
        )
        .map_err(reading(id))?;
    let mut rows =
        query.query(params![id.as_str(), clamp(from), clamp(limit as u64)]).map_err(reading(id))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next().map_err(reading(id))? {
        let seq: i64 = row.get(0).map_err(reading(id))?;
        let event = read_event(row, seq as u64);
        let changed = Problem::ChangedEvent { seq: seq as u64 };
        events.push(event.ok_or(StoreError::Damaged { session: id.clone(), problem: changed })?);
    }
    Ok(events)
}

/// Returns `None` where the row cannot be read.
fn read_event(row: &Row<'_>, seq: u64) -> Option<Event> {
    let kind: Vec<u8> = row.get(5).ok()?;
    let kind = if kind.starts_with(b"{") { kind } else { unpack(&kind)? };
    Some(Event {
        version: row.get(1).ok()?,
        seq,
        at_ms: row.get(2).ok()?,
        prev_hash: ContentHash(row.get(3).ok()?),
        hash: ContentHash(row.get(4).ok()?),
        kind: serde_json::from_slice(&kind).ok()?,
    })
}

/// Returns entries of the journal in order.
pub(super) fn entries(
    connection: &Connection,
    id: &SessionId,
    span: Span,
) -> Result<Vec<JournalEntry>, StoreError> {
    let mut query = connection
        .prepare_cached(
            "SELECT originals.ordinal, originals.at_ms, originals.content IS NULL,
                    ifnull(contents.address, originals.address)
             FROM originals LEFT JOIN contents ON contents.key = originals.content
             WHERE originals.session = (SELECT key FROM sessions WHERE id = ?1)
               AND originals.ordinal >= ?2 AND originals.ordinal < ?3 ORDER BY originals.ordinal",
        )
        .map_err(reading(id))?;
    let mut rows =
        query.query(params![id.as_str(), clamp(span.start), clamp(span.end)]).map_err(reading(id))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(reading(id))? {
        let ordinal = row.get::<_, i64>(0).map_err(reading(id))? as u64;
        let read = || Some((row.get(1).ok()?, row.get(2).ok()?, ContentHash(row.get(3).ok()?)));
        let changed = Problem::ChangedEntry { ordinal };
        let (at_ms, is_forgotten, address) =
            read().ok_or(StoreError::Damaged { session: id.clone(), problem: changed })?;
        entries.push(JournalEntry { ordinal, address, at_ms, is_forgotten });
    }
    Ok(entries)
}

/// Returns the records in the order they were made.
pub(super) fn records(connection: &Connection, id: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
    let query = connection.prepare_cached(
        "SELECT records.id, records.content IS NULL, ifnull(contents.address, records.address)
         FROM records LEFT JOIN contents ON contents.key = records.content
         WHERE records.session = (SELECT key FROM sessions WHERE id = ?1) ORDER BY records.seq",
    );
    let entry = |row: &Row<'_>| {
        let id: String = text(row, 0)?;
        let address = ContentHash(row.get(2)?);
        Ok(RecordEntry { id: SummaryId(id.into()), address, is_forgotten: row.get(1)? })
    };
    query.and_then(|mut query| query.query_map([id.as_str()], entry)?.collect()).map_err(reading(id))
}

/// Returns contents by address.
pub(super) fn contents(
    connection: &Connection,
    codec: &Codec,
    addresses: &[ContentHash],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    let failed = |error| StoreError::backend("reading a content", error);
    let mut query = connection
        .prepare_cached("SELECT is_packed, body, block, start, length FROM contents WHERE address = ?1")
        .map_err(failed)?;
    let mut reader = Reader::default();
    let contents = addresses.iter().map(|address| {
        let damaged = || StoreError::DamagedContent { address: *address };
        let told = |error: rusqlite::Error| match error {
            rusqlite::Error::SqliteFailure(..) if !is_corrupt(&error) => failed(error),
            _ => damaged(),
        };
        let read =
            |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, place_of(row.get(2)?, row.get(3)?, row.get(4)?)));
        let found: Option<(bool, Vec<u8>, _)> =
            query.query_row([address.0], read).optional().map_err(told)?;
        let Some((is_packed, body, place)) = found else { return Ok(None) };
        let json = match place {
            Some(place) => reader.read(connection, codec, place).map_err(told)?,
            None => codec.decode(is_packed, body),
        };
        json.map(Some).ok_or_else(damaged)
    });
    contents.collect()
}

/// Returns where all of `words` stand, newest first.
pub(super) fn find_words(
    connection: &Connection,
    codec: &Codec,
    session: Option<&SessionId>,
    words: &[String],
    limit: usize,
) -> Result<Vec<(SessionId, u64)>, StoreError> {
    let failed = |error| StoreError::backend("searching", error);
    let (mut first, mut last) = (0, i64::MAX);
    if let Some(id) = session {
        let key = connection
            .query_row("SELECT key FROM sessions WHERE id = ?1", [id.as_str()], |row| row.get::<_, i64>(0))
            .optional()
            .map_err(failed)?;
        let Some(key) = key else { return Ok(Vec::new()) };
        (first, last) = (words_row(key, 0), words_row(key, i64::from(u32::MAX)));
    }
    // Words are letters and digits, so that the quotes cannot be closed from inside.
    let query: Vec<String> = words.iter().map(|word| format!("\"{}\"", codec.words(word))).collect();
    let mut statement = connection
        .prepare_cached(
            "SELECT sessions.id, found.row & 4294967295 FROM
               (SELECT rowid AS row FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                ORDER BY rowid DESC LIMIT ?4) AS found
             JOIN sessions ON sessions.key = found.row >> 32 ORDER BY found.row DESC",
        )
        .map_err(failed)?;
    let hit = |row: &Row<'_>| Ok((text(row, 0)?, row.get::<_, i64>(1)? as u64));
    let hits = statement
        .query_map(params![query.join(" AND "), first, last, clamp(limit as u64)], hit)
        .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
        .map_err(failed)?;
    Ok(hits.into_iter().filter_map(|(id, ordinal)| Some((SessionId::new(&id).ok()?, ordinal))).collect())
}

/// Returns all sessions, the one changed last first.
pub(super) fn sessions(connection: &Connection) -> Result<Vec<SessionInfo>, StoreError> {
    let failed = |error| StoreError::backend("listing sessions", error);
    let mut aliases = connection
        .prepare_cached("SELECT alias FROM aliases WHERE session = ?1 ORDER BY alias")
        .map_err(failed)?;
    let mut query = connection
        .prepare_cached("SELECT id, state FROM sessions ORDER BY changed_at_ms DESC, key DESC")
        .map_err(failed)?;
    let rows: Vec<(String, String)> = query
        .query_map([], |row| Ok((text(row, 0)?, text(row, 1)?)))
        .and_then(Iterator::collect)
        .map_err(failed)?;
    let mut sessions = Vec::with_capacity(rows.len());
    for (id, state) in rows {
        let Ok(session) = SessionId::new(&id) else { continue };
        let state = read_state(&session, &state)?;
        let names: Vec<String> = aliases
            .query_map([session.as_str()], |row| text(row, 0))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        let aliases = names.iter().filter_map(|name| SessionId::new(name).ok()).collect();
        sessions.push(SessionInfo { session, aliases, state });
    }
    Ok(sessions)
}

/// Names a session.
pub(super) fn set_alias(
    connection: &Connection,
    alias: &SessionId,
    session: &SessionId,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO aliases (alias, session) VALUES (?1, ?2)
               ON CONFLICT (alias) DO UPDATE SET session = excluded.session";
    connection.execute(sql, [alias.as_str(), session.as_str()]).map(drop).map_err(WRITING)
}

/// Returns the session that an alias names.
pub(super) fn alias(connection: &Connection, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
    let found: Option<String> = connection
        .query_row("SELECT session FROM aliases WHERE alias = ?1", [alias.as_str()], |row| text(row, 0))
        .optional()
        .map_err(|error| StoreError::backend("reading an alias", error))?;
    Ok(found.and_then(|id| SessionId::new(&id).ok()))
}

/// Returns what is cached.
pub(super) fn cached(
    connection: &Connection,
    codec: &Codec,
    key: &ContentHash,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found: Option<Vec<u8>> = connection
        .query_row("SELECT value FROM cache WHERE key = ?1", [key.0], |row| row.get(0))
        .optional()
        .map_err(|error| StoreError::backend("reading the cache", error))?;
    // What cannot be unpacked is as good as not cached.
    Ok(found.and_then(|value| codec.decode_cached(value)))
}

/// Caches a value.
pub(super) fn cache(
    connection: &Connection,
    codec: &Codec,
    key: &ContentHash,
    value: &[u8],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO cache (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, params![key.0, codec.encode_cached(value)]).map(drop).map_err(WRITING)
}

fn read_state(session: &SessionId, json: &str) -> Result<SessionState, StoreError> {
    let changed = || StoreError::Damaged { session: session.clone(), problem: Problem::ChangedState };
    let state: SessionState = serde_json::from_str(json).map_err(|_| changed())?;
    match state.version > SessionState::VERSION {
        true => Err(StoreError::NewerVersion {
            what: "the session",
            found: state.version,
            known: SessionState::VERSION,
        }),
        false => Ok(state),
    }
}

/// Returns a text, read lossily: a flipped bit in it is then a changed text, which is found, not an unreadable row.
fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Ok(String::new()),
    }
}

/// Returns the row of an original in the search index. A session has fewer than 2^32 originals.
pub(super) fn words_row(key: i64, ordinal: i64) -> i64 {
    (key << 32) | ordinal
}

fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn reading(session: &SessionId) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |error| match is_corrupt(&error) {
        true => StoreError::Damaged { session: session.clone(), problem: Problem::Unreadable },
        false => StoreError::backend("reading the database", error),
    }
}

pub(super) const WRITING: fn(rusqlite::Error) -> StoreError =
    |error| StoreError::backend("writing to the database", error);

fn is_corrupt(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
        || matches!(
            error,
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
        )
}
