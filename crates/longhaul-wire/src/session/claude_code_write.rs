//! Writing a Claude Code session file after something was taken out of its live context.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    io::Write,
};

use longhaul_transcript::ContentHash;

use super::claude_code::{Kind, Line};
use crate::{
    Document, WireError,
    edit::{Edits, remove_field, set_field},
    emitted::{Emitted, Rendered},
    json::{Json, quoted},
    lines,
};

/// Fields that every line of a session carries alike.
const SHARED: [&str; 7] = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"];

/// What a request cost, by the names of the file. For what is kept behind a summary all of it is nothing: it was billed with
/// what the summary stands for, and an agent that resumes the session would take its window for full.
const BILLED: [&str; 4] =
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];

/// Writes the lines that stay, in place, and new ones where they belong. Every line hangs on the one before it that
/// is still there, so that a reader who walks up from the end meets what was emitted and nothing else.
pub(crate) fn write(
    doc: &Document,
    lines: &[Line],
    emitted: &[Emitted<'_>],
    out: &mut impl Write,
) -> Result<(), WireError> {
    let mut plan = Plan::new(doc, lines, emitted);
    plan.keep_the_rest();
    let mut text: Vec<Cow<'_, [u8]>> = Vec::new();
    plan.emit(&mut text);
    let whole = if plan.has_summary { lines::without_cut(&text) } else { &text };
    lines::write(whole, doc.bytes.ends_with(b"\n") || whole.len() < text.len(), out)
}

struct Plan<'a> {
    doc: &'a Document,
    lines: &'a [Line],
    /// What becomes of each line; `None` for one that is left out.
    state: Vec<Option<State<'a>>>,
    /// What is new, by the conversation order of the line it stands before.
    fresh: BTreeMap<(usize, usize), Vec<&'a Emitted<'a>>>,
    has_summary: bool,
    /// The lines of the live context, in the order of the conversation.
    live: Vec<usize>,
}

#[derive(Clone, Copy)]
enum State<'a> {
    Same,
    /// Its message is replaced.
    Message(&'a str),
}

const END: (usize, usize) = (usize::MAX, usize::MAX);

