//! Any text as an export: taken in or refused, never a panic, and never half taken in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_store::{MemoryStore, SummaryStore};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let store = MemoryStore::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    runtime.block_on(async {
        if store.import(&text).await.is_err() {
            return;
        }
        for info in store.sessions().await.expect("sessions are listed") {
            let verified = store.verify(&info.session).await.expect("a session is verified");
            assert!(verified.is_intact(), "{verified:?}");
        }
    });
});
