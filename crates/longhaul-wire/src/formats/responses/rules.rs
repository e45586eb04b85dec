//! OpenAI Responses, and the items of a Codex rollout.

use std::collections::{HashMap, HashSet};

use crate::{
    WireError,
    json::{Json, Object},
    validate::{Profile, Report, is_blank, kind, messages, roles, value},
};

/// A call and its answer, by their types. A type that is not here stands alone.
const PAIRS: [(&str, &str); 8] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("tool_search_call", "tool_search_call_output"),
    ("mcp_approval_request", "mcp_approval_response"),
];

pub(crate) fn check_history(history: &[u8], profile: &Profile, report: &mut Report) -> Result<(), WireError> {
    let json = value(history)?;
    // A bare string is one message of the user.
    if !json.get("input").is_some_and(Json::is_string) {
        check_body(json, &messages(json, &["input", "output"])?, profile, report);
    }
    Ok(())
}

fn check_body(json: Json<'_>, items: &[Json<'_>], profile: &Profile, report: &mut Report) {
    let fields = json.object();
    let refers = ["previous_response_id", "conversation"].map(|key| fields.some(key).is_some());
    if refers == [true, true] {
        report.add("R-09", "conversation", "previous_response_id and conversation exclude each other");
    } else if refers.contains(&true) {
        report.add("R-09", "input", "only a part of the history stands here; the server holds the rest");
    }
    let paths: Vec<String> = (0..items.len()).map(|index| format!("input[{index}]")).collect();
    let is_said = |item: &Object<'_>| matches!(&*kind(item), "" | "message");
    if !refers.contains(&true) || !items.is_empty() {
        roles(items, "input", &["user", "assistant", "system", "developer"], is_said, report);
    }
    // What is about to be sent is followed by nothing.
    let last = items.last().filter(|_| fields.some("input").is_some()).map(|last| last.object());
    if last.is_some_and(|last| kind(&last) == "reasoning" && last.some("id").is_some()) {
        let path = format!("input[{}]", items.len() - 1);
        report.add("R-04", path, "reasoning that ends a request, without the item it led to");
    }
    // With a reference, what is answered or reasoned about may stand at the server.
    check(items, &paths, profile, refers.contains(&true), report);
}

