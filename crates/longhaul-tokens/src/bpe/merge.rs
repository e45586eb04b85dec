//! Byte-pair merging of one piece.
//!
//! The definition: start from single bytes, and merge the leftmost pair whose merge has the lowest id, until no pair
//! merges. Pairs of *tokens* are looked up, not their bytes: between merges, the bytes of a token that is still in two
//! parts are always in the same two parts (what happens inside them depends on nothing outside), so one pair for each
//! token says all.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    layout,
    simd::{self, Machine},
    vocab::Vocab,
};

/// The longest text that is merged at once. Longer ones go through [`long`].
pub(super) const WINDOW: usize = 96;

/// The same for text beyond ASCII, which has fewer parts, since most begin as whole characters.
const WIDE_WINDOW: usize = 288;

/// Windows grow up to this where a longer look is needed; beyond it, what is left is merged with a heap.
const MAX_WINDOW: usize = 2048;

/// Bytes at the end of a window that are expected to come out differently when more follows.
const DOUBTFUL: usize = 16;

/// Room for merging, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each part: the id its merge with the next part would have, and its own index in the low bits; all ones where
    /// they do not merge, or where the part was merged into the one before.
    keys: Vec<[u32; simd::LANES]>,
    /// The parts, and one behind the last.
    parts: Vec<Part>,
    tokens: Vec<Token>,
    ahead: Vec<Token>,
    /// Windows merged before, each at the place its bytes hash to: text without end often repeats itself.
    known: [Known; KNOWN],
}

/// A window that was merged, and its tokens, whose ends count from its start. Of one vocabulary, as the whole scratch is.
#[derive(Debug, Default)]
struct Known {
    bytes: Vec<u8>,
    tokens: Vec<Token>,
}

/// Windows that are remembered: more than the places at which they begin in a run of emoji.
const KNOWN: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    id: u32,
    start: u16,
    next: u16,
    before: u16,
}

/// A token and where it ends, counted from the start of what was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    id: u32,
    end: usize,
}

const NONE: u32 = u32::MAX;
/// Bits of a key for the index; the other 18 are the id.
const INDEX_BITS: u32 = 14;

impl Scratch {
    /// Returns the number of tokens in `piece`.
    pub(super) fn count(&mut self, vocab: &Vocab<'_>, piece: &[u8]) -> usize {
        if piece.len() <= WINDOW || piece.len() <= WIDE_WINDOW && !piece.is_ascii() {
            return simd::compiled_for_machine(Merge { scratch: self, vocab, piece });
        }
        let mut count = 0;
        self.long(vocab, piece, |_| count += 1);
        count
    }

    /// Appends the tokens of `piece` to `ids`.
    pub(super) fn encode(&mut self, vocab: &Vocab<'_>, piece: &[u8], ids: &mut Vec<u32>) {
        if piece.len() <= WINDOW {
            simd::compiled_for_machine(Merge { scratch: self, vocab, piece });
            self.each(|token| ids.push(token.id));
        } else {
            self.long(vocab, piece, |token| ids.push(token.id));
        }
    }

    /// Merges `piece`, of at most [`MAX_WINDOW`] bytes, and returns the number of parts that are left in `self.parts`.
    ///
    /// Each merge looks for the lowest key in the whole array. That is quadratic in a bounded length and has no branches; it
    /// beats a heap up to several hundred parts.
    #[inline(always)]
    fn merge(&mut self, vocab: &Vocab<'_>, piece: &[u8], machine: impl Machine) -> usize {
        let end = self.begin(vocab, piece);
        let (parts, keys) = (&mut self.parts[..], &mut self.keys[..]);
        let mut count = end;
        loop {
            let lowest = machine.lowest(keys);
            if lowest == NONE {
                return count;
            }
            let (mut at, id) = ((lowest & ((1 << INDEX_BITS) - 1)) as usize, lowest >> INDEX_BITS);
            let keys = keys.as_flattened_mut();
            loop {
                count -= 1;
                let gone = usize::from(parts[at].next);
                let next = usize::from(parts[gone].next);
                parts[at].id = id;
                parts[at].next = next as u16;
                parts[next].before = at as u16;
                keys[gone] = NONE;
                if at > 0 {
                    let before = usize::from(parts[at].before);
                    keys[before] = key(vocab.merged(parts[before].id, id), before);
                }
                if next == end {
                    keys[at] = NONE;
                    break;
                }
                // A run of the same pair goes on without another search: what a merge makes possible has a higher id, so no
                // merge comes before these. The pair of the two results is looked up with the second.
                if vocab.is_ordered && keys[next] >> INDEX_BITS == id {
                    at = next;
                    continue;
                }
                keys[at] = key(vocab.merged(id, parts[next].id), at);
                break;
            }
        }
    }

