//! A history that was read as what it is not: every format of lines carries lines that it does not know, so that a wrong one finds
//! nothing and no fault.

use anyhow::{Error, Result};
use longhaul::wire::{Document, Format, WireError, detect};
use serde_json::Value;

/// Fails where the format found no message in a history that is another's, or that says something. A session in which nobody has
/// said anything yet has the marks of its own format.
///
/// # Errors
/// The place, what stands there, and the format that it looks like.
pub(super) fn must_be_read(document: &Document) -> Result<()> {
    if !document.transcript().entries().is_empty() {
        return Ok(());
    }
    let (bytes, format) = (document.as_bytes(), document.format());
    let looks_like = other_than(format, bytes);
    let is_own = looks_like.is_none() && detect(bytes).is_some();
    if is_own || looks_like.is_none() && !says_something(bytes) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    let (at, line) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty()).unwrap_or_default();
    let fault = WireError::Shape {
        place: format!("line {}", at + 1),
        found: beginning(line),
        expected: "a message of that format",
    };
    let format = format.name();
    Err(Error::new(fault).context(match looks_like {
        Some(other) => format!("read as {format}, nothing in it is a message; {}", told(other)),
        None => format!("read as {format}, nothing in it is a message"),
    }))
}

/// Returns the format that a history looks like, where that is another than the one it was read as.
pub(super) fn other_than(format: Format, bytes: &[u8]) -> Option<Format> {
    detect(bytes).filter(|found| *found != format)
}

/// Says what a history looks like.
pub(super) fn told(other: Format) -> String {
    format!("it looks like {other} (--from {other})")
}

/// Returns whether somebody may have said something in it: it is no JSON, or a text stands where formats keep what is said.
fn says_something(bytes: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    values.any(|value| value.map_or(true, |value| has_text(&value)))
}

fn has_text(value: &Value) -> bool {
    /// What formats call it.
    const TEXTS: [&str; 4] = ["content", "text", "value", "message"];
    match value {
        Value::Array(values) => values.iter().any(has_text),
        Value::Object(fields) => fields.iter().any(|(key, value)| match value {
            Value::String(text) => TEXTS.contains(&&**key) && !text.trim().is_empty(),
            value => has_text(value),
        }),
        _ => false,
    }
}

/// Returns the first characters of a line.
fn beginning(line: &str) -> String {
    const CHARS: usize = 60;
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
