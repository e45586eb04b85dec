//! `longhaul sessions`: what is recorded.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    archive::{Archive, utc},
    args::SessionsArgs,
    output::Target,
    paint::{grouped, wrapped},
};

pub(crate) fn run(args: &SessionsArgs) -> Result<ExitCode> {
    let archive = Archive::existing(&args.store)?;
    let sessions = archive.wait(archive.store.sessions())?;
    let mut out = String::new();
    for info in &sessions {
        let state = &info.state;
        if args.json {
            let value = serde_json::json!({
                "version": 1,
                "session": info.session,
                "aliases": info.aliases,
                "messages": state.messages,
                "compactions": state.chain.len(),
                "head": state.head(),
                "opened_at_ms": state.opened_at_ms,
                "changed_at_ms": state.changed_at_ms,
            });
            out.push_str(&format!("{value}\n"));
        } else {
            let names: Vec<&str> = info.aliases.iter().map(|alias| alias.as_str()).collect();
            if out.is_empty() {
                out.push_str("changed           messages  compactions  session\n");
            }
            let columns = format!(
                "{}  {:>8}  {:>11}  ",
                utc(state.changed_at_ms),
                grouped(state.messages),
                state.chain.len()
            );
            let known_as = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            out.push_str(&wrapped(
                &columns,
                &format!("{}{known_as}", info.session),
                &" ".repeat(columns.len()),
            ));
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    if sessions.is_empty() {
        say!("nothing is recorded yet");
    }
    Ok(ExitCode::SUCCESS)
}
