//! The store on PostgreSQL. `cargo xtask test` starts a server for these tests, or takes the one that
//! `LONGHAUL_TEST_POSTGRES_URL` names; without either they say so and do nothing.

use std::{
    env,
    path::Path,
    process::{Child, Command},
    sync::atomic::{AtomicUsize, Ordering},
};

use longhaul_store::{
    PostgresOptions, PostgresStore, Problem, Selector, StoreError, StoreKey, SummaryStore,
    conformance::{self, block_on, record, said, session},
};
use longhaul_transcript::Span;

use crate::{
    missing,
    process::{assert_all_there, part, play, runs, tell, told, write_on},
};

/// Returns the URL of the server; `None`, said aloud, where there is none.
pub(crate) fn server() -> Option<String> {
    let url = env::var("LONGHAUL_TEST_POSTGRES_URL").ok();
    if url.is_none() {
        eprintln!("skipped: LONGHAUL_TEST_POSTGRES_URL names no server; `cargo xtask test` starts one");
    }
    url
}

/// Returns the options of the schema `name`.
fn named(name: &str) -> PostgresOptions {
    let mut options = PostgresOptions::default();
    options.schema = name.to_owned();
    options.max_connections = 4;
    options
}

/// Returns options for a schema that nobody else uses, in a few connections.
pub(crate) fn fresh() -> PostgresOptions {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    named(&format!("test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)))
}

#[test]
fn postgres_conforms() {
    let Some(url) = server() else { return };
    conformance::block_on(conformance::all(async || PostgresStore::connect_with(&url, fresh()).unwrap()));
}

#[test]
fn under_a_key_postgres_conforms_and_opens_with_it_alone() {
    let Some(url) = server() else { return };
    let sealed = |byte: u8| {
        let mut options = fresh();
        options.key = Some(StoreKey::from_bytes([byte; 32]));
        options
    };
    conformance::block_on(conformance::all(async || PostgresStore::connect_with(&url, sealed(1)).unwrap()));
    let mut options = sealed(1);
    let store = PostgresStore::connect_with(&url, options.clone()).unwrap();
    block_on(store.journal(&session("s"), 0, &[said("hello")], 1)).unwrap();
    options.key = Some(StoreKey::from_bytes([2; 32]));
    let error = PostgresStore::connect_with(&url, options.clone()).unwrap_err().to_string();
    assert_eq!(error, "the store cannot be unlocked: the key is not the one it is kept under");
    options.key = None;
    let error = PostgresStore::connect_with(&url, options).unwrap_err().to_string();
    assert_eq!(error, "the store cannot be unlocked: it is kept under a key, and none was given");
    let mut options = fresh();
    let store = PostgresStore::connect_with(&url, options.clone()).unwrap();
    block_on(store.journal(&session("s"), 0, &[said("hello")], 1)).unwrap();
    options.key = Some(StoreKey::from_bytes([2; 32]));
    let error = PostgresStore::connect_with(&url, options).unwrap_err().to_string();
    assert!(error.ends_with("begun without a key; export it and import it into a new one"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn an_export_goes_round_through_all_three_backends() {
    use longhaul_store::{MemoryStore, SqliteStore};
    let Some(url) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let name = session("s");
    let memory = MemoryStore::new();
    let postgres = PostgresStore::connect_with(&url, fresh()).unwrap();
    let sqlite = SqliteStore::open(folder.path().join("a.db")).unwrap();
    block_on(async {
        memory.journal(&name, 0, &["a", "b", "c \0 \u{2028} é", "a"].map(said), 1).await.unwrap();
        memory.append(&name, &record(&name, None, 2, "first")).await.unwrap();
        memory.forget(&name, &Selector::Range(Span { start: 1, end: 2 }), 3).await.unwrap();
        memory.undo(&name, 4).await.unwrap();
        let exported = memory.export(&name).await.unwrap();
        postgres.import(&exported).await.unwrap();
        assert_eq!(postgres.export(&name).await.unwrap(), exported);
        sqlite.import(&postgres.export(&name).await.unwrap()).await.unwrap();
        assert_eq!(sqlite.export(&name).await.unwrap(), exported);
        let back = MemoryStore::new();
        back.import(&sqlite.export(&name).await.unwrap()).await.unwrap();
        assert_eq!(back.export(&name).await.unwrap(), exported);
        for store in [&memory as &dyn SummaryStore, &postgres, &sqlite, &back] {
            assert!(store.verify(&name).await.unwrap().is_intact(), "{store:?}");
        }
    });
}

/// Returns every file of the server's data directory, where it can be seen; the write-ahead log apart.
fn files_of_server(with_log: bool) -> Option<Vec<u8>> {
    let data = std::path::PathBuf::from(env::var_os("LONGHAUL_TEST_POSTGRES_DATA")?);
    let (mut bytes, mut folders) = (Vec::new(), vec![data]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if with_log || !path.ends_with("pg_wal") => folders.push(path),
                true => {}
                // A file may go while we look.
                false => bytes.extend(std::fs::read(&path).unwrap_or_default()),
            }
        }
    }
    Some(bytes)
}

fn holds(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// Runs SQL beside the store, and returns what it gives, a line a row.
fn sql(url: &str, statement: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let messages = client.simple_query(statement).await.unwrap();
        let rows = messages.into_iter().filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        rows.collect()
    })
}

#[test]
fn no_word_reaches_the_server_and_a_forgotten_one_loses_its_key() {
    let Some(url) = server() else { return };
    let options = fresh();
    let store = PostgresStore::connect_with(&url, options.clone()).unwrap();
    let name = session("s");
    let keys = || sql(&url, &format!("SELECT encode(key, 'hex') FROM {}.keys ORDER BY id", options.schema));
    block_on(store.journal(&name, 0, &["the quetzalcoatl flies", "hello"].map(said), 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 2, "it was xylophones"))).unwrap();
    let before = keys();
    assert_eq!(before.len(), 3);
    let gone = block_on(store.forget(&name, &Selector::Matching("quetzalcoatl".into()), 5)).unwrap();
    assert_eq!(gone.message_count(), 1);
    let after = keys();
    let destroyed: Vec<&String> = before.iter().filter(|key| !after.contains(key)).collect();
    assert_eq!((after.len(), destroyed.len()), (2, 1));
    assert!(block_on(store.verify(&name)).unwrap().is_intact());
    sql(&url, "CHECKPOINT");
    let Some(all) = files_of_server(true) else {
        return eprintln!("the server's files are not here: they were not searched");
    };
    assert!(holds(&all, name.as_str().as_bytes()), "the search sees what is there");
    for word in ["quetzalcoatl", "xylophones"] {
        assert!(!holds(&all, word.as_bytes()), "{word} is in the server's files");
    }
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
    };
    let tables = files_of_server(false).unwrap();
    assert!(holds(&tables, &bytes(&after[0])), "the search sees keys");
    assert!(!holds(&tables, &bytes(destroyed[0])), "the key is still in a table's file");
}

