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
pub(super) const WIDE_BYTES: usize = WIDE_SLOT - 1;
/// Bytes of a slot of the wide table: a token and its length.
pub(super) const WIDE_SLOT: usize = 16;

/// The key of a pair of tokens. Never zero, so that it is not taken for an empty slot.
#[inline(always)]
pub(super) const fn pair_key(left: u32, right: u32) -> u64 {
    (left as u64 + 1) << ID_BITS | right as u64
}

/// Spreads a key over all 64 bits, the upper ones best: Fibonacci hashing.
#[inline(always)]
pub(super) const fn mix(key: u64) -> u64 {
    (key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The home line of a key among `lines`.
#[inline(always)]
pub(super) const fn home(key: u64, lines: usize) -> usize {
    home_of_mixed(mix(key), lines)
}

/// The home line of a key that [`mix`] has spread.
#[inline(always)]
pub(super) const fn home_of_mixed(mixed: u64, lines: usize) -> usize {
    // Maps the upper half to 0..lines without a division.
    (((mixed >> 32) * lines as u64) >> 32) as usize
}

/// Bits of the index of a filter bit: a filter is 2^20 bits, of which a pair in the table has set one.
pub(super) const FILTER_BITS: u32 = 20;

/// The filter bit of a key that [`mix`] has spread: the word, and the bit in it.
#[inline(always)]
pub(super) const fn filter_bit(mixed: u64) -> (usize, u32) {
    let bit = (mixed >> (64 - FILTER_BITS)) as usize;
    (bit / 64, bit as u32 % 64)
}

/// Spreads a wide key over 64 bits, the upper ones best.
#[inline(always)]
pub(super) const fn mix_wide(key: u128) -> u64 {
    (key as u64 ^ ((key >> 64) as u64).rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The home line of a wide key among `lines`.
#[inline(always)]
pub(super) const fn home_wide(key: u128, lines: usize) -> usize {
    home_of_mixed(mix_wide(key), lines)
}

/// The key of a token of at most [`NARROW_BYTES`]: its bytes, and its length in the top byte. Never zero.
#[inline(always)]
pub(super) const fn narrow_key(bytes: u64, length: usize) -> u64 {
    bytes & ((1 << (8 * length)) - 1) | (length as u64) << 56
}

/// The key of a token of at most [`WIDE_BYTES`]: its bytes, and its length in the top byte. Never zero.
#[inline(always)]
pub(super) const fn wide_key(bytes: u128, length: usize) -> u128 {
    bytes & FIRST_BYTES[length] | (length as u128) << (8 * WIDE_BYTES)
}

/// Masks for the first bytes of a slot, by their number: shifts by a variable number of bits are slow in 128 bits.
static FIRST_BYTES: [u128; WIDE_SLOT] = {
    let mut masks = [0; WIDE_SLOT];
    let mut length = 0;
    while length < WIDE_SLOT {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// Entries of the table of tokens of two bytes of ASCII.
pub(super) const BYTE_PAIRS: usize = 1 << 14;

/// The entry of two bytes of ASCII in that table.
#[inline(always)]
pub(super) const fn byte_pair(first: u8, second: u8) -> usize {
    (first as usize | (second as usize) << 7) % BYTE_PAIRS
}

/// Entries of a table of borders between characters. A token that goes across a border may cut the character before it or
/// the one behind it; for each two bytes at a border, a table has the lowest id of the tokens that cut, by [`coarse`]. A
/// character whose own id is lower is merged before any of them could be, so it can be merged at once.
pub(super) const BORDERS: usize = 1 << 14;

/// The entry of a border in the table of tokens that cut the character behind it, which begins with `lead`.
#[inline(always)]
pub(super) const fn border_before(before: u8, lead: u8) -> usize {
    (before as usize) << 6 | lead as usize & 0x3F
}

/// The entry of a border in the table of tokens that cut the character before it, which ends with `last`.
#[inline(always)]
pub(super) const fn border_behind(last: u8, after: u8) -> usize {
    (last as usize & 0x3F) << 8 | after as usize
}

/// An id, rounded down to what fits into 16 bits. All ones are above that of any id.
#[inline(always)]
pub(super) const fn coarse(id: u32) -> u16 {
    (id >> (ID_BITS - 16)) as u16
}

/// Slots of the table of characters that are tokens: the basic plane, and the plane of emoji from U+1F000 on.
pub(super) const CHARS: usize = 0x1_1000;

/// The slot of a character in the table of characters that are tokens.
#[inline(always)]
pub(super) const fn slot_of_char(c: u32) -> Option<usize> {
    match c {
        0x80..0x1_0000 => Some(c as usize),
        0x1_F000..0x2_0000 => Some((c - 0xF000) as usize),
        _ => None,
    }
}

/// The length in bytes of the character that begins with `lead`; one for a byte that begins none.
#[inline(always)]
pub(super) const fn char_length(lead: u8) -> usize {
    match lead {
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => 1,
    }
}
