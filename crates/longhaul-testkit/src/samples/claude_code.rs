//! Samples of session files of Claude Code.

use expect_test::expect;

use super::{ASK, Kind, Sample, Written, anthropic, lines};

pub(super) static SAMPLE: Sample = Sample {
    history: include_bytes!("data/claude-code.jsonl"),
    read: expect![[r#"
        session 11111111-1111-4111-8111-111111111111
        model claude-x
        m0 user: "look at both"
        m1 assistant: ~"Both." 4 bytes | !Read#t1 {"file_path":"a"} | !Read#t2 {"file_path":"b"}
        m2 user: =t1 "text of a"
        m3 user: =t2+ "text of b"
        m4 assistant: "Both are fine."
        usage up to m0: 3 + 40 + 7 in, 20 + 0 out
        usage up to m3: 9 + 0 + 0 in, 4 + 0 out
    "#]],
    written: Some(Written {
        carries: &[Kind::Image, Kind::File, Kind::FileName],
        pieces,
        list: None,
        request: None,
        provider: None,
    }),
};

fn of_claude_code(nth: usize, message: &str) -> String {
    let parent = nth.checked_sub(1).map_or("null".to_owned(), |before| format!("\"u{before}\""));
    let who = if message.contains(r#""role":"assistant""#) { "assistant" } else { "user" };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s-1","type":"{who}","message":{message},"uuid":"u{nth}"}}"#
    )
}

fn pieces() -> Vec<(Kind, String)> {
    let titled = r#"{"type":"summary","summary":"CANARY","leafUuid":"u0"}"#;
    let ask = format!(r#"{{"parentUuid":null,"sessionId":"s","type":"user","message":{ASK},"uuid":"u0"}}"#);
    let around = [
        (Kind::Around, format!("{titled}\n{ask}\n")),
        (Kind::Around, format!("{}\n", ask.replace("\"uuid\"", "\"cwd\":\"CANARY\",\"uuid\""))),
    ];
    // A system message in the list is no line of Claude Code's.
    let of_provider = anthropic::pieces().into_iter().filter(|(_, list)| list.starts_with('['));
    let of_provider = of_provider.filter(|(_, list)| !list.contains(r#""role":"system""#));
    of_provider.map(|(kind, list)| (kind, lines(&list, of_claude_code))).chain(around).collect()
}
