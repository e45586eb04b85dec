//! `longhaul chat` against a scripted server over real HTTP: streams, tools, overflow, faults, crashes, Ctrl-C.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use longhaul_wire::{Format, Profile, validate};
use serde_json::{Value, json};

use crate::run::{Folder, Ran};

/// What the server does with a request.
pub(crate) enum Answer {
    /// Says this and ends.
    Says(&'static str),
    /// The same, with a bill for a prompt of so many tokens.
    Bills(&'static str, u64),
    /// Answers in one piece, as a summarizer is answered.
    Writes(String),
    /// Calls tools.
    Calls(Vec<(&'static str, Value)>),
    /// Begins to speak and then neither goes on nor ends.
    Stalls(&'static str),
    /// Begins to speak and breaks off with an error.
    Breaks(&'static str),
    /// Refuses with this status and body.
    Refuses(u16, &'static str),
    /// Limits the rate, and may say for how many seconds.
    Limits(Option<u32>),
}

/// A server that checks each history it is sent and answers as it is told.
pub(crate) struct Server {
    base: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(usize, &Value) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = Arc::clone(&bodies);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(stream.unwrap(), &log, &*answer));
            }
        });
        Server { base, bodies }
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }

    pub(crate) fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["chat", "--base-url", &self.base, "--model", "gpt-4o"], more].concat()
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, log: &Mutex<Vec<Value>>, answer: &dyn Fn(usize, &Value) -> Answer) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let violations = validate(&body, Format::OpenAi, &Profile::default()).unwrap();
        assert_eq!(violations, [], "{}", String::from_utf8_lossy(&body));
        let body: Value = serde_json::from_slice(&body).unwrap();
        let nth = {
            let mut log = log.lock().unwrap();
            log.push(body.clone());
            log.len() - 1
        };
        if !respond(&mut out, answer(nth, &body)) {
            return;
        }
    }
}

