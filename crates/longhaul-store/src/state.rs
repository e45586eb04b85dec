//! The state of a session: a fold over its log.

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    event::{Event, EventKind, ForkedFrom, ZERO},
};

/// What a session's log adds up to. Backends keep it beside the log; verification folds the log again and compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    /// Version of this shape; readers refuse a newer one.
    pub version: u32,
    /// How many events the log has.
    pub events: u64,
    /// Hash of the last event; all zeros before the first.
    pub last_hash: ContentHash,
    /// When the session began, in milliseconds since the Unix epoch.
    pub opened_at_ms: i64,
    /// When it last changed, in milliseconds since the Unix epoch.
    pub changed_at_ms: i64,
    /// How many originals the journal has had, destroyed ones included: the next ordinal. [`held`](Self::held) says how many are
    /// left.
    pub messages: u64,
    /// The records in force, oldest first; the last is the head.
    pub chain: Vec<SummaryId>,
    /// The records taken back, the next to redo last. A new compaction empties it.
    pub undone: Vec<SummaryId>,
    /// Originals that were destroyed, in order, apart from each other.
    pub forgotten: Vec<Span>,
    /// Records that were destroyed.
    pub forgotten_records: Vec<SummaryId>,
    /// Where the session comes from, for a fork.
    pub forked_from: Option<ForkedFrom>,
}

impl StoredSession {
    /// The version this code writes.
    pub const VERSION: u32 = 1;

    /// Returns the state before the first event.
    pub fn empty() -> StoredSession {
        StoredSession {
            version: StoredSession::VERSION,
            events: 0,
            last_hash: ZERO,
            opened_at_ms: 0,
            changed_at_ms: 0,
            messages: 0,
            chain: Vec::new(),
            undone: Vec::new(),
            forgotten: Vec::new(),
            forgotten_records: Vec::new(),
            forked_from: None,
        }
    }

    /// Returns the record in force.
    pub fn head(&self) -> Option<&SummaryId> {
        self.chain.last()
    }

    /// Returns how many originals are still there: those that the journal has had, less those that were destroyed.
    pub fn held(&self) -> u64 {
        self.messages - self.forgotten.iter().map(Span::len).sum::<u64>()
    }

    /// Returns whether the session was forgotten: it had originals, and none is left of them.
    pub fn is_all_forgotten(&self) -> bool {
        self.messages > 0 && self.held() == 0
    }

    /// Returns whether the original at `ordinal` was destroyed.
    pub fn is_forgotten(&self, ordinal: u64) -> bool {
        let after = self.forgotten.partition_point(|span| span.start <= ordinal);
        after > 0 && self.forgotten[after - 1].contains(ordinal)
    }

    /// Returns the event that `kind` would be, next in the log of `session`.
    pub(crate) fn next_event(&self, session: &SessionId, at_ms: i64, kind: EventKind) -> Event {
        Event::seal(session, self.events, self.last_hash, at_ms, kind)
    }

    /// Moves on by one event.
    ///
    /// # Errors
    /// When the event does not follow: a hash is wrong, or it says what cannot be. The state is unchanged then.
    pub fn apply(&mut self, session: &SessionId, event: &Event) -> Result<(), Problem> {
        let seq = event.seq;
        if event.version > Event::VERSION {
            return Err(Problem::NewerEvent { seq });
        }
        if event.seq != self.events {
            return Err(Problem::MissingEvent { seq: self.events });
        }
        if event.prev_hash != self.last_hash || event.computed_hash(session) != event.hash {
            return Err(Problem::ChangedEvent { seq });
        }
        if (self.events == 0) != matches!(event.kind, EventKind::Opened { .. }) {
            return Err(Problem::ImpossibleEvent { seq });
        }
        self.fold(&event.kind, event.at_ms).ok_or(Problem::ImpossibleEvent { seq })?;
        self.events += 1;
        self.last_hash = event.hash;
        self.changed_at_ms = event.at_ms;
        Ok(())
    }

    /// Returns `None`, and changes nothing, where `kind` cannot follow.
    fn fold(&mut self, kind: &EventKind, at_ms: i64) -> Option<()> {
        match kind {
            EventKind::Opened { forked_from } => {
                self.opened_at_ms = at_ms;
                self.forked_from.clone_from(forked_from);
            }
            EventKind::Originals { start, addresses, spellings } => {
                (*start == self.messages && !addresses.is_empty()).then_some(())?;
                (spellings.is_empty() || spellings.len() == addresses.len()).then_some(())?;
                self.messages = self.messages.checked_add(addresses.len() as u64)?;
            }
            EventKind::Compacted { record, parent, .. } => {
                (parent.as_ref() == self.head()).then_some(())?;
                self.chain.push(record.clone());
                self.undone.clear();
            }
            EventKind::Undone { record } => {
                (self.head() == Some(record)).then_some(())?;
                self.undone.extend(self.chain.pop());
            }
            EventKind::Withdrawn { record } => {
                (self.head() == Some(record)).then_some(())?;
                self.chain.pop();
                // What was undone since it was made was built on it.
                self.undone.clear();
            }
            EventKind::Redone { record } => {
                (self.undone.last() == Some(record)).then_some(())?;
                self.chain.extend(self.undone.pop());
            }
            EventKind::Restored { span } => {
                (!span.is_empty() && span.end <= self.messages).then_some(())?;
            }
            EventKind::Forgotten { originals, records, .. } => {
                originals.iter().all(|span| span.end <= self.messages).then_some(())?;
                self.forgotten = merged(self.forgotten.iter().chain(originals).copied());
                // What was built on a destroyed record cannot be the head: it quotes it.
                if let Some(first) = self.chain.iter().position(|id| records.contains(id)) {
                    self.chain.truncate(first);
                }
                if let Some(last) = self.undone.iter().rposition(|id| records.contains(id)) {
                    self.undone.drain(..=last);
                }
                self.forgotten_records.extend(records.iter().cloned());
            }
        }
        Some(())
    }
}

