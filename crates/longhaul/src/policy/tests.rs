//! The policy by example, then by property over random sessions, faults and clocks.

use expect_test::{Expect, expect};
use longhaul_transcript::{Span, Tokens};
use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{Preset, config::Threshold};

/// A context of 1,000 tokens' budget, filled to `tokens`, with 20 messages of which 14 can be compacted.
fn filled(tokens: u64) -> Measurement {
    Measurement {
        tokens: Tokens(tokens),
        budget: Tokens(1_000),
        window: Tokens(1_000),
        floor: Tokens(150),
        soft_gain: Tokens(tokens / 2),
        soft_price: Tokens::ZERO,
        range: Span { start: 1, end: 15 },
        range_tokens: Tokens(tokens / 2),
        n_messages: 20,
        n_said: 20,
        n_total: 20,
        next_depth: 0,
        at_turn_boundary: true,
        cache_is_cold: false,
        now_ms: Some(0),
    }
}

/// The defaults with a trigger that leaves room for another threshold between it and the hard limit.
fn usual() -> Config {
    Config { trigger_ratio: Threshold::Ratio(0.8), ..Config::default() }
}

fn check(state: &PolicyState, config: &Config, m: Measurement, expected: Expect) {
    expected.assert_eq(&decide(state, config, &m).to_string());
}

#[test]
fn below_the_thresholds_it_says_how_far_it_is() {
    check(
        &PolicyState::new(),
        &usual(),
        filled(500),
        expect!["hold: 500 tokens, 100 below the next threshold at 600"],
    );
}

#[test]
fn each_tier_names_itself() {
    let (state, config) = (PolicyState::new(), usual());
    check(
        &state,
        &config,
        filled(600),
        expect!["digest old tool results: 600 tokens reach the soft threshold at 600"],
    );
    check(&state, &config, filled(800), expect!["summarize: 800 tokens reach the trigger at 800"]);
    check(
        &state,
        &config,
        filled(1_000),
        expect!["summarize at once: 1,000 tokens reach the hard limit of 1,000"],
    );
    let trim = Config { soft_action: SoftAction::Trim, ..config.clone() };
    check(
        &state,
        &trim,
        filled(700),
        expect!["trim by priority: 700 tokens reach the soft threshold at 600"],
    );
    let rules = Config { soft_action: SoftAction::SummarizeRules, ..config };
    check(
        &state,
        &rules,
        filled(700),
        expect!["summarize by rule: 700 tokens reach the soft threshold at 600"],
    );
}

#[test]
fn switched_off_holds_even_in_an_emergency() {
    let off = Config { enabled: false, ..usual() };
    check(&PolicyState::new(), &off, filled(5_000), expect!["hold: switched off (enabled = false)"]);
}

// asserts 004-04
#[test]
fn short_conversations_are_left_alone_short_of_an_emergency() {
    let config = usual();
    let short = |tokens| Measurement { n_messages: 11, ..filled(tokens) };
    check(
        &PolicyState::new(),
        &config,
        short(900),
        expect!["hold: 11 messages; fewer than 12 are left alone"],
    );
    assert!(decide(&PolicyState::new(), &config, &short(1_000)).is_act());
}

#[test]
fn the_message_count_triggers_above_its_limit() {
    let config = Preset::Session.config();
    let with = |n_said| Measurement { n_messages: n_said, n_said, ..filled(400) };
    assert!(!decide(&PolicyState::new(), &config, &with(50)).is_act());
    check(&PolicyState::new(), &config, with(51), expect!["summarize: 51 messages are more than 50"]);
}

// asserts 002-02
#[test]
fn summaries_in_the_view_do_not_call_for_more_summaries() {
    let config = Preset::Session.config();
    let m = Measurement { n_messages: 90, n_said: 50, ..filled(400) };
    assert!(!decide(&PolicyState::new(), &config, &m).is_act());
}

