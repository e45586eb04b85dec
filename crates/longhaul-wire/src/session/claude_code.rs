//! Claude Code session files: a tree of lines, of which one path is the live context.
//!
//! The rules C-01 to C-12 are those of `docs/wire-rules.md`; each is named where it is followed.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use longhaul_transcript::{CallId, Part, Role, SessionId, Speaker, Transcript};

use crate::{
    Document, Format, Problem, WireError,
    dialect::Said,
    document::{Envelope, Fragment, Layout, Slot, push},
    formats::ANTHROPIC,
    json::{Json, Object},
    lines,
};

/// A line, as far as writing needs to know it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its bytes, without the line break.
    pub(crate) range: Range<usize>,
    pub(crate) uuid: Option<Box<str>>,
    /// The line before it in the conversation, as the reader takes it.
    pub(crate) parent: Option<usize>,
    pub(crate) kind: Kind,
    /// Entry and fragment, for a line of the live context.
    pub(crate) live: Option<(usize, usize)>,
    /// Place in the conversation. Lines kept across a compaction stand after its summary, whatever the file's order.
    pub(crate) order: (usize, usize),
}

/// What a line is to a reader of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something said by a person, a tool or the model.
    Message,
    /// The agent compacted here.
    Boundary,
    /// Said to or by a subagent.
    Sidechain,
    /// What stands further up already: it counts there alone (C-09).
    Again,
    /// Anything else: carried, not read.
    Other,
}

/// A message line while the file is read.
struct Spoken<'a> {
    message: Json<'a>,
    fields: Object<'a>,
    is_assistant: bool,
    api_id: Option<String>,
    is_summary: bool,
    said: Said<'a>,
}

struct File<'a> {
    lines: Vec<Line>,
    spoken: HashMap<usize, Spoken<'a>>,
    by_uuid: HashMap<&'a str, usize>,
    parents: Vec<Option<&'a str>>,
    preserved: Option<Preserved>,
    session: Option<SessionId>,
    problems: Vec<Problem>,
}

/// What the last compaction kept verbatim: the lines from `head` to `tail`, to be read after `anchor` (C-06).
struct Preserved {
    head: String,
    anchor: String,
    tail: String,
}

pub(crate) fn read(bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut file = scan(&bytes)?;
    file.link();
    let live = file.live();
    let (transcript, slots, envelope) = file.assemble(&bytes, &live);
    let File { lines, problems, .. } = file;
    Ok(Document {
        format: Format::ClaudeCode,
        transcript,
        slots,
        layout: Layout::ClaudeCode(lines),
        envelope,
        problems,
        bytes,
    })
}

/// Returns what was said between the agent's own compactions, side branches of subagents apart: for measurements.
pub(crate) fn segments(bytes: &[u8]) -> Vec<Transcript> {
    let Ok(mut file) = scan(bytes) else { return Vec::new() };
    let mut segments = vec![Vec::new()];
    for (at, line) in file.lines.iter().enumerate() {
        let spoken = file.spoken.get(&at);
        let cuts = line.kind == Kind::Boundary || spoken.is_some_and(|spoken| spoken.is_summary);
        if cuts && segments.last().is_some_and(|segment: &Vec<usize>| !segment.is_empty()) {
            segments.push(Vec::new());
        }
        if let (Kind::Message, Some(segment)) = (line.kind, segments.last_mut()) {
            segment.push(at);
        }
    }
    let transcripts = segments.into_iter().map(|segment| {
        let mut transcript = Transcript::new();
        for group in file.group(&segment) {
            if let Some(said) = file.join(&group) {
                push(&mut transcript, said);
            }
        }
        transcript
    });
    transcripts.filter(|transcript| !transcript.is_empty()).collect()
}

