//! The state by example, then by property: its ledger, its view, and what a rewrite may and may not change.

use std::sync::Arc;

use expect_test::expect;
use longhaul_extract::{StatementKind, speaker::Speakers};
use longhaul_testkit::{conversation, transcript};
use longhaul_tokens::{CharsPer4, ContextWindow};
use longhaul_transcript::{SessionId, Transcript, UnitState, Units};
use proptest::prelude::*;

use super::*;
use crate::{
    config::SoftAction,
    cost::Cache,
    policy::{Action, Hold, Reason},
};

fn state(window: u64, config: Config) -> SessionState {
    let window = ContextWindow::new(Tokens(window), Tokens::ZERO);
    SessionState::new(SessionId::new("test").unwrap(), window, Arc::new(CharsPer4), config)
}

/// Where nothing is cached, a rewrite costs nothing.
const WITHOUT_CACHE: Prices = Prices { input: Some(3.0), output: None, cache_read: None, cache_write: None };

/// A turn of an agent at work: a request, a read of about `tokens` tokens, an answer.
fn turn(nth: usize, tokens: usize) -> Vec<Message> {
    let text = format!(
        "user: Look at file {nth}\nassistant: !read_file#c{nth} {{\"path\":\"src/file_{nth}.rs\"}}\ntool#c{nth}: {}\nassistant: File {nth} is fine.",
        format!("let value_{nth} = compute({nth});\n").repeat(tokens / 8),
    );
    transcript(&text).entries().iter().map(|entry| (*entry.message).clone()).collect()
}

#[test]
fn who_speaks_is_told_by_the_callers_marks() {
    let marks = r#"[{"agent": "ours", "form": "tag", "mark": "hint", "who": "harness", "what": "reminder"}]"#;
    let mut rules = RulesOptions::default();
    rules.speakers = Some(Arc::new(Speakers::builtin().with_marks(marks).unwrap()));
    let mut state = state(100_000, Config::default());
    state.set_rules(rules);
    state.push(Message::user("<hint>\nNever use tabs in this file.\n</hint>\nFix the parser."));
    for index in [state.index(), state.read_again()] {
        let persons = index.statements().all().iter().filter(|one| one.kind == StatementKind::Person);
        assert_eq!(persons.map(|one| &*one.text).collect::<Vec<_>>(), ["Fix the parser."]);
    }
}

fn full(state: &mut SessionState, turns: usize, tokens: usize) {
    for nth in 0..turns {
        turn(nth, tokens).into_iter().for_each(|message| {
            state.push(message);
        });
    }
}

fn shape(state: &SessionState) -> String {
    let letter = |shown: &Shown| match shown {
        Shown::Summary { record, .. } => format!("[{}]", record.covers),
        Shown::Message { id, digested: true, .. } => format!("{id}d"),
        Shown::Message { id, .. } => id.to_string(),
        Shown::Block { name, .. } => format!("<{name}>"),
        Shown::Instruction { .. } => "i".to_owned(),
    };
    state.view().shown().map(letter).collect::<Vec<_>>().join(" ")
}

fn compact(state: &mut SessionState, action: Action) -> Rewrite {
    let job = state.plan(action, Reason::Manual, None, None).unwrap();
    state.apply(job.finish_by_rule().unwrap()).unwrap()
}

#[test]
fn a_compaction_ends_at_the_target_and_the_view_grows_from_there() {
    let mut state = state(8_000, Config::default());
    state.set_prices(WITHOUT_CACHE);
    full(&mut state, 10, 700);
    assert!(state.decide(None).is_act());
    let rewrite = compact(&mut state, Action::Summarize { rebuild: false });
    assert!(rewrite.outcome.tokens_after <= state.limits().target, "{:?}", rewrite.outcome);
    assert_eq!(state.tokens(), rewrite.outcome.tokens_after);
    let before: Vec<_> = state.view().messages().cloned().collect();
    state.push(Message::user("Next"));
    let after: Vec<_> = state.view().messages().cloned().collect();
    assert_eq!(after[..before.len()], before);
    assert_eq!(state.originals().len(), 41);
}

// asserts 004-48
#[test]
fn the_next_compaction_folds_the_summary_and_goes_one_deeper() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 10, 700);
    let first = compact(&mut state, Action::Summarize { rebuild: false }).record.unwrap();
    full(&mut state, 8, 700);
    let second = compact(&mut state, Action::Summarize { rebuild: false }).record.unwrap();
    assert_eq!((first.depth, second.depth), (0, 1));
    assert_eq!(second.parent, Some(first.id.clone()));
    assert!(second.covers.start <= first.covers.start);
    assert!(second.covers.end > first.covers.end);
    assert_eq!(state.view().summaries().count(), 1);
    let third = compact_again(&mut state);
    assert_eq!((third.depth, &third.parent), (0, &Some(second.id.clone())), "rebuilt, and next in the chain");
}

fn compact_again(state: &mut SessionState) -> Arc<SummaryRecord> {
    full(state, 8, 700);
    compact(state, Action::Summarize { rebuild: true }).record.unwrap()
}

