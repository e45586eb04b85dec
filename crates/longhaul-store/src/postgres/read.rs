//! What is read, and how it is opened.

use std::collections::HashMap;

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use tokio_postgres::Row;

use super::client::Server;
use crate::{
    Event, JournalEntry, Problem, RecordEntry, SessionInfo, Snapshot, StoreError, StoredSession, pack::unpack,
};

/// Returns the state of a session.
pub(super) async fn state(server: &Server, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
    let rows = server.query(READING, "SELECT state FROM sessions WHERE id = $1", &[&id.as_str()]).await?;
    rows.first().map(|row| read_state(id, row.get(0))).transpose()
}

/// Returns events in order.
pub(super) async fn events(
    server: &Server,
    id: &SessionId,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    const QUERY: &str = "SELECT seq, version, at_ms, prev_hash, hash, kind FROM events
        WHERE session = (SELECT key FROM sessions WHERE id = $1) AND seq >= $2 ORDER BY seq LIMIT $3";
    let rows = server.query(READING, QUERY, &[&id.as_str(), &clamp(from), &clamp(limit as u64)]).await?;
    let event = |row: &Row| {
        let seq = row.get::<_, i64>(0) as u64;
        let changed = || StoreError::Damaged { session: id.clone(), problem: Problem::ChangedEvent { seq } };
        Ok(Event {
            version: u32::try_from(row.get::<_, i32>(1)).map_err(|_| changed())?,
            seq,
            at_ms: row.get(2),
            prev_hash: hash(row.get(3)).ok_or_else(changed)?,
            hash: hash(row.get(4)).ok_or_else(changed)?,
            kind: serde_json::from_str(row.get(5)).map_err(|_| changed())?,
        })
    };
    rows.iter().map(event).collect()
}

/// Returns entries of the journal in order.
pub(super) async fn entries(
    server: &Server,
    id: &SessionId,
    span: Span,
) -> Result<Vec<JournalEntry>, StoreError> {
    const QUERY: &str = "SELECT originals.ordinal, originals.at_ms, originals.content IS NULL,
          coalesce(contents.address, originals.address), coalesce(beside.address, originals.spelling_address)
        FROM originals LEFT JOIN contents ON contents.key = originals.content
          LEFT JOIN contents AS beside ON beside.key = originals.spelling
        WHERE originals.session = (SELECT key FROM sessions WHERE id = $1)
          AND originals.ordinal >= $2 AND originals.ordinal < $3 ORDER BY originals.ordinal";
    let rows = server.query(READING, QUERY, &[&id.as_str(), &clamp(span.start), &clamp(span.end)]).await?;
    let entry = |row: &Row| {
        let ordinal = row.get::<_, i64>(0) as u64;
        let changed = Problem::ChangedEntry { ordinal };
        let address =
            hash(row.get(3)).ok_or(StoreError::Damaged { session: id.clone(), problem: changed })?;
        let spelling = hash(row.get(4));
        Ok(JournalEntry { ordinal, address, spelling, at_ms: row.get(1), is_forgotten: row.get(2) })
    };
    rows.iter().map(entry).collect()
}

/// Returns the records in the order they were made.
pub(super) async fn records(server: &Server, id: &SessionId) -> Result<Vec<RecordEntry>, StoreError> {
    const QUERY: &str =
        "SELECT records.id, records.content IS NULL, coalesce(contents.address, records.address), records.seq
        FROM records LEFT JOIN contents ON contents.key = records.content
        WHERE records.session = (SELECT key FROM sessions WHERE id = $1) ORDER BY records.seq";
    let rows = server.query(READING, QUERY, &[&id.as_str()]).await?;
    let entry = |row: &Row| {
        let record = SummaryId(row.get::<_, &str>(0).into());
        let missing = || Problem::MissingRecord { record: record.clone() };
        let address = hash(row.get(2))
            .ok_or_else(|| StoreError::Damaged { session: id.clone(), problem: missing() })?;
        let seq = row.get::<_, i64>(3) as u64;
        Ok(RecordEntry { seq, address, is_forgotten: row.get(1), id: record })
    };
    rows.iter().map(entry).collect()
}

/// Returns the sessions that hold a record, the one changed last first.
pub(super) async fn sessions_with(server: &Server, id: &SummaryId) -> Result<Vec<SessionId>, StoreError> {
    const QUERY: &str = "SELECT id FROM sessions
        WHERE key IN (SELECT session FROM records WHERE id = $1 AND content IS NOT NULL)
        ORDER BY changed_at_ms DESC, key DESC";
    let rows = server.query("looking for a record", QUERY, &[&id.as_str()]).await?;
    Ok(rows.iter().filter_map(|row| SessionId::new(row.get(0)).ok()).collect())
}

