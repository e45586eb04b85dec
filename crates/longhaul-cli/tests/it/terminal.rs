//! The command on a terminal: `script` of util-linux gives it one. Where that is missing these tests say so and do nothing.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{BufReader, Read as _, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
};

use serde_json::json;

use crate::{
    chat::{Answer, Server, said},
    run::{Folder, example},
};

/// `longhaul` with these words on a terminal of its own.
struct Terminal {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Terminal {
    fn start(folder: &Folder, args: &[&str]) -> Option<Terminal> {
        let command = assert_cmd::cargo::cargo_bin!("longhaul");
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let words = [&[command.to_str().unwrap()], args].concat();
        let line = words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        let child = Command::new("script")
            .args(["-qefc", &line, "/dev/null"])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("skipped: there is no `script` to make a terminal");
            return None;
        };
        let out = BufReader::new(child.stdout.take().unwrap());
        Some(Terminal { child, out })
    }

    fn press(&mut self, keys: &[u8]) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(keys).unwrap();
        input.flush().unwrap();
    }

    /// Reads what is shown up to and including `end`.
    fn read_to(&mut self, end: &str) -> String {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(end.as_bytes()) {
            let n = self.out.read(&mut byte).unwrap();
            assert_eq!(n, 1, "ended before {end:?}: {}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    /// Reads all that is shown, and returns it with the exit code.
    fn end(mut self) -> (i32, String) {
        let mut seen = Vec::new();
        self.out.read_to_end(&mut seen).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, String::from_utf8_lossy(&seen).into_owned())
    }
}

fn home_with_a_session() -> Folder {
    let folder = Folder::new();
    let here = folder.path().canonicalize().unwrap();
    // The session of the folder that the test is in.
    let text = fs::read_to_string(example()).unwrap().replace("/home/dev/longhaul", here.to_str().unwrap());
    let home = folder.path().join(".claude/projects/-w");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl"), text).unwrap();
    folder
}

#[test]
fn without_a_file_the_newest_session_is_taken() {
    let folder = home_with_a_session();
    for args in [&[][..], &["context"][..]] {
        let Some(terminal) = Terminal::start(&folder, args) else { return };
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(
            shown.contains("7d1c2f6a  Claude Code, just now") && shown.contains("claude-code, 76 messages"),
            "{shown}"
        );
    }
    let (code, shown) = Terminal::start(&folder, &["compact", "--budget", "4k"]).unwrap().end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(".compacted.jsonl") && !shown.contains("\"parentUuid\""), "{shown}");
    let beside =
        folder.path().join(".claude/projects/-w/7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.compacted.jsonl");
    assert!(fs::read_to_string(beside).unwrap().contains("isCompactSummary"));
    for (args, part) in [
        (&["recall", "knapsack"][..], "\x1b[1mknapsack\x1b[0m"),
        (&["history"], "Summary "),
        (&["undo"], "undone"),
    ] {
        let (code, shown) = Terminal::start(&folder, args).unwrap().end();
        assert!(code == 0 && shown.contains(part), "{args:?}: {shown}");
    }
}

#[test]
fn ctrl_c_stops_an_answer_and_then_leaves() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Stalls("Well, let me tell you everything"),
        _ => Answer::Says("Short."),
    });
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "c"])) else { return };
    terminal.read_to("> ");
    terminal.press(b"tell me\r");
    terminal.read_to("everything");
    terminal.press(b"\x03");
    terminal.read_to("stopped");
    terminal.read_to("> ");
    terminal.press(b"shorter\r");
    terminal.read_to("Short.");
    terminal.read_to("> ");
    terminal.press(b"\x03");
    terminal.read_to("once more");
    terminal.read_to("> ");
    terminal.press(b"\x03");
    terminal.read_to("kept as");
    assert_eq!(terminal.end().0, 0);
    let body = said(&server.bodies()[1]);
    assert!(body.contains("everything\n[stopped by the user]\nuser: shorter"), "{body}");
}

#[test]
fn a_large_paste_reaches_the_model_whole() {
    let server = Server::start(|_, _| Answer::Says("Read."));
    let folder = Folder::new();
    let args = server.args(&["--session", "p"]);
    let Some(mut terminal) = Terminal::start(&folder, &args) else { return };
    terminal.read_to("> ");
    let lines = if cfg!(debug_assertions) { 400 } else { 4_100 };
    let text: Vec<String> =
        (0..lines).map(|n| format!("line {n:05} of the paste, with words to fill it up")).collect();
    let mut input = terminal.child.stdin.take().unwrap();
    let keys = format!("\x1b[200~{}\x1b[201~\r", text.join("\n"));
    let writer = thread::spawn(move || {
        input.write_all(keys.as_bytes()).unwrap();
        input
    });
    terminal.read_to("Read.");
    terminal.child.stdin = Some(writer.join().unwrap());
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    let body = &server.bodies()[0];
    assert_eq!(body["messages"][0]["content"], json!(text.join("\n")));
}
