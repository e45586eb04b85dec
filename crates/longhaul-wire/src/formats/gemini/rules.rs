//! G-01 to G-11: Google Gemini.

use std::{borrow::Cow, collections::HashMap};

use crate::{
    WireError,
    json::{Json, Object},
    validate::{Profile, Report, is_blank, messages, roles, value},
};

/// The fields of which a part has exactly one.
const DATA: [(&str, &str); 9] = [
    ("text", "text"),
    ("inlineData", "inline_data"),
    ("fileData", "file_data"),
    ("functionCall", "function_call"),
    ("functionResponse", "function_response"),
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
    ("toolCall", "tool_call"),
    ("toolResponse", "tool_response"),
];

struct Content<'a> {
    is_model: bool,
    calls: Vec<Object<'a>>,
    responses: Vec<Object<'a>>,
    says: bool,
    parts: Vec<Object<'a>>,
}

pub(crate) fn check_history(history: &[u8], profile: &Profile, report: &mut Report) -> Result<(), WireError> {
    check(&messages(value(history)?, &["contents"])?, profile, report);
    Ok(())
}

fn check(contents: &[Json<'_>], profile: &Profile, report: &mut Report) {
    // One that says nothing of its role is the user's.
    let names_role = |content: &Object<'_>| content.some("role").is_some();
    roles(contents, "contents", &["user", "model", "function"], names_role, report);
    let read: Vec<Content<'_>> = contents.iter().map(|content| content_of(*content)).collect();
    if let Some(first) = read.first() {
        if first.is_model && !first.calls.is_empty() {
            report.add("G-03", "contents[0]", "the history begins with a function call");
        } else if first.is_model {
            report.add("G-04", "contents[0]", "the history begins with the model");
        }
    }
    for (index, content) in read.iter().enumerate() {
        let path = format!("contents[{index}]");
        shape(contents[index], content, &path, report);
        let before = index.checked_sub(1).map(|before| &read[before]);
        if !content.calls.is_empty() && before.is_some_and(|before| before.is_model) {
            report.add("G-03", &*path, "a function call behind a turn of the model's own");
        }
        if !content.responses.is_empty() && before.is_none_or(|before| before.calls.is_empty()) {
            report.add("G-02", &*path, "a function response that follows no function call");
        }
        if content.calls.is_empty() {
            continue;
        }
        let Some(after) = read.get(index + 1) else { continue };
        if after.responses.is_empty() {
            report.add("G-02", &*path, "the turn after a function call holds no response");
        } else if after.responses.len() != content.calls.len() {
            let (calls, responses) = (content.calls.len(), after.responses.len());
            report.add("G-01", &*path, format!("{calls} function calls and {responses} responses"));
        } else {
            names(content, after, index + 1, report);
        }
    }
    if profile.needs_thought_signature {
        signatures(&read, report);
    }
}

fn content_of(content: Json<'_>) -> Content<'_> {
    let fields = content.object();
    let parts: Vec<Object<'_>> =
        fields.get("parts").map(Json::elements).unwrap_or_default().into_iter().map(Json::object).collect();
    let of = |camel, snake| {
        parts
            .iter()
            .filter_map(move |part| part.some(camel).or_else(move || part.some(snake)))
            .map(Json::object)
    };
    Content {
        is_model: fields.text("role").as_deref() == Some("model"),
        calls: of("functionCall", "function_call").collect(),
        responses: of("functionResponse", "function_response").collect(),
        says: parts
            .iter()
            .any(|part| part.some("functionResponse").or_else(|| part.some("function_response")).is_none()),
        parts,
    }
}

/// G-05, G-11: nothing is empty, a part holds one kind of data, and calls and responses have their names and objects.
fn shape(json: Json<'_>, content: &Content<'_>, path: &str, report: &mut Report) {
    if content.parts.is_empty() && !json.get("parts").is_some_and(Json::is_object) {
        report.add("G-05", path, "a content without parts");
    }
    for (nth, part) in content.parts.iter().enumerate() {
        let count = DATA
            .iter()
            .filter(|(camel, snake)| part.some(camel).or_else(|| part.some(snake)).is_some())
            .count();
        if count != 1 {
            report.add("G-05", format!("{path}.parts[{nth}]"), format!("{count} data fields in one part"));
        }
        if unsigned_text(part).is_some_and(|text| text.is_empty()) {
            report.add("G-05", format!("{path}.parts[{nth}]"), "an empty text");
        }
    }
    let sides = [(&content.calls, "args"), (&content.responses, "response")];
    for (side, key) in sides.into_iter().flat_map(|(side, key)| side.iter().map(move |side| (side, key))) {
        if side.text("name").is_none_or(|name| name.is_empty()) {
            report.add("G-11", path, "a function call or response without a name");
        }
        // A call may have no arguments.
        if side.some(key).map_or(key == "response", |value| !value.is_object()) {
            report.add("G-11", path, format!("{key} is no object"));
        }
    }
    let is_blank_text = |part: &Object<'_>| unsigned_text(part).is_some_and(|text| is_blank(&text));
    if !content.parts.is_empty() && content.parts.iter().all(is_blank_text) {
        report.add("U-11", path, "a text that is only whitespace");
    }
}

/// Returns the words of a part; `None` for a thought, and for what a signature stands with (G-09).
fn unsigned_text<'a>(part: &Object<'a>) -> Option<Cow<'a, str>> {
    let is_signed = ["thoughtSignature", "thought_signature"].iter().any(|key| part.some(key).is_some());
    part.text("text").filter(|_| !is_signed && !part.is_true("thought"))
}

/// G-10: a response bears the name of its call, and its id where the call has one.
fn names(calls: &Content<'_>, responses: &Content<'_>, index: usize, report: &mut Report) {
    let by_id: HashMap<_, _> = calls.calls.iter().filter_map(|call| Some((call.text("id")?, call))).collect();
    for (nth, response) in responses.responses.iter().enumerate() {
        let same = |key: &str, call: &Object<'_>| call.text(key) == response.text(key);
        // With ids the order is free; without, responses come in the order of their calls.
        let call = match response.text("id") {
            Some(id) => by_id.get(&id).copied(),
            None => calls.calls.get(nth).filter(|call| call.some("id").is_none()),
        };
        if !call.is_some_and(|call| same("name", call)) {
            let name = response.text("name").unwrap_or_default();
            report.add(
                "G-10",
                format!("contents[{index}]"),
                format!("the response of {name:?} fits no call by name and id"),
            );
        }
    }
}

/// G-06: since the last words of the user, the first call of each step is signed.
fn signatures(contents: &[Content<'_>], report: &mut Report) {
    let start = contents.iter().rposition(|content| !content.is_model && content.says).map_or(0, |at| at + 1);
    for (index, content) in contents.iter().enumerate().skip(start) {
        let call = content
            .parts
            .iter()
            .find(|part| part.some("functionCall").or_else(|| part.some("function_call")).is_some());
        let is_signed = |part: &Object<'_>| {
            part.some("thoughtSignature").or_else(|| part.some("thought_signature")).is_some()
        };
        if call.is_some_and(|part| !is_signed(part)) {
            report.add(
                "G-06",
                format!("contents[{index}]"),
                "the first function call of the step has no signature",
            );
        }
    }
}
