//! What is said of the way back is so: files that come back, exports, what was forgotten.

use std::fs;

use serde_json::Value;

use crate::run::{Folder, Ran, example};

/// Puts the example into the folder and returns its bytes.
fn session(folder: &Folder) -> Vec<u8> {
    let bytes = fs::read(example()).unwrap();
    folder.file("session.jsonl", &bytes);
    bytes
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    let ran = folder.run(args, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    ran
}

fn in_place(folder: &Folder, budget: &str) -> Ran {
    let file = "session.jsonl";
    run(folder, &["compact", file, "--budget", budget, "--session", "work", "-o", file, "--force"])
}

fn said(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn a_file_that_was_compacted_in_place_comes_back_byte_for_byte() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    let once = said(&folder, "session.jsonl");
    in_place(&folder, "2500");
    assert_ne!(said(&folder, "session.jsonl"), once);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("is as it was before, byte for byte"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), once, "one compaction back");
    let history = run(&folder, &["history", "work"]);
    let history = String::from_utf8_lossy(&history.stdout).into_owned();
    assert!(history.contains("1 taken back with its file") && !history.contains("redo"), "{history}");
    let redone = folder.run(&["redo", "work"], b"");
    assert_eq!(redone.code, 4, "{}", redone.stderr);
    assert!(redone.said().contains("compacts it anew, redo cannot"), "{}", redone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), once);

    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    run(&folder, &["undo", "work"]);
    assert_eq!(said(&folder, "session.jsonl"), before);
}

/// The path of its file names a session to all commands, as an agent's file may stand deep in its own folder.
#[test]
fn a_session_is_meant_by_the_path_of_its_file() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    let path = folder.path().join("session.jsonl");
    let path = path.to_str().unwrap();
    for args in [&["history", path][..], &["diff", path], &["audit", path], &["export", path]] {
        run(&folder, args);
    }
    run(&folder, &["undo", path]);
    assert_eq!(said(&folder, "session.jsonl"), before);
}

/// What is said of a session whose file is gone is so, and it comes back where there is a copy of it.
#[test]
fn a_file_that_is_gone_comes_back() {
    let folder = Folder::new();
    let before = session(&folder);
    let file = folder.path().join("session.jsonl");
    in_place(&folder, "4000");
    fs::remove_file(&file).unwrap();
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("is there again as it was before, byte for byte"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), before);

    in_place(&folder, "4000");
    fs::remove_file(&file).unwrap();
    fs::remove_file(folder.path().join("session.jsonl.bak")).unwrap();
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("as it was before it is nowhere any more"), "{}", undone.stderr);
    assert!(undone.said().contains("no summary is in force in the store"), "{}", undone.stderr);
    assert!(!undone.stderr.contains("the agent sees") && !file.exists(), "{}", undone.stderr);
}

/// `--force` compacts it all the same, and takes that back all the same.
#[cfg(unix)]
#[test]
fn a_read_only_file_comes_back_where_somebody_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let before = session(&folder);
    let path = folder.path().join("session.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let compact =
        ["compact", "session.jsonl", "--budget", "4k", "--session", "work", "--in-place", "--force"];
    run(&folder, &compact);
    let after = said(&folder, "session.jsonl");
    let refused = folder.run(&["undo", "work"], b"");
    assert!(
        refused.code == 4
            && refused
                .said()
                .contains("it is read-only; `longhaul undo 7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa --force`"),
        "{}",
        refused.stderr
    );
    assert_eq!(said(&folder, "session.jsonl"), after);
    run(&folder, &["undo", "work", "--force"]);
    assert_eq!(said(&folder, "session.jsonl"), before);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn a_file_that_somebody_wrote_to_since_stays_as_it_is() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    let written =
        [said(&folder, "session.jsonl"), b"{\"type\":\"summary\",\"summary\":\"x\"}\n".to_vec()].concat();
    folder.file("session.jsonl", &written);
    let kept = || (said(&folder, "session.jsonl"), said(&folder, "session.jsonl.bak"));
    let n_in_force = || {
        let history = run(&folder, &["history", "work", "--json"]);
        serde_json::from_slice::<Value>(&history.stdout).unwrap()["summaries"].as_array().unwrap().len()
    };
    // The file says it, and so does the store.
    let refused = folder.run(&["undo", "work"], b"");
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.said().contains("nothing was taken back: "), "{}", refused.stderr);
    let words = "session.jsonl was written to since, which would be lost; as it was before it is ";
    assert!(refused.said().contains(words), "{}", refused.stderr);
    assert_eq!((kept(), n_in_force()), ((written.clone(), before.clone()), 1));
    let undone = run(&folder, &["undo", "work", "--keep-file"]);
    assert!(undone.said().contains("no summary is in force in the store"), "{}", undone.stderr);
    let words =
        "session.jsonl was written to since and stays compacted, as asked: the agent sees the summary";
    assert!(undone.said().contains(words), "{}", undone.stderr);
    assert!(!undone.said().contains("the whole conversation"), "{}", undone.stderr);
    assert_eq!((kept(), n_in_force()), ((written, before), 0));

    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    fs::remove_file(folder.path().join("session.jsonl.bak")).unwrap();
    let undone = folder.run(&["undo", "work"], b"");
    assert!(undone.code == 1 && undone.said().contains("is not there any more"), "{}", undone.stderr);
}

