//! How the ladder behaves.

use std::{fmt, sync::Arc, time::Duration};

use longhaul_tokens::TokenCounter;
use longhaul_transcript::{SummaryMode, Tokens};
use serde::{Deserialize, Serialize};

use crate::{BreakerOptions, CompletionClient, LastRequest, SpendLimit};

/// A model that may write summaries.
#[derive(Clone)]
#[non_exhaustive]
pub struct SummarizerModel {
    /// The model's name, as its provider knows it.
    pub name: String,
    /// Its context window: prompt and answer together.
    pub window: Tokens,
    /// The longest answer it can give. More than half of its window is never asked for.
    pub max_output: Tokens,
    /// What a reasoning model may think beside its answer; added to what the answer may cost. Default: 0.
    pub reasoning: Tokens,
    /// Sampling temperature; `None` for models that refuse the setting. Default: 0.
    pub temperature: Option<f64>,
    /// Counts its tokens. Without one the request's counter does, with [`FOREIGN_COUNTER_MARGIN`] on top.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// Asks it.
    pub client: Arc<dyn CompletionClient>,
    /// The agent's last request, where this is the agent's own model at the agent's own endpoint: then the conversation
    /// itself is what the model is shown. Needs [`Ladder::with_redaction`](crate::Ladder::with_redaction).
    pub last_request: Option<LastRequest>,
}

/// The form in which a model writes a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SummaryForm {
    /// Markdown from models of the table with a window of [`STRONG_WINDOW`] and more, else JSON.
    #[default]
    Auto,
    /// Sections of statements in Markdown.
    Markdown,
    /// A record by a strict schema.
    Json,
}

/// From this window on a known model is trusted to write sections of Markdown.
pub const STRONG_WINDOW: Tokens = Tokens(100_000);

/// What is added to a count by another model's tokenizer, as a share. Tokenizers of current models differ by up to
/// a fifth on prose and code.
pub const FOREIGN_COUNTER_MARGIN: f64 = 0.2;

/// How summaries by a model are made. Times are upper bounds; sizes are in tokens of the request's counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LlmOptions {
    /// [`SummaryMode::Llm`]: the model writes all fields, facts that it left out are put back by rule.
    /// [`SummaryMode::Hybrid`]: the facts are by rule, the model adds narrative, decisions, what is left to do.
    /// [`SummaryMode::Rules`] asks no model. Default: hybrid.
    pub mode: SummaryMode,
    /// The most of the conversation that one call is shown; `None` for what the model's window leaves beside its answer.
    /// Default: `None`.
    pub transcript_cap: Option<Tokens>,
    /// The form in which the model answers our own prompts. Default: [`SummaryForm::Auto`].
    pub form: SummaryForm,
    /// Whether a model is shown the summary before with what was said since. False is for a caller that puts the answer behind
    /// that summary itself, and hands over only what is to be told. Default: true.
    pub updates: bool,
    /// The most parts that a longer conversation is shown in, one call each, and one more to merge them where the answer is no
    /// prose: there each part goes on from the answer before. Default: 4.
    pub max_passes: usize,
    /// Of a conversation that does not fit, only the newest part is shown, in one call, as whole as the first clipping leaves
    /// it. A summary that is [made anew](crate::SummaryRequest::is_rebuilt) is shown all, without [`transcript_cap`](Self::transcript_cap).
    /// Default: false.
    pub newest_only: bool,
    /// How often a call is repeated after trouble on the way. Answers that are no summary are never asked for again.
    /// Default: 1.
    pub retries: u32,
    /// The wait before the first repetition; it doubles with each. Up to half of it is added by chance.
    /// Default: 250 ms.
    pub backoff: Duration,
    /// The longest wait that a provider's `Retry-After` is followed for. One that asks for more is not asked again
    /// now: the next model is. Default: 20 s.
    pub max_retry_after: Duration,
    /// The most one call may take, whatever the client's own limits are. Default: 120 s.
    pub call_timeout: Duration,
    /// The most all calls and waits for one summary may take together. Default: 300 s.
    pub deadline: Duration,
    /// The most calls for one summary, repetitions, parts and all models together. Default: 12.
    pub max_calls: u32,
    /// Whether to return the error instead of falling back to rules. Default: false.
    pub abort_on_failure: bool,
    /// A prompt in place of ours. Filled in where they stand are `{maxTokens}` and `{words}` (the size asked for), `{goal}`,
    /// `{language}`, `{messages}` and `{tokens}` (of what is summarized), `{depth}`, `{kept}` (what stays as it is), `{sections}` and
    /// `{statements}` (the parts of our prompt). The summary before (`{previous}`) and the conversation (`{context}`) stand where
    /// the prompt says, else at its end; between marks of its own (`{fence}`) or in ours. With `{schema}`, the form of the answer,
    /// it is read as JSON, else as prose.
    pub custom_prompt: Option<String>,
    /// When a model that fails is left alone.
    #[serde(skip)]
    pub breaker: BreakerOptions,
    /// What may be spent in an hour.
    #[serde(skip)]
    pub spend: SpendLimit,
}

impl SummarizerModel {
    /// Returns a model with a window, an output limit of 4,096 tokens or an eighth of the window where that is more, no
    /// reasoning, and the temperature at 0.
    pub fn new(
        name: impl Into<String>,
        window: Tokens,
        client: Arc<dyn CompletionClient>,
    ) -> SummarizerModel {
        SummarizerModel {
            name: name.into(),
            window,
            max_output: window.scaled(0.125).max(Tokens(4_096)),
            reasoning: Tokens::ZERO,
            temperature: Some(0.0),
            counter: None,
            client,
            last_request: None,
        }
    }
}

impl fmt::Debug for SummarizerModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummarizerModel")
            .field("name", &self.name)
            .field("window", &self.window)
            .field("max_output", &self.max_output)
            .finish_non_exhaustive()
    }
}

impl Default for LlmOptions {
    fn default() -> LlmOptions {
        LlmOptions {
            mode: SummaryMode::Hybrid,
            transcript_cap: None,
            form: SummaryForm::Auto,
            updates: true,
            max_passes: 4,
            newest_only: false,
            retries: 1,
            backoff: Duration::from_millis(250),
            max_retry_after: Duration::from_secs(20),
            call_timeout: Duration::from_secs(120),
            deadline: Duration::from_secs(300),
            max_calls: 12,
            abort_on_failure: false,
            custom_prompt: None,
            breaker: BreakerOptions::default(),
            spend: SpendLimit::default(),
        }
    }
}
