//! OpenAI Responses: a flat list of items. A Codex rollout uses the same items and puts words of its harness in the
//! user's mouth; those are told apart here.

pub(crate) mod rules;

use longhaul_transcript::{
    CallKind, ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, ToolCall, ToolResult,
};

use super::{Blanks, LaterSystem, Lead, Spec, Tools, Writing, told_as_failed};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    dialect::{Dialect, Outside, Own, Said, Sources, as_they_are, bare, fresh_bare, media_or_opaque, opaque},
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload},
    validate::is_blank,
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "responses",
    aliases: &[],
    provider: Some("openai"),
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::Responses, &BODY, bytes),
    segments: super::one_segment,
    validate: Some(rules::check_history),
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: false,
        lead: Lead::Outside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Go,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            regroup::shown_by_the_user(regroup::paired_and_named(messages, losses), Shown::Answers, losses)
        },
        tool,
        tools: Tools::Inside(super::listed),
        takes_cache_marks: false,
        file: |draft, _| {
            let instructions = joined(&draft.outside).map(|text| format!("\"instructions\":{text}"));
            draft.object_or_list([draft.model_field(), instructions, draft.tools_field()], "input")
        },
        session: None,
    }),
    written_as: Format::Responses,
};

const BODY: Body = Body {
    lists: &["input", "output"],
    expected: "an array of items, or an object with input",
    outside: &["instructions"],
    dialect: &MESSAGE,
    takes_lines: false,
    text: Some(&USER_TEXT),
    session: &["session"],
    check: |_| Ok(()),
};

/// Parts that only messages of Responses have.
pub(super) const BLOCKS: &[&str] = &["input_text", "output_text"];

pub(super) static MESSAGE: Dialect = Dialect {
    format: Format::Responses,
    read: |value| read(value, false),
    fresh,
    result_content,
    text_element: |text| format!("{{\"type\":\"input_text\",\"text\":{}}}", quoted(text)),
    is_patched: true,
    content_key: None,
    unsign: |_, _, _| {},
    settle: |_, _, _, _| {},
    with_steps: |message, _| message.to_owned(),
    is_of_items: true,
    marks_failure: false,
    has_custom_calls: true,
    has_detail: true,
    has_file_names: true,
    says_reasoning: false,
    is_led_by_reasoning: false,
    takes_id: |id| id.chars().count() <= 64,
    takes_name: |_| false,
    spelling: Some(as_they_are),
    answer,
    usage: super::OPENAI.usage,
    reaches: super::OPENAI.reaches,
    own: Own { fields: &[], blocks: BLOCKS },
    lacks: |_| false,
    expected: Some("calls and results as items of their own, as the Responses API spells a message"),
    outside: Some(Outside { dialect: &INSTRUCTIONS, is_one: |item| item.is_string(), of_message: |_| None }),
};

/// Returns the items of an answer, as long as it did not fail.
fn answer(value: Json<'_>) -> Result<Option<Vec<Json<'_>>>, Fault> {
    let fields = value.object();
    // An item that answers a call has an `output` too.
    let is_item = fields.get("type").is_some() || fields.get("role").is_some();
    let Some(output) = fields.get("output").filter(|output| output.is_array() && !is_item) else {
        return Ok(None);
    };
    let has_failed = fields.text("status").is_some_and(|status| status == "failed");
    match fields.some("error") {
        Some(error) => Err(Fault::new("error", error.raw(), "an answer that did not fail")),
        None if has_failed => Err(Fault::new("status", "failed", "an answer that did not fail")),
        None => Ok(Some(output.elements())),
    }
}

/// Items as a Codex rollout has them.
pub(crate) static ROLLOUT: Dialect = Dialect { read: |value| read(value, true), ..MESSAGE };

/// A bare string of instructions.
pub(crate) static INSTRUCTIONS: Dialect = Dialect {
    read: |value| bare(value, Role::System),
    fresh: fresh_bare,
    is_of_items: false,
    outside: None,
    ..MESSAGE
};

/// A bare string that the user says.
pub(crate) static USER_TEXT: Dialect = Dialect {
    read: |value| bare(value, Role::User),
    fresh: fresh_bare,
    is_of_items: false,
    spelling: None,
    outside: None,
    ..MESSAGE
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    let kinds =
        ["message", "function_call", "function_call_output", "reasoning", "input_text", "output_text"];
    match head.is_array() {
        true if head.has("parts") => None,
        true if !head.mentions("tool_calls") && head.has_type(&kinds) => Some(Claim::Shape),
        true => (head.has("type") && !head.has("role")).then_some(Claim::Alike),
        false => head.has_any(&["input", "instructions", "previous_response_id"]).then_some(Claim::Alike),
    }
}

pub(super) fn tool(tool: &super::Tool<'_>) -> String {
    let (name, described, schema) = (tool.name, tool.described(), tool.schema);
    format!("{{\"type\":\"function\",\"name\":{name}{described},\"parameters\":{schema}}}")
}

/// Returns standing instructions as one string.
pub(super) fn joined(values: &[String]) -> Option<String> {
    match values {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let texts: Vec<_> = many.iter().filter_map(|value| super::text_of(value)).collect();
            Some(quoted(&texts.join("\n\n")))
        }
    }
}

