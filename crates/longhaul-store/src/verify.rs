//! Proof: every hash of a session, checked again.

use std::fmt;

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use serde::{Deserialize, Serialize};

use crate::{EventKind, JournalEntry, StoreError, StoredSession, SummaryStore, event::ZERO};

/// What a verification saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verification {
    /// Version of this shape.
    pub version: u32,
    /// The session.
    pub session: SessionId,
    /// Events checked.
    pub events: u64,
    /// Originals whose content was checked; none where only the log was.
    pub originals: u64,
    /// Records whose content was checked; none where only the log was.
    pub records: u64,
    /// Originals destroyed on purpose, as the log says.
    pub forgotten: u64,
    /// Hash of the last event. Kept elsewhere, it proves later that nothing was cut off.
    pub last_hash: ContentHash,
    /// The first thing that is wrong; `None` where everything is as it was written.
    pub problem: Option<Problem>,
}

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Problem {
    /// An event was written by a newer longhaul.
    NewerEvent {
        /// Its place in the log.
        seq: u64,
    },
    /// An event is missing.
    MissingEvent {
        /// Its place in the log.
        seq: u64,
    },
    /// An event, or the one before it, was changed.
    ChangedEvent {
        /// Its place in the log.
        seq: u64,
    },
    /// An event says what cannot have happened.
    ImpossibleEvent {
        /// Its place in the log.
        seq: u64,
    },
    /// The session's state is not what its log adds up to: one of them was changed, or the log was cut.
    ChangedState,
    /// The journal's entry at an ordinal is not what the log says.
    ChangedEntry {
        /// The ordinal.
        ordinal: u64,
    },
    /// An original is not what was written.
    ChangedOriginal {
        /// Its ordinal.
        ordinal: u64,
    },
    /// An original is gone, and the log does not say that it was destroyed.
    MissingOriginal {
        /// Its ordinal.
        ordinal: u64,
    },
    /// A record is not what was written.
    ChangedRecord {
        /// Its id.
        record: SummaryId,
    },
    /// The storage below cannot read its own file any more.
    Unreadable,
    /// The snapshot is not what was written.
    ChangedSnapshot,
    /// A record is gone, and the log does not say that it was destroyed.
    MissingRecord {
        /// Its id.
        record: SummaryId,
    },
}

impl Verification {
    fn begun(session: &SessionId, stored: &StoredSession) -> Verification {
        Verification {
            version: 1,
            session: session.clone(),
            events: 0,
            originals: 0,
            records: 0,
            forgotten: stored.forgotten.iter().map(Span::len).sum(),
            last_hash: ZERO,
            problem: None,
        }
    }

    /// Returns whether everything is as it was written.
    pub fn is_intact(&self) -> bool {
        self.problem.is_none()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NewerEvent { seq } => write!(f, "event {seq} was written by a newer longhaul"),
            Problem::MissingEvent { seq } => write!(f, "event {seq} is missing"),
            Problem::ChangedEvent { seq } => write!(f, "event {seq} was changed"),
            Problem::ImpossibleEvent { seq } => write!(f, "event {seq} cannot follow those before it"),
            Problem::ChangedState => f.write_str("the state is not what the log adds up to"),
            Problem::Unreadable => f.write_str("the database file cannot be read"),
            Problem::ChangedSnapshot => f.write_str(
                "the snapshot was changed; an export, imported into another store, has all of the session but its pins and memory \
                 blocks",
            ),
            Problem::ChangedEntry { ordinal } => write!(f, "the entry of message m{ordinal} was changed"),
            Problem::ChangedOriginal { ordinal } => write!(f, "message m{ordinal} was changed"),
            Problem::MissingOriginal { ordinal } => write!(f, "message m{ordinal} is missing"),
            Problem::ChangedRecord { record } => write!(f, "record {record} was changed"),
            Problem::MissingRecord { record } => write!(f, "record {record} is missing"),
        }
    }
}

/// How much of a session is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The log, the state, and that each entry of the journal is what the log says.
    Log,
    /// The contents as well.
    Contents,
}

pub(crate) async fn verify<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    depth: Depth,
) -> Result<Verification, StoreError> {
    let mut stored = match store.require(session).await {
        Ok(stored) => stored,
        // There is no state to compare with: what stands in its place is what is wrong.
        Err(StoreError::Damaged { problem, .. }) => {
            let unseen = Verification::begun(session, &StoredSession::empty());
            return Ok(Verification { problem: Some(problem), ..unseen });
        }
        Err(error) => return Err(error),
    };
    for _ in 0..MOVED_ON {
        let seen = verify_as(store, session, &stored, depth).await?;
        if seen.is_intact() {
            return Ok(seen);
        }
        // Somebody who wrote meanwhile made it look wrong, or it is wrong: then it is so again.
        let now = store.require(session).await?;
        if now == stored {
            return Ok(seen);
        }
        stored = now;
    }
    verify_as(store, session, &stored, depth).await
}

/// Checks a session as it was in the state `stored`; what was appended since is not looked at.
async fn verify_as<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    stored: &StoredSession,
    depth: Depth,
) -> Result<Verification, StoreError> {
    let mut seen = Verification::begun(session, stored);
    match check(store, session, stored, depth, &mut seen).await {
        Ok(()) => {}
        Err(Fault::Found(problem)) => seen.problem = Some(problem),
        Err(Fault::Store(error)) => return Err(error),
    }
    Ok(seen)
}

