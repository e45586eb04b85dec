//! Every backend passes the same suite, and one's export is another's import.

use std::sync::Arc;

use longhaul_store::{MemoryStore, SummaryStore, conformance};

#[test]
fn memory_conforms() {
    conformance::block_on(conformance::all(async || MemoryStore::new()));
}

#[test]
fn a_shared_and_a_boxed_store_conform() {
    let make = async || Arc::new(MemoryStore::new()) as Arc<dyn SummaryStore>;
    conformance::block_on(conformance::all(make));
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_conforms() {
    use longhaul_store::{SqliteStore, Synchronous};
    let folder = tempfile::tempdir().unwrap();
    let made = std::cell::Cell::new(0);
    conformance::block_on(conformance::all(async || {
        made.set(made.get() + 1);
        // The suite is about meaning; what durability costs is measured elsewhere.
        SqliteStore::open_with(folder.path().join(format!("{}.db", made.get())), Synchronous::Normal).unwrap()
    }));
}

#[cfg(all(feature = "sqlite", feature = "encryption"))]
#[test]
fn sealed_sqlite_conforms() {
    use longhaul_store::{SqliteStore, StoreKey, Synchronous};
    let folder = tempfile::tempdir().unwrap();
    let made = std::cell::Cell::new(0);
    conformance::block_on(conformance::all(async || {
        made.set(made.get() + 1);
        let path = folder.path().join(format!("{}.db", made.get()));
        SqliteStore::open_sealed(path, Synchronous::Normal, &StoreKey::from_bytes([7; 32])).unwrap()
    }));
}

#[cfg(feature = "sqlite")]
#[test]
fn an_export_of_one_backend_is_an_import_of_another() {
    use longhaul_store::{Selector, SqliteStore};
    use longhaul_transcript::Span;
    let folder = tempfile::tempdir().unwrap();
    conformance::block_on(async {
        let (memory, sqlite) = (MemoryStore::new(), SqliteStore::open(folder.path().join("a.db")).unwrap());
        let name = conformance::session("s");
        let talk = ["a", "b", "c"].map(conformance::said);
        memory.journal(&name, 0, &talk, 1).await.unwrap();
        memory.append(&name, &conformance::record(&name, None, 2, "first")).await.unwrap();
        memory.forget(&name, &Selector::Range(Span { start: 2, end: 3 }), 3).await.unwrap();
        let exported = memory.export(&name).await.unwrap();
        sqlite.import(&exported).await.unwrap();
        assert_eq!(sqlite.export(&name).await.unwrap(), exported);
    });
}

#[test]
fn the_trait_is_object_safe_and_its_futures_are_send() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    let name = conformance::session("s");
    let talk = [conformance::said("a")];
    conformance::block_on(is_send(store.journal(&name, 0, &talk, 1))).unwrap();
    conformance::block_on(is_send(store.verify(&name))).unwrap();
}
