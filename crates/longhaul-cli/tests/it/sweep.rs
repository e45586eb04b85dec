//! A sweep: secrets of every kind in every place of every format, and none of them in anything that longhaul keeps or says;
//! also after a conversion, an undo, a redo, an import, a search, a failure, nor in what `mcp` answers or hooks say and keep.
//! A backup beside a session is the session's own bytes, secrets and all: the user's file, which nothing else is put into.
//!
//! Each kind takes another place in each format. `LONGHAUL_SWEEP=1` has every kind in every place of every format.

use std::{fs, num::NonZero, path::Path, thread};

use longhaul::wire::Format;
use serde_json::{Value, json};

#[cfg(feature = "mcp")]
use crate::mcp::Client;
use crate::{
    kinds::{kinds, tell},
    run::Folder,
};

/// Where a secret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    User,
    System,
    Assistant,
    ToolName,
    Argument,
    ArgumentKey,
    NestedJson,
    Result,
    ResultJson,
    FileName,
    Url,
    UnknownField,
}

const PLACES: [Place; 12] = [
    Place::User,
    Place::System,
    Place::Assistant,
    Place::ToolName,
    Place::Argument,
    Place::ArgumentKey,
    Place::NestedJson,
    Place::Result,
    Place::ResultJson,
    Place::FileName,
    Place::Url,
    Place::UnknownField,
];

impl Place {
    /// Returns whether what stands here is one word that is not told by a name beside it.
    fn is_bare(self) -> bool {
        matches!(self, Place::ToolName | Place::ArgumentKey | Place::FileName | Place::Url)
    }
}

