//! Seed 004, "Summarization Plan (Revised)": preset `chain`.

use std::{collections::BTreeSet, sync::Arc};

use longhaul::{
    Config, Decision, Error, EventKind, Hold, Preset, Reason,
    config::{OnMaxDepth, Threshold},
    policy::Action,
    summarize::{Answer, AnswerAction, ClientError, Scripted, Summarizer, rules::RulesSummarizer},
    transcript::{ActionItem, Entry, Message, Outcome, Role, SummaryMode, SummaryRecord, Tokens},
};

use crate::work::{Work, answer, exchange, text, written_by};

const WINDOW: u64 = 10_000;

fn fine(
    _: usize,
    _: &longhaul::summarize::CompletionRequest,
) -> Result<longhaul::summarize::Completion, ClientError> {
    Ok(answer("The parts and their limits were discussed one after the other."))
}

fn fails(
    _: usize,
    _: &longhaul::summarize::CompletionRequest,
) -> Result<longhaul::summarize::Completion, ClientError> {
    Err(ClientError::Transport { reason: "connection reset".into() })
}

// Unit tests of the service.

// asserts 004-12, 004-24
#[tokio::test]
async fn produces_a_valid_schema_for_mixed_technical_and_decision_content() {
    let item = ActionItem {
        owner: "Ana".into(),
        task: "Ana writes the migration of the ledger".into(),
        due: "2026-03-14".into(),
    };
    let answer = Answer {
        narrative: "The parser of src/part_0.rs was discussed; a hand-written parser is used.".into(),
        key_points: vec!["src/part_1.rs has a limit of 10 ms".into()],
        decisions: vec!["We decided to use a hand-written parser in src/part_0.rs".into()],
        participants: vec!["Ana".into(), "Ben".into()],
        action_items: vec![AnswerAction {
            owner: item.owner.clone(),
            task: item.task.clone(),
            due: item.due.clone(),
        }],
        unresolved: vec!["Does the parser accept CRLF?".into()],
        domain_entities: vec!["TokenLedgerIndex".into()],
        ..Answer::default()
    };
    let mut work = Work::asking(Preset::Chain, WINDOW, move |_, _| {
        Ok(Scripted::says(serde_json::to_string(&answer).unwrap()))
    });
    while work.context.state().tokens() < Tokens(6_000) {
        work.talk(2, 200).await;
    }
    // Among the newest 8,000 tokens, which are shown whole, and before the tail.
    work.context.push(Message::user(
        "Ana and Ben met. We decided to use a hand-written parser in src/part_0.rs, with a TokenLedgerIndex. \
         Ana writes the migration of the ledger by 2026-03-14. Does the parser accept CRLF?",
    ));
    work.context.push(Message::assistant("Noted."));
    while work.finished().is_empty() {
        work.talk(1, 200).await;
    }
    let record = work.context.state().summary().unwrap();
    assert_eq!(record.mode, SummaryMode::Llm);
    let summary = &record.summary;
    assert!(summary.narrative.contains("a hand-written parser"), "{summary:?}");
    assert!(summary.key_points.iter().any(|point| point.contains("limit of 10 ms")), "{summary:?}");
    assert!(summary.decisions.iter().any(|decision| decision.contains("hand-written parser")), "{summary:?}");
    assert_eq!(summary.participants, ["Ana", "Ben"]);
    assert!(summary.action_items.contains(&item), "{summary:?}");
    assert!(summary.unresolved.iter().any(|open| open.contains("CRLF")), "{summary:?}");
    assert!(summary.domain_entities.iter().any(|name| name == "TokenLedgerIndex"), "{summary:?}");
    for word in ["hand-written parser", "2026-03-14", "CRLF"] {
        assert!(record.text.contains(word), "{word} is not sent: {}", record.text);
    }
}

// asserts 004-38
#[tokio::test]
async fn handles_empty_arrays_gracefully_when_there_are_no_decisions() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    work.talk(50, 200).await;
    let summary = &work.context.state().summary().unwrap().summary;
    assert_eq!(summary.decisions, Vec::<String>::new());
    assert_eq!(summary.action_items, Vec::<ActionItem>::new());
    assert_eq!(summary.unresolved, Vec::<String>::new());
    assert_eq!(summary.participants, Vec::<String>::new());
}

