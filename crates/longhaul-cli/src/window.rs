//! The budget that a context window leaves.

use longhaul::{
    tokens::count_tools,
    transcript::Tokens,
    wire::Document,
};

use crate::counter::Named;

/// The window of a model that nobody named: what most current models accept at least.
pub(crate) const DEFAULT_WINDOW: u64 = 200_000;

/// The share of the budget that a compaction goes down to (spec section 7, `target_ratio`).
pub(crate) const TARGET_RATIO: f64 = 0.4;

/// The share of the budget at which a compaction would start by itself (`trigger_ratio`).
pub(crate) const TRIGGER_RATIO: f64 = 0.8;

/// The reply gets at most this share of the window, and at most [`RESERVED_OUTPUT`].
const RESERVED_SHARE: f64 = 0.1;

/// Tokens set aside for the reply in a large window.
const RESERVED_OUTPUT: Tokens = Tokens(16_000);

/// Returns the window: the flag's, the model's, or the default.
pub(crate) fn window(flag: Option<u64>, counter: &Named) -> Tokens {
    Tokens(flag.or(counter.window).unwrap_or(DEFAULT_WINDOW))
}

/// Returns what is set aside for the reply.
pub(crate) fn reserved(window: Tokens) -> Tokens {
    window.scaled(RESERVED_SHARE).min(RESERVED_OUTPUT)
}

/// Returns the budget for the history: the window without the reply and the definitions of the tools.
pub(crate) fn budget(flag: Option<u64>, counter: &Named, document: &Document) -> Tokens {
    let window = window(flag, counter);
    window - reserved(window) - count_tools(&*counter.counter, document.tools())
}
