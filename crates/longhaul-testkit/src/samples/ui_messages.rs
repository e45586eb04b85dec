//! Samples of UI messages of Vercel's AI SDK.

use expect_test::expect;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::{
    Kind, Request, Sample, Written,
    said::{Piece, Said, Speller, name},
};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/ui-messages.json"),
    read: expect![[r#"
        session chat-7
        m0 user: "What is on this picture?" | <image/png 24 bytes Some((300, 200))>
        m1 assistant: ~"Look first." 8 bytes | !look#call_1 {"x":1E2} | !mcp_read#call_2 {"path":"b"} | =call_1 "{\"seen\":[\"a cat\"]}" | =call_2- "no such file"
        m2 assistant: "A cat." | [source-url] | [data-weather] | [part-of-next-month]
        m3 user: "And now?"
        m4 assistant: [tool-web_search] | !look#call_3 {"x":2}
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::Audio, Kind::File, Kind::FileName, Kind::Reasoning],
        pieces,
        list: Some("messages"),
        request: Some(Request {
            items,
            of_user: r#"{"id":"on","role":"user","parts":[{"type":"text","text":"on"}]}"#,
            reads_as_one: false,
        }),
        provider: None,
    }),
};

fn items(speller: &mut Speller, said: &Said) -> Option<Vec<Value>> {
    let role = match said.role {
        Role::Tool | Role::Developer => return None,
        role => role.as_str(),
    };
    let is_result = |piece: &Piece| matches!(piece, Piece::Result { .. });
    if said.pieces.iter().any(is_result) {
        return None;
    }
    let mut parts = Vec::new();
    for piece in &said.pieces {
        parts.push(match piece {
            Piece::Text(text) => json!({"type": "text", "text": speller.text(*text)}),
            Piece::Reasoning => json!({"type": "reasoning", "text": speller.word()}),
            Piece::Call { id, is_answered } => {
                let (kind, state) = (format!("tool-{}", name(id)), "input-available");
                let mut part = json!({"type": kind, "toolCallId": id, "state": state, "input": {}});
                if *is_answered {
                    part["state"] = "output-available".into();
                    part["output"] = speller.word().into();
                }
                part
            }
            Piece::Result { .. } => continue,
        });
        if said.is_full {
            parts.push(json!({"type": "step-start"}));
        }
    }
    Some(vec![json!({"id": speller.word(), "role": role, "parts": parts})])
}

fn pieces() -> Vec<(Kind, String)> {
    let ui = |kind, role: &str, part: &str| {
        let ask = r#"{"id":"1","role":"user","parts":[{"type":"text","text":"go"}]}"#;
        (
            kind,
            format!(r#"[{ask},{{"id":"2","role":"{role}","parts":[{{"type":"text","text":"x"}},{part}]}}]"#),
        )
    };
    vec![
        ui(Kind::Text, "user", r#"{"type":"text","text":"CANARY"}"#),
        ui(Kind::Image, "user", r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,CANARY11"}"#),
        ui(Kind::Image, "assistant", r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,CANARY11"}"#),
        ui(Kind::Audio, "user", r#"{"type":"file","mediaType":"audio/mpeg","url":"data:audio/mpeg;base64,CANARY11"}"#),
        ui(Kind::FileName, "user", r#"{"type":"file","mediaType":"application/pdf","filename":"CANARY","url":"data:application/pdf;base64,AAAA"}"#),
        ui(Kind::Call, "assistant", r#"{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{"x":"CANARY1"},"output":{"y":"CANARY2"}},{"type":"tool-ls","toolCallId":"b","state":"output-error","input":{},"errorText":"CANARY3"}"#),
        ui(Kind::Field, "assistant", r#"{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{},"output":"x","title":"CANARY"}"#),
        ui(Kind::Reasoning, "assistant", r#"{"type":"reasoning","text":"CANARY"}"#),
        ui(Kind::Sealed, "assistant", r#"{"type":"reasoning","text":"x","providerMetadata":{"anthropic":{"signature":"CANARY"}}}"#),
        ui(Kind::Field, "assistant", r#"{"type":"text","text":"x","providerMetadata":{"openai":{"itemId":"CANARY"}}}"#),
        ui(Kind::Block, "assistant", r#"{"type":"source-url","sourceId":"s","url":"https://x.org/CANARY"}"#),
        ui(Kind::Field, "user", r#"{"type":"text","text":"x"}],"metadata":{"x":"CANARY"},"y":[null"#),
        (Kind::Around, r#"{"title":"CANARY","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"go"}]}]}"#.to_owned()),
    ]
}
