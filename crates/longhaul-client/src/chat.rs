//! A conversation with a model: the whole history goes out, the answer comes back word by word.

mod anthropic;
mod count;
mod openai;
mod sse;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use longhaul_summarize::{ClientError, Conversation, Finish, LastRequest};
use longhaul_transcript::{Message, RawJson, Tokens, ToolCall, Transcript, Usage};
use longhaul_wire::{CacheMark, Format};
use reqwest::{
    Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;

use self::sse::{SseEvent, SseReader};
use crate::{
    classify::{error_in, refuses_setting, web_page},
    endpoint::{Endpoint, SetupError},
    http::Http,
};

/// A conversation with the models of one endpoint, over Chat Completions or Messages, with streamed answers.
///
/// Each call of [`reply`](Self::reply) makes one attempt; dropping its future breaks the answer off. An answer counts as
/// whole only once the server said why it ends: a stream that just stops is an error, as is one that carries an error in
/// its midst. What was said until then has been handed to the caller already.
#[derive(Clone, Debug)]
pub struct Chat {
    endpoint: Endpoint,
    http: Http,
    protocol: Protocol,
    /// The server wants `max_completion_tokens` instead of `max_tokens`.
    newer_limit: Arc<AtomicBool>,
    /// The server does not know `stream_options`.
    plain_stream: Arc<AtomicBool>,
    /// Where it is noted what was sent last.
    last_request: Option<LastRequest>,
}

/// A request of a conversation: everything said so far, and what the model may do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The model to ask.
    pub model: String,
    /// The history, oldest first, standing instructions included.
    pub messages: Vec<Arc<Message>>,
    /// The tools it may call.
    pub tools: Vec<ToolDefinition>,
    /// The most tokens it may answer.
    pub max_tokens: Tokens,
    /// How freely it may answer, from 0 up; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Where the provider is asked to cache, by the messages' places: at most four, those of an hour first. Only Messages
    /// takes such marks; elsewhere the provider caches by itself.
    pub cache_marks: Vec<CacheMark>,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// A bit of an answer, as it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// Words.
    Text(String),
    /// Thinking, where the server shows it. It is not part of the [`Reply`].
    Reasoning(String),
    /// A call of this tool has begun; its arguments are in the [`Reply`].
    Call(String),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// What was said, tool calls included.
    pub message: Message,
    /// Why it ended.
    pub finish: Finish,
    /// What the request cost, where the server says so.
    pub usage: Option<Usage>,
    /// The model that answered, as it calls itself; empty where it does not say.
    pub model: String,
}

/// Which protocol an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    OpenAi,
    Anthropic,
}

/// An answer that is being put together from what a stream brings.
trait Assembler {
    /// Takes one event. Returns the bits that it brought.
    fn take(&mut self, value: &Value) -> Vec<Delta>;

    /// Returns whether nothing more is to come.
    fn is_done(&self) -> bool;

    /// Returns the answer, or what it lacks.
    fn finish(self: Box<Self>) -> Result<Reply, ClientError>;
}

/// JSON of prose and code takes more bytes a token than this.
const BYTES_A_TOKEN: u64 = 3;

impl ChatRequest {
    /// Returns a request without tools.
    pub fn new(model: impl Into<String>, messages: Vec<Arc<Message>>, max_tokens: Tokens) -> ChatRequest {
        let (model, tools, cache_marks) = (model.into(), Vec::new(), Vec::new());
        ChatRequest { model, messages, tools, max_tokens, temperature: None, cache_marks }
    }

    /// Returns this request with tools.
    pub fn with_tools(mut self, tools: Vec<ToolDefinition>) -> ChatRequest {
        self.tools = tools;
        self
    }

    /// Returns this request with marks where the provider is asked to cache.
    pub fn with_cache_marks(mut self, marks: Vec<CacheMark>) -> ChatRequest {
        self.cache_marks = marks;
        self
    }

    /// Returns the history in `format`, as the JSON text of the fields that hold it.
    fn history(&self, format: Format) -> Result<String, ClientError> {
        let whole = self.beginning(self.messages.len(), format)?;
        match format.takes_cache_marks() && !self.cache_marks.is_empty() {
            true => longhaul_wire::with_cache_marks(&whole, &self.cache_marks, |n| self.beginning(n, format)),
            false => Ok(whole),
        }
    }

