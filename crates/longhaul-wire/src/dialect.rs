//! How one message is spelled: reading it with the place of every part, changing it in place, writing one from nothing.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use longhaul_transcript::{
    CallKind, ContentHash, Media, Message, Opaque, Part, RawJson, Role, Speaker, ToolCall, Usage,
};

use crate::{
    Format,
    edit::{Edits, Home, Leaf, Located},
    error::Fault,
    json::{Json, quoted},
    media::Payload,
};

/// How one message is spelled, or the standing instructions outside the list of messages. Each is a `static` beside its
/// format; two are the same when they are the same `static`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The format under whose name a spelling is kept beside its message.
    pub(crate) format: Format,
    /// Reads one message.
    pub(crate) read: for<'a> fn(Json<'a>) -> Result<Said<'a>, Fault>,
    /// Spells one message; most often that is one value, but some dialects make several items of it, or none.
    pub(crate) fresh: fn(&Message, &Sources<'_>) -> Vec<String>,
    /// Spells the content of a tool result.
    pub(crate) result_content: fn(&[Part], &Sources<'_>) -> String,
    /// Spells a text that stands where a picture stood, in a list of what a user or a tool says.
    pub(crate) text_element: fn(&str) -> String,
    /// Whether changes are patched into the raw JSON.
    pub(crate) is_patched: bool,
    /// The field of a message that holds what is said, where one that is spelled afresh keeps the fields around it.
    pub(crate) content_key: Option<&'static str>,
    /// Removes the signature of a part that was changed (U-04).
    pub(crate) unsign: fn(&str, &Located<'_>, &mut Edits),
    /// After a part was removed, removes what refers to it in the same message.
    pub(crate) settle: fn(&str, &[Located<'_>], &[Option<&Part>], &mut Edits),
    /// Rewrites a message of which only some steps are kept; the number is how many copies of it stand before.
    pub(crate) with_steps: fn(&str, usize) -> String,
    /// Whether one answer of the model is several items.
    pub(crate) is_of_items: bool,
    /// Whether a failed result is marked by more than its text.
    pub(crate) marks_failure: bool,
    /// Whether a call can have a text of any form in the place of arguments.
    pub(crate) has_custom_calls: bool,
    /// Whether a picture can say how closely to look at it.
    pub(crate) has_detail: bool,
    /// Whether a file can be called by a name.
    pub(crate) has_file_names: bool,
    /// Whether readable reasoning can be said by whoever has it.
    pub(crate) says_reasoning: bool,
    /// Whether an answer begins with its reasoning and does not end with it.
    pub(crate) is_led_by_reasoning: bool,
    /// Whether a call can have this id.
    pub(crate) takes_id: fn(&str) -> bool,
    /// Whether a speaker can be called by this name.
    pub(crate) takes_name: fn(&str) -> bool,
    /// Returns how a message is spelled in a request, from the items that it was read from; `None` for a dialect that no
    /// provider takes.
    pub(crate) spelling: Option<Spelling>,
    /// Returns the messages inside the answer of a provider; `None` for what is no such answer.
    pub(crate) answer: for<'a> fn(Json<'a>) -> Result<Option<Vec<Json<'a>>>, Fault>,
    /// How an answer says what it cost; `None` where none does.
    pub(crate) usage: Option<Counts>,
    /// Whether the provider can have what lies at this address.
    pub(crate) reaches: fn(&str) -> bool,
    /// By what a message is known as this provider's.
    pub(crate) own: Own,
    /// Whether a message lacks what all of this provider's have.
    pub(crate) lacks: fn(Json<'_>) -> bool,
    /// What is expected in the place of a message in another provider's shape; `None` for a dialect that no provider takes.
    pub(crate) expected: Option<&'static str>,
    /// The standing instructions that stand outside of the list, where a request has such.
    pub(crate) outside: Option<Outside>,
}

/// By what a message is known as one provider's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Fields beside the content.
    pub(crate) fields: &'static [&'static str],
    /// Kinds of blocks in the content.
    pub(crate) blocks: &'static [&'static str],
}

/// Returns how items that were read are spelled in a request, as one text, where they can be.
pub(crate) type Spelling = fn(&[Json<'_>]) -> Option<String>;

/// How an answer says what it cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// The field of the answer with the counts.
    pub(crate) key: &'static str,
    /// The fields of a stream's events that hold the answer as far as it has come.
    pub(crate) inside: &'static [&'static str],
    pub(crate) read: fn(Json<'_>) -> Option<Usage>,
}

/// Standing instructions outside of the list of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub(crate) dialect: &'static Dialect,
    /// Returns whether a spelling is one of these, and no message.
    pub(crate) is_one: fn(Json<'_>) -> bool,
    /// Returns what a message becomes here that belongs outside of the list.
    pub(crate) of_message: for<'a> fn(Json<'a>) -> Option<Json<'a>>,
}

/// One message as read.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) role: Role,
    pub(crate) name: Option<Arc<str>>,
    /// Who really speaks, where the format says so beside the role.
    pub(crate) speaker: Option<Speaker>,
    pub(crate) parts: Vec<Located<'a>>,
    /// Where among the parts each step but the first begins, of an answer that goes on over many: each is a message of its own.
    pub(crate) steps: Vec<usize>,
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
    /// Media that were read more than once, with another detail or name.
    unlike: HashSet<ContentHash>,
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Dialect {
    /// Returns the dialect of one item of a spelling: what stands outside the list of messages has one of its own.
    pub(crate) fn of_item(&'static self, item: Json<'_>) -> &'static Dialect {
        match self.outside {
            Some(outside) if (outside.is_one)(item) => outside.dialect,
            _ => self,
        }
    }

    /// Returns whether `item` belongs outside of the list.
    pub(crate) fn is_outside(&self, item: Json<'_>) -> bool {
        self.outside.is_some_and(|outside| (outside.is_one)(item))
    }

    /// Returns whether what is spelled in `own` can stand in a request in this dialect.
    pub(crate) fn takes(&self, own: &'static Dialect) -> bool {
        self == own || self.outside.is_some_and(|outside| outside.dialect == own)
    }
}

