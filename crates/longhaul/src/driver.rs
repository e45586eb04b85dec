//! The async driver around the state: a store, a summarizer, observers, a clock.

mod background;
mod branches;
mod builder;
#[cfg(test)]
mod built_tests;
mod by_hand;
mod compacting;
#[cfg(test)]
mod deleted_tests;
mod error;
mod facts;
mod fetched;
mod journal;
#[cfg(test)]
mod kept_tests;
mod recall;
mod since;
mod sleep;
mod tell;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod troubled;
#[cfg(test)]
mod troubles_tests;
mod undo;
#[cfg(test)]
mod usage_tests;
#[cfg(test)]
mod writers_tests;

use std::{
    error::Error as _,
    sync::{Arc, Weak},
};

use longhaul_store::{StoreError, SummaryStore};
use longhaul_summarize::Summarizer;
use longhaul_tokens::{ContextWindow, Prices};
use longhaul_transcript::{
    Clock, Message, MessageId, SessionId, Sleep, SummaryMode, Tokens, Usage, block_on,
};

pub use background::Background;
pub use branches::Overtaken;
pub use builder::{BuildError, Builder, OpenError};
pub use by_hand::Basis;
pub use error::Error;
pub use recall::RecallTool;

use self::journal::Journal;
use crate::{
    compact::CompactError,
    config::Config,
    event::{EventKind, Observer, Observers},
    policy::{Action, Decision, Hold, Reason},
    session::{Rewrite, RewriteError, SessionState, UsageVerdict, View, ViewId, exchange_around},
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
/// [`Builder::open`] finds there goes on as if it had never been interrupted, but for what is not stored: secrets, in whose places
/// stand placeholders then ([`EventKind::SecretsMissing`] says in how many), and what
/// [`delete_originals`](crate::Config::delete_originals) destroyed, of which a session that stays open may tell more in its next summary.
///
/// Every future may be dropped at any await: a compaction, an undo or another way is then as if it had not been asked for,
/// or whole. What the store took of it without an answer, the next write takes back.
#[derive(Debug)]
pub struct Session {
    state: SessionState,
    summarizer: Option<Arc<dyn Summarizer>>,
    clock: Option<Arc<dyn Clock>>,
    /// What a summarizer is waited for by.
    sleep: Arc<dyn Sleep>,
    journal: Option<Journal>,
    observers: Observers,
    /// The reason that was last told for not acting.
    told: Option<&'static str>,
    /// Whether it was told that reports are too low.
    told_low: bool,
    /// Whether it was told that reports are too high to be believed.
    told_implausible: bool,
    /// Whether the history that was handed in last is another conversation's.
    is_strayed: bool,
    /// Lives as long as the job that is under way elsewhere.
    background: Weak<()>,
    /// When that began, where there is a clock.
    background_since: Option<i64>,
    /// Counts what changed beside messages.
    changes: u64,
    overtaken: Overtaken,
    /// Who goes on under the session's name, where this one had to leave it.
    left_to: Option<SessionId>,
    durability: Durability,
    /// What was done about the last refusal, until the next request is made ready.
    relieved: Option<Rewrite>,
}

/// When what is said is written into the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Before [`Session::prepare`] returns.
    #[default]
    EachPrepare,
    /// Before [`Session::push`] returns, which waits for the store on the calling thread: the store must not need a runtime
    /// of that very thread. What one call pushes ([`Session::push_all`], `Session::push_json`) is one write, all or nothing: of an
    /// answer with two calls no store ever holds one. Where the store fails, the message is in the session all the same and observers are told
    /// ([`EventKind::NotSaved`]); it is written with the next push, or with [`Session::prepare`], which fails where it
    /// cannot be.
    EachPush,
}

/// Returns the session `name` in `store`, new or as it was left: the same call for both. Settings, a summarizer and the
/// rest are [`Session::builder`]'s. Where it was left in the middle of tool calls, run
/// [`open_calls`](SessionState::open_calls) and push their results first: no provider takes a request without them. Secrets
/// are not stored: placeholders stand in their places ([`EventKind::SecretsMissing`]).
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

/// How often a decision is carried out before the next request; the policy settles in fewer.
const MAX_ROUNDS: usize = 6;

/// What is tried where nothing else is left.
const LAST_RESORT: Action = Action::Emergency { rebuild: false, by_rule: true };

impl Session {
    /// Returns a builder for a conversation in a window.
    pub fn builder(session: SessionId, window: ContextWindow) -> Builder {
        Builder::new(session, window)
    }

