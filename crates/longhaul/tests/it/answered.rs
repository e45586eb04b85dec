//! Secrets that only the message before tells to be some: the same bytes for the same message however a conversation is taken up, and
//! in nothing that leaves.

use std::sync::Arc;

use longhaul::{
    Config, Session, SessionState, Synced,
    redact::Redactor,
    store::{History, Kin, MemoryStore, SummaryStore, locate},
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, Outcome, Part, Redacted, Role, SessionId, Span, Tokens, ToolCall, ToolResult},
    wire::{Document, Format, encode, read},
};
use proptest::prelude::*;

type Store = Arc<dyn SummaryStore>;

/// Returns the word that the turn `nth` plants.
fn planted(nth: usize) -> String {
    format!("q7Vd0mXk3RbT9sLw5Hc{nth:03}")
}

/// Returns what is said in a turn of some kind; two of five kinds say a secret as a bare word.
fn turn(kind: u8, nth: usize) -> Vec<Message> {
    let filler = format!("Look at part {nth} of the ledger again. ").repeat(12);
    let exchange = |command: &str, shown: String| {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let id = format!("call_{nth:06}");
        let call = ToolCall::function(id.as_str(), "bash", arguments);
        let result = ToolResult::text(id.as_str(), shown, Outcome::Unstated);
        vec![
            Message::user(filler.clone()),
            Message::new(Role::Assistant, vec![Part::ToolCall(call)]),
            Message::new(Role::Tool, vec![Part::ToolResult(result)]),
            Message::assistant(format!("Part {nth} is done.")),
        ]
    };
    match kind {
        0 => vec![Message::user(filler), Message::assistant(format!("It computes value {nth}."))],
        1 => exchange("cat src/ledger.rs", format!("fn value_{nth}() {{}}\n").repeat(40)),
        2 => exchange("openssl rand -hex 24", format!("{}\n", planted(nth))),
        3 => {
            exchange("git status --short; echo $DB_PASSWORD", format!(" M src/ledger.rs\n{}\n", planted(nth)))
        }
        _ => vec![
            Message::user(filler),
            Message::assistant("I cannot log in. What is the database password?"),
            Message::user(planted(nth)),
            Message::assistant(format!("It works now, part {nth} is done.")),
        ],
    }
}

fn conversation(kinds: &[u8]) -> Vec<Message> {
    kinds.iter().enumerate().flat_map(|(nth, kind)| turn(*kind, nth)).collect()
}

fn document(messages: &[Message]) -> Document {
    let said: longhaul::transcript::Transcript = messages.iter().cloned().collect();
    let json = encode(&said, Format::OpenAi).unwrap().document.as_bytes().to_vec();
    read(Some(Format::OpenAi), &*json).unwrap()
}

async fn open(store: &Store, line: &SessionId) -> Session {
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    let builder = Session::builder(line.clone(), window).counter(Arc::new(CharsPer4));
    builder.store(Arc::clone(store)).open_line().await.unwrap()
}

fn state() -> SessionState {
    let window = ContextWindow::new(Tokens(3_000), Tokens(500));
    SessionState::new(SessionId::new("talk").unwrap(), window, Arc::new(CharsPer4), Config::default())
}

fn says_planted(text: &str) -> bool {
    text.contains(&planted(0)[..19])
}

fn json(messages: &[Redacted<Message>]) -> String {
    messages.iter().map(|message| serde_json::to_string(&**message).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_conversation_that_answers_with_secrets_never_branches_and_never_tells_them(
        kinds in proptest::collection::vec(0u8..5, 8..28),
        reopened in proptest::collection::vec(any::<bool>(), 112),
    ) {
        let messages = conversation(&kinds);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store: Store = Arc::new(MemoryStore::new());
            let id = SessionId::new("talk").unwrap();
            let mut session = open(&store, &id).await;
            let redactor = Redactor::builtin();
            for end in 1..=messages.len() {
                if reopened[end - 1] {
                    session = open(&store, &id).await;
                    let view = session.state().view();
                    let shown: Vec<_> = view.messages().map(|message| serde_json::to_string(&**message).unwrap()).collect();
                    prop_assert!(!says_planted(&shown.concat()), "what comes from the store");
                }
                let came = document(&messages[..end]);
                let change = session.sync(&came).await.unwrap().change;
                prop_assert_eq!(change, Synced::Grew { n: 1 }, "at {}", end);
                prop_assert_eq!(session.sync(&came).await.unwrap().change, Synced::Unchanged);
                session.prepare().await.unwrap();
                let said = redactor.redact_conversation(&messages[..end]);
                let place = locate(&store, &History { id: Some(&id), named: None, said: &said }).await.unwrap();
                prop_assert!(!matches!(place.kin, Kin::Branch { .. } | Kin::New), "at {}: {:?}", end, place.kin);
            }
            let export = store.export(&id).await.unwrap();
            prop_assert!(!says_planted(&export), "an export");
            if let Some(kept) = store.snapshot(&id).await.unwrap() {
                prop_assert!(!says_planted(&String::from_utf8_lossy(&kept.bytes)), "a snapshot");
            }
            if let Some(record) = session.state().summary() {
                prop_assert!(!says_planted(&serde_json::to_string(&**record).unwrap()), "a summary");
            }
            Ok(())
        })?;
    }
}

#[test]
fn a_session_that_is_resumed_anywhere_redacts_as_one_that_was_not() {
    let messages = conversation(&[0, 2, 4, 1, 3, 4, 2].repeat(4));
    let clean = Redactor::builtin().redact_conversation(&messages);
    assert!(messages.len() > 64 && says_planted(&format!("{messages:?}")) && !says_planted(&json(&clean)));
    for at in 0..=messages.len() {
        let mut before = state();
        for message in &messages[..at] {
            before.push(message.clone());
        }
        for is_stored in [false, true] {
            let said = |span: Span| -> Vec<Arc<Message>> {
                let span = span.start as usize..span.end as usize;
                match is_stored {
                    true => clean[span].iter().map(|message| Arc::new((**message).clone())).collect(),
                    false => messages[span].iter().cloned().map(Arc::new).collect(),
                }
            };
            let snapshot = serde_json::from_slice(&serde_json::to_vec(&before.snapshot()).unwrap()).unwrap();
            let mut resumed = state().resume(snapshot, said).unwrap();
            for message in &messages[at..] {
                resumed.push(message.clone());
            }
            resumed.put_back(0, said(Span { start: 0, end: at as u64 / 64 * 64 }));
            assert_eq!(json(&resumed.redacted()), json(&clean), "at {at}, {is_stored}");
        }
    }
}

#[test]
fn another_answer_to_the_same_call_is_a_secret_too() {
    for kind in [2, 4] {
        let messages = conversation(&[0, kind]);
        let mut state = state();
        state.sync(&document(&messages[..5])).unwrap();
        let other = [&messages[..4], &turn(kind, 7)[2..]].concat();
        let other = match kind {
            2 => {
                let Part::ToolCall(call) = &messages[3].parts[0] else { panic!("a call") };
                let result = ToolResult::text(call.id.clone(), planted(7), Outcome::Unstated);
                [&messages[..4], &[Message::new(Role::Tool, vec![Part::ToolResult(result)])]].concat()
            }
            _ => other[..5].to_vec(),
        };
        let change = state.sync(&document(&other)).unwrap().change;
        assert!(
            matches!(change, Synced::Regenerated { at: 4, n: 1 } | Synced::Edited { at: 4, n: 1 }),
            "{change:?}"
        );
        assert!(!says_planted(&json(&state.redacted())), "{kind}");
    }
}
