//! `longhaul forget`: gone for good, and provably so.

use std::{
    collections::HashSet,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};
use longhaul::{
    store::{Forgotten, JournalEntry, Selector, StoredSession},
    transcript::{SessionId, Span},
};

use crate::{
    archive::{Archive, required_span},
    args::{ForgetArgs, ForgetWhat},
    chat::console::{Consent, Console},
    clock,
    exit::{FAILURE, NOTHING_TO_DO},
    hook, input,
    output::Target,
    paint::{self, counted, harmless_json},
    say, store,
};

pub(crate) fn run(args: &ForgetArgs) -> Result<ExitCode> {
    if args.json {
        Target::Stdout.check()?;
    }
    let selector = selector(&args.what)?;
    let archive = Archive::to_change(&args.store)?;
    let session = archive.named(&args.session)?;
    let held = archive.wait(archive.store.require(&session))?;
    let is_everything = args.what.all || args.what.older_than == Some(0);
    if is_everything && !args.yes && io::stdin().is_terminal() && !is_sure(&archive, &held, &session, args)? {
        say!("nothing of {session} is forgotten");
        return Ok(ExitCode::from(FAILURE));
    }
    let files = files(&archive, &session)?;
    let chain = held.chain;
    let forgotten = archive.wait(archive.store.forget(&session, &selector, clock::now_ms()))?;
    let mut in_branches = forgotten.in_other_lines.clone();
    if args.branches {
        in_branches.extend(forget_in_branches(&archive, &session, &selector)?);
    }
    if args.json {
        let value = serde_json::json!({
            "version": 1,
            "session": session,
            "originals": forgotten.originals,
            "summaries": forgotten.records,
        });
        Target::Stdout.put(harmless_json(&value.to_string()).as_bytes())?;
    }
    for (relative, gone) in &in_branches {
        say!("{} of {relative} destroyed", what(gone));
    }
    let (n_gone, n_left) = hook::forget_outputs(&session, &selector)?;
    if n_gone > 0 {
        say!("{} that the hook kept whole removed", counted(n_gone as u64, "output"));
    }
    if n_left > 0 {
        say!(
            "{} of {session} that the hook kept whole may hold it too: --all or --matching removes them",
            counted(n_left as u64, "output")
        );
    }
    if forgotten.originals.is_empty() && forgotten.records.is_empty() {
        say!("nothing of {session} matches; nothing of it is forgotten");
        return Ok(if in_branches.is_empty() && n_gone == 0 {
            ExitCode::from(NOTHING_TO_DO)
        } else {
            ExitCode::SUCCESS
        });
    }
    say!(
        "{} of {session} destroyed; `longhaul audit {session} --verify{}` shows that nothing else is missing",
        what(&forgotten),
        store::flags(),
    );
    let now = archive.wait(archive.store.require(&session))?;
    if now.chain != chain {
        match now.head() {
            Some(head) => say!("summary {head} is in force now"),
            None => say!("no summary is in force any more: the agent sees what is left of the conversation"),
        }
    } else if let (Some(_), Some(head)) = (args.what.older_than, now.head()) {
        say!("summary {head} stays in force, and may tell of them: --all destroys it too");
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
        let held = match n {
            // Who wants all of it gone may mean what its agent saw before it compacted, too.
            0 if is_everything && !args.branches => "messages of its own".to_owned(),
            0 => continue,
            1 => "one of these messages".to_owned(),
            n => format!("{n} of these messages"),
        };
        say!(
            "{relative}, of the same conversation, still holds {held}; the same with --branches destroys them there too"
        );
    }
    let twins = held_by_twins(&archive, &session, &forgotten.originals)?;
    for (twin, n) in twins.iter().take(TOLD) {
        let held = if *n == 1 { "one".to_owned() } else { paint::grouped(*n as u64) };
        let words = format!(
            "{twin}, which begins as this one did, still holds {held} of these messages; to destroy that, too:"
        );
        say::with_whole(&words, &format!("longhaul forget {twin} {}{}", typed(&args.what), store::flags()));
    }
    if twins.len() > TOLD {
        say!("so do {} more; `longhaul recall all WORDS{}` names them", twins.len() - TOLD, store::flags());
    }
    for file in files.iter().filter(|file| file.is_file()) {
        say!("{} is not touched, and may hold it too", paint::path(file));
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks whether all of the session is to go, and all of its branches where that was said.
fn is_sure(archive: &Archive, held: &StoredSession, session: &SessionId, args: &ForgetArgs) -> Result<bool> {
    let gone: u64 = held.forgotten.iter().map(|span| span.end - span.start).sum();
    let said = counted(held.messages.saturating_sub(gone), "message");
    let others = match args.what.all {
        _ if args.branches => archive.relatives(session)?,
        true => archive.wait(archive.store.lines(session))?,
        false => Vec::new(),
    };
    let others = others.into_iter().filter(|other| other != session);
    let others: Vec<String> = others.map(|other| format!(", all of {other}")).collect();
    let summaries = if args.what.all { "and every summary of them" } else { "and no summary in force" };
    let question = format!("Destroy {said} of {session}{} {summaries} for good?", others.concat());
    Ok(Console::Plain { unread: None }.consent(&question, None)? == Consent::Yes)
}

/// Destroys in the other sessions of the conversation what was chosen in `session`: of a range the messages that are the same.
fn forget_in_branches(
    archive: &Archive,
    session: &SessionId,
    selector: &Selector,
) -> Result<Vec<(SessionId, Forgotten)>> {
    let mut done = Vec::new();
    for relative in archive.relatives(session)? {
        let chosen = match selector {
            Selector::Range(span) => {
                let shared = shared(archive, session, &relative, &[*span])?;
                Span::runs(shared).into_iter().map(Selector::Range).collect()
            }
            other => vec![other.clone()],
        };
        let mut gone = Forgotten::default();
        for selector in chosen {
            let forgotten =
                archive.wait(archive.store.forget_in_line(&relative, &selector, clock::now_ms()))?;
            gone.originals.extend(forgotten.originals);
            gone.records.extend(forgotten.records);
        }
        done.extend((!gone.is_empty()).then_some((relative, gone)));
    }
    Ok(done)
}

/// Returns the other sessions of the conversation that still have messages, and how many of these.
fn held_by_relatives(
    archive: &Archive,
    session: &SessionId,
    gone: &[Span],
) -> Result<Vec<(SessionId, usize)>> {
    let mut holders = Vec::new();
    for relative in archive.relatives(session)? {
        let held = shared(archive, session, &relative, gone)?.len();
        let state = archive.wait(archive.store.require(&relative))?;
        let n_gone: u64 = state.forgotten.iter().map(Span::len).sum();
        holders.extend((n_gone < state.messages).then_some((relative, held)));
    }
    Ok(holders)
}

/// Returns the sessions that are not of the conversation, begin as it did and still have some of these messages, and how many: the same
/// history was recorded twice.
fn held_by_twins(archive: &Archive, session: &SessionId, gone: &[Span]) -> Result<Vec<(SessionId, usize)>> {
    /// What begins with so many messages alike does so by no chance.
    const ALIKE: u64 = 8;
    let first = archive.wait(archive.store.entries(session, Span { start: 0, end: ALIKE }))?;
    let first: Vec<_> = first.iter().map(|entry| entry.address).collect();
    let mut others = archive.wait(archive.store.sessions_beginning_with(&first))?;
    let relatives = archive.relatives(session)?;
    others.retain(|other| other != session && !relatives.contains(other));
    let held = others.into_iter().map(|other| {
        let n = shared(archive, session, &other, gone)?.len();
        Ok((other, n))
    });
    let mut held = held.collect::<Result<Vec<_>>>()?;
    held.retain(|(_, n)| *n > 0);
    Ok(held)
}

/// So many of them are named.
const TOLD: usize = 5;

/// Returns what was chosen as it is typed.
fn typed(what: &ForgetWhat) -> String {
    match (&what.range, what.older_than, &what.matching) {
        (Some(range), ..) => format!("--range {range}"),
        (_, Some(days), _) => format!("--older-than {days}"),
        (.., Some(path)) => format!("--matching {}", paint::for_shell(&path.to_string_lossy())),
        _ => "--all".to_owned(),
    }
}

/// Returns which messages in `spans` of `session` `relative` has too, and has still.
fn shared(archive: &Archive, session: &SessionId, relative: &SessionId, spans: &[Span]) -> Result<Vec<u64>> {
    let entries = |session: &SessionId| -> Result<Vec<JournalEntry>> {
        let in_span = spans.iter().map(|span| archive.wait(archive.store.entries(session, *span)));
        Ok(in_span.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    };
    let own: HashSet<_> = entries(session)?.iter().map(|entry| (entry.ordinal, entry.address)).collect();
    let is_held = |entry: &JournalEntry| !entry.is_forgotten && own.contains(&(entry.ordinal, entry.address));
    Ok(entries(relative)?.iter().filter(|entry| is_held(entry)).map(|entry| entry.ordinal).collect())
}

/// Returns what was destroyed, in words.
fn what(forgotten: &Forgotten) -> String {
    let counts = [(forgotten.message_count(), "message"), (forgotten.records.len() as u64, "summary")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(*n, what));
    counts.collect::<Vec<_>>().join(" and ")
}

/// Returns the files that compactions of the session wrote or replaced, and what is kept of them beside.
fn files(archive: &Archive, session: &SessionId) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in archive.wait(archive.store.records(session))? {
        let Some(trace) = archive.trace(&entry.id)? else { continue };
        files.extend(trace.made);
        for file in trace.files {
            files.extend(file.left().into_iter().map(|left| left.path));
            files.extend([file.path, file.backup]);
        }
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
