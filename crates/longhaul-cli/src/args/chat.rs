//! The flags of `longhaul chat`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{SettingsArgs, StoreArgs};

/// Which model to talk to, where, and with how much room.
#[derive(Debug, ClapArgs)]
pub(crate) struct ChatArgs {
    /// The endpoint, such as http://127.0.0.1:8080/v1; its key is read from LONGHAUL_API_KEY [default: that of the conversation
    /// that goes on]
    #[arg(long, value_name = "URL", env = "LONGHAUL_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// The protocol of the endpoint: openai or anthropic [default: that of the conversation that goes on, or openai]
    #[arg(long, value_name = "P", value_parser = ["openai", "anthropic"])]
    pub(crate) protocol: Option<String>,
    /// The model to talk to [default: that of the conversation that goes on]
    #[arg(long, value_name = "M", env = "LONGHAUL_MODEL")]
    pub(crate) model: Option<String>,
    /// The model's context window in tokens [default: that of the conversation that goes on with the same model, or the model's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::number::tokens)]
    pub(crate) window: Option<u64>,
    /// The longest answer, in tokens [default: the model's, at most a quarter of the window]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::number::tokens)]
    pub(crate) max_output: Option<u64>,
    /// Count with this tokenizer.json instead of the model's own counter
    #[arg(long, value_name = "PATH")]
    pub(crate) tokenizer: Option<PathBuf>,
    /// How freely the model may answer, from 0 up [default: the server's]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = super::number::temperature)]
    pub(crate) temperature: Option<f64>,
    /// Begin with this standing instruction
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Give the conversation this name, or go on with the one of this name
    #[arg(long, value_name = "NAME", value_parser = super::session_name)]
    pub(crate) session: Option<String>,
    /// Let the model read, search and edit files and run commands in the working directory, each asked for first
    #[arg(long)]
    pub(crate) tools: bool,
    /// With --tools and no terminal on stdin: take its next line as the answer (y, n, a) where a use of a tool is asked for,
    /// which is refused otherwise
    #[arg(long, requires = "tools")]
    pub(crate) piped_answers: bool,
    /// How summaries are made: rules, llm or hybrid [default: rules]
    #[arg(long, value_name = "MODE", value_parser = ["rules", "llm", "hybrid"])]
    pub(crate) mode: Option<String>,
    /// The model that writes summaries in the modes llm and hybrid [default: the one talked to]
    #[arg(long, value_name = "M")]
    pub(crate) summarizer_model: Vec<String>,
    /// Its context window in tokens [default: the model's, or 8192]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = super::number::tokens)]
    pub(crate) summarizer_window: Option<u64>,
    /// The most that one call for a summary may take, in seconds [default: that of --timeout, or 120]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) summarizer_timeout: Option<u64>,
    /// How many seconds the model may stay silent, 86400 at most [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
