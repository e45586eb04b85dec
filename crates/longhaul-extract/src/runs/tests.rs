//! Small cases of how a command went, made for them: the line, how the harness ends it, its output, what is true.

use longhaul_transcript::Part;

use super::*;

fn run(command: &str, outcome: Outcome, text: &str) -> Run {
    let arguments = serde_json::json!({ "command": command }).to_string();
    let call = ToolCall::function("c", "Bash", arguments);
    run_of(&call, &ToolResult::text("c", text, outcome)).expect("a command")
}

#[test]
fn only_what_the_source_settles_is_told() {
    use Outcome::{Failed as Flagged, Succeeded as Fine, Unstated};
    use Verdict::{Failed, Passed, Unknown};
    for (command, outcome, text, expected) in [
        // The harness states an exit code, and the line lets it speak.
        ("go test ./...", Flagged, "Exit code 1\nFAIL\ta\t0.1s", Failed),
        ("go test ./...", Fine, "ok  \ta\t0.1s", Passed),
        (
            "cd /w && cargo test",
            Unstated,
            "Exit code: 101\nWall time: 1 seconds\nOutput:\nerror: test failed",
            Failed,
        ),
        (
            "bun test",
            Unstated,
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\nerror: Item 3 failed\n 12 pass\n 0 fail",
            Passed,
        ),
        ("mise run fmt && mise run lint && mise run test:ci", Fine, "done", Passed),
        ("npm test", Unstated, "x\n\nCommand exited with code 1", Failed),
        // A pipe, a `;` or `||` hides it; then the runner's last words count.
        ("cargo test 2>&1 | tail -5", Fine, "test result: ok. 3 passed; 0 failed; 0 ignored", Passed),
        (
            "cargo test 2>&1 | tail -5",
            Fine,
            "test result: FAILED. 3 passed; 1 failed; 0 ignored\nerror: test failed",
            Failed,
        ),
        ("cargo test 2>&1 | tail -5", Fine, "   Compiling a v0.1.0", Unknown),
        ("cargo test | grep warning", Flagged, "Exit code 1", Unknown),
        (
            "bun run test 2>&1 | tail -20",
            Unstated,
            "Process exited with code 0\nOutput:\n 1219 pass\n 0 fail\nRan 1219 tests across 9 files.",
            Passed,
        ),
        ("npm run lint || true", Fine, "✖ 2 problems (2 errors, 0 warnings)", Failed),
        ("npm run lint || true", Fine, "something", Unknown),
        ("make test; echo done", Fine, "make: *** [test] Error 1\ndone", Failed),
        ("make test; echo done", Fine, "done", Unknown),
        ("set -o pipefail; cargo test | tail -5", Flagged, "Exit code 101\nerror: test failed", Failed),
        ("npx tsc --noEmit 2>&1 | head -20", Unstated, "", Passed),
        ("npx tsc --noEmit 2>&1 | head -20", Unstated, "src/a.ts(1,2): error TS2304: no", Failed),
        ("npx tsc --noEmit | grep foo", Unstated, "", Unknown),
        ("bun run typecheck 2>&1 | tail -10", Unstated, "$ tsc --noEmit", Passed),
        ("bun run typecheck | tail -3", Unstated, "$ tsc --noEmit\nsrc/a.ts(1,2): error TS2304: no", Failed),
        ("bun run typecheck | head -1", Unstated, "$ tsc --noEmit", Unknown),
        ("npm run lint | tail -5", Unstated, "> relay@1.0.0 lint\n> eslint src", Passed),
        ("bun run test | tail -5", Unstated, "$ bun test src/", Unknown),
        ("cargo test > log.txt 2>&1; echo \"exit code: $?\"", Unstated, "exit code: 0", Unknown),
        ("mise run fmt", Unstated, "[fmt] $ gofmt -w .", Passed),
        ("cargo fmt --all -- --check 2>&1 | tail -5", Unstated, "", Passed),
        ("cargo fmt --check | grep -c Diff", Unstated, "", Unknown),
        ("cargo clippy --all-targets 2>&1 | tail -3", Unstated, "    Finished `dev` profile in 2s", Passed),
        ("rustfmt --check src/a.rs", Unstated, "", Passed),
        ("isort --check . && shfmt -d run.sh", Unstated, "", Unknown),
        // Nobody states anything.
        ("pytest -q", Unstated, "3 passed in 0.01s", Passed),
        ("pytest -q", Unstated, "FAILED a.py::b - assert\n1 failed, 2 passed in 0.01s", Failed),
        ("pytest -q", Unstated, "handling error: failed to connect, as expected", Unknown),
        ("go build ./...", Unstated, "", Unknown),
        // What only looks does not fail by finding nothing.
        ("grep -rn foo src", Flagged, "Exit code 1", Unknown),
        ("git diff --quiet", Flagged, "Exit code 1", Unknown),
        ("ls /nowhere", Flagged, "Exit code 2\nls: cannot access '/nowhere'", Failed),
        ("cat log", Unstated, "error: test failed\nFAIL", Unknown),
        ("git commit -m 'fix failing test'", Fine, "[main 1] fix failing test", Passed),
        ("go test ./... | head -3", Fine, "ok  \ta\t0.1s\nok  \tb\t0.1s\nok  \tc\t0.1s", Unknown),
        ("go test ./... | head -9", Fine, "ok  \ta\t0.1s\nok  \tb\t0.1s\nok  \tc\t0.1s", Passed),
        // No runner is known, and the output itself says how it went, whatever it ended with.
        (
            "bun cli eval run a.yaml",
            Fine,
            "1/1 | 0% FAIL\n=====\nRESULT: FAIL  (0/1 scored)\n=====\nTotal: 1",
            Failed,
        ),
        ("./evaluate.sh | tail -3", Unstated, "Overall: failed", Failed),
        ("./evaluate.sh", Unstated, "Overall: ✅ passed (3/3)", Passed),
        ("./evaluate.sh", Unstated, "Result: PASS\nCommand timed out after 2m 0.0s", Unknown),
        ("./evaluate.sh", Unstated, "Result: PASS\nResult: PASS\n3 cases, 1 below", Unknown),
        ("./evaluate.sh", Unstated, "Result: pass@1: 0.12", Unknown),
        ("python eval.py -c conf.yaml", Fine, "RESULT: FAIL (2 of 5 cases failed)", Failed),
        ("python3 - <<'EOF'\nprint(open('old.log').read())\nEOF", Fine, "RESULT: FAIL (0/1)", Passed),
        ("python eval.py", Fine, "a ok\nb no\nFAILED", Passed),
        ("python eval.py", Fine, "Result: FAIL (as expected)", Passed),
        ("python eval.py", Fine, "Result: Failed (0) Passed (12)", Passed),
        ("python eval.py", Fine, "Result: PASS (3), FAIL (9)", Passed),
        ("ssh build './run.sh'", Unstated, "RESULT: FAIL", Unknown),
        ("python3 -c 'print(open(\"old.log\").read())'", Fine, "RESULT: FAIL", Passed),
        ("npm run test:evals", Fine, "case 1\nResult: FAIL", Failed),
        ("python eval.py", Flagged, "Exit code 1\nResult: PASS\nTraceback", Failed),
        ("python eval.py", Fine, "Result: failed to read the cache, going on", Passed),
        ("python eval.py", Fine, "Result: failed: 0, passed: 12", Passed),
        ("python eval.py", Fine, "first\nRESULT: FAIL\nagain\nRESULT: PASS", Passed),
        ("python eval.py", Fine, "a FAILED\nFAILED\nwritten", Passed),
        ("npm test", Fine, "Result: FAIL\n 3 pass\n 0 fail", Passed),
        ("cat eval.log && ls", Unstated, "RESULT: FAIL", Unknown),
        ("cat old.log; python next.py", Fine, "RESULT: FAIL", Passed),
        ("git commit -m x", Fine, "[main 1a2b3c4] x\nRESULT: FAIL", Passed),
        // It never ran.
        ("npm test", Flagged, "x\n\nCommand aborted", Unknown),
        ("go test ./...", Flagged, "The user doesn't want to proceed with this tool use.", Unknown),
        ("npm test", Flagged, "Command timed out after 2m 0.0s", Unknown),
    ] {
        assert_eq!(run(command, outcome, text).verdict, expected, "{command}: {text}");
    }
}

