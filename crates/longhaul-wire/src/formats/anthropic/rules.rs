//! Anthropic Messages.

use std::collections::{HashMap, HashSet};

use crate::{
    WireError,
    json::{Json, Object},
    validate::{Profile, Report, Thinking, is_blank, kind, messages, roles, value},
};

/// A message, or several of one role that the server merges.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) role: String,
    pub(crate) blocks: Vec<Block<'a>>,
    /// The first and last message it is made of.
    pub(crate) messages: (usize, usize),
}

#[derive(Debug)]
pub(crate) struct Block<'a> {
    path: String,
    kind: String,
    json: Json<'a>,
    fields: Object<'a>,
    /// Index of the message it stands in.
    message: usize,
}

pub(crate) fn check_history(history: &[u8], profile: &Profile, report: &mut Report) -> Result<(), WireError> {
    let json = value(history)?;
    check_body(json, &messages(json, &["messages"])?, profile, report);
    Ok(())
}

fn check_body(json: Json<'_>, messages: &[Json<'_>], profile: &Profile, report: &mut Report) {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    if !messages.is_empty() {
        roles(messages, "messages", &["user", "assistant", "system"], |_| true, report);
    }
    for (index, message) in messages.iter().enumerate() {
        add_message(&mut turns, index, &format!("messages[{index}]"), *message, report);
    }
    // A history that ends with an answer is no prefill; a body about to be sent is.
    let is_request = json.get("max_tokens").is_some();
    // an empty content is allowed at the very end, for the assistant.
    for (index, message) in messages.iter().enumerate() {
        let is_final = index + 1 == messages.len()
            && message.get("role").and_then(Json::string).as_deref() == Some("assistant");
        let is_empty = message.get("content").is_none_or(|content| {
            content.is_null()
                || content.raw() == "\"\""
                || content.is_array() && content.elements().is_empty()
        });
        if is_empty && !is_final {
            report.add("A-08", format!("messages[{index}]"), "a message without content");
        }
    }
    check(&turns, profile, report);
    cache_control(json, messages, report);
    if is_request {
        prefill(&turns, report);
    }
}

/// Adds a message to `turns`, merging it into the last one where that has the same role.
pub(crate) fn add_message<'a>(
    turns: &mut Vec<Turn<'a>>,
    index: usize,
    path: &str,
    message: Json<'a>,
    report: &mut Report,
) {
    let fields = message.object();
    let role = fields.text("role").unwrap_or_default().into_owned();
    let mut blocks = Vec::new();
    match fields.get("content") {
        Some(text) if text.is_string() => {
            let text_of = text.text().unwrap_or_default();
            if is_blank(&text_of) && !text_of.is_empty() {
                report.add("A-07", format!("{path}.content"), "a text that is only whitespace");
            }
            blocks.push(Block {
                path: format!("{path}.content"),
                kind: "text".to_owned(),
                json: text,
                fields: text.object(),
                message: index,
            });
        }
        Some(list) => blocks.extend(list.elements().into_iter().enumerate().map(|(nth, json)| {
            let fields = json.object();
            let (kind, path) = (kind(&fields), format!("{path}.content[{nth}]"));
            Block { path, kind, json, fields, message: index }
        })),
        None => {}
    }
    match turns.last_mut().filter(|turn| turn.role == role) {
        Some(turn) => {
            turn.blocks.append(&mut blocks);
            turn.messages.1 = index;
        }
        None => turns.push(Turn { role, blocks, messages: (index, index) }),
    }
}

/// Takes away what the agent keeps in its file and leaves out of its requests: blank texts of the model, and thinking that led to
/// nothing.
pub(crate) fn drop_unsent(turns: &mut Vec<Turn<'_>>) {
    let is_blank_text = |block: &Block<'_>| {
        block.kind == "text" && block.fields.text("text").is_some_and(|text| is_blank(&text))
    };
    for turn in turns.iter_mut().filter(|turn| turn.role == "assistant") {
        turn.blocks.retain(|block| !is_blank_text(block));
    }
    turns.retain(|turn| {
        turn.role != "assistant" || turn.blocks.is_empty() || !turn.blocks.iter().all(is_thinking)
    });
}

