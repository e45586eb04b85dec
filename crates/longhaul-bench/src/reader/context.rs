//! The contexts that are compared: ours, a plain window, and clipped outputs in a window.

use std::sync::Arc;

use longhaul_extract::call_fields;
use longhaul_summarize::rules::RulesOptions;
use longhaul_tokens::{Encoding, TokenCounter, counter};
use longhaul_transcript::{CallKind, Message, Part, Tokens};

use super::case::Case;
use crate::recall::{ours::Before, session::Group};

/// How a context is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// What `longhaul compact` gives.
    Ours,
    /// The newest messages that fit.
    Tail,
    /// Tool outputs clipped to 200 tokens, then the newest messages that fit.
    Clip,
}

impl Method {
    /// All of them, the simplest first.
    pub const ALL: [Method; 3] = [Method::Tail, Method::Clip, Method::Ours];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Ours => "longhaul",
            Method::Tail => "window",
            Method::Clip => "clip 200 + window",
        }
    }

    /// Returns the context of `case` at `budget` tokens beside the system prompt, as text; the system prompt is left out.
    pub fn context(self, case: &Case, budget: usize, options: &RulesOptions) -> String {
        match self {
            Method::Ours => ours(case, budget, options),
            Method::Tail => window(case, budget, None),
            Method::Clip => window(case, budget, Some(CLIPPED)),
        }
    }
}

/// Tokens that a clipped tool output keeps, half at its start and half at its end.
const CLIPPED: usize = 200;

fn ours(case: &Case, budget: usize, options: &RulesOptions) -> String {
    let before = Before::of(case.entries.clone(), Group::Coding);
    let Some(compacted) = before.compact(budget + case.system.0 as usize, None, options) else {
        return String::new();
    };
    let messages = compacted.messages();
    let shown = messages.iter().filter(|message| !message.is_system());
    shown.map(|message| text(message)).collect::<Vec<_>>().join("\n\n")
}

fn window(case: &Case, budget: usize, clipped: Option<usize>) -> String {
    let counter: Arc<dyn TokenCounter> = counter(Encoding::O200kBase);
    let mut left = Tokens(budget as u64);
    let mut kept = Vec::new();
    for entry in case.entries.iter().rev().filter(|entry| !entry.message.is_system()) {
        let is_result = entry.message.results().next().is_some();
        let mut said = text(&entry.message);
        if let Some(clipped) = clipped.filter(|_| is_result) {
            said = clip(&said, clipped);
        }
        let cost = counter.count_text(&said) + MESSAGE;
        if cost > left {
            kept.push(last_tokens(&said, left.0 as usize));
            break;
        }
        left -= cost;
        kept.push(said);
    }
    kept.reverse();
    kept.join("\n\n")
}

/// What the framing of a message costs.
const MESSAGE: Tokens = Tokens(4);

/// Returns what a message says to a reader: its texts and results, and the names and arguments of its calls.
pub fn text(message: &Message) -> String {
    let mut said = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => said.push(text.clone()),
            Part::ToolResult(result) => said.push(result.joined_text()),
            Part::ToolCall(call) => {
                said.push(call.name.clone());
                said.push(call.arguments.0.clone());
                let fields = call_fields(&call.arguments.0, call.kind == CallKind::Function);
                said.extend(fields.iter().map(|field| field.text.to_string()));
            }
            _ => {}
        }
    }
    said.join("\n")
}

fn clip(text: &str, most: usize) -> String {
    let tokens = bpe_openai::o200k_base().encode(text);
    if tokens.len() <= most {
        return text.to_string();
    }
    let half = most / 2;
    format!("{}\n[...]\n{}", decode(&tokens[..half]), decode(&tokens[tokens.len() - half..]))
}

fn last_tokens(text: &str, most: usize) -> String {
    let tokens = bpe_openai::o200k_base().encode(text);
    decode(&tokens[tokens.len().saturating_sub(most)..])
}

fn decode(tokens: &[u32]) -> String {
    let bpe = &bpe_openai::o200k_base().bpe;
    let bytes: Vec<u8> = tokens.iter().flat_map(|token| bpe.token_bytes(*token)).copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
