//! `longhaul undo`, `redo` and `restore`: the way back.

use std::process::ExitCode;

use anyhow::Result;
use longhaul::transcript::{SessionId, SummaryId};

use crate::{
    archive::{Archive, full, json_line, required_span},
    args::{RestoreArgs, SessionArgs},
    clock,
    exit::NOTHING_TO_DO,
    output::Target,
    paint::harmless_json,
    store::{Back, Replaced},
};

pub(crate) fn undo(args: &SessionArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = archive.session_or_newest(args.session.as_deref())?;
    let undone = archive.wait(archive.store.undo(&session, clock::now_ms()))?;
    tell(args, &archive, &session, "undone", undone, "no compaction is in force: there is nothing to undo")
}

pub(crate) fn redo(args: &SessionArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = archive.session_or_newest(args.session.as_deref())?;
    let redone = archive.wait(archive.store.redo(&session, clock::now_ms()))?;
    tell(args, &archive, &session, "redone", redone, "no compaction was taken back: there is nothing to redo")
}

pub(crate) fn restore(args: &RestoreArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = archive.session(&args.session)?;
    let span = required_span(&args.range)?;
    let originals = archive.wait(archive.store.restore(&session, span, clock::now_ms()))?;
    let shown = originals.iter().map(|original| match args.json {
        true => json_line(&session, original),
        false => full(original),
    });
    Target::Stdout.put(shown.collect::<String>().as_bytes())?;
    say!("{} messages of {session} restored", originals.len());
    Ok(ExitCode::from(if originals.is_empty() { NOTHING_TO_DO } else { 0 }))
}

/// Says which record was taken back or put back, and what is in force now.
fn tell(
    args: &SessionArgs,
    archive: &Archive,
    session: &SessionId,
    done: &str,
    record: Option<SummaryId>,
    nothing: &str,
) -> Result<ExitCode> {
    let state = archive.wait(archive.store.require(session))?;
    if args.json {
        let value =
            serde_json::json!({ "version": 1, "session": session, done: record, "head": state.head() });
        Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())?;
    }
    let Some(record) = record else {
        say!("{nothing}");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    };
    let now = match state.head() {
        Some(head) => format!("summary {head} is in force"),
        None => "no summary is in force: the whole conversation is".to_owned(),
    };
    let is_replaced = |id: &SummaryId| !state.chain.contains(id) && !state.undone.contains(id);
    let replaced = match done {
        "undone" => {
            let all = archive.wait(archive.store.records(session))?;
            all.iter().filter(|entry| !entry.is_forgotten && is_replaced(&entry.id)).count()
        }
        _ => 0,
    };
    let earlier = match replaced {
        0 => "",
        1 => "; an earlier compaction was replaced by later ones and does not come back",
        _ => "; earlier compactions were replaced by later ones and do not come back",
    };
    say!("summary {record} {done}; {now}{earlier}");
    let Some(trace) = archive.trace(&record)? else { return Ok(ExitCode::SUCCESS) };
    for file in trace.files {
        match done {
            "undone" => put_back(&file)?,
            _ if file.is_as_before() => say!("{} stays as it is; compact it again", file.path.display()),
            _ => {}
        }
    }
    for made in trace.made.iter().filter(|path| done == "undone" && path.exists()) {
        say!("{} was written by it and stays", made.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the file that the compaction replaced back as it was, or says why not.
fn put_back(file: &Replaced) -> Result<()> {
    let (path, backup) = (file.path.display(), file.backup.display());
    match file.put_back()? {
        Back::Restored => say!("{path} is as it was before, byte for byte"),
        Back::Changed => say!("{path} was changed since and stays as it is; as it was before it is {backup}"),
        Back::NoBackup => say!("{path} stays as it is: {backup} is not there any more, or was changed"),
        Back::Gone => say!("{path} is not there any more; as it was before it is {backup}"),
    }
    Ok(())
}