    /// Returns the first `n` messages, as the JSON text of the fields that hold them.
    fn beginning(&self, n: usize, format: Format) -> Result<String, ClientError> {
        let mut transcript = Transcript::new();
        for message in self.messages.iter().take(n) {
            transcript.push(Arc::clone(message));
        }
        let encoded = longhaul_wire::encode(&transcript, format);
        let encoded = encoded.map_err(|error| ClientError::BadRequest {
            status: 0,
            reason: ClientError::excerpt(&format!("the history cannot be written: {error}")),
        })?;
        Ok(String::from_utf8_lossy(encoded.document.as_bytes()).into_owned())
    }
}

impl ToolDefinition {
    /// Returns the definition as JSON text, for counting what it costs in every request.
    pub fn json(&self) -> String {
        let ToolDefinition { name, description, parameters } = self;
        serde_json::json!({"name": name, "description": description, "parameters": parameters}).to_string()
    }
}

impl Chat {
    /// Returns a conversation with a server that speaks Chat Completions.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or TLS cannot be set up.
    pub fn openai(endpoint: Endpoint) -> Result<Chat, SetupError> {
        let headers = endpoint.openai_headers()?;
        Chat::new(endpoint, headers, Protocol::OpenAi)
    }

    /// Returns a conversation with a server that speaks Messages. Its base URL goes with or without `/v1`.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or TLS cannot be set up.
    pub fn anthropic(endpoint: Endpoint) -> Result<Chat, SetupError> {
        let headers = endpoint.anthropic_headers()?;
        Chat::new(endpoint, headers, Protocol::Anthropic)
    }

    fn new(endpoint: Endpoint, headers: HeaderMap, protocol: Protocol) -> Result<Chat, SetupError> {
        let http = Http::streaming(&endpoint, headers)?;
        Ok(Chat {
            endpoint,
            http,
            protocol,
            newer_limit: Arc::default(),
            plain_stream: Arc::default(),
            last_request: None,
        })
    }

    /// Returns this conversation leaving what it sends in `last`, for a summarizer that is the same model at the same
    /// endpoint.
    pub fn with_last_request(mut self, last: LastRequest) -> Chat {
        self.last_request = Some(last);
        self
    }

    /// Returns the host that text is sent to.
    pub fn host(&self) -> String {
        self.endpoint.host()
    }

    /// Asks for the next answer, and hands over its bits as they come.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or breaks off before the answer is whole.
    pub async fn reply(
        &self,
        request: &ChatRequest,
        mut on_delta: impl FnMut(Delta) + Send,
    ) -> Result<Reply, ClientError> {
        let (response, sent) = self.open(request).await?;
        let reply = self.read(response, &mut on_delta).await?;
        if let Some(last) = &self.last_request {
            let body = String::from_utf8_lossy(&sent).into_owned();
            let reported =
                reply.usage.map(|usage| usage.prompt_total()).filter(|tokens| *tokens > Tokens::ZERO);
            let tokens = reported.unwrap_or(Tokens(body.len() as u64 / BYTES_A_TOKEN));
            let protocol = match self.protocol {
                Protocol::OpenAi => longhaul_summarize::Protocol::ChatCompletions,
                Protocol::Anthropic => longhaul_summarize::Protocol::Messages,
            };
            last.set(Conversation::new(protocol, body, tokens));
        }
        Ok(reply)
    }

