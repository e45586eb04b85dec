//! An agent's loop in a small window: push what is said, prepare before each request, tell the user what happened.
//!
//! `cargo run -p longhaul --example agent_loop`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    Event, Session,
    tokens::ContextWindow,
    transcript::{Message, Outcome, Part, Role, SessionId, Tokens, ToolCall, ToolResult, Usage},
};

/// Stands for the model: reads one file after the other, then says it is done.
fn model(step: usize) -> Message {
    if step == 40 {
        return Message::assistant("Every module was read; the unwrap is in src/module_7.rs.");
    }
    let arguments = format!(r#"{{"path":"src/module_{step}.rs"}}"#);
    let call = ToolCall::function(format!("call_{step}"), "read_file", arguments);
    Message::new(Role::Assistant, vec![Part::ToolCall(call)])
}

/// Stands for the tools.
fn run(call: &ToolCall) -> Message {
    let text = format!("// {}\nfn main() {{ let value = parse().unwrap(); }}\n", call.arguments.0).repeat(20);
    let result = ToolResult::text(call.id.clone(), text, Outcome::Succeeded);
    Message::new(Role::Tool, vec![Part::ToolResult(result)])
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
        // Here view.messages() goes to the model; the usage it reports makes the next count exact.
        let usage = Usage { input: view.tokens(), ..Usage::default() };
        context.report_usage(view.id(), &usage);
        let answer = model(step);
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
