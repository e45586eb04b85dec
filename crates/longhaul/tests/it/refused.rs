//! A provider refuses a request as too large, once or again and again, rightly or not: the session gives what it can, says
//! when nothing is left to give, and can be used on.

use std::sync::Arc;

use longhaul::{
    Builder, Error, Session,
    store::MemoryStore,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SessionId, Tokens, Usage},
};

const WINDOW: Tokens = Tokens(12_000);

fn builder() -> Builder {
    let window = ContextWindow::new(WINDOW, Tokens(1_200));
    Session::builder(SessionId::new("refused").unwrap(), window).counter(Arc::new(CharsPer4))
}

fn session() -> Session {
    builder().build().unwrap()
}

fn talk(session: &mut Session, turns: usize) {
    for nth in 0..turns {
        let words = "and it must be said at some length ".repeat(6);
        session.push(Message::user(format!("Question {nth}: what is in src/file_{nth}.rs? {words}")));
        session.push(Message::assistant(format!("It has the value {nth} in it, {words}.")));
    }
}

/// Returns a session whose view is about half of what fits.
async fn half_full() -> Session {
    let mut session = session();
    talk(&mut session, 45);
    let view = session.prepare().await.unwrap();
    assert!(view.tokens() > Tokens(4_000) && session.state().summary().is_none(), "{}", view.tokens());
    session
}

/// Asserts that the session takes what is said next, and sends all of it that it should.
async fn goes_on(session: &mut Session) {
    for _ in 0..10 {
        talk(session, 4);
        session.push(Message::user("x".repeat(4_000)));
        let view = session.prepare().await.unwrap();
        assert!(view.tokens() <= session.state().budget());
        session.push(Message::assistant("Well."));
    }
}

#[tokio::test]
async fn what_was_refused_although_it_should_fit_was_counted_too_low() {
    for limit in [WINDOW, Tokens(20_000)] {
        let mut session = half_full().await;
        let refused = session.state().tokens();
        session.overflowed(Some(limit)).await.unwrap();
        assert_eq!(session.state().budget(), refused);
        let view = session.prepare().await.unwrap();
        assert!(view.tokens() < refused.scaled(0.8), "{} of {refused}", view.tokens());
        // The provider's own figures say what the budget was for.
        let (input, budget) = (view.tokens().scaled(2.0), Tokens(10_800));
        let usage = Usage { input, ..Usage::default() };
        session.report_usage(view.id(), &usage);
        assert_eq!(session.state().budget(), budget);
        goes_on(&mut session).await;
    }
}

#[tokio::test]
async fn refusals_in_a_row_leave_a_session_that_can_be_used() {
    for limit in [Some(WINDOW), Some(Tokens(13_000)), Some(Tokens(6_000)), None] {
        let mut session = half_full().await;
        let mut last = None;
        for _ in 0..40 {
            last = session.overflowed(limit).await.err();
            let (budget, floor) = (session.state().budget(), session.state().measure(None).floor);
            assert!(budget >= floor && budget > Tokens::ZERO, "{limit:?}: {budget}, {floor}");
            // No counter is wrong by more than that: the rest is of another cause.
            assert!(limit.is_none() || budget >= Tokens(6_000 * 9 / 10 / 4), "{limit:?}: {budget}");
            session.prepare().await.unwrap();
            if last.is_some() {
                break;
            }
        }
        let is_told = matches!(last, Some(Error::NothingLeft { .. } | Error::NotTooLarge { .. }));
        assert!(is_told, "{limit:?}: {last:?}");
        goes_on(&mut session).await;
    }
}

#[tokio::test]
async fn a_limit_below_the_window_is_the_window() {
    let mut session = half_full().await;
    session.overflowed(Some(Tokens(5_000))).await.unwrap();
    // A quarter of it at most is kept free for the answer.
    assert!(session.state().budget() <= Tokens(3_800), "{}", session.state().budget());
    let view = session.prepare().await.unwrap();
    session.report_usage(view.id(), &Usage { input: view.tokens(), ..Usage::default() });
    assert_eq!(session.state().budget(), Tokens(3_800));
    goes_on(&mut session).await;
}

#[tokio::test]
async fn the_same_request_is_refused_once() {
    let mut once = half_full().await;
    once.overflowed(Some(WINDOW)).await.unwrap();
    let mut twice = half_full().await;
    for _ in 0..3 {
        let rewrite = twice.overflowed(Some(WINDOW)).await.unwrap();
        assert_eq!(rewrite.outcome.tokens_after, once.state().tokens());
    }
    twice.overflowed(None).await.unwrap();
    assert_eq!(twice.state().budget(), once.state().budget());
    let (once, twice) = (once.prepare().await.unwrap(), twice.prepare().await.unwrap());
    assert!(once.messages().eq(twice.messages()));
}

