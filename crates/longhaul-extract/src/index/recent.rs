//! The words of what is being said now: a fact whose name is made of them is likely to be named next.

use std::collections::VecDeque;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::name_parts;

/// The user's last message and the assistant's last messages, prose and key fields of calls, as text: it is cut into words
/// only when somebody ranks. Only the start of each is held.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Recent {
    user: String,
    /// Oldest first.
    assistant: VecDeque<String>,
}

/// The words that were said last, to compare names with.
#[derive(Clone, Debug, Default)]
pub struct Said {
    words: HashSet<u32>,
}

/// How many of the assistant's messages are recent. Any number from six to 24 served as well (`docs/ranking.md`).
const MESSAGES: usize = 12;

/// Bytes of one text that are held.
const MOST_OF_TEXT: usize = 4000;

/// Bytes of one message that are held.
const MOST_OF_MESSAGE: usize = 16_000;

/// Shorter words say too little: `a`, `rs`, `v2`.
const LEAST_CHARS: usize = 3;

/// The same where a character is a syllable or a word.
const LEAST_WIDE_CHARS: usize = 2;

impl Recent {
    /// Returns the words.
    pub(super) fn said(&self) -> Said {
        let texts = [&self.user].into_iter().chain(&self.assistant);
        Said { words: texts.flat_map(|text| words(text)).collect() }
    }

    /// The user begins a message; the one before is not the last any more.
    pub(super) fn user_begins(&mut self) {
        self.user.clear();
    }

    /// The assistant begins a message.
    pub(super) fn assistant_begins(&mut self) {
        let is_full = self.assistant.len() == MESSAGES;
        let mut message = is_full.then(|| self.assistant.pop_front()).flatten().unwrap_or_default();
        message.clear();
        self.assistant.push_back(message);
    }

    /// Reads what the user says.
    pub(super) fn user_says(&mut self, text: &str) {
        add(&mut self.user, text);
    }

    /// Reads what the assistant says, or asks of a tool.
    pub(super) fn assistant_says(&mut self, text: &str) {
        if let Some(message) = self.assistant.back_mut() {
            add(message, text);
        }
    }

    /// Returns about how many bytes it holds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.user.capacity() + self.assistant.iter().map(String::capacity).sum::<usize>()
    }
}

impl Said {
    /// Returns which share of the words in `name` was said, 0.0 to 1.0; short words do not count.
    pub fn share(&self, name: &str) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let (mut all, mut said) = (0_u32, 0_u32);
        for word in words(name) {
            all += 1;
            said += u32::from(self.words.contains(&word));
        }
        f64::from(said) / f64::from(all.max(1))
    }
}

fn add(message: &mut String, text: &str) {
    let room = MOST_OF_MESSAGE.saturating_sub(message.len()).min(MOST_OF_TEXT);
    message.push_str(&text[..text.floor_char_boundary(room)]);
    message.push('\n');
}

/// The words of `text` that count, in lower case, as hashes.
fn words(text: &str) -> impl Iterator<Item = u32> {
    let long = |word: &&str| match word.is_ascii() {
        true => word.len() >= LEAST_CHARS,
        false => word.chars().nth(LEAST_WIDE_CHARS - 1).is_some(),
    };
    name_parts(text).filter(long).map(hash)
}

/// FNV-1a over the lower-case form: the same on every machine, and a word is short.
fn hash(word: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let start = 0x811c_9dc5;
    match word.is_ascii() {
        true => word.bytes().map(|byte| byte.to_ascii_lowercase()).fold(start, step),
        false => word.to_lowercase().bytes().fold(start, step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_what_was_said_last() {
        let mut recent = Recent::default();
        recent.user_begins();
        recent.user_says("Why does the retry loop never stop?");
        assert_eq!(recent.said().share("RetryLoop"), 1.0);
        assert_eq!(recent.said().share("src/retry/mod.rs"), 1.0 / 3.0);
        assert_eq!(recent.said().share("parse_header"), 0.0);
        recent.user_begins();
        recent.user_says("Now the header.");
        let said = recent.said();
        assert_eq!((said.share("RetryLoop"), said.share("parse_header")), (0.0, 0.5));
    }

    #[test]
    fn what_the_assistant_said_is_recent_for_a_while() {
        let mut recent = Recent::default();
        recent.assistant_begins();
        recent.assistant_says("The queue is full; the queue overflows.");
        for _ in 1..MESSAGES {
            assert_eq!(recent.said().share("queue"), 1.0);
            recent.assistant_begins();
            recent.assistant_says("Still at it.");
        }
        assert_eq!(recent.said().share("queue"), 1.0);
        recent.assistant_begins();
        assert_eq!(recent.said().share("queue"), 0.0);
        assert_eq!(recent.said().share("x"), 0.0);
    }
}
