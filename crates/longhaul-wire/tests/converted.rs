//! From each format to each other one: what comes out is valid, and each piece of a history is there, or told as lost with
//! its place. A piece is known by the word `CANARY` in it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use longhaul_wire::Format::{
    self, Anthropic, Chat, ClaudeCode, Codex, Gemini, Longhaul, OpenAi, Responses, UiMessages,
};
use longhaul_wire::{Profile, convert, messages_from_json, read, render, validate, write_unchanged};

const ALL: [Format; 9] =
    [OpenAi, Responses, Anthropic, ClaudeCode, Codex, Gemini, Chat, UiMessages, Longhaul];
const SHOWS: &[Format] = &[OpenAi, Responses, Anthropic, ClaudeCode, Codex, Gemini, UiMessages, Longhaul];
/// Those that have the name of a file.
const FILES: &[Format] = &[OpenAi, Responses, Anthropic, ClaudeCode, Codex, UiMessages];
/// Formats of one provider spell a message alike, and carry all of it for each other.
const KIN: [[Format; 2]; 2] = [[Anthropic, ClaudeCode], [Responses, Codex]];

/// A kind of content, the word that a loss of it is told by, and the formats that carry it.
type Kind = (&'static str, &'static str, &'static [Format]);

const TEXT: Kind = ("text", "-", &ALL);
const NAME: Kind = ("name", "name of a speaker", &[OpenAi, Longhaul]);
const IMAGE: Kind = ("image", "picture", SHOWS);
const AUDIO: Kind = ("audio", "sound", &[OpenAi, Gemini, UiMessages, Longhaul]);
const FILE: Kind = ("file", "file", SHOWS);
const FILE_NAME: Kind = ("file name", "file", FILES);
const CALL: Kind = ("call", "-", &ALL);
const REASONING: Kind = ("reasoning", "reasoning left out", &[UiMessages, Longhaul]);
const SEALED: Kind = ("sealed reasoning", "reasoning", &[]);
const BLOCK: Kind = ("unknown block", "block of type", &[Longhaul]);
const FIELD: Kind = ("field", "field", &[]);
/// An agent sends its server none.
const ID: Kind = ("id of an item", "left out", &[Codex]);
const AROUND: Kind = ("around the messages", "left out", &[]);

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"done"}"#;

