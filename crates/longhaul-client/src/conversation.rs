//! Going on with a conversation that an agent sent before, and reading what Responses answers.

use longhaul_summarize::{ClientError, Completion, Conversation, Finish, Protocol};
use serde_json::Value;

use crate::openai::usage;

/// Returns the body that asks `instruction` behind `conversation`, where its protocol is one of `spoken`.
pub(crate) fn asking(
    conversation: &Conversation,
    spoken: &[Protocol],
    instruction: &str,
) -> Result<String, ClientError> {
    let is_spoken = spoken.contains(&conversation.protocol);
    let body = is_spoken.then(|| conversation.asking(instruction)).flatten();
    body.ok_or_else(|| ClientError::InvalidResponse {
        reason: "the conversation is no request that this client can go on with".to_owned(),
    })
}

/// Reads an answer of OpenAI's Responses.
pub(crate) fn read_response(answer: &Value) -> Result<Completion, ClientError> {
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
        usage: answer.get("usage").and_then(usage),
        model: answer.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}
