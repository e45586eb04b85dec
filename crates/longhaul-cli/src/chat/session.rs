//! From one line to the next: messages to the model, commands to longhaul.

use std::{path::Path, process::ExitCode};

use anyhow::{Context as _, Result, anyhow, bail};
use longhaul::{
    Basis, Error, Finished,
    store::Hit,
    summarize::Doubt,
    summary_box,
    transcript::{Role, SummaryMode},
    wire::{self, Format},
};
use tokio::runtime::Runtime;

use super::{
    console::{Consent, Console, Input},
    conversation::{Conversation, Turn},
    interrupt::{Interrupts, end_when_told, give_terminal_back},
    picture,
    screen::Screen,
    slash::{self, Slash, Typed},
};
use crate::{
    archive::{self, full, line, span},
    clock, exit,
    lookup::{self, By},
    output::Target,
    paint::{self, counted, grouped, plain},
    review, store, with_tools,
};

/// Everything a line may need.
struct Session<'a> {
    conversation: Conversation,
    screen: Screen,
    console: Console,
    interrupts: Interrupts,
    runtime: &'a Runtime,
    /// The last turn did not end in an answer.
    failed: bool,
    /// Ctrl-C was the last that was pressed: once more leaves.
    is_leaving: bool,
}

/// Talks until the user leaves.
pub(crate) fn run(conversation: Conversation, interrupts: Interrupts, runtime: &Runtime) -> Result<ExitCode> {
    let entries = conversation.manager.state().originals().entries();
    let typed = entries.iter().filter(|entry| entry.message.role == Role::User);
    let typed = typed.map(|entry| entry.message.texts().collect()).collect();
    let console = Console::open(typed, &interrupts)?;
    end_when_told(runtime)?;
    let (screen, failed, is_leaving) = (Screen::new(), false, false);
    let mut session = Session { conversation, screen, console, interrupts, runtime, failed, is_leaving };
    session.greet();
    let ended = session.talk();
    give_terminal_back();
    ended
}

