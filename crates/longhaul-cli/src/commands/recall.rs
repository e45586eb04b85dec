//! `longhaul recall`: the originals behind a summary or an id, or those that hold some words.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul::{
    store::Original,
    transcript::{SessionId, Span, SummaryId},
};

use crate::{
    archive::{Archive, full, json_line, span},
    args::RecallArgs,
    output::Target,
    paint::{Painter, plain},
};

pub(crate) fn run(args: &RecallArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = match args.session.as_str() {
        "all" => None,
        name => Some(archive.session(name)?),
    };
    let query = args.query.join(" ");
    let named = match &session {
        Some(session) => by_id(&archive, session, query.trim())?,
        None => None,
    };
    let found: Vec<(SessionId, Original)> = match (named, &session) {
        (Some(originals), Some(session)) => {
            originals.into_iter().map(|original| (session.clone(), original)).collect()
        }
        _ => {
            let hits = archive.wait(archive.store.search(session.as_ref(), &query, args.limit))?;
            let originals = hits.into_iter().map(|hit| {
                let original = Original { ordinal: hit.id.ordinal, at_ms: 0, message: Some(hit.message) };
                (hit.session, original)
            });
            originals.collect()
        }
    };
    if found.is_empty() {
        bail!("no message holds all the words of {:?}", plain(&query));
    }
    let painter = Painter::stdout();
    let mut out = String::new();
    for (from, original) in &found {
        if args.json {
            out.push_str(&json_line(from, original));
        } else {
            if session.is_none() {
                out.push_str(&format!("{}\n", painter.bold(from.as_str())));
            }
            out.push_str(&full(original));
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the originals that `id` names, where it is an id.
fn by_id(archive: &Archive, session: &SessionId, id: &str) -> Result<Option<Vec<Original>>> {
    if let Some(span) = span(id) {
        let originals = archive.wait(archive.store.originals(session, span))?;
        if originals.is_empty() {
            let held = archive.wait(archive.store.require(session))?.messages;
            bail!("{id} is beyond the end: session {session} has {held} messages, from m0");
        }
        return Ok(Some(originals));
    }
    // People paste the whole handle line.
    let id = id.rsplit_once("id:").map_or(id, |(_, id)| id.trim());
    if id.len() != 16 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let Some(record) = archive.wait(archive.store.record(session, &SummaryId(id.into())))? else {
        return Ok(None);
    };
    let mut originals = archive.wait(archive.store.originals(session, record.covers))?;
    let covered: Vec<u64> = record.covered.iter().map(|covered| covered.ordinal).collect();
    if !covered.is_empty() {
        let span = Span { start: covered[0], end: covered[covered.len() - 1] + 1 };
        originals = archive.wait(archive.store.originals(session, span))?;
        originals.retain(|original| covered.binary_search(&original.ordinal).is_ok());
    }
    Ok(Some(originals))
}
