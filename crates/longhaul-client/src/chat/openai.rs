//! Chat Completions, streamed.

use longhaul_summarize::{ClientError, Finish};
use longhaul_transcript::{Message, Part, Role, Usage};
use longhaul_wire::Format;
use serde_json::{Value, json};

use super::{Assembler, ChatRequest, Delta, Reply, broken_off, call, text_of};
use crate::classify::usage;

/// Returns the body of a request. `limit` is the name of the field for the longest answer, `asks_usage` whether the server
/// takes the wish to be told what the request cost.
pub(super) fn body(request: &ChatRequest, limit: &str, asks_usage: bool) -> Result<Vec<u8>, ClientError> {
    let mut fields = json!({"model": request.model, "stream": true});
    if asks_usage {
        fields["stream_options"] = json!({"include_usage": true});
    }
    fields[limit] = json!(request.max_tokens);
    if let Some(temperature) = request.temperature {
        fields["temperature"] = json!(temperature);
    }
    if !request.tools.is_empty() {
        let function = |tool: &super::ToolDefinition| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        };
        fields["tools"] = request.tools.iter().map(function).collect();
    }
    // The history is long and is JSON already: it is put behind the fields as it is.
    let history = request.history(Format::OpenAi)?;
    let fields = fields.to_string();
    let open = fields.strip_suffix('}').unwrap_or(&fields);
    Ok(format!("{open},\"messages\":{history}}}").into_bytes())
}

/// An answer that is being put together from chunks.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    calls: Vec<PartialCall>,
    refused: bool,
    finish: Option<String>,
    usage: Option<Usage>,
    model: String,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Assembler for Answer {
    fn take(&mut self, chunk: &Value) -> Vec<Delta> {
        // Usage comes with the last chunk, which has no choices, or with each (llama.cpp, vLLM): the last one counts.
        self.usage = usage(Format::OpenAi, chunk).or(self.usage);
        if self.model.is_empty() {
            text_of(chunk, "model").clone_into(&mut self.model);
        }
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else { return Vec::new() };
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        let Some(delta) = choice.get("delta") else { return Vec::new() };
        let mut deltas = Vec::new();
        // The field's name differs: DeepSeek and llama.cpp, OpenRouter and vLLM.
        for key in ["reasoning_content", "reasoning"] {
            let text = text_of(delta, key);
            if !text.is_empty() {
                deltas.push(Delta::Reasoning(text.to_owned()));
                break;
            }
        }
        for key in ["content", "refusal"] {
            let text = text_of(delta, key);
            if !text.is_empty() {
                self.refused |= key == "refusal";
                self.text.push_str(text);
                deltas.push(Delta::Text(text.to_owned()));
            }
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        deltas.extend(calls.into_iter().flatten().filter_map(|call| self.take_call(call)));
        deltas
    }

    /// A finish reason is not the end: usage may follow it. `[DONE]` and the end of the stream are.
    fn is_done(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Reply, ClientError> {
        let Some(reason) = self.finish else { return Err(broken_off()) };
        let finish = finish(&reason, self.refused, !self.calls.is_empty());
        let mut calls = self.calls;
        calls.sort_by_key(|call| call.index);
        let calls = calls.iter().enumerate();
        let calls = calls.map(|(nth, one)| Part::ToolCall(call(&one.id, nth, &one.name, &one.arguments)));
        let text = (!self.text.is_empty()).then_some(Part::Text(self.text));
        Ok(Reply {
            message: Message::new(Role::Assistant, text.into_iter().chain(calls).collect()),
            finish,
            usage: self.usage,
            model: self.model,
        })
    }
}

impl Answer {
    /// Takes a piece of a call. Returns the bit to show where it begins one.
    fn take_call(&mut self, piece: &Value) -> Option<Delta> {
        let function = piece.get("function").unwrap_or(&Value::Null);
        let (id, name) = (text_of(piece, "id"), text_of(function, "name"));
        // Some servers number no calls: one with another id is another call, one without an id goes on with the last.
        let known = match piece.get("index").and_then(Value::as_u64) {
            Some(index) => self.calls.iter().position(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        let begins = known.is_none();
        let at = known.unwrap_or_else(|| {
            let next = self.calls.len() as u64;
            let index = piece.get("index").and_then(Value::as_u64).unwrap_or(next);
            self.calls.push(PartialCall { index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(text_of(function, "arguments"));
        begins.then(|| Delta::Call(name.to_owned()))
    }
}

/// Returns the answer of a server that does not stream.
pub(super) fn whole(answer: &Value) -> Result<Reply, ClientError> {
    let missing = || ClientError::InvalidResponse { reason: "no choices".to_owned() };
    let choice = answer.get("choices").and_then(|choices| choices.get(0)).ok_or_else(missing)?;
    let mut assembled = Answer::default();
    let delta = choice.get("message").cloned().unwrap_or_default();
    let reason = choice.get("finish_reason").cloned().unwrap_or_default();
    assembled.take(&json!({
        "model": answer.get("model"), "usage": answer.get("usage"),
        "choices": [{"delta": delta, "finish_reason": reason}],
    }));
    Box::new(assembled).finish()
}

fn finish(reason: &str, refused: bool, calls: bool) -> Finish {
    match reason {
        _ if refused => Finish::Refusal,
        "length" => Finish::Length,
        "content_filter" => Finish::Refusal,
        // Some servers say `stop` where they should say `tool_calls`.
        _ if calls => Finish::ToolCall,
        "stop" => Finish::Stop,
        _ => Finish::Other,
    }
}
