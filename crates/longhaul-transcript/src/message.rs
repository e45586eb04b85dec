//! What was said: messages and their parts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{CallId, ContentHash};

/// One message of a conversation. Parts, not roles, decide what answers what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The speaker's name, where the dialect has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// Where the message comes from. Not part of its content: two messages that say the same have the same hash.
    #[serde(default, skip_serializing_if = "Origin::is_caller")]
    pub origin: Origin,
    /// Who really speaks, where the format tells it apart from the role. Not part of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
    /// The message as the provider or agent spelled it, so that it can go out as it came in. Not part of the content.
    #[serde(skip)]
    pub raw: Option<Arc<Raw>>,
}

/// Who really speaks. Role `user` on the wire is not the user's voice: harnesses and sub-agents speak in it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Speaker {
    /// A person, in words of their own.
    Person,
    /// The model of this conversation.
    Model,
    /// A tool, in the result of a call.
    Tool,
    /// The program around the model: reminders, notifications, command echoes, skill texts, environment blocks.
    Harness,
    /// Another model that worked for this one, reporting.
    SubAgent,
    /// Standing instructions, of the system or a developer.
    System,
}

/// A message as it was spelled on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Raw {
    /// The name of the wire format, as `longhaul-wire` names it.
    pub format: Arc<str>,
    /// The JSON text of the message; where a format spells one message as several items, these, one a line.
    pub json: Box<str>,
    /// The item before it is the reasoning that led to it: where that does not go out, its own id may not either.
    #[serde(default, skip_serializing_if = "is_false")]
    pub after_reasoning: bool,
    /// How many secrets are placeholders in it, and blocks left out for one: it cannot go out as it came in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u32,
}

impl Raw {
    /// Returns the spelling `json` of a message in `format`, as it came in.
    pub fn new(format: impl Into<Arc<str>>, json: impl Into<Box<str>>) -> Raw {
        Raw { format: format.into(), json: json.into(), after_reasoning: false, redacted: 0 }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Who speaks. `System` and `Developer` are instructions to the model; `Tool` carries results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Standing instructions.
    System,
    /// Standing instructions, under the name newer OpenAI models use.
    Developer,
    /// The person, or the harness in the person's place.
    User,
    /// The model.
    Assistant,
    /// A tool, answering a call.
    Tool,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Origin {
    /// Built by the caller.
    #[default]
    Caller,
    /// Read from a document, where it is the message with this ordinal.
    Document(u32),
    /// Put there by longhaul: a summary, or the explicit result of a call that never got one.
    Longhaul,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Words.
    Text(String),
    /// An image, a document, a sound.
    Media(Media),
    /// A request to run a tool.
    ToolCall(ToolCall),
    /// The answer to a [`ToolCall`].
    ToolResult(ToolResult),
    /// The model's thinking, readable or not.
    Reasoning(Reasoning),
    /// Anything else: copied byte for byte or dropped whole, never edited.
    Opaque(Opaque),
}

/// JSON text as it arrived, spelling, key order and all. It may be invalid where a model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(pub String);

/// An image, document or sound. The payload is not carried here; the document it was read from still holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// What it is.
    pub kind: MediaKind,
    /// The media type as declared, such as `image/png`; empty where none is.
    pub media_type: String,
    /// Where it is, for one given by reference; empty for one given inline. One that no document spells is sent by it where it is on
    /// the web (`https://`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Size of the inline payload, decoded, in bytes.
    pub bytes: u64,
    /// Width and height in pixels, where the header of the payload says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixels: Option<(u32, u32)>,
    /// Number of pages, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Hash of the payload or the reference, so that two different images are two different contents.
    pub hash: ContentHash,
}

/// What a [`Media`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A PDF or another file.
    Document,
    /// Sound.
    Audio,
}

/// A request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the call to its result.
    pub id: CallId,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// Its arguments: JSON text for a [`CallKind::Function`], free text for a [`CallKind::Custom`].
    pub arguments: RawJson,
    /// How the arguments are to be read.
    #[serde(default, skip_serializing_if = "CallKind::is_function")]
    pub kind: CallKind,
}

/// How a call's arguments are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    /// JSON text.
    #[default]
    Function,
    /// Free text, as of a patch tool.
    Custom,
}

/// The answer to a [`ToolCall`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: CallId,
    /// What the tool said: text, media, opaque parts.
    pub content: Vec<Part>,
    /// Whether it went well.
    pub outcome: Outcome,
}

/// Whether a tool call went well, as far as the wire says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The dialect says it went well.
    Succeeded,
    /// The dialect says it failed.
    Failed,
    /// The dialect does not say.
    #[default]
    Unstated,
}

/// The model's thinking. Its signature stays in the document; here is what can be read and how large it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The readable text or summary; empty where it is encrypted.
    pub text: String,
    /// Size of the signed or encrypted payload, in bytes; zero for plain thinking.
    pub opaque_bytes: u64,
    /// Hash of the whole block as it arrived.
    pub hash: ContentHash,
}

/// A block longhaul does not read: a server tool's payload, a provider's own compaction, a type of next month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The block's own type name.
    pub kind: String,
    /// The block as JSON text, as it arrived.
    pub raw: RawJson,
    /// The id that ties it to another opaque block of the same message (a server tool's call and result).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_id: Option<CallId>,
}

