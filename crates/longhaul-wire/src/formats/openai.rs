//! OpenAI Chat Completions: one message a tool result, calls beside the content.

mod rules;

use std::borrow::Cow;

use longhaul_transcript::{
    CallKind, ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, Tokens, ToolCall,
    ToolResult, Usage,
};

use super::{Blanks, LaterSystem, Lead, Spec, Tools, Writing, anthropic, responses, told_as_failed};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    dialect::{Counts, Dialect, Own, Said, Sources, media_or_opaque, one_answer, opaque, typed_text},
    edit::{Edits, Emptied, Home, Leaf, Located},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload, lies_elsewhere_than_with_google},
    respell::respelled,
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "openai",
    aliases: &["chat-completions"],
    provider: Some("openai"),
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::OpenAi, &BODY, bytes),
    segments: super::one_segment,
    validate: Some(rules::check_history),
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: true,
        lead: Lead::Inside,
        later_system: LaterSystem::Anywhere,
        blanks: Blanks::Go,
        most_calls: MOST_CALLS,
        reads_as_one: false,
        regroup: |messages, losses| {
            let messages = regroup::paired_and_named(messages, losses);
            regroup::shown_by_the_user(messages, Shown::All, losses)
        },
        tool,
        tools: Tools::Inside(super::listed),
        takes_cache_marks: false,
        file: |mut draft, _| {
            one_instructor(&mut draft.messages);
            draft.object_or_list([draft.model_field(), draft.tools_field()], "messages")
        },
        session: None,
    }),
    written_as: Format::OpenAi,
};

/// O-05: how many calls a message may make.
const MOST_CALLS: usize = 128;

const BODY: Body = Body {
    lists: &["messages"],
    expected: "an array of messages, or an object with messages",
    outside: &[],
    dialect: &MESSAGE,
    takes_lines: true,
    text: None,
    session: &["session"],
    check: |_| Ok(()),
};

pub(crate) static MESSAGE: Dialect = Dialect {
    format: Format::OpenAi,
    read,
    fresh,
    result_content: |content, _| result_content(content),
    text_element: typed_text,
    is_patched: true,
    content_key: None,
    unsign: |_, _, _| {},
    settle,
    with_steps: |message, _| message.to_owned(),
    is_of_items: false,
    marks_failure: false,
    has_custom_calls: true,
    has_detail: true,
    has_file_names: true,
    says_reasoning: false,
    is_led_by_reasoning: false,
    takes_id: |id| !id.is_empty(),
    takes_name: is_name,
    spelling: Some(|items| Some(items.iter().map(|item| respelled(*item)).collect::<Vec<_>>().join("\n"))),
    answer: |value| {
        let choice = one_answer(value, "choices")?;
        Ok(choice.and_then(|choice| choice.get("message")).map(|message| vec![message]))
    },
    usage: Some(Counts { key: "usage", inside: &["response"], read: usage }),
    reaches: lies_elsewhere_than_with_google,
    own: Own { fields: &["tool_calls", "function_call"], blocks: &[] },
    lacks: |_| false,
    expected: Some("calls in tool_calls and results under the role tool, as OpenAI spells a message"),
    outside: None,
};

/// O-11: developer and system are two names for one thing; a history uses one of them.
fn one_instructor(messages: &mut [String]) {
    let said_by = |message: &String, name: &str| {
        let role =
            message.contains(name).then(|| Json::check(message.as_bytes()).ok()?.get("role")).flatten();
        role.filter(|role| role.text().is_some_and(|role| role == name)).map(|role| role.range_in(message))
    };
    if !messages.iter().any(|message| said_by(message, "system").is_some()) {
        return;
    }
    for message in messages {
        if let Some(role) = said_by(message, "developer") {
            message.replace_range(role, "\"system\"");
        }
    }
}

/// O-03: an answer of which nothing is left but its reasoning has content all the same.
fn settle(base: &str, old: &[Located<'_>], new: &[Option<&Part>], edits: &mut Edits) {
    let mut kept = old.iter().zip(new).filter(|(_, new)| new.is_some());
    if !kept.all(|(located, _)| matches!(located.part, Part::Reasoning(_))) {
        return;
    }
    match Json::check(base.as_bytes()).ok().and_then(|message| message.get("content")) {
        Some(content) => edits.replace(content.range_in(base), "\"\""),
        None => edits.replace(base.len() - 1..base.len() - 1, ",\"content\":\"\""),
    }
}

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = match head.is_array() {
        true => head.has("role") && !head.has("parts") || head.is_empty(),
        // One message a line, where no other format's blocks stand in them.
        false if head.has("role") && !head.has("messages") => {
            !head.has("parts") && !head.has_type(anthropic::BLOCKS) && !head.has_type(responses::BLOCKS)
        }
        false => head.has_any(&["messages", "model", "system", "tools"]),
    };
    is_one.then_some(Claim::Left)
}

