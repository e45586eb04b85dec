//! What each kind of text costs in each family of models.

use longhaul_transcript::Tokens;

use crate::{
    Family,
    shape::{KINDS, Kind, Shape},
};

/// Thousandths of a token for one of each kind, in the order of [`Kind`](crate::shape::Kind), and the error that 95 % of
/// texts of 2 kB stay under.
#[derive(Debug)]
pub(crate) struct Weights {
    milli: [u64; KINDS],
    margin: f64,
}

impl Weights {
    /// Returns the tokens of a text of this shape, rounded up.
    pub(crate) fn apply(&self, shape: &Shape) -> Tokens {
        let milli: u64 = shape.counts.iter().zip(&self.milli).map(|(count, weight)| count * weight).sum();
        // A text of blanks that belong to nothing still is a token.
        let something = u64::from(shape.counts.iter().any(|count| *count > 0));
        Tokens(milli.div_ceil(1000).max(something))
    }

    pub(crate) fn margin(&self) -> f64 {
        self.margin
    }
}

/// Weights of `o200k_base`, the base of the families below: what the split pattern makes one token costs one, the rest is
/// fitted on prose, code, JSON, logs, sessions, manual pages and messages of programs in sixteen languages, and blobs (our
/// own measurement of 2026-11-22, `cargo xtask bench estimates --weights`, `docs/benchmarks.md`). Of Tamil there was too
/// little to tell words from letters: of the pairs that are right in total, this one lies between.
const O200K: [u64; KINDS] = [
    1000, 1156, 61, 93, 0, 424, 122, 1000, 1000, 532, 901, 366, 150, 1000, 1000, 311, 260, 301, 751, 158, 0,
    411, 0, 499, 0, 397, 0, 402, 2000, 217, 1958, 315, 1110, 1257, 702, 727, 152, 1106, 85, 681, 581, 93,
];

/// Where the weights of scripts other than ASCII begin and end.
const BEYOND: std::ops::Range<usize> = Kind::LatinWord as usize..Kind::Blob as usize;

/// Returns `O200K` with words and marks scaled to `ascii` percent and other scripts to `beyond` percent.
const fn scaled(ascii: u64, beyond: u64, margin: f64) -> Weights {
    let mut milli = O200K;
    let mut kind = 0;
    while kind < KINDS {
        let percent = if kind >= BEYOND.start && kind < BEYOND.end { beyond } else { ascii };
        milli[kind] = (milli[kind] * percent).div_ceil(100);
        kind += 1;
    }
    Weights { milli, margin }
}

/// Returns the weights of `family`: those of `o200k_base` times ratios of the families' tokens for one text
/// (counted on 2026-11-21 with public tokenizers, and for Claude with ctok 1.3.0, a reconstruction), rounded up. The margins of
/// all but the first are assumptions until calibration replaces them. Families that were not measured have the ratios of
/// the dearest open one, and an unknown model those of the dearest of all.
pub(crate) fn of(family: Family) -> &'static Weights {
    static OPENAI: Weights = scaled(100, 100, 0.15);
    static CLAUDE: Weights = scaled(120, 150, 0.25);
    static CLAUDE_47: Weights = scaled(155, 185, 0.25);
    static GEMINI: Weights = scaled(118, 108, 0.3);
    static DEEPSEEK: Weights = scaled(105, 108, 0.2);
    static QWEN: Weights = scaled(112, 115, 0.3);
    static LLAMA: Weights = scaled(101, 106, 0.2);
    static OTHER: Weights = scaled(118, 130, 0.35);
    static DEAREST: Weights = scaled(155, 185, 0.4);
    match family {
        Family::OpenAi => &OPENAI,
        Family::Claude => &CLAUDE,
        Family::Claude47 => &CLAUDE_47,
        Family::Gemini => &GEMINI,
        Family::DeepSeek => &DEEPSEEK,
        Family::Qwen => &QWEN,
        Family::Llama => &LLAMA,
        Family::Mistral | Family::Glm | Family::Kimi | Family::Grok => &OTHER,
        Family::Unknown => &DEAREST,
    }
}
