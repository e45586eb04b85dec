//! Estimates from the shape of a text: words, digits, marks, blanks and scripts, each with its weight.

use longhaul_transcript::Tokens;

use crate::{
    Accuracy, Family, TokenCounter,
    shape::{Kind, Shape},
    weights,
};

/// Estimates tokens by script: the text is cut into words, groups of digits, marks, blanks and letters of other scripts
/// in one pass, and each kind has a weight for the model's family.
///
/// Base64 and other blobs, hexadecimal numbers, long runs of digits and of marks (as in minified code) are kinds of their own,
/// so are Chinese, Japanese, Korean, Cyrillic, Arabic and Indic letters.
/// How far it is off, by corpus, stands in `docs/benchmarks.md`.
///
/// ```
/// use longhaul_tokens::{Family, ScriptEstimator, TokenCounter};
///
/// let claude = ScriptEstimator::new(Family::Claude);
/// let tokens = claude.count_text("The quick brown fox jumps over the lazy dog.").0;
/// assert!((9..16).contains(&tokens));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptEstimator {
    family: Family,
}

impl ScriptEstimator {
    /// Returns the estimator for the models of `family`.
    pub fn new(family: Family) -> ScriptEstimator {
        ScriptEstimator { family }
    }

    /// Returns how many of each kind `text` has, in the order of the weights: what an estimate is made of. For fitting
    /// weights (`longhaul-bench`); the kinds are no promise.
    #[doc(hidden)]
    pub fn kinds_of(text: &str) -> Vec<u64> {
        Shape::of(text).counts.to_vec()
    }

    /// Returns the kinds that are one token each by the split pattern, or nearly always: nothing to be fitted.
    #[doc(hidden)]
    pub fn kinds_of_one_token() -> [usize; 5] {
        [Kind::Word, Kind::Digits, Kind::Mark, Kind::Lines, Kind::Blanks].map(|kind| kind as usize)
    }

    /// Returns the family it estimates.
    pub fn family(&self) -> Family {
        self.family
    }
}

impl TokenCounter for ScriptEstimator {
    fn count_text(&self, text: &str) -> Tokens {
        weights::of(self.family).apply(&Shape::of(text))
    }

    fn accuracy(&self) -> Accuracy {
        Accuracy::Estimate { margin: weights::of(self.family).margin() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_costs_something_and_never_more_than_four_tokens_a_byte(text in any::<String>()) {
            for family in Family::all() {
                let tokens = ScriptEstimator::new(family).count_text(&text).0;
                prop_assert_eq!(tokens == 0, text.is_empty());
                prop_assert!(tokens <= 4 * text.len() as u64);
            }
        }

        #[test]
        fn more_text_never_costs_less(a in "[a-zA-Z0-9 .,日本語]{0,40}", b in "[ \n][a-z]{0,20}") {
            let estimator = ScriptEstimator::new(Family::Unknown);
            let both = a.clone() + &b;
            prop_assert!(estimator.count_text(&both) >= estimator.count_text(&a));
        }
    }

    #[test]
    fn an_unknown_model_is_taken_for_the_dearest() {
        for text in
            ["fn main() { let x = 42; }", "Guten Tag, wie geht es?", "会話の文脈を保つ", "dGVzdCBkYXRhIGlu"]
        {
            let unknown = ScriptEstimator::new(Family::Unknown).count_text(text);
            for family in Family::all() {
                assert!(ScriptEstimator::new(family).count_text(text) <= unknown, "{family:?}: {text}");
            }
        }
    }
}
