//! `longhaul history`: the summaries in force, and what was said since.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::transcript::{Span, SummaryRecord};

use crate::{
    archive::{Archive, full, line, utc},
    args::HistoryArgs,
    output::Target,
    paint::{Painter, grouped, plain},
};

pub(crate) fn run(args: &HistoryArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.session.store)?;
    let session = archive.session(&args.session.session)?;
    let state = archive.wait(archive.store.require(&session))?;
    let chain = archive.wait(archive.store.chain(&session))?;
    let summarized = chain.last().map_or(0, |record| record.covers.end).min(state.messages);
    let start = if args.full { 0 } else { summarized };
    let span = Span { start, end: state.messages };
    let originals = archive.wait(archive.store.originals(&session, span))?;
    if args.session.json {
        let messages: Vec<_> = originals
            .iter()
            .map(|original| serde_json::json!({ "ordinal": original.ordinal, "message": original.message }))
            .collect();
        let value = serde_json::json!({
            "version": 1,
            "session": session,
            "summaries": chain,
            "undone": state.undone,
            "messages": messages,
        });
        Target::Stdout.put(format!("{value}\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let painter = Painter::stdout();
    let mut out = format!(
        "{}: {} messages, {} summaries in force{}\n",
        painter.bold(session.as_str()),
        grouped(state.messages),
        chain.len(),
        if state.undone.is_empty() { String::new() } else { format!(", {} taken back", state.undone.len()) },
    );
    for record in &chain {
        out.push_str(&heading(record, painter));
        out.push_str(&plain(&record.text));
        out.push('\n');
    }
    if !originals.is_empty() {
        let title = if args.full { "Every message" } else { "Since then" };
        out.push_str(&format!("\n{}\n", painter.bold(title)));
    }
    for original in &originals {
        match args.full {
            true => out.push_str(&full(original)),
            false => out.push_str(&format!("{}\n", line(original))),
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn heading(record: &SummaryRecord, painter: Painter) -> String {
    let title = format!("Summary {} of {}", record.id, record.covers);
    format!(
        "\n{}, depth {}, by {}, {} → {} tokens, {}\n",
        painter.bold(&title),
        record.depth,
        record.mode.as_str(),
        grouped(record.tokens_before.0),
        grouped(record.tokens_after.0),
        utc(record.created_at_ms),
    )
}
