//! Summarizers of the caller's own: what they leave unsaid, and what stands beside what they say.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use longhaul::{
    Config, Error, Event, EventKind, Preset, Session,
    config::Threshold,
    summarize::{
        Draft, Review, Reviewed, Reviewer, Shown, SummarizeError, Summarizer, SummaryRequest,
        rules::RulesSummarizer,
    },
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{Message, SessionId, Sleep, SummaryMode, Tokens},
};

const RULE: &str = "Never restart the primary during business hours.";
const WORDS: &str = "The parts of the export were discussed, one by one.";

/// Says the same each time, or fails in the same way.
#[derive(Debug)]
struct Own(fn() -> Result<&'static str, SummarizeError>);

#[async_trait]
impl Summarizer for Own {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let text = (self.0)()?.to_owned();
        let tokens = request.counter.count_text(&text);
        Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "own".into(), ..Draft::default() })
    }
}

fn session(config: Config, own: Arc<impl Summarizer + 'static>) -> (Session, Arc<Mutex<Vec<EventKind>>>) {
    let told: Arc<Mutex<Vec<EventKind>>> = Arc::default();
    let log = Arc::clone(&told);
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let mut session = Session::builder(SessionId::new("own").unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(Since(tokio::time::Instant::now())))
        .sleep(Arc::new(Timer))
        .summarizer(own)
        .observer(move |event: &Event| log.lock().unwrap().push(event.kind.clone()))
        .build()
        .unwrap();
    session.push(Message::user(format!("Mind --retry-budget-ms in crates/net/src/dial.rs. {RULE}")));
    session.push(Message::assistant("I will mind it."));
    talk(&mut session);
    (session, told)
}

/// Never answers.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl Summarizer for Silent {
    async fn summarize(&self, _: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        std::future::pending().await
    }
}

/// tokio's timer, which may stand still.
#[derive(Debug)]
struct Timer;

impl Sleep for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// tokio's clock, which may stand still too.
#[derive(Debug)]
struct Since(tokio::time::Instant);

impl longhaul::transcript::Clock for Since {
    fn now_ms(&self) -> i64 {
        self.0.elapsed().as_millis() as i64
    }
}

#[tokio::test(start_paused = true)]
async fn who_never_answers_is_waited_for_as_long_as_is_set() {
    for (config, seconds) in [
        (Config { mode: SummaryMode::Llm, ..Config::default() }, 300),
        (Config { mode: SummaryMode::Hybrid, summary_deadline_ms: 7_000, ..Config::default() }, 7),
    ] {
        let (mut session, told) = session(config, Arc::new(Silent));
        let start = tokio::time::Instant::now();
        session.compact(None).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), seconds);
        assert_eq!(session.state().summary().unwrap().mode, SummaryMode::Rules);
        assert_eq!(reasons(&told), [format!("the summarizer gave nothing within {seconds} s")]);
        let took = |kind: &EventKind| match kind {
            EventKind::SummarizerFailed { duration_ms, .. } => Some(*duration_ms),
            _ => None,
        };
        let took: Vec<u64> = told.lock().unwrap().iter().filter_map(took).collect();
        assert_eq!(took, [seconds * 1_000]);
    }
}

#[tokio::test(start_paused = true)]
async fn who_never_answers_a_reviewer_or_the_background_is_not_waited_for_longer() {
    let config = Config { mode: SummaryMode::Hybrid, summary_deadline_ms: 7_000, ..Config::default() };
    let reviewed = Arc::new(Reviewed::new(Arc::new(Silent), Arc::new(Terse)));
    let (mut session, told) = session(config.clone(), reviewed);
    let start = tokio::time::Instant::now();
    session.compact(None).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 7);
    assert_eq!(reasons(&told), ["the summarizer gave nothing within 7 s"]);

    let trigger_ratio = Threshold::Ratio(0.8);
    let (mut session, _) = self::session(Config { trigger_ratio, ..config }, Arc::new(Silent));
    let background = loop {
        talk(&mut session);
        if let Some(background) = session.start_background() {
            break background;
        }
    };
    let start = tokio::time::Instant::now();
    let answer = background.draft().await;
    assert!(matches!(answer, Err(SummarizeError::TimedOut { .. })), "{answer:?}");
    assert_eq!(start.elapsed().as_secs(), 7);
}

/// Tells the time that it is told.
#[derive(Debug, Default)]
struct Told(std::sync::atomic::AtomicI64);