// asserts 004-39
#[tokio::test]
async fn a_transport_failure_is_retried_once_then_fails_safe() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fails);
    let mut compactions = 0;
    while compactions == 0 {
        compactions = work.talk(1, 200).await;
    }
    assert_eq!(work.calls(), 2, "asked, and asked once more");
    assert_eq!(work.finished()[0].mode, SummaryMode::Rules);
    let is_told = |event: &EventKind| matches!(event, EventKind::SummarizerFailed { summarizer, .. } if summarizer == "small");
    assert!(work.events().iter().any(is_told), "the failure is an event");
}

// asserts 004-13, 004-40, 004-41
#[tokio::test]
async fn malformed_json_is_not_retried_and_is_logged_as_an_excerpt() {
    let mut work = Work::asking(Preset::Chain, WINDOW, |_, _| {
        Ok(Scripted::says("Sure! Here is \u{1b}[31mno JSON at all"))
    });
    while work.finished().is_empty() {
        work.talk(1, 200).await;
    }
    assert_eq!(work.calls(), 1);
    assert_eq!(work.finished()[0].mode, SummaryMode::Rules);
    let told = work.events().into_iter().find_map(|event| match event {
        EventKind::SummarizerFailed { summarizer, error, .. } => Some((summarizer, error)),
        _ => None,
    });
    let (summarizer, error) = told.unwrap();
    assert_eq!(summarizer, "small");
    assert!(error.contains("not JSON"), "{error}");
    assert!(!error.contains("Sure!"), "no word of the answer is in an event: {error}");
}

// asserts 004-15, 004-16, 004-19, 004-46
#[tokio::test]
async fn the_next_summary_is_one_deeper_and_names_its_parent() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    let mut records = Vec::new();
    while records.len() < 3 {
        work.talk(1, 200).await;
        if work.finished().len() > records.len() {
            records.push(Arc::clone(work.context.state().summary().unwrap()));
        }
    }
    let depths: Vec<_> = records.iter().map(|record| record.depth).collect();
    assert_eq!(depths, [0, 1, 2]);
    assert_eq!(records[0].parent, None);
    assert_eq!(records[1].parent.as_ref(), Some(&records[0].id));
    assert_eq!(records[2].parent.as_ref(), Some(&records[1].id));
    // Each names the messages that it was made of, by place and by content.
    let entries = work.context.state().originals().entries();
    for record in &records {
        assert!(!record.covered.is_empty());
        for covered in &record.covered {
            assert_eq!(covered.sha256, entries[covered.ordinal as usize].message.content_hash());
        }
    }
    // The summary is a system message, with its tag.
    let view = work.context.state().view();
    let first = view.messages().next().unwrap();
    assert_eq!(first.role, Role::System);
    let tag = format!("\n\nsummary-depth:2 id:{}", records[2].id);
    assert!(text(first).ends_with(&tag), "{}", text(first));
}

// asserts 004-19, 004-44
#[tokio::test]
async fn each_original_is_named_along_the_chain_also_after_it_began_anew() {
    let mut config = Preset::Chain.config();
    config.mode = SummaryMode::Rules;
    let mut work = Work::with(config, 4_000, None);
    let mut chain: Vec<Arc<SummaryRecord>> = Vec::new();
    while chain.len() < 24 {
        work.talk(1, 400).await;
        if work.finished().len() > chain.len() {
            chain.push(Arc::clone(work.context.state().summary().unwrap()));
        }
    }
    assert!(chain[1..].iter().any(|record| record.depth == 0), "the chain began anew");
    let entries = work.context.state().originals().entries();
    let mut named = BTreeSet::new();
    let mut parent = None;
    for record in &chain {
        assert_eq!(record.parent, parent);
        parent = Some(record.id.clone());
        for covered in &record.covered {
            assert_eq!(covered.sha256, entries[covered.ordinal as usize].message.content_hash());
            named.insert(covered.ordinal);
        }
        let is_kept =
            |ordinal: u64| record.kept.iter().any(|kept| kept.start <= ordinal && ordinal < kept.end);
        let mut behind = (record.covers.start..record.covers.end).filter(|ordinal| !is_kept(*ordinal));
        assert!(
            behind.all(|ordinal| named.contains(&ordinal)),
            "{} to {}",
            record.covers.start,
            record.covers.end
        );
    }
    let reads_the_newest = |record: &&Arc<SummaryRecord>| record.covered[0].ordinal > record.covers.start;
    assert!(
        chain.iter().any(|record| reads_the_newest(&record)),
        "a summary made of the newest messages alone"
    );
}

