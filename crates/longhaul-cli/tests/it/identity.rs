//! Conversations that begin alike stay apart: a store with many of them, forks of them, and each compacted several
//! times. A word that only one of them knows stands in no other.

use serde_json::{Value, json};

use crate::run::{Folder, Ran};

/// A form that a history is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    OpenAi,
    Anthropic,
    Responses,
    Gemini,
    /// With a session's id in the file.
    ClaudeCode,
    /// With a session's id in the file.
    Codex,
}

/// What everybody begins with: instructions, a greeting, the same answers, and the same second question.
const OPENING: [(&str, &str); 5] = [
    ("user", "Hello, I need help with my account."),
    ("assistant", "Of course. What is it about?"),
    ("user", "It is about a payment, and I have a rule for you: never write to anybody else about it."),
    ("assistant", "Understood. Tell me more."),
    ("user", "Here is what I know."),
];

impl Form {
    /// Returns a history in which nothing was said. `id` is written where the form has a place for one.
    fn begun(self, id: &str) -> String {
        match self {
            Form::OpenAi => json!({ "messages": [{ "role": "system", "content": "Be brief." }] }).to_string(),
            Form::Anthropic => {
                json!({ "model": "m", "max_tokens": 9, "system": "Be brief.", "messages": [] }).to_string()
            }
            Form::Responses => json!({ "instructions": "Be brief.", "input": [] }).to_string(),
            Form::Gemini => {
                let system = json!({ "parts": [{ "text": "Be brief." }] });
                json!({ "systemInstruction": system, "contents": [] }).to_string()
            }
            Form::ClaudeCode => String::new(),
            Form::Codex => {
                let payload = json!({ "id": id, "timestamp": "2026-01-01T00:00:00Z", "originator": "x" });
                format!(
                    "{}\n",
                    json!({ "timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": payload })
                )
            }
        }
    }

