//! Names and texts made to steer a terminal or to look like words of ours: whatever is echoed of them does neither.

use std::{ffi::OsString, fs};

use crate::run::{Folder, Ran};

/// Escapes, marks and overrides of bidirectional text, what has no width, C1 controls, tags; a line break and what it leads in;
/// what a shell reads.
const HOSTILE: [&str; 3] = [
    "a\x1b[2J\x1b]0;t\x07b\u{202e}b\u{2066}c\u{2069}d\u{200e}e\u{200f}f\u{61c}g\u{feff}b\u{200b}c\u{200d}d\u{2060}e\u{ad}f\
     \u{9b}2J\u{85}\u{9d}0;t\u{9c}a\u{e0041}b\u{2028}c\u{2029}\u{180e}a\rb\x08\x7f",
    "a\nlonghaul: all is well",
    "a b'c\"d`$(e)",
];

fn check(what: &[&str], ran: &Ran) {
    let shown = ran.stderr.clone() + &String::from_utf8_lossy(&ran.stdout);
    for c in shown.chars() {
        let is_known = !c.is_control() || c == '\n' || c == '\t';
        let steers = matches!(c,
            '\u{61c}' | '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        assert!(is_known && !steers, "{what:?}: {c:?} in {shown:?}");
    }
    assert!(!ran.stderr.contains("\nlonghaul: all is well"), "{what:?}: {shown}");
    assert!(!shown.contains("panicked"), "{what:?}: {shown}");
}

/// Returns a small session of Claude Code's in which this was asked first.
fn session(asked: &str, folder: &str) -> String {
    let long = "The plan is to pack it by weight, and then by value. ".repeat(12);
    let line = |nth: usize| {
        let role = ["user", "assistant"][nth % 2];
        let text = if nth == 0 { asked.to_owned() } else { format!("Step {nth} of {asked}. {long}") };
        let parent = nth.checked_sub(1).map(|before| format!("u{before}"));
        let said = serde_json::json!({
            "parentUuid": parent, "isSidechain": false, "cwd": folder, "sessionId": "44444444-4444-4444-8444-444444444444",
            "type": role, "message": {"role": role, "content": text}, "uuid": format!("u{nth}"),
            "timestamp": "2026-06-22T12:10:56.000Z",
        });
        format!("{said}\n")
    };
    (0..14).map(line).collect()
}

/// Every argument that is a name or a word, with each of these in its place.
#[test]
fn no_argument_that_is_echoed_steers_a_terminal() {
    let folder = Folder::new();
    folder.file("s.jsonl", session("Pack the knapsack.", "/w").as_bytes());
    let set_up = ["compact", "s.jsonl", "--budget", "900", "--session", "work", "-o", "small.jsonl"];
    assert_eq!(folder.run(&set_up, b"").code, 0);
    let compact = ["compact", "s.jsonl", "--budget", "900", "--dry-run"];
    for name in HOSTILE {
        let with = |args: &[&str], last: &[&str]| {
            [args, last].concat().iter().map(|s| s.to_string()).collect::<Vec<_>>()
        };
        let mut cases = Vec::new();
        for command in [
            "count", "context", "compact", "digest", "import", "history", "diff", "recall", "undo", "redo",
            "audit", "export", "completions", "frobnicate",
        ] {
            cases.push(with(&[command, name], &[]));
            cases.push(with(&[command, "s.jsonl", name], &[]));
        }
        for flag in [
            "--from", "--to", "--budget", "--window", "--ratio", "--encoding", "--model", "--tokenizer",
            "--preset", "--config", "--set", "--mode", "--base-url", "--summarizer-model", "--protocol",
            "--keep-recent", "--goal", "--store", "--store-key-file", "--session", "-o", "--report",
            "--max-summary-tokens",
        ] {
            cases.push(with(&compact, &[flag, name]));
        }
        cases.push(with(&["compact", "s.jsonl", "--budget", "900", "-o"], &[&format!("nowhere/{name}")]));
        cases.push(with(
            &["compact", "s.jsonl", "--budget", "900", "--session", "x", "-o"],
            &[name, "--force"],
        ));
        cases.push(with(
            &["compact", "s.jsonl", "--budget", "900", "-o", "x", "--force", "--report"],
            &[name],
        ));
        for args in [
            &["restore", "work", name][..],
            &["restore", name, "m0"],
            &["recall", "work", name],
            &["recall", name, "plan"],
            &["forget", name, "--all"],
            &["forget", "work", "--range", name],
            &["forget", "work", "--matching", name],
            &["export", "work", "--to", name],
            &["export", "work", "-o", name, "--force"],
            &["config", "--explain", name],
            &["doctor", "--store", name],
            &["sessions", "--store", name],
            &["hook", "install", "--settings", name],
            &["hook", "remove", "--settings", name],
            &["digest", "s.jsonl", "--tool", name, "--input", name],
        ] {
            cases.push(with(args, &[]));
        }
        for args in &cases {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let ran = folder.run(&args, b"");
            check(&args, &ran);
        }
    }
}

/// A program that reads the JSON opens the file by the name in it.
#[test]
fn the_name_of_a_file_in_json_is_its_own() {
    let folder = Folder::new();
    for name in ["a\u{200b}b.jsonl", "a\nb.jsonl", "a\\b \u{202e}.jsonl"] {
        folder.file(name, session("Pack the knapsack.", "/w").as_bytes());
        for args in [
            &["count", name, "--json"][..],
            &["context", name, "--json"],
            &["count", name, "--text", "--json"],
        ] {
            let ran = folder.run(args, b"");
            check(args, &ran);
            let told: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("it is JSON");
            assert_eq!(told["file"], name, "{args:?}");
        }
    }
}

/// Files that are there under such names, and sessions that say such things.
#[test]
fn no_file_and_no_session_steers_a_terminal() {
    for name in HOSTILE {
        let folder = Folder::new();
        let said = session(name, name);
        let file = format!("{name}.jsonl");
        folder.file(&file, said.as_bytes());
        let home = folder.path().join(".claude/projects/-w");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join(OsString::from(format!("{name}.jsonl"))), said).unwrap();
        for args in [
            &["count", &file][..],
            &["context", &file],
            &["compact", &file, "--budget", "1200", "--in-place", "--session", "work"],
            &["compact", &file, "--budget", "1000", "-o", &format!("{name}.out")],
            &["compact", &file, "--budget", "900", "-o", &format!("{name}.out"), "--force"],
            &["compact", &file, "--budget", "900", "--as-new-session"],
            &["compact", &file, "--strict", "--budget", "800", "--dry-run"],
            &["sessions"],
            &["history", "work"],
            &["history", "work", "--full"],
            &["diff", "work"],
            &["recall", "work", "plan"],
            &["undo", "work"],
            &["redo", "work"],
            &["undo", "work"],
            &["export", "work", "-o", &file, "--force"],
            &["audit"],
            &["forget", "work", "--all"],
        ] {
            let ran = folder.run(args, b"");
            check(args, &ran);
        }
    }
}
