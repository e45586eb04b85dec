//! Nobody's file comes to harm: what is replaced, what is kept, what is refused.
#![cfg(unix)]

use std::{
    fs,
    io::Read as _,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::run::{Folder, Ran, example};

fn session(folder: &Folder) -> Vec<u8> {
    let bytes = fs::read(example()).unwrap();
    folder.file("session.jsonl", &bytes);
    bytes
}

fn compact(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["compact", "session.jsonl", "--budget", "2000"], args].concat(), b"")
}

fn said(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn a_transcript_that_is_replaced_is_kept_beside_it() {
    // A store has the messages, and nothing of what an agent wrote around them.
    for store in [&["--no-store"][..], &["--store", "store.db"]] {
        let folder = Folder::new();
        let input = session(&folder);
        let ran = compact(&folder, &[&["-o", "session.jsonl", "--force"], store].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("kept as session.jsonl.bak"), "{}", ran.stderr);
        assert_eq!(said(&folder, "session.jsonl.bak"), input);
        assert_ne!(said(&folder, "session.jsonl"), input);
    }
}

#[test]
fn a_database_is_never_replaced() {
    let folder = Folder::new();
    session(&folder);
    let ran = compact(&folder, &["-o", "out", "--store", "store.db"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let before = said(&folder, "store.db");
    let ran = compact(&folder, &["--no-store", "-o", "store.db", "--force"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("SQLite database"), "{}", ran.stderr);
    assert_eq!(said(&folder, "store.db"), before);
}

#[test]
fn a_transcript_is_known_under_other_names() {
    let folder = Folder::new();
    let input = session(&folder);
    symlink("session.jsonl", folder.path().join("link")).unwrap();
    fs::hard_link(folder.path().join("session.jsonl"), folder.path().join("other")).unwrap();
    for name in ["./session.jsonl", "link", "other"] {
        let ran = compact(&folder, &["--no-store", "-o", "out", "--force", "--report", name]);
        assert_eq!(ran.code, 4, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("would replace the transcript itself"), "{}", ran.stderr);
        assert!(!folder.path().join("out").exists());
    }
    let ran = compact(&folder, &["--no-store", "-o", "link", "--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink(), "the link was replaced");
    assert_eq!(said(&folder, "session.jsonl.bak"), input);
}

#[test]
fn a_report_replaces_reports_only() {
    let folder = Folder::new();
    session(&folder);
    folder.file("notes.txt", b"precious");
    for force in [&[][..], &["--force"]] {
        let ran = compact(&folder, &[&["--no-store", "-o", "out", "--report", "notes.txt"], force].concat());
        assert_eq!(
            (ran.code, said(&folder, "notes.txt").as_slice()),
            (1, &b"precious"[..]),
            "{}",
            ran.stderr
        );
    }
    // Such as one that was made for it.
    folder.file("report.json", b"");
    for _ in 0..2 {
        let ran = compact(&folder, &["--no-store", "--report", "report.json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let ran = compact(&folder, &["--no-store", "-o", "same", "--report", "same"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
}

#[test]
fn devices_and_pipes_are_written_to() {
    let folder = Folder::new();
    session(&folder);
    let ran = compact(&folder, &["--no-store", "-o", "/dev/null", "--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut bytes = Vec::new();
            fs::File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        }
    });
    let ran = compact(&folder, &["--no-store", "-o", "pipe"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(reader.join().unwrap(), compact(&folder, &["--no-store"]).stdout);
    assert!(fs::metadata(pipe).unwrap().file_type().is_fifo());
}

/// Returns the path of a new named pipe.
fn pipe(folder: &Folder, name: &str) -> PathBuf {
    let pipe = folder.path().join(name);
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// Nothing waits for somebody who is not there.
#[test]
fn a_pipe_that_nobody_writes_into_is_given_up() {
    let compact = ["compact", "session.jsonl", "--budget", "2000", "--no-store"];
    let to_pipe = [&compact[..], &["-o", "pipe"]].concat();
    let report_to_pipe = [&compact[..], &["-o", "out", "--report", "pipe", "--force"]].concat();
    let cases = [
        &["count", "pipe"][..],
        &["context", "pipe"],
        &["compact", "pipe"],
        &["digest", "pipe"],
        &["count", "session.jsonl", "--tokenizer", "pipe"],
        &["config", "--config", "pipe"],
        &["sessions", "--store", "pipe"],
        &["doctor", "--store", "pipe"],
        &["sessions", "--store", "s.db", "--store-key-file", "pipe"],
        &to_pipe,
        &report_to_pipe,
        &["compact", "pipe", "--in-place"],
        &["compact", "pipe", "--as-new-session"],
        &["hook", "install", "--settings", "pipe"],
        &["hook", "remove", "--settings", "pipe"],
        &["import", "pipe"],
        &["forget", "x", "--matching", "pipe"],
    ];
    // What is not there as settings is passed over; what is there and cannot be read is not.
    for is_pipe in [true, false] {
        let folder = Folder::new();
        let place = ".config/longhaul/config.toml";
        fs::create_dir_all(folder.path().join(if is_pipe { ".config/longhaul" } else { place })).unwrap();
        if is_pipe {
            pipe(&folder, place);
        }
        for command in ["config", "doctor"] {
            let ran = folder.run(&[command], b"");
            let said = ran.said() + &String::from_utf8_lossy(&ran.stdout);
            assert!(ran.code == 1 && said.contains("config.toml cannot be read"), "{command}: {said}");
        }
    }
    let check = |args: &[&str]| {
        let folder = Folder::new();
        session(&folder);
        folder.file("s.db", b"");
        pipe(&folder, "pipe");
        let started = Instant::now();
        let ran = folder.run(args, b"");
        assert!([1, 4].contains(&ran.code), "{args:?}: {}", ran.stderr);
        let said = ran.said() + &String::from_utf8_lossy(&ran.stdout);
        let reasons = [
            "nobody writes into", "nobody reads", "is no file", "no regular file", "no store",
            "cannot encrypt",
        ];
        assert!(reasons.iter().any(|reason| said.contains(reason)), "{args:?}: {said}");
        assert!(started.elapsed() < Duration::from_secs(60), "{args:?}");
        assert!(fs::metadata(folder.path().join("pipe")).unwrap().file_type().is_fifo());
    };
    // Each of them waits a little.
    std::thread::scope(|scope| cases.iter().for_each(|args| drop(scope.spawn(|| check(args)))));
}

/// A report says by which tokenizer it counts, which may lie deeper than a line is long.
#[test]
fn a_tokenizer_with_a_long_path_is_told_whole() {
    const TINY: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"decoder":null,
        "model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,
        "end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,
        "vocab":{"a":0,"b":1,"c":2,"ab":3,"abc":4},"merges":["a b","ab c"]}}"#;
    let folder = Folder::new();
    session(&folder);
    let deep =
        ["models--somebody--a-model-with-a-rather-long-name", "snapshots", &"0a1b2c3d".repeat(5)].join("/");
    fs::create_dir_all(folder.path().join(&deep)).unwrap();
    let tokenizer = format!("{deep}/tokenizer.json");
    folder.file(&tokenizer, TINY.as_bytes());
    let counted = ["session.jsonl", "--tokenizer", &tokenizer];
    for args in [&["compact", "--budget", "700", "--no-store", "-o", "out"][..], &["context"], &["count"]] {
        let ran = folder.run(&[&args[..1], &counted, &args[1..]].concat(), b"");
        assert!(ran.code == 0 && !ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
        let told = ran.stderr + &String::from_utf8_lossy(&ran.stdout);
        assert!(told.contains(&tokenizer), "{args:?}: {told}");
    }
}

/// Behind `<(pass show longhaul)` somebody may have to type first.
#[test]
fn what_is_written_into_a_pipe_may_take_a_while() {
    let folder = Folder::new();
    let (there, settings) = (pipe(&folder, "pipe"), b"trigger_ratio = 0.75\n");
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::File::create(there).unwrap();
        std::thread::sleep(Duration::from_millis(3_000));
        std::io::Write::write_all(&mut pipe, settings).unwrap();
    });
    let ran = folder.run(&["config", "--config", "pipe"], b"");
    writer.join().unwrap();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown = String::from_utf8(ran.stdout).unwrap();
    let line = shown.lines().find(|line| line.starts_with("trigger_ratio")).unwrap();
    assert!(line.contains("= 0.75 ") && line.ends_with("# file pipe"), "{line}");
}

#[test]
fn a_pipe_with_a_writer_is_read_as_a_file_is() {
    let folder = Folder::new();
    let session = session(&folder);
    let fed = |args: &[&str], bytes: &[u8]| {
        let pipe = pipe(&folder, "pipe");
        let (there, bytes) = (pipe.clone(), bytes.to_vec());
        let writer = std::thread::spawn(move || fs::write(there, bytes).unwrap());
        let ran = folder.run(args, b"");
        writer.join().unwrap();
        fs::remove_file(pipe).unwrap();
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    // A session file tells more than its messages, which is not read a second time.
    assert!(fed(&["context", "pipe"], &session).contains("claude-code, 76 messages"));
    let compacted = fed(&["compact", "pipe", "--budget", "2000", "--no-store"], &session);
    assert_eq!(compacted.as_bytes(), compact(&folder, &["--no-store"]).stdout);
    assert!(fed(&["config", "--config", "pipe"], b"trigger_ratio = 0.9\n").contains("0.9"));
}

/// A file of the user's is replaced only where what it loses is in the store, or the user does without one.
#[test]
fn what_could_not_be_recorded_replaces_nothing() {
    let folder = Folder::new();
    let input = session(&folder);
    folder.file("other", b"somebody else's");
    fs::create_dir(folder.path().join("folder.db")).unwrap();
    folder.file("notes.db", &b"no database, and longer than the beginning of one. ".repeat(9));
    for store in ["/dev/null/no/store", "folder.db", "notes.db"] {
        for args in [
            &["--in-place"][..],
            &["--in-place", "--force"],
            &["--as-new-session"],
            &["-o", "session.jsonl", "--force"],
            &["-o", "other", "--force"],
        ] {
            let ran = compact(&folder, &[args, &["--store", store]].concat());
            assert_eq!(ran.code, 1, "{args:?}: {}", ran.stderr);
            let said = ran.said();
            assert!(said.contains("nothing could be recorded") && said.contains("--no-store"), "{said}");
            assert!(said.contains("stays as it is") != args.contains(&"--as-new-session"), "{said}");
        }
    }
    assert_eq!((said(&folder, "session.jsonl"), &*said(&folder, "other")), (input, &b"somebody else's"[..]));
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.count(), 4, "nothing was made");
    // What takes nobody's place is written, and it is said that it is not recorded.
    for out in ["new", "-"] {
        let ran = compact(&folder, &["-o", out, "--store", "notes.db"]);
        assert!(
            ran.code == 0 && ran.said().contains("the compaction was not recorded: the store"),
            "{}",
            ran.stderr
        );
        // Nor does the summary say that something could be looked up there.
        let written = if out == "-" { ran.stdout } else { said(&folder, out) };
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains("[Context Summary") && !written.contains("summary-lookup"), "{written}");
    }
    let ran = compact(&folder, &["--in-place", "--no-store"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn what_its_owner_locked_is_left_alone() {
    let folder = Folder::new();
    let input = session(&folder);
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("session.jsonl", 0o444);
    let ran = compact(&folder, &["--in-place"]);
    assert!(
        ran.code == 4 && ran.said().contains("session.jsonl stays as it is: it is read-only"),
        "{}",
        ran.stderr
    );
    assert!(ran.said().contains("--force"), "{}", ran.stderr);
    symlink("session.jsonl", folder.path().join("link.jsonl")).unwrap();
    assert_eq!(folder.run(&["compact", "link.jsonl", "--budget", "2000", "--in-place"], b"").code, 4);
    fs::create_dir(folder.path().join("locked")).unwrap();
    folder.file("locked/s.jsonl", &input);
    set("locked", 0o555);
    let ran = folder.run(&["compact", "locked/s.jsonl", "--budget", "2000", "--in-place"], b"");
    set("locked", 0o755);
    assert!(ran.code == 4 && ran.said().contains("its folder is read-only"), "{}", ran.stderr);
    assert_eq!(
        (said(&folder, "session.jsonl"), said(&folder, "locked/s.jsonl")),
        (input.clone(), input.clone())
    );
    assert_eq!(fs::read_dir(folder.path().join("locked")).unwrap().count(), 1);
    // A report over an older one, too.
    assert_eq!(compact(&folder, &["--no-store", "--report", "report"]).code, 0);
    set("report", 0o444);
    assert_eq!(compact(&folder, &["--no-store", "--report", "report"]).code, 4);
    // Nor is one that is only overwritten.
    folder.file("old", b"an older history");
    set("old", 0o444);
    let ran = compact(&folder, &["-o", "old", "--force"]);
    assert!(ran.code == 4 && ran.said().contains("old stays as it is: it is read-only"), "{}", ran.stderr);
    assert_eq!(said(&folder, "old"), b"an older history");
    // Whoever says so means it, and the way back goes as far.
    let ran = compact(&folder, &["--in-place", "--force", "--session", "work"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let after = said(&folder, "session.jsonl");
    assert_ne!(after, input);
    let undone = folder.run(&["undo", "work"], b"");
    assert!(undone.code == 4 && undone.said().contains("nothing was taken back"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), after);
    set("session.jsonl", 0o644);
    assert_eq!(folder.run(&["undo", "work"], b"").code, 0);
    assert_eq!(said(&folder, "session.jsonl"), input);
}

#[test]
fn a_private_transcript_stays_private() {
    let folder = Folder::new();
    session(&folder);
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("session.jsonl", 0o600);
    compact(&folder, &["--no-store", "-o", "new", "--report", "report"]);
    assert_eq!((mode("new"), mode("report")), (0o600, 0o600));
    set("new", 0o640);
    compact(&folder, &["--no-store", "-o", "new", "--force"]);
    assert_eq!(mode("new"), 0o640, "the mode of a file that is replaced stays");
}

#[test]
fn a_closed_stderr_or_stdout_does_not_keep_the_history_from_being_written() {
    let run = |folder: &Folder, args: &[&str]| {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
            .args(args)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Whoever reads has gone before a word is said.
        drop((child.stdout.take(), child.stderr.take()));
        child.wait().unwrap().code()
    };
    let folder = Folder::new();
    session(&folder);
    let args = ["compact", "session.jsonl", "--budget", "2000", "--no-redact", "-o", "out"];
    assert_eq!(run(&folder, &args), Some(0));
    assert!(!said(&folder, "out").is_empty());
    assert_eq!(run(&folder, &["count", "session.jsonl", "no-such-file"]), Some(0), "as with `| head`");
    assert_eq!(run(&folder, &["count", "no-such-file"]), Some(1));
}

#[test]
fn what_the_store_lacks_is_said() {
    let folder = Folder::new();
    let key = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let long = "A sentence about the work that is to be done here. ".repeat(200);
    let message = |n: usize| {
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{n} {key} {long}"}},{image}]}},{{"role":"assistant","content":"{long}"}}"#
        )
    };
    let history = format!(r#"{{"messages":[{}]}}"#, (0..4).map(message).collect::<Vec<_>>().join(","));
    folder.file("a.json", history.as_bytes());
    let args = ["compact", "a.json", "--budget", "3000", "--from", "anthropic"];
    let ran = folder.run(&args, b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.said().contains("every original is kept"), "{}", ran.stderr);
    assert!(ran.said().contains("(4 with placeholders for secrets)"), "{}", ran.stderr);
    let over = folder.run(&[&args[..], &["-o", "a.json", "--force"]].concat(), b"");
    assert!(over.code == 0 && over.stderr.contains("kept as a.json.bak"), "{}", over.stderr);
}

#[test]
fn faults_of_the_input_are_named_and_refused_on_demand() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#;
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#);
    let user = r#"{"role":"user","content":"hello"}"#;
    let histories = [
        ("a result without its call", format!("[{user},{}]", result("c9")), "messages[1]"),
        ("a call id used twice", format!("[{user},{call},{},{call},{}]", result("c1"), result("c1")), "c1"),
    ];
    for (name, history, place) in histories {
        let folder = Folder::new();
        folder.file("a.json", history.as_bytes());
        let ran = folder.run(&["compact", "a.json", "--budget", "5000"], b"");
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(place), "{name}: {}", ran.stderr);
        let strict = folder.run(&["compact", "a.json", "--budget", "5000", "--strict"], b"");
        assert_eq!((strict.code, strict.stdout.len()), (4, 0), "{name}: {}", strict.stderr);
    }
}

#[test]
fn names_that_steer_a_terminal_are_spelled_out() {
    let folder = Folder::new();
    let name = "a\x1b[2J\u{202e}b";
    folder.file(name, b"{}");
    for args in [&["count", name][..], &["compact", name], &["digest", "no\x1b]0;x\x07"]] {
        let ran = folder.run(args, b"");
        assert!(!ran.stderr.contains(['\x1b', '\u{202e}', '\x07']), "{:?}", ran.stderr);
    }
    assert!(Path::new(folder.path()).is_dir());
}

/// Runs `longhaul` under `sh`, which sets up stdout as a person does. Returns the exit code, and what was said.
fn shell(folder: &Folder, script: &str) -> (i32, String) {
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("L", assert_cmd::cargo::cargo_bin!("longhaul"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_history_that_nobody_can_get_is_a_failure() {
    let folder = Folder::new();
    session(&folder);
    let compact = "\"$L\" compact session.jsonl --budget 2000";
    for full in [">&-", "-o /dev/stdout >&-", ">/dev/full"] {
        let (code, said) = shell(&folder, &format!("{compact} --no-store {full}"));
        assert!(code == 1 && said.contains("stdout"), "{full}: {code} {said}");
    }
    assert_eq!(shell(&folder, "\"$L\" count session.jsonl >&-").0, 1);
    assert_eq!(shell(&folder, &format!("{compact} >/dev/full")).0, 1);
    // Nothing is recorded for a history that goes nowhere; one that somebody throws away is his own affair.
    assert_eq!(shell(&folder, &format!("{compact} >&-")).0, 1);
    assert!(!folder.path().join(".local").exists());
    assert_eq!(shell(&folder, &format!("{compact} --no-store >/dev/null")).0, 0);
    assert_eq!(shell(&folder, &format!("{compact} --no-store <>/dev/null 1<>/dev/null")).0, 0);
    assert_eq!(shell(&folder, &format!("{compact} --no-store -o out >&-")).0, 0, "a file needs no stdout");
}

#[test]
fn each_compaction_in_place_keeps_what_it_replaces() {
    let folder = Folder::new();
    session(&folder);
    let mut before = Vec::new();
    for budget in ["6000", "4000", "2000"] {
        before.push(said(&folder, "session.jsonl"));
        let args =
            ["compact", "session.jsonl", "--budget", budget, "--no-store", "-o", "session.jsonl", "--force"];
        assert_eq!(folder.run(&args, b"").code, 0);
    }
    let kept =
        ["session.jsonl.bak", "session.jsonl.bak2", "session.jsonl.bak3"].map(|name| said(&folder, name));
    assert_eq!(before, kept);
    // What is kept already is not kept twice, and gaps are not filled.
    std::fs::remove_file(folder.path().join("session.jsonl.bak")).unwrap();
    std::fs::write(folder.path().join("session.jsonl"), &before[2]).unwrap();
    let again =
        ["compact", "session.jsonl", "--budget", "2000", "--no-store", "-o", "session.jsonl", "--force"];
    assert!(folder.run(&again, b"").stderr.contains("kept as session.jsonl.bak3"));
    assert!(
        !folder.path().join("session.jsonl.bak4").exists()
            && !folder.path().join("session.jsonl.bak").exists()
    );
}

#[test]
fn another_transcript_is_kept_where_it_is_overwritten() {
    let folder = Folder::new();
    session(&folder);
    let other = r#"[{"role":"user","content":"what somebody else said"}]"#;
    folder.file("other.json", other.as_bytes());
    let args = ["compact", "session.jsonl", "--budget", "2000", "--no-store", "-o", "other.json", "--force"];
    let ran = folder.run(&args, b"");
    assert!(ran.code == 0 && ran.stderr.contains("kept as other.json.bak"), "{}", ran.stderr);
    assert_eq!(said(&folder, "other.json.bak"), other.as_bytes());
    // What was compacted here may be made again: it does not pile up.
    assert_eq!(folder.run(&args, b"").code, 0);
    assert!(!folder.path().join("other.json.bak2").exists());
}

/// A handle in a file does not say that the file was made here, nor that nobody went on with it.
#[test]
fn a_compacted_history_that_somebody_went_on_with_is_kept() {
    let folder = Folder::new();
    session(&folder);
    let args = ["compact", "session.jsonl", "--budget", "2000", "-o", "out.jsonl", "--force"];
    let smaller = ["compact", "session.jsonl", "--budget", "3000", "-o", "out.jsonl", "--force"];
    for args in [&args, &smaller] {
        assert_eq!(folder.run(args, b"").code, 0);
    }
    assert!(!folder.path().join("out.jsonl.bak").exists(), "what was made here can be made again");
    let mut grown = said(&folder, "out.jsonl");
    grown.extend(b"{\"type\":\"summary\",\"summary\":\"somebody went on\"}\n");
    folder.file("out.jsonl", &grown);
    let ran = folder.run(&args, b"");
    assert!(ran.code == 0 && ran.stderr.contains("kept as out.jsonl.bak"), "{}", ran.stderr);
    assert_eq!(said(&folder, "out.jsonl.bak"), grown);
}

/// What was made here cannot be made again where the store has no more what it was made from.
#[test]
fn a_compacted_history_whose_originals_were_forgotten_is_kept() {
    let folder = Folder::new();
    session(&folder);
    let args = ["compact", "session.jsonl", "--budget", "2000", "--session", "work", "-o", "out.jsonl"];
    assert_eq!(folder.run(&args, b"").code, 0);
    let made = said(&folder, "out.jsonl");
    let forgotten = folder.run(&["forget", "work", "--all"], b"");
    assert_eq!(forgotten.code, 0, "{}", forgotten.stderr);
    let args = ["compact", "session.jsonl", "--budget", "3000", "-o", "out.jsonl", "--force"];
    let refused = folder.run(&args, b"");
    assert!(refused.code == 1 && refused.said().contains("out.jsonl stays as it is"), "{}", refused.stderr);
    assert_eq!(said(&folder, "out.jsonl"), made);
    let ran = folder.run(&[&args[..], &["--no-store"]].concat(), b"");
    assert!(ran.code == 0 && ran.stderr.contains("kept as out.jsonl.bak"), "{}", ran.stderr);
    assert_eq!(said(&folder, "out.jsonl.bak"), made);
}

#[test]
fn a_history_that_cannot_be_written_is_not_in_force() {
    let folder = Folder::new();
    session(&folder);
    let in_force = |folder: &Folder| {
        let said = folder.run(&["sessions", "--json"], b"").stdout;
        let said = serde_json::from_slice::<serde_json::Value>(&said).unwrap_or_default();
        said["compactions"].as_u64().unwrap_or_default()
    };
    let ran = compact(&folder, &["-o", "nowhere/out"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is no such folder"), "{}", ran.stderr);
    assert_eq!(in_force(&folder), 0);
    // What fails only when it is written: a database is not replaced.
    folder.file("other.db", b"SQLite format 3\0 and more");
    let ran = compact(&folder, &["-o", "other.db", "--force"]);
    assert!(ran.code == 1 && ran.stderr.contains("SQLite database"), "{}", ran.stderr);
    assert_eq!(in_force(&folder), 0);
    assert_eq!(compact(&folder, &["-o", "out"]).code, 0);
    assert_eq!(in_force(&folder), 1);
    // One that was in force before stays so.
    assert_eq!(compact(&folder, &["-o", "other.db", "--force"]).code, 1);
    assert_eq!(in_force(&folder), 1);
}

#[test]
fn stdout_may_be_named_and_so_may_other_pipes() {
    let folder = Folder::new();
    session(&folder);
    let expected = compact(&folder, &["--no-store"]).stdout;
    for (name, redirected) in [("/dev/stdout", ""), ("/dev/fd/1", ""), ("/dev/fd/3", "3>&1 >/dev/null")] {
        let (code, words) = shell(
            &folder,
            &format!(
                "(\"$L\" compact session.jsonl --budget 2000 --no-store -o {name} {redirected}; echo $? > code) | cat > got"
            ),
        );
        // The code of a pipe is that of its last command.
        let codes = (code, String::from_utf8(said(&folder, "code")).unwrap());
        assert_eq!((codes, said(&folder, "got") == expected), ((0, "0\n".into()), true), "{name}: {words}");
    }
}

#[test]
fn neither_output_nor_report_nor_export_is_put_in_the_place_of_a_store() {
    let folder = Folder::new();
    session(&folder);
    fs::create_dir(folder.path().join("sub")).unwrap();
    for args in [
        ["-o", "u3", "--store", "u3"],
        ["-o", "./u3", "--store", "u3"],
        ["-o", "sub/../u3", "--store", "u3"],
        ["--report", "u3", "--store", "./u3"],
        ["-o", "u3-wal", "--store", "u3"],
    ] {
        let ran = compact(&folder, &[&args[..], &["--force"]].concat());
        assert!(ran.code == 4 && ran.stderr.contains("would replace the store itself"), "{}", ran.stderr);
        assert!(!folder.path().join("u3").exists(), "{args:?}");
    }
    assert_eq!(compact(&folder, &["--store", "u3", "--session", "work"]).code, 0);
    let before = said(&folder, "u3");
    let ran = folder.run(&["export", "work", "--store", "u3", "-o", "./u3", "--force"], b"");
    assert_eq!((ran.code, said(&folder, "u3") == before), (4, true), "{}", ran.stderr);
}

#[test]
fn lines_that_are_not_of_the_session_are_named() {
    let folder = Folder::new();
    let untyped = r#"{"note":"by hand"}"#;
    let foreign = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#;
    let session = String::from_utf8(session(&folder)).unwrap();
    folder.file("mixed.jsonl", format!("{session}{untyped}\n{foreign}\n").as_bytes());
    let lines = session.lines().count();
    let ran = folder.run(&["compact", "mixed.jsonl", "--budget", "2000", "--no-store"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for (line, what) in [(lines + 1, "no type"), (lines + 2, "no line of this agent's")] {
        assert!(
            ran.stderr.contains(&format!("line {line}: ")) && ran.stderr.contains(what),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(folder.run(&["compact", "mixed.jsonl", "--budget", "2000", "--strict"], b"").code, 4);
}

#[test]
fn a_summary_whose_originals_are_elsewhere_is_not_called_kept() {
    let folder = Folder::new();
    session(&folder);
    assert_eq!(compact(&folder, &["--store", "first.db", "-o", "once"]).code, 0);
    let again = |store: &str| folder.run(&["compact", "once", "--budget", "1500", "--store", store], b"");
    let there = again("first.db");
    assert!(there.said().contains("every original is kept"), "{}", there.stderr);
    let elsewhere = again("second.db");
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stderr);
    assert!(!elsewhere.said().contains("every original is kept"), "{}", elsewhere.stderr);
    let expected = "(1 is a summary whose originals are not in this store)";
    assert!(elsewhere.said().contains(expected), "{}", elsewhere.stderr);
}

#[test]
fn the_report_counts_as_the_summary_does() {
    let folder = Folder::new();
    session(&folder);
    let ran = folder.run(&["compact", "session.jsonl", "--budget", "4000", "--no-store", "-o", "out"], b"");
    let number = |text: &str, before: &str, behind: &str| {
        let text = &text[text.find(before).unwrap() + before.len()..];
        text[..text.find(behind).unwrap()].trim().to_owned()
    };
    let history = String::from_utf8(said(&folder, "out")).unwrap();
    let headed = number(&history, "[Context Summary - ", " messages summarized]");
    assert_eq!(number(&ran.stderr, "messages: ", " summarized"), headed, "{}", ran.stderr);
}

#[test]
fn a_format_that_is_only_read_is_written_as_another_which_is_told() {
    let folder = Folder::new();
    let turn =
        r#"{"role":"user","content":"Please book the flight to Rome, and keep the seat at the window."}"#;
    let result = format!(r#"{{"task_id":0,"reward":1,"traj":[{}]}}"#, vec![turn; 60].join(","));
    folder.file("tau.json", result.as_bytes());
    let ran = folder.run(&["compact", "tau.json", "--from", "tau2", "--budget", "300"], b"");
    let told = "a history of tau2 is only read: what comes out is written as openai";
    assert!(ran.code == 0 && ran.said().contains(told), "{} {}", ran.code, ran.stderr);
}

#[test]
fn signed_thinking_of_a_round_in_progress_is_told() {
    let folder = Folder::new();
    let long = "A sentence about the work that is to be done here. ".repeat(120);
    let thinking = r#"{"type":"thinking","thinking":"Two ways.","signature":"c2lnbmVkIGJ5IHNvbWVib2R5"}"#;
    let call = r#"{"type":"tool_use","id":"t1","name":"ls","input":{}}"#;
    let earlier =
        format!(r#"{{"role":"user","content":"{long}"}},{{"role":"assistant","content":"{long}"}}"#);
    let history = |end: &str| format!(r#"{{"model":"m","max_tokens":9,"messages":[{earlier},{end}]}}"#);
    let open = format!(
        r#"{{"role":"user","content":"Go on."}},{{"role":"assistant","content":[{thinking},{call}]}}"#
    );
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}"#;
    let closed = format!(r#"{open},{result},{{"role":"assistant","content":"Done."}}"#);
    for (name, end, is_told) in [("open", &open, true), ("closed", &closed, false)] {
        folder.file(name, history(end).as_bytes());
        let ran = folder.run(&["compact", name, "--budget", "900", "--no-store"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("drop_block"), is_told, "{name}: {}", ran.stderr);
        assert_eq!(String::from_utf8_lossy(&ran.stdout).contains("c2lnbmVk"), is_told, "{name}");
    }
}
