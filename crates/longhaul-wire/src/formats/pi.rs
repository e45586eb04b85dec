//! pi session files, one JSON value a line. Import only.

use longhaul_transcript::{
    ContentHash, Message, Outcome, Part, Reasoning, Role, SessionId, Speaker, Tokens, ToolCall, ToolResult,
    Transcript, Usage,
};

use super::Spec;
use crate::{
    Format,
    detect::{Claim, Head},
    dialect::opaque,
    import::{self, Import, text_of},
    json::{Json, Object},
    lines,
};

pub(super) const SPEC: Spec = Spec {
    is_lines: true,
    segments: |doc| segments(doc.as_bytes()),
    ..Spec::read_only("pi", claims, |bytes| import::read_lines(Format::Pi, bytes, line))
};

fn claims(head: &Head<'_>) -> Option<Claim> {
    let is_head = !head.is_array() && head.has_type(&["session"]) && head.has_any(&["cwd", "id"]);
    is_head.then_some(Claim::Own)
}

/// Returns what was said between the compactions of a pi session.
fn segments(bytes: &[u8]) -> Vec<Transcript> {
    let mut segments = Vec::new();
    let mut import = Import::default();
    for range in lines::split(bytes) {
        let Ok(Some(json)) = lines::check(&bytes[range], false) else { continue };
        let fields = json.object();
        if fields.text("type").as_deref() == Some("compaction") && !import.transcript.is_empty() {
            segments.push(std::mem::take(&mut import.transcript));
        }
        line(&mut import, &fields);
    }
    segments.push(import.transcript);
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn line(import: &mut Import, fields: &Object<'_>) {
    match fields.text("type").as_deref() {
        Some("session") => {
            let id = fields.text("id");
            import.envelope.session_id = id.and_then(|id| SessionId::new(&id).ok());
            import.envelope.model = fields.text("modelId").map(|model| model.into_owned());
        }
        Some("model_change") => {
            import.envelope.model = fields.text("modelId").map(|model| model.into_owned());
        }
        Some("compaction") => {
            // What stands before it is no longer in the context; its summary is.
            let summary = fields.text("summary").unwrap_or_default().into_owned();
            import.transcript = Transcript::new();
            import.envelope.usages.clear();
            if !summary.is_empty() {
                import.push(Message { speaker: Some(Speaker::Harness), ..Message::user(summary) });
            }
        }
        Some("message") => {
            if let Some(message) = fields.get("message").map(Json::object) {
                message_of(import, &message);
            }
        }
        _ => {}
    }
}

fn message_of(import: &mut Import, message: &Object<'_>) {
    let covered = import.last();
    let content = message.get("content");
    match message.text("role").as_deref() {
        Some("user") => import.push(Message::user(text_of(content))),
        Some("assistant") => {
            let blocks = content.map(Json::elements).unwrap_or_default();
            let parts: Vec<Part> = blocks.into_iter().filter_map(block_of).collect();
            if parts.is_empty() {
                return;
            }
            import.push(Message::new(Role::Assistant, parts));
            let usage = message.get("usage").map(Json::object);
            import.envelope.usages.extend(covered.zip(usage.as_ref().and_then(usage_of)));
        }
        Some("toolResult") => {
            let outcome = match message.get("isError").map(Json::raw) {
                Some("true") => Outcome::Failed,
                Some("false") => Outcome::Succeeded,
                _ => Outcome::Unstated,
            };
            let id = message.text("toolCallId").unwrap_or_default().into_owned();
            let result = ToolResult::text(id, text_of(content), outcome);
            import.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        }
        Some("bashExecution") => {
            let text = |key| message.text(key).unwrap_or_default();
            let said = Message::user(format!("$ {}\n{}", text("command"), text("output")));
            import.push(Message { speaker: Some(Speaker::Harness), ..said });
        }
        _ => {}
    }
}

fn block_of(block: Json<'_>) -> Option<Part> {
    let fields = block.object();
    match &*fields.text("type")? {
        "text" => Some(Part::Text(fields.text("text")?.into_owned())),
        "toolCall" => {
            let arguments = fields.get("arguments").map_or("{}", Json::raw);
            Some(Part::ToolCall(ToolCall::function(&*fields.text("id")?, fields.text("name")?, arguments)))
        }
        "thinking" => {
            let sealed = fields.text("thinkingSignature").map_or(0, |signature| signature.len() as u64);
            Some(Part::Reasoning(Reasoning {
                text: fields.text("thinking").unwrap_or_default().into_owned(),
                opaque_bytes: sealed,
                hash: ContentHash::of(block.raw().as_bytes()),
            }))
        }
        kind => Some(opaque(kind, block, None)),
    }
}

/// pi's figures are disjoint already. All zero means that nothing was reported.
fn usage_of(usage: &Object<'_>) -> Option<Usage> {
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
