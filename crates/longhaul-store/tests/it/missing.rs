//! Rows that somebody took out of a database, or emptied.

use std::collections::BTreeMap;

use longhaul_store::{
    Original, Selector, SummaryStore,
    conformance::{block_on, record, said, session},
};
use longhaul_transcript::Span;

/// Checks that each message is told in its own place where rows are missing; `change` runs SQL beside the store.
pub(crate) fn is_told_in_its_place<S: SummaryStore>(open: impl Fn() -> S, change: impl Fn(&str)) {
    let name = session("s");
    let store = open();
    let talk: Vec<_> = (0..7).map(|nth| said(&format!("word{nth} of the talk"))).collect();
    block_on(async {
        store.journal(&name, 0, &talk, 1).await.unwrap();
        // In SQLite, with a record everything that waits is settled: it is in rows.
        store.append(&name, &record(&name, None, 2, "r")).await.unwrap();
        store.forget(&name, &Selector::Originals(Span { start: 1, end: 2 }), 2).await.unwrap();
    });
    drop(store);
    change("DELETE FROM originals WHERE ordinal IN (2, 6)");
    let address = "(SELECT address FROM contents WHERE key = originals.content)";
    change(&format!("UPDATE originals SET content = NULL, address = {address} WHERE ordinal = 4"));

    let store = open();
    let told = |span: Span| -> Vec<(u64, Told)> {
        let originals = block_on(store.originals(&name, span)).unwrap();
        originals.iter().map(|original| (original.ordinal, Told::of(original))).collect()
    };
    use Told::{Changed, Forgotten, Whole};
    let all: Vec<(u64, Told)> =
        (0..).zip([Whole, Forgotten, Changed, Whole, Changed, Whole, Changed]).collect();
    assert_eq!(told(Span { start: 0, end: u64::MAX }), all);
    assert_eq!(told(Span { start: 2, end: 5 }), all[2..5]);
    assert_eq!(told(Span { start: 6, end: 9 }), all[6..]);
    let hits = block_on(store.search(Some(&name), "talk", 9)).unwrap();
    let hits: BTreeMap<u64, bool> = hits.iter().map(|hit| (hit.id.ordinal, hit.message.is_some())).collect();
    assert!([0, 3, 5].iter().all(|at| hits[at]) && !hits.contains_key(&1), "{hits:?}");
    assert!([2, 4, 6].iter().all(|at| !hits.get(at).copied().unwrap_or_default()), "{hits:?}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Whole,
    Forgotten,
    Changed,
}

impl Told {
    fn of(original: &Original) -> Told {
        match original.message {
            Some(_) => Told::Whole,
            None if original.is_changed => Told::Changed,
            None => Told::Forgotten,
        }
    }
}
