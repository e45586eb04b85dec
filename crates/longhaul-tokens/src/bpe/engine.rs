//! The counting itself: a text, cut by windows or by definition, and its pieces, looked up or merged.

use super::{
    cache::{self, ShortPieces},
    layout,
    long_cache::{self, LongPieces},
    merge::Scratch,
    scan::{self, Grammar},
    simd::{self, Machine},
    vocab::Vocab,
    window::{self, Ending},
};

/// A vocabulary with the pattern that goes with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine<'a> {
    pub(super) vocab: Vocab<'a>,
    pub(super) grammar: Grammar,
}

impl Engine<'_> {
    /// Returns the number of tokens in `text`, or some number above `limit` as soon as that is clear. `state` is of this
    /// engine or new.
    pub(super) fn count_while(&self, state: &mut State, text: &str, limit: usize) -> usize {
        simd::compiled_for_machine(Count::new(self, state, text.as_bytes(), limit))
    }

    /// Returns where the last piece of `text` begins that begins before `end`, and the tokens of all pieces before it.
    pub(super) fn count_before(&self, state: &mut State, text: &str, end: usize) -> (usize, usize) {
        simd::compiled_for_machine(CountBefore(Count {
            until: end,
            ..Count::new(self, state, text.as_bytes(), usize::MAX)
        }))
    }

    /// Returns the tokens of `text`.
    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        let mut at = 0;
        while at < text.len() {
            let end = scan::piece_end(self.grammar, text.as_bytes(), at);
            scratch.encode(&self.vocab, &text.as_bytes()[at..end], &mut ids);
            at = end;
        }
        ids
    }
}

/// What is kept between counts.
#[derive(Debug)]
pub(super) struct State {
    short: ShortPieces,
    long: LongPieces,
    /// Keys of short pieces that are still to be looked up, while their places are fetched. Empty between counts.
    waiting: [u128; WAITING],
    /// Their homes in the table, or what were their homes before it grew.
    homes: [u32; WAITING],
    scratch: Scratch,
}

impl State {
    pub(super) fn new() -> State {
        State {
            short: ShortPieces::new(),
            long: LongPieces::default(),
            waiting: [0; WAITING],
            homes: [0; WAITING],
            scratch: Scratch::default(),
        }
    }
}

/// One count.
struct Count<'a> {
    vocab: &'a Vocab<'a>,
    grammar: Grammar,
    state: &'a mut State,
    text: &'a [u8],
    limit: usize,
    /// Windows and steps go no further than the piece that passes this.
    until: usize,
    /// Where the last piece of a step began, and the tokens before it.
    last: (usize, usize),
}

/// The most pieces that wait: those of a window, and as many as it takes to fetch a place meanwhile.
const WAITING: usize = 2 * window::BYTES;
/// A window, and what is read with the last of its pieces. The end of a text, where less is left, is counted in a copy.
const ROOM: usize = window::BYTES + layout::WIDE_SLOT;

impl simd::Body for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> usize {
        match self.grammar {
            Grammar::Gpt4o => self.by_windows::<true, 3>(machine),
            Grammar::Gpt4 | Grammar::Llama3 => self.by_windows::<false, 3>(machine),
            Grammar::Qwen => self.by_windows::<false, 1>(machine),
            Grammar::Gpt3 | Grammar::DeepSeek => self.by_pieces(),
        }
    }
}

/// A count of what begins before `until`, without the last piece of it.
struct CountBefore<'a>(Count<'a>);

impl simd::Body for CountBefore<'_> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run(self, machine: impl Machine) -> (usize, usize) {
        let mut count = self.0;
        let (at, before) = match count.grammar {
            Grammar::Gpt4o => count.whole_windows::<true, 3>(machine),
            Grammar::Gpt4 | Grammar::Llama3 => count.whole_windows::<false, 3>(machine),
            Grammar::Qwen => count.whole_windows::<false, 1>(machine),
            Grammar::Gpt3 | Grammar::DeepSeek => (0, 0),
        };
        count.last_before(at, before)
    }
}