// asserts 002-03, 002-20
#[test]
fn too_little_to_say_anything_about_waits_until_there_is_more() {
    let config = Preset::Session.config();
    let m = Measurement { n_said: 51, range_tokens: Tokens(166), ..filled(400) };
    check(
        &PolicyState::new(),
        &config,
        m,
        expect![
            "hold: the messages before the recent ones cost 166 tokens; a summary is made of 167 or more"
        ],
    );
    assert!(decide(&PolicyState::new(), &config, &Measurement { range_tokens: Tokens(167), ..m }).is_act());
}

#[test]
fn a_view_that_stays_long_is_not_summarized_message_by_message() {
    let config = Preset::Session.config();
    let limits = config.limits(Tokens(1_000), Tokens(1_000));
    let mut state = PolicyState::new();
    let m = Measurement { n_said: 60, n_total: 60, ..filled(400) };
    state.acted(Reason::Messages { n_messages: 60, limit: 50 }, &m, Tokens(350), &limits);
    // Pins keep the view above fifty messages all the same.
    let later = |n_total| Measurement { n_total, range: Span { start: 15, end: n_total - 10 }, ..m };
    check(&state, &config, later(61), expect!["hold: compacted a moment ago; 39 more messages first"]);
    assert!(decide(&state, &config, &later(100)).is_act());
}

#[test]
fn a_refresh_comes_after_its_messages() {
    let config = Config { force_refresh_after_messages: Some(10), ..usual() };
    let mut state = PolicyState::new();
    state.acted(Reason::Manual, &filled(900), Tokens(400), &config.limits(Tokens(1_000), Tokens(1_000)));
    let later = |n_total| Measurement { n_total, range: Span { start: 15, end: 25 }, ..filled(450) };
    assert!(!decide(&state, &config, &later(29)).is_act());
    check(
        &state,
        &config,
        later(30),
        expect!["summarize: 10 messages since the last compaction, which is refreshed after 10"],
    );
}

// asserts 004-09, 004-28
#[test]
fn cooldown_counts_messages_and_an_emergency_ignores_it() {
    let config = usual();
    let mut state = PolicyState::new();
    state.acted(
        Reason::Ratio { tokens: Tokens(900), unread: Tokens::ZERO, trigger: Tokens(800) },
        &filled(900),
        Tokens(400),
        &config.limits(Tokens(1_000), Tokens(1_000)),
    );
    let after =
        |n_total, tokens| Measurement { n_total, range: Span { start: 15, end: 17 }, ..filled(tokens) };
    check(&state, &config, after(23, 900), expect!["hold: compacted a moment ago; 1 more message first"]);
    assert!(decide(&state, &config, &after(24, 900)).is_act());
    assert!(decide(&state, &config, &after(21, 1_000)).is_act());
}

// asserts 004-27
#[test]
fn hysteresis_waits_for_the_reset_threshold_or_a_whole_band() {
    let config = Config { cooldown_messages: 0, soft_action: SoftAction::Off, ..usual() };
    let limits = config.limits(Tokens(1_000), Tokens(1_000));
    let mut state = PolicyState::new();
    let ratio = Reason::Ratio { tokens: Tokens(850), unread: Tokens::ZERO, trigger: Tokens(800) };
    state.acted(ratio, &filled(850), Tokens(750), &limits);
    let later = |tokens| Measurement { range: Span { start: 15, end: 18 }, n_total: 23, ..filled(tokens) };
    check(&state, &config, later(820), expect!["hold: 820 tokens; armed again below 700, or at 850"]);
    assert!(decide(&state, &config, &later(850)).is_act());
    state.observe(Tokens(699), &limits);
    assert!(decide(&state, &config, &later(820)).is_act());
}

