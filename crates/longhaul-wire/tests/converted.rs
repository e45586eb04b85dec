//! From each format to each other one: what comes out is valid, and each piece of a history is there, or told as lost with
//! its place. A piece is known by the word `CANARY` in it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use longhaul_testkit::samples::{self, Kind, Written};
use longhaul_wire::Format::{self, Anthropic, ClaudeCode, Gemini, OpenAi, Responses};
use longhaul_wire::{Profile, convert, messages_from_json, read, render, validate, write_unchanged};

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"done"}"#;

/// Formats that are written, with what there is to try of each.
fn written() -> impl Iterator<Item = (Format, &'static Written)> {
    Format::ALL.into_iter().filter_map(|format| Some((format, samples::of(format.name()).written.as_ref()?)))
}

/// Histories, each with the kind of content in it and the format that it is in.
fn rows() -> impl Iterator<Item = (Kind, Format, String)> {
    written().flat_map(|(format, sample)| {
        let pieces = (sample.pieces)();
        assert!(!pieces.is_empty(), "{format} has no pieces in longhaul-testkit/src/samples");
        pieces.into_iter().map(move |(kind, text)| (kind, format, text))
    })
}

/// Formats of one provider spell a message alike, and carry all of it for each other.
fn is_kin(one: Format, other: Format) -> bool {
    one.request() == other.request()
}

