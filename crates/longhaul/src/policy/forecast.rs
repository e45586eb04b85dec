//! When the policy will act next, as far as it can be told now: what `/context` shows.

use std::fmt;

use longhaul_transcript::Tokens;
use serde::{Deserialize, Serialize};

use super::{
    Decision, Hold, Measurement, PolicyState, decide, depth_hold, hard_threshold, soft_threshold, waiting,
};
use crate::config::Config;

/// What is to come: every tier that may act, the one with the least left first.
///
/// It speaks of the same thresholds as [`decide`]. What it cannot foretell is whether a compaction will be worth it once
/// it is called for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forecast {
    /// Empty where longhaul is switched off.
    pub upcoming: Vec<Upcoming>,
    /// Something would be done now.
    pub acts_now: bool,
    /// What stands against every tier for now, below the hard limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Hold>,
}

/// One tier, and what is left until it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upcoming {
    /// What would be done: the soft action, or a summary.
    pub is_soft: bool,
    /// What calls for it, and how far that is.
    #[serde(flatten)]
    pub when: When,
}

/// What calls for a compaction, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "when", rename_all = "snake_case")]
#[non_exhaustive]
pub enum When {
    /// The view costs this much.
    Tokens {
        /// The threshold.
        at: Tokens,
        /// What is left until there.
        left: Tokens,
    },
    /// The view holds so many messages that somebody said.
    Messages {
        /// The number of messages that calls for it.
        at: u64,
        /// How many are left until there.
        left: u64,
    },
    /// So many messages were said since the last compaction, or since the start.
    Refresh {
        /// The number of messages that calls for it.
        after: u64,
        /// How many are left until there.
        left: u64,
    },
}

/// Returns when the policy will act next if the conversation goes on and nothing else changes.
pub fn forecast(state: &PolicyState, config: &Config, m: &Measurement) -> Forecast {
    if !config.enabled {
        return Forecast::default();
    }
    let limits = config.limits(m.window, m.budget);
    let tokens = |is_soft, at: Tokens| Upcoming { is_soft, when: When::Tokens { at, left: at - m.tokens } };
    let since_last = state.since_last(m.n_total);
    let least = state.messages_to_wait(config, m);
    let until =
        |at: u64, now: u64, wait: u64| at.saturating_sub(now).max(wait.saturating_sub(since_last)).max(least);
    let is_halted = depth_hold(config, m).is_some();
    let hard = hard_threshold(state, config, m, &limits);
    let soft = soft_threshold(config, m, &limits).map(|soft| tokens(true, soft));
    let mut upcoming: Vec<Upcoming> = soft.into_iter().chain([tokens(false, hard)]).collect();
    if let Some(limit) = config.trigger_messages.filter(|_| !is_halted) {
        let left = until(limit + 1, m.n_said, state.message_wait(config));
        // A view may hold more already, and wait until enough is new: after an undo it does.
        let at = (limit + 1).max(m.n_said + left);
        upcoming.push(Upcoming { is_soft: false, when: When::Messages { at, left } });
    }
    if let Some(after) = config.force_refresh_after_messages.filter(|_| !is_halted) {
        let left = until(after, state.since_compaction(config, m.n_total), config.cooldown_messages);
        upcoming.push(Upcoming { is_soft: false, when: When::Refresh { after, left } });
    }
    upcoming.sort_by(|a, b| a.share_left().total_cmp(&b.share_left()));
    let acts_now = matches!(decide(state, config, m), Decision::Act { .. });
    // A summary that a new window calls for waits for no cooldown, and neither does a second pass.
    let is_for_window = state.is_window_new() && hard.max(m.tokens) >= limits.trigger;
    let is_urgent = is_for_window || state.is_second_pass_due();
    let waits = waiting(state, config, m, if is_urgent { 0 } else { config.cooldown_messages });
    Forecast { upcoming, acts_now, waits: waits.filter(|_| m.tokens < limits.ceiling) }
}

