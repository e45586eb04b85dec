//! Keeps every original and every summary.
#![forbid(unsafe_code)]
