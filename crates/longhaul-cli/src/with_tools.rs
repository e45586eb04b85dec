//! What the engine says of a conversation's messages, as it is with the definitions of tools that go out beside them: a person is
//! shown what a whole request costs, and thresholds to compare that with.

use longhaul::{
    Event, EventKind, RewriteError,
    config::Limits,
    policy::{Decision, Forecast, Hold, Reason, Upcoming, When},
    transcript::Tokens,
};

pub(crate) fn event(mut event: Event, tools: Tokens) -> Event {
    event.tokens += tools;
    match &mut event.kind {
        EventKind::Finished(finish) => {
            finish.tokens_before += tools;
            finish.tokens_after += tools;
            finish.reason = reason(finish.reason, tools);
        }
        EventKind::Trimmed { tokens_before, tokens_after, reason: why, .. } => {
            *tokens_before += tools;
            *tokens_after += tools;
            *why = reason(*why, tools);
        }
        _ => {}
    }
    event
}

/// The least that a pass must free, and what the end may cost, are no thresholds of a request.
pub(crate) fn limits(mut limits: Limits, tools: Tokens) -> Limits {
    let Limits { target, soft, reset, trigger, ceiling, .. } = &mut limits;
    [target, soft, reset, trigger, ceiling].into_iter().for_each(|limit| *limit += tools);
    limits
}

pub(crate) fn decision(decision: Decision, tools: Tokens) -> Decision {
    match decision {
        Decision::Hold(why) => Decision::Hold(hold(why, tools)),
        Decision::Act { action, reason: why } => Decision::Act { action, reason: reason(why, tools) },
    }
}

pub(crate) fn forecast(mut forecast: Forecast, tools: Tokens) -> Forecast {
    for Upcoming { when, .. } in &mut forecast.upcoming {
        if let When::Tokens { at, .. } = when {
            *at += tools;
        }
    }
    forecast
}

/// Adds the tools to what is said of a compaction that is not applied.
pub(crate) fn refusal(mut error: RewriteError, tools: Tokens) -> RewriteError {
    if let RewriteError::NoGain { before: one, after: other }
    | RewriteError::OverBudget { after: one, budget: other } = &mut error
    {
        *one += tools;
        *other += tools;
    }
    error
}

fn reason(mut reason: Reason, tools: Tokens) -> Reason {
    if let Reason::Ratio { tokens, trigger: at, .. }
    | Reason::ModelSwitch { tokens, trigger: at }
    | Reason::SecondPass { tokens, trigger: at }
    | Reason::Soft { tokens, soft: at }
    | Reason::Emergency { tokens, budget: at } = &mut reason
    {
        *tokens += tools;
        *at += tools;
    }
    reason
}

fn hold(mut hold: Hold, tools: Tokens) -> Hold {
    match &mut hold {
        Hold::BelowTrigger { tokens, next: at, .. } | Hold::FixedOverhead { floor: tokens, reset: at } => {
            *tokens += tools;
            *at += tools;
        }
        Hold::Hysteresis { tokens, reset, or_at } => {
            *tokens += tools;
            *reset += tools;
            *or_at += tools;
        }
        Hold::Exhausted { floor, .. } => *floor += tools,
        _ => {}
    }
    hold
}
