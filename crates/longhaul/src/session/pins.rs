//! What stays in every view whole: pinned messages and named memory blocks.

use std::{collections::HashSet, sync::Arc};

#[cfg(feature = "wire")]
use longhaul_transcript::{ContentHash, Entry};
use longhaul_transcript::{Message, MessageId, Origin, Span, Tokens};

use super::{
    SessionState, Shown,
    rewrite::{Counted, counted, merge},
    stored::is_forgotten,
};
use crate::compact::{FLOOR_EXTRA, standing};

/// The share of the budget that what a provider wrote to go on from may take.
const MOST_OF_MEMORY: f64 = 0.25;

/// A message could not be pinned. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// The message is none of this conversation's, or of another branch of it.
    #[error("m{} is no message of this conversation", .0.ordinal)]
    Unknown(MessageId),
    /// The message was deleted.
    #[error("m{} was deleted", .0.ordinal)]
    Deleted(MessageId),
    /// The message is in the store only and has to be read back first.
    #[error("m{} is not at hand", .0.ordinal)]
    NotAtHand(MessageId),
    /// No request could hold it: with what is pinned already it is more than the budget.
    #[error(
        "m{} cannot be pinned: it costs {tokens:#} tokens, and with {pinned:#} pinned already that is over the budget of {budget:#}",
        .message.ordinal
    )]
    TooLarge {
        /// The message.
        message: MessageId,
        /// What it costs, with the exchange that it is part of.
        tokens: Tokens,
        /// What the other pinned messages and the memory blocks cost.
        pinned: Tokens,
        /// What a request may cost.
        budget: Tokens,
    },
}

/// A memory block could not be set. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// It cannot have this name: it stands in the block's first line, in brackets.
    #[error(
        "{0:?} cannot name a memory block; expected one line that is not blank, without \"]\" and without a secret"
    )]
    Name(String),
    /// No request could hold it: with all else that stays in every view it is more than the budget.
    #[error(
        "the memory block {name:?} cannot be set: with what else stays in every view that would cost {tokens:#} tokens, over the budget of {budget:#}"
    )]
    TooLarge {
        /// The block.
        name: String,
        /// What it, the other blocks, pinned messages and standing instructions would cost, and the least that stands beside them.
        tokens: Tokens,
        /// What a request may cost.
        budget: Tokens,
    },
}

impl SessionState {
    /// Keeps a message in every view, whole, wherever it stands; a call or a result stays with its exchange. Where the view no
    /// longer shows it whole this rewrites it; returns whether it did.
    ///
    /// # Errors
    /// When there is no such message, it is not at hand, or it is too large to be in every view.
    pub fn pin(&mut self, id: MessageId) -> Result<bool, PinError> {
        if id.ordinal >= self.n_total() {
            return Err(PinError::Unknown(id));
        }
        let entry = self.originals.get(id.ordinal).ok_or(PinError::NotAtHand(id))?;
        if entry.id != id {
            return Err(if is_forgotten(&entry.message) {
                PinError::Deleted(id)
            } else {
                PinError::Unknown(id)
            });
        }
        let span = self.exchange_of(id.ordinal);
        let counted = (span.start..span.end).map(|ordinal| self.cost(ordinal)).sum();
        // No more than what is sure: less may be billed than is counted.
        let known = |counted: Tokens| self.scale().billed(counted).min(counted);
        let (tokens, pinned, budget) = (known(counted), known(self.pinned_beside(span)), self.sure_budget());
        if !self.pins.contains(&id.ordinal) && tokens + pinned > budget {
            return Err(PinError::TooLarge { message: id, tokens, pinned, budget });
        }
        let is_shown = matches!(
            self.items.get(id.ordinal).map(|placed| &placed.shown),
            Some(Shown::Message { digested: false, .. })
        );
        if self.pins.insert(id.ordinal) || !is_shown {
            self.renew(!is_shown);
        }
        Ok(!is_shown)
    }

