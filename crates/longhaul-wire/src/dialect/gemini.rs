//! Google Gemini: contents made of parts, of which each holds one kind of data.

use std::collections::HashMap;

use longhaul_transcript::{
    ContentHash, MediaKind, Message, Outcome, Part, RawJson, Reasoning, Role, ToolCall, ToolResult,
};

use super::{Dialect, Said, Sources, arguments_object, opaque};
use crate::{
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    json::{Json, Object, quoted},
    media::{Data, Payload},
};

pub(super) fn read(value: Json<'_>) -> Result<Said<'_>, Fault> {
    let role = match value.get("role").and_then(Json::string).as_deref() {
        Some("model") => Role::Assistant,
        Some("user") | None => Role::User,
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(other) => return Err(Fault::new("role", other, "user, model or function")),
    };
    read_parts(value, role)
}

/// Reads a content whose role is known; the system instruction names none.
pub(super) fn read_parts(value: Json<'_>, role: Role) -> Result<Said<'_>, Fault> {
    let mut said = Said::new(role);
    if let Some(text) = value.string() {
        said.push(Part::Text(text), Home::Whole, Leaf::Text(value));
        return Ok(said);
    }
    let Some(parts) = value.get("parts") else {
        return Err(Fault::new("", value.raw(), "a content: an object with parts"));
    };
    // Google's own clients take one part for a list of one.
    if parts.is_object() {
        let located = read_part(parts, Home::Whole, &mut said, &mut HashMap::new());
        said.parts.push(located);
        return Ok(said);
    }
    if !parts.is_array() {
        return Err(Fault::new("parts", parts.raw(), "an array of parts"));
    }
    let mut seen = HashMap::new();
    for (index, part) in parts.elements().into_iter().enumerate() {
        if !part.is_object() {
            return Err(Fault::new(format!("parts[{index}]"), part.raw(), "a part: an object"));
        }
        let home = Home::Element { array: parts, index, emptied: Emptied::Stays };
        let located = read_part(part, home, &mut said, &mut seen);
        said.parts.push(located);
    }
    Ok(said)
}

fn read_part<'a>(
    part: Json<'a>,
    home: Home<'a>,
    said: &mut Said<'a>,
    seen: &mut HashMap<String, usize>,
) -> Located<'a> {
    let fields = part.object();
    let signature = either(&fields, "thoughtSignature", "thought_signature").and_then(Json::text);
    if let Some(text) = fields.get("text").filter(|text| text.is_string()) {
        let words = text.string().unwrap_or_default();
        if fields.is_true("thought") || words.is_empty() && signature.is_some() {
            let part = Part::Reasoning(Reasoning {
                text: words,
                opaque_bytes: signature.map_or(0, |signature| signature.len() as u64),
                hash: ContentHash::of(part.raw().as_bytes()),
            });
            return Located { part, home, leaf: Leaf::Fixed };
        }
        return Located { part: Part::Text(words), home, leaf: Leaf::Text(text) };
    }
    if let Some(call) = either(&fields, "functionCall", "function_call").map(Json::object) {
        let name = call.text("name").unwrap_or_default().into_owned();
        let arguments = call.get("args");
        let call = ToolCall {
            id: id_of(&call, &name, seen).into(),
            name,
            arguments: RawJson(arguments.map_or("{}", Json::raw).to_owned()),
            kind: Default::default(),
        };
        return Located {
            part: Part::ToolCall(call),
            home,
            leaf: arguments.map_or(Leaf::Fixed, Leaf::Arguments),
        };
    }
    if let Some(response) = either(&fields, "functionResponse", "function_response").map(Json::object) {
        return read_response(&response, home, seen);
    }
    match payload(part, &fields) {
        Some(payload) => {
            let media = payload.media();
            said.payloads.push((media.hash, payload));
            Located { part: Part::Media(media), home, leaf: Leaf::Fixed }
        }
        None => {
            let first = fields.fields().first().and_then(|(key, _)| key.string()).unwrap_or_default();
            let pair = fields.fields().iter().find_map(|(_, value)| value.get("id"));
            Located { part: opaque(&first, part, pair), home, leaf: Leaf::Fixed }
        }
    }
}

