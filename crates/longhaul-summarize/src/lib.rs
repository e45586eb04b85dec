//! Summarizes a span of a conversation, by rule or by a model, within a limit and checked against its source.
//!
//! This layer turns messages into a [`Draft`]: what a summary says, as data and as text. [`rules`] make one without
//! any model; a [`Ladder`] asks models in order of preference and falls back to the rules, so that a summary never
//! depends on a network. It opens no connection (see `longhaul-client` for [`CompletionClient`]s), reads no clock (it
//! is handed one), stores nothing, and decides neither when to summarize nor what is replaced (see `longhaul`).
//!
//! ```
//! use std::sync::Arc;
//!
//! use longhaul_extract::FactIndex;
//! use longhaul_summarize::{
//!     Ladder, LlmOptions, Scripted, Summarizer, SummarizerModel, SummaryRequest, rules::RulesSummarizer,
//! };
//! use longhaul_tokens::BytesPer4;
//! use longhaul_transcript::{FixedClock, NoJitter, NoSleep, SessionId, Tokens};
//!
//! let transcript = longhaul_testkit::transcript(&format!(
//!     "user: The export is late. Why?\nassistant: {}It waits for table ledger_2026.",
//!     "I compared the run times of last week. ".repeat(40)
//! ));
//! let mut index = FactIndex::new();
//! transcript.entries().iter().for_each(|entry| index.push(entry));
//!
//! // A client over HTTP stands here in earnest. This model makes a version up.
//! let model = Scripted::always(
//!     r#"{"narrative": "The export is late because it waits for table ledger_2026. Version 9.9 fixes it."}"#,
//! );
//! let models = vec![SummarizerModel::new("any", Tokens(8_000), Arc::new(model))];
//! let rules = Arc::new(RulesSummarizer::default());
//! let (clock, sleep, jitter) = (Arc::new(FixedClock(0)), Arc::new(NoSleep), Arc::new(NoJitter));
//! let ladder = Ladder::new(models, rules, LlmOptions::default(), clock, sleep, jitter);
//!
//! let session = SessionId::new("demo").unwrap();
//! let request = SummaryRequest::new(&session, transcript.entries(), &index, &BytesPer4, Tokens(200));
//! assert_eq!(ladder.plan(&request).max_calls, 4); // known before any call is made
//! # let draft: Result<longhaul_summarize::Draft, longhaul_summarize::SummarizeError> = {
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     let mut future = std::pin::pin!(ladder.summarize(request));
//! #     match future.as_mut().poll(&mut context) { std::task::Poll::Ready(draft) => draft, _ => unreachable!() }
//! # };
//! let draft = draft.unwrap(); // of `ladder.summarize(request).await`
//! assert_eq!(draft.summary.narrative, "The export is late because it waits for table ledger_2026.");
//! assert_eq!(draft.repairs, [
//!     "1 of 2 statements taken out",
//!     "narrative: took out a number not found in the transcript",
//! ]);
//! ```
//!
//! What a model says is read strictly ([`Answer`]), checked and repaired without a second call, and joined with the
//! facts by rule that it left out. What was tried and why it was not used is data: [`Draft::attempts`].
#![forbid(unsafe_code)]

mod answer;
mod asking;
mod beside;
mod breaker;
mod cache;
mod completion;
mod compose;
mod conversation;
mod fence;
mod form;
mod ground;
mod joined;
mod ladder;
mod language;
mod needed;
mod notes;
mod options;
mod passes;
pub mod prompt;
mod repair;
mod reply;
mod request;
mod review;
pub mod rules;
mod run;
mod scripted;
mod sentences;
mod shorten;
mod spend;
mod supplement;
mod update;
pub mod written;

pub use answer::{Answer, AnswerAction, AnswerCommand, AnswerError, AnswerFile};
pub use beside::{
    WORDS_SHARE, with_facts, with_facts_in_data, with_facts_in_free_room, with_rules, with_rules_in_data,
};
pub use breaker::BreakerOptions;
pub use cache::{MemoryCache, SummaryCache};
pub use completion::{AnswerSchema, ClientError, Completion, CompletionClient, CompletionRequest, Finish};
pub use compose::prose_told;
pub use conversation::{Conversation, LastRequest, Protocol};
pub use ladder::{Ladder, Redact};
pub use notes::UNCONFIRMED;
pub use options::{FOREIGN_COUNTER_MARGIN, LlmOptions, STRONG_WINDOW, SummarizerModel, SummaryForm};
pub use reply::InvalidAnswer;
pub use request::{
    Attempt, CallPlan, Draft, ModelPlan, SummarizeError, Summarizer, SummaryRequest, is_refusal, says_nothing,
};
pub use review::{Doubt, Review, Reviewed, Reviewer, Shown, is_edited};
pub use run::within;
pub use scripted::Scripted;
pub use shorten::shortened;
pub use spend::SpendLimit;
