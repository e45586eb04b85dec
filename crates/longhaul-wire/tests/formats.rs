//! A small history of each format, odd in the ways real ones are: read rightly, written back to the byte.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod fixture;

use expect_test::{Expect, expect};
use longhaul_transcript::{CallKind, Item, Message, Outcome, Part, RawJson};
use longhaul_wire::{Document, Format, Profile, detect, read, render, validate, write, write_unchanged};

fn checks(format: Format, expected: Expect) {
    let bytes = fixture::of(format);
    assert_eq!(detect(&bytes), Some(format), "{format}");
    let doc = read(None, &bytes[..]).unwrap();
    expected.assert_eq(&shown(&doc));
    let mut out = Vec::new();
    write_unchanged(&doc, &mut out).unwrap();
    assert!(out == bytes, "{format}");
    out.clear();
    let entries = doc.transcript().entries();
    write(
        &doc,
        entries.iter().map(|entry| Item::Message { id: entry.id, message: &entry.message }),
        &mut out,
    )
    .unwrap();
    assert!(out == bytes, "{format}");
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

#[test]
fn openai() {
    checks(
        Format::OpenAi,
        expect![[r#"
        model gpt-x
        tool {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
        m0 developer: "Be brief."
        m1 user(ann): "What is é 😀 � here?" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: ~"Let me look." 0 bytes | !bash#call_1 {"cmd": "ls", "n": 12345678901234567890123} | !!patch#call_2 *** Begin

        m3 tool: =call_2 "ok"
        m4 tool: =call_1 "a" & "b"
        m5 assistant: "Done."
    "#]],
    );
}

#[test]
fn responses() {
    checks(
        Format::Responses,
        expect![[r#"
        model gpt-x
        tool {"type":"function","name":"bash","parameters":{}}
        m0 system: "Be brief."
        m1 user: "run the tests"
        m2 assistant: ~"Run them." 8 bytes
        m3 assistant: "Running."
        m4 assistant: !bash#call_1 {"cmd":"cargo test"}
        m5 tool: =call_1 "1 failed"
        m6 assistant: !!apply_patch#call_2 *** Begin Patch
        m7 tool: =call_2 "applied"
        m8 assistant: [web_search_call]
        m9 assistant: [item_of_next_month]
        m10 assistant: "Fixed."
    "#]],
    );
}

#[test]
fn anthropic() {
    checks(
        Format::Anthropic,
        expect![[r#"
        model claude-x
        tool {"name": "bash", "input_schema": {"type": "object"}}
        m0 system: "Be brief."
        m1 user: "look"
        m2 assistant: ~"Look at the test first." 12 bytes | "I will read it." | [server_tool_use#srv_1] | [web_search_tool_result#srv_1] | !read_file#toolu_a1 {"path": "src/a.rs", "limit": 1E2} | !bash#toolu_a2 {"command": "cargo test"}
        m3 user: =toolu_a1 "fn a() {}" | =toolu_a2- "1 failed" & <image/gif 13 bytes Some((300, 200))> | "also look at b.rs"
        m4 assistant: [block_of_next_month] | "Yes."
    "#]],
    );
}

#[test]
fn claude_code() {
    checks(
        Format::ClaudeCode,
        expect![[r#"
        session 11111111-1111-4111-8111-111111111111
        model claude-x
        m0 user: "look at both"
        m1 assistant: ~"Both." 4 bytes | !Read#t1 {"file_path":"a"} | !Read#t2 {"file_path":"b"}
        m2 user: =t1 "text of a"
        m3 user: =t2+ "text of b"
        m4 assistant: "Both are fine."
        usage up to m0: 3 + 40 + 7 in, 20 + 0 out
        usage up to m3: 9 + 0 + 0 in, 4 + 0 out
    "#]],
    );
}

#[test]
fn codex() {
    checks(
        Format::Codex,
        expect![[r#"
        session 22222222-2222-4222-8222-222222222222
        model gpt-x
        m0 system: "You are an agent."
        m1 developer: "Sandboxed."
        m2 developer: "<environment_context>\n</environment_context>"
        m3 user: "fix it"
        m4 assistant: ~"" 8 bytes
        m5 assistant: !exec_command#call_1 {"cmd":"ls"}
        m6 tool: =call_1 "a b"
        m7 assistant: "Fixed."
        usage up to m3: 40 + 60 + 0 in, 20 + 10 out
    "#]],
    );
}

#[test]
fn gemini() {
    checks(
        Format::Gemini,
        expect![[r#"
        tool {"functionDeclarations":[{"name":"bash","parameters":{"type":"object"}}]}
        m0 system: "Be brief."
        m1 user: "run the tests" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: ~"Thinking..." 0 bytes | !bash#bash {"cmd":"cargo test"} | !bash#bash-2 {"cmd":"ls"}
        m3 user: =bash "1 failed" | =bash-2 "{\"stdout\":\"a\",\"code\":1e0}"
        m4 assistant: [executableCode] | "One failed."
    "#]],
    );
}

#[test]
fn chat() {
    checks(
        Format::Chat,
        expect![[r#"
        m0 system: "Be brief."
        m1 user: "weather?"
        m2 assistant: !weather#call {"at": "here"}
        m3 tool: =call "rain"
        m4 assistant: "Rain."
    "#]],
    );
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

#[test]
fn ui_messages() {
    checks(
        Format::UiMessages,
        expect![[r#"
            session chat-7
            m0 user: "What is on this picture?" | <image/png 24 bytes Some((300, 200))>
            m1 assistant: ~"Look first." 8 bytes | !look#call_1 {"x": 1E2} | !mcp_read#call_2 {"path":"b"} | =call_1 "{\"seen\":[\"a cat\"]}" | =call_2- "no such file"
            m2 assistant: "A cat." | [source-url] | [data-weather] | [part-of-next-month]
            m3 user: "And now?"
            m4 assistant: [tool-web_search] | !look#call_3 {"x":2}
        "#]],
    );
}

#[test]
fn longhaul() {
    checks(
        Format::Longhaul,
        expect![[r#"
        session s-1
        model m
        tool {"name":"bash"}
        m0 system: "Be brief."
        m1 user(ann): "go" | <image/png 24 bytes Some((300, 200))>
        m2 assistant: !bash#c1 {"cmd": "ls"}
        m3 tool: =c1- "a b"
    "#]],
    );
}

#[test]
fn pi() {
    checks(
        Format::Pi,
        expect![[r#"
            session 33333333-3333-4333-8333-333333333333
            model claude-x
            m0 user: "read it"
            m1 assistant: ~"Hm." 4 bytes | "Reading." | !read#t1 {"path":"a"}
            m2 tool: =t1+ "text of a"
            m3 assistant: "Read."
            usage up to m0: 10 + 3 + 2 in, 5 + 0 out
        "#]],
    );
}

#[test]
fn tau2() {
    checks(
        Format::Tau2,
        expect![[r#"
        m0 assistant: "Hi!"
        m1 user: !check#u1 {"deep": true}
        m2 tool: =u1+ "on"
        m3 user: "It is on."
        m4 assistant: "Fine."
        usage up to m3: 50 + 0 + 0 in, 4 + 0 out
    "#]],
    );
}

#[test]
fn swe_agent() {
    checks(
        Format::SweAgent,
        expect![[r#"
        m0 system: "SETTING"
        m1 system: "A demonstration"
        m2 user: "Solve it."
        m3 assistant: "Look." | !bash#action {"command":"ls -a"}
        m4 tool: =action "a b"
        m5 assistant: "Nothing to run."
    "#]],
    );
}

#[test]
fn gemini_cli() {
    checks(
        Format::GeminiCli,
        expect![[r#"
            session 55555555-5555-4555-8555-555555555555
            model gemini-y
            m0 user: "<session_context>\nToday is Thursday.\n</session_context>"
            m1 user: "read it" | <image/png 8 bytes None>
            m2 assistant: ~"Plan\nRead a first." 0 bytes | "Reading." | !read_file#read_file-1 {"path":"a","n":1E2} | !run_shell_command#shell-2 {"command":"cargo test"} | !run_shell_command#shell-3 {"command":"sleep 9"}
            m3 tool: =read_file-1+ "text of a" | =shell-2- "exit 101"
            m4 user: "/home/mara/a is wrong"
            m5 assistant: "Written." | !write_file#write_file-4 {"path":"a"}
            m6 tool: =write_file-4+ "done"
            usage up to m1: 60 + 40 + 0 in, 5 + 7 out
        "#]],
    );
}

#[test]
fn cline() {
    checks(
        Format::Cline,
        expect![[r#"
            model claude-x
            m0 user: "<task>\nmend a\n</task>" | "<environment_details>\n# Current Working Directory (/w/a (b)) Files\na\n</environment_details>"
            m1 assistant: "I will read it." | !read_file#cline-1-1 {"path":"a"}
            m2 tool: =cline-1-1 "text of a" & <image/png 8 bytes None>
            m3 user: "<environment_details>\n# Time\n</environment_details>"
            m4 assistant: "A tag is `<b>`." | !write_to_file#cline-3-1 {"path":"a","content":"<content>x</content>"}
            m5 tool: =cline-3-1 "Saved.\n<user_message>No words of hers.</user_message>"
            m6 user: "The user provided the following message:\n<user_message>\nGood. Now b.\n</user_message>"
            m7 assistant: ~"Hm." 4 bytes | "Reading." | !read_file#toolu_1 {"path": "b"}
            m8 tool: =toolu_1 "text of b"
            m9 user: "<environment_details>\n# Time\n</environment_details>"
            m10 assistant: ~"Then c." 4 bytes
            m11 user: "[Cut here]"
            m12 assistant: "Done."
            m13 assistant: !execute_command#cline-11-1 {"command":"ls"}
            m14 tool: =cline-11-1 
            m15 user: "The user denied this operation and provided the following feedback:\n<feedback>\nNever list.\n</feedback>" | "<environment_details>\n# Time\n</environment_details>"
            m16 assistant: !write_to_file#cline-13-1 {"path":"b","content":"x"}
            m17 tool: =cline-13-1 "<feedback>none of hers</feedback>"
            m18 user: "The user approved this operation and provided the following context:\n<feedback>\nMind c.\n</feedback>"
            m19 assistant: !read_file#cline-15-1 {"path":"c"}
            m20 tool: =cline-15-1 "<feedback>\nnone of hers\n</feedback>"
            m21 user: "<environment_details>\n# Time\n</environment_details>"
            usage up to m0: 60 + 40 + 0 in, 5 + 0 out
            usage up to m11: 120 + 0 + 0 in, 2 + 0 out
        "#]],
    );
}

#[test]
fn copilot() {
    checks(
        Format::Copilot,
        expect![[r#"
        session 66666666-6666-4666-8666-666666666666
        model gpt-x
        m0 system: "Be brief."
        m1 user: "It was of no matter."
        m2 user: "read it"
        m3 assistant: ~"Look first." 4 bytes | "Reading." | !view#c1 {"path": "a"} | !!apply_patch#c2 *** Begin
        m4 tool: =c1+ "text of a"
        m5 tool: =c2- "no such file"
        m6 user: "$ bash {\"command\": \"ls\"}\na b"
        m7 user: "A skill's text."
        m8 assistant: ~"That is all." 0 bytes | "Read."
    "#]],
    );
}

#[test]
fn opencode() {
    checks(
        Format::Opencode,
        expect![[r#"
            session ses_1
            model m-x
            m0 user: "kept as it was"
            m1 user: "(a summary is asked for)"
            m2 assistant: "It was long ago."
            m3 user: "read it"
            m4 user: "Called the Read tool"
            m5 user: <image/png 8 bytes None>
            m6 assistant: ~"Look." 28 bytes | "Reading." | !read#c1 {"filePath":"a"} | !bash#c2 {"command":"x"}
            m7 tool: =c1+ "text of a" & <image/png 8 bytes None> | =c2- "exit 1"
            m8 assistant: !grep#c3 {"pattern":"a"} | !task#c4 {} | [part-of-next-month]
            m9 tool: =c3+ "(cleared by the agent to make room)"
            m10 assistant: "as far as it w"
            m11 user: "Search\nFind it."
            usage up to m5: 10 + 40 + 2 in, 5 + 3 out
        "#]],
    );
}

/// `revert` names a part: those before it stay. One that is not there takes nothing back.
#[test]
fn opencode_goes_back_to_a_part() {
    let said = |revert: &str| {
        let text = String::from_utf8(fixture::of(Format::Opencode)).unwrap();
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
        let bytes = fixture::of(format);
        let text = String::from_utf8(bytes.clone()).unwrap();
        // A session file has a value a line; that of Vcsum has one line.
        let value = serde_json::from_str::<serde_json::Value>(&text);
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
            assert_eq!(parts(&doc), parts(&read(None, &bytes[..]).unwrap()), "{format}");
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
fn meeting() {
    checks(
        Format::Meeting,
        expect![[r#"
        m0 user: "Ann: Let us begin ."
        m1 user: "Bob: Yes ."
    "#]],
    );
}

#[test]
fn vcsum() {
    checks(
        Format::Vcsum,
        expect![[r#"
        m0 user: "发言人1: 你好。开始。"
        m1 user: "发言人2: 好。"
    "#]],
    );
}

#[test]
fn every_list_of_formats_names_those_that_are_written() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, around) in [
        ("fuzz/src/formats.txt", ["", "\n"]),
        ("crates/longhaul-wire/README.md", ["| `", "` |"]),
        ("crates/longhaul-cli/tests/it/sweep.rs", ["\"", "\""]),
        ("docs/ARCHITECTURE.md", ["`", "`"]),
    ] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        for format in Format::ALL.into_iter().filter(|format| !format.is_import_only()) {
            let [before, behind] = around;
            assert!(text.contains(&format!("{before}{format}{behind}")), "{file} does not name {format}");
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_gives_an_error_or_a_document() {
    for format in Format::ALL {
        let bytes = fixture::of(format);
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
        let before = fixture::of(format);
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