#[test]
fn tests_are_counted_once() {
    let text = "Process exited with code 0\nOutput:\n 1219 pass\n 0 fail\n 3 expect() calls\nRan 1219 tests across 9 files. [1.2s]";
    assert_eq!(run("bun test", Outcome::Unstated, text).tests.passed, 1219);
    let go = "--- FAIL: TestB (0.00s)\n    b_test.go:3: no\nFAIL\nFAIL\ta\t0.1s";
    let failed = run("go test ./...", Outcome::Failed, &format!("Exit code 1\n{go}"));
    assert_eq!(failed.failed_tests, ["TestB"]);
}

#[test]
fn the_line_that_helps_is_the_error() {
    let error = |command, text| run(command, Outcome::Failed, text).error.unwrap_or_default();
    let lint = "Exit code 1\nsrc/a.ts:27:1 lint/correctness/noUnusedImports  FIXABLE  ━━━\n\nFound 1 error.\nerror: script \"lint\" exited with code 1";
    assert_eq!(error("bun run lint", lint), "src/a.ts:27:1 lint/correctness/noUnusedImports  FIXABLE  ━━━");
    let tests = "Exit code 1\nerror: Item 3 failed\n(fail) limiter > keeps order [0.1ms]\n 3 pass\n 1 fail";
    assert_eq!(error("bun test", tests), "limiter > keeps order failed");
}

