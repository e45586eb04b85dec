//! Future-reference recall: which facts of the past does a compacted context still have when the future needs them?
//!
//! The definition is that of `docs/recall.md`. Nothing here asks a model; the same recordings give the same numbers.

pub mod guards;
pub mod load;
pub mod methods;
pub mod ours;
pub mod report;
pub mod run;
pub mod score;
pub mod session;
pub mod train;
pub mod weigh;
