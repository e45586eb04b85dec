//! What an edit left in a file is told; what was put back, refused or never answered is not.

use longhaul_testkit::transcript;
use longhaul_transcript::{Entry, Message};

use super::draft;

/// A step that is undone, one that is stopped, a wish of the moment, and a rule without a word of always.
const UNDONE: &str = r#"
user: Port the selectors to the themes.
assistant: Done. !Edit#e0 {"file_path":"src/selector.ts","old_string":"red","new_string":"theme.accent"}
tool#e0: The file src/selector.ts has been updated successfully.
assistant: The selectors take their colours from the theme.
user: omg use rgb values in the themes, no rgb indices!
assistant: Yes. !Edit#e1 {"file_path":"dark.json","old_string":"240","new_string":"rgb(80, 80, 80)"}
tool#e1: The file dark.json has been updated successfully.
assistant: All colours are rgb values.
user: hmm, the selector needs to push its update to the next tick, or else it flickers
assistant: Deferring. !Edit#e2 {"file_path":"src/selector.ts","old_string":"update()","new_string":"setImmediate(() => update())"}
tool#e2: The file src/selector.ts has been updated successfully.
assistant: The selector now defers its update to the next tick with setImmediate.
user: you can undo that, the logs in theme.ts made it flicker
assistant: Undoing. !Edit#e3 {"file_path":"src/selector.ts","old_string":"setImmediate(() => update())","new_string":"update()"}
tool#e3: The file src/selector.ts has been updated successfully.
assistant: Undone.
user: no, the margin should be that, see the screenshot
assistant: Looking. !Read#r1 {"file_path":"dark.json"}
tool#r1: rgb(80, 80, 80)
user: [Request interrupted by user]
user: And now the light theme.
assistant: The light theme is next.
"#;

#[test]
fn an_undone_step_is_no_state_and_no_rule() {
    let text = draft(UNDONE, 900).text;
    for told in [
        "update to the next tick, or else it flickers (taken back in m12)",
        "you can undo that, the logs in theme.ts made it flicker (takes back what was done for m8) (answered in m15)",
    ] {
        assert!(text.contains(told), "{told} is missing in\n{text}");
    }
    for gone in ["now defers its update", "+ setImmediate", "- m8: "] {
        assert!(!text.contains(gone), "{gone} in\n{text}");
    }
}

#[test]
fn a_wish_of_the_moment_is_no_rule_and_a_rule_needs_no_always() {
    for limit in [300, 900] {
        let text = draft(UNDONE, limit).text;
        assert!(text.contains("use rgb values in the themes, no rgb indices!"), "{limit}: {text}");
        assert!(!text.contains("- m16: no, the margin"), "{limit}: {text}");
    }
}

/// Lines are replaced by their numbers; a linter refuses it once.
const LINTED: &str = r#"
user: Make the pixel representation optional in handler.py.
assistant: Mending. !edit#e1 {"path":"/w/handler.py","start_line":3,"end_line":4,"replacement_text":"if 'PixelData' in ds:\n    required_elements.append('PixelRepresentation')\n)"}
tool#e1: Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry your edit commmand.

ERRORS:
- E999 SyntaxError: unmatched ')'

This is how your edit would have looked if applied
[File: /w/handler.py (374 lines total)]
Your changes have NOT been applied. Please fix your edit command and try again.
assistant: It was not applied. !bash#b1 {"command":"cat /w/handler.py"}
tool#b1: x = 1
"#;

#[test]
fn an_edit_that_a_linter_refused_is_told_as_refused_and_not_as_done() {
    let text = draft(&format!("{LINTED}user: Go on.\nassistant: Then I look again."), 900).text;
    assert!(
        text.contains("m2 edit /w/handler.py: Your proposed edit has introduced new syntax error(s)."),
        "{text}"
    );
    for tells_it_as_done in ["## Changed files", "374 lines total", "required_elements"] {
        assert!(!text.contains(tells_it_as_done), "{tells_it_as_done} in\n{text}");
    }
    let landed = r#"assistant: Again. !edit#e2 {"path":"/w/handler.py","start_line":3,"end_line":4,"replacement_text":"if 'PixelData' in ds:\n    required_elements.append('PixelRepresentation')"}
tool#e2: [File: /w/handler.py (373 lines total)]
File updated.
user: Go on.
assistant: Then I test it."#;
    let text = draft(&format!("{LINTED}{landed}"), 900).text;
    for told in ["/w/handler.py: edited", "m5 + required_elements.append('PixelRepresentation')"] {
        assert!(text.contains(told), "{told} is missing in\n{text}");
    }
    assert!(!text.contains("m1 +") && !text.contains("new syntax error"), "{text}");
}

