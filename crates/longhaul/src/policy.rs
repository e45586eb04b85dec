//! When to act, and why: a pure state machine with no IO, no clock and no text.
//!
//! [`decide`] looks at a [`Measurement`] and the [`PolicyState`] and returns a [`Decision`] that explains itself in
//! both directions. It changes nothing; the caller acts and then tells the state what came of it
//! ([`PolicyState::acted`], [`PolicyState::failed`], [`PolicyState::undone`], [`PolicyState::window_changed`]).
//!
//! What holds by construction, and is shown by property tests:
//! - at or above the hard limit nothing holds but `enabled = false` and an attempt already made on this very context;
//! - between two hard triggers the context either fell below `reset_ratio` or grew by the whole band between reset and
//!   trigger, so one burst gives one compaction;
//! - there is a way out of every [`Hold`] but `enabled = false`: enough new messages bring an action.

mod decision;
mod forecast;
mod state;

pub use decision::{Action, Decision, Hold, Reason};
pub use forecast::{Forecast, Upcoming, When, forecast};
pub use state::PolicyState;

use longhaul_summarize::rules::LEAST_LIMIT;
use longhaul_transcript::{Span, Tokens};
use serde::{Deserialize, Serialize};

use crate::{
    compact::SUMMARY_FRAME,
    config::{Config, Limits, OnMaxDepth, SoftAction},
};

/// What is known about the context at the moment of a decision. Numbers only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// Tokens of the whole view, as the next request will send it, fixed overhead apart.
    pub tokens: Tokens,
    /// The most the view may cost: the window less reserved output and fixed overhead.
    pub budget: Tokens,
    /// The model's window, for settings whose ratios are of it.
    pub window: Tokens,
    /// What the view would still cost after the deepest compaction: what is pinned, the open exchange, the newest request,
    /// a short summary.
    pub floor: Tokens,
    /// What the soft action would free, as far as known; an upper estimate is fine.
    pub soft_gain: Tokens,
    /// What it must free to be paid back: the provider has what it changes in its cache, and reads it anew.
    #[serde(default)]
    pub soft_price: Tokens,
    /// The messages a compaction would newly cover; empty where there are none outside the tail.
    pub range: Span,
    /// What those messages cost in the view.
    pub range_tokens: Tokens,
    /// Messages in the view, a summary counting as one.
    pub n_messages: u64,
    /// Messages in the view that somebody said: what stands for others is not counted, or summaries would call for more.
    pub n_said: u64,
    /// Messages ever pushed in this session.
    pub n_total: u64,
    /// Depth that the next summary would have.
    pub next_depth: u32,
    /// Whether a turn has just ended: no exchange is open and the last message is the user's or a finished answer.
    pub at_turn_boundary: bool,
    /// Whether the provider has surely forgotten the prompt's prefix: a rewrite then costs no cache.
    pub cache_is_cold: bool,
    /// The time in milliseconds since the Unix epoch, where the caller has a clock; waiting after a failure is then
    /// measured in time as well as in messages.
    pub now_ms: Option<i64>,
}

/// Returns what is to be done about the context, and why.
pub fn decide(state: &PolicyState, config: &Config, m: &Measurement) -> Decision {
    if !config.enabled {
        return Decision::Hold(Hold::Disabled);
    }
    let limits = config.limits(m.window, m.budget);
    if m.tokens >= limits.ceiling {
        return emergency(state, config, m);
    }
    let mut first_hold = None;
    for wish in wishes(state, config, m, &limits) {
        match hold(state, config, m, &limits, wish) {
            None => return act(config, m, wish),
            Some(hold) => first_hold = first_hold.or(Some(hold)),
        }
    }
    Decision::Hold(first_hold.unwrap_or_else(|| below_trigger(state, config, m, &limits)))
}

