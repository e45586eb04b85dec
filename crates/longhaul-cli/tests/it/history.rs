//! What was recorded, read back and changed by the commands, each in a process of its own.

use longhaul::wire::Format;
use serde_json::Value;

use crate::run::{Folder, Ran, example};

/// Compacts the example in a new folder and returns it with the session's id and the summary's.
fn recorded() -> (Folder, String, String) {
    let folder = Folder::new();
    let ran =
        run(&folder, &["compact", example().to_str().unwrap(), "--budget", "4000", "--session", "work"]);
    let history = text(&ran);
    assert!(history.contains("summary-depth:0 id:"), "{history}");
    let sessions = json(&run(&folder, &["sessions", "--json"]));
    let of = |key: &str| sessions[key].as_str().unwrap().to_owned();
    assert_eq!(sessions["aliases"][0], "work");
    let (session, head) = (of("session"), of("head"));
    (folder, session, head)
}

#[test]
fn a_summary_says_how_a_handle_is_looked_up_where_it_can_be() {
    let (folder, ..) = recorded();
    let example = example();
    let compact = |more: &[&str]| {
        let usual = ["compact", example.to_str().unwrap(), "--budget", "4000", "--dry-run"];
        text(&run(&folder, &[&usual, more].concat()))
    };
    let line = "\nsummary-lookup: `longhaul recall 81b0e6aa m12` shows m12 whole\nsummary-depth:0 id:";
    assert!(compact(&[]).contains(line), "{}", compact(&[]));
    assert_eq!(compact(&[]), compact(&[]));
    for without in [&["--no-store"][..], &["--preset", "session", "--mode", "rules"]] {
        assert!(!compact(without).contains("summary-lookup"), "{without:?}");
    }
    assert!(text(&run(&folder, &["recall", "m12"])).contains("m12"));
}

