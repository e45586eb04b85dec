//! What each message costs, counted once in its life.

use longhaul_transcript::{MessageId, Span, Tokens};

/// The token ledger: a count for each message, with totals that do not depend on how many there are.
///
/// A ledger holds two kinds of figures and keeps them apart: *counts*, which a counter made, and at most one *anchor*,
/// what a provider reported for everything up to a message. Where there is an anchor, [`total`](Self::total) is the
/// report plus the counts of what came after; an estimate never overwrites a measurement.
///
/// Adding and summing cost `O(log n)`, the total `O(1)`.
///
/// ```
/// use longhaul_tokens::Ledger;
/// use longhaul_transcript::{Message, Span, Tokens, Transcript};
///
/// let mut transcript = Transcript::new();
/// let mut ledger = Ledger::new();
/// for (text, tokens) in [("a", 10), ("b", 20), ("c", 30)] {
///     ledger.record(transcript.push(Message::user(text)), Tokens(tokens));
/// }
/// assert_eq!(ledger.total(), Tokens(60));
/// assert_eq!(ledger.in_span(Span { start: 1, end: 3 }), Tokens(50));
///
/// ledger.anchor(transcript.entries()[1].id, Tokens(36)); // the provider says what the first two really cost
/// assert_eq!(ledger.total(), Tokens(66));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// By ordinal.
    counts: Vec<Tokens>,
    /// A Fenwick tree over `counts`, one-based: node `i` holds the sum of the `i & -i` counts that end with it.
    tree: Vec<u64>,
    total: u64,
    anchor: Option<Anchor>,
}

/// A report with the message it covers, and the counts it stands for: one value, so that they cannot part.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    through: MessageId,
    reported: Tokens,
    counted: u64,
}

impl Ledger {
    /// Returns an empty ledger.
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// Notes that message `id` costs `tokens`. Ordinals that were passed over cost nothing until they are recorded; to
    /// record one again replaces its count and leaves an anchor alone.
    pub fn record(&mut self, id: MessageId, tokens: Tokens) {
        let ordinal = id.ordinal as usize;
        while self.counts.len() <= ordinal {
            self.append();
        }
        self.set(ordinal, tokens);
    }

    /// Notes that the provider reported `reported` tokens for everything up to and including message `through`.
    ///
    /// `reported` is the reported input less the fixed overhead that the budget sets aside (tool definitions, and the
    /// system prompt where it is not a message), since the ledger holds messages. A report replaces the one before.
    pub fn anchor(&mut self, through: MessageId, reported: Tokens) {
        let counted = self.sum_before(through.ordinal.saturating_add(1));
        self.anchor = Some(Anchor { through, reported, counted });
    }

    /// Returns the tokens of the whole: the last report and the counts after it, or all counts.
    pub fn total(&self) -> Tokens {
        match self.anchor {
            Some(anchor) => anchor.reported + (Tokens(self.total) - Tokens(anchor.counted)),
            None => Tokens(self.total),
        }
    }

    /// Returns the counts of all messages, whatever was reported.
    pub fn counted(&self) -> Tokens {
        Tokens(self.total)
    }

    /// Returns the count of the message at `ordinal`, if it was recorded.
    pub fn get(&self, ordinal: u64) -> Option<Tokens> {
        self.counts.get(usize::try_from(ordinal).ok()?).copied()
    }

    /// Returns the counts of the messages in `span`. Reports do not enter: they say nothing of single messages.
    pub fn in_span(&self, span: Span) -> Tokens {
        Tokens(self.sum_before(span.end)) - Tokens(self.sum_before(span.start.min(span.end)))
    }

