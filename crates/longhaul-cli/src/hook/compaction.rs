//! Before the agent compacts everything is kept; after it the agent is given what our summary says, and how to ask for more.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Parser as _;
use longhaul::{
    extract::speaker::segments,
    store::{Original, lasting_key, readable_text},
    transcript::{ContentHash, Redacted, SessionId, Span, SummaryId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Event, program};
use crate::{
    archive::{Archive, span},
    args::{Args, Command, CompactArgs, StoreArgs},
    commands::compact::{Report, keep},
    paint::grouped,
    store::{self, Recorded},
};

/// The most that the summary may cost that is given after a compaction, in tokens; the agent's own stands beside it.
const SUMMARY: &str = "2k";
/// What the history may cost of which it is the summary: so little that nearly all is told in it.
const BUDGET: &str = "6k";
/// What every history fits into, so that none is summarized.
const EVERYTHING: &str = "1000000000";
/// More characters than this are put into a file by Claude Code, and the agent sees only where.
const LONGEST: usize = 9_500;

/// What was kept before a compaction, as the hook after it needs it.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    /// The session as the agent calls it.
    id: Option<SessionId>,
    /// Where its messages are.
    session: SessionId,
    /// What tells of them in short; a short session needs none.
    summary: Option<SummaryId>,
}

/// Keeps every message of the transcript, with a summary by rule where it is long, and says what will go.
pub(super) fn before(store: &StoreArgs, event: &Event) -> Result<Value> {
    if event.transcript_path.is_empty() {
        bail!("the event says no transcript_path: there is nothing to keep");
    }
    let path = Path::new(&event.transcript_path);
    // Should keeping fail, what was kept before another compaction is not given for this one; should this fail, keeping may not.
    drop(Archive::to_change(store).and_then(|archive| note(&archive, event, None)));
    // A request that is larger than the first cannot be told in so little; and where no summary can be made or recorded, what
    // was said is kept all the same.
    let ways: [&[&str]; 3] = [&["--budget", BUDGET], &[], &["--budget", EVERYTHING]];
    let (mut kept, mut ways) = (recorded(store, path, ways[0]), ways[1..].iter());
    while let (Err(_), Some(way)) = (&kept, ways.next()) {
        kept = recorded(store, path, way).or(kept);
    }
    let (report, recorded) = kept?;
    let noted = Noted {
        id: report.session_id.clone(),
        session: SessionId::new(&recorded.session)?,
        summary: report.summary.as_ref().map(|record| record.id.clone()),
    };
    note(&Archive::to_change(store)?, event, Some(&noted))?;
    let words = format!(
        "longhaul kept all {} messages ({} tokens); what the compaction takes out comes back with: {} recall {} WORDS{}",
        grouped(report.messages_before as u64),
        grouped(report.tokens_before.0),
        program()?,
        recorded.session,
        store::flags_from_anywhere(store).unwrap_or_default()
    );
    Ok(json!({ "systemMessage": words }))
}

/// Keeps the transcript, with a summary where it does not fit into the budget that `flags` say.
fn recorded(store: &StoreArgs, path: &Path, flags: &[&str]) -> Result<(Report, Recorded)> {
    // Whatever the user's settings say: by rule, since the agent waits, and not for a model; and nothing is deleted.
    let line: [&[&str]; 4] = [
        &["longhaul", "compact", "--mode", "rules", "--max-summary-tokens", SUMMARY],
        &["--set", "delete_originals=false"],
        flags,
        &["--"],
    ];
    let line = line.concat().into_iter().map(std::ffi::OsString::from).chain([path.into()]);
    let Command::Compact(args) = Args::try_parse_from(line)?.command else { bail!("no compaction") };
    let mut report = keep(&CompactArgs { store: store.clone(), ..*args })?;
    let Some(recorded) = report.recorded.take() else {
        bail!("nothing was recorded: {}", report.not_recorded.unwrap_or_default())
    };
    Ok((report, recorded))
}

/// Returns what the summary says that was kept before this compaction and how to look up the rest; `None` where nothing was.
pub(super) fn after(store: &StoreArgs, event: &Event) -> Result<Option<Value>> {
    let archive = Archive::existing(store)?;
    let Some(noted) = noted(&archive, event)? else { return Ok(None) };
    let mut sessions = noted.id.as_ref().map_or(Ok(Vec::new()), |id| archive.family(id.as_str()))?;
    sessions.retain(|session| *session != noted.session);
    let head = archive.wait(archive.store.head(&noted.session))?;
    let record = head.filter(|record| Some(&record.id) == noted.summary.as_ref());
    let said = with_request(&archive, &noted.session, record.as_ref().map_or("", |record| &record.text))?;
    let flags = store::flags_from_anywhere(store).unwrap_or_default();
    let text = context(&said, record.is_some(), &noted.session, &sessions, (&program()?, &flags));
    Ok(Some(json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } })))
}

