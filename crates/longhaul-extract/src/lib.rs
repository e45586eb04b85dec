//! Extracts the facts worth keeping from a conversation, and digests tool results, by rule.
#![forbid(unsafe_code)]

// Tools and digests.
mod digest;
mod json;
mod outline;
mod tool;
mod tool_summary;
mod tool_view;

pub use digest::{Allowance, Extractor, Registry, ShellOutcome, Source, TestCounts, digest, read_shell};
pub use outline::{Definition, Language, MAX_DEFINITIONS, Outline, outline};
pub use tool::{ToolFamily, family};
pub use tool_summary::{ToolStatus, ToolSummary, format_summaries, summarize_tool_result};
pub use tool_view::{CallField, CallView, FieldRole};

/// Every fact a conversation has shown so far, with who touched it, how often and when.
#[derive(Clone, Debug, Default)]
pub struct FactIndex {}