// asserts 000-09, 002-04, 004-32
#[tokio::test]
async fn the_newest_two_stay_whole_above_the_target_where_one_more_turn_fits() {
    for preset in [Preset::Chain, Preset::ContextManager, Preset::Session] {
        let mut work = Work::new(preset, 15_000);
        let mut n_cut = 0;
        for _ in 0..60 {
            let summaries = work.talk(1, 2_450).await;
            let view = work.context.state().view();
            let shown: Vec<_> = view.messages().map(|message| message.content_hash()).collect();
            let said = work.context.state().originals().entries();
            let newest = &said[said.len().saturating_sub(2)..];
            let is_whole = |entry: &Entry| shown.contains(&entry.message.content_hash());
            n_cut += usize::from(summaries > 0 && !newest.iter().all(is_whole));
        }
        assert_eq!(n_cut, 0, "{preset:?}, {} summaries", work.finished().len());
        assert!(work.finished().len() < 45, "{preset:?}: {} summaries", work.finished().len());
    }
}

// Integration tests of the route.

// asserts 004-02, 004-23, 004-26
#[tokio::test]
async fn a_long_thread_triggers_exactly_once_at_0_8() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.finished().is_empty() {
        assert!(work.context.state().tokens() < Tokens(8_000));
        work.talk(1, 100).await;
    }
    let finish = &work.finished()[0];
    assert!(finish.tokens_before >= Tokens(8_000) && finish.tokens_before < Tokens(8_200), "{finish:?}");
    // Once: not again before the thread is as long as it was.
    while work.context.state().tokens() < Tokens(7_850) {
        work.talk(1, 100).await;
    }
    assert_eq!((work.finished().len(), work.calls()), (1, 1));
}

// asserts 004-23
#[tokio::test]
async fn the_summary_is_done_before_the_prompt_is_assembled() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.context.state().tokens() < Tokens(7_750) {
        work.talk(1, 100).await;
    }
    work.context.push(Message::user("And what about the last part? ".repeat(40)));
    assert!(work.finished().is_empty(), "nothing is done before a prompt is to be made");
    assert_eq!(work.context.state().tokens(), work.context.state().view().tokens());
    let prompt: Vec<String> =
        work.context.prepare().await.unwrap().messages().map(|message| text(message)).collect();
    assert_eq!((work.finished().len(), work.calls()), (1, 1));
    assert!(prompt[0].contains("The parts and their limits were discussed"), "{}", prompt[0]);
    assert!(prompt.last().unwrap().starts_with("And what about the last part?"));
}

// asserts 004-27
#[tokio::test]
async fn hysteresis_prevents_an_immediate_second_summarization_after_a_small_burst() {
    // Much was said while the summary was written: it leaves the context between the reset threshold and the trigger.
    // With a reset threshold above it the next message that reaches the trigger calls for a summary again.
    for (reset, expected) in [(0.7, 0), (0.79, 1)] {
        let config = Config {
            reset_ratio: Threshold::Ratio(reset),
            mode: SummaryMode::Rules,
            ..Preset::Chain.config()
        };
        let mut work = Work::with(config, WINDOW, None);
        let say = |work: &mut Work, nth: usize| {
            work.context
                .push(Message::user(format!("Message {nth} is about src/part_{nth}.rs. ").repeat(12)));
        };
        let background = loop {
            let said = work.context.state().originals().len();
            say(&mut work, said);
            if let Some(background) = work.context.start_background() {
                break background;
            }
        };
        (1_000..1_031).for_each(|nth| say(&mut work, nth));
        let draft = RulesSummarizer::default().summarize(background.job().request()).await.unwrap();
        work.context.finish_background(background, draft).await.unwrap();
        let after = work.context.state().tokens();
        assert!(after > Tokens(7_000) && after < Tokens(7_900), "{after}");
        for nth in 2_000..2_010 {
            if work.context.state().tokens() < Tokens(8_200) {
                say(&mut work, nth);
                work.context.prepare().await.unwrap();
            }
        }
        assert_eq!(work.finished().len() - 1, expected, "from {after}: {}", work.context.decide());
    }
}