/// What is written behind the file that came back does not make it a compacted one: nothing is put in force of it.
#[test]
fn a_file_that_came_back_and_went_on_is_not_taken_for_compacted() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    run(&folder, &["undo", "work"]);
    let written = [before, b"{\"type\":\"summary\",\"summary\":\"x\"}\n".to_vec()].concat();
    folder.file("session.jsonl", &written);
    assert_eq!(folder.run(&["redo", "work"], b"").code, 4);
    assert_eq!(folder.run(&["undo", "work"], b"").code, 3, "there is nothing to undo");
    assert_eq!(said(&folder, "session.jsonl"), written);
}

#[test]
fn a_file_that_somebody_put_back_by_hand_is_no_reason_to_keep_the_compaction() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    let written = [before, b"{\"type\":\"summary\",\"summary\":\"x\"}\n".to_vec()].concat();
    folder.file("session.jsonl", &written);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("does not have that compaction in it"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), written);
}

/// A way back that was cut short, in whichever order it was gone, is gone to its end.
#[test]
fn half_an_undo_is_made_a_whole_one() {
    let folder = Folder::new();
    let before = session(&folder);
    for budget in ["6000", "4000"] {
        run(&folder, &["compact", "session.jsonl", "--budget", budget, "--session", "work", "--in-place"]);
    }
    let after = said(&folder, "session.jsonl");
    run(&folder, &["undo", "work"]);
    let once = said(&folder, "session.jsonl");
    // The store had it as undone, and the file was still compacted.
    folder.file("session.jsonl", &after);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("is as it was before, byte for byte"), "{}", undone.stderr);
    assert!(undone.said().contains("was not in force any more"), "{}", undone.stderr);
    assert!(said(&folder, "session.jsonl") == once);
    // The file was back, and the store had it as in force.
    folder.file("session.jsonl", &before);
    run(&folder, &["undo", "work"]);
    assert!(said(&folder, "session.jsonl") == before);
    assert_eq!(folder.run(&["undo", "work"], b"").code, 3);
}

#[test]
fn another_compaction_of_the_backup_takes_no_way_back_away() {
    let folder = Folder::new();
    let before = session(&folder);
    run(&folder, &["compact", "session.jsonl", "--budget", "4000", "--session", "work", "--in-place"]);
    let other = ["compact", "session.jsonl.bak", "--budget", "3000", "--session", "work", "-o", "out.jsonl"];
    let ran = run(&folder, &other);
    assert!(ran.said().contains("takes the record back: longhaul undo work"), "{}", ran.stderr);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("out.jsonl was written by it and stays"), "{}", undone.stderr);
    assert!(!undone.said().contains("the agent sees the conversation as it did before"), "{}", undone.stderr);
    assert!(undone.said().contains("session.jsonl is still compacted"), "{}", undone.stderr);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("session.jsonl is as it was before"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), before);
    assert_eq!(folder.run(&["undo", "work"], b"").code, 3);
}