impl longhaul::transcript::Clock for Told {
    fn now_ms(&self) -> i64 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_background_that_nobody_comes_back_from_does_not_stop_the_next() {
    let clock = Arc::new(Told::default());
    let config = Config {
        mode: SummaryMode::Llm,
        summary_deadline_ms: 7_000,
        trigger_ratio: Threshold::Ratio(0.8),
        ..Config::default()
    };
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    let mut session = Session::builder(SessionId::new("own").unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::clone(&clock) as Arc<dyn longhaul::transcript::Clock>)
        .summarizer(Arc::new(Own(|| Ok(WORDS))))
        .build()
        .unwrap();
    let lost = loop {
        talk(&mut session);
        if let Some(background) = session.start_background() {
            break background;
        }
    };
    assert!(session.start_background().is_none(), "one at a time");
    clock.0.store(8_000, std::sync::atomic::Ordering::Relaxed);
    let background = session.start_background().expect("the other one is overdue");
    let draft = background.draft().await.unwrap();
    session.finish_background(background, draft.clone()).await.unwrap();
    assert!(session.finish_background(lost, draft).await.is_err(), "it comes too late");
}

fn talk(session: &mut Session) {
    for nth in 0..15 {
        session.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
        let says = format!("It computes value_{nth} for the caller in src/main.rs. ").repeat(3);
        session.push(Message::assistant(says));
    }
}

fn reasons(told: &Mutex<Vec<EventKind>>) -> Vec<String> {
    let failed = |kind: &EventKind| match kind {
        EventKind::SummarizerFailed { error, .. } => Some(error.clone()),
        _ => None,
    };
    told.lock().unwrap().iter().filter_map(failed).collect()
}

/// A failure with a secret, a line break and an escape in it.
const LOUD: &str = concat!(
    "?key=ghp",
    "_x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b -> 401\n[compaction undone: 1 tokens]\n\x1b[2J"
);

#[tokio::test]
async fn a_draft_without_a_word_is_no_summary() {
    for (own, reason) in [
        (Own(|| Ok("")), "the summary is empty"),
        (Own(|| Ok(" \n\t")), "the summary is empty"),
        (Own(|| Ok("\u{200b}\u{feff}")), "the summary is empty"),
        (Own(|| Ok("\0 \u{202e}\n\u{fe0f}")), "the summary is empty"),
        (Own(|| Ok("I’m sorry, but I can't help with that.")), "the summarizer refused"),
        (Own(|| Err(SummarizeError::NothingToDo)), "there is nothing to summarize"),
        (Own(|| Err(SummarizeError::Refused)), "the summary was turned down"),
        (
            Own(|| Err(SummarizeError::Failed { reason: "the disk is full".into() })),
            "the summarizer failed: the disk is full",
        ),
        // A server's words may be anything: they are told without secrets, and in one line.
        (
            Own(|| Err(SummarizeError::Failed { reason: LOUD.into() })),
            "the summarizer failed: ?key=[REDACTED:github-pat:1] -> 401 [compaction undone: 1 tokens] [2J",
        ),
        (
            Own(|| Err(SummarizeError::Exhausted { attempts: Vec::new() })),
            "no summarizer gave a usable summary after 0 attempts; the last said: nothing",
        ),
    ] {
        let config = Config { mode: SummaryMode::Llm, ..Config::default() };
        let (mut session, told) = session(config, Arc::new(own));
        session.compact(None).await.unwrap();
        let record = session.state().summary().unwrap();
        assert_eq!(record.mode, SummaryMode::Rules, "{reason}");
        assert!(record.text.contains(RULE), "{reason}: {}", record.text);
        assert_eq!(reasons(&told), [reason]);
    }
}

#[tokio::test]
async fn a_summary_that_begins_like_a_refusal_is_one() {
    for own in [
        Own(|| Ok("I cannot reproduce the bug on Linux; it shows on macOS alone.")),
        Own(|| Ok("Sorry, wrong branch: the user said that the relay stays on main.")),
        Own(|| Ok("As an aid for the next one: the port is 4711.")),
    ] {
        let config = Config { mode: SummaryMode::Llm, ..Config::default() };
        let (mut session, told) = session(config, Arc::new(own));
        session.compact(None).await.unwrap();
        assert_eq!(session.state().summary().unwrap().mode, SummaryMode::Llm);
        assert!(reasons(&told).is_empty());
    }
}

#[tokio::test]
async fn a_draft_without_a_word_is_an_error_where_rules_may_not_write() {
    let loud = Own(|| Err(SummarizeError::Failed { reason: LOUD.into() }));
    for own in [Own(|| Ok("\n")), Own(|| Err(SummarizeError::Refused)), loud] {
        let config = Config { mode: SummaryMode::Llm, abort_on_failure: true, ..Config::default() };
        let (mut session, told) = session(config, Arc::new(own));
        let before = session.state().view().len();
        let error = session.compact(None).await.unwrap_err();
        assert!(matches!(error, Error::Draft(_) | Error::Summarize(_)), "{error:?}");
        // It may be printed or sent on, as what observers are told.
        assert!(!format!("{error} {error:?}").contains(&LOUD[5..30]), "{error}");
        assert!(!error.to_string().contains(['\n', '\x1b']), "{error}");
        assert_eq!(session.state().view().len(), before);
        assert_eq!(reasons(&told).len(), 1);
    }
}

#[tokio::test]
async fn a_draft_without_a_word_from_the_background_changes_nothing() {
    let trigger_ratio = Threshold::Ratio(0.8);
    let config = Config { mode: SummaryMode::Llm, trigger_ratio, ..Config::default() };
    let (mut session, told) = session(config, Arc::new(Own(|| Ok(""))));
    let background = loop {
        talk(&mut session);
        if let Some(background) = session.start_background() {
            break background;
        }
    };
    let before = session.state().view().len();
    let error = session.finish_background(background, Draft::default()).await.unwrap_err();
    assert!(matches!(error, Error::Draft(_)), "{error:?}");
    assert_eq!(session.state().view().len(), before);
    assert_eq!(reasons(&told), ["the summary is empty"]);
}

#[tokio::test]
async fn facts_by_rule_stand_beside_the_words_of_any_summarizer_in_hybrid() {
    for preset in [None, Some(Preset::Chain), Some(Preset::Rolling), Some(Preset::TwoTier)] {
        let config = preset.map_or_else(Config::default, |preset| preset.config());
        let config = Config { mode: SummaryMode::Hybrid, ..config };
        let (mut session, told) = session(config, Arc::new(Own(|| Ok(WORDS))));
        for nth in 0..3 {
            session.compact(None).await.unwrap();
            let record = session.state().summary().unwrap();
            let text = &record.text;
            assert_eq!(record.mode, SummaryMode::Hybrid, "{preset:?} {nth}");
            assert!(text.contains(WORDS) && text.contains(RULE), "{preset:?} {nth}: {text}");
            assert!(text.contains("--retry-budget-ms"), "{preset:?} {nth}: {text}");
            assert!(record.summary.constraints.iter().any(|rule| rule.text.contains("primary")));
            assert_eq!(record.summary.narrative, WORDS);
            talk(&mut session);
        }
        assert!(reasons(&told).is_empty(), "{:?}", reasons(&told));
    }
}

/// Says as much as it is given room for, by one name or another.
#[derive(Debug, Default)]
struct Wordy {
    writes_facts: bool,
    made_with: &'static str,
    limits: Mutex<Vec<Tokens>>,
}

#[async_trait]
impl Summarizer for Wordy {
    fn writes_facts(&self) -> bool {
        self.writes_facts
    }

    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        self.limits.lock().unwrap().push(request.limit);
        let lines = request.limit.0 / (request.counter.count_text(WORDS).0 + 1);
        let text = vec![WORDS; lines as usize].join("\n");
        let tokens = request.counter.count_text(&text);
        let made_with = self.made_with.to_owned();
        Ok(Draft { text, tokens, mode: SummaryMode::Llm, made_with, ..Draft::default() })
    }
}

