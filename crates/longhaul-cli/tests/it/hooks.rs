//! Hooks of Claude Code: settings that come to no harm, and what is answered to each event.

use std::fs;

use serde_json::{Value, json};

use crate::run::{Folder, Ran, example};

fn hook(folder: &Folder, event: &Value) -> Ran {
    let ran = folder.run(&["hook", "run"], event.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran
}

#[test]
fn settings_come_to_no_harm() {
    let folder = Folder::new();
    let settings = folder.path().join(".claude/settings.json");
    // There is none yet.
    assert_eq!(folder.run(&["hook", "install"], b"").code, 0);
    let made: Value = serde_json::from_slice(&fs::read(&settings).unwrap()).unwrap();
    let command = made["hooks"]["PreCompact"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("longhaul' hook run"), "{command}");
    let again = folder.run(&["hook", "install"], b"");
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    // Nor where somebody's own stands behind ours since.
    let mut with = made.clone();
    with["hooks"]["PostToolUse"].as_array_mut().unwrap().push(json!({"matcher": "Edit", "hooks": []}));
    fs::write(&settings, with.to_string()).unwrap();
    let again = folder.run(&["hook", "install"], b"");
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&settings).unwrap(), with.to_string());
    assert_eq!(folder.run(&["hook", "remove", "--without-filter"], b"").code, 2, "all of ours go");
    fs::write(&settings, serde_json::to_string_pretty(&made).unwrap() + "\n").unwrap();
    assert_eq!(folder.run(&["hook", "remove"], b"").code, 0);
    assert_eq!(fs::read(&settings).unwrap(), b"{}\n");

    // Somebody's own, in another file, with what we do not know.
    let own = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\n        \"matcher\": \"Edit\",\n        \"hooks\": []\n      }\n    ]\n  },\n  \"n\": 1.50\n}\n";
    let file = folder.file("mine.json", own.as_bytes());
    let place = ["--settings", "mine.json"];
    let install = folder.run(&[&["hook", "install", "--without-filter"], &place[..]].concat(), b"");
    assert!(install.stderr.contains("mine.json.bak"), "{}", install.stderr);
    let with: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(with["hooks"]["PostToolUse"].as_array().unwrap().len(), 1, "{with}");
    assert_eq!(with["hooks"]["SessionStart"][0]["matcher"], "compact");
    assert_eq!(fs::read_to_string(folder.path().join("mine.json.bak")).unwrap(), own);
    assert_eq!(folder.run(&[&["hook", "remove"], &place[..]].concat(), b"").code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), own);

    // What is no JSON is not ours to mend.
    for odd in ["{ // a comment\n}", "[]", "{\"hooks\":7}", "{\"hooks\":{\"PreCompact\":{}}}"] {
        fs::write(&file, odd).unwrap();
        let ran = folder.run(&[&["hook", "install"], &place[..]].concat(), b"");
        let said = ran.said();
        assert!(
            ran.code == 4 && said.contains("mine.json: ") && said.contains("nothing was changed"),
            "{odd}: {said}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), odd);
    }

    // Nor what its owner locked.
    fs::write(&file, own).unwrap();
    let mut mode = fs::metadata(&file).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&file, mode).unwrap();
    let ran = folder.run(&[&["hook", "install"], &place[..]].concat(), b"");
    assert!(ran.code == 4 && ran.said().contains("mine.json: it is read-only"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
    // What stands there when ours are gone is what stood there before, byte for byte, or nothing.
    for before in [None, Some(""), Some("\n"), Some("{}"), Some("{}\n"), Some("{ }")] {
        let path = folder.path().join("fresh.json");
        let there = || fs::read_to_string(&path).ok();
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
        for _ in 0..2 {
            assert_eq!(
                folder.run(&["hook", "remove", "--settings", "fresh.json"], b"").code,
                0,
                "{before:?}"
            );
            assert_eq!(there().as_deref(), before);
            assert_eq!(
                folder.run(&["hook", "install", "--settings", "fresh.json"], b"").code,
                0,
                "{before:?}"
            );
            assert!(there().unwrap().contains("PreCompact"), "{before:?}");
            assert_eq!(
                folder.run(&["hook", "remove", "--settings", "fresh.json"], b"").code,
                0,
                "{before:?}"
            );
            assert_eq!(there().as_deref(), before);
        }
        let _ = fs::remove_file(&path);
    }
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let kept = names.filter(|name| name.to_string_lossy().starts_with("fresh.json.bak")).count();
    assert!(kept <= 5, "one copy of each text that was somebody's own: {kept}");
    // And where there is nothing, nothing is made.
    assert_eq!(folder.run(&["hook", "remove", "--settings", "none/settings.json"], b"").code, 0);
    assert!(!folder.path().join("none").exists());
}

/// The folder as well, where it was made for the file.
#[test]
fn a_folder_that_was_made_for_the_hooks_goes_with_them() {
    let folder = Folder::new();
    let made = folder.path().join(".claude");
    let run = |args: &[&str]| {
        assert_eq!(folder.run(&[&["hook"], args, &["--project"]].concat(), b"").code, 0);
    };
    run(&["install"]);
    run(&["remove"]);
    assert!(!made.exists());
    run(&["install"]);
    fs::write(made.join("mine"), "x").unwrap();
    run(&["remove"]);
    assert_eq!(fs::read_dir(&made).unwrap().count(), 1, "somebody's own stays");
    // One that was there before stays, too.
    fs::remove_file(made.join("mine")).unwrap();
    run(&["install"]);
    run(&["remove"]);
    assert!(made.exists());
}

/// What compilers say stands on stderr.
#[test]
fn long_output_is_digested_on_whichever_stream_it_comes() {
    let folder = Folder::new();
    let lines = |what: &str, n: usize| -> String {
        (0..n).map(|n| format!("{what}: unused variable `x{n}` in src/part{n}.rs:{n}:4\n")).collect()
    };
    let answered = |out: &str, err: &str| {
        let ran = hook(
            &folder,
            &json!({
                "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo check"},
                "tool_response": {"stdout": out, "stderr": err, "interrupted": false, "isImage": false},
            }),
        );
        let answer: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        let stream = |name: &str| {
            let text = answer["hookSpecificOutput"]["updatedToolOutput"][name].as_str();
            text.unwrap_or_default().to_owned()
        };
        [stream("stdout"), stream("stderr")]
    };
    let (long, half) = (lines("warning", 500), lines("note", 100));
    let is_short = |text: &str| text.len() < 5_000 && text.contains("[shortened by longhaul: ");
    let [out, err] = answered("done\n", &long);
    assert!(out == "done\n" && is_short(&err), "{err}");
    let kept = err.rsplit_once(" is in ").unwrap().1.trim_end().trim_end_matches(']');
    assert_eq!(fs::read_to_string(kept).unwrap(), long);
    let [out, err] = answered(&long, &long);
    assert!(is_short(&out) && is_short(&err) && out.len() + err.len() < 7_000, "{out}{err}");
    let [out, err] = answered(&long, &half);
    assert!(is_short(&out) && out.len() + err.len() < 7_000, "{out}{err}");
    // Neither is long by itself.
    assert!(half.len() < 8_000 && 2 * half.len() > 8_000);
    let [out, err] = answered(&half, &half);
    assert!(is_short(&out) && is_short(&err), "{out}{err}");
    assert_eq!(answered("short\n", "short\n"), ["", ""], "nothing is answered");
}

