//! Samples of Google Gemini.

use expect_test::expect;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::{
    Kind, Provider, Request, Sample, Written,
    said::{Piece, Said, Speller, name, with_id},
};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/gemini.json"),
    read: expect![[r#"
        tool {"functionDeclarations":[{"name":"bash","parameters":{"type":"object"}}]}
        m0 system: "Be brief."
        m1 user: "run the tests" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: ~"Thinking..." 0 bytes | !bash#bash {"cmd":"cargo test"} | !bash#bash-2 {"cmd":"ls"}
        m3 user: =bash "1 failed" | =bash-2 "{\"stdout\":\"a\",\"code\":1e0}"
        m4 assistant: [executableCode] | "One failed."
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::Audio, Kind::File, Kind::Tool],
        pieces,
        list: Some("contents"),
        request: Some(Request {
            items,
            of_user: r#"{"role":"user","parts":[{"text":"on"}]}"#,
            reads_as_one: true,
        }),
        provider: Some(Provider {
            spelled: &[
                r#"{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}"#,
                r#"{"role":"model","parts":[{"functionCall":{"id":"f1","name":"read","args":{"path" : "a"}},"thoughtSignature":"c2lnbmVk"}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"id":"f1","name":"read","response":{"output":"fn main() {}\nlong long long"}}}]}"#,
                r#"{"parts":[{"text":"It is empty."}],"role":"model"}"#,
            ],
            around: [
                (r#"{"system_instruction":null,"contents":"#, r#","generationConfig":{"temperature":1e0}}"#),
                (
                    r#"{"system_instruction":{"parts":[{"text":"Be brief."}]},"contents":"#,
                    r#","generationConfig":{"temperature":1e0}}"#,
                ),
            ],
            pictures: r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"or"},{"inlineData":{"mimeType":"image/gif","data":"R0lGODlhAQABAA=="}},{"ofNextMonth":{"x":1}}]}"#,
            shapes: &[
                r#"{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"zebra"}}}]}"#,
                r#"{"role":"user","parts":[{"text":"zebra"}]}"#,
            ],
            answer: r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi","thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}"#,
            message: r#"{"role":"model","parts":[{"text":"hi","thoughtSignature":"c2ln"}]}"#,
            failed: r#"{"error":{"code":400}}"#,
            costs: &[(
                r#"{"candidates":[],"usageMetadata":{"promptTokenCount":90,"cachedContentTokenCount":80,"candidatesTokenCount":20,"thoughtsTokenCount":5}}"#,
                [10, 80, 0, 20, 5],
            )],
        }),
    }),
};

fn items(speller: &mut Speller, said: &Said) -> Option<Vec<Value>> {
    let role = match said.role {
        Role::System | Role::Developer => return None,
        Role::Assistant => "model",
        _ => "user",
    };
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => json!({"text": speller.text(*text)}),
        Piece::Reasoning if said.is_full => json!({"text": "", "thoughtSignature": speller.word()}),
        Piece::Reasoning => json!({"text": speller.word(), "thought": true}),
        Piece::Call { id, .. } => {
            json!({"functionCall": with_id(json!({"name": name(id), "args": {}}), said.is_full, id)})
        }
        Piece::Result { id, text, has_failed } => {
            let key = if *has_failed { "error" } else { "output" };
            let response = json!({"name": name(id), "response": {key: speller.text(*text)}});
            json!({"functionResponse": with_id(response, said.is_full, id)})
        }
    };
    let parts: Vec<Value> = said.pieces.iter().map(part).collect();
    Some(vec![json!({"role": role, "parts": parts})])
}

fn pieces() -> Vec<(Kind, String)> {
    let gemini = |kind, role: &str, part: &str| {
        let ask = r#"{"role":"user","parts":[{"text":"go"}]}"#;
        (kind, format!(r#"[{ask},{{"role":"{role}","parts":[{{"text":"x"}},{part}]}}]"#))
    };
    let result = |kind, response: &str| {
        gemini(
            kind,
            "model",
            &format!(
                r#"{{"functionCall":{{"name":"ls","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"ls",{response}}}}}"#
            ),
        )
    };
    vec![
        gemini(Kind::Text, "user", r#"{"text":"CANARY"}"#),
        gemini(Kind::Image, "user", r#"{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}"#),
        gemini(Kind::Image, "model", r#"{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}"#),
        gemini(Kind::Audio, "user", r#"{"inlineData":{"mimeType":"audio/wav","data":"CANARY11"}}"#),
        gemini(Kind::File, "user", r#"{"inlineData":{"mimeType":"application/pdf","data":"CANARY11"}}"#),
        gemini(
            Kind::Field,
            "user",
            r#"{"inlineData":{"mimeType":"application/pdf","data":"AAAA","displayName":"CANARY"}}"#,
        ),
        gemini(Kind::Reasoning, "model", r#"{"text":"CANARY","thought":true}"#),
        gemini(Kind::Field, "model", r#"{"text":"x","thoughtSignature":"CANARY"}"#),
        gemini(Kind::Block, "model", r#"{"executableCode":{"language":"PYTHON","code":"CANARY"}}"#),
        result(Kind::Call, r#""response":{"output":"CANARY"}"#),
        result(Kind::Call, r#""response":{"error":"CANARY"}"#),
        result(Kind::Field, r#""response":{"output":"x","more":"CANARY"}"#),
        result(
            Kind::Image,
            r#""response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}]"#,
        ),
        (
            Kind::Around,
            r#"{"labels":{"title":"CANARY"},"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#
                .to_owned(),
        ),
        gemini(Kind::Call, "model", r#"{"functionCall":{"name":"my.tool/CANARY","args":{}}}"#),
    ]
}
