//! Sessions in a store: killed and opened again at any moment they go on as if nothing had happened, and what they hold in
//! memory does not grow with their age.

use std::sync::Arc;

use longhaul_store::{MemoryStore, SummaryStore};
use longhaul_tokens::{CharsPer4, ContextWindow};
use longhaul_transcript::{
    FixedClock, Message, Outcome, Part, Role, SessionId, Span, Tokens, ToolCall, ToolResult,
};

use super::*;
use crate::{Preset, session::Line};

const WINDOW: ContextWindow = ContextWindow { window: Tokens(2_000), reserved_output: Tokens(0) };

async fn begin(store: &Arc<MemoryStore>, config: &Config) -> Session {
    let store = Arc::clone(store) as Arc<dyn SummaryStore>;
    let builder = Session::builder(SessionId::new("kept").unwrap(), WINDOW).config(config.clone());
    let builder = builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000))).store(store);
    builder.open().await.unwrap()
}

fn turn(session: &mut Session, nth: usize) {
    session.push(Message::user(format!("What does src/part_{nth}.rs do? Mind limit_{} please.", nth % 7)));
    let id = format!("c{nth}");
    let call = ToolCall::function(id.as_str(), "read_file", format!(r#"{{"path":"src/part_{nth}.rs"}}"#));
    session.push(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let text = format!("let value_{nth} = compute({nth});\n").repeat(3 + nth % 9);
    let result = ToolResult::text(id.as_str(), text, Outcome::Unstated);
    session.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    session.push(Message::assistant(format!("It computes value_{nth} and keeps it.")));
}

fn shown(session: &Session) -> Vec<Message> {
    session.state().view().messages().map(|message| (**message).clone()).collect()
}

fn held(line: &Line) -> usize {
    line.entries().len()
}

#[tokio::test]
async fn killed_at_any_moment_a_session_goes_on_as_if_it_had_not_been() {
    for preset in [None, Some(Preset::Rolling), Some(Preset::Session), Some(Preset::Chain)] {
        let mut config = preset.map_or_else(Config::default, |preset| preset.config());
        config.mode = SummaryMode::Rules;
        let (whole_store, cut_store) = (Arc::new(MemoryStore::default()), Arc::new(MemoryStore::default()));
        let mut whole = begin(&whole_store, &config).await;
        for nth in 0..40 {
            turn(&mut whole, nth);
            whole.prepare().await.unwrap();
            // The other one is opened for each turn, and dropped without a word.
            let mut cut = begin(&cut_store, &config).await;
            turn(&mut cut, nth);
            let view = cut.prepare().await.unwrap();
            assert_eq!(shown(&cut), shown(&whole), "{preset:?}, turn {nth}");
            assert_eq!(view.tokens(), whole.state().tokens());
            assert_eq!(cut.state().decide(None), whole.state().decide(None), "{preset:?}, turn {nth}");
        }
        let cut = begin(&cut_store, &config).await;
        assert_eq!(cut.state().originals().len(), 160);
        let heads = [&whole_store, &cut_store].map(|store| store.clone());
        let chain =
            |store: Arc<MemoryStore>, line: SessionId| async move { store.chain(&line).await.unwrap() };
        let [one, other] = heads;
        let (one, other) = (chain(one, whole.line().clone()).await, chain(other, cut.line().clone()).await);
        let ids = |chain: &[longhaul_transcript::SummaryRecord]| {
            chain.iter().map(|record| record.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&one), ids(&other), "{preset:?}");
        assert!(!one.is_empty(), "{preset:?}");
    }
}

#[tokio::test]
async fn originals_live_in_the_store_and_come_back_when_they_are_needed() {
    let store = Arc::new(MemoryStore::default());
    let mut session = begin(&store, &Config::default()).await;
    let mut most = 0;
    for nth in 0..330 {
        turn(&mut session, nth);
        session.prepare().await.unwrap();
        most = most.max(held(session.state().originals()));
    }
    assert_eq!(session.state().originals().len(), 1_320);
    assert!(most < 1_250, "{most} originals are held");
    let first = session.state().originals().get(0).unwrap().id;
    assert_eq!(first.ordinal, 0);
    let early = store.originals(session.line(), Span { start: 100, end: 101 }).await.unwrap();
    let early = early[0].message.clone().unwrap();
    let id = MessageId { ordinal: 100, hash: early.content_hash() };
    assert!(session.state().originals().get(100).is_none(), "it is not at hand");
    session.pin(id).await.unwrap();
    assert!(shown(&session).contains(&early), "and shown whole all the same");
    session.rewind(id).await.unwrap();
    assert_eq!(session.state().originals().len(), 101);
    turn(&mut session, 7_000);
    session.prepare().await.unwrap();
    let again = begin(&store, &Config::default()).await;
    assert_eq!(again.state().originals().len(), 105);
    assert_eq!(shown(&again), shown(&session));
    assert_eq!(again.line().as_str(), "kept-b1");
}

#[tokio::test]
async fn another_writer_is_told_before_a_word_is_lost() {
    let store = Arc::new(MemoryStore::default());
    let mut one = begin(&store, &Config::default()).await;
    turn(&mut one, 0);
    one.prepare().await.unwrap();
    let mut other = begin(&store, &Config::default()).await;
    turn(&mut other, 1);
    other.prepare().await.unwrap();
    turn(&mut one, 2);
    let error = one.prepare().await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Overtaken { ordinal: 4, .. })), "{error:?}");
}

#[tokio::test]
async fn wrong_use_of_the_builder_is_an_error() {
    let builder = || Session::builder(SessionId::new("wrong").unwrap(), WINDOW);
    let reserve = Config { reserved_output_tokens: Some(Tokens(2_000)), ..Config::default() };
    assert!(matches!(builder().config(reserve).build(), Err(BuildError::NoRoom { .. })));
    assert!(matches!(builder().fixed_overhead(Tokens(2_000)).build(), Err(BuildError::NoRoom { .. })));
    let rules = Arc::new(longhaul_summarize::rules::RulesSummarizer::default());
    assert!(matches!(builder().summarizer(rules.clone()).build(), Err(BuildError::UnusedSummarizer)));
    let llm = Config { mode: SummaryMode::Llm, ..Config::default() };
    // In any order.
    assert!(builder().summarizer(rules.clone()).config(llm.clone()).build().is_ok());
    assert!(builder().config(llm.clone()).summarizer(rules).build().is_ok());
    let text = "[models.\"gpt-4o*\"]\ntrigger_ratio = 0.5\nsoft_ratio = 0.45\nreset_ratio = 0.47";
    let config: Config = toml::from_str(text).unwrap();
    let one = builder().model("openai", "gpt-4o").config(config.clone()).build().unwrap();
    let other = builder().config(config).model("openai", "gpt-4o").build().unwrap();
    assert_eq!(one.state().limits(), other.state().limits());
    assert_eq!(one.state().limits().trigger, one.state().budget().scaled(0.5));
}
