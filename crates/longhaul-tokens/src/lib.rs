//! Counts tokens, and keeps count.
//!
//! - Exact counters for OpenAI's encodings: [`counter`], [`Encoding`].
//! - With the feature `tokenizers` any `tokenizer.json`; those of the byte-level families by the same counter.
//! - Estimators for everything else: [`ScriptEstimator`] by family of models, [`CharsPer4`], [`BytesPer4`].
//! - [`ModelTable`]: windows, prices and counters by the model's name.
//! - [`Ledger`]: each message counted once, totals at once, reports of the provider kept apart from estimates.
//! - [`Calibration`]: ratios learned from reported usage, and an [`Estimate`] with its bounds.
//! - [`ContextWindow`]: what there is to spend.
//!
//! ```
//! use longhaul_tokens::{ContextWindow, Ledger, ModelTable};
//! use longhaul_transcript::{Message, Tokens, Transcript};
//!
//! let model = ModelTable::builtin().get_or_unknown("gpt-4o-2024-11-20");
//! let (counter, window) = (model.counter(), ContextWindow::from(&model));
//!
//! let (mut transcript, mut ledger) = (Transcript::new(), Ledger::new());
//! for message in [Message::user("Fix the failing test"), Message::assistant("Done: it was an off-by-one error.")] {
//!     let tokens = counter.count_message(&message);
//!     ledger.record(transcript.push(message), tokens);
//! }
//! # #[cfg(feature = "o200k")]
//! assert_eq!(ledger.total(), Tokens(8 + 14));
//! assert_eq!(window.budget(Tokens::ZERO), Tokens(128_000 - 16_384));
//! ```
//!
//! Counting is synchronous, infallible and deterministic; this crate does no IO but to read a `tokenizer.json` that the
//! caller names.
#![deny(unsafe_code)]

#[cfg(feature = "bpe")]
mod bpe;
mod budget;
mod calibration;
mod ceiling;
mod classes;
mod counter;
mod dictionary;
mod encoding;
mod error;
mod family;
mod fit;
mod ledger;
mod media;
mod models;
mod per4;
mod script;
mod shape;
#[cfg(feature = "tokenizers")]
mod tokenizer_file;
#[cfg(feature = "tokenizers")]
mod tokenizer_json;
mod weights;

#[cfg(feature = "bpe")]
pub use bpe::{AppendCounter, Bpe, counter};
pub use budget::{ContextWindow, count_tools, estimate_response};
pub use calibration::{Calibration, Calibrations, Estimate, Reported};
pub use classes::{ClassCounts, ContentClass};
pub use counter::{Accuracy, Framing, TokenCounter};
pub use encoding::Encoding;
pub use error::TokensError;
pub use family::{Family, Tokenizer};
pub use ledger::Ledger;
pub use media::MediaFormula;
pub use models::{Model, ModelTable, Prices};
pub use per4::{BytesPer4, CharsPer4};
pub use script::ScriptEstimator;
#[cfg(feature = "tokenizers")]
pub use tokenizer_file::TokenizerFile;
