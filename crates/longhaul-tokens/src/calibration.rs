//! Learning from what providers report, so that the next request is estimated as it will be billed.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::OnceLock,
};

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

use crate::{
    Accuracy, ClassCounts,
    ceiling::{Bills, Line},
    classes::CLASSES,
    fit::{Sums, quantile},
};

/// What a request is expected to be billed, with the bounds that 95 % of requests stay within.
///
/// Whoever must not exceed a window uses `high`; whoever shows a figure to people shows `mid`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// The lower bound.
    pub low: Tokens,
    /// The expectation.
    pub mid: Tokens,
    /// The upper bound.
    pub high: Tokens,
}

/// The ratios of one (model, endpoint), learned from reported usage.
///
/// The caller counts with any [`TokenCounter`](crate::TokenCounter), by [`ClassCounts`], and says after each request what
/// was reported. From that the calibration learns how many billed tokens a counted token of each class is, and what each
/// request costs besides (system prompt and tool definitions that were not counted). What is learned is bounded: a ratio
/// stays between a quarter and four times what it began with, and no estimate is much above what was ever billed for as much:
/// bills that differ by who answers widen the bounds so far and no further.
///
/// A report is also an *anchor*: as long as the next request begins with the messages that a report covered, only what
/// came after is estimated. A compaction rewrites that beginning; the caller then estimates without the anchor, and the
/// ratios stay.
///
/// ```
/// use longhaul_tokens::{Accuracy, Calibration, ClassCounts, ContentClass, Reported};
/// use longhaul_transcript::Tokens;
///
/// let counted = |tokens| {
///     let mut counts = ClassCounts::default();
///     counts.record(ContentClass::Results, Tokens(tokens));
///     counts
/// };
/// let mut calibration = Calibration::new(1.0, Accuracy::Estimate { margin: 0.3 });
/// let mut anchor = None;
/// for turn in 1..=20 {
///     // This provider bills 1.4 tokens for each that we count.
///     let report = Reported { counted: counted(1_000 * turn), tokens: Tokens(1_400 * turn) };
///     calibration.observe(report, anchor);
///     anchor = Some(report);
/// }
/// let next = calibration.estimate(counted(21_000), anchor);
/// assert!(next.low <= Tokens(29_400) && Tokens(29_400) <= next.high);
/// assert!(next.mid.0.abs_diff(29_400) < 29_400 / 200);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Billed tokens for a counted one before anything is known.
    prior: f64,
    /// Relative error before anything is known.
    prior_margin: f64,
    /// Decayed sums over what was added between one report and the next.
    growth: Sums,
    /// Decayed mean of what whole requests cost beyond their messages, and its weight.
    intercept: f64,
    intercept_weight: f64,
    /// Relative errors of the last predictions of growth.
    growth_errors: VecDeque<f64>,
    /// Relative errors of the last predictions of whole requests.
    total_errors: VecDeque<f64>,
    /// The largest bills for what they were for: no estimate is much above them.
    #[serde(default)]
    bills: Bills,
    /// The last report.
    #[serde(default)]
    newest: Option<Reported>,
    /// What follows from all of these: a request is estimated far more often than one is reported.
    #[serde(skip)]
    fit: Once<Fit>,
}

/// What follows from what was observed.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Billed tokens for a counted one, by class.
    ratios: [f64; CLASSES],
    /// The relative error to expect of growth, and of a whole request.
    growth_margin: f64,
    total_margin: f64,
    /// The most that was ever billed for what is counted.
    ceiling: Option<Line>,
}

/// A value that follows from the others beside it, worked out when it is asked for. It makes no two of them different.
#[derive(Clone, Debug)]
struct Once<T>(OnceLock<T>);

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once(OnceLock::new())
    }
}

impl<T> PartialEq for Once<T> {
    fn eq(&self, _: &Once<T>) -> bool {
        true
    }
}

/// What a provider reported for a request, with what was counted for the same request. One value, because either alone
/// says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The counts of the request's messages.
    pub counted: ClassCounts,
    /// The reported input: uncached, cache reads and cache writes together.
    pub tokens: Tokens,
}