/// A compaction whose file cannot be written is withdrawn; the one whose place its record took is in force again.
#[test]
fn what_is_withdrawn_is_no_other_record() {
    let folder = Folder::new();
    // A name that takes no ending: no copy can be kept beside it.
    let name = format!("{}.jsonl", "a".repeat(249));
    let before = fs::read(example()).unwrap();
    folder.file(&name, &before);
    run(&folder, &["compact", &name, "--budget", "4000", "--session", "work", "-o", "out"]);
    let in_force = || {
        let history = run(&folder, &["history", "work", "--json"]);
        serde_json::from_slice::<Value>(&history.stdout).unwrap()["summaries"].clone()
    };
    let first = in_force();
    assert_eq!(first.as_array().unwrap().len(), 1);
    let failed = folder.run(&["compact", &name, "--budget", "6000", "--session", "work", "--in-place"], b"");
    assert!(failed.code == 1 && failed.said().contains("can be kept beside it"), "{}", failed.stderr);
    assert!(said(&folder, &name) == before);
    assert_eq!(in_force(), first);
    assert_eq!(run(&folder, &["audit", "work", "--verify"]).code, 0);
}

/// A compaction that nobody got does not come back, and no original went with it.
#[test]
fn what_failed_destroys_nothing() {
    let folder = Folder::new();
    let name = format!("{}.jsonl", "a".repeat(249));
    folder.file(&name, &fs::read(example()).unwrap());
    let args = ["compact", &name, "--budget", "4000", "--session", "work", "--in-place"];
    for deleting in ["false", "true"] {
        let setting = format!("delete_originals={deleting}");
        let failed = [&args[..], &["--set", &setting]].concat();
        assert_eq!(folder.run(&failed, b"").code, 1);
        let history = run(&folder, &["history", "work", "--full", "--json"]);
        let history: Value = serde_json::from_slice(&history.stdout).unwrap();
        assert!(history["messages"].as_array().unwrap().iter().all(|one| !one["message"].is_null()));
        assert!(history["summaries"].as_array().unwrap().is_empty());
        let redone = folder.run(&["redo", "work"], b"");
        assert_eq!(redone.code, 3, "{deleting}: {}", redone.stderr);
    }
    let ran =
        run(&folder, &["compact", &name, "--budget", "4000", "-o", "out", "--set", "delete_originals=true"]);
    assert!(ran.said().contains("originals deleted there"), "{}", ran.stderr);
    assert_eq!(run(&folder, &["audit", "work", "--verify"]).code, 0);
}

/// A file that is back at the beginning has nothing of a later compaction in it.
#[test]
fn steps_back_and_forth_end_where_the_file_is() {
    let folder = Folder::new();
    let before = session(&folder);
    for budget in ["6000", "4000"] {
        run(&folder, &["compact", "session.jsonl", "--budget", budget, "--session", "work", "--in-place"]);
    }
    for step in ["undo", "undo"] {
        run(&folder, &[step, "work"]);
    }
    assert_eq!(folder.run(&["redo", "work"], b"").code, 4, "the file is not compacted by that");
    assert!(said(&folder, "session.jsonl") == before);
    assert_eq!(folder.run(&["undo", "work"], b"").code, 3);
}

/// What cannot be read may still be compacted.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_called_missing() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    let file = folder.path().join("session.jsonl");
    // A link that leads to itself cannot be read by anybody.
    fs::rename(&file, folder.path().join("away")).unwrap();
    std::os::unix::fs::symlink("session.jsonl", &file).unwrap();
    let undone = folder.run(&["undo", "work"], b"");
    assert!(undone.code == 1 && undone.said().contains("session.jsonl cannot be read"), "{}", undone.stderr);
    fs::rename(folder.path().join("away"), &file).unwrap();
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("is as it was before, byte for byte"), "{}", undone.stderr);
}

/// Nobody says of a file that it comes back whose name the store cannot keep.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_name_is_not_kept_is_not_said_to_come_back() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    let bytes = fs::read(example()).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.jsonl");
    fs::write(folder.path().join(name), &bytes).unwrap();
    let ran = std::process::Command::new(assert_cmd::cargo::cargo_bin!("longhaul"))
        .args(["compact", "--budget", "4000", "--session", "work", "--in-place"])
        .arg(name)
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && words.contains("takes the record back:"), "{words}");
    assert!(words.contains("the file itself stays"), "{words}");
}

