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
    json::quoted,
    spelled::{Spelled, is_spelled, spelled},
};

/// U-03, A-10, R-07: gives every call an id of its own that the format takes, in its spelling too. One that was spelled for the
/// format keeps what the format takes; any other gets what all of them take.
pub(crate) fn settle(messages: &mut [Cow<'_, Message>], writing: &Writing, losses: &mut Losses) {
    let mut taken: HashSet<CallId> = HashSet::new();
    let mut now: HashMap<CallId, CallId> = HashMap::new();
    let mut derived = Derived::default();
    for message in messages {
        let is_own = is_spelled(message, writing);
        let takes = |id: &str| if is_own { (writing.dialect.takes_id)(id) } else { is_fit(id) };
        let on_wire = LazyCell::new(|| on_wire(message));
        let said = LazyCell::new(|| said(message));
        let mut n_calls = 0;
        let mut changed: Vec<(usize, CallId)> = Vec::new();
        for (at, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall(call) => {
                    let nth = n_calls;
                    n_calls += 1;
                    let is_free = takes(call.id.as_str()) && !taken.contains(&call.id);
                    // Where the wire has no id, none is taken.
                    let id = match is_free || is_own && !on_wire.contains(&at) {
                        true => call.id.clone(),
                        false => derived.id(&said, nth, &taken),
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
            let id = quoted(id.as_str());
            edits[place.item]
                .replace(place.range, if place.is_missing { format!("\"id\":{id},") } else { id });
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

/// Where a spelling has the id of a call or result, or may have it.
struct Place {
    part: usize,
    item: usize,
    range: Range<usize>,
    /// There is none: Gemini asks for none.
    is_missing: bool,
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
            let inner = INSIDE.iter().find_map(|key| element.get(key));
            let found = IDS.iter().find_map(|key| inner.unwrap_or(element).get(key));
            let base = item.json.raw();
            let range = match (found, inner) {
                (Some(found), _) => {
                    Some(found.range_in(base)).filter(|_| found.text().as_deref() == Some(id))
                }
                (None, Some(inner)) => Some(inner.range_in(base).start + 1).map(|begin| begin..begin),
                (None, None) => None,
            };
            let is_missing = found.is_none();
            places.extend(range.map(|range| Place { part, item: at, range, is_missing }));
        }
    }
    places
}

/// Returns the parts that have an id in their message's spelling.
fn on_wire(message: &Message) -> HashSet<usize> {
    let places =
        places(message, &spelled(message).unwrap_or_default()).into_iter().filter(|place| !place.is_missing);
    places.map(|place| place.part).collect()
}

/// Returns what tells a call or result from the others: whether it is a call, and its id.
fn key(part: &Part) -> Option<(bool, &str)> {
    match part {
        Part::ToolCall(call) => Some((true, call.id.as_str())),
        Part::ToolResult(result) => Some((false, result.call_id.as_str())),
        _ => None,
    }
}

/// Where Gemini's parts have a call or result, and what the providers call its id.
const INSIDE: [&str; 4] = ["functionCall", "function_call", "functionResponse", "function_response"];
const IDS: [&str; 5] = ["call_id", "tool_call_id", "tool_use_id", "toolCallId", "id"];

/// Returns whether every format takes this id: at most 40 (O-13) letters, digits, `_` and `-`.
pub(crate) fn is_fit(id: &str) -> bool {
    id.len() <= 40 && is_plain(id)
}

/// returns whether an id is made of letters, digits, `_` and `-`.
pub(crate) fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Ids for calls that cannot keep theirs, made of what their messages say and not of what stands before them: that may be gone in the
/// next request, and what the provider cached of the rest would be, too.
#[derive(Default)]
pub(crate) struct Derived {
    /// How many were made of the same.
    made: HashMap<ContentHash, u64>,
}

impl Derived {
    /// Returns an id for the call that `nth` others stand before in a message that is known by `said`; none of those that are taken.
    pub(crate) fn id(&mut self, said: &ContentHash, nth: usize, taken: &HashSet<CallId>) -> CallId {
        let call = ContentHash::of_fields([&said.0[..], &(nth as u64).to_le_bytes()]);
        let again = self.made.entry(call).or_default();
        loop {
            let hash = ContentHash::of_fields([&call.0[..], &again.to_le_bytes()]);
            *again += 1;
            let derived = CallId::from(format!("call_{}", hash.short(24)));
            if !taken.contains(&derived) {
                return derived;
            }
        }
    }
}

/// Returns what a message is known by whose reasoning may be left out.
pub(crate) fn said(message: &Message) -> ContentHash {
    let is_said = |part: &&Part| matches!(part, Part::Text(_) | Part::ToolCall(_));
    Message::new(message.role, message.parts.iter().filter(is_said).cloned().collect()).content_hash()
}
