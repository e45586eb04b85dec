//! What messages cost as they were said, for as long as a compaction may read them again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

/// What messages cost as they were said: of the newest all, of older ones those that are still spoken of. What it
/// weighs does not grow with the age of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Costs {
    /// Ordinal of the first of the newest.
    first: u64,
    newest: VecDeque<Tokens>,
    older: BTreeMap<u64, Tokens>,
    /// They were counted by another model's counter and scaled.
    pub(crate) is_scaled: bool,
}

impl Costs {
    pub(crate) fn push(&mut self, tokens: Tokens) {
        self.newest.push_back(tokens);
    }

    pub(crate) fn get(&self, ordinal: u64) -> Option<Tokens> {
        match ordinal.checked_sub(self.first) {
            Some(at) => self.newest.get(usize::try_from(at).ok()?).copied(),
            None => self.older.get(&ordinal).copied(),
        }
    }

    /// Sets what a message costs of which that is known.
    #[cfg(feature = "wire")]
    pub(crate) fn set(&mut self, ordinal: u64, tokens: Tokens) {
        let known = match ordinal.checked_sub(self.first) {
            Some(at) => usize::try_from(at).ok().and_then(|at| self.newest.get_mut(at)),
            None => self.older.get_mut(&ordinal),
        };
        if let Some(cost) = known {
            *cost = tokens;
        }
    }

    /// Returns the newest, the last said first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = Tokens> {
        self.newest.iter().rev().copied()
    }

    /// Forgets those before `start`, but for the ordinals in `kept`.
    pub(crate) fn forget_before(&mut self, start: u64, kept: &BTreeSet<u64>) {
        while self.first < start
            && let Some(tokens) = self.newest.pop_front()
        {
            self.older.insert(self.first, tokens);
            self.first += 1;
        }
        self.older.retain(|ordinal, _| kept.contains(ordinal));
    }

    /// Ends the conversation before `len`.
    pub(crate) fn truncate(&mut self, len: u64) {
        match len.checked_sub(self.first) {
            Some(left) => self.newest.truncate(usize::try_from(left).unwrap_or(usize::MAX)),
            None => {
                self.newest.clear();
                self.first = len;
                self.older.retain(|ordinal, _| *ordinal < len);
            }
        }
    }

    /// Turns all into what they cost where each token is `factor` of another model's.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.newest.iter_mut().chain(self.older.values_mut()).for_each(|cost| *cost = cost.scaled(factor));
        self.is_scaled = true;
    }
}
