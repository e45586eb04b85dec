//! What providers refuse, on plain JSON. Each fault begins with the id of its rule.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

// --- Anthropic Messages --------------------------------------------------------------------------------------------

fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        content => list(content).to_vec(),
    }
}

/// Checks the messages `after`, made from `before`.
pub(super) fn anthropic(before: &Value, after: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    // The server joins neighbours of one role.
    let mut turns: Vec<(String, Vec<Value>)> = Vec::new();
    for message in list(after) {
        let (role, said) = (text(message, "role").to_owned(), blocks(message));
        if said.is_empty() {
            faults.push("A-08 a message without content".to_owned());
        }
        let is_thought = |block: &Value| matches!(text(block, "type"), "thinking" | "redacted_thinking");
        if said.iter().any(is_thought) && !is_thought(&said[0]) {
            faults.push("A-20 thinking does not come first".to_owned());
        }
        if said.last().is_some_and(is_thought) && said.len() > 1 {
            faults.push("A-20 thinking comes last".to_owned());
        }
        for (nth, block) in
            said.iter().enumerate().filter(|(_, block)| text(block, "type") == "server_tool_use")
        {
            let is_result = |later: &Value| {
                text(later, "type").ends_with("_tool_result") && later["tool_use_id"] == block["id"]
            };
            if !said[nth..].iter().any(is_result) {
                faults.push("A-14 a server tool's call without its result".to_owned());
            }
        }
        match turns.last_mut().filter(|turn| turn.0 == role) {
            Some(turn) => turn.1.extend(said),
            None => turns.push((role, said)),
        }
    }
    match turns.first() {
        None => faults.push("A-01 no message".to_owned()),
        Some((role, _)) if role != "user" => faults.push(format!("U-10 {role} begins")),
        Some(_) => {}
    }
    let of = |blocks: &[Value], kind: &str, key: &str| -> Vec<String> {
        blocks
            .iter()
            .filter(|block| text(block, "type") == kind)
            .map(|block| text(block, key).to_owned())
            .collect()
    };
    let mut seen = HashSet::new();
    for (at, (role, said)) in turns.iter().enumerate() {
        let calls = of(said, "tool_use", "id");
        for id in &calls {
            if !seen.insert(id.clone()) {
                faults.push(format!("U-03 {id} twice"));
            }
            if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
                faults.push(format!("A-10 {id:?}"));
            }
        }
        let asked: Vec<String> =
            at.checked_sub(1).map(|before| of(&turns[before].1, "tool_use", "id")).unwrap_or_default();
        let answered = of(said, "tool_result", "tool_use_id");
        for id in &answered {
            if !asked.contains(id) {
                faults.push(format!("A-03 {id}"));
            }
            if answered.iter().filter(|other| *other == id).count() > 1 {
                faults.push(format!("A-04 {id}"));
            }
        }
        let first_other = said.iter().position(|block| text(block, "type") != "tool_result");
        let last_result = said.iter().rposition(|block| text(block, "type") == "tool_result");
        if first_other.zip(last_result).is_some_and(|(other, result)| other < result) && role == "user" {
            faults.push("A-05 a result behind something else".to_owned());
        }
        let is_last = at + 1 == turns.len();
        let goes_on = is_last && first_other.is_none();
        for id in asked.iter().filter(|id| !answered.contains(id)) {
            if !goes_on {
                faults.push(format!("A-02 {id}"));
            }
        }
        for block in said {
            match text(block, "type") {
                "text" if is_blank(text(block, "text")) => faults.push("A-07 a blank text".to_owned()),
                "tool_use" if !block["input"].is_object() => faults.push("A-15 the input".to_owned()),
                "thinking" | "redacted_thinking" => {
                    let is_original = list(before).iter().any(|message| blocks(message).contains(block));
                    if !is_original {
                        faults.push("A-22 thinking that the model did not write".to_owned());
                    }
                    // Of a round that goes on, the generations of models want opposite things. Where thinking is asked for
                    // by a budget, its message is refused without its thinking, and nothing brings a dropped block
                    // back. Where thinking is bound to its prefix, the block is refused, unless the request says
                    // `prefix_mismatch_behavior: "drop_block"` or leaves it out, which can be done at any time. A history
                    // does not say which it is for: the thinking that cannot be had again is kept, and the command says so.
                    let goes_on =
                        at + 2 >= turns.len() && said.iter().any(|block| text(block, "type") == "tool_use");
                    if before != after && !goes_on && !is_prefix_kept(before, after, block) {
                        faults.push("A-25 thinking behind a prefix that was changed".to_owned());
                    }
                }
                _ => {}
            }
        }
    }
    faults
}

