//! What only a file can do wrong.

use std::{
    fs,
    path::{Path, PathBuf},
};

use longhaul_store::{
    Commit, MemoryStore, Original, Problem, Selector, SqliteStore, StoreError, SummaryStore,
    conformance::{block_on, record, said, session},
};
use longhaul_transcript::{Raw, Redacted, Span, SummaryId};

use crate::missing;

/// Every byte of the database's files, one after the other.
fn bytes_of(path: &Path) -> Vec<u8> {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let files = ["", "-wal", "-shm"].map(beside);
    files.iter().flat_map(|file| fs::read(file).unwrap_or_default()).collect()
}

fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let first = record(&name, None, 1, "first");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        store.journal(&name, 0, &[said("hello"), said("world")], 1).await.unwrap();
        store.append(&name, &first).await.unwrap();
        store.undo(&name, 2).await.unwrap();
    });
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(store.path(), path);
        assert_eq!(store.require(&name).await.unwrap().undone, std::slice::from_ref(&first.id));
        assert_eq!(store.redo(&name, 3).await.unwrap(), Some(first.id.clone()));
        assert!(store.verify(&name).await.unwrap().is_intact());
    });
}

// asserts 002-30
#[cfg(unix)]
#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.journal(&session("s"), 0, &[said("hello")], 1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    // A file that somebody opened up is closed again.
    drop(store);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    SqliteStore::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn what_is_forgotten_is_in_no_byte_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        let filler =
            |n: u32| said(&format!("line {n} about nothing much, {}", "x".repeat((n % 50) as usize)));
        store.journal(&name, 0, &(0..500).map(filler).collect::<Vec<_>>(), 1).await.unwrap();
        let span = store
            .extend(&name, &[said("the passphrase is zyxwvutsrq"), said("zyxwvutsrq again")], 2)
            .await
            .unwrap();
        store.append(&name, &record(&name, None, span.end, "passphrase zyxwvutsrq was set")).await.unwrap();
        store.extend(&name, &(500..900).map(filler).collect::<Vec<_>>(), 3).await.unwrap();
        assert!(holds(&bytes_of(&path), "zyxwvuts"), "the test can see it");
        let gone = store.forget(&name, &Selector::Matching("zyxwvutsrq".into()), 4).await.unwrap();
        assert_eq!((gone.message_count(), gone.records.len()), (2, 1));
        assert!(!holds(&bytes_of(&path), "zyxwvuts"), "nor in the log, the free pages or the index");
        assert!(!holds(&bytes_of(&path), "xwvutsrq"));
        assert!(store.verify(&name).await.unwrap().is_intact());
        assert_eq!(store.search(Some(&name), "nothing much", 9).await.unwrap().len(), 9);
    });
}

/// A reader keeps the log from being overwritten. What is left then goes when it is forgotten again, and, where the process
/// was killed instead, when somebody opens the store next.
#[test]
fn what_could_not_be_overwritten_goes_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("history.db"), folder.path().join("killed.db"));
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    let forget = || block_on(store.forget(&name, &Selector::Matching("zyxwvutsrq".into()), 4));
    block_on(store.journal(&name, 0, &[said("hello"), said("it is zyxwvutsrq")], 1)).unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM sessions").unwrap();
    let error = forget().unwrap_err();
    assert!(error.to_string().contains("another process is reading"), "{error}");
    assert!(holds(&bytes_of(&path), "zyxwvuts"), "the reader may still see it");
    for suffix in ["", "-wal"] {
        let file = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        fs::copy(file(&path), file(&copy)).unwrap();
    }
    drop(reader);
    assert!(forget().unwrap().is_empty());
    assert!(!holds(&bytes_of(&path), "zyxwvuts") && !holds(&bytes_of(&path), "yxwvutsrq"));
    drop(SqliteStore::open(&copy).unwrap());
    assert!(!holds(&bytes_of(&copy), "zyxwvuts") && !holds(&bytes_of(&copy), "yxwvutsrq"));
    assert!(block_on(SqliteStore::open(&copy).unwrap().verify(&name)).unwrap().is_intact());
}

#[test]
fn no_message_text_is_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        store.journal(&name, 0, &[said("unspeakable")], 1).await.unwrap();
        let error = store.journal(&name, 0, &[said("unspeakable too")], 2).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("unspeakable"));
    });
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "not a database at all, but long enough to have a header of a hundred bytes".repeat(3))
        .unwrap();
    let newer = folder.path().join("newer.db");
    drop(SqliteStore::open(&newer).unwrap());
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for (path, expected) in [
        (&foreign, "opening the database failed: the file belongs to another program"),
        (&text, "opening the database failed: the file belongs to another program"),
        (&newer, "the database has version 99; this longhaul reads up to 7"),
    ] {
        let before = fs::read(path).unwrap();
        #[cfg(unix)]
        let set = |mode| {
            use std::os::unix::fs::PermissionsExt as _;
            let found = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            found
        };
        #[cfg(unix)]
        set(0o644);
        let error = SqliteStore::open(path).unwrap_err();
        assert_eq!(error.to_string(), expected);
        #[cfg(unix)]
        assert!(path == &newer || set(0o644) == 0o644, "the mode of a file that is not ours stays");
        assert!(path == &newer || fs::read(path).unwrap() == before, "its journal mode too");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside them");
    assert!(SqliteStore::open(folder.path()).is_err(), "a folder is no database");
}

