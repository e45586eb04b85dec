//! Anthropic Messages: blocks inside messages.

pub(crate) mod rules;

use longhaul_transcript::{
    CallKind, ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, Tokens, ToolCall,
    ToolResult, Usage,
};

use super::{Blanks, LaterSystem, Lead, Spec, Tools, Writing};
use crate::{
    Format,
    convert::regroup::{self, Shown},
    detect::{Claim, Head},
    dialect::{
        Counts, Dialect, Outside, Own, Said, Sources, arguments_object, as_they_are, media_or_opaque, opaque,
        typed_text,
    },
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    ids,
    json::{Json, Object, quoted},
    media::{Data, Payload, lies_elsewhere_than_with_google},
    whole::{self, Body},
};

pub(super) const SPEC: Spec = Spec {
    name: "anthropic",
    aliases: &[],
    provider: Some("anthropic"),
    claims,
    is_lines: false,
    may_lack_ids: false,
    read: |bytes| whole::read(Format::Anthropic, &BODY, bytes),
    segments: super::one_segment,
    validate: Some(rules::check_history),
    writing: Some(Writing {
        dialect: &MESSAGE,
        carries_all: false,
        keeps_reasoning: false,
        lead: Lead::Outside,
        later_system: LaterSystem::BeforeAnswers,
        blanks: Blanks::GoEverywhere,
        most_calls: usize::MAX,
        reads_as_one: true,
        regroup: |messages, losses| {
            let messages = regroup::paired_and_named(messages, losses);
            let messages = regroup::shown_by_the_user(messages, Shown::Answers, losses);
            regroup::merge_roles(messages, |role| role)
        },
        tool,
        tools: Tools::Inside(super::listed),
        takes_cache_marks: true,
        file: |draft, _| {
            let system = instructions(&draft.outside).map(|system| format!("\"system\":{system}"));
            draft.object_or_list([draft.model_field(), draft.tools_field(), system], "messages")
        },
        session: None,
    }),
    written_as: Format::Anthropic,
};

const BODY: Body = Body {
    lists: &["messages"],
    expected: "an array of messages, or an object with messages",
    outside: &["system"],
    dialect: &MESSAGE,
    takes_lines: false,
    text: None,
    session: &["session"],
    check: |_| Ok(()),
};

/// Blocks that only Anthropic has.
pub(super) const BLOCKS: &[&str] = &["tool_use", "tool_result", "thinking", "redacted_thinking"];

pub(crate) static MESSAGE: Dialect = Dialect {
    format: Format::Anthropic,
    read,
    fresh,
    result_content,
    text_element: typed_text,
    is_patched: true,
    content_key: Some("content"),
    unsign: |_, _, _| {},
    settle: |_, _, _, _| {},
    with_steps: |message, _| message.to_owned(),
    is_of_items: false,
    marks_failure: true,
    has_custom_calls: false,
    has_detail: false,
    has_file_names: true,
    says_reasoning: false,
    is_led_by_reasoning: true,
    takes_id: ids::is_plain,
    takes_name: |_| false,
    spelling: Some(|items| match items {
        [item] if !is_answer(*item) => Some(item.raw().to_owned()),
        items => request_message(items),
    }),
    answer: |_| Ok(None),
    usage: Some(Counts { key: "usage", inside: &["message"], read: usage }),
    reaches: lies_elsewhere_than_with_google,
    own: Own { fields: &[], blocks: BLOCKS },
    lacks: |item| item.is_object() && item.get("content").is_none_or(Json::is_null),
    expected: Some("content that is a string or blocks, calls among them, as Anthropic spells a message"),
    outside: Some(Outside {
        dialect: &SYSTEM,
        is_one: |item| !item.is_object(),
        of_message: |item| item.get("content").filter(|_| item.is_object()),
    }),
};

/// The `system` field: content without a message around it.
static SYSTEM: Dialect =
    Dialect { read: read_system, content_key: None, spelling: Some(as_they_are), outside: None, ..MESSAGE };

