//! The exact counters against the reference, through the public API.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]
#![cfg(all(feature = "o200k", feature = "cl100k"))]

mod append;
#[cfg(feature = "tokenizers")]
mod families;
mod generated;
mod long;
mod reference;
