//! Summarizes a span of a conversation, by rule or by a model, within a limit and checked against its source.
#![forbid(unsafe_code)]

mod request;
pub mod rules;

pub use request::{Attempt, Draft, SummarizeError, Summarizer, SummaryRequest};
