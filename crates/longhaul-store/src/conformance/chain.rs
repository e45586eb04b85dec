//! Records: on top of the head, taken back, put back, carried on elsewhere.

use std::{slice, sync::Arc};

use longhaul_transcript::Span;

use super::{record, said, session};
use crate::{Change, EventKind, Selector, Step, StoreError, StoredSession, SummaryStore, address_of};

pub(super) async fn a_record_needs_the_head_as_its_parent(store: &impl SummaryStore) {
    let name = session("chain");
    store.journal(&name, 0, &["a", "b", "c", "d"].map(said), 1).await.unwrap();
    let first = record(&name, None, 2, "first");
    let state = store.append(&name, &first).await.unwrap();
    assert_eq!(state.head(), Some(&first.id));
    let again = store.append(&name, &first).await.unwrap();
    assert_eq!(again, state, "the head again is no event");
    let rival = store.append(&name, &record(&name, None, 3, "rival")).await.unwrap_err();
    assert!(
        matches!(&rival, StoreError::Conflict { found: Some(found), .. } if *found == first.id),
        "{rival}"
    );
    let second = record(&name, Some(&first), 4, "second");
    store.append(&name, &second).await.unwrap();
    let chain: Vec<_> = store.chain(&name).await.unwrap();
    assert_eq!(chain, [(*first).clone(), (*second).clone()]);
    assert_eq!(store.head(&name).await.unwrap().unwrap(), *second);
    assert_eq!(store.record(&name, &first.id).await.unwrap().unwrap(), *first);
    assert!(store.append(&name, &first).await.is_err(), "an older record is not the head");
    let verified = store.verify(&name).await.unwrap();
    assert_eq!((verified.records, verified.originals, verified.problem), (2, 4, None));
}

