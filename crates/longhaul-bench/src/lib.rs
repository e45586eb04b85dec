//! Comparisons with peers, the reader test, and the measure of future-reference recall.
#![forbid(unsafe_code)]

pub mod answers;
pub mod reader;
pub mod recall;
pub mod soak;
/// Statements, true and false, put into a model's mouth.
pub mod statements;
pub mod tokens;
