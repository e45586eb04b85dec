//! The reasoning that a front end leaves out of earlier turns, as many do: put back, so that what it was said with is known again.

use std::{borrow::Cow, sync::Arc};

use longhaul_transcript::{ContentHash, Entry, MessageId, Part, Span};

use super::{SessionState, sync::SyncError};

/// A history with the reasoning that was left out of it.
pub(super) struct Reasoned<'s> {
    pub(super) entries: Cow<'s, [Entry]>,
    /// Which of these are not the front end's: messages of reasoning alone.
    pub(super) put_back: Vec<usize>,
}

impl SessionState {
    /// Returns the history with the reasoning that the front end leaves out of what was said here, as long as it goes on with that.
    pub(super) fn with_reasoning<'s>(&self, said: &'s [Entry]) -> Result<Reasoned<'s>, SyncError> {
        let (len, common) = (self.n_total(), self.common_with(said)?);
        let mut found = Reasoned { entries: Cow::Borrowed(said), put_back: Vec::new() };
        let Some(next) = said.get(common as usize).filter(|_| common < len) else { return Ok(found) };
        self.at_hand(Span { start: common, end: common + 1 })?;
        let here = self.originals.get(common);
        if !here.is_some_and(|here| is_reasoning(here) || lacks_reasoning(next, here)) {
            return Ok(found);
        }
        self.at_hand(Span { start: common, end: len })?;
        let (mut ordinal, mut entries) = (common, said[..common as usize].to_vec());
        let mut rest = &said[common as usize..];
        while let Some(behind) = rest.first().and_then(|next| self.said_from(ordinal, next)) {
            for at in ordinal..=behind {
                if at < behind {
                    found.put_back.push(entries.len());
                }
                entries.extend(self.originals.get(at).cloned());
            }
            (ordinal, rest) = (behind + 1, &rest[1..]);
        }
        if ordinal == common {
            return Ok(found);
        }
        for entry in rest {
            let before = entries.last().map_or(&[][..], |before| &before.lineage.0[..]);
            let lineage = ContentHash::of_fields([before, &entry.id.hash.0]);
            let id = MessageId { ordinal: entries.len() as u64, ..entry.id };
            entries.push(Entry { id, lineage, message: Arc::clone(&entry.message) });
        }
        found.entries = Cow::Owned(entries);
        Ok(found)
    }

    /// Returns where `said` was said here, at `from` or behind the reasoning there.
    fn said_from(&self, from: u64, said: &Entry) -> Option<u64> {
        let mut here = (from..self.n_total()).map_while(|at| Some((at, self.originals.get(at)?)));
        let is_it = |here: &Entry| here.id.hash == said.id.hash || lacks_reasoning(said, here);
        let (at, here) = here.find(|(_, here)| is_it(here) || !is_reasoning(here))?;
        is_it(here).then_some(at)
    }

    fn at_hand(&self, span: Span) -> Result<(), SyncError> {
        match self.originals.missing([span]) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(SyncError::NotAtHand(missing)),
        }
    }
}

/// Returns whether `said` is `here` but for the reasoning in that.
fn lacks_reasoning(said: &Entry, here: &Entry) -> bool {
    let (there, here) = (&said.message, &here.message);
    let rest = || here.parts.iter().filter(|part| !is_thought(part));
    rest().count() < here.parts.len() && here.role == there.role && rest().eq(&there.parts)
}

/// Returns whether a message is reasoning alone, as an item of it is.
fn is_reasoning(entry: &Entry) -> bool {
    !entry.message.parts.is_empty() && entry.message.parts.iter().all(is_thought)
}

fn is_thought(part: &Part) -> bool {
    match part {
        Part::Reasoning(_) => true,
        Part::Opaque(opaque) => opaque.kind == "redacted_thinking",
        _ => false,
    }
}