/// What Codex sends under the user's role without the user having said it.
const HARNESS: [&str; 3] = ["<environment_context", "<user_instructions", "# AGENTS.md instructions"];

fn read(value: Json<'_>, is_codex: bool) -> Result<Said<'_>, Fault> {
    if !value.is_object() {
        return Err(Fault::new("", value.raw(), "an item: an object with a type, or with role and content"));
    }
    let item = value.object();
    let kind = item.text("type").unwrap_or_default();
    match &*kind {
        "" | "message" => read_message(value, &item, is_codex),
        "reasoning" => Ok(whole(Role::Assistant, reasoning(value, &item), Leaf::Fixed)),
        "function_call" => call(&item, CallKind::Function, "arguments"),
        "custom_tool_call" => call(&item, CallKind::Custom, "input"),
        "tool_search_call" => call(&item, CallKind::Function, "arguments"),
        "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" => hosted_call(&item, &kind),
        output if output.ends_with("_output") && item.some("call_id").is_some() => read_result(&item),
        _ => {
            let role = if kind == "mcp_approval_response" { Role::User } else { Role::Assistant };
            let pair = match &*kind {
                "mcp_approval_request" => item.get("id"),
                "mcp_approval_response" => item.get("approval_request_id"),
                _ => None,
            };
            Ok(whole(role, opaque(&kind, value, pair), Leaf::Fixed))
        }
    }
}

fn whole<'a>(role: Role, part: Part, leaf: Leaf<'a>) -> Said<'a> {
    let mut said = Said::new(role);
    said.push(part, Home::Whole, leaf);
    said
}

fn read_message<'a>(value: Json<'a>, item: &Object<'a>, is_codex: bool) -> Result<Said<'a>, Fault> {
    let role = match item.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some(other) => return Err(Fault::new("role", other, "user, assistant, system or developer")),
        None => return Err(Fault::new("", value.raw(), "an item with a type, or a message with its role")),
    };
    let mut said = Said::new(role);
    match item.some("content") {
        Some(text) if text.is_string() => {
            said.push(Part::Text(text.string().unwrap_or_default()), Home::Whole, Leaf::Text(text));
        }
        Some(list) if list.is_array() => {
            for (index, element) in list.elements().into_iter().enumerate() {
                let home = Home::Element { array: list, index, element, emptied: Emptied::Stays };
                let located = read_part(element, home, &mut said.payloads)
                    .map_err(|fault| Fault { path: format!("content[{index}]"), ..fault })?;
                said.parts.push(located);
            }
        }
        Some(other) => return Err(Fault::new("content", other.raw(), "a string or an array of parts")),
        None => {}
    }
    if is_codex && role == Role::User {
        let first = said.parts.iter().find_map(|located| match &located.part {
            Part::Text(text) => Some(text.trim_start()),
            _ => None,
        });
        if first.is_some_and(|text| HARNESS.iter().any(|mark| text.starts_with(mark))) {
            said.role = Role::Developer;
        }
    }
    Ok(said)
}

fn read_part<'a>(
    element: Json<'a>,
    home: Home<'a>,
    payloads: &mut Vec<(ContentHash, Payload<'a>)>,
) -> Result<Located<'a>, Fault> {
    let fields = element.object();
    let kind = fields.text("type").unwrap_or_default();
    let key = if kind == "refusal" { "refusal" } else { "text" };
    if let Some(text) = fields.get(key).filter(|text| text.is_string()) {
        let part = Part::Text(text.string().unwrap_or_default());
        return Ok(Located { part, home, leaf: Leaf::Text(text) });
    }
    if kind.is_empty() {
        return Err(Fault::new("", element.raw(), "a content part: an object with a type"));
    }
    let part = media_or_opaque(payload(element, &fields, &kind), &kind, element, payloads);
    Ok(Located { part, home, leaf: Leaf::Fixed })
}

