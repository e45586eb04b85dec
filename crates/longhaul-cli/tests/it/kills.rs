//! Commands that are killed in the middle: no original is lost, and no output is half written.
//!
//! `LONGHAUL_KILLS` says how often each is killed.
#![cfg(unix)]

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    chat::{Answer, Server},
    run::{Folder, example},
};

/// How often each command is killed where nobody says otherwise.
const KILLS: u32 = 5;

fn kills() -> u32 {
    std::env::var("LONGHAUL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS)
}

/// Starts `longhaul` and kills it after `share` of the time `whole` that it takes.
fn killed(folder: &Folder, args: &[&str], whole: Duration, share: f64) {
    killed_at_its_input(folder, args, Stdio::null(), whole, share);
}

fn killed_at_its_input(folder: &Folder, args: &[&str], stdin: Stdio, whole: Duration, share: f64) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
        .args(args)
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(whole.mul_f64(share));
    let _ = child.kill();
    child.wait().unwrap();
}

/// Returns how long the command takes when nobody kills it.
fn whole(folder: &Folder, args: &[&str]) -> Duration {
    let started = Instant::now();
    let ran = folder.run(args, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    started.elapsed()
}

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap_or_default()
}

/// Fails where the store in the folder is not sound.
fn assert_sound(folder: &Folder) {
    if folder.path().join(".local/share/longhaul/store.db").exists() {
        let ran = folder.run(&["audit", "--verify"], b"");
        assert_eq!(ran.code, 0, "{} {}", String::from_utf8_lossy(&ran.stdout), ran.stderr);
    }
}

/// Returns the messages that the session holds; none where there is no such session.
fn held(folder: &Folder, session: &str) -> Vec<Value> {
    let ran = folder.run(&["history", session, "--full", "--json"], b"");
    let history = serde_json::from_slice::<Value>(&ran.stdout).unwrap_or_default();
    let messages = history["messages"].as_array().into_iter().flatten();
    messages.map(|one| one["message"].clone()).filter(|message| !message.is_null()).collect()
}

fn n_held(folder: &Folder, session: &str) -> usize {
    held(folder, session).len()
}

/// Starts a compaction in place, and kills it so long after it has kept the transcript beside it, or never. Returns how long it
/// went on after that.
fn killed_behind_the_backup(folder: &Folder, delay: Option<Duration>) -> Duration {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
        .args(["compact", "s.jsonl", "--budget", "4000", "--in-place", "--session", "work"])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !folder.path().join("s.jsonl.bak").exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(200));
    }
    let kept = Instant::now();
    if let Some(delay) = delay {
        thread::sleep(delay);
        let _ = child.kill();
    }
    child.wait().unwrap();
    kept.elapsed()
}

#[test]
fn what_a_killed_run_did_to_a_file_is_taken_back() {
    let before = fs::read(example()).unwrap();
    let mut whole = Duration::ZERO;
    let tries = 2 * kills();
    for nth in 0..=tries {
        let folder = Folder::new();
        folder.file("s.jsonl", &before);
        let delay = (nth > 0).then(|| whole.mul_f64(f64::from(nth) / f64::from(tries)));
        whole = whole.max(killed_behind_the_backup(&folder, delay));
        let undone = folder.run(&["undo", "work"], b"");
        assert_eq!(undone.code, 0, "{}", undone.stderr);
        assert!(bytes(&folder, "s.jsonl") == before, "killed {delay:?} behind: {}", undone.stderr);
    }
}

