//! Decides which parts of a transcript to keep, digest or drop so that it fits a token budget.
//!
//! This layer works on numbers: it is handed the cost and priority of each unit and returns a plan. It never counts
//! tokens (see `longhaul-tokens`), never reads message text (see `longhaul-extract`) and never calls a model.
//!
//! ```
//! use longhaul_transcript::{Span, Tokens};
//! use longhaul_trim::{Fate, Candidate, Priority, plan};
//!
//! let candidates = [
//!     Candidate::new(Span { start: 0, end: 1 }, Priority::Pinned, Tokens(10)),
//!     Candidate::new(Span { start: 1, end: 3 }, Priority::Low, Tokens(500)).with_digest(Tokens(20)),
//!     Candidate::new(Span { start: 3, end: 4 }, Priority::Normal, Tokens(50)),
//! ];
//! let plan = plan(&candidates, Tokens(100));
//! assert_eq!(plan.actions, [Fate::Keep, Fate::Digest, Fate::Keep]);
//! assert_eq!((plan.tokens, plan.over_budget), (Tokens(80), Tokens(0)));
//! ```
//!
//! The nouns: a [`Candidate`] is a unit seen as numbers; a [`Prioritizer`] says how much a unit matters; [`plan`] fits
//! the candidates into a budget. [`ByRole`] is the prioritizer to start from, [`repeated_calls`] tells it which results
//! were superseded.
#![forbid(unsafe_code)]

mod plan;
mod priority;
mod stale;

pub use plan::{Candidate, Fate, TrimPlan, plan};
pub use priority::{ByRole, Prioritizer, Priority};
pub use stale::repeated_calls;
