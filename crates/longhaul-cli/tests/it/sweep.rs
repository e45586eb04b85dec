//! A sweep: secrets of every kind in every place of every format, and none of them in anything that longhaul keeps or says;
//! also after a conversion, an undo, a redo, an import, a search, a failure.
//!
//! Each kind takes another place in each format. `LONGHAUL_SWEEP=1` has every kind in every place of every format.

use std::fs;

use serde_json::{Value, json};

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
        let files = fs::read_dir(folder.path().join(folder_of)).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| file.file_name().unwrap().to_string_lossy().contains(".db")) {
            check(
                &format!("{} after {stage}", file.display()),
                &String::from_utf8_lossy(&fs::read(&file).unwrap()),
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
    let (.., secret) = kinds().next().unwrap();
    let forget = folder.run(&["forget", "work", "--matching", "-"], secret.as_bytes());
    check("what forget says", &forget.stderr);
}

fn sweep_all(nth: usize, format: &str) {
    let turns = if std::env::var_os("LONGHAUL_SWEEP").is_some() { 0..PLACES.len() } else { nth..nth + 1 };
    turns.for_each(|turn| sweep(format, turn));
}

#[test]
fn openai_gives_no_secret_away() {
    sweep_all(0, "openai");
}

#[test]
fn anthropic_gives_no_secret_away() {
    sweep_all(1, "anthropic");
}

#[test]
fn responses_gives_no_secret_away() {
    sweep_all(2, "responses");
}

#[test]
fn gemini_gives_no_secret_away() {
    sweep_all(3, "gemini");
}

#[test]
fn claude_code_gives_no_secret_away() {
    sweep_all(4, "claude-code");
}

#[test]
fn codex_gives_no_secret_away() {
    sweep_all(5, "codex");
}

#[test]
fn chat_gives_no_secret_away() {
    sweep_all(6, "chat");
}

#[test]
fn longhaul_gives_no_secret_away() {
    sweep_all(7, "longhaul");
}

#[test]
fn ui_messages_give_no_secret_away() {
    sweep_all(8, "ui-messages");
}