    /// Returns what is pinned and shown, with the hash of what it says.
    #[cfg(feature = "wire")]
    pub(crate) fn pinned_words(&self) -> Vec<(u64, ContentHash)> {
        let words = |pin: &u64| match &self.items.get(*pin)?.shown {
            Shown::Message { id, .. } => Some((*pin, id.hash)),
            _ => None,
        };
        self.pins.iter().filter_map(words).collect()
    }

    /// Pins what was `pinned` and is said again, in one of these messages, after the conversation took another way. Returns what is not.
    #[cfg(feature = "wire")]
    pub(crate) fn pin_again(&mut self, pinned: &[(u64, ContentHash)], ordinals: &[Option<u64>]) -> Vec<u64> {
        let mut gone = Vec::new();
        for (pin, words) in pinned {
            let is_it = |entry: &Entry| entry.id.hash == *words;
            if self.pins.contains(pin) && self.originals.get(*pin).is_none_or(is_it) {
                continue;
            }
            let ids =
                ordinals.iter().flatten().filter_map(|at| self.originals.get(*at)).map(|entry| entry.id);
            let again = ids.filter(|id| id.hash == *words).min_by_key(|id| id.ordinal.abs_diff(*pin));
            if again.is_none_or(|id| self.pin(id).is_err()) {
                gone.push(*pin);
            }
        }
        gone
    }

    /// Lets compactions have a pinned message again, and returns whether it was pinned. The view stays as it is.
    pub fn unpin(&mut self, id: MessageId) -> bool {
        let was_pinned = self.pins.remove(&id.ordinal);
        if was_pinned {
            self.renew(false);
            self.policy.loosened();
        }
        was_pinned
    }

    /// Pins what a provider wrote to go on from, in the place of an earlier one, whoever pinned that: no summary of ours can hold what
    /// it seals. One that takes more than a quarter of the budget would leave too little for anything else.
    pub(super) fn keep_memory_of_provider(&mut self, id: MessageId, message: &Message, cost: Tokens) {
        if !standing::is_memory_of_provider(message) {
            return;
        }
        self.unpin_memory();
        if !self.is_too_large(cost) {
            self.pins.insert(id.ordinal);
        }
    }

    /// Whether a provider's own summary of this size would leave too little for anything else.
    pub(super) fn is_too_large(&self, cost: Tokens) -> bool {
        cost > self.budget().scaled(MOST_OF_MEMORY)
    }

    /// Lets compactions have what a provider wrote to go on from.
    pub(super) fn unpin_memory(&mut self) {
        let originals = &self.originals;
        self.pins.retain(|pin| {
            originals.get(*pin).is_none_or(|entry| !standing::is_memory_of_provider(&entry.message))
        });
    }

    /// Pins the newest that a provider wrote to go on from, of what is at hand, where it may be.
    pub(super) fn pin_newest_memory(&mut self) {
        if let Some((id, cost)) = self.newest_memory()
            && !self.is_too_large(cost)
        {
            self.unpin_memory();
            self.pins.insert(id);
        }
    }

    /// Returns the newest of those that may be held and were not dropped by the front end.
    pub(super) fn newest_memory(&self) -> Option<(u64, Tokens)> {
        self.newest_that(standing::is_memory_of_provider)
    }

    /// Returns the newest message at hand that is of this kind, and what it costs.
    pub(crate) fn newest_that(&self, is_it: impl Fn(&Message) -> bool) -> Option<(u64, Tokens)> {
        let all = Span { start: self.out().end, end: self.n_total() };
        let newest = self.originals.originals(all).rfind(|original| is_it(&original.entry.message))?;
        let ordinal = newest.entry.id.ordinal;
        Some((ordinal, self.costs.get(ordinal)?))
    }

    /// Lets compactions have what a provider wrote to go on from where it takes too much of `budget`.
    #[cfg(feature = "wire")]
    pub(crate) fn let_go_of_memory(&mut self, budget: Tokens) {
        if self.newest_memory().is_some_and(|(_, cost)| cost > budget.scaled(MOST_OF_MEMORY)) {
            self.unpin_memory();
            self.renew(false);
        }
    }