/// Returns the text of a summary in this mode, and the room that was given for it.
async fn wordy(mode: SummaryMode, preset: Option<Preset>, own: Wordy) -> (String, Tokens) {
    let config = preset.map_or_else(Config::default, |preset| preset.config());
    let own = Arc::new(own);
    let (mut session, _) = session(Config { mode, ..config }, Arc::clone(&own));
    session.compact(None).await.unwrap();
    let limit = own.limits.lock().unwrap()[0];
    (session.state().summary().unwrap().text.clone(), limit)
}

#[tokio::test]
async fn what_a_summarizer_is_called_says_nothing_of_what_it_writes() {
    let (_, whole) = wordy(SummaryMode::Llm, None, Wordy::default()).await;
    for made_with in ["", "mine-1", "prompt-mine"] {
        let own = |writes_facts| Wordy { writes_facts, made_with, ..Wordy::default() };
        let (text, limit) = wordy(SummaryMode::Hybrid, None, own(true)).await;
        assert!(limit == whole && !text.contains("By rule") && !text.contains(RULE), "{made_with}: {text}");
        let (text, limit) = wordy(SummaryMode::Hybrid, None, own(false)).await;
        assert!(limit < whole && text.contains(WORDS) && text.contains(RULE), "{made_with}: {text}");
    }
}