/// Returns where the agent compacted, or began anew in the same file: where the line begins from which on it sees.
pub(crate) fn compactions(lines: &[Line]) -> Vec<usize> {
    let boundaries = lines.iter().enumerate().filter(|(_, line)| line.kind == Kind::Boundary);
    let mut starts: Vec<usize> = boundaries.map(|(at, _)| at).collect();
    starts.extend(began_anew(lines).filter(|root| !starts.contains(root)));
    starts.sort_unstable();
    starts.into_iter().map(|at| lines[at].range.start).collect()
}

/// Returns where the live context hangs on nothing, though something was said before: a plan that is carried out with a clear context.
fn began_anew(lines: &[Line]) -> Option<usize> {
    let mut root = lines.iter().position(|line| line.live.is_some())?;
    // No line has more lines above it than there are: what follows itself is damaged.
    for _ in 0..lines.len() {
        let Some(parent) = lines[root].parent else { break };
        root = parent;
    }
    // A first request that was typed once more before anybody answered is no conversation.
    let follows = |line: &Line| line.kind == Kind::Message && line.parent.is_some();
    let is_begun = lines[root].parent.is_none() && lines[root].kind != Kind::Boundary;
    (is_begun && lines[..root].iter().any(follows)).then_some(root)
}

/// Reads the lines, however long they are (C-11).
fn scan(bytes: &[u8]) -> Result<File<'_>, WireError> {
    let ranges = lines::split(bytes);
    let last = ranges.iter().rposition(|range| !bytes[range.clone()].iter().all(u8::is_ascii_whitespace));
    let mut file = File {
        lines: Vec::with_capacity(ranges.len()),
        spoken: HashMap::new(),
        by_uuid: HashMap::new(),
        parents: Vec::with_capacity(ranges.len()),
        preserved: None,
        session: None,
        problems: Vec::new(),
    };
    let mut is_any = false;
    for (at, range) in ranges.into_iter().enumerate() {
        let order = (at, 0);
        let mut line =
            Line { range: range.clone(), uuid: None, parent: None, kind: Kind::Other, live: None, order };
        let mut parent = None;
        match lines::check(&bytes[range], at == 0) {
            Ok(Some(json)) if json.is_object() => {
                is_any = true;
                let fields = json.object();
                line.kind = file.kind_of(at, &fields);
                line.uuid = fields.text("uuid").map(|uuid| (&*uuid).into());
                parent = fields.some("parentUuid").map(bare);
                if let Some(uuid) = fields.some("uuid").filter(|uuid| uuid.is_string()) {
                    // C-09: the first of two lines with one id wins.
                    let first = *file.by_uuid.entry(bare(uuid)).or_insert(at);
                    if first < at && file.says_the_same(first, at, &bytes[line.range.clone()], bytes) {
                        line.kind = Kind::Again;
                        file.spoken.remove(&at);
                        let what =
                            "it stands further up already, under the same uuid; it is read there alone";
                        file.problems.push(Problem::new(format!("line {}", at + 1), what));
                    }
                }
            }
            Ok(None) => {}
            // C-10: what is unknown is carried.
            Ok(Some(_)) => file
                .problems
                .push(Problem::new(format!("line {}", at + 1), "no object; the line is carried, not read")),
            // C-07: the last line may be half a line.
            Err(flaw) => file.problems.push(lines::problem(at + 1, &flaw, Some(at) == last)),
        }
        file.lines.push(line);
        file.parents.push(parent);
    }
    match is_any {
        true => Ok(file),
        false => Err(WireError::Shape {
            place: "line 1".to_owned(),
            found: crate::error::excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(400)])),
            expected: "a Claude Code session file: one JSON object a line",
        }),
    }
}

/// Returns a string's raw text without its quotes: ids hold no escapes, and two that do are told apart rightly.
fn bare(json: Json<'_>) -> &str {
    json.raw().trim_matches('"')
}

