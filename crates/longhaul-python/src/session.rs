//! A conversation that is kept within its window.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use longhaul::{
    Durability, Error, Event, Synced,
    store::open_store,
    summarize::SummarizerModel,
    tokens::ContextWindow,
    transcript::{MessageId, SessionId, Tokens, Usage},
    wire::{self, Format},
};
use pyo3::prelude::*;
use serde_json::json;

use crate::{errors, model, settings};

/// Where nobody says how long an answer may be, it gets this share of the window, and at most [`MOST_RESERVED`].
const RESERVED_SHARE: f64 = 0.1;

/// Tokens set aside for the reply in a large window.
const MOST_RESERVED: Tokens = Tokens(16_000);

/// What happened, as the kind of event and a line for people.
type Told = Arc<Mutex<Vec<(String, String)>>>;

/// A conversation; every call waits for the one before.
#[pyclass(frozen, module = "longhaul._longhaul", name = "_Session")]
pub(crate) struct Session {
    inner: Mutex<longhaul::Session>,
    format: Format,
    told: Told,
    /// What each message is called that was pushed here.
    ids: Mutex<HashMap<u64, MessageId>>,
    /// The process that opened it: a store's thread does not come along through a fork.
    process: u32,
}

/// What to send.
#[pyclass(frozen, module = "longhaul._longhaul", name = "_View")]
pub(crate) struct View {
    view: longhaul::View,
    format: Format,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (name, format, settings_json, *, store=None, model=None, encoding=None, window=None,
        reserved_output=None, fixed_overhead=0, redact=true, save_each_push=false, summarizer=None,
        summarizer_window=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        name: &str,
        format: &str,
        settings_json: &str,
        store: Option<String>,
        model: Option<String>,
        encoding: Option<String>,
        window: Option<u64>,
        reserved_output: Option<u64>,
        fixed_overhead: u64,
        redact: bool,
        save_each_push: bool,
        summarizer: Option<Py<PyAny>>,
        summarizer_window: Option<u64>,
    ) -> PyResult<Session> {
        py.detach(|| {
            let format = settings::format(Some(format))?.unwrap_or(Format::OpenAi);
            let layered = settings::layered(settings_json)?;
            let mut config = settings::for_model(&layered.config, format, model.as_deref());
            if summarizer.is_some() {
                model::asked_for(&mut config, &layered);
            }
            let counting = settings::counting(model.as_deref(), encoding.as_deref())?;
            let window = settings::window(window, &counting);
            let usual = window.scaled(RESERVED_SHARE).min(MOST_RESERVED);
            let reserved = reserved_output.map_or(usual, Tokens);
            let name = SessionId::new(name).map_err(|error| errors::settings(&error))?;
            let told = Told::default();
            let mut builder = longhaul::Session::builder(name, ContextWindow::new(window, reserved))
                .counter(Arc::clone(&counting.counter))
                .fixed_overhead(Tokens(fixed_overhead))
                .observer(listener(&told));
            if !redact {
                builder = builder.redactor(None);
            }
            if let Some(url) = store {
                builder = builder.store(open_store(&url).map_err(|error| errors::store(&error))?);
            }
            if save_each_push {
                builder = builder.durability(Durability::EachPush);
            }
            if let Some(function) = summarizer {
                let summarizer: SummarizerModel =
                    model::of(function, &config, summarizer_window, window, &counting.counter);
                builder = builder.summarizer(Arc::new(model::ladder(summarizer, &config)));
            }
            let opened = settings::runtime()?.block_on(builder.config(config).open());
            let inner = Mutex::new(opened.map_err(|error| errors::opening(&error))?);
            Ok(Session { inner, format, told, ids: Mutex::default(), process: std::process::id() })
        })
    }

