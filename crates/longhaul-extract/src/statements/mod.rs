//! Statements: what was said, found, changed and shown, in pieces that each say something on their own.
//!
//! Each message is read once, when it is pushed, into sentences, whole list items, table rows, records, lines of output
//! and lines that edits add or remove. A summary is made of these, verbatim; wrapped lines are joined with one blank. The
//! pool is bounded: beyond its bound the statements that are least likely to be needed are dropped, by what is known of
//! them when they are read.

use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};
use longhaul_transcript::{CallId, Entry, Message, Origin};
use serde::{Deserialize, Serialize};

use crate::{CallView, speaker::Speakers};

mod changes;
mod features;
pub(crate) mod read;
mod records;
mod score;
mod signs;
mod split;
mod stored;
mod thoughts;
mod told;
mod words;

pub use features::{FEATURES, N_FEATURES};
pub use read::{form as statement_form, key as statement_key};
pub use score::{StatementWeights, WeightsError};
pub(crate) use stored::{PoolHead, PoolLists};
pub use words::log2_sixteenths;

use signs::Signs;
pub(crate) use words::Word;
use words::Words;

/// One statement, in the words of its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Ordinal of the message that makes it.
    pub message: u32,
    /// Who makes it, and how.
    pub kind: StatementKind,
    /// What it says.
    pub text: Box<str>,
    /// What it answers, where it is a short answer: the question or proposal before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Box<str>>,
    /// The place of its [`StatementSource`], where a call made it.
    pub(crate) source: Option<u32>,
    /// What it looks like.
    pub(crate) signs: Signs,
    /// Its place in its message, from the start, and how many there are.
    pub(crate) nth: u16,
    pub(crate) of: u16,
    /// Hash of the text, white space and case apart.
    pub(crate) key: u32,
    /// Hashes of its words, sorted, each once.
    pub(crate) words: Box<[u32]>,
    /// What it is worth by what is known of it alone.
    pub(crate) prior: i32,
}

/// Who makes a statement, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StatementKind {
    /// A person, in words of their own.
    Person,
    /// What a person put in: output, code, somebody else's text.
    Pasted,
    /// The harness: notices, skills, environment.
    Harness,
    /// Another model's report, or a summary of what was said before.
    Report,
    /// The model, in the message that ends its turn.
    Answer,
    /// The model, on the way.
    Prose,
    /// The model to itself, in reasoning that can be read: what it settles there.
    Thought,
    /// A tool's result.
    Result,
    /// A line that an edit adds or a file is written with.
    Added,
    /// A line that an edit removes.
    Removed,
    /// A command that is run.
    Command,
    /// Another argument of a call.
    Argument,
    /// An item of a to-do list.
    Todo,
}

/// The call that a statement belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementSource {
    /// What the call did, in a few words of its own: `Read src/main.rs`.
    pub label: Box<str>,
    /// The file it is about, where it is about one.
    pub path: Option<Box<str>>,
    pub(crate) family: crate::ToolFamily,
}

/// The statements of a conversation, bounded.
#[derive(Clone, Debug)]
pub struct Statements {
    most: usize,
    all: Vec<Statement>,
    sources: Vec<StatementSource>,
    words: Words,
    /// Messages read, system prompts apart; the ordinal after the last.
    end: u32,
    /// The message that the model ended its turn with, as long as nobody spoke after it.
    answered: Option<u32>,
    /// What was asked or proposed last, for a short answer to it.
    asked: Option<Box<str>>,
    /// The sources of calls that wait for their results.
    waiting: HashMap<CallId, u32>,
    weights: StatementWeights,
    /// What all statements are worth by the built-in weights, once somebody has asked since the last message.
    ranked: OnceLock<Vec<i32>>,
    /// Room for the words of one statement, or for the new places of all sources, used again for the next.
    room: Vec<u32>,
}

impl Statements {
    /// The most statements that are held: about 6 MB of them.
    pub const MOST: usize = 12_288;

    /// Returns a pool that has read nothing.
    pub fn new() -> Statements {
        Statements {
            most: Self::MOST,
            all: Vec::new(),
            sources: Vec::new(),
            words: Words::default(),
            end: 0,
            answered: None,
            asked: None,
            waiting: HashMap::new(),
            weights: StatementWeights::builtin(),
            ranked: OnceLock::new(),
            room: Vec::new(),
        }
    }

    /// Returns all statements, in the order in which they were made.
    pub fn all(&self) -> &[Statement] {
        &self.all
    }

    /// Returns the call that a statement belongs to.
    pub fn source(&self, statement: &Statement) -> Option<&StatementSource> {
        self.sources.get(statement.source? as usize)
    }