/// How many errors are remembered: enough for the largest of a long session to be among them.
const REMEMBERED: usize = 128;
/// From this many errors on, their quantile is believed.
const ENOUGH: usize = 10;
/// Tokens that are added to both sides of a relative error, so that tiny additions do not count as huge errors.
const GRAIN: f64 = 200.0;
/// What an observation counts for after each later one: half after 34.
const DECAY: f64 = 0.98;
/// A request may be billed this share less than the one that it goes on from, and still be of the same: to take only those that are
/// billed more for what was added would make of chance a rise.
const WOBBLE: f64 = 0.1;
/// A request may be billed this share more than any was before, for what it counts.
const ABOVE_ALL: f64 = 0.05;

impl Calibration {
    /// Returns a calibration that knows nothing yet: it takes a counted token for `prior` billed ones, with the error that
    /// the counter's `accuracy` admits.
    pub fn new(prior: f64, accuracy: Accuracy) -> Calibration {
        let prior_margin = match accuracy {
            // An exact count of text still leaves open how the provider renders calls and frames.
            Accuracy::Exact => 0.05,
            Accuracy::Estimate { margin } => margin,
        };
        Calibration {
            prior: if prior.is_finite() && prior > 0.0 { prior } else { 1.0 },
            prior_margin,
            growth: Sums::default(),
            intercept: 0.0,
            intercept_weight: 0.0,
            growth_errors: VecDeque::new(),
            total_errors: VecDeque::new(),
            bills: Bills::default(),
            newest: None,
            fit: Once::default(),
        }
    }

    /// Learns from a report. `anchor` is the report before it in the same session, if this request begins with the same
    /// messages; `None` for the first request, after a compaction, and when in doubt.
    pub fn observe(&mut self, report: Reported, anchor: Option<Reported>) {
        let expected = self.estimate(report.counted, anchor).mid.0 as f64;
        let actual = report.tokens.0 as f64;
        let fit = *self.fit();
        let billed = fit.billed(report.counted);
        match anchor.filter(|anchor| anchor.tokens.scaled(1.0 - WOBBLE) <= report.tokens) {
            Some(anchor) => {
                let added = actual - anchor.tokens.0 as f64;
                remember(&mut self.growth_errors, (expected - actual) / (added.max(0.0) + GRAIN));
                self.growth.add((report.counted - anchor.counted).as_numbers(), added, DECAY);
            }
            None => {
                remember(&mut self.total_errors, (expected - actual) / (actual + GRAIN));
                // A whole request says little of the ratio, because what was not counted is in it too.
                let beyond = (actual - billed).max(0.0);
                self.intercept_weight = self.intercept_weight * DECAY + 1.0;
                self.intercept += (beyond - self.intercept) / self.intercept_weight;
            }
        }
        self.bills.add(report, |counts| fit.billed(counts));
        self.newest = Some(report);
        self.fit = Once::default();
    }

    /// Returns what a request with these counts is expected to be billed. `anchor` is the last report, if the request
    /// begins with the messages it covered.
    pub fn estimate(&self, counted: ClassCounts, anchor: Option<Reported>) -> Estimate {
        let fit = self.fit();
        let (base, estimated, margin) = match anchor {
            Some(anchor) => (anchor.tokens.0 as f64, fit.billed(counted - anchor.counted), fit.growth_margin),
            None => (0.0, self.intercept + fit.billed(counted), fit.total_margin),
        };
        let spread = margin * (estimated + GRAIN);
        // No bill makes less of a request than is counted, and what was measured is known.
        let least = base.max(counted.total().0 as f64);
        let most = fit.ceiling.map_or(f64::INFINITY, |line| line.at(fit.billed(counted)).max(least));
        let highest = most + ABOVE_ALL * (most + GRAIN);
        let tokens = |value: f64, most: f64| Tokens(value.clamp(0.0, most).round() as u64);
        Estimate {
            low: tokens(base + (estimated - spread).max(0.0), most),
            mid: tokens(base + estimated, most),
            high: tokens(base + estimated + spread, highest),
        }
    }