    /// Adds messages (each JSON: one, a list, or a provider's answer) and returns their numbers: all of them or none.
    #[expect(clippy::needless_pass_by_value, reason = "Python's strings are handed over")]
    fn push(&self, py: Python<'_>, spelled: Vec<String>) -> PyResult<Vec<u64>> {
        self.of_this_process()?;
        py.detach(|| {
            let _entered = settings::runtime()?.enter();
            for json in &spelled {
                wire::messages_from_json(self.format, json).map_err(|error| errors::wire(&error))?;
            }
            let mut session = self.lock();
            let mut known = self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let mut pushed = Vec::new();
            for json in &spelled {
                let ids = session.push_json(self.format, json).map_err(|error| errors::session(&error))?;
                pushed.extend(ids.iter().map(|id| id.ordinal));
                known.extend(ids.iter().map(|id| (id.ordinal, *id)));
            }
            Ok(pushed)
        })
    }

    fn prepare(&self, py: Python<'_>) -> PyResult<View> {
        let view = self.wait(py, async |session| session.prepare().await)?;
        Ok(View { view, format: self.format })
    }

    /// Returns what would be sent now, with nothing done first.
    fn view(&self, py: Python<'_>) -> View {
        py.detach(|| View { view: self.lock().state().view(), format: self.format })
    }

    /// `billed` is input that no cache was used for, read from the cache, written to it, output without reasoning, reasoning.
    fn report_usage(&self, py: Python<'_>, view: &View, billed: [u64; 5]) -> String {
        let [input, cache_read, cache_write, output, reasoning] = billed.map(Tokens);
        let usage = Usage { input, cache_read, cache_write, output, reasoning };
        let verdict = py.detach(|| self.lock().report_usage(view.view.id(), &usage));
        json!(verdict).as_str().unwrap_or_default().to_owned()
    }

    fn save(&self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, async |session| session.save().await)
    }

    /// Compacts now, and returns what came of it as JSON.
    #[pyo3(signature = (goal=None))]
    fn compact(&self, py: Python<'_>, goal: Option<&str>) -> PyResult<String> {
        let rewrite = self.wait(py, async |session| session.compact(goal).await)?;
        Ok(json!({
            "tokens_before": rewrite.outcome.tokens_before,
            "tokens_after": rewrite.outcome.tokens_after,
            "summarized": rewrite.outcome.summarized,
            "digested": rewrite.outcome.digested,
            "summary": rewrite.record.as_ref().map(|record| &record.text),
            "request_was_cut": rewrite.cut.is_some(),
        })
        .to_string())
    }

    /// Makes room after the provider refused a request for its size.
    #[pyo3(signature = (limit=None))]
    fn overflowed(&self, py: Python<'_>, limit: Option<u64>) -> PyResult<()> {
        self.wait(py, async |session| session.overflowed(limit.map(Tokens)).await.map(drop))
    }

    fn undo(&self, py: Python<'_>) -> PyResult<bool> {
        self.wait(py, async |session| session.undo().await)
    }

    fn redo(&self, py: Python<'_>) -> PyResult<bool> {
        self.wait(py, async |session| session.redo().await)
    }

    fn rewind(&self, py: Python<'_>, message: u64) -> PyResult<()> {
        let id = self.id(py, message)?;
        self.wait(py, async |session| session.rewind(id).await)
    }

    fn pin(&self, py: Python<'_>, message: u64) -> PyResult<()> {
        let id = self.id(py, message)?;
        self.wait(py, async |session| session.pin(id).await)
    }

    fn unpin(&self, py: Python<'_>, message: u64) -> PyResult<bool> {
        let id = self.id(py, message)?;
        Ok(py.detach(|| self.lock().unpin(id)))
    }

    fn set_memory(&self, py: Python<'_>, name: &str, text: &str) {
        py.detach(|| self.lock().set_memory(name, text));
    }

    /// Answers a call of the recall tool; `arguments` is JSON.
    fn recall(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        self.wait(py, async |session| session.recall(arguments).await)
    }

    /// Returns the definition of the recall tool as JSON, as the session's format has it.
    fn recall_tool(&self, py: Python<'_>) -> String {
        let tool = py.detach(|| self.lock().recall_tool());
        tool.of(self.format).unwrap_or_else(|| tool.openai()).to_string()
    }

    /// Brings the session to where a whole history is, and returns what changed as JSON.
    fn sync(&self, py: Python<'_>, history: &[u8]) -> PyResult<String> {
        let read = py.detach(|| wire::read(Some(self.format), history));
        let document = read.map_err(|error| errors::wire(&error))?;
        let sync = self.wait(py, async |session| session.sync(&document).await)?;
        let (kind, at, new) = match sync.change {
            Synced::Unchanged => ("unchanged", None, 0),
            Synced::Grew { n } => ("grew", None, n),
            Synced::Regenerated { at, n } => ("regenerated", Some(at), n),
            Synced::Edited { at, n } => ("edited", Some(at), n),
            Synced::Rewound { to } => ("rewound", Some(to), 0),
            Synced::CompactedByClient { n } => ("compacted_by_client", None, n),
            Synced::Another => ("another", None, 0),
            // What a later version may tell apart.
            _ => ("changed", None, 0),
        };
        Ok(json!({ "kind": kind, "at": at, "new": new }).to_string())
    }

    /// Returns the context in a few numbers, as JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let status = py.detach(|| self.lock().state().status(None));
        serde_json::to_string(&status).map_err(|error| errors::settings(&error))
    }

    /// Returns the calls that have no result yet, as JSON: after a resume they are to be run first.
    fn open_calls(&self, py: Python<'_>) -> String {
        let calls = py.detach(|| self.lock().state().open_calls());
        let call = |call: &longhaul::transcript::ToolCall| json!({ "id": call.id.as_str(), "name": call.name, "arguments": call.arguments.0 });
        json!(calls.iter().map(call).collect::<Vec<_>>()).to_string()
    }

    /// Returns the name under which the store keeps what is said now.
    fn line(&self, py: Python<'_>) -> String {
        py.detach(|| self.lock().line().to_string())
    }

    /// Returns what happened since this was last asked.
    fn take_events(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Returns how many messages were ever said.
    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().state().originals().len())
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, longhaul::Session> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Fails where a fork lies between: whoever held a lock or waited for the store then does so for ever.
    fn of_this_process(&self) -> PyResult<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(errors::forked()) }
    }

    /// Waits for `work` with the session, the interpreter's lock let go.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl AsyncFnOnce(&mut longhaul::Session) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.of_this_process()?;
        py.detach(|| {
            let done = settings::runtime()?.block_on(work(&mut self.lock()));
            done.map_err(|error| errors::session(&error))
        })
    }

    /// Returns what the message with this number is called.
    fn id(&self, py: Python<'_>, ordinal: u64) -> PyResult<MessageId> {
        py.detach(|| {
            let known =
                self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&ordinal).copied();
            let at_hand = || self.lock().state().originals().get(ordinal).map(|entry| entry.id);
            let id = known.or_else(at_hand);
            id.ok_or_else(|| errors::unknown(format!("there is no message m{ordinal} at hand")))
        })
    }
}

