//! Export and import: a session as JSON lines, the same bytes from every backend.

use std::sync::Arc;

use longhaul_transcript::{ContentHash, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    Change, Event, EventKind, Object, Problem, Step, StoreError, StoredSession, SummaryStore, kin,
    object::{is_spelling, read_message, read_record},
};

/// The first line of a session.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    #[serde(rename = "type")]
    kind: String,
    session: SessionId,
    aliases: Vec<SessionId>,
}

/// One event, with the contents it names in the same order; `null` for one that was destroyed.
#[derive(Serialize, Deserialize)]
struct Line {
    event: Event,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contents: Vec<Option<Box<RawValue>>>,
}

/// The last line of a session: what is missing after a cut is then known.
#[derive(Debug, Serialize, Deserialize)]
struct Footer {
    end: u64,
    last_hash: ContentHash,
}

/// Returns `session`, and behind it the lines that it comes from as far as one is of a name that `session` has now: that it has it
/// rightly is known by their logs alone.
pub(crate) async fn export<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
) -> Result<String, StoreError> {
    store.require(session).await?;
    let info = store.sessions().await?.into_iter().find(|info| info.session == *session);
    let aliases = info.map(|info| info.aliases).unwrap_or_default();
    let origins = kin::origins(store, session).await?;
    let left = origins.iter().rposition(|origin| aliases.contains(origin)).map_or(0, |last| last + 1);
    let mut out = export_line(store, session, aliases).await?;
    for origin in &origins[..left] {
        out.push_str(&export_line(store, origin, Vec::new()).await?);
    }
    Ok(out)
}

async fn export_line<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    aliases: Vec<SessionId>,
) -> Result<String, StoreError> {
    let state = store.require(session).await?;
    let kind = EXPORT_TYPE.to_owned();
    let mut out = line(&Header { version: 1, kind, session: session.clone(), aliases });
    let mut seq = 0;
    while seq < state.events {
        let events = store.events(session, seq, EVENTS_AT_ONCE).await?;
        let named: Vec<Vec<(ContentHash, bool)>> = events.iter().map(|event| named(event, &state)).collect();
        let addresses: Vec<ContentHash> = named.iter().flatten().map(|(address, _)| *address).collect();
        let mut found = store.contents(session, &addresses).await?.into_iter();
        let Some(last) = events.last() else {
            return Err(StoreError::Damaged {
                session: session.clone(),
                problem: Problem::MissingEvent { seq },
            });
        };
        seq = last.seq + 1;
        for (event, named) in events.into_iter().zip(named) {
            let contents = named.into_iter().zip(found.by_ref());
            let contents = contents.map(|((address, is_gone), json)| match (json, is_gone) {
                (_, true) => Ok(None),
                (Some(json), false) if ContentHash::of(&json) == address => {
                    let json = String::from_utf8(json).ok().and_then(|json| RawValue::from_string(json).ok());
                    json.map(Some).ok_or(StoreError::DamagedContent { address })
                }
                _ => Err(StoreError::DamagedContent { address }),
            });
            let contents = contents.collect::<Result<_, StoreError>>()?;
            out.push_str(&line(&Line { event, contents }));
        }
    }
    out.push_str(&line(&Footer { end: state.events, last_hash: state.last_hash }));
    Ok(out)
}

/// Returns the contents that an event names, and of each whether it was destroyed since.
fn named(event: &Event, state: &StoredSession) -> Vec<(ContentHash, bool)> {
    match &event.kind {
        EventKind::Originals { start, addresses, spellings } => {
            let at = |(ordinal, address): (u64, &ContentHash)| (*address, state.is_forgotten(ordinal));
            let spelled = (*start..).zip(spellings).filter_map(|(at, address)| Some((at, address.as_ref()?)));
            (*start..).zip(addresses).chain(spelled).map(at).collect()
        }
        EventKind::Compacted { record, address, .. } => {
            vec![(*address, state.forgotten_records.contains(record))]
        }
        _ => Vec::new(),
    }
}

