//! Codex CLI rollout files: items of the Responses API, one a line, among events that mirror them.
//!
//! The rules are those of `docs/wire-rules.md`; each is named where it is followed.

use std::ops::Range;

use longhaul_transcript::{MessageId, Part, Role, SessionId, Speaker, Tokens, Transcript, Usage};

use crate::{
    Document, Format, Problem, WireError,
    dialect::{Dialect, Said},
    document::{Envelope, Fragment, Layout, Slot, push},
    error::excerpt,
    formats::{INSTRUCTIONS, ROLLOUT, USER_TEXT},
    json::{Json, Object},
    lines,
};

/// A line, as far as writing needs to know it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its bytes, without the line break.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a line is to a reader of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The head of the file.
    Meta,
    /// The settings of a turn.
    Turn,
    /// An item; in old files the line itself.
    Item { is_bare: bool },
    /// The context was replaced here.
    Compacted,
    /// Turns were taken back here. Written again, it would take back what is kept.
    TakenBack,
    /// Anything else, the events that mirror items among it.
    Other,
}

/// An item of the context, and where it stands.
#[derive(Clone)]
struct Item<'a> {
    json: Json<'a>,
    said: Said<'a>,
    dialect: &'static Dialect,
    line: usize,
}

#[derive(Default)]
struct Replay<'a> {
    lines: Vec<Line>,
    instructions: Option<Item<'a>>,
    context: Vec<Item<'a>>,
    /// How many items at the start are known to stand before the first request.
    lead: usize,
    /// Where the model's latest words begin, and whether it is still speaking.
    speech: Option<usize>,
    is_speaking: bool,
    /// Reported usage, with the number of items it covers.
    usages: Vec<(usize, Usage)>,
    session_id: Option<SessionId>,
    model: Option<String>,
    problems: Vec<Problem>,
    /// The contexts before each compaction, as transcripts; kept for measurements only.
    segments: Option<Vec<Vec<Item<'a>>>>,
}

pub(crate) fn read(bytes: Vec<u8>) -> Result<Document, WireError> {
    let replay = replay(&bytes, false)?;
    let base = bytes.as_ptr() as usize;
    let mut transcript = Transcript::new();
    let mut slots = Vec::new();
    let mut ids: Vec<MessageId> = Vec::new();
    let lead = usize::from(replay.instructions.is_some());
    for item in replay.instructions.into_iter().chain(replay.context) {
        let start = item.json.raw().as_ptr() as usize - base;
        let range = start..start + item.json.raw().len();
        slots.push(Slot {
            fragments: vec![Fragment { range, dialect: item.dialect, at: item.line, step: None }],
        });
        ids.push(push(&mut transcript, item.said));
    }
    let covered = |(items, usage): (usize, Usage)| Some((*ids.get((items + lead).checked_sub(1)?)?, usage));
    let envelope = Envelope {
        session_id: replay.session_id,
        model: replay.model,
        tools: Vec::new(),
        usages: replay.usages.into_iter().filter_map(covered).collect(),
        ..Envelope::default()
    };
    let (lines, problems) = (replay.lines, replay.problems);
    Ok(Document {
        format: Format::Codex,
        transcript,
        slots,
        layout: Layout::Codex(lines),
        envelope,
        problems,
        bytes,
    })
}

/// Returns what was said between the agent's own compactions: for measurements.
pub(crate) fn segments(bytes: &[u8]) -> Vec<Transcript> {
    let Ok(replay) = replay(bytes, true) else { return Vec::new() };
    let segments = replay.segments.unwrap_or_default().into_iter().map(|items| {
        let mut transcript = Transcript::new();
        items.into_iter().for_each(|item| {
            push(&mut transcript, item.said);
        });
        transcript
    });
    segments.filter(|transcript| !transcript.is_empty()).collect()
}

/// Returns where the agent compacted: where each line begins that says so.
pub(crate) fn compactions(lines: &[Line]) -> Vec<usize> {
    lines.iter().filter(|line| line.kind == Kind::Compacted).map(|line| line.range.start).collect()
}

