//! What a summary says, as data: one schema for every mode.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a summary says. Absent means empty, never invented; every list and text is capped where it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// What happened, in a paragraph or two. Empty in `rules` mode unless a previous summary had one.
    pub narrative: String,
    /// Bullet highlights, at most 30.
    pub key_points: Vec<String>,
    /// Who took part.
    pub participants: Vec<String>,
    /// What was decided, with its context.
    pub decisions: Vec<String>,
    /// What is to be done, by whom, until when.
    pub action_items: Vec<ActionItem>,
    /// Open questions and blockers; in a summary by rule the errors that nothing has settled.
    pub unresolved: Vec<String>,
    /// Files, symbols, ids, URLs and other names that the work uses.
    pub domain_entities: Vec<String>,
    /// Files with their final state.
    pub files: Vec<FileNote>,
    /// Commands that were run.
    pub commands: Vec<CommandNote>,
    /// Errors, and what resolved them.
    pub errors: Vec<ErrorNote>,
    /// Tools and how often they were used, with up to three notable uses each.
    pub tools_used: Vec<ToolUse>,
    /// The user's constraints, verbatim.
    pub constraints: Vec<Constraint>,
    /// The goal, as the user put it.
    pub goal: String,
    /// What was being worked on last, and the next step.
    pub current_focus: String,
    /// What a model said and the conversation does not show: it may be so, and nobody should rely on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<String>,
    /// What the checks against the conversation did to a model's words, in words without message text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
}

/// A thing to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ActionItem {
    /// Who is to do it; empty where nobody said.
    pub owner: String,
    /// What is to be done.
    pub task: String,
    /// Until when; empty where nobody said.
    pub due: String,
}

/// A file and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileNote {
    /// The path as the conversation has it.
    pub path: String,
    /// Its final state.
    pub state: FileState,
    /// A few words: how often it was edited, what it was renamed from.
    pub note: String,
}

impl FileNote {
    /// Returns `path` as it may stand in a line: what would end or hide one is spelled out. Whoever names a file can put a line
    /// end into its name, and what stands behind that must not pass for the summary's own words.
    pub fn spelled(path: &str) -> String {
        let ends_a_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let mut out = String::with_capacity(path.len());
        for c in path.chars() {
            match ends_a_line(c) {
                true => out.extend(c.escape_default()),
                false => out.push(c),
            }
        }
        out
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileState {
    /// Looked at only.
    #[default]
    Read,
    /// Made in this conversation.
    Created,
    /// Changed.
    Modified,
    /// Gone under this name; the note says under which it lives on.
    Renamed,
    /// Gone.
    Deleted,
    /// Changed and put back as it was.
    Reverted,
}

impl FileState {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            FileState::Read => "read",
            FileState::Created => "created",
            FileState::Modified => "modified",
            FileState::Renamed => "renamed",
            FileState::Deleted => "deleted",
            FileState::Reverted => "reverted",
        }
    }
}

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandNote {
    /// The command line.
    pub command: String,
    /// Its exit code, where known.
    pub exit_code: Option<i32>,
    /// How often it was run.
    pub runs: u32,
    /// What came of it, in a few words.
    pub note: String,
}

/// An error and what resolved it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorNote {
    /// The decisive line.
    pub error: String,
    /// What resolved it; empty while it is open.
    pub resolution: String,
}

/// A tool and how it was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// The tool's name.
    pub tool: String,
    /// How often it was called.
    pub count: u32,
    /// Up to three notable uses.
    pub notable_uses: Vec<String>,
}

/// Something the user demanded, in the user's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constraint {
    /// The sentence, verbatim.
    pub text: String,
    /// Ordinal of the message it stands in.
    pub message: u64,
    /// Ordinal of the later message that takes it back, where one does. It stays in the record.
    pub superseded_by: Option<u64>,
    /// The question or proposal that it answers, where it says too little without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

impl Constraint {
    /// Returns what was demanded, with what it answers: `yes, always (to: "Shall I run the linter?")`.
    pub fn told(&self) -> Cow<'_, str> {
        match &self.answers {
            Some(asked) => Cow::Owned(format!("{}{ANSWERS}{asked}{ASKED_END}", self.text.trim())),
            None => Cow::Borrowed(self.text.trim()),
        }
    }

    /// Returns a demand that was said in the message `message`, as [`told`](Self::told) tells it.
    pub fn read_back(told: &str, message: u64) -> Constraint {
        let read = told.strip_suffix(ASKED_END).and_then(|told| told.split_once(ANSWERS));
        let (text, answers) = read.map_or((told, None), |(text, asked)| (text, Some(asked.to_owned())));
        Constraint { text: text.to_owned(), message, answers, ..Constraint::default() }
    }
}

/// Stands before and behind what is answered.
const ANSWERS: &str = " (to: \"";
const ASKED_END: &str = "\")";
