//! Exact byte-pair counters, without a regular expression, without recursion, and without a vocabulary to load.
//!
//! A text is cut into pieces by the encoding's pattern (`window` fast, `scan` by definition), and each piece is merged
//! (`merge`). Most pieces need no merging: they were counted before (`cache`), or they are tokens themselves (`vocab`).

mod append;
mod cache;
mod classes;
mod layout;
mod merge;
mod scan;
mod simd;
mod vocab;
mod window;

use std::{borrow::Cow, cell::RefCell, collections::BTreeMap, sync::Arc, sync::OnceLock};

use longhaul_transcript::Tokens;

use self::{cache::Cache, merge::Scratch, scan::Grammar, vocab::Vocab, window::Masks};
use crate::{Accuracy, Encoding, MediaFormula, TokenCounter, media::OPENAI_TILES};

pub use self::append::AppendCounter;

/// The exact counter of one encoding. Costs nothing to make: the tables are in the binary.
///
/// Text is ordinary text: what is spelled like a special token is counted as what it is spelled with. Time is linear in
/// the text, whatever it is. Each thread keeps a table of pieces it has counted, of bounded size.
///
/// ```
/// use longhaul_tokens::{Bpe, Encoding};
///
/// let bpe = Bpe::new(Encoding::O200kBase);
/// assert_eq!(bpe.count("antidisestablishmentarianism"), 6);
/// assert_eq!(bpe.encode("hello world"), [24912, 2375]);
/// assert_eq!(bpe.decode(&[24912, 2375]).as_deref(), Some(&b"hello world"[..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bpe {
    encoding: Encoding,
}

/// Returns the exact counter of `encoding`, with OpenAI's framing and image formula.
///
/// ```
/// use longhaul_tokens::{Encoding, TokenCounter, counter};
///
/// let counter = counter(Encoding::O200kBase);
/// assert_eq!(counter.count_text("antidisestablishmentarianism").0, 6);
/// ```
pub fn counter(encoding: Encoding) -> Arc<dyn TokenCounter> {
    Arc::new(Bpe::new(encoding))
}

impl Bpe {
    /// Returns the counter of `encoding`.
    pub const fn new(encoding: Encoding) -> Bpe {
        Bpe { encoding }
    }

    /// Returns the encoding it counts by.
    pub const fn encoding(self) -> Encoding {
        self.encoding
    }

    /// Returns the number of tokens in `text`.
    pub fn count(self, text: &str) -> usize {
        self.count_while(text, usize::MAX)
    }

    /// Returns the number of tokens in `bytes`, read as UTF-8 with U+FFFD for what is not.
    pub fn count_bytes(self, bytes: &[u8]) -> usize {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => self.count(text),
            Cow::Owned(text) => self.count(&text),
        }
    }

    /// Returns the tokens of `text`.
    pub fn encode(self, text: &str) -> Vec<u32> {
        let (vocab, grammar) = self.parts();
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        let mut at = 0;
        while at < text.len() {
            let end = scan::piece_end(grammar, text.as_bytes(), at);
            scratch.encode(vocab, &text.as_bytes()[at..end], &mut ids);
            at = end;
        }
        ids
    }

    /// Returns the bytes that `tokens` stand for, or `None` where one of them is no ordinary token. The bytes of part of
    /// an encoding need not be UTF-8.
    pub fn decode(self, tokens: &[u32]) -> Option<Vec<u8>> {
        static BYTES: [OnceLock<BTreeMap<u32, (u32, u32)>>; 4] = [const { OnceLock::new() }; 4];
        let (vocab, _) = self.parts();
        let merges = BYTES[self.index()]
            .get_or_init(|| vocab.merges().map(|(left, right, id)| (id, (left, right))).collect());
        let mut bytes = Vec::new();
        let mut pending: Vec<u32> = Vec::new();
        for token in tokens {
            // A token is its left part and then its right part, down to single bytes.
            pending.push(*token);
            while let Some(id) = pending.pop() {
                match merges.get(&id) {
                    Some((left, right)) => pending.extend([*right, *left]),
                    None => bytes.push(vocab.byte_ids.iter().position(|byte_id| *byte_id == id)? as u8),
                }
            }
        }
        Some(bytes)
    }

    /// Returns the number of tokens in `text`, or some number above `limit` as soon as that is clear.
    fn count_while(self, text: &str, limit: usize) -> usize {
        let (vocab, grammar) = self.parts();
        self.with_state(|state| {
            simd::compiled_for_machine(Count { vocab, grammar, state, text: text.as_bytes(), limit })
        })
    }

    /// Returns where the last piece of `text` begins that begins before `end`, and the tokens of all pieces before it.
    fn count_before(self, text: &str, end: usize) -> (usize, usize) {
        let (vocab, grammar) = self.parts();
        let text = text.as_bytes();
        self.with_state(|state| {
            let mut count = Count { vocab, grammar, state, text, limit: usize::MAX };
            let (mut last, mut before_last, mut before) = (0, 0, 0);
            let mut at = 0;
            while at < end {
                (last, before_last) = (at, before);
                at = scan::piece_end(grammar, text, at);
                before += count.piece_anywhere(last, at);
            }
            (last, before_last)
        })
    }

    /// Calls `with` with what this thread keeps for the encoding.
    fn with_state<R>(self, with: impl Fn(&mut State) -> R) -> R {
        thread_local! {
            static STATES: [RefCell<Option<State>>; 4] = const { [const { RefCell::new(None) }; 4] };
        }
        // While its thread ends, the state is gone, and counting goes on without.
        let result = STATES.try_with(|states| match states[self.index()].try_borrow_mut() {
            Ok(mut state) => with(state.get_or_insert_with(State::new)),
            Err(_) => with(&mut State::new()),
        });
        result.unwrap_or_else(|_| with(&mut State::new()))
    }

    fn parts(self) -> (&'static Vocab, Grammar) {
        match self.encoding {
            Encoding::O200kBase | Encoding::O200kHarmony => (&vocab::O200K, Grammar::Gpt4o),
            Encoding::Cl100kBase => (&vocab::CL100K, Grammar::Gpt4),
            Encoding::P50kBase => (&vocab::P50K, Grammar::Gpt3),
            Encoding::R50kBase => (&vocab::R50K, Grammar::Gpt3),
        }
    }

    fn index(self) -> usize {
        match self.encoding {
            Encoding::O200kBase | Encoding::O200kHarmony => 0,
            Encoding::Cl100kBase => 1,
            Encoding::P50kBase => 2,
            Encoding::R50kBase => 3,
        }
    }
}