#[test]
fn a_cut_log_and_a_swapped_state_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.journal(&name, 0, &[said("a"), said("b")], 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 2, "r"))).unwrap();
    let tamper = |sql: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        connection.execute_batch(sql).unwrap();
        connection.execute_batch("COMMIT").unwrap();
        block_on(store.verify(&name)).unwrap().problem
    };
    let backup = folder.path().join("backup.db");
    let save = format!("VACUUM INTO '{}'", backup.display());
    rusqlite::Connection::open(&path).unwrap().execute_batch(&save).unwrap();
    for (sql, expected) in [
        ("DELETE FROM events WHERE seq = 2", Problem::ChangedState),
        (
            "INSERT INTO events SELECT session, 2, version, at_ms, hash, hash, kind FROM events WHERE seq = 0",
            Problem::ChangedEvent { seq: 2 },
        ),
        (
            "DELETE FROM events WHERE seq = 2; UPDATE events SET at_ms = 9 WHERE seq = 1",
            Problem::ChangedEvent { seq: 1 },
        ),
    ] {
        assert_eq!(tamper(sql), Some(expected), "{sql}");
    }
    let path = backup;
    let extra =
        "INSERT INTO events SELECT session, 3, version, at_ms, hash, hash, kind FROM events WHERE seq = 2";
    let spare = folder.path().join("spare.db");
    fs::copy(&path, &spare).unwrap();
    rusqlite::Connection::open(&spare).unwrap().execute_batch(extra).unwrap();
    let found = block_on(SqliteStore::open(&spare).unwrap().verify(&name)).unwrap().problem;
    assert_eq!(found, Some(Problem::ChangedState), "an event more than the state counts");
    let store = SqliteStore::open(&path).unwrap();
    let tamper = |sql: &str| {
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        block_on(store.verify(&name)).unwrap().problem
    };
    assert_eq!(tamper("SELECT 1"), None);
    assert_eq!(tamper("UPDATE originals SET content = 1"), Some(Problem::ChangedEntry { ordinal: 1 }));
    assert_eq!(tamper("UPDATE originals SET content = ordinal + 1"), None);
    assert_eq!(
        tamper("UPDATE contents SET body = x'7b7d', is_packed = 0 WHERE key = 2"),
        Some(Problem::ChangedOriginal { ordinal: 1 })
    );
    assert_eq!(tamper("DELETE FROM contents WHERE key = 2"), Some(Problem::ChangedEntry { ordinal: 1 }));
    let error = block_on(store.originals(&name, Span { start: 0, end: 2 })).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[cfg(feature = "encryption")]
#[test]
fn a_sealed_store_shows_no_word_and_opens_with_its_key_alone() {
    use longhaul_store::{StoreKey, Synchronous};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let open = |byte| SqliteStore::open_sealed(&path, Synchronous::Full, &StoreKey::from_bytes([byte; 32]));
    let store = open(1).unwrap();
    block_on(async {
        let talk = [said("the quetzalcoatl flies"), said(&"abracadabra ".repeat(500))];
        store.journal(&name, 0, &talk, 1).await.unwrap();
        store.append(&name, &record(&name, None, 2, "it was xylophones")).await.unwrap();
        let cached = longhaul_transcript::Redacted::assume(b"a zeppelin of zeppelins".to_vec());
        store.cache(&longhaul_transcript::ContentHash::of(b"k"), &cached).await.unwrap();
        assert_eq!(store.search(None, "Quetzalcoatl", 9).await.unwrap().len(), 1);
    });
    for word in ["quetzal", "abracadabra", "xylophone", "zeppelin"] {
        assert!(!holds(&bytes_of(&path), word), "{word} is in the files");
    }
    drop(store);
    let error = SqliteStore::open(&path).unwrap_err().to_string();
    assert_eq!(error, "the store cannot be unlocked: it is kept under a key, and none was given");
    let error = open(2).unwrap_err().to_string();
    assert_eq!(error, "the store cannot be unlocked: the key is not the one it is kept under");
    assert!(block_on(open(1).unwrap().verify(&name)).unwrap().is_intact());
    let clear = folder.path().join("clear.db");
    block_on(SqliteStore::open(&clear).unwrap().journal(&name, 0, &[said("a")], 1)).unwrap();
    let error = SqliteStore::open_sealed(&clear, Synchronous::Full, &StoreKey::from_bytes([1; 32]));
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("begun without a key; export it and import it into a new one"), "{error}");
}

