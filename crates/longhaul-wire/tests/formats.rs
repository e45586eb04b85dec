//! A small history of each format, odd in the ways real ones are: read rightly, written back to the byte.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use expect_test::expect;
use longhaul_testkit::samples;
use longhaul_transcript::{CallKind, Item, Message, Outcome, Part, RawJson};
use longhaul_wire::{Document, Format, Profile, detect, read, render, validate, write, write_unchanged};

#[test]
fn each_format_is_told_and_read_and_comes_back_to_the_byte() {
    for format in Format::ALL {
        let sample = samples::of(format.name());
        let bytes = sample.history;
        assert_eq!(sample.written.is_none(), format.is_import_only(), "{format}");
        assert_eq!(detect(bytes), Some(format), "{format}");
        let doc = read(None, bytes).unwrap();
        sample.read.assert_eq(&shown(&doc));
        let mut out = Vec::new();
        write_unchanged(&doc, &mut out).unwrap();
        assert!(out == bytes, "{format}");
        out.clear();
        let entries = doc.transcript().entries();
        let items = entries.iter().map(|entry| Item::Message { id: entry.id, message: &entry.message });
        write(&doc, items, &mut out).unwrap();
        assert!(out == bytes, "{format}");
    }
}

#[test]
fn however_the_input_of_a_call_is_spelled_it_is_the_same_message() {
    let plain = r#"[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"/a/é日","n":[1,2]}}]}]"#;
    let spelled = r#"[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{ "path" : "\/a\/\u00e9\u65e5",
        "n": [1, 2] }}]}]"#;
    let [plain, spelled] = [plain, spelled].map(|text| read(None, text.as_bytes()).unwrap());
    assert_eq!(shown(&plain), shown(&spelled));
    let last = |doc: &Document| doc.transcript().entries().last().map(|entry| entry.lineage);
    assert_eq!(last(&plain), last(&spelled));
}

fn shown(doc: &Document) -> String {
    let mut text = String::new();
    if let Some(id) = doc.session_id() {
        text += &format!("session {id}\n");
    }
    if let Some(model) = doc.model() {
        text += &format!("model {model}\n");
    }
    for tool in doc.tools() {
        text += &format!("tool {tool}\n");
    }
    for entry in doc.transcript().entries() {
        let name = entry.message.name.as_ref().map(|name| format!("({name})")).unwrap_or_default();
        let parts: Vec<_> = entry.message.parts.iter().map(part).collect();
        text += &format!("{} {}{name}: {}\n", entry.id, entry.message.role.as_str(), parts.join(" | "));
    }
    for (id, usage) in doc.usages() {
        let [input, read, written, output, thought] =
            [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning]
                .map(|tokens| tokens.0);
        text += &format!("usage up to {id}: {input} + {read} + {written} in, {output} + {thought} out\n");
    }
    for problem in doc.problems() {
        text += &format!("{}: {}\n", problem.place, problem.what);
    }
    text
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Media(media) => format!("<{} {} bytes {:?}>", media.media_type, media.bytes, media.pixels),
        Part::ToolCall(call) => {
            let mark = if call.kind == CallKind::Custom { "!!" } else { "!" };
            format!("{mark}{}#{} {}", call.name, call.id, call.arguments.0)
        }
        Part::ToolResult(result) => {
            let mark = match result.outcome {
                Outcome::Succeeded => "+",
                Outcome::Failed => "-",
                Outcome::Unstated => "",
            };
            let content: Vec<_> = result.content.iter().map(self::part).collect();
            format!("={}{mark} {}", result.call_id, content.join(" & "))
        }
        Part::Reasoning(reasoning) => format!("~{:?} {} bytes", reasoning.text, reasoning.opaque_bytes),
        Part::Opaque(opaque) => {
            let pair = opaque.pair_id.as_ref().map(|id| format!("#{id}")).unwrap_or_default();
            format!("[{}{pair}]", opaque.kind)
        }
        other => format!("{other:?}"),
    }
}

