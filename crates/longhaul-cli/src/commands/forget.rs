//! `longhaul forget`: gone for good, and provably so.

use std::{
    collections::HashSet,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};
use longhaul::{
    store::{JournalEntry, Selector},
    transcript::{SessionId, Span},
};

use crate::{
    archive::{Archive, required_span},
    args::{ForgetArgs, ForgetWhat},
    clock,
    exit::NOTHING_TO_DO,
    input,
    output::Target,
    paint::{self, counted, harmless_json},
    say,
};

pub(crate) fn run(args: &ForgetArgs) -> Result<ExitCode> {
    if args.json {
        Target::Stdout.check()?;
    }
    let selector = selector(&args.what)?;
    let archive = Archive::to_change(&args.store)?;
    let session = archive.named(&args.session)?;
    let files = files(&archive, &session)?;
    let chain = archive.wait(archive.store.require(&session))?.chain;
    let forgotten = archive.wait(archive.store.forget(&session, &selector, clock::now_ms()))?;
    if args.json {
        let value = serde_json::json!({
            "version": 1,
            "session": session,
            "originals": forgotten.originals,
            "summaries": forgotten.records,
        });
        Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())?;
    }
    if forgotten.is_empty() {
        say!("nothing of {session} matches; nothing is forgotten");
        return Ok(ExitCode::from(NOTHING_TO_DO));
    }
    let counts = [(forgotten.message_count(), "message"), (forgotten.records.len() as u64, "summary")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(*n, what));
    say!(
        "{} of {session} destroyed; `longhaul audit {session} --verify` shows that nothing else is missing",
        counts.collect::<Vec<_>>().join(" and "),
    );
    let now = archive.wait(archive.store.require(&session))?;
    if now.chain != chain {
        match now.head() {
            Some(head) => say!("summary {head} is in force now"),
            None => say!("no summary is in force any more: the agent sees what is left of the conversation"),
        }
    }
    for id in &forgotten.records {
        let Some(trace) = archive.trace(id)? else { continue };
        for file in trace.files.iter().filter(|_| chain.contains(id)) {
            let Some(was) = file.where_it_was() else { continue };
            let path = paint::path(&file.path);
            say::with_whole(&format!("undo cannot put {path} back any more; as it was before it is"), &was);
        }
        archive.forget_files(id, trace)?;
    }
    for (relative, n) in held_by_relatives(&archive, &session, &forgotten.originals)? {
        let held = if n == 1 { "one of these messages".to_owned() } else { format!("{n} of these messages") };
        say!(
            "{relative}, of the same conversation, still holds {held}; `longhaul forget {relative}` is for that"
        );
    }
    for file in files.iter().filter(|file| file.is_file()) {
        say!("{} is not touched, and may hold it too", paint::path(file));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the sessions that were begun with what `session` holds, or with which it was begun, and how many of these messages each
/// of them still has.
fn held_by_relatives(
    archive: &Archive,
    session: &SessionId,
    gone: &[Span],
) -> Result<Vec<(SessionId, usize)>> {
    let entries = |session: &SessionId| -> Result<Vec<JournalEntry>> {
        let in_span = gone.iter().map(|span| archive.wait(archive.store.entries(session, *span)));
        Ok(in_span.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    };
    let destroyed = entries(session)?;
    let destroyed: HashSet<_> = destroyed.iter().map(|entry| (entry.ordinal, entry.address)).collect();
    let (mut relatives, mut seen) = (vec![session.clone()], HashSet::from([session.clone()]));
    let mut holders = Vec::new();
    while let Some(relative) = relatives.pop() {
        let parent = archive.wait(archive.store.state(&relative))?.and_then(|state| state.forked_from);
        let mut near = archive.wait(archive.store.forks_of(&relative))?;
        near.extend(parent.map(|from| from.session));
        relatives.extend(near.into_iter().filter(|near| seen.insert(near.clone())));
        if relative == *session || archive.wait(archive.store.state(&relative))?.is_none() {
            continue;
        }
        let is_held =
            |entry: &JournalEntry| !entry.is_forgotten && destroyed.contains(&(entry.ordinal, entry.address));
        let held = entries(&relative)?.iter().filter(|entry| is_held(entry)).count();
        holders.extend((held > 0).then_some((relative, held)));
    }
    holders.sort();
    Ok(holders)
}

/// Returns the files that compactions of the session wrote or replaced, and what is kept of them beside.
fn files(archive: &Archive, session: &SessionId) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in archive.wait(archive.store.records(session))? {
        let Some(trace) = archive.trace(&entry.id)? else { continue };
        files.extend(trace.made);
        files.extend(trace.files.into_iter().flat_map(|file| [file.path, file.backup]));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn selector(what: &ForgetWhat) -> Result<Selector> {
    if let Some(range) = &what.range {
        return Ok(Selector::Range(required_span(range)?));
    }
    if let Some(days) = what.older_than {
        return Ok(Selector::OlderThan(clock::now_ms() - i64::from(days) * 86_400_000));
    }
    if let Some(path) = &what.matching {
        if path == Path::new("-") && io::stdin().is_terminal() {
            say!("type what to forget; Ctrl-D on a line of its own ends it");
        }
        let text = input::text(path)?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            bail!("{} is empty; expected the text to forget", input::shown(path));
        }
        return Ok(Selector::Matching(text.to_owned()));
    }
    Ok(Selector::Session)
}