    /// Returns the ordinals of the messages that are pinned: by the caller, and what a provider wrote to go on from.
    pub fn pins(&self) -> impl Iterator<Item = u64> {
        self.pins.iter().copied()
    }

    /// Sets a named memory block: a text that stands at a fixed place in every view, behind the standing instructions,
    /// until it is replaced; an empty one is taken out. It is of the session and of no place in it: a branch and a rewind keep it. Rewrites the view, and returns whether it did: the same text again
    /// changes nothing. A store has it with the next message or summary, and no session of which nothing was said.
    ///
    /// # Errors
    /// When the name is blank, longer than a line, would end the brackets that it stands in, or holds a secret: it is kept as it is;
    /// and when the text is too large to be in every view.
    pub fn set_memory(&mut self, name: &str, text: &str) -> Result<bool, MemoryError> {
        let is_held = self.blocks.contains_key(name);
        let shown = self.redactor.as_ref().map_or(name.into(), |redactor| redactor.redact_text(name).0);
        let is_a_line = !name.trim().is_empty() && !name.contains(|c: char| c == ']' || c.is_control());
        if !is_held && (!is_a_line || shown != name) {
            return Err(MemoryError::Name(shown.into_owned()));
        }
        let is_same = self.blocks.get(name).map_or(text.is_empty(), |held| **held == *text);
        if is_same {
            return Ok(false);
        }
        let (before, stayed) = (self.clone(), self.stays_in_every_view());
        match text.is_empty() {
            true => self.blocks.remove(name),
            false => self.blocks.insert(name.into(), text.into()),
        };
        self.renew(true);
        let (tokens, budget) = (self.stays_in_every_view(), self.sure_budget());
        // What makes it less may be set, however much it still is.
        if tokens > budget && tokens > stayed {
            *self = before;
            return Err(MemoryError::TooLarge { name: shown.into_owned(), tokens, budget });
        }
        self.policy.loosened();
        Ok(true)
    }

    /// Returns what stays in every view at least, and what stands beside it: as counted, or as billed, whichever is less.
    fn stays_in_every_view(&self) -> Tokens {
        let front = self.items.in_span(Span { start: 0, end: self.head });
        let counted = front + self.pinned_beside(Span { start: 0, end: self.head }) + FLOOR_EXTRA;
        self.scale().billed(counted).min(counted)
    }

    /// Returns the named memory blocks.
    pub fn memory(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().map(|(name, text)| (&**name, &**text))
    }

    /// Goes on where `other` is, which begins with the same messages: with what was said there since, pinned and remembered.
    pub(crate) fn follow_on(&mut self, other: &SessionState) {
        let since = other.originals.in_span(Span { start: self.n_total(), end: other.n_total() });
        for entry in since {
            self.push(entry.message);
        }
        (self.pins, self.blocks) = (other.pins.clone(), other.blocks.clone());
        self.renew(true);
        self.set_calibrations(other.calibrations().clone());
        self.requested_at_ms = other.requested_at_ms;
        self.refusals = other.refusals;
    }

    /// Has the memory blocks that `other` has.
    #[cfg(feature = "wire")]
    pub(crate) fn take_memory_of(&mut self, other: &SessionState) {
        if self.blocks != other.blocks {
            self.blocks.clone_from(&other.blocks);
            self.renew(true);
        }
    }

    /// Makes the view anew with the pins and blocks there are now.
    fn renew(&mut self, is_rewrite: bool) {
        let shown = self.with_pins(self.items.placed().map(counted).collect());
        let anchor = self.calibrated.anchor();
        self.set_items(shown);
        if is_rewrite {
            self.rewrites += 1;
            self.made_at = self.n_total();
        } else {
            // Not a byte of what was reported has changed.
            self.calibrated.set_anchor(anchor);
            self.recalibrate();
        }
        self.policy.observe(self.tokens(), &self.limits());
    }

