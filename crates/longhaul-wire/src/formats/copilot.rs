//! Sessions of Copilot CLI, an event a line. Import only.
//!
//! Source: [github/copilot-sdk](https://github.com/github/copilot-sdk), `nodejs/src/generated/session-events.ts`, which GitHub generates
//! from the schema of these events.

use std::collections::{HashMap, HashSet};

use longhaul_transcript::{
    CallKind, ContentHash, Message, Outcome, Part, RawJson, Reasoning, Role, SessionId, Speaker, Tokens,
    ToolCall, ToolResult, Transcript, Usage,
};

use super::Spec;
use crate::{
    Document, Format, WireError,
    detect::{Claim, Head},
    import::{self, Import},
    json::{Json, Object},
};

pub(super) const SPEC: Spec =
    Spec { aliases: &["copilot-cli"], is_lines: true, ..Spec::read_only("copilot", claims, read) };

fn claims(head: &Head<'_>) -> Option<Claim> {
    (!head.is_array() && head.has_type(&["session.start"]) && head.has("data")).then_some(Claim::Own)
}

/// Events that say what the agent does, and nothing to the model. A skill is sent as what the user says, too.
const DOINGS: [&str; 30] = [
    "abort",
    "assistant.idle",
    "assistant.intent",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    "hook.end",
    "hook.start",
    "pending_messages.modified",
    "permission.completed",
    "permission.requested",
    "session.context_changed",
    "session.error",
    "session.idle",
    "session.info",
    "session.mode_changed",
    "session.plan_changed",
    "session.resume",
    "session.shutdown",
    "session.usage_info",
    "session.warning",
    "skill.invoked",
    "subagent.completed",
    "subagent.failed",
    "subagent.selected",
    "subagent.started",
    "tool.execution_progress",
    "tool.execution_start",
];

/// What has to be known of the events before the one that is read.
#[derive(Default)]
struct Before {
    /// How many messages there were when the agent began to compact: a summary stands for these and no others.
    compacting: Option<usize>,
    /// The standing instructions in force: they are written down whenever they are sent anew.
    system: String,
    /// Reasoning that no answer has yet.
    reasoning: Option<Reasoning>,
    /// The calls that wait for a result.
    open: HashSet<String>,
    /// What the user had the agent run: the tool with its arguments.
    by_user: HashMap<String, String>,
}

fn read(bytes: Vec<u8>) -> Result<Document, WireError> {
    let mut before = Before::default();
    import::read_lines(Format::Copilot, bytes, |import, event| before.event(import, event))
}

impl Before {
    fn event(&mut self, import: &mut Import, event: &Object<'_>) {
        let kind = event.text("type").unwrap_or_default();
        let Some(data) = event.get("data").map(Json::object) else {
            return import.leave("line that is no event".to_owned());
        };
        if event.some("agentId").is_some() || data.some("parentToolCallId").is_some() {
            return import.leave("event of a sub-agent".to_owned());
        }
        let model = ["selectedModel", "newModel", "model"].iter().find_map(|key| data.text(key));
        if let Some(model) = model {
            import.envelope.model = Some(model.into_owned());
        }
        let folder = data.get("context").and_then(|context| context.get("cwd")?.string());
        import.envelope.folder = import.envelope.folder.take().or(folder);
        match &*kind {
            "session.start" => {
                import.envelope.session_id = data.text("sessionId").and_then(|id| SessionId::new(&id).ok());
            }
            "session.model_change" => {}
            "system.message" => self.system(import, &data),
            "user.message" => user(import, &data),
            "assistant.reasoning" => {
                self.reasoning = data.get("content").and_then(|content| reasoning(content, None))
            }
            "assistant.message" => self.answer(import, &data),
            "assistant.usage" => import.bill(import.last(), usage(&data)),
            "tool.user_requested" => {
                let text = |key| data.text(key).unwrap_or_default().into_owned();
                let run = format!("{} {}", text("toolName"), data.get("arguments").map_or("", Json::raw));
                self.by_user.insert(text("toolCallId"), run);
            }
            "tool.execution_complete" => self.result(import, &data),
            "session.compaction_start" => self.compacting = Some(import.transcript.len()),
            "session.compaction_complete" => self.compacted(import, &data),
            kind if DOINGS.contains(&kind) => import.leave("event that says nothing to the model".to_owned()),
            kind => import.leave(format!("event of type {kind:?}")),
        }
    }

    fn system(&mut self, import: &mut Import, data: &Object<'_>) {
        let text = data.text("content").unwrap_or_default().into_owned();
        if text != self.system {
            let is_developers = data.text("role").as_deref() == Some("developer");
            let role = if is_developers { Role::Developer } else { Role::System };
            import.push(Message::new(role, vec![Part::Text(text.clone())]));
            self.system = text;
        }
    }

