//! Originals on their way into rows: each event with the contents that it names.

use std::borrow::Cow;

use longhaul_transcript::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    blocks::{self, LOOSE, Loose},
    codec::Codec,
    index,
};
use crate::{Event, Object, pack::pack};

/// An event that adds originals, on its way into rows.
pub(super) struct Adding<'a> {
    pub(super) event: Event,
    /// The ordinal of the first original.
    pub(super) start: u64,
    pub(super) contents: Vec<(ContentHash, Content<'a>)>,
    /// What is kept beside each; as many as there are contents, or none at all.
    pub(super) spellings: Vec<Option<(ContentHash, Content<'a>)>>,
}

/// The content of an original.
pub(super) enum Content<'a> {
    /// As JSON.
    Json(Cow<'a, [u8]>),
    /// As it was kept, where that cannot be read.
    Kept(&'a [u8]),
    /// Destroyed.
    Gone,
}

impl Content<'_> {
    pub(super) fn of(object: &Option<Object>) -> Content<'_> {
        match object {
            Some(object) => Content::Json(object.json.as_bytes().into()),
            None => Content::Gone,
        }
    }
}

/// Writes events that add originals, in order, with their contents.
pub(super) fn originals<'a>(
    connection: &Connection,
    codec: &Codec,
    key: i64,
    added: &'a [Adding<'_>],
) -> rusqlite::Result<()> {
    let Some(first) = added.first() else { return Ok(()) };
    let size = |content: &Content<'_>| match content {
        Content::Json(json) => json.len() as u64,
        _ => 0,
    };
    let all = |adding: &'_ Adding<'_>| {
        let beside = adding.spellings.iter().flatten();
        adding.contents.iter().chain(beside).map(|(_, content)| size(content)).sum::<u64>()
    };
    let given = added.iter().map(all).sum();
    // What goes into a block at once is not written twice.
    let keep = if wait(connection, key, given)? < LOOSE { Keep::Loose } else { Keep::ForBlock };
    let mut original = connection.prepare_cached(
        "INSERT INTO originals (session, ordinal, at_ms, content, address, spelling, spelling_address)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut fresh = Vec::new();
    for Adding { event, start, contents, spellings } in added {
        let mut put_one = |(address, content): &'a (ContentHash, Content<'_>)| {
            let put = match content {
                Content::Json(json) => Some(put(connection, codec, *address, json, keep)?),
                Content::Kept(bytes) => Some(put(connection, codec, *address, bytes, Keep::AsGiven)?),
                Content::Gone => None,
            };
            if let (Some((key, true)), Content::Json(json), Keep::ForBlock) = (put, content, keep) {
                fresh.push(Loose { key, json: Cow::Borrowed(json) });
            }
            let content_key = put.map(|(content, _)| content);
            Ok::<_, rusqlite::Error>((content_key, content_key.is_none().then_some(address.0)))
        };
        log(connection, key, event)?;
        for (at, content) in contents.iter().enumerate() {
            let (content, gone) = put_one(content)?;
            let beside = spellings.get(at).and_then(Option::as_ref).map(&mut put_one).transpose()?;
            let (beside, beside_gone) = beside.unwrap_or_default();
            let ordinal = *start as i64 + at as i64;
            original.execute(params![key, ordinal, event.at_ms, content, gone, beside, beside_gone])?;
        }
    }
    if keep == Keep::ForBlock {
        settle(connection, codec, key, first.start as i64, fresh)?;
    }
    Ok(())
}

pub(super) fn log(connection: &Connection, key: i64, event: &Event) -> rusqlite::Result<()> {
    let kind = serde_json::to_vec(&event.kind).expect("an event kind has string keys only");
    // A short one gains nothing, and a compressor costs more than the rest of an append.
    let kind = if kind.len() < WORTH_PACKING { kind } else { pack(&kind).1 };
    connection
        .prepare_cached(
            "INSERT INTO events (session, seq, version, at_ms, prev_hash, hash, kind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            key,
            event.seq as i64,
            event.version,
            event.at_ms,
            event.prev_hash.0,
            event.hash.0,
            kind
        ])
        .map(drop)
}

