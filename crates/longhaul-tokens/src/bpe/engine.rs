//! The counting itself: a text, cut by windows or by definition, and its pieces, looked up or merged.

use super::{
    cache::{self, ShortPieces},
    layout,
    long_cache::{self, LongPieces},
    merge::Scratch,
    scan::{self, Grammar},
    simd,
    vocab::Vocab,
    window::{self, Ending, Masks},
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
    scratch: Scratch,
}

impl State {
    pub(super) fn new() -> State {
        State { short: ShortPieces::new(), long: LongPieces::default(), scratch: Scratch::default() }
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

/// Bytes behind a piece that may be read with it: a piece is loaded as sixteen bytes and cut.
const SLACK: usize = 16;
/// The end of a text, from here on, is counted in a copy that has something behind it.
const TAIL: usize = window::BYTES + SLACK;

impl simd::Body for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, classify: impl Fn(&[u8; window::BYTES]) -> Masks) -> usize {
        match self.grammar {
            Grammar::Gpt4o => self.by_windows::<true, 3>(classify),
            Grammar::Gpt4 | Grammar::Llama3 => self.by_windows::<false, 3>(classify),
            Grammar::Qwen => self.by_windows::<false, 1>(classify),
            Grammar::Gpt3 | Grammar::DeepSeek => self.by_pieces(),
        }
    }
}

/// A count of what begins before `until`, without the last piece of it.
struct CountBefore<'a>(Count<'a>);

impl simd::Body for CountBefore<'_> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run(self, classify: impl Fn(&[u8; window::BYTES]) -> Masks) -> (usize, usize) {
        let mut count = self.0;
        let (at, before) = match count.grammar {
            Grammar::Gpt4o => count.whole_windows::<true, 3>(classify),
            Grammar::Gpt4 | Grammar::Llama3 => count.whole_windows::<false, 3>(classify),
            Grammar::Qwen => count.whole_windows::<false, 1>(classify),
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
            before += self.piece_anywhere(at, end);
            at = end;
        }
        self.last
    }

    /// Counts piece by piece.
    fn by_pieces(mut self) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < self.text.len() && count <= self.limit {
            let end = scan::piece_end(self.grammar, self.text, at);
            count += self.piece_anywhere(at, end);
            at = end;
        }
        count
    }

    /// Counts window by window, and piece by piece where a window does not see enough, while a window and its slack are
    /// left. Returns the start of the first piece that is not counted, and the tokens before it.
    #[inline(always)]
    fn whole_windows<const GPT4O: bool, const DIGITS: usize>(
        &mut self,
        classify: impl Fn(&[u8; window::BYTES]) -> Masks,
    ) -> (usize, usize) {
        let text = self.text;
        let (mut at, mut count) = (0, 0);
        while at + TAIL <= self.until && count <= self.limit {
            let Some(window) = text[at..].first_chunk() else { break };
            let mut starts = window::starts::<GPT4O, DIGITS>(window, &classify(window), None);
            if starts == 0 {
                (at, count) = self.step(at, count);
                continue;
            }
            let mut start = 0;
            while starts != 0 {
                let end = starts.trailing_zeros() as usize;
                starts &= starts - 1;
                count += self.piece(text, at + start, at + end);
                start = end;
            }
            at += start;
        }
        (at, count)
    }

    /// Counts window by window; the rest, too, in a copy that has something behind it.
    #[inline(always)]
    fn by_windows<const GPT4O: bool, const DIGITS: usize>(
        mut self,
        classify: impl Fn(&[u8; window::BYTES]) -> Masks,
    ) -> usize {
        let text = self.text;
        let (mut at, mut count) = self.whole_windows::<GPT4O, DIGITS>(&classify);
        // The rest is less than a window and its slack, or the limit is passed.
        let from = at;
        let rest = &text[from..];
        let mut tail = [0xFF; TAIL + window::BYTES + SLACK];
        if let Some(start) = tail.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        while at < text.len() && count <= self.limit {
            let Some(window) = tail.get(at - from..).and_then(<[_]>::first_chunk) else { break };
            let length = text.len() - at;
            let ending = (length < window::BYTES)
                .then_some(Ending { length: length as u32, joins_blanks: self.grammar == Grammar::Gpt4 });
            let mut starts = window::starts::<GPT4O, DIGITS>(window, &classify(window), ending);
            if starts == 0 {
                (at, count) = self.step(at, count);
                continue;
            }
            let mut start = at;
            while starts != 0 {
                let end = at + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                count += self.piece(&tail, start - from, end - from);
                start = end;
            }
            at = start;
        }
        count
    }

    /// Counts the piece at `at` by definition.
    fn step(&mut self, at: usize, count: usize) -> (usize, usize) {
        self.last = (at, count);
        let end = scan::piece_end(self.grammar, self.text, at);
        (end, count + self.piece_anywhere(at, end))
    }

    /// Counts the piece of the text from `start` to `end`.
    fn piece_anywhere(&mut self, start: usize, end: usize) -> usize {
        let text = self.text;
        if start + SLACK <= text.len() {
            return self.piece(text, start, end);
        }
        let mut bytes = [0; 2 * SLACK];
        bytes[..end - start].copy_from_slice(&text[start..end]);
        self.piece(&bytes, 0, end - start)
    }

    /// Counts the piece of `bytes` from `start` to `end`; sixteen bytes from `start` on can be read.
    #[inline(always)]
    fn piece(&mut self, bytes: &[u8], start: usize, end: usize) -> usize {
        let length = end - start;
        if length > cache::SHORT_BYTES {
            return self.long_piece(&bytes[start..end]);
        }
        let Some(loaded) = bytes.get(start..).and_then(|rest| rest.first_chunk()) else { return 0 };
        let key = layout::wide_key(u128::from_le_bytes(*loaded), length);
        match self.state.short.at_home(key) {
            Some(count) => count,
            None => self.other_short_piece(key, length),
        }
    }

    /// Counts a short piece that is not at its home in the table.
    #[inline(never)]
    fn other_short_piece(&mut self, key: u128, length: usize) -> usize {
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
