//! The flags of the commands that read and change what was recorded.

use std::path::PathBuf;

use clap::{Args as ClapArgs, builder::RangedU64ValueParser};

use super::{FormatArg, StoreArgs, written_format_or_auto};

#[derive(Debug, ClapArgs)]
pub(crate) struct SessionsArgs {
    /// Show at most this many of the sessions that agents keep here, and of those that are recorded
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object a session; its `kind` is `file` (an agent's) or `recorded`
    #[arg(long)]
    pub(crate) json: bool,
}

/// One session
#[derive(Debug, ClapArgs)]
pub(crate) struct SessionArgs {
    /// The session's id, the beginning or the end of it, another name or words of its first request; `longhaul sessions` lists them
    /// [default: the newest of this folder]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) session: ChangedArgs,
    /// Take back what is recorded, and leave the file that was compacted as it is
    #[arg(long)]
    pub(crate) keep_file: bool,
    /// Put the file back also where it is read-only
    #[arg(long, conflicts_with = "keep_file")]
    pub(crate) force: bool,
}

/// One session that is to be changed
#[derive(Debug, ClapArgs)]
pub(crate) struct ChangedArgs {
    /// The session's id, the beginning or the end of it, or another name; `longhaul sessions` lists them
    /// [default: the newest of this folder]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Show every message in full, those behind the summaries included
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RecallArgs {
    /// The session [default: this folder's newest; `all` searches every one], then a summary's id, a message or range (m12,
    /// m3-m9), or words that a message holds
    #[arg(value_name = "[SESSION] QUERY|ID", required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Show all of each message that a search finds, not the places alone
    #[arg(long)]
    pub(crate) full: bool,
    /// Show at most this many messages of a search
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object a message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RestoreArgs {
    /// The session's id or other name
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Which messages: m12, or m3-m9 with both ends
    #[arg(value_name = "RANGE")]
    pub(crate) range: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object a message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AuditArgs {
    /// The session's id or other name [default: every session]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Check every hash, from the first event to the last message; exit with 1 where one is wrong
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// The session's id or other name
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Write a transcript of every message in this format, as agents and `longhaul compact` read it; auto is the format
    /// that they came in. Without it, write what `longhaul import` reads: messages, summaries and the log
    #[arg(long, value_name = "FORMAT", value_parser = written_format_or_auto)]
    pub(crate) to: Option<FormatArg>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Write here instead of stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite OUT where it exists; a read-only one stays
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// The export; `-` is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Take it in also where it holds what looks like a secret
    #[arg(long)]
    pub(crate) no_redact: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ForgetArgs {
    /// The session's id or other name
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) what: ForgetWhat,
    /// Do not ask first; asked is on a terminal only, with --all and with --older-than 0
    #[arg(long)]
    pub(crate) yes: bool,
    /// Destroy it in the branches of the conversation too: of a range, the messages that are the same
    #[arg(long)]
    pub(crate) branches: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is to be destroyed: exactly one of these
#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetWhat {
    /// Everything: the originals and the summaries, of each line of the conversation
    #[arg(long)]
    pub(crate) all: bool,
    /// The messages of a range, m12 or m3-m9, and the summaries that cover one of them
    #[arg(long, value_name = "RANGE")]
    pub(crate) range: Option<String>,
    /// What was recorded more than this many days ago; summaries in force stay
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than: Option<u32>,
    /// Everything that holds the text in this file, one final line feed apart; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) matching: Option<PathBuf>,
}
