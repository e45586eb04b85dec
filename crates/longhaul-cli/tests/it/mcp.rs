//! `longhaul mcp` as a client meets it: JSON-RPC over the pipes of a process.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::run::{Folder, example};

/// A client that has said hello.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(folder: &Folder) -> Client {
        Client::logging(folder, Stdio::null())
    }

    /// The same with a place for what it logs.
    pub(crate) fn logging(folder: &Folder, stderr: Stdio) -> Client {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
            .arg("mcp")
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, input, output, next: 0 };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        let hello = &hello["result"];
        assert_eq!(hello["serverInfo"]["name"], "longhaul", "{hello}");
        assert!(hello["capabilities"]["tools"].is_object() && hello["capabilities"]["resources"].is_object());
        assert!(hello["instructions"].as_str().unwrap().contains("`recall`"));
        client.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Reads one answer: one line, one JSON object, with a result or an error.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(answer["jsonrpc"], "2.0", "{line}");
        assert!(answer["result"].is_object() != answer["error"].is_object(), "{line}");
        answer
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and returns whether it failed, and what it said.
    fn call(&mut self, name: &str, arguments: Value) -> (bool, String) {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (result["isError"] == true, text.to_owned())
    }

    fn good(&mut self, name: &str, arguments: Value) -> String {
        let (failed, text) = self.call(name, arguments);
        assert!(!failed, "{text}");
        text
    }

    fn bad(&mut self, name: &str, arguments: Value) -> String {
        let (failed, text) = self.call(name, arguments);
        assert!(failed, "{text}");
        text
    }

    /// Hangs up, and returns the exit code.
    pub(crate) fn end(self) -> Option<i32> {
        let Client { mut child, input, output, .. } = self;
        drop((input, output));
        child.wait().unwrap().code()
    }
}

