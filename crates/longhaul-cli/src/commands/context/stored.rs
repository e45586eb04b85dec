//! What fills the window of a conversation that only the store has: one of `chat`, or of a program that keeps its session there.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result};
use longhaul::{
    Session, Shown,
    tokens::ContextWindow,
    transcript::{SessionId, Tokens, Transcript},
    wire::{self, Document, Format},
};

use crate::{
    archive::Archive,
    args::ContextArgs,
    counter::{self, Named},
    found::{self, About},
    settings, store,
    window::DEFAULT_WINDOW,
};

/// What the next request of a conversation holds.
pub(super) struct Stored {
    pub(super) session: SessionId,
    pub(super) document: Document,
    pub(super) about: About,
    /// What each message of the document is called.
    pub(super) names: Vec<String>,
    pub(super) counter: Named,
    /// What is kept free for the answer, where that is known.
    pub(super) reserved_output: Option<Tokens>,
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
    // Of what an agent keeps only its file tells what the agent sends.
    if archive.held(&session)?.is_none() && archive.wait(archive.store.snapshot(&session))?.is_none() {
        return Ok(None);
    }
    if named != Some(session.as_str()) {
        say!("session {session}");
    }
    taken_up(&archive, session, args).map(Some)
}

/// Returns what would be sent of a session, were it gone on with.
fn taken_up(archive: &Archive, session: SessionId, args: &ContextArgs) -> Result<Stored> {
    let held = archive.held(&session)?;
    let window = args.window.map(Tokens).or_else(|| Some(held.as_ref()?.window));
    let config = settings::load(&args.settings)?.config;
    let model = held.as_ref().map(|held| held.model.as_str());
    let counter = counter::choose_for(&args.counter, model)?;
    let window = ContextWindow::new(window.unwrap_or(DEFAULT_WINDOW), Tokens::ZERO);
    let builder = Session::builder(session.clone(), window).config(config).counter(counter.counter.clone());
    let opened = archive.block_on(builder.store(archive.store.clone()).open());
    let opened = opened.with_context(|| format!("{session} cannot be taken up"))?;
    let view = opened.state().view();
    let name = |shown: &Shown| match shown {
        Shown::Message { id, .. } => format!("m{}", id.ordinal),
        Shown::Summary { .. } => "summary".to_owned(),
        _ => "block".to_owned(),
    };
    let names = view.shown().map(name).collect();
    let transcript: Transcript = view.messages().map(|message| (**message).clone()).collect();
    let document = wire::encode(&transcript, Format::Longhaul)?.document;
    let reserved_output = held.as_ref().and_then(|held| held.reserved_output);
    let tools = held.as_ref().map_or(Tokens::ZERO, |held| held.tools);
    let (model, window) = held.map(|held| (held.model, held.window)).unzip();
    // What the provider reported of it is worth more than what is counted here.
    let about = About::of_chat(model, window, view.tokens() + tools);
    Ok(Stored { session, document, about, names, counter, reserved_output })
}
