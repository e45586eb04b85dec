//! What is kept or dropped whole.

use std::collections::HashMap;

use crate::{Entry, Message, Part, Role, Span};

/// A run of messages that is kept, digested or dropped whole: one message, or an exchange (a tool call with all its
/// results). Every dialect rejects a call without its result and a result without its call.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The messages, oldest first; never empty.
    pub entries: &'a [Entry],
    /// Whether its calls and results are complete.
    pub state: UnitState,
}

/// Whether a unit's calls and results are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitState {
    /// Every call has its result, every result its call.
    Closed,
    /// The last unit, with calls still to be answered. It is never cut, summarized or reordered.
    Open,
    /// A fault of the source: a call that never got its result, or a result without a call.
    Broken,
}

/// The units of a run of entries, in order. See [`Unit`].
#[derive(Clone, Debug)]
pub struct Units<'a> {
    entries: &'a [Entry],
    links: Vec<Link>,
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// One past the last entry that answers a call of this one; the entry's own index plus one where there is none.
    reach: usize,
    /// A call of this entry has a result, be it in the entry itself.
    answered: bool,
    /// A call of this entry has no result.
    unanswered: bool,
    /// A result of this entry has no call.
    orphan: bool,
}

impl<'a> Units<'a> {
    /// Splits `entries` into units. Linear in the number of entries, whatever the ids are.
    ///
    /// A result answers the latest unanswered call with its id before it, so that ids which repeat from turn to turn
    /// (local models write `call_1` each time) pair up rightly.
    pub fn new(entries: &'a [Entry]) -> Units<'a> {
        let link = |reach| Link { reach, answered: false, unanswered: false, orphan: false };
        let mut links: Vec<Link> = (1..=entries.len()).map(link).collect();
        let mut waiting: HashMap<&str, usize> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for part in &entry.message.parts {
                match part {
                    Part::ToolCall(call) => {
                        if let Some(earlier) = waiting.insert(call.id.as_str(), index) {
                            links[earlier].unanswered = true;
                        }
                    }
                    Part::ToolResult(result) => match waiting.remove(result.call_id.as_str()) {
                        Some(call) => {
                            links[call].reach = links[call].reach.max(index + 1);
                            links[call].answered = true;
                        }
                        None => links[index].orphan = true,
                    },
                    _ => {}
                }
            }
        }
        for index in waiting.into_values() {
            links[index].unanswered = true;
        }
        Units { entries, links, next: 0 }
    }
}

impl<'a> Iterator for Units<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        let start = self.next;
        let (mut end, mut at) = (self.links.get(start)?.reach, start);
        let (mut answered, mut unanswered, mut orphan) = (false, false, false);
        while at < end {
            let link = self.links[at];
            end = end.max(link.reach);
            answered |= link.answered;
            unanswered |= link.unanswered;
            orphan |= link.orphan;
            at += 1;
            if at == end && !answered && self.run_goes_on(start, at) {
                end += 1;
            }
        }
        self.next = end;
        let state = match (unanswered, orphan) {
            (true, _) if end == self.entries.len() => UnitState::Open,
            (false, false) => UnitState::Closed,
            _ => UnitState::Broken,
        };
        Some(Unit { entries: &self.entries[start..end], state })
    }
}

impl Units<'_> {
    /// Returns whether the entry at `at` continues the assistant's message that began at `start`. Dialects that write
    /// one item a line (Responses, Codex) spread one answer over several: reasoning, words, parallel calls.
    fn run_goes_on(&self, start: usize, at: usize) -> bool {
        let is_assistant = |message: &Message| message.role == Role::Assistant;
        let leads_on = |message: &Message| {
            message.parts.iter().any(|part| matches!(part, Part::ToolCall(_) | Part::Reasoning(_)))
        };
        let Some(next) = self.entries.get(at) else { return false };
        is_assistant(&next.message)
            && self.entries[start..at].iter().all(|entry| is_assistant(&entry.message))
            && self.entries[start..at].iter().any(|entry| leads_on(&entry.message))
    }
}

impl<'a> Unit<'a> {
    /// Returns the ordinals of the unit's messages.
    pub fn span(&self) -> Span {
        let start = self.entries.first().map_or(0, |entry| entry.id.ordinal);
        Span { start, end: start + self.entries.len() as u64 }
    }

