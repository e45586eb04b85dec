//! The async driver around the state: a store, a summarizer, observers, a clock.

mod branches;
mod builder;
mod by_hand;
mod facts;
mod journal;
#[cfg(test)]
mod kept;
mod recall;
mod tell;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod troubled;
#[cfg(test)]
mod troubles;
mod wait;

use std::{
    error::Error as _,
    sync::{Arc, Weak},
};

use longhaul_store::{StoreError, SummaryStore};
use longhaul_summarize::{Draft, SummarizeError, Summarizer};
use longhaul_tokens::{ContextWindow, Prices};
use longhaul_transcript::{
    Clock, Message, MessageId, SessionId, Span, SummaryId, SummaryMode, SummaryRecord, Tokens, Usage,
};

pub use branches::Overtaken;
pub use builder::{BuildError, Builder, OpenError};
pub use by_hand::Basis;
pub use recall::RecallTool;

use self::journal::{Journal, Step};
use crate::{
    compact::{AssembleError, CompactError},
    config::Config,
    event::{EventKind, Observer, Observers},
    policy::{Action, Decision, Hold, Reason},
    session::{
        BranchError, Finished, Job, PinError, Rewrite, RewriteError, SessionState, UsageVerdict, View,
        ViewId, leaves_out,
    },
};

/// A conversation with its context kept within a window: push what is said, [`prepare`](Self::prepare) before every
/// request, [`report_usage`](Self::report_usage) after it.
///
/// ```
/// use longhaul::{Session, transcript::{Message, SessionId, Tokens}};
/// use longhaul::tokens::ContextWindow;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let window = ContextWindow::new(Tokens(4_000), Tokens(500));
/// let mut session = Session::builder(SessionId::new("demo")?, window).build()?;
/// for nth in 0..200 {
///     session.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
///     session.push(Message::assistant(format!("It computes the value number {nth}, and nothing else.")));
///     let view = session.prepare().await?; // what to send
///     assert!(view.tokens() <= Tokens(3_500));
/// }
/// assert!(session.state().summary().is_some());
/// assert_eq!(session.state().originals().len(), 400); // nothing is lost
/// # Ok(()) }
/// ```
///
/// With a store every message is written before [`prepare`](Self::prepare) returns, and what `open` or
/// [`Builder::open`] finds there goes on as if it had never been interrupted.
///
/// Every future may be dropped at any await: a compaction, an undo or another way is then as if it had not been asked for,
/// or whole. What the store took of it without an answer, the next write takes back.
#[derive(Debug)]
pub struct Session {
    state: SessionState,
    summarizer: Option<Arc<dyn Summarizer>>,
    clock: Option<Arc<dyn Clock>>,
    journal: Option<Journal>,
    observers: Observers,
    /// The reason that was last told for not acting.
    told: Option<&'static str>,
    /// Lives as long as the job that is under way elsewhere.
    background: Weak<()>,
    /// Counts what changed beside messages.
    changes: u64,
    overtaken: Overtaken,
    durability: Durability,
}

/// When what is said is written into the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Before [`Session::prepare`] returns.
    #[default]
    EachPrepare,
    /// Before [`Session::push`] returns, which waits for the store on the calling thread: the store must not need a runtime
    /// of that very thread. Where the store fails, the message is in the session all the same and observers are told
    /// ([`EventKind::NotSaved`]); it is written with the next push, or with [`Session::prepare`], which fails where it
    /// cannot be.
    EachPush,
}

/// A compaction that is made elsewhere while the conversation goes on. Dropping it calls it off.
#[derive(Debug)]
pub struct Background {
    job: Job,
    _under_way: Arc<()>,
}

