//! What holds for any conversation and any bytes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use longhaul_testkit::{conversation, samples};
use longhaul_transcript::{Item, Message, Part, UnitState};
use longhaul_wire::{
    Format, Profile, WireError, convert, detect, encode, read, repair, validate, write, write_unchanged,
};
use proptest::{collection::vec, prelude::*, sample::select};

fn writable() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.is_import_only())
}

fn written() -> impl Strategy<Value = Format> {
    select(writable().collect::<Vec<_>>())
}

/// What was said, without how the format cuts it into messages.
fn words(messages: impl Iterator<Item = impl std::ops::Deref<Target = Message>>) -> Vec<String> {
    let mut words = Vec::new();
    for message in messages {
        for part in &message.parts {
            match part {
                // Some formats join texts, and none carries blank ones.
                Part::Text(text) => words.extend(text.split_whitespace().map(str::to_owned)),
                Part::ToolCall(call) => words.push(format!("!{}", call.arguments.0)),
                Part::ToolResult(result) => {
                    let text = result.joined_text();
                    let text = text.strip_prefix("Error: ").unwrap_or(&text);
                    words.push(format!("={text}"));
                }
                _ => {}
            }
        }
    }
    words.sort();
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_valid_and_reads_as_it_was(transcript in conversation(12), format in written()) {
        let doc = encode(&transcript, format).unwrap().document;
        let violations = validate(doc.as_bytes(), format, &Profile::default()).unwrap();
        prop_assert!(violations.is_empty(), "{}: {:?}\n{}", format, violations, String::from_utf8_lossy(doc.as_bytes()));
        let repaired = repair(&transcript).transcript;
        let is_carried = |message: &&Message| format != Format::ClaudeCode || !message.is_system();
        // Chat has no ids and writes each call's name beside its arguments.
        if format != Format::Chat {
            let before = words(repaired.entries().iter().map(|entry| &*entry.message).filter(is_carried));
            let after = words(doc.transcript().entries().iter().map(|entry| &*entry.message));
            prop_assert_eq!(before, after, "{}", format);
        }
        let again = read(Some(format), doc.as_bytes()).unwrap();
        prop_assert_eq!(again.transcript().len(), doc.transcript().len());
        let units = again.transcript().units();
        prop_assert!(units.into_iter().all(|unit| unit.state != UnitState::Broken));
    }

    #[test]
    fn dropping_units_leaves_a_valid_history_that_reads_as_what_was_kept(
        transcript in conversation(12),
        format in written(),
        keep in vec(any::<bool>(), 16),
        strip in any::<bool>(),
    ) {
        let doc = encode(&transcript, format).unwrap().document;
        let units: Vec<_> = doc.transcript().units().collect();
        let last = units.len().saturating_sub(1);
        let kept: Vec<_> = units
            .iter()
            .enumerate()
            .filter(|(at, unit)| *at <= 1 || *at == last || unit.is_system() || keep[at % keep.len()])
            .flat_map(|(_, unit)| unit.entries)
            .map(|entry| {
                let mut message = (*entry.message).clone();
                for part in &mut message.parts {
                    match part {
                        Part::ToolResult(result) if strip => result.content = vec![Part::Text("[digest]".into())],
                        _ => {}
                    }
                }
                (entry.id, message)
            })
            .collect();
        let mut out = Vec::new();
        write(&doc, kept.iter().map(|(id, message)| Item::Message { id: *id, message }), &mut out).unwrap();
        let again = read(Some(format), &out[..]).unwrap();
        let expected: Vec<_> = kept.iter().map(|(_, message)| &message.parts).collect();
        let found: Vec<_> = again.transcript().entries().iter().map(|entry| &entry.message.parts).collect();
        prop_assert_eq!(found, expected, "{}", format);
        let violations = validate(&out, format, &Profile::default()).unwrap();
        // Two turns of the model can come to stand next to each other, which only Gemini minds.
        prop_assert!(violations.iter().all(|found| found.rule == "G-03"), "{}: {:?}", format, violations);
    }

    #[test]
    fn conversions_go_round(transcript in conversation(8), first in written(), second in written()) {
        prop_assume!(first != Format::Chat && second != Format::Chat);
        let once = encode(&transcript, first).unwrap().document;
        let twice = convert(&once, second).unwrap().document;
        let violations = validate(twice.as_bytes(), second, &Profile::default()).unwrap();
        prop_assert!(violations.is_empty(), "{} to {}: {:?}", first, second, violations);
        let is_carried = |message: &&Message| second != Format::ClaudeCode || !message.is_system();
        let before = words(once.transcript().entries().iter().map(|entry| &*entry.message).filter(is_carried));
        let after = words(twice.transcript().entries().iter().map(|entry| &*entry.message));
        prop_assert_eq!(before, after, "{} to {}", first, second);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200), format in select(Format::ALL.to_vec())) {
        survives(&bytes, format);
    }

    #[test]
    fn damaged_histories_are_read_or_refused(
        damaged in select(Format::ALL.to_vec()),
        format in select(Format::ALL.to_vec()),
        damage in vec((any::<prop::sample::Index>(), select(vec!["", "null", "\"", "{", "}", "[", "]", ",", "\n", "\0", "1e999", "{}", "[]", "\"a\"", "\u{feff}", "-", "\\ud800"])), 1..4),
    ) {
        let mut text = String::from_utf8(samples::of(damaged.name()).history.to_vec()).unwrap();
        for (at, with) in damage {
            // Replace a whole token now and then: wrong types, not only broken syntax.
            let starts: Vec<_> = text.match_indices([':', ',', '[']).map(|(at, _)| at + 1).collect();
            let Some(start) = starts.get(at.index(starts.len().max(1))) else { continue };
            let end = text[*start..].find([',', '}', ']', '\n']).map_or(text.len(), |found| start + found);
            text.replace_range(*start..end, with);
        }
        survives(text.as_bytes(), format);
        if let Some(format) = detect(text.as_bytes()) {
            survives(text.as_bytes(), format);
        }
    }
}

/// Reads, writes, checks, repairs, shortens and converts: nothing may panic, and unchanged bytes stay.
fn survives(bytes: &[u8], format: Format) {
    let _ = validate(bytes, format, &Profile::default());
    let Ok(doc) = read(Some(format), bytes) else { return };
    let mut out = Vec::new();
    write_unchanged(&doc, &mut out).unwrap();
    assert!(out == bytes);
    doc.segments();
    let repaired = repair(doc.transcript()).transcript;
    let items = repaired.entries().iter().rev().take(3).rev();
    let items = items.map(|entry| Item::Message { id: entry.id, message: &entry.message });
    out.clear();
    if write(&doc, items, &mut out).is_ok() && !out.is_empty() && !format.is_lines() {
        read(Some(format), &out[..]).unwrap();
    }
    for to in writable() {
        let converted = convert(&doc, to);
        let is_empty = matches!(converted, Err(WireError::NothingToWrite { format: Format::ClaudeCode }));
        assert!(converted.is_ok() || is_empty, "{to}: {converted:?}");
    }
}
