//! Prints what `docs/reliability.md` reports of the SQLite store:
//! `cargo run --release -p longhaul-store --features sqlite,conformance --example store_figures -- appends|sustained N|first-search N|size FOLDER [FILE]|search N|open GB [FILE]`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use std::{env, fs, path::Path, path::PathBuf, thread, time::Instant};

use longhaul_store::{
    SqliteStore, SummaryStore, Synchronous,
    conformance::{block_on, said, session},
};
use longhaul_transcript::{Message, Redacted, Span};
use rusqlite::Connection;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = tempfile::tempdir_in(".").unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["appends"] => appends(folder.path()),
        ["sustained", n] => sustained(folder.path(), n.parse().unwrap()),
        ["first-search", n] => first_search(folder.path(), n.parse().unwrap()),
        ["size", from] => size(&folder.path().join("size.db"), Path::new(from)),
        ["size", from, file] => size(Path::new(file), Path::new(from)),
        ["search", n] => search(folder.path(), n.parse().unwrap()),
        ["open", gigabytes] => open(folder.path().join("large.db"), gigabytes.parse().unwrap()),
        ["open", gigabytes, file] => open(file.into(), gigabytes.parse().unwrap()),
        _ => println!(
            "expected: appends | sustained N | first-search N | size FOLDER [FILE] | search N | open GB [FILE]"
        ),
    }
}

/// A 2 KB message that compresses as prose and code do, different each time.
fn message(n: usize) -> Redacted<Message> {
    let mut text = String::new();
    let mut state = n as u64 + 1;
    while text.len() < 2_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        text.push(if state >> 60 == 0 { '\n' } else { ' ' });
    }
    text.push_str(&format!("item{n} part{}", n % 1_000));
    said(&text)
}

fn appends(folder: &Path) {
    const N: usize = 1_000;
    const WRITERS: usize = 8;
    // Each way gets messages of its own: a content that is there already would only be counted.
    let set = |number: usize| (number * N..(number + 1) * N).map(message).collect::<Vec<_>>();
    let (messages, together, apart) = (set(0), set(1), set(2));
    let bytes: Vec<Vec<u8>> =
        messages.iter().map(|message| serde_json::to_vec(&**message).unwrap()).collect();
    for (durability, pragma) in [(Synchronous::Full, "FULL"), (Synchronous::Normal, "NORMAL")] {
        // Both in turn, three times: a shared disk is not the same from one second to the next.
        for round in 0..3 {
            let raw = Connection::open(folder.join(format!("raw{pragma}{round}.db"))).unwrap();
            raw.pragma_update(None, "journal_mode", "WAL").unwrap();
            raw.pragma_update(None, "synchronous", pragma).unwrap();
            raw.pragma_update(None, "wal_autocheckpoint", 4_000).unwrap();
            raw.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)").unwrap();
            let started = Instant::now();
            for body in &bytes {
                raw.prepare_cached("INSERT INTO t (body) VALUES (?1)").unwrap().execute([body]).unwrap();
            }
            let raw = N as f64 / started.elapsed().as_secs_f64();
            let store =
                SqliteStore::open_with(folder.join(format!("{pragma}{round}.db")), durability).unwrap();
            let started = Instant::now();
            for message in &messages {
                block_on(store.extend(&session("s"), std::slice::from_ref(message), 1)).unwrap();
            }
            let one = N as f64 / started.elapsed().as_secs_f64();
            let started = Instant::now();
            block_on(store.extend(&session("batch"), &together, 1)).unwrap();
            let batch = N as f64 / started.elapsed().as_secs_f64();
            let started = Instant::now();
            thread::scope(|scope| {
                for (writer, messages) in apart.chunks(N / WRITERS).enumerate() {
                    let (store, name) = (&store, session(&format!("w{writer}")));
                    scope.spawn(move || {
                        for message in messages {
                            block_on(store.extend(&name, std::slice::from_ref(message), 1)).unwrap();
                        }
                    });
                }
            });
            let many = N as f64 / started.elapsed().as_secs_f64();
            println!(
                "{pragma}: raw rusqlite {raw:.0}/s; one writer {one:.0}/s (ratio {:.2}), {WRITERS} writers {many:.0}/s \
                 (ratio {:.2}), in one call {batch:.0}/s (ratio {:.2})",
                one / raw,
                many / raw,
                batch / raw
            );
        }
    }
}

