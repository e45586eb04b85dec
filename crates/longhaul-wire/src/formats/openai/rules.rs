//! O-01 to O-13 and OD-1 to OD-6: OpenAI Chat Completions and those who speak almost this.

use std::collections::HashSet;

use crate::{
    WireError,
    json::{Json, Object},
    validate::{IdPattern, Profile, Report, is_blank, kind, messages, roles, value},
    whole::by_line,
};

pub(crate) fn check_history(history: &[u8], profile: &Profile, report: &mut Report) -> Result<(), WireError> {
    let messages = match by_line(history) {
        Some((messages, _)) => messages,
        None => messages(value(history)?, &["messages"])?,
    };
    check(&messages, profile, report);
    Ok(())
}

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

fn check(messages: &[Json<'_>], profile: &Profile, report: &mut Report) {
    roles(messages, "messages", &ROLES, |_| true, report);
    let objects: Vec<Object<'_>> = messages.iter().map(|message| message.object()).collect();
    pairs(&objects, report);
    let mut seen = HashSet::new();
    let (mut system, mut developer) = (None, None);
    for (index, message) in objects.iter().enumerate() {
        let path = format!("messages[{index}]");
        match role(message) {
            "system" => system = system.or(Some(index)),
            "developer" => developer = developer.or(Some(index)),
            _ => {}
        }
        content(message, &path, report);
        names(message, &path, report);
        calls(message, &path, profile, &mut seen, report);
        strings(message, &path, profile, report);
    }
    if let (Some(system), Some(developer)) = (system, developer) {
        let path = format!("messages[{}]", system.max(developer));
        report.add("O-11", path, "system and developer messages in one history");
    }
    if profile.alternates {
        alternation(&objects, report);
    }
    if profile.id_pattern == IdPattern::Nine {
        results_before_users(&objects, report);
    }
}

fn role(message: &Object<'_>) -> &'static str {
    let role = message.text("role").unwrap_or_default();
    ROLES.into_iter().find(|known| *known == role).unwrap_or_default()
}

fn call_ids(message: &Object<'_>) -> Vec<String> {
    let calls = message.some("tool_calls").map(Json::elements).unwrap_or_default();
    calls.into_iter().filter_map(|call| call.object().text("id").map(|id| id.into_owned())).collect()
}

/// O-01, O-02: results follow their calls directly.
fn pairs(messages: &[Object<'_>], report: &mut Report) {
    let mut open: Vec<String> = Vec::new();
    let mut asked: HashSet<String> = HashSet::new();
    let mut answered: HashSet<String> = HashSet::new();
    let mut asking = 0;
    for (index, message) in messages.iter().enumerate() {
        if role(message) == "tool" {
            let id = message.text("tool_call_id").unwrap_or_default().into_owned();
            if !asked.contains(&id) {
                report.add(
                    "O-02",
                    format!("messages[{index}]"),
                    format!("{id:?} is no call of the message before"),
                );
            } else if !answered.insert(id.clone()) {
                report.add("U-03", format!("messages[{index}]"), format!("{id} is answered twice"));
            }
            continue;
        }
        open.retain(|id| !answered.contains(id));
        if !open.is_empty() {
            report.add("O-01", format!("messages[{asking}]"), format!("no result for {}", open.join(", ")));
        }
        open = match role(message) {
            "assistant" => call_ids(message),
            _ => Vec::new(),
        };
        asked = open.iter().cloned().collect();
        answered.clear();
        asking = index;
    }
}

/// O-03, O-07, O-12, U-11: what content may be.
fn content(message: &Object<'_>, path: &str, report: &mut Report) {
    let content = message.some("content");
    let stands_in =
        ["tool_calls", "function_call", "refusal", "audio"].iter().any(|key| message.some(key).is_some());
    if content.is_none() && !(role(message) == "assistant" && stands_in) && role(message) != "function" {
        report.add("O-03", path, "no content");
    }
    let Some(content) = content else { return };
    if content.is_array() && content.elements().is_empty() {
        report.add("O-03", path, "an empty list as content");
    }
    let texts = content.elements().into_iter().filter_map(|part| part.get("text"));
    let is_white = |text: Json<'_>| text.text().is_some_and(|text| is_blank(&text) && !text.is_empty());
    if role(message) == "user" && std::iter::once(content).chain(texts).any(is_white) {
        report.add("U-11", path, "a text that is only whitespace");
    }
    // O-12: what is shown, the user shows.
    let mut kinds = content.elements().into_iter().map(|part| kind(&part.object()));
    let shown = kinds.find(|kind| matches!(&**kind, "image_url" | "input_audio" | "file"));
    if let Some(shown) = shown.filter(|_| !matches!(role(message), "user" | "tool")) {
        report.add("O-12", path, format!("a part of type {shown:?} in a message of the {}", role(message)));
    }
    if role(message) == "tool" {
        let other =
            content.elements().into_iter().map(|part| kind(&part.object())).find(|kind| kind != "text");
        if let Some(other) = other {
            report.add(
                "O-07",
                path,
                format!("a part of type {other:?} in a tool message; only text may stand there"),
            );
        }
    }
}

/// O-08: names.
fn names(message: &Object<'_>, path: &str, report: &mut Report) {
    let is_odd = |c: char| c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>');
    if let Some(name) = message.text("name").filter(|name| name.is_empty() || name.contains(is_odd)) {
        report.add("O-08", path, format!("the name {name:?}"));
    }
    for (nth, call) in
        message.some("tool_calls").map(Json::elements).unwrap_or_default().into_iter().enumerate()
    {
        let Some(name) = call.object().some("function").and_then(|function| function.get("name")?.string())
        else {
            continue;
        };
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_fit) {
            report.add("O-08", format!("{path}.tool_calls[{nth}]"), format!("the function name {name:?}"));
        }
    }
}

/// O-04, O-05, U-03, OD-1, OD-5: the list of calls.
fn calls(
    message: &Object<'_>,
    path: &str,
    profile: &Profile,
    seen: &mut HashSet<String>,
    report: &mut Report,
) {
    let Some(list) = message.some("tool_calls") else { return };
    let path = format!("{path}.tool_calls");
    let count = list.elements().len();
    if count == 0 {
        report.add("O-04", &*path, "an empty list of calls");
        return;
    }
    if count > 128 {
        report.add("O-05", &*path, format!("{count} calls in one message; at most 128"));
    }
    for (nth, id) in call_ids(message).into_iter().enumerate() {
        let is_nine = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if profile.id_pattern == IdPattern::Nine && !is_nine {
            report.add(
                "OD-5",
                format!("{path}[{nth}]"),
                format!("the call id {id:?}; expected nine letters and digits"),
            );
        }
        if !seen.insert(id.clone()) {
            report.add("U-03", format!("{path}[{nth}]"), format!("the call id {id} appears twice"));
        }
    }
    if profile.needs_reasoning_content && message.some("reasoning_content").is_none() {
        report.add("OD-1", &*path, "calls without the reasoning_content they came with");
    }
}

/// O-06: one string is not too long. Its raw length bounds its length in characters from above.
fn strings(message: &Object<'_>, path: &str, profile: &Profile, report: &mut Report) {
    let is_long = |value: &Json<'_>| {
        value.raw().len() > profile.max_string_chars
            && value.text().is_some_and(|text| text.chars().count() > profile.max_string_chars)
    };
    let texts = message.get("content").map(|content| match content.is_array() {
        true => content.elements().into_iter().filter_map(|part| part.get("text")).collect(),
        false => vec![content],
    });
    let calls = message.some("tool_calls").map(Json::elements).unwrap_or_default();
    let arguments = calls.into_iter().filter_map(|call| call.get("function")?.get("arguments"));
    if texts.unwrap_or_default().into_iter().chain(arguments).any(|value| is_long(&value)) {
        report.add("O-06", path, format!("a string of more than {} characters", profile.max_string_chars));
    }
}

/// OD-6: one system message at the top, then user and assistant in turn; tool messages belong to the assistant's.
fn alternation(messages: &[Object<'_>], report: &mut Report) {
    let mut last = "";
    for (index, message) in messages.iter().enumerate() {
        let role = role(message);
        let path = format!("messages[{index}]");
        match role {
            "system" | "developer" if index > 0 => {
                report.add("OD-6", path, "a system message that is not the first")
            }
            "user" | "assistant" if role == last => {
                report.add("OD-6", path, format!("two {role} messages in a row"))
            }
            _ => {}
        }
        if role != "system" && role != "developer" {
            last = role;
        }
    }
}

/// OD-5: older servers refuse a user message directly behind a tool message.
fn results_before_users(messages: &[Object<'_>], report: &mut Report) {
    for (index, pair) in messages.windows(2).enumerate() {
        if role(&pair[0]) == "tool" && role(&pair[1]) == "user" {
            report.add(
                "OD-5",
                format!("messages[{}]", index + 1),
                "a user message directly behind a tool message",
            );
        }
    }
}
