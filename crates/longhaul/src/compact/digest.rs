//! Shortening a message that stays: tool results become digests, long arguments and texts are clipped.

use std::{collections::HashMap, sync::Arc};

use longhaul_extract::{
    Allowance, digest,
    speaker::{Matter, Segment, Speakers},
};
use longhaul_summarize::rules::{gist, keeps_demands};
use longhaul_tokens::TokenCounter;
use longhaul_transcript::{CallKind, Entry, Message, Outcome, Part, Role, Tokens, ToolCall, ToolResult};

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
    /// For each thing that a person pasted into a text; `None` keeps them whole.
    pub(crate) pasted: Option<Tokens>,
}

impl Caps {
    /// Everything stays whole.
    pub(crate) const NONE: Caps = Caps { result: None, text: None, pasted: None };

    /// Results and arguments get at most `tokens` each, texts stay whole.
    pub(crate) fn results(tokens: u64) -> Caps {
        Caps { result: Some(Tokens(tokens)), ..Caps::NONE }
    }

    /// Everything gets at most `tokens` each.
    pub(crate) fn all(tokens: u64) -> Caps {
        Caps { result: Some(Tokens(tokens)), text: Some(Tokens(tokens)), ..Caps::NONE }
    }

    /// Returns these with at most `tokens` for each thing that was pasted.
    pub(crate) fn with_pasted(self, tokens: u64) -> Caps {
        Caps { pasted: Some(Tokens(tokens)), ..self }
    }

    /// Returns these times `quarters` over four.
    pub(crate) fn scaled(self, quarters: u64) -> Caps {
        let scaled = |cap: Tokens| Tokens(cap.0 * quarters / 4);
        Caps { result: self.result.map(scaled), text: self.text.map(scaled), pasted: self.pasted.map(scaled) }
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
    speakers: &'a Speakers,
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
        Shortener {
            counter,
            reasoning,
            preserve_error_details,
            calls,
            needed: None,
            speakers: Speakers::builtin(),
        }
    }

    /// Returns this with digests that hold what is needed most.
    pub(crate) fn with_needed(self, needed: Option<&'a Needed>) -> Shortener<'a> {
        Shortener { needed, ..self }
    }

    /// Returns this with what tells who speaks.
    pub(crate) fn with_speakers(self, speakers: &'a Speakers) -> Shortener<'a> {
        Shortener { speakers, ..self }
    }

    /// Returns the messages of `entries` within `caps`, without those that have nothing left to say.
    pub(crate) fn shorten_all(&self, entries: &[Entry], caps: Caps) -> Vec<Kept> {
        let kept = entries.iter().map(|entry| self.shorten(entry, caps));
        kept.filter(|kept| !kept.message.parts.is_empty()).collect()
    }

    fn shorten(&self, entry: &Entry, caps: Caps) -> Kept {
        let said = caps.pasted.and_then(|cap| self.without_pasted(entry, cap));
        let parts = said.as_ref().unwrap_or(&entry.message.parts).iter();
        let parts: Vec<Part> = parts.filter_map(|part| self.part(part, entry, caps)).collect();
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
                    Role::User => self.asked(text, cap, &format!("; {} has all of it", entry.id)),
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

    /// Returns the parts of a message with what a person pasted in them digested, each to at most about `cap` tokens; `None` where
    /// nothing longer was pasted.
    fn without_pasted(&self, entry: &Entry, cap: Tokens) -> Option<Vec<Part>> {
        let message = &*entry.message;
        let is_long = |piece: &Segment<'_>| {
            is_pasted(piece) && self.counter.count_up_to(piece.text, cap + LEAST_SAVED).is_none()
        };
        let pieces: Vec<Segment<'_>> = self.speakers.segments(message).into_iter().filter(is_long).collect();
        let mut parts = message.parts.clone();
        for piece in pieces.iter().rev() {
            if let Some(Part::Text(text)) = parts.get_mut(piece.part) {
                let whole = format!("[of {} lines; {} has all of it]", piece.text.lines().count(), entry.id);
                let told = format!("{}\n{whole}", self.pasted(piece.text, cap));
                text.replace_range(piece.start..piece.start + piece.text.len(), told.trim_start());
            }
        }
        (!pieces.is_empty()).then_some(parts)
    }

    /// Returns a digest of what was pasted, within the fence that it stood in.
    fn pasted(&self, text: &str, cap: Tokens) -> String {
        let fenced = text.strip_prefix("```").and_then(|rest| rest.split_once('\n'));
        let fenced = fenced.and_then(|(name, rest)| Some((name, rest.trim_end().strip_suffix("```")?)));
        let (open, body, close) = match fenced {
            Some((name, body)) => (format!("```{name}\n"), body, "\n```"),
            None => (String::new(), text, ""),
        };
        let count = |text: &str| self.counter.count_text(text);
        let worth = |line: &str| self.needed.map_or(0.0, |needed| needed.worth(line));
        let told = digest(None, body, Outcome::Unstated, &Allowance::new(cap, &count).with_wanted(&worth));
        if told.trim().is_empty() { String::new() } else { format!("{open}{}{close}", told.trim_end()) }
    }

    /// Returns what a person asks within `cap`: not without the demands that last in it.
    fn asked(&self, text: &str, cap: Tokens, whole: &str) -> String {
        let clipped = self.text(text, cap, whole);
        if keeps_demands(text, &clipped) {
            return clipped;
        }
        let chars = |text: &str| text.chars().count();
        let marked = |told: &str| {
            format!("{told}\n… {} characters omitted{whole} …", chars(text) - chars(told).min(chars(text)))
        };
        let told = gist(text, |told| self.counter.count_up_to(&marked(told), cap).is_some());
        told.map_or(clipped, |told| marked(&told))
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

/// Returns whether a person pasted this into what they said.
pub(super) fn is_pasted(piece: &Segment<'_>) -> bool {
    piece.matter == Matter::Pasted && piece.inner.is_none()
}

/// A digest that saves less is not worth the note that says where all of it is.
const LEAST_SAVED: Tokens = Tokens(30);

fn media_note(media_type: &str) -> String {
    format!("[{} omitted]", if media_type.is_empty() { "media" } else { media_type })
}
