//! Input as it should not be: refused with a place and an expectation, or carried through.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use expect_test::{Expect, expect};
use longhaul_transcript::{Item, Part};
use longhaul_wire::{Document, Format, Profile, convert, read, validate, write, write_unchanged};

fn refuses(format: impl Into<Option<Format>>, input: impl AsRef<[u8]>, expected: Expect) {
    let error = read(format.into(), input.as_ref()).unwrap_err();
    expected.assert_eq(&error.to_string());
}

/// Reads `input`, and checks that it comes back as it was.
fn carries(format: impl Into<Option<Format>>, input: impl AsRef<[u8]>) -> Document {
    let doc = read(format.into(), input.as_ref()).unwrap();
    let mut out = Vec::new();
    write_unchanged(&doc, &mut out).unwrap();
    assert_eq!(out, input.as_ref());
    out.clear();
    write(&doc, items(&doc), &mut out).unwrap();
    assert_eq!(out, input.as_ref());
    doc
}

fn items(doc: &Document) -> Vec<Item<'_>> {
    let entries = doc.transcript().entries().iter();
    entries.map(|entry| Item::Message { id: entry.id, message: &entry.message }).collect()
}

fn texts(doc: &Document) -> String {
    let said = doc.transcript().entries().iter().map(|entry| {
        let parts = entry.message.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::ToolCall(call) => format!("!{}", call.id),
            Part::ToolResult(result) => format!("={}", result.call_id),
            other => format!("{other:?}"),
        });
        parts.collect::<Vec<_>>().join(" ")
    });
    said.collect::<Vec<_>>().join(" | ")
}

#[test]
fn nothing_at_all() {
    let names = Format::ALL.map(Format::name).join(", ");
    let error = read(None, &b""[..]).unwrap_err().to_string();
    assert_eq!(error, format!("the input is empty; expected a history in one of the formats {names}"));
    refuses(
        Format::OpenAi,
        "",
        expect!["byte 0: EOF while parsing a value; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::ClaudeCode,
        "\n\n",
        expect!["line 1: found   ; expected a Claude Code session file: one JSON object a line"],
    );
    refuses(
        Format::Codex,
        "",
        expect!["line 1: found ; expected a Codex rollout file: one JSON object a line"],
    );
}

#[test]
fn a_history_of_nothing_is_no_session_of_claude_code() {
    for nothing in ["[]", r#"[{"role":"system","content":"Be brief."}]"#] {
        let doc = read(Some(Format::OpenAi), nothing.as_bytes()).unwrap();
        let error = convert(&doc, Format::ClaudeCode).unwrap_err().to_string();
        assert_eq!(error, "no message of the history can be written as claude-code");
    }
}

#[test]
fn not_a_history() {
    for other in ["hello", "42", "\"text\"", "{\"a\":1}", "\u{feff}", "%PDF-1.7", "\0\0\0\0"] {
        let error = read(None, other.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("the input is no history that longhaul knows"), "{other}: {error}");
    }
}

#[test]
fn a_history_a_line_is_named_as_such() {
    let one = r#"{"messages":[{"role":"user","content":"a"}]}"#;
    let error = read(None, format!("{one}\n{one}\n").as_bytes()).unwrap_err().to_string();
    expect![[r#"line 2: found another history; expected one in a file, and here stands one a line: `sed -n 2p FILE` takes the second out"#]].assert_eq(&error);
    // Two of blocks are no messages of OpenAI's.
    let block = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"b"}]}"#;
    read(None, format!("{block}\n{block}\n").as_bytes()).unwrap_err();
}

