//! The manager with summarizers that answer, fail, say too much, and never come back.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use async_trait::async_trait;
use expect_test::expect;
use longhaul_store::{MemoryStore, SummaryStore};
use longhaul_summarize::{Attempt, Draft, SummarizeError, SummaryRequest};
use longhaul_testkit::conversation;
use longhaul_tokens::{CharsPer4, ContextWindow, TokenCounter as _};
use longhaul_transcript::{FixedClock, Outcome, Part, Role, Span, SummaryMode, ToolCall, ToolResult};
use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    config::{OnMaxDepth, SoftAction},
    event::Event,
    session::{RewriteError, Shown},
};

/// What a test's summarizer does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Good,
    Fails,
    TooLong,
    Never,
    /// Breaks its own rules while it holds a lock.
    Panics,
}

/// A summarizer that does what it is told, in turn, and counts how often it was asked.
#[derive(Debug)]
pub(super) struct Told {
    answers: Vec<Answer>,
    asked: AtomicU64,
    lock: Mutex<()>,
}

impl Told {
    pub(super) fn new(answers: &[Answer]) -> Arc<Told> {
        Arc::new(Told { answers: answers.to_vec(), asked: AtomicU64::new(0), lock: Mutex::default() })
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Summarizer for Told {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let nth = self.asked.fetch_add(1, Ordering::Relaxed) as usize;
        let says = |text: String| {
            let tokens = request.counter.count_text(&text);
            Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "told".into(), ..Draft::default() })
        };
        match self.answers[nth % self.answers.len()] {
            Answer::Good => says(format!("{} messages were about files.", request.entries.len())),
            Answer::TooLong => says("much too long ".repeat(request.limit.0 as usize)),
            Answer::Never => std::future::pending().await,
            Answer::Panics => {
                let _held = self.lock.lock().unwrap();
                panic!("byte 3 of {:?} is no boundary", request.entries.len())
            }
            Answer::Fails => Err(SummarizeError::Exhausted {
                attempts: vec![Attempt {
                    summarizer: "told".into(),
                    reason: "timed out".into(),
                    duration_ms: 30_000,
                    ..Attempt::default()
                }],
            }),
        }
    }
}

pub(super) type Log = Arc<Mutex<Vec<Event>>>;

pub(super) fn manager(config: Config, summarizer: Option<Arc<Told>>) -> (Session, Log) {
    let log = Log::default();
    let told = Arc::clone(&log);
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let mut builder = Session::builder(SessionId::new("test").unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_000)))
        .observer(move |event: &Event| told.lock().unwrap().push(event.clone()));
    if let Some(summarizer) = summarizer {
        builder = builder.summarizer(summarizer);
    }
    (builder.build().unwrap(), log)
}

fn llm() -> Config {
    Config { mode: SummaryMode::Llm, soft_action: SoftAction::Off, ..Config::default() }
}

fn talk(context: &mut Session, messages: usize) {
    for nth in 0..messages / 2 {
        context.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
        let says = format!("It computes value_{nth} for the caller in src/main.rs. ").repeat(3);
        context.push(Message::assistant(says));
    }
}

/// The events but for counting, one a line, without the figures that depend on the rules' choices.
fn told(log: &Log) -> String {
    let log = log.lock().unwrap();
    let line = |event: &Event| match &event.kind {
        EventKind::Counted { .. } => None,
        EventKind::Started { action, reason, .. } => {
            Some(format!("started to {action}: {}\n", reason.as_str()))
        }
        EventKind::Finished(finish) => {
            Some(format!("finished in mode {:?} at depth {}\n", finish.mode, finish.depth))
        }
        EventKind::SummarizerFailed { summarizer, .. } => Some(format!("{summarizer} failed\n")),
        _ => Some(format!("{event}\n")),
    };
    log.iter().filter_map(line).collect()
}

