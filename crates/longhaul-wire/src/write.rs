//! Writing a history: what did not change as it stood, what changed patched in place, what is new spelled afresh.

use std::io::Write;

use longhaul_transcript::{Item, Message, Origin, Part};

use crate::{
    Document, WireError,
    dialect::Sources,
    document::Layout,
    edit::{Edits, Located, align, patch},
    emitted::{Emitted, Rendered},
    json::Json,
    reasoning, session, whole,
};

/// Writes the bytes that were read.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_unchanged(doc: &Document, out: &mut impl Write) -> Result<(), WireError> {
    Ok(out.write_all(&doc.bytes)?)
}

/// Writes `items` in the document's format.
///
/// A message that equals the document's own (see [`Origin::Document`]) comes back byte for byte; of one that differs
/// only what differs is replaced, and fields that longhaul does not know stay; one that lost all its parts is left out.
/// Other messages and summaries are spelled afresh. When nothing changed at all, the output is the input.
///
/// # Errors
/// When `out` cannot be written to, or when something is to be changed in a format that can only be imported.
pub fn write<'a>(
    doc: &Document,
    items: impl IntoIterator<Item = Item<'a>>,
    out: &mut impl Write,
) -> Result<(), WireError> {
    let items: Vec<Item<'a>> = items.into_iter().collect();
    let mut taken = vec![false; doc.slots.len()];
    let dialect = doc.format.spec().writing.as_ref().map(|writing| writing.dialect);
    let mut sources = Sources::default();
    // What is new may answer calls, and some dialects have a result name its tool.
    if items
        .iter()
        .any(|item| !matches!(item, Item::Message { message, .. } if message.origin != Origin::Longhaul))
    {
        doc.transcript.entries().iter().for_each(|entry| sources.note_calls(&entry.message));
    }
    let mut emitted: Vec<Emitted<'a>> = Vec::with_capacity(items.len());
    let fresh = |message: &Message| match dialect {
        Some(dialect) => (dialect.fresh)(message, &sources),
        // Only imported: it is refused below.
        None => Vec::new(),
    };
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        emitted.push(match item {
            Item::Summary(record) => Emitted::Summary { record, values: fresh(&record.to_message()) },
            Item::Message { message, .. } => match own(doc, message, &mut taken) {
                Some(n) if doc.steps_of(n).len() > 1 => {
                    let mut steps = vec![(n, message)];
                    while let Some((next, message)) = items.peek().and_then(|item| next_step(doc, n, item)) {
                        if next <= steps[steps.len() - 1].0 || own(doc, message, &mut taken).is_none() {
                            break;
                        }
                        steps.push((next, message));
                        items.next();
                    }
                    Emitted::Kept { n, rendered: vec![render_steps(doc, &steps)] }
                }
                Some(n) => Emitted::Kept { n, rendered: render(doc, n, message) },
                None => Emitted::Fresh(fresh(message)),
            },
        });
    }
    // Looked at before anything is settled: what the file has wrong itself stays as it is.
    if is_unchanged(doc, &emitted) {
        return write_unchanged(doc, out);
    }
    if dialect.is_some_and(|dialect| dialect.is_of_items) {
        reasoning::settle(doc, &mut emitted);
    }
    let text = match &doc.layout {
        Layout::Whole(layout) => whole::write(doc, layout, &emitted),
        Layout::ClaudeCode(lines) => return session::claude_code_write::write(doc, lines, &emitted, out),
        Layout::Codex(lines) => return session::codex_write::write(doc, lines, &emitted, out),
        Layout::Import => return Err(WireError::ImportOnly { format: doc.format }),
    };
    Ok(out.write_all(text.as_bytes())?)
}

/// Returns which of the document's messages this is; each is written but once.
fn own(doc: &Document, message: &Message, taken: &mut [bool]) -> Option<usize> {
    let Origin::Document(n) = message.origin else { return None };
    let n = n as usize;
    let free = taken.get_mut(n).filter(|taken| !**taken)?;
    let original = &doc.transcript.entries().get(n)?.message;
    if original.role != message.role {
        return None;
    }
    *free = true;
    Some(n)
}

fn is_unchanged(doc: &Document, emitted: &[Emitted<'_>]) -> bool {
    // Steps of one answer are written together.
    let firsts = (0..doc.slots.len()).filter(|n| doc.steps_of(*n).start == *n);
    let is_same = |emitted: &Emitted<'_>| match emitted {
        Emitted::Kept { n, rendered } if rendered.iter().all(|one| matches!(one, Rendered::Same)) => Some(*n),
        _ => None,
    };
    firsts.map(Some).eq(emitted.iter().map(is_same))
}

