//! How each provider spells one message: reading it with the place of every part, and writing one from nothing.

mod anthropic;
mod canonical;
mod chat;
mod gemini;
mod openai;
mod responses;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use longhaul_transcript::{CallKind, ContentHash, Message, Opaque, Part, RawJson, Role, Speaker};

use crate::{
    edit::{Home, Leaf, Located},
    error::Fault,
    json::{Json, quoted},
    media::Payload,
};

/// How one message is spelled. Session files use the dialect of their provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Responses,
    /// Responses items as a Codex rollout has them.
    Codex,
    Anthropic,
    /// The `system` field: content without a message around it.
    AnthropicSystem,
    Gemini,
    /// The system instruction: a content without a role.
    GeminiSystem,
    Chat,
    Canonical,
    /// A bare string of instructions.
    Instructions,
    /// A bare string that the user says.
    UserText,
}

/// One message as read.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) role: Role,
    pub(crate) name: Option<Arc<str>>,
    /// Who really speaks, where the format says so beside the role.
    pub(crate) speaker: Option<Speaker>,
    pub(crate) parts: Vec<Located<'a>>,
    /// Images and files found, by the hash that their `Media` carries.
    pub(crate) payloads: Vec<(ContentHash, Payload<'a>)>,
}

/// What spelling a message needs to know beyond the message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources<'a> {
    /// Where the bytes of media are found, by hash.
    pub(crate) media: HashMap<ContentHash, Payload<'a>>,
    /// Blocks that are copied as they stand, by the hash of their JSON.
    blocks: HashMap<ContentHash, &'a str>,
    names: HashMap<String, String>,
    custom: HashSet<String>,
}

impl Dialect {
    /// Reads one message.
    pub(crate) fn read(self, value: Json<'_>) -> Result<Said<'_>, Fault> {
        match self {
            Dialect::OpenAi => openai::read(value),
            Dialect::Responses => responses::read(value, false),
            Dialect::Codex => responses::read(value, true),
            Dialect::Anthropic => anthropic::read(value),
            Dialect::AnthropicSystem => anthropic::read_system(value),
            Dialect::Gemini => gemini::read(value),
            Dialect::GeminiSystem => gemini::read_parts(value, Role::System),
            Dialect::Chat => chat::read(value),
            Dialect::Canonical => canonical::read(value),
            Dialect::Instructions => bare(value, Role::System),
            Dialect::UserText => bare(value, Role::User),
        }
    }

    /// Spells the content of a tool result.
    pub(crate) fn result_content(self, content: &[Part], sources: &Sources<'_>) -> String {
        match self {
            Dialect::Responses | Dialect::Codex => responses::result_content(content, sources),
            Dialect::Anthropic | Dialect::AnthropicSystem => anthropic::result_content(content, sources),
            Dialect::Canonical => canonical::result_content(content),
            _ => openai::result_content(content),
        }
    }

    /// Spells a text that stands where a picture stood, in a list of what a user or a tool says.
    pub(crate) fn text_element(self, text: &str) -> String {
        let text = quoted(text);
        match self {
            Dialect::Gemini | Dialect::GeminiSystem => format!("{{\"text\":{text}}}"),
            Dialect::Responses | Dialect::Codex => format!("{{\"type\":\"input_text\",\"text\":{text}}}"),
            _ => format!("{{\"type\":\"text\",\"text\":{text}}}"),
        }
    }

    /// Spells one message; most often that is one value, but some dialects make several items of it, or none.
    pub(crate) fn fresh(self, message: &Message, sources: &Sources<'_>) -> Vec<String> {
        match self {
            Dialect::OpenAi => openai::fresh(message, sources),
            Dialect::Responses | Dialect::Codex => responses::fresh(message, sources),
            Dialect::Anthropic | Dialect::AnthropicSystem => anthropic::fresh(message, sources),
            Dialect::Gemini | Dialect::GeminiSystem => gemini::fresh(message, sources),
            Dialect::Chat => chat::fresh(message),
            Dialect::Canonical => canonical::fresh(message),
            Dialect::Instructions | Dialect::UserText => {
                vec![quoted(&message.texts().collect::<Vec<_>>().join("\n"))]
            }
        }
    }

    /// Returns whether changes are patched into the raw JSON. Our own form holds nothing that we would not write.
    pub(crate) fn is_patched(self) -> bool {
        self != Dialect::Canonical
    }
}

impl<'a> Said<'a> {
    pub(crate) fn new(role: Role) -> Said<'a> {
        Said { role, name: None, speaker: None, parts: Vec::new(), payloads: Vec::new() }
    }