// asserts 004-06, 004-33
#[tokio::test]
async fn the_depth_guard_halts_after_the_configured_maximum() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.finished().len() < 3 {
        work.talk(1, 100).await;
    }
    let mut held = None;
    while held.is_none() {
        work.talk(1, 100).await;
        assert_eq!(work.finished().len(), 3);
        if let Decision::Hold(hold @ Hold::Depth { .. }) = work.context.decide() {
            held = Some(hold);
        }
    }
    assert_eq!(held, Some(Hold::Depth { depth: 3, max: 3 }));
    // At the hard limit the guard gives way: the chain is made anew from the originals.
    work.talk(30, 100).await;
    let last = work.finished().pop().unwrap();
    assert!(matches!(last.action, Action::Emergency { rebuild: true, .. }), "{last:?}");
    assert_eq!(last.depth, 0);
    // Of a longer past the model is told by the summary before.
    let asked = work.model.as_ref().unwrap().requests().pop().unwrap();
    assert!(asked.user.contains("The parts and their limits were discussed"), "{}", asked.user);
    let newest = &work.context.state().originals().entries()[last.covers.end as usize - 1];
    assert!(asked.user.contains(text(&newest.message).trim()), "{}", asked.user);
    assert_eq!(Preset::Chain.config().on_max_depth, OnMaxDepth::Halt);
}

// asserts 004-29
#[tokio::test]
async fn an_emergency_at_ratio_1_ignores_the_cooldown() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.finished().is_empty() {
        work.talk(1, 100).await;
    }
    // One message of the cooldown's four fills the window.
    work.talk(1, 9_000).await;
    let finished = work.finished();
    assert_eq!(finished.len(), 2);
    assert!(matches!(finished[1].reason, Reason::Emergency { .. }));
    assert!(work.context.state().tokens() <= Tokens(WINDOW));
}

// asserts 004-10, 004-42
#[tokio::test]
async fn a_failed_summarization_loses_no_message() {
    let config = Config { abort_on_failure: true, ..Preset::Chain.config() };
    let mut work = Work::with(config, WINDOW, Some(Box::new(fails)));
    let mut error = None;
    for nth in 0..60 {
        work.context.push(Message::user(format!("Message {nth} ").repeat(60)));
        let view = work.context.state().view().messages().cloned().collect::<Vec<_>>();
        if let Err(failed) = work.context.prepare().await {
            error = Some(failed);
            assert_eq!(work.context.state().view().messages().cloned().collect::<Vec<_>>(), view);
            break;
        }
    }
    assert!(matches!(error, Some(Error::Summarize(_))), "{error:?}");
    assert!(work.events().iter().any(|event| matches!(event, EventKind::Failed { .. })));
}

// asserts 004-42
#[tokio::test]
async fn the_original_messages_are_sent_where_no_model_gives_a_summary() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fails);
    let said = |work: &Work| work.context.state().view().messages().cloned().collect::<Vec<_>>();
    let failed = |work: &Work| work.events().iter().any(|event| matches!(event, EventKind::Failed { .. }));
    while !failed(&work) {
        work.talk(1, 100).await;
    }
    let originals = |work: &Work| -> Vec<Arc<Message>> {
        work.context.state().originals().entries().iter().map(|entry| Arc::clone(&entry.message)).collect()
    };
    assert_eq!(said(&work), originals(&work));
    assert!(work.events().iter().any(|event| matches!(event, EventKind::SummarizerFailed { .. })));
    // Each message that follows does not ask again.
    let calls = work.calls();
    work.talk(3, 20).await;
    assert_eq!((work.calls(), said(&work)), (calls, originals(&work)));
    // Where they no longer fit, rules write; and so where somebody asks for it.
    work.talk(100, 150).await;
    assert_eq!(originals(&work).len(), work.context.state().originals().len());
    assert!(!work.finished().is_empty());
    for finish in work.finished() {
        assert!(matches!(finish.reason, Reason::Emergency { .. }) && finish.mode == SummaryMode::Rules);
    }
    let mut work = Work::asking(Preset::Chain, WINDOW, fails);
    work.talk(30, 60).await;
    work.context.compact(None).await.unwrap();
    assert_eq!(work.finished()[0].mode, SummaryMode::Rules);
    // Under other presets they write at once.
    let mut work = Work::asking(Preset::ContextManager, WINDOW, fails);
    work.talk(100, 150).await;
    assert!(!work.finished().is_empty());
    assert!(work.finished().iter().all(|finish| !matches!(finish.reason, Reason::Emergency { .. })));
}