/// Reads what Chat Completions or Responses count: what came from the cache is counted with the input, reasoning with the output.
pub(super) fn usage(counts: Json<'_>) -> Option<Usage> {
    let number = |json: Option<Json<'_>>| json.and_then(Json::as_u64).map(Tokens);
    let names = [["prompt", "completion"], ["input", "output"]];
    let (all, [input, output]) = names.into_iter().find_map(|[input, output]| {
        let all = number(counts.get(&format!("{input}_tokens")))?;
        Some((all, [input, output]))
    })?;
    let detail = |of: &str, key| {
        let details = counts.get(&format!("{of}_tokens_details"));
        number(details.and_then(|details| details.get(key))).unwrap_or_default()
    };
    let (cached, reasoning) = (detail(input, "cached_tokens"), detail(output, "reasoning_tokens"));
    Some(Usage {
        input: all - cached,
        cache_read: cached,
        cache_write: Tokens::ZERO,
        output: number(counts.get(&format!("{output}_tokens"))).unwrap_or_default() - reasoning,
        reasoning,
    })
}

/// O-08: names of speakers.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>'))
}

/// Fields of an assistant message that hold thinking (OD-1, OD-2, OD-3, OD-4); they are carried as they came.
const REASONING: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"];

pub(super) fn tool(tool: &super::Tool<'_>) -> String {
    let (name, described, schema) = (tool.name, tool.described(), tool.schema);
    format!("{{\"type\":\"function\",\"function\":{{\"name\":{name}{described},\"parameters\":{schema}}}}}")
}

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    const MESSAGE: &str = "a message: an object with role and content";
    if !value.is_object() {
        return Err(Fault::new("", value.raw(), MESSAGE));
    }
    let message = value.object();
    let role = match message.text("role").as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some(other) => return Err(Fault::new("role", other, "system, developer, user, assistant or tool")),
        None => return Err(Fault::new("", value.raw(), MESSAGE)),
    };
    let mut said = Said::new(role);
    said.name = message.text("name").map(|name| (&*name).into());
    if role == Role::Tool {
        read_result(&message, &mut said)?;
        return Ok(said);
    }
    for key in REASONING {
        if let Some(field) = message.some(key) {
            said.push(reasoning(field), Home::Field { object: value, key }, Leaf::Fixed);
        }
    }
    if let Some(content) = message.some("content") {
        read_content(content, &mut said)?;
    }
    if let Some(refusal) = message.some("refusal").filter(|refusal| refusal.is_string()) {
        let part = Part::Text(refusal.string().unwrap_or_default());
        said.push(part, Home::Field { object: value, key: "refusal" }, Leaf::Text(refusal));
    }
    // O-09: it is the id of what was said aloud.
    if let Some(audio) = message.some("audio") {
        said.push(opaque("audio", audio, None), Home::Field { object: value, key: "audio" }, Leaf::Fixed);
    }
    if let Some(call) = message.some("function_call") {
        let fields = call.object();
        let name = fields.text("name").unwrap_or_default().into_owned();
        // The old form has no ids: the function's name ties call and result.
        let part = function_call(&name, &name, fields.get("arguments"));
        let leaf = fields.get("arguments").map_or(Leaf::Fixed, Leaf::Text);
        said.push(part, Home::Field { object: value, key: "function_call" }, leaf);
    }
    if let Some(calls) = message.some("tool_calls") {
        read_calls(calls, value, &mut said)?;
    }
    Ok(said)
}

fn read_content<'a>(content: Json<'a>, said: &mut Said<'a>) -> Result<(), Fault> {
    if let Some(text) = content.string() {
        said.push(Part::Text(text), Home::Null(content), Leaf::Text(content));
        return Ok(());
    }
    if !content.is_array() {
        return Err(Fault::new("content", content.raw(), "a string, null or an array of parts"));
    }
    for (index, element) in content.elements().into_iter().enumerate() {
        let home = Home::Element { array: content, index, element, emptied: Emptied::Null(content) };
        let located = read_part(element, home, said)
            .map_err(|fault| Fault { path: format!("content[{index}]"), ..fault })?;
        said.parts.push(located);
    }
    Ok(())
}

fn read_part<'a>(element: Json<'a>, home: Home<'a>, said: &mut Said<'a>) -> Result<Located<'a>, Fault> {
    if let Some(text) = element.string() {
        return Ok(Located { part: Part::Text(text), home, leaf: Leaf::Text(element) });
    }
    let fields = element.object();
    let kind = fields.text("type").unwrap_or_default();
    let text = ["text", "refusal"].into_iter().filter(|key| *key == kind).find_map(|key| fields.get(key));
    if let Some(text) = text.filter(|text| text.is_string()) {
        let part = Part::Text(text.string().unwrap_or_default());
        return Ok(Located { part, home, leaf: Leaf::Text(text) });
    }
    if kind.is_empty() {
        return Err(Fault::new("", element.raw(), "a content part: an object with a type"));
    }
    let part = media_or_opaque(payload(element, &fields, &kind), &kind, element, &mut said.payloads);
    Ok(Located { part, home, leaf: Leaf::Fixed })
}

