//! Counts by kind of content, which is what a calibration can tell apart.

use std::ops::{Add, AddAssign, Sub};

use longhaul_transcript::{Message, Part, Tokens};
use serde::{Deserialize, Serialize};

use crate::TokenCounter;

/// A kind of content. Providers render and bill each in its own way, so each can have its own ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentClass {
    /// What people and models say, and what frames it.
    Text,
    /// Tool calls: names and arguments.
    Calls,
    /// What tools answered.
    Results,
    /// Reasoning.
    Reasoning,
    /// Images, documents, sounds.
    Media,
}

/// The number of classes.
pub(crate) const CLASSES: usize = ContentClass::Media as usize + 1;

impl ContentClass {
    /// All classes.
    pub const ALL: [ContentClass; CLASSES] = [
        ContentClass::Text,
        ContentClass::Calls,
        ContentClass::Results,
        ContentClass::Reasoning,
        ContentClass::Media,
    ];
}

/// Raw counts by [`ContentClass`], as a counter made them. Sums and differences saturate.
///
/// ```
/// use longhaul_tokens::{BytesPer4, ClassCounts, ContentClass};
/// use longhaul_transcript::{Message, Tokens};
///
/// let counts = ClassCounts::of_message(&BytesPer4, &Message::user("eight ch"));
/// assert_eq!(counts.get(ContentClass::Text), Tokens(3 + 1 + 2)); // frame, role, text
/// assert_eq!(counts.total(), Tokens(6));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClassCounts([Tokens; CLASSES]);

impl ClassCounts {
    /// Returns the counts of a message: together what [`TokenCounter::count_message`] gives.
    pub fn of_message<C: TokenCounter + ?Sized>(counter: &C, message: &Message) -> ClassCounts {
        let mut counts = ClassCounts::default();
        for part in &message.parts {
            let class = match part {
                Part::ToolCall(_) => ContentClass::Calls,
                Part::ToolResult(result) => {
                    // Images inside results are billed as images.
                    let media = result.content.iter().filter(|part| matches!(part, Part::Media(_)));
                    counts.record(ContentClass::Media, media.map(|part| counter.count_part(part)).sum());
                    let rest = result.content.iter().filter(|part| !matches!(part, Part::Media(_)));
                    counts.record(ContentClass::Results, rest.map(|part| counter.count_part(part)).sum());
                    continue;
                }
                Part::Reasoning(_) => ContentClass::Reasoning,
                Part::Media(_) => ContentClass::Media,
                _ => ContentClass::Text,
            };
            counts.record(class, counter.count_part(part));
        }
        // What is left is the frame.
        let frame = counter.count_message(message) - counts.total();
        counts.record(ContentClass::Text, frame);
        counts
    }

    /// Adds `tokens` of a class, such as tool definitions to [`ContentClass::Text`].
    pub fn record(&mut self, class: ContentClass, tokens: Tokens) {
        self.0[class as usize] += tokens;
    }

    /// Returns the tokens of a class.
    pub fn get(&self, class: ContentClass) -> Tokens {
        self.0[class as usize]
    }

    /// Returns the tokens of all classes.
    pub fn total(&self) -> Tokens {
        self.0.into_iter().sum()
    }

    /// Returns the counts as numbers, in the order of [`ContentClass::ALL`].
    pub(crate) fn as_numbers(&self) -> [f64; CLASSES] {
        self.0.map(|tokens| tokens.0 as f64)
    }
}

impl Add for ClassCounts {
    type Output = ClassCounts;
    fn add(mut self, other: ClassCounts) -> ClassCounts {
        self += other;
        self
    }
}

impl AddAssign for ClassCounts {
    fn add_assign(&mut self, other: ClassCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, tokens)| *sum += tokens);
    }
}

impl Sub for ClassCounts {
    type Output = ClassCounts;
    fn sub(mut self, other: ClassCounts) -> ClassCounts {
        self.0.iter_mut().zip(other.0).for_each(|(rest, tokens)| *rest -= tokens);
        self
    }
}

#[cfg(test)]
mod tests {
    use longhaul_testkit::{conversation, transcript};
    use proptest::prelude::*;

    use super::*;
    use crate::BytesPer4;

    proptest! {
        #[test]
        fn classes_add_up_to_the_message(transcript in conversation(12)) {
            for entry in transcript.entries() {
                let counts = ClassCounts::of_message(&BytesPer4, &entry.message);
                prop_assert_eq!(counts.total(), BytesPer4.count_message(&entry.message));
            }
        }
    }

    #[test]
    fn an_exchange_is_calls_and_results() {
        let messages = transcript("assistant: Look. !read#c1 {\"path\":\"a\"}\ntool#c1: 12345678");
        let counts: ClassCounts = messages.entries().iter().fold(ClassCounts::default(), |sum, entry| {
            sum + ClassCounts::of_message(&BytesPer4, &entry.message)
        });
        assert_eq!(counts.get(ContentClass::Calls), Tokens(1 + 3));
        assert_eq!(counts.get(ContentClass::Results), Tokens(2));
    }
}
