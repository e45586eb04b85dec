//! Files whose history a store knows, and models that are asked for more room than is needed.

use std::sync::Arc;

use async_trait::async_trait;
use longhaul_summarize::{Draft, SummarizeError, SummaryRequest};
use longhaul_tokens::CharsPer4;
use longhaul_transcript::{Message, SummaryMode, Transcript};

use super::*;
use crate::Preset;

const WINDOW: ContextWindow = ContextWindow { window: Tokens(20_000), reserved_output: Tokens(0) };

fn document(said: &[Message]) -> Document {
    let transcript: Transcript = said.iter().cloned().collect();
    let encoded = wire::encode(&transcript, Format::OpenAi).unwrap();
    wire::read(Some(Format::OpenAi), encoded.document.as_bytes()).unwrap()
}

fn said(turns: usize) -> Vec<Message> {
    let turns = (0..turns).flat_map(|nth| {
        let says = format!("It computes value_{nth} for the caller in src/main.rs. ").repeat(6);
        [Message::user(format!("What does src/file_{nth}.rs do?")), Message::assistant(says)]
    });
    [Message::system("Be careful.")].into_iter().chain(turns).collect()
}

fn session(document: &Document) -> DocumentSession<'_> {
    DocumentSession::new(document, WINDOW, Arc::new(CharsPer4), Config::default(), None).unwrap()
}

/// A model that says little.
#[derive(Debug)]
struct Brief;

#[async_trait]
impl Summarizer for Brief {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let text =
            "Files in src were looked at, and the caller in src/main.rs needs their values.".to_owned();
        let tokens = request.counter.count_text(&text);
        Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "brief".into(), ..Draft::default() })
    }
}

#[tokio::test]
async fn what_a_model_said_is_used_also_where_there_was_room_for_everything() {
    let said = said(20);
    let document = document(&said);
    let session = session(&document);
    let tokens = session.state().tokens();
    for budget in (tokens.0..tokens.0 + 160).step_by(5).map(Tokens) {
        let (done, _) = session.compact_with(&Within::new(budget), &Brief).await.unwrap();
        assert_eq!(done.record.model, "brief", "{budget}");
        assert!(done.tokens_after < tokens, "{budget}");
    }
}

/// A model that says three times as much as it was asked for.
#[derive(Debug)]
struct Overlong;

#[async_trait]
impl Summarizer for Overlong {
    async fn summarize(&self, request: SummaryRequest<'_>) -> Result<Draft, SummarizeError> {
        let line = |nth: usize| format!("Statement {nth}: what file_{nth}.rs computes was discussed.\n");
        let (limit, mut text) = (request.limit.scaled(3.0), String::new());
        for nth in 0.. {
            if request.counter.count_text(&text) > limit {
                break;
            }
            text.push_str(&line(nth));
        }
        let tokens = request.counter.count_text(&text);
        Ok(Draft { text, tokens, mode: SummaryMode::Llm, model: "overlong".into(), ..Draft::default() })
    }
}

#[tokio::test]
async fn what_was_left_out_of_a_models_words_is_told() {
    let rules = (0..60).flat_map(|nth| {
        [Message::user(format!("Never touch rule_{nth}.rs.")), Message::assistant("It stays as it is.")]
    });
    let said: Vec<Message> = said(80).into_iter().chain(rules).collect();
    let document = document(&said);
    let config = Config { mode: SummaryMode::Hybrid, ..Config::default() };
    let session = DocumentSession::new(&document, WINDOW, Arc::new(CharsPer4), config, None).unwrap();
    let (done, _) = session.compact_with(&Within::new(Tokens(4_000)), &Overlong).await.unwrap();
    assert!(done.record.text.contains("Statement 0") && done.record.text.contains("## By rule"));
    let told = done.record.summary.checks.iter().filter(|check| check.starts_with("left out"));
    assert_eq!(told.count(), 1, "{:?}", done.record.summary.checks);
}

