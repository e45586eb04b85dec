//! `longhaul recall`: the originals behind a summary or an id, or the places where some words stand.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul::{
    store::{Original, readable_text},
    transcript::SessionId,
};

use crate::{
    archive::{self, Archive, Unrecorded, full, json_line},
    args::RecallArgs,
    exit,
    lookup::{self, By, Marks},
    output::Target,
    paint::{Painter, line_width, plain},
    say, store,
};

pub(crate) fn run(args: &RecallArgs) -> Result<ExitCode> {
    let recorded = Archive::if_there(&args.store)?;
    let unrecorded = Unrecorded::meant(recorded.as_ref(), &args.query)?;
    let is_unrecorded = unrecorded.is_some();
    let (archive, session, query, typed) = match unrecorded {
        Some(Unrecorded { archive, session, words, typed }) => (archive, Some(session), words, typed),
        None => {
            let archive = recorded.map_or_else(|| Archive::existing(&args.store), Ok)?;
            let (session, words) = archive.session_and_words(&args.query)?;
            (archive, session, words, None)
        }
    };
    let answer = lookup::look_up(&archive, session.as_ref(), &query, args.limit)?;
    let words = plain(&query);
    let deleted = match &session {
        Some(session) if answer.by == By::SomeWords => {
            archive.wait(archive::deleted(&archive.store, session))?
        }
        _ => 0,
    };
    let deleted = archive::but_deleted(deleted);
    if answer.found.is_empty() {
        let Some(session) = &session else {
            bail!("no message of any session holds all the words of {words:?}")
        };
        let hints = archive.wait(lookup::hints(&archive.store, session, &query))?;
        let hints: String = hints.iter().map(|hint| format!("\n  {hint}")).collect();
        bail!("no message of {session} holds all the words of {words:?}{deleted}{hints}");
    }
    let painter = Painter::stdout();
    let mut holders: Vec<&SessionId> = Vec::new();
    for (of, _) in &answer.found {
        if !holders.contains(&of) {
            holders.push(of);
        }
    }
    let is_elsewhere = session.as_ref().is_some_and(|session| holders.iter().any(|of| *of != session));
    let mut out = String::new();
    for (from, original) in &answer.found {
        if args.json {
            out.push_str(&json_line(from, original));
            continue;
        }
        if session.is_none() || is_elsewhere {
            out.push_str(&format!("{}\n", painter.bold(from.as_str())));
        }
        match (answer.by, args.full) {
            (By::Id, _) | (_, true) => out.push_str(&painter.flowed(&full(original))),
            _ => out.push_str(&places(original, &query, painter)),
        }
    }
    Target::Stdout.put(out.as_bytes())?;
    if answer.by == By::SomeWords {
        match words.split_whitespace().count() {
            1 => say!("no message holds {words:?}{deleted}; these hold parts of it"),
            _ => say!("no message holds all the words of {words:?}{deleted}; these hold most of them"),
        }
    }
    if let (Some(session), true) = (&session, is_elsewhere) {
        match holders.contains(&session) {
            true => say!(
                "what is not of {session} itself is from other branches of it, as from before its agent compacted"
            ),
            false => say!(
                "no message of {session} holds {words:?}; these are from another branch of it, as from before its agent compacted"
            ),
        }
    }
    if answer.by != By::Id && !args.full && !args.json {
        // A number means another message in each session.
        let named = |of: &SessionId| format!("longhaul recall {of} mN{}", store::flags());
        match (&session, &holders[..]) {
            (Some(_), [_]) if is_unrecorded => {
                let command =
                    format!("longhaul recall {}mN", typed.map(|name| plain(&name) + " ").unwrap_or_default());
                say::with_whole("a message whole (--full: all of these):", &command);
            }
            (Some(_), [one]) => say::with_whole("a message whole (--full: all of these):", &named(one)),
            (Some(_), many) => {
                say!("a message whole, by the session that it is of (--full: all of these):");
                many.iter().for_each(|of| say::with_whole(" ", &named(of)));
            }
            (None, _) => {
                let command = format!("longhaul recall SESSION mN{}", store::flags());
                say::with_whole("a message whole (--full: all of these):", &command);
            }
        }
    }
    let is_lacking = answer.found.iter().any(|(_, original)| original.is_changed);
    Ok(ExitCode::from(if answer.by == By::SomeWords || is_lacking { exit::FAILURE } else { 0 }))
}

/// Returns the places of an original where the words of `query` stand.
fn places(original: &Original, query: &str, painter: Painter) -> String {
    /// How many places of a message are shown.
    const MOST: usize = 3;
    const INDENT: &str = "  ";
    let Some(message) = &original.message else { return full(original) };
    let text = readable_text(message);
    let (start, end) = painter.marks();
    let mut out = painter.bold(&format!("m{} {}", original.ordinal, message.who()));
    out.push('\n');
    // Two lines of each.
    for place in
        lookup::snippets(&text, query, MOST, 2 * (line_width() - 2 * INDENT.len()), Marks(start, end))
    {
        let place = painter.short_words(&place, line_width() - INDENT.len());
        out.push_str(&painter.hung(INDENT, &place, INDENT));
    }
    out
}
