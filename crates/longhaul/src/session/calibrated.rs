//! What the provider bills, learned from what it reported: the counts of the view become what the next request will cost.

use longhaul_tokens::{
    Calibration, Calibrations, ClassCounts, ContentClass, Estimate, Reported, TokenCounter,
};
use longhaul_transcript::{Message, Part, Tokens};

use super::{PLAUSIBLE_FACTOR, SessionState, TEMPLATE, refused::Refusals, snapshot::Learned, totals::Totals};
use crate::policy::{Decision, Hold};

/// What is known of the provider's way of counting, and the view's counts by class, which it is applied to.
#[derive(Clone, Debug, Default)]
pub(super) struct Calibrated {
    /// What was learned, by model and endpoint.
    known: Calibrations,
    model: String,
    endpoint: String,
    /// The last report, while the view still begins with what it covered.
    anchor: Option<Reported>,
    /// The last report of a view that the one that is was made of, where nothing was reported of this one yet.
    rewritten: Option<Reported>,
    /// A report that lies far above the count, or the window, to be compared with the next.
    held: Option<Reported>,
    /// How many such reports went on from one another, that one included.
    n_held: u32,
    /// How far reports add up all requests.
    totals: Totals,
    /// What was reported before is no longer believed, since nothing would fit by it; nothing that was made ready since goes by
    /// reports.
    is_distrusted: bool,
    /// What follows from all of these, so that a look at the context costs nothing; see [`SessionState::recalibrate`].
    expected: Option<Estimate>,
    scale: Scale,
}

impl Calibrated {
    pub(super) fn anchor(&self) -> Option<Reported> {
        self.anchor
    }

    pub(super) fn set_anchor(&mut self, anchor: Option<Reported>) {
        self.anchor = anchor;
    }

    /// Takes note that the view begins anew: what was reported was of another one.
    pub(super) fn forget_view(&mut self) {
        self.rewritten = self.anchor.take().or(self.rewritten);
    }

    /// Returns what is worth keeping.
    pub(super) fn learned(&self) -> Learned {
        Learned {
            known: self.known.clone(),
            model: self.model.clone(),
            endpoint: self.endpoint.clone(),
            anchor: self.anchor,
            rewritten: self.rewritten.filter(|_| self.anchor.is_none()),
            held: self.held,
            n_held: self.n_held,
            totals: self.totals,
            is_distrusted: self.is_distrusted,
        }
    }

    pub(super) fn of(learned: Learned) -> Calibrated {
        let Learned { known, model, endpoint, anchor, rewritten, held, n_held, totals, is_distrusted } =
            learned;
        let (expected, scale) = (None, Scale::default());
        Calibrated {
            known,
            model,
            endpoint,
            anchor,
            rewritten,
            held,
            n_held,
            totals,
            is_distrusted,
            expected,
            scale,
        }
    }

    /// Keeps a report that lies far above the count, or the window, until the next ones say whether every request costs so much.
    pub(super) fn hold(&mut self, report: Reported) {
        let is_same = self.held.is_some_and(|held| held.counted == report.counted);
        self.n_held = match self.goes_on_from_held(report) {
            true => self.n_held.saturating_add(1),
            false if is_same => self.n_held.max(1),
            false => 1,
        };
        self.held = Some(report);
    }

    /// Returns whether a report goes on from one before it: then what neither counts is beside the messages (a system prompt and tools
    /// that nobody told of), and no running total.
    pub(super) fn goes_on(&self, report: Reported) -> bool {
        self.goes_on_from_newest(report) || self.goes_on_from_held(report)
    }

    /// Returns whether a report above the window goes on from one that was believed, or from [a few](ENOUGH_REPORTS) of its kind
    /// with itself: the provider took requests of that size, whatever the window is said to be.
    pub(super) fn goes_on_for_long(&self, report: Reported) -> bool {
        let is_long = self.n_held as usize + 1 >= ENOUGH_REPORTS;
        self.goes_on_from_newest(report) || is_long && self.goes_on_from_held(report)
    }

    fn goes_on_from_newest(&self, report: Reported) -> bool {
        let newest = self.known.get(&self.model, &self.endpoint).and_then(Calibration::newest);
        newest.is_some_and(|newest| goes_on_from(newest, report))
    }

    fn goes_on_from_held(&self, report: Reported) -> bool {
        self.held.is_some_and(|held| held.counted != report.counted && goes_on_from(held, report))
    }
}

/// Returns whether a report lies above one before it by no more than what was said between can cost.
fn goes_on_from(before: Reported, report: Reported) -> bool {
    let said = report.counted.total() - before.counted.total();
    report.tokens <= before.tokens + Tokens(said.0.saturating_mul(PLAUSIBLE_FACTOR)) + TEMPLATE
}

