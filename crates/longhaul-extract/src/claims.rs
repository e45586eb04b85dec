//! What somebody says anew of the same thing: "our port is 9090 now" after "our port is 8080", "spaces, not tabs", "stop answering in German".
//!
//! Words that are alike are not enough, as two rules may be alike and both hold: the newer sentence names what it takes the place of, or says
//! the same of the same thing but for one value.

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use crate::{constraints::is_passing_wish, memo::Memo};

mod clause;
mod keys;
mod old;
mod setting;
mod stopped;
#[cfg(test)]
mod tests;
mod turned;
mod value;
mod words;

use clause::{Clause, clauses};
use old::Old;
use stopped::{Side, stopped};
use words::{CHOOSING, MARKS, UNSURE, WHETHER, is_among};

/// A sentence in which a person says how something is, is to be, or is to be no more.
#[derive(Debug)]
pub struct Claim {
    text: String,
    /// A bit for each word that tells something: most sentences have none in common.
    mask: u128,
    /// The keys by which it is found, and those of what it may take the place of.
    keys: [Vec<u64>; 2],
    clauses: Vec<Clause>,
    /// It says that something is otherwise than it was.
    is_marked: bool,
    /// What it names as given up.
    old: Vec<Old>,
    /// What is not done any more.
    stopped: Option<Vec<String>>,
    /// What is dropped or kept.
    side: Option<(Side, Vec<String>)>,
    /// It may say in other words what something is.
    may_set: bool,
    /// It may turn something that was said.
    may_turn: bool,
}

thread_local! {
    static CLAIMS: RefCell<Memo<Option<Arc<Claim>>>> = RefCell::default();
}

impl Claim {
    /// Reads a sentence. A question claims nothing, nor does who supposes something or says what others say.
    pub fn of(sentence: &str) -> Option<Arc<Claim>> {
        let sentence = sentence.trim();
        let may_claim = sentence.len() <= LONGEST && !sentence.ends_with(['?', '？', ':']);
        may_claim
            .then(|| Memo::read(&CLAIMS, sentence, |sentence| Claim::read(sentence).map(Arc::new)))?
            .as_ref()
            .clone()
    }

    fn read(sentence: &str) -> Option<Claim> {
        let padded = clause::padded(sentence);
        let supposes = WHETHER.iter().any(|word| padded[1..].starts_with(word));
        if supposes || is_among(UNSURE, &padded) {
            return None;
        }
        let clauses = clauses(sentence);
        let is_marked = is_among(MARKS, &padded);
        let is_set = |clause: &Clause| clause.is_label || setting::may_set(clause);
        let stems = || clauses.iter().flat_map(Clause::telling);
        let is_of_home = clauses.iter().any(turned::is_of_home);
        let home = if is_of_home { bit(HOME) } else { 0 };
        let mask = stems().fold(home, |mask, stem| mask | bit(stem));
        (mask != 0).then(|| {
            Claim {
                text: sentence.to_owned(),
                mask,
                keys: Default::default(),
                is_marked,
                may_set: is_marked || clauses.iter().any(is_set),
                may_turn: is_marked || clauses.len() > 1 || clauses.iter().any(turned::may_turn),
                old: old::all(&clauses),
                stopped: stopped(sentence),
                side: clauses.iter().find_map(stopped::side),
                clauses,
            }
            .with_keys()
        })
    }

    /// The words that tell what it is about, without endings.
    pub fn telling(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().flat_map(Clause::telling)
    }

    /// Returns whether what somebody said `later` takes the place of this.
    pub fn is_overtaken_by(&self, later: &Claim) -> bool {
        if self.mask & later.mask == 0 || !self.shares_a_key(later) || self.text == later.text {
            return false;
        }
        let is_said_anew = || {
            let pairs = self.clauses.iter().flat_map(|was| later.clauses.iter().map(move |now| (was, now)));
            pairs.into_iter().any(|(was, now)| {
                let names_it = later.clauses.len() > 1 && value::is_named(was, &later.clauses, now);
                // What is another value stands behind the verb.
                let both = was.words.first().zip(now.words.first());
                let begin_alike = both.is_some_and(|(was, now)| was.stem == now.stem);
                (begin_alike || names_it)
                    && value::is_another(was, now, later.is_marked || names_it, names_it)
                    || value::is_moved(was, now)
                    || (later.is_marked || value::are_limits(was, now))
                        && value::has_another_measure(was, now)
                    || later.may_turn && turned::is_turned(was, now, &later.clauses, later.is_marked)
            }) || later.may_set && self.clauses.iter().any(|was| setting::is_set_anew(was, later))
        };
        let is_stopped = || {
            let stopped = later.stopped.as_deref();
            stopped.is_some_and(|words| self.clauses.iter().any(|was| stopped::is_stopped(was, words)))
        };
        let is_turned = || match (&self.side, &later.side) {
            (Some((was, what)), Some((now, of))) => was != now && what == of,
            _ => false,
        };
        let is_given_up = || later.old.iter().any(|old| old.is_of(&self.clauses));
        // What was to be done once is over, unless it is to be done otherwise.
        let is_order = || self.clauses.iter().any(|clause| clause.verb == Some(0));
        let is_done = || is_order() && is_passing_wish(&self.text) && !is_passing_wish(&later.text);
        (is_given_up() || is_stopped() || is_turned() || is_said_anew()) && !is_done()
    }

    /// Returns whether it has what may take the place of something said before: a word of change, something given up, a figure or a date.
    pub fn may_overtake(&self) -> bool {
        let may =
            |clause: &Clause| clause.words.iter().any(value::is_figure_or_date) || value::may_be_who(clause);
        self.clauses.len() > 1 || self.changes_by_words() || self.clauses.iter().any(may)
    }

    /// Returns whether it may take the place of what does not begin as it does: it says so, or names what it changes.
    fn changes_by_words(&self) -> bool {
        let limits = |clause: &Clause| clause.words.iter().any(|word| words::UPPER.contains(&&*word.text));
        self.is_marked
            || !self.old.is_empty()
            || self.stopped.is_some()
            || self.side.is_some()
            || self.may_set
            || self.clauses.iter().any(|clause| limits(clause) || turned::may_turn(clause))
    }

    /// Returns whether what somebody said `later` is of the same thing, whatever it says of that: it has half of the words that tell
    /// something.
    pub fn is_named_by(&self, later: &Claim) -> bool {
        if self.mask & later.mask == 0 {
            return false;
        }
        let mine: BTreeSet<&str> = self.telling().filter(|stem| !CHOOSING.contains(stem)).collect();
        let shared = later.telling().collect::<BTreeSet<_>>().intersection(&mine).count();
        shared > 0 && shared * 2 >= mine.len()
    }
}

fn bit(stem: &str) -> u128 {
    1 << (keys::hash(keys::WORD, stem) >> 57)
}

/// Stands for where somebody lives, which two sentences may say without a word in common.
const HOME: &str = "home";

/// Bytes of the longest sentence that is read.
const LONGEST: usize = 240;
