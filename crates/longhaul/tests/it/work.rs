//! What the seeds' tests share: a session at work, a scripted model, and the events that came of it.

use std::sync::{Arc, Mutex};

use longhaul::{
    Config, Event, EventKind, Finish, Preset, Session,
    summarize::{Answer, ClientError, Completion, CompletionRequest, Scripted, SummarizerModel},
    tokens::{CharsPer4, ContextWindow},
    transcript::{
        FixedClock, Message, NoJitter, NoSleep, Outcome, Part, Role, SessionId, SummaryMode, Tokens,
        ToolCall, ToolResult,
    },
};

/// A manager whose events are kept.
pub(crate) struct Work {
    pub(crate) context: Session,
    events: Arc<Mutex<Vec<Event>>>,
    pub(crate) model: Option<Arc<Scripted>>,
}

pub(crate) type Script = dyn Fn(usize, &CompletionRequest) -> Result<Completion, ClientError> + Send + Sync;

impl Work {
    /// A session under `preset` in a window of `window` tokens, four characters a token, without a model.
    pub(crate) fn new(preset: Preset, window: u64) -> Work {
        Work::with(preset.config(), window, None)
    }

    /// The same with a model that follows `script`.
    pub(crate) fn asking(
        preset: Preset,
        window: u64,
        script: impl Fn(usize, &CompletionRequest) -> Result<Completion, ClientError> + Send + Sync + 'static,
    ) -> Work {
        Work::with(preset.config(), window, Some(Box::new(script)))
    }

    pub(crate) fn with(mut config: Config, window: u64, script: Option<Box<Script>>) -> Work {
        if script.is_none() && config.mode == SummaryMode::Llm {
            // Where nobody is asked, rules write.
            config.mode = SummaryMode::Hybrid;
        }
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let log = Arc::clone(&events);
        let mut builder = Session::builder(
            SessionId::new("seed").unwrap(),
            ContextWindow::new(Tokens(window), Tokens::ZERO),
        )
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_700_000_000_000)))
        .observer(move |event: &Event| log.lock().unwrap().push(event.clone()));
        let model = script.map(|script| Arc::new(Scripted::new(script)));
        if let Some(model) = &model {
            let asked = SummarizerModel::new("small", Tokens(128_000), Arc::clone(model) as _);
            builder = builder.models(vec![asked], Arc::new(NoSleep), Arc::new(NoJitter));
        }
        Work { context: builder.build().unwrap(), events, model }
    }

    /// Says `n` messages of about `tokens` tokens each, in turns, and prepares before each answer. Returns how many
    /// compactions came of it.
    pub(crate) async fn talk(&mut self, n: usize, tokens: usize) -> usize {
        let before = self.finished().len();
        for nth in 0..n {
            let said = self.context.state().originals().len();
            let text = format!("Message {said} is about src/part_{said}.rs and its limit of {said}0 ms. ");
            let text = text.repeat((tokens * 4 / text.len()).max(1));
            match nth % 2 {
                0 => self.context.push(Message::user(text)),
                _ => self.context.push(Message::assistant(text)),
            };
            self.context.prepare().await.unwrap();
        }
        self.finished().len() - before
    }

    pub(crate) fn events(&self) -> Vec<EventKind> {
        self.events.lock().unwrap().iter().map(|event| event.kind.clone()).collect()
    }

    /// The compactions that were applied.
    pub(crate) fn finished(&self) -> Vec<Finish> {
        let finish = |kind| match kind {
            EventKind::Finished(finish) => Some(*finish),
            _ => None,
        };
        self.events().into_iter().filter_map(finish).collect()
    }

    pub(crate) fn calls(&self) -> usize {
        self.model.as_ref().map_or(0, |model| model.calls())
    }

    /// What is sent, as one text.
    pub(crate) fn sent(&self) -> String {
        let view = self.context.state().view();
        view.messages().map(|message| format!("{}: {}\n", message.role.as_str(), text(message))).collect()
    }

    pub(crate) fn summary(&self) -> String {
        self.context.state().summary().map(|record| record.text.clone()).unwrap_or_default()
    }
}

/// Returns a session under `config` in a window, four characters a token, and has `model`, in a window of `reads` tokens, write
/// its summaries.
pub(crate) fn written_by(
    model: &Arc<Scripted>,
    reads: u64,
    config: Config,
    window: ContextWindow,
) -> Session {
    let asked = SummarizerModel::new("small", Tokens(reads), Arc::clone(model) as _);
    Session::builder(SessionId::new("seed").unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(0)))
        .models(vec![asked], Arc::new(NoSleep), Arc::new(NoJitter))
        .build()
        .unwrap()
}

/// The texts of a message and of its tool results.
pub(crate) fn text(message: &Message) -> String {
    let results = message.results().map(ToolResult::joined_text);
    message.texts().map(str::to_owned).chain(results).collect::<Vec<_>>().join("\n")
}

/// A tool call and its result, as two messages.
pub(crate) fn exchange(
    id: &str,
    tool: &str,
    arguments: &str,
    output: &str,
    outcome: Outcome,
) -> [Message; 2] {
    [
        Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function(id, tool, arguments))]),
        Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text(id, output, outcome))]),
    ]
}

/// A model's answer in the schema it is asked for.
pub(crate) fn answer(narrative: &str) -> Completion {
    let answer = Answer { narrative: narrative.to_owned(), ..Answer::default() };
    Scripted::says(serde_json::to_string(&answer).unwrap())
}
