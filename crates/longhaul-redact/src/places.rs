//! Places in a text, of what stands in what it was turned into.

use std::ops::Range;

/// Walks over a text, once. Its steps are the characters of what the text was turned into, each with where it stands in the text.
#[derive(Debug)]
pub(crate) struct Places<I> {
    steps: I,
    /// How many bytes the characters have that were walked over.
    n_bytes: usize,
    /// Where the last of them stands.
    last: Range<usize>,
}

impl<I: Iterator<Item = (Range<usize>, char)>> Places<I> {
    pub(crate) fn of(steps: I) -> Places<I> {
        Places { steps, n_bytes: 0, last: 0..0 }
    }

    /// Returns where `span` of what the text was turned into stands in it. Spans come in order and apart.
    pub(crate) fn place(&mut self, span: Range<usize>) -> Range<usize> {
        self.walk(span.start + 1);
        let start = self.last.start;
        self.walk(span.end);
        start..self.last.end
    }

    /// Walks on to the character that has the last of so many bytes.
    fn walk(&mut self, n_bytes: usize) {
        while self.n_bytes < n_bytes
            && let Some((place, c)) = self.steps.next()
        {
            self.n_bytes += c.len_utf8();
            self.last = place;
        }
    }
}
