//! The budget that a context window leaves.

use anyhow::{Result, bail};
use longhaul::{
    Config,
    config::Limits,
    tokens::{ContextWindow, count_tools},
    transcript::Tokens,
    wire::Document,
};

use crate::{counter::Named, exit::Impossible, paint::grouped};

/// The window of a model that nobody named: what most current models accept at least.
pub(crate) const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// Where nobody says how long an answer may be, it gets this share of the window, and at most [`RESERVED_OUTPUT`].
const RESERVED_SHARE: f64 = 0.1;

/// Tokens set aside for the reply in a large window.
const RESERVED_OUTPUT: Tokens = Tokens(16_000);

/// A window, what it leaves for the history, and where compactions start and end in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) window: ContextWindow,
    /// Who says so, in words.
    pub(crate) window_from: &'static str,
    pub(crate) budget: Tokens,
    pub(crate) limits: Limits,
}

/// Returns what of a window is set aside for the reply where nobody says how long one may be.
pub(crate) fn usual_reserve(window: Tokens) -> Tokens {
    window.scaled(RESERVED_SHARE).min(RESERVED_OUTPUT)
}

impl Room {
    /// Returns the room for `document`: the window is the flag's, the model's, the one that the session file tells, or the
    /// default, and no larger than the settings allow.
    ///
    /// # Errors
    /// When the settings keep all of it for the answer.
    pub(crate) fn new(
        flag: Option<u64>,
        told: Option<Tokens>,
        config: &Config,
        counter: &Named,
        document: &Document,
    ) -> Result<Room> {
        let (window, mut window_from) = match (flag, counter.window, told) {
            (Some(flag), ..) => (Tokens(flag), "--window"),
            (_, Some(model), _) => (Tokens(model), "the model's"),
            (.., Some(told)) => (told, "the session's own"),
            _ => (DEFAULT_WINDOW, "the default; --window says another"),
        };
        if config.max_context_tokens.is_some_and(|most| most < window) {
            window_from = "max_context_tokens";
        }
        let usable = config.max_context_tokens.map_or(window, |most| most.min(window));
        let window = config.window(ContextWindow::new(window, usual_reserve(usable)));
        if let Some(reserved) = config.reserved_output_tokens.filter(|reserved| *reserved >= window.window) {
            bail!(Impossible(format!(
                "reserved_output_tokens ({reserved:#}) leaves nothing of a window of {:#} tokens ({window_from})",
                window.window
            )));
        }
        let tools = count_tools(&*counter.counter, document.tools().iter().map(String::as_str));
        let budget = window.budget(tools);
        Ok(Room { window, window_from, budget, limits: config.limits(window.window, budget) })
    }

    /// Returns what `part` of the window is, in words.
    pub(crate) fn share(&self, part: Tokens) -> String {
        format!(
            "{:.0} % of the {} tokens that a window of {} ({}) leaves",
            100.0 * part.ratio_of(self.budget),
            grouped(self.budget.0),
            grouped(self.window.window.0),
            self.window_from,
        )
    }
}
