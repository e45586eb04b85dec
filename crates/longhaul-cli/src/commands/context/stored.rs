//! What fills the window of a conversation that only the store has: one of `chat`, or of a program that keeps its session there.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result};
use longhaul::{
    Config, Session,
    tokens::ContextWindow,
    transcript::{SessionId, SummaryMode, Tokens},
};

use crate::{
    archive::Archive,
    args::ContextArgs,
    counter::{self, Named},
    found, settings, store,
    store::Held,
    window::{DEFAULT_WINDOW, usual_reserve},
};

/// A conversation as it would be gone on with.
pub(super) struct Stored {
    pub(super) session: SessionId,
    pub(super) opened: Session,
    pub(super) counter: Named,
    /// What the definitions of tools cost in every request.
    pub(super) tools: Tokens,
}

/// Returns the conversation that is meant, where that is no file: on a terminal nothing stands for the newest of this folder, and
/// a name for what is recorded under it.
pub(super) fn meant(args: &ContextArgs) -> Result<Option<Stored>> {
    // A name that is not text is a file's.
    let Some(name) = args.file.to_str() else { return Ok(None) };
    let named = Some(name).filter(|name| *name != "-");
    if named.is_none() && !io::stdin().is_terminal() || args.file.exists() && named.is_some() {
        return Ok(None);
    }
    // What an agent keeps says more of itself, and needs no store.
    let is_agents = |name: &str| name.contains(['/', '\\']) || found::has(name);
    if named.is_some_and(is_agents) || !store::place(&args.store)?.may_exist() {
        return Ok(None);
    }
    let archive = Archive::existing(&args.store)?;
    let session = match named {
        None => archive.newest_chat(found::newest().map(|found| found.changed))?,
        Some(name) => archive.session(name).ok(),
    };
    let Some(session) = session else { return Ok(None) };
    let held = archive.held(&session)?;
    // Of what an agent keeps only its file tells what the agent sends.
    if held.is_none() && archive.wait(archive.store.snapshot(&session))?.is_none() {
        return Ok(None);
    }
    if named != Some(session.as_str()) {
        say!("session {session}");
    }
    taken_up(&archive, session, held, args).map(Some)
}

/// Returns a session with what would be sent of it, were it gone on with.
fn taken_up(archive: &Archive, session: SessionId, held: Option<Held>, args: &ContextArgs) -> Result<Stored> {
    let config = settings::load(&args.settings)?.config;
    let counter = counter::choose_for(&args.counter, held.as_ref().map(|held| held.model.as_str()))?;
    let config = match &held {
        Some(held) => config.for_model(held.protocol.as_deref().unwrap_or_default(), &held.model),
        None => config,
    };
    let now = config.preset.map(|preset| preset.to_string());
    if let Some(before) = held.as_ref().and_then(|held| held.preset.as_ref()).filter(|_| now.is_none()) {
        say!(
            "it was held under the preset {before}, and is told by the settings as they are: --preset {before} tells it by those"
        );
    }
    // What is kept for the answer belongs to its window.
    let (window, reserved) = match (args.window.map(Tokens), &held) {
        (None, Some(held)) => (held.window, held.reserved_output),
        (window, _) => (window.unwrap_or(DEFAULT_WINDOW), None),
    };
    let window = ContextWindow::new(window, reserved.unwrap_or_else(|| usual_reserve(window)));
    let tools = held.map_or(Tokens::ZERO, |held| held.tools);
    // It is only looked at: nobody is there who would write.
    let config = Config { mode: SummaryMode::Rules, ..config };
    let builder =
        Session::builder(session.clone(), config.window(window)).config(config).fixed_overhead(tools);
    let builder = builder.counter(counter.counter.clone()).store(archive.store.clone());
    let opened = archive.block_on(builder.open());
    let opened = opened.with_context(|| format!("{session} cannot be taken up"))?;
    Ok(Stored { session, opened, counter, tools })
}
