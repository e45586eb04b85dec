//! What is reported wrongly, and what becomes of the session then.

use std::sync::{Arc, Mutex};

use longhaul_tokens::{CharsPer4, ContextWindow, TokenCounter};
use longhaul_transcript::{Message, SessionId, Tokens, Usage};

use crate::{Error, Event, EventKind, Session, UsageVerdict};

/// What a run came to.
#[derive(Debug, Default)]
struct Run {
    /// The turns in which nothing could be made ready.
    failed: Vec<u64>,
    compactions: usize,
    /// The turns in which it was told that reports add up, and that they are distrusted.
    added_up: Vec<u64>,
    distrusted: Vec<u64>,
    taken: usize,
}

/// Talks for 150 turns; `bill` says what is reported in which turn for a request that costs so much.
async fn run(bill: impl FnMut(u64, u64) -> u64) -> Run {
    run_of(4_000, |turn| 3 + turn * 7 % 5, bill).await
}

/// The same in another window, with requests that are `long` in their turn.
async fn run_of(window: u64, long: impl Fn(u64) -> u64, mut bill: impl FnMut(u64, u64) -> u64) -> Run {
    let events: Arc<Mutex<Vec<EventKind>>> = Arc::default();
    let told = Arc::clone(&events);
    let window = ContextWindow::new(Tokens(window), Tokens(500));
    let mut session = Session::builder(SessionId::new("s").unwrap(), window)
        .counter(Arc::new(CharsPer4))
        .observer(move |event: &Event| told.lock().unwrap().push(event.kind.clone()))
        .build()
        .unwrap();
    let mut run = Run::default();
    for turn in 0..150u64 {
        let words = |n: u64| "the relay waits for word 12345 of it ".repeat(n as usize);
        session.push(Message::user(format!("Q{turn}: {}", words(long(turn)))));
        match session.prepare().await {
            Ok(view) => {
                let costs: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
                let usage = Usage { input: Tokens(bill(turn, costs.0)), ..Usage::default() };
                let verdict = session.report_usage(view.id(), &usage);
                run.taken += usize::from(verdict == UsageVerdict::Taken);
            }
            Err(Error::OverBudget { .. }) => run.failed.push(turn),
            Err(error) => panic!("{error}"),
        }
        session.push(Message::assistant(format!("A{turn}: {}", words(4 + turn * 3 % 7))));
        for event in events.lock().unwrap().drain(..) {
            match event {
                EventKind::Finished(_) => run.compactions += 1,
                EventKind::UsageAddsUp { .. } => run.added_up.push(turn),
                EventKind::UsageDistrusted { .. } => run.distrusted.push(turn),
                _ => {}
            }
        }
    }
    run
}

#[tokio::test]
async fn what_running_totals_taught_is_forgotten_and_told_once() {
    let right = run(|_, costs| costs).await;
    assert!(right.failed.is_empty() && right.added_up.is_empty() && right.taken > 140, "{right:?}");
    for beside in [0, 80] {
        let mut sum = 0;
        let totals = run(|_, costs| {
            sum += costs + beside;
            sum
        });
        let totals = totals.await;
        assert_eq!((totals.failed.len(), totals.added_up.len()), (0, 1), "{totals:?}");
        assert!(totals.added_up[0] < 9 && totals.taken < 9, "{totals:?}");
        assert!(totals.compactions <= right.compactions + 1, "{totals:?} {right:?}");
    }
}

#[tokio::test]
async fn running_totals_of_uneven_turns_are_no_dead_end() {
    for seed in 0..3u64 {
        let drawn = |turn: u64| (seed * 977 + turn).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        let mut sum = 0;
        let totals = run_of(
            8_000,
            |turn| 15 + drawn(turn) % 120,
            |_, costs| {
                sum += costs;
                sum
            },
        );
        let totals = totals.await;
        assert_eq!((totals.failed.len(), totals.added_up.len()), (0, 1), "{seed}: {totals:?}");
        assert!(totals.taken < 20, "{seed}: {totals:?}");
    }
}

#[tokio::test]
async fn who_reports_rightly_after_totals_is_believed_again() {
    let mut sum = 0;
    let run = run(|turn, costs| {
        sum += costs;
        if turn < 60 { sum } else { costs }
    });
    let run = run.await;
    assert!(run.added_up.len() == 1 && run.taken >= 90, "{run:?}");
}

#[tokio::test]
async fn one_absurd_bill_is_no_dead_end() {
    for (wrong, times) in [(37, 4), (5, 4)] {
        let bill = |turn, costs| if turn == wrong { costs * times } else { costs };
        let run = run(bill).await;
        assert!(run.failed.is_empty() && run.distrusted.len() <= 1, "{wrong} {times}: {run:?}");
    }
    // Three bills above the window that go on from one another are believed, and nothing would fit by them.
    let beside = run(|turn, costs| costs + if (20..24).contains(&turn) { 3_400 } else { 0 }).await;
    assert!(beside.failed.is_empty() && beside.distrusted.len() == 1, "{beside:?}");
    let times = run(|turn, costs| costs * (turn + 1)).await;
    assert!(times.failed.is_empty(), "{times:?}");
    let mut last = [0; 3];
    let of_three = run(|turn, costs| {
        last[turn as usize % 3] = costs;
        last.iter().sum()
    });
    let of_three = of_three.await;
    assert!(of_three.failed.is_empty() && of_three.added_up.is_empty(), "{of_three:?}");
}

/// Where nothing is compacted, what is too large by count as well is no matter of reports.
#[tokio::test]
async fn nothing_is_said_of_reports_where_there_were_none_or_they_change_nothing() {
    for bills in [false, true] {
        let told: Arc<Mutex<Vec<EventKind>>> = Arc::default();
        let log = Arc::clone(&told);
        let window = ContextWindow::new(Tokens(4_000), Tokens(500));
        let mut session = Session::builder(SessionId::new("s").unwrap(), window)
            .config(crate::Config { enabled: false, ..crate::Config::default() })
            .counter(Arc::new(CharsPer4))
            .observer(move |event: &Event| log.lock().unwrap().push(event.kind.clone()))
            .build()
            .unwrap();
        for turn in 0..60 {
            session.push(Message::user(format!("Q{turn}: {}", "the relay waits for it ".repeat(20))));
            if bills && turn == 9 {
                let view = session.prepare().await.unwrap();
                let usage = Usage { input: view.tokens().scaled(1.2), ..Usage::default() };
                assert_eq!(session.report_usage(view.id(), &usage), UsageVerdict::Taken);
            }
            session.push(Message::assistant("I see."));
        }
        assert!(matches!(session.prepare().await, Err(Error::OverBudget { .. })));
        let is_distrusted = |kind: &EventKind| matches!(kind, EventKind::UsageDistrusted { .. });
        assert!(!told.lock().unwrap().iter().any(is_distrusted), "{bills}");
    }
}

#[tokio::test]
async fn bills_that_say_the_same_again_are_believed() {
    // A system prompt that nobody told of fills the window.
    let run = run(|turn, costs| costs + if turn < 20 { 0 } else { 3_400 }).await;
    assert_eq!(run.distrusted.len(), 1, "{run:?}");
    assert!(run.failed.len() > 100, "{run:?}");
}
