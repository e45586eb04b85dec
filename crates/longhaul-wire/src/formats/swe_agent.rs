//! SWE-agent trajectories. Import only.

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

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
    const CALL: &str = "action";
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
