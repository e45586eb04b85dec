//! Counts of short pieces that were seen before.
//!
//! Text repeats its pieces: on English 91 %, on JSON 99 % of them are found in a table of the first size. A table that
//! loses what it would need again grows, up to [`MOST_PLACES`].

use super::{layout, simd};

/// The longest piece in the table.
pub(super) const SHORT_BYTES: usize = layout::WIDE_BYTES;

/// Places at first: 1 MB, of which only what is used becomes resident.
const FIRST_PLACES: usize = 1 << 16;
/// Places at most: 16 MB.
const MOST_PLACES: usize = 1 << 20;
/// A table grows by this factor, and when it has lost one piece in eight of its places.
const GROWTH: usize = 4;
/// Places that a piece may be in: its home, where it is looked for first, and those beside it.
const WAYS: usize = 4;

/// The counts of pieces of up to [`SHORT_BYTES`], of one vocabulary.
#[derive(Debug)]
pub(super) struct ShortPieces {
    /// A wide key, whose top four bits (the length needs but four) are the count; zero for none.
    places: Box<[u128]>,
    /// What is shifted away of a mixed key, so that the index of a place is left.
    shift: u32,
    /// Pieces that had to make room since the table has its size.
    lost: usize,
}

const COUNT_SHIFT: u32 = 124;

impl ShortPieces {
    pub(super) fn new() -> ShortPieces {
        ShortPieces::with_places(FIRST_PLACES)
    }

    fn with_places(places: usize) -> ShortPieces {
        // Zeroed by the system: a page costs nothing until it is written.
        ShortPieces { places: vec![0; places].into(), shift: 64 - places.ilog2(), lost: 0 }
    }

    /// Returns the home of the piece with this wide key.
    #[inline(always)]
    pub(super) fn home(&self, key: u128) -> usize {
        (layout::mix_wide(key) >> self.shift) as usize
    }

    /// Has a home fetched, since it will be looked at soon.
    #[inline(always)]
    pub(super) fn fetch(&self, home: usize) {
        simd::fetch(&self.places[home]);
    }

    /// Returns the count of the piece with this wide key, if it is at its home, which is `home`.
    #[inline(always)]
    pub(super) fn at_home(&self, home: usize, key: u128) -> Option<usize> {
        let place = self.places[home];
        is_of(place, key).then_some((place >> COUNT_SHIFT) as usize)
    }

    /// Returns the count of a piece that is not at its home but beside it, and takes it there: what comes up again is near.
    pub(super) fn beside(&mut self, key: u128) -> Option<usize> {
        let home = self.home(key);
        let line = self.places.get_mut(home & !(WAYS - 1)..)?.first_chunk_mut::<WAYS>()?;
        let way = line.iter().position(|place| is_of(*place, key))?;
        line.swap(way, home % WAYS);
        Some((line[home % WAYS] >> COUNT_SHIFT) as usize)
    }

    /// Keeps the count of a piece, which is at most its length.
    pub(super) fn put(&mut self, key: u128, count: usize) {
        self.place(key | (count as u128) << COUNT_SHIFT);
        if self.lost * 8 > self.places.len() && self.places.len() < MOST_PLACES {
            let mut larger = ShortPieces::with_places(self.places.len() * GROWTH);
            self.places.iter().filter(|place| **place != 0).for_each(|place| larger.place(*place));
            larger.lost = 0;
            *self = larger;
        }
    }

    /// Puts a piece with its count at its home. What was there moves beside it, and there one is lost if all are taken.
    fn place(&mut self, piece: u128) {
        let home = self.home(piece & ((1 << COUNT_SHIFT) - 1));
        let Some(line) = self.places.get_mut(home & !(WAYS - 1)..).and_then(<[_]>::first_chunk_mut::<WAYS>)
        else {
            return;
        };
        let moved = std::mem::replace(&mut line[home % WAYS], piece);
        if moved == 0 {
            return;
        }
        match line.iter_mut().find(|place| **place == 0) {
            Some(free) => *free = moved,
            None => {
                self.lost += 1;
                line[(home + 1 + self.lost % (WAYS - 1)) % WAYS] = moved;
            }
        }
    }
}

/// Whether the piece at a place is the one with this key.
#[inline(always)]
fn is_of(place: u128, key: u128) -> bool {
    let differs = place ^ key;
    // By halves: the compiler makes more of the whole.
    differs as u64 | ((differs >> 64) as u64) << (128 - COUNT_SHIFT) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(nth: u64) -> u128 {
        layout::wide_key(u128::from(nth), 15)
    }

    fn find(pieces: &mut ShortPieces, key: u128) -> Option<usize> {
        pieces.at_home(pieces.home(key), key).or_else(|| pieces.beside(key))
    }

    #[test]
    fn what_is_found_is_what_was_put() {
        let mut pieces = ShortPieces::new();
        for nth in 0..3_000_000 {
            pieces.put(key(nth), (nth % 15 + 1) as usize);
            for earlier in [nth, nth / 2, nth.saturating_sub(1000)] {
                let found = find(&mut pieces, key(earlier));
                assert!(found.is_none_or(|count| count == (earlier % 15 + 1) as usize));
            }
        }
        assert_eq!(pieces.places.len(), MOST_PLACES);
    }

    #[test]
    fn a_table_grows_when_it_loses_pieces_and_keeps_what_it_has() {
        let mut pieces = ShortPieces::new();
        for nth in 0..10_000 {
            pieces.put(key(nth), 1);
        }
        assert_eq!(pieces.places.len(), FIRST_PLACES);
        for nth in 0..100_000 {
            if find(&mut pieces, key(nth)).is_none() {
                pieces.put(key(nth), 2);
            }
        }
        assert_eq!(pieces.places.len(), FIRST_PLACES * GROWTH);
        let kept = (0..100_000).filter(|nth| find(&mut pieces, key(*nth)).is_some()).count();
        assert!(kept > 90_000, "{kept}");
    }
}
