//! `longhaul history`: the summaries in force, and what was said since; in full with every message and the loss report.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::{
    Loss,
    store::{DamagedSummary, Original},
    transcript::{Message, SessionId, Span, SummaryId, SummaryRecord, Transcript},
};

use super::undo;
use crate::{
    archive::{Archive, full, in_force, line, utc},
    args::HistoryArgs,
    output::Target,
    paint::{Painter, counted, grouped, harmless_json, line_width, name, plain},
    store,
};

pub(crate) fn run(args: &HistoryArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.session.store)?;
    let session = archive.session_or_newest(args.session.session.as_deref())?;
    let state = archive.wait(archive.store.require(&session))?;
    let summaries = archive.wait(archive.store.summaries(&session))?;
    let chain: Vec<_> = summaries.iter().flatten().cloned().collect();
    let damaged = || summaries.iter().filter_map(|summary| summary.as_ref().err());
    let summarized = chain.last().map_or(0, |record| record.covers.end).min(state.messages);
    let start = if args.full { 0 } else { summarized };
    let span = Span { start, end: state.messages };
    let originals = archive.originals(&session, span)?;
    let is_whole = damaged().next().is_none() && originals.iter().all(|original| !original.is_changed);
    let done = if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if args.session.json {
        let messages: Vec<_> = originals
            .iter()
            .map(|original| serde_json::json!({ "ordinal": original.ordinal, "message": original.message }))
            .collect();
        let mut value = serde_json::json!({
            "version": 1,
            "session": session,
            "summaries": chain,
            "undone": state.undone,
            "messages": messages,
        });
        if damaged().next().is_some() {
            let told = |damaged: &DamagedSummary| serde_json::json!({ "id": damaged.id, "error": damaged.error.to_string() });
            value["damaged_summaries"] = damaged().map(told).collect();
        }
        if args.full {
            value["loss"] = serde_json::to_value(loss(&originals, &chain))?;
        }
        Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())?;
        return Ok(done);
    }
    let painter = Painter::stdout();
    let held = format!(
        " {}, {}{}{}",
        counted(state.messages, "message"),
        counted(summaries.len() as u64, "summary"),
        if chain.len() > 1 { format!(", {}", in_force(&chain)) } else { " in force".to_owned() },
        taken_back(&archive, &session, &state.undone)?,
    );
    let mut out = painter.hung(&format!("{}:", painter.bold(session.as_str())), &held, "  ");
    for summary in &summaries {
        match summary {
            Ok(record) => {
                out.push_str(&heading(record, painter));
                out.push_str(&headed(&painter.folded(&plain(&record.text)), painter));
            }
            Err(DamagedSummary { id, error }) => {
                let title = painter.bold(&format!("Summary {id}"));
                let told = format!("cannot be shown: {}", plain(&error.to_string()));
                out.push_str(&format!("\n{title}\n{}", painter.hung("", &told, "  ")));
            }
        }
    }
    if args.full && !chain.is_empty() {
        out.push_str(&report(&originals, &chain, session.as_str(), painter));
    }
    if !originals.is_empty() {
        let title = if args.full { "Every message" } else { "Since then" };
        out.push_str(&format!("\n{}\n", painter.bold(title)));
    }
    for some in originals.chunk_by(|one, next| is_forgotten(one) && is_forgotten(next)) {
        match some {
            [first, .., last] => out.push_str(&format!("m{}-m{} (forgotten)\n", first.ordinal, last.ordinal)),
            [original] if args.full => out.push_str(&painter.flowed(&full(original))),
            [original] => out.push_str(&format!("{}\n", line(original))),
            [] => {}
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    Ok(done)
}

/// Returns what is said of the summaries that were `undone`: `redo` puts none back where the file of the next one was put back.
fn taken_back(archive: &Archive, session: &SessionId, undone: &[SummaryId]) -> Result<String> {
    let Some(next) = undone.last() else { return Ok(String::new()) };
    Ok(match (undo::back_in_place(archive, session, next)?, undone.len()) {
        (None, n) => format!(", {n} that `redo` puts back"),
        (Some(_), 1) => ", 1 taken back with its file".to_owned(),
        (Some(_), n) => format!(", {n} taken back with their file"),
    })
}

fn is_forgotten(original: &Original) -> bool {
    original.message.is_none() && !original.is_changed
}

/// Returns a summary with its headings in bold.
fn headed(summary: &str, painter: Painter) -> String {
    let line = |line: &str| match line.starts_with("## ") {
        true => format!("{}\n", painter.bold(line)),
        false => format!("{line}\n"),
    };
    summary.lines().map(line).collect()
}

fn heading(record: &SummaryRecord, painter: Painter) -> String {
    let title = format!("Summary {} of {}", record.id, record.covers);
    let how = format!(
        "depth {}, by {}, {} → {} tokens, {}",
        record.depth,
        record.mode.as_str(),
        grouped(record.tokens_before.0),
        grouped(record.tokens_after.0),
        utc(record.created_at_ms),
    );
    format!("\n{}\n{}", painter.bold(&title), painter.hung("", &how, "  "))
}

/// Returns what `chain` takes out of sight of all originals.
fn loss(originals: &[Original], chain: &[SummaryRecord]) -> Loss {
    let message = |original: &Original| original.message.clone().unwrap_or_else(|| Message::user(""));
    let said: Transcript = originals.iter().map(message).collect();
    Loss::of(said.entries(), chain)
}

/// Returns the loss report: by class what is visible, what is recoverable and by which handle, and what is gone.
fn report(originals: &[Original], chain: &[SummaryRecord], session: &str, painter: Painter) -> String {
    let mut out =
        format!("\n{}\n", painter.bold("Visible in the last summary and beside it, and where the rest is"));
    for (class, loss) in &loss(originals, chain).classes {
        let named =
            loss.hidden.iter().take(NAMED).map(|fact| format!("{} (m{})", name(&fact.name), fact.message));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if loss.hidden.len() > NAMED {
            named.push_str(&format!(" and {} more", grouped((loss.hidden.len() - NAMED) as u64)));
        }
        let (kept, total) = (grouped(loss.seen.kept), grouped(loss.seen.total));
        let named = if named.is_empty() { named } else { format!("; recoverable: {named}") };
        let line = painter.short_words(&format!("{class:8} {kept:>6} of {total}{named}"), line_width() - 4);
        out.push_str(&painter.hung("  ", &line, "    "));
    }
    out.push_str(&painter.with_whole(
        "",
        "Each comes back with",
        &format!("longhaul recall {session} mN{}", store::flags()),
    ));
    out.push_str("--json names all of them\n");
    let forgotten = originals.iter().filter(|original| is_forgotten(original)).count();
    out.push_str(&match forgotten {
        0 => "Gone: nothing\n".to_owned(),
        n => painter.hung(
            "",
            &format!(
                "Gone: what stood only in {} forgotten on purpose (`longhaul audit{}` tells)",
                counted(n as u64, "message"),
                store::flags()
            ),
            "  ",
        ),
    });
    out
}

/// How many facts of a class are named on the screen.
const NAMED: usize = 5;
