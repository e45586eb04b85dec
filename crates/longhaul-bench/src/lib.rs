//! Comparisons with peers, and the measure of future-reference recall.
#![forbid(unsafe_code)]

pub mod answers;
pub mod recall;
pub mod soak;
pub mod tokens;
