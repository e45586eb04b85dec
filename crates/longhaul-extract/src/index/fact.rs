//! A fact and its history.

use longhaul_transcript::ToolCall;
use serde::{Deserialize, Serialize};

use crate::{
    ToolFamily,
    atoms::{AtomKind, FactClass},
};

/// One fact: a literal and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The literal.
    pub name: Box<str>,
    /// What it looks like.
    pub kind: AtomKind,
    /// How often it was mentioned.
    pub mentions: u32,
    /// In how many messages.
    pub messages: u32,
    /// Mentions by the user.
    pub user: u16,
    /// Mentions in the assistant's prose.
    pub prose: u16,
    /// Mentions in key fields of calls: paths, commands, patterns, ids.
    pub key: u16,
    /// Mentions in text that a call writes: contents, edits, long scripts.
    pub body: u16,
    /// Mentions in tool results.
    pub output: u32,
    /// Mentions in key fields of calls that read a file.
    pub read: u16,
    /// Mentions in key fields of calls that write or edit a file.
    pub edited: u16,
    /// Mentions in key fields of calls that run a command.
    pub shell: u16,
    /// Whether the first user message holds it.
    pub in_task: bool,
    /// Whether it needs no keeping: the system prompt or a tool's definition shows it.
    pub standing: bool,
    /// Where it was first mentioned, in tokens (bytes / 4) from the start of the conversation.
    pub first: u32,
    /// Where it was last mentioned.
    pub last: u32,
    /// Where the assistant last mentioned it, in prose or in a call.
    pub last_assistant: Option<u32>,
    /// Ordinal of the message that first mentioned it.
    pub first_message: u32,
    /// Ordinal of the message that last mentioned it.
    pub last_message: u32,
    /// How many facts stand in the smallest message that mentions it.
    pub crowd: u32,
}

impl Fact {
    /// Returns the class of things the fact names.
    pub fn class(&self) -> FactClass {
        self.kind.class()
    }

    /// Returns whether only tool results have shown it.
    pub fn is_untouched(&self) -> bool {
        self.output > 0 && self.last_assistant.is_none() && self.user == 0
    }

    /// Notes one more mention.
    pub(super) fn touch(&mut self, place: Place, family: ToolUse, is_task: bool, at: u32, ordinal: u32) {
        if place == Place::Standing {
            self.standing = true;
            return;
        }
        if self.mentions == 0 {
            (self.first, self.first_message) = (at, ordinal);
        }
        if self.mentions == 0 || self.last_message != ordinal {
            self.messages += 1;
        }
        self.mentions = self.mentions.saturating_add(1);
        (self.last, self.last_message) = (at, ordinal);
        self.in_task |= is_task;
        match place {
            Place::User => more(&mut self.user),
            Place::Prose => more(&mut self.prose),
            Place::Key => more(&mut self.key),
            Place::Body => more(&mut self.body),
            Place::Output | Place::Standing => self.output = self.output.saturating_add(1),
        }
        if matches!(place, Place::Prose | Place::Key | Place::Body) {
            self.last_assistant = Some(at);
        }
        if place == Place::Key {
            let uses = [
                (&mut self.read, family.reads),
                (&mut self.edited, family.edits),
                (&mut self.shell, family.runs),
            ];
            uses.into_iter().filter(|(_, used)| *used).for_each(|(counter, _)| more(counter));
        }
    }
}

/// Where in the conversation a literal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The user's words.
    User,
    /// The assistant's words.
    Prose,
    /// A key field of a call.
    Key,
    /// Text that a call writes.
    Body,
    /// A tool result.
    Output,
    /// The system prompt, or a name out of a tool's definition.
    Standing,
}

/// What a tool is used for, as far as its name tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolUse {
    /// It reads or views a file.
    pub reads: bool,
    /// It writes, edits or creates.
    pub edits: bool,
    /// It runs a command.
    pub runs: bool,
}

impl ToolUse {
    /// Returns what a tool of this name does, by the family that its name tells.
    pub fn of(tool: &str) -> ToolUse {
        let family = crate::family(&ToolCall::function("", tool, "{}"));
        ToolUse {
            reads: family == ToolFamily::Read,
            edits: family.changes_files(),
            runs: family.runs_commands(),
        }
    }
}

/// What kind of work a conversation is. It decides which facts are likely to be needed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Domain {
    /// Work on files: what was touched comes back.
    #[default]
    Coding,
    /// Looking up and changing records: ids and amounts out of tool results come back.
    Service,
    /// People talking, without tools.
    Talk,
}

fn more(counter: &mut u16) {
    *counter = counter.saturating_add(1);
}
