//! What the policy remembers between decisions. Small, serializable, and changed only by what happened.

use longhaul_transcript::{Span, Tokens};
use serde::{Deserialize, Serialize};

use super::{Measurement, Reason};
use crate::config::{Config, Limits, SoftAction};

/// What the policy remembers between decisions.
///
/// It can be stored with the session and read back, so that a restart does not forget a cooldown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyState {
    /// The last rewrite, soft ones included.
    last: Option<Acted>,
    /// Messages pushed when the hard tier acted last.
    summarized_at: Option<u64>,
    /// The hard tier fired at a context that cost this much afterwards, and it has not been below the reset threshold
    /// since.
    disarmed_at: Option<Tokens>,
    /// Failures in a row, and when the last was.
    failure: Option<Failure>,
    /// The last undo, until it is old.
    undone: Option<Undone>,
    /// The context on which the last emergency attempt was made without success.
    tried: Option<Attempt>,
    /// The last compaction left the view at the trigger or above, and nothing was done about it since.
    second_pass_is_due: bool,
    /// The window changed since the last decision that acted.
    window_is_new: bool,
    /// What passes of the soft tier took out of the view since the hard tier acted.
    condensed: Tokens,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Acted {
    /// Messages pushed by then.
    n_total: u64,
    range: Span,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failure {
    in_a_row: u32,
    n_total: u64,
    at_ms: Option<i64>,
}

/// When a compaction was undone by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Undone {
    /// Messages pushed by then.
    n_total: u64,
}

/// Names one state of a context: the same attempt on it would end the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Attempt {
    /// Messages pushed by then.
    n_total: u64,
    /// Tokens of the view.
    tokens: Tokens,
    /// The hard limit.
    budget: Tokens,
}

/// A failure's wait doubles with each further one, this many times at most (sixteen times the first).
const MAX_DOUBLINGS: u32 = 4;

impl PolicyState {
    /// Returns the state of a session in which nothing has happened.
    pub fn new() -> PolicyState {
        PolicyState::default()
    }

    /// Takes note of how full the context is. Call it after every push: below the reset threshold the hard tier is
    /// armed again.
    pub fn observe(&mut self, tokens: Tokens, limits: &Limits) {
        if tokens < limits.reset {
            self.disarmed_at = None;
        }
        self.second_pass_is_due &= tokens >= limits.trigger;
    }

    /// Takes note that a rewrite was applied. `before` is what was decided on, `after` what the view costs now.
    pub fn acted(&mut self, reason: Reason, before: &Measurement, after: Tokens, limits: &Limits) {
        self.last =
            Some(Acted { n_total: before.n_total, range: before.range, reason: reason.as_str().to_owned() });
        self.failure = None;
        self.undone = None;
        self.tried = None;
        self.window_is_new = false;
        if let Reason::Soft { .. } = reason {
            self.condensed += before.tokens - after;
        } else {
            self.summarized_at = Some(before.n_total);
            self.disarmed_at = Some(after);
            self.condensed = Tokens::ZERO;
        }
        self.second_pass_is_due = reason.is_first_pass();
        self.observe(after, limits);
    }

    /// Takes note that a rewrite was tried and nothing came of it.
    pub fn failed(&mut self, reason: Reason, m: &Measurement) {
        let in_a_row = self.failures().saturating_add(1);
        self.second_pass_is_due = false;
        self.failure = Some(Failure { in_a_row, n_total: m.n_total, at_ms: m.now_ms });
        if let Reason::Emergency { .. } = reason {
            self.tried = Some(Attempt { n_total: m.n_total, tokens: m.tokens, budget: m.budget });
        }
    }

    /// Takes note that the last compaction was undone by hand: it is not made again at once.
    pub fn undone(&mut self, n_total: u64) {
        self.condensed = Tokens::ZERO;
        self.undone = Some(Undone { n_total });
        self.second_pass_is_due = false;
        self.disarmed_at = None;
        self.tried = None;
    }

    /// Takes note that less must stay than did: what was tried without success may work now.
    pub(crate) fn loosened(&mut self) {
        self.tried = None;
    }

    /// Takes note that somebody else put another view in the place of this one.
    #[cfg(feature = "wire")]
    pub(crate) fn replaced(&mut self) {
        self.condensed = Tokens::ZERO;
        self.second_pass_is_due = false;
    }

    /// Takes note that the window is another one. The hard tier is armed and need not wait: a smaller window must be
    /// dealt with before the next request.
    pub fn window_changed(&mut self) {
        self.window_is_new = true;
        self.second_pass_is_due = false;
        self.disarmed_at = None;
        self.tried = None;
        self.failure = None;
    }

