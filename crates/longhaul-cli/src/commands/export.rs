//! `longhaul export` and `import`: a session as JSON lines, or as a transcript.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use longhaul::{
    redact::Redactor,
    transcript::{Message, SessionId, Span},
    wire::{self, Format},
};

use crate::{
    archive::Archive,
    args::{ExportArgs, ImportArgs},
    exit::Impossible,
    input,
    output::Target,
    store::{self, Trace},
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
    if let Some(kept) = target.put_over(text.as_bytes(), is_export)? {
        say!("what was there is kept as {}", kept.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a file is an export: the store has what is in it, and more.
fn is_export(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let header = serde_json::from_slice::<serde_json::Value>(first).unwrap_or_default();
    header["type"] == "longhaul-session" && header.get("aliases").is_some()
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
        let backup = trace.and_then(|trace| Some(trace.file?.backup)).filter(|backup| backup.is_file());
        if let Some(backup) = backup {
            say!("the file as it was is {}", backup.display());
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
    for session in &sessions {
        say!("{session} is in the store");
    }
    Ok(ExitCode::SUCCESS)
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
