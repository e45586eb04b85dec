//! Seed 000, "Context Summarization System": preset `context-manager`.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use longhaul::{
    Config, Preset, Session, SessionState,
    summarize::Scripted,
    tokens::{Accuracy, CharsPer4, ContextWindow, TokenCounter, estimate_response},
    transcript::{Message, Outcome, SessionId, Span, Tokens},
};

use crate::work::{Work, exchange, text, written_by};

/// Counts how often it is asked to count.
#[derive(Debug, Default)]
struct Asked(AtomicU64);

impl TokenCounter for Asked {
    fn count_text(&self, text: &str) -> Tokens {
        self.0.fetch_add(1, Ordering::Relaxed);
        CharsPer4.count_text(text)
    }

    fn accuracy(&self) -> Accuracy {
        CharsPer4.accuracy()
    }
}

// asserts 000-01
#[cfg(feature = "bpe")]
#[test]
fn should_count_tokens_accurately() {
    let counter = longhaul::tokens::counter(longhaul::tokens::Encoding::Cl100kBase);
    // Token by token what tiktoken 0.12 gives for cl100k_base.
    assert_eq!(counter.count_text("hello world"), Tokens(2));
    assert_eq!(counter.count_text("tiktoken is great!"), Tokens(6));
    assert_eq!(counter.accuracy(), Accuracy::Exact);
    // A message is its text and the frame of the dialect, whatever it holds.
    let said = [
        "The relay of the north sends its rows to the ledger every hour, and the ledger keeps them for a year.",
        "fn part(nth: usize) -> Option<&'static str> { PARTS.get(nth).copied().filter(|part| !part.is_empty()) }",
        "Die Tabelle der Aufträge wird nachts geleert; morgens steht darin, was über Nacht bestellt wurde.",
        "{\"id\": 48213, \"rows\": [1, 2, 3], \"at\": \"2026-03-14T09:26:53Z\", \"ok\": true, \"host\": \"relay-7\"}",
    ];
    for text in said {
        let frame = counter.count_message(&Message::user(text)) - counter.count_text(text);
        assert!((3..=4).contains(&frame.0), "{frame}: {text}");
    }
    // An estimate is off by no more than it says, over a text as long as a turn.
    let whole = said.join("\n").repeat(12);
    let estimator = longhaul::tokens::ScriptEstimator::new(longhaul::tokens::Family::OpenAi);
    let exact = counter.count_message(&Message::user(whole.as_str()));
    let Accuracy::Estimate { margin } = estimator.accuracy() else { panic!("it is none") };
    let off = estimator.count_message(&Message::user(whole.as_str())).0 as f64 / exact.0 as f64 - 1.0;
    assert!(off.abs() <= margin, "{off} of {margin}");
}

// asserts 000-04
#[test]
fn should_cache_repeated_strings() {
    let asked = Arc::new(Asked::default());
    let window = ContextWindow::new(Tokens(100_000), Tokens::ZERO);
    let counter = Arc::clone(&asked) as Arc<dyn TokenCounter>;
    let mut state = SessionState::new(SessionId::new("seed").unwrap(), window, counter, Config::default());
    state.push(Message::user("the same words"));
    let after_one = asked.0.load(Ordering::Relaxed);
    for _ in 0..100 {
        state.push(Message::user("the same words"));
        state.decide(None);
        state.status(None);
    }
    assert_eq!(
        asked.0.load(Ordering::Relaxed),
        after_one,
        "a message that was said before is not counted again"
    );
    assert_eq!(state.tokens(), Tokens(state.cost(0).0 * 101) + CharsPer4.framing().per_reply);
}

