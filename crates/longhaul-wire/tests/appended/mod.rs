//! A compaction that is appended to a session file, as the agent that wrote the file appends its own.

use std::collections::{BTreeSet, HashMap};

use longhaul_transcript::{SessionId, Tokens};
use longhaul_wire::{Appended, Document, Format, Profile, append, read, validate, with_session_id};
use serde_json::Value;

const AT: Appended = Appended { at_ms: 1_767_225_600_000, tokens: Tokens(4_321) };

/// Appends what `compacted` made of `doc`, reads it as the agent would, and compares.
pub(crate) fn checks(doc: &Document, compacted: &[u8], what: &str) {
    let bytes = append(doc, compacted, AT).unwrap();
    assert_eq!(bytes, append(doc, compacted, AT).unwrap(), "{what}: the same every time");
    let head = doc.as_bytes();
    assert!(bytes.starts_with(head), "{what}: nothing that was there is touched");
    let again = read(Some(doc.format()), &bytes[..]).unwrap();
    let expected = read(Some(doc.format()), compacted).unwrap();
    let said = |doc: &Document| -> Vec<_> {
        doc.transcript()
            .entries()
            .iter()
            .map(|entry| (entry.message.role, entry.message.parts.clone()))
            .collect()
    };
    assert!(said(&again) == said(&expected), "{what}: the history is the compacted one");
    assert_eq!(again.session_id(), doc.session_id(), "{what}");
    let before = validate(head, doc.format(), &Profile::default()).unwrap();
    let after = validate(&bytes, doc.format(), &Profile::default()).unwrap();
    assert!(after.len() <= before.len(), "{what}: {after:?}");
    let lines = |bytes: &[u8]| -> Vec<Value> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines()
            .filter_map(|line| serde_json::from_str(line.trim_start_matches('\u{feff}')).ok())
            .collect()
    };
    let (old, new) = (lines(head), lines(&bytes[head.len()..]));
    match doc.format() {
        Format::ClaudeCode => claude_code(&old, &new, what),
        _ => codex(&old, &new, what),
    }
    let id = SessionId::new("44444444-4444-4444-8444-444444444444").unwrap();
    let renamed = with_session_id(compacted, doc.format(), &id).unwrap();
    let renamed = read(Some(doc.format()), &renamed[..]).unwrap();
    if expected.session_id().is_some() {
        assert_eq!(renamed.session_id(), Some(id), "{what}");
    }
    assert!(said(&renamed) == said(&expected), "{what}: a new session says the same");
}

fn text<'a>(line: &'a Value, key: &str) -> Option<&'a str> {
    line[key].as_str()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn is_own_boundary(line: &&Value) -> bool {
    line["subtype"] == "compact_boundary" && line["compactMetadata"]["trigger"] == "auto"
}

