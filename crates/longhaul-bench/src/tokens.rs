//! Token counting beside its peers: the same text, the same run, turn by turn.
//!
//! All speeds are of the processor time of the whole process, so that a busy machine and a peer with threads of its own
//! do not bend them. What counts are the ratios of one table.

pub mod corpora;
pub mod measure;
pub mod peers;
pub mod plot;
pub mod report;
pub mod start;
