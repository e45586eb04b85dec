//! UI messages of Vercel's AI SDK: told from Gemini's contents, changed in place, converted both ways.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use std::fs;

use expect_test::{Expect, expect};
use longhaul_testkit::samples;
use longhaul_transcript::{Item, Message, Outcome, Part, Role, ToolCall, ToolResult};
use longhaul_wire::{
    Conversion, Format, Profile, convert, detect, messages_from_json, read, render, validate, write,
};
use serde_json::Value;

/// A conversation of two steps in one answer: two calls at once, and what came of them.
const CHAT: &str = r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"Look."}]},
{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"Hm.","providerMetadata":{"openai":{"itemId":"rs_1"}}},
{"type":"text","text":"I look.","providerMetadata":{"openai":{"itemId":"msg_1"}}},
{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{"at":"."},"output":"x y","callProviderMetadata":{"openai":{"itemId":"fc_1","keep":1}}},
{"type":"tool-ls","toolCallId":"b","state":"output-error","input":{"at":"/"},"errorText":"denied"},
{"type":"step-start"},{"type":"text","text":"Two files."}]},
{"id":"3","role":"user","parts":[{"type":"text","text":"Thanks."}],"metadata":{"n":1}}]"#;

fn to(format: Format, history: &str) -> Conversion {
    convert(&read(None, history.as_bytes()).unwrap(), format).unwrap()
}

fn check(conversion: &Conversion, expected: Expect) {
    let bytes = conversion.document.as_bytes();
    assert_eq!(validate(bytes, conversion.document.format(), &Profile::default()).unwrap(), []);
    let losses: String = conversion.losses.iter().map(|loss| format!("- {loss}\n")).collect();
    expected.assert_eq(&format!("{}\n{losses}", String::from_utf8_lossy(bytes)));
}

/// Writes `history` with each message changed by `change`.
fn changed(history: &str, change: impl Fn(&mut Message)) -> String {
    let doc = read(Some(Format::UiMessages), history.as_bytes()).unwrap();
    let mut messages: Vec<_> =
        doc.transcript().entries().iter().map(|entry| (entry.id, (*entry.message).clone())).collect();
    messages.iter_mut().for_each(|(_, message)| change(message));
    let mut out = Vec::new();
    write(&doc, messages.iter().map(|(id, message)| Item::Message { id: *id, message }), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn parts_that_name_their_type_are_not_geminis() {
    let gemini = r#"[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"type":"x","id":"y"}}}]}]"#;
    assert_eq!(detect(gemini.as_bytes()), Some(Format::Gemini));
    assert_eq!(detect(CHAT.as_bytes()), Some(Format::UiMessages));
    assert_eq!(detect(samples::of("ui-messages").history), Some(Format::UiMessages));
    assert_eq!(detect(&CHAT.as_bytes()[..90]), Some(Format::UiMessages));
    // What OpenTelemetry records names types too, and has no ids.
    let traced = r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]}]"#;
    assert_eq!(detect(traced.as_bytes()), None);
    let openai = r#"[{"role":"user","id":"1","content":[{"type":"text","text":"hi"}]}]"#;
    assert_eq!(detect(openai.as_bytes()), Some(Format::OpenAi));
}

