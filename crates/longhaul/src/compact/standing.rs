//! Which messages have a standing of their own: those that stay whole, and those that a person said.

use std::collections::BTreeSet;

use longhaul_transcript::{Entry, Message, MessageId, Origin, Part, Tokens, UnitState, parse_handle_line};

use serde::{Deserialize, Serialize};

use super::{Kept, tail::Place};

/// Returns whether this is a standing instruction: of the system or a developer, and no summary of ours in that role.
pub(crate) fn is_instruction(message: &Message) -> bool {
    message.is_system() && !is_summary(message)
}

/// Returns whether a person asks for something here.
pub(crate) fn is_request(message: &Message) -> bool {
    message.is_user_text() && !is_summary(message)
}

/// Returns whether this is a summary that longhaul wrote.
pub(crate) fn is_summary(message: &Message) -> bool {
    message.origin == Origin::Longhaul
        || message.texts().any(|text| parse_handle_line(text).is_some_and(|_| text.starts_with('[')))
}

/// A request of the user that had to be cut: with what else must stay, it does not fit whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The message.
    pub id: MessageId,
    /// What it costs whole.
    pub whole: Tokens,
    /// What is left of it costs.
    pub left: Tokens,
}

/// The messages that stay whole wherever they stand: standing instructions, and what the caller pinned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pins<'a>(pub(super) &'a BTreeSet<u64>);

impl Pins<'_> {
    pub(super) fn holds(self, entry: &Entry) -> bool {
        is_instruction(&entry.message) || self.0.contains(&entry.id.ordinal)
    }

    /// Returns what stays of `place` on account of its pins, whatever becomes of the rest: a pinned message that makes no
    /// call and answers none stays alone, any other with its whole exchange. Of an exchange that is broken, and would be
    /// refused as it is, only the words stay.
    pub(super) fn kept_of(self, place: &Place<'_>) -> Vec<Kept> {
        let entries = place.unit.entries;
        let is_plain = |entry: &Entry| !entry.message.parts.iter().any(is_paired);
        let pinned = || entries.iter().filter(|entry| self.holds(entry));
        let kept = |entry: &Entry| Kept { id: entry.id, message: entry.message.clone(), digested: false };
        match pinned().all(is_plain) {
            true => pinned().map(kept).collect(),
            false if place.unit.state == UnitState::Broken => pinned().filter_map(words).collect(),
            false => entries.iter().map(kept).collect(),
        }
    }
}

fn is_paired(part: &Part) -> bool {
    matches!(part, Part::ToolCall(_) | Part::ToolResult(_) | Part::Opaque(_) | Part::Reasoning(_))
}

/// Returns the message without its calls and results; `None` where nothing is left.
fn words(entry: &Entry) -> Option<Kept> {
    let parts: Vec<Part> = entry.message.parts.iter().filter(|part| !is_paired(part)).cloned().collect();
    let digested = parts.len() < entry.message.parts.len();
    let message = match digested {
        true => Message { parts, raw: None, ..(*entry.message).clone() }.into(),
        false => entry.message.clone(),
    };
    (!message.parts.is_empty()).then_some(Kept { id: entry.id, message, digested })
}
