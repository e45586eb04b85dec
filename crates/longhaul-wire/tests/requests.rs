//! Whatever was said, in whatever order and spelling: a request of it is one that its provider takes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use longhaul_transcript::{ContentHash, Message, Outcome, Part, Reasoning, Role, ToolCall, ToolResult};
use longhaul_wire::{Format, Profile, convert, messages_from_json, read, render, validate};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

/// What one message says, before it is spelled.
#[derive(Clone, Debug)]
struct Said {
    role: Role,
    pieces: Vec<Piece>,
    /// In what it came in; `None` for what the caller built.
    spelled: Option<Format>,
    /// How it is spelled where the format leaves a choice: with ids that may be missing, or fields that may be null.
    is_full: bool,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Text),
    Reasoning,
    Call {
        id: &'static str,
        /// Its result stands with it, in formats whose messages hold both.
        is_answered: bool,
    },
    Result {
        id: &'static str,
        text: Text,
        has_failed: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum Text {
    Word,
    Blank,
    Empty,
}

/// What a provider or an agent takes as a request.
fn formats() -> Vec<Format> {
    let is_sent = |format: &Format| format.request() == Some(*format);
    let is_ours = |format: &Format| matches!(format, Format::Chat | Format::Longhaul);
    Format::ALL.into_iter().filter(|format| is_sent(format) && !is_ours(format)).collect()
}

/// Ids of calls: few, so that calls and results meet, and two that not every format takes.
const IDS: [&str; 6] = ["a", "b", "c", "d", "x.1", LONG];
const LONG: &str = "idididididididididididididididididididididididididididididididididid";

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

fn said() -> impl Strategy<Value = Said> {
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
    (said, spelled, any::<bool>()).prop_map(|((role, pieces), spelled, is_full)| Said {
        role,
        pieces,
        spelled,
        is_full,
    })
}

/// Spells messages, each text and reasoning of a history with a word of its own.
#[derive(Default)]
struct Speller {
    words: usize,
}

impl Speller {
    /// Returns the messages that `said` becomes: most often one.
    fn messages(&mut self, said: &Said) -> Vec<Message> {
        let spelled = said.spelled.and_then(|format| Some((format, self.items(said, format)?)));
        match spelled {
            Some((format, items)) => messages_from_json(format, &Value::from(items).to_string()).unwrap(),
            None => vec![self.built(said)],
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("w{:04}", self.words)
    }

    fn text(&mut self, text: Text) -> String {
        match text {
            Text::Word => self.word(),
            Text::Blank => " ".to_owned(),
            Text::Empty => String::new(),
        }
    }

    fn built(&mut self, said: &Said) -> Message {
        let mut parts = Vec::new();
        for piece in &said.pieces {
            match piece {
                Piece::Text(text) => parts.push(Part::Text(self.text(*text))),
                Piece::Reasoning => {
                    let text = self.word();
                    let hash = ContentHash::of(text.as_bytes());
                    parts.push(Part::Reasoning(Reasoning { text, opaque_bytes: 0, hash }));
                }
                Piece::Call { id, is_answered } => {
                    parts.push(Part::ToolCall(ToolCall::function(*id, name(id), "{}")));
                    if *is_answered {
                        let result = ToolResult::text(*id, self.word(), Outcome::Unstated);
                        parts.push(Part::ToolResult(result));
                    }
                }
                Piece::Result { id, text, has_failed } => {
                    let outcome = if *has_failed { Outcome::Failed } else { Outcome::Unstated };
                    parts.push(Part::ToolResult(ToolResult::text(*id, self.text(*text), outcome)));
                }
            }
        }
        Message::new(said.role, parts)
    }

    /// Returns how `said` is spelled in `format`, where that has a spelling for it.
    fn items(&mut self, said: &Said, format: Format) -> Option<Vec<Value>> {
        match format {
            Format::OpenAi => Some(self.openai(said)),
            Format::Anthropic => self.anthropic(said),
            Format::Responses => Some(self.responses(said)),
            Format::Gemini => self.gemini(said),
            Format::UiMessages => self.ui_messages(said),
            _ => panic!("how {format} spells a message is not said here"),
        }
    }

    fn openai(&mut self, said: &Said) -> Vec<Value> {
        let (mut items, mut texts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Vec::new(), None);
        for piece in &said.pieces {
            match piece {
                Piece::Text(text) => texts.push(self.text(*text)),
                Piece::Reasoning => reasoning = Some(self.word()),
                Piece::Call { id, .. } => calls.push(
                    json!({"id": id, "type": "function", "function": {"name": name(id), "arguments": "{}"}}),
                ),
                Piece::Result { id, text, .. } => {
                    let text = self.text(*text);
                    let content = if text.is_empty() && said.is_full { Value::Null } else { text.into() };
                    items.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
                }
            }
        }
        if said.role == Role::Tool && texts.is_empty() {
            return items;
        }
        let role = if said.role == Role::Tool { "user" } else { said.role.as_str() };
        let mut message = json!({"role": role});
        match &texts[..] {
            [] if said.is_full => message["content"] = Value::Null,
            [] => {}
            [text] => message["content"] = text.clone().into(),
            texts => {
                message["content"] = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            }
        }
        if let Some(reasoning) = reasoning {
            message["reasoning_content"] = reasoning.into();
        }
        if !calls.is_empty() || said.is_full && said.role == Role::Assistant {
            message["tool_calls"] = calls.into();
        }
        items.push(message);
        items
    }

    fn anthropic(&mut self, said: &Said) -> Option<Vec<Value>> {
        let role = match said.role {
            Role::Developer => return None,
            Role::Tool => "user",
            role => role.as_str(),
        };
        let block = |piece: &Piece| match piece {
            Piece::Text(text) => json!({"type": "text", "text": self.text(*text)}),
            Piece::Reasoning if said.is_full => json!({"type": "redacted_thinking", "data": self.word()}),
            Piece::Reasoning => json!({"type": "thinking", "thinking": self.word(), "signature": "c2ln"}),
            Piece::Call { id, .. } => json!({"type": "tool_use", "id": id, "name": name(id), "input": {}}),
            Piece::Result { id, text, has_failed } => {
                let text = self.text(*text);
                let content =
                    if said.is_full { json!([{"type": "text", "text": text}]) } else { text.into() };
                json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": has_failed})
            }
        };
        let blocks: Vec<Value> = said.pieces.iter().map(block).collect();
        Some(vec![json!({"role": role, "content": blocks})])
    }

    fn responses(&mut self, said: &Said) -> Vec<Value> {
        let (role, kind) = match said.role {
            Role::Assistant => ("assistant", "output_text"),
            Role::Tool => ("user", "input_text"),
            role => (role.as_str(), "input_text"),
        };
        let item = |piece: &Piece| {
            let (item, id) = match piece {
                Piece::Text(text) => {
                    let content = json!([{"type": kind, "text": self.text(*text)}]);
                    (json!({"type": "message", "role": role, "content": content}), "msg")
                }
                Piece::Reasoning => {
                    (json!({"type": "reasoning", "summary": [], "encrypted_content": self.word()}), "rs")
                }
                Piece::Call { id, .. } => (
                    json!({"type": "function_call", "call_id": id, "name": name(id), "arguments": "{}"}),
                    "fc",
                ),
                Piece::Result { id, text, .. } => {
                    let output = self.text(*text);
                    return json!({"type": "function_call_output", "call_id": id, "output": output});
                }
            };
            with_id(item, said.is_full && said.role == Role::Assistant, &format!("{id}_{}", self.word()))
        };
        said.pieces.iter().map(item).collect()
    }

    fn gemini(&mut self, said: &Said) -> Option<Vec<Value>> {
        let role = match said.role {
            Role::System | Role::Developer => return None,
            Role::Assistant => "model",
            _ => "user",
        };
        let part = |piece: &Piece| match piece {
            Piece::Text(text) => json!({"text": self.text(*text)}),
            Piece::Reasoning if said.is_full => json!({"text": "", "thoughtSignature": self.word()}),
            Piece::Reasoning => json!({"text": self.word(), "thought": true}),
            Piece::Call { id, .. } => {
                json!({"functionCall": with_id(json!({"name": name(id), "args": {}}), said.is_full, id)})
            }
            Piece::Result { id, text, has_failed } => {
                let key = if *has_failed { "error" } else { "output" };
                let response = json!({"name": name(id), "response": {key: self.text(*text)}});
                json!({"functionResponse": with_id(response, said.is_full, id)})
            }
        };
        let parts: Vec<Value> = said.pieces.iter().map(part).collect();
        Some(vec![json!({"role": role, "parts": parts})])
    }

    fn ui_messages(&mut self, said: &Said) -> Option<Vec<Value>> {
        let role = match said.role {
            Role::Tool | Role::Developer => return None,
            role => role.as_str(),
        };
        let is_result = |piece: &Piece| matches!(piece, Piece::Result { .. });
        if said.pieces.iter().any(is_result) {
            return None;
        }
        let mut parts = Vec::new();
        for piece in &said.pieces {
            parts.push(match piece {
                Piece::Text(text) => json!({"type": "text", "text": self.text(*text)}),
                Piece::Reasoning => json!({"type": "reasoning", "text": self.word()}),
                Piece::Call { id, is_answered } => {
                    let (kind, state) = (format!("tool-{}", name(id)), "input-available");
                    let mut part = json!({"type": kind, "toolCallId": id, "state": state, "input": {}});
                    if *is_answered {
                        part["state"] = "output-available".into();
                        part["output"] = self.word().into();
                    }
                    part
                }
                Piece::Result { .. } => continue,
            });
            if said.is_full {
                parts.push(json!({"type": "step-start"}));
            }
        }
        Some(vec![json!({"id": self.word(), "role": role, "parts": parts})])
    }
}

/// The tool that a call is to: Gemini may leave out the id, and the name is taken for it.
fn name(id: &str) -> &str {
    if IDS[..4].contains(&id) { id } else { "look" }
}

fn with_id(mut item: Value, has_id: bool, id: &str) -> Value {
    if has_id {
        item["id"] = id.into();
    }
    item
}

fn messages(history: &[Said]) -> Vec<Message> {
    let mut speller = Speller::default();
    history.iter().flat_map(|said| speller.messages(said)).collect()
}

/// Formats that can be written and are held to rules.
fn written() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.is_import_only())
}

/// Returns the list of messages in a request.
fn list(request: &Value) -> &[Value] {
    let keys = ["messages", "contents", "input", "conversations"];
    let list = keys.iter().find_map(|key| request.get(key)).unwrap_or(request);
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns a message of the user's, as `format` spells it.
fn of_user(format: Format) -> &'static str {
    match format {
        Format::Gemini => r#"{"role":"user","parts":[{"text":"on"}]}"#,
        Format::UiMessages => r#"{"id":"on","role":"user","parts":[{"type":"text","text":"on"}]}"#,
        _ => r#"{"role":"user","content":"on"}"#,
    }
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
    if list(&request).is_empty() {
        return Ok(());
    }
    prop_assert!(found.is_empty(), "{format}: {found:?}\n{json}");
    if !ends_open(list(&request)) && !matches!(format, Format::Chat | Format::Longhaul) {
        let end = json.rfind(']').unwrap();
        let json = format!("{},{}{}", &json[..end], of_user(format), &json[end..]);
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
            history.iter().filter_map(|said| speller.items(said, from)).flatten().collect();
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