#[test]
fn what_the_person_stopped_is_not_told_as_answered() {
    let text = draft(UNDONE, 900).text;
    assert!(text.contains("see the screenshot (interrupted by the user in m19)"), "{text}");
}

/// A file that is read and written anew with one more line, one of its lines gone.
const ANEW: &str = r#"
user: Make the relay patient.
assistant: !Read#r1 {"file_path":"/w/src/relay.rs"}
tool#r1: 1	let held_for = limits::lock_of_the_queue();
2	let first_wait = limits::wait_before_the_second_try();
assistant: !Write#w1 {"file_path":"/w/src/relay.rs","content":"let held_for = limits::lock_of_the_queue();\nlet patience = limits::tries_before_it_gives_up();"}
tool#w1: The file /w/src/relay.rs has been updated.
assistant: The relay is patient.
"#;

#[test]
fn of_a_file_that_is_written_anew_what_is_new_is_told() {
    let text = draft(ANEW, 600).text;
    assert!(text.contains("m3 + let patience = limits::tries_before_it_gives_up();"), "{text}");
    assert!(!text.contains("+ let held_for"), "it stood there before:\n{text}");
    assert!(!text.contains("let first_wait"), "it is gone:\n{text}");
}

#[test]
fn what_was_edited_after_a_reset_is_told() {
    let said = r#"
user: Take the branch as it is on the server and mend the wrapper.
assistant: !Write#w0 {"file_path":"docs/draft.md","content":"The wrapper reads the settings twice."}
tool#w0: File created successfully at: docs/draft.md
assistant: !Bash#b1 {"command":"git reset origin/wrapper --hard"}
tool#b1: HEAD is now at 2eedc61 better handling of settings
assistant: !Write#w1 {"file_path":"scripts/wrapper.sh","content":"The wrapper reads the settings once."}
tool#w1: File created successfully at: scripts/wrapper.sh
assistant: Mended.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("edited after the last reset (m3): wrapper.sh\n"), "{text}");
    let committed = format!(
        "{said}assistant: !Bash#b2 {{\"command\":\"git commit -am wrapper\"}}\ntool#b2: [wrapper 45ffe0a] wrapper\n"
    );
    assert!(!draft(&committed, 900).text.contains("last reset"));
}

#[test]
fn a_request_that_is_asked_for_again_is_not_told_as_taken_back() {
    let said = r#"
user: Port the selector to the theme. Keep the old name of the file.
assistant: !Edit#e1 {"file_path":"selector.ts","old_string":"x","new_string":"y"}
tool#e1: The file selector.ts has been updated.
assistant: Ported.
user: That went wrong, I undid your changes. Try again, and read the file whole first.
assistant: !Edit#e2 {"file_path":"selector.ts","old_string":"x","new_string":"z"}
tool#e2: The file selector.ts has been updated.
assistant: Ported anew.
user: Now the README, please.
assistant: Which part of it?
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("(what was done was taken back in m4, and asked for again)"), "{text}");
    assert!(!text.contains("(taken back in m4)"), "{text}");
    let again = "Try again, and read the file whole first.";
    for never in ["Do not try again, the old one is fine.", "And never do it again without asking me."] {
        let text = draft(&said.replace(again, never), 900).text;
        assert!(text.contains("(taken back in m4)") && !text.contains("asked for again"), "{text}");
    }
}

#[test]
fn what_was_put_back_is_not_told_as_changed() {
    let said = r#"
user: Mend the lock.
assistant: !Edit#e1 {"file_path":"/w/src/lock.rs","old_string":"old()","new_string":"let wrong_way = spin();\nlet second_wrong = 2;"}
tool#e1: ok
assistant: !Bash#b1 {"command":"cargo test"}
tool#b1!: error[E0425]: cannot find function `spin`
assistant: !Bash#b2 {"command":"git checkout src/lock.rs"}
tool#b2: Updated 1 path from the index
assistant: !Edit#e2 {"file_path":"/w/src/lock.rs","old_string":"old()","new_string":"let right_way = lease();"}
tool#e2: ok
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("let right_way = lease();") && text.contains("+1 -1 lines"), "{text}");
    assert!(!text.contains("wrong_way") && !text.contains("second_wrong"), "{text}");
    let failed = said.replace(
        "tool#b2: Updated 1 path from the index",
        "tool#b2: error: pathspec 'src/lock.rs' did not match",
    );
    let text = draft(&failed, 900).text;
    assert!(text.contains("wrong_way") && text.contains("+3 -2 lines"), "{text}");
}

