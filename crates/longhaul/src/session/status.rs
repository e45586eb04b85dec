//! The context in a few numbers, for a status line.

use longhaul_transcript::{SummaryId, Tokens};
use serde::Serialize;

use super::SessionState;
use crate::policy::Decision;

/// The context in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// What the view costs.
    pub total_tokens: Tokens,
    /// The most it may cost.
    pub budget: Tokens,
    /// The first as a share of the second.
    pub ratio: f64,
    /// Messages in the view, a summary counting as one.
    pub message_count: u64,
    /// Messages ever said.
    pub full_message_count: u64,
    /// Summaries ever made, those that a later one took the place of and those undone included.
    pub summary_count: u64,
    /// The latest of them.
    pub last_summary: Option<SummaryId>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub last_summary_at_ms: Option<i64>,
    /// What the last summarization was about, for quick checks.
    pub last_summarization: Option<LastSummarization>,
    /// What would be done now, and why.
    pub decision: Decision,
}

/// What a summarization was about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LastSummarization {
    /// Depth of its summary in the chain.
    pub depth: u32,
    /// How many messages it was made of: in a very long session the newest of those that its summary stands for.
    pub messages: u64,
    /// How full the context was, as a share of what the ratios are of.
    pub ratio: f64,
}

impl SessionState {
    /// Returns the context in a few numbers. `now_ms` is as in [`decide`](Self::decide).
    pub fn status(&self, now_ms: Option<i64>) -> Status {
        let view = self.view();
        let last = self.summary();
        // Older snapshots do not tell how many were made; what is in force does, as far as its chain goes.
        let in_force = view.summaries().map(|record| u64::from(record.depth) + 1).sum();
        Status {
            total_tokens: view.tokens(),
            budget: self.budget(),
            ratio: view.ratio(),
            message_count: view.len() as u64,
            full_message_count: self.n_total(),
            summary_count: self.n_summaries.max(in_force),
            last_summary: last.map(|record| record.id.clone()),
            last_summary_at_ms: last.map(|record| record.created_at_ms),
            last_summarization: last.map(|record| LastSummarization {
                depth: record.depth,
                messages: record.covered.len() as u64,
                ratio: record.tokens_before.ratio_of(self.base()),
            }),
            decision: self.decide(now_ms),
        }
    }
}