fn claude_code(old: &[Value], new: &[Value], what: &str) {
    let (boundary, summary) = (&new[0], &new[1]);
    assert_eq!(boundary["subtype"], "compact_boundary", "{what}");
    assert_eq!(summary["isCompactSummary"], true, "{what}");
    assert!(boundary["parentUuid"].is_null() && summary["parentUuid"] == boundary["uuid"], "{what}");
    let last_said = old.iter().rev().find(|line| {
        matches!(text(line, "type"), Some("user" | "assistant"))
            && line["isSidechain"] != true
            && line["isApiErrorMessage"] != true
            && line["message"]["model"] != "<synthetic>"
    });
    assert_eq!(boundary["logicalParentUuid"], last_said.unwrap()["uuid"], "{what}");
    // Field by field as the agent's own, where it compacted this session before.
    for own in old.iter().filter(is_own_boundary) {
        assert_eq!(keys(own), keys(boundary), "{what}");
        for key in ["isSidechain", "userType", "sessionId", "type", "subtype", "content", "isMeta", "level"] {
            assert_eq!(own[key], boundary[key], "{what}: {key}");
        }
        assert_eq!(keys(&own["compactMetadata"]), keys(&boundary["compactMetadata"]), "{what}");
        let its =
            old.iter().find(|line| line["parentUuid"] == own["uuid"] && line["isCompactSummary"] == true);
        assert_eq!(keys(its.unwrap()), keys(summary), "{what}");
        assert_eq!(keys(&its.unwrap()["message"]), keys(&summary["message"]), "{what}");
    }
    let mut uuids: BTreeSet<&str> = old.iter().filter_map(|line| text(line, "uuid")).collect();
    let messages: BTreeSet<&str> = old.iter().filter_map(|line| text(&line["message"], "id")).collect();
    let newest = old.iter().filter_map(|line| text(line, "timestamp")).max().unwrap_or_default();
    let mut children: HashMap<&str, usize> = HashMap::new();
    for line in new {
        let uuid = text(line, "uuid").unwrap();
        if let Some(parent) = text(line, "parentUuid") {
            assert!(uuids.contains(parent), "{what}: {parent} is not there yet");
            assert!(!old.iter().any(|old| text(old, "uuid") == Some(parent)), "{what}: it hangs on the past");
            *children.entry(parent).or_default() += 1;
        } else {
            assert_eq!(line, boundary, "{what}: only the boundary hangs on nothing");
        }
        assert!(uuids.insert(uuid), "{what}: {uuid} is there twice");
        assert!(text(line, "timestamp").unwrap() > newest, "{what}: the past is newer");
        if let Some(id) = text(&line["message"], "id") {
            assert!(!messages.contains(id), "{what}: {id} is a message of the past");
        }
        for key in ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        {
            let billed = &line["message"]["usage"][key];
            assert!(billed.is_null() || billed == 0, "{what}: {key} is stale");
        }
    }
    // The newest line is one that nothing hangs on: where the agent goes on.
    assert!(!children.contains_key(text(new.last().unwrap(), "uuid").unwrap()), "{what}");
}

fn codex(old: &[Value], new: &[Value], what: &str) {
    let types: Vec<&str> = new
        .iter()
        .map(|line| match text(line, "type").unwrap() {
            "event_msg" => text(&line["payload"], "type").unwrap(),
            kind => kind,
        })
        .collect();
    let has = |kind: &str, what: &str| {
        old.iter()
            .any(|line| line["type"] == kind && (kind == "turn_context" || line["payload"]["type"] == what))
    };
    let mut expected = vec!["compacted"];
    expected.extend(has("turn_context", "").then_some("turn_context"));
    let has_counts = old.iter().any(|line| line["payload"]["info"]["last_token_usage"].is_object());
    expected.extend(has_counts.then_some("token_count"));
    expected.push("context_compacted");
    assert_eq!(types, expected, "{what}");
    let newest = old.iter().filter_map(|line| text(line, "timestamp")).max().unwrap_or_default();
    assert!(new.iter().all(|line| text(line, "timestamp").unwrap() > newest), "{what}");
    let own =
        old.iter().rev().find(|line| line["type"] == "compacted" && line["payload"]["window_id"].is_string());
    if let Some(own) = own {
        let (own, ours) = (&own["payload"], &new[0]["payload"]);
        assert_eq!(keys(own), keys(ours), "{what}");
        assert_eq!(ours["previous_window_id"], own["window_id"], "{what}");
        assert_eq!(ours["first_window_id"], own["first_window_id"], "{what}");
        assert_eq!(ours["window_number"].as_u64(), own["window_number"].as_u64().map(|n| n + 1), "{what}");
        assert_ne!(ours["window_id"], own["window_id"], "{what}");
    }
    if has_counts {
        let usage = &new[types.len() - 2]["payload"]["info"]["last_token_usage"];
        assert_eq!(usage["total_tokens"].as_u64().unwrap_or(4_321), 4_321, "{what}");
        assert!(usage["input_tokens"] == 0, "{what}: {usage}");
    }
}