#[test]
fn what_could_not_be_overwritten_is_the_next_time_by_whoever_forgets() {
    let Some(url) = server() else { return };
    let options = fresh();
    let join = if url.contains('?') { '&' } else { '?' };
    let hurried = format!("{url}{join}options=-c%20lock_timeout%3D100ms");
    let open = || PostgresStore::connect_with(&hurried, options.clone()).unwrap();
    let (store, name) = (open(), session("s"));
    // TRUNCATE gives a table a file of its own.
    let file = || {
        sql(
            &url,
            &format!("SELECT relfilenode FROM pg_class WHERE oid = '{}.keys'::regclass", options.schema),
        )
    };
    block_on(store.journal(&name, 0, &["one", "two", "three"].map(said), 1)).unwrap();
    let before = file();
    let nothing = Selector::Originals(Span { start: 0, end: 0 });
    assert!(block_on(store.forget(&name, &nothing, 2)).unwrap().is_empty());
    assert_eq!(file(), before, "there is nothing to overwrite");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let reader = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("BEGIN; SELECT FROM {}.keys", options.schema)).await.unwrap();
        client
    });
    let forget = |store: &PostgresStore, selector| block_on(store.forget(&name, selector, 3));
    let is_not_overwritten = |error| matches!(error, StoreError::NotOverwritten { .. });
    let first = Selector::Originals(Span { start: 0, end: 1 });
    assert!(is_not_overwritten(forget(&store, &first).unwrap_err()));
    assert!(is_not_overwritten(forget(&store, &nothing).unwrap_err()), "it is tried again");
    runtime.block_on(reader.batch_execute("COMMIT")).unwrap();
    assert_eq!(file(), before);
    let other = open();
    assert!(forget(&other, &nothing).unwrap().is_empty());
    let after = file();
    assert_ne!(after, before, "by another process, which knows of it");
    assert!(forget(&store, &nothing).unwrap().is_empty());
    assert_eq!(file(), after, "once");
    assert!(block_on(store.verify(&name)).unwrap().is_intact());
}

