//! Sessions whose store fails, whose futures are dropped, and who talk to a front end that compacts by itself: what is said
//! stays under the session's name, and nobody is told of another writer where there was none.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    task::{Context, Poll, Waker},
};

use longhaul_store::SummaryStore;
use longhaul_tokens::{CharsPer4, ContextWindow};
use longhaul_transcript::{ContentHash, FixedClock, Message, SessionId, Tokens};

use super::{
    troubled::{Trouble, Troubled},
    *,
};

const WINDOW: ContextWindow = ContextWindow { window: Tokens(2_000), reserved_output: Tokens(0) };

type Told = Arc<Mutex<Vec<String>>>;

fn builder(store: &Arc<Troubled>, name: &str) -> (Builder, Told) {
    let told = Told::default();
    let log = Arc::clone(&told);
    let builder = Session::builder(SessionId::new(name).unwrap(), WINDOW)
        .store(Arc::clone(store) as Arc<dyn SummaryStore>)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_000)))
        .observer(move |event: &crate::Event| {
            if matches!(event.kind, EventKind::Branched { .. }) {
                log.lock().unwrap().push(event.to_string());
            }
        });
    (builder, told)
}

async fn open(store: &Arc<Troubled>, name: &str) -> (Session, Told) {
    let (builder, told) = builder(store, name);
    (builder.open().await.unwrap(), told)
}

fn talk(session: &mut Session, turns: std::ops::Range<usize>) {
    said(turns).for_each(|message| {
        session.push(message);
    });
}

