//! What callers add to a compaction: steps of their own, a ranker of their own, and when words are safe.

use std::sync::Arc;

use longhaul::{
    BuildError, Change, CompactionStep, Config, Error, EventKind, Job, Session, SessionState, Shown,
    StepUnit, Steps,
    compact::CompactError,
    config::Chaining,
    extract::{Fact, RankContext, Ranker},
    policy::{Action, Reason},
    summarize::{CompletionClient, Scripted, SummarizerModel, rules::RulesOptions},
    tokens::{CharsPer4, ContextWindow},
    transcript::{
        Message, NoJitter, NoSleep, Outcome, Role, SessionId, Span, SummaryMode, Tokens, UnitState,
    },
};

use crate::work::{exchange, text};

/// Does what its function says.
struct Does(&'static str, Asks);

type Asks = fn(&[StepUnit<'_>]) -> Vec<Change>;

impl std::fmt::Debug for Does {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl CompactionStep for Does {
    fn name(&self) -> &str {
        self.0
    }

    fn changes(&self, units: &[StepUnit<'_>]) -> Vec<Change> {
        (self.1)(units)
    }
}

/// The ordinals of what may be changed and says `words`.
fn saying(units: &[StepUnit<'_>], words: &str) -> Vec<u64> {
    let entries = units.iter().filter(|unit| !unit.stays).flat_map(|unit| unit.unit.entries);
    entries.filter(|entry| text(&entry.message).contains(words)).map(|entry| entry.id.ordinal).collect()
}

fn session(set: impl FnOnce(longhaul::Builder) -> longhaul::Builder) -> Session {
    let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
    let builder = Session::builder(SessionId::new("steps").unwrap(), window).counter(Arc::new(CharsPer4));
    let mut session = set(builder).build().unwrap();
    session.push(Message::system("You are a careful engineer."));
    session.push(Message::user("Make the suite pass."));
    for nth in 0..12 {
        let id = format!("call_{nth}");
        let output = format!("part_{nth} says zebra-{nth}-end\n").repeat(12);
        let command = format!(r#"{{"command":"cargo test part_{nth}"}}"#);
        for message in exchange(&id, "bash", &command, &output, Outcome::Succeeded) {
            session.push(message);
        }
        session.push(Message::assistant(format!("Part {nth} was run; it is plain so far.")));
    }
    session.push(Message::user("What is left?"));
    session
}

/// The messages of the view, summaries apart: these may quote what is not shown.
fn sent(session: &Session) -> String {
    let view = session.state().view();
    let message = |shown: &Shown| match shown {
        Shown::Message { message, .. } => text(message) + "\n",
        _ => String::new(),
    };
    view.shown().map(message).collect()
}

fn is_whole(session: &Session) -> bool {
    let said: longhaul::transcript::Transcript = session.state().view().messages().cloned().collect();
    said.units().all(|unit| unit.state != UnitState::Broken)
}

#[tokio::test]
async fn steps_before_drop_replace_and_pin() {
    let mut plain = session(|builder| builder);
    plain.compact(None).await.unwrap();
    assert!(sent(&plain).contains("part_11 says") && !sent(&plain).contains("part_2 says"));

    let mut stepped = session(|builder| {
        builder
            .step_before(Does("forgets", |units| {
                saying(units, "part_11 says").into_iter().map(Change::Drop).collect()
            }))
            .step_before(Does("masks", |units| {
                let masked = |message: &Message| {
                    let result = message.results().next().unwrap();
                    let id = result.call_id.as_str();
                    let [_, masked] = exchange(id, "bash", "{}", "[masked]", Outcome::Succeeded);
                    masked
                };
                let at = saying(units, "part_10 says")[0];
                let entries = units.iter().flat_map(|unit| unit.unit.entries);
                let entry = entries.into_iter().find(|entry| entry.id.ordinal == at).unwrap();
                vec![Change::Replace(at, masked(&entry.message))]
            }))
            .step_before(Does("keeps", |units| {
                saying(units, "part_2 says").into_iter().map(Change::Pin).collect()
            }))
    });
    let rewrite = stepped.compact(None).await.unwrap();
    let seen = sent(&stepped);
    assert!(!seen.contains("part_11 says") && seen.contains("[masked]"), "{seen}");
    assert!(
        !seen.contains("part_10 says") && seen.contains("part_2 says zebra-2-end\n".repeat(12).trim_end()),
        "{seen}"
    );
    assert!(is_whole(&stepped));
    let record = rewrite.record.unwrap();
    assert!(record.made_with.ends_with("+forgets+masks+keeps"), "{}", record.made_with);
    let covered: Vec<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
    assert!(covered.is_sorted());
    // What is not shown as it was said is covered, and comes back with an undo.
    let dropped = stepped.state().originals().entries();
    for entry in dropped.iter().filter(|entry| text(&entry.message).contains("part_1")) {
        let is_shown = stepped.state().view().messages().any(|message| **message == *entry.message);
        assert_eq!(is_shown, !covered.contains(&entry.id.ordinal), "m{}", entry.id.ordinal);
    }
    assert!(stepped.undo().await.unwrap());
    assert!(sent(&stepped).contains("part_11 says"));
}

/// A step that heeds what stays fails no compaction, and takes nothing that the model has yet to read.
#[tokio::test]
async fn results_that_the_model_has_yet_to_read_stay() {
    let drops: Asks = |units| {
        let may_go = units.iter().filter(|unit| !unit.stays);
        may_go.map(|unit| Change::Drop(unit.unit.entries[0].id.ordinal)).collect()
    };
    for is_before in [true, false] {
        let mut stepped = session(|builder| match is_before {
            true => builder.step_before(Does("drops", drops)),
            false => builder.step_after(Does("drops", drops)),
        });
        for message in
            exchange("unread", "bash", "{}", &"what was read last\n".repeat(20), Outcome::Succeeded)
        {
            stepped.push(message);
        }
        let rewrite = stepped.compact(None).await.unwrap();
        assert!(rewrite.record.is_some_and(|record| record.made_with.ends_with("+drops")));
        let seen = sent(&stepped);
        assert!(
            seen.trim_end().ends_with("what was read last") && !seen.contains("part_11 says"),
            "{is_before}: {seen}"
        );
        assert!(is_whole(&stepped));
    }
}

#[tokio::test]
async fn a_step_that_cannot_be_done_is_left_out_at_the_hard_limit() {
    let unknown: Asks = |_| vec![Change::Drop(4_711)];
    let quoted: Asks = |units| {
        let quoted = units.iter().filter(|unit| unit.is_quoted).map(|unit| unit.unit.entries[0].id.ordinal);
        quoted.map(Change::Pin).collect()
    };
    let panics: Asks = |_| panic!("of the step's own");
    for (name, asks) in [("unknown", unknown), ("quoted", quoted), ("panics", panics)] {
        for is_before in [true, false] {
            let told: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
            let log = Arc::clone(&told);
            let mut session = session(|builder| {
                let config = Config { abort_on_failure: true, ..Config::default() };
                let builder = builder.config(config).observer(move |event: &longhaul::Event| {
                    log.lock().unwrap().push(event.to_string());
                });
                match is_before {
                    true => builder.step_before(Does(name, asks)),
                    false => builder.step_after(Does(name, asks)),
                }
            });
            for nth in 0..60 {
                session
                    .push(Message::assistant(format!("More {nth}: {}", "it is said at length ".repeat(20))));
                session.push(Message::user(format!("And {nth}?")));
                let view = session.prepare().await.unwrap();
                assert!(view.tokens() <= Tokens(6_000), "{name}: {}", view.tokens());
            }
            let told = told.lock().unwrap().join("\n");
            let expected = match name {
                "unknown" => "the step \"unknown\" cannot be done: m4711",
                "panics" => "the step \"panics\" cannot be done: it panicked",
                _ => "",
            };
            assert!(told.contains(expected), "{told}");
        }
    }
}

#[tokio::test]
async fn steps_after_see_what_would_stay() {
    let mut stepped = session(|builder| {
        builder.step_after(Does("trims", |units| {
            assert!(units.len() < 20, "the tail, not everything");
            let calls = units
                .iter()
                .filter(|unit| !unit.stays && unit.unit.messages().any(|m| m.calls().next().is_some()));
            calls.map(|unit| Change::Drop(unit.unit.entries[0].id.ordinal)).collect()
        }))
    });
    let before = stepped.state().tokens();
    let rewrite = stepped.compact(None).await.unwrap();
    assert!(stepped.state().view().messages().all(|message| message.calls().next().is_none()));
    assert!(is_whole(&stepped) && stepped.state().tokens() < before);
    let record = rewrite.record.unwrap();
    assert!(record.made_with.ends_with("+trims"), "{}", record.made_with);
    assert_eq!(rewrite.outcome.tokens_after, stepped.state().tokens());
}

#[tokio::test]
async fn a_step_that_asks_for_what_cannot_be_changes_nothing() {
    let newest = |units: &[StepUnit<'_>]| {
        let request = units.iter().rfind(|unit| unit.stays).unwrap();
        vec![Change::Drop(request.unit.entries[0].id.ordinal)]
    };
    let other_role = |units: &[StepUnit<'_>]| {
        let at = saying(units, "part_3 says")[0];
        vec![Change::Replace(at, Message::user("something else"))]
    };
    let unknown = |_: &[StepUnit<'_>]| vec![Change::Drop(9_999)];
    let both = |units: &[StepUnit<'_>]| {
        let at = saying(units, "part_3 says")[0];
        vec![Change::Drop(at), Change::Pin(at)]
    };
    let panics = |_: &[StepUnit<'_>]| panic!("of the step's own");
    let wrong: [Asks; 5] = [newest, other_role, unknown, both, panics];
    for wrong in wrong {
        let mut stepped = session(|builder| builder.step_before(Does("wrong", wrong)));
        let before = sent(&stepped);
        let error = stepped.compact(None).await.unwrap_err();
        assert!(
            matches!(&error, Error::Compact(CompactError::Step(step)) if step.step == "wrong"),
            "{error:?}"
        );
        assert_eq!(sent(&stepped), before);
    }
    let mut large = session(|builder| {
        builder.step_after(Does("blows up", |units| {
            let unit = units.iter().find(|unit| !unit.stays && unit.unit.entries.len() == 1).unwrap();
            let entry = &unit.unit.entries[0];
            vec![Change::Replace(
                entry.id.ordinal,
                Message {
                    parts: vec![longhaul::transcript::Part::Text("x ".repeat(40_000))],
                    ..(*entry.message).clone()
                },
            )]
        }))
    });
    assert!(matches!(large.compact(None).await, Err(Error::Compact(CompactError::Step(_)))));
}

#[tokio::test]
async fn a_step_sees_what_is_quoted_from_far_back() {
    let window = ContextWindow::new(Tokens(1_000), Tokens::ZERO);
    let id = SessionId::new("quoted").unwrap();
    let compacted = |steps: Steps| {
        let mut state = SessionState::new(id.clone(), window, Arc::new(CharsPer4), Config::default());
        let mut rules = RulesOptions::default();
        rules.ranker = Arc::new(Only("part_100.rs"));
        state.set_rules(rules);
        state.set_steps(steps);
        for nth in 0..850 {
            let words = format!("We look at src/part_{nth}.rs and at its limit. ").repeat(5);
            state.push(if nth % 2 == 0 { Message::user(words) } else { Message::assistant(words) });
            if nth == 400 {
                let job = state.plan(Action::Summarize { rebuild: false }, Reason::Manual, None, None);
                state.apply(job.and_then(Job::finish_by_rule).unwrap()).unwrap();
            }
        }
        state.plan(Action::Summarize { rebuild: false }, Reason::Manual, None, None)
    };
    let reads = |job: &Job, words: &str| {
        job.request().entries.iter().filter(|entry| text(&entry.message).contains(words)).count()
    };
    let with = |asks: Asks| Steps { before: vec![Arc::new(Does("forgets", asks))], ..Steps::default() };
    assert!(reads(&compacted(Steps::default()).unwrap(), "part_100.rs") > 0);
    let forgets: Asks = |units| saying(units, "part_100.rs").into_iter().map(Change::Drop).collect();
    assert_eq!(reads(&compacted(with(forgets)).unwrap(), "part_100.rs"), 0);
    let pins: Asks = |units| saying(units, "part_100.rs").into_iter().map(Change::Pin).collect();
    let error = compacted(with(pins)).unwrap_err();
    assert!(matches!(&error, CompactError::Step(step) if step.problem.contains("only quoted")), "{error}");
}

#[tokio::test]
async fn a_step_that_drops_all_that_is_new_has_something_to_do() {
    let drops: Asks = |units| saying(units, "Chatter").into_iter().map(Change::Drop).collect();
    let mut stepped = session(|builder| builder.step_before(Does("drops", drops)));
    stepped.compact(None).await.unwrap();
    let covers = stepped.state().summary().unwrap().covers.end;
    for nth in covers..covers + 3 {
        stepped.push(Message::assistant(format!("Chatter {nth} of no use to anybody. ").repeat(20)));
    }
    stepped.push(Message::user("Go on."));
    assert!(sent(&stepped).contains("Chatter"));
    stepped.compact(None).await.unwrap();
    assert!(!sent(&stepped).contains("Chatter"), "{}", sent(&stepped));
}

#[tokio::test]
async fn what_a_step_took_out_before_is_nothing_new() {
    let drops: Asks = |units| {
        let loose = units
            .iter()
            .filter(|unit| !unit.stays && text(&unit.unit.entries[0].message).contains("Chatter"));
        loose.map(|unit| Change::Drop(unit.unit.entries[0].id.ordinal)).collect()
    };
    let before = |builder: longhaul::Builder| builder.step_before(Does("drops", drops));
    let after = |builder: longhaul::Builder| builder.step_after(Does("drops", drops));
    let ways: [&dyn Fn(longhaul::Builder) -> longhaul::Builder; 2] = [&before, &after];
    let chainings = [Chaining::Fold, Chaining::Running];
    for (way, chaining) in ways.into_iter().flat_map(|way| chainings.map(|chaining| (way, chaining))) {
        let config = Config { chaining, ..Config::default() };
        let mut stepped = session(|builder| way(builder.config(config)));
        stepped.push(Message::assistant("Chatter of no use to anybody. ".repeat(20)));
        stepped.push(Message::user("Go on."));
        stepped.compact(None).await.unwrap();
        assert!(!sent(&stepped).contains("Chatter"), "{}", sent(&stepped));
        let seen = sent(&stepped);
        let error = stepped.compact(None).await.unwrap_err();
        assert!(matches!(error, Error::Compact(CompactError::NothingNew)), "{chaining:?}: {error:?}");
        assert_eq!(sent(&stepped), seen);
        // More of it is.
        stepped.push(Message::assistant("Chatter again. ".repeat(20)));
        stepped.push(Message::user("Well?"));
        let again = stepped.compact(None).await;
        assert!(again.is_ok() && !sent(&stepped).contains("Chatter again"), "{chaining:?}: {again:?}");
    }
}

#[tokio::test]
async fn a_summary_says_how_many_messages_steps_took_out() {
    let masks: Asks = |units| {
        let loose = units.iter().filter(|unit| !unit.stays).flat_map(|unit| unit.unit.entries);
        let masked = |message: &Message| {
            let id = message.results().next()?.call_id.as_str().to_owned();
            let [_, masked] = exchange(&id, "bash", "{}", "[masked]", Outcome::Succeeded);
            Some(masked)
        };
        loose.filter_map(|entry| Some(Change::Replace(entry.id.ordinal, masked(&entry.message)?))).collect()
    };
    let mut stepped = session(|builder| builder.step_before(Does("masks", masks)));
    let rewrite = stepped.compact(None).await.unwrap();
    let record = rewrite.record.unwrap();
    assert!(record.covered.len() >= 12, "{:?}", record.covered);
    assert!(!record.header.contains(" 0 messages"), "{}", record.header);
}

#[tokio::test]
async fn what_is_wrong_with_a_step_is_told_of_a_running_summary_too() {
    let too_large: Asks = |units| {
        let unit = units.iter().find(|unit| !unit.stays && unit.unit.entries.len() == 1).unwrap();
        let entry = &unit.unit.entries[0];
        let parts = vec![longhaul::transcript::Part::Text("x ".repeat(40_000))];
        vec![Change::Replace(entry.id.ordinal, Message { parts, ..(*entry.message).clone() })]
    };
    let config = Config { mode: SummaryMode::Rules, ..longhaul::Preset::Rolling.config() };
    let mut stepped = session(|builder| builder.config(config).step_after(Does("blows up", too_large)));
    let error = stepped.compact(None).await.unwrap_err();
    assert!(
        matches!(&error, Error::Compact(CompactError::Step(step)) if step.step == "blows up"),
        "{error:?}"
    );
}

/// What the first pins of what may go, however much that is.
const PINS: [Asks; 4] = [
    |units| first_pinned(units, 4),
    |units| first_pinned(units, 12),
    |units| first_pinned(units, 24),
    |units| first_pinned(units, usize::MAX),
];

fn first_pinned(units: &[StepUnit<'_>], most: usize) -> Vec<Change> {
    let loose = units.iter().filter(|unit| !unit.stays && !unit.is_quoted).take(most);
    loose.map(|unit| Change::Pin(unit.unit.span().start)).collect()
}

#[tokio::test]
async fn what_a_step_pins_stops_no_session() {
    let drops: Asks = |units| saying(units, "zebra-3-end").into_iter().map(Change::Drop).collect();
    for (at, asks) in PINS.into_iter().enumerate() {
        let told: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&told);
        let mut session = session(|builder| {
            let builder = builder.step_before(Does("drops", drops)).step_before(Does("pins", asks));
            builder.observer(move |event: &longhaul::Event| log.lock().unwrap().push(event.to_string()))
        });
        for nth in 0..60 {
            session.push(Message::assistant(format!("More {nth}: {}", "it is said at length ".repeat(14))));
            session.push(Message::user(format!("And {nth}?")));
            let view = session.prepare().await.unwrap();
            assert!(view.tokens() <= Tokens(6_000), "{at}: {}", view.tokens());
            assert!(view.summaries().all(|record| !record.text.contains("zebra-3-end")), "{at}");
        }
        let told = told.lock().unwrap().join("\n");
        let named = told.contains("the step \"pins\" cannot be done: with what it pins the view needs");
        assert_eq!(named, at == PINS.len() - 1, "{at}: {told}");
        let made_with = &session.state().summary().unwrap().made_with;
        assert!(at > 0 || made_with.ends_with("+drops+pins"), "{made_with}");
    }
}

#[tokio::test]
async fn a_compaction_begins_with_as_many_messages_as_it_ends_with() {
    let drops: Asks = |units| saying(units, "part_").into_iter().map(Change::Drop).collect();
    for is_before in [true, false] {
        let told: Arc<std::sync::Mutex<Vec<u64>>> = Arc::default();
        let log = Arc::clone(&told);
        let mut session = session(|builder| {
            let builder = builder.observer(move |event: &longhaul::Event| match &event.kind {
                EventKind::Started { compressed_messages, .. } => {
                    log.lock().unwrap().push(*compressed_messages)
                }
                EventKind::Finished(finish) => log.lock().unwrap().push(finish.compressed_messages),
                _ => {}
            });
            match is_before {
                true => builder.step_before(Does("drops", drops)),
                false => builder.step_after(Does("drops", drops)),
            }
        });
        session.compact(None).await.unwrap();
        let told = told.lock().unwrap().clone();
        assert!(told.len() == 2 && told[0] == told[1] && told[0] > 20, "{is_before}: {told:?}");
    }
}

#[tokio::test]
async fn a_message_without_parts_replaces_none() {
    let empties: Asks = |units| {
        let at = saying(units, "part_3 says")[0];
        vec![Change::Replace(at, Message::new(Role::Tool, Vec::new()))]
    };
    let error = session(|builder| builder.step_before(Does("empties", empties))).compact(None).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("must not be replaced by a message without parts"), "{error}");
}

/// Values what is named in one message, and nothing else.
#[derive(Debug)]
struct Only(&'static str);

impl Ranker for Only {
    fn value(&self, fact: &Fact, _: &RankContext) -> f64 {
        if fact.name.contains(self.0) { 1.0 } else { 0.0 }
    }
}

#[tokio::test]
async fn a_ranker_of_the_callers_is_asked_for_summaries_and_for_what_is_quoted() {
    // Far more than a compaction reads again: what is fetched of the rest is what the ranker values.
    let wanted = |name: &'static str| {
        let window = ContextWindow::new(Tokens(1_000), Tokens::ZERO);
        let id = SessionId::new("ranked").unwrap();
        let mut state = SessionState::new(id, window, Arc::new(CharsPer4), Config::default());
        let mut rules = RulesOptions::default();
        rules.ranker = Arc::new(Only(name));
        state.set_rules(rules);
        for nth in 0..850 {
            let words = format!("We look at src/part_{nth}.rs and at its limit. ").repeat(5);
            state.push(if nth % 2 == 0 { Message::user(words) } else { Message::assistant(words) });
        }
        let action = Action::Summarize { rebuild: false };
        let finished = state.plan(action, Reason::Manual, None, None).and_then(Job::finish_by_rule);
        state.apply(finished.unwrap()).unwrap();
        state.let_go(state.at_hand_from());
        state.wanted_by(action)
    };
    let holds = |spans: &[Span], ordinal: u64| spans.iter().any(|span| span.contains(ordinal));
    let (early, later) = (wanted("part_100.rs"), wanted("part_150.rs"));
    assert!(holds(&early, 100) && !holds(&early, 150), "{early:?}");
    assert!(holds(&later, 150) && !holds(&later, 100), "{later:?}");
}

/// Keeps what is named so, whatever else there is.
#[derive(Debug)]
struct Must(&'static str);

impl Ranker for Must {
    fn value(&self, fact: &Fact, _: &RankContext) -> f64 {
        if fact.name.contains(self.0) { 20.0 } else { f64::NAN }
    }
}

#[tokio::test]
async fn what_a_ranker_of_the_callers_says_must_stay_is_in_the_summary() {
    let summary = async |kept: Option<&'static str>| {
        let window = ContextWindow::new(Tokens(3_000), Tokens::ZERO);
        let mut builder = Session::builder(SessionId::new("must").unwrap(), window);
        if let Some(kept) = kept {
            builder = builder.ranker(Must(kept));
        }
        let mut session = builder.build().unwrap();
        session.push(Message::user("Go through the parts and say what is wrong with them."));
        for nth in 0..200 {
            session.push(Message::assistant(format!(
                "The limit in src/part_{nth}.rs was {nth} and is now one less; the tests of it pass."
            )));
        }
        let record = session.compact(None).await.unwrap().record.unwrap();
        record.text.clone()
    };
    for name in ["part_31.rs", "part_77.rs"] {
        assert!(!summary(None).await.contains(name), "it is in anyway");
        let kept = summary(Some(name)).await;
        assert!(kept.contains(name), "{kept}");
    }
}

#[tokio::test]
async fn models_come_before_settings_or_after_them_and_preferences_hold() {
    let client = Arc::new(Scripted::always("never asked"));
    let model = |name: &str| {
        SummarizerModel::new(name, Tokens(128_000), Arc::clone(&client) as Arc<dyn CompletionClient>)
    };
    let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
    let builder = || Session::builder(SessionId::new("models").unwrap(), window);
    let preferred = |name: &str| Config {
        mode: SummaryMode::Llm,
        summarizer_model_preference: vec![name.to_owned()],
        ..Config::default()
    };
    let models = || vec![model("one"), model("two")];
    let (sleep, jitter) = (Arc::new(NoSleep), Arc::new(NoJitter));
    assert!(
        builder().models(models(), sleep.clone(), jitter.clone()).config(preferred("two")).build().is_ok()
    );
    assert!(
        builder().config(preferred("two")).models(models(), sleep.clone(), jitter.clone()).build().is_ok()
    );
    let none = builder().models(models(), sleep.clone(), jitter.clone()).config(preferred("three")).build();
    assert!(matches!(none, Err(BuildError::NoModel { .. })), "{none:?}");
    let none = builder()
        .models(Vec::new(), sleep, jitter)
        .config(Config { mode: SummaryMode::Llm, ..Config::default() })
        .build();
    assert!(matches!(none, Err(BuildError::NoModel { .. })), "{none:?}");
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_client_and_the_settings_are_a_ladder() {
    let client = Arc::new(Scripted::new(|_, _| Ok(crate::work::answer("The parts were looked at."))));
    let config = Config {
        mode: SummaryMode::Llm,
        summarizer_model_preference: vec!["gpt-4o".to_owned()],
        ..Config::default()
    };
    let mut session = session(|builder| builder.client(client.clone()).config(config));
    let rewrite = session.compact(None).await.unwrap();
    // The system's clock is there without being asked for.
    assert!(rewrite.record.unwrap().created_at_ms > 1_700_000_000_000);
    assert_eq!((client.calls(), client.requests()[0].model.as_str()), (1, "gpt-4o"));
    let window = ContextWindow::new(Tokens(6_000), Tokens::ZERO);
    let none = Session::builder(SessionId::new("none").unwrap(), window)
        .client(client)
        .config(Config { mode: SummaryMode::Llm, ..Config::default() })
        .build();
    assert!(matches!(none, Err(BuildError::NoModel { .. })), "{none:?}");
}
