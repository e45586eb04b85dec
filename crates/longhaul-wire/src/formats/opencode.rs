//! Sessions of opencode as `opencode export` writes them: an object with what the session is and its messages, each with its
//! parts. On disk they stand apart, in files or in a database. Import only.
//!
//! Source: [anomalyco/opencode](https://github.com/anomalyco/opencode) (sst/opencode before), `packages/opencode/src`:
//! `cli/cmd/export.ts`, and `session/message-v2.ts` for the messages and for what of them is sent.

use std::ops::Range;

use longhaul_transcript::{
    ContentHash, Outcome, Part, Reasoning, Role, SessionId, Speaker, Tokens, ToolCall, ToolResult, Usage,
};

use super::{OPENAI, Spec};
use crate::{
    Document, Format, WireError,
    detect::Claim,
    dialect::{Dialect, Said, opaque},
    edit::{Emptied, Home, Leaf, Located},
    error::Fault,
    import::Import,
    json::{Json, Object, tight},
    media::{Payload, kind_of},
    whole,
};

pub(super) const SPEC: Spec = Spec::read_only(
    "opencode",
    |head| {
        let is_one = !head.is_array() && head.has("info.id") && head.has_any(&["messages", "info.projectID"]);
        is_one.then_some(Claim::Own)
    },
    read_file,
);

static MESSAGE: Dialect = Dialect { format: Format::Opencode, read, spelling: None, outside: None, ..OPENAI };

/// Parts that say what the agent does, and nothing to the model. Of an agent that is named a text says so as well.
const DOINGS: [&str; 5] = ["step-finish", "snapshot", "patch", "retry", "agent"];

fn read_file(bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut import = Import::default();
    let json = whole::value(&bytes)?;
    let fields = json.object();
    let (Some(info), Some(messages)) = (
        fields.get("info").filter(|info| info.is_object()),
        fields.get("messages").filter(|messages| messages.is_array()),
    ) else {
        let expected = "a session of opencode: an object with info and messages";
        return Err(Fault::new("", json.raw(), expected).at("the document"));
    };
    let info = info.object();
    import.envelope.session_id = info.text("id").and_then(|id| SessionId::new(&id).ok());
    import.envelope.folder = info.text("directory").map(|folder| folder.into_owned());
    let messages = messages.elements();
    let reverted = reverted(&messages, &info).unwrap_or((messages.len(), 0));
    let in_force = in_force(&messages, reverted);
    for (at, message) in messages.into_iter().enumerate() {
        if at < in_force.start {
            import.leave("message that a summary of the agent's stands for".to_owned());
        } else if at >= in_force.end {
            import.leave("message that was taken back".to_owned());
        } else {
            let parts = if at == reverted.0 { reverted.1 } else { usize::MAX };
            say(&mut import, &bytes, (message, parts), at)
                .map_err(|fault| fault.at(&format!("messages[{at}]")))?;
        }
    }
    Ok(import.document(Format::Opencode, bytes))
}

