//! What is written: a decision, its events, and the contents they name.

use std::collections::BTreeSet;

use longhaul_transcript::{SessionId, Span, SummaryId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    blocks::{self, LOOSE, Loose, Place},
    codec::Codec,
    rows::{WRITING, session, words_row},
};
use crate::{Decide, Event, EventKind, Object, Sealed, SessionState, StoreError, pack::pack};

/// Decides and writes, inside the caller's transaction. Also returns whether contents were taken away.
pub(super) fn transact(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
    decide: &Decide,
) -> Result<(SessionState, bool), StoreError> {
    let held = session(connection, id)?;
    let (key, mut state) = match held {
        Some((key, state)) => (Some(key), state),
        None => (None, SessionState::empty()),
    };
    let change = decide(&state)?;
    if change.steps.is_empty() {
        return Ok((state, false));
    }
    let sealed = change.seal(id, &mut state)?;
    let key = match key {
        Some(key) => key,
        None => {
            let insert = "INSERT INTO sessions (id, changed_at_ms, state) VALUES (?1, 0, '')";
            connection
                .prepare_cached(insert)
                .and_then(|mut row| row.execute([id.as_str()]))
                .map_err(WRITING)?;
            connection.last_insert_rowid()
        }
    };
    let erased = sealed.iter().any(|sealed| matches!(sealed.event.kind, EventKind::Forgotten { .. }));
    for Sealed { event, objects } in sealed {
        write_event(connection, codec, key, &event, &objects).map_err(WRITING)?;
    }
    let json = serde_json::to_string(&state).expect("a state has string keys only");
    connection
        .prepare_cached("UPDATE sessions SET changed_at_ms = ?2, state = ?3 WHERE key = ?1")
        .and_then(|mut row| row.execute(params![key, state.changed_at_ms, json]))
        .map_err(WRITING)?;
    Ok((state, erased))
}

fn write_event(
    connection: &Connection,
    codec: &Codec,
    key: i64,
    event: &Event,
    objects: &[Option<Object>],
) -> rusqlite::Result<()> {
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
        ])?;
    match &event.kind {
        EventKind::Originals { start, addresses } => {
            let mut original = connection.prepare_cached(
                "INSERT INTO originals (session, ordinal, at_ms, content, address) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let given: u64 = objects.iter().flatten().map(|object| object.json.len() as u64).sum();
            let waiting = wait(connection, key, given)?;
            // What goes into a block at once is not written twice.
            let keep = if waiting < LOOSE { Keep::Loose } else { Keep::ForBlock };
            let mut fresh = Vec::new();
            for ((ordinal, address), object) in (*start as i64..).zip(addresses).zip(objects) {
                let put = object.as_ref().map(|object| put(connection, codec, object, keep)).transpose()?;
                let content = put.map(|(content, _)| content);
                let gone = content.is_none().then_some(address.0);
                original.execute(params![key, ordinal, event.at_ms, content, gone])?;
                if let (Some((key, true)), Some(object), Keep::ForBlock) = (put, object, keep) {
                    fresh.push(Loose { key, json: object.json.clone().into_bytes() });
                }
            }
            if keep == Keep::ForBlock {
                settle(connection, codec, key, *start as i64, fresh)?;
            }
        }
        EventKind::Compacted { record, address, .. } => {
            let object = objects.first().and_then(Option::as_ref);
            let put = object.map(|object| put(connection, codec, object, Keep::Packed)).transpose()?;
            let content = put.map(|(content, _)| content);
            let gone = content.is_none().then_some(address.0);
            connection
                .prepare_cached(
                    "INSERT INTO records (session, seq, id, content, address) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![key, event.seq as i64, record.as_str(), content, gone])?;
        }
        EventKind::Forgotten { originals, records, .. } => {
            let mut blocks = BTreeSet::new();
            for span in originals {
                erase_originals(connection, key, *span, &mut blocks)?;
            }
            for record in records {
                erase_record(connection, key, record, &mut blocks)?;
            }
            blocks::rewrite(connection, codec, &blocks)?;
        }
        _ => {}
    }
    Ok(())
}

/// In what form a content is first written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// As it is: it moves into a block soon.
    Loose,
    /// Not at all: it moves into a block in this transaction.
    ForBlock,
    /// Compressed by itself, for good.
    Packed,
}

