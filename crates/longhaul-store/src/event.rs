//! The log of a session: what happened, in order, each entry sealed with the hash of the one before.

use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};
use serde::{Deserialize, Serialize};

/// One entry of a session's log. It names contents by their hash and holds none, so that a content can be destroyed
/// and the log still verifies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Version of this shape; readers refuse a newer one.
    pub version: u32,
    /// Its place in the log, from zero, without gaps.
    pub seq: u64,
    /// When it happened, in milliseconds since the Unix epoch. The order of the log is `seq`: clocks jump.
    pub at_ms: i64,
    /// Hash of the event before; all zeros for the first.
    pub prev_hash: ContentHash,
    /// Hash of session, version, seq, time, `prev_hash` and kind.
    pub hash: ContentHash,
    /// What happened.
    pub kind: EventKind,
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The session began. Always the first event, and never a later one.
    Opened {
        /// The session this one continues, where it is a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<ForkedFrom>,
    },
    /// Originals were added to the journal.
    Originals {
        /// Ordinal of the first; the others follow without a gap.
        start: u64,
        /// The address of each (see [`address_of`](crate::address_of)).
        addresses: Vec<ContentHash>,
        /// The address of what is kept beside each: how it was spelled on the wire, and who speaks. As many as there are
        /// addresses, or none at all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        spellings: Vec<Option<ContentHash>>,
    },
    /// A compaction took place; its record is the new head.
    Compacted {
        /// The record.
        record: SummaryId,
        /// The head before, which the record builds on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SummaryId>,
        /// The address of the record.
        address: ContentHash,
        /// The messages it stands for.
        covers: Span,
    },
    /// The head was taken back; its parent is the head again.
    Undone {
        /// The record taken back.
        record: SummaryId,
    },
    /// The head was taken back for good, since nobody got the history that it was made for; its parent is the head again.
    Withdrawn {
        /// The record.
        record: SummaryId,
    },
    /// A record that was taken back is the head again.
    Redone {
        /// The record.
        record: SummaryId,
    },
    /// Originals were asked back into view.
    Restored {
        /// Which.
        span: Span,
    },
    /// Contents were destroyed. This entry is their tombstone.
    Forgotten {
        /// By which rule they were chosen; a secret that was searched for is not named.
        by: ForgottenBy,
        /// The originals destroyed.
        originals: Vec<Span>,
        /// The records destroyed.
        records: Vec<SummaryId>,
    },
}

/// Where a fork left its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The source.
    pub session: SessionId,
    /// Hash of the source's last event at that time.
    pub hash: ContentHash,
}

/// By which rule contents were chosen to be destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForgottenBy {
    /// Everything of the session.
    Session,
    /// By ordinal.
    Range,
    /// By age.
    Age,
    /// By a text they held.
    Match,
}

impl Event {
    /// The version this code writes.
    pub const VERSION: u32 = 1;

    /// Returns the event that follows `seq - 1` events ending in `prev_hash`, sealed.
    pub fn seal(session: &SessionId, seq: u64, prev_hash: ContentHash, at_ms: i64, kind: EventKind) -> Event {
        let mut event = Event { version: Event::VERSION, seq, at_ms, prev_hash, hash: ZERO, kind };
        event.hash = event.computed_hash(session);
        event
    }

    /// Returns the hash that the event must have in `session`.
    pub fn computed_hash(&self, session: &SessionId) -> ContentHash {
        let kind = serde_json::to_vec(&self.kind).expect("an event kind has string keys only");
        ContentHash::of_fields([
            b"longhaul-event".as_slice(),
            &self.version.to_le_bytes(),
            session.as_str().as_bytes(),
            &self.seq.to_le_bytes(),
            &self.at_ms.to_le_bytes(),
            &self.prev_hash.0,
            &kind,
        ])
    }
}

impl EventKind {
    /// Returns the addresses of the contents that the event names, in the order in which they are handed over: originals,
    /// then what is kept beside them; or a record.
    pub fn contents(&self) -> Vec<ContentHash> {
        match self {
            EventKind::Originals { addresses, spellings, .. } => {
                addresses.iter().chain(spellings.iter().flatten()).copied().collect()
            }
            EventKind::Compacted { address, .. } => vec![*address],
            _ => Vec::new(),
        }
    }

    /// Returns the name of the kind, as it stands in exports.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::Opened { .. } => "opened",
            EventKind::Originals { .. } => "originals",
            EventKind::Compacted { .. } => "compacted",
            EventKind::Undone { .. } => "undone",
            EventKind::Withdrawn { .. } => "withdrawn",
            EventKind::Redone { .. } => "redone",
            EventKind::Restored { .. } => "restored",
            EventKind::Forgotten { .. } => "forgotten",
        }
    }
}

/// The hash before the first event.
pub(crate) const ZERO: ContentHash = ContentHash([0; 32]);

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn event(session: &str) -> Event {
        let kind = EventKind::Restored { span: Span { start: 2, end: 4 } };
        Event::seal(&SessionId::new(session).unwrap(), 7, ContentHash::of(b"x"), 5, kind)
    }

    #[test]
    fn the_hash_covers_everything() {
        let session = SessionId::new("s").unwrap();
        let sealed = event("s");
        assert_eq!(sealed.computed_hash(&session), sealed.hash);
        assert_ne!(event("t").hash, sealed.hash);
        let changes: [fn(&mut Event); 5] = [
            |event| event.seq += 1,
            |event| event.at_ms += 1,
            |event| event.version += 1,
            |event| event.prev_hash.0[3] ^= 1,
            |event| event.kind = EventKind::Restored { span: Span { start: 2, end: 5 } },
        ];
        for change in changes {
            let mut other = sealed.clone();
            change(&mut other);
            assert_ne!(other.computed_hash(&session), sealed.hash, "{other:?}");
        }
    }

    #[test]
    fn the_stored_shape() {
        // Changing this would break every stored log.
        expect![[r#"{"version":1,"seq":7,"at_ms":5,"prev_hash":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","hash":"63eb7436da692d653a9a66f90be7ec77cb5f53a341097c10f54d44257f4a0c2e","kind":{"type":"restored","span":{"start":2,"end":4}}}"#]]
        .assert_eq(&serde_json::to_string(&event("s")).unwrap());
    }
}