/// Puts a chat into the folder that lies at `place`, and compacts it there.
fn compacted_at(folder: &Folder, place: &str, asks: &str) {
    let here = folder.path().join(place);
    std::fs::create_dir_all(&here).unwrap();
    let said = (0..40).map(|n| {
        let (role, text) = if n % 2 == 0 { ("user", asks) } else { ("assistant", "It is done, and stays so.") };
        serde_json::json!({ "role": role, "content": format!("{text} Step {n} of {place}. {}", "word ".repeat(40)) })
    });
    std::fs::write(here.join("chat.json"), Value::from_iter(said).to_string()).unwrap();
    let ran = folder.run_in(&here, &["compact", "chat.json", "--budget", "1000", "-o", "small.json"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn recorded_sessions_are_meant_by_words_of_their_first_request() {
    let folder = Folder::new();
    compacted_at(&folder, "one", "Mend the zebra counter.");
    compacted_at(&folder, "two", "Mend the giraffe counter.");
    let of = |words: &str| {
        let ran = run(&folder, &["history", words, "--json"]);
        let first = &json(&ran)["summaries"][0]["text"];
        first.as_str().unwrap().to_owned()
    };
    assert!(of("zebra counter").contains("zebra") && of("GIRAFFE mend").contains("giraffe"));
    for command in ["diff", "history"] {
        let ran = run(&folder, &[command, "zebra counter"]);
        assert!(ran.said().contains("session "), "{command}: {}", ran.stderr);
        let both = folder.run(&[command, "counter"], b"");
        assert!(both.code != 0 && both.said().contains("any of 2 recorded sessions"), "{}", both.stderr);
        let none = folder.run(&[command, "okapi counter"], b"");
        assert!(none.code != 0 && none.said().contains("no session okapi counter"), "{}", none.stderr);
    }
    // Where something is changed nobody guesses.
    let undone = folder.run(&["undo", "zebra counter"], b"");
    assert!(
        undone.code == 1 && undone.said().contains("takes no words for one; they stand in"),
        "{}",
        undone.stderr
    );
}

#[test]
fn a_plain_transcript_is_of_the_folder_that_it_lies_in() {
    let folder = Folder::new();
    compacted_at(&folder, "one", "Mend the zebra counter.");
    compacted_at(&folder, "two", "Mend the giraffe counter.");
    for (place, asked) in [("one", "zebra"), ("two", "giraffe")] {
        let ran = folder.run_in(&folder.path().join(place), &["history"], b"");
        assert!(ran.code == 0 && text(&ran).contains(asked), "{place}: {}", ran.stderr);
    }
    std::fs::create_dir(folder.path().join("three")).unwrap();
    let ran = folder.run_in(&folder.path().join("three"), &["history"], b"");
    assert!(ran.code == 4 && ran.said().contains("which session?"), "{}", ran.stderr);
    // What changes something is taken from there alone.
    assert_eq!(folder.run_in(&folder.path().join("one"), &["undo"], b"").code, 0);
    assert_eq!(folder.run(&["undo"], b"").code, 4);
    let ran = folder.run_in(&folder.path().join("one"), &["history"], b"");
    assert!(
        ran.code == 0 && text(&ran).contains("zebra"),
        "taken back, it is of its folder still: {}",
        ran.stderr
    );
}

/// What is printed to be typed does what it says, in a shell as it stands there.
#[test]
fn every_command_that_is_printed_finds_the_store() {
    let folder = Folder::new();
    let example = example();
    let compact = ["compact", example.to_str().unwrap(), "--budget", "4000", "--session", "work"];
    let told = run(&folder, &[&compact[..], &["--store", "my store.db"]].concat());
    // As an agent, whoever types it may stand in another folder.
    let store = folder.path().canonicalize().unwrap().join("my store.db");
    let named = format!("--store '{}'", store.display());
    for command in ["history work", "undo work"] {
        assert!(told.said().contains(&format!("longhaul {command} {named}")), "{}", told.stderr);
    }
    let history = text(&told);
    let (_, line) = history.split_once("summary-lookup: `longhaul ").unwrap();
    let (line, _) = line.split_once("` shows m12 whole").unwrap();
    assert!(line.ends_with(&format!(" {named}")), "{line}");
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let binary = assert_cmd::cargo::cargo_bin!("longhaul");
    let shell = std::process::Command::new("sh")
        .args(["-c", &format!("{} {line}", binary.display())])
        .current_dir(&elsewhere)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&shell.stdout);
    assert!(shell.status.success() && out.contains("m12 "), "{line}: {out}");
    for (args, command) in [
        (&["history", "work", "--full"][..], "longhaul recall 7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa mN"),
        (&["diff", "work"], "longhaul recall 7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa mN"),
        (&["recall", "work", "knapsack"], "mN"),
    ] {
        let ran = run(&folder, &[args, &["--store", "my store.db"]].concat());
        let said = format!("{} {}", words(&ran), ran.said());
        assert!(said.contains(&format!("{command} {named}")), "{args:?}: {said}");
    }
    // Where a variable leads there, nothing needs to.
    let variables = [("LONGHAUL_STORE", store.to_str().unwrap())];
    let told = folder.run_with(&variables, &[&compact[..], &["-o", "x.jsonl"]].concat(), b"");
    assert!(
        told.said().contains("longhaul history work ") && !told.said().contains("--store"),
        "{}",
        told.stderr
    );
    let usual = run(&folder, &[&compact[..], &["-o", "y.jsonl"]].concat());
    assert!(!usual.said().contains("--store"), "{}", usual.stderr);
}

#[test]
fn the_line_of_a_branch_and_of_any_id_finds_its_own_messages() {
    let folder = Folder::new();
    let said = std::fs::read_to_string(example()).unwrap();
    let begins = |word: &str| format!("The {word} planner throws away too much.");
    let id = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
    // The first of them is a branch of none, the next two are of one id, and the last has one that is no UUID.
    for (word, id) in
        [("trim", id), ("other", id), ("third", id), ("fourth", "ses_5f3a9c1bdffeKq7TzWm2RxYp4L")]
    {
        let reworded =
            said.replace(&begins("trim"), &begins(word)).replace("7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa", id);
        folder.file("said.jsonl", reworded.as_bytes());
        let history = text(&run(&folder, &["compact", "said.jsonl", "--budget", "4000"]));
        let (_, line) = history.split_once("`longhaul recall ").unwrap();
        let (session, _) = line.split_once(" m12` shows").unwrap();
        let first = text(&run(&folder, &["recall", session, "m0"]));
        assert!(first.contains(&begins(word)), "{session}: {first}");
    }
}

/// Runs a command that must succeed.
fn run(folder: &Folder, args: &[&str]) -> Ran {
    let ran = folder.run(args, b"");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    ran
}

/// Returns what was said in one line: long lines are broken where they happen to be.
fn words(ran: &Ran) -> String {
    text(ran).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.stdout.clone()).unwrap()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn lines(ran: &Ran) -> Vec<Value> {
    text(ran).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_a_compaction_took_out_comes_back() {
    let (folder, session, head) = recorded();
    let history = text(&run(&folder, &["history", "work"]));
    assert!(
        history.starts_with(&format!("{session}: ")) && history.contains(&format!("Summary {head}")),
        "{history}"
    );
    let diff = json(&run(&folder, &["diff", "work", "--json"]));
    let taken_out = diff["taken_out"].as_array().unwrap();
    assert!(taken_out.len() > 3 && diff["gone"].as_array().unwrap().is_empty(), "{diff}");
    let words = text(&run(&folder, &["diff", &session]));
    assert!(words.contains("Gone: nothing") && words.contains("Recoverable: "), "{words}");

    let behind = lines(&run(&folder, &["recall", "work", &head, "--json"]));
    assert_eq!(behind.len(), taken_out.len(), "everything behind the summary's handle");
    let pasted = lines(&run(&folder, &["recall", "work", &format!("summary-depth:0 id:{head}"), "--json"]));
    assert_eq!(pasted, behind, "the whole handle line may be pasted");
    let other = format!(
        r#"[{{"role":"user","content":"{}"}},{{"role":"assistant","content":"Yes."}},{{"role":"user","content":"Go on."}}]"#,
        "Another conversation. ".repeat(300)
    );
    folder.file("other.json", other.as_bytes());
    run(&folder, &["compact", "other.json", "--budget", "900", "--session", "other", "-o", "less"]);
    let alone = lines(&run(&folder, &["recall", &head, "--json"]));
    assert_eq!(alone, behind, "the id of a summary means its session");
    let two = lines(&run(&folder, &["recall", "work", "m1-m2", "--json"]));
    assert_eq!([&two[0]["ordinal"], &two[1]["ordinal"]], [1, 2]);
    let found = text(&run(&folder, &["recall", "work", "--full", "public API", "longhaul-trim"]));
    assert!(found.contains("Never change the public API of longhaul-trim"), "{found}");
    let nothing = folder.run(&["recall", "work", "xylophone"], b"");
    assert_eq!(nothing.code, 1);
    let told = format!("longhaul: no message of {session} holds all the words of \"xylophone\"");
    assert_eq!(nothing.said(), told);
    // What was nearly typed is named, and who has the words.
    let nearly = folder.run(&["recall", "work", "knapsak", "parse_zebra"], b"");
    assert!(
        nearly.said().ends_with("\"knapsak parse_zebra\" near to it stand: knapsack"),
        "{}",
        nearly.stderr
    );
    let everywhere = text(&run(&folder, &["recall", "all", "public API"]));
    assert!(everywhere.starts_with(&session), "{everywhere}");
    let every = text(&run(&folder, &["history", "work", "--full"]));
    assert!(every.contains("\nGone: nothing\n") && every.contains("; recoverable: "), "{every}");
    let full = json(&run(&folder, &["history", "work", "--full", "--json"]));
    let classes = full["loss"]["classes"].as_object().unwrap();
    assert!(classes.len() > 3, "{classes:?}");
    for (name, class) in classes {
        let number = |field: &str| class[field].as_u64().unwrap() as usize;
        let hidden = class["hidden"].as_array().unwrap();
        assert_eq!(hidden.len(), number("total") - number("kept"), "{name}");
        for fact in hidden.iter().take(3) {
            let (name, handle) = (fact["name"].as_str().unwrap(), format!("m{}", fact["message"]));
            let original = text(&run(&folder, &["recall", "work", &handle]));
            let said = original.to_lowercase();
            let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
            assert!(parts.iter().all(|part| said.contains(&part.to_lowercase())), "{name} in {original}");
        }
    }
    assert!(every.contains("── m0 "), "{every}");
}

#[test]
fn a_compaction_is_taken_back_and_put_back() {
    let (folder, _, head) = recorded();
    assert!(run(&folder, &["undo", "work"]).stderr.contains(&head));
    assert_eq!(folder.run(&["undo", "work"], b"").code, 3);
    assert_eq!(json(&run(&folder, &["sessions", "--json"]))["head"], Value::Null);
    assert_eq!(folder.run(&["diff", "work"], b"").code, 1);
    assert_eq!(json(&run(&folder, &["redo", "work", "--json"]))["redone"], Value::String(head));
    assert_eq!(folder.run(&["redo", "work"], b"").code, 3);
    let back = lines(&run(&folder, &["restore", "work", "m0-m3", "--json"]));
    assert_eq!(back.len(), 4);
    let log = lines(&run(&folder, &["audit", "work", "--json"]));
    let kinds: Vec<_> = log.iter().map(|event| event["kind"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["opened", "originals", "compacted", "undone", "redone", "restored"]);
    assert!(run(&folder, &["audit", "--verify"]).stderr.is_empty());
}

#[test]
fn a_history_with_more_instructions_than_its_originals_is_told_so() {
    let (folder, _, _) = recorded();
    run(&folder, &["compact", example().to_str().unwrap(), "--to", "openai", "--budget", "12000", "-o", "0"]);
    let mut said: Value = serde_json::from_slice(&std::fs::read(folder.path().join("0")).unwrap()).unwrap();
    let more = serde_json::json!({ "role": "system", "content": "Answer in English." });
    said["messages"].as_array_mut().unwrap().insert(0, more);
    folder.file("0", &serde_json::to_vec(&said).unwrap());
    let told = run(&folder, &["compact", "0", "--budget", "6000", "-o", "1"]).stderr;
    assert!(told.contains("other instructions than its originals in the store"), "{told}");
}

#[test]
fn a_conversation_without_ids_is_one_session_however_often_it_is_compacted() {
    let (folder, session, head) = recorded();
    let budgets = ["9000", "6000", "3000"];
    run(&folder, &["compact", example().to_str().unwrap(), "--to", "openai", "--budget", "12000", "-o", "0"]);
    let sessions = || lines(&run(&folder, &["sessions", "--json"]));
    let chat = sessions().into_iter().find(|found| found["session"] != *session).unwrap();
    for (nth, budget) in budgets.iter().enumerate() {
        let (from, to) = (nth.to_string(), (nth + 1).to_string());
        let mut said: Value =
            serde_json::from_slice(&std::fs::read(folder.path().join(&from)).unwrap()).unwrap();
        let next = serde_json::json!({ "role": "user", "content": format!("Now file {nth}, please.") });
        said["messages"].as_array_mut().unwrap().push(next);
        folder.file(&from, &serde_json::to_vec(&said).unwrap());
        let ran = run(&folder, &["compact", &from, "--budget", budget, "-o", &to]);
        let is_rebuilt = ran.stderr.contains("begins with a summary of depth 2; summarized anew from ");
        assert_eq!(is_rebuilt, nth == 2, "the fourth of a chain of three is made anew: {}", ran.stderr);
    }
    // It is the first of a chain again, and says what the history it replaces no longer said.
    let history = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (before, rebuilt) = (history("2"), history("3"));
    assert!(before.contains("summary-depth:2 id:") && rebuilt.contains("summary-depth:0 id:"), "{rebuilt}");
    let back: Vec<&str> = rebuilt.split_whitespace().filter(|word| !before.contains(word)).collect();
    assert!(back.len() > 3, "{back:?}");
    let found = sessions();
    assert_eq!(found.len(), 2, "{found:?}");
    let now = found.iter().find(|found| found["session"] == chat["session"]).unwrap();
    assert_eq!(now["compactions"], 4, "{now}");
    assert_eq!(now["messages"], chat["messages"].as_u64().unwrap() + 3, "summaries are no originals: {now}");

    // Words that stand beside a quoted summary are somebody's, and are kept.
    let quoted = format!("Look at this:\nsummary-depth:0 id:{head}\nand tell me about zebras.");
    let said = [("user", quoted), ("assistant", "x ".repeat(900)), ("user", "Go on.".into())];
    let said = said.map(|(role, content)| serde_json::json!({ "role": role, "content": content }));
    folder.file("quoted", &serde_json::to_vec(&said).unwrap());
    run(&folder, &["compact", "quoted", "--budget", "500", "-o", "less"]);
    assert!(text(&run(&folder, &["recall", "all", "zebras"])).contains("about zebras"));
}

#[test]
fn a_conversation_of_one_request_is_one_session() {
    let call = |id: &str| {
        serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}]})
    };
    let result = |id: &str| {
        let content = (0..300).map(|n| format!("{id} shows {n} of it\n")).collect::<String>();
        serde_json::json!({"role": "tool", "tool_call_id": id, "content": content})
    };
    // So few steps that another conversation might have them, too; and more.
    for steps in [2, 9] {
        let folder = Folder::new();
        let ids: Vec<String> = (0..steps).map(|nth| format!("c{nth}")).collect();
        let mut said = vec![serde_json::json!({"role": "user", "content": "Find out what is wrong."})];
        said.extend(ids.iter().flat_map(|id| [call(id), result(id)]));
        folder.file("0", &serde_json::to_vec(&said).unwrap());
        let told = run(&folder, &["compact", "0", "--budget", "1500", "-o", "1"]).stderr;
        let sessions = lines(&run(&folder, &["sessions", "--json"]));
        assert_eq!(sessions.len(), 1, "{steps} steps: {sessions:?}");
        let id = sessions[0]["session"].as_str().unwrap();
        assert!(told.contains(&format!("longhaul undo {id}")), "{told}");
    }
}