#[test]
fn a_provider_gets_calls_and_results_step_by_step() {
    check(
        &to(Format::OpenAi, CHAT),
        expect![[r#"
            [{"role":"user","content":"Look."},{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"at\":\".\"}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{\"at\":\"/\"}"}}]},{"role":"tool","tool_call_id":"a","content":"x y"},{"role":"tool","tool_call_id":"b","content":"Error: denied"},{"role":"assistant","content":"Two files."},{"role":"user","content":"Thanks."}]
            - 1 x a failed result is marked by its text alone (m1)
            - 1 x reasoning left out (m1)
            - 3 x field id left out (m0-m1, m3)
            - 1 x fields parts.callProviderMetadata, parts.providerMetadata left out (m1)
            - 1 x field metadata left out (m3)
        "#]],
    );
    check(
        &to(Format::Anthropic, CHAT),
        expect![[r#"
            [{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"ls","input":{"at":"."}},{"type":"tool_use","id":"b","name":"ls","input":{"at":"/"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x y"},{"type":"tool_result","tool_use_id":"b","content":"denied","is_error":true}]},{"role":"assistant","content":"Two files."},{"role":"user","content":"Thanks."}]
            - 1 x reasoning left out (m1)
            - 3 x field id left out (m0-m1, m3)
            - 1 x fields parts.callProviderMetadata, parts.providerMetadata left out (m1)
            - 1 x field metadata left out (m3)
        "#]],
    );
}

#[test]
fn what_a_provider_had_becomes_one_part_a_call() {
    let history = r#"{"model":"m","system":"Be brief.","messages":[{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"tool_use","id":"a","name":"ls","input":{"at":"."}},{"type":"tool_use","id":"b","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"denied","is_error":true},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"type":"text","text":"Go on."}]},{"role":"assistant","content":"Done."},{"role":"user","content":"Go on."},{"role":"assistant","content":"Done."}]}"#;
    check(
        &to(Format::UiMessages, history),
        expect![[r#"
            [{"id":"msg_756fea6eed6e1e00","role":"system","parts":[{"type":"text","text":"Be brief."}]},{"id":"msg_883da0dd9ab6299e","role":"user","parts":[{"type":"text","text":"Look."}]},{"id":"msg_c9506f7e2bc460de","role":"assistant","parts":[{"type":"reasoning","text":"Hm."},{"type":"tool-ls","toolCallId":"a","input":{"at":"."},"state":"output-available","output":"x"},{"type":"tool-ls","toolCallId":"b","input":{},"state":"output-error","errorText":"denied"}]},{"id":"msg_64b4573f0e927942","role":"user","parts":[{"type":"text","text":"Go on."}]},{"id":"msg_d9ffae1f74336389","role":"user","parts":[{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AAAA"}]},{"id":"msg_bd7762ec60a8dfc0","role":"assistant","parts":[{"type":"text","text":"Done."}]},{"id":"msg_5424552f7fbb1a58","role":"user","parts":[{"type":"text","text":"Go on."}]},{"id":"msg_faf9a74303d49037","role":"assistant","parts":[{"type":"text","text":"Done."}]}]
            - the name of the model is left out
            - 1 x picture or file moved behind its message, to be shown by the user (m3)
            - 1 x signature of reasoning left out (m2)
        "#]],
    );
}

#[test]
fn losses_are_listed() {
    let fixture = str::from_utf8(samples::of("ui-messages").history).unwrap();
    let losses = to(Format::Anthropic, fixture).losses;
    expect![[r#"
        what stands beside the messages is left out: trigger
        the id of the session is left out
        1 x block of type "data-weather" left out (m2)
        1 x block of type "part-of-next-month" left out (m2)
        1 x block of type "source-url" left out (m2)
        1 x block of type "tool-web_search" left out (m4)
        1 x reasoning left out (m1)
        1 x field metadata left out (m0)
        4 x field id left out (m0-m1, m3-m4)
        1 x fields parts.callProviderMetadata, parts.providerMetadata left out (m1)"#]]
    .assert_eq(&losses.join("\n"));
}

#[test]
fn a_shortened_result_changes_nothing_else() {
    let written = changed(CHAT, |message| {
        for part in &mut message.parts {
            if let Part::ToolResult(result) = part {
                result.content = vec![Part::Text("[digest]".into())];
            }
        }
    });
    let expected = CHAT.replace(r#""output":"x y""#, r#""output":"[digest]""#);
    assert_eq!(written, expected.replace(r#""errorText":"denied""#, r#""errorText":"[digest]""#));
}

#[test]
fn r_06_without_its_reasoning_nothing_keeps_its_id_at_the_provider() {
    let written = changed(CHAT, |message| message.parts.retain(|part| !matches!(part, Part::Reasoning(_))));
    let before: Value = serde_json::from_str(CHAT).unwrap();
    let after: Value = serde_json::from_str(&written).unwrap();
    let mut expected = before.clone();
    let parts = expected[1]["parts"].as_array_mut().unwrap();
    parts.remove(1);
    parts[1]["providerMetadata"]["openai"].as_object_mut().unwrap().remove("itemId");
    parts[2]["callProviderMetadata"]["openai"].as_object_mut().unwrap().remove("itemId");
    assert_eq!(after, expected);
}

#[test]
fn a_changed_call_is_no_longer_vouched_for() {
    let signed = r#"[{"id":"1","role":"assistant","parts":[{"type":"tool-w","toolCallId":"a","state":"output-available","input":{"x":"long"},"output":1,"callProviderMetadata":{"google":{"thoughtSignature":"s"}}}]}]"#;
    let written = changed(signed, |message| {
        if let Part::ToolCall(call) = &mut message.parts[0] {
            call.arguments.0 = r#"{"x":"s"}"#.to_owned();
        }
    });
    assert_eq!(
        written,
        r#"[{"id":"1","role":"assistant","parts":[{"type":"tool-w","toolCallId":"a","state":"output-available","input":{"x":"s"},"output":1}]}]"#
    );
}

#[test]
fn messages_go_out_as_they_came_in_with_what_was_said_since() {
    let open = r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"Go."}]},{"id":"2","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"a","state":"input-available","input":{"n": 1.0}}],"metadata":{"x":1e2}}]"#;
    let mut messages = messages_from_json(Format::UiMessages, open).unwrap();
    assert_eq!(render(&messages, Format::UiMessages).unwrap().json, open.replace("},\n", "},"));
    let result = |id: &str| Part::ToolResult(ToolResult::text(id, "x y", Outcome::Unstated));
    messages.push(Message::new(Role::Tool, vec![result("a")]));
    messages.push(Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function("b", "ls", "{}"))]));
    messages.push(Message::new(Role::Tool, vec![result("b")]));
    let rendition = render(&messages, Format::UiMessages).unwrap();
    assert_eq!(validate(rendition.json.as_bytes(), Format::UiMessages, &Profile::default()).unwrap(), []);
    let answered =
        open.replace(r#""state":"input-available""#, r#""state":"output-available","output":"x y""#);
    let answered = answered.strip_suffix(']').unwrap();
    assert!(rendition.json.starts_with(answered), "{}", rendition.json);
    expect![[r#",{"id":"msg_59577072f3a91188","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"b","input":{},"state":"output-available","output":"x y"}]}]"#]].assert_eq(&rendition.json[answered.len()..]);
}

#[test]
fn a_message_of_another_format_is_refused() {
    for foreign in [r#"{"role":"user","content":"hi"}"#, r#"{"role":"user","parts":[{"text":"hi"}]}"#] {
        assert!(messages_from_json(Format::UiMessages, foreign).is_err(), "{foreign}");
    }
}

#[test]
fn what_stays_beside_a_picture_that_goes_stays_with_its_id() {
    let shown = r#"{"id":"u-1","role":"user","parts":[{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AAAA"},{"type":"text","text":"or"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,BBBB"},{"type":"of-next-month","x":1}],"metadata":{"n":1.0}}"#;
    let mut noted = messages_from_json(Format::UiMessages, shown).unwrap().remove(0);
    noted.parts[2] = Part::Text("[picture omitted]".into());
    // A caller's words in front have no place of their own in the spelling.
    let mut led = noted.clone();
    led.parts.insert(0, Part::Text("Seen before:".into()));
    for shortened in [noted, led] {
        let respelled = longhaul_wire::respell(shortened.clone().into());
        let sent = render([&*respelled], Format::UiMessages).unwrap().json;
        assert!(sent.starts_with(r#"[{"id":"u-1","role":"user","parts":["#), "{sent}");
        assert!(sent.ends_with(r#"{"type":"of-next-month","x":1}],"metadata":{"n":1.0}}]"#), "{sent}");
        assert_eq!(messages_from_json(Format::UiMessages, &sent).unwrap()[0].parts, shortened.parts);
    }
}

/// An answer that goes on over `n` steps, each with a call.
fn stepwise(n: usize) -> String {
    let step = |at: usize| {
        format!(
            r#"{{"type":"step-start"}},{{"type":"text","text":"Step {at}."}},{{"type":"tool-ls","toolCallId":"c{at}","state":"output-available","input":{{}},"output":"seen {at}"}}"#
        )
    };
    let steps = (0..n).map(step).collect::<Vec<_>>().join(",");
    format!(
        r#"[{{"id":"u","role":"user","parts":[{{"type":"text","text":"Go."}}]}},{{"id":"a","role":"assistant","parts":[{steps}],"metadata":{{"n":1.0}}}}]"#
    )
}

#[test]
fn a_long_answer_is_cut_between_its_steps() {
    let history = stepwise(4);
    let doc = read(None, history.as_bytes()).unwrap();
    let units: Vec<_> = doc.transcript().units().map(|unit| unit.entries.len()).collect();
    assert_eq!(units, [1, 1, 1, 1, 1], "the words of the user and four steps");
    let entries = doc.transcript().entries();
    let kept = |ordinals: &[usize]| {
        let items =
            ordinals.iter().map(|n| Item::Message { id: entries[*n].id, message: &entries[*n].message });
        let mut out = Vec::new();
        write(&doc, items, &mut out).unwrap();
        assert_eq!(validate(&out, Format::UiMessages, &Profile::default()).unwrap(), []);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(kept(&[0, 1, 2, 3, 4]), history);
    expect![[r#"[{"id":"u","role":"user","parts":[{"type":"text","text":"Go."}]},{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Step 2."},{"type":"tool-ls","toolCallId":"c2","state":"output-available","input":{},"output":"seen 2"},{"type":"step-start"},{"type":"text","text":"Step 3."},{"type":"tool-ls","toolCallId":"c3","state":"output-available","input":{},"output":"seen 3"}],"metadata":{"n":1.0}}]"#]].assert_eq(&kept(&[0, 3, 4]));
    // What stands apart has an id of its own.
    expect![[r#"[{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Step 0."},{"type":"tool-ls","toolCallId":"c0","state":"output-available","input":{},"output":"seen 0"}],"metadata":{"n":1.0}},{"id":"u","role":"user","parts":[{"type":"text","text":"Go."}]},{"id":"msg_1df1eb80b7345f56","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Step 3."},{"type":"tool-ls","toolCallId":"c3","state":"output-available","input":{},"output":"seen 3"}],"metadata":{"n":1.0}}]"#]].assert_eq(&kept(&[1, 0, 4]));
}

#[test]
fn an_answer_of_several_steps_goes_out_as_it_came_in() {
    let history = stepwise(3);
    let messages = messages_from_json(Format::UiMessages, &history).unwrap();
    assert_eq!(messages.len(), 4);
    assert_eq!(render(&messages, Format::UiMessages).unwrap().json, history);
    let doc = read(None, history.as_bytes()).unwrap();
    for (n, message) in messages.iter().enumerate() {
        assert_eq!(doc.raw_of(n as u64).as_ref(), message.raw.as_deref());
    }
    let last = render(&messages[3..], Format::UiMessages).unwrap().json;
    expect![[r#"[{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Step 2."},{"type":"tool-ls","toolCallId":"c2","state":"output-available","input":{},"output":"seen 2"}],"metadata":{"n":1.0}}]"#]].assert_eq(&last);
}

/// Eight times as many messages cost about eight times as much: what each answered call, each call that waits, and each message
/// that is said again costs does not grow with what stands before it.
#[test]
fn no_message_costs_more_for_those_before_it() {
    let call = |n: usize| {
        Message::new(Role::Assistant, vec![Part::ToolCall(ToolCall::function(format!("c{n}"), "ls", "{}"))])
    };
    let result = |n: usize| {
        Message::new(
            Role::Tool,
            vec![Part::ToolResult(ToolResult::text(format!("c{n}"), "x", Outcome::Unstated))],
        )
    };
    let exchanges = |n: usize| -> Vec<_> { (0..n).flat_map(|n| [call(n), result(n)]).collect() };
    let waiting = |n: usize| {
        let open = (0..n).map(|n| format!(r#"{{"id":"m{n}","role":"assistant","parts":[{{"type":"tool-ls","toolCallId":"c{n}","state":"input-available","input":{{}}}}]}}"#));
        let open = format!("[{}]", open.collect::<Vec<_>>().join(","));
        let mut messages = messages_from_json(Format::UiMessages, &open).unwrap();
        messages.extend((0..n).map(result));
        messages
    };
    let repeated = |n: usize| vec![Message::user("continue"); n];
    let shapes: [(_, &dyn Fn(_) -> _); 3] =
        [("exchanges", &exchanges), ("waiting", &waiting), ("repeated", &repeated)];
    for (name, messages) in shapes {
        let cost = |n: usize| {
            let messages = messages(n);
            let started = processor_seconds();
            let json = render(&messages, Format::UiMessages).unwrap().json;
            let spent = processor_seconds() - started;
            assert_eq!(
                validate(json.as_bytes(), Format::UiMessages, &Profile::default()).unwrap(),
                [],
                "{name}"
            );
            spent
        };
        let (once, eight) = (cost(400), cost(3_200));
        assert!(eight < 24.0 * once + 0.05, "{name}: {once:.3} s, and {eight:.3} s for eight times as many");
    }
}

/// Returns the processor time of this thread; where Linux does not tell, nothing.
fn processor_seconds() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
