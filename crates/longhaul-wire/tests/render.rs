//! Messages go out as they came in: spelled by the provider, kept beside the message, sent in the same bytes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use longhaul_testkit::samples::{self, Kind, Provider};
use longhaul_transcript::{
    ContentHash, Media, MediaKind, Message, Outcome, Part, Role, ToolCall, ToolResult,
};
use longhaul_wire::{
    Format, Profile, WireError, convert, messages_from_json, read, render, render_grown, render_session,
    usage_from_json, validate,
};

/// Formats that a provider of models takes requests in, with what there is to try of each.
fn providers() -> impl Iterator<Item = (Format, &'static Provider)> {
    Format::ALL.into_iter().filter(|format| format.request() == Some(*format)).filter_map(|format| {
        let sample = samples::of(format.name()).written.as_ref()?.provider.as_ref();
        assert_eq!(sample.is_some(), format.provider().is_some(), "longhaul-testkit/src/samples: {format}");
        Some((format, sample?))
    })
}

/// The same, without what there is to try.
fn sent_to_providers() -> impl Iterator<Item = Format> {
    providers().map(|(format, _)| format)
}

/// A request's messages in a format, each with something that only this provider knows, as they stand in a list.
fn spelled(format: Format) -> &'static [&'static str] {
    let own = providers().find(|(own, _)| *own == format);
    own.map(|(_, sample)| sample.spelled).unwrap_or_default()
}

/// What a provider or an agent takes as a request.
fn requests() -> impl Iterator<Item = (Format, &'static samples::Written)> {
    let written = |format: Format| Some((format, samples::of(format.name()).written.as_ref()?));
    Format::ALL.into_iter().filter_map(written).filter(|(_, sample)| sample.request.is_some())
}

fn pushed(format: Format) -> Vec<Message> {
    let list = format!("[{}]", spelled(format).join(","));
    messages_from_json(format, &list).unwrap()
}

#[test]
fn what_came_in_goes_out_in_the_same_bytes() {
    for format in sent_to_providers() {
        let mut messages = pushed(format);
        let rendered = render(&messages, format).unwrap();
        assert_eq!(rendered.json, format!("[{}]", spelled(format).join(",")));
        assert_eq!(rendered.losses, [""; 0]);
        // Instructions of the caller's own stand where the format has a place for them.
        messages.insert(0, Message::system("Be brief."));
        let rendered = render(&messages, format).unwrap();
        assert!(rendered.json.contains("Be brief."), "{}", rendered.json);
        for item in spelled(format) {
            assert!(rendered.json.contains(item), "{format}: {item}\n{}", rendered.json);
        }
        let again = read(Some(format), rendered.json.as_bytes()).unwrap();
        assert_eq!(again.transcript().entries()[0].message.role, longhaul_transcript::Role::System);
    }
}

