//! Finds secrets in text and replaces them.
#![forbid(unsafe_code)]
