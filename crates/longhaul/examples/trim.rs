//! Only trimming: what to keep, digest and drop, decided on numbers.
//!
//! `cargo run -p longhaul --example trim`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    tokens::{CharsPer4, TokenCounter},
    transcript::{Message, Outcome, Tokens, ToolCall, ToolResult, Transcript},
    trim::{ByRole, Candidate, Prioritizer, plan, repeated_calls},
};

fn main() {
    let mut transcript = Transcript::new();
    transcript.push(Message::user("Find out why the build is slow"));
    for (nth, path) in ["a.rs", "b.rs", "a.rs"].into_iter().enumerate() {
        let call = ToolCall::function(format!("c{nth}"), "read_file", format!(r#"{{"path":"{path}"}}"#));
        let result = ToolResult::text(call.id.clone(), "let answer = 42;\n".repeat(50), Outcome::Succeeded);
        transcript.push(Message::assistant("").with_calls([call]));
        transcript.push(Message::tool(result));
    }
    transcript.push(Message::assistant("Nothing here is slow; the linker is."));

    // The same file was read twice: the first time is stale.
    let superseded = repeated_calls(transcript.entries());
    let by_role = ByRole { superseded, task: Some(0), recent_turns: 0, ..ByRole::default() };
    let candidate = |unit: longhaul::transcript::Unit<'_>| {
        let tokens = unit.messages().map(|message| CharsPer4.count_message(message)).sum();
        let candidate = Candidate::new(unit.span(), by_role.priority(unit, 1), tokens);
        if unit.is_exchange() { candidate.with_digest(Tokens(20)) } else { candidate }
    };
    let candidates: Vec<Candidate> = transcript.units().map(candidate).collect();

    let plan = plan(&candidates, Tokens(300));
    for (candidate, action) in candidates.iter().zip(&plan.actions) {
        println!("{:<6} {:>4} tokens  {action:?}", candidate.span.to_string(), candidate.tokens.0);
    }
    println!("{} tokens are left", plan.tokens);
}
