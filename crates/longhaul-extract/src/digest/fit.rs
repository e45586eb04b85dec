//! Choosing the best pieces of something that fit an allowance.

use longhaul_transcript::Tokens;

/// What a digest may cost, in whose tokens, and what the reader wants to see.
///
/// ```
/// use longhaul_extract::Allowance;
/// use longhaul_transcript::Tokens;
///
/// let count = |text: &str| Tokens(text.len().div_ceil(4) as u64);
/// let allowance = Allowance::new(Tokens(60), &count);
/// assert!(allowance.fits("a short line"));
/// ```
#[derive(Clone, Copy)]
pub struct Allowance<'a> {
    /// The most the digest may cost, in the tokens of `count`.
    pub limit: Tokens,
    /// Counts a text. Need not be additive: whole renderings are measured, never sums.
    pub count: &'a dyn Fn(&str) -> Tokens,
    /// How much the rest of the work wants a line, added to the rules' own score of 0 (noise) to 10 (the decisive
    /// error). `None` leaves it to the rules.
    pub wanted: Option<&'a dyn Fn(&str) -> f64>,
    /// Whether lines that carry an error are kept whole rather than clipped. Default: true.
    pub preserve_error_details: bool,
}

impl<'a> Allowance<'a> {
    /// Returns an allowance of `limit` tokens as measured by `count`, with the rules alone deciding what matters.
    pub fn new(limit: Tokens, count: &'a dyn Fn(&str) -> Tokens) -> Allowance<'a> {
        Allowance { limit, count, wanted: None, preserve_error_details: true }
    }

    /// Returns this allowance with a scorer for lines.
    pub fn with_wanted(self, wanted: &'a dyn Fn(&str) -> f64) -> Allowance<'a> {
        Allowance { wanted: Some(wanted), ..self }
    }

    /// Returns whether `text` fits. A text far longer than any tokenizer could fit is refused without counting it.
    pub fn fits(&self, text: &str) -> bool {
        text.len() <= self.most_bytes() && (self.count)(text) <= self.limit
    }

    /// Returns the bytes that no text within the allowance exceeds: 64 a token, which only runs of one character
    /// come near (the longest whitespace tokens of the public vocabularies have 128 characters, code has about 4).
    pub(crate) fn most_bytes(&self) -> usize {
        usize::try_from(self.limit.0).unwrap_or(usize::MAX).saturating_mul(64)
    }

    pub(crate) fn wanted(&self, line: &str) -> f64 {
        self.wanted.map_or(0.0, |wanted| wanted(line).clamp(0.0, 10.0))
    }
}

impl std::fmt::Debug for Allowance<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allowance").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// One thing that may be kept: how much it matters, and about how many bytes it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) score: f64,
    pub(crate) bytes: usize,
}

/// Returns the best rendering within the allowance: `render` is given the indices of the kept pieces, ascending.
///
/// The pieces with the highest scores go in first, the earlier one where they tie; when the next does not fit, a few
/// smaller ones after it are tried. Only measured renderings are returned, so the limit holds with any tokenizer.
/// Costs a sort and about twenty renderings of at most the allowance's size.
pub(crate) fn fit(
    pieces: &[Piece],
    allowance: &Allowance<'_>,
    render: impl Fn(&[usize]) -> String,
) -> Option<String> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| pieces[b].score.total_cmp(&pieces[a].score).then(a.cmp(&b)));

    let try_with = |chosen: &[usize]| {
        let mut ascending = chosen.to_vec();
        ascending.sort_unstable();
        let text = render(&ascending);
        allowance.fits(&text).then_some(text)
    };
    let mut bytes = 0usize;
    let reach = order
        .iter()
        .take_while(|&&piece| {
            bytes = bytes.saturating_add(pieces[piece].bytes + 1);
            bytes <= allowance.most_bytes()
        })
        .count();

    let (mut low, mut high) = (0, reach);
    let mut best = try_with(&[]);
    while low < high {
        let middle = (low + high).div_ceil(2);
        match try_with(&order[..middle]) {
            Some(text) => {
                best = Some(text);
                low = middle;
            }
            None => high = middle - 1,
        }
    }
    let mut chosen = order[..low].to_vec();
    for &piece in order.iter().skip(low + 1).take(FILLERS) {
        chosen.push(piece);
        match try_with(&chosen) {
            Some(text) => best = Some(text),
            None => {
                chosen.pop();
            }
        }
    }
    best
}

/// How many pieces after the first that does not fit are tried.
const FILLERS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_pieces_that_fit_are_kept_in_order() {
        let words = ["low", "best", "a very long middling piece", "good", "ok"];
        let scores = [1.0, 9.0, 5.0, 8.0, 4.0];
        let pieces: Vec<Piece> =
            words.iter().zip(scores).map(|(word, score)| Piece { score, bytes: word.len() }).collect();
        let count = |text: &str| Tokens(text.len() as u64);
        let render = |kept: &[usize]| kept.iter().map(|&k| words[k]).collect::<Vec<_>>().join(" ");
        let fitted = fit(&pieces, &Allowance::new(Tokens(14), &count), render);
        assert_eq!(fitted.as_deref(), Some("best good ok"));
    }
}
