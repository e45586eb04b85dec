//! G-06 to G-08: what a request to Gemini says in place of signatures that nobody gave.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};
use longhaul_wire::{
    Format::{Anthropic, Gemini, Longhaul, OpenAi, Responses},
    Profile, convert, messages_from_json, read, render, validate,
};

const UNCHECKED: &str = r#""thoughtSignature":"skip_thought_signature_validator""#;
const ASK: &str = r#"{"role":"user","parts":[{"text":"go"}]}"#;

/// Fails where a model before or since Gemini 3 would refuse the request.
#[track_caller]
fn is_taken(json: &str) {
    for model in ["gemini-3-pro", "gemini-2.5-flash"] {
        let found = validate(json.as_bytes(), Gemini, &Profile::of_model(model)).unwrap();
        assert_eq!(found, [], "{model}: {json}");
    }
}

/// An answer with these calls, and their results.
fn round(ids: &[&str]) -> [Message; 2] {
    let call = |id: &&str| Part::ToolCall(ToolCall::function(*id, "read", "{}"));
    let result = |id: &&str| Part::ToolResult(ToolResult::text(*id, "fn main() {}", Outcome::Succeeded));
    [
        Message::new(Role::Assistant, ids.iter().map(call).collect()),
        Message::new(Role::Tool, ids.iter().map(result).collect()),
    ]
}

fn history() -> Vec<Message> {
    let user = Message::user("look");
    [vec![user], round(&["a"]).to_vec(), round(&["b", "c"]).to_vec(), round(&["d"]).to_vec()].concat()
}

#[test]
fn g_08_the_first_call_of_a_step_that_the_model_did_not_write_is_not_checked() {
    let sent = render(&history(), Gemini).unwrap();
    is_taken(&sent.json);
    assert_eq!(sent.losses, [""; 0]);
    assert_eq!(sent.json.matches(UNCHECKED).count(), 3, "{}", sent.json);
    // Of calls made at once, also in messages of their own, the first one says so.
    let [calls, results] = round(&["b", "c"]);
    let apart = calls.parts.iter().map(|call| Message::new(Role::Assistant, vec![call.clone()]));
    let apart: Vec<Message> = [Message::user("look")].into_iter().chain(apart).chain([results]).collect();
    let sent = render(&apart, Gemini).unwrap();
    is_taken(&sent.json);
    assert_eq!(sent.json.matches(UNCHECKED).count(), 1, "{}", sent.json);
}

#[test]
fn g_08_what_stands_for_a_signature_comes_and_goes_with_the_format() {
    for from in [OpenAi, Anthropic, Responses, Longhaul] {
        let said = render(&history(), from).unwrap().json;
        let doc = read(Some(from), said.as_bytes()).unwrap();
        let gemini = convert(&doc, Gemini).unwrap();
        assert_eq!(gemini.losses, [""; 0], "{from}");
        let json = String::from_utf8_lossy(gemini.document.as_bytes()).into_owned();
        is_taken(&json);
        let back = convert(&gemini.document, from).unwrap();
        assert!(!String::from_utf8_lossy(back.document.as_bytes()).contains("skip_thought"), "{from}");
        assert_eq!(back.losses, [""; 0], "{from}");
        let again = convert(&back.document, Gemini).unwrap();
        assert_eq!(again.document.as_bytes(), json.as_bytes(), "{from}");
        let messages = messages_from_json(Gemini, &json).unwrap();
        assert_eq!(render(&messages, Gemini).unwrap().json, json);
        let sent = render(&messages, from).unwrap();
        assert_eq!((sent.losses, sent.json.contains("skip_thought")), (vec![], false), "{from}");
    }
}

fn call(name: &str, signature: &str) -> String {
    format!(r#"{{"functionCall":{{"name":"{name}","args":{{"long":"long"}}}}{signature}}}"#)
}

fn response(name: &str) -> String {
    format!(r#"{{"functionResponse":{{"name":"{name}","response":{{"output":"x"}}}}}}"#)
}

/// A round of calls to `a` and `b` as Gemini's own JSON; the first call bears `signature`.
fn own(signature: &str) -> Vec<Message> {
    messages_from_json(Gemini, &own_json(signature)).unwrap()
}

fn own_json(signature: &str) -> String {
    let (calls, results) =
        ([call("a", signature), call("b", "")].join(","), [response("a"), response("b")].join(","));
    format!(r#"[{ASK},{{"role":"model","parts":[{calls}]}},{{"role":"user","parts":[{results}]}}]"#)
}

#[test]
fn g_08_a_call_that_came_without_a_signature_stays_so_until_it_is_changed() {
    for signature in ["", r#","thoughtSignature":"c2ln""#, r#","thought_signature":"c2ln""#] {
        let json = own_json(signature);
        assert_eq!(render(&own(signature), Gemini).unwrap().json, json);
        let doc = read(Some(Gemini), json.as_bytes()).unwrap();
        assert_eq!(convert(&doc, Gemini).unwrap().document.as_bytes(), json.as_bytes());
    }
    let shorter = |nth: usize, signature: &str| {
        let mut messages = own(signature);
        if let Part::ToolCall(call) = &mut messages[1].parts[nth] {
            *call = ToolCall::function(call.id.as_str(), &*call.name, r#"{"long":"l…"}"#);
        }
        render(&messages, Gemini).unwrap().json
    };
    let led = shorter(0, "");
    is_taken(&led);
    assert_eq!(led.matches(UNCHECKED).count(), 1, "{led}");
    // Beside others the second call has none.
    assert!(!shorter(1, "").contains("thoughtSignature"));
    is_taken(&shorter(1, r#","thoughtSignature":"c2ln""#));
    is_taken(&shorter(0, r#","thoughtSignature":"c2ln""#));
}

#[test]
fn g_08_a_call_that_leads_its_step_now_is_not_checked() {
    let mut messages = own(r#","thoughtSignature":"c2ln""#);
    messages[1].parts.remove(0);
    messages[2].parts.remove(0);
    let sent = render(&messages, Gemini).unwrap();
    is_taken(&sent.json);
    let led = call("b", &format!(",{UNCHECKED}"));
    assert!(sent.json.contains(&format!(r#""parts":[{led}]"#)), "{}", sent.json);
}