/// The call stands as text, its name and its arguments in one object: what is asked of the tool are the arguments alone.
#[test]
fn a_call_of_plain_chat_keeps_its_object_where_its_arguments_change() {
    let turn = r#"[{"from":"human","value":"go"},{"x":1,"from":"function_call","value":"{\"name\": \"write\", \"arguments\": {\"path\": \"a.rs\", \"text\": \"long\"}}"}]"#;
    let doc = read(Some(Format::Chat), turn.as_bytes()).unwrap();
    let entries = doc.transcript().entries();
    let mut shortened = (*entries[1].message).clone();
    let Part::ToolCall(call) = &mut shortened.parts[0] else { panic!("no call") };
    assert_eq!(call.arguments.0, r#"{"path": "a.rs", "text": "long"}"#);
    call.arguments = RawJson(r#"{"path":"a.rs"}"#.into());
    let items = [
        Item::Message { id: entries[0].id, message: &entries[0].message },
        Item::Message { id: entries[1].id, message: &shortened },
    ];
    let mut out = Vec::new();
    write(&doc, items, &mut out).unwrap();
    let expected =
        r#"{"x":1,"from":"function_call","value":"{\"name\":\"write\",\"arguments\":{\"path\":\"a.rs\"}}"}"#;
    assert!(String::from_utf8(out).unwrap().contains(expected));
    let sent = render(entries.iter().map(|entry| &*entry.message), Format::OpenAi).unwrap();
    let arguments = r#""arguments":"{\"path\": \"a.rs\", \"text\": \"long\"}""#;
    assert!(sent.json.contains(arguments), "{}", sent.json);
}

/// `revert` names a part: those before it stay. One that is not there takes nothing back.
#[test]
fn opencode_goes_back_to_a_part() {
    let said = |revert: &str| {
        let text = String::from_utf8(samples::of("opencode").history.to_vec()).unwrap();
        let text = text.replace("{\"messageID\": \"msg_10\"}", revert);
        let doc = read(None, text.as_bytes()).unwrap();
        shown(&doc).lines().skip(8).map(str::to_owned).collect::<Vec<_>>()
    };
    expect![[r#"
        m6 assistant: ~"Look." 28 bytes | "Reading."
        usage up to m5: 10 + 40 + 2 in, 5 + 3 out"#]]
    .assert_eq(&said(r#"{"messageID": "msg_06", "partID": "prt_15"}"#).join("\n"));
    let until_the_end = said(r#"{"messageID": "msg_10", "partID": "prt_99"}"#);
    assert_eq!(until_the_end[6], "m12 user: \"never said\"");
}

/// Writers differ in the white space about a colon: Python's, Java's and JavaScript's are told from one another by nobody.
#[test]
fn a_format_is_told_whatever_stands_about_its_colons() {
    let parts = |doc: &Document| -> Vec<_> {
        let entries = doc.transcript().entries().iter();
        entries
            .map(|entry| (entry.message.role, entry.message.parts.len(), entry.message.calls().count()))
            .collect()
    };
    for format in Format::ALL {
        let bytes = samples::of(format.name()).history;
        let text = str::from_utf8(bytes).unwrap();
        // A session file has a value a line; that of Vcsum has one line.
        let value = serde_json::from_str::<serde_json::Value>(text);
        let Some(value) = value.ok().filter(|_| format != Format::Vcsum) else { continue };
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let spaced: String = pretty
            .lines()
            .map(|line| match line.split_once("\": ") {
                Some((key, value)) => format!("{key}\" :\t{value}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        for text in [pretty, spaced, value.to_string()] {
            assert_eq!(detect(text.as_bytes()), Some(format), "{format}: {text:.200}");
            let doc = read(None, text.as_bytes()).unwrap();
            assert_eq!(parts(&doc), parts(&read(None, bytes).unwrap()), "{format}");
        }
    }
    let bare = r#"[{"role" : "user", "content" : "go"},
        {"role" : "assistant", "content" : [{"type" : "tool_use", "id" : "toolu_1", "name" : "bash", "input" : {}}]},
        {"role" : "user", "content" : [{"type" : "tool_result", "tool_use_id" : "toolu_1", "content" : "done"}]}]"#;
    let doc = read(None, bare.as_bytes()).unwrap();
    assert_eq!(doc.format(), Format::Anthropic);
    assert_eq!(doc.transcript().entries()[1].message.calls().count(), 1);
}

const LINES: &str = "{\"role\":\"user\",\"content\":\"run it\"}\n\
    {\"role\": \"assistant\", \"content\": null, \"x\": 1e2, \"tool_calls\": [{\"id\":\"c1\",\"type\":\"function\",\
    \"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]}\r\n\n\
    {\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"1 failed\"}\n\
    {\"role\":\"user\",\"content\":\"mend it\"}\n";

#[test]
fn a_message_of_openai_a_line() {
    let bytes = LINES.as_bytes();
    assert_eq!(detect(bytes), Some(Format::OpenAi));
    let doc = read(None, bytes).unwrap();
    assert!(doc.is_by_line() && doc.problems().is_empty());
    expect![[r#"
        m0 user: "run it"
        m1 assistant: !bash#c1 {}
        m2 tool: =c1 "1 failed"
        m3 user: "mend it"
    "#]]
    .assert_eq(&shown(&doc));
    assert!(validate(bytes, Format::OpenAi, &Profile::default()).unwrap().is_empty());
    let written = |of: &[usize], and: Option<Message>| {
        let entries = doc.transcript().entries();
        let new = and.map(std::sync::Arc::new);
        let kept = of.iter().map(|at| &entries[*at]).map(|entry| (entry.id, &entry.message));
        let items = kept.chain(new.as_ref().map(|new| (entries[0].id, new)));
        let mut out = Vec::new();
        write(&doc, items.map(|(id, message)| Item::Message { id, message }), &mut out).unwrap();
        assert!(validate(&out, Format::OpenAi, &Profile::default()).unwrap().is_empty());
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(&[0, 1, 2, 3], None), LINES);
    let (first, rest) = LINES.split_once('\n').unwrap();
    let last = LINES.lines().last().unwrap();
    assert_eq!(written(&[1, 2, 3], None), rest);
    assert_eq!(written(&[0, 3], None), format!("{first}\n{last}\n"));
    let new = "{\"role\":\"user\",\"content\":\"and so on\"}";
    assert_eq!(written(&[3], Some(Message::user("and so on"))), format!("{last}\n{new}\n"));
}

#[test]
fn of_messages_a_line_a_damaged_one_is_carried() {
    let doc = read(None, format!("\u{feff}{LINES}{{\"a\":1}}\n{{\"role\":\"us").as_bytes()).unwrap();
    assert_eq!(doc.transcript().len(), 4);
    let told: Vec<_> = doc.problems().iter().map(|one| format!("{}: {}", one.place, one.what)).collect();
    assert_eq!(
        told,
        [
            "line 6: no message; the line is carried, not read",
            "line 7, byte 11: the last line is cut off; what stands before it was read"
        ]
    );
}

#[test]
fn of_messages_a_line_one_that_is_no_message_goes_out_whatever_becomes_of_those_around_it() {
    let lines: Vec<&str> = LINES.lines().filter(|line| !line.is_empty()).collect();
    let meta = ["{\"type\":\"a\"}", "{\"role\":\"us", "{\"type\":\"c\"}"];
    let [m0, m1, m2, m3] = lines[..] else { panic!("{lines:?}") };
    let text = format!("{m0}\n{}\n{m1}\n{}\n\n{m2}\n{m3}\n{}\n", meta[0], meta[1], meta[2]);
    let doc = read(None, text.as_bytes()).unwrap();
    assert_eq!(doc.problems().len(), 3);
    let written = |of: &[usize]| {
        let entries = doc.transcript().entries();
        let kept = of.iter().map(|at| Item::Message { id: entries[*at].id, message: &entries[*at].message });
        let mut out = Vec::new();
        write(&doc, kept, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(&[0, 1, 2, 3]), text);
    assert_eq!(written(&[0, 3]), format!("{m0}\n{}\n{}\n{m3}\n{}\n", meta[0], meta[1], meta[2]));
    assert_eq!(written(&[3]), format!("{}\n{}\n{m3}\n{}\n", meta[0], meta[1], meta[2]));
    assert_eq!(written(&[0]), format!("{m0}\n{}\n{}\n{}\n", meta[0], meta[1], meta[2]));
}

#[test]
fn one_message_in_a_line_of_its_own_is_read_and_what_is_not_utf8_is_named() {
    let one = b"{\"role\":\"user\",\"content\":\"run it\"}\n";
    let doc = read(None, &one[..]).unwrap();
    assert!(doc.is_by_line() && doc.transcript().len() == 1);
    assert!(validate(one, Format::OpenAi, &Profile::default()).unwrap().is_empty());
    let latin = [LINES.as_bytes(), b"{\"role\":\"user\",\"content\":\"caf\xe9\"}\n"].concat();
    let error = read(None, &latin[..]).unwrap_err().to_string();
    expect!["line 6, byte 29: this is not UTF-8; expected one message a line, in UTF-8"].assert_eq(&error);
}

#[test]
fn the_readme_has_a_row_for_each_format_that_is_written() {
    let readme = include_str!("../README.md");
    for format in Format::ALL.into_iter().filter(|format| !format.is_import_only()) {
        assert!(
            readme.contains(&format!("| `{format}` |")),
            "crates/longhaul-wire/README.md has no row for {format}"
        );
    }
}

#[test]
fn a_file_cut_at_any_byte_gives_an_error_or_a_document() {
    for format in Format::ALL {
        let bytes = samples::of(format.name()).history;
        for cut in 0..bytes.len() {
            for named in [Some(format), None] {
                let Ok(doc) = read(named, &bytes[..cut]) else { continue };
                let mut out = Vec::new();
                write_unchanged(&doc, &mut out).unwrap();
                assert!(out == bytes[..cut], "{format} cut at {cut}");
                doc.segments();
                doc.before_compactions().for_each(drop);
            }
        }
    }
}

#[test]
fn what_stood_before_an_agent_compacted_is_read_as_it_saw_it_then() {
    let claude = concat!(
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"sessionId":"s"}"#,
        "\n",
        r#"{"type":"user","isCompactSummary":true,"uuid":"b2","parentUuid":"b1","sessionId":"s","message":{"role":"user","content":"In short."}}"#,
        "\n",
    );
    let codex = concat!(r#"{"type":"compacted","payload":{"message":"In short."}}"#, "\n");
    for (format, lines) in [(Format::ClaudeCode, claude), (Format::Codex, codex)] {
        let before = samples::of(format.name()).history.to_vec();
        let texts =
            |doc: &Document| doc.transcript().entries().iter().map(|entry| entry.message.clone()).collect();
        let mut seen: Vec<Vec<std::sync::Arc<Message>>> = Vec::new();
        let mut bytes = before;
        for nth in 0..3 {
            let doc = read(Some(format), &bytes[..]).unwrap();
            let earlier: Vec<Vec<_>> = doc.before_compactions().map(|doc| texts(&doc)).collect();
            assert_eq!(earlier, seen, "{format}");
            seen.push(texts(&doc));
            bytes.extend_from_slice(
                lines
                    .replace("\"b1\"", &format!("\"b1{nth}\""))
                    .replace("\"b2\"", &format!("\"b2{nth}\""))
                    .as_bytes(),
            );
        }
    }
}
