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

// asserts 002-39
#[test]
fn under_its_preset_the_history_has_the_documents_headings() {
    let (folder, server) = (Folder::new(), start());
    let typed = [(12, "/summarize\ny\n"), (20, "/summarize\ny\n/history\n/history --full\n")];
    let ran = talk(&folder, &server, &["--preset", "session"], &typed);
    let all = out(&ran);
    let headings: Vec<&str> =
        all.lines().filter(|line| line.starts_with('[') && line.contains("] Messages ")).collect();
    // Counted from one, with the handles behind.
    let spans = headings.iter().map(|heading| {
        let (title, rest) = heading.split_once("] Messages ").unwrap();
        let (first, rest) = rest.split_once('-').unwrap();
        let (last, rest) = rest.split_once(": (").unwrap();
        let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
        assert!(rest.starts_with(&format!("m{}-m{}", first - 1, last - 1)), "{heading}");
        (&title[1..], first, last)
    });
    let spans: Vec<_> = spans.collect();
    let [
        ("Summary 1", 1, end),
        ("Summary 2", next, last),
        ("Recent", recent, 42),
        ..,
        ("Every message", 1, 42),
    ] = spans[..]
    else {
        panic!("{all}")
    };
    assert_eq!((next, recent, spans.len()), (end + 1, last + 1, 6), "{all}");
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

// asserts 004-57
#[test]
fn a_summary_that_would_say_the_same_is_not_made_anew() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(&folder, &server, &[], &[(12, "/summarize\ny\n/resummarize\ny\n/resummarize\n")]);
    let said = format!("{}{}", out(&ran), ran.stderr);
    assert!(said.contains("would say what it says"), "{said}");
    assert_eq!(said.matches("Put this in the place of").count(), 2, "{said}");
}

// asserts 002-31
#[test]
fn words_that_were_deleted_are_not_said_to_be_unsaid() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(
        &folder,
        &server,
        &["--set", "delete_originals=true"],
        &[(20, "/summarize\ny\n/recall account sums of part_3.csv\n/recall nightingale\n/history --full\n")],
    );
    let all = format!("{}{}", out(&ran), ran.stderr);
    // Nor are they shown again.
    let (_, history) = all.split_once("[Every message]").unwrap();
    assert!(history.contains("deleted") && !history.contains("What does step 0 of the import"), "{history}");
    assert!(history.contains("What does step 19 of the import"), "{history}");
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
    assert_eq!((&seen["window"], &seen["messages"]), (&20_000.into(), &4.into()), "{seen}");
    let sessions = String::from_utf8(folder.run(&["sessions"], b"").stdout).unwrap();
    assert!(sessions.contains("  talk\n    What bounds the retry?\n"), "{sessions}");
}

