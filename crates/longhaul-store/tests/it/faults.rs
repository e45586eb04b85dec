//! Kills, cuts, flips, full disks, crowds. Small here; `docs/reliability.md` has the long runs and their figures.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

use longhaul_store::{
    SqliteStore, SummaryStore,
    conformance::{block_on, record, said, session},
};
use rusqlite::Connection;

use crate::process::{assert_all_there, part, play, runs, tell, texts, told, write_on};

#[test]
fn child_writes_until_killed() {
    let Some((path, writer)) = part() else { return };
    let store = SqliteStore::open(path).unwrap();
    write_on(&store, writer, usize::MAX).unwrap();
}

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    let mut acknowledged = Vec::new();
    let mut folder = tempfile::tempdir().unwrap();
    for run in 0..runs("LONGHAUL_KILL_RUNS", 6) {
        if run % 20 == 0 {
            (folder, acknowledged) = (tempfile::tempdir().unwrap(), Vec::new());
        }
        let path = folder.path().join("history.db");
        let mut child = play("faults::child_writes_until_killed", &path, run).spawn().unwrap();
        // From "before it opened the file" to "in the middle of the tenth write".
        acknowledged.extend(told(&mut child, run * 7 % 20));
        assert_all_there(&SqliteStore::open(&path).unwrap(), &acknowledged);
    }
    println!("acknowledged in the last database: {}", acknowledged.len());
}

#[test]
fn child_writes_until_full() {
    let Some((path, writer)) = part() else { return };
    let store = match SqliteStore::open(path) {
        Ok(store) => store,
        Err(error) => return tell(&format!("error {error}")),
    };
    if let Err(error) = write_on(&store, writer, 200) {
        // What was read before can still be read.
        let is_readable = block_on(store.verify(&session("s"))).is_ok_and(|verified| verified.is_intact())
            || block_on(store.state(&session("s"))).is_ok_and(|state| state.is_none());
        tell(&format!("error {error}"));
        tell(&format!("error readable: {is_readable}"));
    }
}

/// The limit on a file's size ends a write anywhere in its middle, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let limits = runs("LONGHAUL_FULL_RUNS", 5);
    for run in 0..limits {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let child = play("faults::child_writes_until_full", &path, 0);
        let blocks = (1 + run * 400 / limits).to_string();
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"", &blocks])
            .arg(child.get_program())
            .args(child.get_args())
            .envs(child.get_envs().filter_map(|(key, value)| Some((key, value?))))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = limited.spawn().unwrap();
        let told = told(&mut child, usize::MAX);
        let (errors, acknowledged): (Vec<String>, Vec<String>) =
            told.into_iter().partition(|line| line.starts_with("error "));
        assert!(!errors.is_empty(), "{blocks} blocks were enough for everything");
        assert!(!errors.contains(&"error readable: false".to_owned()), "{blocks} blocks: {errors:?}");
        let store = SqliteStore::open(&path).unwrap();
        assert_all_there(&store, &acknowledged);
        block_on(store.extend(&session("s"), &[said("there is space again")], 2)).unwrap();
        assert_all_there(&store, &acknowledged);
    }
}

#[test]
fn child_writes_with_many_threads() {
    let Some((path, writer)) = part() else { return };
    let (threads, turns) = (runs("LONGHAUL_CROWD_THREADS", 8), runs("LONGHAUL_CROWD_TURNS", 2));
    let store = Arc::new(SqliteStore::open(path).unwrap());
    thread::scope(|scope| {
        for index in 0..threads {
            let store = store.clone();
            scope.spawn(move || {
                if let Err(error) = write_on(&store, writer * threads + index, turns) {
                    tell(&format!("error {error}"));
                }
            });
        }
    });
    tell("done");
}

#[test]
fn many_processes_lose_and_double_nothing() {
    let (processes, threads, turns) = (
        runs("LONGHAUL_CROWD_PROCESSES", 4),
        runs("LONGHAUL_CROWD_THREADS", 8),
        runs("LONGHAUL_CROWD_TURNS", 2),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let start = |writer| play("faults::child_writes_with_many_threads", &path, writer).spawn().unwrap();
    let children: Vec<Child> = (0..processes).map(start).collect();
    let mut acknowledged = Vec::new();
    for mut child in children {
        let mut lines = told(&mut child, 2 * threads * turns + 1);
        assert_eq!(lines.pop().as_deref(), Some("done"), "{lines:?}");
        acknowledged.extend(lines);
    }
    assert_eq!(acknowledged.len(), 2 * processes * threads * turns);
    assert_all_there(&SqliteStore::open(&path).unwrap(), &acknowledged);
}

/// Makes a small session whose last writes are still in the write-ahead log, and copies the files as they are.
fn with_log(folder: &Path) -> (Vec<u8>, Vec<u8>, Vec<String>) {
    let path = folder.join("history.db");
    let store = SqliteStore::open(&path).unwrap();
    let name = session("s");
    let mut said_so_far = Vec::new();
    for turn in 0..6 {
        let text = format!("turn {turn}");
        block_on(store.extend(&name, &[said(&text)], 1)).unwrap();
        said_so_far.push(text);
    }
    let log = fs::read(folder.join("history.db-wal")).unwrap();
    (fs::read(&path).unwrap(), log, said_so_far)
}

#[test]
fn a_log_cut_anywhere_loses_only_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (database, log, said_so_far) = with_log(folder.path());
    let cuts = runs("LONGHAUL_CUTS", 40).clamp(1, 4096);
    let mut most = 0;
    for cut in 0..=cuts {
        let kept = log.len() - 4096 + 4096 * cut / cuts;
        let path = folder.path().join(format!("cut{cut}.db"));
        fs::write(&path, &database).unwrap();
        fs::write(folder.path().join(format!("cut{cut}.db-wal")), &log[..kept]).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        assert!(block_on(store.verify(&session("s"))).unwrap().is_intact());
        let left = texts(&store);
        assert_eq!(left, said_so_far[..left.len()]);
        assert!(left.len() >= most, "a longer log holds no less");
        most = left.len();
    }
    assert_eq!(most, said_so_far.len());
}