/// A folder with the example compacted and recorded under the name `work`.
fn recorded() -> Folder {
    let folder = Folder::new();
    let file = example();
    let ran = folder.run(
        &["compact", file.to_str().unwrap(), "--budget", "4000", "--session", "work", "-o", "small.jsonl"],
        b"",
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

#[test]
fn an_agent_finds_what_a_compaction_took() {
    let folder = recorded();
    let mut client = Client::start(&folder);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["recall", "context", "compact", "sessions"]);

    let found = client.good("recall", json!({"query": "never change public API", "session": "work"}));
    assert!(
        found.starts_with("m0 user of session ")
            && found.contains("**Never** **change** the **public** **API**"),
        "{found}"
    );
    let whole = client.good("recall", json!({"query": "m17", "session": "work"}));
    assert!(whole.starts_with("m17 assistant") && whole.contains("I rejected a knapsack"), "{whole}");
    let rest = client.good("recall", json!({"query": "m17", "session": "work", "from": 100}));
    assert_eq!(rest, whole[100..]);
    let near = client.good("recall", json!({"query": "knapsack xylophone", "session": "all"}));
    assert!(
        near.starts_with("No message holds all of the words.") && near.contains("**knapsack**"),
        "{near}"
    );

    // Settings that ask for a model are the user's own: the tool says that it goes by rule.
    std::fs::create_dir_all(folder.path().join(".config/longhaul")).unwrap();
    folder.file(".config/longhaul/config.toml", b"mode = \"llm\"\n");
    let file = example();
    let seen = client.good("context", json!({"session": file}));
    assert!(seen.contains("of 200,000 tokens (19.2 %, as billed)") && seen.contains("largest"), "{seen}");
    let summary = client.good("compact", json!({"session": file, "budget": "4k"}));
    assert!(summary.contains("budget 4,000") && summary.contains("## Request (m69)"), "{summary}");
    let written = client.good("compact", json!({"session": file, "budget": 4000, "output": "again.jsonl"}));
    assert!(written.contains("written to again.jsonl"), "{written}");
    let same = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(same("again.jsonl"), same("small.jsonl"));
    let sessions = client.good("sessions", json!({}));
    assert!(sessions.contains("(work)"), "{sessions}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn summaries_are_resources() {
    let folder = recorded();
    let mut client = Client::start(&folder);
    let listed = client.ask("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uri = resources[0]["uri"].as_str().unwrap();
    assert!(resources.len() == 1 && uri.starts_with("longhaul://summary/"), "{listed}");
    let read = client.ask("resources/read", json!({"uri": uri}));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[Context Summary - 71 messages summarized]") && text.contains("id:"), "{text}");
    let head = client.ask("resources/read", json!({"uri": "longhaul://summary/work/head"}));
    assert_eq!(head["result"]["contents"][0]["text"], text);
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "longhaul://summary/{session}/{summary}"
    );
    for uri in ["longhaul://summary/work/0123456789abcdef", "longhaul://nothing", "file:///etc/passwd", ""] {
        let refused = client.ask("resources/read", json!({"uri": uri}));
        assert!(refused["error"]["message"].as_str().is_some_and(|words| words.len() > 20), "{refused}");
    }
    // Nothing recorded is nothing to list.
    let mut client = Client::start(&Folder::new());
    assert_eq!(client.ask("resources/list", json!({}))["result"]["resources"], json!([]));
}

#[test]
fn what_goes_wrong_is_said_and_the_server_goes_on() {
    let folder = Folder::new();
    let mut client = Client::start(&folder);
    for (name, arguments, words) in [
        ("recall", json!({"query": "x"}), "nothing is recorded yet"),
        ("recall", json!({}), "missing field `query`"),
        ("recall", json!({"query": "x", "more": 1}), "unknown field `more`"),
        ("recall", json!({"query": 7}), "expected a string"),
        ("context", json!({}), "no session of an agent's was found"),
        ("context", json!({"session": "-"}), "an id, words or a file"),
        ("context", json!({"session": "nowhere.jsonl"}), "nowhere.jsonl cannot be opened"),
        ("context", json!({"session": "--version"}), "no session's id begins or ends with \"--version\""),
        ("compact", json!({"session": example(), "budget": "much"}), "much"),
        ("compact", json!({"session": example(), "budget": 1}), "floor"),
        ("compact", json!({"session": example(), "output": "-"}), "is to be a file"),
        ("sessions", json!({"limit": -1}), "the arguments are not as"),
        ("forget", json!({}), "there is no tool \"forget\""),
    ] {
        let said = client.bad(name, arguments.clone());
        assert!(said.contains(words), "{name} {arguments}: {said}");
    }
    let taken = folder.file("taken.jsonl", b"mine");
    let said = client.bad("compact", json!({"session": example(), "budget": "4k", "output": "taken.jsonl"}));
    assert!(said.contains("taken.jsonl exists") && !said.contains("--force"), "{said}");
    assert_eq!(std::fs::read(taken).unwrap(), b"mine");
    // Lines that are no requests are no end either.
    for line in ["", "{", "[]", "null", "\u{feff}", "{\"jsonrpc\":\"2.0\"}", &"x".repeat(1 << 20)] {
        client.line(line);
    }
    let id = client.send("ping", json!({}));
    let answer = loop {
        let answer = client.read();
        if answer["id"] == id {
            break answer;
        }
    };
    assert_eq!(answer["result"], json!({}));
    assert_eq!(client.end(), Some(0));
}

/// Who asks sees no stderr, and has their own words.
#[test]
fn what_is_not_there_is_said_in_the_answer_and_in_short() {
    let folder = recorded();
    let mut client = Client::start(&folder);
    for tool in ["context", "compact"] {
        let (failed, said) = client.call(tool, json!({"session": "feedbeef"}));
        assert!(failed && said.contains("no session's id begins or ends with \"feedbeef\""), "{said}");
        assert!(!said.contains("No such file"), "{said}");
    }
    let query = "zebra ".repeat(1_000);
    let (failed, said) = client.call("recall", json!({"query": query}));
    assert!(failed && said.contains("zebra zebra") && said.len() < 400, "{said}");
}

#[test]
fn long_messages_come_in_parts_and_without_secrets() {
    let folder = Folder::new();
    let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
    let long: String = (0..3_200).map(|n| format!("row {n} of the table\n")).collect();
    let said = [
        json!({"role": "user", "content": format!("Deploy with {token} please, table below.\n{long}")}),
        json!({"role": "assistant", "content": "Deployed."}),
        json!({"role": "user", "content": "Thanks. What was in row 3199?"}),
    ];
    folder.file("history.json", Value::from(said.to_vec()).to_string().as_bytes());
    let ran = folder
        .run(&["compact", "history.json", "--budget", "2000", "--session", "work", "-o", "small.json"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut client = Client::start(&folder);
    let mut from = 0;
    let mut whole = String::new();
    loop {
        let part = client.good("recall", json!({"query": "m0", "session": "work", "from": from}));
        assert!(part.len() < 33_000, "{}", part.len());
        let (text, is_cut) = match part.rsplit_once("\n… ") {
            Some((text, rest)) if rest.contains("more bytes") => (text.to_owned(), true),
            _ => (part, false),
        };
        from += text.len();
        whole.push_str(&text);
        if !is_cut {
            break;
        }
    }
    assert!(whole.contains("row 0 of") && whole.contains("row 3199 of") && !whole.contains(&token));
    let shown = client.good("compact", json!({"session": "history.json", "budget": 2000}));
    assert!(!shown.contains(&token), "{shown}");
}

/// Whoever may not read a file is not told how it begins.
#[test]
fn a_file_that_is_no_history_is_not_quoted() {
    let folder = Folder::new();
    folder.file("private.txt", b"zebra stripes are kept here");
    folder.file("private.json", br#"{"messages":[{"zebra":"stripes","id":"1"}]}"#);
    let mut client = Client::start(&folder);
    for file in ["private.txt", "private.json"] {
        let said = client.bad("context", json!({"session": file}));
        assert!(said.contains(file) && said.contains("no history") && !said.contains("zebra"), "{said}");
        let ran = folder.run(&["count", file], b"");
        assert!(ran.code != 0 && ran.stderr.contains("zebra"), "its owner is told: {}", ran.stderr);
    }
}

#[test]
fn each_of_many_calls_has_an_answer() {
    let folder = recorded();
    let mut client = Client::start(&folder);
    let calls = [
        ("recall", json!({"query": "budget", "session": "work"})),
        ("recall", json!({"query": "m3-m5", "session": "work"})),
        ("recall", json!({"query": "xylophone", "session": "work"})),
        ("sessions", json!({})),
        ("nothing", json!({})),
    ];
    const ROUND: usize = 20;
    // LONGHAUL_CALLS says how many; in debug each takes its time.
    let all = std::env::var("LONGHAUL_CALLS").ok().and_then(|all| all.parse().ok()).unwrap_or(100);
    let mut answered = BTreeSet::new();
    for round in 0..all / ROUND {
        // Several are under way at once, as agents call.
        for n in 0..ROUND {
            let (name, arguments) = &calls[(round + n) % calls.len()];
            client.send("tools/call", json!({"name": name, "arguments": arguments}));
        }
        for _ in 0..ROUND {
            let answer = client.read();
            let text = answer["result"]["content"][0]["text"].as_str();
            assert!(text.is_some_and(|text| !text.is_empty()), "{answer}");
            assert!(answered.insert(answer["id"].as_u64().unwrap()), "{answer}");
        }
    }
    assert_eq!(answered.len(), all / ROUND * ROUND);
    assert_eq!(client.end(), Some(0));
}
