//! Decisions that something said later may overrule.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
};

use longhaul_extract::{Statement, Statements};

/// What was said with a word of changing one's mind, and which decisions it takes up.
#[derive(Debug)]
pub(crate) struct Later<'a> {
    pool: &'a Statements,
    /// The places of what may overrule something, the newest first, with the words of each.
    overruling: OnceCell<Vec<(usize, HashMap<u32, u32>)>>,
    /// What was found for a decision: the same one is asked for at every length that a summary is tried at.
    found: RefCell<HashMap<usize, Option<u32>>>,
}

impl<'a> Later<'a> {
    pub(crate) fn new(pool: &'a Statements) -> Later<'a> {
        Later { pool, overruling: OnceCell::new(), found: RefCell::default() }
    }

    /// Returns the last message that takes up most of what is decided at `at` with a word of changing one's mind.
    pub(crate) fn on(&self, at: usize) -> Option<u32> {
        *self.found.borrow_mut().entry(at).or_insert_with(|| self.find(at))
    }

    fn find(&self, at: usize) -> Option<u32> {
        let decided = &self.pool.all()[at];
        let all = self.overruling.get_or_init(|| overruling(self.pool)).iter();
        let mut after = all.take_while(|(place, _)| self.pool.all()[*place].message > decided.message);
        let takes_up = |known: &HashMap<u32, u32>| self.pool.news(decided, known) <= MOST_NEWS;
        after.find(|(_, words)| takes_up(words)).map(|(place, _)| self.pool.all()[*place].message)
    }
}

fn overruling(pool: &Statements) -> Vec<(usize, HashMap<u32, u32>)> {
    let may = |one: &Statement| one.kind.is_said() && !one.is_item() && overrules(&one.text);
    let newest = pool.all().iter().enumerate().rev().filter(|(_, one)| may(one));
    let words = |one: &Statement| one.words().iter().map(|word| (*word, TOLD)).collect();
    newest.take(MOST).map(|(place, one)| (place, words(one))).collect()
}

/// Whether a sentence may change what was decided before it.
fn overrules(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "instead",
        "no longer",
        "rather",
        "actually",
        "drop ",
        "undo",
        "revert",
        "not ",
        "n't ",
        "without",
        "remove",
        "scrap",
        "after all",
        "switch",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    WORDS.iter().any(|word| lower.contains(word))
}

/// How much of a decision may be missing in what takes it up, in sixteenths.
const MOST_NEWS: u32 = 9;

/// A word that was told so often is no news.
const TOLD: u32 = 8;

/// So many of the newest are looked at.
const MOST: usize = 2_000;
