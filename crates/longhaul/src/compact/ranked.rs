//! How much each unit of a conversation matters, where units are dropped by priority.

use longhaul_transcript::{Entry, Unit};
use longhaul_trim::{ByRole, Prioritizer, Priority, repeated_calls};

use super::standing;

/// The priorities of units that are looked at in their order.
#[derive(Debug)]
pub(crate) struct Ranked {
    by_role: ByRole,
    /// How many requests the units hold that are not looked at yet.
    requests_left: usize,
}

impl Ranked {
    /// Returns the priorities for the units of `entries`, where the message `task` is the task.
    pub(crate) fn new(entries: &[Entry], task: Option<u64>) -> Ranked {
        let by_role = ByRole { superseded: repeated_calls(entries), task, ..ByRole::default() };
        Ranked { by_role, requests_left: requests(entries) }
    }

    /// Returns the priority of the next unit. One with a message that `stays` is not given up.
    pub(crate) fn next(&mut self, unit: Unit<'_>, stays: impl Fn(&Entry) -> bool) -> Priority {
        self.requests_left -= requests(unit.entries);
        match unit.entries.iter().any(stays) {
            true => Priority::Pinned,
            false => self.by_role.priority(unit, self.requests_left),
        }
    }
}

fn requests(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| standing::is_request(&entry.message)).count()
}
