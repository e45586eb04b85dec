//! The conversation: what is said goes to the journal, then to the model, and what comes back to the journal, then counts.

mod refused;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Result;
use longhaul::{
    Background, Event, EventKind, Preset, Session,
    cost::usage_cost,
    notice,
    summarize::{ClientError, Draft, Finish, Ladder, SummarizeError, Summarizer as _},
    tokens::ContextWindow,
    transcript::{Message, Part, Role, SessionId, Tokens, ToolCall},
};
use longhaul_client::{Chat, ChatRequest, Delta, Reply, ToolDefinition};
use tokio::{runtime::Handle, task::JoinHandle};

use self::refused::{Refused, refused};
use super::{
    console::Console,
    interrupt::Interrupts,
    screen::{Screen, light},
    setup::{Known, Settings, known},
    tools::{self, NOT_RUN, Toolbox},
    wait,
    with::{OPENAI, With, is_on_this_machine},
};
use crate::{
    exit,
    paint::{counted, grouped},
    store::{Held, Store, flags, without_secret},
    summarizer::about_key,
    summarizer::key,
    with_tools,
};

/// A conversation with a model.
pub(crate) struct Conversation {
    pub(crate) manager: Session,
    pub(crate) known: Known,
    pub(crate) store: Store,
    /// US dollars spent so far in this run, where prices are known.
    pub(crate) spent: f64,
    client: Chat,
    with: With,
    temperature: Option<f64>,
    settings: Settings,
    tools: Option<Toolbox>,
    definitions: Vec<ToolDefinition>,
    events: Arc<Mutex<Vec<Event>>>,
    /// Who writes summaries, where it is a model.
    writer: Option<Arc<Ladder>>,
    background: Option<JoinHandle<(Background, Result<Draft, SummarizeError>)>>,
    /// What is to be noted of the session that is held here, as it was tried last.
    held_as: Option<(SessionId, Held)>,
    /// Whether the store took it.
    is_noted: bool,
    /// What was refused for its size last, where nothing of it could be spared.
    refused: Option<Refused>,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Answered,
    /// Stopped by Ctrl-C.
    Stopped,
    /// It failed, and the user was told why.
    Failed,
}

/// What an answer ends with that Ctrl-C stopped.
const STOPPED: &str = "\n[stopped by the user]";

/// How often a model may go on by itself, calling tools, before the user must speak.
const MAX_STEPS: usize = 60;

/// How often it may go on by itself where nothing that it calls can be done: it is not there, or its arguments cannot be read.
const MAX_IN_VAIN: usize = 3;

/// How often a request that the provider found too large is made smaller.
const MAX_OVERFLOWS: usize = 3;

impl Conversation {
    #[allow(clippy::too_many_arguments, reason = "called once, by the setup that has made each of these")]
    pub(crate) fn new(
        manager: Session,
        client: Chat,
        known: Known,
        (with, held): (With, Option<Held>),
        temperature: Option<f64>,
        settings: Settings,
        tools: Option<Toolbox>,
        store: Store,
        events: Arc<Mutex<Vec<Event>>>,
        writer: Option<Arc<Ladder>>,
    ) -> Conversation {
        let definitions = tools.iter().flat_map(Toolbox::definitions).collect();
        let held_as = held.map(|held| (manager.line().clone(), held));
        Conversation {
            manager,
            known,
            store,
            spent: 0.0,
            client,
            with,
            temperature,
            settings,
            tools,
            definitions,
            events,
            writer,
            background: None,
            is_noted: held_as.is_some(),
            held_as,
            refused: None,
        }
    }

    /// Returns the host that the conversation goes to.
    pub(crate) fn host(&self) -> String {
        self.client.host()
    }

    /// Returns the model's name, as it was given.
    pub(crate) fn model(&self) -> &str {
        &self.with.model
    }

    /// Returns whether the last thing said waits for an answer.
    pub(crate) fn awaits_answer(&self) -> bool {
        let last = self.manager.state().originals().last();
        let is_open =
            |last: &Message| matches!(last.role, Role::User | Role::Tool) || last.calls().next().is_some();
        last.is_some_and(|last| is_open(&last.message))
    }