/// As many appends one after the other as it takes for all later work to fall due: rows, blocks, the index.
fn sustained(folder: &Path, n: usize) {
    let messages: Vec<_> = (0..n).map(message).collect();
    let raw = Connection::open(folder.join("raw.db")).unwrap();
    raw.pragma_update(None, "journal_mode", "WAL").unwrap();
    raw.pragma_update(None, "synchronous", "NORMAL").unwrap();
    raw.pragma_update(None, "wal_autocheckpoint", 4_000).unwrap();
    raw.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)").unwrap();
    let started = Instant::now();
    for message in &messages {
        let body = serde_json::to_vec(&**message).unwrap();
        raw.prepare_cached("INSERT INTO t (body) VALUES (?1)").unwrap().execute([body]).unwrap();
    }
    let raw = n as f64 / started.elapsed().as_secs_f64();
    let store = SqliteStore::open_with(folder.join("ours.db"), Synchronous::Normal).unwrap();
    let (started, mut worst) = (Instant::now(), 0.0_f64);
    for message in &messages {
        let one = Instant::now();
        block_on(store.extend(&session("s"), std::slice::from_ref(message), 1)).unwrap();
        worst = worst.max(one.elapsed().as_secs_f64());
    }
    let ours = n as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    drop(store);
    println!(
        "{n} appends: raw rusqlite {raw:.0}/s; ours {ours:.0}/s (ratio {:.2}), the slowest {:.1} ms; closing {:.0} ms",
        ours / raw,
        worst * 1e3,
        started.elapsed().as_secs_f64() * 1e3
    );
}