#[test]
fn a_newer_schema_a_foreign_one_and_a_tampered_row_are_told() {
    let Some(url) = server() else { return };
    let options = fresh();
    let schema = &options.schema;
    let open = || PostgresStore::connect_with(&url, options.clone());
    let store = open().unwrap();
    let name = session("s");
    block_on(store.journal(&name, 0, &["one", "two"].map(said), 1)).unwrap();
    block_on(store.append(&name, &record(&name, None, 2, "r"))).unwrap();
    let tamper = |statement: &str| {
        sql(&url, &format!("SET search_path = {schema}; {statement}"));
        block_on(store.verify(&name)).unwrap().problem
    };
    assert_eq!(tamper("SELECT 1"), None);
    for (statement, back, expected) in [
        (
            "UPDATE events SET at_ms = 9 WHERE seq = 1",
            "UPDATE events SET at_ms = 1 WHERE seq = 1",
            Problem::ChangedEvent { seq: 1 },
        ),
        (
            "UPDATE originals SET at_ms = 9 WHERE ordinal = 1",
            "UPDATE originals SET at_ms = 1 WHERE ordinal = 1",
            Problem::ChangedEntry { ordinal: 1 },
        ),
        (
            "UPDATE contents SET body = set_byte(body, 30, get_byte(body, 30) # 4) WHERE key = 1",
            "UPDATE contents SET body = set_byte(body, 30, get_byte(body, 30) # 4) WHERE key = 1",
            Problem::ChangedOriginal { ordinal: if first_content_is(&url, schema, 0) { 0 } else { 1 } },
        ),
        (
            "UPDATE sessions SET state = replace(state, '\"messages\":2', '\"messages\":3')",
            "UPDATE sessions SET state = replace(state, '\"messages\":3', '\"messages\":2')",
            Problem::ChangedState,
        ),
        ("DELETE FROM events WHERE seq = 2", "SELECT 1", Problem::ChangedState),
    ] {
        assert_eq!(tamper(statement), Some(expected), "{statement}");
        tamper(back);
    }
    sql(&url, &format!("UPDATE {schema}.longhaul_version SET version = 99"));
    let error = open().unwrap_err().to_string();
    assert_eq!(error, "the database has version 99; this longhaul reads up to 4");
    let foreign = fresh();
    sql(&url, &format!("CREATE SCHEMA {0}; CREATE TABLE {0}.theirs (x int)", foreign.schema));
    let error = PostgresStore::connect_with(&url, foreign).unwrap_err().to_string();
    assert_eq!(error, "opening the database failed: the schema belongs to another program");
    let mut odd = fresh();
    odd.schema = "a; DROP SCHEMA public".to_owned();
    assert!(PostgresStore::connect_with(&url, odd).is_err());
    let nowhere = PostgresStore::connect("postgres://user:s3cret@127.0.0.1:1/none").unwrap_err();
    assert!(!format!("{nowhere} {nowhere:?}").contains("s3cret"));
}

#[test]
fn what_is_missing_is_told_in_its_place() {
    let Some(url) = server() else { return };
    let options = fresh();
    let change = |statement: &str| {
        sql(&url, &format!("SET search_path = {}; {statement}", options.schema));
    };
    missing::is_told_in_its_place(|| PostgresStore::connect_with(&url, options.clone()).unwrap(), change);
}

/// Returns whether the content with the first key is that of the original at `ordinal`.
fn first_content_is(url: &str, schema: &str, ordinal: u64) -> bool {
    let found = sql(url, &format!("SELECT ordinal FROM {schema}.originals WHERE content = 1"));
    found == [ordinal.to_string()]
}

#[test]
fn many_machines_may_open_a_new_store_at_once() {
    let Some(url) = server() else { return };
    let options = fresh();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = PostgresStore::connect_with(&url, options.clone()).unwrap();
                block_on(store.extend(&session("s"), &[said("hello")], 1)).unwrap();
            });
        }
    });
    let store = PostgresStore::connect_with(&url, options).unwrap();
    assert_eq!(block_on(store.verify(&session("s"))).unwrap().originals, 8);
}

