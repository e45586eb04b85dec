//! From one format to another: what both can say, and a list of what could not be carried.

mod body;
pub(crate) mod losses;
pub(crate) mod messages;
pub(crate) mod regroup;
pub(crate) mod strip;
pub(crate) mod unread;

use std::sync::Arc;

use longhaul_transcript::{Message, Transcript};

use self::{
    losses::{Losses, place},
    messages::Body,
    strip::media_of,
};
use crate::{
    Document, Format, Repair, WireError,
    dialect::Sources,
    document::{Envelope, Fragment, Layout, from_bytes},
    formats::{Draft, Writing},
    json::Json,
    media::Payload,
    order::ordered,
    repair::repair_for,
};

/// A history in another format.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The history, as read back from what was written.
    pub document: Document,
    /// What could not be carried or stands otherwise now, a line for each kind of thing, with how often and the messages of
    /// the source that it is of: `2 x reasoning left out (m1, m4)`. Empty when everything was carried; that a developer's
    /// message is a system message now is no loss (O-11).
    pub losses: Vec<String>,
}

/// Converts `doc` to the format `to`.
///
/// Between the formats of one provider (Anthropic and Claude Code, Responses and Codex) a message keeps its own spelling,
/// with all that is in it. Elsewhere tool calls keep their ids and names where the format allows them and get derived ones
/// where not; what is signed or encrypted means nothing there and is left out. Calls that were never answered are answered
/// as [`repair`](crate::repair) does it, at the end too where something follows them. To the format that it is in, a document comes back as it is.
///
/// # Errors
/// When `to` is a format that can only be imported, or has no place for anything of the history.
pub fn convert(doc: &Document, to: Format) -> Result<Conversion, WireError> {
    let writing = to.writing()?;
    if to == doc.format {
        return Ok(Conversion { document: doc.clone(), losses: Vec::new() });
    }
    let mut losses = Losses::default();
    let conversion = converted(doc, to, writing, &mut losses)?;
    unread::tell(doc, &conversion, &mut losses);
    Ok(Conversion { document: conversion.document, losses: losses.into_lines() })
}

/// Writes a transcript that was never in a file as a history of the format `to`. Media cannot be carried: a transcript
/// does not hold their bytes.
///
/// # Errors
/// When `to` is a format that can only be imported, or has no place for anything of the history.
pub fn encode(transcript: &Transcript, to: Format) -> Result<Conversion, WireError> {
    let mut losses = Losses::default();
    let document = encoded(transcript, to, &mut losses)?;
    Ok(Conversion { document, losses: losses.into_lines() })
}

/// Does what [`encode`] does, and tells `losses`.
pub(crate) fn encoded(
    transcript: &Transcript,
    to: Format,
    losses: &mut Losses,
) -> Result<Document, WireError> {
    let doc = Document {
        format: Format::Longhaul,
        bytes: Vec::new(),
        transcript: transcript.clone(),
        slots: Vec::new(),
        layout: Layout::Import,
        envelope: Envelope::default(),
        problems: Vec::new(),
    };
    Ok(converted(&doc, to, to.writing()?, losses)?.document)
}

/// A history in another format, and the messages that kept their own spelling in it.
struct Converted {
    document: Document,
    own: Vec<(usize, String)>,
}

fn converted(
    doc: &Document,
    to: Format,
    writing: &'static Writing,
    losses: &mut Losses,
) -> Result<Converted, WireError> {
    let table = doc.media_table();
    let sources = sources(doc, &table);
    let said = doc.transcript.entries().iter().map(|entry| spelled(doc, &entry.message, writing)).collect();
    let repaired = match writing.carries_all {
        true => Repair { transcript: said, done: Vec::new() },
        false => repair_for(writing, &said, doc.format.spec().may_lack_ids),
    };
    repaired.done.into_iter().for_each(|done| losses.note(done));
    let messages = repaired.transcript.entries().iter().map(|entry| &*entry.message);
    let messages = ordered(messages, writing, losses);
    let messages: Vec<&Message> = messages.iter().map(|message| &**message).collect();
    let media = if writing.carries_all { body::media(doc, &sources) } else { Vec::new() };
    let body = Body::of(writing, &messages, sources, losses);
    let own = body.own.clone();
    let draft = Draft {
        model: doc.model().map(str::to_owned),
        tools: body::tools(doc, writing, losses),
        media,
        ..body.draft(doc.session_id(), &doc.transcript, losses)
    };
    let bytes = (writing.file)(draft, losses).into_bytes();
    if bytes.is_empty() {
        return Err(WireError::NothingToWrite { format: to });
    }
    Ok(Converted { document: from_bytes(Some(to), bytes)?, own })
}

/// Returns `message` with the spelling that it has in `doc`, where the target takes that as it is.
fn spelled(doc: &Document, message: &Message, writing: &Writing) -> Message {
    let mut message = Message { raw: None, ..message.clone() };
    let Some(at) = place(&message) else { return message };
    let fragments = doc.slots.get(at).map(|slot| &slot.fragments[..]).unwrap_or_default();
    let is_own = |fragment: &Fragment| writing.dialect.format == fragment.dialect.format;
    if !fragments.is_empty() && fragments.iter().all(is_own) {
        message.raw = doc.raw_of(at as u64).map(Arc::new);
    }
    message
}

/// Gathers where the bytes of media are found.
fn sources<'a>(doc: &'a Document, table: &'a [(longhaul_transcript::ContentHash, String)]) -> Sources<'a> {
    let fragments = doc.slots.iter().flat_map(|slot| &slot.fragments);
    let read = fragments.filter_map(|fragment| doc.fragment(fragment)).flat_map(|(_, said)| said.payloads);
    let kinds = doc.transcript.entries().iter().flat_map(|entry| media_of(&entry.message));
    let kinds: std::collections::HashMap<_, _> = kinds.map(|media| (media.hash, media)).collect();
    let canonical = table.iter().filter_map(|(hash, quoted)| {
        let json = Json::check(quoted.as_bytes()).ok()?;
        let media = kinds.get(hash)?;
        let payload = Payload::address(doc.format, json, media.kind, &media.media_type, json.text()?);
        Some((*hash, payload))
    });
    Sources::of_media(read.chain(canonical))
}
