//! Only counting: what a conversation costs, message by message, and what there is to spend.
//!
//! `cargo run -p longhaul --example count`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    tokens::{ContextWindow, Ledger, ModelTable},
    transcript::{Message, Span, Tokens, Transcript},
};

fn main() {
    let model = ModelTable::builtin().get_or_unknown("gpt-4o");
    let counter = model.counter();
    let (mut transcript, mut ledger) = (Transcript::new(), Ledger::new());
    for message in [
        Message::system("You are a careful engineer."),
        Message::user("Why does `cargo test` fail on main?"),
        Message::assistant(
            "The test `parses_empty_input` expects an error; `parse` now returns an empty list.",
        ),
    ] {
        let (role, tokens) = (message.role, counter.count_message(&message));
        ledger.record(transcript.push(message), tokens);
        println!("{:>6} tokens  {}", tokens.0, role.as_str());
    }
    let budget = ContextWindow::from(&model).budget(Tokens::ZERO);
    println!("{:>6} tokens  in all", (ledger.total() + counter.framing().per_reply).0);
    println!("{:>6} tokens  in the last two messages", ledger.in_span(Span { start: 1, end: 3 }).0);
    println!("{:>6} tokens  to spend in the window of {}", budget.0, model.name);
}