impl Upcoming {
    /// Returns whether the view is as large or as long as that.
    pub fn is_reached(&self) -> bool {
        match self.when {
            When::Tokens { left, .. } => left == Tokens::ZERO,
            When::Messages { left, .. } | When::Refresh { left, .. } => left == 0,
        }
    }

    /// Returns how far it is, as a share of the way, to tell which comes first: tokens and messages have no common unit.
    fn share_left(&self) -> f64 {
        match self.when {
            When::Tokens { at, left } => left.ratio_of(at),
            When::Messages { at, left } | When::Refresh { after: at, left } => left as f64 / at.max(1) as f64,
        }
    }
}

impl Forecast {
    /// Returns what is due now, in words. Below all thresholds of a summary it is the soft tier.
    pub fn due(&self) -> Option<&'static str> {
        let is_summary = self.upcoming.iter().any(|coming| !coming.is_soft && coming.is_reached());
        match (self.acts_now, is_summary) {
            (false, _) => None,
            (true, false) => Some("the soft tier is due now"),
            (true, true) => Some("a compaction is due now"),
        }
    }

    /// Returns what is to come as it is told of whole requests, each with `others` beside the messages.
    pub fn beside(mut self, others: Tokens) -> Forecast {
        for coming in &mut self.upcoming {
            match &mut coming.when {
                When::Tokens { at, left: _ } => *at += others,
                When::Messages { .. } | When::Refresh { .. } => {}
            }
        }
        self
    }

    /// Returns what keeps a tier from acting that has been reached.
    pub fn held(&self) -> Option<Hold> {
        self.waits.filter(|_| self.upcoming.iter().any(Upcoming::is_reached))
    }
}