#[test]
fn the_depth_guard_halts_or_rebuilds() {
    let deep = Measurement { next_depth: 3, ..filled(900) };
    let halt = Config { on_max_depth: OnMaxDepth::Halt, soft_action: SoftAction::Off, ..usual() };
    check(
        &PolicyState::new(),
        &halt,
        deep,
        expect![[r#"hold: the chain has 3 summaries and may have 3 (on_max_depth = "halt")"#]],
    );
    check(
        &PolicyState::new(),
        &usual(),
        deep,
        expect!["summarize in a new chain: 900 tokens reach the trigger at 800"],
    );
    // At the limit even a halted chain gets its one attempt, in a new chain.
    let full = Measurement { tokens: Tokens(1_000), ..deep };
    check(
        &PolicyState::new(),
        &halt,
        full,
        expect!["summarize at once in a new chain: 1,000 tokens reach the hard limit of 1,000"],
    );
}

#[test]
fn a_large_fixed_part_is_refused_with_a_reason() {
    let pinned = Measurement { floor: Tokens(720), soft_gain: Tokens(0), ..filled(850) };
    check(
        &PolicyState::new(),
        &usual(),
        pinned,
        expect!["hold: 720 tokens cannot be compacted, which is not below the reset threshold of 700"],
    );
}

// asserts 000-11
#[test]
fn nothing_outside_the_tail_is_nothing_to_compact() {
    let tail = Measurement { range: Span::default(), ..filled(850) };
    check(
        &PolicyState::new(),
        &usual(),
        tail,
        expect!["hold: everything is pinned, recent or compacted already"],
    );
}

#[test]
fn an_undo_is_respected_until_new_messages_come() {
    let config = usual();
    let mut state = PolicyState::new();
    state.undone(20);
    check(&state, &config, filled(850), expect!["hold: a compaction was just undone; 4 more messages first"]);
    let later = Measurement { n_total: 24, ..filled(850) };
    assert!(decide(&state, &config, &later).is_act());
}

#[test]
fn a_failure_is_waited_out_in_messages_and_in_time() {
    let config = usual();
    let mut state = PolicyState::new();
    let ratio = Reason::Ratio { tokens: Tokens(850), unread: Tokens::ZERO, trigger: Tokens(800) };
    state.failed(ratio, &filled(850));
    let later = |n_total, now_ms| Measurement { n_total, now_ms, ..filled(850) };
    check(
        &state,
        &config,
        later(24, Some(59_000)),
        expect!["hold: failed 1 time in a row; waits for 0 messages and 1000 ms"],
    );
    check(
        &state,
        &config,
        later(22, Some(61_000)),
        expect!["hold: failed 1 time in a row; waits for 2 messages and 0 ms"],
    );
    assert!(decide(&state, &config, &later(24, Some(60_000))).is_act());
    // Without a clock, or with one that went backwards, messages alone are counted.
    assert!(decide(&state, &config, &later(24, None)).is_act());
    assert!(decide(&state, &config, &later(24, Some(-1))).is_act());
    // The wait doubles with each failure and stops doubling.
    for _ in 0..100 {
        state.failed(ratio, &filled(850));
    }
    assert!(decide(&state, &config, &later(24, Some(16 * 60_000))).is_act());
}

#[test]
fn a_restart_does_not_forget_a_cooldown() {
    let config = usual();
    let mut state = PolicyState::new();
    state.acted(Reason::Manual, &filled(900), Tokens(400), &config.limits(Tokens(1_000), Tokens(1_000)));
    let stored = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<PolicyState>(&stored).unwrap(), state);
}

#[test]
fn a_second_pass_is_made_once_where_the_first_did_not_get_below_the_trigger() {
    let config = usual();
    let limits = config.limits(Tokens(1_000), Tokens(1_000));
    let mut state = PolicyState::new();
    let full = filled(850);
    let Decision::Act { reason, .. } = decide(&state, &config, &full) else { panic!("nothing is done") };
    let left = Measurement { tokens: Tokens(820), range: Span { start: 15, end: 15 }, next_depth: 1, ..full };
    state.acted(reason, &full, left.tokens, &limits);
    check(
        &state,
        &config,
        left,
        expect!["summarize: 820 tokens are still at the trigger of 800 or above after a compaction"],
    );
    // As deep as a chain may be, the originals are read again, even where the chain would otherwise end.
    let halt = Config { on_max_depth: OnMaxDepth::Halt, ..config.clone() };
    let deep = Measurement { next_depth: 3, ..left };
    check(
        &state,
        &halt,
        deep,
        expect![
            "summarize in a new chain: 820 tokens are still at the trigger of 800 or above after a compaction"
        ],
    );
    // Nothing comes of it where what must stay is too large.
    let heavy = Measurement { floor: Tokens(750), ..left };
    check(
        &state,
        &config,
        heavy,
        expect!["hold: 750 tokens cannot be compacted, which is not below the reset threshold of 700"],
    );
    let Decision::Act { reason, .. } = decide(&state, &config, &left) else { panic!("no second pass") };
    let mut failed = state.clone();
    state.acted(reason, &left, Tokens(810), &limits);
    check(
        &state,
        &config,
        Measurement { tokens: Tokens(810), ..left },
        expect!["hold: compacted a moment ago; 4 more messages first"],
    );
    failed.failed(reason, &left);
    assert!(!decide(&failed, &config, &left).is_act());
}

#[test]
fn economy_waits_for_the_end_of_the_turn_and_safety_does_not() {
    let config = Config { trigger_messages: Some(15), ..usual() };
    let within = |tokens| Measurement { at_turn_boundary: false, ..filled(tokens) };
    for tokens in [300, 650] {
        check(
            &PolicyState::new(),
            &config,
            within(tokens),
            expect!["hold: not urgent; waits for the end of the turn"],
        );
    }
    assert!(decide(&PolicyState::new(), &config, &within(800)).is_act());
}

#[test]
fn a_smaller_window_is_dealt_with_before_the_next_request() {
    let config = usual();
    let mut state = PolicyState::new();
    let large = Measurement { budget: Tokens(2_000), window: Tokens(2_000), ..filled(900) };
    state.acted(Reason::Manual, &large, Tokens(900), &config.limits(Tokens(2_000), Tokens(2_000)));
    assert!(!decide(&state, &config, &large).is_act());
    state.window_changed();
    let m = Measurement { range: Span { start: 15, end: 16 }, ..filled(900) };
    check(
        &state,
        &config,
        m,
        expect!["summarize: 900 tokens reach the trigger of the new model's window at 800"],
    );
    // A larger window asks for nothing.
    assert!(!decide(&state, &config, &large).is_act());
}

#[test]
fn a_new_window_calls_for_nothing_where_the_view_is_below_its_threshold() {
    let config = Preset::TwoTier.config();
    let m = Measurement { budget: Tokens(2_000), window: Tokens(2_000), ..filled(900) };
    let limits = config.limits(m.window, m.budget);
    let mut state = PolicyState::new();
    let soft = Reason::Soft { tokens: m.tokens, soft: limits.soft };
    state.acted(soft, &m, Tokens(500), &limits);
    state.window_changed();
    // The 400 that rules condensed are still to be read by a model; that is no matter of the window's.
    let m = Measurement { range: Span { start: 15, end: 30 }, n_total: 60, ..m };
    let tokens = limits.trigger - Tokens(200);
    let Decision::Act { reason, .. } = decide(&state, &config, &Measurement { tokens, ..m }) else {
        panic!("nothing is done");
    };
    assert_eq!(reason, Reason::Ratio { tokens, unread: Tokens(400), trigger: limits.trigger });
    let at_once = decide(&state, &config, &Measurement { tokens: limits.trigger, ..m });
    assert!(matches!(at_once, Decision::Act { reason: Reason::ModelSwitch { .. }, .. }), "{at_once}");
}

#[test]
fn a_soft_pass_must_be_worth_a_rewrite() {
    let m = Measurement { soft_gain: Tokens(49), ..filled(650) };
    check(
        &PolicyState::new(),
        &usual(),
        m,
        expect!["hold: the soft tier would free 49 tokens; 50 make it worth it"],
    );
    // Once the cache is cold there is nothing to lose.
    let cold = Measurement { cache_is_cold: true, ..m };
    assert!(decide(&PolicyState::new(), &usual(), &cold).is_act());
}

#[test]
fn where_two_thresholds_are_reached_one_summary_serves_both() {
    let config = Config { cooldown_messages: 0, ..Preset::Session.config() };
    let m = Measurement { n_messages: 71, n_said: 71, ..filled(850) };
    let reason = |config: &Config| match decide(&PolicyState::new(), config, &m) {
        Decision::Act { reason, .. } => reason,
        Decision::Hold(hold) => panic!("{hold}"),
    };
    assert_eq!(reason(&config), Reason::Messages { n_messages: 71, limit: 50 });
    let by_tokens = Config { trigger_messages: None, ..config };
    assert!(matches!(reason(&by_tokens), Reason::Ratio { .. }));
}

#[test]
fn the_same_range_is_not_summarized_twice_for_the_same_reason() {
    let config = Config { cooldown_messages: 0, ..Preset::Session.config() };
    let m = Measurement { n_messages: 60, n_said: 60, ..filled(400) };
    let mut state = PolicyState::new();
    let reason = Reason::Messages { n_messages: 60, limit: 50 };
    state.acted(reason, &m, Tokens(200), &config.limits(Tokens(1_000), Tokens(1_000)));
    let later = Measurement { n_total: 60, ..m };
    check(&state, &config, later, expect!["hold: m1-m14 were compacted for this reason already"]);
}

#[test]
fn at_the_limit_one_attempt_is_made_for_each_state_of_the_context() {
    let config = usual();
    let mut state = PolicyState::new();
    let full = Measurement { floor: Tokens(1_100), ..filled(1_200) };
    let Decision::Act { reason, .. } = decide(&state, &config, &full) else { panic!("no attempt") };
    state.failed(reason, &full);
    check(
        &state,
        &config,
        full,
        expect!["hold: 200 tokens over the hard limit, and the attempt could not go below 1,100"],
    );
    // A new message, or a larger window, is a new state. A model that failed is not asked again for each.
    let next = Measurement { n_total: 21, ..full };
    let Decision::Act { action, .. } = decide(&state, &config, &next) else { panic!("no attempt") };
    assert_eq!(action, Action::Emergency { rebuild: false, by_rule: true });
}

/// What happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Push { tokens: u64, pinned: bool, at_turn_boundary: bool },
    Undo,
    Window(u64),
    Clock(i64),
    Restart,
}

