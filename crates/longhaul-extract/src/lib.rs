//! Extracts the facts worth keeping from a conversation, and digests tool results, by rule.
#![forbid(unsafe_code)]

mod atoms;
mod index;
mod rank;

pub use atoms::{Atom, AtomKind, FactClass, expand, is_known_extension, last_part, scan, scan_words};
pub use index::{
    Domain, Fact, FactIndex, Field, FieldPlace, Place, ToolUse, Visible, call_fields, strip_line_numbers,
};
pub use rank::{DefaultRanker, RankContext, Ranker, Subject, Subjects, Weights};
