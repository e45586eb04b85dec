//! Samples of rollouts of Codex CLI.

use expect_test::expect;

use super::{ANSWER, ASK, Kind, Sample, Written, lines, responses};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/codex.jsonl"),
    read: expect![[r#"
        session 22222222-2222-4222-8222-222222222222
        model gpt-x
        m0 system: "You are an agent."
        m1 developer: "Sandboxed."
        m2 developer: "<environment_context>\n</environment_context>"
        m3 user: "fix it"
        m4 assistant: ~"" 8 bytes
        m5 assistant: !exec_command#call_1 {"cmd":"ls"}
        m6 tool: =call_1 "a b"
        m7 assistant: "Fixed."
        usage up to m3: 40 + 60 + 0 in, 20 + 10 out
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::File, Kind::FileName, Kind::Id],
        pieces,
        list: None,
        request: None,
        provider: None,
    }),
};

fn of_codex(_: usize, item: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{item}}}"#)
}

fn pieces() -> Vec<(Kind, String)> {
    let call = r#"{"type":"function_call","id":"fc_1","call_id":"a","name":"CANARY","arguments":"{}"}"#;
    let thought = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let call = format!("[{ASK},{thought},{ANSWER},{ASK},{call}]");
    let ask = format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{ASK}}}"#);
    let done = r#"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"CANARY"}}"#;
    let own = [(Kind::Call, lines(&call, of_codex)), (Kind::Around, format!("{ask}\n{done}\n"))];
    let of_provider = responses::pieces().into_iter().filter(|(_, list)| list.starts_with('['));
    of_provider.map(|(kind, list)| (kind, lines(&list, of_codex))).chain(own).collect()
}
