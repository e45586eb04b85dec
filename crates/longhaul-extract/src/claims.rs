//! What somebody says anew of the same thing: "our port is 9090 now" after "our port is 8080", "spaces, not tabs", "stop answering in German".
//!
//! Words that are alike are not enough, as two rules may be alike and both hold; nor do lists of words of change reach far, as most of what
//! is said otherwise has none of them. So it is weighed: each feature of two sentences adds to that the later takes the place of the
//! earlier, in whole numbers that were fitted to conversations in which people said what holds no more (`weights.txt`, by `cargo xtask
//! bench claims`).

use std::{cell::RefCell, sync::Arc};

use crate::{
    SpeechAct, SpeechWeights,
    constraints::{Naming, Things},
    memo::Memo,
};

mod among;
mod differing;
mod features;
mod known;
#[cfg(test)]
mod tests;
mod weights;
mod words;

pub use among::{Claims, Link};
pub use features::features as claim_features;
pub use weights::ClaimWeights;
use weights::MARGIN;
use words::Word;

/// A sentence in which a person says how something is, is to be, or is to be no more.
#[derive(Debug)]
pub struct Claim {
    text: String,
    /// Stands for the text.
    id: u64,
    words: Vec<Word>,
    /// The keys of the words that tell something, each once, sorted.
    keys: Vec<u64>,
    /// What a person does by it.
    act: SpeechAct,
    /// Whether it is far likelier to ask for something that is over once done.
    passes: bool,
    denies: bool,
    /// What it names, and what is done to what in it.
    naming: Naming,
    things: Things,
}

thread_local! {
    static CLAIMS: RefCell<Memo<Option<Arc<Claim>>>> = RefCell::default();
}

impl Claim {
    /// Reads a sentence. A question claims nothing, nor does what leads in something else (it ends with a colon), what has no word that tells
    /// something, or more than 240 bytes.
    pub fn of(sentence: &str) -> Option<Arc<Claim>> {
        let sentence = sentence.trim();
        let may_claim = sentence.len() <= LONGEST && !sentence.ends_with(['?', '？', ':']);
        may_claim
            .then(|| Memo::read(&CLAIMS, sentence, |sentence| Claim::read(sentence).map(Arc::new)))?
            .as_ref()
            .clone()
    }

    fn read(sentence: &str) -> Option<Claim> {
        let words = words::words(sentence);
        let mut keys: Vec<u64> = words.iter().filter_map(|word| word.key).collect();
        keys.extend(words::home(&words));
        keys.sort_unstable();
        keys.dedup();
        (!keys.is_empty()).then(|| Claim {
            text: sentence.to_owned(),
            id: words::hash(words::START, sentence.as_bytes()),
            denies: words.iter().any(Word::denies),
            act: SpeechWeights::builtin().act(sentence),
            passes: SpeechWeights::builtin().is_request(sentence),
            naming: Naming::of(sentence),
            things: Things::of(sentence),
            words,
            keys,
        })
    }

    /// The keys of the words that tell something, each once, sorted: without one in common a claim takes no place of another.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns whether what somebody said `later` takes the place of this, as they are linked among all that was said.
    pub fn is_overtaken_by(&self, later: &Claim, link: Link) -> bool {
        self.overtaken_by(later, link).is_some()
    }

    /// Returns how surely it does, where it does.
    fn overtaken_by(&self, later: &Claim, link: Link) -> Option<i32> {
        let score = self.may_be_overtaken_by(later).then(|| known::score(self, later, link));
        score.filter(|score| *score >= MARGIN)
    }

    /// Returns whether two are weighed at all: what was asked for once is over when it is done, whatever is asked for next.
    pub(crate) fn may_be_overtaken_by(&self, later: &Claim) -> bool {
        self.text != later.text && !(self.passes && later.passes)
    }

    /// Returns whether it sets something down, tells a fact or settles something.
    pub(crate) fn lasts(&self) -> bool {
        matches!(self.act, SpeechAct::Rule | SpeechAct::Fact | SpeechAct::Decision)
    }

    /// Returns whether it takes the place of this where nothing else is known that was said.
    pub fn is_overtaken_alone(&self, later: &Claim) -> bool {
        Link::between(self, later).is_some_and(|link| self.is_overtaken_by(later, link))
    }

    /// Returns whether what somebody said `later` is of the same thing, whatever it says of that: it has half of the words that tell
    /// something.
    pub fn is_named_by(&self, later: &Claim) -> bool {
        let shared = self.keys.iter().filter(|key| later.has(**key)).count();
        shared > 0 && shared * 2 >= self.keys.len()
    }

    /// The sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn has(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

/// Bytes of the longest sentence that is read.
const LONGEST: usize = 240;