impl<'a> File<'a> {
    fn kind_of(&mut self, at: usize, fields: &Object<'a>) -> Kind {
        let kind = fields.text("type").unwrap_or_default();
        if fields.is_true("isSidechain") {
            return Kind::Sidechain;
        }
        if self.session.is_none() {
            self.session = fields.text("sessionId").and_then(|id| SessionId::new(&id).ok());
        }
        if kind == "system" && fields.text("subtype").as_deref() == Some("compact_boundary") {
            self.preserved = preserved(fields);
            return Kind::Boundary;
        }
        let Some(message) = fields.get("message").filter(|_| matches!(&*kind, "user" | "assistant")) else {
            // Kinds that are new here are carried in silence; what says something in another shape is no line of ours.
            let is_said_elsewhere = fields.get("payload").is_some()
                || fields.get("role").is_some() && fields.get("content").is_some();
            if kind.is_empty() || is_said_elsewhere {
                let what = if kind.is_empty() { lines::UNTYPED } else { lines::FOREIGN };
                self.problems.push(Problem::new(format!("line {}", at + 1), what));
            }
            return Kind::Other;
        };
        let parts = message.object();
        if fields.is_true("isApiErrorMessage") || parts.text("model").as_deref() == Some("<synthetic>") {
            return Kind::Other;
        }
        let mut said = match (ANTHROPIC.read)(message) {
            Ok(said) => said,
            Err(fault) => {
                self.problems.push(fault.problem(&format!("line {}: message", at + 1)));
                return Kind::Other;
            }
        };
        let continues = match said.parts.first().map(|located| &located.part) {
            Some(Part::Text(text)) => text.starts_with(CONTINUED),
            _ => false,
        };
        let is_summary = fields.is_true("isCompactSummary") || continues;
        said.speaker = if kind == "user" { speaker(fields, is_summary) } else { None };
        let spoken = Spoken {
            message,
            is_assistant: kind == "assistant",
            api_id: parts.text("id").map(|id| id.into_owned()),
            is_summary,
            fields: parts,
            said,
        };
        self.spoken.insert(at, spoken);
        Kind::Message
    }

    /// Returns whether the line `at`, which is `line`, is that of `first` once more. Forks write another session beside the same message.
    fn says_the_same(&self, first: usize, at: usize, line: &[u8], bytes: &[u8]) -> bool {
        let message = |at| self.spoken.get(&at).map(|spoken| spoken.message.raw());
        let is_equal = message(first).is_some() && message(first) == message(at);
        is_equal || bytes[self.lines[first].range.clone()] == *line
    }

    /// Finds the line that each line follows.
    fn link(&mut self) {
        let preserved = self.preserved.as_ref().and_then(|preserved| {
            let find = |uuid: &str| self.by_uuid.get(uuid).copied();
            let (head, anchor, tail) =
                (find(&preserved.head)?, find(&preserved.anchor)?, find(&preserved.tail)?);
            (head <= tail && tail < anchor).then_some((head, anchor, tail))
        });
        let mut before: Option<usize> = None;
        let mut ahead: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.lines.len() {
            let named = self.parents[at];
            let mut parent = named.and_then(|uuid| self.by_uuid.get(uuid).copied());
            if let (Some(uuid), None, Kind::Message) = (named, parent, self.lines[at].kind) {
                // A line that points out of the file: what stands before it is the best guess.
                parent = before;
                self.problems.push(Problem::new(
                    format!("line {}", at + 1),
                    format!(
                        "its parent {uuid} is not in the file; it is read as following the line before it"
                    ),
                ));
            }
            if self.lines[at].kind == Kind::Message {
                ahead.extend(parent.filter(|parent| *parent > at).map(|parent| (at, parent)));
            }
            if let Some((head, anchor, tail)) = preserved {
                if at == head {
                    parent = Some(anchor);
                } else if parent == Some(anchor) {
                    parent = Some(tail);
                }
                if (head..=tail).contains(&at) {
                    self.lines[at].order = (anchor, 1 + at - head);
                }
            }
            self.lines[at].parent = parent;
            if self.lines[at].uuid.is_some() && !matches!(self.lines[at].kind, Kind::Sidechain | Kind::Again)
            {
                before = Some(at);
            }
        }
        if let Some((at, parent)) = ahead.first() {
            let (others, stand) = match ahead.len() {
                1 => (String::new(), "stands"),
                n => (format!(" and {} others", n - 1), "stand"),
            };
            let what = format!(
                "this message{others} {stand} before the one that it follows (line {}): the lines are out of order, and only what \
                 leads to the last one is read",
                parent + 1
            );
            self.problems.push(Problem::new(format!("line {}", at + 1), what));
        }
    }

