//! `cargo xtask bench transcripts [DIR] [--cuts N]`: every recorded transcript, and its prefixes, at five budgets.
//!
//! For each it counts how often the compacted history was valid and within the budget; anything else is listed. A
//! budget below the floor is an answer, not a failure, and is counted apart.

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, Result};
use longhaul::{
    Breakdown, Config, DocumentError, DocumentSession, Within,
    compact::CompactError,
    keep_reasoning,
    tokens::{self, ContextWindow, Encoding, TokenCounter},
    transcript::Tokens,
    wire::{self, Document, Format},
};

const BUDGETS: [u64; 5] = [2_000, 4_000, 8_000, 16_000, 32_000];

#[allow(clippy::print_stdout, reason = "a program that prints a table")]
fn main() -> Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let mut root = PathBuf::from("../shared/transcripts");
    let mut cuts = 40;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--cuts" => cuts = args.next().context("--cuts wants a number")?.parse()?,
            path => root = path.into(),
        }
    }
    let counter = tokens::counter(Encoding::O200kBase);
    let mut table = Table::default();
    for path in files(&root)? {
        let bytes = fs::read(&path)?;
        let row =
            table.rows.entry(path.strip_prefix(&root).unwrap_or(&path).display().to_string()).or_default();
        measure(&path, &bytes, cuts, &counter, row);
    }
    print!("{table}");
    Ok(if table.rows.values().all(|row| row.faults.is_empty()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<String, Row>,
}

#[derive(Debug, Default)]
struct Row {
    format: &'static str,
    tokens: u64,
    identical: bool,
    histories: u64,
    unchanged: u64,
    compacted: u64,
    floor: u64,
    used: f64,
    faults: Vec<String>,
}

fn measure(path: &Path, bytes: &[u8], cuts: usize, counter: &Arc<dyn TokenCounter>, row: &mut Row) {
    let whole = match wire::read(None, bytes) {
        Ok(document) => document,
        Err(error) => {
            row.faults.push(format!("does not read: {error}"));
            return;
        }
    };
    row.format = whole.format().name();
    let mut again = Vec::new();
    row.identical = wire::write_unchanged(&whole, &mut again).is_ok() && again == bytes;
    if !row.identical {
        row.faults.push("does not come back byte for byte".into());
    }
    row.tokens = Breakdown::of(whole.transcript().entries(), &**counter).total.0;
    for (name, prefix) in prefixes(path, bytes, cuts) {
        let Ok(document) = wire::read(Some(whole.format()), &*prefix) else {
            row.faults.push(format!("{name}: the prefix does not read"));
            continue;
        };
        for budget in BUDGETS {
            let done = catch_unwind(AssertUnwindSafe(|| one(&document, budget, counter, row)));
            match done {
                Ok(Ok(())) => {}
                Ok(Err(fault)) => row.faults.push(format!("{name} at {budget}: {fault}")),
                Err(_) => row.faults.push(format!("{name} at {budget}: panic")),
            }
        }
    }
}

fn one(
    document: &Document,
    budget: u64,
    counter: &Arc<dyn TokenCounter>,
    row: &mut Row,
) -> Result<(), String> {
    row.histories += 1;
    let converted;
    let document = match document.format().is_import_only() {
        false => document,
        true => {
            converted = wire::convert(document, Format::OpenAi).map_err(|error| error.to_string())?.document;
            &converted
        }
    };
    let breakdown = Breakdown::of(document.transcript().entries(), &**counter);
    if breakdown.total <= Tokens(budget) {
        row.unchanged += 1;
        return Ok(());
    }
    let within = Within { reasoning: keep_reasoning(document.format()), ..Within::new(Tokens(budget)) };
    let window = ContextWindow::new(Tokens(200_000), Tokens(16_000));
    let session = DocumentSession::new(document, window, Arc::clone(counter), Config::default(), None)
        .map_err(|error| error.to_string())?;
    match session.compact(&within) {
        Ok(done) if done.tokens_after > Tokens(budget) => Err(format!("{} tokens", done.tokens_after)),
        Ok(done) if !done.inherited.is_empty() => Err(format!("inherited {}", done.inherited[0])),
        Ok(done) => {
            row.compacted += 1;
            row.used += done.tokens_after.ratio_of(Tokens(budget));
            Ok(())
        }
        Err(DocumentError::Compact(CompactError::Floor { .. } | CompactError::NothingToCompact)) => {
            row.floor += 1;
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the whole file, and for a file of lines its first parts, cut at `cuts` places.
fn prefixes<'a>(path: &Path, bytes: &'a [u8], cuts: usize) -> Vec<(String, std::borrow::Cow<'a, [u8]>)> {
    let mut prefixes = vec![("whole".to_owned(), std::borrow::Cow::Borrowed(bytes))];
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let mut taken = std::collections::BTreeSet::new();
        for cut in 1..=cuts {
            let line = ends.len() * cut / (cuts + 1);
            if line > 0 && taken.insert(line) {
                prefixes.push((format!("line {line}"), std::borrow::Cow::Borrowed(&bytes[..ends[line - 1]])));
            }
        }
    } else {
        prefixes.extend(array_prefixes(bytes, cuts));
    }
    prefixes
}

/// Returns the first messages of a history that is one array or an object with one, cut at `cuts` places.
fn array_prefixes(bytes: &[u8], cuts: usize) -> Vec<(String, std::borrow::Cow<'static, [u8]>)> {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return Vec::new() };
    const LISTS: [&str; 6] =
        ["messages", "traj", "history", "trajectory", "meeting_transcripts", "conversation"];
    let key = LISTS.into_iter().find(|key| value[*key].is_array());
    let list = match key {
        Some(key) => value[key].as_array(),
        None => value.as_array(),
    };
    let Some(list) = list.cloned() else { return Vec::new() };
    let mut lengths: Vec<usize> =
        (1..=cuts).map(|cut| list.len() * cut / (cuts + 1)).filter(|n| *n > 0).collect();
    lengths.dedup();
    let prefix = |length: usize| {
        let part = serde_json::Value::from(list[..length].to_vec());
        let mut whole = value.clone();
        match key {
            Some(key) => whole[key] = part,
            None => whole = part,
        }
        (format!("message {length}"), std::borrow::Cow::Owned(whole.to_string().into_bytes()))
    };
    lengths.into_iter().map(prefix).collect()
}

fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in fs::read_dir(root).with_context(|| format!("{} cannot be read", root.display()))? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(&folder)? {
                files.push(file?.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "| transcript | format | tokens | bytes identical | histories | unchanged | compacted | below floor | budget used | faults |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|")?;
        let mut sum = Row::default();
        for (name, row) in &self.rows {
            let used = row.used / row.compacted.max(1) as f64;
            writeln!(
                f,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {used:.3} | {} |",
                row.format,
                row.tokens,
                if row.identical { "yes" } else { "NO" },
                row.histories,
                row.unchanged,
                row.compacted,
                row.floor,
                row.faults.len(),
            )?;
            sum.histories += row.histories;
            sum.unchanged += row.unchanged;
            sum.compacted += row.compacted;
            sum.floor += row.floor;
            sum.used += row.used;
            sum.faults.extend(row.faults.iter().map(|fault| format!("{name}: {fault}")));
        }
        writeln!(
            f,
            "| **all {}** | | | | {} | {} | {} | {} | {:.3} | {} |",
            self.rows.len(),
            sum.histories,
            sum.unchanged,
            sum.compacted,
            sum.floor,
            sum.used / sum.compacted.max(1) as f64,
            sum.faults.len(),
        )?;
        sum.faults.iter().try_for_each(|fault| writeln!(f, "\nfault: {fault}"))
    }
}