    /// Returns what `entries` say, read alone; `speakers` tells who speaks.
    pub fn of<'e>(entries: impl Iterator<Item = &'e Entry>, speakers: &Speakers) -> Statements {
        let mut pool = Statements::new();
        entries.for_each(|entry| {
            let calls: Vec<CallView<'_>> = entry.message.calls().map(CallView::new).collect();
            let ordinal = u32::try_from(entry.id.ordinal).unwrap_or(u32::MAX);
            pool.push(ordinal, &entry.message, &calls, speakers);
        });
        pool
    }

    /// Returns how much of a statement is news, in sixteenths, where each word was told as often before as `known` says: each
    /// time halves what it is still worth.
    pub fn news(&self, statement: &Statement, known: impl Fn(u32) -> u32) -> u32 {
        let (mut new, mut all) = (0, 0);
        for word in &statement.words {
            let rarity = self.words.rarity(*word) + 1;
            all += rarity;
            new += rarity >> known(*word).min(8);
        }
        (new * 16).checked_div(all).unwrap_or(16)
    }

    /// Reads one message with its `calls`. What longhaul itself wrote is not read: what it says was read before.
    pub(crate) fn push(
        &mut self,
        ordinal: u32,
        message: &Message,
        calls: &[CallView<'_>],
        speakers: &Speakers,
    ) {
        if message.is_system() || message.origin == Origin::Longhaul {
            return;
        }
        self.end = self.end.max(ordinal.saturating_add(1));
        let first = self.all.len();
        read::Reader::new(self, ordinal).message(message, calls, speakers);
        self.weigh(first);
    }

    /// Drops what messages say for which `is_gone` holds, also where a short answer to it quotes it, and puts `instead` in its
    /// place.
    pub(crate) fn put_in_place(&mut self, is_gone: impl Fn(u32) -> bool, instead: Statements) {
        let (gone, stays): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.all).into_iter().partition(|statement| is_gone(statement.message));
        self.all = stays;
        if gone.is_empty() && instead.all.is_empty() {
            return;
        }
        let gone: HashSet<Box<str>> = gone.into_iter().map(|statement| statement.text).collect();
        let quoted = self.all.iter_mut().map(|statement| &mut statement.answers);
        for asked in quoted.chain([&mut self.asked]) {
            asked.take_if(|asked| gone.contains(asked));
        }
        self.drop_sources();
        let n_sources = self.sources.len() as u32;
        self.sources.extend(instead.sources);
        let moved = |statement: Statement| Statement {
            source: statement.source.map(|at| at + n_sources),
            ..statement
        };
        self.all.extend(instead.all.into_iter().map(moved));
        self.all.sort_by_key(|statement| statement.message);
        self.ranked = OnceLock::new();
    }

    /// Weighs the statements from the place `first` on, which are new.
    fn weigh(&mut self, first: usize) {
        self.ranked = OnceLock::new();
        let weights = std::mem::take(&mut self.weights);
        for statement in &mut self.all[first..] {
            statement.prior = weights.prior(statement);
        }
        self.weights = weights;
        if self.all.len() > self.most {
            self.forget();
        }
    }

    /// Drops the statements that are worth least, down to three quarters of the bound.
    fn forget(&mut self) {
        let keep = self.most / 4 * 3;
        // Few values are worth anything to tell statements by: how many have each is soon counted, in little room. (Much would have
        // the allocator tidy up what was freed, which the next statements can have as it is.)
        let mut worth: Vec<(i32, usize)> = Vec::new();
        for statement in &self.all {
            match worth.binary_search_by_key(&statement.prior, |(prior, _)| *prior) {
                Ok(at) => worth[at].1 += 1,
                Err(at) => worth.insert(at, (statement.prior, 1)),
            }
        }
        let mut held = 0;
        let last_held = worth.into_iter().rev().find_map(|(prior, count)| {
            held += count;
            (held >= keep).then_some(prior)
        });
        // Of those that are worth as much as the last that is held, the oldest go.
        let mut too_many = held.saturating_sub(keep);
        let least = last_held.unwrap_or(i32::MIN);
        self.all.retain(|statement| match statement.prior == least && too_many > 0 {
            true => {
                too_many -= 1;
                false
            }
            false => statement.prior >= least,
        });
        self.drop_sources();
    }

    /// Drops the sources that no statement and no waiting call names.
    fn drop_sources(&mut self) {
        const GONE: u32 = u32::MAX;
        let mut place = std::mem::take(&mut self.room);
        place.clear();
        place.resize(self.sources.len(), GONE);
        let named = self.all.iter().filter_map(|statement| statement.source);
        for at in named.chain(self.waiting.values().copied()) {
            place[at as usize] = 0;
        }
        for (next, new) in (0..).zip(place.iter_mut().filter(|place| **place != GONE)) {
            *new = next;
        }
        let mut stays = place.iter().map(|place| *place != GONE);
        self.sources.retain(|_| stays.next().unwrap_or(false));
        let named = self.all.iter_mut().filter_map(|statement| statement.source.as_mut());
        for at in named.chain(self.waiting.values_mut()) {
            *at = place[*at as usize];
        }
        self.room = place;
    }

    /// Returns about how many bytes the pool holds.
    pub(crate) fn memory_bytes(&self) -> usize {
        let one = |statement: &Statement| {
            let answers = statement.answers.as_ref().map_or(0, |text| text.len());
            size_of::<Statement>() + statement.text.len() + answers + statement.words.len() * 4
        };
        let source = |source: &StatementSource| size_of::<StatementSource>() + source.label.len();
        self.all.iter().map(one).sum::<usize>()
            + self.sources.iter().map(source).sum::<usize>()
            + self.words.memory_bytes()
    }
}

