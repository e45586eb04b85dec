//! Which sessions begin as a history does, and which are forks of one: both asked of an index.

use longhaul_transcript::{ContentHash, SessionId, Span};
use rusqlite::{Connection, OptionalExtension, params};

use super::{cells::text, rows, tail};
use crate::StoreError;

/// Returns the sessions that begin with these messages, the oldest first.
pub(super) fn beginning_with(
    connection: &Connection,
    addresses: &[ContentHash],
) -> Result<Vec<SessionId>, StoreError> {
    let failed = |error| StoreError::backend("looking for sessions", error);
    let Some((at, address, content)) = rarest(connection, addresses).map_err(failed)? else {
        return all(connection).map_err(failed);
    };
    let mut keys = holders(connection, at, address, content).map_err(failed)?;
    keys.extend(tail::holders(connection, at as u64, address).map_err(failed)?);
    keys.sort_unstable();
    keys.dedup();
    let mut name = connection.prepare_cached("SELECT id FROM sessions WHERE key = ?1").map_err(failed)?;
    let mut found = Vec::new();
    for key in keys {
        let id = name.query_row([key], |row| text(row, 0)).optional().map_err(failed)?;
        let Some(session) = id.and_then(|id| SessionId::new(&id).ok()) else { continue };
        let span = Span { start: 0, end: addresses.len() as u64 };
        let entries = rows::entries(connection, &session, span)?;
        if entries.iter().map(|entry| &entry.address).eq(addresses) {
            found.push(session);
        }
    }
    Ok(found)
}

/// Returns the forks of a session, the oldest first.
pub(super) fn forks_of(connection: &Connection, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
    let query = connection.prepare_cached("SELECT id FROM sessions WHERE forked_from = ?1 ORDER BY key");
    let ids: rusqlite::Result<Vec<String>> =
        query.and_then(|mut query| query.query_map([session.as_str()], |row| text(row, 0))?.collect());
    let ids = ids.map_err(|error| StoreError::backend("looking for forks", error))?;
    Ok(ids.iter().filter_map(|id| SessionId::new(id).ok()).collect())
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<SessionId>> {
    let mut query = connection.prepare_cached("SELECT id FROM sessions ORDER BY key")?;
    let ids: Vec<String> = query.query_map([], |row| text(row, 0))?.collect::<rusqlite::Result<_>>()?;
    Ok(ids.iter().filter_map(|id| SessionId::new(id).ok()).collect())
}

/// Returns which of the first messages is the rarest: its ordinal, its address, and its content, where one is held. What
/// thousands of conversations open with tells none apart.
fn rarest(
    connection: &Connection,
    addresses: &[ContentHash],
) -> rusqlite::Result<Option<(usize, ContentHash, Option<i64>)>> {
    let mut query = connection.prepare_cached("SELECT key, refs FROM contents WHERE address = ?1")?;
    let mut rarest: Option<(i64, usize, ContentHash, Option<i64>)> = None;
    for (at, address) in addresses.iter().take(INDEXED).enumerate() {
        let held: Option<(i64, i64)> =
            query.query_row([address.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let refs = held.map_or(0, |(_, refs)| refs);
        if rarest.is_none_or(|(fewest, ..)| refs < fewest) {
            rarest = Some((refs, at, *address, held.map(|(key, _)| key)));
        }
    }
    Ok(rarest.map(|(_, at, address, content)| (at, address, content)))
}

/// Returns the keys of the sessions that have a message at `at` in their rows, destroyed or not.
fn holders(
    connection: &Connection,
    at: usize,
    address: ContentHash,
    content: Option<i64>,
) -> rusqlite::Result<Vec<i64>> {
    let at = at as i64;
    let mut held = connection.prepare_cached(
        "SELECT session FROM originals WHERE content = ?1 AND ordinal = ?2 AND ordinal < 64",
    )?;
    let mut keys: Vec<i64> =
        held.query_map(params![content, at], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut gone =
        connection.prepare_cached("SELECT session FROM originals WHERE address = ?1 AND ordinal = ?2")?;
    for key in gone.query_map(params![address.0, at], |row| row.get(0))? {
        keys.push(key?);
    }
    Ok(keys)
}

/// So many messages of each session are in the index.
const INDEXED: usize = 64;