/// Returns whether everything before the message with `block` is as it was.
fn is_prefix_kept(before: &Value, after: &Value, block: &Value) -> bool {
    let at = |messages| list(messages).iter().position(|message| blocks(message).contains(block));
    at(before).zip(at(after)).is_some_and(|(was, is)| list(before)[..was] == list(after)[..is])
}

/// Returns the messages that Claude Code sends: up from the last line to a root, with the lines of one answer joined.
pub(super) fn live_of_claude_code(lines: &[Value]) -> Value {
    let by_id: HashMap<&str, &Value> = lines.iter().map(|line| (text(line, "uuid"), line)).collect();
    let is_said = |line: &&Value| {
        matches!(text(line, "type"), "user" | "assistant") && line["isSidechain"] != json!(true)
    };
    let mut at = lines.iter().rfind(is_said);
    let mut chain = Vec::new();
    while let Some(line) = at {
        assert!(chain.len() <= lines.len(), "the lines lead in a circle");
        chain.push(line);
        at = line["parentUuid"].as_str().map(|parent| *by_id.get(parent).expect("a parent is there"));
    }
    let mut messages: Vec<(Value, Value)> = Vec::new();
    for line in chain.into_iter().rev().filter(is_said) {
        let message = &line["message"];
        match messages.last_mut().filter(|(id, _)| !id.is_null() && *id == message["id"]) {
            Some((_, known)) => {
                let mut joined = blocks(known);
                joined.extend(blocks(message));
                known["content"] = Value::Array(joined);
            }
            None => messages.push((message["id"].clone(), message.clone())),
        }
    }
    let bare = |(_, message): (Value, Value)| json!({"role": message["role"], "content": message["content"]});
    Value::Array(messages.into_iter().map(bare).collect())
}

// --- OpenAI Chat Completions ---------------------------------------------------------------------------------------

pub(super) fn openai(after: &Value) -> Vec<String> {
    let (mut faults, mut seen) = (Vec::new(), HashSet::new());
    let mut open: Vec<String> = Vec::new();
    let messages = list(after);
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id").to_owned();
            match open.iter().position(|asked| *asked == id) {
                Some(at) => drop(open.remove(at)),
                None => faults.push(format!("O-02 {id}")),
            }
            let is_text = |part: &Value| text(part, "type") == "text";
            if !message["content"].is_string() && !list(&message["content"]).iter().all(is_text) {
                faults.push("O-07 a result that is not text".to_owned());
            }
            continue;
        }
        faults.extend(open.drain(..).map(|id| format!("O-01 {id}")));
        let calls = list(&message["tool_calls"]);
        if message["tool_calls"].is_array() && calls.is_empty() {
            faults.push("O-04 no calls in tool_calls".to_owned());
        }
        if calls.len() > 128 {
            faults.push("O-05 too many calls".to_owned());
        }
        if message["content"].is_null() && calls.is_empty() && message["refusal"].is_null() {
            faults.push("O-03 no content".to_owned());
        }
        for call in calls {
            let id = text(call, "id").to_owned();
            if !seen.insert(id.clone()) {
                faults.push(format!("U-03 {id}"));
            }
            if call["type"] == "function" && !call["function"]["arguments"].is_string() {
                faults.push("O-05 arguments that are no string".to_owned());
            }
            open.push(id);
        }
        if role == "user"
            && message["content"].as_str().is_some_and(|text| !text.is_empty() && is_blank(text))
        {
            faults.push("U-11 a blank text".to_owned());
        }
    }
    // What is open at the end may still be answered.
    faults
}

// --- OpenAI Responses ----------------------------------------------------------------------------------------------

fn is_call(item: &Value) -> bool {
    text(item, "type").ends_with("_call") && item["call_id"].is_string()
}

fn is_output(item: &Value) -> bool {
    text(item, "type").ends_with("_output")
}

fn is_by_model(item: &Value) -> bool {
    match text(item, "type") {
        "" | "message" => item["role"] == "assistant",
        kind => !kind.ends_with("_output"),
    }
}

