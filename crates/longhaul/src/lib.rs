//! The facade of longhaul.
#![forbid(unsafe_code)]
