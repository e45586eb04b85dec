//! The command on a terminal of its own, as a person meets it. `setsid` of util-linux makes that the terminal that Ctrl-C comes
//! from; where it is missing these tests say so and do nothing.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    process::{Child, Command},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use nix::pty::{Winsize, openpty};
use serde_json::json;

use crate::{
    chat::{Answer, Server, said},
    run::{Folder, example},
};

/// `longhaul` with these words on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    /// What was shown and not looked at yet.
    rest: Vec<u8>,
}

/// Nothing that is waited for takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

impl Terminal {
    /// Starts it on 80 columns.
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Option<Terminal> {
        Terminal::of(folder, args, 80)
    }

    /// Starts it on so many columns.
    pub(crate) fn of(folder: &Folder, args: &[&str], columns: u16) -> Option<Terminal> {
        Terminal::with(folder, args, columns, &[])
    }

    /// The same with these variables in the environment.
    fn with(folder: &Folder, args: &[&str], columns: u16, variables: &[(&str, &str)]) -> Option<Terminal> {
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None).unwrap();
        let (keys, theirs) = (File::from(pair.master), File::from(pair.slave));
        let child = Command::new("setsid")
            .arg("--ctty")
            .arg(assert_cmd::cargo::cargo_bin!("longhaul"))
            .args(args)
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TERM", "xterm-256color")
            .envs(variables.iter().copied())
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap())
            .stderr(theirs)
            .spawn();
        let Ok(child) = child else {
            eprintln!("skipped: there is no `setsid` to give the command a terminal");
            return None;
        };
        let (out, shown) = mpsc::channel();
        let mut screen = keys.try_clone().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            // When the command ends its terminal fails.
            while let Ok(n @ 1..) = screen.read(&mut bytes) {
                if out.send(bytes[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Terminal { child, keys, shown, rest: Vec::new() })
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// Reads what is shown up to and including `end`.
    fn read_to(&mut self, end: &str) -> String {
        loop {
            let text = String::from_utf8_lossy(&self.rest).into_owned();
            if let Some(at) = self.rest.windows(end.len()).position(|some| some == end.as_bytes()) {
                self.rest.drain(..at + end.len());
                return text;
            }
            let more = self.shown.recv_timeout(PATIENCE);
            self.rest.extend(more.unwrap_or_else(|error| panic!("{error} before {end:?}: {text}")));
        }
    }

    /// Waits for the prompt.
    fn prompted(&mut self) {
        self.read_to("> ");
    }

    /// Leaves the chat as one does with Ctrl-C: once is asked about, twice leaves.
    fn left_by_ctrl_c(mut self) {
        self.prompted();
        self.press(b"\x03");
        self.read_to("once more");
        self.prompted();
        self.press(b"\x03");
        self.read_to("kept as");
        assert_eq!(self.end().0, 0);
    }

    /// Reads all that is shown, and returns it with the exit code.
    pub(crate) fn end(mut self) -> (i32, String) {
        while let Ok(more) = self.shown.recv_timeout(PATIENCE) {
            self.rest.extend(more);
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, String::from_utf8_lossy(&self.rest).into_owned())
    }
}

/// Its keys are named, and what ends a line elsewhere ends it.
#[test]
fn a_chooser_says_its_keys_and_is_left_by_each() {
    let folder = Folder::new();
    let home = folder.path().join(".claude/projects/-w");
    fs::create_dir_all(&home).unwrap();
    let text = fs::read_to_string(example()).unwrap();
    for id in ["7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa", "7d1c2f6b-5b0e-4f2d-9a53-3f4c81b0e6aa"] {
        fs::write(home.join(format!("{id}.jsonl")), &text).unwrap();
    }
    for (keys, code) in
        [(&b"\x04"[..], 4), (b"\x1b", 4), (b"q", 4), (b"n", 4), (b"\x03", 130), (b"\x1b[B\r", 0)]
    {
        let Some(mut terminal) = Terminal::start(&folder, &["context", "7d1c2f6"]) else { return };
        let question = terminal.read_to("Esc leaves");
        assert!(question.contains("may be any of these"), "{question}");
        terminal.read_to("> ");
        thread::sleep(Duration::from_millis(100));
        terminal.press(keys);
        let (ended, shown) = terminal.end();
        assert!(ended == code && shown.contains("\x1b[?25h"), "{keys:?}: {ended} {shown}");
    }
}

/// Nobody chooses what they have not seen; what is chosen says what it is.
#[test]
fn a_chooser_takes_no_key_that_was_typed_ahead() {
    let folder = Folder::new();
    let example = example();
    let args = ["compact", example.to_str().unwrap(), "--budget", "4k", "-o", "out", "--session", "work"];
    assert_eq!(folder.run(&args, b"").code, 0);
    let Some(mut terminal) = Terminal::of(&folder, &["undo", "trim planner"], 120) else { return };
    terminal.press(b"\r");
    let seen = terminal.read_to("Esc leaves");
    terminal.read_to("> ");
    thread::sleep(Duration::from_millis(300));
    terminal.press(b"\x04");
    let shown = seen + &terminal.read_to("takes no words for one");
    let chosen = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa  The trim planner throws away too much.";
    assert!(shown.contains(chosen), "{shown}");
    assert_eq!(terminal.end().0, 1);
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

/// Words may mean a session that nobody thought of, and an agent's file is changed.
#[test]
fn words_choose_no_file_that_is_compacted_in_place() {
    let folder = home_with_a_session();
    let file = folder.path().join(".claude/projects/-w/7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl");
    let before = fs::read(&file).unwrap();
    let args = |named: &'static str| ["compact", named, "--in-place", "--budget", "9000"];
    let refused = folder.run(&args("trim planner"), b"");
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("takes no words for one") && refused.stderr.contains("7d1c2f6a"));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(folder.run(&args("7d1c2f6a"), b"").code, 0);
    assert_ne!(fs::read(&file).unwrap(), before);
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
    // An agent takes each file of its folder for a session.
    let here = folder.path().join("7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.compacted.jsonl");
    assert!(fs::read_to_string(here).unwrap().contains("isCompactSummary"));
    assert_eq!(fs::read_dir(folder.path().join(".claude/projects/-w")).unwrap().count(), 1);
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
    terminal.prompted();
    terminal.press(b"tell me\r");
    // The last word is shown when it has ended.
    terminal.read_to("tell you");
    terminal.press(b"\x03");
    terminal.read_to("stopped");
    terminal.prompted();
    terminal.press(b"shorter\r");
    terminal.read_to("Short.");
    terminal.left_by_ctrl_c();
    let body = said(&server.bodies()[1]);
    assert!(body.contains("everything\n[stopped by the user]\nuser: shorter"), "{body}");
}

#[test]
fn ctrl_c_clears_a_line_and_leaves_from_an_empty_one() {
    let server = Server::start(|_, _| Answer::Says("Short."));
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "h"])) else { return };
    terminal.prompted();
    for _ in 0..2 {
        terminal.press(b"half of it");
        terminal.read_to("half of it");
        terminal.press(b"\x03");
        let shown = terminal.read_to("> ");
        assert!(!shown.contains("once more"), "{shown}");
    }
    // Esc takes nothing with it, be it right before a key or long before.
    for keys in [&[&b"\x1b\x03"[..]][..], &[b"\x1b", b"\x03"]] {
        terminal.press(b"half of it");
        terminal.read_to("half of it");
        for key in keys {
            terminal.press(key);
            thread::sleep(Duration::from_millis(600));
        }
        terminal.read_to("> ");
    }
    terminal.press(b"\x03");
    terminal.read_to("once more");
    terminal.prompted();
    // What was typed meanwhile is not a way out.
    terminal.press(b"another");
    terminal.read_to("another");
    terminal.press(b"\x03");
    terminal.prompted();
    // What was cleared comes back.
    terminal.press(b"\x1b[A!\r");
    terminal.read_to("Short.");
    terminal.left_by_ctrl_c();
    assert_eq!(said(&server.bodies()[0]), "user: another!\n");
    assert_eq!(server.bodies().len(), 1);
}

