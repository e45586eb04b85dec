//! What a provider's refusal teaches: a smaller window where it told of one, and else that the counts are too low.

use longhaul_tokens::ContextWindow;
use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

use super::{PLAUSIBLE_FACTOR, SessionState};

/// What refusals taught. It is kept with the session: who goes on after a kill is not to be refused again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Refusals {
    /// The largest prompt that the provider says it takes, where that is below the window that was given.
    told: Option<Tokens>,
    /// The most that a request may cost as it is counted here, the answer apart.
    most: Option<Most>,
    /// No request was made since the last one.
    is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Most {
    tokens: Tokens,
    /// It was concluded that the counts are too low: the provider's own figures would not be.
    by_counts: bool,
}

/// What becomes of a request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It must become smaller.
    Shrink,
    /// Nothing in it can be spared.
    AtFloor,
    /// It cannot have been refused for its size.
    OfAnotherCause,
}

/// What there was to spend before a refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed(Refusals);

impl Refusals {
    /// Returns what holds for another counter too: what was concluded from counts is in those of this one.
    pub(super) fn by_another_counter(self) -> Refusals {
        Refusals { most: None, ..self }
    }
}

impl SessionState {
    /// Takes note that the provider found the view too large: `limit` is the largest prompt it takes, where it said so.
    ///
    /// A limit below the window is the window from now on, unless what must stay would not fit. What was refused although
    /// it should have fitted was counted too low, and no view may cost as much again, as it is counted here, until the
    /// provider reports figures of its own. A second refusal before another view was [sent](Self::send) is the same one
    /// and teaches nothing; nor does that of a view of which nothing can be spared, or of one so small that it was not
    /// refused for its size.
    pub fn refused(&mut self, limit: Option<Tokens>) {
        self.learn_refusal(limit);
    }

    pub(crate) fn learn_refusal(&mut self, limit: Option<Tokens>) -> Refusal {
        if self.refusals.is_last {
            return Refusal::Shrink;
        }
        let (m, before) = (self.measure(None), self.allowed());
        if self.items.is_empty() || !self.take_limit(limit, m.floor) || m.floor >= m.tokens {
            self.set_allowed(before);
            return Refusal::AtFloor;
        }
        let refused = m.tokens + self.fixed_overhead;
        let window = self.config.window(self.known_window());
        let fits = window.window - window.reserved_output;
        if limit.is_some_and(|limit| limit.max(fits).0 > refused.0.saturating_mul(PLAUSIBLE_FACTOR)) {
            self.set_allowed(before);
            return Refusal::OfAnotherCause;
        }
        if refused < fits {
            self.refusals.most = Some(Most { tokens: refused, by_counts: limit.is_some() });
        }
        self.refusals.is_last = true;
        self.policy.window_changed();
        Refusal::Shrink
    }

    /// Makes a limit that is below the window the window, and returns whether what must stay fits in it. Where it does
    /// not, no request could be made ready any more.
    fn take_limit(&mut self, limit: Option<Tokens>, floor: Tokens) -> bool {
        let known = self.config.window(self.known_window()).window;
        let Some(limit) = limit.filter(|limit| *limit < known) else { return true };
        self.refusals.told = Some(limit);
        self.policy.window_changed();
        self.budget() >= floor
    }

    /// Returns what every request costs beside the messages.
    pub(crate) fn fixed_overhead(&self) -> Tokens {
        self.fixed_overhead
    }

    /// Returns what there is to spend, to be [put back](Self::set_allowed).
    pub(crate) fn allowed(&self) -> Allowed {
        Allowed(self.refusals)
    }

    /// Takes back what a refusal taught.
    pub(crate) fn set_allowed(&mut self, allowed: Allowed) {
        self.refusals = allowed.0;
        self.policy.window_changed();
    }

    /// Forgets what was concluded from refusals alone, and returns whether anything was.
    pub(crate) fn forget_refusals(&mut self) -> bool {
        let had = self.refusals.most.take().is_some();
        if had {
            self.policy.window_changed();
        }
        had
    }

    /// Takes note that a view is sent: what is refused next is that one.
    pub(super) fn note_sent(&mut self) {
        self.refusals.is_last = false;
    }

    /// Takes note of a request that the provider took, and what it reports of it: its own figures take the place of
    /// what was guessed of the counts, and what is larger than what was refused shows that the window is.
    pub(super) fn note_taken(&mut self, reported: Tokens) {
        let is_outdated = |most: &Most| most.by_counts || reported > most.tokens;
        self.refusals.most = self.refusals.most.filter(|most| !is_outdated(most));
    }

    /// Returns the window that was given, or what a refusal told of it.
    pub(crate) fn known_window(&self) -> ContextWindow {
        let Some(limit) = self.refusals.told else { return self.window };
        let reserved_output = self.window.reserved_output.min(limit.scaled(LARGEST_RESERVE));
        ContextWindow { window: limit, reserved_output }
    }

    /// Returns the window to work with, in tokens as they are counted here: the one that was given or the model's, less where the
    /// settings or a refusal say so, and what of it is kept free for the answer.
    pub fn context_window(&self) -> ContextWindow {
        let window = self.config.window(self.known_window());
        match self.refusals.most {
            Some(most) => {
                ContextWindow { window: window.window.min(most.tokens + window.reserved_output), ..window }
            }
            None => window,
        }
    }
}

/// Of a window that turns out to be smaller, no more than this is kept free for the answer, as in one that a model is
/// known to have.
const LARGEST_RESERVE: f64 = 0.25;