fn is_thinking(block: &Block<'_>) -> bool {
    matches!(&*block.kind, "thinking" | "redacted_thinking")
}

pub(crate) fn check(turns: &[Turn<'_>], profile: &Profile, report: &mut Report) {
    if turns.is_empty() {
        report.add("A-01", "messages", "there are none; a request needs one at least");
    }
    pairs(turns, report);
    unique_ids(turns, report);
    system_turns(turns, report);
    server_tools(turns, report);
    compaction(turns, report);
    thinking(turns, profile, report);
    let mut media = 0;
    for turn in turns {
        let is_answer = turn.role == "assistant";
        turn.blocks.iter().for_each(|block| media += shape(block, is_answer, profile, report));
    }
    if media > profile.max_media {
        report.add(
            "A-17",
            "messages",
            format!("{media} images and documents; at most {}", profile.max_media),
        );
    }
}

/// every call is answered in the very next message, first thing, once.
fn pairs(turns: &[Turn<'_>], report: &mut Report) {
    for (index, turn) in turns.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| &turns[before]);
        let mut asked: HashMap<String, bool> = HashMap::new();
        if let Some(previous) = previous.filter(|previous| previous.role == "assistant") {
            asked.extend(ids(previous, "tool_use", "id").map(|(id, _)| (id, false)));
        }
        let mut said_other: Option<&str> = None;
        for block in &turn.blocks {
            if block.kind != "tool_result" {
                said_other = said_other.or(Some(&block.path));
                continue;
            }
            let id = block.fields.text("tool_use_id").unwrap_or_default().into_owned();
            match asked.get_mut(&id) {
                None => report.add("A-03", &*block.path, format!("{id} is no call of the message before")),
                Some(true) => report.add("A-04", &*block.path, format!("{id} is answered twice")),
                Some(answered) => *answered = true,
            }
            if let Some(other) = said_other.filter(|_| turn.role == "user") {
                report.add("A-05", &*block.path, format!("a result behind {other}; results come first"));
            }
        }
        let open: Vec<_> = asked.into_iter().filter(|(_, answered)| !answered).map(|(id, _)| id).collect();
        let is_last = index + 1 == turns.len();
        // An exchange that is still going on: nothing but results may have come.
        let goes_on = is_last && said_other.is_none();
        if !open.is_empty() && !goes_on {
            let mut open = open;
            open.sort();
            let is_between = turns.get(index + 1).is_some_and(|next| answers_any(next, &open));
            let rule = if is_between { "A-06" } else { "A-02" };
            report.add(
                rule,
                format!("messages[{}]", turn.messages.0),
                format!("no result for {}", open.join(", ")),
            );
        }
    }
}

fn answers_any(turn: &Turn<'_>, open: &[String]) -> bool {
    // Sorted, so that many ids cost little.
    ids(turn, "tool_result", "tool_use_id").any(|(id, _)| open.binary_search(&id).is_ok())
}

fn ids<'t>(turn: &'t Turn<'_>, kind: &'t str, key: &'t str) -> impl Iterator<Item = (String, &'t str)> {
    let blocks = turn.blocks.iter().filter(move |block| block.kind == kind);
    blocks.filter_map(move |block| Some((block.fields.text(key)?.into_owned(), &*block.path)))
}

