//! An agent's loop in a small window: push what is said, prepare before each request, tell the user what happened.
//!
//! `cargo run -p longhaul --example agent_loop`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    Event, Session, View,
    tokens::{BytesPer4, ContextWindow, TokenCounter as _},
    transcript::{Message, Outcome, SessionId, Tokens, ToolCall, ToolResult, Usage},
};

/// Stands for the provider: its model reads one file after the other, then says it is done. It counts tokens in a way of its
/// own, and says with each answer how many the request had.
fn model(step: usize, request: &View) -> (Message, Usage) {
    let input = request.messages().map(|message| BytesPer4.count_message(message)).sum();
    let usage = Usage { input, ..Usage::default() };
    if step == 40 {
        return (Message::assistant("Every module was read; the unwrap is in src/module_7.rs."), usage);
    }
    let arguments = format!(r#"{{"path":"src/module_{step}.rs"}}"#);
    let call = ToolCall::function(format!("call_{step}"), "read_file", arguments);
    (Message::assistant("").with_calls([call]), usage)
}

/// Stands for the tools.
fn run(call: &ToolCall) -> Message {
    let text = format!("// {}\nfn main() {{ let value = parse().unwrap(); }}\n", call.arguments.0).repeat(20);
    Message::tool(ToolResult::text(call.id.clone(), text, Outcome::Succeeded))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    let tell = |event: &Event| {
        if event.is_notice() {
            println!("  [{event}]")
        }
    };
    let mut context = Session::builder(SessionId::new("agent-loop")?, window).observer(tell).build()?;
    context.push(Message::system("You are a careful engineer."));
    context.push(Message::user("Find the unwrap that panics. Never edit the lock file."));

    for step in 0.. {
        let view = context.prepare().await?;
        println!("request {step}: {} messages, {} tokens", view.len(), view.tokens());
        // Here view.messages() goes to the model; the usage that its provider reports makes the next count exact.
        let (answer, usage) = model(step, &view);
        context.report_usage(view.id(), &usage);
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        context.push(answer);
        if calls.is_empty() {
            break;
        }
        for call in &calls {
            context.push(run(call));
        }
    }
    println!("\n{}", serde_json::to_string_pretty(&context.state().status(None))?);
    Ok(())
}
