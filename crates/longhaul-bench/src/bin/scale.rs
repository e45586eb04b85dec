//! `cargo xtask bench scale [MESSAGES]...`: how the cost of a compaction and of one turn grows with the conversation.
//!
//! Times are the processor's, so that a busy machine does not count twice. Memory is that of the process: with what was said, and at
//! most so far.

use cpu_time::ThreadTime;
use longhaul::{
    compact::{self, CompactSettings, Source},
    extract::FactIndex,
    summarize::rules::RulesOptions,
    tokens::{self, Encoding},
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Transcript},
};
use longhaul_bench::process_kilobytes;

/// Messages of the conversations, where none are given.
const SIZES: [usize; 5] = [1_000, 2_000, 10_000, 100_000, 1_000_000];

/// Facts that are held: as many as by a session whose window is unknown, which is taken to be of so many tokens.
const MOST_FACTS: usize = 128_000;

#[allow(clippy::print_stdout, reason = "a program that prints a table")]
fn main() -> Result<(), std::num::ParseIntError> {
    let given: Vec<usize> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let counter = tokens::counter(Encoding::O200kBase);
    println!(
        "| messages | tokens | push | count | index | plan | compact to 16k | per message | MB said | MB at most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let sizes = if given.is_empty() { SIZES.to_vec() } else { given };
    for messages in sizes {
        let size = if messages <= 2_000 { 1_000 } else { 200 };
        let said = conversation(messages, size);
        let start = ThreadTime::now();
        let transcript: Transcript = said.into_iter().collect();
        let push = start.elapsed();
        let said = megabytes("VmRSS:");
        let start = ThreadTime::now();
        let costs: Vec<Tokens> =
            transcript.entries().iter().map(|entry| counter.count_message(&entry.message)).collect();
        let count = start.elapsed();
        let start = ThreadTime::now();
        let mut index = FactIndex::new();
        index.set_most_facts(MOST_FACTS);
        transcript.entries().iter().for_each(|entry| index.push(entry));
        let read = start.elapsed();
        let total: Tokens = costs.iter().copied().sum();
        let session = SessionId::derived(&[]);
        let source = Source::new(&session, transcript.entries(), &costs, &*counter, &index);
        let settings = CompactSettings::new(Tokens(16_000));
        let start = ThreadTime::now();
        let planned = compact::plan(&source, &settings).is_ok();
        let plan = start.elapsed();
        assert!(planned);
        let start = ThreadTime::now();
        let compacted = compact::compact(&source, &settings, &RulesOptions::default());
        let took = start.elapsed();
        let after = compacted.map(|compacted| compacted.outcome.tokens_after.0).unwrap_or_default();
        assert!(after <= 16_000);
        println!(
            "| {messages} | {total} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.2} µs | {said} | {} |",
            push.as_secs_f64() * 1e3,
            count.as_secs_f64() * 1e3,
            read.as_secs_f64() * 1e3,
            plan.as_secs_f64() * 1e3,
            took.as_secs_f64() * 1e3,
            took.as_secs_f64() * 1e6 / messages as f64,
            megabytes("VmHWM:"),
        );
    }
    Ok(())
}

/// Returns the memory of this process by the name that Linux gives it: zero elsewhere.
fn megabytes(name: &str) -> u64 {
    process_kilobytes(name).unwrap_or_default() / 1024
}

/// Returns a coding session of this many messages: requests, calls, results of `size` characters, answers.
fn conversation(messages: usize, size: usize) -> Vec<Message> {
    let mut said =
        vec![Message::system("You work on a large repository."), Message::user("Fix the failing tests.")];
    let mut at = 0u64;
    while said.len() < messages {
        at += 1;
        let file = format!("src/module_{}/part_{}.rs", at % 97, at % 1_009);
        let arguments = format!(r#"{{"file_path":"/home/dev/app/{file}"}}"#);
        let call = ToolCall::function(format!("call_{at}"), "Read", arguments);
        said.push(Message::new(
            Role::Assistant,
            vec![Part::Text(format!("Now {file}.")), Part::ToolCall(call)],
        ));
        let line = format!(
            "fn handle_request_{at}(state: &SharedState, id: u64) -> Result<Reply, Error_{}> {{\n",
            at % 53
        );
        let text: String = line.chars().cycle().take(size).collect();
        let result = ToolResult::text(format!("call_{at}"), text, Outcome::Unstated);
        said.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
        if at.is_multiple_of(20) {
            said.push(Message::user(format!("Good. And what about Error_{}?", at % 53)));
        }
    }
    said.truncate(messages);
    said
}