/// Returns whether the connection goes on.
fn respond(out: &mut TcpStream, answer: Answer) -> bool {
    let mut chunks = String::new();
    let mut chunk = |delta: Value, finish: Option<&str>| {
        let value = json!({"model": "gpt-4o", "choices": [{"delta": delta, "finish_reason": finish}]});
        chunks.push_str(&format!("data: {value}\n\n"));
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let ends = match answer {
        Answer::Refuses(status, body) => return refuse(out, status, "", body),
        Answer::Limits(seconds) => {
            let asks = seconds.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
            return refuse(out, 429, &asks, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#);
        }
        Answer::Writes(text) => {
            let message = json!({"role": "assistant", "content": text});
            let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
            let usage = json!({"prompt_tokens": 900, "completion_tokens": 30});
            let body = json!({"model": "gpt-4o", "choices": [choice], "usage": usage}).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
            let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            return out.write_all(answer.as_bytes()).is_ok();
        }
        Answer::Says(text) => {
            for word in text.split_inclusive(' ') {
                chunk(json!({"content": word}), None);
            }
            chunk(json!({}), Some("stop"));
            true
        }
        Answer::Bills(text, prompt) => {
            chunk(json!({"content": text}), Some("stop"));
            let usage = json!({"prompt_tokens": prompt, "completion_tokens": 30});
            let last = json!({"model": "gpt-4o", "choices": [], "usage": usage});
            chunks.push_str(&format!("data: {last}\n\n"));
            true
        }
        Answer::Calls(calls) => {
            for (nth, (name, arguments)) in calls.iter().enumerate() {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                chunk(
                    json!({"tool_calls": [{"index": nth, "id": format!("c{nth}"), "function": function}]}),
                    None,
                );
            }
            chunk(json!({}), Some("tool_calls"));
            true
        }
        Answer::Stalls(text) => {
            chunk(json!({"content": text}), None);
            false
        }
        Answer::Breaks(text) => {
            chunk(json!({"content": text}), None);
            chunks
                .push_str("data: {\"error\":{\"type\":\"server_error\",\"message\":\"out of memory\"}}\n\n");
            true
        }
    };
    let sent = format!("{head}{:x}\r\n{chunks}\r\n{}", chunks.len(), if ends { "0\r\n\r\n" } else { "" });
    let is_written = out.write_all(sent.as_bytes()).is_ok();
    if !ends {
        // Until the other side has had enough.
        let _ = out.read(&mut [0; 1]);
    }
    is_written && ends
}

fn refuse(out: &mut TcpStream, status: u16, headers: &str, body: &str) -> bool {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    out.write_all((head + body).as_bytes()).is_ok()
}

fn shown(ran: &Ran) -> String {
    format!("{}\n--\n{}", String::from_utf8_lossy(&ran.stdout), ran.stderr)
}

/// Returns the numbers in a line.
fn numbers(line: &str) -> Vec<u64> {
    let words = line.split(|c: char| !c.is_ascii_digit() && c != ',').map(|word| word.replace(',', ""));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Returns the texts of the messages of a request, by role.
pub(crate) fn said(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .map(|message| {
            format!("{}: {}\n", message["role"].as_str().unwrap(), message["content"].as_str().unwrap_or("-"))
        })
        .collect()
}

#[test]
fn a_conversation_is_streamed_kept_and_gone_on_with() {
    let server = Server::start(|nth, _| Answer::Says(["Grüß Gott 👋", "Twice.", "Again."][nth]));
    let folder = Folder::new();
    let ran = folder
        .run(&server.args(&["--session", "talk", "--system", "Be brief."]), b"hello\nand again\\\nplease\n");
    assert_eq!(ran.code, 0, "{}", shown(&ran));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "Grüß Gott 👋\nTwice.\n");
    assert!(ran.stderr.contains("of 128,000 tokens (0 %)"), "{}", ran.stderr);

    let ran = folder.run(&server.args(&["--session", "talk"]), b"what did I say?\n/history\n/quit\n");
    assert!(ran.stderr.contains("going on after 5 messages"), "{}", ran.stderr);
    let expected = "system: Be brief.\nuser: hello\nassistant: Grüß Gott 👋\nuser: and again\nplease\nassistant: Twice.\n\
                    user: what did I say?\n";
    assert_eq!(said(&server.bodies()[2]), expected);
    let out = String::from_utf8_lossy(&ran.stdout);
    assert!(out.starts_with("Again.\nSession history (7 messages total):"), "{out}");

    let history = folder.run(&["history", "talk", "--full"], b"");
    assert!(String::from_utf8_lossy(&history.stdout).contains("and again\nplease"));
}

/// Its prices are in no table, and nobody set any.
#[test]
fn a_model_that_no_table_lists_is_talked_to_without_a_word_of_settings() {
    let server = Server::start(|_, _| Answer::Says("Hello."));
    let folder = Folder::new();
    let ran = folder.run(&["chat", "--base-url", &server.base, "--model", "house-model"], b"hi\n");
    assert!(ran.code == 0 && !ran.stderr.contains("has no effect"), "{}", shown(&ran));
}

// asserts 000-25, 004-55
#[test]
fn a_small_window_is_compacted_on_the_way_and_nothing_is_lost() {
    let server = Server::start(|_, _| {
        Answer::Says(
            "The function parse_header in src/wire.rs reads the magic number first and then the length of the body, and fails with E_SHORT where there is less.",
        )
    });
    let folder = Folder::new();
    let mut script = String::from("Remember: the deploy token lives in vault/path/zebra-77.\n");
    for nth in 0..28 {
        script.push_str(&format!(
            "What does step {nth} of the import do with the file part_{nth}.csv, and why in this order?\n"
        ));
    }
    script.push_str("/context\n/recall zebra-77\n/undo\n/redo\n/undo\n/history\n");
    let ran = folder
        .run(&server.args(&["--session", "s", "--window", "2000", "--max-output", "200"]), script.as_bytes());
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    assert!(all.contains("; /undo takes it back)"), "{all}");
    // How deep, how many messages, from what to what, and why.
    let told = ran.stderr.lines().find(|line| line.starts_with("◆ ")).unwrap();
    let mut words = told.split(|c: char| !c.is_ascii_digit() && c != ',').filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap().trim_end_matches(',').to_owned();
    let (messages, before, after, summary, depth, tokens, trigger) =
        (next(), next(), next(), next(), next(), next(), next());
    assert_eq!(
        told,
        format!(
            "◆ {messages} messages summarized: {before} → {after} tokens (summary {summary}, depth {depth}) \
             ({tokens} tokens reach the trigger at {trigger}; /undo takes it back)"
        )
    );
    // How full the window is stands under each answer.
    let status = ran.stderr.lines().filter(|line| line.contains(" of 2,000 tokens (")).count();
    assert!(status >= 29, "{status} of 29 turns: {}", ran.stderr);
    for part in [
        "thresholds",
        "would save",
        "would cost",
        "summary",
        "kept for the answer",
        "m0     user      Remember",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(all.contains("compaction undone") && all.contains("compaction applied again"), "{all}");
    // Each request fits, and the early words live on in the summary or in the store.
    assert_eq!(server.bodies().len(), 29);
    let first_summary =
        server.bodies().iter().map(said).find(|said| said.contains("[Context Summary")).unwrap();
    assert!(first_summary.contains("zebra-77"), "{first_summary}");

    // Where originals are deleted nothing is taken back, and nothing says so.
    let flags =
        ["--session", "d", "--window", "2000", "--max-output", "200", "--set", "delete_originals=true"];
    let ran = folder.run(&server.args(&flags), script.as_bytes());
    let all = shown(&ran);
    assert!(all.contains("messages summarized") && !all.contains("takes it back"), "{all}");
}

#[test]
fn an_undo_after_a_resume_takes_one_step_in_the_view_and_in_the_store() {
    let server = Server::start(|_, _| Answer::Says(LONG_ANSWER));
    let folder = Folder::new();
    let args = server.args(&["--session", "deep", "--window", "2000", "--max-output", "200"]);
    let script: String =
        (0..14).map(|nth| format!("What does step {nth} do with part_{nth}.csv?\n")).collect();
    let ran = folder.run(&args, script.as_bytes());
    assert_eq!(ran.code, 0, "{}", shown(&ran));
    let in_force = || {
        let sessions = folder.run(&["sessions", "--json"], b"");
        let session: Value = serde_json::from_slice(&sessions.stdout).unwrap();
        session["compactions"].as_u64().unwrap()
    };
    let before = in_force();
    assert!(before >= 2, "{before} summaries: {}", shown(&ran));
    // The last of them stands in the view, and the others in it.
    let parts = if before == 2 { "1 earlier one".to_owned() } else { format!("{} earlier ones", before - 1) };
    let audit = folder.run(&["audit", "deep", "--verify"], b"");
    assert!(shown(&audit).contains(&format!("checked, 1 in force, made of {parts}, ")), "{}", shown(&audit));
    let history = shown(&folder.run(&["history", "deep"], b""));
    assert!(history.contains(&format!("{before} summaries, 1 in force, made of {parts}\n")), "{history}");
    for (command, after) in [("/undo\n", before - 1), ("/redo\n", before), ("/undo\n/undo\n", before - 2)] {
        let ran = folder.run(&args, command.as_bytes());
        assert_eq!((ran.code, in_force()), (0, after), "{command}: {}", shown(&ran));
    }
    // And it goes on from there.
    let ran = folder.run(&args, b"And the last step?\n/undo\n");
    assert_eq!(ran.code, 0, "{}", shown(&ran));
    assert!(said(server.bodies().last().unwrap()).contains("And the last step?"));
    let audit = folder.run(&["audit", "deep", "--verify"], b"");
    assert_eq!(audit.code, 0, "{}", shown(&audit));
}

/// About 330 tokens.
const LONG_ANSWER: &str = concat!(
    "The step reads its file line by line, checks each sum against the ledger, and writes what is wrong to the report. ",
    "It does so before the next step because that one deletes the file: what was not read by then cannot be read at all. ",
    "Where a sum is wrong the line goes to the list of doubts, with its number and the name of the clerk who wrote it. ",
    "Where the file ends in the middle of a line the step waits for a minute and looks again, at most three times. ",
    "After that the file counts as broken, its name goes to the report, and the import goes on with the next one. ",
    "Nothing is written to the ledger before all files were read, so that a run that breaks off leaves no trace there. ",
    "The order of the files is that of their dates, not of their names, since names were changed twice in the past year. ",
    "If two files have one date, the larger comes first: it is mostly the correction of the smaller one. ",
    "The report is sent when the last file was read, and it names the files, the doubts, and how long each of them took. ",
    "A run that finds no file at all says so in the report, which is then one line long, and ends without an error. ",
    "A file that was read in an earlier run is known by its sum and is passed over, whatever its name is this time. ",
    "And where the disk is full the step ends at once, because a report that cannot be written helps nobody."
);

#[test]
fn what_a_models_summary_would_leave_is_foretold_as_the_most_it_may() {
    let server = Server::start(|_, body| match body["stream"] == true {
        true => Answer::Says(LONG_ANSWER),
        false => Answer::Writes(json!({"narrative": "The steps of the import were explained."}).to_string()),
    });
    let mut script: String =
        (0..8).map(|nth| format!("What does step {nth} of the import do with part_{nth}.csv?\n")).collect();
    script.push_str("/context\n/summarize\ny\n");
    let flags = ["--session", "s", "--window", "16000", "--max-output", "600", "--mode"];
    for (mode, by) in [("llm", " by a model"), ("rules", "")] {
        let folder = Folder::new();
        let ran = folder.run(&server.args(&[&flags[..], &[mode]].concat()), script.as_bytes());
        let all = shown(&ran);
        let foretold = all.lines().find(|line| line.contains("would save")).unwrap();
        let told = all.lines().find(|line| line.contains("Put this in the place of")).unwrap();
        assert!(foretold.contains(&format!("one summary{by},")), "{all}");
        let (most, after) = (*numbers(foretold).last().unwrap(), numbers(told)[2]);
        assert!(if by.is_empty() { most == after } else { most >= after }, "{all}");
    }
}

// asserts 004-54
#[test]
fn who_writes_a_summary_is_foretold() {
    for (preset, window) in [("chain", "2000"), ("chain", "4000"), ("chain", "16000"), ("rolling", "16000")] {
        let server = Server::start(|_, body| match body["stream"] == true {
            true => Answer::Says(LONG_ANSWER),
            false => {
                Answer::Writes(json!({"narrative": "The steps of the import were explained."}).to_string())
            }
        });
        let mut script: String = (0..3)
            .map(|nth| format!("What does step {nth} of the import do with part_{nth}.csv?\n"))
            .collect();
        script.push_str("/context\n/summarize\ny\n");
        let folder = Folder::new();
        let flags = ["--session", "s", "--max-output", "300", "--mode", "llm", "--set", "preserve_recent=2"];
        let args = [&flags[..], &["--preset", preset, "--window", window]].concat();
        let ran = folder.run(&server.args(&args), script.as_bytes());
        let all = shown(&ran);
        let foretold = all.lines().find(|line| line.contains("would save")).unwrap();
        let is_asked = server.bodies().iter().any(|body| body["stream"] != true);
        assert_eq!(foretold.contains("one summary by a model"), is_asked, "{preset} {window}: {all}");
        assert_eq!(foretold.contains("one summary by rule ("), !is_asked, "{preset} {window}: {all}");
    }
}

/// The definitions of tools go out with each request: the bar has them, and so has all that is said beside it.
#[test]
fn with_tools_every_number_is_of_a_whole_request() {
    let server = Server::start(|_, _| Answer::Says(LONG_ANSWER));
    let mut script: String = (0..10).map(|nth| format!("What does step {nth} do?\n")).collect();
    script.push_str("/context\n");
    let args = server.args(&["--session", "s", "--tools", "--window", "4000", "--max-output", "600"]);
    let folder = Folder::new();
    let ran = folder.run(&args, script.as_bytes());
    let all = shown(&ran);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("◆ ")).expect(&all);
    let (told, bar) = (numbers(lines[at]), numbers(lines[at - 1]));
    // What was asked since then comes on top.
    assert!(told[1] > bar[0] && told[1] < bar[0] + 30, "{all}");
    let trigger = numbers(all.lines().find(|line| line.contains("thresholds")).unwrap())[1];
    assert_eq!(told.last(), Some(&trigger), "{all}");
    assert!(told[5] >= trigger && !all.contains("without the definitions"), "{all}");
    // The same from without.
    let seen = folder.run(&["context", "s", "--json"], b"");
    let seen: Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!(seen["compaction"]["trigger"], trigger);
    let last = numbers(lines.iter().rfind(|line| line.contains(" of 4,000 tokens (")).unwrap());
    assert_eq!(seen["tokens"], last[0], "{all}");
}

#[test]
fn a_model_writes_the_summary_while_the_user_goes_on() {
    let server = Server::start(|_, body| match body["stream"] == true {
        true => Answer::Says(LONG_ANSWER),
        false => Answer::Writes(
            json!({"narrative": "The steps of the import were explained one after the other."}).to_string(),
        ),
    });
    let folder = Folder::new();
    let mut script = String::from("Remember: the deploy token lives in vault/path/zebra-77.\n");
    for nth in 0..24 {
        script.push_str(&format!(
            "What does step {nth} of the import do with the file part_{nth}.csv, and why in this order?\n"
        ));
    }
    // The model that answers writes the summary as well, so its window must hold what is summarized and the instructions.
    let more = ["--session", "s", "--window", "8000", "--max-output", "600", "--mode", "llm"];
    let ran = folder.run(&server.args(&more), script.as_bytes());
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    // A summary that is still being written when the user leaves is waited for.
    assert!(all.contains("messages summarized"), "{all}");
    let is_answer = |body: &&Value| body["stream"] == true;
    assert_eq!(server.bodies().iter().filter(is_answer).count(), 25, "every question was answered");
    assert!(server.bodies().iter().any(|body| !is_answer(&body)), "a model was asked for a summary");
    let history = String::from_utf8_lossy(&folder.run(&["history", "s", "--full"], b"").stdout).into_owned();
    assert!(history.contains("The steps of the import were explained one after the other."), "{history}");
    for nth in 0..24 {
        assert!(history.contains(&format!("part_{nth}.csv")), "{nth}: {history}");
    }
}

#[test]
fn a_refused_prompt_is_compacted_and_sent_again() {
    let overflow = r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":900,"n_ctx":700}}"#;
    // The server's window is a fraction of what the table says.
    let server = Server::start(move |_, body| match body.to_string().len() {
        0..2800 => Answer::Says(
            "It is the third of the three and it was measured twice, with the same result each time.",
        ),
        _ => Answer::Refuses(400, overflow),
    });
    let folder = Folder::new();
    let script: String = (0..30)
        .map(|nth| format!("How large is sample {nth} of the series in data/series_{nth}.bin?\n"))
        .collect();
    let ran = folder.run(&server.args(&["--max-output", "100"]), script.as_bytes());
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    assert!(all.contains("compacting at once") && all.contains("messages summarized"), "{all}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().count(), 30, "{all}");
    let refused = server.bodies().iter().filter(|body| body.to_string().len() >= 2800).count();
    assert!(refused <= 3, "{refused} refused: what was learned must be used");
}

#[test]
fn faults_are_told_and_asked_again_by_hand() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Breaks("So far "),
        1 => Answer::Refuses(503, r#"{"error":{"type":"overloaded_error","message":"busy"}}"#),
        _ => Answer::Says("Done."),
    });
    let folder = Folder::new();
    let ran = folder.run(&server.args(&[]), b"go\n/retry\n/retry\n/retry\n/frobnicate\n");
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    for part in ["out of memory", "status 503", "Done.", "nothing to ask again", "no command /frobnicate"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    // What broke off is not part of what was said.
    assert_eq!(said(&server.bodies()[2]), "user: go\n");
    let failed = folder.run(&["chat", "--base-url", "http://127.0.0.1:9/v1", "--model", "gpt-4o"], b"go\n");
    assert_eq!(failed.code, 1, "{}", shown(&failed));
}

#[test]
fn a_server_that_asks_to_wait_is_waited_for() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Limits(Some(1)),
        1 => Answer::Says("Here."),
        2 => Answer::Limits(None),
        3 => Answer::Limits(Some(7_200)),
        // One that always asks for more is not waited for without end.
        _ => Answer::Limits(Some(0)),
    });
    let ran = Folder::new().run(&server.args(&[]), b"go\nand on\n/retry\n/retry\n");
    let (all, said) = (shown(&ran), ran.said());
    assert_eq!(ran.code, 1, "{all}");
    assert!(said.contains("slow down; the server asks to wait 1 s, Ctrl-C ends the wait"), "{all}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "Here.\n");
    for part in ["does not say how long to wait /retry asks again", "asks to wait 120 min /retry asks again"]
    {
        assert!(said.contains(part), "{part}: {all}");
    }
    assert_eq!(server.bodies().len(), 2 + 2 + 4, "{all}");
}