// asserts 000-26
#[tokio::test]
async fn a_model_is_asked_once_for_each_trigger() {
    let model = Told::new(&[Answer::Good]);
    let (mut context, log) = manager(llm(), Some(Arc::clone(&model)));
    talk(&mut context, 64);
    context.prepare().await.unwrap();
    context.prepare().await.unwrap();
    assert_eq!(model.asked(), 1);
    assert_eq!(context.state().summary().unwrap().model, "told");
    expect![[r#"
        started to summarize: ratio
        finished in mode Llm at depth 0
    "#]]
    .assert_eq(&told(&log));
}

#[tokio::test]
async fn rules_take_over_where_the_model_fails_or_says_too_much() {
    let model = Told::new(&[Answer::Fails, Answer::TooLong]);
    let (mut context, log) = manager(llm(), Some(Arc::clone(&model)));
    talk(&mut context, 64);
    context.prepare().await.unwrap();
    assert_eq!(context.state().summary().unwrap().mode, SummaryMode::Rules);
    while model.asked() < 2 {
        talk(&mut context, 2);
        context.prepare().await.unwrap();
    }
    expect![[r#"
        started to summarize: ratio
        told failed
        finished in mode Rules at depth 0
        started to summarize: ratio
        summarizer failed
        finished in mode Rules at depth 1
    "#]]
    .assert_eq(&told(&log));
}

#[tokio::test]
async fn abort_on_failure_returns_the_error_and_changes_nothing() {
    let model = Told::new(&[Answer::Fails]);
    let (mut context, _) = manager(Config { abort_on_failure: true, ..llm() }, Some(Arc::clone(&model)));
    talk(&mut context, 64);
    let before: Vec<_> = context.state().view().messages().cloned().collect();
    let error = context.prepare().await.unwrap_err();
    assert!(error.to_string().starts_with("no summary could be made: no summarizer gave"), "{error}");
    assert_eq!(context.state().view().messages().cloned().collect::<Vec<_>>(), before);
    // It is not asked again at once, and at the hard limit the rules must do.
    context.prepare().await.unwrap();
    assert_eq!(model.asked(), 1);
    talk(&mut context, 20);
    let view = context.prepare().await.unwrap();
    assert!(view.tokens() <= Tokens(2_000));
    assert_eq!(context.state().summary().unwrap().mode, SummaryMode::Rules);
}

#[tokio::test]
async fn switched_off_it_says_so_when_the_conversation_no_longer_fits() {
    let (mut context, _) = manager(Config { enabled: false, ..Config::default() }, None);
    talk(&mut context, 100);
    let error = context.prepare().await.unwrap_err();
    expect!["the context costs 2,993 tokens, 993 over the budget of 2,000; at least 215 must stay (switched off (enabled = false))"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn what_must_stay_and_does_not_fit_is_an_error_with_the_floor() {
    let (mut context, _) = manager(Config::default(), None);
    context.push(Message::system("rule ".repeat(1_700)));
    context.push(Message::user("Go"));
    let error = context.prepare().await.unwrap_err().to_string();
    expect!["the context costs 2,138 tokens, 138 over the budget of 2,000; at least 2,138 must stay (138 tokens over the hard limit, and the attempt could not go below 2,138)"].assert_eq(&error);
    assert_eq!(context.prepare().await.unwrap_err().to_string(), error, "asked again, it says the same");
}

// asserts 000-26
#[tokio::test]
async fn a_summary_made_in_the_background_is_applied_with_what_was_said_meanwhile() {
    let model = Told::new(&[Answer::Good]);
    let (mut context, _) = manager(llm(), Some(Arc::clone(&model)));
    talk(&mut context, 64);
    let background = context.start_background().unwrap();
    assert!(context.start_background().is_none(), "one at a time");
    context.push(Message::user("Meanwhile"));
    context.prepare().await.unwrap();
    assert_eq!(model.asked(), 0, "the foreground waits");
    let draft = model.summarize(background.job().request()).await.unwrap();
    context.finish_background(background, draft).await.unwrap();
    let last = context.state().view().messages().last().unwrap().texts().collect::<String>();
    assert_eq!(last, "Meanwhile");
    assert!(context.state().summary().is_some());
}

#[tokio::test]
async fn a_summary_in_the_background_begins_in_time_where_the_trigger_lies_near_the_limit() {
    for window in [8_000, 16_000, 32_000] {
        for words in [20, 60, 110] {
            let window = ContextWindow::new(Tokens(window), Tokens(window / 8));
            let builder = Session::builder(SessionId::new("in-time").unwrap(), window);
            let builder = builder.counter(Arc::new(CharsPer4)).summarizer(Told::new(&[Answer::Good]));
            let config = Config { mode: SummaryMode::Llm, soft_action: SoftAction::Off, ..Config::default() };
            let mut context = builder.config(config).build().unwrap();
            let background = (0..).find_map(|nth| {
                context.push(Message::user(format!("Part {nth} waits for {nth}. ").repeat(words)));
                context.push(Message::assistant(format!("It holds value_{nth}. ").repeat(words)));
                assert!(context.state().tokens() < context.state().budget(), "it is too late");
                context.start_background()
            });
            let (reason, tokens) = (background.unwrap().job().reason(), context.state().tokens());
            let left = context.state().budget() - tokens;
            let is_early = tokens < context.state().limits().trigger;
            assert!(!is_early || left.0 <= 28 * words as u64, "{left} are left of {window:?}");
            let told =
                if is_early { "tokens come near the trigger at" } else { "tokens reach the trigger at" };
            assert!(reason.to_string().contains(told), "{reason}");
        }
    }
}

/// A summarizer that takes as long as two requests is in time also where one tool result is as large as ten others.
#[tokio::test]
async fn a_summary_in_the_background_is_in_time_where_requests_differ_in_size() {
    let model = Told::new(&[Answer::Good]);
    let window = ContextWindow::new(Tokens(16_000), Tokens(2_000));
    let builder = Session::builder(SessionId::new("uneven").unwrap(), window);
    let builder = builder.counter(Arc::new(CharsPer4)).summarizer(Arc::clone(&model) as Arc<_>);
    let config = Config { mode: SummaryMode::Llm, soft_action: SoftAction::Off, ..Config::default() };
    let mut context = builder.config(config).build().unwrap();
    let (mut under_way, mut made) = (None, 0);
    for nth in 0..200 {
        let words = if nth % 7 == 3 { 480 } else { 48 };
        context.push(Message::user(format!("Part {nth} waits for {nth}. ")));
        context.push(Message::assistant(format!("It holds value_{nth}. ").repeat(words)));
        if let Some((background, since)) = under_way.take() {
            if nth < since + 2 {
                under_way = Some((background, since));
            } else {
                let background: crate::Background = background;
                let draft = model.summarize(background.job().request()).await.unwrap();
                context.finish_background(background, draft).await.unwrap();
                made += 1;
            }
        }
        if under_way.is_none() {
            under_way = context.start_background().map(|background| (background, nth));
        }
        let asked = model.asked();
        context.prepare().await.unwrap();
        assert_eq!(model.asked(), asked, "{nth}: prepare waits for no model");
    }
    assert!(made > 4, "{made}");
}

#[tokio::test]
async fn a_background_job_that_is_dropped_or_overtaken_holds_nothing_up() {
    let model = Told::new(&[Answer::Good]);
    let (mut context, _) = manager(llm(), Some(Arc::clone(&model)));
    talk(&mut context, 64);
    drop(context.start_background().unwrap());
    let background = context.start_background().unwrap();
    let draft = model.summarize(background.job().request()).await.unwrap();
    // The hard limit does not wait for the background.
    talk(&mut context, 20);
    context.prepare().await.unwrap();
    assert!(context.state().summary().is_some());
    let summary = context.state().summary().unwrap().id.clone();
    let error = context.finish_background(background, draft).await.unwrap_err();
    assert!(matches!(error, Error::Rewrite(RewriteError::Stale)), "{error:?}");
    assert_eq!(context.state().summary().unwrap().id, summary);
}

#[tokio::test]
async fn dropping_prepare_at_its_await_changes_nothing() {
    let model = Told::new(&[Answer::Never, Answer::Good]);
    let (mut context, _) = manager(llm(), Some(Arc::clone(&model)));
    talk(&mut context, 64);
    let before: Vec<_> = context.state().view().messages().cloned().collect();
    let policy = context.state().policy().clone();
    {
        let mut prepare = pin!(context.prepare());
        assert!(matches!(prepare.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    }
    assert_eq!(model.asked(), 1);
    assert_eq!(context.state().view().messages().cloned().collect::<Vec<_>>(), before);
    assert_eq!(context.state().policy(), &policy);
    context.prepare().await.unwrap();
    assert_eq!(model.asked(), 2);
}

// asserts 000-24
#[tokio::test]
async fn a_compaction_asked_for_is_made_whatever_the_policy_says() {
    let (mut context, log) = manager(Config::default(), None);
    talk(&mut context, 40);
    assert!(!context.decide().is_act());
    let rewrite = context.compact(Some("what value_3 is")).await.unwrap();
    assert!(rewrite.outcome.tokens_after < rewrite.outcome.tokens_before);
    assert!(context.undo().await.unwrap());
    assert!(context.redo().await.unwrap());
    assert!(!context.redo().await.unwrap());
    assert!(told(&log).contains("manual"));
}

// asserts 004-20, 004-44
#[tokio::test]
async fn a_stored_conversation_is_taken_up_as_it_was_left() {
    let store = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let builder = || {
        Session::builder(SessionId::new("test").unwrap(), window)
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
    };
    let mut context = builder().build().unwrap();
    talk(&mut context, 64);
    context.prepare().await.unwrap();
    talk(&mut context, 40);
    context.prepare().await.unwrap();
    context.push(Message::user("The last word"));
    context.save().await.unwrap();

    let resumed = builder().open().await.unwrap();
    let session = context.state().session().clone();
    assert_eq!(store.state(&session).await.unwrap().unwrap().messages, 105);
    assert!(store.verify(&session).await.unwrap().is_intact());
    assert_eq!(resumed.state().summary().unwrap().id, context.state().summary().unwrap().id);
    // The chain in its order, each behind the one that it was made of.
    let chain = store.chain(&session).await.unwrap();
    assert!(chain.len() > 1);
    assert!(chain.windows(2).all(|pair| pair[1].parent.as_ref() == Some(&pair[0].id)));
    assert_eq!(
        chain.iter().map(|record| record.depth).collect::<Vec<_>>(),
        (0..chain.len() as u32).collect::<Vec<_>>()
    );
    let texts = |context: &Session| -> Vec<String> {
        context.state().view().messages().map(|message| message.texts().collect()).collect()
    };
    assert_eq!(texts(&resumed), texts(&context));

    assert!(context.undo().await.unwrap());
    let head = store.state(&session).await.unwrap().unwrap().head().cloned();
    assert_eq!(head, context.state().summary().map(|record| record.id.clone()));
}

// asserts 002-31
#[tokio::test]
async fn originals_are_deleted_once_a_summary_covers_them_and_what_they_said_is_kept() {
    let store = Arc::new(MemoryStore::new());
    let session = SessionId::new("deleting").unwrap();
    let builder = || {
        Session::builder(session.clone(), ContextWindow::new(Tokens(2_000), Tokens::ZERO))
            .config(Config { delete_originals: true, soft_action: SoftAction::Off, ..Config::default() })
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
    };
    let mut context = builder().build().unwrap();
    context
        .push(Message::user("Move the export in src/ledger/export.rs. Never touch the table audit_trail."));
    let is_there = async |store: &MemoryStore| {
        let said = store.state(&session).await.unwrap().unwrap().messages;
        let originals = store.originals(&session, Span { start: 0, end: said }).await.unwrap();
        originals.into_iter().map(|original| original.message.is_some()).collect::<Vec<_>>()
    };
    for round in 1..=7 {
        while context.state().summary().is_none_or(|record| record.covers.end <= 10 * round) {
            talk(&mut context, 2);
            context.prepare().await.unwrap();
        }
        context.save().await.unwrap();
        // In the store is what the view shows as it was said, and nothing else.
        let there = is_there(&store).await;
        let shown: Vec<u64> = context.state().view().shown().filter_map(verbatim).collect();
        for (at, is_there) in (0u64..).zip(there) {
            assert_eq!(is_there, shown.contains(&at), "message {at} after round {round}");
        }
        assert!(store.verify(&session).await.unwrap().is_intact());
        let said = context.state().view().messages().next().unwrap().texts().collect::<String>();
        assert!(said.contains("Never touch the table audit_trail."), "round {round}: {said}");
        assert!(said.contains("src/ledger/export.rs"), "round {round}: {said}");
        if round % 2 == 0 {
            context = builder().open().await.unwrap();
        }
        // The summary is all that is left of them: it is not taken back, and nothing changes.
        let view = |context: &Session| -> Vec<String> {
            context.state().view().messages().map(|message| message.texts().collect()).collect()
        };
        let before = view(&context);
        let refused = context.undo().await.unwrap_err();
        assert!(matches!(refused, Error::OnlyInSummary { messages } if messages > 0), "{refused}");
        assert!(refused.to_string().contains("were deleted"), "{refused}");
        assert!(store.undo(&session, 1).await.unwrap_err().to_string().contains("were deleted"));
        assert!(view(&context) == before && !context.redo().await.unwrap());
        assert_eq!(view(&builder().open().await.unwrap()), before, "round {round}");
    }
}

#[tokio::test]
async fn what_one_conversation_learned_of_a_provider_serves_the_next() {
    let store = Arc::new(MemoryStore::new());
    let begin = |name: &str, endpoint: &str| {
        Session::builder(SessionId::new(name).unwrap(), ContextWindow::new(Tokens(100_000), Tokens::ZERO))
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
            .endpoint("model", endpoint)
    };
    let mut first = begin("first", "host").open().await.unwrap();
    for _ in 0..12 {
        talk(&mut first, 2);
        let sent = first.prepare().await.unwrap().id();
        let counted = (0..first.state().originals().len() as u64).map(|ordinal| first.state().cost(ordinal));
        let bill = counted.sum::<Tokens>().scaled(1.5) + Tokens(40);
        first.report_usage(sent, &Usage { input: bill, ..Usage::default() });
        first.save().await.unwrap();
    }
    let expected = async |name: &str, endpoint: &str| {
        let mut context = begin(name, endpoint).open().await.unwrap();
        talk(&mut context, 10);
        let counted =
            (0..context.state().originals().len() as u64).map(|ordinal| context.state().cost(ordinal));
        context.state().estimate().mid.ratio_of(counted.sum())
    };
    let (same, other) = (expected("second", "host").await, expected("third", "elsewhere").await);
    assert!(same > 1.4 && other < 1.1, "{same} at the same endpoint, {other} at another");
}

fn verbatim(shown: &Shown) -> Option<u64> {
    match shown {
        Shown::Message { id, digested: false, .. } => Some(id.ordinal),
        _ => None,
    }
}

#[tokio::test]
async fn no_secret_reaches_a_summary_a_summarizer_or_a_store() {
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let store = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let mut context = Session::builder(SessionId::new("test").unwrap(), window)
        .counter(Arc::new(CharsPer4))
        .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
        .build()
        .unwrap();
    context
        .push(Message::user(format!("Never print the token {secret} anywhere, and use it for the deploy")));
    talk(&mut context, 64);
    context.prepare().await.unwrap();
    let record = context.state().summary().unwrap();
    assert_eq!(record.redactions.len(), 1);
    assert!(!serde_json::to_string(&**record).unwrap().contains(&secret));
    assert!(!format!("{:?}", context.state().index()).contains(&secret));
    let session = context.state().session().clone();
    let stored = store.originals(&session, longhaul_transcript::Span { start: 0, end: 9 }).await.unwrap();
    assert!(!format!("{stored:?}").contains(&secret));
    // What the user said is the user's, and stays as it was.
    assert!(context.state().originals().entries()[0].message.texts().any(|text| text.contains(&secret)));
}

#[tokio::test]
async fn a_store_that_fails_stops_the_compaction_before_the_view_changes() {
    let store = Arc::new(MemoryStore::new());
    let window = ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let session = SessionId::new("test").unwrap();
    // Somebody else wrote another conversation under this name.
    let other = [longhaul_transcript::Redacted::assume(Message::user("Another conversation"))];
    store.journal(&session, 0, &other, 0).await.unwrap();
    let mut context = Session::builder(session, window)
        .counter(Arc::new(CharsPer4))
        .store(store as Arc<dyn SummaryStore>)
        .when_overtaken(Overtaken::Stop)
        .build()
        .unwrap();
    talk(&mut context, 64);
    assert!(matches!(context.prepare().await, Err(Error::Store(_))));
    assert!(context.state().summary().is_none());
    assert_eq!(context.state().view().len(), 64);
}

#[tokio::test]
async fn an_error_says_by_itself_what_to_do() {
    let window = ContextWindow::new(Tokens(8_000), Tokens(500));
    let builder = || Session::builder(SessionId::new("test").unwrap(), window);
    let error = builder().build().unwrap().compact(None).await.unwrap_err().to_string();
    assert!(error.contains("there is nothing to compact"), "{error}");
    let config = Config { preset: Some(crate::Preset::Chain), ..Config::default() };
    let error = builder().config(config).build().unwrap_err().to_string();
    assert!(error.contains("begin with Preset::Chain.config()"), "{error}");
    let log = Log::default();
    let told = Arc::clone(&log);
    let config = Config { max_context_tokens: Some(Tokens(9_000)), ..Config::default() };
    let observed = builder().observer(move |event: &Event| told.lock().unwrap().push(event.clone()));
    observed.config(config).build().unwrap();
    let lines: Vec<_> = log.lock().unwrap().iter().map(ToString::to_string).collect();
    let why = "it is more than the window that was given, or than the model has";
    assert_eq!(lines, [format!("max_context_tokens has no effect: {why}")]);
}

#[tokio::test]
async fn a_view_that_makes_no_request_says_so() {
    let (mut context, _) = manager(Config::default(), None);
    let view = context.prepare().await.unwrap();
    assert!(view.is_empty() && view.is_only_instructions());
    context.push(Message::system("Be brief."));
    context.set_memory("user", "Ann").unwrap();
    let view = context.prepare().await.unwrap();
    assert!(!view.is_empty() && view.is_only_instructions());
    context.push(Message::user(" \n"));
    assert!(context.prepare().await.unwrap().is_only_instructions());
    context.push(Message::user("Now."));
    assert!(!context.prepare().await.unwrap().is_only_instructions());
}

#[tokio::test]
async fn a_view_that_ends_with_calls_says_so() {
    let (mut context, _) = manager(Config::default(), None);
    context.push(Message::user("Go."));
    assert!(!context.prepare().await.unwrap().has_open_calls());
    let calls = ["c0", "c1"].map(|id| Part::ToolCall(ToolCall::function(id, "bash", "{}")));
    context.push(Message::new(Role::Assistant, calls.to_vec()));
    assert!(context.prepare().await.unwrap().has_open_calls());
    for (id, is_open) in [("c1", true), ("c0", false)] {
        let result = ToolResult::text(id, "ok", Outcome::Succeeded);
        context.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        assert_eq!(context.prepare().await.unwrap().has_open_calls(), is_open, "{id}");
    }
}

#[test]
fn its_futures_can_be_sent_and_it_can_be_shared() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (mut context, _) = manager(Config::default(), None);
    drop(is_send(context.prepare()));
    drop(is_send(context.compact(None)));
    is_send(context);
}

/// Runs an agent whose bills are `factor(n)` times what is counted, and returns how many requests were made and how many of them
/// were billed over the budget.
async fn billed_unevenly(factor: impl Fn(u64) -> f64) -> (u64, u64) {
    let session = SessionId::new("uneven").unwrap();
    let mut session = Session::builder(session, ContextWindow::new(Tokens(8_000), Tokens(1_000)))
        .counter(Arc::new(CharsPer4))
        .build()
        .unwrap();
    session.push(Message::system("Be brief."));
    let (mut n, mut over) = (0, 0);
    for turn in 0..30u64 {
        session.push(Message::user(format!("Look at module_{turn}.rs and tell me of defect {}.", turn * 37)));
        for round in 0..=turn % 4 {
            n += 1;
            let view = session.prepare().await.unwrap_or_else(|error| panic!("request {n}: {error}"));
            let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
            let bill = counted.scaled(factor(n));
            over += u64::from(bill > Tokens(7_000));
            session.report_usage(view.id(), &Usage { input: bill, ..Usage::default() });
            if round == turn % 4 {
                session.push(Message::assistant(format!("Defect {} is in line {}.", turn * 37, turn * 11)));
            } else {
                let id = format!("c{turn}_{round}");
                let call =
                    ToolCall::function(id.clone(), "read".to_owned(), format!(r#"{{"path":"{turn}.rs"}}"#));
                session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
                let text = format!("line {turn} of {round}\n")
                    .repeat([4_000, 600, 0, 30, 150, 900][((turn + round) % 6) as usize] / 14);
                let result = ToolResult::text(id, text, Outcome::Succeeded);
                session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
            }
        }
    }
    (n, over)
}

#[tokio::test]
async fn uneven_bills_do_not_wedge_a_session_whose_floor_fits() {
    let noise = |n: u64, spread: f64| {
        let random =
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
        1.0 + spread * (random as f64 / (1u64 << 23) as f64 - 1.0)
    };
    for (even, odd) in [(1.0, 1.25), (1.0, 1.5), (1.0, 2.0), (1.5, 1.7)] {
        let (n, over) = billed_unevenly(|n| if n % 2 == 0 { even } else { odd }).await;
        assert!(over * 10 <= n, "{even} and {odd}: {over} of {n} were over the budget");
    }
    for (factor, spread) in [(1.3, 0.1), (1.6, 0.2), (2.0, 0.3)] {
        let (n, over) = billed_unevenly(|n| factor * noise(n, spread)).await;
        assert!(over * 10 <= n, "{factor} and {spread}: {over} of {n} were over the budget");
    }
}

#[tokio::test]
async fn an_unpinned_message_that_was_too_large_wedges_nothing() {
    for prepares_between in [true, false] {
        let session = SessionId::new("pins").unwrap();
        let mut session =
            Session::builder(session, ContextWindow::new(Tokens(64_000), Tokens(1_000))).build().unwrap();
        let large: String = (0..4_000).map(|nth| format!("line {nth} of it\n")).collect();
        let large = session.push(Message::user(large));
        session.prepare().await.unwrap();
        session.pin(large).await.unwrap();
        let small = ContextWindow::new(Tokens(8_000), Tokens(1_000));
        session.switch_model(small, Arc::new(CharsPer4), Config::default()).unwrap();
        if prepares_between {
            let error = session.prepare().await.unwrap_err().to_string();
            assert!(error.contains("of them pinned or in memory blocks"), "{error}");
        }
        session.unpin(large);
        let view = session.prepare().await.unwrap();
        assert!(view.tokens() <= Tokens(7_000) && view.cut().is_some());
    }
}

#[tokio::test]
async fn a_memory_block_has_a_name_that_its_header_can_bear() {
    let session = SessionId::new("names").unwrap();
    let mut session =
        Session::builder(session, ContextWindow::new(Tokens(8_000), Tokens(1_000))).build().unwrap();
    let key = format!("key ghp_{}", "x7Kq2mZp9LwRt4Vb".repeat(3).get(..36).unwrap());
    for name in ["", "  ", "a\nb", "a]", "\u{1b}[2J", &key] {
        let error = session.set_memory(name, "x").unwrap_err().to_string();
        assert!(error.contains("cannot name a memory block") && !error.contains("x7Kq2"), "{error}");
    }
    session.set_memory("plan of the week: 日本", "Ship.").unwrap();
    assert_eq!(session.state().memory().count(), 1);
}

/// 2,000 cases, or as many as `PROPTEST_CASES` says for a long run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn whatever_the_summarizer_does_the_view_fits_or_the_caller_is_told(
        conversation in conversation(8),
        answers in vec(prop_oneof![Just(Answer::Good), Just(Answer::Fails), Just(Answer::TooLong)], 1..4),
        window in 300u64..3_000, abort_on_failure in any::<bool>(), halt in any::<bool>(), cooldown_messages in 0u64..6,
    ) {
        let on_max_depth = if halt { OnMaxDepth::Halt } else { OnMaxDepth::Rebuild };
        let config = Config { abort_on_failure, on_max_depth, cooldown_messages, min_messages: 4, ..llm() };
        let model = Told::new(&answers);
        let events = Log::default();
        let log = Arc::clone(&events);
        let session = SessionId::new("test").unwrap();
        let mut context = Session::builder(session, ContextWindow::new(Tokens(window), Tokens::ZERO))
            .config(config)
            .counter(Arc::new(CharsPer4))
            .summarizer(Arc::clone(&model) as Arc<dyn Summarizer>)
            .observer(move |event: &Event| log.lock().unwrap().push(event.clone()))
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for entry in conversation.entries() {
            context.push(Arc::clone(&entry.message));
            let asked = model.asked();
            let prepared = runtime.block_on(context.prepare()).map(|view| view.tokens());
            // A call for the trigger, one for the limit, and where one of these left too much one for the second pass.
            let most = 2 + u64::from(told(&events).contains("second_pass"));
            prop_assert!(model.asked() - asked <= most, "{} calls: {}", model.asked() - asked, told(&events));
            events.lock().unwrap().clear();
            match prepared {
                Ok(tokens) => prop_assert!(tokens <= Tokens(window)),
                Err(Error::OverBudget { over, .. }) => prop_assert!(over > Tokens::ZERO),
                Err(Error::Summarize(_) | Error::Draft(_)) => prop_assert!(abort_on_failure),
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
        prop_assert_eq!(context.state().originals().len(), conversation.len());
    }
}
