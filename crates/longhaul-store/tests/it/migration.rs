//! A process that is killed at any moment of a migration leaves a database of the old version or of the new one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use longhaul_store::{
    SqliteStore, SummaryStore,
    conformance::{block_on, record, said, session},
};
use rusqlite::Connection;

use crate::{
    power::{calls, shim},
    process::{assert_all_there, part, play, tell, told},
};

#[test]
fn child_opens() {
    let Some((path, _)) = part() else { return };
    SqliteStore::open(path).unwrap();
    tell("opened");
}

#[test]
fn a_process_killed_at_any_call_of_a_migration_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = shim(folder.path()) else { return };
    let first = folder.path().join("first.db");
    let written = first_version(&first);
    let open = |name: String, kill_at: Option<usize>| -> (PathBuf, Vec<String>) {
        let disk = folder.path().join(name);
        fs::create_dir(&disk).unwrap();
        let path = disk.join("history.db");
        fs::copy(&first, &path).unwrap();
        let mut child = play("migration::child_opens", &path, 0);
        child.env("LD_PRELOAD", &library).env("LONGHAUL_SHIM_FOLDER", &disk);
        child.env("LONGHAUL_SHIM_TRACE", disk.join("trace"));
        if let Some(call) = kill_at {
            child.env("LONGHAUL_SHIM_FAIL", format!("{call}:kill"));
        }
        let lines = told(&mut child.spawn().unwrap(), usize::MAX);
        (path, lines)
    };
    let (path, lines) = open("sound".to_owned(), None);
    assert_eq!(lines, ["opened"]);
    let newest = version(&path);
    assert!(newest > 1, "there is something to migrate");
    let trace = fs::read(path.with_file_name("trace")).unwrap();
    let total = calls(&trace).iter().filter(|call| matches!(call.kind, b'w' | b't' | b's')).count();
    let (mut still_first, mut migrated) = (0, 0);
    for call in 1..=total {
        let (path, _) = open(format!("kill{call}"), Some(call));
        match version(&path) {
            1 => still_first += 1,
            found if found == newest => migrated += 1,
            found => panic!("killed at call {call} of {total}: version {found}"),
        }
        let store = SqliteStore::open(&path).unwrap_or_else(|error| panic!("call {call}: {error}"));
        assert_all_there(&store, &written);
        block_on(store.extend(&session("s"), &[said("the process is back")], 9)).unwrap();
        assert_eq!(version(&path), newest);
    }
    println!("{total} kills: {still_first} before the migration was made, {migrated} after");
    assert!(still_first > 0 && migrated > 0);
}

#[test]
fn what_an_earlier_version_left_waiting_is_found_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for from in 1..=3 {
        let path = folder.path().join(format!("{from}.db"));
        let mut written = earlier_version(&path, from);
        let store = SqliteStore::open(&path).unwrap();
        assert_all_there(&store, &written);
        // The first versions indexed each message when it was written, the third once it was searched for.
        let expected = if from < 3 { 0 } else { 1 };
        assert_eq!(block_on(store.search(None, "7 word", 9)).unwrap().len(), expected, "version {from}");
        for n in 20..80 {
            written.push(format!("{n} {}", "more ".repeat(n * 11 % 300)));
            block_on(store.extend(&session("s"), &[said(&written[written.len() - 1])], 2)).unwrap();
        }
        drop(store);
        let store = SqliteStore::open(&path).unwrap();
        assert_all_there(&store, &written);
        assert_eq!(block_on(store.search(None, "77", 9)).unwrap().len(), 1);
        assert_eq!(version(&path), 7);
    }
}

/// Makes a database as the first version wrote it, and returns what is in it.
fn first_version(path: &Path) -> Vec<String> {
    earlier_version(path, 1)
}

/// Makes a database as a version before the present one wrote it, and returns what is in it. Its search index is empty.
fn earlier_version(path: &Path, version: usize) -> Vec<String> {
    let present = path.with_extension("present");
    let store = SqliteStore::open(&present).unwrap();
    let name = session("s");
    // Less than what goes into a block at once: the first version knew none.
    let mut written: Vec<String> =
        (0..20).map(|nth| format!("{nth} {}", "word ".repeat(nth * 37 % 100))).collect();
    for text in &written {
        block_on(store.extend(&name, &[said(text)], 1)).unwrap();
    }
    block_on(store.append(&name, &record(&name, None, 20, "they spoke of words"))).unwrap();
    written.push("they spoke of words".to_owned());
    drop(store);
    let old = Connection::open(path).unwrap();
    old.pragma_update(None, "journal_mode", "WAL").unwrap();
    let scripts = [
        include_str!("../../migrations/sqlite/0001.sql"),
        include_str!("../../migrations/sqlite/0002.sql"),
        include_str!("../../migrations/sqlite/0003.sql"),
    ];
    scripts[..version].iter().for_each(|script| old.execute_batch(script).unwrap());
    old.execute("ATTACH ?1 AS present", [present.to_str().unwrap()]).unwrap();
    let owner: i64 = old.pragma_query_value(Some("present"), "application_id", |row| row.get(0)).unwrap();
    old.execute_batch(
        "INSERT INTO sessions (key, id, changed_at_ms, state) SELECT key, id, changed_at_ms, state FROM present.sessions;
         INSERT INTO events SELECT session, seq, version, at_ms, prev_hash, hash, kind FROM present.events;
         INSERT INTO contents (key, address, refs, is_packed, body)
           SELECT key, address, refs, is_packed, body FROM present.contents WHERE block IS NULL;
         INSERT INTO originals SELECT session, ordinal, at_ms, content, address FROM present.originals;
         INSERT INTO records SELECT session, seq, id, content, address FROM present.records;",
    )
    .unwrap();
    if version == 3 {
        old.execute_batch("UPDATE sessions SET loose = (SELECT sum(length(body)) FROM contents)").unwrap();
    }
    old.pragma_update(None, "application_id", owner).unwrap();
    old.pragma_update(None, "user_version", version as i64).unwrap();
    written
}

fn version(path: &Path) -> i64 {
    let database = Connection::open(path).unwrap();
    database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}
