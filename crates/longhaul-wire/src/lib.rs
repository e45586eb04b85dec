//! Reads, writes, converts and validates histories.
#![forbid(unsafe_code)]

mod detect;
mod dialect;
mod document;
mod edit;
mod error;
mod format;
mod json;
mod lines;
mod media;
mod session;
mod validate;
mod whole;
mod write;

pub use detect::detect;
pub use document::{Document, read};
pub use error::{Problem, WireError};
pub use format::Format;
pub use validate::{IdPattern, Profile, Thinking, Violation, validate};
pub use write::{summary_text, write, write_unchanged};