#[test]
fn what_takes_long_after_a_large_file_was_read_is_told() {
    let folder = Folder::new();
    let message =
        format!("{}\n", json!({"role": "user", "content": "The relay reads its queue. ".repeat(4_000)}));
    folder.file("large.jsonl", message.repeat(200).as_bytes());
    let Some(mut terminal) = Terminal::start(&folder, &["context", "large.jsonl"]) else { return };
    terminal.read_to("working through 20.");
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
}

#[test]
fn an_answer_that_was_stopped_is_asked_for_again() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Stalls("Well, let me tell you"),
        _ => Answer::Says("Short."),
    });
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "r"])) else { return };
    terminal.prompted();
    terminal.press(b"tell me\r");
    terminal.read_to("Well, let");
    terminal.press(b"\x03");
    terminal.read_to("stopped;");
    terminal.prompted();
    terminal.press(b"/retry\r");
    terminal.read_to("Short.");
    terminal.prompted();
    terminal.press(b"/retry\r");
    terminal.read_to("the last message is an answer");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    let body = said(&server.bodies()[1]);
    assert!(body.ends_with("[stopped by the user]\nuser: tell me\n"), "{body}");
}

#[test]
fn a_summary_that_is_waited_for_is_told_and_stops_for_the_rules() {
    // Nobody who is asked for a summary says anything.
    let server = Server::start(|_, body| match body["stream"] == true {
        true => Answer::Says("The import reads each part of the file in order and writes what it read."),
        false => Answer::Stalls(""),
    });
    let folder = Folder::new();
    let script: String = (0..24).map(|n| format!("What becomes of part_{n}.csv in step {n}?\n")).collect();
    let begun = folder.run(&server.args(&["--session", "s"]), script.as_bytes());
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    let own = ["--mode", "llm", "--window", "1000", "--max-output", "200", "--summarizer-window", "8000"];
    let args = server.args(&[&["--session", "s"], &own[..]].concat());
    let Some(mut terminal) = Terminal::start(&folder, &args) else { return };
    terminal.prompted();
    terminal.press(b"and then?\r");
    terminal.read_to("asking gpt-4o for a summary");
    terminal.press(b"typed ahead\r");
    terminal.press(b"\x03");
    terminal.read_to("stopped by Ctrl-C");
    terminal.read_to("messages summarized");
    terminal.read_to("what it read.");
    // It stands at the prompt.
    terminal.read_to("> typed ahead");
    terminal.press(b"\r");
    terminal.read_to("what it read.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    let streamed: Vec<_> = server.bodies().into_iter().filter(|body| body["stream"] == true).collect();
    assert!(said(&streamed[24]).ends_with("user: and then?\n"), "{}", said(&streamed[24]));
    assert!(said(&streamed[25]).ends_with("user: typed ahead\n"), "{}", said(&streamed[25]));
}

#[test]
fn ctrl_c_in_the_editor_of_a_review_is_the_editors() {
    let folder = Folder::new();
    let temp = folder.path().join("temp");
    fs::create_dir(&temp).unwrap();
    folder.file("edit", b"touch running; sleep 771");
    let example = example();
    let args =
        ["compact", example.to_str().unwrap(), "--budget", "4k", "-o", "out", "--no-store", "--review"];
    let variables = [("EDITOR", "sh ./edit"), ("VISUAL", ""), ("TMPDIR", temp.to_str().unwrap())];
    let Some(mut terminal) = Terminal::with(&folder, &args, 80, &variables) else { return };
    terminal.read_to("[n]o, [e]dit: ");
    terminal.press(b"e\r");
    wait_until(|| sleeps("771"));
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 1);
    terminal.press(b"\x03");
    terminal.read_to("the summary is as");
    terminal.read_to("[n]o, [e]dit: ");
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
    terminal.press(b"\x03");
    assert_eq!(terminal.end().0, 130);
}

