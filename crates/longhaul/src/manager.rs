//! The async driver around the state: asks a summarizer where one is set, falls back to rules, tells observers.

mod builder;
mod by_hand;
mod journal;
mod tell;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};

use longhaul_store::StoreError;
use longhaul_summarize::{Draft, SummarizeError, Summarizer};
use longhaul_transcript::{Clock, Message, MessageId, SessionId, SummaryMode, Tokens, Usage};

pub use builder::{Builder, ResumeError};
pub use by_hand::Basis;

use self::journal::{Journal, Step};

use crate::{
    compact::{AssembleError, CompactError},
    config::{Config, Oversize},
    event::{EventKind, Observer, Observers},
    policy::{Action, Decision, Hold, Reason},
    state::{ContextState, Finished, Job, Rewrite, RewriteError, Sent, UsageVerdict, View},
};

/// Keeps a conversation within a model's window: [`push`](Self::push) every message, [`prepare`](Self::prepare) before
/// every request, [`report_usage`](Self::report_usage) after it.
///
/// ```
/// use longhaul::{ContextManager, transcript::{Message, SessionId, Tokens}};
/// use longhaul::tokens::ContextWindow;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let window = ContextWindow::new(Tokens(4_000), Tokens(500));
/// let mut context = ContextManager::builder(SessionId::new("demo")?, window).build()?;
/// for nth in 0..200 {
///     context.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
///     context.push(Message::assistant(format!("It computes the value number {nth}, and nothing else.")));
///     let view = context.prepare().await?; // what to send
///     assert!(view.tokens() <= Tokens(3_500));
/// }
/// assert!(context.state().summary().is_some());
/// assert_eq!(context.state().transcript().len(), 400); // nothing is lost
/// # Ok(()) }
/// ```
///
/// Every future may be dropped at any await: until a compaction is applied, which takes no await, nothing has changed.
#[derive(Debug)]
pub struct ContextManager {
    state: ContextState,
    summarizer: Option<Arc<dyn Summarizer>>,
    clock: Option<Arc<dyn Clock>>,
    journal: Option<Journal>,
    observers: Observers,
    /// The reason that was last told for not acting.
    told: Option<&'static str>,
    /// Lives as long as the job that is under way elsewhere.
    background: Weak<()>,
}

/// A compaction that is made elsewhere while the conversation goes on. Dropping it calls it off.
#[derive(Debug)]
pub struct Background {
    job: Job,
    _under_way: Arc<()>,
}