/// Returns the sessions that begin with these messages, the oldest first.
pub(super) async fn sessions_beginning_with(
    server: &Server,
    addresses: &[ContentHash],
) -> Result<Vec<SessionId>, StoreError> {
    // One row more for each message that is where it should be; the rarest of the first is asked for by the index.
    const QUERY: &str = "WITH given AS (SELECT address, ordinality - 1 AS ordinal
            FROM unnest($1::bytea[]) WITH ORDINALITY AS given (address, ordinality)),
          rarest AS (SELECT given.address, given.ordinal, contents.key
            FROM given LEFT JOIN contents ON contents.address = given.address
            WHERE given.ordinal < 64 ORDER BY coalesce(contents.refs, 0), given.ordinal LIMIT 1),
          likely AS (
            SELECT originals.session FROM originals JOIN rarest ON originals.content = rarest.key
              AND originals.ordinal = rarest.ordinal AND originals.ordinal < 64
            UNION
            SELECT originals.session FROM originals JOIN rarest ON originals.address = rarest.address
              AND originals.ordinal = rarest.ordinal
            UNION
            SELECT key FROM sessions WHERE cardinality($1::bytea[]) = 0)
        SELECT sessions.id FROM sessions JOIN likely ON sessions.key = likely.session
        WHERE (SELECT count(*) FROM given
            JOIN originals ON originals.session = sessions.key AND originals.ordinal = given.ordinal
            LEFT JOIN contents ON contents.key = originals.content
            WHERE coalesce(contents.address, originals.address) = given.address) = cardinality($1::bytea[])
        ORDER BY sessions.key";
    let addresses: Vec<&[u8]> = addresses.iter().map(|address| address.0.as_slice()).collect();
    let rows = server.query("looking for sessions", QUERY, &[&addresses]).await?;
    Ok(rows.iter().filter_map(|row| SessionId::new(row.get(0)).ok()).collect())
}

/// Returns the forks of a session, the oldest first.
pub(super) async fn forks_of(server: &Server, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
    const QUERY: &str = "SELECT id FROM sessions WHERE forked_from = $1 ORDER BY key";
    let rows = server.query("looking for forks", QUERY, &[&session.as_str()]).await?;
    Ok(rows.iter().filter_map(|row| SessionId::new(row.get(0)).ok()).collect())
}

