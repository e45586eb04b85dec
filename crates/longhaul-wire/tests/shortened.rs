//! Of a session's file, however damaged, any part of what it says can be kept: what is written is read back.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use longhaul_transcript::{Item, Message, MessageId, Part};
use longhaul_wire::{Format, read, write};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// What is said, and nothing of how a file cuts it into messages.
fn words<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<String> {
    let parts = messages.flat_map(|message| &message.parts);
    let said = parts.filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::ToolCall(call) => Some(format!("!{}", call.id.as_str())),
        Part::ToolResult(result) => Some(format!("={}", result.call_id.as_str())),
        _ => None,
    });
    let mut words: Vec<String> = said.filter(|word| !word.is_empty()).collect();
    words.sort();
    words
}

/// What is done to a message: it goes, loses its reasoning, or its texts are cut or its results digested.
fn edited(message: &Message, op: u8) -> Option<Message> {
    let mut message = message.clone();
    for part in &mut message.parts {
        match part {
            Part::Text(text) if op == 1 => text.truncate(1),
            Part::ToolResult(result) if op == 2 => result.content = vec![Part::Text("[digest]".into())],
            _ => {}
        }
    }
    if op == 3 {
        message.parts.retain(|part| !matches!(part, Part::Reasoning(_)));
    }
    (op > 0).then_some(message)
}

fn is_read_back(format: Format, text: &str, ops: &[u8]) {
    let Ok(doc) = read(Some(format), text.as_bytes()) else { return };
    let entries = doc.transcript().entries().iter().zip(ops.iter().cycle());
    let kept: Vec<(MessageId, Message)> =
        entries.filter_map(|(entry, op)| Some((entry.id, edited(&entry.message, *op)?))).collect();
    let mut out = Vec::new();
    write(&doc, kept.iter().map(|(id, message)| Item::Message { id: *id, message }), &mut out).unwrap();
    if words(kept.iter().map(|(_, message)| message)).is_empty() {
        return;
    }
    let again = read(Some(format), &*out).unwrap();
    let found = words(again.transcript().entries().iter().map(|entry| &*entry.message));
    let expected = words(kept.iter().map(|(_, message)| message));
    assert_eq!(found, expected, "{text}\n\n{}", String::from_utf8_lossy(&out));
}

/// One line of a Claude Code session, of few ids, so that they meet.
fn claude_line() -> impl Strategy<Value = String> {
    let uuid = option::weighted(0.9, select(vec!["a", "b", "c", "d", "e", "f"]));
    let parent = option::weighted(0.8, select(vec!["a", "b", "c", "d", "e", "f", "z"]));
    let kind =
        select(vec!["user", "assistant", "assistant", "result", "system", "sidechain", "boundary", "cut"]);
    let block = select(vec![
        r#"{"type":"text","text":"words"}"#,
        r#"{"type":"thinking","thinking":"hm","signature":"s"}"#,
        r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#,
        r#"{"type":"tool_use","id":"t2","name":"ls","input":{}}"#,
    ]);
    let tool = select(vec!["t1", "t2"]);
    let api = option::weighted(0.9, select(vec!["m1", "m2"]));
    (uuid, parent, kind, block, tool, api).prop_map(|(uuid, parent, kind, block, tool, api)| {
        let uuid = uuid.map_or(String::new(), |uuid| format!(r#""uuid":"{uuid}","#));
        let parent = parent.map_or("null".to_owned(), |parent| format!(r#""{parent}""#));
        let api = api.map_or(String::new(), |api| format!(r#""id":"{api}","#));
        let head = format!(r#"{uuid}"parentUuid":{parent}"#);
        match kind {
            "user" => {
                format!(r#"{{"type":"user",{head},"message":{{"role":"user","content":"please"}}}}"#)
            }
            "result" => format!(
                r#"{{"type":"user",{head},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{tool}","content":"r"}}]}}}}"#
            ),
            "assistant" => format!(
                r#"{{"type":"assistant",{head},"message":{{{api}"role":"assistant","content":[{block}]}}}}"#
            ),
            "sidechain" => format!(
                r#"{{"type":"user","isSidechain":true,{head},"message":{{"role":"user","content":"aside"}}}}"#
            ),
            "boundary" => format!(
                r#"{{"type":"system","subtype":"compact_boundary",{head},"compactMetadata":{{"preservedSegment":{{"headUuid":"a","anchorUuid":"c","tailUuid":"b"}}}}}}"#
            ),
            "system" => format!(r#"{{"type":"system",{head}}}"#),
            _ => format!(r#"{{"type":"user",{head},"mess"#),
        }
    })
}

/// One line of a Codex rollout.
fn codex_line() -> impl Strategy<Value = String> {
    let item = |item: &str| format!(r#"{{"type":"response_item","payload":{item}}}"#);
    let lines = vec![
        r#"{"type":"session_meta","payload":{"id":"x","instructions":"older","base_instructions":{"text":"rules","more":1}}}"#.to_owned(),
        r#"{"type":"session_meta","payload":{"id":"x","instructions":"older"}}"#.to_owned(),
        r#"{"id":"x","instructions":"older"}"#.to_owned(),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"please"}]}"#),
        item(r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"words"}]}"#),
        item(r#"{"type":"reasoning","summary":[],"encrypted_content":"Z5FBQUE="}"#),
        item(r#"{"type":"function_call","name":"ls","arguments":"{}","call_id":"t1"}"#),
        item(r#"{"type":"function_call_output","call_id":"t1","output":"r"}"#),
        r#"{"type":"turn_context","payload":{"model":"gpt-x"}}"#.to_owned(),
        r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#.to_owned(),
        r#"{"type":"compacted","payload":{"message":"so far"}}"#.to_owned(),
        r#"{"type":"compacted","payload":{"message":"so far","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]}]}}"#.to_owned(),
        r#"{"type":"response_item","payl"#.to_owned(),
    ];
    select(lines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_part_of_a_claude_code_session_is_read_back(lines in vec(claude_line(), 1..9), ops in vec(0u8..6, 1..9)) {
        is_read_back(Format::ClaudeCode, &lines.join("\n"), &ops);
    }

    #[test]
    fn any_part_of_a_codex_rollout_is_read_back(lines in vec(codex_line(), 1..9), ops in vec(0u8..6, 1..9)) {
        is_read_back(Format::Codex, &lines.join("\n"), &ops);
    }
}
