//! Calls that wait for their results.

use std::collections::VecDeque;

use hashbrown::HashMap;
use longhaul_transcript::CallId;

/// What is known of calls until their results come. Some clients give all calls of a message the same id: their results
/// come in the order of the calls.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    calls: HashMap<CallId, Call<T>>,
}

#[derive(Clone, Debug)]
struct Call<T> {
    message: u64,
    first: T,
    /// What the calls after it have by the same id, mostly none.
    more: VecDeque<T>,
}

impl<T> Waiting<T> {
    /// Notes `what` of the call `id`, made in `message`. A call of an earlier message by the same id waits no longer.
    pub(crate) fn push(&mut self, id: &CallId, message: u64, what: T) {
        match self.calls.get_mut(id).filter(|call| call.message == message) {
            Some(call) => call.more.push_back(what),
            None => {
                let call = Call { message, first: what, more: VecDeque::new() };
                self.calls.insert(id.clone(), call);
            }
        }
    }

    /// Returns what was noted of the call that a result answers.
    pub(crate) fn answered(&mut self, id: &CallId) -> Option<T> {
        let call = self.calls.get_mut(id)?;
        match call.more.pop_front() {
            Some(next) => Some(std::mem::replace(&mut call.first, next)),
            None => self.calls.remove(id).map(|call| call.first),
        }
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Waiting<T> {
        Waiting { calls: HashMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_share_an_id_are_answered_in_their_order() {
        let id = CallId::from("call");
        let mut waiting = Waiting::default();
        waiting.push(&id, 1, "never answered");
        for call in ["first", "second"] {
            waiting.push(&id, 3, call);
        }
        let answers = [(); 3].map(|()| waiting.answered(&id));
        assert_eq!(answers, [Some("first"), Some("second"), None]);
    }
}
