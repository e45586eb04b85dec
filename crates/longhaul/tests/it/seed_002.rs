//! Seed 002, "Session Summarization": preset `session`.

use std::sync::Arc;

use longhaul::{
    Config, Decision, Hold, Preset, Reason, Session, Shown, notice,
    store::{MemoryStore, SummaryStore},
    summarize::{CompletionRequest, Scripted},
    summary_box,
    tokens::{CharsPer4, ContextWindow},
    transcript::{
        FileState, Message, Outcome, Part, Role, SessionId, Span, SummaryMode, Tokens, ToolCall, ToolResult,
    },
};

use crate::work::{Script, Work, answer, exchange, text};

// asserts 002-02
#[tokio::test]
async fn more_than_fifty_messages_trigger_and_fifty_do_not() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    work.talk(50, 20).await;
    assert!(work.finished().is_empty());
    work.talk(1, 20).await;
    let finished = work.finished();
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0].reason, Reason::Messages { n_messages: 51, limit: 50 });
    // It goes on so: every forty messages, whatever stands for those before, and each summary says something.
    work.talk(949, 120).await;
    let finished = work.finished();
    assert!((22..=25).contains(&finished.len()), "{} summaries of 1,000 messages", finished.len());
    for finish in &finished[1..] {
        assert_eq!(finish.reason, Reason::Messages { n_messages: 51, limit: 50 });
        assert!(finish.summary_tokens >= Tokens(300), "{finish:?}");
    }
    assert!(work.context.state().view().len() < 50 + finished.len() + 1);
}

// asserts 002-04
#[tokio::test]
async fn the_ten_most_recent_messages_stay_verbatim() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    work.talk(51, 20).await;
    let sent = work.sent();
    for entry in &work.context.state().originals().entries()[41..] {
        assert!(sent.contains(&text(&entry.message)), "{}", entry.id);
    }
}

// asserts 002-05, 002-24
#[tokio::test]
async fn system_prompts_are_kept() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    work.context.push(Message::system("You are a careful assistant."));
    // Several summaries, each of a range of its own, and one that takes the place of all.
    for round in 0..100 {
        work.talk(4, 20).await;
        let view = work.context.state().view();
        let first = view.messages().next().map(|first| text(first));
        assert_eq!(first.as_deref(), Some("You are a careful assistant."), "round {round}");
        assert_eq!(view.messages().filter(|said| text(said) == "You are a careful assistant.").count(), 1);
    }
    assert!(work.finished().len() > 5, "{}", work.finished().len());
    // The system prompt, the summaries, the recent messages.
    let roles: Vec<String> = work
        .context
        .state()
        .view()
        .messages()
        .map(|message| text(message).chars().take(24).collect())
        .collect();
    let n_summaries = work.context.state().view().summaries().count();
    assert_eq!(roles[0], "You are a careful assist");
    assert!(roles[1..=n_summaries].iter().all(|summary| summary == "[Previous conversation s"), "{roles:?}");
    assert!(roles[n_summaries + 1..].iter().all(|said| said.starts_with("Message ")), "{roles:?}");
    assert!(roles.len() > n_summaries + 10);
}

// asserts 002-05, 002-19
#[tokio::test]
async fn a_system_message_stays_wherever_it_was_said() {
    for preset in [Preset::ContextManager, Preset::Rolling, Preset::Session, Preset::TwoTier, Preset::Chain] {
        let mut work = Work::new(preset, 12_000);
        let mut instructions: Vec<String> = Vec::new();
        for nth in 0..260 {
            // At every second place of the first hundred: some of them are the first that a summary reads.
            if nth < 50 {
                let instruction = format!("Standing order {nth:03}.");
                work.context.push(Message::system(instruction.clone()));
                instructions.push(instruction);
            }
            work.talk(1, 100).await;
            let view: String = work.context.state().view().messages().map(|said| text(said) + "\n").collect();
            let gone: Vec<&String> = instructions.iter().filter(|one| !view.contains(*one)).collect();
            assert!(gone.is_empty(), "{preset}, message {nth}: {gone:?}");
        }
        assert!(work.finished().len() > 2, "{preset}: {}", work.finished().len());
    }
}