enum Fault {
    Found(Problem),
    Store(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        match error {
            StoreError::Damaged { problem, .. } => Fault::Found(problem),
            other => Fault::Store(other),
        }
    }
}

async fn check<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    stored: &StoredSession,
    depth: Depth,
    seen: &mut Verification,
) -> Result<(), Fault> {
    let records = store.records(session).await?;
    let mut folded = StoredSession::empty();
    loop {
        let left = stored.events.saturating_sub(seen.events).min(EVENTS_AT_ONCE as u64);
        if left == 0 {
            break;
        }
        let events = store.events(session, seen.events, left as usize).await?;
        if events.is_empty() {
            break;
        }
        // Originals of several events are looked at together; what is wrong with an event comes after those before it.
        let mut pending: Vec<JournalEntry> = Vec::new();
        for event in events {
            let is_more = matches!(event.kind, EventKind::Originals { .. });
            let applied = folded.apply(session, &event);
            if applied.is_err() || !is_more || pending.len() >= CONTENTS_AT_ONCE {
                originals(store, session, stored, depth, &std::mem::take(&mut pending), seen).await?;
            }
            applied.map_err(Fault::Found)?;
            seen.events += 1;
            seen.last_hash = event.hash;
            match &event.kind {
                EventKind::Originals { start, addresses, spellings } => {
                    let spellings = spellings.iter().copied().chain(std::iter::repeat(None));
                    let added = (*start..).zip(addresses).zip(spellings);
                    pending.extend(added.map(|((ordinal, address), spelling)| JournalEntry {
                        ordinal,
                        address: *address,
                        spelling,
                        at_ms: event.at_ms,
                        is_forgotten: stored.is_forgotten(ordinal),
                    }));
                }
                EventKind::Compacted { record, address, .. } => {
                    let entry = records.iter().find(|entry| entry.id == *record && entry.address == *address);
                    let missing = Fault::Found(Problem::MissingRecord { record: record.clone() });
                    let Some(entry) = entry else { return Err(missing) };
                    if depth == Depth::Log || stored.forgotten_records.contains(record) {
                        continue;
                    }
                    let changed = Fault::Found(Problem::ChangedRecord { record: record.clone() });
                    match store.contents(session, &[entry.address]).await {
                        Ok(mut contents) => match contents.pop().flatten() {
                            Some(json) if ContentHash::of(&json) == *address => seen.records += 1,
                            Some(_) => return Err(changed),
                            None => return Err(missing),
                        },
                        Err(StoreError::DamagedContent { .. }) => return Err(changed),
                        Err(error) => return Err(error.into()),
                    }
                }
                _ => {}
            }
        }
        originals(store, session, stored, depth, &pending, seen).await?;
    }
    if depth == Depth::Contents {
        store.snapshot(session).await?;
    }
    if folded != *stored {
        return Err(Fault::Found(Problem::ChangedState));
    }
    // The state counts every event: one more is news, or was put there by somebody else.
    let more = store.events(session, stored.events, 1).await?;
    let is_news = more.is_empty() || store.require(session).await? != *stored;
    if is_news { Ok(()) } else { Err(Fault::Found(Problem::ChangedState)) }
}

/// Checks `expected`, entries of the journal one after the other, and their contents.
async fn originals<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    stored: &StoredSession,
    depth: Depth,
    expected: &[JournalEntry],
    seen: &mut Verification,
) -> Result<(), Fault> {
    for expected in expected.chunks(CONTENTS_AT_ONCE) {
        let (Some(first), Some(last)) = (expected.first(), expected.last()) else { return Ok(()) };
        let span = Span { start: first.ordinal, end: last.ordinal + 1 };
        let entries = store.entries(session, span).await?;
        for (index, expected) in expected.iter().enumerate() {
            if entries.get(index) != Some(expected) {
                return Err(Fault::Found(Problem::ChangedEntry { ordinal: expected.ordinal }));
            }
        }
        if depth == Depth::Log {
            continue;
        }
        let is_held = |entry: &&JournalEntry| !stored.is_forgotten(entry.ordinal);
        let named: Vec<(u64, ContentHash)> = expected
            .iter()
            .filter(is_held)
            .flat_map(|entry| {
                [Some(entry.address), entry.spelling].map(|address| Some((entry.ordinal, address?)))
            })
            .flatten()
            .collect();
        let addresses: Vec<ContentHash> = named.iter().map(|(_, address)| *address).collect();
        let contents = match store.contents(session, &addresses).await {
            Ok(contents) => contents,
            Err(StoreError::DamagedContent { address }) => {
                let damaged = named.iter().find(|(_, named)| *named == address);
                let ordinal = damaged.map_or(first.ordinal, |(ordinal, _)| *ordinal);
                return Err(Fault::Found(Problem::ChangedOriginal { ordinal }));
            }
            Err(error) => return Err(error.into()),
        };
        for ((ordinal, address), json) in named.into_iter().zip(contents) {
            match json {
                Some(json) if ContentHash::of(&json) == address => {}
                Some(_) => return Err(Fault::Found(Problem::ChangedOriginal { ordinal })),
                None => return Err(Fault::Found(Problem::MissingOriginal { ordinal })),
            }
        }
        seen.originals += expected.iter().filter(is_held).count() as u64;
    }
    Ok(())
}

/// How often a session is looked at again that somebody writes to.
const MOVED_ON: usize = 8;

/// How many events and contents are held in memory at once.
const EVENTS_AT_ONCE: usize = 64;
const CONTENTS_AT_ONCE: usize = 256;