    fn answer(&mut self, import: &mut Import, data: &Object<'_>) {
        let sealed = data.some("reasoningOpaque").or_else(|| data.some("encryptedContent"));
        let thought = data.some("reasoningText").or(sealed).and_then(|text| reasoning(text, sealed));
        let thought = thought.or_else(|| self.reasoning.take());
        self.reasoning = None;
        let mut parts: Vec<Part> = thought.into_iter().map(Part::Reasoning).collect();
        parts.extend(
            data.text("content").filter(|text| !text.is_empty()).map(|text| Part::Text(text.into_owned())),
        );
        let calls = data.get("toolRequests").map(Json::elements).unwrap_or_default();
        for call in calls.into_iter().filter_map(call) {
            self.open.insert(call.id.as_str().to_owned());
            parts.push(Part::ToolCall(call));
        }
        if !parts.is_empty() {
            import.push(Message::new(Role::Assistant, parts));
        }
    }

    fn result(&mut self, import: &mut Import, data: &Object<'_>) {
        let id = data.text("toolCallId").unwrap_or_default().into_owned();
        let said = data.get("result").and_then(|result| result.get("content")?.string());
        let failed = || data.get("error").and_then(|error| error.get("message")?.string());
        let text = said.or_else(failed).unwrap_or_default();
        if let Some(run) = self.by_user.remove(&id) {
            let said = Message::user(format!("$ {run}\n{text}"));
            return import.push(Message { speaker: Some(Speaker::Harness), ..said });
        }
        if !self.open.remove(&id) {
            return import.leave("result of no call that waits for one".to_owned());
        }
        let outcome = if data.is_true("success") { Outcome::Succeeded } else { Outcome::Failed };
        let result = ToolResult::text(id, text, outcome);
        import.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    }

    /// What was said before the agent began to compact is in the context no more; its summary is.
    fn compacted(&mut self, import: &mut Import, data: &Object<'_>) {
        let since = self.compacting.take().unwrap_or(import.transcript.len());
        let Some(summary) = data.text("summaryContent").filter(|_| data.is_true("success")) else {
            return import.leave("compaction without a summary".to_owned());
        };
        let before = std::mem::replace(&mut import.transcript, Transcript::new());
        import.envelope.usages.clear();
        let (old, new) = before.entries().split_at(since.min(before.len()));
        let standing = old.iter().filter(|entry| entry.message.is_system());
        standing.for_each(|entry| import.push((*entry.message).clone()));
        let summary = Message::user(summary.into_owned());
        import.push(Message { speaker: Some(Speaker::Harness), ..summary });
        new.iter().for_each(|entry| import.push((*entry.message).clone()));
    }
}

/// Adds what the user said, as it was sent: with the time and other things around it.
fn user(import: &mut Import, data: &Object<'_>) {
    let text =
        data.text("transformedContent").or_else(|| data.text("content")).unwrap_or_default().into_owned();
    let is_of_harness = data.text("source").is_some_and(|source| source != "user");
    import.push(Message { speaker: is_of_harness.then_some(Speaker::Harness), ..Message::user(text) });
}

fn call(request: Json<'_>) -> Option<ToolCall> {
    let fields = request.object();
    let arguments = fields.get("arguments");
    let is_custom = fields.text("type").as_deref() == Some("custom");
    Some(ToolCall {
        id: (&*fields.text("toolCallId")?).into(),
        name: fields.text("name")?.into_owned(),
        // An object, or the text that the model wrote.
        arguments: RawJson(
            arguments.map_or("{}".to_owned(), |value| {
                value.string().unwrap_or_else(|| value.compact().into_owned())
            }),
        ),
        kind: if is_custom { CallKind::Custom } else { CallKind::Function },
    })
}

fn reasoning(text: Json<'_>, sealed: Option<Json<'_>>) -> Option<Reasoning> {
    let is_sealed = sealed.is_some_and(|sealed| sealed.raw() == text.raw());
    Some(Reasoning {
        text: if is_sealed { String::new() } else { text.string()? },
        opaque_bytes: sealed.and_then(Json::text).map_or(0, |sealed| sealed.len() as u64),
        hash: ContentHash::of(text.raw().as_bytes()),
    })
}

/// The figures count what came from the cache, and what was written to it, with the input.
fn usage(data: &Object<'_>) -> Usage {
    let count = |key| Tokens(data.get(key).and_then(Json::as_u64).unwrap_or(0));
    let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Usage {
        input: count("inputTokens") - cache_read - cache_write,
        cache_read,
        cache_write,
        output: count("outputTokens"),
        reasoning: Tokens::ZERO,
    }
}