/// Checks the items `after`, made from `before`.
pub(super) fn responses(before: &Value, after: &Value) -> Vec<String> {
    let (before, after) = (list(before), list(after));
    let mut faults = Vec::new();
    let mut calls: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, item) in after.iter().enumerate() {
        let id = text(item, "call_id");
        if id.chars().count() > 64 {
            faults.push("R-07".to_owned());
        }
        if is_call(item) && calls.insert(id, (at, 0)).is_some() {
            faults.push(format!("U-03 {id}"));
        }
        if is_output(item) {
            match calls.get_mut(id) {
                Some((_, outputs)) => *outputs += 1,
                None => faults.push(format!("R-02 {id}")),
            }
        }
    }
    let last_said = after.iter().rposition(|item| matches!(text(item, "type"), "" | "message"));
    for (id, (at, outputs)) in &calls {
        match outputs {
            1 => {}
            0 if last_said.is_none_or(|said| said < *at) => {}
            0 => faults.push(format!("R-01 {id}")),
            _ => faults.push(format!("U-03 {id} is answered twice")),
        }
    }
    for (at, item) in after.iter().enumerate() {
        if text(item, "type") == "reasoning" {
            if !before.contains(item) {
                faults.push("U-04 reasoning that was changed".to_owned());
            }
            if at + 1 < after.len() && !is_by_model(&after[at + 1]) {
                faults.push("R-04 reasoning without what it led to".to_owned());
            }
        }
        if matches!(text(item, "type"), "" | "message") && item["role"] == "assistant" {
            let source = before.iter().find(|source| source["content"] == item["content"]);
            if source.is_some_and(|source| source["phase"] != item["phase"]) {
                faults.push("R-13 a lost phase".to_owned());
            }
        }
        // The server asks for the reasoning of an item by the item's own id.
        if is_by_model(item) && text(item, "type") != "reasoning" && item["id"].is_string() {
            let source = before.iter().position(|source| source["id"] == item["id"]);
            for reasoning in source.map(|source| reasoning_of(before, source)).unwrap_or_default() {
                if !reasoning_behind(after, at).contains(&reasoning) {
                    faults.push(format!("R-05 {} without its reasoning", item["id"]));
                }
            }
        }
    }
    faults
}

/// Returns the nearest run of reasoning before the item, in the same answer of the model.
fn reasoning_of(items: &[Value], at: usize) -> Vec<&Value> {
    let mut run = Vec::new();
    for item in items[..at].iter().rev().take_while(|item| is_by_model(item)) {
        match text(item, "type") == "reasoning" {
            true => run.push(item),
            false if run.is_empty() => {}
            false => break,
        }
    }
    run
}

/// Returns all reasoning before the item in the same answer.
fn reasoning_behind(items: &[Value], at: usize) -> Vec<&Value> {
    let answer = items[..at].iter().rev().take_while(|item| is_by_model(item));
    answer.filter(|item| text(item, "type") == "reasoning").collect()
}

/// Returns the items that Codex sends after it replayed its file.
pub(super) fn live_of_codex(lines: &[Value]) -> Value {
    let mut items = Vec::new();
    for line in lines {
        match text(line, "type") {
            "response_item" => items.push(line["payload"].clone()),
            "compacted" => items = list(&line["payload"]["replacement_history"]).to_vec(),
            _ => {}
        }
    }
    Value::Array(items)
}

// --- Google Gemini -------------------------------------------------------------------------------------------------

/// Checks the contents `after`, made from `before`.
pub(super) fn gemini(before: &Value, after: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let contents = list(after);
    let of = |content: &Value, key: &str| -> Vec<Value> {
        list(&content["parts"])
            .iter()
            .filter(|part| part[key].is_object())
            .map(|part| part[key].clone())
            .collect()
    };
    for (at, content) in contents.iter().enumerate() {
        let is_model = content["role"] == "model";
        let before_it = at.checked_sub(1).map(|before| &contents[before]);
        if at == 0 && is_model {
            faults.push("G-04 the model begins".to_owned());
        }
        if list(&content["parts"]).is_empty() {
            faults.push("G-05 no parts".to_owned());
        }
        for part in list(&content["parts"]) {
            const DATA: [&str; 6] =
                ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"];
            if DATA.iter().filter(|key| !part[**key].is_null()).count() != 1 {
                faults.push(format!("G-05 {part}"));
            }
            let signature = text(part, "thoughtSignature");
            let is_unchecked = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]
                .contains(&signature);
            let is_original = list(before).iter().any(|content| list(&content["parts"]).contains(part));
            if !signature.is_empty() && !is_unchecked && !is_original {
                faults.push(format!("G-07 a signature on what was changed: {part}"));
            }
        }
        let (calls, responses) = (of(content, "functionCall"), of(content, "functionResponse"));
        if !calls.is_empty() && before_it.is_some_and(|before| before["role"] == "model") {
            faults.push("G-03 a call behind the model's own turn".to_owned());
        }
        let asked = before_it.map(|before| of(before, "functionCall")).unwrap_or_default();
        if !responses.is_empty() && asked.len() != responses.len() {
            faults.push(format!("G-01 {} calls, {} responses", asked.len(), responses.len()));
        }
        if !calls.is_empty()
            && contents.get(at + 1).is_some_and(|next| of(next, "functionResponse").is_empty())
        {
            faults.push("G-02 no response behind a call".to_owned());
        }
        for (call, response) in asked.iter().zip(&responses) {
            if call["name"] != response["name"] || call["id"] != response["id"] {
                faults.push(format!("G-10 {call} and {response}"));
            }
        }
    }
    faults
}
