//! Sessions of agents that are only read: found, shown, counted and compacted, and told what of them is left out.
//!
//! Those in `tests/data/agents` are made up, after the public sources that `docs/agents.md` names: one story, told as each agent
//! keeps it, with a secret in what a command printed and a control character in what was asked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::run::{Folder, Ran};

const SECRET: &str = "ghp_Zk3Vb8Qw1Ls6Xt0Rm9Yc2Hf7Np4Jd5Ga3Uo1";

/// A session, and what is expected of it.
struct Session {
    /// The agent's name, its format's, and that of what comes out.
    agent: &'static str,
    format: &'static str,
    written_as: &'static str,
    /// What `sessions` prints for it, and the whole id that its file names.
    short: &'static str,
    id: &'static str,
    model: Option<&'static str>,
    window: u64,
    billed: Option<u64>,
    /// What is told as left out.
    losses: &'static [&'static str],
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/agents").join(name)
}

/// Copies a made-up session to where its agent keeps such, and returns that.
fn put(folder: &Folder, name: &str, to: &str) -> PathBuf {
    let to = folder.path().join(to);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(data(name), &to).unwrap();
    to
}

/// Checks all that somebody may want of the one session in `folder`.
fn check(folder: &Folder, session: &Session) {
    let listed = folder.run(&["sessions"], b"");
    let row = format!("  {}  {:<11}     just now", session.short, session.agent);
    let shown = text(&listed);
    let found = shown.lines().find(|line| line.starts_with(&row)).unwrap_or_default();
    assert!(found.contains(session.model.unwrap_or_default()), "{shown}");
    assert!(text(&listed).contains("/w/relay\n"), "{}", text(&listed));
    assert!(text(&listed).contains(&row), "{row:?}\n{}", text(&listed));
    assert!(text(&listed).contains("Mend the \\u{1b}[31mfla"), "{}", text(&listed));
    let listed = text(&folder.run(&["sessions", "--json"], b""));
    let json: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let field = |name: &str| json[name].clone();
    assert_eq!(field("agent"), session.format);
    assert_eq!(field("folder"), "/w/relay");
    assert_eq!(field("title"), "Mend the \u{1b}[31mflaky retry in relay/src/retry.rs.");
    assert_eq!(field("model"), session.model.map_or(Value::Null, Value::from));
    assert_eq!(field("window"), session.window);
    assert_eq!(field("billed_tokens"), session.billed.map_or(Value::Null, Value::from));

    for name in [session.short, session.id, "retry in relay"] {
        for command in ["context", "count"] {
            let ran = folder.run(&[command, name, "--json"], b"");
            assert_eq!(ran.code, 0, "{command} {name}: {}", ran.stderr);
            let seen: Value = serde_json::from_slice(&ran.stdout).unwrap();
            assert_eq!(seen["format"], session.format);
        }
    }
    let context = folder.run(&["context", session.short, "--window", "2000"], b"");
    let shown = text(&context);
    // Where more was billed than the window holds, the messages are the lesser part.
    let foretold = match session.billed {
        Some(_) => "compacting the messages does not bring it to the target",
        None => "compacted now it would go from",
    };
    for whole in ["tool calls", "tool results", "read_file relay/src/retry.rs", foretold] {
        assert!(shown.contains(whole), "{whole}: {shown}");
    }

    let path = json["path"].as_str().unwrap();
    let before = fs::read(path).ok();
    // So little that the result with the secret is summarized: messages that are kept go out as they are.
    let ran = folder.run(&["compact", session.short, "--budget", "800", "-o", "out.json", "--force"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let only_read = format!(
        "a history of {} is only read: what comes out is written as {}",
        session.format, session.written_as
    );
    assert!(ran.said().contains(&only_read), "{}", ran.stderr);
    for loss in session.losses {
        assert!(ran.said().contains(loss), "{loss}: {}", ran.stderr);
    }
    assert!(ran.said().contains(&format!("valid for {}", session.written_as)), "{}", ran.stderr);
    let out = fs::read_to_string(folder.path().join("out.json")).unwrap();
    assert!(out.contains("Never touch relay/Cargo.toml") && !out.contains(SECRET), "{out}");
    assert!(!ran.stderr.contains('\u{1b}'));
    let again = folder.run(&["count", "out.json", "--json"], b"");
    let counted: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(counted["format"], session.written_as, "{}", again.stderr);
    assert!(counted["tokens"].as_u64().unwrap() <= 800);

    // Recorded under the id that the agent knows it by, with all that was said.
    for name in [session.short, session.id] {
        let history = folder.run(&["history", name], b"");
        assert_eq!(history.code, 0, "{}", history.stderr);
    }
    let recalled = folder.run(&["recall", session.short, "case_7"], b"");
    assert!(
        text(&recalled).contains("case_8 ... ok") && !text(&recalled).contains(SECRET),
        "{}",
        recalled.stderr
    );

    for (flag, words) in [
        (
            "--in-place",
            "sessions are only read: how that agent writes a compaction of its own was not seen in a recording",
        ),
        ("--as-new-session", "is no session file of Claude Code or Codex; name a new file with -o"),
    ] {
        let refused = folder.run(&["compact", session.short, "--budget", "1100", flag], b"");
        assert_eq!(refused.code, 4, "{}", refused.stderr);
        assert!(refused.said().contains(words), "{}", refused.stderr);
    }
    assert_eq!(fs::read(path).ok(), before, "the agent's file is the agent's");
}

/// Returns what is said of a session that is damaged like this.
fn refused(folder: &Folder, path: &Path, damaged: &str) -> String {
    fs::write(path, damaged).unwrap();
    let ran = folder.run(&["compact", path.to_str().unwrap(), "--budget", "900", "-o", "damaged.json"], b"");
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(!folder.path().join("damaged.json").exists());
    ran.said()
}

const GEMINI: Session = Session {
    agent: "Gemini CLI",
    format: "gemini-cli",
    written_as: "gemini",
    short: "7a1c0d52",
    id: "7a1c0d52-3f0e-4b6a-9a53-1f4c81b0e6aa",
    model: Some("gemini-2.5-pro"),
    window: 1_048_576,
    billed: Some(11_052),
    losses: &[
        "1 x command to the agent left out",
        "1 x message of type info left out",
        "1 x line that is no record of this agent's left out",
        "1 x reasoning left out",
    ],
};

#[test]
fn gemini_cli() {
    let folder = Folder::new();
    let chats = ".gemini/tmp/relay/chats";
    let path = put(&folder, "gemini-cli.jsonl", &format!("{chats}/session-2026-01-02T10-00-7a1c0d52.jsonl"));
    fs::write(folder.path().join(".gemini/tmp/relay/.project_root"), "/w/relay").unwrap();
    // Neither what a sub-agent did is a session nor what stands beside them.
    put(&folder, "gemini-cli.jsonl", &format!("{chats}/7a1c0d52-3f0e-4b6a-9a53-1f4c81b0e6aa/aa.jsonl"));
    fs::write(folder.path().join(".gemini/tmp/relay/logs.json"), "[]").unwrap();
    let sub_agent = r#"{"sessionId":"b","projectHash":"c","kind":"subagent"}"#;
    fs::write(folder.path().join(format!("{chats}/session-2026-01-02T11-00-bbbbbbbb.jsonl")), sub_agent)
        .unwrap();
    // The first bytes that are read may end within a letter.
    for shift in ["", " ", "  "] {
        let asked =
            format!(r#"{sub_agent}{shift}{{"type":"user","content":"{}"}}"#, "请先读文件".repeat(200));
        let name = format!("{chats}/session-2026-01-02T12-0{}-cccccccc.jsonl", shift.len());
        fs::write(folder.path().join(name), asked.replacen('}', "}\n", 1)).unwrap();
    }
    check(&folder, &GEMINI);

    let said =
        refused(&folder, &path, "{\"sessionId\":\"a\",\"projectHash\":\"b\",\"messages\":[{\"id\":\"1\"}]}");
    assert!(said.contains("messages[0]: found {\"id\":\"1\"}; expected a message with its type"), "{said}");
    let said = refused(&folder, &path, "{\"sessionId\":\"a\",\"projectHash\":\"b\",\"messages\":[");
    assert!(said.contains("byte 47: EOF while parsing a list"), "{said}");
}

/// An agent takes what lies among its sessions for one of them.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_written_among_sessions_that_are_only_read() {
    let folder = Folder::new();
    let chats = ".gemini/tmp/relay/chats";
    put(&folder, "gemini-cli.jsonl", &format!("{chats}/session-2026-01-02T10-00-7a1c0d52.jsonl"));
    let file = format!("{chats}/session-2026-01-02T10-00-7a1c0d52.jsonl");
    let args = ["compact", &file, "--budget", "800", "--no-store"];
    let Some(terminal) = crate::terminal::Terminal::start(&folder, &args) else { return };
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let here = "session-2026-01-02T10-00-7a1c0d52.compacted.jsonl";
    assert!(folder.path().join(here).is_file(), "{shown}");
    assert_eq!(fs::read_dir(folder.path().join(chats)).unwrap().count(), 1);
}

/// Older versions keep one object, below the hash of the project's folder.
#[test]
fn gemini_cli_as_it_was() {
    let folder = Folder::new();
    let lines = fs::read_to_string(data("gemini-cli.jsonl")).unwrap();
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut whole = records[0].clone();
    let last_of = |at: usize| !records[at + 1..].iter().any(|later| later["id"] == records[at]["id"]);
    let messages = (0..records.len()).filter(|at| records[*at]["id"].is_string() && last_of(*at));
    whole["messages"] = messages.map(|at| records[at].clone()).collect();
    // Where it is large, what was asked stands in its beginning all the same.
    let mut long = whole["messages"].as_array().unwrap().last().unwrap().clone();
    (long["id"], long["content"]) = ("long".into(), "x ".repeat(600_000).into());
    whole["messages"].as_array_mut().unwrap().push(long);
    let here = fs::canonicalize(folder.path()).unwrap();
    let hash = longhaul_hash(here.to_str().unwrap());
    let name = format!(".gemini/tmp/{hash}/chats/session-2026-01-02T10-00-7a1c0d52.json");
    let path = put(&folder, "gemini-cli.jsonl", &name);
    fs::write(&path, serde_json::to_string_pretty(&whole).unwrap()).unwrap();
    let ran = folder.run(&["context", "retry in relay", "--json"], b"");
    assert!(ran.stderr.contains("7a1c0d52  Gemini CLI, just now: Mend the"), "{}", ran.stderr);
    let seen: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&seen["messages"], &seen["billed"]), (&15.into(), &11_052.into()));
    let json: Value = serde_json::from_slice(&folder.run(&["sessions", "--json"], b"").stdout).unwrap();
    assert_eq!(json["folder"], here.to_str().unwrap());
    // Taken up by a newer version it is copied, and is one session still.
    put(&folder, "gemini-cli.jsonl", &name.replace(".json", ".jsonl"));
    assert_eq!(text(&folder.run(&["sessions", "--json"], b"")).lines().count(), 1);
}

