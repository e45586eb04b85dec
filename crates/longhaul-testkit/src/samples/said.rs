//! What one message says, before it is spelled.

use longhaul_transcript::Role;
use serde_json::Value;

/// What one message says.
#[derive(Clone, Debug)]
pub struct Said {
    /// Who says it.
    pub role: Role,
    /// What.
    pub pieces: Vec<Piece>,
    /// How it is spelled where the format leaves a choice: with ids that may be missing, or fields that may be null.
    pub is_full: bool,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Words.
    Text(Text),
    /// Reasoning, most often sealed.
    Reasoning,
    /// A call.
    Call {
        /// One of [`IDS`].
        id: &'static str,
        /// Its result stands with it, in formats whose messages hold both.
        is_answered: bool,
    },
    /// A result.
    Result {
        /// That of its call.
        id: &'static str,
        /// What the tool said.
        text: Text,
        /// Whether it failed.
        has_failed: bool,
    },
}

/// What a text says.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// A word.
    Word,
    /// A blank.
    Blank,
    /// Nothing.
    Empty,
}

/// Ids of calls: few, so that calls and results meet, and two that not every format takes.
pub const IDS: [&str; 6] = ["a", "b", "c", "d", "x.1", LONG];
const LONG: &str = "idididididididididididididididididididididididididididididididididid";

/// Spells messages, each text and reasoning of a history with a word of its own.
#[derive(Debug, Default)]
pub struct Speller {
    words: usize,
}

impl Speller {
    /// Returns a word that was not said yet.
    pub fn word(&mut self) -> String {
        self.words += 1;
        format!("w{:04}", self.words)
    }

    /// Returns a text that says so much.
    pub fn text(&mut self, text: Text) -> String {
        match text {
            Text::Word => self.word(),
            Text::Blank => " ".to_owned(),
            Text::Empty => String::new(),
        }
    }
}

/// Returns the tool that call `id` is to: Gemini may leave out the id, and the name is taken for it.
pub fn name(id: &str) -> &str {
    if IDS[..4].contains(&id) { id } else { "look" }
}

/// Returns an item, with an id where it has one.
pub(super) fn with_id(mut item: Value, has_id: bool, id: &str) -> Value {
    if has_id {
        item["id"] = id.into();
    }
    item
}