    /// Returns whether a message stays whole in every view.
    pub(super) fn is_pin(&self, ordinal: u64, message: &Message) -> bool {
        self.pins.contains(&ordinal) || (self.config.preserve_system && standing::is_instruction(message))
    }

    /// Returns whether no compaction takes this out of the view: a pin, or the newest request.
    pub(super) fn stays(&self, shown: &Shown) -> bool {
        match shown {
            Shown::Message { id, message, .. } => {
                self.request == Some(id.ordinal) || self.is_pin(id.ordinal, message)
            }
            Shown::Block { .. } | Shown::Instruction { .. } => true,
            Shown::Summary { .. } => false,
        }
    }

    /// Returns these elements of a view with the memory blocks as they are now, and each pinned message whole.
    pub(super) fn with_pins(&self, mut shown: Vec<Counted>) -> Vec<Counted> {
        shown = self.with_blocks(shown);
        if self.pins.is_empty() {
            return shown;
        }
        let is_whole = |shown: &Shown| match shown {
            Shown::Message { id, digested: false, .. } => Some(id.ordinal),
            _ => None,
        };
        let whole: HashSet<u64> = shown.iter().filter_map(|(shown, _)| is_whole(shown)).collect();
        let is_missing = |pin: &u64| !whole.contains(pin) && !self.is_replaced_instruction(*pin);
        let missing: Vec<u64> = self.pins.iter().copied().filter(is_missing).collect();
        for ordinal in missing {
            // A message that calls, or answers a call, stays with its whole exchange.
            let span = self.exchange_of(ordinal);
            shown.retain(
                |(shown, _)| !matches!(shown, Shown::Message { id, .. } if span.contains(id.ordinal)),
            );
            let originals = (span.start..span.end).filter_map(|ordinal| Some((self.whole(ordinal)?, None)));
            merge(&mut shown, originals.collect());
        }
        lead_with_memory(&mut shown);
        shown
    }

    /// Returns these elements of a view with the instructions and memory blocks as they are now.
    pub(super) fn with_blocks(&self, shown: Vec<Counted>) -> Vec<Counted> {
        let mut shown = self.with_instructions(shown);
        shown.retain(|(shown, _)| !matches!(shown, Shown::Block { .. }));
        let front = shown.iter().take_while(|(shown, _)| shown.is_instruction()).count();
        shown.splice(front..front, self.blocks.iter().map(|(name, text)| (block(name, text), None)));
        shown
    }

    /// Returns the exchange that a message is part of, or the message alone where it calls nothing and answers nothing.
    pub(super) fn exchange_of(&self, ordinal: u64) -> Span {
        let alone = Span { start: ordinal, end: ordinal + 1 };
        let Some(entry) = self.originals.get(ordinal) else { return alone };
        let is_paired = entry.message.calls().next().is_some() || entry.message.results().next().is_some();
        match is_paired {
            true => self.unit_of(ordinal),
            false => alone,
        }
    }
}

/// Puts what a provider wrote to go on from before the summaries and blocks that stand directly before it: A-40 demands it, and
/// what a summary of ours tells came later.
fn lead_with_memory(shown: &mut [Counted]) {
    let is_memory = |(shown, _): &Counted| matches!(shown, Shown::Message { message, .. } if standing::is_memory_of_provider(message));
    let Some(at) = shown.iter().position(is_memory) else { return };
    let is_message =
        |(shown, _): &Counted| matches!(shown, Shown::Message { .. } | Shown::Instruction { .. });
    let to = shown[..at].iter().rposition(is_message).map_or(0, |at| at + 1);
    shown[to..=at].rotate_right(1);
}

/// Returns a named memory block as it is sent: as data, in the user's role.
fn block(name: &Arc<str>, text: &str) -> Shown {
    let message = Message::user(format!("[Memory: {name}]\n{text}")).with_origin(Origin::Longhaul);
    Shown::Block { name: Arc::clone(name), message: Arc::new(message) }
}
