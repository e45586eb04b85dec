//! `longhaul audit`: the log of a session, and whether every hash of it is right.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::{
    store::{EventKind, Verification},
    transcript::{SessionId, SummaryRecord},
};

use crate::{
    archive::{Archive, in_force, utc},
    args::AuditArgs,
    output::Target,
    paint::{GREEN, Painter, RED, counted, harmless_json},
};

pub(crate) fn run(args: &AuditArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let sessions = match &args.session {
        Some(name) => vec![archive.session(name)?],
        None => archive.wait(archive.store.sessions())?.into_iter().map(|info| info.session).collect(),
    };
    let (mut out, mut sound) = (String::new(), true);
    for session in &sessions {
        if args.verify {
            let verified = archive.wait(archive.store.verify(session))?;
            sound &= verified.is_intact();
            out.push_str(&match args.json {
                true => harmless_json(&serde_json::to_string(&verified)?),
                false => {
                    // What is damaged may have no chain that can be read.
                    words(&verified, archive.wait(archive.store.chain(session)).ok().as_deref())
                }
            });
        } else {
            events(&archive, session, args.json, &mut out)?;
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn words(verified: &Verification, chain: Option<&[SummaryRecord]>) -> String {
    let painter = Painter::stdout();
    let verdict = match &verified.problem {
        None => painter.paint(GREEN, "intact"),
        Some(problem) => painter.paint(RED, &format!("damaged: {problem}")),
    };
    let in_force = chain.map(|chain| format!(", {}", in_force(chain))).unwrap_or_default();
    let counts = format!(
        "{}: {verdict}; {}, {}, {} checked{in_force}, {} forgotten; last hash {}",
        verified.session,
        counted(verified.events, "event"),
        counted(verified.originals, "message"),
        counted(verified.records, "summary"),
        counted(verified.forgotten, "message"),
        verified.last_hash,
    );
    painter.hung("", &counts, "  ")
}

fn events(archive: &Archive, session: &SessionId, json: bool, out: &mut String) -> Result<()> {
    const AT_ONCE: usize = 256;
    let mut from = 0;
    if !json {
        out.push_str(&format!("{session}\n"));
    }
    loop {
        let events = archive.wait(archive.store.events(session, from, AT_ONCE))?;
        let Some(last) = events.last() else { return Ok(()) };
        from = last.seq + 1;
        for event in &events {
            if json {
                out.push_str(&harmless_json(&serde_json::to_string(event)?));
                continue;
            }
            let what = match &event.kind {
                EventKind::Opened { forked_from: Some(from) } => format!("as a fork of {}", from.session),
                EventKind::Originals { start, addresses, .. } => {
                    format!("m{start}-m{}", start + (addresses.len() as u64).saturating_sub(1))
                }
                EventKind::Compacted { record, covers, .. } => format!("{covers} into {record}"),
                EventKind::Undone { record }
                | EventKind::Withdrawn { record }
                | EventKind::Redone { record } => record.to_string(),
                EventKind::Restored { span } => span.to_string(),
                EventKind::Forgotten { originals, records, .. } => {
                    let spans = originals.iter().map(|span| format!("{span} destroyed"));
                    let records = records.iter().map(|record| format!("summary {record} destroyed"));
                    spans.chain(records).collect::<Vec<_>>().join(", ")
                }
                _ => String::new(),
            };
            let columns = format!(
                "  {:>5}  {}  {}  {:10} ",
                event.seq,
                utc(event.at_ms),
                event.hash.short(12),
                event.kind.name(),
            );
            out.push_str(&Painter::stdout().hung(&columns, &what, &" ".repeat(columns.len())));
        }
    }
}
