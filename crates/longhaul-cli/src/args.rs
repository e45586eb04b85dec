//! The flags, as they are typed.

mod chat;
mod history;
mod hook;
mod number;

use std::{path::PathBuf, slice};

use clap::{Args as ClapArgs, Parser, Subcommand};
use longhaul::{redact::Redactor, transcript::SessionId, wire::Format};

use crate::found::ByWords;

pub(crate) use chat::ChatArgs;
pub(crate) use history::{
    AuditArgs, ChangedArgs, ExportArgs, ForgetArgs, ForgetWhat, HistoryArgs, ImportArgs, RecallArgs,
    RestoreArgs, SessionArgs, SessionsArgs, UndoArgs,
};
pub(crate) use hook::{HookArgs, HookPlace, HookRunArgs, HookWhat, SavingsArgs};
pub(crate) use number::tokens;

/// Keep an LLM agent's conversation inside the context window: count it, see what fills it, compact it
#[derive(Debug, Parser)]
#[command(name = "longhaul", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failure, 2 usage, 3 nothing to do (compact: with --fail-if-unchanged), 4 input or budget impossible.
FILE is a transcript; its format is recognised. `-` is stdin. On a terminal, no FILE is the newest session of an agent in \
this folder; the beginning of a session's id, or words of its first request, name any other (`longhaul sessions` lists them).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Count the tokens of transcripts, by role, kind and tool
    Count(CountArgs),
    /// Show what fills the window, the largest items, and what a compaction would save
    Context(ContextArgs),
    /// Compact a transcript into a budget and write the new history
    Compact(Box<CompactArgs>),
    /// Talk to a model in the terminal, with the context kept within its window
    Chat(Box<ChatArgs>),
    /// Digest one tool's output: `cargo test 2>&1 | longhaul digest --tool shell`
    Digest(DigestArgs),
    /// List the sessions that agents keep on this machine, and the recorded ones
    Sessions(SessionsArgs),
    /// Show a session's summaries and what was said since
    History(HistoryArgs),
    /// Show what the last compaction took out of the history, and how each message comes back
    Diff(SessionArgs),
    /// Print the originals behind a summary or an id, or those that hold some words
    Recall(RecallArgs),
    /// Take the last compaction back
    Undo(UndoArgs),
    /// Put the compaction that was taken back in force again
    Redo(ChangedArgs),
    /// Ask originals back into view, and print them
    Restore(RestoreArgs),
    /// Show the log of a session, or check every hash of it
    Audit(AuditArgs),
    /// Write a session as JSON lines
    Export(ExportArgs),
    /// Add the sessions of an export
    Import(ImportArgs),
    /// Destroy originals for good, and leave a tombstone that verifies
    Forget(ForgetArgs),
    /// Serve what is kept to agents: a server of the Model Context Protocol on stdin and stdout
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Let Claude Code keep what it compacts, and shorten what its commands print
    Hook(HookArgs),
    /// Say how many tokens the hooks saved
    Savings(SavingsArgs),
    /// Print every setting with its value and where it comes from
    Config(ConfigArgs),
    /// Say what is configured and reachable, what is stored and whether it is sound, and where text would be sent
    Doctor(DoctorArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
}

impl Command {
    /// Returns the transcripts that the command reads, where it reads any, and what words are worth in their place.
    pub(crate) fn transcripts(&mut self) -> (&mut [PathBuf], ByWords) {
        match self {
            Command::Count(args) if !args.text => (&mut args.files, ByWords::Taken),
            Command::Compact(args) => {
                let by_words = if args.in_place { ByWords::Asked } else { ByWords::Taken };
                (slice::from_mut(&mut args.file), by_words)
            }
            _ => (&mut [], ByWords::Taken),
        }
    }
}

/// How tokens are counted
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct CounterArgs {
    /// Count with this encoding: o200k_base, cl100k_base, ... [default: o200k_base]
    #[arg(long, value_name = "E", conflicts_with_all = ["model", "tokenizer"])]
    pub(crate) encoding: Option<String>,
    /// Count as this model does, and take its window
    #[arg(long, value_name = "M", conflicts_with = "tokenizer")]
    pub(crate) model: Option<String>,
    /// Count with this tokenizer.json
    #[arg(long, value_name = "PATH")]
    pub(crate) tokenizer: Option<PathBuf>,
}

