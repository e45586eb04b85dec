//! The user's store: where it is, and how a compaction gets into it.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result, bail};
use longhaul::{
    CleanDocument, session_of,
    store::{SummaryStore, address_of, align},
    transcript::{Message, Redacted, SessionId, Span, SummaryRecord, parse_handle_line},
    wire::Document,
};
use serde::Serialize;

use crate::{args::StoreArgs, clock};

/// A store of any kind.
pub(crate) type Store = Arc<dyn SummaryStore>;

/// Where a compaction was recorded.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Recorded {
    pub(crate) session: String,
    pub(crate) store: String,
}

/// Opens the store that `args` name, or the user's own.
#[cfg(feature = "sqlite")]
pub(crate) fn open(args: &StoreArgs) -> Result<Store> {
    let path = path(args)?;
    let store = longhaul::store::SqliteStore::open(&path);
    Ok(Arc::new(store.with_context(|| format!("the store {} cannot be opened", path.display()))?))
}

/// A build without SQLite has nowhere to keep anything.
#[cfg(not(feature = "sqlite"))]
pub(crate) fn open(_: &StoreArgs) -> Result<Store> {
    bail!("this build has no `sqlite` feature, so there is no store")
}

/// Returns where the store is: the flag's, `LONGHAUL_STORE`, or `longhaul/store.db` in the user's data directory.
pub(crate) fn path(args: &StoreArgs) -> Result<PathBuf> {
    if let Some(path) = &args.store {
        return Ok(path.clone());
    }
    let configured = std::env::var_os("XDG_DATA_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local").join("share"));
    let Some(folder) = configured.or_else(home) else {
        bail!("there is no data directory: neither XDG_DATA_HOME nor HOME is set; name one with --store");
    };
    Ok(folder.join("longhaul").join("store.db"))
}

/// Runs `future` to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the async runtime does not start")?.block_on(future)
}

/// Keeps the originals of `document` that the store lacks, and `record` as the summary in force.
pub(crate) async fn keep(
    store: &Store,
    document: &Document,
    clean: &CleanDocument,
    record: &SummaryRecord,
    name: Option<&str>,
) -> Result<SessionId> {
    let session = session_of(document);
    let now = clock::now_ms();
    let said = clean.messages();
    let first = first_original(&said);
    let offset = place(store, &session, &said[first..]).await?;
    store.journal(&session, offset, &said[first..], now).await?;
    let record = in_session(store, &session, record, first as u64, offset).await?;
    make_way(store, &session, &record, now).await?;
    store.append(&session, &Redacted::assume(record)).await?;
    if let Some(name) = name {
        store.set_alias(&SessionId::new(name)?, &session).await?;
    }
    Ok(session)
}

/// Returns the index of the first message that somebody said: after a compaction, a history begins with its system
/// prompt and our summary, which are not originals.
fn first_original(said: &[Redacted<Message>]) -> usize {
    let head = said.iter().take_while(|message| message.is_system()).count();
    let is_ours = |message: &Redacted<Message>| message.texts().any(|text| parse_handle_line(text).is_some());
    match said.get(head).is_some_and(is_ours) {
        true => head + 1,
        false => 0,
    }
}

/// Returns the ordinal in the session of the first of `said`: where it overlaps with what is held, else the end.
async fn place(store: &Store, session: &SessionId, said: &[Redacted<Message>]) -> Result<u64> {
    let held = store.state(session).await?.map_or(0, |state| state.messages);
    let entries = store.entries(session, Span { start: 0, end: held }).await?;
    let held_addresses: Vec<_> = entries.iter().map(|entry| entry.address).collect();
    let given: Vec<_> = said.iter().map(address_of).collect();
    Ok(align(&held_addresses, &given).unwrap_or(held))
}

/// Returns `record` with the ordinals of the session instead of the file's.
async fn in_session(
    store: &Store,
    session: &SessionId,
    record: &SummaryRecord,
    first: u64,
    offset: u64,
) -> Result<SummaryRecord> {
    let mut record = record.clone();
    record.covered.retain(|covered| covered.ordinal >= first);
    for covered in &mut record.covered {
        covered.ordinal = covered.ordinal - first + offset;
    }
    let parent = match &record.parent {
        Some(parent) => store.record(session, parent).await?,
        None => None,
    };
    let start = record.covered.first().map_or(offset, |covered| covered.ordinal);
    let end = record.covered.last().map_or(offset, |covered| covered.ordinal + 1);
    record.covers = Span { start: parent.map_or(start, |parent| parent.covers.start.min(start)), end };
    Ok(record)
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