/// Returns a conversation with each kind in a place of its own, and what belongs into a field that nobody knows.
fn planted(turn: usize) -> (Value, String) {
    let (mut messages, mut system, mut unknown) =
        (Vec::new(), String::from("You are careful."), String::new());
    for (nth, (kind, before, secret)) in kinds().enumerate() {
        let mut place = PLACES[(nth + turn) % PLACES.len()];
        let is_word = before.is_empty()
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if place.is_bare() && !is_word {
            place = Place::User;
        }
        let told = format!("{before}{secret}");
        let at = |wanted: Place| if place == wanted { told.as_str() } else { "nothing" };
        match place {
            Place::System => system.push_str(&format!("\n{told}")),
            Place::UnknownField => unknown.push_str(&format!("{told}\n")),
            _ => {}
        }
        let name = if place == Place::ToolName { told.clone() } else { "bash".to_owned() };
        let inner = json!({ "config": at(Place::NestedJson) }).to_string();
        let mut arguments =
            json!({ "command": format!("echo {} > .env", at(Place::Argument)), "body": inner });
        arguments[at(Place::ArgumentKey)] = json!(1);
        let result = match place {
            Place::ResultJson => json!({ "ok": true, "value": told }).to_string(),
            _ => format!("error: refused\nHOST=db.local\n{}\n", at(Place::Result)),
        };
        let id = format!("call_{nth}");
        let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        let last = format!(
            "I wrote /srv/keys/{}.txt, fetched https://example.org/get?token={}&page=2 and noted {}.",
            at(Place::FileName),
            at(Place::Url),
            at(Place::Assistant)
        );
        messages.extend([
            json!({"role": "user", "content": format!("Use this {kind}: {}\nand go on.", at(Place::User))}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": result}),
            json!({"role": "assistant", "content": last}),
        ]);
    }
    messages.insert(0, json!({"role": "system", "content": system}));
    messages.push(json!({"role": "user", "content": "What is left to do?"}));
    (json!({ "model": "gpt-4o", "messages": messages }), unknown)
}

/// Puts a field that nobody knows beside the first thing that a user says.
fn with_unknown_field(history: &str, value: &str) -> String {
    fn put(found: &mut Value, value: &str) -> bool {
        let is_users =
            ["role", "from"].iter().any(|key| matches!(found[*key].as_str(), Some("user" | "human")));
        match found {
            Value::Object(fields) if is_users => fields.insert("x_note".into(), json!(value)).is_none(),
            Value::Object(fields) => fields.values_mut().any(|field| put(field, value)),
            Value::Array(elements) => elements.iter_mut().any(|element| put(element, value)),
            _ => false,
        }
    }
    if let Ok(mut whole) = serde_json::from_str::<Value>(history) {
        assert!(put(&mut whole, value));
        return whole.to_string();
    }
    let mut lines: Vec<Value> = history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter_mut().any(|line| put(line, value)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the kinds of the secrets that `text` gives away.
fn shown(text: &str) -> Vec<&'static str> {
    kinds().filter(|(.., secret)| text.contains(tell(secret))).map(|(kind, ..)| kind).collect()
}

/// Without its feature `mcp` answers nothing.
#[cfg(not(feature = "mcp"))]
fn asked_by_an_agent(_: &Folder) -> Vec<(String, String)> {
    Vec::new()
}

/// Returns what `mcp` answers about what is recorded and about the file `in`, and what it logs.
#[cfg(feature = "mcp")]
fn asked_by_an_agent(folder: &Folder) -> Vec<(String, String)> {
    let log = folder.path().join("mcp.log");
    let mut client = Client::logging(folder, fs::File::create(&log).unwrap().into());
    let recall = |query: String| {
        ("tools/call", json!({"name": "recall", "arguments": {"query": query, "session": "work"}}))
    };
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let read = |uri: &str| ("resources/read", json!({ "uri": uri }));
    let mut questions = vec![
        recall("refused".to_owned()),
        recall("nothing that anybody said".to_owned()),
        call("sessions", json!({})),
        call("context", json!({"session": "in"})),
        call("context", json!({"session": "work"})),
        call("compact", json!({"session": "in", "budget": 6000})),
        call("compact", json!({"session": "bad", "budget": 6000})),
        call("compact", json!({"session": "in", "budget": 6000, "output": "in"})),
        ("resources/list", json!({})),
        read("longhaul://summary/work/head"),
        read("longhaul://summary/work/none"),
    ];
    questions.extend((0..60).map(|nth| recall(format!("m{nth}"))));
    let answer = |(method, params): (&str, Value)| {
        let answer = client.ask(method, params.clone());
        (format!("{params}"), answer.to_string())
    };
    let mut answers: Vec<_> = questions.into_iter().map(answer).collect();
    assert_eq!(client.end(), Some(0));
    answers.push(("what it logs".to_owned(), fs::read_to_string(log).unwrap()));
    answers
}

/// Returns what hooks say when the session `in` is compacted, and when a tool answers with secrets. What the agent is handed of
/// the tool's output is the tool's, on its way to who asked for it; what is kept of it is not.
fn told_by_hooks(folder: &Folder) -> Vec<(String, String)> {
    let build: String =
        (0..2_000).map(|n| format!("   Compiling part-{n} v0.1.0 (/w/parts/{n})\n")).collect();
    let told: String = kinds().map(|(kind, before, secret)| format!("{kind}: {before}{secret}\n")).collect();
    let output = format!("{build}{told}test result: FAILED. 12 passed; 1 failed\n");
    let events = [
        json!({"hook_event_name": "PreCompact", "trigger": "auto"}),
        json!({"hook_event_name": "SessionStart", "source": "compact"}),
        json!({
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo test"},
            "tool_response": {"stdout": output, "stderr": "", "interrupted": false, "isImage": false},
        }),
    ];
    let told = |mut event: Value| {
        event["session_id"] = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa".into();
        event["transcript_path"] = folder.path().join("in").to_str().into();
        event["cwd"] = folder.path().to_str().into();
        let ran = folder.run(&["hook", "run"], event.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let own = if event["tool_name"].is_string() { "" } else { &String::from_utf8_lossy(&ran.stdout) };
        (event["hook_event_name"].to_string(), format!("{own}{}", ran.stderr))
    };
    let said = events.into_iter().map(told).collect();
    let kept = fs::read_dir(folder.path().join(".local/share/longhaul/outputs")).unwrap().count();
    assert_eq!(kept, 1, "the output is kept, and swept with the rest");
    said
}

/// Returns the files below a folder.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn sweep(format: &str, turn: usize) {
    let folder = Folder::new();
    let (conversation, unknown) = planted(turn);
    folder.file("openai.json", conversation.to_string().as_bytes());
    let none: [&str; 0] = [];
    let check = |sink: &str, text: &str| assert_eq!(shown(text), none, "{format} {turn}: {sink}");
    let run = |args: &[&str]| {
        let ran = folder.run(args, b"");
        check(&format!("what {args:?} says"), &ran.stderr);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    // What is said in the store, unpacked: its file holds it in frames.
    let unpacked = |stage: &str, store: &[&str]| {
        let sessions = folder.run(&[&["sessions", "--json"], store].concat(), b"").stdout;
        for session in String::from_utf8_lossy(&sessions).lines() {
            let session = serde_json::from_str::<Value>(session).unwrap();
            let Some(session) = session["session"].as_str() else { continue };
            let export = run(&[&["export", session], store].concat());
            assert!(export.len() > 10_000 || stage == "import", "{format}: {session} holds something");
            check(&format!("what the store holds after {stage}"), &export);
        }
    };
    let stored = |stage: &str, folder_of: &str| {
        let is_ours = |file: &&std::path::PathBuf| {
            folder_of != "." || file.file_name().unwrap().to_string_lossy().contains(".db")
        };
        for file in files_below(&folder.path().join(folder_of)).iter().filter(is_ours) {
            check(
                &format!("{} after {stage}", file.display()),
                &String::from_utf8_lossy(&fs::read(file).unwrap()),
            );
        }
    };
    run(&["compact", "openai.json", "--to", format, "--budget", "99999999", "--no-store", "-o", "plain"]);
    let plain = fs::read_to_string(folder.path().join("plain")).unwrap();
    let history = with_unknown_field(&plain, &unknown);
    assert!(shown(&history).len() > kinds().count() * 2 / 3, "{format}: the search sees what is there");
    folder.file("in", history.as_bytes());

    let compact =
        ["compact", "in", "--from", format, "--budget", "6000", "--session", "work", "--report", "report"];
    let out = run(&compact);
    let summary = &out[out.find("[Context Summary").unwrap()..out.rfind("summary-depth:").unwrap()];
    check("the summary", summary);
    check("the report", &fs::read_to_string(folder.path().join("report")).unwrap());
    stored("compact", ".local/share/longhaul");
    unpacked("compact", &[]);
    check("--dry-run", &run(&["compact", "in", "--from", format, "--budget", "5000", "--dry-run"]));
    for args in [
        &["undo", "work"][..],
        &["redo", "work", "--json"],
        &["history", "work", "--full"],
        &["history", "work", "--full", "--json"],
        &["recall", "work", "m0-m500"],
        &["recall", "work", "refused", "-n", "500", "--json"],
        &["diff", "work", "--json"],
        &["restore", "work", "m1-m9"],
        &["audit", "work", "--json"],
        &["sessions", "--json"],
        &["export", "work", "--to", "auto"],
        &["export", "work", "--to", "openai"],
        &["doctor", "--json"],
    ] {
        check(&format!("{args:?}"), &run(args));
    }
    run(&["export", "work", "-o", "exported"]);
    check("the export", &fs::read_to_string(folder.path().join("exported")).unwrap());
    run(&["import", "exported", "--store", "other.db"]);
    stored("import", ".");
    unpacked("import", &["--store", "other.db"]);
    stored("undo, redo and restore", ".local/share/longhaul");

    // Where something fails, what it failed on is not said.
    let cut = &history[..history.floor_char_boundary(history.len() * 2 / 3)];
    for (what, bytes) in [("a history that is cut off", cut), ("a history as an export", &history)] {
        folder.file("bad", bytes.as_bytes());
        let args = if what.ends_with("export") {
            &["import", "bad"][..]
        } else {
            &["count", "bad", "--from", format]
        };
        check(what, &folder.run(args, b"").stderr);
    }
    for (what, text) in asked_by_an_agent(&folder).into_iter().chain(told_by_hooks(&folder)) {
        check(&what, &text);
    }
    stored("mcp and hooks", ".local/share/longhaul");
    unpacked("mcp and hooks", &[]);

    // Compacted in place: what lies beside it is what the user had, and the store has none of it.
    let into: &[&str] = match format {
        "claude-code" | "codex" => &["--in-place"],
        _ => &["-o", "in", "--force"],
    };
    run(&[&["compact", "in", "--from", format, "--budget", "6000", "--session", "own"], into].concat());
    assert!(fs::read(folder.path().join("in.bak")).unwrap() == history.as_bytes(), "{format}: the backup");
    stored("compact --in-place", ".local/share/longhaul");

    let (.., secret) = kinds().next().unwrap();
    let forget = folder.run(&["forget", "work", "--matching", "-"], secret.as_bytes());
    check("what forget says", &forget.stderr);
}

#[test]
fn no_format_gives_a_secret_away() {
    let is_all = std::env::var_os("LONGHAUL_SWEEP").is_some();
    let written = Format::ALL.into_iter().filter(|format| !format.is_import_only());
    let turns = |nth: usize| if is_all { 0..PLACES.len() } else { nth..nth + 1 };
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    let all: Vec<(usize, Format)> = written.enumerate().collect();
    for some in all.chunks(at_once) {
        thread::scope(|scope| {
            for &(nth, format) in some {
                scope.spawn(move || turns(nth % PLACES.len()).for_each(|turn| sweep(format.name(), turn)));
            }
        });
    }
}
