//! A history with a summary in place of its past reads as just that, in every format that can be written.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod appended;

use std::fs;

use longhaul_testkit::recorded;
use longhaul_transcript::{
    Covered, Item, Message, Part, Role, SummaryRecord, Tokens, Usage, parse_handle_line,
};
use longhaul_wire::{Document, Format, Profile, convert, read, repair, validate, write};

fn record(doc: &Document, covered: std::ops::Range<usize>) -> SummaryRecord {
    let transcript = doc.transcript();
    SummaryRecord {
        covers: transcript.span(),
        covered: transcript.entries()[covered].iter().map(Covered::from).collect(),
        header: SummaryRecord::default_header(3),
        made_with: "rules-1".into(),
        tokens: Tokens(9),
        tokens_before: Tokens(1234),
        tokens_after: Tokens(99),
        ..longhaul_testkit::record("## Goal\nFix the \"lock\" file.")
    }
}

/// Writes `doc` with a summary of everything between its head and its last `tail` units, reads it again and compares.
fn compacts(doc: &Document, tail: usize, what: &str) {
    let entries = doc.transcript().entries();
    let units: Vec<_> = doc.transcript().units().collect();
    let head = entries.iter().take_while(|entry| entry.message.is_system()).count();
    let from = units[units.len().saturating_sub(tail)].span().start as usize;
    if from <= head {
        return;
    }
    let record = record(doc, head..from);
    let message = |at: usize| Item::Message { id: entries[at].id, message: &entries[at].message };
    let items =
        (0..head).map(message).chain([Item::Summary(&record)]).chain((from..entries.len()).map(message));
    let items: Vec<_> = items.collect();
    let mut out = Vec::new();
    write(doc, items.iter().copied(), &mut out).unwrap();

    let again = read(Some(doc.format()), &out[..]).unwrap();
    assert_eq!(again.problems(), [], "{what}");
    let expected = items.iter().map(|item| match item {
        Item::Summary(record) => record.to_message().parts,
        Item::Message { message, .. } => message.parts.clone(),
    });
    let found = again.transcript().entries().iter().map(|entry| entry.message.parts.clone());
    assert!(found.eq(expected), "{what}");
    let summary = &again.transcript().entries()[head].message;
    assert_eq!(summary.role, Role::User, "{what}");
    assert!(parse_handle_line(summary.texts().next().unwrap()).is_some(), "{what}");

    let before = validate(doc.as_bytes(), doc.format(), &Profile::default()).unwrap();
    let after = validate(&out, doc.format(), &Profile::default()).unwrap();
    assert!(after.len() <= before.len(), "{what}: {after:?}");

    // Once more with nothing new: the same bytes.
    let mut twice = Vec::new();
    let entries = again.transcript().entries();
    write(
        &again,
        entries.iter().map(|entry| Item::Message { id: entry.id, message: &entry.message }),
        &mut twice,
    )
    .unwrap();
    assert!(twice == out, "{what}");
    if matches!(doc.format(), Format::ClaudeCode | Format::Codex) {
        let billed = |usage: &Usage| usage.prompt_total() + usage.output + usage.reasoning;
        let is_told = again.usages().iter().any(|(_, usage)| billed(usage) > Tokens::ZERO);
        assert!(!is_told, "{what}: what was billed for what is kept was billed with what is gone");
        appended::checks(doc, &out, what);
    }
    // And a second time over the first.
    if tail > 1 && again.transcript().len() < doc.transcript().len() {
        compacts(&again, tail / 2, &format!("{what}, again"));
    }
}

#[test]
fn recorded_sessions_compact_in_place() {
    for folder in ["claude_code", "codex"] {
        for path in recorded(folder) {
            let doc = read(None, &fs::read(&path).unwrap()[..]).unwrap();
            for tail in [1, 12] {
                compacts(&doc, tail, &format!("{} last {tail}", path.display()));
            }
        }
    }
}

