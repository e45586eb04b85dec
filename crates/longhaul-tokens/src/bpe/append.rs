//! Counting a text that grows.

use super::{Bpe, scan};

/// Counts a text that arrives in pieces, such as an answer that is being streamed: each addition costs its own bytes.
///
/// ```
/// use longhaul_tokens::{AppendCounter, Bpe, Encoding};
///
/// let bpe = Bpe::new(Encoding::O200kBase);
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
        let (_, grammar) = self.bpe.parts();
        let bytes = self.open.as_bytes();
        // The edge before the last piece but one that ends well before the end. A piece is decided by itself and what
        // follows it directly; blanks reach furthest, so an edge must not lie in or behind blanks that touch the end.
        let solid = self.open.trim_end().len().saturating_sub(HORIZON);
        let (mut at, mut edge) = (0, 0);
        while at < solid {
            edge = at;
            at = scan::piece_end(grammar, bytes, at);
        }
        self.settled += self.bpe.count(&self.open[..edge]);
        self.open.drain(..edge);
        self.seen = self.open.len();
    }
}
