//! What stands behind the summary that a history begins with.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_extract::FactIndex;
use longhaul_transcript::{ContentHash, Entry, Message, MessageId, SummaryRecord};

/// The messages behind the summary that a history begins with, and the session's ordinals of those after it.
///
/// The history numbers its messages from its own beginning, the session from the first original. A summary is asked for
/// under the session's numbers, since these are what a store can be asked for, and from the originals instead of the
/// summary's text, so that what each summary of a chain left out adds up no further.
#[derive(Clone, Debug)]
pub struct Originals {
    /// The originals that the history lacks, in order.
    hidden: Vec<Entry>,
    /// The originals of messages that are in the history, perhaps shortened.
    shown: BTreeMap<u64, Entry>,
    ordinals: Vec<Option<u64>>,
    pub(super) index: FactIndex,
    /// The summary that the next one follows; `None` where that is made anew, without it.
    pub(super) previous: Option<SummaryRecord>,
}

impl Originals {
    /// Returns the `originals` of a session, each with its ordinal, behind and beside the summary of a `history`.
    /// `ordinals` has the same for each message of the history: none for the summary, and for standing instructions
    /// before it. `previous` is the record of that summary, or `None` where the originals are all there are and a chain
    /// is to begin anew.
    pub fn new(
        originals: Vec<(u64, Message)>,
        history: &[Entry],
        ordinals: Vec<Option<u64>>,
        previous: Option<SummaryRecord>,
    ) -> Originals {
        let in_history: BTreeSet<u64> = ordinals.iter().copied().flatten().collect();
        let originals: BTreeMap<u64, Entry> = originals
            .into_iter()
            .map(|(ordinal, message)| {
                let id = MessageId { ordinal, hash: message.content_hash() };
                (ordinal, Entry { id, lineage: ContentHash([0; 32]), message: message.into() })
            })
            .collect();
        let (shown, hidden): (BTreeMap<_, _>, BTreeMap<_, _>) =
            originals.into_iter().partition(|(ordinal, _)| in_history.contains(ordinal));
        let hidden = hidden.into_values().collect();
        let mut all = Originals { hidden, shown, ordinals, index: FactIndex::new(), previous };
        let mut index = FactIndex::new();
        all.read_with(history).iter().for_each(|entry| index.push(entry));
        all.index = index;
        all
    }

    /// Returns those of `entries` of the history that the session has, under its ordinals.
    pub(super) fn numbered(&self, entries: &[Entry]) -> Vec<Entry> {
        let numbered = entries.iter().filter_map(|entry| {
            let ordinal = self.ordinal(entry)?;
            Some(Entry { id: MessageId { ordinal, ..entry.id }, ..entry.clone() })
        });
        numbered.collect()
    }

    /// Returns what a summary of `entries`, a part of the history, is made from, oldest first: these and all originals
    /// that the history lacks, each as it was first said. Messages are shared, not copied.
    pub(super) fn read_with(&self, entries: &[Entry]) -> Vec<Entry> {
        let mut all = self.hidden.clone();
        all.extend(self.numbered(entries).into_iter().map(|entry| {
            let original = self.shown.get(&entry.id.ordinal);
            original.cloned().unwrap_or(entry)
        }));
        // Two runs, each in order but for what stands twice: nearly free.
        all.sort_by_key(|entry| entry.id.ordinal);
        all.dedup_by_key(|entry| entry.id.ordinal);
        all
    }

    /// Returns how many messages are behind the summary and no longer in the history.
    pub(super) fn n_hidden(&self) -> usize {
        self.hidden.len()
    }

    fn ordinal(&self, entry: &Entry) -> Option<u64> {
        self.ordinals.get(entry.id.ordinal as usize).copied().flatten()
    }
}
