//! What stands in which row.

use std::{cmp::Reverse, collections::HashSet};

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId, SummaryRecord};
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};

use super::{
    blocks::{Reader, place_of},
    cells::{WRITING, clamp, is_corrupt, key, read_state, reading, text, words_row},
    codec::Codec,
    tail::{self, End},
};
use crate::{
    Event, JournalEntry, Original, Problem, RecordEntry, SessionInfo, Snapshot, StoreError, StoredSession,
    object,
    pack::unpack,
    proof::{self, Against, Proof},
};

/// A session as it is held.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) key: i64,
    pub(super) state: StoredSession,
    /// The end of its tail, where it has one.
    pub(super) end: Option<End>,
}

/// Returns a session.
pub(super) fn session(connection: &Connection, id: &SessionId) -> Result<Option<Held>, StoreError> {
    let found = connection
        .prepare_cached("SELECT key, state FROM sessions WHERE id = ?1")
        .and_then(|mut query| {
            query.query_row([id.as_str()], |row| Ok((row.get(0)?, text(row, 1)?))).optional()
        })
        .map_err(reading(id))?;
    let Some((key, state)) = found else { return Ok(None) };
    Ok(Some(match tail::end(connection, key, id)? {
        Some((state, end)) => Held { key, state, end: Some(end) },
        None => Held { key, state: read_state(id, &state)?, end: None },
    }))
}

/// Returns events in order.
pub(super) fn events(
    connection: &Connection,
    id: &SessionId,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let Some(key) = key(connection, id)? else { return Ok(Vec::new()) };
    let mut events = events_of(connection, key, id, from, limit)?;
    if events.len() < limit {
        events.extend(tail::events(connection, key, id, from, limit - events.len())?);
    }
    Ok(events)
}

/// Returns events that are rows, in order.
fn events_of(
    connection: &Connection,
    key: i64,
    id: &SessionId,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut query = connection
        .prepare_cached(
            "SELECT seq, version, at_ms, prev_hash, hash, kind FROM events
             WHERE session = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
        )
        .map_err(reading(id))?;
    let mut rows = query.query(params![key, clamp(from), clamp(limit as u64)]).map_err(reading(id))?;
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
    let Some(key) = key(connection, id)? else { return Ok(Vec::new()) };
    let mut entries = settled_entries(connection, key, id, span)?;
    if entries.last().is_none_or(|last| last.ordinal + 1 < span.end) {
        let waiting = tail::originals(connection, None, key, id, span)?;
        entries.extend(waiting.into_iter().map(|waiting| waiting.entry));
    }
    Ok(entries)
}

/// Returns those of `ordinals` whose rows are not what the log says.
pub(super) fn strays(
    connection: &Connection,
    id: &SessionId,
    ordinals: &[u64],
) -> Result<Vec<u64>, StoreError> {
    let Some(key) = key(connection, id)? else { return Ok(Vec::new()) };
    let mut entries = Vec::with_capacity(ordinals.len());
    for run in Span::runs(ordinals.iter().copied()) {
        entries.extend(settled_entries(connection, key, id, run)?);
    }
    strays_of(connection, key, id, &entries)
}

/// Returns the ordinals of those of `entries`, which are rows, that are not what the log says.
fn strays_of(
    connection: &Connection,
    key: i64,
    id: &SessionId,
    entries: &[JournalEntry],
) -> Result<Vec<u64>, StoreError> {
    let last = connection.prepare_cached("SELECT max(seq) FROM events WHERE session = ?1");
    let last = last.and_then(|mut query| query.query_row([key], |row| row.get::<_, Option<i64>>(0)));
    let events = last.map_err(reading(id))?.map_or(0, |last| last as u64 + 1);
    let mut proof = Proof::of(id, entries, events, 1);
    while let Some((from, limit)) = proof.wants() {
        proof.take_answer(events_of(connection, key, id, from, limit))?;
    }
    Ok(proof.strays())
}

/// Returns an original for each message in `span` of the session whose state is `held`, in order. Where damage hides the state,
/// nothing tells what is missing, and the rest is read.
pub(super) fn originals(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
    held: Option<&StoredSession>,
    span: Span,
    against: Against,
) -> Result<Vec<Original>, StoreError> {
    let Some(key) = key(connection, id)? else { return Ok(Vec::new()) };
    let entries = settled_entries(connection, key, id, span)?;
    let mut read = Vec::with_capacity(entries.len());
    let mut pending = vec![&*entries];
    while let Some(entries) = pending.pop() {
        let contents = contents(connection, codec, id, &object::addresses_of(entries));
        match contents.and_then(|contents| object::read_originals(entries, contents)) {
            Ok(originals) => read.extend(originals),
            Err(StoreError::DamagedContent { .. }) => proof::divide(entries, &mut pending, &mut read),
            Err(error) => return Err(error),
        }
    }
    if against == Against::Log {
        let strays = strays_of(connection, key, id, &proof::said(&entries, &read))?;
        proof::mark(&mut read, strays);
    }
    for waiting in tail::originals(connection, Some(codec), key, id, span)? {
        let JournalEntry { ordinal, at_ms, .. } = waiting.entry;
        let original = object::read_original(waiting.entry, waiting.json, waiting.spelling);
        read.push(original.unwrap_or_else(|_| Original::changed(ordinal, at_ms)));
    }
    Ok(match held {
        Some(held) => proof::told(held, span, read),
        None => read,
    })
}

