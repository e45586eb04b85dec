//! A message as it was spelled: it goes out in the same bytes, or patched to say what it says now.

use std::{collections::HashSet, sync::Arc};

use longhaul_transcript::{Media, Message, Part, Raw, Role};

use crate::{
    convert::losses::{Losses, place},
    dialect::{Dialect, Said, Sources},
    edit::{Key, Located, align, patch},
    formats::Writing,
    json::Json,
    raw::{dialect_of_item, items_of},
    write::with_content,
};

/// Returns whether a message is written as it was spelled, in a message of its own.
pub(crate) fn is_spelled(message: &Message, writing: &Writing) -> bool {
    message.raw.as_ref().is_some_and(|raw| *raw.format == *writing.dialect.format.name())
}

/// Returns `message` with a spelling that says what it says and nothing else: of a message that was shortened, that of what
/// is left. Without this a spelling holds all that was said, pictures included, until it is sent. Where the spelling cannot
/// be changed to say it, it is made anew, of what stays: pictures, signed thinking and blocks that longhaul does not know.
pub fn respell(message: Arc<Message>) -> Arc<Message> {
    let Some(raw) = message.raw.as_deref() else { return message };
    let values = spelled(&message).and_then(|items| {
        let payloads = items.iter().flat_map(|item| item.said.payloads.iter().cloned());
        let mut sources = Sources::of_media(payloads);
        sources.note_calls(&message);
        let patched = respelled(&items, &message, &sources, &mut Losses::default());
        patched.or_else(|| {
            items.iter().for_each(|item| sources.note_blocks(&item.said.parts));
            afresh(&items, &message, &sources)
        })
    });
    let respelled = values.map(|values| Raw { json: values.join("\n").into(), ..raw.clone() });
    if respelled.as_ref() == Some(raw) {
        return message;
    }
    Arc::new(Message { raw: respelled.map(Arc::new), ..(*message).clone() })
}

/// An item that a message was read from.
pub(crate) struct Spelled<'a> {
    pub(crate) dialect: &'static Dialect,
    pub(crate) json: Json<'a>,
    pub(crate) said: Said<'a>,
}

/// Returns the items that a message was read from, where it carries them.
pub(crate) fn spelled(message: &Message) -> Option<Vec<Spelled<'_>>> {
    let raw = message.raw.as_deref()?;
    let items = items_of(&raw.json)?.into_iter().map(|json| {
        let dialect = dialect_of_item(raw, json)?;
        Some(Spelled { dialect, json, said: (dialect.read)(json).ok()? })
    });
    items.collect()
}

/// Returns the items so that they say what `message` says; `None` where they cannot.
pub(crate) fn respelled(
    items: &[Spelled<'_>],
    message: &Message,
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> Option<Vec<String>> {
    // What a harness says as the user in a rollout was read as a developer's.
    let is_same_role = |item: &Spelled<'_>| {
        let is_harness = message.role == Role::Developer && item.said.role == Role::User;
        item.said.role == message.role || is_harness
    };
    if !items.iter().all(is_same_role) {
        return None;
    }
    let old: Vec<Located<'_>> = items.iter().flat_map(|item| item.said.parts.iter().cloned()).collect();
    if old.iter().map(|located| &located.part).eq(&message.parts) {
        return Some(items.iter().map(|item| item.json.raw().to_owned()).collect());
    }
    let blocks: HashSet<Key<'_>> = old.iter().map(|located| Key::of(&located.part)).collect();
    let is_carried = |part: &Part| match part {
        Part::Reasoning(_) | Part::Opaque(_) => blocks.contains(&Key::of(part)),
        _ => true,
    };
    let parts: Vec<Part> = as_spelled(message, &old).into_iter().filter(is_carried).collect();
    let pairs = align(&old, &parts)?;
    for _ in parts.len()..message.parts.len() {
        losses.count("block of the provider's left out", place(message));
    }
    let (mut from, mut values) = (0, Vec::with_capacity(items.len()));
    for item in items {
        let pairs = &pairs[from..from + item.said.parts.len()];
        from += item.said.parts.len();
        values.extend(patch(item.dialect, item.json, &item.said.parts, pairs, sources));
    }
    Some(values)
}

/// Spells `message` anew, in the dialect of the `items` that it was read from; `None` where that is no dialect of messages.
fn afresh(items: &[Spelled<'_>], message: &Message, sources: &Sources<'_>) -> Option<Vec<String>> {
    let dialect = items.first()?.dialect;
    let spells_messages = dialect.format.writing().is_ok_and(|writing| writing.dialect == dialect);
    let is_one = items.iter().all(|item| item.dialect == dialect);
    let values = (spells_messages && is_one).then(|| (dialect.fresh)(message, sources))?;
    match (&values[..], items, dialect.content_key) {
        ([], ..) => None,
        // The fields around the content stay.
        ([value], [item], Some(key)) => {
            Some(vec![with_content(item.json.raw(), value, key).unwrap_or_else(|| value.clone())])
        }
        _ => Some(values),
    }
}

/// Returns the parts of `message`, its files being those of the spelling. Where a secret was taken out of one, the spelling has
/// other bytes than were read, and another hash.
fn as_spelled(message: &Message, old: &[Located<'_>]) -> Vec<Part> {
    let mut parts = message.parts.clone();
    if message.raw.as_ref().is_none_or(|raw| raw.redacted == 0) {
        return parts;
    }
    let spelled: Vec<Media> = old.iter().flat_map(|located| media_in(&located.part)).cloned().collect();
    let mut said: Vec<&mut Media> = parts.iter_mut().flat_map(media_in_mut).collect();
    let is_same = |(said, spelled): (&&mut Media, &Media)| {
        (said.kind, &said.media_type) == (spelled.kind, &spelled.media_type)
    };
    if said.len() == spelled.len() && said.iter().zip(&spelled).all(is_same) {
        said.iter_mut().zip(spelled).for_each(|(said, spelled)| **said = spelled);
    }
    parts
}

/// Returns the files of a part: itself, or those in a result.
fn media_in(part: &Part) -> Vec<&Media> {
    match part {
        Part::Media(media) => vec![media],
        Part::ToolResult(result) => result.content.iter().flat_map(media_in).collect(),
        _ => Vec::new(),
    }
}

fn media_in_mut(part: &mut Part) -> Vec<&mut Media> {
    match part {
        Part::Media(media) => vec![media],
        Part::ToolResult(result) => result.content.iter_mut().flat_map(media_in_mut).collect(),
        _ => Vec::new(),
    }
}