/// Notes what was kept of the event's transcript; nothing, where it is not kept yet.
fn note(archive: &Archive, event: &Event, noted: Option<&Noted>) -> Result<()> {
    let json = Redacted::assume(serde_json::to_vec(&noted)?);
    archive.wait(archive.store.cache(&key(event), &json))
}

fn noted(archive: &Archive, event: &Event) -> Result<Option<Noted>> {
    let json = archive.wait(archive.store.cached(&key(event)))?;
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()).flatten())
}

/// Ids and numbers are all that stands there.
fn key(event: &Event) -> ContentHash {
    lasting_key([b"kept before a compaction".as_slice(), event.transcript_path.as_bytes()])
}

/// Returns what a summary says, with the newest request in it. What stays in the history that a summary was made for it does not
/// tell; here nothing stays.
fn with_request(archive: &Archive, session: &SessionId, text: &str) -> Result<String> {
    /// The most of a request that is told, in bytes.
    const LONGEST: usize = 1_500;
    let pointer = text.lines().find(|line| line.starts_with("## Request (m") && line.contains(BELOW));
    let named = pointer.and_then(|line| span(line.split(['(', ')']).nth(1)?));
    let newest = match named {
        Some(named) => archive.originals(session, named)?.pop(),
        None => newest_request(archive, session)?,
    };
    let Some((ordinal, said)) = newest.and_then(|said| Some((said.ordinal, said.message?))) else {
        return Ok(text.to_owned());
    };
    let (heading, asked) = (format!("## Request (m{ordinal})\n"), readable_text(&said));
    if text.contains(&heading) {
        return Ok(text.to_owned());
    }
    let asked = asked.trim();
    let end = asked.floor_char_boundary(LONGEST.min(asked.len()));
    let more = if end < asked.len() { " …" } else { "" };
    let rest = pointer.map_or_else(|| text.to_owned(), |line| text.replacen(&format!("{line}\n"), "", 1));
    Ok(format!("{heading}{}{more}\n{rest}", &asked[..end]))
}

/// Returns the newest message of a person's.
fn newest_request(archive: &Archive, session: &SessionId) -> Result<Option<Original>> {
    /// So many are looked at together.
    const STEP: u64 = 64;
    let is_persons = |said: &Original| {
        let message = said.message.as_ref().filter(|message| message.is_user_text());
        // Some of it the agent puts into the person's mouth.
        message.is_some_and(|message| segments(message).iter().any(|segment| segment.is_persons()))
    };
    let mut end = archive.wait(archive.store.require(session))?.messages;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let some = archive.originals(session, Span { start, end })?;
        if let Some(found) = some.into_iter().rev().find(is_persons) {
            return Ok(Some(found));
        }
        end = start;
    }
    Ok(None)
}

/// What the heading says of a request that the summary does not tell.
const BELOW: &str = ": the user's message below";

/// Returns what the agent is given: what was `said`, as a summary tells it or only its newest request, and how `program` looks up
/// the rest, with these flags.
fn context(
    said: &str,
    is_summary: bool,
    session: &SessionId,
    earlier: &[SessionId],
    (program, flags): (&str, &str),
) -> String {
    let earlier: Vec<&str> = earlier.iter().map(SessionId::as_str).collect();
    let earlier = match earlier.is_empty() {
        true => String::new(),
        false => format!(" What was said before earlier compactions is in {}.", earlier.join(", ")),
    };
    let notes = match is_summary {
        true => {
            " These notes were made by rule from the whole conversation; the marks m0, m1 name its messages."
        }
        false => "",
    };
    let how = format!(
        "What was said before the compaction is kept by longhaul. Where a detail is missing (a path, a value, what was decided, \
         what a command printed), look it up before you ask or do it again: `{program} recall {session} WORDS{flags}`, \
         `{program} recall {session} m12{flags}` for one message whole, or the MCP tool `recall` of longhaul where it is there.\
         {notes}{earlier}\n\n"
    );
    let room = LONGEST.saturating_sub(how.len());
    let end = said.floor_char_boundary(room.min(said.len()));
    // What does not fit goes in whole lines.
    let cut = match end < said.len() {
        true => said[..end].rfind('\n').unwrap_or(end),
        false => end,
    };
    format!("{how}{}", &said[..cut])
}