/// A straight line from counts to what is billed at most: what a request costs beyond its messages, and what each counted
/// token of them costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    base: Tokens,
    slope: f64,
}

/// From this many reports on, what was learned is used with its bounds. The first ones are of whole requests, which say little of
/// what their parts cost: until then the last one counts, and what was said since.
const ENOUGH_REPORTS: usize = 3;

/// What takes no more of the budget fits in it, however wrong the counts are: no provider is known to bill twice what is counted.
const FITS_WELL: f64 = 0.5;

/// How much more than our own estimate may still be that, handed back.
const ECHO_MARGIN: Tokens = Tokens(100);

/// An estimate with less than this between its middle and its upper end is narrow.
const LEAST_SPREAD: Tokens = Tokens(5);

impl SessionState {
    /// Says which model at which endpoint reports usage from now on. What is learned of one, from reports and refusals, says
    /// nothing of another.
    pub fn set_endpoint(&mut self, model: &str, endpoint: &str) {
        let calibrated = &mut self.calibrated;
        if (model, endpoint) != (&calibrated.model, &calibrated.endpoint) {
            let was_known = !(calibrated.model.is_empty() && calibrated.endpoint.is_empty());
            if was_known && std::mem::take(&mut self.refusals) != Refusals::default() {
                self.policy.window_changed();
            }
            model.clone_into(&mut calibrated.model);
            endpoint.clone_into(&mut calibrated.endpoint);
            (calibrated.anchor, calibrated.rewritten, calibrated.held) = (None, None, None);
            calibrated.n_held = 0;
            (calibrated.totals, calibrated.is_distrusted) = (Totals::default(), false);
            self.recalibrate();
        }
    }

    /// Takes note of what was reported for a request that is counted so, and returns whether reports add up all requests. What was
    /// learned from the first ones is forgotten then.
    pub(super) fn adds_up(&mut self, reported: Tokens, counted: Tokens) -> bool {
        let had = self.calibrated.totals.are_known();
        self.calibrated.totals.note(reported, counted);
        let has = self.calibrated.totals.are_known();
        if has && !had {
            self.forget_learned();
        }
        has
    }

    /// Returns whether the last reports were running totals.
    pub(crate) fn has_totals(&self) -> bool {
        self.calibrated.totals.are_known()
    }

    /// Goes by count until something new is reported.
    fn forget_learned(&mut self) {
        let accuracy = self.counter.accuracy();
        let Calibrated { known, model, endpoint, anchor, rewritten, held, n_held, .. } = &mut self.calibrated;
        let learned = known.get_or_insert_with(model, endpoint, || Calibration::new(1.0, accuracy));
        *learned = Calibration::new(1.0, accuracy);
        (*anchor, *rewritten, *held, *n_held) = (None, None, None, 0);
        self.recalibrate();
    }

    /// Returns the session as it goes by count, where what the provider billed alone leaves no room for what must stay: by count that
    /// takes no more than [half](FITS_WELL) of the budget. A session without a view gets no new report, which could put it right.
    ///
    /// `None` where that was tried, and what was reported since says the same; where nothing was reported; and where it is too large by
    /// count as well, and nothing is done about that.
    pub(crate) fn by_count(&self, now_ms: Option<i64>) -> Option<SessionState> {
        let is_to_be_tried = !self.calibrated.is_distrusted && self.is_billed();
        if !is_to_be_tried || self.known_tokens() <= self.budget() {
            return None;
        }
        let mut by_count = self.clone();
        by_count.forget_learned();
        by_count.calibrated.is_distrusted = true;
        let m = by_count.measure(now_ms);
        let is_over = by_count.known_tokens() > m.budget;
        if is_over && matches!(by_count.decide(now_ms), Decision::Hold(Hold::Disabled)) {
            return None;
        }
        (m.floor <= m.budget.scaled(FITS_WELL)).then_some(by_count)
    }

    /// Takes note that a view fits by what was reported.
    pub(crate) fn note_fitting(&mut self) {
        self.calibrated.is_distrusted &= !self.is_billed();
    }

    /// Returns what was learned from reports, to be kept beyond this conversation.
    pub fn calibrations(&self) -> &Calibrations {
        &self.calibrated.known
    }

    /// Puts back what was learned, after a restart or from another conversation.
    pub fn set_calibrations(&mut self, known: Calibrations) {
        self.calibrated.known = known;
        self.recalibrate();
    }

    /// Returns the model and the endpoint that reports come from, and what was learned of them.
    pub(crate) fn learned(&self) -> (&str, &str, Option<&Calibration>) {
        let Calibrated { known, model, endpoint, .. } = &self.calibrated;
        (model, endpoint, known.get(model, endpoint))
    }