/// One compaction may have been made in two files; one step takes it out of one.
#[test]
fn one_undo_puts_one_file_back() {
    let folder = Folder::new();
    let before = session(&folder);
    folder.file("copy.jsonl", &before);
    for file in ["session.jsonl", "copy.jsonl"] {
        run(&folder, &["compact", file, "--budget", "4000", "--session", "work", "--in-place"]);
    }
    let are_back = || ["session.jsonl", "copy.jsonl"].map(|file| said(&folder, file) == before);
    let undone = run(&folder, &["undo", "work", "--json"]);
    assert!(undone.said().contains("session.jsonl has it, too"), "{}", undone.stderr);
    let told: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert!(told["undone"].is_null() && told["head"].is_string(), "{told}");
    assert!(told["file"].as_str().unwrap().ends_with("copy.jsonl"), "{told}");
    assert_eq!(are_back(), [false, true]);
    let undone = run(&folder, &["undo", "work"]);
    assert!(
        undone.said().contains("no summary is in force: the agent sees the conversation as it did before"),
        "{}",
        undone.stderr
    );
    assert_eq!(are_back(), [true, true]);
}

/// Where the other file was written to since, another step of the same kind is refused, and nobody says that it helps.
#[test]
fn a_way_back_that_is_named_can_be_gone() {
    let folder = Folder::new();
    let before = session(&folder);
    folder.file("copy.jsonl", &before);
    for file in ["session.jsonl", "copy.jsonl"] {
        run(&folder, &["compact", file, "--budget", "4000", "--session", "work", "--in-place"]);
    }
    let written =
        [said(&folder, "copy.jsonl"), b"{\"type\":\"summary\",\"summary\":\"x\"}\n".to_vec()].concat();
    folder.file("copy.jsonl", &written);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("copy.jsonl has it, too, and was written to since"), "{}", undone.stderr);
    assert!(undone.said().contains("--keep-file` takes the record back"), "{}", undone.stderr);
    let undone = run(&folder, &["undo", "work", "--keep-file"]);
    assert!(
        undone.said().contains("copy.jsonl was written to since and stays compacted"),
        "{}",
        undone.stderr
    );
    assert_eq!([said(&folder, "session.jsonl"), said(&folder, "copy.jsonl")], [before.clone(), written]);

    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    let undone = run(&folder, &["undo", "work", "--keep-file"]);
    assert!(undone.said().contains("session.jsonl stays compacted, as asked"), "{}", undone.stderr);
    assert!(!undone.said().contains("earlier"), "{}", undone.stderr);
    let undone = run(&folder, &["undo", "work", "--json"]);
    let told: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert!(told["undone"].is_null() && told["file"].is_string(), "{told}");
    assert_eq!(said(&folder, "session.jsonl"), before);
}

/// What is kept of a file beside its record outlives what happens in other sessions, and the same compaction made again.
#[test]
fn a_file_comes_back_whatever_else_was_done() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    let other = br#"[{"role":"user","content":"Another conversation, which is long enough to be compacted. "},{"role":"assistant","content":"Yes."},{"role":"user","content":"Go on."}]"#;
    let other =
        String::from_utf8_lossy(other).replace("compacted. ", &"compacted. And on it goes. ".repeat(300));
    folder.file("other.json", other.as_bytes());
    run(&folder, &["compact", "other.json", "--budget", "900", "--session", "other", "-o", "less"]);
    run(&folder, &["forget", "other", "--all"]);
    // The same record, made to go elsewhere.
    run(
        &folder,
        &["compact", "session.jsonl.bak", "--budget", "4000", "--session", "work", "-o", "elsewhere"],
    );
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("session.jsonl is as it was before, byte for byte"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), before);
}

#[test]
fn what_cannot_be_undone_any_more_is_told() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    folder.file("words", b"TRIM_SLACK\n");
    let forgotten = run(&folder, &["forget", "work", "--matching", "words"]);
    let expected = "session.jsonl back any more; as it was before it is";
    assert!(forgotten.said().contains(expected), "{}", forgotten.stderr);
    // The format is still known.
    run(&folder, &["export", "work", "--to", "auto", "-o", "back"]);
    let counted = run(&folder, &["count", "back", "--json"]);
    let counted: Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(counted["format"], "claude-code");
}

