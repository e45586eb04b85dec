//! The agent's own plan, where a tool keeps one: what is done, what is under way, what is next.

use longhaul_extract::{ToolFamily, family};
use longhaul_transcript::{Entry, ToolCall};
use serde_json::Value;

/// Returns the last to-do list or plan that a call in `entries` wrote, as text.
pub(crate) fn latest(entries: &[Entry]) -> Option<String> {
    entries.iter().rev().find_map(|entry| {
        let calls: Vec<&ToolCall> = entry.message.calls().collect();
        let text = calls.into_iter().rev().find_map(plan)?;
        Some(format!("Plan ({}): {text}", entry.id))
    })
}

fn plan(call: &ToolCall) -> Option<String> {
    if family(call) != ToolFamily::Todo {
        return None;
    }
    let arguments: Value = serde_json::from_str(&call.arguments.0).ok()?;
    let items = arguments.as_object()?.values().find_map(Value::as_array)?;
    let (mut open, mut done) = (Vec::new(), Vec::new());
    for item in items {
        let text = ["content", "step", "title", "task", "text", "description"]
            .into_iter()
            .find_map(|key| item[key].as_str())?;
        match item["status"].as_str().unwrap_or_default() {
            "completed" | "done" => done.push(text),
            "in_progress" | "in-progress" | "active" => open.insert(0, text),
            _ => open.push(text),
        }
    }
    let part = |what: &str, items: Vec<&str>| match items.is_empty() {
        true => None,
        false => Some(format!("{what}: {}", items.join("; "))),
    };
    let parts: Vec<String> = [part("open", open), part("done", done)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(". "))
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