#[test]
fn appended_summaries_each_cover_their_own_messages() {
    let mut state = state(12_000, Config { chaining: crate::config::Chaining::Append, ..Config::default() });
    for round in 0..2 {
        for nth in 0..20 {
            let plan =
                format!("Step {round}.{nth} touches module_{round}_{nth}.rs and table_{round}_{nth}. ")
                    .repeat(24);
            state.push(Message::user(format!("Plan step {round}.{nth}")));
            state.push(Message::assistant(plan));
        }
        compact(&mut state, Action::Summarize { rebuild: false });
    }
    let spans: Vec<_> = state.view().summaries().map(|record| (record.depth, record.covers)).collect();
    assert_eq!(spans.len(), 2);
    assert_eq!((spans[0].0, spans[1].0), (0, 0));
    assert!(spans[0].1.end <= spans[1].1.start, "{spans:?}");
    assert!(state.tokens() <= state.limits().target);
}

#[test]
fn a_running_summary_grows_by_updates_and_stays_one() {
    let config = Config { chaining: crate::config::Chaining::Running, ..Config::default() };
    let mut state = state(12_000, config);
    for round in 0..2 {
        for nth in 0..20 {
            let plan =
                format!("Step {round}.{nth} touches module_{round}_{nth}.rs and table_{round}_{nth}. ")
                    .repeat(24);
            state.push(Message::user(format!("Plan step {round}.{nth}")));
            state.push(Message::assistant(plan));
        }
        compact(&mut state, Action::Summarize { rebuild: false });
    }
    assert_eq!(state.view().summaries().count(), 1);
    let record = state.summary().unwrap();
    assert_eq!((record.depth, state.status(None).summary_count), (1, 2));
    assert!(
        record.text.contains("[Update 2]") || record.text.starts_with("[Condensed history]"),
        "{}",
        record.text
    );
    assert_eq!(record.covers.start, 0);
    assert!(state.tokens() <= state.limits().target);
}

#[test]
fn digesting_keeps_every_message_and_the_tail_verbatim() {
    let mut state = state(8_000, Config::default());
    state.set_prices(WITHOUT_CACHE);
    full(&mut state, 8, 700);
    let Decision::Act { action: Action::SoftDigest, reason } = state.decide(None) else {
        panic!("{}", state.decide(None))
    };
    let rewrite = state.soften(Action::SoftDigest, reason, None).unwrap();
    assert!(rewrite.outcome.tokens_after <= state.limits().target);
    expect!["m0 m1 m2d m3 m4 m5 m6d m7 m8 m9 m10d m11 m12 m13 m14d m15 m16 m17 m18d m19 m20 m21 m22 m23 m24 m25 m26 m27 m28 m29 m30 m31"]
        .assert_eq(&shape(&state));
}

#[test]
fn a_pass_of_the_soft_tier_changes_nothing_in_front_of_what_it_is_priced_by() {
    // Of much that may be digested some is enough; of little all is, the long call first.
    for (said, reads) in [(20, 12), (7_000, 4)] {
        let mut state = state(16_000, Config::default());
        let text = format!(
            "user: {}\nassistant: !write_file#w1 {{\"path\":\"src/part.rs\",\"content\":\"{}\"}}\ntool#w1: ok\nassistant: Written.",
            "Mind it. ".repeat(said / 2),
            "let value = compute(); ".repeat(100),
        );
        let said = transcript(&text);
        let said = said.entries().iter().map(|entry| (*entry.message).clone());
        for message in said.chain((1..=reads).flat_map(|nth| turn(nth, 900))) {
            state.push(message);
        }
        let (m, before, limits) = (state.measure(None), state.items.clone(), state.limits());
        assert!(m.tokens > limits.soft, "{m:?}");
        let reason = Reason::Soft { tokens: m.tokens, soft: limits.soft };
        state.soften(Action::SoftDigest, reason, None).unwrap();
        let (unchanged, priced) = (state.items.common(&before), before.before_digestible());
        assert_eq!(priced, 1, "the call");
        assert!(unchanged >= priced && (reads > 4 || unchanged == priced), "{unchanged}");
    }
}

#[test]
fn trimming_drops_whole_units_and_keeps_the_first_request() {
    let config = Config { soft_action: SoftAction::Trim, ..Config::default() };
    let mut state = state(2_000, config);
    full(&mut state, 30, 64);
    let reason = Reason::Soft { tokens: state.tokens(), soft: state.limits().soft };
    let rewrite = state.soften(Action::SoftTrim, reason, None).unwrap();
    assert!(rewrite.outcome.dropped > 0);
    assert!(rewrite.outcome.tokens_after <= state.limits().target);
    assert!(shape(&state).starts_with("m0 "));
    assert!(shape(&state).ends_with("m114 m115 m116 m117 m118 m119"));
    is_paired(&state);
}

// asserts 004-58
#[test]
fn an_undo_brings_back_every_message_with_what_was_said_since() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 10, 700);
    let before: Vec<_> = state.view().messages().cloned().collect();
    let tokens = state.tokens();
    compact(&mut state, Action::Summarize { rebuild: false });
    let compacted = shape(&state);
    assert!(state.undo());
    assert_eq!(state.view().messages().cloned().collect::<Vec<_>>(), before);
    assert_eq!(state.tokens(), tokens);
    assert!(matches!(state.decide(None), Decision::Hold(Hold::JustUndone { .. })));
    state.push(Message::user("More"));
    assert!(state.redo());
    assert_eq!(shape(&state), format!("{compacted} m40"));
    assert!(!state.redo());
}