/// Histories by the format that they are in; those of an agent's session files are those of its provider.
fn rows() -> Vec<(Kind, Format, String)> {
    let openai = |kind, said: &str| (kind, OpenAi, format!("[{ASK},{said},{ANSWER}]"));
    let user = |kind, part: &str| openai(kind, &format!(r#"{{"role":"user","content":[{part}]}}"#));
    let answer =
        |kind, fields: &str| openai(kind, &format!(r#"{{"role":"assistant","content":"x",{fields}}}"#));
    let mut rows = vec![
        openai(TEXT, r#"{"role":"user","content":"CANARY"}"#),
        openai(TEXT, r#"{"role":"system","content":"CANARY"}"#),
        openai(TEXT, r#"{"role":"assistant","content":null,"refusal":"CANARY"}"#),
        openai(NAME, r#"{"role":"user","name":"CANARY","content":"x"}"#),
        user(IMAGE, r#"{"type":"image_url","image_url":{"url":"https://x.org/CANARY.png"}}"#),
        user(IMAGE, r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,CANARY11"}}"#),
        user(AUDIO, r#"{"type":"input_audio","input_audio":{"data":"CANARY11","format":"wav"}}"#),
        user(
            FILE,
            r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,CANARY11","filename":"x"}}"#,
        ),
        user(
            FILE_NAME,
            r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"CANARY.pdf"}}"#,
        ),
        user(BLOCK, r#"{"type":"of_next_month","x":"CANARY"}"#),
        user(FIELD, r#"{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"CANARY"}}"#),
        answer(FIELD, r#""annotations":[{"type":"url_citation","url_citation":{"url":"CANARY"}}]"#),
        answer(FIELD, r#""field_of_next_month":"CANARY""#),
        answer(REASONING, r#""reasoning_content":"CANARY""#),
        openai(
            CALL,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"CANARY1","arguments":"{\"x\":\"CANARY2\"}"}},{"id":"b","type":"function","function":{"name":"CANARY3","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"CANARY4"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"CANARY5"}]}"#,
        ),
        (AROUND, OpenAi, format!(r#"{{"metadata":{{"title":"CANARY"}},"messages":[{ASK}]}}"#)),
    ];
    let anthropic = |kind, said: &str| (kind, Anthropic, format!("[{ASK},{ANSWER},{said},{ANSWER}]"));
    let user = |kind, block: &str| anthropic(kind, &format!(r#"{{"role":"user","content":[{block}]}}"#));
    let answer = |kind, block: &str| {
        (
            kind,
            Anthropic,
            format!(r#"[{ASK},{{"role":"assistant","content":[{block},{{"type":"text","text":"x"}}]}}]"#),
        )
    };
    let result = |kind, fields: &str| {
        let call =
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{"x":"y"}}]}"#;
        let result =
            format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a",{fields}}}]}}"#);
        (kind, Anthropic, format!("[{ASK},{call},{result},{ANSWER}]"))
    };
    rows.extend([
        anthropic(TEXT, r#"{"role":"user","content":"CANARY"}"#),
        anthropic(TEXT, r#"{"role":"user","content":"x"},{"role":"system","content":"CANARY"}"#),
        anthropic(FIELD, r#"{"role":"user","content":"x","field_of_next_month":{"x":"CANARY"}}"#),
        user(IMAGE, r#"{"type":"image","source":{"type":"url","url":"https://x.org/CANARY.png"}}"#),
        user(IMAGE, r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"CANARY11"}}"#),
        user(FILE, r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"CANARY11"}}"#),
        user(FILE_NAME, r#"{"type":"document","title":"CANARY","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}"#),
        user(FIELD, r#"{"type":"document","context":"CANARY","source":{"type":"url","url":"https://x.org/x.pdf"}}"#),
        user(("file of the provider's", "picture", &[Longhaul]), r#"{"type":"image","source":{"type":"file","file_id":"CANARY"}}"#),
        user(BLOCK, r#"{"type":"of_next_month","x":"CANARY"}"#),
        user(FIELD, r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral","x":"CANARY"}}"#),
        answer(FIELD, r#"{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"CANARY"}]}"#),
        answer(SEALED, r#"{"type":"thinking","thinking":"x","signature":"CANARY"}"#),
        answer(REASONING, r#"{"type":"thinking","thinking":"CANARY","signature":"x"}"#),
        answer(SEALED, r#"{"type":"redacted_thinking","data":"CANARY"}"#),
        result(CALL, r#""content":"CANARY","is_error":true"#),
        result(CALL, r#""content":[{"type":"text","text":"CANARY1"},{"type":"text","text":"CANARY2"}],"is_error":true"#),
        result(IMAGE, r#""content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"CANARY11"}}]"#),
        result(BLOCK, r#""content":[{"type":"text","text":"x"},{"type":"of_next_month","x":"CANARY"}]"#),
        result(FIELD, r#""content":"x","cache_control":{"type":"ephemeral","ttl":"CANARY"}"#),
        (AROUND, Anthropic, format!(r#"{{"system":"x","metadata":{{"title":"CANARY"}},"messages":[{ASK}]}}"#)),
        (("tool", "left out", &[OpenAi, Responses, Anthropic, Gemini, Longhaul]), Anthropic, format!(r#"{{"system":"x","tools":[{{"name":"CANARY","input_schema":{{"type":"object"}}}}],"messages":[{ASK}]}}"#)),
        (AROUND, Anthropic, format!(r#"{{"system":"x","tools":[{{"type":"web_search_20250305","name":"CANARY"}}],"messages":[{ASK}]}}"#)),
        (("field of the system prompt", "left out", &[]), Anthropic, format!(r#"{{"system":[{{"type":"text","text":"x","cache_control":{{"type":"ephemeral","ttl":"CANARY"}}}}],"messages":[{ASK}]}}"#)),
    ]);
    let item = |kind, item: &str| (kind, Responses, format!("[{ASK},{item},{ANSWER}]"));
    let user =
        |kind, part: &str| item(kind, &format!(r#"{{"type":"message","role":"user","content":[{part}]}}"#));
    let result = |kind, output: &str| {
        let call = r#"{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"}"#;
        item(kind, &format!(r#"{call},{{"type":"function_call_output","call_id":"a","output":{output}}}"#))
    };
    rows.extend([
        user(TEXT, r#"{"type":"input_text","text":"CANARY"}"#),
        user(IMAGE, r#"{"type":"input_image","image_url":"https://x.org/CANARY.png","detail":"auto"}"#),
        user(FILE, r#"{"type":"input_file","filename":"x","file_data":"data:application/pdf;base64,CANARY11"}"#),
        user(FILE_NAME, r#"{"type":"input_file","filename":"CANARY","file_data":"data:application/pdf;base64,AAAA"}"#),
        user(FIELD, r#"{"type":"input_text","text":"x","field_of_next_month":"CANARY"}"#),
        item(TEXT, r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"CANARY"}]}"#),
        item(TEXT, r#"{"type":"message","role":"developer","content":"CANARY"}"#),
        item(ID, r#"{"type":"message","role":"assistant","id":"CANARY","content":[{"type":"output_text","text":"x"}]}"#),
        item(FIELD, r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"url":"CANARY"}]}]}"#),
        item(SEALED, r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"CANARY"}"#),
        item(REASONING, r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"CANARY"}]}"#),
        item(BLOCK, r#"{"type":"item_of_next_month","x":"CANARY"}"#),
        item(CALL, r#"{"type":"custom_tool_call","call_id":"a","name":"patch","input":"CANARY1"},{"type":"custom_tool_call_output","call_id":"a","output":"CANARY2"}"#),
        result(IMAGE, r#"[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,CANARY11"}]"#),
        result(CALL, r#""CANARY""#),
        (CALL, Codex, lines(&format!(r#"[{ASK},{{"type":"reasoning","id":"rs_1","summary":[]}},{ANSWER},{ASK},{{"type":"function_call","id":"fc_1","call_id":"a","name":"CANARY","arguments":"{{}}"}}]"#), of_codex)),
        (AROUND, Responses, format!(r#"{{"metadata":{{"title":"CANARY"}},"input":[{ASK}]}}"#)),
    ]);
    let gemini = |kind, role: &str, part: &str| {
        let ask = r#"{"role":"user","parts":[{"text":"go"}]}"#;
        (kind, Gemini, format!(r#"[{ask},{{"role":"{role}","parts":[{{"text":"x"}},{part}]}}]"#))
    };
    let result = |kind, response: &str| {
        gemini(
            kind,
            "model",
            &format!(
                r#"{{"functionCall":{{"name":"ls","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"ls",{response}}}}}"#
            ),
        )
    };
    rows.extend([
        gemini(TEXT, "user", r#"{"text":"CANARY"}"#),
        gemini(IMAGE, "user", r#"{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}"#),
        gemini(IMAGE, "model", r#"{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}"#),
        gemini(AUDIO, "user", r#"{"inlineData":{"mimeType":"audio/wav","data":"CANARY11"}}"#),
        gemini(FILE, "user", r#"{"inlineData":{"mimeType":"application/pdf","data":"CANARY11"}}"#),
        gemini(FIELD, "user", r#"{"inlineData":{"mimeType":"application/pdf","data":"AAAA","displayName":"CANARY"}}"#),
        gemini(REASONING, "model", r#"{"text":"CANARY","thought":true}"#),
        gemini(FIELD, "model", r#"{"text":"x","thoughtSignature":"CANARY"}"#),
        gemini(BLOCK, "model", r#"{"executableCode":{"language":"PYTHON","code":"CANARY"}}"#),
        result(CALL, r#""response":{"output":"CANARY"}"#),
        result(CALL, r#""response":{"error":"CANARY"}"#),
        result(FIELD, r#""response":{"output":"x","more":"CANARY"}"#),
        result(IMAGE, r#""response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"CANARY11"}}]"#),
        (AROUND, Gemini, r#"{"labels":{"title":"CANARY"},"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#.to_owned()),
    ]);
    let odd = r#"{"functionCall":{"name":"my.tool/CANARY","args":{}}}"#;
    rows.push(gemini(CALL, "model", odd));
    let ui = |kind, role: &str, part: &str| {
        let ask = r#"{"id":"1","role":"user","parts":[{"type":"text","text":"go"}]}"#;
        (
            kind,
            UiMessages,
            format!(r#"[{ask},{{"id":"2","role":"{role}","parts":[{{"type":"text","text":"x"}},{part}]}}]"#),
        )
    };
    rows.extend([
        ui(TEXT, "user", r#"{"type":"text","text":"CANARY"}"#),
        ui(IMAGE, "user", r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,CANARY11"}"#),
        ui(IMAGE, "assistant", r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,CANARY11"}"#),
        ui(AUDIO, "user", r#"{"type":"file","mediaType":"audio/mpeg","url":"data:audio/mpeg;base64,CANARY11"}"#),
        ui(FILE_NAME, "user", r#"{"type":"file","mediaType":"application/pdf","filename":"CANARY","url":"data:application/pdf;base64,AAAA"}"#),
        ui(CALL, "assistant", r#"{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{"x":"CANARY1"},"output":{"y":"CANARY2"}},{"type":"tool-ls","toolCallId":"b","state":"output-error","input":{},"errorText":"CANARY3"}"#),
        ui(FIELD, "assistant", r#"{"type":"tool-ls","toolCallId":"a","state":"output-available","input":{},"output":"x","title":"CANARY"}"#),
        ui(REASONING, "assistant", r#"{"type":"reasoning","text":"CANARY"}"#),
        ui(SEALED, "assistant", r#"{"type":"reasoning","text":"x","providerMetadata":{"anthropic":{"signature":"CANARY"}}}"#),
        ui(FIELD, "assistant", r#"{"type":"text","text":"x","providerMetadata":{"openai":{"itemId":"CANARY"}}}"#),
        ui(BLOCK, "assistant", r#"{"type":"source-url","sourceId":"s","url":"https://x.org/CANARY"}"#),
        ui(FIELD, "user", r#"{"type":"text","text":"x"}],"metadata":{"x":"CANARY"},"y":[null"#),
        (AROUND, UiMessages, r#"{"title":"CANARY","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"go"}]}]}"#.to_owned()),
    ]);
    let chat = |kind, said: &str| (kind, Chat, format!(r#"[{{"from":"human","value":"go"}},{said}]"#));
    rows.extend([
        chat(TEXT, r#"{"from":"gpt","value":"CANARY"}"#),
        chat(TEXT, r#"{"from":"gpt","value":"x"},{"from":"system","value":"CANARY"}"#),
        chat(FIELD, r#"{"from":"gpt","value":"x","weight":"CANARY"}"#),
        chat(CALL, r#"{"from":"function_call","value":"{\"name\":\"CANARY1\",\"arguments\":{\"x\":\"CANARY2\"}}"},{"from":"observation","value":"CANARY3"}"#),
        (AROUND, Chat, r#"{"id":"CANARY","conversations":[{"from":"human","value":"go"}]}"#.to_owned()),
    ]);
    let own = |kind, said: &str| {
        (kind, Longhaul, format!(r#"{{"format":"longhaul","version":1,"messages":[{said}]}}"#))
    };
    rows.extend([
        own(NAME, r#"{"role":"user","name":"CANARY","parts":[{"text":"x"}]}"#),
        own(
            ("unfit name", "name of a speaker", &[Longhaul]),
            r#"{"role":"user","name":"a CANARY","parts":[{"text":"x"}]}"#,
        ),
        own(FIELD, r#"{"role":"user","parts":[{"text":"x"}],"field_of_next_month":"CANARY"}"#),
    ]);
    let of_agents = rows.iter().filter_map(|(kind, from, said)| match from {
        Anthropic if said.starts_with('[') => Some((*kind, ClaudeCode, lines(said, of_claude_code))),
        Responses if said.starts_with('[') => Some((*kind, Codex, lines(said, of_codex))),
        _ => None,
    });
    // A system message in the list is no line of Claude Code's.
    let of_agents: Vec<_> = of_agents.filter(|(_, _, file)| !file.contains(r#""role":"system""#)).collect();
    rows.extend(of_agents);
    let titled = r#"{"type":"summary","summary":"CANARY","leafUuid":"u0"}"#;
    let ask = format!(r#"{{"parentUuid":null,"sessionId":"s","type":"user","message":{ASK},"uuid":"u0"}}"#);
    rows.push((AROUND, ClaudeCode, format!("{titled}\n{ask}\n")));
    rows.push((AROUND, ClaudeCode, format!("{}\n", ask.replace("\"uuid\"", "\"cwd\":\"CANARY\",\"uuid\""))));
    let ask = format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{ASK}}}"#);
    rows.push((AROUND, Codex, format!("{ask}\n{}\n", r#"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"CANARY"}}"#)));
    rows
}

fn of_claude_code(nth: usize, message: &str) -> String {
    let parent = nth.checked_sub(1).map_or("null".to_owned(), |before| format!("\"u{before}\""));
    let who = if message.contains(r#""role":"assistant""#) { "assistant" } else { "user" };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s-1","type":"{who}","message":{message},"uuid":"u{nth}"}}"#
    )
}

fn of_codex(_: usize, item: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{item}}}"#)
}

/// Returns the elements of a list, each made into a line.
fn lines(list: &str, line: impl Fn(usize, &str) -> String) -> String {
    let elements: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(list).unwrap();
    elements.iter().enumerate().map(|(nth, element)| line(nth, element.get()) + "\n").collect()
}

/// Returns each canary in `text` with the number of the message that it stands in, where that is told.
fn canaries(kind: Kind, text: &str) -> Vec<(String, String)> {
    let elements: Vec<Box<serde_json::value::RawValue>> = match text.starts_with('[') {
        true => serde_json::from_str(text).unwrap(),
        false => {
            let is_lines = kind != AROUND && text.ends_with('\n');
            text.lines().filter(|_| is_lines).map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("CANARY"));
    let place = |word: &str| elements.iter().position(|element| element.get().contains(word));
    words.map(|word| (word.to_owned(), place(word).map_or(String::new(), |at| format!("m{at}")))).collect()
}

#[test]
fn every_format_that_is_written_is_converted_to() {
    let written: Vec<Format> = Format::ALL.into_iter().filter(|format| !format.is_import_only()).collect();
    assert_eq!(written, ALL);
}

#[test]
fn each_piece_is_there_or_told() {
    let mut faults = Vec::new();
    for ((kind, told_by, carried_by), from, text) in rows() {
        let doc = read(Some(from), text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let profile = Profile::default();
        assert_eq!(validate(text.as_bytes(), from, &profile).unwrap(), [], "{text}");
        for to in ALL {
            let converted = convert(&doc, to).unwrap();
            let (bytes, losses) = (converted.document.as_bytes(), &converted.losses);
            let written = String::from_utf8_lossy(bytes);
            let mut fault = |what: String| {
                faults.push(format!("{kind}, {from} to {to}: {what}\n  {text}\n  {written}\n  {losses:?}"))
            };
            if from == to && (written != text || !losses.is_empty()) {
                fault("not what it was".to_owned());
            }
            let found = validate(bytes, to, &profile).unwrap();
            if !found.is_empty() {
                fault(format!("{found:?}"));
            }
            let is_kin = from == to || KIN.iter().any(|kin| kin.contains(&from) && kin.contains(&to));
            let is_carried = carried_by.contains(&to) || is_kin && told_by != AROUND.1;
            for (canary, place) in canaries((kind, told_by, carried_by), &text) {
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
    let has_spelling = |from: &Format| SHOWS[..6].contains(from);
    let is_said = |kind: &Kind| ![AROUND.0, "tool"].contains(&kind.0);
    for (kind, from, text) in rows().into_iter().filter(|(kind, from, _)| has_spelling(from) && is_said(kind))
    {
        let doc = read(Some(from), text.as_bytes()).unwrap();
        let entries = doc.transcript().entries().iter();
        let spelled = |entry: &longhaul_transcript::Entry| {
            let raw = doc.raw_of(entry.id.ordinal).map(std::sync::Arc::new);
            longhaul_transcript::Message { raw, ..(*entry.message).clone() }
        };
        let messages: Vec<_> = entries.map(spelled).collect();
        for to in ALL {
            let sent = render(&messages, to).unwrap();
            let told = convert(&doc, to).unwrap().losses;
            for (canary, place) in canaries(kind, &text) {
                let is_there = sent.json.contains(&canary);
                let is_told = sent.losses.iter().any(|loss| loss.contains(kind.1) && loss.contains(&place));
                if !is_there && !is_told {
                    let losses = &sent.losses;
                    faults.push(format!("{from} to {to}: {text}\n  {}\n  {losses:?}\n  {told:?}", sent.json));
                }
            }
            let of_message = |loss: &&String| loss.contains(" (m") && loss.contains("left out");
            // A file of an agent's is no request: it has ids that a server would ask for.
            let is_kin = from == to || KIN.iter().any(|kin| kin.contains(&from) && kin.contains(&to));
            for loss in told.iter().filter(of_message).filter(|_| !is_kin) {
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
        for to in ALL.into_iter().filter(|to| *to != ClaudeCode) {
            assert_eq!(convert(&doc, to).unwrap().losses, [""; 0], "{to}");
            assert_eq!(render(&messages, to).unwrap().losses, [""; 0], "{to}");
        }
    }
}
