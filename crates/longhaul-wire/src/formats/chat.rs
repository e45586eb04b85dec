//! Plain chat as in ShareGPT: who speaks and what is said, nothing else.

use longhaul_transcript::{CallKind, Message, Outcome, Part, RawJson, Role, ToolCall, ToolResult};

use super::{Blanks, LaterSystem, Lead, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup,
    detect::{Claim, Head},
    dialect::{Dialect, Outside, Own, Said, Sources, bare, call_object, fresh_bare},
    edit::{Home, Leaf, Located},
    error::Fault,
    json::{Json, quoted},
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "chat",
    aliases: &["sharegpt"],
    provider: None,
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::Chat, &BODY, bytes),
    segments: super::one_segment,
    validate: None,
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: true,
        lead: Lead::Inside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Stay,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            let messages = regroup::paired(messages, losses);
            regroup::one_call_at_a_time(messages, losses)
        },
        // Those who keep such files define tools as OpenAI does.
        tool: super::openai::tool,
        tools: Tools::Nowhere,
        takes_cache_marks: false,
        file: |draft, _| draft.object_or_list([draft.model_field()], "conversations"),
        session: None,
    }),
    written_as: Format::Chat,
};

const BODY: Body = Body {
    lists: &["conversations", "conversation", "messages"],
    expected: "an array of turns, or an object with conversations",
    outside: &["system"],
    dialect: &MESSAGE,
    takes_lines: false,
    text: None,
    session: &["session"],
    check: |_| Ok(()),
};

static MESSAGE: Dialect = Dialect {
    format: Format::Chat,
    read,
    fresh,
    spelling: None,
    settle: |_, _, _, _| {},
    has_detail: false,
    has_file_names: false,
    takes_name: |_| false,
    answer: |_| Ok(None),
    usage: None,
    reaches: |_| true,
    own: Own { fields: &[], blocks: &[] },
    lacks: |_| false,
    expected: None,
    outside: Some(Outside { dialect: &SYSTEM, is_one: |item| item.is_string(), of_message: |_| None }),
    ..super::openai::MESSAGE
};

/// The `system` field: a bare string.
static SYSTEM: Dialect =
    Dialect { read: |value| bare(value, Role::System), fresh: fresh_bare, outside: None, ..MESSAGE };

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = match head.is_array() {
        true => head.has("from") && head.has("value"),
        false => head.has_any(&["conversations", "conversation"]),
    };
    is_one.then_some(Claim::Shape)
}

/// The format has no ids; one call is answered before the next is made.
const CALL: &str = "call";

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
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
            let (part, leaf) = call(words, text);
            said.push(part, Home::Whole, leaf);
        }
        _ => said.push(Part::Text(words), Home::Whole, Leaf::Text(text)),
    }
    Ok(said)
}

/// Reads a call: an object with its name and its arguments, as text.
fn call<'a>(words: String, text: Json<'a>) -> (Part, Leaf<'a>) {
    let fields = Json::check(words.as_bytes()).ok().map(Json::object);
    let fields = fields.as_ref();
    let name = fields.and_then(|call| call.text("name")).map(|name| name.into_owned());
    let inner = name.as_ref().zip(fields.and_then(|call| call.some("arguments").or(call.some("parameters"))));
    let inner = inner.map(|(_, json)| json.string().unwrap_or_else(|| json.raw().to_owned()));
    let leaf = if inner.is_some() { Leaf::Call(text) } else { Leaf::Text(text) };
    let call = ToolCall {
        id: CALL.into(),
        name: name.unwrap_or_else(|| "function".to_owned()),
        arguments: RawJson(inner.unwrap_or(words)),
        kind: CallKind::Function,
    };
    (Part::ToolCall(call), leaf)
}

fn fresh(message: &Message, _: &Sources<'_>) -> Vec<String> {
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
    turns.extend(message.calls().map(|call| turn("function_call", &call_object(call))));
    turns
}

fn turn(from: &str, value: &str) -> String {
    format!("{{\"from\":\"{from}\",\"value\":{}}}", quoted(value))
}
