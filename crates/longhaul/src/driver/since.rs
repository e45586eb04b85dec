//! What each request changes beside what is said, kept beside the session: a report of usage must outlive a kill, and a
//! whole snapshot with each request would be too much to write.

use longhaul_store::{StoreError, SummaryStore, session_key};
use longhaul_transcript::{ContentHash, Message, Redacted, SessionId};

use crate::session::{SessionState, Since};

/// What is written, oldest first: the newest, and the one before it, for where the messages that the newest stands behind
/// were not written after all.
#[derive(Clone, Debug, Default)]
pub(super) struct SinceNote(Vec<Since>);

/// The newest and the one before.
const KEPT: usize = 2;

impl SinceNote {
    /// Writes what changed, where anything did. Call it before the messages are written that were said by now: whoever
    /// takes the session up finds both, or neither. Where it cannot be written, that is tried again with the next write: no
    /// word is lost with it.
    pub(super) async fn write(&mut self, store: &dyn SummaryStore, line: &SessionId, state: &SessionState) {
        let now = state.since();
        if self.0.last().is_some_and(|last| last.is_same(&now)) {
            return;
        }
        let mut kept = self.0.clone();
        kept.push(now);
        kept.drain(..kept.len().saturating_sub(KEPT));
        // Numbers and names can be written as JSON.
        let Ok(json) = serde_json::to_vec(&kept) else { return };
        if store.cache(&key(line), &Redacted::assume(json)).await.is_ok() {
            self.0 = kept;
        }
    }

    /// Returns what is written of `line`. What cannot be read is as good as nothing.
    pub(super) async fn find(store: &dyn SummaryStore, line: &SessionId) -> Result<SinceNote, StoreError> {
        let json = store.cached(&key(line)).await?;
        Ok(SinceNote(json.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default()))
    }

    /// Brings `state` from its snapshot to where the session was left, `said` being what was said since.
    pub(super) fn go_on(&self, state: &mut SessionState, said: Vec<Message>) {
        let (first, end) = (state.originals().len() as u64, (state.originals().len() + said.len()) as u64);
        let is_between = |since: &&Since| (first..=end).contains(&since.messages()) && since.is_of(state);
        let since = self.0.iter().rev().find(is_between).cloned();
        let mut said = said.into_iter();
        if let Some(since) = since {
            let before = since.messages() - first;
            for message in said.by_ref().take(before as usize) {
                state.push(message);
            }
            state.catch_up(since);
        }
        for message in said {
            state.push(message);
        }
    }
}

/// It goes with what is forgotten of the session.
fn key(line: &SessionId) -> ContentHash {
    session_key(line, [b"since".as_slice(), line.as_str().as_bytes()])
}