#[test]
fn a_view_that_was_shows_no_word_of_a_line_that_was_left() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 8, 700);
    compact(&mut state, Action::Summarize { rebuild: false });
    assert!(state.undo());
    full(&mut state, 1, 400);
    // From here on the view before the redo knows of the turn that is left now.
    assert!(state.redo());
    let end = MessageId { ordinal: 31, ..state.originals().get(31).unwrap().id };
    state.rewind(end).unwrap();
    full(&mut state, 2, 90);
    assert!(state.undo());
    assert_eq!(shape(&state), (0..40).map(|at| format!("m{at}")).collect::<Vec<_>>().join(" "));
    let counted: Tokens = state.view().messages().map(|message| CharsPer4.count_message(message)).sum();
    assert_eq!(state.items.sums().counts.total(), counted);
}

#[test]
fn a_job_is_applied_with_what_was_said_meanwhile() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 10, 700);
    let job = state.plan(Action::Summarize { rebuild: false }, Reason::Manual, None, None).unwrap();
    state.push(Message::user("Meanwhile"));
    state.apply(job.finish_by_rule().unwrap()).unwrap();
    assert!(shape(&state).ends_with(" m40"));
}

#[test]
fn a_job_planned_before_another_rewrite_is_stale() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 10, 700);
    let slow = state.plan(Action::Summarize { rebuild: false }, Reason::Manual, None, None).unwrap();
    compact(&mut state, Action::Summarize { rebuild: false });
    let shape_before = shape(&state);
    assert_eq!(state.apply(slow.finish_by_rule().unwrap()).unwrap_err(), RewriteError::Stale);
    assert_eq!(shape(&state), shape_before);
}

#[test]
fn a_request_that_was_cut_is_told_again_after_a_redo() {
    let mut state = state(2_000, Config::default());
    full(&mut state, 3, 300);
    state.push(Message::user("Do all of this. ".repeat(900)));
    compact(&mut state, Action::Emergency { rebuild: false, by_rule: false });
    let cut = state.view().cut();
    assert!(cut.is_some());
    assert!(state.undo() && state.view().cut().is_none());
    assert!(state.redo());
    assert_eq!(state.view().cut(), cut);
}

#[test]
fn a_job_of_another_branch_is_stale() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 3, 700);
    let mut branch = state.branch(state.originals().get(7).unwrap().id).unwrap();
    // Both were rewritten once, and both end alike.
    full(&mut state, 3, 700);
    compact(&mut state, Action::Summarize { rebuild: false });
    full(&mut branch, 1, 300);
    full(&mut branch, 3, 700);
    [&mut state, &mut branch].into_iter().for_each(|state| full(state, 3, 500));
    let action = Action::Summarize { rebuild: false };
    let finished = branch.plan(action, Reason::Manual, None, None).unwrap().finish_by_rule().unwrap();
    assert_eq!((state.rewrites, state.n_total() > branch.n_total() - 5), (branch.rewrites, true));
    assert!(matches!(state.apply(finished.clone()), Err(RewriteError::Stale)));
    branch.apply(finished).unwrap();
}

#[test]
fn a_reported_usage_counts_only_for_the_view_it_was_made_from() {
    let mut state = state(8_000, Config::default());
    full(&mut state, 10, 700);
    let counted = state.tokens();
    let usage = |tokens: u64| Usage { input: Tokens(tokens), ..Usage::default() };
    let sent = state.view().id();
    assert_eq!(state.report_usage(sent, &usage(counted.0 * 11 / 10)), UsageVerdict::Taken);
    assert_eq!(state.tokens(), Tokens(counted.0 * 11 / 10));
    // A running total over many requests, and an empty report.
    assert_eq!(state.report_usage(sent, &usage(counted.0 * 9)), UsageVerdict::Implausible);
    assert_eq!(state.report_usage(sent, &usage(0)), UsageVerdict::Implausible);
    // Cached tokens are left out.
    assert_eq!(state.report_usage(sent, &usage(counted.0 / 50)), UsageVerdict::TooLow);
    compact(&mut state, Action::Summarize { rebuild: false });
    let after = state.tokens();
    assert_eq!(state.report_usage(sent, &usage(counted.0)), UsageVerdict::Stale);
    assert_eq!(state.tokens(), after);
}

#[test]
fn what_a_server_puts_around_a_greeting_is_no_running_total() {
    let mut state = state(4_000, Config::default());
    state.push(Message::user("hello"));
    let (sent, usage) =
        (state.view().id(), |tokens: u64| Usage { input: Tokens(tokens), ..Usage::default() });
    assert_eq!(state.report_usage(sent, &usage(33)), UsageVerdict::Taken);
    assert_eq!(state.likely_tokens(), Tokens(33));
    assert_eq!(state.report_usage(sent, &usage(1_000)), UsageVerdict::Implausible);
}

