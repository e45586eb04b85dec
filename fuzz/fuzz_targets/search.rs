//! Any text as a search: two stores that share no code for it find the same, and what is found holds every word.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use longhaul_store::{MemoryStore, SqliteStore, SummaryStore, words};
use longhaul_transcript::{Message, Redacted, SessionId};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts"));

static STORES: LazyLock<(MemoryStore, SqliteStore, SessionId)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made").keep();
    let stores = (MemoryStore::new(), SqliteStore::open(folder.join("s.db")).expect("a store can be made"));
    let name = SessionId::new("s").expect("a name");
    let texts = ["Fix src/lib.rs:42, E0277!", "読む file Straße ΣΟΦΟΣ", "the quick brown fox AND NOT near(x)", "\" OR 1=1 --"];
    let said: Vec<_> = texts.map(|text| Redacted::assume(Message::user(text))).into();
    RUNTIME.block_on(async {
        stores.0.extend(&name, &said, 1).await.expect("it is written");
        stores.1.extend(&name, &said, 1).await.expect("it is written");
    });
    (stores.0, stores.1, name)
});

fuzz_target!(|bytes: &[u8]| {
    let query = String::from_utf8_lossy(bytes);
    let (memory, sqlite, name) = &*STORES;
    for session in [Some(name), None] {
        let found = RUNTIME.block_on(async {
            let one = memory.search(session, &query, 8).await.expect("any text may be searched for");
            let other = sqlite.search(session, &query, 8).await.expect("any text may be searched for");
            assert_eq!(one, other, "{query:?}");
            one
        });
        for hit in found {
            let held: Vec<String> = hit.message.iter().flat_map(|said| said.texts()).flat_map(|text| words(text).collect::<Vec<_>>()).collect();
            assert!(words(&query).all(|word| held.contains(&word)), "{query:?} {hit:?}");
        }
    }
});
