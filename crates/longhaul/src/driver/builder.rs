//! Putting a session together. The order of calls does not matter, and what cannot be meant is an error.

pub(super) mod check;

use std::sync::{Arc, Weak};

use longhaul_extract::Ranker;
use longhaul_redact::Redactor;
use longhaul_store::SummaryStore;
#[cfg(feature = "tokio")]
use longhaul_summarize::CompletionClient;
use longhaul_summarize::{
    Ladder, Summarizer, SummarizerModel,
    rules::{RulesOptions, RulesSummarizer},
};
use longhaul_tokens::{Accuracy, Calibrations, ContextWindow, Model, ModelTable, Prices, TokenCounter};
use longhaul_transcript::{
    Clock, FixedClock, Jitter, ParseSessionIdError, SessionId, Sleep, SummaryMode, Tokens,
};

use super::{
    Durability, Error, EventKind, Journal, Observer, Observers, Overtaken, Session, journal::Name,
    sleep::ThreadSleep,
};
use crate::{
    Preset, StoreCache,
    config::{Config, ConfigError, Threshold, provider_name},
    session::{CompactionStep, SessionState, Steps},
};

/// Puts a [`Session`] together. Everything has a default that works offline. The order of calls does not matter but for steps, which are
/// done as they were added. What is set twice is as it was set last; observers and steps are added, and two to write summaries are an
/// error.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    session: SessionId,
    window: ContextWindow,
    counter: Option<Arc<dyn TokenCounter>>,
    config: Config,
    summarizer: Option<Arc<dyn Summarizer>>,
    models: Option<Models>,
    #[cfg(feature = "tokio")]
    client: Option<Arc<dyn CompletionClient>>,
    /// One would take the place of another unsaid.
    has_two_summarizers: bool,
    rules: RulesOptions,
    ranker: Option<Arc<dyn Ranker>>,
    steps: Steps,
    durability: Durability,
    model: Option<(String, String)>,
    clock: Option<Arc<dyn Clock>>,
    sleep: Option<Arc<dyn Sleep>>,
    store: Option<Arc<dyn SummaryStore>>,
    observers: Observers,
    redactor: Option<Redactor>,
    fixed_overhead: Tokens,
    prices: Option<Prices>,
    endpoint: Option<(String, String)>,
    calibrations: Calibrations,
    overtaken: Overtaken,
}

/// Models that write summaries, and what asking them takes.
#[derive(Debug)]
struct Models {
    models: Vec<SummarizerModel>,
    sleep: Arc<dyn Sleep>,
    jitter: Arc<dyn Jitter>,
}

