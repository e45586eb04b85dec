//! Seed 003, "Context Management and Message Summarization": preset `two-tier`.

use std::sync::Arc;

use longhaul::{
    Preset, Reason,
    summarize::{
        Draft, Ladder, MemoryCache, Scripted, SummarizeError, Summarizer, SummarizerModel, SummaryRequest,
        rules::RulesSummarizer,
    },
    tokens::{CharsPer4, TokenCounter},
    transcript::{FixedClock, NoJitter, NoSleep, Outcome, SummaryMode, Tokens},
};

use crate::work::{Work, exchange, text};

const WINDOW: u64 = 200_000;

/// What the model says: prose, as the document's prompt asks for, and borne out by the conversation.
const SAID: &str =
    "Task progress: src/part_2.rs was discussed, with its limit of 20 ms. Current focus: src/part_3.rs.";

// asserts 003-01
#[test]
fn tokens_are_estimated_at_four_characters_each() {
    for (text, tokens) in [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2)] {
        assert_eq!(CharsPer4.count_text(text), Tokens(tokens));
    }
}

// asserts 003-02, 003-03
#[tokio::test]
async fn the_first_tier_summarizes_by_rule_at_80k_without_a_model() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    while work.finished().is_empty() {
        assert!(work.context.state().tokens() < Tokens(80_000));
        work.talk(2, 1_500).await;
    }
    let finish = &work.finished()[0];
    assert_eq!(finish.reason.as_str(), "soft");
    assert_eq!((finish.mode, work.calls()), (SummaryMode::Rules, 0));
    assert!(finish.tokens_before >= Tokens(80_000) && finish.tokens_before < Tokens(84_000));
}

// asserts 003-18
#[tokio::test]
async fn the_first_tier_acts_within_a_long_tool_loop_too() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    work.context.push(longhaul::transcript::Message::user("Read every module and find the deadlock"));
    for nth in 0.. {
        let path = format!(r#"{{"path":"src/module_{nth}.rs"}}"#);
        let content = format!("fn module_{nth}() {{ lock_{nth}(); }}\n").repeat(200);
        for message in exchange(&format!("c{nth}"), "read_file", &path, &content, Outcome::Unstated) {
            work.context.push(message);
        }
        work.context.prepare().await.unwrap();
        if !work.finished().is_empty() {
            break;
        }
        assert!(work.context.state().tokens() < Tokens(82_000), "{}", work.context.decide());
    }
    let finish = &work.finished()[0];
    assert_eq!((finish.reason.as_str(), finish.mode, work.calls()), ("soft", SummaryMode::Rules, 0));
}

// asserts 003-04, 003-19
#[tokio::test]
async fn the_second_tier_asks_the_model_at_120k() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    // A single prompt carries the context past both thresholds, as a large paste does.
    work.talk(12, 6_000).await;
    assert!(work.finished().is_empty());
    work.talk(1, 60_000).await;
    let finish = &work.finished()[0];
    assert!(matches!(finish.reason, Reason::Ratio { trigger: Tokens(120_000), .. }), "{finish:?}");
    assert_eq!(finish.mode, SummaryMode::Llm);
    assert!(work.calls() >= 1);
    assert!(finish.summary_tokens <= Tokens(2_000));
}

// asserts 003-05
#[tokio::test]
async fn the_last_eight_messages_stay_intact() {
    let mut work = Work::new(Preset::TwoTier, WINDOW);
    while work.finished().is_empty() {
        work.talk(1, 1_500).await;
    }
    let sent = work.sent();
    let entries = work.context.state().originals().entries();
    for entry in &entries[entries.len() - 8..] {
        assert!(sent.contains(&text(&entry.message)), "{}", entry.id);
    }
}

// asserts 003-15
#[tokio::test]
async fn eight_messages_or_fewer_are_not_summarized() {
    let mut work = Work::new(Preset::TwoTier, WINDOW);
    work.talk(8, 14_000).await;
    assert!(work.finished().is_empty());
    work.talk(1, 14_000).await;
    assert_eq!(work.finished().len(), 1);
}

// asserts 003-06, 003-07, 003-08
#[tokio::test]
async fn the_quick_summary_names_tools_files_and_commands() {
    let mut work = Work::new(Preset::TwoTier, WINDOW);
    let read = exchange(
        "c1",
        "read_file",
        r#"{"path":"src/lexer.rs"}"#,
        &"fn lex() {}\n".repeat(200),
        Outcome::Unstated,
    );
    let run = exchange(
        "c2",
        "execute_bash",
        r#"{"command":"cargo test --workspace"}"#,
        "test result: ok",
        Outcome::Unstated,
    );
    for message in read.into_iter().chain(run) {
        work.context.push(message);
    }
    while work.finished().is_empty() {
        work.talk(2, 2_000).await;
    }
    assert!(
        work.summary().contains("src/lexer.rs") || work.summary().contains("lexer.rs"),
        "{}",
        work.summary()
    );
    assert!(work.summary().contains("cargo test"), "{}", work.summary());
}

/// Asks the same thing twice.
#[derive(Debug)]
struct Twice(Ladder);

#[async_trait::async_trait]
impl Summarizer for Twice {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        self.0.summarize(request).await?;
        self.0.summarize(request).await
    }
}

// asserts 003-11
#[tokio::test]
async fn unchanged_content_is_not_summarized_twice() {
    let model = Arc::new(Scripted::new(|_, _| Ok(Scripted::says(SAID))));
    let config = Preset::TwoTier.config();
    let ladder = Ladder::new(
        vec![SummarizerModel::new("small", Tokens(128_000), Arc::clone(&model) as _)],
        Arc::new(RulesSummarizer::default()),
        config.llm_options(),
        Arc::new(FixedClock(0)),
        Arc::new(NoSleep),
        Arc::new(NoJitter),
    );
    let mut work = Work::with(config, WINDOW, None);
    work.talk(20, 1_000).await;
    let state = work.context.state();
    let action = longhaul::policy::Action::Summarize { rebuild: false };
    let job = state.plan(action, Reason::Manual, None, None).unwrap();
    ladder.summarize(job.request()).await.unwrap();
    let once = model.calls();
    let twice = Twice(ladder.with_cache(Arc::new(MemoryCache::default())));
    twice.summarize(job.request()).await.unwrap();
    assert_eq!(model.calls(), once * 2, "with a cache the second time asks nobody");
}

#[test]
fn the_model_is_asked_for_the_six_sections() {
    let prompt = Preset::TwoTier.config().llm_options().custom_prompt.unwrap().to_lowercase();
    for section in ["task progress", "key decisions", "files", "errors", "current focus", "important context"]
    {
        assert!(prompt.contains(section), "{section}");
    }
}

#[tokio::test]
async fn a_small_window_gets_thresholds_it_can_reach() {
    let mut work = Work::new(Preset::TwoTier, 16_000);
    assert!(work.talk(200, 300).await > 0);
    assert!(work.context.state().limits().adjusted);
    assert!(work.context.state().tokens() <= Tokens(16_000));
}
