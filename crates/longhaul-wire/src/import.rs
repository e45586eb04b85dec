//! Histories that are only read: benchmark trajectories and meetings.

use longhaul_transcript::{Message, MessageId, Transcript};

use crate::{
    Document, Format, Problem, WireError,
    document::{Envelope, Layout, Slot, push_message},
    error::Fault,
    json::{Json, Object},
    lines,
    whole::syntax_error,
};

/// What was read so far.
#[derive(Default)]
pub(crate) struct Import {
    pub(crate) transcript: Transcript,
    pub(crate) envelope: Envelope,
    problems: Vec<Problem>,
}

/// Reads one JSON value: a list, or an object with a list under one of `keys`, whose elements `element` reads.
pub(crate) fn read_whole(
    format: Format,
    bytes: Vec<u8>,
    (keys, expected): (&[&str], &'static str),
    element: fn(&mut Import, Json<'_>) -> Result<(), Fault>,
) -> Result<Document, WireError> {
    let mut import = Import::default();
    let skip = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let json = Json::check(&bytes[skip..]).map_err(|flaw| syntax_error(&flaw, skip))?;
    let fields = json.object();
    let found = if json.is_array() { Some(json) } else { keys.iter().find_map(|key| fields.get(key)) };
    let Some(list) = found.filter(|list| list.is_array()) else {
        return Err(Fault::new("", json.raw(), expected).at("the document"));
    };
    for (index, json) in list.elements().into_iter().enumerate() {
        element(&mut import, json).map_err(|fault| fault.at(&format!("{}[{index}]", keys[0])))?;
    }
    Ok(import.document(format, bytes))
}

/// Reads a file of lines, each of which `line` reads.
pub(crate) fn read_lines(
    format: Format,
    bytes: Vec<u8>,
    line: fn(&mut Import, &Object<'_>),
) -> Result<Document, WireError> {
    let mut import = Import::default();
    let ranges = lines::split(&bytes);
    let last = ranges.len().saturating_sub(1);
    for (at, range) in ranges.into_iter().enumerate() {
        match lines::check(&bytes[range], at == 0) {
            Ok(Some(json)) => line(&mut import, &json.object()),
            Ok(None) => {}
            Err(flaw) => import.problems.push(lines::problem(at + 1, &flaw, at == last)),
        }
    }
    match import.problems.first().filter(|_| import.transcript.is_empty()) {
        None => Ok(import.document(format, bytes)),
        Some(first) => Err(WireError::Shape {
            place: first.place.clone(),
            found: first.what.clone(),
            expected: "a file of lines, each one JSON object",
        }),
    }
}

impl Import {
    pub(crate) fn push(&mut self, message: Message) {
        push_message(&mut self.transcript, message);
    }

    pub(crate) fn last(&self) -> Option<MessageId> {
        self.transcript.entries().last().map(|entry| entry.id)
    }

    fn document(self, format: Format, bytes: Vec<u8>) -> Document {
        let Import { transcript, envelope, problems } = self;
        let slots = transcript.entries().iter().map(|_| Slot { fragments: Vec::new() }).collect();
        Document { format, transcript, slots, layout: Layout::Import, envelope, problems, bytes }
    }
}

/// Returns a string, or the texts of a list of parts, joined with line feeds.
pub(crate) fn text_of(content: Option<Json<'_>>) -> String {
    let Some(content) = content else { return String::new() };
    match content.string() {
        Some(text) => text,
        None => {
            let texts = content
                .elements()
                .into_iter()
                .filter_map(|part| part.string().or_else(|| part.get("text")?.string()));
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
