//! The public interface, from outside.
#![allow(clippy::unwrap_used, reason = "a test that cannot build its case must stop")]

mod drift;
mod fixtures;
mod injection;
mod ladder;
mod lines;
mod misbehaving;
mod own_conversation;
mod regressions;
