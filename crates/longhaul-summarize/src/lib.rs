//! Summarizes a span of a conversation, by rule or by a model, within a limit and checked against its source.
#![forbid(unsafe_code)]

mod answer;
mod completion;
#[cfg_attr(not(test), expect(dead_code, reason = "the ladder, which uses it, comes next"))]
mod fence;
#[cfg_attr(not(test), expect(dead_code, reason = "the ladder, which uses it, comes next"))]
mod passes;
#[cfg_attr(not(test), expect(dead_code, reason = "the ladder, which uses it, comes next"))]
pub mod prompt;
mod repair;
mod request;
pub mod rules;
mod scripted;
#[cfg(test)]
mod testing;

pub use answer::{Answer, AnswerAction, AnswerCommand, AnswerError, AnswerFile, InvalidAnswer};
pub use completion::{AnswerSchema, ClientError, Completion, CompletionClient, CompletionRequest, Finish};
pub use request::{Attempt, Draft, SummarizeError, Summarizer, SummaryRequest};
pub use scripted::Scripted;