fn longhaul_hash(text: &str) -> String {
    longhaul::transcript::ContentHash::of(text.as_bytes()).to_string()
}

const CLINE: Session = Session {
    agent: "Cline",
    format: "cline",
    written_as: "anthropic",
    short: "53680585",
    id: "1769053680585",
    model: Some("claude-sonnet-4-5"),
    window: 200_000,
    billed: Some(11_060),
    losses: &["what the file holds beside what was said is left out", "1 x reasoning left out"],
};

#[test]
fn cline() {
    let file = "1769053680585/api_conversation_history.json";
    let storage = ".config/VSCodium/User/globalStorage";
    for place in [&format!("{storage}/saoudrizwan.claude-dev/tasks"), ".cline/data/tasks"] {
        let folder = Folder::new();
        let path = put(&folder, "cline.json", &format!("{place}/{file}"));
        fs::write(path.with_file_name("ui_messages.json"), "[]").unwrap();
        check(&folder, &CLINE);
        let said =
            refused(&folder, &path, r#"[{"role":"user","content":"a"},{"role":"user","content":[1]}]"#);
        assert!(said.contains("message 1.content[0]: found 1; expected a block"), "{said}");
        let said = refused(&folder, &path, r#"{"role":"user"}"#);
        assert!(said.contains("expected a task of Cline: an array of messages"), "{said}");
    }
    // Its kin, and folders that were moved.
    let folder = Folder::new();
    put(&folder, "cline.json", &format!("{storage}/rooveterinaryinc.roo-cline/tasks/{file}"));
    check(&folder, &Session { agent: "Roo Code", ..CLINE });
    put(&folder, "cline.json", &format!("moved/tasks/{file}"));
    let moved = folder.path().join("moved");
    let ran = folder.run_with(
        &[("CLINE_DATA_DIR", moved.to_str().unwrap())],
        &["sessions", "--json", "-n", "9"],
        b"",
    );
    assert_eq!(text(&ran).matches("\"kind\":\"file\"").count(), 2, "{}", text(&ran));
}

const COPILOT: Session = Session {
    agent: "Copilot CLI",
    format: "copilot",
    written_as: "openai",
    short: "7a1c0d52",
    id: "7a1c0d52-3f0e-4b6a-9a53-1f4c81b0e6aa",
    model: Some("claude-sonnet-4.5"),
    window: 200_000,
    billed: None,
    losses: &[
        "16 x event that says nothing to the model left out",
        "1 x event of type \"telemetry.of_next_month\" left out",
        "1 x reasoning left out",
    ],
};

#[test]
fn copilot_cli() {
    let id = COPILOT.id;
    for name in [format!("{id}/events.jsonl"), format!("{id}.jsonl")] {
        let folder = Folder::new();
        let path = put(&folder, "copilot.jsonl", &format!(".copilot/session-state/{name}"));
        // What stands beside the events is no session.
        put(&folder, "copilot.jsonl", &format!(".copilot/session-state/{id}/files/events.jsonl"));
        put(&folder, "copilot.jsonl", &format!(".copilot/session-state/{id}/other.jsonl"));
        check(&folder, &COPILOT);
        let said = refused(&folder, &path, "{\"type\":\"session.start\",\"data\":");
        assert!(said.contains("line 1, byte 31"), "{said}");
    }
    let folder = Folder::new();
    let path = put(&folder, "copilot.jsonl", &format!("moved/session-state/{id}/events.jsonl"));
    let moved = folder.path().join("moved");
    let ran = folder.run_with(&[("COPILOT_HOME", moved.to_str().unwrap())], &["context", "7a1c"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // A line that is damaged is told, and the others are read.
    let lines = fs::read_to_string(&path).unwrap();
    fs::write(&path, lines.replacen("\"type\": \"session.info\"", "\"type\": ", 1)).unwrap();
    let ran = folder.run(&["count", path.to_str().unwrap()], b"");
    assert!(ran.code == 0 && ran.said().contains("line 2, byte 9"), "{}", ran.stderr);
}

const OPENCODE: Session = Session {
    agent: "opencode",
    format: "opencode",
    written_as: "openai",
    short: "NeI7BWy6",
    id: "ses_469cf929cffeBICghRNeI7BWy6",
    model: Some("claude-sonnet-4-5"),
    window: 200_000,
    billed: Some(11_168),
    losses: &[
        "7 x part that says nothing to the model left out",
        "1 x block of type \"of-next-month\" left out",
        "1 x reasoning left out",
    ],
};

/// Returns the made-up session of opencode, changed just now.
fn opencode() -> Value {
    let mut session: Value = serde_json::from_slice(&fs::read(data("opencode.json")).unwrap()).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    session["info"]["time"]["updated"] = (now.as_millis() as u64).into();
    session
}

/// Puts a session into files as older versions keep it, below `data`.
fn in_files(folder: &Folder, data: &str, session: &Value) -> PathBuf {
    let put = |name: String, value: &Value| {
        let path = folder.path().join(data).join("opencode/storage").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, serde_json::to_string_pretty(value).unwrap()).unwrap();
        path
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let id = text(&session["info"]["id"]);
    for message in session["messages"].as_array().unwrap() {
        let of = text(&message["info"]["id"]);
        put(format!("message/{id}/{of}.json"), &message["info"]);
        for part in message["parts"].as_array().unwrap() {
            put(format!("part/{of}/{}.json", text(&part["id"])), part);
        }
    }
    put(format!("session/a1b2c3/{id}.json"), &session["info"])
}

#[test]
fn opencode_in_files() {
    let folder = Folder::new();
    let session = opencode();
    let path = in_files(&folder, ".local/share", &session);
    // What a sub-agent did is no session.
    let mut other = session.clone();
    (other["info"]["id"], other["info"]["parentID"]) = ("ses_other".into(), OPENCODE.id.into());
    in_files(&folder, ".local/share", &other);
    check(&folder, &OPENCODE);

    // What `opencode export` writes is the same session.
    let exported = folder.run(&["count", "-", "--json"], session.to_string().as_bytes());
    let counted: Value = serde_json::from_slice(&exported.stdout).unwrap();
    let found = folder.run(&["count", OPENCODE.short, "--json"], b"");
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    for kind in ["tool_call", "tool_result", "text", "reasoning"] {
        assert_eq!(counted["by_kind"][kind], found["by_kind"][kind], "{kind}");
    }

    let part = path.ancestors().nth(3).unwrap().join("part/msg_b90001/prt_b90004.json");
    fs::write(&part, "{\"type\":").unwrap();
    let ran = folder.run(&["count", OPENCODE.short], b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.said().contains("part/msg_b90001/prt_b90004.json: expected one JSON object"),
        "{}",
        ran.stderr
    );
    let said = refused(&folder, &path, "[]");
    assert!(said.contains("BWy6.json: expected one JSON object"), "{said}");

    let folder = Folder::new();
    in_files(&folder, "moved", &session);
    let moved = folder.path().join("moved");
    let ran = folder.run_with(&[("XDG_DATA_HOME", moved.to_str().unwrap())], &["context", "NeI7BWy6"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[cfg(feature = "sqlite")]
#[test]
fn opencode_in_a_database() {
    let folder = Folder::new();
    let session = opencode();
    let file = folder.path().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let database = rusqlite::Connection::open(&file).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
                 title text NOT NULL, revert text, time_created integer, time_updated integer);
             CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
             CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
                 time_updated integer, data text);",
        )
        .unwrap();
    let updated = session["info"]["time"]["updated"].as_i64().unwrap();
    let add = "INSERT INTO session VALUES (?1, 'a1b2c3', ?2, '/w/relay', 'Mending a retry', NULL, 1, ?3)";
    database.execute(add, (OPENCODE.id, None::<String>, updated)).unwrap();
    database.execute(add, ("ses_other", Some(OPENCODE.id), updated)).unwrap();
    for message in session["messages"].as_array().unwrap() {
        let mut info = message["info"].clone();
        let created = info["time"]["created"].as_i64();
        let of = info["id"].as_str().unwrap().to_owned();
        info.as_object_mut().unwrap().retain(|key, _| !["id", "sessionID"].contains(&&**key));
        let add = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        database.execute(add, (&of, OPENCODE.id, created, info.to_string())).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let mut part = part.clone();
            let id = part["id"].as_str().unwrap().to_owned();
            part.as_object_mut()
                .unwrap()
                .retain(|key, _| !["id", "sessionID", "messageID"].contains(&&**key));
            let add = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            database.execute(add, (id, &of, OPENCODE.id, created, part.to_string())).unwrap();
        }
    }
    // The agent is running, and has not yet put into the database what its log holds. Its files of older times stand there still.
    in_files(&folder, ".local/share", &session);
    check(&folder, &OPENCODE);
    drop(database);
    let names = || {
        let entries = fs::read_dir(file.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (before, bytes) = (names(), fs::read(&file).unwrap());
    assert_eq!(before, ["opencode.db", "storage"]);
    check(&folder, &OPENCODE);
    assert_eq!((names(), fs::read(&file).unwrap()), (before, bytes), "nothing is written beside it");

    let named = |id: &str| folder.run(&["count", file.join(id).to_str().unwrap()], b"");
    assert_eq!(named(OPENCODE.id).code, 0);
    assert!(
        named("ses_none").said().contains("there is no session ses_none in it"),
        "{}",
        named("ses_none").stderr
    );
    let database = rusqlite::Connection::open(&file).unwrap();
    database.execute("UPDATE part SET data = '{' WHERE id = 'prt_b90004'", ()).unwrap();
    let ran = named(OPENCODE.id);
    assert!(
        ran.code != 0 && ran.said().contains("part prt_b90004: expected one JSON object"),
        "{}",
        ran.stderr
    );
    database.execute_batch("DROP TABLE part").unwrap();
    assert!(named(OPENCODE.id).said().contains("no such table: part"), "{}", named(OPENCODE.id).stderr);
}
