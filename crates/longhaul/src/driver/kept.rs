//! Sessions in a store: killed and opened again at any moment they go on as if nothing had happened, and what they hold in
//! memory does not grow with their age.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use longhaul_store::{JournalEntry, MemoryStore, Selector, SummaryStore};
use longhaul_summarize::{Conversation, LastRequest, Protocol};
use longhaul_tokens::{CharsPer4, ContextWindow, TokenCounter as _};
use longhaul_transcript::{
    FixedClock, Message, Outcome, Part, Role, SessionId, Span, SummaryMode, Tokens, ToolCall, ToolResult,
};

use super::{
    troubled::{Trouble, Troubled},
    troubles::drop_at_its_await,
    *,
};
use crate::{Preset, session::Line};

const WINDOW: ContextWindow = ContextWindow { window: Tokens(2_000), reserved_output: Tokens(0) };

async fn begin(store: &Arc<impl SummaryStore + 'static>, config: &Config) -> Session {
    let store = Arc::clone(store) as Arc<dyn SummaryStore>;
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).config(config.clone());
    let builder = builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000))).store(store);
    builder.open().await.unwrap()
}

fn turn(session: &mut Session, nth: usize) {
    session.push(Message::user(format!("What does src/part_{nth}.rs do? Mind limit_{} please.", nth % 7)));
    let id = format!("c{nth}");
    let call = ToolCall::function(id.as_str(), "read_file", format!(r#"{{"path":"src/part_{nth}.rs"}}"#));
    session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let text = format!("let value_{nth} = compute({nth});\n").repeat(3 + nth % 9);
    let result = ToolResult::text(id.as_str(), text, Outcome::Unstated);
    session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    session.push(Message::assistant(format!("It computes value_{nth} and keeps it.")));
}

fn shown(session: &Session) -> Vec<Message> {
    session.state().view().messages().map(|message| (**message).clone()).collect()
}

fn held(line: &Line) -> usize {
    line.entries().len()
}

#[tokio::test]
async fn killed_at_any_moment_a_session_goes_on_as_if_it_had_not_been() {
    for preset in [None, Some(Preset::Rolling), Some(Preset::Session), Some(Preset::Chain)] {
        let mut config = preset.map_or_else(Config::default, |preset| preset.config());
        config.mode = SummaryMode::Rules;
        let (whole_store, cut_store) = (Arc::new(MemoryStore::default()), Arc::new(MemoryStore::default()));
        let mut whole = begin(&whole_store, &config).await;
        for nth in 0..40 {
            turn(&mut whole, nth);
            whole.prepare().await.unwrap();
            // The other one is opened for each turn, and dropped without a word.
            let mut cut = begin(&cut_store, &config).await;
            turn(&mut cut, nth);
            let view = cut.prepare().await.unwrap();
            assert_eq!(shown(&cut), shown(&whole), "{preset:?}, turn {nth}");
            assert_eq!(view.tokens(), whole.state().tokens());
            assert_eq!(cut.state().decide(None), whole.state().decide(None), "{preset:?}, turn {nth}");
        }
        let cut = begin(&cut_store, &config).await;
        assert_eq!(cut.state().originals().len(), 160);
        let heads = [&whole_store, &cut_store].map(|store| store.clone());
        let chain =
            |store: Arc<MemoryStore>, line: SessionId| async move { store.chain(&line).await.unwrap() };
        let [one, other] = heads;
        let (one, other) = (chain(one, whole.line().clone()).await, chain(other, cut.line().clone()).await);
        let ids = |chain: &[longhaul_transcript::SummaryRecord]| {
            chain.iter().map(|record| record.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&one), ids(&other), "{preset:?}");
        assert!(!one.is_empty(), "{preset:?}");
    }
}

#[cfg(feature = "wire")]
#[tokio::test]
async fn a_shortened_message_goes_out_in_the_same_bytes_after_a_resume() {
    use longhaul_wire::Format::Anthropic;
    let store = Arc::new(MemoryStore::default());
    let mut session = begin(&store, &Config::default()).await;
    let mut n_shortened = 0;
    for nth in 0..12 {
        let text = format!("let value_{nth} = compute({nth});\\n").repeat(100);
        let call = format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"read_file","input":{{"path":"src/a.rs"}},"x_call":1}}]}}"#
        );
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":[{{"type":"text","text":"{text}"}}],"x_res":1}}]}}"#
        );
        session.push(Message::user(format!("What does part {nth} do?")));
        session.push_json(Anthropic, &call).unwrap();
        session.push_json(Anthropic, &result).unwrap();
        session.prepare().await.unwrap();
        let resumed = begin(&store, &Config::default()).await;
        let json = |session: &Session| session.state().view().to_json(Anthropic).unwrap().json;
        assert_eq!(json(&resumed), json(&session), "turn {nth}");
        let view = session.state().view();
        n_shortened += view
            .shown()
            .filter(|shown| matches!(shown, crate::Shown::Message { digested: true, .. }))
            .count();
    }
    assert!(n_shortened > 0);
}