fn said(turns: std::ops::Range<usize>) -> impl Iterator<Item = Message> {
    turns.flat_map(|nth| {
        let says = format!("It computes value_{nth} for the caller in src/main.rs. ").repeat(3);
        [Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")), Message::assistant(says)]
    })
}

fn shown(session: &Session) -> Vec<ContentHash> {
    session.state().view().messages().map(|message| message.content_hash()).collect()
}

/// Asks once and drops the future.
pub(super) fn drop_at_its_await(future: impl Future) {
    let mut future = pin!(future);
    assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
}

/// Opens a session of 48 messages, compacted at 40 and saved, and returns with it the id of the one to go back to.
async fn compacted(store: &Arc<Troubled>) -> (Session, Told, MessageId) {
    let (mut session, told) = open(store, "kept").await;
    talk(&mut session, 0..20);
    session.compact(None).await.unwrap();
    talk(&mut session, 20..24);
    session.save().await.unwrap();
    let back_to = session.state().originals().get(43).unwrap().id;
    (session, told, back_to)
}

/// Opened again by its name it is as it is, and it was never told of anybody else.
async fn is_whole_under_its_name(store: &Arc<Troubled>, session: &mut Session, told: &Told) {
    session.save().await.unwrap();
    assert!(told.lock().unwrap().is_empty(), "nobody else wrote");
    let (again, _) = open(store, session.state().session().as_str()).await;
    assert_eq!(again.state().originals().len(), session.state().originals().len());
    assert_eq!(shown(&again), shown(session));
}

#[tokio::test]
async fn facts_that_cannot_be_kept_do_not_undo_a_compaction() {
    let store = Arc::new(Troubled::default());
    let (mut session, told) = open(&store, "kept").await;
    talk(&mut session, 0..20);
    store.trouble_cache(Trouble::Fails);
    session.compact(None).await.unwrap();
    assert!(session.state().summary().is_some());
    store.trouble_cache(Trouble::None);
    talk(&mut session, 20..40);
    session.compact(None).await.unwrap();
    is_whole_under_its_name(&store, &mut session, &told).await;
}

#[tokio::test]
async fn a_compaction_that_is_dropped_while_facts_are_kept_is_applied() {
    let store = Arc::new(Troubled::default());
    let (mut session, told) = open(&store, "kept").await;
    talk(&mut session, 0..20);
    store.trouble_cache(Trouble::Silent);
    drop_at_its_await(session.compact(None));
    assert!(session.state().summary().is_some());
    store.trouble_cache(Trouble::None);
    talk(&mut session, 20..40);
    session.compact(None).await.unwrap();
    is_whole_under_its_name(&store, &mut session, &told).await;
}

#[tokio::test]
async fn what_was_undone_is_done_again_whatever_a_request_needed_meanwhile() {
    let store = Arc::new(Troubled::default());
    let (mut session, told) = open(&store, "kept").await;
    talk(&mut session, 0..60);
    session.compact(None).await.unwrap();
    let compacted = shown(&session);
    for resumes in [false, true] {
        assert!(session.undo().await.unwrap());
        assert!(session.state().tokens() > session.state().budget());
        session.prepare().await.unwrap();
        assert!(session.state().tokens() <= session.state().budget(), "room was made");
        if resumes {
            session = open(&store, "kept").await.0;
        }
        assert!(session.redo().await.unwrap());
        assert_eq!(shown(&session), compacted, "{resumes}");
        assert!(store.verify(session.line()).await.unwrap().is_intact());
        is_whole_under_its_name(&store, &mut session, &told).await;
    }
    // Nothing is left over of what was given up.
    assert!(session.undo().await.unwrap() && !session.undo().await.unwrap());
    assert!(session.redo().await.unwrap() && !session.redo().await.unwrap());

    assert!(session.undo().await.unwrap());
    talk(&mut session, 60..61);
    session.prepare().await.unwrap();
    let shown_now = shown(&session);
    let lost = session.redo().await.unwrap_err();
    assert!(matches!(lost, Error::RedoLost), "{lost}");
    assert_eq!(shown(&session), shown_now);
}

#[tokio::test]
async fn a_compaction_that_is_dropped_after_it_was_written_is_no_other_writers() {
    let store = Arc::new(Troubled::default());
    let (mut session, told) = open(&store, "kept").await;
    talk(&mut session, 0..20);
    session.save().await.unwrap();
    store.trouble_commit(Trouble::Silent);
    drop_at_its_await(session.compact(None));
    store.trouble_commit(Trouble::None);
    talk(&mut session, 20..22);
    session.compact(None).await.unwrap();
    is_whole_under_its_name(&store, &mut session, &told).await;
}

#[tokio::test]
async fn a_name_never_stands_for_a_branch_that_was_not_taken() {
    let trouble: [fn(&Troubled, Trouble); 2] = [Troubled::trouble_cache, Troubled::trouble_alias];
    for (nth, set) in trouble.into_iter().enumerate() {
        let store = Arc::new(Troubled::default());
        let (mut session, told, back_to) = compacted(&store).await;
        set(&store, Trouble::Fails);
        let is_rewound = session.rewind(back_to).await.is_ok();
        set(&store, Trouble::None);
        assert_eq!(session.state().originals().len(), if is_rewound { 44 } else { 48 });
        let name = store.alias(&SessionId::new("kept").unwrap()).await.unwrap();
        assert_eq!(name.unwrap_or(SessionId::new("kept").unwrap()), *session.line(), "trouble {nth}");
        talk(&mut session, 30..32);
        is_whole_under_its_name(&store, &mut session, &told).await;
    }
}

#[tokio::test]
async fn a_name_whose_answer_never_came_is_put_right_with_the_next_write() {
    let store = Arc::new(Troubled::default());
    let (mut session, told, back_to) = compacted(&store).await;
    store.trouble_alias(Trouble::Silent);
    drop_at_its_await(session.rewind(back_to));
    store.trouble_alias(Trouble::None);
    assert_eq!(session.state().originals().len(), 48, "it was not asked for");
    // Neither a branch nor a write of nothing new leaves the name where it is.
    let mut branch = session.branch(back_to).await.unwrap();
    talk(&mut branch, 70..71);
    branch.save().await.unwrap();
    is_whole_under_its_name(&store, &mut session, &told).await;
    talk(&mut session, 30..32);
    is_whole_under_its_name(&store, &mut session, &told).await;
}

#[tokio::test]
async fn what_was_learned_and_cannot_be_kept_is_told_as_that() {
    let store = Arc::new(Troubled::default());
    let log = Told::default();
    let lines = Arc::clone(&log);
    let (builder, _) = builder(&store, "kept");
    let builder = builder.observer(move |event: &crate::Event| {
        if matches!(event.kind, EventKind::CalibrationNotKept { .. }) {
            lines.lock().unwrap().push(event.to_string());
        }
    });
    let mut session = builder.open().await.unwrap();
    talk(&mut session, 0..2);
    let view = session.prepare().await.unwrap();
    let usage = Usage { input: view.tokens() + Tokens(20), ..Usage::default() };
    session.report_usage(view.id(), &usage);
    store.trouble_cache(Trouble::Fails);
    for nth in 2..4 {
        talk(&mut session, nth..nth + 1);
        session.prepare().await.expect("the conversation itself is written");
    }
    assert_eq!(log.lock().unwrap().len(), 1, "once");
    assert_eq!(store.state(session.line()).await.unwrap().unwrap().messages, 8);
    store.trouble_cache(Trouble::None);
    session.save().await.unwrap();
    drop(session);
    let (again, _) = open(&store, "kept").await;
    assert!(again.state().learned().2.is_some());
    // A cache may lose what it holds: the conversation is taken up without.
    drop(again);
    store.trouble_cache(Trouble::Fails);
    let (mut again, _) = open(&store, "kept").await;
    assert_eq!(again.state().originals().len(), 8);
    talk(&mut again, 4..5);
    again.prepare().await.expect("the conversation itself is written");
}

#[tokio::test]
async fn a_conversation_that_went_back_is_exported_as_it_goes_on_and_forgotten_as_a_whole() {
    use longhaul_store::{MemoryStore, Selector, SummaryStore};
    let window = longhaul_tokens::ContextWindow::new(Tokens(8_000), Tokens(500));
    let shown = |session: &Session| -> Vec<String> {
        session.state().view().messages().map(|message| message.texts().collect()).collect()
    };
    let (store, elsewhere) = (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let name = longhaul_transcript::SessionId::new("x").unwrap();
    let mut session = crate::open(store.clone(), "x", window).await.unwrap();
    session.push(Message::user("The code is 4711."));
    let back_to = session.push(Message::assistant("Noted."));
    session.push(Message::user("The old plan is zanzibar."));
    session.save().await.unwrap();
    session.rewind(back_to).await.unwrap();
    session.push(Message::user("The new plan is tanganyika."));
    session.save().await.unwrap();
    let mut branch = session.branch(back_to).await.unwrap();
    branch.push(Message::user("A third is malawi."));
    branch.save().await.unwrap();

    elsewhere.import(&store.export(&name).await.unwrap()).await.unwrap();
    let there = crate::open(elsewhere, "x", window).await.unwrap();
    assert_eq!(shown(&there), shown(&session));
    assert_eq!(store.search(Some(&name), "tanganyika", 9).await.unwrap().len(), 1);

    store.forget(&name, &Selector::Session, 2).await.unwrap();
    for word in ["4711", "zanzibar", "tanganyika", "malawi"] {
        assert!(store.search(None, word, 9).await.unwrap().is_empty(), "{word}");
    }
    let opened = crate::open(store, "x", window).await.unwrap();
    assert_eq!(shown(&opened), [""; 0]);
}

#[cfg(feature = "wire")]
#[tokio::test]
async fn a_front_end_that_goes_to_and_fro_between_two_histories_makes_two_lines() {
    use crate::session::Synced;
    let store: Arc<dyn SummaryStore> = Arc::new(longhaul_store::MemoryStore::new());
    let name = SessionId::new("fro").unwrap();
    let mut session = crate::open(Arc::clone(&store), "fro", WINDOW).await.unwrap();
    let begun = ["Write a parser.", "It is written."].map(str::to_owned);
    let mut histories = ["left", "right"].map(|way| [&begun[..], &[format!("Now the {way} one.")]].concat());
    let body = |said: &[String]| {
        let message = |(nth, text): (usize, &String)| {
            let role = if nth % 2 == 0 { "user" } else { "assistant" };
            serde_json::json!({ "role": role, "content": text })
        };
        let messages: Vec<_> = said.iter().enumerate().map(message).collect();
        let body = serde_json::json!({ "model": "m", "messages": messages }).to_string();
        longhaul_wire::read(Some(longhaul_wire::Format::OpenAi), body.as_bytes()).unwrap()
    };
    for turn in 0..20 {
        let said = &mut histories[turn % 2];
        if turn > 1 {
            said.extend([format!("Answer {turn}. {}", "word ".repeat(300)), format!("Question {turn}?")]);
        }
        session.set_memory("plan", &format!("turn {turn}")).unwrap();
        let sync = session.sync(&body(said)).await.unwrap();
        assert_eq!(matches!(sync.change, Synced::Edited { .. }), turn > 0, "{turn}: {:?}", sync.change);
        assert_eq!(sync.ordinals.len(), said.len());
        let view = session.prepare().await.unwrap();
        let sent: String = view.messages().flat_map(|message| message.texts()).collect();
        let other = if turn % 2 == 0 { "right" } else { "left" };
        assert!(sent.contains(&format!("turn {turn}")) && !sent.contains(other), "{turn}: {sent}");
        let again = crate::open(Arc::clone(&store), "fro", WINDOW).await.unwrap();
        assert_eq!(shown(&again), shown(&session), "{turn}");
        let held = store.originals(&name, longhaul_transcript::Span { start: 0, end: 99 }).await.unwrap();
        assert_eq!(held.len(), said.len());
    }
    assert_eq!(store.lines(&name).await.unwrap().len(), 2);
    assert!(session.state().summary().is_some());
}

#[tokio::test]
async fn what_was_before_a_rewind_can_be_opened_and_a_branch_leaves_the_name() {
    let store = Arc::new(Troubled::default());
    let (mut session, _, at) = compacted(&store).await;

    let mut branch = session.branch(at).await.unwrap();
    talk(&mut branch, 70..72);
    branch.save().await.unwrap();
    assert_eq!((branch.state().originals().len(), session.state().originals().len()), (48, 48));
    assert_ne!(branch.line(), session.line());
    let (again, _) = open(&store, "kept").await;
    assert_eq!(shown(&again), shown(&session), "the name stays");
    let again = builder(&store, branch.line().as_str()).0.open_line().await.unwrap();
    assert_eq!(shown(&again), shown(&branch));

    let (line, whole) = (session.line().clone(), shown(&session));
    session.rewind(at).await.unwrap();
    let (again, _) = open(&store, "kept").await;
    assert_eq!(again.state().originals().len(), 44);
    let again = builder(&store, line.as_str()).0.open_line().await.unwrap();
    assert_eq!((again.state().originals().len(), shown(&again)), (48, whole));
}

#[tokio::test]
async fn facts_read_with_other_rules_for_secrets_are_read_anew() {
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let store = Arc::new(Troubled::default());
    let mut session = builder(&store, "kept").0.redactor(None).open().await.unwrap();
    talk(&mut session, 0..20);
    session.push(Message::user(format!("Never print the token {secret} anywhere.")));
    talk(&mut session, 20..30);
    session.prepare().await.unwrap();
    session.compact(None).await.unwrap();
    assert!(format!("{:?}", session.state().index()).contains(&secret), "it was not looked for");
    drop(session);

    let (mut session, _) = open(&store, "kept").await;
    talk(&mut session, 30..40);
    session.compact(None).await.unwrap();
    assert!(!format!("{:?}", session.state().index()).contains(&secret));
    let record = serde_json::to_string(&**session.state().summary().unwrap()).unwrap();
    assert!(!record.contains(&secret), "{record}");
}

#[cfg(feature = "wire")]
fn document(said: &[Message]) -> longhaul_wire::Document {
    let transcript: longhaul_transcript::Transcript = said.iter().cloned().collect();
    let encoded = longhaul_wire::encode(&transcript, longhaul_wire::Format::OpenAi).unwrap();
    let json = encoded.document.as_bytes().to_vec();
    longhaul_wire::read(Some(longhaul_wire::Format::OpenAi), &*json).unwrap()
}

/// Who has nothing new to write meets another writer only where the name is to be taken along.
#[cfg(feature = "wire")]
#[tokio::test]
async fn who_goes_back_where_somebody_else_went_on_leaves_the_name_there() {
    let mut edited: Vec<Message> = said(0..3).collect();
    edited[2] = Message::user("Question 1, asked in other words");
    for (says_more, edits) in [(false, false), (false, true), (true, false), (true, true)] {
        let store = Arc::new(Troubled::default());
        let (mut other, told_other) = open(&store, "kept").await;
        talk(&mut other, 0..3);
        other.prepare().await.unwrap();
        let (mut one, told) = open(&store, "kept").await;
        let mut stops = builder(&store, "kept").0.when_overtaken(Overtaken::Stop).open().await.unwrap();
        if says_more {
            talk(&mut other, 7..8);
        } else {
            other.pin(one.state().originals().get(0).unwrap().id).await.unwrap();
        }
        other.prepare().await.unwrap();

        let go_back = async |session: &mut Session| {
            let back_to = session.state().originals().get(1).unwrap().id;
            match edits {
                true => session.sync(&document(&edited)).await.map(drop),
                false => session.rewind(back_to).await,
            }
        };
        for _ in 0..2 {
            let refused = go_back(&mut stops).await.unwrap_err();
            let is_told =
                matches!(&refused, Error::Store(StoreError::Changed { .. } | StoreError::Overtaken { .. }));
            assert!(is_told, "{refused:?}");
        }
        let branch = SessionId::new("kept-b1").unwrap();
        assert!(store.state(&branch).await.unwrap().is_none(), "nothing is left over");

        go_back(&mut one).await.unwrap();
        let line = "somebody else went on with kept after 2 messages; this conversation goes on as kept-b1";
        assert_eq!(*told.lock().unwrap(), [line]);
        talk(&mut one, 8..9);
        one.prepare().await.unwrap();
        talk(&mut other, 9..10);
        other.prepare().await.unwrap();
        assert!(told_other.lock().unwrap().is_empty(), "it was there first");
        for (session, line) in [(&one, "kept-b1"), (&other, "kept")] {
            assert_eq!(session.line().as_str(), line);
            let (again, _) = open(&store, line).await;
            assert_eq!(shown(&again), shown(session), "{line}");
        }
    }
}

/// What a front end says that compacts by itself.
#[cfg(feature = "wire")]
const CLIENTS_SUMMARY: &str =
    "This session is being continued from a previous conversation that ran out of context.";

#[cfg(feature = "wire")]
#[tokio::test]
async fn a_front_ends_compaction_that_is_dropped_is_written_with_what_follows() {
    for goes_on in [false, true] {
        let store = Arc::new(Troubled::default());
        let (mut session, told) = open(&store, "kept").await;
        let mut history: Vec<Message> = said(0..20).collect();
        session.sync(&document(&history)).await.unwrap();
        session.compact(None).await.unwrap();

        history = vec![Message::user(CLIENTS_SUMMARY)];
        history.extend(said(30..32));
        store.trouble_commit(Trouble::Silent);
        drop_at_its_await(session.sync(&document(&history)));
        store.trouble_commit(Trouble::None);
        match goes_on {
            // Not the same again, but what comes next.
            true => talk(&mut session, 40..41),
            false => drop(session.sync(&document(&history)).await.unwrap()),
        }
        is_whole_under_its_name(&store, &mut session, &told).await;
        assert!(store.chain(session.line()).await.unwrap().is_empty());
        assert!(session.state().summary().is_none());
    }
}

#[cfg(feature = "wire")]
#[tokio::test]
async fn a_front_end_that_compacts_by_itself_is_no_other_writer() {
    let store = Arc::new(Troubled::default());
    let (mut session, told) = open(&store, "kept").await;
    let mut history: Vec<Message> = said(0..20).collect();
    session.sync(&document(&history)).await.unwrap();
    session.compact(None).await.unwrap();
    history.extend(said(20..30));
    session.sync(&document(&history)).await.unwrap();
    session.compact(None).await.unwrap();
    assert_eq!(store.chain(session.line()).await.unwrap().len(), 2);

    let mut history = vec![Message::user(CLIENTS_SUMMARY)];
    history.extend(said(30..32));
    let sync = session.sync(&document(&history)).await.unwrap();
    assert!(matches!(sync.change, crate::session::Synced::CompactedByClient { .. }), "{sync:?}");
    is_whole_under_its_name(&store, &mut session, &told).await;
    history.extend(said(32..50));
    session.sync(&document(&history)).await.unwrap();
    session.compact(None).await.unwrap();
    assert_eq!(session.line().as_str(), "kept");
    is_whole_under_its_name(&store, &mut session, &told).await;
    let kept =
        store.originals(session.line(), longhaul_transcript::Span { start: 0, end: u64::MAX }).await.unwrap();
    assert_eq!(kept.len(), 60 + 1 + 40, "all that was ever said");
}

#[cfg(feature = "wire")]
#[tokio::test]
async fn a_front_end_is_followed_as_well_by_a_session_that_was_taken_up_again() {
    use crate::session::Synced;
    // It compacts at a message in mid-chunk, and at the first of one; then longhaul does.
    for turns in [150, 160] {
        let store = Arc::new(Troubled::default());
        let (mut session, told) = open(&store, "kept").await;
        let mut history: Vec<Message> = said(0..turns).collect();
        session.sync(&document(&history)).await.unwrap();
        session.prepare().await.unwrap();
        history = vec![Message::user(CLIENTS_SUMMARY)];
        history.extend(said(turns..turns + 60));
        session.sync(&document(&history)).await.unwrap();
        session.compact(None).await.unwrap();
        drop(session);

        let (mut session, _) = open(&store, "kept").await;
        history.extend(said(turns + 60..turns + 61));
        let sync = session.sync(&document(&history)).await.unwrap();
        assert_eq!(sync.change, Synced::Grew { n: 2 }, "{turns}");
        drop(session);
        let (mut session, _) = open(&store, "kept").await;
        // The answer before the last question is another one.
        let len = session.state().originals().len() as u64;
        history.truncate(history.len() - 3);
        history.push(Message::assistant("Otherwise."));
        let sync = session.sync(&document(&history)).await.unwrap();
        assert_eq!(sync.change, Synced::Edited { at: len - 3, n: 1 }, "{turns}");
        assert!(told.lock().unwrap().is_empty());
    }
}

#[cfg(feature = "wire")]
#[tokio::test]
async fn an_edit_after_a_resume_is_where_it_is() {
    use crate::session::Synced;
    let store = Arc::new(Troubled::default());
    let (mut session, _) = open(&store, "kept").await;
    let mut history: Vec<Message> = said(0..200).collect();
    session.sync(&document(&history)).await.unwrap();
    for _ in 0..2 {
        session.prepare().await.unwrap();
    }
    drop(session);
    let (mut session, _) = open(&store, "kept").await;
    history.truncate(390);
    history.push(Message::user("Another question: what does src/other.rs do?"));
    let sync = session.sync(&document(&history)).await.unwrap();
    assert_eq!(sync.change, Synced::Edited { at: 390, n: 1 });
}

#[tokio::test]
async fn another_way_lists_the_records_once_however_many_there_are() {
    let store = Arc::new(Troubled::default());
    let (mut session, _) = open(&store, "kept").await;
    for nth in 0..6 {
        talk(&mut session, 10 * nth..10 * nth + 10);
        session.compact(None).await.unwrap();
    }
    talk(&mut session, 60..62);
    session.save().await.unwrap();
    assert_eq!(store.chain(session.line()).await.unwrap().len(), 6);
    store.n_listed.store(0, Relaxed);
    let back_to = session.state().originals().get(121).unwrap().id;
    session.rewind(back_to).await.unwrap();
    assert_eq!(store.n_listed.load(Relaxed), 1);
    assert_eq!(store.chain(session.line()).await.unwrap().len(), 6);
}

/// A summarizer of the caller's that panics is one that failed: rules write, and the session goes on.
#[tokio::test]
async fn a_summarizer_that_panics_has_failed_and_the_session_goes_on() {
    use super::{
        kept_tests::{shown, turn},
        tests::{Answer, Told, manager},
    };
    let config = |abort_on_failure| Config {
        mode: SummaryMode::Llm,
        soft_action: crate::config::SoftAction::Off,
        failure_cooldown_ms: 0,
        cooldown_messages: 0,
        abort_on_failure,
        ..Config::default()
    };
    // The second time it finds its own lock poisoned.
    let (mut session, log) = manager(config(false), Some(Told::new(&[Answer::Panics])));
    for nth in 0..80 {
        turn(&mut session, nth);
        assert!(session.prepare().await.unwrap().tokens() <= session.state().budget());
    }
    let record = session.state().summary().unwrap();
    assert_eq!((record.mode, record.depth > 0), (SummaryMode::Rules, true));
    let lines: Vec<String> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    let failed: Vec<&String> = lines.iter().filter(|line| line.contains("gave no summary")).collect();
    assert!(failed.len() > 1, "{lines:?}");
    // What it panicked with may quote the conversation.
    assert!(
        failed.iter().all(|line| *line == "summarizer gave no summary: the summarizer panicked"),
        "{failed:?}"
    );

    let (mut session, _) = manager(config(true), Some(Told::new(&[Answer::Panics, Answer::Good])));
    (0..6).for_each(|nth| turn(&mut session, nth));
    let before = shown(&session);
    let error = session.compact(None).await.unwrap_err();
    assert_eq!(error.to_string(), "no summary could be made: the summarizer panicked");
    assert_eq!(shown(&session), before);
    session.compact(None).await.unwrap();
    assert_eq!(session.state().summary().unwrap().mode, SummaryMode::Llm);

    let (mut session, _) = manager(config(false), Some(Told::new(&[Answer::Panics])));
    let mut background = (0..40).find_map(|nth| {
        turn(&mut session, nth);
        session.start_background()
    });
    let error = background.take().unwrap().draft().await.unwrap_err();
    assert_eq!(error.to_string(), "the summarizer panicked");
}

/// What a store cannot write for a moment is tried again, also where nothing can be sent without it.
#[tokio::test]
async fn a_store_that_fails_at_the_hard_limit_is_asked_again() {
    let store = Arc::new(Troubled::default());
    let (mut session, _) = open(&store, "full").await;
    let mut nth = 0;
    while session.state().tokens() < Tokens(1_700) {
        session.push(Message::user(format!("question {nth} {}", "pad ".repeat(60))));
        session.prepare().await.unwrap();
        session.push(Message::assistant(format!("answer {nth}")));
        nth += 1;
    }
    session.save().await.unwrap();
    session.push(Message::user("pad ".repeat(400)));
    assert!(session.state().tokens() > Tokens(2_000));
    store.trouble_commit(Trouble::Fails);
    for _ in 0..3 {
        let error = session.prepare().await.unwrap_err();
        assert!(matches!(error, Error::Store(_)), "{error}");
    }
    store.trouble_commit(Trouble::None);
    let view = session.prepare().await.unwrap();
    assert!(view.tokens() < Tokens(2_000) && view.summaries().count() == 1);
}
