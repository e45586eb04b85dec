//! The lines of a conversation: what its name stands for, and what goes when all of it is forgotten.

use longhaul_transcript::{SessionId, Span};

use super::{record, said, session};
use crate::{Selector, StoreError, SummaryStore};

const ALL: Span = Span { start: 0, end: u64::MAX };

/// Begins `into` as a branch of `of` after its first message, in which `text` is said, and has `name` stand for it.
async fn rewind(store: &impl SummaryStore, name: &str, of: &str, into: &str, text: &str) {
    store.branch(&session(of), &session(into), 1, &[], 2).await.unwrap();
    store.extend(&session(into), &[said(text)], 2).await.unwrap();
    store.set_alias(&session(name), &session(into)).await.unwrap();
}

/// Returns a store's conversation `talk`, which went back once, with a branch that somebody gave a name of their own.
async fn gone_back(store: &impl SummaryStore) -> SessionId {
    let name = session("talk");
    store.journal(&name, 0, &["shared begin", "left zebra"].map(said), 1).await.unwrap();
    store.append(&name, &record(&name, None, 1, "quoting zebra")).await.unwrap();
    store.branch(&name, &session("another"), 2, &[], 2).await.unwrap();
    rewind(store, "talk", "talk", "talk-b1", "taken giraffe").await;
    name
}

async fn words(store: &impl SummaryStore, name: &str) -> Vec<Option<String>> {
    let originals = store.originals(&session(name), ALL).await.unwrap();
    originals.into_iter().map(|original| Some(original.message?.texts().collect())).collect()
}

fn texts(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

pub(super) async fn a_name_stands_for_the_line_that_goes_on(store: &impl SummaryStore) {
    let name = gone_back(store).await;
    assert_eq!(words(store, "talk").await, texts(&["shared begin", "taken giraffe"]));
    let left = store.originals_in_line(&name, ALL).await.unwrap();
    assert_eq!(left[1].message.as_ref().unwrap().texts().collect::<String>(), "left zebra");
    for (word, in_name, in_line) in [("giraffe", 1, 0), ("zebra", 0, 1)] {
        assert_eq!(store.search(Some(&name), word, 9).await.unwrap().len(), in_name, "{word}");
        assert_eq!(store.search_some(Some(&name), word, 9).await.unwrap().len(), in_name, "{word}");
        assert_eq!(store.search_in_line(&name, word, 9).await.unwrap().len(), in_line, "{word}");
        assert_eq!(store.search_some_in_line(&name, word, 9).await.unwrap().len(), in_line, "{word}");
    }
    let lines = ["talk", "talk-b1"].map(session);
    for line in &lines {
        assert_eq!(store.lines(line).await.unwrap(), lines);
    }
    assert_eq!(store.lines(&session("another")).await.unwrap(), [session("another")]);
}

pub(super) async fn a_conversation_is_forgotten_in_all_its_lines<S: SummaryStore>(
    fresh: impl AsyncFn() -> S,
) {
    for asked in ["talk", "talk-b1", "talk-b2"] {
        let store = &fresh().await;
        let name = gone_back(store).await;
        rewind(store, "talk", "talk-b1", "talk-b2", "last lion").await;
        // A conversation of its own that was branched off this one, with a line of its own.
        rewind(store, "another", "another", "another-b1", "own okapi").await;
        let gone = store.forget(&session(asked), &Selector::Session, 5).await.unwrap();
        assert_eq!((gone.message_count(), gone.in_other_lines.len()), (2, 2), "{asked}");
        for word in ["shared", "zebra", "giraffe", "lion"] {
            let hits = store.search(None, word, 9).await.unwrap();
            assert!(hits.iter().all(|hit| hit.session.as_str().starts_with("another")), "{asked}: {hits:?}");
        }
        for line in ["talk", "talk-b1", "talk-b2"].map(session) {
            assert!(!store.export(&line).await.unwrap().contains("zebra"));
            assert!(store.state(&line).await.unwrap().unwrap().is_all_forgotten(), "{line}");
            assert!(store.verify(&line).await.unwrap().is_intact());
        }
        let listed = store.sessions().await.unwrap();
        let is_listed = |info: &&crate::SessionInfo| info.state.held() > 0;
        assert_eq!(listed.iter().filter(is_listed).count(), 2, "{listed:?}");
        assert_eq!(words(store, "another").await, texts(&["shared begin", "own okapi"]));
        assert!(store.forget(&name, &Selector::Session, 6).await.unwrap().is_empty());
        let unknown = store.forget(&session("nobody"), &Selector::Session, 6).await.unwrap_err();
        assert!(matches!(unknown, StoreError::UnknownSession { .. }), "{unknown}");
    }
}

pub(super) async fn an_export_shows_what_the_name_stood_for(
    store: &impl SummaryStore,
    other: &impl SummaryStore,
) {
    let name = session("talk");
    store.journal(&name, 0, &["shared begin", "left zebra"].map(said), 1).await.unwrap();
    other.import(&store.export(&name).await.unwrap()).await.unwrap();
    store.extend(&name, &[said("left too")], 1).await.unwrap();
    let mut exports = Vec::new();
    for (of, into, text) in [("talk", "talk-b1", "taken giraffe"), ("talk-b1", "talk-b2", "last lion")] {
        rewind(store, "talk", of, into, text).await;
        exports.push(store.export(&name).await.unwrap());
        // Over an older export as into an empty store.
        other.import(&exports[exports.len() - 1]).await.unwrap();
        assert_eq!(words(other, "talk").await, texts(&["shared begin", text]));
        assert_eq!(other.export(&name).await.unwrap(), exports[exports.len() - 1]);
    }
    other.import(&exports[0]).await.unwrap();
    assert_eq!(
        words(other, "talk").await,
        texts(&["shared begin", "last lion"]),
        "an older one moves no name back"
    );
    let empty = crate::MemoryStore::new();
    empty.import(&exports[1]).await.unwrap();
    assert_eq!(words(&empty, "talk").await, texts(&["shared begin", "last lion"]));
}
