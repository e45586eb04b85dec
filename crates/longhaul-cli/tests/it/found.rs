//! Sessions of agents are found by the beginning of their id, or by words of what was asked first.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::run::{Folder, example};

fn claude(folder: &Folder, id: &str, asked: &str) {
    let said = serde_json::json!({
        "type": "user", "cwd": "/w/relay", "sessionId": id, "uuid": "a", "parentUuid": null,
        "message": {"role": "user", "content": asked},
    });
    put(folder, &format!(".claude/projects/-w-relay/{id}.jsonl"), &format!("{said}\n"));
}

fn put(folder: &Folder, name: &str, text: &str) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
    fs::write(path, text).unwrap();
}

/// The newest request is what stands first in what a compaction leaves.
#[test]
fn a_compacted_session_keeps_the_title_of_its_first_request() {
    let folder = Folder::new();
    let file = ".claude/projects/-w/7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl";
    put(&folder, file, &fs::read_to_string(example()).unwrap());
    for place in ["--as-new-session", "--in-place"] {
        let ran = folder.run(&["compact", file, "--budget", "4k", place], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let listed = String::from_utf8(folder.run(&["sessions"], b"").stdout).unwrap();
    let is_titled = |line: &&str| line.contains("Claude Code") && line.contains("The trim planner throws");
    assert_eq!(listed.lines().filter(is_titled).count(), 2, "{listed}");
    let count = String::from_utf8(folder.run(&["count", file], b"").stdout).unwrap();
    assert!(count.contains("not counted: 71 messages from before the last compaction"), "{count}");
}

/// Who carries a plan out with a clear context begins anew in the same file: what was said before is kept, found and told of.
#[test]
fn what_was_said_before_an_agent_began_anew_is_kept() {
    let folder = Folder::new();
    let file = ".claude/projects/-w/7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl";
    let whole = fs::read_to_string(example()).unwrap();
    let before = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Plan the zebra migration."},"uuid":"u-0","sessionId":"7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa"}
{"parentUuid":"u-0","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Here is the plan: quagga first."}]},"uuid":"a-0","sessionId":"7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa"}
"#;
    put(&folder, file, &format!("{before}{whole}"));
    for command in ["count", "context"] {
        let said = String::from_utf8(folder.run(&[command, file], b"").stdout).unwrap();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = "not counted: 2 messages from before the agent began anew with a clear context";
        assert!(said.contains(told), "{said}");
    }
    let ran = folder.run(&["compact", file, "--budget", "4k", "--in-place"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = folder.run(&["recall", "all", "quagga"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("quagga"), "{}", found.stderr);
}

#[test]
fn a_session_is_named_by_its_id_or_by_words() {
    let folder = Folder::new();
    claude(&folder, "303ebbc4-8574-4a6e-ba7a-e73a3ada1d17", "Mend the flaky retry in the relay.");
    // The clock of files is coarse, and the newest comes first.
    let older = folder.path().join(".claude/projects/-w-relay/303ebbc4-8574-4a6e-ba7a-e73a3ada1d17.jsonl");
    let older = fs::File::options().append(true).open(older).unwrap();
    older.set_modified(SystemTime::now() - Duration::from_secs(9)).unwrap();
    claude(&folder, "93db84f8-1b8c-499a-9692-1865cb6f9160", "Write the changelog of the relay.");
    let context = |words: &str| folder.run(&["context", words], b"");
    for words in ["303e", "303ebbc4", "flaky retry"] {
        let ran = context(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("303ebbc4  Claude Code, just now: Mend the flaky"), "{}", ran.stderr);
        assert!(String::from_utf8_lossy(&ran.stdout).contains("claude-code, 1 message,"));
    }
    let many = context("the relay");
    assert!(many.code != 0 && many.stderr.contains("may be any of 2 sessions"), "{}", many.stderr);
    assert!(
        many.stderr.contains("93db84f8  Claude Code") && many.stderr.contains("303ebbc4"),
        "{}",
        many.stderr
    );
    // One word that is no file may be one that somebody misspelt: nothing is taken for it unseen.
    put(&folder, "rellay.json", r#"[{"role":"user","content":"hello"}]"#);
    let misspelt = context("relay");
    assert_eq!(misspelt.code, 4, "{}", misspelt.stderr);
    let said = "\"relay\" is no file here and no part of a session's id; near it are\n  rellay.json\n  93db84f8  Claude Code";
    assert!(misspelt.stderr.contains(said), "{}", misspelt.stderr);
    assert!(context("rellay.jsn").stderr.contains("cannot be opened (there is rellay.json)"));
    // Where two have one id, their paths tell them apart.
    let id = "93db84f8-1b8c-499a-9692-1865cb6f9160";
    let file = fs::read(folder.path().join(format!(".claude/projects/-w-relay/{id}.jsonl"))).unwrap();
    put(&folder, &format!(".claude/projects/-w-copy/{id}.jsonl"), &String::from_utf8(file).unwrap());
    let shared = context(id);
    assert!(
        shared.code == 4 && shared.stderr.contains(&format!("-w-copy/{id}.jsonl\n")),
        "{}",
        shared.stderr
    );
    let none = context("zebra");
    assert!(none.code != 0 && none.stderr.contains("zebra cannot be opened"), "{}", none.stderr);
    assert!(none.stderr.contains("no session's id begins or ends with \"zebra\""), "{}", none.stderr);
    // A file of that name is that file, whatever sessions there are.
    put(&folder, "303e", r#"[{"role":"user","content":"hello"}]"#);
    assert!(String::from_utf8_lossy(&context("303e").stdout).contains("openai, 1 message,"));
}

#[test]
fn sessions_lists_what_is_there_before_anything_is_recorded() {
    let folder = Folder::new();
    claude(&folder, "303ebbc4-8574-4a6e-ba7a-e73a3ada1d17", &"Mend the flaky retry in the relay. ".repeat(9));
    let ran = folder.run(&["sessions"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(
        shown.contains("  session   agent            changed   full  model                 asked first\n"),
        "{shown}"
    );
    assert!(shown.contains("/w/relay\n  303ebbc4  Claude Code     just now"), "{shown}");
    // What a program reads is whole.
    assert!(shown.contains("Mend the flaky retry in the relay. ".repeat(9).trim_end()), "{shown}");
    assert!(ran.stderr.contains("nothing is recorded yet"), "{}", ran.stderr);
    let json = folder.run(&["sessions", "--json"], b"").stdout;
    let line: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&line["agent"], &line["folder"]), (&"claude-code".into(), &"/w/relay".into()));
    claude(&folder, "93db84f8-1b8c-499a-9692-1865cb6f9160", "Write the changelog of the relay.");
    let session = crate::run::example();
    let compact = ["compact", session.to_str().unwrap(), "--budget", "4k", "-o", "out"];
    assert_eq!(folder.run(&compact, b"").code, 0);
    let json = folder.run(&["sessions", "--json", "-n", "1"], b"").stdout;
    let kinds: Vec<String> = String::from_utf8(json)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"file\"", "\"recorded\""]);
}

#[test]
fn what_sub_agents_did_is_no_session_and_folders_can_be_moved() {
    let folder = Folder::new();
    claude(&folder, "agent-77", "Look for callers of retry.");
    put(
        &folder,
        "elsewhere/sessions/2026/06/22/rollout-2026-06-22T12-10-56-019eef3d-abd1-72e1-ab99-dcdb259027c5.jsonl",
        concat!(
            r#"{"type":"session_meta","payload":{"id":"019eef3d-abd1-72e1-ab99-dcdb259027c5","cwd":"/w"}}"#,
            "\n",
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Delete the callers."}]}}"#,
            "\n",
        ),
    );
    assert!(folder.run(&["context", "the callers"], b"").stderr.contains("cannot be opened"));
    let moved = folder.path().join("elsewhere");
    let ran = folder.run_with(&[("CODEX_HOME", moved.to_str().unwrap())], &["context", "the callers"], b"");
    assert!(ran.stderr.contains("259027c5  Codex, just now: Delete the callers."), "{}", ran.stderr);
}

/// What may mean several sessions is no word to look for in the newest.
#[test]
fn a_beginning_of_several_ids_is_told() {
    let folder = Folder::new();
    for (id, asked) in [("019eef3d-abd1", "Mend the flaky retry."), ("019eef3d-abd2", "Pack the knapsack.")] {
        let said = serde_json::json!({
            "type": "user", "cwd": folder.path(), "sessionId": id, "uuid": "a", "parentUuid": null,
            "message": {"role": "user", "content": asked},
        });
        let name = format!(".claude/projects/-w/{id}.jsonl");
        put(&folder, &name, &format!("{said}\n"));
        let path = folder.path().join(name);
        let event = serde_json::json!({"hook_event_name": "PreCompact", "transcript_path": path});
        let kept = folder.run(&["hook", "run"], event.to_string().as_bytes());
        assert!(!kept.stdout.is_empty(), "{}", kept.stderr);
    }
    let ran = folder.run(&["recall", "019eef3d", "knapsack"], b"");
    assert!(ran.code != 0 && ran.stderr.contains("may be any of 2 recorded sessions"), "{}", ran.stderr);
    for id in ["\n  019eef3d-abd1  20", "\n  019eef3d-abd2  20"] {
        assert!(ran.stderr.contains(id), "{}", ran.stderr);
    }
    for query in [["019eef3d-abd2", "knapsack"], ["pack", "knapsack"]] {
        let ran = folder.run(&[&["recall"], &query[..]].concat(), b"");
        assert!(ran.code == 0 && String::from_utf8_lossy(&ran.stdout).contains("Pack"), "{}", ran.stderr);
    }
}

/// What `sessions` prints may be typed wherever a session is named: it shows the end of ids that begin with a time.
#[test]
fn any_part_of_an_id_names_a_session_everywhere() {
    let folder = Folder::new();
    let id = "019eef3d-abd1-72e1-ab99-dcdb259027c5";
    let said = |role: &str, kind: &str, text: &str| {
        let content = serde_json::json!([{"type": kind, "text": text}]);
        let payload = serde_json::json!({"type": "message", "role": role, "content": content});
        serde_json::json!({"type": "response_item", "payload": payload}).to_string() + "\n"
    };
    let meta = serde_json::json!({"type": "session_meta", "payload": {"id": id, "cwd": folder.path()}});
    let long = "It is a long way, and every step of it is told. ".repeat(60);
    let mut lines = format!("{meta}\n") + &said("user", "input_text", "Delete the callers of retry.");
    for nth in 0..8 {
        lines += &said("assistant", "output_text", &format!("Step {nth}. {long}"));
        lines += &said("user", "input_text", &format!("Go on with step {nth}."));
    }
    put(&folder, &format!(".codex/sessions/2026/06/22/rollout-2026-06-22T12-10-56-{id}.jsonl"), &lines);
    let shown = String::from_utf8(folder.run(&["sessions"], b"").stdout).unwrap();
    let typed = shown.lines().find(|line| line.contains("Codex")).unwrap().split_whitespace().next().unwrap();
    assert_eq!(typed, "259027c5", "{shown}");
    let unrecorded = folder.run(&["history", typed], b"");
    assert!(unrecorded.code != 0 && unrecorded.said().contains("nothing"), "{}", unrecorded.stderr);
    let ran = folder.run(&["compact", typed, "--budget", "1500", "-o", "out"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [typed, "2590", "019eef3d", "019e", "27c5", "dcdb259027c5", "DCDB259027C5", id] {
        for args in [
            &["context", part][..],
            &["compact", part, "--budget", "1500", "--dry-run"],
            &["history", part],
            &["diff", part],
            &["recall", part, "callers"],
            &["audit", part],
            &["restore", part, "m0"],
            &["export", part],
            &["undo", part],
            &["redo", part],
        ] {
            let ran = folder.run(args, b"");
            assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        }
    }
    // What destroys wants all of it.
    let ran = folder.run(&["forget", typed, "--all"], b"");
    assert!(ran.code == 1 && ran.said().contains("wants the whole name"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("\n  {id}")), "{}", ran.stderr);
}

/// Words of a request name a session to look at. What changes something takes them where somebody sees which, and nowhere else.
#[test]
fn what_changes_something_takes_no_words_unseen() {
    let folder = Folder::new();
    let session = crate::run::example();
    let id = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    let file = format!(".claude/projects/-w/{id}.jsonl");
    put(&folder, &file, &fs::read_to_string(session).unwrap());
    let ran = folder.run(&["compact", id, "--budget", "4k", "-o", "out"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let looked = folder.run(&["history", "planner"], b"");
    assert!(looked.code == 0 && looked.said().contains(id), "{}", looked.stderr);
    for words in ["planner", "trim planner"] {
        for command in ["undo", "redo"] {
            let ran = folder.run(&[command, words], b"");
            assert!(ran.code == 1 && ran.said().contains("takes no words for one"), "{}", ran.stderr);
            assert!(ran.stderr.contains(&format!("\n  {id}")), "{}", ran.stderr);
        }
    }
    let undone = folder.run(&["undo", "b0e6aa"], b"");
    assert!(undone.code == 0 && undone.said().contains(id), "{}", undone.stderr);
}

/// What `sessions` prints is taken, whatever the agent called the file.
#[test]
fn what_sessions_prints_of_odd_names_is_taken() {
    let folder = Folder::new();
    let names = [
        "303ebbc4-8574-4a6e-ba7a-e73a3ada1d17",
        "abc",
        "-leads",
        "notes-of-the-day",
        "my.session",
        "two words",
        "ends-x-12345678",
        "also-x-12345678",
        "two\nlines",
        "unseen\u{200b}space",
        "turned\u{202e}round",
        "back\\slash",
    ];
    for name in names {
        claude(&folder, name, "Mend the flaky retry in the relay.");
    }
    let shown = String::from_utf8(folder.run(&["sessions"], b"").stdout).unwrap();
    let (mut typed, mut last) = (Vec::new(), "");
    for line in shown.lines().skip(3).filter(|line| !line.is_empty()) {
        match line.strip_prefix("    ") {
            // A row whose name stands below it.
            Some(whole) if last.starts_with("          ") => typed.push(whole),
            _ if line.starts_with("          ") => {}
            _ => typed.push(line.split_whitespace().next().unwrap()),
        }
        last = line;
    }
    assert_eq!(typed.len(), names.len(), "{shown}");
    for name in typed {
        let ran = folder.run(&["context", name], b"");
        assert_eq!(ran.code, 0, "{name}: {} {shown}", ran.stderr);
    }
}

/// What was said can be looked up before anything is recorded: in the file that is named, or in this folder's newest session.
#[test]
fn what_is_not_recorded_is_looked_up_in_the_file_itself() {
    let folder = Folder::new();
    let said = serde_json::json!({
        "type": "user", "cwd": folder.path(), "sessionId": "303ebbc4-8574", "uuid": "a", "parentUuid": null,
        "message": {"role": "user", "content": "Mend the flaky retry. The key is sk-ant-api03-aaaabbbbccccddddeeeeffff0123456789."},
    });
    let file = ".claude/projects/-w/303ebbc4-8574.jsonl";
    put(&folder, file, &format!("{said}\n"));
    for (query, then) in [
        (&["303ebbc4", "flaky"][..], "longhaul recall 303ebbc4 mN"),
        (&[file, "flaky"], "longhaul recall .claude/projects/-w/303ebbc4-8574.jsonl mN"),
        (&["flaky", "retry"], "longhaul recall mN"),
        (&["303ebbc4", "m0"], ""),
        (&["m0"], ""),
    ] {
        let ran = folder.run(&[&["recall"], query].concat(), b"");
        let shown = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.code == 0 && shown.contains("flaky"), "{query:?} {shown} {}", ran.stderr);
        assert!(!shown.contains("sk-ant-api03"), "{shown}");
        assert!(ran.stderr.contains("nothing is recorded of") && ran.stderr.contains(then), "{}", ran.stderr);
    }
    let none = folder.run(&["recall", "303ebbc4", "knapsack"], b"");
    assert!(none.code != 0 && none.stderr.contains("holds all the words"), "{}", none.stderr);
    assert!(!folder.path().join(".local").exists(), "looking records nothing");
}