#[test]
fn an_undo_that_is_killed_is_done_by_the_next() {
    let before = fs::read(example()).unwrap();
    let compacted = || {
        let folder = Folder::new();
        folder.file("s.jsonl", &before);
        let args = ["compact", "s.jsonl", "--budget", "4000", "--in-place", "--session", "work"];
        assert_eq!(folder.run(&args, b"").code, 0);
        folder
    };
    let whole = whole(&compacted(), &["undo", "work"]);
    for share in moments(2 * kills()) {
        let folder = compacted();
        let after = bytes(&folder, "s.jsonl");
        killed(&folder, &["undo", "work"], whole, share);
        let now = bytes(&folder, "s.jsonl");
        assert!(now == before || now == after, "half of a session after {share}");
        let undone = folder.run(&["undo", "work"], b"");
        assert!([0, 3].contains(&undone.code), "after {share}: {}", undone.stderr);
        assert!(bytes(&folder, "s.jsonl") == before, "after {share}: {}", undone.stderr);
        let history = folder.run(&["history", "work", "--json"], b"");
        let history: Value = serde_json::from_slice(&history.stdout).unwrap();
        assert_eq!(history["summaries"], serde_json::json!([]), "after {share}: {}", undone.stderr);
        assert_sound(&folder);
    }
}

/// Where in its run each of `n` processes is killed: spread from the beginning to a little behind the end.
fn moments(n: u32) -> impl Iterator<Item = f64> {
    (0..n).map(move |nth| 1.1 * f64::from(nth) / f64::from(n.max(2) - 1))
}

#[test]
fn a_compaction_that_is_killed_leaves_the_old_or_the_new() {
    let before = fs::read(example()).unwrap();
    let args = [
        "compact", "session.jsonl", "--budget", "4000", "-o", "session.jsonl", "--force", "--report",
        "report",
    ];
    let folder = Folder::new();
    folder.file("session.jsonl", &before);
    let whole = whole(&folder, &args);
    let (after, held) =
        (bytes(&folder, "session.jsonl"), before.iter().filter(|byte| **byte == b'\n').count());
    let session = folder.run(&["sessions", "--json"], b"");
    let session: Value = serde_json::from_slice(&session.stdout).unwrap();
    let (session, n_messages) =
        (session["session"].as_str().unwrap(), n_held(&folder, session["session"].as_str().unwrap()));
    assert!(n_messages > 50 && held > 50);
    for share in moments(kills()) {
        let folder = Folder::new();
        folder.file("session.jsonl", &before);
        killed(&folder, &args, whole, share);
        assert_sound(&folder);
        let now = bytes(&folder, "session.jsonl");
        assert!(now == before || now == after, "half of a history after {share}");
        if now == after {
            let is_beside = bytes(&folder, "session.jsonl.bak") == before;
            assert!(is_beside || n_held(&folder, session) == n_messages, "originals are lost after {share}");
        }
        let report = bytes(&folder, "report");
        assert!(
            report.is_empty() || serde_json::from_slice::<Value>(&report).is_ok(),
            "half of a report after {share}"
        );
        // And whoever says it again gets it.
        folder.file("session.jsonl", &before);
        let again = folder.run(&args, b"");
        assert_eq!(again.code, 0, "after {share}: {}", again.stderr);
        assert_eq!(bytes(&folder, "session.jsonl"), after);
    }
}

#[test]
fn a_chat_that_is_killed_loses_nothing_that_was_said_and_goes_on() {
    let serve = || {
        Server::start(|_, _| {
            Answer::Says(
                "The function parse_header in src/wire.rs reads the magic number first and then the length of the body, and fails \
                 with E_SHORT where there is less.",
            )
        })
    };
    let lines: Vec<String> = (0..11)
        .map(|nth| {
            let why = "and why in this order and in no other? ".repeat(12);
            format!("What does step {nth} of the import do with the file part_{nth}.csv, {why}")
        })
        .collect();
    let script = |from: usize| lines[from..].join("\n") + "\n/save saved.json\n";
    let more = ["--session", "talk", "--window", "2000", "--max-output", "200"];
    let (folder, server) = (Folder::new(), serve());
    let started = Instant::now();
    let ran = folder.run(&server.args(&more), script(0).as_bytes());
    let whole = started.elapsed();
    assert!(ran.code == 0 && ran.stderr.contains(" messages summarized"), "{}", ran.stderr);
    let all = held(&folder, "talk");
    let asked = |held: &[Value]| held.iter().filter(|message| message["role"] == "user").count();
    assert_eq!(asked(&all), lines.len());
    for share in moments(kills()) {
        let (folder, server) = (Folder::new(), serve());
        let stdin = fs::File::open(folder.file("script", script(0).as_bytes())).unwrap();
        killed_at_its_input(&folder, &server.args(&more), stdin.into(), whole, share);
        assert_sound(&folder);
        let held_then = held(&folder, "talk");
        assert!(all.starts_with(&held_then), "another conversation after {share}");
        // What was sent had been written, and each answer before what was said to it.
        let (n_sent, n_asked) = (server.bodies().len(), asked(&held_then));
        let n_answered = held_then.len() - n_asked;
        assert!(n_asked >= n_sent && n_answered + 1 >= n_sent, "{n_sent} sent, {n_asked} held after {share}");
        let saved = bytes(&folder, "saved.json");
        let is_whole = saved.is_empty() || serde_json::from_slice::<Value>(&saved).is_ok();
        assert!(is_whole, "half of a history after {share}");
        let retry = if n_asked > n_answered { "/retry\n" } else { "" };
        let ran = folder.run(&server.args(&more), format!("{retry}{}", script(n_asked)).as_bytes());
        assert_eq!(ran.code, 0, "after {share}: {}", ran.stderr);
        assert!(held(&folder, "talk") == all, "after {share}: {}", ran.stderr);
    }
}