#[tokio::test]
async fn where_no_facts_stand_beside_them_words_have_the_whole_room() {
    for preset in [Preset::Rolling, Preset::TwoTier] {
        let (_, whole) = wordy(SummaryMode::Llm, Some(preset), Wordy::default()).await;
        let (text, limit) = wordy(SummaryMode::Hybrid, Some(preset), Wordy::default()).await;
        assert_eq!(limit, whole, "{preset:?}");
        assert!(text.contains(WORDS) && text.contains(RULE), "{preset:?}: {text}");
    }
}

/// Says so many times as much as it is given room for.
#[derive(Debug)]
struct Overlong(f64);

#[async_trait]
impl Summarizer for Overlong {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let (mut text, limit) = (String::new(), request.limit.scaled(self.0));
        for nth in 0.. {
            let line = format!("Statement {nth}: the part with the number {nth} was discussed at length.\n");
            if request.counter.count_text(&format!("{text}{line}")) > limit {
                break;
            }
            text.push_str(&line);
        }
        let tokens = request.counter.count_text(&text);
        Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "own".into(), ..Draft::default() })
    }
}

#[tokio::test]
async fn words_that_are_too_many_give_way_to_the_facts_by_rule_and_that_is_told() {
    for times in [0.9, 1.5, 2.0, 3.0, 10.0] {
        let config = Config { mode: SummaryMode::Hybrid, ..Config::default() };
        let (mut session, told) = session(config, Arc::new(Overlong(times)));
        session.compact(None).await.unwrap();
        let record = session.state().summary().unwrap();
        let text = &record.text;
        assert_eq!(record.mode, SummaryMode::Hybrid, "{times}");
        assert!(text.contains(RULE) && text.contains("\n## By rule\n"), "{times}: {text}");
        assert!(text.starts_with("Statement 0: "), "{times}: {text}");
        let is_whole = |line: &str| !line.starts_with("Statement") || line.ends_with("at length.");
        assert!(text.lines().all(is_whole), "{times}: {text}");
        let left_out = |what: &&String| what.starts_with("left out of the summarizer's words: ");
        let recorded: Vec<&String> = record.summary.checks.iter().filter(left_out).collect();
        let told = told.lock().unwrap();
        let told: Vec<&String> = told
            .iter()
            .filter_map(|kind| match kind {
                EventKind::LeftOut { what } => Some(what),
                _ => None,
            })
            .collect();
        assert_eq!(told, recorded, "{times}");
        assert!(told.len() <= 1 && (times < 2.0 || told.len() == 1), "{times}: {told:?}");
    }
}

/// Leaves the beginning of one line of what it is shown.
#[derive(Debug)]
struct Terse;

#[async_trait]
impl Reviewer for Terse {
    async fn review(&self, shown: Shown<'_>) -> Review {
        let is_left = |line: &&str| line.contains("src/") || line.contains("the export");
        let left = shown.text.lines().filter(|line| !line.contains(RULE)).find(is_left);
        Review::Edited(left.expect("it says something").split(',').next().unwrap().to_owned())
    }
}

#[tokio::test]
async fn nothing_is_put_beside_what_a_person_made_of_a_summary() {
    let by_rule: Arc<dyn Summarizer> = Arc::new(RulesSummarizer::default());
    for inner in [by_rule, Arc::new(Own(|| Ok(WORDS)))] {
        let config = Config { mode: SummaryMode::Hybrid, ..Config::default() };
        let (mut session, _) = session(config, Arc::new(Reviewed::new(inner, Arc::new(Terse))));
        session.compact(None).await.unwrap();
        let record = session.state().summary().unwrap();
        assert!(!record.text.contains(RULE) && record.text.lines().count() == 1, "{}", record.text);
    }
}