impl Session<'_> {
    fn greet(&mut self) {
        let (conversation, screen) = (&mut self.conversation, &mut self.screen);
        let state = conversation.manager.state();
        let said = state.originals().len();
        let name = conversation.manager.line().as_str().to_owned();
        screen.note(&format!("{} at {} · session {name} · /help", conversation.model(), conversation.host()));
        conversation.show_events(screen);
        if conversation.known.is_assumed {
            screen.warn(&format!(
                "{} is in no table: a window of {:#} tokens is assumed; --window sets it",
                conversation.model(),
                conversation.known.window.window
            ));
        }
        if said > 1 {
            screen.note(&format!("going on after {}", counted(said as u64, "message")));
            if conversation.awaits_answer() {
                screen.warn("the last message was not answered; /retry asks again");
            }
            conversation.show_status(screen);
        }
    }

    fn talk(&mut self) -> Result<ExitCode> {
        // Somebody who stops a turn may press twice at once, before there is a prompt.
        while !(self.is_leaving && self.interrupts.again()) {
            let input = self.console.message("> ")?;
            let was_leaving = std::mem::replace(&mut self.is_leaving, input == Input::Interrupted);
            match input {
                Input::Interrupted if was_leaving => break,
                Input::Interrupted => self.screen.note("Ctrl-C once more, Ctrl-D or /quit leaves"),
                Input::Cleared => {}
                Input::End => break,
                Input::Line(typed) => match slash::read(&typed) {
                    Typed::Nothing => {}
                    Typed::Wrong(why) => self.screen.error(&why),
                    Typed::Words(words) => self.turn(Some(&words))?,
                    Typed::Command(Slash::Quit) => break,
                    Typed::Command(command) => {
                        if let Err(error) = self.obey(command) {
                            self.screen.error(&exit::words(&error));
                        }
                    }
                },
            }
        }
        let _busy = self.interrupts.busy();
        let (conversation, screen, interrupts) = (&mut self.conversation, &mut self.screen, &self.interrupts);
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupts.pressed() => screen.interrupted(),
                () = conversation.close(screen) => {}
            }
        });
        // Of a conversation in which nothing was said nothing is kept.
        if self.conversation.was_held() {
            let name = self.conversation.manager.line();
            self.screen.note(&format!("kept as {name}: `{}` goes on", self.conversation.goes_on()));
        }
        Ok(ExitCode::from(u8::from(self.failed)))
    }

    /// Says `words`, or asks again where there are none.
    fn turn(&mut self, words: Option<&str>) -> Result<()> {
        let Session { conversation, screen, console, interrupts, runtime, .. } = self;
        let busy = interrupts.busy();
        let turn = match words {
            Some(words) => runtime.block_on(conversation.say(words, screen, console, interrupts))?,
            None => runtime.block_on(conversation.ask_again(screen, console, interrupts))?,
        };
        self.failed = turn == Turn::Failed;
        if turn == Turn::Stopped {
            self.stopped();
        }
        self.conversation.show_status(&mut self.screen);
        drop(busy);
        Ok(())
    }

    /// Something stopped for Ctrl-C.
    fn stopped(&mut self) {
        self.screen.note("stopped; Ctrl-C once more leaves");
        self.interrupts.stopped();
        self.is_leaving = true;
    }

    fn obey(&mut self, command: Slash) -> Result<()> {
        match command {
            Slash::Context => {
                let picture = picture::context(&self.conversation, clock::now_ms(), self.screen.painter());
                self.screen.text(&picture);
            }
            Slash::Summarize { goal } => self.summarize(Basis::Summary, goal.as_deref())?,
            Slash::Resummarize { goal } => self.summarize(Basis::Originals, goal.as_deref())?,
            Slash::History { full } => {
                let (store, session) = (&self.conversation.store, self.conversation.manager.line());
                let held = self.runtime.block_on(store.state(session))?;
                let deleted = held.map(|held| held.forgotten).unwrap_or_default();
                let history = picture::history(self.conversation.manager.state(), full, &deleted);
                self.screen.words(&history);
            }
            Slash::Recall { query } => self.recall(&query)?,
            Slash::Undo => self.step("no compaction is in force: there is nothing to undo", false)?,
            Slash::Redo => self.step("no compaction was taken back: there is nothing to redo", true)?,
            Slash::Model { name: None, .. } => {
                let (conversation, screen) = (&self.conversation, &mut self.screen);
                let window = conversation.window();
                screen.text(&format!(
                    "{} at {}: a window of {} tokens, {} of them for the answer\n",
                    plain(conversation.model()),
                    conversation.host(),
                    grouped(window.window.0),
                    grouped(window.reserved_output.0)
                ));
            }
            Slash::Model { name: Some(name), window } => {
                self.conversation.switch(&name, window, &mut self.screen);
                self.runtime.block_on(self.conversation.note_holding());
                self.conversation.show_status(&mut self.screen);
            }
            Slash::Save { path, overwrites } => self.save(path.as_deref(), overwrites)?,
            Slash::Retry if self.conversation.awaits_answer() => self.turn(None)?,
            Slash::Retry => match self.conversation.stopped_question() {
                Some(question) => self.turn(Some(&question))?,
                None => bail!("the last message is an answer: there is nothing to ask again"),
            },
            Slash::Help => self.screen.text(&slash::help(self.screen.painter())),
            // Leaving is the loop's.
            Slash::Quit => {}
        }
        Ok(())
    }

    /// Shows a compaction, and applies it where the user says so.
    fn summarize(&mut self, basis: Basis, goal: Option<&str>) -> Result<()> {
        let conversation = &mut self.conversation;
        let is_asked = conversation.manager.state().config().mode != SummaryMode::Rules;
        if is_asked {
            self.screen.note("Summarizing conversation history...");
        }
        let proposal = {
            let _busy = self.interrupts.busy();
            let (manager, interrupts) = (&mut conversation.manager, &self.interrupts);
            self.runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = interrupts.pressed() => None,
                    proposal = manager.propose(basis, goal) => Some(proposal),
                }
            })
        };
        let Some(proposal) = proposal else {
            self.screen.interrupted();
            self.stopped();
            return Ok(());
        };
        // Why it is not by the model that was asked, where it is not.
        conversation.show_events(&mut self.screen);
        let proposal = proposal?;
        let before = conversation.manager.state().view().len() as u64;
        // With the summaries that stay in front. What would not be applied is not offered.
        let tools = conversation.overhead();
        let refused = |error| anyhow!(with_tools::refusal(error, tools));
        let after = conversation.manager.state().check(&proposal).map_err(refused)?;
        let question = format!(
            "Put this in the place of {}? {:#} → {:#} tokens.",
            counted(proposal.outcome().summarized as u64, "message"),
            conversation.used(),
            after + tools
        );
        let Some(proposal) = reviewed(&mut self.screen, &mut self.console, proposal, &question)? else {
            self.screen.note("left as it was");
            return Ok(());
        };
        let rewrite = self.runtime.block_on(conversation.manager.accept(proposal));
        let rewrite = rewrite.map_err(|error| match error {
            // An edit may have made it longer.
            Error::Rewrite(error) => refused(error),
            error => error.into(),
        })?;
        let after = conversation.manager.state().view().len() as u64;
        conversation.take_events();
        self.screen.text(&plain(&summary_box(&rewrite, before, after)));
        conversation.show_status(&mut self.screen);
        Ok(())
    }

    fn step(&mut self, nothing: &str, forward: bool) -> Result<()> {
        let manager = &mut self.conversation.manager;
        let is_done = self
            .runtime
            .block_on(async { if forward { manager.redo().await } else { manager.undo().await } })?;
        if !is_done {
            bail!("{nothing}");
        }
        self.conversation.show_events(&mut self.screen);
        self.conversation.show_status(&mut self.screen);
        Ok(())
    }

    /// Shows originals by number or by words, wherever they stand now.
    fn recall(&mut self, query: &str) -> Result<()> {
        let (store, session) = (&self.conversation.store, self.conversation.manager.line());
        let text: String = match span(query) {
            Some(span) => {
                let held = self.runtime.block_on(store.originals_in_line(session, span))?;
                held.iter().map(full).collect()
            }
            None => {
                let (hits, by) =
                    self.runtime.block_on(lookup::by_words(store, Some(session), query, FOUND))?;
                if by == By::SomeWords && !hits.is_empty() {
                    let deleted =
                        archive::but_deleted(self.runtime.block_on(archive::deleted(store, session))?);
                    self.screen.note(&format!(
                        "no message holds all of these words{deleted}; these hold most of them"
                    ));
                }
                let shown = |hit: Hit| {
                    let snippet = plain(&hit.snippet);
                    format!("{}\n       … {snippet}\n", line(&lookup::found(hit)))
                };
                hits.into_iter().map(shown).collect()
            }
        };
        if text.is_empty() {
            let (deleted, hints) = self.runtime.block_on(async {
                anyhow::Ok((
                    archive::deleted(store, session).await?,
                    lookup::hints(store, session, query).await?,
                ))
            })?;
            let hints: String = hints.iter().map(|hint| format!("\n{hint}")).collect();
            bail!("nothing of this was said in this conversation{}{hints}", archive::but_deleted(deleted));
        }
        self.screen.words(&text);
        Ok(())
    }

    fn save(&mut self, path: Option<&Path>, overwrites: bool) -> Result<()> {
        let manager = &mut self.conversation.manager;
        let state = manager.state();
        let said = counted(state.originals().len() as u64, "message");
        // First the file: it is what is left where the store no longer takes what is said here.
        if let Some(path) = path {
            let written = wire::encode(&state.originals().to_transcript(), Format::Longhaul)
                .context("it cannot be written")?;
            Target::new(Some(path), overwrites).put(written.document.as_bytes())?;
            self.screen.note(&format!("{said} written to {}", paint::path(path)));
        }
        self.runtime.block_on(manager.save())?;
        let line = manager.line();
        self.screen
            .note(&format!("{said} kept as {line}; `longhaul history {line}{}` shows them", store::flags()));
        Ok(())
    }
}

/// Shows a compaction, asks `question` and returns it as the user wants it, who may edit what its summary says; `None`
/// where they do not.
fn reviewed(
    screen: &mut Screen,
    console: &mut Console,
    proposal: Finished,
    question: &str,
) -> Result<Option<Finished>> {
    let mut text = proposal.record().text.clone();
    let mut doubts: Vec<Doubt> = Vec::new();
    loop {
        screen.words(&format!("{}\n\n", plain(text.trim_end())));
        doubts.iter().for_each(|doubt| screen.warn(&doubt.to_string()));
        match console.consent(question, Some(Consent::Edit))? {
            Consent::No | Consent::Stop => return Ok(None),
            Consent::Edit => match review::edited(&text) {
                Ok(edited) => (text, doubts) = (edited, Vec::new()),
                Err(error) => screen.error(&format!("{error:#}")),
            },
            // What they were told of and leave standing is their word.
            Consent::Yes | Consent::Always => match proposal.edited(&text, !doubts.is_empty()) {
                Ok(edited) => return Ok(Some(edited)),
                Err(found) => doubts = found,
            },
        }
    }
}

/// The most messages that a search shows.
const FOUND: usize = 10;
