//! Histories that are only read: benchmark trajectories and meetings.

use longhaul_transcript::{
    Message, MessageId, Outcome, Part, Role, Speaker, Tokens, ToolCall, ToolResult, Transcript, Usage,
};

use crate::{
    Document, Format, Problem, WireError,
    dialect::Dialect,
    document::{Envelope, Layout, Slot, push_message},
    error::Fault,
    json::{Json, Object, quoted},
    lines,
    whole::syntax_error,
};

/// What was read so far.
#[derive(Default)]
struct Import {
    transcript: Transcript,
    envelope: Envelope,
    problems: Vec<Problem>,
}

pub(crate) fn read(format: Format, bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut import = Import::default();
    match format {
        Format::Pi | Format::Vcsum => import.lines(format, &bytes)?,
        _ => import.whole(format, &bytes)?,
    }
    let Import { transcript, envelope, problems } = import;
    let slots = transcript.entries().iter().map(|_| Slot { fragments: Vec::new() }).collect();
    Ok(Document { format, transcript, slots, layout: Layout::Import, envelope, problems, bytes })
}

/// Returns what was said between the compactions of a pi session.
pub(crate) fn pi_segments(bytes: &[u8]) -> Vec<Transcript> {
    let mut segments = Vec::new();
    let mut import = Import::default();
    for range in lines::split(bytes) {
        let Ok(Some(line)) = lines::check(&bytes[range], false) else { continue };
        let fields = line.object();
        if fields.text("type").as_deref() == Some("compaction") && !import.transcript.is_empty() {
            segments.push(std::mem::take(&mut import.transcript));
        }
        import.pi_line(&fields);
    }
    segments.push(import.transcript);
    segments.retain(|segment| !segment.is_empty());
    segments
}

impl Import {
    fn whole(&mut self, format: Format, bytes: &[u8]) -> Result<(), WireError> {
        let skip = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let json = Json::check(&bytes[skip..]).map_err(|flaw| syntax_error(&flaw, skip))?;
        let (keys, expected): (&[&str], _) = match format {
            Format::SweAgent => (&["history"], "a trajectory: an object with history"),
            Format::Meeting => (&["meeting_transcripts"], "a meeting: an object with meeting_transcripts"),
            _ => (&["traj", "messages", "history"], "a simulation: an object with messages or traj"),
        };
        let fields = json.object();
        let found = if json.is_array() { Some(json) } else { keys.iter().find_map(|key| fields.get(key)) };
        let Some(list) = found.filter(|list| list.is_array()) else {
            return Err(Fault::new("", json.raw(), expected).at("the document"));
        };
        for (index, element) in list.elements().into_iter().enumerate() {
            let read = match format {
                Format::SweAgent => self.swe_agent(element),
                Format::Meeting => self.meeting(element),
                _ => self.simulation(element),
            };
            read.map_err(|fault| fault.at(&format!("{}[{index}]", keys[0])))?;
        }
        Ok(())
    }

    /// tau-bench and tau2-bench: Chat Completions messages; in tau2 the simulated user has tools as well.
    fn simulation(&mut self, element: Json<'_>) -> Result<(), Fault> {
        let covered = self.last();
        let said = Dialect::OpenAi.read(element)?;
        let is_assistant = said.role == Role::Assistant;
        let parts: Vec<Part> = said.parts.into_iter().map(|located| located.part).collect();
        if parts.is_empty() {
            return Ok(());
        }
        self.push(Message { name: said.name, ..Message::new(said.role, parts) });
        if let (true, Some(covered), Some(usage)) = (is_assistant, covered, element.get("usage")) {
            let usage = usage.object();
            let tokens = |key| usage.get(key).and_then(Json::as_u64).map(Tokens);
            if let (Some(input), output) = (tokens("prompt_tokens"), tokens("completion_tokens")) {
                let output = output.unwrap_or_default();
                self.envelope.usages.push((covered, Usage { input, output, ..Usage::default() }));
            }
        }
        Ok(())
    }