    pub(crate) fn push(&mut self, part: Part, home: Home<'a>, leaf: Leaf<'a>) {
        self.parts.push(Located { part, home, leaf });
    }
}

impl<'a> Sources<'a> {
    /// Returns sources with the media of messages that were read.
    pub(crate) fn of_media(media: impl IntoIterator<Item = (ContentHash, Payload<'a>)>) -> Sources<'a> {
        Sources { media: media.into_iter().collect(), ..Sources::default() }
    }

    /// Notes the blocks among `parts` that go where they are asked for as they stand: signed thinking, and what longhaul does not
    /// read.
    pub(crate) fn note_blocks(&mut self, parts: &[Located<'a>]) {
        for located in parts {
            let (Part::Reasoning(_) | Part::Opaque(_), Home::Element { array, index, .. }) =
                (&located.part, located.home)
            else {
                continue;
            };
            if let Some(element) = array.elements().get(index) {
                self.blocks.insert(ContentHash::of(element.raw().as_bytes()), element.raw());
            }
        }
    }

    /// Returns the JSON of a part that is copied as it stands, where it is known.
    fn block(&self, part: &Part) -> Option<String> {
        let hash = match part {
            Part::Reasoning(reasoning) => reasoning.hash,
            Part::Opaque(opaque) => ContentHash::of(opaque.raw.0.as_bytes()),
            _ => return None,
        };
        self.blocks.get(&hash).map(|block| (*block).to_owned())
    }

    /// Notes the names of the calls that `message` makes, for results spelled later.
    pub(crate) fn note_calls(&mut self, message: &Message) {
        for call in message.calls() {
            self.names.insert(call.id.as_str().to_owned(), call.name.clone());
            if call.kind == CallKind::Custom {
                self.custom.insert(call.id.as_str().to_owned());
            }
        }
    }

    /// Returns the name of the tool that call `id` was made to.
    fn name_of<'s>(&'s self, id: &'s str) -> &'s str {
        self.names.get(id).map_or(id, String::as_str)
    }

    fn is_custom(&self, id: &str) -> bool {
        self.custom.contains(id)
    }
}

fn bare(value: Json<'_>, role: Role) -> Result<Said<'_>, Fault> {
    let Some(text) = value.string() else {
        return Err(Fault::new("", value.raw(), "a string"));
    };
    let mut said = Said::new(role);
    said.push(Part::Text(text), Home::Whole, Leaf::Text(value));
    Ok(said)
}

/// Returns arguments as a JSON object, whatever the model wrote: what is none is carried under `input`.
pub(crate) fn arguments_object(arguments: &str) -> String {
    match Json::check(arguments.as_bytes()) {
        Ok(json) if json.is_object() => json.raw().to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => format!("{{\"input\":{}}}", quoted(arguments)),
    }
}

/// Returns a block that is carried, not read.
pub(crate) fn opaque(kind: &str, value: Json<'_>, pair: Option<Json<'_>>) -> Part {
    Part::Opaque(Opaque {
        kind: kind.to_owned(),
        raw: RawJson(value.raw().to_owned()),
        pair_id: pair.and_then(Json::string).map(Into::into),
    })
}
