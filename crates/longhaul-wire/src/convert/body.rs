//! Writing a whole file of a format from messages that were regrouped for it.

use longhaul_transcript::{ContentHash, Message, Role, SessionId};

use super::{Losses, media_of};
use crate::{
    Document, Format,
    dialect::Sources,
    document::dialect_of,
    json::{Json, quoted},
    whole::VERSION,
};

/// Session files carry times; a converted one has none of its own.
const EPOCH: &str = "1970-01-01T00:00:00.000Z";

/// What is said where a system prompt cannot be written.
pub(crate) const NO_SYSTEM_PROMPT: &str =
    "the system prompt is left out: session files of Claude Code hold none";

pub(super) fn write(
    doc: &Document,
    to: Format,
    messages: &[Message],
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> String {
    let (system, rest) = match to {
        Format::Anthropic | Format::Responses | Format::Gemini | Format::Codex | Format::ClaudeCode => {
            hoist(messages)
        }
        _ => (Vec::new(), messages),
    };
    let dialect = dialect_of(to);
    let spelled = |messages: &[Message]| -> Vec<String> {
        messages.iter().flat_map(|message| dialect.fresh(message, sources)).collect()
    };
    let tools = tools(doc, to, losses);
    let model = || doc.model().map(|model| format!("\"model\":{},", quoted(model))).unwrap_or_default();
    match to {
        Format::ClaudeCode => {
            if !system.is_empty() {
                losses.note(NO_SYSTEM_PROMPT);
            }
            claude_code(&session_of(doc), &spelled(rest))
        }
        Format::Codex => codex(&session_of(doc), &system.join("\n\n"), &spelled(rest)),
        Format::Longhaul => canonical(doc, &spelled(rest), sources),
        Format::Anthropic => {
            later_system(rest, losses);
            let system = match &system[..] {
                [] => String::new(),
                [one] => format!("\"system\":{},", quoted(one)),
                many => {
                    let block = |text: &String| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text));
                    format!("\"system\":[{}],", many.iter().map(block).collect::<Vec<_>>().join(","))
                }
            };
            object_or_list(&format!("{}{tools}{system}", model()), "messages", &spelled(rest))
        }
        Format::Responses => {
            let system = match system.is_empty() {
                true => String::new(),
                false => format!("\"instructions\":{},", quoted(&system.join("\n\n"))),
            };
            object_or_list(&format!("{}{system}{tools}", model()), "input", &spelled(rest))
        }
        Format::Gemini => {
            later_system(rest, losses);
            let system = match system.is_empty() {
                true => String::new(),
                false => {
                    let part = |text: &String| format!("{{\"text\":{}}}", quoted(text));
                    let parts = system.iter().map(part).collect::<Vec<_>>().join(",");
                    format!("\"systemInstruction\":{{\"parts\":[{parts}]}},")
                }
            };
            let mut contents = spelled(rest);
            // G-03, G-04: a history begins with the user.
            if rest.first().is_some_and(|first| first.role == Role::Assistant) {
                losses.note("a user turn stands before the first answer: a history must begin with one");
                contents.insert(
                    0,
                    "{\"role\":\"user\",\"parts\":[{\"text\":\"(start of the conversation)\"}]}".to_owned(),
                );
            }
            object_or_list(&format!("{system}{tools}"), "contents", &contents)
        }
        _ => object_or_list(&format!("{}{tools}", model()), list_key(to), &spelled(rest)),
    }
}

fn list_key(to: Format) -> &'static str {
    if to == Format::Chat { "conversations" } else { "messages" }
}

/// Returns the texts of the system messages that lead, and what follows them.
fn hoist(messages: &[Message]) -> (Vec<String>, &[Message]) {
    let lead = messages.iter().take_while(|message| message.is_system()).count();
    let texts = messages[..lead].iter().map(|message| message.texts().collect::<Vec<_>>().join("\n\n"));
    (texts.filter(|text| !text.is_empty()).collect(), &messages[lead..])
}

fn later_system(rest: &[Message], losses: &mut Losses) {
    for _ in rest.iter().filter(|message| message.is_system()) {
        losses.count("system message in mid-conversation written as the user's");
    }
}

fn object_or_list(fields: &str, key: &str, values: &[String]) -> String {
    let list = format!("[{}]", values.join(","));
    match fields.is_empty() {
        true => list,
        false => format!("{{{fields}\"{key}\":{list}}}"),
    }
}

fn session_of(doc: &Document) -> SessionId {
    doc.session_id().unwrap_or_else(|| doc.transcript.derived_session())
}

