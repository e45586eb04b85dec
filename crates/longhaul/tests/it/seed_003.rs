//! Seed 003, "Context Management and Message Summarization": preset `two-tier`.

use longhaul::{
    Config, Preset, Reason,
    config::Threshold,
    summarize::Scripted,
    tokens::{CharsPer4, TokenCounter},
    transcript::{Message, Outcome, SummaryMode, Tokens},
};

use crate::work::{Work, exchange, text};

const WINDOW: u64 = 200_000;

/// What the model says: prose, as the document's prompt asks for, and borne out by the conversation.
const SAID: &str =
    "Task progress: src/part_2.rs was discussed, with its limit of 20 ms. Current focus: src/part_3.rs.";

/// A tenth of the document's thresholds, so that a test reaches them soon.
fn a_tenth() -> Config {
    let tokens = |n| Threshold::Tokens(Tokens(n));
    Config {
        soft_ratio: tokens(8_000),
        trigger_ratio: tokens(12_000),
        reset_ratio: tokens(10_500),
        target_ratio: tokens(6_000),
        ..Preset::TwoTier.config()
    }
}

// asserts 003-01
#[test]
fn tokens_are_estimated_at_four_characters_each() {
    for (text, tokens) in [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2)] {
        assert_eq!(CharsPer4.count_text(text), Tokens(tokens));
    }
}

// asserts 003-02, 003-03
#[tokio::test]
async fn the_first_tier_summarizes_by_rule_at_80k_without_a_model() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    while work.finished().is_empty() {
        assert!(work.context.state().tokens() < Tokens(80_000));
        work.talk(2, 1_500).await;
    }
    let finish = &work.finished()[0];
    assert_eq!(finish.reason.as_str(), "soft");
    assert_eq!((finish.mode, work.calls()), (SummaryMode::Rules, 0));
    assert!(finish.tokens_before >= Tokens(80_000) && finish.tokens_before < Tokens(84_000));
}

// asserts 003-18
#[tokio::test]
async fn the_first_tier_acts_within_a_long_tool_loop_too() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    work.context.push(longhaul::transcript::Message::user("Read every module and find the deadlock"));
    for nth in 0.. {
        let path = format!(r#"{{"path":"src/module_{nth}.rs"}}"#);
        let content = format!("fn module_{nth}() {{ lock_{nth}(); }}\n").repeat(200);
        for message in exchange(&format!("c{nth}"), "read_file", &path, &content, Outcome::Unstated) {
            work.context.push(message);
        }
        work.context.prepare().await.unwrap();
        if !work.finished().is_empty() {
            break;
        }
        assert!(work.context.state().tokens() < Tokens(82_000), "{}", work.context.decide());
    }
    let finish = &work.finished()[0];
    assert_eq!((finish.reason.as_str(), finish.mode, work.calls()), ("soft", SummaryMode::Rules, 0));
}

// asserts 003-04, 003-19
#[tokio::test]
async fn the_second_tier_asks_the_model_at_120k() {
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    // A single prompt carries the context past both thresholds, as a large paste does.
    work.talk(12, 6_000).await;
    assert!(work.finished().is_empty());
    work.talk(1, 50_000).await;
    let finish = &work.finished()[0];
    assert!(matches!(finish.reason, Reason::Ratio { trigger: Tokens(120_000), .. }), "{finish:?}");
    assert_eq!(finish.mode, SummaryMode::Llm);
    assert_eq!(work.calls(), 1);
    assert!(finish.summary_tokens <= Tokens(2_000));
}

// asserts 003-05
#[tokio::test]
async fn the_last_eight_messages_stay_intact() {
    // Also where they take more than a tail of the defaults would.
    for tokens in [1_500, 5_000, 6_500] {
        let mut work = Work::new(Preset::TwoTier, WINDOW);
        while work.finished().len() < 2 {
            let before = work.finished().len();
            work.talk(1, tokens).await;
            if work.finished().len() == before {
                continue;
            }
            let sent = work.sent();
            let entries = work.context.state().originals().entries();
            for entry in &entries[entries.len() - 8..] {
                assert!(sent.contains(&text(&entry.message)), "{tokens}: {}", entry.id);
            }
        }
    }
}