#[test]
fn an_answer_is_taken_out_of_the_body_around_it() {
    for (format, sample) in providers() {
        let messages = messages_from_json(format, sample.answer).unwrap();
        let said = [vec![Message::user("hello")], messages].concat();
        let rendered = render(&said, format).unwrap();
        assert!(rendered.json.contains(sample.message), "{}", rendered.json);
        assert!(validate(rendered.json.as_bytes(), format, &Profile::default()).unwrap().is_empty());
    }
    assert!(messages_from_json(Format::OpenAi, r#"{"content":"nobody"}"#).is_err());
    assert!(messages_from_json(Format::OpenAi, "{").is_err());
    assert!(messages_from_json(Format::Pi, "[]").is_err());
}

#[test]
fn a_body_that_is_not_one_answer_is_refused() {
    let failed = "expected an answer that did not fail";
    let two = "found 2 of them; expected one; of several push the message that the conversation goes on with";
    let said = r#"{"role":"assistant","content":"hi"}"#;
    let content = r#"{"role":"model","parts":[{"text":"hi"}]}"#;
    for (format, body, expected) in [
        (
            Format::Responses,
            r#"{"id":"resp_1","error":{"code":"server_error"},"status":"failed","output":[]}"#.to_owned(),
            format!(r#"the answer.error: found {{"code":"server_error"}}; {failed}"#),
        ),
        (
            Format::Responses,
            r#"{"id":"resp_1","error":null,"status":"failed","output":[]}"#.to_owned(),
            format!("the answer.status: found failed; {failed}"),
        ),
        (
            Format::OpenAi,
            format!(r#"{{"choices":[{{"message":{said}}},{{"message":{said}}}]}}"#),
            format!("the answer.choices: {two}"),
        ),
        (
            Format::Gemini,
            format!(r#"{{"candidates":[{{"content":{content}}},{{"content":{content}}}]}}"#),
            format!("the answer.candidates: {two}"),
        ),
    ] {
        assert_eq!(messages_from_json(format, &body).unwrap_err().to_string(), expected);
    }
    for (format, sample) in providers() {
        assert!(messages_from_json(format, sample.failed).is_err(), "{format}");
    }
    // One that was broken off says something all the same.
    let body = r#"{"error":null,"status":"incomplete","output":[{"role":"assistant","content":"hi"}]}"#;
    assert_eq!(messages_from_json(Format::Responses, body).unwrap().len(), 1);
}

#[test]
fn a_shortened_message_is_patched_and_keeps_the_rest() {
    for format in sent_to_providers() {
        let mut messages = pushed(format);
        for message in &mut messages {
            for part in &mut message.parts {
                if let Part::ToolResult(ToolResult { content, .. }) = part {
                    *content = vec![Part::Text("[3 lines]".into())];
                }
            }
        }
        let rendered = render(&messages, format).unwrap();
        let expected = spelled(format).join(",").replace("fn main() {}\\nlong long long", "[3 lines]");
        let is_same = rendered.json == format!("[{expected}]");
        assert!(
            is_same || format == Format::Gemini && rendered.json.contains("[3 lines]"),
            "{}",
            rendered.json
        );
    }
}

#[test]
fn reasoning_that_is_gone_takes_the_ids_along_that_ask_for_it() {
    let mut messages = pushed(Format::Responses);
    messages.remove(1);
    let rendered = render(&messages, Format::Responses).unwrap();
    assert!(!rendered.json.contains("fc_1") && rendered.json.contains("msg_1"), "{}", rendered.json);
    // Nor does it go out without what it led to.
    let mut messages = pushed(Format::Responses);
    messages.truncate(2);
    let rendered = render(&messages, Format::Responses).unwrap();
    assert!(!rendered.json.contains("rs_1"), "{}", rendered.json);
    assert_eq!(rendered.losses, ["1 x reasoning left out (m1)"]);
    // All items of it, not the last one alone.
    messages.push(messages[1].clone());
    let rendered = render(&messages, Format::Responses).unwrap();
    assert!(!rendered.json.contains("rs_1"), "{}", rendered.json);
}

#[test]
fn what_comes_from_elsewhere_is_spelled_afresh_with_its_pictures() {
    for from in sent_to_providers() {
        for to in sent_to_providers().filter(|to| *to != from) {
            let mut messages = pushed(from);
            messages.push(Message::user("and now?"));
            let rendered = render(&messages, to).unwrap();
            assert!(rendered.json.contains("iVBORw0KGgo="), "{from} to {to}: {}", rendered.json);
            let found = validate(rendered.json.as_bytes(), to, &Profile::default()).unwrap();
            assert!(found.is_empty(), "{from} to {to}: {found:?}\n{}", rendered.json);
            let mut parts = pushed(from).into_iter().flat_map(|message| message.parts);
            let thinks = parts.any(|part| matches!(part, Part::Reasoning(_)));
            let is_told = rendered.losses.iter().any(|loss| loss.contains("reasoning"));
            assert_eq!(is_told, thinks, "{:?}", rendered.losses);
        }
    }
    // Both kinds side by side.
    let mixed = [pushed(Format::Anthropic), pushed(Format::OpenAi)].concat();
    let rendered = render(&mixed, Format::Anthropic).unwrap();
    assert!(
        rendered.json.contains("c2lnbmVk") && rendered.json.contains("cache_control"),
        "{}",
        rendered.json
    );
    assert_eq!(validate(rendered.json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap(), []);
}

#[test]
fn the_session_files_of_agents_keep_what_their_provider_signed_and_the_id() {
    let id = longhaul_transcript::SessionId::new("7d1c2f6a-5b0e").unwrap();
    for (own, file) in [(Format::Anthropic, Format::ClaudeCode), (Format::Responses, Format::Codex)] {
        let messages = [vec![Message::system("Be brief.")], pushed(own)].concat();
        let rendered = render_session(&messages, file, Some(&id)).unwrap();
        let again = read(Some(file), rendered.json.as_bytes()).unwrap();
        assert_eq!(again.problems(), []);
        assert_eq!(again.session_id(), Some(id.clone()));
        for item in spelled(own) {
            assert!(rendered.json.contains(item), "{file}: {item}\n{}", rendered.json);
        }
        let said = |document: &longhaul_wire::Document| document.transcript().entries().len();
        let has_system = file == Format::Codex;
        assert_eq!(said(&again), messages.len() - usize::from(!has_system), "{}", rendered.json);
        assert_eq!(rendered.losses.len(), usize::from(!has_system), "{:?}", rendered.losses);
    }
}

#[test]
fn placeholders_that_go_out_are_told() {
    let mut messages = pushed(Format::OpenAi);
    let mut raw = (**messages[0].raw.as_ref().unwrap()).clone();
    raw.redacted = 2;
    messages[0].raw = Some(raw.into());
    let losses = render(&messages, Format::OpenAi).unwrap().losses;
    assert_eq!(losses, ["2 x secret that is a placeholder, or was left out with its block (m0)"]);
}

#[test]
fn the_messages_of_a_document_have_their_spelling() {
    for format in sent_to_providers() {
        let list = format!("[{}]", spelled(format).join(",\n"));
        let doc = read(Some(format), list.as_bytes()).unwrap();
        for (entry, item) in doc.transcript().entries().iter().zip(spelled(format)) {
            let raw = doc.raw_of(entry.id.ordinal).unwrap();
            assert_eq!((&*raw.format, &*raw.json), (format.name(), *item));
        }
        assert_eq!(doc.raw_of(99), None);
    }
    // Claude Code spreads a message over lines, each with what it cost.
    let line = |n: u32, block: &str| {
        format!(
            r#"{{"parentUuid":{},"sessionId":"s","type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{block}],"usage":{{}}}},"uuid":"u{n}","timestamp":"2026-01-01T00:00:00Z"}}"#,
            if n == 1 { "null".to_owned() } else { format!("\"u{}\"", n - 1) }
        )
    };
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let call = r#"{"type":"tool_use","id":"t1","name":"read","input":{}}"#;
    let doc = read(Some(Format::ClaudeCode), format!("{}\n{}\n", line(1, thought), line(2, call)).as_bytes())
        .unwrap();
    let raw = doc.raw_of(0).unwrap();
    assert_eq!(&*raw.json, format!(r#"{{"role":"assistant","content":[{thought},{call}]}}"#));
}

#[test]
fn what_is_said_while_a_tool_runs_stands_behind_its_result() {
    let said = [
        (
            Format::Anthropic,
            [
                r#"{"role":"user","content":"go"}"#,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}"#,
                r#"{"role":"user","content":"and be quick"}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#,
            ],
        ),
        (
            Format::OpenAi,
            [
                r#"{"role":"user","content":"go"}"#,
                r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
                r#"{"role":"user","content":"and be quick"}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"x"}"#,
            ],
        ),
    ];
    for (format, said) in said {
        let messages = messages_from_json(format, &format!("[{}]", said.join(","))).unwrap();
        let rendered = render(&messages, format).unwrap();
        assert_eq!(rendered.json, format!("[{},{},{},{}]", said[0], said[1], said[3], said[2]));
        assert_eq!(rendered.losses, ["1 x result put before what was said while its tool ran (m2)"]);
        assert_eq!(validate(rendered.json.as_bytes(), format, &Profile::default()).unwrap(), []);
    }
}

/// What happens to an old message with this request is told with it, and what happened to it before is not told again.
#[test]
fn a_loss_is_told_with_the_first_request_that_has_it() {
    let call = Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function("a", "f", "{}"))]);
    let result = ToolResult::text("a", "r", Outcome::Failed);
    let result = Message::new(Role::Tool, vec![Part::ToolResult(result)]);
    let losses = |said: &[Message], told| render_grown(said, Format::OpenAi, told).unwrap().losses;
    let answered = "m1: the call a of f was never answered; it is now, as aborted";
    let by_text = "1 x a failed result is marked by its text alone";
    let said = [Message::user("hi"), call, Message::user("wait"), result];
    assert_eq!(losses(&said[..3], 2), [answered, by_text]);
    let first = "1 x result put before what was said while its tool ran (m2)";
    assert_eq!(losses(&said, 3), [&format!("{by_text} (m3)"), first]);
    let [hi, call, wait, _] = said;
    let said = [hi, call, wait, Message::assistant("ok"), Message::user("more")];
    assert_eq!(losses(&said[..4], 3), [""; 0]);
    assert_eq!(losses(&said, 4), [""; 0]);
    assert_eq!(render(&said, Format::OpenAi).unwrap().losses, [answered, by_text]);
}

/// What a server sends in two messages goes out in two, with the result of the first between them.
#[test]
fn an_answer_in_words_behind_a_call_stands_behind_its_result() {
    let said = [
        r#"{"role":"user","content":"go"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
        r#"{"role":"assistant","content":"let me see"}"#,
        r#"{"role":"tool","tool_call_id":"a","content":"x"}"#,
        r#"{"role":"user","content":"on"}"#,
    ];
    let messages = messages_from_json(Format::OpenAi, &format!("[{}]", said.join(","))).unwrap();
    let rendered = render(&messages, Format::OpenAi).unwrap();
    let [ask, call, words, result, on] = said;
    assert_eq!(rendered.json, format!("[{ask},{call},{result},{words},{on}]"));
    assert_eq!(rendered.losses, ["1 x result put before what was said while its tool ran (m2)"]);
    // Also where only one of the two was spelled already, or none.
    for spelled in [[true, false], [false, true], [false, false]] {
        let mut messages = messages.clone();
        messages[1..]
            .iter_mut()
            .zip(spelled)
            .filter(|(_, spelled)| !spelled)
            .for_each(|(message, _)| message.raw = None);
        let rendered = render(&messages, Format::OpenAi).unwrap();
        assert_eq!(validate(rendered.json.as_bytes(), Format::OpenAi, &Profile::default()).unwrap(), []);
    }
}

/// Of more calls than a message may make, each stands with its result, whatever else the model said or answered with them.
#[test]
fn what_stands_beside_too_many_calls_stays() {
    let call = |id: &str| Part::ToolCall(ToolCall::function(id, "ls", "{}"));
    let result = |id: &str, text: &str| Part::ToolResult(ToolResult::text(id, text, Outcome::Unstated));
    let ids: Vec<String> = (0..130).map(|nth| format!("c{nth}")).collect();
    let calls = || ids.iter().map(|id| call(id));
    let many =
        |before: Option<Part>| Message::new(Role::Assistant, before.into_iter().chain(calls()).collect());
    let results = Message::new(Role::Tool, ids.iter().map(|id| result(id, "r")).collect());
    let (ask, first) = (Message::user("go"), Message::new(Role::Assistant, vec![call("x")]));
    let late = many(Some(result("x", "PRECIOUS")));
    for said in [
        vec![ask.clone(), first, Message::user("wait"), late, results.clone(), Message::user("on")],
        vec![ask, many(None), Message::assistant("PRECIOUS"), results, Message::user("on")],
    ] {
        let rendered = render(&said, Format::OpenAi).unwrap();
        let found = validate(rendered.json.as_bytes(), Format::OpenAi, &Profile::default()).unwrap();
        assert_eq!(found, [], "{}", rendered.json);
        assert_eq!(rendered.json.matches("PRECIOUS").count(), 1, "{}", rendered.json);
    }
}

/// Calls at the end stay open where one message makes them.
#[test]
fn calls_at_the_end_that_stand_in_two_messages_are_answered() {
    let call =
        |id: &str| Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function(id, "ls", "{}"))]);
    for (format, sample) in requests() {
        for spelled in [[false, false], [true, false], [false, true], [true, true]] {
            let mut messages = [Message::user("go"), call("call_a0000"), call("call_b0000")];
            for (message, _) in messages[1..].iter_mut().zip(spelled).filter(|(_, spelled)| *spelled) {
                let json = render([&Message::user("go"), &*message], format).unwrap().json;
                *message = messages_from_json(format, &json).unwrap().pop().unwrap();
            }
            let rendered = render(&messages, format).unwrap();
            let found = validate(rendered.json.as_bytes(), format, &Profile::default()).unwrap();
            assert_eq!(found, [], "{format}, {spelled:?}: {}", rendered.json);
            let is_one = sample.request.as_ref().is_some_and(|sample| sample.reads_as_one);
            let is_answered = !is_one && spelled != [false; 2];
            assert_eq!(rendered.json.contains("aborted"), is_answered, "{format}: {}", rendered.json);
        }
    }
    // Words between calls that were spelled already go out between them.
    let item = r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#;
    let mut messages = messages_from_json(Format::Responses, item).unwrap();
    messages.push(call("b"));
    messages[1].parts.insert(0, Part::Text("And so on.".to_owned()));
    let rendered = render(&messages, Format::Responses).unwrap();
    let found = validate(rendered.json.as_bytes(), Format::Responses, &Profile::default()).unwrap();
    assert_eq!(found, [], "{}", rendered.json);
}

#[test]
fn results_that_are_pushed_one_by_one_answer_together_where_the_provider_wants_that() {
    let gemini = [
        r#"{"role":"user","parts":[{"text":"q"}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"name":"c","args":{}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"1"}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"b","response":{"output":"2"} }}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"c","response":{"output":"3"}}}]}"#,
        r#"{"role":"user","parts":[{"text":"go on"}]}"#,
    ];
    let anthropic = [
        r#"{"role":"user","content":"q"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a","input":{}},{"type":"tool_use","id":"b","name":"b","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2","is_error":true},{"type":"text","text":"go on"}]}"#,
    ];
    let openai = [
        r#"{"role":"user","content":"q"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"b","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"a","content":"1"}"#,
        r#"{"role":"tool","tool_call_id":"b","content":"2"}"#,
    ];
    let sent = |format: Format, items: &[&str]| {
        let messages = items.iter().flat_map(|item| messages_from_json(format, item).unwrap());
        let rendered = render(&messages.collect::<Vec<_>>(), format).unwrap();
        let found = validate(rendered.json.as_bytes(), format, &Profile::default()).unwrap();
        assert!(found.is_empty() && rendered.losses.is_empty(), "{found:?} {:?}", rendered.losses);
        rendered.json
    };
    let together = format!(
        "{},{},{}",
        r#"{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"1"}}}"#,
        r#"{"functionResponse":{"name":"b","response":{"output":"2"} }}"#,
        r#"{"functionResponse":{"name":"c","response":{"output":"3"}}}]}"#
    );
    let json = sent(Format::Gemini, &gemini);
    assert!(json.contains(&together) && json.ends_with(&format!("{}]", gemini[5])), "{json}");
    let json = sent(Format::Anthropic, &anthropic);
    let together = r#""content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2","is_error":true},{"type":"text","text":"go on"}]}]"#;
    assert!(json.ends_with(together), "{json}");
    let json = sent(Format::OpenAi, &openai);
    assert_eq!(json, format!("[{}]", openai.join(",")));
}

#[test]
fn a_history_without_a_word_is_told() {
    let blank = [Message::user("  "), Message::user("")];
    let sent = render(&blank, Format::Anthropic).unwrap();
    assert_eq!(sent.json, "[]");
    assert!(sent.losses.contains(&"no message says anything: there is nothing to send".to_owned()));
    assert!(render(&[], Format::Anthropic).unwrap().losses.is_empty());
}

#[test]
fn an_answer_without_content_is_left_out() {
    for content in ["[]", "\"\"", "\" \\n\"", r#"[{"type":"text","text":"\t"}]"#] {
        let json = format!(
            r#"[{{"role":"user","content":"go"}},{{"role":"assistant","content":{content}}},{{"role":"user","content":"on"}}]"#
        );
        let messages = messages_from_json(Format::Anthropic, &json).unwrap();
        let rendered = render(&messages, Format::Anthropic).unwrap();
        assert_eq!(rendered.losses, ["1 x message without content left out (m1)"]);
        assert_eq!(validate(rendered.json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap(), []);
    }
}

/// Whatever one provider's message is read as, what it says is there or it is refused.
#[test]
fn a_message_in_another_providers_shape_is_refused() {
    let is_there = |format, json: &str| {
        messages_from_json(format, json).map(|messages| {
            let says = |part: &Part| match part {
                Part::Text(text) => text == "zebra",
                Part::ToolCall(call) => call.name == "ls",
                Part::ToolResult(result) => result.content == [Part::Text("zebra".to_owned())],
                _ => false,
            };
            messages.iter().flat_map(|message| &message.parts).any(says)
        })
    };
    for (of, sample) in providers() {
        for json in sample.shapes {
            assert!(is_there(of, json).unwrap(), "{of}: {json}");
            for format in sent_to_providers().filter(|format| *format != of) {
                match is_there(format, json) {
                    Ok(is_there) => assert!(is_there, "{of} as {format}: {json}"),
                    Err(error) => assert!(error.to_string().contains("message 0"), "{error}"),
                }
            }
        }
    }
    let (_, openai) = providers().next().unwrap();
    let error = messages_from_json(Format::Responses, openai.shapes[0]).unwrap_err().to_string();
    assert!(error.contains("spells a message"), "{error}");
}

#[test]
fn a_system_message_of_anthropics_goes_out_as_the_system_prompt() {
    let json = r#"[{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"go"}]"#;
    let mut messages = messages_from_json(Format::Anthropic, json).unwrap();
    let sent = render(&messages, Format::Anthropic).unwrap();
    let expected = r#"{"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"go"}]}"#;
    assert_eq!((&*sent.json, &sent.losses[..]), (expected, &[][..]));
    let hurry = r#"{"role":"system","content":"Hurry.","x":1}"#;
    let hurries = messages_from_json(Format::Anthropic, hurry).unwrap();
    // Behind the user and before the answer it stays what it is.
    let in_place = [messages.clone(), hurries.clone(), vec![Message::assistant("Going.")]].concat();
    for n_sent in [3, 4] {
        let sent = render(&in_place[..n_sent], Format::Anthropic).unwrap();
        assert!(sent.json.contains(hurry) && sent.losses.is_empty(), "{}: {:?}", sent.json, sent.losses);
    }
    // Behind an answer, before the user, or beside another one, there is no place for it.
    messages.push(Message::assistant("Going."));
    messages.extend(hurries.clone());
    messages.push(Message::user("Well?"));
    messages.extend(hurries.clone());
    messages.extend(hurries);
    let sent = render(&messages, Format::Anthropic).unwrap();
    assert_eq!(sent.losses, ["2 x system message in mid-conversation written as the user's (m3, m5)"]);
    assert_eq!(validate(sent.json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap(), []);
    assert!(sent.json.contains(r#"{"role":"user","content":"Hurry.","x":1}"#), "{}", sent.json);
    assert!(sent.json.contains(hurry), "{}", sent.json);
}

#[test]
fn the_body_of_a_request_is_refused_in_words_that_say_how() {
    for (format, sample) in providers() {
        let [_, (before, behind)] = sample.around;
        let body = format!("{before}[{}]{behind}", sample.spelled[0]);
        let error = messages_from_json(format, &body).unwrap_err().to_string();
        assert!(error.contains("of the body of a request push its list of messages"), "{format}: {error}");
    }
}

#[test]
fn how_closely_a_picture_is_to_be_looked_at_is_carried_or_told() {
    for (from, sample) in providers().filter(|(_, sample)| sample.spelled[0].contains("\"detail\":\"low\"")) {
        let messages = messages_from_json(from, sample.spelled[0]).unwrap();
        for to in sent_to_providers().filter(|to| *to != from) {
            let sent = render(&messages, to).unwrap();
            let is_carried = sent.json.contains(r#""detail":"low""#);
            let is_told = sent.losses.iter().any(|loss| loss.contains("detail"));
            assert!(is_carried != is_told, "{from} to {to}: {}, {:?}", sent.json, sent.losses);
        }
    }
}

#[test]
fn a_shortened_message_has_the_spelling_of_what_is_left() {
    for format in sent_to_providers() {
        for message in pushed(format) {
            let message = std::sync::Arc::new(message);
            assert_eq!(longhaul_wire::respell(message.clone()).raw, message.raw, "nothing was taken out");
            let mut shortened = (*message).clone();
            for part in &mut shortened.parts {
                if let Part::ToolResult(ToolResult { content, .. }) = part {
                    *content = vec![Part::Text("[digest]".into())];
                }
            }
            shortened.parts.retain(|part| !matches!(part, Part::Media(_)));
            let patched = longhaul_wire::respell(shortened.clone().into());
            let json = patched.raw.as_ref().map(|raw| raw.json.to_string()).unwrap_or_default();
            assert!(!json.contains("long long long") && !json.contains("iVBORw0KGgo"), "{format}: {json}");
            let sent = |message: &Message| render([message], format).unwrap().json;
            assert_eq!(sent(&patched), sent(&shortened), "{format}");
        }
    }
}

#[test]
fn what_stays_beside_a_picture_that_goes_stays_in_the_spelling() {
    let pictures = ["iVBORw0KGgo=", "R0lGODlhAQABAA=="];
    for (format, sample) in providers() {
        for gone in [0, 1] {
            let said = messages_from_json(format, sample.pictures).unwrap().remove(0);
            let mut noted = said.clone();
            noted.parts[2 * gone] = Part::Text("[picture omitted]".into());
            // A caller's words in front have no place of their own in the spelling.
            let mut led = noted.clone();
            led.parts.insert(0, Part::Text("Seen before:".into()));
            for shortened in [noted, led] {
                let parts = shortened.parts.clone();
                let respelled = longhaul_wire::respell(shortened.into());
                let sent = render([&*respelled], format).unwrap();
                assert!(sent.json.contains("[picture omitted]"), "{format}: {}", sent.json);
                assert!(!sent.json.contains(pictures[gone]), "{format}: {}", sent.json);
                assert!(sent.json.contains(pictures[1 - gone]), "{format}: {}", sent.json);
                assert_eq!(sent.losses, [""; 0], "{format}");
                let again = messages_from_json(format, &sent.json).unwrap();
                assert_eq!(again[0].parts, parts, "{format}");
            }
        }
    }
}

/// Returns a conversation of OpenAI's in its own spelling, as a request.
fn sent_as_openai(pushed: &[&str], more: Option<Message>) -> String {
    let read = |json: &&str| longhaul_wire::messages_from_json(Format::OpenAi, json).unwrap();
    let mut messages: Vec<Message> = pushed.iter().flat_map(read).collect();
    messages.extend(more);
    render(&messages, Format::OpenAi).unwrap().json
}

#[test]
fn what_servers_answer_and_no_request_takes_goes_out_as_one_may_have_it() {
    let is_valid = |json: &str| {
        let found =
            longhaul_wire::validate(json.as_bytes(), Format::OpenAi, &longhaul_wire::Profile::default());
        assert!(found.as_ref().is_ok_and(Vec::is_empty), "{json}: {found:?}");
    };
    let user = r#"{"role":"user","content":"hi"}"#;
    let bare = r#"{"role":"assistant","content":"hi","x_id":7,"tool_calls":[]}"#;
    let body =
        format!(r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{bare}}}]}}"#);
    for answer in [bare, &*body] {
        let json = sent_as_openai(&[user, answer], None);
        assert!(json.contains(r#"{"role":"assistant","content":"hi","x_id":7}"#), "{json}");
        is_valid(&json);
    }
    let call = r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}}"#;
    let result = ToolResult::text("f", "done", Outcome::Succeeded);
    let json = sent_as_openai(&[user, call], Some(Message::new(Role::Tool, vec![Part::ToolResult(result)])));
    assert!(json.contains(r#""function":{"name":"f","arguments":"{\"a\":1}"}"#), "{json}");
    is_valid(&json);
    let json = sent_as_openai(&[user, call, r#"{"role":"function","name":"f","content":"done"}"#], None);
    assert!(json.contains(r#"{"role":"tool","tool_call_id":"f","content":"done"}"#), "{json}");
    is_valid(&json);
    // What a request may have stays to the byte.
    let calls = r#"{"role":"assistant", "tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"content":null}"#;
    assert!(sent_as_openai(&[user, calls], None).contains(calls));
}

#[test]
fn messages_are_put_into_a_body_and_the_rest_of_it_stays() {
    for (format, sample) in providers() {
        let list = format!("[{}]", sample.spelled.join(","));
        for (before, behind) in sample.around {
            let body = format!("{before}{list}{behind}");
            let came = read(Some(format), body.as_bytes()).unwrap();
            let raw = |n: usize| came.raw_of(n as u64).map(std::sync::Arc::new);
            let entries = came.transcript().entries().iter().enumerate();
            let said: Vec<Message> =
                entries.map(|(n, entry)| Message { raw: raw(n), ..(*entry.message).clone() }).collect();
            let again = came.with_messages(&render(&said, format).unwrap()).unwrap();
            assert_eq!(again, body, "{format}: what says the same is the same");
            // Standing instructions come, stay, change and go with the messages.
            for instructions in ["", "Be thorough."] {
                let kept = said.iter().filter(|message| !message.is_system()).cloned();
                let system = Some(Message::system(instructions)).filter(|_| !instructions.is_empty());
                let sent: Vec<Message> = system.into_iter().chain(kept.take(1)).collect();
                let request = came.with_messages(&render(&sent, format).unwrap()).unwrap();
                let goes_out = read(Some(format), request.as_bytes()).unwrap();
                let found = goes_out.transcript().entries().iter().map(|entry| entry.message.parts.clone());
                let expected: Vec<_> = sent.iter().map(|message| message.parts.clone()).collect();
                assert_eq!(found.collect::<Vec<_>>(), expected, "{request}");
                assert!(request.to_lowercase().matches("instruction\":").count() <= 1, "{request}");
                assert_eq!(goes_out.model(), came.model());
                assert!(!request.contains("Be brief."), "{request}");
                for kept in [r#""stream":true"#, "1e0", "1e2"] {
                    assert_eq!(request.matches(kept).count(), body.matches(kept).count(), "{request}");
                }
                let found = validate(request.as_bytes(), format, &Profile::default()).unwrap();
                assert!(found.is_empty(), "{request}: {found:?}");
            }
        }
    }
}

#[test]
fn a_body_may_be_a_list_or_hold_a_text_and_a_session_is_none() {
    let sent = render(&[Message::system("Be brief."), Message::user("go on")], Format::Responses).unwrap();
    let text = r#"{"model":"m","input":"go","store":false}"#;
    let came = read(Some(Format::Responses), text.as_bytes()).unwrap();
    let request = came.with_messages(&sent).unwrap();
    assert!(request.ends_with(r#","store":false}"#) && !request.contains(r#""go""#), "{request}");
    assert_eq!(read(Some(Format::Responses), request.as_bytes()).unwrap().transcript().len(), 2);
    let list = read(Some(Format::Responses), r#"[{"role":"user","content":"go"}]"#.as_bytes()).unwrap();
    assert_eq!(list.with_messages(&sent).unwrap(), sent.json);
    let rollout = render(&[Message::user("go")], Format::Codex).unwrap();
    let session = read(Some(Format::Codex), rollout.json.as_bytes()).unwrap();
    assert!(matches!(session.with_messages(&sent), Err(WireError::NoRequest { format: Format::Codex })));
}

#[test]
fn what_an_answer_cost_is_read_in_each_protocol() {
    let told = |format, answer: &str| {
        let usage = usage_from_json(format, answer)?;
        let counts = [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning];
        Some(counts.map(|tokens| tokens.0))
    };
    for (format, sample) in providers() {
        for (answer, expected) in sample.costs {
            assert_eq!(told(format, answer), Some(*expected), "{format}");
        }
    }
    for nothing in [r#"{"usage":null}"#, "{}", "[", r#"{"usage":{"prompt_tokens":"many"}}"#] {
        assert_eq!(told(Format::OpenAi, nothing), None, "{nothing}");
    }
}

#[test]
fn what_an_agents_file_spells_goes_out_without_ids_that_want_their_reasoning() {
    let line = |payload: &str| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{payload}}}"#)
    };
    let file = [
        r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"22222222-2222-4222-8222-222222222222","cwd":"/w"}}"#.to_owned(),
        line(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"look"}]}"#),
        line(r#"{"id":"fc_1","type":"function_call","call_id":"call_1","name":"shell","arguments":"{}"}"#),
        line(r#"{"type":"function_call_output","call_id":"call_1","output":"a.rs"}"#),
        line(r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"There it is."}]}"#),
        line(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}"#),
    ];
    let doc = read(Some(Format::Codex), format!("{}\n", file.join("\n")).as_bytes()).unwrap();
    let messages: Vec<Message> =
        (0..doc.transcript().len() as u64).filter_map(|nth| doc.spelled(nth)).collect();
    assert!(messages.iter().any(|message| message.raw.is_some()));
    let said = render(&messages, Format::Responses).unwrap().json;
    assert!(!said.contains("fc_1") && said.contains("call_1"), "{said}");
    assert_eq!(validate(said.as_bytes(), Format::Responses, &Profile::default()).unwrap(), []);
}

/// What each of these says in a request: `!` a call, `=` a result, words as they are.
fn shown(json: &str, format: Format) -> String {
    let document = read(Some(format), json.as_bytes()).unwrap();
    let said = document.transcript().entries().iter().map(|entry| {
        let parts = entry.message.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::ToolCall(call) => format!("!{}", call.id),
            Part::ToolResult(result) => format!("{}={}", result.call_id, result.joined_text()),
            _ => "(reasoning)".to_owned(),
        });
        parts.collect::<Vec<_>>().join(" ")
    });
    said.collect::<Vec<_>>().join(" | ")
}

/// Renders what was spelled in `format`, as that, checks it, and shows it.
fn sent_again(format: Format, items: &[&str]) -> (String, Vec<String>) {
    let messages = messages_from_json(format, &format!("[{}]", items.join(","))).unwrap();
    let sent = render(&messages, format).unwrap();
    let found = validate(sent.json.as_bytes(), format, &Profile::default()).unwrap();
    assert_eq!(found, [], "{format}: {}", sent.json);
    (shown(&sent.json, format), sent.losses)
}

fn openai_call(ids: &[&str]) -> String {
    let call = |id: &&str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"ls","arguments":"{{}}"}}}}"#)
    };
    let calls: Vec<String> = ids.iter().map(call).collect();
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn openai_result(id: &str, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
}

