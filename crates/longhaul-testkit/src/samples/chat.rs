//! Samples of plain chat.

use expect_test::expect;

use super::{Kind, Sample, Written};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/chat.json"),
    read: expect![[r#"
        m0 system: "Be brief."
        m1 user: "weather?"
        m2 assistant: !weather#call {"at": "here"}
        m3 tool: =call "rain"
        m4 assistant: "Rain."
    "#]],
    written: Some(Written {
        carries: &[],
        pieces,
        list: Some("conversations"),
        request: None,
        provider: None,
    }),
};

fn pieces() -> Vec<(Kind, String)> {
    let chat = |kind, said: &str| (kind, format!(r#"[{{"from":"human","value":"go"}},{said}]"#));
    vec![
        chat(Kind::Text, r#"{"from":"gpt","value":"CANARY"}"#),
        chat(Kind::Text, r#"{"from":"gpt","value":"x"},{"from":"system","value":"CANARY"}"#),
        chat(Kind::Field, r#"{"from":"gpt","value":"x","weight":"CANARY"}"#),
        chat(
            Kind::Call,
            r#"{"from":"function_call","value":"{\"name\":\"CANARY1\",\"arguments\":{\"x\":\"CANARY2\"}}"},{"from":"observation","value":"CANARY3"}"#,
        ),
        (Kind::Around, r#"{"id":"CANARY","conversations":[{"from":"human","value":"go"}]}"#.to_owned()),
    ]
}