    /// Fills `parts` and `keys` with what merging `piece` begins with, and returns the number of parts.
    #[inline(always)]
    fn begin(&mut self, vocab: &Vocab<'_>, piece: &[u8]) -> usize {
        let (parts, keys) = (&mut self.parts, &mut self.keys);
        parts.clear();
        let mut part = |id: u32, start: usize| {
            let nth = parts.len() as u16;
            parts.push(Part { id, start: start as u16, next: nth + 1, before: nth.wrapping_sub(1) });
        };
        let is_ascii = piece.is_ascii();
        if is_ascii {
            let ids = piece.iter().map(|byte| vocab.byte_ids[usize::from(*byte)]);
            ids.zip(0..).for_each(|(id, start)| part(id, start));
        } else {
            vocab.parts(piece, &mut part);
        }
        part(NONE, piece.len());
        let count = parts.len() - 1;
        keys.clear();
        keys.resize(count / simd::LANES + 1, [NONE; simd::LANES]);
        let keys = keys.as_flattened_mut();
        if is_ascii {
            for (at, (key_of, pair)) in keys.iter_mut().zip(piece.windows(2)).enumerate() {
                *key_of = key(vocab.merged_bytes(pair[0], pair[1]), at);
            }
        } else {
            for (at, (key_of, pair)) in keys.iter_mut().zip(parts[..count].windows(2)).enumerate() {
                *key_of = key(vocab.merged(pair[0].id, pair[1].id), at);
            }
        }
        count
    }

    /// Calls `found` with each token that [`merge`](Self::merge) left.
    fn each(&self, mut found: impl FnMut(Token)) {
        let mut at = 0;
        while let Some(part) = self.parts.get(at).filter(|part| part.id != NONE) {
            at = usize::from(part.next);
            let end = self.parts.get(at).map_or(0, |next| usize::from(next.start));
            found(Token { id: part.id, end });
        }
    }

    /// Merges a piece of any length, in time linear in it, and calls `found` with its tokens in order.
    ///
    /// A sequence of tokens is what merging yields exactly if each two neighbours are what merging their bytes yields
    /// (rust-gems, "So many tokens, so little time", 2024, proves it). Windows that overlap can therefore be joined at any
    /// token that both have at the same place: every pair of neighbours then is one of a merged window.
    ///
    /// The proof needs merges that come after those of their parts; where they do not, a heap takes `O(n log n)`.
    fn long(&mut self, vocab: &Vocab<'_>, piece: &[u8], mut found: impl FnMut(Token)) {
        if !vocab.is_ordered {
            return merge_with_heap(vocab, piece, found);
        }
        let (mut tokens, mut ahead) = (std::mem::take(&mut self.tokens), std::mem::take(&mut self.ahead));
        let (mut from, mut window) = (0, WINDOW);
        self.window(vocab, piece, from, window, &mut tokens);
        loop {
            let end = tokens.last().map_or(piece.len(), |token| token.end);
            if end == piece.len() {
                tokens.iter().for_each(|token| found(*token));
                break;
            }
            // Look further from the last edge that is hardly in doubt, and see where both agree on a token.
            let sure = tokens.partition_point(|token| token.end + DOUBTFUL <= end);
            let start = sure.checked_sub(1).and_then(|last| tokens.get(last)).map(|token| token.end);
            let joint = start.and_then(|start| {
                self.window(vocab, piece, start, window, &mut ahead);
                joint(&tokens, sure, &ahead, start)
            });
            match joint {
                Some((here, there)) => {
                    tokens[..here].iter().for_each(|token| found(*token));
                    from = tokens[here - 1].end;
                    tokens.clear();
                    tokens.extend_from_slice(&ahead[there..]);
                }
                // The tokens here are too long for the window: begin again where it began, with a wider one.
                None if window < MAX_WINDOW => {
                    window *= 2;
                    self.window(vocab, piece, from, window, &mut tokens);
                }
                None => {
                    merge_with_heap(vocab, &piece[from..], |token| {
                        found(Token { id: token.id, end: from + token.end });
                    });
                    break;
                }
            }
        }
        (self.tokens, self.ahead) = (tokens, ahead);
    }