fn read_response<'a>(
    response: &Object<'a>,
    home: Home<'a>,
    seen: &mut HashMap<String, usize>,
) -> Located<'a> {
    let name = response.text("name").unwrap_or_default().into_owned();
    let call_id = id_of(response, &name, seen);
    let body = response.get("response");
    let said = body.map(Json::object);
    let words = said.as_ref().and_then(|said| said.some("output").or_else(|| said.some("result")));
    let failure = said.as_ref().and_then(|said| said.some("error"));
    let outcome = match (words, failure) {
        (_, Some(_)) => Outcome::Failed,
        _ => Outcome::Unstated,
    };
    let inner = match (words.or(failure).filter(|words| words.is_string()), body) {
        (Some(words), _) => {
            Some((words, Located { part: text(words), home: Home::Whole, leaf: Leaf::Text(words) }))
        }
        (None, Some(body)) => {
            let part = Part::Text(body.raw().to_owned());
            Some((body, Located { part, home: Home::Whole, leaf: Leaf::Output(body) }))
        }
        (None, None) => None,
    };
    let content = inner.iter().map(|(_, located)| located.part.clone()).collect();
    let part = Part::ToolResult(ToolResult { call_id: call_id.into(), content, outcome });
    let leaf = inner.map_or(Leaf::Fixed, |(content, located)| Leaf::Result { content, inner: vec![located] });
    Located { part, home, leaf }
}

fn text(json: Json<'_>) -> Part {
    Part::Text(json.string().unwrap_or_default())
}

fn either<'a>(fields: &Object<'a>, camel: &str, snake: &str) -> Option<Json<'a>> {
    fields.some(camel).or_else(|| fields.some(snake))
}

/// Returns the id of a call or response. Where the wire has none, the name and its count within the content stand in:
/// responses come in the order of their calls.
fn id_of(fields: &Object<'_>, name: &str, seen: &mut HashMap<String, usize>) -> String {
    if let Some(id) = fields.text("id") {
        return id.into_owned();
    }
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    match count {
        1 => name.to_owned(),
        nth => format!("{name}-{nth}"),
    }
}

fn payload<'a>(part: Json<'a>, fields: &Object<'a>) -> Option<Payload<'a>> {
    let kind_of = |media_type: &str| match media_type.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        _ => MediaKind::Document,
    };
    if let Some(inline) = either(fields, "inlineData", "inline_data").map(Json::object) {
        let media_type = either(&inline, "mimeType", "mime_type").and_then(Json::text).unwrap_or_default();
        let data = inline.text("data")?;
        return Some(Payload::inline(Dialect::Gemini, part, kind_of(&media_type), &media_type, data));
    }
    let file = either(fields, "fileData", "file_data")?.object();
    let media_type = either(&file, "mimeType", "mime_type").and_then(Json::text).unwrap_or_default();
    let uri = either(&file, "fileUri", "file_uri")?.text()?;
    Some(Payload::address(Dialect::Gemini, part, kind_of(&media_type), &media_type, uri))
}

pub(super) fn fresh(message: &Message, sources: &Sources<'_>) -> Vec<String> {
    let role = match message.role {
        Role::Assistant => "model",
        _ => "user",
    };
    let parts: Vec<String> = message.parts.iter().flat_map(|part| spell(part, sources)).collect();
    match parts.is_empty() {
        true => Vec::new(),
        false => vec![format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))],
    }
}

/// Spells a part; a result with an image becomes a response and the image behind it.
fn spell(part: &Part, sources: &Sources<'_>) -> Vec<String> {
    match part {
        Part::Text(text) if text.is_empty() => Vec::new(),
        Part::Text(text) => vec![format!("{{\"text\":{}}}", quoted(text))],
        Part::ToolCall(call) => vec![format!(
            "{{\"functionCall\":{{\"id\":{},\"name\":{},\"args\":{}}}}}",
            quoted(call.id.as_str()),
            quoted(&call.name),
            arguments_object(&call.arguments.0)
        )],
        Part::ToolResult(result) => {
            let id = result.call_id.as_str();
            let key = if result.outcome == Outcome::Failed { "error" } else { "output" };
            let response = format!(
                "{{\"functionResponse\":{{\"id\":{},\"name\":{},\"response\":{{\"{key}\":{}}}}}}}",
                quoted(id),
                quoted(sources.name_of(id)),
                quoted(&result.joined_text())
            );
            let media = result.content.iter().filter(|part| matches!(part, Part::Media(_)));
            std::iter::once(response).chain(media.flat_map(|part| spell(part, sources))).collect()
        }
        Part::Media(media) => sources.media.get(&media.hash).and_then(media_part).into_iter().collect(),
        part => sources.block(part).into_iter().collect(),
    }
}

fn media_part(payload: &Payload<'_>) -> Option<String> {
    if payload.dialect == Dialect::Gemini {
        return Some(payload.raw.raw().to_owned());
    }
    let media_type = match &*payload.media_type {
        "" if payload.kind == MediaKind::Document => "\"application/pdf\"".to_owned(),
        "" => "\"image/png\"".to_owned(),
        known => quoted(known),
    };
    match &payload.data {
        Data::Base64(data) => {
            Some(format!("{{\"inlineData\":{{\"mimeType\":{media_type},\"data\":{}}}}}", quoted(data)))
        }
        Data::Url(url) => {
            Some(format!("{{\"fileData\":{{\"mimeType\":{media_type},\"fileUri\":{}}}}}", quoted(url)))
        }
        Data::File(_) => None,
    }
}
