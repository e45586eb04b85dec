//! The agent's own plan, where a tool keeps one: what is done, what is under way, what is next.

use longhaul_extract::{TodoState, todos};
use longhaul_transcript::Entry;

/// Returns the to-do list or plan of `entries` as it stands last, as text.
pub(crate) fn latest(entries: &[Entry]) -> Option<String> {
    let items = todos(entries);
    let message = items.iter().map(|item| item.message).max()?;
    let of = |state: TodoState| {
        items.iter().filter(move |item| item.state == state).map(|item| item.text.as_str())
    };
    let open: Vec<&str> = of(TodoState::InProgress).chain(of(TodoState::Open)).collect();
    let done: Vec<&str> = of(TodoState::Done).collect();
    let part = |what: &str, items: Vec<&str>| match items.is_empty() {
        true => None,
        false => Some(format!("{what}: {}", items.join("; "))),
    };
    let parts: Vec<String> = [part("open", open), part("done", done)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Plan (m{message}): {}", parts.join(". ")))
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;

    use super::*;

    #[test]
    fn the_last_plan_says_what_is_open() {
        let said = transcript(
            r#"
user: go
assistant: !TodoWrite#c1 {"todos":[{"content":"Read the code","status":"in_progress"}]}
tool#c1: ok
assistant: !TodoWrite#c2 {"todos":[{"content":"Read the code","status":"completed"},{"content":"Write a test","status":"pending"},{"content":"Fix it","status":"in_progress"}]}
tool#c2: ok
"#,
        );
        let plan = latest(said.entries()).unwrap();
        assert_eq!(plan, "Plan (m3): open: Fix it; Write a test. done: Read the code");
    }
}
