//! Two who write one session at once: neither loses a word, and who is overtaken is told.

use std::sync::Arc;

use longhaul_store::{MemoryStore, SummaryStore};
use longhaul_tokens::CharsPer4;
use longhaul_transcript::{FixedClock, SessionId, Span};

use super::{
    kept_tests::{WINDOW, request, shown, turn},
    *,
};

/// Opens `name` and keeps what it is told.
pub(super) async fn writer(
    store: &Arc<dyn SummaryStore>,
    name: &str,
    overtaken: Overtaken,
) -> (Session, Arc<std::sync::Mutex<Vec<String>>>) {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let builder = Session::builder(SessionId::new(name).unwrap(), WINDOW).store(Arc::clone(store));
    let builder = builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000)));
    let builder = builder.when_overtaken(overtaken).observer(move |event: &crate::Event| {
        if matches!(event.kind, EventKind::Branched { .. }) {
            log.lock().unwrap().push(event.to_string());
        }
    });
    (builder.open().await.unwrap(), told)
}

#[tokio::test]
async fn an_undo_of_what_another_writer_went_on_from_is_no_undo_of_theirs() {
    for overtaken in [Overtaken::Stop, Overtaken::Branch] {
        let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
        let (mut one, told) = writer(&store, "kept", overtaken).await;
        (0..14).for_each(|nth| turn(&mut one, nth));
        one.compact(None).await.unwrap();
        (14..24).for_each(|nth| turn(&mut one, nth));
        one.save().await.unwrap();
        let before = shown(&one);
        // The other one says nothing.
        let (mut other, _) = writer(&store, "kept", Overtaken::Stop).await;
        other.compact(None).await.unwrap();
        let head = other.state().summary().map(|record| record.id.clone());
        let undone = one.undo().await;
        let in_force = store.state(other.line()).await.unwrap().unwrap();
        assert_eq!(in_force.head(), head.as_ref(), "theirs stands");
        match overtaken {
            Overtaken::Stop => {
                let error = undone.unwrap_err();
                assert!(matches!(error, Error::Store(StoreError::Conflict { .. })), "{error:?}");
                assert_eq!(shown(&one), before);
            }
            Overtaken::Branch => {
                assert!(undone.unwrap() && one.state().summary().is_none());
                assert_eq!((told.lock().unwrap().len(), one.line().as_str()), (1, "kept-b1"));
                let (again, _) = writer(&store, "kept-b1", Overtaken::Stop).await;
                assert_eq!(shown(&again), shown(&one));
            }
        }
    }
}

#[tokio::test]
async fn another_writer_is_told_before_a_word_is_lost() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let (mut one, _) = writer(&store, "kept", Overtaken::Stop).await;
    turn(&mut one, 0);
    one.prepare().await.unwrap();
    let (mut other, _) = writer(&store, "kept", Overtaken::Stop).await;
    turn(&mut other, 1);
    other.prepare().await.unwrap();
    turn(&mut one, 2);
    let error = one.prepare().await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Overtaken { ordinal: 4, .. })), "{error:?}");
    let line = error.to_string();
    assert!(line.starts_with("somebody else went on in session kept: its message m4 "), "{line}");
}

#[tokio::test]
async fn another_writer_is_told_where_nothing_was_said() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let (mut begun, _) = writer(&store, "kept", Overtaken::Stop).await;
    turn(&mut begun, 0);
    begun.prepare().await.unwrap();
    drop(begun);

    let (mut one, _) = writer(&store, "kept", Overtaken::Stop).await;
    let (mut stops, _) = writer(&store, "kept", Overtaken::Stop).await;
    let (mut branches, told) = writer(&store, "kept", Overtaken::Branch).await;
    for session in [&mut stops, &mut branches] {
        request(session, 30).await.unwrap();
    }
    // One learns of its request, which the others know nothing of.
    request(&mut one, 20).await.unwrap();
    one.prepare().await.unwrap();
    let error = stops.prepare().await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Changed { .. })), "{error:?}");
    branches.prepare().await.unwrap();
    let line = "somebody else went on with kept after 4 messages; this conversation goes on as kept-b1";
    assert_eq!(*told.lock().unwrap(), [line]);

    // A pin is written with a snapshot.
    let (mut other, told) = writer(&store, "kept", Overtaken::Branch).await;
    let task = one.state().originals().get(0).unwrap().id;
    one.pin(task).await.unwrap();
    one.prepare().await.unwrap();
    turn(&mut other, 1);
    other.prepare().await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
    turn(&mut one, 2);
    one.prepare().await.unwrap();

    for (session, line) in [(&one, "kept"), (&branches, "kept-b1"), (&other, "kept-b2")] {
        assert_eq!(session.line().as_str(), line);
        let (again, _) = writer(&store, line, Overtaken::Stop).await;
        assert_eq!(again.state().tokens(), session.state().tokens(), "{line}");
        assert!(again.state().pins().eq(session.state().pins()), "{line}");
        assert_eq!(shown(&again), shown(session), "{line}");
    }
    assert_ne!(one.state().tokens(), branches.state().tokens());
}