/// Returns each canary in `text` with the number of the message that it stands in, where that is told.
fn canaries(kind: Kind, text: &str) -> Vec<(String, String)> {
    let elements: Vec<Box<serde_json::value::RawValue>> = match text.starts_with('[') {
        true => serde_json::from_str(text).unwrap(),
        false => {
            let is_lines = kind != Kind::Around && text.ends_with('\n');
            text.lines().filter(|_| is_lines).map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("CANARY"));
    let place = |word: &str| elements.iter().position(|element| element.get().contains(word));
    words.map(|word| (word.to_owned(), place(word).map_or(String::new(), |at| format!("m{at}")))).collect()
}

#[test]
fn each_piece_is_there_or_told() {
    let mut faults = Vec::new();
    for (kind, from, text) in rows() {
        let told_by = kind.told_by();
        let doc = read(Some(from), text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let profile = Profile::default();
        assert_eq!(validate(text.as_bytes(), from, &profile).unwrap(), [], "{text}");
        for (to, sample) in written() {
            let converted = convert(&doc, to).unwrap();
            let (bytes, losses) = (converted.document.as_bytes(), &converted.losses);
            let written = String::from_utf8_lossy(bytes);
            let mut fault = |what: String| {
                faults.push(format!("{kind:?}, {from} to {to}: {what}\n  {text}\n  {written}\n  {losses:?}"))
            };
            if from == to && (written != text || !losses.is_empty()) {
                fault("not what it was".to_owned());
            }
            let found = validate(bytes, to, &profile).unwrap();
            if !found.is_empty() {
                fault(format!("{found:?}"));
            }
            let is_carried = kind.is_always_carried()
                || sample.carries.contains(&kind)
                || is_kin(from, to) && told_by != Kind::Around.told_by();
            for (canary, place) in canaries(kind, &text) {
                let is_there = written.contains(&canary);
                let is_told = losses.iter().any(|loss| loss.contains(told_by) && loss.contains(&place));
                if is_carried && !is_there {
                    fault(format!("{canary} is not carried"));
                } else if !is_there && !is_told {
                    fault(format!("{canary} is lost and not told ({told_by:?} of {place:?})"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// A session sends its messages one by one, each with its spelling: what is lost then is told as when a file is converted.
#[test]
fn each_piece_of_a_message_is_sent_or_told() {
    let mut faults = Vec::new();
    let has_spelling = |from: &Format| from.provider().is_some();
    let is_said = |kind: &Kind| ![Kind::Around, Kind::Tool].contains(kind);
    for (kind, from, text) in rows().filter(|(kind, from, _)| has_spelling(from) && is_said(kind)) {
        let doc = read(Some(from), text.as_bytes()).unwrap();
        let entries = doc.transcript().entries().iter();
        let spelled = |entry: &longhaul_transcript::Entry| {
            let raw = doc.raw_of(entry.id.ordinal).map(std::sync::Arc::new);
            longhaul_transcript::Message { raw, ..(*entry.message).clone() }
        };
        let messages: Vec<_> = entries.map(spelled).collect();
        for (to, _) in written() {
            let sent = render(&messages, to).unwrap();
            let told = convert(&doc, to).unwrap().losses;
            for (canary, place) in canaries(kind, &text) {
                let is_there = sent.json.contains(&canary);
                let is_told =
                    sent.losses.iter().any(|loss| loss.contains(kind.told_by()) && loss.contains(&place));
                if !is_there && !is_told {
                    let losses = &sent.losses;
                    faults.push(format!("{from} to {to}: {text}\n  {}\n  {losses:?}\n  {told:?}", sent.json));
                }
            }
            let of_message = |loss: &&String| loss.contains(" (m") && loss.contains("left out");
            // A file of an agent's is no request: it has ids that a server would ask for.
            for loss in told.iter().filter(of_message).filter(|_| !is_kin(from, to)) {
                if !sent.losses.contains(loss) {
                    faults.push(format!("{from} to {to}: {text}\n  {loss} is not in {:?}", sent.losses));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// What lies with Google is Gemini's: another provider that is given its address refuses the request.
#[test]
fn a_file_that_lies_with_google_goes_to_gemini_alone() {
    for (uri, goes) in [
        ("https://generativelanguage.googleapis.com/v1beta/files/abc", false),
        ("gs://bucket/plan.pdf", false),
        ("https://www.youtube.com/watch?v=x", false),
        ("https://example.com/plan.pdf", true),
    ] {
        let history = format!(
            r#"[{{"role":"user","parts":[{{"text":"read it"}},{{"fileData":{{"mimeType":"application/pdf","fileUri":"{uri}"}}}}]}},{{"role":"model","parts":[{{"text":"done"}}]}}]"#
        );
        let doc = read(Some(Gemini), history.as_bytes()).unwrap();
        for to in [Responses, Anthropic] {
            let converted = convert(&doc, to).unwrap();
            let written = String::from_utf8_lossy(converted.document.as_bytes()).into_owned();
            assert_eq!(written.contains(uri), goes, "{to}: {written}");
            let is_told = converted.losses.iter().any(|loss| loss.contains("left out"));
            assert_eq!(is_told, !goes, "{to}: {:?}", converted.losses);
        }
        let sent = render(doc.transcript().entries().iter().map(|entry| &*entry.message), Gemini).unwrap();
        assert!(sent.json.contains("read it"));
    }
}

/// What a tool says beside its words is counted, and there for each rule.
#[test]
fn all_that_a_gemini_response_holds_is_what_the_tool_said() {
    for response in [
        r#"{"output":"ok","stderr":"12 warnings","exit_code":1}"#,
        r#"{"content":["12 warnings"],"result":"ok"}"#,
        r#"{"error":"12 warnings","hint":"look at a.rs"}"#,
    ] {
        let history = format!(
            r#"[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{"name":"run","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"run","response":{response}}}}}]}}]"#
        );
        let doc = read(Some(Gemini), history.as_bytes()).unwrap();
        let result = doc.transcript().entries()[2].message.results().next().unwrap().joined_text();
        assert_eq!(result, response);
        let converted = convert(&doc, OpenAi).unwrap();
        assert!(String::from_utf8_lossy(converted.document.as_bytes()).contains("12 warnings"));
        let mut out = Vec::new();
        write_unchanged(&doc, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), history);
    }
    let alone = r#"[{"role":"model","parts":[{"functionCall":{"name":"run","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run","response":{"output":"ok"}}}]}]"#;
    let doc = read(Some(Gemini), alone.as_bytes()).unwrap();
    assert_eq!(doc.transcript().entries()[1].message.results().next().unwrap().joined_text(), "ok");
}

/// The name of the tool stands in each response as well: where a call has it, nothing is lost.
#[test]
fn the_name_in_a_response_is_that_of_its_call() {
    let list = |id: &str, name: &str| {
        format!(
            r#"[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{{id}"name":"ls","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{{id}"name":"{name}","response":{{"output":"x"}}}}}}]}}]"#
        )
    };
    for (id, name) in [("", "ls"), (r#""id":"c7","#, "ls")] {
        let text = list(id, name);
        let losses = convert(&read(Some(Gemini), text.as_bytes()).unwrap(), OpenAi).unwrap().losses;
        assert_eq!(losses, [""; 0], "{text}");
        let messages = longhaul_wire::messages_from_json(Gemini, &text).unwrap();
        assert_eq!(render(&messages, OpenAi).unwrap().losses, [""; 0], "{text}");
    }
    let other = list(r#""id":"c7","#, "dir");
    let losses = convert(&read(Some(Gemini), other.as_bytes()).unwrap(), OpenAi).unwrap().losses;
    assert_eq!(losses, ["1 x field parts.functionResponse.name left out (m2)"]);
}

#[test]
fn what_another_format_says_otherwise_is_told() {
    let losses = |from: Format, to: Format, json: &str| {
        let converted = convert(&read(Some(from), json.as_bytes()).unwrap(), to).unwrap();
        let found = validate(converted.document.as_bytes(), to, &Profile::default()).unwrap();
        assert!(found.is_empty(), "{found:?}");
        converted.losses
    };
    let picture = |detail: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"{detail}"}}]}}"#
        )
    };
    let twice = format!("[{},{ANSWER},{},{ANSWER}]", picture("low"), picture("auto"));
    assert_eq!(
        losses(Responses, OpenAi, &twice),
        ["2 x picture or file that stands there twice with one detail and name for both (m0, m2)"]
    );
    assert_eq!(
        losses(Responses, Anthropic, &twice),
        ["2 x picture without the detail that was asked for it (m0, m2)"]
    );
    let alike = format!("[{},{ANSWER},{}]", picture("low"), picture("low"));
    assert!(losses(Responses, OpenAi, &alike).is_empty());

    let patch = r#"[{"role":"user","content":"w"},{"type":"custom_tool_call","call_id":"c","name":"patch","input":"*** Begin"},{"type":"custom_tool_call_output","call_id":"c","output":"ok"}]"#;
    assert_eq!(
        losses(Responses, Anthropic, patch),
        ["1 x call with a text of its own form written as a function's (m1)"]
    );
    assert!(losses(Responses, OpenAi, patch).is_empty());

    for file in [
        r#"{"mimeType":"video/mp4","fileUri":"gs://x/y.mp4"}"#,
        r#"{"mimeType":"video/mp4","fileUri":"https://x.org/y.mp4"}"#,
        r#"{"mimeType":"application/pdf","fileUri":"gs://x/y.pdf"}"#,
    ] {
        let json = format!(r#"[{{"role":"user","parts":[{{"text":"w"}},{{"fileData":{file}}}]}}]"#);
        let told = losses(Gemini, Anthropic, &json);
        assert!(told.len() == 1 && told[0].contains("left out (m0)"), "{told:?}");
    }
    let pdf = r#"[{"role":"user","parts":[{"text":"w"},{"fileData":{"mimeType":"application/pdf","fileUri":"https://x.org/y.pdf"}}]}]"#;
    assert!(losses(Gemini, Anthropic, pdf).is_empty());
}

#[test]
fn a_02_results_of_one_round_stand_in_one_message() {
    let line = |uuid: &str, parent: &str, role: &str, block: &str| {
        let api = if role == "assistant" { r#""id":"msg_1","# } else { "" };
        format!(
            r#"{{"parentUuid":{parent},"sessionId":"s","type":"{role}","message":{{{api}"role":"{role}","content":[{block}]}},"uuid":"{uuid}"}}"#
        )
    };
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"ls","input":{{}}}}"#);
    let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}"#);
    let said = r#"{"type":"text","text":"and on"}"#;
    let lines = [
        line("a", "null", "user", said),
        line("b", "\"a\"", "assistant", &call("t1")),
        line("c", "\"b\"", "assistant", &call("t2")),
        line("d", "\"c\"", "user", &result("t1")),
        line("e", "\"d\"", "user", &format!("{},{said}", result("t2"))),
    ];
    let doc = read(Some(ClaudeCode), lines.join("\n").as_bytes()).unwrap();
    let sent = convert(&doc, Anthropic).unwrap().document;
    let results = format!(r#"{{"role":"user","content":[{},{},{said}]}}]"#, result("t1"), result("t2"));
    assert!(String::from_utf8_lossy(sent.as_bytes()).ends_with(&results));
}

#[test]
fn o_11_another_name_for_who_instructs_is_no_loss() {
    let [one, other] =
        ["developer", "system"].map(|role| format!(r#"{{"role":"{role}","content":"Be brief."}}"#));
    for said in [format!("[{one},{ASK},{ANSWER}]"), format!("[{one},{other},{ASK},{ANSWER}]")] {
        let doc = read(Some(OpenAi), said.as_bytes()).unwrap();
        let messages = messages_from_json(OpenAi, &said).unwrap();
        for (to, _) in written().filter(|(to, _)| *to != ClaudeCode) {
            assert_eq!(convert(&doc, to).unwrap().losses, [""; 0], "{to}");
            assert_eq!(render(&messages, to).unwrap().losses, [""; 0], "{to}");
        }
    }
}
