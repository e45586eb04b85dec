//! The exact counters against the reference, through the public API.
#![cfg(all(feature = "o200k", feature = "cl100k"))]

mod append;
#[cfg(feature = "tokenizers")]
mod families;
mod generated;
mod long;
mod reference;
