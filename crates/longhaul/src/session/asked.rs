//! Settings become what the engine is asked for: the one place where they do, for the library, the chat and the command.

use longhaul_summarize::rules;
use longhaul_transcript::{Span, Tokens};

use super::{Job, SessionState, Shown, scope::Scope};
use crate::{
    compact::{CompactSettings, FLOOR_EXTRA, KeepReasoning, SUMMARY_FRAME},
    config::{Chaining, Config, Limits, SoftAction, SummaryLimit, SummaryRole},
    policy::{Measurement, Reason},
};

/// A size that somebody asks for in the place of the one that the settings give.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// The most that the view may cost afterwards, tool definitions apart.
    pub budget: Tokens,
    /// How many messages at the end stay in any case, digested where they must be; fewer where the budget forces it.
    /// `None` leaves the tail to what the budget is best spent on.
    pub keep_recent: Option<usize>,
    /// Whether reasoning stays in the messages that are kept.
    pub reasoning: KeepReasoning,
    /// What the summary may have before messages other than the newest request get any room.
    pub summary_first: Tokens,
    /// What the reader of the summary is about to do.
    pub goal: Option<String>,
    /// When the record is made, in milliseconds since the Unix epoch.
    pub now_ms: i64,
}

/// What of a new view is settled before it is planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// What stands in front of what is planned.
    carried: Tokens,
    /// The first message that is planned.
    start: u64,
    /// What the summaries cost that the new one replaces.
    replaced: Tokens,
    /// What these stand for cost as it was said, where the new one is made from that and owes them nothing.
    pub(super) said: Tokens,
}

/// The smallest view that keeps a tail.
#[derive(Clone, Copy, Debug)]
struct LeastView {
    /// How many messages stay at the end.
    tail_len: usize,
    /// The most that the summary may cost.
    cap: Option<Tokens>,
    /// What the summary costs.
    summary: Tokens,
    /// What all of it costs.
    least: Tokens,
}

/// The share of the window that a summary may take where its limit is `auto`.
const AUTO_SUMMARY_SHARE: f64 = 0.10;

/// Of what the view may cost above its target, the person's rules and facts may take so much where the summary has no room for them.
const FOR_RULES: f64 = 0.5;

/// A summary that is not made for want of room may cost this share of what it replaces, as in preset `session`.
const LEAST_COMPRESSION: f64 = 0.3;

/// Of little that was said it may cost more, up to so many tokens: a failure and its cause need their words.
const OF_LITTLE: f64 = 0.6;
const LITTLE: Tokens = Tokens(500);

/// Where summaries side by side are replaced by one, it may cost this share of them.
const MERGED_SHARE: f64 = 0.4;

/// What the reply's primer, the role of the summary's message and rounding cost at most.
const TAIL_FRAME: Tokens = Tokens(16);

impl Within {
    /// Returns the wish for a view of `budget` tokens, with everything else at its default.
    pub fn new(budget: Tokens) -> Within {
        Within {
            budget,
            keep_recent: None,
            reasoning: KeepReasoning::Strip,
            summary_first: Tokens::ZERO,
            goal: None,
            now_ms: 0,
        }
    }
}

/// What becomes of an exchange whose results the model has yet to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// There is none.
    None,
    /// It stays whole where that fits.
    Whole(Span),
    /// It does not fit whole, and is cut as little as may be.
    Cut,
}

/// What an exchange that is read next may make of a view above what must stay: a fifth is left for what comes of it.
const UNREAD_SHARE: f64 = 0.8;

/// It stays whole in a view of a size that somebody names where it takes at most this share of it.
const UNREAD_WITHIN: f64 = 0.25;

