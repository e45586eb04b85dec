//! The `longhaul` command: raw flags, checked settings, one run.
#![deny(unsafe_code)]

#[macro_use]
mod say;

mod archive;
mod args;
mod chat;
mod clock;
mod commands;
mod counter;
mod exit;
mod found;
mod hook;
mod input;
mod lookup;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod paint;
mod pipe;
mod review;
mod settings;
mod stdout;
mod store;
mod stream;
mod summarizer;
mod window;

use std::{
    env,
    io::{self, IsTerminal as _},
    process::{self, ExitCode},
};

use clap::{Parser as _, error::ErrorKind};

use crate::args::{Args, Command};

/// Returns what was typed. On a terminal, nothing is a look at this project's newest session.
fn args() -> Args {
    let is_bare = env::args_os().len() == 1 && io::stdin().is_terminal() && io::stdout().is_terminal();
    let parsed = match is_bare {
        true => Args::try_parse_from(["longhaul", "context"]),
        false => Args::try_parse(),
    };
    parsed.unwrap_or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        // It quotes what was typed, which may be the name of anybody's file, or a secret.
        _ => {
            say::err(&exit::without_secrets(&with_lines_set_in(&error.render().to_string())));
            process::exit(error.exit_code())
        }
    })
}

/// Returns what was `said` with the lines of what was typed set in: none of them is to look like a line of ours.
fn with_lines_set_in(said: &str) -> String {
    let typed: Vec<_> = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let lines = typed.iter().flat_map(|arg| arg.split('\n').skip(1)).filter(|line| !line.is_empty());
    lines.fold(said.to_owned(), |said, line| said.replace(&format!("\n{line}"), &format!("\n  {line}")))
}

fn main() -> ExitCode {
    let mut command = args().command;
    if let Err(error) = command.transcript().map_or(Ok(()), found::settle) {
        return exit::report(&error);
    }
    let done = match command {
        Command::Count(count) => commands::count::run(&count),
        Command::Context(context) => commands::context::run(&context),
        Command::Compact(compact) => commands::compact::run(&compact),
        Command::Chat(chat) => commands::chat::run(&chat),
        Command::Digest(digest) => commands::digest::run(&digest),
        Command::Sessions(sessions) => commands::sessions::run(&sessions),
        Command::History(history) => commands::history::run(&history),
        Command::Diff(diff) => commands::diff::run(&diff),
        Command::Recall(recall) => commands::recall::run(&recall),
        Command::Undo(undo) => commands::undo::undo(&undo),
        Command::Redo(redo) => commands::undo::redo(&redo),
        Command::Restore(restore) => commands::undo::restore(&restore),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Export(export) => commands::export::run(&export),
        Command::Import(import) => commands::export::import(&import),
        Command::Forget(forget) => commands::forget::run(&forget),
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => commands::mcp::run(&mcp),
        Command::Config(config) => commands::config::run(&config),
        Command::Doctor(doctor) => commands::doctor::run(&doctor),
        Command::Hook(hook) => commands::hook::run(&hook),
        Command::Savings(savings) => commands::hook::savings(&savings),
        Command::Completions(completions) => commands::completions::run(&completions),
    };
    match done {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