/// A session cannot be put together as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A summarizer was given, and the settings have no use for it.
    #[error("a summarizer was given and mode is rules, which asks none; set mode to llm or hybrid")]
    UnusedSummarizer,
    /// Two summarizers were given: by [`Builder::summarizer`], [`Builder::models`] or `Builder::client`, or one of these
    /// twice.
    #[error(
        "two were given to write summaries, and one of them would not be asked; give one summarizer, models, or client"
    )]
    TwoSummarizers,
    /// Nobody was given who could write a summary.
    #[error(
        "mode is llm, and nobody was given to write summaries: give a summarizer, models or a client, or set mode to rules"
    )]
    NoSummarizer,
    /// There is no model to ask.
    #[error("there is no model to ask: {}", match preferred.as_slice() {
        [] => "summarizer_model_preference names none".to_owned(),
        names => format!("none of those given is among summarizer_model_preference ({})", names.join(", ")),
    })]
    NoModel {
        /// The setting.
        preferred: Vec<String>,
    },
    /// Every push was to be written, and there is no store.
    #[error("every push is to be written, and no store was given")]
    NoStore,
    /// A price is no amount of money.
    #[error("the price for {what} is {price}, which is no price")]
    NoPrice {
        /// What it is for.
        what: &'static str,
        /// What was given.
        price: f64,
    },
    /// A share of a summary's room is none.
    #[error("{what} is {share}; expected a share from 0 to 1")]
    NoShare {
        /// Which of the options for summaries by rule.
        what: &'static str,
        /// What was given.
        share: f64,
    },
    /// The shares of a summary's room come to more than all of it.
    #[error("{names} come to {total}; expected at most 1")]
    TooManyShares {
        /// Which of the options for summaries by rule.
        names: String,
        /// What they come to.
        total: f64,
    },
    /// The provider of a model was given an empty name.
    #[error("the provider of {model} has no name; expected one, such as openai")]
    NoProviderName {
        /// The model.
        model: String,
    },
    /// An empty endpoint was given.
    #[error("the endpoint of {model} is empty; expected an address or a name to tell it from others")]
    NoEndpoint {
        /// The model.
        model: String,
    },
    /// The model was given an empty name.
    #[error("the model's name is empty; leave the model out where none is known")]
    NoModelName,
    /// What is kept free for the answer, and what every request costs beside its messages, leave less room than any
    /// compaction needs.
    #[error(
        "a window of {window:#} tokens leaves {budget:#} for messages, and no compaction goes below {least:#}; expected more"
    )]
    BelowFloor {
        /// The window.
        window: Tokens,
        /// What it leaves for messages.
        budget: Tokens,
        /// What a compaction needs beside the messages that must stay.
        least: Tokens,
    },
    /// The trigger lies where no compaction comes below it: each message would make for another.
    #[error(
        "trigger_ratio ({trigger_ratio}) comes to {trigger:#} tokens of a budget of {budget:#}, and no compaction goes below \
         {least:#}; expected more"
    )]
    TriggerBelowFloor {
        /// The setting.
        trigger_ratio: Threshold,
        /// What it comes to.
        trigger: Tokens,
        /// What the window leaves for messages.
        budget: Tokens,
        /// What a compaction needs beside the messages that must stay.
        least: Tokens,
    },
    /// The counter says 0 tokens of words: no budget would ever be reached.
    #[error(
        "the counter says 0 tokens of a sentence, so that no budget would ever be reached; expected one that counts"
    )]
    CountsNothing,
    /// The counter's own margin of error is no share.
    #[error(
        "the counter says that its margin of error is {margin}; expected a share of 0 or more, as 0.2 for 20 %"
    )]
    NoMargin {
        /// What it says.
        margin: f64,
    },
    /// What is kept free for the answer, and what every request costs beside its messages, leave no room for these.
    #[error(
        "a window of {window:#} tokens has no room: {reserved:#} (reserved_output_tokens) are kept for the answer and \
         {overhead:#} are taken by what every request carries"
    )]
    NoRoom {
        /// The window.
        window: Tokens,
        /// What is kept free for the answer.
        reserved: Tokens,
        /// What every request costs beside its messages.
        overhead: Tokens,
    },
}

