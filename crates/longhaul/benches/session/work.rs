//! An agent's work, made up: each turn a request, a call, its result and an answer, different each time and the same in
//! each run.

use longhaul::transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

const WORDS: [&str; 16] = [
    "request", "parser", "header", "index", "block", "queue", "timeout", "shard", "files", "sums", "worker",
    "lock", "cache", "ledger", "export", "branch",
];

/// Returns the four messages of a turn whose result has `lines` lines.
pub(crate) fn turn(nth: usize, lines: usize) -> [Message; 4] {
    let word = |salt: usize| WORDS[nth.wrapping_mul(31).wrapping_add(salt * 7) % WORDS.len()];
    let id = format!("c{nth}");
    let call = ToolCall::function(
        id.as_str(),
        "read_file",
        format!(r#"{{"path":"src/{}/part_{}.rs"}}"#, word(1), nth % 997),
    );
    let line = |at: usize| {
        format!(
            "{:>4}  let {}_{} = {}({}, {});",
            at + 1,
            word(at),
            (nth * 13 + at) % 9_973,
            word(at + 3),
            nth,
            at * 17 % 101
        )
    };
    let text = (0..lines).map(line).collect::<Vec<_>>().join("\n");
    [
        Message::user(format!("Step {nth}: why does the {} wait for the {} there?", word(0), word(2))),
        Message::new(Role::Assistant, vec![Part::ToolCall(call)]),
        Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::text(id.as_str(), text, Outcome::Succeeded))],
        ),
        Message::assistant(format!(
            "The {} holds {}_{nth}, as OPS-{} says.",
            word(2),
            word(4),
            nth * 7 % 90_000
        )),
    ]
}
