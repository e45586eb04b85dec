//! The Responses API refuses an item by its id where the reasoning that led to it is not sent along: whichever way items are
//! pushed, and whatever a compaction or a restart leaves out, no request has such an id.

use std::sync::Arc;

use longhaul::{
    Session,
    store::MemoryStore,
    tokens::{CharsPer4, ContextWindow},
    transcript::{SessionId, Tokens},
    wire::{Format::Responses, Profile, validate},
};
use serde_json::{Value, json};

/// The nth turn, the items of one answer together: reasoning comes before the call and before half of the last words.
fn turn(nth: usize) -> Vec<Vec<Value>> {
    let thought =
        |id: String| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "abc"});
    let said = json!({
        "type": "message", "id": format!("msg_a{nth}"), "role": "assistant",
        "content": [{"type": "output_text", "text": format!("I look at part {nth}."), "annotations": []}],
    });
    let call = json!({
        "type": "function_call", "id": format!("fc_a{nth}"), "call_id": format!("c{nth}"), "name": "read",
        "arguments": format!("{{\"path\":\"src/{nth}.rs\"}}"),
    });
    let output = format!("what stands in part {nth} ").repeat(12);
    let output = json!({"type": "function_call_output", "call_id": format!("c{nth}"), "output": output});
    let end = json!({
        "type": "message", "id": format!("msg_b{nth}"), "role": "assistant",
        "content": [{"type": "output_text", "text": format!("Part {nth} is done."), "annotations": []}],
    });
    let before_end = nth.is_multiple_of(2).then(|| thought(format!("rs_b{nth}")));
    vec![
        vec![
            json!({"role": "user", "content": format!("Look at part {nth} and say what is wrong with it.")}),
        ],
        vec![thought(format!("rs_a{nth}")), said, call],
        vec![output],
        before_end.into_iter().chain([end]).collect(),
    ]
}

async fn open(store: &Arc<MemoryStore>) -> Session {
    let window = ContextWindow::new(Tokens(2_000), Tokens(200));
    let builder = Session::builder(SessionId::new("items").unwrap(), window).store(store.clone());
    builder.counter(Arc::new(CharsPer4)).open().await.unwrap()
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap_or_default()
}

/// Returns the ids of a request whose reasoning is not in the same answer before them.
fn bare(sent: &[Value], source: &[Value]) -> Vec<String> {
    let was_led = |of: &str| source.iter().any(|item| id(item) == format!("rs_{of}"));
    let mut bare = Vec::new();
    let mut thought: Vec<&str> = Vec::new();
    for item in sent {
        if item["role"] == "user" || item["type"] == "function_call_output" {
            thought.clear();
        }
        match id(item).split_once('_') {
            Some(("rs", of)) => thought.push(of),
            Some((_, of)) if was_led(of) && !thought.contains(&of) => bare.push(id(item).to_owned()),
            _ => {}
        }
    }
    bare
}

/// Pushes twenty turns, a request before each answer; `one_at_a_time` item by item, and `restarts` as often as it can.
async fn check(one_at_a_time: bool, restarts: bool) {
    let store = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let (mut source, mut compacted, mut kept) = (Vec::new(), false, false);
    for answer in (0..20).flat_map(turn) {
        source.extend(answer.iter().cloned());
        let parts = match one_at_a_time {
            true => answer,
            false => vec![Value::from(answer)],
        };
        for part in parts {
            session.push_json(Responses, &part.to_string()).unwrap();
            let json = session.prepare().await.unwrap().to_json(Responses).unwrap().json;
            let sent: Vec<Value> = serde_json::from_str(&json).unwrap();
            assert_eq!(bare(&sent, &source), Vec::<String>::new(), "{one_at_a_time} {restarts}: {json}");
            assert_eq!(validate(json.as_bytes(), Responses, &Profile::default()).unwrap(), [], "{json}");
            compacted |= session.state().summary().is_some();
            kept |= compacted && sent.iter().any(|item| id(item).starts_with("fc_"));
            if restarts {
                drop(session);
                session = open(&store).await;
            }
        }
    }
    assert!(compacted && kept, "{one_at_a_time} {restarts}: ids whose reasoning is there stay");
}

#[tokio::test]
async fn no_id_goes_out_without_its_reasoning() {
    for one_at_a_time in [true, false] {
        for restarts in [true, false] {
            check(one_at_a_time, restarts).await;
        }
    }
}

#[tokio::test]
async fn what_never_had_reasoning_keeps_its_id() {
    let store = Arc::new(MemoryStore::new());
    let mut session = open(&store).await;
    let plain = |item: &Value| !id(item).starts_with("rs_");
    let said: Vec<Value> = (0..4).flat_map(turn).flatten().filter(plain).collect();
    for item in &said {
        session.push_json(Responses, &item.to_string()).unwrap();
    }
    let json = session.prepare().await.unwrap().to_json(Responses).unwrap().json;
    assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), said);
}
