//! Anthropic Messages: blocks inside messages.

use std::borrow::Cow;

use longhaul_transcript::{
    CallKind, ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, ToolCall, ToolResult,
};

use super::{Dialect, Said, Sources, arguments_object, opaque};
use crate::{
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload},
};

pub(super) fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
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
pub(super) fn read_system(value: Json<'_>) -> Result<Said<'_>, Fault> {
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
        let home = Home::Element { array: content, index, emptied: Emptied::Stays };
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
                arguments: RawJson(input.map_or("{}", Json::raw).to_owned()),
                kind: CallKind::Function,
            };
            Located { part: Part::ToolCall(call), home, leaf: input.map_or(Leaf::Fixed, Leaf::Arguments) }
        }
        "tool_result" => read_result(block, &fields, home, payloads)?,
        "image" | "document" => match payload(block, &fields, &kind) {
            Some(payload) => {
                let media = payload.media();
                payloads.push((media.hash, payload));
                fixed(Part::Media(media))
            }
            None => fixed(opaque(&kind, block, None)),
        },
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
                let home = Home::Element { array: blocks, index, emptied: Emptied::Stays };
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
    match &*source.text("type")? {
        "base64" => Some(Payload::inline(Dialect::Anthropic, block, kind, &media_type, source.text("data")?)),
        "url" => Some(Payload::address(Dialect::Anthropic, block, kind, &media_type, source.text("url")?)),
        "file" => Some(Payload {
            raw: block,
            dialect: Dialect::Anthropic,
            kind,
            media_type: media_type.into_owned(),
            data: Data::File(source.text("file_id")?),
        }),
        _ => None,
    }
}

pub(super) fn result_content(content: &[Part], sources: &Sources<'_>) -> String {
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

pub(super) fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
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
        Part::Media(media) => sources.media.get(&media.hash).map(media_block),
        part => sources.block(part),
    }
}

fn media_block(payload: &Payload<'_>) -> String {
    if payload.dialect == Dialect::Anthropic {
        return payload.raw.raw().to_owned();
    }
    let kind = if payload.kind == MediaKind::Image { "image" } else { "document" };
    let (source, key, value): (_, _, &Cow<'_, str>) = match &payload.data {
        Data::Base64(data) => {
            let media_type = quoted(&payload.media_type);
            return format!(
                "{{\"type\":\"{kind}\",\"source\":{{\"type\":\"base64\",\"media_type\":{media_type},\"data\":{}}}}}",
                quoted(data)
            );
        }
        Data::Url(url) => ("url", "url", url),
        Data::File(id) => ("file", "file_id", id),
    };
    format!("{{\"type\":\"{kind}\",\"source\":{{\"type\":\"{source}\",\"{key}\":{}}}}}", quoted(value))
}