/// Reads what Messages counts: input and cache are apart, thinking is part of the output.
fn usage(counts: Json<'_>) -> Option<Usage> {
    let number = |key| counts.get(key).and_then(Json::as_u64).map(Tokens);
    let (input, output) = (number("input_tokens"), number("output_tokens"));
    input.or(output).map(|_| Usage {
        input: input.unwrap_or_default(),
        cache_read: number("cache_read_input_tokens").unwrap_or_default(),
        cache_write: number("cache_creation_input_tokens").unwrap_or_default(),
        output: output.unwrap_or_default(),
        reasoning: Tokens::ZERO,
    })
}

fn claims(head: &Head<'_>) -> Option<Claim> {
    // Blocks that only Anthropic has.
    let kinds = ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction"];
    let has_blocks =
        || head.has_type(&kinds) || head.mentions("input_schema") || head.mentions("cache_control");
    let is_one = match head.is_array() {
        true => head.has("role") && has_blocks(),
        false => {
            head.has_any(&["messages", "model", "system", "tools"])
                && (head.has_any(&["system", "anthropic_version"]) || has_blocks())
        }
    };
    is_one.then_some(Claim::Alike)
}

pub(super) fn tool(tool: &super::Tool<'_>) -> String {
    let (name, described, schema) = (tool.name, tool.described(), tool.schema);
    format!("{{\"name\":{name}{described},\"input_schema\":{schema}}}")
}

/// Returns standing instructions as the one value that they are in a request.
fn instructions(values: &[String]) -> Option<String> {
    if let [] | [_] = values {
        return values.first().cloned();
    }
    let blocks =
        values.iter().flat_map(|value| match (super::text_of(value), Json::check(value.as_bytes())) {
            (Some(text), _) => vec![format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text))],
            (None, Ok(content)) => content.elements().iter().map(|block| block.raw().to_owned()).collect(),
            (None, Err(_)) => Vec::new(),
        });
    Some(super::listed(&blocks.collect::<Vec<_>>()))
}

/// Returns whether a message is an answer: with an id, its model and what it cost, which a request may not have.
fn is_answer(item: Json<'_>) -> bool {
    ["usage", "stop_reason", "model"].iter().any(|key| item.get(key).is_some())
}

/// Returns the content of an answer, or of the lines that it is spread over, as the message of a request.
fn request_message(items: &[Json<'_>]) -> Option<String> {
    let role = items.first()?.get("role")?.raw();
    if let [item] = items {
        return Some(format!("{{\"role\":{role},\"content\":{}}}", item.get("content")?.raw()));
    }
    let mut blocks: Vec<String> = Vec::new();
    for item in items {
        let content = item.get("content")?;
        match content.string() {
            Some(text) => blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text))),
            None => blocks.extend(content.elements().iter().map(|block| block.raw().to_owned())),
        }
    }
    Some(format!("{{\"role\":{role},\"content\":[{}]}}", blocks.join(",")))
}

fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    if !value.is_object() {
        return Err(Fault::new("", value.raw(), "a message: an object with role and content"));
    }
    let message = value.object();
    let role = match message.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some(other) => return Err(Fault::new("role", other, "user, assistant or system")),
        None => return Err(Fault::new("", value.raw(), "a message: an object with role and content")),
    };
    let mut said = Said::new(role);
    if let Some(content) = message.get("content") {
        read_content(content, &mut said)?;
    }
    Ok(said)
}

/// Reads the `system` field.
fn read_system(value: Json<'_>) -> Result<Said<'_>, Fault> {
    let mut said = Said::new(Role::System);
    read_content(value, &mut said)?;
    Ok(said)
}

/// Reads content: a string or blocks.
fn read_content<'a>(content: Json<'a>, said: &mut Said<'a>) -> Result<(), Fault> {
    if let Some(text) = content.string() {
        said.push(Part::Text(text), Home::Whole, Leaf::Text(content));
        return Ok(());
    }
    if content.is_null() {
        return Ok(());
    }
    if !content.is_array() {
        return Err(Fault::new("content", content.raw(), "a string or an array of blocks"));
    }
    for (index, block) in content.elements().into_iter().enumerate() {
        let home = Home::Element { array: content, index, element: block, emptied: Emptied::Stays };
        let located = read_block(block, home, &mut said.payloads)
            .map_err(|fault| Fault { path: format!("content[{index}]{}", fault.path), ..fault })?;
        said.parts.push(located);
    }
    Ok(())
}