/// The context could not be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What must stay is larger than the budget, or longhaul is switched off and the conversation has outgrown it.
    #[error(
        "the context costs {tokens} tokens, {over} over the budget of {budget}; at least {floor} must stay ({hold})"
    )]
    OverBudget {
        /// What the context costs.
        tokens: Tokens,
        /// What it may cost.
        budget: Tokens,
        /// By how much it is over.
        over: Tokens,
        /// What the deepest compaction would leave.
        floor: Tokens,
        /// Why nothing more is done.
        hold: Hold,
    },
    /// No model gave a summary and `abort_on_failure` is set. The context is as it was.
    #[error("no summary could be made")]
    Summarize(#[source] SummarizeError),
    /// A compaction that was asked for is impossible, or there is no use in it.
    #[error("the context cannot be compacted")]
    Compact(#[source] CompactError),
    /// A summary is larger than it was allowed to be.
    #[error("the summary cannot be used")]
    Draft(#[source] AssembleError),
    /// The store could not be read or written. The context is as it was.
    #[error("the store failed")]
    Store(#[source] StoreError),
    /// A compaction was made and could not be applied.
    #[error("the compaction could not be applied")]
    Rewrite(#[source] RewriteError),
}

/// How often a decision is carried out before the next request; the policy settles in fewer.
const MAX_ROUNDS: usize = 6;

impl ContextManager {
    /// Returns a builder for a conversation in a window.
    pub fn builder(session: SessionId, window: longhaul_tokens::ContextWindow) -> Builder {
        Builder::new(session, window)
    }

    /// Adds a message at the end and returns its id.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let id = self.state.push(message);
        let message_tokens = self.state.cost(id.ordinal);
        self.tell(EventKind::Counted { message: id.ordinal, message_tokens });
        id
    }

    /// Returns what to send to the model, compacted first where the policy says so.
    ///
    /// # Errors
    /// When what must stay does not fit, with the floor and by how much it is over; and, with `abort_on_failure`, when
    /// no summary could be made. No message is lost either way.
    pub async fn prepare(&mut self) -> Result<View<'_>, Error> {
        for _ in 0..MAX_ROUNDS {
            let (action, reason) = match self.decide() {
                Decision::Act { action, reason } => (action, reason),
                Decision::Hold(hold) => {
                    self.note(hold);
                    break;
                }
            };
            let is_emergency = matches!(action, Action::Emergency { .. });
            if !is_emergency && self.background.strong_count() > 0 {
                break;
            }
            self.told = None;
            // Of any other failure the policy was told: it holds, or makes its one attempt at the limit.
            if let Err(error @ (Error::Summarize(_) | Error::Store(_))) = self.act(action, reason, None).await
            {
                return Err(error);
            }
        }
        self.checked_view()
    }

    /// Compacts now, whatever the policy says, with a view to `goal` where one is given.
    ///
    /// # Errors
    /// When there is nothing to compact, what must stay does not fit, or nothing would be gained.
    pub async fn compact(&mut self, goal: Option<&str>) -> Result<Rewrite, Error> {
        let config = self.state.config();
        let rebuild = self.state.measure(None).next_depth >= config.max_summary_chain_depth;
        self.act(Action::Summarize { rebuild }, Reason::Manual, goal).await
    }

    /// Takes what the provider reported for a request made from [`View::sent`].
    pub fn report_usage(&mut self, sent: Sent, usage: &Usage) -> UsageVerdict {
        let verdict = self.state.report_usage(sent, usage);
        if let Some(now_ms) = self.now_ms() {
            self.state.requested(now_ms);
        }
        self.tell(EventKind::UsageReported { verdict, reported: usage.prompt_total() });
        verdict
    }

    /// Returns a compaction to be made elsewhere, where the policy asks for a summary and there is time: not in an
    /// emergency, and not while another one is under way.
    pub fn start_background(&mut self) -> Option<Background> {
        if self.background.strong_count() > 0 {
            return None;
        }
        let Decision::Act {
            action: action @ (Action::Summarize { .. } | Action::SummarizeRules { .. }),
            reason,
        } = self.decide()
        else {
            return None;
        };
        let job = self.plan(action, reason, None).ok()?;
        if let Some(summarizer) = self.summarizer.as_deref().filter(|_| self.asks_model(action, &job)) {
            self.tell_calls(summarizer, &job);
        }
        let under_way = Arc::new(());
        self.background = Arc::downgrade(&under_way);
        Some(Background { job, _under_way: under_way })
    }

    /// Applies a compaction that was made elsewhere. With a store the record is written first.
    ///
    /// # Errors
    /// When the context was rewritten meanwhile, or nothing would be gained. The context is then as it was.
    pub async fn finish_background(
        &mut self,
        background: Background,
        draft: Draft,
    ) -> Result<Rewrite, Error> {
        let Background { job, _under_way } = background;
        self.tell_attempts(&draft.attempts);
        let reason = job.reason();
        let finished = job.finish(draft).map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Draft(error)
        })?;
        self.apply(finished, None).await
    }

    /// Puts the context back as it was before the last rewrite, and returns whether there was one.
    ///
    /// # Errors
    /// When the store cannot be written; the context is then as it was.
    pub async fn undo(&mut self) -> Result<bool, Error> {
        self.step(Step::Undo).await
    }

    /// Applies the last undone rewrite again, and returns whether there was one.
    ///
    /// # Errors
    /// When the store cannot be written; the context is then as it was.
    pub async fn redo(&mut self) -> Result<bool, Error> {
        self.step(Step::Redo).await
    }

    /// Writes the messages said so far into the store, where there is one, and what was learned from reported usage. A compaction does this by itself; call it when
    /// a conversation pauses or ends.
    ///
    /// # Errors
    /// When the store cannot be written. What was not written is written with the next call.
    pub async fn save(&mut self) -> Result<(), Error> {
        match &mut self.journal {
            Some(journal) => journal.save(&self.state, self.clock.as_deref()).await.map_err(Error::Store),
            None => Ok(()),
        }
    }

    async fn step(&mut self, step: Step) -> Result<bool, Error> {
        let makes_summary = match step {
            Step::Undo => self.state.undoes_summary(),
            Step::Redo => self.state.redoes_summary(),
        };
        // The store knows compactions; a pass of the soft tier is the view's own.
        if let (Some(true), Some(journal)) = (makes_summary, &self.journal) {
            journal.step(&self.state, step, self.clock.as_deref()).await.map_err(Error::Store)?;
        }
        let (is_done, kind) = match step {
            Step::Undo => (self.state.undo(), EventKind::Undone),
            Step::Redo => (self.state.redo(), EventKind::Redone),
        };
        if is_done {
            self.tell(kind);
        }
        Ok(is_done)
    }

    /// Switches to another model; see [`ContextState::switch_model`]. The next [`prepare`](Self::prepare) compacts where
    /// the context is too large for it.
    pub fn switch_model(
        &mut self,
        window: longhaul_tokens::ContextWindow,
        counter: Arc<dyn longhaul_tokens::TokenCounter>,
        config: Config,
    ) {
        self.state.switch_model(window, counter, config);
        self.tell(EventKind::ModelSwitched { window: window.window, budget: self.state.budget() });
    }

    /// Says which model at which endpoint the conversation goes on with (see [`ContextState::set_endpoint`]).
    pub fn set_endpoint(&mut self, model: &str, endpoint: &str) {
        self.state.set_endpoint(model, endpoint);
    }

    /// Sets what every request costs beside the messages (see [`ContextState::set_fixed_overhead`]).
    pub fn set_fixed_overhead(&mut self, tokens: Tokens) {
        self.state.set_fixed_overhead(tokens);
    }

    /// Returns what the policy would do now, and why.
    pub fn decide(&self) -> Decision {
        self.state.decide(self.now_ms())
    }

    /// Returns the state.
    pub fn state(&self) -> &ContextState {
        &self.state
    }

    fn checked_view(&self) -> Result<View<'_>, Error> {
        let m = self.state.measure(self.now_ms());
        if m.tokens <= m.budget {
            return Ok(self.state.view());
        }
        let over = m.tokens - m.budget;
        let hold = match self.decide() {
            Decision::Hold(hold) => hold,
            Decision::Act { .. } => Hold::Exhausted { floor: m.floor, over },
        };
        Err(Error::OverBudget { tokens: m.tokens, budget: m.budget, over, floor: m.floor, hold })
    }

    async fn act(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Rewrite, Error> {
        if !action.makes_summary() {
            let rewrite = self.state.soften(action, reason, self.now_ms());
            return match rewrite {
                Ok(rewrite) => {
                    self.tell_rewrite(&rewrite, 0);
                    Ok(rewrite)
                }
                Err(error) => {
                    self.fail(reason, error.to_string());
                    Err(Error::Rewrite(error))
                }
            };
        }
        let started = self.now_ms();
        let job = self.plan(action, reason, goal)?;
        let finished = match self.asks_model(action, &job) {
            true => self.summarize(job).await?,
            false => self.by_rule(job)?,
        };
        self.apply(finished, started).await
    }

    fn plan(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        let job = self.state.plan(action, reason, goal, self.now_ms()).map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })?;
        self.tell(EventKind::Started {
            action,
            reason,
            depth: job.depth(),
            compressed_messages: job.covered() as u64,
        });
        Ok(job)
    }

    fn asks_model(&self, action: Action, job: &Job) -> bool {
        let config = self.state.config();
        let may = match action {
            Action::SummarizeRules { .. } | Action::Emergency { by_rule: true, .. } => false,
            _ => config.mode != SummaryMode::Rules,
        };
        let is_too_large = config.oversize == Oversize::Rules
            && config.transcript_cap_tokens.is_some_and(|cap| job.span_tokens() > cap);
        may && self.summarizer.is_some() && !is_too_large
    }

    /// Asks the summarizer, and falls back to rules where it gives nothing that can be used.
    async fn summarize(&mut self, job: Job) -> Result<Finished, Error> {
        let Some(summarizer) = self.summarizer.clone() else { return self.by_rule(job) };
        self.tell_calls(&*summarizer, &job);
        let error = match summarizer.summarize(job.request()).await {
            Ok(draft) => {
                self.tell_attempts(&draft.attempts);
                match job.clone().finish(draft) {
                    Ok(finished) => return Ok(finished),
                    Err(error) => {
                        self.tell(EventKind::SummarizerFailed {
                            summarizer: "summarizer".to_owned(),
                            error: error.to_string(),
                            duration_ms: 0,
                        });
                        return self.by_rule(job);
                    }
                }
            }
            Err(error) => error,
        };
        if let SummarizeError::Exhausted { attempts } = &error {
            self.tell_attempts(attempts);
        }
        // At the hard limit there must be an attempt that cannot fail for want of a model.
        let must_go_on = matches!(job.action(), Action::Emergency { .. });
        if self.state.config().abort_on_failure && !must_go_on {
            self.fail(job.reason(), error.to_string());
            return Err(Error::Summarize(error));
        }
        self.by_rule(job)
    }

    fn by_rule(&mut self, job: Job) -> Result<Finished, Error> {
        let reason = job.reason();
        job.finish_by_rule().map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })
    }

    /// Writes the record down where there is a store, then applies it. The write is idempotent, so that a future dropped
    /// in between loses nothing: the record is written again with the next attempt, or never becomes the head.
    async fn apply(&mut self, mut finished: Finished, started: Option<i64>) -> Result<Rewrite, Error> {
        let duration_ms = match (self.now_ms(), started) {
            (Some(now), Some(started)) => u64::try_from(now.saturating_sub(started)).unwrap_or(0),
            _ => 0,
        };
        finished.record_mut().duration_ms = duration_ms;
        let reason = finished.reason();
        if let Err(error) = self.state.check(&finished) {
            self.fail(reason, error.to_string());
            return Err(Error::Rewrite(error));
        }
        if let Some(journal) = &mut self.journal {
            let written = journal.append(&self.state, finished.record(), self.clock.as_deref()).await;
            if let Err(error) = written {
                self.fail(reason, error.to_string());
                return Err(Error::Store(error));
            }
        }
        let rewrite = self.state.apply(finished).map_err(Error::Rewrite)?;
        self.tell_rewrite(&rewrite, duration_ms);
        if let (true, Some(journal), Some(record)) =
            (self.state.config().delete_originals, &mut self.journal, &rewrite.record)
        {
            let deleted = journal.delete_originals(self.state.session(), record, self.clock.as_deref()).await;
            deleted.map_err(Error::Store)?;
        }
        Ok(rewrite)
    }

    fn fail(&mut self, reason: Reason, error: String) {
        self.state.failed(reason, self.now_ms());
        let failures = self.state.policy().failures();
        self.tell(EventKind::Failed { reason, error, failures });
    }

    fn now_ms(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now_ms())
    }
}

impl Background {
    /// Returns the compaction, for [`Job::request`] to a summarizer.
    pub fn job(&self) -> &Job {
        &self.job
    }
}