#[tokio::test]
async fn a_store_gets_no_hash_of_a_secret() {
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let store = Arc::new(MemoryStore::default());
    let mut session = begin(&store, &Config::default()).await;
    let mut hashes = Vec::new();
    for nth in 0..30 {
        let id = format!("c{nth}");
        let call = ToolCall::function(id.as_str(), "bash", r#"{"command":"env"}"#);
        session.push(Message::user(format!("Question {nth}?")));
        session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
        let text = format!("GITHUB_TOKEN={secret}\n") + &format!("VALUE_{nth}=plain\n").repeat(60);
        let result = ToolResult::text(id.as_str(), text, Outcome::Unstated);
        hashes.push(session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)])).hash);
        session.prepare().await.unwrap();
        let kept = store.snapshot(session.line()).await.unwrap().unwrap();
        let json = String::from_utf8(kept.bytes).unwrap();
        let told = hashes.iter().filter(|hash| json.contains(&hash.to_string())).count();
        assert_eq!(told, 0, "turn {nth}");
    }
    assert!(session.state().summary().is_some());
}

#[tokio::test]
async fn who_takes_up_a_session_is_told_of_secrets_that_are_not_in_it() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let open = async || {
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let log = Arc::clone(&told);
        let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).store(Arc::clone(&store));
        let builder = builder.observer(move |event: &crate::Event| {
            if matches!(event.kind, EventKind::SecretsMissing { .. }) {
                log.lock().unwrap().push(event.to_string());
            }
        });
        (builder.open().await.unwrap(), told)
    };
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let (mut session, told) = open().await;
    session.push(Message::user(format!("Clone with {secret} please.")));
    let call = ToolCall::function("c0", "bash", r#"{"command":"env"}"#);
    session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let result = ToolResult::text("c0", format!("GITHUB_TOKEN={secret}"), Outcome::Unstated);
    session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    let sent = session.prepare().await.unwrap();
    assert!(sent.messages().next().unwrap().texts().any(|text| text.contains(&secret)));
    assert!(told.lock().unwrap().is_empty(), "nothing is missing yet");
    let (again, told) = open().await;
    assert!(!shown(&again)[0].texts().any(|text| text.contains(&secret)));
    let line = "2 places of this session stand as placeholders: secrets are not stored";
    assert_eq!(*told.lock().unwrap(), [line]);
}

