//! The small regression behind calibration: billed tokens as a bounded multiple of the counts of each class.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::classes::CLASSES;

/// Decayed sums of products, from which the ratios follow. Their size does not depend on how much was observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// Sum of counts, of what was billed for them, and of the squares of that for each counted token.
    counted: f64,
    billed: f64,
    #[serde(default)]
    squares: f64,
    /// How many there were.
    #[serde(default)]
    observed: f64,
    /// Weighted sums of count x count and count x billed.
    products: [[f64; CLASSES]; CLASSES],
    targets: [f64; CLASSES],
}

/// Counted tokens that the prior weighs as much as: one large tool result.
const PRIOR_TOKENS: f64 = 1_000.0;
/// Counted tokens of a class that the common ratio weighs as much as: a few short messages, and more where bills scatter.
const PULL: f64 = 150.0;
/// How far the ratios of two classes may be expected to lie apart.
const APART: f64 = 0.3;
/// How far a ratio may move from the prior, either way.
const BOUND: f64 = 4.0;
/// Sweeps of the solver; the sums are well conditioned by the prior, and it settles in about ten.
const SWEEPS: usize = 30;

impl Sums {
    /// Adds an observation, after letting the earlier ones fade to `decay`.
    pub(crate) fn add(&mut self, counts: [f64; CLASSES], billed: f64, decay: f64) {
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            return;
        }
        self.counted = self.counted * decay + total;
        self.billed = self.billed * decay + billed;
        self.observed = self.observed * decay + 1.0;
        self.squares = self.squares * decay + billed * billed / total;
        // Errors grow with what is counted, so an observation weighs by the inverse of its size.
        let weight = 1.0 / total;
        for row in 0..CLASSES {
            for column in 0..CLASSES {
                let product = &mut self.products[row][column];
                *product = *product * decay + weight * counts[row] * counts[column];
            }
            self.targets[row] = self.targets[row] * decay + weight * counts[row] * billed;
        }
    }

    /// Returns the ratio of each class: near the common ratio where little was seen of it, and within [`BOUND`] of `prior`.
    pub(crate) fn ratios(&self, prior: f64) -> [f64; CLASSES] {
        let bounded = |ratio: f64| ratio.clamp(prior / BOUND, prior * BOUND);
        let common = bounded((self.billed + prior * PRIOR_TOKENS) / (self.counted + PRIOR_TOKENS));
        let pull = self.pull(common);
        let mut ratios = [common; CLASSES];
        for _ in 0..SWEEPS {
            for class in 0..CLASSES {
                let row = &self.products[class];
                let others: f64 = (0..CLASSES)
                    .filter(|other| *other != class)
                    .map(|other| row[other] * ratios[other])
                    .sum();
                ratios[class] = bounded((self.targets[class] - others + pull * common) / (row[class] + pull));
            }
        }
        ratios
    }

    /// Returns how many counted tokens of a class the common ratio weighs as much as. Where bills scatter about what the common
    /// ratio makes of them, what little was seen of a class is chance.
    fn pull(&self, common: f64) -> f64 {
        let scatter = self.squares - 2.0 * common * self.billed + common * common * self.counted;
        (scatter / self.observed.max(1.0) / (APART * APART)).max(PULL)
    }
}

/// Returns the `share` quantile of `values`, the next higher where it falls between two; zero of none.
pub(crate) fn quantile(values: &VecDeque<f64>, share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: VecDeque<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.95), 95.0);
        assert_eq!(quantile(&values, 1.0), 100.0);
        assert_eq!(quantile(&VecDeque::new(), 0.95), 0.0);
    }

    #[test]
    fn a_class_never_seen_has_the_common_ratio() {
        let mut sums = Sums::default();
        for _ in 0..20 {
            sums.add([1_000.0, 0.0, 500.0, 0.0, 0.0], 1_800.0, 0.98);
        }
        let ratios = sums.ratios(1.0);
        assert!((ratios[1] - 1.2).abs() < 0.03 && (ratios[4] - ratios[1]).abs() < 1e-9, "{ratios:?}");
    }
}