#[test]
fn all_of_a_session_is_destroyed_once_somebody_says_so() {
    let folder = Folder::new();
    let example = example();
    let args = ["compact", example.to_str().unwrap(), "--budget", "4k", "-o", "out", "--session", "work"];
    assert_eq!(folder.run(&args, b"").code, 0);
    let forget = ["forget", "work", "--all"];
    let Some(mut terminal) = Terminal::start(&folder, &forget) else { return };
    terminal.read_to("Destroy 76 messages of");
    terminal.read_to("[y]es, [n]o: ");
    terminal.press(b"n\r");
    let (code, shown) = terminal.end();
    assert!(code == 1 && shown.contains("is forgotten"), "{shown}");
    // Of what is older than nothing, all is.
    let mut terminal = Terminal::start(&folder, &["forget", "work", "--older-than", "0"]).unwrap();
    terminal.read_to("Destroy 76 messages of");
    terminal.read_to("[y]es, [n]o: ");
    terminal.press(b"n\r");
    assert_eq!(terminal.end().0, 1);
    let (code, shown) = Terminal::start(&folder, &[&forget[..], &["--yes"]].concat()).unwrap().end();
    assert!(code == 0 && shown.contains("destroyed"), "{shown}");
}

#[test]
fn ctrl_c_ends_a_wait_that_the_server_asked_for() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Limits(Some(100)),
        _ => Answer::Says("Here."),
    });
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "w"])) else { return };
    terminal.prompted();
    terminal.press(b"tell me\r");
    terminal.read_to("ends the wait");
    terminal.press(b"\x03");
    terminal.read_to("stopped; Ctrl-C once more leaves");
    terminal.prompted();
    terminal.press(b"/retry\r");
    terminal.read_to("Here.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(said(&server.bodies()[1]), "user: tell me\n");
}

