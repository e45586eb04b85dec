//! Session files of Gemini CLI: newer ones a record a line, older ones one object with all of them. Import only.
//!
//! Source: [google-gemini/gemini-cli](https://github.com/google-gemini/gemini-cli), `packages/core/src/services`:
//! `chatRecordingTypes.ts` has the records, `chatRecordingService.ts` how a file of them is read, and `utils/sessionUtils.ts` what of
//! them is sent when a session is taken up again.

use std::{collections::HashMap, ops::Range};

use longhaul_transcript::{
    CallId, ContentHash, Outcome, Part, Reasoning, Role, SessionId, Tokens, ToolCall, ToolResult, Usage,
};

use super::{
    Spec,
    gemini::{self, read_part},
};
use crate::{
    Document, Format, WireError,
    detect::Claim,
    dialect::{Dialect, Said},
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    import::{Import, text_of},
    json::{Json, Object, tight},
    lines, whole,
};

pub(super) const SPEC: Spec = Spec {
    provider: Some("google"),
    is_lines: true,
    written_as: Format::Gemini,
    ..Spec::read_only(
        "gemini-cli",
        |head| (!head.is_array() && head.has("sessionId") && head.has("projectHash")).then_some(Claim::Own),
        read_file,
    )
};

static RECORD: Dialect =
    Dialect { format: Format::GeminiCli, read, spelling: None, outside: None, ..gemini::MESSAGE };

fn read_file(bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut import = Import::default();
    // A line that is an object is a record. Of one object that is spread over lines none is.
    let ranges = lines::split(&bytes);
    let is_record = |range: &Range<usize>| {
        let line = lines::check(&bytes[range.clone()], range.start == 0);
        line.ok().flatten().is_some_and(|line| line.is_object() && line.get("messages").is_none())
    };
    if ranges.iter().take(2).any(is_record) {
        read_lines(&mut import, &bytes, ranges);
    } else {
        read_whole(&mut import, &bytes)?;
    }
    Ok(import.document(Format::GeminiCli, bytes))
}

fn read_lines(import: &mut Import, bytes: &[u8], ranges: Vec<Range<usize>>) {
    let mut records = Records::default();
    let last = ranges.len().saturating_sub(1);
    for (at, range) in ranges.into_iter().enumerate() {
        match lines::check(&bytes[range], at == 0) {
            Ok(Some(json)) => records.note(json, at + 1, import),
            Ok(None) => {}
            Err(flaw) => import.problems.push(lines::problem(at + 1, &flaw, at == last)),
        }
    }
    for (record, line) in records.all {
        if let Err(fault) = say(import, bytes, record, line) {
            import.problems.push(fault.problem(&format!("line {line}")));
        }
    }
}

fn read_whole(import: &mut Import, bytes: &[u8]) -> Result<(), WireError> {
    let json = whole::value(bytes)?;
    let fields = json.object();
    let Some(messages) = fields.get("messages").filter(|messages| messages.is_array()) else {
        let expected = "a session of Gemini CLI: an object with sessionId and messages, or a record a line";
        return Err(Fault::new("", json.raw(), expected).at("the document"));
    };
    import.envelope.session_id = fields.text("sessionId").and_then(|id| SessionId::new(&id).ok());
    for (at, record) in messages.elements().into_iter().enumerate() {
        say(import, bytes, record, at).map_err(|fault| fault.at(&format!("messages[{at}]")))?;
    }
    Ok(())
}

/// The records of a file that are in force: a later one takes the place of one with the same id.
#[derive(Default)]
struct Records<'a> {
    /// Each with its line.
    all: Vec<(Json<'a>, usize)>,
    /// Which of them has an id.
    by_id: HashMap<String, usize>,
}

