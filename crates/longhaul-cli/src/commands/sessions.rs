//! `longhaul sessions`: what agents keep on this machine, and what is recorded.

use std::{
    collections::{HashMap, HashSet},
    process::ExitCode,
};

use crate::{
    archive::{Archive, utc},
    args::{SessionsArgs, StoreArgs},
    found::{self, Found},
    output::Target,
    paint::{GREY, Painter, counted, grouped, harmless_json, line_width, name, width},
    store,
};
use anyhow::Result;

pub(crate) fn run(args: &SessionsArgs) -> Result<ExitCode> {
    let found = found::all();
    if args.json {
        Target::Stdout.put(found::json_lines(&found, args.limit).as_bytes())?;
    } else if !found.is_empty() {
        let table = found::table(&found, args.limit);
        let head = "on this machine; an id, or words, name one: longhaul context ID";
        let head = Painter::stdout().hung("", head, "  ");
        Target::Stdout.put(format!("{head}{table}\n").as_bytes())?;
    }
    // Where agents keep sessions here, that there is no store yet is no failure.
    if !found.is_empty() && !store::place(&args.store)?.may_exist() {
        say!("nothing is recorded yet");
        return Ok(ExitCode::SUCCESS);
    }
    let recorded = recorded(&args.store, &found, args.json, args.limit)?;
    Target::Stdout.put(recorded.as_bytes())?;
    if recorded.is_empty() {
        say!("nothing is recorded yet");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the newest sessions on this machine, and those that are recorded, at most so many of each.
#[cfg(feature = "mcp")]
pub(crate) fn told(args: &StoreArgs, most: usize) -> Result<String> {
    let found = found::all();
    let table = match found.is_empty() {
        true => "no session of an agent's was found on this machine\n".to_owned(),
        false => found::table(&found, most),
    };
    let recorded = match store::place(args)?.may_exist() {
        true => recorded(args, &found, false, most)?,
        false => String::new(),
    };
    Ok(match recorded.is_empty() {
        true => format!("{table}\nnothing is recorded yet\n"),
        false => format!("{table}\n{recorded}"),
    })
}

/// Returns what the store has.
fn recorded(args: &StoreArgs, found: &[Found], json: bool, most: usize) -> Result<String> {
    let archive = Archive::existing(args)?;
    let sessions = archive.wait(archive.store.sessions())?;
    let mut out = String::new();
    let asked: Vec<Vec<String>> = sessions.iter().take(most).map(|info| archive.asked(info, found)).collect();
    for (info, title) in sessions.iter().zip(titles(&asked)) {
        let state = &info.state;
        if json {
            let value = serde_json::json!({
                "version": 1,
                "kind": "recorded",
                "session": info.session,
                "aliases": info.aliases,
                "title": title,
                "messages": state.messages,
                "compactions": state.chain.len(),
                "head": state.head(),
                "opened_at_ms": state.opened_at_ms,
                "changed_at_ms": state.changed_at_ms,
            });
            out.push_str(&harmless_json(&value.to_string()));
        } else {
            let names: Vec<&str> = info.aliases.iter().map(|alias| alias.as_str()).collect();
            if out.is_empty() {
                let head = "recorded          messages  compactions  session\n";
                let is_beside = !Painter::stdout().is_seen() || width(head) <= line_width();
                out.push_str(if is_beside { head } else { "recorded          messages  compactions\n" });
            }
            let columns = format!(
                "{}  {:>8}  {:>11}  ",
                utc(state.changed_at_ms),
                grouped(state.messages),
                state.chain.len()
            );
            out.push_str(&named(&columns, info.session.as_str(), &names));
            if let Some(title) = title {
                let painter = Painter::stdout();
                out.push_str(&format!("    {}\n", painter.paint(GREY, &painter.cut(&name(&title), 4))));
            }
        }
    }
    if !json && sessions.len() > most {
        out.push_str(&format!("… and {}\n", counted((sessions.len() - most) as u64, "other")));
    }
    Ok(out)
}

/// Returns a title for each of these sessions: what was asked first in it, and where others began alike, what was asked in none of
/// them, as far as there is such a thing.
fn titles(asked: &[Vec<String>]) -> Vec<Option<String>> {
    // In how many of those that begin so each line stands: the first in all of them.
    let mut holders: HashMap<(&str, &str), usize> = HashMap::new();
    for lines in asked {
        let Some(first) = lines.first() else { continue };
        for line in lines.iter().collect::<HashSet<_>>() {
            *holders.entry((first, line)).or_default() += 1;
        }
    }
    let in_how_many = |first: &str, line: &str| holders.get(&(first, line)).copied().unwrap_or_default();
    let title = |one: &Vec<String>| {
        let first = one.first()?;
        let is_alone = in_how_many(first, first) == 1;
        let own = one.iter().skip(1).find(|line| !is_alone && in_how_many(first, line) == 1);
        Some(own.map_or_else(|| first.clone(), |own| format!("{first} · {own}")))
    };
    asked.iter().map(title).collect()
}

/// Returns a row of the table that ends in the session's id and its other names, whole so that they can be copied: below it where
/// they are too long.
fn named(columns: &str, session: &str, names: &[&str]) -> String {
    let known_as = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let painter = Painter::stdout();
    if !painter.is_seen() || width(columns) + width(session) + width(&known_as) <= line_width() {
        return format!("{columns}{session}{known_as}\n");
    }
    let is_beside = width(columns) + width(session) <= line_width();
    let first = match is_beside {
        true => format!("{columns}{session}\n"),
        false => format!("{}\n    {session}\n", columns.trim_end()),
    };
    names.iter().fold(first, |row, name| row + &painter.with_whole("    ", "also:", name))
}
