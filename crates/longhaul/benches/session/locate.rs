//! Finding the stored conversation that a history belongs to, among very many.

use std::{sync::Arc, time::Instant};

use longhaul::{
    store::{History, SqliteStore, SummaryStore, Synchronous, locate},
    transcript::{ContentHash, Message, Redacted, SessionId},
};

use super::{Scratch, median, work::turn};

/// How many conversations there are.
const SESSIONS: usize = 10_000;

/// So many are written at once.
const AT_ONCE: usize = 200;

pub(crate) async fn run() {
    let scratch = Scratch::new("locate");
    let store = SqliteStore::open_with(scratch.0.join("store.db"), Synchronous::Normal).unwrap();
    let store: Arc<dyn SummaryStore> = Arc::new(store);
    let said = |nth: usize, turns: usize| -> Vec<Redacted<Message>> {
        // All open alike.
        let opening = [Message::system("You are a helpful agent."), Message::user("Hello, I need help.")];
        let rest = (0..turns).flat_map(|at| turn(nth * 7 + at, 2));
        opening.into_iter().chain(rest).map(Redacted::assume).collect()
    };
    for first in (0..SESSIONS).step_by(AT_ONCE) {
        let mut writers = tokio::task::JoinSet::new();
        for nth in first..first + AT_ONCE {
            let (store, said) = (Arc::clone(&store), said(nth, 1 + nth % 3));
            let name = SessionId::derived(&[ContentHash::of(&nth.to_le_bytes())]);
            writers.spawn(async move { store.journal(&name, 0, &said, nth as i64).await.unwrap() });
        }
        writers.join_all().await;
    }
    println!("finding the conversation among {SESSIONS}, SQLite");
    for (what, id) in [("by its words", None), ("by its name", Some(SessionId::new("mine").unwrap()))] {
        if let Some(id) = &id {
            store.journal(id, 0, &said(9, 1), 1).await.unwrap();
        }
        let mut times = Vec::new();
        for nth in 0..9 {
            let grown = said(nth, 6);
            let started = Instant::now();
            locate(&store, &History { id: id.as_ref(), named: None, said: &grown }).await.unwrap();
            times.push(started.elapsed());
        }
        println!("{what:>14}  {:?}", median(times));
    }
}
