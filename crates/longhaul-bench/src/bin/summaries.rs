//! `cargo xtask bench summaries OUT [DIR]`: writes what every recording in DIR is compacted to, for a change that should change
//! nothing: run it before and after, and compare both folders with `diff -r`.
//!
//! Each file has, of one recording and its first parts, the facts as they are stored and the view and record of a compaction
//! by rule at each budget.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use longhaul::{
    compact::{self, CompactSettings, Source},
    extract::FactIndex,
    summarize::rules::RulesOptions,
    tokens::{self, Encoding, TokenCounter},
    transcript::{Entry, SessionId, Tokens},
    wire,
};

/// Budgets beside the system prompt.
const BUDGETS: [u64; 6] = [500, 1_000, 2_000, 4_000, 8_000, 16_000];

/// Parts of each recording, in quarters.
const QUARTERS: [usize; 4] = [1, 2, 3, 4];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map(PathBuf::from);
    let out = args.next().context("the folder to write to")?;
    let root = args.next().unwrap_or_else(|| "../shared/transcripts".into());
    fs::create_dir_all(&out)?;
    let counter = tokens::counter(Encoding::O200kBase);
    for path in files(&root)? {
        let Ok(document) = wire::read(None, &*fs::read(&path)?) else { continue };
        let entries = document.transcript().entries();
        let mut text = String::new();
        for quarter in QUARTERS {
            writeln!(text, "=== {quarter} of 4")?;
            of_part(&entries[..entries.len() * quarter / 4], &*counter, &mut text)?;
        }
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string().replace('/', "_");
        fs::write(out.join(name + ".txt"), text)?;
    }
    Ok(())
}

/// Writes the facts of `entries` and what they are compacted to.
fn of_part(entries: &[Entry], counter: &dyn TokenCounter, text: &mut String) -> Result<()> {
    let mut index = FactIndex::new();
    entries.iter().for_each(|entry| index.push(entry));
    for piece in index.pieces() {
        writeln!(text, "{}", serde_json::to_string(&piece)?)?;
    }
    let costs: Vec<Tokens> = entries.iter().map(|entry| counter.count_message(&entry.message)).collect();
    let standing = entries.iter().take_while(|entry| entry.message.is_system()).count();
    let system: Tokens = costs[..standing].iter().copied().sum();
    let session = SessionId::derived(&[]);
    let source = Source::new(&session, entries, &costs, counter, &index);
    for budget in BUDGETS {
        writeln!(text, "=== {budget}")?;
        let settings = CompactSettings::new(system + Tokens(budget));
        match compact::compact(&source, &settings, &RulesOptions::default()) {
            Ok(compacted) => {
                writeln!(text, "{}", serde_json::to_string_pretty(&compacted.record)?)?;
                for message in compacted.messages().iter().filter(|message| !message.is_system()) {
                    writeln!(text, "{}", serde_json::to_string_pretty(message)?)?;
                }
            }
            Err(error) => writeln!(text, "{error}")?,
        }
    }
    Ok(())
}

/// Returns the files under `root`, in order.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension != "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
