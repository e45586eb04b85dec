//! The clients against a server that breaks off, stalls and lies, byte by byte.
#![allow(clippy::unwrap_used, reason = "a test that cannot build its case must stop")]

mod chat;
mod faults;
mod in_conversation;
mod lies;
mod protocol;
mod replay;
mod server;
