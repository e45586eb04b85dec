//! Commits, checks and failures are told as they went.

use super::draft;

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
        "@@ -3,7", "--- a/src", "-let wait", "[Parser] Warning", "$ bun test", "handle.write",
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
        "done: Mend the queue\nedited since then, and not on the list: lock.rs (m8), 2 edits in all\nasked since then: m5",
        "## The assistant's last words (m6, then 3 calls, 2 messages with edits, the last in m10)",
    ] {
        assert!(text.contains(told), "{told} is missing in\n{text}");
    }
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

#[test]
fn the_branch_that_is_checked_out_is_told_where_no_other_line_names_it() {
    let call = |nth: usize, command: &str, answer: &str| {
        format!("assistant: !Bash#b{nth} {{\"command\":\"{command}\"}}\ntool#b{nth}: {answer}\n")
    };
    let begun = format!(
        "user: Guard the relay.\n{}{}",
        call(1, "git switch -c fix/relay-guard", "Switched to a new branch 'fix/relay-guard'"),
        call(2, "cat relay.go", "package relay"),
    );
    let text = draft(&format!("{begun}assistant: It is guarded."), 900).text;
    assert!(text.contains("git switch -c fix/relay-guard: Switched to a new branch"), "{text}");
    assert!(!text.contains("branch: "), "{text}");
    // Nine commits later nothing else says it.
    let commit = |nth| call(nth, "git push", "17d213a..45ffe0a  HEAD -> main");
    let pushed: String = (3..12).map(commit).collect();
    let text = draft(&format!("{begun}{pushed}assistant: It is guarded."), 900).text;
    assert!(text.contains("branch: fix/relay-guard (m1)"), "{text}");
    // Where it was only looked up, it is all there is to tell.
    let asked = format!("user: Go.\n{}assistant: Yes.", call(1, "git status", "On branch fix/relay-guard"));
    assert!(draft(&asked, 900).text.contains("## Branch\nbranch: fix/relay-guard (m1)"));
}

/// A run of tests of which one fails, behind others that print errors and pass.
const TESTS: &str = r#"
user: Run the tests.
assistant: !Bash#b1 {"command":"bun run test 2>&1"}
tool#b1!: Exit code 1
$ bun test src/
src/parse.test.ts:
[Parser] Warning: could not parse the answer of the edge as a list
[Parser] Warning: could not parse the answer of the edge as a list

src/limit.test.ts:
error: Item 3 failed
      at <anonymous> (/w/relay/src/limit.test.ts:89:16)

src/relay.test.ts:
error: expect(received).not.toContain(expected)
Expected to not contain: "make a new relay"
(fail) relay > tells which relay waits [0.4ms]

 1218 pass
 1 fail
Ran 1219 tests across 56 files. [2.50s]
assistant: One fails.
"#;

#[test]
fn what_tests_print_that_pass_is_no_failure_and_what_failed_is_told_in_any_room() {
    let checks = |limit: u64| {
        let text = draft(TESTS, limit).text;
        text.split("## Checks and failures (quoted)").nth(1).unwrap_or_default().to_owned()
    };
    for limit in [200, 260, 900] {
        let told = checks(limit);
        assert!(told.contains("bun run test: failed (m1), 1218 passed, 1 failed"), "{limit}: {told}");
        assert!(!told.contains("[Parser]") && !told.contains("Item 3 failed"), "{limit}: {told}");
    }
    assert!(checks(900).contains("error: expect(received).not.toContain(expected)"));
}
