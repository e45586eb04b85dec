//! Histories that are one JSON value: a list of messages, bare or inside a request body.

use std::ops::Range;

use longhaul_transcript::{SessionId, Transcript};

use crate::{
    Document, Format, Problem, WireError,
    dialect::{Dialect, Said},
    document::{self, Envelope, Fragment, Slot, push},
    edit::{Edits, remove_field},
    emitted::{Emitted, Rendered},
    error::Fault,
    json::{Flaw, Json, Object},
    lines,
};

/// Where the list stands, and the one message that may stand outside it.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The array, brackets included; all that stands in the file where it has a message a line.
    list: Range<usize>,
    /// What stands between the brackets.
    inside: Range<usize>,
    pub(crate) is_by_line: bool,
    elements: Vec<Range<usize>>,
    /// The object and the key of the system prompt: entry 0.
    outside: Option<(Range<usize>, &'static str)>,
}

impl Layout {
    /// Returns where the list stands, brackets included.
    pub(crate) fn list(&self) -> Range<usize> {
        self.list.clone()
    }

    /// Returns the places of what was read: the list, and what stands outside of it.
    pub(crate) fn places<'d>(&'d self, doc: &'d Document) -> impl Iterator<Item = &'d Range<usize>> {
        let outside = doc.slots.iter().flat_map(|slot| &slot.fragments).filter(|one| one.at == usize::MAX);
        std::iter::once(&self.list).chain(outside.map(|one| &one.range))
    }
}

/// What distinguishes one format's body from another's.
#[derive(Debug)]
pub(crate) struct Body {
    /// The fields that may hold the list, where the document is not the list itself.
    pub(crate) lists: &'static [&'static str],
    /// What to say that was expected where there is no list.
    pub(crate) expected: &'static str,
    /// The fields that may hold standing instructions, in the dialect that `dialect` has for these.
    pub(crate) outside: &'static [&'static str],
    pub(crate) dialect: &'static Dialect,
    /// Whether a file may have one message a line.
    pub(crate) takes_lines: bool,
    /// How a bare string is read that stands in the place of the list.
    pub(crate) text: Option<&'static Dialect>,
    /// The fields that may name the session.
    pub(crate) session: &'static [&'static str],
    /// Fails for a document that is not for this version.
    pub(crate) check: fn(&Object<'_>) -> Result<(), WireError>,
}

pub(crate) fn read(format: Format, body: &Body, bytes: Vec<u8>) -> Result<Document, WireError> {
    if let Some((elements, problems)) = by_line(&bytes).filter(|_| body.takes_lines) {
        whole_utf8(&bytes)?;
        let (transcript, slots) = say(&bytes, None, &elements, body.dialect)?;
        let elements: Vec<_> = elements.into_iter().map(|element| element.range_in(&bytes)).collect();
        let list = elements[0].start..bytes.len();
        let layout = Layout { inside: list.clone(), list, is_by_line: true, elements, outside: None };
        let (layout, envelope) = (document::Layout::Whole(layout), Envelope::default());
        return Ok(Document { format, transcript, slots, layout, envelope, problems, bytes });
    }
    let json = value(&bytes).map_err(|error| body.several(&bytes).unwrap_or(error))?;
    let found = body.find(json)?;
    let mut envelope = Envelope::default();
    if json.is_object() {
        let fields = json.object();
        envelope.model = fields.text("model").map(|model| model.into_owned());
        let tools = fields.some("tools").or_else(|| fields.some("functions")).map(Json::elements);
        let session = body.session.iter().find_map(|key| fields.text(key));
        envelope.session_id = session.and_then(|id| SessionId::new(&id).ok());
        envelope.tools =
            tools.unwrap_or_default().into_iter().map(|tool| tool.compact().into_owned()).collect();
    }
    // A bare string is one message of the user.
    let is_text = found.list.is_string();
    let (elements, dialect) = match body.text.filter(|_| is_text) {
        Some(dialect) => (vec![found.list], dialect),
        None => (found.list.elements(), body.dialect),
    };
    let (transcript, slots) = say(&bytes, found.outside, &elements, dialect)?;
    let at = |part: Json<'_>| part.range_in(&bytes);
    let list = at(found.list);
    let layout = Layout {
        inside: list.start + 1..list.end - 1,
        list,
        is_by_line: false,
        elements: elements.into_iter().map(at).collect(),
        outside: found.outside.map(|(key, ..)| (at(json), key)),
    };
    let layout = match is_text {
        // One message: there is nothing to take out of it.
        true => document::Layout::Import,
        false => document::Layout::Whole(layout),
    };
    Ok(Document { format, transcript, slots, layout, envelope, problems: Vec::new(), bytes })
}