impl SessionState {
    /// Returns what the engine is asked for: how deep to go, and the smallest of all caps on the summary.
    pub(super) fn settings(
        &self,
        m: &Measurement,
        reason: Reason,
        room: Room,
        goal: Option<&str>,
        now_ms: Option<i64>,
        unread: Unread,
    ) -> CompactSettings {
        // The engine counts; what the provider bills is brought down to counts first.
        let (limits, scale) = (self.limits_counted(), self.scale());
        let countable = |tokens: Tokens| scale.countable(tokens);
        let floor = countable(m.floor);
        let m = &Measurement { tokens: self.counted(), budget: countable(m.budget), floor, ..*m };
        // Where so much must stay that the target is out of reach, half of what is above the floor is left free; below
        // the trigger, where the first pass did not get there.
        let is_second_pass = matches!(reason, Reason::SecondPass { .. });
        let top = if is_second_pass { limits.trigger } else { m.budget };
        let least = m.floor + FLOOR_EXTRA;
        let whole = match unread {
            Unread::Whole(span) => Some(span).filter(|span| least + self.items.in_span(*span) <= top),
            Unread::None | Unread::Cut => None,
        };
        let exchange_first = unread != Unread::None && whole.is_none();
        let floor = least + whole.map_or(Tokens::ZERO, |span| self.items.in_span(span));
        let reachable = match floor <= limits.target {
            _ if exchange_first => limits.target.max(floor + (top - floor).scaled(UNREAD_SHARE)),
            true => limits.target,
            false => floor + (top - floor).scaled(0.5),
        };
        let LeastView { tail_len, cap, summary, least } = match is_second_pass {
            true => self.least_view(m, room, Config::MIN_TAIL as usize),
            false => self.largest_within(m, &limits, room, self.most_after(&limits).max(reachable)),
        };
        // A tail without a limit of its own may take the view above its target.
        let reachable = match self.config.preserve_recent_tokens {
            None if !is_second_pass => reachable.max(least.min(self.most_with(tail_len, &limits))),
            _ => reachable,
        };
        let (wanted, cap) = match reason.is_for_room() {
            true => (reachable, cap),
            // Everything but the tail is summarized, however little it costs.
            false => {
                // Summaries that stand beside the new one stay, too.
                let floor = floor + (room.carried - self.front_tokens());
                (reachable.max(floor).min(least.max(floor)), Some(summary))
            }
        };
        let mut settings = CompactSettings {
            keep_recent: Some(tail_len),
            only_recent: !reason.is_for_room(),
            exchange_first,
            max_summary_tokens: cap,
            // Who set no limit of their own wants no more than the view needs.
            for_rules: match (self.config.max_summary_tokens, reason.is_for_room()) {
                (SummaryLimit::Auto, true) => {
                    (self.most_after(&limits).min(m.budget) - wanted).scaled(FOR_RULES)
                }
                _ => Tokens::ZERO,
            },
            reasoning: KeepReasoning::Turn,
            now_ms: now_ms.unwrap_or_default(),
            ..self.for_engine(wanted.min(m.budget) - room.carried, goal)
        };
        // What was cut before the model has read it is read again, and cut again.
        settings.pins.extend(whole.into_iter().flat_map(|span| span.start..span.end));
        settings
    }

    /// Returns the messages of the exchange whose results the model has yet to read.
    pub(super) fn unread(&self) -> Option<Span> {
        let last = self.n_total().checked_sub(1).filter(|_| self.exchange.is_unread())?;
        Some(self.unit_of(last))
    }

    /// Returns what the engine is asked for where somebody says how large the view may be. A summary whose limit is `auto`
    /// then takes the share of that which serves recall best.
    pub(super) fn settings_within(&self, m: &Measurement, within: &Within, room: Room) -> CompactSettings {
        // The engine counts; what the provider bills is brought down to counts first.
        let scale = self.scale();
        let budget = scale.countable(within.budget);
        let m = &Measurement { floor: scale.countable(m.floor), ..*m };
        CompactSettings {
            keep_recent: within.keep_recent,
            exchange_whole: budget.scaled(UNREAD_WITHIN),
            summary_first: within.summary_first,
            max_summary_tokens: self.cap(m, budget, None, room, within.keep_recent.unwrap_or(usize::MAX)),
            reasoning: within.reasoning,
            now_ms: within.now_ms,
            ..self.for_engine(budget - room.carried, within.goal.as_deref())
        }
    }

