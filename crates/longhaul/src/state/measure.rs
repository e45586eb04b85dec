//! The numbers of a context: what it costs, what it may cost, and what a decision is made on.

use longhaul_tokens::ContextWindow;
use longhaul_transcript::{Span, Tokens};

use super::{ContextState, FLOOR_EXTRA, Shown};
use crate::{
    compact::standing,
    config::{Chaining, Limits, SoftAction},
    cost::{Cache, Outlook, Sizes},
    policy::{self, Measurement},
};

impl ContextState {
    /// Returns the numbers that a decision is made on.
    pub fn measure(&self, now_ms: Option<i64>) -> Measurement {
        let tokens = self.tokens();
        let n_total = self.transcript.len() as u64;
        let open_from = self.exchange.open_from();
        let head = self.ledger.in_span(Span { start: 0, end: self.head_len() });
        let open = open_from.map_or(Tokens::ZERO, |start| self.ledger.in_span(Span { start, end: n_total }));
        let is_apart = |ordinal: &u64| open_from.is_none_or(|start| *ordinal < start);
        let request = self.request.filter(|ordinal| is_apart(ordinal) && !self.pinned.contains(ordinal));
        let whole = self.pinned.iter().copied().filter(is_apart).chain(request);
        let whole: Tokens = whole.map(|ordinal| self.ledger.get(ordinal).unwrap_or_default()).sum();
        let end = n_total.saturating_sub(self.config.preserve_recent).min(open_from.unwrap_or(n_total));
        let range = Span { start: self.uncovered.max(self.head_len()).min(end), end };
        let soft_gain = match self.config.soft_action {
            SoftAction::Trim => self.ledger.in_span(range),
            _ => self.digestible.in_span(range),
        };
        let scale = self.scale();
        Measurement {
            tokens,
            budget: self.budget(),
            window: self.window(),
            floor: (scale.billed(head + open + whole + FLOOR_EXTRA) + scale.base()).min(tokens),
            soft_gain: scale.billed(soft_gain),
            range,
            range_tokens: scale.billed(self.ledger.in_span(range)),
            n_messages: self.shown.len() as u64,
            n_said: self.shown.iter().filter(|shown| matches!(shown, Shown::Message { .. })).count() as u64,
            n_total,
            next_depth: self.next_depth(),
            at_turn_boundary: self.exchange.is_turn_boundary(),
            cache_is_cold: self.cache(now_ms) == Cache::Cold,
            now_ms,
        }
    }

    /// Returns when the next compaction comes, and what one would change.
    pub fn outlook(&self, now_ms: Option<i64>) -> Outlook {
        let (m, limits) = (self.measure(now_ms), self.limits());
        let next = if self.config.soft_action == SoftAction::Off { limits.trigger } else { limits.soft };
        let sizes = Sizes {
            before: m.tokens + self.fixed_overhead,
            after: m.floor.max(limits.target).min(m.tokens) + self.fixed_overhead,
            unchanged_prefix: self.fixed_overhead
                + self.ledger.in_span(Span { start: 0, end: self.head_len() }),
        };
        Outlook {
            limits,
            left: next - m.tokens,
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

    /// Returns the view's counts as they are, whatever was reported.
    pub(super) fn counted(&self) -> Tokens {
        self.ledger.counted() + self.summary_tokens + self.counter.framing().per_reply
    }

    /// Returns the provider's last report and the counts after it, or all counts.
    pub(super) fn tokens_as_counted(&self) -> Tokens {
        match (self.ledger.anchored_through(), self.shown.is_empty()) {
            (Some(_), _) => self.ledger.total(),
            (None, true) => Tokens::ZERO,
            (None, false) => self.ledger.total() + self.summary_tokens + self.counter.framing().per_reply,
        }
    }

    /// Returns the most the view may cost.
    pub fn budget(&self) -> Tokens {
        let reserved = self.config.reserved_output_tokens.unwrap_or(self.window.reserved_output);
        ContextWindow::new(self.window(), reserved).budget(self.fixed_overhead)
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

    /// Returns the window to work with.
    pub(super) fn window(&self) -> Tokens {
        self.config.max_context_tokens.map_or(self.window.window, |most| most.min(self.window.window))
    }

    /// Returns the number of messages at the start that are standing instructions.
    pub(super) fn head_len(&self) -> u64 {
        let entries = self.transcript.entries().iter();
        entries.take_while(|entry| standing::is_instruction(&entry.message)).count() as u64
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
