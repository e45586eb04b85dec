//! Comparisons with peers.
#![forbid(unsafe_code)]
