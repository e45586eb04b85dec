//! `longhaul export` and `import`: a session as JSON lines.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use longhaul::redact::Redactor;

use crate::{
    archive::Archive,
    args::{ExportArgs, ImportArgs},
    input,
    output::Target,
};

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let target = Target::new(args.output.as_deref(), args.force);
    target.check()?;
    let archive = Archive::existing(&args.store)?;
    let session = archive.session(&args.session)?;
    let lines = archive.wait(archive.store.export(&session))?;
    target.put(lines.as_bytes())?;
    Ok(ExitCode::SUCCESS)
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