#[test]
fn what_a_compaction_takes_is_kept_and_given_back_in_short() {
    let folder = Folder::new();
    let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
    let session = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    let before = json!({
        "session_id": session, "transcript_path": file, "cwd": folder.path(), "hook_event_name": "PreCompact",
        "trigger": "auto", "custom_instructions": "",
    });
    let ran = hook(&folder, &before);
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let said = answer["systemMessage"].as_str().unwrap();
    assert!(said.contains("kept all 76 messages (19,167 tokens)") && said.contains(session), "{said}");
    assert_eq!(fs::read(&file).unwrap(), fs::read(example()).unwrap(), "the transcript stays as it is");
    let found = folder.run(&["recall", session, "knapsack"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("knapsack"), "{}", found.stderr);

    let mut after = before.clone();
    after["hook_event_name"] = "SessionStart".into();
    after["source"] = "compact".into();
    let ran = hook(&folder, &after);
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let given = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
    // As a shell finds this program, and with the request that nothing below tells.
    let program = format!("longhaul' recall {session} WORDS`");
    assert!(given.contains(&program) && given.contains("`'/"), "{given}");
    assert!(!given.contains("below") && given.contains("## Request (m69)\nPlease do that: add"), "{given}");
    assert!(given.len() <= 9_500, "{}", given.len());
    // What was done last, behind which nothing stays.
    assert!(given.contains("## The assistant's last words (m74"), "{given}");
    let sessions = folder.run(&["sessions", "--json"], b"");
    let sessions: Value = serde_json::from_slice(&sessions.stdout).unwrap();
    assert!(sessions["head"].is_null(), "no summary is in force that no agent has: {sessions}");
    // Other starts, and other events, are none of ours.
    for (key, value) in [("source", "startup"), ("hook_event_name", "Stop")] {
        let mut other = after.clone();
        other[key] = value.into();
        assert_eq!(hook(&folder, &other).stdout, b"", "{key}");
    }

    // The agent compacted by itself and went on: that is kept too, and told first.
    let own = fs::read_to_string(example()).unwrap();
    let leaf: Value = own
        .lines()
        .rev()
        .find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            line["uuid"].is_string().then_some(line)
        })
        .unwrap();
    let line = |parent: Value, uuid: &str, text: String| {
        json!({
            "parentUuid": parent, "isSidechain": false, "sessionId": session, "type": "user",
            "message": {"role": "user", "content": text}, "uuid": uuid, "timestamp": leaf["timestamp"],
        })
    };
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": leaf["uuid"], "isSidechain": false, "sessionId": session,
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "b1",
        "timestamp": leaf["timestamp"], "compactMetadata": {"trigger": "auto", "preTokens": 19_167},
    });
    let mut summary =
        line("b1".into(), "b2", "This session is being continued from a previous conversation.".into());
    summary["isCompactSummary"] = true.into();
    let asked =
        line("b2".into(), "b3", format!("Now the zebra report. {}", "Each row counts. ".repeat(3_000)));
    let thanks = line("b3".into(), "b4", "Please also write the giraffe report, briefly.".into());
    fs::write(&file, format!("{own}{boundary}\n{summary}\n{asked}\n{thanks}\n")).unwrap();
    assert!(hook(&folder, &before).stderr.contains("longhaul"), "a branch is told of");
    let ran = hook(&folder, &after);
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let given = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(given.contains("zebra report") && given.contains(&format!("is in {session}")), "{given}");
    assert!(
        !given.contains("below") && given.contains(")\nPlease also write the giraffe report, briefly."),
        "{given}"
    );
}