#[test]
fn a_conversation_goes_on_with_whom_it_was_held() {
    let server = Server::start(|_, _| Answer::Says("Noted."));
    let folder = Folder::new();
    let flags =
        ["--session", "talk", "--model", "small-1", "--window", "9000", "--max-output", "700", "--tools"];
    let ran = folder.run(&[&server.args(&[])[..3], &flags].concat(), b"hello\n");
    assert!(ran.stderr.contains("`longhaul chat --session talk --tools` goes on"), "{}", ran.stderr);
    let ran = folder.run(&["chat", "--session", "talk"], b"and on\n");
    assert!(ran.code == 0 && ran.stderr.contains("of 9,000 tokens"), "{}", ran.stderr);
    let body = server.bodies().pop().unwrap();
    assert_eq!((&body["model"], &body["max_tokens"]), (&"small-1".into(), &700.into()));
    // Flags win, and the window is the model's.
    let ran = folder.run(&["chat", "--session", "talk", "--model", "gpt-4o"], b"and on\n");
    assert!(ran.code == 0 && ran.stderr.contains("of 128,000 tokens"), "{}", ran.stderr);
    let ran = folder.run(&["chat", "--session", "talk"], b"/model next 40k\n/quit\n");
    assert!(ran.stderr.contains("gpt-4o at "), "{}", ran.stderr);
    let ran = folder.run(&["chat", "--session", "talk"], b"/quit\n");
    assert!(ran.said().contains("next at ") && ran.stderr.contains("of 40,000 tokens"), "{}", ran.stderr);
    let flags = ["--session", "under", "--model", "m", "--window", "9000", "--preset", "session"];
    let ran = folder.run(&[&server.args(&[])[..3], &flags].concat(), b"hello\n");
    assert!(
        ran.stderr.contains("`longhaul chat --session under --preset session` goes on"),
        "{}",
        ran.stderr
    );
    let told = "it was held under the preset session, and is told by the settings as they are";
    assert!(folder.run(&["context", "under"], b"").said().contains(told));
    assert!(!folder.run(&["context", "under", "--preset", "session"], b"").said().contains(told));
    // A key is never kept; what is missing then is named.
    let token = ["ghp", "_", "x8Kq2mV7Rt5Lw9Zc3Bn6Yd1Fg4Hj0Ps7Ua2b"].concat();
    let with_key = format!("{}/{token}", server.args(&[])[2]);
    let ran =
        folder.run(&["chat", "--session", "other", "--model", "m", "--base-url", &with_key], b"hello\n");
    assert!(ran.stderr.contains("`longhaul chat --session other --base-url URL` goes on"), "{}", ran.stderr);
    for (session, lacking) in [
        ("other", "longhaul: a conversation needs --base-url"),
        ("none", "no conversation is called none, and this would be a new one: a conversation needs"),
        ("othe", "no conversation is called othe (but other): a conversation needs"),
    ] {
        let ran = folder.run(&["chat", "--session", session], b"hello\n");
        assert!(ran.code == 1 && ran.said().contains(lacking), "{}", ran.stderr);
    }
}