/// Why a tier would act, strongest first.
fn wishes(state: &PolicyState, config: &Config, m: &Measurement, limits: &Limits) -> Vec<Reason> {
    let mut wishes = Vec::new();
    let many = config.trigger_messages.filter(|limit| m.n_said > *limit);
    let many = many.map(|limit| Reason::Messages { n_messages: m.n_said, limit });
    // What a soft pass by rule took out of the view counts towards the trigger until a model has summarized it.
    let (tokens, unread, trigger) = (m.tokens, state.condensed(config), limits.trigger);
    if tokens + unread >= trigger {
        // A new window alone is no reason.
        let is_window_too_small = state.is_window_new() && tokens >= trigger;
        let for_room = match (state.is_second_pass_due(), is_window_too_small) {
            (true, _) => Reason::SecondPass { tokens, trigger },
            (false, true) => Reason::ModelSwitch { tokens, trigger },
            (false, false) => Reason::Ratio { tokens, unread, trigger },
        };
        // Too many messages go down to fewer than tokens do: one summary serves both.
        wishes.extend(many.filter(|_| matches!(for_room, Reason::Ratio { .. })));
        wishes.push(for_room);
    }
    wishes.extend(many.filter(|many| !wishes.contains(many)));
    let since_compaction = state.since_compaction(config, m.n_total);
    if let Some(after) = config.force_refresh_after_messages.filter(|after| since_compaction >= *after) {
        wishes.push(Reason::Refresh { since_last: since_compaction, after });
    }
    if config.soft_action != SoftAction::Off && m.tokens >= limits.soft {
        wishes.push(Reason::Soft { tokens: m.tokens, soft: limits.soft });
    }
    wishes
}

/// Returns what stands against acting for `reason`, or `None` where nothing does.
fn hold(
    state: &PolicyState,
    config: &Config,
    m: &Measurement,
    limits: &Limits,
    reason: Reason,
) -> Option<Hold> {
    let is_second_pass = matches!(reason, Reason::SecondPass { .. });
    if let Some(hold) = waiting(state, config, m, reason.wait(state, config)) {
        return Some(hold);
    }
    // A second pass makes the tail smaller, where the first has covered all before it.
    if m.range.is_empty() && !is_second_pass {
        return Some(Hold::NothingToCompact);
    }
    if state.was_acted_on(m.range, reason) {
        return Some(Hold::SameRange { range: m.range });
    }
    // What asks for a summary although there is room waits until there is enough to summarize.
    if !reason.is_for_room() {
        let needed = least_range(config);
        if m.range_tokens < needed {
            return Some(Hold::SmallRange { tokens: m.range_tokens, needed });
        }
    }
    if reason.is_economic() && !m.at_turn_boundary {
        return Some(Hold::WithinTurn);
    }
    if let Reason::Soft { .. } = reason {
        // A summary by rule frees what any compaction would; the others free what digesting frees.
        let gain = match config.soft_action {
            SoftAction::SummarizeRules => m.tokens - m.floor,
            _ => m.soft_gain,
        };
        let needed =
            if m.cache_is_cold { Tokens(1) } else { limits.min_gain.max(m.soft_price).max(Tokens(1)) };
        return match (gain < needed, makes_summary(config, reason)) {
            (true, _) => Some(Hold::SmallGain { gain, needed }),
            (false, true) => depth_hold(config, m),
            (false, false) => None,
        };
    }
    if m.floor >= m.tokens {
        return Some(Hold::NothingToCompact);
    }
    if matches!(reason, Reason::Ratio { .. } | Reason::SecondPass { .. }) {
        if m.floor >= limits.reset {
            return Some(Hold::FixedOverhead { floor: m.floor, reset: limits.reset });
        }
        let rearms_at = state.disarmed_until(limits).filter(|until| m.tokens < *until && !is_second_pass);
        if let Some(rearms_at) = rearms_at {
            return Some(Hold::Hysteresis { tokens: m.tokens, reset: limits.reset, or_at: rearms_at });
        }
    }
    // At the greatest depth a second pass is made from the originals, which makes the chain no deeper.
    if is_second_pass { None } else { depth_hold(config, m) }
}