/// The second of them is pressed before there is a prompt again.
#[test]
fn ctrl_c_twice_at_once_leaves() {
    let server = Server::start(|_, body| match body["tools"].is_array() {
        true => Answer::Calls(vec![("run_command", json!({"command": "sleep 776"}))]),
        false => Answer::Stalls("Well, let me"),
    });
    let press_twice = |mut terminal: Terminal, stopped: &str| {
        terminal.press(b"\x03");
        terminal.read_to(stopped);
        terminal.press(b"\x03");
        let (code, shown) = terminal.end();
        assert!(code == 130 || code == 0 && shown.contains("kept as"), "{code}: {shown}");
    };
    for _ in 0..3 {
        let folder = Folder::new();
        let Some(mut terminal) = with_tools(&folder, &server) else { return };
        terminal.press(b"go on\r");
        terminal.read_to("[n]o, [a]lways: ");
        terminal.press(b"y\r");
        wait_until(|| sleeps("776"));
        press_twice(terminal, "stopped by the user");
        let mut terminal = Terminal::start(&folder, &server.args(&["--session", "d"])).unwrap();
        terminal.prompted();
        terminal.press(b"tell me\r");
        terminal.read_to("Well, let");
        press_twice(terminal, "stopped;");
    }
}

/// The shell gets it back as it was, whoever ends the chat.
#[test]
fn a_chat_that_is_told_to_end_gives_its_terminal_back() {
    use nix::sys::termios::{LocalFlags, tcgetattr};
    let server = Server::start(|_, _| Answer::Says("Well."));
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "t"])) else { return };
    let echoes = |terminal: &Terminal| {
        tcgetattr(&terminal.keys).unwrap().local_flags.contains(LocalFlags::ECHO | LocalFlags::ISIG)
    };
    terminal.prompted();
    assert!(!echoes(&terminal));
    assert!(Command::new("kill").arg(terminal.child.id().to_string()).status().unwrap().success());
    assert_eq!(terminal.child.wait().unwrap().code(), Some(128 + 15));
    assert!(echoes(&terminal));
}

#[test]
fn a_second_line_that_was_typed_ahead_is_not_lost() {
    let server = Server::start(|nth, _| Answer::Says(if nth == 0 { "First." } else { "Second." }));
    let folder = Folder::new();
    let Some(mut terminal) = Terminal::start(&folder, &server.args(&["--session", "t"])) else { return };
    terminal.prompted();
    terminal.press(b"tell me\rand then?\r");
    terminal.read_to("First.");
    terminal.read_to("Second.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    let body = said(&server.bodies()[1]);
    assert!(body.contains("First.\nuser: and then?"), "{body}");
}

/// Starts a conversation in which the model may use tools.
fn with_tools(folder: &Folder, server: &Server) -> Option<Terminal> {
    let mut terminal = Terminal::start(folder, &server.args(&["--session", "c", "--tools"]))?;
    terminal.prompted();
    Some(terminal)
}

/// Nobody has agreed to what he has not seen.
#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Calls(vec![("run_command", json!({"command": "touch made"}))]),
        _ => Answer::Says("Well."),
    });
    let folder = Folder::new();
    let Some(mut terminal) = with_tools(&folder, &server) else { return };
    terminal.press(b"go on\ry\r");
    terminal.read_to("[n]o, [a]lways: ");
    terminal.press(b"n\r");
    // What was typed ahead is the next message.
    terminal.read_to("Well.");
    terminal.read_to("Well.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    assert!(!folder.path().join("made").exists());
    assert!(said(&server.bodies()[1]).contains("the user refused this"));
}