/// Settings that ask for a model are not for a hook, and what is said in short is of the session that was kept.
#[test]
fn a_short_session_is_kept_too() {
    let folder = Folder::new();
    let session = "44444444-4444-4444-8444-444444444444";
    let file = folder.path().join("s.jsonl");
    let told = |event: &str| {
        let event = json!({
            "session_id": session, "transcript_path": file, "hook_event_name": event, "trigger": "manual",
            "source": "compact",
        });
        let mode = [("LONGHAUL_MODE", "llm"), ("LONGHAUL_BASE_URL", "http://127.0.0.1:9")];
        let ran = folder.run_with(&mode, &["hook", "run"], event.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let words = [&answer["systemMessage"], &answer["hookSpecificOutput"]["additionalContext"]];
        words.iter().find_map(|words| words.as_str()).unwrap().to_owned()
    };
    let line = |kind: &str, uuid: &str, parent: &str, text: &str| {
        let parent = if parent.is_empty() { Value::Null } else { parent.into() };
        json!({
            "parentUuid": parent, "isSidechain": false, "sessionId": session, "type": kind, "uuid": uuid,
            "message": {"role": kind, "content": text}, "timestamp": "2026-06-22T12:10:56.000Z",
        })
        .to_string()
            + "\n"
    };
    let rows = "Each row of the zebra report counts, and none is to be lost. ".repeat(900);
    let mut lines = line("user", "a1", "", &format!("Write the zebra report. {rows}"));
    lines += &line("assistant", "a2", "a1", "It is written.");
    lines += &line("user", "a3", "a2", "Good.");
    fs::write(&file, &lines).unwrap();
    let kept = told("PreCompact");
    assert!(kept.contains("kept all 3 messages"), "{kept}");
    let given = told("SessionStart");
    assert!(given.contains("zebra report") && given.contains("made by rule"), "{given}");

    // The agent compacted, and little was said since: all of that is kept, and no older summary is told for it.
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": "a3", "isSidechain": false, "sessionId": session, "type": "system",
        "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "b1",
        "timestamp": "2026-06-22T12:20:56.000Z", "compactMetadata": {"trigger": "auto", "preTokens": 12_000},
    });
    lines += &format!("{boundary}\n");
    lines += &line("user", "b2", "b1", "This session is being continued from a previous conversation.")
        .replacen('{', "{\"isCompactSummary\":true,", 1);
    lines += &line("assistant", "b3", "b2", "I go on.");
    lines += &line("user", "b4", "b3", "For the giraffes use QUUX port 7777.");
    fs::write(&file, &lines).unwrap();
    let kept = told("PreCompact");
    let name = kept.rsplit_once(" recall ").unwrap().1.strip_suffix(" WORDS").unwrap();
    let found = folder.run(&["recall", name, "QUUX"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("7777"), "{}", found.stderr);
    let given = told("SessionStart");
    assert!(given.contains(&format!(" recall {name} WORDS`")), "{given}");
    assert!(given.contains(&format!("is in {session}")) && !given.contains("made by rule"), "{given}");
    assert!(
        !given.contains("zebra") && given.contains("## Request (m2)\nFor the giraffes use QUUX"),
        "{given}"
    );

    // What cannot be kept is not told of as what was kept before it.
    fs::write(&file, "no session\n").unwrap();
    let event = json!({"transcript_path": file, "hook_event_name": "PreCompact"});
    assert_eq!(hook(&folder, &event).stdout, b"");
    let event = json!({"transcript_path": file, "hook_event_name": "SessionStart", "source": "compact"});
    assert_eq!(hook(&folder, &event).stdout, b"");
}