impl TokenCounter for Bpe {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(self.count(text) as u64)
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        let limit = usize::try_from(limit.0).unwrap_or(usize::MAX);
        let count = self.count_while(text, limit);
        (count <= limit).then_some(Tokens(count as u64))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }

    fn media_formula(&self) -> MediaFormula {
        OPENAI_TILES
    }
}

/// What a thread keeps between counts.
#[derive(Debug)]
struct State {
    cache: Cache,
    scratch: Scratch,
}

impl State {
    fn new() -> State {
        State { cache: Cache::new(), scratch: Scratch::default() }
    }
}

/// One count.
struct Count<'a> {
    vocab: &'static Vocab,
    grammar: Grammar,
    state: &'a mut State,
    text: &'a [u8],
    limit: usize,
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
            Grammar::Gpt4o => self.by_windows::<true>(classify),
            Grammar::Gpt4 => self.by_windows::<false>(classify),
            Grammar::Gpt3 => self.by_pieces(),
        }
    }
}

impl Count<'_> {
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

    /// Counts window by window, and piece by piece where a window does not see enough.
    #[inline(always)]
    fn by_windows<const GPT4O: bool>(mut self, classify: impl Fn(&[u8; window::BYTES]) -> Masks) -> usize {
        let text = self.text;
        let (mut at, mut count) = (0, 0);
        while at + TAIL <= text.len() && count <= self.limit {
            let Some(window) = text[at..].first_chunk() else { break };
            let mut starts = window::starts::<GPT4O>(window, &classify(window));
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
        // The rest is less than a window and its slack, or the limit is passed.
        let mut tail = [0xFF; TAIL + window::BYTES + SLACK];
        while at < text.len() && count <= self.limit {
            let rest = &text[at..];
            if rest.len() > TAIL {
                (at, count) = self.step(at, count);
                continue;
            }
            // What lies behind the text looks like a character that may be anything, so that only certain starts count.
            tail[..rest.len()].copy_from_slice(rest);
            tail[rest.len()..].fill(0xFF);
            let Some(window) = tail.first_chunk() else { break };
            let mut starts = window::starts::<GPT4O>(window, &classify(window));
            if starts == 0 {
                (at, count) = self.step(at, count);
                continue;
            }
            let mut start = 0;
            while starts != 0 {
                let end = starts.trailing_zeros() as usize;
                starts &= starts - 1;
                count += self.piece(&tail, start, end);
                start = end;
            }
            at += start;
        }
        count
    }

    /// Counts the piece at `at` by definition, and further ones as long as they begin beyond ASCII.
    fn step(&mut self, mut at: usize, mut count: usize) -> (usize, usize) {
        loop {
            let end = scan::piece_end(self.grammar, self.text, at);
            count += self.piece_anywhere(at, end);
            at = end;
            let beyond = |offset: usize| self.text.get(at + offset).is_some_and(|byte| *byte >= 0x80);
            if !(beyond(0) || beyond(1)) || count > self.limit {
                return (at, count);
            }
        }
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
        match self.state.cache.short(key) {
            Some(count) => count,
            None => self.new_short_piece(key, length),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_short_piece(&mut self, key: u128, length: usize) -> usize {
        let whole = match length {
            0..=layout::NARROW_BYTES => self.vocab.has_narrow(layout::narrow_key(key as u64, length)),
            _ => self.vocab.has_wide(key),
        };
        let count = match whole {
            true => 1,
            false => self.state.scratch.count(self.vocab, &key.to_le_bytes()[..length]),
        };
        self.state.cache.put_short(key, count);
        count
    }

    #[cold]
    #[inline(never)]
    fn long_piece(&mut self, piece: &[u8]) -> usize {
        if piece.len() > cache::LONG_BYTES {
            return self.state.scratch.count(self.vocab, piece);
        }
        match self.state.cache.long(piece) {
            (Some(count), _) => count,
            (None, place) => {
                let count = self.state.scratch.count(self.vocab, piece);
                self.state.cache.put_long(place, piece, count);
                count
            }
        }
    }
}
