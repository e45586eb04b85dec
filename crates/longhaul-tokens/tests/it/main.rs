//! The exact counters against the reference, through the public API.
#![cfg(feature = "bpe")]

mod append;
mod long;
mod reference;
