//! Seed 001, "Phase 3: Automatic Summarization": preset `rolling`.

use std::{collections::BTreeSet, sync::Arc};

use longhaul::{
    Config, EventKind, Preset, Session,
    config::{Oversize, SummaryLimit},
    extract::{ToolStatus, ToolSummary, format_summaries, summarize_tool_result},
    summarize::{ClientError, Completion, CompletionRequest, Scripted},
    tokens::{CharsPer4, ContextWindow, TokenCounter},
    transcript::{Cost, Message, Outcome, SummaryMode, Tokens, ToolCall, ToolResult, Usage},
};

use crate::work::{Script, Work, answer, exchange, text, written_by};

fn summarized(tool: &str, arguments: &str, output: &str) -> ToolSummary {
    let call = ToolCall::function("c1", tool, arguments);
    summarize_tool_result(Some(&call), &ToolResult::text("c1", output, Outcome::Unstated))
}

// asserts 001-09, 001-10, 001-11
#[test]
fn summarizes_file_read_with_metadata() {
    let content = "export function hello() {}\nexport const world = 42;\nimport { foo } from 'bar';";
    let summary = summarized("read_file", r#"{"path":"/app.ts"}"#, content);
    assert_eq!((summary.tool.as_str(), summary.status), ("read_file", ToolStatus::Success));
    assert!(summary.key_facts.iter().any(|fact| fact == "Lines: 3"), "{summary}");
    assert_eq!(summary.metadata["path"], "/app.ts");
    assert_eq!(summary.metadata["lines"], 3);
    assert!(summary.to_string().contains("Exports: hello, world | Imports: 1 modules"), "{summary}");
    // The document's expression takes the first five, and two other languages have definitions.
    let many: String = (0..9).map(|nth| format!("export class Part{nth} {{}}\n")).collect();
    let many = summarized("read_file", r#"{"path":"/parts.ts"}"#, &many).to_string();
    assert!(many.contains("Exports: Part0, Part1, Part2, Part3, Part4"), "{many}");
    assert!(!many.contains("Part5"), "{many}");
    let python = "import os\nclass Ledger:\n    def rows(self): pass\n";
    let python = summarized("read_file", r#"{"path":"/ledger.py"}"#, python).to_string();
    assert!(python.contains("Type: python | Defines: Ledger, rows | Imports: 1 modules"), "{python}");
}

// asserts 001-12
#[test]
fn summarizes_bash_with_error_detection() {
    let output = "npm test\nError: Module not found\nexit code: 1";
    let summary = summarized("execute_bash", r#"{"command":"npm test"}"#, output);
    assert_eq!(summary.status, ToolStatus::Error);
    assert!(summary.key_facts.iter().any(|fact| fact.starts_with("Error:")), "{summary}");
    assert_eq!(summary.metadata["exitCode"], 1);
    assert_eq!(
        summary.to_string(),
        "[❌ execute_bash: Command: npm test | Exit: 1 | Output: 3 lines | Error: Error: Module not found]"
    );
    let fine = summarized("execute_bash", r#"{"command":"npm test"}"#, "12 passed\nexit code: 0");
    assert_eq!(fine.status, ToolStatus::Success, "{fine}");
}

// asserts 001-13
#[test]
fn a_search_names_pattern_matches_and_top_files() {
    let found = "src/a.ts:1: foo\nsrc/b.ts:2: foo\nsrc/a.ts:9: foo";
    let summary = summarized("search_files", r#"{"pattern":"foo"}"#, found);
    assert_eq!(
        summary.to_string(),
        r#"[✓ search_files: Pattern: "foo" | Matches: 3 | Files: 2 | Top files: src/a.ts, src/b.ts]"#
    );
}

// asserts 001-13
#[test]
fn a_search_without_matches_is_partial() {
    let summary = summarized("grep", r#"{"pattern":"nowhere"}"#, "");
    assert_eq!(summary.status, ToolStatus::Partial);
    assert!(summary.key_facts.iter().any(|fact| fact.starts_with("Matches: 0")), "{summary}");
}

// asserts 001-16, 001-17
#[test]
fn formats_summary_concisely() {
    let mut summary = ToolSummary::new("read_file", ToolStatus::Success);
    summary.key_facts = vec!["File: /app.ts".into(), "Lines: 100".into()];
    assert_eq!(summary.to_string(), "[✓ read_file: File: /app.ts | Lines: 100]");
    summary.status = ToolStatus::Error;
    assert_eq!(summary.to_string(), "[❌ read_file: File: /app.ts | Lines: 100]");
    assert_eq!(
        format_summaries([&summary, &summary]).lines().next(),
        Some("--- Summarized Context (2 items) ---")
    );
}

// asserts 001-35
#[tokio::test]
async fn what_is_sent_says_what_it_costs_and_what_was_taken_out_of_it() {
    let mut work = Work::new(Preset::Rolling, 8_000);
    work.talk(8, 100).await;
    assert!(work.finished().is_empty(), "nothing was taken out");
    while work.finished().is_empty() {
        work.talk(1, 100).await;
    }
    let view = work.context.prepare().await.unwrap();
    let counted: Tokens = view.messages().map(|message| CharsPer4.count_message(message)).sum();
    assert_eq!(view.tokens(), counted + CharsPer4.framing().per_reply);
    let finish = &work.finished()[0];
    assert!(view.tokens() <= Tokens(8_000) && view.tokens() == finish.tokens_after);
    // What is gone and what is there are all that was said; one message more is the summary.
    let (gone, said) = (finish.compressed_messages, work.context.state().originals().len() as u64);
    assert_eq!((gone - finish.digested) + view.messages().count() as u64, said + 1);
}

// asserts 001-20
#[tokio::test]
async fn falls_back_to_rules_when_the_context_is_too_large() {
    let config = longhaul::Config { mode: SummaryMode::Llm, ..Preset::Rolling.config() };
    let mut work = Work::with(config, 20_000, Some(Box::new(|_, _| Ok(answer("never asked")))));
    work.talk(120, 250).await;
    assert!(!work.finished().is_empty());
    // Each span is more than twice the summary's 500 tokens, so the model was never asked.
    assert_eq!(work.calls(), 0);
    assert!(work.finished().iter().all(|finish| finish.mode == SummaryMode::Rules && finish.cost.is_none()));
    let is_warning = |event: &EventKind| {
        matches!(event, EventKind::TooLargeForModel { tokens_to_summarize, limit: Tokens(1_000) }
            if *tokens_to_summarize > Tokens(1_000))
    };
    assert_eq!(work.events().iter().filter(|event| is_warning(event)).count(), work.finished().len());
}

// asserts 001-20
#[tokio::test]
async fn a_model_is_asked_where_only_long_messages_make_the_context_large() {
    let config = longhaul::Config { mode: SummaryMode::Llm, ..Preset::Rolling.config() };
    let mut work = Work::with(config, 16_000, Some(Box::new(|_, _| Ok(answer("The log was read.")))));
    for nth in 0..20 {
        let log = format!("2026-01-04 relay {nth} waits for the ledger\n").repeat(400);
        work.context.push(Message::user(log));
        work.talk(2, 20).await;
    }
    assert!(work.finished().len() >= 3);
    assert!(work.calls() > 0, "{:?}", work.events());
}

// asserts 001-20
#[tokio::test]
async fn no_model_is_asked_in_the_background_either_where_the_context_is_too_large() {
    let config = longhaul::Config { mode: SummaryMode::Llm, ..Preset::Rolling.config() };
    let mut work = Work::with(config, 20_000, Some(Box::new(|_, _| Ok(answer("never asked")))));
    while !work.context.decide().is_act() {
        work.context.push(Message::user("The export of part 7 is about src/part_7.rs. ".repeat(20)));
    }
    assert!(work.context.start_background().is_none());
    work.context.prepare().await.unwrap();
    assert_eq!((work.finished().len(), work.finished()[0].mode), (1, SummaryMode::Rules));
}

// asserts 001-03, 001-05, 001-21
#[tokio::test]
async fn falls_back_to_rules_when_the_model_fails() {
    let config = longhaul::Config {
        mode: SummaryMode::Llm,
        transcript_cap_tokens: Some(Tokens(100_000)),
        ..Preset::Rolling.config()
    };
    let failing = |_: usize, _: &_| Err(ClientError::Transport { reason: "connection reset".into() });
    let mut work = Work::with(config, 8_000, Some(Box::new(failing)));
    work.talk(60, 150).await;
    assert!(work.calls() > 0);
    assert!(work.finished().iter().all(|finish| finish.mode == SummaryMode::Rules));
    assert!(!work.finished().is_empty());
}

// asserts 001-23, 001-24
#[tokio::test]
async fn accumulates_summaries_with_version_tracking() {
    let mut work = Work::new(Preset::Rolling, 16_000);
    let mut versions = Vec::new();
    while versions.len() < 3 {
        work.talk(1, 200).await;
        if work.finished().len() > versions.len() {
            let record = work.context.state().summary().unwrap().clone();
            assert_eq!(record.tokens, CharsPer4.count_text(&record.text));
            assert_eq!(record.created_at_ms, 1_700_000_000_000);
            versions.push((record.depth + 1, record.covers.end, record.text.clone()));
        }
    }
    assert_eq!(versions.iter().map(|(version, ..)| *version).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(versions.windows(2).all(|pair| pair[0].1 < pair[1].1), "each includes more messages");
    for (version, _, text) in &versions[1..] {
        let is_update = text.contains(&format!("[Update {version}]"));
        assert!(is_update || text.starts_with("[Condensed history]"), "{text}");
    }
    assert_eq!(work.context.state().view().summaries().count(), 1, "one running summary");
}

// asserts 001-01, 001-06, 001-30
#[tokio::test]
async fn the_summary_budget_never_exceeds_its_limits() {
    for window in [2_000, 8_000, 32_000] {
        let mut work = Work::new(Preset::Rolling, window);
        work.talk(160, 300).await;
        assert!(!work.finished().is_empty());
        for finish in work.finished() {
            assert!(finish.summary_tokens <= Tokens(500), "{finish:?}");
            assert!(finish.summary_tokens <= Tokens(window / 10), "{finish:?}");
        }
    }
}

/// A session under the preset with a model of so small a window, which is shown as much as that takes.
fn with_a_small_model(window: u64) -> (Session, Arc<Scripted>) {
    let model = Arc::new(Scripted::new(|_, _| Ok(answer("The parts were discussed one after the other."))));
    let config = Config {
        mode: SummaryMode::Llm,
        oversize: Oversize::MapReduce,
        transcript_cap_tokens: None,
        ..Preset::Rolling.config()
    };
    let session = written_by(&model, window, config, ContextWindow::new(Tokens(16_000), Tokens::ZERO));
    (session, model)
}

// asserts 001-01
#[tokio::test]
async fn what_a_model_is_sent_fits_its_window_with_its_answer() {
    let (mut context, model) = with_a_small_model(4_000);
    for nth in 0..200 {
        context.push(Message::user(format!("Message {nth} is about src/part_{nth}.rs. ").repeat(10)));
        context.prepare().await.unwrap();
    }
    assert!(model.calls() > 2);
    for request in model.requests() {
        let sent = CharsPer4.count_text(&request.system) + CharsPer4.count_text(&request.user);
        assert!(sent + request.max_tokens <= Tokens(4_000), "{sent} and {}", request.max_tokens);
    }
}

// asserts 001-22
#[tokio::test]
async fn a_model_is_held_to_the_limit_and_what_it_used_is_known() {
    // Twice what is asked for, each line borne out by the conversation.
    let said: String = (0..60)
        .map(|nth| format!("- Message {nth} is about src/part_{nth}.rs and its limit of {nth}0 ms.\n"))
        .collect();
    let usage = Usage { input: Tokens(9_000), output: Tokens(1_000), ..Usage::default() };
    let script =
        move |_: usize, _: &_| Ok(Completion { usage: Some(usage), ..Scripted::says(said.as_str()) });
    let config = Config {
        mode: SummaryMode::Llm,
        oversize: Oversize::MapReduce,
        transcript_cap_tokens: None,
        ..Preset::Rolling.config()
    };
    let mut work = Work::with(config, 16_000, Some(Box::new(script)));
    while work.finished().is_empty() {
        work.talk(1, 150).await;
    }
    let asked = work.model.as_ref().unwrap().requests().pop().unwrap();
    assert!(asked.user.contains("Keep the summary under ") && asked.max_tokens <= Tokens(1_100), "{asked:?}");
    let finish = work.finished().pop().unwrap();
    assert_eq!(finish.mode, SummaryMode::Llm, "{}", work.summary());
    assert!(finish.summary_tokens <= Tokens(500), "{finish:?}");
    assert_eq!(finish.summary_tokens, CharsPer4.count_text(&work.summary()));
    assert_eq!(finish.cost, Some(Cost { calls: 1, usage }));
}

// asserts 001-19
#[tokio::test]
async fn a_message_reaches_the_model_whole_where_there_is_room() {
    let said = format!("START {} END", "Here is what the exporter does with its rows. ".repeat(200));
    for (window, is_whole) in [(128_000, true), (2_600, false)] {
        let (mut context, model) = with_a_small_model(window);
        context.push(Message::user(said.clone()));
        for nth in 0..30 {
            context.push(Message::user(format!("Message {nth} is about src/part_{nth}.rs. ").repeat(10)));
        }
        context.compact(None).await.unwrap();
        let shown = &model.requests()[0].user;
        assert!(shown.contains("START Here is") && shown.contains("rows.  END"), "{shown}");
        assert_eq!(shown.contains(&said), is_whole, "{window}");
    }
}

// asserts 001-30
#[tokio::test]
async fn without_room_the_summary_is_omitted_and_says_so() {
    let mut work = Work::new(Preset::Rolling, 450);
    work.talk(60, 25).await;
    let sent = work.sent();
    assert!(sent.contains("[Summary omitted - insufficient budget]"), "{sent}");
}

// asserts 001-07
#[tokio::test]
async fn error_details_are_preserved() {
    let mut work = Work::new(Preset::Rolling, 8_000);
    let error = "error[E0308]: mismatched types\n  --> src/parse.rs:42:17\nexit code: 101";
    for message in exchange("c1", "execute_bash", r#"{"command":"cargo build"}"#, error, Outcome::Failed) {
        work.context.push(message);
    }
    work.context.push(Message::assistant("The E0308 in src/parse.rs:42 comes from the return type."));
    work.talk(40, 200).await;
    assert!(!work.finished().is_empty());
    assert!(work.summary().contains("E0308"), "{}", work.summary());
}

// asserts 001-07
#[tokio::test]
async fn the_decisive_lines_of_an_error_stay_in_the_summary() {
    let rust = "   Compiling ledger v0.1.0 (/srv/ledger)\nerror[E0308]: mismatched types\n  --> src/parse.rs:42:17\n   |\n41 |     fn width(&self) -> u32 {\n   |                        --- expected `u32` because of return type\n42 |         self.columns.len()\n   |         ^^^^^^^^^^^^^^^^^^ expected `u32`, found `usize`\n\nFor more information about this error, try `rustc --explain E0308`.\nerror: could not compile `ledger` (lib) due to 1 previous error\nexit code: 101";
    let python = "Traceback (most recent call last):\n  File \"/srv/relay/run.py\", line 31, in <module>\n    main()\n  File \"/srv/relay/queue.py\", line 118, in drain\n    part = self.parts[key]\n           ~~~~~~~~~~^^^^^\nKeyError: 'eu-west-3'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/srv/relay/queue.py\", line 118, in drain\n    raise DrainError(key) from error\nrelay.errors.DrainError: cannot drain eu-west-3\nexit code: 1";
    let java = "Exception in thread \"main\" java.lang.IllegalStateException: the export did not start\n\tat org.ledger.Export.start(Export.java:88)\n\tat org.ledger.Main.main(Main.java:14)\nCaused by: java.sql.SQLException: column audit_id is missing\n\tat org.ledger.Schema.check(Schema.java:231)\n\t... 1 more\nexit code: 1";
    let notes: String = (0..12)
        .map(|nth| format!("  note {nth}: required by a bound in `run_{nth}` at src/part_{nth}.rs:{nth}1:5 because of the generic argument number {nth}\n"))
        .collect();
    let anyhow = format!(
        "running the import\nerror: import of ledger failed at src/ledger.rs:41:5\n{notes}Caused by:\n    0: importing rows\n    1: missing column audit_id\nexit code: 1"
    );
    let lower = format!(
        "error: import of ledger failed at src/ledger.rs:41:5\n{notes}caused by: missing column audit_id\nexit code: 1"
    );
    let cases = [
        (
            "ledger import",
            &*anyhow,
            vec!["import of ledger failed", "Caused by:", "0: importing rows", "1: missing column audit_id"],
        ),
        (
            "ledger import --again",
            &*lower,
            vec!["import of ledger failed", "caused by: missing column audit_id"],
        ),
        ("cargo build", rust, vec!["mismatched types", "src/parse.rs:42:17", "found `usize`"]),
        (
            "python run.py",
            python,
            vec!["KeyError: 'eu-west-3'", "cannot drain eu-west-3", "queue.py\", line 118"],
        ),
        (
            "java -jar export.jar",
            java,
            vec!["the export did not start", "column audit_id is missing", "Schema.java:231"],
        ),
    ];
    for (command, output, decisive) in cases {
        let mut work = Work::new(Preset::Rolling, 8_000);
        work.context.push(Message::user("Mend what fails, please"));
        let arguments = format!(r#"{{"command":"{command}"}}"#);
        for message in exchange("c1", "execute_bash", &arguments, output, Outcome::Failed) {
            work.context.push(message);
        }
        work.context.push(Message::assistant("I look at what it says."));
        while work.finished().is_empty() {
            work.talk(1, 200).await;
        }
        let summary = work.summary();
        assert!(!work.sent().contains(output), "{command} is still in view");
        for line in decisive {
            assert!(summary.contains(line), "{command}: no {line:?} in {summary}");
        }
    }
}

// asserts 001-07, 001-25
#[tokio::test]
async fn each_running_summary_tells_of_the_newest_error_and_its_command() {
    let mut work = Work::new(Preset::Rolling, 16_000);
    let noise = |nth: usize| format!("Replica {nth} lagged by {nth}7 seconds during the import.\n").repeat(9);
    let (mut seen, mut failed) = (0, Vec::new());
    for nth in 0..220 {
        let asked =
            format!("Turn {nth}: look at module_{nth} in /srv/app/module_{nth}.ts and tell me about it. ");
        let decision =
            if nth % 8 == 5 { format!("We decided to use adapter{nth} for it. ") } else { String::new() };
        let rule =
            if nth % 24 == 7 { format!("Never call the endpoint /v{nth}/purge. ") } else { String::new() };
        work.context.push(Message::user(asked + &decision + &rule + &noise(nth).replace('\n', " ")));
        if nth % 4 == 1 {
            let command = format!(r#"{{"command":"npm test -- --suite suite_{nth}"}}"#);
            let output = format!(
                "npm test\n{}Error: Cannot find module 'lib{nth}' in /srv/app/module_{nth}.ts\nexit code: 1",
                noise(nth + 900)
            );
            failed.push(nth);
            for message in exchange(&format!("c{nth}"), "execute_bash", &command, &output, Outcome::Failed) {
                work.context.push(message);
            }
        }
        work.context.prepare().await.unwrap();
        work.context.push(Message::assistant(format!("Module {nth} is fine. {}", noise(nth + 500))));
        let Some(record) = work.context.state().summary().filter(|_| work.finished().len() > seen) else {
            continue;
        };
        seen = work.finished().len();
        let view: Vec<String> = work.context.state().view().messages().map(|said| text(said)).collect();
        let is_shown = |nth: &usize| {
            view.iter().any(|said| said.starts_with("npm test") && said.contains(&format!("'lib{nth}'")))
        };
        let newest =
            failed.iter().rfind(|nth| !is_shown(nth)).expect("something failed in what is summarized");
        let line = format!("[❌ execute_bash: Command: npm test -- --suite suite_{newest} | Exit: 1 | ");
        let told = record.text.lines().rfind(|told| told.starts_with(&line));
        let told =
            told.unwrap_or_else(|| panic!("summary {seen}: nothing of suite_{newest}: {}", record.text));
        assert!(told.contains(&format!("Cannot find module 'lib{newest}'")), "{told}");
        // Of what stands before the error the lines next to it, which may be its cause.
        assert!(told.matches("lagged").count() <= 2, "{told}");
        assert!(record.tokens <= Tokens(500), "{}", record.tokens);
    }
    assert!(seen >= 6, "{seen}");
}

// asserts 001-25
#[tokio::test]
async fn every_rule_stands_behind_an_update_of_a_models_words() {
    let config = longhaul::Config {
        mode: SummaryMode::Llm,
        transcript_cap_tokens: Some(Tokens(30_000)),
        ..Preset::Rolling.config()
    };
    // As long as it may be, and without any rule.
    let script = |_: usize, request: &CompletionRequest| {
        let turns: Vec<&str> = request.user.lines().filter(|line| line.starts_with("Turn ")).collect();
        let told =
            turns.iter().rev().take(6).rev().map(|turn| format!("- {}.\n", turn.split(". ").next().unwrap()));
        Ok(Scripted::says(format!(
            "- The exporter is ported to the new ledger.\n{}",
            told.collect::<String>()
        )))
    };
    let mut work = Work::with(config, 16_000, Some(Box::new(script)));
    let task = "Please port the exporter in src/ledger/export.rs. ".to_owned()
        + &"The report lists invoices. ".repeat(18);
    work.context.push(Message::user(task));
    work.context.push(Message::assistant("I begin."));
    let rules: Vec<String> = (0..8).map(|nth| format!("Never touch the table orders_{nth}.")).collect();
    let mut seen = 0;
    for turn in 0..150 {
        if let Some(rule) = rules.get(turn / 8).filter(|_| turn % 8 == 5) {
            work.context.push(Message::user(rule.as_str()));
            work.context.push(Message::assistant("Understood."));
        }
        let words = format!("Worker {turn} has queued jobs. ").repeat(17);
        work.context.push(Message::user(format!(
            "Turn {turn}: look at module_{turn} in /srv/app/module_{turn}.ts and tell me about it. {words}"
        )));
        work.context.prepare().await.unwrap();
        work.context.push(Message::assistant(format!("Module {turn} is fine. {words}")));
        if work.finished().len() > seen {
            seen = work.finished().len();
            let view = work.sent();
            let said = rules.iter().take((turn + 3) / 8);
            let missing: Vec<_> = said.filter(|rule| !view.contains(*rule)).collect();
            assert!(missing.is_empty(), "turn {turn}, summary {seen}: {missing:?} in {}", work.summary());
            assert!(work.summary().contains("The exporter is ported"), "{}", work.summary());
        }
    }
    assert!(seen >= 4, "{seen}");
}

// asserts 001-07
#[tokio::test]
async fn without_error_details_a_line_of_an_error_is_left() {
    let mut details = Vec::new();
    for preserve_error_details in [true, false] {
        let config = Config { preserve_error_details, ..Preset::Rolling.config() };
        let mut work = Work::with(config, 12_000, None);
        work.context.push(Message::user("Run the parts one by one, please"));
        for nth in 0..40 {
            let detail = format!("expected `u64` at a step of part_{nth}, found `u32`; ").repeat(30);
            let error = format!(
                "error[E0308]: mismatched types: {detail}\n  --> src/part_{nth}.rs:7:5\nexit code: 101"
            );
            let command = format!(r#"{{"command":"cargo test part_{nth}"}}"#);
            for message in exchange(&format!("c{nth}"), "execute_bash", &command, &error, Outcome::Failed) {
                work.context.push(message);
            }
            work.context.push(Message::assistant(format!("Part {nth} fails; the next is run.")));
            work.context.prepare().await.unwrap();
        }
        let sent = work.sent();
        assert!(sent.contains("error[E0308]: mismatched types"), "{sent}");
        details.push(sent.matches("found `u32`").count());
    }
    assert!(details[0] > details[1], "{details:?}");
}

// asserts 001-27, 001-28
#[tokio::test]
async fn the_summary_is_injected_after_the_system_prompt() {
    let mut work = Work::new(Preset::Rolling, 8_000);
    work.context.push(Message::system("You are a careful assistant."));
    work.talk(60, 200).await;
    let sent = work.sent();
    let lines: Vec<&str> = sent.lines().take(3).collect();
    assert_eq!(
        lines,
        ["system: You are a careful assistant.", "system: [Previous Conversation Summary]", ""]
    );
    // Where there is no system prompt, it comes first.
    let mut work = Work::new(Preset::Rolling, 8_000);
    work.talk(60, 200).await;
    assert!(work.sent().starts_with("system: [Previous Conversation Summary]\n"), "{}", work.sent());
}

/// Ports a ledger part by part; in every tenth round a rule, and five later a decision.
async fn port(work: &mut Work, rounds: std::ops::Range<usize>) {
    for nth in rounds {
        let decision = if nth % 10 == 5 {
            format!(" We decided to use codec{nth} for queue {nth}.")
        } else {
            String::new()
        };
        let words = "Some words about it. ".repeat(10);
        work.context.push(Message::assistant(format!("Part {nth} is done. {words}{decision}")));
        let rule = if nth % 10 == 0 { format!(" Never rename the column col{nth}x.") } else { String::new() };
        let words = "It should be good. ".repeat(12);
        work.context.push(Message::user(format!("Please go on with part {nth}. {words}{rule}")));
        work.context.prepare().await.unwrap();
    }
}

// asserts 001-24, 001-25
#[tokio::test]
async fn an_update_tells_of_what_is_new_and_keeps_the_newest() {
    let mut work = Work::new(Preset::Rolling, 16_000);
    work.context.push(Message::user("Port the exporter in src/ledger/export.rs. Never touch audit_trail."));
    let (mut updates, mut condensed, mut seen) = (0, 0, 0);
    for round in 0..240 {
        port(&mut work, round..round + 1).await;
        if work.finished().len() == seen {
            continue;
        }
        seen = work.finished().len();
        let record = work.context.state().summary().unwrap();
        let text = &record.text;
        if let Some((before, update)) = text.rsplit_once("[Update ") {
            updates += 1;
            for line in update.lines().filter(|line| line.contains("Rule: ") || line.contains("Decision: ")) {
                assert!(!before.contains(line), "{line} is said again: {text}");
            }
        }
        condensed += usize::from(text.starts_with("[Condensed history]"));
        // Of the newest covered rounds the rule and the request are there.
        let last = (record.covers.end as usize).saturating_sub(2) / 2 - 1;
        let rule = format!("col{}x", last - last % 10);
        assert!(
            text.contains(&rule) || work.sent().contains(&rule),
            "{rule}, m{}: {text}",
            record.covers.end
        );
        // What is asked now stands behind it as it was said.
        assert!(text.contains("Request: Please go on with part") && !text.contains("Now: "), "{text}");
    }
    assert!(updates > 0 && condensed > 0, "{updates} updates, {condensed} condensed");
}

// asserts 001-25
#[tokio::test]
async fn the_task_and_the_rules_stay_when_a_models_words_take_the_place_of_what_was_said() {
    for fails in [|_| false, |nth: usize| nth > 1] {
        let config = longhaul::Config {
            mode: SummaryMode::Llm,
            oversize: Oversize::Newest,
            transcript_cap_tokens: Some(Tokens(100_000)),
            ..Preset::Rolling.config()
        };
        // A model that tells of the newest parts, and of nothing that anybody wants.
        let script = move |nth: usize, request: &CompletionRequest| {
            if fails(nth) {
                return Err(ClientError::Transport { reason: "connection reset".into() });
            }
            let parts = request.user.match_indices("Part ").map(|(at, _)| &request.user[at..]);
            let done = parts.filter_map(|part| {
                Some(format!(
                    "- {}
",
                    &part[..part.find(" is done.")? + 9]
                ))
            });
            let done: Vec<String> = done.filter(|line| line.len() < 24).collect();
            Ok(Scripted::says(done[done.len().saturating_sub(30)..].concat()))
        };
        let mut work = Work::with(config, 16_000, Some(Box::new(script)));
        let task = "Port the exporter in src/ledger/export.rs. Never touch audit_trail.";
        work.context.push(Message::user(task));
        let mut condensed = BTreeSet::new();
        for round in 0..210 {
            port(&mut work, round..round + 1).await;
            let Some(record) = work.context.state().summary() else { continue };
            if record.text.starts_with("[Condensed history]") {
                condensed.insert(record.mode != SummaryMode::Rules);
            }
            let said = &record.text;
            assert!(
                said.contains("Task: Port the exporter in src/ledger/export.rs."),
                "round {round}: {said}"
            );
            assert!(said.contains("Never touch audit_trail"), "round {round}: {said}");
        }
        assert!(condensed.contains(&!fails(9)), "by a model: {condensed:?}");
    }
}

// asserts 001-30
#[tokio::test]
async fn what_a_paste_left_no_room_for_is_told_of_afterwards() {
    let mut work = Work::new(Preset::Rolling, 16_000);
    work.context.push(Message::user("Port the exporter in src/ledger/export.rs. Never touch audit_trail."));
    port(&mut work, 1..16).await;
    let paste = "The quick brown fox jumps over the lazy dog. ".repeat(9_000);
    work.context.push(Message::assistant("Done."));
    work.context.push(Message::user(format!("START {paste} END: keep port 8443")));
    work.context.prepare().await.unwrap();
    let said = |work: &Work| {
        let summaries: Vec<_> = work.context.state().view().summaries().map(|one| one.text.clone()).collect();
        assert!(summaries.iter().all(|text| !text.trim().is_empty()), "{summaries:?}");
        summaries.concat()
    };
    let first = said(&work);
    let sent = work.sent();
    assert!(
        first.contains("[Summary omitted - insufficient budget]") || sent.contains("audit_trail"),
        "{sent}"
    );
    let mut round = 16;
    while work.context.state().summary().unwrap().covers.end < 40 {
        port(&mut work, round..round + 1).await;
        said(&work);
        round += 1;
    }
    let later = said(&work);
    assert!(later.contains("Task: Port the exporter") && later.contains("audit_trail"), "{later}");
}

// asserts 001-25
/// Long rules take most of the limit; the newest decision stands beside them, whoever writes.
#[tokio::test]
async fn a_condensed_history_tells_the_newest_decision_while_there_is_room() {
    const SAYS: &str = "The parts of the exporter were ported one by one, and each was checked.";
    for (window, by_model) in [(8_000, false), (16_000, false), (8_000, true)] {
        let mut config = Preset::Rolling.config();
        if by_model {
            (config.mode, config.transcript_cap_tokens) = (SummaryMode::Llm, None);
        }
        let script: Option<Box<Script>> =
            by_model.then(|| Box::new(|_: usize, _: &_| Ok(Scripted::says(SAYS))) as _);
        let mut work = Work::with(config, window, script);
        let (mut n_condensed, mut last) = (0, String::new());
        for nth in 0..400 {
            // A model's few words leave room for an update as long as there are few rules.
            let rule = match nth % 4 {
                0 if !by_model || nth % 40 == 0 => {
                    format!(
                        " Never rename the column col{nth}, {}.",
                        "nor a view that is made of it and read by the clerks ".repeat(3)
                    )
                }
                _ => String::new(),
            };
            work.context.push(Message::user(format!("Please go on with part {nth}.{rule}")));
            work.context.push(Message::assistant(format!(
                "Part {nth} is done. We decided to use codec{nth} for queue {nth}. {}",
                "The batch reads rows and writes them to the table. ".repeat(8)
            )));
            work.context.prepare().await.unwrap();
            let text = work.summary();
            if text == last || !text.starts_with("[Condensed history]") {
                continue;
            }
            n_condensed += 1;
            let record = work.context.state().summary().unwrap();
            let covered = record.covers.end;
            let newest = (0..nth).rev().find(|at| 2 * at + 1 < covered).unwrap();
            assert!(
                text.contains(&format!("codec{newest} for queue {newest}")),
                "m{covered} in {window}: {text}"
            );
            last = text;
            if n_condensed == 4 {
                break;
            }
        }
        assert!(n_condensed > 2, "{n_condensed} in {window}, by a model: {by_model}");
    }
}

// asserts 001-33, 001-34
#[tokio::test]
async fn the_lines_of_calls_keep_to_the_documents_sizes_and_name() {
    // Room for all of them.
    let config =
        Config { max_summary_tokens: SummaryLimit::Tokens(Tokens(2_000)), ..Preset::Rolling.config() };
    let mut work = Work::with(config, 60_000, None);
    let command = format!(r#"{{"command":"{}"}}"#, "cargo test -p relay && ".repeat(9));
    let failed = format!("error: {}\nexit code: 1", "the path is not there ".repeat(6));
    let code: String = (0..9).map(|nth| format!("export const part{nth} = {nth};\n")).collect();
    let found: String = (0..9).map(|nth| format!("src/part_{nth}.ts:1:part{nth}\n")).collect();
    for (nth, (tool, arguments, output)) in [
        ("execute_bash", command.as_str(), failed.as_str()),
        ("read_file", r#"{"path":"src/parts.ts"}"#, &code),
        ("grep", r#"{"pattern":"part\\d"}"#, &found),
        ("search_files", r#"{"pattern":"lexer"}"#, "No matches"),
    ]
    .into_iter()
    .enumerate()
    {
        for message in exchange(&format!("c{nth}"), tool, arguments, output, Outcome::Unstated) {
            work.context.push(message);
        }
    }
    work.talk(30, 300).await;
    work.context.compact(None).await.unwrap();
    let text = work.summary();
    let line = |start: &str| {
        text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"))
    };
    let fact = |line: &str, label: &str| {
        let (_, fact) = line.split_once(&format!("{label}: ")).unwrap_or_else(|| panic!("{label}: {text}"));
        fact.split([']', '|']).next().unwrap().trim().to_owned()
    };
    let bash = line("[❌ execute_bash: ");
    assert_eq!(fact(bash, "Command").trim_end_matches("...").len(), 60 - " ".len(), "{bash}");
    assert!((101..=303).contains(&fact(bash, "Error").len()), "{bash}");
    assert_eq!(fact(line("[✓ read_file: "), "Exports"), "part0, part1, part2, part3, part4 and 4 more");
    let search = line("[✓ search: Pattern: \"part");
    assert_eq!(fact(search, "Top files"), "src/part_0.ts, src/part_1.ts, src/part_2.ts and 6 more");
    line("[✓ search: Pattern: \"lexer\"");
}
