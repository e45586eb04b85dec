//! `longhaul undo`, `redo` and `restore`: the way back.

use std::{path::Path, process::ExitCode};

use anyhow::{Context as _, Result};
use longhaul::transcript::{SessionId, SummaryId};

use crate::{
    archive::{Archive, full, json_line, required_span},
    args::{RestoreArgs, SessionArgs},
    clock,
    exit::NOTHING_TO_DO,
    output::Target,
    paint::{self, Painter, harmless_json},
    say,
    store::{Back, Replaced},
};

pub(crate) fn undo(args: &SessionArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let session = archive.session_or_newest(args.session.as_deref())?;
    // A file that cannot be put back would no longer be what the store says of it.
    if let Some(head) = archive.wait(archive.store.require(&session))?.head()
        && let Some(trace) = archive.trace(head)?
    {
        trace.files.iter().try_for_each(Replaced::must_be_unlocked).context("nothing was taken back")?;
    }
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
            "undone" => {
                if let Err(error) = put_back(&file) {
                    // Then the compaction is still in force, there and here.
                    archive.wait(archive.store.redo(session, clock::now_ms()))?;
                    return Err(error.context("nothing was taken back"));
                }
            }
            _ if file.is_as_before() => say!("{} stays as it is; compact it again", shown(&file.path)),
            _ => {}
        }
    }
    for made in trace.made.iter().filter(|path| done == "undone" && path.exists()) {
        say!("{} was written by it and stays", shown(made));
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the file that the compaction replaced back as it was, or says why not.
fn put_back(file: &Replaced) -> Result<()> {
    let path = shown(&file.path);
    let back = file.put_back()?;
    let was = file.where_it_was();
    match (back, was) {
        (Back::Restored, _) => say!("{path} is as it was before, byte for byte"),
        (Back::Changed, Some(was)) => {
            say::with_whole(
                &format!("{path} was changed since and stays as it is; as it was before it is"),
                &was,
            );
        }
        (Back::Gone, Some(was)) => {
            say::with_whole(&format!("{path} is not there any more; as it was before it is"), &was);
        }
        (Back::NoBackup | Back::Changed | Back::Gone, _) => {
            let kept = paint::path(&file.backup);
            say!("{path} stays as it is: what it was is not there any more, or was changed");
            say::with_whole("it was", &kept);
        }
    }
    Ok(())
}

/// Returns the path of a file that is only told of.
fn shown(path: &Path) -> String {
    const ROOM: usize = 50;
    Painter::stderr().short(&paint::path(path), ROOM)
}
