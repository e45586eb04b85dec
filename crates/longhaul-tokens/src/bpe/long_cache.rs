//! Counts of longer pieces that were seen before: words of scripts whose letters take two or three bytes, and the runs of
//! those that write without blanks.

/// The longest piece that is kept.
pub(super) const LONG_BYTES: usize = 256;

/// Slots when the first piece comes: 16 KB.
const FIRST_SLOTS: usize = 1 << 10;
/// Slots at most, of which half are used: 2 MB.
const MOST_SLOTS: usize = 1 << 17;
/// Bytes of pieces at most. When there is no room, everything is forgotten.
const MOST_BYTES: usize = 8 << 20;
/// Slots that a piece may be in, so that no text can make a search long.
const PROBES: usize = 8;

/// The counts of pieces of 16 to [`LONG_BYTES`] bytes, of one vocabulary.
#[derive(Debug, Default)]
pub(super) struct LongPieces {
    /// A power of two, or none.
    slots: Vec<Slot>,
    /// Slots that are used.
    taken: usize,
    /// The pieces, one behind the other.
    bytes: Vec<u8>,
}

/// A piece. Length zero for none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    start: u32,
    length: u16,
    count: u16,
}

impl LongPieces {
    /// Returns the count of `piece`, whose [`hash`] this is.
    #[inline]
    pub(super) fn get(&self, piece: &[u8], hash: u64) -> Option<usize> {
        for nth in 0..PROBES {
            let slot = self.slots.get(self.at(hash, nth))?;
            if slot.length == 0 {
                return None;
            }
            let start = slot.start as usize;
            if slot.hash == hash
                && usize::from(slot.length) == piece.len()
                && self.bytes.get(start..start + piece.len()) == Some(piece)
            {
                return Some(usize::from(slot.count));
            }
        }
        None
    }

    /// Keeps the count of `piece`, whose [`hash`] this is and which is at most [`LONG_BYTES`] long.
    pub(super) fn put(&mut self, piece: &[u8], hash: u64, count: usize) {
        if self.bytes.len() + piece.len() > MOST_BYTES {
            *self = LongPieces::default();
        }
        if self.taken * 2 >= self.slots.len() {
            self.make_room();
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(piece);
        self.place(Slot { hash, start, length: piece.len() as u16, count: count as u16 });
    }

    /// Doubles the slots, or forgets everything where there are as many as may be.
    fn make_room(&mut self) {
        if self.slots.len() >= MOST_SLOTS {
            *self = LongPieces::default();
        }
        let slots = vec![Slot::default(); (self.slots.len() * 2).max(FIRST_SLOTS)];
        let old = std::mem::replace(&mut self.slots, slots);
        self.taken = 0;
        old.into_iter().filter(|slot| slot.length > 0).for_each(|slot| self.place(slot));
    }

    /// Puts a piece into the first free of its slots, or over the one in its first.
    fn place(&mut self, piece: Slot) {
        let free = (0..PROBES).map(|nth| self.at(piece.hash, nth)).find(|at| self.slots[*at].length == 0);
        self.taken += usize::from(free.is_some());
        let at = free.unwrap_or_else(|| self.at(piece.hash, 0));
        self.slots[at] = piece;
    }

    /// The `nth` slot of a piece.
    #[inline(always)]
    fn at(&self, hash: u64, nth: usize) -> usize {
        (hash as usize).wrapping_add(nth) & self.slots.len().wrapping_sub(1)
    }
}

/// Spreads a piece of 16 bytes or more over 64 bits.
#[inline(always)]
pub(super) fn hash(piece: &[u8]) -> u64 {
    let fold = |hash: u64, bytes: &[u8; 16]| {
        let both = u128::from_le_bytes(*bytes);
        let product =
            u128::from(both as u64 ^ hash) * u128::from((both >> 64) as u64 ^ 0x9E37_79B9_7F4A_7C15);
        product as u64 ^ (product >> 64) as u64
    };
    let (chunks, _) = piece.as_chunks();
    let hash = chunks.iter().fold(piece.len() as u64, fold);
    // The last bytes again, so that there is no rest.
    piece.last_chunk().map_or(hash, |last| fold(hash, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(nth: usize) -> Vec<u8> {
        format!("{nth:016}").repeat(nth % 16 + 1).into_bytes()
    }

    #[test]
    fn what_is_found_is_what_was_put_and_room_is_bounded() {
        let mut pieces = LongPieces::default();
        for nth in 0..200_000 {
            let (new, earlier) = (piece(nth), piece(nth / 2));
            pieces.put(&new, hash(&new), nth % 256 + 1);
            assert_eq!(pieces.get(&new, hash(&new)), Some(nth % 256 + 1));
            assert!(pieces.get(&earlier, hash(&earlier)).is_none_or(|count| count == nth / 2 % 256 + 1));
            assert!(pieces.slots.len() <= MOST_SLOTS && pieces.bytes.len() <= MOST_BYTES);
        }
    }

    #[test]
    fn pieces_of_one_hash_are_told_apart() {
        let mut pieces = LongPieces::default();
        let all: Vec<Vec<u8>> = (0..PROBES).map(piece).collect();
        all.iter().enumerate().for_each(|(nth, piece)| pieces.put(piece, 7, nth + 1));
        for (nth, piece) in all.iter().enumerate() {
            assert_eq!(pieces.get(piece, 7), Some(nth + 1));
        }
        assert_eq!(pieces.get(&piece(PROBES), 7), None);
        // One more than there are slots takes the place of the first.
        pieces.put(&piece(PROBES), 7, 99);
        assert_eq!(pieces.get(&piece(PROBES), 7), Some(99));
        assert_eq!(pieces.get(&piece(0), 7), None);
    }
}