#[test]
fn a_flipped_bit_is_found_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.journal(&name, 0, &["one", "two", "three"].map(said), 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 2, "a record"))).unwrap();
    block_on(store.undo(&name, 2)).unwrap();
    let exported = block_on(store.export(&name)).unwrap();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;").unwrap();
    drop(connection);
    let sound = fs::read(&path).unwrap();
    let bits = sound.len() * 8;
    let flips = runs("LONGHAUL_FLIPS", 250).min(bits);
    let (mut found, mut harmless) = (0, 0);
    for flip in 0..flips {
        // Spread over the file, and over the bits of a byte.
        let bit = (flip * (bits / flips) + flip * 5 % (bits / flips).max(1)) % bits;
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let flipped = folder.path().join("flipped.db");
        fs::write(&flipped, &bytes).unwrap();
        let verified = SqliteStore::open(&flipped).and_then(|store| {
            let verified = block_on(store.verify(&name))?;
            Ok((verified, block_on(store.export(&name))))
        });
        match verified {
            Ok((verified, Ok(again))) if verified.is_intact() && again == exported => harmless += 1,
            Ok((verified, Ok(_))) if verified.is_intact() => panic!("bit {bit} changed the session unseen"),
            _ => found += 1,
        }
        let _ = fs::remove_file(folder.path().join("flipped.db-wal"));
        let _ = fs::remove_file(folder.path().join("flipped.db-shm"));
    }
    println!("of {flips} flips {found} were found, {harmless} changed nothing (free space, index, headers)");
    assert!(found > 0);
}

/// Every bit of every stored value, one after the other: bodies, hashes, times, numbers of events.
#[test]
fn every_flipped_bit_of_a_record_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let name = session("s");
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.journal(&name, 0, &[said("one")], 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 1, "r"))).unwrap();
    block_on(store.extend(&name, &[said("two"), said("three")], 2)).unwrap();
    assert!(block_on(store.verify(&name)).unwrap().is_intact());
    let exported = block_on(store.export(&name)).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    let (mut flips, mut idle) = (0, 0);
    for (table, column) in [
        ("contents", "body"),
        ("contents", "address"),
        ("events", "kind"),
        ("events", "hash"),
        ("events", "prev_hash"),
        ("tail", "body"),
    ] {
        let read = format!("SELECT rowid, {column} FROM {table}");
        let read = if table == "events" { format!("SELECT seq, {column} FROM events") } else { read };
        let rows: Vec<(i64, Vec<u8>)> = {
            let mut query = connection.prepare(&read).unwrap();
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
        };
        let key = if table == "events" { "seq" } else { "key" };
        let write = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
        let step = (rows.iter().map(|(_, bytes)| bytes.len().min(1_000)).sum::<usize>() * 8)
            .div_ceil(runs("LONGHAUL_BITS", 120));
        for (row, bytes) in rows {
            // Of what was set aside, and ends in zeros, what is written and a little more.
            let written = bytes.len().min(1_000);
            for bit in (0..written * 8).step_by(step.max(1)) {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                connection.execute(&write, rusqlite::params![row, flipped]).unwrap();
                let verified = block_on(store.verify(&name));
                let is_found = !verified.as_ref().is_ok_and(|verified| verified.is_intact());
                if !is_found {
                    // A bit of padding inside zstd's own format: the message is the same, byte for byte.
                    let again = block_on(store.export(&name)).unwrap();
                    assert_eq!(again, exported, "{table}.{column} row {row} bit {bit}");
                    idle += 1;
                }
                flips += 1;
            }
            connection.execute(&write, rusqlite::params![row, bytes]).unwrap();
        }
    }
    assert!(block_on(store.verify(&name)).unwrap().is_intact(), "the last flip is put back");
    println!("{flips} flips: {} found, {idle} in padding that no message depends on", flips - idle);
    assert!(idle * 100 <= flips, "{idle} of {flips}");
}

#[test]
fn an_export_cut_anywhere_is_refused() {
    let store = longhaul_store::MemoryStore::new();
    let name = session("s");
    let talk: Vec<_> = (0..40).map(|turn| said(&format!("turn {turn} {}", "é ".repeat(30)))).collect();
    block_on(store.journal(&name, 0, &talk, 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 2, "a record"))).unwrap();
    let exported = block_on(store.export(&name)).unwrap();
    let other = longhaul_store::MemoryStore::new();
    // All but the end of the last line: without its line break an export is whole.
    let whole = exported.len() - 1;
    for cut in whole.saturating_sub(4096)..whole {
        let text = String::from_utf8_lossy(&exported.as_bytes()[..cut]);
        let error = block_on(other.import(&text)).unwrap_err();
        assert!(matches!(error, longhaul_store::StoreError::NotAnExport { .. }), "cut at {cut}: {error}");
        assert_eq!(block_on(other.state(&name)).unwrap(), None);
    }
    block_on(other.import(&exported[..whole])).unwrap();
    assert_eq!(block_on(other.export(&name)).unwrap(), exported);
}