// asserts 004-42
#[tokio::test]
async fn a_model_that_is_back_writes_the_summary_that_it_owes() {
    let back = |nth: usize, request: &longhaul::summarize::CompletionRequest| match nth {
        0 | 1 => fails(nth, request),
        _ => fine(nth, request),
    };
    let config = Config { failure_cooldown_ms: 0, ..Preset::Chain.config() };
    let mut work = Work::with(config, WINDOW, Some(Box::new(back)));
    while work.finished().is_empty() {
        work.talk(1, 60).await;
    }
    let finish = &work.finished()[0];
    assert_eq!(finish.mode, SummaryMode::Llm);
    assert!(!matches!(finish.reason, Reason::Emergency { .. }), "{finish:?}");
    assert!((0.8..0.95).contains(&finish.ratio_before), "{finish:?}");
}

// Drift.

/// The term is said once, early, and not in the task.
fn begin(work: &mut Work) {
    work.context.push(Message::user("Speed up the dialer in crates/net, please"));
    work.context.push(Message::assistant(
        "We decided to keep retries in the TokenLedgerIndex of crates/net/src/dial.rs.",
    ));
}

// asserts 004-49
#[tokio::test]
async fn an_early_term_survives_ten_summarizations() {
    let config =
        Config { on_max_depth: OnMaxDepth::Rebuild, mode: SummaryMode::Rules, ..Preset::Chain.config() };
    let mut work = Work::with(config, WINDOW, None);
    begin(&mut work);
    for round in 1..=10 {
        while work.talk(1, 100).await == 0 {}
        assert!(work.sent().contains("TokenLedgerIndex"), "lost in round {round}: {}", work.sent());
    }
}

// asserts 004-49
#[tokio::test]
async fn in_long_work_with_edits_an_early_term_and_decisions_survive_twelve_summarizations() {
    for preset in [Preset::Chain, Preset::ContextManager] {
        let config =
            Config { on_max_depth: OnMaxDepth::Rebuild, mode: SummaryMode::Rules, ..preset.config() };
        let mut work = Work::with(config, WINDOW, None);
        begin(&mut work);
        for nth in 0.. {
            if work.finished().len() >= 12 {
                break;
            }
            work.context.push(Message::user(format!(
                "Turn {nth}: please look at the part of module_{nth} that the relay takes and tell me about it."
            )));
            let edit = format!(
                r#"{{"file_path":"/srv/app/module_{nth}.ts","old_string":"let a = {nth};","new_string":"let a = {nth} + 1;"}}"#
            );
            let call =
                exchange(&format!("c{nth}"), "Edit", &edit, "The file was updated.", Outcome::Succeeded);
            for message in call {
                work.context.push(message);
            }
            let decided = if nth % 7 == 2 {
                format!(" We decided to use codec{nth} for queue {nth}.")
            } else {
                "".into()
            };
            let found = "The retries of a worker are counted by the relay before they are sent. ".repeat(8);
            work.context.push(Message::assistant(format!("Module {nth} is done. {found}{decided}")));
            work.context.prepare().await.unwrap();
        }
        let (text, sent) = (work.summary(), work.sent());
        assert!(sent.contains("TokenLedgerIndex"), "{preset}: {text}");
        assert!(text.matches("We decided to use codec").count() >= 4, "{preset}: {text}");
        let newest = work.context.state().summary().unwrap().covers.end;
        assert!(text.contains("module_") && newest > 100, "{preset}: {text}");
    }
}

