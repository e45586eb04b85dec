//! Where a history belongs that is read again.

use longhaul_store::{
    History, Kin, MemoryStore, Place, Selector, StoreError, SummaryStore, address_of,
    conformance::{block_on, record, session},
    locate,
};
use longhaul_transcript::{Message, Redacted, SessionId, SummaryRecord};

/// Returns messages: `s:` the system's, `u:` the user's, everything else the model's.
fn said(words: &[&str]) -> Vec<Redacted<Message>> {
    let message = |word: &&str| match word.split_once(':') {
        Some(("s", text)) => Message::system(text),
        Some(("u", text)) => Message::user(text),
        _ => Message::assistant(*word),
    };
    words.iter().map(|word| Redacted::assume(message(word))).collect()
}

async fn find(store: &MemoryStore, id: Option<&str>, history: &[Redacted<Message>]) -> Place {
    let id = id.map(session);
    locate(store, &History { id: id.as_ref(), named: None, said: history }).await.unwrap()
}

/// Finds the place of a history and stores it there.
async fn keep(store: &MemoryStore, id: Option<&str>, words: &[&str]) -> Place {
    let history = said(words);
    let place = find(store, id, &history).await;
    place.enter(store, &history, 1).await.unwrap();
    place
}

/// Compacts `words` all but the last `kept`, stores that, and returns the history as it was written.
async fn compacted(
    store: &MemoryStore,
    id: Option<&str>,
    history: &[Redacted<Message>],
    kept: usize,
    text: &str,
) -> (Place, Vec<Redacted<Message>>) {
    let place = find(store, id, history).await;
    place.enter(store, history, 1).await.unwrap();
    let end = history.len() - kept;
    let mut made: SummaryRecord = record(&session("any"), None, end as u64, text).into_inner();
    made.parent = place.summary().map(|summary| summary.id.clone());
    // Under the session's ordinals.
    let ordinal = |at: u64| place.ordinals[at as usize];
    made.covered.retain_mut(|covered| {
        ordinal(covered.ordinal).is_some_and(|ordinal| {
            covered.ordinal = ordinal;
            true
        })
    });
    made.kept = longhaul_transcript::Span::runs(place.ordinals[end..].iter().copied().flatten());
    let emitted: Vec<_> = history[end..].iter().map(address_of).collect();
    let made = place.record(store, history, &made, &emitted, 1).await.unwrap();
    let mut written = vec![history[0].clone(), Redacted::assume(made.to_message())];
    written.extend_from_slice(&history[end..]);
    (place, written)
}

const OPENING: [&str; 4] = ["s:be brief", "u:hello", "hi", "u:my account"];

#[test]
fn a_history_without_an_id_goes_on_where_all_that_is_stored_is_its_beginning() {
    block_on(async {
        let store = MemoryStore::new();
        let place = keep(&store, None, &OPENING).await;
        let grown = [&OPENING[..], &["which one?", "u:the blue one"]].concat();
        let again = find(&store, None, &said(&grown)).await;
        assert_eq!((&again.session, again.new, &again.kin), (&place.session, 4, &Kin::Known));
        keep(&store, None, &grown).await;
        // An earlier state, another end, and other words in the middle are none of its business.
        for other in [
            &OPENING[..],
            &[&OPENING[..], &["which one?", "u:the red one"]].concat(),
            &["s:be brief", "u:hello", "ho"],
        ] {
            let other = find(&store, None, &said(other)).await;
            assert_eq!((other.kin, other.new), (Kin::New, 0));
            assert_ne!(other.session, place.session);
        }
    });
}

#[test]
fn an_opening_alone_joins_nothing() {
    block_on(async {
        let store = MemoryStore::new();
        // The instructions and "hello" open thousands of conversations.
        let first = keep(&store, None, &["s:be brief", "u:hello", "hi"]).await;
        let grown = find(&store, None, &said(&["s:be brief", "u:hello", "hi", "u:I am Bobby"])).await;
        assert_eq!(grown.kin, Kin::New);
        let again = find(&store, None, &said(&["s:be brief", "u:hello", "hi"])).await;
        assert_eq!(again.kin, Kin::New);
        assert_ne!(again.session, first.session, "the name is taken");
        // Nor does one that two stored conversations begin with.
        let store = MemoryStore::new();
        keep(&store, None, &[&OPENING[..], &["a", "u:b"]].concat()).await;
        let short = keep(&store, None, &OPENING).await;
        let grown =
            find(&store, None, &said(&[&OPENING[..], &["which one?", "u:the red one"]].concat())).await;
        assert_ne!(grown.session, short.session);
        assert_eq!(grown.kin, Kin::New);
    });
}