#[tokio::test]
async fn originals_live_in_the_store_and_come_back_when_they_are_needed() {
    let store = Arc::new(MemoryStore::default());
    let mut session = begin(&store, &Config::default()).await;
    let mut most = 0;
    for nth in 0..330 {
        turn(&mut session, nth);
        session.prepare().await.unwrap();
        most = most.max(held(session.state().originals()));
    }
    assert_eq!(session.state().originals().len(), 1_320);
    assert!(most < 1_250, "{most} originals are held");
    let first = session.state().originals().get(0).unwrap().id;
    assert_eq!(first.ordinal, 0);
    let early = store.originals(session.line(), Span { start: 100, end: 101 }).await.unwrap();
    let early = early[0].message.clone().unwrap();
    let id = MessageId { ordinal: 100, hash: early.content_hash() };
    assert!(session.state().originals().get(100).is_none(), "it is not at hand");
    session.pin(id).await.unwrap();
    assert!(shown(&session).contains(&early), "and shown whole all the same");
    session.rewind(id).await.unwrap();
    assert_eq!(session.state().originals().len(), 101);
    turn(&mut session, 7_000);
    session.prepare().await.unwrap();
    let again = begin(&store, &Config::default()).await;
    assert_eq!(again.state().originals().len(), 105);
    assert_eq!(shown(&again), shown(&session));
    assert_eq!(again.line().as_str(), "kept-b1");
}

#[tokio::test]
async fn a_pinned_result_brings_its_whole_exchange_however_many_calls_that_has() {
    let store = Arc::new(MemoryStore::default());
    let mut session = begin(&store, &Config::default()).await;
    (0..30).for_each(|nth| turn(&mut session, nth));
    session.push(Message::user("Look at each of them."));
    let call = |nth: usize| ToolCall::function(format!("c{nth}"), "ls", "{}");
    let calls = (0..100).map(|nth| Part::ToolCall(call(nth))).collect();
    let asked = session.push(Message::new(Role::Assistant, calls));
    let result = |nth| ToolResult::text(format!("c{nth}"), format!("{nth}"), Outcome::Succeeded);
    let results = (0..100).map(|nth| Message::new(Role::Tool, vec![Part::ToolResult(result(nth))]));
    let ids: Vec<MessageId> = results.map(|message| session.push(message)).collect();
    session.push(Message::assistant("They are all there."));
    for nth in 30..330 {
        turn(&mut session, nth);
        session.prepare().await.unwrap();
    }
    assert!(session.state().originals().get(asked.ordinal).is_none(), "it is not at hand");
    session.pin(ids[90]).await.unwrap();
    assert!(
        session
            .state()
            .view()
            .shown()
            .any(|shown| matches!(shown, crate::Shown::Message { id, .. } if *id == asked))
    );
}

/// Opens `name` and keeps what it is told.
async fn writer(
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
async fn killed_after_originals_were_deleted_a_session_keeps_its_blocks_and_pins() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &config).await;
    (0..12).for_each(|nth| turn(&mut session, nth));
    session.set_memory("plan", "Never round amounts.").unwrap();
    let pinned = session.state().originals().get(4).unwrap().id;
    session.pin(pinned).await.unwrap();
    session.save().await.unwrap();
    session.compact(None).await.unwrap();
    let is_deleted = async |ordinal| {
        let span = Span { start: ordinal, end: ordinal + 1 };
        store.originals(&SessionId::new("kept").unwrap(), span).await.unwrap()[0].message.is_none()
    };
    assert!(is_deleted(0).await && !is_deleted(4).await);
    // Killed: nothing else was said or saved.
    let resumed = begin(&store, &config).await;
    assert_eq!(shown(&resumed), shown(&session));
    assert!(resumed.state().memory().eq([("plan", "Never round amounts.")]));
    assert!(resumed.state().pins().eq([4]));
}

