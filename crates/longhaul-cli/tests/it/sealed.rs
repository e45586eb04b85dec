//! A store under a key, and one on a server.

use std::fs;

use crate::run::{Folder, example};

// asserts 002-30
#[test]
fn a_key_in_a_file_opens_the_store_and_nothing_else_does() {
    let folder = Folder::new();
    let key = folder.file("key", format!("{}\n", "5e".repeat(32)).as_bytes());
    let (key, example) = (key.to_str().unwrap(), example());
    let compact = ["compact", example.to_str().unwrap(), "--budget", "4000", "--session", "work"];
    let ran = folder.run(&[&compact[..], &["--store-key-file", key]].concat(), b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = folder.run(&["recall", "work", "public", "--store-key-file", key], b"");
    assert!(found.code == 0 && !found.stdout.is_empty(), "{}", found.stderr);
    for (arguments, expected) in [
        (&["sessions"][..], "it is kept under a key, and none was given"),
        (
            &["sessions", "--store-key-file", "missing"],
            "the file with the store's key, missing, cannot be read",
        ),
        (&["sessions", "--store-key-file", "wrong"], "the key is not the one it is kept under"),
        (&["sessions", "--store-key-file", "odd"], "the key is not 64 hexadecimal digits"),
    ] {
        folder.file("wrong", "00".repeat(32).as_bytes());
        folder.file("odd", b"hunter2");
        let ran = folder.run(arguments, b"");
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("hunter2"));
    }
    let bytes = fs::read(folder.path().join(".local/share/longhaul/store.db")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("public") && !text.contains("longhaul-trim"), "no word is in the file");
}

#[cfg(feature = "postgres")]
#[test]
fn a_store_on_a_server_serves_every_command() {
    let Ok(url) = std::env::var("LONGHAUL_TEST_POSTGRES_URL") else {
        return eprintln!(
            "skipped: LONGHAUL_TEST_POSTGRES_URL names no server; `cargo xtask test` starts one"
        );
    };
    let (folder, example) = (Folder::new(), example());
    // A session of this run alone: the server may have been used before.
    let name = format!("cli-{}", std::process::id());
    let store = ["--store", url.as_str()];
    let run = |arguments: &[&str]| {
        let ran = folder.run(&[arguments, &store].concat(), b"");
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    run(&["compact", example.to_str().unwrap(), "--budget", "4000", "--session", &name]);
    assert!(run(&["sessions"]).contains(&name));
    assert!(run(&["recall", &name, "public"]).contains("public"));
    assert!(run(&["history", &name]).contains("Summary "));
    assert!(run(&["diff", &name]).contains("Gone: nothing"));
    run(&["undo", &name]);
    run(&["redo", &name]);
    assert!(run(&["audit", &name, "--verify"]).contains("intact"));
    let exported = run(&["export", &name]);
    let file = folder.file("export.jsonl", exported.as_bytes());
    // Into a file, and the same out of it.
    let local = folder.run(&["import", file.to_str().unwrap()], b"");
    assert_eq!(local.code, 0, "{}", local.stderr);
    let again = folder.run(&["export", &name], b"");
    assert_eq!(String::from_utf8(again.stdout).unwrap(), exported);
    let ran = folder.run(&["sessions", "--store", "postgres://ann:s3cret@127.0.0.1:1/none"], b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("postgres://ann@127.0.0.1:1/none") && !ran.stderr.contains("s3cret"));
}
