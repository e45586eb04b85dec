//! `cargo run --release -p longhaul-wire --example long_messages`: what long messages cost. Twice the length should cost twice the time.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that shows what it measured")]

use std::time::Instant;

use longhaul_wire::{Format, Profile, convert, messages_from_json, read, render, validate};

fn main() {
    for n in [8_000, 16_000, 32_000] {
        let histories = [
            ("blocks", blocks(n)),
            ("results in one message", together(n)),
            ("results one by one", apart(n)),
        ];
        for (name, json) in histories {
            let doc = read(Some(Format::Anthropic), json.as_bytes()).unwrap();
            let began = Instant::now();
            convert(&doc, Format::OpenAi).unwrap();
            let converted = began.elapsed();
            let messages = messages_from_json(Format::Anthropic, &json).unwrap();
            let began = Instant::now();
            let sent = render(&messages, Format::Anthropic).unwrap();
            let rendered = began.elapsed();
            let began = Instant::now();
            validate(sent.json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap();
            let validated = began.elapsed();
            println!(
                "{n} {name}: converted in {converted:.2?}, rendered in {rendered:.2?}, checked in {validated:.2?}"
            );
        }
    }
}

fn blocks(n: usize) -> String {
    let blocks = each(n, |nth| format!(r#"{{"type":"text","text":"block {nth}","x":{nth}}}"#));
    format!(r#"[{{"role":"user","content":[{blocks}]}}]"#)
}

fn together(n: usize) -> String {
    format!("{},{{\"role\":\"user\",\"content\":[{}]}}]", calls(n), each(n, result))
}

fn apart(n: usize) -> String {
    let message = |nth| format!(r#"{{"role":"user","content":[{}]}}"#, result(nth));
    format!("{},{}]", calls(n), each(n, message))
}

fn calls(n: usize) -> String {
    let calls = each(n, |nth| format!(r#"{{"type":"tool_use","id":"c{nth}","name":"ls","input":{{}}}}"#));
    format!(r#"[{{"role":"user","content":"go"}},{{"role":"assistant","content":[{calls}]}}"#)
}

fn result(nth: usize) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"c{nth}","content":"r"}}"#)
}

fn each(n: usize, spelled: impl Fn(usize) -> String) -> String {
    (0..n).map(spelled).collect::<Vec<_>>().join(",")
}