#[tokio::test]
async fn originals_are_deleted_with_the_summary_that_replaces_them_or_not_at_all() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    for is_killed in [true, false] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        (0..12).for_each(|nth| turn(&mut session, nth));
        session.set_memory("plan", "Never round amounts.").unwrap();
        session.save().await.unwrap();
        let before = shown(&session);
        let left = async || {
            let span = Span { start: 0, end: u64::MAX };
            let said = store.originals(&SessionId::new("kept").unwrap(), span).await.unwrap();
            said.iter().filter(|original| original.message.is_some()).count()
        };

        // What is not written deletes nothing.
        store.trouble_commit(Trouble::Fails);
        session.compact(None).await.unwrap_err();
        assert_eq!((left().await, &shown(&session)), (48, &before));

        // Written and never answered: the originals are in the summary only, which is not taken back.
        store.trouble_commit(Trouble::Silent);
        drop_at_its_await(session.compact(None));
        store.trouble_commit(Trouble::None);
        assert!(left().await < 48);
        if is_killed {
            session = begin(&store, &config).await;
        } else {
            assert_eq!(shown(&session), before, "it does not know yet");
            turn(&mut session, 12);
            session.set_memory("rule", "Never guess.").unwrap();
            session.prepare().await.unwrap();
            assert_eq!(session.line().as_str(), "kept", "nobody else wrote");
            assert!(session.state().memory().any(|block| block == ("rule", "Never guess.")));
        }
        let (text, kept) = (session.state().summary().unwrap().text.clone(), left().await);
        assert!(text.contains("src/part_0.rs"), "{text}");
        assert!(session.state().memory().any(|block| block == ("plan", "Never round amounts.")));
        let is_whole = |shown: &crate::Shown| matches!(shown, crate::Shown::Message { digested: false, .. });
        let view = session.state().view();
        assert_eq!(view.shown().filter(|shown| is_whole(shown)).count(), kept);
        let resumed = begin(&store, &config).await;
        assert_eq!(shown(&resumed), shown(&session));
        assert!(store.verify(session.line()).await.unwrap().is_intact());
    }
}

#[tokio::test]
async fn what_was_deleted_is_had_from_its_summary_whatever_the_settings_say_later() {
    let rules = Config { mode: SummaryMode::Rules, ..Config::default() };
    for config in [rules.clone(), Config { mode: SummaryMode::Rules, ..Preset::Session.config() }] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &Config { delete_originals: true, ..config.clone() }).await;
        session.push(Message::user("Port the ledger to Zig. Never touch Cargo.lock."));
        for nth in 0..40 {
            turn(&mut session, nth);
            session.prepare().await.unwrap();
        }
        session.save().await.unwrap();
        let covered = session.state().view().summaries().map(|record| record.covers.end).max().unwrap();
        drop(session);
        let mut session = begin(&store, &Config { delete_originals: false, ..config.clone() }).await;
        for nth in 40..120 {
            turn(&mut session, nth);
            session.prepare().await.unwrap();
            let view = session.state().view();
            let texts: Vec<_> = view.summaries().map(|record| record.text.as_str()).collect();
            assert!(texts.concat().contains("Never touch Cargo.lock"), "turn {nth}: {texts:?}");
            let first = view.summaries().map(|record| record.covers.start).min().unwrap();
            assert!(first < 2, "turn {nth}: the summaries begin at m{first}");
        }
        let summary = session.state().summary().unwrap();
        assert!(summary.covers.end > covered + 100, "{:?}", summary.covers);
        session.compact(Some("the ledger")).await.unwrap();
        let said = shown(&session)
            .iter()
            .flat_map(|message| message.texts().map(str::to_owned).collect::<Vec<_>>())
            .collect::<String>();
        assert!(said.contains("Never touch Cargo.lock"), "{said}");
    }
}

#[tokio::test]
async fn one_forgotten_message_is_no_deletion_of_what_a_summary_stands_for() {
    let config = Config { mode: SummaryMode::Rules, ..Config::default() };
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &config).await;
    (0..12).for_each(|nth| turn(&mut session, nth));
    session.compact(None).await.unwrap();
    session.save().await.unwrap();
    drop(session);
    let name = SessionId::new("kept").unwrap();
    store.forget(&name, &Selector::Matching("part_3.rs".to_owned()), 2_000).await.unwrap();
    let session = begin(&store, &config).await;
    assert!(!session.state().lives_on_summaries());
    let deletes = begin(&store, &Config { delete_originals: true, ..config.clone() }).await;
    assert!(deletes.state().lives_on_summaries());
}