// asserts 002-09, 002-19
#[tokio::test]
async fn each_summary_covers_a_range_of_its_own() {
    let mut work = Work::new(Preset::Session, 20_000);
    while work.context.state().view().summaries().count() < 3 {
        work.talk(1, 40).await;
    }
    let records: Vec<_> = work.context.state().view().summaries().cloned().collect();
    for pair in records.windows(2) {
        assert!(pair[0].covers.end <= pair[1].covers.start, "{} {}", pair[0].covers, pair[1].covers);
        assert_eq!(pair[1].parent.as_ref(), Some(&pair[0].id));
    }
}

// asserts 002-18
#[tokio::test]
async fn the_documents_words_are_decisions() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    let said = [
        "We decided to use JWT tokens for the login.",
        "I chose to keep the refresh endpoint in auth.ts.",
        "We will use bcrypt for the hashes.",
        "I am going with a cookie for the session id.",
    ];
    for (nth, decision) in said.into_iter().enumerate() {
        work.context.push(Message::user(format!("And what about part {nth} of the login?")));
        work.context.push(Message::assistant(decision));
    }
    while work.finished().is_empty() {
        work.talk(1, 60).await;
    }
    assert_eq!(work.context.state().summary().unwrap().summary.decisions, said);
}

// asserts 002-23
#[tokio::test]
async fn a_placeholder_says_how_many_messages_it_replaces() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    work.talk(51, 20).await;
    let record = work.context.state().summary().unwrap().clone();
    assert_eq!(record.covered.len(), 41);
    let placeholder =
        format!("system: [Previous conversation summarized - 41 messages]\n\n{}\n\n", record.text);
    assert!(work.sent().starts_with(&placeholder), "{}", work.sent());
}

// asserts 002-03
#[tokio::test]
async fn a_summary_is_at_most_three_tenths_of_what_it_replaces() {
    let says = |_: usize, _: &_| {
        Ok(Scripted::says("- Message 12 is about src/part_12.rs and its limit of 120 ms.\n".repeat(40)))
    };
    for script in [None, Some(Box::new(says) as Box<Script>)] {
        let mut work = Work::with(Preset::Session.config(), 20_000, script);
        for _ in 0..300 {
            if work.talk(1, 60).await == 0 {
                continue;
            }
            let state = work.context.state();
            let record = state.summary().unwrap();
            let covered: Tokens = record.covered.iter().map(|covered| state.cost(covered.ordinal)).sum();
            assert!(record.tokens <= covered.scaled(0.3), "{} of {covered}", record.tokens);
        }
        assert!(work.finished().len() > 5);
    }
}

