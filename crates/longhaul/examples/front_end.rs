//! A front end that hands over its whole history with each request, as an editor's plugin or a proxy does: the session follows it,
//! and what goes to the model is the view in place of the history.
//!
//! `cargo run -p longhaul --features wire --example front_end`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use longhaul::{
    Session,
    tokens::ContextWindow,
    transcript::{SessionId, Tokens},
    wire::{Format, read},
};

/// Stands for the front end: the body of its nth request.
fn history(nth: usize) -> String {
    let mut said = vec![r#"{"role":"system","content":"You are a careful engineer."}"#.to_owned()];
    for module in 0..nth {
        let code = format!("fn step_{module}() {{ advance(); }}\\n").repeat(40);
        said.push(format!(r#"{{"role":"user","content":"What does src/module_{module}.rs do?\n{code}"}}"#));
        said.push(format!(r#"{{"role":"assistant","content":"It advances, in step_{module}."}}"#));
    }
    said.push(r#"{"role":"user","content":"And the next one?"}"#.to_owned());
    format!("[{}]", said.join(","))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let window = ContextWindow::new(Tokens(8_000), Tokens(1_000));
    // One session for each conversation of the front end's. Where its histories bear no id, `longhaul::store::locate` finds the
    // stored conversation that one goes on with.
    let mut session = Session::builder(SessionId::new("front-end")?, window).build()?;
    for nth in 1..=16 {
        let body = history(nth);
        let followed = session.sync(&read(Some(Format::OpenAi), body.as_bytes())?).await?;
        let view = session.prepare().await?;
        // This is what is sent. What the front end keeps is its own: the next history comes whole again.
        let request = view.to_json(Format::OpenAi)?;
        println!(
            "request {nth}: {:?}, {} bytes came, {} go out",
            followed.change,
            body.len(),
            request.json.len()
        );
    }
    Ok(())
}
