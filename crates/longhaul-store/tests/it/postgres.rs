//! The store on PostgreSQL. `cargo xtask test` starts a server for these tests, or takes the one that
//! `LONGHAUL_TEST_POSTGRES_URL` names; without either they say so and do nothing.

use std::{
    env,
    sync::atomic::{AtomicUsize, Ordering},
};

use longhaul_store::{
    PostgresOptions, PostgresStore, StoreKey, SummaryStore,
    conformance::{self, block_on, record, said, session},
};
use longhaul_transcript::Span;

/// Returns the URL of the server; `None`, said aloud, where there is none.
pub(crate) fn server() -> Option<String> {
    let url = env::var("LONGHAUL_TEST_POSTGRES_URL").ok();
    if url.is_none() {
        eprintln!("skipped: LONGHAUL_TEST_POSTGRES_URL names no server; `cargo xtask test` starts one");
    }
    url
}

/// Returns options for a schema that nobody else uses, in a few connections.
pub(crate) fn fresh() -> PostgresOptions {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let mut options = PostgresOptions::default();
    options.schema = format!("test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    options.max_connections = 4;
    options
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
    use longhaul_store::{MemoryStore, Selector, SqliteStore};
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
