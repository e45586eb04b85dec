//! The clients and the ladder against real servers. `cargo xtask e2e` starts them; without them each test says why it
//! does nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot build its case must stop")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why, and figures are to be read")]

mod faults;
mod model;
mod planted;
mod recorded;
mod spans;
mod support;