    /// SWE-agent: what the agent does stands in `action`, what came of it in the next user message.
    fn swe_agent(&mut self, element: Json<'_>) -> Result<(), Fault> {
        const CALL: &str = "action";
        if element.get("tool_calls").is_some_and(|calls| !calls.is_null())
            || element.get("tool_call_ids").is_some()
        {
            return self.swe_agent_with_tools(element);
        }
        let fields = element.object();
        let content = text_of(fields.get("content"));
        let is_observation = fields.text("message_type").as_deref() == Some("observation")
            || fields.some("message_type").is_none()
                && self.transcript.entries().last().is_some_and(|last| last.message.role == Role::Assistant);
        let message = match fields.text("role").as_deref() {
            _ if fields.is_true("is_demo") => Message::system(content),
            Some("system") => Message::system(content),
            Some("assistant") => {
                let thought = fields.text("thought").filter(|thought| content.starts_with(&**thought));
                let action = fields.text("action").filter(|action| content.contains(action.trim_end()));
                match thought.zip(action) {
                    Some((thought, action)) => {
                        let arguments = format!("{{\"command\":{}}}", quoted(action.trim_end()));
                        let call = Part::ToolCall(ToolCall::function(CALL, "bash", arguments));
                        let said = Some(thought.trim_end()).filter(|thought| !thought.is_empty());
                        let said = said.map(|thought| Part::Text(thought.to_owned()));
                        Message::new(Role::Assistant, said.into_iter().chain([call]).collect())
                    }
                    None => Message::assistant(content),
                }
            }
            Some("user") if is_observation && self.is_waiting(CALL) => Message::new(
                Role::Tool,
                vec![Part::ToolResult(ToolResult::text(CALL, content, Outcome::Unstated))],
            ),
            Some("user" | "tool") => Message::user(content),
            _ => return Err(Fault::new("", element.raw(), "a message with its role")),
        };
        self.push(message);
        Ok(())
    }

    /// Newer trajectories carry calls and their ids.
    fn swe_agent_with_tools(&mut self, element: Json<'_>) -> Result<(), Fault> {
        let id = element.get("tool_call_ids").and_then(|ids| ids.elements().first()?.string());
        if let Some(id) = id {
            let content = text_of(element.get("content"));
            let result = Part::ToolResult(ToolResult::text(id, content, Outcome::Unstated));
            self.push(Message::new(Role::Tool, vec![result]));
            return Ok(());
        }
        let said = Dialect::OpenAi.read(element)?;
        self.push(Message::new(said.role, said.parts.into_iter().map(|located| located.part).collect()));
        Ok(())
    }

    /// QMSum: turns of named speakers.
    fn meeting(&mut self, element: Json<'_>) -> Result<(), Fault> {
        let turn = element.object();
        let (Some(speaker), Some(content)) = (turn.text("speaker"), turn.text("content")) else {
            return Err(Fault::new("", element.raw(), "a turn with speaker and content"));
        };
        self.push(Message::user(format!("{speaker}: {content}")));
        Ok(())
    }

    fn lines(&mut self, format: Format, bytes: &[u8]) -> Result<(), WireError> {
        let ranges = lines::split(bytes);
        let last = ranges.len().saturating_sub(1);
        for (at, range) in ranges.into_iter().enumerate() {
            match lines::check(&bytes[range], at == 0) {
                Ok(Some(line)) if format == Format::Vcsum => self.vcsum_line(&line.object()),
                Ok(Some(line)) => self.pi_line(&line.object()),
                Ok(None) => {}
                Err(flaw) => self.problems.push(lines::problem(at + 1, &flaw, at == last)),
            }
        }
        match self.transcript.is_empty() && !self.problems.is_empty() {
            false => Ok(()),
            true => Err(WireError::Shape {
                place: self.problems[0].place.clone(),
                found: self.problems[0].what.clone(),
                expected: "a file of lines, each one JSON object",
            }),
        }
    }

    /// VCSum: a segment of a meeting a line; its turns are lists of sentences.
    fn vcsum_line(&mut self, fields: &Object<'_>) {
        let turns = fields.get("context").map(Json::elements).unwrap_or_default();
        let speakers = fields.get("speaker").map(Json::elements).unwrap_or_default();
        for (speaker, turn) in speakers.into_iter().zip(turns) {
            let speaker = speaker.string().unwrap_or_else(|| speaker.raw().to_owned());
            let said: String = turn.elements().into_iter().filter_map(Json::string).collect();
            self.push(Message::user(format!("发言人{speaker}: {said}")));
        }
    }