fn replay(bytes: &[u8], with_segments: bool) -> Result<Replay<'_>, WireError> {
    let ranges = lines::split(bytes);
    let last = ranges.iter().rposition(|range| !bytes[range.clone()].iter().all(u8::is_ascii_whitespace));
    let mut replay = Replay { segments: with_segments.then(|| vec![Vec::new()]), ..Replay::default() };
    let mut is_any = false;
    for (at, range) in ranges.into_iter().enumerate() {
        replay.lines.push(Line { range: range.clone(), kind: Kind::Other });
        match lines::check(&bytes[range], at == 0) {
            Ok(Some(json)) if json.is_object() => {
                is_any = true;
                replay.lines[at].kind = replay.line(at, json);
            }
            Ok(None) => {}
            Ok(Some(_)) => {
                let what = "no object; the line is carried, not read";
                replay.problems.push(Problem::new(format!("line {}", at + 1), what));
            }
            Err(flaw) => replay.problems.push(lines::problem(at + 1, &flaw, Some(at) == last)),
        }
    }
    match is_any {
        true => Ok(replay),
        false => Err(WireError::Shape {
            place: "line 1".to_owned(),
            found: excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(400)])),
            expected: "a Codex rollout file: one JSON object a line",
        }),
    }
}

impl<'a> Replay<'a> {
    fn line(&mut self, at: usize, json: Json<'a>) -> Kind {
        let fields = json.object();
        let payload = fields.get("payload").filter(|payload| payload.is_object());
        let kind = fields.text("type").unwrap_or_default();
        match (&*kind, payload) {
            ("session_meta", Some(payload)) => {
                self.meta(at, &payload.object());
                Kind::Meta
            }
            ("response_item", Some(payload)) => self.item(at, payload, false),
            ("turn_context", Some(payload)) => {
                self.model =
                    payload.object().text("model").map(|model| model.into_owned()).or(self.model.take());
                Kind::Turn
            }
            ("compacted", Some(payload)) => {
                self.compacted(at, &payload.object());
                Kind::Compacted
            }
            ("event_msg", Some(payload)) => self.event(&payload.object()),
            // no wrapper; the head has no type.
            ("", None) if self.lines.len() == 1 && fields.get("id").is_some() => {
                self.meta(at, &fields);
                Kind::Meta
            }
            ("", _) if fields.get("record_type").is_none() => {
                self.problems.push(Problem::new(format!("line {}", at + 1), lines::UNTYPED));
                Kind::Other
            }
            ("" | "compaction", None) => Kind::Other,
            (_, None) if fields.get("record_type").is_none() => self.item(at, json, true),
            _ => Kind::Other,
        }
    }

    fn meta(&mut self, at: usize, payload: &Object<'a>) {
        if self.session_id.is_some() || self.instructions.is_some() {
            return;
        }
        self.session_id = payload.text("id").and_then(|id| SessionId::new(&id).ok());
        let base = payload.some("base_instructions").and_then(|base| match base.is_string() {
            true => Some(base),
            false => base.get("text").filter(|text| text.is_string()),
        });
        let instructions = base.or_else(|| payload.some("instructions").filter(|text| text.is_string()));
        self.instructions = instructions.and_then(|json| {
            let said = (INSTRUCTIONS.read)(json).ok()?;
            Some(Item { json, said, dialect: &INSTRUCTIONS, line: at })
        });
    }

    fn item(&mut self, at: usize, json: Json<'a>, is_bare: bool) -> Kind {
        if json.get("type").and_then(Json::string).as_deref() == Some("ghost_snapshot") {
            return Kind::Other;
        }
        match (ROLLOUT.read)(json) {
            Ok(said) => {
                self.push(Item { json, said, dialect: &ROLLOUT, line: at });
                Kind::Item { is_bare }
            }
            Err(fault) => {
                self.problems.push(fault.problem(&format!("line {}: payload", at + 1)));
                Kind::Other
            }
        }
    }

    fn push(&mut self, item: Item<'a>) {
        if let Some(segment) = self.segments.as_mut().and_then(|segments| segments.last_mut()) {
            segment.push(item.clone());
        }
        match item.said.role {
            // The model's words begin here, or go on behind the results of what it asked for.
            Role::Assistant if !self.is_speaking => {
                self.speech = Some(self.context.len());
                self.is_speaking = true;
            }
            Role::Assistant => {}
            Role::Tool => self.is_speaking = false,
            _ => (self.speech, self.is_speaking) = (None, false),
        }
        self.context.push(item);
    }

