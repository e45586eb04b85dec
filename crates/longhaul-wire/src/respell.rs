//! A message of OpenAI's as a request may have it: servers answer with what no request takes.

use crate::json::{Json, quoted};

/// Returns how a message is spelled in a request: without an empty list of calls, which some servers send and none takes, with
/// content that is empty where an answer is reasoning alone or a result says nothing (O-03), and with a call and its result in the
/// form that has ids where they came in the one before it. What is pushed for a call of that form goes out in the other, so that
/// both must.
pub(crate) fn respelled(item: Json<'_>) -> String {
    let message = item.object();
    let has_calls = message.some("tool_calls").is_some_and(|calls| !calls.elements().is_empty());
    let is_result = message.text("role").as_deref() == Some("function");
    let says = |content: &Json<'_>| !content.is_array() || !content.elements().is_empty();
    let lacks_content = !message.some("content").as_ref().is_some_and(says) && !has_calls && {
        let stand_in = ["function_call", "refusal", "audio"];
        message.text("role").as_deref() != Some("user")
            && stand_in.iter().all(|key| message.some(key).is_none())
    };
    let mut is_changed = false;
    let mut fields: Vec<String> = Vec::new();
    for (key, value) in message.fields() {
        let name = key.string().unwrap_or_default();
        let changed = match &*name {
            "tool_calls" if !has_calls && value.is_array() => None,
            "function_call" if !has_calls && value.is_object() => Some(list_of_one(*value)),
            "content" if lacks_content => None,
            "role" if is_result => Some("\"role\":\"tool\"".to_owned()),
            "name" if is_result => Some(format!("\"tool_call_id\":{}", value.raw())),
            _ => {
                fields.push(format!("{}:{}", key.raw(), value.raw()));
                continue;
            }
        };
        is_changed = true;
        fields.extend(changed);
    }
    if lacks_content {
        is_changed = true;
        fields.push("\"content\":\"\"".to_owned());
    }
    match is_changed {
        true => format!("{{{}}}", fields.join(",")),
        false => item.raw().to_owned(),
    }
}

/// Returns the call of the form without ids as a list of one, under the name by which its result is found.
fn list_of_one(call: Json<'_>) -> String {
    let name = call.object().text("name").unwrap_or_default().into_owned();
    let name = quoted(&name);
    format!("\"tool_calls\":[{{\"id\":{name},\"type\":\"function\",\"function\":{}}}]", call.raw())
}
