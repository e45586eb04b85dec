//! JSON records: ids, names, amounts and states first, as short lines of `key: value`.

use std::collections::HashMap;

use super::{
    fit::{Allowance, Piece, fit},
    lines::spread,
    render::clip,
};
use crate::json::{Json, Key, Leaf, Scalar};

/// Returns the values of a JSON text within the allowance: a line for each object, under its path, and the lengths of
/// the arrays.
pub(crate) fn records_within(json: &Json<'_>, allowance: &Allowance<'_>) -> Option<String> {
    let values: Vec<String> =
        json.leaves.iter().map(|leaf| clip(&flat(leaf.value.as_str()), VALUE_BYTES)).collect();
    let mut scores: Vec<f64> =
        json.leaves.iter().zip(&values).map(|(leaf, value)| score(json, leaf, value)).collect();
    // The same value under the same key says nothing new.
    let mut seen: HashMap<(&str, &str), u32> = HashMap::new();
    for ((leaf, value), score) in json.leaves.iter().zip(&values).zip(scores.iter_mut()) {
        let count = seen.entry((json.name(leaf), value)).or_default();
        *score /= 1.0 + 0.5 * f64::from((*count).min(20));
        *count += 1;
    }
    // The fifth entry of an array says less than the first; entries near the root say more than deep ones.
    for (leaf, score) in json.leaves.iter().zip(scores.iter_mut()) {
        let (mut at, mut index) = (leaf.container, 0usize);
        if let Key::Index(n) = leaf.key {
            index = index.max(n);
        }
        while at != 0 {
            if let Key::Index(n) = json.containers[at].key {
                index = index.max(n);
            }
            at = json.containers[at].parent;
        }
        let depth = json.containers[leaf.container].depth as f64;
        *score = *score / (1.0 + 0.06 * (index.min(80) as f64)) - 0.15 * depth.min(10.0);
    }
    spread(&mut scores);
    let pieces: Vec<Piece> = json
        .leaves
        .iter()
        .zip(&values)
        .zip(&scores)
        .map(|((leaf, value), &score)| Piece {
            score: score + allowance.wanted(&format!("{}: {value}", json.name(leaf))),
            bytes: value.len() + json.name(leaf).len() + 3,
        })
        .collect();
    fit(&pieces, allowance, |kept| {
        let mut out = shape(json);
        let mut current: Option<usize> = None;
        for &at in kept {
            let leaf = &json.leaves[at];
            if current != Some(leaf.container) {
                if !out.is_empty() {
                    out.push('\n');
                }
                let path = json.container_path(leaf.container);
                if !path.is_empty() {
                    out.push_str(&path);
                    out.push_str(": ");
                }
                current = Some(leaf.container);
            } else {
                out.push_str(", ");
            }
            if let Key::Name(name) = &leaf.key {
                out.push_str(name);
                out.push_str(": ");
            }
            out.push_str(&values[at]);
        }
        let hidden = json.leaves.len() - kept.len();
        if hidden > 0 {
            let sep = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{sep}… {hidden} of {} values omitted", json.leaves.len()));
        }
        if json.cut {
            out.push_str("\n… cut off here");
        }
        out
    })
}

/// A value longer than this (in bytes) is clipped.
const VALUE_BYTES: usize = 160;

/// How much a value matters by its key and its kind, from 0 to 10.
fn score(json: &Json<'_>, leaf: &Leaf<'_>, value: &str) -> f64 {
    const FIRST: [&str; 12] = [
        "error", "message", "status", "state", "reason", "detail", "exception", "code", "errors", "title",
        "name", "result",
    ];
    const FACTS: [&str; 26] = [
        "price", "amount", "total", "balance", "cost", "currency", "quantity", "email", "phone", "url",
        "path", "file", "date", "version", "type", "sha", "hash", "origin", "destination", "available",
        "number", "count", "login", "branch", "cabin", "html_url",
    ];
    let name = json.name(leaf).to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| name == *word || name.ends_with(&format!("_{word}")));
    let id = is(&["id", "ids", "key", "uuid", "ref", "slug"])
        || name.ends_with("id") && json.name(leaf).ends_with("Id");
    let by_key = match () {
        () if id => 6.5,
        () if is(&FIRST) => 6.0,
        () if is(&FACTS) || FACTS.iter().any(|fact| name.starts_with(fact)) => 5.0,
        () => 3.0,
    };
    match &leaf.value {
        Scalar::Literal("null") => 0.5,
        Scalar::Literal("false" | "true") => by_key - 0.5,
        Scalar::Literal(_) => by_key,
        Scalar::Text(text) if text.is_empty() => 0.4,
        Scalar::Text(text) if text.len() > 400 => by_key - 2.0,
        Scalar::Text(_) if value.starts_with("http") => by_key.min(4.0),
        Scalar::Text(_) => by_key,
    }
}

/// Returns the lengths of the arrays that hold several objects or more than three values: `items[12]`.
fn shape(json: &Json<'_>) -> String {
    let arrays =
        json.containers.iter().enumerate().filter(|(_, container)| container.is_array && container.len > 3);
    let outer = arrays.filter(|(_, container)| container.depth <= 2).take(6);
    let lengths: Vec<String> =
        outer.map(|(at, c)| format!("{}[{}]", json.container_path(at), c.len)).collect();
    lengths.join(", ")
}

/// Returns the text on one line.
fn flat(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * VALUE_BYTES));
    for word in super::clean::prefix(text, 4 * VALUE_BYTES).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    if text.len() > 4 * VALUE_BYTES {
        out.push_str(" …");
    }
    out
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::Tokens;

    use super::*;

    #[test]
    fn ids_and_states_come_before_the_rest() {
        let text = r##"{"order_id":"#W1","note":"left at the door by the second courier of the day","status":"pending","items":[{"item_id":"77","price":12.5},{"item_id":"78","price":3}],"gift":null}"##;
        let json = Json::read(text).expect("is JSON");
        let count = |text: &str| Tokens(text.len() as u64);
        let shown = records_within(&json, &Allowance::new(Tokens(130), &count));
        assert_eq!(
            shown.as_deref(),
            Some(
                "order_id: #W1, status: pending\nitems[0]: item_id: 77, price: 12.5\nitems[1]: item_id: 78, price: 3\n… 2 of 8 values omitted"
            )
        );
    }
}