    /// the history becomes the replacement, or is rebuilt around the summary.
    fn compacted(&mut self, at: usize, payload: &Object<'a>) {
        self.usages.clear();
        (self.speech, self.is_speaking) = (None, false);
        if let Some(segments) = &mut self.segments {
            segments.push(Vec::new());
        }
        if let Some(list) = payload.some("replacement_history").filter(|list| list.is_array()) {
            self.context.clear();
            self.lead = 0;
            for json in list.elements() {
                match (ROLLOUT.read)(json) {
                    Ok(said) => self.context.push(Item { json, said, dialect: &ROLLOUT, line: at }),
                    Err(fault) => {
                        self.problems.push(fault.problem(&format!("line {}: replacement_history", at + 1)));
                    }
                }
            }
            if let (Some(segment), Some(message)) =
                (self.segments.as_mut().and_then(|all| all.last_mut()), payload.get("message"))
            {
                segment.extend(summary(message, at));
            }
            return;
        }
        let is_request = |item: &Item<'_>| item.said.role == Role::User;
        while self.context.get(self.lead).is_some_and(|item| !is_request(item)) {
            self.lead += 1;
        }
        let rest = self.context.split_off(self.lead);
        // Codex keeps the latest user messages, up to 20,000 tokens; four bytes stand for a token there.
        let mut left = 80_000usize;
        let recent = rest.into_iter().rev().filter(is_request).take_while(|item| {
            let fits = left.checked_sub(item.json.raw().len());
            left = fits.unwrap_or(0);
            fits.is_some()
        });
        let recent: Vec<Item<'a>> = recent.collect();
        self.context.extend(recent.into_iter().rev());
        if let Some(item) = payload.get("message").and_then(|message| summary(message, at)) {
            self.push(item);
        }
    }

    fn event(&mut self, payload: &Object<'a>) -> Kind {
        match payload.text("type").as_deref() {
            // the last turns were taken back.
            Some("thread_rolled_back" | "thread_rollback") => {
                let turns = payload.get("num_turns").and_then(Json::as_u64).unwrap_or(0);
                for _ in 0..turns.min(self.context.len() as u64) {
                    match self.context.iter().rposition(|item| item.said.role == Role::User) {
                        Some(at) => {
                            self.context.truncate(at);
                            self.lead = self.lead.min(at);
                            (self.speech, self.is_speaking) = (None, false);
                        }
                        None => break,
                    }
                }
                let items = self.context.len();
                self.usages.retain(|(covered, _)| *covered <= items);
                return Kind::TakenBack;
            }
            // the figures of the last request. It covered what stands before the model's last words.
            Some("token_count") => {
                let Some(last) = payload.some("info").and_then(|info| info.get("last_token_usage")) else {
                    return Kind::Other;
                };
                let Some(start) = self.speech else { return Kind::Other };
                let usage = usage(&last.object());
                let is_news =
                    self.usages.last().is_none_or(|(covered, known)| *covered != start || *known != usage);
                if start > 0 && is_news {
                    self.usages.push((start, usage));
                }
            }
            _ => {}
        }
        Kind::Other
    }
}

fn summary(message: Json<'_>, line: usize) -> Option<Item<'_>> {
    let mut said = (USER_TEXT.read)(message).ok()?;
    said.speaker = Some(Speaker::Harness);
    let is_blank =
        said.parts.iter().all(|located| matches!(&located.part, Part::Text(text) if text.is_empty()));
    (!is_blank).then_some(Item { json: message, said, dialect: &USER_TEXT, line })
}

/// Reads OpenAI's usage, whose input and output include what came from the cache and went into reasoning.
fn usage(fields: &Object<'_>) -> Usage {
    let tokens = |key| Tokens(fields.get(key).and_then(Json::as_u64).unwrap_or(0));
    let (cached, reasoning) = (tokens("cached_input_tokens"), tokens("reasoning_output_tokens"));
    Usage {
        input: tokens("input_tokens") - cached,
        cache_read: cached,
        cache_write: Tokens::ZERO,
        output: tokens("output_tokens") - reasoning,
        reasoning,
    }
}
