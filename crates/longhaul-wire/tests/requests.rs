//! Whatever was said, in whatever order and spelling: a request of it is one that its provider takes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use longhaul_testkit::samples::{self, IDS, Piece, Said, Speller, Text, name};
use longhaul_transcript::{ContentHash, Message, Outcome, Part, Reasoning, Role, ToolCall, ToolResult};
use longhaul_wire::{Format, Profile, convert, messages_from_json, read, render, validate};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

/// What one message says, and in what it came in; `None` for what the caller built.
type Came = (Said, Option<Format>);

/// What a provider or an agent takes as a request.
fn formats() -> Vec<Format> {
    written().filter(|format| request(*format).is_some()).collect()
}

fn sample(format: Format) -> &'static samples::Written {
    samples::of(format.name()).written.as_ref().unwrap()
}

fn request(format: Format) -> Option<&'static samples::Request> {
    sample(format).request.as_ref()
}

fn id() -> impl Strategy<Value = &'static str> {
    prop_oneof![12 => select(&IDS[..4]), 1 => select(&IDS[4..])]
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![4 => Just(Text::Word), 1 => Just(Text::Blank), 1 => Just(Text::Empty)]
}

fn result() -> impl Strategy<Value = Piece> {
    (id(), text(), any::<bool>()).prop_map(|(id, text, has_failed)| Piece::Result { id, text, has_failed })
}

fn answer() -> impl Strategy<Value = Vec<Piece>> {
    let is_answered = prop::bool::weighted(0.1);
    let piece = prop_oneof![
        3 => text().prop_map(Piece::Text),
        2 => Just(Piece::Reasoning),
        5 => (id(), is_answered).prop_map(|(id, is_answered)| Piece::Call { id, is_answered }),
    ];
    vec(piece, 0..5)
}

fn said() -> impl Strategy<Value = Came> {
    let words = || vec(text().prop_map(Piece::Text), 0..3);
    let results =
        (vec(result(), 1..4), words(), any::<bool>()).prop_map(|(results, words, is_first)| match is_first {
            true => [results, words].concat(),
            false => [words, results].concat(),
        });
    let results = prop_oneof![2 => vec(result(), 1..4), 1 => results];
    let of_tools = prop_oneof![Just(Role::Tool), Just(Role::User)];
    let leads = prop_oneof![Just(Role::System), Just(Role::Developer)];
    let said = prop_oneof![
        4 => (Just(Role::User), words()),
        8 => (Just(Role::Assistant), answer()),
        7 => (of_tools, results),
        1 => (leads, words()),
    ];
    let spelled = prop_oneof![1 => Just(None), 3 => select(formats()).prop_map(Some)];
    (said, spelled, any::<bool>())
        .prop_map(|((role, pieces), spelled, is_full)| (Said { role, pieces, is_full }, spelled))
}

/// Returns the messages that `said` becomes: most often one.
fn spelled(speller: &mut Speller, (said, format): &Came) -> Vec<Message> {
    let spelled = format.and_then(|format| Some((format, (request(format)?.items)(speller, said)?)));
    match spelled {
        Some((format, items)) => messages_from_json(format, &Value::from(items).to_string()).unwrap(),
        None => vec![built(speller, said)],
    }
}

fn built(speller: &mut Speller, said: &Said) -> Message {
    let mut parts = Vec::new();
    for piece in &said.pieces {
        match piece {
            Piece::Text(text) => parts.push(Part::Text(speller.text(*text))),
            Piece::Reasoning => {
                let text = speller.word();
                let hash = ContentHash::of(text.as_bytes());
                parts.push(Part::Reasoning(Reasoning { text, opaque_bytes: 0, hash }));
            }
            Piece::Call { id, is_answered } => {
                parts.push(Part::ToolCall(ToolCall::function(*id, name(id), "{}")));
                if *is_answered {
                    let result = ToolResult::text(*id, speller.word(), Outcome::Unstated);
                    parts.push(Part::ToolResult(result));
                }
            }
            Piece::Result { id, text, has_failed } => {
                let outcome = if *has_failed { Outcome::Failed } else { Outcome::Unstated };
                parts.push(Part::ToolResult(ToolResult::text(*id, speller.text(*text), outcome)));
            }
        }
    }
    Message::new(said.role, parts)
}

fn messages(history: &[Came]) -> Vec<Message> {
    let mut speller = Speller::default();
    history.iter().flat_map(|said| spelled(&mut speller, said)).collect()
}

/// Formats that can be written and are held to rules.
fn written() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.is_import_only())
}

