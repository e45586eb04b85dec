//! What stands between an agent that names its conversations and the provider: the agent sends what it has of one with each request, and
//! what goes on to the model is the same request with the view in its place. The agent may tell the time in its instructions and hand in
//! its newest messages only: the session of that name has the rest.
//!
//! `front_end.rs` is for one that names none.
//!
//! `cargo run -p longhaul --features wire --example gateway`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, sync::Arc};

use longhaul::{
    FrontEnd, Session,
    store::{MemoryStore, SummaryStore},
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{SessionId, Tokens},
    wire::{Format, read, usage_from_json},
};

/// Answers one request of the conversation `name`: the body that the agent sends comes in, what the provider answers goes back. Nothing is
/// kept between two requests but in the store.
async fn forward(store: &Arc<dyn SummaryStore>, name: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let came = read(Some(Format::OpenAi), body.as_bytes())?;
    let window = ContextWindow::new(Tokens(6_000), Tokens(1_000));
    // `open` goes on where the conversation of that name is, on a branch after an edit; `open_line` would go back to what it left.
    let mut session = Session::builder(SessionId::new(name)?, window).store(Arc::clone(store)).open().await?;
    // A client that leaves out the middle of what was said is followed; `.keeps_first(8)` is for one that keeps more than its first six
    // messages, or few of the newest behind them.
    let followed = session.sync_with(&came, FrontEnd::known()).await?;
    session.set_fixed_overhead(came.tools().iter().map(|tool| CharsPer4.count_text(tool)).sum())?;
    let view = session.prepare().await?;
    // The model, the tools and all else that stands in the body stay as they came.
    let request = came.with_messages(&view.to_json_marked(Format::OpenAi)?)?;
    let answer = ask_provider(&request);
    if let Some(usage) = usage_from_json(Format::OpenAi, &answer) {
        session.report_usage(view.id(), &usage);
    }
    session.save().await?;
    println!(
        "{name}: {:?}; {} bytes came, {} messages of {} go out",
        followed.change,
        body.len(),
        view.len(),
        session.state().originals().len()
    );
    // What was answered comes back with the next request.
    Ok(answer)
}

/// Stands for the provider.
fn ask_provider(request: &str) -> String {
    let tokens = CharsPer4.count_text(request);
    format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{tokens},"completion_tokens":9}}}}"#)
}

/// Stands for the agent: the body of its nth request. It tells the time, and has no more than its newest eleven messages.
fn body(of: &str, nth: usize) -> String {
    let mut said = Vec::new();
    for page in 0..=nth {
        let text = format!("Page {page} of {of}: what follows is what it says. ").repeat(12);
        said.push(format!(r#"{{"role":"user","content":"{text}"}}"#));
        said.push(format!(r#"{{"role":"assistant","content":"Read, page {page} of {of}."}}"#));
    }
    // The last question has no answer yet.
    said.pop();
    let newest = said[said.len().saturating_sub(11)..].join(",");
    format!(
        r#"{{"model":"m","messages":[{{"role":"system","content":"It is {:02}:{:02}."}},{newest}]}}"#,
        9 + nth / 60,
        nth % 60
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let store: Arc<dyn SummaryStore> = Arc::new(MemoryStore::new());
    for nth in 0..60 {
        for of in ["the-log", "the-plan"] {
            forward(&store, of, &body(of, nth)).await?;
        }
    }
    Ok(())
}