// asserts 000-02, 000-03
#[test]
fn should_handle_tool_calls_in_messages() {
    let [call, result] =
        exchange("c1", "read_file", r#"{"path":"src/main.rs"}"#, "fn main() {}", Outcome::Unstated);
    let beyond_its_frame = |message: &Message| {
        CharsPer4.count_message(message) - CharsPer4.count_message(&Message::new(message.role, Vec::new()))
    };
    // "read_file" and its arguments; the result's text.
    assert_eq!(beyond_its_frame(&call), Tokens(3 + 6));
    assert_eq!(beyond_its_frame(&result), Tokens(3));
    // A message costs about four tokens beyond its words.
    let frame = CharsPer4.count_message(&Message::user("hello you")) - CharsPer4.count_text("hello you");
    assert!((3..=4).contains(&frame.0), "{frame}");
}

// asserts 000-05
#[test]
fn should_estimate_a_response_as_half_the_prompt() {
    assert_eq!(estimate_response(Tokens(1_000)), Tokens(500));
    assert_eq!(estimate_response(Tokens(1_001)), Tokens(501));
}

// asserts 000-22
#[tokio::test]
async fn should_preserve_key_information() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    work.context.push(Message::user("Fix the login in /srv/app/auth.ts; the timeout must stay at 4500 ms"));
    let error = "Error: token expired at verify (/srv/app/session.ts:88)\nexit code: 1";
    for message in exchange("c1", "execute_bash", r#"{"command":"npm test"}"#, error, Outcome::Failed) {
        work.context.push(message);
    }
    work.context.push(Message::assistant(
        "The expiry check in /srv/app/session.ts is off by one hour. I will fix verify.",
    ));
    work.talk(40, 200).await;
    assert!(work.summary().contains("/srv/app/auth.ts"), "{}", work.summary());
    assert!(work.summary().contains("4500 ms"), "{}", work.summary());
    assert!(work.summary().contains("session.ts"), "{}", work.summary());
}

// asserts 000-20
#[tokio::test]
async fn should_extract_file_paths() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    for nth in 0..6 {
        let arguments = format!(r#"{{"path":"/srv/app/module_{nth}.ts"}}"#);
        let content = format!("export const value{nth} = {nth};\n").repeat(60);
        for message in exchange(&format!("c{nth}"), "read_file", &arguments, &content, Outcome::Unstated) {
            work.context.push(message);
        }
    }
    work.talk(34, 150).await;
    let summary = work.summary();
    for nth in 0..6 {
        assert!(summary.contains(&format!("module_{nth}.ts")), "{summary}");
    }
}

// asserts 000-20
#[tokio::test]
async fn files_named_in_prose_are_referenced_the_newest_first() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    work.context.push(Message::user("Mind /srv/app/config/relay.yaml throughout."));
    work.talk(120, 150).await;
    let summary = work.summary();
    let (_, files) = summary.split_once("## Files Referenced\n").unwrap();
    let files: Vec<&str> = files.lines().take_while(|line| !line.is_empty()).collect();
    let part = |line: &&str| line.strip_prefix("src/part_")?.strip_suffix(".rs")?.parse::<u64>().ok();
    let parts: Vec<u64> = files.iter().filter_map(part).collect();
    assert!(parts.len() > 3 && parts.is_sorted_by(|one, other| one > other), "{summary}");
    let covered = work.context.state().summary().unwrap().covers.end;
    assert!(parts[0] + 2 >= covered, "the newest of {covered} messages: {summary}");
    if files.len() == covered as usize {
        assert!(files.contains(&"/srv/app/config/relay.yaml"), "{summary}");
    }
}

// asserts 000-28
#[tokio::test]
async fn should_handle_long_conversations() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    let compactions = work.talk(600, 120).await;
    assert!(compactions > 3);
    assert!(work.context.state().tokens() <= Tokens(8_000));
    assert_eq!(work.context.state().originals().len(), 600);
}

// asserts 000-08
#[tokio::test]
async fn should_trigger_at_threshold() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    while work.finished().is_empty() {
        let before = work.context.state().tokens();
        work.talk(1, 100).await;
        if work.finished().is_empty() {
            assert!(work.context.state().tokens() < Tokens(6_400), "80 % of the window");
        } else {
            assert!(before + Tokens(120) >= Tokens(6_400));
        }
    }
}

// asserts 000-09
#[tokio::test]
async fn should_preserve_recent_messages() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    let said = loop {
        let nth = work.context.state().originals().len();
        work.talk(1, 100).await;
        if !work.finished().is_empty() {
            break nth;
        }
    };
    let sent = work.sent();
    for nth in said - 9..=said {
        let entry = &work.context.state().originals().entries()[nth];
        assert!(sent.contains(&text(&entry.message)), "message {nth}");
    }
}

// asserts 000-10, 000-12
#[tokio::test]
async fn should_keep_system_prompt() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    work.context.push(Message::system("You are a careful assistant."));
    work.talk(100, 100).await;
    assert!(!work.finished().is_empty());
    assert!(work.sent().starts_with("system: You are a careful assistant.\n"));
    // The summary follows it, under the document's own header and role: of how many messages, a blank line, what it says.
    let state = work.context.state();
    let record = state.summary().unwrap();
    let stands_for = state.originals().len() + 1 - state.view().len();
    let second = text(state.view().messages().nth(1).unwrap());
    let expected = format!("[Context Summary - {stands_for} messages summarized]\n\n{}\n\n", record.text);
    assert!(second.starts_with(&expected), "{second}");
    assert!(work.sent().lines().nth(1).unwrap().starts_with("system: [Context Summary"), "{}", work.sent());
}