#[tokio::test]
async fn the_words_of_any_summarizer_stay_when_rules_take_over() {
    let config = Config { mode: SummaryMode::Hybrid, ..Config::default() };
    let (mut session, _) = session(config.clone(), Arc::new(Own(|| Ok(WORDS))));
    session.compact(None).await.unwrap();
    let rules = Config { mode: SummaryMode::Rules, ..config };
    let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
    session.switch_model(window, Arc::new(CharsPer4), rules).unwrap();
    talk(&mut session);
    session.compact(None).await.unwrap();
    let text = &session.state().summary().unwrap().text;
    assert_eq!(text.matches(WORDS).count(), 1, "{text}");
    assert!(text.contains(RULE) && !text.contains("## By rule"), "the facts are told anew: {text}");
}

// asserts 000-22
#[tokio::test]
async fn every_rule_stands_beside_few_words_however_long_the_task_is() {
    for (preset, mode) in [
        (Preset::ContextManager, SummaryMode::Hybrid),
        (Preset::ContextManager, SummaryMode::Llm),
        (Preset::TwoTier, SummaryMode::Llm),
        (Preset::Chain, SummaryMode::Hybrid),
        (Preset::Session, SummaryMode::Hybrid),
        (Preset::Rolling, SummaryMode::Llm),
        (Preset::Rolling, SummaryMode::Hybrid),
    ] {
        let window = ContextWindow::new(Tokens(60_000), Tokens::ZERO);
        let mut session = Session::builder(SessionId::new("rules").unwrap(), window)
            .config(Config { mode, ..preset.config() })
            .counter(Arc::new(CharsPer4))
            .summarizer(Arc::new(Own(|| Ok(WORDS))))
            .build()
            .unwrap();
        let task = "Move the export from the old tables to the new ones, one table at a time. ".repeat(16);
        session.push(Message::user(task));
        session.push(Message::assistant("I begin."));
        for nth in 0..24 {
            session.push(Message::user(format!("Never touch the table tab_{nth}x.")));
            session.push(Message::assistant(format!("Noted, {nth}.")));
        }
        for _ in 0..8 {
            talk(&mut session);
        }
        session.compact(None).await.unwrap();
        let shown: String = session
            .state()
            .view()
            .messages()
            .flat_map(|message| message.texts().map(str::to_owned))
            .collect();
        let missing: Vec<u32> =
            (0..24).filter(|nth| !shown.contains(&format!("Never touch the table tab_{nth}x."))).collect();
        assert!(missing.is_empty(), "{preset:?} {mode:?}: {missing:?} of {shown}");
    }
}

