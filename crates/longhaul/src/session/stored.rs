//! A history that was compacted before, taken up with the originals that a store has of it.

use std::{collections::BTreeMap, sync::Arc};

use longhaul_transcript::{Entry, Message, Origin, SummaryRecord};

use super::{SessionState, Shown, rewrite::Counted};
use crate::compact::standing;

/// What a store has of the conversation behind a history that begins with a summary.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What was said, from the first message on, without secrets; `None` for what was destroyed.
    pub originals: Vec<Option<Message>>,
    /// For each message of the history, its ordinal in the conversation; none for the summary, and for standing
    /// instructions before it.
    pub ordinals: Vec<Option<u64>>,
    /// The summary.
    pub summary: SummaryRecord,
}

impl SessionState {
    /// Returns the session as `history` shows it: what was said comes from the store, the view is what stands in the
    /// history, whose last messages are new. Nothing may have been said in this state yet. `None` where the two do not go
    /// together: the history begins with instructions that the conversation did not begin with.
    pub fn take_up(mut self, history: &[Entry], stored: Stored) -> Option<SessionState> {
        let Stored { originals, ordinals, summary } = stored;
        let is_instruction = |message: &Message| standing::is_instruction(message);
        let front = history.iter().take_while(|entry| is_instruction(&entry.message)).count();
        let stored_front =
            originals.iter().take_while(|said| said.as_ref().is_some_and(is_instruction)).count();
        if front != 0 && front != stored_front {
            return None;
        }
        let ordinal_of = |at: usize| if at < front { Some(at as u64) } else { *ordinals.get(at)? };
        let places: BTreeMap<u64, usize> =
            (0..history.len()).filter_map(|at| Some((ordinal_of(at)?, at))).collect();

        let n_stored = originals.len() as u64;
        for (ordinal, original) in (0..).zip(originals) {
            let shown = places.get(&ordinal).map(|at| &history[*at].message);
            self.push(match (original, shown) {
                (None, None) => Arc::new(forgotten()),
                (None, Some(shown)) => Arc::clone(shown),
                (Some(original), None) => Arc::new(original),
                (Some(original), Some(shown))
                    if self.is_shown_whole(ordinal < front as u64, shown, &original) =>
                {
                    Arc::clone(shown)
                }
                // It is written in the place of its shorter form.
                (Some(original), Some(shown)) => Arc::new(original.with_origin(shown.origin)),
            });
        }
        for (ordinal, at) in places.range(n_stored..) {
            let id = self.push(Arc::clone(&history[*at].message));
            if id.ordinal != *ordinal {
                return None;
            }
        }

        let summary = Shown::summary(Arc::new(summary), self.config.summary_role);
        let mut shown: Vec<Counted> = Vec::with_capacity(history.len());
        for (at, entry) in history.iter().enumerate() {
            match ordinal_of(at) {
                None => shown.push((summary.clone(), None)),
                Some(ordinal) => {
                    let original = self.originals.get(ordinal)?;
                    let (id, message) = (original.id, Arc::clone(&entry.message));
                    let digested = !Arc::ptr_eq(&original.message, &message);
                    let counts = self.known_counts(ordinal).filter(|_| !digested);
                    shown.push((Shown::Message { id, message, digested }, counts));
                }
            }
        }
        self.set_items(shown);
        Some(self)
    }

    /// Returns whether a history shows an original as it was said.
    fn is_shown_whole(&self, is_front: bool, shown: &Message, original: &Message) -> bool {
        let hash = match self.cleaned(shown) {
            Some(clean) => clean.hash,
            None => shown.content_hash(),
        };
        is_front || hash == original.content_hash()
    }
}

/// Stands where an original was destroyed.
pub(crate) fn forgotten() -> Message {
    Message::user(FORGOTTEN).with_origin(Origin::Longhaul)
}

/// Returns whether this stands where an original was destroyed: there is nothing to tell of it.
pub(super) fn is_forgotten(message: &Message) -> bool {
    message.origin == Origin::Longhaul && message.texts().eq([FORGOTTEN])
}

const FORGOTTEN: &str = "[forgotten]";
