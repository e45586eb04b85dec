//! Which messages of a file are which messages of a stored session.
//!
//! A history that was compacted before begins with its system prompt and our summary, which are not originals; then come
//! messages that are stored already, some of them shortened; then what was said since. Read without that knowledge,
//! everything after the summary would be stored once more.

use anyhow::Result;
use longhaul::{
    session_of,
    store::{address_of, align},
    transcript::{Message, Redacted, SessionId, Span, SummaryId, SummaryRecord, parse_handle_line},
    wire::Document,
};

use super::Store;

/// Where the messages of a file belong.
#[derive(Debug)]
pub(super) struct Places {
    /// The session.
    pub(super) session: SessionId,
    /// The ordinal in the session of each message of the file; nothing for a system prompt beside a summary, and for
    /// the summary.
    pub(super) ordinals: Vec<Option<u64>>,
    /// Index in the file of the first message that may be new.
    pub(super) new: usize,
    /// The summary that the file begins with.
    pub(super) summary: Option<SummaryRecord>,
}

impl Places {
    /// Finds the places of `said`, the messages of `document`.
    pub(super) async fn find(
        store: &Store,
        document: &Document,
        said: &[Redacted<Message>],
    ) -> Result<Places> {
        let (session, summary) = session_and_summary(store, document, said).await?;
        let mut places = Places { session, ordinals: Vec::with_capacity(said.len()), new: 0, summary };
        let mut held_before = 0;
        if let Some(summary) = &places.summary {
            let head = system_prompts(said) + 1;
            let kept = kept_again(store, &places.session, summary, &said[head..]).await?;
            places.ordinals.resize(head, None);
            places.ordinals.extend(kept.iter().copied().map(Some));
            places.new = places.ordinals.len();
            held_before = kept.last().map_or(0, |last| last + 1);
        }
        let start = next(store, &places.session, held_before, &said[places.new..]).await?;
        places.ordinals.extend((start..).map(Some).take(said.len() - places.new));
        Ok(places)
    }

    /// Returns the ordinal in the session of the first message that may be new.
    pub(super) fn start(&self) -> u64 {
        self.ordinals.get(self.new).copied().flatten().unwrap_or(0)
    }

    /// Returns `record`, made for the file, with the ordinals of the session. A message that was shortened already is
    /// covered under the hash of its original.
    pub(super) fn in_session(&self, record: &SummaryRecord) -> SummaryRecord {
        let place = |ordinal: u64| self.ordinals.get(ordinal as usize).copied().flatten();
        let earlier = self.summary.as_ref().map_or(&[][..], |summary| &summary.covered);
        let mut record = record.clone();
        record.covered.retain_mut(|covered| {
            let Some(ordinal) = place(covered.ordinal) else { return false };
            if let Ok(at) = earlier.binary_search_by_key(&ordinal, |earlier| earlier.ordinal) {
                covered.sha256 = earlier[at].sha256;
            }
            covered.ordinal = ordinal;
            true
        });
        record.kept = Span::runs(record.kept.iter().flat_map(|span| span.start..span.end).filter_map(place));
        let bounds = |span: Option<Span>| span.filter(|span| !span.is_empty());
        let before = bounds(self.summary.as_ref().map(|summary| summary.covers));
        let first = record.covered.first().map(|covered| covered.ordinal);
        let end = record.covered.last().map_or(0, |covered| covered.ordinal + 1);
        record.covers = Span {
            start: first.into_iter().chain(before.map(|span| span.start)).min().unwrap_or(0),
            end: end.max(before.map_or(0, |span| span.end)),
        };
        record
    }
}

/// Returns the session that `document` belongs to, and the summary that it begins with, where that session holds it.
///
/// A format without session ids has another beginning after a compaction: its session is the one that holds the
/// summary. A summary that no session holds is the only account there is of what came before, so it is stored like
/// any other message.
async fn session_and_summary(
    store: &Store,
    document: &Document,
    said: &[Redacted<Message>],
) -> Result<(SessionId, Option<SummaryRecord>)> {
    let derived = session_of(document);
    let Some((opening, id)) = said.get(system_prompts(said)).and_then(handle_in) else {
        return Ok((derived, None));
    };
    let mut sessions = vec![derived.clone()];
    if document.session_id().is_none() {
        sessions.extend(store.sessions().await?.into_iter().map(|info| info.session));
    }
    for session in sessions {
        let record = store.record(&session, &id).await?;
        if let Some(record) = record.filter(|record| record.to_message().texts().eq([opening])) {
            return Ok((session, Some(record)));
        }
    }
    Ok((derived, None))
}

fn system_prompts(said: &[Redacted<Message>]) -> usize {
    said.iter().take_while(|message| message.is_system()).count()
}

/// Returns the text of `message` and the summary that its handle line names, where it has one.
fn handle_in(message: &Redacted<Message>) -> Option<(&str, SummaryId)> {
    message.texts().find_map(|text| Some((text, parse_handle_line(text)?.1)))
}

/// Returns the ordinals of those messages that `summary` kept, where `said` begins with them; otherwise none.
async fn kept_again(
    store: &Store,
    session: &SessionId,
    summary: &SummaryRecord,
    said: &[Redacted<Message>],
) -> Result<Vec<u64>> {
    let mut ordinals = Vec::new();
    for span in &summary.kept {
        for original in store.originals(session, *span).await? {
            let given = said.get(ordinals.len());
            let is_same =
                given.zip(original.message.as_ref()).is_some_and(|(given, held)| is_form_of(given, held));
            if !is_same {
                return Ok(Vec::new());
            }
            ordinals.push(original.ordinal);
        }
    }
    Ok(ordinals)
}

/// Returns whether `given` may be `held`, as it is or shortened: a digest changes texts, never who speaks or which calls
/// are made and answered.
fn is_form_of(given: &Message, held: &Message) -> bool {
    let calls = |message: &Message| message.calls().map(|call| call.id.clone()).collect::<Vec<_>>();
    let results =
        |message: &Message| message.results().map(|result| result.call_id.clone()).collect::<Vec<_>>();
    given.role == held.role && calls(given) == calls(held) && results(given) == results(held)
}

/// Returns the ordinal of the first of `said`, which come after the first `held_before` messages of the session: where
/// they overlap with what is held, else the end.
async fn next(
    store: &Store,
    session: &SessionId,
    held_before: u64,
    said: &[Redacted<Message>],
) -> Result<u64> {
    let held = store.state(session).await?.map_or(0, |state| state.messages);
    let entries = store.entries(session, Span { start: held_before, end: held }).await?;
    let held_addresses: Vec<_> = entries.iter().map(|entry| entry.address).collect();
    let given: Vec<_> = said.iter().map(address_of).collect();
    Ok(align(&held_addresses, &given).map_or(held, |overlap| held_before + overlap))
}
