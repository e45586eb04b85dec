//! `longhaul export` and `import`: a session as JSON lines.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

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
    let archive = Archive::open(&args.store)?;
    let sessions = archive
        .wait(archive.store.import(&lines))
        .with_context(|| format!("{} cannot be imported", input::shown(&args.file)))?;
    for session in &sessions {
        say!("{session} is in the store");
    }
    Ok(ExitCode::SUCCESS)
}
