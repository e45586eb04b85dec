//! The memory of a conversation that lives long, with a store: bounded by its window, not by its age.

use std::sync::Arc;

use longhaul::{
    Session,
    store::{SqliteStore, Synchronous},
    tokens::ContextWindow,
    transcript::{SessionId, Tokens},
};

use super::{Resident, Scratch, heap, work::turn};

pub(crate) async fn run(window: u64, turns: u64) {
    let scratch = Scratch::new("memory");
    let path = scratch.0.join("store.db");
    let store = Arc::new(SqliteStore::open_with(&path, Synchronous::Normal).unwrap());
    let limits = ContextWindow::new(Tokens(window), Tokens(window / 20));
    let builder = Session::builder(SessionId::new("long-lived").unwrap(), limits).store(store);
    let mut session = builder.open().await.unwrap();
    let Resident { all, own } = Resident::now();
    println!(
        "memory of {turns} turns at a window of {window} (at the start {all:.0} MB resident, {own:.0} of them its own)"
    );
    println!("   turns  resident MB  its own  live MB  live at most  large blocks  largest, kB");
    let lines = if window < 8_000 { 1 } else { 5 };
    for nth in 0..turns {
        for message in turn(nth as usize, lines) {
            session.push(message);
        }
        session.prepare().await.unwrap();
        if (nth + 1) % (turns / 10).max(1) == 0 {
            let (heap, Resident { all, own }) = (heap::take(), Resident::now());
            println!(
                "{:>8}  {all:>11.1}  {own:>7.1}  {:>7.1}  {:>12.1}  {:>12}  {:>11.0}",
                nth + 1,
                heap.live as f64 / 1e6,
                heap.peak as f64 / 1e6,
                heap.n_large,
                heap.largest as f64 / 1e3
            );
        }
    }
}