impl Message {
    /// Returns a message without a name, built by the caller.
    pub fn new(role: Role, parts: Vec<Part>) -> Message {
        Message { role, name: None, parts, origin: Origin::Caller, speaker: None, raw: None }
    }

    /// Returns a system message of one text.
    pub fn system(text: impl Into<String>) -> Message {
        Message::new(Role::System, vec![Part::Text(text.into())])
    }

    /// Returns a user message of one text.
    pub fn user(text: impl Into<String>) -> Message {
        Message::new(Role::User, vec![Part::Text(text.into())])
    }

    /// Returns an assistant message of one text.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message::new(Role::Assistant, vec![Part::Text(text.into())])
    }

    /// Returns a tool's message: the answer to one call.
    pub fn tool(result: ToolResult) -> Message {
        Message::new(Role::Tool, vec![Part::ToolResult(result)])
    }

    /// Returns this message with these calls behind what it says; a text of nothing goes.
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Message {
        self.parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        self.parts.extend(calls.into_iter().map(Part::ToolCall));
        self
    }

    /// Returns this message with another origin.
    pub fn with_origin(mut self, origin: Origin) -> Message {
        self.origin = origin;
        self
    }

    /// Returns the tool calls of this message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the tool results of this message, in order.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        })
    }

    /// Returns the texts of this message itself, in order; those inside tool results are not among them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns whether this is a standing instruction to the model.
    pub fn is_system(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }

    /// Returns who speaks, in a word for whoever reads it: `result` where calls are answered, in whatever role a provider wants that.
    pub fn who(&self) -> &'static str {
        match self.results().next() {
            Some(_) => "result",
            None => self.role.as_str(),
        }
    }

    /// Returns whether a person (or the harness in a person's place) says something here, results of tools apart.
    pub fn is_user_text(&self) -> bool {
        self.role == Role::User && self.parts.iter().any(|part| !matches!(part, Part::ToolResult(_)))
    }

    /// Returns the hash of role, name and parts. The origin does not count.
    pub fn content_hash(&self) -> ContentHash {
        let mut hasher = Hasher(Sha256::new());
        hasher.field(self.role.as_str().as_bytes());
        hasher.field(self.name.as_deref().unwrap_or_default().as_bytes());
        hasher.parts(&self.parts);
        ContentHash(hasher.0.finalize().into())
    }
}

impl Role {
    /// Returns the name that most dialects use: `system`, `developer`, `user`, `assistant`, `tool`.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

impl Origin {
    fn is_caller(&self) -> bool {
        *self == Origin::Caller
    }
}

impl CallKind {
    fn is_function(&self) -> bool {
        *self == CallKind::Function
    }
}

impl ToolCall {
    /// Returns a call with JSON arguments.
    pub fn function(
        id: impl Into<CallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: RawJson(arguments.into()),
            kind: CallKind::Function,
        }
    }
}

impl ToolResult {
    /// Returns a result of one text.
    pub fn text(call_id: impl Into<CallId>, text: impl Into<String>, outcome: Outcome) -> ToolResult {
        ToolResult { call_id: call_id.into(), content: vec![Part::Text(text.into())], outcome }
    }

    /// Returns the texts of the result joined with line feeds.
    pub fn joined_text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

struct Hasher(Sha256);

impl Hasher {
    fn field(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn parts(&mut self, parts: &[Part]) {
        self.0.update((parts.len() as u64).to_le_bytes());
        parts.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => {
                self.field(b"text");
                self.field(text.as_bytes());
            }
            Part::Media(media) => {
                self.field(b"media");
                self.field(media.media_type.as_bytes());
                self.field(&media.hash.0);
            }
            Part::ToolCall(call) => {
                self.field(b"call");
                self.field(call.id.as_str().as_bytes());
                self.field(call.name.as_bytes());
                self.field(call.arguments.0.as_bytes());
            }
            Part::ToolResult(result) => {
                self.field(b"result");
                self.field(result.call_id.as_str().as_bytes());
                self.field(match result.outcome {
                    Outcome::Failed => b"failed",
                    Outcome::Succeeded | Outcome::Unstated => b"",
                });
                self.parts(&result.content);
            }
            Part::Reasoning(reasoning) => {
                self.field(b"reasoning");
                self.field(reasoning.text.as_bytes());
                self.field(&reasoning.hash.0);
            }
            Part::Opaque(opaque) => {
                self.field(b"opaque");
                self.field(opaque.kind.as_bytes());
                self.field(opaque.raw.0.as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_the_content_and_nothing_else() {
        let said = Message::user("hello");
        assert_eq!(said.content_hash(), said.clone().with_origin(Origin::Document(3)).content_hash());
        assert_ne!(said.content_hash(), Message::assistant("hello").content_hash());
        assert_ne!(said.content_hash(), Message::user("hello ").content_hash());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let text = |parts: &[&str]| {
            Message::new(Role::User, parts.iter().map(|t| Part::Text((*t).into())).collect()).content_hash()
        };
        assert_ne!(text(&["ab", "c"]), text(&["a", "bc"]));
    }
}
