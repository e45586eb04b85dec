//! What became of a conversation whose front end handed in its history.

use std::collections::BTreeMap;

use longhaul_transcript::{ContentHash, MessageId, SummaryId};
use serde::{Deserialize, Serialize};

use super::{Line, SessionState, Shown, items::Items};

/// What became of a conversation since it was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Synced {
    /// Nothing.
    Unchanged,
    /// Messages were added at the end. A front end may leave out what was said long ago, as one does that keeps its last twenty
    /// messages: the view goes on from all that was said here. Four that were said here late have to be among them, or two with the
    /// ids of calls. Before them it may keep its first messages, and a note that says nothing but that something was left out: one, or up
    /// to six where four of the late ones stand behind them, or as many as [`FrontEnd::keeps_first`](super::FrontEnd::keeps_first) says.
    ///
    /// Whoever takes a turn out of the middle hands in the same as one that drops a turn with each request. Such a turn stays in the view
    /// where it stood behind the first six messages or fewer, and four or more follow it that were said behind it; with fewer of
    /// these, as where it was among the last, it is [`Edited`](Self::Edited), and gone. [`SyncReport::left_out`] tells of it, and
    /// [`FrontEnd::hands_in_all`](super::FrontEnd::hands_in_all) is for who has no window.
    Grew {
        /// How many.
        n: u64,
    },
    /// The answers to the last request were made anew.
    Regenerated {
        /// Ordinal of the first message that is another one.
        at: u64,
        /// How many messages follow from there on.
        n: u64,
    },
    /// A message was changed, and the conversation goes on from there: a branch. What a front end leaves out before it was not taken back,
    /// as far as is seen that it leaves out anything ([`FrontEnd::keeps_newest`](super::FrontEnd::keeps_newest)).
    Edited {
        /// Ordinal of the first message that is another one.
        at: u64,
        /// How many messages follow from there on.
        n: u64,
    },
    /// The last messages were taken back. Beneath a window that is seen however far it goes where the history is word for word what was
    /// said here, and goes on otherwise with no more than as much again: four messages in a row that stand in the conversation once. Up to
    /// 40 messages back they may stand there twice, and the last place counts. What shares fewer with it is
    /// [`Another`](Synced::Another), or [`CompactedByClient`](Synced::CompactedByClient) of a [known](super::FrontEnd::known) front end;
    /// behind first messages that are kept it is [`Edited`](Synced::Edited) at these.
    Rewound {
        /// How many messages are left.
        to: u64,
    },
    /// The front end has put a summary of its own in the place of what was said: it begins as those of the agents that are known do, or
    /// messages that were said here late follow it (as many as [`Grew`](Synced::Grew) asks for). The view shows what it has now: all
    /// of that is said anew here, and what was said before stays among the originals, where it can be looked up, and is in no view and no
    /// later summary, but for what is pinned, until the front end goes back to before this. Where it hands in later what stood before
    /// and follows it without a break, it took nothing out: the view shows from there on what was said.
    CompactedByClient {
        /// How many messages it has now, standing instructions apart.
        n: u64,
    },
    /// It is another conversation: the two begin with no message of the user's in common, and the history handed in does
    /// not go on from what was said here late ([`Grew`](Synced::Grew) says by what that is seen), as where it is empty. Nothing was changed, and the view is that of the former
    /// conversation: open a session for this one. Where only the standing instructions are others, and as many, it is the same
    /// one, and the view shows them as they are now; where there are more or fewer of them, a history without a window is [`Edited`](Synced::Edited) at
    /// these.
    Another,
}

impl Synced {
    /// Returns whether the conversation goes on beside what was said: on a branch.
    pub(crate) fn is_another_way(self) -> bool {
        matches!(self, Synced::Regenerated { .. } | Synced::Edited { .. } | Synced::Rewound { .. })
    }

    /// Returns whether the view may show less than it did.
    pub(crate) fn takes_away(self) -> bool {
        self.is_another_way() || matches!(self, Synced::CompactedByClient { .. })
    }
}

