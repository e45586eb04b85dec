//! Originals: added once, found again, given back as they were.

use std::sync::Arc;

use longhaul_transcript::{
    CallKind, ContentHash, Media, MediaKind, Message, Opaque, Outcome, Part, RawJson, Reasoning, Redacted,
    Role, Span, ToolCall, ToolResult,
};

use super::{said, session};
use crate::{Change, EventKind, ForkedFrom, Hit, StoreError, StoredSession, SummaryStore};

pub(super) async fn adding_the_same_again_changes_nothing(store: &impl SummaryStore) {
    let name = session("grown");
    let talk = ["one", "two", "three", "four"].map(said);
    assert_eq!(store.state(&name).await.unwrap(), None);
    let first = store.journal(&name, 0, &talk[..2], 1).await.unwrap();
    assert_eq!((first.total, first.new), (2, Span { start: 0, end: 2 }));
    let events = store.require(&name).await.unwrap().events;
    let again = store.journal(&name, 0, &talk[..2], 2).await.unwrap();
    assert!(again.new.is_empty() && again.total == 2, "{again:?}");
    assert_eq!(store.require(&name).await.unwrap().events, events, "a repetition is no event");
    let grown = store.journal(&name, 1, &talk[1..], 3).await.unwrap();
    assert_eq!((grown.total, grown.new), (4, Span { start: 2, end: 4 }));
    let texts: Vec<_> = store.originals(&name, Span { start: 0, end: 99 }).await.unwrap();
    let texts: Vec<_> =
        texts.into_iter().map(|original| original.message.unwrap().texts().collect::<String>()).collect();
    assert_eq!(texts, ["one", "two", "three", "four"]);
    assert!(store.originals(&name, Span { start: 7, end: 9 }).await.unwrap().is_empty());
    assert!(store.journal(&name, 4, &[], 4).await.unwrap().new.is_empty());
    let span = store.extend(&name, &[said("five")], 5).await.unwrap();
    assert_eq!(span, Span { start: 4, end: 5 });
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn another_history_is_refused(store: &impl SummaryStore) {
    let name = session("edited");
    store.journal(&name, 0, &["one", "two"].map(said), 1).await.unwrap();
    let edited = store.journal(&name, 0, &["one", "zwei", "three"].map(said), 2).await.unwrap_err();
    assert!(matches!(edited, StoreError::Diverged { ordinal: 1, .. }), "{edited}");
    let gap = store.journal(&name, 3, &[said("four")], 2).await.unwrap_err();
    assert!(matches!(gap, StoreError::Gap { held: 2, given: 3, .. }), "{gap}");
    assert_eq!(store.require(&name).await.unwrap().messages, 2);
    let unknown = store.undo(&session("nobody"), 1).await.unwrap_err();
    assert!(matches!(unknown, StoreError::UnknownSession { .. }), "{unknown}");
}

pub(super) async fn every_kind_of_message_comes_back(store: &impl SummaryStore) {
    let name = session("kinds");
    let hash = ContentHash::of(b"x");
    let mut call = ToolCall::function("c1", "bash", "{\"command\" :\"ls\\u00e9\"}");
    call.kind = CallKind::Custom;
    let media = Media {
        kind: MediaKind::Image,
        media_type: "image/png".into(),
        source: String::new(),
        bytes: 9,
        pixels: Some((1, 2)),
        pages: None,
        hash,
    };
    let messages = vec![
        Message::system(""),
        Message::user("\0\u{feff}\u{202e} e\u{301} 漢字 🏳️‍🌈 \r\n'; DROP TABLE contents; --"),
        Message::new(Role::Developer, Vec::new()),
        Message::new(Role::Assistant, vec![Part::Text("a".repeat(300_000)), Part::ToolCall(call)]),
        Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c1", "out", Outcome::Failed))]),
        Message::new(
            Role::Assistant,
            vec![
                Part::Media(media),
                Part::Reasoning(Reasoning { text: "because".into(), opaque_bytes: 7, hash }),
                Part::Opaque(Opaque { kind: "k".into(), raw: RawJson("{\"a\": 1e2}".into()), pair_id: None }),
            ],
        ),
    ];
    let given: Vec<_> = messages.iter().cloned().map(Redacted::assume).collect();
    store.journal(&name, 0, &given, i64::MIN).await.unwrap();
    let back = store.originals(&name, Span { start: 0, end: 6 }).await.unwrap();
    let back: Vec<_> = back.into_iter().map(|original| original.message.unwrap()).collect();
    assert_eq!(back, messages);
    assert!(store.verify(&name).await.unwrap().is_intact());
}

pub(super) async fn words_find_originals_and_nothing_else_has_a_meaning(store: &impl SummaryStore) {
    let (here, there) = (session("here"), session("there"));
    let talk = ["The panic in src/lib.rs:42", "nothing", "another Panic, src/main.rs", "読む file"].map(said);
    store.journal(&here, 0, &talk, 1).await.unwrap();
    store.journal(&there, 0, &[said("panic elsewhere, src lib")], 2).await.unwrap();
    let found = async |query: &str| {
        let hits = store.search(Some(&here), query, 10).await.unwrap();
        hits.into_iter().map(|hit| hit.id.ordinal).collect::<Vec<_>>()
    };
    assert_eq!(found("panic").await, [2, 0]);
    assert_eq!(found("PANIC src").await, [2, 0]);
    assert_eq!(found("src/lib.rs").await, [0]);
    assert_eq!(found("lib.rs:42 panic").await, [0]);
    assert_eq!(found("読").await, [3]);
    assert_eq!(found("pani").await, [0; 0]);
    for odd in
        ["", "  ", "*", "\"", "\" OR \"", "()", "^-:+", "NEAR(", "%", "_", "'", "\\", "\0", "{text}", "a\"b"]
    {
        assert_eq!(found(odd).await, [0; 0], "{odd:?}");
        assert_eq!(
            found(&format!("panic {odd} 42")).await.len(),
            usize::from(!odd.contains(['N', 't', 'a', 'O']))
        );
    }
    assert_eq!(found("panic OR nothing").await, [0; 0], "operators are words");
    assert_eq!(found("panic NOT 42").await, [0; 0], "operators are words");
    let everywhere = store.search(None, "panic", 10).await.unwrap();
    assert_eq!(everywhere.len(), 3);
    assert_eq!(store.search(None, "panic", 2).await.unwrap().len(), 2);
    assert!(store.search(Some(&session("nobody")), "panic", 2).await.unwrap().is_empty());
}

pub(super) async fn the_best_hits_come_first(store: &impl SummaryStore) {
    let name = session("best");
    let mut talk = vec![said("the limit is in src/part_17.rs"), said("of part 17 nothing is left")];
    talk.extend((0..90).map(|nth| said(&format!("{nth} rs: the src of 17 tools, and another part"))));
    store.journal(&name, 0, &talk, 1).await.unwrap();
    let ordinals = |hits: Vec<Hit>| hits.into_iter().map(|hit| hit.id.ordinal).collect::<Vec<_>>();
    let found = async |query: &str| ordinals(store.search(Some(&name), query, 3).await.unwrap());
    assert_eq!(found("src/part_17.rs").await, [0, 91, 90], "as it is written, then the newest");
    assert_eq!(found("part 17").await[..2], [1, 0], "as it is written, then closest together");
    assert_eq!(found("part nowhere 17 left").await, [0; 0]);
    let some = async |query: &str| ordinals(store.search_some(Some(&name), query, 3).await.unwrap());
    assert_eq!(some("part nowhere 17 left").await, [1], "it holds the most");
    assert_eq!(some("src nowhere").await, [91, 90, 89]);
    assert_eq!(some("nowhere").await, [0; 0]);
}

pub(super) async fn sessions_have_other_names(store: &impl SummaryStore) {
    let (first, second) = (session("first"), session("second"));
    store.journal(&first, 0, &[said("a")], 1).await.unwrap();
    store.journal(&second, 0, &[said("b")], 2).await.unwrap();
    store.set_alias(&session("mine"), &first).await.unwrap();
    assert_eq!(store.resolve("mine").await.unwrap(), first);
    store.set_alias(&session("mine"), &second).await.unwrap();
    assert_eq!(store.resolve("mine").await.unwrap(), second);
    assert_eq!(store.resolve("first").await.unwrap(), first);
    for odd in ["third", "../first", "", "first\0", "fir%"] {
        let error = store.resolve(odd).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownSession { .. }), "{odd:?}: {error}");
    }
    let listed = store.sessions().await.unwrap();
    let names: Vec<_> = listed.iter().map(|info| (info.session.as_str(), info.aliases.len())).collect();
    assert_eq!(names, [("second", 1), ("first", 0)]);
}