#[test]
fn the_outlook_says_when_the_next_compaction_comes_and_what_it_saves() {
    let mut state = state(8_000, Config::default());
    state.set_fixed_overhead(Tokens(1_000));
    full(&mut state, 5, 700);
    let outlook = state.outlook(None);
    assert_eq!(outlook.limits, state.limits());
    assert_eq!(outlook.sizes.before, state.tokens() + Tokens(1_000));
    assert!(outlook.sizes.after < outlook.sizes.before);
    let prices = longhaul_tokens::Prices { input: Some(3.0), ..Default::default() };
    assert_eq!(
        outlook.cost(&prices, 0.0).unwrap().pays_back_after,
        Some(0),
        "without a cache it pays at once"
    );
    // Five minutes after the last request its prefix is gone.
    state.requested(0);
    assert_eq!((state.cache(Some(299_999)), state.cache(Some(300_000))), (Cache::Warm, Cache::Cold));
    assert_eq!((state.cache(None), state.cache(Some(-1))), (Cache::Warm, Cache::Warm));
}

#[test]
fn fixed_overhead_comes_off_the_budget() {
    let mut state = state(8_000, Config::default());
    state.set_fixed_overhead(Tokens(3_000));
    assert_eq!(state.budget(), Tokens(5_000));
    assert_eq!(state.limits().trigger, Tokens(4_600));
}

/// Counts as [`CharsPer4`], and is sure of it: a narrow estimate is to stay narrow.
#[derive(Debug)]
struct Sure;

impl TokenCounter for Sure {
    fn count_text(&self, text: &str) -> Tokens {
        CharsPer4.count_text(text)
    }

    fn accuracy(&self) -> longhaul_tokens::Accuracy {
        longhaul_tokens::Accuracy::Exact
    }
}

/// A provider that tells cached tokens apart, and a caller who hands on the rest alone: the view grew to three times the window.
#[test]
fn a_bill_without_its_cached_tokens_lets_nothing_grow() {
    for share in [0.26, 0.35, 0.45] {
        let mut state = state(8_000, Config::default());
        for nth in 0..60 {
            state.push(Message::user(format!("question {nth} {}", "word ".repeat(90))));
            state.settle(None);
            let (view, counted) = (state.send(), state.counted());
            assert!(counted <= state.budget(), "{share} at {nth}: {counted}");
            let usage = Usage { input: counted.scaled(share), ..Usage::default() };
            assert_eq!(state.report_usage(view.id(), &usage), UsageVerdict::TooLow);
            state.push(Message::assistant(format!("answer {nth} {}", "word ".repeat(120))));
        }
    }
}

#[test]
fn an_estimate_that_is_handed_back_as_usage_raises_nothing() {
    let config = Config { soft_action: SoftAction::Off, ..Config::default() };
    for (overhead, is_added) in [(0, false), (700, true), (700, false)] {
        let window = ContextWindow::new(Tokens(1_000_000), Tokens::ZERO);
        let session = SessionId::new("echo").unwrap();
        let mut state = SessionState::new(session, window, Arc::new(Sure), config.clone());
        state.set_fixed_overhead(Tokens(overhead));
        for nth in 0..300 {
            state.push(Message::user(format!("What does src/part_{nth}.rs do?")));
            state.push(Message::assistant(format!("It computes value_{nth} and keeps it. ").repeat(12)));
            let view = state.send();
            let input = view.tokens() + if is_added { Tokens(overhead) } else { Tokens::ZERO };
            state.report_usage(view.id(), &Usage { input, ..Usage::default() });
        }
        let (counted, tokens) = (state.counted(), state.tokens());
        assert!(tokens < counted.scaled(1.3), "{tokens} for {counted}");
        assert!(tokens > counted.scaled(0.7), "{tokens} for {counted}");
    }
}

#[test]
fn a_smaller_model_is_compacted_for_before_the_next_request() {
    let mut state = state(100_000, Config::default());
    full(&mut state, 20, 700);
    assert!(!state.decide(None).is_act());
    state.switch_model(
        ContextWindow::new(Tokens(8_000), Tokens::ZERO),
        Arc::new(CharsPer4),
        Config::default(),
    );
    assert!(state.decide(None).is_act());
    let larger = state.tokens().scaled(1.05);
    state.switch_model(ContextWindow::new(larger, Tokens::ZERO), Arc::new(CharsPer4), Config::default());
    assert!(matches!(state.decide(None), Decision::Act { reason: Reason::ModelSwitch { .. }, .. }));
}

#[test]
fn without_preserve_system_the_instructions_are_summarized_too() {
    for preserve_system in [true, false] {
        let mut state = state(8_000, Config { preserve_system, ..Config::default() });
        state.push(Message::system("Be careful."));
        full(&mut state, 10, 700);
        compact(&mut state, Action::Summarize { rebuild: false });
        assert_eq!(shape(&state).starts_with("m0 "), preserve_system);
    }
}

