//! Telling a format from the first bytes.

use crate::Format;

/// Returns the format of a history that begins with `head`: the first few kilobytes will do.
///
/// Formats that share a shape are told apart by what they say: an array of `role` and `content` is Anthropic's where
/// it has blocks of Anthropic's kinds, else OpenAI's.
pub fn detect(head: &[u8]) -> Option<Format> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = Head(head);
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace())?;
    match first {
        // The first line of a session file may be of a kind that says nothing.
        b'{' => text.object().or_else(|| text.later_lines()),
        b'[' => text.array(),
        _ => None,
    }
}

struct Head<'a>(&'a [u8]);

impl Head<'_> {
    fn object(&self) -> Option<Format> {
        let keys = self.keys();
        let has = |key: &str| keys.iter().any(|known| known == key);
        if has("format") && self.has_value("format", "longhaul") {
            return Some(Format::Longhaul);
        }
        if has("payload") && has("type") || self.is_bare_codex() {
            return Some(Format::Codex);
        }
        if has("parentUuid") || has("isSidechain") || has("leafUuid") || has("isSnapshotUpdate") {
            return Some(Format::ClaudeCode);
        }
        if has("type") && has("sessionId") && !has("messages") {
            return Some(Format::ClaudeCode);
        }
        if self.types("session") && (has("cwd") || has("id")) {
            return Some(Format::Pi);
        }
        if has("contents") || has("systemInstruction") || has("system_instruction") {
            return Some(Format::Gemini);
        }
        if has("meeting_transcripts") || has("topic_list") {
            return Some(Format::Meeting);
        }
        if has("trajectory") || has("history") {
            return Some(Format::SweAgent);
        }
        if has("traj") || has("task_id") || has("termination_reason") {
            return Some(Format::Tau2);
        }
        if has("av_num") || has("context") && has("speaker") {
            return Some(Format::Vcsum);
        }
        if has("input") || has("instructions") || has("previous_response_id") {
            return Some(Format::Responses);
        }
        if has("conversations") || has("conversation") {
            return Some(Format::Chat);
        }
        match has("messages") || has("model") || has("system") || has("tools") {
            true if has("system") || self.is_anthropic() || has("anthropic_version") => {
                Some(Format::Anthropic)
            }
            true => Some(Format::OpenAi),
            false => None,
        }
    }

    fn later_lines(&self) -> Option<Format> {
        const LINES: usize = 50;
        let mut lines = self.0.split(|byte| *byte == b'\n').take(LINES);
        let is_line = lines.next().is_some_and(|first| crate::json::Json::check(first).is_ok());
        lines.filter(|_| is_line).find_map(|line| Head(line).object())
    }

    fn array(&self) -> Option<Format> {
        let keys = self.keys();
        let has = |key: &str| keys.iter().any(|known| known == key);
        if has("parts") {
            return Some(Format::Gemini);
        }
        if has("from") && has("value") {
            return Some(Format::Chat);
        }
        if self.is_responses() {
            return Some(Format::Responses);
        }
        let is_empty = self.0.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(b"[]");
        match has("role") {
            true if self.is_anthropic() => Some(Format::Anthropic),
            true => Some(Format::OpenAi),
            false if has("type") => Some(Format::Responses),
            false => is_empty.then_some(Format::OpenAi),
        }
    }

    /// Blocks that only Anthropic has, by their `type`. Inside a string the quotes would be escaped.
    fn is_anthropic(&self) -> bool {
        let kinds =
            ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction"];
        kinds.iter().any(|kind| self.types(kind))
            || self.has_key("input_schema")
            || self.has_key("cache_control")
    }

    fn is_responses(&self) -> bool {
        let kinds =
            ["message", "function_call", "function_call_output", "reasoning", "input_text", "output_text"];
        !self.has_key("tool_calls") && kinds.iter().any(|kind| self.types(kind))
    }

    fn is_bare_codex(&self) -> bool {
        let first = self.0.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let first = Head(first);
        let is_line = first.0.len() < self.0.len() && crate::json::Json::check(first.0).is_ok();
        is_line && first.has_key("instructions") && first.has_key("timestamp") && !first.has_key("model")
    }

    fn types(&self, kind: &str) -> bool {
        self.has_value("type", kind)
    }

    fn has_value(&self, key: &str, value: &str) -> bool {
        let texts = [format!("\"{key}\":\"{value}\""), format!("\"{key}\": \"{value}\"")];
        texts.iter().any(|text| self.contains(text))
    }

    fn has_key(&self, key: &str) -> bool {
        [format!("\"{key}\":"), format!("\"{key}\" :")].iter().any(|text| self.contains(text))
    }

    fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(self.0, text.as_bytes()).is_some()
    }

    /// Returns the keys of the first object, as far as the text goes; in an array, those of all its elements.
    fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let (mut at, mut depth) = (0, 0usize);
        let level = if self.0.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') { 2 } else { 1 };
        while let Some(byte) = self.0.get(at) {
            match byte {
                b'"' => {
                    let start = at + 1;
                    at = start;
                    while let Some(byte) = self.0.get(at).filter(|byte| **byte != b'"') {
                        at += if *byte == b'\\' { 2 } else { 1 };
                    }
                    let after = self.0.get(at + 1..).unwrap_or_default();
                    let next = after.iter().find(|byte| !byte.is_ascii_whitespace());
                    if depth == level && next == Some(&b':') {
                        keys.push(String::from_utf8_lossy(&self.0[start..at]).into_owned());
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        keys.sort();
        keys.dedup();
        keys
    }
}
