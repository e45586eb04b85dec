//! Ids of calls on their way out: each call has one of its own that the format takes, and its result bears the same.

use std::{
    borrow::Cow,
    cell::LazyCell,
    collections::{HashMap, HashSet},
    ops::Range,
};

use longhaul_transcript::{CallId, ContentHash, Message, Part, Raw};

use crate::{
    convert::losses::{Losses, place},
    edit::{Edits, Home},
    formats::Writing,
    json::{Json, quoted},
    order::is_spelled,
    render::{Spelled, spelled},
};

/// U-03, A-10, R-07: gives every call an id of its own that the format takes, in its spelling too. One that was spelled for the
/// format keeps what the format takes; any other gets what all of them take.
pub(crate) fn settle(messages: &mut [Cow<'_, Message>], writing: &Writing, losses: &mut Losses) {
    let mut taken: HashSet<CallId> = HashSet::new();
    let mut now: HashMap<CallId, CallId> = HashMap::new();
    for message in messages {
        let is_own = is_spelled(message, writing);
        let takes = |id: &str| if is_own { (writing.dialect.takes_id)(id) } else { is_fit(id) };
        let places = LazyCell::new(|| places(message, &spelled(message).unwrap_or_default()));
        let mut changed: Vec<(usize, CallId)> = Vec::new();
        for (at, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall(call) => {
                    let is_free = takes(call.id.as_str()) && !taken.contains(&call.id);
                    // Where the wire has no id, none is taken.
                    let id = match is_free || is_own && !places.iter().any(|place| place.part == at) {
                        true => call.id.clone(),
                        false => derived(&call.id, &taken),
                    };
                    if id != call.id {
                        losses.count("call id replaced by a derived one", place(message));
                        changed.push((at, id.clone()));
                    }
                    taken.insert(id.clone());
                    now.insert(call.id.clone(), id);
                }
                Part::ToolResult(result) => {
                    let id = now.get(&result.call_id).filter(|id| **id != result.call_id);
                    changed.extend(id.map(|id| (at, id.clone())));
                }
                _ => {}
            }
        }
        if !changed.is_empty() {
            let renamed = renamed(message, &changed);
            *message = Cow::Owned(renamed);
        }
    }
}

/// Returns `message` with other ids for these of its parts, and a spelling that has them.
pub(crate) fn renamed(message: &Message, ids: &[(usize, CallId)]) -> Message {
    let mut renamed = message.clone();
    for (at, id) in ids {
        match &mut renamed.parts[*at] {
            Part::ToolCall(call) => call.id = id.clone(),
            Part::ToolResult(result) => result.call_id = id.clone(),
            _ => {}
        }
    }
    let items = spelled(message).unwrap_or_default();
    let mut edits: Vec<Edits> = items.iter().map(|_| Edits::default()).collect();
    let ids: HashMap<usize, &CallId> = ids.iter().map(|(at, id)| (*at, id)).collect();
    for place in places(message, &items) {
        if let Some(id) = ids.get(&place.part) {
            edits[place.item].replace(place.range, quoted(id.as_str()));
        }
    }
    let json = items.iter().zip(&edits).map(|(item, edits)| edits.apply(item.json.raw()));
    let json = json.collect::<Vec<_>>().join("\n");
    renamed.raw = renamed
        .raw
        .filter(|_| !json.is_empty())
        .map(|raw| Raw { json: json.into(), ..(*raw).clone() }.into());
    renamed
}

/// Where a spelling has the id of a call or result.
struct Place {
    part: usize,
    item: usize,
    range: Range<usize>,
}

/// Returns where the ids of a message's calls and results stand in its spelling.
fn places(message: &Message, items: &[Spelled<'_>]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut parts =
        message.parts.iter().enumerate().filter_map(|(at, part)| Some((at, key(part)?))).peekable();
    for (at, item) in items.iter().enumerate() {
        for located in &item.said.parts {
            // What was left out since stands in the spelling still.
            let Some((part, (_, id))) = parts.next_if(|(_, own)| key(&located.part) == Some(*own)) else {
                continue;
            };
            let element = match located.home {
                Home::Element { element, .. } => element,
                _ => item.json,
            };
            let range = id_in(element).filter(|found| found.text().is_some_and(|text| text == id));
            places.extend(range.map(|found| Place {
                part,
                item: at,
                range: found.range_in(item.json.raw()),
            }));
        }
    }
    places
}

/// Returns what tells a call or result from the others: whether it is a call, and its id.
fn key(part: &Part) -> Option<(bool, &str)> {
    match part {
        Part::ToolCall(call) => Some((true, call.id.as_str())),
        Part::ToolResult(result) => Some((false, result.call_id.as_str())),
        _ => None,
    }
}

/// Returns the id in the element that holds a call or result, whatever its provider calls it.
fn id_in(element: Json<'_>) -> Option<Json<'_>> {
    const INSIDE: [&str; 4] = ["functionCall", "function_call", "functionResponse", "function_response"];
    const IDS: [&str; 5] = ["call_id", "tool_call_id", "tool_use_id", "toolCallId", "id"];
    let inside = INSIDE.iter().find_map(|key| element.get(key)).unwrap_or(element);
    IDS.iter().find_map(|key| inside.get(key))
}

/// Returns whether every format takes this id: at most 40 (O-13) letters, digits, `_` and `-`.
pub(crate) fn is_fit(id: &str) -> bool {
    id.len() <= 40 && is_plain(id)
}

/// returns whether an id is made of letters, digits, `_` and `-`.
pub(crate) fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn derived(id: &CallId, taken: &HashSet<CallId>) -> CallId {
    let mut nth = taken.len() as u64;
    loop {
        let hash = ContentHash::of_fields([id.as_str().as_bytes(), &nth.to_le_bytes()]);
        let derived = CallId::from(format!("call_{}", hash.short(24)));
        if !taken.contains(&derived) {
            return derived;
        }
        nth += 1;
    }
}
