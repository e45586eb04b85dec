//! A file that is compacted again and again: the summary comes from the originals that a store has, or from itself.

use std::sync::Arc;

use longhaul::{
    Config, DocumentSession, Stored, Within,
    tokens::{CharsPer4, ContextWindow},
    transcript::{Message, SummaryRecord, Tokens},
    wire::{self, Document, Format},
};
use serde_json::{Value, json};

use crate::work::text;

fn said() -> Vec<Value> {
    let mut said = vec![
        json!({"role": "system", "content": "You are a careful engineer."}),
        json!({"role": "user", "content": "Make the suite pass. Never touch src/generated.rs."}),
    ];
    for nth in 0..16 {
        let call = json!({"id": format!("c{nth}"), "type": "function", "function": {
            "name": "bash", "arguments": format!(r#"{{"command":"cargo test part_{nth}"}}"#)}});
        said.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let output: String = (0..30)
            .map(|line| format!("part_{nth} needs src/part_{nth}.rs and 4{nth}7{line} ms\n"))
            .collect();
        said.push(json!({"role": "tool", "tool_call_id": format!("c{nth}"), "content": output}));
        said.push(
            json!({"role": "assistant", "content": format!("We chose limit_{nth} for src/part_{nth}.rs.")}),
        );
    }
    said.push(json!({"role": "user", "content": "What is left?"}));
    said
}

fn document(messages: &[Value]) -> Document {
    wire::read(Some(Format::OpenAi), &*serde_json::to_vec(&json!({ "messages": messages })).unwrap()).unwrap()
}

fn session(document: &Document) -> DocumentSession<'_> {
    let window = ContextWindow::new(Tokens(60_000), Tokens(4_000));
    DocumentSession::new(document, window, Arc::new(CharsPer4), Config::default(), None).unwrap()
}

fn messages(bytes: &[u8]) -> Vec<Value> {
    let history: Value = serde_json::from_slice(bytes).unwrap();
    history["messages"].as_array().unwrap().clone()
}

fn originals(document: &Document) -> Vec<Option<Message>> {
    document.transcript().entries().iter().map(|entry| Some((*entry.message).clone())).collect()
}

/// Where the messages of a history stand that begins with instructions and `record`, with `n` more after what it kept.
fn ordinals(record: &SummaryRecord, end: u64, n: u64) -> Vec<Option<u64>> {
    let kept = record.kept.iter().flat_map(|span| span.start..span.end);
    [None, None].into_iter().chain(kept.chain(end..end + n).map(Some)).collect()
}

/// Compacts, says more, and returns the grown history with what a store has of it.
fn grown() -> (Vec<Value>, Stored) {
    let first = document(&said());
    let done = session(&first).compact(&Within::new(Tokens(1_600))).unwrap();
    let text = &done.record.text;
    assert!(text.contains("src/part_3.rs") && done.tokens_after <= Tokens(1_600), "{text}");
    let mut history = messages(&done.bytes);
    assert_eq!(history.len(), done.messages);
    history.push(
        json!({"role": "assistant", "content": "Only part_99 is left, in src/part_99.rs. ".repeat(20)}),
    );
    history.push(json!({"role": "user", "content": "Then do it."}));
    let end = first.transcript().len() as u64;
    let ordinals = ordinals(&done.record, end, 2);
    (history, Stored { originals: originals(&first), ordinals, summary: done.record })
}

#[test]
fn what_a_store_has_is_summarized_again_under_its_own_numbers() {
    let (history, stored) = grown();
    let end = stored.originals.len() as u64;
    let again = document(&history);
    let first = stored.summary.clone();
    let session = session(&again).with_stored(stored);
    // The view is the file, the originals are the conversation.
    let shown: Vec<String> = session.state().view().messages().map(|message| text(message)).collect();
    let file: Vec<String> = again.transcript().entries().iter().map(|entry| text(&entry.message)).collect();
    assert_eq!(shown, file);
    assert_eq!(session.state().originals().len() as u64, end + 2);
    let done = session.compact(&Within::new(Tokens(1_000))).unwrap();
    assert_eq!((done.record.depth, done.record.parent.as_ref()), (1, Some(&first.id)));
    let history = String::from_utf8(done.bytes.clone()).unwrap();
    assert!(history.contains("Then do it.") && history.matches("[Context Summary").count() == 1, "{history}");
    assert!(done.record.text.contains("limit_2") && done.record.text.contains("m1"), "{}", done.record.text);
    // Each message is covered, or kept as it was said.
    let covered: Vec<u64> = done.record.covered.iter().map(|covered| covered.ordinal).collect();
    let kept: Vec<u64> = done.record.kept.iter().flat_map(|span| span.start..span.end).collect();
    assert!((1..end + 2).all(|ordinal| covered.contains(&ordinal) || kept.contains(&ordinal)));
    assert!(covered.is_sorted() && kept.contains(&(end + 1)));
}

#[test]
fn of_what_was_destroyed_nothing_is_told() {
    let (history, mut stored) = grown();
    stored.originals[8] = None;
    stored.originals[9] = None;
    let again = document(&history);
    let done = session(&again).with_stored(stored).compact(&Within::new(Tokens(1_000))).unwrap();
    assert!(!String::from_utf8(done.bytes).unwrap().contains("[forgotten]"));
    assert!(done.record.covered.iter().all(|covered| covered.ordinal != 8 && covered.ordinal != 9));
}

#[test]
fn a_history_with_other_instructions_is_told_on_under_the_conversations_numbers() {
    let (mut history, mut stored) = grown();
    history.insert(1, json!({"role": "system", "content": "Answer in one line."}));
    stored.ordinals.insert(0, None);
    let end = stored.originals.len() as u64;
    let again = document(&history);
    let done = session(&again).with_stored(stored).compact(&Within::new(Tokens(1_000))).unwrap();
    let text = String::from_utf8(done.bytes).unwrap();
    assert!(text.contains("Answer in one line.") && text.contains("src/part_3.rs"), "{text}");
    let kept: Vec<u64> = done.record.kept.iter().flat_map(|span| span.start..span.end).collect();
    assert!(kept.contains(&(end + 1)), "{kept:?}");
}

#[test]
fn a_budget_below_the_floor_is_told_with_the_floor() {
    let document = document(&said());
    let error = session(&document).compact(&Within::new(Tokens(20))).unwrap_err();
    assert!(error.to_string().contains("below the floor of"), "{error}");
}
