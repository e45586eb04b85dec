//! Before the agent compacts everything is kept; after it the agent is given what our summary says, and how to ask for more.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Parser as _;
use longhaul::{
    transcript::{SessionId, SummaryRecord},
    wire,
};
use serde_json::{Value, json};

use super::Event;
use crate::{
    archive::Archive,
    args::{Args, Command, CompactArgs, StoreArgs},
    commands::compact::{Report, keep},
    input,
    paint::grouped,
};

/// The most that the summary may cost that is given after a compaction, in tokens; the agent's own stands beside it.
const SUMMARY: &str = "2k";
/// What the history may cost of which it is the summary: so little that nearly all is told in it.
const BUDGET: &str = "6k";
/// More characters than this are put into a file by Claude Code, and the agent sees only where.
const LONGEST: usize = 9_500;

/// Keeps every message of the transcript, with a summary by rule, and says what will go.
pub(super) fn before(store: &StoreArgs, event: &Event) -> Result<Value> {
    let path = Path::new(&event.transcript_path);
    // A request that is larger than that cannot be told in so little.
    let kept = kept(store, path, &["--budget", BUDGET]).or_else(|_| kept(store, path, &[]))?;
    let words = match (&kept.recorded, &kept.summary) {
        (Some(recorded), Some(_)) => format!(
            "longhaul kept all {} messages ({} tokens); what the compaction takes out comes back with: longhaul recall {} WORDS",
            grouped(kept.messages_before as u64),
            grouped(kept.tokens_before.0),
            recorded.session
        ),
        _ => bail!("nothing was recorded"),
    };
    Ok(json!({ "systemMessage": words }))
}

fn kept(store: &StoreArgs, path: &Path, flags: &[&str]) -> Result<Report> {
    let line = [&["longhaul", "compact", "--max-summary-tokens", SUMMARY], flags, &["--"]].concat();
    let line = line.into_iter().map(std::ffi::OsString::from).chain([path.into()]);
    let Command::Compact(args) = Args::try_parse_from(line)?.command else { bail!("no compaction") };
    keep(&CompactArgs { store: store.clone(), ..*args })
}

/// Returns what the session's newest summary says and how to look up the rest; `None` where nothing of it was kept.
pub(super) fn after(store: &StoreArgs, event: &Event) -> Result<Option<Value>> {
    let document = input::document(Path::new(&event.transcript_path), Some(wire::Format::ClaudeCode))?;
    let archive = Archive::existing(store)?;
    let Some(id) = document.session_id() else { return Ok(None) };
    let sessions = archive.family(id.as_str())?;
    let Some(newest) = sessions.first() else { return Ok(None) };
    let Some(record) = archive.wait(archive.store.head(newest))? else { return Ok(None) };
    let text = context(&record, &sessions);
    Ok(Some(json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } })))
}

fn context(record: &SummaryRecord, sessions: &[SessionId]) -> String {
    let session = sessions.first().map_or("all", SessionId::as_str);
    let earlier: Vec<&str> = sessions.iter().skip(1).map(SessionId::as_str).collect();
    let earlier = match earlier.is_empty() {
        true => String::new(),
        false => format!(" What was said before earlier compactions is in {}.", earlier.join(", ")),
    };
    let how = format!(
        "What was said before the compaction is kept by longhaul. Where a detail is missing (a path, a value, what was decided, \
         what a command printed), look it up before you ask or do it again: `longhaul recall {session} WORDS`, \
         `longhaul recall {session} m12` for one message whole, or the MCP tool `recall` of longhaul where it is there. These \
         notes were made by rule from the whole conversation; the marks m0, m1 name its messages.{earlier}\n\n"
    );
    let room = LONGEST.saturating_sub(how.len());
    let end = record.text.floor_char_boundary(room.min(record.text.len()));
    // What does not fit goes in whole lines.
    let cut = match end < record.text.len() {
        true => record.text[..end].rfind('\n').unwrap_or(end),
        false => end,
    };
    format!("{how}{}", &record.text[..cut])
}
