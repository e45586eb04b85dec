//! What Codex appends when it compacts: the history that takes the place of the old one, the settings of the turn, and counts
//! that begin anew.

use longhaul_transcript::{ContentHash, Tokens};

use crate::{
    Document,
    document::Layout,
    edit::{Edits, set_field},
    json::{Json, quoted},
    session::{
        claude_code_write::uuid_from,
        codex::Kind,
        codex_write::{item_of, last_usage, set_unbilled},
    },
};

pub(crate) fn lines(doc: &Document, compacted: &Document, at: &str, tokens: Tokens) -> Vec<String> {
    let Layout::Codex(lines) = &doc.layout else { return Vec::new() };
    let text = |at: usize| doc.raw(&lines[at].range);
    let last = |is: &dyn Fn(usize) -> bool| (0..lines.len()).rev().find(|at| is(*at)).map(text);
    let stamped = |line: &str, edits: &mut Edits| {
        if let Ok(json) = Json::check(line.as_bytes()) {
            set_field(line, json, "timestamp", &quoted(at), edits);
        }
    };
    let window = last(&|at| lines[at].kind == Kind::Compacted).and_then(|line| next_window(line, at));
    let mut appended = vec![format!(
        "{{\"timestamp\":{},\"type\":\"compacted\",\"payload\":{{\"message\":{},\"replacement_history\":[{}]{}}}}}",
        quoted(at),
        message(compacted),
        history(compacted).join(","),
        window.unwrap_or_default(),
    )];
    if let Some(turn) = last(&|at| lines[at].kind == Kind::Turn) {
        let mut edits = Edits::default();
        stamped(turn, &mut edits);
        appended.push(edits.apply(turn));
    }
    if let Some(counts) = last(&|at| last_usage(text(at)).is_some()) {
        let mut edits = Edits::default();
        stamped(counts, &mut edits);
        set_unbilled(counts, tokens, &mut edits);
        appended.push(edits.apply(counts));
    }
    appended.push(format!(
        "{{\"timestamp\":{},\"type\":\"event_msg\",\"payload\":{{\"type\":\"context_compacted\"}}}}",
        quoted(at)
    ));
    appended
}

/// Returns the items of the compacted history. The instructions stand in the head of the file.
fn history(compacted: &Document) -> Vec<String> {
    let fragments = compacted.slots.iter().flat_map(|slot| &slot.fragments);
    fragments.filter_map(|fragment| item_of(fragment, compacted.raw(&fragment.range))).collect()
}

/// Returns the summary's text as `compacted` has it beside its history.
fn message(compacted: &Document) -> String {
    let Layout::Codex(lines) = &compacted.layout else { return quoted("") };
    let line = lines.iter().rev().find(|line| line.kind == Kind::Compacted);
    let json = line.and_then(|line| Json::check(compacted.raw(&line.range).as_bytes()).ok());
    let message = json.and_then(|json| json.get("payload")?.get("message"));
    message.map_or(quoted(""), |message| message.raw().to_owned())
}

/// Returns the names of the window that begins here, where the compaction before it, on `line`, named its own.
fn next_window(line: &str, at: &str) -> Option<String> {
    let payload = Json::check(line.as_bytes()).ok()?.get("payload")?;
    let (number, first, id) =
        (payload.get("window_number")?.as_u64()?, payload.get("first_window_id")?, payload.get("window_id")?);
    let hash = ContentHash::of_fields([b"appended window".as_slice(), at.as_bytes(), id.raw().as_bytes()]);
    Some(format!(
        ",\"window_number\":{},\"first_window_id\":{},\"previous_window_id\":{},\"window_id\":{}",
        number.saturating_add(1),
        first.raw(),
        id.raw(),
        quoted(&uuid_from(&hash))
    ))
}

/// Returns the places of a line that name the session.
pub(crate) fn session_ids(line: Json<'_>) -> Vec<Json<'_>> {
    let is_meta = line.get("type").and_then(Json::string).as_deref() == Some("session_meta");
    let head = match is_meta {
        true => line.get("payload"),
        // Old files have no wrapper; their head has no type.
        false => Some(line).filter(|line| line.get("type").is_none() && line.get("record_type").is_none()),
    };
    head.into_iter().flat_map(|head| [head.get("id"), head.get("session_id")]).flatten().collect()
}
