//! A custom store: yours, or, as here, one that watches another. Thirteen methods; everything else comes with the trait.
//!
//! `cargo run -p longhaul --example custom_store`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use longhaul::{
    Session,
    store::{
        Decide, Event, JournalEntry, MemoryStore, RecordEntry, SessionInfo, Snapshot, StoreError,
        StoredSession, SummaryStore,
    },
    tokens::ContextWindow,
    transcript::{ContentHash, Message, Redacted, SessionId, Span, Tokens},
};

#[derive(Debug)]
struct Watched(MemoryStore);

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait::async_trait]
#[rustfmt::skip] // One line a method shows how little there is to do.
impl SummaryStore for Watched {
    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession> {
        let before = self.0.state(session).await?.map_or(0, |state| state.messages);
        let state = self.0.transact(session, decide).await?;
        println!("  store: {} new messages, head {:?}", state.messages - before, state.head().map(|id| id.as_str()));
        Ok(state)
    }
    async fn state(&self, session: &SessionId) -> Result<Option<StoredSession>> { self.0.state(session).await }
    async fn events(&self, session: &SessionId, from: u64, limit: usize) -> Result<Vec<Event>> { self.0.events(session, from, limit).await }
    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>> { self.0.entries(session, span).await }
    async fn records(&self, session: &SessionId) -> Result<Vec<RecordEntry>> { self.0.records(session).await }
    async fn snapshot(&self, session: &SessionId) -> Result<Option<Snapshot>> { self.0.snapshot(session).await }
    async fn contents(&self, session: &SessionId, at: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>> { self.0.contents(session, at).await }
    async fn find_words(&self, session: Option<&SessionId>, words: &[String], limit: usize) -> Result<Vec<(SessionId, u64)>> { self.0.find_words(session, words, limit).await }
    async fn sessions(&self) -> Result<Vec<SessionInfo>> { self.0.sessions().await }
    async fn set_alias(&self, alias: &SessionId, session: &SessionId) -> Result<()> { self.0.set_alias(alias, session).await }
    async fn alias(&self, alias: &SessionId) -> Result<Option<SessionId>> { self.0.alias(alias).await }
    async fn cached(&self, key: &ContentHash) -> Result<Option<Vec<u8>>> { self.0.cached(key).await }
    async fn cache(&self, key: &ContentHash, value: &Redacted<Vec<u8>>) -> Result<()> { self.0.cache(key, value).await }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(Watched(MemoryStore::new()));
    let (session, window) =
        (SessionId::new("custom-store")?, ContextWindow::new(Tokens(2_000), Tokens::ZERO));
    let mut context = Session::builder(session.clone(), window).store(store.clone()).open().await?;
    for nth in 0..120 {
        context.push(Message::user(format!("Question {nth}: what is the limit of src/part_{nth}.rs?")));
        context.push(Message::assistant(format!("It is {nth}0 ms.")));
        context.prepare().await?;
    }
    context.save().await?;
    for hit in store.search(Some(&session), "part_3.rs limit", 3).await? {
        println!("found {}: {}", hit.id, hit.snippet);
    }
    println!("the log is intact: {}", store.verify(&session).await?.is_intact());
    Ok(())
}