impl<'a> Records<'a> {
    fn note(&mut self, record: Json<'a>, line: usize, import: &mut Import) {
        let fields = record.object();
        if let Some(id) = fields.text("$rewindTo") {
            // Where nothing has the id, the agent takes all of it back.
            let from = self.by_id.get(&*id).copied().unwrap_or(0);
            self.all.truncate(from);
            self.by_id.retain(|_, at| *at < from);
        } else if let Some(id) = fields.text("id") {
            self.put(id.into_owned(), record, line);
        } else if let Some(changed) = fields.get("$set").map(Json::object) {
            // Whoever shortens the history writes down all of it.
            if let Some(messages) = changed.get("messages").map(Json::elements).filter(|all| !all.is_empty())
            {
                *self = Records::default();
                for message in messages {
                    let id = message.get("id").and_then(Json::string).unwrap_or_default();
                    self.put(id, message, line);
                }
            }
        } else if let Some(id) = fields.text("sessionId") {
            import.envelope.session_id = SessionId::new(&id).ok();
        } else {
            import.leave("line that is no record of this agent's".to_owned());
        }
    }

    fn put(&mut self, id: String, record: Json<'a>, line: usize) {
        match self.by_id.get(&id).and_then(|at| self.all.get_mut(*at)) {
            Some(before) => *before = (record, line),
            None => {
                self.by_id.insert(id, self.all.len());
                self.all.push((record, line));
            }
        }
    }
}

/// Adds what a record says; `at` is its place among its like.
fn say(import: &mut Import, file: &[u8], record: Json<'_>, at: usize) -> Result<(), Fault> {
    let fields = record.object();
    match fields.text("type").as_deref() {
        Some("user" | "gemini") => {}
        // Shown to the user, and never sent.
        Some(kind) => {
            import.leave(format!("message of type {kind}"));
            return Ok(());
        }
        None => return Err(Fault::new("", record.raw(), "a message with its type")),
    }
    let mut said = read(record)?;
    if said.role == Role::User && is_command(&text_of(fields.get("content"))) {
        import.leave("command to the agent".to_owned());
        return Ok(());
    }
    // Results stand with their calls, and newer files have them in a turn of the user's once more.
    let last = import.transcript.entries().last().map(|last| last.message.clone());
    let is_answered =
        |id: &CallId| last.iter().flat_map(|last| last.results()).any(|result| result.call_id == *id);
    said.parts.retain(|located| match &located.part {
        Part::ToolResult(result) => !is_answered(&result.call_id),
        _ => true,
    });
    let covered = import.last();
    import.push_record((file, record), at, &RECORD, &said);
    if said.role == Role::Assistant {
        if let Some(model) = fields.text("model") {
            import.envelope.model = Some(model.into_owned());
        }
        import.bill(covered, fields.get("tokens").map(usage).unwrap_or_default());
    }
    Ok(())
}

/// Returns whether what the user typed was a command, and no path that begins like one.
fn is_command(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word == "?"
        || word
            .strip_prefix('/')
            .is_some_and(|name| !name.is_empty() && name.chars().all(char::is_alphabetic))
}

/// Reads a message with the calls that it made and what came of them.
fn read(record: Json<'_>) -> Result<Said<'_>, Fault> {
    let fields = record.object();
    let mut said = Said::new(match fields.text("type").as_deref() {
        Some("gemini") => Role::Assistant,
        _ => Role::User,
    });
    if let Some(array) = fields.get("thoughts") {
        for (index, thought) in array.elements().into_iter().enumerate() {
            let home = Home::Element { array, index, element: thought, emptied: Emptied::Stays };
            said.push(Part::Reasoning(reasoning(thought)), home, Leaf::Fixed);
        }
    }
    let mut nameless = match fields.some("content") {
        Some(content) => read_content(content, &mut said)?,
        None => Vec::new(),
    };
    let calls = fields.get("toolCalls").map(Json::elements).unwrap_or_default();
    for call in &calls {
        read_call(&call.object(), &mut said, &mut nameless)?;
    }
    for call in &calls {
        read_result(&call.object(), &mut said);
    }
    Ok(said)
}

fn reasoning(thought: Json<'_>) -> Reasoning {
    let fields = thought.object();
    let said = ["subject", "description"].map(|key| fields.text(key).unwrap_or_default());
    Reasoning {
        text: said.join("\n").trim().to_owned(),
        opaque_bytes: 0,
        hash: ContentHash::of(thought.raw().as_bytes()),
    }
}

/// Reads a text, a part, or a list of such; returns which of the parts are calls without an id.
fn read_content<'a>(content: Json<'a>, said: &mut Said<'a>) -> Result<Vec<usize>, Fault> {
    let parts = if content.is_array() { content.elements() } else { vec![content] };
    let (mut seen, mut nameless) = (HashMap::new(), Vec::new());
    for (index, part) in parts.into_iter().enumerate() {
        let home = match content.is_array() {
            true => Home::Element { array: content, index, element: part, emptied: Emptied::Stays },
            false => Home::Whole,
        };
        match part.string() {
            Some(text) if text.is_empty() => {}
            Some(text) => said.push(Part::Text(text), home, Leaf::Text(part)),
            None if part.is_object() => {
                let located = read_part(part, home, said, &mut seen);
                let has_id = || part.get("functionCall").is_some_and(|call| call.get("id").is_some());
                if matches!(located.part, Part::ToolCall(_)) && !has_id() {
                    nameless.push(said.parts.len());
                }
                said.parts.push(located);
            }
            None => return Err(Fault::new("content", part.raw(), "a text, a part, or a list of such")),
        }
    }
    Ok(nameless)
}