/// What comes of the next action that is taken: nothing, or a view this far between the floor and where it was.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Fails,
    EndsAt(f64),
}

fn steps() -> impl Strategy<Value = Vec<(Step, Outcome)>> {
    let step = prop_oneof![
        20 => (prop_oneof![5 => 1u64..60, 1 => 60u64..600], any::<bool>())
            .prop_map(|(tokens, at_turn_boundary)| Step::Push { tokens, pinned: false, at_turn_boundary }),
        1 => (1u64..300).prop_map(|tokens| Step::Push { tokens, pinned: true, at_turn_boundary: true }),
        1 => Just(Step::Undo),
        1 => (100u64..8_000).prop_map(Step::Window),
        1 => (-100_000i64..1_000_000).prop_map(Step::Clock),
        1 => Just(Step::Restart),
    ];
    let outcome = prop_oneof![1 => Just(Outcome::Fails), 4 => (0.0f64..1.0).prop_map(Outcome::EndsAt)];
    vec((step, outcome), 1..120)
}

fn configs() -> impl Strategy<Value = Config> {
    (0u64..8, 0u64..14, any::<bool>(), prop::option::of(15u64..40), prop::option::of(8u64..30), 0usize..=5)
        .prop_map(
            |(
                cooldown_messages,
                min_messages,
                halt,
                trigger_messages,
                force_refresh_after_messages,
                preset,
            )| Config {
                cooldown_messages,
                min_messages,
                on_max_depth: if halt { OnMaxDepth::Halt } else { OnMaxDepth::Rebuild },
                trigger_messages,
                force_refresh_after_messages,
                ..Preset::ALL.get(preset).map_or_else(Config::default, |preset| preset.config())
            },
        )
}