/// Spells messages as a session file of Claude Code.
pub(crate) fn claude_code(session: &SessionId, values: &[String]) -> String {
    let mut parent = "null".to_owned();
    let mut text = String::new();
    for value in values {
        let role = Json::check(value.as_bytes()).ok().and_then(|json| json.get("role")?.string());
        let kind = if role.as_deref() == Some("assistant") { "assistant" } else { "user" };
        let hash = ContentHash::of_fields([parent.as_bytes(), value.as_bytes()]);
        let uuid = crate::session::claude_code_write::uuid_from(&hash);
        text.push_str(&format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"sessionId\":{},\"type\":\"{kind}\",\
             \"message\":{value},\"uuid\":\"{uuid}\",\"timestamp\":\"{EPOCH}\"}}\n",
            quoted(session.as_str())
        ));
        parent = quoted(&uuid);
    }
    text
}

/// Spells items as a rollout of Codex.
pub(crate) fn codex(session: &SessionId, instructions: &str, values: &[String]) -> String {
    let base = match instructions.is_empty() {
        true => String::new(),
        false => format!(",\"base_instructions\":{{\"text\":{}}}", quoted(instructions)),
    };
    let mut text = format!(
        "{{\"timestamp\":\"{EPOCH}\",\"type\":\"session_meta\",\"payload\":{{\"id\":{},\"timestamp\":\"{EPOCH}\",\
         \"originator\":\"longhaul\"{base}}}}}\n",
        quoted(session.as_str())
    );
    for value in values {
        let line = format!("{{\"timestamp\":\"{EPOCH}\",\"type\":\"response_item\",\"payload\":{value}}}\n");
        text.push_str(&line);
    }
    text
}

fn canonical(doc: &Document, values: &[String], sources: &Sources<'_>) -> String {
    let mut media: Vec<(ContentHash, String)> = Vec::new();
    for found in doc.transcript.entries().iter().flat_map(|entry| media_of(&entry.message)) {
        let url = sources.media.get(&found.hash).and_then(|payload| payload.url());
        media.extend(url.map(|url| (found.hash, url)));
    }
    media.sort();
    media.dedup();
    let media: Vec<_> = media.into_iter().map(|(hash, url)| format!("\"{hash}\":{}", quoted(&url))).collect();
    let session =
        doc.session_id().map(|id| format!("\"session\":{},", quoted(id.as_str()))).unwrap_or_default();
    let model = doc.model().map(|model| format!("\"model\":{},", quoted(model))).unwrap_or_default();
    let tools = match doc.tools().is_empty() {
        true => String::new(),
        false => format!("\"tools\":[{}],", doc.tools().join(",")),
    };
    format!(
        "{{\"format\":\"longhaul\",\"version\":{VERSION},{session}{model}{tools}\"messages\":[{}],\"media\":{{{}}}}}",
        values.join(","),
        media.join(",")
    )
}

/// Spells the tool definitions the target's way, with a comma behind.
fn tools(doc: &Document, to: Format, losses: &mut Losses) -> String {
    if matches!(to, Format::Longhaul | Format::ClaudeCode | Format::Codex | Format::Chat) {
        if !doc.tools().is_empty() && to != Format::Longhaul {
            losses.note("the tool definitions are left out: the format has no place for them");
        }
        return String::new();
    }
    let mut spelled = Vec::new();
    for tool in doc.tools() {
        let Ok(json) = Json::check(tool.as_bytes()) else { continue };
        let fields = json.object();
        let inner = fields.some("functionDeclarations").or_else(|| fields.some("function_declarations"));
        let declared = match inner {
            Some(list) => list.elements(),
            None => vec![fields.some("function").unwrap_or(json)],
        };
        for tool in declared.into_iter().map(Json::object) {
            let schema = ["parameters", "input_schema", "parametersJsonSchema"]
                .into_iter()
                .find_map(|key| tool.some(key));
            let Some(name) = tool.some("name") else {
                losses.count("tool definition left out");
                continue;
            };
            let description = tool.some("description").map(|text| format!(",\"description\":{}", text.raw()));
            let description = description.unwrap_or_default();
            let schema = schema.map_or("{\"type\":\"object\"}", Json::raw);
            let name = name.raw();
            spelled.push(match to {
                Format::OpenAi => format!(
                    "{{\"type\":\"function\",\"function\":{{\"name\":{name}{description},\"parameters\":{schema}}}}}"
                ),
                Format::Responses => {
                    format!("{{\"type\":\"function\",\"name\":{name}{description},\"parameters\":{schema}}}")
                }
                Format::Gemini => format!("{{\"name\":{name}{description},\"parameters\":{schema}}}"),
                _ => format!("{{\"name\":{name}{description},\"input_schema\":{schema}}}"),
            });
        }
    }
    match (spelled.is_empty(), to) {
        (true, _) => String::new(),
        (false, Format::Gemini) => {
            format!("\"tools\":[{{\"functionDeclarations\":[{}]}}],", spelled.join(","))
        }
        (false, _) => format!("\"tools\":[{}],", spelled.join(",")),
    }
}
