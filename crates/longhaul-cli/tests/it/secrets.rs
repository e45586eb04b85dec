//! Secrets of every kind in a conversation that is compacted and recorded: none in anything that longhaul writes.

use std::fs;

use serde_json::{Value, json};

use crate::{
    kinds::{KINDS, kinds, tell},
    run::Folder,
};

/// Returns a conversation with each secret in a text, in arguments, in a result, in a file's name and in a URL.
fn planted() -> String {
    let mut messages = vec![json!({"role": "system", "content": "You are a careful engineer."})];
    for (index, (kind, before, secret)) in kinds().enumerate() {
        let id = format!("call_{index}");
        let command = json!({"command": format!("printf '%s' '{before}{secret}' >> .env && cat .env")});
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": command.to_string()}});
        messages.push(
            json!({"role": "user", "content": format!("Use this {kind}: {before}{secret}\nand go on.")}),
        );
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let result = format!("error: the server refused it\nHOST=db.local\n{before}{secret}\n");
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        // What needs a name beside it, or has several lines, is in no file's name.
        let is_plain = before.is_empty() && !secret.contains(['\n', '"']);
        let place = if is_plain { secret.as_str() } else { "a-file" };
        let text =
            format!("I wrote /srv/keys/{place}.txt and fetched https://example.org/get?token={place}&page=2");
        messages.push(json!({"role": "assistant", "content": text}));
    }
    messages.push(json!({"role": "user", "content": "What is left to do?"}));
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

/// Returns the kinds of the secrets that `text` gives away.
fn shown(text: &str) -> Vec<&'static str> {
    let gives_away = |secret: &str| text.contains(tell(secret));
    kinds().filter(|(.., secret)| gives_away(secret)).map(|(kind, ..)| kind).collect()
}

#[test]
fn no_secret_is_in_anything_that_longhaul_writes() {
    let folder = Folder::new();
    let conversation = planted();
    assert_eq!(shown(&conversation).len(), KINDS.len(), "the search sees what is there");
    let input = folder.file("planted.json", conversation.as_bytes());
    let (input, report) = (input.to_str().unwrap(), folder.path().join("report.json"));
    let arguments =
        ["compact", input, "--budget", "4000", "--session", "work", "--report", report.to_str().unwrap()];
    let ran = folder.run(&arguments, b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let none: [&str; 0] = [];
    assert_eq!(shown(&ran.stderr), none, "what it says");
    assert_eq!(shown(&fs::read_to_string(&report).unwrap()), none, "the report");
    let history: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let ours = history["messages"].as_array().unwrap().iter();
    let ours: Vec<String> =
        ours.map(Value::to_string).filter(|message| message.contains("summary-depth:")).collect();
    assert_eq!(ours.len(), 1, "{history}");
    assert_eq!(shown(&ours[0]), none, "the summary");
    for arguments in [
        &["export", "work"][..],
        &["history", "work", "--full"],
        &["history", "work", "--full", "--json"],
        &["recall", "work", "m0-m500"],
        &["recall", "work", "refused", "-n", "500"],
        &["diff", "work"],
        &["diff", "work", "--json"],
        &["audit", "work", "--json"],
        &["audit", "work", "--verify", "--json"],
        &["sessions", "--json"],
        &["doctor", "--json"],
    ] {
        let ran = folder.run(arguments, b"");
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stdout.is_empty(), "{arguments:?}");
        assert_eq!(shown(&String::from_utf8_lossy(&ran.stdout)), none, "{arguments:?}");
        assert_eq!(shown(&ran.stderr), none, "{arguments:?}");
    }
    let mut files = 0;
    for entry in fs::read_dir(folder.path().join(".local/share/longhaul")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert_eq!(shown(&String::from_utf8_lossy(&bytes)), none, "the database, its log and its index");
        files += 1;
    }
    assert!(files > 0);
}

#[test]
fn what_is_said_of_a_conversion_or_a_fault_holds_no_secret() {
    let folder = Folder::new();
    let token = ["gh", "p_", "1A2b3C4d5E6f7G8h9I0jK1l2M3n4O5p6Q7r8"].concat();
    let call = serde_json::json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": token, "arguments": "{}"}}]},
        {"role": "user", "content": "go on"},
    ]);
    folder.file("call.json", &serde_json::to_vec(&call).unwrap());
    let args =
        ["compact", "call.json", "--from", "openai", "--to", "anthropic", "--budget", "9000", "--no-store"];
    let ran = folder.run(&args, b"");
    assert!(ran.stderr.contains("c1") && !ran.stderr.contains(&token), "{}", ran.stderr);
    for named in ["password: correct-Horse!battery", "mysql://root:swordfish@db/x"] {
        let said = serde_json::json!([{"role": named, "content": "x"}]);
        folder.file("role.json", &serde_json::to_vec(&said).unwrap());
        let ran = folder.run(&["count", "--from", "openai", "role.json"], b"");
        let secret = named.rsplit([' ', ':']).next().unwrap().split('@').next().unwrap();
        assert!(ran.code != 0 && !ran.stderr.contains(secret), "{}", ran.stderr);
    }
    // Wherever what is quoted is cut, no part of the token is told.
    for before in 0..60 {
        let said = format!("{} {token}", "x".repeat(before));
        let said = serde_json::json!([{"content": said}, {"role": "user", "content": "hi"}]);
        folder.file("cut.json", &serde_json::to_vec(&said).unwrap());
        let ran = folder.run(&["count", "--from", "openai", "cut.json"], b"");
        assert!(ran.code != 0 && !ran.stderr.contains(&token[..8]), "{}", ran.stderr);
    }
}

