//! Keeping a conversation in a store.

use std::sync::Arc;

use longhaul_store::{Selector, StoreError, SummaryStore};
use longhaul_tokens::Calibration;
use longhaul_transcript::{Clock, ContentHash, Redacted, SessionId, Span, SummaryRecord};
use serde::{Deserialize, Serialize};

use crate::state::ContextState;

/// A store, and how much of the conversation is in it.
#[derive(Debug)]
pub(super) struct Journal {
    store: Arc<dyn SummaryStore>,
    /// Ordinal of the first message that is not written yet.
    written: u64,
    /// Originals that are to be deleted.
    to_delete: Vec<Span>,
    /// What was learned, as it is stored.
    learned: Option<Calibration>,
}

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
    pub(super) fn new(store: Arc<dyn SummaryStore>) -> Journal {
        Journal { store, written: 0, to_delete: Vec::new(), learned: None }
    }

    /// Writes the messages that are not written yet, and what was learned from reports since.
    pub(super) async fn save(
        &mut self,
        state: &ContextState,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.save_learned(state).await?;
        let messages = state.redacted_from(self.written);
        if messages.is_empty() {
            return Ok(());
        }
        self.store.journal(state.session(), self.written, &messages, now(clock)).await?;
        self.written += messages.len() as u64;
        Ok(())
    }

    /// What one conversation learned of a model at an endpoint holds for the next: it stands beside the sessions, where
    /// the summaries of models are cached. Numbers only.
    async fn save_learned(&mut self, state: &ContextState) -> Result<(), StoreError> {
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
    pub(super) async fn load_learned(&mut self, state: &mut ContextState) -> Result<(), StoreError> {
        let (model, endpoint, _) = state.learned();
        let json = self.store.cached(&learned_key(model, endpoint)).await?;
        let learned = json.and_then(|json| serde_json::from_slice::<Learned>(&json).ok());
        if let Some(learned) = learned.filter(|learned| learned.version == LEARNED_VERSION) {
            self.learned = Some(learned.calibration.clone());
            state.learn_from(learned.calibration);
        }
        Ok(())
    }

    /// Writes the messages, then the record over them.
    pub(super) async fn append(
        &mut self,
        state: &ContextState,
        record: &SummaryRecord,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.save(state, clock).await?;
        self.store.append(state.session(), &state.redacted_record(record)).await?;
        Ok(())
    }

    /// Deletes the originals that `record` took out of the view. What could not be deleted is tried again with the next
    /// call.
    pub(super) async fn delete_originals(
        &mut self,
        session: &SessionId,
        record: &SummaryRecord,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        self.to_delete.extend(Span::runs(record.covered.iter().map(|covered| covered.ordinal)));
        while let Some(span) = self.to_delete.last() {
            self.store.forget(session, &Selector::Originals(*span), now(clock)).await?;
            self.to_delete.pop();
        }
        Ok(())
    }

    /// Takes the last compaction back, or puts it in force again.
    pub(super) async fn step(
        &self,
        state: &ContextState,
        step: Step,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        match step {
            Step::Undo => self.store.undo(state.session(), now(clock)).await?,
            Step::Redo => self.store.redo(state.session(), now(clock)).await?,
        };
        Ok(())
    }

    /// Reads what the store holds of the conversation into an empty state. A message that was forgotten leaves none.
    pub(super) async fn load(&mut self, state: &mut ContextState) -> Result<(), StoreError> {
        let session = state.session().clone();
        let Some(held) = self.store.state(&session).await? else { return Ok(()) };
        let originals = self.store.originals(&session, Span { start: 0, end: held.messages }).await?;
        let is_whole = originals.iter().all(|original| original.message.is_some());
        for original in originals {
            let message =
                original.message.unwrap_or_else(|| longhaul_transcript::Message::user("[forgotten]"));
            state.push(message);
        }
        state.resume(self.store.chain(&session).await?);
        if !is_whole {
            state.read_summaries();
        }
        self.written = held.messages;
        Ok(())
    }
}

fn learned_key(model: &str, endpoint: &str) -> ContentHash {
    ContentHash::of_fields([b"calibration".as_slice(), model.as_bytes(), endpoint.as_bytes()])
}

/// Without a clock everything happens at the epoch.
fn now(clock: Option<&dyn Clock>) -> i64 {
    clock.map_or(0, Clock::now_ms)
}