#[tokio::test]
async fn a_session_of_one_message_has_nothing_to_give() {
    for limit in [None, Some(Tokens(1_000_000)), Some(WINDOW), Some(Tokens(8_000)), Some(Tokens(0))] {
        for is_said in [true, false] {
            let mut session = session();
            if is_said {
                session.push(Message::user("Hello"));
            }
            let budget = session.state().budget();
            for _ in 0..3 {
                let error = session.overflowed(limit).await.unwrap_err();
                assert!(matches!(error, Error::NothingLeft { .. }), "{error}");
                assert_eq!(session.state().budget(), budget, "{limit:?}");
                assert!(session.prepare().await.unwrap().tokens() < Tokens(20));
            }
            goes_on(&mut session).await;
        }
    }
}

#[tokio::test]
async fn what_must_stay_is_never_over_a_budget_that_a_refusal_taught() {
    let mut session = half_full().await;
    session.push(Message::user("y".repeat(12_000)));
    session.prepare().await.unwrap();
    let budget = session.state().budget();
    let error = session.overflowed(Some(Tokens(2_000))).await.unwrap_err();
    let said = error.to_string();
    assert!(said.contains("(it takes 2,000), and nothing is left to give: at least 3"), "{said}");
    assert_eq!(session.state().budget(), budget);
    session.prepare().await.unwrap();
    // What no limit was told for is concluded only: a larger request is sent all the same.
    session.overflowed(None).await.unwrap();
    session.prepare().await.unwrap();
    let least = session.state().budget();
    let id = session.push(Message::user("z".repeat(least.0 as usize * 4)));
    session.pin(id).await.unwrap();
    session.push(Message::assistant("I see."));
    assert!(session.prepare().await.unwrap().tokens() > least);
}

#[tokio::test]
async fn a_small_request_was_not_refused_for_its_size() {
    let mut session = session();
    talk(&mut session, 12);
    let before = session.prepare().await.unwrap();
    let budget = session.state().budget();
    for limit in [12_000, 12_000, 9_000] {
        let error = session.overflowed(Some(Tokens(limit))).await.unwrap_err();
        assert!(matches!(error, Error::NotTooLarge { .. }), "{error}");
        assert!(session.prepare().await.unwrap().messages().eq(before.messages()));
    }
    assert_eq!(session.state().budget(), budget);
    // A provider that takes far more refuses nothing of this size for it.
    let mut session = half_full().await;
    let error = session.overflowed(Some(Tokens(u64::MAX))).await.unwrap_err();
    assert!(matches!(error, Error::NotTooLarge { .. }), "{error}");
}

#[tokio::test]
async fn what_a_refusal_taught_outlives_a_kill() {
    for limit in [Tokens(5_000), WINDOW] {
        // Killed right behind the refusal, and after requests that wrote no snapshot.
        for n_requests in [0, 3] {
            let store = Arc::new(MemoryStore::new());
            let open = || builder().store(store.clone()).endpoint("m", "e").open();
            let mut session = open().await.unwrap();
            talk(&mut session, 45);
            session.prepare().await.unwrap();
            session.overflowed(Some(limit)).await.unwrap();
            for nth in 0..n_requests {
                session.push(Message::user(format!("And {nth}?")));
                session.prepare().await.unwrap();
                session.push(Message::assistant("Well."));
            }
            session.save().await.unwrap();
            let budget = session.state().budget();
            assert!(budget < Tokens(8_000), "{budget}");
            drop(session);

            let mut resumed = open().await.unwrap();
            assert_eq!(resumed.state().budget(), budget, "{limit}, {n_requests}");
            talk(&mut resumed, 60);
            let view = resumed.prepare().await.unwrap();
            assert!(view.tokens() <= budget, "{} of {budget}", view.tokens());
            drop(resumed);

            // Of another model it says nothing.
            let other = builder().store(store.clone()).endpoint("n", "e").open().await.unwrap();
            assert_eq!(other.state().budget(), Tokens(10_800));
        }
    }
}

#[tokio::test]
async fn what_a_refusal_told_of_one_model_is_not_believed_of_another() {
    let store = Arc::new(MemoryStore::default());
    let open = async |model: &str| builder().model("acme", model).store(store.clone()).open().await.unwrap();
    let mut session = open("narrow").await;
    talk(&mut session, 45);
    session.prepare().await.unwrap();
    session.overflowed(Some(Tokens(6_000))).await.unwrap();
    session.save().await.unwrap();
    let budget = session.state().budget();
    assert!(budget < Tokens(6_000), "{budget}");
    assert_eq!(open("narrow").await.state().budget(), budget);
    assert_eq!(open("wide").await.state().budget(), Tokens(10_800));
}
