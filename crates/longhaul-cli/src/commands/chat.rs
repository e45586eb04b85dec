//! `longhaul chat`: a conversation in the terminal.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::{args::ChatArgs, chat};

pub(crate) fn run(args: &ChatArgs) -> Result<ExitCode> {
    // One thread beside this one: this one waits for keys, the other for signals and for summaries under way.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.context("the async runtime does not start")?;
    let interrupts = chat::Interrupts::default();
    let conversation = runtime.block_on(chat::setup(args, &interrupts))?;
    chat::run(conversation, interrupts, &runtime)
}
