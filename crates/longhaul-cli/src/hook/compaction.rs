//! Before the agent compacts everything is kept; after it the agent is given what our summary says, and how to ask for more.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Parser as _;
use longhaul::{
    store::lasting_key,
    transcript::{ContentHash, Redacted, SessionId, Tokens},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Event, notes, program};
use crate::{
    archive::Archive,
    args::{Args, Command, CompactArgs, StoreArgs},
    commands::compact::{Report, keep},
    paint::{counted, grouped},
    store::{self, Recorded},
};

/// Of a session that costs no more its newest request is told alone: the agent's own summary tells the rest.
const SHORT: Tokens = Tokens(6_000);
/// What every history fits into: it is kept as it is.
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
    /// It is told of in notes.
    #[serde(default)]
    is_long: bool,
    /// Where those from behind it are, where they are kept already.
    #[serde(default)]
    now: Option<SessionId>,
    /// What was said last before the compaction is not among them.
    #[serde(default)]
    lacks_the_end: bool,
}

/// Keeps every message of the transcript, and says what will go.
pub(super) fn before(store: &StoreArgs, event: &Event) -> Result<Value> {
    if event.transcript_path.is_empty() {
        bail!("the event says no transcript_path: there is nothing to keep");
    }
    let path = Path::new(&event.transcript_path);
    // Should keeping fail, what was kept before another compaction is not given for this one; should this fail, keeping may not.
    drop(Archive::to_change(store).and_then(|archive| note(&archive, event, None)));
    let (report, recorded) = recorded(store, path)?;
    let noted = Noted {
        id: report.session_id.clone(),
        session: SessionId::new(&recorded.session)?,
        is_long: report.tokens_before > SHORT,
        now: None,
        lacks_the_end: false,
    };
    note(&Archive::to_change(store)?, event, Some(&noted))?;
    let earlier = match recorded.earlier.is_empty() {
        true => "",
        false => ", and those from before its earlier compactions",
    };
    let words = format!(
        "longhaul kept all {} messages ({} tokens) that the agent sees{earlier}; what the compaction takes out comes back with: {} recall \
         {} WORDS{}",
        grouped(report.messages_before as u64),
        grouped(report.tokens_before.0),
        program()?,
        recorded.session,
        store::flags_from_anywhere(store).unwrap_or_default()
    );
    Ok(json!({ "systemMessage": words }))
}

/// Keeps the transcript. No summary of it is recorded: none is in force, and an agent that compacts keeps nothing that it would
/// stand before.
fn recorded(store: &StoreArgs, path: &Path) -> Result<(Report, Recorded)> {
    // Whatever the user's settings say: nobody waits for a model, and nothing is deleted.
    let line = ["longhaul", "compact", "--mode", "rules", "--budget", EVERYTHING];
    let line = [&line[..], &["--set", "delete_originals=false", "--"]].concat();
    let line = line.into_iter().map(std::ffi::OsString::from).chain([path.into()]);
    let Command::Compact(args) = Args::try_parse_from(line)?.command else { bail!("no compaction") };
    let mut report = keep(&CompactArgs { store: store.clone(), ..*args })?;
    let Some(recorded) = report.recorded.take() else {
        bail!("nothing was recorded: {}", report.not_recorded.unwrap_or_default())
    };
    Ok((report, recorded))
}

/// Returns what is to be said of the session that was kept before this compaction and how to look up the rest; `None` where nothing
/// is.
pub(super) fn after(store: &StoreArgs, event: &Event) -> Result<Option<Value>> {
    let noted = match Archive::is_there(store)? {
        true => noted(&Archive::existing(store)?, event)?,
        false => None,
    };
    let Some(noted) = noted.map_or_else(|| looked_for(store, event), |noted| Ok(Some(noted)))? else {
        return Ok(None);
    };
    let archive = Archive::existing(store)?;
    let Noted { id, session, is_long, now, .. } = &noted;
    let mut earlier = id.as_ref().map_or(Ok(Vec::new()), |id| archive.family(id.as_str()))?;
    earlier.retain(|other| other != session && now.as_ref() != Some(other));
    let flags = store::flags_from_anywhere(store).unwrap_or_default();
    let last = archive.wait(archive.store.require(session))?.messages.saturating_sub(1);
    let how = how(&noted, last, &earlier, (&program()?, &flags));
    let room = LONGEST.saturating_sub(how.len());
    let told = match is_long {
        true => notes::of(&archive, session, room)?,
        false => notes::newest_request(&archive, session)?,
    };
    let text = format!("{how}{}", notes::whole_lines(&told, room));
    Ok(Some(json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } })))
}

/// Returns what there is to tell of where nothing was kept right before the compaction: what the transcript holds from before it, which
/// is kept now; where it cannot be read, what the store has of the session.
fn looked_for(store: &StoreArgs, event: &Event) -> Result<Option<Noted>> {
    let error = match recorded(store, Path::new(&event.transcript_path)) {
        Ok((report, recorded)) => {
            let now = SessionId::new(&recorded.session)?;
            // What the agent saw before its newest compaction; all of it, where that is not written yet.
            let session = recorded.earlier.last().unwrap_or(&now).clone();
            let is_long = notes::cost(&Archive::existing(store)?, &session)? > SHORT;
            let (id, now) = (report.session_id, Some(now));
            return Ok(Some(Noted { id, session, is_long, now, lacks_the_end: false }));
        }
        Err(error) => error,
    };
    let (Ok(id), true) = (SessionId::new(&event.session_id), Archive::is_there(store)?) else {
        return Err(error);
    };
    let archive = Archive::existing(store)?;
    let Some(session) = archive.family(id.as_str())?.into_iter().next() else { return Err(error) };
    let is_long = notes::cost(&archive, &session)? > SHORT;
    Ok(Some(Noted { id: Some(id), session, is_long, now: None, lacks_the_end: true }))
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

/// Returns how `program` looks up, with these flags, what was said before the compaction, to its `last` message, and what stands below.
fn how(noted: &Noted, last: u64, earlier: &[SessionId], (program, flags): (&str, &str)) -> String {
    /// So many are named; words are found in all of them.
    const NAMED: usize = 4;
    /// The example of a message, where there are so many.
    const USUAL: u64 = 12;
    let Noted { session, is_long, lacks_the_end, .. } = noted;
    let named: Vec<&str> = earlier.iter().take(NAMED).map(SessionId::as_str).collect();
    let more = match earlier.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "older session")),
    };
    let earlier = match earlier.is_empty() {
        true => String::new(),
        false => format!(
            " What was said before earlier compactions is not in what follows here; those commands find it too, and it is in {}{more}.",
            named.join(", ")
        ),
    };
    let kept = match lacks_the_end {
        true => {
            "longhaul could not keep what was said last before the compaction; what it kept before that is not lost."
        }
        false => "What was said before the compaction is kept by longhaul.",
    };
    let notes = match is_long {
        true => {
            " These notes were made by rule from all that the agent saw last; the marks m0, m1 name its messages."
        }
        false => "",
    };
    format!(
        "{kept} Where a detail is missing (a path, a value, what was decided, what a command printed), look it up before you ask or do \
         it again: `{program} recall {session} WORDS{flags}`, `{program} recall {session} m{}{flags}` for one message whole, or the MCP \
         tool `recall` of longhaul where it is there.{notes}{earlier}\n\n",
        last.min(USUAL)
    )
}