impl<'a> Count<'a> {
    fn new(engine: &'a Engine<'a>, state: &'a mut State, text: &'a [u8], limit: usize) -> Count<'a> {
        let Engine { vocab, grammar } = engine;
        Count { vocab, grammar: *grammar, state, text, limit, until: text.len(), last: (0, 0) }
    }

    /// Goes on from `at`, before which there are `before` tokens, to the last piece that begins before `until`.
    fn last_before(&mut self, mut at: usize, mut before: usize) -> (usize, usize) {
        while at < self.until {
            self.last = (at, before);
            let end = scan::piece_end(self.grammar, self.text, at);
            before += self.piece(at, end);
            at = end;
        }
        self.last
    }

    /// Counts piece by piece.
    fn by_pieces(mut self) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < self.text.len() && count <= self.limit {
            let end = scan::piece_end(self.grammar, self.text, at);
            count += self.piece(at, end);
            at = end;
        }
        count
    }

    /// Counts window by window, and piece by piece where a window does not see enough, while there is room. Returns the
    /// start of the first piece that is not counted, and the tokens before it.
    #[inline(always)]
    fn whole_windows<const GPT4O: bool, const DIGITS: usize>(
        &mut self,
        machine: impl Machine,
    ) -> (usize, usize) {
        let (mut at, mut count, mut waiting) = (0, 0, 0);
        while at + ROOM <= self.until && count <= self.limit {
            let Some(room) = self.text[at..].first_chunk() else { break };
            let starts = starts::<GPT4O, DIGITS>(room, None, machine);
            if starts == 0 {
                count += self.look_up(&mut waiting);
                (at, count) = self.step(at, count);
                continue;
            }
            count += self.pieces(room, starts, &mut waiting);
            at += last_start(starts);
            if waiting > WAITING - window::BYTES {
                count += self.look_up(&mut waiting);
            }
        }
        count += self.look_up(&mut waiting);
        (at, count)
    }

    /// Counts window by window; the rest, too, in a copy that has something behind it.
    #[inline(always)]
    fn by_windows<const GPT4O: bool, const DIGITS: usize>(mut self, machine: impl Machine) -> usize {
        let (from, mut count) = self.whole_windows::<GPT4O, DIGITS>(machine);
        // There is no more room in the rest, or the limit is passed.
        let rest = &self.text[from..];
        let mut tail = [0xFF; 2 * ROOM];
        if let Some(start) = tail.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        let (mut at, mut waiting) = (0, 0);
        while at < rest.len() && count <= self.limit {
            let Some(room) = tail.get(at..).and_then(<[_]>::first_chunk) else { break };
            let length = rest.len() - at;
            let ending = (length < window::BYTES)
                .then_some(Ending { length: length as u32, joins_blanks: self.grammar == Grammar::Gpt4 });
            let starts = starts::<GPT4O, DIGITS>(room, ending, machine);
            if starts == 0 {
                let (end, sum) = self.step(from + at, count);
                (at, count) = (end - from, sum);
                continue;
            }
            count += self.pieces(room, starts, &mut waiting);
            at += last_start(starts);
        }
        // So short a rest has fewer pieces than may wait.
        const { assert!(ROOM <= WAITING) };
        count + self.look_up(&mut waiting)
    }

    /// Takes the pieces at the beginning of `room`: the first begins there, the others at `starts`, and what begins at the last
    /// of them is left. Short ones are put among those that wait; returns the tokens of the others.
    #[inline(always)]
    fn pieces(&mut self, room: &[u8; ROOM], starts: u64, waiting: &mut usize) -> usize {
        let State { short, waiting: keys, homes, .. } = &mut *self.state;
        // No branch for the length of a piece, which nothing foretells: a long one is noted, and its key written over.
        let (mut ends, mut start, mut long) = (starts, 0, 0);
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let is_long = end - start > cache::SHORT_BYTES;
            long |= u64::from(is_long) << start;
            let key = short_key(room, start, end);
            let home = short.home(key);
            short.fetch(home);
            keys[*waiting % WAITING] = key;
            homes[*waiting % WAITING] = home as u32;
            *waiting += usize::from(!is_long);
            start = end;
        }
        let mut count = 0;
        while long != 0 {
            let start = long.trailing_zeros();
            long &= long - 1;
            let end = (starts & u64::MAX << start & !(1 << start)).trailing_zeros();
            count += self.long_piece(room.get(start as usize..end as usize).unwrap_or_default());
        }
        count
    }

    /// Counts the pieces that wait, and leaves none.
    #[inline(always)]
    fn look_up(&mut self, waiting: &mut usize) -> usize {
        let State { short, waiting: keys, homes, .. } = &mut *self.state;
        let (mut count, mut missed) = (0, 0);
        for nth in 0..std::mem::take(waiting).min(WAITING) {
            let key = keys[nth];
            let found = short.at_home(homes[nth] as usize, key);
            count += found.unwrap_or(0);
            // Again without a branch: those that are not found move to the front.
            keys[missed % WAITING] = key;
            missed += usize::from(found.is_none());
        }
        for nth in 0..missed {
            count += self.other_short_piece(self.state.waiting[nth % WAITING]);
        }
        count
    }

    /// Counts the piece at `at` by definition.
    fn step(&mut self, at: usize, count: usize) -> (usize, usize) {
        self.last = (at, count);
        let end = scan::piece_end(self.grammar, self.text, at);
        (end, count + self.piece(at, end))
    }

    /// Counts the piece of the text from `start` to `end`.
    fn piece(&mut self, start: usize, end: usize) -> usize {
        let piece = &self.text[start..end];
        if piece.len() > cache::SHORT_BYTES {
            return self.long_piece(piece);
        }
        let mut bytes = [0; ROOM];
        bytes[..piece.len()].copy_from_slice(piece);
        let key = short_key(&bytes, 0, piece.len());
        let short = &self.state.short;
        match short.at_home(short.home(key), key) {
            Some(count) => count,
            None => self.other_short_piece(key),
        }
    }

    /// Counts a short piece that is not at its home in the table.
    #[inline(never)]
    fn other_short_piece(&mut self, key: u128) -> usize {
        let length = usize::from(key.to_le_bytes()[layout::WIDE_BYTES]);
        if let Some(count) = self.state.short.beside(key) {
            return count;
        }
        let whole = match length {
            0..=layout::NARROW_BYTES => self.vocab.has_narrow(layout::narrow_key(key as u64, length)),
            _ => self.vocab.has_wide(key),
        };
        let count = match whole {
            true => 1,
            false => self.state.scratch.count(self.vocab, &key.to_le_bytes()[..length]),
        };
        self.state.short.put(key, count);
        count
    }

    #[inline(never)]
    fn long_piece(&mut self, piece: &[u8]) -> usize {
        if self.vocab.is_long_whole(piece) {
            return 1;
        }
        if piece.len() > long_cache::LONG_BYTES {
            return self.state.scratch.count(self.vocab, piece);
        }
        let hash = long_cache::hash(piece);
        if let Some(count) = self.state.long.get(piece, hash) {
            return count;
        }
        let count = self.state.scratch.count(self.vocab, piece);
        self.state.long.put(piece, hash, count);
        count
    }
}

/// Returns the starts of pieces in the window at the beginning of `room`.
#[inline(always)]
fn starts<const GPT4O: bool, const DIGITS: usize>(
    room: &[u8; ROOM],
    ending: Option<Ending>,
    machine: impl Machine,
) -> u64 {
    let Some(window) = room.first_chunk() else { return 0 };
    window::starts::<GPT4O, DIGITS>(window, &machine.classify(window), ending, machine)
}

/// Returns the last of `starts`, of which there is one.
#[inline(always)]
fn last_start(starts: u64) -> usize {
    (u64::BITS - 1 - starts.leading_zeros()) as usize
}

/// Returns the key of the piece of `room` from `start` to `end`; of one that is not short, anything.
#[inline(always)]
fn short_key(room: &[u8; ROOM], start: usize, end: usize) -> u128 {
    // The mask says what is so, and the compiler needs no check.
    let bytes = room[start % window::BYTES..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
    layout::wide_key(bytes, (end - start) % layout::WIDE_SLOT)
}
