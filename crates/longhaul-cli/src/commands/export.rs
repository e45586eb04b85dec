//! `longhaul export` and `import`: a session as JSON lines, or as a transcript.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use longhaul::{
    redact::Redactor,
    store::EventKind,
    transcript::{Message, SessionId, Span},
    wire::{self, Format},
};
use serde_json::Value;

use crate::{
    archive::Archive,
    args::{ExportArgs, ImportArgs},
    exit::{Impossible, NOTHING_TO_DO},
    input,
    output::Target,
    paint, say,
    store::{self, Replaced, Trace},
};

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let target = Target::new(args.output.as_deref(), args.force);
    target.check()?;
    store::spare(&args.store, "-o", args.output.as_deref())?;
    let archive = Archive::existing(&args.store)?;
    let session = archive.session(&args.session)?;
    let text = match args.to {
        Some(format) => transcript(&archive, &session, format.0)?,
        None => archive.wait(archive.store.export(&session))?,
    };
    let is_ours = |there: &[u8]| is_export(&archive, &session, there).unwrap_or(false);
    if let Some(kept) = target.put_over(text.as_bytes(), is_ours, |_| Ok(()))? {
        say::with_whole("what was there is kept as", &paint::path(&kept));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a file is an export of this session that the store has all of: its last event is one of the log, and nothing
/// was forgotten since.
fn is_export(archive: &Archive, session: &SessionId, bytes: &[u8]) -> Result<bool> {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let json =
        |line: Option<&[u8]>| serde_json::from_slice::<Value>(line.unwrap_or_default()).unwrap_or_default();
    let (header, footer) = (json(lines.next()), json(lines.next_back()));
    let end = footer["end"].as_u64().unwrap_or_default();
    if header["type"] != "longhaul-session" || header["session"] != session.as_str() || end == 0 {
        return Ok(false);
    }
    let events = archive.wait(archive.store.events(session, end - 1, MOST_EVENTS))?;
    let is_known = events.first().is_some_and(|last| footer["last_hash"] == last.hash.to_string());
    Ok(is_known && !events.iter().skip(1).any(|event| matches!(event.kind, EventKind::Forgotten { .. })))
}

/// Returns every message of a session as a transcript, and says what could not be carried.
fn transcript(archive: &Archive, session: &SessionId, to: Option<Format>) -> Result<String> {
    let held = archive.wait(archive.store.require(session))?.messages;
    let originals = archive.wait(archive.store.originals(session, Span { start: 0, end: held }))?;
    let said: Vec<Message> = originals.into_iter().filter_map(|original| original.message).collect();
    let trace = last_trace(archive, session)?;
    let spelled = || said.iter().find_map(|message| message.raw.as_ref()?.format.parse().ok());
    let came_in = trace.as_ref().and_then(Trace::format).or_else(spelled);
    let to = to.or(came_in).unwrap_or(Format::Longhaul);
    let written =
        wire::render_session(&said, to, Some(session)).map_err(|error| Impossible(error.to_string()))?;
    let forgotten = held - said.len() as u64;
    if forgotten > 0 {
        say!("{forgotten} messages were forgotten and are not in the transcript");
    }
    for loss in &written.losses {
        say!("{session} as {}: {loss}", to.name());
    }
    if matches!(to, Format::ClaudeCode | Format::Codex) {
        say!(
            "{session} as {}: what an agent's file has around its messages (folder, version, times, lines that are no messages) is \
             not in the store",
            to.name()
        );
        let replaced = trace.map(|trace| trace.files).unwrap_or_default();
        if let Some(was) = replaced.iter().rev().find_map(Replaced::where_it_was) {
            say::with_whole("the file as it was is", &was);
        }
    }
    let line_end = if written.json.ends_with('\n') { "" } else { "\n" };
    Ok(written.json + line_end)
}

/// Returns what the last compaction that left a trace did.
fn last_trace(archive: &Archive, session: &SessionId) -> Result<Option<Trace>> {
    for entry in archive.wait(archive.store.records(session))?.iter().rev() {
        if let Some(trace) = archive.trace(&entry.id)? {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode> {
    let lines = input::text(&args.file)?;
    if !args.no_redact {
        refuse_secrets(&lines).with_context(|| format!("{} is not imported", input::shown(&args.file)))?;
    }
    let archive = Archive::open(&args.store)?;
    let sessions = archive
        .wait(archive.store.import(&lines))
        .with_context(|| format!("{} cannot be imported", input::shown(&args.file)))?;
    let mut is_anything_there = sessions.is_empty();
    for session in &sessions {
        let state = archive.wait(archive.store.require(session))?;
        let forgotten: u64 = state.forgotten.iter().map(Span::len).sum();
        is_anything_there |= forgotten < state.messages || state.messages == 0;
        match forgotten {
            0 => say!("{session} is in the store"),
            _ if forgotten == state.messages => {
                say!("{session} was forgotten here: none of it is taken in, and nothing comes back");
            }
            _ => say!(
                "{session} is in the store without the {forgotten} of its {} messages that were forgotten",
                state.messages
            ),
        }
    }
    Ok(ExitCode::from(if is_anything_there { 0 } else { NOTHING_TO_DO }))
}

/// Fails where `lines` hold what looks like a secret. They cannot be redacted: the log names each content by its hash.
fn refuse_secrets(lines: &str) -> Result<()> {
    let redactor = Redactor::builtin();
    for (at, line) in lines.lines().enumerate() {
        if let Some(finding) = redactor.redact_json(line).1.first() {
            bail!(
                "line {} holds what looks like a secret ({}); --no-redact takes it as it is",
                at + 1,
                finding.rule
            );
        }
    }
    Ok(())
}

/// More events than happen to a session between two exports.
const MOST_EVENTS: usize = 1 << 20;
