//! What a history holds beside what longhaul reads of it, told as lost where the other format does not have it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
};

use longhaul_transcript::{Message, Part, ToolResult};

use super::{Converted, losses::Losses};
use crate::{
    Document, Format,
    dialect::Said,
    document::Layout,
    edit::{Home, Leaf, Located},
    formats::gemini,
    json::Json,
    lines,
    media::{Data, Payload},
    raw::items_of,
};

/// Fields that say what kind of thing this is, or how it went: what was read is spelled the other format's way.
const KINDS: [&str; 7] = ["type", "role", "state", "status", "is_error", "error", "success"];

/// Tells what of `doc` is not in `converted`, where no part of a message stands for it.
pub(super) fn tell(doc: &Document, converted: &Converted, losses: &mut Losses) {
    let messages = doc.transcript.entries().iter().map(|entry| &*entry.message);
    let known = Known::of(messages, doc.model());
    let own = by_place(&converted.own);
    // Of what can only be imported the records are told by their kind, not the fields of each.
    let is_import = matches!(doc.layout, Layout::Import);
    for (at, slot) in doc.slots.iter().enumerate().filter(|_| !is_import) {
        // Of an answer in steps, all of it is looked at with the first.
        for fragment in slot.fragments.iter().filter(|_| doc.steps_of(at).start == at) {
            let Some((json, said)) = doc.fragment(fragment) else { continue };
            known.tell_fields(fragment.dialect.format, json, &said, own.get(&at).copied(), at, losses);
        }
    }
    match doc.layout {
        Layout::Whole(_) => beside_the_messages(doc, losses),
        Layout::Import => {
            losses.note("what the file holds beside what was said is left out");
            doc.envelope
                .left
                .iter()
                .for_each(|(what, count)| losses.note(format!("{count} x {what} left out")));
        }
        _ => lines_around(doc, losses),
    }
    if doc.session_id() != converted.document.session_id() && doc.session_id().is_some() {
        losses.note("the id of the session is left out");
    }
    if doc.model() != converted.document.model() {
        losses.note("the name of the model is left out");
    }
}

/// Returns what messages are spelled as, by their places.
pub(crate) fn by_place(own: &[(usize, String)]) -> HashMap<usize, &str> {
    own.iter().map(|(at, spelled)| (*at, spelled.as_str())).collect()
}

/// What is known of a history, so that a field which says it again is not lost.
pub(crate) struct Known<'a> {
    model: Option<&'a str>,
    /// The tools that calls were made to, by the ids of the calls.
    tools: HashMap<&'a str, &'a str>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(messages: impl Iterator<Item = &'a Message>, model: Option<&'a str>) -> Known<'a> {
        let tools = messages.flat_map(Message::calls).map(|call| (call.id.as_str(), call.name.as_str()));
        Known { model, tools: tools.collect() }
    }

    /// Tells the fields of message `at`, or of a part of it, that were not read and are not in what is written of it as it was
    /// spelled (`own`).
    pub(crate) fn tell_fields(
        &self,
        format: Format,
        json: Json<'_>,
        said: &Said<'_>,
        own: Option<&str>,
        at: usize,
        losses: &mut Losses,
    ) {
        let unread = match format {
            // Our own form has nothing that it would not write again.
            Format::Longhaul => Read::again(json),
            _ => Read::of(self, json, said).unread(json),
        };
        let mut kept = HashSet::new();
        for item in own.filter(|_| !unread.is_empty()).and_then(items_of).into_iter().flatten() {
            note_fields(item, &mut kept);
        }
        for (path, _) in unread.into_iter().filter(|(_, field)| !kept.contains(field)) {
            losses.field(path, at);
        }
    }
}

/// Notes the fields in `json`, those of fields included, each as it is spelled.
fn note_fields<'a>(json: Json<'a>, fields: &mut HashSet<&'a str>) {
    json.elements().into_iter().for_each(|element| note_fields(element, fields));
    for (key, value) in json.object().fields() {
        let end = value.range_in(json.raw()).end;
        fields.insert(&json.raw()[key.range_in(json.raw()).start..end]);
        note_fields(*value, fields);
    }
}

/// What was read of a message: the places of it, and what may stand in any.
struct Read<'a> {
    base: &'a str,
    /// In order; none lies in another.
    places: Vec<Range<usize>>,
    /// Blocks that are told as a whole where they are left out.
    blocks: HashSet<&'a str>,
    values: HashSet<String>,
}

