//! The vocabularies: tables in the binary that are read in place, so that the first count needs no work before it.

#![allow(unsafe_code, reason = "gives the bytes of the tables their type, see `table!`")]

use super::layout::{self, NARROW, WIDE};

/// The tables of one vocabulary. See `layout` for their form and `build.rs` for how they are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vocab {
    /// The id of each single byte.
    pub(super) byte_ids: &'static [u32; 256],
    /// The id of each token of two bytes, by both bytes, the second times 256; zero where there is none.
    byte_pairs: &'static [u32; 1 << 16],
    /// Says of most pairs that are not in `pairs` that they are not. Small enough to stay near, where `pairs` is not:
    /// most pairs that merging asks for do not exist.
    filter: &'static [u64; 1 << (layout::FILTER_BITS - 6)],
    pairs: &'static [[u64; NARROW]],
    narrow: &'static [[u64; NARROW]],
    wide: &'static [[u128; WIDE]],
    /// Ids from here on do not exist.
    end: u32,
}

macro_rules! bytes {
    ($file:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $file))
    };
}

/// A table on a border of cache lines.
#[repr(align(64))]
struct Lines<T>(T);

/// Declares a static array of `$element` with the bytes of a file that the build script wrote.
macro_rules! table {
    ($name:ident, $element:ty, $file:literal) => {
        static $name: Lines<[$element; bytes!($file).len() / size_of::<$element>()]> =
            // SAFETY: the element is an array of integers, for which every bit pattern is a value; the compiler checks
            // that both sides have the same size. The build script wrote the target's byte order.
            Lines(unsafe {
                std::mem::transmute::<
                    [u8; bytes!($file).len()],
                    [$element; bytes!($file).len() / size_of::<$element>()],
                >(*bytes!($file))
            });
    };
}

table!(O200K_BYTE_IDS, u32, "o200k.byte_ids");
table!(O200K_BYTE_PAIRS, u32, "o200k.byte_pairs");
table!(O200K_FILTER, u64, "o200k.filter");
table!(O200K_PAIRS, [u64; NARROW], "o200k.pairs");
table!(O200K_NARROW, [u64; NARROW], "o200k.narrow");
table!(O200K_WIDE, [u128; WIDE], "o200k.wide");

table!(CL100K_BYTE_IDS, u32, "cl100k.byte_ids");
table!(CL100K_BYTE_PAIRS, u32, "cl100k.byte_pairs");
table!(CL100K_FILTER, u64, "cl100k.filter");
table!(CL100K_PAIRS, [u64; NARROW], "cl100k.pairs");
table!(CL100K_NARROW, [u64; NARROW], "cl100k.narrow");
table!(CL100K_WIDE, [u128; WIDE], "cl100k.wide");

table!(P50K_BYTE_IDS, u32, "p50k.byte_ids");
table!(P50K_BYTE_PAIRS, u32, "p50k.byte_pairs");
table!(P50K_FILTER, u64, "p50k.filter");
table!(P50K_PAIRS, [u64; NARROW], "p50k.pairs");
table!(P50K_NARROW, [u64; NARROW], "p50k.narrow");
table!(P50K_WIDE, [u128; WIDE], "p50k.wide");

/// `o200k_base`
pub(super) static O200K: Vocab = Vocab {
    byte_ids: &O200K_BYTE_IDS.0,
    byte_pairs: &O200K_BYTE_PAIRS.0,
    filter: &O200K_FILTER.0,
    pairs: &O200K_PAIRS.0,
    narrow: &O200K_NARROW.0,
    wide: &O200K_WIDE.0,
    end: u32::MAX,
};

/// `cl100k_base`
pub(super) static CL100K: Vocab = Vocab {
    byte_ids: &CL100K_BYTE_IDS.0,
    byte_pairs: &CL100K_BYTE_PAIRS.0,
    filter: &CL100K_FILTER.0,
    pairs: &CL100K_PAIRS.0,
    narrow: &CL100K_NARROW.0,
    wide: &CL100K_WIDE.0,
    end: u32::MAX,
};

/// `p50k_base`
pub(super) static P50K: Vocab = Vocab {
    byte_ids: &P50K_BYTE_IDS.0,
    byte_pairs: &P50K_BYTE_PAIRS.0,
    filter: &P50K_FILTER.0,
    pairs: &P50K_PAIRS.0,
    narrow: &P50K_NARROW.0,
    wide: &P50K_WIDE.0,
    end: u32::MAX,
};

/// `r50k_base`: `p50k_base` without the runs of blanks that were added behind it.
pub(super) static R50K: Vocab = Vocab { end: 50_256, ..P50K };

impl Vocab {
    /// Returns the token of two bytes, or zero.
    #[inline(always)]
    pub(super) fn merged_bytes(&self, first: u8, second: u8) -> u32 {
        let id = self.byte_pairs[usize::from(first) | usize::from(second) << 8];
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
