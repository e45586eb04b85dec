//! Usage that belongs to no single request: a running total of all of them.

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

/// How far reports add up: each is the one before it and what its own request costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    /// The last report, and what was counted of its request.
    last: Option<(Tokens, Tokens)>,
    /// How many reports did so for sure, with none between that did not.
    n: u32,
}

/// So many reports in a row do so by no chance.
const ENOUGH: u32 = 4;

/// A request costs this much of what is counted of it, at least and at most. Where the last three are added up, and not all, the
/// fifth is less above the fourth.
const OF_COUNT: (f64, f64) = (0.85, 1.6);

/// A report lies this much further above the one before than what was added to the request explains.
const BEYOND_GROWTH: f64 = 1.25;

/// No bill is as many times what is counted, request after request, while each lies a request above the one before.
const OF_ONE_REQUEST: f64 = 6.0;

impl Totals {
    pub(super) fn is_default(&self) -> bool {
        *self == Totals::default()
    }

    /// Returns whether the last reports were running totals.
    pub(super) fn are_known(&self) -> bool {
        self.n >= ENOUGH
    }

    /// Takes note of what was reported for a request that is counted so.
    pub(super) fn note(&mut self, reported: Tokens, counted: Tokens) {
        // The same request reported twice says nothing.
        if self.last == Some((reported, counted)) {
            return;
        }
        let (least, most) = OF_COUNT;
        let above = |before| reported - before;
        let went_on = self.last.filter(|(before, _)| {
            above(*before) >= counted.scaled(least) && above(*before) <= counted.scaled(most)
        });
        self.n = match went_on {
            None => 0,
            Some((before, of)) => {
                // What the same kind of bill makes of what was added.
                let grown = before.scaled((counted - of).ratio_of(of));
                let is_no_bill = above(before) >= grown.scaled(BEYOND_GROWTH)
                    || reported >= counted.scaled(OF_ONE_REQUEST) && before >= of.scaled(OF_ONE_REQUEST);
                // A request that grew much may be billed so, or be the next in a total.
                self.n.saturating_add(u32::from(is_no_bill))
            }
        };
        self.last = Some((reported, counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns after how many of these reports, with what was counted, they are known to be totals.
    fn known_after(reports: impl IntoIterator<Item = (u64, u64)>) -> Option<usize> {
        let mut totals = Totals::default();
        reports.into_iter().position(|(reported, counted)| {
            totals.note(Tokens(reported), Tokens(counted));
            totals.are_known()
        })
    }

    /// Requests of a conversation that is compacted now and then.
    fn counts() -> impl Iterator<Item = u64> + Clone {
        (0..60u64).map(|turn| 60 + 180 * (turn % 17) + 11 * (turn * 7 % 13))
    }

    #[test]
    fn a_running_total_is_known_by_its_first_reports() {
        for (percent, beside) in [(100, 0), (130, 0), (90, 0), (100, 80)] {
            let totals = counts().scan(0, |sum, counted| {
                *sum += counted * percent / 100 + beside;
                Some((*sum, counted))
            });
            let known = known_after(totals);
            assert!(known.is_some_and(|at| at <= 7), "{percent} {beside}: {known:?}");
        }
    }

    /// Requests of a conversation whose turns are as large as they happen to be.
    fn uneven(seed: u64) -> impl Iterator<Item = (u64, u64)> {
        let (mut drawn, mut counted, mut sum) = (seed, 300, 0);
        (0..60).map(move |_| {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            counted += 150 + (drawn >> 33) % 1_300;
            if counted > 6_400 {
                counted = 2_200;
            }
            sum += counted;
            (sum, counted)
        })
    }

    #[test]
    fn a_running_total_is_known_and_stays_so_where_turns_are_uneven() {
        for seed in 0..40 {
            let known = known_after(uneven(seed));
            assert!(known.is_some_and(|at| at <= 16), "{seed}: {known:?}");
            let mut totals = Totals::default();
            let are_known = uneven(seed).map(|(reported, counted)| {
                totals.note(Tokens(reported), Tokens(counted));
                totals.are_known()
            });
            assert!(are_known.skip_while(|known| !known).all(|known| known), "{seed}");
        }
    }

    #[test]
    fn bills_of_single_requests_are_none() {
        for percent in [30, 80, 100, 140, 200, 300, 400] {
            for base in [0, 40, 2_000, 12_000] {
                let bills = counts().map(|counted| (base + counted * percent / 100, counted));
                assert_eq!(known_after(bills), None, "{percent} {base}");
            }
        }
        // A conversation that grows as fast as any.
        assert_eq!(known_after((0..12).map(|nth| (30 << (2 * nth), 20 << (2 * nth)))), None);
    }

    #[test]
    fn the_sum_of_the_last_three_is_none() {
        let counts: Vec<u64> = counts().collect();
        let sums = (0..counts.len()).map(|at| (counts[at.saturating_sub(2)..=at].iter().sum(), counts[at]));
        assert_eq!(known_after(sums), None);
    }
}
