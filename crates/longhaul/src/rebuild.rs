//! A summary made anew from the messages that an earlier one stands for.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_extract::FactIndex;
use longhaul_summarize::{CallPlan, Draft, SummarizeError, Summarizer, SummaryRequest};
use longhaul_transcript::{ContentHash, Entry, Message, MessageId};

/// A [`Summarizer`] that reads originals in place of the summary that a history begins with, so that what each summary
/// of a chain left out adds up no further.
///
/// The history numbers its messages from its own beginning, the session from the first original; what is asked of the
/// summarizer below bears the session's numbers, which are those that a store can be asked for.
#[derive(Debug)]
pub struct FromOriginals<'a> {
    summarizer: &'a dyn Summarizer,
    originals: Vec<Entry>,
    ordinals: &'a [Option<u64>],
    index: FactIndex,
}

impl<'a> FromOriginals<'a> {
    /// Returns `summarizer` with the originals behind the summary of a history, each with its ordinal in the session.
    /// `ordinals` has the same for each message of the `history`: none for the summary, and for standing instructions
    /// before it.
    pub fn new(
        summarizer: &'a dyn Summarizer,
        originals: Vec<(u64, Message)>,
        history: &[Entry],
        ordinals: &'a [Option<u64>],
    ) -> FromOriginals<'a> {
        let originals = originals.into_iter().map(|(ordinal, message)| Entry {
            id: MessageId { ordinal, hash: message.content_hash() },
            lineage: ContentHash([0; 32]),
            message: Arc::new(message),
        });
        let mut from =
            FromOriginals { summarizer, originals: originals.collect(), ordinals, index: FactIndex::new() };
        let said = from.numbered(history);
        from.originals.iter().chain(&said).for_each(|entry| from.index.push(entry));
        from
    }

    /// Returns those of `entries` that the session has, under its ordinals.
    fn numbered(&self, entries: &[Entry]) -> Vec<Entry> {
        let numbered = entries.iter().filter_map(|entry| {
            let ordinal = self.ordinals.get(entry.id.ordinal as usize).copied().flatten()?;
            Some(Entry { id: MessageId { ordinal, ..entry.id }, ..entry.clone() })
        });
        numbered.collect()
    }

    fn entries(&self, request: &SummaryRequest<'_>) -> Vec<Entry> {
        let mut entries = self.originals.clone();
        entries.extend(self.numbered(request.entries));
        entries
    }
}

#[async_trait]
impl Summarizer for FromOriginals<'_> {
    fn plan(&self, request: &SummaryRequest<'_>) -> CallPlan {
        let entries = self.entries(request);
        self.summarizer.plan(&SummaryRequest {
            entries: &entries,
            index: &self.index,
            previous: None,
            ..*request
        })
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let (entries, kept) = (self.entries(&request), self.numbered(request.kept));
        let request = SummaryRequest {
            entries: &entries,
            kept: &kept,
            previous: None,
            index: &self.index,
            depth: 0,
            ..request
        };
        self.summarizer.summarize(request).await
    }
}