/// U-03: a call id appears once.
fn unique_ids(turns: &[Turn<'_>], report: &mut Report) {
    let mut seen = HashSet::new();
    for turn in turns {
        for (id, path) in ids(turn, "tool_use", "id") {
            if !seen.insert(id.clone()) {
                report.add("U-03", path, format!("the call id {id} appears twice"));
            }
        }
    }
}

/// where a system message may stand.
fn system_turns(turns: &[Turn<'_>], report: &mut Report) {
    for (index, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.role == "system") {
        let path = format!("messages[{}]", turn.messages.0);
        let before = index.checked_sub(1).map(|before| &turns[before]);
        let follows_call = before.is_some_and(|before| {
            before.role == "assistant" && before.blocks.iter().any(|block| block.kind == "tool_use")
        });
        let follows_server_result = before.is_some_and(|before| {
            let last = before.blocks.last();
            before.role == "assistant" && last.is_some_and(|block| block.kind.ends_with("_tool_result"))
        });
        if follows_call {
            report.add("A-32", &*path, "a system message between a call and its result");
        } else if !follows_server_result && before.is_none_or(|before| before.role != "user") {
            report.add("A-30", &*path, "a system message follows a user message or a server tool's result");
        }
        if turns.get(index + 1).is_some_and(|next| next.role != "assistant") {
            report.add("A-31", &*path, "a system message is the last one or is followed by the assistant");
        }
    }
}

/// Returns whether the server paused in this turn: it is to go on from a call of its own tools.
fn is_paused(turn: &Turn<'_>) -> bool {
    let answered: HashSet<_> =
        turn.blocks.iter().filter_map(|block| block.fields.text("tool_use_id")).collect();
    let calls = turn.blocks.iter().filter(|block| matches!(&*block.kind, "server_tool_use" | "mcp_tool_use"));
    calls.filter_map(|block| block.fields.text("id")).any(|id| !answered.contains(&id))
}

/// a server tool's call and its result stay together, in order.
fn server_tools(turns: &[Turn<'_>], report: &mut Report) {
    for (index, turn) in turns.iter().enumerate() {
        let mut waiting: HashMap<(usize, String), &str> = HashMap::new();
        for block in &turn.blocks {
            let id = |key| block.fields.text(key).unwrap_or_default().into_owned();
            match &*block.kind {
                "server_tool_use" | "mcp_tool_use" => {
                    waiting.insert((block.message, id("id")), &block.path);
                }
                result if result.ends_with("_tool_result") => {
                    let call = waiting.remove(&(block.message, id("tool_use_id")));
                    let what = "a server tool's result without its call in the same message";
                    call.is_none().then(|| report.add("A-14", &*block.path, what));
                }
                _ => {}
            }
        }
        let mut left: Vec<_> = waiting.into_values().collect();
        left.sort_unstable();
        // A turn may pause at the very end while a server tool runs.
        for path in left.into_iter().filter(|_| index + 1 < turns.len()) {
            report.add("A-14", path, "a server tool's call without its result in the same message");
        }
    }
}

/// a compaction block leads, and there is one with content.
fn compaction(turns: &[Turn<'_>], report: &mut Report) {
    let blocks = turns
        .iter()
        .enumerate()
        .flat_map(|(at, turn)| turn.blocks.iter().enumerate().map(move |(nth, block)| (at, nth, block)));
    let mut carrying = 0;
    for (at, nth, block) in blocks.filter(|(.., block)| block.kind == "compaction") {
        let content = block.fields.some("content");
        if content.is_some_and(|content| content.raw() == "\"\"") {
            report.add("A-41", &*block.path, "a compaction block with an empty content");
        }
        let carries = content.is_some() || block.fields.some("encrypted_content").is_some();
        carrying += usize::from(carries);
        if carries && carrying > 1 {
            report.add("A-41", &*block.path, "a second compaction block with content");
        } else if carries && (at, nth) != (0, 0) {
            report.add("A-40", &*block.path, "a compaction block stands first of all");
        }
    }
}

/// where thinking must, may and must not stand.
fn thinking(turns: &[Turn<'_>], profile: &Profile, report: &mut Report) {
    let in_progress = round_in_progress(turns);
    let speaking: Vec<_> = turns.iter().filter(|turn| turn.role == "assistant").collect();
    for (nth, turn) in speaking.iter().enumerate() {
        let (Some(first), Some(last)) = (turn.blocks.first(), turn.blocks.last()) else { continue };
        // A compaction block may lead; of a round in progress, thinking stands where the model put it.
        let has = turn.blocks.iter().any(is_thinking);
        let is_led = is_thinking(first) || first.kind == "compaction";
        if has && !is_led && turn.messages.0 < in_progress {
            report.add("A-20", &*first.path, "a message with thinking begins with it");
        }
        // The history may end in the middle of an answer.
        let is_cut = nth + 1 == speaking.len() && turns.last().is_some_and(|last| last.role == "assistant");
        if is_thinking(last) && (!is_cut || turn.blocks.iter().any(|block| !is_thinking(block))) {
            report.add("A-20", &*last.path, "a message does not end with thinking");
        }
    }
    let Some(last) = speaking.last() else { return };
    let is_call = |block: &Block<'_>| block.kind == "tool_use";
    let in_round = last.blocks.iter().any(is_call) || is_paused(last);
    match profile.thinking {
        Thinking::Unknown => {}
        Thinking::Off => {
            for block in last.blocks.iter().filter(|block| is_thinking(block)) {
                report.add(
                    "A-23",
                    &*block.path,
                    "thinking in the final assistant message while thinking is off",
                );
            }
        }
        Thinking::On | Thinking::Preserved { .. } => {
            if in_round && !last.blocks.first().is_some_and(is_thinking) {
                report.add(
                    "A-21",
                    format!("messages[{}]", last.messages.0),
                    "the tool round in progress begins with its thinking",
                );
            }
            for block in last.blocks.iter().filter(|block| block.kind == "thinking") {
                if block.fields.text("signature").is_none_or(|signature| signature.is_empty()) {
                    report.add("A-22", &*block.path, "the latest thinking has lost its signature");
                }
            }
        }
    }
    if let Thinking::Preserved { unedited } = profile.thinking {
        let later = turns.iter().flat_map(|turn| &turn.blocks).filter(|block| block.message >= unedited);
        for block in later.filter(|block| is_thinking(block)) {
            report.add("A-25", &*block.path, "thinking that is bound to a prefix which was edited");
        }
    }
}

/// Returns the first message of the answers that the model is still at: the history ends in a call, or in results.
fn round_in_progress(turns: &[Turn<'_>]) -> usize {
    let has_result = |turn: &Turn<'_>| turn.blocks.iter().any(|block| block.kind == "tool_result");
    let Some(last) = turns.last() else { return 0 };
    let is_open = match &*last.role {
        "assistant" => last.blocks.iter().any(|block| block.kind == "tool_use") || is_paused(last),
        _ => has_result(last),
    };
    let asked = turns.iter().rfind(|turn| turn.role == "user" && !has_result(turn));
    match is_open {
        true => asked.map_or(0, |asked| asked.messages.1 + 1),
        false => usize::MAX,
    }
}

/// blocks one by one. Returns the number of images and documents found.
fn shape(block: &Block<'_>, is_answer: bool, profile: &Profile, report: &mut Report) -> usize {
    let path = &*block.path;
    let mut media = 0;
    match &*block.kind {
        "text" if block.json.is_object() => {
            if block.fields.text("text").is_none_or(|text| is_blank(&text)) {
                report.add("A-07", path, "a text block that is empty or only whitespace");
            }
        }
        "tool_use" => {
            let id = block.fields.text("id").unwrap_or_default();
            let is_fit = !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            if !is_fit {
                report.add("A-10", path, format!("the call id {id:?}; expected letters, digits, _ and -"));
            }
            if !block.fields.get("input").is_some_and(Json::is_object) {
                report.add("A-15", path, "the input is no object");
            }
        }
        "tool_result" => {
            for (nth, inner) in
                block.fields.get("content").map(Json::elements).unwrap_or_default().into_iter().enumerate()
            {
                let fields = inner.object();
                let inner_kind = kind(&fields);
                if inner_kind == "text" && fields.text("text").is_none_or(|text| is_blank(&text)) {
                    report.add(
                        "A-07",
                        format!("{path}.content[{nth}]"),
                        "a text block that is empty or only whitespace",
                    );
                }
                media += image(&fields, &inner_kind, &format!("{path}.content[{nth}]"), profile, report);
            }
        }
        other => {
            let n = image(&block.fields, other, path, profile, report);
            if n > 0 && is_answer {
                report.add(
                    "A-19",
                    path,
                    format!("the {other} of an answer; only the user and tools show them"),
                );
            }
            media += n;
        }
    }
    media
}

fn image(fields: &Object<'_>, kind: &str, path: &str, profile: &Profile, report: &mut Report) -> usize {
    if !matches!(kind, "image" | "document") {
        return 0;
    }
    let data = fields.get("source").and_then(|source| source.get("data"));
    let chars = data.map_or(0, |data| data.raw().len().saturating_sub(2));
    if kind == "image" && chars > profile.max_image_chars {
        report.add(
            "A-17",
            path,
            format!("an image of {chars} characters; at most {}", profile.max_image_chars),
        );
    }
    let source = fields.get("source").map(Json::object);
    let media_type = source.as_ref().and_then(|source| source.text("media_type")).unwrap_or_default();
    let given = source.as_ref().and_then(|source| source.text("type")).unwrap_or_default();
    let taken: &[&str] = match (kind, &*given) {
        ("image", "base64") => &["image/jpeg", "image/png", "image/gif", "image/webp"],
        ("document", "base64") => &["application/pdf"],
        ("document", "text") => &["text/plain"],
        _ => return 1,
    };
    if !taken.contains(&&*media_type) {
        report.add("A-18", path, format!("{kind} of type {media_type:?}; expected {}", taken.join(", ")));
    }
    1
}

/// breakpoints of the prompt cache, in the order tools, system, messages.
fn cache_control(json: Json<'_>, messages: &[Json<'_>], report: &mut Report) {
    let mut found: Vec<(String, bool)> = Vec::new();
    let fields = json.object();
    for key in ["tools", "system"] {
        for (nth, block) in fields.get(key).map(Json::elements).unwrap_or_default().into_iter().enumerate() {
            breakpoint(&block.object(), format!("{key}[{nth}]"), &mut found);
        }
    }
    for (index, message) in messages.iter().enumerate() {
        let message = message.object();
        if message.some("cache_control").is_some() {
            report.add("A-12", format!("messages[{index}]"), "cache_control on the message itself");
        }
        for (nth, block) in
            message.get("content").map(Json::elements).unwrap_or_default().into_iter().enumerate()
        {
            let (block, path) = (block.object(), format!("messages[{index}].content[{nth}]"));
            if block.some("cache_control").is_none() {
                continue;
            }
            match &*kind(&block) {
                "thinking" | "redacted_thinking" => report.add("A-12", &*path, "cache_control on thinking"),
                "text" if block.text("text").is_some_and(|text| text.is_empty()) => {
                    report.add("A-12", &*path, "cache_control on an empty text");
                }
                _ => {}
            }
            breakpoint(&block, path, &mut found);
        }
    }
    if found.len() > 4 {
        report.add("A-11", &*found[4].0, format!("{} blocks carry cache_control; at most 4", found.len()));
    }
    let mut had_short = false;
    for (path, is_long) in found {
        if is_long && had_short {
            report.add("A-13", path, "a longer ttl behind a shorter one");
            return;
        }
        had_short |= !is_long;
    }
}

fn breakpoint(block: &Object<'_>, path: String, found: &mut Vec<(String, bool)>) {
    if let Some(control) = block.some("cache_control") {
        found.push((path, control.get("ttl").and_then(Json::string).as_deref() == Some("1h")));
    }
}

/// a prefilled answer does not end in whitespace.
fn prefill(turns: &[Turn<'_>], report: &mut Report) {
    let Some(last) = turns.last().filter(|turn| turn.role == "assistant").and_then(|turn| turn.blocks.last())
    else {
        return;
    };
    let text = if last.json.is_string() { last.json.text() } else { last.fields.text("text") };
    if last.kind == "text" && text.is_some_and(|text| text.ends_with(char::is_whitespace)) {
        report.add("A-09", &*last.path, "the last assistant text ends in whitespace");
    }
}