/// Reads a call, unless the content has it, too: there it may be one of those without an id.
fn read_call<'a>(call: &Object<'a>, said: &mut Said<'a>, nameless: &mut Vec<usize>) -> Result<(), Fault> {
    let (Some(id), Some(name)) = (call.text("id"), call.text("name")) else {
        return Err(Fault::new("toolCalls", call.whole().raw(), "a call with id and name"));
    };
    let id = CallId::from(&*id);
    let is_said = |located: &Located<'_>| matches!(&located.part, Part::ToolCall(made) if made.id == id);
    if said.parts.iter().any(is_said) {
        return Ok(());
    }
    for (nth, at) in nameless.iter().enumerate() {
        if let Some(Located { part: Part::ToolCall(made), .. }) = said.parts.get_mut(*at)
            && made.name == name
        {
            made.id = id;
            nameless.remove(nth);
            return Ok(());
        }
    }
    let arguments = call.get("args");
    let made = ToolCall::function(
        &*call.text("id").unwrap_or_default(),
        name,
        arguments.map_or("{}".to_owned(), tight),
    );
    said.push(Part::ToolCall(made), Home::Whole, arguments.map_or(Leaf::Fixed, Leaf::Arguments));
    Ok(())
}

/// Reads what came of a call, where something did: responses among parts that a tool shows beside them.
fn read_result<'a>(call: &Object<'a>, said: &mut Said<'a>) {
    let Some(result) = call.some("result") else { return };
    let id = CallId::from(&*call.text("id").unwrap_or_default());
    let mut content = Vec::new();
    let mut outcome = match call.text("status").as_deref() {
        Some("success") => Outcome::Succeeded,
        Some("error" | "cancelled") => Outcome::Failed,
        _ => Outcome::Unstated,
    };
    for part in if result.is_array() { result.elements() } else { vec![result] } {
        if let Some(text) = part.string() {
            content.push(Part::Text(text));
            continue;
        }
        // The response to another call made with it may stand here as well.
        let named = part.get("functionResponse").and_then(|response| response.get("id")?.string());
        if !part.is_object() || named.is_some_and(|named| named != id.as_str()) {
            continue;
        }
        match read_part(part, Home::Whole, said, &mut HashMap::new()).part {
            Part::ToolResult(response) => {
                content.extend(response.content);
                if response.outcome == Outcome::Failed {
                    outcome = Outcome::Failed;
                }
            }
            other => content.push(other),
        }
    }
    said.push(Part::ToolResult(ToolResult { call_id: id, content, outcome }), Home::Whole, Leaf::Fixed);
}

/// Gemini counts what came from the cache with the input.
fn usage(tokens: Json<'_>) -> Usage {
    let count = |key| Tokens(tokens.get(key).and_then(Json::as_u64).unwrap_or(0));
    Usage {
        input: count("input") - count("cached") + count("tool"),
        cache_read: count("cached"),
        cache_write: Tokens::ZERO,
        output: count("output"),
        reasoning: count("thoughts"),
    }
}
