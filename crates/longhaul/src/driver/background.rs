//! Compactions that are made elsewhere while the conversation goes on.

use std::sync::Arc;

use longhaul_summarize::Draft;
use longhaul_transcript::SummaryMode;

use super::{Error, Session};
use crate::{
    policy::{Action, Decision},
    session::{Job, Rewrite, RewriteError},
};

/// A compaction that is made elsewhere while the conversation goes on. Dropping it calls it off.
#[derive(Debug)]
pub struct Background {
    job: Job,
    _under_way: Arc<()>,
}

impl Session {
    /// Returns a compaction to be made elsewhere, where the policy asks for a summary and there is time: not in an
    /// emergency, not while another one is under way, and not where originals must be read from the store for it, which
    /// [`prepare`](Self::prepare) does. It begins before the trigger where this lies so near to the hard limit that the next two
    /// requests, as large as those of late, would come to it.
    pub fn start_background(&mut self) -> Option<Background> {
        if self.background.strong_count() > 0 {
            return None;
        }
        let Decision::Act {
            action: action @ (Action::Summarize { .. } | Action::SummarizeRules { .. }),
            reason,
        } = self.state.decide_ahead(self.now_ms())
        else {
            return None;
        };
        if self.journal.is_some() && !self.state.wanted_by(action).is_empty() {
            return None;
        }
        // Rules take no time to speak of: `prepare` makes it, and says why no model was asked.
        let is_by_rule = self.state.config().mode == SummaryMode::Rules;
        if !is_by_rule && !self.may_ask_model(action) {
            return None;
        }
        let mut job = self.planned(action, reason, None).ok()?;
        if !is_by_rule && job.too_large_for_model(self.state.config()).is_some() {
            return None;
        }
        self.tell_started(&job);
        if let Some(summarizer) = self.summarizer.as_deref().filter(|_| self.asks_model(action, &job)) {
            job = job.asked_of(summarizer);
            self.tell_calls(summarizer, &job);
        }
        let under_way = Arc::new(());
        self.background = Arc::downgrade(&under_way);
        Some(Background { job, _under_way: under_way })
    }

    /// Applies a compaction that was made elsewhere. With a store the record is written first.
    ///
    /// # Errors
    /// When the context was rewritten meanwhile, which is no failure that anybody is told of, or nothing would be gained. The
    /// context is then as it was.
    pub async fn finish_background(
        &mut self,
        background: Background,
        draft: Draft,
    ) -> Result<Rewrite, Error> {
        let Background { job, _under_way } = background;
        self.tell_attempts(&draft.attempts);
        let reason = job.reason();
        if self.state.is_stale(&job) {
            return Err(Error::Rewrite(RewriteError::Stale));
        }
        let finished = job.finish(draft).map_err(|error| {
            self.tell_no_summary(error.to_string());
            self.fail(reason, error.to_string());
            Error::Draft(error)
        })?;
        self.apply(finished, None).await
    }
}

impl Background {
    /// Returns the compaction, for [`Job::request`] to the session's summarizer.
    pub fn job(&self) -> &Job {
        &self.job
    }
}
