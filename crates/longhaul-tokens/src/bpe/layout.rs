//! How the static tables are laid out. Shared by the build script, which writes them, and the counter, which reads them.
//!
//! All tables are open-addressed hash sets of whole cache lines: a key lives in its home line, or in a following one if
//! that is full. A line with an empty slot therefore ends a search, and nearly every search reads one line.

/// Slots of eight bytes in a line.
pub(super) const NARROW: usize = 8;
/// Slots of sixteen bytes in a line.
pub(super) const WIDE: usize = 4;

/// Bits of a token id. The largest vocabulary has 200,000 tokens.
pub(super) const ID_BITS: u32 = 18;

/// The longest token in the narrow table, in bytes; one byte of the key is its length.
pub(super) const NARROW_BYTES: usize = 7;
/// The longest token in the wide table, in bytes. Longer tokens are found by merging.
pub(super) const WIDE_BYTES: usize = 15;

/// The key of a pair of tokens. Never zero, so that it is not taken for an empty slot.
#[inline(always)]
pub(super) const fn pair_key(left: u32, right: u32) -> u64 {
    (left as u64 + 1) << ID_BITS | right as u64
}

/// The home line of a key among `lines`.
#[inline(always)]
pub(super) const fn home(key: u64, lines: usize) -> usize {
    // Fibonacci hashing; the multiply-shift maps the upper half to 0..lines without a division.
    let mixed = (key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (((mixed >> 32) * lines as u64) >> 32) as usize
}

/// The home line of a wide key among `lines`.
#[inline(always)]
pub(super) const fn home_wide(key: u128, lines: usize) -> usize {
    home(key as u64 ^ ((key >> 64) as u64).rotate_left(25), lines)
}

/// The key of a token of at most [`NARROW_BYTES`]: its bytes, and its length in the top byte. Never zero.
#[inline(always)]
pub(super) const fn narrow_key(bytes: u64, length: usize) -> u64 {
    bytes & ((1 << (8 * length)) - 1) | (length as u64) << 56
}

/// The key of a token of at most [`WIDE_BYTES`]: its bytes, and its length in the top byte. Never zero.
#[inline(always)]
pub(super) const fn wide_key(bytes: u128, length: usize) -> u128 {
    bytes & ((1 << (8 * length)) - 1) | (length as u128) << 120
}