// asserts 004-57
#[tokio::test]
async fn a_summary_made_anew_again_and_again_loses_nothing() {
    for preset in [Preset::Chain, Preset::Rolling, Preset::ContextManager, Preset::TwoTier] {
        let mut work = Work::with(Config { mode: SummaryMode::Rules, ..preset.config() }, 16_000, None);
        for nth in 0..40 {
            work.context
                .push(Message::user(format!("Never rename the column col{nth}x. What of part {nth}?")));
            let call = exchange(
                &format!("c{nth}"),
                "Edit",
                &format!(r#"{{"file_path":"/srv/app/part_{nth}.ts","old_string":"a","new_string":"b"}}"#),
                "ok",
                Outcome::Succeeded,
            );
            for message in call {
                work.context.push(message);
            }
            work.context.push(Message::assistant(format!("Part {nth} reads the ledger and is done.")));
            work.context.prepare().await.unwrap();
        }
        work.context.compact(None).await.ok();
        let rules = |text: &str| text.matches("Never rename the column").count();
        let first = work.summary();
        for _ in 0..3 {
            let made = work.context.propose(longhaul::Basis::Originals, None).await;
            match made {
                Ok(finished) => drop(work.context.accept(finished).await.unwrap()),
                Err(error) => {
                    assert!(error.to_string().contains("would say what it says"), "{preset}: {error}");
                    break;
                }
            }
            let text = work.summary();
            assert!(rules(&text) >= rules(&first), "{preset}:\n{first}\n\n{text}");
            assert!(text.len() * 10 >= first.len() * 9, "{preset}:\n{first}\n\n{text}");
        }
    }
}

// asserts 004-49
#[tokio::test]
async fn a_term_of_the_first_summary_is_still_there_after_the_second() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    begin(&mut work);
    while work.finished().is_empty() {
        work.talk(1, 100).await;
    }
    work.context.push(Message::user("Is TokenLedgerIndex renamed everywhere?"));
    while work.finished().len() < 2 {
        work.talk(1, 100).await;
    }
    assert!(work.summary().contains("TokenLedgerIndex"), "{}", work.sent());
}

// Edge cases.

// asserts 004-50
#[tokio::test]
async fn an_extremely_long_single_user_message_ends_in_a_view_that_fits() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    work.talk(6, 50).await;
    work.context.push(Message::user("word ".repeat(100_000)));
    let tokens = work.context.prepare().await.unwrap().tokens();
    assert!(tokens <= Tokens(WINDOW));
    assert_eq!(work.context.state().originals().len(), 7);
}

// asserts 004-50
#[tokio::test]
async fn a_request_that_is_cut_says_where_all_of_it_is() {
    for config in [Config::default()].into_iter().chain(Preset::ALL.map(Preset::config)) {
        // One has a form of lines, the other's summaries stay when what is below them is summarized.
        let points_nowhere = matches!(config.preset, Some(Preset::Rolling | Preset::Session));
        let mut work = Work::with(Config { mode: SummaryMode::Rules, ..config }, WINDOW, None);
        work.talk(6, 200).await;
        let asked = (0..9_000).map(|nth| format!("row {nth} is wrong, "));
        work.context
            .push(Message::user(format!("Mend these rows: {}and say so.", asked.collect::<String>())));
        work.context.prepare().await.unwrap();
        let cut = work.context.state().view().cut().expect("it does not fit");
        let sent = work.sent();
        assert!(sent.contains(" characters omitted; m6 has all of it …"), "{cut:?}: {sent}");
        let is_told = sent.contains("the user's message below, cut there; m6 has all of it");
        assert!(is_told || points_nowhere, "{cut:?}: {sent}");
    }
}

// asserts 004-51
#[tokio::test]
async fn a_rapid_burst_across_the_threshold_gives_one_summarization() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.context.state().tokens() < Tokens(7_700) {
        work.talk(1, 100).await;
    }
    for nth in 0..5 {
        work.context.push(Message::user(format!("Burst {nth} ").repeat(40)));
        work.context.prepare().await.unwrap();
    }
    assert_eq!(work.finished().len(), 1);
}

// asserts 004-52
#[tokio::test]
async fn a_model_with_a_small_context_compacts_several_times_up_to_the_depth_cap() {
    let mut work = Work::asking(Preset::Chain, 2_000, fine);
    work.talk(400, 40).await;
    let depths: Vec<_> = work.finished().iter().map(|finish| finish.depth).collect();
    assert!(depths.starts_with(&[0, 1, 2, 0]), "{depths:?}");
    assert!(depths.iter().all(|depth| *depth < 3));
    assert!(work.context.state().tokens() <= Tokens(2_000));
}

// asserts 004-54
/// Under the document's preset also a model with a window of 2,000 tokens is asked once for each summary.
#[tokio::test]
async fn a_model_with_a_small_window_is_asked_once_for_each_trigger() {
    let model = Arc::new(Scripted::new(fine));
    let window = longhaul::tokens::ContextWindow::new(Tokens(2_000), Tokens::ZERO);
    let mut session = written_by(&model, 2_000, Preset::Chain.config(), window);
    for nth in 0..300 {
        session.push(Message::user(
            format!("Part {nth} reads batch {} and writes its rows. ", nth * 3).repeat(4),
        ));
        session.prepare().await.unwrap();
    }
    let made = session.state().status(None).summary_count;
    assert!(made > 5);
    assert_eq!(model.calls() as u64, made);
}

