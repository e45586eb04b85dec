//! Samples of OpenAI Responses.

use expect_test::expect;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::{
    ANSWER, ASK, Kind, Provider, Request, Sample, Written,
    said::{Piece, Said, Speller, name, with_id},
};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/responses.json"),
    read: expect![[r#"
        model gpt-x
        tool {"type":"function","name":"bash","parameters":{}}
        m0 system: "Be brief."
        m1 user: "run the tests"
        m2 assistant: ~"Run them." 8 bytes
        m3 assistant: "Running."
        m4 assistant: !bash#call_1 {"cmd":"cargo test"}
        m5 tool: =call_1 "1 failed"
        m6 assistant: !!apply_patch#call_2 *** Begin Patch
        m7 tool: =call_2 "applied"
        m8 assistant: [web_search_call]
        m9 assistant: [item_of_next_month]
        m10 assistant: "Fixed."
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::File, Kind::FileName, Kind::Tool],
        pieces,
        list: Some("input"),
        request: Some(Request {
            items: |speller, said| Some(items(speller, said)),
            of_user: r#"{"role":"user","content":"on"}"#,
            reads_as_one: true,
        }),
        provider: Some(Provider {
            spelled: &[
                r#"{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}]}"#,
                r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"}"#,
                r#"{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"read","arguments":"{\"path\": \"a\"}"}"#,
                r#"{"type":"function_call_output","call_id":"call_1","output":"fn main() {}\nlong long long"}"#,
                r#"{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is empty.","annotations":[ ],"logprobs":[]}]}"#,
            ],
            around: [
                (r#"{"model":"m","instructions":null,"input":"#, r#","stream":true}"#),
                (r#"{"model":"m","input":"#, r#","instructions":"Be brief.","stream":true}"#),
            ],
            pictures: r#"{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_text","text":"or"},{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlhAQABAA=="},{"type":"of_next_month","x":1}]}"#,
            shapes: &[
                r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#,
                r#"{"type":"function_call_output","call_id":"a","output":"zebra"}"#,
                r#"{"role":"assistant","content":[{"type":"output_text","text":"zebra"}]}"#,
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"zebra"}]}"#,
            ],
            answer: r#"{"id":"resp_1","object":"response","output":[{"id":"rs_1","type":"reasoning","summary":[]}, {"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{}}"#,
            message: r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}"#,
            failed: r#"{"error":{"message":"x"}}"#,
            costs: &[(
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":90,"input_tokens_details":{"cached_tokens":80},"output_tokens":20}}}"#,
                [10, 80, 0, 20, 0],
            )],
        }),
    }),
};

fn items(speller: &mut Speller, said: &Said) -> Vec<Value> {
    let (role, kind) = match said.role {
        Role::Assistant => ("assistant", "output_text"),
        Role::Tool => ("user", "input_text"),
        role => (role.as_str(), "input_text"),
    };
    let item = |piece: &Piece| {
        let (item, id) = match piece {
            Piece::Text(text) => {
                let content = json!([{"type": kind, "text": speller.text(*text)}]);
                (json!({"type": "message", "role": role, "content": content}), "msg")
            }
            Piece::Reasoning => {
                (json!({"type": "reasoning", "summary": [], "encrypted_content": speller.word()}), "rs")
            }
            Piece::Call { id, .. } => {
                (json!({"type": "function_call", "call_id": id, "name": name(id), "arguments": "{}"}), "fc")
            }
            Piece::Result { id, text, .. } => {
                let output = speller.text(*text);
                return json!({"type": "function_call_output", "call_id": id, "output": output});
            }
        };
        with_id(item, said.is_full && said.role == Role::Assistant, &format!("{id}_{}", speller.word()))
    };
    said.pieces.iter().map(item).collect()
}

pub(super) fn pieces() -> Vec<(Kind, String)> {
    let item = |kind, item: &str| (kind, format!("[{ASK},{item},{ANSWER}]"));
    let user =
        |kind, part: &str| item(kind, &format!(r#"{{"type":"message","role":"user","content":[{part}]}}"#));
    let result = |kind, output: &str| {
        let call = r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#;
        item(kind, &format!(r#"{call},{{"type":"function_call_output","call_id":"a","output":{output}}}"#))
    };
    vec![
        user(Kind::Text, r#"{"type":"input_text","text":"CANARY"}"#),
        user(Kind::Image, r#"{"type":"input_image","image_url":"https://x.org/CANARY.png","detail":"auto"}"#),
        user(
            Kind::File,
            r#"{"type":"input_file","filename":"x","file_data":"data:application/pdf;base64,CANARY11"}"#,
        ),
        user(
            Kind::FileName,
            r#"{"type":"input_file","filename":"CANARY","file_data":"data:application/pdf;base64,AAAA"}"#,
        ),
        user(Kind::Field, r#"{"type":"input_text","text":"x","field_of_next_month":"CANARY"}"#),
        item(
            Kind::Text,
            r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"CANARY"}]}"#,
        ),
        item(Kind::Text, r#"{"type":"message","role":"developer","content":"CANARY"}"#),
        item(
            Kind::Id,
            r#"{"type":"message","role":"assistant","id":"CANARY","content":[{"type":"output_text","text":"x"}]}"#,
        ),
        item(
            Kind::Field,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"url":"CANARY"}]}]}"#,
        ),
        item(Kind::Sealed, r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"CANARY"}"#),
        item(
            Kind::Reasoning,
            r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"CANARY"}]}"#,
        ),
        item(Kind::Block, r#"{"type":"item_of_next_month","x":"CANARY"}"#),
        item(
            Kind::Call,
            r#"{"type":"custom_tool_call","call_id":"a","name":"patch","input":"CANARY1"},{"type":"custom_tool_call_output","call_id":"a","output":"CANARY2"}"#,
        ),
        result(
            Kind::Image,
            r#"[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,CANARY11"}]"#,
        ),
        result(Kind::Call, r#""CANARY""#),
        (Kind::Around, format!(r#"{{"metadata":{{"title":"CANARY"}},"input":[{ASK}]}}"#)),
    ]
}