    /// Takes what was learned of this model and endpoint in another conversation, where nothing is known of them yet.
    pub(crate) fn learn_from(&mut self, earlier: Calibration) {
        let Calibrated { known, model, endpoint, .. } = &mut self.calibrated;
        known.get_or_insert_with(model, endpoint, || earlier);
        self.recalibrate();
    }

    /// Returns what the view is expected to cost, with the bounds that 95 % of requests stay within. Decisions are made on
    /// the upper one, [`tokens`](Self::tokens); people are shown the middle. Before enough was reported all three are the
    /// count, or the last report and the counts after it.
    pub fn estimate(&self) -> Estimate {
        let tokens = self.tokens_as_counted();
        self.calibrated.expected.unwrap_or(Estimate { low: tokens, mid: tokens, high: tokens })
    }

    /// Draws the conclusions from the view's counts, the last report and what was learned. To be called after each change
    /// of one of them.
    pub(super) fn recalibrate(&mut self) {
        let shown = self.items.sums().counts;
        let expected = match self.calibrated.anchor {
            // What was measured is known, and no estimate of it is better.
            Some(anchor) if anchor.counted == shown => None,
            anchor => self.expected_of_view(shown, anchor),
        };
        let by_bill =
            || self.by_newest(shown).map(|tokens| Estimate { low: tokens, mid: tokens, high: tokens });
        let expected = expected.or_else(|| by_bill().filter(|_| self.calibrated.anchor.is_none()));
        let scale = self.fresh_scale();
        self.calibrated.expected = expected;
        self.calibrated.scale = scale;
    }

    /// Returns the line from counts to what is billed for a view that no report covers, as one is after a rewrite.
    pub(super) fn scale(&self) -> Scale {
        self.calibrated.scale
    }

    fn fresh_scale(&self) -> Scale {
        let whole = self.items.sums().counts;
        let at = |counts: ClassCounts| {
            let expected = self.expected(counts, None).map(|expected| expected.high);
            expected.or_else(|| self.by_newest(counts))
        };
        match (at(ClassCounts::default()).zip(at(whole)), whole.total()) {
            (None, _) | (_, Tokens::ZERO) => Scale::default(),
            (Some((none, all)), total) => {
                Scale { base: none, slope: (all - none).ratio_of(total).max(LEAST_SLOPE) }
            }
        }
    }

    /// Returns what a view with these counts is expected to cost at most.
    pub(super) fn price_of(&self, counts: ClassCounts) -> Tokens {
        match self.expected_of_view(counts, None) {
            Some(estimate) => estimate.high,
            None => self.by_newest(counts).unwrap_or(counts.total() + self.counter.framing().per_reply),
        }
    }

    /// Returns what a view with these counts costs by the last bill, and no less than it counts: all that is known before
    /// [enough](ENOUGH_REPORTS) was reported. `None` before the first bill.
    fn by_newest(&self, counts: ClassCounts) -> Option<Tokens> {
        let by_newest = self.learned().2?.by_newest(counts)?;
        Some(by_newest.max(counts.total()))
    }

    /// Returns what a view with these counts costs as far as is known: what is counted, or what the last bill makes of it, where
    /// that is more. What lies above is only to be feared, and no reason to refuse what cannot be made smaller.
    pub(super) fn known_price_of(&self, counts: ClassCounts) -> Tokens {
        let (model, endpoint) = (&self.calibrated.model, &self.calibrated.endpoint);
        let newest = self.calibrated.known.get(model, endpoint).and_then(Calibration::newest);
        let counted = counts.total() + self.counter.framing().per_reply;
        let by_bill = newest.map_or(Tokens::ZERO, |bill| by_bill(bill, counts.total()));
        counted.max(by_bill).min(self.price_of(counts))
    }

    /// Returns what a view with these counts is expected to cost; see [`SessionState::likely_tokens`].
    pub(super) fn likely_price_of(&self, counts: ClassCounts) -> Tokens {
        let Calibrated { known, model, endpoint, anchor, .. } = &self.calibrated;
        match anchor {
            // What was measured is known.
            Some(anchor) if anchor.counted == counts => return anchor.tokens,
            None if self.items.is_empty() && counts == ClassCounts::default() => return Tokens::ZERO,
            _ => {}
        }
        // What was learned in another conversation may be far from this one.
        let by_newest = known.get(model, endpoint).and_then(|known| known.by_newest(counts));
        let most = self.price_of(counts);
        by_newest.unwrap_or(most).min(most)
    }

