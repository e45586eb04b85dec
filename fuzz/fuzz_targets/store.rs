//! A store's file with any bytes of it changed: opened or refused, and what it says was said was said.
#![no_main]

use std::{fs, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use longhaul_store::{Synchronous, SqliteStore, StoreError, SummaryStore};
use longhaul_transcript::{Message, Redacted, SessionId, Span};

/// Two sessions: one whose messages wait in a tail, and one that was moved into rows and blocks.
struct Sound {
    bytes: Vec<u8>,
    said: Vec<String>,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("sound.db");
    let said: Vec<String> = (0..24).map(|n| format!("message {n} {}", "about the parser ".repeat(n))).collect();
    {
        let store = SqliteStore::open_with(&path, Synchronous::Normal).expect("a store can be made");
        for (nth, name) in sessions().iter().enumerate() {
            for text in &said {
                let message = Redacted::assume(Message::user(text.as_str()));
                wait(store.extend(name, &[message], 1)).expect("it is written");
            }
            if nth == 0 {
                wait(store.search(Some(name), "parser", 3)).expect("it is searched");
            }
        }
    }
    Sound { bytes: fs::read(&path).expect("it is there"), said }
});

fn sessions() -> [SessionId; 2] {
    ["settled", "waiting"].map(|name| SessionId::new(name).expect("a name"))
}

fn wait<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts").block_on(work)
}

fuzz_target!(|bytes: &[u8]| {
    let mut damaged = SOUND.bytes.clone();
    for change in bytes.chunks_exact(4).take(16) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % damaged.len();
        damaged[at] = change[3];
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("damaged.db");
    fs::write(&path, damaged).expect("it can be written");
    let Ok(store) = SqliteStore::open_with(&path, Synchronous::Normal) else { return };
    for name in sessions() {
        let _ = wait(store.verify(&name));
        let _ = wait(store.search(Some(&name), "parser", 8));
        let _ = wait(store.export(&name));
        let Ok(originals) = wait(store.originals(&name, Span { start: 0, end: 99 })) else { continue };
        for message in originals.into_iter().filter_map(|original| original.message) {
            assert!(message.texts().all(|text| SOUND.said.iter().any(|said| said == text)), "{message:?}");
        }
    }
});
