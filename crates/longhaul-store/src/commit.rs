//! Everything that a writer of a session has to say at once: messages, summaries and where it stands.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use longhaul_transcript::{ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};

use crate::{
    Change, EventKind, ForgottenBy, JournalEntry, Object, Step, StoreError, StoredSession, SummaryStore,
    change::{Spoken, originals_change},
    state::merged,
};

/// What a writer of a session wants kept: all of it or nothing.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The ordinal of the first of `messages`; where there are none, how many the writer knows the session to hold.
    pub start: u64,
    /// What was said.
    pub messages: Vec<Redacted<Message>>,
    /// What became of the summaries after that, in order.
    pub chain: Vec<ChainStep>,
    /// The originals that are destroyed with it, which a summary replaces; what is gone already stays gone. Records that cover
    /// them stay: they are all that is left of them.
    pub forget: Vec<Span>,
    /// What the writer needs beside the log to go on from there; `None` leaves what was written before.
    pub snapshot: Option<Redacted<Vec<u8>>>,
    /// What changed since that was written, small enough for each commit; `None` leaves what was written before, and a
    /// snapshot takes its place.
    pub since: Option<Redacted<Vec<u8>>>,
    /// The marks of what the writer knows to stand there ([`Snapshot::mark`](crate::Snapshot::mark)): what was read or written
    /// last, and what was written since without an answer. `None` for a writer that does not go by snapshots.
    pub on: Option<Vec<ContentHash>>,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// A change of the summaries in force.
#[derive(Clone, Debug, PartialEq)]
pub enum ChainStep {
    /// A compaction took place: its record is the head.
    Append(Box<Redacted<SummaryRecord>>),
    /// The head, this one, was taken back.
    Undo(SummaryId),
    /// This one, which was taken back last, is the head again.
    Redo(SummaryId),
}

pub(crate) async fn commit<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    commit: &Commit,
) -> Result<StoredSession, StoreError> {
    let spoken: Arc<Vec<Spoken>> = Arc::new(commit.messages.iter().map(Spoken::of).collect());
    let (start, end) = (commit.start, commit.start + spoken.len() as u64);
    let overtaken = |ordinal| StoreError::Overtaken { session: session.clone(), ordinal };
    let mut known = store.state(session).await?.map_or(0, |state| state.messages);
    loop {
        if start > known {
            return Err(StoreError::Gap { session: session.clone(), held: known, given: start });
        }
        // What is there already may be this commit, whose answer was lost.
        let overlap = Span { start, end: end.min(known) };
        let held = if overlap.is_empty() { Vec::new() } else { store.entries(session, overlap).await? };
        if let Some(ordinal) = first_other(&held, start, &spoken) {
            return Err(overtaken(ordinal));
        }
        if known > end {
            return Err(overtaken(end));
        }
        let (from, given, asked, name) = (known, spoken.clone(), commit.clone(), session.clone());
        let is_stale = Arc::new(AtomicBool::new(false));
        let found_stale = is_stale.clone();
        let decide = move |state: &StoredSession| {
            // Somebody else added originals meanwhile: look at those first.
            found_stale.store(state.messages != from, Ordering::Relaxed);
            if state.messages != from {
                return Ok(Change::default());
            }
            let mut change = originals_change(state, given[(from - start) as usize..].to_vec(), asked.at_ms);
            change.steps.extend(chain_steps(&name, state, &asked)?);
            change.steps.extend(forgotten(state, end, &asked));
            change.snapshot.clone_from(&asked.snapshot);
            change.since.clone_from(&asked.since);
            change.on.clone_from(&asked.on);
            Ok(change)
        };
        let state = store.transact(session, Arc::new(decide)).await?;
        if !is_stale.load(Ordering::Relaxed) {
            return Ok(state);
        }
        known = state.messages;
    }
}

/// Returns the ordinal of the first that the journal has otherwise than it is `given`, from `start` on.
pub(crate) fn first_other(held: &[JournalEntry], start: u64, given: &[Spoken]) -> Option<u64> {
    let is_other = |entry: &&JournalEntry| {
        let given = entry.ordinal.checked_sub(start).and_then(|at| given.get(at as usize));
        given.is_some_and(|given| given.content.address != entry.address)
    };
    held.iter().find(is_other).map(|entry| entry.ordinal)
}

/// Returns the step that destroys those of the first `end` originals that are to be and are there still.
fn forgotten(state: &StoredSession, end: u64, commit: &Commit) -> Option<Step> {
    let asked = commit.forget.iter().flat_map(|span| span.start..span.end.min(end));
    let originals = merged(Span::runs(asked.filter(|ordinal| !state.is_forgotten(*ordinal))));
    if originals.is_empty() {
        return None;
    }
    let kind = EventKind::Forgotten { by: ForgottenBy::Range, originals, records: Vec::new() };
    Some(Step { at_ms: commit.at_ms, kind, objects: Vec::new() })
}

/// Returns the steps that the chain lacks, or says that it is another one.
fn chain_steps(session: &SessionId, state: &StoredSession, commit: &Commit) -> Result<Vec<Step>, StoreError> {
    let (mut chain, mut undone) = (state.chain.clone(), state.undone.clone());
    let mut steps = Vec::new();
    let conflict = |expected: Option<&SummaryId>, found: Option<&SummaryId>| StoreError::Conflict {
        session: session.clone(),
        expected: expected.cloned(),
        found: found.cloned(),
    };
    let mut step = |at_ms, kind, object: Option<Object>| {
        steps.push(Step { at_ms, kind, objects: object.into_iter().map(Some).collect() });
    };
    for asked in &commit.chain {
        match asked {
            ChainStep::Append(record) if chain.last() == Some(&record.id) => {}
            ChainStep::Append(record) => {
                if chain.last() != record.parent.as_ref() {
                    return Err(conflict(record.parent.as_ref(), chain.last()));
                }
                let object = Object::of_record(record);
                let (id, parent, address) = (record.id.clone(), record.parent.clone(), object.address);
                let kind =
                    EventKind::Compacted { record: id.clone(), parent, address, covers: record.covers };
                step(record.created_at_ms, kind, Some(object));
                chain.push(id);
                undone.clear();
            }
            ChainStep::Undo(id) if undone.last() == Some(id) => {}
            ChainStep::Undo(id) => {
                if chain.last() != Some(id) {
                    return Err(conflict(Some(id), chain.last()));
                }
                undone.extend(chain.pop());
                step(commit.at_ms, EventKind::Undone { record: id.clone() }, None);
            }
            ChainStep::Redo(id) if chain.last() == Some(id) => {}
            ChainStep::Redo(id) => {
                if undone.last() != Some(id) {
                    return Err(conflict(Some(id), chain.last()));
                }
                chain.extend(undone.pop());
                step(commit.at_ms, EventKind::Redone { record: id.clone() }, None);
            }
        }
    }
    Ok(steps)
}
