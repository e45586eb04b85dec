//! The reader test: what can somebody still answer who has only the compacted context?
//!
//! The definition is that of `docs/quality.md`: each question is a list of groups of verbatim spans, a group is met where
//! one of its spans stands in the context. Nothing here asks a model; the same cases give the same numbers.

pub mod case;
pub mod context;
pub mod fit;
pub mod score;
