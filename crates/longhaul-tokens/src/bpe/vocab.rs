//! The vocabularies: tables in the binary that are read in place, so that the first count needs no work before it.

#![allow(unsafe_code, reason = "gives the bytes of the tables their type, see `table!`")]

use std::collections::HashSet;

use super::{
    layout::{self, NARROW, WIDE},
    tables::Tables,
};

/// The tables of one vocabulary. See `layout` for their form and `tables` for how they are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vocab<'a> {
    /// Whether a merge only makes possible what comes after it. Only files are otherwise.
    pub(super) is_ordered: bool,
    /// The id of each single byte.
    pub(super) byte_ids: &'a [u32; 256],
    /// The id of each token of two bytes of ASCII; zero where there is none.
    byte_pairs: &'a [u32; layout::BYTE_PAIRS],
    /// The id of each token that is one character beyond ASCII; zero where there is none.
    chars: &'a [u32; layout::CHARS],
    /// The lowest tokens that cut the character behind a border, and the one before it.
    cut_behind: &'a [u16; layout::BORDERS],
    cut_before: &'a [u16; layout::BORDERS],
    /// Says of most pairs that are not in `pairs` that they are not. Small enough to stay near, where `pairs` is not:
    /// most pairs that merging asks for do not exist.
    filter: &'a [u64; 1 << (layout::FILTER_BITS - 6)],
    pairs: &'a [[u64; NARROW]],
    narrow: &'a [[u64; NARROW]],
    wide: &'a [[u128; WIDE]],
    /// Tokens too long for `wide` that a piece may be though merging does not give them. Only files have such.
    long_wholes: Option<&'a HashSet<Vec<u8>>>,
    /// Ids from here on do not exist.
    end: u32,
}

/// The bytes of a file that the build script wrote.
#[cfg(not(feature = "small"))]
#[allow(unused_macros, reason = "a build may have no vocabulary")]
macro_rules! bytes {
    ($file:expr) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $file))
    };
}

/// A table on a border of cache lines.
#[cfg(not(feature = "small"))]
#[allow(dead_code, reason = "a build may have no vocabulary")]
#[repr(align(64))]
struct Lines<T>(T);

/// Gives a static array of `$element` with the bytes of a file that the build script wrote.
#[cfg(not(feature = "small"))]
#[allow(unused_macros, reason = "a build may have no vocabulary")]
macro_rules! table {
    ($element:ty, $file:expr) => {{
        static TABLE: Lines<[$element; bytes!($file).len() / size_of::<$element>()]> =
            // SAFETY: the element is an array of integers, for which every bit pattern is a value; the compiler checks
            // that both sides have the same size. The build script wrote the target's byte order.
            Lines(unsafe {
                std::mem::transmute::<
                    [u8; bytes!($file).len()],
                    [$element; bytes!($file).len() / size_of::<$element>()],
                >(*bytes!($file))
            });
        &TABLE.0
    }};
}

/// Defines the function that gives a vocabulary which is in the binary: its tables as they are, or with the feature
/// `small` those that the first call makes of the packed form.
#[allow(unused_macros, reason = "a build may have no vocabulary")]
macro_rules! embedded {
    ($vocab:ident, $name:literal, $nth:literal) => {
        #[cfg(not(feature = "small"))]
        pub(super) fn $vocab() -> Vocab<'static> {
            Vocab {
                is_ordered: true,
                byte_ids: table!(u32, concat!($name, ".byte_ids")),
                byte_pairs: table!(u32, concat!($name, ".byte_pairs")),
                chars: table!(u32, concat!($name, ".chars")),
                cut_behind: table!(u16, concat!($name, ".cut_behind")),
                cut_before: table!(u16, concat!($name, ".cut_before")),
                filter: table!(u64, concat!($name, ".filter")),
                pairs: table!([u64; NARROW], concat!($name, ".pairs")),
                narrow: table!([u64; NARROW], concat!($name, ".narrow")),
                wide: table!([u128; WIDE], concat!($name, ".wide")),
                long_wholes: None,
                end: u32::MAX,
            }
        }

        #[cfg(feature = "small")]
        pub(super) fn $vocab() -> Vocab<'static> {
            static TABLES: std::sync::OnceLock<Tables> = std::sync::OnceLock::new();
            let tables = TABLES.get_or_init(|| {
                let packed = include_bytes!(concat!("../../data/", $name, ".merges"));
                super::packed::expand(packed, super::packed::VOCABULARIES[$nth].whole)
                    .expect("the files of this crate are packed vocabularies, which a test checks")
            });
            Vocab::of(tables)
        }
    };
}