#[test]
fn what_destroys_takes_whole_names_only() {
    let folder = Folder::new();
    run(
        &folder,
        &["compact", example().to_str().unwrap(), "--budget", "4000", "--session", "work-2024", "-o", "out"],
    );
    let ran = folder.run(&["forget", "work", "--all"], b"");
    assert!(ran.code == 1 && ran.said().contains("wants the whole name"), "{}", ran.stderr);
    let history = run(&folder, &["history", "work", "--full", "--json"]);
    let history: Value = serde_json::from_slice(&history.stdout).unwrap();
    assert!(history["messages"].as_array().unwrap().iter().all(|one| !one["message"].is_null()));
    // What can be taken back itself takes what `sessions` shows.
    let undone = run(&folder, &["undo", "7d1c2f6a"]);
    assert!(undone.stderr.starts_with("longhaul: session 7d1c2f6a-5b0e-4f2d"), "{}", undone.stderr);
    run(&folder, &["redo", "work"]);
}

#[test]
fn undo_says_what_became_of_each_file() {
    let folder = Folder::new();
    let before = session(&folder);
    in_place(&folder, "4000");
    run(&folder, &["undo", "work"]);
    // The same record again, in a file of its own.
    run(&folder, &["compact", "session.jsonl", "--budget", "4000", "--session", "work", "-o", "out.jsonl"]);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("out.jsonl was written by it and stays"), "{}", undone.stderr);
    assert!(!undone.said().contains("was changed since"), "{}", undone.stderr);
    assert_eq!(said(&folder, "session.jsonl"), before);
}

#[test]
fn an_import_does_not_say_that_what_was_forgotten_is_there() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    run(&folder, &["export", "work", "-o", "exported"]);
    assert!(run(&folder, &["import", "exported"]).said().contains("was in the store already"));
    run(&folder, &["forget", "work", "--range", "m2-m3"]);
    let again = run(&folder, &["import", "exported"]);
    assert!(
        again.said().contains("without the 2 of its 76 messages that were forgotten"),
        "{}",
        again.stderr
    );
    run(&folder, &["forget", "work", "--all"]);
    let again = folder.run(&["import", "exported"], b"");
    assert!(again.code == 3 && again.said().contains("was forgotten here"), "{}", again.stderr);
}

#[test]
fn another_transcript_that_was_replaced_comes_back_too() {
    let folder = Folder::new();
    let before = session(&folder);
    folder.file("other.json", br#"[{"role":"user","content":"another conversation"}]"#);
    let other = said(&folder, "other.json");
    run(
        &folder,
        &["compact", "session.jsonl", "--budget", "4000", "--session", "work", "-o", "other.json", "--force"],
    );
    assert_eq!(said(&folder, "other.json.bak"), other);
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.said().contains("other.json is as it was before"), "{}", undone.stderr);
    assert_eq!((said(&folder, "other.json"), said(&folder, "session.jsonl")), (other, before));
}

