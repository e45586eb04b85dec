//! The numbers of a context: what it costs, what it may cost, and what a decision is made on.

use std::collections::BTreeSet;

use longhaul_transcript::{Span, Tokens};

use super::{SessionState, Shown};
use crate::{
    compact::FLOOR_EXTRA,
    config::{Chaining, Limits, SoftAction},
    cost::{Cache, Outlook, Sizes},
    policy::{self, Measurement},
};

/// How fast a conversation grows is judged by this many messages.
const RECENT_COSTS: usize = 16;

/// What reading a token from a cache costs where no price is known, as a share of what it costs anew, and what writing one there
/// does: what Anthropic asks ("Prompt caching" in its documentation, 2025). Others ask much the same.
const CACHE_READ: f64 = 0.1;
const CACHE_WRITE: f64 = 1.25;

impl SessionState {
    /// Returns the numbers that a decision is made on.
    pub fn measure(&self, now_ms: Option<i64>) -> Measurement {
        let tokens = self.tokens();
        let n_total = self.n_total();
        let open_from = self.exchange.open_from();
        let open = open_from.map_or(Tokens::ZERO, |start| self.items.in_span(Span { start, end: n_total }));
        let pinned = self.items.pinned_before(open_from.unwrap_or(n_total));
        let stays = self.front_tokens() + pinned + open + self.request_tokens(open_from.unwrap_or(n_total));
        let end = n_total.saturating_sub(self.config.preserve_recent).min(open_from.unwrap_or(n_total));
        let range = Span { start: self.uncovered.max(self.head).min(end), end };
        let soft_gain = match self.config.soft_action {
            SoftAction::Trim => self.items.in_span(range),
            _ => {
                self.items.sums_before(range.end).digestible - self.items.sums_before(range.start).digestible
            }
        };
        let scale = self.scale();
        Measurement {
            tokens,
            budget: self.budget(),
            window: self.window(),
            floor: (scale.billed(stays + FLOOR_EXTRA) + scale.base()).min(tokens),
            soft_gain: scale.billed(soft_gain),
            soft_price: self.soft_price(tokens, scale.billed(soft_gain)),
            range,
            range_tokens: scale.billed(self.items.in_span(range)),
            n_messages: self.items.len() as u64,
            n_said: self.items.sums().said,
            n_total,
            next_depth: self.next_depth(),
            at_turn_boundary: self.exchange.is_turn_boundary(),
            cache_is_cold: self.cache(now_ms) == Cache::Cold,
            now_ms,
        }
    }

    /// Returns when the next compaction comes, and what is done now.
    pub fn outlook(&self, now_ms: Option<i64>) -> Outlook {
        let (m, limits) = (self.measure(now_ms), self.limits());
        let sizes = Sizes {
            before: m.tokens + self.fixed_overhead,
            after: m.floor.max(limits.target).min(m.tokens) + self.fixed_overhead,
            unchanged_prefix: self.fixed_overhead + self.front_tokens(),
        };
        Outlook {
            limits,
            forecast: policy::forecast(&self.policy, &self.config, &m),
            adjustments: self.config.adjustments(self.window(), self.budget()),
            sizes,
            cache: self.cache(now_ms),
            decision: self.decide(now_ms),
        }
    }

    /// Returns what the view costs: all counts, or the provider's last report and the counts after it; once enough was
    /// reported, the upper end of what the next request is expected to cost (see [`estimate`](Self::estimate)).
    pub fn tokens(&self) -> Tokens {
        self.estimate().high
    }

    /// Returns what the view is expected to cost: what people are shown, by the last bill and what was learned from all. It is one
    /// measure for every view of the conversation, so that two of them can be compared, before and after a compaction, and what
    /// is undone and done again costs what it did. What is decided on, [`tokens`](Self::tokens), has a margin above it.
    pub fn likely_tokens(&self) -> Tokens {
        self.likely_price_of(self.items.sums().counts)
    }

    /// Returns whether the provider has told what requests cost: then that is what [`likely_tokens`](Self::likely_tokens) goes by.
    pub fn is_billed(&self) -> bool {
        self.learned().2.is_some_and(|known| known.newest().is_some())
    }

    /// Returns what the view costs as far as is known, and never more than [`tokens`](Self::tokens): the count, or what the last
    /// bill makes of it, where that is more. What is over the budget by this is not sent.
    pub fn known_tokens(&self) -> Tokens {
        self.known_price_of(self.items.sums().counts).min(self.tokens())
    }

    /// Returns the view's counts as they are, whatever was reported.
    pub(super) fn counted(&self) -> Tokens {
        self.items.sums().counts.total() + self.counter.framing().per_reply
    }

    /// Returns the provider's last report and the counts after it, or all counts.
    pub(super) fn tokens_as_counted(&self) -> Tokens {
        let counts = self.items.sums().counts;
        match self.calibrated.anchor() {
            Some(anchor) => anchor.tokens + (counts.total() - anchor.counted.total()),
            None if self.items.is_empty() => Tokens::ZERO,
            None => self.counted(),
        }
    }

    /// Returns the most the view may cost.
    pub fn budget(&self) -> Tokens {
        self.context_window().budget(self.fixed_overhead)
    }

    /// Returns the most the view may cost, whatever was concluded from refusals.
    pub(super) fn sure_budget(&self) -> Tokens {
        self.config.window(self.known_window()).budget(self.fixed_overhead)
    }

