//! Keeping a conversation in a store.

use std::{collections::HashMap, sync::Arc};

use longhaul_store::{Original, Selector, StoreError, SummaryStore};
use longhaul_tokens::Calibration;
use longhaul_transcript::{Clock, ContentHash, Message, Redacted, SessionId, Span, SummaryRecord};
use serde::{Deserialize, Serialize};

use crate::session::{SessionState, Snapshot};

/// A store, and how much of the conversation is in it.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    store: Arc<dyn SummaryStore>,
    /// The session in the store: that of the conversation, or of a branch of it.
    line: SessionId,
    /// Ordinal of the first message that is not written yet.
    written: u64,
    /// What the last snapshot was made of.
    kept: Option<Mark>,
    /// Originals that are to be deleted.
    to_delete: Vec<Span>,
    /// What was learned, as it is stored.
    learned: Option<Calibration>,
}

/// Tells whether a snapshot says anything that the messages after it do not.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    changes: u64,
    messages: u64,
}

/// A snapshot is written at the latest after so many messages: what a resume has to count and read again.
const SNAPSHOT_EVERY: u64 = 32;

/// What was learned of a provider's counting, as it is stored.
#[derive(Serialize, Deserialize)]
struct Learned {
    version: u32,
    calibration: Calibration,
}

/// The version of [`Learned`]. Anything else is not read.
const LEARNED_VERSION: u32 = 1;