#[test]
fn what_a_model_did_for_one_request_tells_it_from_others() {
    block_on(async {
        let store = MemoryStore::new();
        let steps = ["u:fix it", "a", "b", "c", "d", "e", "f", "g", "h"];
        let place = keep(&store, None, &steps).await;
        let again = find(&store, None, &said(&[&steps[..], &["i"]].concat())).await;
        assert_eq!((&again.session, again.new, &again.kin), (&place.session, 9, &Kin::Known));
        for other in [&steps[..8], &[&steps[..8], &["another h"]].concat()] {
            assert_eq!(find(&store, None, &said(other)).await.kin, Kin::New);
        }
    });
}

#[test]
fn a_summary_that_was_forgotten_does_not_come_back() {
    block_on(async {
        let store = MemoryStore::new();
        let history = said(&[&OPENING[..], &["which one?", "u:the blue one"]].concat());
        let (place, _) = compacted(&store, Some("s"), &history, 2, "The secret is out.").await;
        let id = store.head(&place.session).await.unwrap().unwrap().id;
        store.forget(&place.session, &Selector::Matching("secret is out".into()), 2).await.unwrap();
        let made = record(&session("any"), None, 4, "The secret is out.").into_inner();
        assert_eq!(made.id, id, "made again");
        let again = find(&store, Some("s"), &history).await;
        let refused = again.record(&store, &history, &made, &[], 3).await.unwrap_err();
        assert!(matches!(refused, StoreError::RecordForgotten { .. }), "{refused}");
        assert_eq!(store.head(&place.session).await.unwrap(), None);
    });
}

#[test]
fn a_name_that_the_user_gives_says_which_it_is() {
    block_on(async {
        let store = MemoryStore::new();
        let first = keep(&store, None, &["s:be brief", "u:hello", "hi"]).await;
        let grown = said(&["s:be brief", "u:hello", "hi", "u:I am Bobby"]);
        let history = History { id: None, named: Some(&first.session), said: &grown };
        let place = locate(&store, &history).await.unwrap();
        assert_eq!((place.session, place.kin), (first.session.clone(), Kin::Known));
        let other = said(&["s:be brief", "u:good evening"]);
        let place = locate(&store, &History { said: &other, ..history }).await.unwrap();
        assert_eq!(place.kin, Kin::New);
    });
}

#[test]
fn a_file_that_names_its_session_branches_where_it_differs() {
    block_on(async {
        let store = MemoryStore::new();
        keep(&store, Some("file"), &["u:a", "b", "u:c", "d"]).await;
        let rewound = find(&store, Some("file"), &said(&["u:a", "b"])).await;
        assert_eq!((rewound.session.as_str(), &rewound.kin, rewound.new), ("file", &Kin::Known, 2));
        let other = keep(&store, Some("file"), &["u:a", "b", "u:x"]).await;
        assert_eq!(other.kin, Kin::Branch { of: session("file"), at: 2 });
        assert!(other.session.as_str().starts_with("file-"), "{}", other.session);
        // From then on both go on where they are, and a third leaves the one that it has most in common with.
        let grown = find(&store, Some("file"), &said(&["u:a", "b", "u:x", "y"])).await;
        assert_eq!((&grown.session, grown.kin), (&other.session, Kin::Known));
        let base = find(&store, Some("file"), &said(&["u:a", "b", "u:c", "d", "e"])).await;
        assert_eq!((base.session.as_str(), base.kin), ("file", Kin::Known));
        let third = find(&store, Some("file"), &said(&["u:a", "b", "u:x", "z"])).await;
        assert_eq!(third.kin, Kin::Known, "all that is stored is its beginning");
        keep(&store, Some("file"), &["u:a", "b", "u:x", "y"]).await;
        let third = find(&store, Some("file"), &said(&["u:a", "b", "u:x", "z"])).await;
        assert_eq!(third.kin, Kin::Branch { of: other.session, at: 3 });
        let held =
            store.originals(&session("file"), longhaul_transcript::Span { start: 0, end: 9 }).await.unwrap();
        assert_eq!(held.len(), 4, "nothing was added to the first");
    });
}

