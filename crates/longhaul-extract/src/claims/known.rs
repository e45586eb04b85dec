//! What two claims were weighed to, kept for whoever weighs them again: the drafts of a summary, its updates and its forms compare the same
//! claims many times.

use std::cell::RefCell;

use hashbrown::HashMap;

use super::{Claim, ClaimWeights, Link};

/// Two claims, and what links them as far as it is weighed.
type Key = (u64, u64, [u8; 3]);

/// Those that were weighed last, and those before them.
#[derive(Default)]
struct Known {
    newer: HashMap<Key, i32>,
    older: HashMap<Key, i32>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Returns the sum of the built-in weights for a claim and one that was made later.
pub(super) fn score(was: &Claim, now: &Claim, link: Link) -> i32 {
    KNOWN.with_borrow_mut(|known| {
        let key = (was.id, now.id, link.steps());
        if let Some(score) = known.newer.get(&key) {
            return *score;
        }
        let older = known.older.remove(&key);
        let score = older.unwrap_or_else(|| ClaimWeights::builtin().score(was, now, link));
        if known.newer.len() >= MOST {
            known.older = std::mem::take(&mut known.newer);
        }
        known.newer.insert(key, score);
        score
    })
}

/// So many are newer ones: with the older, about 4 MB a thread.
const MOST: usize = 1 << 15;
