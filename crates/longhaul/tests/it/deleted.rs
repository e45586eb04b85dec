//! Front ends that hand in their whole history, with a store that deletes what summaries take the place of: what is handed in again
//! is sent, and what nobody has any more is refused in words.

use std::sync::Arc;

use longhaul::{
    Config, Session, Synced,
    redact::Redactor,
    store::{History, Kin, MemoryStore, SummaryStore, locate},
    tokens::{CharsPer4, ContextWindow},
    transcript::{SessionId, Tokens},
    wire::{Document, Format, read},
};

type Store = Arc<dyn SummaryStore>;

/// Returns what the front end has with `n` questions, the last of which was edited or was not.
fn history(n: usize, is_edited: bool) -> Document {
    let question = |nth: usize| {
        let word = if is_edited && nth + 1 == n { "Edited" } else { "Question" };
        format!(r#"{{"role":"user","content":"{word} {nth}: {}"}}"#, "Look at it. ".repeat(30))
    };
    let answer = |nth: usize| format!(r#"{{"role":"assistant","content":"Answer {nth}."}}"#);
    let mut said: Vec<String> = (0..n).flat_map(|nth| [question(nth), answer(nth)]).collect();
    said.pop();
    read(Some(Format::OpenAi), format!("[{}]", said.join(",")).as_bytes()).unwrap()
}

async fn open(store: &Store, line: &SessionId) -> Session {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    let config = Config { delete_originals: true, ..Config::default() };
    let builder = Session::builder(line.clone(), window).counter(Arc::new(CharsPer4)).config(config);
    builder.store(Arc::clone(store)).open_line().await.unwrap()
}

/// Returns the texts of what is sent.
async fn sent(session: &mut Session) -> Vec<String> {
    let view = session.prepare().await.unwrap();
    view.messages().map(|message| message.texts().collect()).collect()
}

fn texts(document: &Document) -> Vec<String> {
    document.transcript().entries().iter().map(|entry| entry.message.texts().collect()).collect()
}

/// Nine messages were "[forgotten]" after a restart, in a view that `sync` called unchanged.
#[tokio::test]
async fn what_was_deleted_is_sent_where_a_front_end_hands_it_in_again() {
    for is_opened_again in [false, true] {
        let store: Store = Arc::new(MemoryStore::new());
        let name = SessionId::new("editor").unwrap();
        let mut session = open(&store, &name).await;
        for n in 1..40 {
            session.sync(&history(n, false)).await.unwrap();
            session.prepare().await.unwrap();
        }
        assert!(session.state().summary().is_some());
        if is_opened_again {
            session = open(&store, &name).await;
        }
        let edited = history(5, true);
        let change = session.sync(&edited).await.unwrap().change;
        assert_eq!(change, Synced::Edited { at: 8, n: 1 }, "{is_opened_again}");
        assert_eq!(sent(&mut session).await, texts(&edited), "{is_opened_again}");
        let line = session.line().clone();
        let mut session = open(&store, &line).await;
        assert_eq!(sent(&mut session).await, texts(&edited), "{is_opened_again}");
        assert_eq!(session.sync(&edited).await.unwrap().change, Synced::Unchanged);
        // Nobody has the words of what only a summary tells of.
        for n in 6..40 {
            session.sync(&history(n, false)).await.unwrap();
            session.prepare().await.unwrap();
        }
        let mut other = history(9, false).transcript().clone().entries().to_vec();
        other.remove(3);
        let said: longhaul::transcript::Transcript = other.into_iter().map(|entry| entry.message).collect();
        let json = longhaul::wire::encode(&said, Format::OpenAi).unwrap().document.as_bytes().to_vec();
        session.sync(&read(Some(Format::OpenAi), &*json).unwrap()).await.unwrap();
        assert!(!sent(&mut session).await.iter().any(|text| text == "[forgotten]"));
    }
}

/// After the first compaction every edit was refused as another conversation's.
#[tokio::test]
async fn what_was_deleted_is_sent_where_nothing_but_the_store_is_kept_between_requests() {
    let store: Store = Arc::new(MemoryStore::new());
    let id = SessionId::new("editor").unwrap();
    let request = async |came: Document| {
        let messages: Vec<_> = (0..).map_while(|ordinal| came.spelled(ordinal)).collect();
        let said = Redactor::builtin().redact_conversation(&messages);
        let place = locate(&store, &History { id: Some(&id), named: None, said: &said }).await.unwrap();
        if let Kin::Branch { .. } = place.kin {
            place.enter(&store, &said, 1).await.unwrap();
        }
        let mut session = open(&store, &place.session).await;
        session.sync(&came).await.unwrap();
        sent(&mut session).await
    };
    for n in 1..40 {
        request(history(n, false)).await;
    }
    for came in [history(5, true), history(5, true), history(6, false), history(6, false), history(7, true)] {
        assert_eq!(request(came.clone()).await, texts(&came));
    }
    let goes_on = request(history(40, false)).await;
    assert!(goes_on[0].starts_with("[Context Summary"), "{}", goes_on[0]);
    assert!(!goes_on.iter().any(|text| text == "[forgotten]"));
}
