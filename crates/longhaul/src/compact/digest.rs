//! Shortening a message that stays: tool results become digests, long arguments and texts are clipped.

use std::{collections::HashMap, sync::Arc};

use longhaul_extract::{Allowance, digest};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{CallKind, Entry, Message, Part, Role, Tokens, ToolCall, ToolResult};

use super::{
    KeepReasoning, Kept,
    clip::{clip_arguments, clip_text, clip_text_of},
    needed::Needed,
};

/// How much each piece of a message may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caps {
    /// For each tool result; `None` keeps them whole.
    pub(crate) result: Option<Tokens>,
    /// For each text of a user or assistant; `None` keeps them whole.
    pub(crate) text: Option<Tokens>,
}

impl Caps {
    /// Everything stays whole.
    pub(crate) const NONE: Caps = Caps { result: None, text: None };

    /// Results and arguments get at most `tokens` each, texts stay whole.
    pub(crate) fn results(tokens: u64) -> Caps {
        Caps { result: Some(Tokens(tokens)), text: None }
    }

    /// Everything gets at most `tokens` each.
    pub(crate) fn all(tokens: u64) -> Caps {
        Caps { result: Some(Tokens(tokens)), text: Some(Tokens(tokens)) }
    }

    /// Returns these times `quarters` over four.
    pub(crate) fn scaled(self, quarters: u64) -> Caps {
        let scaled = |cap: Tokens| Tokens(cap.0 * quarters / 4);
        Caps { result: self.result.map(scaled), text: self.text.map(scaled) }
    }
}

/// Shortens the messages of one unit. Holds the calls of the unit, so that a result is digested knowing what was asked.
#[derive(Debug)]
pub(crate) struct Shortener<'a> {
    counter: &'a dyn TokenCounter,
    reasoning: KeepReasoning,
    preserve_error_details: bool,
    calls: HashMap<&'a str, &'a ToolCall>,
    needed: Option<&'a Needed>,
}

