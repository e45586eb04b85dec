//! What was appended a little at a time: read, searched, settled and damaged as if it had been written at once.

use std::{path::Path, thread, time::Duration};

use longhaul_store::{
    MemoryStore, Problem, Selector, SqliteStore, StoreError, SummaryStore, Synchronous,
    conformance::{block_on, record, said, session},
};
use longhaul_transcript::Span;
use proptest::prelude::*;
use rusqlite::Connection;

use crate::process::{assert_all_there, part, play, runs, tell, told};

#[derive(Clone, Debug)]
enum Step {
    /// Messages of so many bytes each.
    Say(Vec<usize>),
    Compact,
    Undo,
    Redo,
    Restore(u64, u64),
    Forget(u64, u64),
    ForgetMatching(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![6 => 0..400usize, 3 => 3_000..9_000usize, 1 => 15_000..70_000usize];
    prop_oneof![
        10 => prop::collection::vec(size, 1..4).prop_map(Step::Say),
        1 => Just(Step::Compact),
        1 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => (0..40u64, 1..5u64).prop_map(|(start, length)| Step::Restore(start, length)),
        1 => (0..40u64, 1..5u64).prop_map(|(start, length)| Step::Forget(start, length)),
        1 => (0..60usize).prop_map(Step::ForgetMatching),
        2 => Just(Step::Reopen),
    ]
}

/// The nth message: a word of its own, one of seven, and so many bytes more.
fn message(n: usize, size: usize) -> String {
    format!("n{n}n kind{} {}", n % 7, "filling ".repeat(size / 8))
}

fn take(store: &dyn SummaryStore, step: &Step, said_so_far: usize) -> String {
    let name = session("s");
    let at_ms = said_so_far as i64;
    let told = block_on(async {
        match step {
            Step::Say(sizes) => {
                let messages = sizes.iter().enumerate();
                let messages: Vec<_> =
                    messages.map(|(index, size)| said(&message(said_so_far + index, *size))).collect();
                store.extend(&name, &messages, at_ms).await.map(|span| format!("{span:?}"))
            }
            Step::Compact => {
                let head = store.head(&name).await?;
                let held = store.state(&name).await?.map_or(0, |state| state.messages);
                let text = format!("until {held}");
                let record = record(&name, head.as_ref(), held, &text);
                store.append(&name, &record).await.map(|state| format!("{state:?}"))
            }
            Step::Undo => store.undo(&name, at_ms).await.map(|id| format!("{id:?}")),
            Step::Redo => store.redo(&name, at_ms).await.map(|id| format!("{id:?}")),
            Step::Restore(start, length) => {
                let span = Span { start: *start, end: start + length };
                store.restore(&name, span, at_ms).await.map(|originals| format!("{originals:?}"))
            }
            Step::Forget(start, length) => {
                let selector = Selector::Range(Span { start: *start, end: start + length });
                store.forget(&name, &selector, at_ms).await.map(|gone| format!("{gone:?}"))
            }
            Step::ForgetMatching(n) => {
                let selector = Selector::Matching(format!("n{n}n"));
                store.forget(&name, &selector, at_ms).await.map(|gone| format!("{gone:?}"))
            }
            Step::Reopen => Ok(String::new()),
        }
    });
    told.unwrap_or_else(|error: StoreError| error.to_string())
}

fn assert_same(one: &dyn SummaryStore, other: &dyn SummaryStore, said_so_far: usize) {
    let name = session("s");
    assert_eq!(seen(one, said_so_far), seen(other, said_so_far));
    if block_on(one.state(&name)).unwrap().is_some() {
        let verified = block_on(one.verify(&name)).unwrap();
        assert!(verified.is_intact(), "{verified:?}");
    }
}

/// What a store says of its session, in words.
fn seen(store: &dyn SummaryStore, said_so_far: usize) -> Vec<String> {
    let name = session("s");
    let (third, half) = (said_so_far as u64 / 3, said_so_far as u64 / 2);
    let found = |query: &str| {
        let hits = block_on(store.search(Some(&name), query, 5)).unwrap();
        format!("{:?}", hits.into_iter().map(|hit| (hit.id, hit.snippet)).collect::<Vec<_>>())
    };
    vec![
        format!("{:?}", block_on(store.state(&name)).unwrap()),
        format!("{:?}", block_on(store.entries(&name, Span { start: 0, end: u64::MAX })).unwrap()),
        format!("{:?}", block_on(store.originals(&name, Span { start: half, end: half + 3 })).unwrap()),
        format!("{:?}", block_on(store.events(&name, third, 2)).unwrap()),
        found("kind3"),
        found(&format!("N{half}n KIND")),
        format!("{:?}", block_on(store.records(&name)).unwrap()),
        format!("{:?}", block_on(store.sessions()).unwrap()),
        block_on(store.export(&name)).unwrap_or_default(),
    ]
}

/// Does the same in SQLite and in memory, and looks on the way whether they say the same.
fn assert_agree(steps: &[Step], durability: Synchronous) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let open = || SqliteStore::open_with(&path, durability).unwrap();
    let (memory, mut sqlite, mut said_so_far) = (MemoryStore::new(), open(), 0);
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(take(&sqlite, step, said_so_far), take(&memory, step, said_so_far));
        match step {
            Step::Say(sizes) => said_so_far += sizes.len(),
            Step::Reopen => {
                drop(sqlite);
                sqlite = open();
            }
            _ => {}
        }
        if index % 5 == 0 {
            assert_same(&sqlite, &memory, said_so_far);
        }
    }
    assert_same(&sqlite, &memory, said_so_far);
}