/// A session could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name cannot be a session's.
    #[error(transparent)]
    Name(#[from] ParseSessionIdError),
    /// It cannot be put together as asked.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Builder {
    pub(super) fn new(session: SessionId, window: ContextWindow) -> Builder {
        Builder {
            session,
            window,
            counter: None,
            config: Config::default(),
            summarizer: None,
            models: None,
            #[cfg(feature = "tokio")]
            client: None,
            has_two_summarizers: false,
            rules: RulesOptions::default(),
            ranker: None,
            steps: Steps::default(),
            durability: Durability::default(),
            model: None,
            clock: default_clock(),
            sleep: None,
            store: None,
            observers: Observers::default(),
            redactor: Some(Redactor::builtin()),
            fixed_overhead: Tokens::ZERO,
            prices: None,
            endpoint: None,
            calibrations: Calibrations::default(),
            overtaken: Overtaken::default(),
        }
    }

    /// Sets the settings. Without this they are [`Config::default`].
    pub fn config(mut self, config: Config) -> Builder {
        self.config = config;
        self
    }

    /// Sets what counts tokens. Without this it is `o200k_base`, or four characters a token without the feature `bpe`.
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Builder {
        self.counter = Some(counter);
        self
    }

    /// Takes window, counter and prices from the built-in table, and the settings that [`Config`] has for this model.
    ///
    /// - A counter and prices that were set win over the table's. The smaller window wins; the room for the answer is the one
    ///   that was given, unless that is nothing.
    /// - Of an unknown model the window is the one that was given, and observers are told ([`EventKind::UnknownModel`]).
    /// - They are told of a model that another provider makes as well ([`EventKind::ModelOfAnother`]), which is no error: a
    ///   gateway may have it. An empty name is one, of either.
    /// - They are told where [`Config::models`] has settings for other models alone, or [`Config::providers`] for other providers
    ///   ([`EventKind::SettingUnused`]).
    /// - What reports and refusals teach is kept for this model at this provider, unless [`endpoint`](Self::endpoint) says
    ///   otherwise.
    pub fn model(mut self, provider: &str, model: &str) -> Builder {
        self.model = Some((provider.to_owned(), model.to_owned()));
        self
    }

    /// Sets what the model's tokens cost: a pass of the soft tier must pay for itself.
    pub fn prices(mut self, prices: Prices) -> Builder {
        self.prices = Some(prices);
        self
    }

    /// Sets who writes summaries in the modes `llm` and `hybrid`. [`prepare`](Session::prepare) waits for it, as long as
    /// `summary_deadline_ms` says. Without one they are made by rule in the mode `hybrid`, and observers are told
    /// ([`EventKind::SettingUnused`]); the mode `llm` demands one. What it says goes into the view as it is: only models that
    /// longhaul's own ladder asks are held to what was said.
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Builder {
        self.has_two_summarizers |= self.summarizer.replace(summarizer).is_some();
        self
    }

    /// Lets these models write summaries, first choice first, with retries, limits and fall back as the settings say
    /// (see [`Config::llm_options`]). With a store, what a model wrote once is kept there and not asked for again.
    pub fn models(
        mut self,
        models: Vec<SummarizerModel>,
        sleep: Arc<dyn Sleep>,
        jitter: Arc<dyn Jitter>,
    ) -> Builder {
        self.has_two_summarizers |= self.models.replace(Models { models, sleep, jitter }).is_some();
        self
    }

    /// Lets the models of `summarizer_model_preference` write summaries, all asked through `client`; otherwise as
    /// [`models`](Self::models), on tokio's timer.
    #[cfg(feature = "tokio")]
    pub fn client(mut self, client: Arc<dyn CompletionClient>) -> Builder {
        self.has_two_summarizers |= self.client.replace(client).is_some();
        self
    }

    /// Sets how summaries by rule are made. A [`ranker`](Self::ranker) that was given is used instead of the one in here. A share below 0
    /// or above 1 is an error, and so are shares that come to more than 1 together.
    pub fn rules(mut self, rules: RulesOptions) -> Builder {
        self.rules = rules;
        self
    }

    /// Sets which facts are worth keeping: statements of summaries by rule, and messages that lie far back, gain by those that they
    /// name ([`Ranker::value`]).
    pub fn ranker(mut self, ranker: impl Ranker + 'static) -> Builder {
        self.ranker = Some(Arc::new(ranker));
        self
    }

    /// Adds a step before the built-in ones of each compaction; see [`CompactionStep`].
    pub fn step_before(mut self, step: impl CompactionStep + 'static) -> Builder {
        self.steps.before.push(Arc::new(step));
        self
    }

    /// Adds a step after the built-in ones of each compaction; see [`CompactionStep`].
    pub fn step_after(mut self, step: impl CompactionStep + 'static) -> Builder {
        self.steps.after.push(Arc::new(step));
        self
    }

    /// Sets when what is said is written into the store. Without this, before each [`prepare`](Session::prepare) returns.
    pub fn durability(mut self, durability: Durability) -> Builder {
        self.durability = durability;
        self
    }

    /// Sets where originals and summaries are kept. Without one they live as long as the session. What is asked of it is waited for as
    /// long as it takes: a backend over a network bounds its own waits, as that for PostgreSQL does.
    pub fn store(mut self, store: Arc<dyn SummaryStore>) -> Builder {
        self.store = Some(store);
        self
    }

    /// Sets the clock. Without one it is the system's where the feature `tokio` is on; elsewhere records bear no time, a
    /// failure is waited out in messages alone, and the provider's cache is taken to be warm: the soft tier waits until a pass
    /// pays for the cached prefix.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Builder {
        self.clock = Some(clock);
        self
    }

    /// Sets what a [`summarizer`](Self::summarizer) is waited for by. Without one that is a thread, so that it works on any
    /// executor.
    pub fn sleep(mut self, sleep: Arc<dyn Sleep>) -> Builder {
        self.sleep = Some(sleep);
        self
    }

    /// Adds somebody who is told what happens.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Builder {
        self.observers.0.push(Arc::new(observer));
        self
    }

    /// Sets what takes secrets out of facts, of summaries and of everything that is stored; `None` switches it off. Without this
    /// it is the built-in rules. What is sent to the model keeps the user's own words for as long as the session is in memory;
    /// one that is [opened](Self::open) from a store has placeholders in the places of secrets, until a history that is handed in
    /// (`Session::sync`) says them again.
    pub fn redactor(mut self, redactor: Option<Redactor>) -> Builder {
        self.redactor = redactor;
        self
    }

    /// Sets what every request costs beside the messages: tool definitions, and the system prompt where it is not a
    /// message.
    pub fn fixed_overhead(mut self, tokens: Tokens) -> Builder {
        self.fixed_overhead = tokens;
        self
    }

    /// Says which model at which endpoint the conversation is with: what is learned from reported usage holds for these. An empty
    /// name of either is an error. Settings that [`Config`] has for the model are not taken by this but by [`model`](Self::model).
    pub fn endpoint(mut self, model: &str, endpoint: &str) -> Builder {
        self.endpoint = Some((model.to_owned(), endpoint.to_owned()));
        self
    }

    /// Sets what was learned from reported usage before (see [`crate::SessionState::calibrations`]).
    pub fn calibrations(mut self, known: Calibrations) -> Builder {
        self.calibrations = known;
        self
    }

    /// Sets what the session does when somebody else went on with it meanwhile. Without this it goes on as a branch.
    pub fn when_overtaken(mut self, overtaken: Overtaken) -> Builder {
        self.overtaken = overtaken;
        self
    }

    /// Returns the session as the store has it, as if it had never been interrupted, but for secrets and for what
    /// [`delete_originals`](Config::delete_originals) destroyed: secrets are not stored, what
    /// stands in their places (`[REDACTED:github-pat:1]`) is what is sent from then on, and observers are told
    /// ([`EventKind::SecretsMissing`]). A session that the store does not have, or where there is no store, begins empty. What earlier conversations learned of this model and endpoint is taken over
    /// in either case. Where the store has something else than what was written ([`EventKind::ChangedInStore`]), a mark stands.
    ///
    /// # Errors
    /// When the session cannot be put together as asked, or the store cannot be read.
    pub async fn open(self) -> Result<Session, OpenError> {
        self.opened(Name::OfConversation).await
    }

    /// Returns what the store keeps under this very name, as [`open`](Self::open) does, also where the name stands for a
    /// branch that the conversation went on with: what was before a [`rewind`](Session::rewind), say. Whoever is handed a client's
    /// requests under the client's name uses `open`: after an edit the name stands for the branch, and under this one each request
    /// would be an edit again.
    ///
    /// # Errors
    /// Those of `open`.
    pub async fn open_line(self) -> Result<Session, OpenError> {
        self.opened(Name::OfLine).await
    }

    async fn opened(self, name: Name) -> Result<Session, OpenError> {
        let mut session = self.build()?;
        if let Some(journal) = &mut session.journal {
            session.state = journal.load(session.state, name).await.map_err(Error::Store)?;
            journal.load_learned(&mut session.state).await;
        }
        session.tell_changed();
        session.tell_secrets_missing();
        session.tell_forgotten();
        Ok(session)
    }

    /// Returns the session, empty whatever a store holds of it. What is said goes into the store: use
    /// [`open`](Self::open) where it may hold the session already, or the first write begins a branch, and observers are
    /// told.
    ///
    /// # Errors
    /// When the settings cannot be used, with every reason, or what was asked for cannot be meant. Settings that have no effect
    /// here are none: observers are told of them ([`EventKind::SettingUnused`]).
    pub fn build(mut self) -> Result<Session, BuildError> {
        let (mut unknown_model, mut unused) = (None, Vec::<(&str, String)>::new());
        let mut prices = self.prices.take();
        let are_given = prices;
        if let Some((model, endpoint)) = &self.endpoint {
            check::endpoint(model, endpoint)?;
        }
        if let Some((provider, model)) = &self.model {
            let table = ModelTable::builtin();
            let known = table.get_or_unknown(model);
            unknown_model = table.get(model).is_none().then(|| model.clone());
            check::name(model)?;
            check::provider(provider, model)?;
            if unknown_model.is_none() {
                if self.window.window > known.window + known.beside {
                    unused.push(("window", "it is more than the model has, and the model's is used".into()));
                }
                self.window = within(&known, self.window);
            }
            self.counter = self.counter.or_else(|| Some(known.counter()));
            prices = prices.or(Some(known.prices));
            self.config = self.config.for_model(provider, model);
        }
        check::prices(prices.unwrap_or_default())?;
        let config = self.config.validated()?;
        self.config = config;
        let named = self.model.as_ref().map(|(provider, model)| (&**provider, &**model));
        let talked_to = self.endpoint.as_ref().map(|(model, _)| &**model);
        unused.extend(check::of_models(&self.config, named, talked_to));
        if self.config.max_context_tokens.is_some_and(|most| most > self.window.window) {
            let why = "it is more than the window that was given, or than the model has";
            unused.push(("max_context_tokens", why.into()));
        }
        let is_told = unused.iter().any(|(setting, _)| *setting == "providers");
        if !is_told && check::is_misspelled(&self.config) {
            let why = "one of them is called almost as a maker of models is, and is none";
            unused.push(("providers", why.into()));
        }
        if let Some(why) = are_given.and_then(|prices| check::are_unused(prices, &self.config)) {
            unused.push(("prices", why.into()));
        }
        if self.sleep.is_some() && self.summarizer.is_none() {
            unused.push(("sleep", "no summarizer was given that would be waited for by it".into()));
        }
        if self.store.is_none() && self.overtaken != Overtaken::default() {
            let why = "no store was given, in which somebody else could go on";
            unused.push(("when_overtaken", why.into()));
        }
        if let Some(ranker) = self.ranker.take() {
            self.rules.ranker = ranker;
        }
        check::shares(&self.rules)?;
        check::room(&self.config, self.window, self.fixed_overhead)?;
        let summarizer = self.chosen_summarizer()?;
        let counter = self.counter.take().unwrap_or_else(default_counter);
        check::counter(&*counter)?;
        if self.durability == Durability::EachPush && self.store.is_none() {
            return Err(BuildError::NoStore);
        }
        let journal =
            self.store.take().map(|store| Journal::new(store, self.session.clone(), self.clock.clone()));
        let heeded = heeded(self.config.clone(), journal.is_some());
        let mut state = SessionState::new(self.session, self.window, counter, heeded);
        state.set_redactor(self.redactor);
        state.set_rules(self.rules);
        state.set_steps(self.steps);
        state.set_fixed_overhead(self.fixed_overhead);
        state.set_calibrations(self.calibrations);
        state.set_prices(prices.unwrap_or_default());
        let named = self.model.clone().map(|(provider, model)| (model, provider));
        if let Some((model, endpoint)) = self.endpoint.or(named) {
            state.set_endpoint(&model, &endpoint);
        }
        let session = Session {
            state,
            summarizer,
            clock: self.clock,
            sleep: self.sleep.unwrap_or_else(|| Arc::new(ThreadSleep)),
            journal,
            observers: self.observers,
            told: None,
            told_low: false,
            told_implausible: false,
            is_strayed: false,
            background: Weak::new(),
            background_since: None,
            changes: 0,
            overtaken: self.overtaken,
            left_to: None,
            durability: self.durability,
            relieved: None,
        };
        if let Some((provider, model)) = self.model
            && let Some(maker) = check::maker(&model)
            && let of = provider_name(&provider)
            && check::is_maker(of)
            && maker != of
        {
            session.tell(EventKind::ModelOfAnother { model, provider, maker: maker.to_owned() });
        }
        if let Some(model) = unknown_model {
            let is_estimated = session.state.counter().accuracy() != Accuracy::Exact;
            session.tell(EventKind::UnknownModel { model, is_estimated, window: self.window.window });
        }
        session.tell_unused(&self.config);
        unused.into_iter().for_each(|(setting, why)| session.tell_setting(setting, &why));
        Ok(session)
    }

    fn chosen_summarizer(&mut self) -> Result<Option<Arc<dyn Summarizer>>, BuildError> {
        if self.has_two_summarizers {
            return Err(BuildError::TwoSummarizers);
        }
        #[cfg(feature = "tokio")]
        if let Some(client) = self.client.take() {
            if self.models.is_some() {
                return Err(BuildError::TwoSummarizers);
            }
            let models = self.config.summarizer_models(&client, None);
            let jitter = Arc::new(crate::runtime::ClockJitter::default());
            self.models = Some(Models { models, sleep: Arc::new(crate::runtime::TokioSleep), jitter });
        }
        let models = self.models.take();
        let summarizer = self.summarizer.take();
        if models.is_some() && summarizer.is_some() {
            return Err(BuildError::TwoSummarizers);
        }
        if (models.is_some() || summarizer.is_some()) && self.config.mode == SummaryMode::Rules {
            return Err(BuildError::UnusedSummarizer);
        }
        if models.is_none() && summarizer.is_none() && self.config.mode == SummaryMode::Llm {
            return Err(BuildError::NoSummarizer);
        }
        let Some(Models { models, sleep, jitter }) = models else { return Ok(summarizer) };
        let models = self.config.preferred(models);
        if models.is_empty() {
            return Err(BuildError::NoModel { preferred: self.config.summarizer_model_preference.clone() });
        }
        let last_requests = models.iter().filter_map(|model| model.last_request.clone());
        self.observers.0.extend(last_requests.map(|last| Arc::new(last) as Arc<dyn Observer>));
        let clock = self.clock.clone().unwrap_or_else(|| Arc::new(FixedClock::default()));
        let rules = Arc::new(RulesSummarizer { options: self.rules.clone() });
        let ladder = Ladder::new(models, rules, self.config.llm_options(), clock, sleep, jitter);
        Ok(Some(Arc::new(match &self.store {
            Some(store) => ladder.with_cache(Arc::new(StoreCache::new(Arc::clone(store)))),
            None => ladder.with_cache(Arc::new(longhaul_summarize::MemoryCache::default())),
        })))
    }
}