impl fmt::Display for Forecast {
    /// Says in a line what is to come.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(due) = self.due() {
            return f.write_str(due);
        }
        if self.upcoming.is_empty() {
            return f.write_str("switched off: nothing is compacted");
        }
        for (nth, upcoming) in self.upcoming.iter().enumerate() {
            f.write_str(if nth == 0 { "" } else { "; " })?;
            upcoming.fmt(f)?;
        }
        match self.held() {
            Some(hold) => write!(f, "; for now: {hold}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Upcoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_soft { "the soft tier acts" } else { "compacts" };
        match self.when {
            When::Tokens { at, left: Tokens::ZERO } => {
                write!(f, "{what} from {at:#} tokens on, where it is worth it")
            }
            When::Tokens { at, left } => write!(f, "{what} at {at:#} tokens: {left:#} to go"),
            When::Messages { at, left } => write!(f, "{what} with message {at} in the view: {left} to go"),
            When::Refresh { after, left } => {
                write!(f, "{what} {after} messages after the last compaction: {left} to go")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preset, config::SoftAction, policy::Reason};
    use expect_test::expect;
    use longhaul_transcript::Span;

    fn measured(tokens: u64, n_said: u64) -> Measurement {
        Measurement {
            tokens: Tokens(tokens),
            budget: Tokens(180_000),
            window: Tokens(200_000),
            floor: Tokens(500),
            range: Span { start: 0, end: n_said.saturating_sub(10) },
            range_tokens: Tokens(tokens / 2),
            n_messages: n_said,
            n_said,
            n_total: n_said,
            at_turn_boundary: true,
            ..Measurement::default()
        }
    }

    #[test]
    fn below_the_threshold_of_a_summary_only_the_soft_tier_is_due() {
        let told = |left: u64| {
            let tier = |is_soft, at, left| {
                let when = When::Tokens { at: Tokens(at), left: Tokens(left) };
                Upcoming { is_soft, when }
            };
            let upcoming = vec![tier(true, 110_400, 0), tier(false, 147_200, left)];
            Forecast { upcoming, acts_now: true, ..Forecast::default() }.to_string()
        };
        assert_eq!(told(12_120), "the soft tier is due now");
        assert_eq!(told(0), "a compaction is due now");
    }

    // asserts 000-23, 000-27
    #[test]
    fn the_number_of_messages_is_foretold_where_it_is_what_counts() {
        let session = Preset::Session.config();
        let told = forecast(&PolicyState::new(), &session, &measured(3_000, 42)).to_string();
        expect!["compacts with message 51 in the view: 9 to go; compacts at 144,000 tokens: 141,000 to go"]
            .assert_eq(&told);
        // As foretold: the ninth message more is the one that calls for it.
        assert!(!decide(&PolicyState::new(), &session, &measured(3_000, 50)).is_act());
        assert!(decide(&PolicyState::new(), &session, &measured(3_000, 51)).is_act());
    }

    #[test]
    fn what_is_too_short_or_just_undone_is_foretold_to_wait() {
        let usual = Config { soft_action: SoftAction::Off, ..Config::default() };
        let told = |state: &PolicyState, m| forecast(state, &usual, &m).to_string();
        let short = Measurement { n_messages: 5, ..measured(170_000, 5) };
        expect!["compacts from 165,600 tokens on, where it is worth it; for now: 5 messages; fewer than 12 are left alone"]
            .assert_eq(&told(&PolicyState::new(), short));
        let mut state = PolicyState::new();
        state.undone(40);
        expect!["compacts from 165,600 tokens on, where it is worth it; for now: a compaction was just undone; 4 more messages first"]
            .assert_eq(&told(&state, measured(170_000, 40)));
        // As long as nothing is due, nothing waits.
        expect!["compacts at 165,600 tokens: 164,600 to go"]
            .assert_eq(&told(&PolicyState::new(), Measurement { tokens: Tokens(1_000), ..short }));
        // At the hard limit nothing is waited for.
        let full = Measurement { tokens: Tokens(180_000), ..short };
        assert_eq!(told(&PolicyState::new(), full), "a compaction is due now");
    }

    // asserts 000-23
    #[test]
    fn a_view_with_more_messages_already_is_foretold_where_it_will_act() {
        let session = Preset::Session.config();
        let limits = session.limits(Tokens(200_000), Tokens(180_000));
        let mut state = PolicyState::new();
        state.acted(
            Reason::Messages { n_messages: 60, limit: 50 },
            &measured(9_000, 60),
            Tokens(3_000),
            &limits,
        );
        // The summary was taken back.
        let told = forecast(&state, &session, &measured(9_000, 62));
        let When::Messages { at, left } = told.upcoming[0].when else { panic!("{told}") };
        assert_eq!(at, 62 + left);
        assert!(left > 0 && !decide(&state, &session, &measured(9_000, at - 1)).is_act());
        assert!(decide(&state, &session, &measured(9_000, at)).is_act());
    }

    #[test]
    fn a_refresh_is_foretold_by_what_was_said_since_the_last_compaction() {
        let config = Config { force_refresh_after_messages: Some(20), ..Preset::TwoTier.config() };
        let config = Config { soft_action: SoftAction::Digest, ..config };
        let limits = config.limits(Tokens(200_000), Tokens(180_000));
        let mut state = PolicyState::new();
        state.acted(Reason::Manual, &measured(60_000, 60), Tokens(9_000), &limits);
        // The view holds more messages than that, and a soft pass begins no new count.
        let soft = Reason::Soft { tokens: Tokens(80_000), soft: limits.soft };
        state.acted(soft, &measured(80_000, 70), Tokens(20_000), &limits);
        let told = forecast(&state, &config, &measured(20_000, 75));
        assert_eq!(told.upcoming[0].when, When::Refresh { after: 20, left: 5 });
        expect!["compacts 20 messages after the last compaction: 5 to go"]
            .assert_eq(&told.upcoming[0].to_string());
        assert!(!decide(&state, &config, &measured(20_000, 79)).is_act());
        assert!(decide(&state, &config, &measured(20_000, 80)).is_act());
    }

    #[test]
    fn both_tiers_are_foretold() {
        let told =
            forecast(&PolicyState::new(), &Preset::TwoTier.config(), &measured(70_000, 42)).to_string();
        expect![
            "the soft tier acts at 80,000 tokens: 10,000 to go; compacts at 120,000 tokens: 50,000 to go"
        ]
        .assert_eq(&told);
    }

    #[test]
    fn a_tier_that_waits_to_be_armed_is_foretold_where_it_will_act() {
        let config = Preset::Chain.config();
        let (m, limits) = (measured(161_000, 40), config.limits(Tokens(200_000), Tokens(180_000)));
        let mut state = PolicyState::new();
        state.acted(
            Reason::Ratio { tokens: m.tokens, unread: Tokens::ZERO, trigger: limits.trigger },
            &m,
            Tokens(150_000),
            &limits,
        );
        let told = forecast(&state, &config, &measured(155_000, 41));
        assert_eq!(told.upcoming[0].when, When::Tokens { at: Tokens(170_000), left: Tokens(15_000) });
    }

    // asserts 000-23
    #[test]
    fn a_chain_that_is_as_deep_as_it_may_be_is_foretold_to_act_at_the_limit() {
        let config = Preset::Chain.config();
        let deep = |tokens| Measurement { next_depth: 3, ..measured(tokens, 40) };
        let told = forecast(&PolicyState::new(), &config, &deep(150_000));
        assert_eq!(told.upcoming[0].when, When::Tokens { at: Tokens(180_000), left: Tokens(30_000) });
        // What is said of now is the same.
        expect!["hold: 100,000 tokens, 80,000 below the next threshold at 180,000"]
            .assert_eq(&decide(&PolicyState::new(), &config, &deep(100_000)).to_string());
        let rules = Config { on_max_depth: config.on_max_depth, ..Preset::TwoTier.config() };
        let deep_rules = Measurement { next_depth: rules.max_summary_chain_depth, ..measured(70_000, 40) };
        let told = forecast(&PolicyState::new(), &rules, &deep_rules);
        assert!(told.upcoming.iter().all(|upcoming| !upcoming.is_soft), "{told}");
        assert!(!decide(&PolicyState::new(), &config, &deep(179_999)).is_act());
        assert!(decide(&PolicyState::new(), &config, &deep(180_000)).is_act());
    }

    // asserts 003-04
    #[test]
    fn what_the_first_tier_condensed_brings_the_second_nearer() {
        let config = Preset::TwoTier.config();
        let limits = config.limits(Tokens(200_000), Tokens(180_000));
        let mut state = PolicyState::new();
        for said in [40, 60] {
            let m = measured(80_000, said);
            let Decision::Act { reason, .. } = decide(&state, &config, &m) else { panic!("nothing is done") };
            assert!(matches!(reason, Reason::Soft { .. }), "{reason}");
            state.acted(reason, &m, Tokens(60_000), &limits);
        }
        // Twice 20,000 tokens were summarized by rule: at 80,000 the conversation has the 120,000 of the second tier.
        let told = forecast(&state, &config, &measured(70_000, 80));
        assert!(told.upcoming.iter().any(|upcoming| {
            upcoming.when == When::Tokens { at: Tokens(80_000), left: Tokens(10_000) } && !upcoming.is_soft
        }));
        let m = measured(80_000, 80);
        let Decision::Act { reason, .. } = decide(&state, &config, &m) else { panic!("nothing is done") };
        let (tokens, unread, trigger) = (Tokens(80_000), Tokens(40_000), Tokens(120_000));
        assert_eq!(reason, Reason::Ratio { tokens, unread, trigger });
        expect![
            "80,000 tokens, with the 40,000 that were summarized by rule alone, reach the trigger at 120,000"
        ]
        .assert_eq(&reason.to_string());
        state.acted(reason, &m, Tokens(60_000), &limits);
        let next = decide(&state, &config, &measured(80_000, 100));
        assert!(matches!(next, Decision::Act { reason: Reason::Soft { .. }, .. }), "{next}");
    }

    #[test]
    fn nothing_is_foretold_where_it_is_switched_off() {
        let off = Config { enabled: false, ..Config::default() };
        let told = forecast(&PolicyState::new(), &off, &measured(190_000, 400)).to_string();
        assert_eq!(told, "switched off: nothing is compacted");
    }
}
