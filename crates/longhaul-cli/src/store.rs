//! The user's store: where it is, and how a compaction gets into it.

mod places;

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, Result, bail};
use longhaul::{
    CleanDocument,
    store::SummaryStore,
    transcript::{Redacted, SessionId, SummaryRecord},
    wire::Document,
};
use serde::Serialize;

use self::places::Places;
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
    let now = clock::now_ms();
    let said = clean.messages();
    let places = Places::find(store, document, &said).await?;
    let session = places.session.clone();
    store.journal(&session, places.start(), &said[places.new..], now).await?;
    let record = places.in_session(record);
    make_way(store, &session, &record, now).await?;
    store.append(&session, &Redacted::assume(record)).await?;
    if let Some(name) = name {
        store.set_alias(&SessionId::new(name)?, &session).await?;
    }
    Ok(session)
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