pub(crate) async fn import<S: SummaryStore + ?Sized>(
    store: &S,
    lines: &str,
) -> Result<Vec<SessionId>, StoreError> {
    let mut lines = lines.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (mut sessions, mut names) = (Vec::new(), Vec::new());
    while let Some((number, text)) = lines.next() {
        if text.trim().is_empty() {
            continue;
        }
        let header = header(number, text)?;
        let (session, mut state) = (header.session, StoredSession::empty());
        let mut steps: Vec<Step> = Vec::new();
        let mut hashes = Vec::new();
        let mut with_gaps: Vec<(usize, Event)> = Vec::new();
        loop {
            let cut =
                StoreError::NotAnExport { line: number, reason: "the session that begins here has no end" };
            let (number, text) = lines.next().ok_or(cut)?;
            let wrong = |reason| StoreError::NotAnExport { line: number, reason };
            if let Ok(footer) = serde_json::from_str::<Footer>(text) {
                if footer.end != state.events || footer.last_hash != state.last_hash {
                    return Err(wrong("events are missing before this end"));
                }
                break;
            }
            let line: Line = serde_json::from_str(text).map_err(|_| wrong("neither an event nor an end"))?;
            state
                .apply(&session, &line.event)
                .map_err(|_| wrong("the event does not follow the one before"))?;
            hashes.push(line.event.hash);
            let objects = objects(&line).map_err(|_| wrong("a content does not have its hash"))?;
            if objects.contains(&None) {
                with_gaps.push((number, line.event.clone()));
            }
            steps.push(Step { at_ms: line.event.at_ms, kind: line.event.kind, objects });
        }
        // What is missing must have been destroyed by an event of the log, or somebody took it out of the file.
        for (number, event) in with_gaps {
            let contents = steps.get(event.seq as usize).map_or(&[][..], |step| &step.objects);
            let is_whole = named(&event, &state)
                .iter()
                .zip(contents)
                .all(|((_, is_gone), held)| *is_gone || held.is_some());
            if !is_whole {
                let reason = "a content is missing that was never forgotten";
                return Err(StoreError::NotAnExport { line: number, reason });
            }
        }
        add(store, &session, steps, hashes).await?;
        names.extend(header.aliases.into_iter().map(|name| (name, session.clone())));
        sessions.push(session);
    }
    // What a name stood for may stand behind what it stands for now.
    for (name, session) in names {
        let moves = match store.alias(&name).await? {
            Some(before) => store.comes_from(&session, &before).await?,
            None => true,
        };
        if moves {
            store.set_alias(&name, &session).await?;
        }
    }
    Ok(sessions)
}

/// Adds what the session does not have yet, where what it has is the beginning of `steps`.
async fn add<S: SummaryStore + ?Sized>(
    store: &S,
    session: &SessionId,
    steps: Vec<Step>,
    hashes: Vec<ContentHash>,
) -> Result<(), StoreError> {
    let Some(last) = hashes.len().checked_sub(1) else { return Ok(()) };
    // An older export of a session that went on has nothing to add.
    let held = store.events(session, last as u64, 1).await?;
    if held.first().is_some_and(|event| event.hash == hashes[last]) {
        return Ok(());
    }
    let name = session.clone();
    let decide = move |state: &StoredSession| {
        let held = state.events as usize;
        let is_beginning = held == 0 || hashes.get(held - 1) == Some(&state.last_hash);
        match is_beginning {
            true => Ok(Change { steps: steps[held..].to_vec(), ..Change::default() }),
            false => Err(StoreError::SessionExists { session: name.clone() }),
        }
    };
    store.transact(session, Arc::new(decide)).await.map(drop)
}

fn header(number: usize, text: &str) -> Result<Header, StoreError> {
    let wrong = StoreError::NotAnExport { line: number, reason: "expected the first line of a session" };
    let header: Header = serde_json::from_str(text).map_err(|_| wrong)?;
    if header.kind != EXPORT_TYPE {
        return Err(StoreError::NotAnExport { line: number, reason: "the type is not longhaul-session" });
    }
    if header.version > 1 {
        return Err(StoreError::NewerVersion { what: "the export", found: header.version, known: 1 });
    }
    Ok(header)
}

/// Returns the contents of a line, each checked against the address that the event gives it.
fn objects(line: &Line) -> Result<Vec<Option<Object>>, ()> {
    let addresses = line.event.kind.contents();
    if addresses.len() != line.contents.len() {
        return Err(());
    }
    let contents = addresses.into_iter().zip(&line.contents).enumerate().map(|(at, (address, json))| {
        let Some(json) = json.as_ref().map(|json| json.get()) else { return Ok(None) };
        let is_right = match &line.event.kind {
            EventKind::Originals { addresses, .. } if at < addresses.len() => {
                read_message(address, json.as_bytes()).is_ok()
            }
            EventKind::Originals { .. } => is_spelling(address, json.as_bytes()),
            _ => read_record(address, json.as_bytes()).is_ok(),
        };
        let object = Object { address, json: json.into() };
        is_right.then_some(Some(object)).ok_or(())
    });
    contents.collect()
}

fn line<T: Serialize>(value: &T) -> String {
    let mut line = serde_json::to_string(value).expect("an export line has string keys only");
    line.push('\n');
    line
}

const EXPORT_TYPE: &str = "longhaul-session";

/// How many events are held in memory at once, with their contents.
const EVENTS_AT_ONCE: usize = 64;