#[test]
fn what_was_put_back_twice_and_what_is_called_nearly_so() {
    let edit = |nth: usize, path: &str, old: &str, new: &str| {
        format!(
            "assistant: !Edit#e{nth} {{\"file_path\":\"{path}\",\"old_string\":\"{old}\",\"new_string\":\"{new}\"}}\ntool#e{nth}: ok\n"
        )
    };
    let run = |nth: usize, command: &str, said: &str| {
        format!("assistant: !Bash#b{nth} {{\"command\":\"{command}\"}}\ntool#b{nth}: {said}\n")
    };
    let lock = "/w/src/lock.rs";
    let twice = [
        "user: Mend the lock.\n".to_owned(),
        edit(1, lock, "old();", "let first_wrong = 1;"),
        run(1, "git checkout src/lock.rs", "Updated 1 path from the index"),
        edit(2, lock, "old();", "let good = 2;"),
        run(2, "git commit -am one", "[main 1] one"),
        edit(3, lock, "let good = 2;", "let third_wrong = 3;"),
        run(3, "git checkout src/lock.rs", "Updated 1 path from the index"),
    ];
    let text = draft(&twice.concat(), 900).text;
    assert!(text.contains("let good = 2;") && !text.contains("_wrong"), "{text}");
    // Another file whose name ends so.
    let near = [
        "user: Mend both.\n".to_owned(),
        edit(1, "a.rs", "old();", "let stays_in_a = 1;"),
        edit(2, "/w/data.rs", "old();", "let goes = 2;"),
        run(1, "git checkout /w/data.rs", "Updated 1 path from the index"),
    ];
    let text = draft(&near.concat(), 900).text;
    assert!(text.contains("let stays_in_a = 1;") && !text.contains("let goes = 2;"), "{text}");
    // What the next command complains of says nothing of what git did.
    let checked = [
        "user: Mend the lock.\n".to_owned(),
        edit(1, lock, "old();", "let first_wrong = 1;"),
        run(1, "git restore src/lock.rs && cargo check -q", "error: expected expression"),
    ];
    let text = draft(&checked.concat(), 900).text;
    assert!(!text.contains("first_wrong"), "{text}");
}

#[test]
fn an_edit_that_was_never_answered_is_not_told_as_made() {
    let said = r#"
user: Mend both.
assistant: !Edit#e1 {"file_path":"a.rs","old_string":"old();","new_string":"let made_in_a = 1;"} !Edit#e2 {"file_path":"b.rs","old_string":"older();","new_string":"let never_in_b = 2;"} !Edit#e3 {"file_path":"a.rs","old_string":"let made_in_a = 0;","new_string":"let refused_in_a = 3;"}
tool#e1: ok
tool#e3!: String to replace not found in file.
user: Wait.
assistant: I wait.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("+ let made_in_a = 1;"), "{text}");
    for never in ["never_in_b", "older();", "+ let refused_in_a"] {
        assert!(!text.contains(never), "{never} in\n{text}");
    }
    // The same where it stays, cut, behind what is summarized.
    let said = transcript(said);
    let (entries, tail) = said.entries().split_at(1);
    let cut = Entry { message: Message::assistant("[…]").into(), ..tail[0].clone() };
    let mut index = longhaul_extract::FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let session = longhaul_transcript::SessionId::new("s").unwrap();
    let request = crate::SummaryRequest {
        kept: &[cut],
        tail,
        ..crate::SummaryRequest::new(
            &session,
            entries,
            &index,
            &super::Quarter,
            longhaul_transcript::Tokens(900),
        )
    };
    let text = super::summarize(&request, &super::RulesOptions::default()).text;
    assert!(text.contains("+ let made_in_a = 1;") && !text.contains("never_in_b"), "{text}");
}

