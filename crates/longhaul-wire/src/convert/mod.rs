//! From one format to another: what both can say, and a list of what could not be carried.

pub(crate) mod body;
pub(crate) mod regroup;

use std::collections::BTreeMap;

use longhaul_transcript::{Message, Outcome, Part, Role, Transcript};

use crate::{
    Document, Format, WireError,
    dialect::{Dialect, Sources},
    document::{Envelope, Layout, from_bytes},
    json::Json,
    media::Payload,
    repair,
};

/// A history in another format.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The history, as read back from what was written.
    pub document: Document,
    /// What could not be carried, one line each; empty when everything was.
    pub losses: Vec<String>,
}

/// Converts `doc` to the format `to`.
///
/// Tool calls keep their ids where the format allows them and get derived ones where not. Signed and encrypted
/// reasoning means nothing elsewhere and is left out; calls that were never answered are answered as
/// [`repair`](crate::repair) does it.
///
/// # Errors
/// When `to` is a format that can only be imported.
pub fn convert(doc: &Document, to: Format) -> Result<Conversion, WireError> {
    let writing = to.writing()?;
    if to == doc.format {
        return Ok(Conversion { document: doc.clone(), losses: Vec::new() });
    }
    let mut losses = Losses::default();
    let repaired = repair(&doc.transcript);
    repaired.done.into_iter().for_each(|done| losses.note(done));
    let table = doc.media_table();
    let mut sources = sources(doc, &table);
    let mut messages: Vec<Message> =
        repaired.transcript.entries().iter().map(|entry| (*entry.message).clone()).collect();
    if !writing.carries_all {
        strip(&mut messages, writing.dialect, &sources, &mut losses);
        messages = (writing.regroup)(messages, &mut losses);
    }
    messages.iter().for_each(|message| sources.note_calls(message));
    let bytes = body::write(doc, writing, &messages, &sources, &mut losses);
    Ok(Conversion { document: from_bytes(Some(to), bytes.into_bytes())?, losses: losses.into_lines() })
}

/// Writes a transcript that was never in a file as a history of the format `to`. Media cannot be carried: a transcript
/// does not hold their bytes.
///
/// # Errors
/// When `to` is a format that can only be imported.
pub fn encode(transcript: &Transcript, to: Format) -> Result<Conversion, WireError> {
    let doc = Document {
        format: Format::Longhaul,
        bytes: Vec::new(),
        transcript: transcript.clone(),
        slots: Vec::new(),
        layout: Layout::Import,
        envelope: Envelope::default(),
        problems: Vec::new(),
    };
    if to != doc.format {
        return convert(&doc, to);
    }
    let messages: Vec<Message> = transcript.entries().iter().map(|entry| (*entry.message).clone()).collect();
    let bytes = body::write(&doc, to.writing()?, &messages, &Sources::default(), &mut Losses::default());
    Ok(Conversion { document: from_bytes(Some(to), bytes.into_bytes())?, losses: Vec::new() })
}

/// What could not be carried, counted by kind.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    counted: BTreeMap<String, usize>,
    noted: Vec<String>,
}

impl Losses {
    /// Counts one more of `what`, a phrase that reads well after a number.
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        *self.counted.entry(what.into()).or_default() += 1;
    }

    pub(crate) fn note(&mut self, what: impl Into<String>) {
        self.noted.push(what.into());
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        let counted = self.counted.into_iter().map(|(what, count)| format!("{count} x {what}"));
        self.noted.into_iter().chain(counted).collect()
    }
}

/// Takes out what the dialect cannot say.
pub(crate) fn strip(
    messages: &mut Vec<Message>,
    dialect: &Dialect,
    sources: &Sources<'_>,
    losses: &mut Losses,
) {
    for message in messages.iter_mut() {
        let role = message.role;
        message.parts.retain_mut(|part| match part {
            Part::ToolResult(result) => {
                if result.outcome == Outcome::Failed && !dialect.marks_failure {
                    losses.count("a failed result is marked by its text alone");
                }
                result.content.retain(|part| is_sayable(part, role, dialect, sources, losses));
                true
            }
            part => is_sayable(part, role, dialect, sources, losses),
        });
    }
    messages.retain(|message| !message.parts.is_empty());
}

fn is_sayable(
    part: &Part,
    role: Role,
    dialect: &Dialect,
    sources: &Sources<'_>,
    losses: &mut Losses,
) -> bool {
    match part {
        Part::Reasoning(_) => {
            losses.count("reasoning left out");
            false
        }
        Part::Opaque(opaque) => {
            losses.count(format!("block of type {:?} left out", opaque.kind));
            false
        }
        Part::Media(media) => {
            let message = Message::new(role, vec![part.clone()]);
            let can = !(dialect.fresh)(&message, sources).is_empty();
            if !can {
                losses.count(format!("media of type {:?} left out", media.media_type));
            }
            let detail = sources.media.get(&media.hash).and_then(|payload| payload.detail());
            if can && !dialect.has_detail && detail.is_some() {
                losses.count("picture without the detail that was asked for it");
            }
            can
        }
        _ => true,
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
        let payload = Payload::address(
            doc.format.writing().ok()?.dialect,
            json,
            media.kind,
            &media.media_type,
            json.text()?,
        );
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