/// The first search after `n` small appends, a message of 200 bytes a call, with nobody quiet in between.
fn first_search(folder: &Path, n: usize) {
    let store = SqliteStore::open_with(folder.join("search.db"), Synchronous::Normal).unwrap();
    let started = Instant::now();
    for n in 0..n {
        let text: String = message(n).texts().collect();
        let short = said(&format!("{} item{n} part{}", &text[..200], n % 1_000));
        block_on(store.extend(&session(&format!("s{}", n / 100_000)), &[short], 1)).unwrap();
    }
    println!("{n} appends, {:.0}/s", n as f64 / started.elapsed().as_secs_f64());
    for query in [&format!("item{}", n - 1), "part77", "function error", "part5 error token", "a", "nowhere"]
    {
        let times: Vec<f64> = (0..5)
            .map(|_| {
                let started = Instant::now();
                block_on(store.search(None, query, 20)).unwrap();
                started.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let worst = times.iter().copied().fold(0.0, f64::max);
        println!("{query:20} first {:.1} ms, worst {worst:.1} ms of 5", times[0]);
    }
}

fn size(path: &Path, from: &Path) {
    let store = SqliteStore::open_with(path, Synchronous::Normal).unwrap();
    let (mut raw, mut messages, mut pending) = (0, 0, vec![from.to_owned()]);
    let mut by_kind: Vec<(PathBuf, usize)> = Vec::new();
    while let Some(at) = pending.pop() {
        if at.is_dir() {
            pending.extend(fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
        } else if at.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
            let text = fs::read_to_string(&at).unwrap();
            let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).map(said).collect();
            let name = session(&format!("f{}", by_kind.len()));
            // A long session is recorded as it grows, a hundred messages at a time.
            for lines in lines.chunks(100) {
                block_on(store.extend(&name, lines, 1)).unwrap();
            }
            raw += text.len();
            messages += lines.len();
            by_kind.push((at, text.len()));
        }
    }
    drop(store);
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    println!("{} files, {messages} messages, {raw} bytes of JSON", by_kind.len());
    let mut query =
        connection.prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").unwrap();
    let tables: Vec<(String, i64)> =
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let (index, data): (Vec<_>, Vec<_>) = tables.into_iter().partition(|(name, _)| name.starts_with("words"));
    let sum = |tables: &[(String, i64)]| tables.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>();
    for (name, bytes) in &data {
        println!("{bytes:12} {name}");
    }
    println!("data {:.3} of the JSON, search index {:.3}", sum(&data) / raw as f64, sum(&index) / raw as f64);
}

fn search(folder: &Path, n: usize) {
    let path = folder.join("search.db");
    let store = SqliteStore::open_with(&path, Synchronous::Normal).unwrap();
    let started = Instant::now();
    for from in (0..n).step_by(5_000) {
        // Shorter ones: a million messages are then a gigabyte or so.
        let short = |n: usize| {
            let text: String = message(n).texts().collect();
            said(&format!("{} item{n} part{}", &text[..200], n % 1_000))
        };
        let name = session(&format!("s{}", from / 100_000));
        block_on(store.extend(&name, &(from..(from + 5_000).min(n)).map(short).collect::<Vec<_>>(), 1))
            .unwrap();
    }
    println!("{n} messages in {:.0} s", started.elapsed().as_secs_f64());
    drop(store);
    println!("{} MB", fs::metadata(&path).unwrap().len() / 1_000_000);
    let started = Instant::now();
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.state(&session("s0"))).unwrap();
    println!("open and read a state: {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    for query in
        ["part77", &format!("item{}", n / 2), "function error", "function", "part5 error token", "nowhere"]
    {
        let mut times: Vec<f64> = (0..9)
            .map(|_| {
                let started = Instant::now();
                block_on(store.search(None, query, 20)).unwrap();
                started.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{query:20} median {:.1} ms, worst {:.1} ms", times[4], times[8]);
    }
}

/// A store of that many gigabytes at least, in messages of 64 KB that do not compress, opened and read. A file that is
/// there is filled up to that size, and stays.
fn open(path: PathBuf, gigabytes: u64) {
    const BYTES: usize = 64 * 1024;
    let store = SqliteStore::open_with(&path, Synchronous::Normal).unwrap();
    let mut sessions = block_on(store.sessions()).unwrap().len();
    let mut state = sessions as u64 + 0x2545_f491_4f6c_dd1d_u64;
    let mut large = || {
        let mut text = String::with_capacity(BYTES + 4);
        while text.len() < BYTES {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // 48 random bits as eight letters and digits. They are one endless word: the search index of random text would
            // take an hour to write, and opening does not read it.
            (0..8).for_each(|sixth| text.push(LETTERS[(state >> (16 + 6 * sixth)) as usize % 62] as char));
        }
        said(&text)
    };
    let started = Instant::now();
    while fs::metadata(&path).unwrap().len() < gigabytes * 1_000_000_000 {
        let name = session(&format!("s{sessions}"));
        for _ in 0..10 {
            block_on(store.extend(&name, &(0..100).map(|_| large()).collect::<Vec<_>>(), 1)).unwrap();
        }
        sessions += 1;
    }
    drop(store);
    let size = fs::metadata(&path).unwrap().len() as f64 / 1e9;
    println!(
        "{sessions} sessions of 1,000 messages, {size:.2} GB; {:.0} s to write what was missing",
        started.elapsed().as_secs_f64()
    );
    let name = session(&format!("s{}", sessions / 2));
    let span = Span { start: 500, end: 501 };
    let times = |mut run: Box<dyn FnMut()>| {
        let mut times: Vec<f64> = (0..9)
            .map(|_| {
                let started = Instant::now();
                run();
                started.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let first = times[0];
        times.sort_by(f64::total_cmp);
        format!("first {first:.1} ms, median {:.1} ms, worst {:.1} ms", times[4], times[8])
    };
    let (at, of) = (path.clone(), name.clone());
    let opened = times(Box::new(move || {
        let store = SqliteStore::open(&at).unwrap();
        block_on(store.state(&of)).unwrap();
    }));
    println!("open and read a state: {opened}");
    let store = SqliteStore::open(&path).unwrap();
    println!(
        "read one message: {}",
        times(Box::new(move || drop(block_on(store.originals(&name, span)).unwrap())))
    );
}

const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const WORDS: &[&str] = &[
    "the", "error", "function", "returns", "a", "value", "of", "type", "which", "is", "not", "expected",
    "in", "this", "test", "let", "mut", "state", "=", "self.state();", "token", "stream", "parser", "fails",
    "when", "input", "has", "no", "newline", "at", "end", "src/lib.rs:42", "assert_eq!(left,", "right);",
    "cargo", "build", "warning:", "unused", "import", "compile", "release", "config", "default", "path",
    "session", "record", "we", "should", "probably",
];
