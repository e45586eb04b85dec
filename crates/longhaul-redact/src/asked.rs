//! What makes a bare word a secret may stand in another message: the call that printed it, the question that it answers.

use std::collections::BTreeMap;

use longhaul_transcript::{CallId, Message, Part, Role};
use serde::{Deserialize, Serialize};

use crate::asking::{asks_for_secret, printed_by};

/// How a message may tell a secret in a bare word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// A command printed it and nothing else.
    Printed,
    /// A command printed it, and others printed beside it.
    PrintedAmong,
    /// A command printed what something was encoded as, which may be anything.
    Decoded,
    /// Somebody was asked for it.
    Question,
}

/// What a conversation asks of the messages to come: which calls print a secret and wait for their results, and whether the last
/// words ask for one. It holds ids of calls, and nothing of what was said.
///
/// It follows a conversation from its first message on. A message without secrets asks the same as with them, so that it does
/// not matter which of the two is followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    calls: BTreeMap<CallId, Ask>,
    #[serde(default, skip_serializing_if = "is_false")]
    by_words: bool,
}

/// What a message answers: in which of its parts a bare word is a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    results: BTreeMap<CallId, Ask>,
    #[serde(default, skip_serializing_if = "is_false")]
    by_words: bool,
}

impl Asked {
    /// Returns whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && !self.by_words
    }

    /// Takes the next message of the conversation, and returns what it answers.
    ///
    /// A result answers the latest call with its id that waits for one, as in [`Units`](longhaul_transcript::Units).
    pub fn follow(&mut self, message: &Message) -> Answers {
        let mut answers = Answers::default();
        let is_said = message.parts.iter().any(|part| matches!(part, Part::Text(_)));
        if message.role == Role::User && is_said {
            answers.by_words = std::mem::take(&mut self.by_words);
        }
        for part in &message.parts {
            match part {
                Part::ToolCall(call) => match printed_by(call) {
                    Some(ask) => drop(self.calls.insert(call.id.clone(), ask)),
                    None => drop(self.calls.remove(&call.id)),
                },
                Part::ToolResult(result) => {
                    let ask = self.calls.remove(&result.call_id);
                    answers.results.extend(ask.map(|ask| (result.call_id.clone(), ask)));
                }
                _ => {}
            }
        }
        if message.role == Role::Assistant {
            self.by_words = message.texts().last().is_some_and(asks_for_secret);
        }
        answers
    }
}

impl Answers {
    /// Returns whether the message answers nothing that makes a bare word a secret.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty() && !self.by_words
    }

    /// Returns what the result of a call may tell.
    pub(crate) fn of_result(&self, call: &CallId) -> Option<Ask> {
        self.results.get(call).copied()
    }

    /// Returns what the words of the message may tell.
    pub(crate) fn of_words(&self) -> Option<Ask> {
        self.by_words.then_some(Ask::Question)
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
