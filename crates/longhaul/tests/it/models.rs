//! Summaries by models through the facade: what observers are told of each step, and what survives ten of them.

use std::sync::{Arc, Mutex};

use longhaul::{
    Config, ContextManager, Event, EventKind, Preset,
    config::OnMaxDepth,
    summarize::{ClientError, Scripted, SummarizerModel},
    tokens::{CharsPer4, ContextWindow},
    transcript::{FixedClock, Message, NoJitter, NoSleep, SessionId, SummaryMode, Tokens},
};

use crate::work::{Work, answer};

const TERM: &str = "--retry-budget-ms";
const RULE: &str = "Never push to main without a review.";

#[tokio::test]
async fn an_early_term_and_a_rule_are_byte_equal_after_ten_compactions_in_every_mode() {
    for mode in [SummaryMode::Rules, SummaryMode::Llm, SummaryMode::Hybrid] {
        let config = Config { on_max_depth: OnMaxDepth::Rebuild, mode, ..Preset::Chain.config() };
        // A model that forgets the term at once and softens the rule.
        let forgets = |_: usize, _: &_| {
            Ok(answer("The parts and their limits were discussed. Pushes to main should be avoided."))
        };
        let mut work = Work::with(config, 10_000, Some(Box::new(forgets)));
        let said = format!("The flag is {TERM} in crates/net/src/dial.rs. {RULE}");
        work.context.push(Message::user(said));
        work.context.push(Message::assistant("I will mind both."));
        for round in 1..=10 {
            while work.finished().len() < round {
                work.talk(1, 150).await;
            }
            assert_eq!(work.finished().last().map(|finish| finish.mode), Some(mode), "round {round}");
            let sent = work.sent();
            assert!(sent.contains(TERM) && sent.contains(RULE), "{mode:?}, round {round}: {sent}");
            assert!(!sent.contains("should be avoided"), "{mode:?}, round {round}: {sent}");
        }
    }
}

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
    let mut context = ContextManager::builder(SessionId::new("ladder").unwrap(), window)
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
