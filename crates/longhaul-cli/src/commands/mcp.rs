//! `longhaul mcp`: what was kept, for agents.

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::McpArgs, mcp, paint};

pub(crate) fn run(args: &McpArgs) -> Result<ExitCode> {
    // Answers are read by models, whatever stderr is.
    paint::never();
    mcp::serve(&args.store)?;
    Ok(ExitCode::SUCCESS)
}
