//! The facts of a long conversation, kept beside it, so that whoever takes it up again need not read it again.
//!
//! They are most of what a session knows beside its originals, and too much to be written with each change. So they are
//! written after a compaction, and only once enough was said since the last time; whoever takes the session up reads what
//! was said since, which the next compaction reads in any case. They follow from the originals: where they are lost, as
//! after something was forgotten for good, they are read anew.

use longhaul_extract::{FactIndex, FactPiece};
use longhaul_store::{StoreError, SummaryStore, session_key};
use longhaul_transcript::{ContentHash, Redacted, SessionId};
use serde::{Deserialize, Serialize};

use crate::session::SessionState;

/// Says where the facts of a session are kept. A branch goes on with those of the session it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FactsNote {
    version: u32,
    /// Under whose name they are kept.
    holder: SessionId,
    /// How many messages they were read from.
    pub(super) through: u64,
    /// How far the conversation had come then, in tokens (see [`FactIndex::tokens_read`]).
    read: u32,
    /// What they weigh.
    bytes: u64,
    /// In how many pieces they are kept.
    pieces: u32,
    /// By which rules secrets were taken out of what they were read from; `None` where nobody looked for any.
    redactor: Option<ContentHash>,
}

/// A piece of the facts as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept<'i> {
    /// From how many messages they were read: pieces of facts that were written at different times do not go together.
    through: u64,
    piece: FactPiece<'i>,
}

/// The version of [`FactsNote`] and of what it points to. Anything else is not read.
const VERSION: u32 = 2;

/// The facts are written again once a thirty-second of what they weigh was said, so that a resumed session reads at most
/// that much again. They weigh some ten times what they were read from until they reach their bounds, and a store
/// compresses them to a fraction.
const SHARE_SAID: u64 = 32;

/// About how many bytes a token of [`FactIndex::tokens_read`] stands for.
const BYTES_A_TOKEN: u64 = 4;

impl FactsNote {
    /// Returns whether enough was said since for the facts to be written again.
    pub(super) fn is_outdated(&self, index: &FactIndex) -> bool {
        let said = u64::from(index.tokens_read().saturating_sub(self.read)) * BYTES_A_TOKEN;
        said.saturating_mul(SHARE_SAID) >= self.bytes
    }

    /// Returns whether `state` reads messages by the same rules as the facts were read by.
    pub(super) fn is_read_as(&self, state: &SessionState) -> bool {
        self.redactor == redactor_of(state)
    }

    /// Writes the facts of `state`, which `line` holds whole, and returns where they are; `None` where there are none to
    /// write.
    pub(super) async fn write(
        store: &dyn SummaryStore,
        line: &SessionId,
        state: &SessionState,
    ) -> Result<Option<FactsNote>, StoreError> {
        let Some(index) = state.facts() else { return Ok(None) };
        let through = state.originals().len() as u64;
        let (mut json, mut bytes, mut pieces) = (Vec::new(), 0, 0);
        for piece in index.pieces() {
            // Names and numbers can be written as JSON.
            if serde_json::to_writer(&mut json, &Kept { through, piece }).is_err() {
                return Ok(None);
            }
            bytes += json.len() as u64;
            // They were read from messages without what the session's redactor finds.
            let kept = Redacted::assume(json);
            store.cache(&key_of_piece(line, pieces), &kept).await?;
            json = kept.into_inner();
            json.clear();
            pieces += 1;
        }
        let (holder, read, redactor) = (line.clone(), index.tokens_read(), redactor_of(state));
        let note = FactsNote { version: VERSION, holder, through, read, bytes, pieces, redactor };
        note.enter(store, line).await?;
        Ok(Some(note))
    }

    /// Notes where the facts of `line` are.
    pub(super) async fn enter(&self, store: &dyn SummaryStore, line: &SessionId) -> Result<(), StoreError> {
        let Ok(json) = serde_json::to_vec(self) else { return Ok(()) };
        store.cache(&key(b"facts of", line), &Redacted::assume(json)).await
    }

    /// Returns where the facts of `line` are, of which `messages` messages are stored.
    pub(super) async fn find(store: &dyn SummaryStore, line: &SessionId, messages: u64) -> Option<FactsNote> {
        let json = store.cached(&key(b"facts of", line)).await.ok().flatten()?;
        let note = serde_json::from_slice::<FactsNote>(&json).ok();
        note.filter(|note| note.version == VERSION && note.through <= messages)
    }

    /// Returns the facts; `None` where they are gone, or others were written in their place.
    pub(super) async fn read(&self, store: &dyn SummaryStore) -> Result<Option<FactIndex>, StoreError> {
        let mut pieces = Vec::new();
        for nth in 0..self.pieces {
            let Some(json) = store.cached(&key_of_piece(&self.holder, nth)).await? else { return Ok(None) };
            match serde_json::from_slice::<Kept<'_>>(&json) {
                Ok(kept) if kept.through == self.through => pieces.push(kept.piece),
                _ => return Ok(None),
            }
        }
        Ok(FactIndex::from_pieces(pieces))
    }
}

fn redactor_of(state: &SessionState) -> Option<ContentHash> {
    state.redactor().map(|redactor| redactor.fingerprint())
}

/// The first piece is where all of them once were.
fn key_of_piece(line: &SessionId, nth: u32) -> ContentHash {
    match nth {
        0 => key(b"facts", line),
        nth => key(format!("facts {nth}").as_bytes(), line),
    }
}

/// What a session forgets its facts may quote; what another does, they do not.
fn key(what: &[u8], line: &SessionId) -> ContentHash {
    session_key(line, [what, line.as_str().as_bytes()])
}