const ASKED: &str = r#"{"role":"user","content":"go"}"#;

#[test]
fn results_of_several_answers_each_stand_behind_their_own() {
    let calls = [&["c0", "c1"][..], &["c2"], &["c3"]].map(openai_call);
    let late = openai_result("c1", "r1");
    let (said, _) = sent_again(Format::OpenAi, &[ASKED, &calls[0], &calls[1], &calls[2], &late]);
    let aborted = "Error: aborted";
    let expected = format!("go | !c0 !c1 | c1=r1 | c0={aborted} | !c2 | c2={aborted} | !c3 | c3={aborted}");
    assert_eq!(said, expected);
    // Also one that comes when others were made and answered.
    let more = openai_result("c2", "r2");
    let (said, losses) = sent_again(
        Format::OpenAi,
        &[ASKED, &openai_call(&["c0"]), ASKED, &openai_call(&["c2"]), &openai_result("c0", "r0"), &more],
    );
    assert_eq!(said, "go | !c0 | c0=r0 | go | !c2 | c2=r2");
    assert_eq!(losses, ["1 x result put before what was said while its tool ran (m2)"]);
}

#[test]
fn r_03_words_behind_calls_stand_before_them() {
    let call = |id: &str| Part::ToolCall(ToolCall::function(id, "ls", "{}"));
    let result = |id: &str| {
        Message::new(Role::Tool, vec![Part::ToolResult(ToolResult::text(id, "x", Outcome::Unstated))])
    };
    let mut strict = Profile::default();
    strict.keeps_adjacent = true;
    let calls = Message::new(Role::Assistant, vec![call("a"), call("b")]);
    let words = Message::assistant("It runs.");
    let [a, b, go] = [result("a"), result("b"), Message::user("go")];
    for said in [
        [&go, &calls, &words, &a, &b, &go],
        [&go, &calls, &words, &b, &a, &go],
        [&go, &calls, &a, &words, &b, &go],
    ] {
        let sent = render(said, Format::Responses).unwrap();
        assert_eq!(validate(sent.json.as_bytes(), Format::Responses, &strict).unwrap(), [], "{}", sent.json);
        assert!(sent.json.contains("It runs."), "{}", sent.json);
    }
}