impl<'a> Plan<'a> {
    fn new(doc: &'a Document, lines: &'a [Line], emitted: &'a [Emitted<'a>]) -> Plan<'a> {
        let mut state = vec![None; lines.len()];
        let mut fresh: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut before = END;
        for emitted in emitted.iter().rev() {
            match emitted {
                Emitted::Kept { n, rendered } => {
                    for (fragment, rendered) in doc.slots[*n].fragments.iter().zip(rendered).rev() {
                        state[fragment.at] = match rendered {
                            Rendered::Same => Some(State::Same),
                            Rendered::Changed(value) => Some(State::Message(value)),
                            Rendered::Gone => continue,
                        };
                        before = lines[fragment.at].order;
                    }
                }
                new => fresh.entry(before).or_default().push(new),
            }
        }
        fresh.values_mut().for_each(|new| new.reverse());
        let mut live: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].live.is_some()).collect();
        live.sort_by_key(|at| lines[*at].order);
        let has_summary = emitted.iter().any(|emitted| matches!(emitted, Emitted::Summary { .. }));
        Plan { doc, lines, state, fresh, has_summary, live }
    }

    /// Decides on the lines that are no messages: each shares the fate of the message before it.
    fn keep_the_rest(&mut self) {
        let first = self.lines.iter().position(|line| line.live.is_some());
        let mut is_kept = first.is_some_and(|first| self.state[first].is_some());
        for (at, line) in self.lines.iter().enumerate() {
            if line.live.is_some() {
                is_kept = self.state[at].is_some();
                continue;
            }
            let stays = match line.kind {
                // A message of the dead past, or of an abandoned branch; and what stands in the file already.
                Kind::Message | Kind::Again => false,
                Kind::Boundary => is_kept && !self.has_summary,
                Kind::Sidechain => is_kept && line.parent.is_none_or(|parent| self.state[parent].is_some()),
                Kind::Other => is_kept,
            };
            self.state[at] = stays.then_some(State::Same);
        }
    }

    fn emit(&self, out: &mut Vec<Cow<'a, [u8]>>) {
        let mut order: Vec<usize> = (0..self.lines.len()).filter(|at| self.state[*at].is_some()).collect();
        order.sort_by_key(|at| self.lines[*at].order);
        let nearest = self.nearest_kept();
        let names = self.names(&order);
        // In which run between new lines each line stands, once it is written; one hangs on a line of another run only
        // through the new ones.
        let mut run: Vec<Option<usize>> = vec![None; self.lines.len()];
        let mut runs = 0;
        let mut last_new: Option<String> = None;
        let mut last: Option<String> = None;
        // What was said last in this run, and the same for each line above it.
        let mut last_said: Option<usize> = None;
        let mut said_above: Vec<Option<usize>> = vec![None; self.lines.len()];
        let mut waiting = self.fresh.iter().peekable();
        if let Some(boundary) = self.boundary() {
            last_new = Some(boundary.0.clone());
            last = last_new.clone();
            out.push(boundary.1.into_bytes().into());
            runs += 1;
        }
        for at in order {
            let line = &self.lines[at];
            while let Some((_, new)) = waiting.next_if(|(place, _)| **place <= line.order) {
                self.emit_new(new, out, &mut last, line.order);
                last_new.clone_from(&last);
                last_said = None;
                runs += 1;
            }
            let mut parent = nearest[at].filter(|parent| run[*parent] == Some(runs));
            said_above[at] = parent.and_then(|parent| match &self.lines[parent] {
                // What a subagent's line hangs on is left as it is, and so not known.
                above if above.live.is_some() || above.kind == Kind::Sidechain => Some(parent),
                _ => said_above[parent],
            });
            // What hangs beside what was said last is found by what is there no more (C-05): it is hung on that.
            if line.live.is_some() && said_above[at] != last_said {
                (parent, said_above[at]) = (last_said, last_said);
            }
            let parent = parent.map_or(last_new.as_deref(), |parent| names[parent].as_deref());
            out.push(self.line(at, names[at].as_deref(), parent));
            run[at] = Some(runs);
            last_said = line.live.map(|_| at).or(last_said);
            if let Some(name) = names[at].as_deref().filter(|_| line.kind != Kind::Sidechain) {
                last = Some(name.to_owned());
            }
        }
        for (_, new) in waiting {
            self.emit_new(new, out, &mut last, END);
        }
    }

    /// Returns the id under which each line is written, in the order of writing: its own, but for one that another line has
    /// already. Who reads them takes the first for both (C-09), and what hangs on the second would be lost.
    fn names(&self, order: &[usize]) -> Vec<Option<Cow<'a, str>>> {
        let mut names = vec![None; self.lines.len()];
        let mut taken = HashSet::new();
        for at in order {
            let line = &self.lines[*at];
            names[*at] = match line.uuid.as_deref() {
                Some(uuid) if taken.insert(uuid) => Some(uuid.into()),
                None if line.live.is_none() => None,
                _ => {
                    let raw = &self.doc.bytes[line.range.clone()];
                    Some(derived_uuid(&[b"line", &at.to_le_bytes(), raw]).into())
                }
            };
        }
        names
    }

    /// Returns, for each line, the closest line above it that stays. Linear: each step is taken once.
    fn nearest_kept(&self) -> Vec<Option<usize>> {
        let mut nearest: Vec<Option<usize>> = vec![None; self.lines.len()];
        let mut is_known = vec![false; self.lines.len()];
        for start in 0..self.lines.len() {
            let mut path = Vec::new();
            let mut next = Some(start);
            let found = loop {
                let Some(at) = next.filter(|at| !is_known[*at]) else {
                    break next.and_then(|at| nearest[at]);
                };
                is_known[at] = true;
                path.push(at);
                match self.lines[at].parent {
                    Some(parent) if self.state[parent].is_some() && self.lines[parent].uuid.is_some() => {
                        break Some(parent);
                    }
                    parent => next = parent,
                }
            };
            path.into_iter().for_each(|at| nearest[at] = found);
        }
        nearest
    }

    /// Returns a kept line with its id, its message and its parent as they are now.
    fn line(&self, at: usize, uuid: Option<&str>, parent: Option<&str>) -> Cow<'a, [u8]> {
        let line = &self.lines[at];
        let bytes = &self.doc.bytes[line.range.clone()];
        let Ok(text) = std::str::from_utf8(bytes) else { return bytes.into() };
        let state = self.state[at];
        let mut edits = Edits::default();
        if let (Some(State::Message(value)), Some((entry, nth))) = (state, line.live) {
            let range = &self.doc.slots[entry].fragments[nth].range;
            let value = if self.has_summary { unbilled(value) } else { value.to_owned() };
            edits.replace(range.start - line.range.start..range.end - line.range.start, value);
        }
        let Ok(json) = Json::check(text.trim_start_matches('\u{feff}').as_bytes()) else {
            return bytes.into();
        };
        let fields = json.object();
        let now = parent.map_or("null".to_owned(), quoted);
        let named = fields.get("parentUuid").map_or("null", Json::raw);
        let ids = [
            ("uuid", uuid.filter(|uuid| line.uuid.as_deref() != Some(*uuid)).map(quoted)),
            ("parentUuid", Some(now).filter(|now| line.kind != Kind::Sidechain && now != named)),
        ];
        let mut missing = String::new();
        for (key, value) in ids.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            match fields.get(key) {
                Some(old) => edits.replace(old.range_in(text), value),
                None => missing += &format!("\"{key}\":{value},"),
            }
        }
        if !missing.is_empty() {
            let inside = json.range_in(text).start + 1;
            edits.replace(inside..inside, missing);
        }
        if let (true, Some(State::Same), Some(_)) = (self.has_summary, state, line.live) {
            set_unbilled(text, fields.get("message"), &mut edits);
        }
        if let (Kind::Boundary, Some(metadata)) = (line.kind, fields.get("compactMetadata")) {
            // What it kept stands and hangs where it is read (C-06), and some of the lines it names may be gone.
            remove_field(text, &metadata.object(), "preservedSegment", &mut edits);
        }
        if matches!(state, Some(State::Message(_))) {
            // The twin of a tool's result, which the model never saw, would contradict a digested one.
            remove_field(text, &fields, "toolUseResult", &mut edits);
        }
        edits.apply(text).into_bytes().into()
    }

    /// Returns the line that ends the past, with its id.
    fn boundary(&self) -> Option<(String, String)> {
        let (place, record) = self.fresh.iter().find_map(|(place, new)| {
            new.iter().find_map(|emitted| match emitted {
                Emitted::Summary { record, .. } => Some((*place, record)),
                _ => None,
            })
        })?;
        let model = self.model_line(place);
        let uuid = derived_uuid(&[b"boundary", record.id.as_str().as_bytes()]);
        let logical = model.and_then(|at| self.lines[at].uuid.as_deref()).map_or("null".to_owned(), quoted);
        let text = format!(
            "{{\"parentUuid\":null,\"logicalParentUuid\":{logical},\"isSidechain\":false,{}\"type\":\"system\",\"subtype\":\"compact_boundary\",\
             \"content\":\"Conversation compacted\",\"isMeta\":false,{}\"uuid\":\"{uuid}\",\"level\":\"info\",\
             \"compactMetadata\":{{\"trigger\":\"manual\",\"preTokens\":{}}}}}",
            self.shared(model, &SHARED),
            self.shared(model, &["timestamp"]),
            record.tokens_before.0
        );
        Some((uuid, text))
    }

    fn emit_new(
        &self,
        new: &[&Emitted<'_>],
        out: &mut Vec<Cow<'a, [u8]>>,
        last: &mut Option<String>,
        place: (usize, usize),
    ) {
        let model = self.model_line(place);
        for emitted in new {
            let (values, is_summary) = match emitted {
                Emitted::Summary { values, .. } => (values, true),
                Emitted::Fresh(values) => (values, false),
                Emitted::Kept { .. } => continue,
            };
            for value in values {
                let parent = last.as_deref().map_or("null".to_owned(), quoted);
                let uuid = derived_uuid(&[b"message", parent.as_bytes(), value.as_bytes()]);
                let is_assistant = value.starts_with("{\"role\":\"assistant\"");
                let kind = if is_assistant { "assistant" } else { "user" };
                let mark = match is_summary {
                    true => "\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true,",
                    false => "",
                };
                let line = format!(
                    "{{\"parentUuid\":{parent},\"isSidechain\":false,{}\"type\":\"{kind}\",\"message\":{value},{mark}\"uuid\":\"{uuid}\"{}}}",
                    self.shared(model, &SHARED),
                    self.stamp(model),
                );
                out.push(line.into_bytes().into());
                *last = Some(uuid);
            }
        }
    }

    /// Returns the live line before `place`: the last one that a summary there covers.
    fn model_line(&self, place: (usize, usize)) -> Option<usize> {
        let after = self.live.partition_point(|at| self.lines[*at].order < place);
        self.live.get(after.saturating_sub(1)).copied()
    }

    /// Returns the time as the line at `model` has it, with a comma before it.
    fn stamp(&self, model: Option<usize>) -> String {
        let stamp = self.shared(model, &["timestamp"]);
        stamp.strip_suffix(',').map_or(String::new(), |stamp| format!(",{stamp}"))
    }

    /// Returns `keys` as the line at `model` has them, each with a comma after it.
    fn shared(&self, model: Option<usize>, keys: &[&str]) -> String {
        let Some(model) = model else { return String::new() };
        let text = self.doc.raw(&self.lines[model].range);
        let Ok(json) = Json::check(text.trim_start_matches('\u{feff}').as_bytes()) else {
            return String::new();
        };
        let fields = json.object();
        let known = keys.iter().filter_map(|key| Some((key, fields.get(key)?)));
        known.map(|(key, value)| format!("\"{key}\":{},", value.raw())).collect()
    }
}

/// Returns a message without what was billed for it.
fn unbilled(message: &str) -> String {
    let mut edits = Edits::default();
    set_unbilled(message, Json::check(message.as_bytes()).ok(), &mut edits);
    edits.apply(message)
}

/// Takes out what was billed for the `message` in `text`.
fn set_unbilled(text: &str, message: Option<Json<'_>>, edits: &mut Edits) {
    let Some(usage) = message.and_then(|message| message.get("usage")) else { return };
    BILLED.iter().for_each(|key| set_field(text, usage, key, "0", edits));
}

fn derived_uuid(fields: &[&[u8]]) -> String {
    uuid_from(&ContentHash::of_fields(fields.iter().copied()))
}

/// Returns an id in the form of a UUID of version 8 (RFC 9562, 5.8), made from a hash and so the same every time.
pub(crate) fn uuid_from(hash: &ContentHash) -> String {
    let mut hex = hash.short(32);
    hex.replace_range(12..13, "8");
    hex.replace_range(16..17, ["8", "9", "a", "b"][usize::from(hash.0[8] >> 4 & 3)]);
    for at in [20, 16, 12, 8] {
        hex.insert(at, '-');
    }
    hex
}