/// Returns the message that `item` is where it is another step of the answer that message `n` is of.
fn next_step<'a>(doc: &Document, n: usize, item: &Item<'a>) -> Option<(usize, &'a Message)> {
    let Item::Message { message, .. } = item else { return None };
    let Origin::Document(next) = message.origin else { return None };
    doc.steps_of(n).contains(&(next as usize)).then_some((next as usize, *message))
}

/// Renders the answer that `steps` are what is left of.
fn render_steps(doc: &Document, steps: &[(usize, &Message)]) -> Rendered {
    let Some(&(first, message)) = steps.first() else { return Rendered::Gone };
    let fragment = &doc.slots[first].fragments[0];
    let Some((json, said)) = doc.fragment(fragment) else { return Rendered::Same };
    let sources = Sources::of_media(said.payloads.iter().cloned());
    let mut pairs: Option<Vec<Option<&Part>>> = Some(Vec::with_capacity(said.parts.len()));
    for (n, step) in doc.steps_of(first).zip(said.of_steps()) {
        let kept = steps.iter().find(|(kept, _)| *kept == n);
        let step = match kept {
            Some((_, message)) => align(&said.parts[step], &message.parts),
            None => Some(vec![None; step.len()]),
        };
        pairs = pairs.zip(step).map(|(pairs, step)| [pairs, step].concat());
    }
    match pairs.map(|pairs| patch(fragment.dialect, json, &said.parts, &pairs, &sources)) {
        Some(None) => Rendered::Gone,
        Some(Some(value)) if value == json.raw() => Rendered::Same,
        Some(Some(value)) => Rendered::Changed(value),
        None => {
            let parts = steps.iter().flat_map(|(_, message)| message.parts.iter().cloned()).collect();
            let whole = Message { parts, ..message.clone() };
            rewritten(doc, first, &whole, &sources).pop().unwrap_or(Rendered::Gone)
        }
    }
}

/// Renders the fragments of message `n` so that they say what `message` says.
fn render(doc: &Document, n: usize, message: &Message) -> Vec<Rendered> {
    let fragments = &doc.slots[n].fragments;
    let original = &doc.transcript.entries()[n].message;
    if std::ptr::eq(&**original, message) || original.parts == message.parts {
        return fragments.iter().map(|_| Rendered::Same).collect();
    }
    if fragments.is_empty() {
        // Only imported: there is no place to change it in.
        return vec![Rendered::Gone];
    }
    if message.parts.is_empty() {
        return fragments.iter().map(|_| Rendered::Gone).collect();
    }
    let read: Vec<_> = fragments.iter().filter_map(|fragment| doc.fragment(fragment)).collect();
    let sources = Sources::of_media(read.iter().flat_map(|(_, said)| said.payloads.iter().cloned()));
    let old: Vec<Located<'_>> = read.iter().flat_map(|(_, said)| said.parts.iter().cloned()).collect();
    let is_patched = fragments.iter().all(|fragment| fragment.dialect.is_patched);
    let aligned = align(&old, &message.parts).filter(|_| is_patched && read.len() == fragments.len());
    let Some(pairs) = aligned else {
        return rewritten(doc, n, message, &sources);
    };
    let mut from = 0;
    let mut rendered = Vec::with_capacity(fragments.len());
    for ((json, said), fragment) in read.iter().zip(fragments) {
        let pairs = &pairs[from..from + said.parts.len()];
        from += said.parts.len();
        rendered.push(match patch(fragment.dialect, *json, &said.parts, pairs, &sources) {
            None => Rendered::Gone,
            Some(value) if value == json.raw() => Rendered::Same,
            Some(value) => Rendered::Changed(value),
        });
    }
    rendered
}

/// Spells `message` afresh in the place of its first fragment; the fields around its content stay where they can.
fn rewritten(doc: &Document, n: usize, message: &Message, sources: &Sources<'_>) -> Vec<Rendered> {
    let fragments = &doc.slots[n].fragments;
    let mut rendered: Vec<_> = fragments.iter().map(|_| Rendered::Gone).collect();
    let Some(first) = fragments.first() else { return rendered };
    let Some(value) = (first.dialect.fresh)(message, sources).into_iter().next() else { return rendered };
    let value = match first.dialect.content_key {
        Some(key) => with_content(doc.raw(&first.range), &value, key).unwrap_or(value),
        None => value,
    };
    rendered[0] = Rendered::Changed(value);
    rendered
}

/// Returns the message `old` with the content of the message `new`, which stands in the field `key`.
pub(crate) fn with_content(old: &str, new: &str, key: &str) -> Option<String> {
    let content = Json::check(old.as_bytes()).ok()?.get(key)?;
    let replacement = Json::check(new.as_bytes()).ok()?.get(key)?;
    let mut edits = Edits::default();
    edits.replace(content.range_in(old), replacement.raw());
    Some(edits.apply(old))
}