impl<'a> Read<'a> {
    fn of(known: &Known<'_>, json: Json<'a>, said: &'a Said<'a>) -> Read<'a> {
        let mut read =
            Read { base: json.raw(), places: Vec::new(), blocks: HashSet::new(), values: HashSet::new() };
        said.parts.iter().for_each(|located| read.part(located, known));
        read.places.sort_unstable_by_key(|place| place.start);
        said.payloads.iter().for_each(|(_, payload)| read.payload(payload));
        read.values.extend(said.name.iter().map(|name| name.to_string()));
        read.values.extend(known.model.map(str::to_owned));
        // It stands in place of a signature, and is none.
        read.values.insert(gemini::UNCHECKED.to_owned());
        read
    }

    fn part(&mut self, located: &'a Located<'a>, known: &Known<'_>) {
        match &located.part {
            Part::Reasoning(_) | Part::Opaque(_) => match located.home {
                Home::Element { element, .. } => {
                    self.blocks.insert(element.raw());
                }
                Home::Field { object, key } => self.blocks.extend(object.get(key).map(Json::raw)),
                Home::Null(value) => {
                    self.blocks.insert(value.raw());
                }
                Home::Whole => {
                    self.blocks.insert(match &located.part {
                        Part::Opaque(opaque) => &opaque.raw.0,
                        _ => self.base,
                    });
                }
            },
            Part::ToolCall(call) => {
                self.values.extend([call.id.as_str().to_owned(), call.name.clone()]);
            }
            Part::ToolResult(ToolResult { call_id, .. }) => {
                self.values.insert(call_id.as_str().to_owned());
                self.values.extend(known.tools.get(call_id.as_str()).map(|tool| (*tool).to_owned()));
            }
            _ => {}
        }
        match &located.leaf {
            Leaf::Text(json) | Leaf::Arguments(json) | Leaf::Output(json) | Leaf::Call(json) => {
                self.places.push(json.range_in(self.base));
            }
            Leaf::Result { inner, .. } => inner.iter().for_each(|located| self.part(located, known)),
            Leaf::Fixed => {}
        }
    }

    /// Notes what is known of a picture or file; what the other format cannot say of it was told.
    fn payload(&mut self, payload: &Payload<'_>) {
        let (Data::Base64(data) | Data::Url(data) | Data::File(data)) = &payload.data;
        let format = payload.media_type.rsplit('/').next().unwrap_or_default();
        let known = [data, &payload.media_type.as_str().into(), &format.into(), &"auto".into()];
        self.values.extend(known.into_iter().map(|known| known.to_string()));
        let told = [&payload.detail, &payload.name].into_iter().flatten();
        self.values.extend(told.map(|told| told.to_string()));
        self.values.extend(payload.url());
    }

    /// Returns the fields of `json` that say something which was not read, by their paths, with their source.
    fn unread(&self, json: Json<'a>) -> Vec<(String, &'a str)> {
        let mut found = Vec::new();
        self.walk(json, "", &mut found);
        found
    }

    fn walk(&self, json: Json<'a>, path: &str, found: &mut Vec<(String, &'a str)>) {
        if self.blocks.contains(json.raw()) || self.place_in(json) == Some(&json.range_in(self.base)) {
            return;
        }
        json.elements().into_iter().for_each(|element| self.walk(element, path, found));
        for (key, value) in json.object().fields() {
            let name = key.text().unwrap_or_default();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            let is_nothing = matches!(value.raw(), "null" | "false" | "\"\"" | "[]" | "{}");
            let is_kind = KINDS.contains(&&*name) && !value.is_object() && !value.is_array();
            match self.has_some(*value) {
                true => self.walk(*value, &path, found),
                false if is_nothing || is_kind => {}
                false => {
                    let range = key.range_in(self.base).start..value.range_in(self.base).end;
                    found.push((path, &self.base[range]));
                }
            }
        }
    }

    /// Returns the first place in `json`.
    fn place_in(&self, json: Json<'a>) -> Option<&Range<usize>> {
        let range = json.range_in(self.base);
        let first = self.places.partition_point(|place| place.start < range.start);
        self.places.get(first).filter(|place| place.end <= range.end)
    }

    /// Returns whether something in `json` was read.
    fn has_some(&self, json: Json<'a>) -> bool {
        self.place_in(json).is_some()
            || self.blocks.contains(json.raw())
            || json.text().is_some_and(|text| self.values.contains(&*text))
            || json.elements().into_iter().any(|element| self.has_some(element))
            || json.object().fields().iter().any(|(_, value)| self.has_some(*value))
    }

    /// Returns the fields of one of longhaul's own messages that it would not write again.
    fn again(json: Json<'a>) -> Vec<(String, &'a str)> {
        let message = serde_json::from_str::<longhaul_transcript::Message>(json.raw()).ok();
        let written = message.and_then(|message| serde_json::to_string(&message).ok()).unwrap_or_default();
        let mut found = Vec::new();
        if let Ok(written) = Json::check(written.as_bytes()) {
            compare(json, written, "", &mut found);
        }
        found
    }
}