/// Returns the message that the user went back to, and how many of its parts stay: those before the one that is named.
fn reverted(messages: &[Json<'_>], session: &Object<'_>) -> Option<(usize, usize)> {
    let revert = session.get("revert")?.object();
    let named = revert.text("messageID")?;
    let has_id = |json: &Json<'_>, id: &str| json.get("id").and_then(Json::text).as_deref() == Some(id);
    let at = messages.iter().position(|message| has_id(&message.get("info").unwrap_or(*message), &named))?;
    let Some(part) = revert.text("partID") else { return Some((at, 0)) };
    let parts = messages[at].get("parts").map(Json::elements).unwrap_or_default();
    Some((at, parts.iter().position(|one| has_id(one, &part)).unwrap_or(usize::MAX)))
}

/// Returns which messages the agent would send: from its newest summary on, with what that leaves as it was said, up to where
/// the user went back to.
fn in_force(messages: &[Json<'_>], (last, parts_of_it): (usize, usize)) -> Range<usize> {
    let infos: Vec<Object<'_>> =
        messages.iter().map(|message| message.get("info").unwrap_or(*message).object()).collect();
    let at = |id: &str| infos.iter().position(|info| info.text("id").as_deref() == Some(id));
    let end = last + usize::from(parts_of_it > 0);
    let summary = infos[..end].iter().rfind(|info| {
        info.is_true("summary") && info.some("finish").is_some() && info.some("error").is_none()
    });
    let asked = summary.and_then(|summary| at(&summary.text("parentID")?)).filter(|asked| *asked < end);
    let kept_from = |asked: usize| {
        let parts = messages[asked].get("parts").map(Json::elements).unwrap_or_default();
        parts.iter().find_map(|part| at(&part.get("tail_start_id")?.string()?))
    };
    let start = asked.map_or(0, |asked| kept_from(asked).unwrap_or(asked).min(asked));
    start..end
}

/// Adds what a message says, as far as its first `most` parts.
fn say(import: &mut Import, file: &[u8], (message, most): (Json<'_>, usize), at: usize) -> Result<(), Fault> {
    let Some(info) = message.get("info").map(Json::object) else {
        return Err(Fault::new("", message.raw(), "a message: an object with info and parts"));
    };
    if has_failed(message, &info) {
        import.leave("answer that failed".to_owned());
        return Ok(());
    }
    let said = read_parts(message, most)?;
    let parts = message.get("parts").map(Json::elements).unwrap_or_default();
    for part in parts.iter().take(most) {
        if part.get("type").and_then(Json::string).is_some_and(|kind| DOINGS.contains(&&*kind)) {
            import.leave("part that says nothing to the model".to_owned());
        } else if is_cleared(*part) {
            import.leave("tool result that the agent cleared".to_owned());
        }
    }
    let covered = import.last();
    if said.role == Role::User {
        // What the agent put beside the words of the user is not theirs.
        let is_ours = |located: &Located<'_>| match located.home {
            Home::Element { element, .. } => is_synthetic(element),
            _ => false,
        };
        for parts in said.parts.chunk_by(|one, next| is_ours(one) == is_ours(next)) {
            let speaker = parts.first().is_some_and(is_ours).then_some(Speaker::Harness);
            let said = Said { parts: parts.to_vec(), speaker, ..said.clone() };
            import.push_record((file, message), at, &MESSAGE, &said);
        }
        return Ok(());
    }
    import.push_record((file, message), at, &MESSAGE, &said);
    if let Some(model) = info.text("modelID") {
        import.envelope.model = Some(model.into_owned());
    }
    import.bill(covered, info.get("tokens").map(usage).unwrap_or_default());
    Ok(())
}

/// Returns whether an answer ended in an error and is not sent: one that the user stopped is, as far as it went.
fn has_failed(message: Json<'_>, info: &Object<'_>) -> bool {
    let Some(error) = info.some("error") else { return false };
    let is_stopped = error.get("name").and_then(Json::string).as_deref() == Some("MessageAbortedError");
    let parts = message.get("parts").map(Json::elements).unwrap_or_default();
    let says = |part: &Json<'_>| {
        part.get("type")
            .and_then(Json::string)
            .is_some_and(|kind| kind != "step-start" && kind != "reasoning")
    };
    !(is_stopped && parts.iter().any(says))
}

fn is_synthetic(part: Json<'_>) -> bool {
    part.get("synthetic").is_some_and(Json::is_true)
        || matches!(part.get("type").and_then(Json::string).as_deref(), Some("compaction" | "subtask"))
}

/// Returns whether the agent sends a note in the place of what a tool said.
fn is_cleared(part: Json<'_>) -> bool {
    part.get("state").and_then(|state| state.get("time")?.get("compacted")).is_some_and(|at| !at.is_null())
}

fn read(message: Json<'_>) -> Result<Said<'_>, Fault> {
    read_parts(message, usize::MAX)
}

fn read_parts(message: Json<'_>, most: usize) -> Result<Said<'_>, Fault> {
    let role = match message.get("info").and_then(|info| info.get("role")?.string()).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Fault::new("info", message.raw(), "a role: user or assistant")),
    };
    let mut said = Said::new(role);
    let Some(parts) = message.get("parts").filter(|parts| parts.is_array()) else {
        return Err(Fault::new("", message.raw(), "a message with its parts"));
    };
    for (index, part) in parts.elements().into_iter().take(most).enumerate() {
        let fields = part.object();
        let Some(kind) = fields.text("type") else {
            return Err(Fault::new(format!("parts[{index}]"), part.raw(), "a part: an object with a type"));
        };
        let home = Home::Element { array: parts, index, element: part, emptied: Emptied::Stays };
        let text = |key| fields.text(key).unwrap_or_default().into_owned();
        match &*kind {
            "step-start" => {
                let last = said.steps.last().copied().unwrap_or_default();
                if said.parts.len() > last {
                    said.steps.push(said.parts.len());
                }
            }
            "text" if fields.is_true("ignored") || text("text").is_empty() => {}
            "text" => said.push(Part::Text(text("text")), home, Leaf::Fixed),
            "reasoning" => said.push(Part::Reasoning(reasoning(part, &fields)), home, Leaf::Fixed),
            "tool" => tool(&fields, home, &mut said)
                .map_err(|fault| Fault { path: format!("parts[{index}]{}", fault.path), ..fault })?,
            "file" => file(part, &fields, home, &mut said),
            "subtask" => {
                let asked = format!("{}\n{}", text("description"), text("prompt"));
                said.push(Part::Text(asked.trim().to_owned()), home, Leaf::Fixed);
            }
            // What the agent asks for in its place is not in the file.
            "compaction" => said.push(Part::Text("(a summary is asked for)".to_owned()), home, Leaf::Fixed),
            kind if DOINGS.contains(&kind) => {}
            kind => said.push(opaque(kind, part, None), home, Leaf::Fixed),
        }
    }
    Ok(said)
}

fn reasoning(part: Json<'_>, fields: &Object<'_>) -> Reasoning {
    Reasoning {
        text: fields.text("text").unwrap_or_default().into_owned(),
        // Signatures and what else the provider wants back.
        opaque_bytes: fields.some("metadata").map_or(0, |sealed| sealed.raw().len() as u64),
        hash: ContentHash::of(part.raw().as_bytes()),
    }
}

/// Reads a call with what came of it. One that runs still waits for it.
fn tool<'a>(fields: &Object<'a>, home: Home<'a>, said: &mut Said<'a>) -> Result<(), Fault> {
    let (Some(id), Some(name), Some(state)) =
        (fields.text("callID"), fields.text("tool"), fields.get("state"))
    else {
        return Err(Fault::new("", fields.whole().raw(), "a tool part with callID, tool and state"));
    };
    let state_of = state.object();
    let call = ToolCall::function(&*id, name, state_of.get("input").map_or("{}".to_owned(), tight));
    said.push(Part::ToolCall(call), home, Leaf::Fixed);
    let text = |key| state_of.text(key).unwrap_or_default().into_owned();
    let (content, outcome) = match state_of.text("status").as_deref() {
        Some("completed") if is_cleared(fields.whole()) => {
            (vec![Part::Text("(cleared by the agent to make room)".to_owned())], Outcome::Succeeded)
        }
        Some("completed") => {
            let mut content = vec![Part::Text(text("output"))];
            for shown in state_of.get("attachments").map(Json::elements).unwrap_or_default() {
                if let Some(payload) = payload(shown, &shown.object()) {
                    content.push(Part::Media(payload.media()));
                    said.payloads.push((payload.media().hash, payload));
                }
            }
            (content, Outcome::Succeeded)
        }
        Some("error") => (vec![Part::Text(text("error"))], Outcome::Failed),
        _ => return Ok(()),
    };
    let result = ToolResult { call_id: (&*id).into(), content, outcome };
    said.push(Part::ToolResult(result), Home::Whole, Leaf::Fixed);
    Ok(())
}