#[test]
fn g_03_turns_of_the_model_that_follow_each_other_are_joined() {
    let words = r#"{"role":"model","parts":[{"text":"Let me see.","thoughtSignature":"c2ln"}]}"#;
    let call = r#"{"parts":{"functionCall":{"name":"ls","args":{}}},"role":"model"}"#;
    let user = r#"{"role":"user","parts":[{"text":"go"}]}"#;
    let json = |messages: &[Message]| {
        let sent = render(messages, Format::Gemini).unwrap();
        let found = validate(sent.json.as_bytes(), Format::Gemini, &Profile::default()).unwrap();
        assert_eq!(found, [], "{}", sent.json);
        sent.json
    };
    let mut messages = messages_from_json(Format::Gemini, &format!("[{user},{words},{call}]")).unwrap();
    let both = r#"{"role":"model","parts":[{"text":"Let me see.","thoughtSignature":"c2ln"},{"functionCall":{"name":"ls","args":{}}}]}"#;
    assert_eq!(json(&messages), format!("[{user},{both}]"));
    // A result of the caller's own bears the id that its call has on the wire: none.
    let result = ToolResult::text("ls", "a.rs", Outcome::Unstated);
    messages.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    let response =
        r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a.rs"}}}]}"#;
    assert_eq!(json(&messages), format!("[{user},{both},{response}]"));
    messages[1].raw = None;
    assert_eq!(shown(&json(&messages), Format::Gemini), "go | Let me see. !ls | ls=a.rs");
}

