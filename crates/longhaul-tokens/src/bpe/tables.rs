//! How the tables of a vocabulary are made from its merges. Shared by the build script, which writes them into the
//! binary, and the counter, which makes those of a `tokenizer.json` when it reads one.

use super::layout::*;

/// The tables of one vocabulary, in the form that `layout` describes.
#[derive(Debug)]
pub(super) struct Tables {
    /// Whether each merge comes after those of its parts. Where one does not, what a merge makes possible may come before it.
    pub(super) is_ordered: bool,
    pub(super) byte_ids: Vec<u32>,
    pub(super) byte_pairs: Vec<u32>,
    pub(super) chars: Vec<u32>,
    pub(super) cut_behind: Vec<u16>,
    pub(super) cut_before: Vec<u16>,
    pub(super) filter: Vec<u64>,
    pub(super) pairs: Vec<u64>,
    pub(super) narrow: Vec<u64>,
    pub(super) wide: Vec<u128>,
}

impl Tables {
    /// Makes the tables of a vocabulary whose tokens 0 to 255 are the bytes in `singles`, and whose further tokens are the
    /// merges of two others; `None` for an id that is no token. A lower id is merged first.
    ///
    /// Whole pieces of up to [`WIDE_BYTES`] are looked up among the tokens below `whole`, each of which must be what merging
    /// its own bytes gives, and among `others`, which need not.
    ///
    /// Returns `None` where there are more tokens than ids, or one that is not made of others in the end.
    pub(super) fn new(
        singles: &[u8; 256],
        merges: &[Option<(u32, u32)>],
        whole: u32,
        others: &[Vec<u8>],
    ) -> Option<Tables> {
        // The last ids are left free, so that none is as high as "none" in the tables of borders.
        if merges.len() + 260 > 1 << ID_BITS {
            return None;
        }
        let mut byte_ids = vec![0; 256];
        singles.iter().zip(0..).for_each(|(byte, id)| byte_ids[usize::from(*byte)] = id);
        let is_part = |merge: &(u32, u32), id: u32| merge.0 < id && merge.1 < id;
        let is_ordered =
            merges.iter().zip(256..).all(|(merge, id)| merge.is_none_or(|merge| is_part(&merge, id)));
        let mut made = Tables {
            is_ordered,
            byte_ids,
            byte_pairs: vec![0; BYTE_PAIRS],
            chars: vec![0; CHARS],
            cut_behind: vec![u16::MAX; BORDERS],
            cut_before: vec![u16::MAX; BORDERS],
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            pairs: Vec::new(),
            narrow: Vec::new(),
            wide: Vec::new(),
        };
        // All bytes in one place, and where those of each token begin.
        let (mut bytes, mut starts) = (singles.to_vec(), (0..=256).collect::<Vec<usize>>());
        let (mut pairs, mut narrow, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        for (merge, id) in merges.iter().zip(256..) {
            if let Some((left, right)) = *merge {
                let start = bytes.len();
                // A token is its left part and then its right part, down to tokens that are spelled already.
                let mut pending = vec![right, left];
                while let Some(part) = pending.pop() {
                    if let Some(edges) = starts.get(part as usize..part as usize + 2) {
                        bytes.extend_from_within(edges[0]..edges[1]);
                    } else {
                        let (left, right) = (*merges.get(part as usize - 256)?)?;
                        pending.extend([right, left]);
                    }
                    if pending.len() > MOST_PARTS || bytes.len() - start > MOST_BYTES {
                        return None;
                    }
                }
                pairs.push(pair_key(left, right) << ID_BITS | u64::from(id));
                made.note(&bytes[start..], id);
            }
            starts.push(bytes.len());
        }
        if !is_ordered {
            // Whether a character is merged before what cuts it does not follow from its own id.
            made.chars.fill(0);
        }
        let merged = starts.windows(2).take(whole as usize).map(|edges| &bytes[edges[0]..edges[1]]);
        for token in merged.chain(others.iter().map(Vec::as_slice)) {
            let mut start = [0; 16];
            if (1..=NARROW_BYTES).contains(&token.len()) {
                start[..token.len()].copy_from_slice(token);
                narrow.push(narrow_key(u128::from_le_bytes(start) as u64, token.len()));
            } else if (1..=WIDE_BYTES).contains(&token.len()) {
                start[..token.len()].copy_from_slice(token);
                wide.push(wide_key(u128::from_le_bytes(start), token.len()));
            }
        }
        for pair in &pairs {
            let (word, bit) = filter_bit(mix(pair >> ID_BITS));
            made.filter[word] |= 1 << bit;
        }
        // The fuller the lines, the smaller the binary, and the more searches read a second one.
        made.pairs = lines::<u64, NARROW>(&pairs, 80, |slot, lines| home(slot >> ID_BITS, lines));
        made.narrow = lines::<u64, NARROW>(&narrow, 85, home);
        made.wide = lines::<u128, WIDE>(&wide, 85, home_wide);
        Some(made)
    }

    /// Notes a merged token in the tables that are indexed by bytes.
    fn note(&mut self, token: &[u8], id: u32) {
        if let [first @ 0..0x80, second @ 0..0x80] = *token {
            self.byte_pairs[byte_pair(first, second)] = id;
        }
        if let Some(slot) = std::str::from_utf8(token).ok().and_then(char_slot) {
            self.chars[slot] = id;
        }
        let continues = |byte: &u8| (0x80..0xC0).contains(byte);
        // A token that begins within a character and goes on behind it.
        let begun = token.iter().take_while(|byte| continues(byte)).count();
        if (1..token.len()).contains(&begun) {
            let lowest = &mut self.cut_before[border_behind(token[begun - 1], token[begun])];
            *lowest = coarse(id).min(*lowest);
        }
        // A token that ends within a character and began before it.
        if let Some(lead) = token.iter().rposition(|byte| !continues(byte))
            && lead > 0
            && token.len() - lead < char_length(token[lead])
        {
            let lowest = &mut self.cut_behind[border_before(token[lead - 1], token[lead])];
            *lowest = coarse(id).min(*lowest);
        }
    }
}

/// Bytes of the longest token, and the parts that wait while one is spelled: far more than any vocabulary has, and an end for
/// merges that go round in circles.
const MOST_BYTES: usize = 1 << 16;
const MOST_PARTS: usize = 1 << 10;

/// Returns the slot of the only character of `text`, where it is one that has a slot.
fn char_slot(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let only = chars.next().filter(|_| chars.next().is_none())?;
    slot_of_char(u32::from(only))
}

/// Lays `keys` out in lines of `SLOTS`, so that `percent` of the slots are taken.
fn lines<T: Copy + Default + PartialEq, const SLOTS: usize>(
    keys: &[T],
    percent: usize,
    home: impl Fn(T, usize) -> usize,
) -> Vec<T> {
    let lines = (keys.len() * 100).div_ceil(SLOTS * percent).max(1);
    let mut slots = vec![T::default(); lines * SLOTS];
    for key in keys {
        let mut line = home(*key, lines);
        loop {
            let free = slots[line * SLOTS..][..SLOTS].iter_mut().find(|slot| **slot == T::default());
            if let Some(slot) = free {
                *slot = *key;
                break;
            }
            line = (line + 1) % lines;
        }
    }
    slots
}
