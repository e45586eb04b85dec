//! The fixture format: one message a line, `role: text`.
//!
//! - `system:`, `developer:`, `user:`, `assistant:` begin a message; `tool#ID:` and `tool#ID!:` (failed) begin a result.
//! - In an assistant's message, ` !name#id {json}` is a tool call; several may follow each other.
//! - A line that begins no message continues the one before. Blank lines at both ends are ignored.

use std::fmt;

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};

/// Returns the transcript that `text` describes.
///
/// # Panics
/// When `text` is not in the fixture format: a broken fixture is a broken test.
#[allow(clippy::panic, reason = "tests call this, and a broken fixture must stop them")]
pub fn transcript(text: &str) -> Transcript {
    match parse(text) {
        Ok(transcript) => transcript,
        Err(error) => panic!("{error}"),
    }
}

/// A line that is not in the fixture format.
#[derive(Debug)]
pub struct FixtureError {
    line: String,
}

impl fmt::Display for FixtureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the fixture begins with {:?}; expected `role: text`", self.line)
    }
}

/// Returns the transcript that `text` describes.
///
/// # Errors
/// When the first line begins no message.
pub fn parse(text: &str) -> Result<Transcript, FixtureError> {
    let mut messages: Vec<(Head, String)> = Vec::new();
    for line in text.trim_matches('\n').lines() {
        match (head(line), messages.last_mut()) {
            (Some((head, rest)), _) => messages.push((head, rest.to_owned())),
            (None, Some((_, body))) => {
                body.push('\n');
                body.push_str(line);
            }
            (None, None) => return Err(FixtureError { line: line.to_owned() }),
        }
    }
    Ok(messages.into_iter().map(|(head, body)| message(head, &body)).collect())
}

enum Head {
    Said(Role),
    Result { id: String, outcome: Outcome },
}

fn head(line: &str) -> Option<(Head, &str)> {
    let (name, rest) = line.split_once(':')?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let head = match name {
        "system" => Head::Said(Role::System),
        "developer" => Head::Said(Role::Developer),
        "user" => Head::Said(Role::User),
        "assistant" => Head::Said(Role::Assistant),
        _ => {
            let id = name.strip_prefix("tool#")?;
            match id.strip_suffix('!') {
                Some(id) => Head::Result { id: id.into(), outcome: Outcome::Failed },
                None => Head::Result { id: id.into(), outcome: Outcome::Unstated },
            }
        }
    };
    Some((head, rest))
}

fn message(head: Head, body: &str) -> Message {
    match head {
        Head::Result { id, outcome } => {
            Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text(id, body, outcome))])
        }
        Head::Said(Role::Assistant) => Message::new(Role::Assistant, said(body)),
        Head::Said(role) => Message::new(role, vec![Part::Text(body.to_owned())]),
    }
}

/// Splits an assistant's body into text and calls.
fn said(body: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some((text, call, after)) = next_call(rest) {
        if !text.trim().is_empty() {
            parts.push(Part::Text(text.trim_end().to_owned()));
        }
        parts.push(Part::ToolCall(call));
        rest = after;
    }
    if !rest.trim().is_empty() || parts.is_empty() {
        parts.push(Part::Text(rest.trim_start().to_owned()));
    }
    parts
}

/// Returns what stands before the first ` !name#id {json}` of `body`, the call, and what stands after it.
fn next_call(body: &str) -> Option<(&str, ToolCall, &str)> {
    let mut from = 0;
    while let Some(found) = body[from..].find('!') {
        let at = from + found;
        from = at + 1;
        let Some((name, after)) = body[at + 1..].split_once('#') else { continue };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(is_name) {
            continue;
        }
        let Some((id, arguments)) = after.split_once(' ') else { continue };
        let Some(length) = json_length(arguments) else { continue };
        let call = ToolCall::function(id, name, &arguments[..length]);
        return Some((&body[..at], call, &arguments[length..]));
    }
    None
}

/// Returns the byte length of the JSON object that `text` begins with.
fn json_length(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (false, _) => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_results_and_continued_lines() {
        let text = "user: one\ntwo\nassistant: Looking. !read#c1 {\"path\":\"a}\"} !ls#c2 {}\ntool#c1!: no\ntool#c2: a b";
        let transcript = transcript(text);
        let entries = transcript.entries();
        assert_eq!(entries[0].message.texts().collect::<String>(), "one\ntwo");
        let calls: Vec<_> =
            entries[1].message.calls().map(|call| (&*call.name, &*call.arguments.0)).collect();
        assert_eq!(calls, [("read", "{\"path\":\"a}\"}"), ("ls", "{}")]);
        assert_eq!(entries[2].message.results().next().unwrap().outcome, Outcome::Failed);
        assert_eq!(transcript.units().count(), 2);
    }

    #[test]
    fn a_broken_fixture_is_refused() {
        assert!(parse("hello").is_err());
    }
}
