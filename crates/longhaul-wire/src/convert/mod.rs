//! From one format to another: what both can say, and a list of what could not be carried.

mod body;
pub(crate) mod losses;
pub(crate) mod regroup;
pub(crate) mod unread;

use std::sync::Arc;

use longhaul_transcript::{CallKind, Media, MediaKind, Message, Outcome, Part, Role, ToolCall, Transcript};

use self::losses::{Losses, WITHOUT_CONTENT, place};
use crate::{
    Document, Format, Repair, WireError,
    dialect::{Dialect, Sources},
    document::{Envelope, Fragment, Layout, from_bytes},
    formats::{Blanks, Draft, Writing},
    json::Json,
    media::Payload,
    order::ordered,
    render::Body,
    repair::repair_for,
    validate::is_blank,
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

/// Takes out what the dialect cannot say.
pub(crate) fn strip(
    messages: &mut Vec<Message>,
    writing: &Writing,
    sources: &Sources<'_>,
    losses: &mut Losses,
) {
    let dialect = writing.dialect;
    for message in messages.iter_mut() {
        let at = place(message);
        if message.parts.is_empty() && !writing.carries_all {
            losses.count(WITHOUT_CONTENT, at);
        }
        let says = |part: &Part, losses: &mut Losses| is_sayable(part, at, writing, sources, losses);
        let name = message.name.take();
        let is_tool =
            |name: &str| message.results().any(|result| sources.name_of(result.call_id.as_str()) == name);
        match name {
            Some(name) if (dialect.takes_name)(&name) && message.role != Role::Tool => {
                message.name = Some(name)
            }
            Some(name) if !is_tool(&name) => losses.count("name of a speaker left out", at),
            _ => {}
        }
        message.parts.retain_mut(|part| match part {
            Part::ToolResult(result) => {
                if result.outcome == Outcome::Failed && !dialect.marks_failure {
                    losses.count("a failed result is marked by its text alone", at);
                }
                result.content.retain(|part| says(part, losses));
                true
            }
            Part::ToolCall(call) => {
                if call.kind == CallKind::Custom && !dialect.has_custom_calls {
                    losses.count("call with a text of its own form written as a function's", at);
                } else if !has_arguments_as_they_are(call, dialect, sources) {
                    losses.count("call whose arguments are no JSON object, carried in one", at);
                }
                true
            }
            part => says(part, losses),
        });
    }
    // What is left beside reasoning may be blank, which nobody takes for an answer (U-11).
    let is_said =
        |part: &Part| !matches!(part, Part::Text(text) if is_blank(text)) || writing.blanks == Blanks::Stay;
    messages.retain(|message| message.parts.iter().any(is_said) || writing.carries_all);
}

/// Returns whether a dialect carries the arguments of `call` as the model wrote them, which may have been cut off: some want an object,
/// and get one around them.
fn has_arguments_as_they_are(call: &ToolCall, dialect: &Dialect, sources: &Sources<'_>) -> bool {
    let text = &*call.arguments.0;
    if text.trim().is_empty() || Json::check(text.as_bytes()).is_ok_and(Json::is_object) {
        return true;
    }
    let alone = Message::new(Role::Assistant, vec![Part::ToolCall(call.clone())]);
    (dialect.fresh)(&alone, sources).iter().any(|value| {
        let said = Json::check(value.as_bytes()).ok().and_then(|json| (dialect.read)(json).ok());
        let parts = said.into_iter().flat_map(|said| said.parts);
        parts.map(|located| located.part).any(|part| match part {
            Part::ToolCall(written) => written.arguments == call.arguments,
            _ => false,
        })
    })
}

fn is_sayable(
    part: &Part,
    at: Option<usize>,
    writing: &Writing,
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> bool {
    let dialect = writing.dialect;
    let (is_carried, what) = match part {
        Part::Reasoning(reasoning)
            if writing.carries_all || dialect.says_reasoning && !reasoning.text.is_empty() =>
        {
            if reasoning.opaque_bytes > 0 {
                losses.count("signature of reasoning left out", at);
            }
            (true, String::new())
        }
        Part::Reasoning(_) => (false, "reasoning left out".to_owned()),
        Part::Opaque(opaque) => (writing.carries_all, format!("block of type {:?} left out", opaque.kind)),
        Part::Media(media) => {
            // Where it may not stand with who says it, the user shows it.
            let message = Message::new(Role::User, vec![part.clone()]);
            let payload = sources.media.get(&media.hash);
            let is_read = payload.is_none_or(|payload| payload.is_read_by(dialect.format));
            let can = is_read && !(dialect.fresh)(&message, sources).is_empty();
            let is_unlike = sources.is_unlike(&media.hash) && media.kind == MediaKind::Image;
            let has_detail = payload.is_some_and(|payload| payload.detail().is_some());
            if can && !dialect.has_detail && (has_detail || is_unlike) {
                losses.count("picture without the detail that was asked for it", at);
            }
            if can && !dialect.has_file_names && payload.is_some_and(|payload| payload.name().is_some()) {
                losses.count("file without its name", at);
            }
            let is_said = match media.kind {
                MediaKind::Image => dialect.has_detail,
                _ => dialect.has_file_names,
            };
            if can && is_said && sources.is_unlike(&media.hash) {
                losses.count("picture or file that stands there twice with one detail and name for both", at);
            }
            (can, left_out(media))
        }
        _ => (true, String::new()),
    };
    if !is_carried {
        losses.count(what, at);
    }
    is_carried
}

/// Says that a picture or file is left out.
pub(crate) fn left_out(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "picture",
        MediaKind::Audio => "sound",
        _ => "file",
    };
    match media.media_type.is_empty() {
        true => format!("{kind} left out"),
        false => format!("{kind} of type {:?} left out", media.media_type),
    }
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

/// Returns the media of a message, those inside results included.
pub(crate) fn media_of(message: &Message) -> impl Iterator<Item = &longhaul_transcript::Media> {
    let inner = message.results().flat_map(|result| &result.content);
    message.parts.iter().chain(inner).filter_map(|part| match part {
        Part::Media(media) => Some(media),
        _ => None,
    })
}
