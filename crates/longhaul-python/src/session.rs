//! A conversation that is kept within its window.

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use longhaul::{
    Durability, Error, Event, RecallTool, Synced,
    store::open_store,
    summarize::SummarizerModel,
    tokens::ContextWindow,
    transcript::{MessageId, SessionId, Tokens, Usage},
    wire::{self, Format},
};
use pyo3::prelude::*;
use serde_json::json;

use crate::{errors, model, settings};

/// What happened, as the kind of event and a line for people.
type Told = Arc<Mutex<Vec<(String, String)>>>;

/// A conversation; every call waits for the one before.
#[pyclass(frozen, module = "longhaul._longhaul", name = "_Session")]
pub(crate) struct Session {
    /// Shared, so that a process that did not open it can leave it be.
    inner: Arc<Mutex<longhaul::Session>>,
    format: Format,
    told: Told,
    /// The name under which the store keeps what is said now, for who asks while a call is under way.
    line: Mutex<String>,
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
            let reserved = reserved_output.map_or_else(|| settings::reserved(window), Tokens);
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
            let opened = opened.map_err(|error| errors::opening(&error))?;
            let line = Mutex::new(opened.line().to_string());
            let inner = Arc::new(Mutex::new(opened));
            Ok(Session { inner, format, told, line, ids: Mutex::default(), process: std::process::id() })
        })
    }

    /// Adds messages (each JSON: one, a list, or a provider's answer) and returns their numbers: all of them or none.
    #[expect(clippy::needless_pass_by_value, reason = "Python's strings are handed over")]
    fn push(&self, py: Python<'_>, spelled: Vec<String>) -> PyResult<Vec<u64>> {
        self.with(py, |session| {
            let _entered = settings::runtime()?.enter();
            let mut messages = Vec::new();
            for json in &spelled {
                messages.extend(
                    wire::messages_from_json(self.format, json).map_err(|error| errors::wire(&error))?,
                );
            }
            let pushed = session.push_all(messages);
            let mut known = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(pushed.iter().map(|id| (id.ordinal, *id)));
            Ok(pushed.iter().map(|id| id.ordinal).collect())
        })?
    }

    fn prepare(&self, py: Python<'_>) -> PyResult<View> {
        let view = self.wait(py, async |session| session.prepare().await)?;
        Ok(View { view, format: self.format })
    }

    /// Returns what would be sent now, with nothing done first.
    fn view(&self, py: Python<'_>) -> PyResult<View> {
        self.with(py, |session| View { view: session.state().view(), format: self.format })
    }

    /// `billed` is input that no cache was used for, read from the cache, written to it, output without reasoning, reasoning.
    fn report_usage(&self, py: Python<'_>, view: &View, billed: [u64; 5]) -> PyResult<String> {
        let [input, cache_read, cache_write, output, reasoning] = billed.map(Tokens);
        let usage = Usage { input, cache_read, cache_write, output, reasoning };
        let verdict = self.with(py, |session| session.report_usage(view.view.id(), &usage))?;
        Ok(json!(verdict).as_str().unwrap_or_default().to_owned())
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
        self.with(py, |session| session.unpin(id))
    }

    fn set_memory(&self, py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
        self.wait(py, async |session| session.set_memory(name, text))
    }

    /// Answers a call of the recall tool; `arguments` is JSON.
    fn recall(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        self.wait(py, async |session| session.recall(arguments).await)
    }

    /// Returns the definition of the recall tool as JSON, as the session's format has it.
    fn recall_tool(&self) -> String {
        RecallTool.of(self.format).or_else(|| RecallTool.of(Format::OpenAi)).unwrap_or_default().to_string()
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
        let status = self.with(py, |session| session.state().status(None))?;
        serde_json::to_string(&status).map_err(|error| errors::settings(&error))
    }

    /// Returns the calls that have no result yet, as JSON: after a resume they are to be run first.
    fn open_calls(&self, py: Python<'_>) -> PyResult<String> {
        let calls = self.with(py, |session| session.state().open_calls())?;
        let call = |call: &longhaul::transcript::ToolCall| json!({ "id": call.id.as_str(), "name": call.name, "arguments": call.arguments.0 });
        Ok(json!(calls.iter().map(call).collect::<Vec<_>>()).to_string())
    }

    /// Returns the name under which the store keeps what is said now. It waits for no call.
    fn line(&self) -> PyResult<String> {
        self.of_this_process()?;
        Ok(self.line.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Returns what happened since this was last asked.
    fn take_events(&self) -> Vec<(String, String)> {
        if self.of_this_process().is_err() {
            return Vec::new();
        }
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns how many messages were ever said.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| session.state().originals().len())
    }

    /// Fails where a fork lies between: whoever held a lock or waited for the store then does so for ever.
    fn of_this_process(&self) -> PyResult<()> {
        if self.process == std::process::id() { Ok(()) } else { Err(errors::forked()) }
    }
}

impl Drop for Session {
    /// A child that closes what its parent opened would wait for threads that a fork does not copy, and might tidy up a
    /// store that the parent still writes to. It leaves it be; the memory goes with the process.
    fn drop(&mut self) {
        if self.of_this_process().is_err() {
            mem::forget(Arc::clone(&self.inner));
        }
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, longhaul::Session> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` with the session, the interpreter's lock let go.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut longhaul::Session) -> T + Send,
    ) -> PyResult<T> {
        self.of_this_process()?;
        py.detach(|| {
            let mut session = self.lock();
            let done = work(&mut session);
            let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            if *line != session.line().as_str() {
                *line = session.line().to_string();
            }
            Ok(done)
        })
    }

    /// Waits for `work` with the session, the interpreter's lock let go.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl AsyncFnOnce(&mut longhaul::Session) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let runtime = settings::runtime()?;
        let done = self.with(py, |session| runtime.block_on(work(session)))?;
        done.map_err(|error| errors::session(&error))
    }

    /// Returns what the message with this number is called.
    fn id(&self, py: Python<'_>, ordinal: u64) -> PyResult<MessageId> {
        self.of_this_process()?;
        py.detach(|| {
            let known = self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(&ordinal).copied();
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
        told.lock().unwrap_or_else(PoisonError::into_inner).push((kind, event.to_string()));
    }
}
