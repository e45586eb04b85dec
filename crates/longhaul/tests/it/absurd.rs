//! What is set to something absurd is an error, or does no harm: the session goes on, and what it sends fits.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use longhaul::{
    BuildError, Builder, Config, Session,
    config::{Chaining, Threshold},
    tokens::{Accuracy, Calibrations, CharsPer4, ContextWindow, Prices, TokenCounter},
    transcript::{FixedClock, Message, SessionId, Tokens, Usage},
};

const MOST: Tokens = Tokens(u64::MAX);

fn builder() -> Builder {
    let window = ContextWindow::new(Tokens(4_000), Tokens(500));
    Session::builder(SessionId::new("absurd").unwrap(), window).counter(Arc::new(CharsPer4))
}

fn prices(price: f64) -> [Prices; 4] {
    [
        Prices { input: Some(price), ..Prices::default() },
        Prices { output: Some(price), ..Prices::default() },
        Prices { cache_read: Some(price), ..Prices::default() },
        Prices { cache_write: Some(price), ..Prices::default() },
    ]
}

const NO_PRICES: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];
const ODD_PRICES: [f64; 4] = [0.0, -0.0, f64::MIN_POSITIVE, f64::MAX];

/// Talks until something was compacted, and checks what is sent.
async fn goes_on(mut session: Session, what: &str) {
    for nth in 0..60 {
        session.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
        session
            .push(Message::assistant(format!("It computes the value {nth}, and nothing else. ").repeat(4)));
        let view = session.prepare().await.unwrap_or_else(|error| unreachable!("{what}: {error}"));
        assert!(view.tokens() <= session.state().budget(), "{what}");
        let usage = Usage { input: session.state().tokens(), ..Usage::default() };
        session.report_usage(view.id(), &usage);
    }
    assert!(session.state().summary().is_some(), "{what}");
}

type Set = fn(&mut Session) -> Result<(), BuildError>;
type Act = fn(&mut Session);

#[tokio::test]
async fn what_no_setter_takes_changes_nothing() {
    for price in NO_PRICES {
        for prices in prices(price) {
            assert!(builder().prices(prices).build().is_err(), "{prices:?}");
            let mut session = builder().build().unwrap();
            assert!(matches!(session.set_prices(prices), Err(BuildError::NoPrice { .. })), "{prices:?}");
            goes_on(session, "prices").await;
        }
    }
    let refused: [(&str, Set); 9] = [
        ("no model", |session| session.set_endpoint("", "")),
        ("a blank model", |session| session.set_endpoint(" \n", "https://localhost")),
        ("a model without an address", |session| session.set_endpoint("m", "")),
        ("an overhead without end", |session| session.set_fixed_overhead(MOST)),
        ("an overhead of all that there is", |session| session.set_fixed_overhead(Tokens(3_500))),
        ("a window of nothing", |session| switched(session, Tokens::ZERO, Tokens::ZERO)),
        ("a reserve of the whole window", |session| switched(session, Tokens(4_000), Tokens(4_000))),
        ("a reserve without end", |session| switched(session, Tokens(4_000), MOST)),
        ("a window of nothing but the reserve without end", |session| switched(session, MOST, MOST)),
    ];
    for (what, set) in refused {
        let mut session = builder().build().unwrap();
        assert!(set(&mut session).is_err(), "{what}");
        assert_eq!(session.state().budget(), Tokens(3_500), "{what}");
        goes_on(session, what).await;
    }
    for name in ["", " ", "a\nb", "]"] {
        let mut session = builder().build().unwrap();
        assert!(session.set_memory(name, "x").is_err(), "{name:?}");
    }
    assert!(builder().fixed_overhead(MOST).build().is_err());
    assert!(builder().model("", "").build().is_err());
    assert!(builder().endpoint("", "").build().is_err());
    assert!(
        builder()
            .config(Config { trigger_ratio: Threshold::Ratio(f64::NAN), ..Config::default() })
            .build()
            .is_err()
    );
    for (size, reserved) in [(0, 0), (1, 0), (200, 0), (500, 500), (1, u64::MAX), (u64::MAX, u64::MAX)] {
        let window = ContextWindow::new(Tokens(size), Tokens(reserved));
        assert!(Session::builder(SessionId::new("absurd").unwrap(), window).build().is_err(), "{window:?}");
    }
}

fn switched(session: &mut Session, window: Tokens, reserved: Tokens) -> Result<(), BuildError> {
    session.switch_model(ContextWindow::new(window, reserved), Arc::new(CharsPer4), Config::default())
}