#[test]
fn long_output_is_shortened_and_what_is_saved_is_told() {
    let folder = Folder::new();
    let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
    let rows: String = (0..2_000).map(|n| format!("   Compiling part-{n} v0.1.0 (/w/parts/{n})\n")).collect();
    let long = format!(
        "{rows}token {token}\nwarning: unused variable: `x`\n  --> src/lib.rs:7:9\ntest result: ok. 12 passed; 0 failed\n"
    );
    let event = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo test --all -- --secret"},
        "tool_response": {"stdout": long, "stderr": "", "interrupted": false, "isImage": false},
    });
    let ran = hook(&folder, &event);
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let response = &answer["hookSpecificOutput"]["updatedToolOutput"];
    let shown = response["stdout"].as_str().unwrap();
    assert!(shown.len() < 8_000 && shown.contains("test result: ok. 12 passed"), "{shown}");
    assert!(response["interrupted"] == false && response["stderr"] == "", "the tool's own shape");
    let path = shown.rsplit_once("whole output is in ").unwrap().1.trim_end().trim_end_matches(']');
    let whole = fs::read_to_string(path).unwrap();
    assert!(whole.starts_with(&rows) && !whole.contains(&token));

    let savings = String::from_utf8(folder.run(&["savings"], b"").stdout).unwrap();
    assert!(
        savings.contains("tokens saved since")
            && savings.contains(" in 1 output\n")
            && savings.contains("cargo test "),
        "{savings}"
    );
    let json: Value = serde_json::from_slice(&folder.run(&["savings", "--json"], b"").stdout).unwrap();
    assert!(json["digests"] == 1 && json["before"].as_u64() > json["after"].as_u64(), "{json}");
    assert!(
        !fs::read_to_string(folder.path().join(".local/share/longhaul/savings.jsonl"))
            .unwrap()
            .contains("secret")
    );

    // Short output, a picture and what no tool of ours knows stay as they are, and so does what Claude Code has cut itself: what
    // it hands over is the beginning, and its own file has the rest. What is no event says so and does no harm.
    let mut cut = event.clone();
    cut["tool_response"]["persistedOutputPath"] = "/x/whole.txt".into();
    // Where everything tells something, a digest would save too little.
    let mut prose = event.clone();
    let tells = |n: u32| {
        format!(
            "The international community considered responsibility {n} without noticeable disagreement.\n"
        )
    };
    prose["tool_response"]["stdout"] = (0..90).map(tells).collect::<String>().into();
    let mut short = event.clone();
    short["tool_response"]["stdout"] = "ok".into();
    let mut picture = event.clone();
    picture["tool_response"]["isImage"] = true.into();
    for event in [
        short,
        picture,
        cut,
        prose,
        json!({"hook_event_name": "PostToolUse", "tool_name": "Edit"}),
        json!({"x": 1}),
        json!([]),
        json!({"hook_event_name": 7}),
    ] {
        let ran = hook(&folder, &event);
        assert_eq!(ran.stdout, b"", "{event}");
        let is_event = event["hook_event_name"].is_string();
        assert_eq!(
            ran.said().contains("expected a JSON object with `hook_event_name`"),
            !is_event,
            "{event}: {}",
            ran.stderr
        );
    }
    let kept = fs::read_dir(folder.path().join(".local/share/longhaul/outputs")).unwrap().count();
    assert_eq!(kept, 1, "only what a digest names");
}

