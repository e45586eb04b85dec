//! `longhaul export` and `import`: a session as JSON lines, or as a transcript.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use longhaul::{
    redact::{Redactor, Vault},
    store::{EventKind, SessionInfo},
    transcript::{Message, Raw, RedactionCount, SessionId, Span, Speaker, Summary, SummaryRecord},
    wire::{self, Format},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    archive::Archive,
    args::{ExportArgs, ImportArgs},
    exit::{Impossible, NOTHING_TO_DO},
    input,
    output::Target,
    paint, say,
    store::{self, Replaced, Trace},
};

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let target = Target::new(args.output.as_deref(), args.force);
    target.check()?;
    store::spare(&args.store, "-o", args.output.as_deref())?;
    let archive = Archive::existing(&args.store)?;
    let session = archive.session(&args.session)?;
    let text = match args.to {
        Some(format) => transcript(&archive, &session, format.0)?,
        None => {
            archive.warn_if_changed(&session)?;
            archive.wait(archive.store.export(&session))?
        }
    };
    let is_ours = |there: &[u8]| is_export(&archive, &session, there).unwrap_or(false);
    if let Some(kept) = target.put_over(text.as_bytes(), is_ours, |_| Ok(()))? {
        say::with_whole("what was there is kept as", &paint::path(&kept));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a file is an export of this session that the store has all of: its last event is one of the log, and nothing
/// was forgotten since.
fn is_export(archive: &Archive, session: &SessionId, bytes: &[u8]) -> Result<bool> {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let json =
        |line: Option<&[u8]>| serde_json::from_slice::<Value>(line.unwrap_or_default()).unwrap_or_default();
    // Behind the session stand the lines that it comes from.
    let (header, footer) = (json(lines.next()), json(lines.find(|line| line.starts_with(b"{\"end\""))));
    let end = footer["end"].as_u64().unwrap_or_default();
    if header["type"] != "longhaul-session" || header["session"] != session.as_str() || end == 0 {
        return Ok(false);
    }
    let events = archive.wait(archive.store.events(session, end - 1, MOST_EVENTS))?;
    let is_known = events.first().is_some_and(|last| footer["last_hash"] == last.hash.to_string());
    Ok(is_known && !events.iter().skip(1).any(|event| matches!(event.kind, EventKind::Forgotten { .. })))
}

/// Returns every message of a session as a transcript, and says what could not be carried.
fn transcript(archive: &Archive, session: &SessionId, to: Option<Format>) -> Result<String> {
    let held = archive.wait(archive.store.require(session))?.messages;
    let originals = archive.originals(session, Span { start: 0, end: held })?;
    let changed = originals.iter().filter(|original| original.is_changed).count() as u64;
    let said: Vec<Message> = originals.into_iter().filter_map(|original| original.message).collect();
    let trace = last_trace(archive, session)?;
    let spelled = || said.iter().find_map(|message| message.raw.as_ref()?.format.parse().ok());
    let came_in = trace.as_ref().and_then(Trace::format).or_else(spelled);
    let to = to.or(came_in).unwrap_or(Format::Longhaul);
    let written =
        wire::render_session(&said, to, Some(session)).map_err(|error| Impossible(error.to_string()))?;
    let forgotten = held - said.len() as u64 - changed;
    if forgotten > 0 {
        say!("{} forgotten, not in the transcript", paint::counted(forgotten, "message"));
    }
    for loss in &written.losses {
        say!("{session} as {}: {loss}", to.name());
    }
    if to.is_session_file() {
        say!(
            "{session} as {}: what an agent's file has around its messages (folder, version, times, lines that are no messages) is \
             not in the store",
            to.name()
        );
        let replaced = trace.map(|trace| trace.files).unwrap_or_default();
        if let Some(was) = replaced.iter().rev().find_map(Replaced::where_it_was) {
            say::with_whole("the file as it was is", &was);
        }
    }
    let line_end = if written.json.ends_with('\n') { "" } else { "\n" };
    Ok(written.json + line_end)
}

/// Returns what the last compaction that left a trace did.
fn last_trace(archive: &Archive, session: &SessionId) -> Result<Option<Trace>> {
    for entry in archive.wait(archive.store.records(session))?.iter().rev() {
        if let Some(trace) = archive.trace(&entry.id)? {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode> {
    let lines = input::text(&args.file)?;
    if !args.no_redact {
        refuse_secrets(&lines).with_context(|| format!("{} is not imported", input::shown(&args.file)))?;
    }
    let take_in = |archive: &Archive| {
        let sessions = archive.wait(archive.store.import(&lines));
        sessions.with_context(|| format!("{} cannot be imported", input::shown(&args.file)))
    };
    if !Archive::is_there(&args.store)? {
        // What cannot be taken in leaves no empty store behind.
        take_in(&Archive::in_memory()?)?;
    }
    let archive = Archive::open(&args.store)?;
    let before = archive.wait(archive.store.sessions())?;
    let sessions = take_in(&archive)?;
    let mut is_anything_there = sessions.is_empty();
    let after = archive.wait(archive.store.sessions())?;
    for session in &sessions {
        let state = archive.wait(archive.store.require(session))?;
        for name in new_names(session, &before, &after) {
            say!("{name} is a name of {session} now");
        }
        let forgotten: u64 = state.forgotten.iter().map(Span::len).sum();
        is_anything_there |= forgotten < state.messages || state.messages == 0;
        let was_there = before.iter().any(|info| info.session == *session && info.state == state);
        match forgotten {
            0 if was_there => say!("{session} was in the store already: nothing of it is new"),
            0 => say!("{session} is in the store"),
            _ if forgotten == state.messages => {
                say!("{session} was forgotten here: none of it is taken in, and nothing comes back");
            }
            _ => say!(
                "{session} is in the store without the {forgotten} of its {} messages that were forgotten",
                state.messages
            ),
        }
    }
    Ok(ExitCode::from(if is_anything_there { 0 } else { NOTHING_TO_DO }))
}

/// Returns the names that a session has and had not.
fn new_names(session: &SessionId, before: &[SessionInfo], after: &[SessionInfo]) -> Vec<SessionId> {
    let names = |all: &[SessionInfo]| -> Vec<SessionId> {
        all.iter().filter(|info| info.session == *session).flat_map(|info| info.aliases.clone()).collect()
    };
    let had = names(before);
    names(after).into_iter().filter(|name| !had.contains(name)).collect()
}

/// Fails where `lines` hold what looks like a secret. They cannot be redacted: the log names each content by its hash.
///
/// What was redacted on its way into a store is judged as it was there, so that no export of ours is refused: a text in it is
/// looked at as a text, although it stands in JSON here.
fn refuse_secrets(lines: &str) -> Result<()> {
    let redactor = Redactor::builtin();
    for (at, line) in lines.lines().enumerate() {
        if let Some(rule) = secret_in(&redactor, line) {
            bail!("line {} holds what looks like a secret ({rule}); --no-redact takes it as it is", at + 1);
        }
    }
    Ok(())
}

/// A line with the contents that an event names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    event: &'a RawValue,
    #[serde(borrow, default)]
    contents: Vec<Option<&'a RawValue>>,
}

/// What is kept beside a message.
#[derive(Deserialize, Serialize)]
struct Spelling {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<Speaker>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<Raw>,
}

/// Returns the rule by which a line of an export holds a secret.
fn secret_in(redactor: &Redactor, line: &str) -> Option<String> {
    match serde_json::from_str::<Line<'_>>(line) {
        Ok(line) => in_json(redactor, line.event.get()).or_else(|| {
            line.contents.iter().flatten().find_map(|content| secret_in_content(redactor, content.get()))
        }),
        Err(_) => in_json(redactor, line),
    }
}

fn in_json(redactor: &Redactor, json: &str) -> Option<String> {
    Some(redactor.redact_json(json).1.first()?.rule.to_string())
}

fn secret_in_content(redactor: &Redactor, json: &str) -> Option<String> {
    // Where anything else stands in it than what is read, it is judged as it stands.
    let is_all_of_it = |read: serde_json::Result<String>| read.is_ok_and(|read| read == json);
    let first = |counts: Vec<RedactionCount>| counts.into_iter().next().map(|count| count.rule);
    if let Ok(message) = serde_json::from_str::<Message>(json)
        && is_all_of_it(serde_json::to_string(&message))
    {
        return first(redactor.redact_message(&message).1);
    }
    if let Ok(record) = serde_json::from_str::<SummaryRecord>(json)
        && is_all_of_it(serde_json::to_string(&record))
    {
        let found = first(redactor.redact_record(&record).1);
        let [text, header, model, made_with] = [const { String::new() }; 4];
        let rest = SummaryRecord { text, header, model, made_with, summary: Summary::default(), ..record };
        return found.or_else(|| in_json(redactor, &serde_json::to_string(&rest).ok()?));
    }
    if let Ok(spelling) = serde_json::from_str::<Spelling>(json)
        && is_all_of_it(serde_json::to_string(&spelling))
        && let Some(raw) = spelling.raw
    {
        let format = redactor.redact_text(&raw.format).1.into_iter().next();
        let found = || redactor.redact_raw_into(&raw, &mut Vault::new()).1.into_keys().next();
        return format.map(|finding| finding.rule.to_string()).or_else(found);
    }
    in_json(redactor, json)
}

/// More events than happen to a session between two exports.
const MOST_EVENTS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use longhaul::{
        store::{Commit, MemoryStore, SummaryStore},
        transcript::{Outcome, Part, Role, ToolCall, ToolResult},
    };
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "ghp_9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i";

    /// Returns a text in which a secret stands in whatever spelling.
    fn text() -> impl Strategy<Value = String> {
        let spelled = |spell: fn(&str) -> String| Just(spell(SECRET));
        let word = prop_oneof![
            spelled(str::to_owned),
            spelled(|secret| secret.replace("ghp", "\\u0067hp")),
            spelled(|secret| secret.replace("ghp", "\\\\u0067hp")),
            spelled(|secret| secret.replace('_', "\\u005f")),
            spelled(|secret| format!("{{\"a\":\"{{\\\"b\\\":\\\"\\\\u0067{}\\\"}}\"}}", &secret[1..])),
            prop_oneof![
                Just("password: "),
                Just("\"password\": \""),
                Just("api_key="),
                Just("[REDACTED:x:1]"),
                Just("\\"),
                Just("\""),
                Just("\\n"),
                Just("\\\\n"),
                Just("\n"),
                Just("\\u0022"),
                Just("\\u00"),
                Just(" "),
                Just("correcthorse"),
                Just("hunter2!"),
                Just("-----BEGIN RSA PRIVATE KEY-----"),
                Just("{"),
                Just("}"),
                Just("["),
                Just(", "),
                Just("\\/"),
            ]
            .prop_map(str::to_owned),
            "[a-zA-Z0-9+/=_.-]{1,40}",
            "\\PC{0,6}",
        ];
        proptest::collection::vec(word, 0..10).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn what_is_exported_is_taken_in_and_is_the_same(said in text(), asked in text(), told in text()) {
            let arguments = match asked.len() % 2 {
                0 => serde_json::json!({ "command": asked, "n": [1, "x"] }).to_string(),
                _ => asked,
            };
            let messages = [
                Message::user(said),
                Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function("c1", "bash", arguments))]),
                Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text("c1", told, Outcome::Succeeded))]),
            ];
            let redactor = Redactor::builtin();
            let messages = messages.iter().map(|message| redactor.redact_message(message).0).collect();
            let session = SessionId::new("talk").unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let export = runtime.block_on(async {
                let store = MemoryStore::new();
                store.commit(&session, &Commit { messages, ..Commit::default() }).await.unwrap();
                store.export(&session).await.unwrap()
            });
            prop_assert!(!export.contains(&SECRET[4..24]), "{export}");
            prop_assert!(refuse_secrets(&export).is_ok(), "{:?}: {export}", refuse_secrets(&export));
            let again = runtime.block_on(async {
                let store = MemoryStore::new();
                store.import(&export).await.unwrap();
                store.export(&session).await.unwrap()
            });
            prop_assert_eq!(again, export);
        }
    }

    #[test]
    fn what_stands_beside_what_is_read_is_judged_too() {
        let content = |json: &str| secret_in_content(&Redactor::builtin(), json);
        let (message, said) = (r#"{"role":"user","parts":[{"text":"hello"}]}"#, format!("the {SECRET}"));
        assert_eq!(content(message), None);
        for json in [
            message.replace("hello", &said),
            message.replace("\"role\"", &format!("\"x\":\"{said}\",\"role\"")),
            format!(r#"{{"raw":{{"format":"openai","json":"{{\"content\":\"{said}\"}}"}}}}"#),
            format!(r#"{{"raw":{{"format":"openai","json":"{{}}","note":"{SECRET}"}}}}"#),
            format!(r#"{{"raw":{{"format":"{SECRET}","json":"{{}}"}}}}"#),
            format!(r#"{{"speaker":"person","note":"{SECRET}","raw":{{"format":"openai","json":"{{}}"}}}}"#),
            format!(r#"{{"anything":"{said}"}}"#),
        ] {
            assert_eq!(content(&json).as_deref(), Some("github-pat"), "{json}");
        }
    }
}