/// Returns `spans` in order, with those that touch made one.
pub(crate) fn merged(spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut spans: Vec<Span> = spans.into_iter().filter(|span| !span.is_empty()).collect();
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::new("s").unwrap()
    }

    fn fold(kinds: Vec<EventKind>) -> Result<StoredSession, Problem> {
        let mut state = StoredSession::empty();
        for kind in kinds {
            let event = state.next_event(&session(), 1, kind);
            state.apply(&session(), &event)?;
        }
        Ok(state)
    }

    fn id(name: &str) -> SummaryId {
        SummaryId(name.into())
    }

    fn compacted(record: &str, parent: Option<&str>) -> EventKind {
        let (parent, covers) = (parent.map(id), Span { start: 0, end: 2 });
        EventKind::Compacted {
            record: id(record),
            parent,
            address: ContentHash::of(record.as_bytes()),
            covers,
        }
    }

    fn originals(start: u64, n: u8) -> EventKind {
        let addresses = (0..n).map(|n| ContentHash::of(&[n])).collect();
        EventKind::Originals { start, addresses, spellings: Vec::new() }
    }

    #[test]
    fn undo_and_redo_walk_the_chain() {
        let opened = || EventKind::Opened { forked_from: None };
        let undone = |name| EventKind::Undone { record: id(name) };
        let base =
            vec![opened(), originals(0, 4), compacted("a", None), compacted("b", Some("a")), undone("b")];
        let state = fold(base.clone()).unwrap();
        assert_eq!((state.head(), &state.undone[..]), (Some(&id("a")), &[id("b")][..]));
        let redone = fold([base.clone(), vec![EventKind::Redone { record: id("b") }]].concat()).unwrap();
        assert_eq!((redone.head(), redone.undone.len()), (Some(&id("b")), 0));
        let other = fold([base.clone(), vec![compacted("c", Some("a"))]].concat()).unwrap();
        assert_eq!((other.chain.len(), other.undone.len()), (2, 0));
        let withdrawn = fold([base, vec![EventKind::Withdrawn { record: id("a") }]].concat()).unwrap();
        assert_eq!((withdrawn.head(), withdrawn.undone.len()), (None, 0), "b was built on a");
    }

    #[test]
    fn a_state_with_more_in_it_is_read() {
        let state = fold(vec![EventKind::Opened { forked_from: None }, originals(0, 4)]).unwrap();
        let mut json = serde_json::to_value(&state).unwrap();
        // What this version wrote before.
        json["undone_at"] = 4.into();
        json["restored"] = serde_json::json!([{ "start": 1, "end": 2 }]);
        assert_eq!(serde_json::from_value::<StoredSession>(json).unwrap(), state);
    }

    #[test]
    fn what_cannot_follow_is_refused() {
        let opened = || EventKind::Opened { forked_from: None };
        for (kinds, seq) in [
            (vec![originals(0, 1)], 0),
            (vec![opened(), opened()], 1),
            (vec![opened(), originals(1, 1)], 1),
            (vec![opened(), compacted("b", Some("a"))], 1),
            (vec![opened(), EventKind::Undone { record: id("a") }], 1),
            (vec![opened(), EventKind::Withdrawn { record: id("a") }], 1),
            (vec![opened(), EventKind::Redone { record: id("a") }], 1),
            (vec![opened(), EventKind::Restored { span: Span { start: 0, end: 1 } }], 1),
        ] {
            assert_eq!(fold(kinds), Err(Problem::ImpossibleEvent { seq }));
        }
    }

    #[test]
    fn a_destroyed_record_takes_what_was_built_on_it_out_of_force() {
        let kinds = vec![
            EventKind::Opened { forked_from: None },
            originals(0, 9),
            compacted("a", None),
            compacted("b", Some("a")),
            compacted("c", Some("b")),
            EventKind::Forgotten {
                by: crate::ForgottenBy::Range,
                originals: vec![
                    Span { start: 5, end: 7 },
                    Span { start: 1, end: 2 },
                    Span { start: 2, end: 3 },
                ],
                records: vec![id("b")],
            },
        ];
        let state = fold(kinds).unwrap();
        assert_eq!(state.chain, [id("a")]);
        assert_eq!(state.forgotten, [Span { start: 1, end: 3 }, Span { start: 5, end: 7 }]);
        let gone: Vec<u64> = (0..9).filter(|ordinal| state.is_forgotten(*ordinal)).collect();
        assert_eq!(gone, [1, 2, 5, 6]);
    }
}