fn read_calls<'a>(calls: Json<'a>, message: Json<'a>, said: &mut Said<'a>) -> Result<(), Fault> {
    if !calls.is_array() {
        return Err(Fault::new("tool_calls", calls.raw(), "an array of tool calls"));
    }
    let emptied = Emptied::Field { object: message, key: "tool_calls" };
    for (index, call) in calls.elements().into_iter().enumerate() {
        let fields = call.object();
        let Some(id) = fields.text("id") else {
            return Err(Fault::new(format!("tool_calls[{index}]"), call.raw(), "a tool call with its id"));
        };
        // tau2 writes name and arguments on the call itself, arguments as an object.
        let function = fields.some("function").map_or(fields.clone(), Json::object);
        let (part, leaf) = match fields.some("custom").map(Json::object) {
            Some(custom) => {
                let input = custom.get("input");
                let call = ToolCall {
                    id: (&*id).into(),
                    name: custom.text("name").unwrap_or_default().into_owned(),
                    arguments: RawJson(input.and_then(Json::string).unwrap_or_default()),
                    kind: CallKind::Custom,
                };
                (Part::ToolCall(call), input.map_or(Leaf::Fixed, Leaf::Text))
            }
            None => {
                let arguments = function.get("arguments");
                let leaf = match arguments {
                    Some(text) if text.is_string() => Leaf::Text(text),
                    Some(object) if object.is_object() => Leaf::Arguments(object),
                    _ => Leaf::Fixed,
                };
                (function_call(&id, &function.text("name").unwrap_or_default(), arguments), leaf)
            }
        };
        said.push(part, Home::Element { array: calls, index, element: call, emptied }, leaf);
    }
    Ok(())
}

fn function_call(id: &str, name: &str, arguments: Option<Json<'_>>) -> Part {
    let text = arguments.map(|json| json.string().unwrap_or_else(|| json.raw().to_owned()));
    Part::ToolCall(ToolCall::function(id, name, text.unwrap_or_default()))
}

fn read_result<'a>(message: &Object<'a>, said: &mut Said<'a>) -> Result<(), Fault> {
    // `id` is tau2's name for it; the old function messages have the name alone.
    let id = ["tool_call_id", "id", "name"].into_iter().find_map(|key| message.text(key));
    let Some(id) = id else {
        return Err(Fault::new("", message.whole().raw(), "a tool message with tool_call_id"));
    };
    let content = message.get("content");
    let mut inner = Vec::new();
    match content {
        Some(text) if text.is_string() => inner.push(Located {
            part: Part::Text(text.string().unwrap_or_default()),
            home: Home::Whole,
            leaf: Leaf::Text(text),
        }),
        Some(parts) if parts.is_array() => {
            for (index, element) in parts.elements().into_iter().enumerate() {
                let home = Home::Element { array: parts, index, element, emptied: Emptied::Stays };
                let located = read_part(element, home, said)
                    .map_err(|fault| Fault { path: format!("content[{index}]"), ..fault })?;
                inner.push(located);
            }
        }
        _ => {}
    }
    let outcome = match message.get("error") {
        Some(flag) if flag.is_true() => Outcome::Failed,
        Some(flag) if flag.raw() == "false" => Outcome::Succeeded,
        _ => Outcome::Unstated,
    };
    let parts = inner.iter().map(|located| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: (&*id).into(), content: parts, outcome });
    said.push(part, Home::Whole, content.map_or(Leaf::Fixed, |content| Leaf::Result { content, inner }));
    Ok(())
}

fn reasoning(field: Json<'_>) -> Part {
    let text = match field.string() {
        Some(text) => text,
        None => {
            let readable = |element: Json<'_>| {
                let fields = element.object();
                ["text", "summary", "thinking"]
                    .into_iter()
                    .find_map(|key| fields.text(key).map(Cow::into_owned))
            };
            field.elements().into_iter().filter_map(readable).collect::<Vec<_>>().join("\n")
        }
    };
    // What cannot be read is taken to be payload.
    let opaque_bytes =
        if field.is_string() { 0 } else { field.raw().len().saturating_sub(text.len()) as u64 };
    Part::Reasoning(Reasoning { text, opaque_bytes, hash: ContentHash::of(field.raw().as_bytes()) })
}