// asserts 002-10, 002-12, 002-13, 002-14, 004-14
#[tokio::test]
async fn the_record_has_the_documents_fields() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    for nth in 0..5 {
        let path = format!(r#"{{"file_path":"src/auth_{nth}.rs","old_string":"a","new_string":"b"}}"#);
        for message in exchange(&format!("e{nth}"), "Edit", &path, "ok", Outcome::Succeeded) {
            work.context.push(message);
        }
        let path = format!(r#"{{"file_path":"src/read_{nth}.rs"}}"#);
        for message in exchange(&format!("r{nth}"), "Read", &path, "fn read() {}", Outcome::Succeeded) {
            work.context.push(message);
        }
    }
    while work.finished().is_empty() {
        work.talk(1, 60).await;
    }
    let record = work.context.state().summary().unwrap();
    assert!(!record.covers.is_empty());
    assert!(!record.text.is_empty());
    let files = |state: &[FileState]| {
        let files = record.summary.files.iter().filter(|file| state.contains(&file.state));
        files.map(|file| file.path.clone()).collect::<Vec<_>>()
    };
    let changed: Vec<String> = (0..5).map(|nth| format!("src/auth_{nth}.rs")).collect();
    assert_eq!(files(&[FileState::Modified, FileState::Created]), changed);
    let tools: Vec<_> = record
        .summary
        .tools_used
        .iter()
        .map(|tool| (tool.tool.as_str(), tool.count, tool.notable_uses.len()))
        .collect();
    assert_eq!(tools, [("Edit", 5, 3), ("Read", 5, 3)]);
    assert_eq!(record.created_at_ms, 1_700_000_000_000);
    assert_eq!(record.tokens, longhaul::tokens::TokenCounter::count_text(&CharsPer4, &record.text));
}

// asserts 002-13
#[tokio::test]
async fn every_use_of_a_tool_is_counted_once_also_where_one_summary_takes_the_place_of_many() {
    let modes = [SummaryMode::Rules, SummaryMode::Hybrid];
    for (preset, mode) in Preset::ALL.into_iter().flat_map(|preset| modes.map(|mode| (preset, mode))) {
        let says = |_: usize, _: &CompletionRequest| Ok(answer("Part after part was read and edited."));
        let script = (mode != SummaryMode::Rules).then(|| Box::new(says) as Box<Script>);
        let (mut uses, mut replaced) = (0, 0);
        // Under its own preset there is more than is read again where one summary takes the place of many.
        let (window, n_lines) = if preset == Preset::Session { (3_000, 15) } else { (6_000, 1) };
        let mut work = Work::with(Config { mode, ..preset.config() }, window, script);
        for turn in 0..150 {
            work.context.push(Message::user(format!("Set the limit of part {turn} to {turn}0 ms, please.")));
            for (nth, tool) in ["Read", "Edit"].into_iter().enumerate().take(1 + turn % 2) {
                let path = format!(r#"{{"file_path":"src/part_{turn}.rs"}}"#);
                let output = format!("fn part_{turn}() {{ wait({turn}) }}\n").repeat(n_lines);
                for message in exchange(&format!("c{turn}_{nth}"), tool, &path, &output, Outcome::Succeeded) {
                    work.context.push(message);
                }
                uses += 1;
            }
            work.context.push(Message::assistant(format!("The limit of part {turn} is {turn}0 ms now.")));
            let before = work.context.state().view().summaries().count();
            work.context.prepare().await.unwrap();
            replaced += usize::from(work.context.state().view().summaries().count() < before);
        }
        let state = work.context.state();
        let view = state.view();
        let told = view.summaries().flat_map(|record| &record.summary.tools_used);
        let told: u32 = told.map(|tool| tool.count).sum();
        let shown = view.messages().map(|message| message.calls().count()).sum::<usize>();
        assert_eq!(told as usize + shown, uses, "{preset}, {mode:?}, {replaced} times replaced");
        assert_eq!(replaced > 0, preset == Preset::Session, "{preset}");
    }
}

// asserts 002-08
#[tokio::test]
async fn a_summarys_id_follows_from_what_it_covers_and_says() {
    let id = async |n: usize, by_model: Option<&'static str>| {
        let mut work = match by_model {
            None => Work::new(Preset::Session, 1_000_000),
            Some(says) => Work::asking(Preset::Session, 1_000_000, move |_, _| Ok(Scripted::says(says))),
        };
        work.talk(n, 60).await;
        work.context.compact(None).await.unwrap();
        work.context.state().summary().unwrap().id.clone()
    };
    let (first, again) = (id(30, None).await, id(30, None).await);
    assert_eq!(first, again);
    assert_ne!(id(32, None).await, first, "it covers two more");
    let said = id(30, Some("- The user goes through the parts one by one.")).await;
    assert_ne!(
        said,
        id(30, Some("- The user goes through the limits one by one.")).await,
        "it says something else"
    );
}

// asserts 002-15, 002-21, 002-32
#[tokio::test]
async fn the_full_history_is_still_there_and_counted() {
    let store = Arc::new(MemoryStore::new());
    let session = SessionId::new("seed").unwrap();
    let mut context = Session::builder(session.clone(), ContextWindow::new(Tokens(100_000), Tokens::ZERO))
        .config(Preset::Session.config())
        .counter(Arc::new(CharsPer4))
        .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
        .build()
        .unwrap();
    for nth in 0..78 {
        context.push(Message::user(format!("Message {nth} of the session, about part {nth}")));
        context.prepare().await.unwrap();
    }
    context.save().await.unwrap();
    assert_eq!(context.state().status(None).full_message_count, 78);
    assert!(context.state().status(None).message_count < 51);
    let originals = store.originals(&session, Span { start: 0, end: 78 }).await.unwrap();
    assert_eq!(originals.len(), 78);
    assert_eq!(text(originals[3].message.as_ref().unwrap()), "Message 3 of the session, about part 3");
    assert!(store.verify(&session).await.unwrap().is_intact());
}

// asserts 002-34
#[tokio::test]
async fn an_existing_session_is_unchanged_until_it_is_summarized() {
    // Stored by who summarizes nothing, then taken up by who does.
    let store = Arc::new(MemoryStore::new());
    let builder = |enabled| {
        Session::builder(SessionId::new("seed").unwrap(), ContextWindow::new(Tokens(100_000), Tokens::ZERO))
            .config(Config { enabled, ..Preset::Session.config() })
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
    };
    let mut before = builder(false).build().unwrap();
    for nth in 0..60 {
        before.push(Message::user(format!("Message {nth} of the session. ").repeat(10)));
    }
    before.save().await.unwrap();
    let mut context = builder(true).open().await.unwrap();
    let said: Vec<_> = before.state().view().messages().cloned().collect();
    assert_eq!(context.state().view().messages().cloned().collect::<Vec<_>>(), said);
    assert_eq!(context.prepare().await.unwrap().summaries().count(), 1);
}

// asserts 002-07, 002-33
#[tokio::test]
async fn summarization_can_be_switched_off() {
    let config = Config { enabled: false, ..Preset::Session.config() };
    let mut work = Work::with(config, 1_000_000, None);
    assert_eq!(work.talk(120, 20).await, 0);
    assert_eq!(work.context.decide(), Decision::Hold(Hold::Disabled));

    // And in the middle of a conversation: what was summarized stays so, and nothing more is.
    let store = Arc::new(MemoryStore::new());
    let builder = |enabled| {
        Session::builder(SessionId::new("seed").unwrap(), ContextWindow::new(Tokens(100_000), Tokens::ZERO))
            .config(Config { enabled, ..Preset::Session.config() })
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
    };
    let mut context = builder(true).open().await.unwrap();
    for nth in 0..180 {
        if nth == 60 {
            context.save().await.unwrap();
            drop(context);
            context = builder(false).open().await.unwrap();
        }
        context.push(Message::user(format!("Message {nth} of the session. ").repeat(10)));
        context.prepare().await.unwrap();
    }
    assert_eq!(context.state().status(None).summary_count, 1);
    assert_eq!(context.state().view().len(), 1 + 180 - 41);
}

// asserts 002-27
#[tokio::test]
async fn the_box_counts_all_commands_and_decisions_that_a_chain_of_summaries_tells_of() {
    for preset in [Preset::Rolling, Preset::ContextManager] {
        let mut work = Work::new(preset, 16_000);
        for nth in 0..110 {
            work.context.push(Message::user(match nth % 4 {
                0 => format!("We decided to use codec{nth}z for queue {nth}."),
                _ => format!("Next, the part {nth}."),
            }));
            let command = format!(r#"{{"command":"npm test part_{nth}"}}"#);
            let output = "a line of output\n".repeat(60);
            for message in exchange(&format!("r{nth}"), "execute_bash", &command, &output, Outcome::Unstated)
            {
                work.context.push(message);
            }
            work.context.push(Message::assistant(format!("Part {nth} is done.")));
            work.context.prepare().await.unwrap();
        }
        assert!(work.finished().len() > 1, "{preset:?}: each builds on one before");
        let before = work.context.state().view().len() as u64;
        let rewrite = work.context.compact(None).await.unwrap();
        let shown = summary_box(&rewrite, before, work.context.state().view().len() as u64);
        let record = rewrite.record.unwrap();
        let covered = &work.context.state().originals().entries()[..record.covers.end as usize];
        let n_run = covered.iter().flat_map(|entry| entry.message.calls()).count();
        let is_told = |nth: &usize| record.text.contains(&format!("codec{nth}z"));
        let n_decided = (0..110).filter(is_told).count();
        for line in [format!("Commands Run: {n_run}"), format!("Key Decisions: {n_decided}")] {
            assert!(shown.contains(&format!("│ {line:<49} │")), "{preset:?}: {line}: {shown}{}", record.text);
        }
    }
}

// asserts 002-26, 002-27
#[tokio::test]
async fn a_manual_summary_shows_the_box_and_an_automatic_one_the_notice() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    work.context.push(Message::user("Move the sign-in to tokens, and check each part of it."));
    for nth in 0..3 {
        let path = format!(r#"{{"path":"src/auth_{nth}.ts"}}"#);
        for message in exchange(&format!("e{nth}"), "edit_file", &path, "ok", Outcome::Unstated) {
            work.context.push(message);
        }
        let command = format!(r#"{{"command":"npm test part_{nth}"}}"#);
        for message in exchange(&format!("r{nth}"), "execute_bash", &command, "3 passed", Outcome::Unstated) {
            work.context.push(message);
        }
    }
    work.context.push(Message::assistant("We decided to use JWT tokens with a refresh."));
    work.context.push(Message::user("And we are going with Postgres for them."));
    work.talk(35, 40).await;
    assert!(work.finished().is_empty(), "that would be an automatic one");
    let (before, tokens) = (work.context.state().view().len() as u64, work.context.state().tokens());
    let rewrite = work.context.compact(None).await.unwrap();
    let (after, left) = (work.context.state().view().len() as u64, work.context.state().tokens());
    let shown = summary_box(&rewrite, before, after);
    assert!(shown.starts_with("┌─ Session Summary ─"), "{shown}");
    // What it says is what happened.
    assert_eq!((before, after), (50, 11));
    for line in [
        format!("Messages: {before} → {after} (78% reduction)"),
        format!("Tokens saved: ~{}", longhaul::transcript::grouped((tokens - left).0)),
        "Key Topics:".to_owned(),
        "Files Modified: 3".to_owned(),
        "Commands Run: 3".to_owned(),
        "Key Decisions: 2".to_owned(),
    ] {
        assert!(shown.contains(&format!("│ {line:<49} │")), "{line}: {shown}");
    }
    let text = notice(&rewrite.record.unwrap()).unwrap();
    assert!(text.starts_with("I notice this conversation is getting long."), "{text}");
    assert!(text.contains("- Modified 3 files (src/auth_0.ts, src/auth_1.ts, src/auth_2.ts)\n"), "{text}");
    assert!(text.contains("- We decided to use JWT tokens with a refresh.\n"), "{text}");
    assert!(text.ends_with("Recent conversation preserved. You can continue normally.\n"), "{text}");
}

// asserts 002-29
#[tokio::test]
async fn no_secret_reaches_a_summary() {
    let mut work = Work::new(Preset::Session, 1_000_000);
    // Put together here, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "k8Zr2VqT5nXw9LbY3mHc7JdF4sGp6AeR1uQo");
    work.context.push(Message::user(format!("Deploy with the token {secret} to the host web-3.internal")));
    work.talk(60, 20).await;
    let record = serde_json::to_string(&**work.context.state().summary().unwrap()).unwrap();
    assert!(!record.contains(&secret));
    assert!(record.contains("web-3.internal"), "{record}");
    // Nor the model that writes one.
    let mut work =
        Work::asking(Preset::Session, 1_000_000, |_, _| Ok(Scripted::says("Parts were discussed.")));
    work.context.push(Message::user(format!("Deploy with the token {secret} to the host web-3.internal")));
    work.talk(60, 20).await;
    let asked = work.model.as_ref().unwrap().requests();
    assert!(
        asked[0].user.contains("web-3.internal") && !asked[0].user.contains(&secret),
        "{}",
        asked[0].user
    );
}

// asserts 002-36
#[tokio::test]
async fn the_conversation_stays_coherent_across_many_summaries() {
    let mut work = Work::new(Preset::Session, 20_000);
    work.context.push(Message::system("You are a careful engineer."));
    work.context
        .push(Message::user("Migrate the billing tables; the cut-over is on 2025-03-14 and must not move"));
    for nth in 0..300 {
        let arguments = format!(r#"{{"path":"src/part_{nth}.rs"}}"#);
        for message in
            exchange(&format!("c{nth}"), "read_file", &arguments, "fn part() {}", Outcome::Succeeded)
        {
            work.context.push(message);
        }
        work.talk(2, 60).await;
        // What is shown is one story: the instructions, then summaries, each from where the one before ended, then everything said
        // since, in its order, and each call with its result.
        let view = work.context.state().view();
        let (mut covered, mut next, mut open) = (1, None, Vec::new());
        for (at, shown) in view.shown().enumerate() {
            match shown {
                Shown::Summary { record, .. } => {
                    assert_eq!((record.covers.start, next), (covered, None), "{at}: {}", work.sent());
                    covered = record.covers.end;
                }
                Shown::Message { id, message, .. } if at == 0 => {
                    assert!(message.is_system() && id.ordinal == 0)
                }
                Shown::Message { id, message, .. } => {
                    assert_eq!(id.ordinal, next.unwrap_or(covered), "{}", work.sent());
                    next = Some(id.ordinal + 1);
                    open.extend(message.calls().map(|call| call.id.clone()));
                    for result in message.results() {
                        assert_eq!(open.pop().as_ref(), Some(&result.call_id), "{}", work.sent());
                    }
                }
                shown => panic!("{shown:?}"),
            }
        }
        assert_eq!((next, open.len()), (Some(work.context.state().originals().len() as u64), 0));
        assert!(work.sent().contains("2025-03-14"), "{}", work.sent());
    }
    assert!(work.finished().len() >= 20);
}

// asserts 002-03
#[tokio::test]
async fn a_paste_that_fills_the_window_leaves_no_summary_empty() {
    let mut work = Work::new(Preset::Session, 16_000);
    work.context
        .push(Message::user("The release label is ZEBRA-77Q. Please never touch the table audit_trail."));
    work.talk(41, 110).await;
    let paste = "The quick brown fox jumps over the lazy dog. ".repeat(9_000);
    work.context.push(Message::user(format!("START {paste} END: keep port 8443")));
    work.context.prepare().await.unwrap();
    for _ in 0..30 {
        work.talk(1, 110).await;
        let view = work.context.state().view();
        for summary in view.summaries() {
            assert!(summary.text.split_whitespace().count() > 5, "{:?} of {}", summary.text, summary.covers);
        }
    }
    assert!(work.finished().len() > 1, "the paste is compacted as well");
    assert!(work.sent().contains("audit_trail"), "{}", work.sent());
}

// asserts 002-11, 002-36
#[tokio::test]
async fn a_merged_summary_keeps_the_first_task_and_the_decisions() {
    let config = Config { mode: SummaryMode::Hybrid, ..Preset::Session.config() };
    let says = |_: usize, _: &_| Ok(answer("The user works through the parts one by one."));
    let mut work = Work::with(config, 8_000, Some(Box::new(says)));
    work.context.push(Message::user("Port the exporter in src/ledger/export.rs to streaming, part by part."));
    let (mut merged, mut seen) = (0, 0);
    for nth in 0..160 {
        let decision = if nth % 3 == 0 {
            format!(" We decided to use codec{nth} for queue {nth}.")
        } else {
            String::new()
        };
        work.context.push(Message::assistant(format!(
            "Part {nth} is done. {}{decision}",
            "Words about it. ".repeat(12)
        )));
        let rule = if nth % 3 == 1 { format!(" Never rename the column col{nth}x.") } else { String::new() };
        work.context.push(Message::user(format!(
            "Please go on with part {nth}. {}{rule}",
            "It should be good. ".repeat(10)
        )));
        work.context.prepare().await.unwrap();
        if work.finished().len() == seen {
            continue;
        }
        seen = work.finished().len();
        assert!(work.sent().contains("Port the exporter in src/ledger"), "round {nth}: {}", work.sent());
        let summaries = work.context.state().view().summaries().count();
        let record = work.context.state().summary().unwrap();
        merged += usize::from(seen > 1 && summaries == 1);
        assert!(!record.summary.decisions.is_empty(), "round {nth}: {}", record.text);
        for decision in &record.summary.decisions {
            assert!(record.text.contains(decision.as_str()), "{decision}: {}", record.text);
        }
        let finish = work.finished().pop().unwrap();
        assert_eq!(finish.mode, record.mode);
    }
    assert!(merged > 0, "nothing was merged in {seen} compactions");
}

// asserts 002-31
#[tokio::test]
async fn with_originals_deleted_the_task_outlives_many_summaries() {
    for config in [Config::default()].into_iter().chain(Preset::ALL.map(Preset::config)) {
        let name = config.preset.map_or("defaults", Preset::as_str);
        let store = Arc::new(MemoryStore::new());
        let window = ContextWindow::new(Tokens(16_000), Tokens(800));
        let mut context = Session::builder(SessionId::new("seed").unwrap(), window)
            .config(Config { delete_originals: true, mode: SummaryMode::Rules, ..config })
            .counter(Arc::new(CharsPer4))
            .store(Arc::clone(&store) as Arc<dyn SummaryStore>)
            .build()
            .unwrap();
        context.push(Message::user(
            "Move the billing export to a stream; the cut-over is on 2026-12-14 and must not move.",
        ));
        for nth in 0..200 {
            let id = format!("c{nth}");
            let path = format!(r#"{{"file_path":"src/step_{nth}.rs","old_string":"a","new_string":"b"}}"#);
            for message in exchange(&id, "Edit", &path, "ok", Outcome::Succeeded) {
                context.push(message);
            }
            let words = "It reads the records in batches and keeps each offset. ".repeat(4);
            context.push(Message::assistant(format!("We decided to use codec{nth} for step {nth}. {words}")));
            let rule = if nth % 4 == 0 {
                format!(" Never rename the topic topic{nth}.events.")
            } else {
                String::new()
            };
            context.push(Message::user(format!("Next comes step {nth}. {words}{rule}")));
            let view = context.prepare().await.unwrap();
            let sent: Vec<String> = view.messages().map(|message| text(message)).collect();
            let sent = sent.join("\n");
            assert!(!sent.contains("[forgotten]"), "{name}, step {nth}: {sent}");
            assert!(sent.contains("2026-12-14"), "{name}, step {nth}: {sent}");
        }
    }
}

// asserts 002-25
#[tokio::test]
async fn the_files_take_the_room_that_a_models_few_words_leave() {
    let says = |_: usize, _: &_| Ok(Scripted::says("- The parts were moved one by one."));
    let mut work = Work::asking(Preset::Session, 200_000, says);
    work.context.push(Message::user("Move the parts of the exporter."));
    for nth in 0..20 {
        let calls = (0..6).map(|part| {
            let arguments =
                format!(r#"{{"file_path":"src/part_{nth}_{part}.rs","old_string":"a","new_string":"b"}}"#);
            Part::ToolCall(ToolCall::function(format!("c{nth}_{part}"), "Edit", arguments))
        });
        work.context.push(Message::new(Role::Assistant, calls.collect()));
        let results = (0..6).map(|part| {
            Part::ToolResult(ToolResult::text(format!("c{nth}_{part}"), "updated", Outcome::Succeeded))
        });
        work.context.push(Message::new(Role::Tool, results.collect()));
    }
    work.talk(12, 300).await;
    let record = work.context.state().summary().unwrap();
    assert_ne!(record.mode, SummaryMode::Rules);
    // What was done last may stay with the newest messages.
    for nth in 0..19 {
        for part in 0..6 {
            let path = format!("src/part_{nth}_{part}.rs");
            assert!(
                record.text.contains(&path),
                "{path}: {} of 1,000 tokens: {}",
                record.tokens,
                record.text
            );
        }
    }
}

// asserts 000-22, 002-35
/// In whatever words a person decides, the last five decisions stand in every later summary, beside rules and work in each turn.
#[tokio::test]
async fn what_a_person_decides_in_whatever_words_stands_in_every_later_summary() {
    const DECIDED: [&str; 8] = [
        "OK, Postgres it is then, and not MySQL: the ledger needs its locks.",
        "We drop the CSV export for good; nobody reads it.",
        "Let's keep the old endpoint until March and remove it after that.",
        "I want the amounts in cents, as integers, everywhere.",
        "Fine, tokens expire after fifteen minutes then.",
        "We go with Redis streams for the queue.",
        "Take option B: one worker for each region.",
        "The nightly job moves to 03:30, that's settled with operations.",
    ];
    let mut work = Work::new(Preset::Session, 16_000);
    let mut seen = 0;
    for nth in 0..200 {
        let said = match (nth % 25, nth % 5) {
            (12, _) => DECIDED[nth / 25].to_owned(),
            (_, 0) => format!(
                "Have a look at the retry queue of worker {nth}: it drops jobs when the broker restarts."
            ),
            (_, 1) => format!("The invoice of customer {nth} shows the wrong sum; see src/invoice_{nth}.rs."),
            (_, 2) => format!(
                "Is the timeout of stage {nth} really {nth} seconds? Customers say that it takes longer."
            ),
            (_, 3) => format!("Please go on with part {nth}. Never rename the column col{nth}x."),
            _ => format!("Please add a test for the case number {nth} in tests/case_{nth}.rs."),
        };
        work.context.push(Message::user(said));
        work.context.prepare().await.unwrap();
        let done = "The batch reads rows and writes them to the table. ".repeat(6);
        work.context.push(Message::assistant(format!(
            "Part {nth} is done: it took {nth} minutes. We decided to use codec{nth} for queue {nth}. {done}"
        )));
        if work.finished().len() > seen {
            seen = work.finished().len();
            let sent = work.sent();
            let last = (0..nth).rev().filter(|nth| nth % 25 == 12).take(5).map(|nth| DECIDED[nth / 25]);
            let missing: Vec<_> = last.filter(|decided| !sent.contains(decided)).collect();
            assert!(missing.is_empty(), "turn {nth}: {missing:?} in {sent}");
        }
    }
    assert!(seen > 5, "{seen}");
}