    /// Returns the calls that were made last and have no result: the process ended while they ran.
    fn cut_off(&self) -> Vec<ToolCall> {
        let entries = self.manager.state().originals().entries();
        let n_results = entries.iter().rev().take_while(|entry| entry.message.role == Role::Tool).count();
        let (said, results) = entries.split_at(entries.len() - n_results);
        let is_answered = |call: &ToolCall| {
            results.iter().flat_map(|entry| entry.message.results()).any(|result| result.call_id == call.id)
        };
        let calls = said.last().into_iter().flat_map(|entry| entry.message.calls());
        calls.filter(|call| !is_answered(call)).cloned().collect()
    }

    /// Returns what the user said last, where the answer to it was stopped.
    pub(crate) fn stopped_question(&self) -> Option<String> {
        let said = self.manager.state().originals().entries();
        let ends_stopped = |said: &&str| said.ends_with(STOPPED);
        said.last()
            .filter(|last| last.message.role == Role::Assistant)?
            .message
            .texts()
            .last()
            .filter(ends_stopped)?;
        let asked = said.iter().rfind(|entry| entry.message.role == Role::User)?;
        Some(asked.message.texts().collect())
    }

    /// Returns whether anything was said but standing instructions.
    pub(crate) fn was_held(&self) -> bool {
        self.manager.state().originals().entries().iter().any(|entry| !entry.message.is_system())
    }

