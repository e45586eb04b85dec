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
    store,
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
    target.put(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns every message of a session as a transcript, and says what could not be carried.
fn transcript(archive: &Archive, session: &SessionId, to: Option<Format>) -> Result<String> {
    let held = archive.wait(archive.store.require(session))?.messages;
    let originals = archive.wait(archive.store.originals(session, Span { start: 0, end: held }))?;
    let said: Vec<Message> = originals.into_iter().filter_map(|original| original.message).collect();
    let came_in = || said.iter().find_map(|message| message.raw.as_ref()?.format.parse().ok());
    let to = to.or_else(came_in).unwrap_or(Format::Longhaul);
    let written = wire::render(&said, to).map_err(|error| Impossible(error.to_string()))?;
    let forgotten = held - said.len() as u64;
    if forgotten > 0 {
        say!("{forgotten} messages were forgotten and are not in the transcript");
    }
    for loss in &written.losses {
        say!("{session} as {}: {loss}", to.name());
    }
    let line_end = if written.json.ends_with('\n') { "" } else { "\n" };
    Ok(written.json + line_end)
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