#[test]
fn a_changed_snapshot_or_spelling_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    let mut spelled = said("hello").into_inner();
    spelled.raw = Some(Raw::new("openai", r#"{"role":"user","content":"hello"}"#).into());
    let snapshot = Redacted::assume(b"{\"version\":1,\"view\":[0,1,2]}".to_vec());
    let commit = Commit {
        messages: vec![Redacted::assume(spelled)],
        snapshot: Some(snapshot.clone()),
        since: Some(snapshot.clone()),
        ..Commit::default()
    };
    block_on(store.commit(&name, &commit)).unwrap();
    // As rows, not in the tail.
    block_on(store.append(&name, &record(&name, None, 1, "r"))).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let spelling = "contents WHERE key = (SELECT spelling FROM originals)";
    for (from, write, expected) in [
        ("snapshots", "UPDATE snapshots SET body = ?1", Problem::ChangedSnapshot),
        ("since", "UPDATE since SET body = ?1", Problem::ChangedSnapshot),
        (
            spelling,
            "UPDATE contents SET body = ?1 WHERE key = (SELECT spelling FROM originals)",
            Problem::ChangedOriginal { ordinal: 0 },
        ),
    ] {
        let body: Vec<u8> =
            connection.query_row(&format!("SELECT body FROM {from}"), [], |row| row.get(0)).unwrap();
        for at in 0..body.len() {
            let mut flipped = body.clone();
            flipped[at] ^= 1;
            connection.execute(write, [flipped]).unwrap();
            let found = block_on(store.verify(&name)).unwrap().problem;
            let is_same = || match expected {
                Problem::ChangedSnapshot => block_on(store.snapshot(&name)).is_ok_and(|held| {
                    let held = held.unwrap();
                    held.bytes == *snapshot && held.since.is_some_and(|since| since == *snapshot)
                }),
                _ => block_on(store.originals(&name, Span { start: 0, end: 1 })).is_ok(),
            };
            assert!(found.as_ref() == Some(&expected) || found.is_none() && is_same(), "{at}: {found:?}");
        }
        if expected == Problem::ChangedSnapshot {
            let other = MemoryStore::default();
            block_on(other.import(&block_on(store.export(&name)).unwrap())).unwrap();
            assert_eq!(block_on(other.snapshot(&name)).unwrap(), None);
            assert_eq!(block_on(other.chain(&name)).unwrap(), block_on(store.chain(&name)).unwrap());
            let whole = Span { start: 0, end: 1 };
            let said =
                |originals: Vec<Original>| originals.into_iter().map(|said| said.message).collect::<Vec<_>>();
            let (there, here) =
                (block_on(other.originals(&name, whole)), block_on(store.originals(&name, whole)));
            assert_eq!(said(there.unwrap()), said(here.unwrap()));
        }
        connection.execute(write, [body]).unwrap();
    }
    assert!(block_on(store.verify(&name)).unwrap().is_intact());
    connection.execute("UPDATE originals SET spelling = NULL", []).unwrap();
    let found = block_on(store.verify(&name)).unwrap().problem;
    assert_eq!(found, Some(Problem::ChangedEntry { ordinal: 0 }));
}

#[test]
fn forgetting_nothing_waits_for_nobody_but_where_the_log_is_to_be_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.journal(&name, 0, &[said("hello"), said("it is tr0ub4dor")], 1)).unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events;").unwrap();
    let nothing = Selector::Matching("no such words".to_owned());
    assert!(block_on(store.forget(&name, &nothing, 2)).unwrap().is_empty());
    let error = block_on(store.forget(&name, &Selector::Session, 3)).unwrap_err();
    assert!(error.to_string().contains("another process is reading"), "{error}");
    reader.execute_batch("COMMIT").unwrap();
    assert!(holds(&bytes_of(&path), "tr0ub4dor"), "its log was not cleared");
    // By another process, which knows of it.
    let other = SqliteStore::open(&path).unwrap();
    assert!(block_on(other.forget(&name, &nothing, 4)).unwrap().is_empty());
    assert!(!holds(&bytes_of(&path), "tr0ub4dor"));
    reader.execute_batch("BEGIN; SELECT count(*) FROM events;").unwrap();
    assert!(block_on(store.forget(&name, &nothing, 5)).unwrap().is_empty(), "nothing is left to clear");
}

