//! `longhaul undo`, `redo` and `restore`: the way back.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use longhaul::transcript::{SessionId, SummaryId};

use crate::{
    archive::{Archive, full, json_line, required_span},
    args::{ChangedArgs, RestoreArgs, UndoArgs},
    clock,
    exit::NOTHING_TO_DO,
    output::{Lock, Target},
    paint::{self, Painter, harmless_json},
    say,
    store::{Replaced, Standing},
};

/// Takes the last compaction back: first in the file, then in the store. Whoever is killed in between finds the file as it was
/// and says it again.
pub(crate) fn undo(args: &UndoArgs) -> Result<ExitCode> {
    let archive = Archive::to_change(&args.session.store)?;
    let session = archive.session_to_change(args.session.session.as_deref())?;
    let Some(last) = InEffect::last(&archive, &session, args.keep_file)? else {
        tell_json(&args.session, &archive, &session, "undone", None)?;
        say!("no compaction is in force: there is nothing to undo");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    };
    if last.is_head {
        // The store is asked before a file is touched.
        archive.wait(archive.store.to_undo(&session))?;
    }
    let _lock = last.file.as_ref().map(|file| Lock::of(&file.path)).transpose()?;
    if let Some(file) = &last.file {
        put_back(file, &session).context("nothing was taken back")?;
    }
    if last.is_head && last.others.is_empty() {
        archive.wait(archive.store.take_back(&session, &last.record, clock::now_ms()))?;
    }
    tell_json(&args.session, &archive, &session, "undone", Some(&last.record))?;
    tell_undone(&archive, &session, &last)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn redo(args: &ChangedArgs) -> Result<ExitCode> {
    let archive = Archive::to_change(&args.store)?;
    let session = archive.session_to_change(args.session.as_deref())?;
    let redone = archive.wait(archive.store.redo(&session, clock::now_ms()))?;
    tell_json(args, &archive, &session, "redone", redone.as_ref())?;
    let Some(record) = redone else {
        say!("no compaction was taken back: there is nothing to redo");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    };
    say!("summary {record} is in force again");
    let files = archive.trace(&record)?.map_or_else(Vec::new, |trace| trace.files);
    for file in files.iter().filter(|file| file.is_of(&session) && file.standing() == Standing::AsBefore) {
        say!(
            "{} is not compacted by this and stays as it is: `longhaul compact` does that",
            shown(&file.path)
        );
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn restore(args: &RestoreArgs) -> Result<ExitCode> {
    let archive = Archive::to_change(&args.store)?;
    let session = archive.session(&args.session)?;
    let span = required_span(&args.range)?;
    let originals = archive.wait(archive.store.restore(&session, span, clock::now_ms()))?;
    let shown = originals.iter().map(|original| match args.json {
        true => json_line(&session, original),
        false => full(original),
    });
    Target::Stdout.put(shown.collect::<String>().as_bytes())?;
    say!("{} of {session} restored", paint::counted(originals.len() as u64, "message"));
    Ok(ExitCode::from(if originals.is_empty() { NOTHING_TO_DO } else { 0 }))
}

/// A compaction that is in effect: in force in the store, in a file, or both.
#[derive(Debug)]
struct InEffect {
    record: SummaryId,
    /// It is the one in force.
    is_head: bool,
    /// The file that it replaced last: the one that goes back. None where none is to.
    file: Option<Replaced>,
    /// Other files that stand as it left them. One step puts one file back.
    others: Vec<Replaced>,
    /// The files that were not there before.
    made: Vec<PathBuf>,
}

impl InEffect {
    /// Returns the newest compaction of the session that is in effect. A file may be as a compaction left it that is not in
    /// force: another took its place, or somebody was killed on the way back.
    fn last(archive: &Archive, session: &SessionId, keep_file: bool) -> Result<Option<InEffect>> {
        let state = archive.wait(archive.store.require(session))?;
        let records = archive.wait(archive.store.records(session))?;
        for entry in records.into_iter().rev().filter(|entry| !entry.is_forgotten) {
            let is_head = state.head() == Some(&entry.id);
            if !is_head && (keep_file || state.chain.contains(&entry.id)) {
                continue;
            }
            let trace = archive.trace(&entry.id)?;
            let (files, made) = trace.map_or_else(Default::default, |trace| (trace.files, trace.made));
            let files: Vec<Replaced> = files.into_iter().filter(|file| file.is_of(session)).collect();
            if is_head || files.iter().any(Replaced::is_compacted) {
                let files = if keep_file { Vec::new() } else { files };
                return Ok(Some(InEffect::of(entry.id, is_head, files, made)));
            }
        }
        Ok(None)
    }

    fn of(record: SummaryId, is_head: bool, files: Vec<Replaced>, made: Vec<PathBuf>) -> InEffect {
        let mut files: Vec<(Replaced, Standing)> = files
            .into_iter()
            .map(|file| {
                let standing = file.standing();
                (file, standing)
            })
            .collect();
        let newest = |is: fn(&Standing) -> bool| files.iter().rposition(|(_, standing)| is(standing));
        // What cannot be put back is told of where nothing can.
        let at = newest(|standing| *standing == Standing::Compacted)
            .or_else(|| newest(|standing| *standing == Standing::Changed))
            .or_else(|| newest(|_| true));
        let file = at.map(|at| files.remove(at).0);
        let is_left = |(file, standing): &(Replaced, Standing)| match standing {
            Standing::Compacted => true,
            Standing::Changed => file.is_transcript,
            _ => false,
        };
        let others = files.into_iter().filter(is_left).map(|(file, _)| file).collect();
        InEffect { record, is_head, file, others, made }
    }
}

/// Puts the file back as it was before the compaction; where there is nothing to put back, says why.
///
/// # Errors
/// Where it has the compaction in it and cannot be put back: then the store is to say so, too.
fn put_back(file: &Replaced, session: &SessionId) -> Result<()> {
    let path = shown(&file.path);
    let was = || file.where_it_was().unwrap_or_else(|| "nowhere any more".to_owned());
    match file.standing() {
        Standing::Compacted => file.put_back().with_context(|| format!("{path} cannot be put back"))?,
        Standing::AsBefore => {}
        Standing::Changed if file.is_transcript => bail!(
            "{path} was written to since, which would be lost; as it was before it is {}. `longhaul undo {session} --keep-file` \
             takes the record alone back",
            was()
        ),
        Standing::Changed => {
            let words = format!("{path} was changed since and stays as it is; as it was before it is");
            say::with_whole(&words, &was());
            return Ok(());
        }
        Standing::WithoutIt => {
            say!("{path} was written to since, but not behind that compaction, and stays as it is");
            return Ok(());
        }
        Standing::Gone => {
            say::with_whole(&format!("{path} is not there any more; as it was before it is"), &was());
            return Ok(());
        }
    }
    say!("{path} is as it was before, byte for byte");
    Ok(())
}

/// Says what was taken back, and what is in effect now.
fn tell_undone(archive: &Archive, session: &SessionId, done: &InEffect) -> Result<()> {
    let record = &done.record;
    if let Some(other) = done.others.last() {
        say!(
            "summary {record} stays in force: {} has it, too; `longhaul undo {session}` again takes that back",
            shown(&other.path)
        );
        return Ok(());
    }
    let what = match done.is_head {
        true => format!("summary {record} undone"),
        false => format!("summary {record} was not in force any more"),
    };
    let state = archive.wait(archive.store.require(session))?;
    let left = InEffect::last(archive, session, false)?;
    let left = left.filter(|left| !left.is_head).and_then(|left| Some((left.file?, left.record)));
    let now = match (state.head(), &left) {
        (Some(head), _) => format!("summary {head} is in force"),
        (None, None) => "no summary is in force: the whole conversation is".to_owned(),
        (None, Some(_)) => "no summary is in force in the store".to_owned(),
    };
    let all = archive.wait(archive.store.records(session))?;
    let is_replaced =
        |id: &SummaryId| !state.chain.contains(id) && !state.undone.contains(id) && id != record;
    let replaced = all.iter().filter(|entry| !entry.is_forgotten && is_replaced(&entry.id)).count();
    let earlier = match replaced {
        _ if left.is_some() => "",
        0 => "",
        1 => "; an earlier compaction was replaced by later ones and does not come back",
        _ => "; earlier compactions were replaced by later ones and do not come back",
    };
    say!("{what}; {now}{earlier}");
    if let Some((file, record)) = left {
        say!(
            "{} is still compacted, by the earlier summary {record}: `longhaul undo {session}` again puts it back",
            shown(&file.path)
        );
    }
    for made in done.made.iter().filter(|path| path.exists()) {
        say!("{} was written by it and stays", shown(made));
    }
    Ok(())
}

/// Prints what was taken back or put back, and what is in force now, where that is asked for.
fn tell_json(
    args: &ChangedArgs,
    archive: &Archive,
    session: &SessionId,
    done: &str,
    record: Option<&SummaryId>,
) -> Result<()> {
    if !args.json {
        return Ok(());
    }
    let state = archive.wait(archive.store.require(session))?;
    let value = serde_json::json!({ "version": 1, "session": session, done: record, "head": state.head() });
    Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())
}

/// Returns the path of a file that is only told of.
fn shown(path: &Path) -> String {
    const ROOM: usize = 50;
    Painter::stderr().short(&paint::path(path), ROOM)
}