#[test]
fn child_writes_with_many_threads() {
    let Some((schema, writer)) = part() else { return };
    let url = env::var("LONGHAUL_TEST_POSTGRES_CROWD_URL").unwrap();
    let (threads, turns) = (runs("LONGHAUL_CROWD_THREADS", 8), runs("LONGHAUL_CROWD_TURNS", 2));
    let store = PostgresStore::connect_with(&url, named(schema.to_str().unwrap())).unwrap();
    std::thread::scope(|scope| {
        for index in 0..threads {
            let store = &store;
            scope.spawn(move || {
                if let Err(error) = write_on(store, writer * threads + index, turns) {
                    tell(&format!("error {error}"));
                }
            });
        }
    });
    tell("done");
}

/// Lets processes write to one session, `crashes` times crashes the server meanwhile, and returns what is wrong then.
fn crowd(url: &str, crashes: usize) {
    let (processes, threads, turns) = (
        runs("LONGHAUL_CROWD_PROCESSES", 4),
        runs("LONGHAUL_CROWD_THREADS", 8),
        runs("LONGHAUL_CROWD_TURNS", 2),
    );
    let options = fresh();
    let store = PostgresStore::connect_with(url, options.clone()).unwrap();
    let start = |writer| {
        let mut child = play("postgres::child_writes_with_many_threads", Path::new(&options.schema), writer);
        child.env("LONGHAUL_TEST_POSTGRES_CROWD_URL", url).spawn().unwrap()
    };
    let children: Vec<Child> = (0..processes).map(start).collect();
    for crash in 0..crashes {
        // Once a part of the work is done, wherever the others stand.
        let enough = 2 * processes * threads * turns * (crash + 1) / (crashes + 2);
        while block_on(store.state(&session("s"))).unwrap().is_none_or(|state| state.events < enough as u64) {
            std::thread::yield_now();
        }
        let command = env::var("LONGHAUL_TEST_POSTGRES_CRASH").unwrap();
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }
    let mut acknowledged = Vec::new();
    for mut child in children {
        let mut lines = told(&mut child, 2 * threads * turns + 1);
        assert_eq!(lines.pop().as_deref(), Some("done"), "{lines:?}");
        acknowledged.extend(lines);
    }
    assert_eq!(acknowledged.len(), 2 * processes * threads * turns);
    assert_all_there(&store, &acknowledged);
    let state = block_on(store.require(&session("s"))).unwrap();
    assert_eq!(state.events, 1 + acknowledged.len() as u64, "the log is linear, each write once");
}

#[test]
fn many_processes_lose_and_double_nothing() {
    let Some(url) = server() else { return };
    crowd(&url, 0);
}

#[test]
fn a_server_that_crashes_in_the_middle_loses_and_doubles_nothing() {
    let Ok(url) = env::var("LONGHAUL_TEST_POSTGRES_CRASH_URL") else {
        return eprintln!("skipped: there is no server to crash; `cargo xtask test` starts one");
    };
    crowd(&url, runs("LONGHAUL_CRASHES", 2));
}

#[test]
fn not_a_word_goes_in_the_clear_where_tls_is_wanted() {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        time::Duration,
    };
    /// What a client asks first, where it wants TLS.
    const REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    for answer in [b"N", b"S"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut asked = [0; 8];
            client.read_exact(&mut asked).unwrap();
            client.write_all(answer).unwrap();
            let mut next = [0; 64];
            let length = client.read(&mut next).unwrap();
            (asked, next[..length].to_vec())
        });
        let url = format!("postgres://somebody:word@localhost:{port}/db?sslmode=require");
        let error = PostgresStore::connect_with(&url, fresh()).unwrap_err().to_string();
        assert!(error.starts_with("opening the database failed: ") && !error.contains("word"), "{error}");
        let (asked, next) = server.join().unwrap();
        assert_eq!(asked, REQUEST);
        match answer {
            b"N" => assert!(next.is_empty(), "it hangs up: {next:?}"),
            // The first record of a TLS handshake.
            _ => assert_eq!(next[..2], [22, 3]),
        }
    }
}
