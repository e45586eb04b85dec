//! Summarizes a span of a conversation, by rule or by a model, within a limit and checked against its source.
#![forbid(unsafe_code)]

mod answer;
mod breaker;
mod cache;
mod completion;
mod compose;
mod fence;
mod ground;
mod ladder;
mod language;
mod options;
mod passes;
pub mod prompt;
mod repair;
mod request;
pub mod rules;
mod run;
mod scripted;
mod spend;
#[cfg(test)]
mod testing;

pub use answer::{Answer, AnswerAction, AnswerCommand, AnswerError, AnswerFile, InvalidAnswer};
pub use breaker::BreakerOptions;
pub use cache::{MemoryCache, SummaryCache};
pub use completion::{AnswerSchema, ClientError, Completion, CompletionClient, CompletionRequest, Finish};
pub use ladder::{CallPlan, Ladder, ModelPlan};
pub use options::{FOREIGN_COUNTER_MARGIN, LlmOptions, SummarizerModel};
pub use request::{Attempt, Draft, SummarizeError, Summarizer, SummaryRequest};
pub use scripted::Scripted;
pub use spend::SpendLimit;
