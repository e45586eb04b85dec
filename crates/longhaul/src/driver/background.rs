//! Compactions that are made elsewhere while the conversation goes on.

use std::{sync::Arc, time::Duration};

use longhaul_summarize::{Draft, SummarizeError, Summarizer};
use longhaul_transcript::{Sleep, SummaryMode};

use super::{
    Error, Session,
    compacting::{self, asked, is_in_a_models_place},
};
use crate::{
    policy::{Action, Decision},
    session::{Job, Rewrite, RewriteError},
};

/// A compaction that is made elsewhere while the conversation goes on. Dropping it calls it off.
#[derive(Debug)]
pub struct Background {
    job: Job,
    /// Who is asked; nobody where rules write.
    summarizer: Option<Arc<dyn Summarizer>>,
    sleep: Arc<dyn Sleep>,
    /// How long the summarizer is waited for.
    limit: Duration,
    _under_way: Arc<()>,
}

impl Session {
    /// Returns a compaction to be made elsewhere while the model works on the request before: call it between [`push`](Self::push) and
    /// [`prepare`](Self::prepare), which compacts at once what the policy asks for then and leaves nothing to be made elsewhere but
    /// where turns are large for the window. `Some` where the policy asks for a summary and there is time: not in an
    /// emergency, not while another one is under way, and not where originals must be read from the store for it, which
    /// [`prepare`](Self::prepare) does. It begins before the trigger where this lies so near to the hard limit that the next two
    /// requests, one as large as those of late are in the mean and one as large as the largest of them, would come to it. Larger ones overtake
    /// it: [`prepare`](Self::prepare) compacts at the hard limit without it. A lower `trigger_ratio` leaves it more time. One whose summarizer did not answer within `summary_deadline_ms`, by
    /// the session's clock, is no longer waited for: another may begin, and of the two the one that is finished first counts, for
    /// the other is then of a context that was rewritten.
    pub fn start_background(&mut self) -> Option<Background> {
        if self.is_background_under_way() {
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
        let summarizer = self.summarizer.clone().filter(|_| self.asks_model(action, &job));
        if let Some(summarizer) = &summarizer {
            job = job.asked_of(&**summarizer);
            self.tell_calls(&**summarizer, &job);
        }
        let under_way = Arc::new(());
        self.background = Arc::downgrade(&under_way);
        self.background_since = self.now_ms();
        let (sleep, limit) = (Arc::clone(&self.sleep), self.state.config().summary_deadline());
        Some(Background { job, summarizer, sleep, limit, _under_way: under_way })
    }

    /// Returns whether a compaction is being made elsewhere that may still come.
    pub(super) fn is_background_under_way(&self) -> bool {
        let limit = i64::try_from(self.state.config().summary_deadline_ms).unwrap_or(i64::MAX);
        let waited = self.now_ms().zip(self.background_since).map(|(now, since)| now.saturating_sub(since));
        // Who ends in their own time is bounded by themselves, or a person.
        let is_bounded = self.summarizer.as_ref().is_some_and(|summarizer| !summarizer.ends_by_itself());
        self.background.strong_count() > 0 && !(is_bounded && waited.is_some_and(|waited| waited > limit))
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
        let Background { job, summarizer, _under_way, .. } = background;
        self.tell_attempts(&draft.attempts);
        let reason = job.reason();
        if self.state.is_stale(&job) {
            return Err(Error::Rewrite(RewriteError::Stale));
        }
        if let Some(summarizer) = summarizer.filter(|_| self.stays_without_a_model(&job))
            && is_in_a_models_place(&draft, &*summarizer, &job)
        {
            let error = self.summarize_error(SummarizeError::Exhausted { attempts: draft.attempts });
            self.fail(reason, compacting::reason(&error));
            return Err(error);
        }
        let finished = job.finish(draft).map_err(|error| {
            self.tell_no_summary(error.to_string(), self.background_since);
            self.fail(reason, error.to_string());
            Error::Draft(error)
        })?;
        self.apply(finished, None).await
    }
}

impl Background {
    /// Returns the compaction, for [`Job::request`] to the session's summarizer. Who asks it bounds the time by themselves;
    /// [`draft`](Self::draft) does both.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Returns what the session's summarizer writes, or the rules where nobody is to be asked.
    ///
    /// # Errors
    /// Those of the summarizer, [`SummarizeError::TimedOut`] where it gives nothing within `summary_deadline_ms`, and
    /// [`SummarizeError::Panicked`].
    pub async fn draft(&self) -> Result<Draft, SummarizeError> {
        match &self.summarizer {
            Some(summarizer) => asked(&**summarizer, self.job.request(), &*self.sleep, self.limit).await,
            None => Ok(self.job.draft_by_rule()),
        }
    }
}
