//! Reasoning of the Responses API on its way out: it goes with what it led to, and what it led to forgets it with its id.

use longhaul_transcript::{Entry, Part, Role};

use crate::{
    Document,
    edit::{Edits, remove_field},
    emitted::{Emitted, Rendered},
    json::Json,
};

/// Sees to it that no item is left that the server would miss another one for.
pub(crate) fn settle(doc: &Document, emitted: &mut [Emitted<'_>]) {
    drop_idle(doc, emitted);
    forget_ids(doc, emitted);
}

/// reasoning goes where nothing is left of what it led to.
fn drop_idle(doc: &Document, emitted: &mut [Emitted<'_>]) {
    let answers = answers(doc);
    // What comes behind, and the answer of the model that it belongs to.
    let mut next: Option<usize> = None;
    let last = doc.slots.len().checked_sub(1);
    for emitted in emitted.iter_mut().rev() {
        let Emitted::Kept { n, rendered } = emitted else {
            next = None;
            continue;
        };
        if rendered.iter().all(|rendered| matches!(rendered, Rendered::Gone)) {
            continue;
        }
        // Reasoning at the very end may still wait for what it leads to.
        let leads_on = answers[*n].is_some() && answers[*n] == next || Some(*n) == last;
        if is_reasoning(doc, *n) && !leads_on {
            rendered.iter_mut().for_each(|rendered| *rendered = Rendered::Gone);
            continue;
        }
        next = answers[*n];
    }
}

/// what came with reasoning that is gone loses its own id, for the server would ask for the reasoning by it. That is
/// the item behind the reasoning, and what the model said and called after it in the same answer.
fn forget_ids(doc: &Document, emitted: &mut [Emitted<'_>]) {
    let mut is_kept = vec![false; doc.slots.len()];
    for emitted in emitted.iter() {
        if let Emitted::Kept { n, rendered } = emitted {
            is_kept[*n] = !rendered.iter().all(|rendered| matches!(rendered, Rendered::Gone));
        }
    }
    let answers = answers(doc);
    let mut has_lost = vec![false; doc.slots.len()];
    for n in 1..doc.slots.len() {
        let before = n - 1;
        let goes_on = answers[n].is_some() && answers[n] == answers[before];
        has_lost[n] = goes_on
            && match (is_reasoning(doc, before), is_reasoning(doc, n)) {
                // Reasoning may come in several items; new reasoning begins anew.
                (true, true) => has_lost[before] || !is_kept[before],
                (false, true) => false,
                (true, false) => has_lost[before] || !is_kept[before],
                (false, false) => has_lost[before],
            };
    }
    for emitted in emitted {
        let Emitted::Kept { n, rendered } = emitted else { continue };
        let (true, Some(first)) = (has_lost[*n] && !is_reasoning(doc, *n), rendered.first_mut()) else {
            continue;
        };
        let raw = match first {
            Rendered::Same => doc.raw(&doc.slots[*n].fragments[0].range).to_owned(),
            Rendered::Changed(raw) => std::mem::take(raw),
            Rendered::Gone => continue,
        };
        let changed = without_field(&raw, "id");
        *first = if changed == doc.raw(&doc.slots[*n].fragments[0].range) {
            Rendered::Same
        } else {
            Rendered::Changed(changed)
        };
    }
}

/// Returns of each message which answer of the model it is a part of: what the model said in one go, between what it was
/// told.
fn answers(doc: &Document) -> Vec<Option<usize>> {
    let entries = doc.transcript.entries().iter();
    let mut begun = None;
    let answer = |(n, entry): (usize, &Entry)| {
        begun = (entry.message.role == Role::Assistant).then(|| begun.unwrap_or(n));
        begun
    };
    entries.enumerate().map(answer).collect()
}

fn is_reasoning(doc: &Document, n: usize) -> bool {
    let parts = &doc.transcript.entries()[n].message.parts;
    !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Reasoning(_)))
}

/// Returns the object `raw` without the field `key`.
pub(crate) fn without_field(raw: &str, key: &str) -> String {
    let mut edits = Edits::default();
    if let Ok(json) = Json::check(raw.as_bytes()) {
        remove_field(raw, &json.object(), key, &mut edits);
    }
    edits.apply(raw)
}