#[tokio::test]
async fn what_is_taken_does_no_harm() {
    for price in ODD_PRICES {
        for prices in prices(price) {
            goes_on(builder().prices(prices).build().unwrap(), "odd prices").await;
            let mut session = builder().build().unwrap();
            session.set_prices(prices).unwrap();
            goes_on(session, "odd prices").await;
        }
    }
    let taken: [(&str, Act); 11] = [
        ("no prices", |session| session.set_prices(Prices::default()).unwrap()),
        ("no overhead", |session| session.set_fixed_overhead(Tokens::ZERO).unwrap()),
        ("a memory of nothing", |session| session.set_memory("notes", "").unwrap()),
        ("a memory of blanks", |session| session.set_memory("notes", " \n").unwrap()),
        ("usage without end", |session| {
            let id = session.state().view().id();
            let usage =
                Usage { input: MOST, cache_read: MOST, cache_write: MOST, output: MOST, reasoning: MOST };
            session.report_usage(id, &usage);
        }),
        ("no usage", |session| {
            let id = session.state().view().id();
            session.report_usage(id, &Usage::default());
        }),
        ("calls without a name", |session| {
            session.push(Message::new(longhaul::transcript::Role::Assistant, Vec::new()));
        }),
        ("an empty message", |session| {
            session.push(Message::user(""));
        }),
        ("unknown calibrations", |session| {
            let _ = session.state().calibrations().clone();
        }),
        ("unpinned before it is said", |session| {
            let id = session.push(Message::user("x"));
            session.unpin(id);
        }),
        ("another window", |session| {
            let window = ContextWindow::new(Tokens(1 << 40), Tokens(1));
            session.switch_model(window, Arc::new(CharsPer4), Config::default()).unwrap();
            let window = ContextWindow::new(Tokens(4_000), Tokens(500));
            session.switch_model(window, Arc::new(CharsPer4), Config::default()).unwrap();
        }),
    ];
    for (what, set) in taken {
        let mut session = builder().calibrations(Calibrations::default()).build().unwrap();
        set(&mut session);
        goes_on(session, what).await;
    }
    for now in [i64::MIN, -1, 0, i64::MAX] {
        goes_on(builder().clock(Arc::new(FixedClock(now))).build().unwrap(), "a clock that is off").await;
    }
}

#[tokio::test]
async fn a_refusal_with_a_limit_that_makes_no_sense_does_no_harm() {
    for limit in [None, Some(Tokens::ZERO), Some(Tokens(1)), Some(MOST)] {
        let mut session = builder().build().unwrap();
        for nth in 0..8 {
            session.push(Message::user(format!("Question {nth}?")));
            session.push(Message::assistant("An answer."));
        }
        session.prepare().await.unwrap();
        let _ = session.overflowed(limit).await;
        goes_on(session, "a refusal").await;
    }
}

/// A window without end is one: nothing is compacted, and nothing overflows.
#[tokio::test]
async fn a_window_without_end_holds_everything() {
    let window = ContextWindow::new(MOST, Tokens::ZERO);
    let name = SessionId::new("absurd").unwrap();
    let mut session = Session::builder(name, window).counter(Arc::new(CharsPer4)).build().unwrap();
    for nth in 0..40 {
        session.push(Message::user(format!("Question {nth}?")));
        assert_eq!(session.prepare().await.unwrap().len(), nth + 1);
    }
}

/// Counts at random, the same way each time.
#[derive(Debug, Default)]
struct AtRandom(AtomicU64);

impl TokenCounter for AtRandom {
    fn count_text(&self, text: &str) -> Tokens {
        // Knuth's MMIX generator.
        let next =
            |last: u64| last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let last = self.0.fetch_update(Relaxed, Relaxed, |last| Some(next(last))).unwrap_or_default();
        Tokens((last >> 33) % (text.len() as u64 + 2))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Estimate { margin: 0.0 }
    }
}

#[tokio::test]
async fn nothing_stands_in_the_place_of_messages_whatever_a_counter_says() {
    let mut summaries = BTreeSet::new();
    // Of the first text it says the upper bits: at 0 it would be refused.
    for seed in 1..4 {
        for chaining in [Chaining::Fold, Chaining::Running] {
            let window = ContextWindow::new(Tokens(1_200), Tokens(100));
            let counter = Arc::new(AtRandom(AtomicU64::new(seed << 34)));
            let builder = Session::builder(SessionId::new("absurd").unwrap(), window).counter(counter);
            let config = Config { chaining, ..Config::default() };
            let mut session = builder.config(config).build().unwrap();
            for nth in 0..60 {
                session.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do?")));
                session.push(Message::assistant(format!("It computes the value {nth}. ").repeat(6)));
                // What fits is nothing that such a counter could tell.
                let _ = session.prepare().await;
                for record in session.state().view().summaries() {
                    summaries.insert((seed, record.id.clone()));
                    assert!(!record.text.trim().is_empty(), "{seed} {nth}");
                }
            }
        }
    }
    assert!(summaries.len() > 20, "{}", summaries.len());
}