#[test]
fn continuations_of_one_compacted_history_are_branches() {
    block_on(async {
        for id in [None, Some("file")] {
            let store = MemoryStore::new();
            let (first, written) = compacted(&store, id, &said(&OPENING), 2, "They said hello.").await;
            let left = [written.clone(), said(&["u:left"])].concat();
            let right = [written.clone(), said(&["u:right", "yes"])].concat();
            let (place, left_written) = compacted(&store, id, &left, 1, "Left.").await;
            assert_eq!((&place.session, &place.kin), (&first.session, &Kin::Known));
            let (branch, right_written) = compacted(&store, id, &right, 1, "Right.").await;
            assert_eq!(branch.kin, Kin::Branch { of: first.session.clone(), at: 4 });
            for (history, place) in [(&left_written, &place), (&right_written, &branch)] {
                let again = find(&store, id, &[history.clone(), said(&["u:on"])].concat()).await;
                assert_eq!((&again.session, &again.kin), (&place.session, &Kin::Known));
            }
            let texts = async |session: &SessionId| {
                let chain = store.chain(session).await.unwrap();
                chain.iter().map(|record| record.text.clone()).collect::<Vec<_>>()
            };
            assert_eq!(texts(&place.session).await, ["They said hello.", "Left."]);
            assert_eq!(texts(&branch.session).await, ["They said hello.", "Right."]);
            for session in [&place.session, &branch.session] {
                assert!(store.verify(session).await.unwrap().is_intact());
            }
        }
    });
}

#[test]
fn what_was_edited_among_the_kept_messages_is_a_branch_without_what_came_after() {
    block_on(async {
        let store = MemoryStore::new();
        let words = [&OPENING[..], &["which one?", "u:the blue one", "fine"]].concat();
        let (first, written) = compacted(&store, None, &said(&words), 3, "They said hello.").await;
        let mut edited = written.clone();
        edited[3] = said(&["u:the red one"]).remove(0);
        let (place, _) = compacted(&store, None, &edited, 1, "Red.").await;
        assert_eq!(place.kin, Kin::Branch { of: first.session.clone(), at: 5 });
        assert_eq!(place.ordinals, [None, None, Some(4), Some(5), Some(6)]);
        let held =
            store.originals(&place.session, longhaul_transcript::Span { start: 0, end: 99 }).await.unwrap();
        let held: Vec<_> = held.iter().flat_map(|held| held.message.as_ref().unwrap().texts()).collect();
        assert_eq!(held, ["be brief", "hello", "hi", "my account", "which one?", "the red one", "fine"]);
        let chain = store.chain(&place.session).await.unwrap();
        assert_eq!(chain[0].kept, [longhaul_transcript::Span { start: 4, end: 5 }]);
    });
}

#[test]
fn an_earlier_compaction_is_put_back_in_force_where_its_history_goes_on() {
    block_on(async {
        let store = MemoryStore::new();
        let (first, small) = compacted(&store, None, &said(&OPENING), 1, "Small.").await;
        compacted(&store, None, &said(&OPENING), 2, "Large.").await;
        let grown = [small, said(&["u:on"])].concat();
        let (place, _) = compacted(&store, None, &grown, 1, "On.").await;
        assert_eq!(place.session, first.session);
        let chain = store.chain(&place.session).await.unwrap();
        assert_eq!(chain.iter().map(|record| record.text.as_str()).collect::<Vec<_>>(), ["Small.", "On."]);
        assert!(store.verify(&place.session).await.unwrap().is_intact());
    });
}

#[test]
fn a_summary_that_nobody_holds_or_that_was_changed_is_a_message_like_any_other() {
    block_on(async {
        let store = MemoryStore::new();
        let (_, mut written) = compacted(&store, None, &said(&OPENING), 1, "They said hello.").await;
        let text = written[1].texts().collect::<String>().replace("hello", "goodbye");
        written[1] = Redacted::assume(Message::user(text));
        let place = find(&store, None, &written).await;
        assert_eq!((&place.kin, place.summary()), (&Kin::New, None));
        let (place, _) = compacted(&store, None, &written, 1, "Again.").await;
        assert_eq!(store.chain(&place.session).await.unwrap().len(), 1);
    });
}
