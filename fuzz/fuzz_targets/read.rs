//! Any bytes as a history of any format: read or refused, never a panic; what was read comes back byte for byte, is
//! validated, repaired and converted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_fuzz::{FORMATS, told};
use longhaul_transcript::{Entry, Item};
use longhaul_wire::{Profile, convert, detect, read, repair, validate, write};

fuzz_target!(|bytes: &[u8]| {
    let Some((format, history)) = told(bytes) else { return };
    detect(history);
    let _ = validate(history, format, &Profile::default());
    let Ok(document) = read(Some(format), history) else { return };
    let entries = document.transcript().entries();
    let item = |entry: &'_ Entry| (entry.id, entry.message.clone());
    let all: Vec<_> = entries.iter().map(item).collect();
    let items = |from: usize| all[from..].iter().map(|(id, message)| Item::Message { id: *id, message });
    let mut out = Vec::new();
    write(&document, items(0), &mut out).expect("a document can be written");
    assert_eq!(out, document.as_bytes(), "nothing changed");
    // Without its first half: whatever is written can be read.
    let mut rest = Vec::new();
    if write(&document, items(all.len() / 2), &mut rest).is_ok() && all.len() > 1 {
        let _ = read(Some(format), &*rest);
    }
    let _ = repair(document.transcript());
    for to in FORMATS.iter() {
        let _ = convert(&document, *to);
    }
});
