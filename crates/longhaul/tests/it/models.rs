//! Summaries by models through the facade: what observers are told before the calls and of each step down the ladder.

use std::sync::{Arc, Mutex};

use longhaul::{
    Basis, Config, Event, EventKind, Preset, Session,
    config::OnMaxDepth,
    summarize::{ClientError, Scripted, SummarizerModel},
    tokens::{CharsPer4, ContextWindow},
    transcript::{FixedClock, Message, NoJitter, NoSleep, SessionId, SummaryMode, Tokens},
};

use crate::work::{Work, answer};

#[tokio::test]
async fn observers_are_told_of_every_step_down_the_ladder() {
    let model = |name: &str, script: Scripted| SummarizerModel::new(name, Tokens(128_000), Arc::new(script));
    let models = vec![
        model("down", Scripted::new(|_, _| Err(ClientError::Transport { reason: "reset".into() }))),
        model("denied", Scripted::new(|_, _| Err(ClientError::Denied { status: 401, reason: "no".into() }))),
        model("vague", Scripted::always("SECRET WORDS, and no JSON")),
    ];
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let log = Arc::clone(&events);
    let window = ContextWindow::new(Tokens(20_000), Tokens::ZERO);
    let mut context = Session::builder(SessionId::new("ladder").unwrap(), window)
        .config(Config { mode: SummaryMode::Hybrid, ..Config::default() })
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_700_000_000_000)))
        .models(models, Arc::new(NoSleep), Arc::new(NoJitter))
        .observer(move |event: &Event| log.lock().unwrap().push(event.clone()))
        .build()
        .unwrap();
    for nth in 0..30 {
        context.push(Message::user(format!("Message {nth} is about src/part_{nth}.rs. ").repeat(20)));
    }
    context.compact(None).await.unwrap();
    let told: Vec<String> = events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Asking { models, parts, max_calls } => {
                Some(format!("asking {} in {parts} part, {max_calls} calls at most", models.join(", ")))
            }
            EventKind::SummarizerFailed { summarizer, error, .. } => Some(format!("{summarizer}: {error}")),
            EventKind::Finished(finish) => Some(format!(
                "{} after {} calls",
                finish.mode.as_str(),
                finish.cost.map_or(0, |cost| cost.calls)
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "asking down, denied, vague in 1 part, 12 calls at most",
            "down: the connection failed: reset",
            "down: the connection failed: reset",
            "denied: the provider refuses the key (status 401): no",
            "vague: the answer is not JSON",
            "rules after 4 calls",
        ]
    );
    let json = serde_json::to_string(&*events.lock().unwrap()).unwrap();
    assert!(!json.contains("SECRET WORDS"), "no word of an answer is in an event");
}

/// The model forgets the term at once, and softens the rule.
#[tokio::test]
async fn an_early_term_and_a_rule_are_byte_equal_after_ten_compactions_in_every_mode() {
    const RULE: &str = "Never restart the primary during business hours.";
    for mode in [SummaryMode::Rules, SummaryMode::Hybrid, SummaryMode::Llm] {
        let config = Config { on_max_depth: OnMaxDepth::Rebuild, mode, ..Preset::Chain.config() };
        let script = |_, _: &_| {
            Ok(answer(
                "The parts were discussed. Restarting the primary should be avoided in business hours.",
            ))
        };
        let script: Option<Box<crate::work::Script>> =
            (mode != SummaryMode::Rules).then(|| Box::new(script) as Box<crate::work::Script>);
        let mut work = Work::with(config, 4_000, script);
        work.context.push(Message::user(format!("Mind --retry-budget-ms in crates/net/src/dial.rs. {RULE}")));
        work.context.push(Message::assistant("I will mind --retry-budget-ms."));
        let mut rounds = 0;
        while rounds < 10 {
            if work.talk(2, 100).await > 0 {
                rounds += 1;
                let sent = work.sent();
                let has = |word| sent.contains(word);
                assert!(has("--retry-budget-ms") && has(RULE), "{} {rounds}: {sent}", mode.as_str());
                assert!(!has("should be avoided"), "{} {rounds}: {sent}", mode.as_str());
                work.context.push(Message::user("How does --retry-budget-ms relate to this?"));
            }
        }
        let by_model = work.finished().iter().filter(|finish| finish.mode == mode).count();
        assert!(by_model >= 9, "{}: {by_model} of 10 in this mode", mode.as_str());
    }
}