/// Finds the fields of `json` that `written` does not have.
fn compare<'a>(json: Json<'a>, written: Json<'_>, path: &str, found: &mut Vec<(String, &'a str)>) {
    let elements = json.elements().into_iter().zip(written.elements());
    elements.for_each(|(element, written)| compare(element, written, path, found));
    for (key, value) in json.object().fields() {
        let name = key.text().unwrap_or_default();
        let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        match written.get(&name) {
            Some(written) => compare(*value, written, &path, found),
            None => found.push((path, value.raw())),
        }
    }
}

/// Tells the fields of a request that say nothing of the messages.
fn beside_the_messages(doc: &Document, losses: &mut Losses) {
    let text = doc.raw(&(0..doc.bytes.len()));
    let Ok(json) = Json::check(text.trim_start_matches('\u{feff}').as_bytes()) else { return };
    let Layout::Whole(layout) = &doc.layout else { return };
    let session = doc.session_id();
    let is_read = |key: &str, value: Json<'_>| {
        let range = value.range_in(text);
        // Our own form has these, and no provider's request.
        let is_own = doc.format == Format::Longhaul && ["format", "version", "media"].contains(&key);
        let is_named = value.string().is_some_and(|text| {
            Some(&*text) == doc.model() || session.as_ref().is_some_and(|id| id.as_str() == text)
        });
        is_own
            || is_named
            || matches!(key, "tools" | "functions")
            || layout.places(doc).any(|place| *place == range)
    };
    let fields = json.object();
    let said = fields.fields().iter().filter(|(_, value)| !matches!(value.raw(), "null" | "[]" | "{}"));
    let names: Vec<String> =
        said.filter_map(|(key, value)| key.string().filter(|key| !is_read(key, *value))).collect();
    if !names.is_empty() {
        losses.note(format!("what stands beside the messages is left out: {}", names.join(", ")));
    }
}

/// Tells the lines of a session file that are no messages, and what the others hold around theirs.
fn lines_around(doc: &Document, losses: &mut Losses) {
    let fragments = doc.slots.iter().flat_map(|slot| &slot.fragments).map(|fragment| fragment.range.clone());
    let mut fragments: Vec<Range<usize>> = fragments.collect();
    fragments.sort_by_key(|range| range.start);
    let mut around: BTreeSet<String> = BTreeSet::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (nth, range) in lines::split(&doc.bytes).into_iter().enumerate() {
        let Ok(Some(line)) = lines::check(&doc.bytes[range.clone()], nth == 0) else { continue };
        let fields = line.object();
        let next = fragments.get(fragments.partition_point(|fragment| fragment.start < range.start));
        let Some(fragment) = next.filter(|fragment| fragment.end <= range.end) else {
            let kind = fields.text("type").unwrap_or("none".into());
            let inner = fields.text("subtype").map(|inner| inner.into_owned());
            let inner = inner.or_else(|| fields.get("payload")?.get("type")?.string());
            let inner = inner.map(|inner| format!("/{inner}")).unwrap_or_default();
            *kinds.entry(format!("{kind}{inner}")).or_default() += 1;
            continue;
        };
        let text = doc.raw(&(0..doc.bytes.len()));
        for (key, value) in fields.fields() {
            let place = value.range_in(text);
            let holds = place.start <= fragment.start && fragment.end <= place.end;
            let name = key.string().unwrap_or_default();
            if !holds && !value.is_null() && name != "type" {
                around.insert(name);
            }
        }
    }
    if !kinds.is_empty() {
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        losses.note(format!(
            "lines that are not in the history as it stands are left out: {}",
            kinds.join(", ")
        ));
    }
    if !around.is_empty() {
        let around: Vec<String> = around.into_iter().collect();
        losses.note(format!("what lines hold beside their messages is left out: {}", around.join(", ")));
    }
}
