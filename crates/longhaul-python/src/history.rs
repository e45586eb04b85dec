//! What is done to a whole history at once: counting, looking, compacting, checking.

use longhaul::{
    Breakdown, CompactedDocument, DocumentSession, Within, keep_reasoning,
    redact::Redactor,
    summarize::Summarizer,
    tokens::{ContextWindow, count_tools},
    transcript::{Message, Part, Role, SummaryMode, Tokens},
    wire::{self, Document, Format, Profile},
};
use longhaul::{runtime::SystemClock, transcript::Clock as _};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{errors, model, settings};

/// How many messages `context` lists.
const LARGEST: usize = 10;

#[pyfunction]
#[pyo3(signature = (text, model=None, encoding=None))]
pub(crate) fn count_text(
    py: Python<'_>,
    text: &str,
    model: Option<&str>,
    encoding: Option<&str>,
) -> PyResult<u64> {
    py.detach(|| Ok(settings::counting(model, encoding)?.counter.count_text(text).0))
}

#[pyfunction]
#[pyo3(signature = (history, format=None, model=None, encoding=None))]
pub(crate) fn count(
    py: Python<'_>,
    history: &[u8],
    format: Option<&str>,
    model: Option<&str>,
    encoding: Option<&str>,
) -> PyResult<u64> {
    py.detach(|| {
        let document = read(history, format)?;
        let counting = settings::counting(model, encoding)?;
        let counted = Breakdown::of(document.transcript().entries(), &*counting.counter).total;
        let tools = count_tools(&*counting.counter, document.tools().iter().map(String::as_str));
        Ok((counted + tools).0)
    })
}

#[pyfunction]
#[pyo3(signature = (history, format=None, model=None, encoding=None, window=None))]
pub(crate) fn context(
    py: Python<'_>,
    history: &[u8],
    format: Option<&str>,
    model: Option<&str>,
    encoding: Option<&str>,
    window: Option<u64>,
) -> PyResult<String> {
    py.detach(|| {
        let document = read(history, format)?;
        let counting = settings::counting(model, encoding)?;
        let entries = document.transcript().entries();
        let breakdown = Breakdown::of(entries, &*counting.counter);
        let tools = count_tools(&*counting.counter, document.tools().iter().map(String::as_str));
        let window = settings::window(window, &counting);
        let largest = breakdown.largest(entries, LARGEST).into_iter().map(
            |largest| json!({ "message": largest.id.ordinal, "tokens": largest.tokens, "what": largest.what }),
        );
        let total = breakdown.total + tools;
        let told = json!({
            "tokens": total,
            "window": window,
            "ratio": total.ratio_of(window),
            "messages": breakdown.messages,
            "tool_definitions": tools,
            "by_role": breakdown.by_role,
            "by_kind": breakdown.by_kind,
            "by_tool": breakdown.by_tool,
            "largest": largest.collect::<Vec<_>>(),
            "format": document.format().name(),
        });
        Ok(told.to_string())
    })
}

/// Compacts, and returns the history with a report on it as JSON.
#[pyfunction]
#[pyo3(signature = (history, budget, settings_json, *, format=None, model=None, encoding=None, window=None, goal=None,
    keep_recent=None, redact=true, summarizer=None, summarizer_window=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn compact(
    py: Python<'_>,
    history: &[u8],
    budget: u64,
    settings_json: &str,
    format: Option<&str>,
    model: Option<&str>,
    encoding: Option<&str>,
    window: Option<u64>,
    goal: Option<String>,
    keep_recent: Option<usize>,
    redact: bool,
    summarizer: Option<Py<PyAny>>,
    summarizer_window: Option<u64>,
) -> PyResult<(Vec<u8>, String)> {
    py.detach(|| {
        let budget = Tokens(budget);
        let document = read(history, format)?;
        let layered = settings::layered(settings_json)?;
        let mut config = settings::for_model(&layered.config, document.format(), model.or(document.model()));
        if summarizer.is_some() {
            model::asked_for(&mut config, &layered);
        }
        let counting = settings::counting(model, encoding)?;
        let before = Breakdown::of(document.transcript().entries(), &*counting.counter).total;
        if before <= budget {
            return Ok((unchanged(&document)?, report(&document, before, budget, None, &[]).to_string()));
        }
        let window = settings::window(window, &counting);
        let usable = config.max_context_tokens.map_or(window, |most| most.min(window));
        let window = config.window(ContextWindow::new(window, settings::reserved(usable)));
        let redactor = redact.then(Redactor::builtin);
        let session =
            DocumentSession::new(&document, window, counting.counter.clone(), config.clone(), redactor)
                .map_err(|error| errors::document(&error))?;
        // Settings that say how much stays are for this call as well as for a session.
        let as_set = || layered.choose_recent().then(|| session.state().recent());
        let within = Within {
            keep_recent: keep_recent.or_else(as_set),
            reasoning: keep_reasoning(document.format()),
            goal,
            now_ms: SystemClock.now_ms(),
            ..Within::new(budget)
        };
        let (done, notes) = match summarizer {
            Some(function) if config.mode != SummaryMode::Rules => {
                let model = model::of(function, &config, summarizer_window, window.window, &counting.counter);
                asked(&session, &within, &model::ladder(model, &config))?
            }
            _ => (session.compact(&within).map_err(|error| errors::document(&error))?, Vec::new()),
        };
        let told = report(&document, before, budget, Some(&done), &notes);
        Ok((done.bytes, told.to_string()))
    })
}

