//! The agent's own list of what is to be done, folded to the latest state of each item.

use longhaul_transcript::{Entry, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Act, ToolFamily, each_act};

/// How far an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TodoState {
    /// It is being worked on.
    InProgress,
    /// It is still to be done.
    #[default]
    Open,
    /// It is done.
    Done,
    /// It is not wanted any more.
    Cancelled,
}

/// One item of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What is to be done, in the agent's words.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
    /// Ordinal of the message that said so last.
    pub message: u64,
}

/// Returns the items of the latest list, in its order: from tools that write the whole list (`TodoWrite`, `update_plan`,
/// `write_todos` and their like), from those that make and change single items (`TaskCreate`, `TaskUpdate`), and, where no
/// tool keeps one, from the last check list in the assistant's words.
///
/// An item that is not understood is left out; the others stay.
pub fn todos(entries: &[Entry]) -> Vec<TodoItem> {
    let mut list = Todos::default();
    each_act(entries, |act| list.take(act));
    list.items(entries)
}

/// Keeps the list as calls come.
#[derive(Clone, Debug, Default)]
pub struct Todos {
    items: Vec<(Option<String>, TodoItem)>,
}

impl Todos {
    /// Takes in what one call does to the list.
    pub fn take(&mut self, act: &Act<'_>) {
        if act.call.family() != ToolFamily::Todo {
            return;
        }
        let arguments: Value = serde_json::from_str(act.call.text()).unwrap_or(Value::Null);
        if let Some(list) = whole_list(&arguments) {
            self.items =
                list.iter().filter_map(|item| read(item, act.message)).map(|item| (None, item)).collect();
            return;
        }
        let of = |keys: &[&str]| keys.iter().find_map(|key| scalar(&arguments[*key]));
        match of(&["taskId", "task_id", "id"]) {
            Some(id) => self.change(&id, &arguments, act.message),
            None => {
                if let Some(item) = read(&arguments, act.message) {
                    let told = act.result.map(|(_, result)| result.joined_text());
                    self.items.push((told.and_then(|text| number(&text)), item));
                }
            }
        }
    }

    /// Returns the items, as [`todos`] does: where no tool keeps a list, those of the last check list in the assistant's words
    /// in `entries`.
    pub fn items(self, entries: &[Entry]) -> Vec<TodoItem> {
        if !self.items.is_empty() {
            return self.items.into_iter().map(|(_, item)| item).collect();
        }
        let said = entries.iter().rev().filter(|entry| entry.message.role == Role::Assistant);
        let mut lists = said.flat_map(|entry| {
            let texts = entry.message.texts().collect::<Vec<_>>().into_iter().rev();
            texts.map(|text| check_list(text, entry.id.ordinal))
        });
        lists.find(|list| list.len() >= LEAST_WRITTEN).unwrap_or_default()
    }

    /// Changes one item; one that is not known yet is made where it says what it is.
    fn change(&mut self, id: &str, arguments: &Value, message: u64) {
        let state = arguments["status"].as_str().map(state_of);
        let is_gone = matches!(arguments["status"].as_str(), Some("deleted" | "removed"));
        let known = self.items.iter().position(|(known, _)| known.as_deref() == Some(id));
        match known {
            Some(at) if is_gone => {
                self.items.remove(at);
            }
            Some(at) => {
                let item = &mut self.items[at].1;
                item.state = state.unwrap_or(item.state);
                item.message = message;
                if let Some(text) = text_of(arguments) {
                    item.text = text;
                }
            }
            None => {
                let item = read(arguments, message).filter(|_| !is_gone);
                self.items.extend(item.map(|item| (Some(id.to_owned()), item)));
            }
        }
    }
}

/// The number that the result of making an item says: `Task #3 created successfully`.
fn number(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('#')?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then_some(number)
}

/// The list that a call writes whole, under whatever name.
fn whole_list(arguments: &Value) -> Option<&Vec<Value>> {
    const KEYS: [&str; 8] = ["todos", "plan", "items", "todoList", "tasks", "steps", "todo_list", "list"];
    KEYS.iter().find_map(|key| arguments.get(key)?.as_array())
}

fn read(item: &Value, message: u64) -> Option<TodoItem> {
    let text = item.as_str().map(str::to_owned).or_else(|| text_of(item))?;
    let (text, marked) = match check_mark(&text) {
        Some((rest, is_done)) => (rest.to_owned(), Some(is_done)),
        None => (text, None),
    };
    let stated = item.get("status").or_else(|| item.get("state")).and_then(Value::as_str).map(state_of);
    let flag = ["done", "completed"].iter().find_map(|key| item.get(key)?.as_bool());
    let by_mark = marked.or(flag).map(|is_done| if is_done { TodoState::Done } else { TodoState::Open });
    let state = stated.or(by_mark).unwrap_or_default();
    (!text.trim().is_empty()).then(|| TodoItem { text: text.trim().to_owned(), state, message })
}

