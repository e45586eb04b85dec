//! The commands, one file each.

pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod count;
pub(crate) mod digest;
pub(crate) mod doctor;
