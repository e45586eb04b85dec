//! Histories that are one JSON value: a list of messages, bare or inside a request body.

use std::ops::Range;

use longhaul_transcript::{SessionId, Transcript};

use crate::{
    Document, Format, WireError,
    dialect::{Dialect, Said},
    document::{Envelope, Fragment, Slot, push},
    edit::{Edits, remove_field},
    error::Fault,
    json::{Flaw, Json, Object},
    write::{Emitted, Rendered},
};

/// Where the list stands, and the one message that may stand outside it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The array, brackets included.
    array: Range<usize>,
    elements: Vec<Range<usize>>,
    /// The object and the key of the system prompt: entry 0.
    outside: Option<(Range<usize>, &'static str)>,
}

/// The version of the canonical form that this code writes.
pub(crate) const VERSION: u64 = 1;

/// What distinguishes one format's body from another's.
struct Body<'a> {
    list: Json<'a>,
    outside: Option<(&'static str, Dialect, Json<'a>)>,
    dialect: Dialect,
}

pub(crate) fn read(format: Format, bytes: Vec<u8>) -> Result<Document, WireError> {
    let skip = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let text = &bytes[skip..];
    let json = Json::check(text).map_err(|flaw| syntax_error(&flaw, skip))?;
    let base = json.raw();
    let offset = skip + leading_blanks(text);
    let at = |part: Json<'_>| {
        let range = part.range_in(base);
        range.start + offset..range.end + offset
    };
    let body = body(format, json)?;
    let mut envelope = Envelope::default();
    if json.is_object() {
        let fields = json.object();
        envelope.model = fields.text("model").map(|model| model.into_owned());
        let tools = fields.some("tools").or_else(|| fields.some("functions")).map(Json::elements);
        envelope.session_id = fields.text("session").and_then(|id| SessionId::new(&id).ok());
        envelope.tools = tools.unwrap_or_default().into_iter().map(|tool| tool.raw().to_owned()).collect();
    }
    let mut transcript = Transcript::new();
    let mut slots = Vec::new();
    let mut add = |said: Said<'_>, dialect, value, index| {
        push(&mut transcript, said);
        slots.push(Slot { fragments: vec![Fragment { range: at(value), dialect, at: index }] });
    };
    if let Some((key, dialect, value)) = body.outside {
        let said = dialect.read(value).map_err(|fault| fault.at(key))?;
        add(said, dialect, value, usize::MAX);
    }
    // Responses: a bare string is one message of the user.
    let (elements, dialect) = match body.list.is_string() {
        true => (vec![body.list], Dialect::UserText),
        false => (body.list.elements(), body.dialect),
    };
    for (index, element) in elements.iter().enumerate() {
        let said = dialect.read(*element).map_err(|fault| fault.at(&format!("message {index}")))?;
        add(said, dialect, *element, index);
    }
    let layout = Layout {
        array: at(body.list),
        elements: elements.into_iter().map(at).collect(),
        outside: body.outside.map(|(key, ..)| (at(json), key)),
    };
    let layout = match body.list.is_string() {
        // One message: there is nothing to take out of it.
        true => crate::document::Layout::Import,
        false => crate::document::Layout::Whole(layout),
    };
    Ok(Document { format, transcript, slots, layout, envelope, problems: Vec::new(), bytes })
}

