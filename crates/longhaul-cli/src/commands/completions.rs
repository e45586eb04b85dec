//! `longhaul completions SHELL`.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory as _;

use crate::{
    args::{Args, CompletionsArgs},
    output::Target,
};

pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "longhaul", &mut script);
    Target::Stdout.put(&script)?;
    Ok(ExitCode::SUCCESS)
}