#[test]
fn a_slip_of_the_hand_at_the_models_name_compacts_nothing() {
    let server = Server::start(|_, _| Answer::Says("Noted."));
    let folder = Folder::new();
    let long = "It rains in the valley and the river rises. ".repeat(3_600);
    let flags = ["--session", "talk", "--model", "gpt-4o"];
    let typed = format!("{long}\n/model gpt-4oo\n/model gpt-4oo 128k\n/quit\n");
    let ran = folder.run(&[&server.args(&[])[..3], &flags].concat(), typed.as_bytes());
    let refused = "gpt-4oo is in no table, and a window of 32,768 tokens";
    assert!(ran.code == 0 && ran.stderr.contains(refused), "{}", ran.stderr);
    assert!(ran.stderr.contains("gpt-4o goes on") && !ran.stderr.contains("summarized"), "{}", ran.stderr);
    assert!(ran.stderr.contains("gpt-4oo answers from now on; a window of 128,000 tokens"), "{}", ran.stderr);
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
    assert!(ran.code != 0 && ran.stderr.contains("nothing is recorded of other.json"), "{}", ran.stderr);
    // A session's name alone asks for nothing in it.
    let ran = folder.run_in(elsewhere.path(), &["recall", "one"], b"");
    assert!(
        ran.code != 0 && ran.said().contains("one is a session: say what to look for in it"),
        "{}",
        ran.stderr
    );
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
fn what_a_model_cannot_take_is_not_sent_again() {
    const REFUSAL: &str = r#"{"error":{"message":"This model's maximum context length is 3000 tokens. However, your messages resulted in 4600 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    let server = Server::start(|_, body| match body.to_string().len() > 12_000 {
        true => Answer::Refuses(400, REFUSAL),
        false => Answer::Says("Understood."),
    });
    let folder = Folder::new();
    let long = "The relay reads its queue in order and writes what it sent to the ledger. ".repeat(300);
    let args = server.args(&["--session", "s", "--window", "20000"]);
    let ran = folder.run(&args, format!("{long}\n/retry\n/retry\n").as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let said = ran.said();
    assert_eq!(server.bodies().len(), 1, "{said}");
    assert!(said.contains("nothing was sent") && said.contains("gpt-4o takes 3,000 tokens"), "{said}");
    assert!(said.contains("user: The relay reads its queue in order") && said.contains("too many"), "{said}");
    // A shorter one lets it be summarized, and a larger model takes it.
    for (session, next) in [("t", "Never mind.\n"), ("u", "/model gpt-4o 100k\n/retry\n")] {
        let before = server.bodies().len();
        let args = server.args(&["--session", session, "--window", "20000"]);
        let ran = folder.run(&args, format!("{long}\n/retry\n{next}").as_bytes());
        assert!(server.bodies().len() > before + 1, "{}", ran.stderr);
    }
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

// asserts 000-23
/// What a provider bills is not what is counted here, and before, after, and from without is one measure all the same.
#[test]
fn what_is_billed_is_one_measure_before_and_after() {
    const SAYS: &str = "The step reads the file line by line, keeps what it knows of each account in memory, and writes the sums into the ledger at the end of all of it.";
    let server = Server::start(|_, body| Answer::Bills(SAYS, body.to_string().len() as u64 / 3));
    for tools in [&[][..], &["--tools"]] {
        let folder = Folder::new();
        let flags = ["--session", "s", "--model", "small-1", "--window", "60000", "--max-output", "600"];
        let args = [&server.args(&[])[..3], &flags, tools].concat();
        let script: String =
            (0..12).map(|nth| format!("What does step {nth} do with part_{nth}.csv, and why?\n")).collect();
        let script = script + "/context\n/summarize\ny\n/context\n/undo\n/redo\n";
        let ran = folder.run(&args, script.as_bytes());
        let out = out(&ran);
        let number = |text: &str| -> u64 {
            let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
            digits.replace(',', "").parse().unwrap()
        };
        let statuses: Vec<u64> = ran
            .stderr
            .lines()
            .filter(|line| line.contains(" of 60,000 tokens ("))
            .map(|line| number(line.trim_start_matches(['▰', '▱', ' '])))
            .collect();
        let [.., said, summarized, undone, redone] = statuses[..] else { panic!("{statuses:?}") };
        assert!(summarized < said, "{statuses:?}");
        assert_eq!((undone, redone), (said, summarized), "{}", ran.stderr);
        // The question, the box and the pictures say the same.
        let question = ran.stderr.split_once("messages? ").unwrap().1;
        let (before, after) = question.split_once(" → ").unwrap();
        assert_eq!((number(before), number(after)), (said, summarized));
        let boxed = out.split_once("Tokens saved: ~").unwrap().1;
        assert_eq!(number(boxed), said - summarized, "{out}");
        let pictured: Vec<&str> = out.split("small-1  ").skip(1).collect();
        assert_eq!(
            pictured.iter().map(|picture| number(picture)).collect::<Vec<_>>(),
            [said, summarized],
            "{out}"
        );
        assert!(
            pictured[0].contains(&format!("{} would become one summary", question_of(&ran.stderr))),
            "{out}"
        );
        let promised = pictured[0].split_once("would save").unwrap().1.trim_start();
        assert_eq!(number(promised), said - summarized, "{out}");
        let rows = |picture: &str| -> u64 {
            let rows = picture
                .lines()
                .filter(|row| row.ends_with(" %") && !row.contains("free") && !row.contains("kept for"));
            rows.map(|row| {
                number(
                    row.rsplit("  ")
                        .find(|cell| {
                            cell.trim().starts_with(|c: char| c.is_ascii_digit()) && !cell.contains('%')
                        })
                        .unwrap()
                        .trim(),
                )
            })
            .sum()
        };
        assert_eq!(
            pictured.iter().map(|picture| rows(picture)).collect::<Vec<_>>(),
            [said, summarized],
            "{out}"
        );
        // And so does who looks from without.
        let seen: serde_json::Value =
            serde_json::from_slice(&folder.run(&["context", "s", "--json"], b"").stdout).unwrap();
        assert_eq!(seen["tokens"], redone, "{seen}");
        let thresholds = pictured[1].split_once("trigger ").unwrap().1;
        assert_eq!(seen["compaction"]["trigger"], number(thresholds), "{seen}");
        assert_eq!((&seen["reserved_output"], &seen["billed"]), (&600.into(), &redone.into()));
        let history = String::from_utf8(folder.run(&["history", "s", "--json"], b"").stdout).unwrap();
        let history: serde_json::Value = serde_json::from_str(&history).unwrap();
        let record = &history["summaries"][0];
        let beside = said - record["tokens_before"].as_u64().unwrap();
        assert_eq!(record["tokens_after"].as_u64().unwrap() + beside, summarized, "{record}");
    }
}

/// Returns how many messages the question of `/summarize` names, in its words.
fn question_of(stderr: &str) -> &str {
    stderr.split_once("in the place of ").unwrap().1.split_once('?').unwrap().0
}

#[test]
fn what_is_not_billed_is_not_said_to_be() {
    let (server, folder) = (Server::start(|_, _| Answer::Says("Understood.")), Folder::new());
    let ran = folder.run(&server.args(&["--tools", "--session", "s"]), b"hello\n/context\n");
    let picture = String::from_utf8(ran.stdout).unwrap();
    let seen = String::from_utf8(folder.run(&["context", "s"], b"").stdout).unwrap();
    assert!(!seen.contains("billed"), "{seen}");
    let tools = |text: &str| text.lines().find(|line| line.contains("tool definitions")).unwrap().to_owned();
    assert_eq!(tools(&seen), tools(&picture));
    // They are in all numbers, so that none has to be said to be without them.
    assert!(!picture.contains("compared"), "{picture}");
}

// asserts 000-23
#[test]
fn what_the_picture_promises_is_not_refused() {
    let (folder, server) = (Folder::new(), start());
    let ran = talk(&folder, &server, &[], &[(20, "/summarize\ny\n/context\n/summarize\n")]);
    let all = out(&ran);
    let foretold = all.lines().find(|line| line.contains("would save")).unwrap();
    assert_eq!(
        foretold.contains("nothing new to summarize"),
        ran.said().contains("nothing new to summarize"),
        "{all}{}",
        ran.stderr
    );
}

#[test]
fn conversations_that_begin_alike_are_told_apart() {
    let (server, folder) = (Server::start(|_, _| Answer::Says("Understood.")), Folder::new());
    for (session, script) in [
        ("one", "hello there\nTell me about the relay.\n"),
        ("two", "hello again\nTell me about the relay.\nAnd its queue?\n"),
        ("three", "Tell me about the relay.\n"),
        ("four", "Which port does it use?\n"),
    ] {
        let ran = folder.run(&server.args(&["--session", session]), script.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let seen = String::from_utf8(folder.run(&["sessions", "--json"], b"").stdout).unwrap();
    let titles: Vec<String> = seen
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["title"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        titles,
        [
            "Which port does it use?",
            "Tell me about the relay.",
            "hello again",
            "Tell me about the relay. · hello there"
        ]
    );
}

// asserts 000-23
/// Also where a compaction is due that would go less far, and from without.
#[test]
fn what_the_picture_foretells_is_what_a_compaction_then_comes_to() {
    let said = "The step reads the file line by line and writes the sums into the ledger. ".repeat(16);
    let answer: &'static str = said.leak();
    let server = Server::start(move |_, _| Answer::Says(answer));
    for preset in ["two-tier", "session", "chain"] {
        let folder = Folder::new();
        let turn = |nth: usize| {
            let asked = format!("What does step {nth} of the import do with part_{nth}.csv, and why?");
            format!("{asked}\n/context\n/summarize\nn\n")
        };
        let script: String = (0..44).map(turn).collect();
        let own = ["--session", "s", "--window", "8000", "--max-output", "600", "--preset", preset];
        let ran = folder.run(&server.args(&[&own[..], &["--mode", "rules"]].concat()), script.as_bytes());
        let out = out(&ran);
        let number = |text: &str| text.split_once(" tokens").unwrap().0.replace(',', "");
        let behind = |text: &str| number(text.split_once(" → ").unwrap().1);
        let promised: Vec<String> = out.split("would become one summary").skip(1).map(behind).collect();
        let became: Vec<String> = ran.stderr.split("Put this in the place of").skip(1).map(behind).collect();
        assert_eq!(promised, became, "{preset}: {out}");
        assert!(promised.len() > 20 && out.contains(" reach the trigger at "), "{preset}: {out}");
        let seen = folder.run(&["context", "s", "--json", "--preset", preset], b"").stdout;
        let seen: serde_json::Value = serde_json::from_slice(&seen).unwrap();
        assert_eq!(&seen["compaction"]["after"].to_string(), promised.last().unwrap(), "{preset}: {seen}");
    }
}