/// Returns the hashes of the words in `text`, as statements have them.
pub fn statement_words(text: &str) -> Vec<u32> {
    let mut all = Vec::new();
    words::each_word(text, |word| all.push(word));
    all
}

impl Default for Statements {
    fn default() -> Statements {
        Statements::new()
    }
}

impl Statement {
    /// Returns how many statements its message makes.
    pub fn crowd(&self) -> usize {
        usize::from(self.of)
    }

    /// Returns the hashes of its words, sorted, each once.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns a hash of its text, white space and case apart: two that say the same have the same.
    pub fn key(&self) -> u32 {
        self.key
    }

    /// Returns whether it tells of something that failed.
    pub fn tells_failure(&self) -> bool {
        self.signs.has(Signs::FAILS)
    }

    /// Returns whether somebody says by a word of deciding that something was chosen.
    pub fn tells_choice(&self) -> bool {
        self.kind.is_said() && self.signs.has(Signs::DECIDES)
    }

    /// Returns whether it is a line of code that somebody shows between what they say.
    pub fn is_shown_code(&self) -> bool {
        let is_code = [Signs::CODE, Signs::COMMENT, Signs::IMPORT].iter().any(|sign| self.signs.has(*sign));
        let is_open = self.text.ends_with(['{', '}', '(', ')', ';', ',', '[']);
        self.signs.has(Signs::FENCED) && (is_code || is_open || self.words.len() < 3)
    }

    /// Returns whether it is a line of code that imports something.
    pub fn is_import(&self) -> bool {
        // A sentence may begin with the same word.
        let is_code = self.text.contains(['"', '\'', '{', ';', '<']) || self.text.contains("::");
        self.signs.has(Signs::IMPORT) && (is_code || !self.signs.has(Signs::PROSE))
    }

    /// Returns whether it stands in a fence, as code and commands do.
    pub fn is_fenced(&self) -> bool {
        self.signs.has(Signs::FENCED)
    }

    /// Returns whether it is a comment in code that does not say when or whether something holds.
    pub fn is_comment(&self) -> bool {
        self.signs.has(Signs::COMMENT) && !self.signs.has(Signs::HOLDS)
    }

    /// Returns whether it has a path, a number or a count.
    pub fn names_a_value(&self) -> bool {
        [Signs::PATH, Signs::NUMBER, Signs::COUNTS].iter().any(|sign| self.signs.has(*sign))
    }

    /// Returns whether it is the last of its message.
    pub fn closes(&self) -> bool {
        self.nth + 1 == self.of
    }

    /// Returns whether it is an item of a list.
    pub fn is_item(&self) -> bool {
        self.signs.has(Signs::ITEM)
    }

    /// Returns its place in its message.
    pub fn nth(&self) -> u16 {
        self.nth
    }
}

impl StatementSource {
    /// Returns whether the call looks for something, by a tool for that or by a command.
    pub(crate) fn searches(&self) -> bool {
        let command = || self.label.split_once(' ').map_or("", |(_, command)| command);
        match self.family {
            crate::ToolFamily::Search | crate::ToolFamily::List => true,
            crate::ToolFamily::Shell => SEARCHES.iter().any(|program| command().starts_with(program)),
            _ => false,
        }
    }

    /// Returns the family of the tool that was called.
    pub fn family(&self) -> crate::ToolFamily {
        self.family
    }
}

/// Commands that look for something.
const SEARCHES: [&str; 7] = ["rg ", "grep ", "git grep ", "find ", "fd ", "ag ", "ls "];

impl StatementKind {
    /// Returns whether somebody says this in words to somebody else: a person, the model, a report.
    pub fn is_said(self) -> bool {
        matches!(
            self,
            StatementKind::Person | StatementKind::Report | StatementKind::Answer | StatementKind::Prose
        )
    }
}

#[cfg(test)]
mod tests;
