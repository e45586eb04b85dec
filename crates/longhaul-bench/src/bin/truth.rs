//! `cargo xtask bench truth WHAT [DIR]`: prints what is told of the recordings in DIR, to be read against them.
//!
//! WHAT is `speakers`: every piece that stands under the user's role, with who is taken to say it; `rules`: what counts as a
//! rule; `outcomes`: every command that checks or changes something, the end of its output, and how it is taken to have
//! gone; `files`: what was done to each file; `checks`: the last state of each check and of the to-do list; `digests`: some
//! results in one line each; `statements`: all that was read of every message, as it is stored, one line each (to compare
//! before and after a change); `contexts`: what compactions leave of each recording, record and messages, to be compared in the
//! same way; `lines`: every line of the summaries of 2,000, 4,000 and 8,000 tokens that does not stand in its
//! source; `asked`: what the summaries say that persons ask and demand; `untyped`: those lines of it that nobody typed, of which
//! there must be none. Recordings that are set aside for the last reading are passed over.

#![allow(clippy::print_stdout, reason = "a program that prints what is to be read")]

use std::{collections::HashMap, fs, path::PathBuf};

use anyhow::{Context, Result};
use longhaul_bench::recall::{ours::Before, session::Group};
use longhaul_extract::{
    FactIndex, Purpose, checks, constraints, decisions, runs, speaker::Speakers, summarize_tool_result,
    todos, trail,
};
use longhaul_summarize::{
    SummaryRequest,
    rules::{RulesOptions, summarize},
};
use longhaul_testkit::unsourced;
use longhaul_tokens::{Encoding, counter};
use longhaul_transcript::{Message, Role, SessionId, Speaker, Tokens, Transcript};

/// Not read and not tuned on: these are for readers at the end.
const SET_ASIDE: [&str; 4] =
    ["entireio-2026-01-12", "packmind-00acd976", "agentv-019f1de1", "tau-airline-task46"];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let what = args.next().context(
        "what to print: speakers, rules, decisions, outcomes, files, checks, digests, statements, contexts",
    )?;
    let root = PathBuf::from(args.next().unwrap_or_else(|| "../shared/transcripts".into()));
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in fs::read_dir(&root).with_context(|| format!("no recordings in {}", root.display()))? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(folder)? {
                files.push(file?.path());
            }
        }
    }
    files.sort();
    let mut untyped_lines = 0;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if SET_ASIDE.iter().any(|aside| name.starts_with(aside)) {
            continue;
        }
        let bytes = fs::read(&file)?;
        let document = longhaul_wire::read(None, &bytes[..]).with_context(|| name.clone())?;
        for (n, transcript) in document.segments().iter().enumerate() {
            println!("===== {name} {n}");
            match what.as_str() {
                "speakers" => speakers(transcript),
                "rules" => rules(transcript),
                "decisions" => decided(transcript),
                "outcomes" => outcomes(transcript),
                "files" => files_of(transcript),
                "digests" => digests(transcript),
                "checks" => checks_of(transcript),
                "statements" => statements(transcript)?,
                "contexts" => contexts(transcript)?,
                "lines" => lines(transcript),
                "asked" => asked(transcript),
                "untyped" => untyped_lines += untyped(transcript),
                other => {
                    anyhow::bail!(
                        "{other} is none of: speakers, rules, decisions, outcomes, files, checks, digests, statements, contexts, lines, asked, untyped"
                    )
                }
            }
        }
    }
    anyhow::ensure!(untyped_lines == 0, "{untyped_lines} lines that nobody typed");
    Ok(())
}

fn speakers(transcript: &Transcript) {
    let standing = [Role::User, Role::Developer, Role::System];
    for entry in transcript.entries().iter().filter(|entry| standing.contains(&entry.message.role)) {
        for piece in Speakers::builtin().segments(&entry.message) {
            if piece.inner.is_none() {
                println!(
                    "m{} {:?} {:?}/{:?}: {}",
                    entry.id.ordinal,
                    entry.message.role,
                    piece.speaker,
                    piece.matter,
                    ends(piece.text)
                );
            }
        }
    }
}

fn rules(transcript: &Transcript) {
    for rule in constraints(transcript.entries(), Speakers::builtin()) {
        println!("m{}: {}", rule.message, rule.text);
    }
}

fn decided(transcript: &Transcript) {
    let entries = transcript.entries();
    for decision in decisions(entries, Speakers::builtin()) {
        let role = entries.get(decision.message as usize).map(|entry| entry.message.role);
        println!("m{} {role:?}: {}", decision.message, decision.text);
    }
}

