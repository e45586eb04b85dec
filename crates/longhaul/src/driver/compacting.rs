//! A compaction from the decision to the store: planned, written by a model or by rule, applied.

use std::{
    error::Error as _,
    future::{Future as _, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use longhaul_store::StoreError;
use longhaul_summarize::{Draft, Reviewed, SummarizeError, Summarizer, SummaryRequest, within};
use longhaul_transcript::{Sleep, Span, SummaryMode, SummaryRecord, Tokens};

use super::{Error, Session};
use crate::{
    compact::{AssembleError, CompactError},
    event::EventKind,
    policy::{Action, Reason},
    session::{Finished, Job, Rewrite, RewriteError, SessionState, leaves_out},
};

/// How often a plan is made anew that comes out over the budget.
const MAX_TRIES: usize = 3;

impl Session {
    pub(super) async fn act(
        &mut self,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
    ) -> Result<Rewrite, Error> {
        if !action.makes_summary() {
            let rewrite = self.state.soften(action, reason, self.now_ms());
            return match rewrite {
                Ok(rewrite) => {
                    self.changes += 1;
                    self.tell_rewrite(&rewrite, 0);
                    Ok(rewrite)
                }
                // It is waited for until there is more to gain, and nothing went wrong.
                Err(error @ RewriteError::NoGain { .. }) => {
                    self.state.failed(reason, self.now_ms());
                    Err(Error::Rewrite(error))
                }
                Err(error) => {
                    self.fail(reason, error.to_string());
                    Err(Error::Rewrite(error))
                }
            };
        }
        let started = self.now_ms();
        let finished = match self.finished(action, reason, goal).await {
            // The request is to be made, and what is wrong with a step of the caller's was told.
            Err(Error::Compact(CompactError::Step(_))) if matches!(action, Action::Emergency { .. }) => {
                self.finished_without_steps(action, reason, goal)?
            }
            finished => finished?,
        };
        let finished = match action {
            Action::Emergency { .. } => self.brought_down(finished, action, goal),
            _ => finished,
        };
        self.apply(finished, started).await
    }

    /// Returns a compaction that what must be sent fits after. A plan is made by what the whole view costs for what is counted of it;
    /// where what stays costs more for that, it is made anew for as much less, by rule.
    fn brought_down(&self, finished: Finished, action: Action, goal: Option<&str>) -> Finished {
        let reason = finished.reason();
        let (mut best, mut less) = (finished, Tokens::ZERO);
        for _ in 0..MAX_TRIES {
            let Err(RewriteError::OverBudget { after, budget }) = self.state.check(&best) else { break };
            less += after - budget;
            let job = self.state.plan_below(less, action, reason, goal, self.now_ms());
            // What must stay may be all there is.
            let Ok(Ok(again)) = job.map(Job::finish_by_rule) else { break };
            best = again;
        }
        best
    }

    /// Plans a compaction and has its summary written.
    async fn finished(
        &mut self,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
    ) -> Result<Finished, Error> {
        let job = self.plan(action, reason, goal).await?;
        if let (true, Some(_), Some((tokens, limit))) =
            (self.may_ask_model(action), &self.summarizer, job.too_large_for_model(self.state.config()))
        {
            self.tell(EventKind::TooLargeForModel { tokens_to_summarize: tokens, limit });
        }
        match self.asks_model(action, &job) {
            true => self.summarize(job).await,
            false => self.by_rule(job),
        }
    }

    /// Makes a compaction by rule as if the caller's steps pinned nothing, or where that does not help, as if there were none.
    /// What it needs is at hand since it was tried with them.
    fn finished_without_steps(
        &mut self,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
    ) -> Result<Finished, Error> {
        // What a step takes out is no less a secret for what it pins.
        if let Ok(job) = self.state.without_step_pins().plan(action, reason, goal, self.now_ms())
            && let Ok(finished) = job.clone().finish_by_rule()
        {
            self.tell_started(&job);
            return Ok(finished);
        }
        let job = self.state.without_steps().plan(action, reason, goal, self.now_ms()).map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })?;
        self.tell_started(&job);
        self.by_rule(job)
    }

    async fn plan(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        self.fetch_for(action).await?;
        self.plan_at_hand(action, reason, goal)
    }

    fn plan_at_hand(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        let job = self.planned(action, reason, goal)?;
        self.tell_started(&job);
        Ok(job)
    }

    pub(super) fn planned(
        &mut self,
        action: Action,
        reason: Reason,
        goal: Option<&str>,
    ) -> Result<Job, Error> {
        let job = self.state.plan(action, reason, goal, self.now_ms()).map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })?;
        match reason == Reason::Manual && !self.state.has_something_new(&job) {
            true => Err(Error::Compact(CompactError::NothingNew)),
            false => Ok(job),
        }
    }

    pub(super) fn tell_started(&mut self, job: &Job) {
        // What a job covers is worked out with the caller's steps.
        if self.observers.0.is_empty() {
            return;
        }
        self.tell(EventKind::Started {
            action: job.action(),
            reason: job.reason(),
            depth: job.depth(),
            compressed_messages: job.covered() as u64,
        });
    }

    pub(super) fn asks_model(&self, action: Action, job: &Job) -> bool {
        self.may_ask_model(action)
            && self.summarizer.is_some()
            && job.too_large_for_model(self.state.config()).is_none()
    }

    pub(super) fn may_ask_model(&self, action: Action) -> bool {
        match action {
            Action::SummarizeRules { .. } | Action::Emergency { by_rule: true, .. } => false,
            _ => self.state.config().mode != SummaryMode::Rules,
        }
    }

    /// Asks the summarizer, and falls back to rules where it gives nothing that can be used and the settings allow it.
    pub(super) async fn summarize(&mut self, job: Job) -> Result<Finished, Error> {
        let Some(summarizer) = self.summarizer.clone() else { return self.by_rule(job) };
        let job = job.asked_of(&*summarizer);
        self.tell_calls(&*summarizer, &job);
        let (limit, since) = (self.state.config().summary_deadline(), self.now_ms());
        let answer = asked(&*summarizer, job.request(), &*self.sleep, limit).await;
        let error = match answer {
            Ok(draft) => {
                self.tell_attempts(&draft.attempts);
                if self.stays_without_a_model(&job) && is_in_a_models_place(&draft, &*summarizer, &job) {
                    let error = self.summarize_error(SummarizeError::Exhausted { attempts: draft.attempts });
                    self.fail(job.reason(), reason(&error));
                    return Err(error);
                }
                match job.clone().finish(draft) {
                    Ok(finished) => return Ok(finished),
                    Err(error) => Error::Draft(error),
                }
            }
            Err(error) => self.summarize_error(error),
        };
        match &error {
            Error::Summarize(SummarizeError::Exhausted { attempts }) if !attempts.is_empty() => {
                self.tell_attempts(attempts);
            }
            error => self.tell_no_summary(reason(error), since),
        }
        // At the hard limit there must be an attempt that cannot fail for want of a model.
        let must_go_on = matches!(job.action(), Action::Emergency { .. });
        let stays = self.state.config().abort_on_failure && !must_go_on || self.stays_without_a_model(&job);
        // What a step of the caller's does wrong is told where rules meet it as well.
        let is_of_step = matches!(error, Error::Draft(AssembleError::Step(_)));
        if stays && !is_of_step {
            self.fail(job.reason(), reason(&error));
            return Err(error);
        }
        self.by_rule(job)
    }

    /// Returns whether the messages stay as they are where no model gives this summary: not where it is asked for by hand, nor at the
    /// hard limit.
    pub(super) fn stays_without_a_model(&self, job: &Job) -> bool {
        let must_be_made = matches!(job.action(), Action::Emergency { .. }) || job.reason() == Reason::Manual;
        !self.state.config().rules_on_failure && !must_be_made
    }

    fn by_rule(&mut self, job: Job) -> Result<Finished, Error> {
        let reason = job.reason();
        job.finish_by_rule().map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })
    }

    /// Writes the record down where there is a store, then applies it. Where a future is dropped in between, the next write
    /// takes back what this one may have done.
    pub(super) async fn apply(
        &mut self,
        mut finished: Finished,
        started: Option<i64>,
    ) -> Result<Rewrite, Error> {
        let duration_ms = self.since(started);
        finished.record_mut().duration_ms = duration_ms;
        self.settle_doubt().await.map_err(Error::Store)?;
        if self.heed_destruction().await? {
            return Err(Error::Rewrite(RewriteError::Stale));
        }
        let (reason, left_out) = (finished.reason(), finished.left_out().to_vec());
        let mut record = finished.record().clone();
        let mut applied = self.state.clone();
        let rewrite = match applied.apply(finished) {
            Ok(rewrite) => rewrite,
            Err(error) => {
                self.fail(reason, error.to_string());
                return Err(Error::Rewrite(error));
            }
        };
        record.tokens_before = rewrite.outcome.tokens_before;
        record.tokens_after = rewrite.outcome.tokens_after;
        let deletes = self.journal.is_some() && applied.config().delete_originals && !leaves_out(&record);
        if deletes {
            applied.note_deletion();
        }
        let not_deleted = match self.append(&applied, &record).await {
            Ok(not_deleted) => not_deleted,
            Err(error) => {
                self.fail(reason, error.to_string());
                // What could not be written may be the next time: at the hard limit as well.
                self.state.may_try_again();
                return Err(error);
            }
        };
        self.state = applied;
        if deletes {
            self.state.forget_covered();
        }
        self.changes += 1;
        self.tell_rewrite(&rewrite, duration_ms);
        left_out.into_iter().for_each(|what| self.tell(EventKind::LeftOut { what }));
        if let Some(error) = not_deleted {
            self.tell(EventKind::NotDeleted { messages: record.covered.len() as u64, error });
        }
        if let Some(journal) = &mut self.journal {
            journal.save_facts(&self.state).await;
        }
        Ok(rewrite)
    }

    /// Writes the record, and deletes with it the originals that it replaces where that is asked for. Returns why they are not
    /// deleted for good yet, where they are not.
    async fn append(
        &mut self,
        applied: &SessionState,
        record: &SummaryRecord,
    ) -> Result<Option<String>, Error> {
        let deletes = applied.config().delete_originals;
        // Those that there was no room to tell of are told of next time.
        let has_told = !leaves_out(record);
        let covered = record.covered.iter().map(|covered| covered.ordinal).filter(|_| deletes && has_told);
        let forget = Span::runs(covered);
        for may_branch in [true, false] {
            let Some(journal) = &mut self.journal else { break };
            let changes = self.changes + 1;
            match journal.append(applied, record, forget.clone(), changes).await {
                Err(error) if may_branch && self.is_overtaken(&error) => self.branch_off().await?,
                Err(error) => return Err(Error::Store(error)),
                Ok(_) if deletes && !has_told => return Ok(Some(NO_ROOM.to_owned())),
                Ok(not_overwritten) => return Ok(not_overwritten.map(|error| error.to_string())),
            }
        }
        Ok(None)
    }

    /// Goes on from what the store has where somebody destroyed messages or summaries of this session; returns whether somebody did.
    /// What is held of them in memory would be written again: by a branch, or quoted by the next summary.
    pub(super) async fn heed_destruction(&mut self) -> Result<bool, Error> {
        let Some(journal) = &mut self.journal else { return Ok(false) };
        let Some(left) = journal.without_destroyed(&self.state).await.map_err(Error::Store)? else {
            return Ok(false);
        };
        self.state = left;
        self.changes += 1;
        self.tell(EventKind::Rewritten);
        self.tell_secrets_missing();
        Ok(true)
    }

    /// Goes on with a compaction whose answer did not come, where it deleted originals: it cannot be taken back.
    pub(super) async fn settle_doubt(&mut self) -> Result<(), StoreError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if let Some(mut applied) = journal.taken_in_doubt().await? {
            applied.follow_on(&self.state);
            applied.forget_covered();
            self.state = applied;
            self.changes += 1;
            self.tell(EventKind::Rewritten);
        }
        Ok(())
    }

    pub(super) fn fail(&mut self, reason: Reason, error: String) {
        self.state.failed(reason, self.now_ms());
        let failures = self.state.policy().failures();
        self.tell(EventKind::Failed { reason, error, failures });
    }
}