/// Returns the list of messages in a request.
fn list(request: &Value, format: Format) -> &[Value] {
    let list = sample(format).list.and_then(|key| request.get(key)).unwrap_or(request);
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns whether the model's answer is the last thing in the list, with no result of its calls yet.
fn ends_open(list: &[Value]) -> bool {
    let Some(last) = list.last() else { return true };
    let is_answered = |part: &Value| part.get("output").or(part.get("errorText")).is_some();
    let steps = last["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last_step = steps.rsplit(|part| part["type"] == "step-start").next().unwrap_or_default();
    let is_answered = last_step.iter().any(is_answered);
    let is_call = matches!(last["type"].as_str(), Some("function_call" | "reasoning"));
    // Behind a system message the model answers.
    let is_before_answer = last["role"] == "system";
    is_call
        || is_before_answer
        || matches!(last["role"].as_str(), Some("assistant" | "model")) && !is_answered
}

/// Checks that `json` is what the provider takes. Calls of the last answer may be open, but not some of them.
fn assert_taken(json: &str, format: Format) -> Result<(), TestCaseError> {
    let mut found = validate(json.as_bytes(), format, &Profile::default()).unwrap();
    if format.is_session_file() {
        // What is blank stays in the files of agents, which leave it out of their requests.
        found.retain(|violation| !matches!(violation.rule, "A-07" | "A-08" | "U-11"));
        prop_assert!(found.is_empty() || json.is_empty(), "{format}: {found:?}\n{json}");
        return Ok(());
    }
    let request: Value = serde_json::from_str(json).unwrap();
    if list(&request, format).is_empty() {
        return Ok(());
    }
    prop_assert!(found.is_empty(), "{format}: {found:?}\n{json}");
    if let Some(sample) = self::request(format).filter(|_| !ends_open(list(&request, format))) {
        let end = json.rfind(']').unwrap();
        let json = format!("{},{}{}", &json[..end], sample.of_user, &json[end..]);
        let found = validate(json.as_bytes(), format, &Profile::default()).unwrap();
        prop_assert!(found.is_empty(), "{format}, and on: {found:?}\n{json}");
    }
    Ok(())
}

/// Returns whether `losses` name message `at`.
fn is_named(losses: &[String], at: usize) -> bool {
    let all = losses.join(" ");
    let words = all.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with('m')).any(|word| {
        let ends: Option<Vec<usize>> =
            word.split('-').map(|end| end.strip_prefix('m')?.parse().ok()).collect();
        ends.is_some_and(|ends| ends.first() <= Some(&at) && Some(&at) <= ends.last())
    })
}

/// Checks that the words of each message are in `json`, or told as lost.
fn assert_there(messages: &[Message], json: &str, losses: &[String]) -> Result<(), TestCaseError> {
    for (at, message) in messages.iter().enumerate() {
        let results = message.results().flat_map(|result| &result.content);
        for part in message.parts.iter().chain(results) {
            let Part::Text(text) = part else { continue };
            let is_there = json.contains(text.trim()) || is_named(losses, at);
            prop_assert!(is_there, "m{at} has lost {text}: {losses:?}\n{json}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_request_of_anything_said_is_one_that_its_provider_takes(history in vec(said(), 0..10)) {
        let said = messages(&history);
        for to in written() {
            let sent = render(&said, to).unwrap();
            assert_taken(&sent.json, to)?;
            assert_there(&said, &sent.json, &sent.losses)?;
        }
    }

    #[test]
    fn what_was_broken_in_a_file_is_whole_in_what_is_made_of_it(
        history in vec(said(), 0..10),
        from in select(formats()),
    ) {
        let mut speller = Speller::default();
        let items: Vec<Value> =
            history.iter().filter_map(|(said, _)| (request(from)?.items)(&mut speller, said)).flatten().collect();
        let doc = read(Some(from), Value::from(items).to_string().as_bytes()).unwrap();
        let said: Vec<Message> = (0..doc.transcript().len() as u64).filter_map(|nth| doc.spelled(nth)).collect();
        for to in written() {
            let sent = render(&said, to).unwrap();
            assert_taken(&sent.json, to)?;
            assert_there(&said, &sent.json, &sent.losses)?;
            if let Ok(converted) = convert(&doc, to).map(|conversion| conversion.document)
                && to != from
            {
                let json = String::from_utf8_lossy(converted.as_bytes());
                let mut found = validate(converted.as_bytes(), to, &Profile::default()).unwrap();
                found.retain(|found| !to.is_session_file() || !matches!(found.rule, "A-07" | "A-08" | "U-11"));
                let is_empty = converted.transcript().entries().iter().all(|entry| entry.message.is_system());
                prop_assert!(found.is_empty() || is_empty, "{from} to {to}: {found:?}\n{json}");
            }
        }
    }
}