/// What the hook kept whole of a session's commands goes with what is forgotten of it.
#[test]
fn what_is_forgotten_is_gone_from_the_outputs_that_were_kept_whole() {
    let folder = Folder::new();
    let session = COMPACTED;
    let file = folder.path().join("s.jsonl");
    let said: String =
        ["u0", "u1"].map(|id| line("user", id, None, &format!("Count the walrus {id}."))).concat();
    fs::write(&file, said).unwrap();
    let told = |event: Value| hook(&folder, &event);
    told(json!({"session_id": session, "transcript_path": file, "hook_event_name": "PreCompact"}));
    let output = |of: &str, word: &str| {
        let rows: String = (0..900).map(|n| format!("   Compiling {word} v0.1.0 (/w/parts/{n})\n")).collect();
        let answer = told(json!({
            "session_id": of, "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {"command": "cargo test"}, "tool_response": {"stdout": rows, "stderr": ""},
        }));
        assert!(!answer.stdout.is_empty(), "{}", answer.stderr);
    };
    for (of, word) in [(session, "walrus"), (session, "ostrich"), ("another-session", "walrus")] {
        output(of, word);
    }
    let kept = || fs::read_dir(folder.path().join(".local/share/longhaul/outputs")).unwrap().count();
    assert_eq!(kept(), 3);
    let forget = |what: &[&str], typed: &[u8]| folder.run(&[&["forget", session], what].concat(), typed);
    let ran = forget(&["--range", "m0"], b"");
    assert!(ran.said().contains("2 outputs of") && ran.said().contains("may hold it too"), "{}", ran.stderr);
    assert_eq!(kept(), 3);
    let ran = forget(&["--matching", "-"], b"walrus");
    assert!(ran.said().contains("1 output that the hook kept whole removed"), "{}", ran.stderr);
    assert_eq!(kept(), 2);
    let ran = forget(&["--all", "--yes"], b"");
    assert!(ran.said().contains("1 output that the hook kept whole removed"), "{}", ran.stderr);
    assert_eq!(kept(), 1, "another session's stays");
}

