//! Taking up a conversation of 10,000 messages, and what keeping it ready for that costs with each push.

use std::{sync::Arc, time::Instant};

use longhaul::{
    Session,
    store::{SqliteStore, SummaryStore},
    tokens::ContextWindow,
    transcript::{SessionId, Tokens},
};

use super::{Scratch, counted::Counted, median, work::turn};

/// Turns of four messages.
const TURNS: usize = 2_500;

/// How often it is taken up.
const TIMES: usize = 15;

pub(crate) async fn run() {
    println!(
        "resume of {} messages, SQLite, median of {TIMES}; and the first compaction after it",
        TURNS * 4
    );
    println!(
        "| window | resume | originals read | compaction | originals read | the second | said, bytes a push | snapshots | facts |\n|---|---|---|---|---|---|---|---|---|"
    );
    for window in [2_000, 16_000, 128_000] {
        let scratch = Scratch::new("resume");
        let sqlite = Arc::new(SqliteStore::open(scratch.0.join("store.db")).unwrap());
        let store = Arc::new(Counted::new(sqlite));
        let open = || {
            let window = ContextWindow::new(Tokens(window), Tokens(window / 8));
            let builder = Session::builder(SessionId::new("resumed").unwrap(), window);
            builder.store(Arc::clone(&store) as Arc<dyn SummaryStore>).open()
        };
        let mut session = open().await.unwrap();
        let mut said = 0;
        for nth in 0..TURNS {
            for message in turn(nth, 6) {
                said += serde_json::to_string(&message).unwrap().len();
                session.push(message);
            }
            session.prepare().await.unwrap();
        }
        drop(session);
        let (snapshots, facts, _) = store.take();
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            let session = open().await.unwrap();
            times.push(started.elapsed());
            drop(session);
        }
        let resumed = store.take().2 / TIMES as u64;
        let mut session = open().await.unwrap();
        store.take();
        say(&mut session, TURNS);
        let started = Instant::now();
        session.compact(None).await.unwrap();
        let first = started.elapsed();
        let read = store.take().2;
        for nth in 1..40 {
            say(&mut session, TURNS + nth);
        }
        let started = Instant::now();
        session.compact(None).await.unwrap();
        let second = started.elapsed();
        let pushes = (TURNS * 4) as u64;
        println!(
            "| {window} | {:?} | {resumed} | {first:?} | {read} | {second:?} | {} | {} | {} |",
            median(times),
            said as u64 / pushes,
            snapshots / pushes,
            facts / pushes,
        );
    }
}

fn say(session: &mut Session, nth: usize) {
    for message in turn(nth, 6) {
        session.push(message);
    }
}