    /// Returns `history` with one message more.
    fn grown(self, history: &str, id: &str, role: &str, text: &str) -> String {
        let push = |list: &str, message: Value| {
            let mut body: Value = serde_json::from_str(history).unwrap();
            body[list].as_array_mut().unwrap().push(message);
            body.to_string()
        };
        match self {
            Form::OpenAi | Form::Anthropic => push("messages", json!({ "role": role, "content": text })),
            Form::Responses => push("input", json!({ "role": role, "content": text })),
            Form::Gemini => {
                let role = if role == "user" { "user" } else { "model" };
                push("contents", json!({ "role": role, "parts": [{ "text": text }] }))
            }
            Form::ClaudeCode => {
                let lines: Vec<Value> =
                    history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                let parent = lines.iter().rev().find_map(|line| line.get("uuid")).cloned();
                let content = match role {
                    "user" => json!(text),
                    _ => json!([{ "type": "text", "text": text }]),
                };
                let line = json!({
                    "parentUuid": parent, "isSidechain": false, "sessionId": id, "type": role,
                    "message": { "role": role, "content": content },
                    "uuid": format!("{id}-{}-{text}", history.len()), "timestamp": "2026-01-01T00:00:00Z",
                });
                format!("{history}{line}\n")
            }
            Form::Codex => {
                let kind = if role == "user" { "input_text" } else { "output_text" };
                let content = json!([{ "type": kind, "text": text }]);
                let payload = json!({ "type": "message", "role": role, "content": content });
                let line = json!({ "timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload });
                format!("{history}{line}\n")
            }
        }
    }
}

/// Adds a round in which only this conversation's canary is spoken of.
fn round(form: Form, history: &str, id: &str, canary: &str) -> String {
    let filler =
        "We looked at the ledger, compared the entries one by one and found nothing that would explain it. ";
    let said = [
        ("assistant", format!("I noted {canary}. {}", filler.repeat(10))),
        ("user", format!("Always keep {canary} apart from the rest. {}", filler.repeat(20))),
        ("assistant", format!("Done: {canary} is in src/{canary}.rs now. {}", filler.repeat(20))),
        ("user", format!("Now go on with {canary}.")),
    ];
    said.iter().fold(history.to_owned(), |history, (role, text)| form.grown(&history, id, role, text))
}

fn opened(form: Form, id: &str) -> String {
    OPENING.iter().fold(form.begun(id), |history, (role, text)| form.grown(&history, id, role, text))
}

/// Compacts `history` with the store in the folder `store`: with its path on the command line, a summary would say that.
fn compact(folder: &Folder, history: &str, store: &str) -> Ran {
    let data = folder.path().join(store);
    let variables = [("XDG_DATA_HOME", data.to_str().unwrap())];
    let ran = folder.run_with(&variables, &["compact", "-", "--budget", "900", "--json"], history.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

/// Returns the session that a compaction was recorded in.
fn session(ran: &Ran) -> String {
    let report: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    report["recorded"]["session"].as_str().unwrap_or_else(|| panic!("{}", ran.stderr)).to_owned()
}

fn check(form: Form) {
    let folder = Folder::new();
    let names = ["david", "bobby", "carla"];
    let canary = |name: &str, round: usize| format!("canary_{name}_{round}");
    let mut histories: Vec<String> = names.iter().map(|name| opened(form, name)).collect();
    let mut sessions: Vec<String> = vec![String::new(); names.len()];
    for n in 0..3 {
        for (at, name) in names.iter().enumerate() {
            let grown = round(form, &histories[at], name, &canary(name, n));
            let ran = compact(&folder, &grown, "crowded");
            let alone = compact(&folder, &grown, name);
            histories[at] = text(&ran);
            assert_eq!(histories[at], text(&alone), "{form:?}: what else is stored makes no difference");
            for other in names.iter().filter(|other| *other != name) {
                assert!(
                    !histories[at].contains(&format!("canary_{other}")),
                    "{form:?} {name} {n}: {}",
                    histories[at]
                );
            }
            assert!(n == 0 || sessions[at] == session(&ran), "{form:?}: one session: {}", ran.stderr);
            sessions[at] = session(&ran);
        }
    }
    // Two continuations of one compacted history know nothing of each other.
    let forks: Vec<(Ran, Ran)> = ["left", "right"]
        .iter()
        .map(|name| {
            let grown = round(form, &histories[0], "david", &canary(name, 0));
            let first = compact(&folder, &grown, "crowded");
            let grown = round(form, &text(&first), "david", &canary(name, 1));
            let second = compact(&folder, &grown, "crowded");
            (first, second)
        })
        .collect();
    let told = |ran: &Ran| ran.stderr.contains("another conversation than the stored");
    let [(left, left_again), (right, right_again)] = &forks[..] else { panic!("{forks:?}") };
    assert!(!told(left) && !told(left_again) && !told(right_again), "{forks:?}");
    assert!(told(right), "{form:?}: the second is a branch: {}", right.stderr);
    assert_eq!(session(left_again), sessions[0]);
    assert_eq!(session(right), session(right_again));
    assert_ne!(session(right), session(left));
    for (ran, other) in [(left_again, "canary_right"), (right_again, "canary_left"), (right, "canary_left")] {
        assert!(!text(ran).contains(other), "{form:?}: {}", text(ran));
        let held =
            folder.run(&["history", &session(ran), "--full", "--store", "crowded/longhaul/store.db"], b"");
        assert!(!String::from_utf8_lossy(&held.stdout).contains(other), "{form:?}");
        // What both come from stands in both.
        assert!(String::from_utf8_lossy(&held.stdout).contains("canary_david_0"), "{form:?}");
    }
    let verified = folder.run(&["audit", "--verify", "--store", "crowded/longhaul/store.db"], b"");
    assert_eq!(verified.code, 0, "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn openai_conversations_stay_apart() {
    check(Form::OpenAi);
}

#[test]
fn anthropic_conversations_stay_apart() {
    check(Form::Anthropic);
}

#[test]
fn responses_conversations_stay_apart() {
    check(Form::Responses);
}

#[test]
fn gemini_conversations_stay_apart() {
    check(Form::Gemini);
}

#[test]
fn claude_code_conversations_stay_apart() {
    check(Form::ClaudeCode);
}

#[test]
fn codex_conversations_stay_apart() {
    check(Form::Codex);
}

#[test]
fn a_name_does_not_take_the_place_of_another_conversation() {
    let folder = Folder::new();
    let history = |canary| round(Form::OpenAi, &opened(Form::OpenAi, ""), "", canary);
    let run = |args: &[&str], input: &str| {
        folder.run(&[args, &["--store", "s/longhaul/store.db"]].concat(), input.as_bytes())
    };
    let victim = session(&compact(&folder, &history("canary_david"), "s"));
    let is_davids = || {
        let held = text(&run(&["history", &victim, "--full"], ""));
        assert!(held.contains("canary_david") && !held.contains("canary_bobby"), "{held}");
    };
    let bobby = history("canary_bobby");
    let ran = run(&["compact", "-", "--budget", "900", "--session", &victim], &bobby);
    assert!(ran.said().contains("is the id of another conversation"), "{}", ran.stderr);
    is_davids();
    // An export says which names its session has, and no hash says that it does.
    let own = session(&compact(&folder, &bobby, "other"));
    let export = text(&folder.run(&["export", &own, "--store", "other/longhaul/store.db"], b""));
    let forged = export.replacen("\"aliases\":[]", &format!("\"aliases\":[{victim:?}]"), 1);
    assert_ne!(forged, export);
    folder.file("forged.jsonl", forged.as_bytes());
    assert_eq!(run(&["import", "forged.jsonl"], "").code, 0);
    is_davids();
    // Nor is the beginning of its id, which people type, taken for another's name unsaid.
    let part = &victim[..9];
    let forged = export.replacen("\"aliases\":[]", &format!("\"aliases\":[{part:?}]"), 1);
    folder.file("forged.jsonl", forged.as_bytes());
    let ran = run(&["import", "forged.jsonl"], "");
    assert!(
        ran.code == 0 && ran.said().contains(&format!("{part} is a name of {own} now")),
        "{}",
        ran.stderr
    );
    let ran = run(&["history", part], "");
    assert!(ran.said().contains(&format!("a part of the id {victim}, too")), "{}", ran.stderr);
    let ran = run(&["forget", part, "--all", "--yes"], "");
    assert!(ran.code == 1 && ran.said().contains("wants an id"), "{}", ran.stderr);
    is_davids();
    let ran = run(&["forget", &victim, "--all"], "");
    assert!(ran.code == 0 && ran.said().contains(&victim), "{}", ran.stderr);
    assert!(text(&run(&["history", &own, "--full"], "")).contains("canary_bobby"));
}

#[test]
fn what_is_forgotten_of_a_conversation_and_stands_in_a_branch_of_it_is_told() {
    let folder = Folder::new();
    let run = |args: &[&str]| folder.run(&[args, &["--store", "s/longhaul/store.db"]].concat(), b"");
    let begun = round(Form::OpenAi, &opened(Form::OpenAi, ""), "", "canary_david");
    let begun = text(&compact(&folder, &begun, "s"));
    let trunk = session(&compact(&folder, &round(Form::OpenAi, &begun, "", "canary_left"), "s"));
    let branch = session(&compact(&folder, &round(Form::OpenAi, &begun, "", "canary_right"), "s"));
    assert_ne!(trunk, branch);
    for (forgets, other) in [(&trunk, &branch), (&branch, &trunk)] {
        let ran = run(&["forget", forgets, "--range", "m3-m5"]);
        let told = format!("{other}, of the same conversation, still holds 3 of these messages");
        assert_eq!(ran.said().contains(&told), forgets == &trunk, "{}", ran.stderr);
    }
    let ran = run(&["forget", &trunk, "--range", "m6-m7"]);
    assert!(ran.said().contains("the same with --branches destroys them there too"), "{}", ran.stderr);
    let ran = run(&["forget", &trunk, "--range", "m6-m99", "--branches"]);
    let both = ran.said().contains(&format!("of {branch} destroyed"))
        && ran.said().contains(&format!("of {trunk} destroyed"));
    assert!(ran.code == 0 && both, "{}", ran.stderr);
    assert!(text(&run(&["history", &branch, "--full"])).contains("canary_right"), "it is another message");
    let ran = run(&["forget", &trunk, "--range", "m6-m99", "--branches"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
}
