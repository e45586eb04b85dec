//! The search index: words of originals, added many at a time.
//!
//! One message at a time would cost more than all the rest of an append. So an original is indexed when it leaves the tail,
//! which is searched word by word; what stands in rows and is not indexed is so before anybody searches.

use longhaul_transcript::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    blocks::{Reader, place_of},
    cells::{WRITING, words_row},
    codec::Codec,
};
use crate::{StoreError, object::message_in, search::words_of};

/// Returns the sessions (or the one that is named) that have originals which are not in the index.
pub(super) fn behind(connection: &Connection, session: Option<&SessionId>) -> Result<Vec<i64>, StoreError> {
    let failed = |error| StoreError::backend("searching", error);
    let query = "SELECT key FROM sessions WHERE loose > 0 AND (?1 IS NULL OR id = ?1)
                 AND indexed < (SELECT max(ordinal) + 1 FROM originals WHERE originals.session = sessions.key)";
    let mut query = connection.prepare_cached(query).map_err(failed)?;
    let keys = query.query_map([session.map(SessionId::as_str)], |row| row.get(0));
    keys.and_then(Iterator::collect).map_err(failed)
}

/// Indexes what waits in `sessions`.
pub(super) fn catch_up_all(
    connection: &Connection,
    codec: &Codec,
    sessions: &[i64],
) -> Result<(), StoreError> {
    sessions.iter().try_for_each(|key| catch_up(connection, codec, *key)).map_err(WRITING)
}

/// Indexes what waits in one session.
pub(super) fn catch_up(connection: &Connection, codec: &Codec, key: i64) -> rusqlite::Result<()> {
    let from: Option<i64> = connection
        .prepare_cached("SELECT indexed FROM sessions WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    let Some(from) = from else { return Ok(()) };
    let mut find = connection.prepare_cached(
        "SELECT originals.ordinal, contents.is_packed, contents.body, contents.block, contents.start, contents.length
         FROM originals LEFT JOIN contents ON contents.key = originals.content
         WHERE originals.session = ?1 AND originals.ordinal >= ?2 ORDER BY originals.ordinal",
    )?;
    let mut insert = connection.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
    let (mut reader, mut to) = (Reader::default(), from);
    let mut rows = find.query(params![key, from])?;
    while let Some(row) = rows.next()? {
        let ordinal: i64 = row.get(0)?;
        to = ordinal + 1;
        // A forgotten one has no words, and one that is damaged shows none.
        let Some(is_packed) = row.get::<_, Option<bool>>(1)? else { continue };
        let json = match place_of(row.get(3)?, row.get(4)?, row.get(5)?) {
            Some(place) => reader.read(connection, codec, place)?,
            None => codec.decode(is_packed, row.get(2)?),
        };
        // A large message is held once: its JSON goes before its words are read.
        let message = json.and_then(|json| message_in(&json));
        let words = message.map(|message| words_of(&message)).unwrap_or_default();
        insert.execute(params![words_row(key, ordinal), codec.words(&words)])?;
    }
    connection
        .prepare_cached("UPDATE sessions SET indexed = ?2 WHERE key = ?1")?
        .execute(params![key, to])?;
    Ok(())
}
