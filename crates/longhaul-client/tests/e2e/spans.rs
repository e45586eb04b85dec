//! How much of what the work most likely needs is visible after a model wrote the summary and the checks repaired it,
//! on eight spans of real transcripts.

use std::{fs, io::BufReader, path::Path, sync::Arc, time::Duration};

use longhaul_extract::{DefaultRanker, Subjects, scan, shows};
use longhaul_summarize::{CompletionClient, Draft, Scripted, Summarizer, rules::RulesSummarizer};
use longhaul_tokens::{BytesPer4, TokenCounter};
use longhaul_transcript::{Entry, Part, SummaryMode, Tokens, Units};

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

/// What came of one mode.
#[derive(Debug, Default)]
struct Figures {
    /// What is needed: the user's rules and the names that the ranking puts first.
    needed: usize,
    visible: usize,
    /// Visible in the summary by rule alone.
    by_rules: usize,
    /// Of those that are not visible, those whose last part is: the file's name without its folder.
    in_part: usize,
    /// Names in the model's own fields that the source does not have.
    invented: usize,
    /// Commands that were run, and those of them that the summary shows.
    commands: usize,
    commands_visible: usize,
    spans: usize,
    /// Spans whose summary the model wrote; the rules wrote the others.
    by_model: usize,
}

#[tokio::test]
async fn spans_keep_what_the_work_needs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return;
    }
    let real = std::env::var("LONGHAUL_E2E_URL").ok().zip(std::env::var("LONGHAUL_E2E_MODEL").ok());
    let key = std::env::var("LONGHAUL_E2E_KEY").unwrap_or_default();
    // A real model takes minutes a span: one variable names one mode, and another makes a second server begin at the
    // other end of the same work.
    let wanted = std::env::var("LONGHAUL_E2E_MODE").unwrap_or_default();
    let mut spans = SPANS;
    if std::env::var_os("LONGHAUL_E2E_BACKWARDS").is_some() {
        spans.reverse();
    }
    let modes = [SummaryMode::Hybrid, SummaryMode::Llm];
    for mode in modes.iter().filter(|mode| wanted.is_empty() || mode.as_str() == wanted) {
        let mut figures = Figures::default();
        for (file, percent) in spans {
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
            options.transcript_cap = Some(Tokens(4_000));
            let ladder = ladder(client, name, 8_192, options);
            let draft = ladder.summarize(asking.request(&entries, LIMIT)).await.unwrap();
            let rules = RulesSummarizer::default().summarize(asking.request(&entries, LIMIT)).await.unwrap();
            assert!(draft.tokens <= Tokens(LIMIT));
            if std::env::var_os("LONGHAUL_E2E_SHOW").is_some() {
                println!("{}\n", draft.text);
            }
            let missing = figures.add(*mode, &draft, &rules, &entries, &asking);
            println!(
                "{} {file}: written by {} {:?} {:?}; missing {missing:?}",
                mode.as_str(),
                draft.mode.as_str(),
                draft.attempts.iter().map(|attempt| &attempt.reason).collect::<Vec<_>>(),
                draft.repairs,
            );
        }
        let share = |part: usize| 100.0 * part as f64 / figures.needed.max(1) as f64;
        println!(
            "{}: {figures:?}: {:.1} % visible, {:.1} % by rules alone\n",
            mode.as_str(),
            share(figures.visible),
            share(figures.by_rules)
        );
        // Names are a guard: a person's request, told whole, may take the room of some.
        assert!(figures.needed > 0 && figures.visible * 100 >= figures.needed * 90, "{figures:?}");
        assert_eq!(figures.invented, 0);
    }
}

impl Figures {
    /// Counts one span in, and returns what its summary lacks.
    fn add(
        &mut self,
        mode: SummaryMode,
        draft: &Draft,
        rules: &Draft,
        entries: &[Entry],
        asking: &Asking,
    ) -> Vec<String> {
        let in_force = rules.summary.constraints.iter().rev().filter(|rule| rule.superseded_by.is_none());
        let mut needed: Vec<String> = in_force.map(|rule| rule.text.trim().to_owned()).collect();
        let subjects = Subjects::new(&asking.index, &DefaultRanker::default());
        needed.extend(subjects.first(FIRST).into_iter().map(str::to_owned));
        needed.truncate(FIRST);
        let missing: Vec<String> = needed.iter().filter(|name| !shows(&draft.text, name)).cloned().collect();
        let last_part = |name: &String| name.rsplit('/').find(|part| !part.is_empty()).map(str::to_owned);
        let in_part = |name: &&String| last_part(name).is_some_and(|part| draft.text.contains(&part));
        self.needed += needed.len();
        self.visible += needed.len() - missing.len();
        self.by_rules += needed.iter().filter(|name| shows(&rules.text, name)).count();
        self.in_part += missing.iter().filter(in_part).count();
        let invented = invented(draft, &source(entries));
        if !invented.is_empty() {
            println!("invented: {invented:?}");
        }
        self.invented += invented.len();
        let commands = rules.summary.commands.iter().map(|command| &command.command);
        self.commands += rules.summary.commands.len();
        self.commands_visible += commands.filter(|command| draft.text.contains(command.as_str())).count();
        self.spans += 1;
        self.by_model += usize::from(draft.mode == mode);
        missing
    }
}

/// Returns the names in a draft's text that `source` does not have. Handles of messages (`m12`) are our own.
fn invented(draft: &Draft, source: &str) -> Vec<String> {
    let mut invented = Vec::new();
    let is_handle = |name: &str| {
        name.strip_prefix('m').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    scan(&draft.text, |atom| {
        // A path of the rules may be joined from a folder and a list; its parts are the source's.
        let is_known = |name: &str| source.contains(name);
        let parts_known = || atom.text.split('/').filter(|part| !part.is_empty()).all(is_known);
        if !is_known(&atom.text) && !parts_known() && !is_handle(&atom.text) {
            invented.push(atom.text.to_string());
        }
    });
    invented
}

/// Returns all that the entries say, calls included, with the escapes of JSON undone.
fn source(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        for part in &entry.message.parts {
            match part {
                Part::Text(said) => text.push_str(said),
                Part::ToolCall(call) => {
                    let plain = call.arguments.0.replace("\\n", "\n").replace("\\t", "\t");
                    text.push_str(&format!("{} {plain}", call.name.as_str()));
                    text.push_str(&plain.replace("\\\"", "\"").replace("\\\\", "\\"));
                }
                Part::ToolResult(result) => text.push_str(&result.joined_text()),
                _ => {}
            }
            text.push('\n');
        }
    }
    text
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
