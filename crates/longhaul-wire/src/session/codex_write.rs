//! Writing a Codex rollout after something was taken out of its live context.

use std::{borrow::Cow, io::Write};

use longhaul_transcript::Tokens;

use super::codex::{Kind, Line};
use crate::{
    Document, WireError,
    document::Fragment,
    edit::{Edits, set_field},
    emitted::{Emitted, Rendered, summary_text},
    formats::{INSTRUCTIONS, USER_TEXT},
    json::{Json, quoted},
    lines,
};

/// What the last request cost, by the names of the file. Behind a summary that is told no more: an agent that resumes the
/// session would take its window for full.
const BILLED: [&str; 4] = ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"];

/// Writes the head of the file, one `compacted` line that carries everything up to the last new item, and the lines
/// of what follows, in place. A reader who replays the file ends with what was emitted.
pub(crate) fn write(
    doc: &Document,
    lines: &[Line],
    emitted: &[Emitted<'_>],
    out: &mut impl Write,
) -> Result<(), WireError> {
    let split = emitted.iter().rposition(|emitted| !is_line(doc, lines, emitted)).map_or(0, |at| at + 1);
    let (before, tail) = emitted.split_at(split);
    let mut texts: Vec<Option<String>> = vec![None; lines.len()];
    if let Some(head) = doc.slots.first().map(|slot| &slot.fragments[0]).filter(|head| is_instructions(head))
    {
        let kept = emitted.iter().find_map(|emitted| match emitted {
            Emitted::Kept { n: 0, rendered } => rendered.first(),
            _ => None,
        });
        texts[head.at] = match kept {
            Some(Rendered::Same) => None,
            Some(Rendered::Changed(value)) => Some(patched(doc, &lines[head.at], &head.range, value)),
            Some(Rendered::Gone) | None => Some(without_instructions(doc.raw(&lines[head.at].range))),
        };
    }
    let mut is_kept = vec![false; lines.len()];
    for emitted in tail {
        let Emitted::Kept { n, rendered } = emitted else { continue };
        let fragment = &doc.slots[*n].fragments[0];
        match rendered.first() {
            Some(Rendered::Same) => is_kept[fragment.at] = true,
            Some(Rendered::Changed(value)) => {
                is_kept[fragment.at] = true;
                texts[fragment.at] = Some(patched(doc, &lines[fragment.at], &fragment.range, value));
            }
            _ => {}
        }
    }
    let summary = emitted.iter().find_map(|emitted| match emitted {
        Emitted::Summary { record, .. } => Some(record),
        _ => None,
    });
    let first_kept = is_kept.iter().position(|kept| *kept).unwrap_or(lines.len());
    keep_the_rest(lines, first_kept, &mut is_kept);
    let mut written: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut compacted = compacted_line(doc, lines, before, first_kept);
    for (at, line) in lines.iter().enumerate() {
        if !is_kept[at] {
            continue;
        }
        if at >= first_kept {
            written.extend(compacted.take().map(|line| line.into_bytes().into()));
        }
        let text = texts[at].take().or_else(|| unbilled(doc.raw(&line.range), summary?.tokens_after));
        written.push(match text {
            Some(text) => text.into_bytes().into(),
            None => doc.bytes[line.range.clone()].into(),
        });
    }
    written.extend(compacted.map(|line| line.into_bytes().into()));
    let whole = if summary.is_some() { lines::without_cut(&written) } else { &written };
    lines::write(whole, doc.bytes.ends_with(b"\n") || whole.len() < written.len(), out)
}

/// Returns whether the item can be written as the line it was read from. The instructions stand in the head.
fn is_line(doc: &Document, lines: &[Line], emitted: &Emitted<'_>) -> bool {
    match emitted {
        Emitted::Kept { n, .. } => {
            let at = doc.slots[*n].fragments[0].at;
            matches!(lines[at].kind, Kind::Item { .. } | Kind::Meta)
        }
        _ => false,
    }
}

/// Decides on the lines that are no items: the head stays, and the settings of the last turn before what is kept; the
/// others share the fate of the item before them.
fn keep_the_rest(lines: &[Line], first_kept: usize, is_kept: &mut [bool]) {
    let turn = lines[..first_kept].iter().rposition(|line| line.kind == Kind::Turn);
    let mut follows_kept = false;
    for (at, line) in lines.iter().enumerate() {
        match line.kind {
            Kind::Item { .. } => follows_kept = is_kept[at],
            Kind::Meta => is_kept[at] = true,
            Kind::Compacted | Kind::TakenBack => {}
            Kind::Turn | Kind::Other => is_kept[at] = follows_kept || Some(at) == turn,
        }
    }
}

/// Returns what was said in a fragment as an item, or nothing for the instructions: they stand in the head of the file.
pub(super) fn item_of(fragment: &Fragment, raw: &str) -> Option<String> {
    match fragment.dialect {
        _ if is_instructions(fragment) => None,
        // An older compaction's summary was a bare string; here it becomes an item.
        dialect if dialect == &USER_TEXT => Some(format!(
            "{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{raw}}}]}}"
        )),
        _ => Some(raw.to_owned()),
    }
}

fn compacted_line(
    doc: &Document,
    lines: &[Line],
    before: &[Emitted<'_>],
    first_kept: usize,
) -> Option<String> {
    let mut items = Vec::new();
    let mut message = String::new();
    for emitted in before {
        match emitted {
            Emitted::Kept { n, rendered } => {
                let fragment = &doc.slots[*n].fragments[0];
                let raw = match rendered.first() {
                    Some(Rendered::Same) => doc.raw(&fragment.range),
                    Some(Rendered::Changed(value)) => value,
                    _ => continue,
                };
                items.extend(item_of(fragment, raw));
            }
            Emitted::Fresh(values) => items.extend(values.iter().cloned()),
            Emitted::Summary { record, values } => {
                items.extend(values.iter().cloned());
                message = summary_text(record);
            }
        }
    }
    if items.is_empty() {
        return None;
    }
    let model = lines[..first_kept].iter().rev().chain(lines).find_map(|line| {
        let json = Json::check(doc.raw(&line.range).as_bytes()).ok()?;
        Some(format!("\"timestamp\":{},", json.get("timestamp")?.raw()))
    });
    Some(format!(
        "{{{}\"type\":\"compacted\",\"payload\":{{\"message\":{},\"replacement_history\":[{}]}}}}",
        model.unwrap_or_default(),
        quoted(&message),
        items.join(",")
    ))
}

/// Returns a line that tells what the last request cost with `tokens` for the whole of it; `None` for any other.
fn unbilled(line: &str, tokens: Tokens) -> Option<String> {
    last_usage(line)?;
    let mut edits = Edits::default();
    set_unbilled(line, tokens, &mut edits);
    Some(edits.apply(line))
}

/// Puts `tokens` in the place of what the last request cost, on a line that tells it.
pub(super) fn set_unbilled(line: &str, tokens: Tokens, edits: &mut Edits) {
    let Some(usage) = last_usage(line) else { return };
    BILLED.iter().for_each(|key| set_field(line, usage, key, "0", edits));
    set_field(line, usage, "total_tokens", &tokens.0.to_string(), edits);
}

/// Returns the figures of the last request on a line that tells them.
pub(super) fn last_usage(line: &str) -> Option<Json<'_>> {
    let payload = Json::check(line.as_bytes()).ok()?.get("payload")?;
    let is_count = payload.get("type")?.text()? == "token_count";
    payload.get("info").filter(|_| is_count)?.get("last_token_usage").filter(|usage| usage.is_object())
}

fn is_instructions(fragment: &Fragment) -> bool {
    fragment.dialect == &INSTRUCTIONS
}

/// Returns the head of the file without the instructions in it, wherever they stand.
fn without_instructions(line: &str) -> String {
    let mut edits = Edits::default();
    if let Ok(json) = Json::check(line.trim_start_matches('\u{feff}').as_bytes()) {
        let payload = json.get("payload").filter(|payload| payload.is_object()).unwrap_or(json);
        ["base_instructions", "instructions"]
            .iter()
            .for_each(|key| set_field(line, payload, key, "null", &mut edits));
    }
    edits.apply(line)
}

fn patched(doc: &Document, line: &Line, range: &std::ops::Range<usize>, value: &str) -> String {
    let mut edits = Edits::default();
    edits.replace(range.start - line.range.start..range.end - line.range.start, value);
    edits.apply(doc.raw(&line.range))
}