pub(crate) fn check(
    items: &[Json<'_>],
    paths: &[String],
    profile: &Profile,
    is_part: bool,
    report: &mut Report,
) {
    let objects: Vec<Object<'_>> = items.iter().map(|item| item.object()).collect();
    let kinds: Vec<String> = objects.iter().map(kind).collect();
    pairs(&objects, &kinds, paths, profile, is_part, report);
    reasoning(&objects, &kinds, paths, profile, is_part, report);
    for (at, item) in objects.iter().enumerate() {
        if item.text("call_id").is_some_and(|id| id.chars().count() > 64) {
            report.add("R-07", &*paths[at], "a call_id of more than 64 characters");
        }
        if kinds[at] == "compaction_trigger" && at + 1 < items.len() {
            report.add("R-10", &*paths[at], "a compaction trigger is the last item");
        }
        if kinds[at] == "compaction" && item.text("encrypted_content").is_none_or(|sealed| sealed.is_empty())
        {
            report.add("R-10", &*paths[at], "a compaction item has lost its content");
        }
        message(item, &kinds[at], &paths[at], report);
    }
    phases(&objects, &kinds, paths, report);
}

/// U-03: calls and outputs pair up, the call first.
fn pairs(
    items: &[Object<'_>],
    kinds: &[String],
    paths: &[String],
    profile: &Profile,
    is_part: bool,
    report: &mut Report,
) {
    let is_said = |kind: &String| kind.is_empty() || kind == "message";
    // How many messages stand before each item.
    let mut said_before = vec![0usize];
    said_before.extend(kinds.iter().scan(0, |count, kind| {
        *count += usize::from(is_said(kind));
        Some(*count)
    }));
    let mut open: HashMap<String, (usize, &str)> = HashMap::new();
    let mut answered: HashSet<String> = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let id = |keys: &[&str]| keys.iter().find_map(|key| item.text(key)).unwrap_or_default().into_owned();
        if let Some((_, output)) = PAIRS.iter().find(|(call, _)| *call == kinds[at]) {
            let id = if kinds[at] == "mcp_approval_request" { id(&["id"]) } else { id(&["call_id", "id"]) };
            if open.insert(id.clone(), (at, output)).is_some() || answered.contains(&id) {
                report.add("U-03", &*paths[at], format!("the call id {id} appears twice"));
            }
        } else if PAIRS.iter().any(|(_, output)| *output == kinds[at]) {
            let id = id(&["call_id", "approval_request_id"]);
            match open.remove(&id) {
                Some((call, output)) if output == kinds[at] => {
                    answered.insert(id);
                    let between = said_before[call + 1] < said_before[at];
                    if profile.keeps_adjacent && between {
                        report.add("R-03", &*paths[at], "a message between a call and its output");
                    }
                }
                Some((_, output)) => {
                    answered.insert(id);
                    report.add(
                        "R-02",
                        &*paths[at],
                        format!("the call is answered by {output}, not by {}", kinds[at]),
                    );
                }
                None if answered.contains(&id) => {
                    report.add("U-03", &*paths[at], format!("{id} is answered twice"))
                }
                None if is_part => {}
                None => report.add("R-02", &*paths[at], format!("no call {id} stands before it")),
            }
        }
    }
    // An exchange that is still going on: nothing but calls, outputs and reasoning stands behind its first open call.
    let mut open: Vec<_> = open.into_iter().map(|(id, (at, _))| (at, id)).collect();
    open.sort();
    for (at, id) in open {
        let goes_on = said_before[at + 1] == said_before[kinds.len()];
        if !goes_on {
            report.add("R-01", &*paths[at], format!("no output for {id}"));
        }
    }
}

/// reasoning and what it led to.
///
/// Of a call it is only supposed that it came with reasoning, where others before it did; of words it is not, for a model
/// that reasons often says the last ones without. Nothing is known of either where the server holds the rest.
fn reasoning(
    items: &[Object<'_>],
    kinds: &[String],
    paths: &[String],
    profile: &Profile,
    is_part: bool,
    report: &mut Report,
) {
    let mut seen_reasoning = false;
    let is_model = |at: usize| {
        let said = kinds[at].is_empty() || kinds[at] == "message";
        match said {
            true => items[at].text("role").as_deref() == Some("assistant"),
            false => !kinds[at].ends_with("_output") && kinds[at] != "mcp_approval_response",
        }
    };
    // What the model says in one go stands between what it is told, and its reasoning somewhere in it.
    let mut has_reasoning = false;
    for (at, item) in items.iter().enumerate() {
        has_reasoning &= is_model(at);
        if kinds[at] == "reasoning" {
            (seen_reasoning, has_reasoning) = (true, true);
            let has_id = item.some("id").is_some();
            // Reasoning may come in several items; the last of the file may still wait for its follower.
            if has_id && at + 1 < items.len() && !is_model(at + 1) {
                report.add("R-04", &*paths[at], "reasoning without the item it led to");
            }
            if profile.is_stateless
                && has_id
                && item.text("encrypted_content").is_none_or(|sealed| sealed.is_empty())
            {
                report.add("R-08", &*paths[at], "reasoning by id alone, for a server that stores none");
            }
        } else if profile.sends_item_ids
            && !is_part
            && item.text("id").is_some_and(|id| id.starts_with("fc_"))
            && seen_reasoning
            && !has_reasoning
        {
            report.add(
                "R-05",
                &*paths[at],
                "a call with an id of its own, but not the reasoning it came with",
            );
        }
    }
}

/// a message of the assistant keeps its phase. When others have one, one of the provider's without has lost it; what has no id was
/// written by somebody else, and never had one.
fn phases(items: &[Object<'_>], kinds: &[String], paths: &[String], report: &mut Report) {
    let is_said = |at: &usize| {
        (kinds[*at].is_empty() || kinds[*at] == "message")
            && items[*at].text("role").as_deref() == Some("assistant")
    };
    let said: Vec<usize> = (0..items.len()).filter(is_said).collect();
    let has_phase = |at: &usize| items[*at].some("phase").is_some();
    let Some(first) = said.iter().position(has_phase) else { return };
    let has_lost_it = |at: &&usize| !has_phase(at) && items[**at].some("id").is_some();
    for at in said[first..].iter().filter(has_lost_it) {
        report.add("R-13", &*paths[*at], "a message of the assistant has lost its phase");
    }
}

fn message(item: &Object<'_>, kind: &str, path: &str, report: &mut Report) {
    // what is shown, the user shows.
    let mut parts = item.get("content").map(Json::elements).unwrap_or_default().into_iter().map(Json::object);
    let is_shown = |part: Object<'_>| matches!(&*crate::validate::kind(&part), "input_image" | "input_file");
    if item.text("role").as_deref() == Some("assistant") && parts.any(is_shown) {
        report.add("R-14", path, "a picture or file in an answer");
    }
    if !(kind.is_empty() || kind == "message") {
        return;
    }
    let content = item.get("content");
    let texts: Vec<_> = match content {
        Some(text) if text.is_string() => vec![text],
        Some(parts) => parts.elements().into_iter().filter_map(|part| part.get("text")).collect(),
        None => Vec::new(),
    };
    let is_white = |text: &Json<'_>| text.text().is_some_and(|text| is_blank(&text) && !text.is_empty());
    // The model may write a blank text beside others.
    let is_one = match item.text("role").as_deref() {
        Some("user") => texts.iter().any(is_white),
        Some("assistant") => {
            !texts.is_empty()
                && texts.len() == content.map_or(0, |all| all.elements().len().max(1))
                && texts.iter().all(is_white)
        }
        _ => false,
    };
    if is_one {
        report.add("U-11", path, "a text that is only whitespace");
    }
}
