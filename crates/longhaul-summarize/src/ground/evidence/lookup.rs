//! Where a name or a number stands in the source, and what stands around it.

use std::collections::{BTreeSet, HashSet};

use super::{Clause, Evidence, Speaker};
use crate::ground::{
    numbers::value,
    siblings::stems_of,
    words::{hash, is_wide, is_word_char, words},
};

impl Evidence {
    /// Returns whether `name` stands in the source, whole: `4.2` is not in `4.2.1`, nor `lib.rs` in `zlib.rs`.
    pub(in crate::ground) fn contains(&self, name: &str) -> bool {
        self.occurrences(name).next().is_some()
    }

    /// Returns where `name` stands in the source.
    pub(in crate::ground) fn occurrences<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let rarest = words(name)
            .map(|(offset, word)| (self.positions.get(&hash(word)).map_or(&[][..], Vec::as_slice), offset))
            .min_by_key(|(positions, _)| positions.len());
        let (positions, offset) = rarest.unwrap_or((&[], 0));
        positions.iter().take(MAX_TRIES).filter_map(move |at| {
            let start = (*at as usize).checked_sub(offset)?;
            self.is_at(start, name).then_some(start)
        })
    }

    fn is_at(&self, start: usize, name: &str) -> bool {
        let Some(found) = self.text.as_bytes().get(start..start + name.len()) else { return false };
        if found != name.as_bytes() {
            return false;
        }
        // Both ends are character boundaries, since the bytes between them are `name`.
        let before = self.text[..start].chars().next_back().unwrap_or('\n');
        let mut after = self.text[start + name.len()..].chars();
        let (next, second) = (after.next().unwrap_or('\n'), after.next().unwrap_or('\n'));
        let first = name.chars().next().unwrap_or(' ');
        let last = name.chars().next_back().unwrap_or(' ');
        let goes_on = |inside: char, outside: char| {
            is_word_char(inside) && is_word_char(outside) && !is_wide(inside) && !is_wide(outside)
        };
        let is_decimal = |c: char| matches!(c, '.' | ',');
        let digit_before = || self.text[..start].chars().rev().nth(1).is_some_and(|c| c.is_ascii_digit());
        !(goes_on(first, before)
            || goes_on(last, next)
            || (first.is_ascii_digit() && is_decimal(before) && digit_before())
            || (last.is_ascii_digit() && is_decimal(next) && second.is_ascii_digit()))
    }

    /// Returns whether `name` stands in what somebody said or did, and not only in what tools returned.
    pub(in crate::ground) fn is_said(&self, name: &str) -> bool {
        self.occurrences(name)
            .any(|at| self.clause_at(at).is_some_and(|clause| clause.speaker != Speaker::Tool))
    }

    /// Returns whether `word` and `number` stand side by side somewhere, or `None` where `word` never has a number
    /// beside it. Both are hashes from [`numbered`].
    pub(in crate::ground) fn is_pair(&self, word: u64, number: u64) -> Option<bool> {
        self.counted.contains_key(&word).then(|| self.pairs.contains(&(word, number)))
    }

    /// Returns whether one number alone ever stands beside a word.
    pub(in crate::ground) fn counts_once(&self, word: u64) -> bool {
        self.counted.get(&word) == Some(&1)
    }

    /// Returns whether a number stands anywhere, however it is written.
    pub(in crate::ground) fn has_number(&self, number: &str) -> bool {
        self.numbers.contains_key(&value(number))
    }

    /// Returns whether a number stands in one of these messages, or right before or behind one.
    pub(in crate::ground) fn stands_in(&self, number: &str, messages: &[u64]) -> bool {
        let written = self.numbers.get(&value(number)).map_or(&[][..], Vec::as_slice);
        let written = written.iter().map(|at| *at as usize);
        written.chain(self.occurrences(number)).any(|at| {
            let ordinal = self.ordinal_at(at);
            messages.iter().any(|message| message.abs_diff(ordinal) <= 1)
        })
    }

    /// Returns whether `least` words of `near` stand within a few lines of an occurrence of a number; one is enough in the
    /// messages `cited`.
    pub(in crate::ground) fn stands_near(
        &self,
        number: &str,
        near: &HashSet<u64>,
        least: usize,
        cited: &[u64],
    ) -> bool {
        let written = self.numbers.get(&value(number)).map_or(&[][..], Vec::as_slice);
        let written = written.iter().map(|at| *at as usize);
        written.chain(self.occurrences(number)).take(MAX_NEAR).any(|at| {
            let around = self.around(at, number.len() + NEAR_BYTES);
            let least = if cited.contains(&self.ordinal_at(at)) { 1 } else { least };
            stems_of(around).iter().filter(|stem| near.contains(stem)).count() >= least
        })
    }

    /// Returns what stands up to `bytes` before and behind a place.
    pub(super) fn around(&self, at: usize, bytes: usize) -> &str {
        let start = self.text.ceil_char_boundary(at.saturating_sub(bytes));
        let end = self.text.floor_char_boundary((at + bytes).min(self.text.len()));
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the path that ends with the name of `length` bytes at a place.
    pub(in crate::ground) fn path_at(&self, at: usize, length: usize) -> &str {
        let is_in_path = |c: char| is_word_char(c) || matches!(c, '/' | '.' | '-');
        let folders = self.text[..at].len() - self.text[..at].trim_end_matches(is_in_path).len();
        self.text.get(at - folders..at + length).unwrap_or_default()
    }

    /// Returns the clause that stands at a place.
    pub(in crate::ground) fn clause_at(&self, at: usize) -> Option<&Clause> {
        let next = self.clauses.partition_point(|clause| clause.start as usize <= at);
        next.checked_sub(1).and_then(|at| self.clauses.get(at))
    }

    fn ordinal_at(&self, at: usize) -> u64 {
        self.clause_at(at).map_or(0, |clause| clause.ordinal)
    }

    /// Returns whether one message has all of these names.
    pub(in crate::ground) fn are_together(&self, names: &[&str]) -> bool {
        let mut all = names.iter().map(|name| self.ordinals(name));
        let first = all.next().unwrap_or_default();
        !all.fold(first, |common, places| &common & &places).is_empty()
    }

    fn ordinals(&self, name: &str) -> BTreeSet<u64> {
        self.occurrences(name).map(|at| self.ordinal_at(at)).collect()
    }

    /// Returns whether `rest` stands without a folder before it in a message that has `folder`, or right behind one.
    pub(in crate::ground) fn joins(&self, folder: &str, rest: &str) -> bool {
        let folders = self.ordinals(folder);
        let is_bare = |at: &usize| {
            let before = &self.text[..*at];
            !before.ends_with('/') || before.ends_with("./")
        };
        !folders.is_empty()
            && self.occurrences(rest).filter(is_bare).map(|at| self.ordinal_at(at)).any(|at| {
                folders.contains(&at) || at.checked_sub(1).is_some_and(|before| folders.contains(&before))
            })
    }

    /// Returns whether the source has these characters, also inside a word.
    pub(in crate::ground) fn has_piece(&self, piece: &str) -> bool {
        self.text[..self.text.floor_char_boundary(MAX_SCANNED.min(self.text.len()))].contains(piece)
    }

    /// Returns whether a file view ends with the line of this number: the next line has no number, or another.
    pub(in crate::ground) fn ends_view(&self, number: &str) -> bool {
        let Some(next) = number.parse::<u64>().ok().and_then(|number| number.checked_add(1)) else {
            return false;
        };
        let text = &self.text[..self.text.floor_char_boundary(MAX_SCANNED.min(self.text.len()))];
        let next = format!("{next}→");
        text.match_indices(&format!("{number}→")).any(|(at, _)| {
            let behind = text[at..].lines().nth(1).unwrap_or_default();
            !text[..at].ends_with(|c: char| c.is_ascii_digit()) && !behind.trim_start().starts_with(&next)
        })
    }

    /// Returns whether `part` is a piece of a name that begins and ends where a word of the name does: `ModifiedFile` of
    /// `TestOverlap_ModifiedFile`.
    pub(in crate::ground) fn contains_part(&self, part: &str) -> bool {
        let text = &self.text[..self.text.floor_char_boundary(MAX_SCANNED.min(self.text.len()))];
        let (first, last) = (part.chars().next(), part.chars().next_back());
        text.match_indices(part).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
            let begins = |left: Option<char>, right: Option<char>| {
                !(left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric))
                    || left.is_some_and(char::is_lowercase) && right.is_some_and(char::is_uppercase)
            };
            begins(before, first) && begins(last, after)
        })
    }
}

/// How far around a number its subject is looked for.
pub(super) const NEAR_BYTES: usize = 160;

/// Occurrences of a number or a name whose surroundings are looked at.
const MAX_NEAR: usize = 64;

/// Names that stand only behind this many bytes are not looked for in pieces.
const MAX_SCANNED: usize = 8 << 20;

/// Occurrences of the rarest word that are compared with a name before it is given up.
const MAX_TRIES: usize = 20_000;