    /// Puts the tokens of the `window` bytes of `piece` that begin at `from` into `tokens`.
    fn window(
        &mut self,
        vocab: &Vocab<'_>,
        piece: &[u8],
        from: usize,
        window: usize,
        tokens: &mut Vec<Token>,
    ) {
        let bytes = &piece[from..piece.len().min(from + window)];
        let nth = layout::home(hash(bytes), KNOWN);
        if self.known[nth].bytes != bytes {
            simd::compiled_for_machine(Merge { scratch: self, vocab, piece: bytes });
            let mut known = std::mem::take(&mut self.known[nth]);
            known.bytes.clear();
            known.bytes.extend_from_slice(bytes);
            known.tokens.clear();
            self.each(|token| known.tokens.push(token));
            self.known[nth] = known;
        }
        tokens.clear();
        let known = self.known[nth].tokens.iter();
        tokens.extend(known.map(|token| Token { id: token.id, end: from + token.end }));
    }
}

/// One call of [`Scratch::merge`].
struct Merge<'a> {
    scratch: &'a mut Scratch,
    vocab: &'a Vocab<'a>,
    piece: &'a [u8],
}

impl simd::Body for Merge<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> usize {
        self.scratch.merge(self.vocab, self.piece, machine)
    }
}

/// Returns the first token that `tokens`, from index `sure` on, and `ahead` have in common, as its index in both. The
/// token at `sure` and the first one ahead begin at `start`.
fn joint(tokens: &[Token], sure: usize, ahead: &[Token], start: usize) -> Option<(usize, usize)> {
    let (mut here, mut there) = (sure, 0);
    let (mut here_start, mut there_start) = (start, start);
    loop {
        let (one, other) = (tokens.get(here)?, ahead.get(there)?);
        if here_start == there_start && one.end == other.end {
            return Some((here, there));
        }
        // Whichever ends first goes on; both where they end together, which is where the next may agree.
        let (one_end, other_end) = (one.end, other.end);
        if one_end <= other_end {
            (here, here_start) = (here + 1, one_end);
        }
        if other_end <= one_end {
            (there, there_start) = (there + 1, other_end);
        }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest = words.remainder().iter().fold(bytes.len() as u64, |rest, byte| rest << 8 | u64::from(*byte));
    words.fold(rest, |hash, word| {
        let word = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        layout::mix(hash.rotate_left(23) ^ word)
    })
}

#[inline(always)]
fn key(id: u32, at: usize) -> u32 {
    if id == 0 { NONE } else { id << INDEX_BITS | at as u32 }
}

/// Merges a piece of any length in `O(n log n)`, by a heap of candidates.
fn merge_with_heap(vocab: &Vocab<'_>, piece: &[u8], mut found: impl FnMut(Token)) {
    struct Link {
        id: u32,
        next: usize,
        before: usize,
    }
    let length = piece.len();
    let mut links: Vec<Link> = piece
        .iter()
        .enumerate()
        .map(|(at, byte)| Link {
            id: vocab.byte_ids[usize::from(*byte)],
            next: at + 1,
            before: at.wrapping_sub(1),
        })
        .collect();
    // A candidate names the ids it would merge: if they are no longer there, it is out of date.
    let mut heap = BinaryHeap::new();
    let candidate = |links: &[Link], at: usize| {
        let (left, right) = (links.get(at)?, links.get(links.get(at)?.next)?);
        match vocab.merged(left.id, right.id) {
            0 => None,
            id => Some(Reverse((id, at, left.id, right.id))),
        }
    };
    heap.extend((0..length).filter_map(|at| candidate(&links, at)));
    while let Some(Reverse((id, at, left, right))) = heap.pop() {
        let next = links[at].next;
        if links[at].id != left || links.get(next).is_none_or(|link| link.id != right) {
            continue;
        }
        let after = links[next].next;
        links[next].id = NONE;
        links[at].id = id;
        links[at].next = after;
        if let Some(link) = links.get_mut(after) {
            link.before = at;
        }
        heap.extend(candidate(&links, at));
        heap.extend(candidate(&links, links[at].before));
    }
    let mut at = 0;
    while at < length {
        let id = links[at].id;
        at = links[at].next;
        found(Token { id, end: at });
    }
}

#[cfg(all(test, feature = "o200k", feature = "cl100k"))]
mod tests {
    use proptest::prelude::*;

    use super::{super::vocab, *};

    fn vocabularies() -> Vec<Vocab<'static>> {
        #[allow(unused_mut, reason = "a build may have fewer")]
        let mut all = vec![vocab::o200k(), vocab::cl100k()];
        #[cfg(feature = "p50k")]
        all.extend([vocab::p50k(), vocab::r50k()]);
        all
    }

    fn with_heap(vocab: &Vocab<'_>, piece: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        merge_with_heap(vocab, piece, |token| ids.push(token.id));
        ids
    }

    fn check(vocab: &Vocab<'_>, piece: &[u8]) {
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        scratch.encode(vocab, piece, &mut ids);
        assert_eq!(ids, with_heap(vocab, piece), "{:?}", String::from_utf8_lossy(piece));
        assert_eq!(scratch.count(vocab, piece), ids.len());
    }

    #[test]
    fn known_tokens() {
        let tokens = |text: &str| with_heap(&vocab::o200k(), text.as_bytes());
        assert_eq!(tokens("hello"), [24912]);
        assert_eq!(tokens("antidisestablishmentarianism").len(), 6);
    }

    #[test]
    fn windows_join_where_tokens_are_longer_than_they() {
        for vocab in &vocabularies() {
            for unit in
                [" ", "\n", "a", "=", "-", "\t", "ab", "0", "\u{a0}", "日", "ha", "_", "*", ".", "/", "#"]
            {
                for length in [128, 129, 300, 2049] {
                    check(vocab, &unit.as_bytes().repeat(length));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn windows_give_what_the_heap_gives(
            words in prop::collection::vec("[a-c]{1,9}|[a-z]{2,12}|[A-Za-z0-9+/]{20}|日本|語| {1,90}|-{1,90}", 0..120),
        ) {
            let piece = words.concat();
            check(&vocab::o200k(), piece.as_bytes());
            check(&vocab::cl100k(), piece.as_bytes());
        }

        #[test]
        fn characters_that_tokens_cut_merge_as_their_bytes(
            words in prop::collection::vec("[\\u{0e00}-\\u{0e7f}]{1,4}|[\\u{0900}-\\u{097f}]{1,4}|[\\u{10a0}-\\u{10ff}]{1,4}|[\\u{4e00}-\\u{9fff}]{1,6}|[\\u{ac00}-\\u{d7a3}]{1,4}|[а-я]{1,8}|[\\u{600}-\\u{6ff}]{1,6}|[\\u{1f300}-\\u{1f9ff}]{1,3}|[ -~]{1,3}|[\\u{80}-\\u{2fff}]{1,2}", 0..60),
        ) {
            let piece = words.concat();
            for vocab in vocabularies() {
                check(&vocab, piece.as_bytes());
            }
        }

        #[test]
        fn any_bytes_merge(piece in prop::collection::vec(any::<u8>(), 0..700)) {
            check(&vocab::o200k(), &piece);
            check(&vocab::cl100k(), &piece);
        }
    }
}
