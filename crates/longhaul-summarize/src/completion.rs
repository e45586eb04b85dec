//! The seam to a model: one prompt in, one answer out.

use std::{fmt::Debug, sync::Arc, time::Duration};

use async_trait::async_trait;
use longhaul_transcript::{Tokens, Usage, first_words, is_invisible};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Conversation;

/// Asks a model. `longhaul-client` has implementations over HTTP, [`Scripted`](crate::Scripted) is a test double.
///
/// An implementor makes one attempt and does not retry: how often to ask is the caller's policy. It keeps its own
/// timeouts, may be dropped at any await, and never puts a key or the prompt into an error. Callers may ask from
/// several tasks at once.
#[async_trait]
pub trait CompletionClient: Debug + Send + Sync {
    /// Returns the model's answer to `request`.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read. An answer that was cut off or refused is not an error
    /// here: see [`Completion::finish`].
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError>;
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// The model's name, as its provider knows it.
    pub model: String,
    /// The standing instructions.
    pub system: String,
    /// The question itself.
    pub user: String,
    /// The most that the answer may cost, reasoning included.
    pub max_tokens: Tokens,
    /// The JSON schema the answer is to follow; without one the answer is prose.
    pub schema: Option<AnswerSchema>,
    /// Sampling temperature; `None` leaves it to the provider, as models that refuse the setting need.
    pub temperature: Option<f64>,
    /// The conversation that `user` goes on with, sent as it stands: then nothing else of this request is, and what the
    /// answer may cost is what that conversation says.
    pub conversation: Option<Arc<Conversation>>,
}

/// A JSON schema with a name, as providers want it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSchema {
    /// Name of the schema: letters, digits, `_` and `-`.
    pub name: &'static str,
    /// The schema. It carries no bounds on lengths or numbers: some providers refuse those, so they are enforced on
    /// the answer instead.
    pub schema: Value,
}

/// A model's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completion {
    /// What it says, reasoning blocks that the provider reports apart left out.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// What it cost, as the provider reports it; `None` where it reports nothing.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it; empty where it does not.
    pub model: String,
}

/// Why a model stopped. Only [`Finish::Stop`] is a whole answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It had said all.
    #[default]
    Stop,
    /// It ran into the limit on its answer: what it says is cut off.
    Length,
    /// It refused, or a filter stopped it.
    Refusal,
    /// It wants to call a tool.
    ToolCall,
    /// The provider gave another reason, or none.
    Other,
}

/// A model gave no answer that can be read.
///
/// Reasons are for people and logs: they hold status, error type and at most [`ClientError::EXCERPT_CHARS`] escaped
/// characters of what the server said, never the prompt and never a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The connection could not be made, or broke before the answer was whole.
    #[error("the connection failed: {reason}")]
    Transport {
        /// What failed.
        reason: String,
    },
    /// There was no whole answer in time.
    #[error("no answer within {}", seconds(*after))]
    Timeout {
        /// The time that was given.
        after: Duration,
    },
    /// The provider asks to come back later (429).
    #[error("the provider limits the rate (status 429): {reason}")]
    RateLimited {
        /// When it asks to come back.
        retry_after: Option<Duration>,
        /// What it said, as an excerpt.
        reason: String,
    },
    /// The provider has trouble of its own (5xx, 529, 408).
    #[error("the provider is in trouble (status {status}): {reason}")]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// When it asks to come back.
        retry_after: Option<Duration>,
        /// What it said, as an excerpt.
        reason: String,
    },
    /// The key is missing, wrong, or not allowed to do this (401, 403), or the account is out of credit (402, 429).
    #[error("{} (status {status}): {reason}", denial(*status))]
    Denied {
        /// The HTTP status.
        status: u16,
        /// What it said, as an excerpt.
        reason: String,
    },
    /// The prompt is larger than the model's window or than the server takes.
    #[error("the prompt is too large for the model: {reason}")]
    ContextOverflow {
        /// The largest prompt the server takes, where it says so.
        limit: Option<Tokens>,
        /// What it said, as an excerpt.
        reason: String,
    },
    /// The provider does not take the request (other 4xx): it fails the same way each time.
    #[error("the provider does not take the request (status {status}): {reason}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// What it said, as an excerpt.
        reason: String,
    },
    /// The server sends us elsewhere. Text goes only where the user said, so this is not followed.
    #[error("the server redirects (status {status}), which is not followed")]
    Redirected {
        /// The HTTP status.
        status: u16,
    },
    /// The answer is not what the protocol says it should be.
    #[error("the provider's answer cannot be read: {reason}")]
    InvalidResponse {
        /// What is wrong with it.
        reason: String,
    },
}