/// Says `turns` turns of about 60 tokens in a window of 2,000, and compacts whenever the policy says so. Returns the
/// records and the most tokens that a single summary was made from.
fn long_talk(turns: usize) -> (SessionState, Vec<SummaryRecord>, Tokens) {
    let config = Config { soft_action: SoftAction::Off, ..Config::default() };
    let mut state = state(2_000, config);
    let (mut chain, mut most) = (Vec::new(), Tokens::ZERO);
    let mut say = |state: &mut SessionState, message: Message| {
        state.push(message);
        if let Decision::Act { action, reason } = state.decide(None) {
            let job = state.plan(action, reason, None, None).unwrap();
            most = most.max(job.span_tokens());
            let rewrite = state.apply(job.finish_by_rule().unwrap()).unwrap();
            chain.extend(rewrite.record.map(|record| (*record).clone()));
        }
    };
    let task =
        "Move the ledger export in srv/ledger/export.rs to the new queue. Never touch the table audit_trail.";
    say(&mut state, Message::user(task));
    say(&mut state, Message::assistant("The ticket LEDG-4711 says that the export must end before 04:30."));
    for nth in 0..turns {
        let words = "it reads the shard and merges the small blocks before the queue drops them ".repeat(2);
        let name = if nth % 20 == 0 { format!("shard_{nth}") } else { "the next".to_owned() };
        say(&mut state, Message::user(format!("What about {name}? {words}")));
        say(&mut state, Message::assistant(format!("That is done: {words}")));
    }
    (state, chain, most)
}

#[test]
fn a_compaction_reads_no_more_late_than_early_and_forgets_nothing_for_it() {
    let (late, chain, most) = long_talk(600);
    assert!(chain.len() > 20, "{}", chain.len());
    assert!(most <= Tokens(2_000 * 10), "{most} tokens were read for one summary");
    let said = late.originals().entries();
    let said: Tokens = said.iter().map(|entry| CharsPer4.count_message(&entry.message)).sum();
    assert!(said > Tokens(2_000 * 20));
    // What was said far beyond its reach is still told, from the originals.
    let summary = &late.summary().unwrap().text;
    for told in ["srv/ledger/export.rs", "audit_trail", "LEDG-4711", "04:30"] {
        assert!(summary.contains(told), "{told} in {summary}");
    }
    assert!(summary.contains(
        "## Asked before\nm0 Move the ledger export in srv/ledger/export.rs to the new queue. Never"
    ));
    assert!(summary.contains("Never touch the table audit_trail."), "{summary}");
    // Every message is in the view, or a record says that it took it out; the header says how many.
    let covered: std::collections::BTreeSet<u64> =
        chain.iter().flat_map(|record| &record.covered).map(|covered| covered.ordinal).collect();
    let shown: Vec<u64> = ordinals(&late);
    assert!((0..late.originals().len() as u64).all(|at| covered.contains(&at) || shown.contains(&at)));
    let n_gone = late.originals().len() - shown.len();
    assert_eq!(late.summary().unwrap().header, SummaryRecord::default_header(n_gone));
    assert_eq!(late.summary().unwrap().covers.start, 0);
}

/// The ordinals of the messages in the view that are as they were said.
fn ordinals(state: &SessionState) -> Vec<u64> {
    let verbatim = |shown: &Shown| match shown {
        Shown::Message { id, digested: false, .. } => Some(id.ordinal),
        _ => None,
    };
    state.view().shown().filter_map(verbatim).collect()
}

#[test]
fn a_long_chain_of_summaries_is_shown_again_as_it_was() {
    for turns in [40, 350, 353] {
        let (before, chain, _) = long_talk(turns);
        let mut after = state(2_000, Config::default());
        for entry in before.originals().entries() {
            after.push(Arc::clone(&entry.message));
        }
        after.adopt(chain);
        assert_eq!(after.summary().map(|record| &record.id), before.summary().map(|record| &record.id));
        assert_eq!(ordinals(&after), ordinals(&before), "after {turns} turns");
    }
}

#[test]
fn calls_that_wait_are_told() {
    let mut state = state(8_000, Config::default());
    let said = transcript("user: go\nassistant: !a#1 {} !b#2 {}\ntool#1: x");
    said.entries().iter().for_each(|entry| {
        state.push(entry.message.clone());
    });
    let waiting = |state: &SessionState| -> Vec<String> {
        state.open_calls().iter().map(|call| call.id.to_string()).collect()
    };
    assert_eq!(waiting(&state), ["2"]);
    state.push(transcript("tool#2: y").entries()[0].message.clone());
    assert!(waiting(&state).is_empty());
}

