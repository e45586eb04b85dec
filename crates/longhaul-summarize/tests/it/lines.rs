//! What a summary by rule says stands in its source, and what persons demand stays in it.

use std::sync::Arc;

use longhaul_extract::FactIndex;
use longhaul_summarize::{
    SummaryRequest,
    rules::{RulesOptions, summarize},
};
use longhaul_testkit::{demands, unsourced};
use longhaul_transcript::{Message, Outcome, Part, Role, SummaryRecord, ToolCall, ToolResult, Transcript};

use crate::{drift::record, fixtures::Asking};

/// Work with all kinds of lines: wrapped prose, lists, a short answer, edits, failures and their cure, a plan, a report.
const WORK: &str = r#"
user: Fix the flaky retry in src/queue.rs. Never change the wire format.
assistant: I read the queue first. The root cause is an overflow in the
backoff, which wraps at 32 attempts. !read_file#c1 {"file_path":"/w/relay/src/queue.rs"}
tool#c1:    1→pub fn wait_millis(attempt: u32) -> u64 {
   2→    1 << attempt
   3→}
assistant: !edit_file#c2 {"file_path":"/w/relay/src/queue.rs","old_string":"    1 << attempt","new_string":"    1u64.checked_shl(attempt).unwrap_or(MOST)"} !bash#c3 {"command":"cd /w/relay && cargo test -p relay 2>&1 | tail -5"} !TodoWrite#c4 {"todos":[{"content":"Mend the overflow","status":"completed"},{"content":"Write the changelog","status":"pending"}]}
tool#c2: ok
tool#c3!: error[E0425]: cannot find value `MOST` in this scope
Exit code: 101
tool#c4: ok
assistant: Shall I add the constant
to src/limits.rs?
user: yes
assistant: !write_file#c5 {"file_path":"/w/relay/src/limits.rs","content":"/// The longest wait.\npub const MOST: u64 = 60_000;\n"} !bash#c6 {"command":"cargo test -p relay"}
tool#c5: ok
tool#c6: running 12 tests
test result: ok. 12 passed; 0 failed; 0 ignored; finished in 0.31s
assistant: Done:

1. `wait_millis` no longer overflows.
2. The limit is 60 seconds, because the broker drops
   connections after 61.

Open: the changelog.
user: Important: the broker is replaced in May.
"#;

#[test]
fn every_line_stands_in_its_source() {
    let said = longhaul_testkit::transcript(WORK);
    let mut index = FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let asking = Asking::new();
    for limit in [120, 200, 300, 400, 600, 1_000] {
        let request = SummaryRequest { index: &index, ..asking.request(said.entries(), limit) };
        let text = summarize(&request, &RulesOptions::default()).text;
        assert_eq!(unsourced(&text, said.entries()), Vec::<String>::new(), "at {limit} in:\n{text}");
    }
}

/// Turns of a session, with `demand` in the one at `position`.
fn turns(demand: &str, position: usize) -> Vec<Message> {
    let mut said = Vec::new();
    for turn in 0..10 {
        let plain = format!("Please look at module {turn} now.");
        let text = match (turn == position, position % 4) {
            (false, _) => plain,
            (true, 0) => demand.to_owned(),
            (true, 1) => format!("{plain} {demand}"),
            (true, 2) => format!("{plain}\n\n{demand}\n\nThanks!"),
            (true, _) => format!("Two things:\n\n- {plain}\n- {demand}\n"),
        };
        said.push(Message::user(text));
        said.extend(work(turn));
    }
    said
}

/// What the agent does in a turn.
fn work(turn: usize) -> Vec<Message> {
    let arguments = format!(r#"{{"file_path":"/w/app/src/module_{turn}.rs"}}"#);
    let call = Part::ToolCall(ToolCall::function(format!("c{turn}"), "Read", arguments));
    let line = format!("pub fn handle_{turn}(state: &State) -> Result<Reply_{turn}, Error> {{ todo }}\n");
    let result = ToolResult::text(format!("c{turn}"), line.repeat(8), Outcome::Unstated);
    vec![
        Message::new(Role::Assistant, vec![Part::Text(format!("Reading module {turn}.")), call]),
        Message::new(Role::Tool, vec![Part::ToolResult(result)]),
        Message::assistant(format!(
            "Module {turn} handles requests of kind {turn}; its lock is held for {turn}0 ms."
        )),
    ]
}

/// What a round is given of the messages before it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Originals {
    /// All of them, as a session has them.
    AtHand,
    /// None: only the summary before it, as a history has it that was compacted elsewhere.
    Gone,
}

/// Whether `demand` is in the summary after each of five rounds, each to 30 % of what the first forty messages take.
fn survives(demand: &str, position: usize, originals: Originals) -> bool {
    let (mut transcript, mut index) = (Transcript::new(), FactIndex::new());
    let mut previous: Option<SummaryRecord> = None;
    let mut covered = 0;
    for round in 0..5 {
        let more = match round {
            0 => turns(demand, position),
            _ => (0..4)
                .flat_map(|turn| {
                    let turn = round * 10 + turn;
                    let asked = Message::user(format!("And module {turn}?"));
                    std::iter::once(asked).chain(work(turn))
                })
                .collect(),
        };
        for message in more {
            transcript.push(Arc::new(message));
            index.push(transcript.entries().last().unwrap());
        }
        let asking = Asking::new();
        // The first round is as long as the others from the second on, so that the limit is the same.
        let limit = size(&transcript.entries()[..40]) * 3 / 10;
        let request = SummaryRequest {
            index: &index,
            previous: previous.as_ref(),
            depth: round as u32,
            ..asking.request(&transcript.entries()[covered..], limit)
        };
        let draft = summarize(&request, &RulesOptions::default());
        if !draft.text.contains(demand) {
            return false;
        }
        if originals == Originals::Gone {
            covered = transcript.entries().len();
        }
        previous = Some(record(previous.as_ref(), &draft, transcript.span()));
    }
    true
}

/// About how many tokens `entries` take.
fn size(entries: &[longhaul_transcript::Entry]) -> u64 {
    let bytes = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::ToolCall(call) => call.arguments.0.len(),
        Part::ToolResult(result) => result.joined_text().len(),
        _ => 0,
    };
    entries.iter().flat_map(|entry| &entry.message.parts).map(bytes).sum::<usize>() as u64 / 4
}

/// Each of two hundred demands in one of ten positions; in all ten where `LONGHAUL_DEMANDS` is `all`.
#[test]
fn demands_survive_five_rounds() {
    assert_eq!(lost(Originals::AtHand), Vec::<String>::new());
}

/// The same down a chain: each round has nothing of what came before but the summary of it.
#[test]
fn demands_survive_five_rounds_without_their_originals() {
    assert_eq!(lost(Originals::Gone), Vec::<String>::new());
}

fn lost(originals: Originals) -> Vec<String> {
    let is_whole = std::env::var("LONGHAUL_DEMANDS").is_ok_and(|which| which == "all");
    let demands = demands();
    let step = if is_whole { 1 } else { 5 };
    let mut lost = Vec::new();
    for (nth, demand) in demands.iter().enumerate().step_by(step) {
        let positions = if is_whole { 0..10 } else { nth / step % 10..nth / step % 10 + 1 };
        let gone = positions.filter(|position| !survives(demand, *position, originals));
        lost.extend(gone.map(|position| format!("{position}: {demand}")));
    }
    lost
}