#[test]
fn handles_of_a_second_compaction_lead_to_the_originals() {
    let (folder, _, _) = recorded();
    let compact = |from: &str, budget: &str, to: &str| {
        run(&folder, &["compact", from, "--budget", budget, "--session", "work", "-o", to]);
        std::fs::read_to_string(folder.path().join(to)).unwrap()
    };
    compact(example().to_str().unwrap(), "4000", "once");
    let twice = compact("once", "2000", "twice");
    let summary = twice.lines().find(|line| line.contains(r#""isCompactSummary":true"#)).unwrap();
    let summary = serde_json::from_str::<Value>(summary).unwrap()["message"]["content"].clone();
    let summary = summary.as_str().unwrap();
    assert!(summary.contains("summary-depth:1 id:"), "{summary}");
    assert_eq!(summary.matches("[Context Summary").count(), 1, "the first summary is not quoted: {summary}");

    let originals = text(&run(&folder, &["recall", "work", "m0-m75"]));
    let message = |ordinal: u64| {
        let of = |found: &str| found.split(' ').next() == Some(&ordinal.to_string());
        originals.split("── m").find(|found| of(found)).unwrap()
    };
    // Each line that names the message it is from: rules, requests, decisions, quoted lines.
    let mut named = std::collections::BTreeSet::new();
    for line in summary.lines() {
        let words = line.trim_start_matches("- ").split_once(' ');
        let ordinal =
            words.and_then(|(handle, _)| handle.trim_end_matches(':').strip_prefix('m')?.parse().ok());
        let Some((ordinal, (_, words))) = ordinal.zip(words) else { continue };
        named.insert(ordinal);
        // A line that an edit added or took out has its sign before it; a call is told in other words than it is stored in.
        let words = words.trim_start_matches("+ ").trim_start_matches("$ ");
        let is_label = words.ends_with(':') && !words.contains(". ");
        let words: String = words.trim_start_matches("… ").chars().take(24).collect();
        assert!(
            is_label || words.starts_with('[') || message(ordinal).contains(&words),
            "{line}\n{}",
            message(ordinal)
        );
    }
    assert!(named.len() > 6 && named.iter().any(|ordinal| *ordinal > 60), "{named:?}");

    // What is out of sight is told under the same numbers.
    let history = json(&run(&folder, &["history", "work", "--full", "--json"]));
    let hidden = history["loss"]["classes"]["symbols"]["hidden"].as_array().unwrap();
    assert!(hidden.len() > 9, "{history}");
    for fact in hidden {
        let (name, ordinal) = (fact["name"].as_str().unwrap(), fact["message"].as_u64().unwrap());
        assert!(message(ordinal).contains(name), "{fact}");
    }
}

#[test]
fn a_summary_whose_originals_are_not_at_hand_is_told_on() {
    let folder = Folder::new();
    let compact = |from: &str, budget: &str, to: &str, format: &str| {
        run(&folder, &["compact", from, "--budget", budget, "--to", format, "--no-store", "-o", to]);
        std::fs::read_to_string(folder.path().join(to)).unwrap()
    };
    for format in ["claude-code", "openai"] {
        let named = |nth: usize| format!("{format}-{nth}");
        compact(example().to_str().unwrap(), "4000", &named(1), format);
        compact(&named(1), "3200", &named(2), format);
        let thrice = compact(&named(2), "2600", &named(3), format);
        for told in ["The trim planner throws away too much", "must stay linear", "issue #212"] {
            assert!(thrice.contains(told), "{format}: {told}\n{thrice}");
        }
        assert_eq!(thrice.matches("[Context Summary").count(), 1, "{thrice}");
        assert_eq!(thrice.matches("## Earlier summary").count(), 1, "{thrice}");
    }
}

#[test]
fn a_history_is_not_put_in_the_place_of_the_store() {
    let (folder, _, _) = recorded();
    let example = example();
    let store = folder.path().join("memory.db");
    let store = store.to_str().unwrap();
    let compact = ["compact", example.to_str().unwrap(), "--budget", "4000", "--store", store];
    run(&folder, &compact);
    let before = std::fs::read(store).unwrap();
    let refused = folder.run(&[&compact[..], &["--force", "-o", store]].concat(), b"");
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("would replace the store itself"), "{}", refused.stderr);
    assert_eq!(std::fs::read(store).unwrap(), before);
}

#[test]
fn an_export_is_the_same_after_an_import() {
    let (folder, session, _) = recorded();
    run(&folder, &["export", "work", "-o", "out.jsonl"]);
    run(&folder, &["import", "out.jsonl", "--store", "other.db"]);
    let there = run(&folder, &["export", &session, "--store", "other.db"]);
    assert!(there.stdout == std::fs::read(folder.path().join("out.jsonl")).unwrap());
    let verify =
        |store: &[&str]| text(&run(&folder, &[&["audit", "work", "--verify", "--json"], store].concat()));
    assert_eq!(verify(&[]), verify(&["--store", "other.db"]));
    let damaged = text(&there).replace("Never change", "Always change");
    let refused = folder.run(&["import", "-", "--store", "third.db"], damaged.as_bytes());
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("a content does not have its hash"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("Always"), "{}", refused.stderr);
    assert!(!folder.path().join("third.db").exists(), "what was not taken in left a store");
}

// asserts 001-26
#[test]
fn what_is_forgotten_is_gone_and_the_rest_still_verifies() {
    let (folder, _, _) = recorded();
    let path = folder.path().join(".local/share/longhaul/store.db");
    let gone = folder.run(&["forget", "work", "--matching", "-", "--json"], b"Never change the public API\n");
    assert_eq!(gone.code, 0, "{}", gone.stderr);
    assert!(!json(&gone)["originals"].as_array().unwrap().is_empty());
    assert_eq!(folder.run(&["recall", "work", "public API longhaul-trim never change"], b"").code, 1);
    run(&folder, &["forget", "work", "--range", "m2-m3"]);
    assert!(text(&run(&folder, &["recall", "work", "m2"])).contains("forgotten"));
    assert!(words(&run(&folder, &["audit", "work", "--verify"])).contains("intact"));
    run(&folder, &["forget", "work", "--all"]);
    assert_eq!(folder.run(&["forget", "work", "--all"], b"").code, 3);
    assert!(words(&run(&folder, &["audit", "work", "--verify"])).contains("0 messages, 0 summaries checked"));
    let bytes = std::fs::read(path).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"Never change"));
    for usage in [&["forget", "work"][..], &["forget", "work", "--all", "--range", "m1"]] {
        assert_eq!(folder.run(usage, b"").code, 2);
    }
}

