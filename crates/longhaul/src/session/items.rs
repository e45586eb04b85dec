//! The view as it is held: its elements in order, each with what all up to it cost.

use longhaul_tokens::ClassCounts;
use longhaul_transcript::{Span, Tokens};

use super::{Shown, shared::SharedVec};

/// The elements of a view. Its last ones are always the newest messages; originals are in the order they were said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items(SharedVec<Placed>);

#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) shown: Shown,
    pub(crate) counts: ClassCounts,
    /// The sums up to here.
    sums: Sums,
}

/// What elements from the first on add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// All of them, by class.
    pub(crate) counts: ClassCounts,
    /// The messages.
    pub(crate) messages: Tokens,
    /// The named memory blocks, and the instructions in the place of those that were said first.
    pub(crate) blocks: Tokens,
    /// The pinned messages, those at the head of the view apart.
    pub(crate) pinned: Tokens,
    /// What digesting could free, at most.
    pub(crate) digestible: Tokens,
    /// How many are messages.
    pub(crate) said: u64,
    /// One past the ordinal of the last message.
    next: u64,
}

/// What is known of an element when it is added.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) counts: ClassCounts,
    pub(crate) digestible: Tokens,
    pub(crate) is_pinned: bool,
}

impl Items {
    pub(crate) fn push(&mut self, shown: Shown, weight: Weight) {
        let mut sums = self.sums();
        let total = weight.counts.total();
        sums.counts += weight.counts;
        match &shown {
            Shown::Message { id, .. } => {
                sums.messages += total;
                sums.said += 1;
                sums.next = id.ordinal + 1;
                sums.digestible += weight.digestible;
                if weight.is_pinned {
                    sums.pinned += total;
                }
            }
            Shown::Block { .. } | Shown::Instruction { .. } => sums.blocks += total,
            Shown::Summary { .. } => {}
        }
        self.0.push(Placed { shown, counts: weight.counts, sums });
    }

    /// Returns the same with what `instead` has for an element in its place, at what that costs.
    #[cfg(feature = "wire")]
    pub(crate) fn with(&self, instead: impl Fn(&Shown) -> Option<Shown>) -> Items {
        let mut items = Items::default();
        for placed in self.placed() {
            let shown = instead(&placed.shown).unwrap_or_else(|| placed.shown.clone());
            items.0.push(Placed { shown, ..placed.clone() });
        }
        items
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn placed(&self) -> impl DoubleEndedIterator<Item = &Placed> + Clone {
        self.0.iter()
    }

    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = &Shown> + Clone {
        self.0.iter().map(|placed| &placed.shown)
    }

    /// Returns what all elements add up to.
    pub(crate) fn sums(&self) -> Sums {
        self.0.last().map_or_else(Sums::default, |placed| placed.sums)
    }

    /// Returns what the first `len` elements add up to.
    pub(crate) fn sums_of(&self, len: usize) -> Sums {
        let last = len.checked_sub(1).and_then(|at| self.0.get(at.min(self.len().saturating_sub(1))));
        last.map_or_else(Sums::default, |placed| placed.sums)
    }

    /// Returns how many elements stand before the first message from `ordinal` on.
    pub(crate) fn before(&self, ordinal: u64) -> usize {
        self.0.partition_point(|placed| placed.sums.next <= ordinal)
    }

    /// Returns what the elements before the first message from `ordinal` on add up to.
    pub(crate) fn sums_before(&self, ordinal: u64) -> Sums {
        self.sums_of(self.before(ordinal))
    }

    /// Returns what the messages in `span` cost as they are shown.
    pub(crate) fn in_span(&self, span: Span) -> Tokens {
        self.sums_before(span.end).messages - self.sums_before(span.start.min(span.end)).messages
    }

    /// Returns what the pinned messages before `ordinal` cost, those at the head apart.
    pub(crate) fn pinned_before(&self, ordinal: u64) -> Tokens {
        self.sums_before(ordinal).pinned
    }

    /// Returns the message with this ordinal as it is shown.
    pub(crate) fn get(&self, ordinal: u64) -> Option<&Placed> {
        let placed = self.0.get(self.before(ordinal))?;
        matches!(&placed.shown, Shown::Message { id, .. } if id.ordinal == ordinal).then_some(placed)
    }

    /// Returns how many elements stand before the first that digesting could make smaller.
    pub(crate) fn before_digestible(&self) -> usize {
        self.0.partition_point(|placed| placed.sums.digestible == Tokens::ZERO)
    }

    /// Returns with how many equal elements both begin.
    pub(crate) fn common(&self, other: &Items) -> usize {
        let pairs = self.shown().zip(other.shown());
        pairs.take_while(|(one, other)| one.is_same(other)).count()
    }
}