#[test]
fn tools_are_asked_for_and_kept_inside() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Calls(vec![
            ("read_file", json!({"path": "notes.txt"})),
            ("read_file", json!({"path": "../secret.txt"})),
            ("edit_file", json!({"path": "notes.txt", "old": "two", "new": "2"})),
            ("run_command", json!({"command": "rm -rf ."})),
            ("run_command", json!({"command": "cat notes.txt; exit 3"})),
        ]),
        1 => Answer::Calls(vec![("list_files", json!({})), ("frobnicate", json!({}))]),
        _ => Answer::Says("All done."),
    });
    let folder = Folder::new();
    folder.file("notes.txt", b"one\ntwo\n");
    // Reading: always. Editing: yes. The first command: no; the second: yes. Listing: yes.
    let ran = folder.run(&server.args(&["--tools", "--piped-answers"]), b"go\na\ny\nn\ny\ny\n");
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    assert_eq!(std::fs::read(folder.path().join("notes.txt")).unwrap(), b"one\n2\n");
    let last = said(server.bodies().last().unwrap());
    for part in [
        "tool:      1  one\n     2  two",
        "Error: ../secret.txt",
        "tool: written, 2 lines",
        "Error: the user refused this",
        "one\n2\n[exit code 3]",
        "notes.txt",
        "there is no tool `frobnicate`",
    ] {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(all.contains("- two\n+ 2"), "{all}");
}