#[test]
fn a_damaged_store_is_told_by_name() {
    let (folder, session, _) = recorded();
    let path = folder.path().join(".local/share/longhaul/store.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The session's state is stored as text: a number in it changes.
    let at = bytes.windows(10).position(|window| window == b"\"messages\"").unwrap() + 11;
    bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
    std::fs::write(&path, bytes).unwrap();
    let verified = folder.run(&["audit", &session, "--verify"], b"");
    assert_eq!(verified.code, 1);
    assert!(text(&verified).contains("damaged: "), "{}", text(&verified));
    let doctor = folder.run(&["doctor", "--json"], b"");
    let says = json(&doctor)["findings"].to_string();
    assert!(doctor.code == 1 && says.contains("damaged"), "{says}");
}

#[test]
fn asking_records_nothing() {
    let folder = Folder::new();
    for args in [&["sessions"][..], &["history", "x"], &["undo", "x"], &["audit"], &["forget", "x", "--all"]]
    {
        let ran = folder.run(args, b"");
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("nothing is recorded yet"), "{}", ran.stderr);
    }
    let doctor = json(&run(&folder, &["doctor", "--json"]));
    let says = doctor["findings"].to_string();
    assert!(says.contains("not there yet") && says.contains("no text is sent anywhere"), "{says}");
    assert!(!folder.path().join(".local").exists());
    let (folder, ..) = recorded();
    for odd in ["nobody", "../work", "", "work'; DROP TABLE sessions; --", "wo%"] {
        let ran = folder.run(&["history", odd], b"");
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("no session"), "{}", ran.stderr);
    }
    assert_eq!(folder.run(&["restore", "work", "3..9"], b"").code, 1);
}

