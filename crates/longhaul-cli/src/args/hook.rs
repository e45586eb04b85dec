//! The flags of `longhaul hook` and `longhaul savings`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::StoreArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) what: HookWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookWhat {
    /// Put the hooks into Claude Code's settings; what else is there stays
    Install(HookInstall),
    /// Take the hooks out of Claude Code's settings; what else is there stays
    Remove(HookPlace),
    /// What Claude Code runs: the event on stdin, the answer on stdout
    Run(HookRunArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HookInstall {
    #[command(flatten)]
    pub(crate) place: HookPlace,
    /// Leave the output of commands as it is
    #[arg(long)]
    pub(crate) without_filter: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HookPlace {
    /// The settings of this folder's project (.claude/settings.json) instead of the user's own
    #[arg(long, conflicts_with = "settings")]
    pub(crate) project: bool,
    /// The settings in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HookRunArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SavingsArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
