//! `cargo xtask bench answers [CASES] [--budgets 2000,4000] --requests DIR | --answers DIR [--write DIR]`: writes what a strong
//! reader would be asked about each case, as `DIR/<case>-<budget>.txt`; or replays the answers in
//! `DIR/<case>-<budget>.md` through the whole pipeline, says what the checks did to them, and writes the contexts.
//! `--statements FILE` replays a list of statements, `[{"case": …, "kind": …, "section": …, "text": …}]`, in the same way, and
//! says how many of each kind stay, are set apart, and are struck.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use longhaul_bench::{
    answers::{Past, Reader, prompt, text},
    statements::{self, Fate},
};

#[allow(clippy::print_stdout, reason = "a program that prints a table")]
fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut root = PathBuf::from("../shared/reader/cases");
    let (mut requests, mut answers, mut write, mut listed) = (None, None, None, None);
    let mut budgets = vec![2000, 4000];
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--requests" => requests = Some(PathBuf::from(value()?)),
            "--answers" => answers = Some(PathBuf::from(value()?)),
            "--statements" => listed = Some(PathBuf::from(value()?)),
            "--write" => write = Some(PathBuf::from(value()?)),
            "--budgets" => {
                budgets = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            dir => root = dir.into(),
        }
    }
    let folders = fs::read_dir(&root).with_context(|| format!("listing {}", root.display()))?;
    let mut folders: Vec<PathBuf> = folders.map(|folder| Ok(folder?.path())).collect::<Result<_>>()?;
    folders.retain(|folder| folder.join("history.json").is_file());
    folders.sort();
    let reader = Reader::start()?;
    if let Some(list) = listed {
        return judge(&runtime, &folders, &reader, &list);
    }
    let (mut all, mut touched) = (0, 0);
    for folder in folders {
        let past = Past::read(&folder)?;
        for budget in &budgets {
            let name = format!("{}-{budget}", past.name);
            if let Some(dir) = &requests {
                fs::create_dir_all(dir)?;
                // No answer that could be used: only the question counts.
                reader.answer_with("");
                let _ = runtime.block_on(past.compact(*budget, &reader.base));
                for body in reader.take_asked() {
                    fs::write(dir.join(format!("{name}.txt")), prompt(&body)?)?;
                }
            }
            let Some(dir) = &answers else { continue };
            let Ok(answer) = fs::read_to_string(dir.join(format!("{name}.md"))) else { continue };
            reader.answer_with(&answer);
            let outcome = match runtime.block_on(past.compact(*budget, &reader.base)) {
                Ok(outcome) => outcome,
                Err(error) => {
                    println!("{name}: {error:#}");
                    continue;
                }
            };
            let record = &outcome.compacted.record;
            let items = answer.lines().filter(|line| line.trim_start().starts_with("- "));
            let said: Vec<&str> =
                items.map(|line| line.trim_start().trim_start_matches("- ").trim()).collect();
            // A name in the source's spelling is no loss.
            let shown = record.text.to_lowercase();
            let lost: Vec<&&str> = said.iter().filter(|line| !shown.contains(&line.to_lowercase())).collect();
            all += said.len();
            touched += lost.len();
            println!(
                "{name}: {} of {} tokens, {} statements, {} not there whole {:?} {:?}",
                record.tokens,
                outcome.limit,
                said.len(),
                lost.len(),
                outcome.repairs,
                outcome.attempts
            );
            for line in &record.summary.unconfirmed {
                println!("    unconfirmed: {line}");
            }
            // Behind what is set apart stands why.
            let is_apart = |line: &str| {
                let apart = record.summary.unconfirmed.iter();
                apart.map(|set| set.rsplit_once(" [").map_or(&**set, |(set, _)| set)).any(|set| set == line)
            };
            for line in lost.iter().filter(|line| !is_apart(line)) {
                println!("    gone: {line}");
            }
            if let Some(dir) = &write {
                fs::create_dir_all(dir)?;
                fs::write(dir.join(format!("{name}.txt")), text(&outcome.compacted))?;
            }
        }
    }
    if all > 0 {
        println!("{touched} of {all} statements not there whole");
    }
    Ok(())
}

/// The budget in which statements are replayed: all of a case's fit.
const STATEMENTS_BUDGET: u64 = 8_000;

/// Replays a list of statements, all those about a case in one answer.
#[allow(clippy::print_stdout, reason = "a program that prints a table")]
fn judge(runtime: &tokio::runtime::Runtime, folders: &[PathBuf], reader: &Reader, list: &Path) -> Result<()> {
    let all = statements::read(list)?;
    let mut table: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut told = 0;
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let own: Vec<_> = all.iter().filter(|statement| statement.case == name).collect();
        if own.is_empty() {
            continue;
        }
        reader.answer_with(&statements::answer(&own));
        let outcome = runtime.block_on(Past::read(folder)?.compact(STATEMENTS_BUDGET, &reader.base))?;
        told += own.len();
        if !outcome.attempts.is_empty() {
            println!("{name}: not used, and not counted: {:?}", outcome.attempts);
            continue;
        }
        let fates = statements::fates(&own, &outcome.compacted.record);
        for (statement, fate) in own.into_iter().zip(fates) {
            table.entry(&statement.kind).or_default()[fate as usize] += 1;
            // Of lies those that stay are worth a look, of truths those that do not.
            if (fate == Fate::Kept) != statement.kind.is_empty() {
                println!("{fate:?} {} {name} [{}] {}", statement.kind, statement.section, statement.text);
            }
        }
        outcome.repairs.iter().for_each(|repair| println!("    {name}: {repair}"));
    }
    println!("{:<36} {:>5} {:>9} {:>7}", "kind", "kept", "set apart", "struck");
    let mut sum = [0; 3];
    for (kind, counts) in &table {
        println!("{kind:<36} {:>5} {:>9} {:>7}", counts[0], counts[1], counts[2]);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    println!("{:<36} {:>5} {:>9} {:>7}", "all", sum[0], sum[1], sum[2]);
    if told < all.len() {
        println!("{} statements are about cases that are not there", all.len() - told);
    }
    Ok(())
}
