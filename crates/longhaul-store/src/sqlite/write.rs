//! What is written: a decision, its events, and the contents they name.

use std::collections::BTreeSet;

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    adding::{self, Adding, Content, Keep, log},
    blocks::{self, LOOSE},
    cells::{WRITING, words_row, write_state},
    codec::Codec,
    desk::Desk,
    frame,
    rows::Held,
    scrub, settle, tail,
};
use crate::{Change, Decide, Event, EventKind, Object, Step, StoreError, StoredSession, cache};

/// Decides and writes, inside the caller's transaction. Also returns whether contents were taken away.
pub(super) fn transact(
    desk: &mut Desk,
    id: &SessionId,
    decide: &Decide,
) -> Result<(StoredSession, bool), StoreError> {
    let held = desk.held(id)?;
    let state = held.as_ref().map_or_else(StoredSession::empty, |held| held.state.clone());
    let mut change = decide(&state)?;
    check(desk, id, held.as_ref(), &change)?;
    let mut steps = std::mem::take(&mut change.steps);
    let last = steps.pop_if(|step| is_small(step));
    let (held, is_erased) = match held {
        Some(held) if steps.is_empty() => (held, false),
        held => write_rows(desk, id, held, state, steps)?,
    };
    let key = held.key;
    let state = match last {
        Some(step) => append(desk, id, held, step)?,
        None => held.state,
    };
    if state.events > 0 {
        beside(desk, key, state.events, &change)?;
    }
    Ok((state, is_erased))
}

/// Does what [`transact`] does where that is to add a little to a session, else writes nothing and returns `None`.
pub(super) fn transact_little(
    desk: &mut Desk,
    id: &SessionId,
    decide: &Decide,
) -> Result<Option<StoredSession>, StoreError> {
    let Some(held) = desk.held(id)? else { return Ok(None) };
    let mut change = decide(&held.state)?;
    if change.steps.len() > 1 || !change.steps.iter().all(is_small) {
        return Ok(None);
    }
    check(desk, id, Some(&held), &change)?;
    let key = held.key;
    let state = match change.steps.pop() {
        Some(step) => append(desk, id, held, step)?,
        None => held.state,
    };
    beside(desk, key, state.events, &change)?;
    Ok(Some(state))
}

/// Refuses a change where somebody else wrote what stands beside the session's log.
fn check(desk: &Desk, id: &SessionId, held: Option<&Held>, change: &Change) -> Result<(), StoreError> {
    const MARK: &str = "SELECT coalesce(since.hash, snapshots.hash) FROM snapshots
         LEFT JOIN since ON since.session = snapshots.session WHERE snapshots.session = ?1";
    let (Some(held), Some(_)) = (held, &change.on) else { return Ok(()) };
    let mark = desk.connection.prepare_cached(MARK);
    let mark = mark.and_then(|mut mark| mark.query_row([held.key], |row| row.get(0)).optional());
    change.check(id, mark.map_err(WRITING)?.map(ContentHash))
}

/// Writes what stands beside the log: the snapshot, in place of the one before it, and what changed since.
fn beside(desk: &Desk, key: i64, events: u64, change: &Change) -> Result<(), StoreError> {
    const SNAPSHOT: &str = "INSERT INTO snapshots (session, events, hash, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session) DO UPDATE SET events = excluded.events, hash = excluded.hash, body = excluded.body";
    const OUTDATED: &str = "DELETE FROM since WHERE session = ?1";
    const SINCE: &str =
        "INSERT INTO since (session, hash, body) SELECT session, ?2, ?3 FROM snapshots WHERE session = ?1
         ON CONFLICT (session) DO UPDATE SET hash = excluded.hash, body = excluded.body";
    let kept = |bytes: &[u8]| (ContentHash::of(bytes).0, desk.codec.encode_cached(bytes));
    let write = || {
        if let Some(snapshot) = &change.snapshot {
            let (hash, body) = kept(snapshot);
            let values = params![key, events as i64, hash, body];
            desk.connection.prepare_cached(SNAPSHOT)?.execute(values)?;
            desk.connection.prepare_cached(OUTDATED)?.execute([key])?;
        }
        if let Some(since) = &change.since {
            let (hash, body) = kept(since);
            desk.connection.prepare_cached(SINCE)?.execute(params![key, hash, body])?;
        }
        Ok(())
    };
    write().map_err(WRITING)
}

/// Returns whether a step goes to the tail.
fn is_small(step: &Step) -> bool {
    let size = || step.objects.iter().flatten().map(|object| object.json.len() as u64).sum::<u64>();
    matches!(step.kind, EventKind::Originals { .. })
        && step.objects.iter().all(Option::is_some)
        && size() < LOOSE
}

fn append(desk: &mut Desk, id: &SessionId, held: Held, step: Step) -> Result<StoredSession, StoreError> {
    let Held { key, state: before, end } = held;
    let mut state = before.clone();
    for sealed in Change::seal(vec![step], id, &mut state)? {
        let start = before.messages;
        let kept: Vec<(ContentHash, Vec<u8>)> = sealed
            .objects
            .iter()
            .flatten()
            .map(|object| (object.address, desk.codec.encode_loose(object.json.as_bytes())))
            .collect();
        let EventKind::Originals { addresses, spellings, .. } = &sealed.event.kind else { continue };
        let (contents, beside) = kept.split_at(addresses.len());
        let mut beside = beside.iter().map(|(address, bytes)| (*address, bytes.as_slice()));
        let mut beside_of = |at: usize| spellings.get(at)?.and_then(|_| beside.next());
        let contents = contents.iter().enumerate();
        let contents = contents.map(|(at, (address, bytes))| ((*address, bytes.as_slice()), beside_of(at)));
        let frame = frame::encode(&sealed.event, start, contents);
        let chunk = end.as_ref().map(|end| end.chunk);
        let end =
            tail::append(&desk.connection, key, end.clone(), &before, start, &frame).map_err(WRITING)?;
        desk.has_grown |= chunk.is_some_and(|chunk| chunk != end.chunk);
        desk.keep(id, Held { key, state: state.clone(), end: Some(end) });
    }
    Ok(state)
}