// asserts 000-13
#[tokio::test]
async fn should_track_state_correctly() {
    let mut work = Work::new(Preset::ContextManager, 8_000);
    let status = work.context.state().status(None);
    assert_eq!((status.total_tokens, status.message_count, status.summary_count), (Tokens::ZERO, 0, 0));
    assert_eq!(status.last_summary_at_ms, None);
    let compactions = work.talk(200, 100).await;
    let status = work.context.state().status(None);
    assert_eq!(status.total_tokens, work.context.state().view().tokens());
    assert_eq!(status.message_count, work.context.state().view().len() as u64);
    assert_eq!(status.full_message_count, 200);
    assert!(compactions >= 1 && status.summary_count >= 1);
    assert_eq!(status.last_summary_at_ms, Some(1_700_000_000_000));
}

// asserts 000-13
#[tokio::test]
async fn each_summary_made_is_counted_also_where_the_chain_begins_anew() {
    for preset in [Preset::ContextManager, Preset::Session] {
        let mut work = Work::new(preset, 8_000);
        let (mut made, mut begins) = (0, 0);
        for _ in 0..60 {
            let n = work.talk(4, 200).await as u64;
            made += n;
            let state = work.context.state();
            assert_eq!(state.status(None).summary_count, made, "{preset}");
            begins += u64::from(n > 0 && state.summary().is_some_and(|record| record.depth == 0));
        }
        assert!(begins >= 2, "{preset}: {begins} of {made}");

        // Whoever goes on from what a store keeps goes on counting.
        let state = work.context.state();
        let written = serde_json::to_string(&state.snapshot()).unwrap();
        let window = ContextWindow::new(Tokens(8_000), Tokens::ZERO);
        let fresh =
            SessionState::new(state.session().clone(), window, Arc::new(CharsPer4), state.config().clone());
        let originals = state.originals().entries().to_vec();
        let said = |span: Span| -> Vec<_> {
            let entries = &originals[span.start as usize..span.end as usize];
            entries.iter().map(|entry| entry.message.clone()).collect()
        };
        let resumed = fresh.resume(serde_json::from_str(&written).unwrap(), said).unwrap();
        assert_eq!(resumed.status(None).summary_count, made, "{preset}");
    }
}

// asserts 000-26
#[tokio::test]
async fn a_model_of_the_documents_window_is_asked_once_for_a_full_context() {
    // The document's models take 200,000 tokens; of 144,000 somewhat more than half is to be summarized.
    let model = Arc::new(Scripted::new(|_, _| Ok(Scripted::says("The parts were discussed one by one."))));
    let window = ContextWindow::new(Tokens(200_000), Tokens(8_000));
    let mut context = written_by(&model, 200_000, Preset::ContextManager.config(), window);
    while context.state().summary().is_none() {
        let nth = context.state().originals().len();
        context.push(Message::user(format!("Message {nth} is about src/part_{nth}.rs. ").repeat(150)));
        context.prepare().await.unwrap();
    }
    assert_eq!(model.calls(), 1);
    let shown = CharsPer4.count_text(&model.requests()[0].user);
    assert!(shown > Tokens(70_000), "{shown}");
}

// asserts 000-26
#[tokio::test]
async fn a_summary_by_rule_is_work_in_proportion_to_what_it_reads() {
    // What takes the time is reading and counting; how long that is depends on the machine.
    let asked = async |n_messages: usize| {
        let counter = Arc::new(Asked::default());
        let window = ContextWindow::new(Tokens(180_000), Tokens::ZERO);
        let mut context = Session::builder(SessionId::new("seed").unwrap(), window)
            .config(Preset::ContextManager.config())
            .counter(Arc::clone(&counter) as _)
            .build()
            .unwrap();
        for nth in 0..n_messages {
            let text = format!("Message {nth} is about src/part_{nth}.rs and its limit of {nth}0 ms. ");
            context.push(Message::user(text.repeat(15)));
        }
        let before = counter.0.load(Ordering::Relaxed);
        context.compact(None).await.unwrap();
        counter.0.load(Ordering::Relaxed) - before
    };
    let (some, more) = (asked(60).await, asked(240).await);
    assert!(more <= 5 * some, "{some} texts counted, and {more} for four times as many messages");
}
