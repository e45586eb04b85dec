//! `docs/events.md` is written from examples: events of sessions at work, and made-up ones where that takes a fault.

use std::fmt::Write as _;

use expect_test::expect_file;
use longhaul::{
    Event, EventKind, Preset,
    transcript::{SessionId, Span, Tokens},
};

use crate::work::{Work, exchange};

/// One event of each kind: as sessions at work give them, in the order they first come, then made-up ones.
async fn samples() -> Vec<Event> {
    let mut samples: Vec<Event> = Vec::new();
    let mut take = |kinds: Vec<EventKind>| {
        for kind in kinds {
            if samples
                .iter()
                .all(|event| std::mem::discriminant(&event.kind) != std::mem::discriminant(&kind))
            {
                let session = SessionId::new("demo").unwrap();
                samples.push(Event::new(session, Tokens(6_120), 0.765, kind));
            }
        }
    };
    let fails = |_: usize, _: &longhaul::summarize::CompletionRequest| {
        Err(longhaul::summarize::ClientError::Transport { reason: "connection reset".into() })
    };
    let config = longhaul::Config { rules_on_failure: true, ..Preset::Chain.config() };
    let mut work = Work::with(config, 8_000, Some(Box::new(fails)));
    assert!(work.talk(90, 100).await > 0, "something is summarized");
    let sent = work.context.state().view().id();
    let usage = longhaul::transcript::Usage { input: work.context.state().tokens(), ..Default::default() };
    work.context.report_usage(sent, &usage);
    work.context.undo().await.unwrap();
    work.context.redo().await.unwrap();
    take(work.events());

    let mut work = Work::with(longhaul::Config::default(), 8_000, None);
    for nth in 0..20 {
        let output = "a line of output\n".repeat(90);
        for message in
            exchange(&format!("c{nth}"), "bash", r#"{"command":"make"}"#, &output, Default::default())
        {
            work.context.push(message);
        }
        work.talk(2, 10).await;
    }
    take(work.events());
    let window = longhaul::tokens::ContextWindow::new(Tokens(32_000), Tokens(4_000));
    work.context
        .switch_model(window, std::sync::Arc::new(longhaul::tokens::CharsPer4), longhaul::Config::default())
        .unwrap();
    take(work.events());
    let name = |name: &str| SessionId::new(name).unwrap();
    take(vec![
        EventKind::Branched { from: name("demo"), line: name("demo-b1"), at: 42 },
        EventKind::NotSaved { message: 42, error: "writing failed: the disk is full".into() },
        EventKind::CalibrationNotKept { error: "writing failed: the disk is full".into() },
        EventKind::NotDeleted { messages: 12, error: "the summary has no room to tell of them".into() },
        EventKind::Rewritten,
        EventKind::LeftOut {
            what: "left out of the summarizer's words: all but 395 of 812 tokens, for the facts by rule"
                .into(),
        },
        EventKind::RequestCut { message: 41, message_tokens: Tokens(12_004), left: Tokens(6_400) },
        EventKind::Failed {
            reason: longhaul::Reason::Manual,
            error:
                "there is nothing to compact: every message is the system prompt or part of the open exchange"
                    .into(),
            failures: 1,
        },
        EventKind::TooLargeForModel { tokens_to_summarize: Tokens(9_310), limit: Tokens(1_000) },
        EventKind::UnknownModel { model: "frontier-9".into(), is_estimated: true, window: Tokens(32_768) },
        EventKind::ModelOfAnother {
            model: "gpt-4o".into(),
            provider: "anthropic".into(),
            maker: "openai".into(),
        },
        EventKind::SettingUnused {
            setting: "delete_originals".into(),
            why: "no store was given, which could hold any".into(),
        },
        EventKind::SecretsMissing { places: 2 },
        EventKind::ForgottenLeftOut {
            messages: 3,
            spans: vec![Span { start: 4, end: 6 }, Span { start: 9, end: 10 }],
        },
        EventKind::ChangedInStore { message: 17 },
        EventKind::UsageTooLow { reported: Tokens(1_204) },
        EventKind::UsageImplausible { reported: Tokens(61_200), counted: Tokens(6_120) },
        EventKind::UsageAddsUp { reported: Tokens(17_340), counted: Tokens(6_120) },
        EventKind::UsageDistrusted { billed: Tokens(9_944), counted: Tokens(2_210) },
    ]);
    samples
}

/// Replaces what depends on how well the rules do their work, which is no part of an event's shape.
fn settled(mut event: Event) -> Event {
    match &mut event.kind {
        EventKind::Finished(finish) => {
            (event.tokens, event.ratio) = (Tokens(3_118), 0.38975);
            finish.summary = longhaul::transcript::SummaryId("0123456789abcdef".into());
            (finish.tokens_before, finish.tokens_after) = (Tokens(6_448), Tokens(3_118));
            (finish.summary_tokens, finish.compressed_messages) = (Tokens(796), 38);
            (finish.digested, finish.kept_verbatim) = (2, 21);
            finish.covers = longhaul::transcript::Span { start: 0, end: 40 };
            finish.survival =
                [("paths".to_owned(), longhaul::transcript::Survival { kept: 41, total: 44 })].into();
        }
        EventKind::Started { compressed_messages, .. } => *compressed_messages = 40,
        EventKind::UsageReported { reported, .. } => *reported = Tokens(6_120),
        EventKind::Trimmed { tokens_before, tokens_after, digested, .. } => {
            (*tokens_before, *tokens_after, *digested) = (Tokens(4_823), Tokens(3_160), 7);
            (event.tokens, event.ratio) = (Tokens(3_160), 0.395);
        }
        _ => {}
    }
    event
}

/// Returns the names of all kinds of events, as the error for an unknown one lists them.
fn names() -> Vec<String> {
    let error = serde_json::from_str::<EventKind>(r#"{"event":"?"}"#).unwrap_err().to_string();
    let names: Vec<String> = error.split('`').skip(3).step_by(2).map(str::to_owned).collect();
    assert!(names.contains(&"counted".to_owned()), "{error}");
    names
}

#[tokio::test]
async fn events_md_is_up_to_date() {
    let mut page = String::from(
        "# Events\n\n\
         Written by a test (`crates/longhaul/tests/it/event_page.rs`) with an example of each event; run\n\
         `UPDATE_EXPECT=1 cargo test -p longhaul events_md` to renew it.\n\n\
         An `Observer` is told of each event as it happens; `longhaul chat` shows those that its user should know of. They hold\n\
         names, numbers and reasons, and no message of the conversation; why a model failed may repeat what its provider\n\
         answered, without secrets, and a provider may quote what it was sent. Common fields: `version`, `session`, `tokens`\n\
         (what the context costs now), `ratio` (of the budget). `Event::is_notice` says which ones a user should see.\n",
    );
    for event in samples().await.into_iter().map(settled) {
        let json = serde_json::to_string_pretty(&event).unwrap();
        let name = serde_json::to_value(&event).unwrap()["event"].as_str().unwrap().to_owned();
        let notice = if event.is_notice() { " (shown to the user)" } else { "" };
        write!(page, "\n## `{name}`{notice}\n\n> {event}\n\n```json\n{json}\n```\n").unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
    }
    for name in names() {
        assert!(page.contains(&format!("\n## `{name}`")), "no example of {name}");
    }
    expect_file!["../../../../docs/events.md"].assert_eq(&page);
}

#[tokio::test]
async fn no_event_holds_a_word_of_the_conversation() {
    let mut work = Work::new(Preset::Chain, 4_000);
    work.context.push(longhaul::transcript::Message::user("xylophone ".repeat(40)));
    work.talk(60, 100).await;
    let events = serde_json::to_string(&work.events()).unwrap();
    for word in ["xylophone", "src/part_", "Message 1"] {
        assert!(!events.contains(word), "{word}");
    }
}