/// Writes a change as rows, after what waits in the session's tail. Also returns whether contents were taken away.
fn write_rows(
    desk: &mut Desk,
    id: &SessionId,
    held: Option<Held>,
    mut state: StoredSession,
    steps: Vec<Step>,
) -> Result<(Held, bool), StoreError> {
    let sealed = Change::seal(steps, id, &mut state)?;
    let key = match held {
        Some(Held { key, end, .. }) => {
            if end.is_some() && !sealed.is_empty() {
                settle::drain(desk, key, id, tail::ALL)?;
            }
            key
        }
        None if sealed.is_empty() => return Ok((Held { key: 0, state, end: None }, false)),
        None => {
            let insert = "INSERT INTO sessions (id, changed_at_ms, state) VALUES (?1, 0, '')";
            let connection = &desk.connection;
            connection
                .prepare_cached(insert)
                .and_then(|mut row| row.execute([id.as_str()]))
                .map_err(WRITING)?;
            connection.last_insert_rowid()
        }
    };
    let is_erased = sealed.iter().any(|sealed| matches!(sealed.event.kind, EventKind::Forgotten { .. }));
    for sealed in &sealed {
        write_event(&desk.connection, &desk.codec, key, &sealed.event, &sealed.objects).map_err(WRITING)?;
    }
    if is_erased {
        forget_cached(&desk.connection, id).map_err(WRITING)?;
    }
    write_state(&desk.connection, key, &state).map_err(WRITING)?;
    let held = Held { key, state, end: None };
    desk.keep(id, held.clone());
    Ok((held, is_erased))
}

fn write_event(
    connection: &Connection,
    codec: &Codec,
    key: i64,
    event: &Event,
    objects: &[Option<Object>],
) -> rusqlite::Result<()> {
    match &event.kind {
        EventKind::Originals { start, addresses, spellings } => {
            let mut objects = objects.iter();
            let contents = addresses.iter().copied().zip(objects.by_ref().map(Content::of)).collect();
            let mut beside =
                |address: &ContentHash| (*address, objects.next().map_or(Content::Gone, Content::of));
            let spellings = spellings.iter().map(|address| address.as_ref().map(&mut beside)).collect();
            let adding = Adding { event: event.clone(), start: *start, contents, spellings };
            return adding::originals(connection, codec, key, &[adding]);
        }
        EventKind::Compacted { record, address, .. } => {
            let object = objects.first().and_then(Option::as_ref);
            let put = object
                .map(|object| adding::put(connection, codec, *address, object.json.as_bytes(), Keep::Packed))
                .transpose()?;
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
            // It may quote what was forgotten, and can be made again.
            connection.prepare_cached("DELETE FROM snapshots WHERE session = ?1")?.execute([key])?;
            connection.prepare_cached("DELETE FROM since WHERE session = ?1")?.execute([key])?;
            // The index keeps the words of deleted entries until it is merged. Not left for later: whoever is killed in
            // between would leave them for good.
            connection.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
        }
        _ => {}
    }
    log(connection, key, event)
}

/// Takes away what is cached and may quote what was forgotten in `session`, and notes that the log is to be cleared.
fn forget_cached(connection: &Connection, session: &SessionId) -> rusqlite::Result<()> {
    let gone = "DELETE FROM cache
        WHERE substr(key, 1, 8) <> ?1 AND (substr(key, 1, 8) <> ?2 OR substr(key, 9, 8) = ?3)";
    connection.execute(gone, params![cache::LASTING, cache::OF_SESSION, cache::part_of(session)])?;
    scrub::note(connection)
}

fn erase_originals(
    connection: &Connection,
    key: i64,
    span: Span,
    blocks: &mut BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(
        "SELECT originals.ordinal, contents.key, contents.address, beside.key, beside.address FROM originals
         JOIN contents ON contents.key = originals.content
         LEFT JOIN contents AS beside ON beside.key = originals.spelling
         WHERE originals.session = ?1 AND originals.ordinal >= ?2 AND originals.ordinal < ?3",
    )?;
    type Found = (i64, i64, [u8; 32], Option<i64>, Option<[u8; 32]>);
    let found: Vec<Found> = find
        .query_map(params![key, span.start as i64, span.end as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (ordinal, content, address, beside, beside_address) in found {
        connection
            .prepare_cached(
                "UPDATE originals SET content = NULL, address = ?3, spelling = NULL, spelling_address = ?4
                 WHERE session = ?1 AND ordinal = ?2",
            )?
            .execute(params![key, ordinal, address, beside_address])?;
        connection
            .prepare_cached("DELETE FROM words WHERE rowid = ?1")?
            .execute([words_row(key, ordinal)])?;
        for content in [Some(content), beside].into_iter().flatten() {
            drop_reference(connection, content, blocks)?;
        }
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
