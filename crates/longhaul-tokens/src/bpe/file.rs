//! A vocabulary that is read and not in the binary: the byte-level ones of `tokenizer.json` files.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use super::{
    engine::{Engine, State},
    layout,
    scan::Grammar,
    tables::Tables,
    vocab::Vocab,
};

/// The exact counter of a byte-level vocabulary, equal to the `BPE` model of the `tokenizers` crate.
#[derive(Debug)]
pub(crate) struct FileBpe {
    grammar: Grammar,
    tables: Tables,
    /// Tokens that are too long for the tables and that merging does not find.
    long_wholes: HashSet<Vec<u8>>,
    /// States that no count uses now: at most one for each thread that ever counted at the same time.
    idle: Mutex<Vec<State>>,
}

/// A merge: the two tokens it joins and the token they become. Its rank is its place in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merge {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) into: u32,
}

impl FileBpe {
    /// Makes the counter of a vocabulary that gives `bytes[b]` for the byte `b` and then merges by `merges`, the pair of
    /// the lowest rank first. `spelled` are the bytes of each token, by id.
    ///
    /// With `takes_whole`, a piece that is a token is taken as it is, whatever merging would give.
    ///
    /// Returns `None` where this vocabulary needs more than [`Engine`] does, which is no known file of the families.
    pub(crate) fn new(
        grammar: Grammar,
        bytes: &[u32; 256],
        merges: &[Merge],
        spelled: &HashMap<u32, Vec<u8>>,
        takes_whole: bool,
    ) -> Option<FileBpe> {
        let mut ranks = HashMap::with_capacity(merges.len());
        for (rank, merge) in (0u32..).zip(merges) {
            if ranks.insert((merge.left, merge.right), (rank, merge.into)).is_some() {
                return None;
            }
        }
        // Files often list every pair of tokens that spells a token. Only one of them is ever merged: the last one when
        // its own bytes are. A token whose bytes merge into something else never comes up.
        let mut last_merges: Vec<(u32, Merge)> = Vec::with_capacity(spelled.len());
        let mut wholes: Vec<Vec<u8>> = Vec::new();
        let mut known: HashMap<u32, u32> = HashMap::with_capacity(spelled.len());
        for (byte, id) in bytes.iter().enumerate() {
            known.insert(*id, byte as u32);
        }
        for (id, spelling) in spelled.iter().filter(|(_, spelling)| spelling.len() > 1) {
            match last_merge(&ranks, spelling.iter().map(|byte| bytes[usize::from(*byte)])) {
                Some((rank, merge)) if merge.into == *id => last_merges.push((rank, merge)),
                _ if takes_whole => wholes.push(spelling.clone()),
                _ => {}
            }
        }
        last_merges.sort_unstable_by_key(|(rank, _)| *rank);
        known.extend(last_merges.iter().zip(256..).map(|((_, merge), nth)| (merge.into, nth)));
        // A merge may come before those of its parts: Llama 3 has such, which were not found by merging.
        let packed: Option<Vec<_>> = last_merges
            .iter()
            .map(|(_, merge)| Some(Some((*known.get(&merge.left)?, *known.get(&merge.right)?))))
            .collect();
        let packed = packed?;
        let singles: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let tables = Tables::new(&singles, &packed, u32::MAX, &wholes)?;
        let long_wholes = wholes.into_iter().filter(|token| token.len() > layout::WIDE_BYTES).collect();
        Some(FileBpe { grammar, tables, long_wholes, idle: Mutex::default() })
    }

    /// Returns the number of tokens in `text`, or some number above `limit` as soon as that is clear.
    pub(crate) fn count_while(&self, text: &str, limit: usize) -> usize {
        // A state is whole between counts, so it does not matter whether a thread died while it held the lock.
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut state = taken.unwrap_or_else(State::new);
        let vocab = Vocab::of(&self.tables).with_wholes(&self.long_wholes);
        let engine = Engine { vocab, grammar: self.grammar };
        let count = engine.count_while(&mut state, text, limit);
        idle().push(state);
        count
    }
}

/// Merges the tokens `ids` as the `tokenizers` crate does, and returns the last merge with its rank if one token is left.
fn last_merge(
    ranks: &HashMap<(u32, u32), (u32, u32)>,
    ids: impl Iterator<Item = u32>,
) -> Option<(u32, Merge)> {
    let mut ids: Vec<u32> = ids.collect();
    let rank_of = |left: u32, right: u32| ranks.get(&(left, right)).copied();
    let mut pairs: Vec<Option<(u32, u32)>> = ids.windows(2).map(|pair| rank_of(pair[0], pair[1])).collect();
    let mut last = None;
    while ids.len() > 1 {
        let candidates = pairs.iter().enumerate().filter_map(|(at, pair)| Some((pair.as_ref()?.0, at)));
        let (rank, at) = candidates.min()?;
        let into = pairs[at].map(|(_, into)| into)?;
        last = Some((rank, Merge { left: ids[at], right: ids[at + 1], into }));
        ids[at] = into;
        ids.remove(at + 1);
        pairs.remove(at);
        if let Some(before) = at.checked_sub(1) {
            pairs[before] = rank_of(ids[before], into);
        }
        if let Some(next) = ids.get(at + 1) {
            pairs[at] = rank_of(into, *next);
        }
    }
    last
}
