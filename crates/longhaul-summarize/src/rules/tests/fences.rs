//! Whatever the room, what a summary quotes ends where it says so.

use std::fmt::Write;

use super::draft;

/// Work with more rules, decisions and failed checks than most limits have room for.
fn work() -> String {
    let mut said = String::from("user: Move the relay to async, module by module.\nassistant: I begin.\n");
    for nth in 0..40 {
        let _ = write!(
            said,
            r#"user: Never touch the directory lane_{nth} without asking me first.
assistant: !execute_bash#t{nth} {{"command":"npm test -- src/lane_{nth}.ts"}}
tool#t{nth}: FAIL src/lane_{nth}.ts
TypeError: handler_{nth} is not a function
Tests: 1 failed, 3 passed
exit code: 1
assistant: The import was wrong. !edit_file#e{nth} {{"path":"src/lane_{nth}.ts","old_string":"a{nth}","new_string":"b{nth}"}}
tool#e{nth}: The file src/lane_{nth}.ts has been updated.
user: I decided to name the entry point of it entry_{nth}.
assistant: Noted.
"#
        );
    }
    said.push_str("user: Go on.\nassistant: I go on.\n");
    said
}

#[test]
fn no_limit_leaves_a_fence_open_or_a_section_with_nothing_in_it() {
    let work = work();
    for limit in (50..2_000).step_by(13) {
        let text = draft(&work, limit).text;
        let lines: Vec<&str> = text.lines().collect();
        let n_fences = lines.iter().filter(|line| line.starts_with("```")).count();
        assert_eq!(n_fences % 2, 0, "{limit}:\n{text}");
        let is_bare = |two: &[&str]| {
            two[0].ends_with("(quoted)") && two[1].starts_with("## ") || two[0] == "```" && two[0] == two[1]
        };
        assert!(!lines.windows(2).any(is_bare), "{limit}:\n{text}");
        assert!(!text.ends_with("(quoted)"), "{limit}:\n{text}");
        assert!(text.lines().any(|line| !line.starts_with(['#', '`'])), "{limit}:\n{text}");
    }
}
