//! What the design documents ask for in common, under each of their presets and under none.

use longhaul::{
    Basis, Config, Decision, Error, EventKind, Hold, Preset,
    compact::CompactError,
    config::Chaining,
    summarize::ClientError,
    transcript::{Message, Outcome, SummaryMode, Tokens},
};

use crate::work::{Work, exchange, text};

const WINDOW: u64 = 16_000;

/// The defaults, then the settings of each document, with a name to say where something failed.
fn each() -> impl Iterator<Item = (&'static str, Config)> {
    let presets = Preset::ALL.into_iter().map(|preset| (preset.as_str(), preset.config()));
    [("defaults", Config::default())].into_iter().chain(presets)
}

fn work(config: &Config) -> Work {
    Work::with(config.clone(), WINDOW, None)
}

/// Talks until something was compacted.
async fn until_compacted(work: &mut Work, tokens: usize) {
    for _ in 0..400 {
        if work.finished().is_empty() {
            work.talk(1, tokens).await;
        }
    }
    assert!(!work.finished().is_empty(), "nothing was compacted: {}", work.context.decide());
}

// asserts 003-13, all-01
#[tokio::test]
async fn under_each_preset_a_long_session_stays_whole_and_within_its_window() {
    for (preset, config) in each() {
        let mut work = work(&config);
        work.context.push(Message::system("You are a careful engineer."));
        work.context.push(Message::user(
            "Move the export in src/ledger/export.rs. Never touch the table audit_trail, and end before 04:30.",
        ));
        for _ in 0..60 {
            work.talk(4, 200).await;
            assert!(work.context.state().tokens() < Tokens(WINDOW), "{preset}");
        }
        let state = work.context.state();
        assert!(work.finished().len() >= 2, "{preset}: {:?}", work.finished().len());
        assert_eq!(state.originals().len(), 242, "{preset} loses nothing");
        let sent = work.sent();
        assert!(sent.starts_with("system: You are a careful engineer.\n"), "{preset}: {sent}");
        let newest = 242 - config.preserve_recent as usize;
        for entry in &state.originals().entries()[newest..] {
            let shown = state.view().messages().any(|message| **message == *entry.message);
            assert!(shown, "{preset}: {} is not as it was said", entry.id);
        }
        for told in ["src/ledger/export.rs", "audit_trail"] {
            assert!(sent.contains(told), "{preset} forgot {told}: {sent}");
        }
        let status = state.status(None);
        assert_eq!((status.full_message_count, status.total_tokens), (242, state.tokens()), "{preset}");
        assert_eq!(status.message_count, state.view().len() as u64, "{preset}");
        assert!(status.summary_count >= 1, "{preset}");
    }
}

// asserts 000-27, 002-37, all-03
#[tokio::test]
async fn under_each_preset_every_summary_is_announced_and_made_smaller() {
    for (preset, config) in each() {
        let mut work = work(&config);
        for _ in 0..800 {
            if work.finished().len() < 3 {
                work.talk(1, 150).await;
            }
        }
        // Announced, then made, one after the other.
        let told = work.events().into_iter().filter_map(|event| match event {
            EventKind::Started { reason, depth, .. } => Some(("started", reason, depth)),
            EventKind::Finished(finish) => Some(("finished", finish.reason, finish.depth)),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), 6, "{preset}: {told:?}");
        for pair in told.chunks(2) {
            let [("started", reason, depth), ("finished", made_for, made_at)] = pair else {
                panic!("{preset}: {told:?}")
            };
            assert_eq!((reason.as_str(), depth), (made_for.as_str(), made_at), "{preset}");
        }
        for finish in work.finished() {
            let is_smaller = finish.tokens_after < finish.tokens_before;
            assert!(finish.compressed_messages > 0 && is_smaller, "{preset}: {finish:?}");
        }
    }
}