    /// Returns what a request is expected to be billed that was made of the one that `before` reports, by taking parts out and
    /// putting others in: what stayed costs what it did, and only what changed is uncertain.
    pub fn estimate_changed(&self, counted: ClassCounts, before: Reported) -> Estimate {
        let fit = self.fit();
        let added = fit.billed(counted - before.counted);
        let removed = fit.billed(before.counted - counted);
        let (whole, spread) = (before.tokens.0 as f64, fit.growth_margin * (added + removed + GRAIN));
        let tokens = |value: f64| Tokens(value.max(0.0).round() as u64);
        let mid = whole + added - removed;
        Estimate { low: tokens(mid - spread), mid: tokens(mid), high: tokens(mid + spread) }
    }

    /// Returns what a request with these counts is expected to be billed, by the last report and the ratios alone: the same counts
    /// are expected to cost the same until something new is reported, whatever they were counted for. `None` before the first.
    pub fn by_newest(&self, counted: ClassCounts) -> Option<Tokens> {
        let newest = self.newest?;
        let (billed, before) = (self.fit().billed(counted), self.fit().billed(newest.counted));
        let tokens = newest.tokens.0 as f64;
        // Where the ratios make more of the newest request than it was billed, a line with their slope through its bill makes less of
        // a small request than nothing: that one costs its share of the bill.
        let share = if billed < before && tokens < before { tokens * billed / before } else { 0.0 };
        Some(Tokens((tokens + billed - before).max(share).round() as u64))
    }

    /// Returns the last report.
    pub fn newest(&self) -> Option<Reported> {
        self.newest
    }

    /// Returns billed tokens for a counted one, by class in the order of [`ContentClass::ALL`](crate::ContentClass::ALL).
    pub fn ratios(&self) -> [f64; CLASSES] {
        self.fit().ratios
    }

    fn fit(&self) -> &Fit {
        self.fit.0.get_or_init(|| {
            let fit = Fit {
                ratios: self.growth.ratios(self.prior),
                growth_margin: self.margin(&self.growth_errors),
                total_margin: self.margin(&self.total_errors),
                ceiling: None,
            };
            Fit { ceiling: self.bills.line(|counts| fit.billed(counts)), ..fit }
        })
    }

    fn margin(&self, errors: &VecDeque<f64>) -> f64 {
        match errors.len() {
            0..ENOUGH => self.prior_margin.max(quantile(errors, 1.0)),
            // Errors come in bunches, and a few are a small sample of the tail: their own 95th percentile would cover 91 %
            // of the requests in the recorded sessions (`examples/calibrate.rs`).
            _ => quantile(errors, 0.97) * 1.2,
        }
    }

    /// Returns the number of reports that are remembered with their errors.
    pub fn observations(&self) -> usize {
        self.growth_errors.len() + self.total_errors.len()
    }
}

impl Fit {
    /// Returns what these counts are expected to be billed.
    fn billed(&self, counts: ClassCounts) -> f64 {
        self.ratios.iter().zip(counts.as_numbers()).map(|(ratio, count)| ratio * count).sum()
    }
}

fn remember(errors: &mut VecDeque<f64>, error: f64) {
    if errors.len() == REMEMBERED {
        errors.pop_front();
    }
    errors.push_back(error.abs());
}

/// Calibrations by model and endpoint: the same model behind two gateways may be billed in two ways.
///
/// Serializable, to be kept between sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibrations {
    /// By model, then by endpoint.
    known: BTreeMap<String, BTreeMap<String, Calibration>>,
}

impl Calibrations {
    /// Returns what is known of `model` at `endpoint`, if anything.
    pub fn get(&self, model: &str, endpoint: &str) -> Option<&Calibration> {
        self.known.get(model)?.get(endpoint)
    }