    fn for_engine(&self, budget: Tokens, goal: Option<&str>) -> CompactSettings {
        let clean = |text: &str| match &self.redactor {
            Some(redactor) => redactor.redact_text(text).0.into_owned(),
            None => text.to_owned(),
        };
        CompactSettings {
            goal: goal.map(clean),
            header: Some(clean(&self.config.summary_header)),
            lookup: clean(&self.config.summary_lookup),
            preserve_error_details: self.config.preserve_error_details,
            pins: self.pins.clone(),
            // The word `system` may cost a token more than `user`, for which the engine plans.
            ..CompactSettings::new(match self.config.summary_role {
                SummaryRole::User => budget,
                SummaryRole::System => budget - Tokens(2),
            })
        }
    }

    /// Returns the smallest of all caps on the summary of a view of `budget` tokens; `auto` is what stands for a limit of
    /// its own where none is set. However little it may cost, it may say that it was left out.
    fn cap(
        &self,
        m: &Measurement,
        budget: Tokens,
        auto: Option<Tokens>,
        room: Room,
        tail_len: usize,
    ) -> Option<Tokens> {
        // A smaller tail than usual leaves more to summarize.
        let end = self.n_total().saturating_sub(tail_len as u64).min(self.open_from());
        let range = Span { end: m.range.end.max(end), ..m.range };
        let spoken = || self.items.in_span(range);
        let caps = [
            match self.config.max_summary_tokens {
                // One that takes the place of many says more than each of them, or most of what they say would go at once.
                SummaryLimit::Tokens(tokens) if self.config.chaining == Chaining::Append => {
                    Some(tokens.max(room.replaced.scaled(MERGED_SHARE)))
                }
                SummaryLimit::Tokens(tokens) => Some(tokens),
                SummaryLimit::Auto => auto,
            },
            // What was said in few words is summarized in fewer, not in none.
            self.config
                .target_compression
                .map(|ratio| spoken().scaled(ratio) + room.replaced.max(room.said.scaled(ratio)))
                .map(|tokens| tokens.max(rules::LEAST_LIMIT)),
            // It is set aside before the messages, the newest request among them.
            self.config
                .max_summary_share
                .map(|share| (budget - (m.floor - self.request_tokens(self.open_from()))).scaled(share)),
        ];
        let cap = caps.into_iter().flatten().min();
        cap.map(|cap| cap.max(self.counter.count_text(rules::OMITTED)))
    }

    /// Returns what the new view has in front of what is planned, and what the summaries say that the new one replaces.
    pub(super) fn room(&self, scope: &Scope) -> Room {
        // That is at most their share of what they stand for: the new one may say as much.
        let replaced = match scope.reads_new_only {
            true => Tokens::ZERO,
            false => self.items.shown().filter_map(Shown::record).map(|record| record.tokens).sum(),
        };
        Room { carried: scope.carried, start: scope.start, replaced, said: Tokens::ZERO }
    }

