//! `longhaul undo`, `redo` and `restore`: the way back.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use longhaul::{
    store::Original,
    transcript::{SessionId, SummaryId, SummaryRecord},
};
use serde_json::{Value, json};

use crate::{
    archive::{Archive, full, json_line, required_span, tell_changed},
    args::{ChangedArgs, RestoreArgs, UndoArgs},
    clock,
    exit::{FAILURE, Impossible, NOTHING_TO_DO},
    output::{Lock, Over, Target, why_read_only},
    paint::{self, Painter, harmless_json, plain},
    say,
    store::{self, Replaced, Standing},
};

/// Takes the last compaction back: first in the file, then in the store. Whoever is killed in between finds the file as it was
/// and says it again.
pub(crate) fn undo(args: &UndoArgs) -> Result<ExitCode> {
    let archive = Archive::to_change(&args.session.store)?;
    let named = archive.session_to_change(args.session.session.as_deref())?;
    let session = holder_of_newest(&archive, named, args.keep_file)?;
    let Some(last) = InEffect::last(&archive, &session, args.keep_file)? else {
        tell_json(&args.session, &archive, &session, json!({ "undone": null, "file": null }))?;
        say!("no compaction is in force: there is nothing to undo");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    };
    if last.is_head {
        // The store is asked before a file is touched.
        archive.wait(archive.store.to_undo(&session))?;
    }
    let _lock = last.file.as_ref().map(|file| Lock::of(&file.path)).transpose()?;
    let over = if args.force { Over::Anything } else { Over::Unlocked };
    let put_back =
        |file: &Replaced| put_back(&archive, file, over, &last, &session).context("nothing was taken back");
    let is_back = last.file.as_ref().map(put_back).transpose();
    // What goes with the agent's own words is told also where nothing goes back.
    if let Some(file) = &last.file {
        tell_left_behind(&archive, &session, &file.path);
    }
    let is_back = is_back?.unwrap_or_default();
    let file = last.file.as_ref().filter(|_| is_back).map(|file| &file.path);
    let undone = Some(&last.record).filter(|_| last.is_head && last.others.is_empty());
    if undone.is_some() {
        archive.wait(archive.store.take_back(&session, &last.record, clock::now_ms()))?;
    }
    tell_json(&args.session, &archive, &session, json!({ "undone": undone, "file": file }))?;
    tell_undone(&archive, &session, &last)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn redo(args: &ChangedArgs) -> Result<ExitCode> {
    let archive = Archive::to_change(&args.store)?;
    let session = holder_of_undone(&archive, archive.session_to_change(args.session.as_deref())?)?;
    let taken_back = last_undone(&archive, &session)?;
    if let Some(record) = &taken_back {
        must_stand_compacted(&archive, &session, record)?;
    }
    let redone = archive.wait(archive.store.redo(&session, clock::now_ms()))?;
    tell_json(args, &archive, &session, json!({ "redone": redone }))?;
    let Some(record) = redone else {
        say!("there is nothing to redo: no compaction was taken back, or another was made since");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    };
    say!("summary {record} is in force again");
    Ok(ExitCode::SUCCESS)
}

/// Returns the session whose compaction was taken back, and says so where it is a branch of `session`, where `undo` takes back as well.
fn holder_of_undone(archive: &Archive, session: SessionId) -> Result<SessionId> {
    if last_undone(archive, &session)?.is_some() {
        return Ok(session);
    }
    for relative in archive.relatives(&session)? {
        if last_undone(archive, &relative)?.is_some() {
            say!("no compaction of {session} was taken back, but one of its branch {relative} was");
            return Ok(relative);
        }
    }
    Ok(session)
}

fn last_undone(archive: &Archive, session: &SessionId) -> Result<Option<SummaryId>> {
    Ok(archive.wait(archive.store.require(session))?.undone.last().cloned())
}

/// Fails where a file is as it was before the compaction `record`: the record would say of it what it is not.
fn must_stand_compacted(archive: &Archive, session: &SessionId, record: &SummaryId) -> Result<()> {
    match back_in_place(archive, session, record)? {
        Some(file) => bail!(Impossible(format!(
            "{} was put back and is as it was before: `longhaul compact` compacts it anew, redo cannot",
            shown(&file.path)
        ))),
        None => Ok(()),
    }
}

/// Returns a file that the compaction `record` replaced and that is as it was before.
pub(crate) fn back_in_place(
    archive: &Archive,
    session: &SessionId,
    record: &SummaryId,
) -> Result<Option<Replaced>> {
    let is_back =
        |file: &Replaced| matches!(file.standing(&[]), Ok(Standing::AsBefore | Standing::WithoutIt));
    Ok(replaced(archive, session, record)?.into_iter().find(is_back))
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
    tell_changed(&session, &originals);
    let restored = originals.iter().filter(|original| original.message.is_some()).count() as u64;
    let is_summarized = |record: &SummaryRecord| {
        let is_in =
            |original: &Original| record.covered.iter().any(|covered| covered.ordinal == original.ordinal);
        originals.iter().any(is_in)
    };
    match archive.wait(archive.store.summaries(&session))?.iter().flatten().any(is_summarized) {
        true => say!("{} of {session} restored", paint::counted(restored, "message")),
        false => say!(
            "no summary in force stands for {} of {session}: there was nothing to restore",
            plain(&args.range)
        ),
    }
    Ok(ExitCode::from(match &originals[..] {
        [] => NOTHING_TO_DO,
        some if some.iter().any(|original| original.is_changed) => FAILURE,
        _ => 0,
    }))
}

/// A compaction that is in effect: in force in the store, in a file, or both.
#[derive(Debug)]
struct InEffect {
    record: SummaryId,
    /// It is the one in force.
    is_head: bool,
    /// The file that it replaced last: the one that goes back. None where none is to.
    file: Option<Replaced>,
    /// Other files that stand as it left them, or were written to since. One step puts one file back.
    others: Vec<(Replaced, Standing)>,
    /// The files that were not there before.
    made: Vec<PathBuf>,
    /// Files that earlier compactions of the session replaced.
    earlier: Vec<Replaced>,
}

impl InEffect {
    /// Returns the newest compaction of the session that is in effect. A file may be as a compaction left it that is not in
    /// force: another took its place, or somebody was killed on the way back.
    fn last(archive: &Archive, session: &SessionId, keep_file: bool) -> Result<Option<InEffect>> {
        let state = archive.wait(archive.store.require(session))?;
        let mut records = archive.wait(archive.store.records(session))?;
        records.retain(|entry| !entry.is_forgotten);
        while let Some(entry) = records.pop() {
            let is_head = state.head() == Some(&entry.id);
            if !is_head && (keep_file || state.chain.contains(&entry.id)) {
                continue;
            }
            let made = archive.trace(&entry.id)?.map_or_else(Vec::new, |trace| trace.made);
            let last = InEffect {
                record: entry.id,
                is_head,
                file: None,
                others: Vec::new(),
                made,
                earlier: Vec::new(),
            };
            if keep_file {
                return Ok(Some(last));
            }
            let files = replaced(archive, session, &last.record)?;
            if !is_head && !any(&files, Replaced::is_compacted)? {
                continue;
            }
            let earlier = records.iter().map(|entry| replaced(archive, session, &entry.id));
            let earlier = earlier.collect::<Result<Vec<_>>>()?.concat();
            return Ok(Some(InEffect { earlier, ..last }.with(files)?));
        }
        Ok(None)
    }

    /// The same, with what is to become of the files that it replaced.
    fn with(self, files: Vec<Replaced>) -> Result<InEffect> {
        let standing = |file: Replaced| {
            let standing = file.standing(&self.earlier)?;
            Ok((file, standing))
        };
        let mut files = files.into_iter().map(standing).collect::<Result<Vec<_>>>()?;
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
        let others = files.into_iter().filter(is_left).collect();
        Ok(InEffect { file, others, ..self })
    }
}

/// Returns the session whose compaction is the newest in the file that `session` compacted, and says so where it is another: an agent
/// that compacts by itself goes on with other words, and what is compacted of these is recorded as a branch.
fn holder_of_newest(archive: &Archive, session: SessionId, keep_file: bool) -> Result<SessionId> {
    let own = transcripts(archive, &session)?;
    let has_none_in_effect = InEffect::last(archive, &session, keep_file)?.is_none();
    // Who leaves the file as it is means a record: where the session has none, there is none.
    if own.is_empty() && !has_none_in_effect || keep_file && has_none_in_effect {
        return Ok(session);
    }
    let mut others = Vec::new();
    for relative in archive.relatives(&session)? {
        let compacted = transcripts(archive, &relative)?.into_iter();
        others.extend(compacted.map(|one| (relative.clone(), one)));
    }
    let paths: BTreeSet<&Path> = match own.is_empty() {
        true => others.iter().map(|(_, one)| &*one.file.path).collect(),
        false => own.iter().map(|one| &*one.file.path).collect(),
    };
    let newest = paths.into_iter().filter_map(|path| {
        let now = fs::read(path).ok()?;
        let in_it = |one: &Compacted| one.file.made_of(&now).filter(|_| one.file.path == path);
        let own = own.iter().filter_map(in_it).max();
        let others = others.iter().filter_map(|(of, one)| Some((in_it(one)?, of, one)));
        let can_go = |one: &Compacted| one.is_head || !keep_file && one.file.is_compacted().unwrap_or(false);
        let newer = others.filter(|(bytes, _, one)| Some(*bytes) > own && can_go(one));
        newer.max_by_key(|(bytes, ..)| *bytes).map(|(_, of, _)| (path, of.clone()))
    });
    let newest: Vec<_> = newest.collect();
    let Some((path, of)) = newest.into_iter().next() else { return Ok(session) };
    say!("the newest compaction of {} is recorded as session {of}", shown(path));
    Ok(of)
}

/// A compaction that went into a session file.
#[derive(Clone, Debug)]
struct Compacted {
    file: Replaced,
    /// Its record is the one in force.
    is_head: bool,
}

/// Returns the compactions of `session` that went into session files, in the order in which they were made.
fn transcripts(archive: &Archive, session: &SessionId) -> Result<Vec<Compacted>> {
    let state = archive.wait(archive.store.require(session))?;
    let mut found = Vec::new();
    for entry in archive.wait(archive.store.records(session))?.iter().filter(|entry| !entry.is_forgotten) {
        let files = replaced(archive, session, &entry.id)?.into_iter().filter(|file| file.is_transcript);
        let is_head = state.head() == Some(&entry.id);
        found.extend(files.map(|file| Compacted { file, is_head }));
    }
    Ok(found)
}

/// Returns the files of the session that the compaction that made `record` replaced.
fn replaced(archive: &Archive, session: &SessionId, record: &SummaryId) -> Result<Vec<Replaced>> {
    let files = archive.trace(record)?.map_or_else(Vec::new, |trace| trace.files);
    Ok(files.into_iter().filter(|file| file.is_of(session)).collect())
}

fn any(files: &[Replaced], is: fn(&Replaced) -> Result<bool>) -> Result<bool> {
    let found: Result<Vec<bool>> = files.iter().map(is).collect();
    Ok(found?.contains(&true))
}

/// Puts the file back as it was before the compaction, and returns whether it is; where there is nothing to put back, says why.
///
/// # Errors
/// Where it has the compaction in it and cannot be put back: then the store is to say so, too.
fn put_back(
    archive: &Archive,
    file: &Replaced,
    over: Over,
    last: &InEffect,
    session: &SessionId,
) -> Result<bool> {
    let path = shown(&file.path);
    let was = || file.where_it_was().unwrap_or_else(|| "nowhere any more".to_owned());
    match file.standing(&last.earlier)? {
        Standing::Compacted => {
            if let (Over::Unlocked, Some(why)) = (over, why_read_only(&file.path)) {
                let flags = store::flags();
                bail!(Impossible(format!(
                    "{path} stays as it is: {why}; `longhaul undo {session} --force{flags}` puts it back all the same, with \
                     --keep-file the record alone is taken back"
                )));
            }
            let kept = file.keep_names();
            // Who is killed then finds them again.
            let noted = archive.note_left(&last.record, file, &kept);
            let had_copy = file.backup.exists();
            let is_back = noted.and_then(|()| file.put_back(over));
            if is_back.is_err() {
                kept.iter().for_each(|kept| drop(fs::remove_file(&kept.path)));
            }
            is_back.with_context(|| format!("{path} cannot be put back"))?;
            let is_moved = had_copy && !file.backup.exists();
            let moved =
                if is_moved { ": its copy took its place, and there is none beside it now" } else { "" };
            say!("{path} is as it was before, byte for byte{moved}");
            if let Some(kept) = kept.first() {
                let words = "an agent that has the compacted session open should be left first: what it writes from here on stands only in";
                say::with_whole(words, &paint::path(&kept.path));
            }
            return Ok(true);
        }
        Standing::AsBefore => {}
        Standing::Changed if file.is_transcript => bail!(
            "{path} was written to since, which would be lost; as it was before it is {}. `longhaul undo {session} --keep-file{}` \
             takes the record alone back",
            was(),
            store::flags()
        ),
        Standing::Changed => {
            let words = format!("{path} was changed since and stays as it is; as it was before it is");
            say::with_whole(&words, &was());
            return Ok(false);
        }
        Standing::WithoutIt => {
            say!("{path} does not have that compaction in it, and stays as it is");
            return Ok(false);
        }
        Standing::Gone if file.is_transcript && file.where_it_was().is_some() => {
            file.put_back(over).with_context(|| format!("{path} cannot be put back"))?;
            say!("{path} was not there any more, and is there again as it was before, byte for byte");
            return Ok(true);
        }
        Standing::Gone => {
            say::with_whole(&format!("{path} is not there any more; as it was before it is"), &was());
            return Ok(false);
        }
    }
    say!("{path} is as it was before, byte for byte");
    Ok(true)
}

/// Says what agents wrote into files alone that stood at `place` and do no more.
fn tell_left_behind(archive: &Archive, session: &SessionId, place: &Path) {
    // What cannot be looked up is no reason to say that nothing was taken back.
    let replaced = archive.block_on(store::replaced_at(&archive.store, session, place));
    store::tell_left_behind(&replaced.unwrap_or_default());
}

/// Says what was taken back, and what is in effect now.
fn tell_undone(archive: &Archive, session: &SessionId, done: &InEffect) -> Result<()> {
    let (record, flags) = (&done.record, store::flags());
    let is_compacted = |(_, standing): &&(Replaced, Standing)| *standing == Standing::Compacted;
    if let Some((other, _)) = done.others.iter().rfind(is_compacted) {
        let other = shown(&other.path);
        say!(
            "summary {record} stays in force: {other} has it, too; `longhaul undo {session}{flags}` again takes that back"
        );
        return Ok(());
    }
    if let Some((other, _)) = done.others.last() {
        let other = shown(&other.path);
        say!(
            "summary {record} stays in force: {other} has it, too, and was written to since; `longhaul undo {session} --keep-file{flags}` \
             takes the record back and leaves that file"
        );
        return Ok(());
    }
    let what = match done.is_head {
        true => format!("summary {record} undone"),
        false => format!("summary {record} was not in force any more"),
    };
    let state = archive.wait(archive.store.require(session))?;
    // It is done; what cannot be read is no reason to say anything else.
    let left = InEffect::last(archive, session, false).unwrap_or_default();
    let left = left.filter(|left| !left.is_head).and_then(|left| Some((left.file?, left.record)));
    let written_to = written_to(archive, session, record)?;
    let is_gone = done.file.as_ref().is_some_and(|file| file.is_transcript && !file.path.exists());
    let now = match (state.head(), &left) {
        (Some(head), _) => format!("summary {head} is in force"),
        (None, None) if written_to.is_some() || is_gone => "no summary is in force in the store".to_owned(),
        // It begins with what its agent made of what was said before.
        (None, None) if state.forked_from.is_some() => {
            "no summary is in force: the agent sees what it saw before".to_owned()
        }
        (None, None) => "no summary is in force: the agent sees the conversation as it did before".to_owned(),
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
    if let Some(file) = written_to {
        let words = format!(
            "{} was written to since and stays compacted, as asked: the agent sees the summary; as it was before it is",
            shown(&file.path)
        );
        say::with_whole(&words, &file.where_it_was().unwrap_or_else(|| "nowhere any more".to_owned()));
        tell_left_behind(archive, session, &file.path);
    } else if let Some((file, by)) = left {
        let path = shown(&file.path);
        match by == *record {
            true => say!("{path} stays compacted, as asked: `longhaul undo {session}{flags}` puts it back"),
            false => say!(
                "{path} is still compacted, by the earlier summary {by}: `longhaul undo {session}{flags}` again puts it back"
            ),
        }
    }
    for made in done.made.iter().filter(|path| path.exists()) {
        say!("{} was written by it and stays", shown(made));
    }
    Ok(())
}

/// Returns the session file that has the compaction in it still and was written to since: it was to be kept.
fn written_to(archive: &Archive, session: &SessionId, record: &SummaryId) -> Result<Option<Replaced>> {
    let is_left = |file: &Replaced| file.is_transcript && matches!(file.standing(&[]), Ok(Standing::Changed));
    Ok(replaced(archive, session, record)?.into_iter().rfind(is_left))
}

/// Prints what was `done`, and what is in force now, where that is asked for.
fn tell_json(args: &ChangedArgs, archive: &Archive, session: &SessionId, done: Value) -> Result<()> {
    if !args.json {
        return Ok(());
    }
    let state = archive.wait(archive.store.require(session))?;
    let mut value = json!({ "version": 1, "session": session, "head": state.head() });
    if let (Value::Object(value), Value::Object(done)) = (&mut value, done) {
        value.extend(done);
    }
    Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())
}

/// Returns the path of a file that is only told of.
fn shown(path: &Path) -> String {
    const ROOM: usize = 50;
    Painter::stderr().short(&paint::path(path), ROOM)
}
