//! Samples of Anthropic Messages.

use expect_test::expect;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::{
    ANSWER, ASK, Kind, Provider, Request, Sample, Written,
    said::{Piece, Said, Speller, name},
};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/anthropic.json"),
    read: expect![[r#"
        model claude-x
        tool {"name":"bash","input_schema":{"type":"object"}}
        m0 system: "Be brief."
        m1 user: "look"
        m2 assistant: ~"Look at the test first." 12 bytes | "I will read it." | [server_tool_use#srv_1] | [web_search_tool_result#srv_1] | !read_file#toolu_a1 {"path":"src/a.rs","limit":1E2} | !bash#toolu_a2 {"command":"cargo test"}
        m3 user: =toolu_a1 "fn a() {}" | =toolu_a2- "1 failed" & <image/gif 13 bytes Some((300, 200))> | "also look at b.rs"
        m4 assistant: [block_of_next_month] | "Yes."
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::File, Kind::FileName, Kind::Tool],
        pieces,
        list: Some("messages"),
        request: Some(Request { items, of_user: r#"{"role":"user","content":"on"}"#, reads_as_one: true }),
        provider: Some(Provider {
            spelled: &[
                r#"{"role":"user","content":[{"type":"text","text":"look","cache_control":{"type":"ephemeral"}}, {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}"#,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2lnbmVk"},{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path" : "a\u00e9"},"caller":{"type":"direct"}}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fn main() {}\nlong long long"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"It is empty.","citations":[ ]}]}"#,
            ],
            around: [
                (r#"{"model":"m","max_tokens":9,"messages":"#, r#", "stream":true, "x":1e2}"#),
                (r#"{"system":"Be brief.","model":"m","max_tokens":9,"messages":"#, r#","x":1e2}"#),
            ],
            pictures: r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"or"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAA=="}},{"type":"of_next_month","x":1}]}"#,
            shapes: &[
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"zebra"}]}"#,
                r#"{"role":"user","content":[{"type":"text","text":"zebra"}]}"#,
            ],
            answer: r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"","signature":"c2ln"}, {"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1}}"#,
            message: r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"}, {"type":"text","text":"hi"}]}"#,
            failed: r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
            costs: &[
                (
                    r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":7,"output_tokens":1}}}"#,
                    [10, 80, 7, 1, 0],
                ),
                (r#"{"output_tokens":20}"#, [0, 0, 0, 20, 0]),
            ],
        }),
    }),
};

fn items(speller: &mut Speller, said: &Said) -> Option<Vec<Value>> {
    let role = match said.role {
        Role::Developer => return None,
        Role::Tool => "user",
        role => role.as_str(),
    };
    let block = |piece: &Piece| match piece {
        Piece::Text(text) => json!({"type": "text", "text": speller.text(*text)}),
        Piece::Reasoning if said.is_full => json!({"type": "redacted_thinking", "data": speller.word()}),
        Piece::Reasoning => json!({"type": "thinking", "thinking": speller.word(), "signature": "c2ln"}),
        Piece::Call { id, .. } => json!({"type": "tool_use", "id": id, "name": name(id), "input": {}}),
        Piece::Result { id, text, has_failed } => {
            let text = speller.text(*text);
            let content = if said.is_full { json!([{"type": "text", "text": text}]) } else { text.into() };
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": has_failed})
        }
    };
    let blocks: Vec<Value> = said.pieces.iter().map(block).collect();
    Some(vec![json!({"role": role, "content": blocks})])
}

pub(super) fn pieces() -> Vec<(Kind, String)> {
    let anthropic = |kind, said: &str| (kind, format!("[{ASK},{ANSWER},{said},{ANSWER}]"));
    let user = |kind, block: &str| anthropic(kind, &format!(r#"{{"role":"user","content":[{block}]}}"#));
    let answer = |kind, block: &str| {
        (kind, format!(r#"[{ASK},{{"role":"assistant","content":[{block},{{"type":"text","text":"x"}}]}}]"#))
    };
    let result = |kind, fields: &str| {
        let call =
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{"x":"y"}}]}"#;
        let result =
            format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a",{fields}}}]}}"#);
        (kind, format!("[{ASK},{call},{result},{ANSWER}]"))
    };
    vec![
        anthropic(Kind::Text, r#"{"role":"user","content":"CANARY"}"#),
        anthropic(Kind::Text, r#"{"role":"user","content":"x"},{"role":"system","content":"CANARY"}"#),
        anthropic(Kind::Field, r#"{"role":"user","content":"x","field_of_next_month":{"x":"CANARY"}}"#),
        user(Kind::Image, r#"{"type":"image","source":{"type":"url","url":"https://x.org/CANARY.png"}}"#),
        user(
            Kind::Image,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"CANARY11"}}"#,
        ),
        user(
            Kind::File,
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"CANARY11"}}"#,
        ),
        user(
            Kind::FileName,
            r#"{"type":"document","title":"CANARY","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}"#,
        ),
        user(
            Kind::Field,
            r#"{"type":"document","context":"CANARY","source":{"type":"url","url":"https://x.org/x.pdf"}}"#,
        ),
        user(Kind::ProvidersFile, r#"{"type":"image","source":{"type":"file","file_id":"CANARY"}}"#),
        user(Kind::Block, r#"{"type":"of_next_month","x":"CANARY"}"#),
        user(Kind::Field, r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral","x":"CANARY"}}"#),
        answer(
            Kind::Field,
            r#"{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"CANARY"}]}"#,
        ),
        answer(Kind::Sealed, r#"{"type":"thinking","thinking":"x","signature":"CANARY"}"#),
        answer(Kind::Reasoning, r#"{"type":"thinking","thinking":"CANARY","signature":"x"}"#),
        answer(Kind::Sealed, r#"{"type":"redacted_thinking","data":"CANARY"}"#),
        result(Kind::Call, r#""content":"CANARY","is_error":true"#),
        result(
            Kind::Call,
            r#""content":[{"type":"text","text":"CANARY1"},{"type":"text","text":"CANARY2"}],"is_error":true"#,
        ),
        result(
            Kind::Image,
            r#""content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"CANARY11"}}]"#,
        ),
        result(
            Kind::Block,
            r#""content":[{"type":"text","text":"x"},{"type":"of_next_month","x":"CANARY"}]"#,
        ),
        result(Kind::Field, r#""content":"x","cache_control":{"type":"ephemeral","ttl":"CANARY"}"#),
        (Kind::Around, format!(r#"{{"system":"x","metadata":{{"title":"CANARY"}},"messages":[{ASK}]}}"#)),
        (
            Kind::Tool,
            format!(
                r#"{{"system":"x","tools":[{{"name":"CANARY","input_schema":{{"type":"object"}}}}],"messages":[{ASK}]}}"#
            ),
        ),
        (
            Kind::Around,
            format!(
                r#"{{"system":"x","tools":[{{"type":"web_search_20250305","name":"CANARY"}}],"messages":[{ASK}]}}"#
            ),
        ),
        (
            Kind::SystemField,
            format!(
                r#"{{"system":[{{"type":"text","text":"x","cache_control":{{"type":"ephemeral","ttl":"CANARY"}}}}],"messages":[{ASK}]}}"#
            ),
        ),
    ]
}
