//! Counting a text that grows.

use super::Bpe;

/// Counts a text that arrives in pieces, such as an answer that is being streamed: each addition costs its own bytes.
///
/// ```
/// use longhaul_tokens::{AppendCounter, Bpe, Encoding};
///
/// let bpe = Bpe::new(Encoding::O200kBase).expect("the feature o200k is on");
/// let mut growing = AppendCounter::new(bpe);
/// growing.push("The answer is forty-t");
/// growing.push("wo.");
/// assert_eq!(growing.count(), bpe.count("The answer is forty-two."));
/// ```
#[derive(Clone, Debug)]
pub struct AppendCounter {
    bpe: Bpe,
    /// Tokens of the pieces that nothing to come can change.
    settled: usize,
    /// The text behind those pieces.
    open: String,
    /// Length of `open` when it was last looked at.
    seen: usize,
}

/// What may follow decides over pieces that end less than this before the end: a contraction, or blanks before a word.
const HORIZON: usize = 8;

impl AppendCounter {
    /// Returns a counter for an empty text.
    pub fn new(bpe: Bpe) -> AppendCounter {
        AppendCounter { bpe, settled: 0, open: String::new(), seen: 0 }
    }

    /// Adds `text` at the end.
    pub fn push(&mut self, text: &str) {
        self.open.push_str(text);
        // Only when the open end has doubled is it looked at again, so that one endless piece costs linear time in all.
        if self.open.len() > 2 * self.seen + 256 {
            self.settle();
        }
    }

    /// Returns the tokens of all that was added.
    pub fn count(&self) -> usize {
        self.settled + self.bpe.count(&self.open)
    }

    fn settle(&mut self) {
        // A piece is decided by itself and what follows it closely. Blanks reach furthest, so those at the end, which may
        // go on, are left out, and so is what might be half a contraction.
        let solid = self.open.trim_end().len().saturating_sub(HORIZON);
        let (edge, tokens) = self.bpe.count_before(&self.open, solid);
        self.settled += tokens;
        self.open.drain(..edge);
        self.seen = self.open.len();
    }
}