    /// Returns the unit's messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &'a Message> + use<'a> {
        self.entries.iter().map(|entry| &*entry.message)
    }

    /// Returns whether calls are still to be answered.
    pub fn is_open(&self) -> bool {
        self.state == UnitState::Open
    }

    /// Returns whether this is an exchange: it holds a tool call or a tool result.
    pub fn is_exchange(&self) -> bool {
        self.messages().any(|message| {
            message.parts.iter().any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_)))
        })
    }

    /// Returns whether the unit is a standing instruction.
    pub fn is_system(&self) -> bool {
        self.messages().all(Message::is_system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Reasoning, ToolCall, ToolResult, Transcript};
    use proptest::prelude::*;

    /// One letter a message: `u` user, `a` assistant, `r` reasoning, a digit a call, `+digit` its result.
    fn transcript(script: &str) -> Transcript {
        let mut transcript = Transcript::new();
        let mut result = false;
        for letter in script.chars() {
            let message = match letter {
                'u' => Message::user("u"),
                'a' => Message::assistant("a"),
                'r' => Message::new(
                    Role::Assistant,
                    vec![Part::Reasoning(Reasoning {
                        text: String::new(),
                        opaque_bytes: 9,
                        hash: crate::ContentHash::of(b"r"),
                    })],
                ),
                '+' => {
                    result = true;
                    continue;
                }
                id if result => {
                    result = false;
                    let part = ToolResult::text(id.to_string(), "out", Outcome::Unstated);
                    Message::new(Role::Tool, vec![Part::ToolResult(part)])
                }
                id => Message::new(
                    Role::Assistant,
                    vec![Part::ToolCall(ToolCall::function(id.to_string(), "bash", "{}"))],
                ),
            };
            transcript.push(message);
        }
        transcript
    }

    fn split(script: &str) -> String {
        let transcript = transcript(script);
        let units = transcript.units().map(|unit| {
            let mark = match unit.state {
                UnitState::Closed => "",
                UnitState::Open => "?",
                UnitState::Broken => "!",
            };
            format!("{}{mark}", unit.entries.len())
        });
        units.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_exchange_is_one_unit() {
        assert_eq!(split("ua1+1a"), "1 1 2 1");
        assert_eq!(split("u12+1+2a"), "1 4 1"); // parallel calls, one item each
        assert_eq!(split("u1u+1a"), "1 3 1"); // something said in between stays inside
        assert_eq!(split("ura1+1"), "1 4"); // reasoning belongs to what it produced
    }

    #[test]
    fn the_last_exchange_may_be_open() {
        assert_eq!(split("u1"), "1 1?");
        assert_eq!(split("u12+1"), "1 3?");
        assert_eq!(split("u12"), "1 2?");
    }

    #[test]
    fn faults_of_the_source_are_named() {
        assert_eq!(split("u1ua"), "1 1! 1 1"); // never answered
        assert_eq!(split("u+1a"), "1 1! 1"); // never asked
        assert_eq!(split("u1+1+1"), "1 2 1!"); // answered twice
    }

    #[test]
    fn ids_may_repeat_from_turn_to_turn() {
        assert_eq!(split("u1+1u1+1"), "1 2 1 2");
    }

    #[test]
    fn a_message_with_its_own_results_is_a_unit() {
        let mut transcript = Transcript::new();
        for id in ["1", "2"] {
            let call = Part::ToolCall(ToolCall::function(id, "ls", "{}"));
            let result = Part::ToolResult(ToolResult::text(id, "out", Outcome::Unstated));
            transcript.push(Message::new(Role::Assistant, vec![call, result]));
        }
        assert_eq!(transcript.units().map(|unit| unit.entries.len()).collect::<Vec<_>>(), [1, 1]);
    }

    proptest! {
        #[test]
        fn units_partition_the_transcript(script in "[ua123r]{0,30}(\\+[123][ua12r]?){0,20}") {
            let transcript = transcript(&script);
            let mut at = 0;
            for unit in transcript.units() {
                prop_assert!(!unit.entries.is_empty());
                prop_assert_eq!(unit.span().start, at);
                at = unit.span().end;
                prop_assert!(!unit.is_open() || at == transcript.len() as u64);
            }
            prop_assert_eq!(at, transcript.len() as u64);
        }

        #[test]
        fn a_closed_unit_pairs_every_call(script in "[ua123]{0,12}(\\+[123]){0,6}") {
            let transcript = transcript(&script);
            for unit in transcript.units().filter(|unit| unit.state == UnitState::Closed) {
                let calls = unit.messages().flat_map(Message::calls).count();
                let results = unit.messages().flat_map(Message::results).count();
                prop_assert_eq!(calls, results);
            }
        }
    }
}
