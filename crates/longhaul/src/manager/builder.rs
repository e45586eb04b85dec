//! Putting a manager together.

use std::sync::{Arc, Weak};

use longhaul_redact::Redactor;
use longhaul_store::SummaryStore;
use longhaul_summarize::{Ladder, Summarizer, SummarizerModel, rules::RulesSummarizer};
use longhaul_tokens::{Calibrations, ContextWindow, ModelTable, TokenCounter};
use longhaul_transcript::{Clock, FixedClock, Jitter, SessionId, Sleep, Tokens};

use super::{ContextManager, Error, EventKind, Journal, Observer, Observers};
use crate::{
    StoreCache,
    config::{Config, ConfigError},
    policy::PolicyState,
    state::ContextState,
};

/// Puts a [`ContextManager`] together. Everything has a default that works offline.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    session: SessionId,
    window: ContextWindow,
    counter: Arc<dyn TokenCounter>,
    config: Config,
    summarizer: Option<Arc<dyn Summarizer>>,
    clock: Option<Arc<dyn Clock>>,
    store: Option<Arc<dyn SummaryStore>>,
    observers: Observers,
    redactor: Option<Redactor>,
    policy: PolicyState,
    fixed_overhead: Tokens,
    unknown_model: Option<String>,
    endpoint: Option<(String, String)>,
    calibrations: Calibrations,
}

impl Builder {
    pub(super) fn new(session: SessionId, window: ContextWindow) -> Builder {
        Builder {
            session,
            window,
            counter: default_counter(),
            config: Config::default(),
            summarizer: None,
            clock: None,
            store: None,
            observers: Observers::default(),
            redactor: Some(Redactor::builtin()),
            policy: PolicyState::new(),
            fixed_overhead: Tokens::ZERO,
            unknown_model: None,
            endpoint: None,
            calibrations: Calibrations::default(),
        }
    }

    /// Sets the settings. Without this they are [`Config::default`].
    pub fn config(mut self, config: Config) -> Builder {
        self.config = config;
        self
    }

    /// Sets what counts tokens. Without this it is `o200k_base`, or four characters a token without the feature `bpe`.
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Builder {
        self.counter = counter;
        self
    }

    /// Takes window and counter from the built-in table, and the settings that [`Config`] has for this model. An
    /// unknown model gets a small window, and observers are told. Call it after [`config`](Self::config).
    pub fn model(mut self, provider: &str, model: &str) -> Builder {
        let table = ModelTable::builtin();
        let known = table.get_or_unknown(model);
        self.unknown_model = table.get(model).is_none().then(|| model.to_owned());
        self.window = ContextWindow::from(&known);
        self.counter = known.counter();
        self.config = self.config.for_model(provider, model);
        self
    }

    /// Sets who writes summaries in the modes `llm` and `hybrid`. Without one they are made by rule.
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Builder {
        self.summarizer = Some(summarizer);
        self
    }

    /// Lets these models write summaries, first choice first, with retries, limits and fall back as the settings say
    /// (see [`Config::llm_options`]). Call it after [`config`](Self::config), [`clock`](Self::clock) and
    /// [`store`](Self::store): with a store, what a model wrote once is kept there and not asked for again.
    pub fn models(
        self,
        models: Vec<SummarizerModel>,
        sleep: Arc<dyn Sleep>,
        jitter: Arc<dyn Jitter>,
    ) -> Builder {
        let clock = self.clock.clone().unwrap_or_else(|| Arc::new(FixedClock::default()));
        let rules = Arc::new(RulesSummarizer::default());
        let ladder = Ladder::new(models, rules, self.config.llm_options(), clock, sleep, jitter);
        let ladder = match &self.store {
            Some(store) => ladder.with_cache(Arc::new(StoreCache::new(Arc::clone(store)))),
            None => ladder,
        };
        self.summarizer(Arc::new(ladder))
    }

    /// Sets where originals and summaries are kept. Without one they live as long as the manager.
    pub fn store(mut self, store: Arc<dyn SummaryStore>) -> Builder {
        self.store = Some(store);
        self
    }

    /// Sets the clock. Without one records bear no time and a failure is waited out in messages alone.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Builder {
        self.clock = Some(clock);
        self
    }

    /// Adds somebody who is told what happens.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Builder {
        self.observers.0.push(Arc::new(observer));
        self
    }

    /// Sets what takes secrets out of facts and summaries; `None` switches it off. Without this it is the built-in rules.
    pub fn redactor(mut self, redactor: Option<Redactor>) -> Builder {
        self.redactor = redactor;
        self
    }

    /// Sets what the policy remembered before a restart.
    pub fn policy(mut self, policy: PolicyState) -> Builder {
        self.policy = policy;
        self
    }

    /// Sets what every request costs beside the messages: tool definitions, and the system prompt where it is not a
    /// message.
    pub fn fixed_overhead(mut self, tokens: Tokens) -> Builder {
        self.fixed_overhead = tokens;
        self
    }

    /// Says which model at which endpoint the conversation is with: what is learned from reported usage holds for these.
    pub fn endpoint(mut self, model: &str, endpoint: &str) -> Builder {
        self.endpoint = Some((model.to_owned(), endpoint.to_owned()));
        self
    }

    /// Sets what was learned from reported usage before (see [`ContextState::calibrations`]).
    pub fn calibrations(mut self, known: Calibrations) -> Builder {
        self.calibrations = known;
        self
    }

    /// Returns the manager of a conversation that the store holds already, as it was left: every message, and the
    /// summaries in force. A session that the store does not hold begins empty. What earlier conversations learned of
    /// this model and endpoint is taken over in either case.
    ///
    /// # Errors
    /// When the settings cannot be used, or the store cannot be read.
    pub async fn resume(self) -> Result<ContextManager, ResumeError> {
        let mut manager = self.build()?;
        if let Some(journal) = &mut manager.journal {
            journal.load_learned(&mut manager.state).await.map_err(Error::Store)?;
            journal.load(&mut manager.state).await.map_err(Error::Store)?;
        }
        Ok(manager)
    }

    /// Returns the manager.
    ///
    /// # Errors
    /// When the settings cannot be used, with every reason.
    pub fn build(self) -> Result<ContextManager, ConfigError> {
        let config = self.config.validated()?;
        let mut state = ContextState::new(self.session, self.window, self.counter, config);
        state.set_redactor(self.redactor);
        state.set_policy(self.policy);
        state.set_fixed_overhead(self.fixed_overhead);
        state.set_calibrations(self.calibrations);
        if let Some((model, endpoint)) = &self.endpoint {
            state.set_endpoint(model, endpoint);
        }
        let manager = ContextManager {
            state,
            summarizer: self.summarizer,
            clock: self.clock,
            journal: self.store.map(Journal::new),
            observers: self.observers,
            told: None,
            background: Weak::new(),
        };
        if let Some(model) = self.unknown_model {
            manager.tell(EventKind::UnknownModel { model, window: self.window.window });
        }
        Ok(manager)
    }
}

/// A conversation could not be taken up again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] Error),
}

fn default_counter() -> Arc<dyn TokenCounter> {
    #[cfg(feature = "bpe")]
    {
        longhaul_tokens::counter(longhaul_tokens::Encoding::O200kBase)
    }
    #[cfg(not(feature = "bpe"))]
    {
        Arc::new(longhaul_tokens::CharsPer4)
    }
}