fn read_block<'a>(
    block: Json<'a>,
    home: Home<'a>,
    payloads: &mut Vec<(ContentHash, Payload<'a>)>,
) -> Result<Located<'a>, Fault> {
    let fields = block.object();
    let kind = fields.text("type").unwrap_or_default();
    let fixed = |part| Located { part, home, leaf: Leaf::Fixed };
    let located = match &*kind {
        "text" => match fields.get("text") {
            Some(text) if text.is_string() => {
                Located { part: Part::Text(text.string().unwrap_or_default()), home, leaf: Leaf::Text(text) }
            }
            _ => return Err(Fault::new("", block.raw(), "a text block with its text")),
        },
        "thinking" | "redacted_thinking" => fixed(Part::Reasoning(Reasoning {
            text: fields.text("thinking").unwrap_or_default().into_owned(),
            opaque_bytes: ["signature", "data"]
                .iter()
                .filter_map(|key| fields.text(key))
                .map(|payload| payload.len() as u64)
                .sum(),
            hash: ContentHash::of(block.raw().as_bytes()),
        })),
        "tool_use" => {
            let (Some(id), Some(name)) = (fields.text("id"), fields.text("name")) else {
                return Err(Fault::new("", block.raw(), "a tool_use block with id and name"));
            };
            let input = fields.get("input");
            let call = ToolCall {
                id: (&*id).into(),
                name: name.into_owned(),
                arguments: RawJson(input.map_or("{}".into(), Json::compact).into_owned()),
                kind: CallKind::Function,
            };
            Located { part: Part::ToolCall(call), home, leaf: input.map_or(Leaf::Fixed, Leaf::Arguments) }
        }
        "tool_result" => read_result(block, &fields, home, payloads)?,
        "image" | "document" => {
            fixed(media_or_opaque(payload(block, &fields, &kind), &kind, block, payloads))
        }
        "server_tool_use" | "mcp_tool_use" => fixed(opaque(&kind, block, fields.get("id"))),
        "" => return Err(Fault::new("", block.raw(), "a block: an object with a type")),
        _ => fixed(opaque(&kind, block, fields.get("tool_use_id"))),
    };
    Ok(located)
}

fn read_result<'a>(
    block: Json<'a>,
    fields: &Object<'a>,
    home: Home<'a>,
    payloads: &mut Vec<(ContentHash, Payload<'a>)>,
) -> Result<Located<'a>, Fault> {
    let Some(call_id) = fields.text("tool_use_id") else {
        return Err(Fault::new("", block.raw(), "a tool_result block with tool_use_id"));
    };
    let outcome = match fields.get("is_error") {
        Some(flag) if flag.is_true() => Outcome::Failed,
        Some(flag) if flag.raw() == "false" => Outcome::Succeeded,
        _ => Outcome::Unstated,
    };
    let mut inner = Vec::new();
    let content = fields.get("content");
    match content {
        Some(text) if text.is_string() => inner.push(Located {
            part: Part::Text(text.string().unwrap_or_default()),
            home: Home::Whole,
            leaf: Leaf::Text(text),
        }),
        Some(blocks) if blocks.is_array() => {
            for (index, element) in blocks.elements().into_iter().enumerate() {
                let home = Home::Element { array: blocks, index, element, emptied: Emptied::Stays };
                // A result inside a result has no meaning; it is carried, not read.
                let nested = matches!(element.object().text("type").as_deref(), Some("tool_result") | None);
                inner.push(match nested {
                    true => Located { part: opaque("", element, None), home, leaf: Leaf::Fixed },
                    false => read_block(element, home, payloads).map_err(|fault| Fault {
                        path: format!(".content[{index}]{}", fault.path),
                        ..fault
                    })?,
                });
            }
        }
        _ => {}
    }
    let parts = inner.iter().map(|located| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: (&*call_id).into(), content: parts, outcome });
    Ok(Located { part, home, leaf: content.map_or(Leaf::Fixed, |content| Leaf::Result { content, inner }) })
}