#[test]
fn a_name_that_no_session_may_have_is_refused_before_anything_is_done() {
    let folder = Folder::new();
    let example = example();
    let compact = ["compact", example.to_str().unwrap(), "--budget", "4000", "--session", "my work"];
    let ran = folder.run(&compact, b"");
    assert!(ran.code == 2 && ran.stdout.is_empty(), "{ran:?}");
    assert!(ran.stderr.contains("expected 1 to 128 characters of A-Z a-z 0-9 _ -"), "{}", ran.stderr);
    assert!(folder.run(&["sessions"], b"").stderr.contains("nothing is recorded yet"));
}

#[test]
fn an_unknown_session_and_a_file_that_is_no_store_are_told_in_a_line() {
    let (folder, _, _) = recorded();
    let unknown = folder.run(&["history", "play"], b"");
    let expected = "longhaul: no session play in this store; `longhaul sessions` lists what is recorded\n";
    assert_eq!((unknown.code, unknown.stderr.as_str()), (1, expected));
    folder.file(
        "notes.db",
        &b"not a database at all, but as long as the header of one is, or longer. ".repeat(4),
    );
    let foreign = folder.run(&["sessions", "--store", "notes.db"], b"");
    let expected = "longhaul: the store notes.db cannot be opened: opening the database failed: the file belongs to another program\n";
    assert_eq!((foreign.code, foreign.stderr.as_str()), (1, expected));
}

