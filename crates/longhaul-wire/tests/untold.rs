//! Whatever a request cannot carry of a history is told, by the message that loses it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::sync::Arc;

use longhaul_transcript::{Entry, Message, Outcome, Part, RawJson, Role, ToolCall, ToolResult};
use longhaul_wire::{Format, read, render};
use proptest::{collection::vec, prelude::*, sample::select};

/// Formats that messages are sent in.
fn sent() -> impl Strategy<Value = Format> {
    let all = Format::ALL.into_iter().filter(|format| !format.is_import_only() && !format.is_session_file());
    // Chat has no ids and writes each call's name beside its arguments.
    select(all.filter(|format| *format != Format::Chat).collect::<Vec<_>>())
}

fn text() -> impl Strategy<Value = Part> {
    prop_oneof![Just(String::new()), Just(" ".to_owned()), "w[0-9]{4}"].prop_map(Part::Text)
}

/// A call's arguments as models write them: cut, bare, of another form.
fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\{\"a\":\"w[0-9]{4}\"\\}",
        "\\{\"a\":\"w[0-9]{4}",
        "\\[\"w[0-9]{4}\"\\]",
        "\"w[0-9]{4}\"",
        "w[0-9]{4}",
        Just("null".to_owned()),
        Just(String::new()),
    ]
}

/// A turn: what a user says, and an answer that may call and be answered.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let result = prop_oneof![Just(String::new()), "w[0-9]{4}"];
    let calls = vec((arguments(), result), 0..3);
    let lead = prop_oneof![Just(Role::User), Just(Role::System), Just(Role::Developer)];
    (lead, vec(text(), 0..3), vec(text(), 0..3), calls).prop_map(|(lead, asks, says, calls)| {
        let mut answer = Message::new(Role::Assistant, says);
        let mut turn = vec![Message::new(lead, asks)];
        let results = calls.iter().enumerate().map(|(nth, (arguments, result))| {
            // Ids are made one of their own in `history`.
            let call = ToolCall::function(format!("{nth}"), "Look", "");
            answer.parts.push(Part::ToolCall(ToolCall { arguments: RawJson(arguments.clone()), ..call }));
            Message::new(
                Role::Tool,
                vec![Part::ToolResult(ToolResult::text(format!("{nth}"), result.clone(), Outcome::Unstated))],
            )
        });
        let results: Vec<Message> = results.collect();
        turn.push(answer);
        turn.extend(results);
        turn
    })
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    vec(turn(), 1..5).prop_map(|turns| {
        let mut said = Vec::new();
        for (nth, turn) in turns.into_iter().enumerate() {
            for mut message in turn {
                for part in &mut message.parts {
                    match part {
                        Part::ToolCall(call) => {
                            call.id = format!("c{nth}_{}", call.id.as_str()).as_str().into()
                        }
                        Part::ToolResult(result) => {
                            result.call_id = format!("c{nth}_{}", result.call_id.as_str()).as_str().into();
                        }
                        _ => {}
                    }
                }
                said.push(message);
            }
        }
        said
    })
}

/// What must be carried of a message: its words, and its calls' arguments as they stand.
fn said(message: &Message) -> Vec<String> {
    let mut said = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => said.extend(text.split_whitespace().map(str::to_owned)),
            // No arguments are none, however that is spelled.
            Part::ToolCall(call) if call.arguments.0.is_empty() => said.push("!{}".to_owned()),
            Part::ToolCall(call) => said.push(format!("!{}", call.arguments.0)),
            Part::ToolResult(result) => said.push(format!("={}", result.joined_text())),
            _ => {}
        }
    }
    said
}

/// Returns the messages that `losses` name.
fn named(losses: &[String]) -> Vec<usize> {
    let mut named = Vec::new();
    let all = losses.join(" ");
    for handle in
        all.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| word.starts_with('m'))
    {
        let ends: Vec<usize> =
            handle.split('-').filter_map(|end| end.strip_prefix('m')?.parse().ok()).collect();
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            named.extend(*first..=*last);
        }
    }
    named
}

/// Whether two messages in a row may become one: instructions are one text in some formats, whoever gives them.
fn is_one(one: &Message, other: &Message) -> bool {
    one.role == other.role || one.is_system() && other.is_system()
}

/// Checks that what of `messages` is not in `json` is told.
fn assert_told(messages: &[Message], json: &str, losses: &[String], to: Format) -> Result<(), TestCaseError> {
    let named = named(losses);
    let mut left: Vec<String> = Vec::new();
    let mut n_empty = 0;
    match read(Some(to), json.as_bytes()) {
        Ok(document) => {
            for entry in document.transcript().entries() {
                let words = said(&entry.message);
                n_empty += usize::from(words.is_empty());
                left.extend(words);
            }
        }
        // A history in which nobody says anything is no history of the format, and what is blank may stand in it.
        Err(_) => {
            prop_assert!(!losses.is_empty(), "{to}: {json}");
            n_empty = messages.len();
        }
    }
    let untold: Vec<(usize, &Message)> =
        messages.iter().enumerate().filter(|(at, _)| !named.contains(at)).collect();
    for (nth, (at, message)) in untold.iter().enumerate() {
        let words = said(message);
        // What is beside another message of the same role may be one with it.
        let beside = [nth.checked_sub(1), Some(nth + 1)].into_iter().flatten();
        let mut beside = beside.filter_map(|nth| untold.get(nth));
        if words.is_empty() && !beside.any(|(_, other)| is_one(other, message)) {
            prop_assert!(n_empty > 0, "{to}: m{at} is empty and gone: {losses:?}\n{json}");
            n_empty -= 1;
        }
        for word in words {
            let place = left.iter().position(|held| *held == word);
            prop_assert!(place.is_some(), "{to}: m{at} has lost {word}: {losses:?}\n{json}");
            left.swap_remove(place.unwrap());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_a_request_does_not_carry_is_told(said in history(), to in sent()) {
        let sent = render(&said, to).unwrap();
        assert_told(&said, &sent.json, &sent.losses, to)?;
    }

    #[test]
    fn what_another_provider_does_not_carry_is_told(said in history(), from in sent(), to in sent()) {
        let first = render(&said, from).unwrap().json;
        if let Ok(document) = read(Some(from), first.as_bytes()) {
            let spelled = |(at, entry): (usize, &Entry)| Message {
                raw: document.raw_of(at as u64).map(Arc::new),
                ..(*entry.message).clone()
            };
            let said: Vec<Message> = document.transcript().entries().iter().enumerate().map(spelled).collect();
            let sent = render(&said, to).unwrap();
            assert_told(&said, &sent.json, &sent.losses, to)?;
        }
    }
}
