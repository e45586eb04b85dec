//! The tail of a session: what was appended last, as frames in chunks.
//!
//! As rows, one message touches six pages of the file (its event, its entry, its content, two indexes, the state), and
//! pages are what a write costs. So a small append writes a frame into bytes that were set aside before, which is one or
//! two pages, and frames become rows many at a time ([`settle`](super::settle)).

use std::collections::{HashMap, HashSet};

use longhaul_transcript::{ContentHash, Message, SessionId, Span};
use rusqlite::{Connection, params};

use super::{
    cells::{self, read_state, reading, text, words_row},
    codec::Codec,
    frame::{self, Frame, Frames},
};
use crate::{Event, JournalEntry, Problem, StoreError, StoredSession, search};

/// A chunk as it stands in the file.
pub(super) struct Chunk {
    /// Its key: the session's, and the ordinal of its first original.
    pub(super) key: i64,
    /// The session's state before its first event.
    state: StoredSession,
    body: Vec<u8>,
}

/// The end of a session's tail, ready to be written to.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The key of the last chunk.
    pub(super) chunk: i64,
    /// Where in it the next frame goes, and how many bytes of frames it takes.
    pub(super) at: usize,
    pub(super) room: usize,
}

impl Chunk {
    /// Hands over the frames, in order, checked against the log's hashes, and returns the state after them. Contents are
    /// not checked.
    pub(super) fn each<'a>(
        &'a self,
        id: &SessionId,
        mut take: impl FnMut(Frame<'a>),
    ) -> Result<StoredSession, StoreError> {
        let damaged = |problem| StoreError::Damaged { session: id.clone(), problem };
        let mut state = self.state.clone();
        for frame in Frames::of(&self.body) {
            let frame = frame.map_err(|_| damaged(Problem::ChangedEvent { seq: state.events }))?;
            state.apply(id, &frame.event).map_err(damaged)?;
            take(frame);
        }
        Ok(state)
    }

    /// Returns where the next frame goes.
    fn end(&self) -> usize {
        let mut frames = Frames::of(&self.body);
        frames.by_ref().for_each(drop);
        frames.at()
    }
}

/// Returns the state of a session that has a tail, and the end of that.
pub(super) fn end(
    connection: &Connection,
    key: i64,
    id: &SessionId,
) -> Result<Option<(StoredSession, End)>, StoreError> {
    let Some(chunk) = chunks(connection, key, id, Part::Last)?.pop() else { return Ok(None) };
    let state = chunk.each(id, drop)?;
    Ok(Some((state, End { chunk: chunk.key, at: chunk.end(), room: frame::room(chunk.body.len()) })))
}

/// Writes a frame behind `end`, or into a new chunk. `before` is the state before it, `start` its first ordinal.
pub(super) fn append(
    connection: &Connection,
    key: i64,
    end: Option<End>,
    before: &StoredSession,
    start: u64,
    frame: &[u8],
) -> rusqlite::Result<End> {
    if let Some(end) = end.as_ref().filter(|end| end.at + frame.len() <= end.room) {
        connection.blob_open(c"main", c"tail", c"body", end.chunk, false)?.write_all_at(frame, end.at)?;
        return Ok(End { at: end.at + frame.len(), ..*end });
    }
    // A session that was just begun or settled may end here.
    let size = if end.is_some() { CHUNK } else { FIRST_CHUNK };
    let body = frame::chunk(size, frame);
    let chunk = words_row(key, start as i64);
    let state = serde_json::to_string(before).expect("a state has string keys only");
    connection
        .prepare_cached("INSERT INTO tail (key, seq, state, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![chunk, before.events as i64, state, body])?;
    Ok(End { chunk, at: frame.len(), room: frame::room(body.len()) })
}

/// Which chunks of a session are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The last one.
    Last,
    /// The first so many.
    First(usize),
    /// Those that may hold an event from this one on.
    Events(u64),
    /// Those that may hold originals of this span.
    Originals(Span),
}

