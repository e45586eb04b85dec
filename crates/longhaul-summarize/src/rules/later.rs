//! Decisions that something said later may overrule.

use std::cell::{OnceCell, RefCell};

use hashbrown::HashMap;
use longhaul_extract::{Statement, Statements, are_of_two};

/// What was said with a word of changing one's mind, and which decisions it takes up.
#[derive(Debug)]
pub(crate) struct Later<'a> {
    pool: &'a Statements,
    /// The places of what may overrule something, the newest first.
    overruling: OnceCell<Vec<usize>>,
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
        let after = all.map(|place| &self.pool.all()[*place]);
        let mut after = after.take_while(|one| one.message > decided.message);
        let takes_up = |one: &&Statement| {
            let told = |word: u32| if one.words().binary_search(&word).is_ok() { TOLD } else { 0 };
            self.pool.news(decided, told) <= MOST_NEWS && !are_of_two(&decided.text, &one.text)
        };
        after.find(takes_up).map(|one| one.message)
    }
}

fn overruling(pool: &Statements) -> Vec<usize> {
    let may = |one: &Statement| one.kind.is_said() && !one.is_item() && overrules(&one.text);
    let newest = pool.all().iter().enumerate().rev().filter(|(_, one)| may(one));
    newest.take(MOST).map(|(place, _)| place).collect()
}

/// Whether a sentence may change what was decided before it.
fn overrules(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "instead", "no longer", "rather", "actually", "drop ", "undo", "revert", "not ", "n't ", "without",
        "remove", "scrap", "after all", "switch",
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
