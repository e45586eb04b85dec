//! Decides what to keep, digest or drop.
#![forbid(unsafe_code)]
