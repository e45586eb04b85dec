//! What the chat's commands show and do, over a conversation that was summarized.

use crate::{
    chat::{Answer, Server},
    run::{Folder, Ran},
};

fn start() -> Server {
    Server::start(|_, _| {
        Answer::Says(
            "The step reads the file line by line, keeps what it knows of each account in memory, and writes the sums into the ledger at the end.",
        )
    })
}

/// Has a conversation of rules and steps, with what is typed in between.
fn talk(folder: &Folder, server: &Server, more: &[&str], typed: &[(usize, &str)]) -> Ran {
    let mut script = String::from("Remember: the deploy token lives in vault/path/zebra-77.\n");
    for nth in 0..24 {
        for (_, commands) in typed.iter().filter(|(at, _)| *at == nth) {
            script.push_str(commands);
        }
        script.push_str(&format!("What does step {nth} of the import do with part_{nth}.csv, and why?\n"));
    }
    for (_, commands) in typed.iter().filter(|(at, _)| *at == 24) {
        script.push_str(commands);
    }
    let own = ["--session", "s", "--window", "16000", "--max-output", "600", "--mode", "rules"];
    folder.run(&server.args(&[&own, more].concat()), script.as_bytes())
}

fn out(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

// asserts 002-28
#[test]
fn the_history_in_full_shows_what_was_summarized() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(&folder, &server, &[], &[(20, "/summarize\ny\n/history --full\n"), (20, "/history\n")]);
    let all = out(&ran);
    let (_, after) = all.split_once("Put this in the place of").unwrap_or(("", &all));
    let (full, brief) = after.rsplit_once("Session history").unwrap();
    for nth in 0..20 {
        assert!(full.contains(&format!("What does step {nth} of the import")), "{nth}: {full}");
    }
    assert!(full.contains("[Every message] m0-m41"), "{full}");
    let (_, recent) = brief.split_once("[Recent] m").unwrap();
    let first: usize = recent.split('-').next().unwrap().parse().unwrap();
    assert!((20..40).contains(&first) && recent.contains("What does step 19 of the import"), "{brief}");
}

// asserts 002-27
#[test]
fn what_a_summary_promises_is_what_the_box_says() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(
        &folder,
        &server,
        &["--preset", "session"],
        &[(12, "/summarize\ny\n"), (18, "/summarize\ny\n"), (24, "/summarize\ny\n")],
    );
    let all = out(&ran);
    let promised: Vec<u64> = ran
        .stderr
        .split("messages? ")
        .skip(1)
        .map(|rest| {
            let (before, rest) = rest.split_once(" → ").unwrap();
            let after: u64 = rest.split(' ').next().unwrap().parse().unwrap();
            before.parse::<u64>().unwrap() - after
        })
        .collect();
    let saved: Vec<u64> = all
        .split("│ Tokens saved: ~")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().replace(',', "").parse().unwrap())
        .collect();
    assert_eq!((promised.len(), &promised), (3, &saved), "{all}\n{}", ran.stderr);
}

// asserts 004-57
#[test]
fn a_summary_is_made_anew_from_the_originals() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(
        &folder,
        &server,
        &[],
        &[(12, "/summarize\ny\n"), (20, "/summarize\ny\n"), (24, "/resummarize\ny\n")],
    );
    out(&ran);
    let history = out(&folder.run(&["history", "s", "--json"], b""));
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    let summaries = history["summaries"].as_array().unwrap();
    let depths: Vec<u64> = summaries.iter().filter_map(|record| record["depth"].as_u64()).collect();
    assert_eq!(depths, [0, 1, 0], "{history}");
}

#[test]
fn words_that_were_deleted_are_not_said_to_be_unsaid() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(
        &folder,
        &server,
        &["--set", "delete_originals=true"],
        &[(20, "/summarize\ny\n/recall account sums of part_3.csv\n/recall nightingale\n")],
    );
    let all = format!("{}{}", out(&ran), ran.stderr);
    assert_eq!(all.matches("messages were deleted, and what they said cannot be found").count(), 2, "{all}");
    let recalled = folder.run(&["recall", "s", "nightingale"], b"");
    assert!(recalled.stderr.contains("messages were deleted"), "{}", recalled.stderr);
    let (folder, server) = (Folder::new(), start());
    let ran = talk(&folder, &server, &[], &[(20, "/summarize\ny\n/recall nightingale\n")]);
    assert!(!ran.stderr.contains("deleted"), "{}", ran.stderr);
}

