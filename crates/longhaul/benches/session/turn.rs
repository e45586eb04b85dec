//! What a turn costs: push, decide and view at several lengths of the conversation, and `prepare` when there is nothing
//! to do, all with a calibration learned from reported usage.
//!
//! A conversation grows with every turn that is measured, so this times a fixed number of turns from each length on and
//! prints the median, where a sampling harness would measure another length than it says.

use std::{hint::black_box, sync::Arc, time::Instant};

use longhaul::{
    Config, Session, SessionState,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SessionId, Tokens, Usage},
};
use tokio::runtime::Runtime;

use super::median;

/// Larger than any conversation here, so that nothing is compacted.
const WINDOW: ContextWindow = ContextWindow { window: Tokens(1_000_000_000), reserved_output: Tokens(0) };

/// Turns that are measured at each length.
const TURNS: usize = 2_000;

fn message(nth: usize) -> Message {
    Message::user(format!("Message {nth} is about src/part_{}.rs and its limit of {nth} ms", nth % 500))
}

/// What the provider bills for a view of `messages` messages: half as much again as is counted here, and a little.
fn usage(state: &SessionState, messages: usize) -> Usage {
    let counted: Tokens = (0..messages as u64).map(|ordinal| state.cost(ordinal)).sum();
    Usage { input: counted.scaled(1.5) + Tokens(40), ..Usage::default() }
}

pub(crate) fn run(runtime: &Runtime) {
    println!("push + decide + view, median of {TURNS} turns");
    for n_messages in [100, 10_000, 100_000] {
        let session = SessionId::new("bench").unwrap();
        let mut state = SessionState::new(session, WINDOW, Arc::new(CharsPer4), Config::default());
        (0..n_messages).for_each(|nth| {
            state.push(message(nth));
            if nth % (n_messages / 10) == 0 {
                state.report_usage(state.view().id(), &usage(&state, nth + 1));
            }
        });
        assert!(state.estimate().low < state.estimate().high, "calibrated");
        let turn = |nth: usize| {
            let message = message(nth);
            let started = Instant::now();
            state.push(message);
            black_box(state.decide(None));
            black_box(state.view().tokens());
            started.elapsed()
        };
        println!(
            "{n_messages:>8} messages  {:?}",
            median((n_messages..n_messages + TURNS).map(turn).collect())
        );
    }

    println!("prepare with nothing to do, median of {TURNS} calls");
    for n_messages in [100, 10_000] {
        let session = SessionId::new("bench").unwrap();
        let mut context = Session::builder(session, WINDOW).counter(Arc::new(CharsPer4)).build().unwrap();
        (0..n_messages).for_each(|nth| {
            context.push(message(nth));
            if nth % (n_messages / 10) == 0 {
                context.report_usage(context.state().view().id(), &usage(context.state(), nth + 1));
            }
        });
        assert!(context.state().estimate().low < context.state().estimate().high, "calibrated");
        let call = |_| {
            let started = Instant::now();
            black_box(runtime.block_on(context.prepare()).unwrap().tokens());
            started.elapsed()
        };
        println!("{n_messages:>8} messages  {:?}", median((0..TURNS).map(call).collect()));
    }
}