    /// Returns whether a report is the upper end of our own estimate of these counts, or little more, as that of a stub is which adds
    /// what it answered. A provider that bills just that is not believed, which costs next to nothing; where the estimate is
    /// narrow the two cannot be told apart, and need not be.
    pub(super) fn is_echo(&self, counted: ClassCounts, reported: Tokens) -> bool {
        // Of a view that was made of a billed one too little is uncertain to tell the two apart.
        let Some(estimate) = self.expected(counted, self.calibrated.anchor) else { return false };
        let is_wide = estimate.high >= estimate.mid + LEAST_SPREAD;
        let is_near = |high: Tokens| (high..=high + ECHO_MARGIN).contains(&reported);
        is_wide && (is_near(estimate.high) || is_near(estimate.high + self.fixed_overhead))
    }

    /// Learns from a report of what the beginning of the view with these counts costs, the fixed overhead apart.
    pub(super) fn learn(&mut self, counted: ClassCounts, tokens: Tokens) {
        let report = Reported { counted, tokens };
        let accuracy = self.counter.accuracy();
        let Calibrated { known, model, endpoint, anchor, rewritten, held, n_held, .. } = &mut self.calibrated;
        (*rewritten, *held, *n_held) = (None, None, 0);
        let calibration = known.get_or_insert_with(model, endpoint, || Calibration::new(1.0, accuracy));
        // The same request reported twice says nothing new.
        if *anchor != Some(report) {
            calibration.observe(report, *anchor);
        }
        *anchor = Some(report);
        self.recalibrate();
    }

    /// Returns what a view of this conversation with these counts is expected to cost. Of one that was made of a view that was
    /// reported, what stayed is known: it costs no more than that and what was added.
    fn expected_of_view(&self, counts: ClassCounts, anchor: Option<Reported>) -> Option<Estimate> {
        let whole = self.expected(counts, anchor)?;
        let Calibrated { known, model, endpoint, rewritten, .. } = &self.calibrated;
        let before = self.calibrated.anchor.or(*rewritten).filter(|_| anchor.is_none());
        let Some((known, before)) = known.get(model, endpoint).zip(before) else { return Some(whole) };
        let changed = known.estimate_changed(counts, before);
        let high = whole.high.min(changed.high);
        let low = whole.low.max(changed.low).min(high);
        Some(Estimate { low, mid: changed.mid.clamp(low, high), high })
    }

    fn expected(&self, counts: ClassCounts, anchor: Option<Reported>) -> Option<Estimate> {
        let Calibrated { known, model, endpoint, .. } = &self.calibrated;
        let known = known.get(model, endpoint);
        known
            .filter(|known| known.observations() >= ENOUGH_REPORTS)
            .map(|known| known.estimate(counts, anchor))
    }
}

/// Returns what `counted` tokens would have been billed with this bill: what is more of them costs no less than it counts, what is
/// less saves no more.
fn by_bill(bill: Reported, counted: Tokens) -> Tokens {
    let of = bill.counted.total();
    let ratio = bill.tokens.ratio_of(of);
    match counted >= of {
        true => bill.tokens + (counted - of).scaled(ratio.max(1.0)),
        false => bill.tokens - (of - counted).scaled(ratio.min(1.0)),
    }
}

/// No provider bills less than a quarter of what any counter here counts (see [`Calibration`]).
const LEAST_SLOPE: f64 = 0.25;

impl Default for Scale {
    /// What is billed is what is counted.
    fn default() -> Scale {
        Scale { base: Tokens::ZERO, slope: 1.0 }
    }
}

impl Scale {
    /// Returns what this many counted tokens of messages are billed at most, as part of a view.
    pub(super) fn billed(self, counted: Tokens) -> Tokens {
        counted.scaled(self.slope)
    }

    /// Returns how many tokens a view may count so that it is billed no more than `tokens`.
    pub(super) fn countable(self, tokens: Tokens) -> Tokens {
        (tokens - self.base).scaled(1.0 / self.slope)
    }

    /// Returns what every view costs beyond its messages.
    pub(super) fn base(self) -> Tokens {
        self.base
    }
}

/// Returns the counts of a message by class; together what [`TokenCounter::count_message`] gives. A message of one class,
/// as nearly all are, is counted once.
pub(super) fn classes(counter: &dyn TokenCounter, message: &Message) -> ClassCounts {
    let class = match &message.parts[..] {
        [Part::Text(_)] => ContentClass::Text,
        [Part::ToolResult(result)] if !result.content.iter().any(|part| matches!(part, Part::Media(_))) => {
            ContentClass::Results
        }
        _ => return ClassCounts::of_message(counter, message),
    };
    let whole = counter.count_message(message);
    let frame = match class {
        ContentClass::Text => Tokens::ZERO,
        _ => counter.count_message(&frame_of(message)).min(whole),
    };
    let mut counts = ClassCounts::default();
    counts.record(ContentClass::Text, frame);
    counts.record(class, whole - frame);
    counts
}

/// Returns a message without its parts.
fn frame_of(message: &Message) -> Message {
    Message { name: message.name.clone(), origin: message.origin, ..Message::new(message.role, Vec::new()) }
}
