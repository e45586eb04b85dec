//! Any history with messages left out, texts clipped and results digested: what is written can be read and says what was
//! asked for, and what was not touched stands there in its own bytes. A repaired one has no loose ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_fuzz::told;
use longhaul_transcript::{Item, Message, MessageId, Part, UnitState};
use longhaul_wire::{read, repair, write};

/// How many bytes of the input say what is done to the messages, which take turns.
const SCRIPT: usize = 8;

fuzz_target!(|bytes: &[u8]| {
    let Some((format, rest)) = told(bytes) else { return };
    let Some((script, history)) = rest.split_at_checked(SCRIPT) else { return };
    let Ok(document) = read(Some(format), history) else { return };
    let entries = document.transcript().entries().iter();
    let kept: Vec<(MessageId, Message)> = entries
        .zip(script.iter().cycle())
        .filter_map(|(entry, op)| Some((entry.id, edited(&entry.message, *op)?)))
        .collect();
    let mut out = Vec::new();
    let items = kept.iter().map(|(id, message)| Item::Message { id: *id, message });
    if write(&document, items, &mut out).is_err() {
        return;
    }
    // Of a message that lost all its parts nothing is written, which may leave nothing at all.
    if !out.is_empty() && !kept.is_empty() {
        let again = read(Some(format), &*out).expect("what was written can be read");
        let said = again.transcript().entries().iter().map(|entry| (*entry.message).clone());
        assert_eq!(words(kept.into_iter().map(|(_, message)| message)), words(said));
    }
    let repaired = repair(document.transcript());
    assert!(repaired.transcript.units().all(|unit| unit.state != UnitState::Broken));
    assert!(repair(&repaired.transcript).done.is_empty(), "once is enough");
});

fn edited(message: &Message, op: u8) -> Option<Message> {
    let mut message = message.clone();
    for part in &mut message.parts {
        match part {
            Part::Text(text) if op % 8 == 4 => text.truncate(text.floor_char_boundary(text.len() / 2)),
            Part::ToolResult(result) if op % 8 == 5 => result.content = vec![Part::Text("[digest]".into())],
            _ => {}
        }
    }
    if op % 8 == 6 {
        message.parts.retain(|part| !matches!(part, Part::Reasoning(_)));
    }
    (op % 8 != 7).then_some(message)
}

/// What is said, without how a format cuts it into parts and messages.
fn words(messages: impl Iterator<Item = Message>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for message in messages {
        for part in &message.parts {
            match part {
                Part::Text(text) => words.extend(text.split_whitespace().map(str::to_owned)),
                Part::ToolCall(call) => words.push(format!("!{}", call.name)),
                _ => {}
            }
        }
    }
    words.sort();
    words
}
