//! Session files: the live context is worked out from the lines and held to the rules of the provider.

use std::collections::{HashMap, HashSet};

use super::{Profile, Report};
use crate::{
    WireError,
    formats::{
        anthropic::rules::{self as anthropic, Turn},
        responses::rules as responses,
    },
    json::{Json, Object},
    lines,
};

/// C-04 to C-06, and the rules of Anthropic Messages on what the walk from the last line meets.
pub(crate) fn check_claude_code(
    history: &[u8],
    profile: &Profile,
    report: &mut Report,
) -> Result<(), WireError> {
    let ranges = lines::split(history);
    let parsed: Vec<Option<Object<'_>>> = ranges
        .into_iter()
        .enumerate()
        .map(|(at, range)| lines::check(&history[range], at == 0).ok().flatten().map(Json::object))
        .collect();
    let mut by_uuid: HashMap<&str, usize> = HashMap::new();
    for (at, line) in parsed.iter().enumerate() {
        if let Some(uuid) = line.as_ref().and_then(|line| line.get("uuid")) {
            by_uuid.entry(uuid.raw()).or_insert(at);
        }
    }
    let is_said = |line: &Object<'_>| {
        let kind = line.text("type").unwrap_or_default();
        matches!(&*kind, "user" | "assistant")
            && line.some("message").is_some()
            && !line.is_true("isSidechain")
            && !line.is_true("isApiErrorMessage")
            && line.get("message").and_then(|message| message.get("model")?.string()).as_deref()
                != Some("<synthetic>")
    };
    // C-09: what stands further up already counts there alone.
    let is_again = |at: usize, line: &Object<'_>| {
        let first = line.get("uuid").and_then(|uuid| by_uuid.get(uuid.raw())).filter(|first| **first < at);
        let first = first.and_then(|first| parsed[*first].as_ref());
        first.is_some_and(|first| first.get("message").map(Json::raw) == line.get("message").map(Json::raw))
    };
    let said: Vec<bool> = parsed
        .iter()
        .enumerate()
        .map(|(at, line)| line.as_ref().is_some_and(|line| is_said(line) && !is_again(at, line)))
        .collect();
    let Some(leaf) = said.iter().rposition(|said| *said) else {
        report.add("A-01", "the file", "it holds no message");
        return Ok(());
    };
    // After the agent's own compaction, what it kept verbatim hangs on the summary.
    let kept = kept_verbatim(&parsed);
    let mut path: HashSet<usize> = HashSet::new();
    let mut next = Some(leaf);
    while let Some(at) = next {
        if !path.insert(at) {
            report.add("C-04", format!("line {}", at + 1), "the walk from the last message runs in a circle");
            break;
        }
        let Some(line) = &parsed[at] else { break };
        let own = line.some("parentUuid").map(Json::raw);
        let parent = match kept {
            Some(kept) if line.get("uuid").map(Json::raw) == Some(kept.head) => Some(kept.anchor),
            Some(kept) if own == Some(kept.anchor) => Some(kept.tail),
            _ => own,
        };
        next = match parent {
            None => None,
            Some(parent) => match by_uuid.get(parent) {
                Some(found) => Some(*found),
                None => {
                    report.add(
                        "C-04",
                        format!("line {}", at + 1),
                        format!("its parent {parent} is not in the file"),
                    );
                    None
                }
            },
        };
    }
    let live = joined(&parsed, &said, &path);
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for at in live {
        if let Some(message) = parsed[at].as_ref().and_then(|line| line.get("message")) {
            anthropic::add_message(&mut turns, at, &format!("line {}", at + 1), message, report);
        }
    }
    anthropic::drop_unsent(&mut turns);
    anthropic::check(&turns, profile, report);
    Ok(())
}