fn settled_entries(
    connection: &Connection,
    key: i64,
    id: &SessionId,
    span: Span,
) -> Result<Vec<JournalEntry>, StoreError> {
    let mut query = connection
        .prepare_cached(
            "SELECT originals.ordinal, originals.at_ms, originals.content IS NULL,
                    ifnull(contents.address, originals.address), ifnull(beside.address, originals.spelling_address)
             FROM originals LEFT JOIN contents ON contents.key = originals.content
               LEFT JOIN contents AS beside ON beside.key = originals.spelling
             WHERE originals.session = ?1
               AND originals.ordinal >= ?2 AND originals.ordinal < ?3 ORDER BY originals.ordinal",
        )
        .map_err(reading(id))?;
    let mut rows = query.query(params![key, clamp(span.start), clamp(span.end)]).map_err(reading(id))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(reading(id))? {
        let ordinal = row.get::<_, i64>(0).map_err(reading(id))? as u64;
        let spelling = || row.get::<_, Option<[u8; 32]>>(4).ok().map(|address| address.map(ContentHash));
        let read = || Some((row.get(1).ok()?, row.get(2).ok()?, ContentHash(row.get(3).ok()?), spelling()?));
        let changed = Problem::ChangedEntry { ordinal };
        let (at_ms, is_forgotten, address, spelling) =
            read().ok_or(StoreError::Damaged { session: id.clone(), problem: changed })?;
        entries.push(JournalEntry { ordinal, address, spelling, at_ms, is_forgotten });
    }
    Ok(entries)
}

/// Returns the sessions that hold a record, the one changed last first.
pub(super) fn sessions_with(connection: &Connection, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
    let query = connection.prepare_cached(
        "SELECT id FROM sessions WHERE key IN (SELECT session FROM records WHERE id = ?1 AND content IS NOT NULL)
         ORDER BY changed_at_ms DESC, key DESC",
    );
    let ids: Vec<String> = query
        .and_then(|mut query| query.query_map([id.as_str()], |row| text(row, 0))?.collect())
        .map_err(|error| StoreError::backend("looking for a record", error))?;
    Ok(ids.iter().filter_map(|id| SessionId::new(id).ok()).collect())
}

/// Returns the snapshot of a session.
pub(super) fn snapshot(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
) -> Result<Option<Snapshot>, StoreError> {
    type Kept = Option<([u8; 32], Vec<u8>)>;
    let query = connection.prepare_cached(
        "SELECT snapshots.hash, snapshots.body, since.hash, since.body, events FROM snapshots
         LEFT JOIN since ON since.session = snapshots.session
         WHERE snapshots.session = (SELECT key FROM sessions WHERE id = ?1)",
    );
    let row = |row: &Row<'_>| {
        let kept = |at| Some((row.get(at).ok()?, row.get(at + 1).ok()?));
        let has_since = !matches!(row.get_ref(2)?, ValueRef::Null);
        Ok((kept(0), has_since.then(|| kept(2)), row.get::<_, i64>(4)?))
    };
    let found = query.and_then(|mut query| query.query_row([id.as_str()], row).optional());
    let Some((snapshot, since, events)) = found.map_err(reading(id))? else { return Ok(None) };
    let whole = |kept: Kept| {
        let whole = |(hash, body)| codec.decode_cached(body).filter(|bytes| ContentHash::of(bytes).0 == hash);
        let changed = || StoreError::Damaged { session: id.clone(), problem: Problem::ChangedSnapshot };
        kept.and_then(whole).ok_or_else(changed)
    };
    let (bytes, since) = (whole(snapshot)?, since.map(whole).transpose()?);
    Ok(Some(Snapshot { events: events as u64, bytes, since }))
}

/// Returns a record, in force or not; `None` where there is none or it was destroyed.
pub(super) fn record(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
    record: &SummaryId,
) -> Result<Option<SummaryRecord>, StoreError> {
    let query = connection.prepare_cached(
        "SELECT contents.address, records.seq, records.session FROM records
         JOIN contents ON contents.key = records.content
         WHERE records.session = (SELECT key FROM sessions WHERE id = ?1) AND records.id = ?2
         ORDER BY records.seq DESC LIMIT 1",
    );
    let place =
        |row: &Row<'_>| Ok((ContentHash(row.get(0)?), row.get::<_, i64>(1)? as u64, row.get::<_, i64>(2)?));
    let found = query
        .and_then(|mut query| query.query_row([id.as_str(), record.as_str()], place).optional())
        .map_err(reading(id))?;
    let Some((address, seq, key)) = found else { return Ok(None) };
    let entry = RecordEntry { seq, id: record.clone(), address, is_forgotten: false };
    proof::made(id, &entry, events_of(connection, key, id, seq, 1)?.first())?;
    let json = contents(connection, codec, id, &[address])?.pop().flatten();
    let json = json.ok_or(StoreError::DamagedContent { address })?;
    object::read_record(address, &json).map(Some)
}