/// A model that goes on calling what is not there is stopped after a few tries, and the conversation goes on.
#[test]
fn a_model_that_calls_in_vain_is_stopped() {
    let calls = || Answer::Calls(vec![("rm_rf", json!({"path": "/"}))]);
    let server = Server::start(move |nth, _| if nth < 6 { calls() } else { Answer::Says("Well.") });
    let folder = Folder::new();
    for flags in [&[][..], &["--tools"]] {
        let before = server.bodies().len();
        let ran = folder.run(&server.args(flags), b"go\n");
        let all = shown(&ran);
        assert!(all.contains("called 3 times in a row what cannot be done"), "{all}");
        assert_eq!(all.contains("(--tools gives it some)"), flags.is_empty(), "{all}");
        assert!(!all.contains("Ctrl-C"), "{all}");
        assert_eq!(server.bodies().len() - before, 3, "{all}");
    }
}

/// A command may run longhaul, and is told nothing of the one that runs it.
#[test]
fn a_command_sees_no_setting_of_ours() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Calls(vec![("run_command", json!({"command": "env | grep -c ^LONGHAUL_"}))]),
        _ => Answer::Says("Well."),
    });
    let variables = [("LONGHAUL_API_KEY", "k"), ("LONGHAUL_SOFT_RATIO", "0.5")];
    let args = server.args(&["--tools", "--piped-answers"]);
    let ran = Folder::new().run_with(&variables, &args, b"go\ny\n");
    assert!(said(&server.bodies()[1]).contains("tool: Error: 0\n[exit code 1]"), "{}", shown(&ran));
}

