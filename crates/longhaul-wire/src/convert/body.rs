//! Writing a whole file of a format from messages that were regrouped for it.

use longhaul_transcript::{ContentHash, Message, Role};

use super::{Losses, media_of};
use crate::{
    Document,
    dialect::Sources,
    formats::{Draft, LaterSystem, Lead, Tool, Tools, Writing},
    json::{Json, quoted},
};

pub(super) fn write(
    doc: &Document,
    writing: &Writing,
    messages: &[Message],
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> String {
    let (system, rest) = match writing.lead {
        Lead::Outside => hoist(messages),
        Lead::Inside => (Vec::new(), messages),
    };
    if writing.later_system != LaterSystem::Anywhere {
        for _ in rest.iter().filter(|message| message.is_system()) {
            losses.count("system message in mid-conversation written as the user's");
        }
    }
    let named = doc.session_id();
    let draft = Draft {
        is_named: named.is_some(),
        session: named.unwrap_or_else(|| doc.transcript.derived_session()),
        model: doc.model().map(str::to_owned),
        tools: tools(doc, writing, losses),
        outside: system.iter().map(|text| quoted(text)).collect(),
        messages: rest.iter().flat_map(|message| (writing.dialect.fresh)(message, sources)).collect(),
        begins_with_answer: rest.first().is_some_and(|first| first.role == Role::Assistant),
        media: if writing.carries_all { media(doc, sources) } else { Vec::new() },
    };
    (writing.file)(draft, losses)
}

/// Returns the texts of the system messages that lead, and what follows them.
fn hoist(messages: &[Message]) -> (Vec<String>, &[Message]) {
    let lead = messages.iter().take_while(|message| message.is_system()).count();
    let texts = messages[..lead].iter().map(|message| message.texts().collect::<Vec<_>>().join("\n\n"));
    (texts.filter(|text| !text.is_empty()).collect(), &messages[lead..])
}

/// Returns where the bytes of media are.
fn media(doc: &Document, sources: &Sources<'_>) -> Vec<(ContentHash, String)> {
    let mut media: Vec<(ContentHash, String)> = Vec::new();
    for found in doc.transcript.entries().iter().flat_map(|entry| media_of(&entry.message)) {
        let url = sources.media.get(&found.hash).and_then(|payload| payload.url());
        media.extend(url.map(|url| (found.hash, url)));
    }
    media.sort();
    media.dedup();
    media
}

/// Spells the tool definitions the target's way.
fn tools(doc: &Document, writing: &Writing, losses: &mut Losses) -> Option<String> {
    let defined = Some(doc.tools()).filter(|tools| !tools.is_empty())?;
    let list = match writing.tools {
        Tools::Inside(list) => list,
        Tools::AsTheyCame => return Some(format!("[{}]", defined.join(","))),
        Tools::Nowhere => {
            losses.note("the tool definitions are left out: the format has no place for them");
            return None;
        }
    };
    let mut spelled = Vec::new();
    for tool in defined {
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
            spelled.push((writing.tool)(&Tool {
                name: name.raw(),
                description: tool.some("description").map(Json::raw),
                schema: schema.map_or("{\"type\":\"object\"}", Json::raw),
            }));
        }
    }
    (!spelled.is_empty()).then(|| list(&spelled))
}