#[test]
fn an_import_that_is_killed_can_be_done_again() {
    let source = Folder::new();
    let example = example();
    source.run(&["compact", example.to_str().unwrap(), "--budget", "4000", "--session", "work"], b"");
    source.run(&["export", "work", "-o", "out"], b"");
    let (export, n_messages) = (bytes(&source, "out"), n_held(&source, "work"));
    let folder = Folder::new();
    folder.file("out", &export);
    let whole = whole(&folder, &["import", "out"]);
    for share in moments(kills()) {
        let folder = Folder::new();
        folder.file("out", &export);
        killed(&folder, &["import", "out"], whole, share);
        assert_sound(&folder);
        assert_eq!(folder.run(&["import", "out"], b"").code, 0);
        assert_eq!(n_held(&folder, "work"), n_messages, "after {share}");
        assert_eq!(folder.run(&["export", "work"], b"").stdout, export);
    }
}

#[test]
fn a_forgetting_that_is_killed_forgets_nothing_else_and_can_be_done_again() {
    let source = Folder::new();
    // Texts are compressed; the index of words is where one stands as it is, its beginning shared with its neighbours.
    let said = fs::read_to_string(example()).unwrap().replacen("Never change", "Never qzxwv change", 1);
    source.file("session.jsonl", said.as_bytes());
    source.run(&["compact", "session.jsonl", "--budget", "4000", "--session", "work"], b"");
    let (store, n_messages) = (bytes(&source, ".local/share/longhaul/store.db"), n_held(&source, "work"));
    let holds_word = |bytes: &[u8]| bytes.windows(4).any(|window| window == b"zxwv");
    assert!(holds_word(&store));
    let prepared = || {
        let folder = Folder::new();
        fs::create_dir_all(folder.path().join(".local/share/longhaul")).unwrap();
        folder.file(".local/share/longhaul/store.db", &store);
        folder.file("words", b"qzxwv\n");
        folder
    };
    let forget = ["forget", "work", "--matching", "words"];
    let folder = prepared();
    let whole = whole(&folder, &forget);
    let n_left = n_held(&folder, "work");
    assert!(n_left < n_messages);
    for share in moments(kills()) {
        let folder = prepared();
        killed(&folder, &forget, whole, share);
        assert_sound(&folder);
        let held = n_held(&folder, "work");
        assert!(held == n_messages || held == n_left, "{held} of {n_messages} after {share}");
        let again = folder.run(&forget, b"");
        assert_eq!(again.code, if held == n_left { 3 } else { 0 }, "{}", again.stderr);
        assert_eq!(n_held(&folder, "work"), n_left);
        for suffix in ["", "-wal"] {
            let bytes = bytes(&folder, &format!(".local/share/longhaul/store.db{suffix}"));
            assert!(!holds_word(&bytes), "after {share}");
        }
    }
}