#[test]
fn every_format_compacts_in_place() {
    let text = r##"[{"role":"system","content":"Be careful."},{"role":"user","content":"fix it"},
        {"role":"assistant","content":"Looking.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"fn main() {}"},{"role":"tool","tool_call_id":"c2","content":"a b"},
        {"role":"assistant","content":"Done."},{"role":"user","content":"now the tests"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"test","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c3","content":"1 failed"}]"##;
    let source = read(Some(Format::OpenAi), text.as_bytes()).unwrap();
    for format in Format::ALL.into_iter().filter(|format| !format.is_import_only()) {
        let doc = convert(&source, format).unwrap().document;
        for tail in 1..5 {
            compacts(&doc, tail, &format!("{format} last {tail}"));
        }
    }
}

/// An agent that was killed in the middle of a line: what the next one appends must not go on in it.
#[test]
fn a_line_that_was_cut_off_goes_with_what_is_summarized() {
    let turns: Vec<String> = (0..6)
        .flat_map(|nth| {
            [
                format!(r#"{{"role":"user","content":"part {nth}"}}"#),
                format!(r#"{{"role":"assistant","content":"done {nth}"}}"#),
            ]
        })
        .collect();
    let source = read(Some(Format::OpenAi), format!("[{}]", turns.join(",")).as_bytes()).unwrap();
    for format in [Format::ClaudeCode, Format::Codex] {
        let whole = convert(&source, format).unwrap().document;
        let bytes = whole.as_bytes().trim_ascii_end();
        let doc = read(Some(format), &bytes[..bytes.len() - 9]).unwrap();
        assert_eq!(doc.problems().len(), 1);
        let entries = doc.transcript().entries();
        let record = record(&doc, 0..6);
        let kept = entries[6..].iter().map(|entry| Item::Message { id: entry.id, message: &entry.message });
        let mut out = Vec::new();
        write(&doc, [Item::Summary(&record)].into_iter().chain(kept), &mut out).unwrap();
        assert!(out.ends_with(b"}\n"), "{format}");
        assert_eq!(read(Some(format), &out[..]).unwrap().problems(), [], "{format}");
    }
}

#[test]
fn a_digested_result_is_patched_in_place_in_every_format() {
    let text = r##"[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\",\"text\":\"long\"}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"a very long text"},{"role":"user","content":"on"}]"##;
    let source = read(Some(Format::OpenAi), text.as_bytes()).unwrap();
    for format in Format::ALL.into_iter().filter(|format| !format.is_import_only()) {
        let doc = convert(&source, format).unwrap().document;
        let changed: Vec<(_, Message)> = doc
            .transcript()
            .entries()
            .iter()
            .map(|entry| {
                let mut message = (*entry.message).clone();
                for part in &mut message.parts {
                    match part {
                        Part::ToolResult(result) => result.content = vec![Part::Text("[short]".into())],
                        Part::ToolCall(call) => call.arguments.0 = call.arguments.0.replace("long", "…"),
                        _ => {}
                    }
                }
                (entry.id, message)
            })
            .collect();
        let mut out = Vec::new();
        write(&doc, changed.iter().map(|(id, message)| Item::Message { id: *id, message }), &mut out)
            .unwrap();
        let again = read(Some(format), &out[..]).unwrap();
        let found: Vec<_> = again.transcript().entries().iter().map(|entry| &entry.message.parts).collect();
        let expected: Vec<_> = changed.iter().map(|(_, message)| &message.parts).collect();
        assert_eq!(found, expected, "{format}");
        assert_eq!(validate(&out, format, &Profile::default()).unwrap(), [], "{format}");
    }
}

#[test]
fn every_prefix_of_a_recorded_session_can_be_made_whole() {
    for folder in ["claude_code", "codex"] {
        for path in recorded(folder) {
            let bytes = fs::read(&path).unwrap();
            let head = bytes.iter().position(|byte| *byte == b'\n').unwrap();
            for cut in (1..=3).map(|nth| head + (bytes.len() - head) / 4 * nth) {
                let what = format!("{} cut at {cut}", path.display());
                let doc = read(None, &bytes[..cut]).unwrap();
                let whole = repair(doc.transcript());
                let items = whole.transcript.entries().iter();
                let items = items.map(|entry| Item::Message { id: entry.id, message: &entry.message });
                let mut out = Vec::new();
                write(&doc, items, &mut out).unwrap();
                let violations = validate(&out, doc.format(), &Profile::default()).unwrap();
                assert_eq!(violations, [], "{what}");
            }
        }
    }
}
