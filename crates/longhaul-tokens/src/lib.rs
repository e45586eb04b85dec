//! Counts tokens.
#![forbid(unsafe_code)]

mod counter;

pub use counter::{Accuracy, Framing, TokenCounter};
