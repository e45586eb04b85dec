//! What a store holds, as it is read back.

use longhaul_transcript::{ContentHash, Message, MessageId, SessionId, Span, SummaryId};
use serde::{Deserialize, Serialize};

use crate::StoredSession;

/// What [`SummaryStore::journal`](crate::SummaryStore::journal) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journaled {
    /// How many originals the session holds now.
    pub total: u64,
    /// Those that were added.
    pub new: Span,
}

/// An entry of the journal: which content stands at which ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its ordinal in the session.
    pub ordinal: u64,
    /// The address of its content.
    pub address: ContentHash,
    /// The address of what is kept beside it, where something is.
    pub spelling: Option<ContentHash>,
    /// When it was added, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// Whether its content was destroyed.
    pub is_forgotten: bool,
}

/// A record, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordEntry {
    /// Where the log has the compaction that made it.
    pub seq: u64,
    /// Its id.
    pub id: SummaryId,
    /// The address of its content.
    pub address: ContentHash,
    /// Whether its content was destroyed.
    pub is_forgotten: bool,
}

/// A message as it was said, secrets apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its ordinal in the session.
    pub ordinal: u64,
    /// When it was added, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// What was said; `None` where it was destroyed, or is changed.
    pub message: Option<Message>,
    /// Whether what stands in its place is not what was written: it was damaged, or put there by somebody else, and is not shown.
    pub is_changed: bool,
}

impl Original {
    /// Returns what stands for an original in whose place something else was found.
    pub(crate) fn changed(ordinal: u64, at_ms: i64) -> Original {
        Original { ordinal, at_ms, message: None, is_changed: true }
    }
}

/// An original that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The session it stands in.
    pub session: SessionId,
    /// Its id.
    pub id: MessageId,
    /// A line of it around the place, control characters removed.
    pub snippet: String,
    /// All of it; `None` where what stands in its place is not what was written.
    pub message: Option<Message>,
}

/// A session, in a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its id.
    pub session: SessionId,
    /// Its other names, in order.
    pub aliases: Vec<SessionId>,
    /// Its state.
    pub state: StoredSession,
}
