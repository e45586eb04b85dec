//! Chat Completions, as OpenAI defined it and most servers speak it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use longhaul_summarize::{ClientError, Completion, CompletionClient, CompletionRequest, Finish, Protocol};
use longhaul_wire::Format;
use serde_json::{Value, json};

use crate::{
    classify::{refuses_schema, refuses_setting, usage},
    conversation::asking,
    endpoint::{Endpoint, SetupError},
    http::Http,
    models,
};

/// A client of servers that speak Chat Completions.
///
/// Asks for JSON by schema where the request carries one. A server that refuses `response_format` is asked once more
/// without it, and from then on without it from the start; one that refuses `max_tokens` or `temperature` (reasoning
/// models do) is asked in the newer way. What it answers is read the same in each case.
#[derive(Clone, Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    http: Http,
    quirks: Arc<Quirks>,
}

/// What this server was found not to take.
#[derive(Debug, Default)]
struct Quirks {
    schema: AtomicBool,
    max_tokens: AtomicBool,
    temperature: AtomicBool,
}

impl OpenAi {
    /// Returns a client of the server at `endpoint`.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or TLS cannot be set up.
    pub fn new(endpoint: Endpoint) -> Result<OpenAi, SetupError> {
        let http = Http::new(&endpoint, endpoint.openai_headers()?)?;
        Ok(OpenAi { http, endpoint, quirks: Arc::default() })
    }

    /// Returns the host that text is sent to.
    pub fn host(&self) -> String {
        self.endpoint.host()
    }

    /// Returns the names of the models that the server says it has. Sends the key and no text.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses the key, or does not list its models: not every server does.
    pub async fn models(&self) -> Result<Vec<String>, ClientError> {
        models::names(&self.http.get(self.endpoint.address("models")).await?)
    }

    fn body(&self, request: &CompletionRequest) -> Value {
        let mut body = json!({
            "model": request.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "stream": false,
        });
        let refused = |quirk: &AtomicBool| quirk.load(Ordering::Relaxed);
        let limit = if refused(&self.quirks.max_tokens) { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.max_tokens);
        if let Some(temperature) = request.temperature.filter(|_| !refused(&self.quirks.temperature)) {
            body["temperature"] = json!(temperature);
        }
        if let Some(schema) = request.schema.as_ref().filter(|_| !refused(&self.quirks.schema)) {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": schema.name, "strict": true, "schema": schema.schema},
            });
        }
        body
    }

    /// Notes what `error` says the server does not take. Returns whether that is news.
    fn learn(&self, request: &CompletionRequest, error: &ClientError) -> bool {
        let news = |quirk: &AtomicBool| !quirk.swap(true, Ordering::Relaxed);
        if refuses_setting(error, "max_tokens") {
            return news(&self.quirks.max_tokens);
        }
        if request.temperature.is_some() && refuses_setting(error, "temperature") {
            return news(&self.quirks.temperature);
        }
        request.schema.is_some() && refuses_schema(error) && news(&self.quirks.schema)
    }
}

#[async_trait]
impl CompletionClient for OpenAi {
    async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        let address = self.endpoint.address("chat/completions");
        if let Some(conversation) = &request.conversation {
            let spoken = [Protocol::ChatCompletions, Protocol::Responses];
            let body = asking(conversation, &spoken, &request.user)?.into_bytes();
            return match conversation.protocol {
                Protocol::Responses => {
                    let address = self.endpoint.address("responses");
                    read_response(&self.http.post_bytes(address, body).await?)
                }
                _ => read(&self.http.post_bytes(address, body).await?),
            };
        }
        let mut answer = self.http.post(address.clone(), &self.body(request)).await;
        // One more request for each thing a server may refuse, and only the first time.
        for _ in 0..3 {
            match &answer {
                Err(error) if self.learn(request, error) => {
                    answer = self.http.post(address.clone(), &self.body(request)).await;
                }
                _ => break,
            }
        }
        read(&answer?)
    }
}

fn read(answer: &Value) -> Result<Completion, ClientError> {
    let invalid = |reason: &str| ClientError::InvalidResponse { reason: reason.to_owned() };
    let choice =
        answer.get("choices").and_then(|choices| choices.get(0)).ok_or_else(|| invalid("no choices"))?;
    let message = choice.get("message").ok_or_else(|| invalid("a choice without a message"))?;
    let refused = message.get("refusal").and_then(Value::as_str).is_some_and(|refusal| !refusal.is_empty());
    let calls = message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    let finish = match choice.get("finish_reason").and_then(Value::as_str) {
        _ if refused => Finish::Refusal,
        Some("stop") if !calls => Finish::Stop,
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::Refusal,
        Some("tool_calls" | "function_call") => Finish::ToolCall,
        _ if calls => Finish::ToolCall,
        _ => Finish::Other,
    };
    Ok(Completion {
        text: text(message.get("content")),
        finish,
        usage: usage(Format::OpenAi, answer),
        model: answer.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}

/// Content is a text, or parts of which some are texts.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Reads an answer of OpenAI's Responses.
fn read_response(answer: &Value) -> Result<Completion, ClientError> {
    let output = answer.get("output").and_then(Value::as_array);
    let output =
        output.ok_or_else(|| ClientError::InvalidResponse { reason: "no list of output".to_owned() })?;
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let content = output.iter().filter_map(|item| item.get("content").and_then(Value::as_array)).flatten();
    let (mut text, mut is_refused) = (String::new(), false);
    for part in content {
        match kind(part).as_str() {
            "output_text" => text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default()),
            "refusal" => is_refused = true,
            _ => {}
        }
    }
    let calls = output.iter().any(|item| kind(item).ends_with("_call"));
    let reason = answer.pointer("/incomplete_details/reason").and_then(Value::as_str);
    let finish = match answer.get("status").and_then(Value::as_str) {
        _ if is_refused || reason == Some("content_filter") => Finish::Refusal,
        Some("incomplete") => Finish::Length,
        _ if calls => Finish::ToolCall,
        Some("completed") => Finish::Stop,
        _ => Finish::Other,
    };
    Ok(Completion {
        text,
        finish,
        usage: usage(Format::OpenAi, answer),
        model: answer.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}