#[test]
fn ctrl_c_at_a_question_ends_the_turn() {
    let server = Server::start(|nth, _| match nth {
        0 => Answer::Calls(vec![
            ("run_command", json!({"command": "touch made"})),
            ("run_command", json!({"command": "touch more"})),
        ]),
        _ => Answer::Says("Well."),
    });
    let folder = Folder::new();
    let Some(mut terminal) = with_tools(&folder, &server) else { return };
    terminal.press(b"go on\r");
    terminal.read_to("[n]o, [a]lways: ");
    terminal.press(b"\x1b\x03");
    terminal.read_to("stopped; Ctrl-C once more leaves");
    terminal.prompted();
    assert_eq!(server.bodies().len(), 1, "the model does not go on by itself");
    terminal.press(b"what else?\r");
    terminal.read_to("Well.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    assert!(!folder.path().join("made").exists() && !folder.path().join("more").exists());
    let body = said(&server.bodies()[1]);
    let stopped = "tool: Error: not run: the user stopped the turn\n";
    assert!(body.ends_with(&format!("{stopped}{stopped}user: what else?\n")), "{body}");
}

/// Whether somebody sleeps for so many seconds.
fn sleeps(seconds: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.map(|one| fs::read(one.path().join("cmdline")).unwrap_or_default());
    commands.any(|command| command.starts_with(format!("sleep\0{seconds}").as_bytes()))
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_does_not_outlive_the_chat_nor_its_terminal() {
    // A terminal that is closed hangs up. What is killed can end nothing itself.
    for (seconds, signal) in [("774", "-TERM"), ("775", "-HUP"), ("778", "-KILL")] {
        let command = format!("sleep {seconds} & echo on; sleep {seconds}");
        let server = Server::start(move |_, _| {
            Answer::Calls(vec![("run_command", json!({"command": command, "timeout_seconds": 600}))])
        });
        let folder = Folder::new();
        let Some(mut terminal) = with_tools(&folder, &server) else { return };
        terminal.press(b"go on\r");
        terminal.read_to("[n]o, [a]lways: ");
        terminal.press(b"y\r");
        wait_until(|| sleeps(seconds));
        let id = terminal.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let ended = terminal.child.wait().unwrap();
        match ended.code() {
            Some(code) => assert!(code > 128 && !sleeps(seconds), "{signal}"),
            None => wait_until(|| !sleeps(seconds)),
        }
    }
}

#[test]
fn a_large_paste_reaches_the_model_whole() {
    let server = Server::start(|_, _| Answer::Says("Read."));
    let folder = Folder::new();
    let args = server.args(&["--session", "p"]);
    let Some(mut terminal) = Terminal::start(&folder, &args) else { return };
    terminal.prompted();
    let lines = if cfg!(debug_assertions) { 400 } else { 4_100 };
    let text: Vec<String> =
        (0..lines).map(|n| format!("line {n:05} of the paste, with words to fill it up")).collect();
    terminal.press(format!("\x1b[200~{}\x1b[201~\r", text.join("\n")).as_bytes());
    terminal.read_to("Read.");
    terminal.prompted();
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    let body = &server.bodies()[0];
    assert_eq!(body["messages"][0]["content"], json!(text.join("\n")));
}

#[test]
fn nothing_that_a_chat_shows_breaks_inside_a_word() {
    let server = Server::start(|_, _| {
        Answer::Says(
            "The relay reads its queue in order, writes what it sent to the ledger, and waits for an answer before it goes on with the next.",
        )
    });
    let folder = Folder::new();
    let Some(mut terminal) = with_tools(&folder, &server) else { return };
    terminal.press(b"And what exactly is it that the relay does with a message that has come in and was never answered by anybody?\r");
    terminal.read_to("the next.");
    terminal.prompted();
    let mut shown = String::new();
    for (command, end) in [
        ("/help", "Ctrl-D or /quit leaves."),
        ("/recall m1-m2", "the next."),
        ("/recall relay", "the next."),
        ("/history --full", "the next."),
    ] {
        terminal.press(format!("{command}\r").as_bytes());
        shown.push_str(&terminal.read_to(end));
        shown.push_str(end);
        terminal.prompted();
    }
    terminal.press(b"/quit\r");
    assert_eq!(terminal.end().0, 0);
    for line in shown.lines().filter(|line| !line.contains('\x1b')) {
        let line = line.trim_end_matches('\r');
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line:?} in\n{shown}");
    }
    assert!(shown.contains("has come in and\r\nwas never answered"), "{shown}");

    // Without a name the conversation of the folder is taken.
    let (code, shown) = Terminal::start(&folder, &["context"]).unwrap().end();
    assert!(code == 0 && shown.contains("session c") && shown.contains("of 128,000 tokens"), "{shown}");
}
