//! `cargo xtask bench recall [DIR] [--ours] [--left-out] [--svg FILE]`: prints the tables of future-reference recall over
//! the recordings in DIR, and draws that of the coding sessions.
//!
//! `--ours` leaves out the baselines; `--left-out` ranks each coding project by weights fitted without it. `--show FILE
//! BUDGET` prints the compacted context of the first 70 % of one recording instead, to be read.

use std::path::PathBuf;

use anyhow::{Context, Result};
use longhaul_bench::recall::{
    guards::guards,
    ours::Before,
    report::{body_table, plot, table},
    run::{OURS, Settings, measure_all, sessions},
    session::Group,
    weigh::Weigher,
};
use longhaul_summarize::rules::RulesOptions;

/// How many literals that the source lacks are printed.
const MOST_SHOWN: usize = 60;

#[allow(clippy::print_stdout, reason = "a program that prints tables")]
fn main() -> Result<()> {
    let mut root = PathBuf::from("../shared/transcripts");
    let (mut svg, mut show) = (None, None);
    let mut settings = Settings { options: RulesOptions::default(), baselines: true, left_out: false };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ours" => settings.baselines = false,
            "--left-out" => settings.left_out = true,
            "--show" => {
                let file = args.next().context("--show wants a file name and a budget")?;
                let budget: usize = args.next().context("--show wants a budget")?.parse()?;
                show = Some((file, budget));
            }
            "--svg" => svg = Some(args.next().context("--svg wants a file")?),
            dir => root = dir.into(),
        }
    }
    let sessions = sessions(&root)?;
    if let Some((file, budget)) = show {
        for session in sessions.iter().filter(|session| session.file.starts_with(&file)) {
            let cut = session.cut(0.7).context("the recording is too short")?;
            let before = Before::new(session, cut);
            let compacted = before.compact(budget, None, &settings.options).context("below the floor")?;
            println!("{} {cut} of {} messages", session.file, session.messages.len());
            before.pieces(&compacted).iter().for_each(|piece| println!("{}\n", piece.text()));
        }
        return Ok(());
    }
    let common = root.join("../recallbench/common.json.gz");
    let weigher = Weigher::new(common.exists().then_some(common.as_path()), &sessions)?;
    let rows = measure_all(&sessions, &weigher, &settings);
    for group in [Group::Coding, Group::Service, Group::Talk] {
        println!("{group:?}\n{}", table(&rows, group));
    }
    let ours = || rows.iter().filter(|row| row.method == OURS);
    let (stated, invented) = ours().fold((0, 0), |sum, row| (sum.0 + row.stated, sum.1 + row.invented.len()));
    println!("literals stated in {} contexts: {stated}; not in the source: {invented}", ours().count());
    let mut invented: Vec<&str> = ours().flat_map(|row| &row.invented).map(String::as_str).collect();
    invented.sort_unstable();
    invented.dedup();
    invented.iter().take(MOST_SHOWN).for_each(|name| println!("  {name}"));
    println!("\n{}", body_table(&rows));
    let found = guards(&sessions, &weigher, &settings.options);
    println!("drift: {:.3} of the one-shot recall after five rounds", found.rounds / found.one_shot);
    println!("constraints: {} of {} planted ones are there word for word", found.survived, found.planted);
    found.lost.iter().for_each(|lost| println!("  {lost}"));
    println!("pairing: {} calls or results alone in {} contexts", found.unpaired, found.contexts);
    println!(
        "prefix: {:.3} of the tokens sent were the request before",
        found.repeated as f64 / found.sent as f64
    );
    if let Some(path) = svg {
        std::fs::write(&path, plot(&rows, Group::Coding)).with_context(|| format!("writing {path}"))?;
    }
    Ok(())
}