impl<'a> Shortener<'a> {
    pub(crate) fn new(
        entries: &'a [Entry],
        counter: &'a dyn TokenCounter,
        reasoning: KeepReasoning,
        preserve_error_details: bool,
    ) -> Shortener<'a> {
        let calls = entries.iter().flat_map(|entry| entry.message.calls());
        let calls = calls.map(|call| (call.id.as_str(), call)).collect();
        Shortener { counter, reasoning, preserve_error_details, calls, needed: None }
    }

    /// Returns this with digests that hold what is needed most.
    pub(crate) fn with_needed(self, needed: Option<&'a Needed>) -> Shortener<'a> {
        Shortener { needed, ..self }
    }

    /// Returns the messages of `entries` within `caps`, without those that have nothing left to say.
    pub(crate) fn shorten_all(&self, entries: &[Entry], caps: Caps) -> Vec<Kept> {
        let kept = entries.iter().map(|entry| self.shorten(entry, caps));
        kept.filter(|kept| !kept.message.parts.is_empty()).collect()
    }

    fn shorten(&self, entry: &Entry, caps: Caps) -> Kept {
        let parts: Vec<Part> =
            entry.message.parts.iter().filter_map(|part| self.part(part, entry, caps)).collect();
        if parts == entry.message.parts {
            return Kept { id: entry.id, message: Arc::clone(&entry.message), digested: false };
        }
        let message = Message { parts, ..(*entry.message).clone() };
        Kept { id: entry.id, message: Arc::new(message), digested: true }
    }

    fn part(&self, part: &Part, entry: &Entry, caps: Caps) -> Option<Part> {
        match part {
            Part::Reasoning(_) if self.reasoning == KeepReasoning::Strip => None,
            Part::Text(text) => Some(Part::Text(match caps.text {
                Some(cap) => match entry.message.role {
                    Role::User => self.text(text, cap, &format!("; {} has all of it", entry.id)),
                    Role::Assistant => self.text(text, cap, ""),
                    _ => text.clone(),
                },
                None => text.clone(),
            })),
            Part::ToolCall(call) => Some(Part::ToolCall(match caps.result {
                Some(cap) => self.call(call, cap),
                None => call.clone(),
            })),
            Part::ToolResult(result) => Some(Part::ToolResult(match caps.result {
                Some(cap) => self.result(result, cap),
                None => result.clone(),
            })),
            Part::Media(media) if caps.text.is_some_and(|cap| self.counter.count_media(media) > cap) => {
                Some(Part::Text(media_note(&media.media_type)))
            }
            part => Some(part.clone()),
        }
    }

    fn text(&self, text: &str, cap: Tokens, whole: &str) -> String {
        if self.counter.count_up_to(text, cap).is_some() {
            return text.to_owned();
        }
        // Characters for tokens: start from four a token and come down until the counter agrees.
        let mut chars = (cap.0 as usize).saturating_mul(4).min(text.chars().count());
        loop {
            let clipped = clip_text_of(text, chars, whole);
            if chars < 16 || self.counter.count_up_to(&clipped, cap).is_some() {
                return clipped;
            }
            chars = chars * 3 / 4;
        }
    }

    fn call(&self, call: &ToolCall, cap: Tokens) -> ToolCall {
        match clipped(call, cap) {
            Some(arguments) => {
                ToolCall { arguments: longhaul_transcript::RawJson(arguments), ..call.clone() }
            }
            None => call.clone(),
        }
    }

    fn result(&self, result: &ToolResult, cap: Tokens) -> ToolResult {
        let cost: Tokens = result.content.iter().map(|part| self.counter.count_part(part)).sum();
        if cost <= cap || result.content.is_empty() {
            return result.clone();
        }
        let count = |text: &str| self.counter.count_text(text);
        let worth = |line: &str| self.needed.map_or(0.0, |needed| needed.worth(line));
        let mut allowance = Allowance::new(cap, &count).with_wanted(&worth);
        allowance.preserve_error_details = self.preserve_error_details;
        let call = self.calls.get(result.call_id.as_str()).copied();
        let mut text = digest(call, &result.joined_text(), result.outcome, &allowance);
        for part in &result.content {
            if let Part::Media(media) = part {
                text.push_str(if text.is_empty() { "" } else { "\n" });
                text.push_str(&media_note(&media.media_type));
            }
        }
        if text.trim().is_empty() {
            text = "…".into();
        }
        let digested = ToolResult { content: vec![Part::Text(text)], ..result.clone() };
        if self.counter.count_part(&Part::ToolResult(digested.clone())) < cost {
            digested
        } else {
            result.clone()
        }
    }
}

/// Returns what [`Shortener`] could free of the results in a message by digests of `cap` tokens. A call that it would change counts as
/// well, for next to nothing: little is won there, and what stands behind it has to be sent anew all the same.
pub(crate) fn digestible(message: &Message, counter: &dyn TokenCounter, cap: Tokens) -> Tokens {
    let part = |part: &Part| match part {
        Part::ToolResult(result) => {
            result.content.iter().map(|part| counter.count_part(part)).sum::<Tokens>() - cap
        }
        Part::ToolCall(call) => Tokens(clipped(call, cap).is_some().into()),
        _ => Tokens::ZERO,
    };
    message.parts.iter().map(part).sum()
}

/// Returns the arguments of a call within `cap`, where they are longer.
fn clipped(call: &ToolCall, cap: Tokens) -> Option<String> {
    let (arguments, limit) = (&call.arguments.0, (cap.0 as usize * 3).max(12));
    if arguments.len() <= limit {
        return None;
    }
    match call.kind {
        CallKind::Function => clip_arguments(arguments, limit),
        CallKind::Custom => Some(clip_text(arguments, limit)).filter(|text| text != arguments),
    }
}

fn media_note(media_type: &str) -> String {
    format!("[{} omitted]", if media_type.is_empty() { "media" } else { media_type })
}