/// A session reduced to numbers: messages at their cost, the oldest of them replaced by a summary.
struct Session {
    config: Config,
    state: PolicyState,
    budget: u64,
    now_ms: i64,
    pinned: u64,
    summary: u64,
    loose: Vec<u64>,
    n_total: u64,
    depth: u32,
    at_turn_boundary: bool,
}

impl Session {
    fn measure(&self) -> Measurement {
        let tail: u64 = self.loose.iter().rev().take(2).sum();
        let n_covered = self.loose.len().saturating_sub(self.config.preserve_recent as usize) as u64;
        let end = self.n_total - (self.loose.len() as u64 - n_covered);
        let tokens = self.pinned + self.summary + self.loose.iter().sum::<u64>();
        Measurement {
            tokens: Tokens(tokens),
            budget: Tokens(self.budget),
            window: Tokens(self.budget),
            floor: Tokens((self.pinned + tail + 20).min(tokens)),
            soft_gain: Tokens(tokens / 3),
            soft_price: Tokens::ZERO,
            range: Span { start: end - n_covered, end },
            range_tokens: Tokens(self.loose[..n_covered as usize].iter().sum()),
            n_messages: self.loose.len() as u64 + u64::from(self.summary > 0),
            n_said: self.loose.len() as u64,
            n_total: self.n_total,
            next_depth: self.depth,
            at_turn_boundary: self.at_turn_boundary,
            cache_is_cold: false,
            now_ms: Some(self.now_ms),
        }
    }