    /// Returns the calibration of `model` at `endpoint`, made by `new` where there is none yet.
    pub fn get_or_insert_with(
        &mut self,
        model: &str,
        endpoint: &str,
        new: impl FnOnce() -> Calibration,
    ) -> &mut Calibration {
        self.known.entry(model.to_owned()).or_default().entry(endpoint.to_owned()).or_insert_with(new)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ContentClass;

    fn counted(text: u64, results: u64) -> ClassCounts {
        let mut counts = ClassCounts::default();
        counts.record(ContentClass::Text, Tokens(text));
        counts.record(ContentClass::Results, Tokens(results));
        counts
    }

    /// Observes a session in which text costs `text_ratio` and results `result_ratio`, over a constant overhead.
    fn session(
        text_ratio: f64,
        result_ratio: f64,
        overhead: f64,
        turns: u64,
    ) -> (Calibration, Reported, f64) {
        let mut calibration = Calibration::new(1.0, Accuracy::Estimate { margin: 0.3 });
        let (mut sum, mut billed, mut anchor) = (ClassCounts::default(), overhead, None);
        for turn in 1..=turns {
            let (text, results) = (100 + turn * 37 % 200, 50 + turn * 911 % 3000);
            sum += counted(text, results);
            billed += text as f64 * text_ratio + results as f64 * result_ratio;
            let report = Reported { counted: sum, tokens: Tokens(billed.round() as u64) };
            calibration.observe(report, anchor);
            anchor = Some(report);
        }
        (calibration, anchor.unwrap(), billed)
    }

    #[test]
    fn classes_get_their_own_ratios() {
        let (calibration, ..) = session(1.3, 1.7, 9_000.0, 40);
        let ratios = calibration.ratios();
        assert!((ratios[0] - 1.3).abs() < 0.1 && (ratios[2] - 1.7).abs() < 0.03, "{ratios:?}");
    }

    #[test]
    fn the_same_counts_cost_the_same_until_the_next_bill() {
        let (calibration, newest, _) = session(1.3, 1.7, 900.0, 40);
        assert_eq!(calibration.by_newest(newest.counted), Some(newest.tokens));
        let (less, more) = (counted(2_000, 4_000), newest.counted + counted(100, 50));
        let expected = |billed: f64| Tokens(billed.round() as u64);
        let near = |one: Option<Tokens>, other: Tokens| one.unwrap().0.abs_diff(other.0) <= other.0 / 50;
        assert!(near(calibration.by_newest(less), expected(900.0 + 2_000.0 * 1.3 + 4_000.0 * 1.7)));
        assert!(calibration.by_newest(more) > Some(newest.tokens));
        assert_eq!(Calibration::new(1.0, Accuracy::Exact).by_newest(less), None);
    }

    #[test]
    fn a_small_request_costs_something_whatever_was_billed_for_a_large_one() {
        let mut calibration = Calibration::new(1.0, Accuracy::Exact);
        // Each question costs more than the bill of all of them makes of it: half of the first was in a cache that is not told of.
        let (mut sum, mut anchor) = (counted(2_000, 0), None);
        for turn in 0..30u64 {
            let report = Reported { counted: sum, tokens: Tokens(1_000 + 80 * turn) };
            calibration.observe(report, anchor);
            anchor = Some(report);
            sum += counted(60, 0);
        }
        let of = |n: u64| calibration.by_newest(counted(n, 0)).unwrap();
        assert!(of(7) >= Tokens(5), "{}", of(7));
        assert_eq!(calibration.by_newest(anchor.unwrap().counted), Some(anchor.unwrap().tokens));
        assert!((1..40).all(|n| of(100 * n) <= of(100 * n + 100)), "more costs no less");
    }

    #[test]
    fn what_no_count_sees_is_paid_once_however_much_larger_a_request_is() {
        let mut calibration = Calibration::new(1.0, Accuracy::Exact);
        calibration.observe(Reported { counted: counted(1_000, 0), tokens: Tokens(4_000) }, None);
        let slope = calibration.by_newest(counted(3_000, 0)).unwrap().0 as f64 - 4_000.0;
        let (more, most) =
            (calibration.by_newest(counted(2_000, 0)), calibration.by_newest(counted(20_000, 0)));
        assert_eq!(more, Some(Tokens((4_000.0 + slope / 2.0).round() as u64)));
        assert_eq!(most, Some(Tokens((4_000.0 + slope * 9.5).round() as u64)));
    }

    #[test]
    fn an_anchor_keeps_what_was_measured() {
        let (calibration, anchor, billed) = session(1.3, 1.7, 9_000.0, 40);
        let next = calibration.estimate(anchor.counted + counted(100, 1000), Some(anchor));
        let actual = billed + 130.0 + 1700.0;
        assert!((next.mid.0 as f64 - actual).abs() / actual < 0.001, "{next:?} {actual}");
        assert_eq!(calibration.estimate(anchor.counted, Some(anchor)).mid, anchor.tokens);
    }

    #[test]
    fn after_a_rewrite_the_ratios_stay() {
        // The first request of a session is whole; from the second session on, so the overhead is known too.
        let (mut calibration, anchor, _) = session(1.5, 1.5, 8_000.0, 40);
        for _ in 0..5 {
            calibration.observe(Reported { counted: counted(1_000, 0), tokens: Tokens(9_500) }, None);
        }
        let rewritten = calibration.estimate(counted(2_000, 10_000), None);
        let actual = 8_000.0 + 12_000.0 * 1.5;
        assert!((rewritten.mid.0 as f64 - actual).abs() / actual < 0.05, "{rewritten:?}");
        assert!(rewritten.high >= Tokens(actual as u64));
        assert!(anchor.tokens > Tokens(8_000));
    }

    #[test]
    fn nothing_known_gives_the_prior_with_its_margin() {
        let calibration = Calibration::new(1.25, Accuracy::Estimate { margin: 0.2 });
        let estimate = calibration.estimate(counted(1_000, 0), None);
        assert_eq!(estimate.mid, Tokens(1_250));
        assert_eq!((estimate.low, estimate.high), (Tokens(960), Tokens(1_540)));
    }

    #[test]
    fn uneven_bills_widen_the_bounds_only_as_far_as_any_was_over_the_count() {
        let mut calibration = Calibration::new(1.0, Accuracy::Exact);
        let (mut sum, mut anchor) = (ClassCounts::default(), None);
        for turn in 0..120u64 {
            // Compacted now and then.
            sum = if turn % 20 == 0 { counted(300, 200) } else { sum + counted(60, turn * 911 % 500) };
            anchor = anchor.filter(|_| turn % 20 != 0);
            let tokens = sum.total().scaled(if turn % 2 == 0 { 1.0 } else { 1.25 });
            let report = Reported { counted: sum, tokens };
            calibration.observe(report, anchor);
            anchor = Some(report);
        }
        let estimate = calibration.estimate(counted(1_000, 2_853), None);
        assert!(estimate.high <= Tokens(3_853).scaled(1.25 * 1.1), "{estimate:?}");
        assert!(estimate.high >= Tokens(3_853).scaled(1.25), "{estimate:?}");
    }

    #[test]
    fn what_was_learned_is_kept_with_its_key() {
        let mut all = Calibrations::default();
        let new = || Calibration::new(1.0, Accuracy::Exact);
        all.get_or_insert_with("m", "https://a", new)
            .observe(Reported { counted: counted(10, 0), tokens: Tokens(500) }, None);
        let json = serde_json::to_string(&all).unwrap();
        let back: Calibrations = serde_json::from_str(&json).unwrap();
        assert_eq!(back, all);
        assert_eq!(back.get("m", "https://a").map(Calibration::observations), Some(1));
        assert_eq!(back.get("m", "https://b"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_reported_estimates_stay_ordered_and_bounded(
            reports in prop::collection::vec((0u64..50_000, 0u64..50_000, 0u64..1_000_000, any::<bool>()), 0..60),
        ) {
            let mut calibration = Calibration::new(1.0, Accuracy::Exact);
            let mut last = None;
            for (text, results, tokens, anchored) in reports {
                let report = Reported { counted: counted(text, results), tokens: Tokens(tokens) };
                calibration.observe(report, last.filter(|_| anchored));
                last = Some(report);
                for anchor in [None, last] {
                    let estimate = calibration.estimate(counted(60_000, 60_000), anchor);
                    prop_assert!(estimate.low <= estimate.mid && estimate.mid <= estimate.high);
                }
                prop_assert!(calibration.ratios().iter().all(|ratio| (0.25..=4.0).contains(ratio)));
            }
        }
    }
}