#[test]
fn g_06_a_call_that_is_given_an_id_keeps_its_signature() {
    let call = |sign: &str| {
        format!(
            r#"{{"role":"model","parts":[{{"functionCall":{{"name":"ls","args":{{}}}},"thoughtSignature":"{sign}"}}]}}"#
        )
    };
    let response = |text: &str| {
        format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"ls","response":{{"output":"{text}"}}}}}}]}}"#
        )
    };
    let user = r#"{"role":"user","parts":[{"text":"go"}]}"#;
    let (said, losses) =
        sent_again(Format::Gemini, &[user, &call("c2ln"), &call("bmVk"), &response("1"), &response("2")]);
    let id = said.split('!').nth(2).and_then(|call| call.split(' ').next()).unwrap();
    assert_eq!(said, format!("go | !ls !{id} | ls=1 {id}=2"));
    assert_eq!(losses, ["m2: a call has an id of its own now, that stood under the id of another"]);
    let list = [user, &call("c2ln"), &call("bmVk"), &response("1"), &response("2")].join(",");
    let messages = messages_from_json(Format::Gemini, &format!("[{list}]")).unwrap();
    let sent = render(&messages, Format::Gemini).unwrap().json;
    let signed =
        format!(r#"{{"functionCall":{{"id":"{id}","name":"ls","args":{{}}}},"thoughtSignature":"bmVk"}}"#);
    assert!(sent.contains(&signed), "{sent}");
}