    /// Carries out an action and returns whether it worked. As the facade does, a result that is not smaller, or that
    /// leaves an emergency one, counts as a failure and changes nothing.
    fn carry_out(&mut self, action: Action, reason: Reason, outcome: Outcome) -> bool {
        let m = self.measure();
        let ends_at = match outcome {
            Outcome::Fails => None,
            Outcome::EndsAt(share) => Some(m.floor + (m.tokens - m.floor).scaled(share)),
        };
        let works = |after: &Tokens| {
            *after < m.tokens && (*after < m.budget || !matches!(action, Action::Emergency { .. }))
        };
        let Some(after) = ends_at.filter(works) else {
            self.state.failed(reason, &m);
            return false;
        };
        let keep = 2.min(self.loose.len());
        self.loose.drain(..self.loose.len() - keep);
        self.summary = after.0.saturating_sub(self.pinned + self.loose.iter().sum::<u64>());
        if action.makes_summary() {
            self.depth = if action.is_rebuild() { 1 } else { self.depth + 1 };
        }
        let after = self.measure().tokens;
        self.state.acted(reason, &m, after, &self.config.limits(m.window, m.budget));
        true
    }
}

/// 2,000 cases, or as many as `PROPTEST_CASES` says for a long run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_sessions_never_loop_never_stall_and_never_hold_at_the_limit(config in configs(), steps in steps()) {
        let mut session = Session {
            config, state: PolicyState::new(), budget: 2_000, now_ms: 0, pinned: 50, summary: 0, loose: Vec::new(),
            n_total: 0, depth: 0, at_turn_boundary: true,
        };
        // Growth and low point of the context since the hard tier last fired by ratio.
        let mut since_ratio: Option<(u64, u64)> = None;
        // Messages at the last action that worked and at the last that failed.
        let (mut worked_at, mut failed_at): (Option<u64>, Option<u64>) = (None, None);
        // The last action was a first pass that worked.
        let mut may_pass_again = false;
        for (step, outcome) in steps {
            match step {
                Step::Push { tokens, pinned, at_turn_boundary } => {
                    session.n_total += 1;
                    session.at_turn_boundary = at_turn_boundary;
                    if pinned { session.pinned += tokens } else { session.loose.push(tokens) }
                }
                Step::Undo => {
                    session.state.undone(session.n_total);
                    since_ratio = None;
                }
                Step::Window(budget) => {
                    session.budget = budget;
                    session.state.window_changed();
                    failed_at = None;
                    since_ratio = None;
                }
                Step::Clock(by) => session.now_ms += by,
                Step::Restart => {
                    let stored = serde_json::to_string(&session.state).unwrap();
                    session.state = serde_json::from_str(&stored).unwrap();
                }
            }
            let limits = session.config.limits(Tokens(session.budget), Tokens(session.budget));
            session.state.observe(session.measure().tokens, &limits);
            let mut acts = 0;
            loop {
                let m = session.measure();
                if let Some((_, low)) = &mut since_ratio {
                    *low = (*low).min(m.tokens.0);
                }
                let decision = decide(&session.state, &session.config, &m);
                prop_assert_eq!(decision, decide(&session.state, &session.config, &m));
                let (action, reason) = match decision {
                    Decision::Act { action, reason } => (action, reason),
                    Decision::Hold(hold) => {
                        // At the limit only an attempt on this very context may hold.
                        let is_exhausted = matches!(hold, Hold::Exhausted { .. });
                        prop_assert_eq!(m.tokens >= m.budget, is_exhausted, "{}", hold);
                        let is_push = matches!(step, Step::Push { .. });
                        prop_assert!(!is_exhausted || acts > 0 || !is_push);
                        break;
                    }
                };
                acts += 1;
                prop_assert!(acts <= 4, "loops: {}", decision);
                if let (Reason::Ratio { .. }, Some((after, low))) = (reason, since_ratio) {
                    let band = (limits.trigger - limits.reset).0;
                    prop_assert!(low < limits.reset.0 || m.tokens.0 >= after + band, "fired twice for one crossing");
                }
                if let Reason::SecondPass { tokens, trigger } = reason {
                    prop_assert!(tokens >= trigger && may_pass_again, "a second pass without a first: {}", decision);
                }
                let is_urgent =
                    matches!(reason, Reason::Emergency { .. } | Reason::ModelSwitch { .. } | Reason::SecondPass { .. });
                if !is_urgent {
                    let cooldown = session.config.cooldown_messages;
                    let waited = |at: Option<u64>, wait| at.is_none_or(|at| session.n_total - at >= wait);
                    prop_assert!(waited(worked_at, cooldown), "within the cooldown: {}", decision);
                    prop_assert!(waited(failed_at, cooldown.max(1)), "failed a moment ago: {}", decision);
                }
                let works = session.carry_out(action, reason, outcome);
                may_pass_again = works && is_urgent | matches!(reason, Reason::Ratio { .. })
                    && !matches!(reason, Reason::SecondPass { .. });
                *(if works { &mut worked_at } else { &mut failed_at }) = Some(session.n_total);
                if works {
                    failed_at = None;
                    if !matches!(reason, Reason::Soft { .. }) {
                        let after = session.measure().tokens.0;
                        let is_ratio = matches!(reason, Reason::Ratio { .. } | Reason::SecondPass { .. });
                        since_ratio = is_ratio.then_some((after, after));
                    }
                }
            }
        }

        // There is a way out of whatever state this is: enough new messages bring an action.
        session.at_turn_boundary = true;
        let mut pushed = 0;
        while !decide(&session.state, &session.config, &session.measure()).is_act() {
            session.n_total += 1;
            session.loose.push(50);
            pushed += 1;
            prop_assert!(pushed <= 8_000 / 50 + 1, "no way out: {}", decide(&session.state, &session.config, &session.measure()));
        }
    }

    #[test]
    fn a_measurement_of_any_numbers_gets_an_answer(
        config in configs(), numbers in vec(any::<u64>(), 11), boundary in any::<bool>(), now_ms in any::<i64>(), failed in 0u32..9,
    ) {
        let m = Measurement {
            tokens: Tokens(numbers[0]), budget: Tokens(numbers[1]), window: Tokens(numbers[2]), floor: Tokens(numbers[3]),
            soft_gain: Tokens(numbers[4]), range: Span { start: numbers[5], end: numbers[6] }, n_messages: numbers[7],
            range_tokens: Tokens(numbers[9]), n_said: numbers[10],
        soft_price: Tokens::ZERO,
            n_total: numbers[8], next_depth: numbers[0] as u32, at_turn_boundary: boundary, cache_is_cold: failed % 2 == 0, now_ms: Some(now_ms),
        };
        let mut state = PolicyState::new();
        for _ in 0..failed {
            state.failed(Reason::Manual, &Measurement { now_ms: Some(now_ms.wrapping_add(1 << 40)), ..m });
        }
        let decision = decide(&state, &config, &m);
        prop_assert!(m.tokens < m.budget || decision.is_act());
        let json = serde_json::to_string(&decision).unwrap();
        prop_assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), decision);
    }

    #[test]
    fn what_is_foretold_is_what_the_policy_does(config in configs(), steps in steps()) {
        let mut session = Session {
            config, state: PolicyState::new(), budget: 2_000, now_ms: 0, pinned: 50, summary: 0, loose: Vec::new(),
            n_total: 0, depth: 0, at_turn_boundary: true,
        };
        for (step, outcome) in steps {
            match step {
                Step::Push { tokens, .. } => {
                    session.n_total += 1;
                    session.loose.push(tokens);
                }
                Step::Undo => session.state.undone(session.n_total),
                Step::Window(budget) => {
                    session.budget = budget;
                    session.state.window_changed();
                }
                Step::Clock(by) => session.now_ms += by,
                Step::Restart => {}
            }
            let m = session.measure();
            session.state.observe(m.tokens, &session.config.limits(m.window, m.budget));
            check_forecast(&session.state, &session.config, &m)?;
            if let Decision::Act { action, reason } = decide(&session.state, &session.config, &m) {
                session.carry_out(action, reason, outcome);
            }
        }
    }
}

