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
    /// Returns the room for `document`: the window is the flag's, the model's, the one that the session file tells, or the
    /// default, and no larger than the settings allow.
    pub(crate) fn new(
        flag: Option<u64>,
        told: Option<Tokens>,
        config: &Config,
        counter: &Named,
        document: &Document,
    ) -> Room {
        let window = flag.or(counter.window).map(Tokens).or(told).unwrap_or(DEFAULT_WINDOW);
        let usable = config.max_context_tokens.map_or(window, |most| most.min(window));
        let usual = usable.scaled(RESERVED_SHARE).min(RESERVED_OUTPUT);
        let window = config.window(ContextWindow::new(window, usual));
        let tools = count_tools(&*counter.counter, document.tools().iter().map(String::as_str));
        let budget = window.budget(tools);
        Room { window, budget, limits: config.limits(window.window, budget) }
    }
}
