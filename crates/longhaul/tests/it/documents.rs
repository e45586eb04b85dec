//! What the design documents give literally: values of settings, the words of prompts, the forms of summaries.

use std::sync::{Arc, Mutex};

use longhaul::{
    Config, Error, EventKind, Preset, Session,
    compact::CompactError,
    config::{Chaining, OnMaxDepth, Oversize, RatioBase, SoftAction, SummaryLimit, SummaryRole, Threshold},
    summarize::{CompletionClient, CompletionRequest, Scripted, prompt},
    tokens::{CharsPer4, ContextWindow},
    transcript::{FixedClock, Message, NoJitter, NoSleep, Outcome, SessionId, SummaryMode, Tokens},
};

use crate::work::{Script, Work, answer, exchange, text, written_by};

// asserts 000-06, 000-07, 002-17, 004-01, 004-03, 004-05
#[test]
fn the_documents_settings_have_the_documents_values() {
    let ratio = Threshold::Ratio;
    let tokens = |n| Threshold::Tokens(Tokens(n));

    let manager = Preset::ContextManager.config();
    assert_eq!(manager.max_context_tokens, Some(Tokens(180_000)));
    assert_eq!((manager.trigger_ratio, manager.ratio_base), (ratio(0.8), RatioBase::Window));
    assert_eq!((manager.preserve_recent, manager.preserve_system), (10, true));
    assert_eq!(manager.max_summary_tokens, SummaryLimit::Tokens(Tokens(2_000)));
    assert_eq!((manager.mode, manager.summary_role), (SummaryMode::Hybrid, SummaryRole::System));
    assert!(manager.limits(Tokens(180_000), Tokens(180_000)).target < Tokens(150_000));
    for (model, used) in [(128_000, 128_000), (200_000, 180_000)] {
        let window = ContextWindow::new(Tokens(model), Tokens::ZERO);
        assert_eq!(manager.window(window).window, Tokens(used));
    }

    let rolling = Preset::Rolling.config();
    assert_eq!(
        (rolling.enabled, rolling.mode, rolling.preserve_error_details),
        (true, SummaryMode::Rules, true)
    );
    assert_eq!(rolling.max_summary_tokens, SummaryLimit::Tokens(Tokens(500)));
    assert_eq!((rolling.max_summary_share, rolling.oversize), (Some(0.1), Oversize::Rules));
    assert_eq!((rolling.chaining, rolling.transcript_cap_tokens), (Chaining::Running, Some(Tokens(1_000))));
    assert_eq!(rolling.header(7), "[Previous Conversation Summary]");

    let session = Preset::Session.config();
    assert_eq!((session.enabled, session.trigger_messages, session.preserve_recent), (true, Some(50), 10));
    assert_eq!((session.target_compression, session.preserve_system), (Some(0.3), true));
    assert_eq!(session.max_summary_tokens, SummaryLimit::Tokens(Tokens(1_000)));
    assert_eq!(session.header(41), "[Previous conversation summarized - 41 messages]");

    let two_tier = Preset::TwoTier.config();
    assert_eq!((two_tier.soft_ratio, two_tier.trigger_ratio), (tokens(80_000), tokens(120_000)));
    assert_eq!((two_tier.soft_action, two_tier.preserve_recent), (SoftAction::SummarizeRules, 8));
    assert_eq!((two_tier.min_messages, two_tier.mode), (9, SummaryMode::Llm));
    assert_eq!(two_tier.max_summary_tokens, SummaryLimit::Tokens(Tokens(2_000)));

    let chain = Preset::Chain.config();
    assert_eq!((chain.enabled, chain.min_messages, chain.preserve_recent), (true, 12, 6));
    assert_eq!((chain.trigger_ratio, chain.reset_ratio), (ratio(0.8), ratio(0.7)));
    assert_eq!((chain.ratio_base, chain.soft_action), (RatioBase::Window, SoftAction::Off));
    assert_eq!((chain.max_summary_chain_depth, chain.on_max_depth), (3, OnMaxDepth::Halt));
    assert_eq!((chain.cooldown_messages, chain.abort_on_failure), (4, false));
    assert_eq!(
        (chain.force_refresh_after_messages, chain.transcript_cap_tokens),
        (None, Some(Tokens(8_000)))
    );
    assert_eq!(chain.summary_role, SummaryRole::System);
}

/// Each document's prompt, up to where the conversation comes.
const PROMPTS: [(Preset, &str); 4] = [
    (
        Preset::ContextManager,
        "Summarize this conversation transcript, preserving:
1. Key decisions made
2. Important technical details (file paths, code snippets, errors)
3. Current task/goal state
4. Any pending questions or blockers

Be concise but comprehensive. Format as structured notes.

Transcript:
",
    ),
    (
        Preset::Rolling,
        "Summarize the following conversation context concisely.
Focus on:
1. What files were read/modified
2. What operations succeeded or failed
3. Key decisions or findings
4. Current state of the task

Keep the summary under {maxTokens} tokens. Be factual and brief.

Context to summarize:
",
    ),
    (
        Preset::Session,
        "Summarize this conversation segment concisely.
Focus on:
1. What the user was trying to accomplish
2. What actions were taken (files changed, commands run)
3. Any important decisions or discoveries
4. Current state at the end of this segment

Keep the summary focused and technical. Use bullet points.

Conversation:
",
    ),
    (
        Preset::TwoTier,
        "Create a detailed, structured summary that includes:
1. Task Progress: What has been accomplished so far?
2. Key Decisions: Important choices made and why
3. Files & Changes: What files were created, modified, or read?
4. Errors & Solutions: Any errors and how they were resolved
5. Current Focus: What was the agent working on most recently?
6. Important Context: Domain-specific knowledge discovered
",
    ),
];

/// 004's baseline, which stands before every prompt that asks for a record.
pub(crate) const BASELINE: &str = "You are an expert conversation summarizer. Produce a STRICT JSON object ONLY matching the provided schema. No markdown, no commentary.
Preserve:
- Technical identifiers (filenames, class names, function signatures) verbatim.
- Concrete numbers, dates, versions.
If an element is absent, use an empty array instead of fabricating.
Do NOT add information not present in the source.
";

