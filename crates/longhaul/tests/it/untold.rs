//! What steps of the caller's drop or replace is in no summary.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use async_trait::async_trait;
use longhaul::{
    Change, CompactionStep, Config, Session, StepUnit,
    config::Chaining,
    store::{MemoryStore, Selector, SummaryStore},
    summarize::{Draft, SummarizeError, Summarizer, SummaryRequest},
    tokens::{CharsPer4, ContextWindow},
    transcript::{
        Entry, Message, Outcome, Part, Role, SessionId, SummaryMode, Tokens, ToolCall, ToolResult, Units,
    },
};

use crate::work::text;

/// Keeps to itself what says so, as long as it may.
#[derive(Clone, Copy, Debug)]
struct Hides {
    replaces: bool,
}

impl CompactionStep for Hides {
    fn name(&self) -> &str {
        "hides"
    }

    fn changes(&self, units: &[StepUnit<'_>]) -> Vec<Change> {
        let is_secret = |unit: &&StepUnit<'_>| {
            !unit.stays && unit.unit.messages().any(|message| text(message).contains("CONFIDENTIAL"))
        };
        let change = |entry: &Entry| match self.replaces {
            true => Change::Replace(entry.id.ordinal, masked(&entry.message)),
            false => Change::Drop(entry.id.ordinal),
        };
        units.iter().filter(is_secret).flat_map(|unit| unit.unit.entries).map(change).collect()
    }
}

fn masked(message: &Message) -> Message {
    let parts = message.parts.iter().map(|part| match part {
        Part::ToolCall(call) => Part::ToolCall(ToolCall::function(call.id.as_str(), "read", "{}")),
        Part::ToolResult(result) => {
            Part::ToolResult(ToolResult::text(result.call_id.as_str(), "(removed)", Outcome::Failed))
        }
        _ => Part::Text("(removed)".into()),
    });
    Message::new(message.role, parts.collect())
}

/// Says how many messages it read, and fails where it reads what it should not.
#[derive(Debug)]
struct Model;

#[async_trait]
impl Summarizer for Model {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        // The newest request stays, whatever it says, and is shown beside what is summarized.
        let read = request.entries.iter();
        let leaks = read.clone().any(|entry| is_secret(&text(&entry.message)));
        let text = match leaks || request.previous.is_some_and(|record| is_secret(&record.text)) {
            true => "A model read of Abernathy.".to_owned(),
            false => format!("{} messages were read.", read.count()),
        };
        Ok(Draft {
            tokens: request.counter.count_text(&text),
            text,
            mode: SummaryMode::Llm,
            ..Draft::default()
        })
    }
}

fn is_secret(text: &str) -> bool {
    text.contains("Abernathy") || text.contains("payroll")
}

async fn begin(store: &Arc<MemoryStore>, hides: Option<Hides>, config: &Config) -> Session {
    let window = ContextWindow::new(Tokens(2_500), Tokens::ZERO);
    let store = Arc::clone(store) as Arc<dyn SummaryStore>;
    let builder = Session::builder(SessionId::new("untold").unwrap(), window).config(config.clone());
    let builder = builder.counter(Arc::new(CharsPer4)).store(store);
    let builder = match config.mode {
        SummaryMode::Rules => builder,
        _ => builder.summarizer(Arc::new(Model)),
    };
    let builder = match hides {
        Some(hides) => builder.step_before(hides),
        None => builder,
    };
    builder.open().await.unwrap()
}