fn payload<'a>(element: Json<'a>, fields: &Object<'a>, kind: &str) -> Option<Payload<'a>> {
    let (kind, url, data) = match kind {
        "input_image" => (MediaKind::Image, "image_url", "image_url"),
        "input_file" => (MediaKind::Document, "file_url", "file_data"),
        _ => return None,
    };
    let payload = match fields.text(data).or_else(|| fields.text(url)) {
        Some(address) => Payload::address(Format::Responses, element, kind, "", address),
        None => Payload::new(Format::Responses, element, kind, "", Data::File(fields.text("file_id")?)),
    };
    let detail = fields.text("detail").filter(|detail| kind == MediaKind::Image && detail != "auto");
    Some(Payload { detail, ..payload }.called(fields.text("filename")))
}

fn reasoning(value: Json<'_>, item: &Object<'_>) -> Part {
    let texts = ["summary", "content"].into_iter().filter_map(|key| item.get(key)).flat_map(Json::elements);
    let texts: Vec<String> = texts.filter_map(|text| text.get("text")?.string()).collect();
    // weighed by its size, never read.
    let sealed = item.text("encrypted_content").filter(|sealed| !sealed.is_empty());
    // What else stands in the item, clients leave out or add.
    let known_by = sealed.clone().or_else(|| item.text("id"));
    Part::Reasoning(Reasoning {
        text: texts.join("\n"),
        opaque_bytes: sealed.map_or(0, |sealed| sealed.len() as u64),
        hash: ContentHash::of(known_by.as_deref().unwrap_or(value.raw()).as_bytes()),
    })
}

fn call<'a>(item: &Object<'a>, kind: CallKind, key: &str) -> Result<Said<'a>, Fault> {
    let id = item.text("call_id").or_else(|| item.text("id"));
    let Some(id) = id else {
        return Err(Fault::new("", item.whole().raw(), "a call with its call_id"));
    };
    let arguments = item.get(key);
    let leaf = match arguments {
        Some(text) if text.is_string() => Leaf::Text(text),
        Some(object) if object.is_object() => Leaf::Arguments(object),
        _ => Leaf::Fixed,
    };
    let text = arguments.map(|json| json.string().unwrap_or_else(|| json.raw().to_owned()));
    let part = Part::ToolCall(ToolCall {
        id: (&*id).into(),
        name: item.text("name").or_else(|| item.text("type")).unwrap_or_default().into_owned(),
        arguments: RawJson(text.unwrap_or_default()),
        kind,
    });
    Ok(whole(Role::Assistant, part, leaf))
}

/// Reads a call to a tool that the provider defines; what it does stands in an object of its own.
fn hosted_call<'a>(item: &Object<'a>, kind: &str) -> Result<Said<'a>, Fault> {
    let Some(id) = item.text("call_id").or_else(|| item.text("id")) else {
        return Err(Fault::new("", item.whole().raw(), "a call with its call_id"));
    };
    let action = ["action", "operation"].into_iter().find_map(|key| item.get(key));
    let name = match kind {
        "local_shell_call" | "shell_call" => "shell",
        other => other.strip_suffix("_call").unwrap_or(other),
    };
    let part = Part::ToolCall(ToolCall::function(&*id, name, action.map_or("{}", Json::raw)));
    Ok(whole(Role::Assistant, part, Leaf::Fixed))
}

fn read_result<'a>(item: &Object<'a>) -> Result<Said<'a>, Fault> {
    let call_id = item.text("call_id").unwrap_or_default();
    let output = item.get("output").or_else(|| item.get("tools"));
    let mut said = Said::new(Role::Tool);
    // Older Codex files wrap it: {"content": "...", "success": true}.
    let success = output.and_then(|output| output.get("success"));
    let output = output.map(|output| output.get("content").filter(|_| output.is_object()).unwrap_or(output));
    let mut inner = Vec::new();
    let leaf = match output {
        Some(text) if text.is_string() => {
            let part = Part::Text(text.string().unwrap_or_default());
            inner.push(Located { part, home: Home::Whole, leaf: Leaf::Text(text) });
            Some(text)
        }
        Some(list) if list.is_array() => {
            for (index, element) in list.elements().into_iter().enumerate() {
                let home = Home::Element { array: list, index, element, emptied: Emptied::Stays };
                inner.push(match element.get("type").is_some() {
                    true => read_part(element, home, &mut said.payloads)?,
                    false => Located { part: opaque("", element, None), home, leaf: Leaf::Fixed },
                });
            }
            Some(list)
        }
        Some(other) => {
            inner.push(Located { part: opaque("output", other, None), home: Home::Whole, leaf: Leaf::Fixed });
            Some(other)
        }
        None => None,
    };
    let outcome = match (success, item.text("status").as_deref()) {
        (Some(success), _) if success.is_true() => Outcome::Succeeded,
        (Some(success), _) if success.raw() == "false" => Outcome::Failed,
        (_, Some("failed")) => Outcome::Failed,
        _ => Outcome::Unstated,
    };
    let content = inner.iter().map(|located| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: (&*call_id).into(), content, outcome });
    said.push(part, Home::Whole, leaf.map_or(Leaf::Fixed, |content| Leaf::Result { content, inner }));
    Ok(said)
}

