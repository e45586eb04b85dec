//! The budget that a context window leaves.

use longhaul::{
    Config,
    config::Limits,
    tokens::{ContextWindow, count_tools},
    transcript::Tokens,
    wire::Document,
};

use crate::counter::Named;

/// The window of a model that nobody named: what most current models accept at least.
const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// Where nobody says how long an answer may be, it gets this share of the window, and at most [`RESERVED_OUTPUT`].
const RESERVED_SHARE: f64 = 0.1;

/// Tokens set aside for the reply in a large window.
const RESERVED_OUTPUT: Tokens = Tokens(16_000);

/// A window, what it leaves for the history, and where compactions start and end in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) window: ContextWindow,
    pub(crate) budget: Tokens,
    pub(crate) limits: Limits,
}

impl Room {
    /// Returns the room for `document`: the window is the flag's, the settings', the model's, or the default.
    pub(crate) fn new(flag: Option<u64>, config: &Config, counter: &Named, document: &Document) -> Room {
        let model = counter.window.map(Tokens).unwrap_or(DEFAULT_WINDOW);
        let window = match (flag, config.max_context_tokens) {
            (Some(flag), _) => Tokens(flag),
            (None, Some(set)) => set.min(model),
            (None, None) => model,
        };
        let usual = window.scaled(RESERVED_SHARE).min(RESERVED_OUTPUT);
        let window = ContextWindow::new(window, config.reserved_output_tokens.unwrap_or(usual));
        let tools = count_tools(&*counter.counter, document.tools().iter().map(String::as_str));
        let budget = window.budget(tools);
        Room { window, budget, limits: config.limits(window.window, budget) }
    }
}