#[test]
fn nothing_saved_is_said() {
    let shown = Folder::new().run(&["savings"], b"");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("longhaul hook install"), "{}", shown.stderr);
}

/// Neither what was forgotten on purpose, nor settings under which originals go, keeps a hook from keeping the rest.
#[test]
fn a_hook_keeps_what_was_said_since_words_were_forgotten() {
    let folder = Folder::new();
    let session = "55555555-5555-4555-8555-555555555555";
    let file = folder.path().join("s.jsonl");
    let said = |texts: &[String]| {
        let lines = texts.iter().enumerate().map(|(n, text)| {
            let kind = if n % 2 == 0 { "user" } else { "assistant" };
            let parent = if n == 0 { Value::Null } else { json!(format!("u{}", n - 1)) };
            json!({
                "parentUuid": parent, "isSidechain": false, "sessionId": session, "type": kind, "uuid": format!("u{n}"),
                "message": {"role": kind, "content": text}, "timestamp": "2026-06-22T12:10:56.000Z",
            })
            .to_string()
                + "\n"
        });
        fs::write(&file, lines.collect::<String>()).unwrap();
    };
    let before_compaction = || {
        let event = json!({"session_id": session, "transcript_path": file, "hook_event_name": "PreCompact"});
        let deletes = [("LONGHAUL_DELETE_ORIGINALS", "true")];
        folder.run_with(&deletes, &["hook", "run"], event.to_string().as_bytes())
    };
    let mut texts: Vec<String> =
        (0..12).map(|n| format!("Row {n} of the zebra report: {}", "it counts. ".repeat(300))).collect();
    said(&texts);
    let kept = before_compaction();
    let words = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(words.contains("kept all 12 messages"), "{words} {}", kept.stderr);
    let found = folder.run(&["recall", session, "m3"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("Row 3 of the zebra"), "{}", found.stderr);

    let gone = folder.run(&["forget", session, "--range", "m3"], b"");
    assert_eq!(gone.code, 0, "{}", gone.stderr);
    texts.push("The giraffes are on port 7777.".to_owned());
    said(&texts);
    let kept = before_compaction();
    let words = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(words.contains("kept all 13 messages"), "{words} {}", kept.stderr);
    let found = folder.run(&["recall", session, "giraffes"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("7777"), "{}", found.stderr);
    let found = folder.run(&["recall", session, "m3"], b"");
    assert!(!String::from_utf8_lossy(&found.stdout).contains("Row 3 of"), "what was forgotten came back");
}

/// A line of a session of Claude Code's.
fn line(kind: &str, uuid: &str, parent: Option<&str>, text: &str) -> String {
    json!({
        "parentUuid": parent, "isSidechain": false, "sessionId": COMPACTED, "type": kind, "uuid": uuid,
        "message": {"role": kind, "content": text}, "timestamp": "2026-06-22T12:10:56.000Z",
    })
    .to_string()
        + "\n"
}

/// What the agent writes where it compacts: the lines `id` and `id` with an `s`.
fn own_compaction(id: &str) -> String {
    let boundary = json!({
        "parentUuid": null, "isSidechain": false, "sessionId": COMPACTED, "type": "system", "uuid": id,
        "subtype": "compact_boundary", "content": "Conversation compacted", "timestamp": "2026-06-22T12:20:56.000Z",
    });
    let summary = line(
        "user",
        &format!("{id}s"),
        Some(id),
        "This session is being continued from a previous conversation.",
    );
    format!("{boundary}\n{}", summary.replacen('{', "{\"isCompactSummary\":true,", 1))
}

const COMPACTED: &str = "66666666-6666-4666-8666-666666666666";

/// A session that its agent compacted twice before anything of it was kept.
fn compacted_twice() -> String {
    [
        line("user", "a1", None, "The zebra report goes to port 7171."),
        line("assistant", "a2", Some("a1"), "It is written."),
        own_compaction("b"),
        line("assistant", "b2", Some("bs"), "The okapi report went out as well, to port 7272."),
        line("user", "b3", Some("b2"), "Good."),
        own_compaction("c"),
        line("user", "c2", Some("cs"), "For the giraffes use port 7373."),
    ]
    .concat()
}

#[test]
fn what_an_agent_compacted_before_is_kept_and_found() {
    let found = |folder: &Folder, args: &[&str]| {
        let ran = folder.run(&[&["recall"], args].concat(), b"");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    let folder = Folder::new();
    let file = folder.file("s.jsonl", compacted_twice().as_bytes());
    let event = |name: &str| {
        let event = json!({
            "session_id": COMPACTED, "transcript_path": file, "hook_event_name": name, "source": "compact",
        });
        let answer: Value = serde_json::from_slice(&hook(&folder, &event).stdout).unwrap();
        let words = [&answer["systemMessage"], &answer["hookSpecificOutput"]["additionalContext"]];
        words.iter().find_map(|words| words.as_str()).unwrap().to_owned()
    };
    for _ in 0..2 {
        let kept = event("PreCompact");
        assert!(
            kept.contains("all 2 messages") && kept.contains("from before its earlier compactions"),
            "{kept}"
        );
        assert!(kept.contains(&format!(" recall {COMPACTED} WORDS")), "{kept}");
        let given = event("SessionStart");
        assert!(given.contains("those commands find it too") && given.contains("giraffes"), "{given}");
    }
    // The session as it is now goes by its id, and by the beginning of it.
    for name in [COMPACTED, "66666666"] {
        for (words, port) in [("zebra", "7171"), ("okapi", "7272"), ("giraffes", "7373")] {
            assert!(found(&folder, &[name, words]).contains(port), "{name} {words}");
        }
        assert!(found(&folder, &[name, "m1"]).contains("7373"));
    }
    let sessions =
        || folder.run(&["sessions", "--json"], b"").stdout.iter().filter(|byte| **byte == b'\n').count();
    let before = sessions();
    event("PreCompact");
    assert_eq!(sessions(), before, "what is kept is kept once");

    // A compaction of ours does the same, and what goes into it is what the agent would send.
    for to in ["claude-code", "openai"] {
        let folder = Folder::new();
        folder.file(
            "s.jsonl",
            (compacted_twice() + &line("assistant", "c3", Some("c2"), &"Done. ".repeat(900))).as_bytes(),
        );
        let args = ["compact", "s.jsonl", "--budget", "600", "-o", "out.json", "--to", to];
        let ran = folder.run(&args, b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.said().contains("so is what the agent saw before it compacted by itself"),
            "{}",
            ran.stderr
        );
        let is_whole = ran.said().contains("every original is kept");
        assert_eq!(is_whole, to == "claude-code", "{}", ran.stderr);
        assert!(!fs::read_to_string(folder.path().join("out.json")).unwrap().contains("zebra"));
        assert!(found(&folder, &[COMPACTED, "zebra"]).contains("7171"));
    }
}

/// Where a variable names the store by a path of the folder, commands that are printed find it from any other.
#[test]
fn commands_that_are_printed_find_a_store_that_a_variable_names() {
    let folder = Folder::new();
    let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
    let variables = [("LONGHAUL_STORE", "rel.db")];
    let store = format!(" --store {}", folder.path().canonicalize().unwrap().join("rel.db").display());
    let event = json!({"transcript_path": file, "hook_event_name": "PreCompact"});
    let kept = folder.run_with(&variables, &["hook", "run"], event.to_string().as_bytes());
    assert!(String::from_utf8_lossy(&kept.stdout).contains(&format!("WORDS{store}")), "{}", kept.stderr);
    let ran = folder.run_with(&variables, &["compact", "s.jsonl", "--budget", "6k", "-o", "out.jsonl"], b"");
    for command in ["history", "undo"] {
        let line = ran.stderr.lines().find(|line| line.contains(&format!("longhaul {command} "))).unwrap();
        assert!(line.ends_with(&store), "{line}");
    }
    assert!(fs::read_to_string(folder.path().join("out.jsonl")).unwrap().contains(&store));
    // One from the root is the same everywhere.
    let rooted = folder.path().join("rel.db");
    let variables = [("LONGHAUL_STORE", rooted.to_str().unwrap())];
    let ran = folder.run_with(&variables, &["compact", "s.jsonl", "--budget", "5k", "-o", "out2.jsonl"], b"");
    assert!(ran.stderr.contains("longhaul undo") && !ran.stderr.contains("--store"), "{}", ran.stderr);
}

/// The file may be gone for a moment, and the hook may have failed.
#[test]
fn what_was_not_kept_before_a_compaction_is_given_as_far_as_it_can_be() {
    let after = |folder: &Folder| {
        let event = json!({
            "session_id": COMPACTED, "transcript_path": folder.path().join("s.jsonl"), "cwd": folder.path(),
            "hook_event_name": "SessionStart", "source": "compact",
        });
        let ran = hook(folder, &event);
        let answer: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    };
    let before = |folder: &Folder| {
        let event = json!({
            "session_id": COMPACTED, "transcript_path": folder.path().join("s.jsonl"), "cwd": folder.path(),
            "hook_event_name": "PreCompact",
        });
        hook(folder, &event)
    };
    let folder = Folder::new();
    assert_eq!(after(&folder), "", "nothing is known");
    assert!(before(&folder).stderr.contains("s.jsonl"));
    // The file is back: it holds what was said before its newest compaction.
    folder.file("s.jsonl", compacted_twice().as_bytes());
    let given = after(&folder);
    assert!(given.starts_with("What was said before the compaction is kept by longhaul."), "{given}");
    let session = given.split(" recall ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let found = folder.run(&["recall", &session, "okapi"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("7272"), "{given}: {}", found.stderr);
    // The message that is named is one of it.
    let example = given.split(&format!("recall {session} ")).nth(2).unwrap().split('`').next().unwrap();
    assert_eq!(folder.run(&["recall", &session, example], b"").code, 0, "{given}");
    // It is gone again: what the store has is told, and what it lacks.
    fs::remove_file(folder.path().join("s.jsonl")).unwrap();
    before(&folder);
    let given = after(&folder);
    assert!(given.starts_with("longhaul could not keep what was said last"), "{given}");
    assert!(given.contains(&format!(" recall {COMPACTED}")), "{given}");
}

/// Both hooks find the store that a relative path names, wherever they are run.
#[test]
fn a_store_that_is_named_from_a_folder_is_the_agents() {
    let folder = Folder::new();
    let (project, elsewhere) = (folder.path().join("project"), folder.path().join("elsewhere"));
    [&project, &elsewhere].into_iter().for_each(|place| fs::create_dir(place).unwrap());
    let file = folder.file("s.jsonl", compacted_twice().as_bytes());
    let runs = [
        ("PreCompact", &project, "rel.db"),
        ("SessionStart", &elsewhere, "rel.db"),
        ("SessionStart", &elsewhere, "sqlite:rel.db"),
    ];
    for (event, place, store) in runs {
        let event = json!({
            "session_id": COMPACTED, "transcript_path": file, "cwd": project, "hook_event_name": event,
            "source": "compact",
        });
        let args = ["hook", "run", "--store", store];
        let ran = folder.run_in(place, &args, event.to_string().as_bytes());
        let store = format!("--store {}", project.canonicalize().unwrap().join("rel.db").display());
        assert!(String::from_utf8_lossy(&ran.stdout).contains(&store), "{event}: {}", ran.stderr);
    }
    assert!(project.join("rel.db").exists() && !elsewhere.join("rel.db").exists());
}