fn text_of(item: &Value) -> Option<String> {
    const KEYS: [&str; 9] =
        ["content", "step", "subject", "title", "task", "text", "description", "name", "activeForm"];
    KEYS.iter().find_map(|key| item.get(key)?.as_str()).map(str::to_owned)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn state_of(word: &str) -> TodoState {
    match word.to_ascii_lowercase().replace('-', "_").as_str() {
        "completed" | "complete" | "done" | "finished" | "closed" => TodoState::Done,
        "in_progress" | "active" | "started" | "doing" | "current" => TodoState::InProgress,
        "cancelled" | "canceled" | "skipped" | "deleted" | "removed" | "abandoned" => TodoState::Cancelled,
        _ => TodoState::Open,
    }
}

/// The items of a Markdown check list. The boxes of a pull request's description are for whoever reviews it.
fn check_list(text: &str, message: u64) -> Vec<TodoItem> {
    if !text.contains('[') || !text.contains("[ ]") && !text.contains("[x]") || describes_a_request(text) {
        return Vec::new();
    }
    let lines = text.lines().map(str::trim_start).filter_map(|line| {
        let item = line.strip_prefix(['-', '*', '+']).map(str::trim_start)?;
        let (text, is_done) = check_mark(item)?;
        let state = if is_done { TodoState::Done } else { TodoState::Open };
        Some(TodoItem { text: text.trim().to_owned(), state, message })
    });
    lines.filter(|item| !item.text.is_empty()).collect()
}

/// Whether a text has the headings that the description of a pull request has: what it does, and how it is tested.
fn describes_a_request(text: &str) -> bool {
    const DOES: [&str; 5] = ["summary", "description", "changes", "what changed", "what does this pr do"];
    const IS_TESTED: [&str; 6] =
        ["test plan", "testing", "checklist", "type of change", "how to test", "how has this been tested"];
    let headings = text
        .lines()
        .filter(|line| line.trim_start().starts_with('#'))
        .map(|line| line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let headings: Vec<String> = headings.collect();
    let has = |names: &[&str]| headings.iter().any(|heading| names.contains(&heading.as_str()));
    has(&DOES) && has(&IS_TESTED)
}

fn check_mark(text: &str) -> Option<(&str, bool)> {
    let rest = text.strip_prefix('[')?;
    let mut chars = rest.chars();
    let mark = chars.next()?;
    let rest = chars.as_str().strip_prefix("] ")?;
    match mark {
        ' ' => Some((rest, false)),
        'x' | 'X' | '✓' | '✔' => Some((rest, true)),
        _ => None,
    }
}

/// Items from which on check marks in words are a list.
const LEAST_WRITTEN: usize = 2;

#[cfg(test)]
mod tests {
    use longhaul_testkit::transcript;
    use longhaul_transcript::Message;

    use super::*;

    fn shown(fixture: &str) -> Vec<String> {
        let said = transcript(fixture);
        todos(said.entries())
            .iter()
            .map(|item| format!("{:?} {} m{}", item.state, item.text, item.message))
            .collect()
    }

    #[test]
    fn the_latest_list_wins_and_one_odd_item_spoils_nothing() {
        assert_eq!(
            shown(
                r#"
user: go
assistant: !TodoWrite#c1 {"todos":[{"content":"Old","status":"pending"}]}
tool#c1: ok
assistant: !TodoWrite#c2 {"todos":[{"content":"Read","status":"completed"},{"odd":1},7,{"content":"Test","status":"in_progress"},{"content":"Ship"}]}
tool#c2: ok
"#
            ),
            ["Done Read m3", "InProgress Test m3", "Open Ship m3"]
        );
        assert_eq!(
            shown(
                "user: go\nassistant: !update_plan#c1 {\"explanation\":\"x\",\"plan\":[{\"step\":\"One\",\"status\":\"completed\"},{\"step\":\"Two\",\"status\":\"pending\"}]}"
            ),
            ["Done One m1", "Open Two m1"]
        );
    }

    #[test]
    fn single_items_are_made_and_changed() {
        assert_eq!(
            shown(
                r#"
user: go
assistant: !TaskCreate#c1 {"subject":"Read","description":"Read all"} !TaskCreate#c2 {"subject":"Test"}
tool#c1: Task #1 created successfully: Read
tool#c2: Task #2 created successfully: Test
assistant: !TaskUpdate#c3 {"taskId":"1","status":"completed"} !TaskUpdate#c4 {"taskId":"2","status":"in_progress"}
tool#c3: ok
tool#c4: ok
"#
            ),
            ["Done Read m4", "InProgress Test m4"]
        );
    }

    #[test]
    fn a_check_list_in_words_counts_where_no_tool_keeps_one() {
        assert_eq!(shown("user: go\nassistant: Plan: - [x] Read\nuser: hm"), Vec::<String>::new());
        let said: longhaul_transcript::Transcript =
            [Message::user("go"), Message::assistant("Plan:\n- [x] Read\n- [ ] Test\n")]
                .into_iter()
                .collect();
        let states: Vec<TodoState> = todos(said.entries()).into_iter().map(|item| item.state).collect();
        assert_eq!(states, [TodoState::Done, TodoState::Open]);
    }

    #[test]
    fn the_boxes_of_a_pull_request_are_no_list() {
        let plan = "Plan:\n- [x] Read\n- [ ] Test\n";
        let request = "Here's the PR description:\n\n## Summary\n- Off by default\n\n## Test plan\n- [x] Run the tests\n- [ ] Verify the flag\n";
        for (texts, items) in
            [(vec![request], 0), (vec![plan, request], 2), (vec!["## Summary\n- [x] a\n- [ ] b"], 2)]
        {
            let said: longhaul_transcript::Transcript = texts.into_iter().map(Message::assistant).collect();
            assert_eq!(todos(said.entries()).len(), items);
        }
    }
}
