//! Reads, writes, converts and validates histories.
#![forbid(unsafe_code)]

mod convert;
mod detect;
mod dialect;
mod document;
mod edit;
mod error;
mod format;
mod import;
mod json;
mod lines;
mod media;
mod repair;
mod session;
mod validate;
mod whole;
mod write;

pub use convert::{Conversion, convert};
pub use detect::detect;
pub use document::{Document, read};
pub use error::{Problem, WireError};
pub use format::Format;
pub use repair::{Repair, repair};
pub use validate::{IdPattern, Profile, Thinking, Violation, validate};
pub use write::{summary_text, write, write_unchanged};
