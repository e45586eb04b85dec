//! Whether the newest exchange is still open, known without looking back.

use std::collections::BTreeSet;

use longhaul_transcript::{CallId, Message, Part, Role};
use serde::{Deserialize, Serialize};

/// The newest exchange, followed message by message: which of its calls wait for a result.
///
/// It agrees with [`Units`](longhaul_transcript::Units) on whether the last unit is open, for one message's work a push.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// Ordinal of its first message.
    start: u64,
    waiting: BTreeSet<CallId>,
    /// The run of assistant messages that the last message belongs to began here.
    run: Option<u64>,
    last: Last,
    /// Ordinal of the last message, and of the last one that ended or began a turn.
    newest: u64,
    words: u64,
}

/// An agent that works by itself ends no turn for hours. From this many messages on, each finished exchange counts as
/// an end: what saves money there saves it for the rest of the loop.
const LONG_LOOP: u64 = 16;

/// What the last message was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Last {
    /// Nothing was said yet.
    #[default]
    Nothing,
    /// A call, or a result that leaves others waiting.
    Open,
    /// A result that completes its exchange: the model goes on from here.
    Result,
    /// Words: the end of a turn, or its beginning.
    Words,
}

impl Exchange {
    /// Follows the next message.
    pub(super) fn push(&mut self, ordinal: u64, message: &Message) {
        let has_calls = message.calls().next().is_some();
        let answers = message.results().any(|result| self.waiting.contains(&result.call_id));
        let leads_on = message.role == Role::Assistant
            && (has_calls || message.parts.iter().any(|part| matches!(part, Part::Reasoning(_))));
        match (leads_on, self.run) {
            (true, None) => self.run = Some(ordinal),
            (false, _) if message.role != Role::Assistant => self.run = None,
            _ => {}
        }
        if has_calls {
            // Calls that were left behind unanswered are a fault of the source, unless they belong to this very run.
            let start = self.run.unwrap_or(ordinal);
            if self.waiting.is_empty() || self.start < start {
                self.waiting.clear();
                self.start = start;
            }
            self.waiting.extend(message.calls().map(|call| call.id.clone()));
        }
        for result in message.results() {
            self.waiting.remove(&result.call_id);
        }
        self.last = match (has_calls || answers, self.waiting.is_empty()) {
            (true, false) => Last::Open,
            (true, true) => Last::Result,
            (false, _) if message.results().next().is_some() => Last::Result,
            (false, _) => Last::Words,
        };
        self.newest = ordinal;
        if self.last == Last::Words {
            self.words = ordinal;
        }
    }

    /// Returns the ordinal of the first message of the open exchange, where there is one.
    pub(super) fn open_from(&self) -> Option<u64> {
        (self.last == Last::Open).then_some(self.start)
    }

    /// Returns whether the last message is a result that the model has yet to read.
    pub(super) fn is_unread(&self) -> bool {
        self.last == Last::Result
    }

    /// Returns the calls that wait for their results.
    pub(super) fn waiting(&self) -> &BTreeSet<CallId> {
        &self.waiting
    }

    /// Returns whether a turn has just ended or begun, or an exchange of a long loop has: nothing is under way that a
    /// rewrite would interrupt.
    pub(super) fn is_turn_boundary(&self) -> bool {
        let is_long_loop = self.newest - self.words >= LONG_LOOP;
        matches!(self.last, Last::Nothing | Last::Words) || (is_long_loop && self.last == Last::Result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_testkit::{conversation, transcript};
    use longhaul_transcript::Transcript;
    use proptest::prelude::*;

    fn follow(transcript: &Transcript) -> Exchange {
        let mut exchange = Exchange::default();
        for entry in transcript.entries() {
            exchange.push(entry.id.ordinal, &entry.message);
        }
        exchange
    }

    fn open_unit(transcript: &Transcript) -> Option<u64> {
        transcript.units().last().filter(|unit| unit.is_open()).map(|unit| unit.span().start)
    }

    #[test]
    fn parallel_calls_are_open_until_the_last_result() {
        let text = "user: go\nassistant: !a#1 {} !b#2 {}\ntool#1: x";
        assert_eq!(follow(&transcript(text)).open_from(), Some(1));
        let whole = follow(&transcript(&format!("{text}\ntool#2: y")));
        assert_eq!((whole.open_from(), whole.is_turn_boundary()), (None, false));
        assert!(follow(&transcript(&format!("{text}\ntool#2: y\nassistant: done"))).is_turn_boundary());
    }

    #[test]
    fn in_a_long_loop_each_finished_exchange_ends_something() {
        let mut said = "user: go\n".to_owned();
        for nth in 0..12 {
            said.push_str(&format!("assistant: !a#{nth} {{}}\n"));
            assert!(!follow(&transcript(&said)).is_turn_boundary(), "{nth} is open");
            said.push_str(&format!("tool#{nth}: x\n"));
            assert_eq!(follow(&transcript(&said)).is_turn_boundary(), nth >= 7, "after {nth}");
        }
    }

    #[test]
    fn a_call_that_was_left_behind_is_not_open() {
        let left = transcript("user: go\nassistant: !a#1 {}\nuser: never mind");
        assert_eq!(follow(&left).open_from(), open_unit(&left));
        assert!(follow(&left).is_turn_boundary());
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_units_at_every_prefix(transcript in conversation(12)) {
            let mut prefix = Transcript::new();
            let mut exchange = Exchange::default();
            for entry in transcript.entries() {
                let id = prefix.push(entry.message.clone());
                exchange.push(id.ordinal, &entry.message);
                prop_assert_eq!(exchange.open_from(), open_unit(&prefix));
            }
        }
    }
}
