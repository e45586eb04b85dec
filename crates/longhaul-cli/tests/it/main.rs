//! The command as a user meets it: whole outputs, exit codes, and files that stay unharmed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod bad_input;
mod chat;
mod chat_commands;
mod commands;
mod digests;
mod fake;
mod files;
mod found;
mod history;
mod hooks;
mod hostile;
mod identity;
mod in_place;
mod kills;
#[path = "../../../longhaul-redact/tests/it/kinds.rs"]
mod kinds;
mod left_open;
#[cfg(feature = "mcp")]
mod mcp;
mod other_agents;
#[cfg(target_os = "linux")]
mod pictures;
mod readme;
mod run;
#[cfg(feature = "encryption")]
mod sealed;
mod secrets;
mod settings;
mod spelling;
mod summarizer;
mod sweep;
mod terminal;
mod undone;
#[cfg(target_os = "linux")]
mod widths;
