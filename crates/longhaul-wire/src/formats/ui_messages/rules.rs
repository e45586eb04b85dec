//! U-13, V-01 to V-04: UI messages of Vercel's AI SDK, as `validateUIMessages` takes them and `convertToModelMessages` can hand
//! them on to a model.

use std::collections::HashSet;

use crate::{
    WireError,
    json::{Json, Object},
    validate::{Profile, Report, messages, value},
};

/// What parts of a type must have: a string under each of these keys. Of a type that is not here nothing is known.
const STRINGS: [(&str, &[&str]); 6] = [
    ("text", &["text"]),
    ("reasoning", &["text"]),
    ("file", &["mediaType", "url"]),
    ("source-url", &["sourceId", "url"]),
    ("source-document", &["sourceId", "mediaType", "title"]),
    ("dynamic-tool", &["toolName"]),
];

/// The states of a call that is not answered, of which the first is not sent to a model.
const WAITING: [&str; 4] = ["input-streaming", "input-available", "approval-requested", "approval-responded"];

/// The states of a call that is answered, each with the field that it must have.
const ANSWERED: [(&str, &str); 3] =
    [("output-available", "output"), ("output-error", "errorText"), ("output-denied", "approval")];

pub(crate) fn check_history(history: &[u8], _: &Profile, report: &mut Report) -> Result<(), WireError> {
    let messages = messages(value(history)?, &["messages"])?;
    if messages.is_empty() {
        report.add("U-13", "messages", "there are none; a request needs one at least");
    }
    let mut calls = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let path = format!("messages[{index}]");
        let message = message.object();
        let parts = message.get("parts").map(Json::elements).unwrap_or_default();
        shape(&message, &parts, &path, report);
        for (nth, part) in parts.iter().map(|part| part.object()).enumerate() {
            let path = format!("{path}.parts[{nth}]");
            let kind = part.text("type").unwrap_or_default();
            strings(&part, &kind, &path, report);
            if kind.starts_with("tool-") || kind == "dynamic-tool" {
                tool(&part, index + 1 == messages.len(), &path, &mut calls, report);
            }
        }
    }
    Ok(())
}

/// V-01: a message has an id, a role and parts.
fn shape(message: &Object<'_>, parts: &[Json<'_>], path: &str, report: &mut Report) {
    if message.text("id").is_none() {
        report.add("V-01", path, "a message without an id");
    }
    let role = message.text("role").unwrap_or_default();
    if !["system", "user", "assistant"].contains(&&*role) {
        report.add("V-01", path, format!("the role {role:?}"));
    }
    if parts.is_empty() {
        report.add("V-01", path, "a message without parts");
    }
}

/// V-02: a part names its type and has what the type asks for.
fn strings(part: &Object<'_>, kind: &str, path: &str, report: &mut Report) {
    if kind.is_empty() {
        report.add("V-02", path, "a part without a type");
    }
    let needed = STRINGS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, needed)| needed);
    if let Some(missing) = needed.iter().find(|key| part.text(key).is_none()) {
        report.add("V-02", path, format!("a {kind} part without {missing}"));
    }
    if kind.starts_with("data-") && part.get("data").is_none() {
        report.add("V-02", path, format!("a {kind} part without data"));
    }
}

/// V-03, V-04, U-03: a call has an id that no other has, and what its state says.
fn tool(part: &Object<'_>, is_last: bool, path: &str, calls: &mut HashSet<String>, report: &mut Report) {
    let state = part.text("state").unwrap_or_default();
    let answered = ANSWERED.iter().find(|(known, _)| *known == state);
    let is_waiting = WAITING.contains(&&*state);
    match part.text("toolCallId") {
        None => report.add("V-03", path, "a tool part without toolCallId"),
        Some(id) if !calls.insert(id.to_string()) => {
            report.add("U-03", path, format!("the call id {id} appears twice"));
        }
        Some(_) => {}
    }
    match answered {
        Some((_, field)) if part.get(field).is_none() => {
            report.add("V-03", path, format!("a call in the state {state} without {field}"));
        }
        None if !is_waiting => report.add("V-03", path, format!("a call in the state {state:?}")),
        _ => {}
    }
    let is_sent = is_waiting && state != WAITING[0];
    if is_sent && !is_last && !part.is_true("providerExecuted") {
        report.add("V-04", path, "a call that is not answered, and the conversation goes on");
    }
}
