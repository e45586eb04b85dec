//! Sessions in a store: killed and opened again at any moment they go on as if nothing had happened, and what they hold in
//! memory does not grow with their age.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use longhaul_store::{JournalEntry, MemoryStore, SummaryStore};
use longhaul_summarize::{Conversation, LastRequest, Protocol};
use longhaul_tokens::{CharsPer4, ContextWindow, TokenCounter as _};
use longhaul_transcript::{
    FixedClock, Message, Outcome, Part, Role, SessionId, Span, SummaryMode, Tokens, ToolCall, ToolResult,
};

use super::{troubled::Troubled, *};
use crate::{Preset, session::Line};

pub(super) const WINDOW: ContextWindow = ContextWindow { window: Tokens(2_000), reserved_output: Tokens(0) };

pub(super) async fn begin(store: &Arc<impl SummaryStore + 'static>, config: &Config) -> Session {
    let store = Arc::clone(store) as Arc<dyn SummaryStore>;
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).config(config.clone());
    let builder = builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000))).store(store);
    builder.open().await.unwrap()
}

pub(super) fn turn(session: &mut Session, nth: usize) {
    session.push(Message::user(format!("What does src/part_{nth}.rs do? Mind limit_{} please.", nth % 7)));
    let id = format!("c{nth}");
    let call = ToolCall::function(id.as_str(), "read_file", format!(r#"{{"path":"src/part_{nth}.rs"}}"#));
    session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let text = format!("let value_{nth} = compute({nth});\n").repeat(3 + nth % 9);
    let result = ToolResult::text(id.as_str(), text, Outcome::Unstated);
    session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    session.push(Message::assistant(format!("It computes value_{nth} and keeps it.")));
}

pub(super) fn shown(session: &Session) -> Vec<Message> {
    session.state().view().messages().map(|message| (**message).clone()).collect()
}

/// Makes a request, and reports what the provider billed for it.
pub(super) async fn request(session: &mut Session, billed: u64) -> Result<(), Error> {
    let view = session.prepare().await?;
    let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
    let usage = Usage { input: counted + Tokens(billed), ..Usage::default() };
    assert_eq!(session.report_usage(view.id(), &usage), UsageVerdict::Taken);
    Ok(())
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
    session.set_memory("access", &format!("The token is {secret}.")).unwrap();
    let sent = session.prepare().await.unwrap();
    assert!(
        sent.messages()
            .all(|message| message.calls().next().is_some() || format!("{message:?}").contains(&secret))
    );
    assert!(told.lock().unwrap().is_empty(), "nothing is missing yet");
    let (again, told) = open().await;
    assert!(!shown(&again)[0].texts().any(|text| text.contains(&secret)));
    let line = "3 places of this session stand as placeholders: secrets are not stored";
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
    let pinned = session.state().pinned_tokens();
    assert!(pinned > Tokens(500), "{pinned} is told of a hundred calls and their results");
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

/// It was told at the next request, which failed.
#[tokio::test]
async fn a_pin_that_no_request_can_hold_is_refused_and_changes_nothing() {
    let window = ContextWindow::new(Tokens(3_000), Tokens(300));
    let builder = Session::builder(SessionId::new("pins").unwrap(), window);
    let mut session = builder.counter(Arc::new(longhaul_tokens::CharsPer4)).build().unwrap();
    let large = session.push(Message::user("words ".repeat(3_000)));
    let (one, other) = (
        session.push(Message::user("a b ".repeat(1_500))),
        session.push(Message::user("c d ".repeat(1_500))),
    );
    session.push(Message::assistant("I see."));
    session.push(Message::user("Go on."));
    session.prepare().await.unwrap();
    let before = shown(&session);
    let error = session.pin(large).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "m0 cannot be pinned: it costs 4,504 tokens, and with 0 pinned already that is over the budget of 2,700"
    );
    session.pin(one).await.unwrap();
    session.prepare().await.unwrap();
    let error = session.pin(other).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "m2 cannot be pinned: it costs 1,504 tokens, and with 1,504 pinned already that is over the budget of 2,700"
    );
    assert!(session.state().pins().eq([one.ordinal]));
    assert!(session.unpin(one));
    session.pin(other).await.unwrap();
    session.prepare().await.unwrap();
    assert_ne!(shown(&session), before);
}