/// and the rules of Responses on what a replay ends with.
pub(crate) fn check_codex(history: &[u8], profile: &Profile, report: &mut Report) -> Result<(), WireError> {
    let mut items: Vec<(String, Json<'_>)> = Vec::new();
    for (at, range) in lines::split(history).into_iter().enumerate() {
        let Ok(Some(line)) = lines::check(&history[range], at == 0) else { continue };
        let fields = line.object();
        let payload = fields.some("payload");
        match (&*fields.text("type").unwrap_or_default(), payload) {
            ("response_item", Some(item)) => items.push((format!("line {}", at + 1), item)),
            ("compacted", Some(payload)) => {
                match payload.get("replacement_history").filter(|list| list.is_array()) {
                    Some(list) => {
                        let path = |nth| format!("line {}: replacement_history[{nth}]", at + 1);
                        items = list
                            .elements()
                            .into_iter()
                            .enumerate()
                            .map(|(nth, item)| (path(nth), item))
                            .collect();
                    }
                    // What Codex then rebuilds holds messages only, and so no pair that could be broken.
                    None => items.clear(),
                }
            }
            ("event_msg", Some(event)) => {
                let kind = event.get("type").and_then(Json::string);
                if matches!(kind.as_deref(), Some("thread_rolled_back" | "thread_rollback")) {
                    roll_back(&mut items, event.get("num_turns").and_then(Json::as_u64).unwrap_or(0));
                }
            }
            (kind, None) if !kind.is_empty() && fields.get("record_type").is_none() => {
                items.push((format!("line {}", at + 1), line));
            }
            _ => {}
        }
    }
    let (paths, items): (Vec<_>, Vec<_>) = items.into_iter().unzip();
    // The agent leaves item ids out of its requests.
    let profile = Profile { sends_item_ids: false, ..profile.clone() };
    responses::check(&items, &paths, &profile, false, report);
    Ok(())
}

/// Takes the last turns back, each from its user message on; what the harness says in the user's name opens none.
fn roll_back(items: &mut Vec<(String, Json<'_>)>, turns: u64) {
    let opens = |(_, item): &(String, Json<'_>)| {
        let first = item.get("content").and_then(|content| content.elements().first()?.get("text")?.string());
        item.get("role").and_then(Json::string).as_deref() == Some("user")
            && !first.is_some_and(|text| {
                text.starts_with("<environment_context") || text.starts_with("# AGENTS.md")
            })
    };
    for _ in 0..turns.min(items.len() as u64) {
        match items.iter().rposition(opens) {
            Some(at) => items.truncate(at),
            None => return,
        }
    }
}

/// What the agent's last compaction kept verbatim: `head` hangs on `anchor`, what hung there hangs on `tail`.
#[derive(Clone, Copy)]
struct Kept<'a> {
    head: &'a str,
    anchor: &'a str,
    tail: &'a str,
}

fn kept_verbatim<'a>(parsed: &[Option<Object<'a>>]) -> Option<Kept<'a>> {
    let is_boundary = |line: &&Object<'a>| line.text("subtype").as_deref() == Some("compact_boundary");
    let boundary = parsed.iter().rev().flatten().find(is_boundary)?;
    let segment = boundary.get("compactMetadata")?.get("preservedSegment")?.object();
    let uuid = |key| segment.get(key).map(Json::raw);
    Some(Kept { head: uuid("headUuid")?, anchor: uuid("anchorUuid")?, tail: uuid("tailUuid")? })
}

/// C-01 and C-05: lines of a message on the path, and results of its calls, belong to it wherever they hang. Returns
/// the lines with each message's in one run.
fn joined(parsed: &[Option<Object<'_>>], said: &[bool], path: &HashSet<usize>) -> Vec<usize> {
    let message = |at: usize| parsed[at].as_ref().and_then(|line| line.get("message"));
    let api_id = |at: usize| message(at)?.get("id")?.string();
    let on_path: HashSet<String> = path.iter().filter_map(|at| api_id(*at)).collect();
    let mut calls: HashSet<String> = HashSet::new();
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut live = Vec::new();
    for at in (0..parsed.len()).filter(|at| said[*at]) {
        let blocks =
            message(at).and_then(|message| message.get("content")).map(Json::elements).unwrap_or_default();
        let ids = |key: &str| blocks.iter().filter_map(|block| block.get(key)?.string()).collect::<Vec<_>>();
        let answers = ids("tool_use_id").iter().any(|id| calls.remove(id));
        let id = api_id(at);
        if !path.contains(&at) && !answers && !id.as_ref().is_some_and(|id| on_path.contains(id)) {
            continue;
        }
        calls.extend(ids("id"));
        let place = id.map_or(at, |id| *first.entry(id).or_insert(at));
        live.push((place, at));
    }
    live.sort_unstable();
    live.into_iter().map(|(_, at)| at).collect()
}