#[test]
fn originals_are_deleted_where_the_settings_say_so() {
    let folder = Folder::new();
    let example = example();
    let compact = ["compact", example.to_str().unwrap(), "--budget", "4000", "--session", "work"];
    let ran = folder.run_with(&[("LONGHAUL_DELETE_ORIGINALS", "true")], &compact, b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.said().contains("originals deleted there (delete_originals)"), "{}", ran.stderr);
    let diff = json(&run(&folder, &["diff", "work", "--json"]));
    let gone = diff["gone"].as_array().unwrap().len();
    assert!(gone > 3 && ran.said().contains(&format!("{gone} originals deleted")), "{gone}: {}", ran.stderr);
    assert!(words(&run(&folder, &["audit", "work", "--verify"])).contains("intact"));
    // The summary is all that is left of them.
    let refused = folder.run(&["undo", "work"], b"");
    assert!(refused.code == 1 && refused.stderr.contains("were deleted"), "{}", refused.stderr);
    assert!(!words(&run(&folder, &["audit", "work"])).contains("undone"));
}

#[test]
fn processes_that_compact_one_file_at_once_all_record_it() {
    let folder = Folder::new();
    let example = example();
    std::thread::scope(|scope| {
        for budget in ["3000", "4000", "5000", "6000"] {
            let (folder, example) = (&folder, example.to_str().unwrap());
            scope.spawn(move || {
                let ran = folder.run(&["compact", example, "--budget", budget], b"");
                assert!(ran.code == 0 && ran.stderr.contains("every original is kept"), "{}", ran.stderr);
            });
        }
    });
    let sessions = json(&run(&folder, &["sessions", "--json"]));
    assert_eq!(sessions["compactions"], 1, "the last one is in force, the log has them all");
    assert!(words(&run(&folder, &["audit", "--verify"])).contains("4 summaries checked"));
}

#[test]
fn undo_says_that_compactions_of_the_same_file_do_not_come_back() {
    let (folder, ..) = recorded();
    let first = run(&folder, &["undo", "work"]);
    assert!(!first.stderr.contains("earlier"), "{}", first.stderr);
    for budget in ["3000", "5000"] {
        run(&folder, &["compact", example().to_str().unwrap(), "--budget", budget]);
    }
    let undone = run(&folder, &["undo", "work"]);
    assert!(undone.stderr.contains("no summary is in force"), "{}", undone.stderr);
    assert!(undone.stderr.contains("earlier compactions were replaced by later ones"), "{}", undone.stderr);
}

#[test]
fn a_range_that_ends_before_it_begins_is_told() {
    let (folder, ..) = recorded();
    for command in ["recall", "restore"] {
        let ran = folder.run(&[command, "work", "m5-m3"], b"");
        assert!(ran.code == 1 && ran.said().contains("it ends before it begins"), "{}", ran.stderr);
    }
}

#[test]
fn audit_says_what_is_in_force_and_what_was_destroyed() {
    let (folder, _, head) = recorded();
    let verified = words(&run(&folder, &["audit", "work", "--verify"]));
    assert!(verified.contains("1 summary checked, 1 in force"), "{verified}");
    let forgotten = run(&folder, &["forget", "work", "--range", "m2-m3"]);
    assert!(forgotten.said().contains("no summary is in force any more"), "{}", forgotten.stderr);
    let history = text(&run(&folder, &["history", "work"]));
    assert!(history.contains("m2-m3 (forgotten)\n"), "{history}");
    let log = words(&run(&folder, &["audit", "work"]));
    assert!(log.contains("m2-m3 destroyed") && log.contains(&format!("summary {head} destroyed")), "{log}");
    let (folder, ..) = recorded();
    run(
        &folder,
        &["compact", example().to_str().unwrap(), "--budget", "3000", "--set", "delete_originals=true"],
    );
    let log = words(&run(&folder, &["audit", "work"]));
    assert!(log.contains(" destroyed") && !log.contains("summaries"), "{log}");
}