fn body(format: Format, json: Json<'_>) -> Result<Body<'_>, WireError> {
    let fields = json.object();
    let shape = |expected| Fault::new("", json.raw(), expected).at("the document");
    let list = |keys: &[&str], expected| {
        let found = match json.is_array() {
            true => Some(json),
            false => keys.iter().find_map(|key| fields.get(key)),
        };
        found.filter(|list| list.is_array()).ok_or_else(|| shape(expected))
    };
    let outside = |keys: [&'static str; 2], dialect| {
        keys.into_iter().find_map(|key| Some((key, dialect, fields.some(key)?)))
    };
    Ok(match format {
        Format::Anthropic => Body {
            list: list(&["messages"], "an array of messages, or an object with messages")?,
            outside: outside(["system"; 2], Dialect::AnthropicSystem),
            dialect: Dialect::Anthropic,
        },
        Format::Responses => Body {
            list: match fields.get("input").filter(|input| input.is_string()) {
                Some(text) => text,
                None => list(&["input", "output"], "an array of items, or an object with input")?,
            },
            outside: outside(["instructions"; 2], Dialect::Instructions),
            dialect: Dialect::Responses,
        },
        Format::Gemini => Body {
            list: list(&["contents"], "an array of contents, or an object with contents")?,
            outside: outside(["systemInstruction", "system_instruction"], Dialect::GeminiSystem),
            dialect: Dialect::Gemini,
        },
        Format::Chat => Body {
            list: list(
                &["conversations", "conversation", "messages"],
                "an array of turns, or an object with conversations",
            )?,
            outside: outside(["system"; 2], Dialect::Instructions),
            dialect: Dialect::Chat,
        },
        Format::Longhaul => {
            version(&fields)?;
            Body {
                list: list(&["messages"], "an object with messages")?,
                outside: None,
                dialect: Dialect::Canonical,
            }
        }
        _ => Body {
            list: list(&["messages"], "an array of messages, or an object with messages")?,
            outside: None,
            dialect: Dialect::OpenAi,
        },
    })
}

/// Refuses a canonical history from the future.
fn version(fields: &Object<'_>) -> Result<(), WireError> {
    match fields.get("version").and_then(Json::as_u64) {
        Some(found) if found > VERSION => Err(WireError::NewerVersion { found, expected: VERSION }),
        _ => Ok(()),
    }
}

fn leading_blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

pub(crate) fn syntax_error(flaw: &Flaw, skipped: usize) -> WireError {
    WireError::Syntax {
        place: format!("byte {}", flaw.byte + skipped),
        what: flaw.what.clone(),
        expected: "one JSON value in UTF-8",
    }
}

/// Returns the document's bytes with the list replaced by `emitted`.
pub(crate) fn write(doc: &Document, layout: &Layout, emitted: &[Emitted<'_>]) -> String {
    let text = doc.raw(&(0..doc.bytes.len()));
    let mut edits = Edits::default();
    let mut inner = String::new();
    let mut before: Option<usize> = None;
    let mut outside_kept = false;
    let mut put = |value: &str, index: Option<usize>| {
        let gap = match (before, index) {
            // The first one written takes the blanks that the first one had.
            _ if inner.is_empty() => gap(text, layout, 0).trim_start_matches(','),
            (Some(last), Some(index)) if last + 1 == index => gap(text, layout, index),
            _ if layout.elements.len() > 1 => gap(text, layout, 1),
            _ => ",",
        };
        inner.push_str(gap);
        inner.push_str(value);
        before = index;
    };
    for element in emitted {
        match element {
            Emitted::Kept { n, rendered } => {
                let fragment = &doc.slots[*n].fragments[0];
                let Some(rendered) = rendered.first() else { continue };
                let is_outside = fragment.at == usize::MAX;
                match rendered {
                    Rendered::Same if is_outside => outside_kept = true,
                    Rendered::Same => put(doc.raw(&fragment.range), Some(fragment.at)),
                    Rendered::Changed(value) if is_outside => {
                        outside_kept = true;
                        edits.replace(fragment.range.clone(), value.clone());
                    }
                    Rendered::Changed(value) => put(value, Some(fragment.at)),
                    Rendered::Gone => {}
                }
            }
            Emitted::Fresh(values) => values.iter().for_each(|value| put(value, None)),
            Emitted::Summary { values, .. } => values.iter().for_each(|value| put(value, None)),
        }
    }
    let last = layout.elements.last().map_or(layout.array.start + 1, |range| range.end);
    inner.push_str(&text[last..layout.array.end - 1]);
    edits.replace(layout.array.start + 1..layout.array.end - 1, inner);
    let gone = layout.outside.as_ref().filter(|_| !outside_kept);
    let gone =
        gone.and_then(|(object, key)| Some((Json::check(&text.as_bytes()[object.clone()]).ok()?, key)));
    if let Some((object, key)) = gone {
        remove_field(text, &object.object(), key, &mut edits);
    }
    edits.apply(text)
}

/// Returns what stands between element `index` and the one before it (or the opening bracket).
fn gap<'a>(text: &'a str, layout: &Layout, index: usize) -> &'a str {
    let from = match index.checked_sub(1) {
        Some(before) => layout.elements[before].end,
        None => layout.array.start + 1,
    };
    let to = layout.elements.get(index).map_or(from, |range| range.start);
    &text[from..to]
}
