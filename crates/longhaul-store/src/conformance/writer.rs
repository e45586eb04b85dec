//! A writer that says everything at once, how it was spelled, and where it stands.

use std::sync::Arc;

use longhaul_transcript::{Message, Raw, Redacted, Span, Speaker, SummaryRecord};

use super::{record, said, session};
use crate::{ChainStep, Commit, Selector, StoreError, SummaryStore, address_of};

/// Returns a message that says `text` and was spelled as `json`.
fn spelled(text: &str, json: &str) -> Redacted<Message> {
    let mut message = said(text).into_inner();
    message.raw = Some(Arc::new(Raw::new("openai", json)));
    Redacted::assume(message)
}

async fn originals(store: &impl SummaryStore, name: &str) -> Vec<Option<Message>> {
    let originals = store.originals(&session(name), Span { start: 0, end: 99 }).await.unwrap();
    originals.into_iter().map(|original| original.message).collect()
}

pub(super) async fn a_spelling_comes_back_beside_its_message(store: &impl SummaryStore) {
    let name = session("spelled");
    let mut harness = said("a reminder").into_inner();
    harness.speaker = Some(Speaker::Harness);
    let talk = [
        spelled("one", r#"{"role":"user", "content":"one","x":1}"#),
        said("two"),
        spelled("one", r#"{"role":"user","content":"one"}"#),
        Redacted::assume(harness),
        spelled("long", &"x ".repeat(40_000)),
    ];
    assert_eq!(address_of(&talk[0]), address_of(&talk[2]), "what is said is the same");
    store.journal(&name, 0, &talk[..2], 1).await.unwrap();
    store.journal(&name, 0, &talk, 2).await.unwrap();
    let given: Vec<_> = talk.iter().map(|message| Some((**message).clone())).collect();
    assert_eq!(originals(store, "spelled").await, given);
    // Spelled in another way it is still the same conversation, and what was kept first stays.
    let again = [said("one"), spelled("two", "{}")];
    assert!(store.journal(&name, 0, &again, 3).await.unwrap().new.is_empty());
    assert_eq!(originals(store, "spelled").await, given);
    assert!(store.verify(&name).await.unwrap().is_intact());
    store.fork(&name, &session("fork"), Some(3), 4).await.unwrap();
    assert_eq!(originals(store, "fork").await, given[..3]);
    let gone = store.forget(&name, &Selector::Matching("\"x\":1".into()), 5).await.unwrap();
    assert_eq!(gone.originals, [Span { start: 0, end: 1 }], "a spelling is searched too");
    assert_eq!(originals(store, "spelled").await[1..], given[1..]);
    assert_eq!(originals(store, "fork").await, given[..3], "another session holds it");
    for name in ["spelled", "fork"] {
        assert!(store.verify(&session(name)).await.unwrap().is_intact());
    }
    store.forget(&session("fork"), &Selector::Session, 6).await.unwrap();
    assert_eq!(originals(store, "fork").await, [None, None, None]);
    assert!(store.verify(&session("fork")).await.unwrap().is_intact());
    // Word for word in the way of the tail and in that of rows.
    let long: Vec<_> = (0..200).map(|n| spelled(&format!("word{n}"), &format!("{{\"n\":{n}}}"))).collect();
    let many = session("many");
    for (n, message) in long.iter().enumerate() {
        store.journal(&many, n as u64, std::slice::from_ref(message), 7).await.unwrap();
    }
    let back = store.originals(&many, Span { start: 0, end: 999 }).await.unwrap();
    let back: Vec<_> = back.into_iter().map(|original| original.message.unwrap()).collect();
    assert!(back.iter().eq(long.iter().map(|message| &**message)));
    assert!(store.verify(&many).await.unwrap().is_intact());
}

pub(super) async fn an_export_holds_spellings(store: &impl SummaryStore, other: &impl SummaryStore) {
    let name = session("spelled");
    let talk = [said("zero"), spelled("one", r#"{"content" : "one"}"#), spelled("two", "[2]")];
    store.journal(&name, 0, &talk, 1).await.unwrap();
    store.forget(&name, &Selector::Range(Span { start: 2, end: 3 }), 2).await.unwrap();
    let export = store.export(&name).await.unwrap();
    other.import(&export).await.unwrap();
    assert_eq!(originals(other, "spelled").await, originals(store, "spelled").await);
    assert_eq!(other.export(&name).await.unwrap(), export);
    assert!(other.verify(&name).await.unwrap().is_intact());
    let wrong = export.replace("\"content\\\" :", "\"content\\\":");
    assert_ne!(wrong, export);
    assert!(matches!(other.import(&wrong).await, Err(StoreError::NotAnExport { .. })));
}

pub(super) async fn a_commit_is_all_or_nothing(store: &impl SummaryStore) {
    let name = session("commit");
    let snapshot = |text: &str| Some(Redacted::assume(text.as_bytes().to_vec()));
    let first = record(&name, None, 1, "first");
    let append = |record: &Redacted<SummaryRecord>| ChainStep::Append(Box::new(record.clone()));
    let whole = Commit {
        messages: vec![said("one"), said("two")],
        chain: vec![append(&first)],
        snapshot: snapshot("at two"),
        at_ms: 1,
        ..Commit::default()
    };
    assert_eq!(store.snapshot(&name).await.unwrap(), None);
    let state = store.commit(&name, &whole).await.unwrap();
    assert_eq!((state.messages, state.head()), (2, Some(&first.id)));
    let held = store.snapshot(&name).await.unwrap().unwrap();
    assert_eq!((held.events, held.bytes.as_slice()), (state.events, b"at two".as_slice()));
    // Its answer may have been lost: the same again is no event.
    assert_eq!(store.commit(&name, &whole).await.unwrap(), state);

    // A record that does not follow takes nothing with it.
    let wrong = record(&name, None, 3, "wrong");
    let refused = Commit {
        start: 2,
        messages: vec![said("three")],
        chain: vec![append(&wrong)],
        snapshot: snapshot("wrong"),
        at_ms: 2,
        ..Commit::default()
    };
    let error = store.commit(&name, &refused).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(store.require(&name).await.unwrap(), state);
    assert_eq!(store.snapshot(&name).await.unwrap().unwrap(), held);

    // Undo, redo and a new end in one go; then a snapshot alone.
    let second = record(&name, Some(&first), 2, "second");
    let steps = vec![ChainStep::Undo(first.id.clone()), ChainStep::Redo(first.id.clone()), append(&second)];
    let more =
        Commit { start: 2, messages: vec![said("three")], chain: steps, at_ms: 3, ..Commit::default() };
    let state = store.commit(&name, &more).await.unwrap();
    assert_eq!((state.messages, state.chain.len()), (3, 2));
    assert_eq!(store.snapshot(&name).await.unwrap().unwrap(), held, "what is not replaced stays");
    let alone = Commit { start: 3, snapshot: snapshot("at three"), at_ms: 4, ..Commit::default() };
    assert_eq!(store.commit(&name, &alone).await.unwrap(), state);
    let held = store.snapshot(&name).await.unwrap().unwrap();
    assert_eq!((held.events, held.bytes.as_slice()), (state.events, b"at three".as_slice()));
    assert!(store.verify(&name).await.unwrap().is_intact());
    // It may quote what is forgotten.
    store.forget(&name, &Selector::Range(Span { start: 0, end: 1 }), 5).await.unwrap();
    assert_eq!(store.snapshot(&name).await.unwrap(), None);
    assert_eq!(store.sessions_with(&second.id).await.unwrap(), [], "it covers what was forgotten");
}

pub(super) async fn the_later_of_two_writers_is_told(store: &impl SummaryStore) {
    let name = session("two");
    let say = |start, text: &str| Commit {
        start,
        messages: vec![said(text)],
        snapshot: Some(Redacted::assume(text.as_bytes().to_vec())),
        ..Commit::default()
    };
    store.commit(&name, &say(0, "hello")).await.unwrap();
    store.commit(&name, &say(1, "from the first")).await.unwrap();
    let told = store.commit(&name, &say(1, "from the second")).await.unwrap_err();
    assert!(matches!(&told, StoreError::Overtaken { session, ordinal: 1 } if *session == name), "{told}");
    // Also one that has said nothing: it does not know where it is.
    let behind = Commit { start: 1, snapshot: Some(Redacted::assume(Vec::new())), ..Commit::default() };
    let told = store.commit(&name, &behind).await.unwrap_err();
    assert!(matches!(told, StoreError::Overtaken { ordinal: 1, .. }), "{told}");
    let ahead = store.commit(&name, &say(9, "far")).await.unwrap_err();
    assert!(matches!(ahead, StoreError::Gap { held: 2, given: 9, .. }), "{ahead}");
    assert_eq!(store.snapshot(&name).await.unwrap().unwrap().bytes, b"from the first");
    // Its words are kept where it branches.
    store.fork(&name, &session("branch"), Some(1), 2).await.unwrap();
    store.commit(&session("branch"), &say(1, "from the second")).await.unwrap();
    let texts = |held: Vec<Option<Message>>| -> Vec<String> {
        held.iter().flatten().map(|message| message.texts().collect()).collect()
    };
    assert_eq!(texts(originals(store, "two").await), ["hello", "from the first"]);
    assert_eq!(texts(originals(store, "branch").await), ["hello", "from the second"]);
}

pub(super) async fn what_changed_since_a_snapshot_stands_beside_it(store: &impl SummaryStore) {
    let name = session("since");
    let bytes = |text: &str| Some(Redacted::assume(text.as_bytes().to_vec()));
    store.journal(&name, 0, &[said("one")], 1).await.unwrap();
    let nothing = Commit { start: 1, since: bytes("of nothing"), ..Commit::default() };
    store.commit(&name, &nothing).await.unwrap();
    assert_eq!(store.snapshot(&name).await.unwrap(), None, "there is no snapshot that it could stand beside");

    let kept = async || {
        let kept = store.snapshot(&name).await.unwrap().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(kept.bytes), kept.since.map(text))
    };
    let snapshot = Commit { start: 1, snapshot: bytes("at one"), ..Commit::default() };
    store.commit(&name, &snapshot).await.unwrap();
    assert_eq!(kept().await, ("at one".to_owned(), None));
    let said_two =
        Commit { start: 1, messages: vec![said("two")], since: bytes("since one"), ..Commit::default() };
    let state = store.commit(&name, &said_two).await.unwrap();
    assert_eq!(kept().await, ("at one".to_owned(), Some("since one".to_owned())));
    let alone = Commit { start: 2, since: bytes("more"), ..Commit::default() };
    assert_eq!(store.commit(&name, &alone).await.unwrap(), state, "it is no event");
    assert_eq!(kept().await, ("at one".to_owned(), Some("more".to_owned())));
    let both = Commit { start: 2, snapshot: bytes("at two"), since: bytes("since two"), ..Commit::default() };
    store.commit(&name, &both).await.unwrap();
    assert_eq!(kept().await, ("at two".to_owned(), Some("since two".to_owned())));
    store.commit(&name, &Commit { start: 2, snapshot: bytes("again"), ..Commit::default() }).await.unwrap();
    assert_eq!(kept().await, ("again".to_owned(), None), "a snapshot takes its place");
    store.commit(&name, &alone).await.unwrap();
    assert!(store.verify(&name).await.unwrap().is_intact());
    store.forget(&name, &Selector::Range(Span { start: 0, end: 1 }), 2).await.unwrap();
    assert_eq!(store.snapshot(&name).await.unwrap(), None);
    store.commit(&name, &Commit { start: 2, snapshot: bytes("anew"), ..Commit::default() }).await.unwrap();
    assert_eq!(kept().await, ("anew".to_owned(), None), "what was forgotten does not come back");
}

pub(super) async fn a_writer_that_says_nothing_is_told_as_well(store: &impl SummaryStore) {
    let name = session("silent");
    let mark = async || store.snapshot(&name).await.unwrap().map(|held| held.mark());
    let bytes = |text: &str| Some(Redacted::assume(text.as_bytes().to_vec()));
    let fresh = |text: &str| Commit {
        messages: vec![said("hello")],
        snapshot: bytes(text),
        on: Some(Vec::new()),
        ..Commit::default()
    };
    store.commit(&name, &fresh("first")).await.unwrap();
    // The same again is its own; another that begins alike is not.
    store.commit(&name, &fresh("first")).await.unwrap();
    let told = store.commit(&name, &fresh("second")).await.unwrap_err();
    assert!(matches!(&told, StoreError::Changed { session } if *session == name), "{told}");

    let at = |mark: &[_], since: &str| Commit {
        start: 1,
        since: bytes(since),
        on: Some(mark.to_vec()),
        ..Commit::default()
    };
    let first = mark().await.unwrap();
    store.commit(&name, &at(&[first], "of one")).await.unwrap();
    store.commit(&name, &at(&[first], "of one")).await.unwrap();
    let told = store.commit(&name, &at(&[first], "of another")).await.unwrap_err();
    assert!(matches!(told, StoreError::Changed { .. }), "{told}");
    // Neither what is said nor a snapshot gets past it.
    let says = Commit { messages: vec![said("more")], snapshot: bytes("its own"), ..at(&[first], "") };
    let state = store.require(&name).await.unwrap();
    assert!(matches!(store.commit(&name, &says).await, Err(StoreError::Changed { .. })));
    assert_eq!(store.require(&name).await.unwrap(), state);
    assert_eq!(store.snapshot(&name).await.unwrap().unwrap().since.unwrap(), b"of one");
    // One whose answer was lost may name what it knew and what it tried.
    let of_one = mark().await.unwrap();
    store.commit(&name, &at(&[first, of_one], "of one, later")).await.unwrap();
    // Where it was forgotten, there is nothing that could be in the way.
    store.forget(&name, &Selector::Matching("nowhere".into()), 2).await.unwrap();
    store.forget(&name, &Selector::Range(Span { start: 0, end: 1 }), 3).await.unwrap();
    assert_eq!(mark().await, None);
    store.commit(&name, &at(&[first], "of nobody")).await.unwrap();
}