// asserts 001-20
#[test]
fn a_history_too_large_for_a_model_is_told_apart() {
    let document = document(&said(40));
    let session =
        |config: Config| DocumentSession::new(&document, WINDOW, Arc::new(CharsPer4), config, None).unwrap();
    let within = Within::new(Tokens(2_000));
    let config = crate::Preset::Rolling.config();
    let told = session(config.clone()).too_large_for_model(&within).unwrap();
    assert!(told.is_some_and(|(tokens, limit)| tokens > limit && limit == Tokens(1_000)), "{told:?}");
    let wide = Config { transcript_cap_tokens: Some(Tokens(100_000)), ..config };
    assert_eq!(session(wide).too_large_for_model(&within).unwrap(), None);
    assert_eq!(session(Config::default()).too_large_for_model(&within).unwrap(), None);
}

#[test]
fn it_says_whether_the_originals_of_a_store_were_taken_up() {
    let said = said(20);
    let first = document(&said);
    let done = session(&first).compact(&Within::new(Tokens(700))).unwrap();
    let after = wire::read(Some(Format::OpenAi), &*done.bytes).unwrap();
    let messages: Vec<Message> =
        after.transcript().entries().iter().map(|entry| (*entry.message).clone()).collect();
    // The instruction, the summary, and then the last messages of the conversation.
    let n_tail = messages.len() as u64 - 2;
    let tail = (said.len() as u64 - n_tail..).map(Some).take(n_tail as usize);
    let stored = |n_before: usize| Stored {
        originals: said.iter().cloned().map(Some).collect(),
        ordinals: std::iter::repeat_n(None, n_before).chain(tail.clone()).collect(),
        summary: done.record.clone(),
    };
    assert!(!session(&after).has_originals());
    assert!(session(&after).with_stored(stored(2)).has_originals());

    let more: Vec<Message> = [Message::system("Answer in English.")].into_iter().chain(messages).collect();
    let more = document(&more);
    assert!(!session(&more).with_stored(stored(3)).has_originals());
}

// asserts 001-25, 001-32
#[test]
fn a_running_summary_that_is_read_back_is_gone_on_with() {
    let config = crate::Preset::Rolling.config();
    let (task, mut said) = ("Port the exporter of invoices.", vec![Message::system("Be careful.")]);
    let mut told = String::new();
    for round in 0..5 {
        for turn in 0..25 {
            let asked = match (round, turn) {
                (0, 0) => task.to_owned(),
                (_, 3 | 9) => {
                    format!("Mend invoice {turn}. Never touch the table audit_{round}_{turn}.")
                }
                _ => format!("Mend the invoice number {turn} of round {round}."),
            };
            said.extend([Message::user(asked), Message::assistant("It is mended. ".repeat(50))]);
        }
        let document = document(&said);
        let session = DocumentSession::new(&document, WINDOW, Arc::new(CharsPer4), config.clone(), None);
        let done = session.unwrap().compact(&Within::new(Tokens(3_500))).unwrap();
        let history = wire::read(Some(Format::OpenAi), &*done.bytes).unwrap();
        said = history.transcript().entries().iter().map(|entry| (*entry.message).clone()).collect();
        let (text, all) = (&done.record.text, String::from_utf8(done.bytes).unwrap());
        assert_eq!(done.record.depth, round);
        assert_eq!(text.matches("[✓ user: Task: ").count(), 1, "{text}");
        assert!(text.contains(&format!("[✓ user: Task: {task}]")), "{text}");
        assert!(!text.contains("summary-depth") && !text.contains("[Previous"), "{text}");
        for line in told.lines().filter(|line| line.starts_with("[✓ user: Rule: ")) {
            assert_eq!(text.matches(line).count(), 1, "{line} in {text}");
        }
        assert!(all.contains(&format!("Mend the invoice number 24 of round {round}.")), "{all}");
        told.clone_from(text);
    }
}

// asserts 001-25
#[test]
fn a_summary_that_was_omitted_is_no_task() {
    let omitted = "[Previous Conversation Summary]\n\n[Summary omitted - insufficient budget]\n\nsummary-depth:0 id:1c9d9420d993ca24";
    let mut said = vec![Message::user(omitted)];
    for turn in 0..25 {
        said.extend([
            Message::user(format!("Mend the invoice number {turn}.")),
            Message::assistant("It is mended. ".repeat(50)),
        ]);
    }
    let document = document(&said);
    let config = crate::Preset::Rolling.config();
    let session = DocumentSession::new(&document, WINDOW, Arc::new(CharsPer4), config, None).unwrap();
    let text = session.compact(&Within::new(Tokens(2_500))).unwrap().record.text;
    assert!(text.contains("[✓ user: Task: Mend the invoice number 0.]"), "{text}");
    assert!(!text.contains("omitted"), "{text}");
}