#[test]
fn an_export_is_read_as_a_transcript() {
    let (folder, session, _) = recorded();
    run(&folder, &["export", "work", "--to", "auto", "-o", "back.json"]);
    let written = Format::ALL.into_iter().filter(|format| !format.is_import_only()).map(Format::name);
    for format in written {
        let name = format!("back-{format}");
        let said = run(&folder, &["export", "work", "--to", format, "-o", &name]);
        let counted = json(&run(&folder, &["count", &name, "--json"]));
        assert_eq!(counted["format"], format, "{counted} {}", said.stderr);
        run(&folder, &["compact", &name, "--budget", "4000", "--no-store", "--strict"]);
    }
    let texts = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("Never change the public API");
    assert!(texts(&std::fs::read(folder.path().join("back.json")).unwrap()), "{session}");
    assert_eq!(folder.run(&["export", "work", "--to", "pi"], b"").code, 2);
}

/// What was taken out of a text file changes its bytes: the message and its spelling still go together.
#[test]
fn an_export_keeps_a_text_file_that_a_secret_was_taken_out_of() {
    let secret = format!("ghp_{}", "9aF3kLmQ2xR7tVbW4yZcN8dEuH5sJ1oPqT6i");
    // `GITHUB_TOKEN=` and the secret in base64.
    let digits = "R0lUSFVCX1RPS0VOPWdocF85YUYza0xtUTJ4Ujd0VmJXNHlaY044ZEV1SDVzSjFvUHFUNmk=";
    let address = format!("data:text/plain;base64,{digits}");
    let filler = "A sentence about the work that is to be done here. ".repeat(60);
    for (name, first, answer) in [
        (
            "openai",
            serde_json::json!({"role": "user", "content": [{"type": "text", "text": "see it"},
                {"type": "file", "file": {"filename": "x.txt", "file_data": address}}]}),
            "assistant",
        ),
        (
            "gemini",
            serde_json::json!({"role": "user", "parts": [{"text": "see it"},
                {"inlineData": {"mimeType": "text/plain", "data": digits}}]}),
            "model",
        ),
    ] {
        let folder = Folder::new();
        let said = |role: &str, text: &str| match name {
            "openai" => serde_json::json!({"role": role, "content": text}),
            _ => serde_json::json!({"role": role, "parts": [{"text": text}]}),
        };
        let mut messages = vec![first, said(answer, "I saw it.")];
        for n in 0..6 {
            messages.push(said("user", &format!("{n}: {filler}")));
            messages.push(said(answer, &filler));
        }
        let list = if name == "openai" { "messages" } else { "contents" };
        folder.file("in.json", serde_json::json!({ list: messages }).to_string().as_bytes());
        let ran = run(&folder, &["compact", "in.json", "--budget", "2000", "--session", "files"]);
        assert!(ran.stderr.contains("1 with placeholders for secrets"), "{name}: {}", ran.stderr);
        let exported = text(&run(&folder, &["export", "files", "--to", "auto"]));
        // `GITHUB_TOKEN=[REDACTED:`
        assert!(exported.contains("R0lUSFVCX1RPS0VOPVtSRURBQ1RFRD"), "{name}: {exported}");
        assert!(!exported.contains(&digits[20..]) && !exported.contains(&secret), "{name}");
    }
}

/// Each message is clean; in a summary the beginning of a key of one stands before the end of another's.
#[test]
fn an_export_with_a_summary_of_both_ends_of_a_key_is_taken_in() {
    let folder = Folder::new();
    let filler = "A sentence about the work that is to be done here. ".repeat(20);
    let line = "q3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5PaQ3Vj0fYx7Lk2Wm9Tz4Rb8Nc1Hd6Gs5";
    let messages: Vec<Value> = (0..30)
        .flat_map(|n| {
            let asked = match n {
                2 => "Never remove the line -----BEGIN RSA PRIVATE KEY-----".to_owned(),
                3 => format!("Never change {line} in the file."),
                4 => "Always end with the line -----END RSA PRIVATE KEY----- please.".to_owned(),
                n => format!("Look at src/part{n}.rs. {filler}"),
            };
            [("user", asked), ("assistant", format!("Done with {n}. {filler}"))]
        })
        .map(|(role, text)| serde_json::json!({"role": role, "content": text}))
        .collect();
    folder.file("in.json", serde_json::json!({ "messages": messages }).to_string().as_bytes());
    run(&folder, &["compact", "in.json", "--budget", "2500", "--session", "keys"]);
    run(&folder, &["export", "keys", "-o", "out.jsonl"]);
    run(&folder, &["import", "out.jsonl", "--store", "other.db"]);
}

#[test]
fn an_export_keeps_pictures_and_signed_thinking_byte_for_byte() {
    let folder = Folder::new();
    let picture = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUg=="}}"#;
    let thinking = r#"{"type":"thinking","thinking":"Two ways.","signature":"c2lnbmVkIGJ5IHNvbWVib2R5"}"#;
    let long = "A sentence about the work that is to be done here. ".repeat(60);
    let turns: Vec<String> = (0..6)
        .map(|n| format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{n}: {long}"}},{picture}]}},{{"role":"assistant","content":[{thinking},{{"type":"text","text":"{long}"}}]}}"#
        ))
        .collect();
    folder.file(
        "a.json",
        format!(r#"{{"model":"m","max_tokens":9,"messages":[{}]}}"#, turns.join(",")).as_bytes(),
    );
    run(&folder, &["compact", "a.json", "--budget", "2000", "--session", "pictures"]);
    let exported = text(&run(&folder, &["export", "pictures", "--to", "auto"]));
    assert_eq!((exported.matches(picture).count(), exported.matches(thinking).count()), (6, 6), "{exported}");
}