/// Returns the settings as a session heeds them: no original is deleted where no store holds any, and more messages at the end than
/// usual that somebody asks for are not fewer for a limit that nobody set.
pub(super) fn heeded(config: Config, has_store: bool) -> Config {
    let usual = config.preset.map(Preset::config).unwrap_or_default();
    let is_asked_for = config.preserve_recent > usual.preserve_recent
        && config.preserve_recent_tokens == usual.preserve_recent_tokens;
    Config {
        delete_originals: config.delete_originals && has_store,
        preserve_recent_tokens: config.preserve_recent_tokens.filter(|_| !is_asked_for),
        ..config
    }
}

/// Returns the window that was given, within what a model has. Who kept nothing free for the answer left that to the model; what
/// of an answer has room beside the model's window is not kept free in it.
fn within(model: &Model, given: ContextWindow) -> ContextWindow {
    if given.window <= model.window {
        return given;
    }
    match given.reserved_output {
        Tokens::ZERO => ContextWindow::from(model),
        reserved => {
            let together = model.window + model.beside;
            let left = given.budget(Tokens::ZERO).min(together - reserved).min(model.window);
            ContextWindow::new(model.window, model.window - left)
        }
    }
}

fn default_clock() -> Option<Arc<dyn Clock>> {
    #[cfg(feature = "tokio")]
    {
        Some(Arc::new(crate::runtime::SystemClock))
    }
    #[cfg(not(feature = "tokio"))]
    {
        None
    }
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
