//! Extracts the facts worth keeping from a conversation, and digests tool results, by rule.
#![forbid(unsafe_code)]

/// Every fact a conversation has shown so far, with who touched it, how often and when.
#[derive(Clone, Debug, Default)]
pub struct FactIndex {}