/// Says a secret, as the `nth` of those that may say one.
fn secret(session: &mut Session, nth: usize) {
    let said =
        format!("CONFIDENTIAL: Ms. Abernathy always earns {nth}50,000 euros, see /srv/payroll/{nth}.csv.");
    match nth % 4 {
        0 => drop(session.push(Message::user(said))),
        1 => drop(session.push(Message::assistant(said))),
        2 => {
            session.push(Message::assistant(format!("{said} Shall I pay it?")));
            session.push(Message::user("Yes."));
        }
        _ => {
            let id = format!("s{nth}");
            let path = format!(r#"{{"path":"/srv/payroll/{nth}.csv","why":"CONFIDENTIAL"}}"#);
            let call = Part::ToolCall(ToolCall::function(id.as_str(), "read", path));
            session.push(Message::new(Role::Assistant, vec![call]));
            let result =
                ToolResult::text(id.as_str(), format!("{said}\nerror: no Abernathy"), Outcome::Failed);
            session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        }
    }
}

fn turn(session: &mut Session, nth: usize) {
    let careful = "Please be exact about it. ".repeat(4);
    session.push(Message::user(format!("Question {nth}: what does src/file_{nth}.rs do? {careful}")));
    if nth % 5 == 3 {
        secret(session, nth / 5);
    }
    session.push(Message::assistant(format!("It computes value_{nth} for src/file_{nth}.rs, with care.")));
}

#[tokio::test]
async fn what_a_step_keeps_to_itself_is_in_no_summary() {
    let modes = [SummaryMode::Rules, SummaryMode::Hybrid, SummaryMode::Llm];
    let chainings = [Chaining::Fold, Chaining::Append, Chaining::Running];
    let all = modes.iter().flat_map(|mode| chainings.map(|chaining| (*mode, chaining)));
    for ((mode, chaining), replaces) in all.flat_map(|way| [true, false].map(|replaces| (way, replaces))) {
        let store = Arc::new(MemoryStore::default());
        let config = Config { mode, chaining, ..Config::default() };
        let mut session = begin(&store, Some(Hides { replaces }), &config).await;
        let mut n_summaries = 0;
        for nth in 0..56 {
            turn(&mut session, nth);
            let view = session.prepare().await.unwrap();
            n_summaries = n_summaries.max(view.summaries().count());
            for record in view.summaries() {
                let data = format!("{:?}", record.summary);
                assert!(
                    !is_secret(&record.text) && !is_secret(&data),
                    "{mode:?} {chaining:?} {replaces} {nth}: {}\n{data}",
                    record.text
                );
            }
            let said: longhaul::transcript::Transcript = view.messages().cloned().collect();
            assert!(
                Units::new(said.entries()).all(|unit| unit.state != longhaul::transcript::UnitState::Broken)
            );
            if nth == 40 {
                // Somebody destroys something else: the session goes on from what the store has.
                session.save().await.unwrap();
                let other = Selector::Matching("Question 33:".to_owned());
                store.forget(session.line(), &other, 1).await.unwrap();
            }
            if nth % 28 == 27 {
                session.save().await.unwrap();
                session = begin(&store, Some(Hides { replaces }), &config).await;
            }
        }
        assert!(n_summaries > 0);
        let text = session.state().summary().unwrap().text.clone();
        assert!(mode == SummaryMode::Llm || text.contains("src/file_"), "what else was said is told: {text}");
    }
}

/// What was the newest request when the first summary was made is its goal, which the next one is told.
#[tokio::test]
async fn a_goal_that_a_step_takes_out_is_told_no_more() {
    for replaces in [true, false] {
        let store = Arc::new(MemoryStore::default());
        let mut session = begin(&store, Some(Hides { replaces }), &Config::default()).await;
        session.push(Message::user("CONFIDENTIAL: what does Ms. Abernathy earn?"));
        let read = |session: &mut Session, nth: usize| {
            let id = format!("r{nth}");
            let call = Part::ToolCall(ToolCall::function(id.as_str(), "read", "{}"));
            session.push(Message::new(Role::Assistant, vec![call]));
            let result = ToolResult::text(id.as_str(), "a line of it\n".repeat(60), Outcome::Succeeded);
            session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        };
        let mut n_while_asked = 0;
        for nth in 0..20 {
            read(&mut session, nth);
            n_while_asked = n_while_asked.max(session.prepare().await.unwrap().summaries().count());
        }
        assert!(n_while_asked > 0);
        let (mut n_after, mut rewrites) = (0, session.prepare().await.unwrap().id().rewrites);
        for nth in 0..40 {
            turn(&mut session, nth);
            read(&mut session, 100 + nth);
            let view = session.prepare().await.unwrap();
            n_after += usize::from(view.id().rewrites > rewrites);
            rewrites = view.id().rewrites;
            let all: String =
                view.summaries().map(|record| format!("{} {:?}", record.text, record.summary)).collect();
            assert!(n_after == 0 || !is_secret(&all), "{replaces} {nth}: {all}");
        }
        assert!(n_after > 1);
    }
}

/// Asks for what cannot be, once it is told to.
#[derive(Debug)]
struct Breaks(Arc<AtomicBool>);

impl CompactionStep for Breaks {
    fn name(&self) -> &str {
        "breaks"
    }

    fn changes(&self, _: &[StepUnit<'_>]) -> Vec<Change> {
        self.0.load(Relaxed).then_some(Change::Drop(47_110)).into_iter().collect()
    }
}

#[tokio::test]
async fn what_a_step_kept_to_itself_is_in_no_summary_that_is_made_without_steps() {
    for replaces in [true, false] {
        let window = ContextWindow::new(Tokens(2_500), Tokens::ZERO);
        let is_broken = Arc::new(AtomicBool::new(false));
        let builder =
            Session::builder(SessionId::new("untold").unwrap(), window).counter(Arc::new(CharsPer4));
        let builder = builder.step_before(Hides { replaces }).step_before(Breaks(Arc::clone(&is_broken)));
        let mut session = builder.build().unwrap();
        (0..8).for_each(|nth| turn(&mut session, nth));
        (0..4).for_each(|nth| secret(&mut session, nth));
        turn(&mut session, 9);
        session.compact(None).await.unwrap();
        is_broken.store(true, Relaxed);
        let before = session.state().summary().unwrap().id.clone();
        for nth in 0..60 {
            turn(&mut session, 5 * nth);
            let view = session.prepare().await.unwrap();
            for record in view.summaries() {
                assert!(
                    !is_secret(&format!("{}{:?}", record.text, record.summary)),
                    "{nth}: {}",
                    record.text
                );
            }
        }
        assert!(session.state().summary().unwrap().id != before);
    }
}

/// While it is the newest request it stays, in the midst of what is summarized.
#[tokio::test]
async fn a_request_that_a_step_drops_once_it_may_is_in_no_later_summary() {
    for chaining in [Chaining::Fold, Chaining::Append, Chaining::Running] {
        for replaces in [true, false] {
            let store = Arc::new(MemoryStore::default());
            let config = Config { mode: SummaryMode::Rules, chaining, ..Config::default() };
            let mut session = begin(&store, Some(Hides { replaces }), &config).await;
            turn(&mut session, 0);
            secret(&mut session, 4);
            let mut while_it_stays = Vec::new();
            for nth in 0..260 {
                let id = format!("c{nth}");
                let call =
                    ToolCall::function(id.as_str(), "read", format!(r#"{{"path":"src/part_{nth}.rs"}}"#));
                session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
                let result = format!("fn part_{nth}() {{}}\n").repeat(8);
                let result = ToolResult::text(id.as_str(), result, Outcome::Succeeded);
                session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
                if nth == 60 {
                    assert!(session.state().summary().is_some());
                    session.push(Message::user("And what is in the rest?"));
                }
                let view = session.prepare().await.unwrap();
                for record in view.summaries() {
                    if nth <= 60 {
                        while_it_stays.push(record.id.clone());
                    }
                    let data = format!("{:?}", record.summary);
                    assert!(
                        !is_secret(&record.text)
                            && (while_it_stays.contains(&record.id) || !is_secret(&data)),
                        "{chaining:?} {replaces} {nth}: {}\n{data}",
                        record.text
                    );
                }
            }
            assert!(!while_it_stays.contains(&session.state().summary().unwrap().id));
        }
    }
}
