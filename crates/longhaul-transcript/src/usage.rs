//! What a provider says a request cost.

use serde::{Deserialize, Serialize};

use crate::Tokens;

/// What a provider says a request cost, as disjoint numbers: providers disagree on whether their input figure
/// includes what came from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that was neither read from nor written to the provider's cache.
    pub input: Tokens,
    /// Input read from the cache.
    pub cache_read: Tokens,
    /// Input written to the cache.
    pub cache_write: Tokens,
    /// Output, reasoning apart.
    pub output: Tokens,
    /// Output spent on reasoning.
    pub reasoning: Tokens,
}

impl Usage {
    /// Returns the size of the prompt: all input, cached or not.
    pub fn prompt_total(&self) -> Tokens {
        self.input + self.cache_read + self.cache_write
    }
}