/// What is recorded is shown where nothing can be written: the file or its folder is locked.
#[cfg(unix)]
#[test]
fn a_locked_store_is_read() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    /// A user whom modes hold for, where the tests are run by one whom they do not.
    const NOBODY: u32 = 65_534;
    let (folder, session, _) = recorded();
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    std::fs::copy(folder.path().join(".local/share/longhaul/store.db"), folder.path().join("kept/a b.db"))
        .unwrap();
    let set = |name: &str, mode| {
        let place = folder.path().join(name);
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    set(".", 0o755);
    for (file, place) in [(0o444, 0o555), (0o444, 0o755), (0o644, 0o555)] {
        set("kept/a b.db", file);
        set("kept", place);
        let run = |args: &[&str]| {
            let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("longhaul"));
            command.args(args).args(["--store", "kept/a b.db"]).current_dir(folder.path());
            command.env_clear().env("HOME", folder.path());
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command.output().unwrap()
        };
        for args in [&["history", &*session][..], &["recall", &*session, "planner"], &["audit", "--verify"]] {
            let ran = run(args);
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(ran.status.success() && !ran.stdout.is_empty(), "{file:o} {place:o} {args:?}: {said}");
        }
        let refused = run(&["undo", &session]);
        assert!(!refused.status.success(), "{file:o} {place:o}");
        set("kept", 0o755);
    }
}

/// Somebody writes past longhaul into its database. What is served then is told not to be what was written.
#[cfg(feature = "sqlite")]
#[test]
fn a_store_that_somebody_changed_is_told_by_whatever_reads_it() {
    let folder = Folder::new();
    let compact = || {
        let session = example();
        folder.run(
            &[
                "compact",
                session.to_str().unwrap(),
                "--budget",
                "6k",
                "--session",
                "s",
                "-o",
                "out",
                "--force",
            ],
            b"",
        )
    };
    let whole = compact();
    assert!(whole.code == 0 && whole.said().contains("every original is kept"), "{}", whole.stderr);
    let store = folder.path().join(".local/share/longhaul/store.db");
    let change = |sql: &str| rusqlite::Connection::open(&store).unwrap().execute_batch(sql).unwrap();
    change(
        "UPDATE originals SET content = (SELECT content FROM originals WHERE ordinal = 0) WHERE ordinal = 3",
    );
    for args in [&["recall", "s", "m3"][..], &["export", "s"], &["history", "s", "--full"], &["diff", "s"]] {
        let ran = folder.run(args, b"");
        let (said, words) = (ran.said(), "was changed in the store: ");
        assert!(said.contains(words) && said.contains("m3 "), "{args:?}: {}", ran.stderr);
    }
    // Whatever shows a few messages tells, too, and shows none of it.
    let shown = |args: &[&str]| String::from_utf8(folder.run(args, b"").stdout).unwrap();
    let first = shown(&["recall", "s", "m0"]);
    let words = first.lines().nth(1).unwrap().split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    for (args, code) in [
        (&["restore", "s", "m2-m4"][..], 1),
        (&["recall", "s", "m3"], 1),
        (&["recall", "s", "m3", "--json"], 1),
        (&["recall", "s", "m2"], 0),
    ] {
        let ran = folder.run(args, b"");
        let is_told = ran.said().contains("m3 is not what was written and is not shown");
        assert_eq!((ran.code, is_told), (code, !args.contains(&"m2")), "{args:?}: {}", ran.stderr);
        let said = String::from_utf8(ran.stdout).unwrap();
        assert!(!said.contains(&words), "{args:?}: {said}");
    }
    let restored = shown(&["restore", "s", "m2-m4"]);
    assert!(restored.contains("── m2 ") && restored.contains("── m4 "), "the rest goes on: {restored}");
    change("UPDATE contents SET body = x'00', block = NULL WHERE rowid = 2");
    let damaged = compact();
    assert!(!damaged.said().contains("every original is kept"), "{}", damaged.stderr);
}

/// A summary that cannot be read is told in its place, and keeps nothing else from being shown.
#[cfg(feature = "sqlite")]
#[test]
fn a_damaged_summary_is_told_in_its_place() {
    let (folder, session, _) = recorded();
    let store = folder.path().join(".local/share/longhaul/store.db");
    let damage = "UPDATE contents SET body = x'00', block = NULL WHERE key = (SELECT content FROM records)";
    rusqlite::Connection::open(&store).unwrap().execute_batch(damage).unwrap();
    let shown = folder.run(&["history", &session], b"");
    assert_eq!(shown.code, 1, "{}", shown.stderr);
    let shown = text(&shown);
    assert!(shown.contains("cannot be shown: the content") && shown.contains("m1"), "{shown}");
    let read = json(&folder.run(&["history", &session, "--json"], b""));
    assert_eq!(read["damaged_summaries"].as_array().map(Vec::len), Some(1), "{read}");
    let diff = folder.run(&["diff", &session], b"");
    assert!(diff.code == 1 && diff.stderr.contains("is missing, or damaged"), "{}", diff.stderr);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_search_for_no_message_is_refused() {
    let ran = Folder::new().run(&["recall", "words", "-n", "0"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("0 is not in 1.."), "{}", ran.stderr);
}
