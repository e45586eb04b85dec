//! A session file that is compacted in place, as its agent does it, and taken back.

use std::{fs, path::Path};

use longhaul_testkit::recorded;
use longhaul_wire::{Format, read};
use serde_json::Value;

use crate::run::{Folder, example};

fn said(bytes: &[u8], format: Format) -> Vec<String> {
    let document = read(Some(format), bytes).unwrap();
    document.transcript().entries().iter().map(|entry| format!("{:?}", entry.message.parts)).collect()
}

fn last_line(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Compacts the session in place, looks at it, and takes it back.
fn there_and_back(path: &Path, format: Format, budget: &str) {
    let what = path.display();
    let folder = Folder::new();
    let before = fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let file = folder.file(name, &before);
    let ran = folder.run(&["compact", name, "--budget", budget, "--in-place", "--session", "work"], b"");
    assert_eq!(ran.code, 0, "{what}: {}", ran.stderr);
    assert!(ran.stdout.is_empty(), "{what}");
    let after = fs::read(&file).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len(), "{what}: what was there stays");
    assert_eq!(fs::read(folder.path().join(format!("{name}.bak"))).unwrap(), before, "{what}");
    let copied = folder.file("copy.jsonl", &before);
    // Into a store of its own: without one nothing says how handles are looked up.
    let apart = ["compact", "copy.jsonl", "--budget", budget, "-o", "small.jsonl"];
    let data = folder.path().join("apart");
    let other = folder.run_with(&[("XDG_DATA_HOME", data.to_str().unwrap())], &apart, b"");
    assert_eq!(other.code, 0, "{what}: {}", other.stderr);
    let small = fs::read(folder.path().join("small.jsonl")).unwrap();
    assert_eq!(said(&after, format), said(&small, format), "{what}: the same history as with -o");
    assert_eq!(fs::read(copied).unwrap(), before, "{what}");
    let undone = folder.run(&["undo", "work"], b"");
    assert!(undone.stderr.contains("byte for byte"), "{what}: {}", undone.stderr);
    assert!(fs::read(&file).unwrap() == before, "{what}");
}

#[test]
fn a_session_file_is_compacted_and_taken_back() {
    there_and_back(&example(), Format::ClaudeCode, "4k");
}

