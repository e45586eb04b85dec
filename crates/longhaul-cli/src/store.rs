//! The user's store: where it is, and how a compaction gets into it.

mod places;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use longhaul::{
    CleanDocument,
    store::{Selector, StoreError, SummaryStore},
    transcript::{Message, Redacted, SessionId, Span, SummaryRecord},
    wire::Document,
};
use serde::Serialize;

use self::places::Places;
use crate::{args::StoreArgs, clock};

mod place;

pub(crate) use place::{open, place};

/// A store of any kind.
pub(crate) type Store = Arc<dyn SummaryStore>;

/// Opens the store that `args` name where there is one; asking must not make one.
pub(crate) fn existing(args: &StoreArgs) -> Result<Option<Store>> {
    match place(args)?.exists() {
        true => open(args).map(Some),
        false => Ok(None),
    }
}

/// How often a summary is put on top of what others put there.
const TRIES: usize = 32;

/// Where a compaction was recorded.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recorded {
    pub(crate) session: String,
    pub(crate) store: String,
    /// How many originals were deleted after that.
    pub(crate) deleted: u64,
}

/// Runs `future` to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the async runtime does not start")?.block_on(future)
}

/// What becomes of originals once a summary covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterSummary {
    Kept,
    Deleted,
}

/// Keeps the originals of `document` that the store lacks, and `record` as the summary in force. Returns the session, and
/// how many originals were deleted.
pub(crate) async fn keep(
    store: &Store,
    document: &Document,
    clean: &CleanDocument,
    record: &SummaryRecord,
    name: Option<&str>,
    originals: AfterSummary,
) -> Result<(SessionId, u64)> {
    let now = clock::now_ms();
    let said = clean.messages();
    let places = Places::find(store, document, &said).await?;
    let session = places.session.clone();
    store.journal(&session, places.start(), &said[places.new..], now).await?;
    let record = places.in_session(record);
    let record = Redacted::assume(record);
    for tries_left in (0..TRIES).rev() {
        make_way(store, &session, &record, now).await?;
        match store.append(&session, &record).await {
            // Another process compacted the same file in between.
            Err(StoreError::Conflict { .. }) if tries_left > 0 => {}
            done => {
                done?;
                break;
            }
        }
    }
    let mut n_deleted = 0;
    if originals == AfterSummary::Deleted {
        for span in Span::runs(record.covered.iter().map(|covered| covered.ordinal)) {
            n_deleted += store.forget(&session, &Selector::Originals(span), now).await?.message_count();
        }
    }
    if let Some(name) = name {
        store.set_alias(&SessionId::new(name)?, &session).await?;
    }
    Ok((session, n_deleted))
}

/// What stands behind the summary that a file begins with.
#[derive(Debug)]
pub(crate) struct Behind {
    /// The originals that the summary and what was kept beside it stand for, with their ordinals in the session;
    /// standing instructions apart.
    pub(crate) originals: Vec<(u64, Message)>,
    /// The ordinal in the session of each message of the file, where it has one.
    pub(crate) ordinals: Vec<Option<u64>>,
    pub(crate) summary: SummaryRecord,
    /// None of the originals was forgotten.
    pub(crate) is_whole: bool,
}

/// Returns what stands behind the summary that `document` begins with; `None` where the store does not hold that summary.
pub(crate) async fn behind(
    store: &Store,
    document: &Document,
    clean: &CleanDocument,
) -> Result<Option<Behind>> {
    let Places { session, ordinals, summary, .. } = Places::find(store, document, &clean.messages()).await?;
    let Some(summary) = summary else { return Ok(None) };
    let kept = summary.kept.last().map_or(0, |span| span.end);
    let span = Span { start: 0, end: summary.covers.end.max(kept) };
    let (mut originals, mut is_whole) = (Vec::new(), true);
    for original in store.originals(&session, span).await? {
        match original.message {
            // Standing instructions are at the beginning of the file, before the summary.
            Some(message) if message.is_system() => {}
            Some(message) => originals.push((original.ordinal, message)),
            None => is_whole = false,
        }
    }
    Ok(Some(Behind { originals, ordinals, summary, is_whole }))
}

/// Takes back what stands in the way of `record`: a file that is compacted again, into another budget, replaces its
/// earlier compaction. Nothing is lost by it; the log keeps both.
async fn make_way(store: &Store, session: &SessionId, record: &SummaryRecord, now: i64) -> Result<()> {
    loop {
        let head = store.state(session).await?.and_then(|state| state.head().cloned());
        if head == record.parent || head.as_ref() == Some(&record.id) {
            return Ok(());
        }
        if head.is_none() {
            bail!("the summary follows one that is not in this store; the originals were kept");
        }
        store.undo(session, now).await?;
    }
}
