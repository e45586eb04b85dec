//! The clients and the ladder against real servers. `cargo xtask e2e` starts them; without them each test says why it
//! does nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot build its case must stop")]

mod faults;
mod model;
mod spans;
mod support;