fn result_content(content: &[Part], sources: &Sources<'_>) -> String {
    match content {
        [] => "\"\"".to_owned(),
        [Part::Text(text)] => quoted(text),
        parts => format!("[{}]", content_parts(parts, "input_text", sources).join(",")),
    }
}

fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let mut items: Vec<String> = message.results().map(|result| fresh_result(result, sources)).collect();
    let (role, kind) = match message.role {
        Role::Assistant => ("assistant", "output_text"),
        Role::Tool => ("user", "input_text"),
        role => (role.as_str(), "input_text"),
    };
    let parts = content_parts(&message.parts, kind, sources);
    // Blank words beside calls would be an item of their own (U-11).
    let is_silent = |part: &Part| match part {
        Part::Text(text) => is_blank(text),
        part => matches!(part, Part::ToolCall(_)),
    };
    let is_said = message.calls().next().is_none() || !message.parts.iter().all(is_silent);
    if !parts.is_empty() && is_said {
        items.push(format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{}]}}", parts.join(",")));
    }
    items.extend(message.calls().map(|call| {
        let (id, name) = (quoted(call.id.as_str()), quoted(&call.name));
        let (kind, key) = match call.kind {
            CallKind::Function => ("function_call", "arguments"),
            CallKind::Custom => ("custom_tool_call", "input"),
        };
        let arguments = quoted(&call.arguments.0);
        format!("{{\"type\":\"{kind}\",\"call_id\":{id},\"name\":{name},\"{key}\":{arguments}}}")
    }));
    items
}

fn fresh_result(result: &ToolResult, sources: &Sources<'_>) -> String {
    let kind = match sources.is_custom(result.call_id.as_str()) {
        true => "custom_tool_call_output",
        false => "function_call_output",
    };
    let output = match (result.outcome, &result.content[..]) {
        // The dialect has no field for it.
        (Outcome::Failed, [Part::Text(text)]) => quoted(&told_as_failed(text)),
        _ => result_content(&result.content, sources),
    };
    format!("{{\"type\":\"{kind}\",\"call_id\":{},\"output\":{output}}}", quoted(result.call_id.as_str()))
}

fn content_parts(parts: &[Part], kind: &str, sources: &Sources<'_>) -> Vec<String> {
    let spell = |part: &Part| match part {
        Part::Text(text) => Some(format!("{{\"type\":\"{kind}\",\"text\":{}}}", quoted(text))),
        Part::Media(media) => sources.media.get(&media.hash).and_then(media_part),
        part => sources.block(part),
    };
    parts.iter().filter_map(spell).collect()
}

fn media_part(payload: &Payload<'_>) -> Option<String> {
    if payload.format == Format::Responses {
        return Some(payload.raw.raw().to_owned());
    }
    let url = quoted(&payload.url()?);
    match payload.kind {
        MediaKind::Image => {
            let detail = quoted(payload.detail.as_deref().unwrap_or("auto"));
            Some(format!("{{\"type\":\"input_image\",\"image_url\":{url},\"detail\":{detail}}}"))
        }
        MediaKind::Document if matches!(payload.data, Data::Url(_)) => {
            let name = payload.name.as_ref().map(|name| format!(",\"filename\":{}", quoted(name)));
            Some(format!("{{\"type\":\"input_file\",\"file_url\":{url}{}}}", name.unwrap_or_default()))
        }
        MediaKind::Document => {
            let name = quoted(payload.name.as_deref().unwrap_or("document"));
            Some(format!("{{\"type\":\"input_file\",\"filename\":{name},\"file_data\":{url}}}"))
        }
        _ => None,
    }
}
