//! What an edit takes out and what it puts in, line by line.

use longhaul_transcript::ToolCall;
use serde_json::Value;

use super::folded;

/// The lines of a call that edits, without the blanks around them.
#[derive(Debug, Default)]
pub(super) struct Sides {
    removed: Vec<String>,
    added: Vec<String>,
    is_whole: bool,
}

impl Sides {
    pub(super) fn of(call: &ToolCall) -> Sides {
        let mut sides = Sides::default();
        match serde_json::from_str(&call.arguments.0) {
            Ok(value) => sides.value("", &value),
            Err(_) => sides.text("", &call.arguments.0),
        }
        sides
    }

    fn value(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| self.value(key, value)),
            Value::Array(values) => values.iter().for_each(|value| self.value(key, value)),
            Value::String(text) => self.text(key, text),
            _ => {}
        }
    }

    fn text(&mut self, key: &str, text: &str) {
        let is_patch = text.contains("*** Begin Patch") || text.contains("\n+++ ");
        self.is_whole |= ["content", "contents", "file_text", "file_content"].contains(&key);
        let is_old = key.starts_with("old") || key == "search";
        let mut searched = false;
        for line in text.lines() {
            let bare = line.trim_matches(['<', '>', '-', '+', '=', ' ']);
            let is_mark = |word: &str| bare == word && line.len() > word.len() + 4;
            if is_mark("SEARCH") || is_mark("REPLACE") || is_mark("") {
                searched = bare == "SEARCH" || searched && bare.is_empty() && line.starts_with('-');
                continue;
            }
            let (is_removed, line) = match (is_patch, line.split_at_checked(1)) {
                (true, Some(("+", line))) => (false, line),
                (true, Some(("-", line))) => (true, line),
                (true, _) => continue,
                (false, _) => (is_old || searched, line),
            };
            let side = if is_removed { &mut self.removed } else { &mut self.added };
            side.push(line.trim().to_owned());
        }
    }

    /// Whether the edit adds, or removes, a `line` that it does not leave as it was.
    pub(super) fn changes(&self, line: &str, is_added: bool) -> bool {
        let (there, other) =
            if is_added { (&self.added, &self.removed) } else { (&self.removed, &self.added) };
        let count = |lines: &[String]| lines.iter().filter(|known| *known == line).count();
        match count(there) {
            // A piece of a long line.
            0 => there.iter().any(|known| folded(known).contains(&folded(line))),
            n => n > count(other),
        }
    }

    /// Whether a file is written as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole && self.removed.is_empty()
    }

    pub(super) fn n_added(&self) -> usize {
        self.added.len()
    }

    pub(super) fn n_removed(&self) -> usize {
        self.removed.len()
    }
}