#[test]
fn g_10_responses_without_ids_come_in_the_order_of_the_calls() {
    let call = r#"{"functionCall":{"name":"ls","args":{}}}"#;
    let response =
        |text: &str| format!(r#"{{"functionResponse":{{"name":"ls","response":{{"output":"{text}"}}}}}}"#);
    let content =
        |role: &str, parts: &[&str]| format!(r#"{{"role":"{role}","parts":[{}]}}"#, parts.join(","));
    let (one, two) = (response("1"), response("2"));
    let user = content("user", &[r#"{"text":"go"}"#]);
    let spelled = |role: &str, parts: [&str; 2], is_apart: bool| match is_apart {
        true => parts.map(|part| content(role, &[part])).join(","),
        false => content(role, &parts),
    };
    for calls in [true, false] {
        for responses in [true, false] {
            let (calls, responses) =
                (spelled("model", [call; 2], calls), spelled("user", [&one, &two], responses));
            let list = [&*user, &calls, &responses].join(",");
            let list = format!("[{list}]");
            let doc = read(Some(Format::Gemini), list.as_bytes()).unwrap();
            let sent = render(&messages_from_json(Format::Gemini, &list).unwrap(), Format::Gemini).unwrap();
            let converted = convert(&doc, Format::OpenAi).unwrap();
            let openai = String::from_utf8_lossy(converted.document.as_bytes()).into_owned();
            for (json, format) in [(&sent.json, Format::Gemini), (&openai, Format::OpenAi)] {
                assert_eq!(validate(json.as_bytes(), format, &Profile::default()).unwrap(), []);
                let said = shown(json, format);
                let places = ["=1", "=2"].map(|result| said.find(result));
                assert!(places[0].is_some() && places[0] < places[1], "{said}");
            }
        }
    }
}

#[test]
fn u_03_a_derived_id_does_not_depend_on_what_stands_before() {
    let results = [openai_result("a", "1"), openai_result("a", "2")];
    let (other, its_result) = (openai_call(&["z"]), openai_result("z", "0"));
    // Under an id that another call has, alone or beside others in its message, or one that no other format takes.
    let call = |id: &str| {
        let arguments = r#"{\"all\":true}"#;
        openai_call(&[id]).replace("{}", arguments)
    };
    let histories = [
        vec![openai_call(&["a"]), results[0].clone(), call("a"), results[1].clone()],
        vec![openai_call(&["a", "a"]), results[0].clone(), results[1].clone()],
        vec![call("a b"), openai_result("a b", "1")],
    ];
    for history in histories {
        let history: Vec<&str> = history.iter().map(String::as_str).collect();
        let messages = |before: &[&str]| {
            let list = [&[ASKED], before, &history].concat().join(",");
            messages_from_json(Format::OpenAi, &format!("[{list}]")).unwrap()
        };
        for to in [Format::OpenAi, Format::Anthropic] {
            let whole = render(&messages(&[&other, &its_result]), to).unwrap();
            let trimmed = render(&messages(&[]), to).unwrap();
            let ids =
                |sent: &str| shown(sent, to).split(" | ").skip(1).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(ids(&whole.json)[2..], ids(&trimmed.json), "{to}");
        }
    }
}

#[test]
fn o_03_an_answer_of_reasoning_alone_has_content() {
    for alone in [r#""content":null,"#, r#""tool_calls":[],"#, ""] {
        let answer = format!(r#"{{"role":"assistant",{alone}"reasoning_content":"hm"}}"#);
        let (said, losses) = sent_again(Format::OpenAi, &[ASKED, &answer, ASKED]);
        assert_eq!((&*said, losses.len()), ("go | (reasoning)  | go", 0));
    }
    // And one whose calls are left out.
    let call = openai_call(&["a"]);
    let again = call.replace(r#""content":null"#, r#""reasoning_content":"hm""#);
    let (said, _) = sent_again(Format::OpenAi, &[ASKED, &call, &again, &openai_result("a", "r")]);
    assert_eq!(said, "go | !a | a=r | (reasoning) ");
}

#[test]
fn u_11_what_is_left_beside_reasoning_is_no_answer_where_it_is_blank() {
    for blank in ["", " ", "\\n\\n"] {
        let answer = format!(
            r#"[{{"role":"user","content":"go"}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2ln"}},{{"type":"text","text":"{blank}"}}]}},{{"role":"user","content":"on"}}]"#
        );
        let messages = messages_from_json(Format::Anthropic, &answer).unwrap();
        for (to, sample) in requests().filter(|(to, _)| *to != Format::Anthropic) {
            let sent = render(&messages, to).unwrap();
            let found = validate(sent.json.as_bytes(), to, &Profile::default()).unwrap();
            assert_eq!(found, [], "{}", sent.json);
            let is_kept = sample.carries.contains(&Kind::Reasoning);
            let kept = if is_kept { "go (reasoning) on" } else { "go on" };
            let said = shown(&sent.json, to);
            assert_eq!(
                said.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" "),
                kept,
                "{to}"
            );
        }
    }
}

#[test]
fn u_03_calls_under_one_id_that_were_all_answered_go_out_under_several() {
    let name = |said: &str| {
        let derived = said.split([' ', '=']).find_map(|word| word.strip_prefix("!call_")).unwrap_or_default();
        said.replace(&format!("call_{derived}"), "B")
    };
    let results = [openai_result("a", "1"), openai_result("a", "2")];
    // In one message.
    let (said, losses) =
        sent_again(Format::OpenAi, &[ASKED, &openai_call(&["a", "a"]), &results[0], &results[1]]);
    assert_eq!(name(&said), "go | !a !B | a=1 | B=2");
    assert_eq!(losses, ["m1: a call has an id of its own now, that stood under the id of another"]);
    // In two of them, beside each other or apart.
    let call = openai_call(&["a"]);
    let (said, _) = sent_again(Format::OpenAi, &[ASKED, &call, &call, &results[0], &results[1]]);
    assert_eq!(name(&said), "go | !a | a=1 | !B | B=2");
    let (said, losses) = sent_again(Format::OpenAi, &[ASKED, &call, &results[0], &call, &results[1]]);
    assert_eq!(name(&said), "go | !a | a=1 | !B | B=2");
    assert_eq!(losses, ["1 x call id replaced by a derived one (m3)"]);
    // One that was not answered is left out, and told.
    let (said, losses) = sent_again(Format::OpenAi, &[ASKED, &openai_call(&["a", "a"]), &results[0]]);
    assert_eq!(
        (&*said, losses),
        ("go | !a | a=1", vec!["m1: a call under the id of another left out".to_owned()])
    );
}

#[test]
fn a_20_thinking_that_stands_elsewhere_than_first_is_left_out() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let text = r#"{"type":"text","text":"So."}"#;
    let sent = |answers: &[&[&str]]| {
        let answers = answers
            .iter()
            .map(|blocks| format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(",")));
        let items: Vec<String> =
            std::iter::once(ASKED.to_owned()).chain(answers).chain([ASKED.to_owned()]).collect();
        sent_again(Format::Anthropic, &items.iter().map(String::as_str).collect::<Vec<_>>()).0
    };
    assert_eq!(sent(&[&[thinking, text]]), "go | (reasoning) So. | go");
    // It may come in messages of its own.
    assert_eq!(sent(&[&[thinking], &[text]]), "go | (reasoning) | So. | go");
    for odd in [&[&[text, thinking][..]][..], &[&[thinking, text, thinking]], &[&[text], &[thinking]]] {
        assert_eq!(sent(odd), "go | So. | go");
    }
    // Messages that follow each other are one.
    let both = [thinking, text];
    assert_eq!(sent(&[&[text], &both]), "go | So. | So. | go");
    assert_eq!(sent(&[&both, &both]), "go | (reasoning) So. | (reasoning) So. | go");
}

#[test]
fn a_21_thinking_of_a_round_in_progress_stays_where_it_stands() {
    let block = |block: &str| format!(r#"{{"role":"assistant","content":[{}]}}"#, block);
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let call = |id: &str| {
        let text = r#"{"type":"text","text":"So."}"#;
        let call = format!(r#"{{"type":"tool_use","id":"{id}","name":"ls","input":{{}}}}"#);
        block(&[text, thinking, &call].join(","))
    };
    let result = |id: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}]}}"#
        )
    };
    let search = block(&format!(
        r#"{thinking},{{"type":"server_tool_use","id":"s","name":"web_search","input":{{}}}}"#
    ));
    let said = block(r#"{"type":"text","text":"Done."}"#);
    let (t1, t2) = ((call("t1"), result("t1")), (call("t2"), result("t2")));
    for sent in [
        &[ASKED, &t1.0][..],
        &[ASKED, &t1.0, &t1.1],
        &[ASKED, &t1.0, &t1.1, &t2.0],
        &[ASKED, &t1.0, &t1.1, &t2.0, &t2.1],
        &[ASKED, &t1.0, &t1.1, &said, &search],
    ] {
        let messages = messages_from_json(Format::Anthropic, &format!("[{}]", sent.join(","))).unwrap();
        let sent_again = render(&messages, Format::Anthropic).unwrap();
        assert_eq!(sent_again.json, format!("[{}]", sent.join(",")));
        assert_eq!(sent_again.losses, [""; 0]);
        assert_eq!(validate(sent_again.json.as_bytes(), Format::Anthropic, &Profile::default()).unwrap(), []);
    }
    // Once the round is over, thinking that does not lead is left out.
    let (said, losses) = sent_again(Format::Anthropic, &[ASKED, &t1.0, &t1.1, &said, ASKED]);
    assert_eq!(said, "go | So. !t1 | t1=r | Done. | go");
    assert_eq!(losses, ["1 x reasoning left out (m1)"]);
}

