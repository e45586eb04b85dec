//! A history that was compacted before, taken up with the originals that a store has of it.

use std::{collections::BTreeMap, sync::Arc};

use longhaul_transcript::{CallId, Entry, Message, Origin, Outcome, Part, Role, SummaryRecord, ToolResult};

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
    /// together: the history begins with more instructions than the conversation did, or not one message of it alone is
    /// the summary.
    pub fn take_up(mut self, history: &[Entry], stored: Stored) -> Option<SessionState> {
        let Stored { originals, ordinals, summary } = stored;
        let is_instruction = |message: &Message| standing::is_instruction(message);
        let front = history.iter().take_while(|entry| is_instruction(&entry.message)).count();
        let stored_front =
            originals.iter().take_while(|said| said.as_ref().is_some_and(is_instruction)).count();
        let ordinal_of = |at: usize| if at < front { Some(at as u64) } else { *ordinals.get(at)? };
        let n_summaries = (front..history.len()).filter(|at| ordinal_of(*at).is_none()).count();
        if front > stored_front || n_summaries != 1 {
            return None;
        }
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

/// Stands where the results of these calls were destroyed: no provider takes a call without one.
pub(crate) fn forgotten_results(calls: impl IntoIterator<Item = CallId>) -> Message {
    let result = |call_id| {
        let content = vec![Part::Text(FORGOTTEN.to_owned())];
        Part::ToolResult(ToolResult { call_id, content, outcome: Outcome::Unstated })
    };
    Message::new(Role::Tool, calls.into_iter().map(result).collect()).with_origin(Origin::Longhaul)
}

/// Stands where the store has something else than what was written.
pub(crate) fn changed() -> Message {
    Message::user(CHANGED).with_origin(Origin::Longhaul)
}

/// Returns whether this stands where an original was destroyed or changed: there is nothing to tell of it.
pub(crate) fn is_gone(message: &Message) -> bool {
    is_forgotten(message) || is_changed(message)
}

/// Returns whether there is nothing to plan with: what stands in the place of a result keeps its call valid.
pub(crate) fn is_left_out(message: &Message) -> bool {
    is_gone(message) && message.results().next().is_none()
}

/// Returns whether this stands where an original was destroyed.
pub(crate) fn is_forgotten(message: &Message) -> bool {
    let answers = || message.results().next().is_some();
    let are_gone = || message.results().all(|result| result.joined_text() == FORGOTTEN);
    message.origin == Origin::Longhaul && (message.texts().eq([FORGOTTEN]) || answers() && are_gone())
}

/// Returns whether this stands where the store has something else than what was written.
pub(crate) fn is_changed(message: &Message) -> bool {
    message.origin == Origin::Longhaul && message.texts().eq([CHANGED])
}

const FORGOTTEN: &str = "[forgotten]";
const CHANGED: &str = "[changed in the store]";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use longhaul_tokens::{CharsPer4, ContextWindow};
    use longhaul_transcript::{SessionId, Tokens};

    use super::*;
    use crate::{
        Config,
        policy::{Action, Reason},
    };

    const SUMMARIZE: Action = Action::Summarize { rebuild: false };

    fn state() -> SessionState {
        let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
        let session = SessionId::new("stored").unwrap();
        SessionState::new(session, window, Arc::new(CharsPer4), Config::default())
    }

    /// A conversation of `turns` turns with a constraint near its beginning that was compacted once, the history that this
    /// leaves, and what a store has behind it.
    fn compacted(turns: usize) -> (Vec<Entry>, Stored) {
        let mut said = state();
        said.push(Message::system("Be careful."));
        said.push(Message::user("Move the export in src/ledger/export.rs."));
        said.push(Message::user("Never touch the table audit_trail."));
        for nth in 0..turns {
            said.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
            let says = format!("It computes value_{nth} for the caller in src/main.rs. ").repeat(3);
            said.push(Message::assistant(says));
        }
        let job = said.plan(SUMMARIZE, Reason::Manual, None, None).unwrap();
        said.apply(job.finish_by_rule().unwrap()).unwrap();
        let summary = (**said.summary().unwrap()).clone();
        assert!(summary.summary.constraints.iter().any(|constraint| constraint.message == 2), "{summary:?}");
        let view: longhaul_transcript::Transcript =
            said.view().messages().map(|message| (**message).clone()).collect();
        let ordinal = |shown: &Shown| match shown {
            Shown::Message { id, .. } => Some(id.ordinal),
            _ => None,
        };
        let ordinals = said.view().shown().map(ordinal).collect();
        let entries = said.originals().entries();
        let originals = entries.iter().map(|entry| Some((*entry.message).clone()));
        (view.entries().to_vec(), Stored { originals: originals.collect(), ordinals, summary })
    }

    #[test]
    fn what_is_taken_up_is_shown_as_the_history_shows_it() {
        let (history, stored) = compacted(20);
        let taken = state().take_up(&history, stored.clone()).unwrap();
        let hashes = |state: &SessionState| -> Vec<_> {
            state.view().messages().map(|message| message.content_hash()).collect()
        };
        assert_eq!(hashes(&taken), history.iter().map(|entry| entry.id.hash).collect::<Vec<_>>());
        assert_eq!(taken.summary().unwrap().id, stored.summary.id);
        assert_eq!(taken.originals().len(), stored.originals.len());
    }

    #[test]
    fn a_history_that_says_too_little_of_itself_is_not_taken_up() {
        let (history, stored) = compacted(20);
        let short =
            Stored { ordinals: stored.ordinals[..stored.ordinals.len() - 2].to_vec(), ..stored.clone() };
        assert!(state().take_up(&history, short).is_none(), "two messages without a place");
        let mut ordinals = stored.ordinals.clone();
        *ordinals.last_mut().unwrap() = None;
        assert!(state().take_up(&history, Stored { ordinals, ..stored.clone() }).is_none(), "two summaries");
        let ordinals = (0..history.len() as u64).map(Some).collect();
        assert!(state().take_up(&history, Stored { ordinals, ..stored }).is_none(), "none");
    }

    #[test]
    fn a_history_may_have_lost_instructions_and_not_gained_any() {
        let (history, stored) = compacted(20);
        let ordinals = stored.ordinals[1..].to_vec();
        let taken = state().take_up(&history[1..], Stored { ordinals, ..stored.clone() }).unwrap();
        assert_eq!(taken.view().len(), history.len() - 1);

        let mut more = history.clone();
        more.insert(1, history[0].clone());
        let mut ordinals = stored.ordinals.clone();
        ordinals.insert(1, None);
        assert!(state().take_up(&more, Stored { ordinals, ..stored }).is_none());
    }

    #[test]
    fn nothing_is_lost_beside_a_constraint_that_was_forgotten() {
        let (history, mut stored) = compacted(500);
        stored.originals[2] = None;
        let mut taken = state().take_up(&history, stored).unwrap();
        for nth in 0..10 {
            taken.push(Message::user(format!("What is left in part {nth}?")));
            taken.push(Message::assistant("The caller still waits for an answer of the ledger. ".repeat(4)));
        }
        let job = taken.plan(SUMMARIZE, Reason::Manual, None, None).unwrap();
        let start = job.start;
        assert!(start > 100, "it does not read all of it again: {start}");
        let finished = job.finish_by_rule().unwrap();
        let record = finished.record().clone();
        taken.apply(finished).unwrap();
        let mut found: BTreeSet<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
        found.extend(taken.view().shown().filter_map(|shown| match shown {
            Shown::Message { id, .. } => Some(id.ordinal),
            _ => None,
        }));
        let lost: Vec<u64> =
            (start..taken.originals().len() as u64).filter(|ordinal| !found.contains(ordinal)).collect();
        assert!(lost.is_empty(), "neither shown nor told of: {lost:?}");
    }
}
