//! What can go wrong, without a word of what was stored.

use longhaul_transcript::{ContentHash, SessionId, SummaryId};

use crate::Problem;

/// A store could not do what it was asked to. No variant carries message text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The record's parent is not the session's head: somebody else compacted in between. Read the head and decide anew.
    #[error("the head of session {session} is {found}, not {expected}: it was compacted or undone meanwhile", found = or_none(found), expected = or_none(expected))]
    Conflict {
        /// The session.
        session: SessionId,
        /// The parent that the record names.
        expected: Option<SummaryId>,
        /// The head that the session has.
        found: Option<SummaryId>,
    },
    /// An original differs from what the session holds at its ordinal: this is another conversation, or an edited one.
    #[error(
        "message m{ordinal} of session {session} differs from the stored one; expected the same conversation, grown"
    )]
    Diverged {
        /// The session.
        session: SessionId,
        /// The first ordinal that differs.
        ordinal: u64,
    },
    /// Somebody else said something in the session that this writer does not know of. Nothing was written: read what is
    /// there, or go on in a branch.
    #[error(
        "somebody else went on in session {session}: its message m{ordinal} is not this writer's; nothing was written"
    )]
    Overtaken {
        /// The session.
        session: SessionId,
        /// The ordinal of the first message that this writer does not know.
        ordinal: u64,
    },
    /// Somebody else went on in the session and said nothing: kept a message in view, say, or made a request. Nothing was
    /// written: read what is there, or go on in a branch.
    #[error(
        "somebody else went on in session {session}: how it stands there is not how this writer left it; nothing was written"
    )]
    Changed {
        /// The session.
        session: SessionId,
    },
    /// Originals would leave a gap: ordinals are never skipped.
    #[error(
        "session {session} holds {held} messages, and the next was given as m{given}; expected at most m{held}"
    )]
    Gap {
        /// The session.
        session: SessionId,
        /// How many messages it holds.
        held: u64,
        /// The ordinal that was given.
        given: u64,
    },
    /// The session is not in this store.
    #[error("no session {name} in this store")]
    UnknownSession {
        /// The id or alias that was asked for.
        name: String,
    },
    /// A session of this id is there already, with another history.
    #[error("session {session} is in this store already, with another history")]
    SessionExists {
        /// The session.
        session: SessionId,
    },
    /// Originals that a compaction replaced were destroyed, and its summary is what is left of them: it cannot be taken back.
    #[error(
        "the compaction cannot be taken back: {messages} of the messages that its summary replaces were deleted"
    )]
    OnlyInSummary {
        /// How many were destroyed.
        messages: u64,
    },
    /// The summary was forgotten in this session: it does not come back by being made again.
    #[error("summary {id} was forgotten in session {session}, and is not taken in again")]
    RecordForgotten {
        /// The session.
        session: SessionId,
        /// The summary.
        id: SummaryId,
    },
    /// What is stored is not what was written: a flipped bit, a cut file, a tampered record.
    #[error("session {session} is damaged: {problem}")]
    Damaged {
        /// The session.
        session: SessionId,
        /// What and where.
        problem: Problem,
    },
    /// A stored content is missing, or does not have the hash it is stored under.
    #[error("the content {address} is missing, or damaged so that its hash is another")]
    DamagedContent {
        /// The hash it should have.
        address: ContentHash,
    },
    /// The store or the import was written by a newer longhaul.
    #[error("{what} has version {found}; this longhaul reads up to {known}")]
    NewerVersion {
        /// What was read: `the database`, `the export`.
        what: &'static str,
        /// Its version.
        found: u32,
        /// The newest version this code knows.
        known: u32,
    },
    /// The store is kept under a key, and this is not it; or it is not, and a key was given.
    #[error("the store cannot be unlocked: {reason}")]
    Locked {
        /// What is wrong and what was expected, without a digit of a key.
        reason: &'static str,
    },
    /// An import is not an export of longhaul.
    #[error("line {line} is not a line of an export: {reason}")]
    NotAnExport {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, without its content.
        reason: &'static str,
    },
    /// The storage below failed: no space, no permission, no connection.
    #[error("{doing} failed: {source}", source = source.as_ref())]
    Backend {
        /// What was being done.
        doing: &'static str,
        /// What the storage says. It may name a path or a table, never a message.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// All of it was written. What was forgotten with it can no longer be had from the store, but may still be found in its
    /// files. The next call that forgets something tries again.
    #[error("overwriting what was forgotten failed: {source}", source = source.as_ref())]
    NotOverwritten {
        /// What the storage says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What was to be written was sent, and no answer came: it may have been written or not.
    #[error("whether it was written is not known: {source}", source = source.as_ref())]
    Unanswered {
        /// What the storage says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store was closed, or its thread ended.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Wraps a failure of the storage below.
    pub fn backend(
        doing: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> StoreError {
        StoreError::Backend { doing, source: source.into() }
    }
}

fn or_none(id: &Option<SummaryId>) -> &str {
    id.as_ref().map_or("none", SummaryId::as_str)
}