#[test]
fn a_20_what_is_blank_does_not_part_an_answer() {
    let words = |text: &str| Message::new(Role::Assistant, vec![Part::Text(text.into())]);
    let nobody_asked = Part::ToolResult(ToolResult::text("a", "r", Outcome::Unstated));
    let blank = |role| Message::new(role, vec![Part::Text(" ".into()), nobody_asked.clone()]);
    let thinking =
        r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"So.","signature":"c2ln"}]}]"#;
    let thought = messages_from_json(Format::Anthropic, thinking).unwrap().remove(0);
    let nothing = r#"[{"role":"user","content":[]}]"#;
    let nothing = messages_from_json(Format::Anthropic, nothing).unwrap().remove(0);
    let messages = [words("One."), blank(Role::Tool), blank(Role::User), nothing, thought, words("Two.")];
    for to in [Format::Anthropic, Format::ClaudeCode] {
        let sent = render(&messages, to).unwrap();
        assert_eq!(validate(sent.json.as_bytes(), to, &Profile::default()).unwrap(), [], "{to}");
        assert!(sent.losses.iter().any(|loss| loss == "1 x reasoning left out (m4)"), "{:?}", sent.losses);
    }
}

#[test]
fn r_05_ids_of_messages_are_no_ids_of_items() {
    let answer = r#"{"id":"m1","role":"assistant","parts":[{"type":"reasoning","text":"hm"},{"type":"step-start"},{"type":"text","text":"So."}]}"#;
    let messages = messages_from_json(Format::UiMessages, answer).unwrap();
    assert_eq!(messages.len(), 2);
    let sent = render(&messages, Format::UiMessages).unwrap();
    assert_eq!(sent.json, format!("[{answer}]"));
}

