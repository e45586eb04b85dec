//! Keeps an LLM agent's conversation inside the model's context window, without losing what the work still needs.
#![forbid(unsafe_code)]

mod breakdown;
mod cached;
pub mod compact;
#[cfg(feature = "wire")]
mod document;
mod loss;

pub use breakdown::{Breakdown, Largest, ToolTokens};
pub use cached::StoreCache;
#[cfg(feature = "wire")]
pub use document::{
    CompactedDocument, DocumentError, DocumentSession, keep_reasoning, redacted_messages, session_of,
};
pub use loss::{ClassLoss, Hidden, Loss};

pub use longhaul_extract as extract;
pub use longhaul_redact as redact;
pub use longhaul_store as store;
pub use longhaul_summarize as summarize;
pub use longhaul_tokens as tokens;
pub use longhaul_transcript as transcript;
pub use longhaul_trim as trim;
#[cfg(feature = "wire")]
pub use longhaul_wire as wire;

// Configuration, policy and state.
pub mod config;
pub mod cost;
mod driver;
mod event;
mod forms;
pub mod policy;
mod preset;
#[cfg(feature = "tokio")]
pub mod runtime;
mod session;
#[cfg(feature = "tracing")]
mod traced;
mod trim_messages;

pub use config::Config;
pub use driver::{
    Background, Basis, BuildError, Builder, Durability, Error, OpenError, Overtaken, RecallTool, Session,
    open,
};
pub use event::{Event, EventKind, Finish, Observer, notice, summary_box};
pub use policy::{Decision, Hold, Reason};
pub use preset::{ParsePresetError, Preset};
pub use session::{
    BranchError, Change, CompactionStep, Finished, Job, LastSummarization, Line, MemoryError, PinError,
    Rewrite, RewriteError, SessionState, Shown, Snapshot, SnapshotError, StablePrefix, Status, StepError,
    StepUnit, Steps, Stored, UsageVerdict, View, ViewId, Within,
};
#[cfg(feature = "wire")]
pub use session::{FrontEnd, SyncError, SyncReport, Synced};
#[cfg(feature = "tracing")]
pub use traced::Traced;
pub use trim_messages::{Trimmed, trim_messages};