/// Reads a file that is shown. Plain text and folders are said in a text beside it.
fn file<'a>(part: Json<'a>, fields: &Object<'a>, home: Home<'a>, said: &mut Said<'a>) {
    let is_said = matches!(fields.text("mime").as_deref(), Some("text/plain" | "application/x-directory"));
    if let Some(payload) = payload(part, fields).filter(|_| !is_said) {
        let media = payload.media();
        said.payloads.push((media.hash, payload));
        said.push(Part::Media(media), home, Leaf::Fixed);
    }
}

fn payload<'a>(part: Json<'a>, fields: &Object<'a>) -> Option<Payload<'a>> {
    let media_type = fields.text("mime").unwrap_or_default();
    let url = fields.text("url")?;
    let payload = Payload::address(Format::Opencode, part, kind_of(&media_type), &media_type, url);
    Some(payload.called(fields.text("filename")))
}

fn usage(tokens: Json<'_>) -> Usage {
    let count = |value: Option<Json<'_>>| Tokens(value.and_then(Json::as_u64).unwrap_or(0));
    let cache = |key| count(tokens.get("cache").and_then(|cache| cache.get(key)));
    Usage {
        input: count(tokens.get("input")),
        cache_read: cache("read"),
        cache_write: cache("write"),
        output: count(tokens.get("output")),
        reasoning: count(tokens.get("reasoning")),
    }
}
