//! From flags to a conversation.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, Result};
use longhaul::{
    Config, Event, Session,
    summarize::LastRequest,
    tokens::{ContextWindow, Model, ModelTable, TokenCounter, count_tools},
    transcript::{Message, SessionId, SummaryMode, Tokens},
};
use longhaul_client::Chat;

use super::{
    awaited::Awaited, conversation::Conversation, interrupt::Interrupts, screen::Screen, tools::Toolbox,
    with::With,
};
use crate::{
    archive::utc,
    args::{ChatArgs, SummarizerArgs},
    clock, counter, found, settings,
    store::{self, Held, Store},
    summarizer,
};

/// The most that is read of one answer. A server wraps each token into some 250 bytes, so this is 256,000 tokens.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// How long a model may stay silent where nobody says it.
const TIMEOUT: Duration = Duration::from_secs(600);

/// How long making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model as a conversation uses it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) model: Model,
    pub(crate) window: ContextWindow,
    /// The table does not list it.
    pub(crate) is_assumed: bool,
}

/// The settings of a conversation, whichever model it is with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    config: Config,
    protocol: String,
    max_output: Option<Tokens>,
    /// Whether the model has tools, that which finds what was said among them.
    has_tools: bool,
    /// Who writes summaries is settled when the conversation begins.
    mode: SummaryMode,
}

/// What a summary says of the tool of [`Toolbox`].
const LOOKUP: &str = "the tool recall finds messages by their words";

impl Settings {
    fn load(args: &ChatArgs, with: &With) -> Result<Settings> {
        let config = settings::load(&args.settings)?.config;
        let mode = summarizer::mode(args.mode.as_deref(), &config.for_model(&with.protocol, &with.model))?;
        Ok(Settings {
            config,
            protocol: with.protocol.clone(),
            max_output: args.max_output.map(Tokens),
            has_tools: args.tools,
            mode,
        })
    }

    /// Returns the settings for this model; flags win over them.
    pub(crate) fn for_model(&self, model: &str) -> Config {
        let mut config = self.config.for_model(&self.protocol, model);
        if self.has_tools && config.preset.is_none() && config.summary_lookup.is_empty() {
            config.summary_lookup = LOOKUP.to_owned();
        }
        let reserved_output_tokens = self.max_output.or(config.reserved_output_tokens);
        Config { mode: self.mode, reserved_output_tokens, ..config }
    }
}

/// Returns the conversation that the flags ask for: a new one, or one that goes on. A summary that it waits for is stopped by
/// `interrupts`.
pub(crate) async fn setup(args: &ChatArgs, interrupts: &Interrupts) -> Result<Conversation> {
    // Where that cannot be, no store is made.
    if args.session.is_none() {
        With::of(args, None)?;
    }
    let store = store::open(&args.store)?;
    let session = session(args, &store).await?;
    let held = Held::of(&store, &session).await?;
    let with = With::of(args, held.as_ref());
    let with = match held {
        Some(_) => with?,
        None => match (with, &args.session) {
            (Err(error), Some(name)) => return Err(error.context(unnoted(&store, &session, name).await?)),
            (with, _) => with?,
        },
    };
    let settings = Settings::load(args, &with)?;
    let config = settings.for_model(&with.model);
    let summarizer = summarizer_args(args, &with, &config);
    let mut known = known(&with.model, with.window, &config);
    if let (Some(reserved), None) = (with.reserved, config.reserved_output_tokens) {
        known.window = ContextWindow::new(known.window.window, reserved);
    }
    let counter: Arc<dyn TokenCounter> = match &args.tokenizer {
        Some(_) => counter::choose(&counter_args(args))?.counter,
        None => known.model.counter(),
    };

    let tools =
        args.tools.then(|| Toolbox::here(store.clone(), session.clone(), args.piped_answers)).transpose()?;
    let definitions: Vec<String> =
        tools.iter().flat_map(Toolbox::definitions).map(|tool| tool.json()).collect();
    let overhead = count_tools(&*counter, definitions.iter().map(String::as_str));

    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let seen = Arc::clone(&events);
    let mut builder = Session::builder(session, known.window)
        .config(config.clone())
        .counter(counter)
        .store(store.clone())
        .fixed_overhead(overhead)
        .endpoint(&with.model, &with.base_url)
        .observer(move |event: &Event| {
            if let Ok(mut events) = seen.lock() {
                events.push(event.clone());
            }
        });
    let mut writer = None;
    let last_request = LastRequest::default();
    if config.mode != SummaryMode::Rules {
        let is_own = summarizer.summarizer_model == [with.model.as_str()];
        let own = is_own.then(|| last_request.clone());
        let ladder = summarizer::ladder(&summarizer, &config, config.mode, Some(store.clone()), own)?;
        let ladder = Arc::new(ladder);
        let (interrupts, aborts) = (interrupts.clone(), config.abort_on_failure);
        let awaited = Awaited { ladder: ladder.clone(), interrupts, aborts };
        builder = builder.summarizer(Arc::new(awaited)).observer(last_request.clone());
        writer = Some(ladder);
    }
    let mut manager = builder.open().await.context("the conversation cannot be taken up")?;
    // Nobody set them: they are what the table knows of the model, which may be nothing.
    manager.set_prices(known.model.prices)?;
    if manager.state().originals().is_empty() {
        let system = args.system.clone().or_else(|| tools.as_ref().map(Toolbox::instructions));
        system.into_iter().for_each(|text| {
            manager.push(Message::system(text));
        });
    } else if args.system.is_some() {
        Screen::new().warn("the conversation began with instructions already; --system is ignored");
    }

    let mut endpoint = summarizer::endpoint(&summarizer)?;
    endpoint = endpoint.with_timeouts(CONNECT_TIMEOUT, args.timeout.map_or(TIMEOUT, Duration::from_secs));
    endpoint.max_body_bytes = MAX_ANSWER_BYTES;
    let client = match with.protocol.as_str() {
        "anthropic" => Chat::anthropic(endpoint)?,
        _ => Chat::openai(endpoint)?,
    }
    .with_last_request(last_request);
    Ok(Conversation::new(
        manager,
        client,
        known,
        (with, held),
        args.temperature,
        settings,
        tools,
        store,
        events,
        writer,
    ))
}

