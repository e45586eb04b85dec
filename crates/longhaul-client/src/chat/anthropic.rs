//! Anthropic's Messages, streamed.

use std::collections::BTreeMap;

use longhaul_summarize::{ClientError, Finish};
use longhaul_transcript::{Message, Part, Role, Tokens, Usage};
use longhaul_wire::Format;
use serde_json::{Value, json};

use super::{Assembler, ChatRequest, Delta, Reply, broken_off, call, text_of};
use crate::classify::usage;

/// Returns the body of a request.
pub(super) fn body(request: &ChatRequest) -> Result<Vec<u8>, ClientError> {
    let mut fields = json!({"model": request.model, "stream": true, "max_tokens": request.max_tokens});
    if let Some(temperature) = request.temperature {
        fields["temperature"] = json!(temperature);
    }
    add_tools(&mut fields, request);
    with_history(&fields, request)
}

/// Adds the definitions of the tools of a request to its fields.
pub(super) fn add_tools(fields: &mut Value, request: &ChatRequest) {
    if !request.tools.is_empty() {
        let tool = |tool: &super::ToolDefinition| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
        fields["tools"] = request.tools.iter().map(tool).collect();
    }
}

/// Returns the body of these fields and the history of a request.
pub(super) fn with_history(fields: &Value, request: &ChatRequest) -> Result<Vec<u8>, ClientError> {
    // With a system prompt the history is an object of two fields, without one a list.
    let history = request.history(Format::Anthropic)?;
    let fields = fields.to_string();
    let open = fields.strip_suffix('}').unwrap_or(&fields);
    Ok(match history.strip_prefix('{') {
        Some(rest) => format!("{open},{rest}").into_bytes(),
        None => format!("{open},\"messages\":{history}}}").into_bytes(),
    })
}

/// An answer that is being put together from events.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// By their index.
    blocks: BTreeMap<u64, Block>,
    stop: Option<String>,
    is_whole: bool,
    usage: Option<Usage>,
    model: String,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Thinking, and whatever comes next month.
    Other,
}

impl Assembler for Answer {
    fn take(&mut self, event: &Value) -> Vec<Delta> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match text_of(event, "type") {
            "message_start" => {
                let message = event.get("message").unwrap_or(&Value::Null);
                text_of(message, "model").clone_into(&mut self.model);
                self.usage = usage(Format::Anthropic, message);
                Vec::new()
            }
            "content_block_start" => self.begin(index, event.get("content_block").unwrap_or(&Value::Null)),
            "content_block_delta" => self.go_on(index, event.get("delta").unwrap_or(&Value::Null)),
            "message_delta" => {
                let stop = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = stop.map(str::to_owned).or(self.stop.take());
                self.note_usage(usage(Format::Anthropic, event));
                Vec::new()
            }
            "message_stop" => {
                self.is_whole = true;
                Vec::new()
            }
            // A ping, the end of a block, an event of next month.
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_whole
    }

    fn finish(self: Box<Self>) -> Result<Reply, ClientError> {
        let Some(stop) = self.stop else { return Err(broken_off()) };
        let parts: Vec<Part> = self
            .blocks
            .into_values()
            .enumerate()
            .filter_map(|(nth, block)| match block {
                Block::Text(text) if text.is_empty() => None,
                Block::Text(text) => Some(Part::Text(text)),
                Block::Call { id, name, arguments } => {
                    Some(Part::ToolCall(call(&id, nth, &name, &arguments)))
                }
                Block::Other => None,
            })
            .collect();
        let calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        Ok(Reply {
            message: Message::new(Role::Assistant, parts),
            finish: finish(&stop, calls),
            usage: self.usage,
            model: self.model,
        })
    }
}

impl Answer {
    fn begin(&mut self, index: u64, block: &Value) -> Vec<Delta> {
        let (block, delta) = match text_of(block, "type") {
            "text" => {
                let text = text_of(block, "text").to_owned();
                (Block::Text(text.clone()), (!text.is_empty()).then_some(Delta::Text(text)))
            }
            "tool_use" => {
                let name = text_of(block, "name").to_owned();
                let input =
                    block.get("input").filter(|input| input.as_object().is_some_and(|o| !o.is_empty()));
                let arguments = input.map(Value::to_string).unwrap_or_default();
                let call = Block::Call { id: text_of(block, "id").to_owned(), name: name.clone(), arguments };
                (call, Some(Delta::Call(name)))
            }
            _ => (Block::Other, None),
        };
        self.blocks.insert(index, block);
        delta.into_iter().collect()
    }

    fn go_on(&mut self, index: u64, delta: &Value) -> Vec<Delta> {
        match (text_of(delta, "type"), self.blocks.get_mut(&index)) {
            ("text_delta", Some(Block::Text(so_far))) => {
                let text = text_of(delta, "text");
                so_far.push_str(text);
                vec![Delta::Text(text.to_owned())]
            }
            ("input_json_delta", Some(Block::Call { arguments, .. })) => {
                arguments.push_str(text_of(delta, "partial_json"));
                Vec::new()
            }
            ("thinking_delta", _) => vec![Delta::Reasoning(text_of(delta, "thinking").to_owned())],
            _ => Vec::new(),
        }
    }

    /// The last event tells the output, and on some servers only it tells the input.
    fn note_usage(&mut self, last: Option<Usage>) {
        let Some(last) = last else { return };
        let mut usage = self.usage.unwrap_or_default();
        usage.output = last.output;
        if last.prompt_total() > Tokens::ZERO {
            usage = Usage { output: last.output, ..last };
        }
        self.usage = Some(usage);
    }
}

/// Returns the answer of a server that does not stream.
pub(super) fn whole(answer: &Value) -> Result<Reply, ClientError> {
    let missing = || ClientError::InvalidResponse { reason: "no list of content".to_owned() };
    let blocks = answer.get("content").and_then(Value::as_array).ok_or_else(missing)?;
    let mut assembled = Answer::default();
    assembled.take(&json!({"type": "message_start", "message": answer}));
    for (index, block) in (0..).zip(blocks) {
        assembled.begin(index, block);
    }
    assembled.stop = Some(text_of(answer, "stop_reason").to_owned());
    Box::new(assembled).finish()
}

fn finish(stop: &str, calls: bool) -> Finish {
    match stop {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refusal,
        _ if calls => Finish::ToolCall,
        "end_turn" | "stop_sequence" => Finish::Stop,
        _ => Finish::Other,
    }
}
