//! The session files that agents write, one JSON value a line.

pub(crate) mod append;
pub(crate) mod claude_code;
pub(crate) mod claude_code_write;
pub(crate) mod codex;
pub(crate) mod codex_write;
