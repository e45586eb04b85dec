//! Blocks: contents that were written one after the other, compressed together.
//!
//! A message by itself compresses to less than half; a hundred of them together to a fifth. So what is appended waits as
//! it is, and when a session has [`LOOSE`] bytes waiting they move into a block, in the transaction of that append. A
//! block that is not full is joined with what comes next. When a content is destroyed its block is written anew.

use std::{borrow::Cow, collections::BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::Codec;

/// A content on its way into a block: its key, and its JSON.
pub(super) struct Loose<'a> {
    pub(super) key: i64,
    pub(super) json: Cow<'a, [u8]>,
}

/// Where a content stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) block: i64,
    pub(super) start: usize,
    pub(super) length: usize,
}

/// Returns where a content stands, for readers of rows.
pub(super) fn place_of(block: Option<i64>, start: Option<i64>, length: Option<i64>) -> Option<Place> {
    let size = |number: i64| usize::try_from(number).ok();
    Some(Place { block: block?, start: size(start?)?, length: size(length?)? })
}

/// Reads contents out of blocks; neighbours are asked for together, so the last block is kept.
#[derive(Default)]
pub(super) struct Reader {
    last: Option<(i64, Vec<u8>)>,
}

impl Reader {
    /// Returns the content at `place`; `None` where the block is damaged or gone. Of a block that holds nothing else nothing is kept.
    pub(super) fn read(
        &mut self,
        connection: &Connection,
        codec: &Codec,
        place: Place,
    ) -> rusqlite::Result<Option<Vec<u8>>> {
        if self.last.as_ref().is_none_or(|(key, _)| *key != place.block) {
            let body: Option<Vec<u8>> = connection
                .prepare_cached("SELECT body FROM blocks WHERE key = ?1")?
                .query_row([place.block], |row| row.get(0))
                .optional()?;
            let Some(bytes) = body.and_then(|body| codec.decode(true, body)) else { return Ok(None) };
            self.last = Some((place.block, bytes));
        }
        if let Some((_, bytes)) =
            self.last.take_if(|(_, bytes)| place.start == 0 && place.length == bytes.len())
        {
            return Ok(Some(bytes));
        }
        let bytes = self.last.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let end = place.start.checked_add(place.length);
        Ok(end.and_then(|end| bytes.get(place.start..end)).map(<[u8]>::to_vec))
    }
}

/// Puts `contents`, in order, into blocks, the first into what is left of the block `open`.
pub(super) fn write(
    connection: &Connection,
    codec: &Codec,
    open: Option<i64>,
    contents: Vec<Loose<'_>>,
) -> rusqlite::Result<()> {
    if contents.is_empty() {
        return Ok(());
    }
    // A block that cannot be read is left as it is: what it held is damaged, not what comes next.
    let mut joined = match open {
        Some(open) => held(connection, codec, open)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let mut key = open.filter(|_| !joined.is_empty());
    let size: usize = joined.iter().map(|held| held.json.len()).sum();
    if size >= FULL {
        (key, joined) = (None, Vec::new());
    }
    let mut size = if joined.is_empty() { 0 } else { size };
    for content in contents {
        // A large one is not copied to stand with others.
        if content.json.len() >= FULL && !joined.is_empty() {
            put(connection, codec, key.take(), &std::mem::take(&mut joined))?;
            size = 0;
        }
        size += content.json.len();
        joined.push(content);
        if size >= FULL {
            put(connection, codec, key.take(), &std::mem::take(&mut joined))?;
            size = 0;
        }
    }
    if !joined.is_empty() {
        put(connection, codec, key, &joined)?;
    }
    Ok(())
}

/// Writes blocks anew without what is no longer in them.
pub(super) fn rewrite(
    connection: &Connection,
    codec: &Codec,
    blocks: &BTreeSet<i64>,
) -> rusqlite::Result<()> {
    for key in blocks {
        let left: i64 = connection
            .prepare_cached("SELECT count(*) FROM contents WHERE block = ?1")?
            .query_row([key], |row| row.get(0))?;
        let held = if left == 0 { Some(Vec::new()) } else { held(connection, codec, *key)? };
        match held {
            Some(held) if held.is_empty() => {
                connection.prepare_cached("DELETE FROM blocks WHERE key = ?1")?.execute([key])?;
            }
            Some(held) => put(connection, codec, Some(*key), &held)?,
            // It cannot be read any more. What is to be destroyed goes, and the rest was lost before.
            None => {
                connection.prepare_cached("DELETE FROM blocks WHERE key = ?1")?.execute([key])?;
            }
        }
    }
    Ok(())
}

/// Returns what stands in a block, in order; `None` where it cannot be read.
fn held(connection: &Connection, codec: &Codec, block: i64) -> rusqlite::Result<Option<Vec<Loose<'static>>>> {
    let mut find = connection
        .prepare_cached("SELECT key, start, length FROM contents WHERE block = ?1 ORDER BY start")?;
    let places: Vec<(i64, i64, i64)> = find
        .query_map([block], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut reader = Reader::default();
    let mut held = Vec::with_capacity(places.len());
    for (key, start, length) in places {
        let place = Place { block, start: start as usize, length: length as usize };
        match reader.read(connection, codec, place)? {
            Some(json) => held.push(Loose { key, json: json.into() }),
            None => return Ok(None),
        }
    }
    Ok(Some(held))
}

/// Writes one block, in the place of `key` or as a new one.
fn put(
    connection: &Connection,
    codec: &Codec,
    key: Option<i64>,
    contents: &[Loose<'_>],
) -> rusqlite::Result<()> {
    let bytes: Cow<'_, [u8]> = match contents {
        [alone] => Cow::Borrowed(&alone.json),
        _ => contents.iter().flat_map(|content| content.json.iter().copied()).collect(),
    };
    let body = codec.encode_block(&bytes, bytes.len() >= FULL);
    let key = match key {
        Some(key) => {
            connection
                .prepare_cached("UPDATE blocks SET body = ?2 WHERE key = ?1")?
                .execute(params![key, body])?;
            key
        }
        None => {
            connection.prepare_cached("INSERT INTO blocks (body) VALUES (?1)")?.execute([body])?;
            connection.last_insert_rowid()
        }
    };
    let mut place = connection.prepare_cached(
        "UPDATE contents SET is_packed = 1, body = x'', block = ?2, start = ?3, length = ?4 WHERE key = ?1",
    )?;
    let mut start = 0;
    for content in contents {
        place.execute(params![content.key, key, start, content.json.len() as i64])?;
        start += content.json.len() as i64;
    }
    Ok(())
}

/// How many bytes of a session wait before they move into a block.
pub(super) const LOOSE: u64 = 16 << 10;

/// The size from which a block is full, in bytes before compression. Twice as much saves a tenth more space, and makes
/// each read of one message twice as dear; measured in `docs/reliability.md`.
const FULL: usize = 128 << 10;