#[tokio::test]
async fn who_goes_on_where_the_name_has_left_is_told() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let (mut one, _) = writer(&store, "kept", Overtaken::Stop).await;
    (0..3).for_each(|nth| turn(&mut one, nth));
    one.prepare().await.unwrap();
    let (mut other, told) = writer(&store, "kept", Overtaken::Branch).await;
    let back_to = one.state().originals().get(7).unwrap().id;
    one.rewind(back_to).await.unwrap();
    turn(&mut one, 3);
    one.prepare().await.unwrap();
    turn(&mut other, 4);
    other.prepare().await.unwrap();
    let line = "somebody else went on with kept after 12 messages; this conversation goes on as kept-b2";
    assert_eq!(*told.lock().unwrap(), [line]);
    for (session, name) in [(&one, "kept"), (&one, "kept-b1"), (&other, "kept-b2")] {
        let (again, _) = writer(&store, name, Overtaken::Stop).await;
        assert_eq!(shown(&again), shown(session), "{name}");
    }
    // What was before is there, and it can be gone on with by who asks for it.
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).store(Arc::clone(&store));
    let mut before = builder.counter(Arc::new(CharsPer4)).open_line().await.unwrap();
    assert_eq!(before.state().originals().len(), 12);
    turn(&mut before, 5);
    before.prepare().await.unwrap();
    assert_eq!(before.line().as_str(), "kept");
}

/// Two writers of one session, in turns that are drawn: whoever comes second goes on under a name of its own, and each
/// finds all that it said, and nothing that the other said since, also after it was opened again.
async fn two_writers(store: Arc<dyn SummaryStore>, seed: usize) {
    let (mut one, _) = writer(&store, "shared", Overtaken::Branch).await;
    (0..10).for_each(|nth| turn(&mut one, nth));
    one.prepare().await.unwrap();
    let (other, _) = writer(&store, "shared", Overtaken::Branch).await;
    let mut writers = [one, other];
    let mut said: [Vec<usize>; 2] = [(0..10).collect(), (0..10).collect()];
    let mut draw = seed * 7 + 1;
    for nth in 10..60 {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let who = (draw >> 33) % 2;
        let session = &mut writers[who];
        match (draw >> 40) % 8 {
            0 => drop(session.compact(None).await),
            1 => drop(session.undo().await.unwrap()),
            2 => assert!(matches!(session.redo().await, Ok(_) | Err(Error::RedoLost))),
            _ => {
                turn(session, nth);
                said[who].push(nth);
                session.prepare().await.unwrap();
            }
        }
    }
    let lines = [writers[0].line().clone(), writers[1].line().clone()];
    assert_ne!(lines[0], lines[1]);
    assert!(lines.contains(&SessionId::new("shared").unwrap()), "the name stays with the first: {lines:?}");
    for (writer_at, session) in writers.iter_mut().enumerate() {
        session.save().await.unwrap();
        let (again, _) = writer(&store, lines[writer_at].as_str(), Overtaken::Stop).await;
        assert_eq!(shown(&again), shown(session), "seed {seed}");
        assert_eq!(again.state().decide(None), session.state().decide(None));
        let end = session.state().originals().len() as u64;
        let kept = store.originals(&lines[writer_at], Span { start: 0, end: u64::MAX }).await.unwrap();
        let asked = |message: &Message| message.texts().any(|text| text.starts_with("What does"));
        let kept: Vec<Message> = kept.into_iter().filter_map(|original| original.message).collect();
        let mut asked = kept.iter().filter(|message| asked(message)).map(Message::texts);
        let mut expected = said[writer_at].iter();
        assert!(asked.by_ref().all(|mut texts| {
            let part = format!("src/part_{}.rs", expected.next().unwrap());
            texts.any(|text| text.contains(&part))
        }));
        assert_eq!((expected.next(), kept.len() as u64), (None, end), "seed {seed}");
    }
}

#[tokio::test]
async fn two_writers_of_one_session_go_their_own_ways() {
    for seed in 0..3 {
        two_writers(Arc::new(MemoryStore::default()), seed).await;
        #[cfg(feature = "sqlite")]
        {
            let folder = std::env::temp_dir().join(format!("longhaul-two-{}-{seed}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let sqlite = longhaul_store::SqliteStore::open(folder.join("store.db")).unwrap();
            two_writers(Arc::new(sqlite), seed).await;
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}

#[tokio::test]
async fn who_branches_off_is_told_in_one_line() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let (mut one, told) = writer(&store, "kept", Overtaken::Branch).await;
    turn(&mut one, 0);
    one.prepare().await.unwrap();
    let (mut other, _) = writer(&store, "kept", Overtaken::Branch).await;
    turn(&mut other, 1);
    other.prepare().await.unwrap();
    turn(&mut one, 2);
    one.prepare().await.unwrap();
    let line = "somebody else went on with kept after 4 messages; this conversation goes on as kept-b1";
    assert_eq!(*told.lock().unwrap(), [line]);
    assert_eq!((one.line().as_str(), other.line().as_str()), ("kept-b1", "kept"));
}

#[tokio::test]
async fn a_session_that_the_store_has_and_that_was_not_opened_is_told_as_that() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let (mut one, _) = writer(&store, "kept", Overtaken::Branch).await;
    turn(&mut one, 0);
    one.prepare().await.unwrap();
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).store(Arc::clone(&store));
    let observer = move |event: &crate::Event| log.lock().unwrap().push(event.to_string());
    let mut built = builder.observer(observer).build().unwrap();
    turn(&mut built, 1);
    built.prepare().await.unwrap();
    let line =
        "the store has a session kept that this conversation does not go on from; it is kept as kept-b1";
    assert!(told.lock().unwrap().iter().any(|told| told == line), "{told:?}");
}
