//! By what two claims find each other: one takes the place of another only where both say the same up to the verb, or where it names
//! something of it in a way that may change what was said.

use std::cmp::Ordering;

use super::{
    Claim, HOME,
    clause::{Clause, Word, telling},
    turned::is_of_home,
};

impl Claim {
    /// Returns the keys under which it is found by what takes its place.
    pub fn keys(&self) -> &[u64] {
        &self.keys[0]
    }

    /// Returns the keys of what it may take the place of: without one of them among those of another claim it does not.
    pub fn keys_of_change(&self) -> &[u64] {
        &self.keys[1]
    }

    /// Returns whether it may be found by what `later` may take the place of.
    pub(super) fn shares_a_key(&self, later: &Claim) -> bool {
        let (mut mine, mut theirs) =
            (self.keys().iter().peekable(), later.keys_of_change().iter().peekable());
        while let (Some(one), Some(other)) = (mine.peek(), theirs.peek()) {
            match one.cmp(other) {
                Ordering::Less => mine.next(),
                Ordering::Greater => theirs.next(),
                Ordering::Equal => return true,
            };
        }
        false
    }

    pub(super) fn with_keys(self) -> Claim {
        let keys = [self.all_keys(true), self.all_keys(self.changes_by_words())];
        Claim { keys, ..self }
    }

    /// Returns the keys of what it says up to the verbs, and, `by_words`, of all that tells something.
    fn all_keys(&self, by_words: bool) -> Vec<u64> {
        let mut keys: Vec<u64> = self.clauses.iter().filter_map(beginning).collect();
        if by_words {
            keys.extend(self.telling().map(word));
            keys.extend(self.clauses.iter().any(is_of_home).then(|| word(HOME)));
        } else if self.clauses.len() > 1 {
            // What names the former value beside the new one.
            let may_name = |(at, word): &(usize, &Word)| *at == 0 || word.is_name;
            let named =
                self.clauses.iter().flat_map(|clause| clause.words.iter().enumerate().filter(may_name));
            keys.extend(named.flat_map(|(_, word)| telling(std::slice::from_ref(word))).map(word));
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// Returns the key of what a clause says up to the verb.
fn beginning(clause: &Clause) -> Option<u64> {
    let words = clause.words.get(..=clause.verb?)?;
    Some(words.iter().fold(BEGINNING, |key, word| hash(hash(key, &word.stem), " ")))
}

fn word(stem: &str) -> u64 {
    hash(WORD, stem)
}

/// Goes on with a hash of FNV-1a.
pub(super) fn hash(from: u64, text: &str) -> u64 {
    text.bytes().fold(from, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Where the hash of a word begins.
pub(super) const WORD: u64 = 0xcbf2_9ce4_8422_2325;

/// Where that of the beginning of a clause does.
const BEGINNING: u64 = 0x8422_2325_cbf2_9ce4;
