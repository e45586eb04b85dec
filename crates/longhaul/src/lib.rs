//! The facade of longhaul.
#![forbid(unsafe_code)]

pub use longhaul_transcript as transcript;

// Configuration, policy and state.
pub mod config;
pub mod policy;
mod preset;

pub use config::Config;
pub use policy::{Decision, Hold, Reason};
pub use preset::{ParsePresetError, Preset};