// asserts 004-32
#[tokio::test]
async fn an_enormous_tail_is_made_smaller_but_never_below_two_messages() {
    // Six messages to keep, each of a sixth of the window: kept whole they would be above the trigger by themselves.
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    work.talk(10, 100).await;
    while work.finished().is_empty() {
        work.talk(1, 1_600).await;
    }
    let state = work.context.state();
    assert_eq!(work.finished().len(), 1, "one compaction is enough: the plan knows what it may keep");
    assert!(state.tokens() < state.limits().trigger, "{}", state.tokens());
    let sent = work.sent();
    let entries = state.originals().entries();
    let start = |at: usize| text(&entries[at].message).chars().take(40).collect::<String>();
    for at in entries.len() - 2..entries.len() {
        assert!(sent.contains(&start(at)), "message {at}");
    }
    assert!(!sent.contains(&text(&entries[entries.len() - 6].message)));
}

// asserts 004-31
#[tokio::test]
async fn a_second_pass_goes_one_deeper_where_the_first_left_too_much() {
    // Much is said while a summary is being written: what is applied then is above the trigger still.
    let config = Config {
        target_ratio: Threshold::Ratio(0.66),
        soft_ratio: Threshold::Ratio(0.67),
        reset_ratio: Threshold::Ratio(0.75),
        ..Preset::Chain.config()
    };
    let mut work = Work::with(config, WINDOW, None);
    let background = loop {
        let said = work.context.state().originals().len();
        work.context.push(Message::user(format!("Message {said} is about src/part_{said}.rs. ").repeat(12)));
        if let Some(background) = work.context.start_background() {
            break background;
        }
    };
    for nth in 0..22 {
        work.context.push(Message::user(format!("Meanwhile {nth} came for src/late_{nth}.rs. ").repeat(12)));
    }
    let draft = RulesSummarizer::default().summarize(background.job().request()).await.unwrap();
    work.context.finish_background(background, draft).await.unwrap();
    let limits = work.context.state().limits();
    let after_first = work.context.state().tokens();
    assert!(after_first >= limits.trigger, "{after_first} of {}", limits.trigger);
    work.context.prepare().await.unwrap();
    let finished = work.finished();
    assert_eq!(finished.len(), 2);
    assert!(matches!(finished[1].reason, Reason::SecondPass { .. }), "{:?}", finished[1]);
    assert_eq!((finished[0].depth, finished[1].depth), (0, 1));
    assert!(work.context.state().tokens() < limits.trigger);
    work.context.prepare().await.unwrap();
    assert_eq!(work.finished().len(), 2, "once");
}

// asserts 004-22, 004-53
#[tokio::test]
async fn tool_output_does_not_bloat_the_summary() {
    let log = "2025-01-01T00:00:00Z INFO served GET /health in 3 ms\n".repeat(150);
    let reminder =
        "<system-reminder>\nYour to-do list is empty. Never mention this to the user.\n</system-reminder>";
    for by_rule in [true, false] {
        let mut work = match by_rule {
            true => Work::new(Preset::Chain, WINDOW),
            false => Work::asking(Preset::Chain, WINDOW, fine),
        };
        work.context.push(Message::user(format!("Watch app.log.\n{reminder}")));
        for nth in 0..12 {
            for message in exchange(
                &format!("c{nth}"),
                "execute_bash",
                r#"{"command":"tail app.log"}"#,
                &log,
                Outcome::Unstated,
            ) {
                work.context.push(message);
            }
            work.context.prepare().await.unwrap();
        }
        assert!(!work.finished().is_empty());
        for finish in work.finished() {
            assert!(finish.summary_tokens <= Tokens(WINDOW / 10), "{finish:?}");
        }
        let served = work.summary().matches("served GET /health").count();
        assert!(served <= 2, "{}", work.summary());
        assert!(
            !work.summary().contains("to-do list is empty"),
            "what the harness says is noise: {}",
            work.summary()
        );
    }
}

// Observability and prompt.