#[pymethods]
impl View {
    /// Returns the messages as JSON, and what could not be carried.
    #[pyo3(signature = (cache_marks=false))]
    fn render(&self, py: Python<'_>, cache_marks: bool) -> PyResult<(String, Vec<String>)> {
        let rendered = py.detach(|| match cache_marks {
            true => self.view.to_json_marked(self.format),
            false => self.view.to_json(self.format),
        });
        let rendered = rendered.map_err(|error| errors::wire(&error))?;
        Ok((rendered.json, rendered.losses))
    }

    #[getter]
    fn tokens(&self) -> u64 {
        self.view.tokens().0
    }

    #[getter]
    fn ratio(&self) -> f64 {
        self.view.ratio()
    }

    /// Tokens with which this view begins that the one before began with too.
    #[getter]
    fn stable_tokens(&self) -> u64 {
        self.view.stable_prefix().tokens.0
    }

    #[getter]
    fn request_was_cut(&self) -> bool {
        self.view.cut().is_some()
    }

    fn __len__(&self) -> usize {
        self.view.len()
    }
}

/// Returns what writes down each event that people are told of.
fn listener(told: &Told) -> impl Fn(&Event) + Send + Sync + 'static {
    let told = Arc::clone(told);
    move |event| {
        if !event.is_notice() {
            return;
        }
        let kind = serde_json::to_value(&event.kind).ok();
        let kind = kind.and_then(|kind| Some(kind.get("event")?.as_str()?.to_owned())).unwrap_or_default();
        told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((kind, event.to_string()));
    }
}
