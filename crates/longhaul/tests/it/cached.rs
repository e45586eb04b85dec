//! Summaries by a model are kept in the store, and not paid for twice.

use std::sync::Arc;

use longhaul::{
    Config, Session,
    store::{MemoryStore, SummaryStore},
    summarize::{Completion, Scripted, SummarizerModel},
    tokens::{CharsPer4, ContextWindow},
    transcript::{FixedClock, Message, NoJitter, NoSleep, SessionId, SummaryMode, Tokens},
};

use crate::work;

fn manager(store: &Arc<dyn SummaryStore>, model: &Arc<Scripted>, goal: &str) -> Session {
    let config = Config { mode: SummaryMode::Hybrid, ..Config::default() };
    let window = ContextWindow::new(Tokens(20_000), Tokens::ZERO);
    let mut context = Session::builder(SessionId::new(goal).unwrap(), window)
        .config(config)
        .counter(Arc::new(CharsPer4))
        .clock(Arc::new(FixedClock(1_700_000_000_000)))
        .store(Arc::clone(store))
        .models(
            vec![SummarizerModel::new("small", Tokens(128_000), Arc::clone(model) as _)],
            Arc::new(NoSleep),
            Arc::new(NoJitter),
        )
        .build()
        .unwrap();
    for nth in 0..30 {
        let text = format!("Message {nth} is about src/part_{nth}.rs and its limit of {nth}0 ms. ").repeat(8);
        match nth % 2 {
            0 => context.push(Message::user(text)),
            _ => context.push(Message::assistant(text)),
        };
    }
    context
}

fn answer() -> Completion {
    work::answer("The work went through the parts in order; src/part_3.rs has a limit of 30 ms.")
}

#[tokio::test]
async fn a_compaction_made_again_makes_no_call() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let model = Arc::new(Scripted::new(|_, _| Ok(answer())));
    let mut context = manager(&store, &model, "one");
    let first = context.compact(None).await.unwrap().record.unwrap();
    assert_eq!((first.mode, model.calls()), (SummaryMode::Hybrid, 1));
    assert!(context.undo().await.unwrap());
    let again = context.compact(None).await.unwrap().record.unwrap();
    assert_eq!(model.calls(), 1, "the store had it");
    assert_eq!((&again.text, &again.id, again.cost), (&first.text, &first.id, None));
    assert!(context.undo().await.unwrap());
    context.compact(Some("fix src/part_5.rs")).await.unwrap();
    assert_eq!(model.calls(), 2, "another goal is another summary");
}

#[tokio::test]
async fn what_another_session_said_is_not_in_this_ones_summary() {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::default());
    let model = Arc::new(Scripted::new(|_, _| Ok(answer())));
    manager(&store, &model, "one").compact(None).await.unwrap();
    manager(&store, &model, "two").compact(None).await.unwrap();
    assert_eq!(model.calls(), 2, "the same words in another session are asked for again");
}