/// Asks a summarizer, and waits as long as is set; a person who is shown what it wrote takes their own time. One that panics has
/// failed: nothing of the session's is changed while it is asked, and what it left of its own in disorder is behind its own locks.
pub(super) async fn asked(
    summarizer: &dyn Summarizer,
    request: SummaryRequest<'_>,
    sleep: &dyn Sleep,
    limit: Duration,
) -> Result<Draft, SummarizeError> {
    let mut asking = pin!(asked_unguarded(summarizer, request, sleep, limit));
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| asking.as_mut().poll(context)));
        polled.unwrap_or(Poll::Ready(Err(SummarizeError::Panicked)))
    })
    .await
}

async fn asked_unguarded(
    summarizer: &dyn Summarizer,
    request: SummaryRequest<'_>,
    sleep: &dyn Sleep,
    limit: Duration,
) -> Result<Draft, SummarizeError> {
    let reviewed = summarizer.as_reviewed();
    let writer = reviewed.map_or(summarizer, Reviewed::writer);
    let written = writer.summarize(request);
    let draft = match writer.ends_by_itself() {
        true => written.await,
        false => within(written, sleep.sleep(limit))
            .await
            .unwrap_or(Err(SummarizeError::TimedOut { after: limit })),
    }?;
    match reviewed {
        Some(reviewed) => reviewed.review(draft, &request).await,
        None => Ok(draft),
    }
}

/// Returns whether rules wrote this where models were asked, none of which gave a summary. Where none has room for the prompt,
/// none is asked, and the next attempt would end the same.
pub(super) fn is_in_a_models_place(draft: &Draft, summarizer: &dyn Summarizer, job: &Job) -> bool {
    draft.mode == SummaryMode::Rules
        && !draft.attempts.is_empty()
        && summarizer.plan(&job.request()).max_calls > 0
}

/// Why originals stay although they are to be deleted.
const NO_ROOM: &str = "the summary has no room to tell of them";

/// Returns what is the matter, without what it means for the context.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::Compact(error) => error.to_string(),
        error => error.source().unwrap_or(error).to_string(),
    }
}