    fn pi_line(&mut self, fields: &Object<'_>) {
        match fields.text("type").as_deref() {
            Some("session") => {
                let id = fields.text("id");
                self.envelope.session_id = id.and_then(|id| longhaul_transcript::SessionId::new(&id).ok());
                self.envelope.model = fields.text("modelId").map(|model| model.into_owned());
            }
            Some("model_change") => {
                self.envelope.model = fields.text("modelId").map(|model| model.into_owned());
            }
            Some("compaction") => {
                // What stands before it is no longer in the context; its summary is.
                let summary = fields.text("summary").unwrap_or_default().into_owned();
                self.transcript = Transcript::new();
                self.envelope.usages.clear();
                if !summary.is_empty() {
                    self.push(Message { speaker: Some(Speaker::Harness), ..Message::user(summary) });
                }
            }
            Some("message") => {
                if let Some(message) = fields.get("message").map(Json::object) {
                    self.pi_message(&message);
                }
            }
            _ => {}
        }
    }

    fn pi_message(&mut self, message: &Object<'_>) {
        let covered = self.last();
        let content = message.get("content");
        match message.text("role").as_deref() {
            Some("user") => self.push(Message::user(text_of(content))),
            Some("assistant") => {
                let blocks = content.map(Json::elements).unwrap_or_default();
                let parts: Vec<Part> = blocks.into_iter().filter_map(pi_block).collect();
                if parts.is_empty() {
                    return;
                }
                self.push(Message::new(Role::Assistant, parts));
                let usage = message.get("usage").map(Json::object);
                self.envelope.usages.extend(covered.zip(usage.as_ref().and_then(pi_usage)));
            }
            Some("toolResult") => {
                let outcome = match message.get("isError").map(Json::raw) {
                    Some("true") => Outcome::Failed,
                    Some("false") => Outcome::Succeeded,
                    _ => Outcome::Unstated,
                };
                let id = message.text("toolCallId").unwrap_or_default().into_owned();
                let result = ToolResult::text(id, text_of(content), outcome);
                self.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
            }
            Some("bashExecution") => {
                let text = |key| message.text(key).unwrap_or_default();
                let said = Message::user(format!("$ {}\n{}", text("command"), text("output")));
                self.push(Message { speaker: Some(Speaker::Harness), ..said });
            }
            _ => {}
        }
    }

    fn push(&mut self, message: Message) {
        push_message(&mut self.transcript, message);
    }

    fn last(&self) -> Option<MessageId> {
        self.transcript.entries().last().map(|entry| entry.id)
    }

    fn is_waiting(&self, call: &str) -> bool {
        let last = self.transcript.entries().last();
        last.is_some_and(|last| last.message.calls().any(|made| made.id.as_str() == call))
    }
}

fn pi_block(block: Json<'_>) -> Option<Part> {
    let fields = block.object();
    match &*fields.text("type")? {
        "text" => Some(Part::Text(fields.text("text")?.into_owned())),
        "toolCall" => {
            let arguments = fields.get("arguments").map_or("{}", Json::raw);
            Some(Part::ToolCall(ToolCall::function(&*fields.text("id")?, fields.text("name")?, arguments)))
        }
        "thinking" => {
            let sealed = fields.text("thinkingSignature").map_or(0, |signature| signature.len() as u64);
            Some(Part::Reasoning(longhaul_transcript::Reasoning {
                text: fields.text("thinking").unwrap_or_default().into_owned(),
                opaque_bytes: sealed,
                hash: longhaul_transcript::ContentHash::of(block.raw().as_bytes()),
            }))
        }
        kind => Some(crate::dialect::opaque(kind, block, None)),
    }
}

/// pi's figures are disjoint already. All zero means that nothing was reported.
fn pi_usage(usage: &Object<'_>) -> Option<Usage> {
    let tokens = |key| Tokens(usage.get(key).and_then(Json::as_u64).unwrap_or(0));
    let usage = Usage {
        input: tokens("input"),
        cache_read: tokens("cacheRead"),
        cache_write: tokens("cacheWrite"),
        output: tokens("output"),
        reasoning: Tokens::ZERO,
    };
    Some(usage).filter(|usage| usage.prompt_total() > Tokens::ZERO)
}

/// Returns a string, or the texts of a list of parts, joined with line feeds.
fn text_of(content: Option<Json<'_>>) -> String {
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