type Outside<'a> = (&'static str, &'static Dialect, Json<'a>);

/// Returns what was said, and where it stands.
fn say(
    bytes: &[u8],
    outside: Option<Outside<'_>>,
    elements: &[Json<'_>],
    dialect: &'static Dialect,
) -> Result<(Transcript, Vec<Slot>), WireError> {
    let mut transcript = Transcript::new();
    let mut slots = Vec::new();
    let mut add = |said: Said<'_>, dialect, value: Json<'_>, index| {
        let steps = said.of_steps();
        let is_one = steps.len() == 1;
        for step in steps {
            push(&mut transcript, Said { parts: said.parts[step.clone()].to_vec(), ..said.clone() });
            let step = (!is_one).then_some(step);
            let range = value.range_in(bytes);
            slots.push(Slot { fragments: vec![Fragment { range, dialect, at: index, step }] });
        }
    };
    if let Some((key, dialect, value)) = outside {
        let said = (dialect.read)(value).map_err(|fault| fault.at(key))?;
        add(said, dialect, value, usize::MAX);
    }
    for (index, element) in elements.iter().enumerate() {
        let said = (dialect.read)(*element).map_err(|fault| fault.at(&format!("message {index}")))?;
        add(said, dialect, *element, index);
    }
    Ok((transcript, slots))
}

/// The list of messages, and the standing instructions outside of it: their field, how they are spelled, and they.
struct Found<'a> {
    list: Json<'a>,
    outside: Option<Outside<'a>>,
}

impl Body {
    /// Returns what to say of a file that has one history a line.
    fn several(&self, bytes: &[u8]) -> Option<WireError> {
        let lines = lines::split(bytes).into_iter();
        let mut lines = lines.filter_map(|range| lines::check(&bytes[range], false).transpose());
        let is_one = |line: Result<Json<'_>, _>| line.is_ok_and(|json| self.find(json).is_ok());
        (is_one(lines.next()?) && is_one(lines.next()?)).then(|| WireError::Shape {
            place: "line 2".to_owned(),
            found: "another history".to_owned(),
            expected: "one in a file, and here stands one a line: `sed -n 2p FILE` takes the second out",
        })
    }

    fn find<'a>(&self, json: Json<'a>) -> Result<Found<'a>, WireError> {
        let fields = json.object();
        (self.check)(&fields)?;
        let list = match json.is_array() {
            true => Some(json),
            false => self.lists.iter().find_map(|key| fields.get(key)),
        };
        let named = self.lists.first().and_then(|key| fields.get(key));
        let is_text = |list: &Json<'_>| self.text.is_some() && named.is_some() && list.is_string();
        let list = list.filter(|list| list.is_array() || is_text(list));
        let list = list.ok_or_else(|| Fault::new("", json.raw(), self.expected).at("the document"))?;
        let outside = self.dialect.outside.and_then(|outside| {
            self.outside.iter().find_map(|key| Some((*key, outside.dialect, fields.some(key)?)))
        });
        Ok(Found { list, outside })
    }
}

/// Returns the one JSON value that a file is; a byte order mark may lead.
pub(crate) fn value(bytes: &[u8]) -> Result<Json<'_>, WireError> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Json::check(text).map_err(|flaw| syntax_error(&flaw, bytes.len() - text.len()))
}

/// Fails where a file of lines is not UTF-8: a line that is carried goes out as it came in.
fn whole_utf8(bytes: &[u8]) -> Result<(), WireError> {
    let Err(error) = std::str::from_utf8(bytes) else { return Ok(()) };
    let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    Err(WireError::Syntax {
        place: format!("line {line}, byte {}", before.len() - start),
        what: "this is not UTF-8".to_owned(),
        expected: "one message a line, in UTF-8",
    })
}