/// Compacts with a summary by a model, or by rule where that is shown too much.
fn asked(
    session: &DocumentSession<'_>,
    within: &Within,
    summarizer: &dyn Summarizer,
) -> PyResult<(CompactedDocument, Vec<String>)> {
    let too_large = session.too_large_for_model(within).map_err(|error| errors::document(&error.into()))?;
    if let Some((tokens, limit)) = too_large {
        let note = format!("too large for a model: {tokens} tokens of at most {limit}; summarized by rule");
        return Ok((session.compact(within).map_err(|error| errors::document(&error))?, vec![note]));
    }
    let made = settings::runtime()?.block_on(session.compact_with(within, summarizer));
    let (done, attempts) = made.map_err(|error| errors::document(&error))?;
    Ok((done, attempts.iter().map(ToString::to_string).collect()))
}

/// Returns the rules of the provider that a history breaks, one line each.
#[pyfunction]
#[pyo3(signature = (history, format=None))]
pub(crate) fn validate(py: Python<'_>, history: &[u8], format: Option<&str>) -> PyResult<Vec<String>> {
    py.detach(|| {
        let document = read(history, format)?;
        let profile = Profile::of_model(document.model().unwrap_or_default());
        let violations = wire::validate(history, document.format(), &profile);
        let violations = violations.map_err(|error| errors::wire(&error))?;
        Ok(violations.iter().map(ToString::to_string).collect())
    })
}

/// Returns the name of the format that a history has: the one that is named, or the one that it is seen to have. Where it has
/// instructions beside it, messages of which no word tells OpenAI's from Anthropic's are Anthropic's.
#[pyfunction]
#[pyo3(signature = (history, format=None, has_system=false))]
pub(crate) fn format_of(
    py: Python<'_>,
    history: &[u8],
    format: Option<&str>,
    has_system: bool,
) -> PyResult<&'static str> {
    py.detach(|| {
        if let Some(format) = settings::format(format)? {
            return Ok(format.name());
        }
        let document = read(history, None)?;
        let is_openais =
            || document.transcript().entries().iter().any(|entry| is_only_openais(&entry.message));
        Ok(match document.format() {
            Format::OpenAi if has_system && !is_openais() => Format::Anthropic.name(),
            format => format.name(),
        })
    })
}

/// Returns whether a message that was read as OpenAI's is no other's. Anthropic's calls, results, thinking and pictures are
/// blocks of kinds that OpenAI does not know, and nobody has a name there.
fn is_only_openais(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer | Role::Tool)
        || message.name.is_some()
        || message.parts.iter().any(|part| !matches!(part, Part::Text(_) | Part::Opaque(_)))
}

fn read(history: &[u8], format: Option<&str>) -> PyResult<Document> {
    wire::read(settings::format(format)?, history).map_err(|error| errors::wire(&error))
}

fn unchanged(document: &Document) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    wire::write_unchanged(document, &mut bytes).map_err(|error| errors::wire(&error))?;
    Ok(bytes)
}

fn report(
    document: &Document,
    before: Tokens,
    budget: Tokens,
    done: Option<&CompactedDocument>,
    notes: &[String],
) -> Value {
    let problems: Vec<String> =
        document.problems().iter().map(|problem| format!("{}: {}", problem.place, problem.what)).collect();
    let messages = document.transcript().entries().len();
    json!({
        "changed": done.is_some(),
        "format": document.format().name(),
        "budget": budget,
        "tokens_before": before,
        "tokens_after": done.map_or(before, |done| done.tokens_after),
        "messages_before": messages,
        "messages_after": done.map_or(messages, |done| done.messages),
        "summary": done.map(|done| &done.record.text),
        "summarized": done.map_or(0, |done| done.outcome.summarized),
        "digested": done.map_or(0, |done| done.outcome.digested),
        "request_was_cut": done.is_some_and(|done| done.cut.is_some()),
        "problems": problems,
        "notes": notes,
    })
}