    async fn read(
        &self,
        response: Response,
        mut on_delta: impl FnMut(Delta) + Send,
    ) -> Result<Reply, ClientError> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            // A server that cannot stream answers in one piece.
            let reply = self.whole(&self.http.whole(response).await?)?;
            reply.message.texts().for_each(|text| on_delta(Delta::Text(text.to_owned())));
            return Ok(reply);
        }
        if kind.is_some_and(|kind| kind.starts_with("text/html")) {
            return Err(web_page(&String::from_utf8_lossy(&self.http.body(response).await?)));
        }
        self.stream(response, &mut on_delta).await
    }

    /// Returns the body of `request` as it would be sent: for looking at, and for tests of what a server must accept.
    ///
    /// # Errors
    /// When the history cannot be written in this protocol.
    pub fn body(&self, request: &ChatRequest) -> Result<Vec<u8>, ClientError> {
        match self.protocol {
            Protocol::OpenAi => {
                let limit = match self.newer_limit.load(Ordering::Relaxed) {
                    true => "max_completion_tokens",
                    false => "max_tokens",
                };
                openai::body(request, limit, !self.plain_stream.load(Ordering::Relaxed))
            }
            Protocol::Anthropic => anthropic::body(request),
        }
    }

    /// Returns the answer to a request, and the body that was answered.
    async fn open(&self, request: &ChatRequest) -> Result<(Response, Vec<u8>), ClientError> {
        // One more request for each thing a server may refuse, and only the first time.
        for _ in 0..2 {
            let body = self.body(request)?;
            match self.http.open(self.address(), body.clone()).await {
                Err(error) if self.learn(&error) => {}
                answer => return answer.map(|response| (response, body)),
            }
        }
        let body = self.body(request)?;
        self.http.open(self.address(), body.clone()).await.map(|response| (response, body))
    }

    /// Notes what `error` says the server does not take. Returns whether that is news.
    fn learn(&self, error: &ClientError) -> bool {
        if self.protocol != Protocol::OpenAi {
            return false;
        }
        if refuses_setting(error, "max_tokens") {
            return !self.newer_limit.swap(true, Ordering::Relaxed);
        }
        refuses_setting(error, "stream_options") && !self.plain_stream.swap(true, Ordering::Relaxed)
    }

    fn address(&self) -> Url {
        match self.protocol {
            Protocol::OpenAi => self.endpoint.address("chat/completions"),
            Protocol::Anthropic => self.endpoint.versioned("messages"),
        }
    }

    fn assembler(&self) -> Box<dyn Assembler + Send> {
        match self.protocol {
            Protocol::OpenAi => Box::new(openai::Answer::default()),
            Protocol::Anthropic => Box::new(anthropic::Answer::default()),
        }
    }

    fn whole(&self, value: &Value) -> Result<Reply, ClientError> {
        match self.protocol {
            Protocol::OpenAi => openai::whole(value),
            Protocol::Anthropic => anthropic::whole(value),
        }
    }

    async fn stream(
        &self,
        mut response: Response,
        on_delta: &mut (impl FnMut(Delta) + Send),
    ) -> Result<Reply, ClientError> {
        let mut answer = self.assembler();
        let mut reader = SseReader::new(self.http.max_body_bytes());
        while let Some(bytes) = self.http.next(&mut response).await? {
            for event in reader.feed(&bytes)? {
                if take(&mut *answer, &event, on_delta)? {
                    return answer.finish();
                }
            }
        }
        answer.finish()
    }
}

/// Hands an event to `answer` and its bits to the caller. Returns whether the answer is whole.
fn take(
    answer: &mut (dyn Assembler + Send),
    event: &SseEvent,
    on_delta: &mut impl FnMut(Delta),
) -> Result<bool, ClientError> {
    if event.data.trim() == "[DONE]" {
        return Ok(true);
    }
    let value: Value = serde_json::from_str(&event.data).map_err(|error| ClientError::InvalidResponse {
        reason: ClientError::excerpt(&format!("an event of the stream is not JSON: {error}")),
    })?;
    if let Some(error) = error_in(&value) {
        return Err(error);
    }
    answer.take(&value).into_iter().for_each(on_delta);
    Ok(answer.is_done())
}

fn broken_off() -> ClientError {
    ClientError::Transport { reason: "the stream ended before the answer did".to_owned() }
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a call as it is kept. Models leave out the arguments of a tool that takes none.
fn call(id: &str, nth: usize, name: &str, arguments: &str) -> ToolCall {
    let id = match id.is_empty() {
        // Ids tie results to calls; a server that gives none gets its calls numbered.
        true => format!("call_{nth}"),
        false => id.to_owned(),
    };
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    ToolCall {
        id: id.as_str().into(),
        name: name.to_owned(),
        arguments: RawJson(arguments.to_owned()),
        kind: Default::default(),
    }
}