    /// Returns the view of the standing instructions, what else stays in front, a summary and a tail of `tail_len` messages.
    fn least_view(&self, m: &Measurement, room: Room, tail_len: usize) -> LeastView {
        let Room { carried, start, replaced, said: as_said } = room;
        let cap = self.cap(m, m.budget, Some(self.auto_summary()), room, tail_len);
        let n_total = self.n_total();
        // A tail that begins within an exchange has all of it, and what stays wherever it stands comes before the tail.
        let from = self.unit_of(n_total.saturating_sub(tail_len as u64).max(self.out().end)).start;
        // What the view has shortened stays as it was said, if at all.
        let said = |ordinal| self.costs.get(ordinal).unwrap_or_default();
        let shown = self.items.in_span(Span { start: from, end: n_total });
        let tail = match self.config.preserve_recent_tokens {
            Some(_) => shown,
            None => shown.max((from..n_total).map(said).sum()),
        };
        let between = self.items.pinned_before(from) - self.items.pinned_before(start.min(from));
        let request = match self.request.is_some_and(|at| at >= start) {
            true => self.request_tokens(from),
            false => Tokens::ZERO,
        };
        let kept = carried.max(self.front_tokens()) + between + request + tail;
        let covered = (m.tokens - kept).max(as_said);
        // What summaries say is compressed already.
        let new = covered - replaced;
        let of_new = new.scaled(LEAST_COMPRESSION).max(new.scaled(OF_LITTLE).min(LITTLE));
        let summary = of_new + replaced.min(covered);
        let summary = summary.min(cap.unwrap_or(summary));
        let least = m.floor.max(kept + summary + SUMMARY_FRAME + TAIL_FRAME);
        LeastView { tail_len, cap, summary, least }
    }

    /// Returns the most that a summary may cost where its limit is `auto`.
    fn auto_summary(&self) -> Tokens {
        self.window().scaled(AUTO_SUMMARY_SHARE)
    }

    /// Returns how many messages are to stay at the end as the settings say where the view goes down to its target:
    /// `preserve_recent`, fewer where they cost more than `preserve_recent_tokens`, or than the target.
    pub fn recent(&self) -> usize {
        self.newest_within(self.limits_counted().tail)
    }

    /// Returns the smallest view with as many messages at the end as are to stay: as many as set, fewer where they cost more than
    /// they may. Where they have no limit of their own, that is where the view with them costs more than `most`.
    fn largest_within(&self, m: &Measurement, limits: &Limits, room: Room, most: Tokens) -> LeastView {
        let with = |tail_len: usize| self.least_view(m, room, tail_len);
        if self.config.preserve_recent_tokens.is_some() {
            return with(self.newest_within(limits.tail));
        }
        // No more can stay than there are, whatever is set.
        let all = usize::try_from(self.n_total()).unwrap_or(usize::MAX);
        let (mut low, high) = (Config::MIN_TAIL as usize, all.min(self.config.preserve_recent as usize));
        let longest = with(high.max(low));
        if longest.least <= most || high <= low {
            return longest;
        }
        // The view grows with its tail, so the longest that fits is found by halving; the shortest stays in any case.
        let (mut largest, mut high) = (with(low), high - 1);
        while low < high {
            let middle = (low + high).div_ceil(2);
            let view = with(middle);
            match view.least <= most {
                true => (low, largest) = (middle, view),
                false => high = middle - 1,
            }
        }
        largest
    }

    /// Returns what the view has room for beside as many of the newest messages as are to stay, whatever they cost, and a new
    /// summary; `None` where these have a limit of their own.
    pub(super) fn beside_newest(&self) -> Option<Tokens> {
        if self.config.preserve_recent_tokens.is_some() {
            return None;
        }
        let limits = self.limits_counted();
        let newest: Tokens = self.costs.newest_first().take(self.config.preserve_recent as usize).sum();
        let summary = match self.config.max_summary_tokens {
            SummaryLimit::Tokens(tokens) => tokens,
            SummaryLimit::Auto => self.auto_summary(),
        };
        Some(self.most_after(&limits) - newest - summary - SUMMARY_FRAME - TAIL_FRAME)
    }

    /// Returns the thresholds in the engine's counts: what the provider bills is brought down to them.
    fn limits_counted(&self) -> Limits {
        let (limits, scale) = (self.limits(), self.scale());
        let countable = |tokens: Tokens| scale.countable(tokens);
        Limits {
            target: countable(limits.target),
            soft: countable(limits.soft),
            tail: countable(limits.tail),
            reset: countable(limits.reset),
            trigger: countable(limits.trigger),
            ..limits
        }
    }