fn payload<'a>(block: Json<'a>, fields: &Object<'a>, kind: &str) -> Option<Payload<'a>> {
    let source = fields.get("source")?.object();
    let kind = if kind == "image" { MediaKind::Image } else { MediaKind::Document };
    let media_type = source.text("media_type").unwrap_or_default();
    let new = |data| Payload::new(Format::Anthropic, block, kind, &media_type, data);
    let payload = match &*source.text("type")? {
        "base64" => new(Data::Base64(source.text("data")?)),
        "url" => Payload::address(Format::Anthropic, block, kind, &media_type, source.text("url")?),
        "file" => new(Data::File(source.text("file_id")?)),
        _ => return None,
    };
    Some(payload.called(fields.text("title")))
}

fn result_content(content: &[Part], sources: &Sources<'_>) -> String {
    match content {
        [] => "\"\"".to_owned(),
        [Part::Text(text)] => quoted(text),
        parts => {
            format!(
                "[{}]",
                parts.iter().filter_map(|part| block(part, sources)).collect::<Vec<_>>().join(",")
            )
        }
    }
}

fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let role = match message.role {
        Role::Assistant => "assistant",
        _ => "user",
    };
    let content = match &message.parts[..] {
        [Part::Text(text)] if text.trim().is_empty() => return Vec::new(),
        [Part::Text(text)] => quoted(text),
        parts => {
            // results come first.
            let is_result = |part: &&Part| matches!(part, Part::ToolResult(_));
            let ordered = parts.iter().filter(is_result).chain(parts.iter().filter(|part| !is_result(part)));
            let blocks: Vec<_> = ordered.filter_map(|part| block(part, sources)).collect();
            if blocks.is_empty() {
                return Vec::new();
            }
            format!("[{}]", blocks.join(","))
        }
    };
    vec![format!("{{\"role\":\"{role}\",\"content\":{content}}}")]
}

/// Spells one part, or nothing for what this dialect cannot say.
fn block(part: &Part, sources: &Sources<'_>) -> Option<String> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))),
        Part::ToolCall(call) => Some(format!(
            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{}}}",
            quoted(call.id.as_str()),
            quoted(&call.name),
            arguments_object(&call.arguments.0)
        )),
        Part::ToolResult(result) => {
            let is_error = if result.outcome == Outcome::Failed { ",\"is_error\":true" } else { "" };
            Some(format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}{is_error}}}",
                quoted(result.call_id.as_str()),
                result_content(&result.content, sources)
            ))
        }
        Part::Media(media) => sources.media.get(&media.hash).and_then(media_block),
        part => sources.block(part),
    }
}

/// Spells a picture or file; `None` for a sound, and for what Anthropic does not take or only another provider knows.
fn media_block(payload: &Payload<'_>) -> Option<String> {
    if payload.format == Format::Anthropic {
        return Some(payload.raw.raw().to_owned());
    }
    let kind = match payload.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        _ => return None,
    };
    let media_type = match (&*payload.media_type, payload.kind) {
        ("image/jpg", _) => "image/jpeg",
        ("", MediaKind::Document) => PDF,
        (known, _) => known,
    };
    let source = match &payload.data {
        Data::Base64(data) if PICTURES.contains(&media_type) || media_type == PDF => {
            format!("{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}", quoted(media_type), quoted(data))
        }
        Data::Base64(_) if media_type == PLAIN => {
            format!("{{\"type\":\"text\",\"media_type\":\"{PLAIN}\",\"data\":{}}}", quoted(&payload.text()?))
        }
        Data::Url(url) if is_fetched(url, media_type) => {
            format!("{{\"type\":\"url\",\"url\":{}}}", quoted(url))
        }
        _ => return None,
    };
    let title = payload.name.as_ref().filter(|_| kind == "document");
    let title = title.map(|title| format!(",\"title\":{}", quoted(title))).unwrap_or_default();
    Some(format!("{{\"type\":\"{kind}\",\"source\":{source}{title}}}"))
}

/// Returns whether Anthropic fetches what lies at an address.
fn is_fetched(url: &str, media_type: &str) -> bool {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web && (media_type.is_empty() || media_type == PDF || PICTURES.contains(&media_type))
}

/// What pictures and files may be.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";
const PLAIN: &str = "text/plain";
