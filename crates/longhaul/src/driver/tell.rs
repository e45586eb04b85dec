//! Telling observers what happened.

use longhaul_summarize::{Attempt, SummarizeError, Summarizer};
use longhaul_transcript::one_line;

use super::{Error, Session, builder};
use crate::{
    compact::Cut,
    config::Config,
    event::{Event, EventKind, Finish},
    policy::Hold,
    session::{Job, Rewrite},
};

impl Session {
    /// Tells why nothing is done, once for each reason.
    pub(super) fn note(&mut self, hold: Hold) {
        let name = hold.as_str();
        let is_news = self.told != Some(name);
        self.told = Some(name);
        if is_news && !matches!(hold, Hold::BelowTrigger { .. } | Hold::Disabled) {
            self.tell(EventKind::Skipped { hold });
        }
    }

    /// Tells which settings have no effect on this session.
    pub(super) fn tell_unused(&self, config: &Config) {
        for (setting, why) in
            builder::check::unused(config, self.summarizer.as_deref(), self.journal.is_some())
        {
            self.tell_setting(setting, why);
        }
        let (window, budget) = (self.state.window(), self.state.budget());
        for adjustment in config.not_used(window, budget) {
            self.tell_setting(&adjustment.setting.to_string(), &adjustment.why());
        }
        if let Some(why) = config.summary_limit_unused(window, budget) {
            self.tell_setting("max_summary_tokens", &why);
        }
    }

    pub(super) fn tell_setting(&self, setting: &str, why: &str) {
        self.tell(EventKind::SettingUnused { setting: setting.to_owned(), why: why.to_owned() });
    }

    /// Tells which calls may be made for a summary, where any may. Nobody listens, nothing is planned: a plan renders
    /// what would be sent.
    pub(super) fn tell_calls(&self, summarizer: &dyn Summarizer, job: &Job) {
        if self.observers.0.is_empty() {
            return;
        }
        let plan = summarizer.plan(&job.request());
        if plan.max_calls == 0 {
            return;
        }
        let asked = || plan.models.iter().filter(|model| model.passes > 0);
        self.tell(EventKind::Asking {
            models: asked().map(|model| model.model.clone()).collect(),
            parts: asked().map(|model| model.passes as u64).max().unwrap_or(0),
            max_calls: plan.max_calls,
        });
    }

    pub(super) fn tell_attempts(&self, attempts: &[Attempt]) {
        for attempt in attempts {
            self.tell(EventKind::SummarizerFailed {
                summarizer: attempt.summarizer.clone(),
                error: attempt.reason.clone(),
                duration_ms: attempt.duration_ms,
            });
        }
    }

    /// Tells that the summarizer gave nothing that can be used, where it does not say itself what it tried.
    pub(super) fn tell_no_summary(&self, error: String, asked: Option<i64>) {
        let summarizer = "summarizer".to_owned();
        self.tell(EventKind::SummarizerFailed { summarizer, error, duration_ms: self.since(asked) });
    }

    /// Returns how long it is since then, in milliseconds; 0 without a clock.
    pub(super) fn since(&self, started: Option<i64>) -> u64 {
        let passed = self.now_ms().zip(started).map(|(now, started)| now.saturating_sub(started));
        passed.and_then(|passed| u64::try_from(passed).ok()).unwrap_or(0)
    }

    pub(super) fn tell_rewrite(&self, rewrite: &Rewrite, duration_ms: u64) {
        let outcome = rewrite.outcome;
        if let Some(Cut { id, whole, left }) = rewrite.cut {
            self.tell(EventKind::RequestCut { message: id.ordinal, message_tokens: whole, left });
        }
        let base = self.state.base();
        let decided_on = rewrite.reason.tokens().unwrap_or_default().max(outcome.tokens_before);
        self.tell(match &rewrite.record {
            Some(record) => EventKind::Finished(Box::new(Finish {
                summary: record.id.clone(),
                action: rewrite.action,
                reason: rewrite.reason,
                depth: record.depth,
                covers: record.covers,
                mode: record.mode,
                model: record.model.clone(),
                tokens_before: outcome.tokens_before,
                tokens_after: outcome.tokens_after,
                ratio_before: decided_on.ratio_of(base),
                ratio_after: outcome.tokens_after.ratio_of(base),
                summary_tokens: record.tokens,
                compressed_messages: outcome.summarized as u64,
                digested: outcome.digested as u64,
                kept_verbatim: outcome.kept_verbatim as u64,
                duration_ms,
                cost: record.cost,
                survival: record.survival.clone(),
            })),
            None => EventKind::Trimmed {
                action: rewrite.action,
                reason: rewrite.reason,
                tokens_before: outcome.tokens_before,
                tokens_after: outcome.tokens_after,
                digested: outcome.digested as u64,
                dropped: outcome.dropped as u64,
            },
        });
    }

    /// Returns what a summarizer or a store of the caller's says, which may be anything: in one line, without secrets.
    pub(super) fn fit_to_show(&self, said: &str) -> String {
        let without = self.state.redactor().map(|redactor| redactor.redact_text(said).0);
        one_line(without.as_deref().unwrap_or(said)).chars().filter(|c| !c.is_control()).collect()
    }

    /// Returns the error in words that may be shown.
    pub(super) fn summarize_error(&self, mut error: SummarizeError) -> Error {
        match &mut error {
            SummarizeError::Failed { reason } => *reason = self.fit_to_show(reason),
            SummarizeError::Exhausted { attempts } => {
                attempts.iter_mut().for_each(|attempt| attempt.reason = self.fit_to_show(&attempt.reason));
            }
            _ => {}
        }
        Error::Summarize(error)
    }

    pub(super) fn tell(&self, mut kind: EventKind) {
        if self.observers.0.is_empty() {
            return;
        }
        if let Some(error) = kind.error_mut() {
            *error = self.fit_to_show(error);
        }
        let (tokens, budget) = (self.state.tokens(), self.state.budget());
        let session = self.state.session().clone();
        self.observers.tell(&Event::new(session, tokens, tokens.ratio_of(budget), kind));
    }
}
