//! `cargo xtask bench index [DIR]`: what reading into the fact index costs, on the recordings in DIR and on hostile text,
//! what a compaction costs afterwards, and what the index weighs.
//!
//! Times are the processor's, not the wall's (`/proc/thread-self/schedstat`), so that a busy machine does not count twice;
//! each is the best of several runs.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use longhaul_bench::recall::{
    ours::Before,
    run::sessions,
    session::{Group, Session},
};
use longhaul_extract::FactIndex;
use longhaul_summarize::rules::RulesOptions;
use longhaul_transcript::{Entry, Message, Part, Role, Transcript};

const RUNS: usize = 7;

/// How long one run lasts at least.
const LEAST: Duration = Duration::from_millis(200);

#[allow(clippy::print_stdout, reason = "a program that prints figures")]
fn main() -> Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "../shared/transcripts".into()));
    let sessions = sessions(&root)?;
    println!("| text | MB | facts | MB/s | index / text |\n|---|---|---|---|---|");
    for group in [Group::Coding, Group::Service, Group::Talk] {
        let of_group = || sessions.iter().filter(|session| session.group == group);
        let bytes: usize = of_group().flat_map(|session| session.transcript.entries()).map(text_bytes).sum();
        let read = || of_group().map(|session| index(session.transcript.entries())).collect::<Vec<_>>();
        let seconds = best(read);
        let indexes = read();
        let facts: usize = indexes.iter().map(|index| index.facts().len()).sum();
        let memory: usize = indexes.iter().map(FactIndex::memory_bytes).sum();
        row(&format!("{group:?}"), bytes, facts, seconds, memory);
    }
    for (name, unit) in HOSTILE {
        let mut small = 0.0;
        for megabytes in [1, 4] {
            let text = unit.repeat((megabytes << 20) / unit.len());
            let transcript: Transcript =
                [Message::new(Role::Tool, vec![Part::Text(text)])].into_iter().collect();
            let entries = transcript.entries();
            let seconds = best(|| index(entries));
            let read = index(entries);
            let growth = if megabytes == 1 {
                String::new()
            } else {
                format!(", {:.1} times as long", seconds / small)
            };
            small = seconds;
            row(
                &format!("{name}{growth}"),
                megabytes << 20,
                read.facts().len(),
                seconds,
                read.memory_bytes(),
            );
        }
    }
    let long = longest(&sessions).context("no recording")?;
    let before = Before::new(&long, long.messages.len());
    let options = RulesOptions::default();
    let seconds = best(|| before.compact(4000, None, &options));
    println!("\ncompaction of {} tokens to 4,000 after reading: {:.1} ms", long.tokens(), seconds * 1e3);
    Ok(())
}

/// Texts that are no texts: each is repeated.
const HOSTILE: [(&str, &str); 8] = [
    ("one letter", "a"),
    ("slashes", "a/"),
    ("dots", "a.b."),
    ("colons", "a::"),
    ("digits", "1234567890"),
    ("flags", "--"),
    ("distinct words", "x_"),
    ("brackets and blanks", "( [ { <"),
];

#[allow(clippy::print_stdout, reason = "a program that prints figures")]
fn row(name: &str, bytes: usize, facts: usize, seconds: f64, memory: usize) {
    let megabytes = bytes as f64 / 1e6;
    println!(
        "| {name} | {megabytes:.1} | {facts} | {:.0} | {:.2} |",
        megabytes / seconds,
        memory as f64 / bytes as f64
    );
}

fn index(entries: &[Entry]) -> FactIndex {
    let mut index = FactIndex::new();
    entries.iter().for_each(|entry| index.push(entry));
    index
}

/// Joins recordings of code until there are 200,000 tokens.
fn longest(sessions: &[Session]) -> Option<Session> {
    let mut coding = sessions.iter().filter(|session| session.group == Group::Coding);
    let mut long = coding.next()?.clone();
    let mut messages: Vec<Message> =
        long.transcript.entries().iter().map(|entry| (*entry.message).clone()).collect();
    for session in coding {
        for (read, entry) in session.messages.iter().zip(session.transcript.entries()) {
            if long.tokens() >= 200_000 && entry.message.results().next().is_none() {
                break;
            }
            long.messages.push(read.clone());
            messages.push((*entry.message).clone());
        }
        if long.tokens() >= 200_000 {
            break;
        }
    }
    long.transcript = messages.into_iter().collect();
    Some(long)
}

fn text_bytes(entry: &Entry) -> usize {
    let part_bytes = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::ToolCall(call) => call.arguments.0.len(),
        Part::ToolResult(result) => result.joined_text().len(),
        _ => 0,
    };
    entry.message.parts.iter().map(part_bytes).sum()
}

/// Returns the processor time of the fastest of several runs, in seconds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut run = |_| {
        // The system counts in steps of some milliseconds: what is shorter is done more than once.
        let (wall, before, mut times) = (Instant::now(), on_processor(), 0.0);
        while times == 0.0 || wall.elapsed() < LEAST {
            std::hint::black_box(work());
            times += 1.0;
        }
        match (before, on_processor()) {
            (Some(before), Some(after)) => (after - before) / times,
            _ => wall.elapsed().as_secs_f64() / times,
        }
    };
    (0..RUNS).map(&mut run).fold(f64::INFINITY, f64::min)
}

/// Returns how long this thread has been on a processor, in seconds; `None` where the system does not say.
fn on_processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(stat.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}