    /// Returns what happened since this was last asked.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        self.events.lock().map(|mut events| std::mem::take(&mut *events)).unwrap_or_default()
    }

    /// Returns who writes the summaries, where it is a model.
    pub(crate) fn writer(&self) -> Option<&Ladder> {
        self.writer.as_deref()
    }

    /// Says `text` to the model and shows its answer.
    pub(crate) async fn say(
        &mut self,
        text: &str,
        screen: &mut Screen,
        console: &mut Console,
        interrupts: &Interrupts,
    ) -> Result<Turn> {
        self.keep(Message::user(text), screen).await;
        self.go_on(screen, console, interrupts).await
    }

    /// Asks again what was not answered. What ran when the process ended has no result, and is not run again.
    pub(crate) async fn ask_again(
        &mut self,
        screen: &mut Screen,
        console: &mut Console,
        interrupts: &Interrupts,
    ) -> Result<Turn> {
        for call in self.cut_off() {
            let result = Toolbox::refused(&call, tools::CUT_OFF);
            self.keep(Message::new(Role::Tool, vec![Part::ToolResult(result)]), screen).await;
        }
        self.go_on(screen, console, interrupts).await
    }

    /// Lets the model answer what was said last, and run tools until it has said all.
    async fn go_on(
        &mut self,
        screen: &mut Screen,
        console: &mut Console,
        interrupts: &Interrupts,
    ) -> Result<Turn> {
        let mut in_vain = 0;
        for _ in 0..MAX_STEPS {
            let reply = match self.ask(screen, interrupts).await {
                Ok(Some(reply)) => reply,
                Ok(None) => return Ok(Turn::Stopped),
                Err(error) => {
                    screen.error(&exit::words(&error));
                    let hints = about_key(&error).into_iter().chain(wait::about(&error));
                    hints.for_each(|hint| screen.note(&hint));
                    screen.note(&self.way_on(&error));
                    return Ok(Turn::Failed);
                }
            };
            if reply.finish == Finish::Length {
                screen.warn("the answer was cut at its longest length (--max-output)");
            }
            if reply.finish == Finish::Refusal {
                screen.warn("the provider or the model refused to go on: the answer may not be whole");
            }
            let calls: Vec<_> = reply.message.calls().cloned().collect();
            if reply.message.parts.is_empty() {
                screen.warn("the model said nothing");
                return Ok(Turn::Answered);
            }
            self.keep(reply.message, screen).await;
            if calls.is_empty() {
                self.start_background();
                return Ok(Turn::Answered);
            }
            let can_be_done = self.tools.is_some() && calls.iter().any(tools::is_known);
            in_vain = if can_be_done { 0 } else { in_vain + 1 };
            let mut stopped = false;
            for call in calls {
                let result = match (&mut self.tools, stopped) {
                    (_, true) => Toolbox::refused(&call, NOT_RUN),
                    (None, _) => Toolbox::refused(&call, "there are no tools in this conversation"),
                    (Some(tools), false) => {
                        tools.follow(self.manager.line());
                        let (result, was_stopped) = tools.run(&call, screen, console, interrupts).await?;
                        stopped = was_stopped;
                        result
                    }
                };
                let result = Message::new(Role::Tool, vec![Part::ToolResult(result)]);
                self.keep(result, screen).await;
            }
            if stopped {
                return Ok(Turn::Stopped);
            }
            if in_vain == MAX_IN_VAIN {
                let way = if self.tools.is_none() { " (--tools gives it some)" } else { "" };
                screen.warn(&format!(
                    "the model called {MAX_IN_VAIN} times in a row what cannot be done{way}; say so if it is to go on"
                ));
                return Ok(Turn::Answered);
            }
        }
        screen.warn(&format!("stopped after {MAX_STEPS} steps; say so if it is to go on"));
        Ok(Turn::Answered)
    }

    /// Asks for one answer, within the window. `None` where Ctrl-C stopped it; what was said until then is kept.
    async fn ask(&mut self, screen: &mut Screen, interrupts: &Interrupts) -> Result<Option<Reply>> {
        let (mut overflows, mut waits) = (0, 0);
        loop {
            self.finish_background(screen).await;
            // Where a model writes a summary, Ctrl-C stops that, and rules do (`Awaited`).
            let prepared = self.manager.prepare().await;
            self.show_events(screen);
            let view = prepared?;
            if self.makes_room().await? {
                self.show_events(screen);
                continue;
            }
            let sent = view.id();
            let messages: Vec<Arc<Message>> = view.messages().cloned().collect();
            let mut request = ChatRequest::new(&self.with.model, messages, self.window().reserved_output)
                .with_tools(self.definitions.clone())
                .with_cache_marks(view.cache_marks());
            request.temperature = self.temperature;

            let mut said = String::new();
            let answered = {
                let on_delta = |delta: Delta| {
                    screen.delta(&delta);
                    if let Delta::Text(text) = delta {
                        said.push_str(&text);
                    }
                };
                tokio::select! {
                    biased;
                    () = interrupts.pressed() => None,
                    answered = self.client.reply(&request, on_delta) => Some(answered),
                }
            };
            if answered.is_none() {
                screen.interrupted();
            }
            screen.end_answer();
            match answered {
                None => {
                    if !said.trim().is_empty() {
                        self.keep(Message::assistant(format!("{said}{STOPPED}")), screen).await;
                    }
                    return Ok(None);
                }
                Some(Ok(reply)) => {
                    if let Some(usage) = &reply.usage {
                        self.manager.report_usage(sent, usage);
                        self.spent += usage_cost(&self.known.model.prices, usage).unwrap_or_default();
                    }
                    return Ok(Some(reply));
                }
                Some(Err(ClientError::ContextOverflow { limit, reason })) if overflows < MAX_OVERFLOWS => {
                    overflows += 1;
                    screen.warn(&format!("the provider finds this too large ({reason}); compacting at once"));
                    let given = self.window().window;
                    if let Err(error) = self.manager.overflowed(limit).await {
                        self.refused = refused(&error);
                        return Err(error.into());
                    }
                    self.show_events(screen);
                    let window = self.window().window;
                    if limit.is_some() && window < given {
                        screen.note(&format!(
                            "the window is {window:#} tokens from now on: the provider says so"
                        ));
                    }
                }
                Some(Err(error)) => {
                    let Some(asked) = wait::bearable(&error, waits) else { return Err(error.into()) };
                    waits += 1;
                    if !wait::out(asked, &error, screen, interrupts).await {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Adds what was said, and writes it down before anything else happens. Where somebody else went on with the session
    /// meanwhile, it goes on under a name of its own, and says so.
    async fn keep(&mut self, message: Message, screen: &mut Screen) {
        self.manager.push(message);
        if let Err(error) = self.manager.save().await {
            screen.error(&format!("the conversation could not be written down: {error}"));
        } else {
            self.note_holding().await;
        }
        self.show_events(screen);
    }

    /// Notes where and with whom the conversation is held, where that is not noted yet. Where it cannot be, the conversation is
    /// found by its name all the same.
    pub(crate) async fn note_holding(&mut self) {
        let preset = self.manager.state().config().preset;
        let now =
            (self.manager.line().clone(), Held::here(&self.with, self.window(), self.overhead(), preset));
        if self.held_as.as_ref() != Some(&now) {
            let kept = now.1.keep(&self.store, &now.0).await;
            // What holds a secret is not tried again; what failed is.
            self.is_noted = *kept.as_ref().unwrap_or(&false);
            self.held_as = kept.is_ok().then_some(now);
        }
    }

    /// Returns the command that goes on with the conversation. What of it is not noted is to be named.
    pub(crate) fn goes_on(&self) -> String {
        let held = self.held_as.as_ref().filter(|_| self.is_noted).map(|(_, held)| held);
        let mut command = format!("longhaul chat --session {}{}", self.manager.line(), flags());
        if let Some(preset) = self.manager.state().config().preset {
            command.push_str(&format!(" --preset {preset}"));
        }
        if held.is_none() {
            command.push_str(" --model ");
            command.push_str(&self.with.model);
        }
        match held.and_then(|held| held.base_url.as_ref()) {
            None => {
                let url = without_secret(&self.with.base_url).unwrap_or_else(|| "URL".to_owned());
                command.push_str(&format!(" --base-url {url}"));
            }
            Some(url) if key().is_some() && !is_on_this_machine(url) => {
                command.push_str(&format!(" --base-url {url}"))
            }
            Some(_) => {}
        }
        if held.is_none_or(|held| held.base_url.is_none()) && self.with.protocol != OPENAI {
            command.push_str(&format!(" --protocol {}", self.with.protocol));
        }
        if self.tools.is_some() {
            command.push_str(" --tools");
        }
        command
    }

    /// Shows what longhaul did, where the user should know.
    pub(crate) fn show_events(&mut self, screen: &mut Screen) {
        let tools = self.overhead();
        for event in worth_telling(self.take_events()) {
            let event = with_tools::event(event, tools);
            let state = self.manager.state();
            screen.event(&event, !state.config().delete_originals);
            // One preset has words of its own for it.
            let is_session = state.config().preset == Some(Preset::Session);
            if let (EventKind::Finished(_), Some(record), true) = (&event.kind, state.summary(), is_session)
                && let Some(notice) = notice(record)
            {
                screen.note(&notice);
            }
        }
    }

    /// Shows how full the window is.
    pub(crate) fn show_status(&self, screen: &mut Screen) {
        let state = self.manager.state();
        let said = counted(state.originals().len() as u64, "message");
        let about = format!(
            "{said} said, {} in the window · {}",
            grouped(state.view().len() as u64),
            self.with.model
        );
        let colour = light(state.view().tokens(), &state.limits());
        screen.status(self.used(), self.window().window, colour, &about);
    }

    /// Switches to another model. One that is in no table needs its window where what is said would not fit the one that is
    /// assumed: a slip of the hand compacts nothing.
    pub(crate) fn switch(&mut self, name: &str, window: Option<u64>, screen: &mut Screen) {
        let config = self.settings.for_model(name);
        let known = known(name, window, &config);
        let assumed = known.window.window;
        let is_smaller = assumed < self.window().window;
        if known.is_assumed
            && is_smaller
            && self.used() >= config.limits(assumed, known.window.budget(Tokens::ZERO)).trigger
        {
            screen.warn(&format!(
                "{name} is in no table, and a window of {} tokens, which is assumed then, would have to be compacted into: \
                 /model {name} N says how large it is; {} goes on",
                grouped(assumed.0),
                self.with.model
            ));
            return;
        }
        if known.is_assumed {
            screen.warn(&format!(
                "{name} is in no table: a window of {} tokens is assumed; /model {name} N sets it",
                grouped(assumed.0)
            ));
        }
        if let Err(error) = self.manager.switch_model(known.window, known.model.counter(), config) {
            screen.warn(&format!("{name} cannot be used: {error}"));
            return;
        }
        let set = self.manager.set_prices(known.model.prices);
        if let Err(error) = set.and_then(|()| self.manager.set_endpoint(name, &self.with.base_url)) {
            screen.warn(&error.to_string());
        }
        name.clone_into(&mut self.with.model);
        self.refused = None;
        self.known = known;
        self.show_events(screen);
        screen.note(&format!(
            "{name} answers from now on; a window of {} tokens",
            grouped(self.window().window.0)
        ));
    }

    /// Lets a model write the next summary while the user thinks, where one is due.
    fn start_background(&mut self) {
        let (Some(writer), None) = (self.writer.clone(), &self.background) else { return };
        let Some(background) = self.manager.start_background() else { return };
        self.background = Some(Handle::current().spawn(async move {
            let draft = writer.summarize(background.job().request()).await;
            (background, draft)
        }));
    }

    /// Applies the summary that was written meanwhile, where it is done.
    async fn finish_background(&mut self, screen: &mut Screen) {
        if self.background.as_ref().is_some_and(JoinHandle::is_finished) {
            self.close(screen).await;
        }
    }

    /// Waits a moment for a summary that is being written, so that leaving does not lose it, and applies it.
    pub(crate) async fn close(&mut self, screen: &mut Screen) {
        let Some(task) = self.background.take() else { return };
        match tokio::time::timeout(PATIENCE, task).await {
            Ok(Ok((background, Ok(draft)))) => {
                // Where it no longer fits, observers are told why, and the policy goes on without it.
                let _ = self.manager.finish_background(background, draft).await;
            }
            _ => screen.warn("a summary was being written and came to nothing; the context is as it was"),
        }
        self.show_events(screen);
    }

    /// Returns the window as far as it is known by now: a refusal may have told that it is smaller than was given.
    pub(crate) fn window(&self) -> ContextWindow {
        self.manager.state().context_window()
    }

    /// Returns what the next request is expected to cost, the definitions of tools with it.
    pub(crate) fn used(&self) -> Tokens {
        self.manager.state().likely_tokens() + self.overhead()
    }

    /// Returns how many tokens of each request are the definitions of tools.
    pub(crate) fn overhead(&self) -> Tokens {
        let counter = self.known.model.counter();
        let definitions: Vec<String> = self.definitions.iter().map(ToolDefinition::json).collect();
        longhaul::tokens::count_tools(&*counter, definitions.iter().map(String::as_str))
    }
}

/// How long leaving waits for a summary that is being written.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns `events` without failures where something was done about them: that is told in their place.
fn worth_telling(mut events: Vec<Event>) -> Vec<Event> {
    let is_done = |event: &Event| matches!(event.kind, EventKind::Finished(_) | EventKind::Trimmed { .. });
    if events.iter().any(is_done) {
        events.retain(|event| !matches!(event.kind, EventKind::Failed { .. }));
    }
    events
}

#[cfg(test)]
mod tests {
    use longhaul::policy::{Action, Reason};

    use super::*;

    #[test]
    fn a_failure_is_told_where_nothing_was_done_about_it() {
        let session = SessionId::new("s").unwrap();
        let event = |kind: EventKind| Event::new(session.clone(), Tokens(900), 0.9, kind);
        let reason = Reason::Manual;
        let failed = || event(EventKind::Failed { reason, error: "no room".into(), failures: 1 });
        let trimmed = event(EventKind::Trimmed {
            action: Action::Summarize { rebuild: false },
            reason,
            tokens_before: Tokens(1_000),
            tokens_after: Tokens(900),
            digested: 1,
            dropped: 0,
        });
        assert_eq!(worth_telling(vec![failed()]), [failed()]);
        assert_eq!(worth_telling(vec![trimmed.clone(), failed()]), [trimmed]);
    }
}
