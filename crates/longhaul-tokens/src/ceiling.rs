//! The most that requests were ever billed for what they count.
//!
//! A provider that bills unevenly (one name for two backends, say) spoils what is learned from the difference of two bills. Each bill
//! on its own still says something: nothing that was ever billed lies above the line drawn here.

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

use crate::{ClassCounts, Reported};

/// Of the requests of each size, the one that was billed most for what it counts; in the order of their sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Bills(Vec<Reported>);

/// What a request is billed at most: something for every request, and something for each token counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    base: f64,
    slope: f64,
    /// The size of the largest request: one that is larger costs as much more as it is larger.
    largest: f64,
}

/// With bills of fewer sizes than this there is no telling what every request costs from what its messages do.
const ENOUGH_SIZES: usize = 2;

impl Bills {
    /// Takes a bill. `weigh` is what counts are worth, in any unit.
    pub(crate) fn add(&mut self, bill: Reported, weigh: impl Fn(ClassCounts) -> f64) {
        let worth = |bill: &Reported| bill.tokens.0 as f64 / weigh(bill.counted).max(1.0);
        match self.0.binary_search_by_key(&size(&bill), size) {
            Ok(at) if worth(&self.0[at]) <= worth(&bill) => self.0[at] = bill,
            Ok(_) => {}
            Err(at) => self.0.insert(at, bill),
        }
    }

    /// Returns the line that no bill is above and that is least above them all.
    pub(crate) fn line(&self, weigh: impl Fn(ClassCounts) -> f64) -> Option<Line> {
        if self.0.len() < ENOUGH_SIZES {
            return None;
        }
        let points: Vec<(f64, f64)> =
            self.0.iter().map(|bill| (weigh(bill.counted), bill.tokens.0 as f64)).collect();
        let largest = points.iter().map(|(x, _)| *x).fold(0.0, f64::max);
        let through_both = |(x, y): (f64, f64), (other_x, other_y): (f64, f64)| {
            let slope = (other_y - y) / (other_x - x);
            Line { base: y - slope * x, slope, largest }
        };
        let pairs = points
            .iter()
            .enumerate()
            .flat_map(|(at, one)| points[at + 1..].iter().map(move |other| through_both(*one, *other)));
        let ratios = points.iter().map(|(x, y)| Line { base: 0.0, slope: y / x, largest });
        let is_above_all = |line: &Line| points.iter().all(|(x, y)| line.at(*x) >= y - 0.5);
        let above = |line: &Line| points.iter().map(|(x, _)| line.at(*x)).sum::<f64>();
        pairs
            .chain(ratios)
            .filter(|line| line.base >= 0.0 && line.slope > 0.0 && line.slope.is_finite())
            .filter(is_above_all)
            .min_by(|one, other| above(one).total_cmp(&above(other)))
    }
}

impl Line {
    pub(crate) fn at(self, x: f64) -> f64 {
        let known = x.min(self.largest);
        (self.base + self.slope * known) * (x / known).max(1.0)
    }
}

/// Returns the size of a request in steps of about a half: two to each doubling, by the two leading bits.
fn size(bill: &Reported) -> u32 {
    let Tokens(counted) = bill.counted.total();
    match counted.checked_ilog2() {
        None => 0,
        Some(0) => 1,
        Some(log) => 2 * log + u32::from(counted >> (log - 1) & 1 == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContentClass;

    fn bill(counted: u64, tokens: u64) -> Reported {
        let mut counts = ClassCounts::default();
        counts.record(ContentClass::Text, Tokens(counted));
        Reported { counted: counts, tokens: Tokens(tokens) }
    }

    fn line(bills: &[(u64, u64)]) -> Option<Line> {
        let weigh = |counts: ClassCounts| counts.total().0 as f64;
        let mut all = Bills::default();
        bills.iter().for_each(|(counted, tokens)| all.add(bill(*counted, *tokens), weigh));
        all.line(weigh)
    }

    #[test]
    fn what_every_request_costs_is_told_from_what_its_messages_do() {
        let line = line(&[(100, 400), (1_000, 1_300), (5_000, 5_300)]).unwrap();
        assert_eq!((line.base.round(), line.slope), (300.0, 1.0));
    }

    #[test]
    fn of_uneven_bills_the_line_is_that_of_the_dearer() {
        let uneven: Vec<(u64, u64)> =
            (1..60).map(|nth| (nth * 100, if nth % 2 == 0 { nth * 100 } else { nth * 125 })).collect();
        let line = line(&uneven).unwrap();
        assert!(line.base < 1.0 && (line.slope - 1.25).abs() < 1e-9, "{line:?}");
    }

    #[test]
    fn what_is_larger_than_any_costs_no_less_a_token() {
        let line = line(&[(3_000, 4_000), (4_600, 4_100)]).unwrap();
        assert!(line.at(9_200.0) >= 8_200.0, "{line:?}");
    }

    #[test]
    fn one_size_says_nothing() {
        assert_eq!(line(&[(3_000, 12_000), (3_010, 12_010)]), None);
        assert_eq!(line(&[]), None);
    }
}
