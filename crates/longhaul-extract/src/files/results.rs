//! The results of calls, as they are asked for.

use std::collections::VecDeque;

use hashbrown::HashMap;
use longhaul_transcript::{Entry, ToolResult};

/// The results that calls wait for. They mostly follow at once, so that few are held at a time. Some clients give each call
/// the same id: its results come in the order of the calls.
pub(super) struct Results<'e> {
    /// What was not looked through yet.
    ahead: &'e [Entry],
    found: HashMap<&'e str, VecDeque<&'e ToolResult>>,
}

impl<'e> Results<'e> {
    pub(super) fn new(entries: &'e [Entry]) -> Results<'e> {
        Results { ahead: entries, found: HashMap::new() }
    }

    /// Returns the result of `call`, which is asked for once.
    pub(super) fn of(&mut self, call: &str) -> Option<&'e ToolResult> {
        loop {
            if let Some(waiting) = self.found.get_mut(call) {
                let result = waiting.pop_front();
                if waiting.is_empty() {
                    self.found.remove(call);
                }
                return result;
            }
            let (next, ahead) = self.ahead.split_first()?;
            self.ahead = ahead;
            for result in next.message.results() {
                self.found.entry(result.call_id.as_str()).or_default().push_back(result);
            }
        }
    }
}
