//! Plain chat as in ShareGPT: who speaks and what is said, nothing else.

use longhaul_transcript::{CallKind, Message, Outcome, Part, RawJson, Role, ToolCall, ToolResult};

use super::Said;
use crate::{
    edit::{Home, Leaf, Located},
    error::Fault,
    json::{Json, quoted},
};

/// The format has no ids; one call is answered before the next is made.
const CALL: &str = "call";

pub(super) fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    const TURN: &str = "a turn: an object with from and value";
    let turn = value.object();
    let speaker = turn.text("from").or_else(|| turn.text("role"));
    let text = ["value", "content", "text"]
        .into_iter()
        .find_map(|key| turn.get(key))
        .filter(|text| text.is_string());
    let (Some(speaker), Some(text)) = (speaker, text) else {
        return Err(Fault::new("", value.raw(), TURN));
    };
    let words = text.string().unwrap_or_default();
    let role = match &*speaker {
        "system" => Role::System,
        "human" | "user" => Role::User,
        "gpt" | "assistant" | "chatgpt" | "bing" | "bard" | "model" | "function_call" | "tool_call" => {
            Role::Assistant
        }
        "tool" | "observation" | "function_response" | "tool_response" => Role::Tool,
        other => return Err(Fault::new("from", other, "system, human, gpt, function_call or observation")),
    };
    let mut said = Said::new(role);
    match (role, &*speaker) {
        (Role::Tool, _) => {
            let part = Part::ToolResult(ToolResult::text(CALL, words.clone(), Outcome::Unstated));
            let inner = vec![Located { part: Part::Text(words), home: Home::Whole, leaf: Leaf::Text(text) }];
            said.push(part, Home::Whole, Leaf::Result { content: text, inner });
        }
        (_, "function_call" | "tool_call") => {
            let name = Json::check(words.as_bytes()).ok().and_then(|call| call.get("name")?.string());
            said.push(
                Part::ToolCall(ToolCall {
                    id: CALL.into(),
                    name: name.unwrap_or_else(|| "function".to_owned()),
                    arguments: RawJson(words),
                    kind: CallKind::Function,
                }),
                Home::Whole,
                Leaf::Text(text),
            );
        }
        _ => said.push(Part::Text(words), Home::Whole, Leaf::Text(text)),
    }
    Ok(said)
}

pub(super) fn fresh(message: &Message) -> Vec<String> {
    let speaker = match message.role {
        Role::System | Role::Developer => "system",
        Role::Assistant => "gpt",
        _ => "human",
    };
    let texts: Vec<&str> = message.texts().filter(|text| !text.is_empty()).collect();
    let mut turns: Vec<String> =
        message.results().map(|result| turn("observation", &result.joined_text())).collect();
    if !texts.is_empty() {
        turns.push(turn(speaker, &texts.join("\n")));
    }
    turns.extend(message.calls().map(|call| {
        let arguments = super::arguments_object(&call.arguments.0);
        // A call that was read from this format carries its name already.
        let is_whole = Json::check(arguments.as_bytes()).is_ok_and(|json| {
            json.get("name").and_then(Json::string).as_deref() == Some(&*call.name)
                && json.get("arguments").is_some()
        });
        match is_whole {
            true => turn("function_call", &arguments),
            false => turn(
                "function_call",
                &format!("{{\"name\":{},\"arguments\":{arguments}}}", quoted(&call.name)),
            ),
        }
    }));
    turns
}

fn turn(from: &str, value: &str) -> String {
    format!("{{\"from\":\"{from}\",\"value\":{}}}", quoted(value))
}