fn is_paired(state: &SessionState) {
    let mut shown = Transcript::new();
    state.view().messages().for_each(|message| {
        shown.push(Arc::clone(message));
    });
    assert!(Units::new(shown.entries()).all(|unit| unit.state != UnitState::Broken), "{}", shape(state));
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_conversation_stays_within_its_budget_and_whole(
        conversation in conversation(15), window in 400u64..6_000, preset in 0usize..=5, soft in 0usize..4,
    ) {
        let mut config = crate::Preset::ALL.get(preset).map_or_else(Config::default, |preset| preset.config());
        config.soft_action = [SoftAction::Digest, SoftAction::Trim, SoftAction::SummarizeRules, SoftAction::Off][soft];
        let mut state = state(window, config);
        let mut said = Vec::new();
        for entry in conversation.entries() {
            let before: Vec<_> = state.view().messages().cloned().collect();
            state.push(Arc::clone(&entry.message));
            said.push(Arc::clone(&entry.message));
            // Between two rewrites the view only grows at its end.
            let grown: Vec<_> = state.view().messages().cloned().collect();
            prop_assert_eq!(&grown[..before.len()], &before[..]);
            prop_assert_eq!(grown.len(), before.len() + 1);

            assert!(matches!(state.settle(None), Decision::Hold(_)), "it loops");
            // Within the budget, or what must stay is larger than it and the policy says so.
            let over = state.tokens() >= state.budget();
            let is_told = matches!(state.decide(None), Decision::Hold(Hold::Exhausted { .. }));
            prop_assert_eq!(over, is_told, "{} of {}", state.tokens(), state.budget());

            // The ledger agrees with a fresh count of the view.
            let fresh: Tokens = state.view().messages().map(|message| CharsPer4.count_message(message)).sum();
            let primer = CharsPer4.framing().per_reply;
            prop_assert_eq!(state.tokens(), fresh + primer);

            // No result without its call; a call without its result only where the conversation has it so.
            let mut shown = Transcript::new();
            for message in state.view().messages() {
                shown.push(Arc::clone(message));
            }
            prop_assert!(Units::new(shown.entries()).all(|unit| unit.state != UnitState::Broken), "{}", shape(&state));
        }
        // Nothing that was said is lost.
        let kept: Vec<_> = state.originals().entries().iter().map(|entry| Arc::clone(&entry.message)).collect();
        prop_assert_eq!(kept, said);
    }

    #[test]
    fn a_failed_rewrite_changes_nothing(conversation in conversation(15), window in 400u64..4_000) {
        let mut state = state(window, Config::default());
        for entry in conversation.entries() {
            state.push(Arc::clone(&entry.message));
        }
        let (before, tokens, measured) = (shape(&state), state.tokens(), state.measure(None));
        let emergency = Action::Emergency { rebuild: false, by_rule: false };
        if let Ok(job) = state.plan(emergency, Reason::Manual, None, None) {
            // A draft that is far too large is refused before it reaches the view.
            let text = "word ".repeat(window as usize * 2);
            let tokens = CharsPer4.count_text(&text);
            let draft = longhaul_summarize::Draft { text, tokens, ..Default::default() };
            prop_assert!(job.finish(draft).is_err());
        }
        state.failed(Reason::Manual, Some(0));
        prop_assert_eq!(shape(&state), before);
        prop_assert_eq!(state.tokens(), tokens);
        prop_assert_eq!(state.measure(None), measured);
    }
}

/// Says `turns` more turns to a provider that bills `ratio` of each counted token and `beyond` for every request.
fn billed_turns(state: &mut SessionState, turns: usize, ratio: f64, beyond: u64) {
    for turn in 0..turns {
        state.push(Message::user(format!("question {turn} {}", "word ".repeat(20 + 7 * (turn % 5)))));
        let bill = Tokens(beyond) + state.counted().scaled(ratio);
        let sent = state.view().id();
        let usage = Usage { input: bill, ..Usage::default() };
        assert_eq!(state.report_usage(sent, &usage), UsageVerdict::Taken);
        assert_eq!(state.tokens(), bill, "a measurement is not estimated");
        state.push(Message::assistant(format!("answer {turn} {}", "word ".repeat(30 + 11 * (turn % 3)))));
    }
}

#[test]
fn what_a_provider_bills_is_learned_and_kept_across_a_rewrite_and_a_restart() {
    let mut state = state(16_000, Config::default());
    state.set_endpoint("m", "host");
    billed_turns(&mut state, 30, 1.5, 40);
    let bill = |state: &SessionState| Tokens(40) + state.counted().scaled(1.5);
    let near = |estimate: longhaul_tokens::Estimate, bill: Tokens| {
        assert!(estimate.low <= bill && bill <= estimate.high, "{bill} is not within {estimate:?}");
        assert!(estimate.mid.0.abs_diff(bill.0) * 20 <= bill.0, "{bill} is more than 5 % from {estimate:?}");
    };
    near(state.estimate(), bill(&state));

    // A rewrite drops the measurement, and what was learned stays: the new view is estimated as it will be billed.
    compact(&mut state, Action::Summarize { rebuild: false });
    near(state.estimate(), bill(&state));
    assert!(state.tokens() <= state.limits().target, "{} of {}", state.tokens(), state.limits().target);

    let json = serde_json::to_string(state.calibrations()).unwrap();
    let mut other = super::tests::state(16_000, Config::default());
    other.set_calibrations(serde_json::from_str(&json).unwrap());
    other.push(Message::user("word ".repeat(800)));
    assert_eq!(other.tokens(), other.counted(), "of another endpoint nothing is known");
    other.set_endpoint("m", "host");
    assert!(other.estimate().mid > other.counted().scaled(1.4), "{:?}", other.estimate());
}

#[test]
fn triggers_fire_on_what_will_be_billed_and_not_on_what_is_counted() {
    let config = Config { soft_action: SoftAction::Off, ..Config::default() };
    let mut state = state(4_000, config);
    for turn in 0.. {
        billed_turns(&mut state, 1, 1.6, 0);
        if state.decide(None).is_act() {
            break;
        }
        assert!(state.estimate().high < state.limits().trigger, "turn {turn} was let pass");
    }
    assert!(state.counted() < state.limits().trigger.scaled(0.75), "{}", state.counted());
    compact(&mut state, Action::Summarize { rebuild: false });
    assert!(state.counted().scaled(1.6) <= state.limits().target);
}