#[test]
fn an_edit_that_stays_in_part_is_named_beside_the_counts_of_what_is_summarized() {
    let said = transcript(
        r#"
user: Mend both.
assistant: !Edit#e1 {"file_path":"a.rs","old_string":"old();","new_string":"let first_in_a = 1;"} !Edit#e2 {"file_path":"b.rs","old_string":"old();","new_string":"let only_in_b = 2;"}
tool#e1: ok
tool#e2: ok
assistant: !Edit#e3 {"file_path":"a.rs","old_string":"older();","new_string":"let second_in_a = 3;"}
tool#e3: ok
"#,
    );
    let mut index = longhaul_extract::FactIndex::new();
    said.entries().iter().for_each(|entry| index.push(entry));
    let session = longhaul_transcript::SessionId::new("s").unwrap();
    let (entries, tail) = said.entries().split_at(4);
    let cut = Entry { message: Message::assistant("[…]").into(), ..tail[0].clone() };
    let text = |kept: &[Entry]| {
        let limit = longhaul_transcript::Tokens(900);
        let request = crate::SummaryRequest::new(&session, entries, &index, &super::Quarter, limit);
        super::summarize(&crate::SummaryRequest { kept, tail, ..request }, &super::RulesOptions::default())
            .text
    };
    let told = text(&[cut, tail[1].clone()]);
    assert!(told.contains("a.rs: +1 -1 lines, then m4\n"), "{told}");
    assert!(told.contains("+ let second_in_a = 3;") && told.contains("b.rs: +1 -1 lines\n"), "{told}");
    let whole = text(tail);
    assert!(whole.contains("a.rs: +1 -1 lines\n") && !whole.contains("second_in_a"), "{whole}");
}

#[test]
fn what_one_message_edits_and_puts_back_is_not_told_as_changed() {
    let said = r#"
user: Mend the lock.
assistant: !Edit#e1 {"file_path":"/w/src/lock.rs","old_string":"old();","new_string":"let wrong_way = 1;"} !Edit#e2 {"file_path":"/w/src/edge.rs","old_string":"old();","new_string":"let gone_way = 2;"} !Bash#b1 {"command":"git checkout src/lock.rs src/edge.rs"} !Edit#e3 {"file_path":"/w/src/edge.rs","old_string":"old();","new_string":"let right_way = 3;"}
tool#e1: ok
tool#e2: ok
tool#b1: Updated 2 paths from the index
tool#e3: ok
user: Now the tests.
assistant: They are next.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("lock.rs: reverted\n") && text.contains("let right_way = 3;"), "{text}");
    assert!(!text.contains("wrong_way") && !text.contains("gone_way"), "{text}");
}

#[test]
fn lines_between_which_one_is_left_out_are_no_neighbours() {
    let new = [
        "let first_wait = limits::of_the_edge(zone);",
        "go_on();",
        "let last_wait = limits::of_the_rack(hall);",
        "let all_waits = first_wait.chain(last_wait);",
    ];
    let said = format!(
        r#"
user: Let the relay wait as the limits of its zone, hall and rack say, the first and the last.
assistant: !Edit#e1 {{"file_path":"src/relay.rs","old_string":"wait();","new_string":"{}"}}
tool#e1: ok
assistant: Done.
"#,
        new.join("\\n")
    );
    let text = draft(&said, 900).text;
    let told = format!("m1 + {}\n…\n+ {}\n+ {}", new[0], new[2], new[3]);
    assert!(text.contains(&told), "{text}");
}

#[test]
fn a_record_of_two_short_fields_is_no_crumb() {
    let said = r#"
user: Offer the relays red, blue and green by their names.
assistant: !Edit#e1 {"file_path":"src/relay.rs","old_string":"none","new_string":"{ name: \"red\", shown: \"Red Relay One\" },\n{ name: \"blue\", shown: \"Blue\" },\n{ name: \"green\", shown: \"Green Relay Two\" },"}
tool#e1: ok
assistant: Done.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("+ { name: \"blue\", shown: \"Blue\" },"), "{text}");
}

#[test]
fn what_says_that_a_file_is_missing_is_not_told_once_it_is_there() {
    let read = |nth: usize, file: &str| {
        format!("assistant: Looking. !Read#r{nth} {{\"file_path\":\"/w/app/{file}\"}}\n")
    };
    let (run, env) = (read(1, "run.sh"), read(2, "relay.env"));
    let missing =
        |nth: usize| format!("tool#r{nth}!: <tool_use_error>File does not exist.</tool_use_error>\n");
    let before = format!("user: Look at the relay.\n{run}{}{env}{}", missing(1), missing(2));
    let told = |behind: &str| {
        let text = draft(&format!("{before}{behind}assistant: Done.\n"), 900).text;
        text.matches("File does not exist").count()
    };
    assert_eq!(told(""), 1, "the same words are told once");
    let both = format!("{}tool#r3: exec relay --wait-for limits\n", read(3, "run.sh"))
        + &format!("{}tool#r4: RELAY_WAIT_FOR=limits\n", read(4, "relay.env"));
    assert_eq!(told(&both), 0);
    let reset = "assistant: !Bash#b1 {\"command\":\"git reset --hard origin/edge\"}\ntool#b1: HEAD is now at 4f1a2b3 edge\n";
    assert_eq!(told(reset), 0);
}