/// Where settings come from
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct SettingsArgs {
    /// Start from a preset: context-manager, rolling, session, two-tier, chain
    #[arg(long, value_name = "P")]
    pub(crate) preset: Option<String>,
    /// Read settings from this file instead of the user's own
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set one setting; `longhaul config` lists them
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Say what a setting means and what it is set to; NAME is ours or a design document's, such as keepSystemPrompt
    #[arg(long, value_name = "NAME")]
    pub(crate) explain: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who writes summaries in the modes llm and hybrid. Text goes to this host and nowhere else
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct SummarizerArgs {
    /// The summarizer's endpoint, such as http://127.0.0.1:8080/v1; its key is read from LONGHAUL_API_KEY
    #[arg(long, value_name = "URL", env = "LONGHAUL_BASE_URL", hide_env_values = true)]
    pub(crate) base_url: Option<String>,
    /// The model to ask; say it several times for models to try in order
    #[arg(long, value_name = "M")]
    pub(crate) summarizer_model: Vec<String>,
    /// The protocol of the endpoint
    #[arg(long, value_name = "P", default_value = "openai", value_parser = ["openai", "anthropic"])]
    pub(crate) protocol: String,
    /// The summarizer's own context window in tokens [default: the model's, or 8192]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens)]
    pub(crate) summarizer_window: Option<u64>,
    /// The most that one call to the summarizer may take, in seconds [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) summarizer_timeout: Option<u64>,
    /// Give up instead of falling back to rules
    #[arg(long)]
    pub(crate) abort_on_failure: bool,
}

/// The help of `--store-key-file`.
const KEY_FILE: &str = match cfg!(feature = "encryption") {
    true => {
        "The file with the key that the store is kept under, 64 hexadecimal digits [default: LONGHAUL_STORE_KEY]"
    }
    false => {
        "The file with the key that the store is kept under, 64 hexadecimal digits [default: LONGHAUL_STORE_KEY]; not in this \
         build, which is made without the feature encryption"
    }
};

/// Where originals and summaries are kept
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct StoreArgs {
    /// The store: a file, or a PostgreSQL database [default: longhaul/store.db in the user's data directory]
    #[arg(long, value_name = "PATH|URL", env = "LONGHAUL_STORE", hide_env_values = true)]
    pub(crate) store: Option<PathBuf>,
    #[arg(long, value_name = "FILE", env = "LONGHAUL_STORE_KEY_FILE", help = KEY_FILE)]
    pub(crate) store_key_file: Option<PathBuf>,
    /// The folder from which a relative place is meant, where that is another than the one that this runs in.
    #[arg(skip)]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CountArgs {
    /// The transcripts; `-` is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// Count the input as raw text, not as a transcript
    #[arg(long)]
    pub(crate) text: bool,
    #[command(flatten)]
    pub(crate) from: FromArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArgs,
    /// Ask the provider's own counter too, for this model: sends the transcript to --base-url, secrets replaced
    #[arg(long, value_name = "MODEL", conflicts_with = "text")]
    pub(crate) ask: Option<String>,
    /// The endpoint to ask: Anthropic's, llama.cpp's, vLLM's; its key is read from LONGHAUL_API_KEY
    #[arg(long, value_name = "URL", env = "LONGHAUL_BASE_URL", hide_env_values = true)]
    pub(crate) base_url: Option<String>,
    /// Print one JSON object a file
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the input is
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct FromArgs {
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format_or_auto, help = formats())]
    pub(crate) from: FormatArg,
}

/// Returns the help of `--from`.
fn formats() -> String {
    let (read, written): (Vec<Format>, Vec<Format>) =
        Format::ALL.into_iter().partition(|format| format.is_import_only());
    let names = |formats: Vec<Format>| formats.into_iter().map(Format::name).collect::<Vec<_>>().join(", ");
    format!("The input's format: {}; only read: {}; or auto", names(written), names(read))
}

/// A format, or the wish that it be recognised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatArg(pub(crate) Option<Format>);

pub(crate) fn format_or_auto(name: &str) -> Result<FormatArg, String> {
    match name {
        "auto" => Ok(FormatArg(None)),
        name => name.parse().map(|format| FormatArg(Some(format))).map_err(|error| format!("{error}")),
    }
}

