//! Only counting: what a conversation costs, message by message, and what there is to spend.
//!
//! `cargo run -p longhaul --example count`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    tokens::{ContextWindow, ModelTable},
    transcript::{Message, Tokens},
};

fn main() {
    let model = ModelTable::builtin().get_or_unknown("gpt-4o");
    let counter = model.counter();
    let mut total = counter.framing().per_reply;
    for message in [
        Message::system("You are a careful engineer."),
        Message::user("Why does `cargo test` fail on main?"),
        Message::assistant(
            "The test `parses_empty_input` expects an error; `parse` now returns an empty list.",
        ),
    ] {
        let tokens = counter.count_message(&message);
        total += tokens;
        println!("{:>6} tokens  {}", tokens.0, message.role.as_str());
    }
    let budget = ContextWindow::from(&model).budget(Tokens::ZERO);
    println!("{:>6} tokens  in all", total.0);
    println!("{:>6} tokens  to spend in the window of {}", budget.0, model.name);
}