#[test]
fn a_record_that_is_made_again_is_not_the_one_that_was_forgotten() {
    let said = Step::Say(vec![10; 30]);
    let steps = [said, Step::Compact, Step::Forget(1, 4), Step::Compact, Step::Forget(25, 3), Step::Reopen];
    assert_agree(&steps, Synchronous::Normal);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn agrees_with_the_store_in_memory(steps in prop::collection::vec(step(), 1..40), full: bool) {
        assert_agree(&steps, if full { Synchronous::Full } else { Synchronous::Normal });
    }
}

/// Returns how many chunks wait, and how many originals are rows.
fn waiting(path: &Path) -> (i64, i64) {
    let connection = Connection::open(path).unwrap();
    let query = "SELECT (SELECT count(*) FROM tail), (SELECT count(*) FROM originals)";
    connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

fn say(store: &SqliteStore, name: &str, from: usize, count: usize) {
    for n in from..from + count {
        block_on(store.extend(&session(name), &[said(&message(n, 2_000))], 1)).unwrap();
    }
}

#[test]
fn child_appends_until_killed() {
    let Some((path, writer)) = part() else { return };
    let store = SqliteStore::open_with(path, Synchronous::Normal).unwrap();
    for turn in 0usize.. {
        let text = format!("{writer}-{turn}-{}", "word.".repeat(turn * 37 % 700));
        block_on(store.extend(&session("s"), &[said(&text)], 1)).unwrap();
        tell(&text);
    }
}

/// Without a sync for each write a power cut may take the last few; the end of the process alone takes none.
#[test]
fn a_killed_process_loses_nothing_it_wrote_by_its_own_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let mut acknowledged = Vec::new();
    for run in 0..runs("LONGHAUL_KILL_RUNS", 6) {
        let mut child = play("tail::child_appends_until_killed", &path, run).spawn().unwrap();
        acknowledged.extend(told(&mut child, run * 37 % 200));
        if run % 10 == 5 {
            assert_all_there(&SqliteStore::open(&path).unwrap(), &acknowledged);
        }
    }
    assert_all_there(&SqliteStore::open(&path).unwrap(), &acknowledged);
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
}

#[test]
fn a_long_tail_is_settled_when_nobody_writes_and_when_the_store_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let store = SqliteStore::open_with(&path, Synchronous::Normal).unwrap();
    say(&store, "s", 0, 5);
    assert_eq!(waiting(&path), (1, 0), "a little waits");
    say(&store, "s", 5, 60);
    let mut left = 100;
    while waiting(&path).1 < 60 && left > 0 {
        thread::sleep(Duration::from_millis(100));
        left -= 1;
    }
    assert!(waiting(&path).1 >= 60, "{:?}", waiting(&path));
    say(&store, "s", 65, 20);
    drop(store);
    let (chunks, settled) = waiting(&path);
    assert!(chunks <= 1 && settled >= 60, "{chunks} chunks, {settled} settled");
    let store = SqliteStore::open(&path).unwrap();
    assert!(block_on(store.verify(&session("s"))).unwrap().is_intact());
    assert_eq!(block_on(store.search(None, "n3n kind3", 9)).unwrap().len(), 1);
    assert_eq!(block_on(store.search(None, "n84n kind0", 9)).unwrap().len(), 1);
}

#[test]
fn no_more_waits_than_a_search_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let store = SqliteStore::open_with(&path, Synchronous::Normal).unwrap();
    for n in 0..300 {
        say(&store, &format!("s{n}"), n, 1);
    }
    say(&store, "long", 1_000, 1_500);
    let size = || {
        let connection = Connection::open(&path).unwrap();
        let size = "SELECT sum(length(body)) FROM tail";
        connection.query_row(size, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert!(size() < 4 << 20, "{} bytes wait", size());
    let hits = block_on(store.search(None, "kind3", 2_000)).unwrap();
    assert_eq!(hits.len(), (0..300).chain(1_000..2_500).filter(|n| n % 7 == 3).count());
    assert!(size() <= 3 << 20, "{} bytes wait", size());
}

#[test]
fn damage_in_a_tail_is_found_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open_with(&path, Synchronous::Normal).unwrap();
    block_on(store.journal(&name, 0, &[said("settled")], 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 1, "r"))).unwrap();
    say(&store, "s", 1, 3);
    let sound: Vec<u8> = {
        let connection = Connection::open(&path).unwrap();
        connection.query_row("SELECT body FROM tail", [], |row| row.get(0)).unwrap()
    };
    let damaged = |at: usize| {
        let mut body = sound.clone();
        body[at] ^= 1;
        Connection::open(&path).unwrap().execute("UPDATE tail SET body = ?1", [body]).unwrap();
        let verified = block_on(store.verify(&name)).unwrap();
        let settled = block_on(store.originals(&name, Span { start: 0, end: 1 })).unwrap();
        assert_eq!(settled.len(), 1);
        verified.problem
    };
    let second = sound.windows(3).position(|window| window == b"n2n").unwrap();
    assert_eq!(damaged(0), Some(Problem::ChangedEvent { seq: 3 }), "the length of the first frame");
    assert_eq!(damaged(20), Some(Problem::ChangedEvent { seq: 3 }), "its event");
    assert_eq!(damaged(second), Some(Problem::ChangedOriginal { ordinal: 2 }));
    // What is damaged is still so when it is settled, and no more than it.
    block_on(store.restore(&name, Span { start: 1, end: 2 }, 2)).unwrap();
    let verified = block_on(store.verify(&name)).unwrap();
    assert_eq!(verified.problem, Some(Problem::ChangedOriginal { ordinal: 2 }));
    let others = [Span { start: 0, end: 2 }, Span { start: 3, end: 4 }];
    assert!(others.iter().all(|span| block_on(store.originals(&name, *span)).is_ok()));
}