#[test]
fn the_folder_of_a_conversation_finds_it_again() {
    let server = Server::start(|_, _| Answer::Says("The retry is bounded by the budget of the relay."));
    let folder = Folder::new();
    let flags = ["--session", "talk", "--window", "20000"];
    let ran = folder.run(&server.args(&flags), b"What bounds the retry?\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // Another conversation, which was held elsewhere and later.
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let ran =
        folder.run_in(&elsewhere, &server.args(&["--session", "other"]), b"And what bounds the queue?\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let beside = folder.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    let ran = folder.run_in(&beside, &server.args(&["--session", "talk"]), b"Is that so?\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    for (place, session) in [(&elsewhere, "other"), (&beside, "talk")] {
        for command in [&["history"][..], &["recall", "budget"], &["recall", "bounded", "by"]] {
            let ran = folder.run_in(place, command, b"");
            assert_eq!(ran.code, 0, "{command:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!("session {session}\n")), "{command:?}: {}", ran.stderr);
        }
    }
    // What fills its window is told of its own window.
    let ran = folder.run(&["context", "talk", "--json"], b"");
    let seen: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&seen["window"], &seen["messages"]), (&128_000.into(), &4.into()), "{seen}");
    let sessions = String::from_utf8(folder.run(&["sessions"], b"").stdout).unwrap();
    assert!(sessions.contains("  talk\n    What bounds the retry?\n"), "{sessions}");
}

#[test]
fn words_that_are_no_session_are_looked_for() {
    let server = Server::start(|_, _| Answer::Says("We never touch the auth module."));
    let folder = Folder::new();
    for session in ["one", "two"] {
        let ran = folder.run(&server.args(&["--session", session]), b"What do we never touch?\n");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    // No session of that folder is recorded.
    let elsewhere = Folder::new();
    let ran = folder.run_in(elsewhere.path(), &["recall", "never", "touch", "auth"], b"");
    let found = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.code == 0 && found.contains("one\n") && found.contains("two\n"), "{found}{}", ran.stderr);
    assert!(ran.stderr.contains("looked for in all"), "{}", ran.stderr);
    // A file that is a session is none of the words.
    elsewhere.file("other.json", br#"[{"role":"user","content":"hello"}]"#);
    let ran = folder.run_in(elsewhere.path(), &["recall", "other.json", "touch"], b"");
    assert!(ran.code != 0 && ran.stderr.contains("nothing of other.json is recorded"), "{}", ran.stderr);
    let ran = folder.run_in(elsewhere.path(), &["recall", "one", "touch"], b"");
    assert!(ran.code == 0 && !String::from_utf8_lossy(&ran.stdout).contains("two"), "{}", ran.stderr);
}

#[test]
fn the_window_that_a_refusal_names_is_worked_with_and_shown() {
    const REFUSAL: &str = r#"{"error":{"message":"This model's maximum context length is 3000 tokens. However, your messages resulted in 3600 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    let server = Server::start(|_, body| match body.to_string().len() > 12_000 {
        true => Answer::Refuses(400, REFUSAL),
        false => Answer::Says("Understood."),
    });
    let folder = Folder::new();
    let part = "The relay reads its queue in order and writes what it sent to the ledger. ".repeat(60);
    let script = format!("One: {part}\nTwo: {part}\nThree: {part}\n/context\n/model\n");
    let args = server.args(&["--session", "s", "--window", "20000"]);
    let ran = folder.run(&args, script.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.said().contains("the window is 3,000 tokens from now on"), "{}", ran.stderr);
    assert!(ran.stderr.trim_end().contains(" of 3,000 tokens ("), "{}", ran.stderr);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(
        out.contains(" of 3,000 tokens (") && out.contains("a window of 3,000 tokens, 750 of them"),
        "{out}"
    );
    assert_eq!(server.bodies().last().unwrap()["max_tokens"], 750);
}

#[test]
fn the_status_and_the_picture_say_one_number() {
    let server = Server::start(|_, _| Answer::Says("Understood."));
    let folder = Folder::new();
    let args = server.args(&["--window", "20000", "--tools", "--session", "s"]);
    let ran = folder.run(&args, b"hello\n/context\n");
    let number = |text: &str| -> String {
        let before = text.split_once(" of 20,000 tokens").unwrap().0;
        before.rsplit(|c: char| !c.is_ascii_digit() && c != ',').next().unwrap().to_owned()
    };
    let picture = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(number(&ran.stderr), number(&picture), "{}\n{picture}", ran.stderr);
    // And so does who looks at it from without.
    let seen = String::from_utf8(folder.run(&["context", "s"], b"").stdout).unwrap();
    assert_eq!(number(&seen), number(&picture), "{seen}\n{picture}");
}