/// As [`format_or_auto`], of formats that are written.
pub(crate) fn written_format_or_auto(name: &str) -> Result<FormatArg, String> {
    let refused = |why: String| {
        let written = Format::ALL.into_iter().filter(|format| !format.is_import_only()).map(Format::name);
        Err(format!("{why}; written are {}", written.collect::<Vec<_>>().join(", ")))
    };
    match format_or_auto(name) {
        Ok(FormatArg(Some(format))) if format.is_import_only() => refused(format!("{format} is only read")),
        Err(_) => refused("no format has this name".to_owned()),
        read => read,
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ContextArgs {
    /// The transcript; `-` is stdin, and on a terminal the newest session of an agent in this folder, or conversation of chat
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) from: FromArgs,
    #[command(flatten)]
    pub(crate) counter: CounterArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// The context window in tokens [default: the model's that is named, the session's own, or 200000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens)]
    pub(crate) window: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct CompactArgs {
    /// The transcript; `-` is stdin, and on a terminal the newest session of an agent in this folder
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// Refuse a transcript with faults that are read around otherwise: calls and results that do not pair, damaged lines
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write this format instead of the input's
    #[arg(long, value_name = "FORMAT", value_parser = written_format_or_auto)]
    pub(crate) to: Option<FormatArg>,
    /// The most that the whole emitted history may cost, in tokens; tool definitions apart
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens, conflicts_with = "ratio")]
    pub(crate) budget: Option<u64>,
    /// The context window in tokens [default: the model's that is named, the session's own, or 200000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens)]
    pub(crate) window: Option<u64>,
    /// Compact down to this share of the budget that the window leaves [default: 0.4]
    #[arg(long, value_name = "R")]
    pub(crate) ratio: Option<f64>,
    #[command(flatten)]
    pub(crate) counter: CounterArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How the summary is made: rules, llm or hybrid [default: rules]
    #[arg(long, value_name = "MODE", value_parser = ["rules", "llm", "hybrid"])]
    pub(crate) mode: Option<String>,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArgs,
    /// Show the summary before it is used, and let it be edited ($VISUAL, $EDITOR)
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) review: bool,
    /// Keep at least this many messages at the end, digested where they must be
    #[arg(long, value_name = "N")]
    pub(crate) keep_recent: Option<usize>,
    /// Cap the summary
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens)]
    pub(crate) max_summary_tokens: Option<u64>,
    /// What you are about to do: the summary looks ahead to it
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Keep nothing: no original and no summary is recorded
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Give the session this name in the store
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// Do not look for secrets before anything is summarized or recorded
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// Say what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the history here [default: stdout; on a terminal, a new file beside FILE, or here where an agent keeps FILE]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite OUT where it exists; a read-only one stays. With --in-place, replace the session file also where it is read-only
    #[arg(long)]
    pub(crate) force: bool,
    /// Compact the session file of Claude Code or Codex itself, as that agent does: what it holds stays, the compaction goes
    /// behind it. A copy is kept, and `longhaul undo` puts it back
    #[arg(long, conflicts_with_all = ["output", "to", "as_new_session"])]
    pub(crate) in_place: bool,
    /// Write a session of its own beside that of Claude Code or Codex, which the agent can resume
    #[arg(long, conflicts_with_all = ["output", "to"])]
    pub(crate) as_new_session: bool,
    /// Write the report, as JSON, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the report as JSON on stderr instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 3 where the input already fits
    #[arg(long)]
    pub(crate) fail_if_unchanged: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DigestArgs {
    /// The output; `-` is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// The tool it comes from: shell, read, search, or the name of any agent's tool
    #[arg(long, value_name = "NAME", default_value = "shell")]
    pub(crate) tool: String,
    /// The command line, path or pattern that the tool was given
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// The most that the digest may cost, in tokens
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::tokens, default_value = "400")]
    pub(crate) budget: u64,
    #[command(flatten)]
    pub(crate) counter: CounterArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) summarizer: SummarizerArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Ask the summarizer for one word, to see that it answers
    #[arg(long)]
    pub(crate) ask: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(feature = "mcp")]
#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Takes a name that a session may have. One that it may not is refused before any work is done under it, and so is one that
/// is a secret: a name is kept and shown as it is.
pub(crate) fn session_name(name: &str) -> Result<String, String> {
    if let Some(found) = Redactor::builtin().find(name).first() {
        return Err(format!("it looks like a secret ({}), and names are kept and shown", found.rule));
    }
    SessionId::new(name).map(|name| name.to_string()).map_err(|error| error.to_string())
}
