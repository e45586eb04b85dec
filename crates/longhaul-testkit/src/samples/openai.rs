//! Samples of OpenAI Chat Completions.

use expect_test::expect;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::{
    ANSWER, ASK, Kind, Provider, Request, Sample, Written,
    said::{Piece, Said, Speller, name},
};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/openai.json"),
    read: expect![[r#"
        model gpt-x
        tool {"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}
        m0 developer: "Be brief."
        m1 user(ann): "What is é 😀 � here?" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: ~"Let me look." 0 bytes | !bash#call_1 {"cmd": "ls", "n": 12345678901234567890123} | !!patch#call_2 *** Begin

        m3 tool: =call_2 "ok"
        m4 tool: =call_1 "a" & "b"
        m5 assistant: "Done."
    "#]],
    written: Some(Written {
        carries: &[Kind::Name, Kind::Image, Kind::Audio, Kind::File, Kind::FileName, Kind::Tool],
        pieces,
        list: Some("messages"),
        request: Some(Request {
            items: |speller, said| Some(items(speller, said)),
            of_user: r#"{"role":"user","content":"on"}"#,
            reads_as_one: false,
        }),
        provider: Some(Provider {
            spelled: &[
                r#"{"role":"user","content":[{"type":"text","text":"look"}, {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}}],"x_seen":1e2}"#,
                r#"{"role":"assistant","content":null,"annotations":[ ],"refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\\u00e9\"}"},"x":true}]}"#,
                r#"{"tool_call_id":"c1","role":"tool","content":"fn main() {}\nlong long long"}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":"It is empty."}"#,
            ],
            around: [(r#"{"model":"m", "messages": "#, r#","stream":true,"x":1e2}"#); 2],
            pictures: r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"text","text":"or"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhAQABAA=="}},{"type":"of_next_month","x":1}]}"#,
            shapes: &[
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
                r#"{"role":"assistant","content":"","function_call":{"name":"ls","arguments":"{}"}}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"zebra"}"#,
                r#"{"role":"user","content":[{"type":"text","text":"zebra"}]}"#,
            ],
            answer: r#"{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi" ,"x":1},"finish_reason":"stop"}],"usage":{}}"#,
            message: r#"{"role":"assistant","content":"hi" ,"x":1}"#,
            failed: r#"{"error":{"message":"x"}}"#,
            costs: &[(
                r#"{"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
                [10, 80, 0, 15, 5],
            )],
        }),
    }),
};

fn items(speller: &mut Speller, said: &Said) -> Vec<Value> {
    let (mut items, mut texts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Vec::new(), None);
    for piece in &said.pieces {
        match piece {
            Piece::Text(text) => texts.push(speller.text(*text)),
            Piece::Reasoning => reasoning = Some(speller.word()),
            Piece::Call { id, .. } => calls.push(
                json!({"id": id, "type": "function", "function": {"name": name(id), "arguments": "{}"}}),
            ),
            Piece::Result { id, text, .. } => {
                let text = speller.text(*text);
                let content = if text.is_empty() && said.is_full { Value::Null } else { text.into() };
                items.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
        }
    }
    if said.role == Role::Tool && texts.is_empty() {
        return items;
    }
    let role = if said.role == Role::Tool { "user" } else { said.role.as_str() };
    let mut message = json!({"role": role});
    match &texts[..] {
        [] if said.is_full => message["content"] = Value::Null,
        [] => {}
        [text] => message["content"] = text.clone().into(),
        texts => {
            message["content"] = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        }
    }
    if let Some(reasoning) = reasoning {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() || said.is_full && said.role == Role::Assistant {
        message["tool_calls"] = calls.into();
    }
    items.push(message);
    items
}

fn pieces() -> Vec<(Kind, String)> {
    let openai = |kind, said: &str| (kind, format!("[{ASK},{said},{ANSWER}]"));
    let user = |kind, part: &str| openai(kind, &format!(r#"{{"role":"user","content":[{part}]}}"#));
    let answer =
        |kind, fields: &str| openai(kind, &format!(r#"{{"role":"assistant","content":"x",{fields}}}"#));
    vec![
        openai(Kind::Text, r#"{"role":"user","content":"CANARY"}"#),
        openai(Kind::Text, r#"{"role":"system","content":"CANARY"}"#),
        openai(Kind::Text, r#"{"role":"assistant","content":null,"refusal":"CANARY"}"#),
        openai(Kind::Name, r#"{"role":"user","name":"CANARY","content":"x"}"#),
        user(Kind::Image, r#"{"type":"image_url","image_url":{"url":"https://x.org/CANARY.png"}}"#),
        user(Kind::Image, r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,CANARY11"}}"#),
        user(Kind::Audio, r#"{"type":"input_audio","input_audio":{"data":"CANARY11","format":"wav"}}"#),
        user(
            Kind::File,
            r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,CANARY11","filename":"x"}}"#,
        ),
        user(
            Kind::FileName,
            r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"CANARY.pdf"}}"#,
        ),
        user(Kind::Block, r#"{"type":"of_next_month","x":"CANARY"}"#),
        user(Kind::Field, r#"{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"CANARY"}}"#),
        answer(Kind::Field, r#""annotations":[{"type":"url_citation","url_citation":{"url":"CANARY"}}]"#),
        answer(Kind::Field, r#""field_of_next_month":"CANARY""#),
        answer(Kind::Reasoning, r#""reasoning_content":"CANARY""#),
        openai(
            Kind::Call,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"CANARY1","arguments":"{\"x\":\"CANARY2\"}"}},{"id":"b","type":"function","function":{"name":"CANARY3","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"CANARY4"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"CANARY5"}]}"#,
        ),
        (Kind::Around, format!(r#"{{"metadata":{{"title":"CANARY"}},"messages":[{ASK}]}}"#)),
    ]
}