/// Stores a content, or counts one more reference to it; returns its key, and whether it is new.
fn put(connection: &Connection, codec: &Codec, object: &Object, keep: Keep) -> rusqlite::Result<(i64, bool)> {
    let known: Option<i64> = connection
        .prepare_cached("UPDATE contents SET refs = refs + 1 WHERE address = ?1 RETURNING key")?
        .query_row([object.address.0], |row| row.get(0))
        .optional()?;
    if let Some(key) = known {
        return Ok((key, false));
    }
    let (is_packed, body) = match keep {
        Keep::Loose => (false, codec.encode_loose(object.json.as_bytes())),
        Keep::ForBlock => (true, Vec::new()),
        Keep::Packed => codec.encode(object.json.as_bytes()),
    };
    connection
        .prepare_cached("INSERT INTO contents (address, refs, is_packed, body) VALUES (?1, 1, ?2, ?3)")?
        .execute(params![object.address.0, is_packed, body])?;
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
    fresh: Vec<Loose>,
) -> rusqlite::Result<()> {
    let settled: i64 = connection
        .prepare_cached("SELECT settled FROM sessions WHERE key = ?1")?
        .query_row([key], |row| row.get(0))?;
    let mut find = connection.prepare_cached(
        "SELECT DISTINCT contents.key, contents.is_packed, contents.body FROM originals
         JOIN contents ON contents.key = originals.content
         WHERE originals.session = ?1 AND originals.ordinal >= ?2 AND originals.ordinal < ?3
           AND contents.block IS NULL AND length(contents.body) > 0 ORDER BY contents.key",
    )?;
    let waiting: Vec<(i64, bool, Vec<u8>)> = find
        .query_map(params![key, settled, end], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // One that cannot be read stays where it is.
    let readable = waiting
        .into_iter()
        .filter_map(|(key, is_packed, body)| codec.decode(is_packed, body).map(|json| Loose { key, json }));
    let contents: Vec<Loose> = readable.chain(fresh).collect();
    let open = connection
        .prepare_cached(
            "SELECT contents.block FROM originals JOIN contents ON contents.key = originals.content
             WHERE originals.session = ?1 AND originals.ordinal < ?2 AND contents.block IS NOT NULL
             ORDER BY originals.ordinal DESC LIMIT 1",
        )?
        .query_row(params![key, settled], |row| row.get(0))
        .optional()?;
    blocks::write(connection, codec, open, contents)?;
    super::index::catch_up(connection, codec, key)?;
    connection
        .prepare_cached(
            "UPDATE sessions SET loose = 0, settled =
               (SELECT max(ordinal) + 1 FROM originals WHERE originals.session = ?1) WHERE key = ?1",
        )?
        .execute([key])?;
    Ok(())
}

fn erase_originals(
    connection: &Connection,
    key: i64,
    span: Span,
    blocks: &mut BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(
        "SELECT originals.ordinal, contents.key, contents.address FROM originals
         JOIN contents ON contents.key = originals.content
         WHERE originals.session = ?1 AND originals.ordinal >= ?2 AND originals.ordinal < ?3",
    )?;
    let found: Vec<(i64, i64, [u8; 32])> = find
        .query_map(params![key, span.start as i64, span.end as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (ordinal, content, address) in found {
        connection
            .prepare_cached(
                "UPDATE originals SET content = NULL, address = ?3 WHERE session = ?1 AND ordinal = ?2",
            )?
            .execute(params![key, ordinal, address])?;
        connection
            .prepare_cached("DELETE FROM words WHERE rowid = ?1")?
            .execute([words_row(key, ordinal)])?;
        drop_reference(connection, content, blocks)?;
    }
    Ok(())
}

fn erase_record(
    connection: &Connection,
    key: i64,
    record: &SummaryId,
    blocks: &mut BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(
        "SELECT records.seq, contents.key, contents.address FROM records
         JOIN contents ON contents.key = records.content WHERE records.session = ?1 AND records.id = ?2",
    )?;
    let found: Vec<(i64, i64, [u8; 32])> = find
        .query_map(params![key, record.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (seq, content, address) in found {
        connection
            .prepare_cached(
                "UPDATE records SET content = NULL, address = ?3 WHERE session = ?1 AND seq = ?2",
            )?
            .execute(params![key, seq, address])?;
        drop_reference(connection, content, blocks)?;
    }
    Ok(())
}

/// Counts one reference less. With the last one the content goes; a block that it stood in is noted.
fn drop_reference(connection: &Connection, content: i64, blocks: &mut BTreeSet<i64>) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE contents SET refs = refs - 1 WHERE key = ?1")?.execute([content])?;
    let gone: Option<Option<i64>> = connection
        .prepare_cached("DELETE FROM contents WHERE key = ?1 AND refs < 1 RETURNING block")?
        .query_row([content], |row| row.get(0))
        .optional()?;
    blocks.extend(gone.flatten());
    Ok(())
}

/// The size of an event from which it is compressed, in bytes.
const WORTH_PACKING: usize = 512;

/// Returns where a content stands, for readers of rows.
pub(super) fn place_of(block: Option<i64>, start: Option<i64>, length: Option<i64>) -> Option<Place> {
    let size = |number: i64| usize::try_from(number).ok();
    Some(Place { block: block?, start: size(start?)?, length: size(length?)? })
}