/// What comes next from a pipe was written before the question.
#[test]
fn no_message_is_taken_for_an_answer() {
    for (more, told) in
        [(&[][..], "run touch made: refused, nobody is there to be asked"), (&["--piped-answers"], "")]
    {
        let server = Server::start(|nth, _| match nth {
            0 => Answer::Calls(vec![("run_command", json!({"command": "touch made"}))]),
            _ => Answer::Says("Well."),
        });
        let folder = Folder::new();
        let ran = folder.run(&server.args(&[&["--tools"], more].concat()), b"run it\nand tell me\n");
        assert!(ran.code == 0 && ran.said().contains(told), "{}", shown(&ran));
        assert!(!folder.path().join("made").exists());
        let bodies = server.bodies();
        assert!(said(&bodies[1]).contains("tool: Error: ") && bodies.len() == 3, "{}", shown(&ran));
        assert!(said(&bodies[2]).ends_with("user: and tell me\n"), "{}", shown(&ran));
    }
    // Nor is one lost to a question that a command of the script asks.
    let server = Server::start(|_, _| Answer::Says(LONG_ANSWER));
    let mut script: String = (0..12).map(|nth| format!("What does step {nth} do?\n")).collect();
    script.push_str("/summarize\nand step twelve?\n");
    let args = server.args(&["--window", "16000", "--max-output", "600"]);
    let ran = Folder::new().run(&args, script.as_bytes());
    assert!(ran.stderr.contains("left as it was"), "{}", shown(&ran));
    assert!(said(server.bodies().last().unwrap()).ends_with("user: and step twelve?\n"), "{}", shown(&ran));
}

