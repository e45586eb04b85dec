//! A front end that hands over its whole history with each request, as an editor's plugin does, and what stands between it and the
//! provider: the session follows the history, and what goes on to the model is the same request with the view in its place.
//!
//! This client names no conversation: which one a history goes on with is found by what it says. Where yours names it, open the session of
//! that name and call `sync_with(…, FrontEnd::known())`: that is shorter, and follows also who tells the time in the instructions or
//! hands in the newest messages only.
//!
//! `cargo run -p longhaul --features wire --example front_end`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, sync::Arc};

use longhaul::{
    Session,
    redact::Redactor,
    store::{History, Kin, MemoryStore, SummaryStore, locate},
    tokens::{CharsPer4, ContextWindow, TokenCounter as _},
    transcript::{SessionId, Tokens},
    wire::{Document, Format, read, usage_from_json},
};

type Store = Arc<dyn SummaryStore>;

/// Answers one request: what the front end sends comes in, what the provider answers goes back. Nothing is kept between two
/// requests but in the store.
async fn forward(
    store: &Store,
    format: Format,
    id: &SessionId,
    body: &str,
    now_ms: i64,
) -> Result<String, Box<dyn Error>> {
    let came = read(Some(format), body.as_bytes())?;
    let mut session = session_of(store, id, &came, now_ms).await?;
    let followed = session.sync(&came).await?;
    session.set_fixed_overhead(came.tools().iter().map(|tool| CharsPer4.count_text(tool)).sum())?;
    let view = session.prepare().await?;
    // The model, the tools and all else that stands in the body stay as they came.
    let request = came.with_messages(&view.to_json_marked(format)?)?;
    let answer = ask_provider(format, &request);
    if let Some(usage) = usage_from_json(format, &answer) {
        session.report_usage(view.id(), &usage);
    }
    session.save().await?;
    println!(
        "{}: {:?}, {} bytes came, {} go out",
        session.line(),
        followed.change,
        body.len(),
        request.len()
    );
    // What was answered comes back with the next history.
    Ok(answer)
}

/// Opens the session of the stored conversation that a history goes on with, or a new one.
async fn session_of(
    store: &Store,
    id: &SessionId,
    came: &Document,
    now_ms: i64,
) -> Result<Session, Box<dyn Error>> {
    let messages: Vec<_> = (0..).map_while(|ordinal| came.spelled(ordinal)).collect();
    let said = Redactor::builtin().redact_conversation(&messages);
    // Without an id a history is found by what it says. Instructions count as said: where they change with each request (a clock in
    // them), each would be a branch from the first message on; keep the session open then, whose `sync` takes them as the same.
    let place = locate(store, &History { id: Some(id), named: None, said: &said }).await?;
    // Whoever edits an earlier message goes another way from there on; what was said before stays a conversation of its own. That it
    // was edited is told by `place.kin`: `sync` finds what was entered here, and tells of no change. A history without its beginning
    // branches at its first message, and one that is worded otherwise (reasoning left out, old results cleared) where that begins; a
    // front end that does so is followed by a session that stays open, or is opened by the id that the front end gives.
    if let Kin::Branch { .. } = place.kin {
        place.enter(store, &said, now_ms).await?;
    }
    let window = ContextWindow::new(Tokens(5_000), Tokens(1_000));
    Ok(Session::builder(place.session, window).store(Arc::clone(store)).open_line().await?)
}

/// Stands for the provider.
fn ask_provider(format: Format, request: &str) -> String {
    let tokens = CharsPer4.count_text(request);
    match format {
        Format::OpenAi => {
            format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{tokens},"completion_tokens":9}}}}"#)
        }
        _ => format!(r#"{{"output":[],"content":[],"usage":{{"input_tokens":{tokens},"output_tokens":9}}}}"#),
    }
}

/// Stands for the front end: the body of its nth request, in which the second question was edited or was not.
fn body(format: Format, nth: usize, is_edited: bool) -> String {
    let ask = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let mut said = Vec::new();
    for module in 0..nth {
        let word = if is_edited && module > 0 { "Explain" } else { "What does it do:" };
        let code = format!("fn step_{module}() {{ advance(); }}\\n").repeat(40);
        said.push(ask(&format!("{word} src/module_{module}.rs\\n{code}")));
        said.push(format!(r#"{{"role":"assistant","content":"It advances, in step_{module}."}}"#));
    }
    // The last question has no answer yet.
    said.pop();
    let said = said.join(",");
    match format {
        Format::OpenAi => format!(r#"{{"model":"m","messages":[{said}],"stream":false}}"#),
        Format::Responses => format!(r#"{{"model":"m","instructions":"Be careful.","input":[{said}]}}"#),
        _ => format!(r#"{{"model":"m","system":"Be careful.","messages":[{said}],"max_tokens":999}}"#),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let store: Store = Arc::new(MemoryStore::new());
    for format in [Format::OpenAi, Format::Responses, Format::Anthropic] {
        let id = SessionId::new(&format!("editor-{format}"))?;
        for nth in [1, 4, 16, 17] {
            forward(&store, format, &id, &body(format, nth, false), nth as i64).await?;
        }
        // Somebody edits the second question, and goes on with both conversations.
        forward(&store, format, &id, &body(format, 5, true), 18).await?;
        forward(&store, format, &id, &body(format, 18, false), 19).await?;
        forward(&store, format, &id, &body(format, 16, true), 20).await?;
    }
    Ok(())
}