/// A step along the chain of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Undo,
    Redo,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn SummaryStore>, line: SessionId) -> Journal {
        Journal { store, line, written: 0, kept: None, to_delete: Vec::new(), learned: None }
    }

    pub(super) fn store(&self) -> &Arc<dyn SummaryStore> {
        &self.store
    }

    pub(super) fn line(&self) -> &SessionId {
        &self.line
    }

    /// Writes the messages that are not written yet, what was learned from reports, and a snapshot where one is due.
    /// `changes` counts what changed in the session beside messages.
    pub(super) async fn save(
        &mut self,
        state: &SessionState,
        changes: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.save_learned(state).await?;
        let messages = state.redacted_from(self.written);
        if !messages.is_empty() {
            self.store.journal(&self.line, self.written, &messages, now(clock)).await?;
            self.written += messages.len() as u64;
        }
        let mark = Mark { changes, messages: self.written };
        let is_due = match &self.kept {
            None => self.written > 0,
            Some(kept) => kept.changes != changes || mark.messages >= kept.messages + SNAPSHOT_EVERY,
        };
        if is_due {
            self.keep(state, mark).await?;
        }
        Ok(())
    }

    async fn keep(&mut self, state: &SessionState, mark: Mark) -> Result<(), StoreError> {
        let snapshot = state.snapshot_to_store();
        // A snapshot is numbers, ids and forms of messages, all of which can be written as JSON.
        let Ok(json) = serde_json::to_vec(&snapshot) else { return Ok(()) };
        self.store.cache(&snapshot_key(&self.line), &Redacted::assume(json)).await?;
        self.kept = Some(mark);
        Ok(())
    }

    /// What one conversation learned of a model at an endpoint holds for the next: it stands beside the sessions, where
    /// the summaries of models are cached. Numbers only.
    async fn save_learned(&mut self, state: &SessionState) -> Result<(), StoreError> {
        let (model, endpoint, Some(calibration)) = state.learned() else { return Ok(()) };
        if self.learned.as_ref() == Some(calibration) {
            return Ok(());
        }
        let learned = Learned { version: LEARNED_VERSION, calibration: calibration.clone() };
        // Numbers can be written as JSON.
        let Ok(json) = serde_json::to_vec(&learned) else { return Ok(()) };
        self.store.cache(&learned_key(model, endpoint), &Redacted::assume(json)).await?;
        self.learned = Some(learned.calibration);
        Ok(())
    }

    /// Reads what earlier conversations learned. A calibration that cannot be read is learned anew.
    pub(super) async fn load_learned(&mut self, state: &mut SessionState) -> Result<(), StoreError> {
        let (model, endpoint, _) = state.learned();
        let json = self.store.cached(&learned_key(model, endpoint)).await?;
        let learned = json.and_then(|json| serde_json::from_slice::<Learned>(&json).ok());
        if let Some(learned) = learned.filter(|learned| learned.version == LEARNED_VERSION) {
            self.learned = Some(learned.calibration.clone());
            state.learn_from(learned.calibration);
        }
        Ok(())
    }

    /// Writes the messages, the session as it is with `record` applied, then the record. Killed in between, the session is
    /// taken up with the record in force, and it is written then.
    pub(super) async fn append(
        &mut self,
        applied: &SessionState,
        record: &SummaryRecord,
        changes: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        let messages = applied.redacted_from(self.written);
        if !messages.is_empty() {
            self.store.journal(&self.line, self.written, &messages, now(clock)).await?;
            self.written += messages.len() as u64;
        }
        self.keep(applied, Mark { changes, messages: self.written }).await?;
        self.store.append(&self.line, &applied.redacted_record(record)).await?;
        Ok(())
    }

    /// Deletes the originals that `record` took out of the view. What could not be deleted is tried again with the next
    /// call.
    pub(super) async fn delete_originals(
        &mut self,
        record: &SummaryRecord,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.to_delete.extend(Span::runs(record.covered.iter().map(|covered| covered.ordinal)));
        while let Some(span) = self.to_delete.last() {
            self.store.forget(&self.line, &Selector::Originals(*span), now(clock)).await?;
            self.to_delete.pop();
        }
        Ok(())
    }

    /// Takes the last compaction back, or puts it in force again.
    pub(super) async fn step(&self, step: Step, clock: Option<&dyn Clock>) -> Result<(), StoreError> {
        match step {
            Step::Undo => self.store.undo(&self.line, now(clock)).await?,
            Step::Redo => self.store.redo(&self.line, now(clock)).await?,
        };
        Ok(())
    }

    /// Reads originals that `state` asks for.
    pub(super) async fn put_back(
        &self,
        state: &mut SessionState,
        spans: Vec<Span>,
    ) -> Result<(), StoreError> {
        for span in spans {
            let messages = self.read(span).await?;
            state.put_back(span.start, messages.into_iter().map(Arc::new).collect());
        }
        Ok(())
    }

    async fn read(&self, span: Span) -> Result<Vec<Message>, StoreError> {
        let originals = self.store.originals(&self.line, span).await?;
        let message = |original: Original| original.message.unwrap_or_else(forgotten);
        Ok(originals.into_iter().map(message).collect())
    }

    /// Begins a line of its own with the first `len` messages, and makes it the one that the conversation's name stands
    /// for.
    pub(super) async fn fork(
        &mut self,
        name: &SessionId,
        len: u64,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        for nth in 1u64.. {
            let Ok(into) = SessionId::new(&format!("{name}~{nth}")) else { break };
            match self.store.fork(&self.line, &into, Some(len), now(clock)).await {
                Err(StoreError::SessionExists { .. }) => continue,
                other => other?,
            };
            self.store.set_alias(name, &into).await?;
            (self.line, self.written, self.kept) = (into, len, None);
            break;
        }
        Ok(())
    }

    /// Takes up what the store holds of the conversation, where it holds anything: the last snapshot and what was said
    /// since; without one the originals and the summaries in force.
    pub(super) async fn load(&mut self, state: SessionState) -> Result<SessionState, StoreError> {
        if let Some(line) = self.store.alias(&self.line).await? {
            self.line = line;
        }
        let Some(held) = self.store.state(&self.line).await? else { return Ok(state) };
        self.written = held.messages;
        let json = self.store.cached(&snapshot_key(&self.line)).await?;
        let snapshot = json.and_then(|json| serde_json::from_slice::<Snapshot>(&json).ok());
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.messages() <= held.messages)
            && let Some(mut resumed) = self.resumed(&state, snapshot.clone()).await?
        {
            let since = Span { start: snapshot.messages(), end: held.messages };
            for message in self.read(since).await? {
                resumed.push(message);
            }
            self.kept = Some(Mark { changes: 0, messages: snapshot.messages() });
            let (shown, head) = (resumed.summary().cloned(), held.head());
            match shown {
                Some(record) if Some(&record.id) != head && record.parent.as_ref() == head => {
                    self.store.append(&self.line, &resumed.redacted_record(&record)).await?;
                    return Ok(resumed);
                }
                shown if shown.as_ref().map(|record| &record.id) == head => return Ok(resumed),
                // Somebody else went on with it and left no snapshot.
                _ => self.kept = None,
            }
        }
        self.adopted(state, held.messages).await
    }

    async fn resumed(
        &self,
        state: &SessionState,
        snapshot: Snapshot,
    ) -> Result<Option<SessionState>, StoreError> {
        let mut originals: HashMap<u64, Vec<Arc<Message>>> = HashMap::new();
        for span in snapshot.wants() {
            let messages = self.read(span).await?;
            originals.insert(span.start, messages.into_iter().map(Arc::new).collect());
        }
        let at_hand = |span: Span| originals.remove(&span.start).unwrap_or_default();
        // One that cannot be taken up, of a newer version or damaged, is as good as none.
        Ok(state.clone().resume(snapshot, at_hand).ok())
    }

    async fn adopted(&self, mut state: SessionState, messages: u64) -> Result<SessionState, StoreError> {
        let originals = self.store.originals(&self.line, Span { start: 0, end: messages }).await?;
        let is_whole = originals.iter().all(|original| original.message.is_some());
        for original in originals {
            state.push(original.message.unwrap_or_else(forgotten));
        }
        state.adopt(self.store.chain(&self.line).await?);
        if !is_whole {
            state.read_summaries();
        }
        Ok(state)
    }

    /// Lets go of what the store holds and the next compaction will hardly read.
    pub(super) fn let_go(&self, state: &mut SessionState) {
        let ordinal = state.at_hand_from().min(self.written);
        state.let_go(ordinal);
    }
}

/// Stands where an original was destroyed.
fn forgotten() -> Message {
    Message::user("[forgotten]")
}

fn snapshot_key(line: &SessionId) -> ContentHash {
    ContentHash::of_fields([b"snapshot".as_slice(), line.as_str().as_bytes()])
}

fn learned_key(model: &str, endpoint: &str) -> ContentHash {
    ContentHash::of_fields([b"calibration".as_slice(), model.as_bytes(), endpoint.as_bytes()])
}

/// Without a clock everything happens at the epoch.
fn now(clock: Option<&dyn Clock>) -> i64 {
    clock.map_or(0, Clock::now_ms)
}
