//! The conversation model that every layer of longhaul shares.
//!
//! This crate holds plain data: what was said ([`Message`], [`Part`]), in which order ([`Transcript`]), what belongs
//! together ([`Unit`]), and what a compaction leaves behind ([`Summary`], [`SummaryRecord`]). It does no IO, reads no
//! clock, knows no provider's field names (see `longhaul-wire`) and counts nothing (see `longhaul-tokens`).
//!
//! ```
//! use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};
//!
//! let mut transcript = Transcript::new();
//! transcript.push(Message::user("Fix the failing test"));
//! transcript.push(Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function("c1", "bash", r#"{"command":"cargo test"}"#))]));
//! transcript.push(Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c1", "1 failed", Outcome::Failed))]));
//!
//! let units: Vec<_> = transcript.units().collect();
//! assert_eq!(units.len(), 2); // the request, and the exchange: a call with its result
//! assert!(!units[1].is_open());
//! ```
//!
//! A [`Message`] is immutable once pushed and shared by `Arc`; its [`MessageId`] is its ordinal and the hash of its
//! content, so the same conversation has the same ids on every machine.
#![forbid(unsafe_code)]

mod id;
mod left_out;
mod message;
mod record;
mod redacted;
mod seams;
mod summary;
mod text;
mod tokens;
mod transcript;
mod unit;
mod usage;
mod wait;

pub use id::{CallId, ContentHash, MessageId, ParseSessionIdError, SessionId, SummaryId};
pub use left_out::{LeftOut, Missing};
pub use message::{
    CallKind, Media, MediaKind, Message, Opaque, Origin, Outcome, Part, Raw, RawJson, Reasoning, Role,
    Speaker, ToolCall, ToolResult,
};
pub use record::{
    Cost, Covered, Emitted, Item, ParseSummaryModeError, RedactionCount, SummaryMode, SummaryRecord,
    Survival, handle_line, has_summary_header, is_ending_line, lookup_line, parse_handle_line, parse_summary,
};
pub use redacted::Redacted;
pub use seams::{Clock, FixedClock, Jitter, NoJitter, NoSleep, Sleep};
pub use summary::{ActionItem, CommandNote, Constraint, ErrorNote, FileNote, FileState, Summary, ToolUse};
pub use text::{clipped, first_chars, first_words, is_invisible, json_escape, one_line, unescaped};
pub use tokens::{Tokens, counted, grouped};
pub use transcript::{Entry, Span, Transcript};
pub use unit::{Unit, UnitState, Units};
pub use usage::Usage;
pub use wait::block_on;
