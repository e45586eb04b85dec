//! Exact counts through `bpe-openai`.

use std::sync::Arc;

use longhaul_transcript::Tokens;

use crate::{Accuracy, Encoding, MediaFormula, TokenCounter, media::OPENAI_TILES};

/// Returns the exact counter of `encoding`, with OpenAI's framing and image formula.
///
/// ```
/// use longhaul_tokens::{Encoding, TokenCounter, counter};
///
/// let counter = counter(Encoding::O200kBase);
/// assert_eq!(counter.count_text("antidisestablishmentarianism").0, 6);
/// ```
pub fn counter(encoding: Encoding) -> Arc<dyn TokenCounter> {
    Arc::new(Exact { encoding })
}

/// The exact counter of one encoding.
#[derive(Debug)]
struct Exact {
    encoding: Encoding,
}

impl Exact {
    fn tokenizer(&self) -> &'static bpe_openai::Tokenizer {
        match self.encoding {
            Encoding::O200kBase | Encoding::O200kHarmony => bpe_openai::o200k_base(),
            Encoding::Cl100kBase => bpe_openai::cl100k_base(),
        }
    }
}

impl TokenCounter for Exact {
    fn count_text(&self, text: &str) -> Tokens {
        Tokens(self.tokenizer().count(text) as u64)
    }

    fn count_up_to(&self, text: &str, limit: Tokens) -> Option<Tokens> {
        let mut total = 0;
        for piece in self.tokenizer().split(text) {
            total += self.tokenizer().bpe.count(piece.as_bytes()) as u64;
            if total > limit.0 {
                return None;
            }
        }
        Some(Tokens(total))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Exact
    }

    fn media_formula(&self) -> MediaFormula {
        OPENAI_TILES
    }
}
