//! The commands, in a file each; a few that go together share one.

pub(crate) mod audit;
pub(crate) mod chat;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod count;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod history;
pub(crate) mod hook;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod recall;
pub(crate) mod sessions;
pub(crate) mod undo;
