//! Summaries by rule: no model, no network, the same bytes every time.
//!
//! The budget goes to what the rest of the work most likely needs: the task and the user's constraints first, then
//! whole source lines and a ledger of facts, picked by value per token. Nothing is said that the source does not say,
//! headings, counts and message handles (`m12`) apart.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_extract::{DefaultRanker, Domain, Ranker, Subjects};
use longhaul_transcript::{SummaryMode, Tokens};

use crate::{Draft, SummarizeError, Summarizer, SummaryRequest};

mod account;
mod clip;
mod coverage;
mod goal;
mod ledger;
mod pick;
mod plan;
mod render;
mod runs;
mod source;

pub use account::task;

use coverage::Coverage;
use goal::Goal;

/// Settings of [`summarize`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RulesOptions {
    /// Tells which facts are worth keeping.
    pub ranker: Arc<dyn Ranker>,
    /// Share of the limit that the task may take, 0.0 to 1.0. Default 0.15 (`docs/recall.md`).
    pub task_share: f64,
    /// Share of the limit that the user's constraints may take. Default 0.1. A hundred tokens they always may, up to a third of
    /// the limit.
    pub constraint_share: f64,
    /// Share of the limit that the last request, and the last words, may take each. Default 0.05.
    pub state_share: f64,
    /// What it adds to a fact's value that its source line is kept with it, relative to the bare name, in a summary of
    /// [`FULL_SIZE`] tokens; a smaller one leans to names. Default 0.4.
    pub anchor_bonus: f64,
}

impl Default for RulesOptions {
    fn default() -> RulesOptions {
        RulesOptions {
            ranker: Arc::new(DefaultRanker::default()),
            task_share: 0.15,
            constraint_share: 0.1,
            state_share: 0.05,
            anchor_bonus: 0.4,
        }
    }
}

/// A [`Summarizer`] that follows the rules of [`summarize`]. It never fails.
#[derive(Clone, Debug, Default)]
pub struct RulesSummarizer {
    /// The settings.
    pub options: RulesOptions,
}

#[async_trait]
impl Summarizer for RulesSummarizer {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        Ok(summarize(&request, &self.options))
    }
}

/// Version of the rules; part of a record's id.
pub const MADE_WITH: &str = "rules-1";

/// What stands in place of a summary for which there is no room.
pub const OMITTED: &str = "[Summary omitted - insufficient budget]";

/// Below this limit a summary says nothing useful.
pub const LEAST_LIMIT: Tokens = Tokens(50);

/// Returns a summary of the request's entries, within its limit.
pub fn summarize(request: &SummaryRequest<'_>, options: &RulesOptions) -> Draft {
    if request.limit < LEAST_LIMIT {
        return omitted(request);
    }
    let subjects = Subjects::new(request.index, &*options.ranker);
    let goal = Goal::new(request.goal);
    let mut coverage = Coverage::new(request.index, &subjects, &goal);
    request.kept.iter().for_each(|entry| coverage.read_message(&entry.message));
    let runs = runs::runs(request.entries);
    let summary = account::account(request, &runs, &subjects);
    let fixed = render::fixed(request, &summary, options);
    fixed.iter().for_each(|section| coverage.read(&section.body));
    let ledger = ledger::Ledger::new(&subjects, request.index, &summary.files);
    let source = source::read(source::Reading {
        entries: request.entries,
        runs: &runs,
        groups: &runs::groups(&runs),
        coverage: &coverage,
        task: account::task(request.entries).map(|(entry, _)| entry.id),
        goal: &goal,
        is_talk: request.index.domain() == Domain::Talk,
        root: &ledger.root,
        telling: fullness(request.limit),
    });
    let spent: Tokens = fixed.iter().map(|section| request.counter.count_text(&section.text())).sum();
    let budget = request.limit - spent;
    let anchor_bonus = options.anchor_bonus * (0.5 + 0.5 * fullness(request.limit));
    let choice = pick::Choice {
        source: &source,
        ledger: &ledger,
        counter: request.counter,
        anchor_bonus,
        bare_share: fullness(request.limit).powi(2),
    };
    let picks = pick::pick(choice, &mut coverage, budget.scaled(ROOM_TO_CHOOSE));
    let render = |count: usize| render::text(&fixed, &source, &ledger, &picks[..count]);
    let mut text = fit(picks.len(), request, render);
    if request.counter.count_text(&text) > request.limit {
        text = clip::to_tokens(&text, request.limit, request.counter);
    }
    Draft {
        tokens: request.counter.count_text(&text),
        text,
        summary,
        mode: SummaryMode::Rules,
        made_with: MADE_WITH.into(),
        ..Draft::default()
    }
}

/// A summary of so many tokens has room for the story beside the facts.
pub const FULL_SIZE: Tokens = Tokens(4000);

/// Returns how near `limit` is to a summary of full size, 0.0 to 1.0.
fn fullness(limit: Tokens) -> f64 {
    limit.ratio_of(FULL_SIZE).min(1.0)
}

fn omitted(request: &SummaryRequest<'_>) -> Draft {
    let fits = request.counter.count_text(OMITTED) <= request.limit;
    let text = if fits { OMITTED.to_string() } else { String::new() };
    Draft {
        tokens: request.counter.count_text(&text),
        text,
        mode: SummaryMode::Rules,
        made_with: MADE_WITH.into(),
        ..Draft::default()
    }
}

/// How much more than the budget is picked, by estimate, so that the exact count has something to choose from.
const ROOM_TO_CHOOSE: f64 = 1.7;

/// Returns the text with the most picks, out of `most`, that keeps within the limit; near enough is good enough.
fn fit(most: usize, request: &SummaryRequest<'_>, render: impl Fn(usize) -> String) -> String {
    let limit = request.limit.0 as f64;
    let good = limit * NEAR_ENOUGH;
    let mut best = render(0);
    // The most that is known to fit and the least that is known not to, with what they cost.
    let mut low = (0, request.counter.count_text(&best).0 as f64);
    let mut high: Option<(usize, f64)> = None;
    let mut count = most;
    while low.0 < count && low.1 < good {
        let text = render(count);
        let cost = request.counter.count_text(&text).0 as f64;
        if cost <= limit {
            (low, best) = ((count, cost), text);
        } else {
            high = Some((count, cost));
        }
        let Some((above, cost_above)) = high else { break };
        // Costs grow about evenly between the two.
        let share = ((limit * 0.998 - low.1) / (cost_above - low.1)).clamp(0.0, 1.0);
        let gap = above - low.0;
        count = low.0 + ((gap as f64 * share) as usize).clamp(1, gap.saturating_sub(1).max(1));
        if gap <= 1 {
            break;
        }
    }
    best
}

/// Share of the limit from which on no more is squeezed in.
const NEAR_ENOUGH: f64 = 0.985;

#[cfg(test)]
mod tests;
