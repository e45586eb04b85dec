//! What fills the window: the same tokens seen by role, by kind, by tool, and message by message.

use std::collections::{BTreeMap, HashMap};

use longhaul_extract::CallView;
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{Entry, Message, MessageId, Part, Role, Tokens, ToolCall, clipped};
use serde::Serialize;

/// What fills the window. Each of the three maps sums up to [`total`](Self::total).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Breakdown {
    /// Number of messages.
    pub messages: usize,
    /// Tokens of all messages, their framing and the primer of the reply.
    pub total: Tokens,
    /// By who speaks; framing goes to its message, the primer to `assistant`.
    pub by_role: BTreeMap<String, Tokens>,
    /// By kind: `text`, `tool_call`, `tool_result`, `media`, `reasoning`, `opaque`, `framing`.
    pub by_kind: BTreeMap<String, Tokens>,
    /// Calls and results by the tool's name; results of unknown calls under `(unknown)`.
    pub by_tool: BTreeMap<String, ToolTokens>,
    /// What each message costs, in order.
    #[serde(skip)]
    pub per_message: Vec<Tokens>,
}

/// What one tool's calls and results cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolTokens {
    /// How often it was called.
    pub calls: u64,
    /// Tokens of calls and results.
    pub tokens: Tokens,
}

/// A message that costs much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Largest {
    /// The message.
    pub id: MessageId,
    /// What it costs.
    pub tokens: Tokens,
    /// What it is, in a few words: a tool and what it was asked, or a role and how it begins.
    pub what: String,
}

impl Breakdown {
    /// Counts every entry once.
    pub fn of(entries: &[Entry], counter: &dyn TokenCounter) -> Breakdown {
        let mut breakdown = Breakdown { messages: entries.len(), ..Breakdown::default() };
        let names = call_names(entries);
        for entry in entries {
            let tokens = breakdown.add(&entry.message, &names, counter);
            breakdown.per_message.push(tokens);
        }
        let primer = counter.framing().per_reply;
        if !entries.is_empty() {
            breakdown.put(Role::Assistant, "framing", primer);
        }
        breakdown
    }

    /// Returns the `count` messages that cost most, most first.
    pub fn largest(&self, entries: &[Entry], count: usize) -> Vec<Largest> {
        let calls = calls_by_id(entries);
        let mut order: Vec<usize> = (0..entries.len().min(self.per_message.len())).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(self.per_message[*index]), *index));
        let largest = |index: usize| Largest {
            id: entries[index].id,
            tokens: self.per_message[index],
            what: describe(&entries[index].message, &calls),
        };
        order.into_iter().take(count).map(largest).collect()
    }

    fn add(&mut self, message: &Message, names: &HashMap<&str, &str>, counter: &dyn TokenCounter) -> Tokens {
        let whole = counter.count_message(message);
        let mut parts = Tokens::ZERO;
        for part in &message.parts {
            let tokens = counter.count_part(part);
            parts += tokens;
            self.put(message.role, kind(part), tokens);
            match part {
                Part::ToolCall(call) => self.tool(&call.name, 1, tokens),
                Part::ToolResult(result) => {
                    let name = names.get(result.call_id.as_str()).copied().unwrap_or("(unknown)");
                    self.tool(name, 0, tokens);
                }
                _ => {}
            }
        }
        self.put(message.role, "framing", whole - parts);
        whole
    }

    fn put(&mut self, role: Role, kind: &str, tokens: Tokens) {
        self.total += tokens;
        *self.by_role.entry(role.as_str().to_owned()).or_default() += tokens;
        *self.by_kind.entry(kind.to_owned()).or_default() += tokens;
    }

    fn tool(&mut self, name: &str, calls: u64, tokens: Tokens) {
        let tool = self.by_tool.entry(name.to_owned()).or_default();
        tool.calls += calls;
        tool.tokens += tokens;
    }
}

/// Returns the tool's name for each call id.
fn call_names(entries: &[Entry]) -> HashMap<&str, &str> {
    let calls = entries.iter().flat_map(|entry| entry.message.calls());
    calls.map(|call| (call.id.as_str(), call.name.as_str())).collect()
}

/// Returns each call by its id.
fn calls_by_id(entries: &[Entry]) -> HashMap<&str, &ToolCall> {
    let calls = entries.iter().flat_map(|entry| entry.message.calls());
    calls.map(|call| (call.id.as_str(), call)).collect()
}

fn kind(part: &Part) -> &'static str {
    match part {
        Part::Text(_) => "text",
        Part::Media(_) => "media",
        Part::ToolCall(_) => "tool_call",
        Part::ToolResult(_) => "tool_result",
        Part::Reasoning(_) => "reasoning",
        _ => "opaque",
    }
}

/// Returns what a message is, in a few words: a tool and what it was asked, or a role and how it begins.
fn describe(message: &Message, calls: &HashMap<&str, &ToolCall>) -> String {
    if let Some(result) = message.results().next() {
        return match calls.get(result.call_id.as_str()) {
            Some(call) => format!("{} {}", call.name, subject(call)),
            None => "result of an unknown call".into(),
        };
    }
    if let Some(call) = message.calls().next() {
        return format!("{} {} (the call)", call.name, subject(call));
    }
    let text = message.texts().next().unwrap_or_default();
    format!("{}: {}", message.role.as_str(), first_words(text))
}

/// Returns what a call is about: a path, a command, a pattern.
fn subject(call: &ToolCall) -> String {
    CallView::new(call).subject().map(|subject| first_words(&subject)).unwrap_or_default()
}

/// Returns the first line of `text`, cut to a width that fits a table.
fn first_words(text: &str) -> String {
    const WIDTH: usize = 60;
    let line = text.trim_start().lines().next().unwrap_or_default();
    clipped(line, WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_testkit::conversation;
    use longhaul_tokens::Accuracy;
    use proptest::prelude::*;

    #[derive(Debug)]
    struct Bytes;

    impl TokenCounter for Bytes {
        fn count_text(&self, text: &str) -> Tokens {
            Tokens(text.len() as u64)
        }

        fn accuracy(&self) -> Accuracy {
            Accuracy::Estimate { margin: 1.0 }
        }
    }

    proptest! {
        #[test]
        fn every_view_sums_up_to_the_total(transcript in conversation(12)) {
            let breakdown = Breakdown::of(transcript.entries(), &Bytes);
            let sum = |map: &BTreeMap<String, Tokens>| map.values().copied().sum::<Tokens>();
            let fresh: Tokens =
                transcript.entries().iter().map(|entry| Bytes.count_message(&entry.message)).sum();
            prop_assert_eq!(breakdown.total, fresh + Bytes.framing().per_reply);
            prop_assert_eq!(sum(&breakdown.by_role), breakdown.total);
            prop_assert_eq!(sum(&breakdown.by_kind), breakdown.total);
        }
    }
}
