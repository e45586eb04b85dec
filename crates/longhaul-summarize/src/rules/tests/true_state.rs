//! What really happened is told, what was only tried, proposed or asked is not taken for it.

use longhaul_testkit::transcript;
use longhaul_transcript::{Entry, Message, Speaker};

use super::{draft, draft_of};

/// A commit that a hook checks, a tag, a push that is refused, and an edit after it.
const RELEASE: &str = r##"
user: Release the relay.
assistant: I could tag it and push the tag, then publish. !Edit#e1 {"file_path":"src/relay.rs","old_string":"let wait = 1;","new_string":"let wait = limits::first_wait();"}
tool#e1: The file src/relay.rs has been updated successfully.
assistant: !Edit#e9 {"file_path":"src/other.rs","old_string":"a","new_string":"b"}
tool#e9!: String to replace not found in file.
assistant: !Bash#b0 {"command":"git diff"}
tool#b0: diff --git a/src/relay.rs b/src/relay.rs
--- a/src/relay.rs
+++ b/src/relay.rs
@@ -3,7 +3,8 @@ fn relay() {
-let wait = 1;
+let wait = limits::first_wait();
assistant: !Bash#b1 {"command":"git add . && git commit -m \"Release the relay\""}
tool#b1: Process exited with code 0
[Parser] Warning: could not parse the response of the evaluator
$ bun test src/
[main 45ffe0a] Release the relay
 1 file changed, 1 insertion(+)
assistant: !Bash#b2 {"command":"git push origin main"}
tool#b2!: To github.com:acme/relay
 ! [rejected]        main -> main (fetch first)
assistant: !Write#w1 {"file_path":"docs/limits.md","content":"The relay waits as limits says."}
tool#w1: File created successfully at: docs/limits.md
assistant: !Bash#b3 {"command":"python3 - <<'EOF'\nprint(1)\nEOF\npython3 -c \"\nhandle = open('docs/limits.md')\nhandle.write('x')\n\""}
tool#b3: ok
assistant: Not pushed yet: the remote has newer commits.
"##;

#[test]
fn what_was_committed_and_pushed_is_told_as_it_went() {
    let text = draft(RELEASE, 900).text;
    let told = "## Committed, pushed and released (quoted)\n```\ngit commit: [main 45ffe0a] Release the relay (m7)\ngit push origin main: failed: ! [rejected]        main -> main (fetch first) (m9)\nedited after the last commit (m7): limits.md\n```";
    assert!(text.contains(told), "{text}");
}

#[test]
fn what_a_diff_a_hook_and_a_script_say_beside_it_is_not_told() {
    let text = draft(RELEASE, 900).text;
    assert!(text.contains("+ let wait = limits::first_wait();"), "{text}");
    for idle in [
        "@@ -3,7",
        "--- a/src",
        "-let wait",
        "[Parser] Warning",
        "$ bun test",
        "handle.write",
        "not found in file",
    ] {
        assert!(!text.contains(idle), "{idle} in\n{text}");
    }
}

#[test]
fn a_verdict_that_an_output_states_stands_beside_what_is_claimed() {
    let said = r#"
user: Make the example run, and open a pull request.
assistant: !exec_command#c1 {"cmd":"cd /w && bun cli eval run strict.yaml --dry-run"}
tool#c1: Process exited with code 0
Output:
1/1 strict-or | 0% FAIL
RESULT: FAIL  (0/1 scored >= 80%, mean: 0%)
error: unable to delete the branch
assistant: I've confirmed that the example now executes.
assistant: !exec_command#c2 {"cmd":"cd /w && gh pr edit 1533 --body-file /tmp/body.md"}
tool#c2: Process exited with code 1
Output:
GraphQL: Projects (classic) is being deprecated
assistant: !exec_command#c3 {"cmd":"echo x > /tmp/body.md; cd /w && gh pr edit 1533 --body-file /tmp/body.md"}
tool#c3: Process exited with code 1
Output:
GraphQL: Projects (classic) is being deprecated
assistant: !exec_command#c4 {"cmd":"cd /w && gh api repos/a/b/pulls/1533 -X PATCH -f body=x"}
tool#c4: Process exited with code 0
Output:
{"url":"x"}
assistant: Done. The example runs with `bun run` as you wanted.
"#;
    let text = draft(said, 900).text;
    let told =
        "bun cli eval run strict.yaml --dry-run: failed (m1): RESULT: FAIL  (0/1 scored >= 80%, mean: 0%)";
    let (_, checks) = text.split_once("## Checks and failures").unwrap();
    assert!(checks.contains(told) && !checks.contains("unable to delete"), "{text}");
    // What failed and was done by another command is told with it, once.
    let cured = "m6 cd /w && gh pr edit 1533 --body-file /tmp/body.md failed: GraphQL: Projects (classic) is being deprecated; then gh api repos/a/b/pulls/1533 -X PATCH -f body=x went well (m8)";
    assert!(text.contains(cured) && text.matches("--body-file /tmp/body.md failed").count() == 1, "{text}");
}

/// A check that fails and passes, and what git says before and after a commit.
const COMMITTED: &str = r#"
user: Add the relay and commit it.
assistant: !Bash#t1 {"command":"bun test src/ 2>&1 | head -20"}
tool#t1: [Parser] Warning: could not parse the response of the evaluator
error: Item 3 failed
assistant: !Bash#t2 {"command":"bun test src/ 2>&1 | tail -5"}
tool#t2: 12 pass
 0 fail
assistant: !Bash#s1 {"command":"git status --short && git log --oneline -3"}
tool#s1: M src/relay.rs
b220ccc Clear the selection after a remediation is complete
assistant: !Bash#c1 {"command":"git commit -am \"Add the relay\""}
tool#c1: [main 45ffe0a] Add the relay
assistant: !Bash#s2 {"command":"git status --short"}
tool#s2: M docs/notes.md
assistant: Committed. Tag it with:
```
git tag v0.8.0
```
user: Leave the tag for later, first the notes of this release.
assistant: The notes are next.
"#;

#[test]
fn what_held_before_a_commit_or_a_later_run_is_not_quoted() {
    let text = draft(COMMITTED, 900).text;
    for old in ["Item 3 failed", "src/relay.rs", "b220ccc", "git tag v0.8.0"] {
        assert!(!text.contains(old), "{old} in\n{text}");
    }
    assert!(text.contains("M docs/notes.md") && text.contains("passed (m3), 12 passed, 0 failed"), "{text}");
}

#[test]
fn an_answered_request_is_told_by_its_first_sentences_and_what_it_quotes_is_not() {
    let long =
        "The relay tells the edge of each packet that it lost, with the count and the hour of the day. "
            .repeat(4);
    let call = r#"!Read#r1 {"file_path":"src/relay.rs"}"#;
    let said = format!(
        "user: Look at the relay.\nassistant: {call}\ntool#r1: fn relay() {{}}\nassistant: It waits for the lock of the table.\nuser: It waits for the lock of the table.\n  That is not all of it, is it? {long}\nassistant: No.\nuser: And now the edge.\nassistant: The edge is next."
    );
    let text = draft(&said, 900).text;
    let told = "m4 That is not all of it, is it? The relay tells the edge of each packet that it lost, with the count and the hour of the day. […] (answered in m5)";
    assert!(text.contains(told), "{text}");
}

/// What was found, proposed and offered, and a decision of the person's.
const PROPOSED: &str = r#"
user: How is the cleanup of the stale relays done?
assistant: Looking. !Read#r1 {"file_path":"src/relay.rs"}
tool#r1: fn relay() {}
assistant: Stale relays are never removed from the table.

We could drop each relay after 30 days.

Want me to:
1. Drop them after 30 days
2. Ask the owner first?
user: Leave the relays where they stand, and count them in the report of the month.
assistant: Counting. !Read#r2 {"file_path":"src/report.rs"}
tool#r2: fn report() {}
assistant: The report counts 42 relays.

Shall I mail it?
"#;

#[test]
fn what_was_only_proposed_is_no_finding_and_a_settled_offer_is_gone() {
    let text = draft(PROPOSED, 900).text;
    let found = text.split("## Proposed").next().unwrap();
    assert!(found.contains("Stale relays are never removed") && !found.contains("We could"), "{text}");
    assert!(
        text.contains("## Proposed by the assistant\nm3 We could drop each relay after 30 days."),
        "{text}"
    );
    assert!(!text.contains("Want me to") && !text.contains("Ask the owner"), "{text}");
    assert!(text.contains("Shall I mail it?"), "what nobody answered stays open:\n{text}");
}

#[test]
fn the_head_of_a_table_without_rows_is_not_told() {
    let row = |nth| {
        format!("| relay-{nth} in the rack of hall {nth} | up since day {nth}, waits for nobody else |\n")
    };
    let rows: String = (0..12).map(row).collect();
    let table = format!("| Relay | State |\n|---|---|\n{rows}");
    let call = r#"!Read#r1 {"file_path":"a.rs"}"#;
    let said = format!(
        "user: Which relays are up?\nassistant: All.\n\n{table}\nuser: Count them.\nassistant: {call}\ntool#r1: 12"
    );
    for limit in (60..240).step_by(4) {
        let text = draft(&said, limit).text;
        let picked = text.split("## The assistant's last words").next().unwrap();
        assert!(picked.contains("| relay-") || !picked.contains("| Relay | State |"), "{limit}: {text}");
    }
    let asked = draft("user: | Relay | State |\n|---|---|\n| edge | up |\n", 300).text;
    assert!(!asked.split("## Asked and told").nth(1).is_some_and(|told| told.contains("|---|")), "{asked}");
}

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

#[test]
fn what_the_person_stopped_is_not_told_as_answered() {
    let text = draft(UNDONE, 900).text;
    assert!(text.contains("see the screenshot (interrupted by the user in m19)"), "{text}");
}

/// A list of five, code in an answer, a question at its end, a file that is read, and two reservations of which one was changed.
const CRUMBS: &str = r#"
user: Which of my reservations can be changed?
assistant: !get_reservation#g1 {"id":"AAA111"} !get_reservation#g2 {"id":"BBB222"}
tool#g1: {"reservation_id": "AAA111", "cabin": "business", "status": "open"}
tool#g2: {"reservation_id": "BBB222", "cabin": "economy", "status": "open"}
assistant: !Read#r1 {"file_path":"src/app.ts"}
tool#r1: // Feature flags
// Derive the evaluation id from the URL
className="flex items-center gap-2"
return batchText
//go:build integration
assistant: Both are told from here. The only thing that counts is:

1. the cabin
2. **the fare of the day**, which moves with each hour that passes before the flight to Boston leaves

```ts
type Reservation = {
session.BaseCommit[:7],
```

Is that the answer you were looking for?
user: Change AAA111 to economy, and write down why the other one stays as it is now.
assistant: !update_reservation#u1 {"id":"AAA111"}
tool#u1: {"reservation_id": "AAA111", "cabin": "economy", "status": "open"}
assistant: AAA111 is changed.
"#;

#[test]
fn crumbs_of_code_and_settled_questions_are_not_told() {
    let text = draft(CRUMBS, 900).text;
    assert!(
        text.contains("1. the cabin\n2. **the fare") && text.contains("//go:build integration"),
        "{text}"
    );
    for crumb in [
        "Feature flags",
        "Derive the",
        "className",
        "return batchText",
        "BaseCommit",
        "type Reservation",
        "Is that the answer",
    ] {
        assert!(!text.contains(crumb), "{crumb} in\n{text}");
    }
}

#[test]
fn a_reservation_that_nobody_changed_is_told_with_its_state() {
    let text = draft(CRUMBS, 400).text;
    assert!(text.contains(r#""BBB222", "cabin": "economy""#), "{text}");
}

#[test]
fn a_list_is_not_begun_in_its_middle() {
    for limit in (100..400).step_by(10) {
        let text = draft(CRUMBS, limit).text;
        assert!(!text.contains("2. **the fare") || text.contains("1. the cabin"), "{limit}: {text}");
    }
}

/// A check that passed, words, and what was done after both.
const WENT_ON: &str = r#"
user: Mend the relay.
assistant: !TodoWrite#t1 {"todos":[{"content":"Mend the queue","status":"completed"}]}
tool#t1: ok
assistant: !bash#b1 {"command":"cargo test"}
tool#b1: test result: ok. 12 passed; 0 failed; 0 ignored
Exit code: 0
user: Now make the lock shorter.
assistant: I am going to hold the lock for less time. !Edit#e1 {"file_path":"src/queue.rs","old_string":"a();","new_string":"let held = lock.take_for_one_step();"}
tool#e1: The file src/queue.rs has been updated successfully.
assistant: !Edit#e2 {"file_path":"src/lock.rs","old_string":"b();","new_string":"let given = lock.give_back_at_once();"}
tool#e2: The file src/lock.rs has been updated successfully.
assistant: !Read#r1 {"file_path":"src/relay.rs"}
tool#r1: fn relay() {}
"#;

#[test]
fn what_was_done_after_a_check_a_list_and_the_last_words_is_told_with_them() {
    let text = draft(WENT_ON, 900).text;
    for told in [
        "cargo test: passed (m3), 12 passed, 0 failed; edited since: queue.rs, lock.rs",
        "done: Mend the queue\nedited since then: lock.rs (m8), 2 edits in all\nasked since then: m5",
        "## The assistant's last words (m6, then 3 calls, 2 messages with edits, the last in m10)",
    ] {
        assert!(text.contains(told), "{told} is missing in\n{text}");
    }
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

/// A price that turns out to be another.
const REVISED: &str = r#"
user: Book the two flights.
assistant: The total cost of both flights is $957 in economy.
user: Yes, book them.
assistant: !book_flight#c1 {"amount":957}
tool#c1!: Error: payment amount does not add up, total price is 1002, but paid 957
assistant: I look at the fares again.
user: Hm.
"#;

#[test]
fn a_value_that_was_told_otherwise_since_does_not_stand_unmarked() {
    let text = draft(REVISED, 600).text;
    assert!(
        text.contains("The total cost of both flights is $957 in economy. (later on this: m4)"),
        "{text}"
    );
    assert!(text.contains("total price is 1002"), "{text}");
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
fn what_calls_changed_outside_is_told_and_nothing_that_was_refused_or_only_looked_up() {
    let said = r#"
user: Move all three of my bookings to economy.
assistant: !get_booking#c0 {"booking_id":"XK4"}
tool#c0: {"booking_id": "XK4", "cabin": "business"}
assistant: !update_booking#c1 {"booking_id":"XK4","cabin":"economy","flights":[{"number":"HAT1","date":"2024-05-21"}]}
tool#c1: {"booking_id": "XK4", "cabin": "economy"}
assistant: !update_booking#c2 {"booking_id":"ZZ9","cabin":"economy"}
tool#c2: Error: the booking cannot be changed
assistant: !mcp__mail__send_message#c3 {"to":"mara@example.com","body":"XK4 is in economy now."} !update_booking#c4 {"booking_id":"QQ1"}
tool#c3: sent
assistant: !cancel_booking#c5 {"booking_id":"LK5"} !create_note#c6 {"text":"moved"}
tool#c5: {"error":"the booking is locked"}
tool#c6: {"error": null, "id": 7}
assistant: The second one is refused.
"#;
    let text = draft(said, 900).text;
    let told = "## Calls that changed something, answered without an error\n```\nm3 update_booking booking_id XK4, cabin economy, number HAT1, date 2024-05-21\nm7 mcp__mail__send_message to mara@example.com, body XK4 is in economy now.\nm9 create_note text moved\n```";
    assert!(text.contains(told), "{text}");
}

#[test]
fn what_was_refused_or_never_answered_is_not_told_as_done() {
    let said = r#"
user: Tidy the relay.
assistant: !Read#r {"file_path":"/w/net.py"}
tool#r: RETRY_LIMIT = 48213
TIMEOUT = 31
assistant: !Bash#c1 {"command":"rm -rf src/legacy.py && mv a.py b.py"}
tool#c1: The user doesn't want to proceed with this tool use. The tool use was rejected.
assistant: !Bash#c2 {"command":"echo 'x = 1' > src/conf.py"}
tool#c2: [Request interrupted by user for tool use]
assistant: !Bash#c3 {"command":"sed -i s/a/b/ c.py"}
tool#c3: exec command rejected by user
assistant: !Write#w1 {"file_path":"/w/net.py","content":"TIMEOUT = 77\nNAME = 1"}
tool#w1: {"error":"EACCES: permission denied"}
assistant: !Write#w2 {"file_path":"/w/net.py","content":"TIMEOUT = 88\nNAME = 2"}
tool#w2: Cannot write to /w/net.py: read-only file system
assistant: !Write#w3 {"file_path":"/w/done.py","content":"DONE = 88"}
tool#w3: Failed to format /w/done.py with ruff (not installed); the file was written (24 bytes).
assistant: The limit stands in net.py. !Write#w4 {"file_path":"/w/late.py","content":"LATE = 88"}
user: no, wait
"#;
    let text = draft(said, 1_500).text;
    for false_word in ["legacy.py", "b.py", "conf.py", "c.py: edited", "written anew", "late.py: "] {
        let in_trail = text.split("## Changed files").nth(1).and_then(|rest| rest.split("\n##").next());
        assert!(!in_trail.unwrap_or_default().contains(false_word), "{false_word} in {text}");
    }
    assert!(text.contains("RETRY_LIMIT = 48213"), "{text}");
    assert!(text.contains("done.py: "), "{text}");
}

#[test]
fn what_was_edited_after_a_commit_is_told_only_where_no_later_one_was_silent() {
    let said = |silent: &str| {
        format!(
            r#"
user: Go on with the relay.
assistant: !Bash#c1 {{"command":"git commit -m one"}}
tool#c1: [main 45ffe0a] one
assistant: !Edit#e1 {{"file_path":"a.py","old_string":"x","new_string":"y"}}
tool#e1: The file a.py has been updated.
assistant: !Bash#c2 {{"command":"{silent}"}}
tool#c2: done
assistant: Next is the second part.
"#
        )
    };
    let told = "edited after the last commit (m1): a.py";
    for looks in ["ls", "git log -3 -- src/merge.rs", "git -C . diff pull.rs", "git stash list"] {
        let text = draft(&said(looks), 900).text;
        assert!(text.contains(told), "{looks}: {text}");
    }
    for silent in [
        "git commit -qam two",
        "git stash && git reset --hard -q",
        "git checkout -q a.py",
        "git -C . commit -qam two",
    ] {
        let text = draft(&said(silent), 900).text;
        assert!(!text.contains(told), "{text}");
    }
}

#[test]
fn where_a_part_of_a_record_is_left_out_a_mark_says_so() {
    let item = |name: &str, id: u32| {
        format!(
            r#"{{"name": "{name}", "item_id": "{id}", "options": {{"colour": "dark blue", "size": "a large one of the second kind", "brand": "Brand B of the north"}}}}"#
        )
    };
    let items: Vec<String> = (0..9).map(|nth| item(&format!("Lamp {nth}"), 5_000 + nth)).collect();
    let said = format!(
        "\nuser: What is in order W12? I want Lamp 3 out of it.\nassistant: !get_order_details#c1 {{\"order_id\":\"W12\"}}\ntool#c1: {{\"order_id\": \"W12\", \"status\": \"pending\", \"items\": [{}], \"total\": 1409}}\nassistant: Lamp 3 can be taken out.\n",
        items.join(", ")
    );
    let text = draft(&said, 320).text;
    let quoted = text.split("get_order_details W12:\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let quoted = quoted.split("\n```").next().unwrap_or_default();
    let told = quoted.matches("\"name\"").count();
    assert!((1..9).contains(&told), "{text}");
    assert!(quoted.lines().any(|line| line == "…"), "{text}");
    let whole = draft(&said, 4_000).text;
    assert!(whole.matches("\"name\"").count() == 9 && !whole.contains("\n…\n"), "{whole}");
}

#[test]
fn a_refused_change_of_a_record_that_was_made_after_all_is_not_told_as_open() {
    let said = r#"
user: Change the lamp of order W12, and cancel W13.
assistant: !modify_order#c1 {"order_id":"W12","item":"77"}
tool#c1: Error: the new item should be another one
assistant: !cancel_order#c2 {"order_id":"W13"}
tool#c2: Error: it was delivered already
assistant: !modify_order#c3 {"order_id":"W12","item":"78"}
tool#c3: {"order_id": "W12", "item": "78"}
assistant: The lamp is changed.
"#;
    let text = draft(said, 900).text;
    let failures = text.split("## Checks and failures").nth(1).unwrap_or_default();
    assert!(!failures.contains("should be another one"), "{text}");
    assert!(failures.contains("m4 cancel_order: Error: it was delivered already"), "{text}");
}

#[test]
fn a_refused_change_stays_open_whatever_else_was_changed_of_the_record_or_of_its_neighbour() {
    for (refused, made) in [
        (
            r#"update_booking#c1 {"booking_id":"XK4","cabin":"business"}"#,
            r#"update_booking#c2 {"booking_id":"XK4","bags":2}"#,
        ),
        (
            r#"create_issue#c1 {"owner":"acme","repo":"relay"}"#,
            r#"create_issue#c2 {"owner":"acme","repo":"docs"}"#,
        ),
        (
            r#"use_mcp_tool#c1 {"tool_name":"cancel_order","arguments":{"order_id":"W13"}}"#,
            r#"use_mcp_tool#c2 {"tool_name":"modify_order","arguments":{"order_id":"W13"}}"#,
        ),
    ] {
        let said = format!(
            "user: Do it.\nassistant: !{refused}\ntool#c1: Error: not today\nassistant: !{made}\ntool#c2: {{\"ok\":1}}\nassistant: Done.\n"
        );
        let text = draft(&said, 900).text;
        let failures = text.split("## Checks and failures").nth(1).unwrap_or_default();
        assert!(failures.contains("Error: not today"), "{text}");
    }
}

#[test]
fn what_a_record_is_about_is_no_failure_and_a_search_is_no_deed() {
    let said = r#"
user: File what is missing in the relay.
assistant: !mcp__notion__API-post-search#c1 {"query":"relay tickets"}
tool#c1: {"results": []}
assistant: !create_issue#c2 {"title":"Handle ENOENT","repo":"relay"}
tool#c2: {"id": 44, "title": "Handle ENOENT: permission denied"}
assistant: Filed 44.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("an error\n```\nm3 create_issue title Handle ENOENT, repo relay\n```"), "{text}");
    assert!(!text.contains("## Checks and failures"), "{text}");
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

/// A build that fails, is never run again, and has more checks of other things after it than are told.
const LEFT_FAILING: &str = r#"
user: Guard the second relay against nil.
assistant: !Edit#e1 {"file_path":"relay_test.go","old_string":"use(result)","new_string":"if result != nil { use(result) }"}
tool#e1: ok
assistant: !Bash#b1 {"command":"go build -tags=e2e ./relay/e2e/..."}
tool#b1!: Exit code 1
relay/e2e/env.go:42:26: undefined: defaultAgent
assistant: Fixed. !Bash#b2 {"command":"go vet ./relay/..."}
tool#b2:
assistant: !Bash#b3 {"command":"go test ./relay/... -run TestOne"}
tool#b3: ok  	relay	0.3s
assistant: !Bash#b4 {"command":"go test ./relay/... -run TestTwo"}
tool#b4: ok  	relay	0.3s
assistant: !Bash#b5 {"command":"go test ./relay/... -run TestThree"}
tool#b5: ok  	relay	0.3s
assistant: !Bash#b6 {"command":"go test ./relay/... -run TestFour"}
tool#b6: ok  	relay	0.3s
assistant: Both relays are guarded.
"#;

#[test]
fn a_failure_that_nothing_mended_is_told_whatever_was_checked_after_it() {
    let text = draft(LEFT_FAILING, 900).text;
    let failed =
        "go build -tags=e2e ./relay/e2e/...: failed (m3): relay/e2e/env.go:42:26: undefined: defaultAgent";
    assert!(text.contains(failed), "{text}");
    let mended = LEFT_FAILING
        .replace("go test ./relay/... -run TestFour", "go build ./relay/...")
        .replace("ok  	relay	0.3s\nassistant: Both", "\nassistant: Both");
    assert!(draft(&mended, 900).text.matches("go test").count() >= 3, "the newest checks are told as well");
}

#[test]
fn what_is_left_out_inside_a_message_is_marked() {
    let said = "The relay loses packets where the lock of the table `routes` is held by another relay for longer than 40 ms at night. Good. The cure is to take the lock of `routes` before the first packet is read from socket 4711. The order of both does not matter for socket 4712.";
    let fixture = format!(
        "user: Why does the relay lose packets?\nassistant: {}\nuser: And the edge, which of them?\nassistant: The edge is next.",
        said.replace(". ", ".\n\n")
    );
    let text = draft(&fixture, 90).text;
    let whole = said.split_inclusive(". ").map(str::trim);
    let told: Vec<&str> = whole.filter(|sentence| text.contains(sentence)).collect();
    assert!(
        text.contains("m1 … The cure is") || text.contains("m1 The relay loses") && text.contains("\n… The"),
        "{told:?} in\n{text}"
    );
    assert!(!draft(&fixture, 900).text.contains("m1 …"), "nothing is left out where there is room");
}

#[test]
fn a_request_is_no_rule_where_it_is_told_as_one() {
    let said = "user: I'd like to change the flight of booking XK4 to the morning, please.\nassistant: Which one?\nuser: Never charge card 4711. The one to Bern.\nassistant: Looking.\nuser: Go on, please, and tell me the price.";
    let text = draft(said, 300).text;
    assert!(text.contains("- m2: Never charge card 4711."), "{text}");
    assert_eq!(text.matches("change the flight of booking XK4").count(), 1, "{text}");
}

#[test]
fn what_was_said_before_the_work_is_no_answer_and_no_word_that_broke_off() {
    let said = r#"
user: Does the relay wait for the lock of the table?
assistant: I will look at the relay first, rather than guess.
assistant: !Read#r1 {"file_path":"src/relay.rs"}
tool#r1: fn relay() {}
assistant: It does not: it takes no lock at all.
user: Are we ready to release?
assistant: Perfect
user: Now the edge, please.
assistant: The edge is next.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("m0 Does the relay wait for the lock of the table? (answered in m4)"), "{text}");
    assert!(text.contains("m5 Are we ready to release?\n"), "{text}");
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
fn nothing_is_told_twice_in_part() {
    let said = r#"
user: Look at the relay.
assistant: Looking. !Read#r1 {"file_path":"src/relay.rs"}
tool#r1: fn relay() {}
assistant: It waits for the lock of the table.
user: You said that it waits for the lock of the table, and the edge waits as well for the same one of them. But the edge has no lock_of_its_own at all, so what would it wait for in the morning_hours?
assistant: For the ledger.
user: Write the plan.
assistant: The plan:
1. [ ] Give the edge_lock to the ledger
2. [ ] Measure the wait_of_the_edge
!TodoWrite#l1 {"todos":[{"content":"Give the edge_lock to the ledger","status":"completed"},{"content":"Measure the wait_of_the_edge","status":"pending"}]}
tool#l1: ok
assistant: The edge_lock is given.
user: And now the edge.
assistant: The edge is next.
"#;
    let text = draft(said, 900).text;
    for once in ["You said that it waits", "morning_hours", "Give the edge_lock", "wait_of_the_edge"] {
        assert_eq!(text.matches(once).count(), 1, "{once} in\n{text}");
    }
    assert!(text.contains("in the morning_hours? (answered in m5)"), "{text}");
}

#[test]
fn what_instructions_demand_is_the_systems_and_not_the_users() {
    let said = transcript(
        "user: You are an agent. Never delete files without asking.\nuser: Port it. Never touch Cargo.lock.\nassistant: It is ported.\nuser: Then go on with the next part.\nassistant: That is done as well.",
    );
    let entries: Vec<Entry> = said
        .entries()
        .iter()
        .enumerate()
        .map(|(nth, entry)| match nth {
            0 => {
                let speaker = Some(Speaker::System);
                Entry { message: Message { speaker, ..(*entry.message).clone() }.into(), ..entry.clone() }
            }
            _ => entry.clone(),
        })
        .collect();
    let text = draft_of(&entries, 400, &[]).text;
    assert!(text.contains("- m0 (the system's instructions): Never delete files without asking."), "{text}");
    assert!(!text.contains("m0 You are an agent"), "{text}");
}

#[test]
fn what_a_meeting_came_to_in_numbers_is_told_first() {
    let mut said = String::new();
    for (nth, item) in ["fancy", "innovative", "easy to find", "comfortable to hold"].iter().enumerate() {
        said.push_str(&format!(
            "user: Marketing: Question {nth}. Does the casing of the remote control look {item} to the people who buy it?\nuser: User Interface: Hmm ?\nuser: Industrial Designer: I like how the casing goes on behind the display and the buttons on either side of it.\nuser: User Interface: Thirteen ?\nuser: Project Manager: The seven of them are on my list, of which the last ones were added by the marketing people this week.\nuser: User Interface: Mm .\n"
        ));
    }
    said.push_str("user: Marketing: Okay, the average is two.\nuser: User Interface: Ooh .\n");
    let text = draft(&said, 300).text;
    assert!(text.contains("Marketing: Okay, the average is two."), "{text}");
}

#[test]
fn what_a_hook_prints_before_a_commit_that_landed_is_not_told() {
    let said = r#"
user: Commit the relay.
assistant: !shell#c1 {"command":"git add . && git commit -m 'Release the relay'"}
tool#c1: $ bun test src/
[Parser] Warning: could not parse the response of the evaluator as an array
85 | test("should handle errors without stopping other tasks", async () => {
error: Database connection failed
      at <anonymous> (/w/src/api/routes/evaluation.test.ts:317:25)
 1329 pass
 0 fail
[main 26cd5b3] Release the relay
assistant: It is committed.
"#;
    let text = draft(said, 900).text;
    assert!(text.contains("git commit: [main 26cd5b3] Release the relay (m1)"), "{text}");
    for idle in ["[Parser] Warning", "85 | test", "Database connection failed"] {
        assert!(!text.contains(idle), "{idle} in\n{text}");
    }
}
