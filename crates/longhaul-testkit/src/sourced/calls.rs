//! Whether a line tells a call: its name and its arguments, in their order.

use longhaul_transcript::ToolCall;
use serde_json::Value;

use super::folded;

/// Whether `line` is the name of `call` and what stands in its arguments: `key value, value`, each cut where it is long (`…`), the
/// keys left out where they repeat or all of them are; the last ones may be missing behind a cut or in a line of two values.
pub(super) fn tells(line: &str, call: &ToolCall) -> bool {
    let Some(told) = line.strip_prefix(&*call.name).map(folded) else { return false };
    let mut fields = Vec::new();
    if let Ok(value) = serde_json::from_str(&call.arguments.0) {
        leaves("", &value, &mut fields);
    }
    let (mut told, mut is_cut) = (told.as_str(), false);
    for (nth, (key, value)) in fields.iter().enumerate() {
        if told.is_empty() {
            return is_cut || nth == BRIEF;
        }
        told = if nth > 0 { told.strip_prefix(',').unwrap_or(told) } else { told };
        if told.strip_suffix('…').is_some_and(|start| format!("{key}{value}").starts_with(start)) {
            return true;
        }
        told = told.strip_prefix(key.as_str()).unwrap_or(told);
        let shared = told.bytes().zip(value.bytes()).take_while(|(one, other)| one == other).count();
        told = &told[told.floor_char_boundary(shared)..];
        is_cut = told.starts_with('…');
        if shared < value.len() && !is_cut {
            return false;
        }
        told = told.strip_prefix('…').unwrap_or(told);
    }
    told.is_empty()
}

/// Line ends stand in a line as they are escaped.
fn spelled(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

/// So many values are told in a few words.
const BRIEF: usize = 2;

/// The values of arguments with their keys, in order, without white space; those of a list have its key.
fn leaves(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| leaves(key, value, found)),
        Value::Array(values) => values.iter().for_each(|value| leaves(key, value, found)),
        Value::String(text) => found.push((folded(key), folded(&spelled(text)))),
        other => found.push((folded(key), other.to_string())),
    }
}
