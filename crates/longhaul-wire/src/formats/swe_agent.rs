//! SWE-agent trajectories. Import only.

use longhaul_transcript::{Message, Outcome, Part, Role, Speaker, ToolCall, ToolResult};

use super::{OPENAI, Spec};
use crate::{
    Format,
    detect::{Claim, Head},
    error::Fault,
    import::{self, Import, text_of},
    json::{Json, quoted},
};

pub(super) const SPEC: Spec = Spec::read_only("swe-agent", claims, |bytes| {
    import::read_whole(Format::SweAgent, bytes, (&["history"], EXPECTED), message)
});

const EXPECTED: &str = "a trajectory: an object with history";

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_one = !head.is_array() && head.has_any(&["trajectory", "history"]);
    is_one.then_some(Claim::Shape)
}

/// What the agent does stands in `action`, what came of it in the next user message.
fn message(import: &mut Import, element: Json<'_>) -> Result<(), Fault> {
    if element.object().is_true("is_demo") {
        // How another task was done, for the agent to see how it is to speak: nothing of it happened here.
        let shown = Message::user(text_of(element.get("content")));
        import.push(Message { speaker: Some(Speaker::Harness), ..shown });
        return Ok(());
    }
    if element.get("tool_calls").is_some_and(|calls| !calls.is_null())
        || element.get("tool_call_ids").is_some()
    {
        return message_with_tools(import, element);
    }
    let fields = element.object();
    let content = text_of(fields.get("content"));
    let is_observation = fields.text("message_type").as_deref() == Some("observation")
        || fields.some("message_type").is_none()
            && import.transcript.entries().last().is_some_and(|last| last.message.role == Role::Assistant);
    let message = match fields.text("role").as_deref() {
        Some("system") => Message::system(content),
        Some("assistant") => {
            let thought = fields.text("thought").filter(|thought| content.starts_with(&**thought));
            let action = fields.text("action").filter(|action| content.contains(action.trim_end()));
            match thought.zip(action) {
                Some((thought, action)) => {
                    let call = Part::ToolCall(call(action.trim_end(), import));
                    let said = Some(thought.trim_end()).filter(|thought| !thought.is_empty());
                    let said = said.map(|thought| Part::Text(thought.to_owned()));
                    Message::new(Role::Assistant, said.into_iter().chain([call]).collect())
                }
                None => Message::assistant(content),
            }
        }
        Some("user") if is_observation && is_waiting(import, CALL) => Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::text(CALL, content, Outcome::Unstated))],
        ),
        Some("user" | "tool") => Message::user(content),
        _ => return Err(Fault::new("", element.raw(), "a message with its role")),
    };
    import.push(message);
    Ok(())
}

/// Returns what an action calls: a command of the agent's editor, or a line for the shell.
///
/// The editor edits the file that is open; newer trajectories call it with the same arguments.
fn call(action: &str, import: &Import) -> ToolCall {
    let (line, body) = action.split_once('\n').unwrap_or((action, ""));
    let words: Vec<&str> = line.split_whitespace().collect();
    let bare = |word: &str| quoted(word.trim_matches(['"', '\'']));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_range = |(from, to): &(&str, &str)| is_number(from) && is_number(to);
    let (name, arguments) = match words[..] {
        ["edit", lines]
            if let (Some((from, to)), Some(text)) =
                (lines.split_once(':').filter(is_range), body.strip_suffix(END)) =>
        {
            let path =
                open_file(import).map(|open| format!("\"path\":{},", quoted(open))).unwrap_or_default();
            let text = quoted(text.strip_suffix('\n').unwrap_or(text));
            ("edit", format!("{path}\"start_line\":{from},\"end_line\":{to},\"replacement_text\":{text}"))
        }
        ["create", path] if body.is_empty() => ("create", format!("\"filename\":{}", bare(path))),
        ["open", path] if body.is_empty() => ("open", format!("\"path\":{}", bare(path))),
        ["open", path, at] if body.is_empty() && is_number(at) => {
            ("open", format!("\"path\":{},\"line_number\":{at}", bare(path)))
        }
        _ => ("bash", format!("\"command\":{}", quoted(action))),
    };
    ToolCall::function(CALL, name, format!("{{{arguments}}}"))
}

/// What closes the text of an edit.
const END: &str = "end_of_edit";

/// Returns the file that the editor has open, as it was said last.
fn open_file(import: &Import) -> Option<&str> {
    let said = import.transcript.entries().iter().rev().map(|entry| &entry.message);
    let mut said = said.filter(|message| message.speaker != Some(Speaker::Harness)).flat_map(|message| {
        message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::ToolResult(result) => match result.content.first() {
                Some(Part::Text(text)) => Some(text),
                _ => None,
            },
            _ => None,
        })
    });
    let (_, rest) = said.find_map(|text| text.rsplit_once("(Open file: "))?;
    rest.split_once(')').map(|(path, _)| path).filter(|path| *path != "n/a")
}

/// All actions have one id: each is answered before the next.
const CALL: &str = "action";

/// Newer trajectories carry calls and their ids.
fn message_with_tools(import: &mut Import, element: Json<'_>) -> Result<(), Fault> {
    let id = element.get("tool_call_ids").and_then(|ids| ids.elements().first()?.string());
    if let Some(id) = id {
        let content = text_of(element.get("content"));
        let result = Part::ToolResult(ToolResult::text(id, content, Outcome::Unstated));
        import.push(Message::new(Role::Tool, vec![result]));
        return Ok(());
    }
    let said = (OPENAI.read)(element)?;
    import.push(Message::new(said.role, said.parts.into_iter().map(|located| located.part).collect()));
    Ok(())
}

fn is_waiting(import: &Import, call: &str) -> bool {
    let last = import.transcript.entries().last();
    last.is_some_and(|last| last.message.calls().any(|made| made.id.as_str() == call))
}