/// What a model wrote is not lost with the first summary that it cannot be asked for.
#[tokio::test]
async fn a_model_that_no_longer_answers_is_still_quoted() {
    const WORDS: &str = "The queue is durable, and its lease lasts 40 seconds.";
    let config = Config { mode: SummaryMode::Llm, ..Config::default() };
    let script = |nth: usize, _: &_| match nth {
        0 => Ok(answer(WORDS)),
        _ => Err(ClientError::Transport { reason: "reset".into() }),
    };
    let mut work = Work::with(config, 8_000, Some(Box::new(script)));
    for by in [SummaryMode::Llm, SummaryMode::Rules] {
        work.talk(24, 100).await;
        work.context.compact(None).await.unwrap();
        let record = work.context.state().summary().unwrap();
        assert_eq!(record.mode, by);
        assert!(record.text.contains(WORDS), "{}: {}", by.as_str(), record.text);
    }
}

// asserts 004-57
/// Asked for at once after a summary, when nothing was said since: the model reads all of it again.
#[tokio::test]
async fn a_model_makes_a_summary_anew_from_the_originals() {
    const WORDS: &str = "The queue is durable, and its lease lasts 40 seconds.";
    let chain = Preset::Chain.config();
    // Under `chain` far more than the 8,000 tokens that a model is shown otherwise.
    for (config, window, n) in
        [(Config { mode: SummaryMode::Llm, ..Config::default() }, 8_000, 24), (chain, 24_000, 150)]
    {
        let name = config.preset.map_or("defaults", Preset::as_str);
        let mut work = Work::with(config, window, Some(Box::new(|_, _: &_| Ok(answer(WORDS)))));
        work.context.push(Message::user("The lease of the queue is in src/lease.rs: how long is it?"));
        work.talk(n, 100).await;
        work.context.compact(None).await.unwrap();
        let finished = work.context.propose(Basis::Originals, None).await.unwrap();
        assert_eq!((finished.record().depth, finished.record().cost.is_some()), (0, true), "{name}");
        let model = work.model.as_ref().unwrap();
        let asked = model.requests().pop().unwrap().user;
        assert!(
            asked.contains("src/lease.rs: how long") && asked.contains("src/part_3.rs"),
            "{name}: {asked}"
        );
        assert!(!asked.contains(WORDS), "{name}: {asked}");
    }
}

// asserts 000-26
#[tokio::test]
async fn a_chain_that_begins_anew_is_not_paid_for_again() {
    const WINDOW: u64 = 8_000;
    let hybrid = Config { mode: SummaryMode::Hybrid, ..Config::default() };
    for config in [hybrid, Preset::ContextManager.config()] {
        let name = config.preset.map_or("defaults", Preset::as_str);
        let said = if config.preset == Some(Preset::ContextManager) {
            Scripted::says("The parts were discussed one after the other.")
        } else {
            answer("The parts were discussed one after the other.")
        };
        let mut work = Work::with(config, WINDOW, Some(Box::new(move |_, _: &_| Ok(said.clone()))));
        while work.finished().len() < 5 {
            work.talk(1, 100).await;
        }
        let finished = work.finished();
        let depths: Vec<u32> = finished.iter().map(|finish| finish.depth).collect();
        assert_eq!(depths, [0, 1, 2, 0, 1], "{name}");
        let by_model = finished.iter().filter(|finish| finish.mode != SummaryMode::Rules).count();
        assert_eq!((work.calls(), by_model), (finished.len(), finished.len()), "{name}");
        for request in work.model.as_ref().unwrap().requests() {
            let shown = request.user.len() as u64 / 4;
            assert!(shown < WINDOW, "{name}: a prompt of {shown} tokens");
        }
    }
}