#[test]
fn a_summary_in_the_place_of_another_is_told_and_never_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    let (first, second) = block_on(async {
        let talk: Vec<_> = (0..4).map(|nth| said(&format!("word{nth} of the talk"))).collect();
        store.journal(&name, 0, &talk, 1).await.unwrap();
        let first = record(&name, None, 2, "the first");
        store.append(&name, &first).await.unwrap();
        let second = record(&name, Some(&first), 4, "the second");
        store.append(&name, &second).await.unwrap();
        assert_eq!(store.chain(&name).await.unwrap().len(), 2);
        (first.id.clone(), second.id.clone())
    });
    drop(store);
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let told = |id: &SummaryId, what: &str| {
        let store = SqliteStore::open(&path).unwrap();
        let summaries = block_on(store.summaries(&name)).unwrap();
        let at = summaries.iter().position(|summary| summary.is_err()).unwrap();
        assert!(matches!(&summaries[at], Err(damaged) if damaged.id == *id), "{summaries:?}");
        assert_eq!(summaries.len(), 2);
        for error in [
            block_on(store.chain(&name)).unwrap_err(),
            block_on(store.record(&name, id)).map_or_else(|error| error, |found| panic!("{found:?}")),
        ] {
            assert_eq!(error.to_string(), format!("session s is damaged: record {id} {what}"));
        }
    };
    // Their texts, then their names: each is whole by itself.
    let swapped = |column: &str| {
        format!(
            "CREATE TEMP TABLE other AS SELECT seq, {column} AS it FROM records;
             UPDATE records SET {column} = (SELECT it FROM other WHERE other.seq != records.seq)"
        )
    };
    change(&swapped("content"));
    told(&first, "was changed");
    change(&swapped("content"));
    change(&swapped("id"));
    told(&first, "was changed");
    change(&swapped("id"));
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(block_on(store.head(&name)).unwrap().unwrap().id, second);
    drop(store);
    change("DELETE FROM records WHERE seq = (SELECT min(seq) FROM records)");
    let store = SqliteStore::open(&path).unwrap();
    let summaries = block_on(store.summaries(&name)).unwrap();
    assert!(matches!(&summaries[..], [Err(gone), Ok(there)] if (&gone.id, &there.id) == (&first, &second)));
    let missing = block_on(store.chain(&name)).unwrap_err().to_string();
    assert_eq!(missing, format!("session s is damaged: record {first} is missing"));
}

#[test]
fn what_stands_in_the_place_of_another_is_told_and_never_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    let talk: Vec<_> = (0..6).map(|nth| said(&format!("word{nth} of the talk"))).collect();
    block_on(async {
        store.journal(&name, 0, &talk[..3], 1).await.unwrap();
        store.append(&name, &record(&name, None, 2, "r")).await.unwrap();
        store.journal(&name, 3, &talk[3..], 1).await.unwrap();
    });
    drop(store);
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let read = || {
        let store = SqliteStore::open(&path).unwrap();
        let originals = block_on(store.originals(&name, Span { start: 0, end: 9 })).unwrap();
        let shown = |original: &longhaul_store::Original| match &original.message {
            Some(message) => message.texts().collect(),
            None => format!("changed {}", original.is_changed),
        };
        let hits = block_on(store.search(Some(&name), "talk", 9)).unwrap();
        let hits: Vec<(u64, bool)> = hits.iter().map(|hit| (hit.id.ordinal, hit.message.is_some())).collect();
        (originals.iter().map(shown).collect::<Vec<_>>(), hits)
    };
    let whole: Vec<String> = (0..6).map(|nth| format!("word{nth} of the talk")).collect();
    let hits = |changed: u64| (0..6).rev().map(|at| (at, at != changed)).collect::<Vec<_>>();
    let without = |changed: usize| {
        let mut left = whole.clone();
        left[changed] = "changed true".to_owned();
        left
    };
    assert_eq!(read(), (whole.clone(), hits(9)));
    // As if both were said: another's content in its place.
    let swap =
        "UPDATE originals SET content = (SELECT content FROM originals WHERE ordinal = 0) WHERE ordinal = 1";
    let content: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT content FROM originals WHERE ordinal = 1", [], |row| row.get(0))
        .unwrap();
    change(swap);
    assert_eq!(read(), (without(1), hits(1)));
    change(&format!("UPDATE originals SET content = {content} WHERE ordinal = 1"));
    assert_eq!(read(), (whole.clone(), hits(9)));
    // A content that is damaged.
    change(&format!("UPDATE contents SET body = x'00', block = NULL WHERE key = {content}"));
    let (originals, found) = read();
    assert_eq!(originals, without(1));
    let found: std::collections::BTreeMap<u64, bool> = found.into_iter().collect();
    assert_eq!(found, hits(1).into_iter().collect());
}

#[test]
fn what_is_missing_is_told_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let change = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    missing::is_told_in_its_place(|| SqliteStore::open(&path).unwrap(), change);
}