/// In what form a content is first written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// As it is: it moves into a block soon.
    Loose,
    /// Not at all: it moves into a block in this transaction.
    ForBlock,
    /// Compressed by itself, for good.
    Packed,
    /// As it is, for good.
    AsGiven,
}

/// Stores a content, or counts one more reference to it; returns its key, and whether it is new.
pub(super) fn put(
    connection: &Connection,
    codec: &Codec,
    address: ContentHash,
    bytes: &[u8],
    keep: Keep,
) -> rusqlite::Result<(i64, bool)> {
    let known: Option<i64> = connection
        .prepare_cached("UPDATE contents SET refs = refs + 1 WHERE address = ?1 RETURNING key")?
        .query_row([address.0], |row| row.get(0))
        .optional()?;
    if let Some(key) = known {
        return Ok((key, false));
    }
    let (is_packed, body) = match keep {
        Keep::Loose => (false, codec.encode_loose(bytes)),
        Keep::ForBlock => (true, Vec::new()),
        Keep::Packed => codec.encode(bytes),
        Keep::AsGiven => (false, bytes.to_vec()),
    };
    connection
        .prepare_cached("INSERT INTO contents (address, refs, is_packed, body) VALUES (?1, 1, ?2, ?3)")?
        .execute(params![address.0, is_packed, body])?;
    Ok((connection.last_insert_rowid(), true))
}

/// Counts `bytes` more that wait to be put into a block, and returns how many wait now.
fn wait(connection: &Connection, key: i64, bytes: u64) -> rusqlite::Result<u64> {
    let count = "UPDATE sessions SET loose = loose + max(?2, 1) WHERE key = ?1 RETURNING loose";
    let mut count = connection.prepare_cached(count)?;
    count.query_row(params![key, bytes as i64], |row| row.get::<_, i64>(0)).map(|loose| loose as u64)
}

/// Moves what waits, and then `fresh`, into blocks. `end` is the ordinal of the first of the originals just written.
fn settle(
    connection: &Connection,
    codec: &Codec,
    key: i64,
    end: i64,
    fresh: Vec<Loose<'_>>,
) -> rusqlite::Result<()> {
    let settled: i64 = connection
        .prepare_cached("SELECT settled FROM sessions WHERE key = ?1")?
        .query_row([key], |row| row.get(0))?;
    let mut find = connection.prepare_cached(
        "SELECT DISTINCT contents.key, contents.is_packed, contents.body FROM originals
         JOIN contents ON contents.key IN (originals.content, originals.spelling)
         WHERE originals.session = ?1 AND originals.ordinal >= ?2 AND originals.ordinal < ?3
           AND contents.block IS NULL AND length(contents.body) > 0 ORDER BY contents.key",
    )?;
    let waiting: Vec<(i64, bool, Vec<u8>)> = find
        .query_map(params![key, settled, end], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // One that cannot be read stays where it is.
    let readable = waiting.into_iter().filter_map(|(key, is_packed, body)| {
        codec.decode(is_packed, body).map(|json| Loose { key, json: json.into() })
    });
    let contents: Vec<Loose<'_>> = readable.chain(fresh).collect();
    let open = connection
        .prepare_cached(
            "SELECT contents.block FROM originals JOIN contents ON contents.key = originals.content
             WHERE originals.session = ?1 AND originals.ordinal < ?2 AND contents.block IS NOT NULL
             ORDER BY originals.ordinal DESC LIMIT 1",
        )?
        .query_row(params![key, settled], |row| row.get(0))
        .optional()?;
    blocks::write(connection, codec, open, contents)?;
    index::catch_up(connection, codec, key)?;
    connection
        .prepare_cached(
            "UPDATE sessions SET loose = 0, settled =
               (SELECT max(ordinal) + 1 FROM originals WHERE originals.session = ?1) WHERE key = ?1",
        )?
        .execute([key])?;
    Ok(())
}

/// The size of an event from which it is compressed, in bytes.
const WORTH_PACKING: usize = 512;
