//! What came with reasoning, in a format that spells one answer as several items: where the reasoning is not sent, their
//! ids may not be either, for the provider would ask for the reasoning by them.
//!
//! Items that come in one list are told by `longhaul-wire`. Most callers push one at a time, and only the session then knows
//! what stands before.

use std::sync::Arc;

use longhaul_transcript::{Message, Part, Raw, Role};

use super::{SessionState, Shown};

/// The name of the format whose answers are several items, as `longhaul-wire` names it.
const OF_ITEMS: &str = "responses";

impl SessionState {
    /// Returns the next message, with a note where reasoning that was pushed before led to it.
    pub(super) fn led(&self, message: Arc<Message>) -> Arc<Message> {
        let Some(raw) = message.raw.as_deref() else { return message };
        let is_item = &*raw.format == OF_ITEMS && message.role == Role::Assistant;
        if !is_item || raw.after_reasoning || !self.follows_reasoning() {
            return message;
        }
        let raw = Raw { after_reasoning: true, ..raw.clone() };
        Arc::new(Message { raw: Some(Arc::new(raw)), ..(*message).clone() })
    }

    /// Returns whether what is said next is in an answer that began with reasoning. Where the last message is in a store
    /// only, it is taken to be: an id too few is no fault, one too many is refused.
    fn follows_reasoning(&self) -> bool {
        let Some(last) = self.n_total().checked_sub(1) else { return false };
        let shown = || match self.items.get(last).map(|placed| &placed.shown) {
            Some(Shown::Message { message, .. }) => Some(message),
            _ => None,
        };
        let last = self.originals.get(last).map(|entry| &entry.message).or_else(shown);
        last.is_none_or(|last| leads_on(last))
    }
}

/// Returns whether what stands behind `message` in the same answer came with reasoning: it is reasoning itself, or came
/// with some.
fn leads_on(message: &Message) -> bool {
    let is_reasoning = |part: &Part| matches!(part, Part::Reasoning(_));
    let is_led = message.raw.as_ref().is_some_and(|raw| raw.after_reasoning);
    message.role == Role::Assistant && (is_led || message.parts.iter().any(is_reasoning))
}
