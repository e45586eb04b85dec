//! Samples of longhaul's own form.

use expect_test::expect;

use super::{Kind, Sample, Written};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/longhaul.json"),
    read: expect![[r#"
        session s-1
        model m
        tool {"name":"bash"}
        m0 system: "Be brief."
        m1 user(ann): "go" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: !bash#c1 {"cmd": "ls"}
        m3 tool: =c1- "a b"
    "#]],
    written: Some(Written {
        carries: &[
            Kind::Name,
            Kind::UnfitName,
            Kind::Image,
            Kind::Audio,
            Kind::File,
            Kind::ProvidersFile,
            Kind::Reasoning,
            Kind::Block,
            Kind::Tool,
        ],
        pieces,
        list: Some("messages"),
        request: None,
        provider: None,
    }),
};

fn pieces() -> Vec<(Kind, String)> {
    let own =
        |kind, said: &str| (kind, format!(r#"{{"format":"longhaul","version":1,"messages":[{said}]}}"#));
    vec![
        own(Kind::Name, r#"{"role":"user","name":"CANARY","parts":[{"text":"x"}]}"#),
        own(Kind::UnfitName, r#"{"role":"user","name":"a CANARY","parts":[{"text":"x"}]}"#),
        own(Kind::Field, r#"{"role":"user","parts":[{"text":"x"}],"field_of_next_month":"CANARY"}"#),
    ]
}
