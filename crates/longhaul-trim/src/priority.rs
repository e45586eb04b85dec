//! How much a unit matters.

use std::{collections::BTreeSet, fmt::Debug};

use longhaul_transcript::{Message, Outcome, Role, Unit};

/// How much a unit matters, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Made stale by what came later.
    Disposable,
    /// Results of tools.
    Low,
    /// What the assistant said.
    Normal,
    /// What failed, what changed something.
    Raised,
    /// What is recent.
    High,
    /// What the user said.
    Highest,
    /// Never given up.
    Pinned,
}

/// Says how much a unit matters.
pub trait Prioritizer: Debug + Send + Sync {
    /// Returns the priority of `unit`, which began `turns_from_end` turns before the end (0 for the current turn).
    fn priority(&self, unit: Unit<'_>, turns_from_end: usize) -> Priority;
}

/// Priorities by who speaks: system over user over recent over errors and edits over assistant text over tool results
/// over what was superseded, recent or not. So what a person said is the last that is dropped.
#[derive(Clone, Debug)]
pub struct ByRole {
    /// How many turns from the end count as recent. Default: 1, the current turn and the one before.
    pub recent_turns: usize,
    /// Ordinals of messages whose calls were superseded by a later one.
    pub superseded: BTreeSet<u64>,
    /// Ordinal of the first user message: the task, which is pinned.
    pub task: Option<u64>,
    /// Tool names that change something, in lower case; an exchange that called one matters more than one that only
    /// looked. A name counts when it contains one of these.
    pub changing_tools: Vec<String>,
}

impl Default for ByRole {
    fn default() -> ByRole {
        ByRole {
            recent_turns: 1,
            superseded: BTreeSet::new(),
            task: None,
            changing_tools: ["edit", "write", "patch", "create", "replace"].map(String::from).into(),
        }
    }
}

impl ByRole {
    fn changes_something(&self, message: &Message) -> bool {
        message.calls().any(|call| {
            let name = call.name.to_lowercase();
            self.changing_tools.iter().any(|tool| name.contains(tool.as_str()))
        })
    }
}

impl Prioritizer for ByRole {
    fn priority(&self, unit: Unit<'_>, turns_from_end: usize) -> Priority {
        let has_task = self.task.is_some_and(|task| unit.span().contains(task));
        if unit.is_open() || unit.is_system() || has_task {
            return Priority::Pinned;
        }
        if unit.messages().any(Message::is_user_text) {
            return Priority::Highest;
        }
        if unit.entries.iter().any(|entry| self.superseded.contains(&entry.id.ordinal)) {
            return Priority::Disposable;
        }
        let failed = |message: &Message| message.results().any(|result| result.outcome == Outcome::Failed);
        let matters = |message: &Message| failed(message) || self.changes_something(message);
        if turns_from_end <= self.recent_turns {
            return Priority::High;
        }
        if unit.messages().any(matters) {
            return Priority::Raised;
        }
        match unit.messages().any(|message| message.role == Role::Tool) || unit.is_exchange() {
            true => Priority::Low,
            false => Priority::Normal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_testkit::transcript;

    #[test]
    fn who_speaks_decides() {
        let transcript = transcript(
            "system: Be careful.\nuser: Fix it\nassistant: !read#1 {}\ntool#1: text\nassistant: !edit_file#2 {}\ntool#2: ok\nassistant: !read#3 {}\ntool#3!: no such file\nassistant: I see.\nassistant: !read#4 {}",
        );
        let by_role = ByRole { task: Some(1), superseded: [2].into(), recent_turns: 0, ..ByRole::default() };
        let priorities: Vec<_> = transcript.units().map(|unit| by_role.priority(unit, 5)).collect();
        use Priority::*;
        assert_eq!(priorities, [Pinned, Pinned, Disposable, Raised, Raised, Normal, Pinned]);
    }

    #[test]
    fn what_the_user_said_goes_last_and_what_is_recent_before_it() {
        let transcript = transcript(
            "user: Never touch main.\nassistant: !edit_file#1 {}\ntool#1: ok\nassistant: I see.\nassistant: !read#2 {}\ntool#2: text",
        );
        let by_role = ByRole::default();
        let at = |turns| transcript.units().map(|unit| by_role.priority(unit, turns)).collect::<Vec<_>>();
        use Priority::*;
        assert_eq!(at(2), [Highest, Raised, Normal, Low]);
        assert_eq!(at(1), [Highest, High, High, High]);
    }
}
