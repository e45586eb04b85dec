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
mod flow;
mod found;
mod hook;
mod input;
mod lookup;
#[cfg(feature = "mcp")]
mod mcp;
mod near;
mod opencode;
mod output;
mod paint;
mod pipe;
mod progress;
mod review;
mod settings;
mod stdout;
mod store;
mod stream;
mod summarizer;
mod window;
mod with_tools;

use std::{
    collections::HashSet,
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
            let typed: Vec<_> =
                env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
            let said = with_lines_set_in(&error.render().to_string(), &typed);
            say::err(&exit::without_secrets(&said));
            process::exit(error.exit_code())
        }
    })
}

/// Returns what was `said` with the lines of what was `typed` set in: none of them is to look like a line of ours.
fn with_lines_set_in(said: &str, typed: &[String]) -> String {
    let lines = typed.iter().flat_map(|arg| arg.split('\n').skip(1)).filter(|line| !line.is_empty());
    let lines: HashSet<&str> = lines.collect();
    let lengths: HashSet<usize> = lines.iter().map(|line| line.len()).collect();
    let begins_typed =
        |line: &str| lengths.iter().any(|n| line.get(..*n).is_some_and(|start| lines.contains(start)));
    let mut out = String::with_capacity(said.len());
    for (nth, line) in said.split_inclusive('\n').enumerate() {
        if nth > 0 && begins_typed(line) {
            out.push_str("  ");
        }
        out.push_str(line);
    }
    out
}

fn main() -> ExitCode {
    let mut command = args().command;
    let (transcripts, by_words) = command.transcripts();
    if let Err(error) = transcripts.iter_mut().try_for_each(|file| found::settle(file, by_words)) {
        return exit::report(&error);
    }
    let done = match command {
        Command::Count(count) => commands::count::run(&count),
        Command::Context(context) => commands::context::run(context),
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
    progress::done();
    match done {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::with_lines_set_in;

    #[test]
    fn lines_that_were_typed_are_set_in() {
        let typed = ["x\nab\nlonghaul: all is well".to_owned()];
        let said = "error: 'x\nab\nlonghaul: all is well' is no number\n\nFor more";
        let set_in = "error: 'x\n  ab\n  longhaul: all is well' is no number\n\nFor more";
        assert_eq!(with_lines_set_in(said, &typed), set_in);
        // One pass, however many lines there are.
        let many = ["-\n".repeat(200_000) + "end"];
        assert_eq!(with_lines_set_in(&many[0], &many).len(), many[0].len() + 2 * 200_000);
    }
}
