//! Kills, cuts, flips, full disks, crowds. Small here; `docs/reliability.md` has the long runs and their figures.
//!
//! A test that needs another process starts this test binary again, with the part it is to play in the environment.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

use longhaul_store::{
    SqliteStore, StoreError, SummaryStore,
    conformance::{block_on, record, said, session},
};
use longhaul_transcript::Span;
use rusqlite::Connection;

/// Returns how often a test is to try: `default`, or what the environment says.
fn runs(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|runs| runs.parse().ok()).unwrap_or(default)
}

/// Returns the command that starts this binary again as `role`, a test of this module, on the database at `path`.
fn play(role: &str, path: &Path, writer: usize) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test knows its binary"));
    command
        .args([&format!("faults::{role}"), "--exact", "--nocapture", "--test-threads=1"])
        .env("LONGHAUL_TEST_DATABASE", path)
        .env("LONGHAUL_TEST_WRITER", writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Returns the database and the number this process was started with; `None` where it runs as an ordinary test.
fn part() -> Option<(PathBuf, usize)> {
    let path = env::var_os("LONGHAUL_TEST_DATABASE")?;
    let writer = env::var("LONGHAUL_TEST_WRITER").ok()?.parse().ok()?;
    Some((path.into(), writer))
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    // Fails when the reader is gone, which is what it wants.
    let _ = writeln!(out, "@{line}").and_then(|()| out.flush());
}

/// Returns what the other process told before it ended or was killed. A line without an end was not told.
fn told(child: &mut Child, at_most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while lines.len() < at_most && out.read_line(&mut line).is_ok_and(|read| read > 0) {
        // The test runner's own words stand before the first.
        if let Some((_, text)) = line.trim_end().split_once('@').filter(|_| line.ends_with('\n')) {
            lines.push(text.to_owned());
        }
        line.clear();
    }
    child.kill().expect("it is our own child");
    // What it told between the last line and its end was acknowledged too.
    for line in out.lines().map_while(Result::ok) {
        lines.extend(line.split_once('@').map(|(_, text)| text.to_owned()));
    }
    child.wait().expect("it is our own child");
    lines
}

fn texts(store: &SqliteStore) -> Vec<String> {
    let originals = block_on(store.originals(&session("s"), Span { start: 0, end: u64::MAX })).unwrap();
    originals.into_iter().map(|original| original.message.unwrap().texts().collect()).collect()
}

fn compacted(store: &SqliteStore) -> Vec<String> {
    block_on(store.chain(&session("s"))).unwrap().into_iter().map(|record| record.text).collect()
}

/// Writes originals and records until it is killed or cannot, and tells each once it is acknowledged.
fn write_on(store: &SqliteStore, writer: usize, turns: usize) -> Result<(), StoreError> {
    let name = session("s");
    for turn in 0..turns {
        let text = format!("{writer}-{turn}-{}", "word.".repeat(turn * 37 % 400));
        block_on(store.extend(&name, &[said(&text)], 1))?;
        tell(&text);
        loop {
            let head = block_on(store.head(&name))?;
            let mine = record(&name, head.as_ref(), 1, &format!("record {writer}-{turn}"));
            match block_on(store.append(&name, &mine)) {
                Err(StoreError::Conflict { .. }) => continue,
                done => break done.map(drop)?,
            };
        }
        tell(&format!("record {writer}-{turn}"));
    }
    Ok(())
}

fn assert_all_there(store: &SqliteStore, acknowledged: &[String]) {
    let Some(_) = block_on(store.state(&session("s"))).unwrap() else {
        assert!(acknowledged.is_empty(), "{} were acknowledged", acknowledged.len());
        return;
    };
    let verified = block_on(store.verify(&session("s"))).unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    let there: Vec<String> = texts(store).into_iter().chain(compacted(store)).collect();
    let unique: BTreeSet<&String> = there.iter().collect();
    assert_eq!(unique.len(), there.len(), "something is doubled");
    let lost: Vec<_> = acknowledged.iter().filter(|text| !unique.contains(text)).collect();
    assert!(lost.is_empty(), "{} of {} lost", lost.len(), acknowledged.len());
}

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
        let mut child = play("child_writes_until_killed", &path, run).spawn().unwrap();
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
        let child = play("child_writes_until_full", &path, 0);
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
    let start = |writer| play("child_writes_with_many_threads", &path, writer).spawn().unwrap();
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
    ] {
        let read = format!("SELECT rowid, {column} FROM {table}");
        let read = if table == "events" { format!("SELECT seq, {column} FROM events") } else { read };
        let rows: Vec<(i64, Vec<u8>)> = {
            let mut query = connection.prepare(&read).unwrap();
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
        };
        let key = if table == "events" { "seq" } else { "key" };
        let write = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
        let step = (rows.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() * 8)
            .div_ceil(runs("LONGHAUL_BITS", 120));
        for (row, bytes) in rows {
            for bit in (0..bytes.len() * 8).step_by(step.max(1)) {
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