/// Returns chunks of a session, in order.
pub(super) fn chunks(
    connection: &Connection,
    key: i64,
    id: &SessionId,
    part: Part,
) -> Result<Vec<Chunk>, StoreError> {
    let (first, last) = (words_row(key, 0), words_row(key, ORDINALS));
    // A chunk that begins before what is asked for may reach into it.
    let (query, from, to, limit) = match part {
        Part::Last => (LAST, first, last, 1),
        Part::First(limit) => (FROM, first, last, limit as i64),
        Part::Events(seq) => (FROM_EVENT, first, last, i64::try_from(seq).unwrap_or(i64::MAX)),
        Part::Originals(span) if span.is_empty() => return Ok(Vec::new()),
        Part::Originals(span) => {
            let ordinal =
                |ordinal: u64| words_row(key, i64::try_from(ordinal).unwrap_or(i64::MAX).min(ORDINALS));
            (FROM_ORIGINAL, ordinal(span.start), ordinal(span.end - 1), first)
        }
    };
    let mut query = connection.prepare_cached(query).map_err(reading(id))?;
    let mut rows = query.query([from, to, limit]).map_err(reading(id))?;
    let mut chunks = Vec::new();
    while let Some(row) = rows.next().map_err(reading(id))? {
        let key = row.get(0).map_err(reading(id))?;
        let state = read_state(id, &text(row, 1).map_err(reading(id))?)?;
        chunks.push(Chunk { key, state, body: row.get(2).map_err(reading(id))? });
    }
    Ok(chunks)
}

/// Returns the events from `from` on.
pub(super) fn events(
    connection: &Connection,
    key: i64,
    id: &SessionId,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::new();
    for chunk in chunks(connection, key, id, Part::Events(from))? {
        chunk.each(id, |frame| events.extend(Some(frame.event).filter(|event| event.seq >= from)))?;
        if events.len() >= limit {
            break;
        }
    }
    events.truncate(limit);
    Ok(events)
}

/// An original in the tail.
pub(super) struct Waiting {
    pub(super) entry: JournalEntry,
    /// Its content as JSON bytes; `None` where it is not what was kept.
    pub(super) json: Option<Vec<u8>>,
    /// What is kept beside it, as JSON bytes.
    pub(super) spelling: Option<Vec<u8>>,
}

/// Returns the originals of `span` that are in the tail, in order; with their contents where `codec` is given.
pub(super) fn originals(
    connection: &Connection,
    codec: Option<&Codec>,
    key: i64,
    id: &SessionId,
    span: Span,
) -> Result<Vec<Waiting>, StoreError> {
    let mut found = Vec::new();
    for chunk in chunks(connection, key, id, Part::Originals(span))? {
        chunk.each(id, |Frame { event, start, contents, spellings }| {
            let spellings = spellings.into_iter().chain(std::iter::repeat(None));
            let held = (start..).zip(contents.into_iter().zip(spellings));
            for (ordinal, ((address, bytes), beside)) in held.filter(|(at, _)| span.contains(*at)) {
                let (spelling, at_ms) = (beside.map(|(address, _)| address), event.at_ms);
                let entry = JournalEntry { ordinal, address, spelling, at_ms, is_forgotten: false };
                let read = |bytes: &[u8]| codec.and_then(|codec| codec.decode(false, bytes.to_vec()));
                let (json, spelling) = (read(bytes), beside.and_then(|(_, bytes)| read(bytes)));
                found.push(Waiting { entry, json, spelling });
            }
        })?;
    }
    Ok(found)
}

/// Returns those of the `wanted` contents that are in the tail, as JSON bytes.
pub(super) fn contents(
    connection: &Connection,
    codec: &Codec,
    id: &SessionId,
    wanted: &HashSet<ContentHash>,
) -> Result<HashMap<ContentHash, Vec<u8>>, StoreError> {
    let Some(key) = cells::key(connection, id)? else { return Ok(HashMap::new()) };
    let mut found = HashMap::new();
    for chunk in chunks(connection, key, id, Part::First(ALL))? {
        let mut held = Vec::new();
        chunk.each(id, |frame| {
            let kept = frame.contents.into_iter().chain(frame.spellings.into_iter().flatten());
            held.extend(kept.filter(|(at, _)| wanted.contains(at)))
        })?;
        for (address, bytes) in held {
            let json = codec.decode(false, bytes.to_vec());
            found.insert(address, json.ok_or(StoreError::DamagedContent { address })?);
        }
    }
    Ok(found)
}

