//! The standing instructions that a front end has now, in the place of those that were said first.

use std::sync::Arc;

#[cfg(feature = "wire")]
use longhaul_transcript::Entry;
use longhaul_transcript::Message;

#[cfg(feature = "wire")]
use super::rewrite::counted;
use super::{SessionState, Shown, rewrite::Counted};
use crate::compact::standing;

impl SessionState {
    /// Returns these elements of a view with the standing instructions as they are now in front of it, where they are more or fewer than
    /// were said first.
    pub(super) fn with_instructions(&self, mut shown: Vec<Counted>) -> Vec<Counted> {
        let Some(now) = &self.instructions else { return shown };
        shown.retain(|(shown, _)| !self.is_former_instruction(shown));
        let element = |message: &Arc<Message>| (Shown::Instruction { message: Arc::clone(message) }, None);
        shown.splice(0..0, now.iter().map(element));
        shown
    }

    /// Returns whether this is one of the instructions in front of a view, as they were.
    fn is_former_instruction(&self, shown: &Shown) -> bool {
        match shown {
            Shown::Instruction { .. } => true,
            Shown::Message { id, message, .. } => {
                standing::is_instruction(message) && self.is_in_front(id.ordinal)
            }
            _ => false,
        }
    }

    /// Returns whether a message stands where instructions do that others took the place of.
    pub(super) fn is_replaced_instruction(&self, ordinal: u64) -> bool {
        self.instructions.is_some() && self.is_in_front(ordinal)
    }

    /// Returns whether a message is one of those that the conversation began with, or what its front end compacted.
    pub(super) fn is_in_front(&self, ordinal: u64) -> bool {
        let is_since =
            || self.by_client.last().is_some_and(|last| (last.out.end..last.from).contains(&ordinal));
        ordinal < self.head || is_since()
    }
}

#[cfg(feature = "wire")]
impl SessionState {
    /// Shows the instructions that the front end has now, however many: what was said under others is as it was, and so are its
    /// summaries.
    pub(super) fn instruct(&mut self, said: &[Entry]) {
        let hashes = self.items.shown().take_while(|shown| shown.is_instruction());
        let is_as_shown =
            hashes.map(|shown| shown.message().content_hash()).eq(said.iter().map(|entry| entry.id.hash));
        if is_as_shown {
            return;
        }
        let n_shown = self.items.shown().take_while(|shown| shown.is_instruction()).count();
        let shown = match self.reworded(said).filter(|_| self.instructions.is_none()) {
            Some(head) => {
                let rest = self.items.placed().skip(head.len()).map(counted);
                head.into_iter().map(|shown| (shown, None)).chain(rest).collect()
            }
            None => {
                self.instructions = Some(said.iter().map(|entry| Arc::clone(&entry.message)).collect());
                self.with_blocks(self.items.placed().map(counted).collect())
            }
        };
        self.set_items(shown);
        if n_shown != said.len() {
            // A store is to know of it.
            self.rewrites += 1;
        }
    }

    /// Returns how often the view was made anew.
    pub(crate) fn n_rewrites(&self) -> u64 {
        self.rewrites
    }

    /// Returns the instructions that the view begins with as they are worded now; `None` where there are more or fewer of them.
    pub(super) fn reworded(&self, said: &[Entry]) -> Option<Vec<Shown>> {
        let head: Vec<&Shown> = self.items.shown().take_while(|shown| shown.is_instruction()).collect();
        // What the front end had after a compaction of its own it may have had more of.
        let is_as_many =
            head.len() as u64 == self.head || self.instructions.is_some() || !self.by_client.is_empty();
        if head.len() != said.len() || !is_as_many {
            return None;
        }
        let worded = |(shown, said): (&Shown, &Entry)| match shown {
            Shown::Message { id, .. } => {
                let digested = id.hash != said.id.hash;
                Some(Shown::Message { id: *id, message: Arc::clone(&said.message), digested })
            }
            Shown::Instruction { .. } => Some(Shown::Instruction { message: Arc::clone(&said.message) }),
            _ => None,
        };
        head.into_iter().zip(said).map(worded).collect()
    }
}
