//! Which words are one token in `o200k_base`, and so in most vocabularies: a set that fits in 64 KB.
//!
//! A Bloom filter over the words of the vocabulary, written by `examples/codegen.rs`: a word that is in it is found, and one
//! of fifty that are not is found all the same, which an estimate can bear.
// Part of this crate and, by `#[path]`, of `examples/codegen.rs`.

/// The filter's size: nine bits a word.
pub(crate) const BYTES: usize = 1 << 16;

/// Words longer than this are in no filter.
const LONGEST: usize = 16;

/// Returns the four bits of a word, `None` where it is too long to be looked up. A word behind a blank is another one.
pub(crate) fn bits(word: &[u8], is_behind_blank: bool) -> Option<[usize; 4]> {
    let mut padded = [0; LONGEST];
    padded.get_mut(..word.len())?.copy_from_slice(word);
    let all = u128::from_le_bytes(padded);
    let (low, high) = (all as u64, (all >> 64) as u64);
    // Multipliers are those of MurmurHash's finalizer.
    let mut hash = low ^ high.rotate_left(29) ^ (word.len() as u64) << 58 ^ u64::from(is_behind_blank) << 63;
    hash = (hash ^ hash >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ hash >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^= hash >> 33;
    Some([0, 15, 30, 45].map(|shift| (hash >> shift) as usize % (BYTES * 8)))
}

/// Returns whether `word` is in `filter`, which has [`BYTES`] bytes.
pub(crate) fn contains(filter: &[u8; BYTES], word: &[u8], is_behind_blank: bool) -> bool {
    let is_set = |bit: usize| filter[bit / 8] >> (bit % 8) & 1 == 1;
    bits(word, is_behind_blank).is_some_and(|bits| bits.into_iter().all(is_set))
}