/// Returns the snapshot of a session.
pub(super) async fn snapshot(server: &Server, id: &SessionId) -> Result<Option<Snapshot>, StoreError> {
    const QUERY: &str =
        "SELECT snapshots.events, snapshots.hash, snapshots.value, keys.key, since, since_hash
        FROM snapshots JOIN keys ON keys.id = snapshots.key
        WHERE snapshots.session = (SELECT key FROM sessions WHERE id = $1)";
    let rows = server.query(READING, QUERY, &[&id.as_str()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let whole = |packed: Option<Vec<u8>>, of: usize| {
        let bytes = packed.and_then(|packed| unpack(&packed));
        let bytes = bytes.filter(|bytes| hash(row.get(of)) == Some(ContentHash::of(bytes)));
        let changed = || StoreError::Damaged { session: id.clone(), problem: Problem::ChangedSnapshot };
        bytes.ok_or_else(changed)
    };
    let bytes = whole(server.sealer.open_alone(row.get(2), row.get(3)), 1)?;
    let since: Option<&[u8]> = row.get(4);
    let since = since.map(|sealed| whole(server.sealer.open(SINCE, sealed), 5)).transpose()?;
    Ok(Some(Snapshot { events: row.get::<_, i64>(0) as u64, bytes, since }))
}

/// The place of what changed since a snapshot.
pub(super) const SINCE: &[u8] = b"since";

/// Returns contents by address.
pub(super) async fn contents(
    server: &Server,
    addresses: &[ContentHash],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    const QUERY: &str = "SELECT contents.address, contents.body, keys.key
        FROM contents JOIN keys ON keys.id = contents.key WHERE contents.address = ANY ($1)";
    let bytes: Vec<&[u8]> = addresses.iter().map(|address| address.0.as_slice()).collect();
    let rows = server.query("reading a content", QUERY, &[&bytes]).await?;
    let found: HashMap<&[u8], &Row> = rows.iter().map(|row| (row.get(0), row)).collect();
    let content = |address: &ContentHash| {
        let Some(row) = found.get(address.0.as_slice()) else { return Ok(None) };
        let opened = server.sealer.open_alone(row.get(1), row.get(2)).and_then(|packed| unpack(&packed));
        opened.map(Some).ok_or(StoreError::DamagedContent { address: *address })
    };
    addresses.iter().map(content).collect()
}

/// Returns where all of `words` stand, newest first.
pub(super) async fn find_words(
    server: &Server,
    session: Option<&SessionId>,
    words: &[String],
    limit: usize,
) -> Result<Vec<(SessionId, u64)>, StoreError> {
    const QUERY: &str = "SELECT sessions.id, originals.ordinal
        FROM originals JOIN sessions ON sessions.key = originals.session
        WHERE originals.words @> $1 AND ($2::text IS NULL OR sessions.id = $2)
        ORDER BY originals.at_ms DESC, originals.ordinal DESC, sessions.id LIMIT $3";
    let tokens: Vec<i64> = words.iter().map(|word| server.sealer.token(word) as i64).collect();
    let id = session.map(SessionId::as_str);
    let rows = server.query("searching", QUERY, &[&tokens, &id, &clamp(limit as u64)]).await?;
    let hit = |row: &Row| Some((SessionId::new(row.get(0)).ok()?, row.get::<_, i64>(1) as u64));
    Ok(rows.iter().filter_map(hit).collect())
}

/// Returns all sessions, the one changed last first.
pub(super) async fn sessions(server: &Server) -> Result<Vec<SessionInfo>, StoreError> {
    const QUERY: &str = "SELECT sessions.id, sessions.state,
          ARRAY (SELECT alias FROM aliases WHERE aliases.session = sessions.id ORDER BY alias)
        FROM sessions ORDER BY sessions.changed_at_ms DESC, sessions.key DESC";
    let rows = server.query("listing sessions", QUERY, &[]).await?;
    let mut sessions = Vec::new();
    for row in rows {
        let Ok(session) = SessionId::new(row.get(0)) else { continue };
        let state = read_state(&session, row.get(1))?;
        let names: Vec<&str> = row.get(2);
        let aliases = names.into_iter().filter_map(|name| SessionId::new(name).ok()).collect();
        sessions.push(SessionInfo { session, aliases, state });
    }
    Ok(sessions)
}

/// Returns the session that an alias names.
pub(super) async fn alias(server: &Server, alias: &SessionId) -> Result<Option<SessionId>, StoreError> {
    let query = "SELECT session FROM aliases WHERE alias = $1";
    let rows = server.query("reading an alias", query, &[&alias.as_str()]).await?;
    Ok(rows.first().and_then(|row| SessionId::new(row.get(0)).ok()))
}

/// Returns what was cached under each of `keys`, in their order.
pub(super) async fn all_cached(
    server: &Server,
    keys: &[ContentHash],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    const QUERY: &str = "SELECT cache.address, cache.value, keys.key
        FROM cache JOIN keys ON keys.id = cache.key WHERE cache.address = ANY ($1)";
    let bytes: Vec<&[u8]> = keys.iter().map(|key| key.0.as_slice()).collect();
    let rows = server.query("reading the cache", QUERY, &[&bytes]).await?;
    let found: HashMap<&[u8], &Row> = rows.iter().map(|row| (row.get(0), row)).collect();
    // What cannot be opened is as good as not cached.
    let open = |row: &&Row| unpack(&server.sealer.open_alone(row.get(1), row.get(2))?);
    Ok(keys.iter().map(|key| found.get(key.0.as_slice()).and_then(open)).collect())
}

/// Returns the state that stands in a row.
pub(super) fn read_state(session: &SessionId, json: &str) -> Result<StoredSession, StoreError> {
    let changed = || StoreError::Damaged { session: session.clone(), problem: Problem::ChangedState };
    let state: StoredSession = serde_json::from_str(json).map_err(|_| changed())?;
    let (found, known) = (state.version, StoredSession::VERSION);
    match found > known {
        true => Err(StoreError::NewerVersion { what: "the session", found, known }),
        false => Ok(state),
    }
}

/// Returns the hash that `bytes` are.
pub(super) fn hash(bytes: Option<&[u8]>) -> Option<ContentHash> {
    bytes?.try_into().ok().map(ContentHash)
}

/// Returns `number` as the server counts.
pub(super) fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

const READING: &str = "reading the database";
