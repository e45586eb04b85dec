//! What a provider wrote to go on from, in the place of what came before, stays: nobody but the provider can read it.

use std::sync::Arc;

use longhaul::{
    Session,
    store::MemoryStore,
    tokens::{CharsPer4, ContextWindow},
    transcript::{SessionId, Tokens},
    wire::{
        Format::{self, Anthropic, Responses},
        Profile, validate,
    },
};
use serde_json::{Value, json};

async fn open(store: &Arc<MemoryStore>) -> Session {
    let window = ContextWindow::new(Tokens(2_000), Tokens(200));
    let builder = Session::builder(SessionId::new("sealed").unwrap(), window).store(store.clone());
    builder.counter(Arc::new(CharsPer4)).open().await.unwrap()
}

fn memory(format: Format, nth: usize) -> Value {
    let sealed = format!("gAAAAA{nth}{}", "Zm9vYmFy".repeat(60));
    match format {
        Anthropic => json!({"role": "assistant", "content": [
            {"type": "compaction", "content": "The port is 7781.", "encrypted_content": sealed}
        ]}),
        _ => json!({"type": "compaction", "id": format!("cmp_{nth}"), "encrypted_content": sealed}),
    }
}

fn turn(format: Format, nth: usize) -> [Value; 2] {
    let (asked, said) = (
        format!("Look at part {nth} and say what is wrong with it."),
        format!("Part {nth} reads its file twice. ").repeat(12),
    );
    match format {
        Anthropic => [
            json!({"role": "user", "content": asked}),
            json!({"role": "assistant", "content": [{"type": "text", "text": said.trim_end()}]}),
        ],
        _ => [
            json!({"role": "user", "content": asked}),
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}),
        ],
    }
}

/// Returns what the session sends, which is valid.
async fn sent(session: &mut Session, format: Format) -> String {
    let json = session.prepare().await.unwrap().to_json(format).unwrap().json;
    assert_eq!(validate(json.as_bytes(), format, &Profile::default()).unwrap(), [], "{json}");
    json
}

#[tokio::test]
async fn what_a_provider_wrote_to_go_on_from_stays_byte_for_byte() {
    for format in [Responses, Anthropic] {
        let store = Arc::new(MemoryStore::new());
        let mut session = open(&store).await;
        let first = memory(format, 1);
        session.push_json(format, &first.to_string()).unwrap();
        let mut compacted = 0;
        for nth in 0..40 {
            for message in turn(format, nth) {
                session.push_json(format, &message.to_string()).unwrap();
            }
            let json = sent(&mut session, format).await;
            let place = json.find(&first.to_string()).unwrap_or_else(|| panic!("{format} {nth}: {json}"));
            // Before what a summary of ours tells of later messages.
            assert!(json.find("[Context Summary").is_none_or(|summary| place < summary), "{json}");
            compacted = compacted.max(session.state().status(None).summary_count);
            if nth % 7 == 0 {
                drop(session);
                session = open(&store).await;
            }
        }
        assert!(compacted > 2, "{format}: {compacted}");
        session.undo().await.unwrap();
        assert!(sent(&mut session, format).await.contains(&first.to_string()));
    }
}

#[tokio::test]
async fn the_newest_takes_the_place_of_an_earlier_one() {
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let [first, second] = [1, 2].map(|nth| memory(Responses, nth).to_string());
    for nth in 0..20 {
        if nth == 0 || nth == 10 {
            session.push_json(Responses, if nth == 0 { &first } else { &second }).unwrap();
        }
        for message in turn(Responses, nth) {
            session.push_json(Responses, &message.to_string()).unwrap();
        }
        session.prepare().await.unwrap();
    }
    session.compact(None).await.unwrap();
    let json = sent(&mut session, Responses).await;
    assert!(json.contains(&second) && !json.contains(&first), "{json}");
}

#[tokio::test]
async fn one_that_would_leave_no_room_goes_as_anything_does() {
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let large = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "Zm9v".repeat(600)});
    session.push_json(Responses, &large.to_string()).unwrap();
    for nth in 0..20 {
        for message in turn(Responses, nth) {
            session.push_json(Responses, &message.to_string()).unwrap();
        }
        session.prepare().await.unwrap();
    }
    assert!(!sent(&mut session, Responses).await.contains("cmp_1"));
}

/// Returns what the last of forty turns is sent with.
async fn after_forty_turns(session: &mut Session, format: Format) -> String {
    for nth in 0..40 {
        for message in turn(format, nth) {
            session.push_json(format, &message.to_string()).unwrap();
        }
        session.prepare().await.unwrap();
    }
    sent(session, format).await
}

#[tokio::test]
async fn a_branch_from_before_the_newest_goes_on_from_the_one_before() {
    for format in [Responses, Anthropic] {
        let mut session = open(&Arc::new(MemoryStore::new())).await;
        let [first, second] = [1, 2].map(|nth| memory(format, nth).to_string());
        session.push_json(format, &first).unwrap();
        let [asked, said] = turn(format, 0).map(|message| message.to_string());
        session.push_json(format, &asked).unwrap();
        let from = session.push_json(format, &said).unwrap();
        session.push_json(format, &second).unwrap();
        let mut branch = session.branch(*from.last().unwrap()).await.unwrap();
        let json = after_forty_turns(&mut branch, format).await;
        assert!(json.contains(&first) && !json.contains(&second), "{format}: {json}");
    }
}

#[tokio::test]
async fn what_stands_beside_words_is_held_with_them() {
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let mut answer = memory(Anthropic, 1);
    answer["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": "Going on."}));
    session.push_json(Anthropic, &answer.to_string()).unwrap();
    let json = after_forty_turns(&mut session, Anthropic).await;
    assert!(json.contains("The port is 7781."), "{json}");
    // The other name that Codex reads.
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let other = memory(Responses, 1).to_string().replace(r#""compaction""#, r#""compaction_summary""#);
    session.push_json(Responses, &other).unwrap();
    let json = after_forty_turns(&mut session, Responses).await;
    assert!(json.contains(&other), "{json}");
}

#[tokio::test]
async fn what_was_let_go_of_stays_so_in_a_branch() {
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let held = session.push_json(Responses, &memory(Responses, 1).to_string()).unwrap();
    let mut from = Vec::new();
    for message in (0..4).flat_map(|nth| turn(Responses, nth)) {
        from = session.push_json(Responses, &message.to_string()).unwrap();
    }
    session.prepare().await.unwrap();
    assert!(session.unpin(held[0]));
    let branch = session.branch(*from.last().unwrap()).await.unwrap();
    assert_eq!(branch.state().pins().count(), 0);
}

#[tokio::test]
async fn what_says_nothing_takes_nobodys_place_and_calls_are_not_held() {
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let first = memory(Responses, 1).to_string();
    session.push_json(Responses, &first).unwrap();
    session.push_json(Responses, r#"{"type":"compaction","id":"cmp_2"}"#).unwrap();
    let json = after_forty_turns(&mut session, Responses).await;
    assert!(json.contains(&first) && !json.contains("cmp_2"), "{json}");

    // A long result behind the same answer would have to stay with it.
    let mut session = open(&Arc::new(MemoryStore::new())).await;
    let mut answer = memory(Anthropic, 1);
    let call = json!({"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}});
    answer["content"].as_array_mut().unwrap().push(call);
    session.push_json(Anthropic, &answer.to_string()).unwrap();
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": "a long line of the file ".repeat(240)}
    ]});
    session.push_json(Anthropic, &result.to_string()).unwrap();
    let json = after_forty_turns(&mut session, Anthropic).await;
    assert!(!json.contains("a long line of the file"), "{json}");
}
