//! A custom store: yours, or, as here, one that watches another. Thirteen methods; everything else comes with the trait.
//!
//! `cargo run -p longhaul --example custom_store`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use longhaul::{
    Session,
    store::{Decide, MemoryStore, StoreError, StoredSession, SummaryStore, hand_on},
    tokens::ContextWindow,
    transcript::{Message, SessionId, Tokens},
};

#[derive(Debug)]
struct Watched(MemoryStore);

impl Watched {
    fn inner(&self) -> &MemoryStore {
        &self.0
    }
}

// What is named goes to the other store. A backend of your own writes these twelve and `transact` itself.
hand_on! {
    impl SummaryStore for Watched;
    inner: [state events entries records snapshot contents find_words sessions set_alias alias cached cache];
    async fn transact(&self, session: &SessionId, decide: Decide) -> Result<StoredSession, StoreError> {
        let before = self.0.state(session).await?.map_or(0, |state| state.messages);
        let state = self.0.transact(session, decide).await?;
        println!("  store: {} new messages, head {:?}", state.messages - before, state.head().map(|id| id.as_str()));
        Ok(state)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
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
