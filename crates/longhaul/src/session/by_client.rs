//! What stands of a conversation once its front end compacted by itself: what it has now, and nothing of what it took out.

use longhaul_transcript::{ContentHash, Span};
use serde::{Deserialize, Serialize};

use super::{SessionState, TASK_WITHIN, line::Original};

/// A compaction of the front end's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ByClient {
    /// What it took out. It stays among the originals; no view shows it, but for what is pinned, and no summary tells of it.
    pub(super) out: Span,
    /// Where what it has in its place begins, standing instructions apart.
    pub(super) from: u64,
    /// Lineage of the message before that.
    pub(super) lineage: Option<ContentHash>,
    /// What it kept word for word, said once before and once since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<SaidTwice>,
}

/// Messages that a front end kept when it compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SaidTwice {
    /// Where they were said before.
    pub(super) before: Span,
    /// Where the first of them is since.
    pub(super) since: u64,
}

impl SessionState {
    /// Returns whether the front end has put a summary of its own in the place of what was said.
    #[cfg(feature = "wire")]
    pub(crate) fn has_compacted_by_client(&self) -> bool {
        !self.by_client.is_empty()
    }

    /// Returns where messages that were said before the front end compacted last, and that it kept, are since.
    #[cfg(feature = "wire")]
    pub(super) fn since_then(&self, said: Span) -> Option<u64> {
        let kept = self.by_client.last()?.kept?;
        let is_in = kept.before.start <= said.start && said.end <= kept.before.end;
        (is_in && !said.is_empty()).then(|| kept.since + (said.start - kept.before.start))
    }

    /// Returns what the front end took out; its last compaction took out what was left of those before as well.
    pub(super) fn out(&self) -> Span {
        self.by_client.last().map_or(Span { start: 0, end: 0 }, |last| last.out)
    }

    /// Returns whether a message is there for compactions: the front end did not take it out, or a pin holds it in the view.
    pub(super) fn stands(&self, ordinal: u64) -> bool {
        !self.out().contains(ordinal) || self.items.get(ordinal).is_some()
    }

    /// Returns the spans of all that the front end did not take out.
    pub(super) fn standing(&self) -> [Span; 2] {
        let Span { start, end } = self.out();
        [Span { start: 0, end: start }, Span { start: end, end: u64::MAX }]
    }

    /// Returns the originals at hand that the front end did not take out.
    pub(super) fn standing_originals(&self) -> impl Iterator<Item = &Original> {
        self.standing().into_iter().flat_map(|span| self.originals.originals(span))
    }

    /// Returns how many messages there were when the front end compacted last, and the first of what it has since; none where it never
    /// did. A conversation with fewer is cut off before that.
    pub(super) fn made_by_client_at(&self) -> u64 {
        self.by_client.last().map_or(0, |last| last.out.end + 1)
    }

    /// Returns the messages among which the task is.
    pub(super) fn firsts(&self) -> Span {
        let start = self.out().end;
        Span { start, end: start + TASK_WITHIN }
    }
}
