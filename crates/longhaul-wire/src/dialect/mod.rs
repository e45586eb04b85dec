//! How each provider spells one message: reading it with the place of every part, and writing one from nothing.

mod anthropic;
mod openai;

use std::{collections::HashMap, sync::Arc};

use longhaul_transcript::{ContentHash, Message, Opaque, Part, RawJson, Role};

use crate::{
    edit::Located,
    error::Fault,
    json::{Json, quoted},
    media::Payload,
};

/// How one message is spelled. Session files use the dialect of their provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
    /// The `system` field: content without a message around it.
    AnthropicSystem,
}

/// One message as read.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) role: Role,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) parts: Vec<Located<'a>>,
    /// Images and files found, by the hash that their `Media` carries.
    pub(crate) payloads: Vec<(ContentHash, Payload<'a>)>,
}

/// Where the bytes of media are found, by hash.
pub(crate) type Payloads<'a> = HashMap<ContentHash, Payload<'a>>;

impl Dialect {
    /// Reads one message.
    pub(crate) fn read(self, value: Json<'_>) -> Result<Said<'_>, Fault> {
        match self {
            Dialect::OpenAi => openai::read(value),
            Dialect::Anthropic => anthropic::read(value),
            Dialect::AnthropicSystem => anthropic::read_system(value),
        }
    }

    /// Spells the content of a tool result.
    pub(crate) fn result_content(self, content: &[Part], payloads: &Payloads<'_>) -> String {
        match self {
            Dialect::OpenAi => openai::result_content(content),
            Dialect::Anthropic | Dialect::AnthropicSystem => anthropic::result_content(content, payloads),
        }
    }

    /// Spells one message; most often that is one value, but some dialects make several items of it, or none.
    pub(crate) fn fresh(self, message: &Message, payloads: &Payloads<'_>) -> Vec<String> {
        match self {
            Dialect::OpenAi => openai::fresh(message, payloads),
            Dialect::Anthropic | Dialect::AnthropicSystem => anthropic::fresh(message, payloads),
        }
    }
}

impl<'a> Said<'a> {
    pub(crate) fn new(role: Role) -> Said<'a> {
        Said { role, name: None, parts: Vec::new(), payloads: Vec::new() }
    }

    pub(crate) fn push(&mut self, part: Part, home: crate::edit::Home<'a>, leaf: crate::edit::Leaf<'a>) {
        self.parts.push(Located { part, home, leaf });
    }
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
