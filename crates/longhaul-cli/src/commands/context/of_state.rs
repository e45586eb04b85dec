//! What fills the window of a conversation that is held: one of `chat`, there and from without.

use longhaul::{
    Config, Job, SessionState, Shown,
    compact::CompactError,
    policy::{Action, Reason},
    summarize::Summarizer,
    tokens::TokenCounter,
    transcript::Tokens,
};

use super::{Kind, no_kinds, share_out};
use crate::paint::Colour;

/// A compaction that was made by rule and thrown away: what it would come to is known then, and nothing has changed.
pub(crate) struct Foretold {
    /// How many messages would go into the summary.
    pub(crate) summarized: usize,
    /// What the view would be expected to cost.
    pub(crate) after: Tokens,
    /// The same with a summary as long as it may be.
    pub(crate) most: Tokens,
    /// Why no model of those that write summaries is asked for this one, where none is.
    pub(crate) by_rule: Option<&'static str>,
}

/// Returns what the compaction would come to that somebody may ask for now. One that is due by tokens takes no more than it needs, and
/// is another. `writer` is who writes summaries,
/// where rules do not.
///
/// # Errors
/// Why there would be none.
pub(crate) fn foretold(
    state: &SessionState,
    now_ms: Option<i64>,
    writer: Option<&dyn Summarizer>,
) -> Result<Foretold, String> {
    let rebuild = state.measure(now_ms).next_depth >= state.config().max_summary_chain_depth;
    let action = Action::Summarize { rebuild };
    let job = state.plan(action, Reason::Manual, None, now_ms).map_err(|error| error.to_string())?;
    if !state.has_something_new(&job) {
        return Err(CompactError::NothingNew.to_string());
    }
    let limit = job.request().limit;
    let by_rule = writer.and_then(|writer| why_by_rule(writer, &job, state.config()));
    let finished = job.finish_by_rule().map_err(|error| error.to_string())?;
    let after = state.check(&finished).map_err(|error| error.to_string())?;
    let most = after + (limit - finished.record().tokens);
    Ok(Foretold { summarized: finished.outcome().summarized, after, most, by_rule })
}

/// Returns why `writer` is not asked, or asks nobody, for this summary.
fn why_by_rule(writer: &dyn Summarizer, job: &Job, config: &Config) -> Option<&'static str> {
    if job.too_large_for_model(config).is_some() {
        return Some("it is of more than a model is shown");
    }
    let plan = writer.plan(&job.request());
    match plan.max_calls {
        0 if plan.models.is_empty() => Some("there is no room for a model's words"),
        0 => Some("the prompt does not fit a model's window"),
        _ => None,
    }
}

/// Returns what the view costs by kind, with the definitions of tools at what they take; a summary is a kind of its own. All of
/// them add up to what the next request is expected to cost: the counts say how that is shared out.
pub(crate) fn kinds_of(state: &SessionState, counter: &dyn TokenCounter, tools: Tokens) -> Vec<Kind> {
    let mut kinds = no_kinds();
    let mut summary = Kind { name: "summary", tokens: Tokens::ZERO, letter: 'z', colour: Colour(134) };
    for shown in state.view().shown() {
        let message = shown.message();
        let whole = counter.count_message(message);
        if let Shown::Summary { .. } = shown {
            summary.tokens += whole;
            continue;
        }
        share_out(whole, message, counter, &mut kinds);
    }
    kinds.insert(2, summary);
    let sum = |kinds: &[Kind]| kinds.iter().map(|kind| kind.tokens).sum::<Tokens>();
    let (counted, whole) = (sum(&kinds), state.likely_tokens());
    if counted > Tokens::ZERO {
        kinds.iter_mut().for_each(|kind| kind.tokens = kind.tokens.scaled(whole.ratio_of(counted)));
    }
    // What rounding leaves over is nothing in the largest.
    let rounded = sum(&kinds);
    if let Some(largest) = kinds.iter_mut().max_by_key(|kind| kind.tokens) {
        largest.tokens = (largest.tokens + whole) - rounded;
    }
    kinds[1].tokens = tools;
    kinds.retain(|kind| kind.tokens > Tokens::ZERO);
    kinds
}
