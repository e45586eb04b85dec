//! What the engine says of a conversation's messages, as it is with the definitions of tools that go out beside them: a person is
//! shown what a whole request costs, and thresholds to compare that with.

use longhaul::{Event, EventKind, RewriteError, config::Limits, transcript::Tokens};

pub(crate) fn event(mut event: Event, tools: Tokens) -> Event {
    event.tokens += tools;
    match &mut event.kind {
        EventKind::Finished(finish) => {
            finish.tokens_before += tools;
            finish.tokens_after += tools;
            finish.reason = finish.reason.beside(tools);
        }
        EventKind::Trimmed { tokens_before, tokens_after, reason, .. } => {
            *tokens_before += tools;
            *tokens_after += tools;
            *reason = reason.beside(tools);
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