/// Returns what more messages or time must end before anything is done, `cooldown` messages after the last rewrite.
fn waiting(state: &PolicyState, config: &Config, m: &Measurement, cooldown: u64) -> Option<Hold> {
    if m.n_messages < config.min_messages {
        return Some(Hold::BelowMinMessages { n_messages: m.n_messages, min_messages: config.min_messages });
    }
    if let Some(undone) = state.undone_at(m.n_total, config.cooldown_messages) {
        return Some(Hold::JustUndone { messages_left: undone });
    }
    if let Some((messages_left, ms_left)) = state.failure_wait(m, config) {
        return Some(Hold::FailedRecently { failures: state.failures(), messages_left, ms_left });
    }
    let messages_left = cooldown.saturating_sub(state.since_last(m.n_total));
    (messages_left > 0).then_some(Hold::Cooldown { messages_left })
}

/// Returns what messages must cost for a summary of them to say something within `target_compression`, and to be smaller
/// than they are with its header around it.
fn least_range(config: &Config) -> Tokens {
    let with_frame = LEAST_LIMIT + SUMMARY_FRAME + Tokens(1);
    let compressed = config.target_compression.map(|ratio| LEAST_LIMIT.0 as f64 / ratio);
    compressed.map_or(with_frame, |tokens| with_frame.max(Tokens(tokens.ceil() as u64)))
}

fn depth_hold(config: &Config, m: &Measurement) -> Option<Hold> {
    let is_deep = m.next_depth >= config.max_summary_chain_depth;
    (is_deep && config.on_max_depth == OnMaxDepth::Halt)
        .then_some(Hold::Depth { depth: m.next_depth, max: config.max_summary_chain_depth })
}

fn makes_summary(config: &Config, reason: Reason) -> bool {
    !matches!(reason, Reason::Soft { .. }) || config.soft_action == SoftAction::SummarizeRules
}

fn act(config: &Config, m: &Measurement, reason: Reason) -> Decision {
    let rebuild = m.next_depth >= config.max_summary_chain_depth;
    let action = match (reason, config.soft_action) {
        (Reason::Soft { .. }, SoftAction::Trim) => Action::SoftTrim,
        (Reason::Soft { .. }, SoftAction::SummarizeRules) => Action::SummarizeRules { rebuild },
        (Reason::Soft { .. }, _) => Action::SoftDigest,
        _ => Action::Summarize { rebuild },
    };
    Decision::Act { action, reason }
}

/// At or above the hard limit: one attempt for each state of the context, whatever else would hold.
fn emergency(state: &PolicyState, config: &Config, m: &Measurement) -> Decision {
    if state.was_tried(m) {
        return Decision::Hold(Hold::Exhausted { floor: m.floor, over: m.tokens - m.budget });
    }
    let rebuild = m.next_depth >= config.max_summary_chain_depth;
    let reason = Reason::Emergency { tokens: m.tokens, budget: m.budget };
    Decision::Act { action: Action::Emergency { rebuild, by_rule: state.failures() > 0 }, reason }
}

fn below_trigger(state: &PolicyState, config: &Config, m: &Measurement, limits: &Limits) -> Hold {
    let next = soft_threshold(config, m, limits).unwrap_or_else(|| hard_threshold(state, config, m, limits));
    Hold::BelowTrigger { tokens: m.tokens, next, left: next - m.tokens }
}

/// Returns where the soft tier acts: nowhere where it is off, or makes summaries of which the chain may have no more.
fn soft_threshold(config: &Config, m: &Measurement, limits: &Limits) -> Option<Tokens> {
    let is_halted = config.soft_action == SoftAction::SummarizeRules && depth_hold(config, m).is_some();
    (config.soft_action != SoftAction::Off && !is_halted).then_some(limits.soft)
}

/// Returns where the hard tier acts: later than at its threshold where it fired and waits to be armed again, and at the hard limit
/// where the chain is as deep as it may be.
fn hard_threshold(state: &PolicyState, config: &Config, m: &Measurement, limits: &Limits) -> Tokens {
    let rearmed = state.disarmed_until(limits).filter(|_| m.tokens >= limits.reset);
    match (depth_hold(config, m), rearmed) {
        // A second pass is due at the trigger itself, and makes the chain no deeper.
        _ if state.is_second_pass_due() => limits.trigger,
        (Some(_), _) => limits.ceiling,
        (None, Some(until)) => until.min(limits.ceiling),
        (None, None) => limits.trigger - state.condensed(config),
    }
}

#[cfg(test)]
mod tests;
