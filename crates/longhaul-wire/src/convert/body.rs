//! What stands around the messages of a file that is written in another format: tools, and where the bytes of media are.

use longhaul_transcript::ContentHash;

use super::{losses::Losses, regroup, strip::media_of};
use crate::{
    Document,
    dialect::Sources,
    formats::{Tool, Tools, Writing},
    json::{Json, quoted},
};

/// Returns where the bytes of media are.
pub(super) fn media(doc: &Document, sources: &Sources<'_>) -> Vec<(ContentHash, String)> {
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
pub(super) fn tools(doc: &Document, writing: &Writing, losses: &mut Losses) -> Option<String> {
    let defined = Some(doc.tools()).filter(|tools| !tools.is_empty())?;
    let list = match writing.tools {
        Tools::Inside(list) => list,
        Tools::AsTheyCame => return Some(format!("[{}]", defined.join(","))),
        Tools::Nowhere => {
            let names = |tool: &String| {
                let inner = |key| Json::check(tool.as_bytes()).ok()?.get(key);
                let name = inner("name").or_else(|| inner("function")?.get("name"));
                name.and_then(Json::string).unwrap_or_else(|| tool.clone())
            };
            let names: Vec<String> = defined.iter().map(names).collect();
            let what = "the tool definitions are left out: the format has no place for";
            losses.note(format!("{what} {}", names.join(", ")));
            return None;
        }
    };
    let mut spelled = Vec::new();
    for tool in defined {
        let Ok(json) = Json::check(tool.as_bytes()) else { continue };
        let fields = json.object();
        let inner = fields.some("functionDeclarations").or_else(|| fields.some("function_declarations"));
        let wrapped = fields.some("function").filter(|_| inner.is_none());
        let declared = match inner {
            Some(list) => list.elements(),
            None => vec![wrapped.unwrap_or(json)],
        };
        let has_outer = inner.is_some() || wrapped.is_some();
        let outer = Some(&fields).filter(|_| has_outer).into_iter();
        let declared: Vec<_> = declared.into_iter().map(Json::object).collect();
        for (key, _) in outer.chain(&declared).flat_map(|tool| tool.fields()) {
            let key = key.string().unwrap_or_default();
            if !READ.contains(&&*key) {
                losses.count(format!("field {key} of a tool definition left out"), None);
            }
        }
        for tool in declared {
            let schema = SCHEMAS.into_iter().find_map(|key| tool.some(key));
            let kind = tool.text("type").filter(|kind| !["function", "custom"].contains(&&**kind));
            // What the provider runs itself, no other has.
            let (Some(name), true) = (tool.text("name"), schema.is_some() || kind.is_none()) else {
                losses.count(
                    format!("definition of a tool of type {} left out", kind.unwrap_or_default()),
                    None,
                );
                continue;
            };
            spelled.push((writing.tool)(&Tool {
                name: &quoted(&regroup::fit_name(&name)),
                description: tool.some("description").map(Json::raw),
                schema: schema.map_or("{\"type\":\"object\"}", Json::raw),
            }));
        }
    }
    (!spelled.is_empty()).then(|| list(&spelled))
}

/// Fields that say what a tool takes, and all that are read.
const SCHEMAS: [&str; 3] = ["parameters", "input_schema", "parametersJsonSchema"];
const READ: [&str; 9] = [
    "type", "function", "functionDeclarations", "function_declarations", "name", "description", SCHEMAS[0],
    SCHEMAS[1], SCHEMAS[2],
];
