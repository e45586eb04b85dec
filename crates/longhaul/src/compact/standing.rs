//! Which messages have a standing of their own: those that stay whole, and those that a person said.

use std::collections::BTreeSet;

use longhaul_extract::speaker::Speakers;
use longhaul_transcript::{
    Entry, Message, MessageId, Origin, Part, Tokens, UnitState, has_summary_header, parse_handle_line,
};

use serde::{Deserialize, Serialize};

use super::{Kept, tail::Place};

/// Returns whether this is a standing instruction: of the system or a developer, and no summary of ours in that role.
pub(crate) fn is_instruction(message: &Message) -> bool {
    message.is_system() && !is_summary(message)
}

/// Returns whether a person says something here: what a harness puts into the user's role is no request. What holds no
/// words, a picture say, is.
pub(crate) fn is_request(message: &Message) -> bool {
    let is_persons = || message.texts().next().is_none() || Speakers::builtin().is_person(message);
    message.is_user_text() && !is_summary(message) && is_persons()
}

/// Returns whether this is a summary that longhaul wrote, and nothing that a person says stands beside it.
pub(crate) fn is_summary(message: &Message) -> bool {
    message.origin == Origin::Longhaul
        || begins_with_summary(message) && !Speakers::builtin().is_person(message)
}

/// Returns whether a text of this begins with a summary that longhaul wrote.
pub(crate) fn begins_with_summary(message: &Message) -> bool {
    let is_one = |text: &str| has_summary_header(text) && parse_handle_line(text).is_some();
    message.origin == Origin::Longhaul || message.texts().any(is_one)
}

/// Returns whether a provider's own summary stands here and may be held: for what it stands for there may be nothing else. Beside a call
/// its whole exchange would be held with it, however long the results are.
pub(crate) fn is_memory_of_provider(message: &Message) -> bool {
    has_memory_of_provider(message)
        && !message.parts.iter().any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_)))
}

/// Returns whether a provider's own summary stands here, sealed or not. One without content is none.
pub(crate) fn has_memory_of_provider(message: &Message) -> bool {
    message.parts.iter().any(|part| {
        matches!(part, Part::Opaque(opaque) if matches!(&*opaque.kind, "compaction" | "compaction_summary")
            && serde_json::from_str(&opaque.raw.0).is_ok_and(|memory: Memory| memory.says_something()))
    })
}

/// What a provider's summary has its words in.
#[derive(Deserialize)]
struct Memory {
    #[serde(default)]
    content: serde_json::Value,
    #[serde(default)]
    encrypted_content: serde_json::Value,
}

impl Memory {
    fn says_something(&self) -> bool {
        [&self.content, &self.encrypted_content]
            .iter()
            .any(|said| said.as_str().is_some_and(|said| !said.is_empty()))
    }
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

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Role, SummaryId, handle_line};

    use super::*;

    #[test]
    fn what_a_person_says_beside_a_summary_is_a_request() {
        let handle = handle_line(0, &SummaryId("0123456789abcdef".into()));
        let summary = format!("[Context Summary - 12 messages summarized]\n\nThe port is 4711.\n\n{handle}");
        let both = |before: &str, after: &str| Message::user(format!("{before}{summary}{after}"));
        let two = Message::new(
            Role::User,
            vec![Part::Text("Go on from this, please.".into()), Part::Text(summary.clone())],
        );
        for (message, is_one) in [
            (both("", ""), true),
            (both("", "\n"), true),
            (both("", "\n\nGo on from this, please."), false),
            (both("[sic] Look at what it says:\n", ""), false),
            (both("Look at what it says:\n", ""), false),
            (two, false),
        ] {
            assert_eq!((is_summary(&message), is_request(&message)), (is_one, !is_one), "{message:?}");
        }
    }
}