    /// Adds a message at the end and returns its id.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> MessageId {
        let id = self.take_in(message.into());
        self.save_pushed(id);
        id
    }

    /// Adds messages at the end and returns their ids, as where one answer is several: what [`Durability::EachPush`] writes of
    /// them is all or nothing.
    pub fn push_all<M: Into<Arc<Message>>>(
        &mut self,
        messages: impl IntoIterator<Item = M>,
    ) -> Vec<MessageId> {
        let ids: Vec<MessageId> = messages.into_iter().map(|message| self.take_in(message.into())).collect();
        if let Some(first) = ids.first() {
            self.save_pushed(*first);
        }
        ids
    }

    fn take_in(&mut self, message: Arc<Message>) -> MessageId {
        self.is_strayed = false;
        let id = self.state.push(message);
        let message_tokens = self.state.cost(id.ordinal);
        self.tell(EventKind::Counted { message: id.ordinal, message_tokens });
        id
    }

    /// Writes what was pushed, `first` and what is behind it, where that is to be safe at once.
    fn save_pushed(&mut self, first: MessageId) {
        if self.durability == Durability::EachPush
            // What is not written stays to be written: `prepare` fails where it cannot be.
            && let Err(error) = block_on(self.save())
        {
            let error = error.source().unwrap_or(&error).to_string();
            self.tell(EventKind::NotSaved { message: first.ordinal, error });
        }
    }

    /// Returns what to send to the model, compacted first where the policy says so. Before anything was said that is an empty
    /// view, or instructions alone ([`View::is_only_instructions`]), and no error: frameworks ask for the history before they add
    /// the message that makes it a request. So is one that ends with calls whose results are still to be pushed
    /// ([`View::has_open_calls`]).
    ///
    /// # Errors
    /// When what must stay does not fit, with the floor and by how much it is over; with `abort_on_failure`, when
    /// no summary could be made; and after a [`sync`](Self::sync) with another conversation's history, whose question is not in
    /// this one's view. No message is lost either way.
    pub async fn prepare(&mut self) -> Result<View, Error> {
        if self.is_strayed {
            return Err(Error::Strayed);
        }
        self.settle_doubt().await.map_err(Error::Store)?;
        self.heed_destruction().await?;
        self.make_room().await?;
        // What was only concluded from refusals is no reason not to send what must be.
        if self.state.tokens() > self.state.budget() && self.state.forget_refusals() {
            self.make_room().await?;
        }
        if let Some(by_count) = self.state.by_count(self.now_ms()) {
            let billed = self.state.tokens();
            self.state = by_count;
            self.changes += 1;
            let counted = self.state.known_tokens();
            self.tell(EventKind::UsageDistrusted { billed, counted });
            self.make_room().await?;
        }
        self.save().await?;
        if let Some(journal) = &self.journal {
            journal.let_go(&mut self.state);
        }
        self.checked_view()
    }

    /// Does what the policy says until it holds.
    async fn make_room(&mut self) -> Result<(), Error> {
        for _ in 0..MAX_ROUNDS {
            let (action, reason) = match self.decide() {
                Decision::Act { action, reason } => (action, reason),
                Decision::Hold(hold) => {
                    self.note(hold);
                    break;
                }
            };
            let is_emergency = matches!(action, Action::Emergency { .. });
            if !is_emergency && self.is_background_under_way() {
                break;
            }
            self.told = None;
            // Of any other failure the policy was told: it holds, or makes its one attempt at the limit.
            match self.act(action, reason, None).await {
                // The messages stay as they are.
                Err(Error::Summarize(_) | Error::Draft(_)) if !self.state.config().abort_on_failure => {}
                Err(error @ (Error::Summarize(_) | Error::Draft(_) | Error::Store(_))) => return Err(error),
                _ => {}
            }
        }
        Ok(())
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
        let had_totals = self.state.has_totals();
        let verdict = self.state.report_usage(view, usage);
        if let Some(now_ms) = self.now_ms() {
            self.state.requested(now_ms);
        }
        let reported = usage.prompt_total();
        self.tell(EventKind::UsageReported { verdict, reported });
        match verdict {
            UsageVerdict::TooLow if !std::mem::replace(&mut self.told_low, true) => {
                self.tell(EventKind::UsageTooLow { reported });
            }
            UsageVerdict::Implausible if self.state.has_totals() => {
                if let (Some(counted), false) = (self.state.counted_of(view), had_totals) {
                    self.tell(EventKind::UsageAddsUp { reported, counted });
                }
            }
            UsageVerdict::Implausible
                if reported == Tokens::ZERO && !std::mem::replace(&mut self.told_low, true) =>
            {
                self.tell(EventKind::UsageTooLow { reported });
            }
            UsageVerdict::Implausible => {
                let counted = self.state.counted_of(view).filter(|counted| reported > *counted);
                if let Some(counted) =
                    counted.filter(|_| !std::mem::replace(&mut self.told_implausible, true))
                {
                    self.tell(EventKind::UsageImplausible { reported, counted });
                }
            }
            _ => {}
        }
        verdict
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
            self.heed_destruction().await?;
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
        self.settle_doubt().await?;
        match &mut self.journal {
            Some(journal) => journal.save(&self.state, self.changes).await,
            None => Ok(()),
        }
    }

    /// Keeps a message in every view, whole; a call or a result with its exchange. See [`SessionState::pin`].
    ///
    /// # Errors
    /// When there is no such message, it costs more than what is pinned already leaves of the budget, or the store cannot be read.
    pub async fn pin(&mut self, id: MessageId) -> Result<(), Error> {
        if id.ordinal < self.state.originals().len() as u64 {
            // Its exchange goes with it.
            let wanted = self.state.originals().missing([exchange_around(id.ordinal)]);
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
        let was_pinned = self.state.unpin(id);
        self.changes += u64::from(was_pinned);
        was_pinned
    }

    /// Sets a named memory block. See [`SessionState::set_memory`].
    ///
    /// # Errors
    /// When it cannot have this name, or is too large to be in every view.
    pub fn set_memory(&mut self, name: &str, text: &str) -> Result<(), Error> {
        if self.state.set_memory(name, text).map_err(Error::Memory)? {
            self.changes += 1;
            self.tell(EventKind::Rewritten);
        }
        Ok(())
    }

    /// Switches to another model; see [`SessionState::switch_model`]. The next [`prepare`](Self::prepare) compacts where
    /// the context is too large for it.
    ///
    /// # Errors
    /// As [`Builder::build`]: when the settings cannot be used, with every reason, the window leaves no room, the counter counts
    /// nothing, or mode is `llm` and nobody was given to write summaries. The session then goes on as it was.
    pub fn switch_model(
        &mut self,
        window: ContextWindow,
        counter: Arc<dyn longhaul_tokens::TokenCounter>,
        config: Config,
    ) -> Result<(), BuildError> {
        let config = config.validated()?;
        builder::check::room(&config, window, self.state.fixed_overhead())?;
        builder::check::counter(&*counter)?;
        if config.mode == SummaryMode::Llm && self.summarizer.is_none() {
            return Err(BuildError::NoSummarizer);
        }
        self.state.switch_model(window, counter, builder::heeded(config.clone(), self.journal.is_some()));
        self.changes += 1;
        self.tell(EventKind::ModelSwitched { window: window.window, budget: self.state.budget() });
        self.tell_unused(&config);
        Ok(())
    }

    /// Sets what the model's tokens cost (see [`SessionState::set_prices`]).
    ///
    /// # Errors
    /// When one is no amount of money. Nothing was changed then.
    pub fn set_prices(&mut self, prices: Prices) -> Result<(), BuildError> {
        builder::check::prices(prices)?;
        self.state.set_prices(prices);
        Ok(())
    }

    /// Says which model at which endpoint the conversation goes on with (see [`SessionState::set_endpoint`]).
    ///
    /// # Errors
    /// When the model or the endpoint has no name. Nothing was changed then.
    pub fn set_endpoint(&mut self, model: &str, endpoint: &str) -> Result<(), BuildError> {
        builder::check::endpoint(model, endpoint)?;
        self.state.set_endpoint(model, endpoint);
        Ok(())
    }

    /// Sets what every request costs beside the messages (see [`SessionState::set_fixed_overhead`]).
    ///
    /// # Errors
    /// When that leaves too little room for messages. Nothing was changed then.
    pub fn set_fixed_overhead(&mut self, tokens: Tokens) -> Result<(), BuildError> {
        builder::check::room(self.state.config(), self.state.known_window(), tokens)?;
        self.state.set_fixed_overhead(tokens);
        Ok(())
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
        // What could be spared is gone by now. What is known to fit is sent, however far bills are spread.
        if m.tokens <= m.budget || self.state.known_tokens() <= m.budget {
            self.relieved = None;
            self.state.note_fitting();
            return Ok(self.state.send());
        }
        let over = m.tokens - m.budget;
        // What is measured is less than what a compaction needs where it must show what no summary tells of.
        let floor = match self.state.plan(LAST_RESORT, Reason::Manual, None, None) {
            Err(CompactError::Floor { floor, .. }) => floor.min(m.tokens).max(m.floor),
            // What a summary needs, however little it says, may be more than is left beside what must stay.
            Ok(job) => match job.finish_by_rule().map(|finished| self.state.check(&finished)) {
                Ok(Err(RewriteError::OverBudget { after, .. })) => after.min(m.tokens).max(m.floor),
                _ => m.floor,
            },
            _ => m.floor,
        };
        let decision = self.decide();
        // Where it was tried nothing fits, be it only that a summary has no room to say anything.
        let floor = match decision {
            Decision::Hold(Hold::Exhausted { .. }) | Decision::Act { .. } => floor.max(m.budget + Tokens(1)),
            Decision::Hold(_) => floor,
        };
        let hold = match decision {
            Decision::Hold(Hold::Exhausted { over, .. }) => Hold::Exhausted { floor, over },
            Decision::Hold(hold) => hold,
            Decision::Act { .. } => Hold::Exhausted { floor, over },
        };
        let pinned = self.state.pinned_tokens();
        Err(Error::OverBudget { tokens: m.tokens, budget: m.budget, over, floor, pinned, hold })
    }

    fn now_ms(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now_ms())
    }
}