#[tokio::test]
async fn a_branch_off_somebody_who_went_on_from_deleted_originals_has_their_summary() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    for compacts_too in [false, true] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        (0..12).for_each(|nth| turn(&mut session, nth));
        session.save().await.unwrap();
        store.trouble_commit(Trouble::Silent);
        drop_at_its_await(session.compact(None));
        store.trouble_commit(Trouble::None);
        let mut other = begin(&store, &Config { delete_originals: false, ..config.clone() }).await;
        turn(&mut other, 20);
        if compacts_too {
            other.compact(None).await.unwrap();
        }
        other.save().await.unwrap();

        turn(&mut session, 12);
        session.prepare().await.unwrap();
        assert_eq!((session.line().as_str(), other.line().as_str()), ("kept-b1", "kept"));
        let text = session.state().summary().expect("its originals are gone").text.clone();
        assert!(text.contains("src/part_0.rs"), "{text}");
        let store = Arc::clone(&store) as Arc<dyn SummaryStore>;
        let (resumed, _) = writer(&store, "kept-b1", Overtaken::Stop).await;
        assert_eq!(shown(&resumed), shown(&session));
    }
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

/// Makes a request, and reports what the provider billed for it.
async fn request(session: &mut Session, billed: u64) -> Result<(), Error> {
    let view = session.prepare().await?;
    let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
    let usage = Usage { input: counted + Tokens(billed), ..Usage::default() };
    assert_eq!(session.report_usage(view.id(), &usage), UsageVerdict::Taken);
    Ok(())
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

#[tokio::test]
async fn a_request_costs_one_write() {
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &Config::default()).await;
    // What the first requests teach is shared with other conversations at once.
    for nth in 0..40 {
        turn(&mut session, nth);
        request(&mut session, 10 + nth as u64).await.unwrap();
    }
    let (mut n_writes, mut n_snapshots) = (0, 0);
    for nth in 40..60 {
        let before = store.snapshot(session.line()).await.unwrap().unwrap();
        turn(&mut session, nth);
        store.n_written.store(0, Relaxed);
        session.prepare().await.unwrap();
        n_writes += store.n_written.swap(0, Relaxed);
        let after = store.snapshot(session.line()).await.unwrap().unwrap();
        n_snapshots += u64::from(before.bytes != after.bytes);
        assert_eq!(before.bytes != after.bytes, after.since.is_none());
        let again = begin(&store, &Config::default()).await;
        assert_eq!(again.state().tokens(), session.state().tokens(), "turn {nth}");
        assert_eq!(shown(&again), shown(&session), "turn {nth}");
        // That the view was sent is written with the next request; then there is nothing new.
        session.prepare().await.unwrap();
        store.n_written.store(0, Relaxed);
        session.prepare().await.unwrap();
        assert_eq!(store.n_written.load(Relaxed), 0, "there is nothing new");
        request(&mut session, 10 + nth as u64).await.unwrap();
    }
    assert!(n_snapshots < 10, "{n_snapshots}");
    // Beside a snapshot goes what was learned, and after a compaction the facts and where they are.
    assert!(n_writes <= 20 + 5 * n_snapshots, "{n_writes} writes, {n_snapshots} snapshots");
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

#[tokio::test]
async fn wrong_use_of_the_builder_is_an_error() {
    let builder = || Session::builder(SessionId::new("wrong").unwrap(), WINDOW);
    let reserve = Config { reserved_output_tokens: Some(Tokens(2_000)), ..Config::default() };
    assert!(matches!(builder().config(reserve).build(), Err(BuildError::NoRoom { .. })));
    assert!(matches!(builder().fixed_overhead(Tokens(2_000)).build(), Err(BuildError::NoRoom { .. })));
    let rules = Arc::new(longhaul_summarize::rules::RulesSummarizer::default());
    assert!(matches!(builder().summarizer(rules.clone()).build(), Err(BuildError::UnusedSummarizer)));
    let llm = Config { mode: SummaryMode::Llm, ..Config::default() };
    assert!(matches!(builder().config(llm.clone()).build(), Err(BuildError::NoSummarizer)));
    let two = builder().summarizer(rules.clone()).summarizer(rules.clone()).config(llm.clone());
    assert!(matches!(two.build(), Err(BuildError::TwoSummarizers)));
    // In any order.
    assert!(builder().summarizer(rules.clone()).config(llm.clone()).build().is_ok());
    assert!(builder().config(llm.clone()).summarizer(rules).build().is_ok());
    let text = "[models.\"gpt-4o*\"]\ntrigger_ratio = 0.5\nsoft_ratio = 0.45\nreset_ratio = 0.47";
    let config: Config = toml::from_str(text).unwrap();
    let one = builder().model("openai", "gpt-4o").config(config.clone()).build().unwrap();
    let other = builder().config(config).model("openai", "gpt-4o").build().unwrap();
    assert_eq!(one.state().limits(), other.state().limits());
    assert_eq!(one.state().limits().trigger, one.state().budget().scaled(0.5));
}

#[tokio::test]
async fn the_first_compaction_after_a_resume_reads_only_what_is_new() {
    let store = Arc::new(Troubled::default());
    let mut whole = begin(&store, &Config::default()).await;
    // Long words, so that few messages are many windows.
    let say = |session: &mut Session, nth: u64| {
        session.push(Message::user(format!("Part {nth} waits. {}", "It stands still there. ".repeat(40))));
        session.push(Message::assistant(format!("Part {nth} holds value_{nth}.")));
    };
    for nth in 0..600 {
        say(&mut whole, nth);
        if nth % 100 == 99 {
            whole.prepare().await.unwrap();
        }
    }
    let mut resumed = begin(&store, &Config::default()).await;
    let rewrites = |session: &Session| session.state().view().id().rewrites;
    let before = rewrites(&resumed);
    assert!(resumed.state().facts().is_none(), "nothing is read again with the resume itself");
    for nth in 600..605 {
        say(&mut resumed, nth);
        say(&mut whole, nth);
    }
    let of_resume = store.n_read.swap(0, Relaxed);
    resumed.compact(None).await.unwrap();
    assert!(rewrites(&resumed) > before);
    let (read, said) = (store.n_read.load(Relaxed), resumed.state().originals().len() as u64);
    assert!(read < 700, "{read} of {said} originals were read, {of_resume} with the resume");
    let json = |session: &Session| {
        let index = session.state().index();
        index.pieces().map(|piece| serde_json::to_string(&piece).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(json(&resumed), json(&whole), "it knows the same facts");
}

#[tokio::test]
async fn what_was_sent_last_is_forgotten_where_the_next_request_will_not_begin_with_it() {
    // A model of the ladder is told of each rewrite without more ado.
    let last = LastRequest::default();
    let scripted = Arc::new(longhaul_summarize::Scripted::always("no summary"));
    let mut model = longhaul_summarize::SummarizerModel::new("own", Tokens(100_000), scripted);
    model.last_request = Some(last.clone());
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).counter(Arc::new(CharsPer4));
    let builder = builder.config(Config { mode: SummaryMode::Hybrid, ..Config::default() });
    let (sleep, jitter) = (Arc::new(longhaul_transcript::NoSleep), Arc::new(longhaul_transcript::NoJitter));
    let mut session = builder.models(vec![model], sleep, jitter).build().unwrap();
    let send = || last.set(Conversation::new(Protocol::Messages, "{}", Tokens(1)));
    let mut first = None;
    for nth in 0..40 {
        let rewrites = session.state().view().id().rewrites;
        turn(&mut session, nth);
        first = first.or(session.state().originals().get(0).map(|entry| entry.id));
        session.prepare().await.unwrap();
        let is_rewritten = session.state().view().id().rewrites != rewrites;
        assert_eq!(last.get().is_some(), nth > 0 && !is_rewritten, "turn {nth}");
        send();
    }
    session.compact(None).await.unwrap();
    assert!(last.get().is_none(), "compacted");
    send();
    assert!(session.undo().await.unwrap() && last.get().is_none(), "undone");
    send();
    assert!(session.redo().await.unwrap() && last.get().is_none(), "done again");
    send();
    session.set_memory("rule", "Never round.").unwrap();
    assert!(last.get().is_none(), "a block more");
    send();
    session.rewind(first.unwrap()).await.unwrap();
    assert!(last.get().is_none(), "rewound");
}

/// A store whose journal somebody else has changed.
#[derive(Debug)]
struct Tampered {
    inner: MemoryStore,
    change: fn(&mut Vec<JournalEntry>),
}

impl Tampered {
    fn store(change: fn(&mut Vec<JournalEntry>)) -> Arc<dyn SummaryStore> {
        Arc::new(Tampered { inner: MemoryStore::default(), change })
    }

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }
}

longhaul_store::hand_on! {
    impl SummaryStore for Tampered;
    inner: [state transact events records snapshot contents find_words sessions set_alias alias cached cache];

    async fn entries(&self, session: &SessionId, span: Span) -> Result<Vec<JournalEntry>, longhaul_store::StoreError> {
        let mut entries = self.inner.entries(session, Span { start: 0, end: u64::MAX }).await?;
        (self.change)(&mut entries);
        entries.retain(|entry| span.contains(entry.ordinal));
        Ok(entries)
    }
}

#[tokio::test]
async fn what_is_missing_from_the_store_leaves_the_rest_in_its_place() {
    let store = Tampered::store(|entries| {
        entries.retain(|entry| entry.ordinal != 2);
        let emptied = entries.iter_mut().filter(|entry| entry.ordinal == 4);
        emptied.for_each(|entry| entry.is_forgotten = true);
    });
    let open = || Session::builder(SessionId::new("kept").unwrap(), WINDOW).store(Arc::clone(&store)).open();
    let mut session = open().await.unwrap();
    (0..3).for_each(|nth| turn(&mut session, nth));
    session.save().await.unwrap();
    let again = open().await.unwrap();
    let (was, is) = (shown(&session), shown(&again));
    assert_eq!((is.len(), &is[..2], &is[3], &is[5..]), (was.len(), &was[..2], &was[3], &was[5..]));
    assert!([2, 4].iter().all(|at| is[*at].texts().eq(["[changed in the store]"])));
    let answer = again.recall(r#"{"message":"m1-m4"}"#).await.unwrap();
    let untold = ["m2 was changed in the store, and cannot be shown", "m4 was changed in the store"];
    assert!(untold.iter().all(|line| answer.contains(line)), "{answer}");
    assert!(!answer.contains("destroyed"), "{answer}");
}

#[tokio::test]
async fn what_was_changed_in_the_store_is_told_and_not_taken_up() {
    let store = Tampered::store(|entries| {
        if let Some(other) = entries.get(3).map(|entry| entry.address) {
            entries.iter_mut().filter(|entry| entry.ordinal == 4).for_each(|entry| entry.address = other);
        }
    });
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let builder = || Session::builder(SessionId::new("kept").unwrap(), WINDOW).store(Arc::clone(&store));
    let mut session = builder().open().await.unwrap();
    (0..3).for_each(|nth| turn(&mut session, nth));
    session.save().await.unwrap();
    let builder = builder().observer(move |event: &crate::Event| {
        if matches!(event.kind, EventKind::ChangedInStore { .. }) {
            log.lock().unwrap().push(event.to_string());
        }
    });
    let again = builder.open().await.unwrap();
    let line = "m4 was changed in the store: it is not what was said, and not shown";
    assert_eq!(*told.lock().unwrap(), [line]);
    let (was, is) = (shown(&session), shown(&again));
    assert_eq!((is.len(), &is[..4], &is[5..]), (was.len(), &was[..4], &was[5..]));
    assert!(is[4].texts().eq(["[changed in the store]"]));
    for asked in [r#"{"message":"m4"}"#, r#"{"query":"part_1 limit_1"}"#] {
        let answer = again.recall(asked).await.unwrap();
        assert!(answer.contains("m4 was changed in the store, and cannot be shown"), "{answer}");
        assert!(!answer.contains("m4 user"), "{answer}");
    }
}
