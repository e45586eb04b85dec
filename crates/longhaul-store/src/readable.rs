//! What a message says, as text: what is searched and shown.

use longhaul_transcript::{Message, Part};

/// Returns the text of a message as a person would read it: what is said, called and answered.
pub fn readable_text(message: &Message) -> String {
    readable(message).join("\n")
}

/// Returns the same in its pieces.
pub(crate) fn readable(message: &Message) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    let mut pending: Vec<&Part> = message.parts.iter().rev().collect();
    while let Some(part) = pending.pop() {
        match part {
            Part::Text(text) => texts.push(text),
            Part::Reasoning(reasoning) => texts.push(&reasoning.text),
            Part::ToolCall(call) => texts.extend([&*call.name, &*call.arguments.0]),
            Part::ToolResult(result) => pending.extend(result.content.iter().rev()),
            Part::Media(media) => texts.push(&media.source),
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}