/// Returns the records in the order they were made.
pub(super) fn records(connection: &Connection, id: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
    let query = connection.prepare_cached(
        "SELECT records.id, records.content IS NULL, ifnull(contents.address, records.address), records.seq
         FROM records LEFT JOIN contents ON contents.key = records.content
         WHERE records.session = (SELECT key FROM sessions WHERE id = ?1) ORDER BY records.seq",
    );
    let entry = |row: &Row<'_>| {
        let id: String = text(row, 0)?;
        let (seq, address) = (row.get::<_, i64>(3)? as u64, ContentHash(row.get(2)?));
        Ok(RecordEntry { seq, id: SummaryId(id.into()), address, is_forgotten: row.get(1)? })
    };
    query.and_then(|mut query| query.query_map([id.as_str()], entry)?.collect()).map_err(reading(id))
}

/// Returns contents by address.
pub(super) fn contents(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
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
    let mut contents: Vec<Option<Vec<u8>>> = contents.collect::<Result<_, StoreError>>()?;
    let missing = || addresses.iter().zip(&contents).filter(|(_, held)| held.is_none());
    let wanted: HashSet<ContentHash> = missing().map(|(address, _)| *address).collect();
    if !wanted.is_empty() {
        let waiting = tail::contents(connection, codec, id, &wanted)?;
        for (content, address) in contents.iter_mut().zip(addresses).filter(|(held, _)| held.is_none()) {
            *content = waiting.get(address).cloned();
        }
    }
    Ok(contents)
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
    let session = match session {
        Some(id) => match key(connection, id)? {
            Some(key) => Some(key),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let (first, last) = match session {
        Some(key) => (words_row(key, 0), words_row(key, i64::from(u32::MAX))),
        None => (0, i64::MAX),
    };
    // Words are letters and digits, so that the quotes cannot be closed from inside.
    let query: Vec<String> = words.iter().map(|word| format!("\"{}\"", codec.words(word))).collect();
    let mut statement = connection
        .prepare_cached(
            "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4",
        )
        .map_err(failed)?;
    let mut found: Vec<i64> = statement
        .query_map(params![query.join(" AND "), first, last, clamp(limit as u64)], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(failed)?;
    found.extend(tail::find_words(connection, codec, session, words, limit).map_err(failed)?);
    found.sort_unstable_by_key(|row| Reverse(*row));
    found.truncate(limit);
    let mut name = connection.prepare_cached("SELECT id FROM sessions WHERE key = ?1").map_err(failed)?;
    let mut hits = Vec::with_capacity(found.len());
    for row in found {
        let id = name.query_row([row >> 32], |row| text(row, 0)).optional().map_err(failed)?;
        let id = id.and_then(|id| SessionId::new(&id).ok());
        hits.extend(id.map(|id| (id, (row & i64::from(u32::MAX)) as u64)));
    }
    Ok(hits)
}

/// Returns all sessions, the one changed last first.
pub(super) fn sessions(connection: &Connection) -> Result<Vec<SessionInfo>, StoreError> {
    let failed = |error| StoreError::backend("listing sessions", error);
    let mut aliases = connection
        .prepare_cached("SELECT alias FROM aliases WHERE session = ?1 ORDER BY alias")
        .map_err(failed)?;
    let mut query = connection.prepare_cached("SELECT id FROM sessions ORDER BY key DESC").map_err(failed)?;
    let ids: Vec<String> =
        query.query_map([], |row| text(row, 0)).and_then(Iterator::collect).map_err(failed)?;
    let mut sessions = Vec::with_capacity(ids.len());
    for id in ids {
        let Ok(session) = SessionId::new(&id) else { continue };
        let Some(Held { state, .. }) = self::session(connection, &session)? else { continue };
        let names: Vec<String> = aliases
            .query_map([session.as_str()], |row| text(row, 0))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        let aliases = names.iter().filter_map(|name| SessionId::new(name).ok()).collect();
        sessions.push(SessionInfo { session, aliases, state });
    }
    sessions.sort_by_key(|info| Reverse(info.state.changed_at_ms));
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
        .prepare_cached("SELECT value FROM cache WHERE key = ?1")
        .and_then(|mut read| read.query_row([key.0], |row| row.get(0)).optional())
        .map_err(|error| StoreError::backend("reading the cache", error))?;
    // What cannot be unpacked is as good as not cached.
    Ok(found.and_then(|value| codec.decode_cached(value)))
}

/// Caches a value.
pub(super) fn cache(
    connection: &Connection,
    codec: &Codec,
    key: &ContentHash,
    packed: &[u8],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO cache (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection.execute(sql, params![key.0, codec.seal_cached(packed)]).map(drop).map_err(WRITING)
}