fn outcomes(transcript: &Transcript) {
    for run in runs(transcript.entries()) {
        if matches!(run.purpose, Purpose::Look | Purpose::Nothing) {
            continue;
        }
        let text = transcript
            .entries()
            .iter()
            .filter(|entry| Some(entry.id.ordinal) == run.answered)
            .flat_map(|entry| entry.message.results())
            .find(|result| result.call_id == run.call || run.answered.is_some())
            .map(|result| result.joined_text())
            .unwrap_or_default();
        println!(
            "m{} {:?} {:?} exit={:?} tests={}/{}/{} {}\n    $ {}\n    > {}\n    error: {}",
            run.message,
            run.verdict,
            run.checks,
            run.exit_code,
            run.tests.passed,
            run.tests.failed,
            run.tests.skipped,
            run.failed_tests.join(","),
            ends(&run.command),
            tail(&text),
            run.error.as_deref().map(ends).unwrap_or_default(),
        );
    }
}

fn files_of(transcript: &Transcript) {
    for file in trail(transcript.entries()) {
        println!("{:?} {} ({}) m{}", file.state, file.path, file.note().note, file.last_message);
        file.defines().iter().take(6).for_each(|one| println!("    new: {one}"));
        for edit in &file.trail {
            let lines: Vec<String> =
                edit.lines.iter().take(3).map(|line| line.chars().take(90).collect()).collect();
            println!("    m{} +{} -{} {}", edit.message, edit.added, edit.removed, lines.join(" ⏎ "));
        }
    }
}

fn checks_of(transcript: &Transcript) {
    let entries = transcript.entries();
    checks(&runs(entries), &trail(entries)).iter().for_each(|check| println!("{}", ends(&check.line())));
    todos(entries).iter().for_each(|item| println!("{:?} {} (m{})", item.state, item.text, item.message));
}

/// What the index holds in the end: every statement and every fact.
fn statements(transcript: &Transcript) -> Result<()> {
    let index = index(transcript);
    let pool = index.statements();
    for statement in pool.all() {
        println!("{} {:?}", serde_json::to_string(statement)?, pool.source(statement));
    }
    for fact in index.facts() {
        println!("{}", serde_json::to_string(fact)?);
    }
    Ok(())
}

/// What compactions to several budgets leave.
fn contexts(transcript: &Transcript) -> Result<()> {
    let before = Before::of(transcript.entries().to_vec(), Group::Coding);
    for budget in [2_000, 4_000, 8_000, 16_000, 32_000] {
        let Some(compacted) = before.compact(budget, None, &RulesOptions::default()) else { continue };
        println!("{budget}: {}", serde_json::to_string(&compacted.record)?);
        compacted.messages().iter().for_each(|message| println!("{message:?}"));
    }
    Ok(())
}

/// Returns the summary of the whole conversation in so many tokens.
fn summary(transcript: &Transcript, index: &FactIndex, limit: u64) -> String {
    let counter = counter(Encoding::O200kBase);
    let session = SessionId::derived(&[]);
    let request = SummaryRequest::new(&session, transcript.entries(), index, &*counter, Tokens(limit));
    summarize(&request, &RulesOptions::default()).text
}

fn index(transcript: &Transcript) -> FactIndex {
    let mut index = FactIndex::new();
    transcript.entries().iter().for_each(|entry| index.push(entry));
    index
}

fn lines(transcript: &Transcript) {
    let index = index(transcript);
    for limit in [2_000, 4_000, 8_000] {
        let text = summary(transcript, &index, limit);
        let lost = unsourced(&text, transcript.entries());
        println!("{limit}: {} of {} lines", lost.len(), text.lines().count());
        lost.iter().for_each(|line| println!("    {line}"));
    }
}

fn asked(transcript: &Transcript) {
    let text = summary(transcript, &index(transcript), 8_000);
    asked_lines(&text).for_each(|line| println!("{}", ends(line)));
}

/// The lines of the sections that tell what persons ask and demand.
fn asked_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut is_asked = false;
    text.lines().filter(move |line| {
        if let Some(heading) = line.strip_prefix("## ") {
            is_asked = ["Request", "Asked", "Rules"].iter().any(|word| heading.starts_with(word));
        }
        is_asked
    })
}

/// Prints the lines that tell what persons ask and demand and that nobody typed, and returns how many there are. A line
/// counts where its message is no person's by the structure of the file, or where its words stand only in a block that a
/// harness puts in: told by the look of such blocks, without the table of marks that the summaries are made by.
fn untyped(transcript: &Transcript) -> usize {
    let index = index(transcript);
    let mut count = 0;
    for limit in [2_000, 4_000, 8_000] {
        let text = summary(transcript, &index, limit);
        let mut message = None;
        for line in asked_lines(&text) {
            let (handle, said) = handled(line);
            message = handle.or(message);
            let Some(entry) = transcript.entries().iter().find(|entry| Some(entry.id.ordinal) == message)
            else {
                continue;
            };
            if !is_typed(&entry.message, said) {
                println!("{limit}: {}", ends(line));
                count += 1;
            }
        }
    }
    count
}

