//! How a budget is split between the summary and the tail.

use longhaul_transcript::Tokens;

/// Share of the available tokens that the tail gets, by what is available. In between, the share is interpolated over
/// the logarithm. From 4,000 to 16,000 tokens a fifth gives the best recall (`docs/recall.md`), below it a quarter, since a last
/// exchange cut in half says little; larger budgets hold every fact anyway and are better spent on the words themselves. What
/// the summary does not use goes to the tail in any case.
const TAIL: [(u64, f64); 5] = [(1_000, 0.25), (4_000, 0.2), (16_000, 0.2), (64_000, 0.5), (256_000, 0.8)];

/// Returns the share of `available` tokens that the tail gets.
pub(super) fn tail(available: Tokens) -> f64 {
    let at = (available.0.max(1) as f64).log2();
    let points = TAIL.map(|(tokens, share)| ((tokens as f64).log2(), share));
    let above = points.iter().position(|(x, _)| at <= *x);
    match above {
        Some(0) => points[0].1,
        None => points[points.len() - 1].1,
        Some(next) => {
            let ((x0, y0), (x1, y1)) = (points[next - 1], points[next]);
            y0 + (y1 - y0) * (at - x0) / (x1 - x0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_grows_with_a_budget_that_has_room_for_the_facts() {
        let shares: Vec<f64> = [4_000, 16_000, 32_000, 64_000, 1 << 40].map(|n| tail(Tokens(n))).into();
        assert!(shares.is_sorted(), "{shares:?}");
        assert_eq!((shares[0], shares[1], shares[4]), (0.2, 0.2, 0.8));
        assert_eq!((tail(Tokens(1)), tail(Tokens(1_000))), (0.25, 0.25));
    }
}