#[test]
fn messages_in_another_format_are_not_put_into_a_body() {
    let said = [Message::system("Be brief."), Message::user("go on")];
    for (format, sample) in providers() {
        let list = format!("[{}]", sample.spelled.join(","));
        let (before, behind) = sample.around[0];
        let came = read(Some(format), format!("{before}{list}{behind}").as_bytes()).unwrap();
        for other in sent_to_providers() {
            let request = came.with_messages(&render(&said, other).unwrap());
            match request {
                Ok(request) => assert!(other == format && request.contains("Be brief."), "{request}"),
                Err(error) => {
                    assert!(other != format);
                    assert_eq!(
                        error.to_string(),
                        format!("the messages are spelled as {other}; expected {format}, as the body is")
                    );
                }
            }
        }
    }
}

#[test]
fn an_id_like_the_name_of_a_tool_is_an_id_where_calls_have_ids() {
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"bash","arguments":"{{}}"}}}}"#)
    };
    let result =
        |id: &str, text: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#);
    let list = format!(
        r#"[{{"role":"user","content":"go"}},{{"role":"assistant","content":null,"tool_calls":[{},{}]}},{},{},{{"role":"assistant","content":"done"}}]"#,
        call("bash-12"),
        call("bash-13"),
        result("bash-11", "of an earlier call"),
        result("bash-13", "a b c"),
    );
    for to in [Format::OpenAi, Format::Anthropic] {
        let sent = render(&messages_from_json(Format::OpenAi, &list).unwrap(), to).unwrap();
        assert_eq!(validate(sent.json.as_bytes(), to, &Profile::default()).unwrap(), []);
        assert!(!sent.json.contains("of an earlier call") && sent.json.contains("a b c"), "{}", sent.json);
        assert!(!sent.losses.is_empty());
    }
}

#[test]
fn a_09_an_answer_that_the_model_goes_on_with_ends_in_a_word() {
    let asked = r#"{"role":"user","content":"Say it as JSON."}"#;
    let begun = r#"{"role":"assistant","content":[{"type":"text","text":"{\"it\": \n","citations":[ ]}]}"#;
    let sent = |items: &[&str]| {
        let messages = messages_from_json(Format::Anthropic, &format!("[{}]", items.join(","))).unwrap();
        render(&messages, Format::Anthropic).unwrap()
    };
    let goes_out = sent(&[asked, begun]);
    assert!(
        goes_out.json.contains(r#"{"type":"text","text":"{\"it\":","citations":[ ]}"#),
        "{}",
        goes_out.json
    );
    assert_eq!(goes_out.losses, [""; 0]);
    // What the user answers is nothing to go on with.
    let goes_out = sent(&[asked, begun, asked]);
    assert!(goes_out.json.contains(begun), "{}", goes_out.json);
}

#[test]
fn g_10_results_without_ids_stand_in_the_order_of_their_calls() {
    let answer = r#"{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"n":0}}},{"functionCall":{"name":"read","args":{"n":1}}},{"functionCall":{"name":"bash","args":{"n":2}}}]}"#;
    let round = messages_from_json(Format::Gemini, answer).unwrap();
    let ids: Vec<_> = round[0].calls().map(|call| call.id.clone()).collect();
    let result = |nth: usize| {
        Part::ToolResult(ToolResult::text(ids[nth].clone(), format!("of {nth}"), Outcome::Succeeded))
    };
    // Tools are done in any order, and the next round calls the same ones.
    let apart = [2, 0, 1].map(|nth| Message::new(Role::Tool, vec![result(nth)]));
    let together = Message::new(Role::Tool, [1, 2, 0].map(result).into());
    let said = [&[Message::user("go")], &round[..], &apart[..], &round[..], &[together]].concat();
    let sent = render(&said, Format::Gemini).unwrap();
    let outputs = |json: &str| -> Vec<String> {
        json.split("\"output\":\"").skip(1).map(|rest| rest[..4].to_owned()).collect()
    };
    assert_eq!(outputs(&sent.json), ["of 0", "of 1", "of 2", "of 0", "of 1", "of 2"], "{}", sent.json);
    // In Gemini's own words as well, several together and the rest apart.
    let spelled = |name: &str, nth: usize| {
        format!(r#"{{"functionResponse":{{"name":"{name}","response":{{"output":"of {nth}"}}}}}}"#)
    };
    let said = format!(
        r#"[{{"role":"user","parts":[{{"text":"go"}}]}},{answer},{{"role":"user","parts":[{},{}]}},{{"role":"user","parts":[{}]}}]"#,
        spelled("read", 1),
        spelled("bash", 0),
        spelled("bash", 2),
    );
    let sent = render(&messages_from_json(Format::Gemini, &said).unwrap(), Format::Gemini).unwrap();
    assert_eq!(outputs(&sent.json), ["of 0", "of 1", "of 2"], "{}", sent.json);
    assert_eq!(validate(sent.json.as_bytes(), Format::Gemini, &Profile::default()).unwrap(), []);
}

#[test]
fn a_picture_that_the_caller_gives_by_its_address_is_sent() {
    let media = Media {
        kind: MediaKind::Image,
        media_type: "image/png".into(),
        source: "https://example.org/cat.png".into(),
        bytes: 0,
        pixels: None,
        pages: None,
        hash: ContentHash::of(b"https://example.org/cat.png"),
    };
    let said = [Message::new(Role::User, vec![Part::Text("look".into()), Part::Media(media.clone())])];
    for format in sent_to_providers() {
        let sent = render(&said, format).unwrap();
        assert!(
            sent.json.contains("https://example.org/cat.png"),
            "{format}: {} {:?}",
            sent.json,
            sent.losses
        );
        assert_eq!(validate(sent.json.as_bytes(), format, &Profile::default()).unwrap(), [], "{format}");
        assert_eq!(sent.losses, [""; 0], "{format}");
    }
    // What lies elsewhere cannot be.
    let elsewhere = Media { source: "/tmp/cat.png".into(), ..media };
    let sent = render(&[Message::new(Role::User, vec![Part::Media(elsewhere)])], Format::OpenAi).unwrap();
    assert!(!sent.json.contains("cat.png") && !sent.losses.is_empty(), "{:?}", sent);
}