/// Takes the handle (`m12`) off a line of a summary.
fn handled(line: &str) -> (Option<u64>, &str) {
    let line = line.trim_start_matches("- ");
    if let Some(heading) = line.strip_prefix("## ") {
        let handle = heading.split_once("(m").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        return (handle, "");
    }
    let handle = line.strip_prefix('m').and_then(|rest| rest.split_once([' ', ':']));
    match handle.and_then(|(number, rest)| Some((number.parse().ok()?, rest))) {
        Some((number, rest)) => (Some(number), rest.trim_start_matches(' ')),
        None => (None, line),
    }
}

/// Whether a person typed what a line says, or a system or developer message says it.
fn is_typed(message: &Message, said: &str) -> bool {
    if message.is_system() {
        return true;
    }
    let is_persons = matches!(message.speaker, None | Some(Speaker::Person)) && message.role == Role::User;
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What stands after these is ours: what was cut out, which message answered, what was answered.
    let own = [
        "[…]",
        "…",
        " (answered in m",
        " (asked back in m",
        " (to: \"",
        " (taken back in m",
        " (interrupted by the user in m",
        " (takes back what was done for m",
        " (later on this: m",
        " (a question)",
    ]
    .iter();
    let said = own.fold(said, |said, mark| said.split(mark).next().unwrap_or_default());
    let start: String = fold(said).chars().take(60).collect();
    let holds = |text: &str| {
        // An item of a list is told with what leads it in, which may have a colon of its own.
        let both = |(at, colon): (usize, &str)| {
            let (lead, item) = (&start[..at], &start[at + colon.len()..]);
            text.contains(lead) && text.contains(item)
        };
        text.contains(start.trim()) || start.match_indices(": ").any(both)
    };
    // What a person says to a call that they refuse stands in its result.
    let says_why =
        |text: String| text.split_once("the user said:").is_some_and(|(_, said)| holds(&fold(said)));
    is_persons && message.texts().any(|text| holds(&fold(&without_blocks(text))))
        || message.results().any(|result| says_why(result.joined_text()))
}

/// Returns `text` without the blocks that harnesses put in (`<system-reminder>…</system-reminder>`), and nothing of a text that
/// begins as their notices do.
fn without_blocks(text: &str) -> String {
    const NOTICES: [&str; 6] = [
        "Caveat: The messages below",
        "Base directory for this skill",
        "# AGENTS.md instructions",
        "Stop hook feedback",
        "[Request interrupted",
        "This session is being continued from",
    ];
    if NOTICES.iter().any(|notice| text.trim_start().starts_with(notice)) {
        return String::new();
    }
    let mut rest = text;
    let mut left = String::new();
    while let Some(at) = rest.find('<') {
        let name: String =
            rest[at + 1..].chars().take_while(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_')).collect();
        let end = format!("</{name}>");
        match rest[at..].find(&end).filter(|_| name.contains(['-', '_'])) {
            Some(length) => {
                left.push_str(&rest[..at]);
                rest = &rest[at + length + end.len()..];
            }
            None => {
                left.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    left + rest
}

/// Every seventh result, in one line.
fn digests(transcript: &Transcript) {
    let entries = transcript.entries();
    let calls: HashMap<&str, _> =
        entries.iter().flat_map(|entry| entry.message.calls()).map(|call| (call.id.as_str(), call)).collect();
    for result in entries.iter().flat_map(|entry| entry.message.results()).step_by(7) {
        let call = calls.get(result.call_id.as_str()).copied();
        println!("{}", summarize_tool_result(call, result));
    }
}

/// The last lines of a text, on one line.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.iter().take(2).map(|line| line.chars().take(80).collect::<String>());
    let last = lines
        .iter()
        .skip(2.max(lines.len().saturating_sub(6)))
        .map(|line| line.chars().take(100).collect::<String>());
    first.chain(["…".to_owned()]).chain(last).collect::<Vec<_>>().join(" ⏎ ")
}

/// The beginning and the end of a text, on one line.
fn ends(text: &str) -> String {
    let line = text.replace('\n', "⏎");
    let chars = line.chars().count();
    if chars <= 200 {
        return line;
    }
    let head: String = line.chars().take(120).collect();
    let tail: String = line.chars().skip(chars - 60).collect();
    format!("{head} … {tail}")
}
