//! Keeping a conversation in a store.

use std::sync::Arc;

use longhaul_store::{StoreError, SummaryStore};
use longhaul_transcript::{Clock, Span, SummaryRecord};

use crate::state::ContextState;

/// A store, and how much of the conversation is in it.
#[derive(Debug)]
pub(super) struct Journal {
    store: Arc<dyn SummaryStore>,
    /// Ordinal of the first message that is not written yet.
    written: u64,
}

/// A step along the chain of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Undo,
    Redo,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn SummaryStore>) -> Journal {
        Journal { store, written: 0 }
    }

    /// Writes the messages that are not written yet.
    pub(super) async fn save(
        &mut self,
        state: &ContextState,
        clock: Option<&dyn Clock>,
    ) -> Result<(), StoreError> {
        let messages = state.redacted_from(self.written);
        if messages.is_empty() {
            return Ok(());
        }
        self.store.journal(state.session(), self.written, &messages, now(clock)).await?;
        self.written += messages.len() as u64;
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
        for original in originals {
            let message =
                original.message.unwrap_or_else(|| longhaul_transcript::Message::user("[forgotten]"));
            state.push(message);
        }
        state.resume(self.store.chain(&session).await?);
        self.written = held.messages;
        Ok(())
    }
}

/// Without a clock everything happens at the epoch.
fn now(clock: Option<&dyn Clock>) -> i64 {
    clock.map_or(0, Clock::now_ms)
}
