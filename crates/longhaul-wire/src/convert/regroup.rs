//! Cutting messages the way the target cuts them: who may speak after whom, where results stand, what ids look like.

use std::collections::HashMap;

use longhaul_transcript::{ContentHash, Message, Part, Role};

use super::losses::{Losses, place};

/// What every format of a provider's asks for: calls are the assistant's, and those of one answer stand in one message.
pub(crate) fn paired(messages: Vec<Message>, losses: &mut Losses) -> Vec<Message> {
    join_runs(calls_of_the_assistant(messages, losses))
}

/// What a provider asks for whose tools have names of one form.
pub(crate) fn paired_and_named(messages: Vec<Message>, losses: &mut Losses) -> Vec<Message> {
    let mut messages = paired(messages, losses);
    for message in &mut messages {
        let at = place(message);
        for part in &mut message.parts {
            let Part::ToolCall(call) = part else { continue };
            let fit = fit_name(&call.name);
            if fit != call.name {
                losses.count("name of a tool replaced by one that fits", at);
                call.name = fit;
            }
        }
    }
    messages
}

/// Returns the name of a tool in the form that every provider takes: at most 64 letters, digits, `_` and `-` (O-08). A name
/// that is too long is not cut: half of a secret would no longer be known for one.
pub(crate) fn fit_name(name: &str) -> String {
    if name.is_empty() || name.chars().count() > 64 {
        return format!("tool_{}", ContentHash::of(name.as_bytes()).short(24));
    }
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(fit).collect()
}

/// Only the assistant can make calls; in tau2 the simulated user has tools too.
fn calls_of_the_assistant(messages: Vec<Message>, losses: &mut Losses) -> Vec<Message> {
    let mut split = Vec::with_capacity(messages.len());
    for mut message in messages {
        if message.role == Role::Assistant || message.calls().next().is_none() {
            split.push(message);
            continue;
        }
        let (calls, rest): (Vec<_>, Vec<_>) =
            message.parts.drain(..).partition(|part| matches!(part, Part::ToolCall(_)));
        losses
            .count("message of the user with calls of its own, written as the assistant's", place(&message));
        if !rest.is_empty() {
            split.push(Message { parts: rest, ..message });
        }
        split.push(Message::new(Role::Assistant, calls));
    }
    split
}

/// Joins the items that formats of one item a line make of one answer: words and calls that follow each other. Words behind calls
/// whose results are still to come are of that answer too.
fn join_runs(messages: Vec<Message>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let calls = |message: &Message| message.calls().next().is_some();
        let is_one = |last: &Message| {
            message.role == Role::Assistant
                && last.role == Role::Assistant
                && (calls(&message) || calls(last))
        };
        match joined.last_mut() {
            Some(last) if is_one(last) => {
                last.parts.extend(message.parts);
            }
            _ => joined.push(message),
        }
    }
    joined
}

/// Merges messages of one role that follow each other, results before the rest. `spoken` says under which role a
/// message goes; results go under the user's.
pub(crate) fn merge_roles(messages: Vec<Message>, spoken: fn(Role) -> Role) -> Vec<Message> {
    let side = |role: Role| if role == Role::Tool { Role::User } else { spoken(role) };
    let mut merged: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match merged.last_mut() {
            Some(last)
                if side(last.role) == side(message.role) && !message.is_system() && !last.is_system() =>
            {
                last.role = side(last.role);
                last.parts.extend(message.parts);
            }
            _ => merged.push(message),
        }
    }
    for message in &mut merged {
        message.parts.sort_by_key(|part| !matches!(part, Part::ToolResult(_)));
    }
    merged
}

/// Which pictures and files the user has to show, for nobody else can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The model's.
    Answers,
    /// A tool's (O-07, V-03).
    Results,
    /// Both (O-12).
    All,
}

/// Puts pictures and files where they may stand: in a message of the user behind all results of the round.
pub(crate) fn shown_by_the_user(messages: Vec<Message>, shown: Shown, losses: &mut Losses) -> Vec<Message> {
    let mut ordered: Vec<Message> = Vec::with_capacity(messages.len());
    let mut moved: Vec<Part> = Vec::new();
    let is_media = |part: &mut Part| matches!(part, Part::Media(_));
    for mut message in messages {
        if message.results().next().is_none() && !moved.is_empty() {
            ordered.push(Message::new(Role::User, std::mem::take(&mut moved)));
        }
        let (at, before) = (place(&message), moved.len());
        if shown != Shown::Results && message.role == Role::Assistant {
            moved.extend(message.parts.extract_if(.., is_media));
        }
        for part in &mut message.parts {
            if let Part::ToolResult(result) = part
                && shown != Shown::Answers
            {
                moved.extend(result.content.extract_if(.., is_media));
            }
        }
        for _ in before..moved.len() {
            losses.count("picture or file moved behind its message, to be shown by the user", at);
        }
        // Words of the user beside results stand behind them, and behind those of the next message.
        if !message.parts.is_empty() {
            ordered.push(message);
        }
    }
    if !moved.is_empty() {
        ordered.push(Message::new(Role::User, moved));
    }
    ordered
}

/// A format without ids: each call is followed by its own result.
pub(crate) fn one_call_at_a_time(messages: Vec<Message>, losses: &mut Losses) -> Vec<Message> {
    let mut results: HashMap<String, Part> = HashMap::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::ToolResult(result) = part {
            results.insert(result.call_id.as_str().to_owned(), part.clone());
        }
    }
    let mut ordered = Vec::with_capacity(messages.len());
    for message in messages {
        let at = place(&message);
        let mut rest = Vec::new();
        for part in message.parts {
            match part {
                Part::ToolResult(_) => {}
                Part::ToolCall(call) => {
                    losses.count("call id left out", at);
                    if !rest.is_empty() {
                        ordered.push(Message::new(message.role, std::mem::take(&mut rest)));
                    }
                    let result = results.remove(call.id.as_str());
                    ordered.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
                    ordered.extend(result.map(|result| Message::new(Role::Tool, vec![result])));
                }
                part => rest.push(part),
            }
        }
        if !rest.is_empty() {
            ordered.push(Message::new(message.role, rest));
        }
    }
    ordered
}