/// Returns the messages of a file that has one a line, and what is wrong with other lines; `None` for any other file.
pub(crate) fn by_line(bytes: &[u8]) -> Option<(Vec<Json<'_>>, Vec<Problem>)> {
    // A large file of one line that is a list or a request is not parsed here first.
    if memchr::memchr(b'\n', bytes.trim_ascii_end()).is_none() && !begins_as_message(bytes) {
        return None;
    }
    let (mut messages, mut problems) = (Vec::new(), Vec::new());
    let lines = lines::split(bytes);
    let last = lines.len().saturating_sub(1);
    for (at, range) in lines.into_iter().enumerate() {
        match lines::check(&bytes[range], at == 0) {
            Ok(None) => {}
            Ok(Some(json)) if json.get("role").is_some() => messages.push(json),
            _ if messages.is_empty() => return None,
            Ok(Some(_)) => problems.push(Problem::new(format!("line {}", at + 1), lines::NO_MESSAGE)),
            Err(flaw) => problems.push(lines::problem(at + 1, &flaw, at == last)),
        }
    }
    (!messages.is_empty()).then_some((messages, problems))
}

/// Returns whether a file of one line begins with the role of a message.
fn begins_as_message(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let Some(inside) = text.strip_prefix(b"{") else { return false };
    let keys = [&b"\"role\""[..], b"\"content\""];
    keys.iter().any(|key| inside.trim_ascii_start().starts_with(key))
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
    let mut written = vec![0; layout.elements.len()];
    // The first gap that has not been written: lines that no message is are carried, whatever becomes of those around them.
    let mut carried = 1;
    let mut put = |value: &str, index: Option<usize>| {
        let passed = index.filter(|_| layout.is_by_line).map_or(carried..carried, |index| carried..index + 1);
        let strays: Vec<&str> = passed.clone().flat_map(|index| strays(gap(text, layout, index))).collect();
        carried = passed.end.max(carried);
        let is_next = before.is_some_and(|last| Some(last + 1) == index);
        let between = match index {
            // The first one written takes the blanks that the first one had.
            _ if inner.is_empty() => gap(text, layout, 0).trim_start_matches(','),
            Some(index) if is_next => gap(text, layout, index),
            _ if layout.is_by_line => "\n",
            _ if layout.elements.len() > 1 => gap(text, layout, 1),
            _ => ",",
        };
        let is_first = inner.is_empty();
        inner.push_str(between);
        if is_first || !is_next {
            strays.iter().for_each(|line| inner.extend([line, "\n"]));
        }
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
                    Rendered::Changed(value) if fragment.step.is_some() => {
                        put(&(fragment.dialect.with_steps)(value, written[fragment.at]), Some(fragment.at));
                        written[fragment.at] += 1;
                    }
                    Rendered::Changed(value) => put(value, Some(fragment.at)),
                    Rendered::Gone => {}
                }
            }
            Emitted::Fresh(values) => values.iter().for_each(|value| put(value, None)),
            Emitted::Summary { values, .. } => values.iter().for_each(|value| put(value, None)),
        }
    }
    if layout.is_by_line {
        let rest = (carried..layout.elements.len()).flat_map(|index| strays(gap(text, layout, index)));
        rest.for_each(|line| inner.extend(["\n", line]));
    }
    let last = layout.elements.last().map_or(layout.inside.start, |range| range.end);
    inner.push_str(&text[last..layout.inside.end]);
    edits.replace(layout.inside.clone(), inner);
    let gone = layout.outside.as_ref().filter(|_| !outside_kept);
    let gone =
        gone.and_then(|(object, key)| Some((Json::check(&text.as_bytes()[object.clone()]).ok()?, key)));
    if let Some((object, key)) = gone {
        remove_field(text, &object.object(), key, &mut edits);
    }
    edits.apply(text)
}

/// Returns the lines between two messages that have a line each.
fn strays(gap: &str) -> impl Iterator<Item = &str> {
    gap.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns what stands between element `index` and the one before it (or the opening bracket).
fn gap<'a>(text: &'a str, layout: &Layout, index: usize) -> &'a str {
    let from = match index.checked_sub(1) {
        Some(before) => layout.elements[before].end,
        None => layout.inside.start,
    };
    let to = layout.elements.get(index).map_or(from, |range| range.start);
    &text[from..to]
}