/// Its handle follows the file to its other name: what it writes then is in the copy alone, at the second compaction as at the first.
#[cfg(unix)]
#[test]
fn what_an_agent_writes_that_has_the_session_open_is_told() {
    use std::io::Write as _;
    const LATE: &[u8] = b"{\"type\":\"summary\",\"summary\":\"written late\"}\n";
    let folder = Folder::new();
    let before = fs::read(example()).unwrap();
    let file = folder.file("s.jsonl", &before);
    let compacted = |budget: &str| {
        let ran =
            folder.run(&["compact", "s.jsonl", "--budget", budget, "--in-place", "--session", "work"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.said()
    };
    let mut agent = fs::OpenOptions::new().append(true).open(&file).unwrap();
    assert!(!compacted("6k").contains("an agent had it open"));
    agent.write_all(LATE).unwrap();
    assert_eq!(fs::read(folder.path().join("s.jsonl.bak")).unwrap(), [&before[..], LATE].concat());
    let told =
        format!("s.jsonl.bak holds {} bytes more than the session had: an agent had it open", LATE.len());
    let mut second = fs::OpenOptions::new().append(true).open(&file).unwrap();
    let said = compacted("4k");
    assert!(said.contains(&told) && said.contains(&format!("tail -c +{}", before.len() + 1)), "{said}");
    // Another copy, and another agent.
    second.write_all(LATE).unwrap();
    let undone = folder.run(&["undo", "work"], b"").said();
    assert!(undone.contains("byte for byte") && undone.contains("s.jsonl.bak2 holds"), "{undone}");
    let undone = folder.run(&["undo", "work"], b"").said();
    assert!(undone.contains("byte for byte") && undone.contains(&told), "{undone}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // As it says.
    let command = undone.split("once the agent is left: ").nth(1).unwrap();
    let command = command.split(" longhaul:").next().unwrap();
    let ran = std::process::Command::new("sh").args(["-c", command]).status().unwrap();
    assert!(ran.success() && fs::read(&file).unwrap().ends_with(LATE), "{command}");
    let said = compacted("6k");
    assert!(!said.contains(&told) && said.contains("s.jsonl.bak2 holds"), "the session has it now: {said}");
}

/// A copy that is renewed is another name of the session as well.
#[cfg(unix)]
#[test]
fn what_is_written_late_into_a_session_that_was_compacted_before_has_a_name() {
    use std::io::Write as _;
    let folder = Folder::new();
    let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
    let compacted = |budget: &str| {
        let ran = folder.run(&["compact", "s.jsonl", "--budget", budget, "--in-place"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    compacted("6k");
    let mut agent = fs::OpenOptions::new().append(true).open(&file).unwrap();
    compacted("4k");
    agent.write_all(b"{}\n").unwrap();
    assert!(fs::read(folder.path().join("s.jsonl.bak")).unwrap().ends_with(b"{}\n"));
}

#[test]
fn recorded_sessions_are_compacted_and_taken_back() {
    // In debug a large one takes seconds; LONGHAUL_RECORDINGS=all takes them all.
    let all = std::env::var_os("LONGHAUL_RECORDINGS").is_some();
    for (folder, format) in [("claude_code", Format::ClaudeCode), ("codex", Format::Codex)] {
        let mut paths = recorded(folder);
        paths.sort_by_key(|path| fs::metadata(path).unwrap().len());
        let most = if all { paths.len() } else { 1 };
        for path in paths.iter().take(most) {
            there_and_back(path, format, "16k");
        }
    }
}

#[test]
fn an_agent_goes_on_behind_it_and_it_is_compacted_again() {
    let folder = Folder::new();
    let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
    let compact = |budget: &str| {
        let ran =
            folder.run(&["compact", "s.jsonl", "--budget", budget, "--in-place", "--session", "work"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.said().contains("claude --resume 7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa"),
            "{}",
            ran.stderr
        );
        fs::read(&file).unwrap()
    };
    let first = compact("6k");
    let leaf = last_line(&first);
    let said_on = serde_json::json!({
        "parentUuid": leaf["uuid"], "isSidechain": false, "sessionId": leaf["sessionId"], "type": "user",
        "message": {"role": "user", "content": "Now write the release notes, please."},
        "uuid": "0aaaaaaa-0000-4000-8000-000000000001", "timestamp": "2099-01-01T00:00:00.000Z",
    });
    fs::write(&file, [&first[..], format!("{said_on}\n").as_bytes()].concat()).unwrap();
    let second = compact("4k");
    assert!(second.starts_with(&first));
    assert_eq!(
        fs::read(folder.path().join("s.jsonl.bak")).unwrap().len(),
        first.len() + said_on.to_string().len() + 1
    );
    assert!(!folder.path().join("s.jsonl.bak2").exists(), "one copy, which begins with all earlier ones");
    let history = said(&second, Format::ClaudeCode);
    assert!(history[0].contains("[Context Summary") && history.last().unwrap().contains("release notes"));
    // Later than what a clock that goes wrong wrote.
    assert!(last_line(&second)["timestamp"].as_str().unwrap() > "2099-01-01T00:00:00.000Z");
    // Where the agent wrote on, undo leaves the file alone.
    fs::write(&file, [&second[..], b"{}\n"].concat()).unwrap();
    let undone = folder.run(&["undo", "work"], b"");
    assert!(undone.code == 1 && undone.stderr.contains("was written to since"), "{}", undone.stderr);
}

/// However often a session is compacted in place, taken back and gone on with: one copy lies beside it at most, which is one and no second
/// name of it, and each step back is right.
#[test]
fn one_copy_is_kept_and_every_step_goes_back() {
    // `c` compacts, `u` takes back, `a` is the agent that goes on.
    for steps in ["ccuu", "cucu", "ccucuu", "cccuuu", "ccuuccuu", "cacuu", "caucu"] {
        let folder = Folder::new();
        let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
        let now = || fs::read(&file).unwrap();
        let copy = folder.path().join("s.jsonl.bak");
        let mut made: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (nth, step) in steps.chars().enumerate() {
            let (place, before) = (format!("{step} at {nth} of {steps}"), now());
            match step {
                'c' => {
                    let budget = (9_000 - 1_500 * nth).to_string();
                    let args = ["compact", "s.jsonl", "--budget", &budget, "--in-place", "--session", "work"];
                    let ran = folder.run(&args, b"");
                    assert!(ran.code == 0 && now() != before, "{place}: {}", ran.stderr);
                    assert!(ran.said().contains("kept as s.jsonl.bak"), "{place}: {}", ran.stderr);
                    assert!(fs::read(&copy).unwrap() == before, "{place}");
                    made.push((before, now()));
                }
                'a' => {
                    let leaf = last_line(&before);
                    let line = serde_json::json!({
                        "parentUuid": leaf["uuid"], "isSidechain": false, "sessionId": leaf["sessionId"], "type": "user",
                        "message": {"role": "user", "content": "Now the release notes. ".repeat(400)},
                        "uuid": "0aaaaaaa-0000-4000-8000-000000000001", "timestamp": "2099-01-01T00:00:00.000Z",
                    });
                    fs::write(&file, [&before[..], format!("{line}\n").as_bytes()].concat()).unwrap();
                }
                _ => {
                    let (was, after) = made.pop().unwrap();
                    let undone = folder.run(&["undo", "work"], b"");
                    assert_eq!(undone.code, i32::from(before != after), "{place}: {}", undone.stderr);
                    if before == after {
                        assert!(
                            undone.said().contains("byte for byte") && now() == was,
                            "{place}: {}",
                            undone.stderr
                        );
                        // The copy that the compaction before goes by.
                        let earlier = made.last().map(|(was, _)| was);
                        assert!(earlier.is_none_or(|was| fs::read(&copy).unwrap() == *was), "{place}");
                    } else {
                        assert!(undone.said().contains("was written to since") && now() == before, "{place}");
                        // What it says of where it was is so.
                        let words = undone.said();
                        let bytes =
                            words.split("the first ").nth(1).and_then(|words| words.split(' ').next());
                        let length: usize = bytes.map_or(was.len(), |bytes| bytes.parse().unwrap());
                        let kept = fs::read(&copy).unwrap();
                        assert!(kept[..length] == was[..], "{place}: {words}");
                    }
                }
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt as _;
                let file_at = |path: &Path| fs::metadata(path).ok().map(|found| found.ino());
                assert!(file_at(&copy) != file_at(&file), "{place}: a second name is no copy");
            }
        }
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let kept = names.filter(|name| name.to_string_lossy().starts_with("s.jsonl.bak")).count();
        assert!(kept <= 1, "{steps}");
    }
}

/// Of processes that compact one file at once, whoever says that it is done can take it back.
#[test]
fn whoever_compacts_a_file_at_once_with_others_can_take_it_back() {
    let before = fs::read(example()).unwrap();
    for round in 0..6 {
        let folder = Folder::new();
        let file = folder.file("s.jsonl", &before);
        let compact = |budget: &str| {
            folder.run(&["compact", "s.jsonl", "--budget", budget, "--in-place", "--session", "work"], b"")
        };
        let ran: Vec<_> = std::thread::scope(|scope| {
            let compact = &compact;
            let at_once = ["3000", "4000", "5000"].map(|budget| scope.spawn(move || compact(budget)));
            at_once.map(|ran| ran.join().unwrap()).into()
        });
        for ran in &ran {
            let is_told = ran.code == 0 || ran.said().contains("was written to while it was compacted");
            assert!(is_told, "{round}: {}", ran.stderr);
        }
        let n_done = ran.iter().filter(|ran| ran.said().contains("takes this back")).count();
        assert!(n_done > 0 && fs::read(&file).unwrap() != before, "{round}");
        for _ in 0..n_done {
            let undone = folder.run(&["undo", "work"], b"");
            assert!(
                undone.code == 0 && undone.said().contains("byte for byte"),
                "{round}: {}",
                undone.stderr
            );
        }
        assert!(fs::read(&file).unwrap() == before, "{round}: {n_done} of {ran:?}");
        assert_eq!(folder.run(&["undo", "work"], b"").code, 3, "{round}");
    }
}

#[test]
fn a_session_of_its_own_can_be_resumed() {
    let folder = Folder::new();
    let before = fs::read(example()).unwrap();
    let old = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    let home = folder.path().join(".claude/projects/-w");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join(format!("{old}.jsonl")), &before).unwrap();
    let ran = folder.run(&["compact", old, "--budget", "4k", "--as-new-session"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fs::read(home.join(format!("{old}.jsonl"))).unwrap(), before);
    let names: Vec<String> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with(old))
        .collect();
    let id = names[0].strip_suffix(".jsonl").unwrap();
    assert!(names.len() == 1 && id.len() == 36, "{names:?}");
    assert!(ran.said().contains(&format!("claude --resume {id}")), "{}", ran.stderr);
    // The new session is not taken away again, and nobody says so.
    assert!(ran.said().contains(&format!("takes the record back: longhaul undo {old}")), "{}", ran.stderr);
    let undone = folder.run(&["undo", old], b"");
    assert!(undone.code == 0 && undone.said().contains("was written by it and stays"), "{}", undone.stderr);
    let new = fs::read(home.join(&names[0])).unwrap();
    assert_eq!(read(None, &new[..]).unwrap().session_id().unwrap().as_str(), id);
    assert!(!String::from_utf8_lossy(&new).contains(&format!("\"sessionId\":\"{old}\"")));
}

#[test]
fn what_is_no_session_file_is_refused() {
    let folder = Folder::new();
    folder.file("chat.json", br#"[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]"#);
    for flag in ["--in-place", "--as-new-session"] {
        let ran = folder.run(&["compact", "chat.json", "--budget", "100", flag], b"");
        assert_eq!((ran.code, ran.said().contains("no session file")), (4, true), "{}", ran.stderr);
        let ran = folder.run(&["compact", "-", "--budget", "100", flag], b"[]");
        assert_eq!((ran.code, ran.said().contains("stdin is no session file")), (4, true), "{}", ran.stderr);
        assert_eq!(folder.run(&["compact", "chat.json", flag, "-o", "x"], b"").code, 2);
    }
    // Before it is converted.
    let line = r#"{"type":"session","version":3,"id":"0198c1e2-77aa-7b01-9c3e-5d2f8a41b6c0","timestamp":"2026-11-20T09:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-11-20T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Sort them"}]}}"#;
    folder.file("pi.jsonl", line.as_bytes());
    let ran = folder.run(&["compact", "pi.jsonl", "--budget", "100", "--as-new-session"], b"");
    assert_eq!((ran.code, ran.stderr.lines().count()), (4, 1), "{}", ran.stderr);
    assert!(ran.said().contains("a history of pi is no session file"), "{}", ran.stderr);
    // What fits stays as it is.
    let ran = folder.run(&["compact", example().to_str().unwrap(), "--budget", "1m", "--in-place"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.said().contains("within the budget") && !ran.said().contains("--resume"), "{}", ran.stderr);
}

/// What was billed before the compaction is in the window no more; what the agent is billed behind it is.
#[test]
fn what_was_billed_before_is_told_no_more() {
    let folder = Folder::new();
    let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
    let seen = |name: &str| -> Value {
        let ran = folder.run(&["context", name, "--json"], b"");
        serde_json::from_slice(&ran.stdout).unwrap()
    };
    assert!(seen("s.jsonl")["billed"].as_u64() > Some(30_000));
    // What is billed is more than is counted, and each says by what it goes.
    let context = folder.run(&["context", "s.jsonl", "--window", "64000"], b"");
    let words = String::from_utf8_lossy(&context.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, budget) =
        words.split_once("counts 19,167 of them, which the file holds: --budget ").expect(&words);
    assert!(
        words.contains("it would go from 38,342 to ") && words.contains(" tokens, as billed "),
        "{words}"
    );
    let compact = folder.run(&["compact", "s.jsonl", "--window", "64000", "--dry-run"], b"").said();
    assert!(
        compact.contains("unchanged: 19,167 tokens are within")
            && compact.contains("billed were 38,342 last"),
        "{compact}"
    );
    let budget = budget.split(' ').next().unwrap();
    let compact = folder.run(&["compact", "s.jsonl", "--budget", budget, "--dry-run"], b"");
    assert!(compact.code == 0 && !compact.said().contains("unchanged"), "{}", compact.stderr);
    assert_eq!(folder.run(&["compact", "s.jsonl", "--budget", "12k", "-o", "small.jsonl"], b"").code, 0);
    assert_eq!(folder.run(&["compact", "s.jsonl", "--budget", "12k", "--in-place"], b"").code, 0);
    for path in [file, folder.path().join("small.jsonl")] {
        let name = path.file_name().unwrap().to_str().unwrap();
        let view = seen(name);
        assert!(view["billed"].is_null() && view["tokens"] == view["counted"], "{name}: {view}");
        let mut bytes = fs::read(&path).unwrap();
        let leaf = last_line(&bytes);
        let answer = serde_json::json!({
            "parentUuid": leaf["uuid"], "isSidechain": false, "sessionId": leaf["sessionId"], "type": "assistant",
            "message": {
                "id": "msg_0000", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": "On it."}], "usage": {"input_tokens": 50_000, "output_tokens": 15},
            },
            "uuid": "0aaaaaaa-0000-4000-8000-000000000001", "timestamp": "2099-01-01T00:00:00.000Z",
        });
        bytes.extend(format!("{answer}\n").bytes());
        fs::write(&path, bytes).unwrap();
        let view = seen(name);
        assert!(view["billed"] == 50_015 && view["tokens"] == 50_015, "{name}: {view}");
    }
}

/// On a terminal a history that fits goes nowhere, but one in another format is a new one.
#[cfg(target_os = "linux")]
#[test]
fn another_format_is_written_on_a_terminal() {
    let folder = Folder::new();
    folder.file("s.jsonl", &fs::read(example()).unwrap());
    let longhaul = assert_cmd::cargo::cargo_bin!("longhaul").display();
    let on_a_terminal = |args: &str| {
        let line = format!("{longhaul} compact s.jsonl --budget 90k {args}");
        let ran = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(std::process::Stdio::null())
            .output();
        ran.ok()
            .filter(|ran| ran.status.success())
            .map(|ran| String::from_utf8_lossy(&ran.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let Some(said) = on_a_terminal("") else {
        eprintln!("skipped: there is no `script` here to make a terminal");
        return;
    };
    let beside = folder.path().join("s.compacted.jsonl");
    assert!(said.contains("within the budget") && !beside.exists(), "{said}");
    let said = on_a_terminal("--to openai").unwrap();
    assert!(said.contains("written to s.compacted.jsonl"), "{said}");
    let written = fs::read(beside).unwrap();
    assert!(read(Some(Format::OpenAi), &written[..]).is_ok_and(|written| written.transcript().len() > 70));
}

/// Appends what Claude Code writes when it compacts by itself, and a long request behind it.
fn compacted_by_the_agent(bytes: &[u8]) -> Vec<u8> {
    let leaf = last_line(bytes);
    let line = |parent: Value, uuid: &str, text: &str| {
        serde_json::json!({
            "parentUuid": parent, "isSidechain": false, "sessionId": leaf["sessionId"], "type": "user", "uuid": uuid,
            "message": {"role": "user", "content": text}, "timestamp": "2099-01-01T00:00:00.000Z",
        })
    };
    let boundary = serde_json::json!({
        "parentUuid": null, "logicalParentUuid": leaf["uuid"], "isSidechain": false, "sessionId": leaf["sessionId"],
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": "b1",
        "timestamp": "2099-01-01T00:00:00.000Z", "compactMetadata": {"trigger": "auto", "preTokens": 6_000},
    });
    let words = "This session is being continued from a previous conversation. A knapsack was rejected.";
    let mut summary = line("b1".into(), "b2", words);
    summary["isCompactSummary"] = true.into();
    let rows =
        line("b2".into(), "b3", &format!("Now the zebra report. {}", "Each row counts. ".repeat(1_500)));
    let last = line("b3".into(), "b4", "Please also write the giraffe report, briefly.");
    let lines = [boundary, summary, rows, last].map(|line| format!("{line}\n"));
    [bytes, lines.concat().as_bytes()].concat()
}

/// What is compacted after the agent has compacted by itself is recorded as a branch of the session, and is the newest compaction all the
/// same.
#[test]
fn undo_goes_by_the_file_also_where_its_agent_compacted_in_between() {
    let session = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    let compact = |folder: &Folder, budget: &str| {
        let ran = folder.run(&["compact", "s.jsonl", "--budget", budget, "--in-place"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.said()
    };
    // Where the session itself was compacted in place as well, and where only the branch was.
    for is_twice in [true, false] {
        let folder = Folder::new();
        let file = folder.file("s.jsonl", &fs::read(example()).unwrap());
        match is_twice {
            true => drop(compact(&folder, "6k")),
            false => {
                let args = ["compact", "s.jsonl", "--budget", "6k", "-o", "small.jsonl"];
                assert_eq!(folder.run(&args, b"").code, 0);
                assert_eq!(folder.run(&["undo", session], b"").code, 0);
            }
        }
        let grown = compacted_by_the_agent(&fs::read(&file).unwrap());
        fs::write(&file, &grown).unwrap();
        let said = compact(&folder, "3k");
        let branch = said.split("takes this back: longhaul undo ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(branch.starts_with(&format!("{session}-")), "{said}");
        let after = fs::read(&file).unwrap();
        // Where the agent went on, what is said to help does.
        fs::write(&file, [&after[..], b"{}\n"].concat()).unwrap();
        let refused = folder.run(&["undo", session], b"");
        assert!(refused.code == 1, "{}", refused.stderr);
        assert!(
            refused.said().contains(&format!("`longhaul undo {branch} --keep-file`")),
            "{}",
            refused.stderr
        );
        fs::write(&file, &after).unwrap();

        let undone = folder.run(&["undo", session], b"");
        assert!(undone.code == 0 && undone.said().contains("byte for byte"), "{}", undone.stderr);
        assert!(undone.said().contains(&format!("is recorded as session {branch}")), "{}", undone.stderr);
        assert!(!undone.stderr.contains("the whole conversation"), "{}", undone.stderr);
        assert!(fs::read(&file).unwrap() == grown);
        // The first one is in force still, and the agent wrote behind it.
        let again = folder.run(&["undo", session], b"");
        assert_eq!(again.code, if is_twice { 1 } else { 3 }, "{}", again.stderr);
        assert!(fs::read(&file).unwrap() == grown);
        if is_twice {
            let redone = folder.run(&["redo", session], b"");
            assert!(redone.code == 4 && redone.said().contains(&format!("one of its branch {branch} was")));
            assert!(redone.said().contains("compacts it anew"), "{}", redone.stderr);
        }
    }
}

/// The agent's own summary has the words, too: what it was made of is found beside it, and named by the session that it is of.
#[test]
fn recall_finds_what_was_said_before_the_agent_compacted() {
    let session = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    let folder = Folder::new();
    folder.file("s.jsonl", &compacted_by_the_agent(&fs::read(example()).unwrap()));
    let ran = folder.run(&["compact", "s.jsonl", "--budget", "3k", "-o", "small.jsonl"], b"");
    assert!(ran.code == 0 && ran.said().contains("finds that, too"), "{}", ran.stderr);
    let found = folder.run(&["recall", session, "knapsack", "rejected", "--json"], b"");
    assert_eq!(found.code, 0, "{}", found.stderr);
    let lines = String::from_utf8(found.stdout).unwrap();
    let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |found: &Value| found["session"].as_str().unwrap().to_owned();
    assert_eq!((&*of(&found[0]), &found[0]["ordinal"]), (session, &0.into()), "{lines}");
    let before = found[1..].iter().find(|found| found["ordinal"] == 17).expect(&lines);
    assert!(of(before).starts_with(&format!("{session}-")), "{lines}");
    let mut said: Vec<String> = found.iter().map(|found| found["message"].to_string()).collect();
    said.sort();
    said.dedup();
    assert_eq!(said.len(), found.len(), "each once: {lines}");
    // What is said to show one whole shows that one.
    let of_both = folder.run(&["recall", session, "knapsack", "rejected"], b"").said();
    for of in [session, &of(before)] {
        assert!(of_both.contains(&format!("longhaul recall {of} mN")), "{of_both}");
    }
    let of_one = folder.run(&["recall", session, "knapsack", "linear"], b"").said();
    assert_eq!(of_one.matches("longhaul recall ").count(), 1, "{of_one}");
    assert!(of_one.contains(&format!("longhaul recall {} mN", of(before))), "{of_one}");
}