// asserts all-04
#[tokio::test]
async fn under_each_preset_a_burst_after_a_compaction_gives_no_second_one() {
    for (preset, config) in each() {
        let mut work = work(&config);
        until_compacted(&mut work, 150).await;
        for nth in 0..5 {
            work.context.push(Message::user(format!("Burst {nth} ").repeat(20)));
            work.context.prepare().await.unwrap();
        }
        assert_eq!(work.finished().len(), 1, "{preset}");
    }
}

// asserts all-05
#[tokio::test]
async fn under_each_preset_a_full_window_is_dealt_with_at_once() {
    for (preset, config) in each() {
        let mut work = work(&config);
        until_compacted(&mut work, 150).await;
        // The next message alone fills most of the window, within any cooldown.
        work.context.push(Message::user("A long report. ".repeat(4_000)));
        let tokens = work.context.prepare().await.unwrap().tokens();
        assert!(tokens <= Tokens(WINDOW), "{preset}: {tokens}");
        assert_eq!(work.finished().len(), 2, "{preset}");
    }
}

// asserts all-06
#[tokio::test]
async fn under_each_preset_a_message_larger_than_the_window_ends_in_a_view_that_fits() {
    for (preset, config) in each() {
        let mut work = work(&config);
        work.talk(6, 50).await;
        work.context.push(Message::user("word ".repeat(60_000)));
        let tokens = work.context.prepare().await.unwrap().tokens();
        assert!(tokens <= Tokens(WINDOW), "{preset}: {tokens}");
        assert_eq!(text(&work.context.state().originals().entries()[6].message).len(), 300_000, "{preset}");
    }
}