#[test]
fn what_runs_in_the_background_is_followed() {
    let call =
        |id: &str, name: &str, arguments: &str| Part::ToolCall(ToolCall::function(id, name, arguments));
    let result = |id: &str, text: &str| Part::ToolResult(ToolResult::text(id, text, Outcome::Unstated));
    let said: longhaul_transcript::Transcript = [
        vec![call("a", "exec_command", r#"{"cmd":"bun test"}"#)],
        vec![result("a", "Chunk ID: 1\nProcess running with session ID 7\nOutput:\nbun test v1")],
        vec![call("b", "write_stdin", r#"{"session_id":7,"chars":""}"#)],
        vec![result("b", "Chunk ID: 2\nProcess exited with code 1\nOutput:\n 3 pass\n 1 fail")],
    ]
    .into_iter()
    .map(|parts| {
        let role = match parts[0] {
            Part::ToolCall(_) => longhaul_transcript::Role::Assistant,
            _ => longhaul_transcript::Role::Tool,
        };
        longhaul_transcript::Message::new(role, parts)
    })
    .collect();
    let all = runs(said.entries());
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].verdict, all[0].answered, all[0].tests.failed), (Verdict::Failed, Some(3), 1));
}

#[test]
fn a_failure_knows_what_came_between_it_and_its_cure() {
    let said = longhaul_testkit::transcript(
        r#"
user: go
assistant: !Bash#c1 {"command":"cd /w && cargo test 2>&1"}
tool#c1!: error[E0308]: mismatched types
assistant: !Edit#c2 {"file_path":"/w/a.rs","old_string":"a","new_string":"b"}
tool#c2: ok
assistant: !Bash#c3 {"command":"cargo test | tail -3"}
tool#c3: test result: ok. 3 passed; 0 failed; 0 ignored
"#,
    );
    let all = checks(&runs(said.entries()), &crate::trail(said.entries()));
    let lines: Vec<String> = all.iter().map(Check::line).collect();
    assert_eq!(
        lines,
        [
            "cargo test: passed (m5), 3 passed, 0 failed; failed in m1: error[E0308]: mismatched types; then edited: /w/a.rs (m3)"
        ]
    );
}

// asserts 000-21
#[test]
fn what_the_command_names_and_what_was_edited_last_is_told_first_as_its_cure() {
    let mut said = String::from(
        "user: go\nassistant: !Bash#c1 {\"command\":\"npm test -- src/auth/login.ts\"}\ntool#c1!: TypeError: take is not a function\n",
    );
    for (nth, path) in
        ["a", "b", "auth/login", "c", "a", "d", "e"].iter().map(|name| format!("src/{name}.ts")).enumerate()
    {
        said.push_str(&format!(
            "assistant: !Edit#e{nth} {{\"file_path\":\"{path}\",\"old_string\":\"a{nth}\",\"new_string\":\"b{nth}\"}}\ntool#e{nth}: ok\n"
        ));
    }
    said.push_str("assistant: !Bash#c2 {\"command\":\"npm test -- src/auth/login.ts\"}\ntool#c2: Tests: 3 passed\nExit code: 0\n");
    let said = longhaul_testkit::transcript(&said);
    let all = checks(&runs(said.entries()), &crate::trail(said.entries()));
    let line = all[0].line();
    let told =
        "; then edited: src/auth/login.ts (m7), src/e.ts (m15), src/d.ts (m13), src/a.ts (m11) and 2 more";
    assert!(line.ends_with(told), "{line}");
}

#[test]
fn a_script_that_fails_in_another_command_is_a_check_that_failed() {
    let said = longhaul_testkit::transcript(
        r#"
user: go
assistant: !Bash#c1 {"command":"cd /w && bun run lint"}
tool#c1: Checked 270 files in 80ms. No fixes applied.
assistant: !Bash#c2 {"command":"git add . && git commit -m 'Add the relay'"}
tool#c2!: Exit code 1
src/app.tsx:40:13 lint/unused  FIXABLE
error: script "lint" exited with code 1
husky - pre-commit script failed (code 1)
assistant: !Bash#c3 {"command":"cat old.log; exit 1"}
tool#c3!: error: script "lint" exited with code 1
assistant: !Bash#c4 {"command":"bun run lint"}
tool#c4: Checked 270 files in 80ms. No fixes applied.
"#,
    );
    let lines = |count: usize| -> Vec<String> {
        let all = &said.entries()[..count];
        checks(&runs(all), &crate::trail(all)).iter().map(Check::line).collect()
    };
    assert_eq!(lines(3), ["bun run lint: passed (m1)"]);
    assert_eq!(lines(5), ["bun run lint: failed (m3): error: script \"lint\" exited with code 1"]);
    assert_eq!(lines(7), lines(5));
    assert_eq!(
        lines(9),
        ["bun run lint: passed (m7); failed in m3: error: script \"lint\" exited with code 1"]
    );
}

#[test]
fn a_verdict_that_an_output_states_is_a_check() {
    let said = longhaul_testkit::transcript(
        r#"
user: go
assistant: !Bash#c1 {"command":"cd /w && bun cli eval run a.yaml"}
tool#c1: 1/1 a | 0% FAIL

RESULT: FAIL  (0/1 scored)
error: unable to delete the branch
assistant: !Edit#c2 {"file_path":"/w/a.rs","old_string":"a","new_string":"b"}
tool#c2: ok
assistant: !Bash#c3 {"command":"cd /w && bun cli eval run a.yaml"}
tool#c3: RESULT: PASS  (1/1 scored)
"#,
    );
    let lines = |count: usize| -> Vec<String> {
        let all = &said.entries()[..count];
        checks(&runs(all), &crate::trail(all)).iter().map(Check::line).collect()
    };
    assert_eq!(lines(3), ["bun cli eval run a.yaml: failed (m1): RESULT: FAIL  (0/1 scored)"]);
    assert_eq!(
        lines(7),
        [
            "bun cli eval run a.yaml: passed (m5); failed in m1: RESULT: FAIL  (0/1 scored); then edited: /w/a.rs (m3)"
        ]
    );
}

#[test]
fn the_heart_of_a_command_is_what_it_does() {
    let of = |command: &str| run(command, Outcome::Unstated, "").heart;
    assert_eq!(of("cd /w && cargo test -p x 2>&1 | tail -20"), "cargo test -p x");
    assert_eq!(of("cargo fmt --check 2>&1 | head; echo done"), "cargo fmt --check 2>&1 | head; echo done");
    assert_eq!(of("npm run lint || true"), "npm run lint");
}

#[test]
fn what_tests_print_that_passed_is_no_error_of_a_commit() {
    let error = |counts: &str| {
        let said = format!(
            "Exit code 1\n$ bun test src/\nerror: Item 3 failed\n      at a.test.ts:89:16\n\n{counts}\n$ biome check\n\
             src/app.tsx:40:13 lint/unused  FIXABLE\nerror: script \"lint\" exited with code 1\n"
        );
        run("git add . && git commit -m x", Outcome::Failed, &said).error.unwrap()
    };
    assert_eq!(error(" 1219 pass\n 0 fail"), "src/app.tsx:40:13 lint/unused  FIXABLE");
    assert_eq!(error(" 1218 pass\n 1 fail"), "error: Item 3 failed");
}