    /// Returns the lines of the live context, in the order of the conversation (C-04 to C-06).
    fn live(&self) -> Vec<usize> {
        let mut on_path = vec![false; self.lines.len()];
        let leaf = self.lines.iter().rposition(|line| line.kind == Kind::Message);
        let mut next = leaf;
        while let Some(at) = next.filter(|at| !on_path[*at]) {
            on_path[at] = true;
            next = self.lines[at].parent;
        }
        // C-05: what belongs to a message of the path but hangs beside it: its other lines, and their results. An
        // abandoned branch that repeats them hangs on nothing of the path, or answers what the path has answered.
        let mut api_ids: HashSet<&str> = HashSet::new();
        let mut answered: HashSet<&CallId> = HashSet::new();
        for spoken in
            on_path.iter().enumerate().filter_map(|(at, on_path)| self.spoken.get(&at).filter(|_| *on_path))
        {
            api_ids.extend(spoken.api_id.as_deref().filter(|_| spoken.is_assistant));
            answered.extend(spoken.results());
        }
        let said_before = self.said_before();
        let mut is_live = on_path;
        let mut calls: HashSet<&CallId> = HashSet::new();
        let mut live: Vec<usize> = Vec::new();
        for at in 0..self.lines.len() {
            let Some(spoken) = self.spoken.get(&at) else { continue };
            if !is_live[at] {
                let hangs_on = said_before[at].is_some_and(|before| is_live[before]);
                let belongs = match spoken.is_assistant {
                    true => spoken.api_id.as_deref().is_some_and(|id| api_ids.contains(id)),
                    false => spoken.results().any(|id| calls.contains(id) && !answered.contains(id)),
                };
                if !hangs_on || !belongs {
                    continue;
                }
                is_live[at] = true;
            }
            calls.extend(spoken.calls());
            answered.extend(spoken.results());
            live.push(at);
        }
        live.sort_by_key(|at| self.lines[*at].order);
        live
    }

    /// Returns, for each line, the closest message above it. A parent further down the file counts for nothing.
    fn said_before(&self) -> Vec<Option<usize>> {
        let mut before: Vec<Option<usize>> = Vec::with_capacity(self.lines.len());
        for (at, line) in self.lines.iter().enumerate() {
            let parent = line.parent.filter(|parent| *parent < at);
            before.push(parent.and_then(|parent| match self.lines[parent].kind {
                Kind::Message => Some(parent),
                _ => before[parent],
            }));
        }
        before
    }

    /// Joins the lines of one API message (C-01), in the order of their first lines.
    fn group(&self, live: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut open: Option<(&str, usize)> = None;
        for at in live {
            let Some(spoken) = self.spoken.get(at) else { continue };
            match (&spoken.api_id, open) {
                (Some(id), Some((last, group))) if spoken.is_assistant && last == id => {
                    groups[group].push(*at)
                }
                (id, _) => {
                    if spoken.is_assistant {
                        open = id.as_deref().map(|id| (id, groups.len()));
                    } else if !spoken.is_only_results() {
                        open = None;
                    }
                    groups.push(vec![*at]);
                }
            }
        }
        groups
    }