    fn newest_within(&self, most: Tokens) -> usize {
        let mut spent = Tokens::ZERO;
        let newest = self.costs.newest_first().take(self.config.preserve_recent as usize);
        let fitting = newest.take_while(|cost| {
            spent += *cost;
            spent <= most
        });
        fitting.count().max(Config::MIN_TAIL as usize)
    }

    /// Returns what a view may cost at most after a compaction where more than its target must stay: two turns fit below the
    /// first threshold that calls for a summary, so that not each of them calls for the next, and the trigger is armed.
    fn most_after(&self, limits: &Limits) -> Tokens {
        limits.reset.min(self.first_summary(limits) - self.growth() - self.growth()).max(limits.target)
    }

    /// Returns from where on summaries are made: a first tier may make them by rule below the trigger.
    fn first_summary(&self, limits: &Limits) -> Tokens {
        match self.config.soft_action {
            SoftAction::SummarizeRules => limits.soft.min(limits.trigger),
            _ => limits.trigger,
        }
    }

    /// Returns the same beside a tail of `tail_len` messages: for the shortest, which is to stay whole, room for one turn will do.
    fn most_with(&self, tail_len: usize, limits: &Limits) -> Tokens {
        let most = self.most_after(limits);
        match tail_len > Config::MIN_TAIL as usize {
            true => most,
            false => limits.reset.min(self.first_summary(limits) - self.growth()).max(most),
        }
    }

    /// Returns whether anything would go into the summary of `job` that is in none yet and need not stay: without that, nothing
    /// is compacted because somebody asks for it.
    pub fn has_something_new(&self, job: &Job) -> bool {
        job.is_of_something_new() && !self.stays_whole(job.before())
    }

    /// Returns whether all that was said since the last summary is to stay as it was said, whatever it costs, and may.
    pub(crate) fn stays_whole(&self, m: &Measurement) -> bool {
        // What the last summary left out is still to be told.
        let all_told = self.told_until() == self.uncovered;
        let is_unlimited = self.config.preserve_recent_tokens.is_none();
        is_unlimited && all_told && m.range.is_empty() && m.tokens < m.budget
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use longhaul_tokens::{Accuracy, CharsPer4, ContextWindow, TokenCounter};
    use longhaul_transcript::{Message, SessionId};

    use super::*;
    use crate::policy::Action;

    /// Knows how many views were weighed: of each, the least that a summary says is counted.
    #[derive(Debug, Default)]
    struct Weighing(AtomicUsize);

    impl TokenCounter for Weighing {
        fn count_text(&self, text: &str) -> Tokens {
            self.0.fetch_add(usize::from(text == rules::OMITTED), Relaxed);
            CharsPer4.count_text(text)
        }

        fn accuracy(&self) -> Accuracy {
            CharsPer4.accuracy()
        }
    }

    #[test]
    fn the_longest_tail_that_fits_is_found_in_a_few_looks() {
        let weighing = Arc::new(Weighing::default());
        let config = Config { preserve_recent: 100_000, preserve_recent_tokens: None, ..Config::default() };
        let window = ContextWindow::new(Tokens(8_000), Tokens::ZERO);
        let name = SessionId::new("tail").unwrap();
        let mut state = SessionState::new(name, window, Arc::clone(&weighing) as _, config);
        for nth in 0..2_000 {
            state.push(Message::user(format!("Question {nth}: what is in part {nth}?")));
            state.push(Message::assistant(format!("Part {nth} has value {nth}.")));
        }
        weighing.0.store(0, Relaxed);
        let action = Action::Summarize { rebuild: false };
        let job = state.plan(action, Reason::Manual, None, None).unwrap();
        // Twelve halvings of 4,000, both ends, and once more where the view is planned.
        assert!((2..=24).contains(&weighing.0.load(Relaxed)), "{weighing:?}");
        let finished = job.finish_by_rule().unwrap();
        assert!(finished.record().kept.iter().map(Span::len).sum::<u64>() > 100, "the tail is long");
    }
}