// asserts 004-45, 004-55
#[tokio::test]
async fn every_summarization_is_an_event_with_reason_depth_and_ratio() {
    let mut work = Work::asking(Preset::Chain, WINDOW, fine);
    while work.finished().len() < 3 {
        work.talk(1, 100).await;
    }
    let events = work.events();
    let told = events.iter().filter_map(|event| match event {
        EventKind::Started { depth, .. } => Some(format!("started {depth}")),
        EventKind::Finished(finish) => Some(format!("finished {}", finish.depth)),
        _ => None,
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["started 0", "finished 0", "started 1", "finished 1", "started 2", "finished 2"]
    );
    for finish in work.finished() {
        assert!(matches!(finish.reason, Reason::Ratio { .. }));
        assert!((0.8..0.83).contains(&finish.ratio_before), "{finish:?}");
        assert!(
            (finish.ratio_after - finish.tokens_after.ratio_of(Tokens(WINDOW))).abs() < 1e-9,
            "{finish:?}"
        );
        assert!(finish.compressed_messages > 0 && finish.tokens_after < finish.tokens_before);
        assert_eq!(finish.cost.map(|cost| cost.calls), Some(1));
    }
}

// asserts 004-24, 004-34, 004-35
#[tokio::test]
async fn the_prompt_has_the_meta_header_and_stays_within_the_cap() {
    let mut work = Work::asking(Preset::Chain, 60_000, fine);
    while work.finished().len() < 2 {
        work.talk(1, 400).await;
    }
    let requests = work.model.as_ref().unwrap().requests();
    for (depth, request) in requests.iter().enumerate() {
        let at = request.user.find("<meta ").unwrap();
        let (meta, _) = request.user[at..].split_once('\n').unwrap();
        let numbers: Vec<u64> =
            meta.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
        let [messages, tokens, told_depth] = numbers[..] else { panic!("{meta}") };
        assert_eq!(
            meta,
            format!("<meta total_messages={messages} total_tokens={tokens} depth={told_depth} />")
        );
        assert!(messages > 60 && tokens > 20_000 && told_depth == depth as u64, "{meta}");
        assert!(request.user.len() / 4 < 12_000, "{} characters", request.user.len());
        assert!(request.system.starts_with(crate::documents::BASELINE), "{}", request.system);
        assert!(request.schema.is_some(), "the schema goes along");
    }
}

// asserts 004-07
#[tokio::test]
async fn a_refresh_comes_after_the_configured_number_of_messages() {
    let config = Config { force_refresh_after_messages: Some(20), ..Preset::Chain.config() };
    let mut work = Work::with(config, 100_000, None);
    work.talk(45, 60).await;
    let reasons: Vec<_> = work.finished().iter().map(|finish| finish.reason.as_str()).collect();
    assert_eq!(reasons, ["refresh", "refresh"]);
}

// asserts 000-17, 002-06, 004-08
#[tokio::test]
async fn a_model_with_too_small_a_window_is_passed_over() {
    use longhaul::{
        Session,
        summarize::SummarizerModel,
        tokens::{CharsPer4, ContextWindow},
        transcript::{FixedClock, NoJitter, NoSleep, SessionId},
    };
    let [tiny, large, other] = [(); 3].map(|()| Arc::new(Scripted::new(fine)));
    let models = vec![
        SummarizerModel::new("other", Tokens(100_000), Arc::clone(&other) as _),
        SummarizerModel::new("large", Tokens(100_000), Arc::clone(&large) as _),
        SummarizerModel::new("tiny", Tokens(300), Arc::clone(&tiny) as _),
    ];
    let summarizer_model_preference = vec!["tiny".into(), "large".into()];
    let mut context =
        Session::builder(SessionId::new("seed").unwrap(), ContextWindow::new(Tokens(WINDOW), Tokens::ZERO))
            .config(Config { summarizer_model_preference, ..Preset::Chain.config() })
            .counter(Arc::new(CharsPer4))
            .clock(Arc::new(FixedClock(0)))
            .models(models, Arc::new(NoSleep), Arc::new(NoJitter))
            .build()
            .unwrap();
    for nth in 0..160 {
        context.push(Message::user(format!("Message {nth} about src/part_{nth}.rs ").repeat(20)));
        context.prepare().await.unwrap();
    }
    assert_eq!((tiny.calls(), other.calls()), (0, 0));
    assert!(large.calls() > 1, "every time");
    assert_eq!(context.state().summary().unwrap().model, "large");
}