/// Returns how many bytes are set aside in all tails.
pub(super) fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let mut size = connection.prepare_cached("SELECT ifnull(sum(length(body)), 0) FROM tail")?;
    size.query_row([], |row| row.get::<_, i64>(0)).map(|size| size as u64)
}

/// Returns where all of `words` stand in tails, as rows of the search index: the last `limit` at least, where there are
/// as many. What is damaged shows none.
pub(super) fn find_words(
    connection: &Connection,
    codec: &Codec,
    session: Option<i64>,
    words: &[String],
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let (first, last) = match session {
        Some(key) => (words_row(key, 0), words_row(key, ORDINALS)),
        None => (0, i64::MAX),
    };
    let mut query = connection
        .prepare_cached("SELECT key, body FROM tail WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC")?;
    let mut rows = query.query([first, last])?;
    let mut found = Vec::new();
    // The chunks come last first, so that a word which is everywhere is looked for in a few.
    while let Some(row) = rows.next()?.filter(|_| found.len() < limit) {
        let key = row.get::<_, i64>(0)? & !ORDINALS;
        let body = row.get_ref(1)?.as_blob().unwrap_or_default();
        for frame in Frames::of(body).map_while(Result::ok) {
            let rows = (key | frame.start as i64..).zip(frame.contents);
            found.extend(rows.filter(|(_, (_, bytes))| holds(codec, bytes, words)).map(|(row, _)| row));
        }
    }
    Ok(found)
}

/// Returns the keys of the sessions that have the message `address` at `at` in their tail. What is damaged shows none.
pub(super) fn holders(connection: &Connection, at: u64, address: ContentHash) -> rusqlite::Result<Vec<i64>> {
    // Tails are few, and most begin later than where sessions begin.
    let mut query = connection.prepare_cached("SELECT key, body FROM tail WHERE (key & ?1) <= ?2")?;
    let mut rows = query.query([ORDINALS, i64::try_from(at).unwrap_or(i64::MAX)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_blob().unwrap_or_default();
        let frames = Frames::of(body).map_while(Result::ok).take_while(|frame| frame.start <= at);
        let held = frames.last().and_then(|frame| frame.contents.get((at - frame.start) as usize).copied());
        if held.is_some_and(|(held, _)| held == address) {
            found.push(row.get::<_, i64>(0)? >> 32);
        }
    }
    Ok(found)
}

fn holds(codec: &Codec, bytes: &[u8], words: &[String]) -> bool {
    let Some(json) = codec.plain(bytes) else { return false };
    // Most messages lack a word even as a part of another: that is seen without reading JSON.
    search::may_hold(&json, words)
        && serde_json::from_slice::<Message>(&json).is_ok_and(|message| search::holds(&message, words))
}

const LAST: &str = "SELECT key, state, body FROM tail WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?3";
const FROM: &str = "SELECT key, state, body FROM tail WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3";
const FROM_EVENT: &str = "SELECT key, state, body FROM tail WHERE key BETWEEN ?1 AND ?2 AND key >=
       ifnull((SELECT max(key) FROM tail WHERE key BETWEEN ?1 AND ?2 AND seq <= ?3), ?1) ORDER BY key";
const FROM_ORIGINAL: &str = "SELECT key, state, body FROM tail WHERE key <= ?2 AND key >=
       ifnull((SELECT max(key) FROM tail WHERE key BETWEEN ?3 AND ?1), ?3) ORDER BY key";

/// More chunks than a session has.
pub(super) const ALL: usize = u32::MAX as usize;

/// The bits of a key that are an ordinal.
const ORDINALS: i64 = u32::MAX as i64;

/// The size of a session's first chunk, and of those that follow, in bytes. The page that a frame goes to is found by walking
/// the chunk's, so that a larger one is slower to write to; measured in `docs/reliability.md`.
pub(super) const FIRST_CHUNK: usize = 16 << 10;
const CHUNK: usize = 64 << 10;
