//! `longhaul diff`: the loss report. What the last compaction took out, what of it is still visible, how it comes back.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul::transcript::{SessionId, Span, SummaryRecord};

use crate::{
    archive::{Archive, line},
    args::SessionArgs,
    exit,
    output::Target,
    paint::{Painter, counted, grouped, harmless_json},
    store,
};

pub(crate) fn run(args: &SessionArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = archive.session_or_newest(args.session.as_deref())?;
    let state = archive.wait(archive.store.require(&session))?;
    let Some(record) = newest(&archive, &session)? else {
        bail!("no compaction of session {session} is in force: nothing was taken out");
    };
    let taken_out: Vec<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
    let span = Span { start: 0, end: state.messages };
    let originals = archive.originals(&session, span)?;
    let out_of_view: Vec<_> =
        originals.iter().filter(|original| taken_out.binary_search(&original.ordinal).is_ok()).collect();
    let without_message = |is_changed: bool| -> Vec<u64> {
        let of_those = out_of_view.iter().filter(|original| original.message.is_none());
        of_those
            .filter(|original| original.is_changed == is_changed)
            .map(|original| original.ordinal)
            .collect()
    };
    let (gone, changed) = (without_message(false), without_message(true));
    if args.json {
        let value = serde_json::json!({
            "version": 1,
            "session": session,
            "summary": record.id,
            "covers": record.covers,
            "taken_out": taken_out,
            "kept": originals.len() - out_of_view.len(),
            "gone": gone,
            "changed": changed,
            "survival": record.survival,
            "tokens_before": record.tokens_before,
            "tokens_after": record.tokens_after,
        });
        Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let painter = Painter::stdout();
    let mut out =
        painter.hung(&painter.bold(&format!("Summary {}", record.id)), &format!(" of {session}"), "  ");
    out.push_str(&format!(
        "{} → {} tokens\n",
        grouped(record.tokens_before.0),
        grouped(record.tokens_after.0)
    ));
    out.push_str(&format!("\n{}\n", painter.bold("Visible in the summary and the kept messages")));
    for (class, survival) in record.survival.iter().filter(|(_, survival)| survival.total > 0) {
        out.push_str(&format!("  {class:14} {:>6} of {}\n", survival.kept, survival.total));
    }
    let recoverable = painter.bold(&format!(
        "Recoverable: {}",
        counted((out_of_view.len() - gone.len() - changed.len()) as u64, "message")
    ));
    out.push_str(&format!("\n{recoverable}\n"));
    let (flags, id) = (store::flags(), &record.id);
    out.push_str(&painter.with_whole("  ", "each:", &format!("longhaul recall {session} mN{flags}")));
    out.push_str(&painter.with_whole("  ", "all: ", &format!("longhaul recall {session} {id}{flags}")));
    for original in &out_of_view {
        out.push_str(&format!("{}\n", line(original)));
    }
    out.push('\n');
    if !changed.is_empty() {
        let n = counted(changed.len() as u64, "message");
        out.push_str(&painter.hung(
            &painter.bold(&format!("Changed in the store: {n},")),
            &format!(" not what was written (`longhaul audit {session} --verify{flags}`)"),
            "  ",
        ));
    }
    match gone.len() {
        0 => out.push_str(&format!("{}\n", painter.bold("Gone: nothing"))),
        n => out.push_str(&painter.hung(
            &painter.bold(&format!("Gone: {},", counted(n as u64, "message"))),
            &format!(" forgotten on purpose (`longhaul audit {session}{flags}`)"),
            "  ",
        )),
    }
    Target::Stdout.put(out.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the summary in force, or the newest one before it that is not damaged, which is told.
fn newest(archive: &Archive, session: &SessionId) -> Result<Option<SummaryRecord>> {
    let error = match archive.wait(archive.store.head(session)) {
        Ok(head) => return Ok(head),
        Err(error) => error,
    };
    let summaries = archive.wait(archive.store.summaries(session))?;
    let Some(record) = summaries.into_iter().rev().find_map(Result::ok) else { return Err(error) };
    say!("{}; what follows is of the summary before it", exit::words(&error));
    Ok(Some(record))
}