/// What became of a conversation, and where its messages are in the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncReport {
    /// What became of it.
    pub change: Synced,
    /// For each message of the document, its ordinal in the session; none for summaries and memory blocks that came from
    /// here, and for instructions of which there are more now than were said first: those are shown as long as the front end has them, and
    /// never stored among the messages.
    pub ordinals: Vec<Option<u64>>,
    /// Ordinals of messages that were pinned and that the history handed in has no more: their pins stay on the branch that was left. A
    /// pinned message that it says again word for word stays pinned.
    pub unpinned: Vec<u64>,
    /// How many messages that the view showed before it shows no more, neither where they were nor said again word for word: those that were taken back, or
    /// that a compaction of the front end's own took out. None where it [grew](Synced::Grew).
    pub gone: u64,
    /// The summaries that the view showed before and shows no more: what they told of is not told any more, as where the view goes on
    /// from before they were made, or where a compaction of the front end's own takes their place. None where it
    /// [grew](Synced::Grew).
    pub summaries_gone: Vec<SummaryId>,
    /// How many messages that were said here the history leaves out behind its first ones, while the view goes on from them. Where the
    /// front end has no window and takes a turn out of the middle, they are these.
    pub left_out: u64,
    /// How many messages of the history the view neither shows nor has a summary of. None where all that was handed in goes out.
    pub not_shown: u64,
}

impl SyncReport {
    pub(crate) fn new(change: Synced, ordinals: Vec<Option<u64>>) -> SyncReport {
        SyncReport {
            change,
            ordinals,
            unpinned: Vec::new(),
            gone: 0,
            summaries_gone: Vec::new(),
            left_out: 0,
            not_shown: 0,
        }
    }
}

impl SessionState {
    /// Returns how many messages of the view before this one shows no more, by their words without secrets, as often as they stood there.
    pub(super) fn gone_since(&self, (items, originals): &(Items, Line)) -> u64 {
        let mut n_shown: BTreeMap<ContentHash, u64> = BTreeMap::new();
        for hash in self.hashes_of(&self.items, &self.originals) {
            *n_shown.entry(hash).or_default() += 1;
        }
        let is_gone = |hash: &ContentHash| match n_shown.get_mut(hash).filter(|n| **n > 0) {
            Some(n) => {
                *n -= 1;
                false
            }
            None => true,
        };
        self.hashes_of(items, originals).filter(is_gone).count() as u64
    }

    /// Returns how many of these messages the view neither shows nor has a summary of, instructions apart.
    pub(super) fn not_shown(&self, ordinals: &[Option<u64>]) -> u64 {
        let is_told = |at: &u64| *at < self.uncovered && !self.out().contains(*at);
        let said = ordinals.iter().flatten().filter(|at| **at >= self.head);
        said.filter(|at| self.items.get(**at).is_none() && !is_told(at)).count() as u64
    }

    /// Returns the summaries of these that the view does not show.
    pub(crate) fn summaries_gone(&self, mut before: Vec<SummaryId>) -> Vec<SummaryId> {
        before.retain(|id| self.summaries().all(|record| record.id != *id));
        before
    }

    /// Returns the summaries that the view shows.
    pub(crate) fn summary_ids(&self) -> Vec<SummaryId> {
        self.summaries().map(|record| record.id.clone()).collect()
    }

    /// Returns the hashes without their secrets of the messages that are shown, instructions apart, as they were said.
    fn hashes_of(&self, items: &Items, originals: &Line) -> impl Iterator<Item = ContentHash> {
        let id = |shown: &Shown| match shown {
            Shown::Message { id, .. } if !shown.is_instruction() => Some(*id),
            _ => None,
        };
        let hash =
            |id: MessageId| originals.clean_hash(id.ordinal, self.redactor.as_ref()).unwrap_or(id.hash);
        items.shown().filter_map(id).map(hash)
    }
}