    /// Returns how many compactions failed since the last one that worked.
    pub fn failures(&self) -> u32 {
        self.failure.map_or(0, |failure| failure.in_a_row)
    }

    /// Returns how many messages were pushed since the last rewrite, or since the start.
    pub fn since_last(&self, n_total: u64) -> u64 {
        self.last.as_ref().map_or(n_total, |last| n_total.saturating_sub(last.n_total))
    }

    /// Returns how many messages were pushed since the last compaction, or since the start. Passes of the soft tier count as
    /// compactions where they summarize.
    pub(super) fn since_compaction(&self, config: &Config, n_total: u64) -> u64 {
        match config.soft_action {
            SoftAction::SummarizeRules => self.since_last(n_total),
            _ => n_total.saturating_sub(self.summarized_at.unwrap_or(0)),
        }
    }

    /// Returns how long [`Reason::Messages`] waits after a rewrite, in messages: the cooldown. Where it called for the last
    /// compaction too, it waits for as many messages as one covers: a view that stays above the limit, because of its pins
    /// say, would else be summarized message by message.
    pub(super) fn message_wait(&self, config: &Config) -> u64 {
        let called = self.last.as_ref().is_some_and(|last| last.reason == Reason::MESSAGES);
        let covers = config.trigger_messages.map_or(0, |limit| limit.saturating_sub(config.preserve_recent));
        config.cooldown_messages.max(if called { covers } else { 0 })
    }

    /// Returns what a first tier that summarizes by rule took out of the view and no summary of the second has taken in.
    pub(super) fn condensed(&self, config: &Config) -> Tokens {
        match config.soft_action {
            SoftAction::SummarizeRules => self.condensed,
            _ => Tokens::ZERO,
        }
    }

    pub(super) fn is_second_pass_due(&self) -> bool {
        self.second_pass_is_due
    }

    pub(super) fn is_window_new(&self) -> bool {
        self.window_is_new
    }

    /// Returns the size at which the hard tier fires although it is disarmed: a whole band above where it ended.
    pub(super) fn disarmed_until(&self, limits: &Limits) -> Option<Tokens> {
        let band = (limits.trigger - limits.reset).max(Tokens(1));
        self.disarmed_at.map(|after| (after + band).max(limits.trigger))
    }

    pub(super) fn undone_at(&self, n_total: u64, cooldown: u64) -> Option<u64> {
        // Even without a cooldown an undo holds for one message, or it could never be seen.
        self.undone.and_then(|undone| left(n_total, undone.n_total, cooldown.max(1)))
    }

    /// Returns how long a failure is still to be waited for, in messages and milliseconds.
    pub(super) fn failure_wait(&self, m: &Measurement, config: &Config) -> Option<(u64, u64)> {
        let failure = self.failure?;
        let messages = left(m.n_total, failure.n_total, config.cooldown_messages.max(1)).unwrap_or(0);
        let wait = config.failure_cooldown_ms << (failure.in_a_row.saturating_sub(1)).min(MAX_DOUBLINGS);
        let ms = match (m.now_ms, failure.at_ms) {
            // A clock that went backwards tells nothing; the messages are waited for all the same.
            (Some(now), Some(at)) if now >= at => wait.saturating_sub(now.abs_diff(at)),
            _ => 0,
        };
        (messages > 0 || ms > 0).then_some((messages, ms))
    }

    /// Returns how many messages must be said before anything is done, whatever calls for it. A cooldown is not among them:
    /// it is not the same for all that calls.
    pub(super) fn messages_to_wait(&self, config: &Config, m: &Measurement) -> u64 {
        let undone = self.undone_at(m.n_total, config.cooldown_messages).unwrap_or(0);
        let failed = self.failure_wait(m, config).map_or(0, |(messages, _)| messages);
        config.min_messages.saturating_sub(m.n_messages).max(undone).max(failed)
    }

    pub(super) fn was_acted_on(&self, range: Span, reason: Reason) -> bool {
        self.last.as_ref().is_some_and(|last| last.range == range && last.reason == reason.as_str())
    }

    pub(super) fn was_tried(&self, m: &Measurement) -> bool {
        self.tried == Some(Attempt { n_total: m.n_total, tokens: m.tokens, budget: m.budget })
    }
}

/// Returns how many of `wait` messages are left at `n_total`, counted from `since`; `None` when none are.
fn left(n_total: u64, since: u64, wait: u64) -> Option<u64> {
    let passed = n_total.saturating_sub(since);
    (passed < wait).then(|| wait - passed)
}