    /// Takes what the lines of a group say out of them.
    fn join(&mut self, group: &[usize]) -> Option<Said<'a>> {
        let mut said = Said::new(Role::User);
        for at in group {
            let line = &mut self.spoken.get_mut(at)?.said;
            said.role = line.role;
            said.speaker = said.speaker.or(line.speaker);
            said.parts.append(&mut line.parts);
        }
        Some(said)
    }

    fn assemble(&mut self, bytes: &[u8], live: &[usize]) -> (Transcript, Vec<Slot>, Envelope) {
        let base = bytes.as_ptr() as usize;
        let mut transcript = Transcript::new();
        let mut slots: Vec<Slot> = Vec::new();
        let mut envelope = Envelope { session_id: self.session.take(), ..Envelope::default() };
        for group in self.group(live) {
            let Some(said) = self.join(&group) else { continue };
            let covered = transcript.entries().last().map(|entry| entry.id);
            let mut fragments = Vec::with_capacity(group.len());
            for (nth, at) in group.iter().enumerate() {
                let Some(spoken) = self.spoken.get(at) else { continue };
                self.lines[*at].live = Some((slots.len(), nth));
                let raw = spoken.message.raw();
                let start = raw.as_ptr() as usize - base;
                fragments.push(Fragment {
                    range: start..start + raw.len(),
                    dialect: &ANTHROPIC,
                    at: *at,
                    step: None,
                });
            }
            // C-02: once per message, the last line's figures.
            if let Some(last) =
                group.last().and_then(|at| self.spoken.get(at)).filter(|last| last.is_assistant)
            {
                // The output of a line is often that of the first event of a stream (C-03): no measurement.
                let usage = last.fields.some("usage").and_then(|counts| (ANTHROPIC.usage?.read)(counts));
                envelope.usages.extend(covered.zip(usage));
                envelope.model = last.fields.text("model").map(|model| model.into_owned()).or(envelope.model);
            }
            push(&mut transcript, said);
            slots.push(Slot { fragments });
        }
        (transcript, slots, envelope)
    }
}

fn preserved(boundary: &Object<'_>) -> Option<Preserved> {
    let segment = boundary.get("compactMetadata")?.get("preservedSegment")?.object();
    let text = |key| segment.text(key).map(|uuid| uuid.into_owned());
    Some(Preserved { head: text("headUuid")?, anchor: text("anchorUuid")?, tail: text("tailUuid")? })
}

impl Spoken<'_> {
    fn calls(&self) -> impl Iterator<Item = &CallId> {
        self.said.parts.iter().filter_map(|located| match &located.part {
            Part::ToolCall(call) => Some(&call.id),
            _ => None,
        })
    }

    fn results(&self) -> impl Iterator<Item = &CallId> {
        self.said.parts.iter().filter_map(|located| match &located.part {
            Part::ToolResult(result) => Some(&result.call_id),
            _ => None,
        })
    }

    fn is_only_results(&self) -> bool {
        let count = self.results().count();
        count > 0 && count == self.said.parts.len()
    }
}

/// Who speaks on a line in the user's role, as far as the fields beside the message tell. A line of results says nothing.
fn speaker(fields: &Object<'_>, is_summary: bool) -> Option<Speaker> {
    if is_summary || fields.is_true("isMeta") || fields.is_true("isSynthetic") {
        return Some(Speaker::Harness);
    }
    let kind = fields.get("origin").and_then(|origin| origin.get("kind")?.string());
    match (kind.as_deref(), fields.text("promptSource").as_deref()) {
        (Some("human"), _) | (None, Some("typed" | "queued")) => Some(Speaker::Person),
        (Some("task-notification" | "channel"), _) | (None, Some("system")) => Some(Speaker::Harness),
        (Some("teammate" | "peer" | "agent"), _) => Some(Speaker::SubAgent),
        _ => None,
    }
}

/// How the agent begins the first message after a compaction; older versions have no mark on the line.
const CONTINUED: &str = "This session is being continued from a previous conversation";
