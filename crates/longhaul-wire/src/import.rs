//! Histories that are only read: sessions of some agents, benchmark trajectories and meetings.

use longhaul_transcript::{Message, MessageId, Part, Role, Transcript, Usage};

use crate::{
    Document, Format, Problem, WireError,
    dialect::{Dialect, Said},
    document::{Envelope, Fragment, Layout, Slot, push_message},
    error::Fault,
    json::{Json, Object},
    lines, whole,
};

/// What was read so far.
#[derive(Default)]
pub(crate) struct Import {
    pub(crate) transcript: Transcript,
    pub(crate) envelope: Envelope,
    pub(crate) problems: Vec<Problem>,
    slots: Vec<Slot>,
}

/// Reads one JSON value: a list, or an object with a list under one of `keys`, whose elements `element` reads.
pub(crate) fn read_whole(
    format: Format,
    bytes: Vec<u8>,
    (keys, expected): (&[&str], &'static str),
    element: fn(&mut Import, Json<'_>) -> Result<(), Fault>,
) -> Result<Document, WireError> {
    let mut import = Import::default();
    let json = whole::value(&bytes)?;
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
    mut line: impl FnMut(&mut Import, &Object<'_>),
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

    /// Adds what an agent keeps as one record, which stands in `file` and is the one `at` that place among its like: for each step
    /// what was said, and what came of its calls in a message behind it. What the record shows is found there again.
    pub(crate) fn push_record(
        &mut self,
        (file, record): (&[u8], Json<'_>),
        at: usize,
        dialect: &'static Dialect,
        said: &Said<'_>,
    ) {
        let fragment = Fragment { range: record.range_in(file), dialect, at, step: None };
        for step in said.of_steps() {
            let parts = said.parts[step].iter().map(|located| located.part.clone());
            let (results, spoken): (Vec<Part>, Vec<Part>) =
                parts.partition(|part| matches!(part, Part::ToolResult(_)));
            let mut messages = [(said.role, spoken), (Role::Tool, results)];
            if said.role != Role::Assistant {
                messages.reverse();
            }
            for (role, parts) in messages.into_iter().filter(|(_, parts)| !parts.is_empty()) {
                let speaker = said.speaker.filter(|_| role == said.role);
                self.push(Message { speaker, ..Message::new(role, parts) });
                // Those that were pushed without one have no place.
                self.slots.resize_with(self.transcript.len() - 1, Slot::default);
                self.slots.push(Slot { fragments: vec![fragment.clone()] });
            }
        }
    }

    /// Notes what the request cost that was answered behind message `covered`.
    pub(crate) fn bill(&mut self, covered: Option<MessageId>, usage: Usage) {
        let was_billed = usage.prompt_total() > longhaul_transcript::Tokens::ZERO;
        self.envelope.usages.extend(covered.filter(|_| was_billed).map(|covered| (covered, usage)));
    }

    /// Notes something that is no part of what was said, or that nobody here knows, by a phrase that reads well after a number.
    pub(crate) fn leave(&mut self, what: String) {
        *self.envelope.left.entry(what).or_default() += 1;
    }

    pub(crate) fn last(&self) -> Option<MessageId> {
        self.transcript.entries().last().map(|entry| entry.id)
    }

    pub(crate) fn document(self, format: Format, bytes: Vec<u8>) -> Document {
        let Import { transcript, envelope, problems, mut slots } = self;
        slots.resize_with(transcript.len(), Slot::default);
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
