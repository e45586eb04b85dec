//! Keeps every original message and every summary, and can prove that nothing was lost or changed.
//!
//! A session is an append-only log of events, each sealed with the hash of the one before. Events name contents
//! (messages, records) by their SHA-256 and hold none, so that a content can be destroyed and the log still verifies.
//! This layer reads no more of a summary than the line that names it (`summary-depth:…`, by which a history that was compacted
//! is known again), never looks for secrets (it takes messages and records only as [`Redacted`], what went through
//! `longhaul-redact`) and never reads a clock.
//!
//! ```
//! use longhaul_store::{MemoryStore, SummaryStore};
//! use longhaul_transcript::{Message, Redacted, SessionId};
//!
//! # block_on(async {
//! let store = MemoryStore::new();
//! let session = SessionId::new("fix-the-build")?;
//! let said = [Message::user("Why does it panic?"), Message::assistant("An unwrap in src/lib.rs:42.")];
//! let said = said.map(Redacted::assume); // or `Redactor::redact_message`
//! store.journal(&session, 0, &said, 1_700_000_000_000).await?;
//!
//! let hits = store.search(Some(&session), "unwrap lib.rs", 10).await?;
//! assert_eq!(hits[0].snippet, "An unwrap in src/lib.rs:42.");
//! assert!(store.verify(&session).await?.is_intact());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # fn block_on<T>(future: impl Future<Output = T>) -> T {
//! #     let mut future = std::pin::pin!(future);
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     loop {
//! #         if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
//! #             return value;
//! #         }
//! #     }
//! # }
//! ```
//!
//! [`SummaryStore`] is the trait: a handful of methods that a backend implements, and on top of them what all backends
//! can do. [`StoredSession`] is the fold of a session's log: its head, what was undone, what was forgotten. An
//! [`Event`] is one entry of the log, a [`Change`] what a pure decision wants written.
//!
//! Features: `sqlite` (one file, several processes), `postgres` (several machines, one server), `encryption` (a key for
//! what is kept), `conformance` (the suite that every backend passes). [`MemoryStore`] is always there.
//!
//! [`Redacted`]: longhaul_transcript::Redacted
#![forbid(unsafe_code)]

mod cache;
mod change;
mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod event;
mod forget;
mod hand_on;
mod held;
mod identity;
mod kin;
mod memory;
mod object;
mod open;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod pack;
#[cfg(feature = "postgres")]
mod postgres;
mod proof;
mod query;
mod readable;
#[cfg(feature = "encryption")]
mod seal;
mod search;
mod searching;
mod shared;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;
mod transfer;
mod verify;

/// What [`hand_on`] names.
#[doc(hidden)]
pub mod on {
    pub use async_trait::async_trait;
    pub use longhaul_transcript::{
        ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord,
    };

    pub use crate::{
        Commit, Decide, Event, Forgotten, Hit, JournalEntry, Journaled, Original, RecordEntry, Selector,
        SessionInfo, Snapshot, StoredSession,
    };
}

pub use cache::{goes_with, lasting_key, session_key};
pub use change::{Change, Decide, Sealed, Snapshot, Step};
pub use commit::{ChainStep, Commit};
pub use error::StoreError;
pub use event::{Event, EventKind, ForgottenBy, ForkedFrom};
pub use forget::{Forgotten, Selector, only_in_summary};
pub use held::{Hit, JournalEntry, Journaled, Original, RecordEntry, SessionInfo};
pub use identity::{History, Kin, Place, locate};
pub use memory::MemoryStore;
pub use object::{Object, address_of};
pub use open::{Location, open_store};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
pub use proof::DamagedSummary;
pub use query::{Fit, Query, WordPlace};
pub use readable::readable_text;
#[cfg(feature = "encryption")]
pub use seal::StoreKey;
pub use search::words;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteStore, Synchronous};
pub use state::StoredSession;
pub use store::SummaryStore;
pub use verify::{Problem, Verification};