pub(super) async fn a_name_does_not_take_the_place_of_another_conversation(store: &impl SummaryStore) {
    let (first, second) = (session("first"), session("second"));
    store.journal(&first, 0, &[said("a")], 1).await.unwrap();
    store.journal(&second, 0, &[said("b")], 2).await.unwrap();
    // The id of another conversation is that one's own, whatever bears its name; of the same one it leads to where that goes on.
    store.set_alias(&first, &second).await.unwrap();
    assert_eq!(store.resolve("first").await.unwrap(), first);
    let (branch, twig) = (session("first-b1"), session("first-b2"));
    let state = store.branch(&first, &branch, 1, &[], 3).await.unwrap();
    store.fork(&branch, &twig, None, 4).await.unwrap();
    store.set_alias(&first, &twig).await.unwrap();
    assert_eq!(store.resolve("first").await.unwrap(), twig);
    assert!(!store.comes_from(&first, &twig).await.unwrap());
    // One that says so without having it.
    let forged = session("forged");
    let from = ForkedFrom { session: second.clone(), hash: state.forked_from.unwrap().hash };
    let opened = EventKind::Opened { forked_from: Some(from) };
    let decide = move |_: &StoredSession| Ok(Change::of(5, Some(opened.clone())));
    store.transact(&forged, Arc::new(decide)).await.unwrap();
    store.set_alias(&second, &forged).await.unwrap();
    assert_eq!(store.resolve("second").await.unwrap(), second);
}

pub(super) async fn the_cache_gives_back_what_it_was_given(store: &impl SummaryStore) {
    let key = ContentHash::of(b"span, model, prompt");
    assert_eq!(store.cached(&key).await.unwrap(), None);
    for value in [b"once".to_vec(), vec![0; 100_000], Vec::new()] {
        store.cache(&key, &Redacted::assume(value.clone())).await.unwrap();
        assert_eq!(store.cached(&key).await.unwrap(), Some(value));
    }
    let other = ContentHash::of(b"another");
    store.cache(&other, &Redacted::assume(b"else".to_vec())).await.unwrap();
    let all = store.all_cached(&[other, ContentHash::of(b"none"), key, other]).await.unwrap();
    assert_eq!(all, [Some(b"else".to_vec()), None, Some(Vec::new()), Some(b"else".to_vec())]);
}