// asserts 003-05
#[tokio::test]
async fn the_last_eight_stay_intact_also_where_they_are_large_results_of_tools() {
    for (tokens, least) in [(2_000, 8), (9_000, 8), (12_500, 8), (16_000, 6)] {
        let mut work = Work::new(Preset::TwoTier, WINDOW);
        work.context
            .push(Message::user("Read every module, one after the other, and tell me about its locks."));
        for nth in 0.. {
            let path = format!(r#"{{"path":"src/module_{nth}.rs"}}"#);
            let line = format!("fn module_{nth}() {{ lock_{nth}(); }}\n");
            let content = line.repeat(tokens * 4 / line.len());
            for message in exchange(&format!("c{nth}"), "read_file", &path, &content, Outcome::Succeeded) {
                work.context.push(message);
            }
            let before = work.finished().len();
            work.context.prepare().await.unwrap();
            if work.finished().len() > before {
                let state = work.context.state();
                let entries = state.originals().entries();
                let is_shown = |message: &Message| state.view().messages().any(|shown| **shown == *message);
                let stay = entries.iter().rev().take_while(|entry| is_shown(&entry.message)).count();
                assert!(stay >= least, "{tokens}: {stay} stay in {} tokens", state.tokens());
            }
            if work.finished().len() == 3 {
                break;
            }
        }
    }
}

// asserts 003-06, 003-09
#[tokio::test]
async fn few_words_of_a_model_do_not_take_the_place_of_tools_files_and_commands() {
    let mut work = Work::with(
        a_tenth(),
        20_000,
        Some(Box::new(|_, _| Ok(Scripted::says("- The locks are being read.")))),
    );
    work.context.push(Message::user("Read the locks of each module and set their timeouts to one second."));
    for nth in 0.. {
        let edit = format!(r#"{{"file_path":"src/module_{nth}.rs","old_string":"a","new_string":"b"}}"#);
        let test = format!(r#"{{"command":"cargo test -p module_{nth}"}}"#);
        let output = format!("the lock {nth} of module_{nth} is held for {nth}0 ms\n").repeat(20);
        let edited = exchange(&format!("e{nth}"), "Edit", &edit, "The file was updated.", Outcome::Succeeded);
        let tested = exchange(&format!("t{nth}"), "Bash", &test, &output, Outcome::Succeeded);
        edited.into_iter().chain(tested).for_each(|message| {
            work.context.push(message);
        });
        work.context.prepare().await.unwrap();
        if work.finished().last().is_some_and(|finish| finish.mode == SummaryMode::Llm) {
            break;
        }
    }
    let record = work.context.state().summary().unwrap().clone();
    for line in ["- The locks are being read.", "Tools used: ", "Files explored: ", "Commands run: "] {
        assert!(record.text.contains(line), "{line}: {}", record.text);
    }
    let told = longhaul::notice(&record).unwrap();
    let named = told.split(['(', ' ', ',', ')']).filter(|word| word.starts_with("src/module_"));
    assert!(named.clone().count() > 0 && named.clone().all(|path| record.text.contains(path)), "{told}");
}

// asserts 003-15
#[tokio::test]
async fn eight_messages_or_fewer_are_not_summarized() {
    let mut work = Work::new(Preset::TwoTier, WINDOW);
    work.talk(8, 14_000).await;
    assert!(work.finished().is_empty());
    work.talk(1, 14_000).await;
    assert_eq!(work.finished().len(), 1);
}

// asserts 003-11
#[tokio::test]
async fn unchanged_content_is_not_summarized_twice() {
    // A session without a store.
    let mut work = Work::asking(Preset::TwoTier, WINDOW, |_, _| Ok(Scripted::says(SAID)));
    work.talk(20, 1_000).await;
    let first = work.context.compact(None).await.unwrap().record.unwrap();
    assert_eq!((first.mode, work.calls()), (SummaryMode::Llm, 1));
    assert!(work.context.undo().await.unwrap());
    let again = work.context.compact(None).await.unwrap().record.unwrap();
    assert_eq!((&again.text, work.calls()), (&first.text, 1), "nobody is asked for the same again");
    // What is new is summarized with one call more.
    work.talk(20, 1_000).await;
    work.context.compact(None).await.unwrap();
    assert_eq!(work.calls(), 2);
}

// asserts 003-11, 003-19
#[tokio::test]
async fn a_model_reads_once_what_its_summaries_stand_for() {
    let mut work = Work::with(a_tenth(), WINDOW, Some(Box::new(|_, _| Ok(Scripted::says(SAID)))));
    for nth in 0..60 {
        // Results that are shortened in the tail before they are summarized.
        let path = format!(r#"{{"path":"src/module_{nth}.rs"}}"#);
        let content = format!("fn module_{nth}() {{ lock_{nth}(); }}\n").repeat(60);
        for message in exchange(&format!("c{nth}"), "read_file", &path, &content, Outcome::Unstated) {
            work.context.push(message);
        }
        work.context.prepare().await.unwrap();
        work.talk(2, 100).await;
    }
    let by_model: Vec<_> =
        work.finished().into_iter().filter(|finish| finish.mode == SummaryMode::Llm).collect();
    let by_rule = work.finished().len() - by_model.len();
    assert!(by_model.len() > 1 && by_rule > 1, "{} by a model, {by_rule} by rule", by_model.len());
    assert!(work.finished().iter().skip(1).any(|finish| finish.depth == 0), "a chain begins anew");
    assert_eq!(work.calls(), by_model.len(), "one call a summary");
    let requests = work.model.as_ref().unwrap().requests();
    let shown = |ordinal: u64| {
        let heads = ["user", "assistant", "tool"].map(|role| format!(" m{ordinal} {role}]"));
        let is_in = |text: &str| heads.iter().any(|head| text.contains(head));
        requests.iter().filter(|request| is_in(&request.user)).count()
    };
    let last = (0..work.context.state().originals().len() as u64).rfind(|at| shown(*at) > 0).unwrap();
    assert!(last > 100, "m{last}");
    for ordinal in 0..=last {
        assert_eq!(shown(ordinal), 1, "m{ordinal} of m{last}");
    }
}

// asserts 003-04, 003-05
#[tokio::test]
async fn a_long_task_comes_to_the_second_tier_although_the_first_condenses_it() {
    let mut work = Work::with(a_tenth(), WINDOW, Some(Box::new(|_, _| Ok(Scripted::says(SAID)))));
    for _ in 0..180 {
        if work.talk(1, 100).await == 0 {
            continue;
        }
        // The last eight, whichever tier acted.
        let sent = work.sent();
        let entries = work.context.state().originals().entries();
        for entry in &entries[entries.len() - 8..] {
            assert!(sent.contains(&text(&entry.message)), "{} after {:?}", entry.id, work.finished().last());
        }
    }
    let reasons: Vec<_> = work.finished().iter().map(|finish| finish.reason.as_str()).collect();
    assert_eq!(reasons.first(), Some(&"soft"), "{reasons:?}");
    let asked = reasons.iter().filter(|reason| **reason == "ratio").count();
    assert!(asked > 0 && work.calls() == asked, "{reasons:?}: {} calls", work.calls());
}

#[tokio::test]
async fn a_small_window_gets_thresholds_it_can_reach() {
    let mut work = Work::new(Preset::TwoTier, 16_000);
    assert!(work.talk(200, 300).await > 0);
    assert!(work.context.state().limits().adjusted);
    assert!(work.context.state().tokens() <= Tokens(16_000));
}

// asserts 003-18
#[tokio::test]
async fn what_a_short_summary_leaves_of_the_target_goes_to_the_messages_that_stay() {
    let mut work = Work::with(
        a_tenth(),
        WINDOW,
        Some(Box::new(|_, _| {
            Ok(Scripted::says("src/module_2.rs was read. Current focus: src/module_3.rs."))
        })),
    );
    work.context.push(longhaul::transcript::Message::user("Read every module and find the deadlock"));
    for nth in 0..90 {
        let path = format!(r#"{{"path":"src/module_{nth}.rs"}}"#);
        let content = format!("fn module_{nth}() {{ lock_{nth}(); }}\n").repeat(40);
        for message in exchange(&format!("c{nth}"), "read_file", &path, &content, Outcome::Unstated) {
            work.context.push(message);
        }
        work.context.prepare().await.unwrap();
    }
    let finished = work.finished();
    let by_model = finished.iter().filter(|finish| finish.mode == SummaryMode::Llm);
    let sizes: Vec<u64> = by_model.map(|finish| finish.tokens_after.0).collect();
    assert_eq!(sizes.len(), work.calls());
    assert!(sizes.len() > 1 && sizes.iter().all(|tokens| (5_000..=6_000).contains(tokens)), "{sizes:?}");
}