#[test]
fn what_is_forgotten_does_not_come_back_and_nobody_says_so() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    let forgotten = run(&folder, &["forget", "work", "--all"]);
    assert!(
        forgotten.said().contains("session.jsonl.bak is not touched, and may hold it too"),
        "{}",
        forgotten.stderr
    );
    session(&folder);
    let again = run(&folder, &["compact", "session.jsonl", "--budget", "3000", "-o", "out"]);
    assert!(
        again.said().contains("was not recorded: the transcript still says 76 messages of"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_transcript_that_still_says_what_was_forgotten_does_not_bring_it_back() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    folder.file("words", b"TRIM_SLACK\n");
    assert_eq!(run(&folder, &["forget", "work", "--matching", "words"]).code, 0);
    session(&folder);
    let again = run(&folder, &["compact", "session.jsonl", "--budget", "4000", "-o", "out"]);
    assert!(
        again.code == 0 && again.said().contains("were forgotten, and its summary would keep"),
        "{}",
        again.stderr
    );
    for what in [&["history", "work", "--full"][..], &["export", "work"]] {
        let shown = run(&folder, what);
        assert!(!String::from_utf8_lossy(&shown.stdout).contains("TRIM_SLACK"), "{what:?}");
    }
    assert_eq!(run(&folder, &["audit", "work", "--verify"]).code, 0);
}

#[test]
fn an_export_is_in_the_format_that_the_session_came_in() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    let exported = run(&folder, &["export", "work", "--to", "auto", "-o", "back.jsonl"]);
    let counted = run(&folder, &["count", "back.jsonl", "--json"]);
    let counted: Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(counted["format"], "claude-code");
    assert!(
        exported.said().contains("lines that are no messages) is not in the store"),
        "{}",
        exported.stderr
    );
    assert!(exported.said().contains("the file as it was is "), "{}", exported.stderr);
    let back = String::from_utf8(said(&folder, "back.jsonl")).unwrap();
    assert!(back.contains(r#""sessionId":"7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa""#), "{back}");
}

#[test]
fn an_export_over_a_transcript_keeps_it() {
    let folder = Folder::new();
    let before = session(&folder);
    run(&folder, &["compact", "session.jsonl", "--budget", "4000", "--session", "work", "-o", "out"]);
    let over =
        |args: &[&str]| run(&folder, &[&["export", "work", "-o", "session.jsonl", "--force"], args].concat());
    assert!(over(&["--to", "auto"]).said().contains("kept as session.jsonl.bak"));
    assert_eq!(said(&folder, "session.jsonl.bak"), before);
    // An export is replaced by the next: the store has what is in it.
    run(&folder, &["export", "work", "-o", "exported"]);
    run(&folder, &["undo", "work"]);
    run(&folder, &["export", "work", "-o", "exported", "--force"]);
    assert!(!folder.path().join("exported.bak").exists());
    // One of another store is another's.
    let other =
        ["compact", "session.jsonl.bak", "--budget", "3000", "--session", "work", "--store", "other.db"];
    run(&folder, &[&other[..], &["-o", "less"]].concat());
    run(&folder, &["export", "work", "--store", "other.db", "-o", "exported", "--force"]);
    assert!(folder.path().join("exported.bak").exists());
}

#[test]
fn messages_that_a_conversion_numbers_otherwise_are_told() {
    let folder = Folder::new();
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}"#;
    let history = format!(
        r#"{{"system":"s","messages":[{{"role":"user","content":"go"}},{call},{{"role":"user","content":"and on"}}]}}"#
    );
    folder.file("a.json", history.as_bytes());
    let to = |format: &str| {
        run(&folder, &["compact", "a.json", "--budget", "9000", "--no-store", "--to", format]).said()
    };
    let expected = "messages from m3 on have other numbers than in a.json";
    assert!(to("openai").contains(expected), "{}", to("openai"));
    let history =
        r#"{"system":"s","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
    folder.file("a.json", history.as_bytes());
    assert!(!to("openai").contains("other numbers"));
}

#[test]
fn a_quoted_handle_is_no_summary() {
    let folder = Folder::new();
    let first = "Look:\\nsummary-depth:3 id:0123456789abcdef\\nWhat is that?";
    let long = "A sentence about the work. ".repeat(300);
    let history = format!(
        r#"[{{"role":"user","content":"{first}"}},{{"role":"assistant","content":"{long}"}},{{"role":"user","content":"Go on."}}]"#
    );
    folder.file("a.json", history.as_bytes());
    let ran = run(&folder, &["compact", "a.json", "--budget", "500", "--no-store"]);
    assert!(!ran.said().contains("begins with a summary"), "{}", ran.stderr);
    assert!(ran.said().contains(", depth 0, by rules"), "{}", ran.stderr);
}

#[test]
fn a_store_that_cannot_be_looked_at_is_not_called_missing() {
    let folder = Folder::new();
    folder.file("file", b"x");
    for (args, code) in
        [(["sessions", "--store", "file/store.db"], 1), (["doctor", "--store", "file/store.db"], 1)]
    {
        let ran = folder.run(&args, b"");
        let all = ran.said() + &String::from_utf8_lossy(&ran.stdout);
        assert!(ran.code == code && all.contains("cannot be opened"), "{all}");
        assert!(!all.contains("not there yet") && !all.contains("nothing is recorded"), "{all}");
    }
}

#[test]
fn a_session_whose_lines_are_reversed_says_so() {
    let folder = Folder::new();
    let text = String::from_utf8(session(&folder)).unwrap();
    let reversed: Vec<&str> = text.lines().rev().collect();
    folder.file("session.jsonl", reversed.join("\n").as_bytes());
    let ran = run(&folder, &["compact", "session.jsonl", "--budget", "4000", "--no-store"]);
    assert!(ran.said().contains("the lines are out of order"), "{}", ran.stderr);
    assert_eq!(folder.run(&["compact", "session.jsonl", "--budget", "4000", "--strict"], b"").code, 4);
}

#[cfg(target_os = "linux")]
#[test]
fn no_line_is_wider_than_a_terminal() {
    let folder = Folder::new();
    session(&folder);
    let ran = in_place(&folder, "4000");
    let shown = |args: &[&str]| crate::widths::shown(&folder, args);
    let Some(history) = shown(&["history", "work"]) else { return };
    let (head, summary) = history.split_once("\ndepth ").unwrap();
    let (heading, said) = summary.split_once('\n').unwrap();
    let since = said.split_once("\nSince then\n").map_or("", |(_, since)| since);
    let full = shown(&["history", "work", "--full"]).unwrap();
    let loss = full.split_once("\nVisible in").unwrap().1.split_once("\nEvery message").unwrap().0;
    let others = [
        &["diff", "work"][..],
        &["audit", "work"],
        &["audit", "work", "--verify"],
        &["context", "session.jsonl.bak"],
        &["sessions"],
        &["doctor"],
    ];
    let others = others.map(|args| shown(args).unwrap());
    for text in
        [&*ran.stderr, head, heading, since, loss].into_iter().chain(others.iter().map(String::as_str))
    {
        for line in text.lines() {
            // A path or an id that is longer than a line stays whole.
            assert!(line.chars().count() <= 80 || !line.trim().contains(' '), "{line}");
        }
    }
}

/// Whoever stands somewhere else means another session, or none.
#[test]
fn what_was_compacted_in_another_folder_is_taken_back_by_its_name_alone() {
    let folder = Folder::new();
    let (project, other) = (folder.path().join("relay"), folder.path().join("other"));
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(&other).unwrap();
    let said = fs::read_to_string(example()).unwrap();
    let held = said.replace("/home/dev/longhaul", project.to_str().unwrap());
    let sessions = folder.path().join(".claude/projects/-relay");
    fs::create_dir_all(&sessions).unwrap();
    let file = sessions.join("7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa.jsonl");
    fs::write(&file, held).unwrap();
    let compacted =
        folder.run(&["compact", file.to_str().unwrap(), "--budget", "4000", "-o", "small.jsonl"], b"");
    assert_eq!(compacted.code, 0, "{}", compacted.stderr);
    for place in [folder.path(), &other] {
        for command in ["undo", "redo"] {
            let ran = folder.run_in(place, &[command], b"");
            assert!(ran.code == 4 && ran.said().contains("which session?"), "{command}: {}", ran.stderr);
        }
    }
    // What only looks finds it from around.
    assert_eq!(folder.run_in(folder.path(), &["history"], b"").code, 0);
    let undone = folder.run_in(&project.join("src"), &["undo"], b"");
    assert!(undone.code == 0 && undone.said().contains("undone"), "{}", undone.stderr);

    // A transcript that no agent keeps is of the folder it lies in.
    let folder = Folder::new();
    session(&folder);
    let other = folder.path().join("other");
    let aside = folder.path().join("aside");
    [&other, &aside].into_iter().for_each(|place| fs::create_dir_all(place).unwrap());
    fs::rename(folder.path().join("session.jsonl"), other.join("session.jsonl")).unwrap();
    let compacted =
        folder.run_in(&other, &["compact", "session.jsonl", "--budget", "4000", "--in-place"], b"");
    assert_eq!(compacted.code, 0, "{}", compacted.stderr);
    let elsewhere = folder.run_in(&aside, &["undo"], b"");
    assert!(elsewhere.code == 4 && elsewhere.said().contains("which session?"), "{}", elsewhere.stderr);
    assert_eq!(folder.run_in(&other, &["undo"], b"").code, 0);
    // Also where somebody went on since.
    let mut file = fs::File::options().append(true).open(other.join("session.jsonl")).unwrap();
    std::io::Write::write_all(&mut file, b"{\"type\":\"summary\",\"summary\":\"x\"}\n").unwrap();
    assert_eq!(folder.run_in(&other, &["redo"], b"").code, 4);
}

#[test]
fn messages_behind_a_word_are_looked_up_in_the_session_that_it_names_and_in_no_other() {
    let folder = Folder::new();
    session(&folder);
    in_place(&folder, "4000");
    assert_eq!(folder.run(&["recall", "work", "m3"], b"").code, 0);
    let unknown = folder.run(&["recall", "wrok", "m3"], b"");
    assert!(unknown.code != 0 && unknown.said().contains("wrok"), "{}", unknown.stderr);
    assert!(!unknown.said().contains("no message of"), "{}", unknown.stderr);
}

/// The same history under two ids, as a copy of a file that was given a new one.
#[test]
fn what_is_forgotten_and_held_by_a_twin_is_told() {
    let folder = Folder::new();
    let said = String::from_utf8(session(&folder)).unwrap();
    let [own, twin] = ["7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa", "8d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa"];
    folder.file("twin.jsonl", said.replace(own, twin).as_bytes());
    for (file, out) in [("session.jsonl", "a"), ("twin.jsonl", "b")] {
        run(&folder, &["compact", file, "--budget", "4000", "-o", out]);
    }
    let gone = run(&folder, &["forget", own, "--range", "m2-m3"]).said();
    let command = format!("longhaul forget {twin} --range m2-m3");
    assert!(gone.contains("still holds 2 of these messages") && gone.contains(&command), "{gone}");
    let gone = run(&folder, &["forget", own, "--all"]).said();
    assert!(
        gone.contains("still holds 74 of these messages") && gone.contains(&format!("forget {twin} --all")),
        "{gone}"
    );
    assert_eq!(folder.run(&["recall", "all", "knapsack"], b"").code, 0);
    let gone = run(&folder, &["forget", twin, "--all"]).said();
    assert!(!gone.contains("still holds"), "{gone}");
    assert_eq!(folder.run(&["recall", "all", "knapsack"], b"").code, 1);
}

/// Nobody says that something was done where there was nothing to do.
#[test]
fn what_changes_nothing_is_told() {
    let folder = Folder::new();
    session(&folder);
    run(&folder, &["compact", "session.jsonl", "--budget", "4000", "--session", "work", "-o", "out"]);
    assert!(
        run(&folder, &["restore", "work", "m3"])
            .said()
            .ends_with("1 message of 7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa restored")
    );
    run(&folder, &["undo", "work"]);
    let restored = run(&folder, &["restore", "work", "m3"]);
    assert!(restored.said().contains("no summary in force stands for m3 of"), "{}", restored.stderr);
    run(&folder, &["export", "work", "-o", "exported"]);
    let again = ["import", "exported", "--store", "other.db"];
    assert!(run(&folder, &again).said().ends_with(" is in the store"));
    assert!(run(&folder, &again).said().ends_with("was in the store already: nothing of it is new"));
    run(&folder, &["redo", "work"]);
    run(&folder, &["export", "work", "-o", "exported", "--force"]);
    assert!(run(&folder, &again).said().ends_with(" is in the store"), "the summary is in force again");
}

/// What was made in a folder is found there without a name, wherever it was made of.
#[test]
fn what_was_written_here_is_of_this_folder_for_who_looks() {
    let folder = Folder::new();
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    [&here, &there].into_iter().for_each(|place| fs::create_dir(place).unwrap());
    let texts = ["first", "second"].map(|words| {
        let long = format!("{words}: the row counts. ").repeat(300);
        let said = serde_json::json!([
            {"role": "user", "content": long}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Go on."},
        ]);
        (words, said.to_string())
    });
    for (name, text) in texts {
        fs::write(there.join(name), text).unwrap();
        let from = there.join(name);
        let ran =
            folder.run_in(&here, &["compact", from.to_str().unwrap(), "--budget", "400", "-o", name], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let history = folder.run_in(&here, &["history"], b"");
    assert!(history.code == 0 && history.stdout.len() > 100, "{}", history.stderr);
    assert_eq!(folder.run_in(&here, &["undo"], b"").code, 4, "what changes something wants a name");
}
