//! Deletion: gone for good, and provably so.

use longhaul_transcript::{ContentHash, Redacted, Span, SummaryRecord};

use super::{record, said, session};
use crate::{ChainStep, Commit, Selector, StoreError, SummaryStore, lasting_key, session_key};

pub(super) async fn a_range_leaves_a_tombstone(store: &impl SummaryStore) {
    let name = session("range");
    store.journal(&name, 0, &["zero", "one", "two", "three"].map(said), 1).await.unwrap();
    let first = record(&name, None, 1, "first");
    let second = record(&name, Some(&first), 3, "second");
    store.append(&name, &first).await.unwrap();
    store.append(&name, &second).await.unwrap();
    let gone = store.forget(&name, &Selector::Range(Span { start: 1, end: 3 }), 5).await.unwrap();
    assert_eq!(gone.originals, [Span { start: 1, end: 3 }]);
    assert_eq!(gone.records, std::slice::from_ref(&second.id), "it quotes them");
    let left = store.originals(&name, Span { start: 0, end: 9 }).await.unwrap();
    let is_there: Vec<bool> = left.iter().map(|original| original.message.is_some()).collect();
    assert_eq!(is_there, [true, false, false, true]);
    assert!(store.search(Some(&name), "two", 9).await.unwrap().is_empty());
    assert_eq!(store.record(&name, &second.id).await.unwrap(), None);
    assert_eq!(store.head(&name).await.unwrap().unwrap(), *first);
    let verified = store.verify(&name).await.unwrap();
    assert_eq!((verified.forgotten, verified.originals, verified.problem), (2, 2, None));
    let again = store.forget(&name, &Selector::Range(Span { start: 1, end: 3 }), 6).await.unwrap();
    assert!(again.is_empty());
    // The conversation goes on, and is still recognised.
    let grown = store.journal(&name, 0, &["zero", "one", "two", "three", "four"].map(said), 7).await.unwrap();
    assert_eq!(grown.new, Span { start: 4, end: 5 });
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn age_spares_the_records_in_force(store: &impl SummaryStore) {
    let name = session("age");
    store.journal(&name, 0, &["old"].map(said), 10).await.unwrap();
    store.extend(&name, &[said("new")], 20).await.unwrap();
    let head = record(&name, None, 1, "head");
    store.append(&name, &head).await.unwrap();
    let gone = store.forget(&name, &Selector::OlderThan(20), 30).await.unwrap();
    assert_eq!((gone.originals, gone.records.len()), (vec![Span { start: 0, end: 1 }], 0));
    assert_eq!(store.head(&name).await.unwrap().unwrap(), *head);
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn a_secret_goes_wherever_it_stands(store: &impl SummaryStore) {
    let name = session("secret");
    let secret = "tr0ub4dor\"3";
    let talk = ["hello".to_owned(), format!("it is {secret}!"), "bye".to_owned()].map(|text| said(&text));
    store.journal(&name, 0, &talk, 1).await.unwrap();
    let clean = record(&name, None, 1, "clean");
    let quoting = record(&name, Some(&clean), 2, &format!("the user said {secret}"));
    store.append(&name, &clean).await.unwrap();
    store.append(&name, &quoting).await.unwrap();
    let facts = ContentHash::of(b"facts");
    store.cache(&facts, &Redacted::assume(secret.as_bytes().to_vec())).await.unwrap();
    let numbers = lasting_key([b"numbers".as_slice()]);
    let [own, others] = [&name, &session("others")].map(|of| session_key(of, [b"facts".as_slice()]));
    for key in [&numbers, &own, &others] {
        store.cache(key, &Redacted::assume(b"{}".to_vec())).await.unwrap();
    }
    let gone = store.forget(&name, &Selector::Matching(secret.to_owned()), 5).await.unwrap();
    assert_eq!((gone.message_count(), gone.records.as_slice()), (1, std::slice::from_ref(&quoting.id)));
    assert_eq!(store.cached(&facts).await.unwrap(), None, "what is cached may quote it");
    assert_eq!(store.cached(&own).await.unwrap(), None, "what was made of this session may too");
    for key in [&numbers, &others] {
        assert_eq!(store.cached(key).await.unwrap().as_deref(), Some(&b"{}"[..]), "this cannot quote it");
    }
    let exported = store.export(&name).await.unwrap();
    assert!(!exported.contains("tr0ub4dor"), "{exported}");
    assert!(store.search(None, "tr0ub4dor", 9).await.unwrap().is_empty());
    assert_eq!(store.head(&name).await.unwrap().unwrap(), *clean);
    assert!(store.forget(&name, &Selector::Matching(String::new()), 6).await.unwrap().is_empty());
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn what_another_session_holds_stays_there(store: &impl SummaryStore) {
    let (one, two) = (session("one"), session("two"));
    for name in [&one, &two] {
        store.journal(name, 0, &["shared words", "shared words"].map(said), 1).await.unwrap();
    }
    store.forget(&one, &Selector::Range(Span { start: 0, end: 1 }), 2).await.unwrap();
    store.forget(&one, &Selector::Session, 3).await.unwrap();
    assert!(store.search(Some(&one), "shared", 9).await.unwrap().is_empty());
    assert_eq!(store.search(Some(&two), "shared", 9).await.unwrap().len(), 2);
    for name in [&one, &two] {
        assert!(store.verify(name).await.unwrap().is_intact(), "{name}");
    }
}

pub(super) async fn a_whole_session_goes(store: &impl SummaryStore) {
    let name = session("whole");
    store.journal(&name, 0, &["a", "b", "c"].map(said), 1).await.unwrap();
    let first = record(&name, None, 2, "first");
    store.append(&name, &first).await.unwrap();
    store.undo(&name, 2).await.unwrap();
    let gone = store.forget(&name, &Selector::Session, 3).await.unwrap();
    assert_eq!((gone.message_count(), gone.records.len()), (3, 1));
    assert_eq!(store.redo(&name, 4).await.unwrap(), None, "a destroyed record cannot come back");
    let verified = store.verify(&name).await.unwrap();
    assert_eq!((verified.originals, verified.records, verified.problem), (0, 0, None));
    assert_eq!(store.extend(&name, &[said("d")], 5).await.unwrap(), Span { start: 3, end: 4 });
}

pub(super) async fn what_a_summary_replaces_goes_with_its_commit(store: &impl SummaryStore) {
    let name = session("replaced");
    let bytes = |text: &str| Some(Redacted::assume(text.as_bytes().to_vec()));
    let append = |record: &Redacted<SummaryRecord>| vec![ChainStep::Append(Box::new(record.clone()))];
    let is_there = async || {
        let left = store.originals(&name, Span { start: 0, end: 9 }).await.unwrap();
        left.iter().map(|original| original.message.is_some()).collect::<Vec<_>>()
    };
    let said_first = Commit { messages: vec![said("zero"), said("one")], at_ms: 1, ..Commit::default() };
    store.commit(&name, &said_first).await.unwrap();
    let (first, wrong) = (record(&name, None, 2, "first"), record(&name, None, 3, "wrong"));
    let whole = Commit {
        start: 2,
        messages: vec![said("two"), said("three")],
        chain: append(&first),
        forget: vec![Span { start: 0, end: 1 }, Span { start: 2, end: 3 }, Span { start: 3, end: 3 }],
        snapshot: bytes("at four"),
        at_ms: 2,
        ..Commit::default()
    };
    let state = store.commit(&name, &whole).await.unwrap();
    assert_eq!(is_there().await, [false, true, false, true]);
    assert_eq!((state.messages, state.head()), (4, Some(&first.id)));
    assert_eq!(store.head(&name).await.unwrap().unwrap(), *first, "it is all that is left");
    assert_eq!(store.snapshot(&name).await.unwrap().unwrap().bytes, b"at four", "it was written after that");
    assert!(store.search(Some(&name), "two", 9).await.unwrap().is_empty());
    assert!(store.verify(&name).await.unwrap().is_intact());
    // Its answer may have been lost: the same again is no event.
    assert_eq!(store.commit(&name, &whole).await.unwrap(), state);

    // What is refused destroys nothing, and nobody has said what is yet to be said.
    let refused = Commit {
        start: 4,
        chain: append(&wrong),
        forget: vec![Span { start: 0, end: 9 }],
        at_ms: 3,
        ..Commit::default()
    };
    let error = store.commit(&name, &refused).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(is_there().await, [false, true, false, true]);
    let rest = Commit { start: 4, forget: vec![Span { start: 0, end: 9 }], at_ms: 3, ..Commit::default() };
    store.commit(&name, &rest).await.unwrap();
    assert_eq!(store.extend(&name, &[said("four")], 4).await.unwrap(), Span { start: 4, end: 5 });
    assert_eq!(is_there().await, [false, false, false, false, true]);
    assert!(store.verify(&name).await.unwrap().is_intact());
}
