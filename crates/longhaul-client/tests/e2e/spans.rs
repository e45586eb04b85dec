//! How much of what the work most likely needs is visible after a model wrote the summary and the checks repaired it,
//! on eight spans of real transcripts.

use std::{fs, io::BufReader, path::Path, sync::Arc, time::Duration};

use longhaul_extract::{DefaultRanker, FactClass, Subjects};
use longhaul_summarize::{CompletionClient, Scripted, Summarizer, rules::RulesSummarizer};
use longhaul_tokens::{BytesPer4, TokenCounter};
use longhaul_transcript::{Entry, SummaryMode, Tokens, Units};

use crate::{
    recorded::Recorded,
    support::{Asking, ladder, openai, options},
};

/// One file of each kind and size; the span begins at this share of its units, so that it is not all beginnings.
const SPANS: [(&str, usize); 8] = [
    ("claude_code/packmind-303ebbc4-8574-4a6e-ba7a-e73a3ada1d17.jsonl", 30),
    ("claude_code/entireio-13da966e-44f7-4a36-8060-ca40451e4561.jsonl", 5),
    ("claude_code/packmind-77e148b8-d479-4609-8980-471c85003c07.jsonl", 10),
    ("claude_code/entireio-fdd24234-3c2a-4958-91ed-59c63b12ba1e.jsonl", 70),
    ("codex/agentv-019eef3d-abd1-72e1-ab99-dcdb259027c5.jsonl", 40),
    ("codex/agentv-019f03e0-321f-7eb2-83cc-b54ecd71be23.jsonl", 20),
    ("openai_chat/tau-airline-task2-trial1.json", 0),
    ("openai_chat/tau-airline-task7-trial0.json", 0),
];
const SPAN: Tokens = Tokens(2_000);
const LIMIT: u64 = 600;
const FIRST: usize = 20;

/// What a small model says, when there is none: vague, half of it made up.
const POOR: &str = r#"{"narrative": "The assistant looked at several files and ran some commands. It fixed 37 errors in src/invented/module.rs and deployed version 9.9.9.", "decisions": ["Rewrite everything in src/invented/module.rs"], "current_focus": "Continue with the work."}"#;

#[tokio::test]
async fn spans_keep_what_the_work_needs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let real = std::env::var("LONGHAUL_E2E_URL").ok().zip(std::env::var("LONGHAUL_E2E_MODEL").ok());
    let key = std::env::var("LONGHAUL_E2E_KEY").unwrap_or_default();
    // A real model takes minutes a span: `LONGHAUL_E2E_MODE` names one mode.
    let wanted = std::env::var("LONGHAUL_E2E_MODE").unwrap_or_default();
    let modes = [SummaryMode::Hybrid, SummaryMode::Llm];
    for mode in modes.iter().filter(|mode| wanted.is_empty() || mode.as_str() == wanted) {
        let (mut shown, mut shown_by_rules, mut all, mut by_model) = (0, 0, 0, 0);
        for (file, percent) in SPANS {
            let Some(entries) = span(&folder.join(file), percent) else {
                println!("skipped: {file} cannot be read");
                continue;
            };
            let (client, name): (Arc<dyn CompletionClient>, _) = match &real {
                Some((url, name)) => {
                    let client = openai(&format!("{url}/v1"), &key, Duration::from_secs(1_800));
                    (Recorded::or_not(client), name.as_str())
                }
                None => (Arc::new(Scripted::always(POOR)), "scripted"),
            };
            let asking = Asking::about(&entries);
            let mut options = options(*mode);
            options.transcript_cap = Tokens(4_000);
            let ladder = ladder(client, name, 8_192, options);
            let draft = ladder.summarize(asking.request(&entries, LIMIT)).await.unwrap();
            let rules = RulesSummarizer::default().summarize(asking.request(&entries, LIMIT)).await.unwrap();
            assert!(draft.tokens <= Tokens(LIMIT));
            assert!(!draft.text.contains("invented") && !draft.text.contains("9.9.9"), "{}", draft.text);
            let needed = needed(&asking);
            let count = |text: &str| needed.iter().filter(|name| shows(text, name)).count();
            let (here, here_by_rules) = (count(&draft.text), count(&rules.text));
            println!(
                "{} {file}: {} of {} shown ({here_by_rules} by rules alone), written by {} {:?} {:?}; missing {:?}",
                mode.as_str(),
                here,
                needed.len(),
                draft.mode.as_str(),
                draft.attempts.iter().map(|attempt| &attempt.reason).collect::<Vec<_>>(),
                draft.repairs,
                needed.iter().filter(|name| !shows(&draft.text, name)).collect::<Vec<_>>(),
            );
            (shown, shown_by_rules, all) = (shown + here, shown_by_rules + here_by_rules, all + needed.len());
            by_model += u32::from(draft.mode == *mode);
        }
        println!(
            "{}: {shown} of {all} shown ({:.1} %), by rules alone {shown_by_rules} ({:.1} %); the model's answer used in {by_model} of {} spans\n",
            mode.as_str(),
            100.0 * shown as f64 / all as f64,
            100.0 * shown_by_rules as f64 / all as f64,
            SPANS.len()
        );
        assert!(all > 0 && shown * 100 >= all * 85, "{}: {shown} of {all}", mode.as_str());
    }
}

/// Returns whole units of about [`SPAN`] tokens.
fn span(file: &Path, percent: usize) -> Option<Vec<Entry>> {
    let document = longhaul_wire::read(None, BufReader::new(fs::File::open(file).ok()?)).ok()?;
    let entries = document.transcript().entries();
    let units: Vec<_> = Units::new(entries).collect();
    let mut span: Vec<Entry> = Vec::new();
    let mut tokens = Tokens::ZERO;
    for unit in units.iter().skip(units.len() * percent / 100) {
        let cost: Tokens = unit.entries.iter().map(|entry| BytesPer4.count_message(&entry.message)).sum();
        if unit.entries.iter().any(|entry| entry.message.is_system()) || tokens + cost > SPAN + SPAN {
            continue;
        }
        span.extend(unit.entries.iter().cloned());
        tokens += cost;
        if tokens >= SPAN {
            return Some(span);
        }
    }
    (tokens > SPAN.scaled(0.5)).then_some(span)
}

/// Returns the names that the ranking puts first among paths, numbers, ids, flags, addresses and symbols.
fn needed(asking: &Asking) -> Vec<String> {
    let subjects = Subjects::new(&asking.index, &DefaultRanker::default());
    let mut ranked: Vec<_> = subjects
        .all()
        .iter()
        .filter(|subject| !matches!(subject.fact.class(), FactClass::Word | FactClass::Name))
        .collect();
    ranked.sort_by(|a, b| b.value.total_cmp(&a.value));
    ranked.iter().take(FIRST).map(|subject| subject.fact.name.to_string()).collect()
}

/// Returns whether a reader of `text` sees `name`: as it is, or, for a path, its name in a list under its folder.
fn shows(text: &str, name: &str) -> bool {
    if text.contains(name) {
        return true;
    }
    let Some((folder, file)) = name.trim_end_matches('/').rsplit_once('/') else { return false };
    let parent = folder.rsplit('/').next().unwrap_or(folder);
    !file.is_empty() && text.contains(file) && (parent.is_empty() || text.contains(parent))
}
