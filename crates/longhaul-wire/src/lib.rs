//! Reads, writes, converts and validates histories.
#![forbid(unsafe_code)]
