//! Sessions of agents are found by the beginning of their id, or by words of what was asked first.

use std::{fs, path::Path};

use crate::run::Folder;

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

#[test]
fn a_session_is_named_by_its_id_or_by_words() {
    let folder = Folder::new();
    claude(&folder, "303ebbc4-8574-4a6e-ba7a-e73a3ada1d17", "Mend the flaky retry in the relay.");
    claude(&folder, "93db84f8-1b8c-499a-9692-1865cb6f9160", "Write the changelog of the relay.");
    let context = |words: &str| folder.run(&["context", words], b"");
    for words in ["303e", "303ebbc4", "flaky retry"] {
        let ran = context(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("303ebbc4  Claude Code, just now: Mend the flaky"), "{}", ran.stderr);
        assert!(String::from_utf8_lossy(&ran.stdout).contains("claude-code, 1 messages"));
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
    let said = "\"relay\" is no file here and begins no session's id; near it are\n  rellay.json\n  93db84f8  Claude Code";
    assert!(misspelt.stderr.contains(said), "{}", misspelt.stderr);
    assert!(context("rellay.jsn").stderr.contains("cannot be opened (there is rellay.json)"));
    let none = context("zebra");
    assert!(none.code != 0 && none.stderr.contains("zebra cannot be opened"), "{}", none.stderr);
    assert!(none.stderr.contains("no session's id begins with \"zebra\""), "{}", none.stderr);
    // A file of that name is that file, whatever sessions there are.
    put(&folder, "303e", r#"[{"role":"user","content":"hello"}]"#);
    assert!(String::from_utf8_lossy(&context("303e").stdout).contains("openai, 1 messages"));
}

#[test]
fn sessions_lists_what_is_there_before_anything_is_recorded() {
    let folder = Folder::new();
    claude(&folder, "303ebbc4-8574-4a6e-ba7a-e73a3ada1d17", &"Mend the flaky retry in the relay. ".repeat(9));
    let ran = folder.run(&["sessions"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.contains("  session   agent            changed   full  asked first\n"), "{shown}");
    assert!(shown.contains("/w/relay\n  303ebbc4  Claude Code     just now"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
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
    for query in [["019eef3d-abd2", "knapsack"], ["pack", "knapsack"]] {
        let ran = folder.run(&[&["recall"], &query[..]].concat(), b"");
        assert!(ran.code == 0 && String::from_utf8_lossy(&ran.stdout).contains("Pack"), "{}", ran.stderr);
    }
}