#[tokio::test]
async fn in_llm_the_users_rules_stand_beside_the_words_of_any_summarizer() {
    for preset in [None].into_iter().chain(Preset::ALL.map(Some)) {
        let config = preset.map_or_else(Config::default, |preset| preset.config());
        let config = Config { mode: SummaryMode::Llm, ..config };
        let (mut session, told) = session(config.clone(), Arc::new(Own(|| Ok(WORDS))));
        for nth in 0..3 {
            session.compact(None).await.unwrap();
            let view = session.state().view();
            let shown: String = view
                .messages()
                .flat_map(|message| message.texts().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            assert!(shown.contains(WORDS) && shown.contains(RULE), "{preset:?} {nth}: {shown}");
            assert!(!shown.contains("--retry-budget-ms"), "{preset:?} {nth}: no other fact: {shown}");
            talk(&mut session);
        }
        assert!(reasons(&told).is_empty(), "{:?}", reasons(&told));
        // Words that take all of the room give way.
        let (text, limit) = wordy(SummaryMode::Llm, preset, Wordy::default()).await;
        assert!(text.contains(WORDS) && text.contains(RULE), "{preset:?}: {text}");
        assert!(CharsPer4.count_text(&text) <= limit.scaled(1.5), "{preset:?}");
    }
    let config = Config { mode: SummaryMode::Llm, ..Config::default() };
    let (mut session, _) = session(config, Arc::new(Own(|| Ok(WORDS))));
    session.compact(None).await.unwrap();
    let rules = format!("{WORDS}\n\n## By rule\n### Rules and facts from the user\n- m0: {RULE}");
    assert_eq!(session.state().summary().unwrap().text, rules);
}

/// What was told of the user's rules that were left out.
fn told_of_rules(told: &Mutex<Vec<EventKind>>) -> Vec<String> {
    let told = told.lock().unwrap();
    let left_out = told.iter().filter_map(|kind| match kind {
        EventKind::LeftOut { what } if what.contains("rules of the user left out: no room") => {
            Some(what.clone())
        }
        _ => None,
    });
    left_out.collect()
}

/// A conversation of 40 turns that begins with `rules`, compacted; with what was told of these, and with those the view lacks.
async fn ruled(
    mode: SummaryMode,
    own: Option<Arc<dyn Summarizer>>,
    window: u64,
    rules: &[String],
) -> (Session, Vec<String>, Vec<String>) {
    let told: Arc<Mutex<Vec<EventKind>>> = Arc::default();
    let log = Arc::clone(&told);
    let window = ContextWindow::new(Tokens(window), Tokens(500));
    let builder = Session::builder(SessionId::new("ruled").unwrap(), window)
        .config(Config { mode, ..Config::default() })
        .counter(Arc::new(CharsPer4))
        .observer(move |event: &Event| log.lock().unwrap().push(event.kind.clone()));
    let builder = match own {
        Some(own) => builder.summarizer(own),
        None => builder,
    };
    let mut session = builder.build().unwrap();
    session.push(Message::user(format!("We begin. {}", rules.join(" "))));
    session.push(Message::assistant("Understood."));
    for nth in 0..40 {
        session.push(Message::user(format!("Question {nth}: {}", "lorem ipsum dolor ".repeat(30))));
        session.push(Message::assistant(format!("Answer {nth} {}", "dolor ".repeat(50))));
    }
    session.compact(None).await.unwrap();
    let view = session.state().view();
    let shown: String =
        view.messages().flat_map(|message| message.texts().map(str::to_owned).collect::<Vec<_>>()).collect();
    let missing = rules.iter().filter(|rule| !shown.contains(rule.as_str())).cloned().collect();
    let told = told_of_rules(&told);
    let checks = &session.state().summary().unwrap().summary.checks;
    assert!(told.iter().all(|what| checks.contains(what)), "{checks:?}");
    (session, told, missing)
}

#[tokio::test]
async fn what_the_words_leave_is_for_the_users_rules_and_those_left_out_are_counted() {
    let rules = |n: usize| -> Vec<String> {
        (0..n).map(|nth| format!("Never change the function handler_{nth}.")).collect()
    };
    let few: Arc<dyn Summarizer> = Arc::new(Own(|| Ok(WORDS)));
    let (session, told, missing) = ruled(SummaryMode::Llm, Some(Arc::clone(&few)), 8_000, &rules(30)).await;
    assert_eq!((told, missing), (Vec::new(), Vec::new()), "{}", session.state().summary().unwrap().text);
    // Not one word gives way for rules beyond their share.
    let (session, told, missing) = ruled(SummaryMode::Llm, Some(few), 8_000, &rules(90)).await;
    let record = session.state().summary().unwrap();
    assert!(
        record.text.contains(WORDS) && record.tokens <= Tokens(800),
        "{}: {}",
        record.tokens,
        record.text
    );
    assert!(!missing.is_empty() && record.tokens > Tokens(760), "{}", record.text);
    assert_eq!(told, [format!("{} of 90 rules of the user left out: no room", missing.len())]);
    assert!(missing.contains(&rules(1)[0]), "the newest stay: {missing:?}");
    // Where the words take all, a share is the bound.
    let much: Arc<dyn Summarizer> = Arc::new(Overlong(0.9));
    let (session, told, missing) = ruled(SummaryMode::Llm, Some(much), 8_000, &rules(30)).await;
    let record = session.state().summary().unwrap();
    assert!(record.text.contains("Statement 0") && record.tokens <= Tokens(800), "{}", record.text);
    assert!(!missing.is_empty() && missing.len() < 30, "{missing:?}");
    assert_eq!(told, [format!("{} of 30 rules of the user left out: no room", missing.len())]);
}

#[tokio::test]
async fn rules_that_a_summary_by_rule_has_no_room_for_are_counted() {
    let rules: Vec<String> =
        (0..120).map(|nth| format!("Never change the function handler_{nth}.")).collect();
    for mode in [SummaryMode::Rules, SummaryMode::Hybrid] {
        let (_, told, missing) = ruled(mode, None, 8_000, &rules[..20]).await;
        assert_eq!((told, missing), (Vec::new(), Vec::new()), "{mode:?}");
        let (session, told, missing) = ruled(mode, None, 8_000, &rules).await;
        let text = &session.state().summary().unwrap().text;
        assert!(!missing.is_empty(), "{mode:?}: {text}");
        assert_eq!(told, [format!("{} of 120 rules of the user left out: no room", missing.len())], "{text}");
    }
}
