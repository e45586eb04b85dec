//! A stored conversation as a line of messages, and how far a history follows it.

use longhaul_transcript::{ContentHash, Message, Redacted, SessionId, Span, SummaryId, SummaryRecord};

use super::place::{Kin, Place};
use crate::{StoreError, SummaryStore};

/// A stored conversation, as it was said or as a compaction wrote it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) session: SessionId,
    /// How many messages the session holds.
    pub(super) end: u64,
    /// The summaries in force where the line begins, oldest first; the last is the one that it begins with. None where
    /// the line is the session as it was said.
    pub(super) chain: Vec<SummaryRecord>,
}

/// How far a history follows a line.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) line: Line,
    /// The ordinal of each message of the history that is the session's.
    ordinals: Vec<Option<u64>>,
    /// How many messages of the history there are.
    given: usize,
    /// The ordinal up to which the history and the line are one.
    pub(super) common: u64,
    /// All of the line is the beginning of the history.
    pub(super) is_whole: bool,
    /// All of the history is the beginning of the line.
    pub(super) is_rewound: bool,
}

impl Line {
    /// Returns a session as the compaction wrote it that made the summary `id`; `None` where the session does not hold
    /// that summary, or it says something else than `text`.
    pub(super) async fn after_summary<S: SummaryStore + ?Sized>(
        store: &S,
        session: &SessionId,
        id: &SummaryId,
        text: &str,
    ) -> Result<Option<Line>, StoreError> {
        let Some(record) = store.record(session, id).await? else { return Ok(None) };
        if !record.to_message().texts().eq([text]) {
            return Ok(None);
        }
        let mut chain = vec![record];
        while let Some(parent) = chain[0].parent.clone() {
            let Some(parent) = store.record(session, &parent).await? else { break };
            chain.insert(0, parent);
        }
        chain[0].parent = None;
        let end = store.require(session).await?.messages;
        Ok(Some(Line { session: session.clone(), end, chain }))
    }

    /// Compares `said`, whose addresses are `given`, with the line. The first `skipped` messages are the summary that
    /// the line begins with and what stands before it.
    pub(super) async fn fit<S: SummaryStore + ?Sized>(
        self,
        store: &S,
        skipped: usize,
        said: &[Redacted<Message>],
        given: &[ContentHash],
    ) -> Result<Fit, StoreError> {
        let mut ordinals = vec![None; skipped];
        let mut next = 0;
        if let Some(summary) = self.chain.last() {
            let kept: Vec<u64> = summary.kept.iter().flat_map(|span| span.start..span.end).collect();
            let n_same =
                kept_again(store, &self.session, summary, &kept, &said[skipped..], &given[skipped..]).await?;
            ordinals.extend(kept[..n_same].iter().map(|ordinal| Some(*ordinal)));
            if let Some(ordinal) = kept.get(n_same) {
                let is_rewound = ordinals.len() == given.len();
                let common = *ordinal;
                return Ok(Fit {
                    line: self,
                    ordinals,
                    given: given.len(),
                    common,
                    is_whole: false,
                    is_rewound,
                });
            }
            next = summary.through();
        }
        let rest = &given[ordinals.len()..];
        let held = Span { start: next, end: self.end.min(next + rest.len() as u64) };
        let n_same = common(store, &self.session, held, rest).await?;
        ordinals.extend((next..).take(n_same as usize).map(Some));
        let common = next + n_same;
        let (is_whole, is_rewound) = (common >= self.end, n_same == rest.len() as u64);
        Ok(Fit { line: self, ordinals, given: given.len(), common, is_whole, is_rewound })
    }
}

impl Fit {
    /// Returns the place of a history that goes on in the session itself.
    pub(super) fn known(self) -> Place {
        let session = self.line.session.clone();
        self.place(session, Kin::Known)
    }

    /// Returns the place of a history that leaves the line: a branch called `name`.
    pub(super) fn branch(self, name: SessionId) -> Place {
        let kin = Kin::Branch { of: self.line.session.clone(), at: self.common };
        self.place(name, kin)
    }

    fn place(mut self, session: SessionId, kin: Kin) -> Place {
        let new = self.ordinals.len();
        self.ordinals.extend((self.common..).take(self.given - new).map(Some));
        let mut chain = self.line.chain;
        if let Kin::Branch { at, .. } = kin {
            chain.iter_mut().for_each(|record| record.limit(at));
        }
        Place { session, kin, ordinals: self.ordinals, new, start: self.common, chain }
    }
}

/// Returns how many of the messages that `summary` kept, under the ordinals `kept`, `said` begins with.
async fn kept_again<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    summary: &SummaryRecord,
    kept: &[u64],
    said: &[Redacted<Message>],
    given: &[ContentHash],
) -> Result<usize, StoreError> {
    if let Some(emitted) = summary.emitted.as_ref().filter(|emitted| emitted.messages.len() == kept.len()) {
        return Ok(emitted
            .messages
            .iter()
            .zip(given)
            .take_while(|(emitted, given)| emitted == given)
            .count());
    }
    // Made without a file: what was kept as it is must be the same, what was shortened must look like it.
    let is_shortened =
        |ordinal: u64| summary.covered.binary_search_by_key(&ordinal, |covered| covered.ordinal).is_ok();
    let mut n_same = 0;
    for span in &summary.kept {
        for original in store.originals_in_line(session, *span).await? {
            let (Some(message), Some(held)) = (said.get(n_same), &original.message) else {
                return Ok(n_same);
            };
            let is_same = match is_shortened(original.ordinal) {
                true => is_form_of(message, held),
                false => message.content_hash() == held.content_hash(),
            };
            if !is_same {
                return Ok(n_same);
            }
            n_same += 1;
        }
    }
    Ok(n_same)
}

/// Returns whether `given` may be `held`, as it is or shortened: a digest changes texts, never who speaks or which calls
/// are made and answered.
fn is_form_of(given: &Message, held: &Message) -> bool {
    given.role == held.role
        && given.calls().map(|call| &call.id).eq(held.calls().map(|call| &call.id))
        && given.results().map(|result| &result.call_id).eq(held.results().map(|result| &result.call_id))
}

/// Returns how many messages of `held` a history that goes on with `given` has too.
async fn common<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    held: Span,
    given: &[ContentHash],
) -> Result<u64, StoreError> {
    let mut at = held.start;
    while at < held.end {
        let batch = Span { start: at, end: (at + AT_ONCE).min(held.end) };
        let entries = store.entries(session, batch).await?;
        let n_given = (at - held.start) as usize;
        let n_same = entries
            .iter()
            .zip(&given[n_given..])
            .take_while(|(entry, given)| entry.address == **given)
            .count();
        at += n_same as u64;
        if at < batch.end {
            break;
        }
    }
    Ok(at - held.start)
}

/// Returns whether the message at `ordinal` of a session has this address.
pub(super) async fn is_there<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    ordinal: u64,
    address: ContentHash,
) -> Result<bool, StoreError> {
    let entries = store.entries(session, Span { start: ordinal, end: ordinal + 1 }).await?;
    Ok(entries.first().is_some_and(|entry| entry.address == address))
}

/// Returns whether a session begins with `given`.
pub(crate) async fn begins_with<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    given: &[ContentHash],
) -> Result<bool, StoreError> {
    let span = Span { start: 0, end: given.len() as u64 };
    Ok(common(store, session, span, given).await? == span.end)
}

/// How many entries are looked at at once.
const AT_ONCE: u64 = 256;
