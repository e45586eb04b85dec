//! Anthropic's Messages.

use async_trait::async_trait;
use longhaul_summarize::{ClientError, Completion, CompletionClient, CompletionRequest, Finish, Protocol};
use longhaul_wire::Format;
use serde_json::{Value, json};

use crate::{
    classify::usage,
    conversation::asking,
    endpoint::{Endpoint, SetupError},
    http::Http,
    models,
};

/// A client of servers that speak Anthropic's Messages.
///
/// The schema is not sent apart: it stands in the prompt, servers that speak this protocol differ in what they do
/// with it (llama.cpp's ignores it), and the answer is checked in any case.
#[derive(Clone, Debug)]
pub struct Anthropic {
    endpoint: Endpoint,
    http: Http,
}

impl Anthropic {
    /// Returns a client of the server at `endpoint`, whose base URL goes with or without `/v1`.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or TLS cannot be set up.
    pub fn new(endpoint: Endpoint) -> Result<Anthropic, SetupError> {
        let http = Http::new(&endpoint, endpoint.anthropic_headers()?)?;
        Ok(Anthropic { http, endpoint })
    }

    /// Returns the host that text is sent to.
    pub fn host(&self) -> String {
        self.endpoint.host()
    }

    /// Returns the names of the models that the server says it has, the first page of them. Sends the key and no text.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the key, or does not list its models: not every server does.
    pub async fn models(&self) -> Result<Vec<String>, ClientError> {
        models::names(&self.http.get(self.endpoint.versioned("models")).await?)
    }
}

#[async_trait]
impl CompletionClient for Anthropic {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        if let Some(conversation) = &request.conversation {
            let body = asking(conversation, &[Protocol::Messages], &request.user)?;
            return read(
                &self.http.post_bytes(self.endpoint.versioned("messages"), body.into_bytes()).await?,
            );
        }
        let mut body = json!({
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
        });
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        read(&self.http.post(self.endpoint.versioned("messages"), &body).await?)
    }
}

fn read(answer: &Value) -> Result<Completion, ClientError> {
    let content = answer.get("content").and_then(Value::as_array);
    let content =
        content.ok_or_else(|| ClientError::InvalidResponse { reason: "no list of content".to_owned() })?;
    let of_type = |block: &&Value, wanted: &str| block.get("type").and_then(Value::as_str) == Some(wanted);
    let texts = content.iter().filter(|block| of_type(block, "text"));
    let finish = match answer.get("stop_reason").and_then(Value::as_str) {
        _ if content.iter().any(|block| of_type(&block, "tool_use")) => Finish::ToolCall,
        Some("end_turn" | "stop_sequence") => Finish::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
        Some("refusal") => Finish::Refusal,
        Some("tool_use") => Finish::ToolCall,
        _ => Finish::Other,
    };
    Ok(Completion {
        text: texts.filter_map(|block| block.get("text").and_then(Value::as_str)).collect(),
        finish,
        usage: usage(Format::Anthropic, answer),
        model: answer.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}