/// A session's name is kept and shown as it is, so that none may be a secret; what is wrong with it is said without it.
#[test]
fn a_session_is_not_called_like_a_secret() {
    let folder = Folder::new();
    folder.file("in.json", planted().as_bytes());
    let secret = kinds().find(|(kind, ..)| *kind == "github token").unwrap().2;
    let ran = folder.run(&["compact", "in.json", "--budget", "4000", "--session", &secret], b"");
    assert!(ran.code != 0 && ran.stderr.contains("looks like a secret"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(tell(&secret)), "{}", ran.stderr);
}

/// A goal is what the user types, perhaps with the password that it takes.
#[test]
fn a_password_in_a_goal_gets_nowhere() {
    for goal in
        ["log in with password Hunter2!x9 and go on", "the password is Hunter2!x9", "use --token Hunter2!x9"]
    {
        let folder = Folder::new();
        folder.file("in.json", planted().as_bytes());
        let args = ["compact", "in.json", "--budget", "4000", "--goal", goal, "--report", "report.json"];
        let ran = folder.run(&args, b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
        for told in [String::from_utf8_lossy(&ran.stdout).as_ref(), &ran.stderr, &report] {
            assert!(!told.contains("Hunter2"), "{goal}: {told}");
        }
    }
}

/// Gemini and OpenAI's old functions have no ids: a call and its result go together by the tool's name, which may be a secret.
#[test]
fn a_secret_as_the_name_of_a_tool_neither_stops_a_compaction_nor_gets_out() {
    let key = |nth: usize| kinds().filter(|(kind, ..)| kind.ends_with(" token")).nth(nth).unwrap().2;
    let (one, other) = (key(0), key(3));
    let output = "a line of the result\n".repeat(60);
    let (mut contents, mut messages) = (Vec::new(), Vec::new());
    for n in 0..4 {
        let asked = format!("Do step {n}. {}", "And more of it. ".repeat(40));
        let arguments = json!({ "x": "y ".repeat(300) });
        let response = |name: &str, output: &str| json!({"functionResponse": {"name": name, "response": {"output": output}}});
        contents.extend([
            json!({"role": "user", "parts": [{"text": asked}]}),
            json!({"role": "model", "parts": [
                {"functionCall": {"name": one, "args": arguments}},
                {"functionCall": {"name": other, "args": {}}},
                {"functionCall": {"name": one, "args": {}}},
            ]}),
            json!({"role": "user", "parts": [response(&one, &output), response(&other, "ok"), response(&one, &output)]}),
            json!({"role": "model", "parts": [{"text": "It is done. ".repeat(40)}]}),
        ]);
        messages.extend([
            json!({"role": "user", "content": asked}),
            json!({"role": "assistant", "content": null, "function_call": {"name": one, "arguments": arguments.to_string()}}),
            json!({"role": "function", "name": one, "content": output}),
            json!({"role": "assistant", "content": "It is done. ".repeat(40)}),
        ]);
    }
    for (format, history) in
        [("gemini", json!({ "contents": contents })), ("openai", json!({ "messages": messages }))]
    {
        let folder = Folder::new();
        folder.file("in", history.to_string().as_bytes());
        for budget in ["1100", "1600"] {
            let args = [
                "compact", "in", "--from", format, "--budget", budget, "--session", "work", "-o", "out",
                "--force",
            ];
            let ran = folder.run(&args, b"");
            assert_eq!(ran.code, 0, "{format} {budget}: {}", ran.stderr);
        }
        for args in [
            &["recall", "work", "m0-m20", "--json"][..],
            &["history", "work", "--full", "--json"],
            &["export", "work"],
            &["export", "work", "--to", "auto"],
            &["export", "work", "--to", "openai"],
        ] {
            let ran = folder.run(args, b"");
            assert_eq!(ran.code, 0, "{format} {args:?}: {}", ran.stderr);
            let said = String::from_utf8_lossy(&ran.stdout) + &*ran.stderr;
            assert!(
                ![&one, &other].iter().any(|secret| said.contains(tell(secret))),
                "{format} {args:?}: {said}"
            );
            assert!(!ran.stderr.contains("without a call"), "{format} {args:?}: {}", ran.stderr);
        }
        // What was exported is read, and is valid.
        folder.run(&["export", "work", "--to", "auto", "-o", "again"], b"");
        let ran = folder.run(&["count", "again", "--json"], b"");
        assert_eq!(ran.code, 0, "{format}: {}", ran.stderr);
    }
}