/// A session that was put together of itself, or of a fork that names another session in each line.
#[test]
fn a_line_that_stands_twice_is_read_once() {
    let line = |session: &str, uuid: &str, parent: &str, message: &str| {
        let kind = if message.contains("\"assistant\"") { "assistant" } else { "user" };
        format!(
            r#"{{"type":"{kind}","sessionId":"{session}","uuid":"{uuid}","parentUuid":{parent},"message":{message}}}"#
        )
    };
    let session = |name: &str| {
        vec![
            line(name, "a", "null", r#"{"role":"user","content":"Look."}"#),
            line(
                name,
                "b",
                "\"a\"",
                r#"{"role":"assistant","id":"m1","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#,
            ),
            line(
                name,
                "c",
                "\"b\"",
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}"#,
            ),
            line(name, "d", "\"c\"", r#"{"role":"user","content":"And now?"}"#),
        ]
    };
    let (once, fork) = (session("s"), session("f"));
    let beside: Vec<String> = once.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    for twice in [beside, [once.clone(), once.clone()].concat(), [once.clone(), fork].concat()] {
        let text = twice.join("\n");
        let doc = read(Some(Format::ClaudeCode), text.as_bytes()).unwrap();
        assert_eq!(texts(&doc), "Look. | !t1 | =t1 | And now?");
        assert_eq!(doc.problems().len(), 4);
        assert!(doc.problems()[0].what.contains("stands further up already"));
        assert_eq!(validate(text.as_bytes(), Format::ClaudeCode, &Profile::default()).unwrap(), []);
        // What is written anew is what is kept, once.
        let all = items(&doc);
        let mut out = Vec::new();
        write(&doc, all[1..].to_vec(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(texts(&read(Some(Format::ClaudeCode), out.as_bytes()).unwrap()), "!t1 | =t1 | And now?");
        assert_eq!(out.matches("\"uuid\":\"d\"").count(), 1, "{out}");
    }
}

#[test]
fn broken_syntax_is_named_by_its_byte() {
    refuses(
        Format::OpenAi,
        r#"[{"role":"user","content":"a"}"#,
        expect!["byte 30: EOF while parsing a list; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"user","content":"a"}] x"#,
        expect!["byte 32: trailing characters; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"user","content":"a"}][]"#,
        expect!["byte 31: trailing characters; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::OpenAi,
        "[{\"role\":\"user\",\n\"content\":tru}]",
        expect!["byte 30: expected ident; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::OpenAi,
        b"[{\"role\":\"user\",\"content\":\"a\xffb\"}]",
        expect!["byte 28: a byte that is not UTF-8; expected one JSON value in UTF-8"],
    );
    refuses(
        Format::OpenAi,
        b"[{\"role\":\"user\",\"content\":\"a\0b\"}]",
        expect![[
            r#"byte 27: control character (\u0000-\u001F) found while parsing a string; expected one JSON value in UTF-8"#
        ]],
    );
}

#[test]
fn wrong_shapes_are_named_by_their_path() {
    refuses(
        Format::OpenAi,
        r#"{"messages":{}}"#,
        expect![[
            r#"the document: found {"messages":{}}; expected an array of messages, or an object with messages"#
        ]],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"user","content":"a"},7]"#,
        expect!["message 1: found 7; expected a message: an object with role and content"],
    );
    refuses(
        Format::OpenAi,
        r#"[{"content":"a"}]"#,
        expect![[r#"message 0: found {"content":"a"}; expected a message: an object with role and content"#]],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"critic","content":"a"}]"#,
        expect!["message 0.role: found critic; expected system, developer, user, assistant or tool"],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"user","content":{"a":1}}]"#,
        expect![[r#"message 0.content: found {"a":1}; expected a string, null or an array of parts"#]],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"assistant","tool_calls":[{"function":{}}]}]"#,
        expect![[r#"message 0.tool_calls[0]: found {"function":{}}; expected a tool call with its id"#]],
    );
    refuses(
        Format::OpenAi,
        r#"[{"role":"tool","content":"a"}]"#,
        expect![[
            r#"message 0: found {"role":"tool","content":"a"}; expected a tool message with tool_call_id"#
        ]],
    );
    refuses(
        Format::Anthropic,
        r#"[{"role":"user","content":[{"type":"tool_result","content":"a"}]}]"#,
        expect![[
            r#"message 0.content[0]: found {"type":"tool_result","content":"a"}; expected a tool_result block with tool_use_id"#
        ]],
    );
    refuses(
        Format::Anthropic,
        r#"[{"role":"user","content":[{"type":"text"}]}]"#,
        expect![[r#"message 0.content[0]: found {"type":"text"}; expected a text block with its text"#]],
    );
    refuses(
        Format::Anthropic,
        r#"{"system":7,"messages":[]}"#,
        expect!["system.content: found 7; expected a string or an array of blocks"],
    );
    refuses(
        Format::Responses,
        r#"[{"type":"function_call","name":"ls"}]"#,
        expect![[
            r#"message 0: found {"type":"function_call","name":"ls"}; expected a call with its call_id"#
        ]],
    );
    refuses(
        Format::Gemini,
        r#"[{"role":"user"}]"#,
        expect![[r#"message 0: found {"role":"user"}; expected a content: an object with parts"#]],
    );
    refuses(
        Format::Chat,
        r#"[{"from":"human"}]"#,
        expect![[r#"message 0: found {"from":"human"}; expected a turn: an object with from and value"#]],
    );
    refuses(
        Format::Longhaul,
        r#"{"version":1,"messages":[{"role":"user"}]}"#,
        expect![
            "message 0: found missing field `parts` at line 1 column 15; expected a message with role and parts"
        ],
    );
    refuses(
        Format::Longhaul,
        r#"{"version":2,"messages":[]}"#,
        expect!["version 2 of the longhaul format; expected 1 or older"],
    );
    refuses(
        Format::Meeting,
        r#"{"meeting_transcripts":[{"speaker":"A"}]}"#,
        expect![[
            r#"meeting_transcripts[0]: found {"speaker":"A"}; expected a turn with speaker and content"#
        ]],
    );
    refuses(
        Format::Tau2,
        r#"{"traj":7}"#,
        expect![[
            r#"the document: found {"traj":7}; expected a simulation: an object with messages or traj"#
        ]],
    );
}

#[test]
fn depth_is_refused_and_never_followed() {
    let bomb = |inner: &str| {
        format!(
            "[{{\"role\":\"user\",\"content\":\"a\",\"x\":{}{inner}{}}}]",
            "[".repeat(200_000),
            "]".repeat(200_000)
        )
    };
    refuses(
        Format::OpenAi,
        bomb(""),
        expect!["byte 160: values nested more than 128 deep; expected one JSON value in UTF-8"],
    );
    // In a file of lines the line is carried.
    let line = format!("{{\"type\":\"x\",\"deep\":{}{}}}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let doc =
        read(Some(Format::ClaudeCode), format!("{}\n{line}", said("a", "null", "go")).as_bytes()).unwrap();
    assert_eq!((texts(&doc).as_str(), doc.problems().len()), ("go", 1));
}

#[test]
fn marks_breaks_and_blanks_are_carried() {
    assert_eq!(texts(&carries(None, "\u{feff}[{\"role\":\"user\",\"content\":\"a\"}]")), "a");
    assert_eq!(texts(&carries(None, " \r\n[{\"role\":\"user\",\"content\":\"a\"}]\r\n\r\n")), "a");
    let lines = format!("\u{feff}{}\r\n\r\n{}\r\n", said("a", "null", "go"), said("b", "\"a\"", "on"));
    assert_eq!(texts(&carries(Format::ClaudeCode, lines)), "go | on");
}

#[test]
fn an_empty_list_is_a_history() {
    for (format, text) in [
        (Format::OpenAi, "[]"),
        (Format::Gemini, "{\"contents\":[ ]}"),
        (Format::Anthropic, "{\"messages\":[]}"),
    ] {
        assert!(carries(format, text).transcript().is_empty());
    }
}

fn said(uuid: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn answered(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":{parent},"message":{{"id":"{id}","role":"assistant","content":[{block}]}}}}"#
    )
}

fn result(uuid: &str, parent: &str, id: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}]}}}}"#
    )
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"ls","input":{{}}}}"#)
}

#[test]
fn c_04_only_the_path_to_the_last_message_counts() {
    let lines = [said("a", "null", "go"), said("b", "\"a\"", "left"), said("c", "\"a\"", "right")];
    let doc = carries(Format::ClaudeCode, lines.join("\n"));
    assert_eq!(texts(&doc), "go | right");
}

#[test]
fn c_05_parallel_calls_are_joined_and_abandoned_ones_are_not() {
    let lines = [
        said("a", "null", "go"),
        answered("b", "\"a\"", "m1", &call("t1")),
        result("x", "\"b\"", "t1"), // taken back, asked again
        answered("c", "\"b\"", "m1", &call("t2")),
        result("d", "\"b\"", "t1"),
        result("e", "\"c\"", "t2"),
        answered("f", "\"e\"", "m2", r#"{"type":"text","text":"ok"}"#),
        said("p", "null", "a copy"),
        answered("q", "\"p\"", "m1", &call("t1")),
        said("g", "\"f\"", "on"),
    ];
    assert_eq!(texts(&carries(Format::ClaudeCode, lines.join("\n"))), "go | !t1 !t2 | =t1 | =t2 | ok | on");
}

#[test]
fn c_06_what_a_compaction_kept_follows_its_summary() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"z","parentUuid":null,"compactMetadata":{"preservedSegment":{"headUuid":"b","anchorUuid":"s","tailUuid":"c"}}}"#;
    let lines = [
        said("a", "null", "old"),
        said("b", "\"a\"", "kept one"),
        said("c", "\"b\"", "kept two"),
        boundary.to_owned(),
        said("s", "\"z\"", "summary"),
        said("d", "\"s\"", "new"),
    ];
    let doc = carries(Format::ClaudeCode, lines.join("\n"));
    assert_eq!(texts(&doc), "summary | kept one | kept two | new");
    // Written again without its head, the rest hangs together.
    let mut out = Vec::new();
    write(&doc, items(&doc).split_off(2), &mut out).unwrap();
    assert_eq!(texts(&read(Some(Format::ClaudeCode), &out[..]).unwrap()), "kept two | new");
}

#[test]
fn c_07_a_half_written_last_line_is_told_and_carried() {
    let lines = format!("{}\n{}", said("a", "null", "go"), &said("b", "\"a\"", "on")[..40]);
    let doc = carries(Format::ClaudeCode, lines);
    assert_eq!(texts(&doc), "go");
    expect!["line 2, byte 40: the last line is cut off; what stands before it was read"].assert_eq(&format!(
        "{}: {}",
        doc.problems()[0].place,
        doc.problems()[0].what
    ));
}

#[test]
fn c_09_the_first_of_two_lines_with_one_id_wins() {
    let lines = [said("a", "null", "one"), said("a", "null", "two"), said("b", "\"a\"", "on")];
    assert_eq!(texts(&carries(Format::ClaudeCode, lines.join("\n"))), "one | on");
}

#[test]
fn a_line_that_is_no_text_is_carried_even_when_others_go() {
    let mut bytes = format!("{}\n", said("a", "null", "go")).into_bytes();
    bytes.extend(b"{\"type\":\"x\",\"bad\":\"\xff\xfe\"}\n");
    bytes.extend(said("b", "\"a\"", "on").into_bytes());
    let doc = carries(Format::ClaudeCode, &bytes);
    assert_eq!((texts(&doc).as_str(), doc.problems().len()), ("go | on", 1));
    let mut out = Vec::new();
    write(&doc, items(&doc).into_iter().take(1), &mut out).unwrap();
    assert!(out.windows(2).any(|pair| pair == b"\xff\xfe"));
}

#[test]
fn a_session_that_runs_in_a_circle_ends() {
    let lines = [said("a", "\"b\"", "one"), said("b", "\"a\"", "two")];
    assert_eq!(texts(&carries(Format::ClaudeCode, lines.join("\n"))), "one | two");
}

#[test]
fn messages_that_stand_before_what_they_follow_are_told() {
    let lines = [said("c", "\"b\"", "three"), said("b", "\"a\"", "two"), said("a", "null", "one")];
    let doc = carries(Format::ClaudeCode, lines.join("\n"));
    assert_eq!(texts(&doc), "one");
    expect!["line 1: this message and 1 others stand before the one that it follows (line 2): the lines are out of order, and only what leads to the last one is read"].assert_eq(&format!(
        "{}: {}",
        doc.problems()[0].place,
        doc.problems()[0].what
    ));
    let lines = [said("a", "null", "one"), said("b", "\"a\"", "two"), said("c", "\"a\"", "again")];
    assert!(
        carries(Format::ClaudeCode, lines.join("\n")).problems().is_empty(),
        "a turn taken back is in order"
    );
}

#[test]
fn x_01_an_old_compaction_keeps_the_requests_and_the_summary() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let user = |text: &str| {
        item(&format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
        ))
    };
    let lines = [
        item(r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#),
        user("one"),
        item(r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#),
        r#"{"type":"compacted","payload":{"message":"so far"}}"#.to_owned(),
        user("two"),
    ];
    let doc = carries(Format::Codex, lines.join("\n"));
    assert_eq!(texts(&doc), "rules | one | so far | two");
    let mut out = Vec::new();
    write(&doc, items(&doc).split_off(2), &mut out).unwrap();
    assert_eq!(texts(&read(Some(Format::Codex), &out[..]).unwrap()), "so far | two");
}

#[test]
fn x_05_turns_taken_back_are_not_in_the_context() {
    let user = |text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let back = r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#.to_owned();
    assert_eq!(
        texts(&carries(Format::Codex, [user("one"), user("two"), back, user("three")].join("\n"))),
        "one | three"
    );
}

#[test]
fn x_07_old_files_hold_bare_items() {
    let lines = "{\"id\":\"s1\",\"timestamp\":\"t\",\"instructions\":\"Be brief.\"}\n{\"record_type\":\"state\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"go\"}]}\n{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c1\"}\n{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"a\"}\n";
    let doc = carries(None, lines);
    assert_eq!((doc.format(), texts(&doc).as_str()), (Format::Codex, "Be brief. | go | !c1 | =c1"));
    let mut out = Vec::new();
    write(&doc, items(&doc).into_iter().take(2), &mut out).unwrap();
    assert_eq!(texts(&read(None, &out[..]).unwrap()), "Be brief. | go");
}

#[test]
fn r_06_an_item_that_lost_its_reasoning_loses_its_id() {
    let history = r#"[{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"}]"#;
    let doc = carries(Format::Responses, history);
    let kept = items(&doc).into_iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, item)| item);
    let mut out = Vec::new();
    write(&doc, kept, &mut out).unwrap();
    let expected = r#"[{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"}]"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_changed_message_keeps_its_unknown_fields() {
    let history = r#"[{"x":1e2,"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"long","y":"\ud800"}],"z":12345678901234567890}]"#;
    let doc = carries(Format::OpenAi, history);
    let mut message = (*doc.transcript().entries()[0].message).clone();
    if let Part::ToolResult(result) = &mut message.parts[0] {
        result.content = vec![Part::Text("short \"one\"".into())];
    }
    let mut out = Vec::new();
    write(&doc, [Item::Message { id: doc.transcript().entries()[0].id, message: &message }], &mut out)
        .unwrap();
    let expected = history.replace("\"long\"", r#""short \"one\"""#);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn import_only_formats_are_not_rewritten() {
    let doc = carries(
        None,
        r#"{"meeting_transcripts":[{"speaker":"A","content":"x"},{"speaker":"B","content":"y"}]}"#,
    );
    let error = write(&doc, items(&doc).split_off(1), &mut Vec::new()).unwrap_err();
    expect!["meeting can only be imported; expected a format that can be written, such as openai"]
        .assert_eq(&error.to_string());
}

#[test]
fn a_long_line_is_read() {
    let text = "x".repeat(20_000_000);
    let doc = read(Some(Format::ClaudeCode), said("a", "null", &text).as_bytes()).unwrap();
    assert_eq!(texts(&doc).len(), text.len());
}

#[test]
fn reasoning_whose_call_is_damaged_stays_where_nothing_changed() {
    let line = |payload: &str| format!(r#"{{"timestamp":"t","type":"response_item","payload":{payload}}}"#);
    let reasoning = line(r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}"#);
    let damaged = line(r#"{"type":"function_call","id":"fc_1","name":"sh","arguments":"#);
    let output = line(r#"{"type":"function_call_output","call_id":"c1","output":"0"}"#);
    let user = line(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#);
    carries(Format::Codex, format!("{user}\n{reasoning}\n{damaged}\n{output}\n"));
}

/// Whoever shortens the history of Gemini CLI writes down all that is left of it, and goes on behind that.
#[test]
fn a_history_that_its_agent_shortened_is_what_was_left() {
    let lines = [
        r#"{"sessionId":"s","projectHash":"p"}"#,
        r#"{"id":"a","type":"user","content":"long ago"}"#,
        r#"{"id":"b","type":"gemini","content":"yes"}"#,
        r#"{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"a summary"}]},{"id":"b","type":"gemini","content":"yes"}]}}"#,
        r#"{"id":"d","type":"user","content":"go on"}"#,
        r#"{"id":"b","type":"gemini","content":"yes!"}"#,
    ];
    let doc = carries(None, lines.join("\n"));
    assert_eq!(doc.format(), Format::GeminiCli);
    assert_eq!(texts(&doc), "a summary | yes! | go on");
    // What is taken back goes with all behind it; what nobody knows takes all of it back.
    let back = |to: &str| texts(&carries(None, lines.join("\n") + &format!("\n{{\"$rewindTo\":\"{to}\"}}")));
    assert_eq!((&*back("b"), &*back("z")), ("a summary", ""));
}

/// A text may have tags, and a file that is written may hold those of its own call: only what is answered is a call.
#[test]
fn calls_in_a_text_are_those_that_are_answered() {
    let task = |answer: &str, came: &str| {
        let message = |role: &str, text: &str| {
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"ts":1}}"#)
        };
        let all = [message("user", "mend it"), message("assistant", answer), message("user", came)];
        texts(&carries(None, format!("[{}]", all.join(","))))
    };
    let read = "Look:<read_file><path>a</path></read_file>";
    assert_eq!(task(read, "no"), format!("mend it | {read} | no"));
    assert_eq!(task(read, "[read_file for 'a'] Result:\\nok"), "mend it | Look: !cline-1-1 | =cline-1-1");
    assert_eq!(
        task(read, "[list_files for 'a'] Result:\\nok"),
        format!("mend it | {read} | [list_files for 'a'] Result:\nok")
    );
    // What is no argument is not lost with the call: it stays the text that it is.
    let stray = "<read_file><path>a</path> and more <to>3</to></read_file>";
    assert_eq!(
        task(stray, "[read_file for 'a'] Result:\\nok"),
        format!("mend it | {stray} | [read_file for 'a'] Result:\nok")
    );
    let svg = "<write_to_file><path>a</path><content><path/></path></content></write_to_file>";
    let written = format!("[{}]", [
        format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"{svg}"}}],"ts":1}}"#),
        r#"{"role":"user","content":[{"type":"text","text":"[write_to_file for 'a'] Result:\nok"}],"ts":2}"#.to_owned(),
    ].join(","));
    let doc = carries(None, written);
    let calls: Vec<_> = doc.transcript().entries().iter().flat_map(|entry| entry.message.calls()).collect();
    assert_eq!(calls[0].arguments.0, r#"{"path":"a","content":"<path/></path>"}"#);
}
