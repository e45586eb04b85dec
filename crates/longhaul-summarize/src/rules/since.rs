//! What a person said since the summary before, for whoever goes on with its text: what it tells may hold no more.

use longhaul_extract::Decision;
use longhaul_transcript::one_line;

use super::{
    decided::judged,
    overruled::{Overruled, Overruling},
};
use crate::SummaryRequest;

/// What a person said since the summary before.
#[derive(Debug)]
pub struct Since {
    overruling: Overruling,
    overruled: Vec<Overruled>,
    /// The last message that the summary before may tell of.
    before: u64,
}

impl Since {
    /// Reads the request's entries and what stays behind them; `None` where no summary is before them.
    pub fn summary_before(request: &SummaryRequest<'_>) -> Option<Since> {
        let before = request.previous?.covers.end.saturating_sub(1);
        let (judged, overruling) = judged(request);
        Some(Since { overruling, overruled: judged.overruled, before })
    }

    /// Returns what takes the place of a sentence that the summary before tells.
    pub fn over(&self, told: &str) -> Option<&str> {
        let told = one_line(told.trim());
        let is_it = |over: &&Overruled| one_line(over.decision.text.trim()) == told;
        let by = self.overruled.iter().rfind(is_it).map(|over| &over.by);
        by.or_else(|| self.overruling.claims().by(self.before, &told)).map(|by: &Decision| by.text.as_str())
    }

    /// Returns what took the place of decisions that the summary before tells, oldest first.
    pub fn decisions(&self) -> impl Iterator<Item = &str> {
        let of_before = self.overruled.iter().filter(|over| over.decision.message <= self.before);
        of_before.map(|over| over.by.text.as_str())
    }

    /// Returns what takes the place of a decision that the summary before tells.
    pub fn over_decision(&self, told: &str) -> Option<&str> {
        let by = || Some(self.overruling.by(self.before, told)?.text.as_str());
        self.over(told).or_else(by)
    }
}