pub(super) async fn undo_and_redo_are_events(store: &impl SummaryStore) {
    let name = session("undo");
    store.journal(&name, 0, &["a", "b"].map(said), 1).await.unwrap();
    assert_eq!(store.undo(&name, 2).await.unwrap(), None);
    let first = record(&name, None, 1, "first");
    let second = record(&name, Some(&first), 2, "second");
    store.append(&name, &first).await.unwrap();
    store.append(&name, &second).await.unwrap();
    let other = store.take_back(&name, &first.id, 3).await.unwrap_err();
    assert!(
        matches!(&other, StoreError::Conflict { found: Some(found), .. } if *found == second.id),
        "only the last is taken back: {other}"
    );
    assert_eq!(store.to_undo(&name).await.unwrap(), Some(second.id.clone()));
    assert_eq!(store.undo(&name, 3).await.unwrap(), Some(second.id.clone()));
    assert_eq!(store.require(&name).await.unwrap().undone, std::slice::from_ref(&second.id));
    assert_eq!(store.undo(&name, 4).await.unwrap(), Some(first.id.clone()));
    assert_eq!(store.undo(&name, 5).await.unwrap(), None);
    assert_eq!(store.head(&name).await.unwrap(), None);
    assert_eq!(store.redo(&name, 6).await.unwrap(), Some(first.id.clone()));
    assert_eq!(store.redo(&name, 7).await.unwrap(), Some(second.id.clone()));
    assert_eq!(store.redo(&name, 8).await.unwrap(), None);
    assert_eq!(store.head(&name).await.unwrap().unwrap().id, second.id);
    store.undo(&name, 9).await.unwrap();
    let other = record(&name, Some(&first), 2, "other");
    store.append(&name, &other).await.unwrap();
    assert_eq!(store.redo(&name, 10).await.unwrap(), None, "a new compaction ends what could be redone");
    assert_eq!(store.record(&name, &second.id).await.unwrap().unwrap(), *second, "nothing is lost");
    let kinds: Vec<_> =
        store.events(&name, 0, 99).await.unwrap().iter().map(|event| event.kind.name()).collect();
    let expected = [
        "opened", "originals", "compacted", "compacted", "undone", "undone", "redone", "redone", "undone",
        "compacted",
    ];
    assert_eq!(kinds, expected);
    assert!(store.withdraw(&name, &first.id, 11).await.is_err(), "only the last is withdrawn");
    let on_it = record(&name, Some(&other), 2, "on the other");
    store.append(&name, &on_it).await.unwrap();
    store.undo(&name, 12).await.unwrap();
    let state = store.withdraw(&name, &other.id, 13).await.unwrap();
    assert_eq!((state.head(), state.undone.len()), (Some(&first.id), 0));
    let redone = store.redo(&name, 14).await.unwrap();
    assert_eq!(redone, None, "what nobody got does not come back, nor what was built on it");
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn a_restored_range_is_noted_and_returned(store: &impl SummaryStore) {
    let name = session("restore");
    store.journal(&name, 0, &["a", "b", "c"].map(said), 1).await.unwrap();
    let back = store.restore(&name, Span { start: 1, end: 99 }, 2).await.unwrap();
    assert_eq!(back.iter().map(|original| original.ordinal).collect::<Vec<_>>(), [1, 2]);
    let noted = store.events(&name, 2, 9).await.unwrap();
    let noted: Vec<_> = noted.into_iter().map(|event| event.kind).collect();
    assert_eq!(noted, [EventKind::Restored { span: Span { start: 1, end: 3 } }]);
    assert!(store.restore(&name, Span { start: 3, end: 4 }, 3).await.unwrap().is_empty());
}

pub(super) async fn a_fork_goes_its_own_way(store: &impl SummaryStore) {
    let (name, into) = (session("trunk"), session("branch"));
    store.journal(&name, 0, &["a", "b", "c", "d"].map(said), 1).await.unwrap();
    let first = record(&name, None, 2, "first");
    let second = record(&name, Some(&first), 4, "second");
    store.append(&name, &first).await.unwrap();
    store.append(&name, &second).await.unwrap();
    let state = store.fork(&name, &into, Some(3), 5).await.unwrap();
    assert_eq!((state.messages, state.head()), (3, Some(&first.id)));
    assert_eq!(state.forked_from.as_ref().map(|from| &from.session), Some(&name));
    store.extend(&into, &[said("another way")], 6).await.unwrap();
    assert_eq!(store.originals(&into, Span { start: 0, end: 9 }).await.unwrap().len(), 4);
    assert_eq!(store.require(&name).await.unwrap().messages, 4);
    let exists = store.fork(&name, &into, None, 7).await.unwrap_err();
    assert!(matches!(exists, StoreError::SessionExists { .. }), "{exists}");
    for session in [&name, &into] {
        assert!(store.verify(session).await.unwrap().is_intact());
    }
}

pub(super) async fn sessions_are_found_by_their_beginning_and_their_origin(store: &impl SummaryStore) {
    let addresses = |words: &[&str]| -> Vec<_> { words.iter().map(|word| address_of(&said(word))).collect() };
    let found = async |words: &[&str]| {
        let mut found = store.sessions_beginning_with(&addresses(words)).await.unwrap();
        found.sort();
        found
    };
    let long: Vec<String> = (0..200).map(|nth| format!("{nth} {}", "and so on, ".repeat(90))).collect();
    let all_of_long: Vec<&str> = ["a", "b"].into_iter().chain(long.iter().map(String::as_str)).collect();
    let [short, other, grown, fork] = ["short", "other", "grown", "fork"].map(session);
    store.journal(&short, 0, &["a", "b", "c"].map(said), 1).await.unwrap();
    store.journal(&other, 0, &["a", "x", "c"].map(said), 1).await.unwrap();
    // One message at a time and many at once: a backend may keep them in different places.
    for (at, word) in all_of_long.iter().enumerate().take(20) {
        store.journal(&grown, at as u64, &[said(word)], 1).await.unwrap();
    }
    let said_of_long: Vec<_> = all_of_long.iter().map(|word| said(word)).collect();
    store.journal(&grown, 0, &said_of_long, 1).await.unwrap();
    assert_eq!(found(&["a", "b"]).await, [grown.clone(), short.clone()]);
    assert_eq!(found(&["a", "b", "c"]).await, slice::from_ref(&short));
    assert_eq!(found(&all_of_long).await, slice::from_ref(&grown));
    assert_eq!(found(&[]).await.len(), 3);
    for none in [&["b"][..], &["a", "c"], &["a", "b", "c", "d"], &["never said"]] {
        assert!(found(none).await.is_empty(), "{none:?}");
    }
    // What was destroyed is known by its address.
    let first = Selector::Originals(Span { start: 1, end: 2 });
    store.forget(&short, &first, 2).await.unwrap();
    assert_eq!(found(&["a", "b", "c"]).await, slice::from_ref(&short));
    assert!(store.forks_of(&grown).await.unwrap().is_empty());
    store.fork(&grown, &fork, Some(2), 3).await.unwrap();
    store.extend(&fork, &[said("another way")], 4).await.unwrap();
    assert_eq!(store.forks_of(&grown).await.unwrap(), slice::from_ref(&fork));
    assert_eq!(found(&["a", "b", "another way"]).await, [fork]);
}

pub(super) async fn a_decision_that_fails_writes_nothing(store: &impl SummaryStore) {
    let name = session("whole");
    let step = |kind| Step { at_ms: 1, kind, objects: Vec::new() };
    let impossible = move |state: &StoredSession| {
        let mut change = Change::opened(state, 1);
        change.steps.push(step(EventKind::Restored { span: Span { start: 5, end: 6 } }));
        Ok(change)
    };
    assert!(store.transact(&name, Arc::new(impossible)).await.is_err());
    assert_eq!(store.state(&name).await.unwrap(), None);
    store.journal(&name, 0, &[said("a")], 1).await.unwrap();
    let before = store.require(&name).await.unwrap();
    assert!(store.transact(&name, Arc::new(impossible)).await.is_err());
    let refused = |_: &StoredSession| Err(StoreError::Closed);
    assert!(store.transact(&name, Arc::new(refused)).await.is_err());
    assert_eq!(store.require(&name).await.unwrap(), before);
    assert!(store.verify(&name).await.unwrap().is_intact());
}