#[cfg(feature = "o200k")]
embedded!(o200k, "o200k", 0);
#[cfg(feature = "cl100k")]
embedded!(cl100k, "cl100k", 1);
#[cfg(feature = "p50k")]
embedded!(p50k, "p50k", 2);

/// `r50k_base`: `p50k_base` without the runs of blanks that were added behind it.
#[cfg(feature = "p50k")]
pub(super) fn r50k() -> Vocab<'static> {
    Vocab { end: 50_256, ..p50k() }
}

impl<'a> Vocab<'a> {
    /// Returns the vocabulary whose tables these are.
    #[allow(dead_code, reason = "a build may have only tables in the binary")]
    pub(super) fn of(tables: &'a Tables) -> Vocab<'a> {
        let whole = "the tables are as long as they are made";
        Vocab {
            is_ordered: tables.is_ordered,
            byte_ids: tables.byte_ids.first_chunk().expect(whole),
            byte_pairs: tables.byte_pairs.first_chunk().expect(whole),
            chars: tables.chars.first_chunk().expect(whole),
            cut_behind: tables.cut_behind.first_chunk().expect(whole),
            cut_before: tables.cut_before.first_chunk().expect(whole),
            filter: tables.filter.first_chunk().expect(whole),
            pairs: tables.pairs.as_chunks().0,
            narrow: tables.narrow.as_chunks().0,
            wide: tables.wide.as_chunks().0,
            long_wholes: None,
            end: u32::MAX,
        }
    }

    /// Returns the same vocabulary with long tokens that are only taken whole.
    #[allow(dead_code, reason = "a build may have only tables in the binary")]
    pub(super) fn with_wholes(self, wholes: &'a HashSet<Vec<u8>>) -> Vocab<'a> {
        Vocab { long_wholes: Some(wholes).filter(|wholes| !wholes.is_empty()), ..self }
    }

    /// Whether a piece longer than the tables' is a token that merging does not give.
    #[inline(always)]
    pub(super) fn is_long_whole(&self, piece: &[u8]) -> bool {
        self.long_wholes.is_some_and(|wholes| wholes.contains(piece))
    }

    /// Calls `found` with the token and the start of each part that merging `piece` can begin with: a character where it
    /// is a token and merged before anything outside can take part in it, else a byte. `piece` may be any bytes.
    #[inline(always)]
    pub(super) fn parts(&self, piece: &[u8], mut found: impl FnMut(u32, usize)) {
        let mut at = 0;
        while let Some(&lead) = piece.get(at) {
            let (id, length) = match lead {
                0xC2.. => self.closed_char(piece, at).unwrap_or((self.byte_ids[usize::from(lead)], 1)),
                _ => (self.byte_ids[usize::from(lead)], 1),
            };
            found(id, at);
            at += length;
        }
    }

    /// Returns the token and the length of the character at `at`, where it is a token and no
    /// token that cuts it can come first.
    #[inline(always)]
    fn closed_char(&self, piece: &[u8], at: usize) -> Option<(u32, usize)> {
        let lead = piece[at];
        let length = layout::char_length(lead);
        let bytes = piece.get(at..at + length)?;
        let tail = |nth: usize| bytes.get(nth).map_or(0, |byte| u32::from(*byte) & 0x3F);
        let code = match length {
            2 => (u32::from(lead) & 0x1F) << 6 | tail(1),
            3 => (u32::from(lead) & 0x0F) << 12 | tail(1) << 6 | tail(2),
            4 => (u32::from(lead) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3),
            _ => return None,
        };
        let continues = |byte: &u8| (0x80..0xC0).contains(byte);
        // Bytes that spell a shorter character at length are no character.
        let shortest = [0, 0, 0x80, 0x800, 0x1_0000][length];
        let id = *self.chars.get(layout::slot_of_char(code).filter(|_| code >= shortest)?)?;
        let is_cut = |lowest: u16| layout::coarse(id) >= lowest;
        let before = at.checked_sub(1).map(|before| piece[before]);
        let after = piece.get(at + length);
        let closed = id != 0
            && bytes[1..].iter().all(continues)
            && !before.is_some_and(|before| is_cut(self.cut_behind[layout::border_before(before, lead)]))
            && !after.is_some_and(|after| {
                continues(after) || is_cut(self.cut_before[layout::border_behind(bytes[length - 1], *after)])
            });
        closed.then_some((id, length))
    }

    /// Returns the token of two bytes of ASCII, or zero.
    #[inline(always)]
    pub(super) fn merged_bytes(&self, first: u8, second: u8) -> u32 {
        let id = self.byte_pairs[layout::byte_pair(first, second)];
        if id < self.end { id } else { 0 }
    }

    /// Returns the token that `left` and `right` merge into, or zero. No merge makes token zero, which is a byte.
    #[inline(always)]
    pub(super) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = layout::pair_key(left, right);
        let mixed = layout::mix(key);
        let (word, bit) = layout::filter_bit(mixed);
        if self.filter[word] >> bit & 1 == 0 {
            return 0;
        }
        let mut line = layout::home_of_mixed(mixed, self.pairs.len());
        loop {
            let slots = &self.pairs[line];
            let mut found = 0;
            for slot in slots {
                found = if slot >> layout::ID_BITS == key { *slot } else { found };
            }
            if found != 0 {
                let id = found as u32 & ((1 << layout::ID_BITS) - 1);
                return if id < self.end { id } else { 0 };
            }
            if slots[NARROW - 1] == 0 {
                return 0;
            }
            line = if line + 1 == self.pairs.len() { 0 } else { line + 1 };
        }
    }

    /// Whether the token with this narrow key exists.
    #[inline(always)]
    pub(super) fn has_narrow(&self, key: u64) -> bool {
        let mut line = layout::home(key, self.narrow.len());
        loop {
            let slots = &self.narrow[line];
            if slots.iter().fold(false, |found, slot| found | (*slot == key)) {
                return true;
            }
            if slots[NARROW - 1] == 0 {
                return false;
            }
            line = if line + 1 == self.narrow.len() { 0 } else { line + 1 };
        }
    }

    /// Whether the token with this wide key exists.
    #[inline(always)]
    pub(super) fn has_wide(&self, key: u128) -> bool {
        let mut line = layout::home_wide(key, self.wide.len());
        loop {
            let slots = &self.wide[line];
            if slots.iter().fold(false, |found, slot| found | (*slot == key)) {
                return true;
            }
            if slots[WIDE - 1] == 0 {
                return false;
            }
            line = if line + 1 == self.wide.len() { 0 } else { line + 1 };
        }
    }

    /// Returns all merges as (left, right, id), in no order.
    pub(super) fn merges(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let mask = (1 << layout::ID_BITS) - 1;
        let taken = self.pairs.iter().flatten().filter(|slot| **slot != 0);
        let merges = taken.map(move |slot| {
            (
                (slot >> (2 * layout::ID_BITS)) as u32 - 1,
                (slot >> layout::ID_BITS & mask) as u32,
                (slot & mask) as u32,
            )
        });
        merges.filter(|(.., id)| *id < self.end)
    }
}
