//! Settling: what waits in tails becomes rows, blocks and index entries, many messages at a time.

use std::sync::atomic::Ordering;

use longhaul_transcript::{ContentHash, SessionId};
use rusqlite::OptionalExtension;

use super::{
    adding::{self, Adding, Content},
    cells::{WRITING, text, write_state},
    codec::Codec,
    desk::Desk,
    index,
    tail::{self, Part},
};
use crate::{StoreError, StoredSession};

/// Moves the first chunks of a session's tail into rows, in the caller's transaction. Returns the state after them.
pub(super) fn drain(
    desk: &Desk,
    key: i64,
    id: &SessionId,
    n_chunks: usize,
) -> Result<Option<StoredSession>, StoreError> {
    let chunks = tail::chunks(&desk.connection, key, id, Part::First(n_chunks))?;
    let (mut adding, mut after) = (Vec::new(), None);
    for chunk in &chunks {
        let state = chunk.each(id, |frame| {
            let kept = |kept| opened(&desk.codec, kept);
            let contents = frame.contents.into_iter().map(kept).collect();
            let spellings = frame.spellings.into_iter().map(|spelling| spelling.map(kept)).collect();
            adding.push(Adding { contents, spellings, start: frame.start, event: frame.event });
        });
        after = Some(state?);
    }
    let Some(state) = after else { return Ok(None) };
    adding::originals(&desk.connection, &desk.codec, key, &adding).map_err(WRITING)?;
    // A search that runs next looks for them in the index.
    index::catch_up(&desk.connection, &desk.codec, key).map_err(WRITING)?;
    write_state(&desk.connection, key, &state).map_err(WRITING)?;
    let mut delete = desk.connection.prepare_cached("DELETE FROM tail WHERE key = ?1").map_err(WRITING)?;
    for chunk in &chunks {
        delete.execute([chunk.key]).map_err(WRITING)?;
    }
    Ok(Some(state))
}

fn opened<'a>(codec: &Codec, (address, bytes): (ContentHash, &'a [u8])) -> (ContentHash, Content<'a>) {
    // What is damaged moves as it is, for verification to find.
    (address, codec.plain(bytes).map_or(Content::Kept(bytes), Content::Json))
}

impl Desk {
    /// Does what writers leave for later: moves tails into rows until no more wait than may, and shortens the log.
    pub(super) fn tend(&mut self) {
        self.has_grown = false;
        // What fails here fails again, and is told, when somebody writes.
        while self.write(one_too_many).unwrap_or(false) {}
        if self.is_log_long() {
            let checkpoint = "PRAGMA wal_checkpoint(PASSIVE)";
            let done = self.connection.query_row(checkpoint, [], |_| Ok(()));
            if done.is_ok() {
                self.log_pages.store(0, Ordering::Relaxed);
            }
        }
    }
}

/// Returns whether more waits in all tails than may.
pub(super) fn is_too_much(desk: &mut Desk) -> Result<bool, StoreError> {
    Ok(tail::size(&desk.connection).map_err(WRITING)? > MOST_WAITING)
}

/// Settles a little where more waits in all tails than may; returns whether it did.
pub(super) fn one_too_many(desk: &mut Desk) -> Result<bool, StoreError> {
    if is_too_much(desk)? { one(desk, 0) } else { Ok(false) }
}

/// Settles a little of a session whose tail is worth a block; returns whether it did.
pub(super) fn one_ready(desk: &mut Desk) -> Result<bool, StoreError> {
    one(desk, tail::FIRST_CHUNK as i64 + 1)
}

/// Settles a little of the session with the longest tail, where at least `least` bytes are set aside for that.
fn one(desk: &mut Desk, least: i64) -> Result<bool, StoreError> {
    let longest = "SELECT tails.session, sessions.id FROM
           (SELECT key >> 32 AS session, sum(length(body)) AS size FROM tail GROUP BY key >> 32 HAVING size >= ?1
            ORDER BY size DESC LIMIT 1) AS tails JOIN sessions ON sessions.key = tails.session";
    let longest: Option<(i64, String)> = desk
        .connection
        .prepare_cached(longest)
        .and_then(|mut query| query.query_row([least], |row| Ok((row.get(0)?, text(row, 1)?))).optional())
        .map_err(WRITING)?;
    let Some((key, id)) = longest else { return Ok(false) };
    let Ok(id) = SessionId::new(&id) else { return Ok(false) };
    let settled = drain(desk, key, &id, AT_ONCE)?;
    desk.forget();
    Ok(settled.is_some())
}

/// How many bytes are set aside in all tails at most. A search reads all of them.
const MOST_WAITING: u64 = 3 << 20;

/// How many chunks become rows in one transaction, which other writers wait for: about a full block.
const AT_ONCE: usize = 2;