impl CompletionRequest {
    /// Returns a request without schema, with the temperature at 0.
    pub fn new(
        model: impl Into<String>,
        system: String,
        user: String,
        max_tokens: Tokens,
    ) -> CompletionRequest {
        CompletionRequest {
            model: model.into(),
            system,
            user,
            max_tokens,
            schema: None,
            temperature: Some(0.0),
            conversation: None,
        }
    }
}

/// Returns a time in whole seconds, or in milliseconds where it is none.
fn seconds(time: Duration) -> String {
    match time.as_millis() {
        ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
        ms => format!("{ms} ms"),
    }
}

/// Says what a refusal with this status is about.
fn denial(status: u16) -> &'static str {
    match status {
        402 | 429 => "the account has no credit left",
        _ => "the provider refuses the key",
    }
}

impl ClientError {
    /// The longest excerpt of a server's words in an error, in characters.
    pub const EXCERPT_CHARS: usize = 200;

    /// Returns whether the same request may succeed a moment later. Only trouble on the way is: an answer that is
    /// wrong today is wrong in a second too.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            ClientError::Transport { .. }
                | ClientError::Timeout { .. }
                | ClientError::RateLimited { .. }
                | ClientError::Unavailable { .. }
        )
    }

    /// Returns when the provider asks to come back, where it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ClientError::RateLimited { retry_after, .. } | ClientError::Unavailable { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Returns whether a smaller prompt may succeed.
    pub fn is_overflow(&self) -> bool {
        matches!(self, ClientError::ContextOverflow { .. })
    }

    /// Returns `text` fit for a log: its first [`EXCERPT_CHARS`](Self::EXCERPT_CHARS) characters, with control
    /// characters and what nobody sees escaped. What is cut ends before the word that is.
    pub fn excerpt(text: &str) -> String {
        let text = text.trim();
        let first = first_words(text, Self::EXCERPT_CHARS);
        let mut out = String::new();
        for c in first.chars() {
            match is_invisible(c) || c.is_control() {
                true => out.extend(c.escape_default()),
                false => out.push(c),
            }
        }
        if first.len() < text.len() {
            out.push('…');
        }
        out
    }
}

#[async_trait]
impl<C: CompletionClient + ?Sized> CompletionClient for Arc<C> {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        (**self).complete(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_object_safe_and_its_futures_are_send() {
        fn is_send<T: Send>(_: T) {}
        fn check(client: &dyn CompletionClient, request: &CompletionRequest) {
            is_send(client.complete(request));
        }
        let _ = check;
    }

    // asserts 004-25
    #[test]
    fn only_trouble_on_the_way_is_retried() {
        assert!(ClientError::Timeout { after: Duration::from_secs(1) }.is_retryable());
        assert!(ClientError::RateLimited { retry_after: None, reason: "slow down".into() }.is_retryable());
        assert!(!ClientError::Denied { status: 401, reason: String::new() }.is_retryable());
        assert!(!ClientError::InvalidResponse { reason: String::new() }.is_retryable());
        assert!(!ClientError::ContextOverflow { limit: None, reason: String::new() }.is_retryable());
    }

    #[test]
    fn excerpts_are_short_and_cannot_drive_a_terminal() {
        let excerpt = ClientError::excerpt(&format!("\u{1b}[31mred\u{202e}\n{}", "xx ".repeat(200)));
        assert!(excerpt.starts_with("\\u{1b}[31mred\\u{202e}\\nxx xx"), "{excerpt}");
        assert!(excerpt.ends_with("xx …") && excerpt.len() < 240);
        // Of half a secret nobody can tell that it is one.
        let echo = format!("wrong key {}", "k7".repeat(200));
        assert_eq!(ClientError::excerpt(&echo), "wrong key …");
    }
}