// asserts 004-50
#[test]
fn what_was_pasted_last_gives_way_to_the_rules_of_the_person() {
    const RULES: [&str; 6] = [
        "Never bump the MSRV, it stays at 1.75.",
        "Only ever touch files under crates/gate and tests/.",
        "No new dependencies without my OK, not even dev-dependencies.",
        "Never change the wire format v2, three customers parse it by hand.",
        "Commit messages are always in English.",
        "Always ask me before you run anything that takes more than a minute.",
    ];
    const ASKED: &str = "Can you find out why the box died? Do not restart anything before you know.";
    let line = |nth: usize| {
        format!(
            "Nov 23 04:{:02}:51 harbor-3 sshd[{}]: Connection closed by 10.0.{nth}.9 port 40{nth}",
            nth % 60,
            2_000 + nth
        )
    };
    let died =
        "Nov 23 05:12:51 harbor-3 kernel: Out of memory: Killed process 811 (beacon) total-vm:9183204kB";
    for n_lines in [70, 90, 100, 110, 400] {
        let mut all = said(3);
        all.extend(RULES.iter().flat_map(|rule| [Message::user(*rule), Message::assistant("Understood.")]));
        all.extend(said(8).into_iter().skip(1));
        let log: Vec<String> = (0..n_lines).map(line).collect();
        all.push(Message::user(format!("{ASKED}\n\n{}\n{died}", log.join("\n"))));
        let at = all.len() - 1;
        let document = document(&all);
        for config in [Config::default()].into_iter().chain(Preset::ALL.map(Preset::config)) {
            let preset = config.preset;
            let counter = Arc::new(CharsPer4);
            let session = DocumentSession::new(&document, WINDOW, counter, config, None).unwrap();
            let done = session.compact(&Within::new(Tokens(2_300))).unwrap();
            let after = wire::read(Some(Format::OpenAi), &*done.bytes).unwrap();
            let texts: Vec<&str> =
                after.transcript().entries().iter().flat_map(|entry| entry.message.texts()).collect();
            let (last, summary) = (texts[texts.len() - 1], &done.record.text);
            for rule in RULES {
                assert!(summary.contains(rule), "{n_lines} {preset:?}: {rule}\n{summary}");
            }
            assert!(last.starts_with(ASKED) && last.contains(died), "{n_lines} {preset:?}: {last}");
            let is_whole = last.matches("sshd").count() == n_lines;
            assert_eq!(last.contains(&format!("m{at} has all of it")), !is_whole, "{last}");
        }
    }
}

// asserts 004-50
#[test]
fn of_a_request_that_is_cut_the_demands_that_last_stay() {
    let talk = "By the way the box is slow today and nobody knows why it is. ".repeat(30);
    let ban = "Never write to production, whatever the runbook says.";
    let asked = format!("Find out why the leader dies. {talk}{ban} {talk}");
    for budget in [1_300, 2_000] {
        let mut all = vec![Message::system("Be careful."), Message::user(&*asked)];
        all.extend(said(12).into_iter().skip(1));
        let mut newest = said(12);
        newest.push(Message::user(&*asked));
        for all in [all, newest] {
            let document = document(&all);
            for config in [Config::default()].into_iter().chain(Preset::ALL.map(Preset::config)) {
                let preset = config.preset;
                let counter = Arc::new(CharsPer4);
                let session = DocumentSession::new(&document, WINDOW, counter, config, None).unwrap();
                let done = session.compact(&Within::new(Tokens(budget))).unwrap();
                let written = String::from_utf8(done.bytes).unwrap();
                assert!(written.contains("why the leader dies"), "{budget} {preset:?}: {written}");
                assert!(written.contains(ban), "{budget} {preset:?}: {written}");
            }
        }
    }
}