fn payload<'a>(element: Json<'a>, fields: &Object<'a>, kind: &str) -> Option<Payload<'a>> {
    match kind {
        "image_url" => {
            let image = fields.get("image_url")?;
            let url = image.text().or_else(|| image.object().text("url"))?;
            let detail = image.object().text("detail").filter(|detail| detail != "auto");
            let payload = Payload::address(Format::OpenAi, element, MediaKind::Image, "", url);
            Some(Payload { detail, ..payload })
        }
        "input_audio" => {
            let audio = fields.get("input_audio")?.object();
            let media_type = format!("audio/{}", audio.text("format").unwrap_or_default());
            let data = Data::Base64(audio.text("data")?);
            Some(Payload::new(Format::OpenAi, element, MediaKind::Audio, &media_type, data))
        }
        "file" => {
            let file = fields.get("file")?.object();
            let (format, kind) = (Format::OpenAi, MediaKind::Document);
            let payload = match file.text("file_data") {
                Some(data) => Payload::address(format, element, kind, "", data),
                None => Payload::new(format, element, kind, "", Data::File(file.text("file_id")?)),
            };
            Some(payload.called(file.text("filename")))
        }
        _ => None,
    }
}

/// Spells a result's content: text only (O-07).
fn result_content(content: &[Part]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    quoted(&texts.collect::<Vec<_>>().join("\n"))
}

fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let mut values: Vec<String> = message.results().map(result).collect();
    let calls: Vec<String> = message.calls().map(call).collect();
    let mut parts = Vec::new();
    let mut texts = Vec::new();
    for part in
        message.parts.iter().chain(message.results().flat_map(|result| &result.content).filter(is_media))
    {
        match part {
            Part::Text(text) => {
                parts.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text)));
                texts.push(text.as_str());
            }
            Part::Media(media) => parts.extend(sources.media.get(&media.hash).and_then(media_part)),
            part => parts.extend(sources.block(part)),
        }
    }
    if parts.is_empty() && calls.is_empty() {
        return values;
    }
    let content = match texts.len() == parts.len() {
        true if texts.is_empty() => "null".to_owned(),
        true => quoted(&texts.join("\n")),
        false => format!("[{}]", parts.join(",")),
    };
    let role = match message.role {
        Role::Tool => "user",
        role => role.as_str(),
    };
    let name = message.name.as_ref().filter(|_| message.role != Role::Tool);
    let name = name.map_or(String::new(), |name| format!(",\"name\":{}", quoted(name)));
    let calls = match calls.is_empty() {
        true => String::new(),
        false => format!(",\"tool_calls\":[{}]", calls.join(",")),
    };
    values.push(format!("{{\"role\":\"{role}\"{name},\"content\":{content}{calls}}}"));
    values
}

fn is_media(part: &&Part) -> bool {
    matches!(part, Part::Media(_))
}

fn result(result: &ToolResult) -> String {
    let content = match result.outcome {
        // The dialect has no field for it.
        Outcome::Failed => quoted(&told_as_failed(&result.joined_text())),
        _ => result_content(&result.content),
    };
    format!(
        "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{content}}}",
        quoted(result.call_id.as_str())
    )
}

fn call(call: &ToolCall) -> String {
    let (id, name, arguments) = (quoted(call.id.as_str()), quoted(&call.name), quoted(&call.arguments.0));
    match call.kind {
        CallKind::Function => format!(
            "{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
        ),
        CallKind::Custom => {
            format!(
                "{{\"id\":{id},\"type\":\"custom\",\"custom\":{{\"name\":{name},\"input\":{arguments}}}}}"
            )
        }
    }
}

fn media_part(payload: &Payload<'_>) -> Option<String> {
    if payload.format == Format::OpenAi {
        return Some(payload.raw.raw().to_owned());
    }
    let url = quoted(&payload.url()?);
    match (payload.kind, &payload.data) {
        (MediaKind::Image, _) => {
            let detail = payload.detail.as_ref().map(|detail| format!(",\"detail\":{}", quoted(detail)));
            let detail = detail.unwrap_or_default();
            Some(format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{url}{detail}}}}}"))
        }
        (MediaKind::Document, Data::Base64(_)) => {
            let name = quoted(payload.name.as_deref().unwrap_or("document"));
            Some(format!("{{\"type\":\"file\",\"file\":{{\"file_data\":{url},\"filename\":{name}}}}}"))
        }
        (MediaKind::Audio, Data::Base64(data)) => {
            let format = match &*payload.media_type {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mp3" | "audio/mpeg" => "mp3",
                _ => return None,
            };
            let data = quoted(data);
            Some(format!(
                "{{\"type\":\"input_audio\",\"input_audio\":{{\"data\":{data},\"format\":\"{format}\"}}}}"
            ))
        }
        _ => None,
    }
}
