//! What a model writes for a handle, and which messages it names.

use longhaul_transcript::Span;
use serde_json::Value;

use super::LEAST_SHOWN;

/// Returns what a model wrote for a text: several in a list, a number without quotes.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Returns the messages that handles name, or what to say where they name none.
pub(super) fn spans(handles: &str) -> Result<Vec<Span>, String> {
    let named = handles.split([',', ';']).map(str::trim).filter(|handle| !handle.is_empty());
    let spans = named.map(span).collect::<Result<Vec<Span>, String>>()?;
    if spans.is_empty() { Err(no_handle(handles)) } else { Ok(spans) }
}

/// Returns how messages up to `end` are named.
pub(super) fn named_span(start: u64, end: u64) -> String {
    match end.saturating_sub(1) {
        last if last <= start => format!("m{start}"),
        last => format!("m{start}-m{last}"),
    }
}

/// Returns the messages that `m12`, `12`, `m12-m15` or `m12..m15` names, or what to say where it names none.
fn span(handle: &str) -> Result<Span, String> {
    let number = |text: &str| text.trim().trim_start_matches(['m', 'M']).parse::<u64>().ok();
    let bare = handle.trim_matches(['(', ')', '[', ']']);
    let ends = match ["..=", "..", "-", "–", " to "].iter().find_map(|between| bare.split_once(between)) {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(bare).map(|at| (at, at)),
    };
    match ends.and_then(|(first, last)| Some((first, last, last.checked_add(1)?))) {
        Some((first, last, _)) if last < first => {
            Err(format!("{handle} goes backwards; ask for m{last}-m{first}"))
        }
        Some((start, _, end)) => Ok(Span { start, end }),
        None => Err(no_handle(handle)),
    }
}

fn no_handle(handle: &str) -> String {
    let handle: String = handle.chars().take(LEAST_SHOWN).collect();
    format!("{handle} is no handle; expected one like m12, or m12-m15 for several messages")
}