    /// Returns what the ratios are of.
    pub(crate) fn base(&self) -> Tokens {
        self.config.base(self.window(), self.budget())
    }

    /// Returns the thresholds in tokens.
    pub fn limits(&self) -> Limits {
        self.config.limits(self.window(), self.budget())
    }

    /// Returns whether the provider still has the prefix of the last request; warm where there is no telling.
    pub fn cache(&self, now_ms: Option<i64>) -> Cache {
        let age = now_ms.zip(self.requested_at_ms).map(|(now, at)| now.saturating_sub(at));
        match (age, self.config.cache_ttl_ms) {
            (Some(age), Some(ttl)) if u64::try_from(age).is_ok_and(|age| age >= ttl) => Cache::Cold,
            _ => Cache::Warm,
        }
    }

    /// Returns the window to work with: the one that was given or the model's, less where the settings or a refusal say so.
    pub fn window(&self) -> Tokens {
        self.context_window().window
    }

    /// Returns the ordinal from which on an exchange is open; beyond all messages where none is.
    pub(super) fn open_from(&self) -> u64 {
        self.exchange.open_from().unwrap_or(u64::MAX)
    }

    /// Returns how many messages were said.
    pub(super) fn n_total(&self) -> u64 {
        self.originals.len() as u64
    }

    /// Returns what stands in front of everything else: standing instructions and memory blocks.
    pub(super) fn front_tokens(&self) -> Tokens {
        self.items.in_span(Span { start: 0, end: self.head }) + self.items.sums().blocks
    }

    /// Returns what stays in every view: pinned messages with their exchanges, a summary of the provider's own, and memory blocks.
    pub(crate) fn pinned_tokens(&self) -> Tokens {
        self.scale().billed(self.pinned_beside(Span { start: 0, end: 0 }))
    }

    /// Returns what is counted of what is pinned or in memory blocks, but for the messages of `span`.
    pub(super) fn pinned_beside(&self, span: Span) -> Tokens {
        let others = self.pins.iter().filter(|ordinal| !span.contains(**ordinal));
        let exchanges = others.map(|ordinal| self.exchange_of(*ordinal));
        let stay: BTreeSet<u64> = exchanges.flat_map(|span| span.start..span.end).collect();
        let pins = stay.iter().filter_map(|ordinal| self.items.get(*ordinal));
        pins.fold(self.items.sums().blocks, |sum, placed| sum + placed.counts.total())
    }

    /// Returns what the newest request costs in the view, where it is before `ordinal` and not pinned as well.
    pub(super) fn request_tokens(&self, ordinal: u64) -> Tokens {
        let shown = self.request.filter(|at| *at < ordinal).and_then(|at| self.items.get(at));
        match shown.map(|placed| (&placed.shown, placed.counts)) {
            Some((Shown::Message { id, message, .. }, counts)) if !self.is_pin(id.ordinal, message) => {
                counts.total()
            }
            _ => Tokens::ZERO,
        }
    }

    /// Returns what a pass of the soft tier that frees `gain` must free to be paid back before the hard tier rewrites the
    /// view in any case. Where the cache is warm, it costs that what stands behind the first change is written anew.
    /// A conversation that ends before pays for nothing: how long it goes on nobody knows.
    fn soft_price(&self, tokens: Tokens, gain: Tokens) -> Tokens {
        if gain == Tokens::ZERO {
            return Tokens::ZERO;
        }
        let kept = self.items.sums_of(self.items.before_digestible()).counts.total();
        let lost = (tokens - self.scale().billed(kept)) - gain;
        let left = self.limits().trigger - (tokens - gain);
        let requests = (left.0 / self.growth().0.max(1)).max(1);
        let input = self.prices.input.unwrap_or(1.0).max(f64::MIN_POSITIVE);
        let read = self.prices.cache_read.unwrap_or(match self.prices.input {
            Some(input) => input,
            None => CACHE_READ,
        });
        let write = self.prices.cache_write.unwrap_or(match self.prices.input {
            Some(input) => input,
            None => CACHE_WRITE,
        });
        let (read, write) = (read / input, write / input);
        if read <= 0.0 {
            return lost.scaled(1e9);
        }
        lost.scaled(((write - read).max(0.0) / read) / requests as f64)
    }

    /// Returns what a request will add, by what was said of late: a call and its result, or a question and its answer.
    pub(super) fn growth(&self) -> Tokens {
        let spoken = self.costs.newest_first().take(RECENT_COSTS);
        let (count, sum) = spoken.fold((0u64, Tokens::ZERO), |(count, sum), cost| (count + 1, sum + cost));
        Tokens(sum.0.saturating_mul(2) / count.max(1))
    }

    /// Returns the most that a request may add, by what was said of late: its two largest neighbours.
    pub(super) fn largest_growth(&self) -> Tokens {
        let spoken: Vec<Tokens> = self.costs.newest_first().take(RECENT_COSTS).collect();
        spoken.windows(2).map(|pair| pair[0] + pair[1]).max().unwrap_or_default().max(self.growth())
    }

    pub(super) fn next_depth(&self) -> u32 {
        match self.config.chaining {
            Chaining::Fold | Chaining::Running => {
                self.summary().map_or(0, |record| record.depth.saturating_add(1))
            }
            Chaining::Append => 0,
        }
    }
}
