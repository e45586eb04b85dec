//! Any text as the arguments and the result of a call of each family of tools: facts are found and the result is digested,
//! within its allowance and no longer than it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_extract::{Allowance, FactIndex, digest};
use longhaul_transcript::{CallId, CallKind, Message, Outcome, Part, RawJson, Role, Tokens, ToolCall, ToolResult, Transcript};

const TOOLS: [&str; 8] = ["bash", "Read", "Edit", "Grep", "TodoWrite", "apply_patch", "WebFetch", "book_flight"];

fuzz_target!(|bytes: &[u8]| {
    let [tool, cut, limit, rest @ ..] = bytes else { return };
    let text = String::from_utf8_lossy(rest);
    let cut = text.floor_char_boundary(text.len() * usize::from(*cut) / 255);
    let (arguments, result) = text.split_at(cut);
    let name = TOOLS[usize::from(*tool) % TOOLS.len()].to_owned();
    let id = CallId("c1".into());
    let call = ToolCall { id: id.clone(), name, arguments: RawJson(arguments.to_owned()), kind: CallKind::Function };
    let count = |text: &str| Tokens(text.len() as u64);
    let allowance = Allowance::new(Tokens(u64::from(*limit) * 4), &count);
    let digested = digest(Some(&call), result, Outcome::Unstated, &allowance);
    assert!(digested.len() <= result.len() && digested.len() as u64 <= u64::from(*limit) * 4);
    let content = vec![Part::Text(result.to_owned())];
    let answer = ToolResult { call_id: id, content, outcome: Outcome::Unstated };
    let mut said = Transcript::new();
    for message in [
        Message::user(result),
        Message::new(Role::Assistant, vec![Part::Text(arguments.to_owned()), Part::ToolCall(call)]),
        Message::new(Role::Tool, vec![Part::ToolResult(answer)]),
        Message::assistant(result),
    ] {
        said.push(message);
    }
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    assert_eq!(index.messages(), 4);
});