impl<'a> Said<'a> {
    pub(crate) fn new(role: Role) -> Said<'a> {
        Said { role, name: None, speaker: None, parts: Vec::new(), steps: Vec::new(), payloads: Vec::new() }
    }

    pub(crate) fn into_message(self) -> Message {
        let parts = self.parts.into_iter().map(|located| located.part).collect();
        Message { name: self.name, speaker: self.speaker, ..Message::new(self.role, parts) }
    }

    /// Returns which parts are those of each step.
    pub(crate) fn of_steps(&self) -> Vec<Range<usize>> {
        let starts = std::iter::once(0).chain(self.steps.iter().copied());
        starts.zip(self.steps.iter().copied().chain([self.parts.len()])).map(|(from, to)| from..to).collect()
    }

    pub(crate) fn push(&mut self, part: Part, home: Home<'a>, leaf: Leaf<'a>) {
        self.parts.push(Located { part, home, leaf });
    }
}

impl<'a> Sources<'a> {
    /// Returns sources with the media of messages that were read.
    pub(crate) fn of_media(media: impl IntoIterator<Item = (ContentHash, Payload<'a>)>) -> Sources<'a> {
        let mut sources = Sources::default();
        sources.note_media(media);
        sources
    }

    /// Notes where the bytes of media are found. Of those that are read twice, the last one is taken.
    pub(crate) fn note_media(&mut self, media: impl IntoIterator<Item = (ContentHash, Payload<'a>)>) {
        for (hash, payload) in media {
            if let Some(before) = self.media.get(&hash)
                && (&before.detail, &before.name) != (&payload.detail, &payload.name)
            {
                self.unlike.insert(hash);
            }
            self.media.insert(hash, payload);
        }
    }

    /// Notes a picture or file that the caller gives by its address alone.
    pub(crate) fn note_address(&mut self, media: &'a Media) {
        if let Some(payload) = Payload::of_address(media).filter(|_| !self.media.contains_key(&media.hash)) {
            self.media.insert(media.hash, payload);
        }
    }

    /// Returns whether a picture or file was read more than once, with another detail or name.
    pub(crate) fn is_unlike(&self, hash: &ContentHash) -> bool {
        self.unlike.contains(hash)
    }

    /// Notes the blocks among `parts` that go where they are asked for as they stand: signed thinking, and what longhaul does not
    /// read.
    pub(crate) fn note_blocks(&mut self, parts: &[Located<'a>]) {
        for located in parts {
            if let (Part::Reasoning(_) | Part::Opaque(_), Home::Element { element, .. }) =
                (&located.part, located.home)
            {
                self.blocks.insert(ContentHash::of(element.raw().as_bytes()), element.raw());
            }
        }
    }

    /// Returns the JSON of a part that is copied as it stands, where it is known.
    pub(crate) fn block(&self, part: &Part) -> Option<String> {
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
    pub(crate) fn name_of<'s>(&'s self, id: &'s str) -> &'s str {
        self.names.get(id).map_or(id, String::as_str)
    }

    pub(crate) fn is_custom(&self, id: &str) -> bool {
        self.custom.contains(id)
    }
}

/// Reads a bare string.
pub(crate) fn bare(value: Json<'_>, role: Role) -> Result<Said<'_>, Fault> {
    let Some(text) = value.string() else {
        return Err(Fault::new("", value.raw(), "a string"));
    };
    let mut said = Said::new(role);
    said.push(Part::Text(text), Home::Whole, Leaf::Text(value));
    Ok(said)
}

/// Spells a message as a bare string.
pub(crate) fn fresh_bare(message: &Message, _: &Sources<'_>) -> Vec<String> {
    vec![quoted(&message.texts().collect::<Vec<_>>().join("\n"))]
}

/// Spells a text in a list of typed blocks or parts.
pub(crate) fn typed_text(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text))
}

impl Dialect {
    /// Returns what is expected in the place of a message in another provider's shape: read leniently it would lose its calls, or all
    /// that it says.
    pub(crate) fn expected_for(&self, item: Json<'_>) -> Option<&'static str> {
        let content = item.get("content").map(Json::elements).unwrap_or_default();
        let has_field = |key: &str| item.get(key).is_some_and(|value| !value.is_null());
        let kind = |block: &Json<'_>| block.get("type").and_then(Json::string);
        let has_block = |name: &str| content.iter().filter_map(kind).any(|kind| kind == name);
        let is_of = |own: Own| {
            let fields = own.fields.iter().filter(|key| !self.own.fields.contains(key));
            let blocks = own.blocks.iter().filter(|name| !self.own.blocks.contains(name));
            fields.copied().any(has_field) || blocks.copied().any(has_block)
        };
        let dialects = Format::ALL.into_iter().filter_map(|format| Some(format.writing().ok()?.dialect));
        let is_foreign = || (self.lacks)(item) || dialects.map(|dialect| dialect.own).any(is_of);
        self.expected.filter(|_| is_foreign())
    }
}

/// Returns items as they are, one a line.
pub(crate) fn as_they_are(items: &[Json<'_>]) -> Option<String> {
    Some(items.iter().map(|item| item.raw()).collect::<Vec<_>>().join("\n"))
}

/// Returns the one answer that a provider gave under `key`, as long as it gave one: of several nobody but the caller knows which one
/// the conversation goes on with.
pub(crate) fn one_answer<'a>(answer: Json<'a>, key: &'static str) -> Result<Option<Json<'a>>, Fault> {
    let answers = answer.get(key).map(Json::elements).unwrap_or_default();
    match answers[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let found = format!("{} of them", answers.len());
            Err(Fault::new(
                key,
                &found,
                "one; of several push the message that the conversation goes on with",
            ))
        }
    }
}

/// Returns a call as one JSON object.
pub(crate) fn call_object(call: &ToolCall) -> String {
    let arguments = arguments_object(&call.arguments.0);
    format!("{{\"name\":{},\"arguments\":{arguments}}}", quoted(&call.name))
}

/// Returns arguments as a JSON object, whatever the model wrote: what is none is carried under `input`.
pub(crate) fn arguments_object(arguments: &str) -> String {
    match Json::check(arguments.as_bytes()) {
        Ok(json) if json.is_object() => json.raw().to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => format!("{{\"input\":{}}}", quoted(arguments)),
    }
}

/// Returns the picture or the file of a block, and keeps where its bytes are; of a block with none, what is carried.
pub(crate) fn media_or_opaque<'a>(
    payload: Option<Payload<'a>>,
    kind: &str,
    block: Json<'a>,
    payloads: &mut Vec<(ContentHash, Payload<'a>)>,
) -> Part {
    let Some(payload) = payload else { return opaque(kind, block, None) };
    let media = payload.media();
    payloads.push((media.hash, payload));
    Part::Media(media)
}

/// Returns a block that is carried, not read.
pub(crate) fn opaque(kind: &str, value: Json<'_>, pair: Option<Json<'_>>) -> Part {
    Part::Opaque(Opaque {
        kind: kind.to_owned(),
        raw: RawJson(value.raw().to_owned()),
        pair_id: pair.and_then(Json::string).map(Into::into),
    })
}