/// Checks that each tier is foretold where nothing but the content of the view can stand against it, and not before.
fn check_forecast(state: &PolicyState, config: &Config, m: &Measurement) -> Result<(), TestCaseError> {
    let limits = config.limits(m.window, m.budget);
    let told = forecast(state, config, m);
    // What holds the wish of a tier at `m`, or that nothing is wished for there.
    let held = |m: &Measurement, is_of: &dyn Fn(&Reason) -> bool| {
        let wish = wishes(state, config, m, &limits).into_iter().find(is_of);
        wish.map(|wish| hold(state, config, m, &limits, wish))
    };
    let is_foreseen = |hold: &Hold| {
        matches!(
            hold,
            Hold::BelowMinMessages { .. }
                | Hold::JustUndone { .. }
                | Hold::FailedRecently { .. }
                | Hold::Cooldown { .. }
                | Hold::Hysteresis { .. }
                | Hold::Depth { .. }
        )
    };
    let waits_for_time = state.failure_wait(m, config).is_some_and(|(_, ms_left)| ms_left > 0);
    for Upcoming { is_soft, when } in told.upcoming.iter().copied() {
        let is_of = move |reason: &Reason| match when {
            When::Tokens { .. } if is_soft => matches!(reason, Reason::Soft { .. }),
            When::Tokens { .. } => {
                !matches!(reason, Reason::Soft { .. } | Reason::Messages { .. } | Reason::Refresh { .. })
            }
            When::Messages { .. } => matches!(reason, Reason::Messages { .. }),
            When::Refresh { .. } => matches!(reason, Reason::Refresh { .. }),
        };
        match when {
            // At the hard limit nothing is asked. A soft pass waits for the cooldown also where a summary does not.
            When::Tokens { at, .. } if at.max(m.tokens) >= limits.ceiling => {}
            When::Tokens { .. } if is_soft && (state.is_window_new() || state.is_second_pass_due()) => {}
            When::Tokens { at, left } => {
                let at_cost = |tokens| held(&Measurement { tokens, ..*m }, &is_of);
                let then = at_cost(at.max(m.tokens));
                prop_assert_eq!(then.map(|hold| hold.filter(is_foreseen)), Some(told.waits), "{:?}", when);
                let before = at_cost(at - Tokens(1)).map(|hold| hold.is_some());
                prop_assert!(left == Tokens::ZERO || before != Some(false), "{:?}", when);
            }
            When::Messages { left, .. } | When::Refresh { left, .. } => {
                let after = |n: u64| {
                    let (n_messages, n_said, n_total) = (m.n_messages + n, m.n_said + n, m.n_total + n);
                    held(&Measurement { n_messages, n_said, n_total, ..*m }, &is_of)
                };
                let then = after(left).map(|hold| hold.is_some_and(|hold| is_foreseen(&hold)));
                prop_assert_eq!(then, Some(waits_for_time), "{:?}", when);
                let before = left.checked_sub(1).map(after);
                prop_assert_ne!(before, Some(Some(None)), "{:?}", when);
            }
        }
    }
    Ok(())
}
