//! Exact byte-pair counters, without a regular expression, without recursion, and without a vocabulary to load.
//!
//! A text is cut into pieces by the encoding's pattern (`window` fast, `scan` by definition), and each piece is merged
//! (`merge`). Most pieces need no merging: they were counted before (`cache`), or they are tokens themselves (`vocab`).

mod append;
mod cache;
mod classes;
mod deepseek;
mod engine;
#[cfg(feature = "tokenizers")]
mod file;
mod layout;
mod long_cache;
mod merge;
#[cfg(feature = "small")]
mod packed;
mod scan;
mod simd;
#[cfg_attr(
    not(any(feature = "tokenizers", feature = "small")),
    allow(dead_code, reason = "only the build script makes tables")
)]
mod tables;
mod vocab;
mod window;

use std::{borrow::Cow, cell::RefCell, collections::BTreeMap, sync::Arc, sync::OnceLock};

use longhaul_transcript::Tokens;

use self::engine::{Engine, State};
#[allow(unused_imports, reason = "a build may have no encoding")]
use self::scan::Grammar as Pattern;
use crate::{Accuracy, Encoding, Family, MediaFormula, ScriptEstimator, TokenCounter, media::OPENAI_TILES};

pub use self::append::AppendCounter;
#[cfg(feature = "tokenizers")]
pub(crate) use self::{
    file::{FileBpe, Merge},
    scan::Grammar,
};

/// The exact counter of one encoding. Costs nothing to make: the tables are in the binary.
///
/// Text is ordinary text: what is spelled like a special token is counted as what it is spelled with. Time is linear in
/// the text, whatever it is. Each thread keeps what it has counted for each encoding: pieces of up to 256 bytes, in less than
/// 1 MB at first, and at most 26 MB when it has counted much that differs.
///
/// ```
/// use longhaul_tokens::{Bpe, Encoding};
///
/// let bpe = Bpe::new(Encoding::O200kBase).expect("the feature o200k is on");
/// assert_eq!(bpe.count("antidisestablishmentarianism"), 6);
/// assert_eq!(bpe.encode("hello world"), [24912, 2375]);
/// assert_eq!(bpe.decode(&[24912, 2375]).as_deref(), Some(&b"hello world"[..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bpe {
    encoding: Encoding,
}

/// Returns the exact counter of `encoding`, with OpenAI's framing and image formula; where its feature is off, an estimator
/// whose [`accuracy`](TokenCounter::accuracy) says so.
///
/// ```
/// use longhaul_tokens::{Encoding, TokenCounter, counter};
///
/// let counter = counter(Encoding::O200kBase);
/// assert_eq!(counter.count_text("antidisestablishmentarianism").0, 6);
/// ```
pub fn counter(encoding: Encoding) -> Arc<dyn TokenCounter> {
    match Bpe::new(encoding) {
        Some(bpe) => Arc::new(bpe),
        None => Arc::new(ScriptEstimator::new(Family::OpenAi)),
    }
}

impl Bpe {
    /// Returns the counter of `encoding`, or `None` in a build without the feature that has its tables (`o200k`, `cl100k`,
    /// `p50k`).
    pub const fn new(encoding: Encoding) -> Option<Bpe> {
        let is_here = match encoding {
            Encoding::O200kBase | Encoding::O200kHarmony => cfg!(feature = "o200k"),
            Encoding::Cl100kBase => cfg!(feature = "cl100k"),
            Encoding::P50kBase | Encoding::R50kBase => cfg!(feature = "p50k"),
        };
        if is_here { Some(Bpe { encoding }) } else { None }
    }

    /// Returns the encoding it counts by.
    pub const fn encoding(self) -> Encoding {
        self.encoding
    }

    /// Returns the number of tokens in `text`.
    pub fn count(self, text: &str) -> usize {
        self.count_while(text, usize::MAX)
    }

    /// Returns the number of tokens in each of `texts`, counted on all cores.
    #[cfg(feature = "rayon")]
    pub fn count_all<T: AsRef<str> + Sync>(self, texts: &[T]) -> Vec<usize> {
        use rayon::prelude::*;
        texts.par_iter().map(|text| self.count(text.as_ref())).collect()
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
        self.engine().map_or_else(Vec::new, |engine| engine.encode(text))
    }

    /// Returns the bytes that `tokens` stand for, or `None` where one of them is no ordinary token. The bytes of part of
    /// an encoding need not be UTF-8.
    pub fn decode(self, tokens: &[u32]) -> Option<Vec<u8>> {
        static BYTES: [OnceLock<BTreeMap<u32, (u32, u32)>>; 4] = [const { OnceLock::new() }; 4];
        let vocab = self.engine()?.vocab;
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
        self.engine().map_or(0, |engine| self.with_state(|state| engine.count_while(state, text, limit)))
    }

    /// Returns where the last piece of `text` begins that begins before `end`, and the tokens of all pieces before it.
    fn count_before(self, text: &str, end: usize) -> (usize, usize) {
        self.engine().map_or((0, 0), |engine| self.with_state(|state| engine.count_before(state, text, end)))
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

    /// Returns the engine of the encoding: always, since [`new`](Self::new) gives no counter without one.
    #[inline(always)]
    fn engine(self) -> Option<Engine<'static>> {
        match self.encoding {
            #[cfg(feature = "o200k")]
            Encoding::O200kBase | Encoding::O200kHarmony => {
                Some(Engine { vocab: vocab::o200k(), grammar: Pattern::Gpt4o })
            }
            #[cfg(feature = "cl100k")]
            Encoding::Cl100kBase => Some(Engine { vocab: vocab::cl100k(), grammar: Pattern::Gpt4 }),
            #[cfg(feature = "p50k")]
            Encoding::P50kBase => Some(Engine { vocab: vocab::p50k(), grammar: Pattern::Gpt3 }),
            #[cfg(feature = "p50k")]
            Encoding::R50kBase => Some(Engine { vocab: vocab::r50k(), grammar: Pattern::Gpt3 }),
            #[allow(unreachable_patterns, reason = "a build may have all")]
            _ => None,
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