#[test]
fn a_record_bears_the_hashes_of_what_a_store_is_given() {
    let mut state = state(8_000, Config::default());
    let key = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    let secret = state.push(Message::user(format!("Use the key {key} for the calls.")));
    full(&mut state, 10, 700);
    let clean = state.redacted()[0].content_hash();
    assert_ne!(clean, secret.hash, "it has a secret");
    compact(&mut state, Action::Summarize { rebuild: false });
    let record = state.summary().unwrap();
    let covered = record.covered.iter().find(|covered| covered.ordinal == secret.ordinal).unwrap();
    assert_eq!(covered.sha256, clean);
    let id = SummaryRecord::derive_id(
        state.session(),
        record.parent.as_ref(),
        &record.covered,
        record.mode,
        &record.model,
        &record.made_with,
        &record.text,
    );
    assert_eq!(record.id, id);
}

#[test]
fn a_view_with_a_summary_that_only_a_store_has_is_not_shown_without_it() {
    let mut whole = state(8_000, Config::default());
    full(&mut whole, 10, 700);
    compact(&mut whole, Action::Summarize { rebuild: false });
    full(&mut whole, 8, 700);
    compact(&mut whole, Action::Summarize { rebuild: false });
    let mut snapshot = whole.snapshot_to_store();
    for id in snapshot.summaries_wanted() {
        assert_eq!(id, whole.summary().unwrap().id);
        snapshot.put_back_summary(whole.summary().unwrap());
    }
    let originals = whole.originals().entries().to_vec();
    let said = |span: longhaul_transcript::Span| -> Vec<_> {
        let entries = &originals[span.start as usize..span.end as usize];
        entries.iter().map(|entry| entry.message.clone()).collect()
    };
    let mut resumed = state(8_000, Config::default()).resume(snapshot, said).unwrap();
    for span in resumed.wanted_by_undo() {
        resumed.put_back(span.start, said(span));
    }
    assert_eq!(shape(&resumed), shape(&whole));
    assert!(!resumed.undo(), "its summary is not at hand");
    assert_eq!(shape(&resumed), shape(&whole), "nothing has changed");
    let wanted = resumed.summaries_wanted_by_undo();
    assert_eq!(wanted.len(), 1);
    assert!(whole.undo());
    resumed.put_back_summary(whole.summary().unwrap());
    assert!(resumed.undo());
    assert_eq!(shape(&resumed), shape(&whole));
}

#[cfg(feature = "wire")]
#[test]
fn a_history_under_other_instructions_is_the_same_conversation() {
    let document = |said: &str| {
        let encoded = longhaul_wire::encode(&transcript(said), longhaul_wire::Format::OpenAi).unwrap();
        longhaul_wire::read(Some(longhaul_wire::Format::OpenAi), encoded.document.as_bytes()).unwrap()
    };
    let said_under = |document: &longhaul_wire::Document| {
        document.transcript().entries().iter().filter(|entry| entry.message.is_system()).count()
    };
    let said = "user: Fix the parser.\nassistant: Done.\nuser: Write the test too.\nassistant: Written.";
    let next = "user: And tag the release.";
    for (before, now) in [
        ("system: It is 10:00.\n", "system: It is 10:05.\n"),
        ("system: It is 10:00.\n", ""),
        ("", "system: It is 10:05.\n"),
        ("system: Be brief.\nsystem: It is 10:00.\n", "system: Be brief.\nsystem: It is 10:05.\n"),
    ] {
        let mut state = state(8_000, Config::default());
        state.sync(&document(&format!("{before}{said}"))).unwrap();
        let now = document(&format!("{now}{said}\n{next}"));
        let change = state.sync(&now).unwrap().change;
        let is_reworded = before.lines().count() == said_under(&now);
        match is_reworded {
            true => assert_eq!(change, Synced::Grew { n: 1 }, "{before:?}"),
            false => assert!(matches!(change, Synced::Edited { at: 0 | 1, .. }), "{before:?}: {change:?}"),
        }
        let shown: Vec<_> = state.view().messages().map(|message| message.content_hash()).collect();
        let given: Vec<_> = now.transcript().entries().iter().map(|entry| entry.id.hash).collect();
        assert_eq!(shown, given);
    }
    let mut state = state(8_000, Config::default());
    state.sync(&document(&format!("system: It is 10:00.\n{said}"))).unwrap();
    let other = document("system: It is 10:05.\nuser: What is a monad?");
    assert_eq!(state.sync(&other).unwrap().change, Synced::Another);
}