/// What a provider says of a request may quote it.
#[test]
fn a_refusal_that_quotes_a_secret_is_told_without_it() {
    let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
    let refusal = json!({"error": {"message": format!("bad: {token} postgres://svc:8c9b76EATDV13H@db/app")}})
        .to_string();
    let server = Server::start(move |_, _| Answer::Refuses(400, Box::leak(refusal.clone().into_boxed_str())));
    let ran = Folder::new().run(&server.args(&[]), b"go\n");
    let all = shown(&ran);
    assert!(all.contains("does not take the request") && all.contains("bad: "), "{all}");
    assert!(!all.contains(&token) && !all.contains("8c9b76EATDV13H"), "{all}");
}

/// A running chat whose input is written step by step.
struct Live {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Live {
    fn start(folder: &Folder, args: &[&str]) -> Live {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
            .args(args)
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Live { child, out }
    }

    fn type_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Reads what is shown up to and including `end`.
    fn read_to(&mut self, end: &str) -> String {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(end.as_bytes()) {
            assert_eq!(
                self.out.read(&mut byte).unwrap(),
                1,
                "ended after {}",
                String::from_utf8_lossy(&seen)
            );
            seen.push(byte[0]);
        }
        String::from_utf8(seen).unwrap()
    }
}

// asserts 002-22
#[test]
fn a_crash_in_the_middle_of_an_answer_loses_nothing_that_was_said() {
    let server = Server::start(|nth, _| match nth {
        1 => Answer::Stalls("I was about to"),
        _ => Answer::Says("Noted."),
    });
    let folder = Folder::new();
    let mut live = Live::start(&folder, &server.args(&["--session", "crash"]));
    live.type_line("first");
    live.read_to("Noted.\n");
    live.type_line("second");
    live.read_to("I was about to");
    live.child.kill().unwrap();
    live.child.wait().unwrap();

    let audit = folder.run(&["audit", "crash", "--verify"], b"");
    assert_eq!(audit.code, 0, "{}", shown(&audit));
    let ran = folder.run(&server.args(&["--session", "crash"]), b"/retry\n");
    assert!(ran.stderr.contains("the last message was not answered"), "{}", shown(&ran));
    assert_eq!(said(&server.bodies()[2]), "user: first\nassistant: Noted.\nuser: second\n");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "Noted.\n");
}