// asserts 003-16, all-07
#[tokio::test]
async fn under_each_preset_a_long_tool_loop_is_kept_within_its_window() {
    let log = "2025-01-01T00:00:00Z INFO served GET /health in 3 ms\n".repeat(60);
    for (preset, config) in each() {
        let mut work = work(&config);
        work.context.push(Message::user("Watch the service and stop when src/serve.rs fails"));
        let mut kinds = std::collections::BTreeSet::new();
        for nth in 0..60 {
            let command = format!(r#"{{"command":"tail -n {nth} app.log"}}"#);
            for message in exchange(&format!("c{nth}"), "execute_bash", &command, &log, Outcome::Unstated) {
                work.context.push(message);
            }
            let tokens = work.context.prepare().await.unwrap().tokens();
            assert!(tokens <= Tokens(WINDOW), "{preset}: {tokens}");
        }
        for event in work.events() {
            match event {
                EventKind::Trimmed { .. } => _ = kinds.insert("soft"),
                EventKind::Finished(finish) => _ = kinds.insert(finish.reason.as_str()),
                _ => {}
            }
        }
        // Where there is a soft tier, it need not wait for an end of the turn that never comes.
        let has_soft_tier = !matches!(config.soft_action, longhaul::config::SoftAction::Off);
        assert_eq!(kinds.contains("soft"), has_soft_tier, "{preset}: {kinds:?}");
        assert!(work.sent().contains("src/serve.rs"), "{preset}: {}", work.sent());
        assert!(work.summary().matches("served GET /health").count() <= 3, "{preset}: {}", work.summary());
    }
}

// asserts 003-12, all-08
#[tokio::test]
async fn under_each_preset_a_model_that_fails_leaves_the_summary_to_the_rules() {
    for (preset, config) in each() {
        for mode in [SummaryMode::Llm, SummaryMode::Hybrid] {
            let config = Config { mode, ..config.clone() };
            let fails = |_: usize, _: &_| Err(ClientError::Transport { reason: "connection reset".into() });
            let mut work = Work::with(config, WINDOW, Some(Box::new(fails)));
            until_compacted(&mut work, 200).await;
            assert!(work.finished().iter().all(|finish| finish.mode == SummaryMode::Rules), "{preset}");
            assert!(!work.summary().is_empty(), "{preset}");
        }
    }
}

// asserts all-09
#[tokio::test]
async fn under_each_preset_no_secret_reaches_a_record() {
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    for (preset, config) in each() {
        let mut work = work(&config);
        work.context
            .push(Message::user(format!("Deploy with the token {secret} to the host web-3.internal")));
        until_compacted(&mut work, 150).await;
        let record = serde_json::to_string(&**work.context.state().summary().unwrap()).unwrap();
        assert!(!record.contains(&secret), "{preset}");
    }
}

// asserts all-10
#[tokio::test]
async fn under_each_preset_a_compaction_can_be_taken_back_and_put_back() {
    for (preset, config) in each() {
        let mut work = work(&config);
        work.talk(30, 100).await;
        assert!(work.finished().is_empty(), "{preset}");
        let before = work.sent();
        work.context.compact(None).await.unwrap();
        let after = work.sent();
        assert_ne!(before, after, "{preset}");
        assert!(work.context.undo().await.unwrap(), "{preset}");
        assert_eq!(work.sent(), before, "{preset}");
        assert!(work.context.redo().await.unwrap(), "{preset}");
        assert_eq!(work.sent(), after, "{preset}");
    }
}

// asserts 000-11, 002-20
#[tokio::test]
async fn under_each_preset_nothing_new_is_not_summarized_again() {
    for (preset, config) in each() {
        let mut work = work(&config);
        work.talk(30, 100).await;
        work.context.compact(None).await.unwrap();
        let refused = work.context.compact(None).await.unwrap_err();
        let (before, record) = (work.sent(), work.context.state().summary().cloned());
        let is_told = |error: &Error| matches!(error, Error::Compact(CompactError::NothingNew));
        assert!(is_told(&refused), "{preset}: {refused:?}");
        let refused = work.context.propose(Basis::Summary, None).await.unwrap_err();
        assert!(is_told(&refused), "{preset}: {refused:?}");
        assert_eq!(work.sent(), before, "{preset}");
        assert_eq!(work.context.state().summary().cloned(), record, "{preset}");
        // Once something was said it is summarized, once.
        work.talk(12, 100).await;
        work.context.compact(None).await.unwrap();
        let refused = work.context.compact(None).await.unwrap_err();
        assert!(is_told(&refused), "{preset}: {refused:?}");
    }
}

// asserts 001-02, all-11
#[tokio::test]
async fn under_each_preset_it_can_be_switched_off() {
    for (preset, config) in each() {
        let mut work = work(&Config { enabled: false, ..config });
        work.talk(60, 200).await;
        assert!(work.finished().is_empty(), "{preset}");
        assert_eq!(work.context.decide(), Decision::Hold(Hold::Disabled), "{preset}");
    }
}

// asserts 002-27
#[tokio::test]
async fn under_each_preset_one_compaction_by_hand_after_another_is_what_was_shown_before() {
    let append = Config { chaining: Chaining::Append, ..Config::default() };
    let mut wrong = Vec::new();
    for (preset, config) in each().chain([("append", append)]) {
        for tokens in [40, 150, 600] {
            let mut work = Work::with(config.clone(), 100_000, None);
            work.context.push(Message::system("You are a careful engineer. Ask before you push."));
            work.talk(30, tokens).await;
            for nth in 0..4 {
                let shown = match work.context.propose(Basis::Summary, None).await {
                    Ok(shown) => shown,
                    Err(error) => {
                        wrong.push(format!("{preset}, {tokens}, {nth}: {error}"));
                        break;
                    }
                };
                let promised = shown.outcome().tokens_after;
                let checked = work.context.state().check(&shown);
                match work.context.accept(shown).await {
                    Ok(done) if done.outcome.tokens_after == promised => {}
                    Ok(done) => wrong.push(format!(
                        "{preset}, {tokens}, {nth}: {} and not {promised} ({checked:?})",
                        done.outcome.tokens_after
                    )),
                    Err(error) => wrong.push(format!("{preset}, {tokens}, {nth}, accepted: {error}")),
                }
                work.talk(14, tokens).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
