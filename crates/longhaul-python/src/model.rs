//! A summarizer that is a Python function.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use longhaul::{
    Config,
    config::{Layered, Source},
    runtime::{ClockJitter, SystemClock, TokioSleep},
    summarize::{
        ClientError, Completion, CompletionClient, CompletionRequest, Finish, Ladder, SummarizerModel,
        SummaryForm, rules::RulesSummarizer,
    },
    tokens::{ModelTable, TokenCounter},
    transcript::{SummaryMode, Tokens, Usage},
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::errors;

/// A function that is given a request as JSON and returns an answer as JSON.
pub(crate) struct Function(Py<PyAny>);

/// What the function returns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    text: String,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// The answer ran into its limit.
    truncated: bool,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

#[async_trait]
impl CompletionClient for Function {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        let asked = json!({
            "model": request.model,
            "messages": [
                { "role": "system", "content": request.system },
                { "role": "user", "content": request.user },
            ],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "schema": request.schema.as_ref().map(|schema| json!({ "name": schema.name, "schema": schema.schema })),
        })
        .to_string();
        let function = Python::attach(|py| self.0.clone_ref(py));
        // The function waits for a server: not on a thread that others wait on, so that the time limit holds.
        let called = tokio::task::spawn_blocking(move || {
            Python::attach(|py| {
                let answer = function.call1(py, (asked,)).and_then(|answer| answer.extract::<String>(py));
                answer.map_err(|error| errors::raised(&error))
            })
        });
        let answer = match called.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(reason)) => return Err(ClientError::Transport { reason }),
            Err(error) => return Err(ClientError::Transport { reason: error.to_string() }),
        };
        let answer: Answer = serde_json::from_str(&answer)
            .map_err(|error| ClientError::InvalidResponse { reason: error.to_string() })?;
        let usage = answer.input_tokens.map(|input| Usage {
            input: Tokens(input),
            output: Tokens(answer.output_tokens.unwrap_or_default()),
            ..Usage::default()
        });
        let finish = if answer.truncated { Finish::Length } else { Finish::Stop };
        Ok(Completion { text: answer.text, finish, usage, model: request.model.clone() })
    }
}

/// Settles what nobody said of a summarizer that was given: it is asked, and for Markdown, which any model of some size
/// writes better than JSON.
pub(crate) fn asked_for(config: &mut Config, layered: &Layered) {
    let is_default = |name: &str| matches!(layered.sources.get(name), None | Some(Source::Default));
    if is_default("mode") {
        config.mode = SummaryMode::Hybrid;
    }
    if is_default("summary_form") && config.summarizer_model_preference.is_empty() {
        config.summary_form = SummaryForm::Markdown;
    }
}

/// Returns the model that `function` asks. Its name is the first of the preferred ones; its window is the one that is told,
/// or the table's, or the conversation's.
pub(crate) fn of(
    function: Py<PyAny>,
    config: &Config,
    window: Option<u64>,
    conversation: Tokens,
    counter: &Arc<dyn TokenCounter>,
) -> SummarizerModel {
    let name = config.summarizer_model_preference.first().map_or("summarizer", String::as_str);
    let table = ModelTable::builtin();
    let known = table.get(name);
    let window = window.map(Tokens).or(known.map(|known| known.window)).unwrap_or(conversation);
    let mut model = SummarizerModel::new(name, window, Arc::new(Function(function)));
    model.counter = Some(known.map_or_else(|| Arc::clone(counter), |known| known.counter()));
    if let Some(known) = known {
        model.max_output = known.max_output.min(window);
    }
    model
}

/// Returns the model with rules below it.
pub(crate) fn ladder(model: SummarizerModel, config: &Config) -> Ladder {
    Ladder::new(
        vec![model],
        Arc::new(RulesSummarizer::default()),
        config.llm_options(),
        Arc::new(SystemClock),
        Arc::new(TokioSleep),
        Arc::new(ClockJitter::default()),
    )
}
