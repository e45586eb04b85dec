//! What was done in a conversation: the files that calls wrote to, the commands that were run.

use longhaul_transcript::ToolCall;
use serde_json::Value;

/// The deeds of a conversation's tool calls.
#[derive(Debug, Default)]
pub(super) struct Acts {
    /// How many calls there are.
    pub calls: usize,
    /// What calls that write say they write to, and the commands that were run.
    written: String,
}

impl Acts {
    pub(super) fn note(&mut self, call: &ToolCall) {
        self.calls += 1;
        let name = call.name.to_lowercase();
        let arguments = serde_json::from_str::<Value>(&call.arguments.0).ok();
        let is_shell = SHELLS.iter().any(|shell| name.contains(shell));
        if !is_shell && READING.iter().any(|verb| name.starts_with(verb)) {
            return;
        }
        match arguments {
            Some(Value::Object(fields)) => {
                for (key, value) in &fields {
                    let key = key.to_lowercase();
                    let is_target = TARGETS.iter().any(|target| key.contains(target));
                    let is_command = is_shell && COMMANDS.iter().any(|command| key.contains(command));
                    if is_command || is_target {
                        self.add(&value.to_string());
                    } else if let Some(text) = value.as_str() {
                        self.note_patch(text);
                    }
                }
            }
            _ => self.note_patch(&call.arguments.0),
        }
    }

    /// Notes the files that a patch says it changes.
    fn note_patch(&mut self, patch: &str) {
        const HEADS: [&str; 5] =
            ["*** Add File", "*** Update File", "*** Delete File", "*** Move to", "+++ "];
        let lines = patch.lines().filter(|line| HEADS.iter().any(|head| line.starts_with(head)));
        lines.for_each(|line| self.add(line));
    }

    fn add(&mut self, text: &str) {
        if self.written.len() + text.len() <= MAX_BYTES {
            self.written.push_str(text);
            self.written.push('\n');
        }
    }

    /// Returns whether a call wrote to a file of this name, or a command spoke of it.
    pub(super) fn touched(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        !name.is_empty() && self.written.contains(name)
    }

    /// Returns whether a command of these words was run.
    pub(super) fn ran(&self, words: &[&str]) -> bool {
        self.written.lines().any(|line| words.iter().all(|word| line.contains(word)))
    }
}

const SHELLS: [&str; 6] = ["bash", "shell", "exec", "terminal", "command", "run_"];
/// What the names of tools that change nothing begin with.
const READING: [&str; 14] = [
    "read", "grep", "glob", "search", "list", "ls", "view", "find", "get", "fetch", "look", "think", "web",
    "todo",
];
/// What the arguments that name a file are called.
const TARGETS: [&str; 6] = ["path", "file", "target", "notebook", "uri", "dest"];
/// What the arguments that hold a command are called.
const COMMANDS: [&str; 5] = ["cmd", "command", "script", "arg", "input"];
/// What is said of calls beyond this is not looked at.
const MAX_BYTES: usize = 8 << 20;