#[cfg(feature = "wire")]
#[test]
fn instructions_that_tell_the_time_cost_no_summary() {
    let document = |said: &Transcript| {
        let encoded = longhaul_wire::encode(said, longhaul_wire::Format::OpenAi).unwrap();
        longhaul_wire::read(Some(longhaul_wire::Format::OpenAi), encoded.document.as_bytes()).unwrap()
    };
    let at = |minute: usize| Message::system(format!("It is 10:{minute:02}. Be brief."));
    let run = |is_clock: bool| {
        let mut state = state(4_000, Config::default());
        let (mut turns, mut made) = (Vec::new(), 0);
        for nth in 0..50 {
            turns.push(Message::user(format!("Question {nth}? {}", "word ".repeat(60))));
            turns.push(Message::assistant(format!("Answer {nth}. {}", "word ".repeat(60))));
            let head = at(if is_clock { nth } else { 0 });
            let said: Transcript = std::iter::once(head.clone()).chain(turns.iter().cloned()).collect();
            let change = state.sync(&document(&said)).unwrap().change;
            assert_eq!(change, Synced::Grew { n: if nth == 0 { 3 } else { 2 } }, "{nth}");
            assert_eq!(state.view().messages().next().unwrap().content_hash(), head.content_hash());
            if let Decision::Act { action, reason } = state.decide(None) {
                let finished = state.plan(action, reason, None, None).unwrap().finish_by_rule().unwrap();
                state.apply(finished).unwrap();
                made += 1;
            }
            let originals = state.originals().entries().to_vec();
            let said = |span: longhaul_transcript::Span| -> Vec<_> {
                let entries = &originals[span.start as usize..span.end as usize];
                entries.iter().map(|entry| entry.message.clone()).collect()
            };
            let resumed = self::state(4_000, Config::default()).resume(state.snapshot(), said).unwrap();
            let hashes = |state: &SessionState| {
                state.view().messages().map(|message| message.content_hash()).collect::<Vec<_>>()
            };
            assert_eq!(hashes(&resumed), hashes(&state), "{nth}");
        }
        assert_eq!(state.originals().len(), 101);
        made
    };
    let made = run(false);
    assert!(made > 1);
    assert_eq!(run(true), made);
}

#[cfg(feature = "wire")]
#[test]
fn a_request_that_quotes_an_agents_mark_is_no_summary_of_the_client() {
    let document = |said: &str| {
        let encoded = longhaul_wire::encode(&transcript(said), longhaul_wire::Format::OpenAi).unwrap();
        longhaul_wire::read(Some(longhaul_wire::Format::OpenAi), encoded.document.as_bytes()).unwrap()
    };
    let mut state = state(8_000, Config::default());
    state.sync(&document("user: What is this?\nassistant: It is a parser.\nuser: Go on.")).unwrap();
    let change = |said: &str| state.clone().sync(&document(said)).unwrap().change;
    let edited =
        change("user: What does this line of the log say?\n<state_snapshot>\nassistant: It is a mark.");
    assert!(matches!(edited, Synced::Another | Synced::Edited { .. }), "{edited:?}");
    let compacted =
        change("user: <state_snapshot>\nWe wrote a parser.\n</state_snapshot>\nassistant: Go on.");
    assert!(matches!(compacted, Synced::CompactedByClient { .. }), "{compacted:?}");
}

/// What was read before stays in the summary, if anywhere.
#[test]
fn a_result_that_is_yet_to_be_read_stays_whole_in_a_view_of_a_named_size() {
    let left = |result: usize, budget: u64| {
        let mut state = state(100_000, Config::default());
        full(&mut state, 6, 800);
        let asked = "Now change all of them at once, and say what each of them was before.";
        let read = turn(7, result).into_iter().skip(1).take(2);
        [Message::user(asked)].into_iter().chain(read).for_each(|message| {
            state.push(message);
        });
        let action = Action::Summarize { rebuild: false };
        let job = state.plan_within(action, &Within::new(Tokens(budget))).unwrap();
        state.apply(job.finish_by_rule().unwrap()).unwrap();
        assert!(state.tokens() <= Tokens(budget));
        let shown = shape(&state);
        assert!(state.view().messages().any(|message| message.texts().any(|text| text == asked)), "{shown}");
        shown
    };
    assert!(left(400, 2_000).ends_with("m24 m25 m26"), "{}", left(400, 2_000));
    // A larger share than a quarter is cut, and so is what would leave no room for the summary.
    assert!(left(2_400, 2_000).ends_with("m24 m25 m26d"), "{}", left(2_400, 2_000));
    assert!(left(220, 450).ends_with("m24 m25 m26d"), "{}", left(220, 450));
}

#[test]
fn a_share_for_the_summary_is_of_what_is_counted_whatever_is_billed() {
    let config = Config { max_summary_share: Some(0.2), ..Config::default() };
    let (mut billed, mut plain) = (state(100_000, config.clone()), state(100_000, config));
    billed_turns(&mut billed, 12, 1.5, 40);
    for entry in billed.originals().entries().iter() {
        plain.push(entry.message.clone());
    }
    let cap = |state: &SessionState, budget: Tokens| {
        let scope = state.scope(Action::Summarize { rebuild: false }, &state.index());
        let settings = state.settings_within(&state.measure(None), &Within::new(budget), state.room(&scope));
        settings.max_summary_tokens.unwrap().0
    };
    let counted = billed.scale().countable(Tokens(6_000));
    let (one, other) = (cap(&billed, Tokens(6_000)), cap(&plain, counted));
    assert!(one.abs_diff(other) <= 3, "{one} where 1.5 times as much is billed, {other} else");
}