// asserts 000-15, 000-16, 001-18, 002-16, 003-14, 004-34
#[tokio::test]
async fn the_documents_prompts_are_asked_word_for_word() {
    for (preset, words) in PROMPTS {
        let asked = Config { mode: SummaryMode::Llm, ..preset.config() }.llm_options().custom_prompt.unwrap();
        assert!(asked.starts_with(words), "{preset}: {asked}");
        assert!(asked.contains("{context}"), "{preset}: {asked}");
    }
    // And so they are asked.
    for (preset, words) in PROMPTS {
        let config = Config { mode: SummaryMode::Llm, oversize: Oversize::MapReduce, ..preset.config() };
        let config = Config { transcript_cap_tokens: None, soft_action: SoftAction::Off, ..config };
        let mut work = worked(config, 16_000, Some(SAID)).await;
        let asked = work.model.take().unwrap().requests().remove(0);
        let limit = asked.max_tokens.0;
        let (before, data) = asked.user.split_once("The conversation stands between").unwrap();
        assert!(data.contains("Move the export in src/ledger/export.rs."), "{preset}");
        if preset != Preset::TwoTier {
            assert!(data.ends_with("\n\nSummary:\n") || data.ends_with("\n\nSummary:"), "{preset}: {data}");
        }
        // Wherever the prompt names no limit, the instructions do.
        let told: u64 = format!("{}{}", asked.system, before)
            .split("Keep the summary under ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .and_then(|limit| limit.parse().ok())
            .unwrap_or_else(|| panic!("{preset} names no limit: {}", asked.system));
        assert!(told >= 200 && told * 2 <= limit && limit <= told * 2 + 200, "{preset}: {told} of {limit}");
        assert!(before.starts_with(&words.replace("{maxTokens}", &told.to_string())), "{preset}: {before}");
    }
    // The baseline stands before the prompt that asks for a record.
    assert!(prompt::SYSTEM.starts_with(BASELINE), "{}", prompt::SYSTEM);
    assert_eq!(Preset::Chain.config().llm_options().custom_prompt, None, "which asks with the baseline");
}

// asserts 000-16, 001-22, 002-17, 003-10
#[tokio::test]
async fn what_a_model_is_told_fits_into_what_its_provider_lets_it_write() {
    let presets = [
        (Preset::ContextManager, 2_000),
        // Of 500 the running summary leaves room for the next.
        (Preset::Rolling, 340),
        (Preset::Session, 1_000),
        (Preset::TwoTier, 2_000),
        (Preset::Chain, 0),
    ];
    for window in [None, Some(4_000), Some(8_000), Some(16_000), Some(128_000)] {
        for (preset, allowed) in presets {
            let config = Config {
                mode: SummaryMode::Llm,
                oversize: Oversize::MapReduce,
                transcript_cap_tokens: None,
                max_context_tokens: None,
                max_summary_share: None,
                soft_action: SoftAction::Off,
                summarizer_model_preference: vec!["nobody-knows-it".to_owned()],
                ..preset.config()
            };
            let model = Arc::new(Scripted::always(SAID));
            let client = Arc::clone(&model) as Arc<dyn CompletionClient>;
            let models = config.summarizer_models(&client, window.map(Tokens));
            let mut context = Session::builder(
                SessionId::new("told").unwrap(),
                ContextWindow::new(Tokens(60_000), Tokens::ZERO),
            )
            .config(config)
            .counter(Arc::new(CharsPer4))
            .clock(Arc::new(FixedClock(0)))
            .models(models, Arc::new(NoSleep), Arc::new(NoJitter))
            .build()
            .unwrap();
            for nth in 0..60 {
                context
                    .push(Message::user(format!("src/part_{nth}.rs has a limit of {nth}0 ms. ").repeat(100)));
            }
            context.compact(None).await.unwrap();
            let asked = model.requests().remove(0);
            let told: u64 = format!("{}{}", asked.system, asked.user)
                .split("under ")
                .find_map(|rest| rest.split_once(" tokens")?.0.parse().ok())
                .unwrap_or_else(|| panic!("{preset} names no limit: {}", asked.system));
            let most = asked.max_tokens.0;
            assert!(told * 2 <= most && most <= told * 2 + 200, "{preset} at {window:?}: {told} of {most}");
            let window = window.unwrap_or(8_192);
            assert!(most <= window / 2, "{preset} at {window}: {most}");
            // From 8,000 on a document's limit is not cut down.
            if window >= 8_000 {
                assert!(told >= allowed * 17 / 20, "{preset} at {window}: {told} of {allowed}");
            }
        }
    }
}

/// What the scripted model says under a preset whose document asks for prose.
const SAID: &str = "- The user wants src/ledger/export.rs moved; audit_trail is not to be touched.\n- src/part_12.rs has a limit of 120 ms.";

/// A session of a few exchanges and much talk, until it was summarized.
async fn worked(config: Config, window: u64, says: Option<&'static str>) -> Work {
    worked_in(config, window, says, 150).await
}

/// The same, with messages of about `tokens` tokens.
async fn worked_in(config: Config, window: u64, says: Option<&'static str>, tokens: usize) -> Work {
    let says = says.filter(|_| config.mode != SummaryMode::Rules);
    let script = says.map(|says| Box::new(move |_: usize, _: &_| Ok(Scripted::says(says))) as Box<_>);
    let mut work = Work::with(config, window, script);
    work.context.push(Message::user(
        "Move the export in src/ledger/export.rs. Never touch the table audit_trail, and end before 04:30.",
    ));
    let calls = [
        ("read_file", r#"{"path":"src/ledger/export.rs"}"#, "pub fn export() {}\n", Outcome::Succeeded),
        ("edit_file", r#"{"path":"src/ledger/export.rs","old":"a","new":"b"}"#, "ok", Outcome::Succeeded),
        (
            "execute_bash",
            r#"{"command":"cargo test -p ledger"}"#,
            "error[E0308]: mismatched types\n  --> src/ledger/export.rs:4:2\nexit code: 101",
            Outcome::Failed,
        ),
        (
            "web_search",
            r#"{"query":"rust e0308 return type"}"#,
            "https://doc.rust-lang.org/error_codes/E0308.html",
            Outcome::Succeeded,
        ),
    ];
    for (nth, (tool, arguments, output, outcome)) in calls.into_iter().enumerate() {
        for message in exchange(&format!("c{nth}"), tool, arguments, output, outcome) {
            work.context.push(message);
        }
    }
    work.context.push(Message::assistant("We decided to use a streaming writer in src/ledger/export.rs."));
    while work.finished().is_empty() {
        work.talk(1, tokens).await;
    }
    work
}

fn position(text: &str, line: &str) -> usize {
    let at = text.find(line);
    assert!(at.is_some(), "no {line:?} in {text}");
    at.unwrap()
}

// asserts 000-19, 000-21
#[tokio::test]
async fn a_hybrid_summary_has_the_documents_sections() {
    let work = worked(Preset::ContextManager.config(), 16_000, Some(SAID)).await;
    let text = work.summary();
    let headings = [
        "## Files Referenced\n",
        "## Commands Executed\n",
        "## Errors Encountered\n",
        "## Conversation Summary\n",
    ];
    let at = headings.map(|heading| position(&text, heading));
    assert!(at.is_sorted() && at[0] == 0, "{text}");
    let section = |nth: usize| &text[at[nth]..at.get(nth + 1).copied().unwrap_or(text.len())];
    assert!(section(0).contains("src/ledger/export.rs"), "{text}");
    assert!(section(1).contains("cargo test -p ledger"), "{text}");
    assert!(section(2).contains("error[E0308]: mismatched types"), "{text}");
    assert!(section(3).contains("src/part_12.rs has a limit of 120 ms."), "{text}");
    assert!(section(3).contains("audit_trail"), "{text}");
}

// asserts 000-16
#[tokio::test]
async fn a_models_words_are_not_cut_for_the_lists() {
    // 1,300 tokens of notes, each borne out by the conversation.
    let notes: String = (12..80)
        .map(|nth| {
            format!(
                "- src/part_{nth}.rs has a limit of {nth}0 ms, as was said in the discussion of part {nth}.\n"
            )
        })
        .collect();
    let last = "- src/part_79.rs has a limit of 790 ms";
    let says: &'static str = notes.leak();
    let work =
        worked(Config { max_context_tokens: None, ..Preset::ContextManager.config() }, 60_000, Some(says))
            .await;
    let text = work.summary();
    assert!(work.finished()[0].cost.is_some(), "{text}");
    let shown = text.lines().filter(|line| line.contains("as was said in the discussion")).count();
    assert!(text.contains(last), "asked for last, and still there: {text}");
    assert_eq!(shown, 68, "{text}");
    assert!(work.finished()[0].summary_tokens <= Tokens(2_000));
}

// asserts 000-16, 002-17, 003-10
#[tokio::test]
async fn a_model_that_keeps_to_what_it_was_told_is_not_cut() {
    for (preset, mode, window, n_rules) in [
        (Preset::ContextManager, SummaryMode::Llm, 60_000, 0),
        (Preset::ContextManager, SummaryMode::Hybrid, 60_000, 40),
        (Preset::Rolling, SummaryMode::Llm, 24_000, 12),
        (Preset::Session, SummaryMode::Llm, 60_000, 0),
        (Preset::Session, SummaryMode::Hybrid, 128_000, 40),
        (Preset::TwoTier, SummaryMode::Llm, 200_000, 40),
        (Preset::TwoTier, SummaryMode::Hybrid, 200_000, 0),
    ] {
        // It writes as much as it was told, to the line; each is borne out by the conversation.
        let line =
            |nth: usize| format!("- src/part_{nth}.rs has a limit of {nth}0 ms, as was said of part {nth}.");
        let said = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&said);
        let script = move |_: usize, request: &CompletionRequest| {
            let asked = format!("{}{}", request.system, request.user);
            let (_, rest) = asked.split_once("Keep the summary under ").unwrap();
            let told: usize = rest.split(' ').next().unwrap().parse().unwrap();
            let mut text = String::from("The parts were discussed:");
            for nth in 22 + 2 * n_rules.. {
                if text.len() + line(nth).len() >= told * 4 {
                    break;
                }
                text = format!("{text}\n{}", line(nth));
            }
            text.clone_into(&mut log.lock().unwrap());
            Ok(Scripted::says(text))
        };
        let soft_action = SoftAction::Off;
        // Enough is said for so many lines.
        let trigger_messages = preset.config().trigger_messages.map(|_| 150);
        let config = Config {
            mode,
            soft_action,
            trigger_messages,
            max_context_tokens: None,
            transcript_cap_tokens: None,
            ..preset.config()
        };
        let mut work = Work::with(config, window, Some(Box::new(script)));
        let task = "Never touch the table audit_trail. Move src/ledger/export.rs, part by part.";
        work.context
            .push(Message::user(format!("{task} {}", "Each part is read and written anew. ".repeat(40))));
        for nth in 0..10 {
            let command = format!(r#"{{"command":"make part_{nth}"}}"#);
            let output = format!("error: part_{nth} has no rule of its own\nexit code: 1");
            for message in exchange(&format!("c{nth}"), "execute_bash", &command, &output, Outcome::Failed) {
                work.context.push(message);
            }
        }
        for nth in 0..n_rules {
            work.context
                .push(Message::user(format!("Never touch the table archive_{nth} while you move it.")));
            work.context.push(Message::assistant("It stays as it is."));
        }
        while work.finished().is_empty() {
            work.talk(1, 300).await;
        }
        let (said, text) = (said.lock().unwrap().clone(), work.summary());
        let shown = said.lines().filter(|line| text.contains(line)).count();
        assert!(said.lines().count() > 5, "{preset} {mode:?}: the model was asked");
        assert_eq!(
            shown,
            said.lines().count(),
            "{preset}, {mode:?}: {} of {}: {text}",
            text.len(),
            said.len()
        );
        let told =
            (0..n_rules).filter(|nth| text.contains(&format!("the table archive_{nth} while"))).count();
        // Of the words nothing is left out; of the rules it is told how many are.
        let is_rules = |what: &str| told < n_rules && what.ends_with("rules of the user left out: no room");
        let is_left_out = |event: &EventKind| matches!(event, EventKind::LeftOut { what } if !is_rules(what));
        let left_out = work.events().into_iter().find(is_left_out);
        assert_eq!(left_out, None, "{preset}, {mode:?}");
        // The rules have room of their own, whatever the model writes.
        assert!(told >= n_rules.min(8), "{preset}, {mode:?}: {told} of {n_rules} rules: {text}");
        // However long it is, what the user set out for is told.
        assert!(work.sent().contains("Move src/ledger/export.rs"), "{preset}, {mode:?}: {text}");
    }
}

// asserts 000-16
#[tokio::test]
async fn of_more_words_than_the_document_allows_the_beginning_and_the_newest_stay() {
    let line = |nth: usize| {
        let (part, again) = (12 + nth % 80, if nth < 80 { "" } else { ", and again" });
        format!(
            "- src/part_{part}.rs has a limit of {part}0 ms, as was said in the discussion of part {part}{again}.\n"
        )
    };
    // 1,600 tokens keep to what the model was told, however long the lists are; 2,300 do not.
    for (lines, is_whole) in [(80, true), (108, false)] {
        let says: &'static str = (0..lines).map(line).collect::<String>().leak();
        let config = Config { max_context_tokens: None, ..Preset::ContextManager.config() };
        let work = worked_in(config, 60_000, Some(says), 300).await;
        let (finish, text) = (&work.finished()[0], work.summary());
        assert_eq!(finish.mode, SummaryMode::Hybrid, "{text}");
        assert!((1_700..=2_000).contains(&finish.summary_tokens.0), "{finish:?}");
        let (lists, said) = text.split_once("## Conversation Summary\n").unwrap();
        assert!(lists.contains("src/part_95.rs"), "{text}");
        assert!(said.starts_with(&line(0)) && said.contains(line(lines - 1).trim()), "{text}");
        let shown = said.lines().filter(|line| line.contains("as was said in the discussion")).count();
        assert_eq!(shown == lines, is_whole, "{shown} of {lines}: {text}");
        let left_out = work.events().into_iter().find_map(|event| match event {
            EventKind::LeftOut { what } => Some(what),
            _ => None,
        });
        assert_eq!(left_out.is_none(), is_whole, "{left_out:?}");
        let checks = work.context.state().summary().unwrap().summary.checks.clone();
        assert!(
            left_out
                .iter()
                .all(|what| what.starts_with("left out of the model's words: all but")
                    && checks.contains(what))
        );
    }
}

// asserts 000-16, 003-10
#[tokio::test]
async fn a_long_account_by_a_model_stays_whole_where_the_limit_has_room() {
    let line = |nth: usize| {
        let (part, again) = (12 + nth % 90, if nth < 90 { "" } else { ", and again" });
        format!(
            "- src/part_{part}.rs has a limit of {part}0 ms, as was said in the discussion of part {part}{again}.\n"
        )
    };
    let lines: String = (0..180).map(line).collect();
    let says: &'static str =
        format!("1. Task Progress:\n{lines}5. Current Focus: src/part_90.rs and its limit of 900 ms.").leak();
    assert!(says.len() > 15_000);
    let config = Config {
        max_summary_tokens: SummaryLimit::Tokens(Tokens(6_000)),
        trigger_ratio: Threshold::Tokens(Tokens(45_000)),
        soft_action: SoftAction::Off,
        reset_ratio: Threshold::Tokens(Tokens(40_000)),
        target_ratio: Threshold::Tokens(Tokens(20_000)),
        ..Preset::TwoTier.config()
    };
    let work = worked_in(config, 100_000, Some(says), 300).await;
    let text = work.summary();
    assert_eq!(work.finished()[0].mode, SummaryMode::Llm, "{text}");
    let told = text.lines().filter(|line| line.contains("as was said in the discussion")).count();
    assert_eq!(told, 180, "{text}");
    assert!(text.contains("5. Current Focus: src/part_90.rs and its limit of 900 ms."), "{text}");
}

// asserts 002-17
#[tokio::test]
async fn a_thousand_tokens_of_a_model_stay_as_it_wrote_them() {
    let says: &'static str = (12..45)
        .map(|nth| {
            format!(
                "- src/part_{nth}.rs has a limit of {nth}0 ms, as was said in the discussion of part {nth}.\n"
            )
        })
        .collect::<String>()
        .leak();
    let work = worked_in(Preset::Session.config(), 100_000, Some(says), 300).await;
    let (finish, text) = (&work.finished()[0], work.summary());
    let asked = work.model.as_ref().unwrap().requests().pop().unwrap();
    assert!(asked.max_tokens >= Tokens(1_000), "{}", asked.max_tokens);
    let lines = text.lines().filter(|line| line.contains("as was said in the discussion")).count();
    assert_eq!(lines, 33, "{text}");
    assert!((700..=1_000).contains(&finish.summary_tokens.0), "{finish:?}");
}

// asserts 003-10
#[tokio::test]
async fn two_thousand_tokens_of_a_model_stay_as_it_wrote_them() {
    let section = |name: &str, from: usize| {
        let lines: String = (from..from + 15)
            .map(|nth| {
                format!("- src/part_{nth}.rs has a limit of {nth}0 ms, as message {nth} says of src/part_{nth}.rs.\n")
            })
            .collect();
        format!("{name}:\n{lines}")
    };
    let says: &'static str = [
        "1. Task Progress", "2. Key Decisions", "3. Files & Changes", "4. Errors & Solutions",
        "5. Current Focus", "6. Important Context",
    ]
    .into_iter()
    .zip([12, 27, 42, 57, 72, 87])
    .map(|(name, from)| section(name, from))
    .collect::<String>()
    .leak();
    assert!((6_500..7_700).contains(&says.len()), "{}", says.len());
    let tokens = |n| Threshold::Tokens(Tokens(n));
    let config = Config {
        soft_action: SoftAction::Off,
        trigger_ratio: tokens(60_000),
        reset_ratio: tokens(50_000),
        target_ratio: tokens(30_000),
        preserve_recent_tokens: Some(tokens(10_000)),
        ..Preset::TwoTier.config()
    };
    let work = worked_in(config, 200_000, Some(says), 600).await;
    let text = work.summary();
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("- src/part_")).count();
    assert_eq!((lines(&text), lines(says)), (90, 90), "{text}");
    assert_eq!(work.calls(), 1);
    let asked = work.model.as_ref().unwrap().requests().pop().unwrap();
    assert!(asked.max_tokens >= Tokens(2_000), "{}", asked.max_tokens);
    assert!(work.finished()[0].summary_tokens <= Tokens(2_000));
}

// asserts 000-14
#[tokio::test]
async fn each_strategy_gives_a_summary_of_its_form() {
    for mode in [SummaryMode::Rules, SummaryMode::Hybrid, SummaryMode::Llm] {
        let work = worked(Config { mode, ..Preset::ContextManager.config() }, 16_000, Some(SAID)).await;
        assert_eq!(work.finished()[0].mode, mode);
        assert_eq!(
            work.summary().contains("## Files Referenced"),
            mode != SummaryMode::Llm,
            "{}",
            work.summary()
        );
        assert_eq!(work.calls() > 0, mode != SummaryMode::Rules);
    }
}

// asserts 001-16, 001-17
#[tokio::test]
async fn a_summary_by_rule_has_the_documents_lines() {
    let work = worked(Preset::Rolling.config(), 16_000, None).await;
    let text = work.summary();
    let count = text.lines().count() - 1;
    assert!(text.starts_with(&format!("--- Summarized Context ({count} items) ---\n")), "{text}");
    assert!(text.lines().skip(1).all(|line| line.starts_with('[') && line.ends_with(']')), "{text}");
    position(&text, "[✓ user: Task: Move the export in src/ledger/export.rs.");
    position(&text, "[❌ execute_bash: Command: cargo test -p ledger | Exit: 101 |");
    position(&text, "[✓ edit_file: ");
    position(&text, "[✓ assistant: Decision: We decided to use a streaming writer");
}

// asserts 001-24, 001-25
#[tokio::test]
async fn a_decision_in_each_turn_leaves_room_for_what_tools_did() {
    let mut work = Work::with(Preset::Rolling.config(), 16_000, None);
    for turn in 0..150 {
        work.context.push(Message::user(format!("Please go on with part {turn}. ").repeat(6)));
        work.context.prepare().await.unwrap();
        let (tool, arguments, output, outcome) = match turn % 3 {
            0 => (
                "execute_bash",
                format!(r#"{{"command":"npm test part_{turn}"}}"#),
                format!("FAIL part_{turn}\nError: expected {turn}, received 0\nexit code: 1"),
                Outcome::Failed,
            ),
            1 => (
                "edit_file",
                format!(r#"{{"path":"src/part_{turn}.rs","old":"a","new":"b"}}"#),
                "ok".to_owned(),
                Outcome::Succeeded,
            ),
            _ => (
                "execute_bash",
                format!(r#"{{"command":"npm run build_{turn}"}}"#),
                "built\nexit code: 0".to_owned(),
                Outcome::Succeeded,
            ),
        };
        for message in exchange(&format!("t{turn}"), tool, &arguments, &output, outcome) {
            work.context.push(message);
        }
        let said = format!("I decided to use option {turn} for part {turn}. ");
        work.context.push(Message::assistant(format!("{said}{}", "It works as it should now. ".repeat(40))));
        work.context.prepare().await.unwrap();
        let made = work.finished().len();
        if made > 0 {
            let text = work.summary();
            for kind in
                ["[❌ execute_bash: ", "[✓ execute_bash: ", "[✓ edit_file: ", "[✓ assistant: Decision: "]
            {
                assert!(text.contains(kind), "turn {turn}: no {kind:?} in {text}");
            }
        }
    }
    assert!(work.finished().len() >= 4, "{}", work.finished().len());
}

// asserts 001-08
#[tokio::test]
async fn a_prompt_of_ones_own_is_filled_in() {
    let config = Config {
        mode: SummaryMode::Llm,
        summary_prompt: "Say it in {maxTokens} tokens. {context} That is all.".to_owned(),
        oversize: Oversize::MapReduce,
        transcript_cap_tokens: None,
        ..Preset::Rolling.config()
    };
    let work = worked(config, 16_000, Some(SAID)).await;
    let asked = work.model.as_ref().unwrap().requests().pop().unwrap().user;
    let (_, rest) = asked.split_once("Say it in ").unwrap();
    let told: u64 = rest.split(' ').next().unwrap().parse().unwrap();
    assert!((50..=500).contains(&told), "{told}");
    assert!(asked.contains("src/ledger/export.rs") && asked.contains("src/part_12.rs"), "{asked}");
    assert!(!asked.contains("{context}") && asked.contains("That is all."), "{asked}");
}

// asserts 001-22
#[tokio::test]
async fn a_first_summary_of_a_model_may_take_what_is_free_of_the_limit() {
    let notes: String = (12..31)
        .map(|nth| format!("- src/part_{nth}.rs has a limit of {nth}0 ms, as was said of it before.\n"))
        .collect();
    let says: &'static str = notes.leak();
    let config = Config {
        mode: SummaryMode::Llm,
        oversize: Oversize::MapReduce,
        transcript_cap_tokens: None,
        ..Preset::Rolling.config()
    };
    let mut work = worked(config, 16_000, Some(says)).await;
    let shown =
        |work: &Work| work.summary().lines().filter(|line| line.contains("as was said of it")).count();
    let told = |work: &Work| -> u64 {
        let asked = work.model.as_ref().unwrap().requests().pop().unwrap();
        let (_, rest) = asked.user.split_once("Keep the summary under ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    // More than the 297 that it was told, which leave room for an update.
    assert_eq!((told(&work), shown(&work)), (297, 19), "{}", work.summary());
    // The second is an update in what is left; the third finds no room beside these two, and takes all of it.
    while work.finished().len() < 3 {
        work.talk(1, 150).await;
    }
    assert_eq!((told(&work), shown(&work)), (418, 19), "{}", work.summary());
}

// asserts 001-04
#[tokio::test]
async fn the_rules_say_the_same_every_time_and_ask_nobody() {
    let one = worked(Preset::Rolling.config(), 16_000, None).await;
    let two = worked(Preset::Rolling.config(), 16_000, None).await;
    assert_eq!(one.summary(), two.summary());
    assert!(one.finished()[0].cost.is_none() && one.finished()[0].mode == SummaryMode::Rules);
}

#[tokio::test]
async fn a_running_summary_uses_its_room_and_is_seldom_cut() {
    let mut work = worked(Preset::Rolling.config(), 16_000, None).await;
    let mut sizes = Vec::new();
    let (mut updates, mut condensed, mut cut) = (0, 0, 0);
    while sizes.len() < 20 {
        let before = work.finished().len();
        work.talk(1, 150).await;
        if work.finished().len() > before {
            let text = work.summary();
            sizes.push(work.finished().last().unwrap().summary_tokens.0);
            updates += usize::from(text.contains("[Update "));
            condensed += usize::from(text.starts_with("[Condensed history]\n"));
            cut += usize::from(text.contains("[Summary truncated]"));
            assert!(text.contains("Task: Move the export"), "{text}");
            assert!(text.contains("streaming writer"), "{text}");
        }
    }
    assert!(sizes.iter().all(|size| (150..=500).contains(size)), "{sizes:?}");
    assert!(updates >= 5 && condensed >= 5, "{updates} updates, {condensed} condensed: {sizes:?}");
    assert_eq!(cut, 0, "{sizes:?}");
}

// asserts 001-31
/// In a large window more must be said than the first part's share of the limit holds, or a condensed history's.
#[tokio::test]
async fn a_running_summary_is_cut_only_where_its_limit_is_used_up() {
    for window in [16_000, 128_000, 200_000] {
        let mut work = Work::new(Preset::Rolling, window);
        for (nth, made) in (0..).map(|nth| (nth, nth % 6 == 0)) {
            let before = work.finished().len();
            let rule =
                if made { format!(" Never rename total_{nth} in ledger {nth}.") } else { String::new() };
            let filler =
                format!("Part {nth} reads batch {} and writes {} rows. ", nth * 3, nth * 17).repeat(50);
            work.context.push(Message::user(format!("Please go on with part {nth}.{rule} {filler}")));
            work.context.push(Message::assistant(format!("Part {nth} is done. {filler}")));
            work.context.prepare().await.unwrap();
            if work.finished().len() > before {
                let (text, tokens) = (work.summary(), work.finished()[before].summary_tokens);
                let is_cut = text.contains("[Summary truncated]");
                assert!(!is_cut || tokens >= Tokens(450), "{tokens} of 500 in a window of {window}: {text}");
                assert!(before > 0 || !is_cut, "the first in a window of {window}: {text}");
            }
            if before == 6 {
                break;
            }
        }
    }
}

// asserts 002-25
#[tokio::test]
async fn a_summary_of_a_session_names_files_and_decisions() {
    for says in [Some(SAID), None] {
        let work = worked(Preset::Session.config(), 100_000, says).await;
        let text = work.summary();
        position(&text, "Files modified: src/ledger/export.rs");
        position(&text, "We decided to use a streaming writer");
        position(&text, "audit_trail");
        assert!(work.sent().contains("[Previous conversation summarized - "), "{}", work.sent());
    }
}

// asserts 002-11, 002-38
#[tokio::test]
async fn decisions_are_the_same_in_the_record_the_text_and_the_notice() {
    let mut work = Work::new(Preset::Session, 100_000);
    for nth in 0..30 {
        work.context.push(Message::user(format!("What about part {nth} of the exporter?")));
        work.context
            .push(Message::assistant(format!("We decided to use writer number {nth} for part {nth}.")));
        work.context.prepare().await.unwrap();
    }
    let record = work.context.state().summary().unwrap().clone();
    let decisions = &record.summary.decisions;
    // The newest five of the 42 messages that it covers.
    let newest = |nth: u64| format!("We decided to use writer number {nth} for part {nth}.");
    assert_eq!(record.covers.end, 42);
    assert_eq!(*decisions, (16..21).map(newest).collect::<Vec<_>>(), "{}", record.text);
    let notice = longhaul::notice(&record).unwrap();
    for decision in decisions {
        assert!(record.text.contains(decision), "{decision} is not sent: {}", record.text);
        assert!(notice.contains(decision), "{decision} is not told: {notice}");
    }
    assert!(!record.summary.key_points.is_empty() && record.summary.key_points.len() <= 3, "{record:?}");
}

// asserts 002-26, 002-27
#[tokio::test]
async fn under_each_preset_the_decisions_that_are_told_are_those_of_the_text() {
    for config in [Config::default()].into_iter().chain(Preset::ALL.map(Preset::config)) {
        let name = config.preset.map_or("defaults", Preset::as_str);
        for (window, by_model) in [(4_000, false), (16_000, false), (16_000, true)] {
            let script: Option<Box<Script>> = by_model.then(|| {
                Box::new(|_: usize, _: &_| Ok(answer("The parts were gone through one by one."))) as _
            });
            let mode = if by_model { SummaryMode::Hybrid } else { config.mode };
            let mut work = Work::with(Config { mode, ..config.clone() }, window, script);
            for nth in 0..90 {
                work.context.push(Message::user(format!("What about part {nth} of the exporter?")));
                work.context.push(Message::assistant(format!(
                    "Part {nth} is read. We decided to use codec{nth}z for queue {nth}. {}",
                    "It reads the records in batches and keeps each offset. ".repeat(3)
                )));
                if nth < 80 {
                    work.context.prepare().await.unwrap();
                }
            }
            let before = work.context.state().view().len() as u64;
            let rewrite = work.context.compact(None).await.unwrap();
            let record = rewrite.record.clone().unwrap();
            let is_told = |decision: &&String| record.text.contains(decision.as_str());
            let told = record.summary.decisions.iter().filter(is_told).count();
            let shown = longhaul::summary_box(&rewrite, before, work.context.state().view().len() as u64);
            let counted = format!("Key Decisions: {told} ");
            assert!(shown.contains(&counted), "{name}, {window}: {told}, {shown}{}", record.text);
            let notice = longhaul::notice(&record).unwrap();
            for line in notice.lines().filter(|line| line.contains("decided")) {
                assert!(
                    record.text.contains(line.trim_start_matches("- ")),
                    "{name}, {window}: {line}: {}",
                    record.text
                );
            }
        }
    }
}

// asserts 003-06, 003-07, 003-08
#[tokio::test]
async fn the_quick_summary_names_tools_files_and_commands() {
    let work = worked_in(Preset::TwoTier.config(), 200_000, None, 1_500).await;
    let finish = &work.finished()[0];
    assert_eq!(finish.reason.as_str(), "soft");
    let text = work.summary();
    let lines: Vec<&str> = text.lines().take(3).collect();
    for tool in ["read_file (1)", "edit_file (1)", "execute_bash (1)", "web_search (1)"] {
        assert!(lines[0].starts_with("Tools used: ") && lines[0].contains(tool), "{text}");
    }
    assert!(lines[1].starts_with("Files explored: ") && lines[1].contains("src/ledger/export.rs"), "{text}");
    assert!(lines[2].starts_with("Commands run: ") && lines[2].contains("cargo test -p ledger"), "{text}");
    assert!(text.contains("audit_trail"), "{text}");
}

// asserts 003-06
#[tokio::test]
async fn the_tools_are_counted_since_the_conversation_began() {
    let config = Config { mode: SummaryMode::Rules, ..Preset::TwoTier.config() };
    let mut work = Work::with(config, 16_000, None);
    let (mut seen, mut told) = (0, 0);
    for nth in 0..150 {
        work.context.push(Message::user(format!("Go on with part {nth} of the ledger, please.")));
        let tool = if nth % 3 == 0 { "execute_bash" } else { "read_file" };
        let arguments = match tool {
            "read_file" => format!(r#"{{"path":"src/part_{nth}.rs"}}"#),
            _ => format!(r#"{{"command":"cargo test part_{nth}"}}"#),
        };
        let output = format!("fn relay_{nth}() {{ let lane = {nth}; }}\n").repeat(120);
        for message in exchange(&format!("c{nth}"), tool, &arguments, &output, Outcome::Succeeded) {
            work.context.push(message);
        }
        work.context.push(Message::assistant(format!("Part {nth} is done.")));
        let view = work.context.prepare().await.unwrap();
        if work.finished().len() == seen {
            continue;
        }
        seen = work.finished().len();
        let text = work.summary();
        let Some(line) = text.lines().find_map(|line| line.strip_prefix("Tools used: ")) else { continue };
        let number =
            |tool: &str| -> u64 { tool.trim_end_matches(')').rsplit_once('(').unwrap().1.parse().unwrap() };
        let counted: u64 = line.split(", ").map(number).sum();
        let shown = view.messages().flat_map(|message| message.calls()).count() as u64;
        // Calls whose messages stay are counted where their results were taken out, and once more messages leave.
        let made = nth + 1;
        assert!(counted <= made && counted + shown >= made, "{counted} of {made}, {shown} shown: {text}");
        told = counted;
    }
    assert!(seen > 5 && told > 100, "{seen} summaries, {told} calls");
}

// asserts 003-09
#[tokio::test]
async fn six_sections_are_merged_and_not_cut() {
    let says = "1. Task Progress: src/ledger/export.rs was edited.\n2. Key Decisions: a streaming writer is used.\n3. Files & Changes: src/ledger/export.rs was modified.\n4. Errors & Solutions: error[E0308] in src/ledger/export.rs.\n5. Current Focus: src/ledger/export.rs.\n6. Important Context: audit_trail is not to be touched.";
    let config = Config {
        trigger_ratio: Threshold::Tokens(Tokens(30_000)),
        reset_ratio: Threshold::Tokens(Tokens(25_000)),
        target_ratio: Threshold::Tokens(Tokens(15_000)),
        soft_action: SoftAction::Off,
        ..Preset::TwoTier.config()
    };
    let work = worked(config, 200_000, Some(says)).await;
    let text = work.summary();
    assert!(work.calls() > 0);
    let at = [
        "1. Task Progress", "2. Key Decisions", "3. Files & Changes", "4. Errors & Solutions",
        "5. Current Focus", "6. Important Context",
    ]
    .map(|section| {
        assert_eq!(text.matches(section).count(), 1, "{section} in {text}");
        position(&text, section)
    });
    assert!(at.is_sorted(), "{text}");
}

// asserts 003-09
#[tokio::test]
async fn of_several_parts_the_focus_is_the_newest() {
    let tokens = |n| Threshold::Tokens(Tokens(n));
    let config = Config {
        trigger_ratio: tokens(30_000),
        reset_ratio: tokens(25_000),
        target_ratio: tokens(15_000),
        soft_action: SoftAction::Off,
        ..Preset::TwoTier.config()
    };
    // Each part is told with the subjects of the document, as far as the model read.
    let model = Arc::new(Scripted::new(|_, request| {
        let (_, last) = request.user.rsplit_once("is about src/part_").unwrap();
        let nth = last.split('.').next().unwrap();
        Ok(Scripted::says(format!(
            "1. Task Progress: src/part_{nth}.rs was discussed.\n5. Current Focus: src/part_{nth}.rs."
        )))
    }));
    let window = ContextWindow::new(Tokens(200_000), Tokens::ZERO);
    let mut context = written_by(&model, 16_000, config, window);
    while context.state().summary().is_none() {
        let nth = context.state().originals().len();
        context.push(Message::user(
            format!("Message {nth} is about src/part_{nth}.rs and its limit. ").repeat(12),
        ));
        context.prepare().await.unwrap();
    }
    let requests = model.requests();
    assert!((2..=4).contains(&requests.len()), "{} calls", requests.len());
    assert!(requests[1].user.contains("1. Task Progress: src/part_"), "what was told before goes along");
    let text = &context.state().summary().unwrap().text;
    let (_, last) = requests.last().unwrap().user.rsplit_once("is about src/part_").unwrap();
    let nth = last.split('.').next().unwrap();
    assert_eq!(text.matches("5. Current Focus").count(), 1, "{text}");
    assert!(text.contains(&format!("5. Current Focus: src/part_{nth}.rs.")), "{nth}: {text}");
    assert!(text.contains(&format!("1. Task Progress: src/part_{nth}.rs was")), "{nth}: {text}");
}

/// Works with tools until there are three summaries, and looks at the tail after each.
async fn keeps_the_newest(config: Config, says: Option<&'static str>) {
    let (name, newest) = (config.preset.unwrap(), config.preserve_recent as usize);
    let mut work = worked(config, 30_000, says).await;
    let mut nth = 100;
    while work.finished().len() < 4 {
        let before = work.finished().len();
        let id = format!("k{nth}");
        let [call, result] = exchange(
            &id,
            "read_file",
            &format!(r#"{{"path":"src/part_{nth}.rs"}}"#),
            &format!("pub fn part_{nth}() -> u32 {{ {nth} }}\n").repeat(10),
            Outcome::Succeeded,
        );
        let said = Message::assistant(format!("Part {nth} returns {nth}."));
        let asked = Message::user(format!("What does part {} return?", nth + 1));
        for message in [call, result, said, asked] {
            work.context.push(message);
        }
        work.context.prepare().await.unwrap();
        nth += 1;
        if work.finished().len() == before {
            continue;
        }
        let state = work.context.state();
        let entries = state.originals().entries();
        for entry in &entries[entries.len() - newest..] {
            let shown = state.view().messages().any(|message| **message == *entry.message);
            assert!(shown, "{name}, {says:?}: {} of {} is not as it was said", entry.id, entries.len());
        }
    }
}

// asserts 000-09, 002-04
#[tokio::test]
async fn ten_messages_stay_whole_in_a_session_with_tools() {
    for says in [None, Some(SAID)] {
        keeps_the_newest(Preset::Session.config(), says).await;
        keeps_the_newest(Preset::ContextManager.config(), says).await;
    }
}

/// Asserts that the newest messages, as many as the settings say, stand in the view as they were said.
fn assert_newest_whole(work: &Work, when: &str) {
    let state = work.context.state();
    let entries = state.originals().entries();
    let newest = entries.len().saturating_sub(state.config().preserve_recent as usize);
    for entry in &entries[newest..] {
        let shown = state.view().messages().any(|message| **message == *entry.message);
        assert!(shown, "{when}: {} of {} is not as it was said", entry.id, entries.len());
    }
}

// asserts 000-09, 002-04
#[tokio::test]
async fn ten_messages_stay_whole_whatever_each_of_them_costs() {
    for config in [Preset::Session.config(), Preset::ContextManager.config()] {
        let name = config.preset.unwrap();
        let mut work = Work::with(config, 128_000, None);
        for turn in 0..70 {
            work.context.push(Message::user(format!("What does part {turn} do?")));
            work.context.prepare().await.unwrap();
            // The tail begins now within an exchange, now behind the request; the last exchange is now most of it, now
            // next to nothing, and so is the call that stands before its first result.
            for call in 0..turn % 9 {
                let lines = |nth: usize| if nth.is_multiple_of(4) { 80 } else { 1 };
                let line = format!("pub fn part_{turn}_{call}() {{ step({call}) }}\n");
                let output = line.repeat(lines(turn + call));
                let words = "so that it streams; ".repeat(lines(turn + call + 1) / 2);
                let path = format!(r#"{{"path":"src/part_{turn}_{call}.rs","why":"{words}"}}"#);
                let id = format!("t{turn}_{call}");
                for message in exchange(&id, "read_file", &path, &output, Outcome::Succeeded) {
                    work.context.push(message);
                }
                work.context.prepare().await.unwrap();
                assert_newest_whole(&work, &format!("{name}, turn {turn}"));
            }
            work.context.push(Message::assistant(format!("Part {turn} returns {turn}.")));
            if turn % 16 == 15 {
                work.context.compact(None).await.unwrap();
                assert_newest_whole(&work, &format!("{name}, asked for in turn {turn}"));
            }
        }
        assert!(work.finished().len() >= 4, "{name}: {}", work.finished().len());
    }
}

/// Says a message of about `tokens` tokens, the user's and the assistant's in turns.
async fn say(work: &mut Work, tokens: usize) {
    let nth = work.context.state().originals().len();
    let text = format!("Message {nth} is about src/part_{nth}.rs and its limit of {nth}0 ms. ");
    let text = text.repeat(tokens * 4 / text.len());
    work.context.push(if nth.is_multiple_of(2) { Message::user(text) } else { Message::assistant(text) });
    work.context.prepare().await.unwrap();
}

// asserts 000-09, 002-04, 004-05
#[tokio::test]
async fn the_newest_stay_whole_above_the_target_where_there_is_room_to_go_on() {
    use Preset::{Chain, ContextManager, Session};
    // The newest ten (six) cost more than the target with the summary, and leave room for two turns below the trigger.
    for (preset, window, tokens) in [
        (ContextManager, 16_000, 690),
        (ContextManager, 16_000, 517),
        (ContextManager, 128_000, 5_100),
        (Session, 16_000, 690),
        (Session, 128_000, 5_100),
        (Chain, 16_000, 1_000),
        (Chain, 128_000, 6_900),
    ] {
        let mut work = Work::with(preset.config(), window, None);
        let (mut last, mut apart) = (0, Vec::new());
        for _ in 0..80 {
            let before = work.finished().len();
            say(&mut work, tokens).await;
            if work.finished().len() > before {
                let when = format!("{preset} in {window} with messages of {tokens}");
                assert_newest_whole(&work, &when);
                let said = work.context.state().originals().len();
                apart.push(said - last);
                last = said;
            }
        }
        assert!(apart.len() >= 3, "{preset} in {window}: {apart:?}");
        assert!(apart.iter().all(|apart| *apart >= 4), "{preset} in {window}: every two turns: {apart:?}");
    }
}

// asserts 000-11
#[tokio::test]
async fn where_all_of_it_is_recent_nothing_is_compacted_by_hand() {
    for preset in [Preset::ContextManager, Preset::Session, Preset::Chain] {
        let mut work = Work::with(preset.config(), 16_000, None);
        for _ in 0..preset.config().preserve_recent {
            say(&mut work, 1_100).await;
        }
        let before = work.sent();
        let refused = work.context.compact(None).await.unwrap_err();
        assert!(matches!(refused, Error::Compact(CompactError::NothingNew)), "{preset}: {refused}");
        assert_eq!(work.sent(), before, "{preset}");
        say(&mut work, 1_100).await;
        work.context.compact(None).await.unwrap();
        assert!(work.context.state().summary().is_some(), "{preset}");
    }
}

#[tokio::test]
async fn more_messages_may_be_set_to_stay_than_there_are() {
    let mut config = Preset::ContextManager.config();
    config.preserve_recent = 1_000_000;
    let mut work = Work::with(config, 16_000, None);
    for _ in 0..30 {
        say(&mut work, 1_100).await;
    }
    assert!(work.context.state().tokens() <= work.context.state().budget());
}

// asserts 004-30, 004-44, 004-47
#[tokio::test]
async fn everything_but_the_tail_is_covered() {
    let mut work = Work::with(Preset::Chain.config(), 10_000, None);
    while work.finished().is_empty() {
        work.talk(1, 100).await;
    }
    let state = work.context.state();
    let entries = state.originals().entries();
    let record = state.summary().unwrap();
    let kept: Vec<_> = state.view().messages().cloned().collect();
    for entry in &entries[entries.len() - 6..] {
        assert!(kept.iter().any(|message| **message == *entry.message), "{}", entry.id);
    }
    // The summary stands for each of the others but those for which there was room.
    let in_view =
        entries.iter().filter(|entry| kept.iter().any(|message| **message == *entry.message)).count();
    assert_eq!(record.covered.len() + in_view, entries.len());
    assert_eq!(kept.len(), in_view + 1, "the summary and the tail");
    // The tail is more than the six: as many as the target has room for, within two messages, and no more.
    let (target, tokens) = (state.limits().target, state.tokens());
    assert!(
        in_view > 6 && tokens <= target && tokens + Tokens(250) > target,
        "{in_view}: {tokens} of {target}"
    );
    for covered in &record.covered {
        assert_eq!(covered.sha256, entries[covered.ordinal as usize].message.content_hash());
    }
}

// asserts 004-37, 004-54
#[tokio::test]
async fn one_call_shows_the_newest_eight_thousand_tokens_whole() {
    let answer = r#"{"narrative": "The parts and their limits were discussed one after the other."}"#;
    let mut work = Work::asking(Preset::Chain, 60_000, move |_, _| Ok(Scripted::says(answer)));
    while work.finished().len() < 2 {
        let before = work.finished().len();
        work.talk(1, 400).await;
        if work.finished().len() == before {
            continue;
        }
        assert_eq!(work.calls(), work.finished().len(), "one call a summary");
        let request = work.model.as_ref().unwrap().requests().pop().unwrap();
        // The transcript's 8,000, the model's words of the summary before (2,000 at most), the prompt.
        assert!(request.user.len() / 4 < 11_000, "{} characters", request.user.len());
        let is_told = request.user.contains("The parts and their limits were discussed");
        assert_eq!(is_told, work.calls() > 1, "the summary before is shown");
        // What is shown ends with the newest of the messages that the summary stands for, whole.
        let state = work.context.state();
        let covered = &state.summary().unwrap().covered;
        for covered in &covered[covered.len() - 5..] {
            let text = text(&state.originals().entries()[covered.ordinal as usize].message);
            assert!(request.user.contains(text.trim()), "m{} is not shown whole", covered.ordinal);
        }
    }
}

/// What is quoted whole as one statement is no longer.
const STATEMENT: usize = 320;

// asserts 004-43
#[tokio::test]
async fn a_record_quotes_statements_and_no_whole_message() {
    let mut work = Work::with(Preset::Chain.config(), 40_000, None);
    let pasted: String =
        (0..900).map(|nth| format!("row {nth} holds {} and {} units\n", nth * 7, nth * 13)).collect();
    work.context.push(Message::user(format!("Load this table and never drop row 17.\n{pasted}")));
    while work.finished().is_empty() {
        work.talk(1, 300).await;
    }
    let record = serde_json::to_string(&**work.context.state().summary().unwrap()).unwrap();
    assert!(record.contains("never drop row 17"), "{record}");
    let quoted = (0..900).filter(|nth| record.contains(&format!("row {nth} holds"))).count();
    // The beginning and end of the request, and forty lines that differ only in their numbers.
    assert!(quoted < 80, "{quoted} of 900 rows of one message are in the record");
    // Of talk as long as people talk, only the task and the last word stand there whole, up to their bounds.
    for preset in Preset::ALL {
        let mut work = Work::with(preset.config(), 16_000, None);
        for nth in 0..150 {
            let said = |who: &str, n: usize| {
                format!("{who} {nth}: the shard {nth} of part_{nth}.rs went up by {n} ms. ")
                    + &format!("The ticket {n} says the same of host {nth}. ").repeat(5 + nth % 9)
            };
            work.context.push(Message::user(said("Turn", nth * 3)));
            work.context.prepare().await.unwrap();
            work.context.push(Message::assistant(said("Answer", nth * 7)));
        }
        let record = work.context.state().summary().unwrap();
        let (goal, focus) =
            (record.summary.goal.chars().count(), record.summary.current_focus.chars().count());
        assert!(goal <= 1_010 && focus <= 610, "{preset}: {goal} {focus}");
        let stored = serde_json::to_string(&**record).unwrap();
        let originals = work.context.state().originals().entries();
        let said = originals.iter().map(|entry| text(&entry.message).trim().to_owned());
        // The task and the last word may stand whole; and what is no longer than a statement is one.
        let quoted = [record.summary.goal.trim(), record.summary.current_focus.trim()];
        let long = said.filter(|said| said.chars().count() > STATEMENT && !quoted.contains(&&**said));
        let whole: Vec<String> = long.filter(|said| stored.contains(said)).collect();
        assert!(whole.is_empty(), "{preset}: {whole:?}");
    }
}

// asserts 004-21
#[tokio::test]
async fn the_last_summarization_is_known_with_its_ratio() {
    let mut work = Work::with(Preset::Chain.config(), 10_000, None);
    assert_eq!(work.context.state().status(None).last_summarization, None);
    while work.finished().is_empty() {
        work.talk(1, 100).await;
    }
    let finish = &work.finished()[0];
    assert!((0.8..0.83).contains(&finish.ratio_before), "{finish:?}");
    assert!(finish.ratio_after < 0.7, "{finish:?}");
    let last = work.context.state().status(None).last_summarization.unwrap();
    assert_eq!(last.depth, 0);
    assert!((0.8..0.83).contains(&last.ratio) && last.messages >= 40, "{last:?}");
}