    /// Notes that `tokens` stand where the messages of `span` stood: its first message carries them, the others cost
    /// nothing. A report that covered any of them is dropped, because the prefix it measured is gone.
    pub fn replace(&mut self, span: Span, tokens: Tokens) {
        let end = (span.end as usize).min(self.counts.len());
        let start = span.start as usize;
        if start >= end {
            return;
        }
        if self.anchor.is_some_and(|anchor| span.start <= anchor.through.ordinal) {
            self.anchor = None;
        }
        self.set(start, tokens);
        for ordinal in start + 1..end {
            self.set(ordinal, Tokens::ZERO);
        }
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    fn append(&mut self) {
        self.counts.push(Tokens::ZERO);
        let node = self.counts.len();
        let covered = node & node.wrapping_neg();
        let sum = self.total.saturating_sub(self.sum_before((node - covered) as u64));
        self.tree.push(sum);
    }

    fn set(&mut self, ordinal: usize, tokens: Tokens) {
        let before = std::mem::replace(&mut self.counts[ordinal], tokens).0;
        // In two's complement a decrease is an addition too; only sums of more than 2^64 tokens would be wrong.
        let change = tokens.0.wrapping_sub(before);
        let mut node = ordinal + 1;
        while node <= self.tree.len() {
            self.tree[node - 1] = self.tree[node - 1].wrapping_add(change);
            node += node & node.wrapping_neg();
        }
        self.total = self.total.wrapping_add(change);
        if let Some(anchor) = &mut self.anchor
            && ordinal as u64 <= anchor.through.ordinal
        {
            anchor.counted = anchor.counted.wrapping_add(change);
        }
    }

    fn sum_before(&self, ordinal: u64) -> u64 {
        let mut node = usize::try_from(ordinal).unwrap_or(usize::MAX).min(self.tree.len());
        let mut sum: u64 = 0;
        while node > 0 {
            sum = sum.wrapping_add(self.tree[node - 1]);
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::ContentHash;
    use proptest::prelude::*;

    use super::*;

    fn id(ordinal: u64) -> MessageId {
        MessageId { ordinal, hash: ContentHash::of(&ordinal.to_le_bytes()) }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_plain_list(
            steps in prop::collection::vec((0u64..60, 0u64..60, 0u64..5000, any::<bool>()), 0..80),
        ) {
            let (mut ledger, mut plain) = (Ledger::new(), Vec::<u64>::new());
            for (a, b, tokens, record) in steps {
                let (start, end) = (a.min(b), a.max(b));
                if record {
                    ledger.record(id(a), Tokens(tokens));
                    plain.resize(plain.len().max(a as usize + 1), 0);
                    plain[a as usize] = tokens;
                } else {
                    ledger.replace(Span { start, end }, Tokens(tokens));
                    let end = (end as usize).min(plain.len());
                    if (start as usize) < end {
                        plain[start as usize..end].fill(0);
                        plain[start as usize] = tokens;
                    }
                }
                let in_span = plain.iter().skip(start as usize).take((end - start) as usize).sum();
                prop_assert_eq!(ledger.in_span(Span { start, end }), Tokens(in_span));
                prop_assert_eq!(ledger.total(), Tokens(plain.iter().sum()));
                prop_assert_eq!(ledger.len(), plain.len());
            }
        }

        #[test]
        fn an_anchored_total_is_the_report_and_what_came_after(
            counts in prop::collection::vec(0u64..1000, 1..50),
            at in any::<prop::sample::Index>(),
            reported in 0u64..100_000,
            later in prop::collection::vec(0u64..1000, 0..10),
        ) {
            let mut ledger = Ledger::new();
            counts.iter().zip(0..).for_each(|(n, i)| ledger.record(id(i), Tokens(*n)));
            let at = at.index(counts.len());
            ledger.anchor(id(at as u64), Tokens(reported));
            later.iter().zip(counts.len() as u64..).for_each(|(n, i)| ledger.record(id(i), Tokens(*n)));
            let after = counts[at + 1..].iter().chain(&later).sum::<u64>();
            prop_assert_eq!(ledger.total(), Tokens(reported + after));
            prop_assert_eq!(ledger.counted(), Tokens(counts.iter().chain(&later).sum()));
            // Rewriting what was measured drops the report; rewriting what came after does not.
            let mut rewritten = ledger.clone();
            rewritten.replace(Span { start: at as u64, end: at as u64 + 1 }, Tokens(7));
            prop_assert_eq!(rewritten.total(), rewritten.counted());
            ledger.replace(Span { start: at as u64 + 1, end: u64::MAX }, Tokens(7));
            prop_assert_eq!(ledger.anchor.map(|anchor| anchor.through), Some(id(at as u64)));
        }
    }

    #[test]
    fn recounting_a_measured_message_does_not_move_the_total() {
        let mut ledger = Ledger::new();
        ledger.record(id(0), Tokens(10));
        ledger.anchor(id(0), Tokens(12));
        ledger.record(id(0), Tokens(500));
        assert_eq!(ledger.total(), Tokens(12));
        ledger.record(id(1), Tokens(3));
        assert_eq!(ledger.total(), Tokens(15));
    }
}