/// Returns what is known of the model called `name`; the flags win over the table.
pub(crate) fn known(name: &str, window: Option<u64>, config: &Config) -> Known {
    let table = ModelTable::builtin();
    let is_assumed = table.get(name).is_none() && window.is_none();
    let mut model = table.get_or_unknown(name);
    if let Some(window) = window {
        (model.window, model.beside) = (Tokens(window), Tokens::ZERO);
    }
    Known { window: config.window(ContextWindow::from(&model)), model, is_assumed }
}

/// Returns the session of that name, or a new one: named, or by the time it begins.
async fn session(args: &ChatArgs, store: &Store) -> Result<SessionId> {
    let Some(name) = &args.session else {
        let time: String = utc(clock::now_ms()).chars().filter(char::is_ascii_digit).collect();
        return Ok(SessionId::new(&format!("chat-{time}-{}", std::process::id()))?);
    };
    match store.resolve(name).await {
        Ok(session) => Ok(session),
        Err(_) => SessionId::new(name).context("--session"),
    }
}

/// Says why it is not known with whom a session was held: there may be none of that name, but others that are called nearly so.
async fn unnoted(store: &Store, session: &SessionId, name: &str) -> Result<String> {
    /// So many are named.
    const MOST: usize = 5;
    if store.state(session).await?.is_some() {
        return Ok(format!("it is not noted of {session} with whom it was held"));
    }
    let all = store.sessions().await?;
    let near = all.iter().filter(|info| found::is_part(name, info.session.as_str())).take(MOST);
    let near: Vec<&str> = near.map(|info| info.session.as_str()).collect();
    Ok(match near.is_empty() {
        true => format!("no conversation is called {session}, and this would be a new one"),
        false => format!("no conversation is called {session} (but {})", near.join(", ")),
    })
}

fn counter_args(args: &ChatArgs) -> crate::args::CounterArgs {
    crate::args::CounterArgs { tokenizer: args.tokenizer.clone(), ..Default::default() }
}

/// The endpoint of the conversation writes its summaries too: the models of the flags, of the settings, or the one that is
/// talked to, whose window is known.
fn summarizer_args(args: &ChatArgs, with: &With, config: &Config) -> SummarizerArgs {
    let named = [&args.summarizer_model, &config.summarizer_model_preference];
    let own = vec![with.model.clone()];
    let summarizer_model = named.into_iter().find(|names| !names.is_empty()).unwrap_or(&own).clone();
    SummarizerArgs {
        base_url: Some(with.base_url.clone()),
        summarizer_window: args.summarizer_window.or(with.window.filter(|_| summarizer_model == own)),
        summarizer_model,
        protocol: with.protocol.clone(),
        summarizer_timeout: args.summarizer_timeout.or(args.timeout),
        abort_on_failure: false,
    }
}

#[cfg(test)]
mod tests;