/// Returns the session `name` in `store`, new or as it was left: the same call for both. Settings, a summarizer and the
/// rest are [`Session::builder`]'s. Where it was left in the middle of tool calls, run
/// [`open_calls`](SessionState::open_calls) and push their results first: no provider takes a request without them.
///
/// ```
/// use std::sync::Arc;
/// use longhaul::{store::MemoryStore, tokens::ContextWindow, transcript::{Message, Tokens}};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, window) = (Arc::new(MemoryStore::default()), ContextWindow::new(Tokens(32_000), Tokens(4_000)));
/// let mut session = longhaul::open(store.clone(), "fix-the-build", window).await?;
/// session.push(Message::user("Fix the build, please."));
/// session.prepare().await?;
/// drop(session); // killed, say
///
/// let session = longhaul::open(store, "fix-the-build", window).await?;
/// assert_eq!(session.state().originals().len(), 1);
/// # Ok(()) }
/// ```
///
/// # Errors
/// When the name cannot be a session's, or the store cannot be read.
pub async fn open(
    store: Arc<dyn SummaryStore>,
    name: &str,
    window: ContextWindow,
) -> Result<Session, OpenError> {
    Session::builder(SessionId::new(name)?, window).store(store).open().await
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
    /// The compaction cannot be undone: messages that its summary replaces were deleted ([`Config::delete_originals`], or
    /// by hand), and the summary is what is left of them. The context is as it was.
    #[error(
        "the compaction cannot be undone: {messages} of the messages that its summary replaces were deleted"
    )]
    OnlyInSummary {
        /// How many were deleted.
        messages: u64,
    },
    /// A compaction was made and could not be applied.
    #[error("the compaction could not be applied")]
    Rewrite(#[source] RewriteError),
    /// A message could not be pinned.
    #[error(transparent)]
    Pin(PinError),
    /// A branch could not be begun.
    #[error(transparent)]
    Branch(BranchError),
    /// What was pushed is no message of its format.
    #[cfg(feature = "wire")]
    #[error("the message cannot be read")]
    Wire(#[source] longhaul_wire::WireError),
    /// A history could not be followed.
    #[cfg(feature = "wire")]
    #[error(transparent)]
    Sync(crate::session::SyncError),
}

/// An exchange is hardly longer.
const NEAR: u64 = 64;

/// How often a decision is carried out before the next request; the policy settles in fewer.
const MAX_ROUNDS: usize = 6;

impl Session {
    /// Returns a builder for a conversation in a window.
    pub fn builder(session: SessionId, window: ContextWindow) -> Builder {
        Builder::new(session, window)
    }

    /// Adds a message at the end and returns its id.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let id = self.state.push(message);
        let message_tokens = self.state.cost(id.ordinal);
        self.tell(EventKind::Counted { message: id.ordinal, message_tokens });
        if self.durability == Durability::EachPush {
            // What is not written stays to be written: `prepare` fails where it cannot be.
            if let Err(error) = wait::wait(self.save()) {
                let error = error.source().unwrap_or(&error).to_string();
                self.tell(EventKind::NotSaved { message: id.ordinal, error });
            }
        }
        id
    }

    /// Returns what to send to the model, compacted first where the policy says so.
    ///
    /// # Errors
    /// When what must stay does not fit, with the floor and by how much it is over; and, with `abort_on_failure`, when
    /// no summary could be made. No message is lost either way.
    pub async fn prepare(&mut self) -> Result<View, Error> {
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
        self.save().await?;
        if let Some(journal) = &self.journal {
            journal.let_go(&mut self.state);
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

    /// Takes what the provider reported for the request that was made from the view with this [id](View::id).
    pub fn report_usage(&mut self, view: ViewId, usage: &Usage) -> UsageVerdict {
        let verdict = self.state.report_usage(view, usage);
        if let Some(now_ms) = self.now_ms() {
            self.state.requested(now_ms);
        }
        self.tell(EventKind::UsageReported { verdict, reported: usage.prompt_total() });
        verdict
    }

    /// Returns a compaction to be made elsewhere, where the policy asks for a summary and there is time: not in an
    /// emergency, not while another one is under way, and not where originals must be read from the store for it, which
    /// [`prepare`](Self::prepare) does.
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
        if self.journal.is_some() && !self.state.wanted_by(action).is_empty() {
            return None;
        }
        // Rules take no time to speak of: `prepare` makes it, and says why no model was asked.
        let is_by_rule = self.state.config().mode == SummaryMode::Rules;
        if !is_by_rule && !self.may_ask_model(action) {
            return None;
        }
        let job = self.planned(action, reason, None).ok()?;
        if !is_by_rule && job.too_large_for_model(self.state.config()).is_some() {
            return None;
        }
        self.tell_started(&job);
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

    /// Puts the context back as it was before the last rewrite, and returns whether it did: not where there was none, nor
    /// where a summary that the context showed then was destroyed in the store. What was before that one cannot be had
    /// again either.
    ///
    /// # Errors
    /// [`Error::OnlyInSummary`] where messages that the summary replaces were deleted; when the store cannot be written. The
    /// context is then as it was.
    pub async fn undo(&mut self) -> Result<bool, Error> {
        self.step(Step::Undo).await
    }

    /// Applies the last undone rewrite again, and returns whether it did; see [`undo`](Self::undo).
    ///
    /// # Errors
    /// When the store cannot be written; the context is then as it was.
    pub async fn redo(&mut self) -> Result<bool, Error> {
        self.step(Step::Redo).await
    }

    /// Writes what was said so far into the store, where there is one. [`prepare`](Self::prepare) does this by itself; call
    /// it after a push that must not wait for the next request, and when a conversation ends.
    ///
    /// # Errors
    /// When the store cannot be written, or another writer has said something in this session meanwhile and it is to
    /// [stop](Overtaken::Stop) then. What was not written is written with the next call.
    pub async fn save(&mut self) -> Result<(), Error> {
        if let Err(error) = self.write().await {
            if !self.is_overtaken(&error) {
                return Err(Error::Store(error));
            }
            self.branch_off().await?;
            self.write().await.map_err(Error::Store)?;
        }
        self.keep_learned().await;
        Ok(())
    }

    /// Keeps what was learned of the provider's counting for other conversations. This one does without: where that cannot
    /// be written, observers are told once, and it is tried again.
    async fn keep_learned(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        if let Some(error) = journal.save_learned(&self.state).await {
            self.tell(EventKind::CalibrationNotKept { error: error.to_string() });
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        match &mut self.journal {
            Some(journal) => journal.save(&self.state, self.changes, self.clock.as_deref()).await,
            None => Ok(()),
        }
    }

    /// Keeps a message in every view, whole. See [`SessionState::pin`].
    ///
    /// # Errors
    /// When there is no such message, or the store cannot be read.
    pub async fn pin(&mut self, id: MessageId) -> Result<(), Error> {
        if id.ordinal < self.state.originals().len() as u64 {
            // Its exchange goes with it.
            let span = Span { start: id.ordinal.saturating_sub(NEAR), end: id.ordinal + NEAR };
            let wanted = self.state.originals().missing([span]);
            self.fetch(wanted).await?;
        }
        if self.state.pin(id).map_err(Error::Pin)? {
            self.tell(EventKind::Rewritten);
        }
        self.changes += 1;
        Ok(())
    }

    /// Lets compactions have a pinned message again, and returns whether it was pinned.
    pub fn unpin(&mut self, id: MessageId) -> bool {
        self.changes += 1;
        self.state.unpin(id)
    }

    /// Sets a named memory block. See [`SessionState::set_memory`].
    pub fn set_memory(&mut self, name: &str, text: &str) {
        if self.state.set_memory(name, text) {
            self.changes += 1;
            self.tell(EventKind::Rewritten);
        }
    }

    async fn step(&mut self, step: Step) -> Result<bool, Error> {
        match self.try_step(step).await {
            Err(Error::Store(error)) if self.is_overtaken(&error) => {
                self.branch_off().await?;
                self.try_step(step).await
            }
            done => done,
        }
    }

    async fn try_step(&mut self, step: Step) -> Result<bool, Error> {
        self.fetch(match step {
            Step::Undo => self.state.wanted_by_undo(),
            Step::Redo => self.state.wanted_by_redo(),
        })
        .await?;
        let wanted = match step {
            Step::Undo => self.state.summaries_wanted_by_undo(),
            Step::Redo => self.state.summaries_wanted_by_redo(),
        };
        if !wanted.is_empty() && !self.fetch_summaries(&wanted).await? {
            return Ok(false);
        }
        let summary = |state: &SessionState| state.summary().map(|record| record.id.clone());
        let mut stepped = self.state.clone();
        let (is_done, kind) = match step {
            Step::Undo => (stepped.undo(), EventKind::Undone),
            Step::Redo => (stepped.redo(), EventKind::Redone),
        };
        if !is_done {
            return Ok(false);
        }
        if let Some(journal) = &mut self.journal {
            // The store knows summaries; a pass of the soft tier is the view's own.
            let (before, after) = (summary(&self.state), summary(&stepped));
            let record = if step == Step::Undo { before.clone() } else { after.clone() };
            let record = record.filter(|_| before != after);
            if let (Step::Undo, Some(_), Some(undone)) = (step, &record, self.state.summary()) {
                match journal.only_in(undone).await.map_err(Error::Store)? {
                    0 => {}
                    messages => return Err(Error::OnlyInSummary { messages }),
                }
            }
            let kept = journal.step(&stepped, step, record, self.changes + 1, self.clock.as_deref()).await;
            kept.map_err(Error::Store)?;
        }
        self.state = stepped;
        self.changes += 1;
        self.tell(kind);
        Ok(true)
    }

    /// Switches to another model; see [`SessionState::switch_model`]. The next [`prepare`](Self::prepare) compacts where
    /// the context is too large for it.
    pub fn switch_model(
        &mut self,
        window: ContextWindow,
        counter: Arc<dyn longhaul_tokens::TokenCounter>,
        config: Config,
    ) {
        self.state.switch_model(window, counter, config);
        self.tell(EventKind::ModelSwitched { window: window.window, budget: self.state.budget() });
    }

    /// Sets what the model's tokens cost (see [`SessionState::set_prices`]).
    pub fn set_prices(&mut self, prices: Prices) {
        self.state.set_prices(prices);
    }

    /// Says which model at which endpoint the conversation goes on with (see [`SessionState::set_endpoint`]).
    pub fn set_endpoint(&mut self, model: &str, endpoint: &str) {
        self.state.set_endpoint(model, endpoint);
    }

    /// Sets what every request costs beside the messages (see [`SessionState::set_fixed_overhead`]).
    pub fn set_fixed_overhead(&mut self, tokens: Tokens) {
        self.state.set_fixed_overhead(tokens);
    }

    /// Returns what the policy would do now, and why.
    pub fn decide(&self) -> Decision {
        self.state.decide(self.now_ms())
    }

    /// Returns the state.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    fn checked_view(&mut self) -> Result<View, Error> {
        let m = self.state.measure(self.now_ms());
        if m.tokens <= m.budget {
            return Ok(self.state.send());
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
                    self.changes += 1;
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
        let job = self.plan(action, reason, goal).await?;
        if let (true, Some(_), Some((tokens, limit))) =
            (self.may_ask_model(action), &self.summarizer, job.too_large_for_model(self.state.config()))
        {
            self.tell(EventKind::TooLargeForModel { tokens_to_summarize: tokens, limit });
        }
        let finished = match self.asks_model(action, &job) {
            true => self.summarize(job).await?,
            false => self.by_rule(job)?,
        };
        self.apply(finished, started).await
    }

    async fn plan(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        self.fetch_for(action).await?;
        self.plan_at_hand(action, reason, goal)
    }

    /// Reads what a compaction needs and is not at hand.
    async fn fetch_for(&mut self, action: Action) -> Result<(), Error> {
        self.fetch_facts().await?;
        loop {
            let wanted = self.state.wanted_by(action);
            if wanted.is_empty() || self.journal.is_none() {
                return Ok(());
            }
            self.fetch(wanted).await?;
        }
    }

    /// Takes up the facts that were read before the session was resumed or took another way, and reads what was said
    /// since.
    async fn fetch_facts(&mut self) -> Result<(), Error> {
        let Some(journal) = self.journal.as_ref().filter(|_| self.state.facts().is_none()) else {
            return Ok(());
        };
        let Some((facts, through)) = journal.facts().await.map_err(Error::Store)? else { return Ok(()) };
        let since = Span { start: through, end: self.state.originals().len() as u64 };
        self.fetch(self.state.originals().missing([since])).await?;
        self.state.take_facts(facts, through);
        Ok(())
    }

    async fn fetch(&mut self, spans: Vec<Span>) -> Result<(), Error> {
        match &self.journal {
            Some(journal) => journal.put_back(&mut self.state, spans).await.map_err(Error::Store),
            None => Ok(()),
        }
    }

    /// Reads summaries that can be shown again. Returns whether all of them are there.
    async fn fetch_summaries(&mut self, ids: &[SummaryId]) -> Result<bool, Error> {
        let Some(journal) = &self.journal else { return Ok(false) };
        for id in ids {
            let Some(record) = journal.summary(id).await.map_err(Error::Store)? else { return Ok(false) };
            self.state.put_back_summary(&record);
        }
        Ok(true)
    }

    fn plan_at_hand(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        let job = self.planned(action, reason, goal)?;
        self.tell_started(&job);
        Ok(job)
    }

    fn planned(&mut self, action: Action, reason: Reason, goal: Option<&str>) -> Result<Job, Error> {
        let job = self.state.plan(action, reason, goal, self.now_ms()).map_err(|error| {
            self.fail(reason, error.to_string());
            Error::Compact(error)
        })?;
        match reason == Reason::Manual && !job.is_of_something_new() {
            true => Err(Error::Compact(CompactError::NothingNew)),
            false => Ok(job),
        }
    }

    fn tell_started(&mut self, job: &Job) {
        self.tell(EventKind::Started {
            action: job.action(),
            reason: job.reason(),
            depth: job.depth(),
            compressed_messages: job.covered() as u64,
        });
    }

    fn asks_model(&self, action: Action, job: &Job) -> bool {
        self.may_ask_model(action)
            && self.summarizer.is_some()
            && job.too_large_for_model(self.state.config()).is_none()
    }

    fn may_ask_model(&self, action: Action) -> bool {
        match action {
            Action::SummarizeRules { .. } | Action::Emergency { by_rule: true, .. } => false,
            _ => self.state.config().mode != SummaryMode::Rules,
        }
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

    /// Writes the record down where there is a store, then applies it. Where a future is dropped in between, the next write
    /// takes back what this one may have done.
    async fn apply(&mut self, mut finished: Finished, started: Option<i64>) -> Result<Rewrite, Error> {
        let duration_ms = match (self.now_ms(), started) {
            (Some(now), Some(started)) => u64::try_from(now.saturating_sub(started)).unwrap_or(0),
            _ => 0,
        };
        finished.record_mut().duration_ms = duration_ms;
        let reason = finished.reason();
        let mut record = finished.record().clone();
        let mut applied = self.state.clone();
        let rewrite = match applied.apply(finished) {
            Ok(rewrite) => rewrite,
            Err(error) => {
                self.fail(reason, error.to_string());
                return Err(Error::Rewrite(error));
            }
        };
        record.tokens_after = rewrite.outcome.tokens_after;
        if let Err(error) = self.append(&applied, &record).await {
            self.fail(reason, error.to_string());
            return Err(error);
        }
        self.state = applied;
        self.changes += 1;
        self.tell_rewrite(&rewrite, duration_ms);
        if let Some(journal) = &mut self.journal {
            journal.save_facts(&self.state).await;
            // Where there was no room to tell of them they are told of next time.
            if self.state.config().delete_originals && !leaves_out(&record) {
                journal.delete_originals(&record, self.clock.as_deref()).await.map_err(Error::Store)?;
            }
        }
        Ok(rewrite)
    }

    async fn append(&mut self, applied: &SessionState, record: &SummaryRecord) -> Result<(), Error> {
        for may_branch in [true, false] {
            let Some(journal) = &mut self.journal else { break };
            match journal.append(applied, record, self.changes + 1, self.clock.as_deref()).await {
                Err(error) if may_branch && self.is_overtaken(&error) => self.branch_off().await?,
                done => return done.map_err(Error::Store),
            }
        }
        Ok(())
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