/// What ran then has no result, and is not run again.
#[cfg(unix)]
#[test]
fn a_crash_while_a_tool_runs_is_asked_about_again() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Calls(vec![
            ("run_command", json!({"command": "echo hi"})),
            ("run_command", json!({"command": "touch runs; sleep 3"})),
        ]),
        _ => Answer::Says("Noted."),
    });
    let folder = Folder::new();
    let args = server.args(&["--session", "crash", "--tools", "--piped-answers"]);
    let mut live = Live::start(&folder, &args);
    ["go", "y", "y"].iter().for_each(|line| live.type_line(line));
    while !folder.path().join("runs").exists() {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    live.child.kill().unwrap();
    live.child.wait().unwrap();
    std::fs::remove_file(folder.path().join("runs")).unwrap();

    let ran = folder.run(&args, b"/retry\n");
    assert!(ran.code == 0 && ran.stderr.contains("the last message was not answered"), "{}", shown(&ran));
    let sent = said(&server.bodies()[1]);
    assert!(sent.contains("tool: hi\n") && sent.contains("tool: Error: aborted: it was cut off"), "{sent}");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn the_later_of_two_chats_on_one_session_goes_on_under_a_name_of_its_own() {
    let server = Server::start(|_, _| Answer::Says("Noted."));
    let folder = Folder::new();
    let args = server.args(&["--session", "shared"]);
    folder.run(&args, b"hello\n");
    let mut early = Live::start(&folder, &args);
    early.type_line("/history");
    early.read_to("hello");
    // It goes on while the other has the conversation open.
    let ran = folder.run(&args, b"the first says apples\n");
    assert_eq!(ran.code, 0, "{}", shown(&ran));
    early.type_line("the second says pears");
    early.type_line("/save pears.json");
    early.type_line("/recall pears");
    early.read_to("the second says pears");
    early.type_line("/recall apples");
    drop(early.child.stdin.take());
    let mut rest = String::new();
    early.out.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("apples"), "what the other said is not of this conversation: {rest}");
    assert!(early.child.wait().unwrap().success());
    let kept = |name: &str| {
        let kept = folder.run(&["history", name, "--full"], b"");
        String::from_utf8_lossy(&kept.stdout).into_owned()
    };
    let (first, second) = (kept("shared"), kept("shared-b1"));
    assert!(first.contains("apples") && !first.contains("pears"), "{first}");
    assert!(second.contains("pears") && !second.contains("apples"), "{second}");
    let saved = std::fs::read_to_string(folder.path().join("pears.json")).unwrap();
    assert!(saved.contains("pears") && !saved.contains("apples"), "{saved}");
    // Each is taken up again by its name.
    let ran = folder.run(&server.args(&["--session", "shared-b1"]), b"and plums\n");
    assert_eq!(ran.code, 0, "{}", shown(&ran));
    let body = said(server.bodies().last().unwrap());
    assert!(body.contains("pears") && body.contains("plums") && !body.contains("apples"), "{body}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_answer_and_not_the_program() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Stalls("Well, let me tell you everything"),
        _ => Answer::Says("Short."),
    });
    let folder = Folder::new();
    let mut live = Live::start(&folder, &server.args(&["--session", "c"]));
    live.type_line("tell me");
    live.read_to("everything");
    let killed = Command::new("kill").args(["-INT", &live.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    live.read_to("\n");
    live.type_line("shorter");
    live.read_to("Short.\n");
    drop(live.child.stdin.take());
    assert!(live.child.wait().unwrap().success());
    let expected =
        "user: tell me\nassistant: Well, let me tell you everything\n[stopped by the user]\nuser: shorter\n";
    assert_eq!(said(&server.bodies()[1]), expected);
}

#[test]
#[cfg(unix)]
fn a_summary_is_edited_before_it_stands() {
    let server = Server::start(|_, _| Answer::Says(LONG_ANSWER));
    let folder = Folder::new();
    let mut script = String::new();
    for nth in 0..12 {
        script.push_str(&format!("What does step {nth} of the import do with part_{nth}.csv?\n"));
    }
    // An edit is kept while it is doubted, and stands once it is insisted on.
    script.push_str("/summarize\ne\ny\ny\n/context\n");
    let editor = "sh -c 'printf \"\\n- Ask Mara before part_99.csv is read.\\n\" >> \"$0\"'";
    let args = server.args(&["--session", "s", "--window", "16000", "--max-output", "600"]);
    let ran = folder.run_with(&[("EDITOR", editor)], &args, script.as_bytes());
    let all = shown(&ran);
    assert_eq!(ran.code, 0, "{all}");
    assert_eq!(all.matches("the conversation does not show \"- Ask Mara").count(), 1, "{all}");
    assert_eq!(all.matches("[y]es, [n]o, [e]dit").count(), 3, "{all}");
    let history = String::from_utf8_lossy(&folder.run(&["history", "s", "--json"], b"").stdout).into_owned();
    assert!(
        history.contains("Ask Mara before part_99.csv is read.") && history.contains("+edited"),
        "{history}"
    );
    assert_eq!(folder.run(&["audit", "s", "--verify"], b"").code, 0);
}

#[test]
fn who_is_asked_for_a_summary_is_told_that_the_model_gave_none() {
    let server = Server::start(|_, body| match body["stream"] == true {
        true => Answer::Says(LONG_ANSWER),
        false => Answer::Writes("Sorry, I would rather not.".to_owned()),
    });
    let folder = Folder::new();
    let mut script: String =
        (0..8).map(|nth| format!("What does step {nth} do with part_{nth}.csv?\n")).collect();
    script.push_str("/summarize\nn\n");
    let args = ["--session", "s", "--window", "16000", "--max-output", "600", "--mode", "hybrid"];
    let ran = folder.run(&server.args(&args), script.as_bytes());
    let all = shown(&ran);
    let at = |what: &str| all.find(what).unwrap_or_else(|| panic!("no {what:?} in {all}"));
    assert!(at("gave no summary") < at("Put this in the place of"), "{all}");
}

#[test]
fn a_summarizer_may_take_as_long_as_the_user_says() {
    let server = Server::start(|_, body| match body["stream"] == true {
        true => Answer::Says("The import reads each part of the file in order and writes what it read."),
        false => Answer::Stalls(""),
    });
    let folder = Folder::new();
    let script: String = (0..24).map(|n| format!("What becomes of part_{n}.csv in step {n}?\n")).collect();
    assert_eq!(folder.run(&server.args(&["--session", "s"]), script.as_bytes()).code, 0);
    let small = ["--mode", "llm", "--window", "1000", "--max-output", "200", "--summarizer-window", "8000"];
    let args = [&["--session", "s", "--timeout", "1"], &small[..]].concat();
    let begun = std::time::Instant::now();
    let ran = folder.run(&server.args(&args), b"and then?\n");
    assert!(ran.code == 0 && begun.elapsed().as_secs() < 60, "{}", ran.stderr);
    assert!(server.bodies().iter().any(|body| body["stream"] != true), "nobody was asked: {}", ran.stderr);
    assert!(
        ran.stderr.contains("gave no summary") && ran.stderr.contains("messages summarized"),
        "{}",
        ran.stderr
    );
}

#[test]
fn of_a_chat_in_which_nothing_is_said_nothing_is_kept() {
    let server = Server::start(|_, _| Answer::Says("Well."));
    let folder = Folder::new();
    let ran = folder.run(&server.args(&["--session", "t1"]), b"");
    assert!(ran.code == 0 && !ran.stderr.contains("kept as"), "{}", ran.stderr);
    let ran = folder.run(&server.args(&["--session", "t1"]), b"hello\n");
    assert!(ran.stderr.contains("kept as t1: `longhaul chat --session t1` goes on"), "{}", ran.stderr);
}

#[test]
fn a_small_conversation_costs_something_whatever_was_learned_in_a_large_one() {
    let server = Server::start(|_, body| {
        let bytes = body.to_string().len() as u64;
        Answer::Bills("The import reads each part of the file in order, and writes what it read.", bytes / 4)
    });
    let folder = Folder::new();
    let long = "what about this one, and is it as long as the one before it, or as that before?";
    let script: String = (0..30).map(|n| format!("And part {n}: {long}\n")).collect();
    assert_eq!(folder.run(&server.args(&["--window", "8000"]), script.as_bytes()).code, 0);
    let ran = folder.run(&server.args(&["--session", "q1", "--window", "4000"]), b"hello\n");
    let status = ran.stderr.lines().find(|line| line.contains("of 4,000 tokens")).unwrap();
    assert!(numbers(status)[0] >= 20, "{}", ran.stderr);
    assert!(!ran.stderr.contains("such reports are ignored"), "{}", ran.stderr);
}
